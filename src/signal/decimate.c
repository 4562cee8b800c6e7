/* decimate.c: every factor-th row, after a finite linear-phase low pass: a sinc with a Kaiser window. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "psdm/filter.h"

#define PI 3.14159265358979323846

/* I_0(x) = sum ((x / 2)^k / k!)^2, all terms positive */
static double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > 1e-17 * sum; k++) term *= (0.5 * x / k) * (0.5 * x / k), sum += term;
  return sum;
}

/* Kaiser (1974): beta = 0.1102 (A - 8.7), 2 half = (A - 8) / (2.285 d), A = 90 dB, d = 2 pi (0.6 - 0.4) / factor the
 * width between the bands */
static void set_taps(psdm_decimator *d) {
  const double beta = 0.1102 * (90 - 8.7), top = bessel(beta);
  double sum = d->taps[0] = 1;
  for (int k = 1; k <= d->half; k++) {
    double place = (double)k / d->half, angle = PI * (k % (2 * d->factor)) / d->factor,
           window = bessel(beta * sqrt((1 - place) * (1 + place))) / top;
    d->taps[k] = k % d->factor ? window * sin(angle) / (PI * k / d->factor) : 0;
    sum += 2 * d->taps[k];
  }
  for (int k = 0; k <= d->half; k++) d->taps[k] /= sum;
}

psdm_status psdm_decimator_new(int factor, const psdm_allocator *allocator, psdm_decimator *d) {
  memset(d, 0, sizeof *d);
  if (factor < 1 || factor > 1 << 20) return PSDM_E_ARGUMENT;
  d->factor = factor;
  /* a factor of one changes nothing */
  d->half = factor == 1 ? 0 : (int)ceil(0.5 * (90 - 8) * factor / (2.285 * 2 * PI * (0.6 - 0.4)));
  d->taps = psdmp_base_alloc(allocator, sizeof *d->taps * ((size_t)d->half + 1));
  if (!d->taps) return PSDM_E_MEMORY;
  set_taps(d);
  return PSDM_OK;
}

void psdm_decimator_free(psdm_decimator *d, const psdm_allocator *allocator) {
  if (!d) return;
  psdmp_base_free(allocator, d->taps);
  memset(d, 0, sizeof *d);
}

void psdm_decimate(const psdm_decimator *d, long rows, int columns, const double *x, long first, long count,
                   double *out) {
  for (long k = 0; k < count; k++, out += columns) {
    long row = first + k * d->factor, from = row < d->half ? 0 : row - d->half,
         to = row + d->half < rows ? row + d->half : rows - 1;
    double sum = 0;
    memset(out, 0, sizeof *out * (size_t)columns);
    for (long i = from; i <= to; i++) {
      double tap = d->taps[i < row ? row - i : i - row];
      sum += tap;
      for (int c = 0; c < columns; c++) out[c] += tap * x[i * columns + c];
    }
    if (to - from == 2L * d->half) continue;
    for (int c = 0; c < columns; c++) out[c] /= sum;
  }
}
