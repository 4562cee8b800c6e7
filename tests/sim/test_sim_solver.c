/* test_sim_solver.c: each call of SUNDIALS is refused once, by the linker's --wrap: the simulator reports that memory
 * is short or what is wrong with its settings, and leaks nothing; and each way in which CVODE may give up has its
 * message. */
#ifdef PSDM_HAVE_SUNDIALS
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#endif
#include <string.h>

#include "psdm/sim.h"
#include "strike.h"

#ifdef PSDM_HAVE_SUNDIALS

static int refusal; /* the answer of calls that return a code */
static int ending;  /* of CVODE; 0: its own */

#define WRAP(result, name, wants, answer, ...)                        \
  result __real_##name wants;                                         \
  result __wrap_##name wants;                                         \
  __attribute__((noinline)) result __wrap_##name wants {              \
    return strike_now(false) ? (answer) : __real_##name(__VA_ARGS__); \
  }

WRAP(int, SUNContext_Create, (void *comm, SUNContext *context), -1, comm, context)
WRAP(N_Vector, N_VMake_Serial, (sunindextype n, realtype *data, SUNContext c), NULL, n, data, c)
WRAP(N_Vector, N_VNew_Serial, (sunindextype n, SUNContext c), NULL, n, c)
WRAP(N_Vector, N_VNewEmpty_Serial, (sunindextype n, SUNContext c), NULL, n, c)
WRAP(N_Vector, N_VClone_Serial, (N_Vector like), NULL, like)
WRAP(void *, CVodeCreate, (int method, SUNContext c), NULL, method, c)
WRAP(SUNNonlinearSolver, SUNNonlinSol_FixedPoint, (N_Vector y, int m, SUNContext c), NULL, y, m, c)
WRAP(SUNMatrix, SUNDenseMatrix, (sunindextype rows, sunindextype columns, SUNContext c), NULL, rows, columns, c)
WRAP(SUNMatrix, SUNMatClone_Dense, (SUNMatrix like), NULL, like)
WRAP(SUNLinearSolver, SUNLinSol_Dense, (N_Vector y, SUNMatrix A, SUNContext c), NULL, y, A, c)
WRAP(int, CVodeSetErrHandlerFn, (void *cvode, CVErrHandlerFn f, void *data), refusal, cvode, f, data)
WRAP(int, CVodeSVtolerances, (void *cvode, realtype relative, N_Vector absolute), refusal, cvode, relative, absolute)
WRAP(int, CVodeSetUserData, (void *cvode, void *data), refusal, cvode, data)
WRAP(int, CVodeSetMaxNumSteps, (void *cvode, long steps), refusal, cvode, steps)
WRAP(int, CVodeSetMaxErrTestFails, (void *cvode, int most), refusal, cvode, most)
WRAP(int, CVodeSetMaxConvFails, (void *cvode, int most), refusal, cvode, most)
WRAP(int, CVodeSetNonlinearSolver, (void *cvode, SUNNonlinearSolver solver), refusal, cvode, solver)
WRAP(int, CVodeSetLinearSolver, (void *cvode, SUNLinearSolver solver, SUNMatrix A), refusal, cvode, solver, A)
WRAP(int, CVodeRootInit, (void *cvode, int count, CVRootFn f), refusal, cvode, count, f)

int __real_CVode(void *cvode, realtype end, N_Vector y, realtype *t, int task);
int __wrap_CVode(void *cvode, realtype end, N_Vector y, realtype *t, int task);
int __wrap_CVode(void *cvode, realtype end, N_Vector y, realtype *t, int task) {
  return ending ? ending : __real_CVode(cvode, end, y, t, task);
}

static const char arm[] = "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, a: 0.4, limits: {lower: "
                          "-0.1, upper: 2}, friction: {coulomb: 1, sigma0: 1e4, sigma1: 20}}\n"
                          "links:\n  - {mass: 2, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n";

typedef struct scene {
  const psdm_robot *robot;
  psdm_sim_options options;
} scene;

static psdm_status try_scene(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const scene *s = what;
  psdm_sim *sim = (psdm_sim *)&sim;
  psdm_sim_result result;
  psdm_status status = psdm_sim_new(s->robot, &s->options, allocator, &sim, error);
  if (status) {
    assert_null(sim);
    return status;
  }
  status = psdm_sim_set(sim, 0, (const double[]){1}, (const double[]){0.1}, error);
  if (!status) status = psdm_sim_run(sim, 0.01, NULL, NULL, &result, error);
  psdm_sim_free(sim);
  return status;
}

static const scene *scenes(const psdm_robot *robot, int k) {
  static scene s;
  s = (scene){robot,
              {.integrator = k % 2 ? PSDM_INTEGRATOR_ADAMS : PSDM_INTEGRATOR_BDF,
               .no_code = true,
               .friction = k < 2 ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_COULOMB,
               .at_limit = k < 2 ? PSDM_AT_LIMIT_STOP : PSDM_AT_LIMIT_IGNORE}};
  return &s;
}

static void every_call(void **state) {
  (void)state;
  const psdm_status memory[] = {PSDM_E_MEMORY, PSDM_OK}, either[] = {PSDM_E_MEMORY, PSDM_E_ARGUMENT, PSDM_OK};
  psdm_robot *robot = parse_robot(arm);
  long places = 0;
  for (int k = 0; k < 4; k++) {
    const scene *s = scenes(robot, k);
    refusal = CV_MEM_FAIL;
    places += strike_everywhere("SUNDIALS", try_scene, s, &(strike_rule){.words = "memory ran out", .as = memory});
    refusal = CV_ILL_INPUT;
    strike_again("SUNDIALS", try_scene, s, &(strike_rule){.words = "a setting was refused", .as = either});
  }
  assert_true(places > 15);
  psdm_robot_free(robot);
}

static void every_ending(void **state) {
  (void)state;
  static const struct {
    int flag;
    const char *words;
  } ends[] = {{CV_TOO_MUCH_ACC, "the tolerance is too small for double precision"},
              {CV_ERR_FAILURE, "the error test fails however small the step"},
              {CV_CONV_FAILURE, "the corrector does not converge"},
              {CV_RTFUNC_FAIL, "an event could not be evaluated"},
              {CV_RHSFUNC_FAIL, "the accelerations are not finite"},
              {CV_TOO_MUCH_WORK, "a stiff motion needs bdf, a singular one has no continuation"}};
  psdm_robot *robot = parse_robot(arm);
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    psdm_sim *sim;
    psdm_sim_result result;
    psdm_error error = {0};
    assert_int_equal(psdm_sim_new(robot, &(psdm_sim_options){.no_code = true}, NULL, &sim, &error), PSDM_OK);
    ending = ends[k].flag;
    psdm_status status = psdm_sim_run(sim, 0.01, NULL, NULL, &result, &error);
    ending = 0;
    assert_int_equal(status, PSDM_OK);
    if (result.end != PSDM_SIM_FAILED || !strstr(result.text, ends[k].words))
      fail_msg("flag %d: '%s'", ends[k].flag, result.text);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

#else

static void every_call(void **state) { (void)state, skip(); }
static void every_ending(void **state) { (void)state, skip(); }

#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(every_ending)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
