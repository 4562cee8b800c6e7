/* test_robot_nodes.c: robot files with each node in turn missing, of the wrong type or absurd: refused with a line and
 * a clean message, or a robot that can be used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodes.h"

static const char *const files[] = {
    "name: arm\ngravity: [0, 0, -9.81]\nconvention: dh\nbase: {xyz: [0, 0, 1], rpy: [0, 20 deg, 0]}\njoints:\n"
    "  - {name: A1, type: revolute, theta: 0, d: 0.2, a: 0, alpha: -pi/2, drive_inertia: unknown, limits: {lower: -2, "
    "upper: 2, velocity: 3, acceleration: 4, effort: 50}, torque_constant: 2}\n"
    "  - {name: A2, parent: A1, origin: {xyz: [0, 0.1, 0], rpy: [0, 0, 1]}, a: 0.3, drive_inertia: 0.1, gear: 50, "
    "stiffness: 1e4, damping: 3,\n"
    "     friction: {coulomb: 1, static: 2, stribeck: 0.1, viscous: 2, exponent: 1, sigma0: 1e4, sigma1: 10, offset: "
    "0.1}}\n"
    "  - {name: A3, a: 0.25, alpha: 0.3, motor: {mass: 1, com: [0, 0, 0.1], inertia: 0.01, on: A1}}\n"
    "links:\n  - {name: one, mass: 2, com: [0, 0, 0.1], inertia: {xx: 1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1}}\n"
    "  - {name: two, standard: {m: 1, mx: 0, my: 0, mz: 0, XX: 1, XY: 0, XZ: 0, YY: 1, YZ: 0, ZZ: 1}}\n  - {name: "
    "three, mass: 3}\n"
    "tool: {mass: 1, com: [0, 0, 0.1]}\nassume: [Ixy1 = 0, Iyy1 = Izz1]\ntheta: {ZZ1: 1, mx2: 2}\ntransmission: [[1, "
    "0, 0], [0, 1, 0], [0, 1, 1]]\n"
    "collision:\n  floor: {normal: [0, 0, 1], height: -0.5}\n  capsules:\n    - {link: base, from: [0, 0, 0], to: [0, "
    "0, 0.2], radius: 0.1}\n"
    "    - {link: two, from: [0, 0, 0], radius: 0.1}\n    - {link: three, from: [0, 0, 0], radius: 0.1}\n  apart: "
    "[[three, base]]\n",
    "convention: modified-dh\njoints:\n  - {name: A1}\n  - {name: A2, a: 0.3, couple: {A1: 2, offset: 1}}\n  - {name: "
    "A3, type: prismatic, parent: A1, couple: {A2: 1}}\n"
    "  - {name: A4, type: fixed, parent: A3}\n  - {name: A5}\n",
    "gravity: [0, -9.81, 0]\nconvention: modified-dh\njoints:\n  - {name: a}\n  - {name: b, parent: a, a: 0.25}\n  - "
    "{name: c, parent: base, origin: {xyz: [0.3, 0, 0]}}\n  - {name: d, parent: c, a: 0.25}\n"
    "loops:\n  - {links: [link2, link4], points: [[0.55, 0, 0], [0.55, 0, 0]], joints: [b, d], start: [-1, 1], at: {a: "
    "2, c: 1}}\n",
};

/* where another type is valid too */
static bool either(const char *where) { return strstr(where, "theta") || strstr(where, "collision.floor"); }

static void visit(void *user, const char *text, nodes_change change, const char *where) {
  nodes_tally *t = user;
  counting c;
  counting_init(&c, 0);
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_error error = {0};
  psdm_status status = psdm_robot_parse(text, strlen(text), "test.yaml", NULL, &c.allocator, &robot, &error);
  if (nodes_accepted(t, status, robot, &error, text, where)) {
    psdm_work *work;
    if (change == NODES_KIND && !either(where)) nodes_wrongly(t, "another kind", where);
    if (change == NODES_EXTRA && !either(where)) nodes_wrongly(t, "something more", where);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  assert_int_equal(c.live, 0);
}

TEST(every_node) {
  nodes_tally t = {0};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    psdm_robot_free(parse_robot(files[k])); /* good as it is */
    nodes_each(files[k], visit, &t);
  }
  print_message("%d refused, %d accepted\n", t.refused, t.accepted);
  assert_int_equal(t.wrong, 0);
  assert_true(t.refused > 500);
}

TEST_MAIN(every_node)
