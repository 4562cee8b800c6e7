/* test_tally.c: figures of a fit from sums over rows, by hand; merged parts are the whole. */
#include <math.h>

#include "identify/identify.h"
#include "support.h"

static void expect_fit(const psdmp_identify_tally *s, long rows, double rmse, double rel, double nrmse, double r2) {
  psdm_joint_fit f = psdmp_identify_tally_fit(s);
  const double is[4] = {f.rmse, f.rel, f.nrmse, f.r2}, should[4] = {rmse, rel, nrmse, r2};
  assert_int_equal(f.rows, rows);
  for (int k = 0; k < 4; k++)
    if (isnan(should[k]) ? !isnan(is[k]) : !(fabs(is[k] - should[k]) <= 1e-15 * fabs(should[k])))
      fail_msg("figure %d: %.17g, %.17g was expected", k, is[k], should[k]);
}

static psdmp_identify_tally tally_of(int count, const double (*row)[2]) {
  psdmp_identify_tally s = {0};
  for (int i = 0; i < count; i++) psdmp_identify_tally_add(&s, row[i][0], row[i][1]);
  return s;
}

TEST(by_hand) {
  /* torques 3 5 -1 1, errors 1 -1 1 1: squares 36 and 4, mean 2, about it 20, range 6 */
  static const double rows[][2] = {{3, 1}, {5, -1}, {-1, 1}, {1, 1}}, same[][2] = {{2, 0.5}, {2, -0.5}},
                      zero[][2] = {{0, 1}, {0, 1}}, above[][2] = {{7, 0}, {9, 2}};
  psdmp_identify_tally none = {0}, all = tally_of(4, rows), one = tally_of(1, rows), level = tally_of(2, same),
                       nothing = tally_of(2, zero), high = tally_of(2, above);
  expect_fit(&none, 0, NAN, NAN, NAN, NAN);
  expect_fit(&all, 4, 1, 1 / 3.0, 1 / 6.0, 1 - 4 / 20.0);
  expect_fit(&one, 1, 1, 1 / 3.0, NAN, NAN);
  expect_fit(&level, 2, 0.5, 0.25, NAN, NAN);
  expect_fit(&nothing, 2, 1, NAN, NAN, NAN);
  expect_fit(&high, 2, sqrt(2), sqrt(4 / 130.0), sqrt(2) / 2, 1 - 4 / 2.0);
  assert_true(all.sum == 8 && all.square == 36 && all.error == 4 && all.low == -1 && all.high == 5 && all.count == 4);
  /* thousandths are torques too */
  static const double small[][2] = {{3e-3, 1e-3}, {5e-3, -1e-3}, {-1e-3, 1e-3}, {1e-3, 1e-3}};
  psdmp_identify_tally little = tally_of(4, small);
  expect_fit(&little, 4, 1e-3, 1 / 3.0, 1 / 6.0, 1 - 4 / 20.0);
  assert_true(fabs(psdmp_identify_tally_rel(1, &little) - 1 / 3.0) < 1e-15);
  const psdmp_identify_tally both[2] = {all, high}, empty[2] = {none, nothing};
  assert_true(fabs(psdmp_identify_tally_rel(2, both) - sqrt(8 / 166.0)) < 1e-16 &&
              fabs(psdmp_identify_tally_rel(1, both) - 1 / 3.0) < 1e-16);
  assert_true(isnan(psdmp_identify_tally_rel(2, empty)) && isnan(psdmp_identify_tally_rel(0, both)));
}

TEST(merged) {
  rng g = rng_start("tally");
  double rows[40][2];
  for (int trial = 0; trial < 50; trial++) {
    int left = trial % 7 ? rng_int(&g, 0, 20) : 0, right = trial % 5 ? rng_int(&g, 0, 20) : 0;
    for (int i = 0; i < left + right; i++)
      rows[i][0] = rng_int(&g, 1, 90) - (trial % 2 ? 100 : 0), rows[i][1] = rng_int(&g, -3, 3);
    psdmp_identify_tally a = tally_of(left, (const double(*)[2])rows),
                         b = tally_of(right, (const double(*)[2])(rows + left)),
                         whole = tally_of(left + right, (const double(*)[2])rows);
    psdmp_identify_tally_merge(&a, &b);
    assert_memory_equal(&a, &whole, sizeof a); /* whole numbers add up without rounding */
  }
}

TEST_MAIN(by_hand, merged)
