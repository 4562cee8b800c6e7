/* friction.c: friction of one joint, from viscous to LuGre.
 *
 *   steady    (Fc + (Fs - Fc) exp(-(v/vs)^2) + Fv |v|^d) sign(v) + offset
 *   LuGre     z' = v - |v| z / g(v),  g = (Fc + (Fs - Fc) exp(-(v/vs)^2)) / sigma0,  tau = sigma0 z + sigma1 z' + Fv
 *                                                                                    |v|^d sign(v) + offset
 *
 * Canudas de Wit, Olsson, Astrom, Lischinsky (1995), eq. 1 to 6; eq. 12 to 14 of Lloyd, Irani, Ahmadi (2022). */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "psdm/friction.h"
#include "psdm/rigid.h"
#include "robot/robot.h"

typedef double real;
#define BRISTLE_FUNCTION static
#define BRISTLE_NUMBER(x) x
#define BRISTLE_LEVEL 1e-14
#define BRISTLE_SHORT 1e-15
#include "rigid/bristles_priv.h"

static const char *const kinds[] = {PSDM_FRICTION_LIST(PSDMP_BASE_LIST_WORD)};

static bool known(psdm_friction_kind kind) { return (unsigned)kind < PSDM_FRICTION_KINDS; }

const char *psdm_friction_name(psdm_friction_kind kind) {
  return psdmp_base_word(kinds, PSDM_FRICTION_KINDS, (int)kind);
}

bool psdm_friction_find(const char *name, psdm_friction_kind *kind) {
  int k = psdmp_base_word_find(kinds, PSDM_FRICTION_KINDS, name);
  return k >= 0 && (*kind = (psdm_friction_kind)k, true);
}

/* ---- steady state ---- */

static double sign(double v) { return (v > 0) - (v < 0); }

/* how far Fs exceeds Fc (may be negative); 0 without a Stribeck velocity */
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

/* a joint without friction needs nothing; NAN fails every test here */
const char *psdm_friction_lacks(const psdm_friction *f, psdm_friction_kind kind) {
  if (!known(kind)) return "unknown friction model";
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

double psdm_friction_steady_slope(const psdm_friction *f, psdm_friction_kind kind, double v) {
  double ratio = kind >= PSDM_FRICTION_STRIBECK && f->stribeck > 0 ? fabs(v) / f->stribeck : 0,
         smooth = psdm_friction_smooth_slope(f, kind, v);
  double stribeck = ratio > 0 ? -2 * rise(f) * ratio / f->stribeck * exp(-ratio * ratio) : 0;
  return stribeck + (isinf(smooth) ? 0 : smooth);
}

void psdm_friction_torque(const psdm_robot *r, const double *qd, double *tau) {
  for (int j = 0; j < r->joints; j++) {
    int q = r->joint[j].q;
    if (q >= 0)
      tau[q] = r->joint[j].friction.given ? psdm_friction_steady(&r->joint[j].friction, PSDM_FRICTION_POWER, qd[q]) : 0;
  }
}

/* ---- LuGre at one velocity ---- */

/* without stiff bristles and dry friction there is only the steady state */
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

double psdm_lugre_slope(const psdm_friction *f, double v, double z) {
  double smooth = psdm_friction_smooth_slope(f, PSDM_FRICTION_LUGRE, v);
  if (!has_bristles(f)) return psdm_friction_steady_slope(f, PSDM_FRICTION_LUGRE, v);
  double g = most_bent(f, v), part = f->stribeck > 0 ? rise(f) * exp(-square_ratio(f, v)) / f->sigma0 : 0;
  double g_slope = f->stribeck > 0 ? -2 * fabs(v) / f->stribeck / f->stribeck * part : 0; /* by |v| */
  return f->sigma1 * (1 - sign(v) * z / g * (1 - fabs(v) * g_slope / g)) + (isinf(smooth) ? 0 : smooth);
}

double psdm_lugre_steady(const psdm_friction *f, double v) { return has_bristles(f) ? most_bent(f, v) * sign(v) : 0; }

double psdm_lugre_step(const psdm_friction *f, double v, double z, double dt) {
  if (!has_bristles(f)) return 0;
  return v == 0 || dt <= 0 ? z : bristle_relax(z, psdm_lugre_steady(f, v), fabs(v) * dt / most_bent(f, v));
}

/* ---- as a linear form ---- */

int psdm_friction_columns(psdm_friction_kind kind) {
  static const int count[PSDM_FRICTION_KINDS] = {0, 2, 3, 4, 4, 4};
  return known(kind) ? count[kind] : 0;
}

const char *psdm_friction_column_name(psdm_friction_kind kind, int column) {
  static const char *const names[2][PSDM_FRICTION_MOST_COLUMNS] = {{"viscous", "offset", "coulomb", "static"},
                                                                   {"viscous", "offset", "sigma0", "sigma1"}};
  return column >= 0 && column < psdm_friction_columns(kind) ? names[kind == PSDM_FRICTION_LUGRE][column] : NULL;
}

void psdm_friction_column_values(const psdm_friction *f, psdm_friction_kind kind, double v, double z, double *value) {
  static const psdm_friction plain = {.exponent = 1, .given = true};
  if (!f->given) f = &plain;
  const psdm_friction one = {.viscous = 1, .exponent = f->exponent, .stribeck = f->stribeck, .given = true};
  int columns = psdm_friction_columns(kind);
  double rest = kind >= PSDM_FRICTION_STRIBECK && f->stribeck > 0 ? exp(-square_ratio(f, v)) : 0;
  if (columns > 0) value[0] = psdm_friction_smooth(&one, kind, v), value[1] = 1;
  if (columns > 2) value[2] = sign(v) * (1 - rest);
  if (columns > 3) value[3] = sign(v) * rest;
  if (kind != PSDM_FRICTION_LUGRE) return;
  bool bristles = has_bristles(f);
  value[2] = bristles ? z : 0;
  value[3] = bristles ? v - fabs(v) * (z / most_bent(f, v)) : 0;
}

/* ---- LuGre along a changing velocity ---- */

/* one interval; two pieces where the velocity changes sign */
static double follow(const psdm_friction *f, double v0, double v1, double dt, double z) {
  return has_bristles(f) ? bristle_step(v0, v1, dt, z, f->coulomb, f->stat, f->stribeck, f->sigma0) : 0;
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
