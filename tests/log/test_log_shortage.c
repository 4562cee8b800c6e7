/* test_log_shortage.c: memory runs out at every place that opens, reads and rereads a log of any format. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "psdm/log.h"
#include "shortage.h"

typedef struct stored {
  const char *name;
  const psdm_robot *robot;
} stored;

static psdm_status read_all(psdm_log *log, psdm_error *error) {
  psdm_log_rows rows;
  psdm_status status;
  while (!(status = psdm_log_read(log, 64, &rows, error)) && rows.count) continue;
  return status;
}

static psdm_status try_log(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const stored *s = what;
  char path[600];
  psdm_log *log = (psdm_log *)&log;
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", SOURCE_DIR, s->name);
  psdm_status status = psdm_log_open(path, s->robot, &(psdm_log_options){.ignore_extra = true}, allocator, &log, error);
  if (status) {
    assert_null(log);
    return status;
  }
  status = read_all(log, error);
  if (!status) status = psdm_log_rewind(log, error);
  if (!status) status = read_all(log, error);
  psdm_log_close(log);
  return status;
}

static void every_format(void **state) {
  (void)state;
  static const char *const names[] = {"log/moving.csv", "log/moving.csv.gz", "log/names.csv",  "bag/chunks.mcap",
                                      "bag/lz4.mcap",   "bag/plain.mcap",    "bag/zstd.mcap",  "bag/small.db3",
                                      "hdf5/group.h5",  "hdf5/packed.h5",    "hdf5/plain.h5",  "hdf5/seven.h5",
                                      "mat/packed.mat", "mat/plain.mat",     "mat/vectors.mat"};
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{name: shoulder, gear: 100, torque_constant: 2}, {name: "
                                  "elbow, gear: -50, torque_constant: 1}]\n");
  int read = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    psdm_error error = {0};
    const stored s = {names[k], robot};
    psdm_status status = try_log(NULL, &s, &error);
    if (status) { /* the library is missing, or the file belongs to another robot */
      print_message("%s: %s\n", names[k], error.text);
      continue;
    }
    shortage_everywhere(names[k], try_log, &s);
    read++;
  }
  assert_true(read > 3);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_format)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
