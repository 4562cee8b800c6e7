/* psdm/filter.h: zero-phase low-pass filters, derivatives, uniform clocks.
 *
 * Matrices are row-major, a row per sample. Nothing here allocates unless it says so; filters are constant once
 * made. */
#ifndef PSDM_FILTER_H
#define PSDM_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/alloc.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PSDM_FILTER_SECTIONS = 16 }; /* orders up to 32 */

/* Butterworth low pass as second-order sections (bilinear transform, prewarped). Applied forward and backward: squares
 * the amplitude, zero phase. */
typedef struct psdm_filter {
  int sections;
  /* a[k][0] = 1; for odd orders the last section is of first order */
  double b[PSDM_FILTER_SECTIONS][3], a[PSDM_FILTER_SECTIONS][3];
  double g; /* tan(pi cutoff / rate) */
  /* c of s^2 + c s + 1; 0: the section s + 1. g and c stay exact where rounding a would put poles at 1 */
  double damping[PSDM_FILTER_SECTIONS];
  /* samples beyond which the impulse response, forward and backward, sums to less than 1e-13 on both sides together; at
   * most 2^30 */
  long reach;
} psdm_filter;

/* order 1 .. 32; 0 < cutoff < rate / 2, Hz. PSDM_E_ARGUMENT otherwise. */
PSDM_API psdm_status psdm_filter_butterworth(int order, double cutoff, double rate, psdm_filter *filter);

/* Filters columns of x (rows x columns) in place, without phase. At the ends the signal is extended by point
 * reflection, repeatedly if it is short, over reach samples, at most 64 times its length, and both passes start in the
 * steady state of their first value; a straight line is unchanged. A row farther than reach from both ends of a block
 * gets the same value as in the whole signal. scratch: psdm_filter_scratch doubles. rows >= 2, finite numbers. */
PSDM_API size_t psdm_filter_scratch(const psdm_filter *filter, long rows);
PSDM_API void psdm_filter_zero_phase(const psdm_filter *filter, long rows, int columns, double *x, double *scratch);

/* Magnitude of one pass at f (Hz). */
PSDM_API double psdm_filter_gain(const psdm_filter *filter, double f, double rate);

/* Derivative by central differences (second order), one-sided of second order at the ends. out (rows x columns) must
 * not overlap x. rows >= 3. */
PSDM_API void psdm_difference(long rows, int columns, double dt, const double *x, double *out);

/* Interpolates x, given at strictly ascending t (rows), at the uniform times start + k dt, k = 0 .. count - 1, by cubic
 * Hermite pieces with slopes from parabolas through three neighbours, exact for parabolas; beyond the ends constant.
 * rows >= 1, dt > 0. */
PSDM_API void psdm_resample(long rows, int columns, const double *t, const double *x, double start, double dt,
                            long count, double *out);

/* ---- decimation by a finite filter: exact in blocks ---- */

/* Windowed sinc (Kaiser 1974, 90 dB) for a factor >= 1: symmetric taps, pass band to 0.4 of the new rate, stop band
 * from 0.6 of it. */
typedef struct psdm_decimator {
  int factor;
  int half;     /* taps on each side; 2 half + 1 in all */
  double *taps; /* (half + 1) from the middle outwards */
} psdm_decimator;

/* factor up to 2^20; PSDM_E_ARGUMENT otherwise. */
/* allocates taps */
PSDM_API psdm_status psdm_decimator_new(int factor, const psdm_allocator *allocator, psdm_decimator *decimator);
PSDM_API void psdm_decimator_free(psdm_decimator *decimator, const psdm_allocator *allocator);

/* out (count x columns), row k = filtered x at row first + k factor. Rows of x before 0 and after rows - 1 count as
 * missing: the remaining taps are scaled to sum to one. 0 <= first, first + (count - 1) factor < rows. A block with
 * half rows around those asked for gives the same bits as the whole. */
PSDM_API void psdm_decimate(const psdm_decimator *decimator, long rows, int columns, const double *x, long first,
                            long count, double *out);

#ifdef __cplusplus
}
#endif
#endif
