/* test_compile_loops.c: closed loops in the running process: closing, functions at closed positions, what is refused.
 * */
#include <math.h>

#include "psdm/compile.h"
#include "psdm/rigid.h"
#include "support.h"

static bool has_compiler(const psdm_code *code, psdm_compiled **compiled) {
  psdm_error error;
  psdm_status status = psdm_compile(code, NULL, NULL, compiled, &error);
  if (!status) return true;
  assert_int_equal(status, PSDM_E_COMPILER);
  print_message("skipped: %s\n", error.text);
  return false;
}

TEST(functions_of_loops) {
  static const char *const names[] = {"five_bar", "planar_3rrr"};
  rng g = rng_start("functions_of_loops");
  for (int r = 0; r < 2; r++)
    for (int single = 0; single < 2; single++) {
      psdm_robot *robot = load_shipped(names[r]);
      psdm_code *code;
      psdm_compiled *c;
      psdm_work *work;
      psdm_error error;
      const psdm_code_options o = {
          .functions = 1u << PSDM_F_INVERSE | 1u << PSDM_F_MASS, .effort = -1, .real_float = single};
      if (psdm_code_build(robot, &o, NULL, &code, &error)) fail_msg("%s", error.text);
      assert_int_equal(psdm_compile(code, &(psdm_compile_options){.graph = true}, NULL, &c, &error), PSDM_E_ARGUMENT);
      assert_null(c);
      if (!has_compiler(code, &c)) {
        psdm_code_free(code), psdm_robot_free(robot);
        return;
      }
      int n = psdm_robot_n(robot), passives;
      assert_int_equal(psdm_compiled_arguments(c, PSDM_F_INVERSE), 4);
      assert_string_equal(psdm_compiled_argument(c, PSDM_F_INVERSE, 3, &passives), "passive");
      assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
      assert_non_null(psdm_compiled_symbol(c, PSDM_F_MASS, false, NULL));
      double home[8], x[24], p[8], tau[8], want[8], narrow = single ? 2e-5 : 1e-12;
      float xf[24], pf[8], tauf[8];
      psdm_robot_home(robot, home);
      for (int k = 0; k < 20; k++) {
        bool walk = k % 2 == 0; /* else near the last position */
        for (int i = 0; i < 3 * n; i++)
          x[i] = (walk || i >= n ? (i < n ? home[i] : 0) + rng_uniform(&g, -0.15, 0.15)
                                 : x[i] + rng_uniform(&g, -0.03, 0.03));
        for (int i = 0; i < 3 * n; i++) xf[i] = (float)x[i], x[i] = single ? (double)xf[i] : x[i];
        const void *in[] = {x, x + n, x + 2 * n, p}, *inf[] = {xf, xf + n, xf + 2 * n, pf};
        void *out[] = {tau}, *outf[] = {tauf};
        const void *q = single ? (const void *)xf : x;
        void *at = single ? (void *)pf : p;
        assert_int_equal(psdm_compiled_close(c, walk, q, at), PSDM_OK);
        assert_int_equal(psdm_compiled_call(c, PSDM_F_INVERSE, single ? inf : in, single ? outf : out, NULL), PSDM_OK);
        for (int i = 0; i < n && single; i++) tau[i] = (double)tauf[i];
        assert_int_equal(psdm_inverse(robot, work, x, x + n, x + 2 * n, want), PSDM_OK);
        if (!(max_difference(tau, want, n) <= narrow * (1 + max_absolute(want, n))))
          fail_msg("%s: off by %g", names[r], max_difference(tau, want, n));
      }
      /* what cannot be closed leaves p as it was */
      double before = single ? (double)pf[0] : p[0];
      x[0] = NAN, xf[0] = NAN;
      for (int walk = 0; walk < 2; walk++)
        assert_int_equal(psdm_compiled_close(c, walk, single ? (const void *)xf : x, single ? (void *)pf : p),
                         PSDM_E_LOOP);
      assert_true(before == (single ? (double)pf[0] : p[0]));
      psdm_work_free(work, NULL);
      psdm_compiled_free(c);
      psdm_code_free(code);
      psdm_robot_free(robot);
    }
}

TEST(trees_have_nothing_to_close) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_code *code;
  psdm_compiled *c;
  double q[2] = {0}, p[2] = {0};
  const psdm_code_options o = {.functions = 1u << PSDM_F_GRAVITY, .effort = -1};
  assert_int_equal(psdm_code_build(robot, &o, NULL, &code, NULL), PSDM_OK);
  assert_int_equal(psdm_compile(code, &(psdm_compile_options){.graph = true}, NULL, &c, NULL), PSDM_OK);
  assert_int_equal(psdm_compiled_close(c, true, q, p), PSDM_E_ARGUMENT);
  psdm_compiled_free(c);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

TEST_MAIN(functions_of_loops, trees_have_nothing_to_close)
