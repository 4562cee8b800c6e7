/* test_lugre_begin.c: where the search for friction's numbers begins, and where it ends, on short logs that the model itself made: two pieces in two poses, begun in
 * motion, with a constant torque and rows that do not count. Then nothing is left, and all numbers are found again. */
#include "calib/lugre_priv.h"
#include "test_lugre_fit_log.h"

enum { PIECES = 2, ROWS = 2400, CLOCK = 400 };

typedef struct made {
  psdmp_lugre_piece piece[PIECES];
  double v[PIECES][ROWS], a[PIECES][ROWS], tau[PIECES][ROWS];
  signed char use[PIECES][ROWS];
} made;

static made m;

/* sines that grow from 1e-4 to 1.5 rad/s; the second piece in other tones */
static void make(const psdm_friction *f, const double inertia[PIECES], double offset) {
  for (int p = 0; p < PIECES; p++) {
    for (int i = 0; i < ROWS; i++) {
      double t = (double)i / CLOCK, grow = log(1.5e4) * CLOCK / ROWS, size = 1e-4 * exp(grow * t), w = p ? 9.1 : 7.3, phase = 0.7 + p;
      m.v[p][i] = size * sin(w * t + phase);
      m.a[p][i] = size * (w * cos(w * t + phase) + grow * sin(w * t + phase));
      m.use[p][i] = i % 500 > 20;
    }
    m.piece[p] = (psdmp_lugre_piece){.rows = ROWS, .dt = 1.0 / CLOCK, .v = m.v[p], .a = m.a[p], .tau = m.tau[p], .use = m.use[p], .pose = p};
    psdmp_lugre_simulate(f, ROWS, 1.0 / CLOCK, m.v[p], TORQUE_ALONE, m.tau[p]);
    for (int i = 0; i < ROWS; i++) m.tau[p][i] = m.use[p][i] ? m.tau[p][i] + inertia[p] * m.a[p][i] + offset : 1e6;
  }
}

static const double inertia[PIECES] = {0.6, 1.1};

/* joints whose bristles are seen on this clock */
static const psdm_friction truth[] = {{6.2, 7.8, 0.05, 10.7, 0.73, 3e4, 19.2, 0, true}, {3.6, 4.4, 0.1, 2.4, 1.2, 5e3, 8.9, 0, true}};

static void beginnings(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof truth / sizeof *truth; k++)
    for (int offset = 0; offset < 2; offset++) {
      psdmp_lugre_options options = {.offset = offset};
      psdmp_lugre w;
      psdmp_lugre_point points[BEGINNINGS] = {{.friction = {.given = false}}};
      psdm_error error = {0};
      int count, best = 0;
      make(&truth[k], inertia, offset ? 0.9 : 0);
      assert_int_equal(psdmp_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
      if (psdmp_lugre_begin(&w, points, &count, &error)) fail_msg("%s", error.text);
      assert_true(count >= 1 && count <= BEGINNINGS);
      double *residual = malloc(sizeof *residual * (size_t)w.used), left[BEGINNINGS], whole = 0;
      for (int p = 0; p < count; p++) {
        psdmp_lugre_residual(&w, &points[p], residual, NULL, NULL);
        left[p] = 0;
        for (long i = 0; i < w.used; i++) left[p] += residual[i] * residual[i];
        if (left[p] < left[best]) best = p;
      }
      for (long i = 0; i < w.used; i++) whole += w.tau[i] * w.tau[i];
      const psdmp_lugre_point *b = &points[best];
      double worst = 0;
      for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(log(value_of(&b->friction, i) / value_of(&truth[k], i))));
      print_message("  %d beginnings, %.1e of the torque left; Fc .. sigma0 within %.3f, sigma1 %.2f of %.2f, inertias %.4f %.4f, offset %.4f; %d evaluations\n", count, sqrt(left[best] / whole), worst,
                    b->friction.sigma1, truth[k].sigma1, b->inertia[0], b->inertia[1], b->friction.offset, w.evaluations);
      /* the simplex ends at some hundredths, the last search is quadratic from there */
      assert_true(sqrt(left[best] / whole) < 1e-2 && worst < 0.1 && fabs(b->friction.sigma1 / truth[k].sigma1 - 1) < 0.2);
      assert_true(fabs(b->inertia[0] / inertia[0] - 1) < 1e-2 && fabs(b->inertia[1] / inertia[1] - 1) < 1e-2 && fabs(b->friction.offset - (offset ? 0.9 : 0)) < 1e-2);
      assert_true(w.evaluations < 13 + BEGINNINGS * 121 && b->friction.given);
      free(residual);
      psdmp_arena_free(&w.arena);
    }
}

static void numbers_found_again(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof truth / sizeof *truth; k++)
    for (int offset = 0; offset < 2; offset++) {
      psdmp_lugre_options options = {.offset = offset};
      static double model[PIECES * ROWS];
      double covariance[10 * 10];
      psdmp_lugre_answer answer = {.covariance = covariance, .model = model};
      psdm_error error = {0};
      make(&truth[k], inertia, offset ? 0.9 : 0);
      if (psdmp_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
      double worst = 0, apart = 0;
      for (int i = 0; i < 7; i++) assert_true(answer.fitted[i]), worst = fmax(worst, fabs(value_of(&answer.friction, i) / value_of(&truth[k], i) - 1));
      for (int p = 0; p < PIECES; p++) worst = fmax(worst, fabs(answer.inertia[p] - inertia[p]));
      for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < ROWS; i++)
          if (m.use[p][i]) apart = fmax(apart, fabs(model[p * ROWS + i] - m.tau[p][i]));
      assert_int_equal(answer.fitted[7], offset);
      assert_true(fabs(answer.friction.offset - (offset ? 0.9 : 0)) < 1e-10 && worst < 1e-10 && apart < 1e-9 && answer.rmse < 1e-10); /* no noise: a quadratic search ends at rounding */
      for (int i = 0; i < 100; i++) assert_true(fabs(covariance[i]) < 1e-12);
      for (int i = 0; i < 10; i++) assert_true(covariance[11 * i] >= 0 && (covariance[11 * i] > 0 || (i == 7 && !offset)));
      print_message("  numbers off by %.1e, torque by %.1e, %d evaluations\n", worst, apart, answer.evaluations);
    }
}

/* a torque that is a little other moves the numbers as the gain says: the answer of a fit to it, to second order */
static void numbers_follow_the_torque(void **state) {
  (void)state;
  static double D[PIECES * ROWS * 2];
  const double little = 1e-6;
  psdmp_lugre_options options = {.offset = true};
  psdm_error error = {0};
  psdmp_lugre_answer answer = {0}, moved = {0};
  double gain[10 * 2], numbers[2][10];
  make(&truth[0], inertia, 0.9);
  if (psdmp_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++) D[(p * ROWS + i) * 2] = 1, D[(p * ROWS + i) * 2 + 1] = m.v[p][i] + 0.3 * sin(0.1 * i);
  assert_int_equal(psdmp_lugre_gain(PIECES, m.piece, PIECES, &options, &answer, 2, D, NULL, gain), PSDM_OK);
  for (int c = 0; c < 2; c++) {
    make(&truth[0], inertia, 0.9);
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++) m.tau[p][i] += little * D[(p * ROWS + i) * 2 + c];
    if (psdmp_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &moved, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 10; k++) {
      numbers[0][k] = k < 8 ? value_of(&answer.friction, k) : answer.inertia[k - 8], numbers[1][k] = k < 8 ? value_of(&moved.friction, k) : moved.inertia[k - 8];
      double change = (numbers[1][k] - numbers[0][k]) / little, scale = fmax(fabs(gain[2 * k + c]), numbers[0][k]);
      if (!(fabs(change - gain[2 * k + c]) <= 1e-4 * scale)) fail_msg("number %d by column %d: %.6g, the gain is %.6g", k, c, change, gain[2 * k + c]);
    }
  }
  assert_int_equal(psdmp_lugre_gain(PIECES, m.piece, PIECES, &options, &answer, 0, D, NULL, gain), PSDM_E_ARGUMENT);
}

/* where nothing moves there is no friction, and the torque is what is left */
static void nothing_moves(void **state) {
  (void)state;
  static double model[PIECES * ROWS];
  double covariance[10 * 10], square = 0, used = 0;
  psdmp_lugre_options options = {0};
  psdmp_lugre_answer answer = {.covariance = covariance, .model = model};
  psdm_error error = {0};
  make(&truth[0], inertia, 0);
  memset(m.v, 0, sizeof m.v);
  memset(model, 1, sizeof model), memset(covariance, 1, sizeof covariance);
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++)
      if (m.use[p][i]) square += m.tau[p][i] * m.tau[p][i], used++;
  assert_int_equal(psdmp_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error), PSDM_OK);
  assert_true(!answer.friction.given && fabs(answer.rmse - sqrt(square / used)) <= 1e-12 * answer.rmse);
  for (int i = 0; i < PIECES * ROWS; i++) assert_true(model[i] == 0);
  for (int i = 0; i < 100; i++) assert_true(covariance[i] == 0);
  psdmp_lugre_piece one = m.piece[0]; /* one pose has a smaller covariance */
  one.pose = 0;
  memset(covariance, 1, sizeof covariance);
  assert_int_equal(psdmp_lugre_fit(1, &one, 1, &options, NULL, &answer, &error), PSDM_OK);
  for (int i = 0; i < 81; i++) assert_true(covariance[i] == 0);
  assert_true(covariance[81] != 0);
}

/* friction without a viscous part, and without Stribeck's dip: what is not there is let go of, and the rest found */
static void plain_laws(void **state) {
  (void)state;
  const psdm_friction flat = {5, 5, 0.05, 8, 1, 3e4, 15, 0, true};
  psdmp_lugre_options options = {0};
  psdmp_lugre_answer answer = {0};
  psdm_error error = {0};
  make(&flat, inertia, 0);
  if (psdmp_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
  assert_true(!answer.fitted[STAT] && !answer.fitted[STRIBECK] && answer.friction.stat == answer.friction.coulomb);
  assert_true(fabs(answer.friction.coulomb - 5) < 1e-6 && fabs(answer.friction.viscous - 8) < 1e-6 && fabs(answer.friction.exponent - 1) < 1e-6 && fabs(answer.friction.sigma0 / 3e4 - 1) < 1e-6);
  assert_true(fabs(answer.inertia[0] - inertia[0]) < 1e-6 && fabs(answer.inertia[1] - inertia[1]) < 1e-6 && answer.rmse < 1e-6);
}

int main(void) {
  if (library_lacks_fit()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(beginnings), cmocka_unit_test(numbers_found_again), cmocka_unit_test(numbers_follow_the_torque), cmocka_unit_test(nothing_moves),
                                     cmocka_unit_test(plain_laws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
