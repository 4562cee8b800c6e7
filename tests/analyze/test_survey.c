/* Samples of M, S and g: how they are drawn, the same bits on any number of threads and ranks, the program for GPUs,
 * compiled as loops on the processor, bin by bin against the library's own code, quantiles against sorted values, and
 * their use in bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../parallel/ranks_by_fork.h"
#include "reduce/monte.h"
#include "analyze/survey_priv.h"

enum { MOST = 8 };

/* between the limits; without limits, a turn for turning joints and 0 for sliding ones, as in the bounds */
static void set_ranges(const psdm_robot *robot, psdmp_analyze_range *range) {
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    if (joint->q < 0) continue;
    bool limited = isfinite(joint->limits.lower) && isfinite(joint->limits.upper),
         slides = joint->type == PSDM_PRISMATIC;
    range[joint->q] = (psdmp_analyze_range){.lower = limited  ? joint->limits.lower
                                                     : slides ? -0.7
                                                              : -3,
                                            .upper = limited  ? joint->limits.upper
                                                     : slides ? 0.4
                                                              : 3,
                                            .slides = slides};
  }
}

static psdmp_analyze_survey_aim aim_of(const psdm_robot *robot, const psdmp_analyze_range *range, long samples) {
  psdmp_analyze_survey_aim aim = {.robot = robot, .range = range, .seed = 7, .samples = samples};
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) aim.limit[k][0] = -INFINITY, aim.limit[k][1] = INFINITY;
  return aim;
}

static psdmp_analyze_survey *run(const psdmp_analyze_survey_aim *aim) {
  psdmp_analyze_survey *s;
  psdm_error error;
  if (psdmp_analyze_survey_run(aim, &s, &error)) fail_msg("%s", error.text);
  return s;
}

/* ---- drawing ---- */

/* Moments of a uniform unit vector: E x_i = 0, E x_i^2 = 1/n, E x_i^4 = 3/(n (n + 2)), E x_i^2 x_j^2 = 1/(n (n +
 * 2)), E x_i x_j = 0, each within five standard deviations of its mean over the samples. */
static void check_sphere(int n, const psdmp_analyze_range *range, long samples) {
  enum { MOMENTS = 5 };
  const double wanted[MOMENTS] = {0, 1.0 / n, 3.0 / (n * (n + 2.0)), 1.0 / (n * (n + 2.0)), 0};
  double sum[MOST][MOST][MOMENTS] = {{{0}}}, square[MOST][MOST][MOMENTS] = {{{0}}}, mean[MOST] = {0}, q[MOST], qd[MOST];
  for (long k = 0; k < samples; k++) {
    double size = 0;
    psdmp_analyze_survey_draw(psdmp_analyze_survey_state(3), n, range, k, q, qd);
    for (int i = 0; i < n; i++) {
      assert_true(q[i] >= range[i].lower && q[i] <= range[i].upper);
      mean[i] += (q[i] - range[i].lower) / (range[i].upper - range[i].lower) / (double)samples;
      size += qd[i] * qd[i];
      for (int j = 0; j < n; j++) {
        double x = qd[i], y = qd[j];
        const double moment[MOMENTS] = {x, x * x, x * x * x * x, x * x * y * y, x * y};
        for (int m = 0; m < MOMENTS; m++) sum[i][j][m] += moment[m], square[i][j][m] += moment[m] * moment[m];
      }
    }
    assert_true(fabs(size - 1) <= 4 * n * 0x1p-53);
  }
  for (int i = 0; i < n; i++) {
    assert_true(fabs(mean[i] - 0.5) <= 5 * sqrt(1.0 / 12 / (double)samples));
    for (int j = 0; j < n; j++)
      for (int m = 0; m < MOMENTS; m++) {
        double average = sum[i][j][m] / (double)samples,
               variance = square[i][j][m] / (double)samples - average * average;
        if ((m >= 3 && i == j) || (n == 1 && m)) continue;
        if (!(fabs(average - wanted[m]) <= 5 * sqrt(variance / (double)samples)))
          fail_msg("n = %d: moment %d of %d, %d is %g, not %g", n, m, i, j, average, wanted[m]);
      }
  }
}

static void spheres(void **state) {
  (void)state;
  psdmp_analyze_range range[MOST];
  for (int j = 0; j < MOST; j++) range[j] = (psdmp_analyze_range){.lower = -1 - j, .upper = 0.1 * j};
  for (int n = 1; n <= 7; n++) check_sphere(n, range, 40000);
  /* from its number alone */
  double q[2][3], qd[2][3];
  psdmp_analyze_survey_draw(psdmp_analyze_survey_state(3), 3, range, 3000000000, q[0], qd[0]);
  psdmp_analyze_survey_draw(psdmp_analyze_survey_state(3), 3, range, 5, q[1], qd[1]);
  assert_memory_not_equal(q[0], q[1], sizeof q[0]);
  psdmp_analyze_survey_draw(psdmp_analyze_survey_state(3), 3, range, 3000000000, q[1], qd[1]);
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_memory_equal(qd[0], qd[1], sizeof qd[0]);
}

/* ---- threads and ranks ---- */

static void same_bits(const psdmp_analyze_survey *a, const psdmp_analyze_survey *b) {
  assert_int_equal(a->samples, b->samples);
  assert_int_equal(a->kept, b->kept);
  assert_memory_equal(a->count, b->count, sizeof *a->count * PSDMP_ANALYZE_SURVEY_ROWS * PSDMP_REDUCE_BINS);
  assert_memory_equal(a->beyond, b->beyond, sizeof a->beyond);
  assert_memory_equal(a->end, b->end, sizeof a->end);
}

/* samples that fill no unit, no group, and one in the last of 13 units */
static void threads_and_ranks(void **state) {
  (void)state;
  static const long samples[] = {50001, 1025, 1, 0};
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  psdmp_analyze_range range[MOST];
  set_ranges(robot, range);
  for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
    psdmp_analyze_survey_aim aim = aim_of(robot, range, samples[k]);
    aim.threads = 1;
    aim.limit[PSDMP_ANALYZE_OF_GRAVITY][1] = 1;
    psdmp_analyze_survey *alone = run(&aim);
    assert_int_equal(alone->samples, samples[k]);
    assert_int_equal(alone->kept, samples[k] > 3 * PSDMP_ANALYZE_SURVEY_GROUP
                                      ? PSDMP_ANALYZE_SURVEY_KEPT
                                      : (samples[k] + PSDMP_ANALYZE_SURVEY_GROUP - 1) / PSDMP_ANALYZE_SURVEY_GROUP);
    for (int size = 2; size <= 3; size++) { /* before threads start, which do not survive a fork */
      forked f;
      fork_ranks(&f, size);
      aim.ranks = &f.ranks;
      if (f.ranks.rank > 0) {
        psdmp_analyze_survey_help(&aim, NULL);
        join_ranks(&f, NULL);
      }
      psdmp_analyze_survey *spread = run(&aim);
      psdmp_parallel_team_dismiss(&f.ranks);
      join_ranks(&f, NULL);
      same_bits(alone, spread);
      psdmp_analyze_survey_free(spread, NULL);
    }
    aim.ranks = NULL;
    psdmp_analyze_survey_free(alone, NULL);
  }
  psdmp_analyze_survey_aim aim = aim_of(robot, range, 50001);
  psdmp_analyze_survey *other[3];
  for (int threads = 1; threads <= 3; threads++) {
    aim.threads = threads;
    other[threads - 1] = run(&aim);
    same_bits(other[0], other[threads - 1]);
  }
  for (int k = 0; k < 3; k++) psdmp_analyze_survey_free(other[k], NULL);
  psdm_robot_free(robot);
}

/* ---- the program for GPUs ---- */

/* bins below: pure rounding for values of this size */
static uint32_t noise(const psdmp_analyze_survey *a, psdmp_analyze_quantity k) {
  double size = fmax(fabs(a->end[k][0][0].value), fabs(a->end[k][1][0].value));
  if (k == PSDMP_ANALYZE_OF_LEAST) size = a->end[PSDMP_ANALYZE_OF_MASS][1][0].value;
  return psdmp_reduce_bin(1e-10 * size / PSDMP_ANALYZE_SURVEY_UNIT, PSDMP_REDUCE_BIN_BITS);
}

static long moved(const psdmp_analyze_survey *a, const psdmp_analyze_survey *b, int row, uint32_t first) {
  long sum = 0;
  for (uint32_t bin = first; bin < PSDMP_REDUCE_BINS; bin++)
    sum += labs((long)a->count[(size_t)row * PSDMP_REDUCE_BINS + bin] -
                (long)b->count[(size_t)row * PSDMP_REDUCE_BINS + bin]);
  return sum;
}

/* Equal up to rounding: eigenvalues err by some ulps of ||M||. One sample in ten billion is that close to a bin's
 * edge. */
static void compare(const char *name, const psdmp_analyze_survey *a, const psdmp_analyze_survey *b) {
  long all = 0;
  assert_int_equal(a->samples, b->samples);
  assert_int_equal(a->kept, b->kept);
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) {
    double size = fmax(fabs(a->end[k][0][0].value), fabs(a->end[k][1][0].value)),
           tolerance = 1e-12 * (k == PSDMP_ANALYZE_OF_LEAST ? a->end[PSDMP_ANALYZE_OF_MASS][1][0].value : size) + 1e-14;
    all += moved(a, b, k, noise(a, (psdmp_analyze_quantity)k));
    for (int e = 0; e < 2; e++) {
      assert_int_equal(a->beyond[k][e], b->beyond[k][e]);
      for (int m = 0; m < a->kept; m++) {
        const psdmp_analyze_extreme *x = &a->end[k][e][m], *y = &b->end[k][e][m];
        if (!(fabs(x->value - y->value) <= tolerance))
          fail_msg("%s: quantity %d, end %d: %.17g beside %.17g", name, k, e, x->value, y->value);
        if (a->end[k][1][0].value - a->end[k][0][0].value > 1e-6 * size) assert_int_equal(x->number, y->number);
      }
    }
  }
  all += moved(a, b, PSDMP_ANALYZE_QUANTITIES, noise(a, PSDMP_ANALYZE_OF_LEAST));
  printf("%s: %ld samples, %ld moved\n", name, a->samples, all / 2);
  assert_true(all / 2 <= 1);
}

/* limits in the middle of the values, so that some are counted */
static void set_limits(psdmp_analyze_survey_aim *aim, const psdmp_analyze_survey *s) {
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) {
    double least = s->end[k][0][0].value, largest = s->end[k][1][0].value, part = 0.301234567 * (largest - least);
    aim->limit[k][0] = least + part, aim->limit[k][1] = largest - part;
    if (part < 1e-6 * fabs(largest)) aim->limit[k][0] = -INFINITY, aim->limit[k][1] = INFINITY;
  }
}

static void beside_loops(const char *name, const psdm_robot *robot, const char *compiler, long samples) {
  psdmp_analyze_range range[32];
  psdmp_reduce_monte *program;
  psdmp_analyze_survey *first, *loops;
  psdm_error error;
  set_ranges(robot, range);
  psdmp_analyze_survey_aim aim = aim_of(robot, range, samples);
  first = run(&aim);
  set_limits(&aim, first);
  psdmp_analyze_survey *here = run(&aim);
  if (psdmp_analyze_survey_program(robot, compiler, NULL, &program, &error)) fail_msg("%s", error.text);
  if (psdmp_analyze_survey_cuda(&aim, program, &loops, &error)) fail_msg("%s", error.text);
  compare(name, here, loops);
  /* again with the same program: it starts from zero */
  psdmp_analyze_survey *again;
  if (psdmp_analyze_survey_cuda(&aim, program, &again, &error)) fail_msg("%s", error.text);
  same_bits(loops, again);
  psdmp_analyze_survey_free(again, NULL);
  psdmp_analyze_survey_free(loops, NULL);
  psdmp_analyze_survey_free(first, NULL);
  psdmp_analyze_survey_free(here, NULL);
  psdmp_reduce_monte_free(program);
}

/* one body's inertia is impossible: least eigenvalues on both sides of 0 */
static const char negative[] =
    "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{a: 0.5}, {a: 0.4}]\n"
    "links: [{mass: 1, com: [-0.25, 0, 0], inertia: {zz: 0.2}}, {mass: 3, com: [-0.2, 0, 0], inertia: {zz: -0.1}}]\n";

/* with a GPU, PSDM_SURVEY_NVCC=nvcc runs it there, with millions of samples */
static void programs(void **state) {
  (void)state;
  rng g = rng_start("programs");
  const char *compiler = getenv("PSDM_SURVEY_NVCC");
  char text[16384];
  if (!compiler && system("command -v c++ > /dev/null")) {
    printf("SKIPPED: no C++ compiler\n");
    return;
  }
  static const char *const names[] = {"kuka_kr6", "fanuc_sr6ia", "parallelogram", "kuka_lbr7"};
  for (int k = 0; k < (compiler ? 4 : 3); k++) {
    psdm_robot *robot = load_shipped(names[k]);
    beside_loops(names[k], robot, compiler ? compiler : "c++", compiler ? 1000003 : 20011);
    psdm_robot_free(robot);
  }
  psdm_robot *none = parse_robot(negative);
  beside_loops("no bodies", none, compiler ? compiler : "c++", compiler ? 1000003 : 10007);
  psdm_robot_free(none);
  for (int round = 0; round < 4; round++) {
    const random_options options = {.n_min = 1 + round,
                                    .n_max = 2 + round,
                                    .trees = round % 2 == 1,
                                    .prismatic = round > 0,
                                    .drives = round % 2 == 0,
                                    .coupled = round == 3};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    snprintf(text, sizeof text, "random %d, %d joints", round, psdm_robot_n(robot));
    beside_loops(text, robot, compiler ? compiler : "c++", compiler ? 300007 : 10007);
    psdm_robot_free(robot);
  }
}

static void no_compiler(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  psdm_bounds *b;
  psdm_error error;
  assert_int_equal(
      psdm_bounds_new(robot,
                      &(psdm_bounds_options){.points = 100, .samples = 10, .cuda = true, .nvcc = "/nonexistent/nvcc"},
                      NULL, &b, &error),
      PSDM_E_COMPILER);
  assert_non_null(strstr(error.text, "CUDA's compiler: '/nonexistent/nvcc' was not found"));
  assert_null(b);
  assert_int_equal(psdm_bounds_new(robot, &(psdm_bounds_options){.samples = -1}, NULL, &b, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_bounds_new(robot, &(psdm_bounds_options){.samples = 5000000000}, NULL, &b, &error),
                   PSDM_E_ARGUMENT);
  psdm_robot_free(robot);
}

/* ---- quantiles, counts and ends against all values, sorted ---- */

static int rising(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* an independent method: norms as maxima of |A x| by powers of A^T A, which share nothing with LAPACK's eigenvalues */
static double norm_by_powers(int n, const double *A) {
  double x[MOST], y[MOST], size = 0;
  for (int start = 0; start < n; start++) {
    for (int i = 0; i < n; i++) x[i] = i == start ? 1 : 0.1 * (i + 1);
    double now = 0;
    for (int round = 0; round < 400; round++) {
      double length = 0, image = 0;
      for (int i = 0; i < n; i++) length += x[i] * x[i];
      if (!(length > 0)) break;
      for (int i = 0; i < n; i++) x[i] /= sqrt(length);
      for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
        image += y[i] * y[i];
      }
      now = sqrt(image);
      for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < n; j++) x[i] += A[j * n + i] * y[j];
      }
    }
    size = fmax(size, now);
  }
  return size;
}

static void look_by_hand(const psdm_robot *robot, psdm_work *work, psdm_linear *linear, const double *q,
                         const double *qd, double *x) {
  int n = psdm_robot_n(robot);
  double M[MOST * MOST], S[MOST * MOST], g[MOST], zero[MOST] = {0}, sum = 0;
  assert_int_equal(psdm_linearize_inverse(robot, linear, q, qd, zero, NULL, S, M), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, q, g), PSDM_OK);
  for (int i = 0; i < n; i++) sum += g[i] * g[i];
  x[PSDMP_ANALYZE_OF_GRAVITY] = sqrt(sum);
  x[PSDMP_ANALYZE_OF_MASS] = norm_by_powers(n, M);
  x[PSDMP_ANALYZE_OF_CORIOLIS] = norm_by_powers(n, S) / 2;
  /* least eigenvalue = ||M|| - || ||M|| - M || */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) M[i * n + j] = (i == j ? x[PSDMP_ANALYZE_OF_MASS] : 0) - M[i * n + j];
  x[PSDMP_ANALYZE_OF_LEAST] = x[PSDMP_ANALYZE_OF_MASS] - norm_by_powers(n, M);
}

static void check_quantity(const psdmp_analyze_survey *s, const psdmp_analyze_survey_aim *aim, psdmp_analyze_quantity k,
                           double *value, long samples) {
  static const double share[] = {0.5, 0.95, 0.999};
  long below = 0, above = 0;
  for (long i = 0; i < samples; i++) below += value[i]<aim->limit[k][0], above += value[i]> aim->limit[k][1];
  assert_int_equal(s->beyond[k][0], below);
  assert_int_equal(s->beyond[k][1], above);
  assert_true(below > 0 && above > 0);
  for (int e = 0; e < 2; e++) {
    long number = s->end[k][e][0].number;
    assert_true(fabs(value[number] - s->end[k][e][0].value) <= 1e-6 * fabs(value[number]));
  }
  qsort(value, (size_t)samples, sizeof *value, rising);
  assert_true(fabs(s->end[k][0][0].value - value[0]) <= 1e-6 * fabs(value[0]) &&
              fabs(s->end[k][1][0].value - value[samples - 1]) <= 1e-6 * value[samples - 1]);
  for (int i = 0; i < 3; i++) {
    double exact = value[(long)ceil(share[i] * (double)samples) - 1],
           found = psdmp_analyze_survey_quantile(s, k, share[i]);
    /* a bin is at most 1/1024 wide; powers are exact to 10^-6 here */
    assert_true(found >= exact - 1e-6 * fabs(exact) && found <= exact + fabs(exact) / 1024 + 1e-6 * fabs(exact));
  }
}

static void quantiles(void **state) {
  (void)state;
  enum { SAMPLES = 6007 };
  double *value = malloc(sizeof *value * PSDMP_ANALYZE_QUANTITIES * SAMPLES);
  assert_non_null(value);
  for (int r = 0; r < 2; r++) {
    psdm_robot *robot = r ? parse_robot(negative) : load_shipped("kuka_kr6");
    psdmp_analyze_range range[MOST];
    psdm_work *work;
    psdm_linear *linear;
    double q[MOST], qd[MOST], x[PSDMP_ANALYZE_QUANTITIES];
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    set_ranges(robot, range);
    psdmp_analyze_survey_aim aim = aim_of(robot, range, SAMPLES);
    psdmp_analyze_survey *s = run(&aim);
    set_limits(&aim, s);
    psdmp_analyze_survey_free(s, NULL);
    s = run(&aim);
    for (long i = 0; i < SAMPLES; i++) {
      psdmp_analyze_survey_draw(psdmp_analyze_survey_state(aim.seed), psdm_robot_n(robot), range, i, q, qd);
      look_by_hand(robot, work, linear, q, qd, x);
      for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) value[k * SAMPLES + i] = x[k];
    }
    for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) /* KR6's is lost in powers of ||M|| - M */
      if (k != PSDMP_ANALYZE_OF_LEAST || r)
        check_quantity(s, &aim, (psdmp_analyze_quantity)k, value + k * SAMPLES, SAMPLES);
    psdmp_analyze_survey_free(s, NULL);
    psdm_work_free(work, NULL);
    psdm_linear_free(linear, NULL);
    psdm_robot_free(robot);
  }
  free(value);
}

/* ---- bounds ---- */

static bool after_some(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  assert_true(share >= 0 && share <= 1);
  return share <= 0.5 || ++*(int *)user < 3;
}

static void bounds(void **state) {
  (void)state;
  static const char *const names[] = {"fanuc_sr6ia", "two_branch"};
  for (int k = 0; k < 2; k++) {
    psdm_robot *robot = load_shipped(names[k]);
    psdm_bounds *without, *with;
    psdm_error error;
    if (psdm_bounds_new(robot, &(psdm_bounds_options){.points = 5000}, NULL, &without, &error))
      fail_msg("%s", error.text);
    if (psdm_bounds_new(robot, &(psdm_bounds_options){.points = 5000, .samples = 20000}, NULL, &with, &error))
      fail_msg("%s", error.text);
    assert_int_equal(without->samples, 0);
    assert_int_equal(with->samples, 20000);
    const psdm_bound *const a[] = {&without->mass, &without->coriolis, &without->gravity, &without->mass_small,
                                   &without->mass_least};
    const psdm_bound *const b[] = {&with->mass, &with->coriolis, &with->gravity, &with->mass_small, &with->mass_least};
    for (int i = 0; i < 5; i++) {
      const psdm_samples *s = &b[i]->at_samples;
      assert_true(i < 3 ? b[i]->found >= a[i]->found && b[i]->found >= s->largest * (1 - 1e-12)
                        : b[i]->found <= a[i]->found && b[i]->found <= s->least + 1e-12 * with->mass.found);
      assert_true(i < 3 ? b[i]->found <= b[i]->bound : b[i]->found >= b[i]->bound);
      assert_true(s->least <= s->half && s->half <= s->most && s->most <= s->nearly_all &&
                  s->nearly_all <= s->largest && s->largest > 0);
      assert_int_equal(s->beyond, 0);
      assert_true(b[i]->bound == a[i]->bound);
    }
    assert_true(with->k[1] == with->mass.bound && with->k[4] == with->coriolis.bound);
    psdm_bounds_free(without);
    psdm_bounds_free(with);
    psdm_robot_free(robot);
  }
  /* stopped in the middle of the samples: those so far */
  psdm_robot *robot = load_shipped("two_link");
  psdm_bounds *b;
  int asked = 0;
  assert_int_equal(
      psdm_bounds_new(
          robot,
          &(psdm_bounds_options){
              .points = 100, .samples = 1000000, .threads = 1, .progress = after_some, .progress_user = &asked},
          NULL, &b, NULL),
      PSDM_OK);
  assert_true(b->stopped && b->samples > 0 && b->samples < 100000);
  psdm_bounds_free(b);
  psdm_robot_free(robot);
}

/* the whole call on two ranks: the same answer, and NULL where one only helps */
static void bounds_on_ranks(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  psdm_bounds *b[2];
  for (int size = 1; size <= 2; size++) {
    forked f;
    fork_ranks(&f, size);
    psdm_bounds *mine = NULL;
    psdm_status status = psdm_bounds_new(
        robot, &(psdm_bounds_options){.points = 1000, .samples = 20000, .threads = 1, .ranks = &f.ranks}, NULL, &mine,
        NULL);
    if (f.ranks.rank > 0) join_ranks(&f, status || mine ? "a helper has an answer" : NULL);
    assert_int_equal(status, PSDM_OK);
    b[size - 1] = mine;
    join_ranks(&f, NULL);
  }
  assert_int_equal(b[0]->samples, b[1]->samples);
  assert_memory_equal(&b[0]->mass.at_samples, &b[1]->mass.at_samples, sizeof b[0]->mass.at_samples);
  assert_memory_equal(&b[0]->coriolis.at_samples, &b[1]->coriolis.at_samples, sizeof b[0]->mass.at_samples);
  assert_true(b[0]->coriolis.found == b[1]->coriolis.found && b[0]->mass_least.found == b[1]->mass_least.found);
  for (int k = 0; k < 2; k++) psdm_bounds_free(b[k]);
  psdm_robot_free(robot);
}

static void memory(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  psdm_bounds *b;
  long fail = 0;
  for (psdm_status status = PSDM_E_MEMORY; status;) {
    counting c;
    counting_init(&c, ++fail);
    status = psdm_bounds_new(robot, &(psdm_bounds_options){.points = 100, .samples = 1500}, &c.allocator, &b, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    assert_true((status == PSDM_OK) == (b != NULL));
    psdm_bounds_free(b);
    assert_int_equal(c.live, 0);
  }
  printf("%ld allocations\n", fail - 1);
  assert_true(fail > 20);
  psdm_robot_free(robot);
}

/* one of two ranks runs out of memory: rank 0 is notified, and both answer the next call normally */
static void memory_on_ranks(void **state) {
  (void)state;
  rng g = rng_start("memory_on_ranks");
  psdm_robot *robot = load_shipped("two_link");
  psdm_bounds_options o = {.points = 100, .samples = 5000, .threads = 1};
  psdm_bounds *b;
  assert_int_equal(psdm_bounds_new(robot, &o, NULL, &b, NULL), PSDM_OK);
  double expected = b->gravity.found;
  psdm_bounds_free(b);
  for (int rank = 0; rank < 2; rank++) {
    int failures = 0;
    for (long at = 1; at < 40; at += rng_int(&g, 1, 2)) {
      forked f;
      counting c;
      alarm(60); /* no rank may wait for ever */
      fork_ranks(&f, 2);
      o.ranks = &f.ranks;
      if (f.ranks.rank) alarm(60);
      counting_init(&c, f.ranks.rank == rank ? at : 0);
      psdm_status first = psdm_bounds_new(robot, &o, &c.allocator, &b, NULL);
      psdm_bounds_free(b);
      psdm_status second = psdm_bounds_new(robot, &o, NULL, &b, NULL);
      if (f.ranks.rank > 0) join_ranks(&f, NULL);
      if (second || b->gravity.found != expected)
        fail_msg("allocation %ld of rank %d: the next call %s", at, rank, second ? "fails" : "has another answer");
      failures += first == PSDM_E_MEMORY;
      psdm_bounds_free(b);
      join_ranks(&f, NULL);
    }
    alarm(0);
    printf("rank %d: %d times memory ran out\n", rank, failures);
    assert_true(failures > 5);
  }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_on_ranks), cmocka_unit_test(threads_and_ranks),
      cmocka_unit_test(spheres),         cmocka_unit_test(programs),
      cmocka_unit_test(no_compiler),     cmocka_unit_test(quantiles),
      cmocka_unit_test(bounds),          cmocka_unit_test(memory),
      cmocka_unit_test(memory_on_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
