/* A parameter file with one mistake: refused with the line, what was found and what was expected; a table of edits of
 * two good files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static const char arm[] =
    "name: arm\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: s, a: 1.2, gear: 50}\n  - {name: e, a: "
    "1.1, gear: -20, drive_inertia: 0.4}\n"
    "transmission: [[1, 0], [0.5, 1]]\nlinks:\n  - {mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.2, xx: 0.1, yy: "
    "0.2}}\n  - {mass: 2, com: [-0.5, 0, 0], inertia: {zz: 0.3, xx: 0.1, yy: 0.3}}\n";

/* lines are counted in the table: the head has three */
#define HEAD                                  \
  "format: psdm-parameters-1\n"               \
  "robot: {name: arm, kinematics: \"KEY\"}\n" \
  "speed: [1, 2]\n"
#define THETA                                                                                                          \
  "theta: {ZZ1: {value: -3.7, sd: 0.1, prior: 0.1, essential: false}, mx1: {value: 3}, my1: {value: 0}, ZZ2: {value: " \
  "-1.6}, mx2: {value: 1.2}, my2: {value: 0}, Ia2: {value: 0.4}}\n"

static const char oneshot[] = HEAD THETA
    "estimator: ols\n"
    "friction: [[{column: \"tanh(v/w)\", gain: 1, width: 0.1, load: 1, sd: 0.2}, {column: v, gain: 2}], []]\n"
    "load: [1, 2, 3, 4, 5, 6, 7]\n"
    "mean_load: [3, 4]\n"
    "sigma: [.inf, .nan]\n"
    "choices: {kinematics: qd, cutoff: 10, delay: 0.001, lambda: 0.1, rest: 0.01, rate: 1000}\n"
    "errors: {train: {global_rel: 0.01, rows: [5, 6], rmse: [1, 2], rel: [1, 2], nrmse: [1, 2], r2: [1, 2]}, heldout: "
    "{rows: [1, 2]}}\n"
    "pi: {links: [[0, 3, 0, 0, 1, 0, 0, 1, 0, -3.7], [0, 1.2, 0, 0, 1, 0, 0, 1, 0, -1.6]], drives: [0.4]}\n";

static const char steps[] =
    HEAD THETA "route: steps\n"
               "steps: [motor, gravity]\n"
               "currents: true\n"
               "motors: [{constant: 0.1, sd: 0.01}, {constant: .nan, sd: .nan}]\n"
               "lugre: [none, {coulomb: 1, static: 1.5, stribeck: 0.1, viscous: 2, exponent: 1, sigma0: 1000, sigma1: "
               "1, offset: 0, sd: [1, 2, 3, 4, 5, 6, 7, 8]}]\n"
               "tool: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
               "step_errors: {motor: {rows: [1, 2], rmse: [1, 2]}}\n"
               "covariance:\n  - [1]\n  - [0, 1]\n  - [0, 0, 1]\n  - [0, 0, 0, 1]\n  - [0, 0, 0, 0, 1]\n  - [0, 0, 0, "
               "0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - "
               "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, "
               "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
               "1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
               "0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
               "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, 0, 0, "
               "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n"
               "  - [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n  - [0, 0, 0, 0, 0, 0, "
               "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\n";

/* an edit: the first `from` becomes `to` */
typedef struct edit {
  const char *from, *to, *expected;
  int line;
} edit;

static const edit oneshot_edits[] = {
    {"psdm-parameters-1", "psdm-parameters-2", "format is 'psdm-parameters-2'; psdm-parameters-1 was expected", 1},
    {"format: psdm-parameters-1", "format: [1]", "format is a list; psdm-parameters-1 was expected", 1},
    {"robot: {name: arm, ", "robot: {", "no 'name' in robot", 2},
    {"robot: {name: arm", "robot: {name: [arm]", "name is a list; a name was expected", 2},
    {"\"KEY\"", "\"123\"", "kinematics is '123'; a fingerprint of sixteen hexadecimal digits was expected", 2},
    {"\"KEY\"", "\"0123456789abcdeg\"", "a fingerprint of sixteen hexadecimal digits was expected", 2},
    {"speed: [1, 2]", "speed: 1", "speed is '1'; a list of numbers was expected", 3},
    {"speed: [1, 2]", "speed: [1, 2, 3]", "speed has 3 numbers; 2 were expected", 3},
    {"speed: [1, 2]", "speed: [1, .nan]", "an entry is '.nan'; a finite number was expected", 3},
    {"speed: [1, 2]", "speed: [1, fast]", "an entry is 'fast'; a decimal number was expected", 3},
    {"speed: [1, 2]\n", "speed: [1, 2]\nspeed: [1, 2]\n", "duplicate key 'speed' in a parameter file", 4},
    {"speed: [1, 2]\n", "sped: [1, 2]\n", "unknown key 'sped' in a parameter file; did you mean 'speed'?", 3},
    {"speed: [1, 2]\n", "", "no 'speed' in a parameter file", 1},
    {"theta: {ZZ1", "theta: {ZZ9", "'ZZ9' is not a parameter of robot 'arm'", 4},
    {"mx1: {value: 3}", "ZZ1: {value: 3}", "duplicate base parameter 'ZZ1'", 4},
    {"mx1: {value: 3}", "mx1: 3", "a base parameter is not a map", 4},
    {"mx1: {value: 3}", "mx1: {sd: 3}", "no 'value' in a base parameter", 4},
    {"mx1: {value: 3}", "mx1: {value: .nan}", "value is '.nan'; a finite number was expected", 4},
    {"mx1: {value: 3}", "mx1: {value: 3, sd: big}", "sd is 'big'; a decimal number was expected", 4},
    {"prior: 0.1", "prior: {}", "prior is a map; a decimal number was expected", 4},
    {"essential: false", "essential: no", "essential is 'no'; true or false was expected", 4},
    {"estimator: ols", "estimator: best", "estimator is 'best'; the name of an estimator was expected", 5},
    {"estimator: ols\n", "", "no 'estimator' in a parameter file of the route oneshot", 1},
    {"estimator: ols\n", "estimator: ols\nroute: sideways\n", "route is 'sideways'; oneshot or steps was expected", 6},
    {"estimator: ols\n", "estimator: ols\nsteps: [motor]\n",
     "'steps' belongs to the route steps; this file is of oneshot", 6},
    {", []]\n", "]\n", "friction needs a list of columns for each of 2 drives", 6},
    {", []]\n", ", 7]\n", "an entry is '7'; a list of friction columns was expected", 6},
    {"\"tanh(v/w)\"", "\"tanh(v)\"", "column is 'tanh(v)'; a column such as \"v\" or \"tanh(v/w)\" was expected", 6},
    {"gain: 1, ", "", "no 'gain' in a friction column", 6},
    {"gain: 1, ", "gain: .inf, ", "gain is '.inf'; a finite number was expected", 6},
    {"width: 0.1, ", "", "column \"tanh(v/w)\" needs a width above zero", 6},
    {"width: 0.1, ", "width: x, ", "width is 'x'; a decimal number was expected", 6},
    {"load: 1, ", "load: 3, ", "load is '3'; 0, 1 or 2 was expected", 6},
    {"load: 1, ", "load: much, ", "load is 'much'; a decimal number was expected", 6},
    {"sd: 0.2", "sd: []", "sd is a list; a decimal number was expected", 6},
    {"load: [1, 2, 3, 4, 5, 6, 7]\n", "", "a friction column depends on the load, but 'load' is missing", 6},
    {"load: [1, 2, 3, 4, 5, 6, 7]\n", "load: [1]\n", "load has 1 numbers; 7 were expected", 7},
    {"mean_load: [3, 4]", "mean_load: [3, .nan]", "a finite number was expected", 8},
    {"sigma: [.inf, .nan]", "sigma: {a: 1}", "sigma is a map; a list of numbers was expected", 9},
    {"kinematics: qd", "kinematics: qdot", "kinematics is 'qdot'; auto, q, qd or qdd was expected", 10},
    {"cutoff: 10", "cutoff: ten", "cutoff is 'ten'; a decimal number was expected", 10},
    {"rate: 1000", "rates: 1000", "unknown key 'rates' in choices; did you mean 'rate'?", 10},
    {"errors: {train", "errors: {trial", "unknown key 'trial' in errors", 11},
    {"rows: [5, 6]", "rows: [5, -6]", "counts of rows was expected", 11},
    {"rows: [5, 6]", "rows: [5]", "rows has 1 numbers; 2 were expected", 11},
    {"global_rel: 0.01", "global_rel: x", "global_rel is 'x'; a decimal number was expected", 11},
    {"r2: [1, 2]", "r3: [1, 2]", "unknown key 'r3' in errors", 11},
    {"pi: {links: [[0", "pi: {link: [[0", "unknown key 'link' in pi; did you mean 'links'?", 12},
    {", [0, 1.2, 0, 0, 1, 0, 0, 1, 0, -1.6]]", "]", "a list of 2 links, ten numbers each, was expected", 12},
    {"[[0, 3, 0, 0, 1", "[[0, 3, 0, 0, 0, 1", "the list has 11 numbers; 10 were expected", 12},
    {"drives: [0.4]", "drives: [.nan]", "a finite number was expected", 12},
    {"mx2: {value: 1.2}", "mx2: {value: 1.3}",
     "theta and pi do not agree: mx2 is 1.3, and 1.2 by pi; without the key 'pi' theta is used", 4},
    {"drives: [0.4]", "drives: [0.5]", "theta and pi do not agree: Ia2 is 0.4, and 0.5 by pi", 4},
};

static const edit steps_edits[] = {
    {"steps: [motor, gravity]", "steps: motor", "steps is 'motor'; a list of steps was expected", 6},
    {"steps: [motor, gravity]", "steps: [motor, motor]", "duplicate step 'motor'", 6},
    {"steps: [motor, gravity]", "steps: [engine]",
     "an entry is 'engine'; motor, gravity, friction or inertia was expected", 6},
    {"currents: true", "currents: 1", "currents is '1'; true or false was expected", 7},
    {"currents: true\n", "", "no 'currents' in a parameter file of the route steps", 1},
    {"constant: 0.1", "constant: 0", "constant is '0'; a number other than zero was expected", 8},
    {"constant: 0.1", "constant: .inf", "constant is '.inf'; a finite number or .nan was expected", 8},
    {"{constant: 0.1, sd: 0.01}, ", "", "motors needs {constant, sd} of each of 2 drives", 8},
    {"sd: 0.01", "sdev: 0.01", "unknown key 'sdev' in a motor", 8},
    {"[none, ", "[", "lugre needs the friction of each of the 2 drives", 9},
    {"[none, ", "[nothing, ", "an entry is 'nothing'; a map of friction's numbers, or none, was expected", 9},
    {"coulomb: 1, ", "", "no 'coulomb' in a drive's friction", 9},
    {"coulomb: 1, ", "coulomb: .nan, ", "coulomb is '.nan'; a finite number was expected", 9},
    {"sd: [1, 2, 3, 4, 5, 6, 7, 8]", "sd: [1]", "sd has 1 numbers; 8 were expected", 9},
    {"sigma1: 1", "sigma1: -1", "negative", 9},
    {"sigma0: 1000", "sigma0: -1", "stribeck, sigma0 or sigma1 is negative", 9},
    {"tool: [1, ", "tool: [", "tool has 9 numbers; 10 were expected", 10},
    {"step_errors: {motor", "step_errors: {motion", "unknown key 'motion' in step_errors; did you mean 'motor'?", 11},
    {"step_errors: {motor: {rows", "step_errors: {motor: {row", "unknown key 'row' in errors; did you mean 'rows'?",
     11},
    {"  - [1]\n", "", "covariance needs 25 rows, one for each motor, base parameter and number of lugre", 13},
    {"  - [0, 1]\n", "  - [0, 1, 2]\n", "the list has 3 numbers; 2 were expected", 14},
    {"mx1: {value: 3}", "mx1: {value: .inf}", "value is '.inf'; a finite number or .nan was expected", 4},
    {"steps: [motor, gravity]\n", "steps: [motor, gravity]\nfriction: [[], []]\n",
     "'friction' belongs to the route oneshot; this file is of steps", 7},
};

/* `from` of the text becomes `to`, and KEY the robot's fingerprint */
static void replace(char *text, size_t size, const char *from, const char *to) {
  char *at = strstr(text, from);
  assert_non_null(at);
  assert_true(strlen(text) + strlen(to) < size);
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
}

static psdm_status parse(const char *whole, const edit *e, const psdm_robot *robot, psdm_error *error) {
  static char text[1 << 14];
  char key[20];
  psdm_parameters *p;
  snprintf(text, sizeof text, "%s", whole);
  if (e) replace(text, sizeof text, e->from, e->to);
  snprintf(key, sizeof key, "%016" PRIx64, psdm_robot_fingerprint(robot));
  if (strstr(text, "KEY")) replace(text, sizeof text, "KEY", key);
  psdm_status status = psdm_parameters_parse(text, strlen(text), "p.yaml", robot, NULL, &p, error);
  assert_true(!p == !!status);
  psdm_parameters_free(p);
  return status;
}

static void check_table(const char *whole, const edit *edits, size_t count) {
  psdm_robot *robot = parse_robot(arm);
  psdm_error error = {0};
  psdm_status status = parse(whole, NULL, robot, &error);
  if (status) fail_msg("%d: %s", error.line, error.text);
  for (size_t k = 0; k < count; k++) {
    const edit *e = &edits[k];
    error = (psdm_error){0};
    assert_int_equal(parse(whole, e, robot, &error), PSDM_E_PARSE);
    if (!strstr(error.text, e->expected) || error.line != e->line)
      fail_msg("'%s' -> '%s': line %d: %s\nexpected line %d: %s", e->from, e->to, error.line, error.text, e->line,
               e->expected);
    assert_string_equal(error.file, "p.yaml");
  }
  psdm_robot_free(robot);
}

static void test_oneshot_refusals(void **unused) {
  (void)unused;
  check_table(oneshot, oneshot_edits, sizeof oneshot_edits / sizeof *oneshot_edits);
}

static void test_steps_refusals(void **unused) {
  (void)unused;
  check_table(steps, steps_edits, sizeof steps_edits / sizeof *steps_edits);
}

/* the file of another robot is recognised by its kinematics, and both names are reported */
static void test_another_robot(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot(arm);
  psdm_error error = {0};
  const edit other = {"\"KEY\"", "\"0123456789abcdef\"", NULL, 2};
  assert_int_equal(parse(oneshot, &other, robot, &error), PSDM_E_ROBOT);
  assert_int_equal(error.line, 2);
  assert_non_null(strstr(error.text, "whose kinematics (0123456789abcdef) are not those of 'arm'"));
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_oneshot_refusals), cmocka_unit_test(test_steps_refusals),
                                     cmocka_unit_test(test_another_robot)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
