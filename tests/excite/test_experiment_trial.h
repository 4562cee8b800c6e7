/* test_experiment_trial.h: an experiment planned for a test, and the limits that every one must keep. Part of one
 * program at a time. */
#ifndef TEST_EXPERIMENT_TRIAL_H
#define TEST_EXPERIMENT_TRIAL_H

#include <math.h>
#include <string.h>

#include "excite/excite_priv.h"
#include "support.h"

enum { MOST = 16, GRID = 8000 };

/* One planned experiment and its inputs. */
typedef struct trial {
  psdm_robot *robot;
  int n;
  double lower[MOST], upper[MOST], velocity[MOST], acceleration[MOST], effort[MOST];
  psdmp_excite_limits limits;
  psdm_excite_options options;
  psdmp_base_arena arena;
  psdm_excitation out;
  psdm_motion *motion;
  psdm_error error;
} trial;

/* different limits for every joint, off the middle */
static inline void open_trial(trial *t, psdm_robot *robot, psdm_step step, uint64_t seed) {
  *t = (trial){.robot = robot, .n = psdm_robot_n(robot)};
  for (int i = 0; i < t->n; i++) {
    t->lower[i] = -1.8 - 0.1 * i, t->upper[i] = 2.1 - 0.05 * i;
    t->velocity[i] = 2 + 0.3 * i, t->acceleration[i] = 8 + i, t->effort[i] = INFINITY;
  }
  t->limits = (psdmp_excite_limits){.lower = t->lower,
                                    .upper = t->upper,
                                    .velocity = t->velocity,
                                    .acceleration = t->acceleration,
                                    .effort = t->effort,
                                    .clearance = 0.01};
  t->options = (psdm_excite_options){.step = step, .seed = seed, .com = {0.06, 0.02, 0.1}};
}

static inline psdm_status plan_trial(trial *t) {
  return psdmp_excite_experiment(t->robot, &t->options, &t->limits, &t->arena, NULL, &t->out, &t->motion, &t->error);
}

static inline void must_plan(trial *t) {
  if (plan_trial(t)) fail_msg("step %d: %s", t->options.step, t->error.text);
}

static inline void close_trial(trial *t) {
  psdm_motion_free(t->motion);
  psdmp_base_arena_free(&t->arena);
}

static inline double grid_time(const trial *t, int k) { return psdm_motion_end(t->motion) * k / GRID; }

/* positions, velocities and accelerations; at rest at both ends. Tolerance: pieces are no shorter than 0.01 s, and a
 * quintic's velocity and acceleration are differences of positions of a few rad, over that time and its square,
 * times factors of up to 60 */
static inline void check_limits(const trial *t, double *worst) {
  double x[3 * MOST], eps = 2.2e-16 * 3 * 60;
  for (int k = 0; k <= GRID; k++) {
    psdm_motion_at(t->motion, grid_time(t, k), 3, x);
    for (int i = 0; i < t->n; i++) {
      double q = x[i], qd = x[t->n + i], qdd = x[2 * t->n + i];
      if (q < t->lower[i] - eps || q > t->upper[i] + eps || fabs(qd) > t->velocity[i] + eps / 0.01 ||
          fabs(qdd) > t->acceleration[i] + eps / 1e-4)
        fail_msg("step %d, t = %.4f, joint %d: %.17g %.17g %.17g", t->options.step, grid_time(t, k), i + 1, q, qd, qdd);
      *worst = fmax(*worst, fmax(fabs(qd) / t->velocity[i], fabs(qdd) / t->acceleration[i]));
      if (k == 0 || k == GRID) assert_true(fabs(qd) < eps / 0.01 && fabs(qdd) < eps / 1e-4);
    }
  }
}

static inline void check_parts(const trial *t) {
  double end = 0;
  assert_true(t->out.parts > 0);
  for (int k = 0; k < t->out.parts; k++) {
    const psdm_excite_part *p = &t->out.part[k];
    assert_true(p->begin >= end - 1e-9 && p->end > p->begin && p->joint >= -1 && p->joint < t->n);
    end = p->end;
  }
  assert_true(end <= psdm_motion_end(t->motion) + 1e-9 && psdm_motion_begin(t->motion) == 0);
}

/* a point mass on the last link */
static inline psdm_robot *with_mass(const psdm_robot *robot, double mass, const double com[3]) {
  psdm_robot *loaded;
  double pi[200], add[10] = {mass, mass * com[0], mass * com[1], mass * com[2]};
  int last = psdm_robot_links(robot) - 1;
  assert_int_equal(psdm_robot_clone(robot, NULL, &loaded), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  for (int i = 0; i < 4; i++) pi[10 * last + i] += add[i];
  psdm_robot_set_parameters(loaded, pi);
  return loaded;
}

#endif
