/* test_verdict_exact.c: each rule of the verdict at every joint and log, with its whole message, and exactly at its
 * bounds: roots of squares over powers of two are exact. */
#include "test_verdict_scene.h"

/* all messages of a rule, and no other rule's */
static void says(const char *rule, psdm_verdict gravest, const char *sentences) {
  char all[8000];
  size_t at = 0;
  const char *text;
  int others;
  all[0] = 0;
  psdm_verdict is = found(&s, rule, &others, &text);
  for (int k = 0; k < s.a.findings; k++)
    if (strcmp(s.a.finding[k].rule, rule) == 0)
      at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", at ? "\n" : "", s.a.finding[k].text);
  assert_string_equal(all, sentences);
  assert_int_equal(is, gravest);
}

/* folds of one joint: shares of its torque and of its torque less a constant; the other joint has no error */
static void fold(int i, double error, double constant) {
  s.out.heldout[PSDM_FIT_MOVING].rows = 0;
  s.cross[1 - i] = (psdmp_identify_folds){0};
  s.cross[i] = (psdmp_identify_folds){.count = 1024,
                                      .own = error * error * 1024,
                                      .plain = error * error * 1024,
                                      .constant = 1024 * constant * constant,
                                      .square = 1024};
}

TEST(errors_exactly) {
  const psdm_verdict step[] = {good, usable, poor, useless};
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) {
      static const double error[] = {0.10, 0.25, 0.50}, constant[] = {0.35, 0.60, 0.90};
      for (int over = 0; over < 2; over++) {
        fresh(false);
        fold(i, error[k] * (1 + 1e-12 * over), 1);
        expect(&s, "error", step[k + over], NULL, "error", error[k]);
        assert_true(s.out.judged_rel == s.out.cross_rel);
        fresh(false);
        fold(i, 0x1p-10 * constant[k] * (1 + 1e-12 * over), 0x1p-10);
        expect(&s, "no-model", step[k + over], NULL, "constant", constant[k]);
        expect(&s, "error", good, NULL, "constant", constant[k]);
      }
    }
  fresh(false);
  fold(0, 0.2, 0.5);
  says("error", usable,
       "parts of the log, each predicted by a fit to the others: error of 20 % of the torque; at most 10 % was "
       "expected (a "
       "constant torque per joint would leave 50 %)");
  expect(&s, "no-model", good, NULL, "the error says as much", 0);
  fold(1, 0.2, 0.25);
  says("no-model", poor,
       "parts of the log, each predicted by a fit to the others: the error is 80 % of what a constant torque per joint "
       "would "
       "leave; at most 35 % was expected");
  s.out.heldout[PSDM_FIT_MOVING].rows = 1; /* one row is enough for a verdict */
  s.held[PSDM_FIT_MOVING][0] = (psdm_joint_fit){.rows = 1, .rmse = 3, .rel = 0.3, .r2 = 1 - 0.36};
  /* neither known: its own error */
  s.held[PSDM_FIT_MOVING][1] = (psdm_joint_fit){.rows = 1, .rmse = 4, .rel = 0, .r2 = 2};
  /* 25 of 100 + 16; 25 + 16 of that */
  says("error", poor,
       "held-out rows: error of 46.4 % of the torque; at most 10 % was expected (a constant torque per joint would "
       "leave 59 %)");
  assert_true(fabs(s.out.judged_rel - sqrt(25.0 / 116)) < 1e-15 && fabs(s.out.no_model - sqrt(41.0 / 116)) < 1e-15);
  /* an error too small for a figure of 1 is rounding of a constant */
  s.held[PSDM_FIT_MOVING][0] = (psdm_joint_fit){.rows = 4, .rmse = 3, .rel = 0.5, .r2 = 1},
  s.held[PSDM_FIT_MOVING][1] = (psdm_joint_fit){0};
  expect(&s, "no-model", good, NULL, "r2", 1);
  /* a constant leaves 2^53 times its square */
  assert_true(fabs(s.out.no_model / (0.5 * sqrt(2) * 0x1p26) - 1) < 1e-15);
  fold(0, 0x1p-10, 1), s.cross[0].square = 0; /* an error of no torque, however small */
  expect(&s, "error", useless, NULL, "no torque", 0);
  s.cross[0].own = 0;
  expect(&s, "error", good, NULL, "nothing at all", 0);
}

TEST(joints_exactly) {
  for (int i = 0; i < N; i++) {
    static const struct {
      double rel, gap;
      psdm_verdict at, above[2]; /* a little more of the error, or of its share of a constant's */
    } cases[] = {{0.3, 0.9, good, {usable, good}},
                 {0.9, 0.5, good, {good, usable}},
                 {0.6, 0.9, usable, {poor, usable}},
                 {0.9, 0.8, usable, {usable, poor}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
      for (int more = 0; more < 3; more++) {
        fresh(false);
        double rel = cases[k].rel * (more == 1 ? 1 + 1e-12 : 1), gap = cases[k].gap * (more == 2 ? 1 + 1e-12 : 1);
        s.out.heldout[PSDM_FIT_MOVING].rows = 0;
        s.cross[1 - i] = (psdmp_identify_folds){0};
        s.cross[i] = (psdmp_identify_folds){.count = 1024,
                                            .own = gap * gap * 1024,
                                            .plain = gap * gap * 1024,
                                            .constant = 1024,
                                            .square = gap * gap * 1024 / (rel * rel)};
        if (sqrt(s.cross[i].own / s.cross[i].square) != rel)
          s.cross[i].square = gap * gap * 1024 / (rel * rel) * (1 + 4e-16);
        /* no double is that square */
        if (cases[k].rel < 0.9 && more == 0 && sqrt(s.cross[i].own / s.cross[i].square) != rel) continue;
        expect(&s, "joint", more ? cases[k].above[more - 1] : cases[k].at, NULL, "joint", (double)k);
      }
    fresh(false);
    fold(i, 0.4, 0.5);
    says("joint", usable,
         i ? "joint slide: error of 40 % of its torque; with a constant torque it would be 50 %: sign, unit or channel "
             "of q2 or "
             "tau2?"
           : "joint turn: error of 40 % of its torque; with a constant torque it would be 50 %: sign, unit or channel "
             "of q1 or "
             "tau1?");
    s.cross[i].own = 0.04, s.cross[i].constant = 0.0625, s.cross[i].square = 0.25; /* however small */
    expect(&s, "joint", usable, "error of 40 % of its torque; with a constant torque it would be 50 %", "small", 0.25);
    /* noise of 1 in one row of both logs; 1.7 times its square is the bound */
    s.facts[1][i].noise = 6, s.facts[1][i].noises = 1;
    s.cross[i] = (psdmp_identify_folds){
        .count = 1024, .own = 1.7 * 1024, .plain = 1.7 * 1024, .constant = 1.7 * 2048, .square = 1.7 * 4096};
    says("joint", usable,
         i ? "joint slide: error of 50 % of its torque, no more than its noise: this log says little about it"
           : "joint turn: error of 50 % of its torque, no more than its noise: this log says little about it");
    s.cross[i].own *= 1 + 1e-12;
    expect(&s, "joint", usable, "sign, unit or channel", "more than noise", 0);
    s.cross[i] = (psdmp_identify_folds){.count = 1024, .own = 1};
    expect(&s, "joint", good, NULL, "no torque", 0);
  }
}

TEST(plain_exactly) {
  fresh(false);
  s.cross[0] = (psdmp_identify_folds){
      .count = 1024, .own = 1.1 * 1.1 * 1024, .plain = 1024, .constant = 1 << 18, .square = 1 << 18};
  s.cross[1] = (psdmp_identify_folds){0};
  expect(&s, "plain", good, NULL, "ratio", 1.1);
  s.cross[0].own *= 1 + 1e-12;
  says("plain", usable,
       "parts of the log, each predicted by a fit to the others: error of 6.88 %; with plain least squares it is 6.25 "
       "%: other "
       "motions may be predicted better with `estimator = ols` `plain_friction`");
  s.out.cost_ratio = 5;
  s.cross[0].own = 4 * 1024;
  says("plain", usable,
       "parts of the log, each predicted by a fit to the others: error of 12.5 %; with plain least squares it is 6.25 "
       "%: no "
       "possible bodies explain the torques as well: kinematics, gravity, units or signs may be wrong");
  s.cross[0].own *= 1 + 1e-12;
  expect(&s, "plain", poor, NULL, "ratio", 2);
  s.cross[0] = (psdmp_identify_folds){
      .count = 1024, .own = 0.05 * 0.05 * 1024, .plain = 1e-4 * 1024, .constant = 1024, .square = 1024};
  expect(&s, "plain", usable, NULL, "error", 0.05);
  s.cross[0].own *= 1 + 1e-12;
  expect(&s, "plain", poor, NULL, "error", 0.05);
  s.cross[0] = (psdmp_identify_folds){
      .count = 1024, .own = 0.01 * 0.01 * 1024, .plain = 1e-6 * 1024, .constant = 1024, .square = 1024};
  expect(&s, "plain", good, NULL, "error", 0.01);
  s.cross[0].own *= 1 + 1e-12;
  expect(&s, "plain", usable, NULL, "error", 0.01);
  for (int i = 0; i < N; i++) {
    fresh(false);
    s.cross[1 - i] = (psdmp_identify_folds){.count = 1024, .own = 1e9, .plain = 1e9, .constant = 1e15, .square = 1e15};
    s.cross[i] = (psdmp_identify_folds){
        .count = 1024, .own = 1.5625 * 1024, .plain = 1024, .constant = 1 << 18, .square = 1 << 18};
    expect(&s, "plain", good, NULL, "joint", 1.25);
    s.cross[i].own *= 1 + 1e-12;
    says("plain", usable,
         i ? "joint slide: error of 7.8 %; with plain least squares it is 6.2 %"
           : "joint turn: error of 7.8 %; with plain least squares it is 6.2 %");
    s.cross[i] = (psdmp_identify_folds){.count = 1024, .own = 0.05 * 0.05 * 1024, .constant = 1024, .square = 1024};
    expect(&s, "plain", good, NULL, "joint", 0.05);
    s.cross[i].own *= 1 + 1e-12; /* no error at all is better too */
    expect(&s, "plain", usable, "with plain least squares it is 0.0 %", "joint", 0.05);
    s.cross[i].plain = NAN;
    expect(&s, "plain", good, NULL, "no figure", 0);
  }
}

TEST(places_exactly) {
  for (int k = 0; k < FILES; k++) {
    fresh(false);
    s.log[2 * k + 1] = 1024, s.log[2 * k] = 0.2 * 0.2 * 1024;
    expect(&s, "log", good, NULL, "own", 0.2);
    s.log[2 * k] *= 1 + 1e-12;
    says("log", usable,
         k ? "second.csv: error of 20 %, the other logs 1 %: are its units, signs and channels theirs?"
           : "first.csv: error of 20 %, the other logs 1 %: are its units, signs and channels theirs?");
    s.log[2 * k] = 256;
    expect(&s, "log", usable, NULL, "own", 0.5);
    s.log[2 * (1 - k)] = 16, s.log[2 * (1 - k) + 1] = 256; /* a quarter: half of it */
    expect(&s, "log", good, NULL, "twice", 0.5);
    s.log[2 * k] *= 1 + 1e-12;
    expect(&s, "log", poor, NULL, "own", 0.5);
  }
  /* others are all the others */
  fresh(false);
  psdmp_feed_file three[4] = {s.file[0], s.file[1], s.file[0], s.file[FILES]};
  double log[8] = {36, 100, 4, 100, 5, 300, 1e9, 1e9};
  s.feed.files = 3, s.feed.file = three, s.a.file = log;
  /* 9 of 400 */
  says("log", poor, "first.csv: error of 60 %, the other logs 15 %: are its units, signs and channels theirs?");
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b += PSDMP_IDENTIFY_BLOCKS - 1) {
    fresh(false);
    for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) s.place[k].error = 1, s.place[k].square = 64;
    s.place[b].error = 16;
    expect(&s, "place", good, NULL, "four times", 0.5);
    s.place[b].error *= 1 + 1e-12;
    expect(&s, "place", poor, NULL, "four times", 0.5);
    for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) s.place[k].error = 0;
    s.place[b].error = 16;
    expect(&s, "place", usable, "error of 50 %, elsewhere 0.0 %: look at these rows", "here", 0.5);
    s.place[b].error = 0.2 * 0.2 * 64;
    expect(&s, "place", good, NULL, "here", 0.2);
    s.place[b].error *= 1 + 1e-12;
    says("place", usable,
         b ? "second.csv, t = 9 to 10: error of 20 %, elsewhere 0.0 %: look at these rows"
           : "first.csv, t = 0 to 1: error of 20 %, elsewhere 0.0 %: look at these rows");
    /* a small torque is still a torque */
    for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) s.place[k].error /= 1024, s.place[k].square /= 1024;
    expect(&s, "place", usable, "error of 20 %, elsewhere 0.0 %", "small", 0.2);
    for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) s.place[k].error *= 1024, s.place[k].square *= 1024;
    s.place[7] = s.place[b], s.place[7].from = 77; /* the first of two alike */
    expect(&s, "place", usable, b ? "t = 77" : "t = 0", "two alike", 0);
    s.place[7].error = 0;
    s.place[PSDMP_IDENTIFY_BLOCKS - 1 - b] = (psdmp_identify_error_place){0}; /* a piece without rows does not count */
    expect(&s, "place", usable, NULL, "an empty piece", 0);
  }
}

TEST(logs_exactly) {
  for (int k = 0; k < FILES; k++)
    for (int i = 0; i < N; i++) {
      char should[400];
      const char *log = k ? "second.csv" : "first.csv", *name = i ? "slide" : "turn";
      fresh(false);
      psdmp_feed_joint_facts *f = &s.facts[k][i];
      f->outside = 1, f->outside_line = 7, f->q_low = -3;
      snprintf(should, sizeof should, "%s, line 7: q%d of joint %s leaves its limits: -3 to 1 against -2 to 2", log,
               i + 1, name);
      says("position", usable, should);
      f->outside = 0, f->q_low = -1;
      f->beyond = 1, f->beyond_line = 8, f->peak = 1e4;
      snprintf(should, sizeof should,
               "%s, line 8: tau%d of joint %s reaches 1e+04; the file's limit is 100 (1 rows above it)", log, i + 1,
               name);
      says("effort", usable, should);
      f->beyond = 0, f->peak = 50, f->fast = 90, f->fast_line = 9;
      snprintf(should, sizeof should, "%s, line 9: joint %s moves at 90 per second by q%d; the file's limit is 3", log,
               name, i + 1);
      says("velocity", poor, should);
      f->fast = 1, f->both = 0.6;
      snprintf(should, sizeof should, "%s: qd%d is not the rate of q%d of joint %s (correlation 0.60): wrong columns?",
               log, i + 1, i + 1, name);
      says("rates", usable, should);
      f->both = 4, f->integral2 = 16;
      snprintf(should, sizeof should, "%s: qd%d is 4 times the rate of q%d of joint %s: another unit, sign or channel",
               log, i + 1, i + 1, name);
      says("rates", poor, should);
      /* bounds of slopes and correlations, exactly */
      static const struct {
        double way2, both, integral2;
        psdm_verdict verdict;
        const char *words;
      } cases[] = {{1, 0.8, 0.64, poor, "0.8 times"},
                   {1, 1.25, 1.5625, poor, "1.25 times"},
                   {0.8, 0.8, 1.25, poor, "1 times the rate"},
                   {1, 0.5, 1, usable, "(correlation 0.50)"},
                   {1, 30, 900, poor, "30 times"},
                   {1, 90, 8100, poor, "90 times"},
                   {1, 700, 490000, poor, "another unit"},
                   {1, 1400, 1960000, poor, "another unit"},
                   {0.25, 1, 4, poor, "4 times"},
                   {0x1p-4, 0x1p-2, 1, poor, "4 times"},
                   {1, 0x1p-2, 0x1p-4, poor, "0.25 times"}};
      for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        f->way2 = cases[c].way2, f->both = cases[c].both, f->integral2 = cases[c].integral2;
        expect(&s, "rates", cases[c].verdict, cases[c].words, "case", (double)c);
      }
      f->way2 = f->both = f->integral2 = 1;
      if (i == 0) {
        f->q_low = 8.5, f->q_high = 20.5;
        expect(&s, "position", good, NULL, "as far as twelve", 12);
        f->q_low = 0, f->q_high = 62.83;
        snprintf(should, sizeof should,
                 "%s: q1 of joint turn goes from 0 to 62.83 rad, 10 turns: it looks like degrees (`degrees`)", log);
        says("position", usable, should);
        f->outside = 1, f->outside_line = 6, f->q_low = -90, f->q_high = 1;
        snprintf(should, sizeof should,
                 "%s, line 6: q1 of joint turn leaves its limits: -90 to 1 against -2 to 2: it looks like degrees "
                 "(`degrees`)",
                 log);
        says("position", poor, should);
      }
      /* all weak but one */
      fresh(false);
      for (int file = 0; file < FILES; file++)
        for (int joint = 0; joint < N; joint++) s.facts[file][joint].peak = 0;
      s.facts[k][i].peak = 0.25;
      says("effort", usable, "no torque exceeds 0.25 % of its joint's effort limit: kNm, or currents?");
      s.robot->joint[i].limits.effort = 0.5;
      expect(&s, "effort", good, NULL, "half of what it may", 0.5);
      s.facts[k][i].peak = 0x1p-10;
      expect(&s, "effort", usable, "no torque exceeds 0.2 %", "a small limit", 0.5);
      s.robot->joint[i].limits.effort = INFINITY;
      expect(&s, "effort", good, NULL, "no limit", 0);
      s.robot->joint[i].limits.effort = 0, s.facts[k][i].peak = 0;
      expect(&s, "effort", good, NULL, "no effort", 0);
    }
}

TEST(faults_exactly) {
  fresh(false);
  s.feed.fault[0] = "first.csv, line 8: 1e6, 3 around it", s.feed.fault[1] = "second.csv, line 9: 1e6, 3 around it",
  s.feed.fault_count = 2;
  s.out.faults[PSDM_FAULT_SPIKE] = 1;
  says("spikes", usable, "1 values are spikes, and were not fitted; the first: first.csv, line 8: 1e6, 3 around it");
  s.out.faults[PSDM_FAULT_SPIKE] = 0, s.out.faults[PSDM_FAULT_FROZEN] = 1;
  s.feed.fault[0] = "first.csv, line 8: q1 stays at 3", s.feed.fault[1] = "second.csv, line 8: q1 stays at 3";
  says("sensor", usable,
       "1 stretches with a frozen or saturated channel were not fitted; the first: first.csv, line "
       "8: q1 stays at 3");
  s.out.faults[PSDM_FAULT_FROZEN] = 0, s.out.faults[PSDM_FAULT_BACK] = 4;
  says("clock", usable, "t runs back 4 times: are the rows in order?");
  for (int i = 0; i < N; i++) {
    fresh(false);
    s.worst[i] = (psdmp_identify_worst){.error = -16, .tau = 9, .t = 2.5, .file = 1 - i};
    s.train[PSDM_FIT_RAW][i].rmse = 1, s.train[PSDM_FIT_RAW][i].rel = 0.04;
    says("outlier", usable,
         i ? "first.csv, t = 2.5: tau2 is 9, off by -16, 16 times the usual error: an outlier"
           : "second.csv, t = 2.5: tau1 is 9, off by -16, 16 times the usual error: an outlier");
    s.train[PSDM_FIT_RAW][i].rmse = 1e-9, s.train[PSDM_FIT_RAW][i].rel = 0; /* all of the torque, in billionths: one */
    ABOVE(&s.worst[i].error, 0.5, "outlier", good, usable, NULL);
    s.facts[1][i].noise = 6 * 4, s.facts[1][i].noises = 1; /* 2 Nm */
    ABOVE(&s.worst[i].error, 30, "outlier", good, usable, "15 times the usual error");
  }
}

TEST(numbers_exactly) {
  /* a small robot without masses: 0.5 m */
  static const char small[] =
      "name: arm\nconvention: dh\njoints:\n  - {name: turn, a: 0.25}\n  - {name: slide, type: prismatic, a: 0.25}\n";
  for (int slides = 0; slides < 2; slides++) {
    fresh(false);
    psdm_robot_free(s.robot);
    s.run.robot = s.feed.robot = s.robot = parse_robot(small);
    for (int i = 0; i < N; i++)
      s.robot->joint[i].limits = (psdm_limits){.lower = -2, .upper = 2, .velocity = 3, .effort = 100};
    assert_true(psdmp_identify_prior_reach(s.robot) == 0.5);
    for (int k = 0; k < FILES; k++) s.facts[k][1].q_low = 0, s.facts[k][1].q_high = 0.25;
    if (slides) s.facts[1][1].q_low = 0.25, s.facts[1][1].q_high = 1;
    double reach = slides ? 0.75 : 0.5, cube = reach * reach * reach;
    char should[200];
    ABOVE(&s.run.prior_mass, 3000 * cube, "mass", good, poor, NULL);
    BELOW(&s.run.prior_mass, cube, "mass", usable, good, NULL);
    BELOW(&s.run.prior_mass, 0.1 * cube, "mass", poor, usable, NULL);
    s.run.prior_mass = 0.0625;
    snprintf(should, sizeof should,
             "the torques imply a robot of 0.0625 kg with a reach of %.3g m; at least %.3g kg were expected: torques "
             "in kNm, or currents?",
             reach, cube);
    says("mass", usable, should);
    s.run.prior_mass = 1e4, s.run.prior_scale = 0; /* no scale gives no sign */
    snprintf(should, sizeof should,
             "the torques imply a robot of 1e+04 kg with a reach of %.3g m; at most %.3g kg were expected: torques "
             "in mNm?",
             reach, 3000 * cube);
    says("mass", poor, should);
    s.run.prior_scale = 1, s.run.prior_mass = 20;
    s.pi[0] = 0.25, s.pi[10] = 0.25;
    for (int d = 0; d < 3; d++) s.pi[4] = s.pi[7] = s.pi[9] = s.pi[14] = s.pi[17] = s.pi[19] = 0;
    ABOVE(&s.pi[17], 10 * reach * reach, "inertia", good, poor, NULL);
    s.pi[19] = 8;
    snprintf(should, sizeof should,
             "an inertia of 8 kg m^2 was found; 0.5 kg within a reach of %.3g m have at most %.3g: is t in seconds?",
             reach, 10 * reach * reach);
    says("inertia", poor, should);
    s.span[0] = 0;
    expect(&s, "inertia", good, NULL, "the first joint stands still", 0);
    s.span[0] = 2, s.pi[0] = s.pi[10] = 0;
    expect(&s, "inertia", good, NULL, "no mass", 0);
  }
  /* one that reaches nowhere */
  fresh(false);
  psdm_robot_free(s.robot);
  s.run.robot = s.feed.robot = s.robot = parse_robot(
      "name: arm\nconvention: dh\njoints:\n  - {name: turn, a: 0}\n  - {name: slide, type: prismatic, a: 0}\n");
  for (int k = 0; k < FILES; k++) s.facts[k][1].q_low = s.facts[k][1].q_high = 0;
  assert_true(psdmp_identify_prior_reach(s.robot) == 0);
  expect(&s, "mass", good, NULL, "no reach", 0);
  expect(&s, "inertia", good, NULL, "no reach", 0);
  /* signs: a moment on the wrong side of the joint, one tenth of the prior's */
  fresh(false);
  s.run.prior_scale = -1;
  for (int link = 0; link < N; link++)
    for (int i = 1; i <= 3; i++) {
      memset(s.pi, 0, sizeof *s.pi * S), memset(s.prior, 0, sizeof *s.prior * S);
      s.prior[10 * link + i] = 0.25;
      BELOW(&s.pi[10 * link + i], -0.025, "mass", poor, usable, NULL);
    }
  memset(s.prior, 0, sizeof *s.prior * S);
  says("mass", usable, "the torques imply a negative mass: all torques, or gravity, may have the wrong sign");
  s.out.prior = NULL;
  expect(&s, "mass", usable, "negative mass: all torques", "no prior", 0);
  /* bounds of the file's masses, two links apart */
  fresh(true);
  static const struct {
    double times;
    psdm_verdict verdict;
  } cases[] = {{3, good},    {3.0000001, usable}, {1.0 / 3, good}, {0.3333333, usable},
               {10, usable}, {10.000001, poor},   {0.1, usable},   {0.0999999, poor}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    s.run.prior_kinematics = false, s.run.prior_scale = cases[k].times;
    expect(&s, "mass", cases[k].verdict, NULL, "times", cases[k].times);
  }
  s.prior_of_run[0] = 5, s.prior_of_run[10] = 7, s.run.prior_scale = 4;
  says("mass", usable,
       "the torques are those of a robot 4 times as heavy as the file's (12 kg): another unit, sign or channel");
  s.run.prior_kinematics = true, s.run.prior_mass = 100; /* the file's own 20 kg */
  says("mass", usable,
       "the torques are those of a robot 5 times as heavy as the file's (20 kg): another unit, sign or channel");
}

/* files with masses of grams or zero: the only comparison left is the usual weight of robots */
TEST(light_files) {
  static const char *const mass[] = {"0.25", "0"};
  for (int k = 0; k < 2; k++) {
    char text[600];
    fresh(false);
    psdm_robot_free(s.robot);
    snprintf(text, sizeof text,
             "%slinks:\n  - {mass: %s, com: [0, 0, 0], inertia: {xx: %d, yy: %d, zz: %d}}\n  - {mass: %s, com: [0, 0, "
             "0], inertia: {xx: %d, yy: %d, zz: %d}}\n",
             arm, mass[k], !k, !k, !k, mass[k], !k, !k, !k);
    s.run.robot = s.feed.robot = s.robot = parse_robot(text);
    for (int i = 0; i < N; i++)
      s.robot->joint[i].limits = (psdm_limits){.lower = -2, .upper = 2, .velocity = 3, .effort = 100};
    assert_int_equal(psdm_robot_ready(s.robot, NULL), PSDM_OK);
    s.run.prior_mass = k ? 4 : 2, s.run.prior_kinematics = true;
    expect(&s, "mass", usable, k ? "at least 8 kg were expected" : "4 times as heavy as the file's (0.5 kg)", "light",
           k);
    s.run.prior_mass = 1e9;
    expect(&s, "mass", poor, k ? "with a reach of" : "times as heavy as the file's", "light", k);
  }
}

TEST(friction_exactly) {
  for (int i = 0; i < N; i++) {
    fresh(false);
    psdm_column *c = s.column[i];
    psdm_joint_fit *train = &s.train[PSDM_FIT_MOVING][i];
    train->rmse = 0.5, train->rel = 0.0625; /* 8 Nm */
    /* a spring is not friction */
    c[0] = (psdm_column){.kind = PSDM_COLUMN_LINEAR, .gain = -100}, c[1] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS};
    BELOW(&c[1].gain, -0.4, "friction", usable, good, NULL);
    s.sigma[i] = 0.25;
    BELOW(&c[1].gain, -0.5, "friction", usable, good, NULL);
    fold(i, 0.1, 1); /* not above a tenth: good */
    c[1].gain = -7;
    expect(&s, "friction", usable, NULL, "the whole is good", 0);
    fold(i, 0.1 * (1 + 1e-12), 1);
    BELOW(&c[1].gain, -1.2, "friction", poor, usable, NULL);
    fresh(false);
    s.speed[i] = 2, s.load[i] = 3;
    c[0] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS, .gain = -0.25, .load = 1},
    c[1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = 0.75};
    says("friction", usable,
         i ? "joint slide: friction drives at 2 per second, by 0.75 Nm (torque: 10 Nm): sign of tau2, or too little "
             "motion"
           : "joint turn: friction drives at 2 per second, by 0.75 Nm (torque: 10 Nm): sign of tau1, or too little "
             "motion");
    /* the lowest of twenty speeds */
    c[0] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS, .gain = 7},
    c[1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = -1.4};
    s.speed[i] = 1;
    expect(&s, "friction", usable, "drives at 0.05 per second, by 1.05 Nm", "slowest", 0);
    s.speed[i] = 4;
    c[0] = (psdm_column){.kind = PSDM_COLUMN_POWER, .gain = -2, .width = 0.5},
    c[1] = (psdm_column){.kind = PSDM_COLUMN_TANH, .gain = -1e-9, .width = 3};
    expect(&s, "friction", usable, "drives at 4 per second, by 4 Nm", "each its own width", 0);
    c[0] = (psdm_column){.kind = PSDM_COLUMN_TANH, .gain = -1, .width = 4},
    c[1] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS, .width = 0.01};
    expect(&s, "friction", usable, "drives at 4 per second, by 0.762 Nm", "each its own width", 0); /* tanh 1 */
    s.speed[i] = 1, c[0] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS},
    c[1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = -1.4};
    train = &s.train[PSDM_FIT_MOVING][i];
    train->rmse = 1e-9, train->rel = 0, s.sigma[i] = 0, c[0].gain = 0;
    BELOW(&c[1].gain, -0.05, "friction", usable, good, NULL);
  }
}

TEST(coverage_exactly) {
  fresh(false);
  s.span[0] = 0.001;
  says("motion", usable,
       "joint turn hardly moves (0.001 over the whole log): its friction and inertia cannot be known");
  s.span[1] = 0.002;
  says("motion", poor,
       "2 of 2 joints hardly move\njoint turn hardly moves (0.001 over the whole log): its friction and inertia cannot "
       "be known\n"
       /* the gravest first, then as they were found */
       "joint slide hardly moves (0.002 over the whole log): its friction and inertia cannot be known");
  fresh(false);
  s.columns[0] = 1, s.out.used = 17;
  says("rows", poor, "17 rows of 2 joints for 7 parameters: at least five equations for each were expected");
  s.out.used = 18;
  expect(&s, "rows", good, NULL, "five each", 18);
  s.out.rows = 150;
  says("rows", usable, "the log has 1.5 s; a motion that shows all parameters takes 5 s at least");
  s.run.interval = 0.5, s.out.rows = ROWS;
  says("clock", poor, "rows are 0.5 s apart; motion needs at least ten a second");
  s.run.interval = 1;
  says("clock", poor, "rows are 1 s apart; motion needs at least ten a second: t looks like milliseconds");
  s.run.interval = 0.01, s.run.band.delay = 0.03;
  says("delay", usable, "torques are 30 ms late, more than a control loop has; it was taken into account");
  s.run.delay_end = true;
  says("delay", poor,
       "torques are 30 ms late or more, the longest delay that was tried: are torques and positions of the same log "
       "and clock?");
  /* two findings, the graver one found last */
  fresh(false);
  s.worst[1] = (psdmp_identify_worst){.error = 100, .tau = 9, .t = 2.5, .file = 1}, s.run.delay_end = true;
  expect(&s, "delay", poor, NULL, "order", 0);
  assert_int_equal(s.a.findings, 2);
  assert_string_equal(s.a.finding[0].rule, "delay");
}

TEST_MAIN(errors_exactly, joints_exactly, plain_exactly, places_exactly, logs_exactly, faults_exactly, numbers_exactly,
          light_files, friction_exactly, coverage_exactly)
