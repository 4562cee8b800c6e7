/* rows.c: many rows of numbers as text. Writing 17 digits takes longer than most functions that make them: threads do
 * it in parallel, and the rows are written in order. */

#include "parallel/parallel.h"
#include "psdm/output.h"

enum { ROOM = 26, NUMBERS = 4096 }; /* bytes of a number and its separator; numbers that a thread writes at a time */

static char *write_rows(long first, long last, int columns, const double *values, char *to) {
  for (long row = first; row < last; row++)
    for (int k = 0; k < columns; k++) {
      to += psdmp_base_format_exact(values[row * columns + k], to);
      *to++ = k + 1 < columns ? ',' : '\n';
    }
  *to = '\0';
  return to;
}

static void put_slowly(psdm_output *out, long rows, int columns, const double *values) {
  for (long row = 0; row < rows; row++)
    for (int k = 0; k < columns; k++) {
      psdm_output_number(out, values[row * columns + k]);
      psdm_output_text(out, k + 1 < columns ? "," : "\n");
    }
}

void psdm_output_rows(psdm_output *out, long rows, int columns, const double *values, int threads) {
  if (columns < 1 || rows < 1) return;
  long piece = NUMBERS / columns > 0 ? NUMBERS / columns : 1, pieces = (rows + piece - 1) / piece;
  size_t room = (size_t)piece * (size_t)columns * ROOM + 32;
  int used = psdmp_parallel_threads(threads, NULL, pieces);
  char *text = used > 1 ? psdmp_base_alloc_raw(NULL, room * (size_t)pieces) : NULL;
  if (!text) {
    put_slowly(out, rows, columns, values);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(used)
#endif
  for (long k = 0; k < pieces; k++)
    write_rows(k * piece, (k + 1) * piece < rows ? (k + 1) * piece : rows, columns, values, text + (size_t)k * room);
  for (long k = 0; k < pieces; k++) psdm_output_text(out, text + (size_t)k * room);
  psdmp_base_free(NULL, text);
}
