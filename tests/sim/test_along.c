/* test_along.c: inverse dynamics along motions, against an independent twin of the rigid dynamics, against differences
 * in time, and against each equation alone. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/along_priv.h"
#include "support.h"
#include "twin.h"

enum { MOST = TWIN_MOST, ROWS = 64 };

/* ---- robots with drives, and recorded rows ---- */

/* A joint's properties beyond the twin's row. */
typedef struct extra {
  double stiffness, damping, gear, constant; /* 0: none */
  bool friction;
} extra;

/* a random tree in which every independent joint may be a spring with a rotor behind it */
typedef struct machine {
  twin full, links; /* links: without the rotors of independent joints */
  extra extra[MOST];
  psdm_robot *robot;
  int n, joint[MOST]; /* row of each independent joint */
} machine;

static const psdm_friction rough = {.coulomb = 1.5,
                                    .stat = 2.5,
                                    .stribeck = 0.3,
                                    .viscous = 0.8,
                                    .exponent = 0.7,
                                    .offset = 0.2,
                                    .sigma0 = 300,
                                    .sigma1 = 4};

static void write_extra(const extra *x, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  if (x->stiffness > 0) used += (size_t)snprintf(text + used, size - used, " stiffness: %.17g,", x->stiffness);
  if (x->damping > 0) used += (size_t)snprintf(text + used, size - used, " damping: %.17g,", x->damping);
  if (x->gear != 0) used += (size_t)snprintf(text + used, size - used, " gear: %.17g,", x->gear);
  if (x->constant != 0) used += (size_t)snprintf(text + used, size - used, " torque_constant: %.17g,", x->constant);
  if (x->friction)
    snprintf(text + used, size - used,
             " friction: {coulomb: %.17g, static: %.17g, stribeck: %.17g, viscous: %.17g, exponent: %.17g, offset: "
             "%.17g, sigma0: %.17g, sigma1: %.17g},",
             rough.coulomb, rough.stat, rough.stribeck, rough.viscous, rough.exponent, rough.offset, rough.sigma0,
             rough.sigma1);
}

/* the twin's file with each independent joint's own words in it */
static psdm_robot *read_machine(const machine *m) {
  static char plain[1 << 16], text[1 << 16];
  const psdm_robot_options as_written = {.no_snap = true};
  char sentence[900];
  psdm_robot *robot;
  psdm_error error;
  twin_write(&m->full, plain, sizeof plain);
  size_t used = 0;
  const char *at = plain;
  for (int i = 0; i < m->n; i++) {
    char mark[32], words[512];
    snprintf(mark, sizeof mark, "{name: j%d,", m->joint[i]);
    const char *here = strstr(at, mark);
    assert_non_null(here);
    here += strlen(mark);
    write_extra(&m->extra[i], words, sizeof words);
    used += (size_t)snprintf(text + used, sizeof text - used, "%.*s%s", (int)(here - at), at, words);
    at = here;
  }
  snprintf(text + used, sizeof text - used, "%s", at);
  if (psdm_robot_parse(text, strlen(text), "machine.yaml", &as_written, NULL, &robot, &error))
    fail_msg("%s\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return robot;
}

/* springs, dampers: chances in tenths */
static machine random_machine(rng *g, int joints, bool gears, int springs, int dampers) {
  machine m = {.full = twin_random(g, joints, true, true)};
  m.n = m.full.n;
  for (int j = 0, i = 0; j < m.full.joints; j++) {
    twin_row *row = &m.full.row[j];
    if (row->coupled) continue;
    extra *x = &m.extra[i];
    m.joint[i++] = j;
    if (rng_int(g, 1, 10) <= springs) x->stiffness = exp(rng_uniform(g, log(200), log(2e4)));
    /* a transient of the damper is gone within a row or two of the tests, or slow beside them, so that differences
     * resolve it */
    if (rng_int(g, 1, 10) <= dampers)
      x->damping = x->stiffness * (rng_int(g, 0, 1) ? rng_uniform(g, 1e-6, 1e-4) : rng_uniform(g, 0.03, 0.3));
    if (x->stiffness > 0 && row->drive == 0) row->drive = rng_uniform(g, 0.1, 1);
    if (gears) x->gear = rng_int(g, 0, 1) ? rng_uniform(g, 20, 150) : -rng_uniform(g, 1, 30);
    if (rng_int(g, 0, 1)) x->constant = rng_uniform(g, 0.5, 20);
    x->friction = rng_int(g, 0, 1);
  }
  m.links = m.full;
  for (int i = 0; i < m.n; i++) m.links.row[m.joint[i]].drive = 0;
  m.robot = read_machine(&m);
  return m;
}

/* smooth, a few radians, up to 3 rad/s */
static psdm_motion *random_motion(rng *g, int n, double duration) {
  double centre[MOST], a[2 * MOST], w[2 * MOST], phase[2 * MOST];
  psdm_motion *motion;
  psdm_error error;
  for (int i = 0; i < 2 * n; i++) {
    centre[i / 2] = rng_uniform(g, -1, 1);
    a[i] = rng_uniform(g, -0.7, 0.7);
    w[i] = rng_uniform(g, 0.5, 3);
    phase[i] = rng_uniform(g, -3, 3);
  }
  expect_ok(psdm_motion_sines(n, 2, centre, a, w, phase, duration, NULL, &motion, &error), &error);
  return motion;
}

/* One row that outlives its call. */
typedef struct kept {
  double t, q[MOST], qd[MOST], qdd[MOST], tau[MOST], friction[MOST], theta[MOST], thetad[MOST], thetadd[MOST],
      q_motor[MOST], tau_motor[MOST], current[MOST];
} kept;

typedef struct record {
  long count, most; /* most: rows to take before stopping */
  kept row[ROWS];
} record;

static bool keep(void *user, const psdm_along_row *row) {
  record *r = user;
  assert_true(r->count < ROWS);
  kept *k = &r->row[r->count++];
  k->t = row->t;
  const double *const from[] = {row->q,      row->qd,      row->qdd,     row->tau,       row->friction, row->theta,
                                row->thetad, row->thetadd, row->q_motor, row->tau_motor, row->current};
  double *const to[] = {k->q,      k->qd,      k->qdd,     k->tau,       k->friction, k->theta,
                        k->thetad, k->thetadd, k->q_motor, k->tau_motor, k->current};
  for (int i = 0; i < 11; i++) memcpy(to[i], from[i], (size_t)row->n * sizeof(double));
  return r->count != r->most;
}

static void along(const psdm_robot *robot, const psdm_motion *motion, psdm_friction_kind friction, bool elastic,
                  double output, record *r) {
  const psdm_along_options options = {.friction = friction, .elastic = elastic, .output = output};
  psdm_error error;
  r->count = r->most = 0;
  expect_ok(psdm_along(robot, motion, &options, NULL, keep, r, &error), &error);
}

/* the twin's torques; qd, qdd may be NULL: zero */
static void twin_torque(const twin *t, const double *q, const double *qd, const double *qdd, double *tau) {
  cld x[3][MOST], out[MOST];
  for (int i = 0; i < t->n; i++) x[0][i] = q[i], x[1][i] = qd ? qd[i] : 0, x[2][i] = qdd ? qdd[i] : 0;
  twin_inverse(t, x[0], x[1], x[2], out);
  for (int i = 0; i < t->n; i++) tau[i] = (double)creall(out[i]);
}

/* by its formula */
static double steady_friction(const machine *m, int i, double v) {
  if (!m->extra[i].friction) return 0;
  double s = fabs(v) / rough.stribeck, sign = (v > 0) - (v < 0);
  return sign * (rough.coulomb + (rough.stat - rough.coulomb) * exp(-s * s) +
                 rough.viscous * pow(fabs(v), rough.exponent)) +
         rough.offset;
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* ---- rigid ---- */

/* torques against the twin, the motors' side by power and by position */
TEST(test_rigid) {
  rng g = rng_start("rigid");
  double torque = 0, power = 0, place = 0, current = 0;
  static record r;
  for (int trial = 0; trial < 60; trial++) {
    machine m = random_machine(&g, 7, trial % 3 > 0, 3, 0); /* springs count only when asked for */
    psdm_motion *motion = random_motion(&g, m.n, 0.2);
    along(m.robot, motion, trial % 2 ? PSDM_FRICTION_POWER : PSDM_FRICTION_NONE, false, 0.02, &r);
    assert_int_equal(r.count, 11);
    for (long k = 0; k < r.count; k++) {
      const kept *row = &r.row[k];
      double expected[MOST], qd_motor[MOST], back[MOST];
      twin_torque(&m.full, row->q, row->qd, row->qdd, expected);
      double size = 1 + max_absolute(expected, m.n);
      for (int i = 0; i < m.n; i++) {
        double friction = trial % 2 ? steady_friction(&m, i, row->qd[i]) : 0;
        torque = fmax(torque, fabs(row->tau[i] - expected[i] - friction) / size);
        torque = fmax(torque, fabs(row->friction[i] - friction) / size);
        assert_true(row->theta[i] == row->q[i] && row->thetad[i] == row->qd[i] && row->thetadd[i] == row->qdd[i]);
        assert_int_equal(isnan(row->current[i]), m.extra[i].constant == 0);
        if (m.extra[i].constant != 0 && m.full.mix == 0)
          current = fmax(current, fabs(row->current[i] * m.extra[i].constant - row->tau[i]) / size);
      }
      psdm_robot_joint_to_motor(m.robot, row->qd, qd_motor);
      psdm_robot_motor_to_joint(m.robot, row->q_motor, back);
      power = fmax(power, fabs(dot(row->tau, row->qd, m.n) - dot(row->tau_motor, qd_motor, m.n)) /
                              (size * (1 + max_absolute(row->qd, m.n))));
      place = fmax(place, max_difference(back, row->q, m.n));
    }
    psdm_motion_free(motion);
    psdm_robot_free(m.robot);
  }
  print_message("torque %.2g of its size, power %.2g, motor positions %.2g, current %.2g\n", torque, power, place,
                current);
  /* a recursion of seven bodies and sums of a dozen terms, each rounded a few times */
  assert_true(torque < 100 * DBL_EPSILON && power < 100 * DBL_EPSILON && place < 50 * DBL_EPSILON &&
              current < 20 * DBL_EPSILON);
}

/* De Luca, Robotics 2, as seen from the motors:
 * (I_m + diag(m_ii / n_r^2)) thetadd_m + diag(1 / n_r) (sum_j Mbar_j qdd_j + f) = tau_m, Mbar without its diagonal */
TEST(test_motor_side) {
  rng g = rng_start("motor side");
  double worst = 0;
  static record r;
  for (int trial = 0; trial < 60; trial++) {
    machine m = random_machine(&g, 6, true, 0, 0);
    psdm_motion *motion = random_motion(&g, m.n, 0.1);
    if (m.full.mix == 0 && m.full.joints == m.n) {
      along(m.robot, motion, PSDM_FRICTION_POWER, false, 0.05, &r);
      for (long k = 0; k < r.count; k++) {
        const kept *row = &r.row[k];
        double M[MOST][MOST], gravity[MOST], f[MOST];
        twin_torque(&m.links, row->q, NULL, NULL, gravity);
        twin_torque(&m.links, row->q, row->qd, NULL, f);
        for (int j = 0; j < m.n; j++) {
          double unit[MOST] = {0};
          unit[j] = 1;
          twin_torque(&m.links, row->q, NULL, unit, M[j]);
          for (int i = 0; i < m.n; i++) M[j][i] -= gravity[i];
        }
        for (int i = 0; i < m.n; i++) {
          double gear = m.extra[i].gear, rotor = m.full.row[m.joint[i]].drive / (gear * gear),
                 acceleration = gear * row->qdd[i];
          double rest = f[i] + steady_friction(&m, i, row->qd[i]), size = fabs(f[i]) + fabs(gravity[i]) + 1;
          for (int j = 0; j < m.n; j++) {
            if (j != i) rest += M[j][i] * row->qdd[j];
            size += fabs(M[j][i] * row->qdd[j]) + fabs(gravity[i]);
          }
          double tau = (rotor + M[i][i] / (gear * gear)) * acceleration + rest / gear;
          worst = fmax(worst, fabs(tau - row->tau_motor[i]) * fabs(gear) / size);
        }
      }
    }
    psdm_motion_free(motion);
    psdm_robot_free(m.robot);
  }
  print_message("worst %.2g of the terms\n", worst);
  assert_true(worst > 0 && worst < 100 * DBL_EPSILON);
}

/* a robot with a loop agrees with psdm_inverse */
TEST(test_closed_loop) {
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *work;
  psdm_motion *motion;
  psdm_error error;
  static record r;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  expect_ok(psdm_motion_polynomial(2, 5, (const double[]){1.5, 1.4}, (const double[]){1.2, 1.9}, 1, 0.5, NULL, &motion,
                                   &error),
            &error);
  along(robot, motion, PSDM_FRICTION_POWER, true, 0.05, &r); /* elastic, but none of its joints is */
  assert_int_equal(r.count, 11);
  for (long k = 0; k < r.count; k++) {
    double tau[2];
    assert_int_equal(psdm_inverse(robot, work, r.row[k].q, r.row[k].qd, r.row[k].qdd, tau), PSDM_OK);
    assert_true(max_difference(tau, r.row[k].tau, 2) <= 1e-14 * max_absolute(tau, 2));
  }
  psdm_motion_free(motion);
  /* crank ends that meet cannot be passed */
  expect_ok(psdm_motion_polynomial(2, 5, (const double[]){1.5, 1.4}, (const double[]){0, 3.14159265358979}, 1, 0.5,
                                   NULL, &motion, &error),
            &error);
  r.count = 0;
  assert_int_equal(psdm_along(robot, motion, NULL, NULL, keep, &r, &error), PSDM_E_LOOP);
  assert_true(r.count > 10); /* all rows before it */
  assert_string_equal(error.text, "at t = 1.49 s: a closed loop cannot be closed at this state");
  psdm_motion_free(motion);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- elastic ---- */

/* slope of a column of the record at row k: central differences of order ten. at: its offset in a row */
static double slope(const record *r, long k, size_t at, double h) {
  static const double weight[5] = {5.0 / 6, -5.0 / 21, 5.0 / 84, -5.0 / 504, 1.0 / 1260};
  double sum = 0;
  for (int s = 1; s <= 5; s++)
    sum +=
        weight[s - 1] / h *
        (*(const double *)((const char *)&r->row[k + s] + at) - *(const double *)((const char *)&r->row[k - s] + at));
  return sum;
}

/* motors behind springs, some damped, beside rigid joints: positions, rates and both equations of motion */
TEST(test_elastic) {
  rng g = rng_start("elastic");
  double rate = 0, spring = 0, motor = 0, power = 0;
  int mixed = 0, damped = 0;
  static record r;
  for (int trial = 0; trial < 80; trial++) {
    machine m = random_machine(&g, 6, trial % 2, 7, trial % 4 < 2 ? 5 : 0);
    /* six joints of 4 rad/s each: the fastest part of a torque moves 0.024 rad between rows, and (0.024)^6 / 46080,
     * by which the polynomial between rows is off, is below rounding, as is (0.024)^10 / 2772 of the differences */
    const double h = 0.001;
    psdm_motion *motion = random_motion(&g, m.n, 24 * h);
    along(m.robot, motion, PSDM_FRICTION_STRIBECK, true, h, &r);
    assert_int_equal(r.count, 25);
    for (int i = 0; i < m.n; i++)
      mixed += m.full.mix != 0 && i < 2 && m.extra[i].stiffness > 0,
          damped += m.extra[i].stiffness > 0 && m.extra[i].damping > 0;
    for (long k = 0; k < r.count; k++) {
      const kept *row = &r.row[k];
      double tau_q[MOST], with[MOST], without[MOST], thetad_motor[MOST];
      twin_torque(&m.links, row->q, row->qd, row->qdd, tau_q);
      twin_torque(&m.full, row->q, NULL, row->thetadd, with);
      twin_torque(&m.links, row->q, NULL, row->thetadd, without);
      double size = 1 + max_absolute(tau_q, m.n);
      for (int i = 0; i < m.n; i++) {
        const extra *x = &m.extra[i];
        if (x->stiffness > 0) {
          double carried = x->stiffness * (row->theta[i] - row->q[i]) + x->damping * (row->thetad[i] - row->qd[i]);
          /* theta - q is known to epsilon |q|, which the spring turns into a torque */
          spring = fmax(spring, fabs(carried - tau_q[i]) /
                                    (size + x->stiffness * fabs(row->q[i]) + x->damping * fabs(row->qd[i])));
        } else {
          assert_true(row->theta[i] == row->q[i] && row->thetad[i] == row->qd[i] && row->thetadd[i] == row->qdd[i]);
        }
        double all = with[i] - without[i] + tau_q[i] + row->friction[i],
               terms = size + fabs(with[i]) + fabs(without[i]);
        motor = fmax(motor, fabs(row->tau[i] - all) / terms);
        /* the first row has no transient, up to terms of third order in D / K */
        if (k < 6 || k >= r.count - 5) continue;
        size_t at = (size_t)i * sizeof(double);
        double first = slope(&r, k, offsetof(kept, theta) + at, h),
               second = slope(&r, k, offsetof(kept, thetad) + at, h);
        rate = fmax(rate, fabs(first - row->thetad[i]) / ((1 + fabs(row->theta[i])) / h));
        /* a damper's part of thetadd is a / h times third differences of the load, which are 60 epsilon / h^2 off */
        double a = x->stiffness > 0 ? x->damping / x->stiffness : 0,
               load = a > 0 && a < h ? 60 * a / h * size / x->stiffness / h : 0;
        rate = fmax(rate, fabs(second - row->thetadd[i]) / ((1 + fabs(row->thetad[i]) + load) / h));
      }
      psdm_robot_joint_to_motor(m.robot, row->thetad, thetad_motor);
      power = fmax(power, fabs(dot(row->tau, row->thetad, m.n) - dot(row->tau_motor, thetad_motor, m.n)) /
                              ((1 + max_absolute(row->tau, m.n)) * (1 + max_absolute(row->thetad, m.n))));
    }
    psdm_motion_free(motion);
    psdm_robot_free(m.robot);
  }
  print_message("rates %.2g of the differences' rounding, springs %.2g, motors %.2g, power %.2g (%d dampers, "
                "%d joints through a transmission)\n",
                rate, spring, motor, power, damped, mixed);
  assert_true(damped > 10 && mixed > 3);
  /* recursions of six bodies, twice differentiated, and sums of a dozen terms */
  assert_true(rate < 100 * DBL_EPSILON && spring < 100 * DBL_EPSILON && motor < 100 * DBL_EPSILON &&
              power < 100 * DBL_EPSILON);
}

/* the torque with ever stiffer springs converges to that of the rigid robot, as 1 / K */
TEST(test_to_rigid) {
  rng g = rng_start("to rigid");
  static record rigid, elastic;
  for (int trial = 0; trial < 4; trial++) {
    machine m = random_machine(&g, 5, false, 10, trial == 3 ? 10 : 0);
    psdm_motion *motion = random_motion(&g, m.n, 0.2);
    double before = 0;
    along(m.robot, motion, PSDM_FRICTION_VISCOUS, false, 0.01, &rigid);
    for (int step = 0; step < 4; step++) {
      double error = 0;
      for (int i = 0; i < m.n; i++) m.extra[i].stiffness = 1e5 * pow(10, step), m.extra[i].damping *= step ? 10 : 1;
      psdm_robot *robot = read_machine(&m);
      along(robot, motion, PSDM_FRICTION_VISCOUS, true, 0.01, &elastic);
      for (long k = 0; k < rigid.count; k++)
        error = fmax(error, max_difference(rigid.row[k].tau, elastic.row[k].tau, m.n));
      double order = log10(before / error);
      print_message("%d joints, K = %.0e: %.3g Nm from rigid%s", m.n, 1e5 * pow(10, step), error, step ? "" : "\n");
      if (step) {
        print_message(", slope %.4f\n", order);
        assert_true(fabs(order - 1) < 0.02);
      }
      before = error;
      psdm_robot_free(robot);
    }
    psdm_motion_free(motion);
    psdm_robot_free(m.robot);
  }
}

/* ---- the spring and its damper on their own ---- */

/* c(s + from) in powers of s */
static void shift(long double c[6], long double from) {
  for (int k = 0; k < 5; k++)
    for (int i = 4; i >= k; i--) c[i] += from * c[i + 1];
}

/* x' = r (f / K - x) over s = 0 .. 1 by its power series, in parts that are short enough for the series; and its
 * rates */
static void spring_series(double K, double r, const double given[6], double x0, long double out[3]) {
  int parts = (int)ceil(r);
  long double c[6], x = x0, f, slope_of_f;
  for (int i = 0; i < 6; i++) c[i] = given[i];
  for (int part = 0; part < parts; part++) {
    long double a = x, width = 1.0L / parts, power = 1;
    x = 0;
    for (int k = 0; k < 40; k++, power *= width) {
      x += a * power;
      a = r * ((k < 6 ? c[k] / K : 0) - a) / (k + 1);
    }
    shift(c, width);
  }
  f = c[0];
  slope_of_f = c[1];
  out[0] = x;
  out[1] = r * (f / K - x);
  out[2] = r * (slope_of_f / K - out[1]);
}

TEST(test_spring) {
  rng g = rng_start("spring");
  double worst[3] = {0};
  for (int trial = 0; trial < 20000; trial++) {
    double K = exp(rng_uniform(&g, 0, 12)), r = exp(rng_uniform(&g, -14, 3.5)), h = exp(rng_uniform(&g, -7, 0)),
           D = K * h / r, c[6], x[3];
    r = h * K / D;
    for (int i = 0; i < 6; i++) c[i] = rng_uniform(&g, -1, 1);
    double f0[3] = {c[0], c[1] / h, 2 * c[2] / h / h}, f1[3] = {0}, x0 = rng_uniform(&g, -1, 1) / K;
    long double exact[3];
    for (int i = 0; i < 6; i++) f1[0] += c[i], f1[1] += i * c[i] / h, f1[2] += i * (i - 1) * c[i] / h / h;
    spring_series(K, r, c, x0, exact);
    psdmp_sim_spring_step(K, D, h, f0, f1, x0, x);
    double rate = fmin(r, 1) / h; /* how fast x can change */
    for (int k = 0; k < 3; k++)
      worst[k] = fmax(worst[k], fabs((double)(x[k] - exact[k] / powl(h, k))) * K / (k ? pow(rate, k) : 1) *
                                    (k == 2 && r < 1 ? r : 1));
  }
  print_message("stretch %.2g, its rates %.2g and %.2g of f / K and of their rounding\n", worst[0], worst[1], worst[2]);
  /* f has coefficients below one, whose sums of up to 52 c_5 are rounded; its derivatives are up to 120 times as
   * large */
  assert_true(worst[0] < 200 * DBL_EPSILON && worst[1] < 2000 * DBL_EPSILON && worst[2] < 5000 * DBL_EPSILON);
}

/* along a straight line the beginning without transient is the steady line, and without a damper there is no other */
TEST(test_spring_start) {
  const double K = 50, D = 2, f[3] = {3, 4, 0}, later[3] = {3 + 4 * 0.1, 4, 0}, any[3] = {3, 4, 5};
  double x[3], y[3];
  psdmp_sim_spring_start(K, D, f, x);
  assert_true(fabs(D * x[1] + K * x[0] - f[0]) < 1e-15 && fabs(x[1] - 4 / K) < 1e-17 && x[2] == 0);
  psdmp_sim_spring_step(K, D, 0.1, f, later, x[0], y);
  assert_true(fabs(y[0] - x[0] - 0.1 * x[1]) < 1e-16 && fabs(y[1] - x[1]) < 1e-15);
  psdmp_sim_spring_step(K, 0, 0.1, f, any, 77, y);
  assert_true(y[0] == 3 / K && y[1] == 4 / K && y[2] == 5 / K);
  psdmp_sim_spring_start(K, 0, any, x);
  assert_memory_equal(x, y, sizeof x);
}

/* ---- bristles ---- */

/* LuGre friction along the rows converges with order two in the time between them, through reversals of velocity */
TEST(test_bristles) {
  machine m = {.full = {.joints = 1, .n = 1, .row = {{.parent = -1, .mass = 1, .inertia = {1, 0, 0, 1, 0, 1}}}},
               .n = 1,
               .extra = {{.friction = true}}};
  psdm_motion *motion;
  psdm_error error;
  m.links = m.full;
  m.robot = read_machine(&m);
  expect_ok(psdm_motion_sines(1, 1, (const double[]){0}, (const double[]){0.4}, (const double[]){3},
                              (const double[]){0.5}, 0.96, NULL, &motion, &error),
            &error);
  enum { FINEST = 96000 };
  double *t = malloc((FINEST + 1) * sizeof *t), *v = malloc((FINEST + 1) * sizeof *v),
         *tau = malloc((FINEST + 1) * sizeof *tau), before = 0;
  assert_true(t && v && tau);
  for (int k = 0; k <= FINEST; k++) {
    double x[2];
    t[k] = k * (0.96 / FINEST);
    psdm_motion_at(motion, t[k], 2, x);
    v[k] = x[1];
  }
  psdm_lugre_follow(&rough, 0, FINEST + 1, t, v, NULL, tau);
  for (int rows = 15; rows <= 60; rows *= 2) {
    static record r;
    double off = 0;
    along(m.robot, motion, PSDM_FRICTION_LUGRE, false, 0.96 / rows, &r);
    assert_int_equal(r.count, rows + 1);
    /* at the same times always */
    for (int k = 0; k <= rows; k += rows / 15) off = fmax(off, fabs(r.row[k].friction[0] - tau[k * (FINEST / rows)]));
    print_message("%d rows: %.3g Nm from the limit, %.2f times less\n", rows, off, before / off);
    if (before > 0) assert_true(before / off > 3);
    before = off;
  }
  assert_true(before < 1e-3 * rough.coulomb);
  free(t);
  free(v);
  free(tau);
  psdm_motion_free(motion);
  psdm_robot_free(m.robot);
}

/* ---- rows, refusals ---- */

static const char two[] = "convention: dh\njoints:\n"
                          "  - {name: a, a: 1, stiffness: 1000, drive_inertia: 0.5}\n"
                          "  - {name: b, a: 1, gear: 2}\n"
                          "links:\n"
                          "  - {mass: 1, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                          "  - {mass: 1, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n";

#define BODY "  - {mass: 1, com: [0, 0, 0]}\n"

static psdm_motion *two_move(double duration) {
  psdm_motion *motion;
  psdm_error error;
  expect_ok(psdm_motion_polynomial(2, 9, (const double[]){0, 0}, (const double[]){1, 2}, 0.5, duration, NULL, &motion,
                                   &error),
            &error);
  return motion;
}

TEST(test_rows) {
  static record r;
  psdm_robot *robot = parse_robot(two);
  static const struct {
    double duration, output;
    long rows;
  } cases[] = {{0.2, 0.01, 21}, {0.025, 0.01, 4}, {0.3, 0.1, 4}, {0.05, 0, 6}, {0.005, 0.01, 2}, {0.7, 0.07, 11}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_motion *motion = two_move(cases[k].duration);
    along(robot, motion, PSDM_FRICTION_NONE, true, cases[k].output, &r);
    assert_int_equal(r.count, cases[k].rows);
    assert_true(r.row[0].t == 0.5 && r.row[r.count - 1].t == psdm_motion_end(motion));
    for (long i = 1; i < r.count; i++) assert_true(r.row[i].t > r.row[i - 1].t);
    /* degree nine: at rest with four derivatives, so motors rest where the springs carry the load */
    assert_true(r.row[0].thetad[0] == 0 && r.row[0].thetadd[0] == 0 && r.row[0].theta[1] == 0);
    r = (record){.most = 2};
    psdm_error error;
    expect_ok(psdm_along(robot, motion, NULL, NULL, keep, &r, &error), &error);
    assert_int_equal(r.count, 2); /* stopped */
    psdm_motion_free(motion);
  }
  /* a table of one row is held: one row comes out */
  psdm_motion *held;
  psdm_error error;
  expect_ok(psdm_motion_table(2, 1, (const double[]){4}, (const double[]){1, 2}, NULL, NULL, NULL, &held, &error),
            &error);
  along(robot, held, PSDM_FRICTION_NONE, true, 0.01, &r);
  assert_true(r.count == 1 && r.row[0].t == 4 && r.row[0].q[1] == 2);
  psdm_motion_free(held);
  psdm_robot_free(robot);
}

static void expect_refusal(const char *text, const psdm_along_options *options, psdm_status wanted,
                           const char *sentence) {
  psdm_robot *robot = parse_robot(text);
  psdm_motion *motion = two_move(0.1);
  psdm_error error;
  static record r;
  r = (record){.most = 0};
  assert_int_equal(psdm_along(robot, motion, options, NULL, keep, &r, &error), wanted);
  assert_string_equal(error.text, sentence);
  assert_int_equal(r.count, 0);
  assert_int_equal(psdm_along(robot, motion, options, NULL, keep, &r, NULL), wanted);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

TEST(test_refusals) {
  const psdm_along_options springs = {.elastic = true}, bristles = {.friction = PSDM_FRICTION_LUGRE},
                           backwards = {.output = -1}, odd = {.friction = 99};
  const psdm_friction smooth = {.viscous = 1, .exponent = 1, .given = true};
  char sentence[256];
  psdm_robot *robot = parse_robot(two);
  psdm_motion *motion = two_move(1);
  /* no function to write them */
  assert_int_equal(psdm_along(robot, motion, NULL, NULL, NULL, NULL, NULL), PSDM_E_ARGUMENT);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
  expect_refusal(two, &backwards, PSDM_E_ARGUMENT, "-1 s between rows; a positive number was expected");
  expect_refusal(two, &odd, PSDM_E_ARGUMENT, "unknown friction model");
  expect_refusal("convention: dh\njoints:\n  - {a: 1}\n  - {a: 1}\n  - {a: 1}\nlinks:\n" BODY BODY BODY, NULL,
                 PSDM_E_ARGUMENT, "a motion of 2 joints; the robot has 3");
  expect_refusal("convention: dh\njoints:\n  - {name: a, a: 1, drive_inertia: unknown}\n  - {a: 1}\nlinks:\n" BODY BODY,
                 NULL, PSDM_E_MISSING, "joint 'a' has drive_inertia: unknown; this command needs a number");
  expect_refusal(
      "convention: dh\njoints:\n  - {name: a, a: 1, stiffness: 9}\n  - {a: 1}\nlinks:\n" BODY BODY, &springs,
      PSDM_E_MISSING,
      "joint 'a': it has a stiffness but no drive_inertia; an elastic joint needs a rotor behind its spring");
  expect_refusal("convention: dh\njoints:\n  - {name: a, a: 1}\n  - {a: 1}\n  - {name: c, couple: {a: 1}, stiffness: "
                 "9, drive_inertia: 1}\nlinks:\n" BODY BODY BODY,
                 &springs, PSDM_E_ROBOT,
                 "joint 'c': it has a stiffness and follows other joints; only independent joints can be elastic");
  snprintf(sentence, sizeof sentence, "joint 'b': %s", psdm_friction_lacks(&smooth, PSDM_FRICTION_LUGRE));
  expect_refusal(
      "convention: dh\njoints:\n  - {name: a, a: 1}\n  - {name: b, a: 1, friction: {viscous: 1}}\nlinks:\n" BODY BODY,
      &bristles, PSDM_E_MISSING, sentence);
  expect_refusal(
      "convention: modified-dh\njoints:\n  - {name: l, parent: base, stiffness: 9, drive_inertia: 1}\n"
      "  - {name: le, parent: l, a: 0.25}\n  - {name: r, parent: base, a: 0.3}\n  - {name: re, parent: r, a: 0.25}\n"
      "links:\n  - {name: L, mass: 1, com: [0, 0, 0]}\n  - {name: LE, mass: 1, com: [0, 0, 0]}\n"
      "  - {name: R, mass: 1, com: [0, 0, 0]}\n  - {name: RE, mass: 1, com: [0, 0, 0]}\n"
      "loops:\n  - {links: [LE, RE], points: [[0.55, 0, 0], [0.55, 0, 0]], joints: [le, re], start: [-0.6, 0.6], at: "
      "{l: 90 deg, r: 90 deg}}\n",
      &springs, PSDM_E_ROBOT,
      "joint 'l': it is elastic, and the robot has closed loops; springs are known for open robots only");
}

/* every allocation fails once: an error, and nothing leaks; then the same rows again */
TEST(test_allocation_failure) {
  psdm_robot *robot = parse_robot(two);
  psdm_motion *motion = two_move(0.1);
  const psdm_along_options options = {.elastic = true};
  static record plain, r;
  long failures = 0;
  along(robot, motion, PSDM_FRICTION_NONE, true, 0, &plain);
  for (psdm_status status = PSDM_E_MEMORY; status; failures++) {
    counting c;
    psdm_error error;
    counting_init(&c, failures + 1);
    r = (record){.most = 0};
    status = psdm_along(robot, motion, &options, &c.allocator, keep, &r, &error);
    if (status) {
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_string_equal(error.text, "out of memory");
      assert_int_equal(r.count, 0);
    }
    assert_int_equal(c.live, 0);
    assert_true(failures < 100);
  }
  assert_true(failures > 2);
  assert_int_equal(r.count, plain.count);
  for (long k = 0; k < r.count; k++) assert_memory_equal(r.row[k].tau, plain.row[k].tau, 2 * sizeof(double));
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

TEST_MAIN(test_rigid, test_motor_side, test_closed_loop, test_elastic, test_to_rigid, test_spring, test_spring_start,
          test_bristles, test_rows, test_refusals, test_allocation_failure)
