/* test_robot_facts.c: edge cases of a robot: indices out of range, closed loops, parts that cannot be cut out, tables
 * with one mistake, names that a format cannot hold. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define DH "convention: dh\njoints:\n"
#define LOOP                                                                                                         \
  "convention: modified-dh\njoints:\n  - {name: a}\n  - {name: b, parent: a, a: 0.25}\n  - {name: c, parent: base, " \
  "origin: {xyz: [0.3, 0, 0]}}\n  - {name: d, parent: c, a: 0.25}\n"
#define TIED                                                                                                           \
  "loops:\n  - {links: [link2, link4], points: [[0.55, 0, 0], [0.55, 0, 0]], joints: [b, d], start: [-1, 1], at: {a: " \
  "2, c: 1}}\n"

static void expect(const char *text, const psdm_robot_options *options, const char *sentence) {
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_error error;
  char found[900];
  psdm_status status = psdm_robot_parse(text, strlen(text), "test.yaml", options, NULL, &robot, &error);
  if (!status) fail_msg("accepted, but '%s' was expected for\n%s", sentence, text);
  assert_null(robot);
  psdm_error_format(&error, found, sizeof found);
  if (!strstr(found, sentence)) fail_msg("'%s' was expected, '%s' found for\n%s", sentence, found, text);
}

static void wrong_loops_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *joints, *loops, *sentence;
  } cases[] = {
      {LOOP, "loops:\n  - {links: [base, link4], joints: [b, d]}\n",
       "test.yaml:8:13: loop 1: a loop ties two links; fix one of them to the base with a fixed joint"},
      {LOOP, "loops:\n  - {links: [link2, base], joints: [b, d]}\n", "a loop ties two links"},
      {LOOP, "loops:\n  - {links: [link2, link4], joints: [b, b]}\n",
       "joint 'b' is fixed, coupled, geared or in another loop already"},
      {LOOP, "loops:\n  - {links: [link2, link4], joints: [a, b, c, d]}\n",
       "4 passive joints for 1 loops; a loop moves three at most"},
      {LOOP "  - {name: e, parent: b, a: 0.1}\n", "loops:\n  - {links: [link2, link4], joints: [b, e]}\n",
       "joint 'e' is passive, but no loop leads through it"},
      {LOOP, "loops:\n  - {links: [link2, link4], joints: [a, b]}\n  - {links: [link2, link4], joints: [c, d]}\n",
       "every joint is passive; at least one must be independent"},
      {DH "  - {name: a}\n  - {name: b, gear: 2}\n  - {name: c, type: fixed}\n  - {name: d, couple: {a: 1}}\n",
       "loops:\n  - {links: [link1, link2], joints: [b]}\n", "joint 'b' is fixed, coupled, geared"},
      {DH "  - {name: a}\n  - {name: b, gear: 2}\n  - {name: c, type: fixed}\n  - {name: d, couple: {a: 1}}\n",
       "loops:\n  - {links: [link1, link2], joints: [c]}\n", "joint 'c' is fixed, coupled, geared"},
      {DH "  - {name: a}\n  - {name: b, gear: 2}\n  - {name: c, type: fixed}\n  - {name: d, couple: {a: 1}}\n",
       "loops:\n  - {links: [link1, link2], joints: [d]}\n", "joint 'd' is fixed, coupled, geared"},
      {LOOP "transmission: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]\n", TIED, "transmission"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s", cases[k].joints, cases[k].loops);
    expect(text, NULL, cases[k].sentence);
  }
}

static void impossible_cuts_are_refused(void **state) {
  (void)state;
  static const psdm_lock twice[] = {{"b", 0}, {"b", 1}}, unknown[] = {{"x", 0}};
  expect(LOOP TIED, &(psdm_robot_options){.tip = "link2"}, "a robot with closed loops cannot be cut or locked");
  expect(LOOP, &(psdm_robot_options){.tip = "base"}, "tip 'base': nothing moves the base itself");
  expect(LOOP, &(psdm_robot_options){.tip = "x"}, "tip 'x'");
  expect(LOOP, &(psdm_robot_options){.root = "x"}, "root 'x'");
  expect(LOOP, &(psdm_robot_options){.locks = twice, .lock_count = 2}, "lock 'b'");
  expect(LOOP, &(psdm_robot_options){.locks = unknown, .lock_count = 1}, "lock 'x'");
  expect(LOOP, &(psdm_robot_options){.snap_axes = 0.2}, "axes can be snapped within 0 to 0.1 rad, not 0.2");
  expect(LOOP, &(psdm_robot_options){.snap_axes = NAN}, "axes can be snapped within 0 to 0.1 rad");
}

/* rows of independent joints are those of the file, rows of passive ones are unknown */
static void coupling_of_closed_loops(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(LOOP TIED);
  double G[8], c[4];
  psdm_robot_coupling(robot, G, c);
  assert_true(G[0] == 1 && G[1] == 0 && isnan(G[2]) && isnan(G[3]) && G[4] == 0 && G[5] == 1 && isnan(G[6]) &&
              isnan(G[7]));
  assert_true(c[0] == 0 && c[2] == 0);
  psdm_robot_coupling(robot, NULL, c);
  psdm_robot_coupling(robot, G, NULL);
  double B[16];
  psdm_robot_drive_mass(robot, B);
  for (int i = 0; i < 16; i++) assert_true(B[i] == 0);
  psdm_robot_free(robot);
}

static void indices_out_of_range(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot(DH "  - {name: a, a: 1, alpha: 1.5708}\nlinks: [{mass: -1}]\nassume: [Ixy1 = 0]\ntheta: {ZZ1: 3}\n");
  psdm_body body;
  char buf[80] = "kept", none[1];
  double value = 7;
  for (int at = -1; at <= 1; at += 2) {
    int k = at < 0 ? -1 : 99;
    assert_false(psdm_robot_body(robot, k, &body));
    assert_null(psdm_robot_joint(robot, k));
    assert_null(psdm_robot_link_name(robot, k));
    assert_false(psdm_robot_moves(robot, k));
    assert_null(psdm_robot_warning(robot, k));
    assert_null(psdm_robot_note(robot, k));
    assert_string_equal(psdm_robot_assumption(robot, k, buf, sizeof buf), "");
    assert_null(psdm_robot_theta(robot, k, &value));
    assert_true(value == 7);
  }
  assert_string_equal(psdm_robot_assumption(robot, 0, buf, sizeof buf), "Ixy1 = 0");
  assert_ptr_equal(psdm_robot_assumption(robot, 0, none, 0), none);
  assert_string_equal(psdm_robot_theta(robot, 0, &value), "ZZ1");
  assert_true(value == 3);
  assert_string_equal(psdm_robot_parameter_name(robot, 9, buf, sizeof buf), "ZZ1");
  assert_ptr_equal(psdm_robot_parameter_name(robot, 99, none, 0), none);
  assert_int_equal(psdm_robot_default_link(robot, NULL), 0);
  psdm_robot_free(robot);
}

/* ---- tables ---- */

static void expect_tables(const char *dh, const char *x, const char *sentence) {
  char path[2][64], found[900];
  for (int k = 0; k < 2; k++) {
    snprintf(path[k], sizeof path[k], "/tmp/psdm-facts-%ld-%d.csv", (long)getpid(), k);
    FILE *out = fopen(path[k], "w");
    assert_non_null(out);
    fputs(k ? x ? x : "" : dh, out);
    fclose(out);
  }
  psdm_robot *robot = NULL;
  psdm_error error;
  psdm_status status =
      psdm_robot_load_tables(path[0], x ? path[1] : NULL, &(psdm_robot_options){.no_snap = true}, NULL, &robot, &error);
  unlink(path[0]), unlink(path[1]);
  if (!sentence) {
    if (status) fail_msg("%s", psdm_error_format(&error, found, sizeof found));
  } else {
    if (!status) fail_msg("accepted, but '%s' was expected for\n%s", sentence, dh);
    psdm_error_format(&error, found, sizeof found);
    if (!strstr(found, sentence)) fail_msg("'%s' was expected, '%s' found for\n%s", sentence, found, dh);
  }
  psdm_robot_free(robot);
}

static void wrong_tables_are_refused(void **state) {
  (void)state;
  expect_tables("0,1.5708,0.3,0\n0.4,0,0,0\n", NULL, NULL); /* four columns are enough */
  expect_tables("0,1.5708,0.3,0,1\n0.4,0,0,0,0\n", "1,0,0,0,1,1,1,0,0,0\n1,0,0,0,1,1,1,0,0,0\n", NULL);
  expect_tables("0,1,2\n", NULL, "rows of 3 numbers; 4 to 6 were expected");
  expect_tables("0,1,2,3,0,1,7\n", NULL, "rows of 7 numbers; 4 to 6 were expected");
  expect_tables("0,1,2,3,2\n", NULL, "type");
  expect_tables("0,1,2,3,0,0.5\n", NULL, "sign");
  expect_tables("0,1,2,3\n", "1,0,0,0,1,1,1,0,0\n", "rows of 9 numbers; 10 to 11 were expected");
  expect_tables("0,1,2,3\n", "1,0,0,0,1,1,1,0,0,0\n1,0,0,0,1,1,1,0,0,0\n", "rows");
  size_t room = 10 * (PSDM_MAX_JOINTS + 2);
  char *text = malloc(room);
  assert_non_null(text);
  text[0] = '\0';
  for (int k = 0; k <= PSDM_MAX_JOINTS; k++) strcpy(text + 8 * k, "0,1,2,3\n");
  expect_tables(text, NULL, "1001 joints; at most 1000 are accepted");
  free(text);
}

/* ---- names ---- */

typedef struct said {
  const char *text, *loss;
} said;

static void losses_are_named(void **state) {
  (void)state;
  static const said cases[] = {
      {DH "  - {name: \"a\\x01\"}\n", "a name with control characters"},
      {DH "  - {name: \"a$(x)\"}\n", "a name with $( or ${, which is read as xacro"},
      {DH "  - {name: \"a${x}\"}\n", "a name with $( or ${, which is read as xacro"},
      {DH "  - {name: a}\nlinks: [{name: \"l\\x02\"}]\n", "a name with control characters"},
      {DH "  - {name: a}\nlinks: [{name: \"l${\"}]\n", "a name with $( or ${, which is read as xacro"},
      {DH "  - {name: a, friction: {coulomb: 1, exponent: 0.5}}\n", "friction beyond viscous and Coulomb"},
      {DH "  - {name: a, friction: {coulomb: 1, static: 2, stribeck: 0.1}}\n", "friction beyond viscous and Coulomb"},
      {DH "  - {name: a, friction: {offset: 1}}\n", "friction beyond viscous and Coulomb"},
      {DH "  - {name: a, friction: {coulomb: 1, sigma0: 10}}\n", "friction beyond viscous and Coulomb"},
      {DH "  - {name: a, friction: {coulomb: 1, sigma1: 10}}\n", "friction beyond viscous and Coulomb"},
      {DH "  - {name: a}\nlinks: [{standard: {mx: 1}}]\n", "first moments without a mass"},
      {DH "  - {name: a, gear: 5}\n", "the gears and the transmission"},
      {DH "  - {name: a}\nassume: [Ixy1 = 0]\n", "the assumptions"},
      {DH "  - {name: a}\ntheta: {ZZ1: 1}\n", "the base parameters (theta)"},
      {LOOP TIED, "the closed loops"},
      {DH "  - {name: a}\ncollision: {floor: {}}\n", "the collision geometry"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_robot *robot = parse_robot(cases[k].text);
    char loss[300] = "";
    bool found = false;
    for (int i = 0; !found && psdm_robot_loss(robot, PSDM_FORMAT_URDF, i, loss, sizeof loss); i++)
      found = strstr(loss, cases[k].loss) != NULL;
    if (!found) fail_msg("'%s' is not named for\n%s", cases[k].loss, cases[k].text);
    psdm_robot_free(robot);
  }
}

/* names of every kind survive YAML unchanged */
static void names_survive(void **state) {
  (void)state;
  static const char *const names[] = {"a\x01"
                                      "b",
                                      "tab\there",
                                      "line\nbreak",
                                      "return\r",
                                      "\x7F",
                                      "next\xC2\x85line",
                                      "sep\xE2\x80\xA8"
                                      "a",
                                      "sep\xE2\x80\xA9"
                                      "a",
                                      "\xE2\x80\x94 dash",
                                      "\xC2\xA0space",
                                      "quote\"back\\slash",
                                      "plain"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char text[600], path[64], sentence[900];
    text_writer w = {text, sizeof text};
    text_put(&w, DH "  - {name: \"");
    for (const unsigned char *c = (const unsigned char *)names[k]; *c; c++) {
      if (*c == 0xC2 && c[1] == 0x85) text_put(&w, "\\N"), c++;
      else if (*c == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9))
        text_put(&w, c[2] == 0xA8 ? "\\L" : "\\P"), c += 2;
      else if (*c < 0x20 || *c == 0x7F || *c == '"' || *c == '\\') text_put(&w, "\\x%02X", *c);
      else text_put(&w, "%c", *c);
    }
    text_put(&w, "\"}\n");
    psdm_robot *robot = parse_robot(text), *again;
    assert_string_equal(psdm_robot_joint(robot, 0)->name, names[k]);
    snprintf(path, sizeof path, "/tmp/psdm-facts-%ld.yaml", (long)getpid());
    psdm_output *out;
    psdm_error error;
    assert_int_equal(psdm_output_open(path, NULL, &out, &error), PSDM_OK);
    psdm_robot_write(robot, PSDM_FORMAT_YAML, out);
    assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
    psdm_status status = psdm_robot_load(path, NULL, NULL, &again, &error);
    unlink(path);
    if (status) fail_msg("name %zu: %s", k, psdm_error_format(&error, sentence, sizeof sentence));
    assert_string_equal(psdm_robot_joint(again, 0)->name, names[k]);
    psdm_robot_free(again), psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_loops_are_refused),
      cmocka_unit_test(impossible_cuts_are_refused),
      cmocka_unit_test(coupling_of_closed_loops),
      cmocka_unit_test(indices_out_of_range),
      cmocka_unit_test(wrong_tables_are_refused),
      cmocka_unit_test(losses_are_named),
      cmocka_unit_test(names_survive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
