/* test_robot_read.c: the getters and the dynamics agree with the robot file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/psdm.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

static psdm_robot *parse_with(const char *text, const psdm_robot_options *options) {
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(text, strlen(text), "folder/arm.v2.yaml", options, NULL, &robot, &error))
    fail_msg("%s\n%s", error.text, text);
  return robot;
}

#define assert_near(a, b)                                          \
  do {                                                             \
    double near_a = (a), near_b = (b);                             \
    if (!(fabs(near_a - near_b) <= 1e-14 * fmax(1, fabs(near_b)))) \
      fail_msg("%s = %.17g, not %.17g", #a, near_a, near_b);       \
  } while (0)

/* ---- every field, by its getter ---- */

static const char *const full =
    "name: full arm\n"
    "gravity: [1, 2, -9]\n"
    "convention: dh\n"
    "joints:\n"
    "  - {name: turn, type: revolute, theta: 30 deg, d: 0.5, a: 0.25, alpha: -pi/2, stiffness: 1e4, torque_constant: "
    "-2.5, gear: 101,\n"
    "     limits: {lower: -pi/2, upper: 135 deg, velocity: 90 deg, acceleration: 2*pi, effort: 150}, drive_inertia: "
    "0.75,\n"
    "     friction: {coulomb: 1, static: 1.5, stribeck: 0.02, viscous: 3, exponent: 0.5, sigma0: 1e5, sigma1: 300, "
    "offset: -0.1}}\n"
    "  - {name: flange, type: fixed, d: 0.1}\n"
    "  - {name: slide, type: prismatic, limits: {upper: 0.4}, drive_inertia: unknown, friction: {coulomb: 2, viscous: "
    "4}}\n"
    "  - {name: follow, parent: turn, couple: {turn: -2, slide: 0.5, offset: 45 deg}}\n"
    "  - {parent: base}\n"
    "links:\n"
    "  - {name: trunk, mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 0.5, yy: 0.6, zz: 0.7, xy: 0.01, xz: 0.02, yz: "
    "0.03}}\n"
    "  - {}\n"
    "  - {name: rod, standard: {m: 1, mx: 2, my: 3, mz: 4, XX: 25.5, XY: -6, XZ: -8, YY: 20.5, YZ: -12, ZZ: 13.5}}\n"
    "  - {mass: 3}\n"
    "  - {mass: 0}\n"
    "assume: [Ixz1 = 0, \"rx2=0\", 'Ixx3 = Iyy3', Ia1 = 0.0, '  m4   =  -0 ']\n"
    "theta: {ZZ1 + m2: 1.5, mx2: -2e-3}\n";

TEST(joints_are_read) {
  psdm_robot *robot = parse_with(full, NULL);
  assert_string_equal(psdm_robot_name(robot), "full arm");
  assert_int_equal(psdm_robot_joints(robot), 5);
  assert_int_equal(psdm_robot_n(robot), 3);
  assert_int_equal(psdm_robot_links(robot), 4);
  assert_int_equal(psdm_robot_drives(robot), 2);
  assert_true(psdm_robot_coupled(robot));
  const double *gravity = psdm_robot_gravity(robot);
  assert_true(gravity[0] == 1 && gravity[1] == 2 && gravity[2] == -9);

  const struct {
    const char *name, *link_name;
    psdm_joint_type type;
    int parent, q, link, drive;
  } expected[] = {{"turn", "trunk", PSDM_REVOLUTE, -1, 0, 0, 0},
                  {"flange", "link2", PSDM_FIXED, 0, -1, -1, -1},
                  {"slide", "rod", PSDM_PRISMATIC, 1, 1, 1, 1},
                  {"follow", "link4", PSDM_REVOLUTE, 0, -1, 2, -1},
                  {"joint5", "link5", PSDM_REVOLUTE, -1, 2, 3, -1}};
  for (int j = 0; j < 5; j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    assert_string_equal(joint->name, expected[j].name);
    assert_string_equal(psdm_robot_link_name(robot, j), expected[j].link_name);
    assert_int_equal(joint->type, expected[j].type);
    assert_int_equal(joint->parent, expected[j].parent);
    assert_int_equal(joint->q, expected[j].q);
    assert_int_equal(joint->link, expected[j].link);
    assert_int_equal(joint->drive, expected[j].drive);
    assert_int_equal(psdm_robot_find(robot, expected[j].name), j);
    assert_int_equal(psdm_robot_find(robot, expected[j].link_name), j);
  }
  assert_null(psdm_robot_joint(robot, 5));
  assert_null(psdm_robot_joint(robot, -1));
  assert_null(psdm_robot_link_name(robot, 5));
  assert_int_equal(psdm_robot_find(robot, "base"), -1);
  assert_int_equal(psdm_robot_find(robot, "Turn"), -1);
  psdm_robot_free(robot);
  psdm_robot_free(NULL);
}

TEST(joint_numbers_are_read) {
  psdm_robot *robot = parse_with(full, NULL);
  const psdm_joint *turn = psdm_robot_joint(robot, 0), *slide = psdm_robot_joint(robot, 2),
                   *last = psdm_robot_joint(robot, 4);
  assert_near(turn->limits.lower, -PI / 2);
  assert_near(turn->limits.upper, 0.75 * PI);
  assert_near(turn->limits.velocity, PI / 2);
  assert_near(turn->limits.acceleration, 2 * PI);
  assert_near(turn->limits.effort, 150);
  assert_true(slide->limits.lower == -INFINITY && slide->limits.upper == 0.4);
  assert_true(slide->limits.velocity == INFINITY && slide->limits.acceleration == INFINITY &&
              slide->limits.effort == INFINITY);

  const psdm_friction *f = &turn->friction;
  assert_true(f->given && f->coulomb == 1 && f->stat == 1.5 && f->stribeck == 0.02 && f->viscous == 3 &&
              f->exponent == 0.5);
  assert_true(f->sigma0 == 1e5 && f->sigma1 == 300 && f->offset == -0.1);
  f = &slide->friction; /* without static friction it equals Coulomb's */
  assert_true(f->given && f->coulomb == 2 && f->stat == 2 && f->viscous == 4 && f->exponent == 1 && f->offset == 0);
  assert_false(last->friction.given);

  assert_true(turn->stiffness == 1e4 && last->stiffness == INFINITY);
  assert_true(turn->torque_constant == -2.5 && isnan(last->torque_constant));
  assert_true(turn->gear == 101 && last->gear == 1);
  psdm_robot_free(robot);
}

TEST(parameters_are_read) {
  psdm_robot *robot = parse_with(full, NULL);
  enum { COUNT = 42 };
  assert_int_equal(psdm_robot_parameter_count(robot), COUNT);
  /* about the link frame's origin: I + m (r.r 1 - r r^T) */
  static const double trunk[] = {2,
                                 0.2,
                                 0.4,
                                 0.6,
                                 0.5 + 2 * 0.13,
                                 0.01 - 2 * 0.02,
                                 0.02 - 2 * 0.03,
                                 0.6 + 2 * 0.1,
                                 0.03 - 2 * 0.06,
                                 0.7 + 2 * 0.05};
  static const double rod[] = {1, 2, 3, 4, 25.5, -6, -8, 20.5, -12, 13.5};
  double pi[COUNT], back[COUNT];
  psdm_robot_parameters(robot, pi);
  for (int i = 0; i < 10; i++) assert_true(isnan(pi[i])); /* the fixed link on it is not known, so their sum is not */
  for (int i = 0; i < 10; i++) assert_near(pi[10 + i], rod[i]);
  assert_true(pi[20] == 3 && pi[30] == 0);
  assert_true(pi[40] == 0.75 && isnan(pi[41]));

  /* the same robot with a known, massless flange */
  char text[3000];
  const char *gap = strstr(full, "  - {}\n");
  snprintf(text, sizeof text, "%.*s  - {mass: 0}\n%s", (int)(gap - full), full, gap + strlen("  - {}\n"));
  psdm_robot *known = parse_with(text, NULL);
  psdm_robot_parameters(known, pi);
  for (int i = 0; i < 10; i++) assert_near(pi[i], trunk[i]);
  psdm_robot_free(known);

  /* names */
  static const struct {
    int k;
    const char *name;
  } names[] = {{0, "m1"},   {1, "mx1"},  {5, "XY1"}, {19, "ZZ2"}, {37, "YY4"},
               {40, "Ia1"}, {41, "Ia2"}, {42, ""},   {-1, ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[32];
    assert_string_equal(psdm_robot_parameter_name(robot, names[i].k, name, sizeof name), names[i].name);
  }

  /* set and get, and readiness with it */
  psdm_error error;
  assert_int_equal(psdm_robot_ready(robot, &error), PSDM_E_MISSING);
  assert_string_equal(error.file, "folder/arm.v2.yaml");
  assert_string_equal(error.text,
                      "link 'link2' has no mass, centre of mass and inertia; this command needs them ('links:')");
  for (int i = 0; i < COUNT; i++) pi[i] = 0.1 * i + 1;
  pi[41] = NAN;
  psdm_robot_set_parameters(robot, pi);
  assert_int_equal(psdm_robot_ready(robot, &error), PSDM_E_MISSING);
  assert_string_equal(error.text, "joint 'slide' has drive_inertia: unknown; this command needs a number");
  pi[41] = 2;
  psdm_robot_set_parameters(robot, pi);
  assert_int_equal(psdm_robot_ready(robot, &error), PSDM_OK);
  psdm_robot_parameters(robot, back);
  assert_memory_equal(pi, back, sizeof pi);
  psdm_robot_free(robot);
}

TEST(couplings_are_read) {
  psdm_robot *robot = parse_with(full, NULL);
  static const double G_expected[] = {1, 0, 0, 0, 1, 0, -2, 0.5, 0, 0, 0, 1}; /* turn, slide, follow, joint5 */
  double G[12], c[4];
  psdm_robot_coupling(robot, G, c);
  assert_memory_equal(G, G_expected, sizeof G);
  assert_true(c[0] == 0 && c[1] == 0 && c[3] == 0);
  assert_near(c[2], PI / 4);
  psdm_robot_coupling(robot, NULL, NULL);
  psdm_robot_free(robot);

  /* a coupling of a coupling, named before it is made */
  robot = parse_robot("convention: dh\njoints:\n  - {name: a, couple: {b: 3, offset: 1}}\n  - {name: b, couple: {c: 2, "
                      "offset: 5}}\n  - {name: c}\n");
  psdm_robot_coupling(robot, G, c);
  assert_true(G[0] == 6 && G[1] == 2 && G[2] == 1);
  assert_true(c[0] == 16 && c[1] == 5 && c[2] == 0);
  psdm_robot_free(robot);
}

/* relations are written with the first parameter alone on the left, and read back the same */
TEST(relations_are_read) {
  static const char *const pair[][2] = {
      {"rx1=0.1", "rx1 = 0.1"},
      {"rx1 = 2*rx2 - 0.5 ry1+ 0.25", "rx1 = 2*rx2 - 0.5*ry1 + 0.25"},
      {"Ixx1 = Iyy1 + Izz1", "Ixx1 = Iyy1 + Izz1"},
      {"-2*m1 + 1e-1 = 0.1 - m2", "m1 = 0.5*m2"},
      {"0 = rz2", "rz2 = 0"},
      {"Ixy2 - Ixz2 = -1.5E2", "Ixy2 = Ixz2 - 150"},
      {"Ia1 = -Ia2", "Ia1 = -Ia2"},
      {"m1 + rx1 + ry1 + rz1 = Ixx1 + Iyy1 + Izz1 - Ixy1", "m1 = -rx1 - ry1 - rz1 + Ixx1 + Iyy1 + Izz1 - Ixy1"},
  };
  for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
    char file[256], text[320], small[8];
    const char *said = pair[k][0];
    for (int again = 0; again < 2; again++) {
      snprintf(file, sizeof file, "convention: dh\njoints: [{a: 1}, {a: 1}]\nassume: ['%s']\n", said);
      psdm_robot *robot = parse_robot(file);
      assert_string_equal(psdm_robot_assumption(robot, 0, text, sizeof text), pair[k][1]);
      psdm_robot_assumption(robot, 0, small, sizeof small);
      assert_true(strlen(small) < sizeof small && memcmp(small, text, strlen(small)) == 0);
      psdm_robot_free(robot);
      said = pair[k][1];
    }
  }
}

TEST(assumptions_and_thetas_are_read) {
  static const char *const assumptions[] = {"Ixz1 = 0", "rx2 = 0", "Ixx3 = Iyy3", "Ia1 = 0", "m4 = 0"};
  psdm_robot *robot = parse_with(full, NULL);
  char text[32];
  assert_int_equal(psdm_robot_assumptions(robot), 5);
  for (int i = 0; i < 5; i++) assert_string_equal(psdm_robot_assumption(robot, i, text, sizeof text), assumptions[i]);
  assert_string_equal(psdm_robot_assumption(robot, 5, text, sizeof text), "");
  double value;
  assert_int_equal(psdm_robot_thetas(robot), 2);
  assert_string_equal(psdm_robot_theta(robot, 0, &value), "ZZ1 + m2");
  assert_true(value == 1.5);
  assert_string_equal(psdm_robot_theta(robot, 1, &value), "mx2");
  assert_true(value == -2e-3);
  assert_null(psdm_robot_theta(robot, 2, &value));
  psdm_robot_free(robot);
}

TEST(defaults) {
  psdm_robot *robot = parse_with("convention: modified-dh\njoints: [{}]\n", NULL);
  assert_string_equal(psdm_robot_name(robot), "arm.v2"); /* the file's name, without folder and ending */
  assert_string_equal(psdm_robot_joint(robot, 0)->name, "joint1");
  assert_string_equal(psdm_robot_link_name(robot, 0), "link1");
  const double *gravity = psdm_robot_gravity(robot);
  assert_true(gravity[0] == 0 && gravity[1] == 0 && gravity[2] == -9.81);
  assert_false(psdm_robot_coupled(robot) || psdm_robot_has_transmission(robot));
  assert_int_equal(psdm_robot_ready(robot, NULL), PSDM_E_MISSING);
  double x = 0.7, y = 0;
  psdm_robot_motor_to_joint(robot, &x, &y);
  assert_true(y == x);
  psdm_robot_free(robot);
}

TEST(gravity_can_be_overridden) {
  static const double up[3] = {0, 3, 5};
  const psdm_robot_options options = {.gravity = up};
  psdm_robot *robot = parse_with(full, &options);
  assert_memory_equal(psdm_robot_gravity(robot), up, sizeof up);
  psdm_robot_free(robot);
}

/* ---- rounded angles ---- */

TEST(angles_snap) {
  const char *text = "convention: dh\njoints:\n"
                     "  - {name: A1, alpha: 1.5708, limits: {upper: 1.5708}}\n"
                     "  - {name: A2, alpha: -3.14159, theta: 0.5236}\n"
                     "  - {name: A3, alpha: 1.5707963267948966, theta: pi/2}\n" /* exact: no note */
                     "  - {name: A4, alpha: 1.571, theta: 0.1}\n"               /* 2e-4 off: kept */
                     "base: {rpy: [0.00001, 0, 0]}\n";
  static const char *const notes[] = {"line 7: rpy 1e-05 snapped to 0 deg (`no_snap` keeps it)",
                                      "line 3: joint 'A1': alpha 1.5708 snapped to 90 deg (`no_snap` keeps it)",
                                      "line 4: joint 'A2': alpha -3.14159 snapped to -180 deg (`no_snap` keeps it)",
                                      "line 4: joint 'A2': theta 0.5236 snapped to 30 deg (`no_snap` keeps it)"};
  psdm_robot *robot = parse_robot(text);
  assert_int_equal(psdm_robot_notes(robot), 4);
  for (int i = 0; i < 4; i++) assert_string_equal(psdm_robot_note(robot, i), notes[i]);
  assert_null(psdm_robot_note(robot, 4));
  assert_null(psdm_robot_note(robot, -1));
  assert_true(psdm_robot_joint(robot, 0)->limits.upper == 1.5708); /* limits are not snapped */
  const double q[4] = {0};
  double poses[48];
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_poses(robot, work, q, poses), PSDM_OK);
  static const double quarter[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0}; /* Rx(90 deg), without a trace of rounding */
  for (int i = 0; i < 9; i++) assert_true(poses[3 + i] == quarter[i]);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);

  const psdm_robot_options options = {.no_snap = true};
  robot = parse_with(text, &options);
  assert_int_equal(psdm_robot_notes(robot), 0);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_poses(robot, work, q, poses), PSDM_OK);
  assert_near(poses[3 + 4], cos(1.5708 + 0.00001));
  assert_near(poses[3 + 7], sin(1.5708 + 0.00001));
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- motors ---- */

TEST(transmissions_are_consistent) {
  rng g = rng_start("transmissions_are_consistent");
  static const char *const texts[] = {
      "convention: dh\njoints: [{gear: 100}, {gear: -50}, {}]\n",
      "convention: dh\njoints: [{}, {}, {}]\ntransmission: [[1, 0, 0], [0.5, 2, 0], [0, -1, 1]]\n",
      "convention: dh\njoints: [{gear: 100}, {gear: -50}, {}]\ntransmission: [[0, 1, 0], [0.5, 2, 0], [0, -1, 4]]\n"};
  static const double T[3][9] = {
      {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0.5, 2, 0, 0, -1, 1}, {0, 1, 0, 0.5, 2, 0, 0, -1, 4}};
  static const double gear[3][3] = {{100, -50, 1}, {1, 1, 1}, {100, -50, 1}};
  for (int k = 0; k < 3; k++) {
    psdm_robot *robot = parse_robot(texts[k]);
    assert_true(psdm_robot_has_transmission(robot));
    for (int round = 0; round < 100; round++) {
      double motor[3], q[3], back[3], tau[3], tau_motor[3], power = 0, power_motor = 0;
      for (int i = 0; i < 3; i++) motor[i] = rng_uniform(&g, -3, 3) * gear[k][i], tau[i] = rng_uniform(&g, -50, 50);
      psdm_robot_motor_to_joint(robot, motor, q);
      for (int i = 0; i < 3; i++) /* q = T diag(1/gear) q_motor */
        assert_near(q[i], T[k][3 * i] * motor[0] / gear[k][0] + T[k][3 * i + 1] * motor[1] / gear[k][1] +
                              T[k][3 * i + 2] * motor[2] / gear[k][2]);
      psdm_robot_joint_to_motor(robot, q, back);
      if (!(max_difference(back, motor, 3) < 1e-11)) fail_msg("robot %d: the inverse differs", k);
      /* the motors' power equals the joints' power */
      psdm_robot_motor_torque(robot, tau, tau_motor);
      for (int i = 0; i < 3; i++) power += tau[i] * q[i], power_motor += tau_motor[i] * motor[i];
      if (!(fabs(power - power_motor) < 1e-11 * (1 + fabs(power))))
        fail_msg("robot %d: power %g and %g", k, power, power_motor);
    }
    psdm_robot_free(robot);
  }
}

/* ---- dynamics: the same robot in two notations ---- */

/* order[i] is the joint of b that moves like q_i of a; NULL: the same order */
static void assert_same_dynamics(const psdm_robot *a, const psdm_robot *b, const int *order) {
  enum { MOST = 8 };
  rng g = rng_start("assert_same_dynamics");
  int n = psdm_robot_n(a);
  assert_int_equal(psdm_robot_n(b), n);
  assert_true(n <= MOST);
  psdm_work *wa, *wb;
  assert_int_equal(psdm_work_new(a, NULL, &wa), PSDM_OK);
  assert_int_equal(psdm_work_new(b, NULL, &wb), PSDM_OK);
  for (int round = 0; round < 100; round++) {
    double x[3][MOST], y[3][MOST], tau_a[MOST], tau_b[MOST], permuted[MOST], Ta, Ua, Tb, Ub;
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < n; i++) y[k][order ? order[i] : i] = x[k][i] = rng_uniform(&g, -3, 3);
    assert_int_equal(psdm_inverse(a, wa, x[0], x[1], x[2], tau_a), PSDM_OK);
    assert_int_equal(psdm_inverse(b, wb, y[0], y[1], y[2], tau_b), PSDM_OK);
    for (int i = 0; i < n; i++) permuted[i] = tau_b[order ? order[i] : i];
    double off = max_difference(tau_a, permuted, n), scale = 1 + max_absolute(tau_a, n);
    if (!(off <= 1e-13 * scale)) fail_msg("torques differ by %g of %g", off, scale);
    assert_int_equal(psdm_energy(a, wa, x[0], x[1], &Ta, &Ua), PSDM_OK);
    assert_int_equal(psdm_energy(b, wb, y[0], y[1], &Tb, &Ub), PSDM_OK);
    if (!(fabs(Ta - Tb) <= 1e-13 * (1 + fabs(Ta)))) fail_msg("kinetic energies differ: %.17g, %.17g", Ta, Tb);
    if (!(fabs(Ua - Ub) <= 1e-13 * (1 + fabs(Ua)))) fail_msg("potential energies differ: %.17g, %.17g", Ua, Ub);
  }
  psdm_work_free(wa, NULL);
  psdm_work_free(wb, NULL);
}

static void assert_same_texts(const char *a, const char *b, const int *order) {
  psdm_robot *one = parse_robot(a), *other = parse_robot(b);
  assert_same_dynamics(one, other, order);
  psdm_robot_free(one);
  psdm_robot_free(other);
}

/* A body of point masses, which can be moved and added without the library's formulas. */
typedef struct point {
  double m, r[3];
} point;

typedef struct frame {
  double R[3][3], p[3];
} frame;

/* Rz(theta) Tz(d) Tx(a) Rx(alpha) */
static frame dh(double theta, double d, double a, double alpha) {
  double ct = cos(theta), st = sin(theta), ca = cos(alpha), sa = sin(alpha);
  return (frame){{{ct, -st * ca, st * sa}, {st, ct * ca, -ct * sa}, {0, sa, ca}}, {a * ct, a * st, d}};
}

static point placed(const frame *f, point x) {
  point y = {.m = x.m};
  for (int i = 0; i < 3; i++) y.r[i] = f->R[i][0] * x.r[0] + f->R[i][1] * x.r[1] + f->R[i][2] * x.r[2] + f->p[i];
  return y;
}

/* "standard: {m: ..., ZZ: ...}" of a number of point masses; static storage, four at a time */
static const char *standard(const point *points, int count) {
  static char ring[4][600];
  static int turn;
  char *text = ring[turn++ % 4];
  double s[10] = {0};
  for (int k = 0; k < count; k++) {
    double add[10];
    point_parameters(points[k].m, points[k].r, add);
    for (int i = 0; i < 10; i++) s[i] += add[i];
  }
  snprintf(text, sizeof ring[0],
           "standard: {m: %.17g, mx: %.17g, my: %.17g, mz: %.17g, XX: %.17g, XY: %.17g, XZ: %.17g, YY: %.17g, YZ: "
           "%.17g, ZZ: %.17g}",
           s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]);
  return text;
}

enum { POINTS = 5 };

static void random_body(rng *g, point *points) {
  for (int k = 0; k < POINTS; k++) {
    points[k].m = rng_uniform(g, 0.1, 1);
    for (int i = 0; i < 3; i++) points[k].r[i] = rng_uniform(g, -0.3, 0.3);
  }
}

TEST(fixed_joints_are_lumped) {
  rng g = rng_start("fixed_joints_are_lumped");
  point pedestal[POINTS], one[4 * POINTS], bracket[POINTS], sensor[POINTS], two[2 * POINTS], hand[POINTS];
  random_body(&g, pedestal);
  random_body(&g, one);
  random_body(&g, bracket);
  random_body(&g, sensor);
  random_body(&g, two);
  random_body(&g, hand);
  char with[4000], without[4000];
  snprintf(with, sizeof with,
           "convention: dh\njoints:\n"
           "  - {name: pedestal, type: fixed, d: 0.3, alpha: pi/2}\n"
           "  - {name: j1, d: 0.2, a: 0.3, alpha: -pi/2}\n"
           "  - {name: bracket, type: fixed, theta: 0.7, d: 0.1, a: 0.05, alpha: 0.4}\n"
           "  - {name: sensor, type: fixed, theta: -0.2, d: 0.3, a: 0.1, alpha: 1.1}\n" /* fixed to a fixed link */
           "  - {name: j2, parent: bracket, a: 0.4, d: 0.02, theta: 0.1}\n"
           "  - {name: hand, type: fixed, a: 0.15, alpha: -0.6}\n"
           "links:\n  - %s\n",
           standard(pedestal, POINTS));
  char *at = with + strlen(with);
  at += sprintf(at, "  - %s\n", standard(one, POINTS));
  at += sprintf(at, "  - %s\n", standard(bracket, POINTS));
  at += sprintf(at, "  - %s\n", standard(sensor, POINTS));
  at += sprintf(at, "  - %s\n", standard(two, POINTS));
  sprintf(at, "  - %s\n", standard(hand, POINTS));

  frame to_bracket = dh(0.7, 0.1, 0.05, 0.4), to_sensor = dh(-0.2, 0.3, 0.1, 1.1), to_hand = dh(0, 0, 0.15, -0.6);
  for (int k = 0; k < POINTS; k++) {
    point in_bracket = placed(&to_sensor, sensor[k]);
    one[POINTS + k] = placed(&to_bracket, bracket[k]);
    one[2 * POINTS + k] = placed(&to_bracket, in_bracket);
    two[POINTS + k] = placed(&to_hand, hand[k]);
  }
  /* Rz(0.7) Rx(0.4) is rpy (0.4, 0, 0.7) */
  snprintf(without, sizeof without,
           "convention: dh\nbase: {xyz: [0, 0, 0.3], rpy: [pi/2, 0, 0]}\njoints:\n"
           "  - {name: j1, d: 0.2, a: 0.3, alpha: -pi/2}\n"
           "  - {name: j2, a: 0.4, d: 0.02, theta: 0.1, origin: {xyz: [%.17g, %.17g, 0.1], rpy: [0.4, 0, 0.7]}}\n"
           "links:\n  - %s\n  - %s\n",
           0.05 * cos(0.7), 0.05 * sin(0.7), standard(one, 3 * POINTS), standard(two, 2 * POINTS));
  assert_same_texts(with, without, NULL);
}

TEST(tools_and_motors_are_folded_in) {
  rng g = rng_start("tools_and_motors_are_folded_in");
  point one[POINTS + 1], two[POINTS], three[POINTS + 1];
  random_body(&g, one);
  random_body(&g, two);
  random_body(&g, three);
  one[POINTS] = (point){1.7, {0.05, -0.06, 0.07}}; /* the motor of joint 3, carried by link 1 */
  three[POINTS] = (point){0.9, {0.01, 0.02, 0.1}}; /* a tool without extent */
#define ROWS "  - {name: j%d, a: 0.3, d: 0.1, alpha: %s%s}\n"
  char folded[3000], by_hand[3000];
  snprintf(folded, sizeof folded,
           "convention: dh\njoints:\n" ROWS ROWS ROWS
           "links:\n  - %s\n  - %s\n  - %s\ntool: {name: gripper, mass: 0.9, com: [0.01, 0.02, 0.1]}\n",
           1, "pi/2", ", gear: 20", 2, "0.3", ", gear: -60, motor: {inertia: 2e-4}", 3, "0",
           ", gear: 50, motor: {mass: 1.7, com: [0.05, -0.06, 0.07], inertia: 1e-4, on: link1}", standard(one, POINTS),
           standard(two, POINTS), standard(three, POINTS));
  snprintf(by_hand, sizeof by_hand, "convention: dh\njoints:\n" ROWS ROWS ROWS "links:\n  - %s\n  - %s\n  - %s\n", 1,
           "pi/2", "", 2, "0.3", ", drive_inertia: 0.72", 3, "0", ", drive_inertia: 0.25", standard(one, POINTS + 1),
           standard(two, POINTS), standard(three, POINTS + 1));
#undef ROWS
  assert_same_texts(folded, by_hand, NULL);

  /* the drive inertia is the motor's inertia times the gear ratio squared */
  psdm_robot *robot = parse_robot(folded);
  double pi[32];
  assert_int_equal(psdm_robot_parameter_count(robot), 32);
  psdm_robot_parameters(robot, pi);
  assert_near(pi[30], 0.72);
  assert_near(pi[31], 0.25);
  psdm_robot_free(robot);
}

/* without 'on' a motor rides on the parent's link; on the base it never moves */
TEST(motors_ride_on_the_parent) {
#define ARM(first, second)                                           \
  "convention: dh\njoints:\n  - {a: 1" first "}\n  - {a: 0.5" second \
  "}\nlinks: [{mass: 1, com: [0, 0.1, 0]}, {mass: 2}]\n"
  assert_same_texts(ARM("", ", motor: {mass: 3, com: [0.1, 0, 0]}"),
                    ARM("", ", motor: {mass: 3, com: [0.1, 0, 0], on: joint1}"), NULL);
  assert_same_texts(ARM(", motor: {mass: 3}", ""), ARM("", ""), NULL);
  assert_same_texts(ARM("", ", motor: {mass: 3, on: base}"), ARM("", ""), NULL);
#undef ARM
}

TEST(a_child_may_stand_before_its_parent) {
  /* a trunk with two branches, the second of which follows the first in part */
#define TRUNK "  - {name: trunk, parent: base, d: 0.3, alpha: pi/2, drive_inertia: 0.3}\n"
#define LEFT "  - {name: left, parent: trunk, a: 0.4, alpha: 0.2, origin: {xyz: [0, 0.2, 0]}}\n"
#define ELBOW "  - {name: elbow, type: prismatic, parent: left, a: 0.1, alpha: -pi/2}\n"
#define RIGHT \
  "  - {name: right, parent: trunk, a: 0.3, couple: {left: -1, elbow: 0.5, offset: 0.2}, drive_inertia: 0.1}\n"
#define HEAD "  - {name: head, parent: trunk, d: 0.5, theta: 0.4}\n"
#define BODY(m, x) "  - {mass: " #m ", com: [" #x ", 0.1, 0.02], inertia: {xx: 0.1, yy: 0.12, zz: 0.09, xz: 0.01}}\n"
  const char *sorted = "convention: modified-dh\njoints:\n" TRUNK LEFT ELBOW RIGHT HEAD "links:\n" BODY(5, 0.1)
      BODY(4, 0.2) BODY(3, 0.3) BODY(2, 0.4) BODY(1, 0.5);
  const char *mixed = "convention: modified-dh\njoints:\n" RIGHT ELBOW HEAD LEFT TRUNK "links:\n" BODY(2, 0.4)
      BODY(3, 0.3) BODY(1, 0.5) BODY(4, 0.2) BODY(5, 0.1);
  /* q of sorted: trunk left elbow head; q of mixed: elbow head left trunk */
  static const int order[] = {3, 2, 0, 1};
  assert_same_texts(sorted, mixed, order);
  psdm_robot *robot = parse_robot(mixed);
  assert_int_equal(psdm_robot_joint(robot, 0)->parent, 4);
  assert_int_equal(psdm_robot_joint(robot, 0)->q, -1);
  assert_int_equal(psdm_robot_joint(robot, 4)->q, 3);
  double G[20], c[5], pi[52];
  psdm_robot_coupling(robot, G, c);
  assert_true(G[0] == 0.5 && G[2] == -1 && c[0] == 0.2); /* row of 'right' */
  psdm_robot_parameters(robot, pi);
  assert_true(pi[0] == 2 && pi[40] == 5 && pi[50] == 0.1 && pi[51] == 0.3); /* file order, drives too */
  psdm_robot_free(robot);
#undef TRUNK
#undef LEFT
#undef ELBOW
#undef RIGHT
#undef HEAD
#undef BODY
}

/* a tilted base is gravity tilted the other way, and poses that start elsewhere */
TEST(the_base_has_a_pose) {
#define ARM "convention: dh\njoints: [{a: 1, alpha: pi/2}, {a: 0.5}]\nlinks: [{mass: 1, com: [0, 0.1, 0]}, {mass: 2}]\n"
  psdm_robot *tilted = parse_robot("base: {xyz: [0.1, 0.2, 0.3], rpy: [0.3, -0.4, 0.5]}\n" ARM),
             *plain = parse_robot(ARM);
  /* R = Rz(0.5) Ry(-0.4) Rx(0.3) */
  double cx = cos(0.3), sx = sin(0.3), cy = cos(-0.4), sy = sin(-0.4), cz = cos(0.5), sz = sin(0.5);
  const double R[9] = {cz * cy,
                       cz * sy * sx - sz * cx,
                       cz * sy * cx + sz * sx,
                       sz * cy,
                       sz * sy * sx + cz * cx,
                       sz * sy * cx - cz * sx,
                       -sy,
                       cy * sx,
                       cy * cx};
  const double *down = psdm_robot_gravity(plain), q[2] = {0.4, -1.1}, p[3] = {0.1, 0.2, 0.3};
  double turned[3], one[24], other[24];
  for (int i = 0; i < 3; i++) turned[i] = R[i] * down[0] + R[3 + i] * down[1] + R[6 + i] * down[2]; /* R^T g */
  const psdm_robot_options options = {.gravity = turned};
  psdm_robot *same = parse_with(ARM, &options);
  psdm_work *work;
  assert_int_equal(psdm_work_new(plain, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_poses(tilted, work, q, one), PSDM_OK);
  assert_int_equal(psdm_poses(plain, work, q, other), PSDM_OK);
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 3; i++) {
      const double *x = other + 12 * j;
      assert_near(one[12 * j + i], R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2] + p[i]);
      for (int k = 0; k < 3; k++)
        assert_near(one[12 * j + 3 + 3 * i + k],
                    R[3 * i] * x[3 + k] + R[3 * i + 1] * x[6 + k] + R[3 * i + 2] * x[9 + k]);
    }
  double tau_tilted[2], tau_same[2];
  const double qd[2] = {1, -2}, qdd[2] = {3, 0.5};
  assert_int_equal(psdm_inverse(tilted, work, q, qd, qdd, tau_tilted), PSDM_OK);
  assert_int_equal(psdm_inverse(same, work, q, qd, qdd, tau_same), PSDM_OK);
  for (int i = 0; i < 2; i++) assert_true(fabs(tau_tilted[i] - tau_same[i]) < 1e-13 * (1 + fabs(tau_same[i])));
  psdm_work_free(work, NULL);
  psdm_robot_free(tilted);
  psdm_robot_free(plain);
  psdm_robot_free(same);
#undef ARM
}

/* ---- warnings ---- */

TEST(implausible_links_are_named) {
#define ARM(link) "convention: dh\njoints: [{}]\nlinks: [" link "]\n"
  const struct {
    const char *text, *warning; /* NULL: none */
  } cases[] = {
      {ARM("{mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}"), NULL},
      {ARM("{mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}"), NULL}, /* flat: equality is allowed */
      {ARM("{mass: 1, inertia: {yy: 1, zz: 1}}"), NULL},        /* slender */
      {ARM("{mass: 1, com: [1, 2, 3]}"), NULL},                 /* a point */
      {ARM("{mass: 0}"), NULL},
      {ARM("{}"), NULL},
      {ARM("{name: arm, mass: -2.5}"), "link 'arm': mass is negative (-2.5 kg)"},
      {ARM("{mass: 0, inertia: {yy: 0.5}}"), "link 'link1': mass is zero but YY is 0.5"},
      {ARM("{standard: {mz: 2}}"), "link 'link1': mass is zero but mz is 2"},
      {ARM("{mass: 1, inertia: {xx: 1, yy: 1, zz: 2.5}}"),
       "link 'link1': inertia breaks the triangle inequality (principal moments 1, 1, 2.5 kg m^2)"},
      {ARM("{mass: 1, inertia: {xx: -0.5, yy: 1, zz: 1}}"),
       "link 'link1': inertia about its centre of mass is not positive definite (smallest principal moment -0.5 kg "
       "m^2)"},
      {ARM("{mass: 1}") "tool: {mass: -1}\n", "link 'tool': mass is negative (-1 kg)"},
      {ARM("{mass: 1}") "tool: {name: gripper, mass: -1}\n", "link 'gripper': mass is negative (-1 kg)"},
      {ARM("{}") "theta: {ZZ1: 2}\n", NULL},
      {ARM("{}") "theta: {ZZ1: 2, ZZ2: 1}\n", "line 4: theta 'ZZ2' is not a parameter of the robot (names such as ZZ1, "
                                              "mx2 or Ia3 were expected) and is not used"},
      {"convention: dh\njoints: [{name: a, friction: {coulomb: 1, viscous: 0}}]\n", NULL},
      {"convention: dh\njoints: [{name: a, friction: {coulomb: -1}}]\n",
       "joint 'a': coulomb friction is negative, so it drives the joint"},
      {"convention: dh\njoints: [{name: a, friction: {viscous: -1}}]\n",
       "joint 'a': viscous friction is negative, so it drives the joint"},
      {"convention: dh\njoints: [{name: a, friction: {coulomb: 1, static: -1, stribeck: 0.1}}]\n",
       "joint 'a': static friction is negative, so it drives the joint"},
      {ARM("{mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}") "theta: {ZZ1: 2}\n",
       "theta is not used: masses and inertias of all links are known"},
  };
#undef ARM
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_robot *robot = parse_robot(cases[i].text);
    assert_int_equal(psdm_robot_warnings(robot), cases[i].warning != NULL);
    if (cases[i].warning) assert_string_equal(psdm_robot_warning(robot, 0), cases[i].warning);
    assert_null(psdm_robot_warning(robot, 1));
    psdm_robot_free(robot);
  }
}

/* ---- the robots shipped with the library ---- */

TEST(shipped_robots_are_read) {
  const struct {
    const char *name;
    int n, joints, drives, warnings;
    bool coupled, ready;
  } facts[] = {{"two_link", 2, 2, 0, 2, false, true},       {"fanuc_sr6ia", 4, 4, 0, 0, false, true},
               {"kuka_kr6", 6, 6, 0, 1, false, true},       {"kuka_lbr7", 7, 7, 0, 2, false, true},
               {"denso_vs6556g", 6, 6, 6, 0, false, false}, {"puma560", 6, 6, 6, 6, false, true},
               {"parallelogram", 2, 4, 0, 0, true, true},   {"hitachi_hpr", 5, 7, 0, 0, true, true},
               {"two_branch", 5, 5, 2, 0, false, true}};
  int count = 0;
  while (shipped_robots[count]) count++;
  assert_int_equal(count, sizeof facts / sizeof *facts);
  for (int i = 0; i < count; i++) {
    psdm_robot *robot = load_shipped(facts[i].name);
    assert_string_equal(psdm_robot_name(robot), facts[i].name);
    assert_int_equal(psdm_robot_n(robot), facts[i].n);
    assert_int_equal(psdm_robot_joints(robot), facts[i].joints);
    assert_int_equal(psdm_robot_drives(robot), facts[i].drives);
    assert_int_equal(psdm_robot_coupled(robot), facts[i].coupled);
    assert_int_equal(psdm_robot_ready(robot, NULL) == PSDM_OK, facts[i].ready);
    assert_int_equal(psdm_robot_notes(robot), 0); /* nothing was guessed */
    assert_int_equal(psdm_robot_warnings(robot), facts[i].warnings);
    psdm_robot_free(robot);
  }
}

/* the published numbers that are impossible (numbers: roots of the characteristic polynomial, by hand) */
TEST(impossible_published_numbers_are_reported) {
  psdm_robot *robot = load_shipped("kuka_kr6");
  assert_string_equal(psdm_robot_warning(robot, 0), "link 'link5': inertia about its centre of mass is not positive "
                                                    "definite (smallest principal moment -0.000261276 kg m^2)");
  psdm_robot_free(robot);
  robot = load_shipped("kuka_lbr7");
  assert_string_equal(psdm_robot_warning(robot, 0), "link 'link4': inertia breaks the triangle inequality (principal "
                                                    "moments 0.0113407, 0.0383189, 0.0500404 kg m^2)");
  assert_string_equal(
      psdm_robot_warning(robot, 1),
      "link 'link6': inertia breaks the triangle inequality (principal moments 0.00049566, 0.0023, 0.00280434 kg m^2)");
  psdm_robot_free(robot);
}

TEST(files_that_cannot_be_read) {
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_error error;
  assert_int_equal(psdm_robot_load("no/such/robot.yaml", NULL, NULL, &robot, &error), PSDM_E_IO);
  assert_null(robot);
  assert_string_equal(error.file, "no/such/robot.yaml");
  assert_int_equal(psdm_robot_load(".", NULL, NULL, &robot, &error), PSDM_E_IO);
  assert_string_equal(error.text, "is a directory; a robot file was expected");
  assert_int_equal(psdm_robot_load("/dev/zero", NULL, NULL, &robot, &error), PSDM_E_LIMIT);
  assert_int_equal(psdm_robot_load("/dev/null", NULL, NULL, &robot, &error), PSDM_E_PARSE);
}

TEST_MAIN(joints_are_read, joint_numbers_are_read, parameters_are_read, couplings_are_read,
          assumptions_and_thetas_are_read, relations_are_read, defaults, gravity_can_be_overridden, angles_snap,
          transmissions_are_consistent, fixed_joints_are_lumped, tools_and_motors_are_folded_in,
          motors_ride_on_the_parent, a_child_may_stand_before_its_parent, the_base_has_a_pose,
          implausible_links_are_named, shipped_robots_are_read, impossible_published_numbers_are_reported,
          files_that_cannot_be_read)
