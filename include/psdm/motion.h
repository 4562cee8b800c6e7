/* psdm/motion.h: motions as functions of time, with their derivatives, and signals from tables.
 *
 *   psdm_motion *move;
 *   psdm_motion_polynomial(n, 5, from, to, 0, 2, NULL, &move, &error);     // quintic, from rest to rest in 2 s
 *   psdm_motion_at(move, t, 3, x);                                         // x: q, then qd, then qdd
 *
 * Unless it is periodic, a motion stands still at its first position before it starts and at its last after it ends. A
 * motion is constant once made and may be shared by threads; evaluating it neither allocates nor fails. */
#ifndef PSDM_MOTION_H
#define PSDM_MOTION_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/alloc.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_motion psdm_motion;

enum { PSDM_MOTION_ORDERS = 5 }; /* position and its first four derivatives */

/* From rest at `from` to rest at `to` (n each) within duration > 0, by the polynomial of odd degree 3, 5, 7 or 9: 1 to
 * 4 derivatives vanish at both ends. Allocates, as all constructors; free with psdm_motion_free. */
PSDM_API psdm_status psdm_motion_polynomial(int n, int degree, const double *from, const double *to, double start,
                                            double duration, const psdm_allocator *allocator, psdm_motion **motion,
                                            psdm_error *error);

/* q_i = centre_i + sum_k amplitude_ik sin(frequency_ik t + phase_ik), for all t; (n x terms) row-major, rad/s and rad.
 * Eq. 22 of Lloyd, Irani, Ahmadi (2022). psdm_motion_end returns duration. */
PSDM_API psdm_status psdm_motion_sines(int n, int terms, const double *centre, const double *amplitude,
                                       const double *frequency, const double *phase, double duration,
                                       const psdm_allocator *allocator, psdm_motion **motion, psdm_error *error);

/* q_i = centre_i + sum_k a_ik / (w k) sin(w k t) - b_ik / (w k) cos(w k t), k = 1 .. harmonics, w = 2 pi / period
 * (Swevers et al. 1997), for all t; a, b (n x harmonics). */
PSDM_API psdm_status psdm_motion_fourier(int n, int harmonics, double period, const double *centre, const double *a,
                                         const double *b, double duration, const psdm_allocator *allocator,
                                         psdm_motion **motion, psdm_error *error);

/* Through the points of a table: rows of strictly ascending t (rows), q (rows x n), and qd, qdd of the same shape or
 * NULL. With q alone the quintic spline through all points, four times differentiable, at rest at both ends (two rows:
 * the quintic from rest to rest); with qd, cubic pieces; with qd and qdd, quintic pieces, which match the table's
 * values at its points. A single row holds. */
PSDM_API psdm_status psdm_motion_table(int n, long rows, const double *t, const double *q, const double *qd,
                                       const double *qdd, const psdm_allocator *allocator, psdm_motion **motion,
                                       psdm_error *error);

/* The same from a CSV with columns t, q1.., and optionally qd1.., qdd1..; other columns are errors unless
 * ignore_extra. */
PSDM_API psdm_status psdm_motion_load(const char *path, int n, bool ignore_extra, const psdm_allocator *allocator,
                                      psdm_motion **motion, psdm_error *error);

PSDM_API void psdm_motion_free(psdm_motion *motion); /* accepts NULL */

PSDM_API int psdm_motion_n(const psdm_motion *motion);
PSDM_API double psdm_motion_begin(const psdm_motion *motion);
PSDM_API double psdm_motion_end(const psdm_motion *motion);

/* x (orders x n): position, velocity, acceleration, ... at t; 1 <= orders <= PSDM_MOTION_ORDERS. */
PSDM_API void psdm_motion_at(const psdm_motion *motion, double t, int orders, double *x);

/* ---- signals: columns over time, linear or held between rows ---- */

typedef struct psdm_signal psdm_signal;

/* A table of rows x columns numbers at strictly ascending t (rows). held: each row lasts until the next, zero before
 * the first; else linear between rows, constant beyond the ends. */
PSDM_API psdm_status psdm_signal_table(int columns, long rows, const double *t, const double *values, bool held,
                                       const psdm_allocator *allocator, psdm_signal **signal, psdm_error *error);

/* From a CSV with a column t and the named ones; those in optional (nullable, terminated by NULL like names) may be
 * absent: 0. */
PSDM_API psdm_status psdm_signal_load(const char *path, const char *const *names, const char *const *optional,
                                      bool held, bool ignore_extra, const psdm_allocator *allocator,
                                      psdm_signal **signal, psdm_error *error);

PSDM_API void psdm_signal_free(psdm_signal *signal); /* accepts NULL */
PSDM_API int psdm_signal_columns(const psdm_signal *signal);
PSDM_API long psdm_signal_rows(const psdm_signal *signal);
PSDM_API double psdm_signal_time(const psdm_signal *signal, long row);
PSDM_API bool psdm_signal_held(const psdm_signal *signal);
PSDM_API void psdm_signal_at(const psdm_signal *signal, double t, double *values); /* (columns) */

#ifdef __cplusplus
}
#endif
#endif
