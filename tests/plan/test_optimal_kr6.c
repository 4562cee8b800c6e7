/* optimal.c on KR6, rest to rest, in time and energy. Every answer is checked by the recursion, not by the solver. */
#include "test_optimal_scene.h"

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

TEST(kr6) {
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
