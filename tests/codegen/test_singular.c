/* test_singular.c: robots whose mass matrix cannot be inverted: who is named, what is left out of their code, what
 * is refused. */
#include <stdio.h>
#include <string.h>

#include "support.h"

/* three joints of which the last moves a link of these numbers; the first two have inertia */
static psdm_robot *arm(const char *last) {
  char text[1200];
  snprintf(text, sizeof text,
           "convention: dh\njoints:\n  - {name: yaw, d: 0.3, alpha: 90 deg}\n  - {name: pitch, a: 0.4}\n  - {name: "
           "wrist, a: 0.1, alpha: 90 deg}\nlinks:\n"
           "  - {mass: 3, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - {mass: 2, com: [-0.1, 0, 0], "
           "inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - %s\n",
           last);
  return parse_robot(text);
}

static const char NOTHING[] = "{mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}";
static const char POINTS[] =
    "convention: dh\njoints:\n  - {name: A, a: 1}\n  - {name: B, a: 1}\n  - {name: C, a: 1}\nlinks:\n"
    "  - {mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n  - {mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: "
    "0, zz: 0}}\n"
    "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n";

static void expect_singular(psdm_robot *robot, const char *words) {
  psdm_error error;
  assert_int_equal(psdm_mass_condition(robot, NULL, NULL, &error), PSDM_E_SINGULAR);
  if (!strstr(error.text, words)) fail_msg("%s lacks: %s", error.text, words);
  psdm_robot_free(robot);
}

TEST(joints_are_named) {
  expect_singular(arm(NOTHING), "joint 'wrist' moves nothing that has inertia");
  /* a mass on the joint's own axis: the link's frame stands 0.1 m away from it */
  expect_singular(arm("{mass: 2, com: [-0.1, 0.3, 0], inertia: {xx: 0, yy: 0, zz: 0}}"),
                  "joint 'wrist' moves nothing that has inertia");
  /* a point in a plane has two directions, three joints have three */
  expect_singular(parse_robot(POINTS),
                  "joints 'A', 'B', 'C' can move together without moving anything that has inertia");
}

TEST(regular_robots_pass) {
  static const char *const last[] = {"{mass: 1e-9, com: [0.01, 0, 0], inertia: {xx: 1e-15, yy: 1e-15, zz: 1e-15}}",
                                     "{mass: 1e6, com: [5, 0, 0], inertia: {xx: 9e9, yy: 9e9, zz: 9e9}}"};
  for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
    psdm_robot *robot = arm(last[i]);
    double condition = 0;
    assert_int_equal(psdm_mass_condition(robot, NULL, &condition, NULL), PSDM_OK);
    assert_true(condition >= 1 && condition < 1e12);
    psdm_robot_free(robot);
  }
  /* a drive is inertia, too */
  psdm_robot *robot = parse_robot("convention: dh\njoints:\n  - {name: A, a: 1, drive_inertia: 0.1}\n  - {name: B, a: "
                                  "1, drive_inertia: 0.1}\n  - {name: C, a: 1, drive_inertia: 0.1}\nlinks:\n"
                                  "  - {mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n  - {mass: 0, com: "
                                  "[0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n"
                                  "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n");
  assert_int_equal(psdm_mass_condition(robot, NULL, NULL, NULL), PSDM_OK);
  psdm_robot_free(robot);
}

/* a slide of half a metre would hide the inertias of arms of a micrometre: it is drawn as long as these */
TEST(short_arms_on_a_slide) {
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: j1, a: 4e-7}\n  - {name: j2, a: 2e-10}\n  - {name: j3, alpha: "
                  "-1.27}\n  - {name: j4, type: prismatic, a: -6e-7}\nlinks:\n"
                  "  - {mass: 5, com: [-2e-7, 5e-7, 1e-7], inertia: {xx: 7e-13, yy: 8e-13, zz: 8e-13}}\n  - {mass: 0, "
                  "com: [0, 0, 0], inertia: {zz: 0}}\n"
                  "  - {mass: 6, com: [9e-8, -4e-7, 2e-7], inertia: {xx: 1e-12, yy: 1e-12, zz: 8e-13}}\n  - {mass: 5, "
                  "com: [9e-8, 5e-7, -3e-7], inertia: {xx: 6e-13, yy: 5e-13, zz: 6e-13}}\n");
  double condition;
  assert_int_equal(psdm_mass_condition(robot, NULL, &condition, NULL), PSDM_OK);
  assert_true(condition < 1e9);
  psdm_robot_free(robot);
}

/* a wrist of inertia so small beside what moves it along that M is singular but for the last digits */
TEST(nearly_singular) {
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: A, a: 1}\n  - {name: B, a: 1}\n  - {name: C, a: 1}\nlinks:\n"
                  "  - {mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n  - {mass: 0, com: [0, 0, 0], "
                  "inertia: {xx: 0, yy: 0, zz: 0}}\n"
                  "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 3e-13}}\n");
  double condition;
  psdm_code *code;
  const psdm_code_options options = {.functions = 1u << PSDM_F_FORWARD, .effort = -1};
  assert_int_equal(psdm_mass_condition(robot, NULL, &condition, NULL), PSDM_OK);
  assert_true(condition > 1e12);
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, NULL), PSDM_OK);
  assert_non_null(strstr(psdm_code_note(code, 0), "nearly singular"));
  psdm_code_free(code);
  psdm_robot_free(robot);
  /* two joints on one axis: what the condition allows, every solving function allows */
  robot = parse_robot(
      "convention: dh\njoints:\n  - {name: A}\n  - {name: B}\nlinks:\n"
      "  - {mass: 0, com: [0, 0, 0], inertia: {zz: 2e-9}}\n  - {mass: 0, com: [0, 0, 0], inertia: {zz: 3e3}}\n");
  const psdm_code_options solving = {
      .functions = 1u << PSDM_F_FORWARD | 1u << PSDM_F_INVERSE_MASS | 1u << PSDM_F_LINEARIZE_FORWARD, .effort = -1};
  assert_int_equal(psdm_mass_condition(robot, NULL, &condition, NULL), PSDM_OK);
  assert_true(condition > 1e12);
  assert_int_equal(psdm_code_build(robot, &solving, NULL, &code, NULL), PSDM_OK);
  assert_int_equal(psdm_code_count(code), 3);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

TEST(code_leaves_them_out) {
  psdm_robot *robot = arm(NOTHING);
  psdm_code *code;
  psdm_error error;
  psdm_code_options options = {.effort = -1};
  const unsigned forward = 1u << PSDM_F_FORWARD;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_OK);
  assert_int_equal(psdm_code_omitted(code), forward);
  assert_int_equal(psdm_code_count(code), PSDM_F_POSE);
  assert_non_null(strstr(psdm_code_note(code, 0), "omitted: forward; joint 'wrist'"));
  psdm_code_free(code);
  /* asked for by name: refused; a load or base parameters as arguments may give inertia */
  options.functions = forward | 1u << PSDM_F_INVERSE;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_SINGULAR);
  assert_non_null(strstr(error.text, "'wrist'"));
  options.optional = forward;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_OK);
  assert_int_equal(psdm_code_count(code), 1);
  psdm_code_free(code);
  options = (psdm_code_options){.functions = forward, .effort = -1, .theta_argument = true};
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_OK);
  assert_null(psdm_code_note(code, 0));
  psdm_code_free(code);
  /* a Jacobian of what does not move */
  psdm_robot_free(robot);
  robot = parse_robot("convention: dh\njoints:\n  - {name: A, a: 1}\n  - {name: stand, parent: base, type: fixed}\n");
  options = (psdm_code_options){.functions = 1u << PSDM_F_JACOBIAN, .link = "stand"};
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "is fixed to the base"));
  psdm_robot_free(robot);
}

TEST_MAIN(joints_are_named, regular_robots_pass, short_arms_on_a_slide, nearly_singular, code_leaves_them_out)
