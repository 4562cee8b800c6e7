/* test_robot_collision.c: `collision:` and `tool:` of a robot file: read, refused with a message, written back, cloned,
 * cut. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define DH "convention: dh\njoints:\n"
#define THREE DH "  - {name: A1, d: 0.2, alpha: -pi/2}\n  - {name: A2, a: 0.3}\n  - {name: A3, a: 0.25}\n"
#define ARM THREE "links:\n  - {name: one, mass: 1}\n  - {name: two, mass: 2}\n  - {name: three, mass: 3}\n"
#define FOUR_CAPSULES                                                   \
  "  capsules:\n"                                                       \
  "    - {link: base, from: [0, 0, 0], to: [0, 0, 0.2], radius: 0.1}\n" \
  "    - {link: one, from: [0, 0, 0], radius: 0.09}\n"                  \
  "    - {link: A2, from: [-0.3, 0, 0], to: [0, 0, 0], radius: 0.08}\n" \
  "    - {link: three, from: [-0.25, 0, 0], to: [0, 0, 0], radius: 0.07}\n"

static psdm_robot *parse_with(const char *text, const psdm_robot_options *options) {
  psdm_robot *robot;
  psdm_error error;
  char sentence[900];
  if (psdm_robot_parse(text, strlen(text), "test.yaml", options, NULL, &robot, &error))
    fail_msg("%s\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return robot;
}

static void expect_pairs(const psdm_robot *robot, int count, const int (*pairs)[2]) {
  assert_int_equal(psdm_collision_gaps(robot), count);
  int a, b;
  for (int k = 0; k < count; k++) {
    assert_true(psdm_collision_pair(robot, k, &a, &b));
    assert_int_equal(a, pairs[k][0]);
    assert_int_equal(b, pairs[k][1]);
  }
  assert_false(psdm_collision_pair(robot, count, &a, &b) || psdm_collision_pair(robot, -1, &a, &b));
}

static void shapes_are_read(void **state) {
  (void)state;
  double normal[3], height;
  psdm_robot *robot = parse_robot(ARM "collision:\n  floor: {normal: [0, 3, 4], height: -0.5}\n" FOUR_CAPSULES);
  assert_int_equal(psdm_collision_capsules(robot), 4);
  const psdm_capsule *c = psdm_collision_capsule(robot, 2);
  assert_int_equal(c->joint, 1);
  assert_true(c->from[0] == -0.3 && c->to[0] == 0 && c->radius == 0.08);
  c = psdm_collision_capsule(robot, 1); /* a sphere */
  assert_int_equal(c->joint, 0);
  assert_memory_equal(c->from, c->to, sizeof c->from);
  assert_int_equal(psdm_collision_capsule(robot, 0)->joint, -1);
  assert_null(psdm_collision_capsule(robot, 4));
  assert_null(psdm_collision_capsule(robot, -1));
  assert_true(psdm_collision_floor(robot, normal, &height));
  assert_true(normal[0] == 0 && fabs(normal[1] - 0.6) < 1e-15 && fabs(normal[2] - 0.8) < 1e-15 && height == -0.5);
  /* not: neighbours; the floor: not the base */
  expect_pairs(robot, 6, (const int[][2]){{0, 2}, {0, 3}, {1, 3}, {1, -1}, {2, -1}, {3, -1}});
  psdm_robot_free(robot);

  robot = parse_robot(ARM "collision:\n" FOUR_CAPSULES "  apart: [[three, base], [A1, A3]]\n");
  assert_false(psdm_collision_floor(robot, normal, &height));
  expect_pairs(robot, 1, (const int[][2]){{0, 2}});
  psdm_robot_free(robot);

  /* defaults of the floor, and a normal whose square overflows */
  robot = parse_robot(THREE "collision: {floor: {}}\n");
  assert_true(psdm_collision_floor(robot, normal, &height) && normal[0] == 0 && normal[1] == 0 && normal[2] == 1 &&
              height == 0);
  expect_pairs(robot, 0, NULL);
  psdm_robot_free(robot);
  robot = parse_robot(THREE "collision: {floor: {normal: [1e308, 0, -1e308]}}\n");
  assert_true(psdm_collision_floor(robot, normal, &height) && fabs(normal[0] - sqrt(0.5)) < 1e-15 &&
              normal[2] == -normal[0]);
  psdm_robot_free(robot);
  robot = parse_robot(THREE);
  assert_int_equal(psdm_collision_capsules(robot) + psdm_collision_gaps(robot), 0);
  assert_null(psdm_collision_capsule(robot, 0));
  assert_false(psdm_collision_floor(robot, normal, &height));
  psdm_robot_free(robot);
}

/* links that are fixed to each other are one link, and links fixed to the base are the base */
static void fixed_links(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(
      DH "  - {name: stand, type: fixed, d: 0.5}\n  - {name: A1, a: 0.3}\n  - {name: flange, type: fixed, d: 0.1}\n  - "
         "{name: A2, a: 0.3}\n  - {name: A3, a: 0.3}\n"
         "collision:\n  floor: {}\n  capsules:\n    - {link: base, from: [0, 0, 0], radius: 0.1}\n    - {link: stand, "
         "from: [0, 0, 0], radius: 0.1}\n"
         "    - {link: A1, from: [0, 0, 0], radius: 0.1}\n    - {link: flange, from: [0, 0, 0], radius: 0.1}\n"
         "    - {link: A2, from: [0, 0, 0], radius: 0.1}\n    - {link: A3, from: [0, 0, 0], radius: 0.1}\n");
  expect_pairs(robot, 10,
               (const int[][2]){{0, 4}, {0, 5}, {1, 4}, {1, 5}, {2, 5}, {3, 5}, {2, -1}, {3, -1}, {4, -1}, {5, -1}});
  psdm_robot_free(robot);
}

typedef struct bad_case {
  const char *text, *sentence;
} bad_case;

static void wrong_shapes_are_refused(void **state) {
  (void)state;
#define C(capsule) ARM "collision:\n  capsules:\n    - " capsule "\n"
#define NEEDS "test.yaml:12:7: capsule 1: a capsule needs link, from and radius; to is from where it is a sphere"
  static const bad_case cases[] = {
      {THREE "colision: {}\n", "test.yaml:6:1: unknown key 'colision' in a robot file; did you mean 'collision'? "
                               "(known: name, gravity, convention, joints, links, base, tool, theta, "
                               "transmission, loops, assume, collision)"},
      {THREE "collision: {flor: {}}\n", "test.yaml:6:13: collision: unknown key 'flor' in collision; did you mean "
                                        "'floor'? (known: floor, capsules, apart)"},
      {THREE "collision: 3\n", "test.yaml:6:12: collision: collision is '3'; a map (collision) was expected"},
      {THREE "collision: {floor: {heigth: 1}}\n",
       "test.yaml:6:21: collision: unknown key 'heigth' in floor; did you mean 'height'? (known: normal, height)"},
      {THREE "collision: {floor: {normal: [0, 0, 0]}}\n",
       "test.yaml:6:20: collision: the floor's normal has no direction"},
      {THREE "collision: {floor: {normal: [0, 1]}}\n",
       "test.yaml:6:29: collision: normal has 2 entries; a list of 3 numbers was expected"},
      {C("{link: two, from: [0, 0, 0], radus: 1}"), "test.yaml:12:36: capsule 1: unknown key 'radus' in a capsule; did "
                                                    "you mean 'radius'? (known: link, from, to, radius)"},
      {C("{link: two, from: [0, 0, 0], radius: 0}"),
       "test.yaml:12:44: capsule 1: radius is '0'; a number above zero was expected"},
      {C("{link: two, from: [0, 0, 0], radius: -1}"),
       "test.yaml:12:44: capsule 1: radius is '-1'; a number above zero was expected"},
      {C("{link: A4, from: [0, 0, 0], radius: 1}"),
       "test.yaml:12:14: capsule 1: link names 'A4', which is not a joint of this file; did you mean 'A1'?"},
      {C("{from: [0, 0, 0], radius: 1}"), NEEDS},
      {C("{link: two, radius: 1}"), NEEDS},
      {C("{link: two, from: [0, 0, 0]}"), NEEDS},
      {C("5"), "test.yaml:12:7: capsule 1: entry is '5'; a map (a capsule) was expected"},
      {THREE "collision: {capsules: 5}\n",
       "test.yaml:6:23: collision: capsules is '5'; a list of capsules {link, from, to, radius} was expected"},
      {THREE "collision: {apart: [A1, A3]}\n",
       "test.yaml:6:21: collision: entry is 'A1'; a pair of links was expected"},
      {THREE "collision: {apart: [[A1, A3, A2]]}\n",
       "test.yaml:6:21: collision: entry is a list; a pair of links was expected"},
      {THREE "collision: {apart: [[A1, X]]}\n",
       "test.yaml:6:26: collision: links names 'X', which is not a joint of this file"},
      {THREE "collision: {apart: 1}\n",
       "test.yaml:6:20: collision: apart is '1'; a list of pairs of links such as [[A1, A3]] was expected"},
      {DH "  - {name: base}\ncollision: {capsules: [{link: base, from: [0, 0, 0], radius: 1}]}\n",
       "test.yaml:4:31: capsule 1: 'base' is also the name of a joint or link; rename it"},
  };
  int wrong = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_robot *robot;
    psdm_error error = {.status = PSDM_OK};
    char sentence[900] = "";
    counting c;
    counting_init(&c, 0);
    psdm_status status =
        psdm_robot_parse(cases[i].text, strlen(cases[i].text), "test.yaml", NULL, &c.allocator, &robot, &error);
    if (status) psdm_error_format(&error, sentence, sizeof sentence);
    psdm_robot_free(robot);
    assert_int_equal(c.live, 0);
    if (status == PSDM_E_PARSE && strcmp(sentence, cases[i].sentence) == 0) continue;
    print_error("--- case %zu\n%s\n says (%d): %s\n expected: %s\n", i, cases[i].text, status, sentence,
                cases[i].sentence);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

static psdm_robot *reload(const psdm_robot *robot) {
  char path[64], sentence[900];
  psdm_output *out;
  psdm_robot *again;
  psdm_error error;
  const psdm_robot_options as_written = {.no_snap = true};
  snprintf(path, sizeof path, "/tmp/psdm-collision-%ld.yaml", (long)getpid());
  assert_int_equal(psdm_output_open(path, NULL, &out, &error), PSDM_OK);
  psdm_robot_write(robot, PSDM_FORMAT_YAML, out);
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
  psdm_status status = psdm_robot_load(path, &as_written, NULL, &again, &error);
  unlink(path);
  if (status) fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return again;
}

/* both robots have the same gaps, to the last bit where the frames are written exactly */
static void same_gaps(const psdm_robot *a, const psdm_robot *b, rng *g) {
  enum { MOST = 200 };
  int n = psdm_robot_n(a), gaps = psdm_collision_gaps(a);
  double q[16], x[MOST], y[MOST];
  psdm_work *wa, *wb;
  assert_in_range(gaps, 0, MOST);
  assert_int_equal(psdm_collision_gaps(b), gaps);
  assert_int_equal(psdm_collision_capsules(b), psdm_collision_capsules(a));
  assert_int_equal(psdm_work_new(a, NULL, &wa), PSDM_OK);
  assert_int_equal(psdm_work_new(b, NULL, &wb), PSDM_OK);
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -3, 3);
    assert_int_equal(psdm_collision_at(a, wa, q, x, NULL), PSDM_OK);
    assert_int_equal(psdm_collision_at(b, wb, q, y, NULL), PSDM_OK);
    assert_true(max_difference(x, y, gaps) < 1e-12);
  }
  psdm_work_free(wa, NULL);
  psdm_work_free(wb, NULL);
}

static void written_and_cloned(void **state) {
  (void)state;
  rng g = rng_start("collision written and cloned");
  char loss[160];
  static const char *const texts[] = {
      ARM "collision:\n  floor: {normal: [1, 2, 3], height: -0.7}\n" FOUR_CAPSULES
          "  apart: [[base, two], [three, three]]\n",
      ARM "collision:\n" FOUR_CAPSULES, ARM "collision: {floor: {height: -0.1}}\n", ARM "collision: {}\n",
      /* a link frame that no DH row can express, and links named like other joints */
      DH "  - {name: a, a: 0.3, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.3, 0.2, 0.1]}}\n  - {name: b, a: 0.3, origin: "
         "{xyz: [0.1, 0.2, 0.3], rpy: [0.3, 0.2, 0.1]}}\n"
         "  - {name: c, a: 0.3}\nlinks:\n  - {name: b, mass: 1}\n  - {name: c, mass: 1}\n  - {name: a, mass: 1}\n"
         "collision:\n  floor: {}\n  capsules:\n    - {link: a, from: [0, 0, 0], to: [0.1, 0, 0.3], radius: 0.1}\n    "
         "- {link: b, from: [0.5, 0, 0], radius: 0.1}\n"
         "    - {link: base, from: [0.5, 0, 0], radius: 0.1}\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    psdm_robot *robot = parse_robot(texts[i]), *again = reload(robot), *clone;
    double normal[3], other[3], height, other_height;
    assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
    same_gaps(robot, again, &g);
    same_gaps(robot, clone, &g);
    bool floor = psdm_collision_floor(robot, normal, &height);
    assert_true(floor == psdm_collision_floor(again, other, &other_height));
    if (floor) assert_true(memcmp(normal, other, sizeof normal) == 0 && height == other_height);
    /* URDF cannot express it */
    assert_string_equal(psdm_robot_loss(robot, PSDM_FORMAT_URDF, 0, loss, sizeof loss), "the collision geometry");
    assert_null(psdm_robot_loss(robot, PSDM_FORMAT_URDF, 1, loss, sizeof loss));
    psdm_robot_free(clone);
    psdm_robot_free(again);
    psdm_robot_free(robot);
  }
  /* a link is found by its own name before a joint of that name */
  psdm_robot *robot = parse_robot(texts[4]);
  assert_int_equal(psdm_collision_capsule(robot, 0)->joint, 2);
  assert_int_equal(psdm_collision_capsule(robot, 1)->joint, 0);
  psdm_robot_free(robot);
}

/* capsules and the tool follow their links through --tip, --root and --lock */
static void cut_and_locked(void **state) {
  (void)state;
  static const char text[] =
      ARM "tool: {mass: 4, com: [0.1, 0.2, 0.3]}\ncollision:\n  floor: {}\n" FOUR_CAPSULES "  apart: [[base, three]]\n";
  double normal[3], height, pi[10];
  psdm_robot *robot = parse_with(text, &(psdm_robot_options){.tip = "two"});
  assert_int_equal(psdm_collision_capsules(robot), 3);
  expect_pairs(robot, 3, (const int[][2]){{0, 2}, {1, -1}, {2, -1}});
  assert_int_equal(psdm_robot_tool(robot, pi), -1);
  psdm_robot_free(robot);

  /* shapes of link one are on the base now; the old base and the floor are gone, and the other pairs are neighbours or
   * still `apart` */
  robot = parse_with(text, &(psdm_robot_options){.root = "one"});
  assert_int_equal(psdm_collision_capsules(robot), 3);
  assert_int_equal(psdm_collision_capsule(robot, 0)->joint, -1);
  assert_true(psdm_collision_capsule(robot, 0)->radius == 0.09);
  assert_false(psdm_collision_floor(robot, normal, &height));
  expect_pairs(robot, 1, (const int[][2]){{0, 2}});
  assert_int_equal(psdm_robot_tool(robot, pi), 1);
  assert_true(pi[0] == 4 && fabs(pi[1] - 0.4) < 1e-15);
  psdm_robot_free(robot);

  /* link two becomes part of link one */
  robot = parse_with(text, &(psdm_robot_options){.lock_count = 1, .locks = &(psdm_lock){"A2", 0.5}});
  assert_int_equal(psdm_collision_capsules(robot), 4);
  expect_pairs(robot, 3, (const int[][2]){{1, -1}, {2, -1}, {3, -1}});
  psdm_robot_free(robot);

  /* the tool of a locked link rides on the link before it: turned by the lock, moved by the row */
  robot = parse_with(text, &(psdm_robot_options){.lock_count = 1, .locks = &(psdm_lock){"A3", 0.5}});
  assert_int_equal(psdm_robot_tool(robot, pi), 1);
  assert_true(pi[0] == 4 && fabs(pi[1] - 4 * (cos(0.5) * 0.35 - sin(0.5) * 0.2)) < 1e-14 &&
              fabs(pi[2] - 4 * (sin(0.5) * 0.35 + cos(0.5) * 0.2)) < 1e-14 && fabs(pi[3] - 1.2) < 1e-14);
  psdm_robot_free(robot);
}

/* with and without the tool, the moving link differs by the tool's own parameters */
static void tools(void **state) {
  (void)state;
  static const char with[] = DH "  - {name: A1, a: 0.3}\n  - {name: A2, a: 0.2, alpha: 0.7}\n  - {name: flange, type: "
                                "fixed, d: 0.1, a: 0.05, alpha: 1.1, theta: 0.4}\n"
                                "links:\n  - {mass: 1}\n  - {mass: 2, com: [0.1, 0, 0]}\n  - {mass: 0.5}\n%s";
  char text[900];
  double own[10], a[20], b[20];
  snprintf(text, sizeof text, with,
           "tool: {mass: 1.5, com: [0.1, -0.2, 0.3], inertia: {xx: 0.1, yy: 0.2, zz: 0.25, xy: 0.01}}\n");
  psdm_robot *robot = parse_robot(text), *clone;
  snprintf(text, sizeof text, with, "");
  psdm_robot *bare = parse_robot(text);
  assert_int_equal(psdm_robot_tool(robot, own), 1); /* the flange's moving link */
  psdm_robot_parameters(robot, a);
  psdm_robot_parameters(bare, b);
  for (int i = 0; i < 10; i++) assert_true(a[i] == b[i] && fabs(a[10 + i] - b[10 + i] - own[i]) < 1e-15 * 8);
  assert_true(own[0] == 1.5 && own[4] > 0.1);
  /* other parameters leave the tool alone, in the robot and in its clone */
  assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
  psdm_robot_set_parameters(clone, b);
  double again[10];
  assert_int_equal(psdm_robot_tool(clone, again), 1);
  assert_memory_equal(own, again, sizeof own);
  assert_int_equal(psdm_robot_tool(bare, again), -1);
  for (int i = 0; i < 10; i++) assert_true(again[i] == 0);
  psdm_robot_free(clone);
  psdm_robot_free(robot);
  psdm_robot_free(bare);
  /* a link that never moves is refused */
  robot = parse_robot(DH "  - {name: A1, a: 0.3}\n  - {name: stand, type: fixed, parent: base}\ntool: {mass: 1}\n");
  assert_int_equal(psdm_robot_tool(robot, own), -1);
  psdm_robot_free(robot);
  /* URDF has none */
  robot = parse_robot("<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent "
                      "link='a'/><child link='b'/></joint></robot>");
  assert_int_equal(psdm_robot_tool(robot, own), -1);
  assert_int_equal(psdm_collision_gaps(robot), 0);
  psdm_robot_free(robot);
}

/* memory may run out at any call */
static void memory_runs_out(void **state) {
  (void)state;
  static char text[1 << 16];
  char *at = text;
  at += sprintf(at, ARM "tool: {mass: 1}\ncollision:\n  floor: {}\n  capsules:\n");
  for (int i = 0; i < 300; i++)
    at += sprintf(at, "    - {link: %s, from: [0, 0, %d], radius: 0.1}\n", i % 2 ? "base" : "three", i);
  at += sprintf(at, "  apart: [[base, two]");
  for (int i = 0; i < 300; i++) at += sprintf(at, ", [one, three]");
  strcpy(at, "]\n");
  const psdm_robot_options options = {.root = "one"};
  for (int kind = 0; kind < 2; kind++)
    for (long fail_at = 1;; fail_at++) {
      counting c;
      psdm_robot *robot;
      psdm_error error;
      counting_init(&c, fail_at);
      psdm_status status =
          psdm_robot_parse(text, strlen(text), "test.yaml", kind ? &options : NULL, &c.allocator, &robot, &error);
      psdm_robot_free(robot);
      assert_int_equal(c.live, 0);
      assert_int_equal(status, c.calls >= fail_at ? PSDM_E_MEMORY : PSDM_OK);
      if (status) continue;
      assert_true(fail_at > 5);
      break;
    }
}

/* more than the limit is refused, and up to the limit is read quickly */
static void many(void **state) {
  (void)state;
  static char text[1 << 20];
  for (int count = 1000; count <= 1001; count++) {
    char *at = text;
    psdm_robot *robot;
    psdm_error error;
    at += sprintf(at, ARM "collision:\n  floor: {}\n  capsules:\n");
    for (int i = 0; i < count; i++)
      at += sprintf(at, "    - {link: %s, from: [0, 0, %d], radius: 0.1}\n", i % 2 ? "base" : "three", i);
    at += sprintf(at, "  apart: [[two, base]");
    for (int i = 1; i < 10000; i++) at += sprintf(at, ", [base, two]");
    strcpy(at, "]\n");
    psdm_status status = psdm_robot_parse(text, strlen(text), "test.yaml", NULL, NULL, &robot, &error);
    assert_int_equal(status, count == 1000 ? PSDM_OK : PSDM_E_LIMIT);
    if (status) assert_string_equal(error.text, "1001 capsules; at most 1000 are read");
    if (!status) assert_int_equal(psdm_collision_gaps(robot), 500 * 500 + 500);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_read),          cmocka_unit_test(fixed_links),
      cmocka_unit_test(wrong_shapes_are_refused), cmocka_unit_test(written_and_cloned),
      cmocka_unit_test(cut_and_locked),           cmocka_unit_test(tools),
      cmocka_unit_test(memory_runs_out),          cmocka_unit_test(many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
