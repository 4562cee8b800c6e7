/* Gradients and substitution: against derivatives by hand, and against central differences of order six on random
 * expressions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/expr.h"
#include "support.h"

enum { INPUTS = 5, SCRATCH = 20000 };

static double scratch[SCRATCH];

static double value(const psdm_graph *g, psdm_ref r, const double *x) {
  double out;
  psdm_graph_evaluate(g, x, &r, 1, scratch, &out);
  return out;
}

TEST(by_hand) {
  psdm_graph *g;
  const int inputs[2] = {0, 1};
  const double x[2] = {0.7, -1.3};
  psdm_ref d[2];
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref a = psdm_graph_input(g, 0), b = psdm_graph_input(g, 1);
  /* -sin(a) b + 1 / (a b) + sqrt(a) cos(a - b) + sign(b) a */
  psdm_ref f = psdm_ref_neg(psdm_graph_mul(g, psdm_graph_sin(g, a), b));
  f = psdm_graph_add(g, f, psdm_graph_recip(g, psdm_graph_mul(g, a, b)));
  f = psdm_graph_add(g, f, psdm_graph_mul(g, psdm_graph_sqrt(g, a), psdm_graph_cos(g, psdm_graph_sub(g, a, b))));
  f = psdm_graph_add(g, f, psdm_graph_mul(g, psdm_graph_sign(g, b), a));
  assert_int_equal(psdm_graph_gradient(g, f, inputs, 2, d), PSDM_OK);
  double A = x[0], B = x[1];
  double da = -cos(A) * B - 1 / (A * A * B) + cos(A - B) / (2 * sqrt(A)) - sqrt(A) * sin(A - B) - 1;
  double db = -sin(A) - 1 / (A * B * B) + sqrt(A) * sin(A - B);
  assert_true(fabs(value(g, d[0], x) - da) < 1e-14);
  assert_true(fabs(value(g, d[1], x) - db) < 1e-14);
  /* of the negated output, and of an input that does not appear */
  const int other[2] = {1, 7};
  assert_int_equal(psdm_graph_gradient(g, psdm_ref_neg(f), other, 2, d), PSDM_OK);
  assert_true(fabs(value(g, d[0], x) + db) < 1e-14);
  assert_true(psdm_graph_is_const(g, d[1], NULL));
  psdm_graph_free(g);
}

/* along a direction: the gradient times it, of every operation */
TEST(along_a_direction) {
  psdm_graph *g;
  const int inputs[2] = {0, 1};
  const double x[4] = {0.7, -1.3, 0.4, -0.9}; /* and the direction */
  psdm_ref gradient[2], along[3];
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref a = psdm_graph_input(g, 0), b = psdm_graph_input(g, 1);
  psdm_ref f = psdm_ref_neg(psdm_graph_mul(g, psdm_graph_sin(g, a), psdm_graph_exp(g, b)));
  f = psdm_graph_add(g, f, psdm_graph_recip(g, psdm_graph_mul(g, psdm_graph_cos(g, a), psdm_graph_tanh(g, b))));
  f = psdm_graph_sub(g, f, psdm_graph_mul(g, psdm_graph_sqrt(g, a), psdm_graph_pow(g, psdm_graph_sub(g, a, b), 1.7)));
  f = psdm_graph_add(g, f, psdm_graph_mul(g, psdm_graph_clip(g, psdm_graph_scale(g, 0.3, b)), psdm_graph_sign(g, b)));
  const psdm_ref by[2] = {psdm_graph_input(g, 2), psdm_graph_input(g, 3)};
  const psdm_ref outputs[3] = {f, psdm_ref_neg(f), psdm_graph_const(g, 3)};
  assert_int_equal(psdm_graph_along(g, inputs, by, 2, outputs, 3, along), PSDM_OK);
  assert_int_equal(psdm_graph_gradient(g, f, inputs, 2, gradient), PSDM_OK);
  double right = value(g, gradient[0], x) * x[2] + value(g, gradient[1], x) * x[3];
  assert_true(fabs(value(g, along[0], x) - right) < 1e-14 * fabs(right));
  assert_true(along[1] == psdm_ref_neg(along[0]) && value(g, along[2], x) == 0);
  /* in place, and twice: the Hessian is symmetric */
  psdm_ref first[1] = {f}, second[1] = {f};
  const psdm_ref one[2] = {psdm_graph_const(g, 1), psdm_graph_const(g, 0)},
                 two[2] = {psdm_graph_const(g, 0), psdm_graph_const(g, 1)};
  assert_int_equal(psdm_graph_along(g, inputs, one, 2, first, 1, first), PSDM_OK);
  assert_int_equal(psdm_graph_along(g, inputs, two, 2, first, 1, first), PSDM_OK);
  assert_int_equal(psdm_graph_along(g, inputs, two, 2, second, 1, second), PSDM_OK);
  assert_int_equal(psdm_graph_along(g, inputs, one, 2, second, 1, second), PSDM_OK);
  assert_true(fabs(value(g, first[0], x) - value(g, second[0], x)) < 1e-13);
  assert_true(fabs(value(g, first[0], x)) > 1e-3);
  psdm_graph_free(g);
}

/* the functions used for friction */
TEST(friction_functions) {
  psdm_graph *g;
  const int inputs[1] = {0};
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref x = psdm_graph_input(g, 0), y = psdm_graph_scale(g, -1.5, x);
  psdm_ref f[] = {psdm_graph_exp(g, y),       psdm_graph_tanh(g, y),
                  psdm_graph_clip(g, y),      psdm_graph_pow(g, y, 0.4),
                  psdm_graph_abs(g, y),       psdm_graph_mul(g, psdm_graph_pow(g, y, 0.4), psdm_graph_sign(g, y)),
                  psdm_graph_pow(g, y, -1.25)};
  for (int k = 0; k < 7; k++) {
    psdm_ref d;
    assert_int_equal(psdm_graph_gradient(g, f[k], inputs, 1, &d), PSDM_OK);
    for (int n = 0; n < 40; n++) {
      double at = -2 + 0.1 * n + 0.013, h = 1e-5, low = at - h, high = at + h;
      double exact = value(g, d, &at), difference = (value(g, f[k], &high) - value(g, f[k], &low)) / (2 * h);
      if (!(fabs(exact - difference) <= 1e-6 * (1 + pow(fabs(at), -3.25))))
        fail_msg("function %d at %g: %.12g, differences %.12g", k, at, exact, difference);
    }
  }
  /* a missing or infinite slope counts as zero */
  const double zero = 0, edge[2] = {2. / 3, -2. / 3};
  for (int k = 3; k < 7; k++) {
    psdm_ref d;
    assert_int_equal(psdm_graph_gradient(g, f[k], inputs, 1, &d), PSDM_OK);
    assert_true(value(g, d, &zero) == 0);
  }
  psdm_ref d;
  assert_int_equal(psdm_graph_gradient(g, f[2], inputs, 1, &d), PSDM_OK);
  for (int k = 0; k < 2; k++) assert_true(value(g, f[2], &edge[k]) == (k ? 1 : -1) && value(g, d, &edge[k]) == 0);
  psdm_graph_free(g);
}

/* a random expression: sums and products of sines, cosines and earlier values, each of moderate size */
static psdm_ref random_expression(psdm_graph *g, rng *r) {
  psdm_ref pool[60];
  int count = 0;
  while (count < INPUTS) pool[count] = psdm_graph_input(g, count), count++;
  while (count < 60) {
    psdm_ref a = pool[rng_int(r, 0, count - 1)], b = pool[rng_int(r, 0, count - 1)];
    if (rng_int(r, 0, 1)) a = psdm_ref_neg(a);
    int kind = rng_int(r, 0, 4);
    pool[count++] = kind == 0   ? psdm_graph_sin(g, a)
                    : kind == 1 ? psdm_graph_cos(g, a)
                    : kind == 2 ? psdm_graph_mul(g, psdm_graph_sin(g, a), b)
                    : kind == 3 ? psdm_graph_sin(g, psdm_graph_add(g, a, b))
                                : psdm_graph_scale(g, rng_uniform(r, -1, 1), a);
  }
  psdm_ref sum = pool[59];
  for (int k = 50; k < 59; k++) sum = psdm_graph_add(g, sum, pool[k]);
  return sum;
}

TEST(random_gradients) {
  rng r = rng_start("test_expr_gradient");
  for (int trial = 0; trial < 100; trial++) {
    psdm_graph *g;
    const int inputs[INPUTS] = {0, 1, 2, 3, 4};
    psdm_ref d[INPUTS];
    double x[INPUTS], h = 1e-3;
    assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
    psdm_ref f = random_expression(g, &r);
    assert_int_equal(psdm_graph_gradient(g, f, inputs, INPUTS, d), PSDM_OK);
    assert_true(psdm_graph_size(g) <= SCRATCH);
    for (int i = 0; i < INPUTS; i++) x[i] = rng_uniform(&r, -1, 1);
    for (int i = 0; i < INPUTS; i++) {
      /* differences of order six: h^6 times a seventh derivative, and rounding over h */
      static const double weight[3] = {3. / 4, -3. / 20, 1. / 60};
      double sum = 0, at = x[i];
      for (int k = 0; k < 3; k++) {
        x[i] = at + (k + 1) * h;
        sum += weight[k] * value(g, f, x);
        x[i] = at - (k + 1) * h;
        sum -= weight[k] * value(g, f, x);
      }
      x[i] = at;
      double exact = value(g, d[i], x);
      if (!(fabs(exact - sum / h) <= 1e-8 * (1 + fabs(exact))))
        fail_msg("trial %d input %d: %.17g, differences %.17g", trial, i, exact, sum / h);
    }
    psdm_graph_free(g);
  }
}

TEST(substitution) {
  rng r = rng_start("test_expr_gradient");
  for (int trial = 0; trial < 50; trial++) {
    psdm_graph *g;
    const int inputs[2] = {1, 3};
    assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
    psdm_ref f = random_expression(g, &r), out[2] = {f, psdm_ref_neg(f)};
    psdm_ref by[2] = {psdm_graph_sin(g, psdm_graph_input(g, 0)),
                      psdm_ref_neg(psdm_graph_mul(g, psdm_graph_input(g, 2), psdm_graph_input(g, 4)))};
    double x[INPUTS], y[INPUTS];
    for (int i = 0; i < INPUTS; i++) x[i] = y[i] = rng_uniform(&r, -1, 1);
    y[1] = sin(x[0]);
    y[3] = -(x[2] * x[4]);
    assert_int_equal(psdm_graph_substitute(g, inputs, by, 2, out, 2), PSDM_OK);
    double expected = value(g, f, y), got = value(g, out[0], x);
    assert_true(fabs(got - expected) <= 1e-12 * (1 + fabs(expected)));
    assert_true(value(g, out[1], x) == -got);
    psdm_graph_free(g);
  }
}

TEST_MAIN(by_hand, along_a_direction, friction_functions, random_gradients, substitution)
