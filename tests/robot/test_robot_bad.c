/* test_robot_bad.c: wrong robot files, each with the message that its author gets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "psdm/robot.h"
#include "bad_cases.h"

#define FILE_NAME "test.yaml"

/* two lines, so that the first joint stands on line 3 */
#define DH "convention: dh\njoints:\n"
#define JOINT "  - {name: A1, a: 0.5}\n"
#define TWO DH JOINT "  - {name: A2, a: 0.4}\n"
#define JOINT_KEYS                                                                                        \
  "name, type, theta, d, a, alpha, parent, origin, limits, drive_inertia, friction, stiffness, damping, " \
  "torque_constant, gear, couple, motor"
#define TOP_KEYS "name, gravity, convention, joints, links, base, tool, theta, transmission, loops, assume, collision"
#define BODY_KEYS "mass, com, inertia, standard, name"
#define NUMBER "a finite decimal number was expected"

/* the template of the cases below is itself good */
TEST(the_template_is_good) {
  static const char *const good[] = {DH JOINT, TWO, TWO "links: [{mass: 1}, {mass: 1}]\n"};
  for (size_t i = 0; i < 3; i++) psdm_robot_free(parse_robot(good[i]));
}

TEST(keys) {
  static const bad_case cases[] = {
      /* unknown, at each level */
      {DH "  - {name: A1, alpa: 0}\n", PSDM_E_PARSE,
       "test.yaml:3:16: joint 'A1': unknown key 'alpa' in a joint; did you mean 'alpha'? (known: " JOINT_KEYS ")"},
      {DH "  - {alpa: 0, name: A1}\n", PSDM_E_PARSE,
       "test.yaml:3:6: joint 'A1': unknown key 'alpa' in a joint; did you mean 'alpha'? (known: " JOINT_KEYS ")"},
      {DH "  - {Theta: 0}\n", PSDM_E_PARSE,
       "test.yaml:3:6: joint '1': unknown key 'Theta' in a joint; did you mean 'theta'? (known: " JOINT_KEYS ")"},
      {DH "  - {qwertyuiop: 0}\n", PSDM_E_PARSE,
       "test.yaml:3:6: joint '1': unknown key 'qwertyuiop' in a joint (known: " JOINT_KEYS ")"},
      {DH "  - {\"\": 0}\n", PSDM_E_PARSE,
       "test.yaml:3:6: joint '1': unknown key '' in a joint (known: " JOINT_KEYS ")"},
      {DH "  - {<<: {a: 1}}\n", PSDM_E_PARSE,
       "test.yaml:3:6: joint '1': unknown key '<<' in a joint (known: " JOINT_KEYS ")"},
      {DH JOINT "lnks: []\n", PSDM_E_PARSE,
       "test.yaml:4:1: unknown key 'lnks' in a robot file; did you mean 'links'? (known: " TOP_KEYS ")"},
      {DH JOINT "links:\n  - {mas: 1}\n", PSDM_E_PARSE,
       "test.yaml:5:6: link 1: unknown key 'mas' in a link; did you mean 'mass'? (known: " BODY_KEYS ")"},
      {DH JOINT "links:\n  - {mass: 1, inertia: {Ixx: 1}}\n", PSDM_E_PARSE,
       "test.yaml:5:25: link 1: unknown key 'Ixx' in inertia; did you mean 'xx'? (known: xx, xy, xz, yy, yz, zz)"},
      {DH JOINT "links:\n  - standard: {M: 1}\n", PSDM_E_PARSE,
       "test.yaml:5:16: link 1: unknown key 'M' in standard (known: m, mx, my, mz, XX, XY, XZ, YY, YZ, ZZ)"},
      {DH "  - {name: A1, origin: {xzy: [0, 0, 0]}}\n", PSDM_E_PARSE,
       "test.yaml:3:25: joint 'A1': unknown key 'xzy' in origin (known: xyz, rpy)"},
      {DH JOINT "base: {rpyx: [0, 0, 0]}\n", PSDM_E_PARSE,
       "test.yaml:4:8: unknown key 'rpyx' in origin; did you mean 'rpy'? (known: xyz, rpy)"},
      {DH "  - {name: A1, limits: {lowr: 0}}\n", PSDM_E_PARSE,
       "test.yaml:3:25: joint 'A1': unknown key 'lowr' in limits; did you mean 'lower'? (known: lower, upper, "
       "velocity, acceleration, effort)"},
      {DH "  - {name: A1, friction: {coulom: 0}}\n", PSDM_E_PARSE,
       "test.yaml:3:27: joint 'A1': unknown key 'coulom' in friction; did you mean 'coulomb'? (known: coulomb, static, "
       "stribeck, viscous, exponent, "
       "sigma0, sigma1, offset)"},
      {DH "  - {name: A1, motor: {masss: 0}}\n", PSDM_E_PARSE,
       "test.yaml:3:24: joint 'A1': unknown key 'masss' in motor; did you mean 'mass'? (known: mass, com, inertia, "
       "on)"},
      {DH JOINT "tool: {weight: 1}\n", PSDM_E_PARSE,
       "test.yaml:4:8: tool: unknown key 'weight' in tool (known: " BODY_KEYS ")"},
      /* twice */
      {"convention: dh\nconvention: dh\n", PSDM_E_PARSE, "test.yaml:2:1: duplicate key 'convention' in a robot file"},
      {DH "  - {name: A1, a: 1, d: 2, a: 1}\n", PSDM_E_PARSE,
       "test.yaml:3:28: joint 'A1': duplicate key 'a' in a joint"},
      {DH JOINT "links:\n  - {mass: 1, mass: 1}\n", PSDM_E_PARSE,
       "test.yaml:5:15: link 1: duplicate key 'mass' in a link"},
      {DH JOINT "links:\n  - {mass: 1, inertia: {xx: 1, xx: 1}}\n", PSDM_E_PARSE,
       "test.yaml:5:32: link 1: duplicate key 'xx' in inertia"},
      {DH JOINT "theta: {ZZ1: 1, ZZ1: 2}\n", PSDM_E_PARSE, "test.yaml:4:17: duplicate base parameter"},
      /* missing, or of the wrong kind */
      {"joints: [{}]\n", PSDM_E_PARSE, "test.yaml:1:1: no 'convention'; dh or modified-dh was expected"},
      {"convention: dh\n", PSDM_E_PARSE, "test.yaml:1:1: no 'joints'"},
      {"convention: DH\njoints: [{}]\n", PSDM_E_PARSE,
       "test.yaml:1:13: convention is 'DH'; dh or modified-dh was expected"},
      {"convention: [dh]\njoints: [{}]\n", PSDM_E_PARSE,
       "test.yaml:1:13: convention is a list; dh or modified-dh was expected"},
      {"convention:\njoints: [{}]\n", PSDM_E_PARSE,
       "test.yaml:1:12: convention is empty; dh or modified-dh was expected"},
      {"convention: dh\njoints:\n", PSDM_E_PARSE, "test.yaml:2:8: joints is empty; a list of joints was expected"},
      {"convention: dh\njoints: []\n", PSDM_E_PARSE, "test.yaml:2:9: joints is empty; a list of joints was expected"},
      {"convention: dh\njoints: {A1: {a: 1}}\n", PSDM_E_PARSE,
       "test.yaml:2:9: joints is a map; a list of joints was expected"},
      {"convention: dh\njoints: [revolute]\n", PSDM_E_PARSE,
       "test.yaml:2:10: joint '1': entry is 'revolute'; a map (a joint) was expected"},
      {"- a\n- b\n", PSDM_E_PARSE, "test.yaml:1:1: entry is a list; a map (a robot file) was expected"},
      {"hello\n", PSDM_E_PARSE, "test.yaml:1:1: entry is 'hello'; a map (a robot file) was expected"},
      {"", PSDM_E_PARSE, "test.yaml:1:1: the file is empty"},
      {DH JOINT "loops: []\n", PSDM_E_PARSE, "test.yaml:4:8: loops is empty; a list of loops was expected"},
  };
  CHECK(cases);
}

TEST(values) {
  static const bad_case cases[] = {
      {DH "  - {name: A1, a: nan}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': a is 'nan'; " NUMBER},
      {DH "  - {name: A1, d: .inf}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is '.inf'; " NUMBER},
      {DH "  - {name: A1, d: 1e999}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is '1e999'; " NUMBER},
      {DH "  - {name: A1, d: 0x10}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is '0x10'; " NUMBER},
      {DH "  - {name: A1, d: '1,5'}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is '1,5'; " NUMBER},
      {DH "  - {name: A1, d: 1 m}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is '1 m'; " NUMBER},
      {DH "  - {name: A1, d: }\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is empty; " NUMBER},
      {DH "  - {name: A1, d: [1]}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is a list; " NUMBER},
      {DH "  - {name: A1, d: {x: 1}}\n", PSDM_E_PARSE, "test.yaml:3:19: joint 'A1': d is a map; " NUMBER},
      {DH "  - {name: A1, alpha: pi*2}\n", PSDM_E_PARSE,
       "test.yaml:3:23: joint 'A1': alpha is 'pi*2'; a number or an angle such as 1.57, -pi/2 or 90 deg was expected"},
      {DH "  - {name: A1, theta: nan}\n", PSDM_E_PARSE,
       "test.yaml:3:23: joint 'A1': theta is 'nan'; a number or an angle such as 1.57, -pi/2 or 90 deg was expected"},
      {DH "  - {name: A1, type: rotary}\n", PSDM_E_PARSE,
       "test.yaml:3:22: joint 'A1': type is 'rotary'; revolute, prismatic or fixed was expected"},
      {DH "  - {name: A1, stiffness: -5}\n", PSDM_E_PARSE,
       "test.yaml:3:27: joint 'A1': stiffness is '-5'; a number above zero was expected"},
      {DH "  - {name: A1, damping: -1}\n", PSDM_E_PARSE,
       "test.yaml:3:25: joint 'A1': damping is '-1'; a number that is not negative was expected"},
      {DH "  - {name: A1, stiffness: 0}\n", PSDM_E_PARSE,
       "test.yaml:3:27: joint 'A1': stiffness is '0'; a number above zero was expected"},
      {DH "  - {name: A1, gear: 0}\n", PSDM_E_PARSE,
       "test.yaml:3:22: joint 'A1': gear is '0'; a number other than zero was expected"},
      {DH "  - {name: A1, torque_constant: 0.0}\n", PSDM_E_PARSE,
       "test.yaml:3:33: joint 'A1': torque_constant is '0.0'; a number other than zero was expected"},
      {DH "  - {name: A1, drive_inertia: none}\n", PSDM_E_PARSE,
       "test.yaml:3:31: joint 'A1': drive_inertia is 'none'; a number or the word 'unknown' was expected"},
      {DH "  - {name: A1, drive_inertia: .nan}\n", PSDM_E_PARSE,
       "test.yaml:3:31: joint 'A1': drive_inertia is '.nan'; a number or the word 'unknown' was expected"},
      {DH "  - {name: A1, limits: {lower: 1, upper: 1}}\n", PSDM_E_PARSE,
       "test.yaml:3:24: joint 'A1': lower limit 1 is not below the upper limit 1"},
      {DH "  - {name: A1, limits: {lower: 2, upper: -2}}\n", PSDM_E_PARSE,
       "test.yaml:3:24: joint 'A1': lower limit 2 is not below the upper limit -2"},
      {DH "  - {name: A1, limits: {velocity: -1}}\n", PSDM_E_PARSE,
       "test.yaml:3:35: joint 'A1': velocity is '-1'; a number above zero was expected"},
      {DH "  - {name: A1, limits: {acceleration: 0}}\n", PSDM_E_PARSE,
       "test.yaml:3:39: joint 'A1': acceleration is '0'; a number above zero was expected"},
      {DH "  - {name: A1, limits: {effort: 90 deg}}\n", PSDM_E_PARSE,
       "test.yaml:3:33: joint 'A1': effort is '90 deg'; a number above zero was expected"},
      {DH "  - {name: A1, limits: [1, 2]}\n", PSDM_E_PARSE,
       "test.yaml:3:24: joint 'A1': limits is a list; a map (limits) was expected"},
      {DH "  - {name: A1, friction: {static: 1}}\n", PSDM_E_PARSE,
       "test.yaml:3:26: joint 'A1': friction has only one of 'static' and 'stribeck'; they belong together"},
      {DH "  - {name: A1, friction: {coulomb: 1, stribeck: 0.1}}\n", PSDM_E_PARSE,
       "test.yaml:3:26: joint 'A1': friction has only one of 'static' and 'stribeck'; they belong together"},
      {DH "  - {name: A1, friction: {static: 1, stribeck: 0}}\n", PSDM_E_PARSE,
       "test.yaml:3:48: joint 'A1': stribeck is '0'; a number above zero was expected"},
      {DH "  - {name: A1, friction: {exponent: -1}}\n", PSDM_E_PARSE,
       "test.yaml:3:37: joint 'A1': exponent is '-1'; a number above zero was expected"},
      {DH "  - {name: A1, origin: {xyz: [0, 0]}}\n", PSDM_E_PARSE,
       "test.yaml:3:30: joint 'A1': xyz has 2 entries; a list of 3 numbers was expected"},
      {DH "  - {name: A1, origin: {rpy: [0, 0, 0, 0]}}\n", PSDM_E_PARSE,
       "test.yaml:3:30: joint 'A1': rpy has 4 entries; a list of 3 angles was expected"},
      {DH "  - {name: A1, origin: {rpy: [0, up, 0]}}\n", PSDM_E_PARSE,
       "test.yaml:3:34: joint 'A1': entry is 'up'; a number or an angle such as 1.57, -pi/2 or 90 deg was expected"},
      {DH "  - {name: A1, origin: [0, 0, 0]}\n", PSDM_E_PARSE,
       "test.yaml:3:24: joint 'A1': origin is a list; a map (origin) was expected"},
      {"gravity: [0, 0]\n" DH JOINT, PSDM_E_PARSE,
       "test.yaml:1:10: gravity has 2 entries; a list of 3 numbers was expected"},
      {"gravity: -9.81\n" DH JOINT, PSDM_E_PARSE,
       "test.yaml:1:10: gravity is '-9.81'; a list of 3 numbers was expected"},
      {"gravity: [0, 0, nan]\n" DH JOINT, PSDM_E_PARSE, "test.yaml:1:17: entry is 'nan'; " NUMBER},
      {DH JOINT "theta: [1]\n", PSDM_E_PARSE,
       "test.yaml:4:8: theta is a list; a map {base parameter: value} was expected"},
      {DH JOINT "theta: {ZZ1: big}\n", PSDM_E_PARSE, "test.yaml:4:14: ZZ1 is 'big'; " NUMBER},
  };
  CHECK(cases);
}

TEST(links_and_tool) {
  static const bad_case cases[] = {
      {TWO "links:\n  - {mass: 1}\n", PSDM_E_PARSE,
       "test.yaml:6:3: 1 links for 2 joints; one link per joint was expected"},
      {TWO "links: []\n", PSDM_E_PARSE, "test.yaml:5:8: 0 links for 2 joints; one link per joint was expected"},
      {TWO "links: [{}, {}, {}]\n", PSDM_E_PARSE,
       "test.yaml:5:8: 3 links for 2 joints; one link per joint was expected"},
      {TWO "links: {mass: 1}\n", PSDM_E_PARSE,
       "test.yaml:5:8: links is a map; a list with one link per joint was expected"},
      {TWO "links: [{mass: 1}, 2]\n", PSDM_E_PARSE,
       "test.yaml:5:20: link 2: entry is '2'; a map (a link) was expected"},
      {TWO "links:\n  - {mass: 1}\n  - {mass: heavy}\n", PSDM_E_PARSE,
       "test.yaml:7:12: link 2: mass is 'heavy'; " NUMBER},
      {TWO "links:\n  - {mass: 1, com: [0, 0, inf]}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:6:27: link 1: entry is 'inf'; " NUMBER},
      {TWO "links:\n  - {mass: 1, com: [0]}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:6:20: link 1: com has 1 entries; a list of 3 numbers was expected"},
      {TWO "links:\n  - {mass: 1, inertia: [1, 1, 1]}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:6:24: link 1: inertia is a list; a map (inertia) was expected"},
      {TWO "links:\n  - {mass: 1, standard: {m: 1}}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:6:5: link 1: both 'standard' and mass, com or inertia are given; keep one of the two"},
      {TWO "links:\n  - {com: [0, 0, 0], standard: {m: 1}}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:6:5: link 1: both 'standard' and mass, com or inertia are given; keep one of the two"},
      {TWO "links:\n  - {}\n  - {com: [0, 0, 0]}\n", PSDM_E_PARSE,
       "test.yaml:7:5: link 2: com or inertia without a mass"},
      {TWO "links:\n  - {}\n  - {inertia: {xx: 1}}\n", PSDM_E_PARSE,
       "test.yaml:7:5: link 2: com or inertia without a mass"},
      {TWO "tool: {}\n", PSDM_E_PARSE, "test.yaml:5:7: tool: a tool needs a mass"},
      {TWO "tool: {name: gripper}\n", PSDM_E_PARSE, "test.yaml:5:7: tool: a tool needs a mass"},
      {TWO "tool: {com: [0, 0, 1]}\n", PSDM_E_PARSE, "test.yaml:5:7: tool: com or inertia without a mass"},
      {TWO "tool: 3\n", PSDM_E_PARSE, "test.yaml:5:7: tool: tool is '3'; a map (tool) was expected"},
  };
  CHECK(cases);
}

TEST(names) {
  static const bad_case cases[] = {
      {DH JOINT "  - {name: A2}\n  - {name: A1}\n", PSDM_E_PARSE,
       "test.yaml:5:5: joint name 'A1' is a duplicate (first on line 3)"},
      {DH "  - {}\n  - {name: joint1}\n", PSDM_E_PARSE,
       "test.yaml:4:5: joint name 'joint1' is a duplicate (first on line 3)"},
      {TWO "links:\n  - {name: arm}\n  - {name: arm}\n", PSDM_E_PARSE,
       "test.yaml:7:5: link name 'arm' is a duplicate (first on line 6)"},
      {TWO "links:\n  - {name: link2}\n  - {}\n", PSDM_E_PARSE,
       "test.yaml:7:5: link name 'link2' is a duplicate (first on line 6)"},
      {DH "  - {name: ''}\n", PSDM_E_PARSE,
       "test.yaml:3:12: joint '': name is empty; a name of 1 to 200 characters was expected"},
      {DH "  - {name: [A1]}\n", PSDM_E_PARSE,
       "test.yaml:3:12: joint '1': name is a list; a name of 1 to 200 characters was expected"},
      {"name: ''\n" DH JOINT, PSDM_E_PARSE, "test.yaml:1:7: name is empty; a name of 1 to 200 characters was expected"},
      {DH JOINT "links: [{name: ''}]\n", PSDM_E_PARSE,
       "test.yaml:4:16: link 1: name is empty; a name of 1 to 200 characters was expected"},
  };
  CHECK(cases);

  /* a name may have 200 characters, not 201 */
  char text[400], name[202], sentence[900];
  for (size_t length = 200; length <= 201; length++) {
    memset(name, 'x', length);
    name[length] = '\0';
    snprintf(text, sizeof text, DH "  - {name: %s}\n", name);
    assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), length == 200 ? PSDM_OK : PSDM_E_PARSE);
    if (length == 200) continue;
    memset(name, 'x', 60);
    strcpy(name + 60, "...");
    snprintf(text, sizeof text, "': name is '%s'; a name of 1 to 200 characters was expected", name);
    assert_non_null(strstr(sentence, text));
  }
}

TEST(trees) {
  static const bad_case cases[] = {
      {DH "  - {name: shoulder}\n  - {name: elbow, parent: sholder}\n", PSDM_E_PARSE,
       "test.yaml:4:27: joint 'elbow': parent names 'sholder', which is not a joint of this file; did you mean "
       "'shoulder'?"},
      {DH JOINT "  - {name: B, parent: zzzzzzz}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': parent names 'zzzzzzz', which is not a joint of this file"},
      {DH JOINT "  - {name: B, parent: [A1]}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': parent is a list; a name of 1 to 200 characters was expected"},
      {DH JOINT "  - {name: B, parent: }\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': parent is empty; a name of 1 to 200 characters was expected"},
      {DH JOINT "  - {name: B, parent: B}\n", PSDM_E_PARSE, "test.yaml:4:23: joint 'B': it is its own parent"},
      {TWO "links:\n  - {name: L1}\n  - {name: L2}\n", PSDM_OK, ""},
      {DH "  - {name: A, parent: B}\n  - {name: B, parent: A}\n", PSDM_E_ROBOT,
       "test.yaml:3:5: joint 'A': its parents form a cycle"},
      {DH JOINT "  - {name: B, parent: D}\n  - {name: C}\n  - {name: D}\n", PSDM_E_ROBOT,
       "test.yaml:4:5: joint 'B': its parents form a cycle"},
      {DH "  - {name: base}\n  - {name: B, parent: base}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': 'base' is also the name of a joint or link; rename it"},
      {DH "  - {name: A, type: fixed}\n  - {name: B, type: fixed}\n", PSDM_E_ROBOT, "test.yaml:1:1: no joint moves"},
      {DH "  - {name: A, type: fixed, drive_inertia: 1}\n  - {name: B}\n", PSDM_E_ROBOT,
       "test.yaml:3:5: joint 'A': a fixed joint has no drive"},
      {DH JOINT "  - {name: A2, motor: {mass: 1, on: A3}}\n", PSDM_E_PARSE,
       "test.yaml:4:37: joint 'A2': on names 'A3', which is not a joint of this file; did you mean 'A1'?"},
      {DH JOINT "  - {name: A2, drive_inertia: 1, motor: {mass: 1, inertia: 1}}\n", PSDM_E_PARSE,
       "test.yaml:4:41: joint 'A2': both drive_inertia and motor inertia are given; keep one"},
      {DH JOINT "  - {name: A2, motor: {inertia: -1}}\n", PSDM_E_PARSE,
       "test.yaml:4:33: joint 'A2': inertia is '-1'; a number above zero was expected"},
      {DH JOINT "  - {name: A2, motor: 3}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'A2': motor is '3'; a map (motor) was expected"},
  };
  CHECK(cases);
}

TEST(couplings) {
  static const bad_case cases[] = {
      {DH "  - {name: shoulder}\n  - {name: B, couple: {sholder: 1}}\n", PSDM_E_PARSE,
       "test.yaml:4:24: joint 'B': couple names 'sholder', which is not a joint of this file; did you mean "
       "'shoulder'?"},
      {DH JOINT "  - {name: B, couple: {base: 1}}\n", PSDM_E_PARSE,
       "test.yaml:4:24: joint 'B': couple names 'base', which is not a joint of this file"},
      {DH JOINT "  - {name: B, couple: {B: 1}}\n", PSDM_E_ROBOT,
       "test.yaml:4:5: joint 'B': it follows itself through other joints"},
      {DH JOINT "  - {name: B, couple: {C: 1}}\n  - {name: C, couple: {B: 1}}\n", PSDM_E_ROBOT,
       "test.yaml:4:5: joint 'B': it follows itself through other joints"},
      {DH "  - {name: A, type: fixed}\n  - {name: B}\n  - {name: C, couple: {A: 1}}\n", PSDM_E_ROBOT,
       "test.yaml:5:5: joint 'C': it follows a fixed joint"},
      {DH JOINT "  - {name: C, type: fixed, couple: {A1: 1}}\n", PSDM_E_ROBOT,
       "test.yaml:4:5: joint 'C': a fixed joint cannot follow another"},
      {DH JOINT "  - {name: B, couple: {A1: 1, A1: 2}}\n", PSDM_E_PARSE,
       "test.yaml:4:31: joint 'B': couple names 'A1' twice"},
      {DH JOINT "  - {name: B, couple: {}}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': couple is empty; a map {joint: factor, ..., offset: value} was expected"},
      {DH JOINT "  - {name: B, couple: A1}\n", PSDM_E_PARSE,
       "test.yaml:4:23: joint 'B': couple is 'A1'; a map {joint: factor, ..., offset: value} was expected"},
      {DH JOINT "  - {name: B, couple: {A1: x}}\n", PSDM_E_PARSE, "test.yaml:4:28: joint 'B': A1 is 'x'; " NUMBER},
      {DH JOINT "  - {name: B, couple: {A1: 1, offset: up}}\n", PSDM_E_PARSE,
       "test.yaml:4:39: joint 'B': offset is 'up'; a number or an angle such as 1.57, -pi/2 or 90 deg was expected"},
      {DH "  - {name: offset}\n  - {name: B, couple: {offset: 1}}\n", PSDM_E_PARSE,
       "test.yaml:4:24: joint 'B': 'offset' is also the name of a joint; rename the joint"},
      {DH "  - {name: A, couple: {offset: 1}}\n  - {name: B, couple: {A: 1}}\n", PSDM_E_ROBOT,
       "test.yaml:1:1: every joint follows another; at least one must be independent"},
  };
  CHECK(cases);
}

TEST(transmissions_and_assumptions) {
#define ASSUME_HINT                                                                                                    \
  "a relation such as 'Ixz4 = 0', 'Ixx5 = Iyy5' or 'rx1 = 2*rx2 + 0.1' of m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz Ia with " \
  "a "                                                                                                                 \
  "link number was expected"
  static const bad_case cases[] = {
      {TWO "transmission: [[1, 0], [0]]\n", PSDM_E_PARSE,
       "test.yaml:5:24: row 2 of transmission has 1 entries; 2 were expected"},
      {TWO "transmission: [[1, 0, 0], [0, 1, 0]]\n", PSDM_E_PARSE,
       "test.yaml:5:16: row 1 of transmission has 3 entries; 2 were expected"},
      {TWO "transmission: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n", PSDM_E_ROBOT,
       "test.yaml:5:15: transmission has 3 rows; one for each of the 2 independent joints was expected"},
      {TWO "transmission: [[1]]\n", PSDM_E_ROBOT,
       "test.yaml:5:15: transmission has 1 rows; one for each of the 2 independent joints was expected"},
      {TWO "transmission: []\n", PSDM_E_PARSE,
       "test.yaml:5:15: transmission is empty; a square matrix, a list of rows was expected"},
      {TWO "transmission: 5\n", PSDM_E_PARSE,
       "test.yaml:5:15: transmission is '5'; a square matrix, a list of rows was expected"},
      {TWO "transmission: [1, 2]\n", PSDM_E_PARSE, "test.yaml:5:16: entry is '1'; a row of numbers was expected"},
      {TWO "transmission: [[1, 0], [0, one]]\n", PSDM_E_PARSE, "test.yaml:5:28: entry is 'one'; " NUMBER},
      {TWO "transmission: [[1, 2], [2, 4]]\n", PSDM_E_ROBOT,
       "test.yaml:5:15: transmission is singular; some joint motion moves no motor"},
      {TWO "transmission: [[0, 0], [0, 0]]\n", PSDM_E_ROBOT,
       "test.yaml:5:15: transmission is singular; some joint motion moves no motor"},
      {DH "  - {name: A, drive_inertia: 1}\n  - {name: B}\ntransmission: [[0, 1], [1, 0]]\n", PSDM_E_ROBOT,
       "test.yaml:3:5: joint 'A': its motor does not move with it (transmission), so its drive inertia has no meaning"},
      {TWO "assume: Ixz1 = 0\n", PSDM_E_PARSE,
       "test.yaml:5:9: assume is 'Ixz1 = 0'; a list such as [Ixz4 = 0, Ixx5 = Iyy5] was expected"},
      {TWO "assume: [Ixz1]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = one]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = one'; " ASSUME_HINT},
      {TWO "assume: [1 = 1]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is '1 = 1'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = Ixz1]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = Ixz1'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = 2*]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = 2*'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = Ixx1 *2]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = Ixx1 *2'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = Ixx1 +]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = Ixx1 +'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 = 1e999]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz1 = 1e999'; " ASSUME_HINT},
      {TWO "assume: [Ixz1 + Ixz1 = 1e308*Ixx1 + 1e308*Ixx1]\n", PSDM_E_PARSE,
       "test.yaml:5:10: entry is 'Ixz1 + Ixz1 = 1e308*Ixx1 + 1e308*Ixx1'; " ASSUME_HINT},
      {TWO "assume: [m1 + rx1 + ry1 + rz1 + Ixx1 + Iyy1 + Izz1 + Ixy1 = Ixz1]\n", PSDM_E_PARSE,
       "test.yaml:5:10: entry is 'm1 + rx1 + ry1 + rz1 + Ixx1 + Iyy1 + Izz1 + Ixy1 = Ixz1'; " ASSUME_HINT},
      {TWO "assume: [Ixz3 = 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz3 = 0'; " ASSUME_HINT},
      {TWO "assume: [Ixz0 = 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz0 = 0'; " ASSUME_HINT},
      {TWO "assume: [Iq1 = 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Iq1 = 0'; " ASSUME_HINT},
      {TWO "assume: [Ixz = 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixz = 0'; " ASSUME_HINT},
      {TWO "assume: [Ixx1 = Iyy9]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixx1 = Iyy9'; " ASSUME_HINT},
      {TWO "assume: [= 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is '= 0'; " ASSUME_HINT},
      {TWO "assume: [Ixx1 = ]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixx1 ='; " ASSUME_HINT},
      {TWO "assume: [Ixx1 == 0]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is 'Ixx1 == 0'; " ASSUME_HINT},
      {TWO "assume: [Ixx99999999999999999999 = 0]\n", PSDM_E_PARSE,
       "test.yaml:5:10: entry is 'Ixx99999999999999999999 = 0'; " ASSUME_HINT},
      {TWO "assume: [[Ixx1]]\n", PSDM_E_PARSE, "test.yaml:5:10: entry is a list; " ASSUME_HINT},
  };
#undef ASSUME_HINT
  CHECK(cases);
}

/* ---- names that look like something else ---- */

TEST(hostile_names_are_only_names) {
  static const struct {
    const char *yaml, *name, *quoted;
  } cases[] = {
      {"'\"; system(\"id\"); //'", "\"; system(\"id\"); //", "\"; system(\"id\"); //"},
      {"<script>alert(1)</script>", "<script>alert(1)</script>", "<script>alert(1)</script>"},
      {"\"../../etc/passwd\"", "../../etc/passwd", "../../etc/passwd"},
      {"\"%s%n%p\"", "%s%n%p", "%s%n%p"},
      {"\"a\\nb\\tc\"", "a\nb\tc", "a\\x0ab\\x09c"},
      {"\"\\e[31mred\"", "\x1B[31mred", "\\x1b[31mred"},
      {"\"\\x7F\\x85\"", "\x7F\xC2\x85", "\\x7f\\xc2\\x85"},
      {"\"*/ int main() {} /*\"", "*/ int main() {} /*", "*/ int main() {} /*"},
      {"\"\xE2\x82\xAC \xF0\x9F\xA4\x96\"", "\xE2\x82\xAC \xF0\x9F\xA4\x96", "\xE2\x82\xAC \xF0\x9F\xA4\x96"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600], sentence[900], expected[900];
    const char *yaml = cases[i].yaml;
    /* as a name it is kept unchanged */
    snprintf(text, sizeof text, "name: %s\n" DH "  - {name: %s}\nlinks: [{name: %s, mass: -1}]\ntheta: {%s: 1}\n", yaml,
             yaml, yaml, yaml);
    psdm_robot *robot = parse_robot(text);
    assert_string_equal(psdm_robot_name(robot), cases[i].name);
    assert_string_equal(psdm_robot_joint(robot, 0)->name, cases[i].name);
    assert_string_equal(psdm_robot_link_name(robot, 0), cases[i].name);
    assert_string_equal(psdm_robot_theta(robot, 0, NULL), cases[i].name);
    assert_int_equal(psdm_robot_find(robot, cases[i].name), 0);
    snprintf(expected, sizeof expected, "link '%s': mass is negative (-1 kg)", cases[i].quoted);
    assert_string_equal(psdm_robot_warning(robot, 0), expected);
    psdm_robot_free(robot);

    /* in a message it is escaped */
    const struct {
      const char *format, *sentence;
    } uses[] = {
        {DH "  - {name: %s}\n  - {name: %s}\n", "test.yaml:4:5: joint name '%s' is a duplicate (first on line 3)"},
        {DH "  - {name: %s, a: x}\n", "joint '%s': a is 'x'; " NUMBER},
        {DH "  - {name: %s, drive_inertia: 1, type: fixed}\n", "test.yaml:3:5: joint '%s': a fixed joint has no drive"},
        {DH "  - {parent: %s}\n",
         "test.yaml:3:14: joint 'joint1': parent names '%s', which is not a joint of this file"},
        {DH "  - {couple: {%s: 1}}\n",
         "test.yaml:3:15: joint 'joint1': couple names '%s', which is not a joint of this file"},
        {DH "  - {name: %s}\n  - {couple: {%s: 1, %s: 2}}\n", "joint 'joint2': couple names '%s' twice"},
        {DH "  - {name: A}\nlinks: [{mass: %s}]\n", "test.yaml:4:16: link 1: mass is '%s'; " NUMBER},
        {DH "  - {name: A}\ntheta: {%s: x}\n", "%s is 'x'; " NUMBER},
        {"convention: %s\njoints: [{}]\n", "test.yaml:1:13: convention is '%s'; dh or modified-dh was expected"},
    };
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
      snprintf(text, sizeof text, uses[k].format, yaml, yaml, yaml);
      assert_int_not_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), PSDM_OK);
      snprintf(expected, sizeof expected, uses[k].sentence, cases[i].quoted);
      if (!strstr(sentence, expected)) fail_msg("%s\n says: %s\n expected: %s", text, sentence, expected);
    }
  }

  /* YAML must be UTF-8 */
  char sentence[900];
  assert_int_equal(try_text(DH "  - {name: caf\xE9 au lait}\n", FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
  assert_string_equal(sentence, "test.yaml:3:16: malformed YAML: invalid trailing UTF-8 octet");
  assert_int_equal(try_text(DH "  - {name: \x1B[31m}\n", FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
  assert_string_equal(sentence, "test.yaml:3:12: malformed YAML: control characters are not allowed");
  assert_int_equal(try_text(DH "  - {name: \"a\\0b\"}\n", FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
  assert_string_equal(sentence, "test.yaml:3:12: a NUL character inside a value");
}

/* ---- many ---- */

/* a file of `count` joints j0, j1, ..., each in a line of its own, which may also name the next one */
static char *many_joints(int count, const char *line, const char *tail) {
  char *text = malloc(strlen(DH) + (size_t)count * (strlen(line) + 24) + strlen(tail) + 1), *at = text;
  assert_non_null(text);
  at += sprintf(at, DH);
  for (int i = 0; i < count; i++) at += sprintf(at, line, i, i + 1);
  strcpy(at, tail);
  return text;
}

static void expect_many(int count, const char *line, const char *tail, psdm_status status, const char *sentence) {
  char said[900];
  char *text = many_joints(count, line, tail);
  assert_int_equal(try_text(text, FILE_NAME, said, sizeof said), status);
  free(text);
  assert_string_equal(said, sentence);
}

TEST(many_are_accepted_and_more_refused) {
  clock_t start = clock();
  expect_many(1000, "  - {name: j%d}\n", "", PSDM_OK, "");
  expect_many(1001, "  - {name: j%d}\n", "", PSDM_E_LIMIT,
              "test.yaml:1:1: 1001 moving joints; at most 1000 are accepted");
  expect_many(1000, "  - {name: j%d, drive_inertia: 1}\n", "", PSDM_OK, "");
  expect_many(3000, "  - {name: j%d, type: fixed}\n", "  - {name: moves}\n", PSDM_OK, "");
  expect_many(80000, "  - {name: j%d, type: fixed}\n", "  - {name: moves}\n", PSDM_E_LIMIT,
              "test.yaml:3:3: 80001 joints; at most 20000 are read");
  expect_many(200000, "  - {}\n", "", PSDM_E_LIMIT, "test.yaml:3:3: 200000 joints; at most 20000 are read");
  /* every child before its parent */
  expect_many(15000, "  - {name: j%d, type: fixed, parent: j%d}\n", "  - {name: j15000, parent: base}\n", PSDM_OK, "");
  double took = (double)(clock() - start) / CLOCKS_PER_SEC;
  /* seconds when plain; a quadratic step over 200000 joints would take hours */
  if (took > 60) fail_msg("%.1f s", took);
}

TEST_MAIN(the_template_is_good, keys, values, links_and_tool, names, trees, couplings, transmissions_and_assumptions,
          hostile_names_are_only_names, many_are_accepted_and_more_refused)
