/* The evaluation path allocates nothing: malloc and its kin are wrapped by the linker and counted. */
#include <stdlib.h>

#include "allocations.h"
#include "support.h"

TEST(test_no_allocation) {
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    size_t bytes = psdm_work_bytes(robot);
    void *memory = malloc(bytes), *second = malloc(psdm_linear_bytes(robot));
    psdm_work *work;
    psdm_linear *linear;
    double in[9 * 8], *out = calloc(8 * 80, sizeof *out),
                      *scratch = calloc(psdm_eval_scratch(robot, NULL), sizeof *out);
    const double point[3] = {0.1, 0.2, 0.3};
    for (int i = 0; i < 72; i++) in[i] = 0.1 * i - 1;
    psdm_wrench wrench = {0, {1, 2, 3}, {4, 5, 6}};
    psdm_eval_options options = {.friction = true, .motor = true, .wrench_count = 1, .wrenches = &wrench};
    bool ready = psdm_robot_ready(robot, NULL) == PSDM_OK;

    long before = allocations;
    assert_true(before > 0); /* the counter works: the loader did allocate */
    assert_int_equal(psdm_work_init(robot, memory, bytes, &work), PSDM_OK);
    assert_int_equal(psdm_linear_init(robot, second, psdm_linear_bytes(robot), &linear), PSDM_OK);
    options.linear = linear, options.scratch = scratch, options.point = point, options.directions = 1;
    for (int f = 0; f < PSDM_EVAL_FUNCTIONS; f++) {
      psdm_status status = psdm_eval(robot, work, (psdm_function)f, &options, in, out);
      if (status == PSDM_E_SINGULAR && psdm_function_is_task((psdm_function)f)) continue;
      bool needs = f != PSDM_F_POSE && f != PSDM_F_JACOBIAN && f != PSDM_F_REGRESSOR && f != PSDM_F_CARTESIAN_JACOBIAN,
           open = (f != PSDM_F_LINEARIZE_INVERSE && f != PSDM_F_LINEARIZE_FORWARD) || !psdm_robot_loops(robot);
      assert_int_equal(status, !ready && needs ? PSDM_E_MISSING : open ? PSDM_OK : PSDM_E_ROBOT);
    }
    if (ready) assert_int_equal(psdm_forward_cholesky(robot, work, in, in + 8, in + 16, out), PSDM_OK);
    assert_int_equal(psdm_jacobian_rate(robot, work, in, in + 8, 0, out), PSDM_OK);
    assert_int_equal(allocations, before);

    free(out);
    free(scratch);
    free(second);
    free(memory);
    psdm_robot_free(robot);
  }
}

/* nor do linear models, equilibria, sampling, analysis and gains */
TEST(test_control_allocates_nothing) {
  enum { n = 6, N = 12 };
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  psdm_linear *linear;
  static double A[N * N], B[N * n], Ad[N * N], Bd[N * n], Q[N * N], R[n * n], K[n * N], X[N * N];
  double q[n] = {0.1, -1, 0.7, 0.2, 0.4, 0}, zero[n] = {0}, u[n], found[n];
  psdm_mode modes[N];
  psdm_system_facts facts;
  psdm_lqr_info lqr;
  psdm_equilibrium_info equilibrium;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  double *search = malloc(psdm_equilibrium_scratch(robot) * sizeof *search),
         *scratch = malloc(psdm_system_scratch(N, n) * sizeof *scratch);
  for (int i = 0; i < N; i++) Q[i * (N + 1)] = 1;
  for (int i = 0; i < n; i++) R[i * (n + 1)] = 0.1;

  long before = allocations;
  assert_int_equal(psdm_state_space(robot, linear, q, zero, zero, A, B), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, q, u), PSDM_OK);
  assert_int_equal(psdm_equilibrium_find(robot, work, linear, u, NULL, search, found, &equilibrium), PSDM_OK);
  assert_int_equal(psdm_system_discretise(N, n, A, B, 0.01, scratch, Ad, Bd), PSDM_OK);
  assert_int_equal(psdm_system_analyze(N, n, A, B, 0, scratch, modes, &facts), PSDM_OK);
  assert_int_equal(psdm_system_lqr(N, n, A, B, 0, Q, R, scratch, K, X, modes, &lqr), PSDM_OK);
  assert_int_equal(lqr.outcome, PSDM_LQR_OK);
  assert_int_equal(psdm_system_lqr(N, n, Ad, Bd, 0.01, Q, R, scratch, K, X, modes, &lqr), PSDM_OK);
  assert_int_equal(lqr.outcome, PSDM_LQR_OK);
  assert_int_equal(allocations, before);

  free(scratch);
  free(search);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

TEST(test_memory_is_checked) {
  psdm_robot *robot = load_shipped("kuka_kr6");
  size_t bytes = psdm_work_bytes(robot);
  char *memory = malloc(bytes + 1);
  psdm_work *work;
  assert_int_equal(psdm_work_init(robot, memory, bytes - 1, &work), PSDM_E_ARGUMENT);
  assert_null(work);
  assert_int_equal(psdm_work_init(robot, NULL, bytes, &work), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_work_init(robot, memory + 1, bytes, &work), PSDM_E_ARGUMENT);
  free(memory);
  psdm_robot_free(robot);
}

TEST_MAIN(test_no_allocation, test_control_allocates_nothing, test_memory_is_checked)
