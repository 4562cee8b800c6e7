/* resample.c: derivatives, and values on a uniform clock. */
#include <string.h>

#include "psdm/filter.h"

void psdm_difference(long rows, int columns, double dt, const double *x, double *out) {
  double scale = 0.5 / dt;
  long last = (rows - 1) * columns;
  for (long i = columns; i < last; i++) out[i] = scale * (x[i + columns] - x[i - columns]);
  /* slopes of the parabolas through three rows at either end */
  for (long c = 0; c < columns; c++) {
    const double *from = x + c, *to = x + last + c;
    out[c] = scale * (4 * (from[columns] - from[0]) - (from[2L * columns] - from[0]));
    out[last + c] = scale * (4 * (to[0] - to[-columns]) - (to[0] - to[-2L * columns]));
  }
}

/* ---- resampling: each value is a sum over rows piece - 1 .. piece + 2 with weights shared by all columns ---- */

/* adds scale times the slope at row i of the parabola through the three rows around it (at the ends the nearest three);
 * w[0] weighs row `origin` */
static void add_slope(long rows, const double *t, long i, double scale, long origin, double *w) {
  if (rows == 2) {
    w[0 - origin] -= scale / (t[1] - t[0]), w[1 - origin] += scale / (t[1] - t[0]);
    return;
  }
  long middle = i < 1 ? 1 : i > rows - 2 ? rows - 2 : i;
  double before = t[middle] - t[middle - 1], after = t[middle + 1] - t[middle];
  /* p' = d + (d' - d) share, d and d' the secants before and after the middle (Newton's divided differences) */
  double share = ((t[i] - t[middle - 1]) + (t[i] - t[middle])) / (before + after), left = scale * (1 - share) / before,
         right = scale * share / after;
  w += middle - origin;
  w[-1] -= left, w[0] += left - right, w[1] += right;
}

/* cubic Hermite piece between rows piece and piece + 1 */
static void piece_weights(long rows, const double *t, long piece, double time, double w[4]) {
  double h = t[piece + 1] - t[piece], u = (time - t[piece]) / h, v = 1 - u;
  w[0] = w[3] = 0;
  w[1] = v * v * (1 + 2 * u), w[2] = u * u * (1 + 2 * v);
  add_slope(rows, t, piece, h * u * v * v, piece - 1, w);
  add_slope(rows, t, piece + 1, -h * u * u * v, piece - 1, w);
}

static void weigh(long rows, int columns, const double *x, long piece, const double w[4], double *out) {
  memset(out, 0, sizeof *out * (size_t)columns);
  for (int k = 0; k < 4; k++) {
    long row = piece - 1 + k;
    if (row < 0 || row >= rows) continue;
    for (int c = 0; c < columns; c++) out[c] += w[k] * x[row * columns + c];
  }
}

void psdm_resample(long rows, int columns, const double *t, const double *x, double start, double dt, long count,
                   double *out) {
  size_t bytes = sizeof *out * (size_t)columns;
  long piece = 0;
  for (long k = 0; k < count; k++, out += columns) {
    double time = start + (double)k * dt, w[4];
    if (time <= t[0]) memcpy(out, x, bytes);
    else if (time >= t[rows - 1]) memcpy(out, x + (rows - 1) * columns, bytes);
    else {
      while (t[piece + 1] <= time) piece++;
      piece_weights(rows, t, piece, time, w);
      weigh(rows, columns, x, piece, w, out);
    }
  }
}
