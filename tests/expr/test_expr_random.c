/* Random expressions, built through the constructors and evaluated by a plain list that never touches a graph;
 * factored, balanced and scheduled.
 *
 * How far the two may differ by rounding. Let p be a polynomial in atoms (inputs, constants, values of functions), m(p)
 * the same polynomial with every sign made plus and every atom its magnitude, u = 2^-53, and N the operations of the
 * whole expression. Whatever the association and whatever is factored out, each monomial passes through at most N
 * roundings, so
 *   |computed - p| <= gamma m(p) + d(p),   gamma = N u / (1 - N u),
 * where d carries the errors of the atoms: d(p + q) = d(p) + d(q), d(p q) = d(p) m(q) + m(p) d(q) + d(p) d(q). Each
 * x x - y y that becomes (x - y) (x + y) at most doubles m (2 |x y| <= x x + y y): gamma is taken four times, which
 * covers two of them in one another. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/expr.h"
#include "support.h"

enum { INPUTS = 6, VALUES = 260, OUTPUTS = 6, DAGS = 600 };

typedef struct value {
  long double v, m, d; /* exact, magnitude of the monomials, error of the atoms */
  psdm_ref ref;
  bool inverse; /* a reciprocal is in it: 1 / (1 / x) folds back to x, whose m is not that of an atom */
} value;

typedef struct expression {
  psdm_graph *g;
  double input[INPUTS];
  value value[VALUES];
  int count, operations;
  psdm_ref out[OUTPUTS];
  int from[OUTPUTS], outputs; /* the value of each output */
} expression;

static long double gamma_of(const expression *e) {
  long double nu = (e->operations + 8) * 0x1p-53L;
  return 4 * nu / (1 - nu);
}

static long double error_of(const expression *e, const value *a) { return gamma_of(e) * a->m + a->d; }

/* ---- one operation on both sides ---- */

static value plus(expression *e, const value *a, const value *b, bool minus) {
  e->operations++;
  return (value){minus ? a->v - b->v : a->v + b->v, a->m + b->m, a->d + b->d,
                 minus ? psdm_graph_sub(e->g, a->ref, b->ref) : psdm_graph_add(e->g, a->ref, b->ref),
                 a->inverse || b->inverse};
}

static value times(expression *e, const value *a, const value *b) {
  e->operations++;
  return (value){a->v * b->v, a->m * b->m, a->d * b->m + a->m * b->d + a->d * b->d,
                 psdm_graph_mul(e->g, a->ref, b->ref), a->inverse || b->inverse};
}

/* an atom again: its value, and the effect of its argument's error; the library function's own error is below two
 * units */
static value atom(long double v, long double error, psdm_ref ref, bool inverse) {
  long double d = error + 2 * 0x1p-53L * fabsl(v) + DBL_MIN;
  return (value){v, fabsl(v) + d, d, ref, inverse};
}

static value function_of(expression *e, const value *a, int which) {
  long double error = error_of(e, a), low = fabsl(a->v) - error;
  e->operations++;
  if (which == 0) return atom(sinl(a->v), error, psdm_graph_sin(e->g, a->ref), a->inverse);
  if (which == 1 || low < 0.05L) return atom(cosl(a->v), error, psdm_graph_cos(e->g, a->ref), a->inverse);
  if (which == 2 && !a->inverse)
    return atom(1 / a->v, error / (low * fabsl(a->v)), psdm_graph_recip(e->g, a->ref), true);
  if (which == 3 && a->v > 0)
    return atom(sqrtl(a->v), error / (2 * sqrtl(low)), psdm_graph_sqrt(e->g, a->ref), a->inverse);
  return atom(a->v > 0 ? 1 : -1, 0, psdm_graph_sign(e->g, a->ref), a->inverse);
}

static void keep(expression *e, value fresh) {
  /* values stay in a range where the bounds are meaningful */
  if (e->count < VALUES && fresh.m < 1e4L) e->value[e->count++] = fresh;
}

/* ---- random expressions ---- */

static value constant(expression *e, rng *r) {
  static const double some[] = {0, 1, -1, 2, -2, 0.5, 3, 0.37, -1.25};
  double c = some[rng_int(r, 0, 8)];
  return (value){c, fabs(c), 0, psdm_graph_const(e->g, c), false};
}

static const value *any(const expression *e, rng *r) { return &e->value[rng_int(r, 0, e->count - 1)]; }

/* c a b + c' a b' - ...: material for factoring */
static value sum_of_products(expression *e, rng *r) {
  value sum = constant(e, r);
  for (int terms = rng_int(r, 2, 7); terms > 0; terms--) {
    value term = constant(e, r);
    for (int factors = rng_int(r, 1, 4); factors > 0; factors--) {
      const value *factor = &e->value[rng_int(r, 0, e->count < 9 ? e->count - 1 : 8)];
      term = times(e, &term, factor);
    }
    sum = plus(e, &sum, &term, rng_int(r, 0, 1));
  }
  return sum;
}

static void grow(expression *e, rng *r) {
  value c, p, q;
  switch (rng_int(r, 0, 11)) {
    case 0:
    case 1: keep(e, plus(e, any(e, r), any(e, r), false)); break;
    case 2:
    case 3: keep(e, plus(e, any(e, r), any(e, r), true)); break;
    case 4:
    case 5:
    case 6: keep(e, times(e, any(e, r), any(e, r))); break;
    case 7:
      c = constant(e, r);
      keep(e, rng_int(r, 0, 1) ? times(e, any(e, r), &c) : plus(e, any(e, r), &c, rng_int(r, 0, 1)));
      break;
    case 8:
      /* squares and their roots */
      p = *any(e, r), q = *any(e, r);
      keep(e, plus(e, &p, &q, rng_int(r, 0, 1)));
      p = times(e, &p, &p), q = times(e, &q, &q);
      keep(e, plus(e, &p, &q, true));
      break;
    case 9: keep(e, function_of(e, any(e, r), rng_int(r, 0, 4))); break;
    default: keep(e, sum_of_products(e, r)); break;
  }
}

static void make(expression *e, rng *r) {
  memset(e, 0, sizeof *e);
  assert_int_equal(psdm_graph_new(NULL, &e->g), PSDM_OK);
  for (int k = 0; k < INPUTS; k++) {
    e->input[k] = rng_uniform(r, -2, 2);
    keep(e, (value){e->input[k], fabs(e->input[k]), 0, psdm_graph_input(e->g, k), false});
  }
  for (int k = 0; k < 3; k++) keep(e, function_of(e, &e->value[k], k % 2));
  for (int steps = rng_int(r, 3, 60); steps > 0; steps--) grow(e, r);
  e->outputs = rng_int(r, 1, OUTPUTS);
  for (int k = 0; k < e->outputs; k++) {
    e->from[k] = rng_int(r, k ? e->count / 2 : e->count - 1, e->count - 1);
    e->out[k] = e->value[e->from[k]].ref;
  }
}

/* ---- the comparison ---- */

static void compare(const expression *e, const char *what, int dag) {
  double out[OUTPUTS], *scratch = malloc(psdm_graph_size(e->g) * sizeof *scratch);
  assert_non_null(scratch);
  psdm_graph_evaluate(e->g, e->input, e->out, (size_t)e->outputs, scratch, out);
  for (int k = 0; k < e->outputs; k++) {
    const value *a = &e->value[e->from[k]];
    long double error = fabsl(out[k] - a->v), bound = error_of(e, a);
    if (!(error <= bound))
      fail_msg("dag %d, %s, output %d: %.17g, not %.17Lg; off by %Lg, bound %Lg", dag, what, k, out[k], a->v, error,
               bound);
  }
  free(scratch);
}

static psdm_cost cost_of(const expression *e) {
  psdm_cost cost;
  assert_int_equal(psdm_graph_cost(e->g, e->out, (size_t)e->outputs, &cost), PSDM_OK);
  return cost;
}

static void expect_no_more(psdm_cost now, psdm_cost before, const char *what, int dag) {
  if (now.mult + now.add > before.mult + before.add || now.div > before.div || now.sqrt > before.sqrt ||
      now.sincos > before.sincos)
    fail_msg("dag %d, %s: %ld + %ld operations after %ld + %ld", dag, what, now.mult, now.add, before.mult, before.add);
}

/* ---- the schedule, judged without the scheduler's own numbers ---- */

typedef struct judge {
  uint32_t size;
  bool *live;     /* an operation that the outputs reach */
  bool *early;    /* an angle needs it */
  long *computed; /* when, -1: never */
  long *last;     /* when it is read last, -1: never */
} judge;

static int operands(const psdm_graph *g, uint32_t node, uint32_t out[2]) {
  psdm_node n = psdm_graph_node(g, node);
  int count = 0;
  if (n.a != PSDM_REF_NONE) out[count++] = psdm_ref_node(n.a);
  if (n.b != PSDM_REF_NONE) out[count++] = psdm_ref_node(n.b);
  return count;
}

static void reach(const psdm_graph *g, uint32_t node, bool *seen) {
  uint32_t o[2];
  if (seen[node]) return;
  seen[node] = true;
  for (int k = operands(g, node, o); k-- > 0;) reach(g, o[k], seen);
}

static bool is_operation(const psdm_graph *g, uint32_t node) {
  psdm_op op = psdm_graph_node(g, node).op;
  return op != PSDM_OP_CONST && op != PSDM_OP_INPUT;
}

static void mark(const expression *e, judge *j) {
  for (int k = 0; k < e->outputs; k++) reach(e->g, psdm_ref_node(e->out[k]), j->live);
  for (uint32_t k = 0; k < j->size; k++) {
    psdm_op op = psdm_graph_node(e->g, k).op;
    if (j->live[k] && (op == PSDM_OP_SIN || op == PSDM_OP_COS)) reach(e->g, k, j->early);
  }
}

/* each live operation once, after its operands, and angles before all else */
static void check_order(const expression *e, judge *j, const uint32_t *order, size_t length, bool angles_first) {
  size_t expected = 0;
  bool late = false;
  uint32_t o[2];
  for (uint32_t k = 0; k < j->size; k++) {
    expected += j->live[k] && is_operation(e->g, k);
    j->computed[k] = j->last[k] = -1;
  }
  assert_int_equal(length, expected);
  for (size_t t = 0; t < length; t++) {
    assert_true(order[t] < j->size && j->live[order[t]] && is_operation(e->g, order[t]));
    assert_int_equal(j->computed[order[t]], -1);
    for (int k = operands(e->g, order[t], o); k-- > 0;) {
      assert_true(!is_operation(e->g, o[k]) || j->computed[o[k]] >= 0);
      j->last[o[k]] = (long)t;
    }
    j->computed[order[t]] = (long)t;
    late |= !j->early[order[t]];
    assert_false(angles_first && late && j->early[order[t]]);
  }
}

/* at each statement: its result, and earlier results that are read later */
static long count_peak(const judge *j, const uint32_t *order, size_t length) {
  long peak = 0;
  for (size_t t = 0; t < length; t++) {
    long alive = 1;
    for (size_t s = 0; s < t; s++) alive += j->last[order[s]] > (long)t;
    if (alive > peak) peak = alive;
  }
  return peak;
}

static void check_schedules(const expression *e) {
  static const psdm_order hows[] = {PSDM_ORDER_BUILT, PSDM_ORDER_LATENCY, PSDM_ORDER_LATENCY, PSDM_ORDER_REGISTERS};
  static const int registers[] = {0, 0, 1000, 0};
  uint32_t size = psdm_graph_size(e->g), *order = malloc(size * sizeof *order);
  judge j = {size, calloc(size, sizeof *j.live), calloc(size, sizeof *j.early), calloc(size, sizeof *j.computed),
             calloc(size, sizeof *j.last)};
  assert_true(order && j.live && j.early && j.computed && j.last);
  mark(e, &j);
  for (int k = 0; k < 4; k++) {
    size_t length;
    long peak;
    assert_int_equal(
        psdm_graph_schedule(e->g, e->out, (size_t)e->outputs, hows[k], registers[k], order, &length, &peak), PSDM_OK);
    check_order(e, &j, order, length, k > 0);
    assert_int_equal(peak, count_peak(&j, order, length));
    for (size_t t = 1; k == 0 && t < length; t++) assert_true(order[t] > order[t - 1]);
  }
  free(j.live), free(j.early), free(j.computed), free(j.last), free(order);
}

/* ---- the tests ---- */

static void test_random(void **unused) {
  (void)unused;
  static expression e;
  rng r = rng_start("random expressions");
  long before_all = 0, after_all = 0;
  for (int dag = 0; dag < DAGS; dag++) {
    make(&e, &r);
    assert_int_equal(psdm_graph_status(e.g), PSDM_OK);
    compare(&e, "built", dag);
    psdm_cost built = cost_of(&e);
    assert_int_equal(psdm_graph_factor(e.g, e.out, (size_t)e.outputs), PSDM_OK);
    psdm_cost factored = cost_of(&e);
    compare(&e, "factored", dag);
    expect_no_more(factored, built, "factored", dag);
    assert_int_equal(psdm_graph_balance(e.g, e.out, (size_t)e.outputs), PSDM_OK);
    psdm_cost balanced = cost_of(&e);
    compare(&e, "balanced", dag);
    expect_no_more(balanced, factored, "balanced", dag);
    assert_true(balanced.depth <= factored.depth);
    if (dag % 4 == 0) check_schedules(&e);
    before_all += built.mult + built.add;
    after_all += balanced.mult + balanced.add;
    psdm_graph_free(e.g);
  }
  printf("%d expressions: %ld operations, %ld after factoring\n", DAGS, before_all, after_all);
}

/* balancing without factoring */
static void test_balance_alone(void **unused) {
  (void)unused;
  static expression e;
  rng r = rng_start("balance alone");
  for (int dag = 0; dag < DAGS; dag++) {
    make(&e, &r);
    psdm_cost built = cost_of(&e);
    assert_int_equal(psdm_graph_balance(e.g, e.out, (size_t)e.outputs), PSDM_OK);
    psdm_cost once = cost_of(&e);
    compare(&e, "balanced", dag);
    expect_no_more(once, built, "balanced", dag);
    assert_true(once.depth <= built.depth);
    psdm_graph_free(e.g);
  }
}

/* the same calls give the same nodes, whatever the content of memory before */
static void test_deterministic(void **unused) {
  (void)unused;
  static expression first, second;
  rng r = rng_start("deterministic");
  for (int dag = 0; dag < 100; dag++) {
    rng same = r;
    make(&first, &r);
    make(&second, &same);
    assert_int_equal(psdm_graph_factor(first.g, first.out, (size_t)first.outputs), PSDM_OK);
    assert_int_equal(psdm_graph_factor(second.g, second.out, (size_t)second.outputs), PSDM_OK);
    assert_memory_equal(first.out, second.out, (size_t)first.outputs * sizeof *first.out);
    assert_int_equal(psdm_graph_size(first.g), psdm_graph_size(second.g));
    for (uint32_t k = 0; k < psdm_graph_size(first.g); k++) {
      psdm_node a = psdm_graph_node(first.g, k), b = psdm_graph_node(second.g, k);
      assert_true(a.op == b.op && a.a == b.a && a.b == b.b && a.input == b.input && a.value == b.value);
    }
    psdm_graph_free(first.g);
    psdm_graph_free(second.g);
  }
}

/* a chain of 30000 statements does not recurse 30000 calls deep, and needs one value at a time */
static void test_long_chain(void **unused) {
  (void)unused;
  enum { LINKS = 30000 };
  psdm_graph *g;
  psdm_cost cost;
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref x = psdm_graph_input(g, 0), y = x;
  for (int k = 0; k < LINKS; k++)
    y = psdm_graph_mul(g, psdm_graph_add(g, psdm_graph_const(g, 1.0 / (k + 3)), y), psdm_graph_input(g, 1 + k % 3));
  uint32_t *order = malloc(4 * LINKS * sizeof *order);
  size_t length;
  long peak;
  assert_non_null(order);
  assert_int_equal(psdm_graph_factor(g, &y, 1), PSDM_OK);
  assert_int_equal(psdm_graph_balance(g, &y, 1), PSDM_OK);
  psdm_graph_cost(g, &y, 1, &cost);
  assert_int_equal(cost.mult + cost.add, 2 * LINKS);
  for (int how = PSDM_ORDER_BUILT; how <= PSDM_ORDER_REGISTERS; how++) {
    assert_int_equal(psdm_graph_schedule(g, &y, 1, (psdm_order)how, 0, order, &length, &peak), PSDM_OK);
    assert_int_equal(length, 2 * LINKS);
    assert_int_equal(peak, 1);
  }
  free(order);
  psdm_graph_free(g);
}

/* a full tree over 2^k products needs k + 1 values (Ershov's number), however wide it was built */
static void test_tree(void **unused) {
  (void)unused;
  enum { LEAVES = 64 };
  psdm_graph *g;
  psdm_ref level[LEAVES];
  size_t length;
  long peak;
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  for (int k = 0; k < LEAVES; k++)
    level[k] = psdm_graph_mul(g, psdm_graph_input(g, 2 * k), psdm_graph_input(g, 2 * k + 1));
  for (int width = LEAVES / 2; width; width /= 2)
    for (int k = 0; k < width; k++) level[k] = psdm_graph_add(g, level[2 * k], level[2 * k + 1]);
  uint32_t *order = malloc(psdm_graph_size(g) * sizeof *order);
  assert_non_null(order);
  assert_int_equal(psdm_graph_schedule(g, level, 1, PSDM_ORDER_BUILT, 0, order, &length, &peak), PSDM_OK);
  assert_int_equal(peak, LEAVES);
  assert_int_equal(psdm_graph_schedule(g, level, 1, PSDM_ORDER_REGISTERS, 0, order, &length, &peak), PSDM_OK);
  assert_int_equal(length, 2 * LEAVES - 1);
  assert_int_equal(peak, 7);
  /* with registers for all, the schedule takes the leaves first for latency; with few it needs close to the minimum */
  assert_int_equal(psdm_graph_schedule(g, level, 1, PSDM_ORDER_LATENCY, 1000, order, &length, &peak), PSDM_OK);
  assert_int_equal(peak, LEAVES);
  assert_int_equal(psdm_graph_schedule(g, level, 1, PSDM_ORDER_LATENCY, 16, order, &length, &peak), PSDM_OK);
  assert_in_range(peak, 7, 24);
  free(order);
  psdm_graph_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_balance_alone),
                                     cmocka_unit_test(test_deterministic), cmocka_unit_test(test_long_chain),
                                     cmocka_unit_test(test_tree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
