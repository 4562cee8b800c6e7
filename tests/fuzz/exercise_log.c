/* exercise_log.c: checks of a log in a file: every number of a row is finite, and reading it again gives the same. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"

/* rows and a hash of all their values; how it ended */
typedef struct outcome {
  psdm_status status;
  long rows, faults[PSDM_FAULTS];
  uint64_t hash;
} outcome;

static void add(outcome *o, double value) {
  uint64_t bits;
  check(isfinite(value));
  memcpy(&bits, &value, sizeof bits);
  o->hash = (o->hash ^ bits) * 0x100000001B3u;
}

static outcome read_rows(psdm_log *log) {
  outcome o = {0};
  psdm_log_rows rows;
  psdm_error error;
  while (!(o.status = psdm_log_read(log, 100, &rows, &error)) && rows.count)
    for (long k = 0; k < rows.count; k++, o.rows++) {
      add(&o, rows.t[k]);
      for (int j = 0; j < 2; j++) {
        add(&o, rows.q[2 * k + j]);
        add(&o, rows.tau[2 * k + j]);
        if (rows.qd) add(&o, rows.qd[2 * k + j]);
      }
    }
  if (o.status) check_message(error.text);
  for (int f = 0; f < PSDM_FAULTS; f++) {
    const char *text;
    o.faults[f] = psdm_log_faults(log, (psdm_fault)f);
    for (int k = 0; (text = psdm_log_fault(log, (psdm_fault)f, k, NULL)); k++) check_message(text);
  }
  return o;
}

static void read_twice(psdm_log *log) {
  psdm_error error;
  outcome first = read_rows(log);
  if (first.status || psdm_log_rewind(log, &error)) return;
  outcome again = read_rows(log);
  check(first.status == again.status && first.rows == again.rows && first.hash == again.hash);
  check(memcmp(first.faults, again.faults, sizeof first.faults) == 0);
}

static psdm_robot *robot;

void exercise_log_file(const uint8_t *data, size_t size) {
  static const char text[] = "convention: dh\njoints: [{name: shoulder}, {name: elbow}]\n";
  char path[PATH_BYTES];
  if (!robot) check(!psdm_robot_parse(text, sizeof text - 1, "robot.yaml", NULL, NULL, &robot, NULL));
  int fd = memory_file(data, size, path);
  psdm_log *log;
  psdm_error error = {0};
  const psdm_log_options options = {.ignore_extra = true};
  psdm_status status = psdm_log_open(path, robot, &options, NULL, &log, &error);
  check(!log == !!status);
  if (status) check_error(&error, status);
  else read_twice(log);
  psdm_log_close(log);
  close(fd);
}
