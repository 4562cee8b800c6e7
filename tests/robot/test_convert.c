/* Conversion keeps the dynamics and the link frames: 200 random trees through YAML and URDF and back, random URDFs
 * through YAML, the MATLAB toolbox's tables. Compared by joint and link names at random states, to 1e-12. */
#define _POSIX_C_SOURCE 200809L /* fmemopen, mkstemp */
#include <math.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum { MOST = 16 };

static const psdm_robot_options as_written = {.no_snap = true};

static psdm_robot *reload(const psdm_robot *robot, psdm_robot_format format, const char *text) {
  char path[64], sentence[900];
  psdm_output *out;
  psdm_robot *again;
  psdm_error error;
  snprintf(path, sizeof path, "/tmp/psdm-convert-%ld.robot", (long)getpid());
  assert_int_equal(psdm_output_open(path, NULL, &out, &error), PSDM_OK);
  psdm_robot_write(robot, format, out);
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
  psdm_robot_options options = as_written;
  if (format == PSDM_FORMAT_URDF) options.gravity = psdm_robot_gravity(robot); /* not part of URDF */
  psdm_status status = psdm_robot_load(path, &options, NULL, &again, &error);
  unlink(path);
  if (status) fail_msg("%s\nafter conversion of\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return again;
}

static void compare(psdm_robot *a, psdm_robot *b, rng *g, const char *text) {
  int n = psdm_robot_n(a);
  psdm_work *wa, *wb;
  double q[MOST], qd[MOST], qdd[MOST], ta[MOST], tb[MOST], Ta, Tb, Ua, Ub, pa[12], pb[12];
  assert_int_equal(psdm_robot_n(b), n);
  assert_int_equal(psdm_work_new(a, NULL, &wa), PSDM_OK);
  assert_int_equal(psdm_work_new(b, NULL, &wb), PSDM_OK);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++)
      q[i] = rng_uniform(g, -3, 3), qd[i] = rng_uniform(g, -1, 1), qdd[i] = rng_uniform(g, -2, 2);
    assert_int_equal(psdm_inverse(a, wa, q, qd, qdd, ta), PSDM_OK);
    assert_int_equal(psdm_inverse(b, wb, q, qd, qdd, tb), PSDM_OK);
    assert_int_equal(psdm_energy(a, wa, q, qd, &Ta, &Ua), PSDM_OK);
    assert_int_equal(psdm_energy(b, wb, q, qd, &Tb, &Ub), PSDM_OK);
    if (!(max_difference(ta, tb, n) <= 1e-12 * max_absolute(ta, n)))
      fail_msg("torques differ by %.3g for\n%s", max_difference(ta, tb, n) / max_absolute(ta, n), text);
    if (!(fabs(Ta - Tb) <= 1e-12 * (fabs(Ta) + 1)) || !(fabs(Ua - Ub) <= 1e-12 * (fabs(Ua) + 100)))
      fail_msg("energies differ for\n%s", text);
    for (int j = 0; j < psdm_robot_joints(a); j++) {
      int other = psdm_robot_find(b, psdm_robot_link_name(a, j));
      assert_true(other >= 0);
      assert_string_equal(psdm_robot_link_name(b, other), psdm_robot_link_name(a, j));
      assert_int_equal(psdm_pose(a, wa, q, j, pa), PSDM_OK);
      assert_int_equal(psdm_pose(b, wb, q, other, pb), PSDM_OK);
      if (!(max_difference(pa, pb, 12) < 1e-12))
        fail_msg("pose of %s differs by %.3g for\n%s", psdm_robot_link_name(a, j), max_difference(pa, pb, 12), text);
    }
  }
  psdm_work_free(wa, NULL);
  psdm_work_free(wb, NULL);
}

TEST(test_round_trips) {
  rng g = rng_start("round trips");
  static char text[64 * 1024];
  char loss[160];
  int urdfs = 0;
  for (int k = 0; k < 200; k++) {
    random_options options = {1, 8, k % 2, true, true, k % 4 == 1};
    random_robot_text(&g, &options, text, sizeof text);
    psdm_robot *robot;
    assert_int_equal(psdm_robot_parse(text, strlen(text), "random.yaml", &as_written, NULL, &robot, NULL), PSDM_OK);
    psdm_robot *yaml = reload(robot, PSDM_FORMAT_YAML, text);
    compare(robot, yaml, &g, text);
    if (!psdm_robot_loss(robot, PSDM_FORMAT_URDF, 0, loss, sizeof loss)) {
      psdm_robot *urdf = reload(yaml, PSDM_FORMAT_URDF, text), *back = reload(urdf, PSDM_FORMAT_YAML, text);
      compare(robot, urdf, &g, text);
      compare(robot, back, &g, text);
      psdm_robot_free(urdf);
      psdm_robot_free(back);
      urdfs++;
    }
    psdm_robot_free(yaml);
    psdm_robot_free(robot);
  }
  printf("%d of 200 went through URDF too\n", urdfs);
  assert_true(urdfs >= 100);
}

/* a tilt of 1e-8 rad is not rounding: its cosine is one, but gravity still causes torques */
TEST(test_small_tilts_are_kept) {
  rng g = rng_start("small tilts");
  static const char *const tilts[] = {"1e-5", "-1e-7", "1e-8", "-1e-9", "1e-11", "3.1415926535", "-3.14159265"};
  char text[512];
  for (size_t k = 0; k < sizeof tilts / sizeof *tilts; k++)
    for (psdm_robot_format format = PSDM_FORMAT_YAML; format <= PSDM_FORMAT_URDF; format++) {
      psdm_robot *robot;
      snprintf(
          text, sizeof text,
          "gravity: [0, 0, -9.81]\nconvention: modified-dh\njoints:\n  - {name: j1, theta: 0, d: 0, a: 0, alpha: %s}\n"
          "links:\n  - {mass: 1, com: [0, 1, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n",
          tilts[k]);
      assert_int_equal(psdm_robot_parse(text, strlen(text), "tilt.yaml", &as_written, NULL, &robot, NULL), PSDM_OK);
      psdm_robot *again = reload(robot, format, text);
      psdm_work *work;
      double q = rng_uniform(&g, -1, 1), tau[2];
      assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
      assert_int_equal(psdm_gravity(robot, work, &q, &tau[0]), PSDM_OK);
      assert_int_equal(psdm_gravity(again, work, &q, &tau[1]), PSDM_OK);
      /* the torque comes from the tilt alone: compared relative to itself, except for the digits of a printed pi */
      if (!(fabs(tau[0] - tau[1]) <= 1e-14 * fabs(tau[0]) + 1e-14))
        fail_msg("%.17g became %.17g for\n%s", tau[0], tau[1], text);
      psdm_work_free(work, NULL);
      psdm_robot_free(again);
      psdm_robot_free(robot);
    }
}

/* ---- random URDFs: skew axes, fixed links with inertia, inertial rotations, mimic, any order ---- */

static char *random_urdf(rng *g, char *buf, size_t size) {
  FILE *f = fmemopen(buf, size, "w");
  int joints = rng_int(g, 1, 10);
  static const char *const types[] = {"revolute", "continuous", "prismatic", "fixed"};
  static const char *const axes[] = {"1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1"};
  fprintf(f, "<robot name='random'><link name='root'/>");
  for (int j = 0; j < joints; j++) {
    const char *type = j ? types[rng_int(g, 0, 3)] : "revolute";
    fprintf(f, "<joint name='j%d' type='%s'>", j, type);
    int parent = rng_int(g, -1, j - 1);
    if (parent < 0) fprintf(f, "<parent link='root'/>");
    else fprintf(f, "<parent link='l%d'/>", rng_int(g, 0, 2) ? j - 1 : parent);
    fprintf(f, "<child link='l%d'/><limit lower='-2' upper='2' effort='50' velocity='3'/>", j);
    fprintf(f, "<origin xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/>", rng_uniform(g, -1, 1),
            rng_uniform(g, -1, 1), rng_uniform(g, -1, 1), rng_uniform(g, -3, 3),
            rng_int(g, 0, 3) ? rng_uniform(g, -1.5, 1.5) : 1.5707963267948966, rng_uniform(g, -3, 3));
    if (rng_int(g, 0, 1)) fprintf(f, "<axis xyz='%s'/>", axes[rng_int(g, 0, 5)]);
    else
      fprintf(f, "<axis xyz='%.17g %.17g %.17g'/>", rng_uniform(g, -1, 1), rng_uniform(g, -1, 1),
              rng_uniform(g, -1, 1));
    if (j && strcmp(type, "fixed") && rng_int(g, 0, 4) == 0)
      fprintf(f, "<mimic joint='j0' multiplier='%.17g' offset='%.17g'/>", rng_uniform(g, -2, 2), rng_uniform(g, -1, 1));
    fprintf(f, "</joint>");
  }
  for (int j = 0; j < joints; j++)
    fprintf(f,
            "<link name='l%d'><inertial><origin xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/><mass value='%.17g'/>"
            "<inertia ixx='%.17g' iyy='%.17g' izz='%.17g' ixy='0.01' ixz='-0.02' iyz='0.005'/></inertial></link>",
            j, rng_uniform(g, -0.2, 0.2), rng_uniform(g, -0.2, 0.2), rng_uniform(g, -0.2, 0.2), rng_uniform(g, -3, 3),
            rng_uniform(g, -1, 1), rng_uniform(g, -3, 3), rng_uniform(g, 0.5, 4), rng_uniform(g, 0.1, 0.2),
            rng_uniform(g, 0.1, 0.2), rng_uniform(g, 0.1, 0.2));
  fprintf(f, "</robot>");
  fclose(f);
  return buf;
}

TEST(test_urdf_round_trips) {
  rng g = rng_start("URDF round trips");
  static char text[64 * 1024];
  for (int k = 0; k < 200; k++) {
    psdm_robot *robot;
    psdm_error error;
    random_urdf(&g, text, sizeof text);
    if (psdm_robot_parse(text, strlen(text), "random.urdf", &as_written, NULL, &robot, &error))
      fail_msg("%s\n%s", error.text, text);
    psdm_robot *yaml = reload(robot, PSDM_FORMAT_YAML, text), *urdf = reload(robot, PSDM_FORMAT_URDF, text);
    compare(robot, yaml, &g, text);
    compare(robot, urdf, &g, text);
    psdm_robot_free(urdf);
    psdm_robot_free(yaml);
    psdm_robot_free(robot);
  }
}

/* ---- everything else in a YAML file survives ---- */

TEST(test_shipped_robots) {
  rng g = rng_start("shipped");
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name), *again = reload(robot, PSDM_FORMAT_YAML, *name);
    char x[64], y[64];
    assert_string_equal(psdm_robot_name(again), psdm_robot_name(robot));
    assert_int_equal(psdm_robot_parameter_count(again), psdm_robot_parameter_count(robot));
    assert_int_equal(psdm_robot_assumptions(again), psdm_robot_assumptions(robot));
    for (int i = 0; i < psdm_robot_assumptions(robot); i++)
      assert_string_equal(psdm_robot_assumption(robot, i, x, sizeof x), psdm_robot_assumption(again, i, y, sizeof y));
    for (int j = 0; j < psdm_robot_joints(robot); j++) {
      const psdm_joint *a = psdm_robot_joint(robot, j), *b = psdm_robot_joint(again, psdm_robot_find(again, a->name));
      assert_memory_equal(&a->limits, &b->limits, sizeof a->limits);
      assert_true(a->friction.given == b->friction.given && a->friction.coulomb == b->friction.coulomb &&
                  a->friction.stribeck == b->friction.stribeck);
      assert_true(a->friction.sigma0 == b->friction.sigma0 && a->friction.exponent == b->friction.exponent &&
                  a->gear == b->gear);
    }
    if (!psdm_robot_ready(robot, NULL)) compare(robot, again, &g, *name);
    psdm_robot_free(again);
    psdm_robot_free(robot);
  }
}

/* closed loops: the same torques wherever the loop closes */
TEST(test_loops) {
  rng g = rng_start("loops");
  static const char *const names[] = {"five_bar", "parallelogram"}; /* the second closes its loop by couplings */
  for (int k = 0; k < 2; k++) {
    psdm_robot *robot = load_shipped(names[k]), *again = reload(robot, PSDM_FORMAT_YAML, names[k]);
    int n = psdm_robot_n(robot), closed = 0;
    psdm_work *own, *other;
    double state[3 * MOST], a[MOST], b[MOST];
    assert_true(psdm_robot_n(again) == n && psdm_robot_loops(again) == psdm_robot_loops(robot) &&
                psdm_robot_loops(robot) == !k);
    assert_int_equal(psdm_work_new(robot, NULL, &own), PSDM_OK);
    assert_int_equal(psdm_work_new(again, NULL, &other), PSDM_OK);
    for (int s = 0; s < 200; s++) {
      for (int i = 0; i < 3 * n; i++) state[i] = rng_uniform(&g, -2, 2);
      psdm_status status = psdm_inverse(robot, own, state, state + n, state + 2 * n, a);
      assert_int_equal(psdm_inverse(again, other, state, state + n, state + 2 * n, b), status);
      if (status) continue;
      closed++;
      if (!(max_difference(a, b, n) <= 1e-10 * max_absolute(a, n)))
        fail_msg("%s: torques differ by %.3g", names[k], max_difference(a, b, n));
    }
    assert_true(closed > 10);
    char text[160];
    assert_non_null(psdm_robot_loss(robot, PSDM_FORMAT_URDF, 0, text, sizeof text));
    psdm_work_free(own, NULL), psdm_work_free(other, NULL);
    psdm_robot_free(robot), psdm_robot_free(again);
  }
}

/* a link called base that is not the root, and names full of what YAML and XML treat specially */
TEST(test_odd_names) {
  rng g = rng_start("odd names");
  static const char urdf[] =
      "<robot name='odd'><link name='world'/><link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
      "izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
      "<link name='&lt;&amp;&quot;>'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
      "iyz='0'/></inertial></link><link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
      "ixz='0' iyz='0'/></inertial></link>"
      "<joint name='a' type='continuous'><parent link='world'/><child link='base'/><axis xyz='0 1 0'/></joint>"
      "<joint name='b: [x]' type='continuous'><parent link='base'/><child link='&lt;&amp;&quot;>'/><origin xyz='0.1 0 "
      "0.3'/></joint>"
      "<joint name='c' type='prismatic'><parent link='world'/><child link='arm'/><origin xyz='0 0.2 "
      "0.3'/></joint></robot>";
  static const char yaml[] =
      "{convention: dh, joints: [{name: \"tab\\there\", a: 0.3}, {name: \"next\\x85line \\u2028 \\\\ '\", a: 0.2, "
      "alpha: pi/2}], links: [{name: \"\\x9c#: -\", mass: 1}, {name: \"\\x1b[0m\", mass: 2}]}";
  psdm_robot *robot = parse_robot(urdf), *again = reload(robot, PSDM_FORMAT_YAML, urdf);
  compare(robot, again, &g, urdf);
  psdm_robot_free(again);
  psdm_robot_free(robot);
  char text[160];
  robot = parse_robot(yaml);
  again = reload(robot, PSDM_FORMAT_YAML, yaml);
  compare(robot, again, &g, yaml);
  assert_string_equal(psdm_robot_joint(again, 1)->name, psdm_robot_joint(robot, 1)->name);
  assert_string_equal(psdm_robot_loss(robot, PSDM_FORMAT_URDF, 0, text, sizeof text),
                      "joint 'next\\xc2\\x85line \xe2\x80\xa8 \\ '' has a name with control characters");
  psdm_robot_free(again);
  psdm_robot_free(robot);
}

TEST(test_losses_are_reported) {
  char text[160];
  psdm_robot *puma = load_shipped("puma560"), *kr6 = load_shipped("kuka_kr6"), *hpr = load_shipped("hitachi_hpr");
  assert_string_equal(psdm_robot_loss(puma, PSDM_FORMAT_URDF, 0, text, sizeof text),
                      "joint 'theta1' has a drive inertia");
  assert_string_equal(psdm_robot_loss(hpr, PSDM_FORMAT_URDF, 0, text, sizeof text),
                      "joint 'theta2' has a coupling to exactly one joint was expected");
  assert_null(psdm_robot_loss(kr6, PSDM_FORMAT_URDF, 0, text, sizeof text));
  assert_null(psdm_robot_loss(puma, PSDM_FORMAT_YAML, 0, text, sizeof text));
  psdm_robot_free(puma);
  psdm_robot_free(kr6);
  psdm_robot_free(hpr);
}

/* ---- the MATLAB toolbox's tables ---- */

TEST(test_tables) {
  char dh[64], x[64];
  snprintf(dh, sizeof dh, "/tmp/psdm-dh-%ld.csv", (long)getpid());
  snprintf(x, sizeof x, "/tmp/psdm-x-%ld.csv", (long)getpid());
  /* the SCARA of Table 1(c), with joint 4 in the opposite direction */
  file_write(dh, "a, alpha, d, theta, type, sign\n0.350, 0, 0.160, 0, 0, 1\n0.300, 3.14159, 0, 0, 0, 1\n0, 0, 0, 0, 1, "
                 "1\n0 0 0 0 0 -1\n");
  file_write(
      x, "6.25,0.2096,0,0.0447,0.0104,0.1355,0.1413,0,0.0056,0,0\n9.49,-0.1662,0,-0.1464,0.0494,0.1553,0.1336,0,-0."
         "0129,0,0\n"
         "0.40,0,0,-0.1751,0.0069,0.0069,0,0,0,0,0\n1.10,0.0041,-0.0124,-0.0168,0.0023,0.0004,0.0025,0,0,0.0001,0\n");
  psdm_robot *tables, *shipped = load_shipped("fanuc_sr6ia");
  psdm_error error;
  psdm_status status = psdm_robot_load_tables(dh, x, NULL, NULL, &tables, &error);
  if (status) fail_msg("%s:%d %s", error.file, error.line, error.text);
  assert_int_equal(psdm_robot_notes(tables), 1); /* 3.14159 is pi */
  psdm_work *work;
  assert_int_equal(psdm_work_new(shipped, NULL, &work), PSDM_OK);
  double q[4] = {0.3, -0.8, 0.1, 0.6}, qd[4] = {1, 2, 0.5, -1}, qdd[4] = {0.3, -2, 1, 4}, a[4], b[4];
  assert_int_equal(psdm_inverse(shipped, work, q, qd, qdd, a), PSDM_OK);
  q[3] = -q[3], qd[3] = -qd[3], qdd[3] = -qdd[3];
  assert_int_equal(psdm_inverse(tables, work, q, qd, qdd, b), PSDM_OK);
  b[3] = -b[3];
  assert_true(max_difference(a, b, 4) < 1e-14 * 20);
  psdm_robot_free(tables);
  /* no inertia table: known kinematics, unknown inertia */
  assert_int_equal(psdm_robot_load_tables(dh, NULL, NULL, NULL, &tables, &error), PSDM_OK);
  assert_int_equal(psdm_robot_ready(tables, NULL), PSDM_E_MISSING);
  psdm_robot_free(tables);
  /* wrong tables are refused with the position */
  file_write(dh, "0.35 0 0.16 0\n0.3 0 zero 0\n");
  assert_int_equal(psdm_robot_load_tables(dh, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  assert_int_equal(error.line, 2);
  file_write(dh, "0.35 0 0.16\n");
  assert_int_equal(psdm_robot_load_tables(dh, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  file_write(dh, "0.35 0 0.16 0\n");
  assert_int_equal(psdm_robot_load_tables(dh, x, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  assert_string_equal(error.text, "4 rows for 1 joints");
  unlink(dh);
  unlink(x);
  psdm_work_free(work, NULL);
  psdm_robot_free(shipped);
}

/* tables in memory are those of files with the same numbers */
TEST(test_tables_in_memory) {
  const double dh[2 * 4] = {1.2, 0, 0, 0, 1.1, 0, 0, 0},
                      x[2 * 10] = {1, -1.3, 0, 0, 0, 0, 0.5, 0, 0, 0, 2, -1.2, 0, 0, 0, 0, 0.3, 0, 0, 0},
                      wrong[8] = {NAN};
  const psdm_matrix DH = {.name = "DH", .rows = 2, .columns = 4, .pages = 1, .value = dh},
                    X = {.name = "X", .rows = 2, .columns = 10, .pages = 1, .value = x};
  const double gravity[3] = {0, -9.81, 0};
  const psdm_robot_options options = {.gravity = gravity};
  psdm_robot *tables, *shipped = load_shipped("two_link");
  psdm_error error;
  if (psdm_robot_parse_tables(&DH, &X, &options, NULL, &tables, &error)) fail_msg("%s", error.text);
  rng g = rng_start("memory");
  compare(shipped, tables, &g, "two_link");
  psdm_robot_free(tables);
  assert_int_equal(psdm_robot_parse_tables(&DH, NULL, NULL, NULL, &tables, &error), PSDM_OK);
  assert_int_equal(psdm_robot_ready(tables, NULL), PSDM_E_MISSING);
  psdm_robot_free(tables);
  assert_int_equal(psdm_robot_parse_tables(&X, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  assert_string_equal(error.text, "rows of 10 numbers; 4 to 6 were expected");
  assert_string_equal(error.file, "X");
  const psdm_matrix bad = {.name = "bad", .rows = 2, .columns = 4, .pages = 1, .value = wrong}, none = {.name = "none"};
  assert_int_equal(psdm_robot_parse_tables(&bad, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  assert_true(strcmp(error.file, "bad") == 0 && error.line == 1);
  assert_int_equal(psdm_robot_parse_tables(&none, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  psdm_robot_free(shipped);
}

static void add_variable(mat_t *file, const char *name, double *columns, size_t rows, size_t count) {
  size_t dims[2] = {rows, count};
  matvar_t *var = Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, columns, 0);
  assert_int_equal(Mat_VarWrite(file, var, MAT_COMPRESSION_NONE), 0);
  Mat_VarFree(var);
}

/* MATLAB's own file, stored by columns, with an extra variable */
TEST(test_mat_tables) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/psdm-tables-%ld.mat", (long)getpid());
  double dh[2 * 6] = {1.2, 1.1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}; /* a, alpha, d, theta, type, sign of two rows */
  double x[2 * 10] = {1, 2, -1.3, -1.2, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.3, 0, 0, 0, 0, 0, 0}, other[1] = {7};
  mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
  assert_non_null(file);
  add_variable(file, "other", other, 1, 1);
  add_variable(file, "X", x, 2, 10);
  add_variable(file, "DH_ext", dh, 2, 6);
  Mat_Close(file);
  psdm_robot *tables, *shipped = load_shipped("two_link");
  psdm_error error;
  const double gravity[3] = {0, -9.81, 0};
  psdm_robot_options options = {.gravity = gravity};
  if (psdm_robot_load_tables(path, path, &options, NULL, &tables, &error)) fail_msg("%s", error.text);
  rng g = rng_start("mat");
  compare(shipped, tables, &g, "two_link");
  psdm_robot_free(tables);
  file_write(path, "this is no MATLAB file");
  assert_int_equal(psdm_robot_load_tables(path, NULL, NULL, NULL, &tables, &error), PSDM_E_PARSE);
  unlink(path);
  psdm_robot_free(shipped);
}

TEST_MAIN(test_round_trips, test_small_tilts_are_kept, test_urdf_round_trips, test_shipped_robots,
          test_losses_are_reported, test_loops, test_odd_names, test_tables_in_memory, test_tables, test_mat_tables)
