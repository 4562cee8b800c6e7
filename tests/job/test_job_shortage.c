/* test_job_shortage.c: memory runs out wherever a job takes some: settings, the robot, tables, the run, rows and
 * documents that are kept. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <stdlib.h>
#include <unistd.h>

#include "shortage.h"
#include "jobs.h"

static psdm_robot *robot; /* outlives all jobs */

static int load(void **state) {
  (void)state;
  robot = load_shipped("two_link");
  return 0;
}

static int unload(void **state) {
  (void)state;
  psdm_robot_free(robot);
  return 0;
}

/* a command, settings in pairs, and what is kept, each list ending with NULL */
typedef struct errand {
  const char *command, *const *settings, *const *kept;
} errand;

static psdm_status take(psdm_job *job, const errand *e, psdm_error *error) {
  psdm_status status = psdm_job_robot(job, robot, error);
  for (int k = 0; e->settings[k] && !status; k += 2)
    status = psdm_job_set(job, e->settings[k], e->settings[k + 1], error);
  for (int k = 0; e->kept[k] && !status; k++) status = psdm_job_keep(job, e->kept[k], error);
  return status;
}

static psdm_status try_job(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const errand *e = what;
  psdm_job *job;
  (void)allocator;
  psdm_status status = psdm_job_new(e->command, NULL, &job, error);
  if (!status) status = take(job, e, error);
  if (!status) status = psdm_job_run(job, error);
  for (int k = 0; e->kept[k] && !status; k++) {
    psdm_job_rows rows;
    assert_true(psdm_job_rows_of(job, e->kept[k], &rows) || psdm_job_text_of(job, e->kept[k]));
  }
  psdm_job_free(job);
  return status;
}

static void excite(void **state) {
  (void)state;
  static const char *const settings[] = {"for", "gravity", "seconds", "20", "rate", "20", "effort", "90", NULL},
                           *const kept[] = {"out", NULL};
  assert_true(shortage_everywhere("excite", try_job, &(errand){"excite", settings, kept}) > 10);
}

static void simulate(void **state) {
  (void)state;
  static const char *const settings[] = {"inverse", "",  "reference", "cubic", "to", "1,1",
                                         "time",    "1", "output",    "0.1",   NULL},
                           *const kept[] = {"out", "log", NULL};
  assert_true(shortage_everywhere("simulate", try_job, &(errand){"simulate", settings, kept}) > 10);
}

static void inspect(void **state) {
  (void)state;
  static const char *const settings[] = {"at", "0.1,0.2", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("inspect", try_job, &(errand){"inspect", settings, kept}) > 10);
}

static void derive(void **state) {
  (void)state;
  static const char *const settings[] = {"assume", "ry1 = 0,rz1 = 0", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("derive", try_job, &(errand){"derive", settings, kept}) > 10);
}

static void params(void **state) {
  (void)state;
  static const char *const settings[] = {"symbolic", "", "rename", "a1=L1,a2=L2", NULL}, *const kept[] = {"latex",
                                                                                                          NULL};
  assert_true(shortage_everywhere("params", try_job, &(errand){"params", settings, kept}) > 10);
}

static void analyze(void **state) {
  (void)state;
  static const char *const settings[] = {"points", "200", "limits", "1=-1:1", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("analyze", try_job, &(errand){"analyze", settings, kept}) > 10);
}

/* a command whose setting names a file of these rows */
static void with_rows(const char *command, const char *setting, const char *rows, const char *kept) {
  char path[] = "/tmp/psdm_rows_XXXXXX";
  int file = mkstemp(path);
  assert_int_equal(write(file, rows, strlen(rows)), strlen(rows));
  close(file);
  const char *const settings[] = {setting, path, NULL}, *const kept_ones[] = {kept, NULL};
  assert_true(shortage_everywhere(command, try_job, &(errand){command, settings, kept_ones}) > 10);
  unlink(path);
}

static void linearize(void **state) {
  (void)state;
  with_rows("linearize", "at", "q1,q2\n0.1,0.2\n0.3,0.4\n", "out");
}

/* a pendulum: code of a larger robot takes too long to be written for each allocation */
static void reduce(void **state) {
  (void)state;
  static const char pendulum[] = "name: pendulum\nconvention: dh\njoints:\n  - {a: 1}\nlinks:\n"
                                 "  - {mass: 1, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n";
  char rows[1000] = "q1,qd1,qdd1\n";
  psdm_robot *other = robot;
  psdm_error error;
  for (int k = 0; k < 10; k++)
    snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "0.%d,-0.%d,%d\n", k, k, k - 5);
  if (psdm_robot_parse(pendulum, strlen(pendulum), "pendulum", NULL, NULL, &robot, &error)) fail_msg("%s", error.text);
  with_rows("reduce", "profile", rows, NULL);
  psdm_robot_free(robot);
  robot = other;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(excite),    cmocka_unit_test(simulate), cmocka_unit_test(inspect),
                                     cmocka_unit_test(derive),    cmocka_unit_test(params),   cmocka_unit_test(analyze),
                                     cmocka_unit_test(linearize), cmocka_unit_test(reduce)};
  return cmocka_run_group_tests(tests, load, unload);
}
