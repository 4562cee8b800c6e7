/* signal.c: columns over time, linear or held between the rows of a table. */
#include "motion/signal_priv.h"

#include <math.h>
#include <string.h>

psdm_signal *psdmp_motion_signal_new(int columns, long rows, bool held, const psdm_allocator *allocator) {
  psdmp_base_arena arena = {.allocator = allocator};
  psdm_signal *s = psdmp_base_arena_alloc(&arena, sizeof *s);
  if (!s) return NULL;
  *s = (psdm_signal){.arena = arena, .columns = columns, .rows = rows, .held = held};
  s->t = psdmp_base_arena_alloc_raw(&s->arena, sizeof *s->t * (size_t)rows);
  s->values = psdmp_base_arena_alloc_raw(&s->arena, sizeof *s->values * (size_t)rows * (size_t)columns);
  if (s->t && s->values) return s;
  psdm_signal_free(s);
  return NULL;
}

psdm_status psdm_signal_table(int columns, long rows, const double *t, const double *values, bool held,
                              const psdm_allocator *allocator, psdm_signal **signal, psdm_error *error) {
  *signal = NULL;
  if (columns < 1 || rows < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "a table of %ld rows of %d columns; at least one of each was expected", rows, columns);
  long unsorted = psdmp_motion_row_unsorted(rows, t);
  if (unsorted >= 0)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "t of row %ld is not above that of the previous row",
                           unsorted + 1);
  for (long i = 0; i < rows * columns; i++)
    if (!isfinite(values[i]))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "row %ld has a number that is not finite",
                             i / columns + 1);
  psdm_signal *s = psdmp_motion_signal_new(columns, rows, held, allocator);
  if (!s) return psdmp_base_no_memory("", error);
  memcpy(s->t, t, sizeof *t * (size_t)rows);
  memcpy(s->values, values, sizeof *values * (size_t)rows * (size_t)columns);
  *signal = s;
  return PSDM_OK;
}

void psdm_signal_free(psdm_signal *s) {
  if (!s) return;
  psdmp_base_arena arena = s->arena; /* the signal is in its own arena */
  psdmp_base_arena_free(&arena);
}

int psdm_signal_columns(const psdm_signal *s) { return s->columns; }
long psdm_signal_rows(const psdm_signal *s) { return s->rows; }
double psdm_signal_time(const psdm_signal *s, long row) { return row >= 0 && row < s->rows ? s->t[row] : NAN; }
bool psdm_signal_held(const psdm_signal *s) { return s->held; }

void psdm_signal_at(const psdm_signal *s, double t, double *values) {
  long row = psdmp_motion_row_at(s->rows, s->t, t);
  const double *now = s->values + row * s->columns;
  bool before = !(t >= s->t[0]), between = !s->held && !before && row + 1 < s->rows;
  double share = between ? (t - s->t[row]) / (s->t[row + 1] - s->t[row]) : 0;
  for (int c = 0; c < s->columns; c++) {
    if (s->held && before) values[c] = 0;
    else values[c] = between ? (1 - share) * now[c] + share * now[s->columns + c] : now[c];
  }
}
