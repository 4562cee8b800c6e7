/* friction.c: friction of one joint, from viscous to LuGre.
 *
 *   steady    (Fc + (Fs - Fc) exp(-(v/vs)^2) + Fv |v|^d) sign(v) + offset
 *   LuGre     z' = v - |v| z / g(v),  g = (Fc + (Fs - Fc) exp(-(v/vs)^2)) / sigma0,  tau = sigma0 z + sigma1 z' + Fv
 *                                                                                    |v|^d sign(v) + offset
 *
 * Canudas de Wit, Olsson, Astrom, Lischinsky (1995), eq. 1 to 6; eq. 12 to 14 of Lloyd, Irani, Ahmadi (2022). */
#include <math.h>
#include <string.h>

#include "psdm/friction.h"
#include "psdm/rigid.h"
#include "robot/robot.h"

static const struct {
  const char *name, *help;
} kinds[PSDM_FRICTION_KINDS] = {
#define KIND(id, name, help) [PSDM_FRICTION_##id] = {name, help},
    PSDM_FRICTION_LIST(KIND)
#undef KIND
};

static bool known(psdm_friction_kind kind) { return (unsigned)kind < PSDM_FRICTION_KINDS; }

const char *psdm_friction_name(psdm_friction_kind kind) { return known(kind) ? kinds[kind].name : NULL; }
const char *psdm_friction_help(psdm_friction_kind kind) { return known(kind) ? kinds[kind].help : NULL; }

bool psdm_friction_find(const char *name, psdm_friction_kind *kind) {
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++)
    if (strcmp(kinds[k].name, name) == 0) {
      *kind = (psdm_friction_kind)k;
      return true;
    }
  return false;
}

/* ---- steady state ---- */

static double sign(double v) { return (v > 0) - (v < 0); }

/* how far Fs stands above Fc (below it: negative); 0 without a Stribeck velocity */
static double rise(const psdm_friction *f) { return f->stribeck > 0 ? f->stat - f->coulomb : 0; }

/* (v / vs)^2 */
static double square_ratio(const psdm_friction *f, double v) {
  return f->stribeck > 0 ? (v / f->stribeck) * (v / f->stribeck) : 0;
}

static double dry(const psdm_friction *f, psdm_friction_kind kind, double v) {
  if (kind < PSDM_FRICTION_COULOMB) return 0;
  return kind < PSDM_FRICTION_STRIBECK || !(f->stribeck > 0) ? f->coulomb
                                                             : f->coulomb + rise(f) * exp(-square_ratio(f, v));
}

/* Fv |v|^d */
static double viscous(const psdm_friction *f, psdm_friction_kind kind, double speed) {
  if (kind < PSDM_FRICTION_VISCOUS) return 0;
  return kind < PSDM_FRICTION_POWER || f->exponent == 1 ? f->viscous * speed : f->viscous * pow(speed, f->exponent);
}

static double offset(const psdm_friction *f, psdm_friction_kind kind) {
  return kind < PSDM_FRICTION_VISCOUS ? 0 : f->offset;
}

/* a joint without friction needs nothing; numbers that are not numbers fail every test here */
const char *psdm_friction_lacks(const psdm_friction *f, psdm_friction_kind kind) {
  if (!known(kind)) return "there is no such model of friction";
  if (!f->given || kind == PSDM_FRICTION_NONE) return NULL;
  if (!isfinite(f->viscous) || !isfinite(f->offset)) return "viscous or offset is not a number";
  if (kind >= PSDM_FRICTION_COULOMB && !(f->coulomb >= 0 && isfinite(f->coulomb))) return "coulomb is negative";
  if (kind >= PSDM_FRICTION_STRIBECK && f->stribeck > 0 && !(f->stat >= 0 && isfinite(f->stat)))
    return "static is negative";
  if (kind >= PSDM_FRICTION_POWER && !(f->exponent > 0 && isfinite(f->exponent)))
    return "exponent is missing or not positive";
  if (kind < PSDM_FRICTION_LUGRE) return NULL;
  if (!(f->sigma0 > 0 && isfinite(f->sigma0))) return "sigma0 is missing or not positive";
  if (!(f->sigma1 >= 0 && isfinite(f->sigma1))) return "sigma1 is negative";
  if (!(f->coulomb > 0)) return "coulomb is missing or not positive, and bristles need it";
  if (f->stribeck > 0 && !(f->stat > 0)) return "static is not positive, and bristles need it";
  return NULL;
}

double psdm_friction_dry(const psdm_friction *f, psdm_friction_kind kind, double v) { return dry(f, kind, v); }

double psdm_friction_most(const psdm_friction *f, psdm_friction_kind kind) {
  return fmax(dry(f, kind, 0), dry(f, kind, INFINITY));
}

double psdm_friction_smooth(const psdm_friction *f, psdm_friction_kind kind, double v) {
  return viscous(f, kind, fabs(v)) * sign(v) + offset(f, kind);
}

double psdm_friction_smooth_slope(const psdm_friction *f, psdm_friction_kind kind, double v) {
  if (kind < PSDM_FRICTION_VISCOUS || f->viscous == 0) return 0;
  return kind < PSDM_FRICTION_POWER || f->exponent == 1 ? f->viscous
                                                        : f->viscous * f->exponent * pow(fabs(v), f->exponent - 1);
}

double psdm_friction_steady(const psdm_friction *f, psdm_friction_kind kind, double v) {
  return (dry(f, kind, v) + viscous(f, kind, fabs(v))) * sign(v) + offset(f, kind);
}

void psdm_friction_torque(const psdm_robot *r, const double *qd, double *tau) {
  for (int j = 0; j < r->joints; j++) {
    int q = r->joint[j].q;
    if (q >= 0)
      tau[q] = r->joint[j].friction.given ? psdm_friction_steady(&r->joint[j].friction, PSDM_FRICTION_POWER, qd[q]) : 0;
  }
}

/* ---- LuGre at one velocity ---- */

/* without stiff bristles and something to hold them there is only the steady state */
static bool has_bristles(const psdm_friction *f) {
  return f->sigma0 > 0 && f->coulomb > 0 && (!(f->stribeck > 0) || f->stat > 0);
}

/* g(v) */
static double most_bent(const psdm_friction *f, double v) { return dry(f, PSDM_FRICTION_LUGRE, v) / f->sigma0; }

void psdm_lugre(const psdm_friction *f, double v, double z, double *z_rate, double *tau) {
  bool bristles = has_bristles(f);
  *z_rate = bristles ? v - fabs(v) * (z / most_bent(f, v)) : 0;
  *tau = bristles ? f->sigma0 * z + f->sigma1 * *z_rate + psdm_friction_smooth(f, PSDM_FRICTION_LUGRE, v)
                  : psdm_friction_steady(f, PSDM_FRICTION_LUGRE, v);
}

double psdm_lugre_steady(const psdm_friction *f, double v) { return has_bristles(f) ? most_bent(f, v) * sign(v) : 0; }

/* from z to its end over an angle bent, in units of the bristles' own length; rounding may not carry it past the end */
static double relax(double z, double end, double bent) {
  double next = bent < 1 ? z - (end - z) * expm1(-bent) : end + (z - end) * exp(-bent);
  return (z <= end && next > end) || (z >= end && next < end) ? end : next;
}

double psdm_lugre_step(const psdm_friction *f, double v, double z, double dt) {
  if (!has_bristles(f)) return 0;
  return v == 0 || dt <= 0 ? z : relax(z, psdm_lugre_steady(f, v), fabs(v) * dt / most_bent(f, v));
}

/* ---- LuGre along a velocity that changes ----
 *
 * While v = v0 + a t keeps its sign, the distance x back from the end of the piece is the better clock: |dz/dx| = 1 -
 * |z| / g, and u = (v/vs)^2 is linear in x. What is left of a bend after the way x is then known in closed form,
 * e^-A(x) with
 *
 *   A(x) = integral of 1/g = sigma0 x / Fc (1 + ln(G(u) / G(u1)) / (u - u1)),   G(u) = Fc + (Fs - Fc) e^-u = sigma0
 *                                                                               g(v),   u1 at the end,
 *   z(end) = z(beginning) e^-A(X) + sign(v) times the integral of e^-A(x) from 0 to X.
 *
 * The integrand is analytic but where G = 0. In each panel of Gauss and Legendre's formula A grows by at most 4,
 * more where e^-A is small, and u changes by at most 1 or half the way to that zero: 1e-12 of the deflection. They
 * end where nothing is left of a bend (A > 36), and where G is Fc to the last digit (u > 38) they are long: a few
 * dozen at most, however much the velocity changes. */

enum { NODES = 8 };
static const double all_gone = 36, all_coulomb = 38;
static const double nodes[NODES / 2] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                        0.96028985649753623168};
static const double weights[NODES / 2] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                          0.10122853629037625915};

/* a stretch of time in which the velocity keeps its sign */
typedef struct piece {
  double sigma0, coulomb, rise; /* Fc, Fs - Fc */
  double length;                /* X */
  double end, change;           /* u1; what u changes by with x, backwards */
  double decay, dry;            /* e^-u1; G(u1) */
  double zero;                  /* how far below u = 0 the zero of G lies; infinite where Fs > Fc */
} piece;

/* from speed to speed in time */
static piece piece_of(const psdm_friction *f, double from, double to, double time) {
  piece p = {.sigma0 = f->sigma0,
             .coulomb = f->coulomb,
             .rise = rise(f),
             .length = (from + to) / 2 * time,
             .end = square_ratio(f, to)};
  p.change = p.rise != 0 ? 2 * (from - to) / time / f->stribeck / f->stribeck : 0;
  p.zero = p.rise < 0 ? -log1p(-f->stat / f->coulomb) : INFINITY;
  p.decay = exp(-p.end);
  p.dry = p.coulomb + p.rise * p.decay;
  return p;
}

/* whether G is the same over all of it, to the last digits */
static bool is_level(const piece *p) {
  double apart = p->change * p->length, least = fmax(fmin(p->end, p->end + apart), 0);
  return p->rise == 0 || !isfinite(apart) || fabs(p->rise) * exp(-least) * fmin(fabs(apart), 1) < 1e-14 * p->coulomb;
}

/* A(x). G(u) - G(u1) without cancellation, and without overflow as u is never negative */
static double bend(const piece *p, double x) {
  double apart = p->change * x;
  double grown =
      apart > 0 ? p->rise * p->decay * expm1(-apart) : -p->rise * exp(-fmax(p->end + apart, 0)) * expm1(apart);
  return p->sigma0 * x / p->coulomb * (1 + (apart == 0 ? -p->rise * p->decay / p->dry : log1p(grown / p->dry) / apart));
}

/* the length of the panel at x, where A is bent; steps that rounding would swallow are too short to matter */
static double panel(const piece *p, double x, double bent) {
  double u = fmax(p->end + p->change * x, 0), clear = (u + p->zero) / 2; /* u + zero is at least that in the panel */
  double length = (4 + bent / 4) * p->coulomb * -expm1(-clear) / p->sigma0;
  if (u < all_coulomb) length = fmin(length, fmin(clear, 1) / fabs(p->change));
  else if (p->change < 0) length = fmin(length, fmax(u - all_coulomb, 1) / -p->change);
  return fmin(fmax(length, 1e-15 * x), p->length - x);
}

/* integral of e^-A over all of it */
static double bending(const piece *p) {
  double sum = 0, bent = 0;
  for (double x = 0, length; x < p->length && bent < all_gone; x += length, bent = bend(p, x)) {
    double part = 0;
    length = panel(p, x, bent);
    for (int k = 0; k < NODES / 2; k++)
      part += weights[k] *
              (exp(-bend(p, x + length / 2 * (1 - nodes[k]))) + exp(-bend(p, x + length / 2 * (1 + nodes[k]))));
    sum += part * length / 2;
  }
  return sum;
}

/* z after a piece, between speeds of one direction; no further bent than before or than friction bends it */
static double slide(const psdm_friction *f, double direction, double from, double to, double time, double z) {
  piece p = piece_of(f, from, to, time);
  if (p.length == 0) return z;
  if (!isfinite(p.length)) return NAN;
  if (is_level(&p)) return relax(z, direction * p.dry / p.sigma0, p.sigma0 / p.dry * p.length);
  double next = z * exp(-bend(&p, p.length)) + direction * bending(&p),
         most = fmax(fabs(z), psdm_friction_most(f, PSDM_FRICTION_LUGRE) / f->sigma0);
  return fabs(next) > most ? copysign(most, next) : next;
}

/* one interval; where the velocity changes its sign, two pieces */
static double follow(const psdm_friction *f, double v0, double v1, double dt, double z) {
  if (!has_bristles(f)) return 0;
  if (dt <= 0) return z;
  if (sign(v0) * sign(v1) >= 0) return slide(f, sign(v0 + v1), fabs(v0), fabs(v1), dt, z);
  double until = dt * (v0 / (v0 - v1));
  return slide(f, sign(v1), 0, fabs(v1), dt - until, slide(f, sign(v0), fabs(v0), 0, until, z));
}

void psdm_lugre_follow(const psdm_friction *f, double start, long count, const double *t, const double *v, double *z,
                       double *tau) {
  double now = start, rate;
  for (long k = 0; k < count; k++) {
    if (k > 0) now = follow(f, v[k - 1], v[k], t[k] - t[k - 1], now);
    if (z) z[k] = now;
    psdm_lugre(f, v[k], now, &rate, &tau[k]);
  }
}
