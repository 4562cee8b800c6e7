/* test_job_shortage.c: memory runs out wherever a job takes some: settings, the robot, tables, the run, rows and
 * documents that are kept. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "job_errand.h"

TEST(excite) {
  static const char *const settings[] = {"for", "gravity", "seconds", "20", "rate", "20", "effort", "90", NULL},
                           *const kept[] = {"out", NULL};
  assert_true(shortage_everywhere("excite", try_job, &(errand){"excite", settings, .kept = kept}) > 10);
}

TEST(simulate) {
  static const char *const settings[] = {"inverse", "",  "reference", "cubic", "to", "1,1",
                                         "time",    "1", "output",    "0.1",   NULL},
                           *const kept[] = {"out", "log", NULL};
  assert_true(shortage_everywhere("simulate", try_job, &(errand){"simulate", settings, .kept = kept}) > 10);
}

TEST(inspect) {
  static const char *const settings[] = {"at", "0.1,0.2", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("inspect", try_job, &(errand){"inspect", settings, .kept = kept}) > 10);
}

TEST(derive) {
  static const char *const settings[] = {"assume", "ry1 = 0,rz1 = 0", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("derive", try_job, &(errand){"derive", settings, .kept = kept}) > 10);
}

TEST(params) {
  static const char *const settings[] = {"symbolic", "", "rename", "a1=L1,a2=L2", NULL}, *const kept[] = {"latex",
                                                                                                          NULL};
  assert_true(shortage_everywhere("params", try_job, &(errand){"params", settings, .kept = kept}) > 10);
}

TEST(analyze) {
  static const char *const settings[] = {"points", "200", "limits", "1=-1:1", NULL}, *const kept[] = {NULL};
  assert_true(shortage_everywhere("analyze", try_job, &(errand){"analyze", settings, .kept = kept}) > 10);
}

enum { ROWS = 80 };

/* sines of both joints, and torques of a sort */
static const psdm_log_table *small_log(const char *name) {
  static const char *const names[] = {"t", "q1", "q2", "tau1", "tau2"};
  static double value[5][ROWS];
  static const double *const column[] = {value[0], value[1], value[2], value[3], value[4]};
  static const long stride[] = {1, 1, 1, 1, 1};
  static psdm_log_table log;
  for (int k = 0; k < ROWS; k++) {
    double t = value[0][k] = 0.01 * k;
    value[1][k] = sin(5 * t), value[2][k] = cos(7 * t);
    value[3][k] = 30 * cos(5 * t) + cos(90 * t), value[4][k] = 9 * sin(7 * t) + cos(110 * t);
  }
  log = (psdm_log_table){name, ROWS, 5, names, column, stride};
  return &log;
}

TEST(calibrate) {
  static const char *const settings[] = {"estimator", "ols", "plain_friction", "",     "cutoff",  "none",
                                         "delay",     "0",   "rest",           "none", "threads", "1",
                                         "offset",    "0,0", "max_rel",        "1e-9", NULL},
                           *const kept[] = {"out", "predict", NULL};
  assert_true(shortage_everywhere("calibrate", try_job,
                                  &(errand){"calibrate", settings, .kept = kept, .log = small_log("log")}) > 10);
}

/* a command whose setting names a file of these rows */
static void with_rows(const char *command, const char *setting, const char *rows, const char *kept) {
  char path[] = "/tmp/psdm_rows_XXXXXX";
  int file = mkstemp(path);
  assert_int_equal(write(file, rows, strlen(rows)), strlen(rows));
  close(file);
  const char *const settings[] = {setting, path, NULL}, *const kept_ones[] = {kept, NULL};
  assert_true(shortage_everywhere(command, try_job, &(errand){command, settings, .kept = kept_ones}) > 10);
  unlink(path);
}

/* its rows are read from a file */
TEST(eval) {
  char path[] = "/tmp/psdm_rows_XXXXXX";
  static const char rows[] = "q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,0,0,1,1\n0.3,0.4,1,1,0,0\n";
  int file = mkstemp(path);
  assert_int_equal(write(file, rows, strlen(rows)), strlen(rows));
  close(file);
  const char *const settings[] = {"function", "inverse", "in", path, "via", "expanded", NULL}, *const kept[] = {"out",
                                                                                                                NULL};
  assert_true(shortage_everywhere("eval", try_job, &(errand){"eval", settings, .kept = kept}) > 10);
  unlink(path);
}

TEST(convert) {
  static const char *const settings[] = {"to", "urdf", NULL}, *const kept[] = {"out", NULL};
  assert_true(shortage_everywhere("convert", try_job, &(errand){"convert", settings, .kept = kept}) > 3);
}

TEST(linearize) { with_rows("linearize", "at", "q1,q2\n0.1,0.2\n0.3,0.4\n", "out"); }

/* a pendulum: code of a larger robot takes too long to be written for each allocation */
TEST(reduce) {
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

TEST_MAIN_IN(load, unload, excite, simulate, inspect, derive, params, analyze, calibrate, eval, convert, linearize,
             reduce)
