/* test_calibrate_log.h: logs of robots whose truth is known: exact torques along sums of sines, with friction, noise,
 * encoders and a cable on request. Part of one program at a time. */
#ifndef TEST_CALIBRATE_LOG_H
#define TEST_CALIBRATE_LOG_H

#define _XOPEN_SOURCE 700

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/calibrate.h"
#include "support.h"

static const char two_links[] =
    "name: two\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: 0.4, alpha: pi/2}\n  "
    "- {name: b, type: revolute, a: 0.3}\n"
    "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n"
    "  - {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.001}}\n";

static const char two_driven_links[] =
    "name: two\ngravity: [0, 0, -9.81]\nconvention: dh\n"
    "joints:\n  - {name: a, type: revolute, a: 0.4, alpha: pi/2, drive_inertia: 0.3}\n  - {name: b, type: revolute, a: "
    "0.3, drive_inertia: 0.1}\n"
    "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n"
    "  - {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.001}}\n";

enum { TONES = 4, MOST = 40 };

static double largest_torque[MOST]; /* (n) of the last log written: noise and cable are shares of it */

/* What a log is made of. Zero-initialise. */
typedef struct truth {
  const psdm_robot *robot;
  const double *pi; /* standard parameters; NULL: the robot's own */
  long rows;
  double dt;    /* s */
  double reach; /* rad, of each joint's motion; 0: 1 */
  /* of every joint, Nm/(rad/s), Nm, Nm; Coulomb's by tanh(qd/smooth), or by the sign where smooth is 0 */
  double viscous, coulomb, offset;
  double smooth;
  bool rates, accelerations; /* are logged too */
  /* standard deviation of the torque's noise, as a share of each joint's largest torque */
  double noise;
  double step; /* rad of the encoders, 0: exact */
  /* share of the last joint's largest torque: an unmodelled spring at the wrist */
  double cable;
  double jitter; /* of the time stamps, as a share of dt */
  int still;     /* joint that does not move, counted from 1; 0: all move */
} truth;

/* Exact positions and torques of drives with friction; the caller sets what else the log has. */
static inline truth log_of(const psdm_robot *robot, long rows, double dt, double viscous, double coulomb) {
  return (truth){.robot = robot, .rows = rows, .dt = dt, .viscous = viscous, .coulomb = coulomb};
}

/* Velocities and accelerations as well, and noise of one percent of the largest torques. */
static inline truth full_log_of(const psdm_robot *robot, long rows, double dt, double coulomb) {
  truth w = log_of(robot, rows, dt, 1, coulomb);
  w.rates = w.accelerations = true;
  w.noise = 0.01;
  return w;
}

/* Nothing is chosen from the data: no delay, two columns of friction per drive, every row counts. */
static inline psdm_calibrate_options plain_options(const char *const *path, int files, psdm_estimator estimator,
                                                   psdm_kinematics kinematics, double cutoff) {
  psdm_calibrate_options o = {.path = path, .files = files, .estimator = estimator, .kinematics = kinematics};
  o.cutoff = cutoff, o.rest = -1;
  o.delay_given = o.plain_friction = true;
  return o;
}

/* The motion: q_i(t), and derivatives, from a generator's numbers. */
typedef struct tones {
  double amplitude[MOST][TONES], frequency[MOST][TONES], phase[MOST][TONES];
} tones;

static inline tones tones_of(rng *g, const truth *w) {
  tones m;
  for (int i = 0; i < psdm_robot_n(w->robot); i++)
    for (int k = 0; k < TONES; k++) {
      m.frequency[i][k] = rng_uniform(g, 1 + 1.5 * k, 2 + 2 * k);
      m.amplitude[i][k] =
          i + 1 == w->still ? 0 : (w->reach > 0 ? w->reach : 1) * rng_uniform(g, 0.3, 0.6) / (1 + 0.5 * k);
      m.phase[i][k] = rng_uniform(g, -3, 3);
    }
  return m;
}

static inline void tones_at(const tones *m, int n, double t, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++) {
    q[i] = qd[i] = qdd[i] = 0;
    for (int k = 0; k < TONES; k++) {
      double a = m->amplitude[i][k], w = m->frequency[i][k], s = sin(w * t + m->phase[i][k]),
             c = cos(w * t + m->phase[i][k]);
      q[i] += a * s, qd[i] += a * w * c, qdd[i] -= a * w * w * s;
    }
  }
}

static inline void true_torque(const truth *w, psdm_work *work, double *Y, const double *pi, const double *q,
                               const double *qd, const double *qdd, double *tau) {
  int n = psdm_robot_n(w->robot), S = psdm_robot_parameter_count(w->robot);
  assert_int_equal(psdm_regressor_standard(w->robot, work, q, qd, qdd, Y), PSDM_OK);
  for (int i = 0; i < n; i++) {
    tau[i] = w->viscous * qd[i] +
             w->coulomb * (w->smooth > 0 ? tanh(qd[i] / w->smooth)
                           : qd[i] > 0   ? 1
                           : qd[i] < 0   ? -1
                                         : 0) +
             w->offset;
    for (int k = 0; k < S; k++) tau[i] += Y[(long)i * S + k] * pi[k];
  }
}

static inline void put_names(FILE *file, const char *name, int n) {
  for (int i = 0; i < n; i++) fprintf(file, ",%s%d", name, i + 1);
}

static inline void put_numbers(FILE *file, const double *x, int n) {
  for (int i = 0; i < n; i++) fprintf(file, ",%.17g", x[i]);
}

/* Writes rows to an open file; the header too when `header`. Time begins at `start`. */
static inline void write_rows(FILE *file, const truth *w, rng *g, const tones *m, bool header, double start) {
  int n = psdm_robot_n(w->robot), S = psdm_robot_parameter_count(w->robot);
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], *largest = largest_torque, *own = malloc((size_t)S * sizeof *own),
                                                  *Y = malloc((size_t)n * (size_t)S * sizeof *Y);
  psdm_work *work;
  assert_int_equal(psdm_work_new(w->robot, NULL, &work), PSDM_OK);
  assert_true(own && Y);
  memset(largest_torque, 0, sizeof largest_torque);
  psdm_robot_parameters(w->robot, own);
  const double *pi = w->pi ? w->pi : own;
  for (int k = 0; k < 200; k++) { /* the largest torques, which noise is a share of */
    tones_at(m, n, start + 0.0497 * k, q, qd, qdd);
    true_torque(w, work, Y, pi, q, qd, qdd, tau);
    for (int i = 0; i < n; i++) largest[i] = fmax(largest[i], fabs(tau[i]));
  }
  if (header) {
    fprintf(file, "t");
    put_names(file, "q", n);
    if (w->rates) put_names(file, "qd", n);
    if (w->accelerations) put_names(file, "qdd", n);
    put_names(file, "tau", n);
    fprintf(file, "\n");
  }
  for (long k = 0; k < w->rows; k++) {
    double t = start + (double)k * w->dt + (w->jitter > 0 ? w->jitter * w->dt * rng_uniform(g, -1, 1) : 0);
    tones_at(m, n, t, q, qd, qdd);
    true_torque(w, work, Y, pi, q, qd, qdd, tau);
    if (w->cable > 0) tau[n - 1] += w->cable * largest[n - 1] * q[n - 1];
    for (int i = 0; i < n; i++) {
      if (w->noise > 0) tau[i] += w->noise * largest[i] * rng_normal(g);
      if (w->step > 0) q[i] = floor(q[i] / w->step + 0.5) * w->step;
    }
    fprintf(file, "%.9f", t);
    put_numbers(file, q, n);
    if (w->rates) put_numbers(file, qd, n);
    if (w->accelerations) put_numbers(file, qdd, n);
    put_numbers(file, tau, n);
    fprintf(file, "\n");
  }
  psdm_work_free(work, NULL);
  free(own);
  free(Y);
}

/* A file of its own for this program's life; remove it with forget_log. */
static inline const char *log_path(char path[64]) {
  strcpy(path, "/tmp/psdm_calibrate_XXXXXX");
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  return path;
}

static inline void write_log(const char *path, const truth *w, rng *g) {
  tones m = tones_of(g, w);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  write_rows(file, w, g, &m, true, 0);
  assert_int_equal(fclose(file), 0);
}

/* A robot, a file for its log, and the numbers of the test of this name. */
typedef struct log_case {
  rng g;
  psdm_robot *robot;
  char path[64];
  const char *name; /* path */
} log_case;

static inline void log_case_new(log_case *l, const char *test, psdm_robot *robot) {
  l->g = rng_start(test);
  l->robot = robot;
  l->name = log_path(l->path);
}

static inline void log_case_free(log_case *l) {
  psdm_robot_free(l->robot);
  unlink(l->path);
}

/* theta = K pi of the base parameters that a calibration has */
static inline void true_theta(const psdm_robot *robot, const double *pi, double *theta) {
  psdm_model *model;
  psdm_error error;
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
  base_from_standard(model, pi, theta);
  psdm_model_free(model);
}

/* every number of an answer is finite */
static inline void assert_all_finite(const psdm_calibration *c) {
  int W = c->base;
  for (int j = 0; j < c->base; j++)
    assert_true(isfinite(c->theta[j].value) && isfinite(c->theta[j].sd) && c->theta[j].sd >= 0 &&
                c->theta[j].prior_share >= 0 && c->theta[j].prior_share <= 1 + 1e-9);
  for (int i = 0; i < c->n; i++) {
    W += c->columns[i];
    assert_true(isfinite(c->sigma[i]));
    for (int k = 0; k < c->columns[i]; k++)
      assert_true(isfinite(c->column[i][k].gain) && isfinite(c->column[i][k].sd) && isfinite(c->column[i][k].width));
  }
  for (long k = 0; k < (long)W * W; k++) assert_true(isfinite(c->covariance[k]));
  for (int k = 0; k < W; k++) assert_true(isfinite(c->singular[k]));
  for (int k = 0; c->pi && k < c->standard; k++) assert_true(isfinite(c->pi[k]));
  assert_true(isfinite(c->cost_ratio) && isfinite(c->delay) && isfinite(c->durbin_watson) && isfinite(c->correlation));
  for (int part = 0; part < PSDM_FIT_PARTS; part++)
    for (int i = 0; i < c->n; i++)
      assert_true(c->train[part].joint[i].rows == 0 || isfinite(c->train[part].joint[i].rmse));
}

/* fails the test with the library's sentence; every number of the answer is one */
static inline psdm_calibration *calibrate(const psdm_robot *robot, const psdm_calibrate_options *o,
                                          const psdm_allocator *a) {
  psdm_calibration *c = NULL;
  psdm_error error = {0};
  if (psdm_calibrate(robot, o, a, &c, &error)) fail_msg("%s: %s", error.file, error.text);
  assert_all_finite(c);
  return c;
}

/* every link's pseudo-inertia is positive definite: Sylvester's minors */
static inline bool physically_possible(const double *pi, int links) {
  for (int b = 0; b < links; b++, pi += 10) { /* m, mx my mz, XX XY XZ YY YZ ZZ */
    double half = (pi[4] + pi[7] + pi[9]) / 2;
    double P[4][4] = {{pi[0], pi[1], pi[2], pi[3]},
                      {pi[1], half - pi[4], -pi[5], -pi[6]},
                      {pi[2], -pi[5], half - pi[7], -pi[8]},
                      {pi[3], -pi[6], -pi[8], half - pi[9]}};
    for (int k = 0; k < 4; k++) { /* pivots of elimination */
      if (!(P[k][k] > 0)) return false;
      for (int i = k + 1; i < 4; i++)
        for (int j = 3; j >= k; j--) P[i][j] -= P[i][k] / P[k][k] * P[k][j];
    }
  }
  return true;
}

#endif
