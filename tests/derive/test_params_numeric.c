/* Base parameters from samples: the matrix of samples against a plain twin, entry by entry, and the results of its
 * factorisations: diagonals, singular vectors, shares, tolerances and gaps by their definitions. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/base_numeric_priv.h"
#include "psdm/rigid.h"
#include "support.h"

enum { JOINTS = 9, STANDARD = 11 * JOINTS, SAMPLES = 2 * STANDARD + 4 };

/* ---- the plain twin ---- */

typedef struct twin {
  psdm_robot *robot; /* whose parameters are unit vectors in turn */
  psdm_work *work;
  psdm_sampling kind;
  psdmp_base_arena arena;
  psdmp_derive_restriction assumed;
  int n, S, height, vectors, samples;
  double reach;
  double x[SAMPLES][4 * JOINTS], rows[SAMPLES][JOINTS * STANDARD];
  bool there[JOINTS * STANDARD];
  double spread[2]; /* before and after */
} twin;

static bool slides(const psdm_robot *r, int i) {
  for (int j = 0; j < r->joints; j++)
    if (r->joint[j].q == i) return r->joint[j].type == PSDM_PRISMATIC;
  return false;
}

static psdm_status energies(const twin *t, const double *q, const double *qd, double sign, double *row) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < t->S && !status; k++) {
    double pi[STANDARD] = {0}, kinetic, potential;
    pi[k] = 1;
    psdm_robot_set_parameters(t->robot, pi);
    status = psdm_energy(t->robot, t->work, q, qd, &kinetic, &potential);
    row[k] += sign * (kinetic + potential);
  }
  return status;
}

/* torques, torques at rest or a difference of energies at the state encoded by x in [-1, 1], lengths in units of the
 * reach */
static psdm_status rows_at(const twin *t, const double *x, double *rows) {
  static const double size[3][4] = {{3.14159, 3, 5, 0}, {3.14159, 5, 0, 0}, {3.14159, 3, 3.14159, 3}};
  static const int rate[3][4] = {{0, 1, 2, 0}, {0, 2, 0, 0}, {0, 1, 0, 1}};
  const double still[JOINTS] = {0};
  double state[4][JOINTS], raw[JOINTS * STANDARD] = {0};
  int n = t->n, S = t->S;
  for (int v = 0; v < t->vectors; v++)
    for (int i = 0; i < n; i++) {
      double unit = slides(t->robot, i) ? t->reach : 1,
             most = rate[t->kind][v] == 0 && slides(t->robot, i) ? 1 : size[t->kind][v];
      state[v][i] = x[v * n + i] * most * unit / pow(sqrt(t->reach), rate[t->kind][v]);
    }
  psdm_status status;
  if (t->kind == PSDM_SAMPLE_H) {
    status = energies(t, state[0], state[1], 1, raw);
    if (!status) status = energies(t, state[2], state[3], -1, raw);
  } else {
    status = psdm_regressor_standard(t->robot, t->work, state[0], t->kind == PSDM_SAMPLE_D ? state[1] : still,
                                     t->kind == PSDM_SAMPLE_D ? state[2] : state[1], raw);
  }
  for (int i = 0; i < t->height && !status; i++)
    for (int k = 0; k < S; k++) {
      double value = t->assumed.B ? 0 : raw[i * S + k];
      for (int e = 0; e < t->assumed.count && t->assumed.B; e++)
        for (int c = 0; c < S && t->assumed.param[e] == k; c++) value += t->assumed.B[e * S + c] * raw[i * S + c];
      rows[i * S + k] = value * pow(t->reach, psdmp_derive_length_degree(t->robot, k)) /
                        (t->kind != PSDM_SAMPLE_H && slides(t->robot, i) ? 1 : t->reach);
    }
  return status;
}

static void extremes(const twin *t, const double *rows, double *low, double *high) {
  for (int e = 0; e < t->height * t->S; e++)
    if (t->there[e]) *low = fmin(*low, fabs(rows[e])), *high = fmax(*high, fabs(rows[e]));
}

static double spread(const twin *t) {
  double low = INFINITY, high = 0;
  for (int s = 0; s < t->samples; s++) extremes(t, t->rows[s], &low, &high);
  return high / low;
}

static double badness(const twin *t, const double *rows, double usual) {
  double low = INFINITY, high = 0;
  extremes(t, rows, &low, &high);
  return low > 0 ? log(high / low) + 0.3 * fabs(log(high / usual)) : INFINITY;
}

/* random steps that improve, larger after a success */
static void improve(const twin *t, uint64_t *seed, double usual, double *x, double *rows) {
  int tries = t->n <= 8 ? 200 : 100000 / (t->n * t->n * t->n), count = t->vectors * t->n;
  double best = badness(t, rows, usual), step = 0.3, other[4 * JOINTS], made[JOINTS * STANDARD];
  for (int trial = 0; trial < tries && best > log(20); trial++) {
    for (int i = 0; i < count; i++) {
      other[i] = x[i] + step * psdmp_base_random(seed, -1, 1);
      if (other[i] > 1) other[i] = 2 - other[i];
      if (other[i] < -1) other[i] = -2 - other[i];
    }
    double now = rows_at(t, other, made) ? INFINITY : badness(t, made, usual);
    if (now < best) {
      best = now;
      step = fmin(1.5 * step, 0.5);
      memcpy(x, other, sizeof *x * (size_t)count);
      memcpy(rows, made, sizeof *rows * (size_t)(t->height * t->S));
    } else {
      step = fmax(0.93 * step, 0.01);
    }
  }
}

/* slightly more than twice as many rows as columns; draws, nonzero rows, then the improvements */
static void sample(twin *t, bool scaling) {
  uint64_t seed = 5;
  double largest = 0, usual = 0;
  t->samples = (2 * t->S + t->height - 1) / t->height + 2;
  assert_true(t->samples <= SAMPLES && t->n <= JOINTS && t->S <= STANDARD);
  for (int s = 0; s < t->samples; s++) {
    do
      for (int i = 0; i < t->vectors * t->n; i++) t->x[s][i] = psdmp_base_random(&seed, -1, 1);
    while (rows_at(t, t->x[s], t->rows[s]));
    double most = max_absolute(t->rows[s], t->height * t->S);
    largest = fmax(largest, most);
    usual += most / t->samples;
  }
  memset(t->there, 0, sizeof t->there);
  for (int s = 0; s < t->samples; s++)
    for (int e = 0; e < t->height * t->S; e++) t->there[e] |= fabs(t->rows[s][e]) > 1e-12 * largest;
  t->spread[0] = spread(t);
  for (int s = 0; s < t->samples && scaling; s++) improve(t, &seed, usual, t->x[s], t->rows[s]);
  t->spread[1] = spread(t);
}

static int find(const psdm_robot *r, const char *name) {
  char text[32];
  for (int k = 0; k < psdm_robot_parameter_count(r); k++)
    if (strcmp(psdm_robot_parameter_name(r, k, text, sizeof text), name) == 0) return k;
  return -1;
}

/* in a link XX XY XZ YY YZ ZZ mx my mz m Ia; columns without rows are left out */
static int columns_of(const twin *t, int *column) {
  static const char *const kinds[] = {"XX", "XY", "XZ", "YY", "YZ", "ZZ", "mx", "my", "mz", "m", "Ia"};
  int count = 0;
  for (int link = 1; link <= t->robot->bodies; link++)
    for (int kind = 0; kind < 11; kind++) {
      char name[16];
      text_writer w = {name, sizeof name};
      text_put(&w, "%s%d", kinds[kind], link);
      int k = find(t->robot, name);
      bool there = false;
      for (int i = 0; i < t->height && k >= 0; i++) there |= t->there[i * t->S + k];
      if (there) column[count++] = k;
    }
  return count;
}

static void expect(double x, double expected, double tolerance, const char *what, long index) {
  if (!(fabs(x - expected) <= tolerance)) fail_msg("%s %ld: %.17g, %.17g was expected", what, index, x, expected);
}

/* ---- properties of a matrix ---- */

/* Gram-Schmidt over the columns in their order, or the longest remainder first; lengths of the remainders. Zero
 * directions are not removed. */
static void lengths_left(const psdmp_derive_samples *w, bool pivots, double nothing, double *left) {
  int r = w->rows, c = w->columns;
  double *A = malloc(sizeof *A * (size_t)(r * c));
  bool done[STANDARD] = {false};
  memcpy(A, w->W, sizeof *A * (size_t)(r * c));
  for (int step = 0; step < c; step++) {
    int best = -1;
    double most = -1;
    for (int k = 0; k < c; k++) {
      double size = 0;
      for (int i = 0; i < r; i++) size += A[k * r + i] * A[k * r + i];
      if (!done[k] && (pivots ? size > most : best < 0)) best = k, most = size;
    }
    done[best] = true;
    left[step] = sqrt(most);
    for (int turn = 0; turn < 2 && left[step] > nothing; turn++)
      for (int k = 0; k < c; k++) {
        double dot = 0;
        if (done[k]) continue;
        for (int i = 0; i < r; i++) dot += A[k * r + i] * A[best * r + i];
        for (int i = 0; i < r; i++) A[k * r + i] -= dot / most * A[best * r + i];
      }
  }
  free(A);
}

static int descending(const void *a, const void *b) {
  return (*(const double *)a < *(const double *)b) - (*(const double *)a > *(const double *)b);
}

/* the b-th by size over the next */
static double gap(const double *x, int count, int b) {
  double sorted[STANDARD];
  for (int i = 0; i < count; i++) sorted[i] = fabs(x[i]);
  qsort(sorted, (size_t)count, sizeof *sorted, descending);
  return b > 0 && b < count && sorted[b] != 0 ? sorted[b - 1] / sorted[b] : INFINITY;
}

static void expect_diagonals(const psdm_base_parameters *p, const psdmp_derive_samples *w) {
  double left[STANDARD], biggest = p->sigma[0];
  int c = p->columns, above[3] = {0, 0, 0};
  lengths_left(w, true, 0, left);
  for (int i = 0; i < c; i++)
    if (left[i] > 1e-10 * biggest) expect(fabs(p->T[i]), left[i], 1e-9 * biggest, "T", i);
  lengths_left(w, false, p->tau[1], left);
  for (int i = 0; i < c; i++) expect(p->R[i], left[i], 1e-9 * biggest, "R", i);
  expect(p->tau[0], w->rows * DBL_EPSILON * fabs(p->T[0]), 1e-10 * p->tau[0], "tau", 0);
  expect(p->tau[2], w->rows * DBL_EPSILON * p->sigma[0], 1e-10 * p->tau[2], "tau", 2);
  int b = p->ranks[0];
  expect(p->tau[1], b < c ? sqrt(fabs(p->T[b - 1]) * fmax(fabs(p->T[b]), 0.01 * p->tau[0])) : p->tau[0],
         1e-10 * p->tau[1], "tau", 1);
  for (int i = 0; i < c; i++)
    above[0] += fabs(p->T[i]) > p->tau[0], above[1] += p->R[i] > p->tau[1], above[2] += p->sigma[i] > p->tau[2];
  for (int k = 0; k < 3; k++) assert_int_equal(p->ranks[k], above[k]);
  const double *const diagonal[3] = {p->T, p->R, p->sigma};
  for (int k = 0; k < 3; k++) {
    double expected = gap(diagonal[k], c, p->ranks[k == 1 ? 0 : k]);
    assert_true(expected == p->gap[k] || fabs(p->gap[k] - expected) <= 1e-12 * expected);
  }
}

/* |W v| = sigma, W v orthogonal to the others and of all of W; V2 N has the length of N and is orthogonal to V1 and to
 * every column of W */
static void expect_vectors(const psdm_base_parameters *p, const psdmp_derive_samples *w) {
  int c = p->columns, r = w->rows, b = p->rank;
  double squares = 0, all = 0, random = 0, length = 0;
  uint64_t seed = 9;
  for (long i = 0; i < (long)r * c; i++) all += w->W[i] * w->W[i];
  for (int i = 0; i < c; i++) squares += p->sigma[i] * p->sigma[i], length += p->V2N[i] * p->V2N[i];
  expect(squares, all, 1e-12 * all, "squares", 0);
  for (int k = b; k < c; k++) {
    double N = psdmp_base_random(&seed, -1, 1);
    random += N * N;
  }
  expect(length, random, 1e-12 * c, "V2N", 0);
  for (int k = 0; k <= b; k++) {
    const double *v = k < b ? p->V1 + (long)k * c : p->V2N;
    double size = 0;
    for (int i = 0; i < r; i++) {
      double sum = 0;
      for (int e = 0; e < c; e++) sum += w->W[(long)e * r + i] * v[e];
      size += sum * sum;
    }
    expect(sqrt(size), k < b ? p->sigma[k] : 0, 1e-12 * p->sigma[0] * c, "W v", k);
    for (int e = 0; e < b; e++) {
      double dot = 0;
      for (int i = 0; i < c; i++) dot += v[i] * p->V1[(long)e * c + i];
      expect(dot, k == e, 1e-12, "v v", k);
    }
  }
}

/* every eliminated column is the combination of kept ones given by its shares; fates, sums and the least norm follow */
static void expect_shares(const psdm_base_parameters *p, const psdmp_derive_samples *w) {
  int c = p->columns, r = w->rows, b = p->rank, e = c - b, at[2] = {0, 0}, in[STANDARD] = {0}, kept[STANDARD] = {0},
      own[STANDARD] = {0};
  double pi[STANDARD] = {0}, theta[STANDARD], least[STANDARD], size = max_absolute(w->W, r * c);
  rng g = {7};
  for (int k = 0; k < p->standard; k++) pi[k] = rng_uniform(&g, -1, 1);
  for (int k = 0; k < c; k++) {
    assert_true((at[0] < b && p->kept[at[0]] == k) != (at[1] < e && p->dropped[at[1]] == k));
    at[at[0] < b && p->kept[at[0]] == k ? 0 : 1]++;
  }
  psdm_base_parameters_theta(p, pi, theta);
  for (int j = 0; j < b; j++) {
    double sum = pi[p->column[p->kept[j]]];
    for (int k = 0; k < e; k++) {
      double share = p->beta[(long)j * e + k];
      sum += share * pi[p->column[p->dropped[k]]];
      own[j] += share != 0;
    }
    expect(theta[j], sum, 1e-13 * (1 + fabs(sum)), "theta", j);
    kept[p->column[p->kept[j]]] = 1 + (own[j] > 0);
  }
  for (int k = 0; k < e; k++) {
    int column = p->dropped[k];
    in[p->column[column]] = 1;
    for (int i = 0; i < r; i++) {
      double sum = 0;
      for (int j = 0; j < b; j++)
        sum += p->beta[(long)j * e + k] * w->W[(long)p->kept[j] * r + i] / w->unit[p->kept[j]];
      expect(sum * w->unit[column], w->W[(long)column * r + i], 1e-10 * size, "share", k);
    }
  }
  for (int k = 0; k < p->standard; k++)
    assert_int_equal(psdm_base_parameters_fate(p, k), in[k]          ? PSDM_FATE_REGROUPED
                                                      : kept[k] == 2 ? PSDM_FATE_GROUPED_INTO
                                                      : kept[k]      ? PSDM_FATE_UNCHANGED
                                                                     : PSDM_FATE_NO_EFFECT);
  assert_true(psdm_base_parameters_fate(p, -1) == PSDM_FATE_NO_EFFECT &&
              psdm_base_parameters_fate(p, p->standard) == PSDM_FATE_NO_EFFECT);
  /* least norm: the same torques, nothing along V2 */
  psdm_base_parameters_minimal(p, pi, least);
  double along = 0, off = 0;
  for (int k = 0; k < c; k++) along += least[p->column[k]] / w->unit[k] * p->V2N[k];
  for (int i = 0; i < r; i++) {
    double sum = 0;
    for (int k = 0; k < c; k++) sum += w->W[(long)k * r + i] * (least[p->column[k]] - pi[p->column[k]]) / w->unit[k];
    off = fmax(off, fabs(sum));
  }
  double largest = 0;
  for (int k = 0; k < c; k++) largest = fmax(largest, fabs(pi[p->column[k]]) / w->unit[k]);
  expect(along, 0, 1e-11 * largest * c, "along V2", 0);
  expect(off, 0, 1e-11 * largest * size * c, "least norm", 0);
}

/* ---- robots ---- */

static const struct subject {
  const char *robot; /* NULL: the five-bar linkage */
  int assume_count;
  const char *assume[3];
  bool scaled[3]; /* kinds whose improvements are checked too */
} subjects[] = {
    {"gravity: [1, 2, -9]\njoints: [{a: 3, alpha: 0.4, drive_inertia: 0.2}, {type: prismatic, a: 2, alpha: pi/2, "
     "drive_inertia: 0.3}, {a: 2, d: 1}]",
     0,
     {0},
     {true, true, false}},
    {"joints: [{name: a, a: 0.03, alpha: pi/2}, {name: b, a: 0.02, drive_inertia: 1e-3}, {name: c, parent: a, type: "
     "prismatic, a: 0.05, alpha: 0.3}]",
     3,
     {"rx2 = 0", "Ixx1 = Iyy1", "Ixy3 = 0"},
     {true, false, false}},
    {"gravity: [0, 3, 4]\njoints: [{a: 0.3, alpha: 0.5, drive_inertia: 0.1}]", 0, {0}, {true, true, true}},
    {"gravity: [0, 0, 0]\njoints: [{a: 0.7, alpha: 0.5}, {a: 0.4}]", 0, {0}, {false, true, false}},
    {NULL, 0, {0}, {false, false, false}},
    {"joints: [{a: 1, alpha: pi/2}, {type: prismatic}, {a: 1}, {type: prismatic}, {type: prismatic, alpha: pi/2}, "
     "{type: prismatic}, {type: prismatic}, {type: prismatic, alpha: pi/2}, {a: 1}]",
     0,
     {0},
     {false, true, false}},
};

static psdm_robot *robot_of(const struct subject *s) {
  char text[2000];
  text_writer w = {text, sizeof text};
  if (!s->robot) return load_shipped("five_bar");
  text_put(&w, "convention: dh\n%s\n", s->robot);
  return parse_robot(text);
}

static void samples_and_factors(void **state) {
  (void)state;
  static twin t;
  for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
    for (int kind = 0; kind < 3; kind++)
      for (int scaling = 0; scaling <= subjects[k].scaled[kind]; scaling++) {
        psdm_robot *r = robot_of(&subjects[k]);
        psdm_error error;
        const psdm_derive_options assume = {.assume_count = subjects[k].assume_count, .assume = subjects[k].assume};
        psdm_base_parameters_options o = {.sampling = (psdm_sampling)kind,
                                          .no_scaling = !scaling,
                                          .assume_count = subjects[k].assume_count,
                                          .assume = subjects[k].assume};
        if (psdm_robot_n(r) > 3 && (kind != PSDM_SAMPLE_D0 || !scaling)) { /* one of nine joints is enough */
          psdm_robot_free(r);
          continue;
        }
        t.kind = o.sampling, t.robot = robot_of(&subjects[k]), t.n = psdm_robot_n(r),
        t.S = psdm_robot_parameter_count(r);
        t.height = kind == PSDM_SAMPLE_H ? 1 : t.n, t.vectors = kind == PSDM_SAMPLE_D    ? 3
                                                                : kind == PSDM_SAMPLE_D0 ? 2
                                                                                         : 4;
        t.arena = (psdmp_base_arena){.allocator = NULL};
        t.reach = psdmp_derive_reach(r, &t.arena);
        assert_int_equal(psdmp_derive_restriction_set(r, &assume, &t.arena, &t.assumed, &error), PSDM_OK);
        assert_int_equal(psdm_work_new(t.robot, NULL, &t.work), PSDM_OK);
        sample(&t, scaling);
        psdmp_derive_samples w;
        if (psdmp_derive_samples_take(r, &o, &t.arena, &w, &error)) fail_msg("%s", error.text);
        int column[STANDARD];
        assert_int_equal(w.columns, columns_of(&t, column));
        assert_int_equal(w.rows, t.samples * t.height);
        for (int c = 0; c < w.columns; c++) {
          assert_int_equal(w.column[c], column[c]);
          assert_true(w.unit[c] == pow(t.reach, psdmp_derive_length_degree(r, column[c])));
          for (int i = 0; i < w.rows; i++) {
            const double *row = t.rows[i / t.height] + i % t.height * t.S;
            expect(w.W[(long)c * w.rows + i], row[column[c]], 1e-12 * max_absolute(row, t.S), "W",
                   (long)c * w.rows + i);
          }
        }
        /* the smallest entries are differences of larger ones */
        expect(w.spread_random, t.spread[0], 1e-6 * t.spread[0], "random spread", kind);
        expect(w.spread, t.spread[1], 1e-6 * t.spread[1], "spread", kind);
        for (int solver = 0; solver < 2; solver++) {
          psdm_base_parameters *p;
          o.solver = (psdm_solver)solver;
          if (psdm_base_parameters_solve(r, &o, NULL, &p, &error)) fail_msg("%s", error.text);
          assert_true(p->standard == t.S && p->rows == w.rows && p->columns == w.columns &&
                      p->rank == p->ranks[solver ? 2 : 0]);
          assert_true(p->spread == w.spread && p->spread_random == w.spread_random);
          assert_memory_equal(p->column, w.column, sizeof *w.column * (size_t)w.columns);
          expect_diagonals(p, &w);
          expect_vectors(p, &w);
          expect_shares(p, &w);
          psdm_base_parameters_free(p);
        }
        psdm_work_free(t.work, NULL);
        psdmp_base_arena_free(&t.arena);
        psdm_robot_free(t.robot);
        psdm_robot_free(r);
      }
}

/* the memory of a robot bounds its samples too */
static void too_little_memory(void **state) {
  (void)state;
  const psdm_robot_options little = {.memory = 20000};
  const char text[] = "convention: dh\njoints: [{a: 1}, {a: 1, alpha: pi/2}, {a: 1}]\n";
  psdm_robot *r;
  psdm_base_parameters *p;
  psdm_error error;
  assert_int_equal(psdm_robot_parse(text, sizeof text - 1, "small", &little, NULL, &r, &error), PSDM_OK);
  assert_int_equal(psdm_base_parameters_solve(r, NULL, NULL, &p, &error), PSDM_E_LIMIT);
  assert_null(p);
  /* 22 samples of three rows, 30 columns, 17 times */
  assert_non_null(strstr(error.text, "the matrix of samples needs about 269 kB"));
  psdm_robot_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(samples_and_factors), cmocka_unit_test(too_little_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
