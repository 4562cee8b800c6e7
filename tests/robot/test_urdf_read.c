/* test_urdf_read.c: the robot of a good URDF, against closed forms, numbers lumped by hand and YAML written by hand;
 * and its parts: another root, one tip, joints locked. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "psdm/friction.h"

enum { MOST = 16 };

#define PI 3.14159265358979323846
#define HALF_PI "1.5707963267948966"

static psdm_robot *load_with(const char *text, const psdm_robot_options *options) {
  char sentence[900];
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(text, strlen(text), "test.urdf", options, NULL, &robot, &error))
    fail_msg("%s\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return robot;
}

static psdm_robot *load(const char *text) { return load_with(text, NULL); }

static void refused(const char *text, const psdm_robot_options *options, psdm_status status, const char *sentence) {
  char said[900];
  psdm_robot *robot;
  psdm_error error;
  assert_int_equal(psdm_robot_parse(text, strlen(text), "test.urdf", options, NULL, &robot, &error), status);
  assert_null(robot);
  assert_string_equal(psdm_error_format(&error, said, sizeof said), sentence);
}

static const psdm_joint *joint_named(const psdm_robot *robot, const char *name) {
  for (int j = 0; j < psdm_robot_joints(robot); j++)
    if (strcmp(psdm_robot_joint(robot, j)->name, name) == 0) return psdm_robot_joint(robot, j);
  fail_msg("no joint %s", name);
  return NULL;
}

/* ---- states ---- */

typedef struct motion {
  double q[MOST], qd[MOST], qdd[MOST];
} motion;

static motion random_motion(rng *g, int n) {
  motion m;
  for (int i = 0; i < n; i++)
    m.q[i] = rng_uniform(g, -2, 2), m.qd[i] = rng_uniform(g, -2, 2), m.qdd[i] = rng_uniform(g, -3, 3);
  return m;
}

static void inverse(const psdm_robot *robot, const motion *m, double *tau) {
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, m->q, m->qd, m->qdd, tau), PSDM_OK);
  psdm_work_free(work, NULL);
}

static void pose_of(const psdm_robot *robot, const motion *m, const char *link, double pose[12]) {
  psdm_work *work;
  int j = psdm_robot_find(robot, link);
  assert_true(j >= 0);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_pose(robot, work, m->q, j, pose), PSDM_OK);
  psdm_work_free(work, NULL);
}

static void expect_near(const double *a, const double *b, int count, double scale, const char *what) {
  double d = max_difference(a, b, count);
  if (!(d <= 1e-13 * (1 + scale))) fail_msg("%s differ by %.3g (scale %.3g)", what, d, scale);
}

/* part moves like whole when part's joints, found by name, move like whole's, and whole's others stay at their values
 * in rest; common links have the same poses */
static void expect_part(const psdm_robot *whole, const psdm_robot *part, const double *rest, rng *g) {
  for (int k = 0; k < 5; k++) {
    motion p = random_motion(g, psdm_robot_n(part)), w = {{0}, {0}, {0}};
    double tau_p[MOST], tau_w[MOST], pose_p[12], pose_w[12];
    if (rest) memcpy(w.q, rest, sizeof *rest * (size_t)psdm_robot_n(whole));
    for (int j = 0; j < psdm_robot_joints(part); j++) {
      int from = psdm_robot_joint(part, j)->q, to = joint_named(whole, psdm_robot_joint(part, j)->name)->q;
      if (from >= 0) w.q[to] = p.q[from], w.qd[to] = p.qd[from], w.qdd[to] = p.qdd[from];
    }
    inverse(part, &p, tau_p);
    inverse(whole, &w, tau_w);
    double scale = max_absolute(tau_w, psdm_robot_n(whole));
    for (int j = 0; j < psdm_robot_joints(part); j++) {
      const char *name = psdm_robot_joint(part, j)->name, *link = psdm_robot_link_name(part, j);
      int from = psdm_robot_joint(part, j)->q;
      if (from >= 0) expect_near(&tau_p[from], &tau_w[joint_named(whole, name)->q], 1, scale, "torques");
      pose_of(part, &p, link, pose_p);
      pose_of(whole, &w, link, pose_w);
      expect_near(pose_p, pose_w, 12, 10, "poses");
    }
  }
}

/* ---- elements ---- */

TEST(limits_and_dynamics) {
  psdm_robot *robot =
      load("<robot><link name='base'/><link name='a'/><link name='b'/><link name='c'/><link name='d'/><link name='e'/>"
           "<joint name='j1' type='revolute'><parent link='base'/><child link='a'/>"
           "<limit lower='-1.5' upper='2.5' velocity='3' effort='40'/><dynamics damping='0.7' friction='0.2'/></joint>"
           "<joint name='j2' type='continuous'><parent link='a'/><child link='b'/>"
           "<limit lower='-1' upper='1' velocity='0' effort='5'/><dynamics damping='0'/></joint>"
           "<joint name='j3' type='prismatic'><parent link='b'/><child link='c'/><limit upper='0.4' "
           "effort='-1'/><dynamics friction='3'/></joint>"
           "<joint name='j4' type='revolute'><parent link='c'/><child link='d'/><limit lower='0' upper='0'/></joint>"
           "<joint name='f' type='fixed'><parent link='d'/><child link='e'/></joint></robot>");
  const psdm_joint *j1 = psdm_robot_joint(robot, 0), *j2 = psdm_robot_joint(robot, 1), *j3 = psdm_robot_joint(robot, 2),
                   *j4 = psdm_robot_joint(robot, 3), *f = psdm_robot_joint(robot, 4);
  assert_int_equal(psdm_robot_n(robot), 4);
  assert_int_equal(psdm_robot_joints(robot), 5);
  assert_int_equal(psdm_robot_links(robot), 4);
  assert_string_equal(psdm_robot_name(robot), "test"); /* the file's name, as there is no other */
  assert_string_equal(psdm_robot_base_name(robot), "base");
  assert_int_equal(j1->type, PSDM_REVOLUTE);
  assert_true(j1->limits.lower == -1.5 && j1->limits.upper == 2.5 && j1->limits.velocity == 3 &&
              j1->limits.effort == 40);
  assert_true(isinf(j1->limits.acceleration) && isinf(j1->stiffness) && isnan(j1->torque_constant) && j1->gear == 1 &&
              j1->drive == -1);
  assert_true(j1->friction.given && j1->friction.viscous == 0.7 && j1->friction.coulomb == 0.2 &&
              j1->friction.stat == 0.2 && j1->friction.exponent == 1);
  /* continuous: position limits mean nothing; zero stands for none */
  assert_int_equal(j2->type, PSDM_REVOLUTE);
  assert_true(j2->limits.lower == -INFINITY && j2->limits.upper == INFINITY && j2->limits.velocity == INFINITY &&
              j2->limits.effort == 5);
  assert_false(j2->friction.given);
  assert_int_equal(j3->type, PSDM_PRISMATIC);
  assert_true(j3->limits.lower == 0 && j3->limits.upper == 0.4 && isinf(j3->limits.effort) &&
              j3->friction.coulomb == 3);
  assert_true(j4->limits.lower == -INFINITY && j4->limits.upper == INFINITY);
  assert_true(f->type == PSDM_FIXED && f->q == -1 && f->link == -1 && f->parent == 3);
  assert_int_equal(psdm_robot_find(robot, "e"), 4);
  assert_int_equal(psdm_robot_find(robot, "base"), -1);
  /* friction as a torque */
  const double qd[4] = {2, 1, -1, 0};
  double tau[4];
  psdm_friction_torque(robot, qd, tau);
  const double expected[4] = {0.2 + 0.7 * 2, 0, -3, 0};
  expect_near(tau, expected, 4, 1, "friction");
  psdm_robot_free(robot);
}

/* zero where the file says zero */
TEST(massless_links) {
  psdm_robot *robot = load("<robot name='m'><link name='b'/><link name='a'><inertial><mass value='0'/><inertia ixx='0' "
                           "iyy='0' izz='0'/></inertial></link>"
                           "<link name='c'><inertial><mass value='0'/></inertial></link>"
                           "<joint name='j1' type='revolute'><parent link='b'/><child link='a'/></joint>"
                           "<joint name='j2' type='revolute'><parent link='a'/><child link='c'/></joint></robot>");
  double pi[20], tau[2], none[20] = {0}, qdd[2];
  const motion m = {{1, 2}, {3, 4}, {5, 6}};
  psdm_work *work;
  assert_int_equal(psdm_robot_warnings(robot), 0);
  assert_int_equal(psdm_robot_ready(robot, NULL), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  assert_memory_equal(pi, none, sizeof pi);
  inverse(robot, &m, tau);
  assert_true(tau[0] == 0 && tau[1] == 0);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_forward(robot, work, m.q, m.qd, tau, qdd), PSDM_E_SINGULAR);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

#define WEIGHT "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define SHAPE "<visual><geometry><sphere radius='1'/></geometry></visual>"
#define MOVES(name, parent, child) \
  "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/></joint>"
#define FIXED(name, parent, child) \
  "<joint name='" name "' type='fixed'><parent link='" parent "'/><child link='" child "'/></joint>"

/* the effect of each rule on links without <inertial>: how many moving links are unknown, and the first warning or
 * note */
TEST(links_without_inertial) {
  static const struct {
    const char *text;
    /* moving links that are unknown by default and with PSDM_MISSING_UNKNOWN; notes with PSDM_MISSING_ZERO */
    int unknown, strict, notes;
    const char *ready, *warning; /* missing inertias, reported by default */
  } cases[] = {
      /* the base and links bolted to it do not matter */
      {"<link name='b'/><link name='rail'>" SHAPE "</link><link name='a'>" WEIGHT "</link>" FIXED("k", "b", "rail")
           MOVES("j", "rail", "a"),
       0, 0, 0, NULL, NULL},
      /* frames: neither numbers nor a shape, on a body with numbers, wherever they are */
      {"<link name='b'/><link name='a'>" WEIGHT "</link><link name='tool0'/>" MOVES("j", "b", "a")
           FIXED("k", "a", "tool0"),
       0, 0, 0, NULL, NULL},
      {"<link name='b'/><link name='a'/><link name='body'>" WEIGHT "</link>" MOVES("j", "b", "a")
           FIXED("k", "a", "body"),
       0, 0, 0, NULL, NULL},
      {"<link name='b'/><link name='a'><inertial><mass value='0'/></inertial></link><link name='f'/>" MOVES(
           "j", "b", "a") FIXED("k", "a", "f"),
       0, 0, 0, NULL, NULL},
      /* a shape bolted to a body with numbers: nothing is added, with a warning */
      {"<link name='b'/><link name='a'>" WEIGHT "</link><link name='cover'>" SHAPE "</link>" MOVES("j", "b", "a")
           FIXED("k", "a", "cover"),
       0, 1, 0, NULL,
       "1 fixed link has a shape but no <inertial>, and adds nothing to the link that carries it (`missing_inertia = "
       "unknown` makes that one unknown): 'cover'"},
      /* a moving link: unknown, with a shape or without, and with anything light bolted to it */
      {"<link name='b'/><link name='a'/><link name='c'>" WEIGHT "</link>" MOVES("j", "b", "a") MOVES("k", "a", "c"), 1,
       1, 1,
       "test.urdf:1: link 'a' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = "
       "zero`)",
       "1 moving link has no <inertial>, which leaves the inertia unknown (`missing_inertia = zero` takes it as zero): "
       "'a'"},
      {"<link name='b'/><link name='a'>" SHAPE "</link><link name='c'>" WEIGHT "</link>" MOVES("j", "b", "a")
           FIXED("k", "a", "c"),
       1, 1, 1,
       "test.urdf:1: link 'a' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = "
       "zero`)",
       "1 moving link has no <inertial>, which leaves the inertia unknown (`missing_inertia = zero` takes it as zero): "
       "'a'"},
      {"<link name='b'/><link name='a'/><link name='tool0'/><link name='c'>" SHAPE "</link>" MOVES("j", "b", "a")
           FIXED("k", "a", "tool0") MOVES("l", "a", "c"),
       2, 2, 1,
       "test.urdf:1: link 'a' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = "
       "zero`)",
       "2 moving links have no <inertial>, which leaves the inertia unknown (`missing_inertia = zero` takes it as "
       "zero): "
       "'a', 'c'"},
      /* a mass without moments */
      {"<link name='b'/><link name='a'><inertial><mass value='3'/></inertial></link>" MOVES("j", "b", "a"), 1, 1, 1,
       "test.urdf:1: link 'a' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = "
       "zero`)",
       "1 link has a mass but no moments of inertia, which leaves these unknown (`missing_inertia = zero` takes them "
       "as "
       "zero): 'a'"},
      {"<link name='b'/><link name='a'><inertial><mass value='3'/><inertia ixx='1' ixy='0'/></inertial></link>" MOVES(
           "j", "b", "a"),
       1, 1, 1,
       "test.urdf:1: link 'a' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = "
       "zero`)",
       "1 link has a mass but no moments of inertia, which leaves these unknown (`missing_inertia = zero` takes them "
       "as "
       "zero): 'a'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000], said[900];
    psdm_error error;
    snprintf(text, sizeof text, "<robot name='r'>%s</robot>", cases[i].text);
    psdm_robot *robot = load(text),
               *strict = load_with(text, &(psdm_robot_options){.missing_inertia = PSDM_MISSING_UNKNOWN});
    psdm_robot *zero = load_with(text, &(psdm_robot_options){.missing_inertia = PSDM_MISSING_ZERO});
    if (psdm_robot_unknown_links(robot) != cases[i].unknown || psdm_robot_unknown_links(strict) != cases[i].strict ||
        psdm_robot_unknown_links(zero))
      fail_msg("%s", text);
    assert_int_equal(psdm_robot_ready(robot, &error), cases[i].ready ? PSDM_E_MISSING : PSDM_OK);
    if (cases[i].ready) assert_string_equal(psdm_error_format(&error, said, sizeof said), cases[i].ready);
    assert_int_equal(psdm_robot_warnings(robot), cases[i].warning ? 1 : 0);
    if (cases[i].warning) assert_string_equal(psdm_robot_warning(robot, 0), cases[i].warning);
    assert_int_equal(psdm_robot_notes(zero), cases[i].notes);
    assert_int_equal(psdm_robot_ready(zero, NULL), PSDM_OK);
    psdm_robot_free(robot);
    psdm_robot_free(strict);
    psdm_robot_free(zero);
  }
  /* a long list of names is cut, and the omitted names are counted */
  char text[8000] = "<robot><link name='b'/>";
  for (int k = 0; k < 30; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "<link name='a_rather_long_name_%d'/><joint name='j%d' type='revolute'><parent link='b'/><child "
             "link='a_rather_long_name_%d'/></joint>",
             k, k, k);
  psdm_robot *robot = load(strcat(text, "</robot>"));
  assert_int_equal(psdm_robot_warnings(robot), 1);
  assert_non_null(strstr(psdm_robot_warning(robot, 0), "30 moving links"));
  assert_non_null(strstr(psdm_robot_warning(robot, 0), "'a_rather_long_name_8' and 21 more"));
  psdm_robot_free(robot);
}

/* the default link */
TEST(default_link) {
  static const struct {
    const char *text, *link;
    bool chosen;
  } cases[] = {
      {"<link name='b'/><link name='a'/><link name='c'/>" MOVES("j", "b", "a") MOVES("k", "a", "c"), "c", false},
      {"<link name='b'/><link name='a'/><link name='c'/><link name='tool0'/>" MOVES("j", "b", "a") MOVES("k", "a", "c")
           FIXED("l", "c", "tool0"),
       "tool0", false},
      /* bolted to the base, or in mid-chain, but last in the file */
      {"<link name='b'/><link name='a'/><link name='c'/><link name='world'/>" MOVES("j", "b", "a") MOVES("k", "a", "c")
           FIXED("l", "b", "world"),
       "c", true},
      {"<link name='b'/><link name='a'/><link name='c'/><link name='cam'/>" MOVES("j", "b", "a") MOVES("k", "a", "c")
           FIXED("l", "a", "cam"),
       "c", true},
      /* branches: the longer one; of equals the last */
      {"<link name='b'/><link name='a'/><link name='c'/><link name='d'/>" MOVES("j", "b", "a") MOVES("k", "a", "c")
           MOVES("l", "b", "d"),
       "c", true},
      {"<link name='b'/><link name='a'/><link name='c'/><link name='d'/>" MOVES("j", "b", "a") MOVES("k", "a", "c")
           MOVES("l", "a", "d"),
       "d", true},
      /* children before their parents */
      {"<link name='b'/><link name='a'/><link name='c'/>" MOVES("k", "a", "c") MOVES("j", "b", "a"), "c", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    bool chosen;
    snprintf(text, sizeof text, "<robot name='r'>%s</robot>", cases[i].text);
    psdm_robot *robot = load(text);
    int joint = psdm_robot_default_link(robot, &chosen);
    assert_string_equal(psdm_robot_link_name(robot, joint), cases[i].link);
    assert_int_equal(chosen, cases[i].chosen);
    assert_true(psdm_robot_moves(robot, joint));
    int still = psdm_robot_find(robot, "world");
    if (still >= 0) assert_false(psdm_robot_moves(robot, still));
    /* pose and Jacobian mean it */
    psdm_work *work;
    const motion m = {{0.3, -0.4, 0.5}, {0}, {0}};
    double own[12], named[12], J[18], J_named[18];
    const psdm_eval_options link = {.link = psdm_robot_link_name(robot, joint)};
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_POSE, NULL, m.q, own), PSDM_OK);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_POSE, &link, m.q, named), PSDM_OK);
    assert_memory_equal(own, named, sizeof own);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_JACOBIAN, NULL, m.q, J), PSDM_OK);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_JACOBIAN, &link, m.q, J_named), PSDM_OK);
    assert_memory_equal(J, J_named, sizeof(double) * 6 * (size_t)psdm_robot_n(robot));
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

/* ---- one joint in closed form ---- */

typedef struct body {
  double m, c[3], I[3]; /* mass, its centre, principal moments about it in the link's axes */
} body;

static const body brick = {2.5, {0.3, -0.2, 0.5}, {0.07, 0.05, 0.09}};

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* R v, R about the unit axis a by angle q (Rodrigues) */
static void turn(const double a[3], double q, const double v[3], double out[3]) {
  const double cross[3] = {a[1] * v[2] - a[2] * v[1], a[2] * v[0] - a[0] * v[2], a[0] * v[1] - a[1] * v[0]};
  for (int i = 0; i < 3; i++) out[i] = v[i] * cos(q) + cross[i] * sin(q) + a[i] * dot(a, v) * (1 - cos(q));
}

/* one link on the base: torque or force, and the link's pose; the joint's own frame is the base moved by shift and
 * turned by 90 degrees about x, so that gravity (0, 0, -g) is (0, -g, 0) there */
static void one_joint(bool slides, const double a[3], const motion *m, double *tau, double pose[12]) {
  const double g[3] = {0, -9.81, 0}, shift[3] = {1, 2, 3};
  double c[3], p[3] = {0, 0, 0};
  double angle = slides ? 0 : m->q[0];
  turn(a, angle, brick.c, c);
  if (slides) {
    *tau = brick.m * (m->qdd[0] - dot(g, a));
    for (int i = 0; i < 3; i++) p[i] = a[i] * m->q[0];
  } else {
    double along = dot(a, brick.c), inertia = brick.m * (dot(brick.c, brick.c) - along * along);
    for (int i = 0; i < 3; i++) inertia += brick.I[i] * a[i] * a[i];
    const double moment[3] = {c[1] * g[2] - c[2] * g[1], c[2] * g[0] - c[0] * g[2], c[0] * g[1] - c[1] * g[0]};
    *tau = inertia * m->qdd[0] - brick.m * dot(a, moment);
  }
  /* base = shift + Rx(90) joint: (x, y, z) -> (x, -z, y) */
  pose[0] = shift[0] + p[0], pose[1] = shift[1] - p[2], pose[2] = shift[2] + p[1];
  for (int k = 0; k < 3; k++) {
    const double unit[3] = {k == 0, k == 1, k == 2};
    double v[3];
    turn(a, angle, unit, v);
    pose[3 + k] = v[0], pose[6 + k] = -v[2], pose[9 + k] = v[1];
  }
}

TEST(axes_in_every_direction) {
  static const double axes[][3] = {{1, 0, 0},         {0, 1, 0},      {0, 0, 1},     {-1, 0, 0},   {0, -1, 0},
                                   {0, 0, -1},        {0, 0, -7},     {0.1, 0, 0},   {1, 1, 1},    {-3, 4, 0},
                                   {0, 0.6, -0.8},    {0.6, 0, 0.8},  {1e-3, 0, -1}, {1e-9, 0, 1}, {0, 1e-9, -1},
                                   {1e-9, -1e-9, -1}, {-1, 1e-12, 0}, {1, 2, -1},    {1, 2, -1.2}, {5, -4, -3},
                                   {1e-5, 1, 1e-5},   {1, 0, 0}};
  rng g = rng_start("axes");
  enum { COUNT = sizeof axes / sizeof *axes };
  for (int i = 0; i < 2 * COUNT; i++) {
    bool slides = i % 2;
    const double *given = axes[i / 2];
    char axis[160] = "", text[1200];
    /* the last is URDF's default */
    if (i / 2 < COUNT - 1) snprintf(axis, sizeof axis, "<axis xyz='%.17g %.17g %.17g'/>", given[0], given[1], given[2]);
    snprintf(
        text, sizeof text,
        "<robot><link name='base'/><link name='arm'><inertial><origin xyz='%.17g %.17g %.17g'/><mass value='%.17g'/>"
        "<inertia ixx='%.17g' iyy='%.17g' izz='%.17g'/></inertial></link><joint name='j' type='%s'><parent "
        "link='base'/><child link='arm'/>"
        "<origin xyz='1 2 3' rpy='" HALF_PI " 0 0'/>%s</joint></robot>",
        brick.c[0], brick.c[1], brick.c[2], brick.m, brick.I[0], brick.I[1], brick.I[2],
        slides ? "prismatic" : "revolute", axis);
    psdm_robot *robot = load(text);
    double length = sqrt(dot(given, given)), a[3] = {given[0] / length, given[1] / length, given[2] / length};
    for (int k = 0; k < 5; k++) {
      motion m = random_motion(&g, 1);
      double tau, expected_tau, pose[12], expected[12];
      inverse(robot, &m, &tau);
      one_joint(slides, a, &m, &expected_tau, expected);
      pose_of(robot, &m, "arm", pose);
      expect_near(&tau, &expected_tau, 1, fabs(expected_tau), text);
      expect_near(pose, expected, 12, 4, text);
    }
    psdm_robot_free(robot);
  }
}

/* the frame's own directions give rotations of exact zeros and ones, so that derivations find their zeros */
TEST(aligned_axes_are_exact) {
  static const char *const axes[] = {"1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -2"};
  for (int i = 0; i < 6; i++) {
    char text[400];
    snprintf(
        text, sizeof text,
        "<robot><link name='b'/><link name='l'/><joint name='j' type='revolute'><parent link='b'/><child link='l'/>"
        "<origin rpy='0 3.14159 -1.5708'/><axis xyz='%s'/></joint></robot>",
        axes[i]);
    psdm_robot *robot = load(text);
    const motion zero = {{0}, {0}, {0}};
    const double expected[12] = {0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, -1}; /* Rz(-90) Ry(180) */
    double pose[12];
    pose_of(robot, &zero, "l", pose);
    for (int k = 0; k < 12; k++) assert_true(pose[k] == expected[k]);
    psdm_robot_free(robot);
  }
}

/* ---- inertia ---- */

#define BOX(name, xyz, rpy, mass, ixx, iyy, izz)                                                                    \
  "<link name='" name "'><inertial><origin xyz='" xyz "' rpy='" rpy "'/><mass value='" mass "'/><inertia ixx='" ixx \
  "' iyy='" iyy "' izz='" izz "'/></inertial></link>"
#define POINT(name, xyz, mass) BOX(name, xyz, "0 0 0", mass, "0", "0", "0")
#define JOINT(name, type, parent, child, rest) \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" rest "</joint>"

static void expect_parameters(const char *text, const double expected[10]) {
  psdm_robot *robot = load(text);
  double pi[10];
  assert_int_equal(psdm_robot_parameter_count(robot), 10);
  psdm_robot_parameters(robot, pi);
  expect_near(pi, expected, 10, 0, "parameters");
  psdm_robot_free(robot);
}

TEST(inertial_rotation) {
#define ONE(link) "<robot><link name='base'/>" link JOINT("j", "revolute", "base", "a", "") "</robot>"
  /* a quarter turn swaps two moments; the order is m mx my mz XX XY XZ YY YZ ZZ */
  expect_parameters(ONE(BOX("a", "0 0 0", "0 0 0", "1", "2", "3", "4")),
                    (const double[10]){1, 0, 0, 0, 2, 0, 0, 3, 0, 4});
  expect_parameters(ONE(BOX("a", "0 0 0", HALF_PI " 0 0", "1", "2", "3", "4")),
                    (const double[10]){1, 0, 0, 0, 2, 0, 0, 4, 0, 3});
  expect_parameters(ONE(BOX("a", "0 0 0", "0 " HALF_PI " 0", "1", "2", "3", "4")),
                    (const double[10]){1, 0, 0, 0, 4, 0, 0, 3, 0, 2});
  expect_parameters(ONE(BOX("a", "0 0 0", "0 0 " HALF_PI, "1", "2", "3", "4")),
                    (const double[10]){1, 0, 0, 0, 3, 0, 0, 2, 0, 4});
  /* an eighth: R diag(2, 4, 3) R^T has (2 + 4)/2 twice and (2 - 4)/2 beside */
  expect_parameters(ONE(BOX("a", "0 0 0", "0 0 0.78539816339744828", "1", "2", "4", "3")),
                    (const double[10]){1, 0, 0, 0, 3, -1, 0, 3, 0, 3});
  /* all six entries and a centre: moments about it, products with the sign of the matrix (minus the integral), then
   * Steiner */
  expect_parameters(ONE("<link name='a'><inertial><origin xyz='1 2 3'/><mass value='2'/>"
                        "<inertia ixx='10' ixy='0.1' ixz='0.2' iyy='20' iyz='0.3' izz='25'/></inertial></link>"),
                    (const double[10]){2, 2, 4, 6, 10 + 2 * 13, 0.1 - 4, 0.2 - 6, 20 + 2 * 10, 0.3 - 12, 25 + 2 * 5});
  /* the rotation turns the tensor, not the centre */
  expect_parameters(ONE(BOX("a", "0 1 0", "0 0 " HALF_PI, "2", "5", "6", "7")),
                    (const double[10]){2, 0, 2, 0, 6 + 2, 0, 0, 5, 0, 7 + 2});
#undef ONE
}

TEST(fixed_links_are_lumped) {
  /* points of mass 2 at (0.1, 0, 0) and 3 at (1, 2, 3) */
  const double two[10] = {5, 0.2 + 3, 6, 9, 3 * 13, -3 * 2, -3 * 3, 0.02 + 3 * 10, -3 * 6, 0.02 + 3 * 5};
#define HEAD "<robot><link name='base'/>" JOINT("j", "revolute", "base", "a", "") POINT("a", "0.1 0 0", "2")
  expect_parameters(HEAD POINT("f", "0 0 0", "3") JOINT("k", "fixed", "a", "f", "<origin xyz='1 2 3'/>") "</robot>",
                    two);
  /* the same through a turned frame: Rz(90) takes (2, 0, 0) to (0, 2, 0) */
  expect_parameters(HEAD POINT("f", "2 0 3", "3")
                        JOINT("k", "fixed", "a", "f", "<origin xyz='1 0 0' rpy='0 0 " HALF_PI "'/>") "</robot>",
                    two);
  /* through a chain of fixed joints, one of them with a meaningless axis */
  expect_parameters(HEAD "<link name='g'/>" POINT("f", "0 0 3", "3")
                        JOINT("k", "fixed", "a", "g", "<origin xyz='1 0 0'/><axis xyz='0 0 0'/>")
                            JOINT("l", "fixed", "g", "f", "<origin xyz='0 2 0'/>") "</robot>",
                    two);
  /* two on one link */
  expect_parameters(HEAD POINT("f", "0 0 0", "1") POINT("g", "0 0 0", "2")
                        JOINT("k", "fixed", "a", "f", "<origin xyz='1 2 3'/>")
                            JOINT("l", "fixed", "a", "g", "<origin xyz='1 2 3'/>") "</robot>",
                    two);
  /* a link fixed to the base changes no torque */
  expect_parameters("<robot>" POINT("base", "1 1 1", "50") POINT("rail", "1 1 1", "9")
                        JOINT("k", "fixed", "base", "rail", "<origin xyz='1 2 3'/>") POINT("a", "0.1 0 0", "2")
                            POINT("f", "0 0 0", "3") JOINT("j", "revolute", "rail", "a", "")
                                JOINT("m", "fixed", "a", "f", "<origin xyz='1 2 3'/>") "</robot>",
                    two);
#undef HEAD

  /* turned boxes, lumped against the same mass written as one link: the tensor by hand, Rx(30) diag(1, 2, 3)
   * Rx(30)^T */
  const double c = 0.86602540378443865, s = 0.5, yy = c * c * 2 + s * s * 3, zz = s * s * 2 + c * c * 3,
               yz = c * s * (2 - 3);
  expect_parameters("<robot><link name='base'/><link name='a'/>" JOINT("j", "revolute", "base", "a", "")
                        BOX("f", "0 0 0", "0 0 0", "4", "1", "2", "3") JOINT(
                            "k", "fixed", "a", "f", "<origin xyz='0.5 0 0' rpy='0.52359877559829882 0 0'/>") "</robot>",
                    (const double[10]){4, 2, 0, 0, 1, 0, 0, yy + 1, yz, zz + 1});
}

/* ---- chains against YAML by hand ---- */

TEST(chain_equals_yaml) {
  psdm_robot *urdf = load(
      "<robot><link name='base'/>" BOX("one", "0.1 0.2 0", "0 0 0", "3", "0.1", "0.2", "0.15")
          BOX("two", "0 0.1 0.3", "0 0 0", "2", "0.05", "0.06", "0.07")
              BOX("three", "0 0 -0.2", "0 0 0", "1.5", "0.02", "0.03", "0.04")
                  JOINT("a", "revolute", "base", "one", "<origin xyz='0 0 0.5'/><axis xyz='0 0 1'/>") JOINT(
                      "b", "continuous", "one", "two", "<origin xyz='0.4 0 0' rpy='0.3 -0.2 0.9'/><axis xyz='0 1 0'/>")
                      JOINT("c", "prismatic", "two", "three",
                            "<origin xyz='0 0.2 0.1' rpy='0 0 1'/><axis xyz='-1 0 0'/>") "</robot>");
  /* z is the axis of a YAML joint: it is brought to y by Rx(-90), to -x by Ry(-90), and the link's frame is turned
   * back by a fixed joint */
  psdm_robot *yaml =
      parse_robot("gravity: [0, 0, -9.81]\nconvention: dh\njoints:\n"
                  "  - {name: a, origin: {xyz: [0, 0, 0.5]}}\n"
                  "  - {name: frame, type: fixed, parent: a, origin: {xyz: [0.4, 0, 0], rpy: [0.3, -0.2, 0.9]}}\n"
                  "  - {name: b, parent: frame, origin: {rpy: [-pi/2, 0, 0]}}\n"
                  "  - {name: b_link, type: fixed, parent: b, origin: {rpy: [pi/2, 0, 0]}}\n"
                  "  - {name: c_frame, type: fixed, parent: b_link, origin: {xyz: [0, 0.2, 0.1], rpy: [0, 0, 1]}}\n"
                  "  - {name: c, type: prismatic, parent: c_frame, origin: {rpy: [0, -pi/2, 0]}}\n"
                  "  - {name: c_link, type: fixed, parent: c, origin: {rpy: [0, pi/2, 0]}}\n"
                  "links:\n"
                  "  - {name: one, mass: 3, com: [0.1, 0.2, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}\n"
                  "  - {name: x1, mass: 0}\n  - {name: x2, mass: 0}\n"
                  "  - {name: two, mass: 2, com: [0, 0.1, 0.3], inertia: {xx: 0.05, yy: 0.06, zz: 0.07}}\n"
                  "  - {name: x3, mass: 0}\n  - {name: x4, mass: 0}\n"
                  "  - {name: three, mass: 1.5, com: [0, 0, -0.2], inertia: {xx: 0.02, yy: 0.03, zz: 0.04}}\n");
  rng g = rng_start("chain");
  expect_part(yaml, urdf, NULL, &g);
  psdm_robot_free(urdf);
  psdm_robot_free(yaml);
}

/* ---- a tree to cut: a body with two arms, a mimicking finger and fixed parts everywhere ---- */

#define TORSO                                                                                                   \
  "<link name='ground'/>" BOX("torso", "0 0.1 0.4", "0.1 0 0", "12", "0.9", "0.8", "0.4")                       \
      JOINT("waist", "revolute", "ground", "torso", "<origin xyz='0 0 0.7' rpy='0.2 0 0'/><axis xyz='0 0 1'/>") \
          BOX("head", "0 0 0.1", "0 0 0", "2", "0.02", "0.02", "0.01")                                          \
              JOINT("neck", "fixed", "torso", "head", "<origin xyz='0 0 0.6' rpy='0 0.3 0'/>")
#define LEFT                                                                                                        \
  BOX("upper", "0.2 0 0.02", "0 0 0.4", "3", "0.01", "0.05", "0.05")                                                \
  BOX("lower", "0.15 0.01 0", "0 0 0", "2", "0.01", "0.03", "0.03")                                                 \
  BOX("slider", "0 0 0.1", "0 0 0", "0.8", "0.003", "0.002", "0.002")                                               \
  POINT("camera", "0.01 0 0", "0.2")                                                                                \
  JOINT("shoulder", "revolute", "torso", "upper", "<origin xyz='0.1 0.3 0.4' rpy='0 0 1.1'/><axis xyz='0 1 0.2'/>") \
  JOINT("elbow", "continuous", "upper", "lower", "<origin xyz='0.4 0 0' rpy='0.5 0 0'/><axis xyz='0 -1 0'/>")       \
  JOINT("slide", "prismatic", "lower", "slider", "<origin xyz='0.3 0 0.05' rpy='0 0.4 0'/><axis xyz='1 0 0.5'/>")   \
  JOINT("mount", "fixed", "lower", "camera", "<origin xyz='0.1 0 0.1' rpy='0 0 0.3'/>")
#define RIGHT                                                                                                  \
  BOX("claw", "0.1 0 0", "0 0 0", "1", "0.004", "0.005", "0.006")                                              \
  BOX("finger", "0.05 0 0", "0 0 0", "0.4", "0.001", "0.001", "0.001")                                         \
  BOX("thumb", "0.03 0.01 0", "0 0 0", "0.3", "0.001", "0.001", "0.001")                                       \
  JOINT("thumb_joint", "revolute", "claw", "thumb",                                                            \
        "<origin xyz='0.1 0 0.1'/><mimic joint='finger_joint' multiplier='0.5' offset='-0.1'/>")               \
  JOINT("finger_joint", "revolute", "claw", "finger",                                                          \
        "<origin xyz='0.2 0 0'/><axis xyz='0 0 -1'/><mimic joint='claw_joint' multiplier='-2' offset='0.3'/>") \
  JOINT("claw_joint", "revolute", "torso", "claw", "<origin xyz='0.1 -0.3 0.4' rpy='0 0 -1'/><axis xyz='0 1 0'/>")
#define FULL "<robot name='full'>" TORSO LEFT RIGHT "</robot>"

TEST(mimic_couples) {
  psdm_robot *robot = load(FULL), *tree;
  enum { N = 5, LINKS = 7 };
  double G[LINKS * N], c[LINKS];
  assert_true(psdm_robot_coupled(robot));
  assert_int_equal(psdm_robot_n(robot), N);
  assert_int_equal(psdm_robot_links(robot), LINKS);
  psdm_robot_coupling(robot, G, c);
  /* moving joints in file order: waist shoulder elbow slide thumb finger claw; q: waist shoulder elbow slide claw */
  const double expected_G[LINKS * N] = {1, 0, 0, 0, 0, 0, 1,  0, 0, 0, 0, 0,  1, 0, 0, 0, 0, 0,
                                        1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, -2, 0, 0, 0, 0, 1};
  const double expected_c[LINKS] = {0, 0, 0, 0, 0.5 * 0.3 - 0.1, 0.3, 0};
  expect_near(G, expected_G, LINKS * N, 0, "G");
  expect_near(c, expected_c, LINKS, 0, "c");
  assert_int_equal(joint_named(robot, "thumb_joint")->q, -1);
  assert_int_equal(joint_named(robot, "claw_joint")->q, 4);

  /* the same tree without mimic: tau = G^T tau_tree at q_tree = G q + c */
  char text[8000] = FULL;
  for (char *at; (at = strstr(text, "<mimic"));) memset(at, ' ', strcspn(at, ">") + 1);
  tree = load(text);
  assert_int_equal(psdm_robot_n(tree), LINKS);
  rng g = rng_start("mimic");
  for (int k = 0; k < 10; k++) {
    motion m = random_motion(&g, N), t = {{0}, {0}, {0}};
    double tau[N], tau_tree[LINKS], expected[N] = {0};
    for (int i = 0; i < LINKS; i++) {
      t.q[i] = c[i];
      for (int j = 0; j < N; j++)
        t.q[i] += G[i * N + j] * m.q[j], t.qd[i] += G[i * N + j] * m.qd[j], t.qdd[i] += G[i * N + j] * m.qdd[j];
    }
    inverse(robot, &m, tau);
    inverse(tree, &t, tau_tree);
    for (int i = 0; i < LINKS; i++)
      for (int j = 0; j < N; j++) expected[j] += G[i * N + j] * tau_tree[i];
    expect_near(tau, expected, N, max_absolute(tau_tree, LINKS), "torques");
  }
  psdm_robot_free(tree);
  psdm_robot_free(robot);
}

TEST(order_does_not_matter) {
  psdm_robot *one = load(FULL), *other = load("<robot>" RIGHT LEFT TORSO "</robot>");
  rng g = rng_start("order");
  assert_string_equal(psdm_robot_joint(other, 0)->name, "thumb_joint"); /* but joints are numbered in file order */
  assert_int_equal(joint_named(other, "claw_joint")->q, 0);
  assert_int_equal(joint_named(other, "waist")->q, 4);
  expect_part(one, other, NULL, &g);
  expect_part(other, one, NULL, &g);
  psdm_robot_free(one);
  psdm_robot_free(other);
}

/* ---- parts ---- */

TEST(another_root) {
  /* gravity is (0, 0, -9.81) in the new base's axes: the left arm alone, on a torso that does not move */
  const psdm_robot_options at_torso = {.root = "torso"}, at_ground = {.root = "ground"}, at_upper = {.root = "upper"};
  psdm_robot *part = load_with("<robot>" TORSO LEFT "</robot>", &at_torso),
             *hand = load("<robot><link name='torso'/>" LEFT "<link name='head'/>" JOINT(
                 "neck", "fixed", "torso", "head", "<origin xyz='0 0 0.6' rpy='0 0.3 0'/>") "</robot>");
  rng g = rng_start("root");
  assert_string_equal(psdm_robot_base_name(part), "torso");
  assert_int_equal(psdm_robot_n(part), 3);
  assert_int_equal(psdm_robot_joints(part), 5);
  assert_int_equal(psdm_robot_find(part, "waist"), -1);
  assert_int_equal(psdm_robot_notes(part), 1);
  assert_string_equal(psdm_robot_note(part, 0), "1 joint is omitted");
  expect_part(hand, part, NULL, &g);
  psdm_robot_free(part);
  psdm_robot_free(hand);
  part = load_with(FULL, &at_upper);
  assert_int_equal(psdm_robot_n(part), 2);
  assert_string_equal(psdm_robot_note(part, 0), "6 joints are omitted");
  psdm_robot_free(part);
  /* the root that it already has */
  part = load_with(FULL, &at_ground);
  assert_int_equal(psdm_robot_joints(part), 9);
  assert_int_equal(psdm_robot_notes(part), 0);
  psdm_robot_free(part);
}

TEST(one_tip) {
  /* waist, shoulder and elbow with the head and the camera, which are fixed to their links; neither slider nor claw */
  const psdm_robot_options to_lower = {.tip = "lower"}, to_camera = {.tip = "camera"},
                           between = {.root = "torso", .tip = "upper"};
  psdm_robot *part = load_with(FULL, &to_lower), *same = load_with(FULL, &to_camera), *two = load_with(FULL, &between);
  psdm_robot *hand = load(
      "<robot>" TORSO BOX("upper", "0.2 0 0.02", "0 0 0.4", "3", "0.01", "0.05", "0.05")
          BOX("lower", "0.15 0.01 0", "0 0 0", "2", "0.01", "0.03", "0.03") POINT("camera", "0.01 0 0", "0.2")
              JOINT("shoulder", "revolute", "torso", "upper",
                    "<origin xyz='0.1 0.3 0.4' rpy='0 0 1.1'/><axis xyz='0 1 0.2'/>")
                  JOINT("elbow", "continuous", "upper", "lower",
                        "<origin xyz='0.4 0 0' rpy='0.5 0 0'/><axis xyz='0 -1 0'/>")
                      JOINT("mount", "fixed", "lower", "camera", "<origin xyz='0.1 0 0.1' rpy='0 0 0.3'/>") "</robot>");
  rng g = rng_start("tip");
  assert_int_equal(psdm_robot_n(part), 3);
  assert_int_equal(psdm_robot_joints(part), 5);
  assert_false(psdm_robot_coupled(part));
  assert_string_equal(psdm_robot_note(part, 0), "4 joints are omitted");
  expect_part(hand, part, NULL, &g);
  expect_part(hand, same, NULL, &g);
  assert_int_equal(psdm_robot_n(two), 1);
  assert_string_equal(psdm_robot_joint(two, 0)->name, "shoulder");
  psdm_robot_free(part);
  psdm_robot_free(same);
  psdm_robot_free(two);
  psdm_robot_free(hand);
}

/* locked: like the full robot with that joint held at its value */
TEST(locks) {
  static const psdm_lock values[] = {
      {"waist", 0.7}, {"shoulder", -1.2}, {"elbow", 2.0}, {"slide", 0.35}, {"claw_joint", 0.6}};
  psdm_robot *full = load(FULL);
  rng g = rng_start("locks");
  /* every set of joints but all of them */
  for (int set = 1; set < 31; set++) {
    psdm_lock chosen[5];
    double rest[5] = {0};
    int count = 0;
    for (int i = 0; i < 5; i++)
      if (set >> i & 1) chosen[count++] = values[i], rest[joint_named(full, values[i].joint)->q] = values[i].value;
    const psdm_robot_options options = {.lock_count = count, .locks = chosen};
    psdm_robot *part = load_with(FULL, &options);
    assert_int_equal(psdm_robot_n(part), 5 - count);
    assert_int_equal(psdm_robot_joints(part), 9);
    for (int i = 0; i < count; i++) assert_int_equal(joint_named(part, chosen[i].joint)->type, PSDM_FIXED);
    /* a joint that mimics a locked joint is locked, and so is one that mimics it */
    bool claw = set >> 4 & 1;
    assert_int_equal(joint_named(part, "finger_joint")->type, claw ? PSDM_FIXED : PSDM_REVOLUTE);
    assert_int_equal(joint_named(part, "thumb_joint")->type, claw ? PSDM_FIXED : PSDM_REVOLUTE);
    assert_true(psdm_robot_coupled(part) == !claw);
    expect_part(full, part, rest, &g);
    psdm_robot_free(part);
  }
  psdm_robot_free(full);
}

/* the follower of a locked joint may be in another part: cutting after locking leaves nothing to follow */
TEST(lock_then_cut) {
  const psdm_lock claw = {"claw", 0.2}; /* a link's name stands for its joint */
  const psdm_robot_options options = {.tip = "thumb", .lock_count = 1, .locks = &claw};
  psdm_robot *part = load_with(FULL, &options);
  assert_int_equal(psdm_robot_n(part), 1);
  /* waist, neck, claw, thumb and the finger, which is fixed to the claw now */
  assert_int_equal(psdm_robot_joints(part), 5);
  psdm_robot_free(part);
}

TEST(refusals) {
  static const char transmission[] =
      "convention: dh\njoints:\n  - {name: A}\n  - {name: B}\ntransmission: [[1, 0], [1, 1]]\n";
#define LOCK(joint, value)                          \
  {                                                 \
    .lock_count = 1, .locks = (const psdm_lock[]) { \
      { joint, value }                              \
    }                                               \
  }
  const struct {
    psdm_robot_options options;
    const char *sentence;
  } cases[] = {
      {{.root = "wrist"}, "test.urdf: root 'wrist': the robot has no such link; did you mean 'waist'?"},
      {{.tip = "wrist"}, "test.urdf: tip 'wrist': the robot has no such link; did you mean 'waist'?"},
      {{.tip = ""}, "test.urdf: tip '': the robot has no such link"},
      {{.root = "a\nb"}, "test.urdf: root 'a\\x0ab': the robot has no such link"},
      {LOCK("wrist", 0), "test.urdf: lock 'wrist': the robot has no such joint; did you mean 'waist'?"},
      {LOCK("neck", 0), "test.urdf: lock 'neck': this joint does not move"},
      {LOCK("finger_joint", 0), "test.urdf: lock 'finger_joint': this joint follows others; lock those"},
      {LOCK("elbow", NAN), "test.urdf: lock 'elbow': its position is not a finite number"},
      {LOCK("elbow", -INFINITY), "test.urdf: lock 'elbow': its position is not a finite number"},
      {{.lock_count = 2, .locks = (const psdm_lock[]){{"elbow", 1}, {"elbow", 2}}},
       "test.urdf: lock 'elbow': this joint does not move"},
      {{.lock_count = 2, .locks = (const psdm_lock[]){{"claw_joint", 1}, {"thumb_joint", 2}}},
       "test.urdf: lock 'thumb_joint': this joint does not move"},
      {{.root = "claw"},
       "test.urdf: root 'thumb_joint': this joint follows one that is removed; keep or lock that one"},
      {{.root = "camera"}, "test.urdf:1:1: no joint moves"},
      {{.lock_count = 5,
        .locks = (const psdm_lock[]){{"waist", 0}, {"shoulder", 0}, {"elbow", 0}, {"slide", 0}, {"claw_joint", 0}}},
       "test.urdf:1:1: no joint moves"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refused(FULL, &cases[i].options, PSDM_E_ROBOT, cases[i].sentence);
  const psdm_robot_options lock = LOCK("A", 0), root = {.root = "A"};
  refused(transmission, &lock, PSDM_E_ROBOT, "test.urdf:5: a robot with a transmission matrix cannot be cut or locked");
  refused(transmission, &root, PSDM_E_ROBOT, "test.urdf:5: a robot with a transmission matrix cannot be cut or locked");
#undef LOCK
}

/* ---- options of reading ---- */

TEST(snapping) {
  const char *text = "<robot>\n<link name='b'/>\n<link name='l'><inertial><origin rpy='1.5708 0 0'/><mass value='1'/>"
                     "<inertia ixx='1' iyy='1' izz='1.5'/></inertial></link>\n<joint name='j' type='revolute'><parent "
                     "link='b'/><child link='l'/>\n"
                     "<origin rpy='1.5708 1.5709 3.14159'/></joint></robot>";
  const psdm_robot_options keep = {.no_snap = true};
  const motion zero = {{0}, {0}, {0}};
  double pose[12], pi[10];
  psdm_robot *robot = load(text), *kept = load_with(text, &keep);
  assert_int_equal(psdm_robot_notes(robot), 2); /* 1.5709 is 1e-4 off: it is kept */
  assert_string_equal(psdm_robot_note(robot, 0), "line 5: rpy 1.5708 snapped to 90 deg (`no_snap` keeps it)");
  assert_string_equal(psdm_robot_note(robot, 1), "line 5: rpy 3.14159 snapped to 180 deg (`no_snap` keeps it)");
  /* R13 = cos(yaw) sin(pitch) cos(roll) + sin(yaw) sin(roll): yaw 180 and roll 90 leave an exact zero */
  pose_of(robot, &zero, "l", pose);
  assert_true(pose[5] == 0 && pose[8] != 0);
  assert_int_equal(psdm_robot_notes(kept), 0);
  pose_of(kept, &zero, "l", pose);
  assert_true(fabs(pose[5] - (cos(3.14159) * sin(1.5709) * cos(1.5708) + sin(3.14159) * sin(1.5708))) < 1e-16 &&
              pose[5] != 0);
  /* inertial frames are numbers, not geometry */
  psdm_robot_parameters(robot, pi);
  assert_true(pi[8] != 0 && fabs(pi[8]) < 1e-5);
  psdm_robot_free(robot);
  psdm_robot_free(kept);
}

TEST(gravity) {
  const double sideways[3] = {0, 3, 0};
  const psdm_robot_options options = {.gravity = sideways};
  psdm_robot *plain = load(FULL), *other = load_with(FULL, &options);
  const double down[3] = {0, 0, -9.81};
  assert_memory_equal(psdm_robot_gravity(plain), down, sizeof down);
  assert_memory_equal(psdm_robot_gravity(other), sideways, sizeof sideways);
  psdm_robot_free(plain);
  psdm_robot_free(other);
}

/* ---- foreign XML ---- */

TEST(harmless_xml) {
  static const char *const texts[] = {
      "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\" standalone='yes'?>\n<?xml-stylesheet "
      "href='http://192.0.2.1/x'?>\n<!-- <robot> -->\n" FULL "<!-- end --><?end?>\n",
      " \t\r\n" FULL,
      "<robot xmlns='http://drake.mit.edu' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='x "
      "model.xsd'>" TORSO LEFT RIGHT "</robot>",
      "<robot xmlns:o='u'><o:link name='torso'/><o:joint/>" TORSO "<o:x><link name='torso'/></o:x>" LEFT RIGHT
      "</robot>",
      "<robot><![CDATA[<link name='torso'/>]]> text &amp; more " TORSO
      "<gazebo><link name='torso'/><joint/></gazebo>" LEFT "<?pi <link/>?>" RIGHT "</robot>",
      "<robot><material name='torso'><joint/></material><transmission name='waist'><joint "
      "name='waist'/></transmission>" TORSO LEFT RIGHT "</robot>",
  };
  psdm_robot *plain = load(FULL);
  rng g = rng_start("harmless");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    psdm_robot *robot = load(texts[i]);
    assert_int_equal(psdm_robot_joints(robot), 9);
    assert_int_equal(psdm_robot_notes(robot), 0);
    expect_part(plain, robot, NULL, &g);
    psdm_robot_free(robot);
  }
  /* an invalid version, blanks before the declaration: many files have them, and they do no harm */
  static const struct {
    const char *text, *note;
  } odd[] = {{"<?xml version=\"0.0\" ?>\n" FULL, "line 1: unknown XML version 0.0; the file is read as version 1.0"},
             {"\xEF\xBB\xBF<?xml version='2.0' encoding='latin1'?>" FULL,
              "line 1: unknown XML version 2.0; the file is read as version 1.0"},
             {"\n\r\n \t<?xml version=\"1.0\"\n?>\n" FULL,
              "line 3: an XML declaration belongs at the very beginning; it is ignored"}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    psdm_robot *robot = load(odd[i].text);
    assert_int_equal(psdm_robot_notes(robot), 1);
    assert_string_equal(psdm_robot_note(robot, 0), odd[i].note);
    expect_part(plain, robot, NULL, &g);
    psdm_robot_free(robot);
  }
  psdm_robot_free(plain);

  /* inside elements: attributes in any quotes and blanks, comments, prefixes; foreign content is not read */
  psdm_robot *robot = load("<robot name = \"a &amp; &#x62;\"\n xmlns:o='u' o:name='no'><link\tname='b'/><link "
                           "name='l'><visual><origin xyz='x'/></visual><collision/>"
                           "<o:inertial/><inertial><!-- <mass value='9'/> --><mass\nvalue=' \t2\n' "
                           "o:value='7'/><inertia ixx='1' iyy='1' izz='1' o:izz='x'/></inertial></link>"
                           "<joint name='j' type='prismatic'><parent link='b'/><child link='l'/><o:origin xyz='9 9 "
                           "9'/><calibration rising='0'/>"
                           "<safety_controller k_velocity='10'/><origin xyz='\n1\t2  3 ' /></joint></robot>");
  double pi[10], pose[12];
  const motion zero = {{0}, {0}, {0}};
  assert_string_equal(psdm_robot_name(robot), "a & b");
  psdm_robot_parameters(robot, pi);
  assert_true(pi[0] == 2);
  pose_of(robot, &zero, "l", pose);
  assert_true(pose[0] == 1 && pose[1] == 2 && pose[2] == 3);
  psdm_robot_free(robot);
}

/* told apart from YAML by its first character, not by its name */
TEST(from_a_file) {
  char path[] = "/tmp/psdm-urdf-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, FULL, strlen(FULL)), (ssize_t)strlen(FULL));
  close(file);
  psdm_robot *robot;
  assert_int_equal(psdm_robot_load(path, NULL, NULL, &robot, NULL), PSDM_OK);
  assert_string_equal(psdm_robot_name(robot), "full");
  psdm_robot_free(robot);
  unlink(path);
}

/* the library's own allocations; libxml2 has malloc */
TEST(every_allocation_may_fail) {
  const psdm_lock lock = {"elbow", 1};
  const psdm_robot_options all = {.root = "torso", .tip = "slider", .lock_count = 1, .locks = &lock};
  char text[10000] = "<robot name='full'>" TORSO LEFT;
  for (int i = 0; i < 300; i++) strcat(text, "<gazebo/><link_/>");
  strcat(text, "</robot>");
  for (long at = 1;; at++) {
    counting c;
    psdm_robot *robot;
    psdm_error error;
    counting_init(&c, at);
    psdm_status status = psdm_robot_parse(text, strlen(text), "test.urdf", &all, &c.allocator, &robot, &error);
    if (status) {
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_int_equal(error.status, PSDM_E_MEMORY);
      assert_null(robot);
    }
    psdm_robot_free(robot);
    assert_int_equal(c.live, 0);
    if (!status) break;
  }
}

TEST_MAIN(limits_and_dynamics, massless_links, links_without_inertial, default_link, axes_in_every_direction,
          aligned_axes_are_exact, inertial_rotation, fixed_links_are_lumped, chain_equals_yaml, mimic_couples,
          order_does_not_matter, another_root, one_tip, locks, lock_then_cut, refusals, snapping, gravity, harmless_xml,
          from_a_file, every_allocation_may_fail)
