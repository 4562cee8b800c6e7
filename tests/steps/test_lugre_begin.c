/* test_lugre_begin.c: where the search for friction's numbers begins and ends, on short logs simulated with the model
 * itself: two pieces in two poses, begun in motion, with a constant torque and unused rows. The residual is zero, and
 * all numbers are recovered. */
#include "test_lugre_made.h"

static void beginnings(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof truth / sizeof *truth; k++)
    for (int offset = 0; offset < 2; offset++) {
      psdmp_steps_lugre_options options = {.offset = offset};
      psdmp_steps_lugre w;
      psdmp_steps_lugre_point points[BEGINNINGS] = {{.friction = {.given = false}}};
      psdm_error error = {0};
      int count, best = 0;
      make(&truth[k], inertia, offset ? 0.9 : 0);
      assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
      if (psdmp_steps_lugre_begin(&w, points, &count, &error)) fail_msg("%s", error.text);
      assert_true(count >= 1 && count <= BEGINNINGS);
      double *residual = malloc(sizeof *residual * (size_t)w.used), left[BEGINNINGS], whole = 0;
      for (int p = 0; p < count; p++) {
        psdmp_steps_lugre_residual(&w, &points[p], residual, NULL, NULL);
        left[p] = 0;
        for (long i = 0; i < w.used; i++) left[p] += residual[i] * residual[i];
        if (left[p] < left[best]) best = p;
      }
      for (long i = 0; i < w.used; i++) whole += w.tau[i] * w.tau[i];
      const psdmp_steps_lugre_point *b = &points[best];
      double worst = 0;
      for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(log(value_of(&b->friction, i) / value_of(&truth[k], i))));
      print_message("  %d beginnings, %.1e of the torque left; Fc .. sigma0 within %.3f, sigma1 %.2f of %.2f, inertias "
                    "%.4f %.4f, offset %.4f; %d evaluations\n",
                    count, sqrt(left[best] / whole), worst, b->friction.sigma1, truth[k].sigma1, b->inertia[0],
                    b->inertia[1], b->friction.offset, w.evaluations);
      /* the simplex ends at some hundredths, the last search is quadratic from there */
      assert_true(sqrt(left[best] / whole) < 1e-2 && worst < 0.1 &&
                  fabs(b->friction.sigma1 / truth[k].sigma1 - 1) < 0.2);
      assert_true(fabs(b->inertia[0] / inertia[0] - 1) < 1e-2 && fabs(b->inertia[1] / inertia[1] - 1) < 1e-2 &&
                  fabs(b->friction.offset - (offset ? 0.9 : 0)) < 1e-2);
      assert_true(w.evaluations < 13 + BEGINNINGS * 121 && b->friction.given);
      free(residual);
      psdmp_base_arena_free(&w.arena);
    }
}

static void numbers_are_recovered(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof truth / sizeof *truth; k++)
    for (int offset = 0; offset < 2; offset++) {
      psdmp_steps_lugre_options options = {.offset = offset};
      static double model[PIECES * ROWS];
      double covariance[10 * 10];
      psdmp_steps_lugre_answer answer = {.covariance = covariance, .model = model};
      psdm_error error = {0};
      make(&truth[k], inertia, offset ? 0.9 : 0);
      if (psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
      double worst = 0, apart = 0;
      for (int i = 0; i < 7; i++)
        assert_true(answer.fitted[i]),
            worst = fmax(worst, fabs(value_of(&answer.friction, i) / value_of(&truth[k], i) - 1));
      for (int p = 0; p < PIECES; p++) worst = fmax(worst, fabs(answer.inertia[p] - inertia[p]));
      for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < ROWS; i++)
          if (m.use[p][i]) apart = fmax(apart, fabs(model[p * ROWS + i] - m.tau[p][i]));
      assert_int_equal(answer.fitted[7], offset);
      /* no noise: a quadratic search ends at rounding */
      assert_true(fabs(answer.friction.offset - (offset ? 0.9 : 0)) < 1e-10 && worst < 1e-10 && apart < 1e-9 &&
                  answer.rmse < 1e-10);
      for (int i = 0; i < 100; i++) assert_true(fabs(covariance[i]) < 1e-12);
      for (int i = 0; i < 10; i++)
        assert_true(covariance[11 * i] >= 0 && (covariance[11 * i] > 0 || (i == 7 && !offset)));
      print_message("  numbers off by %.1e, torque by %.1e, %d evaluations\n", worst, apart, answer.evaluations);
    }
}

/* a small change of the torque moves the numbers as the gain predicts: the answer of a fit to it, to second order */
static void numbers_follow_the_torque(void **state) {
  (void)state;
  static double D[PIECES * ROWS * 2];
  const double little = 1e-6;
  psdmp_steps_lugre_options options = {.offset = true};
  psdm_error error = {0};
  psdmp_steps_lugre_answer answer = {0}, moved = {0};
  double gain[10 * 2], numbers[2][10];
  make(&truth[0], inertia, 0.9);
  if (psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++)
      D[(p * ROWS + i) * 2] = 1, D[(p * ROWS + i) * 2 + 1] = m.v[p][i] + 0.3 * sin(0.1 * i);
  assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, PIECES, &options, &answer, 2, D, NULL, gain), PSDM_OK);
  for (int c = 0; c < 2; c++) {
    make(&truth[0], inertia, 0.9);
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++) m.tau[p][i] += little * D[(p * ROWS + i) * 2 + c];
    if (psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &moved, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < 10; k++) {
      numbers[0][k] = k < 8 ? value_of(&answer.friction, k) : answer.inertia[k - 8],
      numbers[1][k] = k < 8 ? value_of(&moved.friction, k) : moved.inertia[k - 8];
      double change = (numbers[1][k] - numbers[0][k]) / little, scale = fmax(fabs(gain[2 * k + c]), numbers[0][k]);
      if (!(fabs(change - gain[2 * k + c]) <= 1e-4 * scale))
        fail_msg("number %d by column %d: %.6g, the gain is %.6g", k, c, change, gain[2 * k + c]);
    }
  }
  assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, PIECES, &options, &answer, 0, D, NULL, gain),
                   PSDM_E_ARGUMENT);
}

/* without motion there is no friction, and the residual is the torque */
static void nothing_moves(void **state) {
  (void)state;
  static double model[PIECES * ROWS];
  double covariance[10 * 10], square = 0, used = 0;
  psdmp_steps_lugre_options options = {0};
  psdmp_steps_lugre_answer answer = {.covariance = covariance, .model = model};
  psdm_error error = {0};
  make(&truth[0], inertia, 0);
  memset(m.v, 0, sizeof m.v);
  memset(model, 1, sizeof model), memset(covariance, 1, sizeof covariance);
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++)
      if (m.use[p][i]) square += m.tau[p][i] * m.tau[p][i], used++;
  assert_int_equal(psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error), PSDM_OK);
  assert_true(!answer.friction.given && fabs(answer.rmse - sqrt(square / used)) <= 1e-12 * answer.rmse);
  for (int i = 0; i < PIECES * ROWS; i++) assert_true(model[i] == 0);
  for (int i = 0; i < 100; i++) assert_true(covariance[i] == 0);
  psdmp_steps_lugre_piece one = m.piece[0]; /* one pose has a smaller covariance */
  one.pose = 0;
  memset(covariance, 1, sizeof covariance);
  assert_int_equal(psdmp_steps_lugre_fit(1, &one, 1, &options, NULL, &answer, &error), PSDM_OK);
  for (int i = 0; i < 81; i++) assert_true(covariance[i] == 0);
  assert_true(covariance[81] != 0);
}

/* friction without a viscous part, and without Stribeck's dip: the absent part is dropped, and the rest found */
static void plain_laws(void **state) {
  (void)state;
  const psdm_friction flat = {5, 5, 0.05, 8, 1, 3e4, 15, 0, true};
  psdmp_steps_lugre_options options = {0};
  psdmp_steps_lugre_answer answer = {0};
  psdm_error error = {0};
  make(&flat, inertia, 0);
  if (psdmp_steps_lugre_fit(PIECES, m.piece, PIECES, &options, NULL, &answer, &error)) fail_msg("%s", error.text);
  assert_true(!answer.fitted[STAT] && !answer.fitted[STRIBECK] && answer.friction.stat == answer.friction.coulomb);
  assert_true(fabs(answer.friction.coulomb - 5) < 1e-6 && fabs(answer.friction.viscous - 8) < 1e-6 &&
              fabs(answer.friction.exponent - 1) < 1e-6 && fabs(answer.friction.sigma0 / 3e4 - 1) < 1e-6);
  assert_true(fabs(answer.inertia[0] - inertia[0]) < 1e-6 && fabs(answer.inertia[1] - inertia[1]) < 1e-6 &&
              answer.rmse < 1e-6);
}

/* ---- step by step: the search is stopped where the simplex begins, and plain code checks each number so far ---- */

enum { COLUMNS = 9 };

/* x with the least residual of tau, by elimination; returns the residual. Columns that depend on those before get 0. */
static double plain_left(int n, long rows, const double *X, const double *tau, double *x) {
  double A[COLUMNS][COLUMNS + 1] = {{0}}, b[COLUMNS], length[COLUMNS], left = 0;
  bool out[COLUMNS];
  for (long r = 0; r < rows; r++, X += n) {
    left += tau[r] * tau[r];
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) A[i][k] += X[i] * X[k];
      A[i][n] += X[i] * tau[r];
    }
  }
  for (int i = 0; i < n; i++) length[i] = A[i][i] > 0 ? sqrt(A[i][i]) : 1, b[i] = A[i][n];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) A[i][k] /= length[i] * length[k];
    A[i][n] /= length[i];
  }
  for (int c = 0; c < n; c++) {
    out[c] = !(A[c][c] > 1e-11);
    for (int i = 0; i < n && !out[c]; i++) {
      double factor = A[i][c] / A[c][c];
      for (int k = 0; k <= n && i != c; k++) A[i][k] -= factor * A[c][k];
    }
  }
  for (int i = 0; i < n; i++) x[i] = out[i] ? 0 : A[i][n] / A[i][i] / length[i], left -= x[i] * b[i];
  return left;
}

static double X[PIECES * ROWS * COLUMNS], rhs[PIECES * ROWS];

/* a row of (20): Fc, Fv, offset, inertias */
static void steady_row(int p, int i, double d, bool offset, double *row) {
  double v = m.v[p][i], sign = v < 0 ? -1 : 1;
  row[0] = sign, row[1] = sign * pow(fabs(v), d), row[2] = offset, row[3] = p == 0 ? m.a[p][i] : 0,
  row[4] = p == 1 ? m.a[p][i] : 0;
}

/* the best exponent of rows above a speed, to 1e-5, and the rms of its residual */
static double fast_rms(double above, bool offset, double log_d) {
  long rows = 0;
  double x[COLUMNS];
  for (int p = 0; p < PIECES; p++)
    for (int i = 0; i < ROWS; i++)
      if (m.use[p][i] && fabs(m.v[p][i]) > above)
        steady_row(p, i, exp(log_d), offset, X + 5 * rows), rhs[rows++] = m.tau[p][i];
  return sqrt(plain_left(5, rows, X, rhs, x) / (double)rows);
}

/* the residual of a steady curve in rows after which the drive has gone five lengths in one direction, and Fs / Fc */
static double curve_left(double length, bool offset, double vs, double log_d, double *rise) {
  long rows = 0;
  double x[COLUMNS];
  for (int p = 0; p < PIECES; p++) {
    double gone = 0;
    for (int i = 1; i < ROWS; i++) {
      gone = m.v[p][i] * m.v[p][i - 1] > 0 ? gone + fabs(m.v[p][i]) / CLOCK : 0;
      if (!m.use[p][i] || gone < 5 * length) continue;
      steady_row(p, i, exp(log_d), offset, X + 6 * rows);
      X[6 * rows + 5] = X[6 * rows] * exp(-m.v[p][i] / vs * m.v[p][i] / vs);
      rhs[rows++] = m.tau[p][i];
    }
  }
  double left = plain_left(6, rows, X, rhs, x);
  *rise = x[0] > 0 ? 1 + x[5] / x[0] : 0;
  return *rise > 0.3 && *rise < 3 ? left : INFINITY;
}

/* the residual with bristles of a length, without Stribeck: Fc, Fv, offset, inertias and each piece's beginning */
static double length_left(double length, double fastest, double d, bool offset) {
  static double column[ROWS * BRISTLES_ONLY];
  psdm_friction f = {.coulomb = 1, .stat = 1, .stribeck = fastest, .sigma0 = 1 / length};
  double x[COLUMNS];
  long rows = 0;
  for (int p = 0; p < PIECES; p++) {
    psdmp_steps_lugre_simulate(&f, ROWS, 1.0 / CLOCK, m.v[p], BRISTLES_ONLY, column);
    for (int i = 0; i < ROWS; i++) {
      double *row = X + 7 * rows;
      if (!m.use[p][i]) continue;
      steady_row(p, i, d, offset, row);
      if (m.v[p][i] == 0) row[1] = 0;
      row[0] = column[i * BRISTLES_ONLY];
      row[5] = p == 0 ? column[i * BRISTLES_ONLY + 2] : 0, row[6] = p == 1 ? column[i * BRISTLES_ONLY + 2] : 0;
      rhs[rows++] = m.tau[p][i];
    }
  }
  return plain_left(7, rows, X, rhs, x);
}

/* the least of a function on an interval, by golden section */
typedef struct asked {
  bool fast, offset;
  double of, vs;
} asked;

static double ask(const asked *a, double x) {
  double rise;
  return a->fast ? fast_rms(a->of, a->offset, x) : curve_left(a->of, a->offset, a->vs, x, &rise);
}

static double least_of(const asked *a, double low, double high, double to, double *value) {
  const double golden = 0.6180339887498949;
  double left = high - golden * (high - low), right = low + golden * (high - low), f = ask(a, left), g = ask(a, right);
  while (high - low > to)
    if (f <= g) high = right, right = left, g = f, left = high - golden * (high - low), f = ask(a, left);
    else low = left, left = right, f = g, right = low + golden * (high - low), g = ask(a, right);
  *value = fmin(f, g);
  return f <= g ? left : right;
}

/* stops where the simplex of a beginning begins: one evaluation more than from one of its places to the next */
typedef struct stopping {
  int from, begun;
  double first, last;
} stopping;

static bool stop_where_it_begins(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  stopping *s = user;
  if (s->begun == 0) s->first = share;
  s->begun += share > s->last + 0.0045;
  s->last = share;
  return s->begun <= s->from;
}

/* speeds whose curve is better than their neighbours', the best first, none much worse: at most three */
static int best_speeds(double length, bool offset, double fastest, double vs[BEGINNINGS], double log_d[BEGINNINGS],
                       double least[BEGINNINGS]) {
  double left[18], at[18];
  int count = 0;
  for (int k = 0; k < 18; k++) {
    asked a = {.of = length, .offset = offset, .vs = fastest * pow(10, -0.2 * (k + 1))};
    at[k] = least_of(&a, log(0.1), log(3), 4e-3, &left[k]);
  }
  while (count < BEGINNINGS) {
    int best = -1;
    for (int k = 0; k < 18; k++) {
      bool taken = false, lowest = (k == 0 || left[k] <= left[k - 1]) && (k == 17 || left[k] <= left[k + 1]);
      for (int i = 0; i < count; i++) taken = taken || fabs(vs[i] / (fastest * pow(10, -0.2 * (k + 1))) - 1) < 1e-9;
      if (isfinite(left[k]) && lowest && !taken && (best < 0 || left[k] < left[best])) best = k;
    }
    if (best < 0 || (count > 0 && left[best] > 1.5 * least[0])) break;
    vs[count] = fastest * pow(10, -0.2 * (best + 1)), log_d[count] = at[best], least[count++] = left[best];
  }
  return count;
}

static void steps_of_a_beginning(void **state) {
  (void)state;
  int most_curves = 0;
  for (int trial = 0; trial < 6; trial += trial == 3 ? 2 : 1) {
    bool flickers = trial % 2, offset = trial > 1;                /* every row reverses the direction: nothing slides */
    const double slow = trial == 3 ? 0.12 : trial == 5 ? 0.3 : 0; /* of the fastest: below, friction is another */
    stopping stop = {.last = 0};
    psdmp_steps_lugre_options options = {.offset = offset, .progress = stop_where_it_begins, .progress_user = &stop};
    psdmp_steps_lugre_point points[BEGINNINGS] = {{.friction = {.given = false}}};
    psdmp_steps_lugre w;
    psdm_error error = {0};
    int count;
    rng g = rng_start("lugre steps");
    make(&truth[trial > 1], inertia, offset ? 0.9 : 0);
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS && flickers; i++) {
        double v = rng_uniform(&g, 0.02, 1.5);
        m.v[p][i] = i % 2 ? -v : v, m.a[p][i] = rng_uniform(&g, -5, 5), m.use[p][i] = i > 0;
        m.tau[p][i] = (i % 2 ? -1 : 1) * (3 + 4 * pow(v, 0.8) + (v < 1.5 * slow ? 5 : 0)) + inertia[p] * m.a[p][i] +
                      (offset ? 0.9 : 0);
      }
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++) m.tau[p][i] += m.use[p][i] ? (flickers ? 0.5 : 0.2) * gauss(&g) : 0;
    assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
    if (psdmp_steps_lugre_begin(&w, points, &count, &error)) fail_msg("%s", error.text);
    assert_true(count == 1 && w.stopped && points[0].friction.given);
    assert_true(w.evaluations == 15 && stop.first == 0.003 * 14); /* thirteen lengths, one curve, the simplex' first */
    const psdm_friction *f = &points[0].friction;

    /* the exponent of fast rows: from the lowest threshold that fits as well as the highest, to a tenth */
    static const double thresholds[] = {0.3, 0.2, 0.12, 0.07, 0.04, 0.02};
    double d = 0, first = 0, rms;
    int lowest = 0;
    for (int k = 0; k < 6; k++) {
      asked a = {.fast = true, .offset = offset, .of = thresholds[k] * w.fastest};
      double next = least_of(&a, -3, 1.6, 1e-4, &rms);
      if (k == 0) first = rms;
      if (rms > 1.1 * first) break;
      d = exp(next), lowest = k;
    }
    if (flickers) assert_int_equal(lowest, slow == 0 ? 5 : trial == 3 ? 2 : 0);
    /* the length: the way at most, in roots of ten */
    double way = 0, best = INFINITY;
    int longest = 0;
    for (int p = 0; p < PIECES; p++) {
      double at = 0, low = 0, high = 0;
      for (int i = 1; i < ROWS; i++)
        at += (m.v[p][i - 1] + m.v[p][i]) / 2 / CLOCK, low = fmin(low, at), high = fmax(high, at);
      way = fmax(way, high - low);
    }
    for (int k = 2; k <= 14; k++) {
      double left = length_left(way * pow(10, -0.5 * k), w.fastest, d, offset);
      if (left < best) best = left, longest = k;
    }
    /* the best, or a shorter one with the same residual */
    double length = f->coulomb / f->sigma0, place = 2 * log10(way / length), rise, left;
    if (!(fabs(place - rint(place)) < 1e-12 * 14 && place > 1.5 && place < 14.5 &&
          length_left(length, w.fastest, d, offset) <= best * (1 + 1e-9)))
      fail_msg("bristles of %g, %g was expected", length, way * pow(10, -0.5 * longest));
    print_message("  fast rows d = %.4f; bristles %.3g of a way of %.3g; vs %.3g, d %.4f, Fs / Fc %.4f\n", d, length,
                  way, f->stribeck, f->exponent, f->stat / f->coulomb);
    if (flickers) {
      /* where Levenberg and Marquardt end */
      if (!(fabs(f->exponent / d - 1) < 2e-4 && fabs(d - 0.8) < 0.1))
        fail_msg("fast rows: d = %.6f, %.6f was expected", f->exponent, d);
      assert_true(fabs(f->stribeck / (0.01 * w.fastest) - 1) < 1e-14 && f->stat == f->coulomb);
    } else { /* curves with the least residual */
      double vs[BEGINNINGS], at[BEGINNINGS], least[BEGINNINGS];
      int curves = best_speeds(length, offset, w.fastest, vs, at, least);
      most_curves = curves > most_curves ? curves : most_curves;
      for (int k = 0; k < curves; k++) {
        if (k > 0) { /* once more, as far as the next one */
          stop = (stopping){.from = k};
          psdmp_base_arena_free(&w.arena);
          memset(points, 0, sizeof points);
          assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
          assert_int_equal(psdmp_steps_lugre_begin(&w, points, &count, &error), PSDM_OK);
          assert_int_equal(count, k + 1);
        }
        f = &points[k].friction;
        if (!(fabs(f->stribeck / vs[k] - 1) < 1e-12 && fabs(log(f->exponent) - at[k]) < 0.02))
          fail_msg("curve %d: vs %g d %g, %g %g were expected", k, f->stribeck, f->exponent, vs[k], exp(at[k]));
        left = curve_left(length, offset, vs[k], log(f->exponent), &rise);
        assert_true(left < least[k] * 1.01 && fabs(f->stat / f->coulomb / rise - 1) < 1e-9);
      }
      stop = (stopping){.from = 100};
      psdmp_base_arena_free(&w.arena);
      memset(points, 0, sizeof points);
      assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
      assert_int_equal(psdmp_steps_lugre_begin(&w, points, &count, &error), PSDM_OK);
      assert_true(count == curves && !w.stopped);
      print_message("  %d curves\n", curves);
    }
    psdmp_base_arena_free(&w.arena);
  }
  assert_true(most_curves > 1);
}

/* linear numbers are solved for: the residual is orthogonal to their columns, whatever the filter, up to rounding:
 * columns may agree to 1e-11 of their squares */
static void linear_numbers_are_solved_for(void **state) {
  (void)state;
  psdm_filter filter;
  assert_int_equal(psdm_filter_butterworth(4, 60, CLOCK, &filter), PSDM_OK);
  for (int trial = 0; trial < 4; trial++) {
    bool offset = trial % 2;
    psdmp_steps_lugre_options options = {.offset = offset, .filter = trial > 1 ? &filter : NULL};
    psdmp_steps_lugre_point points[BEGINNINGS] = {{.friction = {.given = false}}};
    psdmp_steps_lugre w;
    psdm_error error = {0};
    int count;
    rng g = rng_start("lugre linear");
    make(&truth[trial % 2], inertia, offset ? 0.9 : 0);
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++) m.tau[p][i] += 0.5 * gauss(&g);
    assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, PIECES, &options, NULL, &w, &error), PSDM_OK);
    if (psdmp_steps_lugre_begin(&w, points, &count, &error)) fail_msg("%s", error.text);
    assert_true(count >= 1);
    double *residual = malloc(sizeof *residual * (size_t)w.used), *J = malloc(sizeof *J * (size_t)w.used * UNKNOWNS);
    int looked = 0;
    for (int k = 0; k < count; k++) {
      const psdm_friction *f = &points[k].friction;
      /* they would be negative: the others are not solved for again without them */
      if (f->sigma1 == 0 || f->viscous == 1e-3 * f->coulomb) continue;
      looked++;
      for (int i = 0; i < INERTIA + PIECES; i++) points[k].free[i] = i != OFFSET || offset;
      psdmp_steps_lugre_residual(&w, &points[k], residual, J, NULL);
      int which[UNKNOWNS], columns = psdmp_steps_lugre_free_numbers(&w, &points[k], which);
      double all = 0, all2 = 0, r2 = 0;
      for (long i = 0; i < w.used; i++) {
        double size = J[i] + J[w.used + i] + J[SIGMA0 * w.used + i]; /* Fc, Fs and sigma0 grow together */
        all += size * residual[i], all2 += size * size, r2 += residual[i] * residual[i];
      }
      if (!(fabs(all) <= 1e-4 * sqrt(all2 * r2)))
        fail_msg("beginning %d: %g of the bristles remains in the residual", k, all / sqrt(all2 * r2));
      for (int c = 0; c < columns; c++) {
        double both = 0, own = 0;
        for (long i = 0; i < w.used; i++)
          both += J[c * w.used + i] * residual[i], own += J[c * w.used + i] * J[c * w.used + i];
        bool linear =
            which[c] == VISCOUS || which[c] >= OFFSET || (which[c] == SIGMA1 && points[k].friction.sigma1 > 0);
        if (linear && !(fabs(both) <= 1e-4 * sqrt(own * r2)))
          fail_msg("number %d of beginning %d: %g of it remains in the residual", which[c], k, both / sqrt(own * r2));
      }
    }
    assert_true(looked > 0);
    free(residual), free(J);
    psdmp_base_arena_free(&w.arena);
  }
}

int main(void) {
  if (library_lacks_fit()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(beginnings),
                                     cmocka_unit_test(numbers_are_recovered),
                                     cmocka_unit_test(numbers_follow_the_torque),
                                     cmocka_unit_test(nothing_moves),
                                     cmocka_unit_test(plain_laws),
                                     cmocka_unit_test(steps_of_a_beginning),
                                     cmocka_unit_test(linear_numbers_are_solved_for)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
