/* optimal.c on KR6, rest to rest, in time and energy. Every answer is checked by the recursion, not by the solver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/optimal.h"
#include "support.h"

static psdm_optimal *optimum(const psdm_robot *robot, const psdm_optimal_options *options) {
  psdm_optimal *optimal;
  psdm_error error;
  psdm_status status = psdm_optimal_new(robot, options, NULL, &optimal, &error);
  if (status) print_message("%s\n", error.text);
  assert_int_equal(status, PSDM_OK);
  if (!optimal->converged) print_message("%s\n", optimal->words);
  assert_true(optimal->converged);
  assert_true(optimal->infeasibility < 1.0001e-3);
  return optimal;
}

typedef struct limits {
  const double *velocity, *effort;
} limits;

/* largest share of a limit, torques by psdm_inverse; energy: integral of sum tau^2. Ends must be at rest */
static double largest_share(const psdm_robot *robot, const psdm_motion *motion, const limits *l, double *energy) {
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
      worst = fmax(worst, fmax(fabs(tau[i]) / l->effort[i], fabs(x[n + i]) / l->velocity[i]));
      *energy += T / (3 * PARTS) * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2) * tau[i] * tau[i];
    }
  }
  psdm_work_free(work, NULL);
  return worst;
}

static void check_ends(const psdm_optimal *p, const double *from, const double *to) {
  double x[8];
  psdm_motion_at(p->motion, 0, 1, x);
  assert_true(max_difference(x, from, p->n) < 1e-12);
  psdm_motion_at(p->motion, p->seconds, 1, x);
  assert_true(max_difference(x, to, p->n) < 1e-12);
}

static const double kr6_from[] = {0, -1.2, 1.4, 0, 0.4, 0}, kr6_to[] = {1.2, -0.6, 0.7, 0.8, -0.5, 1};
static const double kr6_effort[] = {100, 150, 80, 30, 30, 20}, kr6_velocity[] = {6.3, 5.2, 6.3, 6.6, 6.8, 10.7};

/* the quickest motion along the straight line */
static double straight(const psdm_robot *robot) {
  double t[2] = {0, 1}, q[12], qd[12], qdd[12] = {0};
  psdm_motion *path;
  psdm_path_plan *plan;
  for (int i = 0; i < 6; i++) {
    q[i] = kr6_from[i];
    q[6 + i] = kr6_to[i];
    qd[i] = qd[6 + i] = kr6_to[i] - kr6_from[i];
  }
  assert_int_equal(psdm_motion_table(6, 2, t, q, qd, qdd, NULL, &path, NULL), PSDM_OK);
  assert_int_equal(psdm_path_plan_new(robot, path, &(psdm_path_options){.effort = kr6_effort, .velocity = kr6_velocity},
                                      NULL, &plan, NULL),
                   PSDM_OK);
  double seconds = plan->seconds;
  psdm_path_plan_free(plan);
  psdm_motion_free(path);
  return seconds;
}

static void kr6(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6");
  const limits l = {.effort = kr6_effort, .velocity = kr6_velocity};
  double line = straight(robot), energy, cubic_energy;
  psdm_optimal *p = optimum(
      robot, &(psdm_optimal_options){.from = kr6_from, .to = kr6_to, .effort = kr6_effort, .velocity = kr6_velocity});
  double share = largest_share(robot, p->motion, &l, &energy);
  printf("KR6, least time: %.4f s (straight line %.4f s, quintic %.4f s), limits up to %.5f, planned in %.2f s and %d "
         "iterations\n",
         p->seconds, line, p->guess_seconds, share, p->wall, p->iterations);
  check_ends(p, kr6_from, kr6_to);
  assert_true(p->seconds < line && line < p->guess_seconds);
  assert_true(share < 1 + 1.1e-3 && share > 0.999);
  assert_true(fabs(energy / p->energy - 1) < 1e-3);
  psdm_optimal_free(p);
  p = optimum(
      robot,
      &(psdm_optimal_options){
          .from = kr6_from, .to = kr6_to, .effort = kr6_effort, .velocity = kr6_velocity, .energy = 1, .duration = 1});
  share = largest_share(robot, p->motion, &l, &energy);
  psdm_motion *cubic;
  assert_int_equal(psdm_motion_polynomial(6, 3, kr6_from, kr6_to, 0, 1, NULL, &cubic, NULL), PSDM_OK);
  largest_share(robot, cubic, &l, &cubic_energy);
  printf("KR6, least energy in 1 s: %.2f (Nm)^2 s (cubic %.2f, quintic %.2f), limits up to %.5f, planned in %.2f s and "
         "%d iterations\n",
         p->energy, cubic_energy, p->guess_energy, share, p->wall, p->iterations);
  check_ends(p, kr6_from, kr6_to);
  assert_true(p->seconds == 1 && share < 1 + 1e-3);
  assert_true(p->energy < cubic_energy && p->energy < p->guess_energy);
  psdm_motion_free(cubic);
  psdm_optimal_free(p);
  psdm_robot_free(robot);
}

TEST_MAIN(kr6)
