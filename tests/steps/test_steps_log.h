/* test_steps_log.h: logs of the four experiments of an arm whose truth is known: exact torques, LuGre friction of the
 * drives, currents, noise and encoders on request. Part of one program at a time. */
#ifndef TEST_STEPS_LOG_H
#define TEST_STEPS_LOG_H

#define _XOPEN_SOURCE 700

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/steps.h"
#include "support.h"

enum { WIDE = 8, LOGS = 8 };

static inline void *must(void *memory) {
  assert_non_null(memory);
  return memory;
}

/* ---- motions, row by row ---- */

typedef struct track {
  int n;
  long rows, room;
  double dt;
  double *q, *qd, *qdd; /* (rows x n) */
  double at[WIDE];      /* where the joints stand */
} track;

static inline track *track_new(int n, double dt) {
  track *t = must(calloc(1, sizeof *t));
  *t = (track){.n = n, .dt = dt};
  return t;
}

static inline void track_free(track *t) {
  free(t->q), free(t->qd), free(t->qdd);
  free(t);
}

static inline void track_row(track *t, const double *q, const double *qd, const double *qdd) {
  if (t->rows == t->room) {
    t->room = 2 * t->room + 4096;
    size_t bytes = (size_t)t->room * (size_t)t->n * sizeof *t->q;
    t->q = must(realloc(t->q, bytes)), t->qd = must(realloc(t->qd, bytes)), t->qdd = must(realloc(t->qdd, bytes));
  }
  size_t bytes = (size_t)t->n * sizeof *q;
  memcpy(t->q + t->rows * t->n, q, bytes), memcpy(t->qd + t->rows * t->n, qd, bytes),
      memcpy(t->qdd + t->rows * t->n, qdd, bytes);
  t->rows++;
}

static inline void track_hold(track *t, double seconds) {
  double zero[WIDE] = {0};
  for (double now = 0; now < seconds - t->dt / 2; now += t->dt) track_row(t, t->at, zero, zero);
}

/* s from 0 to 1 with two derivatives that vanish at both ends */
static inline void quintic(double u, double *s, double *sd, double *sdd) {
  *s = u * u * u * (10 + u * (-15 + 6 * u));
  *sd = u * u * (30 + u * (-60 + 30 * u));
  *sdd = u * (60 + u * (-180 + 120 * u));
}

/* all joints to another pose within this many seconds */
static inline void track_move(track *t, const double *to, double seconds) {
  double q[WIDE], qd[WIDE], qdd[WIDE], s, sd, sdd;
  long rows = (long)(seconds / t->dt + 0.5);
  for (long k = 0; k < rows; k++) {
    quintic((double)k / (double)rows, &s, &sd, &sdd);
    for (int j = 0; j < t->n; j++) {
      double by = to[j] - t->at[j], T = (double)rows * t->dt;
      q[j] = t->at[j] + by * s, qd[j] = by * sd / T, qdd[j] = by * sdd / (T * T);
    }
    track_row(t, q, qd, qdd);
  }
  memcpy(t->at, to, (size_t)t->n * sizeof *to);
}

/* one joint at a constant speed, with soft ends of 0.3 s */
static inline void track_sweep(track *t, int joint, double to, double speed) {
  double q[WIDE], qd[WIDE] = {0}, qdd[WIDE] = {0}, zero[WIDE] = {0}, soft = 0.3, from = t->at[joint],
                  sign = to > from ? 1 : -1;
  double cruise = (fabs(to - from) - speed * soft) / speed;
  assert_true(cruise > 0);
  memcpy(q, t->at, sizeof q);
  for (double now = 0; now < cruise + 2 * soft - t->dt / 2; now += t->dt) {
    double way, v, a, end = cruise + 2 * soft - now, u = fmin(now, end) / soft;
    bool late = now > soft + cruise / 2;
    if (u < 1) {
      way = speed * soft * (u * u * u - u * u * u * u / 2), v = speed * (3 * u * u - 2 * u * u * u),
      a = speed / soft * (6 * u - 6 * u * u);
    } else {
      way = speed * (soft / 2 + fmin(now, end) - soft), v = speed, a = 0;
    }
    q[joint] = late ? to - sign * way : from + sign * way;
    qd[joint] = sign * v, qdd[joint] = late ? -sign * a : sign * a;
    track_row(t, q, qd, qdd);
  }
  t->at[joint] = to;
  track_row(t, t->at, zero, zero);
}

/* one joint: periods of a sine that swells and fades over half of them */
static inline void track_sine(track *t, int joint, double size, double frequency, double periods) {
  double q[WIDE], qd[WIDE] = {0}, qdd[WIDE] = {0}, w = 6.283185307179586 * frequency, soft = 0.5 / frequency,
                  whole = periods / frequency;
  memcpy(q, t->at, sizeof q);
  for (double now = 0; now < whole - t->dt / 2; now += t->dt) {
    double s = 1, sd = 0, sdd = 0, end = whole - now, u = fmin(now, end) / soft;
    if (u < 1) quintic(u, &s, &sd, &sdd), sd *= (now < end ? 1 : -1) / soft, sdd /= soft * soft;
    double f = size * sin(w * now), fd = size * w * cos(w * now), fdd = -w * w * f;
    q[joint] = t->at[joint] + s * f, qd[joint] = sd * f + s * fd, qdd[joint] = sdd * f + 2 * sd * fd + s * fdd;
    track_row(t, q, qd, qdd);
  }
}

/* all joints along slow sines q(p), p running to so many seconds and back again */
static inline void track_there_and_back(track *t, const double *size, const double *frequency, double seconds) {
  double q[WIDE], qd[WIDE], qdd[WIDE], soft = 2;
  long half = (long)(seconds / t->dt + 0.5);
  for (long k = -half; k <= half; k++) { /* the turn is at 0 */
    double now = fabs((double)k * t->dt), whole = (double)half * t->dt, p, v, a, u = fmin(now, whole - now) / soft;
    if (u < 1)
      p = soft * (u * u * u - u * u * u * u / 2), v = 3 * u * u - 2 * u * u * u, a = (6 * u - 6 * u * u) / soft;
    else p = soft / 2 + fmin(now, whole - now) - soft, v = 1, a = 0;
    /* p counts from the nearer end; the total path is whole - soft */
    bool far = now > whole - now;
    double at = far ? p : whole - soft - p;
    double rate = far ? -v : -v, bend = far ? a : -a; /* at falls from the beginning to the turn while now grows */
    if (k < 0) rate = -rate;                          /* now falls there */
    for (int j = 0; j < t->n; j++) {
      double w = 6.283185307179586 * frequency[j], f = size[j] * sin(w * at), fd = size[j] * w * cos(w * at),
             fdd = -w * w * f;
      q[j] = t->at[j] + f, qd[j] = fd * rate, qdd[j] = fdd * rate * rate + fd * bend;
    }
    track_row(t, q, qd, qdd);
  }
}

/* all joints: sums of three sines that swell and fade */
static inline void track_excite(track *t, rng *g, double size, double seconds) {
  double q[WIDE], qd[WIDE], qdd[WIDE], a[WIDE][3], w[WIDE][3], h[WIDE][3], soft = 1;
  for (int j = 0; j < t->n; j++)
    for (int k = 0; k < 3; k++)
      a[j][k] = size * rng_uniform(g, 0.2, 0.5), w[j][k] = rng_uniform(g, 1 + 2 * k, 2.5 + 2 * k),
      h[j][k] = rng_uniform(g, -3, 3);
  for (double now = 0; now < seconds - t->dt / 2; now += t->dt) {
    double s = 1, sd = 0, sdd = 0, end = seconds - now, u = fmin(now, end) / soft;
    if (u < 1) quintic(u, &s, &sd, &sdd), sd *= (now < end ? 1 : -1) / soft, sdd /= soft * soft;
    for (int j = 0; j < t->n; j++) {
      double f = 0, fd = 0, fdd = 0;
      for (int k = 0; k < 3; k++)
        f += a[j][k] * sin(w[j][k] * now + h[j][k]), fd += a[j][k] * w[j][k] * cos(w[j][k] * now + h[j][k]),
            fdd -= a[j][k] * w[j][k] * w[j][k] * sin(w[j][k] * now + h[j][k]);
      q[j] = t->at[j] + s * f, qd[j] = sd * f + s * fd, qdd[j] = sdd * f + 2 * sd * fd + s * fdd;
    }
    track_row(t, q, qd, qdd);
  }
}

/* ---- what a recorder sees ---- */

typedef struct recorder {
  const psdm_robot *robot;       /* the truth */
  const double *constant;        /* (n) torque constants of the drives; NULL: torques are logged */
  const psdm_friction *friction; /* (n) of the drives; NULL: none */
  double mass, com[3];           /* on the last link */
  bool rates;                    /* qd and qdd are logged */
  double noise;                  /* Nm, of every drive's torque */
  double step;                   /* rad of the encoders; 0: exact */
  bool motor_side;               /* currents are always the drives'; this logs qm for q */
} recorder;

/* T of calib_priv.h by unit vectors: joint rates from drive rates */
static inline void transmission_of(const psdm_robot *robot, double T[WIDE][WIDE], double inverse[WIDE][WIDE]) {
  int n = psdm_robot_n(robot);
  for (int j = 0; j < n; j++) {
    double unit[WIDE] = {0}, to[WIDE], gear = psdm_robot_joint(robot, j)->gear;
    unit[j] = psdm_robot_has_transmission(robot) ? gear : 1;
    psdm_robot_motor_to_joint(robot, unit, to);
    for (int i = 0; i < n; i++) T[i][j] = to[i];
    unit[j] = 1;
    psdm_robot_joint_to_motor(robot, unit, to);
    for (int i = 0; i < n; i++)
      inverse[i][j] = to[i] / (psdm_robot_has_transmission(robot) ? psdm_robot_joint(robot, i)->gear : 1);
  }
}

static inline void add_mass(const psdm_robot *robot, double mass, const double com[3], psdm_robot **loaded) {
  int S = psdm_robot_parameter_count(robot), link = psdm_robot_links(robot) - 1;
  double *pi = must(malloc((size_t)S * sizeof *pi)), *p = pi + 10 * link, x = com[0], y = com[1], z = com[2];
  assert_int_equal(psdm_robot_clone(robot, NULL, loaded), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  const double add[10] = {1, x, y, z, y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y};
  for (int k = 0; k < 10; k++) p[k] += mass * add[k];
  psdm_robot_set_parameters(*loaded, pi);
  free(pi);
}

/* drives' torques (rows x n): T^T inverse dynamics + friction along the drives' velocities */
static inline double *drive_torques(const recorder *r, const track *t) {
  int n = t->n;
  double T[WIDE][WIDE], inverse[WIDE][WIDE], *out = must(calloc((size_t)t->rows * (size_t)n, sizeof *out)),
                                             *v = must(malloc((size_t)t->rows * sizeof *v));
  double *time = must(malloc((size_t)t->rows * sizeof *time)), *own = must(malloc((size_t)t->rows * sizeof *own));
  psdm_robot *loaded;
  psdm_work *work;
  transmission_of(r->robot, T, inverse);
  add_mass(r->robot, r->mass, r->com, &loaded);
  assert_int_equal(psdm_work_new(loaded, NULL, &work), PSDM_OK);
  for (long k = 0; k < t->rows; k++) {
    double tau[WIDE];
    assert_int_equal(psdm_inverse(loaded, work, t->q + k * n, t->qd + k * n, t->qdd + k * n, tau), PSDM_OK);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) out[k * n + i] += T[j][i] * tau[j];
  }
  for (int d = 0; d < n && r->friction; d++) {
    for (long k = 0; k < t->rows; k++) {
      time[k] = (double)k * t->dt, v[k] = 0;
      for (int j = 0; j < n; j++) v[k] += inverse[d][j] * t->qd[k * n + j];
    }
    psdm_lugre_follow(&r->friction[d], 0, t->rows, time, v, NULL, own);
    for (long k = 0; k < t->rows; k++) out[k * n + d] += own[k];
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(loaded);
  free(v), free(time), free(own);
  return out;
}

static inline void write_log(const char *path, const recorder *r, const track *t, rng *g) {
  int n = t->n;
  double *torque = drive_torques(r, t), T[WIDE][WIDE], inverse[WIDE][WIDE];
  FILE *file = must(fopen(path, "w"));
  transmission_of(r->robot, T, inverse);
  fprintf(file, "t");
  const char *const names[] = {"q", "qd", "qdd", r->constant ? "i" : "tau"};
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < n && (k == 0 || k == 3 || r->rates); i++) fprintf(file, ",%s%d", names[k], i + 1);
  fprintf(file, "\n");
  for (long k = 0; k < t->rows; k++) {
    double drive[WIDE];
    fprintf(file, "%.9f", (double)k * t->dt);
    for (int i = 0; i < n; i++)
      fprintf(file, ",%.17g", r->step > 0 ? floor(t->q[k * n + i] / r->step + 0.5) * r->step : t->q[k * n + i]);
    for (int i = 0; i < n && r->rates; i++) fprintf(file, ",%.17g", t->qd[k * n + i]);
    for (int i = 0; i < n && r->rates; i++) fprintf(file, ",%.17g", t->qdd[k * n + i]);
    for (int d = 0; d < n; d++) drive[d] = torque[k * n + d] + (r->noise > 0 ? r->noise * rng_normal(g) : 0);
    for (int d = 0; d < n; d++) {
      double joint = 0;
      for (int j = 0; j < n; j++) joint += inverse[j][d] * drive[j]; /* tau = T^-T drive */
      fprintf(file, ",%.17g", r->constant ? drive[d] / r->constant[d] : joint);
    }
    fprintf(file, "\n");
  }
  assert_int_equal(fclose(file), 0);
  free(torque);
}

/* ---- files that are removed at the end ---- */

typedef struct shelf {
  char path[LOGS][64];
  psdm_steps_log log[LOGS];
  int logs;
} shelf;

static inline psdm_steps_log *shelf_add(shelf *s, psdm_step step) {
  strcpy(s->path[s->logs], "/tmp/psdm_steps_XXXXXX");
  int file = mkstemp(s->path[s->logs]);
  assert_true(file >= 0);
  close(file);
  s->log[s->logs] = (psdm_steps_log){.path = s->path[s->logs], .step = step};
  return &s->log[s->logs++];
}

static inline void shelf_clear(shelf *s) {
  for (int k = 0; k < s->logs; k++) unlink(s->path[k]);
  s->logs = 0;
}

/* a log of a motion, with a mass if there is one; the motion is freed */
static inline void shelf_write(shelf *s, psdm_step step, const recorder *r, track *t, rng *g) {
  psdm_steps_log *log = shelf_add(s, step);
  log->mass = r->mass;
  memcpy(log->com, r->com, sizeof log->com);
  write_log(log->path, r, t, g);
  track_free(t);
}

/* theta = K pi of the robot without assumptions */
static inline int true_theta(const psdm_robot *robot, double *theta) {
  psdm_model *model;
  psdm_error error;
  double *pi = must(malloc(sizeof *pi * (size_t)psdm_robot_parameter_count(robot)));
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  int l = psdm_model_l(model);
  base_from_standard(model, pi, theta);
  psdm_model_free(model);
  free(pi);
  return l;
}

static inline psdm_steps *run_steps(const psdm_robot *robot, const psdm_steps_options *o) {
  psdm_steps *s = NULL;
  psdm_error error = {0};
  if (psdm_steps_run(robot, o, NULL, &s, &error)) fail_msg("%s: %s", error.file, error.text);
  return s;
}

#endif
