/* test_steps_arms.h: small arms whose truth is known, and the experiments they are put through. Part of one program
 * at a time. */
#ifndef TEST_STEPS_ARMS_H
#define TEST_STEPS_ARMS_H

#include "test_steps_log.h"

/* One arm. Joints and links in the words of a robot file; the file to calibrate has neither inertias nor motors. */
typedef struct arm {
  const char *name, *head, *joint[3], *drive[3], *link[3], *tail;
  double constant[3];
  psdm_friction friction[3];
  double low[3], high[3], speed[3]; /* of sweeps */
  double com[3];                    /* of the known mass */
} arm;

#define LINK_1 "{mass: 4, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.03, yy: 0.05, zz: 0.04, xy: 0.002}}"
#define LINK_2 "{mass: 3, com: [-0.2, 0.015, 0.02], inertia: {xx: 0.01, yy: 0.05, zz: 0.05, yz: 0.001}}"
#define LINK_3 "{mass: 2, com: [-0.05, 0.02, 0.06], inertia: {xx: 0.015, yy: 0.02, zz: 0.012, xz: 0.001}}"

static const arm arms[] = {
    /* on a wall: gravity shows at every joint */
    {"turning",
     "gravity: [9.81, 0, 0]\n",
     {"type: revolute, d: 0.2, a: 0.1, alpha: -pi/2", "type: revolute, a: 0.4", "type: revolute, a: 0.3, alpha: pi/2"},
     {"0.5", "0.4", "0.1"},
     {LINK_1, LINK_2, LINK_3},
     "",
     {36.1, 24.4, 14.6},
     {{9.59, 12.5, 0.0144, 23.7, 0.61, 288e3, 22.8, 0, true},
      {6.2, 7.77, 0.032, 10.7, 0.73, 130e3, 19.2, 0, true},
      {2.39, 2.67, 0.0811, 4.5, 0.59, 35.9e3, 13.9, 0, true}},
     {-1.2, -1.2, -1.5},
     {1.2, 1.2, 1.5},
     {0.3, 0.3, 0.4},
     {0.05, 0.08, 0.1}},
    /* the second motor moves the second joint against the first: q2 = x2 - x1 */
    {"coupled",
     "gravity: [0, -9.81, 0]\n",
     {"type: revolute, a: 0.5, gear: 100", "type: revolute, a: 0.4, gear: -80", NULL},
     {"0.6", "0.3", NULL},
     {LINK_1, LINK_2, NULL},
     "transmission: [[1, 0], [-1, 1]]\n",
     {30, 12},
     {{6, 7.5, 0.02, 12, 0.7, 150e3, 30, 0, true}, {3, 3.4, 0.05, 5, 0.8, 60e3, 20, 0, true}},
     {-1.2, -1.5},
     {1.2, 1.5},
     {0.3, 0.4},
     {0.1, 0.05, 0}},
    {"sliding",
     "gravity: [3, 2, -9]\n",
     {"type: prismatic, d: 0.3, alpha: pi/2", "type: revolute, a: 0.3, alpha: pi/2", "type: revolute, a: 0.2"},
     {"3", "0.5", "0.1"},
     {LINK_1, LINK_2, LINK_3},
     "",
     {90, 20, 9},
     {{12, 15, 0.01, 60, 0.7, 300e3, 200, 0, true},
      {5, 6, 0.02, 8, 0.8, 90e3, 20, 0, true},
      {2, 2.2, 0.05, 2, 0.9, 30e3, 9, 0, true}},
     {-0.3, -1.2, -1.5},
     {0.3, 1.2, 1.5},
     {0.08, 0.3, 0.4},
     {0.05, 0.08, 0.1}},
};
enum { ARMS = sizeof arms / sizeof *arms };

static inline int arm_n(const arm *a) { return a->joint[2] ? 3 : 2; }

/* What a robot file of the arm says. */
typedef struct told {
  bool inertias, motors, friction;
  const char *more; /* further lines */
} told;

static inline psdm_robot *arm_robot(const arm *a, told w) {
  char text[4096];
  int at = snprintf(text, sizeof text, "name: %s\nconvention: dh\n%s%sjoints:\n", a->name, a->head,
                    w.more ? w.more : ""),
      n = arm_n(a);
  for (int j = 0; j < n; j++) {
    const psdm_friction *f = &a->friction[j];
    at += snprintf(text + at, sizeof text - (size_t)at, "  - {name: j%d, %s, drive_inertia: %s", j + 1, a->joint[j],
                   w.inertias ? a->drive[j] : "unknown");
    if (w.motors) at += snprintf(text + at, sizeof text - (size_t)at, ", torque_constant: %.17g", a->constant[j]);
    if (w.friction)
      at += snprintf(text + at, sizeof text - (size_t)at,
                     ", friction: {coulomb: %.17g, static: %.17g, stribeck: %.17g, viscous: %.17g, exponent: %.17g, "
                     "sigma0: %.17g, sigma1: %.17g}",
                     f->coulomb, f->stat, f->stribeck, f->viscous, f->exponent, f->sigma0, f->sigma1);
    at += snprintf(text + at, sizeof text - (size_t)at, "}\n");
  }
  if (w.inertias) at += snprintf(text + at, sizeof text - (size_t)at, "links:\n");
  for (int j = 0; j < n && w.inertias; j++) at += snprintf(text + at, sizeof text - (size_t)at, "  - %s\n", a->link[j]);
  snprintf(text + at, sizeof text - (size_t)at, "%s", a->tail);
  return parse_robot(text);
}

/* ---- the experiments ---- */

static const double middle[WIDE] = {0.2, 0.15, 0.4};

/* every joint there and back, the others in the middle */
static inline track *motor_track(const arm *a, double dt) {
  int n = arm_n(a);
  track *t = track_new(n, dt);
  memcpy(t->at, middle, (size_t)n * sizeof *middle);
  track_hold(t, 0.6);
  for (int j = 0; j < n; j++) {
    double to[WIDE];
    memcpy(to, middle, sizeof to);
    to[j] = a->low[j];
    track_move(t, to, 1.5);
    track_hold(t, 0.6);
    track_sweep(t, j, a->high[j], a->speed[j]);
    track_hold(t, 0.6);
    track_sweep(t, j, a->low[j], a->speed[j]);
    track_hold(t, 0.6);
    track_move(t, middle, 1.5);
    track_hold(t, 0.6);
  }
  return t;
}

static inline track *gravity_track(const arm *a, double dt, double seconds) {
  int n = arm_n(a);
  double size[WIDE] = {0}, frequency[WIDE] = {0.043, 0.057, 0.079};
  track *t = track_new(n, dt);
  for (int j = 0; j < n; j++) size[j] = 0.95 * (a->high[j] - a->low[j]) / 2, t->at[j] = (a->high[j] + a->low[j]) / 2;
  track_there_and_back(t, size, frequency, seconds);
  return t;
}

/* sines of growing amplitude, one joint after the other */
static inline track *friction_track(const arm *a, double dt) {
  static const double size[] = {2e-5, 6e-5, 2e-4, 1e-3, 4e-3, 0.02, 0.08, 0.3, 0.6},
                      frequency[] = {1, 1, 1, 1, 1, 0.8, 0.7, 0.6, 0.5};
  int n = arm_n(a);
  track *t = track_new(n, dt);
  memcpy(t->at, middle, (size_t)n * sizeof *middle);
  for (int j = 0; j < n; j++) {
    double by = (a->high[j] - a->low[j]) / 2.4;
    track_hold(t, 1);
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
      track_sine(t, j, size[k] * (k < 3 ? 1 : by), frequency[k], 3);
  }
  track_hold(t, 1);
  return t;
}

static inline track *inertia_track(const arm *a, double dt, double seconds, rng *g) {
  int n = arm_n(a);
  track *t = track_new(n, dt);
  memcpy(t->at, middle, (size_t)n * sizeof *middle);
  track_excite(t, g, (a->high[n - 1] - a->low[n - 1]) / 3, seconds);
  if (strcmp(a->name, "sliding") == 0) /* metres are long */
    for (long k = 0; k < t->rows; k++) {
      long at = k * n;
      t->q[at] = middle[0] + (t->q[at] - middle[0]) / 5, t->qd[at] /= 5, t->qdd[at] /= 5;
    }
  return t;
}

enum {
  MOTOR = 1 << PSDM_STEP_MOTOR,
  GRAVITY = 1 << PSDM_STEP_GRAVITY,
  FRICTION = 1 << PSDM_STEP_FRICTION,
  INERTIA = 1 << PSDM_STEP_INERTIA
};

/* logs of the steps in `steps` */
static inline void make_logs(shelf *s, unsigned steps, const arm *a, recorder r, double dt, rng *g) {
  if (steps & MOTOR) {
    shelf_write(s, PSDM_STEP_MOTOR, &r, motor_track(a, dt), g);
    for (int k = 1; k <= 2; k++) {
      recorder loaded = r;
      loaded.mass = 1.5 * k;
      memcpy(loaded.com, a->com, sizeof loaded.com);
      shelf_write(s, PSDM_STEP_MOTOR, &loaded, motor_track(a, dt), g);
    }
  }
  if (steps & GRAVITY) shelf_write(s, PSDM_STEP_GRAVITY, &r, gravity_track(a, dt, 40), g);
  if (steps & FRICTION) shelf_write(s, PSDM_STEP_FRICTION, &r, friction_track(a, dt), g);
  if (steps & INERTIA) shelf_write(s, PSDM_STEP_INERTIA, &r, inertia_track(a, dt, 20, g), g);
}

static inline psdm_steps_options steps_options(const shelf *s, bool filtered) {
  psdm_steps_options o = {.logs = s->logs, .log = s->log};
  for (int k = 0; k < PSDM_STEPS && !filtered; k++) o.cutoff[k] = INFINITY;
  return o;
}

/* ---- the answer and the truth ---- */

static inline bool remarked(const psdm_steps *s, const char *words) {
  for (int k = 0; s->remark[k][0]; k++)
    if (strstr(s->remark[k], words)) return true;
  return false;
}

static inline double relative(double a, double b, double scale) { return fabs(a - b) / fmax(scale, fabs(b)); }

/* worst relative error of the torque constants, and of theta relative to its largest entry of either kind */
typedef struct worst {
  double constant, gravity, other;
} worst;

static inline worst compare(const psdm_steps *s, const arm *a, const psdm_robot *truth) {
  double theta[64], most[2] = {0};
  worst w = {0};
  assert_int_equal(true_theta(truth, theta), s->base);
  for (int j = 0; j < s->base; j++) most[s->gravity[j]] = fmax(most[s->gravity[j]], fabs(theta[j]));
  for (int d = 0; d < s->n; d++) w.constant = fmax(w.constant, relative(s->torque_constant[d], a->constant[d], 0));
  for (int j = 0; j < s->base; j++) {
    double *to = s->gravity[j] ? &w.gravity : &w.other, e = fabs(s->theta[j].value - theta[j]) / most[s->gravity[j]];
    if (!(e <= *to)) *to = e;
  }
  return w;
}

#endif
