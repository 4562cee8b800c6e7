/* test_job_eval.c: eval and convert as jobs: rows and texts in memory, the same numbers as the library's functions. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdlib.h>
#include <unistd.h>

#include "jobs.h"

enum { N = 2, ROWS = 9000 }; /* more than are evaluated together */

static double states[ROWS][3 * N];

static int set_up(void **state) {
  rng g = rng_start("states");
  for (int i = 0; i < ROWS; i++)
    for (int c = 0; c < 3 * N; c++) states[i][c] = rng_uniform(&g, -2, 2);
  return load(state);
}

/* the first columns of the states */
static psdm_job *eval_of(const psdm_job_host *host, const char *function, long rows, int columns) {
  static const char *const names[] = {"q1", "q2", "qd1", "qd2", "qdd1", "qdd2"};
  const double *column[3 * N];
  long stride[3 * N];
  psdm_error error;
  psdm_job *job = job_of("eval", host, robot);
  for (int c = 0; c < columns; c++) column[c] = &states[0][c], stride[c] = 3 * N;
  if (psdm_job_table(job, "in", rows, columns, names, column, stride, &error)) fail_msg("%s", error.text);
  if (function) set(job, "function", function);
  assert_int_equal(psdm_job_keep(job, "out", &error), PSDM_OK);
  return job;
}

TEST(rows_are_the_librarys) {
  psdm_work *work;
  psdm_job_rows rows;
  double M[N * N], tau[N];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_job *job = eval_of(NULL, "mass", ROWS, N);
  run(job);
  const psdm_eval_result *r = (const psdm_eval_result *)psdm_job_result(job);
  assert_ptr_equal(r->head.type, &psdm_eval_result_type);
  assert_string_equal(r->function, "mass");
  assert_true(psdm_job_good(job) && psdm_job_rows_of(job, "out", &rows));
  assert_true(rows.rows == ROWS && rows.columns == N * N && r->rows.rows == ROWS && r->rows.columns == N * N);
  assert_ptr_equal(r->rows.item, rows.values);
  assert_string_equal(rows.names[2], "M2_1");
  assert_string_equal(r->columns.item[2], "M2_1");
  for (long i = 0; i < ROWS; i++) {
    assert_int_equal(psdm_mass(robot, work, states[i], M), PSDM_OK);
    assert_memory_equal(rows.values + i * N * N, M, sizeof M);
  }
  writes_its_document(job);
  psdm_job_free(job);

  job = eval_of(NULL, "inverse", 10, 3 * N);
  set(job, "wrench", "link2:1,2,3,0,0,4");
  run(job);
  const psdm_wrench wrench = {psdm_robot_find(robot, "link2"), {1, 2, 3}, {0, 0, 4}};
  const psdm_eval_options options = {.wrench_count = 1, .wrenches = &wrench};
  assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows == 10 && rows.columns == N);
  for (long i = 0; i < 10; i++) {
    assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, states[i], tau), PSDM_OK);
    assert_memory_equal(rows.values + i * N, tau, sizeof tau);
  }
  psdm_job_free(job);
  psdm_work_free(work, NULL);
}

static char *text_at(const char *folder, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  unlink(path);
  return text;
}

/* the document in a file, which is written row by row, is that of the result, and its numbers are the file's as CSV */
TEST(a_file_has_what_is_kept) {
  char folder[] = "/tmp/psdm_eval_XXXXXX", path[100], line[200];
  assert_non_null(mkdtemp(folder));
  for (int json = 0; json < 2; json++) {
    psdm_job *job = eval_of(NULL, "gravity", 50, N);
    snprintf(path, sizeof path, "%s/out", folder);
    set(job, "out", path);
    if (json) set(job, "json", "");
    run(job);
    psdm_output *document;
    assert_int_equal(psdm_output_memory(NULL, &document), PSDM_OK);
    psdm_job_json(job, document);
    char *text = text_at(folder, "out");
    const psdm_eval_result *r = (const psdm_eval_result *)psdm_job_result(job);
    snprintf(line, sizeof line, "tau1,tau2\n%.17g,%.17g\n", r->rows.item[0], r->rows.item[1]);
    double first[2];
    if (json) assert_string_equal(text, psdm_output_kept(document));
    else assert_true(sscanf(text, "tau1,tau2\n%lf,%lf\n", &first[0], &first[1]) == 2 && first[0] == r->rows.item[0]);
    free(text);
    psdm_output_abort(&document);
    psdm_job_free(job);
  }
  rmdir(folder);
}

static void expect_refused(psdm_job *job, const char *name, const char *value, psdm_status status, const char *text) {
  psdm_job_rows rows;
  psdm_error error = {0};
  if (name) set(job, name, value);
  assert_int_equal(psdm_job_run(job, &error), status);
  if (strncmp(error.text, text, strlen(text)) != 0) fail_msg("'%s' in place of '%s'", error.text, text);
  assert_null(psdm_job_result(job));
  assert_false(psdm_job_rows_of(job, "out", &rows));
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  const psdm_status wrong = PSDM_E_SETTING;
  expect_refused(eval_of(NULL, NULL, 1, N), NULL, NULL, wrong, "missing `function`");
  expect_refused(eval_of(NULL, "mas", 1, N), NULL, NULL, wrong, "unknown function 'mas'; did you mean 'mass'?");
  expect_refused(eval_of(NULL, "friction", 1, N), NULL, NULL, wrong, "function 'friction': one of inverse, gravity, ");
  expect_refused(eval_of(NULL, "pose", 1, N), "via", "expanded", wrong, "`via = expanded` supports inverse, ");
  expect_refused(eval_of(NULL, "mass", 1, N), "motor", "", wrong, "`motor` needs inverse, bias or gravity");
  expect_refused(eval_of(NULL, "mass", 1, N), "friction", "", wrong, "`friction` needs inverse, ");
  expect_refused(eval_of(NULL, "mass", 1, N), "wrench", "link1:1", wrong, "`wrench` needs inverse or forward");
  expect_refused(eval_of(NULL, "inverse", 1, 6), "wrench", "link1:1,2,3", wrong, "`wrench`: six numbers were expected");
  expect_refused(eval_of(NULL, "inverse", 1, 6), "wrench", "link9:1,2,3,4,5,6", wrong,
                 "`wrench` 'link9': did you mean ");
  expect_refused(eval_of(NULL, "pose", 1, N), "link", "hand", wrong, "`link` 'hand': the robot has no such link");
  expect_refused(eval_of(NULL, "mass", 1, 3), NULL, NULL, PSDM_E_PARSE,
                 "column 'qd1' is not one that mass needs (q, each 1 to 2); `ignore_extra` skips it");
  expect_refused(eval_of(NULL, "bias", 1, 3), NULL, NULL, PSDM_E_PARSE,
                 "column 'qd2' is missing; bias needs q qd, each 1 to 2");
  psdm_job *job = eval_of(NULL, "mass", 1, 3);
  set(job, "ignore_extra", "");
  run(job);
  psdm_job_free(job);
}

static bool no(void *user, const char *doing, double share) {
  (void)user, (void)doing, (void)share;
  return false;
}

TEST(a_stop_leaves_nothing) {
  expect_refused(eval_of(&(psdm_job_host){.progress = no}, "inverse", ROWS, 3 * N), NULL, NULL, PSDM_E_STOPPED,
                 "not all states were evaluated");
}

/* ---- convert ---- */

static psdm_job *convert_to(const psdm_job_host *host, const psdm_robot *of, const char *format) {
  psdm_job *job = job_of("convert", host, of);
  set(job, "to", format);
  assert_int_equal(psdm_job_keep(job, "out", NULL), PSDM_OK);
  return job;
}

TEST(a_robot_in_another_format) {
  static const char *const formats[] = {"yaml", "urdf"};
  for (int k = 0; k < 2; k++) {
    told heard = {""};
    psdm_robot *again;
    psdm_error error;
    psdm_job *job = convert_to(&(psdm_job_host){.user = &heard, .tell = hear}, robot, formats[k]);
    run(job);
    const char *text = psdm_job_text_of(job, "out");
    assert_non_null(text);
    assert_null(psdm_job_result(job));
    const psdm_robot_options options = {.gravity = psdm_robot_gravity(robot)};
    if (psdm_robot_parse(text, strlen(text), "again", &options, NULL, &again, &error)) fail_msg("%s", error.text);
    if (k == 0) assert_true(psdm_robot_fingerprint(again) == psdm_robot_fingerprint(robot));
    assert_int_equal(psdm_robot_n(again), N);
    assert_true(was_told(&heard, PSDM_JOB_NOTE,
                         "gravity is not part of URDF; read the file back with `gravity = 0,-9.81,0`") == (k == 1));
    psdm_robot_free(again);
    psdm_job_free(job);
  }
}

TEST(what_urdf_cannot_express) {
  told heard = {""};
  psdm_robot *coupled = load_shipped("parallelogram");
  refuses(convert_to(&(psdm_job_host){.user = &heard, .tell = hear}, coupled, "urdf"), PSDM_E_ROBOT,
          "nothing was written, since 2 things would be lost; `lossy` writes the rest");
  assert_non_null(strstr(heard.text, "URDF cannot express: joint 'q3'"));
  psdm_job *job = convert_to(NULL, coupled, "urdf");
  set(job, "lossy", "");
  run(job);
  assert_non_null(strstr(psdm_job_text_of(job, "out"), "<robot"));
  psdm_job_free(job);
  job = convert_to(NULL, coupled, "yaml");
  set(job, "tables", "");
  refuses(job, PSDM_E_SETTING, "the file of a DH table is missing");
  psdm_robot_free(coupled);
}

TEST_MAIN_IN(set_up, unload, rows_are_the_librarys, a_file_has_what_is_kept, wrong_settings_are_named,
             a_stop_leaves_nothing, a_robot_in_another_format, what_urdf_cannot_express)
