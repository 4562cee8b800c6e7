/* Closed loops: the five-bar's accelerations against two other methods, its energy and its gaps, and friction and stops
 * in a loop. */
#include "sim_support.h"
#include "psdm/loop.h"

extern void dgesv_(const int *n, const int *columns, double *A, const int *lda, int *pivots, double *b, const int *ldb,
                   int *info);

static const double quarter = 1.5707963267948966;

/* the tree's positions of a row */
static void tree_of(const psdm_robot *robot, const double *independent, const double *passive, double *tree) {
  for (int i = 0; i < psdm_robot_n(robot); i++) tree[psdm_loop_independent(robot, i)] = independent[i];
  for (int i = 0; i < psdm_loop_passives(robot); i++) tree[psdm_loop_passive(robot, i)] = passive[i];
}

/* M a - A^T l = -bias and A a = -drift as one dense system; the loop's third equation is empty in a plane */
static void dense_accelerations(const psdm_robot *robot, psdm_work *closed, psdm_work *open, const double *q,
                                const double *qd, double *out) {
  const psdm_robot *tree = psdm_robot_tree(robot);
  enum { N = 4, E = 2, S = N + E };
  double x[N], v[N], M[N * N], bias[N], A[3 * N], drift[3], system[S * S] = {0}, right[S];
  int size = S, one = 1, pivots[S], info;
  assert_int_equal(psdm_robot_n(tree), N);
  assert_int_equal(psdm_loop_close(robot, closed, q, qd, x, v), PSDM_OK);
  assert_int_equal(psdm_loop_gaps(robot, closed, x, v, NULL, A, drift), PSDM_OK);
  assert_int_equal(psdm_mass(tree, open, x, M), PSDM_OK);
  assert_int_equal(psdm_bias(tree, open, x, v, bias), PSDM_OK);
  for (int i = 0; i < N; i++) { /* column-major */
    for (int k = 0; k < N; k++) system[k * S + i] = M[i * N + k];
    for (int e = 0; e < E; e++) system[(N + e) * S + i] = -A[e * N + i], system[i * S + N + e] = A[e * N + i];
    right[i] = -bias[i];
  }
  for (int e = 0; e < E; e++) right[N + e] = -drift[e];
  dgesv_(&size, &one, system, &size, pivots, right, &size, &info);
  assert_int_equal(info, 0);
  for (int i = 0; i < psdm_robot_n(robot); i++) out[i] = right[psdm_loop_independent(robot, i)];
}

static void test_accelerations(void **unused) {
  (void)unused;
  rng g = rng_start("five-bar accelerations");
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *closed, *open;
  assert_int_equal(psdm_work_new(robot, NULL, &closed), PSDM_OK);
  assert_int_equal(psdm_work_new(psdm_robot_tree(robot), NULL, &open), PSDM_OK);
  const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4};
  psdm_sim *sim = sim_of(robot, &options);
  double worst[2] = {0}, zero[2] = {0};
  for (int trial = 0; trial < 500; trial++) {
    double q[2], qd[2], forward[2], dense[2];
    for (int i = 0; i < 2; i++) q[i] = quarter + rng_uniform(&g, -1, 1), qd[i] = rng_uniform(&g, -3, 3);
    place(sim, 0, q, qd);
    psdm_sim_row row = now(sim);
    assert_int_equal(row.joints, 2);
    assert_int_equal(psdm_forward(robot, closed, q, qd, zero, forward), PSDM_OK);
    dense_accelerations(robot, closed, open, q, qd, dense);
    double size = 1 + max_absolute(forward, 2);
    worst[0] = fmax(worst[0], max_difference(row.qdd, forward, 2) / size);
    worst[1] = fmax(worst[1], max_difference(row.qdd, dense, 2) / size);
  }
  print_message("against psdm_forward %.2g, against a dense solve %.2g\n", worst[0], worst[1]);
  /* loops lose about three digits near positions where the motors lose control of them */
  assert_true(worst[0] < 1e-11 && worst[1] < 1e-11);
  psdm_sim_free(sim);
  psdm_work_free(closed, NULL);
  psdm_work_free(open, NULL);
  psdm_robot_free(robot);
}

/* from q = 0 the crank ends meet at 0.3119 s, where the motors do not determine the couplers: the motion goes on */
static void test_free_motion(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_sim *sim = sim_of(robot, NULL);
  double zero[2] = {0}, widest = 0, apart = INFINITY;
  record rec = {0};
  place(sim, 0, zero, zero);
  psdm_sim_result result = go_on(sim, 60, &rec);
  for (long k = 0; k < rec.rows; k++) {
    double tree[4], gap[3];
    tree_of(robot, rec.row[k].q, rec.row[k].passive, tree);
    assert_int_equal(psdm_loop_gaps(robot, work, tree, NULL, gap, NULL, NULL), PSDM_OK);
    widest = fmax(widest, max_absolute(gap, 3));
    if (rec.row[k].t < 0.5) { /* distance of the crank ends: 0.25 long, 0.3 apart */
      double x = 0.25 * (cos(rec.row[k].q[0]) - cos(rec.row[k].q[1])) - 0.3,
             y = 0.25 * (sin(rec.row[k].q[0]) - sin(rec.row[k].q[1]));
      apart = fmin(apart, hypot(x, y));
    }
  }
  print_message("60 s: drift %.2g, widest gap %.2g m, crank ends within %.2g m, %.2f s of wall time\n",
                result.energy_drift, widest, apart, result.wall);
  assert_true(result.energy_drift < 1e-9 && widest < 1e-10 && apart < 0.05);
  assert_false(result.native);
  assert_non_null(strstr(result.code_text, "loops"));
  record_free(&rec);
  psdm_sim_free(sim);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* dry friction and stops in a loop, all integrators */
static void test_friction_and_stops(void **unused) {
  (void)unused;
  static const psdm_integrator all[] = {PSDM_INTEGRATOR_ADAMS, PSDM_INTEGRATOR_RK4, PSDM_INTEGRATOR_EULER};
  double end[3][2] = {{0}}, q[2] = {quarter + 0.3, quarter - 0.2}, qd[2] = {2, -1};
  bool have[3] = {false};
  for (int stops = 0; stops < 2; stops++) {
    psdm_robot *robot = load_shipped("five_bar");
    for (int k = 0; k < robot->joints; k++) {
      int i = robot->joint[k].q;
      if (i < 0) continue;
      set_friction(robot, k, 1.5, 2, 0.3, 0.2);
      if (stops) robot->joint[k].limits.lower = q[i] - 0.5, robot->joint[k].limits.upper = q[i] + 0.15;
    }
    for (int k = 0; k < 3; k++) {
      if (!(have[k] = psdm_integrator_available(all[k]))) continue;
      const psdm_sim_options options = {.integrator = all[k],
                                        .friction = PSDM_FRICTION_STRIBECK,
                                        .step = k == 2 ? 1e-4 : 1e-3,
                                        .at_limit = stops ? PSDM_AT_LIMIT_STOP : PSDM_AT_LIMIT_IGNORE};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      place(sim, 0, q, qd);
      psdm_sim_result result = go_on(sim, 3, &rec);
      memcpy(end[k], rec.row[rec.rows - 1].q, sizeof end[k]);
      print_message("%s%s: balance %.2g, ends at %.6f %.6f, %ld sticks, %ld blows\n", psdm_integrator_name(all[k]),
                    stops ? ", stops" : "", result.energy_balance, end[k][0], end[k][1], result.sticks, result.limits);
      assert_true(result.energy_balance < (k == 0 ? 1e-8 : k == 1 ? 1e-6 : 2e-2));
      assert_true(rec.row[rec.rows - 1].qd[0] == 0 && rec.row[rec.rows - 1].qd[1] == 0);
      assert_true(!stops || result.limits > 0);
      for (long r = 0; r < rec.rows && stops; r++)
        for (int i = 0; i < 2; i++)
          assert_true(rec.row[r].q[i] < q[i] + 0.15 + (k == 2 ? 1e-3 : 1e-9) &&
                      rec.row[r].q[i] > q[i] - 0.5 - (k == 2 ? 1e-3 : 1e-9));
      record_free(&rec);
      psdm_sim_free(sim);
    }
    if (have[0]) assert_true(max_difference(end[0], end[1], 2) < 1e-6 && max_difference(end[0], end[2], 2) < 5e-3);
    psdm_robot_free(robot);
  }
}

static void test_refusals(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("five_bar");
  psdm_error error;
  psdm_sim *sim;
  joint_of(robot, 0)->stiffness = 100;
  psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4, .elastic = true};
  assert_int_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "closed loops"));
  options = (psdm_sim_options){.integrator = PSDM_INTEGRATOR_EULER, .friction = PSDM_FRICTION_LUGRE};
  assert_int_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "LuGre"));
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accelerations), cmocka_unit_test(test_free_motion),
                                     cmocka_unit_test(test_friction_and_stops), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
