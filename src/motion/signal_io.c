/* signal_io.c: signals from CSV files. */
#include <stdio.h>
#include <string.h>

#include "motion/signal_priv.h"

static int count_of(const char *const *names) {
  int count = 0;
  while (names && names[count]) count++;
  return count;
}

static bool among(const char *name, const char *const *names) {
  for (; names && *names; names++)
    if (strcmp(name, *names) == 0) return true;
  return false;
}

/* "t, a, b" as far as it fits */
static void list_names(const char *const *names, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "t");
  for (; *names; names++) {
    int more = snprintf(text + used, size - used, ", %s", *names);
    if (more < 0 || (size_t)more >= size - used - 5) { /* room to say that there are more */
      snprintf(text + used, size - used, ", ...");
      return;
    }
    used += (size_t)more;
  }
}

static psdm_status find_columns(const psdm_csv *csv, const char *const *names, const char *const *optional,
                                bool ignore_extra, int *t, int *place, bool *used, psdm_error *error) {
  char expected[256];
  *t = psdmp_motion_csv_place(csv, "t", 0, used);
  if (*t < 0)
    return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                           "column 't' is missing");
  for (int i = 0; names[i]; i++) {
    place[i] = psdmp_motion_csv_place(csv, names[i], 0, used);
    if (place[i] < 0 && !among(names[i], optional))
      return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                             "column '%s' is missing", names[i]);
  }
  list_names(names, expected, sizeof expected);
  return ignore_extra ? PSDM_OK : psdmp_motion_csv_refuse_extra(csv, used, expected, error);
}

psdm_status psdm_signal_load(const char *path, const char *const *names, const char *const *optional, bool held,
                             bool ignore_extra, const psdm_allocator *allocator, psdm_signal **signal,
                             psdm_error *error) {
  psdm_csv *csv;
  psdmp_motion_timetable table = {0};
  psdmp_base_arena arena = {.allocator = allocator};
  int t, columns = count_of(names);
  *signal = NULL;
  if (columns < 1) return psdmp_base_fail(error, PSDM_E_ARGUMENT, path, 0, 0, "a signal has at least one column");
  psdm_status status = psdm_csv_open(path, allocator, &csv, error);
  if (status) return status;
  int *place = psdmp_base_arena_alloc(&arena, sizeof *place * (size_t)columns);
  bool *used = psdmp_base_arena_alloc(&arena, sizeof *used * (size_t)psdm_csv_columns(csv));
  status = place && used ? find_columns(csv, names, optional, ignore_extra, &t, place, used, error) : PSDM_E_MEMORY;
  if (!status) status = psdmp_motion_timetable_read(csv, t, columns, place, allocator, &table, error);
  if (!status && !(*signal = psdmp_motion_signal_new(columns, table.rows, held, allocator))) status = PSDM_E_MEMORY;
  if (!status) {
    psdmp_motion_timetable_take(&table, -1, 1, (*signal)->t);
    psdmp_motion_timetable_take(&table, 0, columns, (*signal)->values);
  }
  if (status == PSDM_E_MEMORY) psdmp_base_fail(error, status, path, 0, 0, "out of memory");
  psdmp_base_free(allocator, table.memory);
  psdmp_base_arena_free(&arena);
  psdm_csv_close(csv);
  return status;
}
