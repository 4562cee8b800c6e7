/* test_verdict_rules.c: every rule of the verdict at both sides of its bounds, on a made-up answer: two joints, two
 * logs, everything good except one figure. docs/calibrate.md has the rules. */
#include "test_verdict_scene.h"

static void nothing_wrong(void **state) {
  (void)state;
  for (int known = 0; known < 2; known++) {
    const char *text;
    int others;
    fresh(known);
    assert_int_equal(found(&s, "error", &others, &text), good);
    assert_int_equal(s.a.findings, 0);
    /* figures of the answer: by the held-out rows, and without them by the folds */
    assert_true(s.out.judged_heldout && fabs(s.out.judged_rel - 0.01) < 1e-12 && fabs(s.out.no_model - 1) < 1e-12);
    assert_true(fabs(s.out.cross_rel - 0.01) < 1e-12 && fabs(s.out.plain - 0.01) < 1e-12);
    s.out.heldout[PSDM_FIT_MOVING].rows = 0;
    s.cross[0].own = 4 * ROWS, s.cross[1].plain = 9 * ROWS, s.cross[1].constant = 0;
    found(&s, "error", &others, &text);
    assert_true(!s.out.judged_heldout && fabs(s.out.judged_rel - sqrt(4.01 / 200)) < 1e-12 &&
                fabs(s.out.no_model - sqrt(0.5)) < 1e-12);
    assert_true(s.out.cross_rel == s.out.judged_rel && fabs(s.out.plain - sqrt(9.01 / 200)) < 1e-12);
  }
}

/* errors of the whole, by held-out rows and by folds; squares, so that bounds are not met to the last digit */
static void errors(void **state) {
  (void)state;
  static const struct {
    double error, constant; /* of the torque; of the torque less a constant */
    psdm_verdict verdict;
    const char *rule;
  } cases[] = {{0.0999, 1, good, "error"},
               {0.1001, 1, usable, "error"},
               {0.2499, 1, usable, "error"},
               {0.2501, 1, poor, "error"},
               {0.4999, 1, poor, "error"},
               {0.5001, 1, useless, "error"},
               {0.05, 0.05 / 0.3499, good, "no-model"},
               {0.05, 0.05 / 0.3501, usable, "no-model"},
               {0.05, 0.05 / 0.5999, usable, "no-model"},
               {0.05, 0.05 / 0.6001, poor, "no-model"},
               {0.05, 0.05 / 0.8999, poor, "no-model"},
               {0.05, 0.05 / 0.9001, useless, "no-model"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int folds = 0; folds < 2; folds++) {
      char words[80];
      fresh(false);
      if (folds) s.out.heldout[PSDM_FIT_MOVING].rows = 0;
      for (int i = 0; i < N; i++) {
        double e = 10 * cases[k].error, c = 10 * cases[k].constant;
        s.held[PSDM_FIT_MOVING][i] =
            (psdm_joint_fit){.rows = ROWS, .rmse = e, .rel = cases[k].error, .r2 = 1 - e * e / (c * c)};
        s.cross[i] = (psdmp_identify_folds){
            .count = ROWS, .own = e * e * ROWS, .plain = e * e * ROWS, .constant = c * c * ROWS, .square = 100 * ROWS};
      }
      if (cases[k].rule[0] == 'e')
        snprintf(words, sizeof words, "%s: error of %.3g %%", folds ? "fit to the others" : "held-out rows",
                 100 * cases[k].error);
      else
        snprintf(words, sizeof words, "the error is %.3g %% of what a constant",
                 100 * cases[k].error / cases[k].constant);
      expect(&s, cases[k].rule, cases[k].verdict, words, "case", (double)k);
    }
  /* joints without rows or with NAN give no finding; no joints at all is good */
  fresh(false);
  s.held[PSDM_FIT_MOVING][0].rows = 0, s.held[PSDM_FIT_MOVING][0].rmse = 100, s.held[PSDM_FIT_MOVING][1].rmse = NAN;
  expect(&s, "error", good, NULL, "no rows", 0);
}

static void joints(void **state) {
  (void)state;
  fresh(false);
  psdm_joint_fit *f = &s.held[PSDM_FIT_MOVING][1];
  s.held[PSDM_FIT_MOVING][0].rmse = 10, s.held[PSDM_FIT_MOVING][0].rel = 0.001; /* so large that the total is good */
  static const struct {
    double rel, gap;
    psdm_verdict verdict;
  } cases[] = {{0.2999, 0.9, good},   {0.3001, 0.9, usable}, {0.9, 0.4999, good},   {0.9, 0.5001, usable},
               {0.5999, 0.9, usable}, {0.6001, 0.9, poor},   {0.9, 0.7999, usable}, {0.9, 0.8001, poor}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    *f = (psdm_joint_fit){.rows = ROWS, .rmse = 1, .rel = cases[k].rel, .r2 = 1 - cases[k].gap * cases[k].gap};
    expect(&s, "joint", cases[k].verdict, "sign, unit or channel of q2 or tau2", "case", (double)k);
    /* an error that is noise: its variance is a sixth of that of second differences, over both logs */
    for (int log = 0; log < FILES; log++)
      s.facts[log][1].noise = 6 * ROWS * (log ? 0.5 : 0.7), s.facts[log][1].noises = ROWS;
    expect(&s, "joint", cases[k].verdict ? usable : good, "no more than its noise", "case", (double)k);
    s.facts[0][1].noise = 6 * ROWS * 0.67;
    /* 1.7 times (0.67 + 0.5) / 2 is less than 1 */
    expect(&s, "joint", cases[k].verdict, "sign, unit or channel of q2 or tau2", "case", (double)k);
    s.facts[0][1].noise = s.facts[1][1].noise = 0;
    s.span[1] = 0.01; /* a joint at rest has no figure */
    expect(&s, "joint", good, NULL, "case", (double)k);
    s.span[1] = 2;
  }
}

static void plain_least_squares(void **state) {
  (void)state;
  fresh(false);
  for (int i = 0; i < N; i++) s.cross[i].own = 1.2 * ROWS, s.cross[i].plain = 0.99 * ROWS;
  expect(&s, "plain", usable, "other motions may be predicted better", "ratio", 1.1009);
  for (int i = 0; i < N; i++) s.cross[i].plain = 0.995 * ROWS;
  expect(&s, "plain", good, NULL, "ratio", 1.0982);
  for (int i = 0; i < N; i++) s.cross[i].own = 0.0099 * ROWS, s.cross[i].plain = 0.001 * ROWS; /* below one percent */
  expect(&s, "plain", good, NULL, "ratio", 3);
  for (int i = 0; i < N; i++) s.cross[i].own = 0.26 * ROWS, s.cross[i].plain = 0.064 * ROWS; /* 5.1 %, twice plain's */
  expect(&s, "plain", usable, "other motions", "ratio", 2.01);
  s.out.cost_ratio = 4.01;
  expect(&s, "plain", poor, "no possible bodies", "ratio", 2.01);
  ABOVE(&s.out.cost_ratio, 4, "plain", usable, poor, NULL);
  for (int i = 0; i < N; i++) s.cross[i].plain = 0.066 * ROWS;
  expect(&s, "plain", usable, "no possible bodies", "ratio", 1.98);
  for (int i = 0; i < N; i++) s.cross[i].own = 0.24 * ROWS, s.cross[i].plain = 0.05 * ROWS; /* 4.9 % */
  expect(&s, "plain", usable, "no possible bodies", "ratio", 2.2);
  s.out.pi = NULL;
  expect(&s, "plain", usable, "other motions", "ratio", 2.2);
  s.out.pi = s.pi;
  /* one joint: a quarter worse than plain and above 5 % */
  s.cross[0] = (psdmp_identify_folds){
      .count = ROWS, .own = 100 * ROWS, .plain = 100 * ROWS, .constant = 1e6 * ROWS, .square = 1e6 * ROWS};
  s.cross[1] = (psdmp_identify_folds){
      .count = ROWS, .own = 1 * ROWS, .plain = 0.639 * ROWS, .constant = 100 * ROWS, .square = 100 * ROWS};
  expect(&s, "plain", usable, "joint slide: error of 10.0 %; with plain least squares it is 8.0 %", "joint", 1.251);
  s.cross[1].plain = 0.641 * ROWS;
  expect(&s, "plain", good, NULL, "joint", 1.249);
  s.cross[1].own = 0.249 * ROWS, s.cross[1].plain = 0.1 * ROWS;
  expect(&s, "plain", good, NULL, "joint", 0.0499);
  s.cross[1].own = 0.251 * ROWS;
  expect(&s, "plain", usable, NULL, "joint", 0.0501);
}

/* a log, a stretch of one */
static void places(void **state) {
  (void)state;
  fresh(false);
  s.log[2] = 4.01;
  expect(&s, "log", usable, "second.csv: error of 20 %, the other logs 1 %", "own", 0.20025);
  s.log[2] = 3.99;
  expect(&s, "log", good, NULL, "own", 0.19975);
  s.log[2] = 25.01;
  expect(&s, "log", poor, NULL, "own", 0.5001);
  s.log[2] = 24.99;
  expect(&s, "log", usable, NULL, "own", 0.4999);
  s.log[2] = 9, s.log[0] = 2.26;
  expect(&s, "log", good, NULL, "not twice", 0.3);
  s.log[0] = 2.24;
  expect(&s, "log", usable, NULL, "twice", 0.3);
  s.log[2] = 25.01, s.log[0] = 25.01; /* both */
  expect(&s, "log", poor, "first.csv", "own", 0.5001);
  s.feed.files = 1;
  expect(&s, "log", good, NULL, "one log", 0);
  s.feed.files = FILES, s.log[0] = s.log[2] = 0.01;

  s.place[13].error = 4.01;
  expect(&s, "place", usable, "second.csv, t = 3 to 4: error of 20 %, elsewhere 1.0 %", "here", 0.20025);
  s.place[13].error = 3.99;
  expect(&s, "place", good, NULL, "here", 0.19975);
  s.place[13].error = 25.01;
  expect(&s, "place", poor, NULL, "here", 0.5001);
  s.place[13].error = 24.99;
  expect(&s, "place", usable, NULL, "here", 0.4999);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) s.place[b].error = b == 13 ? 16 : 1.001;
  expect(&s, "place", good, NULL, "not four times", 0.4);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) s.place[b].error = b == 13 ? 16 : 0.999;
  expect(&s, "place", usable, "second.csv, t = 3 to 4: error of 40 %, elsewhere 10.0 %", "four times", 0.4);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++)
    s.place[b].square = b == 13 ? 100 : 0, s.place[b].error = b == 13 ? 25.01 : 0;
  expect(&s, "place", good, NULL, "nothing to compare with", 0);
}

static void outliers(void **state) {
  (void)state;
  fresh(false);
  psdm_joint_fit *raw = &s.train[PSDM_FIT_RAW][1];
  raw->rmse = 0.5, raw->rel = 0.05;
  ABOVE(&s.worst[1].error, 7.5, "outlier", good, usable,
        "second.csv, t = 3: tau2 is 10, off by 7.5, 15 times the usual error");
  s.worst[1].error = -8;
  expect(&s, "outlier", usable, "off by -8, 16 times", "negative", 0);
  raw->rel = 0.03125; /* half the torque is 8 */
  ABOVE(&s.worst[1].error, 8, "outlier", good, usable, NULL);
  raw->rel = 0.05, s.worst[1].error = 8;
  /* 0.53 Nm of noise */
  for (int k = 0; k < FILES; k++) s.facts[k][1].noise = 6 * 0.28 * ROWS, s.facts[k][1].noises = ROWS;
  s.worst[1].error = 7.9;
  expect(&s, "outlier", good, NULL, "no more than noise", 0);
  s.worst[1].error = 8;
  expect(&s, "outlier", usable, NULL, "more than noise", 0);
}

static void faults(void **state) {
  (void)state;
  static const psdm_fault lost[] = {PSDM_FAULT_GARBAGE, PSDM_FAULT_SHORT, PSDM_FAULT_NAN, PSDM_FAULT_REPEATED};
  fresh(false);
  s.feed.fault[0] = "first.csv, line 7: a row", s.feed.fault[1] = "second.csv, line 8: 1e6, 3 around it",
  s.feed.fault[2] = "q1 stays at 3", s.feed.fault_count = 3;
  for (int k = 0; k < 4; k++) {
    long *x = &s.out.faults[lost[k]];
    s.out.rows = 950;
    *x = 50, expect(&s, "rows", good, NULL, "lost", 50);
    s.out.rows = 940;
    *x = 50, expect(&s, "rows", usable, "50 of 990 rows could not be used: first.csv, line 7: a row", "lost", 50);
    *x = 940, expect(&s, "rows", usable, NULL, "half", 940);
    *x = 941, expect(&s, "rows", poor, NULL, "more than half", 941);
    *x = 0;
  }
  s.out.rows = ROWS;
  s.out.faults[PSDM_FAULT_SPIKE] = 20;
  expect(&s, "spikes", usable, "20 values are spikes, and were not fitted; the first: second.csv, line 8", "spikes",
         20);
  s.out.faults[PSDM_FAULT_SPIKE] = 21;
  expect(&s, "spikes", poor, NULL, "spikes", 21);
  s.feed.fault_count = 1;
  expect(&s, "spikes", good, NULL, "not among the lines that are kept", 21);
  s.feed.fault_count = 3, s.out.faults[PSDM_FAULT_SPIKE] = 0;
  expect(&s, "spikes", good, NULL, "none", 0);
  expect(&s, "sensor", good, NULL, "none", 0);
  for (int k = 0; k < 2; k++) {
    s.out.faults[k ? PSDM_FAULT_FROZEN : PSDM_FAULT_SATURATED] = 2;
    expect(&s, "sensor", usable, k ? "4 stretches" : "2 stretches", "stuck", 2);
  }
  s.feed.fault_count = 2;
  expect(&s, "sensor", good, NULL, "not among the lines that are kept", 2);
  for (int rows = 1000; rows <= 2000; rows += 1000)
    for (long back = 0; back <= 41; back++) {
      s.out.rows = rows, s.out.faults[PSDM_FAULT_BACK] = back;
      expect(&s, "clock",
             50 * back > rows                ? poor
             : back > 3 || 200 * back > rows ? usable
                                             : good,
             "t runs back", "rows", rows);
    }
  s.out.rows = 100, s.out.faults[PSDM_FAULT_BACK] = 1;
  expect(&s, "clock", usable, "t runs back 1 times", "rows", 100);
  s.out.rows = 200;
  expect(&s, "clock", good, NULL, "rows", 200);
}

static void positions(void **state) {
  (void)state;
  fresh(false);
  psdmp_feed_joint_facts *f = &s.facts[1][0], *slide = &s.facts[1][1];
  f->outside = 3, f->outside_line = 77;
  expect(&s, "position", usable, "second.csv, line 77: q1 of joint turn leaves its limits: -1 to 1 against -2 to 2",
         "outside", 3);
  ABOVE(&f->q_high, 6, "position", usable, poor, NULL);
  BELOW(&f->q_low, -6, "position", poor, usable, NULL);
  s.robot->joint[0].limits.upper = 3;
  ABOVE(&f->q_high, 9, "position", usable, poor, NULL);
  s.robot->joint[0].limits.upper = INFINITY;
  expect(&s, "position", good, NULL, "no limit", 0);
  f->outside = 0;
  f->q_low = 8;
  ABOVE(&f->q_high, 20.5, "position", usable, usable, "looks like degrees");
  f->q_low = 8.5, f->q_high = 20.4;
  expect(&s, "position", good, NULL, "little motion", 11.9);
  f->q_low = 8.3;
  expect(&s, "position", usable, "goes from 8.3 to 20.4 rad, 2 turns: it looks like degrees", "much motion", 12.1);
  f->q_low = 0;
  ABOVE(&f->q_high, 20, "position", good, usable, "second.csv: q1");
  f->q_low = -1, f->q_high = 1;
  s.robot->joint[0].limits.upper = 2, f->outside = 1, f->q_high = 90;
  expect(&s, "position", poor, ": it looks like degrees", "degrees", 90);
  f->outside = 0, f->q_high = 1;
  slide->q_high = 100; /* metres are not degrees */
  expect(&s, "position", good, NULL, "slide", 100);
}

static void efforts(void **state) {
  (void)state;
  fresh(false);
  psdmp_feed_joint_facts *f = &s.facts[0][1];
  f->beyond = 21, f->beyond_line = 5, f->peak = 150;
  expect(&s, "effort", usable,
         "first.csv, line 5: tau2 of joint slide reaches 150; the file's limit is 100 (21 rows above it)", "beyond",
         21);
  ABOVE(&f->peak, 200, "effort", usable, poor, NULL);
  f->peak = 201;
  ABOVE(&f->beyond, 20, "effort", usable, poor, NULL);
  f->peak = 1e4;
  expect(&s, "effort", poor, "(21 rows above it)", "peak", 1e4);
  f->peak = 10001;
  expect(&s, "effort", poor, "(21 rows above it): mNm?", "peak", 10001);
  f->beyond = 1;
  expect(&s, "effort", usable, "(1 rows above it)", "beyond", 1);
  f->beyond = 0;
  expect(&s, "effort", good, NULL, "none", 0);
  f->peak = 50, f->fast_line = 9;
  ABOVE(&f->fast, 4.5, "velocity", good, usable,
        "first.csv, line 9: joint slide moves at 4.5 per second by q2; the file's limit is 3");
  ABOVE(&f->fast, 15, "velocity", usable, poor, NULL);
  f->fast = 91;
  expect(&s, "velocity", poor, "degrees, or a clock that is off?", "fast", 91);
  f->fast = 90;
  const char *text;
  int others;
  assert_int_equal(found(&s, "velocity", &others, &text), poor);
  assert_null(strstr(text, "degrees"));
  f->fast = 1;
  /* all columns weak */
  for (int k = 0; k < FILES; k++)
    for (int i = 0; i < N; i++) s.facts[k][i].peak = 0.25;
  BELOW(&s.facts[1][1].peak, 0.5, "effort", usable, good, "kNm, or currents?");
  s.facts[1][1].peak = 0.499;
  expect(&s, "effort", usable, "no torque exceeds 0.5 %", "weak", 0.499);
  s.robot->joint[1].limits.effort = INFINITY;
  expect(&s, "effort", good, NULL, "no limit", 0);
  s.robot->joint[1].limits.effort = 0;
  expect(&s, "effort", good, NULL, "no effort", 0);
}

static void rates(void **state) {
  (void)state;
  fresh(false);
  psdmp_feed_joint_facts *f = &s.facts[1][0];
  static const struct {
    double slope;
    psdm_verdict unused, used; /* whether qd is used for the fit */
    const char *words;
  } slopes[] = {{0.801, good, good, NULL},
                {0.799, poor, poor, "another unit"},
                {1.249, good, good, NULL},
                {1.251, poor, poor, "another unit"},
                {57.3, usable, poor, "qd1 is 57.3 times the rate of q1 of joint turn: degrees"},
                {29.9, poor, poor, NULL},
                {30.1, usable, poor, NULL},
                {89.9, usable, poor, NULL},
                {90.1, poor, poor, NULL},
                {1000, poor, poor, "thousandths"},
                {0.001, poor, poor, "thousands (kNm"},
                {-1, poor, poor, "opposite sign"},
                {1 / 57.3, poor, poor, "radians read as degrees"},
                {1e6, poor, poor, "millionths"},
                {-57.3, poor, poor, "another unit, sign or channel"},
                {1390, poor, poor, "thousandths"},
                {1410, poor, poor, "another unit"},
                {710, poor, poor, "thousandths"},
                {690, poor, poor, "another unit"}};
  for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++)
    for (int used = 0; used < 2; used++) {
      s.run.band.kinematics = used ? PSDM_KINEMATICS_VELOCITY : PSDM_KINEMATICS_POSITION;
      f->both = slopes[k].slope, f->integral2 = f->both * f->both;
      expect(&s, "rates", used ? slopes[k].used : slopes[k].unused, slopes[k].words, "slope", slopes[k].slope);
    }
  static const struct {
    double alike;
    psdm_verdict unused, used;
  } correlations[] = {{0.801, good, good},  {0.799, usable, poor}, {0.501, usable, poor}, {0.499, poor, poor},
                      {-0.6, usable, poor}, {-0.4, poor, poor},    {-0.9, poor, poor}};
  for (size_t k = 0; k < sizeof correlations / sizeof *correlations; k++)
    for (int used = 0; used < 2; used++) {
      s.run.band.kinematics = used ? PSDM_KINEMATICS_ACCELERATION : PSDM_KINEMATICS_POSITION;
      f->way2 = 4, f->both = 4, f->integral2 = 4 / (correlations[k].alike * correlations[k].alike);
      if (correlations[k].alike < 0) f->both = -4;
      expect(&s, "rates", used ? correlations[k].used : correlations[k].unused,
             fabs(correlations[k].alike) < 0.8 ? "second.csv: qd1 is not the rate of q1 of joint turn" : NULL,
             "correlation", correlations[k].alike);
    }
  f->way2 = 1, f->both = 5, f->integral2 = 25;
  f->q_low = 0;
  BELOW(&f->q_high, 0.02, "rates", good, poor, NULL);
  f->q_high = 1, f->integral2 = 0;
  expect(&s, "rates", good, NULL, "no rates", 0);
  f->integral2 = 25, f->way2 = 0;
  expect(&s, "rates", good, NULL, "no way", 0);
}

static void clock_and_choices(void **state) {
  (void)state;
  fresh(false);
  BELOW(&s.run.interval, 0.5, "clock", good, poor, "s apart; motion needs at least ten a second");
  s.run.interval = 1;
  expect(&s, "clock", poor, "milliseconds", "interval", 1);
  s.run.interval = 0.999;
  const char *text;
  int others;
  assert_int_equal(found(&s, "clock", &others, &text), poor);
  assert_null(strstr(text, "milliseconds"));
  s.run.interval = 0.01;
  BELOW(&s.run.interval, 1e-5, "clock", poor, good, "not in seconds");

  s.out.stopped = true;
  expect(&s, "stopped", usable, "interrupted", "stopped", 1);
  s.out.stopped = false;
  expect(&s, "stopped", good, NULL, "stopped", 0);
  ABOVE(&s.run.band.delay, 0.02, "delay", good, usable, "20 ms late, more than a control loop has");
  BELOW(&s.run.band.delay, -0.02, "delay", usable, good, "-20 ms late");
  s.run.band.delay = 0.25;
  s.options.delay_given = true;
  expect(&s, "delay", good, NULL, "given", 0.25);
  s.run.delay_end = true;
  expect(&s, "delay", poor, "250 ms late or more", "end", 0.25);
}

static void masses_found(void **state) {
  (void)state;
  /* a file without masses: a reach of 1 + 1 m, and slides count with their way */
  fresh(false);
  double reach = psdmp_identify_prior_reach(s.robot);
  assert_true(reach > 0 && reach <= 2);
  for (int k = 0; k < FILES; k++) s.facts[k][1].q_low = 0;
  s.facts[1][1].q_high = 10;
  ABOVE(&s.run.prior_mass, 3e6, "mass", good, poor,
        "with a reach of 10 m; at most 3e+06 kg were expected: torques in mNm?");
  BELOW(&s.run.prior_mass, 1000, "mass", usable, good, "at least 1e+03 kg were expected: torques in kNm, or currents?");
  BELOW(&s.run.prior_mass, 100, "mass", poor, usable, NULL);
  s.run.prior_mass = 0;
  expect(&s, "mass", good, NULL, "none", 0);
  s.run.prior_mass = 1e5, s.run.prior_scale = -1;
  expect(&s, "mass", usable, "negative mass: all torques", "sign", -1);
  for (int i = 1; i <= 3; i++) s.pi[i] = s.pi[10 + i] = -0.11 * s.prior[i];
  expect(&s, "mass", poor, "negative mass, or centres of mass behind their joints", "sign", -1);
  for (int i = 1; i <= 3; i++) s.pi[i] = s.pi[10 + i] = -0.09 * s.prior[i];
  expect(&s, "mass", usable, "negative mass: all torques", "sign", -1);
  s.pi[1] = s.prior[1] = 100, s.pi[13] = -5e4, s.prior[13] = 10;
  expect(&s, "mass", poor, NULL, "sign", -1);
  s.run.prior_scale = 1, s.run.prior_mass = 1e9, s.run.prior_kinematics = false;
  expect(&s, "mass", good, NULL, "a prior that is not from kinematics", 0);

  /* a file with masses, 20 kg: what counts is the ratio to them */
  fresh(true);
  static const struct {
    double times;
    psdm_verdict verdict;
    const char *words;
  } cases[] = {{3.001, usable, "3 times as heavy as the file's (20 kg)"},
               {2.999, good, NULL},
               {0.334, good, NULL},
               {0.333, usable, "another unit"},
               {9.999, usable, NULL},
               {10.001, poor, NULL},
               {0.1001, usable, NULL},
               {0.0999, poor, NULL},
               {1000, poor, "thousandths (mNm"},
               {0.001, poor, "thousands (kNm"},
               {0, good, NULL}};
  for (int kinematics = 0; kinematics < 2; kinematics++)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      s.run.prior_kinematics = kinematics;
      s.run.prior_scale = kinematics ? 1 : cases[k].times;
      s.run.prior_mass = 20 * cases[k].times;
      expect(&s, "mass", cases[k].verdict, cases[k].words, kinematics ? "times, from kinematics" : "times",
             cases[k].times);
    }
  s.run.prior_kinematics = false, s.run.prior_scale = 5, s.options.prior = s.prior;
  expect(&s, "mass", good, NULL, "a prior that was given", 5);
}

static void inertias(void **state) {
  (void)state;
  fresh(false);
  for (int k = 0; k < FILES; k++) s.facts[k][1].q_low = 0;
  s.facts[0][1].q_high = 10; /* 20 kg within 10 m: 40000 kg m^2 */
  static const int moment[] = {4, 7, 9};
  for (int link = 0; link < N; link++)
    for (int k = 0; k < 3; k++) {
      double *x = &s.pi[10 * link + moment[k]];
      ABOVE(x, 39998, "inertia", good, poor,
            "an inertia of 4e+04 kg m^2 was found; 20 kg within a reach of 10 m have at most 4e+04: is t in seconds?");
    }
  s.run.links = 1, s.pi[0] = 20; /* the numbers behind it are drives' */
  ABOVE(&s.pi[S - 1], 40000, "inertia", good, poor, NULL);
  ABOVE(&s.pi[10], 40000, "inertia", good, poor, NULL);
  s.pi[10] = 1e6;
  s.span[1] = 0;
  expect(&s, "inertia", good, NULL, "a joint that stands still", 0);
  s.span[1] = 2, s.out.pi = NULL;
  expect(&s, "inertia", good, NULL, "no parameters", 0);
}

static void friction(void **state) {
  (void)state;
  fresh(false);
  psdm_column *c = s.column[1];
  /* torque 10: reported when driving by more than 0.5, poor above 1.5 if the total is not good; offsets and columns
   * even in v are not friction */
  c[0] = (psdm_column){.kind = PSDM_COLUMN_OFFSET, .gain = -100},
  c[1] = (psdm_column){.kind = PSDM_COLUMN_ABSOLUTE, .gain = -100};
  expect(&s, "friction", good, NULL, "even", 0);
  c[1] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS};
  BELOW(&c[1].gain, -0.5, "friction", usable, good,
        "joint slide: friction drives at 1 per second, by 0.5 Nm (torque: 10 Nm): sign of tau2");
  c[1].gain = -1.51;
  expect(&s, "friction", usable, NULL, "the whole is good", 0);
  for (int i = 0; i < N; i++)
    s.held[PSDM_FIT_MOVING][i] = (psdm_joint_fit){.rows = ROWS, .rmse = 1.01, .rel = 0.101, .r2 = 1 - 0.0101};
  expect(&s, "friction", poor, NULL, "the whole is not", 0);
  c[1].gain = -1.49;
  expect(&s, "friction", usable, NULL, "the whole is not", 0);
  c[1].gain = -0.6, s.sigma[1] = 0.3;
  expect(&s, "friction", good, NULL, "within twice the noise", 0);
  s.sigma[1] = 0.29;
  expect(&s, "friction", usable, NULL, "beyond it", 0);
  /* a stop slides like a sign; a dip at 1/20 of the speed is found, and loads count */
  c[1] = (psdm_column){.kind = PSDM_COLUMN_STOP, .width = 1, .gain = -0.7};
  expect(&s, "friction", usable, "drives at 0.05 per second, by 0.7 Nm", "stop", 0);
  c[1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = -0.2, .load = 1}, s.load[1] = 4;
  expect(&s, "friction", usable, "by 0.8 Nm", "load", 0);
  c[1].load = 2;
  expect(&s, "friction", poor, "by 3.2 Nm", "load", 0);
  c[0] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS, .gain = 8},
  c[1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = -1};
  expect(&s, "friction", usable, "drives at 0.05 per second, by 0.6 Nm", "a dip", 0);
  c[1].gain = 1;
  expect(&s, "friction", good, NULL, "brakes", 0);
}

static void coverage(void **state) {
  (void)state;
  fresh(false);
  ABOVE(&s.span[1], 0.01, "motion", usable, good, "joint slide hardly moves (0.01 over the whole log)");
  s.span[1] = 0.0101;
  expect(&s, "motion", good, NULL, "moves", 0);
  s.train[PSDM_FIT_MOVING][1].rows = 0;
  expect(&s, "motion", usable, "joint slide hardly moves", "no rows in motion", 0);
  s.span[0] = 0;
  expect(&s, "motion", poor, "2 of 2 joints hardly move", "both", 0);
  fresh(false);
  /* four parameters and four columns: 40 equations of two joints */
  s.out.used = 20;
  expect(&s, "rows", good, NULL, "used", 20);
  s.out.used = 19;
  expect(&s, "rows", poor, "19 rows of 2 joints for 8 parameters", "used", 19);
  s.out.used = ROWS, s.out.rows = 200;
  expect(&s, "rows", good, NULL, "seconds", 2);
  s.out.rows = 199;
  expect(&s, "rows", usable, "the log has 2 s", "seconds", 1.99);
  s.out.rows = ROWS;
  for (int k = 0; k < 4; k++) s.theta[k].prior_share = k < 2 ? 0.51 : 0.5;
  expect(&s, "prior", good, NULL, "half", 2);
  s.theta[3].prior_share = 0.51;
  expect(&s, "prior", usable, "3 of 4 base parameters are mostly the prior's", "most", 3);
  s.out.pi = NULL;
  expect(&s, "prior", good, NULL, "none", 0);
}

/* more findings than the list holds: the list ends, and nothing is written beyond it */
static void too_many(void **state) {
  (void)state;
  fresh(false);
  psdmp_feed_file file[40];
  for (int k = 0; k < 40; k++) file[k] = s.file[k % 2];
  double log[80];
  for (int k = 0; k < 80; k++) log[k] = k % 2 ? 100 : 1;
  for (int k = 0; k < FILES; k++)
    for (int i = 0; i < N; i++) s.facts[k][i].outside = 1;
  s.feed.files = 40, s.feed.file = file, s.a.file = log;
  expect(&s, "position", usable, NULL, "many", 80);
  assert_int_equal(s.a.findings, 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_wrong),
      cmocka_unit_test(errors),
      cmocka_unit_test(joints),
      cmocka_unit_test(plain_least_squares),
      cmocka_unit_test(places),
      cmocka_unit_test(outliers),
      cmocka_unit_test(faults),
      cmocka_unit_test(positions),
      cmocka_unit_test(efforts),
      cmocka_unit_test(rates),
      cmocka_unit_test(clock_and_choices),
      cmocka_unit_test(masses_found),
      cmocka_unit_test(inertias),
      cmocka_unit_test(friction),
      cmocka_unit_test(coverage),
      cmocka_unit_test(too_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
