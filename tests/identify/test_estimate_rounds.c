/* test_estimate_rounds.c: the rounds of the estimators that pass over the rows repeatedly: the request of each pass,
 * when rounds end, and the answer from the last one. The linker puts the test's own passes, simulation and change of a
 * round in the library's place (--wrap); answers are compared with fits of the same rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "fenced.h"

enum { N = 2, L = 3, OWN0 = 2, OWN1 = 1, W = L + OWN0 + OWN1, ROWS = 400, MOST = 16, BINS = 4096 };

/* ---- the rows, and the requests of the passes ---- */

static psdmp_identify_choice choice[N] = {{.count = OWN0}, {.count = OWN1}};

typedef struct world {
  psdmp_identify_run run;
  psdm_calibrate_options options;
  double K[L * L], sigma[N], Y[ROWS][N * L], F[ROWS][16 * N], Ya[ROWS][N * L], Fa[ROWS][16 * N], tau[ROWS][N];
  int block[ROWS];
  bool fitted[ROWS][N];
  char reason[8][160];
} world;

/* what the test's own functions do: 0 never */
typedef struct script {
  /* the call of this number, counted from 1 */
  int fail_pass, fail_fit, fail_solve, fail_finish, fail_knife, fail_new, stop_after;
  double change[MOST]; /* of each round */
  /* robust: replaces the sum; NAN: unchanged */
  double sums[4];
  /* energy: this many of the last rows alone; -1: all, -2: the first */
  int equations;
} script;

typedef struct asked {
  int passes, fits, solves, finishes, knives, changes, heard, said, made, freed;
  double x[MOST][W], scale[MOST][N], before[MOST][W], after[MOST][W], classical[MOST][W * W], change;
  int kind[MOST], stage[MOST];
  bool all[MOST];
  unsigned mask[MOST];
  const void *doubt[MOST];
  int doubts;
  bool ending; /* fits in the finish and the jackknife are the library's; some linkers wrap them too */
} asked;

static world w;
static script scripted;
static asked was;
static max_align_t robots;
static psdmp_identify_simulation *const simulation = (psdmp_identify_simulation *)(void *)&robots;

static void world_new(rng *g) {
  memset(&w, 0, sizeof w), memset(&was, 0, sizeof was);
  scripted = (script){.sums = {NAN, NAN, NAN, NAN}, .equations = -1};
  w.options.threads = 1;
  w.run = (psdmp_identify_run){
      .n = N, .l = L, .S = L, .K = w.K, .choice = choice, .sigma = w.sigma, .reason = w.reason, .options = &w.options};
  for (int k = 0; k < ROWS; k++) {
    for (int i = 0; i < N * L; i++)
      w.Y[k][i] = rng_uniform(g, -1, 1), w.Ya[k][i] = w.Y[k][i] + 0.1 * rng_uniform(g, -1, 1);
    for (int i = 0; i < 16 * N; i++)
      w.F[k][i] = rng_uniform(g, -1, 1), w.Fa[k][i] = w.F[k][i] + 0.1 * rng_uniform(g, -1, 1);
    for (int i = 0; i < N; i++) {
      w.fitted[k][i] = k % 11 != 3 + i;
      w.tau[k][i] = 0.1 * (1 + i) * rng_uniform(g, -1, 1) + (k % 9 == 5 ? 3 : 0);
      for (int j = 0; j < L; j++) w.tau[k][i] += w.Y[k][i * L + j] * (1 + j);
      for (int c = 0; c < choice[i].count; c++) w.tau[k][i] += w.F[k][16 * i + c] * (0.5 + c - i);
    }
    w.block[k] = k * PSDMP_IDENTIFY_BLOCKS / ROWS;
  }
  for (int i = 0; i < N; i++) w.sigma[i] = rng_uniform(g, 0.05, 0.3);
}

/* all rows of a kind; those of the auxiliary motion depend on the simulated robot */
static void rows_of(psdmp_identify_pass_kind kind, const psdmp_identify_pass *pass, const double *x,
                    psdmp_linalg_blocks *b, double *sums) {
  psdmp_identify_pass_rows to = {.pass = pass, .run = &w.run, .blocks = *b, .numbers = sums};
  double Ya[N * L];
  psdmp_linalg_blocks_clear(b);
  for (int k = 0; k < ROWS; k++) {
    for (int i = 0; i < N * L; i++) Ya[i] = w.Ya[k][i] + 0.1 * x[i % W] * w.Y[k][i];
    const psdmp_identify_walk_row row = {.block = w.block[k],
                                         .fitted = w.fitted[k],
                                         .Y = w.Y[k],
                                         .F = w.F[k],
                                         .tau = w.tau[k],
                                         .Y_auxiliary = Ya,
                                         .F_auxiliary = w.Fa[k]};
    if (kind == PSDMP_IDENTIFY_PASS_ROBUST) psdmp_identify_robust_row(&to, &row);
    if (kind == PSDMP_IDENTIFY_PASS_DIDIM) psdmp_identify_didim_row(&to, &row);
    if (kind == PSDMP_IDENTIFY_PASS_IV) psdmp_identify_iv_row(&to, &row);
    if (kind == PSDMP_IDENTIFY_PASS_ENERGY &&
        (scripted.equations == -2 ? k == 0 : scripted.equations < 0 || k >= ROWS - scripted.equations)) {
      double *equation = psdmp_linalg_blocks_row(b, 0, w.block[k]);
      memcpy(equation, w.Y[k], W * sizeof *equation);
      equation[W] = w.tau[k][0];
    }
  }
  psdmp_linalg_blocks_flush(b);
}

/* ---- in the library's place ---- */

psdm_status __real_psdmp_identify_blocks_fit(psdmp_identify_run *run, psdmp_linalg_blocks *blocks, unsigned mask,
                                             const double *sigma, double *x, double *covariance);
psdm_status __real_psdmp_identify_blocks_finish(psdmp_identify_run *run, psdmp_linalg_blocks *blocks,
                                                const double *sigma, psdmp_identify_estimated *e);
psdm_status __real_psdmp_identify_blocks_jackknife(psdmp_identify_run *run, psdmp_linalg_blocks *blocks,
                                                   const double *sigma, const double *x, double *covariance);
bool __real_psdmp_identify_instruments_solve(psdmp_identify_instruments *v, unsigned mask, double *x, double *rows);
void __real_psdmp_identify_instruments_doubt(psdmp_identify_instruments *v, double rows, const double *x,
                                             double *classical, double *covariance);

psdm_status __wrap_psdmp_identify_pass_run(psdmp_identify_pass *pass, psdmp_linalg_blocks *blocks, double *numbers,
                                           psdm_error *error) {
  int k = was.passes++;
  assert_true(k < MOST && pass->run == &w.run && !pass->simulation);
  was.kind[k] = (int)pass->kind, was.stage[k] = pass->stage, was.all[k] = pass->all;
  if (pass->kind == PSDMP_IDENTIFY_PASS_ROBUST)
    memcpy(was.x[k], pass->x, sizeof was.x[k]), memcpy(was.scale[k], pass->scale, sizeof was.scale[k]);
  if (k + 1 == scripted.fail_pass) return psdmp_base_fail_status(error, PSDM_E_IO);
  assert_int_equal(blocks->n, pass->equations);
  for (int i = 0; i < pass->equations; i++) assert_int_equal(blocks->width[i], pass->width[i]);
  assert_true(!numbers == !pass->numbers);
  if (numbers) memset(numbers, 0, (size_t)pass->numbers * sizeof *numbers);
  rows_of(pass->kind, pass, was.x[k], blocks, numbers);
  for (int i = 0; i < 4 && numbers; i++) numbers[i] = isnan(scripted.sums[i]) ? numbers[i] : scripted.sums[i];
  return PSDM_OK;
}

psdm_status __wrap_psdmp_identify_simulation_new(psdmp_identify_run *run, psdmp_identify_simulation **s,
                                                 psdm_error *error) {
  assert_true(run == &w.run);
  *s = NULL;
  if (++was.made == scripted.fail_new) return psdmp_base_fail_status(error, PSDM_E_IO);
  *s = simulation;
  return PSDM_OK;
}

void __wrap_psdmp_identify_simulation_free(psdmp_identify_simulation *s) {
  assert_true(s == (was.made && !scripted.fail_new ? simulation : NULL));
  was.freed++;
}

psdm_status __wrap_psdmp_identify_simulation_walk(psdmp_identify_simulation *s, psdmp_identify_pass_kind kind,
                                                  psdmp_linalg_blocks *blocks, const double *x, psdm_error *error) {
  int k = was.passes++;
  assert_true(k < MOST && s == simulation);
  was.kind[k] = (int)kind;
  memcpy(was.x[k], x, sizeof was.x[k]);
  if (k + 1 == scripted.fail_pass) return psdmp_base_fail_status(error, PSDM_E_IO);
  rows_of(kind, NULL, x, blocks, NULL);
  return PSDM_OK;
}

void __wrap_psdmp_identify_simulation_say(const psdmp_identify_simulation *s, double change) {
  assert_true(s == simulation);
  was.said++, was.change = change;
}

bool __wrap_psdmp_identify_progress(psdmp_identify_run *run, const char *doing, double share) {
  assert_true(run == &w.run && share == -1);
  assert_string_equal(doing, was.kind[0] == PSDMP_IDENTIFY_PASS_ROBUST ? "weighing outliers" : "simulating");
  if (++was.heard == scripted.stop_after) run->stopped = true;
  return !run->stopped;
}

double __wrap_psdmp_identify_estimate_change(int width, const double *before, const double *x,
                                             const double *classical) {
  int k = was.changes++;
  assert_true(k < MOST && width == W);
  memcpy(was.before[k], before, sizeof was.before[k]), memcpy(was.after[k], x, sizeof was.after[k]),
      memcpy(was.classical[k], classical, sizeof was.classical[k]);
  return scripted.change[k];
}

psdm_status __wrap_psdmp_identify_blocks_fit(psdmp_identify_run *run, psdmp_linalg_blocks *blocks, unsigned mask,
                                             const double *sigma, double *x, double *covariance) {
  if (was.ending) return __real_psdmp_identify_blocks_fit(run, blocks, mask, sigma, x, covariance);
  assert_int_equal(mask, psdmp_identify_blocks_all());
  if (++was.fits == scripted.fail_fit) return PSDM_E_SINGULAR;
  return __real_psdmp_identify_blocks_fit(run, blocks, mask, sigma, x, covariance);
}

psdm_status __wrap_psdmp_identify_blocks_finish(psdmp_identify_run *run, psdmp_linalg_blocks *blocks,
                                                const double *sigma, psdmp_identify_estimated *e) {
  if (++was.finishes == scripted.fail_finish) return PSDM_E_SINGULAR;
  was.ending = true;
  psdm_status status = __real_psdmp_identify_blocks_finish(run, blocks, sigma, e);
  was.ending = false;
  return status;
}

psdm_status __wrap_psdmp_identify_blocks_jackknife(psdmp_identify_run *run, psdmp_linalg_blocks *blocks,
                                                   const double *sigma, const double *x, double *covariance) {
  if (++was.knives == scripted.fail_knife) return PSDM_E_SINGULAR;
  was.ending = true;
  psdm_status status = __real_psdmp_identify_blocks_jackknife(run, blocks, sigma, x, covariance);
  was.ending = false;
  return status;
}

bool __wrap_psdmp_identify_instruments_solve(psdmp_identify_instruments *v, unsigned mask, double *x, double *rows) {
  was.mask[was.solves++] = mask;
  return was.solves != scripted.fail_solve && __real_psdmp_identify_instruments_solve(v, mask, x, rows);
}

void __wrap_psdmp_identify_instruments_doubt(psdmp_identify_instruments *v, double rows, const double *x,
                                             double *classical, double *covariance) {
  was.doubt[was.doubts++] = covariance;
  __real_psdmp_identify_instruments_doubt(v, rows, x, classical, covariance);
}

/* ---- the answer, with a guard number behind each array ---- */

typedef struct answer {
  double x[W + 1], covariance[W * W + 1], classical[W * W + 1], folds[PSDMP_IDENTIFY_FOLDS * W + 1];
  psdmp_identify_estimated e;
} answer;

static void answer_new(answer *a) {
  double *all = a->x, *arrays[] = {a->covariance, a->classical, a->folds};
  const int sizes[] = {W * W + 1, W * W + 1, PSDMP_IDENTIFY_FOLDS * W + 1};
  for (int k = 0; k <= W; k++) all[k] = 0.3 - 0.2 * k;
  for (int p = 0; p < 3; p++)
    for (int k = 0; k < sizes[p]; k++) arrays[p][k] = 1000 + k;
  a->e = (psdmp_identify_estimated){
      .x = a->x, .covariance = a->covariance, .classical = a->classical, .folds = a->folds, .steps = -7};
}

static void same(const double *is, const double *should, int count, const char *what) {
  for (int k = 0; k < count; k++)
    if (is[k] != should[k]) fail_msg("%s, number %d: %.17g, %.17g was expected", what, k, is[k], should[k]);
}

static void near(const double *is, const double *should, int count, const char *what) {
  double size = max_absolute(should, count);
  for (int k = 0; k < count; k++)
    if (!(fabs(is[k] - should[k]) <= 1e-12 * size))
      fail_msg("%s, number %d: %.17g, %.17g was expected", what, k, is[k], should[k]);
}

static void same_answer(const answer *is, const answer *should) {
  same(is->x, should->x, W + 1, "x");
  same(is->covariance, should->covariance, W * W + 1, "covariance");
  same(is->classical, should->classical, W * W + 1, "classical");
  same(is->folds, should->folds, PSDMP_IDENTIFY_FOLDS * W + 1, "folds");
  assert_int_equal(is->e.steps, should->e.steps);
}

/* ---- the simulated robot: rounds until they change little ---- */

/* a round and the end of the rounds, by the same fits */
static void twin(psdmp_identify_pass_kind kind, int rounds, answer *a) {
  psdmp_identify_pass pass = {.kind = kind, .run = &w.run};
  psdmp_linalg_blocks own, *b = &own;
  psdmp_identify_instruments v;
  double rows = 0;
  psdmp_identify_pass_shape(&pass);
  if (kind == PSDMP_IDENTIFY_PASS_IV) {
    assert_true(psdmp_identify_instruments_new(&w.run, &v));
    b = &v.blocks;
  } else {
    assert_true(psdmp_linalg_blocks_new(NULL, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, b));
  }
  for (a->e.steps = 0; a->e.steps < rounds; a->e.steps++) {
    double before[W];
    memcpy(before, a->x, sizeof before);
    same(was.x[a->e.steps], a->x, W, "the simulated robot");
    rows_of(kind, NULL, a->x, b, NULL);
    if (kind == PSDMP_IDENTIFY_PASS_IV) {
      assert_true(__real_psdmp_identify_instruments_solve(&v, psdmp_identify_blocks_all(), a->x, &rows));
      __real_psdmp_identify_instruments_doubt(&v, rows, a->x, a->classical, NULL);
    } else {
      assert_int_equal(
          __real_psdmp_identify_blocks_fit(&w.run, b, psdmp_identify_blocks_all(), w.sigma, a->x, a->classical),
          PSDM_OK);
    }
    same(was.before[a->e.steps], before, W, "before a round");
    same(was.after[a->e.steps], a->x, W, "after a round");
    same(was.classical[a->e.steps], a->classical, W * W, "classical of a round");
    assert_int_equal(was.kind[a->e.steps], kind);
  }
  if (kind == PSDMP_IDENTIFY_PASS_IV) {
    __real_psdmp_identify_instruments_doubt(&v, rows, a->x, a->classical, a->covariance);
    for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++)
      assert_true(
          __real_psdmp_identify_instruments_solve(&v, psdmp_identify_blocks_without(fold), a->folds + fold * W, &rows));
    psdmp_identify_instruments_free(&v);
  } else {
    was.ending = true;
    assert_int_equal(__real_psdmp_identify_blocks_finish(&w.run, b, w.sigma, &a->e), PSDM_OK);
    psdmp_linalg_blocks_free(b);
  }
}

static psdm_status estimate(psdmp_identify_pass_kind kind, psdmp_identify_estimated *e, psdm_error *error) {
  *error = (psdm_error){0};
  return kind == PSDMP_IDENTIFY_PASS_IV       ? psdmp_identify_estimate_iv(&w.run, e, error)
         : kind == PSDMP_IDENTIFY_PASS_DIDIM  ? psdmp_identify_estimate_didim(&w.run, e, error)
         : kind == PSDMP_IDENTIFY_PASS_ROBUST ? psdmp_identify_estimate_robust(&w.run, e, error)
                                              : psdmp_identify_estimate_energy(&w.run, e, error);
}

static const psdmp_identify_pass_kind simulating[2] = {PSDMP_IDENTIFY_PASS_DIDIM, PSDMP_IDENTIFY_PASS_IV};

/* rounds end at a change of a hundredth of a standard deviation, after ten, or when stopped, but never before the
 * first */
TEST(simulated_rounds) {
  static const struct {
    double change[MOST];
    bool stopped;
    int stop_after, rounds;
    double said;
  } cases[] = {{{5, 0.5, 0.011, 0.01, 9}, false, 0, 4, 0},
               {{0.01}, false, 0, 1, 0},
               {{1, 1, 1, 1, 1, 1, 1, 1, 1, 0.02}, false, 0, 10, 0.02},
               {{1, 1, 1, 1, 1, 1, 1, 1, 1, 0.01}, false, 0, 10, 0},
               {{3, 4, 5, 6}, false, 3, 3, 5},
               {{3, 4, 5, 6}, false, 1, 1, 3},
               {{7, 4, 5, 6}, true, 0, 1, 7}};
  rng g = rng_start("simulated rounds");
  for (int kind = 0; kind < 2; kind++)
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      answer is, should;
      psdm_error error;
      world_new(&g), answer_new(&is), answer_new(&should);
      memcpy(scripted.change, cases[c].change, sizeof scripted.change);
      scripted.stop_after = cases[c].stop_after, w.run.stopped = cases[c].stopped;
      assert_int_equal(estimate(simulating[kind], &is.e, &error), PSDM_OK);
      assert_true(was.passes == cases[c].rounds && was.heard == was.passes && was.changes == was.passes &&
                  was.said == 1 && was.change == cases[c].said && was.made == 1 && was.freed == 1);
      if (kind) {
        assert_true(was.solves == was.passes + PSDMP_IDENTIFY_FOLDS && was.doubts == was.passes + 1);
        for (int k = 0; k < was.solves; k++)
          assert_int_equal(was.mask[k], k < was.passes ? psdmp_identify_blocks_all()
                                                       : psdmp_identify_blocks_without(k - was.passes));
        for (int k = 0; k < was.doubts; k++) assert_true(was.doubt[k] == (k < was.passes ? NULL : is.covariance));
      }
      twin(simulating[kind], cases[c].rounds, &should);
      same_answer(&is, &should);
    }
}

/* any failure ends the rounds, is reported and leaks nothing */
TEST(simulated_failures) {
  static const char missing[] =
      "the simulated motion does not move every parameter: instruments are missing; take another estimator";
  rng g = rng_start("simulated failures");
  for (int kind = 0; kind < 2; kind++)
    for (int where = 0; where < 7; where++) {
      answer is;
      psdm_error error;
      psdm_robot *robot = load_shipped("two_link");
      world_new(&g), answer_new(&is);
      w.run.robot = robot;
      for (int k = 0; k < 3; k++) scripted.change[k] = 1;
      int folds = kind == 1 && where >= 4; /* the fourth round's change is the last: folds follow */
      if (where == 0) scripted.fail_new = 1;
      if (where == 1) scripted.fail_pass = 1;
      if (where == 2) scripted.fail_pass = 3;
      if (where == 3) scripted.fail_fit = scripted.fail_solve = 2;
      if (where == 4) scripted.fail_finish = 1, scripted.fail_solve = 5;
      if (where == 5) scripted.fail_fit = 1, scripted.fail_solve = 9;
      if (where == 6) scripted.fail_finish = 1, scripted.fail_solve = 7;
      psdm_status should = where < 3 ? PSDM_E_IO : kind ? PSDM_E_ARGUMENT : PSDM_E_SINGULAR;
      assert_int_equal(estimate(simulating[kind], &is.e, &error), should);
      assert_int_equal(error.status, should);
      assert_string_equal(error.text, should == PSDM_E_ARGUMENT ? missing : psdm_status_text(should));
      assert_string_equal(error.file, should == PSDM_E_ARGUMENT ? psdm_robot_name(robot) : "");
      assert_true(error.line == 0 && error.column == 0);
      int passes = where == 0 ? 0 : where == 1 ? 1 : where == 2 ? 3 : where == 3 ? 2 : where == 5 && !kind ? 1 : 4;
      assert_int_equal(was.passes, passes);
      assert_true(was.made == 1 && was.freed == 1 && was.said == (folds || where == 4 || where == 6) &&
                  was.heard == (passes == 4 ? 4
                                : passes    ? passes - 1
                                            : 0));
      if (where) assert_int_equal(is.e.steps, was.heard);
      psdm_robot_free(robot);
    }
}

/* ---- outliers ---- */

/* the middle of the first bin that covers half of the residuals, over the scale they were divided by */
static double median_of(int drive, const double *x, double scale) {
  static double seen[BINS];
  double all = 0, below = 0;
  int at = 0, first = drive ? L + OWN0 : L;
  memset(seen, 0, sizeof seen);
  for (int k = 0; k < ROWS; k++) {
    double error = -w.tau[k][drive];
    if (!w.fitted[k][drive]) continue;
    for (int j = 0; j < L; j++) error += w.Y[k][drive * L + j] * x[j];
    for (int c = 0; c < choice[drive].count; c++) error += w.F[k][16 * drive + c] * x[first + c];
    double bin = floor(2048 + 100 * log(fabs(error / scale)));
    all++, seen[(int)fmin(fmax(bin, 0), BINS - 1)]++;
  }
  for (below = seen[0]; at < BINS - 1 && below < all / 2;) below += seen[++at];
  return all > 0 ? exp((at + 0.5 - 2048) / 100) : 0;
}

/* stages: 0 look, 1 Huber, 2 Tukey */
TEST(robust_rounds) {
  static const struct {
    double change[MOST];
    bool stopped;
    int stop_after, steps, tukey, reasons; /* tukey: its first pass, counted from 0 */
    double slopes, rows, out;
  } cases[] = {{{1, 0.05, 0.049, 0.3, 0.05, 0.04}, false, 0, 7, 4, 0, NAN, NAN, NAN},
               {{0, 0}, false, 0, 3, 2, 0, NAN, NAN, NAN},
               {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false, 0, 12, 7, 7, NAN, NAN, NAN},
               {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.01, 1}, false, 0, 12, 7, 8, NAN, NAN, NAN},
               {{1, 1, 1, 1}, false, 2, 3, 7, 0, NAN, NAN, NAN},
               {{0.01, 1, 1, 1}, false, 1, 2, 2, 0, NAN, NAN, NAN},
               {{1, 1, 1, 1}, true, 0, 2, 7, 3, NAN, NAN, NAN},
               {{0, 0}, false, 0, 3, 2, 0, 0.0, 0, 0},
               {{0, 0}, false, 0, 3, 2, 0, -5, 1, 1},
               {{0, 0}, false, 0, 3, 2, 0, 0.25, 8, 3}};
  rng g = rng_start("robust rounds");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    answer is, should;
    psdm_error error;
    world_new(&g), answer_new(&is), answer_new(&should);
    double scale[N] = {w.sigma[0], w.sigma[1]}, *sums = calloc(4 + N * BINS, sizeof *sums);
    memcpy(scripted.change, cases[c].change, sizeof scripted.change);
    scripted.stop_after = cases[c].stop_after, w.run.stopped = cases[c].stopped, w.run.reasons = cases[c].reasons;
    scripted.sums[1] = cases[c].slopes, scripted.sums[2] = cases[c].rows, scripted.sums[3] = cases[c].out;
    assert_int_equal(estimate(PSDMP_IDENTIFY_PASS_ROBUST, &is.e, &error), PSDM_OK);
    assert_true(is.e.steps == cases[c].steps && was.passes == cases[c].steps && was.heard == was.passes - 1 &&
                was.changes == was.heard);
    psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ROBUST, .run = &w.run, .x = should.x, .scale = scale};
    psdmp_linalg_blocks b;
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &b));
    for (int k = 0; k < was.passes; k++) {
      double before[W];
      memcpy(before, should.x, sizeof before);
      pass.stage = k == 0 ? 0 : k < cases[c].tukey ? 1 : 2;
      assert_int_equal(was.stage[k], pass.stage);
      assert_int_equal(was.all[k], !cases[c].stopped && !(cases[c].stop_after && k > cases[c].stop_after));
      near(was.x[k], should.x, W, "x of a pass"), near(was.scale[k], scale, N, "scale of a pass");
      memset(sums, 0, (4 + N * BINS) * sizeof *sums);
      rows_of(PSDMP_IDENTIFY_PASS_ROBUST, &pass, should.x, &b, sums);
      for (int i = 0; i < N && pass.stage < 2; i++) scale[i] *= median_of(i, should.x, scale[i]) / 0.6744897501960817;
      if (k == 0) continue;
      assert_int_equal(
          __real_psdmp_identify_blocks_fit(&w.run, &b, psdmp_identify_blocks_all(), scale, should.x, should.classical),
          PSDM_OK);
      near(was.before[k - 1], before, W, "before a round"), near(was.after[k - 1], should.x, W, "after a round"),
          near(was.classical[k - 1], should.classical, W * W, "classical");
    }
    was.ending = true;
    assert_int_equal(__real_psdmp_identify_blocks_finish(&w.run, &b, scale, &should.e), PSDM_OK);
    for (int k = 0; k < 4; k++) sums[k] = isnan(scripted.sums[k]) ? sums[k] : scripted.sums[k];
    double bread = sums[1] > 0 ? sums[0] / sums[1] : 1;
    for (int k = 0; k < W * W; k++) should.covariance[k] *= bread * bread;
    if (isnan(scripted.sums[1]) && pass.stage == 2) assert_true(bread > 1.01);
    near(is.x, should.x, W, "x"), near(is.classical, should.classical, W * W, "classical"),
        near(is.folds, should.folds, PSDMP_IDENTIFY_FOLDS * W, "folds"), near(w.sigma, scale, N, "scale");
    for (int k = 0; k < W * W; k++)
      assert_true(fabs(is.covariance[k] - should.covariance[k]) <=
                  1e-10 * sqrt(should.covariance[k / W * (W + 1)] * should.covariance[k % W * (W + 1)]));
    assert_true(is.x[W] == should.x[W] && is.covariance[W * W] == should.covariance[W * W]);
    assert_true(is.classical[W * W] == should.classical[W * W] &&
                is.folds[PSDMP_IDENTIFY_FOLDS * W] == should.folds[PSDMP_IDENTIFY_FOLDS * W]);
    /* the remark about them, if there is room */
    char said[160];
    bool settled = was.heard > 1 && cases[c].change[was.heard - 1] < 0.05 && was.stage[was.passes - 1] == 2;
    snprintf(said, sizeof said, "robust: %.2g %% of the torques are outliers that hardly count%s",
             sums[2] > 0 ? 100 * sums[3] / sums[2] : 0, settled ? "" : "; weights have not converged");
    assert_int_equal(w.run.reasons, cases[c].reasons < 8 ? cases[c].reasons + 1 : 8);
    assert_string_equal(cases[c].reasons < 8 ? w.reason[cases[c].reasons] : said, said);
    psdmp_linalg_blocks_free(&b);
    free(sums);
  }
}

/* a drive without rows keeps its scale, one whose residuals are zero gets the smallest scale; the median of one
 * residual is itself, of two the smaller */
TEST(robust_scales) {
  rng g = rng_start("robust scales");
  for (int round = 0; round < 2; round++) {
    answer is;
    psdm_error error;
    world_new(&g), answer_new(&is);
    double sigma[N] = {round ? 2 : 1e-5, w.sigma[1]};
    memcpy(w.sigma, sigma, sizeof sigma);
    scripted.stop_after = 1, scripted.change[0] = 1;
    for (int k = 0; k < ROWS; k++) { /* the first drive's residual is zero; the second drive has no rows */
      w.fitted[k][1] = false;
      w.tau[k][0] = 0;
      memset(w.Y[k], 0, sizeof w.Y[k]), memset(w.F[k], 0, sizeof w.F[k]);
    }
    estimate(PSDMP_IDENTIFY_PASS_ROBUST, &is.e, &error);
    double bin = exp((0.5 - 2048) / 100) / 0.6744897501960817, once = fmax(sigma[0] * bin, 1e-12);
    assert_true(was.passes == 2 && was.scale[1][1] == sigma[1] && w.sigma[1] == sigma[1]);
    assert_true(round || once == 1e-12);
    near(&was.scale[1][0], &once, 1, "scale");
  }
}

TEST(few_residuals) {
  rng g = rng_start("few residuals");
  for (int few = 1; few <= 3; few++) {
    answer is;
    psdm_error error;
    world_new(&g), answer_new(&is);
    scripted.stop_after = 1, scripted.change[0] = 1;
    memset(is.x, 0, sizeof is.x); /* nothing is explained: residuals equal torques */
    double before = w.sigma[1];
    for (int k = 0; k < ROWS; k++) w.fitted[k][1] = k < few, w.tau[k][1] = (k + 1) * 2.0;
    estimate(PSDMP_IDENTIFY_PASS_ROBUST, &is.e, &error);
    double middle = few == 3 ? 4 : 2, bin = exp((floor(2048 + 100 * log(middle / before)) + 0.5 - 2048) / 100),
           should = before * bin / 0.6744897501960817;
    near(&was.scale[1][1], &should, 1, "scale");
  }
}

TEST(robust_failures) {
  rng g = rng_start("robust failures");
  for (int where = 0; where < 6; where++) {
    answer is, untouched;
    psdm_error error;
    world_new(&g), answer_new(&is), answer_new(&untouched);
    for (int k = 0; k < MOST; k++) scripted.change[k] = 1;
    if (where < 3) scripted.fail_pass = 1 + 2 * where;
    if (where == 3) scripted.fail_fit = 1;
    if (where == 4) scripted.fail_fit = 4;
    if (where == 5) scripted.fail_finish = 1, scripted.change[0] = scripted.change[1] = 0;
    psdm_status should = where < 3 ? PSDM_E_IO : PSDM_E_SINGULAR;
    assert_int_equal(estimate(PSDMP_IDENTIFY_PASS_ROBUST, &is.e, &error), should);
    assert_string_equal(error.text, psdm_status_text(should));
    assert_int_equal(was.passes, where < 3 ? 1 + 2 * where : where == 3 ? 2 : where == 4 ? 5 : 3);
    assert_true(w.run.reasons == 0 && was.finishes == (where == 5));
    same(is.covariance, untouched.covariance, W * W + 1, "covariance");
    if (where < 3 && where) assert_true(was.changes == was.passes - 2);
  }
}

/* ---- energy: one pass ---- */

TEST(energy_answer) {
  static const char none[] = "`estimator = energy` has no equation: work is added up over a quarter of the quickest "
                             "joint's mean period, and no stretch of training rows (at most 32768) is that long";
  rng g = rng_start("energy answer");
  /* all is well, all is well but stopped, no equation, the pass fails, a fit fails, the jackknife fails, one
   * equation at the end, the pass fails and has none, one equation at the beginning */
  for (int round = 0; round < 9; round++) {
    answer is, should;
    psdm_error error;
    psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ENERGY, .run = &w.run};
    psdmp_linalg_blocks b;
    world_new(&g), answer_new(&is), answer_new(&should);
    w.run.stopped = round == 1;
    scripted.equations = round == 2 || round == 7 ? 0 : round == 6 ? 1 : round == 8 ? -2 : -1;
    scripted.fail_pass = round == 3 || round == 7, scripted.fail_finish = round == 4 || round == 6 || round == 8,
    scripted.fail_knife = round == 5;
    psdm_status status = round == 2                 ? PSDM_E_ARGUMENT
                         : round == 3 || round == 7 ? PSDM_E_IO
                         : round < 2                ? PSDM_OK
                                                    : PSDM_E_SINGULAR;
    assert_int_equal(estimate(PSDMP_IDENTIFY_PASS_ENERGY, &is.e, &error), status);
    assert_true(was.passes == 1 && was.all[0] == (round != 1) && was.kind[0] == PSDMP_IDENTIFY_PASS_ENERGY &&
                is.e.steps == 1);
    assert_string_equal(error.text, status == PSDM_E_ARGUMENT ? none : status ? psdm_status_text(status) : "");
    assert_string_equal(error.file, "");
    assert_true(error.line == 0 && error.column == 0);
    assert_true(was.finishes == (round < 2 || (round > 3 && round != 7)) && was.knives == (round < 2 || round == 5));
    if (status) continue;
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &b));
    rows_of(PSDMP_IDENTIFY_PASS_ENERGY, NULL, should.x, &b, NULL);
    was.ending = true;
    assert_int_equal(__real_psdmp_identify_blocks_finish(&w.run, &b, NULL, &should.e), PSDM_OK);
    assert_int_equal(__real_psdmp_identify_blocks_jackknife(&w.run, &b, NULL, should.x, should.covariance), PSDM_OK);
    should.e.steps = 1;
    same_answer(&is, &should);
    psdmp_linalg_blocks_free(&b);
  }
}

/* memory runs out at every place once, and nothing leaks */
TEST(memory) {
  rng g = rng_start("memory");
  for (int kind = 0; kind < PSDMP_IDENTIFY_PASSES; kind++) {
    bool done = false;
    for (long n = 1; !done; n += n < 24 ? 1 : 7) {
      answer is;
      psdm_error error;
      counting c;
      world_new(&g), answer_new(&is);
      counting_fenced_init(&c, n);
      w.run.allocator = &c.allocator;
      psdm_status status = estimate((psdmp_identify_pass_kind)kind, &is.e, &error);
      done = c.calls < n;
      assert_int_equal(status, done ? PSDM_OK : PSDM_E_MEMORY);
      assert_string_equal(error.text, done ? "" : psdm_status_text(PSDM_E_MEMORY));
      assert_int_equal(c.live, 0);
    }
  }
}

TEST_MAIN(simulated_rounds, simulated_failures, robust_rounds, robust_scales, few_residuals, robust_failures,
          energy_answer, memory)
