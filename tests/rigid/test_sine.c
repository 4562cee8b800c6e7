/* The recursions' own sines and cosines against libm's: 2e-16 absolute for usual angles, libm itself far out and for
 * NAN and infinity. */
#include <math.h>
#include <stdio.h>

#include "rigid/rigid.h"
#include "support.h"

static void expect_close(const double *x, int count) {
  double s[64], c[64];
  psdmp_rigid_sines(count, x, s, c);
  for (int i = 0; i < count; i++)
    if (!(fabs(s[i] - sin(x[i])) <= 2e-16 + 1e-16) || !(fabs(c[i] - cos(x[i])) <= 2e-16 + 1e-16))
      fail_msg("at %.17g: sin %.17g, expected %.17g; cos %.17g, expected %.17g", x[i], s[i], sin(x[i]), c[i],
               cos(x[i]));
}

static void test_against_libm(void **unused) {
  (void)unused;
  rng g = rng_start("sine");
  double x[64];
  for (int k = 0; k < 20000; k++) {
    double range = pow(10, rng_uniform(&g, -9, 5.7));
    for (int i = 0; i < 64; i++) x[i] = rng_uniform(&g, -range, range);
    expect_close(x, 1 + k % 64);
  }
  /* on and around the corners of the reduction */
  for (int k = -40; k <= 40; k++) {
    for (int i = 0; i < 64; i++) x[i] = k * 0.78539816339744831 + (i - 32) * 0x1p-52;
    expect_close(x, 64);
  }
}

static void test_far_and_odd(void **unused) {
  (void)unused;
  const double x[] = {0x1p19, -0x1p19, 1e10, -1e300, 0.0, -0.0, INFINITY, -INFINITY, NAN};
  double s[9], c[9];
  psdmp_rigid_sines(9, x, s, c);
  for (int i = 0; i < 4; i++) assert_true(s[i] == sin(x[i]) && c[i] == cos(x[i]));
  for (int i = 4; i < 6; i++) assert_true(s[i] == 0 && c[i] == 1);
  for (int i = 6; i < 9; i++) assert_true(isnan(s[i]) && isnan(c[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_libm), cmocka_unit_test(test_far_and_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
