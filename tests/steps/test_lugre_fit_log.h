/* test_lugre_fit_log.h: one joint of the Denso that moves alone in sines of growing amplitude, as a recorder logs it.
 * Part of one program at a time. */
#ifndef TEST_LUGRE_FIT_LOG_H
#define TEST_LUGRE_FIT_LOG_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/lugre_fit_priv.h"
#include "support.h"

#define PI 3.14159265358979323846
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum {
  RATE = 1000,
  JOINTS = 6,
  LEVELS = 10,
  LEVEL_ROWS = 2750,
  LOG_ROWS = LEVELS * LEVEL_ROWS + 1,
  FINER = 4,
  NUMBERS = PSDMP_STEPS_LUGRE_NUMBERS
};

static const char *const number_names[NUMBERS] = {"Fc", "Fs", "vs", "Fv", "d", "sigma0", "sigma1", "offset"};

/* Table 2 of Lloyd, Irani, Ahmadi (2022); effort limits and inertias typical of such an arm */
static const psdm_friction truths[JOINTS] = {
    {9.59, 12.5, 0.0144, 23.7, 0.61, 288e3, 22.8, 0, true},  {8.86, 9.92, 0.0201, 28.7, 0.62, 250e3, 21.2, 0, true},
    {6.20, 7.77, 0.0320, 10.7, 0.73, 130e3, 19.2, 0, true},  {3.59, 4.00, 0.210, 2.38, 0.63, 5.36e3, 8.91, 0, true},
    {2.39, 2.67, 0.0811, 4.50, 0.59, 35.9e3, 13.9, 0, true}, {1.60, 1.53, 0.0104, 1.61, 0.74, 13.0e3, 10.3, 0, true}};
static const double efforts[JOINTS] = {130, 185, 75, 16, 19, 7},
                    inertias[JOINTS] = {1.9, 2.7, 0.56, 0.084, 0.092, 0.031};

static inline double value_of(const psdm_friction *f, int k) {
  const double numbers[] = {f->coulomb, f->stat, f->stribeck, f->viscous, f->exponent, f->sigma0, f->sigma1, f->offset};
  return numbers[k];
}

typedef struct drive_log {
  long rows;
  double *q, *v, *a, *tau; /* (rows) */
  signed char *use;
  psdm_filter filter;
  psdmp_steps_lugre_piece piece;
  psdmp_steps_lugre_options options;
} drive_log;

static inline double gauss(rng *g) {
  return sqrt(-2 * log(1 - rng_uniform(g, 0, 1))) * cos(2 * PI * rng_uniform(g, 0, 1));
}

static inline void log_new(drive_log *l, long rows) {
  memset(l, 0, sizeof *l);
  l->rows = rows;
  double **columns[] = {&l->q, &l->v, &l->a, &l->tau};
  for (int k = 0; k < COUNT(columns); k++) {
    *columns[k] = calloc((size_t)rows, sizeof **columns[k]);
    assert_non_null(*columns[k]);
  }
  l->use = malloc((size_t)rows);
  assert_non_null(l->use);
  memset(l->use, 1, (size_t)rows);
  assert_int_equal(psdm_filter_butterworth(8, 40, RATE, &l->filter), PSDM_OK);
  l->options = (psdmp_steps_lugre_options){.filter = &l->filter};
  l->piece =
      (psdmp_steps_lugre_piece){.rows = rows, .dt = 1.0 / RATE, .v = l->v, .a = l->a, .tau = l->tau, .use = l->use};
}

static inline void log_free(drive_log *l) { free(l->q), free(l->v), free(l->a), free(l->tau), free(l->use); }

/* ramp from 0 to 1 over x in 0 .. 1, with its first two derivatives, zero at both ends: x^3 (10 - 15 x + 6 x^2) */
static inline void ramp(double x, double out[3]) {
  if (x <= 0 || x >= 1) out[0] = x >= 1, out[1] = out[2] = 0;
  else
    out[0] = x * x * x * (10 - x * (15 - 6 * x)), out[1] = 30 * x * x * (1 - x) * (1 - x),
    out[2] = 60 * x * (1 - x) * (1 - 2 * x);
}

/* two sines in each level, of 2e-5 to 1 rad and 1e-4 to 3 rad/s; they swell and fade over a quarter of the level */
static inline void motion(double t, double out[3]) {
  double whole = (double)LEVEL_ROWS / RATE, level = fmin(floor(t / whole), LEVELS - 1), s = t - level * whole,
         share = level / (LEVELS - 1);
  double size = 2e-5 * pow(5e4, share), w = 5 * pow(0.6, share), up[3], down[3];
  ramp(4 * s / whole, up);
  ramp(4 * (whole - s) / whole, down);
  double k = 4 / whole, e = up[0] * down[0], e1 = k * (up[1] * down[0] - up[0] * down[1]),
         e2 = k * k * (up[2] * down[0] - 2 * up[1] * down[1] + up[0] * down[2]);
  double sine = sin(w * s), cosine = cos(w * s);
  out[0] = size * e * sine;
  out[1] = size * (e1 * sine + w * e * cosine);
  out[2] = size * (e2 * sine + 2 * w * e1 * cosine - w * w * e * sine);
}

/* true friction at the rows, from velocities on a finer clock, bristles unbent at the beginning */
static inline void true_friction(const psdm_friction *f, long rows, void (*move)(double, double *), double *tau) {
  long count = (rows - 1) * FINER + 1;
  double *t = malloc((size_t)count * sizeof *t), *v = malloc((size_t)count * sizeof *v),
         *fine = malloc((size_t)count * sizeof *fine), at[3];
  assert_true(t && v && fine);
  for (long i = 0; i < count; i++) t[i] = (double)i / (RATE * FINER), move(t[i], at), v[i] = at[1];
  psdm_lugre_follow(f, 0, count, t, v, NULL, fine);
  for (long i = 0; i < rows; i++) tau[i] = fine[i * FINER];
  free(t), free(v), free(fine);
}

/* what a recorder logs of a motion: step of the encoder (0: none) and torque noise; then filtered and differentiated */
static inline void record(drive_log *l, const psdm_friction *f, double inertia, void (*move)(double, double *),
                          double step, double noise, rng *g) {
  double *scratch = malloc(psdm_filter_scratch(&l->filter, l->rows) * sizeof *scratch),
         *rate = malloc((size_t)l->rows * sizeof *rate), at[3];
  assert_true(scratch && rate);
  true_friction(f, l->rows, move, l->tau);
  for (long i = 0; i < l->rows; i++) {
    move((double)i / RATE, at);
    l->q[i] = step > 0 ? step * floor(at[0] / step + 0.5) : at[0];
    l->tau[i] += inertia * at[2] + (noise > 0 ? noise * gauss(g) : 0);
  }
  psdm_filter_zero_phase(&l->filter, l->rows, 1, l->q, scratch);
  psdm_filter_zero_phase(&l->filter, l->rows, 1, l->tau, scratch);
  psdm_difference(l->rows, 1, 1.0 / RATE, l->q, l->v);
  psdm_difference(l->rows, 1, 1.0 / RATE, l->v, l->a);
  free(scratch), free(rate);
}

/* a joint of the Denso with the noise of its drive */
static inline void record_joint(drive_log *l, int joint, rng *g) {
  record(l, &truths[joint], inertias[joint], motion, 2 * PI / 131072 / 100, 0.005 * efforts[joint], g);
}

/* a library without cminpack or NLopt reports that, and nothing more is tested */
static inline bool library_lacks_fit(void) {
  double v[100], a[100] = {0}, tau[100];
  signed char use[100];
  memset(use, 1, sizeof use);
  for (int i = 0; i < 100; i++) v[i] = sin(0.3 * i), tau[i] = v[i] < 0 ? -1 : 1;
  psdmp_steps_lugre_piece piece = {.rows = 100, .dt = 0.01, .v = v, .a = a, .tau = tau, .use = use};
  psdmp_steps_lugre_options options = {0};
  psdmp_steps_lugre_answer answer = {0};
  psdm_error error = {0};
  bool lacks = psdmp_steps_lugre_fit(1, &piece, 1, &options, NULL, &answer, &error) == PSDM_E_MISSING;
  if (lacks) printf("%s\n", error.text);
  return lacks;
}

/* largest error of the steady torque between two speeds, relative to the true one */
static inline double curve_error(const psdm_friction *f, const psdm_friction *truth, double slowest, double fastest) {
  double worst = 0;
  for (int k = 0; k <= 400; k++) {
    double v = slowest * pow(fastest / slowest, k / 400.0), is = psdm_friction_steady(f, PSDM_FRICTION_LUGRE, v),
           should = psdm_friction_steady(truth, PSDM_FRICTION_LUGRE, v);
    worst = fmax(worst, fabs(is - should) / fabs(should));
  }
  return worst;
}

#endif
