/* test_params.c: base parameters by structure, by numbers and by symbols. Golden: Gautier (1991), Tables II to V. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "psdm/psdm.h"
#include "support.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const sampling_name[] = {"d", "d0", "h"}, *const solver_name[] = {"qr", "svd"};

static psdm_base_parameters *solve_samples(const psdm_robot *r, int sampling, int solver, bool no_scaling) {
  psdm_base_parameters *p;
  psdm_error error;
  char text[900];
  const psdm_base_parameters_options o = {
      .sampling = (psdm_sampling)sampling, .solver = (psdm_solver)solver, .no_scaling = no_scaling};
  if (psdm_base_parameters_solve(r, &o, NULL, &p, &error)) fail_msg("%s", psdm_error_format(&error, text, sizeof text));
  return p;
}

static psdm_base_parameters *solve(const psdm_robot *r, int sampling, int solver) {
  return solve_samples(r, sampling, solver, false);
}

static psdm_model *derive(const psdm_robot *r) {
  psdm_model *m;
  psdm_error error;
  char text[900];
  if (psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, &error))
    fail_msg("%s", psdm_error_format(&error, text, sizeof text));
  return m;
}

static psdm_symbolic *symbols(const psdm_robot *r, const psdm_model *m, int count, const char *const *rename) {
  psdm_symbolic *s;
  psdm_error error;
  char text[900];
  const psdm_symbolic_options o = {.rename_count = count, .rename = rename};
  if (psdm_symbolic_derive(r, m, &o, NULL, &s, &error)) fail_msg("%s", psdm_error_format(&error, text, sizeof text));
  return s;
}

static int parameter(const psdm_robot *r, const char *name) {
  char text[32];
  for (int k = 0; k < psdm_robot_parameter_count(r); k++)
    if (strcmp(psdm_robot_parameter_name(r, k, text, sizeof text), name) == 0) return k;
  fail_msg("no parameter %s", name);
  return -1;
}

/* base parameter j's coefficients over all standard parameters */
static void row_of_params(const psdm_base_parameters *p, int j, double *row) {
  int e = p->columns - p->rank;
  memset(row, 0, sizeof *row * (size_t)p->standard);
  row[p->column[p->kept[j]]] = 1;
  for (int k = 0; k < e; k++) row[p->column[p->dropped[k]]] = p->beta[(long)j * e + k];
}

static void row_of_model(const psdm_model *m, int j, double *row) {
  memset(row, 0, sizeof *row * (size_t)psdm_model_standard_count(m));
  for (int t = 0; t < psdm_model_base_terms(m, j); t++) {
    int k;
    double x = psdm_model_base_term(m, j, t, &k);
    row[k] = x;
  }
}

/* ---- Gautier (1991) ---- */

static const char *const eliminated[] = {"XX1", "XY1", "XZ1", "YY1", "YZ1", "mx1", "my1", "mz1", "m1", "mz2", "m2"};
static const char *const regrouped[] = {"Ia1", "YY2", "Ia2", "YY3", "mz3", "m3",  "YY4", "mz4",
                                        "m4",  "YY5", "mz5", "m5",  "YY6", "mz6", "m6"};

/* Table III, XB1 in the table's order, and Table V in our notation: R3 is d3, D3 is a3, and so on */
static const struct base {
  const char *name;
  double value;
  const char *formula; /* NULL: unchanged */
} table[] = {
    {"ZZ1", 5.0186, "ZZ1 + YY2 + YY3 + Ia1 + 2*R3*mz3 + (D3^2 + R3^2)*m3 + (D3^2 + R3^2 + D4^2)*(m4 + m5 + m6)"},
    {"XX2", -2.05, "XX2 - YY2 - D3^2*(m3 + m4 + m5 + m6)"},
    {"XY2", 0.7, NULL},
    {"XZ2", -1.07, "XZ2 - D3*mz3 - D3*R3*(m3 + m4 + m5 + m6)"},
    {"YZ2", 0.65, NULL},
    {"ZZ2", 6.55, "ZZ2 + Ia2 + D3^2*(m3 + m4 + m5 + m6)"},
    {"mx2", 4.3, "mx2 + D3*(m3 + m4 + m5 + m6)"},
    {"my2", 0.6, NULL},
    {"XX3", 0.7634, "XX3 - YY3 + YY4 + 2*R4*mz4 + (R4^2 - D4^2)*(m4 + m5 + m6)"},
    {"XY3", 0.6872, "XY3 - D4*mz4 - D4*R4*(m4 + m5 + m6)"},
    {"XZ3", 0.55, NULL},
    {"YZ3", -0.6, NULL},
    {"ZZ3", 0.9646, "ZZ3 + YY4 + 2*R4*mz4 + (D4^2 + R4^2)*(m4 + m5 + m6)"},
    {"mx3", 0.528, "mx3 + D4*(m4 + m5 + m6)"},
    {"my3", 1.14, "my3 + mz4 + R4*(m4 + m5 + m6)"},
    {"Ia3", 1, NULL},
    {"XX4", -0.42, "XX4 - YY4 + YY5"},
    {"XY4", 0.02, NULL},
    {"XZ4", 0.02, NULL},
    {"YZ4", 0.015, NULL},
    {"ZZ4", 0.07, "ZZ4 + YY5"},
    {"mx4", 0.02, NULL},
    {"my4", -0.07, "my4 - mz5"},
    {"Ia4", 0.3, NULL},
    {"XX5", 0.02, "XX5 - YY5 + YY6"},
    {"XY5", 0.01, NULL},
    {"XZ5", 0.01, NULL},
    {"YZ5", 0.01, NULL},
    {"ZZ5", 0.06, "ZZ5 + YY6"},
    {"mx5", 0.02, NULL},
    {"my5", 0.03, "my5 + mz6"},
    {"Ia5", 0.3, NULL},
    {"XX6", 0, "XX6 - YY6"},
    {"XY6", 0.01, NULL},
    {"XZ6", 0.01, NULL},
    {"YZ6", 0.01, NULL},
    {"ZZ6", 0.02, NULL},
    {"mx6", 0.01, NULL},
    {"my6", 0.01, NULL},
    {"Ia6", 0.3, NULL}};

/* Table IV: beta's rows over Ia1 YY2 Ia2 YY3 MZ3 M3 YY4 MZ4 M4 YY5 MZ5 M5 YY6 MZ6 M6, from Table V with R3 = 0.2, D3
 * = 0.5, R4 = 0.6, D4 = 0.02; the paper prints its first three */
static const struct beta {
  const char *name;
  double row[15];
} beta[] = {{"ZZ1", {1, 1, 0, 1, 0.4, 0.29, 0, 0, 0.2904, 0, 0, 0.2904, 0, 0, 0.2904}},
            {"XX2", {0, -1, 0, 0, 0, -0.25, 0, 0, -0.25, 0, 0, -0.25, 0, 0, -0.25}},
            {"XZ2", {0, 0, 0, 0, -0.5, -0.1, 0, 0, -0.1, 0, 0, -0.1, 0, 0, -0.1}},
            {"ZZ2", {0, 0, 1, 0, 0, 0.25, 0, 0, 0.25, 0, 0, 0.25, 0, 0, 0.25}},
            {"mx2", {0, 0, 0, 0, 0, 0.5, 0, 0, 0.5, 0, 0, 0.5, 0, 0, 0.5}},
            {"XX3", {0, 0, 0, -1, 0, 0, 1, 1.2, 0.3596, 0, 0, 0.3596, 0, 0, 0.3596}},
            {"XY3", {0, 0, 0, 0, 0, 0, 0, -0.02, -0.012, 0, 0, -0.012, 0, 0, -0.012}},
            {"ZZ3", {0, 0, 0, 0, 0, 0, 1, 1.2, 0.3604, 0, 0, 0.3604, 0, 0, 0.3604}},
            {"mx3", {0, 0, 0, 0, 0, 0, 0, 0, 0.02, 0, 0, 0.02, 0, 0, 0.02}},
            {"my3", {0, 0, 0, 0, 0, 0, 0, 1, 0.6, 0, 0, 0.6, 0, 0, 0.6}},
            {"XX4", {[6] = -1, [9] = 1}},
            {"ZZ4", {[9] = 1}},
            {"my4", {[10] = -1}},
            {"XX5", {[9] = -1, [12] = 1}},
            {"ZZ5", {[12] = 1}},
            {"my5", {[13] = 1}},
            {"XX6", {[12] = -1}}};

/* names, split and coefficients of one answer; row(j) gives its coefficients */
static void check_table_rows(const psdm_robot *r, int j, const double *row, double tolerance) {
  const struct beta *expected = NULL;
  for (int i = 0; i < COUNT(beta); i++)
    if (strcmp(beta[i].name, table[j].name) == 0) expected = &beta[i];
  assert_int_equal(expected != NULL, table[j].formula != NULL);
  double sum = 0;
  for (int k = 0; k < psdm_robot_parameter_count(r); k++) sum += fabs(row[k]);
  assert_float_equal(row[parameter(r, table[j].name)], 1, 1e-14);
  sum -= 1;
  for (int i = 0; i < 15; i++) {
    double want = expected ? expected->row[i] : 0, have = row[parameter(r, regrouped[i])];
    assert_float_equal(have, want, tolerance);
    sum -= fabs(have);
  }
  assert_float_equal(sum, 0, tolerance); /* and nothing else */
}

TEST(gautier_by_structure) {
  psdm_robot *r = load_shipped("puma560");
  psdm_model *m = derive(r);
  double pi[66], theta[40], row[66];
  assert_int_equal(psdm_model_standard_count(m), 66);
  assert_int_equal(psdm_model_l(m), 40);
  assert_int_equal(psdm_model_p(m), 0);
  psdm_robot_parameters(r, pi);
  psdm_model_theta(m, pi, theta);
  for (int j = 0; j < 40; j++) {
    assert_string_equal(psdm_model_base_name(m, j), table[j].name);
    assert_float_equal(theta[j], table[j].value, 5.1e-5);
    row_of_model(m, j, row);
    check_table_rows(r, j, row, 1e-13);
  }
  for (int i = 0; i < COUNT(eliminated); i++)
    assert_int_equal(psdm_model_fate(m, parameter(r, eliminated[i])), PSDM_FATE_NO_EFFECT);
  for (int i = 0; i < COUNT(regrouped); i++)
    assert_int_equal(psdm_model_fate(m, parameter(r, regrouped[i])), PSDM_FATE_REGROUPED);
  psdm_model_free(m);
  psdm_robot_free(r);
}

TEST(gautier_by_numbers) {
  psdm_robot *r = load_shipped("puma560");
  double pi[66], theta[40], row[66];
  char name[32];
  psdm_robot_parameters(r, pi);
  for (int model = 0; model < 3; model++)
    for (int solver = 0; solver < 2; solver++) {
      psdm_base_parameters *p = solve(r, model, solver);
      assert_int_equal(p->standard, 66);
      assert_int_equal(p->columns, 55);
      assert_int_equal(p->rank, 40);
      for (int k = 0; k < 3; k++) {
        assert_int_equal(p->ranks[k], 40);
        assert_true(p->gap[k] > 1e12); /* two groups, no doubt */
      }
      assert_true(p->spread < 1e4 && p->spread_random > 10 * p->spread);
      int fates[4] = {0};
      for (int k = 0; k < 66; k++) fates[psdm_base_parameters_fate(p, k)]++;
      assert_int_equal(fates[PSDM_FATE_NO_EFFECT], 11);
      assert_int_equal(fates[PSDM_FATE_REGROUPED], 15);
      assert_int_equal(fates[PSDM_FATE_GROUPED_INTO], 17);
      assert_int_equal(fates[PSDM_FATE_UNCHANGED], 23);
      for (int i = 0; i < COUNT(eliminated); i++)
        assert_int_equal(psdm_base_parameters_fate(p, parameter(r, eliminated[i])), PSDM_FATE_NO_EFFECT);
      for (int i = 0; i < COUNT(regrouped); i++) {
        psdm_robot_parameter_name(r, p->column[p->dropped[i]], name, sizeof name);
        assert_string_equal(name, regrouped[i]);
      }
      psdm_base_parameters_theta(p, pi, theta);
      for (int j = 0; j < 40; j++) {
        assert_string_equal(psdm_robot_parameter_name(r, p->column[p->kept[j]], name, sizeof name), table[j].name);
        assert_float_equal(theta[j], table[j].value, 5.1e-5);
        row_of_params(p, j, row);
        check_table_rows(r, j, row, 1e-9);
      }
      /* V2 N: zero for parameters without regrouping */
      for (int i = 0; i < 55; i++)
        assert_int_equal(fabs(p->V2N[i]) < 1e-10, psdm_base_parameters_fate(p, p->column[i]) == PSDM_FATE_UNCHANGED);
      /* the diagonals: descending, and zeros of R where a parameter is eliminated */
      for (int i = 1; i < 55; i++)
        assert_true(fabs(p->T[i]) <= fabs(p->T[i - 1]) * (1 + 1e-9) && p->sigma[i] <= p->sigma[i - 1]);
      for (int i = 0; i < 55; i++)
        assert_int_equal(fabs(p->R[i]) <= p->tau[1], psdm_base_parameters_fate(p, p->column[i]) == PSDM_FATE_REGROUPED);
      psdm_base_parameters_free(p);
    }
  psdm_robot_free(r);
}

TEST(gautier_by_symbols) {
  static const char *const names[] = {"d3=R3", "a3=D3", "d4=R4", "a4=D4"};
  psdm_robot *r = load_shipped("puma560");
  psdm_model *m = derive(r);
  psdm_symbolic *s = symbols(r, m, COUNT(names), names);
  assert_int_equal(psdm_symbolic_lengths(s), 4);
  assert_true(psdm_symbolic_error(s) <= 1e-12);
  for (int j = 0; j < 40; j++) {
    assert_true(psdm_symbolic_holds(s, j));
    assert_string_equal(psdm_symbolic_text(s, j, PSDM_FORMULA_TEXT),
                        table[j].formula ? table[j].formula : table[j].name);
  }
  assert_string_equal(psdm_symbolic_text(s, 8, PSDM_FORMULA_LATEX),
                      "\\mathit{XX}_{3} - \\mathit{YY}_{3} + \\mathit{YY}_{4} + 2\\,R_{4}\\,\\mathit{mz}_{4} + "
                      "(R_{4}^{2} - D_{4}^{2})\\,(m_{4} + m_{5} + m_{6})");
  psdm_symbolic_free(s);
  psdm_model_free(m);
  psdm_robot_free(r);
}

TEST(minimal_norm) {
  psdm_robot *r = load_shipped("puma560");
  psdm_work *work;
  double pi[66], least[66], Y[6 * 66], q[6], qd[6], qdd[6], norm = 0, before = 0;
  rng g = rng_start("minimal_norm");
  psdm_robot_parameters(r, pi);
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  psdm_base_parameters *p = solve(r, PSDM_SAMPLE_H, PSDM_SOLVER_SVD);
  psdm_base_parameters_minimal(p, pi, least);
  for (int k = 0; k < 66; k++) norm += least[k] * least[k], before += pi[k] * pi[k];
  assert_true(norm < before);
  for (int t = 0; t < 20; t++) { /* the same torques */
    for (int i = 0; i < 6; i++)
      q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -3, 3), qdd[i] = rng_uniform(&g, -3, 3);
    assert_int_equal(psdm_regressor_standard(r, work, q, qd, qdd, Y), PSDM_OK);
    for (int i = 0; i < 6; i++) {
      double difference = 0;
      for (int k = 0; k < 66; k++) difference += Y[66 * i + k] * (least[k] - pi[k]);
      assert_float_equal(difference, 0, 1e-10);
    }
  }
  psdm_base_parameters_free(p);
  psdm_work_free(work, NULL);
  psdm_robot_free(r);
}

/* ---- robots with couplings: the rank of their restricted regressors ---- */

static int rank_of_regressor(const psdm_robot *r, rng *g) {
  int S = psdm_robot_parameter_count(r), n = psdm_robot_n(r), samples = 3 * S / n + 5, rows = samples * n;
  double *A = calloc((size_t)(rows * S), sizeof *A), *Y = calloc((size_t)(n * S), sizeof *Y),
         *R = calloc((size_t)(S * S), sizeof *R);
  double state[3 * 64];
  psdm_work *work;
  psdmp_linalg_columns columns = {.kept = calloc((size_t)S, sizeof(int)),
                                  .beta = calloc((size_t)(S * S), sizeof(double))};
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  for (int s = 0; s < samples; s++) {
    for (int i = 0; i < 3 * n; i++) state[i] = rng_uniform(g, -3, 3);
    assert_int_equal(psdm_regressor_standard(r, work, state, state + n, state + 2 * n, Y), PSDM_OK);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < S; k++) A[(long)k * rows + s * n + i] = Y[i * S + k];
  }
  psdmp_linalg_columns_choose(rows, S, A, NULL, 1e-9, R, &columns);
  int rank = columns.rank;
  psdm_work_free(work, NULL);
  free(A), free(Y), free(R), free(columns.kept), free(columns.beta);
  return rank;
}

/* every model and solver agrees with the structure: which parameters, how, and their values */
static void check_agreement(const psdm_robot *r, const psdm_model *m, bool no_scaling, double tolerance) {
  int l = psdm_model_l(m), S = psdm_model_standard_count(m);
  double *pi = calloc((size_t)S, sizeof *pi), *exact = calloc((size_t)l + 1, sizeof *exact),
         *theta = calloc((size_t)S, sizeof *theta);
  psdm_robot_parameters(r, pi);
  for (int k = 0; k < S; k++)
    if (!isfinite(pi[k])) pi[k] = 0.1 * (k % 7) - 0.2;
  psdm_model_theta(m, pi, exact);
  /* nearly parallel axes: coefficients of millions, so that zeros are not clear-cut */
  double largest = 0;
  for (int j = 0; j < l; j++) {
    row_of_model(m, j, theta);
    largest = fmax(largest, max_absolute(theta, S));
  }
  for (int model = 0; model < 3; model++)
    for (int solver = 0; solver < 2; solver++) {
      psdm_base_parameters *p = solve_samples(r, model, solver, no_scaling);
      if (p->rank != l || p->ranks[0] != l || p->ranks[1] != l || p->ranks[2] != l)
        fail_msg("model %s by %s: l %d (T %d, R %d, sigma %d), exact %d; gaps %g %g %g", sampling_name[model],
                 solver_name[solver], p->rank, p->ranks[0], p->ranks[1], p->ranks[2], l, p->gap[0], p->gap[1],
                 p->gap[2]);
      for (int k = 0; k < S && largest < 1e4; k++)
        if (psdm_base_parameters_fate(p, k) != psdm_model_fate(m, k))
          fail_msg("model %s by %s: fate of parameter %d", sampling_name[model], solver_name[solver], k);
      psdm_base_parameters_theta(p, pi, theta);
      double worst = max_difference(theta, exact, l) / fmax(1, max_absolute(exact, l));
      if (!(worst <= tolerance))
        fail_msg("model %s by %s: theta differs by %g", sampling_name[model], solver_name[solver], worst);
      psdm_base_parameters_free(p);
    }
  free(pi), free(exact), free(theta);
}

TEST(shipped_robots_agree) {
  rng g = rng_start("shipped_robots_agree");
  for (int i = 0; shipped_robots[i]; i++) {
    psdm_robot *r = load_shipped(shipped_robots[i]);
    psdm_model *m = derive(r);
    if (strcmp(shipped_robots[i], "parallelogram") == 0) assert_int_equal(psdm_model_l(m), 8);
    if (!psdm_robot_assumptions(r)) assert_int_equal(psdm_model_l(m), rank_of_regressor(r, &g));
    check_agreement(r, m, false, 1e-9);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* loops that `coupled` cannot express: every way of sampling agrees */
TEST(closed_loops) {
  rng g = rng_start("closed_loops");
  psdm_robot *r = load_shipped("five_bar");
  psdm_model *m;
  double pi[41], first[41], theta[41];
  int rank = rank_of_regressor(r, &g);
  assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_model_l(m), rank);
  assert_int_equal(psdm_robot_parameter_count(r), 41);
  psdm_robot_parameters(r, pi);
  for (int model = 0; model < 3; model++)
    for (int solver = 0; solver < 2; solver++) {
      psdm_base_parameters *p = solve(r, model, solver);
      assert_int_equal(p->rank, rank);
      psdm_base_parameters_theta(p, pi, model + solver ? theta : first);
      if (model + solver) assert_true(max_difference(theta, first, rank) < 1e-9);
      psdm_base_parameters_free(p);
    }
  psdm_robot_parameters(r, pi);
  psdm_model_theta(m, pi, theta);
  assert_true(max_difference(theta, first, rank) < 1e-9);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* planar and spatial loops */
TEST(base_parameters_of_shipped_loops) {
  static const struct {
    const char *name;
    int l;
  } loops[] = {{"pantograph", 7}, {"palletizer", 31}, {"planar_3rrr", 13}, {"delta", 39}, {"stewart", 104}};
  for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
    psdm_robot *r = load_shipped(loops[k].name);
    psdm_model *m;
    psdm_derive_info info;
    assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, &info, NULL), PSDM_OK);
    assert_int_equal(psdm_model_l(m), loops[k].l);
    /* digits between what is kept and what is dropped, and the torques of the base parameters */
    assert_true(info.rank_kept > 1e4 * info.rank_dropped);
    assert_true(info.residual < 1e-9);
    psdm_model_free(m);
    if (k < 3) { /* samples of torques in motion, by other columns and another decision */
      psdm_base_parameters *p = solve(r, 0, 0);
      assert_int_equal(p->rank, loops[k].l);
      psdm_base_parameters_free(p);
    }
    psdm_robot_free(r);
  }
}

/* the base parameters alone are those of the whole derivation, to the bit */
TEST(structure_alone) {
  for (int i = 0; shipped_robots[i]; i++) {
    psdm_robot *r = load_shipped(shipped_robots[i]);
    psdm_model *m = derive(r), *whole;
    assert_int_equal(psdm_model_derive(r, NULL, NULL, &whole, NULL, NULL), PSDM_OK);
    int S = psdm_model_standard_count(m);
    double a[200], b[200];
    assert_true(S <= 200);
    assert_int_equal(psdm_model_l(m), psdm_model_l(whole));
    for (int j = 0; j < psdm_model_l(m); j++) {
      assert_string_equal(psdm_model_base_name(m, j), psdm_model_base_name(whole, j));
      row_of_model(m, j, a);
      row_of_model(whole, j, b);
      assert_memory_equal(a, b, sizeof *a * (size_t)S);
    }
    for (int k = 0; k < S; k++) assert_int_equal(psdm_model_fate(m, k), psdm_model_fate(whole, k));
    psdm_model_free(whole);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* a slide between two offsets that cancel: the last axis falls on the first */
TEST(lengths_that_cancel) {
  psdm_robot *r = parse_robot("convention: dh\njoints:\n  - {a: 0.3}\n  - {type: prismatic, a: -0.3}\n  - {a: 0.2, "
                              "alpha: pi/2}\n  - {a: 0.1}\n");
  psdm_model *m = derive(r);
  check_agreement(r, m, false, 1e-9);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* ---- random robots ---- */

TEST(random_robots) {
  static char text[40000];
  rng g = rng_start("random_robots");
#ifdef SLOW_BUILD
  enum { ROBOTS = 30 };
#else
  enum { ROBOTS = 100 };
#endif
  for (int i = 0; i < ROBOTS; i++) {
    const random_options o = random_kinds(i, 6);
    psdm_robot *r = parse_robot(random_robot_text(&g, &o, text, sizeof text));
    psdm_model *m = derive(r);
    check_agreement(r, m, i % 5, 1e-7); /* scaling takes long */
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* ---- hostile ---- */

TEST(unknown_inertias) {
  psdm_robot *r = parse_robot("convention: dh\njoints:\n  - {a: 0.5, drive_inertia: unknown}\n  - {a: 0.4}\n");
  psdm_model *m = derive(r);
  psdm_symbolic *s = symbols(r, m, 0, NULL);
  psdm_base_parameters *p = solve(r, PSDM_SAMPLE_D, PSDM_SOLVER_QR);
  double pi[21], theta[21];
  assert_int_equal(p->rank, psdm_model_l(m));
  assert_string_equal(psdm_symbolic_text(s, 0, PSDM_FORMULA_TEXT), "ZZ1 + Ia1 + 2*a1*mx1 + a1^2*(m1 + m2)");
  psdm_robot_parameters(r, pi);
  psdm_base_parameters_theta(p, pi, theta);
  for (int j = 0; j < p->rank; j++) assert_true(isnan(theta[j]));
  psdm_base_parameters_free(p);
  psdm_symbolic_free(s);
  psdm_model_free(m);
  psdm_robot_free(r);
}

static void refused(const char *text, int status) {
  psdm_robot *r = parse_robot(text);
  psdm_base_parameters *p = (psdm_base_parameters *)&p;
  psdm_error error;
  assert_int_equal(psdm_base_parameters_solve(r, NULL, NULL, &p, &error), status);
  assert_null(p);
  assert_int_equal(error.status, status);
  psdm_robot_free(r);
}

TEST(hostile) {
  char *text = malloc(20000), *at = text;
  psdm_base_parameters *p;
  psdm_error error;
  refused("convention: dh\njoints:\n  - {a: 1e200}\n  - {a: 1e200, alpha: pi/2}\n", PSDM_E_ROBOT);
  at += sprintf(at, "convention: dh\njoints:\n");
  for (int i = 0; i < 101; i++) at += sprintf(at, "  - {a: 0.1}\n");
  refused(text, PSDM_E_LIMIT);
  free(text);
  /* one joint with gravity along its axis: a single parameter */
  psdm_robot *r = parse_robot("convention: dh\njoints:\n  - {type: revolute}\n");
  for (int model = 0; model < 3; model++) {
    p = solve(r, model, PSDM_SOLVER_SVD);
    assert_int_equal(p->rank, 1);
    assert_int_equal(p->columns, 1);
    assert_true(isinf(p->gap[0]));
    psdm_base_parameters_free(p);
  }
  const psdm_base_parameters_options nonsense = {.sampling = (psdm_sampling)7};
  assert_int_equal(psdm_base_parameters_solve(r, &nonsense, NULL, &p, &error), PSDM_E_ARGUMENT);
  const char *const no_such_link[] = {"Ixx9 = 0"};
  assert_int_equal(psdm_base_parameters_solve(
                       r, &(psdm_base_parameters_options){.assume_count = 1, .assume = no_such_link}, NULL, &p, &error),
                   PSDM_E_PARSE);
  psdm_base_parameters_free(NULL);
  psdm_symbolic_free(NULL);
  psdm_robot_free(r);
}

/* assumptions: the sampled models restrict like the derivation */
TEST(assumptions) {
  static const char *const assume[] = {"Ixx3 = Iyy3", "rz4 = 0", "Ixz2 = 0", "m5 = 0"};
  psdm_robot *r = load_shipped("puma560");
  psdm_model *m;
  const psdm_derive_options o = {.assume_count = COUNT(assume), .assume = assume};
  assert_int_equal(psdm_base_parameters_derive(r, &o, NULL, &m, NULL, NULL), PSDM_OK);
  for (int model = 0; model < 3; model++)
    for (int solver = 0; solver < 2; solver++) {
      psdm_base_parameters *p;
      const psdm_base_parameters_options po = {.sampling = (psdm_sampling)model,
                                               .solver = (psdm_solver)solver,
                                               .assume_count = COUNT(assume),
                                               .assume = assume};
      assert_int_equal(psdm_base_parameters_solve(r, &po, NULL, &p, NULL), PSDM_OK);
      assert_int_equal(p->rank, psdm_model_l(m));
      for (int k = 0; k < 66; k++) assert_int_equal(psdm_base_parameters_fate(p, k), psdm_model_fate(m, k));
      psdm_base_parameters_free(p);
    }
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* the n-th allocation fails, for every n (some are skipped when there are many): a clean answer each time, and nothing
 * leaks */
TEST(memory_runs_out) {
  static const char *const rename[] = {"a1=L1"};
  psdm_robot *r = load_shipped("two_link");
  for (int kind = 0; kind < 3; kind++)
    for (long n = 1;; n++) {
      counting c;
      psdm_error error;
      psdm_model *m = NULL, *mine;
      psdm_base_parameters *p = NULL;
      psdm_symbolic *s = NULL;
      psdm_status status;
      counting_init(&c, n);
      assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, NULL), PSDM_OK);
      if (kind == 0) {
        status = psdm_base_parameters_derive(r, NULL, &c.allocator, &mine, NULL, &error);
        psdm_model_free(mine);
      } else if (kind == 1) {
        status = psdm_base_parameters_solve(
            r, &(psdm_base_parameters_options){.sampling = PSDM_SAMPLE_D0, .no_scaling = true}, &c.allocator, &p,
            &error);
        psdm_base_parameters_free(p);
      } else {
        status = psdm_symbolic_derive(r, m, &(psdm_symbolic_options){.rename_count = 1, .rename = rename}, &c.allocator,
                                      &s, &error);
        psdm_symbolic_free(s);
      }
      psdm_model_free(m);
      assert_int_equal(c.live, 0);
      if (c.calls < n) {
        assert_int_equal(status, PSDM_OK);
        break;
      }
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_int_equal(error.status, PSDM_E_MEMORY);
    }
  psdm_robot_free(r);
}

TEST_MAIN(gautier_by_structure, gautier_by_numbers, gautier_by_symbols, minimal_norm, shipped_robots_agree,
          closed_loops, base_parameters_of_shipped_loops, structure_alone, lengths_that_cancel, random_robots,
          unknown_inertias, hostile, assumptions, memory_runs_out)
