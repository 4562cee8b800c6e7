/* sim_support.h: shared by the simulator's tests: simulators that must begin, recorded rows, one-line robots. */
#ifndef SIM_SUPPORT_H
#define SIM_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "psdm/sim.h"
#include "robot/robot.h"

enum { MOST = 12 };

/* tests of variable steps are skipped, with a message, when the library has none */
#define NEEDS_SUNDIALS()                                                   \
  do {                                                                     \
    if (!psdm_integrator_available(PSDM_INTEGRATOR_ADAMS)) {               \
      print_message("SKIPPED: this library was built without SUNDIALS\n"); \
      skip();                                                              \
    }                                                                      \
  } while (0)

static inline psdm_sim *sim_of(const psdm_robot *robot, const psdm_sim_options *options) {
  psdm_sim *sim;
  psdm_error error;
  char sentence[900];
  if (psdm_sim_new(robot, options, NULL, &sim, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return sim;
}

static inline void place(psdm_sim *sim, double t, const double *q, const double *qd) {
  psdm_error error;
  char sentence[900];
  if (psdm_sim_set(sim, t, q, qd, &error)) fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
}

/* ---- recorded rows ---- */

typedef struct kept_row {
  double t, q[MOST], qd[MOST], qdd[MOST], theta[MOST], thetad[MOST], tau[MOST], friction[MOST], passive[MOST];
  double energy, kinetic, supplied, dissipated, external, payload;
} kept_row;

typedef struct record {
  kept_row *row;
  long rows, room;
  long stop_after; /* 0: never */
} record;

static inline void keep_numbers(double *to, const double *from, int count) {
  if (from) memcpy(to, from, sizeof *to * (size_t)count);
}

static inline bool keep(void *user, const psdm_sim_row *row) {
  record *r = user;
  if (r->rows == r->room) r->row = realloc(r->row, sizeof *r->row * (size_t)(r->room = 2 * r->room + 64));
  assert_non_null(r->row);
  kept_row *k = memset(&r->row[r->rows++], 0, sizeof *k);
  k->t = row->t;
  keep_numbers(k->q, row->q, row->n);
  keep_numbers(k->qd, row->qd, row->n);
  keep_numbers(k->qdd, row->qdd, row->n);
  keep_numbers(k->theta, row->theta, row->n);
  keep_numbers(k->thetad, row->thetad, row->n);
  keep_numbers(k->tau, row->tau, row->n);
  keep_numbers(k->friction, row->friction, row->n);
  keep_numbers(k->passive, row->passive, row->joints);
  k->kinetic = row->kinetic;
  k->energy = row->kinetic + row->potential + row->elastic + row->bristles;
  k->supplied = row->supplied, k->dissipated = row->dissipated, k->external = row->external, k->payload = row->payload;
  return !r->stop_after || r->rows < r->stop_after;
}

static inline void record_free(record *r) {
  free(r->row);
  *r = (record){0};
}

/* from the current state; rec may be NULL */
static inline psdm_sim_result go(psdm_sim *sim, double seconds, record *rec) {
  psdm_sim_result result;
  assert_int_equal(psdm_sim_run(sim, seconds, rec ? keep : NULL, rec, &result, NULL), PSDM_OK);
  return result;
}

/* the same, and it must reach its end */
static inline psdm_sim_result go_on(psdm_sim *sim, double seconds, record *rec) {
  psdm_sim_result result = go(sim, seconds, rec);
  if (result.end != PSDM_SIM_TIME) fail_msg("%s", result.text);
  return result;
}

static inline psdm_sim_row now(psdm_sim *sim) {
  psdm_sim_row row;
  psdm_sim_now(sim, &row);
  return row;
}

/* ---- robots ---- */

/* joint i's numbers may be changed: friction, limits, springs; file order, fixed and coupled ones included */
static inline psdm_joint *joint_of(psdm_robot *robot, int i) { return &robot->joint[i]; }

static inline void set_friction(psdm_robot *robot, int i, double coulomb, double stat, double stribeck,
                                double viscous) {
  joint_of(robot, i)->friction = (psdm_friction){
      .given = true, .coulomb = coulomb, .stat = stat, .stribeck = stribeck, .viscous = viscous, .exponent = 1};
}

/* a mass of m on a slider along x, gravity (gx, 0, -9.81): an incline seen in its own axes */
static inline psdm_robot *slider(double m, double gx, const char *more) {
  char text[800];
  snprintf(text, sizeof text,
           "gravity: [%.17g, 0, -9.81]\nconvention: modified-dh\nbase: {rpy: [0, pi/2, 0]}\njoints:\n  - {name: slide, "
           "type: prismatic%s}\nlinks:\n"
           "  - {mass: %.17g, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n",
           gx, more, m);
  return parse_robot(text);
}

static inline psdm_robot *random_robot(rng *g, int n_min, int n_max, bool drives) {
  static char text[1 << 16];
  const random_options options = {
      .n_min = n_min, .n_max = n_max, .coupled = true, .trees = true, .prismatic = true, .drives = drives};
  return parse_robot(random_robot_text(g, &options, text, sizeof text));
}

static inline void random_state(rng *g, int n, double speed, double *q, double *qd) {
  for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -1, 1), qd[i] = rng_uniform(g, -speed, speed);
}

/* slope of the straight line through (log x, log y) */
static inline double slope_of(int count, const double *x, const double *y) {
  double a = 0, b = 0, c = 0, d = 0;
  for (int i = 0; i < count; i++)
    a += log(x[i]), b += log(y[i]), c += log(x[i]) * log(x[i]), d += log(x[i]) * log(y[i]);
  return (count * d - a * b) / (count * c - a * a);
}

#endif
