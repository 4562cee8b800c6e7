/* test_lugre_fit.c: bristles against their exact twin, numbers recovered without noise, parameters that a motion does
 * not show. */
#include "steps/lugre_priv.h"
#include "test_lugre_fit_log.h"

/* ---- simulation ---- */

static psdm_friction random_friction(rng *g) {
  psdm_friction f = truths[rng_int(g, 0, JOINTS - 1)];
  f.coulomb *= rng_uniform(g, 0.7, 1.4), f.stat = f.coulomb * rng_uniform(g, 0.8, 1.4),
                                         f.stribeck *= rng_uniform(g, 0.5, 2), f.viscous *= rng_uniform(g, 0.7, 1.4);
  f.exponent = rng_uniform(g, 0.5, 1.2), f.sigma0 *= rng_uniform(g, 0.5, 2), f.sigma1 *= rng_uniform(g, 0, 2);
  return f;
}

/* three sines and now and then a jump, a rest */
static void random_velocity(rng *g, long rows, double size, double *v) {
  double w[3], phase[3], part[3];
  for (int k = 0; k < 3; k++)
    w[k] = rng_uniform(g, 1, 40), phase[k] = rng_uniform(g, 0, 6), part[k] = size * rng_uniform(g, 0, 1);
  for (long i = 0; i < rows; i++) {
    v[i] = 0;
    for (int k = 0; k < 3; k++) v[i] += part[k] * sin(w[k] * (double)i / RATE + phase[k]);
    if (i % 400 > 370) v[i] = 0;
    if (i % 400 > 360 && i % 400 < 366) v[i] = -size;
  }
}

/* Chords of G over an eighth of vs miss it by |Fs - Fc| / 256 at most, and as much again the trapezoid of 1/G; where G
 * is constant both are exact. */
static void test_simulation(void **unused) {
  (void)unused;
  enum { ROWS = 2000, TRIALS = 60 };
  rng g = rng_start("lugre simulation");
  double t[ROWS], v[ROWS], z[ROWS], should[ROWS], is[ROWS], worst = 0, worst_level = 0;
  for (long i = 0; i < ROWS; i++) t[i] = (double)i / RATE;
  for (int trial = 0; trial < TRIALS; trial++) {
    psdm_friction f = random_friction(&g);
    bool level = trial % 3 == 0;
    if (level) f.stat = f.coulomb;
    random_velocity(&g, ROWS, pow(10, rng_uniform(&g, -4, 0.5)), v);
    psdm_lugre_follow(&f, 0, ROWS, t, v, z, should);
    psdmp_steps_lugre_simulate(&f, ROWS, 1.0 / RATE, v, TORQUE_ALONE, is);
    for (long i = 0; i < ROWS; i++) {
      double damped = 1 + f.sigma1 * fabs(v[i]) / fmin(f.coulomb, f.stat), error = fabs(is[i] - should[i]) / damped;
      if (level) worst_level = fmax(worst_level, error / f.coulomb);
      else worst = fmax(worst, error / fabs(f.stat - f.coulomb));
    }
  }
  print_message("  %.1e of Fs - Fc, %.1e of Fc where Fs = Fc\n", worst, worst_level);
  assert_true(worst < 2.0 / 256);
  assert_true(worst_level < 1e-11); /* the twin's own 1e-12, over a thousand rows */
}

/* Central differences: a step of 1e-5 leaves 1e-10 of truncation and 1e-11 of rounding, more where numbers are stiff.
 * The number of fine steps depends on vs, and jumps: its derivative is checked closely where it does not. */
static void test_derivatives(void **unused) {
  (void)unused;
  enum { ROWS = 1500, TRIALS = 24 };
  rng g = rng_start("lugre derivatives");
  static double v[ROWS], columns[ROWS * WITH_DERIVATIVES], up[ROWS], down[ROWS];
  double worst[7] = {0}, worst_jump = 0, worst_start = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    psdm_friction f = random_friction(&g);
    bool slow = trial % 2 == 0;
    random_velocity(&g, ROWS, slow ? f.stribeck * rng_uniform(&g, 0.01, 0.03) : pow(10, rng_uniform(&g, -4, 0.3)), v);
    psdmp_steps_lugre_simulate(&f, ROWS, 1.0 / RATE, v, WITH_DERIVATIVES, columns);
    for (int k = 0; k < 7; k++) {
      psdm_friction other = f;
      double step = 1e-5 * value_of(&f, k), most = 0, error = 0;
      *psdmp_parameters_lugre_number(&other, k) = value_of(&f, k) + step;
      psdmp_steps_lugre_simulate(&other, ROWS, 1.0 / RATE, v, TORQUE_ALONE, up);
      *psdmp_parameters_lugre_number(&other, k) = value_of(&f, k) - step;
      psdmp_steps_lugre_simulate(&other, ROWS, 1.0 / RATE, v, TORQUE_ALONE, down);
      for (long i = 0; i < ROWS; i++) {
        most = fmax(most, fabs(columns[i * WITH_DERIVATIVES + 1 + k]));
        error = fmax(error, fabs((up[i] - down[i]) / (2 * step) - columns[i * WITH_DERIVATIVES + 1 + k]));
      }
      if (k == 2 && !slow) worst_jump = fmax(worst_jump, error / fmax(most, 1e-2 * f.coulomb / f.stribeck));
      else worst[k] = fmax(worst[k], error / fmax(most, 1e-2 * f.coulomb / value_of(&f, k)));
    }
    /* the effect of a bend at the beginning, from the twin */
    double t[ROWS], z[ROWS], bent[ROWS], unbent[ROWS];
    for (long i = 0; i < ROWS; i++) t[i] = (double)i / RATE;
    psdm_lugre_follow(&f, 0.5 * f.coulomb / f.sigma0, ROWS, t, v, z, bent);
    psdm_lugre_follow(&f, 0, ROWS, t, v, z, unbent);
    for (long i = 0; i < ROWS; i++) {
      double damped = 1 + f.sigma1 * fabs(v[i]) / fmin(f.coulomb, f.stat);
      worst_start = fmax(worst_start, fabs((bent[i] - unbent[i]) / (0.5 * f.coulomb) -
                                           columns[i * WITH_DERIVATIVES + WITH_DERIVATIVES - 1]) /
                                          damped);
    }
  }
  for (int k = 0; k < 7; k++) print_message("  %s %.1e", number_names[k], worst[k]);
  print_message("  vs where it jumps %.1e  beginning %.1e\n", worst_jump, worst_start);
  for (int k = 0; k < 7; k++) assert_true(worst[k] < 1e-6);
  assert_true(worst_jump < 5e-2);
  assert_true(worst_start < 2.0 / 256);
}

/* ---- numbers recovered ---- */

static psdmp_steps_lugre_answer fitted(const drive_log *l, double *covariance, double *model) {
  psdmp_steps_lugre_answer answer = {.covariance = covariance, .model = model};
  psdm_error error = {0};
  psdm_status status = psdmp_steps_lugre_fit(1, &l->piece, 1, &l->options, NULL, &answer, &error);
  if (status) fail_msg("%s", error.text);
  return answer;
}

static bool all_finite(const psdmp_steps_lugre_answer *answer) {
  for (int k = 0; k < NUMBERS; k++)
    if (!isfinite(value_of(&answer->friction, k))) return false;
  for (int k = 0; k < 81 && answer->covariance; k++)
    if (!isfinite(answer->covariance[k])) return false;
  return isfinite(answer->rmse) && isfinite(answer->inertia[0]);
}

/* Positions on a clock of 1 kHz leave out what happens between rows: up to a thousandth of vs and a tenth of sigma1,
 * which acts for milliseconds only. */
static void test_recovery(void **unused) {
  (void)unused;
  static const double most[7] = {5e-4, 2e-4, 2e-3, 5e-4, 5e-4, 5e-4, 0.15};
  double worst[7] = {0}, worst_curve = 0, worst_inertia = 0;
  drive_log l;
  log_new(&l, LOG_ROWS);
  double *model = malloc(sizeof *model * LOG_ROWS);
  for (int j = 0; j < JOINTS; j++) {
    double V[81], apart = 0;
    record(&l, &truths[j], inertias[j], motion, 0, 0, NULL);
    psdmp_steps_lugre_answer answer = fitted(&l, V, model);
    for (int k = 0; k < 7; k++)
      assert_true(answer.fitted[k]),
          worst[k] = fmax(worst[k], fabs(value_of(&answer.friction, k) / value_of(&truths[j], k) - 1));
    assert_false(answer.fitted[7]);
    worst_curve = fmax(worst_curve, curve_error(&answer.friction, &truths[j], 1e-3, 3));
    worst_inertia = fmax(worst_inertia, fabs(answer.inertia[0] / inertias[j] - 1));
    for (long i = 0; i < l.rows; i++) apart += (model[i] - l.tau[i]) * (model[i] - l.tau[i]);
    assert_true(fabs(sqrt(apart / (double)l.rows) - answer.rmse) < 1e-9 * efforts[j]);
  }
  for (int k = 0; k < 7; k++) print_message("  %s %.1e", number_names[k], worst[k]);
  print_message("  inertia %.1e, curve %.1e\n", worst_inertia, worst_curve);
  for (int k = 0; k < 7; k++) assert_true(worst[k] < most[k]);
  assert_true(worst_curve < 2e-4);
  assert_true(worst_inertia < 5e-4);
  free(model);
  log_free(&l);
}

/* Two pieces in two poses, the second begun in the middle of a motion with bristles bent; a constant torque; every
 * seventh second held out, and the rows that a filter cut there smears. */
static void test_pieces(void **unused) {
  (void)unused;
  const long cut = 8 * LEVEL_ROWS + 300;
  drive_log l;
  log_new(&l, LOG_ROWS);
  record(&l, &truths[2], 0.56, motion, 0, 0, NULL);
  for (long i = 0; i < l.rows; i++)
    l.tau[i] += 0.9 + (i < cut ? 0 : 0.3 * l.a[i]), l.use[i] = i / 1000 % 7 != 3 && labs(i - cut) > 150;
  psdmp_steps_lugre_piece pieces[2] = {l.piece,
                                       {.rows = l.rows - cut,
                                        .dt = l.piece.dt,
                                        .v = l.v + cut,
                                        .a = l.a + cut,
                                        .tau = l.tau + cut,
                                        .use = l.use + cut,
                                        .pose = 1}};
  pieces[0].rows = cut;
  l.options.offset = true;
  psdmp_steps_lugre_answer answer = {0};
  assert_int_equal(psdmp_steps_lugre_fit(2, pieces, 2, &l.options, NULL, &answer, NULL), PSDM_OK);
  double offset = answer.friction.offset;
  answer.friction.offset = 0;
  double curve = curve_error(&answer.friction, &truths[2], 1e-3, 3),
         bristles = fabs(answer.friction.sigma0 / truths[2].sigma0 - 1);
  print_message("  inertias %.5f %.5f, offset %.5f, curve %.1e, sigma0 %.1e\n", answer.inertia[0], answer.inertia[1],
                offset, curve, bristles);
  assert_true(fabs(answer.inertia[0] - 0.56) < 1e-3 && fabs(answer.inertia[1] - 0.86) < 1e-3);
  assert_true(answer.fitted[7] && fabs(offset - 0.9) < 1e-3);
  assert_true(curve < 1e-3 && bristles < 2e-3);
  log_free(&l);
}

/* bristles that are bent when the log begins, with the small sines first */
static void test_bent_beginning(void **unused) {
  (void)unused;
  drive_log l;
  log_new(&l, LOG_ROWS);
  record(&l, &truths[4], inertias[4], motion, 0, 0, NULL);
  double *bent = malloc(sizeof *bent * LOG_ROWS), *unbent = malloc(sizeof *bent * LOG_ROWS),
         *t = malloc(sizeof *t * LOG_ROWS);
  double *scratch = malloc(sizeof *scratch * psdm_filter_scratch(&l.filter, l.rows));
  assert_true(bent && unbent && t && scratch);
  for (long i = 0; i < l.rows; i++) t[i] = (double)i / RATE;
  psdm_lugre_follow(&truths[4], 4e-5, l.rows, t, l.v, NULL, bent);
  psdm_lugre_follow(&truths[4], 0, l.rows, t, l.v, NULL, unbent);
  for (long i = 0; i < l.rows; i++) bent[i] -= unbent[i];
  psdm_filter_zero_phase(&l.filter, l.rows, 1, bent, scratch);
  for (long i = 0; i < l.rows; i++) l.tau[i] += bent[i];
  double V[81];
  psdmp_steps_lugre_answer answer = fitted(&l, V, NULL);
  print_message("  curve %.1e, sigma0 %.1e, rmse %.1e of %.2f Nm\n", curve_error(&answer.friction, &truths[4], 1e-3, 3),
                fabs(answer.friction.sigma0 / truths[4].sigma0 - 1), answer.rmse, 4e-5 * truths[4].sigma0);
  assert_true(curve_error(&answer.friction, &truths[4], 1e-3, 3) < 2e-4);
  assert_true(fabs(answer.friction.sigma0 / truths[4].sigma0 - 1) < 5e-4);
  free(bent), free(unbent), free(t), free(scratch);
  log_free(&l);
}

/* ---- parameters that do not show ---- */

static void expect_nothing(const psdmp_steps_lugre_answer *answer) {
  assert_false(answer->friction.given);
  assert_true(all_finite(answer));
  for (int k = 0; k < NUMBERS; k++) assert_false(answer->fitted[k]);
  for (int k = 0; k < 81; k++) assert_true(answer->covariance[k] == 0);
}

static void resting(double t, double out[3]) { (void)t, out[0] = out[1] = out[2] = 0; }

static void test_rest(void **unused) {
  (void)unused;
  rng g = rng_start("lugre rest");
  drive_log l;
  log_new(&l, 5000);
  double V[81], *model = malloc(sizeof *model * 5000);
  record(&l, &truths[0], 1.9, resting, 0, 0, &g);
  psdmp_steps_lugre_answer answer = fitted(&l, V, model);
  expect_nothing(&answer);
  for (int i = 0; i < 5000; i++) assert_true(model[i] == 0);
  /* an encoder that flickers, a torque that is noise */
  record(&l, &truths[0], 1.9, resting, 0, 0.65, &g);
  for (long i = 0; i < l.rows; i++) l.v[i] = 1e-6 * gauss(&g), l.a[i] = 1e-3 * gauss(&g);
  answer = fitted(&l, V, model);
  assert_true(all_finite(&answer));
  assert_true(!answer.friction.given || fabs(psdm_friction_steady(&answer.friction, PSDM_FRICTION_LUGRE, 1e-6)) < 0.65);
  free(model);
  log_free(&l);
}

/* there and back at one speed; turns take 50 ms */
static void one_speed(double t, double out[3]) {
  const double whole = 2, speed = 0.5, turn = 0.05;
  double s = fmod(t, whole), sign = s < whole / 2 ? 1 : -1, u = fmod(s, whole / 2), x = fmin(u / turn, 1);
  out[0] = 0;
  out[1] = t < turn ? speed * x : sign * speed * (x < 1 ? 2 * x - 1 : 1);
  out[2] = x < 1 ? sign * speed * (t < turn ? 1 : 2) / turn : 0;
}

/* exact v and a: this tests rows, not filters */
static void exact_log(drive_log *l, const psdm_friction *f, double inertia, void (*move)(double, double *),
                      double noise, rng *g) {
  double at[3], *t = malloc(sizeof *t * (size_t)l->rows);
  for (long i = 0; i < l->rows; i++) t[i] = (double)i / RATE, move(t[i], at), l->v[i] = at[1], l->a[i] = at[2];
  psdm_lugre_follow(f, 0, l->rows, t, l->v, NULL, l->tau);
  for (long i = 0; i < l->rows; i++) l->tau[i] += inertia * l->a[i] + noise * gauss(g);
  l->options.filter = NULL;
  free(t);
}

static void test_one_speed(void **unused) {
  (void)unused;
  rng g = rng_start("lugre one speed");
  drive_log l;
  log_new(&l, 12000);
  exact_log(&l, &truths[1], 2.7, one_speed, 0.5, &g);
  for (long i = 0; i < l.rows; i++) l.use[i] = l.a[i] == 0 && i % RATE > 60;
  for (int direction = 0; direction < 2; direction++) {
    double V[81];
    l.options.offset = true;
    psdmp_steps_lugre_answer answer = fitted(&l, V, NULL);
    double is = psdm_friction_steady(&answer.friction, PSDM_FRICTION_LUGRE, 0.5),
           should = psdm_friction_steady(&truths[1], PSDM_FRICTION_LUGRE, 0.5);
    print_message("  %s: Fc %.4f, steady %.4f of %.4f, inertia %g\n", direction ? "one way" : "both ways",
                  answer.friction.coulomb, is, should, answer.inertia[0]);
    assert_true(all_finite(&answer));
    assert_true(answer.friction.given && answer.fitted[0] && fabs(is / should - 1) < 5e-3);
    for (int k = 1; k < 7; k++) assert_false(answer.fitted[k]);
    assert_true(answer.fitted[7] == (direction == 0));
    assert_true(answer.friction.stat == answer.friction.coulomb && answer.friction.viscous == 0 &&
                answer.friction.exponent == 1 && answer.friction.stribeck > 0);
    assert_true(answer.friction.sigma0 > 0 && answer.friction.sigma1 == 0 && answer.inertia[0] == 0);
    assert_null(psdm_friction_lacks(&answer.friction, PSDM_FRICTION_LUGRE));
    for (long i = 0; i < l.rows; i++) l.use[i] = l.use[i] && l.v[i] > 0;
  }
  log_free(&l);
}

/* only fast rows far from a turn: no bristles, no Stribeck, but everything else */
static void test_no_slow_rows(void **unused) {
  (void)unused;
  rng g = rng_start("lugre no slow rows");
  drive_log l;
  log_new(&l, LOG_ROWS);
  record_joint(&l, 0, &g);
  for (long i = 0; i < l.rows; i++) l.use[i] = fabs(l.v[i]) > 0.2;
  double V[81];
  psdmp_steps_lugre_answer answer = fitted(&l, V, NULL);
  double error = curve_error(&answer.friction, &truths[0], 0.2, 3);
  print_message("  curve %.1e, Fc / sigma0 %.1e\n", error, answer.friction.coulomb / answer.friction.sigma0);
  assert_true(all_finite(&answer));
  assert_true(answer.fitted[0] && answer.fitted[3] && answer.fitted[4]);
  assert_false(answer.fitted[1] || answer.fitted[2] || answer.fitted[5] || answer.fitted[6]);
  assert_true(answer.friction.stat == answer.friction.coulomb);
  assert_true(fabs(answer.friction.coulomb / answer.friction.sigma0 - 1e-4) < 5e-5);
  assert_true(error < 0.01);
  for (int k = 0; k < 5; k += k == 0 ? 3 : 1)
    assert_true(fabs(value_of(&answer.friction, k) - value_of(&truths[0], k)) < 4 * sqrt(V[k * 10]));
  for (int k = 1; k < 9; k++)
    for (int i = 0; i < 9; i++)
      if (k == 1 || k == 2 || k == 5 || k == 6 || k == 7) assert_true(V[k * 9 + i] == 0 && V[i * 9 + k] == 0);
  log_free(&l);
}

/* Fs = Fc: no vs is found, and Fs is right; no friction at all */
static void test_plain_friction(void **unused) {
  (void)unused;
  rng g = rng_start("lugre plain friction");
  drive_log l;
  log_new(&l, LOG_ROWS);
  psdm_friction level = truths[3];
  level.stat = level.coulomb;
  double V[81];
  record(&l, &level, 0.084, motion, 4.8e-7, 0.08, &g);
  psdmp_steps_lugre_answer answer = fitted(&l, V, NULL);
  print_message("  Fs / Fc %.4f, curve %.1e", answer.friction.stat / answer.friction.coulomb,
                curve_error(&answer.friction, &level, 1e-3, 3));
  assert_true(all_finite(&answer));
  assert_true(answer.fitted[0] && answer.fitted[5] && !answer.fitted[1] && !answer.fitted[2] &&
              answer.friction.stat == answer.friction.coulomb);
  assert_true(curve_error(&answer.friction, &level, 1e-3, 3) < 0.01);
  psdm_friction none = {.stribeck = 0.1, .exponent = 1, .given = true};
  record(&l, &none, 0.084, motion, 4.8e-7, 0.08, &g);
  answer = fitted(&l, V, NULL);
  print_message("; of none %.1e Nm\n",
                answer.friction.given ? psdm_friction_steady(&answer.friction, PSDM_FRICTION_LUGRE, 0.1) : 0);
  assert_true(all_finite(&answer));
  assert_true(!answer.friction.given || fabs(psdm_friction_steady(&answer.friction, PSDM_FRICTION_LUGRE, 0.1)) < 0.01);
  log_free(&l);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  drive_log l;
  log_new(&l, 200);
  psdmp_steps_lugre_answer answer = {0};
  psdm_error error = {0};
  psdmp_steps_lugre_piece piece = l.piece;
  assert_int_equal(psdmp_steps_lugre_fit(0, &piece, 1, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 9, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  piece.pose = 1;
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 1, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  piece.pose = 0, piece.rows = 20;
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 1, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "20 rows are not enough for friction");
  piece.rows = 200, l.tau[7] = NAN;
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 1, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "not finite"));
  l.use[7] = 0; /* a bad row is not read */
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 1, &l.options, NULL, &answer, &error), PSDM_OK);
  l.v[7] = INFINITY;
  assert_int_equal(psdmp_steps_lugre_fit(1, &piece, 1, &l.options, NULL, &answer, &error), PSDM_E_ARGUMENT);
  log_free(&l);
}

/* ---- prediction ---- */

static void test_prediction(void **unused) {
  (void)unused;
  rng g = rng_start("lugre prediction");
  enum { ROWS = 3000 };
  drive_log l;
  log_new(&l, ROWS);
  psdm_friction f = random_friction(&g);
  f.offset = 0.3;
  double *should = malloc(sizeof *should * ROWS), *t = malloc(sizeof *t * ROWS),
         *scratch = malloc(sizeof *scratch * psdm_filter_scratch(&l.filter, ROWS)), worst = 0;
  random_velocity(&g, ROWS, 0.2, l.v);
  for (long i = 0; i < ROWS; i++) t[i] = (double)i / RATE;
  psdm_lugre_follow(&f, 0, ROWS, t, l.v, NULL, should);
  psdm_filter_zero_phase(&l.filter, ROWS, 1, should, scratch);
  assert_int_equal(psdmp_steps_lugre_predict(&f, &l.filter, ROWS, 1.0 / RATE, l.v, NULL, l.tau), PSDM_OK);
  for (long i = 0; i < ROWS; i++) worst = fmax(worst, fabs(l.tau[i] - should[i]));
  print_message("  %.1e of Fs - Fc\n", worst / fabs(f.stat - f.coulomb));
  assert_true(worst < 2.0 / 256 * fabs(f.stat - f.coulomb) * (1 + f.sigma1 * 0.6 / fmin(f.stat, f.coulomb)));
  /* without bristles the steady state, without friction nothing */
  f.sigma0 = 0;
  assert_int_equal(psdmp_steps_lugre_predict(&f, NULL, ROWS, 1.0 / RATE, l.v, NULL, l.tau), PSDM_OK);
  for (long i = 0; i < ROWS; i++) assert_true(l.tau[i] == psdm_friction_steady(&f, PSDM_FRICTION_POWER, l.v[i]));
  f.given = false;
  assert_int_equal(psdmp_steps_lugre_predict(&f, &l.filter, ROWS, 1.0 / RATE, l.v, NULL, l.tau), PSDM_OK);
  for (long i = 0; i < ROWS; i++) assert_true(l.tau[i] == 0);
  assert_int_equal(psdmp_steps_lugre_predict(&f, NULL, 1, 1.0 / RATE, l.v, NULL, l.tau), PSDM_E_ARGUMENT);
  counting c;
  counting_init(&c, 1);
  assert_int_equal(psdmp_steps_lugre_predict(&f, &l.filter, ROWS, 1.0 / RATE, l.v, &c.allocator, l.tau), PSDM_E_MEMORY);
  free(should), free(t), free(scratch);
  log_free(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_simulation), cmocka_unit_test(test_derivatives),    cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_pieces),     cmocka_unit_test(test_bent_beginning), cmocka_unit_test(test_rest),
      cmocka_unit_test(test_one_speed),  cmocka_unit_test(test_no_slow_rows),   cmocka_unit_test(test_plain_friction),
      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_prediction),
  };
  return library_lacks_fit() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
