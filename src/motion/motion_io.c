/* motion_io.c: motions from CSV files. */
#include <stdio.h>

#include "motion/motion_priv.h"

enum { GROUPS = 3 };
static const char *const group_names[GROUPS] = {"q", "qd", "qdd"};

/* Positions of the columns. */
typedef struct layout {
  int t, groups; /* q alone, q and qd, or all three */
  int *place;    /* (GROUPS x n) */
  bool *used;    /* (columns of the CSV) */
} layout;

static psdm_status fail_missing(const psdm_csv *csv, const char *group, int number, int n, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                         "column '%s%d' is missing; %s goes from 1 to %d", group, number, group, n);
}

/* a group is complete or absent */
static psdm_status find_group(const psdm_csv *csv, int n, int group, layout *at, bool *found, psdm_error *error) {
  int missing = 0, count = 0;
  for (int i = n - 1; i >= 0; i--) {
    int place = at->place[group * n + i] = psdmp_motion_csv_place(csv, group_names[group], i + 1, at->used);
    count += place >= 0;
    if (place < 0) missing = i + 1;
  }
  *found = count == n;
  if (count == n || (count == 0 && group > 0)) return PSDM_OK;
  return fail_missing(csv, group_names[group], missing, n, error);
}

static psdm_status find_columns(const psdm_csv *csv, int n, bool ignore_extra, layout *at, psdm_error *error) {
  bool found[GROUPS];
  char expected[64];
  at->t = psdmp_motion_csv_place(csv, "t", 0, at->used);
  if (at->t < 0)
    return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                           "column 't' is missing");
  for (int group = 0; group < GROUPS; group++) {
    psdm_status status = find_group(csv, n, group, at, &found[group], error);
    if (status) return status;
  }
  if (found[2] && !found[1])
    return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                           "columns qdd1.. need qd1..");
  at->groups = 1 + found[1] + found[2];
  snprintf(expected, sizeof expected, "t, q, qd, qdd, each 1 to %d", n);
  return ignore_extra ? PSDM_OK : psdmp_motion_csv_refuse_extra(csv, at->used, expected, error);
}

/* the motion of a table: its columns, group by group, side by side */
static psdm_status make(const psdmp_motion_timetable *table, int n, int groups, const char *file,
                        const psdm_allocator *allocator, psdm_motion **motion, psdm_error *error) {
  size_t rows = (size_t)table->rows;
  double *memory = psdmp_base_alloc_raw(allocator, sizeof *memory * rows * (1 + (size_t)n * (size_t)groups)),
         *x[GROUPS] = {0};
  if (!memory) return psdmp_base_no_memory(file, error);
  psdmp_motion_timetable_take(table, -1, 1, memory);
  for (int k = 0; k < groups; k++) {
    x[k] = memory + rows * (1 + (size_t)k * (size_t)n);
    psdmp_motion_timetable_take(table, k * n, n, x[k]);
  }
  psdm_error why;
  psdm_status status = psdm_motion_table(n, table->rows, memory, x[0], x[1], x[2], allocator, motion, &why);
  psdmp_base_free(allocator, memory);
  return status ? psdmp_base_fail(error, status, file, 0, 0, "%s", why.text) : PSDM_OK;
}

psdm_status psdm_motion_load(const char *path, int n, bool ignore_extra, const psdm_allocator *allocator,
                             psdm_motion **motion, psdm_error *error) {
  psdm_csv *csv;
  psdmp_motion_timetable table = {0};
  psdmp_base_arena arena = {.allocator = allocator};
  *motion = NULL;
  if (n < 1) return psdmp_base_fail(error, PSDM_E_ARGUMENT, path, 0, 0, "a motion has at least one joint");
  psdm_status status = psdm_csv_open(path, allocator, &csv, error);
  if (status) return status;
  layout at = {.place = psdmp_base_arena_alloc(&arena, sizeof *at.place * GROUPS * (size_t)n),
               .used = psdmp_base_arena_alloc(&arena, sizeof *at.used * (size_t)psdm_csv_columns(csv))};
  status = at.place && at.used ? find_columns(csv, n, ignore_extra, &at, error) : psdmp_base_no_memory(path, error);
  if (!status) status = psdmp_motion_timetable_read(csv, at.t, at.groups * n, at.place, allocator, &table, error);
  if (!status) status = make(&table, n, at.groups, psdm_csv_file(csv), allocator, motion, error);
  psdmp_base_free(allocator, table.memory);
  psdmp_base_arena_free(&arena);
  psdm_csv_close(csv);
  return status;
}
