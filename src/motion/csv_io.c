/* csv_io.c: tables over time from CSV files, for motions and signals. */
#include <stdio.h>
#include <string.h>

#include "motion/motion_priv.h"

int psdmp_motion_csv_place(const psdm_csv *csv, const char *prefix, int number, bool *used) {
  char name[32];
  if (number > 0) snprintf(name, sizeof name, "%s%d", prefix, number);
  int place = psdm_csv_find(csv, number > 0 ? name : prefix);
  if (place >= 0) used[place] = true;
  return place;
}

psdm_status psdmp_motion_csv_refuse_extra(const psdm_csv *csv, const bool *used, const char *expected,
                                          psdm_error *error) {
  for (int c = 0; c < psdm_csv_columns(csv); c++) {
    const char *name = psdm_csv_name(csv, c);
    char quoted[64];
    if (!used[c])
      return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                             "column '%s' is not one of %s; `ignore_extra` skips it",
                             psdmp_base_quote(name, strlen(name), quoted, sizeof quoted), expected);
  }
  return PSDM_OK;
}

static psdm_status fail_order(const psdm_csv *csv, double t, double before, psdm_error *error) {
  char now[32], then[32];
  psdmp_base_format_short(t, now);
  psdmp_base_format_short(before, then);
  return psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_line(csv), 0,
                         "t is %s after %s in the previous row; times must increase", now, then);
}

static psdm_status read_rows(psdm_csv *csv, int t_place, const int *place, double *row, const psdm_allocator *allocator,
                             psdmp_motion_timetable *table, psdm_error *error) {
  long room = 0, width = table->columns + 1;
  for (;;) {
    bool more;
    psdm_status status = psdm_csv_row(csv, row, &more, error);
    if (status || !more) return status;
    if (!psdmp_base_room(allocator, &table->memory, table->rows, 1, &room, (size_t)width * sizeof *table->memory))
      return psdmp_base_no_memory(psdm_csv_file(csv), error);
    double *to = table->memory + table->rows * width;
    to[0] = row[t_place];
    for (int c = 0; c < table->columns; c++) to[c + 1] = place[c] < 0 ? 0 : row[place[c]];
    if (table->rows && !(to[0] > to[-width])) return fail_order(csv, to[0], to[-width], error);
    table->rows++;
  }
}

psdm_status psdmp_motion_timetable_read(psdm_csv *csv, int t_place, int columns, const int *place,
                                        const psdm_allocator *allocator, psdmp_motion_timetable *table,
                                        psdm_error *error) {
  *table = (psdmp_motion_timetable){.columns = columns};
  psdm_status status = psdm_csv_fits(csv, PSDMP_MOTION_TIMETABLE_BYTES * ((size_t)columns + 1), 0, error);
  if (status) return status;
  double *row = psdmp_base_alloc(allocator, sizeof *row * (size_t)psdm_csv_columns(csv));
  status = row ? read_rows(csv, t_place, place, row, allocator, table, error)
               : psdmp_base_no_memory(psdm_csv_file(csv), error);
  if (!status && !table->rows)
    status = psdmp_base_fail(error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                             "no row after the header; at least one was expected");
  psdmp_base_free(allocator, row);
  if (status) {
    psdmp_base_free(allocator, table->memory);
    *table = (psdmp_motion_timetable){0};
  }
  return status;
}

void psdmp_motion_timetable_take(const psdmp_motion_timetable *table, int first, int count, double *to) {
  for (long row = 0; row < table->rows; row++)
    memcpy(to + row * count, table->memory + row * (table->columns + 1) + 1 + first, sizeof *to * (size_t)count);
}
