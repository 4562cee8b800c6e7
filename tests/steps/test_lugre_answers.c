/* test_lugre_answers.c: the friction fit returns the least sum of squares, with its uncertainty and its model;
 * parameters that a motion does not show are dropped; progress is reported and may stop the fit. */
#include "test_lugre_made.h"

static long fit_made(psdmp_steps_lugre_options *options, psdmp_steps_lugre_answer *answer) {
  psdm_error error = {0};
  if (psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, options, NULL, answer, &error)) fail_msg("%s", error.text);
  long used = 0;
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++) used += m.use[p][i];
  return used;
}

/* An answer is the least sum of squares: the residual is orthogonal to the derivative by every fitted number; the
 * uncertainty and the model follow from the residuals and derivatives there. */
static void expect_least(psdmp_steps_lugre_options *options, const psdmp_steps_lugre_answer *a, bool held,
                         double most) {
  psdmp_steps_lugre w;
  psdmp_steps_lugre_point point = {.friction = a->friction};
  psdmp_steps_lugre_doubt doubt;
  assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, options, NULL, &w, NULL), PSDM_OK);
  memcpy(point.inertia, a->inertia, sizeof point.inertia);
  memcpy(point.free, a->fitted, sizeof a->fitted);
  for (int p = 0; p < PIECES; p++) point.free[INERTIA + p] = a->inertia[p] != 0;
  double *residual = malloc(sizeof *residual * (size_t)w.used), *J = malloc(sizeof *J * (size_t)w.used * UNKNOWNS),
         bend[PIECES], square = 0;
  int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(&w, &point, which);
  psdmp_steps_lugre_residual(&w, &point, residual, J, bend);
  psdmp_steps_lugre_doubt_at(&w, &point, residual, J, &doubt);
  for (long i = 0; i < w.used; i++) square += residual[i] * residual[i];
  assert_true(fabs(a->rmse - sqrt(square / (double)w.used)) <= 1e-7 * a->rmse);
  for (int c = 0; c < count; c++) {
    double both = 0, own = 0;
    for (long i = 0; i < w.used; i++)
      both += J[c * w.used + i] * residual[i], own += J[c * w.used + i] * J[c * w.used + i];
    if ((which[c] == SIGMA1 && held) || (which[c] >= SIGMA0 && which[c] <= SIGMA1 && most > 1e-3)) continue;
    if (!(fabs(both) <= most * sqrt(own * square)))
      fail_msg("number %d: %g of it remains in the residual", which[c], both / sqrt(own * square));
  }
  for (int i = 0, row = 0; i < INERTIA + PIECES; row += row < count && which[row] == i, i++)
    for (int k = 0, column = 0; k < INERTIA + PIECES; column += column < count && which[column] == k, k++) {
      bool both = row < count && which[row] == i && column < count && which[column] == k;
      double by_i = i < SIGMA1 ? value_of(&a->friction, i) : 1, by_k = k < SIGMA1 ? value_of(&a->friction, k) : 1;
      double should = both ? by_i * by_k * doubt.covariance[row * count + column] : 0,
             is = a->covariance[i * (INERTIA + PIECES) + k];
      double scale =
          both ? by_i * by_k * sqrt(doubt.covariance[row * (count + 1)] * doubt.covariance[column * (count + 1)]) : 0;
      if (!(fabs(is - should) <= 1e-5 * scale))
        fail_msg("covariance of %d and %d: %g, %g was expected", i, k, is, should);
    }
  long at = 0;
  static double columns[ROWS * TORQUE_AND_START];
  for (int p = 0; p < PIECES; p++) {
    psdmp_steps_lugre_simulate(&a->friction, ROWS, 1.0 / CLOCK, m.v[p], TORQUE_AND_START, columns);
    for (int i = 0; i < ROWS; i++, at++) {
      double should = columns[2 * i] + a->friction.offset + a->inertia[p] * m.a[p][i] + bend[p] * columns[2 * i + 1];
      assert_true(fabs(a->model[at] - should) <= 1e-6 * (1 + fabs(should)));
    }
  }
  free(residual), free(J);
  psdmp_base_arena_free(&w.arena);
}

/* noise, bristles bent where pieces begin, rows that are slower than a metre or a radian a second */
static void answers_are_least(void **state) {
  (void)state;
  static double model[PIECES * ROWS], columns[ROWS * TORQUE_AND_START];
  double covariance[100];
  for (int trial = 0; trial < 4; trial++) {
    bool offset = trial % 2;
    psdmp_steps_lugre_options options = {.offset = offset};
    psdmp_steps_lugre_answer a = {.covariance = covariance, .model = model};
    psdm_friction f = truth[trial / 2];
    rng g = rng_start("lugre answers");
    if (trial == 2) f.sigma1 = 0.01; /* noise makes it negative or zero */
    make(&f, inertia, offset ? 0.9 : 0);
    for (int p = 0; p < PIECES; p++) {
      for (int i = 0; i < ROWS; i++) m.v[p][i] *= 0.5, m.a[p][i] *= 0.5, m.use[p][i] = i % 500 > 20 || i < 20;
      psdmp_steps_lugre_simulate(&f, ROWS, 1.0 / CLOCK, m.v[p], TORQUE_AND_START, columns);
      for (int i = 0; i < ROWS; i++)
        m.tau[p][i] = columns[2 * i] + (p ? -0.5 : 0.7) * f.coulomb * columns[2 * i + 1] + inertia[p] * m.a[p][i] +
                      (offset ? 0.9 : 0) + 0.05 * gauss(&g);
    }
    long used = fit_made(&options, &a);
    assert_true(used > 4000 && a.friction.given && a.evaluations > 20 && fabs(a.rmse - 0.05) < 0.005);
    print_message("  Fc %.4f Fs %.4f vs %.4f Fv %.4f d %.4f sigma %.5g %.4f, inertias %.4f %.4f, offset %.4f\n",
                  a.friction.coulomb, a.friction.stat, a.friction.stribeck, a.friction.viscous, a.friction.exponent,
                  a.friction.sigma0, a.friction.sigma1, a.inertia[0], a.inertia[1], a.friction.offset);
    assert_true(a.friction.sigma1 >= 0);
    expect_least(&options, &a, a.friction.sigma1 == 0, 1e-4);
  }
}

/* there and back at one speed each way, and only rows that slide: a mean each way, which is Fc and the offset, and
 * nothing else is found; with one direction only there is no offset */
static void one_speed_alone(void **state) {
  (void)state;
  static double model[PIECES * ROWS];
  double covariance[100];
  for (int trial = 0; trial < 3; trial++) {
    psdmp_steps_lugre_options options = {.offset = trial != 2};
    psdmp_steps_lugre_answer a = {.covariance = covariance, .model = model};
    rng g = rng_start("lugre one speed");
    double sum[2] = {0}, count[2] = {0};
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++) {
        int half = i / 400 % 2, into = i % 400;
        double sign = half ? -1 : 1;
        m.v[p][i] = sign * 0.5 * fmin(1, into / 20.0), m.a[p][i] = 0, m.use[p][i] = into > 100 && (trial != 1 || !half);
        m.tau[p][i] = sign * 7 + (options.offset ? 0.5 : 0) + 0.3 * gauss(&g);
        if (m.use[p][i]) sum[half] += m.tau[p][i], count[half]++;
      }
    for (int p = 0; p < PIECES; p++)
      m.piece[p] = (psdmp_steps_lugre_piece){
          .rows = ROWS, .dt = 1.0 / CLOCK, .v = m.v[p], .a = m.a[p], .tau = m.tau[p], .use = m.use[p], .pose = p};
    fit_made(&options, &a);
    double forth = sum[0] / count[0], back = trial == 1 ? -forth : sum[1] / count[1],
           Fc = trial == 2 ? (sum[0] - sum[1]) / (count[0] + count[1]) : (forth - back) / 2;
    assert_true(a.friction.given && a.fitted[COULOMB] && a.fitted[OFFSET] == (trial == 0));
    for (int k = STAT; k < OFFSET; k++) assert_false(a.fitted[k]);
    if (!(fabs(a.friction.coulomb / Fc - 1) < 1e-7)) fail_msg("Fc %.10g, %.10g was expected", a.friction.coulomb, Fc);
    assert_true(fabs(a.friction.offset - (trial == 0 ? (forth + back) / 2 : 0)) < 1e-7);
    assert_true(a.friction.stat == a.friction.coulomb && a.friction.viscous == 0 && a.friction.exponent == 1 &&
                a.friction.sigma1 == 0 && a.inertia[0] == 0 && a.inertia[1] == 0);
    assert_true(fabs(a.friction.stribeck / (1e-3 * 0.5) - 1) < 1e-12 &&
                fabs(a.friction.coulomb / a.friction.sigma0 / 1e-4 - 1) < 1e-12);
    expect_least(&options, &a, false, 1e-4);
    if (trial != 0) continue;
    /* means of changes change the means; numbers that are not fitted follow nothing */
    static double D[PIECES * ROWS * 3];
    double gain[(INERTIA + PIECES) * 3], mean[2][3] = {{0}};
    for (int k = 0; k < (INERTIA + PIECES) * 3; k++) gain[k] = NAN;
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++) {
          double change = D[(p * ROWS + i) * 3 + c] = c == 0 ? 1 : rng_uniform(&g, -1, 2) * c;
          if (m.use[p][i]) mean[i / 400 % 2][c] += change / count[i / 400 % 2];
        }
    assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, PIECES, &options, &a, 3, D, NULL, gain), PSDM_OK);
    for (int k = 0; k < INERTIA + PIECES; k++)
      for (int c = 0; c < 3; c++) {
        double should = k == COULOMB ? (mean[0][c] - mean[1][c]) / 2 : k == OFFSET ? (mean[0][c] + mean[1][c]) / 2 : 0;
        if (!(fabs(gain[3 * k + c] - should) <= (k == COULOMB || k == OFFSET ? 1e-7 : 0)))
          fail_msg("number %d by column %d: %.10g, %.10g was expected", k, c, gain[3 * k + c], should);
      }
  }
}

/* fast rows alone: a power law and inertias, found as least squares find them; friction proportional to speed; Coulomb
 * friction only */
static void fast_rows_alone(void **state) {
  (void)state;
  static double model[PIECES * ROWS];
  double covariance[100];
  for (int trial = 0; trial < 3; trial++) {
    psdmp_steps_lugre_options options = {.offset = trial == 1};
    psdmp_steps_lugre_answer a = {.covariance = covariance, .model = model};
    rng g = rng_start("lugre fast rows");
    for (int p = 0; p < PIECES; p++) {
      for (int i = 0; i < ROWS; i++) {
        double t = (double)i / CLOCK, x = 6.283185307179586 * t / 2, v = 1.4 * sin(x + p) + 0.1 * sin(5 * x),
               sign = v < 0 ? -1 : 1;
        m.v[p][i] = v, m.a[p][i] = 6.283185307179586 / 2 * (1.4 * cos(x + p) + 0.5 * cos(5 * x)),
        m.use[p][i] = fabs(v) > (trial == 2 ? 1.2 : 0.3);
        m.tau[p][i] = sign * (trial == 2 ? 6 : 5 + 8 * pow(fabs(v), trial ? 0.5 : 1)) + inertia[p] * m.a[p][i] +
                      (trial == 1 ? 0.7 : 0) + 0.1 * gauss(&g);
      }
      m.piece[p] = (psdmp_steps_lugre_piece){
          .rows = ROWS, .dt = 1.0 / CLOCK, .v = m.v[p], .a = m.a[p], .tau = m.tau[p], .use = m.use[p], .pose = p};
    }
    fit_made(&options, &a);
    print_message("  Fc %.4f Fv %.4f d %.4f offset %.4f, inertias %.4f %.4f; fitted", a.friction.coulomb,
                  a.friction.viscous, a.friction.exponent, a.friction.offset, a.inertia[0], a.inertia[1]);
    for (int k = 0; k < 8; k++) print_message(" %d", a.fitted[k]);
    print_message("\n");
    assert_true(a.fitted[COULOMB] && !a.fitted[STAT] && !a.fitted[STRIBECK] && a.fitted[OFFSET] == options.offset);
    assert_true(a.friction.stat == a.friction.coulomb && a.friction.stribeck > 0 &&
                (a.fitted[SIGMA1] || a.friction.sigma1 == 0));
    if (!a.fitted[SIGMA0])
      assert_true(!a.fitted[SIGMA1] && fabs(a.friction.coulomb / a.friction.sigma0 / 1e-4 - 1) < 1e-12);
    if (trial < 2)
      assert_true(a.fitted[VISCOUS] && fabs(a.inertia[0] - inertia[0]) < 0.02 &&
                  fabs(a.inertia[1] - inertia[1]) < 0.02 && fabs(a.friction.viscous - 8) < 0.5);
    if (!a.fitted[EXPONENT]) assert_true(a.friction.exponent == 1);
  }
}

/* ---- going on, refusals ---- */

typedef struct heard {
  int calls, at;
  double share[4000];
} heard;

static bool listen_and_stop(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  heard *h = user;
  h->share[h->calls < 3999 ? h->calls : 3999] = share;
  return h->calls++ != h->at;
}

static void shares_and_stops(void **state) {
  (void)state;
  static heard all, some;
  psdmp_steps_lugre_answer whole = {0};
  psdm_error error = {0};
  all = (heard){.at = -1};
  psdmp_steps_lugre_options options = {.offset = true, .progress = listen_and_stop, .progress_user = &all};
  make(&truth[0], inertia, 0.9);
  fit_made(&options, &whole);
  int late = 0;
  for (int k = 0; k < all.calls; k++) {
    double share = all.share[k];
    bool last = share >= 0.5 && (late || k > 5); /* for so short a log the simplex stays below */
    late += last;
    double evaluations = last ? (share - 0.5) / 0.01 : share / 0.003;
    assert_true(share > 0 && share <= 1 && (k == 0 || share >= all.share[k - 1]) &&
                (share == 1 || fabs(evaluations - rint(evaluations)) < 1e-9));
    assert_true(evaluations >= 14 - 1e-9);
  }
  assert_true(late > 5 && all.calls > late + 20);
  print_message("  %d shares, %d of the last search, %d evaluations\n", all.calls, late, whole.evaluations);
  for (int k = 0; k < 2; k++) { /* in the simplex, in the last search */
    some = (heard){.at = k ? all.calls - 2 : 3};
    options.progress_user = &some;
    psdmp_steps_lugre_answer a = {0};
    error.line = error.column = -1;
    assert_int_equal(psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &a, &error), PSDM_E_STOPPED);
    assert_string_equal(error.text, "stopped while friction was fitted");
    assert_true(error.line == 0 && error.column == 0 && !a.friction.given && some.calls == some.at + 1 &&
                a.evaluations > 0);
  }
}

static void refused(int pieces, const psdmp_steps_lugre_piece *piece, int poses, const char *words) {
  psdmp_steps_lugre_options options = {0};
  psdmp_steps_lugre w;
  psdm_error error = {.line = -1, .column = -1};
  psdm_status status = psdmp_steps_lugre_open(pieces, piece, poses, &options, NULL, &w, &error);
  assert_int_equal(status, words ? PSDM_E_ARGUMENT : PSDM_OK);
  if (words) assert_string_equal(error.text, words), assert_true(error.line == 0 && error.column == 0);
  psdmp_base_arena_free(&w.arena);
}

static void refusals(void **state) {
  (void)state;
  static const char poses[] = "friction needs rows, and 1 to 8 poses",
                    first[] = "piece 1 of the friction's rows is too short or has numbers that are not finite",
                    second[] = "piece 2 of the friction's rows is too short or has numbers that are not finite";
  psdmp_steps_lugre_piece two[2];
  make(&truth[0], inertia, 0);
  memset(m.use, 1, sizeof m.use);
  memcpy(two, m.piece, sizeof two);
  refused(2, two, 2, NULL), refused(2, two, 8, NULL), refused(1, two, 1, NULL);
  refused(0, two, 2, poses), refused(2, two, 0, poses), refused(2, two, 9, poses), refused(2, two, 1, second);
  two[0].pose = -1, refused(2, two, 2, first), two[0].pose = 2, refused(2, two, 2, first), two[0].pose = 0;
  static const double clocks[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) two[1].dt = clocks[k], refused(2, two, 2, second);
  two[1].dt = 1.0 / CLOCK;
  two[1].rows = 1, refused(2, two, 2, second);
  two[1].rows = 2, refused(2, two, 2, NULL);
  two[0].rows = 2 * UNKNOWNS - 3, refused(2, two, 2, "31 rows are not enough for friction");
  two[0].rows = 2 * UNKNOWNS - 2, refused(2, two, 2, NULL);
  double *const numbers[3] = {&m.v[0][0], &m.a[0][0], &m.tau[0][29]};
  for (int k = 0; k < 3; k++) {
    double before = *numbers[k];
    int row = k == 2 ? 29 : 0;
    *numbers[k] = k == 1 ? INFINITY : NAN, refused(2, two, 2, first);
    /* an unused row needs only a velocity */
    m.use[0][row] = 0, two[0].rows++, refused(2, two, 2, k ? NULL : first), two[0].rows--;
    m.use[0][row] = 1, *numbers[k] = before;
  }
}

int main(void) {
  if (library_lacks_fit()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_least), cmocka_unit_test(one_speed_alone),
                                     cmocka_unit_test(fast_rows_alone), cmocka_unit_test(shares_and_stops),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
