/* test_structure.c: De Luca's patterns of M, the conditions for zeros, springs; structure against numbers on random
 * robots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/analyze.h"
#include "support.h"

/* ---- the slides' robots ---- */

#define BODY \
  "{mass: 3, com: [-0.11, 0.02, 0.03], inertia: {xx: 0.05, yy: 0.06, zz: 0.07, xy: 0.003, xz: 0.002, yz: -0.004}}"

static const char cartesian[] =
    "convention: dh\ngravity: [0, 0, -9.81]\njoints: [{type: prismatic, alpha: pi/2}, {type: prismatic}]\nlinks: [" BODY
    ", " BODY "]\n";
static const char skew[] =
    "convention: dh\ngravity: [0, 0, -9.81]\njoints: [{type: prismatic, alpha: pi/4}, {type: prismatic}]\nlinks: [" BODY
    ", " BODY "]\n";
static const char pr[] = "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{type: prismatic, alpha: pi/2}, {type: "
                         "revolute, a: 0.4}]\nlinks: [" BODY ", " BODY "]\n";
static const char two_r[] =
    "convention: dh\ngravity: [0, 0, 0]\njoints: [{a: 0.5}, {a: 0.4}]\nlinks: [" BODY ", " BODY "]\n";
/* centres of mass on the links' axes, no products of inertia */
static const char three_r[] = "convention: dh\ngravity: [0, 0, -9.81]\n"
                              "joints: [{d: 0.5, alpha: pi/2}, {a: 0.4}, {a: 0.3}]\n"
                              "links:\n"
                              "  - {mass: 5, com: [0, -0.2, 0], inertia: {xx: 0.1, yy: 0.05, zz: 0.1}}\n"
                              "  - {mass: 4, com: [-0.2, 0, 0], inertia: {xx: 0.01, yy: 0.08, zz: 0.08}}\n"
                              "  - {mass: 2, com: [-0.1, 0, 0], inertia: {xx: 0.005, yy: 0.03, zz: 0.03}}\n";

typedef struct robot_and {
  psdm_robot *robot;
  psdm_model *model;
  psdm_structure *s;
} robot_and;

static robot_and analyse(psdm_robot *robot, bool numeric) {
  robot_and a = {.robot = robot};
  psdm_error error;
  if (psdm_model_derive(robot, NULL, NULL, &a.model, NULL, &error)) fail_msg("%s", error.text);
  if (psdm_structure_new(robot, a.model, numeric, NULL, &a.s, &error)) fail_msg("%s", error.text);
  return a;
}

static void done(robot_and a) {
  psdm_structure_free(a.s);
  psdm_model_free(a.model);
  psdm_robot_free(a.robot);
}

/* "m11(q2) m12(q2)|m12(q2) m22" */
static const char *pattern(const psdm_structure *s) {
  static char text[1000];
  unsigned char depends[16];
  int n = psdm_structure_n(s), used = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const char *separator = j ? " " : i ? "|" : "";
      if (!psdm_structure_mass(s, i, j, depends)) {
        used += sprintf(text + used, "%s0", separator);
        continue;
      }
      used += sprintf(text + used, "%sm%d%d", separator, (i < j ? i : j) + 1, (i < j ? j : i) + 1);
      for (int k = 0, first = 1; k < n; k++)
        if (depends[k]) used += sprintf(text + used, "%sq%d", first ? "(" : ",", k + 1), first = 0;
      if (memchr(depends, 1, (size_t)n)) used += sprintf(text + used, ")");
    }
  return text;
}

static const char *gravity_pattern(const psdm_structure *s) {
  static char text[1000];
  unsigned char depends[16];
  int n = psdm_structure_n(s), used = 0;
  for (int i = 0; i < n; i++) {
    used += sprintf(text + used, i ? " " : "");
    used += sprintf(text + used, psdm_structure_gravity(s, i, depends) ? "g" : "0");
    for (int k = 0; k < n; k++)
      if (depends[k]) used += sprintf(text + used, "%d", k + 1);
  }
  return text;
}

static const char *condition(const robot_and *a, psdm_wish wish, int index) {
  const char *text = psdm_structure_condition(a->s, wish, index);
  return text ? text : "";
}

static void slides(void **state) {
  (void)state;
  static const struct {
    const char *robot, *mass, *gravity;
    bool constant, diagonal, linear;
  } cases[] = {
      {cartesian, "m11 0|0 m22", "g 0", true, true, false},
      {skew, "m11 m12|m12 m22", "g g", true, false, false},
      {pr, "m11 m12(q2)|m12(q2) m22", "0 0", false, false, false},
      {two_r, "m11(q2) m12(q2)|m12(q2) m22", "0 0", false, false, false},
      {three_r, "m11(q2,q3) 0 0|0 m22(q3) m23(q3)|0 m23(q3) m33", "0 g23 g23", false, false, false},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    robot_and a = analyse(parse_robot(cases[k].robot), true);
    assert_string_equal(pattern(a.s), cases[k].mass);
    assert_string_equal(gravity_pattern(a.s), cases[k].gravity);
    assert_int_equal(psdm_structure_constant_mass(a.s), cases[k].constant);
    assert_int_equal(psdm_structure_diagonal_mass(a.s), cases[k].diagonal);
    assert_int_equal(psdm_structure_linear(a.s), cases[k].linear);
    done(a);
  }
}

/* for any numbers the articulated arm has all entries; the planar ones keep their patterns */
static void any_numbers(void **state) {
  (void)state;
  robot_and a = analyse(parse_robot(three_r), false);
  assert_string_equal(pattern(a.s),
                      "m11(q2,q3) m12(q2,q3) m13(q2,q3)|m12(q2,q3) m22(q3) m23(q3)|m13(q2,q3) m23(q3) m33");
  done(a);
  a = analyse(parse_robot(two_r), false);
  assert_string_equal(pattern(a.s), "m11(q2) m12(q2)|m12(q2) m22");
  done(a);
}

/* linear if the second link's centre of mass is on its axis: d_c2 = 0 in PR, d_2 = 0 in 2R */
static void linear_if(void **state) {
  (void)state;
  robot_and a = analyse(parse_robot(two_r), false);
  assert_string_equal(condition(&a, PSDM_WISH_CONSTANT_MASS, 0), "mx2 + 0.4 m2 = 0 (m11, m12)");
  assert_string_equal(condition(&a, PSDM_WISH_CONSTANT_MASS, 1), "my2 = 0 (m11, m12)");
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_CONSTANT_MASS, 2));
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_NO_GRAVITY, 0));
  done(a);
  a = analyse(parse_robot(pr), false);
  assert_string_equal(condition(&a, PSDM_WISH_CONSTANT_MASS, 0), "mx2 + 0.4 m2 = 0 (m12)");
  assert_string_equal(condition(&a, PSDM_WISH_CONSTANT_MASS, 1), "my2 = 0 (m12)");
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_CONSTANT_MASS, 2));
  done(a);
  /* with such a link they are */
  char text[1000];
  static const char *const robots[] = {two_r, pr};
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text, "%.*s{mass: 3, com: [-0.4, 0, 0.03], inertia: {xx: 0.05, yy: 0.06, zz: 0.07}}]\n",
             (int)(strstr(robots[k], "links: [") - robots[k]) + 8 + (int)strlen(BODY ", "), robots[k]);
    a = analyse(parse_robot(text), true);
    assert_true(psdm_structure_constant_mass(a.s) && psdm_structure_linear(a.s));
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        for (int l = 0; l < 2; l++) assert_int_equal(psdm_structure_coriolis(a.s, i, j, l, NULL), 0);
    assert_null(psdm_structure_condition(a.s, PSDM_WISH_CONSTANT_MASS, 0));
    done(a);
  }
}

/* m3 l2 lc3 = m4 l1 lc4 decouples; gravity always is */
static void parallelogram(void **state) {
  (void)state;
  robot_and a = analyse(load_shipped("parallelogram"), false);
  assert_string_equal(pattern(a.s), "m11 m12(q1,q2)|m12(q1,q2) m22");
  assert_string_equal(gravity_pattern(a.s), "g1 g2");
  assert_string_equal(condition(&a, PSDM_WISH_DIAGONAL_MASS, 0), "mx3 - 1.66666666667 mx4 = 0 (m12)");
  assert_string_equal(condition(&a, PSDM_WISH_DIAGONAL_MASS, 1), "my3 + 1.66666666667 my4 = 0 (m12)");
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_DIAGONAL_MASS, 2));
  assert_string_equal(condition(&a, PSDM_WISH_NO_GRAVITY, 0), "mx1 + 0.5 m4 + mx3 = 0 (g1)");
  assert_string_equal(condition(&a, PSDM_WISH_NO_GRAVITY, 2), "mx2 + 0.3 m3 - mx4 = 0 (g2)");
  done(a);
  a = analyse(load_shipped("parallelogram"), true);
  assert_string_equal(condition(&a, PSDM_WISH_CONSTANT_MASS, 0), "mx3 - 1.66666666667 mx4 = 0 (m12; now -0.378)");
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_CONSTANT_MASS, 1));
  done(a);
  /* l2 mx3 = l1 mx4 by design: 0.3 * 0.7 * 0.8 = 0.5 * 1.6 * 0.21 */
  psdm_robot *robot = load_shipped("parallelogram");
  double *parameters = calloc((size_t)psdm_robot_parameter_count(robot), sizeof *parameters);
  psdm_robot_parameters(robot, parameters);
  parameters[21] = 0.5 * parameters[31] / 0.3;
  psdm_robot_set_parameters(robot, parameters);
  free(parameters);
  a = analyse(robot, true);
  assert_true(psdm_structure_diagonal_mass(a.s) && psdm_structure_constant_mass(a.s) && !psdm_structure_linear(a.s));
  assert_string_equal(gravity_pattern(a.s), "g1 g2");
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_DIAGONAL_MASS, 0));
  done(a);
}

/* springs: their stiffness against gravity itself, and the remainder */
static void springs(void **state) {
  (void)state;
  robot_and a = analyse(parse_robot(three_r), true);
  /* g3 = 9.81 * 2 * 0.2 cos(q2 + q3), the rest of g2 = 9.81 (4 * 0.2 + 2 * 0.4) cos q2 */
  assert_non_null(strstr(condition(&a, PSDM_WISH_SPRINGS, 0),
                         "across the angle q2 + q3 with k a b = 3.924 Nm balances g3 and its part of g2;"));
  assert_non_null(strstr(condition(&a, PSDM_WISH_SPRINGS, 0), "on top at q2 + q3 = 1.571"));
  assert_non_null(
      strstr(condition(&a, PSDM_WISH_SPRINGS, 1), "across the angle q2 with k a b = 15.696 Nm balances g2;"));
  assert_null(psdm_structure_condition(a.s, PSDM_WISH_SPRINGS, 2));
  done(a);
  a = analyse(parse_robot(skew), false);
  assert_string_equal(condition(&a, PSDM_WISH_NO_GRAVITY, 0), "m1 = 0 (g1; cannot be: all of it is positive)");
  assert_string_equal(condition(&a, PSDM_WISH_NO_GRAVITY, 1), "m2 = 0 (g1, g2; cannot be: all of it is positive)");
  assert_non_null(strstr(condition(&a, PSDM_WISH_SPRINGS, 0),
                         "a constant force of 9.81 |0.707106781187 m2| N, by a counterweight, balances g2"));
  done(a);
  a = analyse(load_shipped("kuka_kr6"), true);
  assert_non_null(strstr(condition(&a, PSDM_WISH_SPRINGS, 0), "g2 keeps 26 parts (q2, q2 + q3, "));
  done(a);
}

/* ---- structure against numbers ---- */

/* how an entry changes when one joint moves, by evaluation: it depends on it exactly if the structure says so */
static void check_numbers(rng *g, robot_and *a) {
  enum { TRIES = 8 };
  int n = psdm_robot_n(a->robot);
  psdm_work *work;
  double M[TRIES][2][64], tau[2][8], q[8];
  unsigned char depends[8];
  assert_int_equal(psdm_work_new(a->robot, NULL, &work), PSDM_OK);
  for (int joint = 0; joint < n; joint++) {
    double moved[64] = {0}, largest[64] = {0}, gravity[8] = {0}, heaviest = 0;
    for (int t = 0; t < TRIES; t++) {
      for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -3, 3);
      for (int side = 0; side < 2; side++) {
        if (side) q[joint] = rng_uniform(g, -3, 3);
        assert_int_equal(psdm_mass(a->robot, work, q, M[t][side]), PSDM_OK);
        assert_int_equal(psdm_gravity(a->robot, work, q, tau[side]), PSDM_OK);
      }
      for (int x = 0; x < n * n; x++) {
        moved[x] = fmax(moved[x], fabs(M[t][1][x] - M[t][0][x]));
        largest[x] = fmax(largest[x], fabs(M[t][0][x]));
      }
      for (int i = 0; i < n; i++) {
        gravity[i] = fmax(gravity[i], fabs(tau[1][i] - tau[0][i]));
        heaviest = fmax(heaviest, fabs(tau[0][i]));
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        double scale = sqrt(largest[i * n + i] * largest[j * n + j]);
        int present = psdm_structure_mass(a->s, i, j, depends);
        assert_int_equal(present, psdm_structure_mass(a->s, j, i, NULL));
        assert_int_equal(present, largest[i * n + j] > 1e-11 * scale);
        assert_int_equal(depends[joint], moved[i * n + j] > 1e-11 * scale);
      }
      psdm_structure_gravity(a->s, i, depends);
      assert_int_equal(depends[joint], gravity[i] > 1e-11 * heaviest);
    }
  }
  psdm_work_free(work, NULL);
}

/* Coriolis and centrifugal terms, one pair of velocities at a time */
static void check_coriolis(rng *g, robot_and *a) {
  int n = psdm_robot_n(a->robot);
  psdm_work *work;
  double q[8], bias[3][8], gravity[8];
  assert_int_equal(psdm_work_new(a->robot, NULL, &work), PSDM_OK);
  for (int j = 0; j < n; j++)
    for (int k = j; k < n; k++) {
      double met[8] = {0}, largest = 0;
      for (int t = 0; t < 6; t++) {
        for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -3, 3);
        psdm_gravity(a->robot, work, q, gravity);
        for (int side = 0; side < 3; side++) {
          double qd[8] = {0};
          if (side != 1) qd[j] = 1;
          if (side != 2) qd[k] = 1;
          assert_int_equal(psdm_bias(a->robot, work, q, qd, bias[side]), PSDM_OK);
        }
        for (int i = 0; i < n; i++) {
          double term = j == k ? bias[0][i] - gravity[i] : bias[0][i] - bias[1][i] - bias[2][i] + gravity[i];
          met[i] = fmax(met[i], fabs(term));
          largest = fmax(largest, fabs(bias[0][i]) + fabs(gravity[i]));
        }
      }
      for (int i = 0; i < n; i++)
        assert_int_equal(psdm_structure_coriolis(a->s, i, j, k, NULL), met[i] > 1e-11 * (largest + 1));
    }
  psdm_work_free(work, NULL);
}

static void random_robots(void **state) {
  (void)state;
  rng g = rng_start("random_robots");
  char text[16384];
  for (int round = 0; round < 40; round++) {
    const random_options options = {.n_min = 1, .n_max = 4, .trees = true, .prismatic = true, .drives = round % 3 == 0};
    robot_and a = analyse(parse_robot(random_robot_text(&g, &options, text, sizeof text)), true);
    check_numbers(&g, &a);
    check_coriolis(&g, &a);
    done(a);
  }
}

/* conditions are equivalent to the coefficients: with parameters that meet all of them, the entry has the wanted
 * form */
static void conditions_suffice(void **state) {
  (void)state;
  rng g = rng_start("conditions_suffice");
  for (int round = 0; round < 30; round++) {
    psdm_robot *robot = parse_robot(two_r);
    double parameters[20];
    for (int k = 0; k < 20; k++) parameters[k] = rng_uniform(&g, -1, 1);
    parameters[11] = -0.4 * parameters[10]; /* mx2 + 0.4 m2 */
    parameters[12] = 0;
    psdm_robot_set_parameters(robot, parameters);
    robot_and a = analyse(robot, true);
    assert_true(psdm_structure_constant_mass(a.s));
    done(a);
  }
}

static void refusals(void **state) {
  (void)state;
  psdm_robot *known = parse_robot(two_r), *unknown = parse_robot("convention: dh\njoints: [{a: 0.5}, {a: 0.4}]\n"),
             *other = load_shipped("kuka_kr6");
  psdm_model *model;
  psdm_structure *s;
  psdm_error error;
  assert_int_equal(psdm_model_derive(unknown, NULL, NULL, &model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_structure_new(unknown, model, true, NULL, &s, &error), PSDM_E_MISSING);
  assert_null(s);
  assert_int_equal(psdm_structure_new(other, model, false, NULL, &s, &error), PSDM_E_ROBOT);
  assert_int_equal(psdm_structure_new(unknown, model, false, NULL, &s, &error), PSDM_OK);
  assert_null(psdm_structure_condition(s, PSDM_WISHES, 0));
  assert_null(psdm_structure_condition(s, PSDM_WISH_SPRINGS, 1000));
  assert_null(psdm_structure_condition(s, PSDM_WISH_SPRINGS, -1));
  psdm_structure_free(s);
  psdm_structure_free(NULL);
  psdm_model_free(model);
  psdm_robot_free(known);
  psdm_robot_free(unknown);
  psdm_robot_free(other);
}

static void memory(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(three_r);
  psdm_model *model;
  psdm_structure *s;
  psdm_error error;
  long fail = 0;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
  for (psdm_status status = PSDM_E_MEMORY; status;) {
    counting c;
    counting_init(&c, ++fail);
    status = psdm_structure_new(robot, model, true, &c.allocator, &s, &error);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    assert_true((status == PSDM_OK) == (s != NULL));
    psdm_structure_free(s);
    assert_int_equal(c.live, 0);
    assert_true(status || c.calls < fail);
  }
  printf("%ld allocations\n", fail - 1);
  assert_true(fail > 3);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slides),
      cmocka_unit_test(any_numbers),
      cmocka_unit_test(linear_if),
      cmocka_unit_test(parallelogram),
      cmocka_unit_test(springs),
      cmocka_unit_test(random_robots),
      cmocka_unit_test(conditions_suffice),
      cmocka_unit_test(refusals),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
