/* The derivation in other units and order: lengths and gravity times a power of two leave functions, ranks and quality
 * figures unchanged, and scale every number by an exact power of two; the regressor is that of the recursions column by
 * column; lists have the order of model.h; figures of small robots are exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "psdm/rigid.h"
#include "support.h"

enum { MOST = 6, STANDARD = 11 * MOST };

/* the same robot in other units of length: links that turn or slide, any twists, one length at least, drives, one
 * joint that follows another where it is coupled */
static psdm_robot *make(uint64_t seed, double unit, bool coupled) {
  rng g = {seed};
  static char text[8000];
  text_writer w = {text, sizeof text};
  int n = rng_int(&g, 2, 4);
  text_put(&w, "convention: %s\ngravity: [%.17g, %.17g, %.17g]\njoints:\n", rng_int(&g, 0, 1) ? "dh" : "modified-dh",
           unit, 2 * unit, -9 * unit);
  for (int j = 0; j < n; j++) {
    bool slides = !coupled && rng_int(&g, 0, 2) == 0;
    double a = j == 1 || rng_int(&g, 0, 2) ? rng_uniform(&g, 0.2, 0.6) : 0,
           d = rng_int(&g, 0, 2) ? rng_uniform(&g, -0.6, 0.6) : 0,
           alpha = rng_int(&g, 0, 1)   ? 1.5707963267948966
                   : rng_int(&g, 0, 1) ? 0
                                       : 0.7;
    text_put(&w, "  - {name: j%d, type: %s, alpha: %.17g, a: %.17g, d: %.17g%s%s}\n", j + 1,
             slides ? "prismatic" : "revolute", alpha, a * unit, d * unit,
             rng_int(&g, 0, 1) ? ", drive_inertia: unknown" : "",
             coupled && j == n - 1 ? ", couple: {j1: -1, offset: 0.3}" : "");
  }
  return parse_unsnapped(text);
}

static psdm_model *derive(const psdm_robot *r, const psdm_derive_options *o, psdm_derive_info *info) {
  psdm_model *m;
  psdm_error error;
  if (psdm_model_derive(r, o, NULL, &m, info, &error)) fail_msg("%s", error.text);
  return m;
}

/* ---- units ---- */

static int slides(const psdm_model *m, int joint) { return joint >= 0 && m->prismatic[joint]; }

/* the power of length of P's entry: of the torque, less those of the parameter and of the function */
static int power_of(const psdm_robot *r, const psdm_model *m, long f, int k, const psdmp_model_entry *e) {
  unsigned char exponents[5 * MOST];
  int first, second, power = 2 - slides(m, e->joint) - psdmp_derive_length_degree(r, m->base[e->parameter].parameter);
  psdm_model_exponents(m, f, exponents);
  psdm_model_class_rates(m, k, &first, &second);
  for (int j = 0; j < m->n; j++) power -= slides(m, j) * exponents[j];
  return power - (k == 0) - slides(m, first) - slides(m, second);
}

/* structure alone gives the same digits; samples, which coupled robots and assumptions need, round as their
 * factorisations' blocks decide */
static void expect_same(double x, double expected, bool samples, const char *what, long index) {
  if (!(fabs(x - expected) <= (samples ? 1e-11 * fabs(expected) : 0)))
    fail_msg("%s %ld: %.17g, %.17g was expected", what, index, x, expected);
}

static void expect_scaled(const psdm_robot *r, const psdm_model *a, const psdm_model *b, int k, bool samples) {
  assert_int_equal(a->p, b->p);
  assert_int_equal(a->l, b->l);
  assert_int_equal(psdm_model_entries(a), psdm_model_entries(b));
  assert_memory_equal(a->class_start, b->class_start, (size_t)(a->classes + 1) * sizeof *a->class_start);
  if (a->p) assert_memory_equal(a->code, b->code, (size_t)a->p * sizeof *a->code);
  for (int c = 0; c < a->classes && a->p; c++)
    for (long f = a->class_start[c]; f < a->class_start[c + 1]; f++) {
      assert_int_equal(a->P_start[f + 1], b->P_start[f + 1]);
      for (long e = a->P_start[f]; e < a->P_start[f + 1]; e++) {
        assert_true(a->P[e].joint == b->P[e].joint && a->P[e].parameter == b->P[e].parameter);
        expect_same(b->P[e].value, ldexp(a->P[e].value, k * power_of(r, a, f, c, &a->P[e])), samples, "entry", e);
      }
    }
  for (int j = 0; j < a->l; j++) {
    const psdmp_model_base *x = &a->base[j], *y = &b->base[j];
    assert_true(x->parameter == y->parameter && x->terms == y->terms);
    for (int t = 0; t < x->terms; t++) {
      assert_int_equal(x->term[t].parameter, y->term[t].parameter);
      expect_same(y->term[t].coefficient,
                  ldexp(x->term[t].coefficient, k * (psdmp_derive_length_degree(r, x->parameter) -
                                                     psdmp_derive_length_degree(r, x->term[t].parameter))),
                  samples, "formula", j);
    }
  }
}

static void other_units(void **state) {
  (void)state;
  static const int powers[] = {-20, -3, 1, 20};
  static const char *const assume[] = {"Ixy2 = 0", "Ixx1 = Iyy1", "rx2 = 0"};
  rng g = rng_start("units");
  for (int i = 0; i < 60; i++) {
    bool coupled = i % 5 == 4;
    uint64_t seed = rng_next(&g);
    const psdm_derive_options assumed = {.assume_count = 3, .assume = assume}, *o = i % 3 ? NULL : &assumed;
    psdm_robot *r = make(seed, 1, coupled);
    psdm_derive_info ours, theirs;
    psdm_model *m = derive(r, o, &ours), *base, *other;
    assert_true(ours.residual <= 1e-13 && ours.kept > 1e3 * ours.dropped && ours.rank_kept > 1e3 * ours.rank_dropped);
    assert_int_equal(psdm_base_parameters_derive(r, o, NULL, &base, NULL, NULL), PSDM_OK);
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
      psdm_robot *s = make(seed, ldexp(1, powers[k]), coupled);
      other = derive(s, o, &theirs);
      expect_scaled(r, m, other, powers[k], o || coupled);
      assert_true(ours.kept == theirs.kept && ours.dropped == theirs.dropped && theirs.residual <= 1e-13);
      expect_same(theirs.rank_kept, ours.rank_kept, o || coupled, "rank_kept", i);
      if (!o && !coupled) assert_true(ours.rank_dropped == theirs.rank_dropped);
      psdm_model_free(other);
      assert_int_equal(psdm_base_parameters_derive(s, o, NULL, &other, &theirs, NULL), PSDM_OK);
      expect_scaled(r, base, other, powers[k], o || coupled);
      assert_true(theirs.residual <= 1e-13);
      psdm_model_free(other);
      psdm_robot_free(s);
    }
    psdm_model_free(base);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* the dense route in other units: the same functions and parameters, numbers to the accuracy of its systems */
static void other_units_dense(void **state) {
  (void)state;
  static const int powers[] = {-6, 0, 6};
  rng g = rng_start("dense units");
  for (int i = 0; i < 12; i++) {
    uint64_t seed = rng_next(&g);
    for (int k = 0; k < 3; k++) {
      psdm_robot *r = make(seed, ldexp(1, powers[k]), false);
      psdm_derive_info info;
      psdm_model *exact = derive(r, NULL, NULL), *dense;
      if (exact->n > 3) {
        psdm_model_free(exact);
        psdm_robot_free(r);
        break;
      }
      dense = derive(r, &(psdm_derive_options){.method = PSDM_METHOD_DENSE}, &info);
      assert_true(info.kept > 1e3 * info.dropped && info.rank_kept > 1e3 * info.rank_dropped);
      assert_true(info.residual < 1e-10); /* the rounding that dense.c allows, at fast states too */
      assert_true(exact->p == dense->p && exact->l == dense->l &&
                  psdm_model_entries(exact) == psdm_model_entries(dense));
      for (long f = 0; f < exact->p; f++)
        assert_true(exact->code[f] == dense->code[f] && exact->P_start[f] == dense->P_start[f]);
      for (long e = 0; e < psdm_model_entries(exact); e++) {
        const psdmp_model_entry *x = &exact->P[e], *y = &dense->P[e];
        assert_true(x->joint == y->joint && x->parameter == y->parameter &&
                    fabs(x->value - y->value) <= 1e-8 * fabs(x->value));
      }
      for (int j = 0; j < exact->l; j++) assert_int_equal(exact->base[j].parameter, dense->base[j].parameter);
      psdm_model_free(exact);
      psdm_model_free(dense);
      psdm_robot_free(r);
    }
  }
}

/* ---- columns ---- */

/* Y of the recursions = Y of the model times the formulas, for every standard parameter at once; lengths in units of
 * the reach */
static void expect_columns(const psdm_robot *r, const psdm_model *m, rng *g) {
  psdmp_base_arena arena = {.allocator = NULL};
  double reach = psdmp_derive_reach(r, &arena), worst[STANDARD] = {0}, largest = 0, q[MOST], qd[MOST], qdd[MOST];
  int n = m->n, S = m->standard, l = m->l;
  double *Y = calloc((size_t)(n * S), sizeof *Y), *mine = calloc((size_t)(n * l + 1), sizeof *mine),
         *y = calloc((size_t)m->p + 1, sizeof *y);
  psdm_work *work;
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  for (int s = 0; s < 10; s++) {
    for (int j = 0; j < n; j++) {
      double unit = m->prismatic[j] ? reach : 1, rate = sqrt(m->gravity / reach);
      q[j] = rng_uniform(g, -3, 3) * unit, qd[j] = rng_uniform(g, -1, 1) * unit * rate,
      qdd[j] = rng_uniform(g, -1, 1) * unit * rate * rate;
    }
    assert_int_equal(psdm_regressor_standard(r, work, q, qd, qdd, Y), PSDM_OK);
    psdm_model_y(m, q, qd, qdd, y);
    psdm_model_regressor(m, PSDM_PART_ALL, y, mine);
    for (int j = 0; j < l; j++)
      for (int t = 0; t < m->base[j].terms; t++)
        for (int i = 0; i < n; i++)
          Y[i * S + m->base[j].term[t].parameter] -= mine[i * l + j] * m->base[j].term[t].coefficient;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < S; k++) {
        double unit = pow(reach, psdmp_derive_length_degree(r, k) - 1) * (m->prismatic[i] ? reach : 1) / m->gravity;
        worst[k] = fmax(worst[k], fabs(Y[i * S + k]) * unit);
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < l; j++)
        largest =
            fmax(largest, fabs(mine[i * l + j]) * pow(reach, psdmp_derive_length_degree(r, m->base[j].parameter) - 1) *
                              (m->prismatic[i] ? reach : 1) / m->gravity);
  }
  for (int k = 0; k < S; k++) /* a few hundred roundings */
    if (!(worst[k] <= 1e-13 * largest))
      fail_msg("column %s is off by %.3g of %.3g", m->standard_name[k], worst[k], largest);
  free(Y);
  free(mine);
  free(y);
  psdm_work_free(work, NULL);
  psdmp_base_arena_free(&arena);
}

/* the order of model.h; a formula begins with its own parameter, which no other formula has */
static void expect_order(const psdm_model *m, bool standard_basis) {
  for (int k = 0; k < m->classes; k++)
    for (long f = m->class_start[k]; f < m->class_start[k + 1]; f++) {
      assert_true(f == m->class_start[k] || m->code[f] > m->code[f - 1]);
      assert_true(m->P_start[f + 1] > m->P_start[f]);
      for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++) {
        const psdmp_model_entry *x = &m->P[e], *before = &m->P[e - (e > m->P_start[f])];
        assert_true(x->value != 0 && isfinite(x->value) && x->joint < m->n && x->parameter < m->l);
        assert_true(
            e == m->P_start[f] || x->joint > before->joint ||
            (x->joint == before->joint && m->base[x->parameter].parameter > m->base[before->parameter].parameter));
      }
    }
  assert_int_equal(m->class_start[0], 0);
  assert_int_equal(m->class_start[m->classes], m->p);
  int in[STANDARD] = {0}, grouped[STANDARD] = {0};
  for (int j = 0; j < m->l && standard_basis; j++) {
    const psdmp_model_base *b = &m->base[j];
    assert_true(b->terms > 0 && b->term[0].parameter == b->parameter && b->term[0].coefficient == 1);
    for (int t = 1; t < b->terms; t++) {
      assert_true(b->term[t].coefficient != 0 && (t == 1 || b->term[t].parameter > b->term[t - 1].parameter));
      in[b->term[t].parameter]++;
    }
    grouped[b->parameter] = 1 + (b->terms > 1);
  }
  for (int k = 0; k < m->standard && standard_basis; k++) {
    psdm_parameter_fate expected = grouped[k] == 2 ? PSDM_FATE_GROUPED_INTO
                                   : grouped[k]    ? PSDM_FATE_UNCHANGED
                                   : in[k]         ? PSDM_FATE_REGROUPED
                                                   : PSDM_FATE_NO_EFFECT;
    assert_true(!grouped[k] || !in[k]);
    assert_int_equal(psdm_model_fate(m, k), expected);
  }
}

static void columns_and_order(void **state) {
  (void)state;
  static const char *const assume[] = {"Ixy2 = 0", "Ixx1 = Iyy1", "m1 = 0"};
  static char text[64 * 1024];
  rng g = rng_start("columns");
  for (int i = 0; i < 120; i++) {
    random_options options = {2, 4, i % 3 == 0, i % 2, true, true};
    psdm_robot *r = i < 60 ? make(rng_next(&g), ldexp(1, i % 9 - 4), i % 4 == 0)
                           : parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_model *m;
    if (psdm_model_derive(r, NULL, NULL, &m, NULL, NULL) == PSDM_OK) { /* some couplings have no closed form */
      if (m->gravity > 0) expect_columns(r, m, &g);
      expect_order(m, true);
      psdm_model_free(m);
    }
    const psdm_derive_options assumed = {.assume_count = 3, .assume = assume};
    if (psdm_model_derive(r, &assumed, NULL, &m, NULL, NULL) == PSDM_OK) {
      expect_order(m, false);
      psdm_model_free(m);
    }
    psdm_robot_free(r);
  }
}

/* so many joints that codes are sparse and kept in a list, not as marks: slides between two revolute joints */
static void many_codes(void **state) {
  (void)state;
  enum { JOINTS = 13 };
  static char text[4000];
  text_writer w = {text, sizeof text};
  text_put(&w, "convention: dh\njoints:\n");
  for (int j = 0; j < JOINTS; j++)
    text_put(&w, "  - {type: %s, a: 0.2, d: 0.1, alpha: %s, drive_inertia: 0.3}\n",
             j == 0 || j == JOINTS - 1 ? "revolute" : "prismatic", j % 2 ? "0.3" : "pi/2");
  text_put(&w, "links:\n");
  for (int j = 0; j < JOINTS; j++)
    text_put(&w, "  - {mass: %d, com: [0.1, 0.02, 0.03], inertia: {xx: 0.3, yy: 0.2, zz: 0.4, xy: 0.01}}\n", j + 1);
  psdm_robot *r = parse_robot(text);
  psdm_model *m = derive(r, NULL, NULL);
  double residual;
  assert_int_equal(psdm_model_check(r, m, NULL, 20, NULL, &residual, NULL), PSDM_OK);
  assert_true(residual < 1e-13);
  for (int k = 0; k < m->classes; k++)
    for (long f = m->class_start[k] + 1; f < m->class_start[k + 1]; f++) assert_true(m->code[f] > m->code[f - 1]);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* ---- figures ---- */

static void close_to(double x, double expected) {
  if (!(fabs(x - expected) <= 1e-14 * fabs(expected))) fail_msg("%.17g, %.17g was expected", x, expected);
}

/* one link at the end of a metre, by hand: its row is (1, 2, 1) over m, mx, ZZ: of length root 6, beside a largest
 * entry of 2 */
static void small_robots(void **state) {
  (void)state;
  for (int scale = -3; scale <= 3; scale++) {
    char text[200];
    snprintf(text, sizeof text, "convention: dh\ngravity: [0, 0, -8]\njoints: [{a: %.17g}]\n", ldexp(1, scale));
    psdm_robot *r = parse_robot(text);
    psdm_derive_info info;
    psdm_model *m = derive(r, NULL, &info);
    close_to(info.rank_kept, sqrt(6) / 2);
    assert_true(info.kept == 1 && info.dropped == 0 && info.rank_dropped == 0 && info.bytes > 0 && info.searched == 0 &&
                info.seconds >= 0);
    assert_true(m->l == 1 && m->base[0].terms == 3 && m->base[0].parameter == 9);
    assert_true(m->base[0].term[1].coefficient == ldexp(1, 2 * scale) &&
                m->base[0].term[2].coefficient == ldexp(2, scale));
    psdm_model_free(m);
    psdm_robot_free(r);
  }
  /* a slide's drive adds its own mass, and the last link's inertia is about the joint */
  psdm_robot *r = parse_robot("convention: dh\ngravity: [0, 0, -8]\njoints: [{type: prismatic, a: 4, drive_inertia: "
                              "unknown}, {a: 2, drive_inertia: unknown}]\n");
  psdm_derive_info info;
  psdm_model *m = derive(r, NULL, &info);
  close_to(info.rank_kept, 1 / sqrt(5));
  static const struct {
    const char *name;
    int terms;
    double coefficient[4];
  } expected[] = {{"m1", 2, {1, 1}}, {"Ia1", 1, {1}}, {"ZZ2", 4, {1, 4, 4, 1}}};
  assert_int_equal(m->l, 3);
  for (int j = 0; j < 3; j++) {
    assert_string_equal(psdm_model_base_name(m, j), expected[j].name);
    assert_int_equal(m->base[j].terms, expected[j].terms);
    for (int t = 0; t < expected[j].terms; t++) close_to(m->base[j].term[t].coefficient, expected[j].coefficient[t]);
  }
  psdm_model_free(m);
  psdm_robot_free(r);
  /* the dense twin searches the same space: five monomials of one joint, all but one of them zero */
  r = parse_robot("convention: dh\ngravity: [0, 0, -8]\njoints: [{a: 4}]\n");
  m = derive(r, &(psdm_derive_options){.method = PSDM_METHOD_DENSE}, &info);
  assert_true(m->p == 1 && m->l == 1 && info.searched == 5 && fabs(info.kept - 1) < 1e-12 && info.dropped < 1e-13 &&
              fabs(info.rank_kept - sqrt(6) / 2) < 1e-12);
  psdm_model_free(m);
  psdm_robot_free(r);
}

typedef struct shares {
  int calls;
  double last;
} shares;

static bool rising(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  shares *s = user;
  assert_true(share >= s->last && share <= 1);
  s->calls++;
  s->last = share;
  return true;
}

static void progress_and_options(void **state) {
  (void)state;
  psdm_robot *r = load_shipped("two_link");
  psdm_derive_info info;
  shares s = {0, 0};
  psdm_model *m =
      derive(r, &(psdm_derive_options){.method = PSDM_METHOD_DENSE, .progress = rising, .progress_user = &s}, &info);
  assert_true(s.calls > 5 && fabs(s.last - 1) < 1e-12); /* the whole, and no more */
  psdm_model_free(m);
  m = derive(r, &(psdm_derive_options){.unchecked = true}, &info);
  assert_true(isnan(info.residual));
  psdm_model_free(m);
  m = derive(r, NULL, &info);
  assert_true(info.residual >= 0 && info.residual < 1e-13);
  /* the memory it needs is enough, and one byte less than its pool is not */
  psdm_model *other;
  psdm_error error;
  assert_int_equal(psdm_model_derive(r, &(psdm_derive_options){.memory = info.bytes - 1}, NULL, &other, NULL, &error),
                   PSDM_E_LIMIT);
  assert_non_null(strstr(error.text, "2 joints"));
  assert_int_equal(psdm_model_derive(r, &(psdm_derive_options){.memory = 1}, NULL, &other, NULL, &error), PSDM_E_LIMIT);
  assert_int_equal(
      psdm_model_derive(r, &(psdm_derive_options){.memory = info.bytes + (1 << 20)}, NULL, &other, NULL, &error),
      PSDM_OK);
  psdm_model_free(other);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* a tolerance regroups the extra parameters of nearly aligned axes, and the answer states its error */
static void rank_tolerance(void **state) {
  (void)state;
  const psdm_robot_options keep = {.no_snap = true};
  const char text[] = "convention: dh\njoints: [{a: 0.5, alpha: 1e-4}, {a: 0.5, alpha: 0}, {a: 0.5}]\n";
  psdm_robot *r;
  psdm_derive_info exact, rough;
  assert_int_equal(psdm_robot_parse(text, strlen(text), "nearly", &keep, NULL, &r, NULL), PSDM_OK);
  psdm_model *m = derive(r, NULL, &exact), *few;
  assert_int_equal(
      psdm_base_parameters_derive(r, &(psdm_derive_options){.rank_tolerance = 1e-3}, NULL, &few, &rough, NULL),
      PSDM_OK);
  assert_true(few->l < m->l && exact.rank_kept < 1e-3 && rough.rank_kept > 1e-3 && rough.rank_dropped < 1e-3 &&
              rough.rank_dropped > 1e-9);
  assert_true(exact.residual < 1e-13 && rough.residual > 1e-9 && rough.residual < 1e-3);
  psdm_model_free(few);
  psdm_model_free(m);
  psdm_robot_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_robots),      cmocka_unit_test(progress_and_options),
                                     cmocka_unit_test(rank_tolerance),    cmocka_unit_test(other_units),
                                     cmocka_unit_test(columns_and_order), cmocka_unit_test(many_codes),
                                     cmocka_unit_test(other_units_dense)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
