/* test_calibrate_decimate.c: regressor and torque through one decimator: compared with the whole matrix decimated at
 * once, in windows, and through the whole calibration; springs. */
#include "test_calibrate_log.h"

#include "identify/identify.h"
#include "psdm/base_parameters.h"

/* both axes upright: gravity does not look like a spring */
static const char upright[] =
    "name: upright\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: 0.4}\n  - {name: "
    "b, type: revolute, a: 0.3}\n"
    "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n"
    "  - {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.001}}\n";

static double *numbers(size_t count) {
  double *memory = calloc(count ? count : 1, sizeof *memory);
  assert_non_null(memory);
  return memory;
}

/* ---- factors against the whole matrix ---- */

enum { N = 2, COLUMNS = 4 };

/* a run in the state in which the recipe gathers factors */
static void make_run(psdmp_identify_run *r, const psdm_robot *robot, const psdm_calibrate_options *o) {
  psdm_error error;
  *r = (psdmp_identify_run){
      .robot = robot, .options = o, .n = N, .S = psdm_robot_parameter_count(robot), .still = 0.05, .finishing = true};
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &r->model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &r->work), PSDM_OK);
  if (psdmp_feed_open(robot, o, NULL, &r->feed, &error)) fail_msg("%s", error.text);
  r->l = psdm_model_l(r->model);
  r->kept = calloc((size_t)r->l, sizeof *r->kept);
  for (int j = 0; j < r->l; j++) psdm_model_base_term(r->model, j, 0, &r->kept[j]);
  r->interval = psdmp_feed_interval(r->feed);
  r->rows = psdmp_feed_rows(r->feed);
  r->reached = malloc((size_t)(N * r->l));
  memset(r->reached, 1, (size_t)(N * r->l));
  r->speed = numbers(N);
  r->dictionary = calloc(N, sizeof *r->dictionary);
  r->choice = calloc(N, sizeof *r->choice);
  for (int i = 0; i < N; i++) {
    r->speed[i] = 1;
    r->dictionary[i] = (psdmp_identify_dictionary){.count = COLUMNS,
                                                   .column = {{PSDM_COLUMN_VISCOUS, 0, 0},
                                                              {PSDM_COLUMN_SIGN, 0, 0},
                                                              {PSDM_COLUMN_OFFSET, 0, 0},
                                                              {PSDM_COLUMN_STOP, 0.05, 0}}};
  }
}

static void free_run(psdmp_identify_run *r) {
  psdmp_feed_close(r->feed);
  psdm_work_free(r->work, NULL);
  psdm_model_free(r->model);
  free(r->kept), free(r->reached), free(r->speed), free(r->dictionary), free(r->choice);
}

/* the plain way: all rows of a segment at once, one call of psdm_decimate, then which of them train */
typedef struct plain {
  psdmp_identify_run *run;
  const psdmp_identify_band *band;
  psdm_decimator filter;
  double *G[N][2]; /* (width^2) sums of A^T A, in motion and at rest */
  double count[N][2];
  long spoilt; /* rows that would train but for one tap */
} plain;

static psdm_status add_plain(void *user, const psdmp_feed_stretch *s, psdm_error *error) {
  plain *w = user;
  psdmp_identify_run *r = w->run;
  psdmp_identify_prepared p;
  assert_int_equal(s->lead + s->trail, 0); /* a whole segment */
  assert_int_equal(psdmp_identify_run_prepare(r, w->band, s, &p, error), PSDM_OK);
  int l = r->l, width = l + COLUMNS + 2, K = w->filter.factor;
  double *Y = numbers((size_t)(N * l)), *scratch = numbers((size_t)(N * (r->S + l)));
  long edge = 0, rows = 0;
  while (p.label[edge] == PSDMP_IDENTIFY_EDGE) edge++;
  while (edge + rows < p.rows && p.label[edge + rows] != PSDMP_IDENTIFY_EDGE) rows++;
  long first = (K - (p.tick + edge) % K) % K, count = (rows - first + K - 1) / K;
  for (int i = 0; i < N; i++) {
    double *A = numbers((size_t)(rows * width)), *out = numbers((size_t)(count * width));
    psdmp_parameters_column_state state = {0};
    for (long k = 0; k < edge + rows; k++) {
      double value[COLUMNS];
      psdmp_parameters_columns_at(r->dictionary[i].column, COLUMNS, p.x[k * N + i], p.v[k * N + i], 0, &state, value);
      if (k < edge) continue;
      double *row = A + (k - edge) * width;
      assert_int_equal(psdmp_identify_run_regressor(r, p.q + k * N, p.qd + k * N, p.qdd + k * N, scratch, Y), PSDM_OK);
      memcpy(row, Y + i * l, (size_t)l * sizeof *row);
      memcpy(row + l, value, sizeof value);
      row[width - 2] = p.tau[k * N + i], row[width - 1] = p.wide[k * N + i];
    }
    psdm_decimate(&w->filter, rows, width, A, first, count, out);
    for (long c = 0; c < count; c++) {
      long middle = edge + first + c * K;
      bool trains = p.label[middle] >= 0, clean = true;
      for (long k = middle - w->filter.half; k <= middle + w->filter.half; k++)
        if (k >= edge && k < edge + rows) clean &= p.label[k] >= 0 && !p.bad[k * N + i];
      w->spoilt += trains && !clean;
      if (!trains || !clean) continue;
      int rest = fabs(p.v[middle * N + i]) <= r->still * r->speed[i];
      w->count[i][rest]++;
      for (int a = 0; a < width; a++)
        for (int b = 0; b < width; b++) w->G[i][rest][a * width + b] += out[c * width + a] * out[c * width + b];
    }
    free(A), free(out);
  }
  free(Y), free(scratch);
  psdmp_identify_prepared_free(&p, NULL);
  return PSDM_OK;
}

/* R^T R of all blocks equals A^T A of the rows decimated at once */
TEST(factors_are_the_whole_matrix) {
  static const int factors[] = {2, 5, 12};
  log_case l;
  log_case_new(&l, "factors_are_the_whole_matrix", parse_robot(two_links));
  for (int round = 0; round < 3; round++) {
    truth w = log_of(l.robot, 3000 + 7 * round, 0.002, 2, 1);
    w.noise = 0.02, w.step = 1e-5;
    tones m = tones_of(&l.g, &w);
    FILE *file = fopen(l.path, "w");
    assert_non_null(file);
    write_rows(file, &w, &l.g, &m, true, 0);
    w.rows = 1101;
    write_rows(file, &w, &l.g, &m, false, 50.0031);
    assert_int_equal(fclose(file), 0);
    psdm_calibrate_options o = {.files = 1,
                                .path = &l.name,
                                .decimate = factors[round],
                                .holdout_block = round ? 1.1 : 0,
                                .holdout_every = round ? 4 : 0};
    const psdmp_identify_band band = {
        .kinematics = PSDM_KINEMATICS_POSITION, .cutoff = 20, .wide = 60, .delay = round == 2 ? 0.0031 : 0};
    psdmp_identify_run r;
    psdmp_identify_factors f;
    psdm_error error;
    plain twin = {.run = &r, .band = &band};
    make_run(&r, l.robot, &o);
    assert_int_equal(psdm_decimator_new(factors[round], NULL, &twin.filter), PSDM_OK);
    int width = r.l + COLUMNS + 2;
    for (int i = 0; i < 2 * N; i++) twin.G[i / 2][i % 2] = numbers((size_t)(width * width));
    assert_int_equal(psdmp_feed_each(r.feed, false, psdmp_identify_band_margin(&r, &band), add_plain, &twin, &error),
                     PSDM_OK);
    assert_int_equal(psdmp_identify_gather_rows(&r, &band, false, PSDMP_IDENTIFY_FOLDS, true, &f, &error), PSDM_OK);
    double worst = 0, all = 0;
    for (int i = 0; i < 2 * N; i++) {
      double *G = twin.G[i / 2][i % 2], *own = numbers((size_t)(width * width)), count = 0;
      assert_int_equal(f.width[i / 2], width);
      for (int b = 0; b < f.blocks; b++) {
        long at = ((long)(i / 2) * f.blocks + b) * 2 + i % 2;
        const double *R = f.R[at];
        count += f.count[at];
        for (int row = 0; row < width; row++)
          for (int x = row; x < width; x++)
            for (int y = row; y < width; y++) own[x * width + y] += R[row * width + x] * R[row * width + y];
      }
      assert_true(count == twin.count[i / 2][i % 2]);
      all += count;
      for (int x = 0; x < width; x++)
        for (int y = 0; y < width; y++) {
          double size = sqrt(G[x * width + x] * G[y * width + y]);
          if (size > 0) worst = fmax(worst, fabs(own[x * width + y] - G[x * width + y]) / size);
          else assert_true(own[x * width + y] == 0);
        }
      free(own);
    }
    print_message("factor %d: %.0f rows, %ld more reach into others; R^T R differs by %.2g\n", factors[round], all,
                  twin.spoilt, worst);
    assert_true(all > 50 && worst < 1e-12 && (twin.spoilt > 0) == (round > 0));
    for (int i = 0; i < 2 * N; i++) free(twin.G[i / 2][i % 2]);
    psdm_decimator_free(&twin.filter, NULL);
    psdmp_identify_factors_free(&r, &f);
    free_run(&r);
  }
  log_case_free(&l);
}

/* ---- to the end ---- */

static psdm_calibrate_options decimated_options(const char *const *path, int decimate) {
  psdm_calibrate_options o = plain_options(path, 1, PSDM_ESTIMATOR_OLS, PSDM_KINEMATICS_POSITION, 40);
  o.holdout = 0.25, o.decimate = decimate;
  return o;
}

typedef struct sums {
  double error[N], count, before, step;
} sums;

static bool add_row(void *user, const psdm_predicted_row *row) {
  sums *s = user;
  /* a gap, never closer */
  if (s->count && fabs(row->t - s->before - s->step) > 1e-9) assert_true(row->t > s->before + s->step);
  s->before = row->t;
  if (row->heldout)
    for (int i = 0; i < N; i++) s->error[i] += (row->tau[i] - row->predicted[i]) * (row->tau[i] - row->predicted[i]);
  s->count++;
  return true;
}

static bool says(const psdm_calibration *c, const char *word) {
  for (int k = 0; k < 8; k++)
    if (strstr(c->reasons[k], word)) return true;
  return false;
}

/* windows that are read again give the same answer as the whole log, which is the truth; figures are those of decimated
 * torques */
TEST(in_windows) {
  log_case l;
  log_case_new(&l, "in_windows", parse_robot(two_links));
  truth w = {.robot = l.robot, .rows = 150000, .dt = 0.001, .viscous = 2, .coulomb = 1, .noise = 0.05};
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = decimated_options(&l.name, 25);
  psdm_calibration *whole = calibrate(l.robot, &o, NULL);
  o.cache = 70000;
  psdm_calibration *streamed = calibrate(l.robot, &o, NULL);
  o.decimate = 0, o.cache = 0;
  psdm_calibration *thinned = calibrate(l.robot, &o, NULL);
  assert_int_equal(whole->used, streamed->used);
  assert_int_equal(whole->stride, 25);
  assert_true(says(whole, "decimation: ") && !says(thinned, "decimation: "));
  double off = 0, size = 0, far = 0, pi[64], theta[64];
  psdm_robot_parameters(l.robot, pi);
  true_theta(l.robot, pi, theta);
  for (int j = 0; j < whole->base; j++)
    off = fmax(off, fabs(whole->theta[j].value - streamed->theta[j].value)),
    size = fmax(size, fabs(whole->theta[j].value));
  for (int j = 0; j < whole->base; j++) far = fmax(far, fabs(whole->theta[j].value - theta[j]));
  assert_true(off < 1e-9 * size && far < 0.03 * size);
  double raw = whole->heldout[PSDM_FIT_RAW].global_rel, all = whole->heldout[PSDM_FIT_ALL].global_rel;
  print_message("theta differs by %.2g, from the truth by %.2g; held out %.5f, torque as logged and decimated %.5f, "
                "thinned rows %.5f\n",
                off / size, far / size, all, raw, thinned->heldout[PSDM_FIT_ALL].global_rel);
  assert_true(all < 0.8 * thinned->heldout[PSDM_FIT_ALL].global_rel); /* noise up to 16 Hz, not to 40 */
  sums s = {.step = 0.025};
  assert_int_equal(psdm_calibration_predict(whole, add_row, &s, NULL), PSDM_OK);
  for (int i = 0; i < N; i++) {
    const psdm_joint_fit *fit = &whole->heldout[PSDM_FIT_ALL].joint[i];
    assert_true(fabs(sqrt(s.error[i] / (double)fit->rows) - fit->rmse) < 1e-9 * fit->rmse);
  }
  psdm_calibration_free(whole);
  psdm_calibration_free(streamed);
  psdm_calibration_free(thinned);
  log_case_free(&l);
}

TEST(refusals_and_memory) {
  static const psdm_estimator walking[] = {PSDM_ESTIMATOR_ROBUST, PSDM_ESTIMATOR_IV, PSDM_ESTIMATOR_DIDIM,
                                           PSDM_ESTIMATOR_ENERGY};
  log_case l;
  log_case_new(&l, "refusals_and_memory", parse_robot(two_links));
  truth w = {.robot = l.robot, .rows = 2500, .dt = 0.002, .viscous = 2, .coulomb = 1, .noise = 0.01};
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = decimated_options(&l.name, 4);
  psdm_calibration *c = NULL;
  psdm_error error;
  for (int k = 0; k < 4; k++) {
    o.estimator = walking[k];
    assert_int_equal(psdm_calibrate(l.robot, &o, NULL, &c, &error), PSDM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "cannot use decimated rows"));
  }
  o.estimator = PSDM_ESTIMATOR_OLS;
  for (int k = 0; k < 2; k++) {
    o.decimate = k ? -1 : (1 << 20) + 1;
    assert_int_equal(psdm_calibrate(l.robot, &o, NULL, &c, &error), PSDM_E_ARGUMENT);
  }
  o.decimate = 1 << 20; /* nothing leaks */
  assert_int_equal(psdm_calibrate(l.robot, &o, NULL, &c, &error), PSDM_E_ARGUMENT);
  o.decimate = 4;
  counting memory;
  counting_init(&memory, 0);
  assert_int_equal(psdm_calibrate(l.robot, &o, &memory.allocator, &c, NULL), PSDM_OK);
  psdm_calibration_free(c);
  assert_int_equal(memory.live, 0);
  long calls = memory.calls;
  for (long at = 1; at <= calls; at += at + 97 < calls - 60 ? 97 : 1) {
    counting_init(&memory, at);
    assert_int_equal(psdm_calibrate(l.robot, &o, &memory.allocator, &c, &error), PSDM_E_MEMORY);
    assert_int_equal(memory.live, 0);
  }
  log_case_free(&l);
}

/* ---- springs ---- */

/* a spring at the second joint, which moves too little to get one from the dictionary: only the fixed columns find
 * it */
TEST(springs_are_found) {
  log_case l;
  log_case_new(&l, "springs_are_found", parse_robot(upright));
  truth w = log_of(l.robot, 6000, 0.005, 2, 1);
  w.reach = 0.35, w.smooth = 0.1, w.noise = 0.01, w.cable = 0.8;
  write_log(l.path, &w, &l.g);
  double stiffness = 0.8 * largest_torque[1];
  for (int round = 0; round < 4; round++) {
    psdm_calibrate_options o = {.files = 1,
                                .path = &l.name,
                                .estimator = round % 2 ? PSDM_ESTIMATOR_WLS : PSDM_ESTIMATOR_CONSISTENT,
                                .holdout = 0.3,
                                .plain_friction = round > 1,
                                .delay_given = true};
    psdm_calibration *without = calibrate(l.robot, &o, NULL);
    o.springs = true;
    psdm_calibration *with = calibrate(l.robot, &o, NULL);
    assert_true(says(with, "springs: ") && !says(without, "springs: "));
    for (int i = 0; i < N; i++) {
      assert_true(with->columns[i] >= 6 && with->column[i][3].kind == PSDM_COLUMN_LINEAR &&
                  with->column[i][4].kind == PSDM_COLUMN_SINE && with->column[i][5].kind == PSDM_COLUMN_COSINE);
      for (int k = 6; k < with->columns[i]; k++) assert_true(with->column[i][k].kind != PSDM_COLUMN_LINEAR);
    }
    /* over so small a motion x and sin x share it; their sum at the ends is the spring's */
    double torque = 0;
    for (int k = 3; k < 5; k++) torque += with->column[1][k].gain * (k == 3 ? 0.5 : sin(0.5));
    double other = with->column[0][3].gain * 0.5 + with->column[0][4].gain * sin(0.5);
    print_message("spring at 0.5 rad: %.3f Nm, truly %.3f, at the other joint %.3f; held out %.4f, without %.4f\n",
                  torque, 0.5 * stiffness, other, with->heldout[PSDM_FIT_MOVING].joint[1].rel,
                  without->heldout[PSDM_FIT_MOVING].joint[1].rel);
    assert_true(fabs(torque - 0.5 * stiffness) < 0.05 * stiffness && fabs(other) < 0.05 * largest_torque[0]);
    /* sign(v) is not exactly the friction of this log */
    assert_true(with->heldout[PSDM_FIT_MOVING].joint[1].rel <
                (o.plain_friction ? 0.7 : 0.4) * without->heldout[PSDM_FIT_MOVING].joint[1].rel);
    psdm_calibration_free(with);
    psdm_calibration_free(without);
  }
  log_case_free(&l);
}

TEST_MAIN(factors_are_the_whole_matrix, in_windows, refusals_and_memory, springs_are_found)
