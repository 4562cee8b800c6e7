/* test_calib_trouble.c: system calls fail at every place that reads logs, and that saves or finds finished parts of a
 * run. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "identify/identify.h"
#include "psdm/log.h"
#include "trouble.h"

/* ---- logs ---- */

typedef struct stored {
  char path[600];
  const psdm_robot *robot;
  long rows;
} stored;

static psdm_status count_rows(const stored *s, const psdm_allocator *allocator, long *count, psdm_error *error) {
  psdm_log *log = (psdm_log *)&log;
  psdm_log_rows rows;
  psdm_status status =
      psdm_log_open(s->path, s->robot, &(psdm_log_options){.ignore_extra = true}, allocator, &log, error);
  if (status) assert_null(log);
  *count = 0;
  for (int twice = 0; twice < 2 && !status; twice++) {
    while (!(status = psdm_log_read(log, 64, &rows, error)) && rows.count) *count += rows.count;
    if (!status) status = psdm_log_rewind(log, error);
  }
  psdm_log_close(log);
  return status;
}

static psdm_status try_log(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const stored *s = what;
  long rows;
  psdm_status status = count_rows(s, allocator, &rows, error);
  if (!status) assert_int_equal(rows, s->rows); /* no failure goes unreported */
  return status;
}

static void every_format(void **state) {
  (void)state;
  static const char *const names[] = {"log/moving.csv", "log/moving.csv.gz", "log/names.csv",  "bag/chunks.mcap",
                                      "bag/plain.mcap", "bag/small.db3",     "mat/packed.mat", "mat/plain.mat"};
  const psdm_status parse[] = {PSDM_E_PARSE, PSDM_OK};
  stored s = {.robot = parse_robot("convention: dh\njoints: [{name: shoulder, gear: 100, torque_constant: 2}, {name: "
                                   "elbow, gear: -50, torque_constant: 1}]\n")};
  int read = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    psdm_error error = {0};
    snprintf(s.path, sizeof s.path, "%s/tests/fuzz/corpus/%s", SOURCE_DIR, names[k]);
    if (count_rows(&s, NULL, &s.rows, &error)) { /* the library is missing, or the file belongs to another robot */
      print_message("%s: %s\n", names[k], error.text);
      continue;
    }
    trouble_everywhere(names[k], try_log, &s, strstr(names[k], "db3") ? parse : NULL);
    read++;
  }
  assert_true(read > 2);
  psdm_robot_free((psdm_robot *)s.robot);
}

/* ---- parts of a run ---- */

static char folder[] = "/tmp/psdm-parts-XXXXXX", log_file[64];

static psdmp_feed_checkpoint *open_parts(const psdm_robot *robot, const psdm_allocator *allocator, psdm_status *status,
                                         psdm_error *error) {
  const char *const path[] = {log_file};
  psdmp_feed_checkpoint *c = (psdmp_feed_checkpoint *)&c;
  *status = psdmp_feed_checkpoint_new(robot, &(psdm_calibrate_options){.files = 1, .path = path, .checkpoint = folder},
                                      allocator, &c, error);
  if (*status) assert_null(c);
  return *status ? NULL : c;
}

static psdmp_parallel_bytes bytes_of(const char *text, const psdm_allocator *allocator) {
  psdmp_parallel_bytes b = {.allocator = allocator};
  psdmp_parallel_bytes_put(&b, text, strlen(text));
  return b;
}

/* a saved part is found again, or saving it was refused */
static psdm_status try_parts(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_status status;
  psdmp_feed_checkpoint *c = open_parts(what, allocator, &status, error);
  if (!c) return status;
  psdmp_parallel_bytes request = bytes_of("which", allocator), part = bytes_of("a part", allocator),
                       back = {.allocator = allocator};
  if (!psdmp_feed_checkpoint_names(c, "sum", &request)) status = PSDM_E_MEMORY;
  if (!status) status = psdmp_feed_checkpoint_save(c, "sum", 3, &request, &part, error);
  if (!status && psdmp_feed_checkpoint_load(c, "sum", 3, &request, &back))
    assert_true(back.used == 6 && memcmp(back.data, "a part", 6) == 0);
  long removed = 0, found, saved, stale, damaged;
  psdmp_feed_checkpoint_counts(c, &found, &saved, &stale, &damaged);
  assert_true(saved == !status && found + damaged <= 1 && stale == 0);
  if (!status) status = psdmp_feed_checkpoint_clear(c, &removed, error);
  psdmp_parallel_bytes_free(&request), psdmp_parallel_bytes_free(&part), psdmp_parallel_bytes_free(&back);
  psdmp_feed_checkpoint_free(c);
  return status;
}

static void write_bytes(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_true(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static size_t read_bytes(const char *path, char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t got = fread(bytes, 1, room, file);
  fclose(file);
  return got;
}

/* the name of the only part in the folder, or of another file with the same ending */
static bool find_part(char *path, size_t size) {
  DIR *all = opendir(folder);
  bool found = false;
  for (struct dirent *entry; (entry = readdir(all));)
    if (strstr(entry->d_name, ".part")) found = true, snprintf(path, size, "%s/%s", folder, entry->d_name);
  closedir(all);
  return found;
}

/* with any byte changed, or cut to any length, a part is never accepted */
static void damaged_parts(const psdm_robot *robot) {
  psdm_status status;
  psdm_error error;
  char path[400], bytes[1024];
  psdmp_feed_checkpoint *c = open_parts(robot, NULL, &status, &error);
  assert_non_null(c);
  psdmp_parallel_bytes part = bytes_of("a part", NULL), back = {0};
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &part, &error), PSDM_OK);
  assert_true(find_part(path, sizeof path));
  size_t length = read_bytes(path, bytes, sizeof bytes);
  assert_true(length > 100 && length < sizeof bytes);
  for (size_t k = 0; k < length; k++) {
    bytes[k] ^= 1;
    write_bytes(path, bytes, length);
    bytes[k] ^= 1;
    if (psdmp_feed_checkpoint_load(c, "sum", 0, NULL, &back))
      fail_msg("byte %zu was changed, and the part was accepted", k);
    write_bytes(path, bytes, k);
    if (psdmp_feed_checkpoint_load(c, "sum", 0, NULL, &back))
      fail_msg("%zu bytes of %zu were accepted as a part", k, length);
  }
  long found, saved, stale, damaged;
  psdmp_feed_checkpoint_counts(c, &found, &saved, &stale, &damaged);
  assert_true(found == 0 && saved == 1 && damaged == 2 * (long)length);
  write_bytes(path, bytes, length);
  assert_true(psdmp_feed_checkpoint_load(c, "sum", 0, NULL, &back));
  /* obstacles to a part's file, and files that cannot be removed */
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &part, &error), PSDM_E_IO);
  assert_non_null(strstr(error.text, "cannot be written"));
  assert_true(psdmp_feed_checkpoint_names(c, "sum", NULL));
  long removed = 0;
  assert_int_equal(psdmp_feed_checkpoint_clear(c, &removed, &error), PSDM_E_IO);
  assert_true(removed == 0 && strstr(error.text, "cannot be removed") != NULL);
  assert_int_equal(rmdir(path), 0);
  psdmp_parallel_bytes failed = {.failed = true};
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &failed, &error), PSDM_E_MEMORY);
  psdmp_parallel_bytes_free(&part), psdmp_parallel_bytes_free(&back);
  psdmp_feed_checkpoint_free(c);
}

/* a file left by a killed process with this process's id, and a part of another run */
static void leftovers_of_others(const psdm_robot *robot) {
  psdm_status status;
  psdm_error error;
  char path[400], hidden[600], host[64] = "";
  psdmp_feed_checkpoint *c = open_parts(robot, NULL, &status, &error);
  assert_non_null(c);
  psdmp_parallel_bytes part = bytes_of("a part", NULL), back = {0};
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &part, &error), PSDM_OK);
  assert_true(find_part(path, sizeof path));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  snprintf(hidden, sizeof hidden, "%s/.%s.%s.%ld", folder, strrchr(path, '/') + 1, host, (long)getpid());
  write_bytes(hidden, "half", 4);
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &part, &error), PSDM_OK);
  assert_true(access(hidden, F_OK) != 0 && psdmp_feed_checkpoint_load(c, "sum", 0, NULL, &back) && back.used == 6);
  /* a folder with that name blocks the file for good */
  assert_int_equal(mkdir(hidden, 0700), 0);
  assert_int_equal(psdmp_feed_checkpoint_save(c, "sum", 0, NULL, &part, &error), PSDM_E_IO);
  assert_int_equal(rmdir(hidden), 0);
  psdmp_feed_checkpoint_free(c);
  snprintf(hidden, sizeof hidden, "%s/0123456789abcdef-sum-0-1.part", folder);
  write_bytes(hidden, "of another", 10);
  c = open_parts(robot, NULL, &status, &error);
  long found, saved, stale, damaged, removed = 0;
  psdmp_feed_checkpoint_counts(c, &found, &saved, &stale, &damaged);
  assert_int_equal(stale, 1);
  assert_true(psdmp_feed_checkpoint_names(c, "sum", NULL));
  assert_int_equal(psdmp_feed_checkpoint_clear(c, &removed, &error), PSDM_OK);
  assert_true(removed == 1 && access(hidden, F_OK) == 0); /* its own file is gone, the other run's is not */
  assert_int_equal(unlink(hidden), 0);
  psdmp_parallel_bytes_free(&part), psdmp_parallel_bytes_free(&back);
  psdmp_feed_checkpoint_free(c);
}

static void parts_of_a_run(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{name: a}, {name: b}]\n");
  assert_non_null(mkdtemp(folder));
  snprintf(log_file, sizeof log_file, "%s/log.csv", folder);
  write_bytes(log_file, "t,q1,q2,tau1,tau2\n0,0,0,0,0\n", 28);
  assert_true(trouble_everywhere("parts", try_parts, robot, NULL) > 10);
  char path[400];
  while (find_part(path, sizeof path)) assert_int_equal(unlink(path), 0); /* files left by a failed removal */
  damaged_parts(robot);
  leftovers_of_others(robot);
  /* many names */
  psdm_status status;
  psdm_error error;
  psdmp_feed_checkpoint *c = open_parts(robot, NULL, &status, &error);
  for (int k = 0; k < 100; k++) assert_true(psdmp_feed_checkpoint_names(c, "sum", NULL));
  psdmp_feed_checkpoint_free(c);
  /* logs that cannot be recognised, a folder that cannot be created */
  const char *const pipe[] = {"-"}, *const path_list[] = {log_file};
  psdm_calibrate_options o = {.files = 1, .path = pipe, .checkpoint = folder};
  assert_int_equal(psdmp_feed_checkpoint_new(robot, &o, NULL, &c, &error), PSDM_E_IO);
  o.path = path_list, o.checkpoint = log_file;
  char below[80];
  snprintf(below, sizeof below, "%s/below", log_file);
  o.checkpoint = below;
  assert_int_equal(psdmp_feed_checkpoint_new(robot, &o, NULL, &c, &error), PSDM_E_IO);
  assert_non_null(strstr(error.text, "cannot be made"));
  assert_int_equal(unlink(log_file), 0);
  assert_int_equal(rmdir(folder), 0);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_format), cmocka_unit_test(parts_of_a_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
