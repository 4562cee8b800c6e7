/* test_log_bag.c: ROS 2 bags that the test writes, in every container and encoding, give their rows back; broken ones
 * give error messages. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/bag_priv.h"
#include "support.h"

#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef PSDM_HAVE_LZ4
#include <lz4frame.h>
#endif
#ifdef PSDM_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef PSDM_HAVE_SQLITE
#include <sqlite3.h>
#endif

enum { N = 2, ROWS = 300 };
static const char ROBOT[] = "convention: dh\njoints: [{name: shoulder, a: 1}, {name: elbow, a: 1}]\n";
static const int64_t BEGIN = 1700000000123456789; /* ns: more than a double of seconds holds */

/* ---- bytes ---- */

typedef struct bytes {
  unsigned char *at;
  size_t used, room;
} bytes;

static void put(bytes *b, const void *data, size_t length) {
  if (b->used + length > b->room) {
    b->room = 2 * (b->used + length) + 256;
    b->at = realloc(b->at, b->room);
    assert_non_null(b->at);
  }
  if (length) memcpy(b->at + b->used, data, length);
  b->used += length;
}

static void number(bytes *b, uint64_t value, int length, bool big) {
  for (int k = 0; k < length; k++) {
    unsigned char byte = (unsigned char)(value >> 8 * (big ? length - 1 - k : k));
    put(b, &byte, 1);
  }
}

static void text(bytes *b, const char *word) {
  number(b, strlen(word), 4, false);
  put(b, word, strlen(word));
}

static void clear(bytes *b) {
  free(b->at);
  *b = (bytes){0};
}

/* ---- messages ---- */

typedef struct trial {
  bool big;            /* big-endian messages */
  bool no_stamp;       /* headers without time */
  const char *packing; /* of chunks: NULL: no chunks; "", "lz4", "zstd" */
  bool second;         /* all joints on a second topic as well */
  bool gripper;        /* another device on the same topic */
  int without;         /* this row lacks the elbow; -1: none */
  int not_finite;      /* this row's effort is NAN; -1: none */
  int cut;             /* this row's message ends early; -1: none */
  bool bad_sum;        /* the second chunk's sum is wrong */
} trial;

static const trial plain = {.without = -1, .not_finite = -1, .cut = -1};

static double value(int row, int kind, int joint) { return sin(0.01 * (row + 1) * (joint + 2) + kind) + 1e-7 * row; }

static void align(bytes *b, size_t to) {
  while ((b->used - 4) % to) number(b, 0, 1, false);
}

static void cdr_text(bytes *b, const char *word, bool big) {
  align(b, 4);
  number(b, strlen(word) + 1, 4, big);
  put(b, word, strlen(word) + 1);
}

static void cdr_numbers(bytes *b, const double *x, int count, bool big) {
  align(b, 4);
  number(b, (uint64_t)count, 4, big);
  for (int k = 0; k < count; k++) {
    uint64_t bits;
    memcpy(&bits, &x[k], sizeof bits);
    align(b, 8);
    number(b, bits, 8, big);
  }
}

/* elbow first, then an unknown joint, then the shoulder */
static bytes joint_state(const trial *t, int row, bool gripper) {
  static const char *const names[] = {"elbow", "head", "shoulder"};
  bytes b = {0};
  int64_t stamp = t->no_stamp ? 0 : BEGIN + row * INT64_C(1000000);
  bool lacking = row == t->without;
  number(&b, t->big ? 0 : 0x0100, 4, false);
  number(&b, (uint64_t)(stamp / 1000000000), 4, t->big);
  number(&b, (uint64_t)(stamp % 1000000000), 4, t->big);
  cdr_text(&b, "base", t->big);
  align(&b, 4);
  number(&b, gripper ? 1 : 3, 4, t->big);
  if (gripper) cdr_text(&b, "finger", t->big);
  for (int k = 0; !gripper && k < 3; k++) cdr_text(&b, lacking && k == 0 ? "wrist" : names[k], t->big);
  static const int kinds[] = {PSDMP_LOG_Q, PSDMP_LOG_QD, PSDMP_LOG_TAU};
  for (int k = 0; k < 3; k++) {
    double x[3] = {value(row, kinds[k], 1), 77, value(row, kinds[k], 0)};
    if (k == 2 && row == t->not_finite) x[2] = NAN;
    cdr_numbers(&b, x, gripper ? 1 : 3, t->big);
  }
  if (row == t->cut) b.used -= 5;
  return b;
}

/* ---- MCAP ---- */

static void record(bytes *b, int op, const bytes *content) {
  number(b, (uint64_t)op, 1, false);
  number(b, content->used, 8, false);
  put(b, content->at, content->used);
}

static void schema(bytes *b, int id, const char *name) {
  bytes c = {0};
  number(&c, (uint64_t)id, 2, false);
  text(&c, name);
  text(&c, "ros2msg");
  text(&c, "float64[] position");
  record(b, 3, &c);
  clear(&c);
}

static void channel(bytes *b, int id, int schema_id, const char *topic) {
  bytes c = {0};
  number(&c, (uint64_t)id, 2, false);
  number(&c, (uint64_t)schema_id, 2, false);
  text(&c, topic);
  text(&c, "cdr");
  number(&c, 0, 4, false);
  record(b, 4, &c);
  clear(&c);
}

static void message(bytes *b, int id, int row, const bytes *data) {
  bytes c = {0};
  number(&c, (uint64_t)id, 2, false);
  number(&c, (uint64_t)row, 4, false);
  number(&c, (uint64_t)(BEGIN + 500 + row * INT64_C(2000000)), 8, false); /* recorded at another rate */
  number(&c, 0, 8, false);
  put(&c, data->at, data->used);
  record(b, 5, &c);
  clear(&c);
}

static bool pack(const char *packing, const bytes *from, bytes *to) {
  if (!*packing) put(to, from->at, from->used);
#ifdef PSDM_HAVE_LZ4
  if (!strcmp(packing, "lz4")) {
    size_t room = LZ4F_compressFrameBound(from->used, NULL);
    void *memory = malloc(room);
    put(to, memory, LZ4F_compressFrame(memory, room, from->at, from->used, NULL));
    free(memory);
  }
#endif
#ifdef PSDM_HAVE_ZSTD
  if (!strcmp(packing, "zstd")) {
    size_t room = ZSTD_compressBound(from->used);
    void *memory = malloc(room);
    put(to, memory, ZSTD_compress(memory, room, from->at, from->used, 3));
    free(memory);
  }
#endif
  return to->used || !from->used;
}

static void chunk(bytes *b, const char *packing, const bytes *records, bool bad_sum) {
  bytes c = {0}, packed = {0};
  uint32_t sum = 0;
#ifdef PSDM_HAVE_ZLIB
  sum = (uint32_t)crc32(crc32(0, NULL, 0), records->at, (unsigned)records->used);
#endif
  assert_true(pack(packing, records, &packed));
  number(&c, 0, 8, false);
  number(&c, 0, 8, false);
  number(&c, records->used, 8, false);
  number(&c, sum ^ (bad_sum ? 1 : 0), 4, false);
  text(&c, packing);
  number(&c, packed.used, 8, false);
  put(&c, packed.at, packed.used);
  record(b, 6, &c);
  clear(&c);
  clear(&packed);
}

static void row_messages(bytes *b, const trial *t, int row) {
  bytes data = joint_state(t, row, false);
  message(b, 7, row, &data);
  if (t->second) message(b, 8, row, &data);
  clear(&data);
  if (!t->gripper) return;
  data = joint_state(t, row, true);
  message(b, 7, row, &data);
  clear(&data);
}

static void heads(bytes *b, const trial *t) {
  schema(b, 1, "tf2_msgs/msg/TFMessage");
  schema(b, 2, PSDMP_LOG_BAG_TYPE);
  channel(b, 3, 1, "/tf");
  channel(b, 7, 2, "/joint_states");
  if (t->second) channel(b, 8, 2, "/joint_states_raw");
}

static bytes mcap(const trial *t, int from, int to) {
  static const unsigned char magic[8] = {0x89, 'M', 'C', 'A', 'P', 0x30, '\r', '\n'};
  bytes b = {0}, c = {0}, empty = {0};
  put(&b, magic, sizeof magic);
  text(&c, "ros2");
  text(&c, "test");
  record(&b, 1, &c);
  clear(&c);
  if (!t->packing) heads(&b, t);
  for (int row = from; row < to; row++) {
    if (!t->packing) {
      row_messages(&b, t, row);
      continue;
    }
    if (!c.used) heads(&c, t); /* repeated in every chunk */
    row_messages(&c, t, row);
    if (row % 100 != 99 && row != to - 1) continue;
    chunk(&b, t->packing, &c, t->bad_sum && row / 100 == 1);
    clear(&c);
  }
  number(&c, 0, 4, false);
  record(&b, 15, &c);
  clear(&c);
  record(&b, 2, &empty);
  put(&b, magic, sizeof magic);
  return b;
}

static const char *path_of(const char *ending) {
  static char path[96];
  snprintf(path, sizeof path, "test_log_bag_%ld%s", (long)getpid(), ending);
  return path;
}

static void write_file(const char *path, const bytes *b, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(b->at, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void write_mcap(const char *path, const trial *t, int from, int to) {
  bytes b = mcap(t, from, to);
  write_file(path, &b, b.used);
  clear(&b);
}

/* ---- SQLite ---- */

#ifdef PSDM_HAVE_SQLITE
static void add_message(sqlite3 *base, sqlite3_stmt *insert, int topic, int row, const bytes *data) {
  sqlite3_bind_int(insert, 1, topic);
  sqlite3_bind_int64(insert, 2, BEGIN + 500 + row * INT64_C(2000000));
  sqlite3_bind_blob(insert, 3, data->at, (int)data->used, SQLITE_TRANSIENT);
  assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
  sqlite3_reset(insert);
  (void)base;
}

static void write_db3(const char *path, const trial *t, int from, int to) {
  static const char tables[] = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
                               "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);"
                               "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp "
                               "INTEGER NOT NULL, data BLOB NOT NULL);"
                               "CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
                               "INSERT INTO topics VALUES (1, '/tf', 'tf2_msgs/msg/TFMessage', 'cdr', ''), (2, "
                               "'/joint_states', '" PSDMP_LOG_BAG_TYPE "', 'cdr', ''); BEGIN;";
  sqlite3 *base;
  sqlite3_stmt *insert;
  unlink(path);
  assert_int_equal(sqlite3_open(path, &base), SQLITE_OK);
  assert_int_equal(sqlite3_exec(base, tables, NULL, NULL, NULL), SQLITE_OK);
  if (t->second)
    sqlite3_exec(base, "INSERT INTO topics VALUES (3, '/joint_states_raw', '" PSDMP_LOG_BAG_TYPE "', 'cdr', '')", NULL,
                 NULL, NULL);
  assert_int_equal(
      sqlite3_prepare_v2(base, "INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", -1, &insert, NULL),
      SQLITE_OK);
  for (int row = to; row-- > from;) { /* last first: the order is that of time stamps */
    bytes data = joint_state(t, row, false);
    add_message(base, insert, 2, row, &data);
    if (t->second) add_message(base, insert, 3, row, &data);
    clear(&data);
  }
  sqlite3_finalize(insert);
  assert_int_equal(sqlite3_exec(base, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(base);
}
#endif

/* ---- reading ---- */

static psdm_robot *robot;

static psdm_log *open_bag(const char *path) {
  psdm_log *log;
  psdm_error error;
  char sentence[900];
  if (psdm_log_open(path, robot, NULL, NULL, &log, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return log;
}

/* all rows; false values fail. The omitted rows are those of `skip` */
static long read_all(psdm_log *log, int skip, double interval) {
  psdm_log_rows rows;
  psdm_error error;
  int row = 0;
  long seen = 0;
  while (assert_int_equal(psdm_log_read(log, 70, &rows, &error), PSDM_OK), rows.count)
    for (long k = 0; k < rows.count; k++, row++, seen++) {
      if (row == skip) row++;
      assert_true(fabs(rows.t[k] - interval * row) < 1e-9);
      for (int j = 0; j < N; j++) {
        assert_true(rows.q[N * k + j] == value(row, PSDMP_LOG_Q, j));
        assert_true(rows.qd[N * k + j] == value(row, PSDMP_LOG_QD, j));
        assert_true(rows.tau[N * k + j] == value(row, PSDMP_LOG_TAU, j));
      }
    }
  return seen;
}

static void assert_same(const char *path, double interval) {
  psdm_log *log = open_bag(path);
  psdm_error error;
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(read_all(log, -1, interval), ROWS);
    for (int f = 0; f < PSDM_FAULTS; f++)
      if (psdm_log_faults(log, f)) fail_msg("%s: %s", path, psdm_log_fault(log, f, 0, NULL));
    assert_int_equal(psdm_log_bytes(log), psdm_log_size(log));
    assert_int_equal(psdm_log_rewind(log, &error), PSDM_OK);
  }
  psdm_log_close(log);
}

/* the error for a file that cannot be opened */
static const char *refusal(const char *path) {
  static char sentence[900];
  psdm_log *log;
  psdm_error error;
  assert_int_not_equal(psdm_log_open(path, robot, NULL, NULL, &log, &error), PSDM_OK);
  return psdm_error_format(&error, sentence, sizeof sentence);
}

static void assert_says(const char *path, const char *words) {
  const char *sentence = refusal(path);
  if (!strstr(sentence, words)) fail_msg("'%s' does not contain '%s'", sentence, words);
}

/* ---- tests ---- */

static void test_containers(void **state) {
  static const char *const packings[] = {NULL, "", "lz4", "zstd"};
  (void)state;
  for (int big = 0; big < 2; big++)
    for (int k = 0; k < 4; k++) {
      trial t = plain;
      t.big = big;
      t.packing = packings[k];
      t.gripper = k % 2;
#ifndef PSDM_HAVE_LZ4
      if (k == 2) continue;
#endif
#ifndef PSDM_HAVE_ZSTD
      if (k == 3) continue;
#endif
      write_mcap(path_of(".mcap"), &t, 0, ROWS);
      assert_same(path_of(".mcap"), 0.001);
    }
  unlink(path_of(".mcap"));
}

static void test_sqlite(void **state) {
  (void)state;
#ifdef PSDM_HAVE_SQLITE
  for (int big = 0; big < 2; big++) {
    trial t = plain;
    t.big = big;
    write_db3(path_of(".db3"), &t, 0, ROWS);
    assert_same(path_of(".db3"), 0.001);
  }
  unlink(path_of(".db3"));
#else
  bytes b = {0};
  put(&b, "SQLite format 3\0................", 32);
  write_file(path_of(".db3"), &b, b.used);
  assert_says(path_of(".db3"), "need SQLite, which this build lacks: install libsqlite3-dev");
  unlink(path_of(".db3"));
  clear(&b);
#endif
}

/* a folder, as ros2 bag record writes it: several files in order, ten after two */
static void test_folder(void **state) {
  (void)state;
  char folder[96], file[160];
  snprintf(folder, sizeof folder, "%s", path_of("_run"));
  assert_int_equal(mkdir(folder, 0777), 0);
  static const int at[] = {0, 120, 121, ROWS}, names[] = {0, 2, 10};
  for (int k = 0; k < 3; k++) {
    trial t = plain;
    t.packing = k % 2 ? "" : NULL;
    snprintf(file, sizeof file, "%s/run_%d.mcap", folder, names[k]);
    write_mcap(file, &t, at[k], at[k + 1]);
  }
  assert_same(folder, 0.001);
  snprintf(file, sizeof file, "%s:/joint_states", folder);
  assert_same(file, 0.001);
  for (int k = 0; k < 3; k++) {
    snprintf(file, sizeof file, "%s/run_%d.mcap", folder, names[k]);
    unlink(file);
  }
  snprintf(file, sizeof file, "%s/run_0.mcap.zstd", folder);
  write_file(file, &(bytes){(unsigned char *)"", 0, 0}, 0);
  assert_says(folder, "its files are compressed as a whole; unpack them first");
  unlink(file);
  assert_says(folder, "is a directory; a log was expected");
  rmdir(folder);
}

static void check_topics(const char *path) {
  char named[160];
  assert_says(path, "two topics have all the joints, /joint_states and /joint_states_raw; name one after the file, as "
                    "in FILE:/joint_states");
  snprintf(named, sizeof named, "%s:/joint_states_raw", path);
  assert_same(named, 0.001);
  snprintf(named, sizeof named, "%s:/unknown", path);
  assert_says(named, "no sensor_msgs/msg/JointState with joints of the robot on topic '/unknown'");
}

static void test_topics(void **state) {
  (void)state;
  trial t = plain;
  t.second = true;
  write_mcap(path_of(".mcap"), &t, 0, ROWS);
  check_topics(path_of(".mcap"));
  unlink(path_of(".mcap"));
#ifdef PSDM_HAVE_SQLITE
  write_db3(path_of(".db3"), &t, 0, ROWS);
  check_topics(path_of(".db3"));
  unlink(path_of(".db3"));
#endif
  bytes csv = {0};
  put(&csv, "t,q1,q2,tau1,tau2\n0,1,1,1,1\n", 28);
  write_file(path_of(".csv"), &csv, csv.used);
  char named[160];
  snprintf(named, sizeof named, "%s:/joint_states", path_of(".csv"));
  assert_says(named, "a topic was named, but this is not a ROS 2 bag");
  unlink(path_of(".csv"));
  clear(&csv);
}

/* joints of another robot, or some missing */
static void test_other_robots(void **state) {
  (void)state;
  psdm_robot *mine = robot;
  write_mcap(path_of(".mcap"), &plain, 0, ROWS);
  robot = parse_robot("convention: dh\njoints: [{name: shoulder, a: 1}, {name: knee, a: 1}]\n");
  assert_says(path_of(".mcap"), "no message has all joints of the robot: 'knee' is in none");
  psdm_robot_free(robot);
  robot = parse_robot("convention: dh\njoints: [{name: hip, a: 1}, {name: knee, a: 1}]\n");
  assert_says(path_of(".mcap"),
              "no sensor_msgs/msg/JointState (CDR) with joints of the robot in it; it has /tf (another type)");
  psdm_robot_free(robot);
  robot = mine;
  unlink(path_of(".mcap"));
}

/* headers without time: the time of recording */
static void test_recorded_time(void **state) {
  (void)state;
  trial t = plain;
  t.no_stamp = true;
  write_mcap(path_of(".mcap"), &t, 0, ROWS);
  assert_same(path_of(".mcap"), 0.002);
  unlink(path_of(".mcap"));
}

static void assert_left_out(trial t, psdm_fault fault, int row, const char *words) {
  write_mcap(path_of(".mcap"), &t, 0, ROWS);
  psdm_log *log = open_bag(path_of(".mcap"));
  assert_int_equal(read_all(log, row, 0.001), ROWS - 1);
  assert_int_equal(psdm_log_faults(log, fault), 1);
  assert_string_equal(psdm_log_fault(log, fault, 0, NULL), words);
  psdm_log_close(log);
  unlink(path_of(".mcap"));
}

static void test_bad_messages(void **state) {
  (void)state;
  trial t = plain;
  t.without = 40;
  assert_left_out(t, PSDM_FAULT_SHORT, 40, "message 41: joint 'elbow' is not in this message");
  t = plain;
  t.not_finite = 0;
  write_mcap(path_of(".mcap"), &t, 0, ROWS);
  psdm_log *log = open_bag(path_of(".mcap"));
  assert_string_equal(psdm_log_fault(log, PSDM_FAULT_NAN, 0, NULL), "message 1: effort of 'shoulder' is nan");
  psdm_log_close(log);
  t = plain;
  t.cut = 17;
  assert_left_out(t, PSDM_FAULT_GARBAGE, 17, "message 18: the message ends before its arrays do");
}

static void test_wrong_sum(void **state) {
  (void)state;
#ifdef PSDM_HAVE_ZLIB
  trial t = plain;
  t.packing = "";
  t.bad_sum = true;
  write_mcap(path_of(".mcap"), &t, 0, ROWS);
  psdm_log *log = open_bag(path_of(".mcap"));
  psdm_log_rows rows;
  psdm_error error;
  long seen = 0;
  while (!psdm_log_read(log, 1000, &rows, &error) && rows.count) seen += rows.count;
  assert_int_equal(seen, ROWS - 100);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_GARBAGE), 1);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_JUMP), 1);
  assert_non_null(strstr(psdm_log_fault(log, PSDM_FAULT_GARBAGE, 0, NULL), "is damaged; its messages are omitted"));
  psdm_log_close(log);
  unlink(path_of(".mcap"));
#endif
}

/* returned rows are finite; every fault has an error message */
static long survive(const char *path, const psdm_allocator *allocator) {
  psdm_log *log;
  psdm_log_rows rows;
  psdm_error error = {0};
  long seen = 0;
  psdm_status status = psdm_log_open(path, robot, NULL, allocator, &log, &error);
  while (log && !(status = psdm_log_read(log, 100, &rows, &error)) && rows.count) {
    for (long k = 0; k < N * rows.count; k++) assert_true(isfinite(rows.q[k]) && isfinite(rows.tau[k]));
    seen += rows.count;
  }
  if (status) assert_true(error.text[0]);
  psdm_log_close(log);
  return status ? -1 : seen;
}

/* a file cut anywhere: earlier rows are read, and the cut is reported */
static void test_cut_files(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    trial t = plain;
    t.packing = k ? "" : NULL;
    bytes b = mcap(&t, 0, 20);
    long most = 0;
    for (size_t length = 8; length < b.used; length += 1 + length / 97) {
      write_file(path_of(".mcap"), &b, length);
      long seen = survive(path_of(".mcap"), NULL);
      assert_true(seen <= 20 && seen >= -1);
      if (seen > most) most = seen;
    }
    assert_int_equal(most, 20);
    clear(&b);
  }
  unlink(path_of(".mcap"));
}

/* bytes replaced by others */
static void test_hostile_files(void **state) {
  (void)state;
  rng g = rng_start("hostile bags");
  static const char *const packings[] = {NULL, "", "lz4", "zstd"};
  for (int k = 0; k < 4; k++) {
    trial t = plain;
    t.packing = packings[k];
#ifndef PSDM_HAVE_LZ4
    if (k == 2) continue;
#endif
#ifndef PSDM_HAVE_ZSTD
    if (k == 3) continue;
#endif
    bytes b = mcap(&t, 0, 12);
    for (int round = 0; round < 150; round++) {
      unsigned char *copy = malloc(b.used);
      memcpy(copy, b.at, b.used);
      for (int i = rng_int(&g, 1, 6); i > 0; i--)
        copy[rng_int(&g, 8, (int)b.used - 1)] = (unsigned char)(rng_int(&g, 0, 3) ? rng_int(&g, 0, 255) : 255);
      write_file(path_of(".mcap"), &(bytes){copy, b.used, b.used}, b.used);
      survive(path_of(".mcap"), NULL);
      free(copy);
    }
    clear(&b);
  }
  unlink(path_of(".mcap"));
#ifdef PSDM_HAVE_SQLITE
  write_db3(path_of(".db3"), &plain, 0, 60);
  FILE *file = fopen(path_of(".db3"), "rb");
  static unsigned char whole[1 << 16], turned[1 << 16];
  size_t length = fread(whole, 1, sizeof whole, file);
  fclose(file);
  for (int round = 0; round < 150; round++) {
    memcpy(turned, whole, length);
    for (int i = rng_int(&g, 1, 8); i > 0; i--)
      turned[rng_int(&g, 16, (int)length - 1)] = (unsigned char)rng_int(&g, 0, 255);
    size_t cut = round % 3 ? length : (size_t)rng_int(&g, 100, (int)length);
    write_file(path_of(".db3"), &(bytes){turned, cut, cut}, cut);
    survive(path_of(".db3"), NULL);
  }
  unlink(path_of(".db3"));
#endif
}

/* every allocation may fail, and nothing leaks */
static void test_memory(void **state) {
  (void)state;
  trial t = plain;
  t.packing = "";
  write_mcap(path_of(".mcap"), &t, 0, 5);
  for (long at = 1;; at++) {
    counting c;
    counting_init(&c, at);
    long seen = survive(path_of(".mcap"), &c.allocator);
    assert_int_equal(c.live, 0);
    if (c.calls < at) {
      assert_int_equal(seen, 5);
      break;
    }
    assert_int_equal(seen, -1);
  }
  unlink(path_of(".mcap"));
}

static int set_up(void **state) {
  (void)state;
  robot = parse_robot(ROBOT);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  psdm_robot_free(robot);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_containers),    cmocka_unit_test(test_sqlite),       cmocka_unit_test(test_folder),
      cmocka_unit_test(test_topics),        cmocka_unit_test(test_other_robots), cmocka_unit_test(test_recorded_time),
      cmocka_unit_test(test_bad_messages),  cmocka_unit_test(test_wrong_sum),    cmocka_unit_test(test_cut_files),
      cmocka_unit_test(test_hostile_files), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
