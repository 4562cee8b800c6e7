/* test_log.c: logs as text: names, numbers, separators, clocks, sides; refusals, and rows that are omitted and
 * reported. */
#define _GNU_SOURCE /* mkdtemp */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/log_priv.h"
#include "source.h"
#include "support.h"

static const char TWO_JOINTS[] = "convention: dh\njoints: [{a: 1}, {a: 1}]\n";

/* everything read from a log */
enum { MOST_ROWS = 64, MOST_N = 6 };
typedef struct reading {
  psdm_status status;
  char sentence[900];
  long rows;
  double t[MOST_ROWS], q[MOST_ROWS][MOST_N], qd[MOST_ROWS][MOST_N], tau[MOST_ROWS][MOST_N];
  int segment[MOST_ROWS];
  long line[MOST_ROWS];
  long faults[PSDM_FAULTS];
  char reported[PSDM_FAULTS][200]; /* the first of each */
  double interval;
} reading;

static void take_rows(psdm_log *log, int n, long most, reading *r) {
  psdm_log_rows rows;
  psdm_error error;
  while (!(r->status = psdm_log_read(log, most, &rows, &error)) && rows.count) {
    assert_true(rows.count <= most);
    for (long k = 0; k < rows.count; k++, r->rows++) {
      assert_true(r->rows < MOST_ROWS);
      r->t[r->rows] = rows.t[k];
      r->segment[r->rows] = rows.segment;
      r->line[r->rows] = rows.line[k];
      for (int j = 0; j < n; j++) {
        r->q[r->rows][j] = rows.q[k * n + j];
        r->tau[r->rows][j] = rows.tau[k * n + j];
        if (rows.qd) r->qd[r->rows][j] = rows.qd[k * n + j];
      }
    }
  }
  if (r->status) psdm_error_format(&error, r->sentence, sizeof r->sentence);
  assert_int_equal(psdm_log_good(log), r->rows);
  r->interval = psdm_log_interval(log);
  for (int f = 0; f < PSDM_FAULTS; f++) {
    const char *first = psdm_log_fault(log, f, 0, NULL);
    r->faults[f] = psdm_log_faults(log, f);
    assert_int_equal(first != NULL, r->faults[f] > 0);
    snprintf(r->reported[f], sizeof r->reported[f], "%s", first ? first : "");
  }
}

static reading read_log(const char *robot_text, const char *text, size_t length, size_t piece,
                        const psdm_log_options *options) {
  reading r = {.sentence = ""};
  source s = {.at = text, .left = length, .piece = piece};
  psdm_robot *robot = parse_robot(robot_text);
  psdm_error error;
  psdm_log *log;
  r.status = psdmp_log_open_source(read_piece, &s, "log.csv", robot, options, NULL, &log, &error);
  assert_int_equal(r.status == PSDM_OK, log != NULL);
  if (r.status) psdm_error_format(&error, r.sentence, sizeof r.sentence);
  if (log) take_rows(log, psdm_robot_n(robot), 1 + (long)piece % 5, &r);
  psdm_log_close(log);
  psdm_robot_free(robot);
  return r;
}

static reading read_two(const char *text, const psdm_log_options *options) {
  return read_log(TWO_JOINTS, text, strlen(text), 4096, options);
}

/* ---- accepted text ---- */

/* the same three rows in many notations */
TEST(notations) {
  const struct {
    const char *text, *columns;
  } cases[] = {
      {"t,q1,q2,tau1,tau2\n0,1,2,3,4\n0.5,5,6,7,8\n1,9,10,11,12\n", NULL},
      {"t,q1,q2,tau1,tau2\r\n0,1,2,3,4\r\n0.5,5,6,7,8\r\n1,9,10,11,12", NULL},
      {"tau2,q2,t,q1,tau1\n4,2,0,1,3\n8,6,.5,5,7\n12,10,1,9,11\n", NULL},
      {"t;q1;q2;tau1;tau2\n0;1;2;3;4\n0.5;5;6;7;8\n1;9;10;11;12\n", NULL},
      {"t\tq1\tq2\ttau1\ttau2\n0\t1\t2\t3\t4\n0.5\t5\t6\t7\t8\n1\t9\t10\t11\t12\n", NULL},
      {"t q1 q2   tau1 tau2\n  0 1 2 3 4\n0.5 5 6 \t 7 8  \n1 9 10 11 12\n", NULL},
      {"\xEF\xBB\xBF\"t\", \"q1\" ,q2,tau1,tau2\n\"0\",\"1\",2, 3 ,4\n\n# note\n0.5,5,6,7,8\n1,9,10,11,12\n", NULL},
      {"t,q1,q2,tau1,tau2,\n0,1,2,3,4,\n0.5,5,6,7,8,\n1,9,10,11,12,\n", NULL},
      {"# t,q1,q2,tau1,tau2\n0,1,2,3,4\n0.5,5,6,7,8\n1,9,10,11,12\n", NULL},
      {"# made by hand\n% t q1 q2 tau1 tau2\n0 1 2 3 4\n0.5 5 6 7 8\n1 9 10 11 12\n", NULL},
      {"0,1,2,3,4\n0.5,5,6,7,8\n1,9,10,11,12\n", "t=1,q=2:3,tau=4:5"},
      {"0 1 2 99 3 4\n0.5 5 6 x 7 8\n1 9 10 99 11 12\n", "t=1, q=2:3, tau1=5, tau2=6"},
      {"zeit;a;b;c;d\n0;1;2;3;4\n0.5;5;6;7;8\n1;9;10;11;12\n", "t=1,tau=4:5,q=2:3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t piece = 1; piece <= 9; piece += 2) {
      psdm_log_options options = {.columns = cases[i].columns};
      reading r = read_log(TWO_JOINTS, cases[i].text, strlen(cases[i].text), piece, &options);
      if (r.status) fail_msg("case %zu: %s", i, r.sentence);
      for (int f = 0; f < PSDM_FAULTS; f++)
        if (r.faults[f]) fail_msg("case %zu: %s", i, r.reported[f]);
      assert_int_equal(r.rows, 3);
      assert_true(r.interval == 0.5);
      for (int k = 0; k < 3; k++) {
        assert_true(r.t[k] == 0.5 * k && r.segment[k] == 0);
        for (int j = 0; j < 2; j++) assert_true(r.q[k][j] == 4 * k + j + 1 && r.tau[k][j] == 4 * k + j + 3);
      }
    }
}

TEST(rate_instead_of_a_clock) {
  psdm_log_options options = {.rate = 100};
  reading r = read_two("q1,q2,tau1,tau2\n1,2,3,4\nx,2,3,4\n1,2,3,4\n1,2,3,4\n", &options);
  assert_int_equal(r.status, PSDM_OK);
  assert_int_equal(r.rows, 3);
  assert_true(r.t[0] == 0 && r.t[1] == 0.02 && r.t[2] == 0.03); /* an omitted row leaves a gap in time */
  assert_int_equal(r.faults[PSDM_FAULT_GARBAGE], 1);
}

TEST(extra_columns) {
  const char *text = "t,q1,q2,tau1,tau2,state,qm1,qm2\n0,1,2,3,4,idle,7,8\n1,1,2,3,4,,7,8\n";
  psdm_log_options options = {.ignore_extra = true};
  reading r = read_two(text, &options);
  assert_int_equal(r.status, PSDM_OK);
  assert_int_equal(r.rows, 2);
  assert_true(r.q[1][1] == 2);
}

/* ---- sides and units ---- */

TEST(degrees_signs_offsets) {
  const double sign[] = {1, -1}, offset[] = {0.5, -0.25};
  psdm_log_options options = {.degrees = true, .sign = sign, .offset = offset};
  const char *text = "t,q1,q2,qd1,qd2,tau1,tau2\n0,90,0.1,180,30,3,4\n1,-45,1,60,-90,5,6\n";
  const char *robot = "convention: dh\njoints: [{a: 1}, {type: prismatic}]\n"; /* metres stay metres */
  reading r = read_log(robot, text, strlen(text), 4096, &options);
  const double pi = acos(-1);
  assert_int_equal(r.status, PSDM_OK);
  assert_true(fabs(r.q[0][0] - (pi / 2 + 0.5)) < 1e-15 && fabs(r.q[1][0] - (0.5 - pi / 4)) < 1e-15);
  assert_true(r.q[0][1] == -0.1 - 0.25 && r.q[1][1] == -1 - 0.25);
  assert_true(fabs(r.qd[0][0] - pi) < 1e-15 && r.qd[0][1] == -30);
  assert_true(r.tau[0][0] == 3 && r.tau[0][1] == -4);
}

TEST(currents) {
  const char *text = "t,q1,q2,i1,i2\n0,1,2,3,4\n1,1.5,2,3,5\n";
  const char *plain = "convention: dh\njoints: [{a: 1, torque_constant: 13.5}, {a: 1, torque_constant: 0.5}]\n";
  reading r = read_log(plain, text, strlen(text), 4096, NULL);
  assert_int_equal(r.status, PSDM_OK);
  assert_true(r.tau[0][0] == 13.5 * 3 && r.tau[0][1] == 0.5 * 4);
  /* behind a coupling, joint 1 has motor 2's part too: q2 = q_m2/g2 - q_m1/g1, so tau1 = K1 i1 + K2 i2 */
  const char *coupled = "convention: dh\njoints: [{a: 1, torque_constant: 13.5, gear: 100}, {a: 1, torque_constant: "
                        "0.5, gear: -50}]\ntransmission: [[1, 0], [-1, 1]]\n";
  r = read_log(coupled, text, strlen(text), 4096, NULL);
  assert_int_equal(r.status, PSDM_OK);
  assert_true(fabs(r.tau[1][0] - (13.5 * 3 + 0.5 * 5)) < 1e-13 && fabs(r.tau[1][1] - 0.5 * 5) < 1e-14);
  r = read_two(text, NULL);
  assert_int_equal(r.status, PSDM_E_MISSING);
  assert_string_equal(r.sentence, "log.csv: currents need a torque_constant of joint 'joint1'");
}

/* currents kept as currents: no torque constant is needed, no transmission mixes them, and signs are kept */
TEST(currents_as_they_are) {
  const char *text = "t,q1,q2,i1,i2\n0,1,2,3,4\n1,1.5,2,3,5\n",
             *torques = "t,q1,q2,tau1,tau2\n0,1,2,3,4\n1,1.5,2,3,5\n";
  const char *coupled =
      "convention: dh\njoints: [{a: 1, gear: 100}, {a: 1, gear: -50}]\ntransmission: [[1, 0], [-1, 1]]\n";
  const double sign[] = {1, -1};
  psdm_log_options options = {.currents = true, .sign = sign};
  reading r = read_log(coupled, text, strlen(text), 4096, &options);
  assert_int_equal(r.status, PSDM_OK);
  assert_true(r.tau[0][0] == 3 && r.tau[0][1] == -4 && r.tau[1][1] == -5 && r.q[1][0] == 1.5);
  for (int k = 0; k < 2; k++) {
    source s = {.at = k ? torques : text, .left = strlen(k ? torques : text), .piece = 4096};
    psdm_robot *robot = parse_robot(coupled);
    psdm_log *log;
    assert_int_equal(psdmp_log_open_source(read_piece, &s, "log.csv", robot, &options, NULL, &log, NULL), PSDM_OK);
    assert_int_equal(psdm_log_has_currents(log), k == 0);
    psdm_log_close(log);
    psdm_robot_free(robot);
  }
  /* joint torques stay those of the joints */
  options.sign = NULL;
  r = read_log(coupled, torques, strlen(torques), 4096, &options);
  assert_true(r.status == PSDM_OK && r.tau[1][0] == 3 && r.tau[1][1] == 5);
}

static const char TX40[] =
    "convention: modified-dh\njoints:\n"
    "  - {gear: 32, d: 0.320}\n  - {alpha: -pi/2, gear: 32}\n  - {a: 0.225, d: 0.035, gear: 45}\n  - {alpha: pi/2, d: "
    "0.225, gear: -48}\n"
    "  - {alpha: -pi/2, gear: 45}\n  - {alpha: pi/2, gear: 32}\n"
    "transmission: [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,-1,1]]\n";

/* q = inv(R) qm and tau = R^T taum with R = diag(32 32 45 -48 45 32) and R(6,5) = 32, written out */
static void to_joints(const double *qm, const double *taum, double *q, double *tau) {
  static const double gear[6] = {32, 32, 45, -48, 45, 32};
  for (int j = 0; j < 6; j++) q[j] = qm[j] / gear[j], tau[j] = gear[j] * taum[j];
  q[5] = (qm[5] - 32 * q[4]) / 32;
  tau[4] += 32 * taum[5];
}

TEST(motor_side_with_a_coupled_wrist) {
  rng g = rng_start("motor_side_with_a_coupled_wrist");
  char text[8192];
  double qm[16][6], taum[16][6];
  int at = snprintf(text, sizeof text, "t,qm1,qm2,qm3,qm4,qm5,qm6,taum1,taum2,taum3,taum4,taum5,taum6\n");
  for (int k = 0; k < 16; k++) {
    at += snprintf(text + at, sizeof text - (size_t)at, "%g", 0.1 * k);
    for (int j = 0; j < 6; j++)
      qm[k][j] = rng_uniform(&g, -100, 100), at += snprintf(text + at, sizeof text - (size_t)at, ",%.17g", qm[k][j]);
    for (int j = 0; j < 6; j++)
      taum[k][j] = rng_uniform(&g, -3, 3), at += snprintf(text + at, sizeof text - (size_t)at, ",%.17g", taum[k][j]);
    at += snprintf(text + at, sizeof text - (size_t)at, "\n");
  }
  reading r = read_log(TX40, text, (size_t)at, 4096, NULL);
  assert_int_equal(r.status, PSDM_OK);
  assert_int_equal(r.rows, 16);
  for (int k = 0; k < 16; k++) {
    double q[6], tau[6];
    to_joints(qm[k], taum[k], q, tau);
    if (!(max_difference(r.q[k], q, 6) < 4e-16 * 10) || !(max_difference(r.tau[k], tau, 6) < 4e-16 * 300))
      fail_msg("row %d", k);
  }
}

TEST(joint_torques_undo_motor_torques) {
  rng g = rng_start("joint_torques_undo_motor_torques");
  psdm_robot *coupled = parse_robot(TX40), *plain = parse_robot(TWO_JOINTS);
  for (int round = 0; round < 100; round++) {
    double tau[6], motor[6], back[6];
    for (int j = 0; j < 6; j++) tau[j] = rng_uniform(&g, -50, 50);
    psdm_robot_motor_torque(coupled, tau, motor);
    psdm_robot_joint_torque(coupled, motor, back);
    assert_true(max_difference(tau, back, 6) < 4 * 2.3e-16 * 100);
    psdm_robot_joint_torque(plain, tau, back); /* motors without gears are joints */
    assert_true(back[0] == tau[0] && back[1] == tau[1]);
  }
  psdm_robot_free(coupled);
  psdm_robot_free(plain);
}

/* ---- refusals ---- */

TEST(refusals) {
  const struct {
    const char *text, *columns;
    double rate;
    psdm_status status;
    const char *sentence;
  } cases[] = {
      {"", NULL, 0, PSDM_E_PARSE, "log.csv: the file is empty; a log was expected"},
      {"\n# x\n\n", NULL, 0, PSDM_E_PARSE, "log.csv: it contains only comments; a log was expected"},
      {"t,q1,q2,tau1,tau2\n", NULL, 0, PSDM_E_PARSE, "log.csv:1: no row after the header; at least one was expected"},
      {"# a\nt,q1,q2,tau1,tau2\n\n#\n", NULL, 0, PSDM_E_PARSE,
       "log.csv:2: no row after the header; at least one was expected"},
      {"0,1,2,3,4\n", NULL, 0, PSDM_E_PARSE,
       "log.csv: numbers without a header row of names; say which column is what, as in t=1,q=2:3,tau=4:5"},
      {"q1,q2,tau1,tau2\n1,2,3,4\n", NULL, 0, PSDM_E_PARSE,
       "log.csv:1: there is no column 't'; without it the rate must be given"},
      {"t,tau1,tau2\n1,2,3\n", NULL, 0, PSDM_E_PARSE, "log.csv:1: columns q1.. or qm1.. were expected"},
      {"t,q1,q2\n1,2,3\n", NULL, 0, PSDM_E_PARSE, "log.csv:1: columns tau1.., taum1.. or i1.. were expected"},
      {"t,q1,tau1,tau2\n1,2,3,4\n", NULL, 0, PSDM_E_PARSE, "log.csv:1: column 'q2' is missing; q goes from 1 to 2"},
      {"t,q1,q2,q1,tau1,tau2\n1,2,3,4,5,6\n", NULL, 0, PSDM_E_PARSE, "log.csv:1: columns 2 and 4 are both named 'q1'"},
      {"t,q1,q2,q3,tau1,tau2\n1,2,3,4,5,6\n", NULL, 0, PSDM_E_PARSE,
       "log.csv:1: column 'q3' is not one of t, q, qd, qdd, qm, qdm, tau, taum, i (1 to 2); `ignore_extra` skips "
       "it"},
      {"t,q1,q2,tau1,tau2,\x1B[1m\n1,2,3,4,5,6\n", NULL, 0, PSDM_E_PARSE,
       "log.csv:1: column '\\x1b[1m' is not one of t, q, qd, qdd, qm, qdm, tau, taum, i (1 to 2); `ignore_extra` skips "
       "it"},
      {"t,q1,q2,qm1,qm2,tau1,tau2\n1,2,3,4,5,6,7\n", NULL, 0, PSDM_E_PARSE,
       "log.csv:1: both q1.. and qm1.. are present; `ignore_extra` skips the second"},
      {"0,1,2,3,4\n", "t=1,q=2:3,tau=4:6", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'tau=4:6' has 3 columns; 2 were expected"},
      {"0,1,2,3,4\n", "t=1,q=2:3,tau=5:6", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'tau=5:6' is beyond the last of 5 columns"},
      {"0,1,2,3,4\n", "t=1,q=2:3,tau=3:4", 0, PSDM_E_ARGUMENT, "log.csv: columns: 'tau=3:4' uses column 3 twice"},
      {"0,1,2,3,4\n", "t=1,t=2,q=2:3", 0, PSDM_E_ARGUMENT, "log.csv: columns: 't=2' is set again after it was set"},
      {"0,1,2,3,4\n", "t=1,p=2:3", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'p=2:3' is not one of t, q, qd, qdd, qm, qdm, tau, taum, i (1 to 2)"},
      {"0,1,2,3,4\n", "t=1,q=0:1", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'q=0:1' is not of the form name=first or name=first:last"},
      {"0,1,2,3,4\n", "t=1,q=3:2", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'q=3:2' is not of the form name=first or name=first:last"},
      {"0,1,2,3,4\n", "t=1,,q=2:3", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: '' is not of the form name=first or name=first:last"},
      {"0,1,2,3,4\n", "t=1x", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 't=1x' is not of the form name=first or name=first:last"},
      {"0,1,2,3,4\n", "t=1:2", 0, PSDM_E_ARGUMENT, "log.csv: columns: 't=1:2' has 2 columns; 1 was expected"},
      {"0,1,2,3,4\n", "q3=1", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 'q3=1' is not one of t, q, qd, qdd, qm, qdm, tau, taum, i (1 to 2)"},
      {"0,1,2,3,4\n", "t=99999999999999999999", 0, PSDM_E_ARGUMENT,
       "log.csv: columns: 't=99999999999999999999' is not of the form name=first or name=first:last"},
      {"0,1,2,3,4\n", "t=1,q=2:3", 0, PSDM_E_PARSE, "log.csv: columns tau1.., taum1.. or i1.. were expected"},
      {"t,q1\n", NULL, -1, PSDM_E_ARGUMENT, "log.csv: the rate must be a finite number of Hz above 0"},
      {"q1,q2,tau1,tau2\n1,2,3,4\n", NULL, 1e300, PSDM_E_ARGUMENT,
       "log.csv: a rate of 1e+300 Hz; 0.001 to 1e6 Hz were expected"},
      {"q1,q2,tau1,tau2\n1,2,3,4\n", NULL, 1e-4, PSDM_E_ARGUMENT,
       "log.csv: a rate of 0.0001 Hz; 0.001 to 1e6 Hz were expected"},
      {"t,q1,q2,tau1,tau2\n0,1,2,3,4\n0.5,1,2,3,4\n1,1,2,3,4\n", NULL, 1000, PSDM_E_ARGUMENT,
       "log.csv: the given rate is 1000 Hz, but the log's own clock has 2 Hz; a rate is for logs without t"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_log_options options = {.columns = cases[i].columns, .rate = cases[i].rate};
    reading r = read_two(cases[i].text, &options);
    assert_string_equal(r.sentence, cases[i].sentence);
    assert_int_equal(r.status, cases[i].status);
  }
  const double half[] = {1, 0.5}, bad[] = {0, NAN};
  psdm_log_options sign = {.sign = half}, offset = {.offset = bad}, jump = {.jump = 0.5};
  assert_string_equal(read_two("t", &sign).sentence, "log.csv: the sign of joint 2 is 0.5; 1 or -1 was expected");
  assert_string_equal(read_two("t", &offset).sentence, "log.csv: the offset of joint 2 is not a finite number");
  assert_string_equal(read_two("t", &jump).sentence, "log.csv: a gap must be longer than one interval");
  static const char binary[] = "\x7F"
                               "ELF\0\1\1";
  reading r = read_log(TWO_JOINTS, binary, sizeof binary - 1, 4096, NULL);
  assert_string_equal(r.sentence,
                      "log.csv:1: not a log: it is neither text, gzip, MATLAB (5 or 7.3), HDF5 nor a ROS 2 bag");
}

TEST(files) {
  psdm_robot *robot = parse_robot(TWO_JOINTS);
  psdm_log *log = (psdm_log *)&log;
  psdm_error error;
  char sentence[900], expected[200];
  assert_int_equal(psdm_log_open("no/such/log.csv", robot, NULL, NULL, &log, &error), PSDM_E_IO);
  assert_null(log);
  snprintf(expected, sizeof expected, "no/such/log.csv: cannot be opened: %s", strerror(ENOENT));
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
  char folder[] = "/tmp/psdm_test_log_XXXXXX"; /* empty: a folder may be a bag */
  assert_non_null(mkdtemp(folder));
  assert_int_equal(psdm_log_open(folder, robot, NULL, NULL, &log, &error), PSDM_E_IO);
  snprintf(expected, sizeof expected, "%s: is a directory; a log was expected", folder);
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
  assert_int_equal(rmdir(folder), 0);
  psdm_log_close(NULL);
  psdm_robot_free(robot);
}

/* ---- omitted rows, reported ---- */

TEST(each_fault_where_it_stands) {
#define TEXT(literal) literal, sizeof literal - 1
#define HEAD "t,q1,q2,tau1,tau2\n0,1,2,3,4\n1,1,2,3,4\n2,1,2,3,4\n"
  const struct {
    const char *text;
    size_t length;
    psdm_fault fault;
    long rows;
    int segments;
    const char *reported;
  } cases[] = {
      {TEXT(HEAD "3,1,2,abc,4\n4,1,2,3,4\n"), PSDM_FAULT_GARBAGE, 4, 1, "line 5: field 4 is 'abc'"},
      {TEXT(HEAD "3,1,2,\x1B[2J,4\n4,1,2,3,4\n"), PSDM_FAULT_GARBAGE, 4, 1, "line 5: field 4 is '\\x1b[2J'"},
      {TEXT(HEAD "3,1,2,1e999,4\n4,1,2,3,4\n"), PSDM_FAULT_GARBAGE, 4, 1, "line 5: field 4 is '1e999'"},
      {TEXT(HEAD "3,1,\0"
                 "2,3,4\n4,1,2,3,4\n"),
       PSDM_FAULT_GARBAGE, 4, 1, "line 5: a NUL byte"},
      {TEXT(HEAD "3,1,2\n4,1,2,3,4\n"), PSDM_FAULT_SHORT, 4, 1, "line 5: 3 fields; 5 were expected"},
      {TEXT(HEAD "3,1,2,3,4,5\n4,1,2,3,4\n"), PSDM_FAULT_SHORT, 4, 1, "line 5: 6 fields; 5 were expected"},
      {TEXT(HEAD "3\n4,1,2,3,4\n"), PSDM_FAULT_SHORT, 4, 1, "line 5: 1 field; 5 were expected"},
      {TEXT(HEAD "3,1,2,nan,4\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: field 4 is 'nan'"},
      {TEXT(HEAD "3,1,-Inf,3,4\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: field 3 is '-Inf'"},
      {TEXT(HEAD "3,1,2,3,-1e300\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: tau2 is -1e+300"},
      {TEXT(HEAD "1e101,1,2,3,4\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: t is 1e+101"},
      {TEXT(HEAD "3,1,,3,4\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: field 3 is empty"},
      {TEXT(HEAD "3,1,\"\",3,4\n4,1,2,3,4\n"), PSDM_FAULT_NAN, 4, 1, "line 5: field 3 is empty"},
      {TEXT(HEAD "2,1,2,3,4\n3,1,2,3,4\n"), PSDM_FAULT_REPEATED, 4, 1,
       "line 5: t is 2, the same as in the previous row"},
      {TEXT(HEAD "0.5,1,2,3,4\n1.5,1,2,3,4\n"), PSDM_FAULT_BACK, 5, 2, "line 5: t goes back from 2 to 0.5"},
      {TEXT(HEAD "\n# a pause\n8,1,2,3,4\n9,1,2,3,4\n"), PSDM_FAULT_JUMP, 5, 2,
       "line 7: 6 s after the previous row; 1 s is usual"},
      {TEXT(HEAD "3.125,1,2,3,4\n4,1,2,3,4\n5,1,2,3,4\n6,1,2,3,4\n"), PSDM_FAULT_JITTER, 7, 1,
       "line 5: 1.125 s after the previous row; 1 s is usual"},
  };
#undef HEAD
#undef TEXT
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t piece = 1; piece < 8; piece += 3) {
      reading r = read_log(TWO_JOINTS, cases[i].text, cases[i].length, piece, NULL);
      if (r.status) fail_msg("case %zu: %s", i, r.sentence);
      assert_string_equal(r.reported[cases[i].fault], cases[i].reported);
      assert_int_equal(r.rows, cases[i].rows);
      assert_int_equal(r.segment[r.rows - 1], cases[i].segments - 1);
      for (int f = 0; f < PSDM_FAULTS; f++) /* a missing row doubles the interval */
        if (f != (int)cases[i].fault && f != PSDM_FAULT_JITTER) assert_int_equal(r.faults[f], 0);
      for (long k = 0; k < r.rows; k++) assert_true(r.q[k][0] == 1 && r.tau[k][1] == 4);
    }
}

TEST(a_long_line_is_survived) {
  size_t junk = 3 * (size_t)PSDM_CSV_LINE + 17;
  const char *head = "t,q1,q2,tau1,tau2\n0,1,2,3,4\n", *tail = "\n1,1,2,3,4\n";
  char *text = malloc(junk + 100);
  assert_non_null(text);
  strcpy(text, head);
  memset(text + strlen(head), 'x', junk);
  strcpy(text + strlen(head) + junk, tail);
  reading r = read_log(TWO_JOINTS, text, strlen(text), 70001, NULL);
  assert_int_equal(r.status, PSDM_OK);
  assert_int_equal(r.rows, 2);
  assert_int_equal(r.line[1], 4);
  assert_string_equal(r.reported[PSDM_FAULT_GARBAGE], "line 3: longer than 1048576 bytes");
  free(text);
}

TEST(only_bad_rows) {
  reading r = read_two("t,q1,q2,tau1,tau2\n0,1\n1,2\n", NULL);
  assert_int_equal(r.status, PSDM_OK);
  assert_int_equal(r.rows, 0);
  assert_int_equal(r.faults[PSDM_FAULT_SHORT], 2);
}

TEST(the_first_twenty_are_kept) {
  char text[4096];
  int at = snprintf(text, sizeof text, "t,q1,q2,tau1,tau2\n");
  for (int k = 0; k < 40; k++)
    at += snprintf(text + at, sizeof text - (size_t)at, k % 4 == 3 ? "oops\n" : "%d,1,2,3,%d\n", k, k);
  for (int k = 0; k < 15; k++) at += snprintf(text + at, sizeof text - (size_t)at, "oops\n");
  source s = {.at = text, .left = (size_t)at, .piece = 100};
  psdm_robot *robot = parse_robot(TWO_JOINTS);
  psdm_log *log;
  psdm_log_rows rows;
  assert_int_equal(psdmp_log_open_source(read_piece, &s, "log.csv", robot, NULL, NULL, &log, NULL), PSDM_OK);
  assert_int_equal(psdm_log_read(log, 100, &rows, NULL), PSDM_OK);
  assert_int_equal(rows.count, 30);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_SHORT), 25);
  long line;
  for (int k = 0; k < 20; k++) {
    char expected[64];
    long where = k < 10 ? 5 + 4 * k : 42 + (k - 10);
    snprintf(expected, sizeof expected, "line %ld: 1 field; 5 were expected", where);
    assert_string_equal(psdm_log_fault(log, PSDM_FAULT_SHORT, k, &line), expected);
    assert_int_equal(line, where);
  }
  assert_null(psdm_log_fault(log, PSDM_FAULT_SHORT, 20, &line));
  assert_null(psdm_log_fault(log, PSDM_FAULT_SHORT, -1, &line));
  assert_null(psdm_log_fault(log, PSDM_FAULTS, 0, &line));
  assert_null(psdm_fault_text(PSDM_FAULTS));
  assert_string_equal(psdm_fault_text(PSDM_FAULT_BACK), "time that runs back: a new segment starts");
  assert_int_equal(psdm_log_read(log, 0, &rows, NULL), PSDM_E_ARGUMENT);
  psdm_error error;
  assert_int_equal(psdm_log_rewind(log, &error), PSDM_E_IO);
  assert_string_equal(error.text, "is a pipe and cannot be read twice");
  psdm_log_close(log);
  psdm_robot_free(robot);
}

/* ---- memory ---- */

TEST(allocation_failures) {
  const char *text = "# c\nt,q1,q2,qd1,qd2,tau1,tau2\n0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n";
  psdm_robot *robot = parse_robot(TWO_JOINTS);
  long fail = 0;
  for (bool done = false; !done;) {
    source s = {.at = text, .left = strlen(text), .piece = 5};
    counting c;
    counting_init(&c, ++fail);
    psdm_log *log;
    psdm_error error;
    psdm_status status = psdmp_log_open_source(read_piece, &s, "log.csv", robot, NULL, &c.allocator, &log, &error);
    done = !status;
    if (status) {
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_string_equal(error.text, "out of memory");
      assert_null(log);
    }
    psdm_log_close(log);
    assert_int_equal(c.live, 0);
  }
  assert_true(fail > 8); /* the number of allocations */
  psdm_robot_free(robot);
}

/* ---- real logs ---- */

typedef struct real_log {
  const char *path, *robot;
  int n;
  long rows;
  double interval;
  bool motor, rates;
} real_log;

static void clean_real_log(const real_log *c, double *first_q, double *first_tau) {
  char path[512], sentence[900];
  snprintf(path, sizeof path, "%s/../shared/data/%s", SOURCE_DIR, c->path);
  if (access(path, R_OK) != 0) {
    printf("*** SKIPPED: ../shared/data/%s is missing, so it was not checked for false alarms ***\n", c->path);
    skip();
  }
  psdm_robot *robot = parse_robot(c->robot);
  psdm_log *log;
  psdm_error error;
  psdm_log_rows rows;
  if (psdm_log_open(path, robot, NULL, NULL, &log, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  assert_true(psdm_log_motor_side(log) == c->motor && psdm_log_has_rates(log) == c->rates &&
              !psdm_log_has_accelerations(log));
  for (int pass = 0; pass < 2; pass++) {
    long seen = 0, marked = 0;
    while (assert_int_equal(psdm_log_read(log, 1000, &rows, &error), PSDM_OK), rows.count) {
      if (!seen)
        memcpy(first_q, rows.q, sizeof *first_q * (size_t)c->n),
            memcpy(first_tau, rows.tau, sizeof *first_tau * (size_t)c->n);
      for (long k = 0; k < rows.count * c->n; k++) marked += rows.bad[k] != 0;
      assert_int_equal(rows.line[0], seen + 2);
      seen += rows.count;
    }
    for (int f = 0; f < PSDM_FAULTS; f++)
      if (psdm_log_faults(log, f))
        fail_msg("%s: %ld of: %s; %s", c->path, psdm_log_faults(log, f), psdm_fault_text(f),
                 psdm_log_fault(log, f, 0, NULL));
    assert_int_equal(seen, c->rows);
    assert_int_equal(marked, 0);
    assert_true(fabs(psdm_log_interval(log) - c->interval) < 1e-3 * c->interval);
    assert_int_equal(psdm_log_bytes(log), psdm_log_size(log));
    assert_int_equal(psdm_log_rewind(log, &error), PSDM_OK);
  }
  psdm_log_close(log);
  psdm_robot_free(robot);
}

TEST(real_tx40) {
  static const double qm[] = {3.1958e-05, 50.265, -70.685, 0, 0, -0.00028762},
                      taum[] = {-0.0029698, -0.76036, 0.0019974, 0.0042945, -0.0036467, 0.016623};
  double q[6], tau[6], expected_q[6], expected_tau[6];
  clean_real_log(&(real_log){"tx40/tx40_motor_5khz.csv", TX40, 6, 45000, 0.0002, true, false}, q, tau);
  to_joints(qm, taum, expected_q, expected_tau);
  assert_true(max_difference(q, expected_q, 6) < 1e-15 && max_difference(tau, expected_tau, 6) < 1e-14);
}

TEST(real_ur10) {
  double q[6], tau[6];
  clean_real_log(&(real_log){"ur10/ur10_exciting.csv", "convention: dh\njoints: [{}, {}, {}, {}, {}, {}]\n", 6, 3441,
                             0.008, false, true},
                 q, tau);
  assert_true(q[0] == 0.619778259 && tau[5] == -0.787564425);
}

TEST(real_panda) {
  double q[7], tau[7];
  clean_real_log(&(real_log){"panda/panda_exciting.csv", "convention: dh\njoints: [{}, {}, {}, {}, {}, {}, {}]\n", 7,
                             727, 0.0333334, false, true},
                 q, tau);
  assert_true(q[0] == -2.25333763 && tau[0] == -5.21143913);
}

TEST_MAIN(notations, rate_instead_of_a_clock, extra_columns, degrees_signs_offsets, currents, currents_as_they_are,
          motor_side_with_a_coupled_wrist, joint_torques_undo_motor_torques, refusals, files,
          each_fault_where_it_stands, a_long_line_is_survived, only_bad_rows, the_first_twenty_are_kept,
          allocation_failures, real_tx40, real_ur10, real_panda)
