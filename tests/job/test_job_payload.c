/* test_job_payload.c: the job payload from memory to memory: a load that is known, rows, parameters, stops,
 * refusals. */
#include "../identify/test_calibrate_log.h"
#include "../payload/test_payload_file.h"
#define JOB_ROBOT "kuka_kr6"
#include "jobs.h"

enum { ROWS = 600, N = 6, COLUMNS = 1 + 4 * N, REPEATS = 50 };

static const psdm_load truth_load = {1.5, {0.02, -0.03, 0.06}, {0.004, 0.0002, 0, 0.005, -0.0001, 0.003}};

static char parameters[TEXT];
static double numbers[2][ROWS][COLUMNS], *many;
static const char *names[COLUMNS];
static char name_text[COLUMNS][8];
static const double *column[3][COLUMNS];
static long stride[COLUMNS];
/* of the robot with the load, without it, with it again and again */
static psdm_log_table logs[3];

static void add_row(psdm_predictor *predictor, const tones *m, double time, double *row) {
  double tau[N];
  row[0] = time;
  tones_at(m, N, time, row + 1, row + 1 + N, row + 1 + 2 * N);
  assert_int_equal(psdm_predictor_step(predictor, row + 1, row + 1 + N, row + 1 + 2 * N, tau, NULL), PSDM_OK);
  memcpy(row + 1 + 3 * N, tau, sizeof tau);
}

/* what the parameters predict along a motion, with the load or without */
static void fill(int with, const tones *m) {
  psdm_parameters *p = parse_parameters(robot, parameters), *own = NULL;
  psdm_predictor *predictor;
  psdm_error error;
  double pi[10];
  psdm_load_to_standard(&truth_load, pi);
  assert_int_equal(
      psdm_payload_parameters(robot, p, psdm_robot_default_link(robot, NULL), pi, NULL, NULL, &own, &error), PSDM_OK);
  assert_int_equal(psdm_predictor_new(with ? own : p, robot, NULL, &predictor, &error), PSDM_OK);
  psdm_predictor_begin(predictor);
  for (int k = 0; k < ROWS; k++) add_row(predictor, m, 0.005 * k, numbers[!with][k]);
  psdm_predictor_free(predictor);
  psdm_parameters_free(p), psdm_parameters_free(own);
}

static void name_columns(void) {
  static const char *const groups[] = {"q", "qd", "qdd", "tau"};
  snprintf(name_text[0], sizeof name_text[0], "t");
  for (int k = 1; k < COLUMNS; k++)
    snprintf(name_text[k], sizeof name_text[k], "%s%d", groups[(k - 1) / N], (k - 1) % N + 1);
  for (int k = 0; k < COLUMNS; k++) {
    names[k] = name_text[k], stride[k] = COLUMNS;
    column[0][k] = &numbers[0][0][k], column[1][k] = &numbers[1][0][k], column[2][k] = many + k;
  }
}

static int set_up(void **state) {
  static double pi[STANDARD];
  rng g = rng_start("load");
  load(state);
  psdm_robot_parameters(robot, pi);
  parameter_text(
      &(parameter_file){.robot = robot, .pi = pi, .viscous = 2, .coulomb = 0.3, .offset = 0.1, .smooth = 0.1},
      parameters, sizeof parameters);
  const tones m = tones_of(&g, &(truth){.robot = robot, .reach = 0.8});
  for (int with = 0; with < 2; with++) fill(with, &m);
  if (!(many = calloc((size_t)REPEATS * ROWS * COLUMNS, sizeof *many))) return -1;
  for (long k = 0; k < (long)REPEATS * ROWS; k++) {
    memcpy(many + k * COLUMNS, numbers[0][k % ROWS], sizeof numbers[0][0]);
    many[k * COLUMNS] = 0.005 * (double)k;
  }
  name_columns();
  static const char *const called[] = {"with", "without", "many"};
  for (int k = 0; k < 3; k++)
    logs[k] = (psdm_log_table){called[k], k < 2 ? ROWS : REPEATS * ROWS, COLUMNS, names, column[k], stride};
  return 0;
}

static int tear_down(void **state) {
  free(many);
  return unload(state);
}

static psdm_job *payload(const psdm_job_host *host) {
  psdm_error error = {0};
  psdm_job *job = job_of("payload", host, robot);
  if (psdm_job_text(job, "params", "calibration", parameters, &error)) fail_msg("%s", error.text);
  return job;
}

static void take(psdm_job *job, const char *setting, int log) {
  psdm_error error = {0};
  if (psdm_job_log(job, setting, &logs[log], &error)) fail_msg("%s", error.text);
}

static const psdm_payload_result *answer_of(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_payload_result_type);
  return (const psdm_payload_result *)psdm_job_result(job);
}

/* torques of all rows: measured ones are those of the robot with the load, or without it */
static void check_rows(const psdm_job_rows *rows, long with, bool without) {
  static const char *const groups[] = {"q", "qd", "qdd", "tau", "raw", "empty", "with"};
  long seen[2] = {0};
  assert_int_equal(rows->columns, 3 + 7 * N);
  assert_string_equal(rows->names[1], "segment");
  assert_string_equal(rows->names[2], "loaded");
  for (int g = 0; g < 7; g++) assert_memory_equal(rows->names[3 + N * g], groups[g], strlen(groups[g]));
  for (long k = 0; k < rows->rows; k++) {
    const double *row = rows->values + k * rows->columns, *tau = row + 3 + 3 * N;
    bool loaded_row = row[2] == 1;
    assert_true(row[2] == 0 || loaded_row);
    seen[loaded_row]++;
    for (int i = 0; i < N; i++) {
      assert_float_equal(tau[i], tau[N + i], 0);
      assert_float_equal(tau[i], tau[(loaded_row ? 3 : 2) * N + i], 1e-6 * (1 + fabs(tau[i])));
    }
  }
  assert_int_equal(seen[1], with);
  assert_true(without ? seen[0] > 0.9 * ROWS && seen[0] <= ROWS : seen[0] == 0);
}

/* the kept parameters are those of the robot with this load */
static void check_parameters(const char *text) {
  psdm_parameters *p = parse_parameters(robot, text), *empty = parse_parameters(robot, parameters), *own;
  psdm_error error;
  double pi[10];
  psdm_load_to_standard(&truth_load, pi);
  assert_int_equal(
      psdm_payload_parameters(robot, empty, psdm_robot_default_link(robot, NULL), pi, NULL, NULL, &own, &error),
      PSDM_OK);
  assert_int_equal(p->base, own->base);
  for (int k = 0; k < p->base; k++)
    assert_float_equal(p->theta[k].value, own->theta[k].value, 1e-6 * (1 + fabs(own->theta[k].value)));
  psdm_parameters_free(p), psdm_parameters_free(empty), psdm_parameters_free(own);
}

TEST(the_load_is_found) {
  for (int empty = 0; empty < 2; empty++) {
    psdm_job *job = payload(NULL);
    psdm_job_rows rows;
    psdm_error error;
    take(job, "log", 0);
    if (empty) take(job, "empty", 1);
    assert_int_equal(psdm_job_keep(job, "out", &error), PSDM_OK);
    assert_int_equal(psdm_job_keep(job, "predict", &error), PSDM_OK);
    run(job);
    const psdm_payload_result *r = answer_of(job);
    assert_true(psdm_job_good(job) && !psdm_job_stopped(job));
    assert_string_equal(r->verdict->word, "good");
    assert_true(r->verdict->good && !r->verdict->text[0] && !r->stopped && r->n == N);
    assert_float_equal(r->load.mass, truth_load.mass, 1e-6);
    for (int k = 0; k < 3; k++) assert_float_equal(r->load.com[k], truth_load.com[k], 1e-6);
    assert_float_equal(r->load.inertia.xx, truth_load.inertia[0], 1e-6);
    assert_float_equal(r->load.inertia.yz, truth_load.inertia[4], 1e-6);
    assert_true(r->before->global_rel > 0.01 && r->after->global_rel < 1e-6 && r->after->joints.rows == N);
    assert_true(r->pi.rows == 10 && r->pi.item[0].value == r->load.mass && r->covariance.columns == 10);
    for (long k = 0; k < r->theta.rows; k++) { /* theta + L pi */
      const psdm_loaded_parameter *theta = &r->theta.item[k];
      double sum = theta->empty;
      for (int c = 0; c < 10; c++) sum += theta->L[c] * r->pi.item[c].value;
      assert_float_equal(sum, theta->loaded, 1e-12 * (1 + fabs(sum)));
    }
    assert_true(psdm_job_rows_of(job, "predict", &rows));
    check_rows(&rows, r->rows, empty);
    check_parameters(psdm_job_text_of(job, "out"));
    writes_its_document(job);
    psdm_job_free(job);
  }
}

/* parameters from a file, logs from files, results to files: the same bits */
TEST(files_have_the_same_bits) {
  char paths[4][40] = {"/tmp/psdm_job_payload_XXXXXX", "/tmp/psdm_job_payload_XXXXXX", "/tmp/psdm_job_payload_XXXXXX",
                       "/tmp/psdm_job_payload_XXXXXX"};
  for (int k = 0; k < 4; k++) close(mkstemp(paths[k]));
  FILE *file = fopen(paths[0], "w");
  assert_true(file && fputs(parameters, file) >= 0 && fclose(file) == 0);
  assert_non_null(file = fopen(paths[1], "w"));
  for (int c = 0; c < COLUMNS; c++) fprintf(file, "%s%s", c ? "," : "", names[c]);
  for (int k = 0; k < ROWS; k++)
    for (int c = 0; c < COLUMNS; c++) fprintf(file, "%s%.17g", c ? "," : "\n", numbers[0][k][c]);
  assert_true(fputs("\n", file) >= 0 && fclose(file) == 0);

  psdm_job *from = payload(NULL), *job = job_of("payload", NULL, robot);
  take(from, "log", 0);
  psdm_job_keep(from, "out", NULL), psdm_job_keep(from, "predict", NULL);
  run(from);
  static const char *const settings[] = {"params", "log", "out", "predict"};
  for (int k = 0; k < 4; k++) set(job, settings[k], paths[k]);
  run(job);
  assert_memory_equal(answer_of(job)->covariance.item, answer_of(from)->covariance.item, 100 * sizeof(double));

  static char text[TEXT];
  psdm_csv *csv;
  psdm_job_rows rows;
  psdm_error error;
  bool more;
  assert_non_null(file = fopen(paths[2], "r"));
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, psdm_job_text_of(from, "out"));
  assert_true(psdm_job_rows_of(from, "predict", &rows));
  assert_int_equal(psdm_csv_open(paths[3], NULL, &csv, &error), PSDM_OK);
  for (long k = 0; k < rows.rows; k++) {
    double row[3 + 7 * N];
    assert_int_equal(psdm_csv_row(csv, row, &more, &error), PSDM_OK);
    assert_memory_equal(row, rows.values + k * rows.columns, sizeof row);
  }
  assert_true(!psdm_csv_row(csv, (double[3 + 7 * N]){0}, &more, &error) && !more);
  psdm_csv_close(csv);
  psdm_job_free(from), psdm_job_free(job);
  for (int k = 0; k < 4; k++) unlink(paths[k]);
}

TEST(a_load_may_be_known) {
  psdm_job *job = payload(NULL);
  psdm_job_rows rows;
  set(job, "load", "1.5,0.02,-0.03,0.06,0.004,0.0002,0,0.005,-0.0001,0.003");
  psdm_job_keep(job, "out", NULL), psdm_job_keep(job, "predict", NULL);
  run(job);
  const psdm_payload_result *r = answer_of(job);
  assert_true(psdm_job_good(job) && !r->verdict && !r->before && !r->pi_sd.rows && r->load.mass == 1.5);
  assert_false(psdm_job_rows_of(job, "predict", &rows));
  check_parameters(psdm_job_text_of(job, "out"));
  writes_its_document(job);
  psdm_job_free(job);
}

/* radians taken for degrees */
TEST(what_is_not_explained_is_not_good) {
  for (int accepted = 0; accepted < 2; accepted++) {
    psdm_job *job = payload(NULL);
    set(job, "degrees", "");
    if (accepted) set(job, "accept", "useless");
    take(job, "log", 0);
    run(job);
    const psdm_payload_result *r = answer_of(job);
    assert_true(psdm_job_good(job) == accepted && r->verdict->good == accepted);
    assert_true(strcmp(r->verdict->word, "good") != 0 && r->verdict->text[0] && r->after->global_rel > 0.1);
    psdm_job_free(job);
  }
}

/* ---- stops ---- */

static bool while_reading(void *user, const char *doing, double share) {
  (void)user;
  assert_true(share >= 0 && share <= 1);
  return strcmp(doing, "reading") == 0;
}

static bool never(void *user, const char *doing, double share) {
  (void)user, (void)doing, (void)share;
  return false;
}

TEST(a_stop_keeps_the_rows_so_far) {
  told heard = {""};
  psdm_job_rows rows;
  psdm_job *job = payload(&(psdm_job_host){.user = &heard, .tell = hear, .progress = while_reading});
  take(job, "log", 2);
  psdm_job_keep(job, "out", NULL), psdm_job_keep(job, "predict", NULL);
  run(job);
  const psdm_payload_result *r = answer_of(job);
  assert_true(psdm_job_stopped(job) && !psdm_job_good(job) && r->stopped);
  assert_true(was_told(&heard, PSDM_JOB_WARNING, "interrupted: this result uses the rows read so far"));
  assert_true(was_told(&heard, PSDM_JOB_STAGE, "reading logs"));
  assert_true(r->rows > 0 && psdm_job_rows_of(job, "predict", &rows) && rows.rows > 0);
  assert_float_equal(r->load.mass, truth_load.mass, 1e-6);
  check_parameters(psdm_job_text_of(job, "out"));
  psdm_job_free(job);
}

TEST(a_stop_before_that_leaves_nothing) {
  psdm_error error = {0};
  psdm_job *job = payload(&(psdm_job_host){.progress = never});
  take(job, "log", 2);
  psdm_job_keep(job, "out", NULL);
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_STOPPED);
  assert_true(psdm_job_stopped(job) && !psdm_job_result(job) && !psdm_job_text_of(job, "out"));
  psdm_job_free(job);
}

/* ---- refusals ---- */

static void reads(void *user, const char *path) {
  (void)path;
  ++*(int *)user;
}

/* what is in memory is no file that is read */
TEST(only_files_are_read) {
  int files = 0;
  psdm_job *job = payload(&(psdm_job_host){.user = &files, .reads = reads});
  take(job, "log", 0);
  run(job);
  assert_int_equal(files, 0);
  psdm_job_free(job);
  job = payload(&(psdm_job_host){.user = &files, .reads = reads});
  set(job, "log", "/nowhere/log.csv");
  refuses(job, PSDM_E_IO, "cannot be opened");
  assert_int_equal(files, 1);
}

TEST(wrong_settings_are_named) {
  static const wrong_setting wrong[] = {
      {"cutoff", "0", "`cutoff` '0': a number above 0, or 'none', was expected"},
      {"rate", "-1", "`rate` must not be negative"},
      {"load", "1,2", "`load` gives a known load and cannot be used with `log`, `empty` or `predict`"},
      {"empty", "", "`empty`: empty file name"},
      {"empty", "with", "'with' is given both with and without the load"},
      {"sign", "1", "`sign` '1': 6 numbers were expected, one per joint"},
      {"sign", "1,1,1,1,1,2", "`sign`: 2 is neither 1 nor -1"},
      {"offset", "0,0,0,0,0,x", "`offset` '0,0,0,0,0,x': one number or 6 were expected"},
      {"link", "hand", "`link` 'hand': the robot has no such link or joint; its links are "},
      {"accept", "god", "`accept` 'god': did you mean 'good'?"}};
  psdm_job *job;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    job = payload(NULL);
    take(job, "log", 0);
    refuses_setting(job, &wrong[k]);
  }
  expect_wrong(robot, "payload", "log", "log.csv", "missing `params = FILE`: the calibration of the robot");
  expect_wrong(robot, "payload", "params", "p.yaml",
               "missing `log = FILE` (the log with the load), or `load` for a known");
  expect_wrong(robot, "payload", "emty", "", "payload has no setting 'emty'; did you mean 'empty'?");
  static const wrong_setting loads[] = {
      {"load", "1,2", "`load` '1,2': mass and centre, four numbers, or with the inertia ten"},
      {"load", "1,0,0,x", "`load` '1,0,0,x': one number or 4 were expected"},
      {"load", "0,0,0,0", "`load` '0,0,0,0': the mass must be above 0"}};
  for (int k = 0; k < 3; k++) refuses_setting(payload(NULL), &loads[k]);
}

/* a text in the place of a parameter file, for any command that reads one; its name is the file's in messages */
TEST(texts_are_parameter_files) {
  psdm_error error = {0};
  psdm_job *job = job_of("payload", NULL, robot);
  assert_int_equal(psdm_job_text(job, "params", "mine", "format: psdm-parameters-1\ntheta: 3\n", &error), PSDM_OK);
  take(job, "log", 0);
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_PARSE);
  assert_string_equal(error.file, "mine");
  psdm_job_free(job);
  job = job_of("payload", NULL, robot);
  assert_int_equal(psdm_job_text(job, "parms", "mine", parameters, &error), PSDM_E_SETTING);
  assert_string_equal(error.text, "payload has no setting 'parms'; did you mean 'params'?");
  psdm_job_free(job);
}

TEST_MAIN_IN(set_up, tear_down, the_load_is_found, files_have_the_same_bits, a_load_may_be_known,
             what_is_not_explained_is_not_good, a_stop_keeps_the_rows_so_far, a_stop_before_that_leaves_nothing,
             only_files_are_read, wrong_settings_are_named, texts_are_parameter_files)
