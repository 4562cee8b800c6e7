/* lugre_simulate.c: bristles along a measured velocity, with their derivatives by the numbers, fast.
 *
 * With h = sigma0 z and G(v) = Fc + (Fs - Fc) exp(-(v/vs)^2), eq. 12 to 14 of Lloyd, Irani, Ahmadi (2022) are
 *
 *   dh/dA = sign(v) G - h,   dA = sigma0 |v| / G dt,   tau = h + sigma1 v (1 - sign(v) h / G) + Fv |v|^d sign(v).
 *
 * From row to row A grows by the trapezoid of sigma0 |v| / G, and G is taken as linear in A: an exponential integrator
 * (Hochbruck, Ostermann 2010) that is exact where G is constant, accurate where bristles slide and where they stick,
 * and of second order in between. Steps are finer where G changes within one. psdm_lugre_follow, which is exact, is
 * some ten times slower and has no derivatives; the tests compare both. */
#include <math.h>

#include "steps/lugre_priv.h"

/* steps of velocity, in vs, where G changes; and the speed, in vs, from which G is Fc: exp(-25) = 1e-11 */
static const double fine = 0.125, level = 5;
static const double all_gone = 40; /* e^-40 is negligible compared with 1 */

/* G at a speed, and its derivative by Fc, Fs, vs */
typedef struct grip {
  double speed, most, by[3];
} grip;

/* h, its derivative by Fc, Fs, vs, sigma0, and by the initial h */
typedef struct bristles {
  double h, by[4], start;
} bristles;

static grip grip_at(const psdm_friction *f, double speed) {
  double ratio = speed / f->stribeck, u = ratio * ratio, e = u < all_gone ? exp(-u) : 0, rise = f->stat - f->coulomb;
  return (grip){speed, f->coulomb + rise * e, {1 - e, e, e > 0 ? 2 * rise * e * u / f->stribeck : 0}};
}

/* weights of G at the start and at the end of a step: early = (1 - e^-A) / A - e^-A, late = 1 - (1 - e^-A) / A; series
 * where these cancel: 1e-12 */
typedef struct weights {
  double early, late;
} weights;

static weights weights_of(double A, double e) {
  if (A >= 0.1) return (weights){(1 - e) / A - e, 1 - (1 - e) / A};
  return (weights){
      A * (1 / 2.0 - A * (1 / 3.0 - A * (1 / 8.0 - A * (1 / 30.0 - A * (1 / 144.0 - A * (1 / 840.0 - A / 5760)))))),
      A * (1 / 2.0 -
           A * (1 / 6.0 - A * (1 / 24.0 - A * (1 / 120.0 - A * (1 / 720.0 - A * (1 / 5040.0 - A / 40320))))))};
}

/* one step in one direction: h <- h e^-A + direction (early G0 + late G1) */
static void advance(double sigma0, double direction, double time, const grip *from, const grip *to, bool derivatives,
                    bristles *b) {
  double half = sigma0 * time / 2, w0 = from->speed / from->most, w1 = to->speed / to->most, A = half * (w0 + w1);
  if (!(A > 0)) return;
  double e = A < all_gone ? exp(-A) : 0;
  weights weigh = weights_of(A, e);
  double early = direction * weigh.early, late = direction * weigh.late;
  if (derivatives) {
    double s = weigh.early / A, by_A = direction * (from->most * (e - s) + to->most * s) - b->h * e;
    for (int k = 0; k < 3; k++) {
      double grown = -half * (w0 * from->by[k] / from->most + w1 * to->by[k] / to->most);
      b->by[k] = e * b->by[k] + by_A * grown + early * from->by[k] + late * to->by[k];
    }
    b->by[3] = e * b->by[3] + by_A * A / sigma0;
  }
  b->start *= e;
  b->h = b->h * e + from->most * early + to->most * late;
}

/* the same in equal steps of speed, each a small part of vs */
static void advance_finely(const psdm_friction *f, double direction, double time, const grip *from, const grip *to,
                           bool derivatives, bristles *b) {
  int steps = (int)fmin(fmax(ceil(fabs(to->speed - from->speed) / (fine * f->stribeck)), 1), 2 * level / fine);
  grip last = *from;
  for (int k = 1; k <= steps; k++) {
    grip next = k < steps ? grip_at(f, from->speed + (to->speed - from->speed) * k / steps) : *to;
    advance(f->sigma0, direction, time / steps, &last, &next, derivatives, b);
    last = next;
  }
}

/* a linear piece of velocity that keeps its sign: fine steps only where G changes */
static void slide(const psdm_friction *f, double direction, double time, const grip *from, const grip *to,
                  bool derivatives, bristles *b) {
  double change = to->speed - from->speed, edge = level * f->stribeck;
  if (fabs(change) <= fine * f->stribeck || fmin(from->speed, to->speed) >= edge) {
    advance(f->sigma0, direction, time, from, to, derivatives, b);
  } else if (fmax(from->speed, to->speed) <= edge) {
    advance_finely(f, direction, time, from, to, derivatives, b);
  } else {
    grip between = grip_at(f, edge);
    double until = time * (edge - from->speed) / change;
    if (change > 0) advance_finely(f, direction, until, from, &between, derivatives, b);
    else advance(f->sigma0, direction, until, from, &between, derivatives, b);
    if (change > 0) advance(f->sigma0, direction, time - until, &between, to, derivatives, b);
    else advance_finely(f, direction, time - until, &between, to, derivatives, b);
  }
}

/* from row to row; two pieces where the velocity changes sign */
static void follow(const psdm_friction *f, double dt, double v0, double v1, const grip *from, const grip *to,
                   bool derivatives, bristles *b) {
  if (v0 * v1 < 0) {
    double until = dt * (v0 / (v0 - v1));
    grip rest = grip_at(f, 0);
    slide(f, v0 < 0 ? -1 : 1, until, from, &rest, derivatives, b);
    slide(f, v1 < 0 ? -1 : 1, dt - until, &rest, to, derivatives, b);
  } else {
    slide(f, v0 + v1 < 0 ? -1 : 1, dt, from, to, derivatives, b);
  }
}

/* the row's torque; its derivatives by COULOMB .. SIGMA1 if requested; and by the initial h, in the last column */
static void write_torque(const psdm_friction *f, double v, const grip *at, const bristles *b, int width, double *out) {
  double sign = (v > 0) - (v < 0), share = b->h / at->most, rate = v - at->speed * share;
  double power = sign * pow(at->speed, f->exponent), kept = 1 - f->sigma1 * at->speed / at->most;
  out[0] = b->h + f->sigma1 * rate + f->viscous * power;
  if (width > TORQUE_ALONE) out[width - 1] = kept * b->start;
  if (width != WITH_DERIVATIVES) return;
  for (int k = 0; k < 3; k++) out[1 + k] = kept * b->by[k] + f->sigma1 * at->speed * share / at->most * at->by[k];
  out[1 + VISCOUS] = power;
  out[1 + EXPONENT] = at->speed > 0 ? f->viscous * power * log(at->speed) : 0;
  out[1 + SIGMA0] = kept * b->by[3];
  out[1 + SIGMA1] = rate;
}

static void write_bristles(double v, const grip *at, const bristles *b, double *out) {
  out[0] = b->h;
  out[1] = v - at->speed * (b->h / at->most);
  out[2] = b->start;
}

void psdmp_steps_lugre_simulate(const psdm_friction *f, long rows, double dt, const double *v, int width, double *out) {
  bristles b = {.start = 1};
  grip last = {0};
  for (long i = 0; i < rows; i++, out += width) {
    grip now = grip_at(f, fabs(v[i]));
    if (i > 0) follow(f, dt, v[i - 1], v[i], &last, &now, width == WITH_DERIVATIVES, &b);
    if (width == BRISTLES_ONLY) write_bristles(v[i], &now, &b, out);
    else write_torque(f, v[i], &now, &b, width, out);
    last = now;
  }
}

void psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width) {
  double *out = w->columns;
  for (int p = 0; p < w->pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &w->piece[p];
    psdmp_steps_lugre_simulate(f, piece->rows, piece->dt, piece->v, width, out);
    if (w->options->filter) psdm_filter_zero_phase(w->options->filter, piece->rows, width, out, w->scratch);
    out += piece->rows * width;
  }
  w->evaluations++;
}
