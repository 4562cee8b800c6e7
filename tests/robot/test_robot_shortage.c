/* test_robot_shortage.c: memory runs out at every place that reads, cuts, copies or writes a robot file of any kind. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shortage.h"

typedef struct file {
  const char *name, *text; /* text NULL: name is a path */
  psdm_robot_options options;
} file;

#define JOINTS                                                                                                       \
  "gravity: [0, 0, -9.81]\nconvention: dh\njoints:\n  - {name: A1, d: 0.2, alpha: -1.5708, drive_inertia: unknown, " \
  "limits: {lower: -2, upper: 2}}\n"
#define ARM                                                                                                            \
  JOINTS "  - {name: A2, a: 0.3, drive_inertia: 0.1, gear: 50, stiffness: 1e4, damping: 3, friction: {coulomb: 1, "    \
         "viscous: 2, offset: 0.1}}\n"                                                                                 \
         "  - {name: A3, a: 0.25, alpha: 0.3, motor: {mass: 1, com: [0, 0, 0.1], inertia: 0.01, on: A1}}\n"            \
         "links:\n  - {name: one, mass: -1, com: [0, 0, 0.1], inertia: {xx: 1, yy: 1, zz: 3}}\n  - {name: two, mass: " \
         "2}\n  - {name: three, mass: 3}\n"                                                                            \
         "tool: {mass: -1}\nassume: [Ixx1 = 0, Iyy1 = Izz1]\ntheta: {a: 1, b: 2}\n"                                    \
         "collision:\n  floor: {height: -0.5}\n  capsules:\n    - {link: base, from: [0, 0, 0], to: [0, 0, 0.2], "     \
         "radius: 0.1}\n"                                                                                              \
         "    - {link: two, from: [0, 0, 0], radius: 0.1}\n    - {link: three, from: [0, 0, 0], radius: 0.1}\n  "      \
         "apart: [[three, base]]\n"
#define COUPLED                                                                                                        \
  JOINTS "  - {name: A2, a: 0.3, couple: {A1: 2, offset: 1}, motor: {mass: 1, inertia: 1}}\n"                          \
         "  - {name: A3, type: prismatic, parent: A1, couple: {A2: 1}}\n  - {name: A4, type: fixed, parent: A3}\n  - " \
         "{name: A5}\n"                                                                                                \
         "assume: [Ixx2 = Iyy1]\n"
#define URDF                                                                                                          \
  "<robot name='r'><strange/><link name='a'/><link name='b'><inertial><mass value='-1'/><inertia ixx='1' iyy='1' "    \
  "izz='3' ixy='0' ixz='0' iyz='0'/>"                                                                                 \
  "</inertial></link><link name='c'><inertial><mass value='1'/></inertial></link><link "                              \
  "name='d'><visual/></link><link name='e'><visual/></link>"                                                          \
  "<joint name='ab' type='revolute'><origin rpy='1.5708 0 0'/><parent link='a'/><child link='b'/><axis xyz='0 0.001 " \
  "1'/>"                                                                                                              \
  "<limit lower='-1' upper='1' effort='9' velocity='2'/><dynamics damping='1' friction='2'/></joint>"                 \
  "<joint name='bc' type='prismatic'><parent link='b'/><child link='c'/><mimic joint='ab' multiplier='2'/></joint>"   \
  "<joint name='bd' type='continuous'><parent link='b'/><child link='d'/><axis xyz='0 1 0.002'/></joint>"             \
  "<joint name='be' type='fixed'><parent link='b'/><child link='e'/></joint></robot>"

static psdm_status try_file(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const file *f = what;
  psdm_robot *robot = (psdm_robot *)&robot, *clone = (psdm_robot *)&clone;
  psdm_status status = f->text
                           ? psdm_robot_parse(f->text, strlen(f->text), f->name, &f->options, allocator, &robot, error)
                           : psdm_robot_load(f->name, &f->options, allocator, &robot, error);
  if (status) {
    assert_null(robot);
    assert_string_equal(error->text, "out of memory");
    return status;
  }
  status = psdm_robot_clone(robot, allocator, &clone);
  if (status) assert_null(clone);
  psdm_robot_free(clone);
  psdm_robot_free(robot);
  return status;
}

TEST(files_that_are_read) {
  static const psdm_lock locks[] = {{"A3", 0.2}, {"A5", -0.1}};
  static const file files[] = {
      {"arm.yaml", ARM, {0}},
      {"transmission.yaml", ARM "transmission: [[1, 0, 0], [0, 1, 0], [0, 1, 1]]\n", {0}},
      {"arm.yaml", ARM, {.no_snap = true, .snap_axes = 0.05, .missing_inertia = PSDM_MISSING_ZERO}},
      {"arm.yaml", ARM, {.root = "one", .tip = "three"}},
      {"arm.yaml", ARM, {.locks = locks, .lock_count = 1}},
      {"arm.yaml", ARM, {.tip = "two"}},
      {"coupled.yaml", COUPLED, {0}},
      {"coupled.yaml", COUPLED, {.locks = &locks[1], .lock_count = 1}},
      {"arm.urdf", URDF, {0}},
      {"arm.urdf", URDF, {.snap_axes = 0.01, .missing_inertia = PSDM_MISSING_ZERO}},
      {"arm.urdf", URDF, {.snap_axes = 0.01, .missing_inertia = PSDM_MISSING_UNKNOWN}},
      {"arm.urdf", URDF, {.tip = "d"}},
      {SOURCE_DIR "/robots/five_bar.yaml", NULL, {0}},
      {SOURCE_DIR "/robots/two_branch.yaml", NULL, {.tip = "r_hand"}},
      {SOURCE_DIR "/tests/robots/urdf/mimic_gripper.urdf", NULL, {0}},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) shortage_everywhere(files[i].name, try_file, &files[i]);
}

/* ---- the toolbox's tables ---- */

static psdm_status try_tables(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const char *const *path = what;
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_load_tables(path[0], path[1], NULL, allocator, &robot, error);
  if (status) assert_null(robot);
  psdm_robot_free(robot);
  return status;
}

static psdm_status try_matrices(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const psdm_matrix *table = what;
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_parse_tables(&table[0], &table[1], NULL, allocator, &robot, error);
  if (status) assert_null(robot);
  psdm_robot_free(robot);
  return status;
}

TEST(tables_in_memory) {
  const double dh[4] = {1.2, 0, 0, 0}, x[10] = {1, -1.3, 0, 0, 0, 0, 0.5};
  const psdm_matrix table[2] = {{"DH", 1, 4, 1, dh, NULL}, {"X", 1, 10, 1, x, NULL}};
  shortage_everywhere("tables in memory", try_matrices, table);
}

TEST(tables) {
  char dh[64], x[64];
  snprintf(dh, sizeof dh, "/tmp/psdm-shortage-%ld.csv", (long)getpid());
  snprintf(x, sizeof x, "/tmp/psdm-shortage-x%ld.csv", (long)getpid());
  FILE *out = fopen(dh, "w");
  assert_non_null(out);
  fputs("0,1.5708,0.3,0.0001,0,1\n0.4,0,0,-1.5708,1,-1\n", out);
  fclose(out);
  out = fopen(x, "w");
  assert_non_null(out);
  fputs("-3,0.1,0,0,0.1,0.2,0.3,0,0,0,0.01\n2,0.1,0,0,0.1,0.2,9,0,0,0,0\n", out);
  fclose(out);
  long both = shortage_everywhere("tables", try_tables, (const char *const[]){dh, x}),
       one = shortage_everywhere("one table", try_tables, (const char *const[]){dh, NULL});
  unlink(dh), unlink(x);
  assert_true(both > 10 && one >= 0);
}

/* ---- out ---- */

typedef struct paper {
  const psdm_robot *robot;
  psdm_robot_format format;
} paper;

static void write_robot(psdm_output *output, const void *what) {
  psdm_robot_write(((const paper *)what)->robot, ((const paper *)what)->format, output);
}
static psdm_status try_write(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  return shortage_write(write_robot, what, allocator, error);
}

TEST(files_that_are_written) {
  static const char *const texts[] = {ARM, COUPLED};
  for (size_t i = 0; i < 2; i++) {
    psdm_robot *robot = parse_robot(texts[i]);
    for (psdm_robot_format format = PSDM_FORMAT_YAML; format <= PSDM_FORMAT_URDF; format++)
      shortage_everywhere("written", try_write, &(paper){robot, format});
    psdm_robot_free(robot);
  }
}

TEST_MAIN(files_that_are_read, tables_in_memory, tables, files_that_are_written)
