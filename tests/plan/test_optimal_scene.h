/* test_optimal_scene.h: what the tests of optimal motions share: the solver, and limits checked by the recursion. */
#ifndef TEST_OPTIMAL_SCENE_H
#define TEST_OPTIMAL_SCENE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/optimal.h"
#include "support.h"

static inline psdm_optimal *optimum(const psdm_robot *robot, const psdm_optimal_options *options) {
  psdm_optimal *optimal;
  psdm_error error;
  psdm_status status = psdm_optimal_new(robot, options, NULL, &optimal, &error);
  if (status) print_message("%s\n", error.text);
  assert_int_equal(status, PSDM_OK);
  if (!optimal->converged) print_message("%s\n", optimal->words);
  assert_true(optimal->converged && !optimal->stopped);
  assert_true(optimal->infeasibility < 1.0001e-3);
  return optimal;
}

typedef struct limits {
  const double *lower, *upper, *velocity, *effort; /* NULL: none */
} limits;

/* largest share of a limit, torques by psdm_inverse; energy: integral of sum tau^2. Ends must be at rest */
static inline double largest_share(const psdm_robot *robot, const psdm_motion *motion, const limits *l,
                                   double *energy) {
  enum { PARTS = 4000 };
  double x[3 * 8], tau[8], worst = 0, T = psdm_motion_end(motion);
  int n = psdm_robot_n(robot);
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  *energy = 0;
  for (int k = 0; k <= PARTS; k++) {
    psdm_motion_at(motion, T * ((double)k / PARTS), 3, x);
    assert_int_equal(psdm_inverse(robot, work, x, x + n, x + 2 * n, tau), PSDM_OK);
    for (int i = 0; i < n; i++) {
      if (k == 0 || k == PARTS) assert_true(fabs(x[n + i]) < 1e-9 * (1 + 1 / T));
      if (l->effort) worst = fmax(worst, fabs(tau[i]) / l->effort[i]);
      if (l->velocity) worst = fmax(worst, fabs(x[n + i]) / l->velocity[i]);
      if (l->lower) worst = fmax(worst, 1 + fmax(l->lower[i] - x[i], x[i] - l->upper[i]));
      *energy += T / (3 * PARTS) * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2) * tau[i] * tau[i];
    }
  }
  psdm_work_free(work, NULL);
  return worst;
}

static inline void check_ends(const psdm_optimal *p, const double *from, const double *to) {
  double x[8];
  psdm_motion_at(p->motion, 0, 1, x);
  assert_true(max_difference(x, from, p->n) < 1e-12);
  psdm_motion_at(p->motion, p->seconds, 1, x);
  assert_true(max_difference(x, to, p->n) < 1e-12);
}

#endif
