/* fuzz_log.c: any bytes as a log, by name and by number, whole and in small pieces: the same rows and the same counts,
 * and every row is finite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/log_priv.h"

typedef struct source {
  const uint8_t *at;
  size_t left, piece;
} source;

/* the outcome of a reading */
typedef struct outcome {
  psdm_status status;
  psdm_error error;
  long rows, faults[PSDM_FAULTS];
  uint64_t hash; /* of all values */
} outcome;

static void check(int holds) {
  if (!holds) abort();
}

static ptrdiff_t read_piece(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->left < s->piece ? s->left : s->piece;
  if (n > size) n = size;
  memcpy(buffer, s->at, n);
  s->at += n;
  s->left -= n;
  return (ptrdiff_t)n;
}

/* large blocks are kept from run to run: mapping them again would take most of the time */
enum { KEPT = 16, LARGE = 64 * 1024 };
static struct {
  void *memory;
  size_t bytes;
  int used;
} kept[KEPT];

static void *allocate(void *user, size_t bytes) {
  (void)user;
  for (int k = 0; bytes >= LARGE && k < KEPT; k++) {
    if (!kept[k].memory) kept[k].memory = malloc(bytes), kept[k].bytes = bytes;
    if (kept[k].used || kept[k].bytes != bytes) continue;
    kept[k].used = 1;
    return kept[k].memory;
  }
  return malloc(bytes);
}

static void release(void *user, void *memory) {
  (void)user;
  for (int k = 0; k < KEPT; k++)
    if (memory && kept[k].memory == memory) {
      kept[k].used = 0;
      return;
    }
  free(memory);
}

static const psdm_allocator reusing = {allocate, release, NULL};

static void add(outcome *o, double value) {
  uint64_t bits;
  check(isfinite(value));
  memcpy(&bits, &value, sizeof bits);
  o->hash = (o->hash ^ bits) * 0x100000001B3u;
}

static void check_faults(const psdm_log *log, outcome *o) {
  for (int f = 0; f < PSDM_FAULTS; f++) {
    o->faults[f] = psdm_log_faults(log, f);
    const char *text;
    long line;
    for (int k = 0; (text = psdm_log_fault(log, f, k, &line)); k++) {
      check(line >= 1 && k < o->faults[f]);
      for (const unsigned char *c = (const unsigned char *)text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
    }
  }
}

static void read_rows(psdm_log *log, outcome *o) {
  psdm_log_rows rows;
  int segment = 0;
  double last = -INFINITY;
  while (!(o->status = psdm_log_read(log, 100, &rows, &o->error)) && rows.count) {
    check(rows.count <= 100 && rows.segment >= segment);
    for (long k = 0; k < rows.count; k++, o->rows++) {
      check(rows.segment != segment || rows.t[k] > last); /* time ascends within a segment */
      segment = rows.segment;
      last = rows.t[k];
      add(o, rows.t[k]);
      for (int j = 0; j < 2; j++) {
        add(o, rows.q[2 * k + j]);
        add(o, rows.tau[2 * k + j]);
        if (rows.qd) add(o, rows.qd[2 * k + j]);
        if (rows.qdd) add(o, rows.qdd[2 * k + j]);
        check(rows.bad[2 * k + j] <= 3);
      }
    }
  }
}

static outcome read_all(const psdm_robot *robot, const uint8_t *data, size_t size, size_t piece,
                        const psdm_log_options *options) {
  outcome o = {.error = {.line = -1}};
  source s = {data, size, piece};
  psdm_log *log;
  o.status = psdmp_log_open_source(read_piece, &s, "fuzz.csv", robot, options, &reusing, &log, &o.error);
  check(!log == !!o.status);
  if (log) {
    read_rows(log, &o);
    check_faults(log, &o);
    check(psdm_log_good(log) == o.rows);
  }
  psdm_log_close(log);
  if (o.status) {
    check(o.error.status == o.status && o.error.line >= 0 && o.error.column >= 0 && o.error.text[0]);
    for (const unsigned char *c = (const unsigned char *)o.error.text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
  }
  return o;
}

static psdm_robot *robot;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char text[] = "convention: dh\njoints: [{gear: 100, torque_constant: 2}, {gear: -50, torque_constant: "
                             "1}]\ntransmission: [[1, 0], [-1, 1]]\n";
  if (!robot) check(!psdm_robot_parse(text, sizeof text - 1, "robot.yaml", NULL, NULL, &robot, NULL));
  psdm_log_options by_name = {.ignore_extra = true, .rate = 1000}, by_number = {.columns = "t=1,q=2:3,tau=4:5"};
  for (int k = 0; k < 2; k++) {
    const psdm_log_options *options = k ? &by_number : &by_name;
    outcome whole = read_all(robot, data, size, SIZE_MAX, options),
            pieces = read_all(robot, data, size, 1 + size % 7, options);
    check(whole.status == pieces.status && whole.rows == pieces.rows && whole.hash == pieces.hash);
    check(memcmp(whole.faults, pieces.faults, sizeof whole.faults) == 0);
    check(whole.error.line == pieces.error.line && strcmp(whole.error.text, pieces.error.text) == 0);
  }
  return 0;
}
