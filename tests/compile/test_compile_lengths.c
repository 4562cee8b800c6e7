/* test_compile_lengths.c: rows of robots with one to ten joints, in full blocks and beyond: the same torques as state
 * by state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "psdm/compile.h"
#include "support.h"

enum { MOST = 10, STATES = 2 * 16 + 5 };

static psdm_robot *chain(int n) {
  char text[4000];
  text_writer w = {text, sizeof text};
  text_put(&w, "gravity: [0, 1, -9.81]\nconvention: dh\njoints:\n");
  for (int j = 0; j < n; j++) text_put(&w, "  - {name: j%d, a: 0.%d, alpha: %s}\n", j, j + 1, j % 2 ? "pi/2" : "0");
  text_put(&w, "links:\n");
  for (int j = 0; j < n; j++)
    text_put(&w, "  - {mass: %d, com: [0.1, 0, 0.05], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n", j + 1);
  return parse_robot(text);
}

static void every_length(void **state) {
  (void)state;
  rng g = rng_start("every_length");
  for (int n = 1; n <= MOST; n++) {
    psdm_robot *robot = chain(n);
    psdm_code *code;
    psdm_compiled *compiled;
    psdm_work *work;
    static double q[STATES * MOST], tau[STATES * MOST], want[MOST];
    assert_int_equal(psdm_code_build(robot,
                                     &(psdm_code_options){.functions = 1u << PSDM_CODE_GRAVITY,
                                                          .target = PSDM_CODE_SIMD,
                                                          .method = PSDM_CODE_RECURSIVE,
                                                          .effort = -1},
                                     NULL, &code, NULL),
                     PSDM_OK);
    assert_int_equal(psdm_compile(code, &(psdm_compile_options){.graph = true}, NULL, &compiled, NULL), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double *scratch = malloc(psdm_compiled_rows_scratch(compiled, PSDM_CODE_GRAVITY) * sizeof *scratch);
    assert_non_null(scratch);
    for (int k = 0; k < STATES * n; k++) q[k] = rng_uniform(&g, -3, 3), tau[k] = NAN;
    const psdm_strided in = {.data = q, .state = n, .number = 1}, out = {.data = tau, .state = n, .number = 1};
    assert_int_equal(psdm_compiled_rows(compiled, PSDM_CODE_GRAVITY, STATES, &in, &out, scratch), PSDM_OK);
    for (int s = 0; s < STATES; s++) {
      assert_int_equal(psdm_gravity(robot, work, q + s * n, want), PSDM_OK);
      if (!(max_difference(tau + s * n, want, n) <= 1e-12 * (1 + max_absolute(want, n))))
        fail_msg("%d joints, state %d: off by %g", n, s, max_difference(tau + s * n, want, n));
    }
    free(scratch);
    psdm_work_free(work, NULL);
    psdm_compiled_free(compiled);
    psdm_code_free(code);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_length)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
