/* Folding and sharing by the constructors, factoring of known expressions, memory failures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/expr.h"
#include "psdm/friction.h"
#include "support.h"

typedef struct fixture {
  psdm_graph *g;
  psdm_ref x, y, z, w, a, b, c, d;
} fixture;

static fixture start(void) {
  fixture f;
  assert_int_equal(psdm_graph_new(NULL, &f.g), PSDM_OK);
  psdm_ref *names[] = {&f.x, &f.y, &f.z, &f.w, &f.a, &f.b, &f.c, &f.d};
  for (int k = 0; k < 8; k++) *names[k] = psdm_graph_input(f.g, k);
  return f;
}

static void expect_cost(const psdm_graph *g, const psdm_ref *out, size_t count, long mult, long add) {
  psdm_cost cost;
  assert_int_equal(psdm_graph_cost(g, out, count, &cost), PSDM_OK);
  if (cost.mult != mult || cost.add != add)
    fail_msg("%ld mult %ld add, not %ld and %ld", cost.mult, cost.add, mult, add);
}

/* ---- constructors ---- */

static void test_folding(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref x = f.x, y = f.y, zero = psdm_graph_const(g, 0), one = psdm_graph_const(g, 1), two = psdm_graph_const(g, 2);
  assert_int_equal(psdm_graph_mul(g, x, zero), zero);
  assert_int_equal(psdm_graph_mul(g, psdm_ref_neg(x), zero), zero);
  assert_int_equal(psdm_graph_mul(g, x, one), x);
  assert_int_equal(psdm_graph_mul(g, x, psdm_graph_const(g, -1)), psdm_ref_neg(x));
  assert_int_equal(psdm_graph_add(g, x, zero), x);
  assert_int_equal(psdm_graph_sub(g, zero, x), psdm_ref_neg(x));
  assert_int_equal(psdm_graph_sub(g, x, x), zero);
  assert_int_equal(psdm_graph_add(g, psdm_ref_neg(x), x), zero);
  assert_int_equal(psdm_graph_scale(g, 3, psdm_graph_scale(g, 0.5, x)), psdm_graph_scale(g, 1.5, x));
  assert_int_equal(psdm_graph_scale(g, 0.5, psdm_graph_scale(g, 2, x)), x);
  assert_int_equal(psdm_graph_mul(g, two, x), psdm_graph_add(g, x, x));
  assert_int_equal(psdm_graph_mul(g, psdm_ref_neg(x), y), psdm_ref_neg(psdm_graph_mul(g, x, y)));
  assert_int_equal(psdm_graph_mul(g, psdm_ref_neg(x), psdm_ref_neg(y)), psdm_graph_mul(g, x, y));
  assert_int_equal(psdm_graph_add(g, one, psdm_graph_add(g, two, x)), psdm_graph_add(g, psdm_graph_const(g, 3), x));
  assert_int_equal(psdm_graph_power(g, x, 0), one);
  assert_int_equal(psdm_graph_power(g, x, 1), x);
  assert_int_equal(psdm_graph_power(g, x, 2), psdm_graph_mul(g, x, x));
  assert_int_equal(psdm_graph_power(g, psdm_ref_neg(x), 3), psdm_ref_neg(psdm_graph_power(g, x, 3)));
  assert_int_equal(psdm_graph_recip(g, psdm_graph_recip(g, x)), x);
  assert_int_equal(psdm_graph_recip(g, psdm_ref_neg(x)), psdm_ref_neg(psdm_graph_recip(g, x)));
  psdm_ref doubled = psdm_graph_scale(g, 2, x), fourth = psdm_graph_power(g, x, 4);
  expect_cost(g, &doubled, 1, 0, 1);
  expect_cost(g, &fourth, 1, 2, 0);
  psdm_graph_free(g);
}

static void test_functions(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  double value;
  assert_int_equal(psdm_graph_sin(g, psdm_ref_neg(f.x)), psdm_ref_neg(psdm_graph_sin(g, f.x)));
  assert_int_equal(psdm_graph_cos(g, psdm_ref_neg(f.x)), psdm_graph_cos(g, f.x));
  assert_int_equal(psdm_graph_sign(g, psdm_ref_neg(f.x)), psdm_ref_neg(psdm_graph_sign(g, f.x)));
  assert_true(psdm_graph_is_const(g, psdm_graph_sqrt(g, psdm_graph_const(g, 9)), &value) && value == 3);
  assert_true(psdm_graph_is_const(g, psdm_graph_recip(g, psdm_graph_const(g, -4)), &value) && value == -0.25);
  assert_true(psdm_graph_is_const(g, psdm_graph_cos(g, psdm_graph_const(g, 0)), &value) && value == 1);
  assert_false(psdm_graph_is_const(g, f.x, &value));
  /* the root of -x is not the root of x */
  assert_int_not_equal(psdm_graph_sqrt(g, psdm_ref_neg(f.x)), psdm_graph_sqrt(g, f.x));
  psdm_ref angles[3] = {psdm_graph_sin(g, f.x), psdm_graph_cos(g, f.x), psdm_graph_cos(g, f.y)};
  psdm_cost cost;
  psdm_graph_cost(g, angles, 3, &cost);
  assert_int_equal(cost.sincos, 2);
  assert_int_equal(cost.depth, 1);
  psdm_graph_free(g);
}

/* the functions used for friction: signs, folding, values */
static void test_friction_functions(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  const double input[8] = {0.3, -1.7, 2.2, 0, 0.002, 1e-4, 0.7, 1.9};
  double scratch[256], value;
  assert_int_equal(psdm_graph_tanh(g, psdm_ref_neg(f.x)), psdm_ref_neg(psdm_graph_tanh(g, f.x)));
  assert_int_equal(psdm_graph_clip(g, psdm_ref_neg(f.x)), psdm_ref_neg(psdm_graph_clip(g, f.x)));
  assert_int_equal(psdm_graph_pow(g, psdm_ref_neg(f.x), 0.4), psdm_graph_pow(g, f.x, 0.4));
  assert_int_not_equal(psdm_graph_exp(g, psdm_ref_neg(f.x)), psdm_graph_exp(g, f.x));
  assert_int_equal(psdm_graph_pow(g, f.x, 0), psdm_graph_const(g, 1));
  assert_int_equal(psdm_graph_pow(g, f.x, 1), psdm_graph_abs(g, f.x));
  assert_int_equal(psdm_graph_pow(g, f.x, 2), psdm_graph_mul(g, f.x, f.x));
  assert_true(psdm_graph_is_const(g, psdm_graph_clip(g, psdm_graph_const(g, -3)), &value) && value == -1);
  assert_true(psdm_graph_is_const(g, psdm_graph_pow(g, psdm_graph_const(g, 0), -2), &value) && value == 0);
  psdm_friction friction = {
      .coulomb = 2, .stat = 3, .stribeck = 0.1, .sigma0 = 1e4, .sigma1 = 5, .exponent = 1, .given = true};
  psdm_ref out[] = {psdm_graph_exp(g, psdm_ref_neg(f.z)),
                    psdm_graph_tanh(g, f.y),
                    psdm_graph_clip(g, f.y),
                    psdm_graph_clip(g, f.x),
                    psdm_graph_pow(g, f.y, 0.4),
                    psdm_graph_abs(g, f.y),
                    psdm_graph_pow(g, f.w, -0.5),
                    PSDM_REF_NONE};
  out[7] = psdm_graph_bristles(g, &friction, psdm_ref_neg(f.x), f.y, f.a, f.b);
  const double t[2] = {0, input[4]}, v[2] = {-input[0], input[1]};
  double z[2], tau[2], got[8];
  psdm_lugre_follow(&friction, input[5], 2, t, v, z, tau);
  const double want[8] = {exp(-2.2), tanh(-1.7), -1, 0.3, pow(1.7, 0.4), 1.7, 0, z[1]};
  psdm_graph_evaluate(g, input, out, 8, scratch, got);
  for (int k = 0; k < 8; k++) assert_true(got[k] == want[k]);
  psdm_cost cost;
  psdm_graph_cost(g, out, 8, &cost);
  assert_int_equal(cost.calls, 5);
  /* rewritten graphs keep them */
  const int number = 0;
  psdm_ref by = psdm_graph_const(g, input[0]), sum = psdm_graph_const(g, 0);
  for (int k = 0; k < 8; k++) sum = psdm_graph_add(g, sum, psdm_graph_mul(g, psdm_graph_add(g, f.c, out[k]), f.d));
  psdm_graph_evaluate(g, input, &sum, 1, scratch, &value);
  assert_int_equal(psdm_graph_factor(g, &sum, 1), PSDM_OK);
  assert_int_equal(psdm_graph_balance(g, &sum, 1), PSDM_OK);
  assert_int_equal(psdm_graph_substitute(g, &number, &by, 1, &sum, 1), PSDM_OK);
  assert_true(psdm_graph_size(g) <= 256);
  psdm_graph_evaluate(g, input, &sum, 1, scratch, got);
  assert_true(fabs(got[0] - value) < 1e-13);
  assert_int_equal(psdm_graph_gradient(g, out[7], &number, 1, &by), PSDM_E_ARGUMENT);
  psdm_graph_free(g);
}

static void test_sharing(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  assert_int_equal(psdm_graph_add(g, f.x, f.y), psdm_graph_add(g, f.y, f.x));
  assert_int_equal(psdm_graph_mul(g, f.x, f.y), psdm_graph_mul(g, f.y, f.x));
  assert_int_equal(psdm_graph_sub(g, f.x, f.y), psdm_ref_neg(psdm_graph_sub(g, f.y, f.x)));
  assert_int_equal(psdm_graph_input(g, 3), f.w);
  uint32_t size = psdm_graph_size(g);
  psdm_graph_add(g, f.y, f.x);
  assert_int_equal(psdm_graph_size(g), size);
  psdm_graph_clear(g);
  assert_int_equal(psdm_graph_size(g), 0);
  assert_int_equal(psdm_ref_node(psdm_graph_input(g, 0)), 0);
  psdm_graph_free(g);
}

static void test_missing_references_give_missing_results(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_ref none = PSDM_REF_NONE;
  assert_int_equal(psdm_graph_add(f.g, f.x, none), none);
  assert_int_equal(psdm_graph_mul(f.g, none, f.x), none);
  assert_int_equal(psdm_graph_sin(f.g, none), none);
  assert_int_equal(psdm_ref_neg(none), none);
  psdm_cost cost;
  assert_int_equal(psdm_graph_cost(f.g, &none, 1, &cost), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_graph_factor(f.g, &none, 1), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_graph_balance(f.g, &none, 1), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_graph_factor(f.g, NULL, 0), PSDM_OK);
  assert_int_equal(psdm_graph_balance(f.g, NULL, 0), PSDM_OK);
  psdm_graph_free(f.g);
}

/* ---- factoring: exact counts ---- */

static void expect_factored(psdm_graph *g, psdm_ref *out, size_t count, long mult, long add) {
  const double input[8] = {0.3, -1.7, 2.2, 0.9, 1.1, -0.4, 0.7, 1.9};
  double scratch[256], before[4], after[4];
  psdm_graph_evaluate(g, input, out, count, scratch, before);
  assert_int_equal(psdm_graph_factor(g, out, count), PSDM_OK);
  assert_true(psdm_graph_size(g) <= 256);
  psdm_graph_evaluate(g, input, out, count, scratch, after);
  expect_cost(g, out, count, mult, add);
  for (size_t k = 0; k < count; k++) assert_true(fabs(before[k] - after[k]) < 1e-14);
}

static void test_common_factors(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
#define M(p, q) psdm_graph_mul(g, p, q)
#define A(p, q) psdm_graph_add(g, p, q)
#define S(p, q) psdm_graph_sub(g, p, q)
  psdm_ref out[4];
  out[0] = A(M(f.a, f.b), M(f.a, f.c));
  expect_factored(g, out, 1, 1, 1);
  out[0] = S(M(f.a, f.b), M(f.b, f.b));
  expect_factored(g, out, 1, 1, 1);
  out[0] = S(A(M(f.x, f.y), f.z), M(f.w, f.y));
  expect_factored(g, out, 1, 1, 2);
  out[0] = A(A(M(f.a, f.c), M(f.a, f.d)), A(M(f.b, f.c), M(f.b, f.d)));
  expect_factored(g, out, 1, 1, 2);
  out[0] = A(M(M(f.a, f.b), f.c), M(M(f.a, f.d), f.b));
  expect_factored(g, out, 1, 2, 1);
  /* a product that is an output itself stays */
  out[0] = A(M(f.a, f.b), M(f.a, f.c));
  out[1] = M(f.a, f.b);
  expect_factored(g, out, 2, 2, 1);
  psdm_graph_free(g);
}

static void test_constant_factors(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref out[2];
  out[0] = S(psdm_graph_scale(g, 0.37, f.a), psdm_graph_scale(g, 0.37, f.b));
  expect_factored(g, out, 1, 1, 1);
  out[0] = A(psdm_graph_scale(g, 0.37, f.a), psdm_graph_scale(g, 1.5, f.a));
  expect_factored(g, out, 1, 1, 0);
  out[0] = A(psdm_graph_scale(g, 0.37, f.a), f.a);
  expect_factored(g, out, 1, 1, 0);
  out[0] = A(psdm_graph_scale(g, 2, f.a), psdm_graph_scale(g, 2, f.b));
  expect_factored(g, out, 1, 0, 2);
  out[0] = A(M(f.x, psdm_graph_scale(g, 2, f.a)), M(f.y, psdm_graph_scale(g, 2, f.b)));
  expect_factored(g, out, 1, 2, 2);
  psdm_graph_free(g);
}

static void test_shared_pairs(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref out[3];
  /* x - y + z and w + y - x */
  out[0] = A(f.x, S(f.z, f.y));
  out[1] = A(A(f.y, f.w), psdm_ref_neg(f.x));
  expect_factored(g, out, 2, 0, 3);
  out[0] = M(f.a, M(f.b, f.c));
  out[1] = M(f.a, M(f.b, f.d));
  expect_factored(g, out, 2, 3, 0);
  /* the pair exists already as a sum */
  out[0] = A(f.x, f.y);
  out[1] = A(A(f.x, f.z), f.y);
  out[2] = A(A(f.y, f.w), f.x);
  expect_factored(g, out, 3, 0, 3);
  /* terms that cancel */
  out[0] = A(A(f.x, f.y), S(f.z, f.x));
  expect_factored(g, out, 1, 0, 1);
  psdm_graph_free(g);
}

static void test_squares(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref out[2];
  /* trading a product for an addition does not save anything alone */
  out[0] = S(M(f.x, f.x), M(f.y, f.y));
  expect_factored(g, out, 1, 2, 1);
  out[1] = A(f.x, f.y);
  expect_factored(g, out, 2, 1, 2);
  out[0] = A(S(M(f.x, f.x), M(f.y, f.y)), f.z);
  out[1] = A(S(f.y, f.x), f.w);
  expect_factored(g, out, 2, 1, 4);
  psdm_graph_free(g);
}

/* a c is an output itself, but b + c exists: a b + a c = a (b + c) */
static void test_beside(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref out[3] = {A(M(f.a, f.b), M(f.a, f.c)), M(f.a, f.c), A(f.b, f.c)};
  expect_factored(g, out, 3, 2, 1);
  out[0] = A(S(M(f.x, f.y), M(f.x, f.z)), f.w);
  out[1] = M(f.x, f.z);
  out[2] = A(S(f.z, f.y), f.d);
  expect_factored(g, out, 3, 2, 3);
  psdm_graph_free(g);
}

/* the example of docs/expr.md */
static void test_document(void **unused) {
  (void)unused;
  psdm_graph *g;
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref a = psdm_graph_input(g, 0), b = psdm_graph_input(g, 1), c = psdm_graph_input(g, 2);
  psdm_ref y = psdm_graph_sub(g, psdm_graph_mul(g, a, b), psdm_graph_mul(g, c, b));
  psdm_cost cost;
  psdm_graph_cost(g, &y, 1, &cost);
  assert_true(cost.mult == 2 && cost.add == 1 && cost.depth == 2);
  assert_int_equal(psdm_graph_factor(g, &y, 1), PSDM_OK);
  psdm_graph_cost(g, &y, 1, &cost);
  assert_true(cost.mult == 1 && cost.add == 1 && cost.depth == 2);
  double input[3] = {5, 2, 3}, out, scratch[16];
  assert_int_equal(psdm_graph_size(g), 8);
  psdm_graph_evaluate(g, input, &y, 1, scratch, &out);
  assert_true(out == 4);
  psdm_graph_free(g);
}

/* ---- balancing ---- */

static void test_balance(void **unused) {
  (void)unused;
  fixture f = start();
  psdm_graph *g = f.g;
  psdm_ref term[8] = {f.x, f.y, f.z, f.w, f.a, f.b, f.c, f.d}, sum = f.x, product = f.x;
  psdm_cost cost;
  for (int k = 1; k < 8; k++) sum = S(sum, term[k]), product = M(product, term[k]);
  psdm_ref out[2] = {sum, product};
  assert_int_equal(psdm_graph_balance(g, out, 2), PSDM_OK);
  psdm_graph_cost(g, out, 2, &cost);
  assert_int_equal(cost.depth, 3);
  assert_int_equal(cost.add, 7);
  assert_int_equal(cost.mult, 7);
  /* the late operand goes in last: ((x + y) + z) + f(w) has depth 3 where (f(w) + x) + ... has 4 */
  psdm_ref late = A(A(A(psdm_graph_sin(g, psdm_graph_sin(g, f.w)), f.x), f.y), f.z);
  assert_int_equal(psdm_graph_balance(g, &late, 1), PSDM_OK);
  psdm_graph_cost(g, &late, 1, &cost);
  assert_int_equal(cost.depth, 3);
  /* a shared part stays in one piece */
  psdm_ref part = A(f.x, f.y), both[2] = {part, A(A(part, f.z), f.w)};
  assert_int_equal(psdm_graph_balance(g, both, 2), PSDM_OK);
  expect_cost(g, both, 2, 0, 3);
  psdm_graph_free(g);
}

/* ---- memory ---- */

/* large enough that every array grows */
static psdm_status work(const psdm_allocator *allocator) {
  enum { INPUTS = 6, OUTPUTS = 5, TERMS = 40 };
  psdm_graph *g;
  psdm_ref out[OUTPUTS], v[2 * INPUTS];
  static uint32_t order[20000];
  size_t length;
  long peak;
  psdm_status status = psdm_graph_new(allocator, &g);
  if (status) return status;
  rng r = {42};
  for (int k = 0; k < INPUTS; k++)
    v[2 * k] = psdm_graph_sin(g, psdm_graph_input(g, k)), v[2 * k + 1] = psdm_graph_cos(g, psdm_graph_input(g, k));
  for (int k = 0; k < OUTPUTS; k++) {
    out[k] = psdm_graph_const(g, 0);
    for (int t = 0; t < TERMS; t++) {
      psdm_ref term = psdm_graph_const(g, rng_int(&r, 0, 4) ? 1 : 0.3);
      for (int i = rng_int(&r, 1, 5); i > 0; i--) term = psdm_graph_mul(g, term, v[rng_int(&r, 0, 2 * INPUTS - 1)]);
      out[k] = rng_int(&r, 0, 1) ? psdm_graph_sub(g, out[k], term) : psdm_graph_add(g, out[k], term);
    }
  }
  status = psdm_graph_status(g);
  if (!status) status = psdm_graph_factor(g, out, OUTPUTS);
  if (!status) status = psdm_graph_balance(g, out, OUTPUTS);
  if (!status) status = psdm_graph_schedule(g, out, OUTPUTS, PSDM_ORDER_LATENCY, 0, order, &length, &peak);
  psdm_graph_free(g);
  return status;
}

static void test_memory(void **unused) {
  (void)unused;
  counting c;
  counting_init(&c, 0);
  assert_int_equal(work(&c.allocator), PSDM_OK);
  assert_int_equal(c.live, 0);
  long calls = c.calls;
  for (long n = 1; n <= calls; n++) {
    counting_init(&c, n);
    assert_int_equal(work(&c.allocator), PSDM_E_MEMORY);
    assert_int_equal(c.live, 0);
  }
  printf("memory: %ld allocations, each failed once\n", calls);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_folding),
                                     cmocka_unit_test(test_functions),
                                     cmocka_unit_test(test_friction_functions),
                                     cmocka_unit_test(test_sharing),
                                     cmocka_unit_test(test_missing_references_give_missing_results),
                                     cmocka_unit_test(test_common_factors),
                                     cmocka_unit_test(test_constant_factors),
                                     cmocka_unit_test(test_shared_pairs),
                                     cmocka_unit_test(test_squares),
                                     cmocka_unit_test(test_beside),
                                     cmocka_unit_test(test_document),
                                     cmocka_unit_test(test_balance),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
