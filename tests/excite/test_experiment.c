/* test_experiment.c: the motor, gravity and friction experiments: limits on a fine grid, and the promises of each. */
#include <stdio.h>

#include "test_experiment_trial.h"

/* ---- limits ---- */

static void limits_hold(void **state) {
  (void)state;
  static const char *const robots[] = {"two_link",      "fanuc_sr6ia", "kuka_kr6",    "kuka_lbr7",
                                       "denso_vs6556g", "puma560",     "hitachi_hpr", "two_branch"};
  double worst[3] = {0};
  for (size_t r = 0; r < sizeof robots / sizeof *robots; r++) {
    psdm_robot *robot = load_shipped(robots[r]);
    for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++)
      for (uint64_t seed = 1; seed <= 2; seed++) {
        trial t;
        open_trial(&t, robot, (psdm_step)step, seed);
        must_plan(&t);
        check_limits(&t, &worst[step]);
        check_parts(&t);
        close_trial(&t);
      }
    psdm_robot_free(robot);
  }
  printf("largest share of a velocity or acceleration limit: motor %.3f, gravity %.3f, friction %.3f\n", worst[0],
         worst[1], worst[2]);
  assert_true(worst[0] <= 0.41 && worst[1] <= 0.41 && worst[2] >= 0.899 && worst[2] <= 0.901);
}

/* random trees with sliding and coupled joints */
static void random_robots(void **state) {
  (void)state;
  rng g = rng_start("experiments of random robots");
  static char text[1 << 16];
  const random_options options = {.n_min = 2, .n_max = 7, .coupled = true, .trees = true, .prismatic = true};
  double worst = 0;
  for (int k = 0; k < 12; k++) {
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++) {
      trial t;
      open_trial(&t, robot, (psdm_step)step, rng_next(&g));
      for (int i = 0; i < t.n; i++) {
        t.lower[i] = rng_uniform(&g, -3, 0), t.upper[i] = t.lower[i] + exp(rng_uniform(&g, log(0.02), log(9)));
        t.velocity[i] = exp(rng_uniform(&g, log(0.1), log(10))),
        t.acceleration[i] = exp(rng_uniform(&g, log(0.5), log(60)));
      }
      must_plan(&t);
      check_limits(&t, &worst);
      check_parts(&t);
      close_trial(&t);
    }
    psdm_robot_free(robot);
  }
  printf("random robots: largest share %.3f\n", worst);
}

/* ---- motor ---- */

/* the torque that the mass adds, by another method: gravity torques with it on the last link minus those without */
static double added_torque(const psdm_robot *bare, const psdm_robot *loaded, psdm_work *work, const double *q,
                           int joint) {
  double a[MOST], b[MOST];
  assert_int_equal(psdm_gravity(bare, work, q, a), PSDM_OK);
  assert_int_equal(psdm_gravity(loaded, work, q, b), PSDM_OK);
  return b[joint] - a[joint];
}

/* variance over the range where the others stay as in q */
static double spread(const psdm_robot *bare, const psdm_robot *loaded, psdm_work *work, const double *q, int joint,
                     double low, double high) {
  enum { SAMPLES = 41 };
  double x[MOST], sum = 0, squares = 0;
  memcpy(x, q, sizeof x);
  for (int k = 0; k < SAMPLES; k++) {
    x[joint] = low + (high - low) * k / (SAMPLES - 1);
    double tau = added_torque(bare, loaded, work, x, joint);
    sum += tau, squares += tau * tau;
  }
  return squares / SAMPLES - sum * sum / SAMPLES / SAMPLES;
}

static void sweeps_at_constant_speed(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6");
  trial t;
  open_trial(&t, robot, PSDM_STEP_MOTOR, 5);
  must_plan(&t);
  double x[3 * MOST], first[3 * MOST], last[3 * MOST], back[3 * MOST], worst = 0, worst_other = 0;
  assert_int_equal(t.out.parts, 10); /* five joints feel the mass, there and back */
  for (int k = 0; k < t.out.parts; k++) {
    const psdm_excite_part *p = &t.out.part[k];
    assert_int_equal(p->joint, 1 + k / 2);
    assert_int_equal(p->direction, k % 2 ? -1 : 1);
    psdm_motion_at(t.motion, p->begin, 3, first);
    psdm_motion_at(t.motion, p->end, 3, last);
    double v = (last[p->joint] - first[p->joint]) / (p->end - p->begin);
    assert_true(v * p->direction > 0 && fabs(fabs(v) / t.velocity[p->joint] - 0.1) < 1e-12);
    for (int s = 0; s <= 500; s++) {
      psdm_motion_at(t.motion, p->begin + (p->end - p->begin) * s / 500, 3, x);
      worst = fmax(worst, fabs(x[t.n + p->joint] - v));
      worst = fmax(worst, fabs(x[2 * t.n + p->joint]));
      for (int i = 0; i < t.n; i++)
        if (i != p->joint) worst_other = fmax(worst_other, fabs(x[t.n + i]));
    }
    /* nearly all of the range, and the same path back */
    assert_true(fabs(last[p->joint] - first[p->joint]) > 0.97 * (t.upper[p->joint] - t.lower[p->joint]));
    if (k % 2) {
      psdm_motion_at(t.motion, t.out.part[k - 1].begin, 3, back);
      assert_true(max_difference(last, back, t.n) < 1e-14);
    }
  }
  printf("sweeps: speed and acceleration are off by %.2g, other joints by %.2g\n", worst, worst_other);
  assert_true(worst < 2.2e-16 * 3 * 60 && worst_other == 0); /* rounding over sweeps of more than a second */
  close_trial(&t);
  psdm_robot_free(robot);
}

/* the chosen poses show the mass nearly as well as the best of many random ones */
static void poses_show_the_mass(void **state) {
  (void)state;
  rng g = rng_start("poses for motors");
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  trial t;
  open_trial(&t, robot, PSDM_STEP_MOTOR, 9);
  must_plan(&t);
  psdm_robot *loaded = with_mass(robot, 3, t.options.com);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < t.out.parts; k += 2) {
    const psdm_excite_part *p = &t.out.part[k];
    double x[3 * MOST], q[MOST] = {0}, best = 0;
    psdm_motion_at(t.motion, p->begin, 1, x);
    memcpy(q, x, (size_t)t.n * sizeof *q);
    double mine = spread(robot, loaded, work, q, p->joint, t.lower[p->joint], t.upper[p->joint]);
    for (int s = 0; s < 500; s++) {
      for (int i = 0; i < t.n; i++) q[i] = rng_uniform(&g, t.lower[i], t.upper[i]);
      best = fmax(best, spread(robot, loaded, work, q, p->joint, t.lower[p->joint], t.upper[p->joint]));
    }
    printf("joint %d: the mass's torque varies by %.2f Nm, at the best of 500 random poses by %.2f Nm\n", p->joint + 1,
           sqrt(mine), sqrt(best));
    assert_true(sqrt(mine) > 0.9 * sqrt(best));
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(loaded);
  close_trial(&t);
  psdm_robot_free(robot);
}

static void expect_blind(const char *name, const double com[3], const int *blind) {
  psdm_robot *robot = load_shipped(name);
  trial t;
  open_trial(&t, robot, PSDM_STEP_MOTOR, 3);
  memcpy(t.options.com, com, sizeof t.options.com);
  must_plan(&t);
  for (int i = 0; i < t.n; i++) {
    bool swept = false;
    for (int k = 0; k < t.out.parts; k++) swept |= t.out.part[k].joint == i;
    if (t.out.blind_joints[i] != blind[i] || swept == (blind[i] == 1))
      fail_msg("%s, joint %d: blind %d, swept %d", name, i + 1, t.out.blind_joints[i], swept);
  }
  close_trial(&t);
  psdm_robot_free(robot);
}

static void joints_without_gravity_are_blind(void **state) {
  (void)state;
  const double off[3] = {0.06, 0.02, 0.1}, on[3] = {0, 0, 0}, along[3] = {0, 0, 0.2};
  /* an upright arm's first joint; its last one too, where the mass lies on its axis */
  expect_blind("kuka_kr6", off, (const int[]){1, 0, 0, 0, 0, 0});
  expect_blind("kuka_kr6", on, (const int[]){1, 0, 0, 0, 0, 1});
  expect_blind("kuka_kr6", along, (const int[]){1, 0, 0, 0, 0, 1});
  expect_blind("kuka_lbr7", off, (const int[]){1, 0, 0, 0, 0, 0, 0});
  /* on a wall every joint feels it */
  expect_blind("denso_vs6556g", off, (const int[]){0, 0, 0, 0, 0, 0});
  expect_blind("denso_vs6556g", on, (const int[]){0, 0, 0, 0, 0, 1});
  /* a horizontal arm feels it only at its slide */
  expect_blind("fanuc_sr6ia", off, (const int[]){1, 1, 0, 1});
}

/* ---- gravity ---- */

static void there_and_back(void **state) {
  (void)state;
  static const char *const robots[] = {"kuka_kr6", "kuka_lbr7", "denso_vs6556g", "fanuc_sr6ia"};
  double worst[3] = {0}, least = 1;
  for (size_t r = 0; r < sizeof robots / sizeof *robots; r++) {
    psdm_robot *robot = load_shipped(robots[r]);
    trial t;
    open_trial(&t, robot, PSDM_STEP_GRAVITY, 11 + r);
    must_plan(&t);
    double a[3 * MOST], b[3 * MOST], half = psdm_motion_end(t.motion) / 2, low[MOST], high[MOST], top[MOST] = {0};
    long constant[MOST] = {0};
    assert_true(fabs(2 * half - 120) < 1e-9);
    assert_int_equal(t.out.parts, 2);
    assert_true(t.out.part[0].end == t.out.part[1].begin && fabs(t.out.part[0].end - half) < 1e-9 &&
                t.out.part[0].direction == 1 && t.out.part[1].direction == -1);
    for (int i = 0; i < t.n; i++) low[i] = INFINITY, high[i] = -INFINITY;
    for (int k = 0; k <= GRID; k++) {
      psdm_motion_at(t.motion, half + half * k / GRID, 3, a);
      psdm_motion_at(t.motion, half - half * k / GRID, 3, b);
      for (int i = 0; i < t.n; i++) {
        for (int d = 0; d < 3; d++)
          worst[d] = fmax(worst[d], fabs(a[d * t.n + i] - (d == 1 ? -1 : 1) * b[d * t.n + i]));
        low[i] = fmin(low[i], a[i]), high[i] = fmax(high[i], a[i]);
        top[i] = fmax(top[i], fabs(a[t.n + i]));
        constant[i] += fabs(a[2 * t.n + i]) < 1e-9;
      }
    }
    for (int i = 0; i < t.n; i++) {
      least = fmin(least, (high[i] - low[i]) / (t.upper[i] - t.lower[i]));
      /* slow, nearly always at constant speed, and no two joints in step */
      assert_true(top[i] <= 0.1 * t.velocity[i] * (1 + 1e-9) && top[i] >= 0.06 * t.velocity[i]);
      assert_true(constant[i] > 0.9 * GRID);
      for (int j = 0; j < i; j++)
        assert_true(fabs(top[i] / (t.upper[i] - t.lower[i]) - top[j] / (t.upper[j] - t.lower[j])) > 1e-6);
    }
    close_trial(&t);
    psdm_robot_free(robot);
  }
  printf("there and back: q, qd, qdd differ by %.2g, %.2g, %.2g; the least share of a range that is covered is %.3f\n",
         worst[0], worst[1], worst[2], least);
  /* rounding of times of 120 s at 0.4 rad/s, and of quintics over 0.4 s; at the beginning of a slot the acceleration
   * has a kink of up to 8 * 3 v / h^2 */
  double late = 2.2e-16 * 120;
  assert_true(worst[0] < 4 * late && worst[1] < 20 * late && worst[2] < 200 * late && least > 0.97);
}

/* ---- friction ---- */

/* the sine with its window, straight from the formula */
static double sine_at(const psdm_excite_part *p, double t) {
  double periods = p->frequency * (p->end - p->begin), at = p->frequency * (t - p->begin),
         u = fmin(1, fmin(at, periods - at));
  return p->amplitude * u * u * u * (10 - 15 * u + 6 * u * u) * sin(2 * acos(-1) * at);
}

static void one_joint_at_a_time(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("denso_vs6556g");
  trial t;
  open_trial(&t, robot, PSDM_STEP_FRICTION, 2);
  must_plan(&t);
  assert_int_equal(t.out.parts, 10 * t.n);
  double off = 0, least = INFINITY, most = 0, slowest = INFINITY;
  for (int k = 0; k < t.out.parts; k++) {
    const psdm_excite_part *p = &t.out.part[k];
    double x[3 * MOST], begin[3 * MOST], top = 0, hardest = 0;
    assert_int_equal(p->joint, k / 10);
    assert_true(k % 10 == 0 || p->amplitude > 2 * t.out.part[k - 1].amplitude);
    psdm_motion_at(t.motion, p->begin, 3, begin);
    for (int s = 0; s <= 1000; s++) {
      double at = p->begin + (p->end - p->begin) * s / 1000;
      psdm_motion_at(t.motion, at, 3, x);
      off = fmax(off, fabs(x[p->joint] - begin[p->joint] - sine_at(p, at)) / p->amplitude);
      top = fmax(top, fabs(x[t.n + p->joint]));
      hardest = fmax(hardest, fabs(x[2 * t.n + p->joint]));
      for (int i = 0; i < t.n; i++) assert_true(i == p->joint || x[t.n + i] == 0);
    }
    assert_true(fabs(top / (2 * acos(-1) * p->frequency * p->amplitude) - 1) < 1e-3);
    assert_true(hardest < 0.5 * t.acceleration[p->joint]);
    if (k % 10 == 0) slowest = fmin(slowest, top), least = INFINITY, most = 0;
    least = fmin(least, p->amplitude), most = fmax(most, top);
    if (k % 10 == 0)
      assert_true(p->amplitude >= 2e-5 && p->amplitude <= 1e-4 && p->frequency >= 0.5 && p->frequency <= 2);
    if (k % 10 == 3) assert_true(p->amplitude <= 2e-3 && top > 0.005 && top < 0.05);
    if (k % 10 == 9) {
      assert_true(fabs(most / t.velocity[p->joint] - 0.9) < 1e-3); /* full speed */
      double seconds = p->end - t.out.part[k - 9].begin;
      assert_true(seconds > 20 && seconds < 35);
    }
  }
  printf("friction: the motion is within %.2g of its amplitude from the sines; speeds from %.2g rad/s; %.0f s\n", off,
         slowest, psdm_motion_end(t.motion));
  /* a quintic between knots 2 pi / 16 apart: (2 pi / 16)^6 / 46080 = 8e-8, more where the window bends */
  assert_true(off < 1e-6 && slowest < 2e-3);
  close_trial(&t);
  psdm_robot_free(robot);
}

/* ---- options ---- */

static void given_times(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6");
  static const struct {
    psdm_step step;
    double seconds, least, most;
  } cases[] = {{PSDM_STEP_MOTOR, 150, 149.8, 150.2},    {PSDM_STEP_MOTOR, 400, 399.5, 400.5},
               {PSDM_STEP_GRAVITY, 30, 29.999, 30.001}, {PSDM_STEP_GRAVITY, 400, 399.9, 400.1},
               {PSDM_STEP_FRICTION, 150, 90, 150},      {PSDM_STEP_FRICTION, 600, 540, 600}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    trial t;
    double worst = 0;
    open_trial(&t, robot, cases[k].step, 1);
    t.options.seconds = cases[k].seconds;
    must_plan(&t);
    double end = psdm_motion_end(t.motion);
    if (!(end >= cases[k].least && end <= cases[k].most)) fail_msg("case %zu: %.3f s", k, end);
    check_limits(&t, &worst);
    close_trial(&t);
  }
  /* levels and speed */
  trial t;
  open_trial(&t, robot, PSDM_STEP_FRICTION, 1);
  t.options.levels = 4, t.options.speed = 0.5;
  must_plan(&t);
  assert_int_equal(t.out.parts, 24);
  const psdm_excite_part *p = &t.out.part[3];
  assert_true(fabs(2 * acos(-1) * p->frequency * p->amplitude / t.velocity[0] - 0.5) < 1e-9);
  close_trial(&t);
  psdm_robot_free(robot);
}

static void expect_refusal(trial *t, psdm_status status, const char *sentence) {
  assert_int_equal(plan_trial(t), status);
  if (!strstr(t->error.text, sentence)) fail_msg("says: %s\nexpected: %s", t->error.text, sentence);
  assert_null(t->motion);
  close_trial(t);
}

static void refusals(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6"), *five_bar = load_shipped("five_bar");
  trial t;
  open_trial(&t, robot, PSDM_STEP_MOTOR, 1);
  t.options.seconds = 20;
  expect_refusal(&t, PSDM_E_ARGUMENT, "sweeps of 5 joints do not fit into 20 s");
  open_trial(&t, robot, PSDM_STEP_GRAVITY, 1);
  t.options.seconds = 1;
  expect_refusal(&t, PSDM_E_ARGUMENT, "too short to jog there and back");
  open_trial(&t, robot, PSDM_STEP_FRICTION, 1);
  t.options.seconds = 10;
  expect_refusal(&t, PSDM_E_ARGUMENT, "10 sines of 6 joints do not fit into 10 s");
  open_trial(&t, robot, PSDM_STEP_GRAVITY, 1);
  t.options.seconds = 1e9;
  expect_refusal(&t, PSDM_E_LIMIT, "a jog of 1e+09 s");
  open_trial(&t, robot, PSDM_STEP_FRICTION, 1);
  t.upper[2] = t.lower[2];
  expect_refusal(&t, PSDM_E_ARGUMENT, "the limits of joint 'A3' leave it no room to move");
  open_trial(&t, robot, PSDM_STEP_FRICTION, 1);
  t.options.speed = -0.1;
  expect_refusal(&t, PSDM_E_ARGUMENT, "must be finite and not negative");
  open_trial(&t, robot, PSDM_STEP_INERTIA, 1);
  expect_refusal(&t, PSDM_E_ARGUMENT, "no standard experiment");
  open_trial(&t, five_bar, PSDM_STEP_GRAVITY, 1);
  expect_refusal(&t, PSDM_E_ROBOT, "closed loops");
  psdm_robot *weightless =
      parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints:\n  - {a: 0.3, alpha: pi/2}\n  - {a: 0.2}\n");
  open_trial(&t, weightless, PSDM_STEP_MOTOR, 1);
  expect_refusal(&t, PSDM_E_ARGUMENT, "no joint's gravity torque depends on a mass on the last link");
  psdm_robot_free(weightless);
  psdm_robot_free(five_bar);
  psdm_robot_free(robot);
}

/* memory may run out at any call */
static void memory_runs_out(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot("convention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {a: 0.3, drive_inertia: 0.1}\n  - {a: "
                  "0.2}\nlinks:\n  - {mass: 1, com: [-0.1, 0, 0]}\n  - {mass: 1, com: [-0.1, 0, 0]}\n"
                  "collision:\n  capsules:\n    - {link: base, from: [-0.6, 0, 0], radius: 0.05}\n    - {link: link2, "
                  "from: [0, 0, 0], radius: 0.05}\n");
  for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++)
    for (long fail_at = 1;; fail_at++) {
      trial t;
      counting c;
      counting_init(&c, fail_at);
      open_trial(&t, robot, (psdm_step)step, 1);
      t.limits.torques = true;
      t.arena.allocator = &c.allocator;
      psdm_status status =
          psdmp_excite_experiment(robot, &t.options, &t.limits, &t.arena, &c.allocator, &t.out, &t.motion, &t.error);
      if (status) assert_null(t.motion);
      close_trial(&t);
      assert_int_equal(c.live, 0);
      if (c.calls < fail_at) {
        assert_int_equal(status, PSDM_OK);
        assert_true(fail_at > 5);
        break;
      }
      if (status != PSDM_E_MEMORY)
        fail_msg("step %d, call %ld fails, and the answer is '%s'", step, fail_at, psdm_status_text(status));
      assert_int_equal(t.error.status, PSDM_E_MEMORY);
    }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(random_robots),
      cmocka_unit_test(sweeps_at_constant_speed),
      cmocka_unit_test(poses_show_the_mass),
      cmocka_unit_test(joints_without_gravity_are_blind),
      cmocka_unit_test(there_and_back),
      cmocka_unit_test(one_joint_at_a_time),
      cmocka_unit_test(given_times),
      cmocka_unit_test(refusals),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
