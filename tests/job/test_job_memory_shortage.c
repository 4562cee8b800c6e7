/* test_job_memory_shortage.c: memory runs out where jobs take tables, logs and parameters from memory: plan,
 * payload. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "../payload/test_payload_file.h"
#include "job_errand.h"

static const double times[] = {0, 0.5, 1}, first[] = {0, 0.3, 1}, second[] = {0, 0.1, 0.5};

static psdm_status give_trajectory(psdm_job *job, psdm_error *error) {
  const char *const names[] = {"t", "q1", "q2"};
  const double *const columns[] = {times, first, second};
  return psdm_job_table(job, "trajectory", 3, 3, names, columns, (const long[]){1, 1, 1}, error);
}

TEST(plan) {
  static const char *const settings[][9] = {{"what", "scale", "velocity", "0.5", "points", "3", "output", "1", NULL},
                                            {"what", "time", "acceleration", "9", "points", "30", "output", "1", NULL}};
  static const char *const kept[] = {"out", NULL};
  /* whether the trajectory fits into memory, and whether it is a file of its own, is asked where that can be
   * answered */
  for (int k = 0; k < 2; k++) /* the second one's are those that the first has not come to */
    assert_true(shortage_tolerated("plan", try_job, &(errand){"plan", settings[k], kept, .give = give_trajectory}) > 5);
}

static char parameters[TEXT];

static psdm_status give_parameters(psdm_job *job, psdm_error *error) {
  return psdm_job_text(job, "params", "parameters", parameters, error);
}

/* a motion of both joints, and its torques; what the library does with it has its own test */
static psdm_status give_log(psdm_job *job, psdm_error *error) {
  enum { ROWS = 64, COLUMNS = 9 };
  static const char *const names[COLUMNS] = {"t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2", "tau1", "tau2"};
  static double rows[ROWS][COLUMNS];
  static const double *columns[COLUMNS];
  static long stride[COLUMNS];
  static psdm_log_table log = {"log", ROWS, COLUMNS, names, columns, stride};
  for (int k = 0; k < COLUMNS; k++) columns[k] = &rows[0][k], stride[k] = COLUMNS;
  for (int k = 0; k < ROWS; k++) {
    double t = 0.05 * k, *row = rows[k];
    const double tau[] = {10 * sin(3 * t), 5 * cos(2 * t)};
    memcpy(row, (const double[]){t, sin(t), cos(2 * t), cos(t), -2 * sin(2 * t), -sin(t), -4 * cos(2 * t)},
           7 * sizeof *row);
    memcpy(row + 7, tau, sizeof tau);
  }
  psdm_status status = give_parameters(job, error);
  return status ? status : psdm_job_log(job, "log", &log, error);
}

TEST(payload) {
  static const char *const known[] = {"load", "1,0,0,0.1", NULL},
                           *const none[] = {"offset", "0,0", "sign", "1,1", NULL}, *const out[] = {"out", NULL},
                           *const both[] = {"out", "predict", NULL};
  static double pi[STANDARD];
  psdm_robot_parameters(robot, pi);
  parameter_text(&(parameter_file){.robot = robot, .pi = pi, .viscous = 1, .coulomb = 0.1, .smooth = 0.1}, parameters,
                 sizeof parameters);
  assert_true(shortage_everywhere("payload", try_job, &(errand){"payload", known, out, .give = give_parameters}) > 10);
  assert_true(shortage_everywhere("payload", try_job, &(errand){"payload", none, both, .give = give_log}) > 10);
}

TEST_MAIN_IN(load, unload, plan, payload)
