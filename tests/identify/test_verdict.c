/* test_verdict.c: the rules that need only errors, and the names. Rules on logs: spoiled.py. */
#include <math.h>
#include <string.h>

#include "psdm/calibrate.h"
#include "support.h"

static void names(void **state) {
  (void)state;
  static const char *const words[] = {"good", "usable", "poor", "useless"};
  psdm_verdict v;
  for (int k = 0; k < PSDM_VERDICTS; k++) {
    assert_string_equal(psdm_verdict_name((psdm_verdict)k), words[k]);
    assert_true(psdm_verdict_find(words[k], &v) && (int)v == k);
  }
  assert_null(psdm_verdict_name(PSDM_VERDICTS));
  assert_null(psdm_verdict_name((psdm_verdict)-1));
  assert_false(psdm_verdict_find("Good", &v));
}

/* a joint whose torque has this mean and spread, predicted up to an error */
static psdm_joint_fit joint(double mean, double spread, double error) {
  return (psdm_joint_fit){.rows = 1000,
                          .rmse = error,
                          .rel = error / sqrt(mean * mean + spread * spread),
                          .nrmse = error,
                          .r2 = 1 - error * error / (spread * spread)};
}

static void bounds(void **state) {
  (void)state;
  const struct {
    double mean, spread, error;
    psdm_verdict verdict;
    const char *rule;
  } cases[] = {
      {0, 10, 0.5, PSDM_VERDICT_GOOD, NULL},
      {0, 10, 1.5, PSDM_VERDICT_USABLE, "error"},
      {0, 10, 3, PSDM_VERDICT_POOR, "error"},
      {0, 10, 6, PSDM_VERDICT_USELESS, "error"},
      {0, 10, 15, PSDM_VERDICT_USELESS, "error"},
      {100, 10, 2, PSDM_VERDICT_GOOD, NULL},
      {100, 10, 5, PSDM_VERDICT_USABLE, "no-model"},
      {100, 10, 8, PSDM_VERDICT_POOR, "no-model"},
      {100, 10, 10, PSDM_VERDICT_USELESS, "no-model"},
      {0, 10, NAN, PSDM_VERDICT_GOOD, NULL}, /* a joint without a figure gives no finding */
      /* r2 rounds to 1: a log without noise was useless once */
      {0, 10, 1e-14, PSDM_VERDICT_GOOD, NULL},
      {100, 10, 1e-12, PSDM_VERDICT_GOOD, NULL},
      {0, 10, 0, PSDM_VERDICT_GOOD, NULL},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    /* the last one is not among them */
    psdm_joint_fit fit[3] = {joint(cases[k].mean, cases[k].spread, cases[k].error), {0}, joint(0, 1e6, 2e6)};
    psdm_finding finding = {0};
    psdm_verdict verdict = psdm_verdict_of_fit(2, fit, &finding);
    if (verdict != cases[k].verdict) fail_msg("case %zu: %s", k, psdm_verdict_name(verdict));
    assert_int_equal(finding.rule != NULL, cases[k].rule != NULL);
    if (finding.rule) assert_string_equal(finding.rule, cases[k].rule);
    assert_int_equal(psdm_verdict_of_fit(2, fit, NULL), verdict);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
