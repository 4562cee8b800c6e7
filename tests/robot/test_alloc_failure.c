/* test_alloc_failure.c: memory may run out at any call; each time the status says so, and nothing leaks. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/psdm.h"
#include "support.h"

/* one thing that needs memory: makes it, frees it, and returns the status */
typedef psdm_status (*attempt)(const psdm_allocator *allocator, const void *what, psdm_error *error);

/* fails the n-th call for every n, until no call fails; returns the number of calls */
static long survive(attempt try, const void *what) {
  counting c;
  psdm_error error;
  for (long n = 1;; n++) {
    counting_init(&c, n);
    error = (psdm_error){.status = PSDM_OK};
    psdm_status status = try(&c.allocator, what, &error);
    assert_int_equal(c.live, 0);
    if (c.calls < n) { /* the n-th call never came */
      assert_int_equal(status, PSDM_OK);
      return n - 1;
    }
    if (status != PSDM_E_MEMORY) fail_msg("call %ld fails, and the answer is '%s'", n, psdm_status_text(status));
    if (error.status) assert_int_equal(error.status, PSDM_E_MEMORY);
    assert_true(n < 100000);
  }
}

/* ---- robots ---- */

static psdm_status try_load(const psdm_allocator *allocator, const void *path, psdm_error *error) {
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_load(path, NULL, allocator, &robot, error);
  if (status) assert_null(robot);
  if (status) assert_int_equal(error->status, status); /* a message, too */
  psdm_robot_free(robot);
  return status;
}

static psdm_status try_parse(const psdm_allocator *allocator, const void *text, psdm_error *error) {
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_parse(text, strlen(text), "test.yaml", NULL, allocator, &robot, error);
  if (status) assert_null(robot);
  psdm_robot_free(robot);
  return status;
}

static void robots_that_are_shipped(void **state) {
  (void)state;
  for (int i = 0; shipped_robots[i]; i++) {
    char path[600];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/robots/%s.yaml", source ? source : ".", shipped_robots[i]);
    assert_true(survive(try_load, path) >= 3); /* the text, the robot, its arena */
  }
}

/* arenas allocate chunks; with a large robot every kind of allocation begins a chunk somewhere */
static void large_robots(void **state) {
  (void)state;
  static const char *const rows[] = {
      "  - {name: joint_with_a_rather_long_name_%d, a: 0.1, alpha: 1.5708, drive_inertia: 0.1, gear: 2}\n",
      "  - {name: joint_with_a_rather_long_name_%d, a: 0.1, couple: {first: 1, offset: 2}, motor: {mass: 1, inertia: "
      "1}}\n"};
  for (int kind = 0; kind < 2; kind++)
    for (int count = 20; count <= 150; count += kind ? 40 : 65) {
      char *text = malloc(400 + 400 * (size_t)count), *at = text;
      assert_non_null(text);
      at += sprintf(at, "name: large\nconvention: dh\njoints:\n  - {name: first, drive_inertia: unknown}\n");
      for (int j = 0; j < count; j++) at += sprintf(at, rows[kind], j);
      at += sprintf(at, "links:\n");
      for (int j = 0; j <= count; j++)
        at += sprintf(at, "  - {name: link_with_a_rather_long_name_%d, mass: -1, com: [0, 0, 0.1]}\n", j);
      at += sprintf(at, "tool: {mass: -1}\nassume: [Ixx1 = 0, Iyy1 = Izz1]\ntheta: {a: 1, b: 2}\n");
      assert_true(survive(try_parse, text) > 5);
      free(text);
    }
}

static psdm_status try_work(const psdm_allocator *allocator, const void *robot, psdm_error *error) {
  (void)error;
  psdm_work *work = (psdm_work *)&work;
  psdm_status status = psdm_work_new(robot, allocator, &work);
  if (status) assert_null(work);
  psdm_work_free(work, allocator);
  return status;
}

static void work_of_shipped_robots(void **state) {
  (void)state;
  for (int i = 0; shipped_robots[i]; i++) {
    psdm_robot *robot = load_shipped(shipped_robots[i]);
    assert_int_equal(survive(try_work, robot), 1); /* one piece */
    psdm_robot_free(robot);
  }
}

/* a robot refused for another reason leaks nothing either */
static void refusals_leak_nothing(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "a: [",
                                    "convention: dh\njoints: [{name: x}, {name: x}]\n",
                                    "convention: dh\njoints: [{}]\ntransmission: [[0]]\n",
                                    "convention: dh\njoints: [{parent: joint2}, {}]\n",
                                    "convention: dh\njoints: [{}]\nlinks: [{mass: x}]\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    counting c;
    psdm_error error;
    counting_init(&c, 0);
    psdm_status status = try_parse(&c.allocator, bad[i], &error);
    assert_true(status == PSDM_E_PARSE || status == PSDM_E_ROBOT);
    assert_int_equal(c.live, 0);
  }
}

/* ---- text in ---- */

typedef struct source {
  const char *at;
  size_t left;
} source;

static ptrdiff_t read_source(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->left < size ? s->left : size;
  memcpy(buffer, s->at, n);
  s->at += n;
  s->left -= n;
  return (ptrdiff_t)n;
}

static psdm_status try_csv(const psdm_allocator *allocator, const void *text, psdm_error *error) {
  source s = {text, strlen(text)};
  psdm_csv *csv = (psdm_csv *)&csv;
  psdm_status status = psdm_csv_open_source(read_source, &s, "log.csv", allocator, &csv, error);
  if (status) {
    assert_null(csv);
    assert_int_equal(error->status, status);
    return status;
  }
  double values[1000];
  for (bool more = true; more && !status;) status = psdm_csv_row(csv, values, &more, error);
  psdm_csv_close(csv);
  return status;
}

static psdm_status try_csv_file(const psdm_allocator *allocator, const void *path, psdm_error *error) {
  psdm_csv *csv = (psdm_csv *)&csv;
  psdm_status status = psdm_csv_open(path, allocator, &csv, error);
  if (status) assert_null(csv);
  psdm_csv_close(csv);
  return status;
}

static void csv_sources_and_files(void **state) {
  (void)state;
  assert_true(survive(try_csv, "t,q1,qd1\n0,1,2\n1,2,3\n") >= 3); /* the object, its buffer, its arena */
  /* a header whose names, and the list of them, fill more than one chunk of the arena */
  static char wide[40000];
  char *at = wide;
  for (int i = 0; i < 1000; i++) at += sprintf(at, "%scolumn_with_a_long_name_%d", i ? "," : "", i);
  strcpy(at, "\n");
  assert_true(survive(try_csv, wide) > 4);

  char folder[] = "/tmp/psdm-alloc-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/log.csv", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("t,q1\n0,1\n", file);
  fclose(file);
  long calls = survive(try_csv_file, path);
  remove(path);
  rmdir(folder);
  assert_true(calls >= 3);
}

/* ---- text out ---- */

static int files_in(const char *path) {
  DIR *dir = opendir(path);
  assert_non_null(dir);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));)
    count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  closedir(dir);
  return count;
}

static psdm_status try_output(const psdm_allocator *allocator, const void *path, psdm_error *error) {
  psdm_output *output = (psdm_output *)&output;
  psdm_status status = psdm_output_open(path, allocator, &output, error);
  if (status) {
    assert_null(output);
    return status;
  }
  psdm_json_object(output, NULL);
  psdm_json_number(output, "x", 0.1);
  psdm_json_close(output);
  return psdm_output_commit(&output, error);
}

static void outputs(void **state) {
  (void)state;
  char folder[] = "/tmp/psdm-alloc-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/out.json", folder);
  long calls = survive(try_output, path);
  int left = files_in(folder); /* the one that was committed in the end */
  remove(path);
  rmdir(folder);
  assert_true(calls >= 2);
  assert_int_equal(left, 1);
  assert_true(survive(try_output, "/dev/null") >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robots_that_are_shipped), cmocka_unit_test(large_robots),
      cmocka_unit_test(work_of_shipped_robots),  cmocka_unit_test(refusals_leak_nothing),
      cmocka_unit_test(csv_sources_and_files),   cmocka_unit_test(outputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
