/* Fits with a prior: the surrogate against its plain rows, the consistent one against its own equations and against a
 * different solver. */
#include <complex.h>
#include <lapacke.h>
#include <time.h>

#undef I
#include "test_fit_problem.h"

enum { MOST = STANDARD_MOST + OWN_MOST * JOINTS_MOST };

/* ---- cases ---- */

typedef struct case_of {
  problem p;
  double pi[STANDARD_MOST], phi[OWN_MOST * JOINTS_MOST], prior[STANDARD_MOST], sigma[JOINTS_MOST];
  bool flags[OWN_MOST];
  const bool *nonnegative[JOINTS_MOST];
  psdmp_fit_options options;
} case_of;

static const char *const arms[] = {"kuka_kr6", "puma560", "seven", "two_branch", NULL};

static psdm_robot *arm(const char *name) { return strcmp(name, "seven") ? load_shipped(name) : seven_joints(); }

/* a consistent robot of random bodies, or one that cannot exist; balls for a prior */
static void case_new(case_of *c, rng *g, const char *name, long each, int extras, double noise, bool possible) {
  psdm_robot *robot = arm(name);
  int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot), links = (S - psdm_robot_drives(robot)) / 10;
  memset(c, 0, sizeof *c);
  for (int k = 0; k < links; k++) {
    random_body(g, 5.0 / (1 + 0.3 * k), 0.15, c->pi + 10 * k);
    if (!possible) c->pi[10 * k + 4] *= -0.3;
    ball(3, 0.15, c->prior + 10 * k);
  }
  for (int d = 10 * links; d < S; d++) c->pi[d] = rng_uniform(g, 0.01, 0.3), c->prior[d] = 0.1;
  for (int i = 0; i < n * extras; i++) c->phi[i] = rng_uniform(g, 0.1, 3);
  robot_problem(&c->p, g, robot, each, extras, c->pi, c->phi, noise);
  c->flags[0] = c->flags[1] = true;
  for (int j = 0; j < n; j++) c->sigma[j] = noise > 0 ? noise : 1e-3, c->nonnegative[j] = c->flags;
  c->options = (psdmp_fit_options){
      .sigma = c->sigma, .prior = c->prior, .lambda = 1, .nonnegative = c->nonnegative, .drives_nonnegative = true};
  psdm_robot_free(robot);
}

typedef struct answer {
  double theta[BASE_MOST], pi[STANDARD_MOST], phi[OWN_MOST * JOINTS_MOST], cost[JOINTS_MOST];
  psdmp_fit fit;
} answer;

typedef psdm_status estimator(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                              psdmp_fit *fit);

static psdm_status estimate(estimator *run, const case_of *c, double *covariance, answer *a) {
  double *scratch = scratch_of(psdmp_fit_scratch(&c->p.rows));
  a->fit = (psdmp_fit){.theta = a->theta, .pi = a->pi, .phi = a->phi, .cost = a->cost, .covariance = covariance};
  psdm_status status = run(&c->p.rows, &c->options, scratch, &a->fit);
  fenced_free(scratch);
  return status;
}

static int positives(const case_of *c) {
  int sum = c->options.drives_nonnegative ? c->p.rows.standard - 10 * c->p.rows.links : 0;
  for (int j = 0; j < c->p.rows.n && c->options.nonnegative; j++)
    for (int k = 0; k < c->p.extras[j]; k++) sum += c->options.nonnegative[j][k];
  return sum;
}

static double weighted_cost(const case_of *c, const answer *a) {
  double sum = 0;
  for (int j = 0; j < c->p.rows.n; j++) sum += a->cost[j] / (c->sigma[j] * c->sigma[j]);
  return sum;
}

/* properties of every answer: theta follows from pi, the cost is that of all rows */
static void check_answer(const case_of *c, const answer *a) {
  const psdmp_fit_rows *r = &c->p.rows;
  for (int i = 0; i < r->base; i++) {
    double sum = 0, size = 0;
    for (int k = 0; k < r->standard; k++)
      sum += r->K[i * r->standard + k] * a->pi[k], size += fabs(r->K[i * r->standard + k] * a->pi[k]);
    assert_true(fabs(sum - a->theta[i]) <= 1e-14 * size);
  }
  for (int j = 0; j < r->n; j++) {
    double plain = plain_cost(&c->p, j, a->theta, a->phi);
    assert_true(fabs(plain - a->cost[j]) <= 1e-9 * plain + 1e-20);
  }
}

/* ---- 4 x 4 ---- */

static void test_pseudo_inertia(void **unused) {
  (void)unused;
  rng g = rng_start("fit pseudo");
  double worst = 0;
  for (int trial = 0; trial < 200; trial++) {
    double pi[10], prior[10], P[16], Q[16], inverse[16], trace = -4;
    random_body(&g, 3, 0.2, pi);
    random_body(&g, 2, 0.3, prior);
    psdmp_fit_pseudo_inertia(pi, P);
    psdmp_fit_pseudo_inertia(prior, Q);
    /* a point at r has the pseudo-inertia [r; 1][r; 1]^T m: sums of them are what random_body made */
    assert_true(P[15] == pi[0] && P[3] == pi[1] && P[12] == pi[1] && P[1] == -pi[5]);
    assert_true(fabs(P[5] + P[10] - pi[4]) <= 1e-15 * pi[4] && fabs(P[0] + P[10] - pi[7]) <= 1e-15 * pi[7] &&
                fabs(P[0] + P[5] - pi[9]) <= 1e-15 * pi[9]);
    assert_true(psdmp_fit_pseudo_positive(pi));
    /* D by LAPACK's determinants and an inverse */
    invert4(Q, inverse);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) trace += inverse[4 * i + j] * P[4 * j + i];
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', 4, P, 4), 0);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', 4, Q, 4), 0);
    for (int i = 0; i < 4; i++) trace += 2 * log(Q[5 * i] / P[5 * i]);
    worst = fmax(worst, fabs(trace - psdmp_fit_divergence(1, prior, pi)) / trace);
    assert_true(psdmp_fit_divergence(1, pi, pi) <= 1e-14);
    pi[0] = -1;
    assert_false(psdmp_fit_pseudo_positive(pi));
    assert_true(isinf(psdmp_fit_divergence(1, prior, pi)));
    pi[0] = NAN;
    assert_false(psdmp_fit_pseudo_positive(pi));
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-10); /* an inverse of condition 10^4 */
}

/* ---- surrogate ---- */

/* rows of the pull: sqrt(lambda) L0^-1 E_a L0^-T, right side sqrt(lambda) 1 */
static void pull_rows(double lambda, const double *prior, int first, double *A, long rows, double *b) {
  double L[16];
  psdmp_fit_pseudo_inertia(prior, L);
  assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', 4, L, 4), 0);
  for (int a = 0; a < 10; a++) {
    double E[16], T[16];
    unit_body(a, E);
    for (int pass = 0; pass < 2; pass++) { /* L^-1 E, transposed, twice */
      for (int c = 0; c < 4; c++)
        for (int i = 0; i < 4; i++) {
          for (int k = 0; k < i; k++) E[4 * i + c] -= L[4 * i + k] * E[4 * k + c];
          E[4 * i + c] /= L[5 * i];
        }
      for (int i = 0; i < 16; i++) T[i] = E[4 * (i % 4) + i / 4];
      memcpy(E, T, sizeof E);
    }
    for (int i = 0; i < 16; i++) A[i + (long)(first + a) * rows] = sqrt(lambda) * E[i];
  }
  for (int i = 0; i < 4; i++) b[5 * i] = sqrt(lambda);
}

static void test_surrogate(void **unused) {
  (void)unused;
  rng g = rng_start("fit surrogate");
  double worst = 0;
  for (int trial = 0; trial < 6; trial++) {
    case_of c;
    answer a;
    case_new(&c, &g, arms[trial % 4], 120, 3, 0.1, trial % 2);
    c.options.lambda = pow(10, rng_uniform(&g, -1, 2));
    c.options.ridge = 1e-4;
    int S = c.p.rows.standard, M = S + c.p.own, links = c.p.rows.links, n = c.p.rows.n;
    long data = n * c.p.each, rows = data + 16 * links + M;
    double *A = calloc((size_t)(rows * M), sizeof *A), *b = calloc((size_t)rows, sizeof *b), row[MOST], length[MOST],
           scale[MOST];
    for (int j = 0; j < n; j++)
      for (long i = 0; i < c.p.each; i++) {
        b[j * c.p.each + i] = plain_row(&c.p, c.sigma, j, i, row);
        for (int k = 0; k < M; k++) A[j * c.p.each + i + k * rows] = row[k];
      }
    for (int k = 0; k < links; k++)
      pull_rows(c.options.lambda, c.prior + 10 * k, 10 * k, A + data + 16 * k, rows, b + data + 16 * k);
    plain_lengths(&c.p, c.sigma, length);
    for (int k = 10 * links; k < M; k++) {
      A[data + 16 * links + k + k * rows] = c.options.ridge * length[k];
      b[data + 16 * links + k] = k < S ? c.options.ridge * length[k] * c.prior[k] : 0;
    }
    for (int k = 0; k < M; k++) {
      scale[k] = 0;
      for (long i = 0; i < rows; i++) scale[k] = hypot(scale[k], A[i + k * rows]);
      for (long i = 0; i < rows; i++) A[i + k * rows] /= scale[k];
    }
    assert_int_equal(LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (int)rows, M, 1, A, (int)rows, b, (int)rows), 0);
    assert_int_equal(estimate(psdmp_fit_surrogate, &c, NULL, &a), PSDM_OK);
    check_answer(&c, &a);
    double size = max_absolute(b, M);
    for (int k = 0; k < M; k++) worst = fmax(worst, fabs((k < S ? a.pi[k] : a.phi[k - S]) * scale[k] - b[k]) / size);
    bool feasible = true;
    for (int k = 0; k < links; k++) feasible = feasible && psdmp_fit_pseudo_positive(a.pi + 10 * k);
    if (!feasible) assert_false(a.fit.feasible);
    free(b);
    free(A);
    problem_free(&c.p);
  }
  print_message("largest difference in scaled columns %.2g\n", worst);
  assert_true(worst < 1e-10);
}

/* ---- consistent: its equations ---- */

typedef struct watcher {
  const case_of *c;
  int seen;
  double last;
} watcher;

static void watch(void *user, const double *pi, const double *phi, double mu) {
  watcher *w = user;
  for (int k = 0; k < w->c->p.rows.links; k++) assert_true(psdmp_fit_pseudo_positive(pi + 10 * k));
  for (int d = 10 * w->c->p.rows.links; d < w->c->p.rows.standard && w->c->options.drives_nonnegative; d++)
    assert_true(pi[d] > 0);
  for (int j = 0, at = 0; j < w->c->p.rows.n; j++)
    for (int k = 0; k < w->c->p.extras[j]; k++, at++)
      if (w->c->options.nonnegative[j][k]) assert_true(phi[at] > 0);
  w->seen++;
  w->last = mu;
}

/* log det of a symmetric 4x4 by complex elimination */
static double complex log_det(const double complex pi[10]) {
  double re[10], im[10], P[16], Q[16];
  double complex A[16], sum = 0;
  for (int i = 0; i < 10; i++) re[i] = creal(pi[i]), im[i] = cimag(pi[i]);
  psdmp_fit_pseudo_inertia(re, P);
  psdmp_fit_pseudo_inertia(im, Q);
  for (int i = 0; i < 16; i++) A[i] = P[i] + Q[i] * _Complex_I;
  for (int k = 0; k < 4; k++) {
    sum += clog(A[5 * k]);
    for (int i = k + 1; i < 4; i++)
      for (int j = k + 1; j < 4; j++) A[4 * i + j] -= A[4 * i + k] * A[4 * k + j] / A[5 * k];
  }
  return sum;
}

/* the part without data, at x = (pi, phi) */
static double complex held(const case_of *c, double mu, const double *length, const double complex *x) {
  const psdmp_fit_options *o = &c->options;
  int S = c->p.rows.standard, links = c->p.rows.links;
  double complex sum = 0;
  for (int k = 0; k < links; k++) {
    double P[16], inverse[16];
    psdmp_fit_pseudo_inertia(c->prior + 10 * k, P);
    invert4(P, inverse);
    for (int a = 0; a < 10; a++) {
      double E[16], trace = 0;
      unit_body(a, E);
      for (int i = 0; i < 16; i++) trace += inverse[i] * E[i];
      sum += o->lambda * trace * x[10 * k + a];
    }
    sum -= (o->lambda + mu) * log_det(x + 10 * k);
  }
  for (int i = 10 * links; i < S + c->p.own; i++) {
    double complex off = length[i] * (o->ridge > 0 ? o->ridge : 1e-6) * (x[i] - (i < S ? c->prior[i] : 0));
    sum += 0.5 * off * off;
    if (i < S && o->drives_nonnegative) sum -= mu * clog(x[i]);
  }
  for (int j = 0, at = S; j < c->p.rows.n; j++)
    for (int k = 0; k < c->p.extras[j]; k++, at++)
      if (o->nonnegative && o->nonnegative[j][k]) sum -= mu * clog(x[at]);
  return sum;
}

/* the gradient of the barrier objective over all rows, by complex steps; each entry in units of the root of its
 * curvature, so that squares are nats */
static double gradient_left(const case_of *c, double mu, const double *pi, const double *phi) {
  int S = c->p.rows.standard, M = S + c->p.own;
  double length[MOST], data[MOST] = {0}, row[MOST], worst = 0, *H = malloc(sizeof *H * (size_t)(M * M)),
                       *more = malloc(sizeof *more * (size_t)(M * M));
  plain_hessians(&c->p, &c->options, mu, pi, phi, H, more);
  double complex x[MOST];
  for (int k = 0; k < M; k++) x[k] = k < S ? pi[k] : phi[k - S];
  for (int j = 0; j < c->p.rows.n; j++)
    for (long i = 0; i < c->p.each; i++) {
      double r = -plain_row(&c->p, c->sigma, j, i, row);
      for (int k = 0; k < M; k++) r += row[k] * creal(x[k]);
      for (int k = 0; k < M; k++) data[k] += r * row[k];
    }
  plain_lengths(&c->p, c->sigma, length);
  for (int k = 0; k < M; k++) {
    x[k] += 1e-30 * _Complex_I;
    double other = cimag(held(c, mu, length, x)) / 1e-30;
    x[k] = creal(x[k]);
    worst = fmax(worst, fabs(data[k] + other) / sqrt(H[k * (M + 1)] + more[k * (M + 1)]));
  }
  free(more);
  free(H);
  return worst;
}

static void test_equations(void **unused) {
  (void)unused;
  rng g = rng_start("fit equations");
  double worst = 0;
  int steps = 0;
  for (int trial = 0; trial < 12; trial++) {
    case_of c;
    answer a;
    case_new(&c, &g, arms[trial % 4], 150, 3 + trial % 2, pow(10, rng_uniform(&g, -2, 0)), trial % 3 != 0);
    c.options.lambda = pow(10, rng_uniform(&g, -2, 3));
    watcher w = {.c = &c};
    c.options.watch = watch, c.options.watch_user = &w;
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    check_answer(&c, &a);
    assert_true(a.fit.feasible && a.fit.decrement <= 1e-9);
    assert_int_equal(w.seen, a.fit.steps);
    assert_true(a.fit.gap < 0.01 && a.fit.gap > 0);
    assert_true(fabs(a.fit.gap - w.last * (4 * c.p.rows.links + positives(&c))) < 1e-12);
    worst = fmax(worst, gradient_left(&c, w.last, a.pi, a.phi));
    steps = a.fit.steps > steps ? a.fit.steps : steps;
    problem_free(&c.p);
  }
  print_message("largest gradient left %.2g, most steps %d\n", worst, steps);
  assert_true(worst < 1e-6);
}

/* ---- consistent: its path ---- */

typedef struct walk {
  case_of *c;
  double length[MOST], last[MOST], mu;
  int steps, whole, short_of_walls;
} walk;

/* how f at one mu changes along d at x; the pull is never weaker than mu on the path */
static double slope_along(const walk *w, double mu, const double *at, const double *d) {
  case_of c = *w->c;
  int S = c.p.rows.standard, M = S + c.p.own;
  double sum = 0, row[MOST];
  double complex x[MOST];
  if (mu * (4 * c.p.rows.links + positives(&c)) >= 0.01) c.options.lambda = fmax(c.options.lambda, mu);
  for (int j = 0; j < c.p.rows.n; j++)
    for (long i = 0; i < c.p.each; i++) {
      double r = -plain_row(&c.p, c.sigma, j, i, row), along = 0;
      for (int k = 0; k < M; k++) r += row[k] * at[k], along += row[k] * d[k];
      sum += r * along;
    }
  for (int k = 0; k < M; k++) x[k] = at[k] + 1e-30 * d[k] * _Complex_I;
  return sum + cimag(held(&c, mu, w->length, x)) / 1e-30;
}

/* whether a step ends a hundredth before a wall: where some 1 + t rate is 0.01 */
static bool near_wall(const case_of *c, const double *from, const double *d) {
  int S = c->p.rows.standard;
  double x[MOST];
  for (int k = 0; k < S + c->p.own; k++) x[k] = from[k] + d[k] * (1 + 0.011 / 0.99);
  for (int k = 0; k < c->p.rows.links; k++)
    if (!psdmp_fit_pseudo_positive(x + 10 * k)) return true;
  for (int k = 10 * c->p.rows.links; k < S; k++)
    if (x[k] <= 0 && c->options.drives_nonnegative) return true;
  for (int j = 0, at = S; j < c->p.rows.n; j++)
    for (int k = 0; k < c->p.extras[j]; k++, at++)
      if (x[at] <= 0 && c->options.nonnegative[j][k]) return true;
  return false;
}

/* each step goes down, and as far as f falls along it, to a thousandth of its length or a hundredth of the distance to
 * a wall */
static void walk_on(void *user, const double *pi, const double *phi, double mu) {
  walk *w = user;
  int S = w->c->p.rows.standard, M = S + w->c->p.own;
  double now[MOST], d[MOST];
  for (int k = 0; k < M; k++) now[k] = k < S ? pi[k] : phi[k - S], d[k] = now[k] - w->last[k];
  if (w->steps++ > 0 && mu <= w->mu) {
    double before = slope_along(w, mu, w->last, d), after = slope_along(w, mu, now, d);
    bool last = mu * (4 * w->c->p.rows.links + positives(w->c)) < 0.01;
    if (fabs(before) > 1e-6) { /* nats: below, rounding decides */
      /* at the end of a mu no more than one whole step */
      bool wall = near_wall(w->c, w->last, d), ends = -before <= (last ? 1e-9 : 2 * mu);
      if (!(before < 0 && after <= 5e-3 * -before))
        fail_msg("step %d: f falls by %g a step at its beginning, %g at its end", w->steps, before, after);
      if (!wall && !ends && !(after >= -5e-3 * -before))
        fail_msg("step %d: f still falls by %g a step, by %g at its beginning", w->steps, after, before);
      w->whole += !wall && !ends, w->short_of_walls += wall;
    }
  }
  memcpy(w->last, now, sizeof *now * (size_t)M);
  w->mu = mu;
}

static void test_path(void **unused) {
  (void)unused;
  rng g = rng_start("fit way");
  int whole = 0, walls = 0;
  for (int trial = 0; trial < 6; trial++) {
    case_of c;
    answer a;
    case_new(&c, &g, arms[trial % 4], 60, 3, 0.1, trial % 2);
    c.options.lambda = trial % 3 ? 1 : 0.01;
    walk w = {.c = &c};
    plain_lengths(&c.p, c.sigma, w.length);
    c.options.watch = walk_on, c.options.watch_user = &w;
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    assert_int_equal(w.steps, a.fit.steps);
    assert_true(w.steps < 120);
    whole += w.whole, walls += w.short_of_walls;
    problem_free(&c.p);
  }
  print_message("%d steps as far as f falls, %d short of a wall\n", whole, walls);
  assert_true(whole > 10);
}

/* ---- consistent: another solver ---- */

/* Unknowns u: P_k = L0 A A^T L0^T with A lower triangular, logarithms on its diagonal; positives by their logarithm.
 * No barrier: mu = 0. */
typedef struct other {
  const case_of *c;
  double L0[JOINTS_MOST][16], inverse0[JOINTS_MOST][16], length[MOST];
  bool positive[MOST];
  double *A, *b; /* all rows over x */
  int M;
} other;

static const int below[10][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}};

static void multiply4(const double *A, const double *B, bool transposed, double *C) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      C[4 * i + j] = 0;
      for (int k = 0; k < 4; k++) C[4 * i + j] += A[4 * i + k] * (transposed ? B[4 * j + k] : B[4 * k + j]);
    }
}

/* a link's L and parameters */
static void other_link(const other *o, int k, const double *u, double A[16], double L[16], double *pi) {
  double P[16];
  memset(A, 0, 16 * sizeof *A);
  for (int e = 0; e < 10; e++) A[4 * below[e][0] + below[e][1]] = e < 4 ? exp(u[e]) : u[e];
  multiply4(o->L0[k], A, false, L);
  multiply4(L, L, true, P);
  const double of[10] = {P[15], P[3], P[7], P[11], P[5] + P[10], -P[1], -P[2], P[0] + P[10], -P[6], P[0] + P[5]};
  memcpy(pi, of, sizeof of);
}

static void other_point(const other *o, const double *u, double *x) {
  double A[16], L[16];
  int links = o->c->p.rows.links;
  for (int k = 0; k < links; k++) other_link(o, k, u + 10 * k, A, L, x + 10 * k);
  for (int i = 10 * links; i < o->M; i++) x[i] = o->positive[i] ? exp(u[i]) : u[i];
}

/* f and its gradient by u */
static double other_value(const other *o, const double *u, double *gradient) {
  const case_of *c = o->c;
  int S = c->p.rows.standard, M = o->M, links = c->p.rows.links;
  long rows = c->p.rows.n * c->p.each;
  double x[MOST], gx[MOST] = {0}, f = 0, lambda = c->options.lambda;
  other_point(o, u, x);
  for (long i = 0; i < rows; i++) {
    const double *row = o->A + i * M;
    double r = -o->b[i];
    for (int k = 0; k < M; k++) r += row[k] * x[k];
    for (int k = 0; k < M; k++) gx[k] += r * row[k];
    f += 0.5 * r * r;
  }
  for (int i = 10 * links; i < M; i++) {
    double weight = 1e-6 * o->length[i], off = x[i] - (i < S ? c->prior[i] : 0);
    f += 0.5 * weight * weight * off * off;
    gx[i] += weight * weight * off;
    gradient[i] = gx[i] * (o->positive[i] ? x[i] : 1);
  }
  for (int k = 0; k < links; k++) {
    double A[16], L[16], pi[10], GP[16] = {0}, GL[16], GA[16], turned[16];
    other_link(o, k, u + 10 * k, A, L, pi);
    for (int e = 0; e < 10; e++) f -= e < 4 ? 2 * lambda * u[10 * k + e] : 0;
    /* f's derivative by P, symmetric: by the parameters, that is by P's entries */
    const double *d = gx + 10 * k;
    GP[15] = d[0], GP[3] = GP[12] = 0.5 * d[1], GP[7] = GP[13] = 0.5 * d[2], GP[11] = GP[14] = 0.5 * d[3];
    GP[0] = d[7] + d[9], GP[5] = d[4] + d[9], GP[10] = d[4] + d[7];
    GP[1] = GP[4] = -0.5 * d[5], GP[2] = GP[8] = -0.5 * d[6], GP[6] = GP[9] = -0.5 * d[8];
    double P[16];
    psdmp_fit_pseudo_inertia(pi, P);
    for (int i = 0; i < 16; i++) {
      f += lambda * o->inverse0[k][i] * P[i];
      GP[i] += lambda * o->inverse0[k][i];
    }
    f -= 4 * lambda;
    multiply4(GP, L, false, GL);
    for (int i = 0; i < 16; i++) turned[i] = o->L0[k][4 * (i % 4) + i / 4];
    multiply4(turned, GL, false, GA);
    for (int e = 0; e < 10; e++) {
      double by = 2 * GA[4 * below[e][0] + below[e][1]];
      gradient[10 * k + e] = e < 4 ? by * exp(u[10 * k + e]) - 2 * lambda : by;
    }
  }
  return f;
}

/* Broyden, Fletcher, Goldfarb, Shanno with backtracking, long */
static double other_descend(const other *o, double *u) {
  int M = o->M;
  double *H = malloc(sizeof *H * (size_t)(M * M)), g[MOST], next[MOST], gn[MOST], d[MOST], y[MOST], Hy[MOST],
         f = other_value(o, u, g);
  int still = 0;
  bool fresh = true;
  for (int step = 0; step < 12000 && still < 200; step++) {
    if (fresh)
      for (int i = 0; i < M * M; i++) H[i] = i % (M + 1) == 0;
    double slope = 0, t = 1, size = 0;
    for (int i = 0; i < M; i++) {
      d[i] = 0;
      for (int k = 0; k < M; k++) d[i] -= H[i * M + k] * g[k];
      slope += d[i] * g[i];
      size = fmax(size, fabs(d[i]));
    }
    if (size > 1) t = 1 / size;
    double fn = INFINITY;
    for (int half = 0; half < 50; half++, t *= 0.5) {
      for (int i = 0; i < M; i++) next[i] = u[i] + t * d[i];
      fn = other_value(o, next, gn);
      if (fn <= f + 1e-4 * t * slope) break;
    }
    if (!(fn <= f)) {
      if (fresh) break;
      fresh = true;
      continue;
    }
    double sy = 0, yHy = 0;
    for (int i = 0; i < M; i++) y[i] = gn[i] - g[i], sy += t * d[i] * y[i];
    for (int i = 0; i < M; i++) {
      Hy[i] = 0;
      for (int k = 0; k < M; k++) Hy[i] += H[i * M + k] * y[k];
      yHy += y[i] * Hy[i];
    }
    if (sy > 0 && fresh) { /* the size of the first step's curvature (Nocedal, Wright 2006, eq. 6.20) */
      double yy = 0;
      for (int i = 0; i < M; i++) yy += y[i] * y[i];
      for (int i = 0; i < M; i++) H[i * (M + 1)] = sy / yy, Hy[i] *= sy / yy;
      yHy *= sy / yy;
    }
    if (sy > 0)
      for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
          H[i * M + k] += (1 + yHy / sy) * t * t * d[i] * d[k] / sy - t * (Hy[i] * d[k] + d[i] * Hy[k]) / sy;
    fresh = step % 1500 == 1499; /* restarted now and then */
    still = f - fn < 1e-9 * (1 + fabs(f)) ? still + 1 : 0;
    f = fn;
    memcpy(u, next, sizeof *u * (size_t)M);
    memcpy(g, gn, sizeof *g * (size_t)M);
  }
  free(H);
  return f;
}

static void other_new(other *o, const case_of *c) {
  int S = c->p.rows.standard, n = c->p.rows.n, at = S;
  memset(o, 0, sizeof *o);
  o->c = c, o->M = S + c->p.own;
  for (int k = 0; k < c->p.rows.links; k++) {
    double P[16];
    psdmp_fit_pseudo_inertia(c->prior + 10 * k, P);
    invert4(P, o->inverse0[k]);
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', 4, P, 4), 0);
    for (int i = 0; i < 16; i++) o->L0[k][i] = i % 4 <= i / 4 ? P[i] : 0;
  }
  for (int i = 10 * c->p.rows.links; i < S; i++) o->positive[i] = true;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < c->p.extras[j]; k++) o->positive[at++] = c->flags[k];
  o->A = malloc(sizeof *o->A * (size_t)(n * c->p.each * o->M));
  o->b = malloc(sizeof *o->b * (size_t)(n * c->p.each));
  for (int j = 0; j < n; j++)
    for (long i = 0; i < c->p.each; i++)
      o->b[j * c->p.each + i] = plain_row(&c->p, c->sigma, j, i, o->A + (j * c->p.each + i) * o->M);
  plain_lengths(&c->p, c->sigma, o->length);
}

static void test_other_solver(void **unused) {
  (void)unused;
  rng g = rng_start("fit other solver");
  double worst = 0, worst_cost = 0;
  for (int trial = 0; trial < 4; trial++) {
    case_of c;
    answer a;
    other o;
    case_new(&c, &g, trial % 2 ? "two_branch" : "two_link", 60, 3, 1, trial < 2);
    c.options.lambda = trial < 2 ? 1 : 5;
    other_new(&o, &c);
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    /* our answer in its terms: no barrier */
    double ours = 0.5 * weighted_cost(&c, &a) + c.options.lambda * psdmp_fit_divergence(c.p.rows.links, c.prior, a.pi),
           best = INFINITY, cost = 0;
    for (int start = 0; start < 3; start++) {
      double u[MOST], x[MOST], f;
      for (int i = 0; i < o.M; i++) u[i] = start == 0 ? 0 : rng_uniform(&g, -0.5, 0.5);
      f = other_descend(&o, u);
      if (!(f < best)) continue;
      best = f, cost = 0;
      other_point(&o, u, x);
      for (long i = 0; i < c.p.rows.n * c.p.each; i++) {
        double r = -o.b[i];
        for (int k = 0; k < o.M; k++) r += o.A[i * o.M + k] * x[k];
        cost += r * r;
      }
    }
    print_message("%s: ours %.8g, other solver %.8g; cost %.8g and %.8g; gap %.2g\n",
                  trial % 2 ? "two_branch" : "two_link", ours, best, weighted_cost(&c, &a), cost, a.fit.gap);
    assert_true(ours <= best + a.fit.gap + 1e-6 * best); /* the barrier costs no more than its gap */
    worst = fmax(worst, fabs(ours - best) / best);
    worst_cost = fmax(worst_cost, fabs(weighted_cost(&c, &a) - cost) / cost);
    free(o.A);
    free(o.b);
    problem_free(&c.p);
  }
  print_message("largest difference of objectives %.2g, of costs %.2g\n", worst, worst_cost);
  assert_true(worst < 1e-4 && worst_cost < 1e-4);
}

/* ---- consistent: its purpose ---- */

/* no noise, a robot that can exist: theta is recovered */
static void test_recovery(void **unused) {
  (void)unused;
  rng g = rng_start("fit recovery");
  double worst = 0;
  for (int trial = 0; arms[trial]; trial++) {
    case_of c;
    answer a;
    case_new(&c, &g, arms[trial], 300, 3, 0, true);
    for (int j = 0; j < c.p.rows.n; j++) c.sigma[j] = 1e-3;
    c.options.lambda = 0.1;
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    assert_true(a.fit.feasible);
    double theta[BASE_MOST] = {0};
    for (int i = 0; i < c.p.rows.base; i++)
      for (int k = 0; k < c.p.rows.standard; k++) theta[i] += c.p.K[i * c.p.rows.standard + k] * c.pi[k];
    worst = fmax(worst, max_difference(theta, a.theta, c.p.rows.base) / max_absolute(theta, c.p.rows.base));
    worst = fmax(worst, max_difference(c.phi, a.phi, c.p.own) / max_absolute(c.phi, c.p.own));
    problem_free(&c.p);
  }
  print_message("largest error %.2g\n", worst);
  assert_true(worst < 1e-4); /* the pull of a tenth of a nat against a noise of 1e-3 */
}

/* data of bodies that cannot exist: the answer can exist, and fits no worse than the prior */
static void test_impossible(void **unused) {
  (void)unused;
  rng g = rng_start("fit impossible");
  for (int trial = 0; arms[trial]; trial++) {
    case_of c;
    answer a, free_of;
    case_new(&c, &g, arms[trial], 300, 3, 0.05, false);
    assert_int_equal(estimate(psdmp_fit_linear, &c, NULL, &free_of), PSDM_OK);
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    assert_true(a.fit.feasible && a.fit.gap < 0.01);
    check_answer(&c, &a);
    double ours = weighted_cost(&c, &a), least = weighted_cost(&c, &free_of), zero = 0, row[MOST];
    for (int j = 0; j < c.p.rows.n; j++)
      for (long i = 0; i < c.p.each; i++) {
        double r = -plain_row(&c.p, c.sigma, j, i, row);
        for (int k = 0; k < c.p.rows.standard; k++) r += row[k] * c.prior[k];
        zero += r * r;
      }
    print_message("%s: cost %.4g, unconstrained %.4g, at the prior %.4g, %d steps\n", arms[trial], ours, least, zero,
                  a.fit.steps);
    assert_true(ours > least && ours + 2 * psdmp_fit_divergence(c.p.rows.links, c.prior, a.pi) < zero);
    problem_free(&c.p);
  }
}

/* a strong pull gives the prior; a weaker one costs less and goes further */
static void test_pull(void **unused) {
  (void)unused;
  rng g = rng_start("fit pull");
  case_of c;
  answer a;
  case_new(&c, &g, "kuka_kr6", 200, 3, 0.1, true);
  c.options.lambda = 1e14;
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
  for (int k = 0; k < c.p.rows.links; k++)
    assert_true(max_difference(a.pi + 10 * k, c.prior + 10 * k, 10) < 1e-6 * max_absolute(c.prior + 10 * k, 10));
  double cost = INFINITY, far = 0;
  for (c.options.lambda = 1e6; c.options.lambda > 0.005; c.options.lambda *= 0.1) {
    assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    double now = weighted_cost(&c, &a), D = psdmp_fit_divergence(c.p.rows.links, c.prior, a.pi);
    /* both follow from the optima; the gap blurs the weakest */
    assert_true(now <= cost + 0.05 && D >= far - 0.05 / fmin(1, c.options.lambda));
    cost = now, far = D;
  }
  problem_free(&c.p);
}

/* the beginning is forgotten */
static void test_start(void **unused) {
  (void)unused;
  rng g = rng_start("fit start");
  case_of c;
  answer a, b;
  double start[STANDARD_MOST];
  case_new(&c, &g, "puma560", 200, 4, 0.3, false);
  for (int k = 0; k < c.p.rows.links; k++) random_body(&g, 20, 0.4, start + 10 * k);
  for (int d = 10 * c.p.rows.links; d < c.p.rows.standard; d++) start[d] = 2;
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
  c.options.start = start;
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &b), PSDM_OK);
  assert_true(max_difference(a.pi, b.pi, c.p.rows.standard) < 1e-5 * max_absolute(a.pi, c.p.rows.standard));
  start[0] = -1;
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &b), PSDM_E_ARGUMENT);
  problem_free(&c.p);
}

/* friction that pushes and a negative drive inertia: held at zero, not below */
static void test_signs(void **unused) {
  (void)unused;
  rng g = rng_start("fit signs");
  case_of c;
  answer a;
  case_new(&c, &g, "puma560", 300, 3, 0.05, true);
  int S = c.p.rows.standard, n = c.p.rows.n;
  for (int j = 0; j < n; j++) /* twice the friction's torque away: columns 0 and 1 become negative */
    for (long i = 0; i < c.p.each; i++) {
      double *row = c.p.X[j] + i * width_of(&c.p, j);
      for (int k = 0; k < 2; k++) row[width_of(&c.p, j) - 1] -= 2 * row[c.p.rows.base + k] * c.phi[j * 3 + k];
    }
  compress(&c.p, 0, c.p.each, c.p.R);
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 2; k++) assert_true(a.phi[j * 3 + k] > 0 && a.phi[j * 3 + k] < 1e-4);
  for (int d = 10 * c.p.rows.links; d < S; d++) assert_true(a.pi[d] > 0);
  c.options.nonnegative = NULL;
  assert_int_equal(estimate(psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 2; k++) assert_true(fabs(a.phi[j * 3 + k] + c.phi[j * 3 + k]) < 0.1);
  problem_free(&c.p);
}

/* the same column twice, and one of zeros: the ridge splits the value, nothing diverges */
static void test_collinear(void **unused) {
  (void)unused;
  rng g = rng_start("fit collinear");
  case_of c;
  answer a;
  case_new(&c, &g, "kuka_kr6", 300, 5, 0.05, true);
  c.options.nonnegative = NULL;
  for (int j = 0; j < c.p.rows.n; j++)
    for (long i = 0; i < c.p.each; i++) {
      double *row = c.p.X[j] + i * width_of(&c.p, j);
      row[c.p.rows.base + 3] = row[c.p.rows.base], row[c.p.rows.base + 4] = 0;
    }
  compress(&c.p, 0, c.p.each, c.p.R);
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(estimate(pass ? psdmp_fit_surrogate : psdmp_fit_consistent, &c, NULL, &a), PSDM_OK);
    for (int j = 0; j < c.p.rows.n; j++) {
      const double *phi = a.phi + 5 * j;
      assert_true(fabs(phi[0] - phi[3]) < 1e-3 && fabs(phi[0]) < 10 && phi[4] == 0);
    }
  }
  problem_free(&c.p);
}

/* s^2 K H^-1 K^T with H summed over all rows */
static void test_covariance(void **unused) {
  (void)unused;
  rng g = rng_start("fit covariance with a prior");
  double worst = 0;
  for (int trial = 0; trial < 3; trial++) {
    case_of c;
    answer a;
    case_new(&c, &g, arms[trial], 200, 3, 0.3, true);
    c.options.ridge = 1e-3;
    int S = c.p.rows.standard, M = S + c.p.own, base = c.p.rows.base, W = base + c.p.own;
    double *data = malloc(sizeof *data * (size_t)(M * M)), *H = malloc(sizeof *H * (size_t)(M * M)),
           *covariance = malloc(sizeof *covariance * (size_t)(W * W));
    double *J = calloc((size_t)(W * M), sizeof *J), *HJ = malloc(sizeof *HJ * (size_t)(W * M)), scale[MOST];
    assert_int_equal(estimate(psdmp_fit_consistent, &c, covariance, &a), PSDM_OK);
    plain_hessians(&c.p, &c.options, a.fit.gap / (4 * c.p.rows.links + positives(&c)), a.pi, a.phi, data, H);
    for (int i = 0; i < M * M; i++) H[i] += data[i];
    for (int i = 0; i < M; i++) scale[i] = sqrt(H[i * (M + 1)]);
    for (int i = 0; i < M * M; i++) H[i] /= scale[i / M] * scale[i % M];
    for (int i = 0; i < W; i++)
      for (int k = 0; k < M; k++)
        J[i * M + k] = (i < base ? (k < S ? c.p.K[i * S + k] : 0) : k == S + i - base) / scale[k];
    memcpy(HJ, J, sizeof *J * (size_t)(W * M));
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', M, H, M), 0);
    assert_int_equal(LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'U', M, W, H, M, HJ, M), 0);
    double variance = weighted_cost(&c, &a) / ((double)(c.p.rows.n * c.p.each) - W);
    for (int i = 0; i < W; i++)
      for (int k = 0; k < W; k++) {
        double sum = 0;
        for (int e = 0; e < M; e++) sum += variance * J[i * M + e] * HJ[k * M + e];
        worst =
            fmax(worst, fabs(sum - covariance[i * W + k]) / sqrt(covariance[i * (W + 1)] * covariance[k * (W + 1)]));
      }
    free(HJ);
    free(J);
    free(covariance);
    free(H);
    free(data);
    problem_free(&c.p);
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-6); /* the twin squares the condition number */
}

static void test_seven_joints(void **unused) {
  (void)unused;
  rng g = rng_start("fit seven joints");
  case_of c;
  answer a;
  case_new(&c, &g, "seven", 2000, 6, 0.3, true);
  double *scratch = scratch_of(psdmp_fit_scratch(&c.p.rows));
  a.fit = (psdmp_fit){.theta = a.theta, .pi = a.pi, .phi = a.phi, .cost = a.cost};
  clock_t before = clock();
  assert_int_equal(psdmp_fit_consistent(&c.p.rows, &c.options, scratch, &a.fit), PSDM_OK);
  double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
  print_message("%d base and %d own parameters: %d steps, %.1f ms\n", c.p.rows.base, c.p.own, a.fit.steps,
                1e3 * seconds);
  assert_true(seconds < 1);
  fenced_free(scratch);
  problem_free(&c.p);
}

static void test_refusals(void **unused) {
  (void)unused;
  rng g = rng_start("fit consistent refusals");
  case_of c;
  answer a;
  estimator *const both[] = {psdmp_fit_surrogate, psdmp_fit_consistent};
  case_new(&c, &g, "two_link", 30, 2, 0.1, true);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_OK);
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
      c.options.lambda = bad[k];
      assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_E_ARGUMENT);
    }
    c.options.lambda = 1;
    double mass = c.prior[0];
    c.prior[0] = 0;
    assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_E_ARGUMENT);
    c.prior[0] = NAN;
    assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_E_ARGUMENT);
    c.prior[0] = mass;
    c.options.prior = NULL;
    assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_E_ARGUMENT);
    c.options.prior = c.prior;
  }
  c.p.R[0][0] = INFINITY;
  for (int i = 0; i < 2; i++) assert_int_equal(estimate(both[i], &c, NULL, &a), PSDM_E_ARGUMENT);
  problem_free(&c.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pseudo_inertia), cmocka_unit_test(test_surrogate),    cmocka_unit_test(test_equations),
      cmocka_unit_test(test_path),           cmocka_unit_test(test_other_solver), cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_impossible),     cmocka_unit_test(test_pull),         cmocka_unit_test(test_start),
      cmocka_unit_test(test_signs),          cmocka_unit_test(test_collinear),    cmocka_unit_test(test_covariance),
      cmocka_unit_test(test_seven_joints),   cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
