/* bag_io.c: bags of ROS 2 as logs. Joints are found by their names; messages without any of the robot's joints are
 * skipped. Time is from the messages' headers, from the first one on, or the recording time if headers have none. */
#define _POSIX_C_SOURCE 200809L /* opendir, stat */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/bag_priv.h"

enum { MAGIC = 16, MOST_FILES = 4096 };

static const char sqlite_magic[MAGIC] = "SQLite format 3"; /* and a NUL */
static const char mcap_magic[8] = {(char)0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

typedef struct bag_file {
  const char *path;
  long long size;
} bag_file;

typedef struct bag_log {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const char *file;  /* name in messages */
  const char *asked; /* topic that the caller named, NULL: none */
  const char *topic; /* the one that is read, NULL: not known yet */
  int n;
  const char **joint; /* (n) names */
  bag_file *files;    /* (count) in the order of recording */
  int count, current;
  psdmp_log_bag bag; /* of the current file; self is NULL between files */
  bool has[PSDMP_LOG_KINDS];
  int columns;
  const char **names; /* (columns) */
  int width;
  const int *column; /* (width) of each value needed */
  int *place;        /* (n) of each joint in the present message */
  double *row;       /* (columns) */
  bool recorded;     /* headers have no time: use the recording time */
  bool begun;
  int64_t first;    /* ns */
  long index;       /* messages of the topic so far */
  long long before; /* bytes of the finished files */
  char seen[PSDMP_LOG_BAG_SEEN];
} bag_log;

void psdmp_log_bag_see(char seen[PSDMP_LOG_BAG_SEEN], const char *topic, size_t topic_length, const char *type,
                       size_t type_length) {
  char a[48], b[48], text[PSDMP_LOG_BAG_SEEN];
  size_t used = strlen(seen);
  snprintf(text, sizeof text, "%s%s (%s)", used ? ", " : "", psdmp_base_quote(topic, topic_length, a, sizeof a),
           psdmp_base_quote(type, type_length, b, sizeof b));
  if (used + strlen(text) < PSDMP_LOG_BAG_SEEN) memcpy(seen + used, text, strlen(text) + 1);
}

/* ---- files ---- */

bool psdmp_log_is_bag(const char *begin, size_t length) {
  return (length >= sizeof mcap_magic && memcmp(begin, mcap_magic, sizeof mcap_magic) == 0) ||
         (length >= MAGIC && memcmp(begin, sqlite_magic, MAGIC) == 0);
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool is_bag_name(const char *name) { return ends_with(name, ".db3") || ends_with(name, ".mcap"); }

static bool is_packed_name(const char *name) { return ends_with(name, ".db3.zstd") || ends_with(name, ".mcap.zstd"); }

bool psdmp_log_is_bag_folder(const char *path) {
  DIR *folder = opendir(path);
  bool found = false;
  struct dirent *entry;
  while (folder && !found && (entry = readdir(folder)))
    found = is_bag_name(entry->d_name) || is_packed_name(entry->d_name);
  if (folder) closedir(folder);
  return found;
}

size_t psdmp_log_bag_name(const char *path) {
  struct stat info;
  size_t length = strlen(path);
  char name[PATH_MAX];
  if (stat(path, &info) == 0) return length;
  for (size_t at = length; at-- > 1;) {
    if (path[at] != ':' || path[at + 1] != '/' || at >= sizeof name) continue;
    memcpy(name, path, at);
    name[at] = '\0';
    if (stat(name, &info) == 0) return at;
  }
  return length;
}

/* run_2 comes before run_10 */
static int by_number(const void *a, const void *b) {
  const char *x = ((const bag_file *)a)->path, *y = ((const bag_file *)b)->path;
  size_t i = strlen(x), j = strlen(y);
  return i != j ? (i > j) - (i < j) : strcmp(x, y);
}

static psdm_status add_file(bag_log *log, const char *folder, const char *name, psdm_error *error) {
  char path[PATH_MAX];
  struct stat info;
  int length = snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
  if (length < 0 || length >= (int)sizeof path)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->file, 0, 0, "the name is too long");
  if (stat(path, &info) != 0)
    return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
  if (log->count == MOST_FILES)
    return psdmp_base_fail(error, PSDM_E_LIMIT, log->file, 0, 0, "more than %d files", MOST_FILES);
  bag_file *file = &log->files[log->count++];
  *file = (bag_file){psdmp_base_arena_text(&log->arena, path, (size_t)length), (long long)info.st_size};
  return file->path ? PSDM_OK : psdmp_base_no_memory(log->file, error);
}

/* the file itself, or all of a folder */
static psdm_status list_files(bag_log *log, const char *path, psdm_error *error) {
  DIR *folder = opendir(path);
  struct dirent *entry;
  bool packed = false;
  psdm_status status = PSDM_OK;
  log->files = psdmp_base_arena_alloc(&log->arena, sizeof *log->files * (folder ? MOST_FILES : 1));
  if (!log->files) status = psdmp_base_no_memory(log->file, error);
  if (!status && !folder) status = add_file(log, path, "", error);
  while (folder && !status && (entry = readdir(folder))) {
    packed = packed || is_packed_name(entry->d_name);
    if (is_bag_name(entry->d_name)) status = add_file(log, path, entry->d_name, error);
  }
  if (folder) closedir(folder);
  if (!status && !log->count && packed)
    status = psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0,
                             "its files are compressed as a whole; unpack them first with zstd -d");
  if (!status) qsort(log->files, (size_t)log->count, sizeof *log->files, by_number);
  return status;
}

static psdm_status open_current(bag_log *log, psdm_error *error) {
  const bag_file *file = &log->files[log->current];
  char begin[MAGIC] = {0};
  FILE *stream = fopen(file->path, "rb");
  size_t got = stream ? fread(begin, 1, sizeof begin, stream) : 0;
  int why = errno;
  if (stream) fclose(stream);
  if (!stream) return psdmp_base_fail(error, PSDM_E_IO, file->path, 0, 0, "cannot be opened: %s", strerror(why));
  if (!psdmp_log_is_bag(begin, got))
    return psdmp_base_fail(error, PSDM_E_PARSE, file->path, 0, 0,
                           "is neither an SQLite nor an MCAP file; a ROS 2 bag was expected");
  return (begin[0] == mcap_magic[0] ? psdmp_log_bag_mcap_open : psdmp_log_bag_sqlite_open)(
      file->path, file->path, file->size, log->allocator, &log->bag, error);
}

static void close_current(bag_log *log) {
  if (!log->bag.self) return;
  if (!*log->seen) snprintf(log->seen, sizeof log->seen, "%s", log->bag.seen(log->bag.self));
  log->bag.close(log->bag.self);
  log->bag = (psdmp_log_bag){0};
}

/* the next message of any file, or the end of all */
static psdm_status next_message(bag_log *log, psdmp_log_bag_event *event, psdmp_log_bag_message *message,
                                char *sentence, psdm_error *error) {
  *event = PSDMP_LOG_BAG_END;
  while (log->current < log->count) {
    psdm_status status = log->bag.self ? PSDM_OK : open_current(log, error);
    if (!status) status = log->bag.next(log->bag.self, event, message, sentence, error);
    if (status || *event != PSDMP_LOG_BAG_END) return status;
    log->before += log->files[log->current++].size;
    close_current(log);
  }
  return PSDM_OK;
}

static void go_back(bag_log *log) {
  close_current(log);
  log->current = 0;
  log->before = 0;
  log->index = 0;
  log->begun = false;
}

/* ---- messages ---- */

static int joints_in(const bag_log *log) {
  int found = 0;
  for (int j = 0; j < log->n; j++) found += log->place[j] >= 0;
  return found;
}

static const char *missing_joint(const bag_log *log) {
  for (int j = 0; j < log->n; j++)
    if (log->place[j] < 0) return log->joint[j];
  return "";
}

/* whether an array has a number for every joint of ours */
static bool is_whole(const bag_log *log, const psdmp_log_joint_state *state, int kind) {
  for (int j = 0; j < log->n; j++)
    if ((uint32_t)log->place[j] >= state->count[kind]) return false;
  return true;
}

static void spoil(psdmp_log_row *row, psdm_fault fault) {
  row->bad = true;
  row->fault = fault;
}

static const char *const kind_names[PSDMP_LOG_KINDS] = {"position", "velocity", "acceleration", "effort"};

/* numbers of a message with all joints into the row */
static void take_numbers(bag_log *log, const psdmp_log_joint_state *state, psdmp_log_row *row) {
  char quoted[64];
  double *to = log->row + 1;
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++) {
    if (!log->has[kind]) continue;
    if (!is_whole(log, state, kind)) {
      spoil(row, PSDM_FAULT_SHORT);
      snprintf(row->sentence, sizeof row->sentence, "%s has %lu numbers, not enough for its joints", kind_names[kind],
               (unsigned long)state->count[kind]);
      return;
    }
    for (int j = 0; j < log->n; j++, to++) {
      *to = psdmp_log_joint_state_value(state, (psdmp_log_kind)kind, log->place[j]);
      if (isfinite(*to) || row->bad) continue;
      spoil(row, PSDM_FAULT_NAN);
      snprintf(row->sentence, sizeof row->sentence, "%s of '%s' is %s", kind_names[kind],
               psdmp_base_quote(log->joint[j], strlen(log->joint[j]), quoted, sizeof quoted),
               isnan(*to) ? "nan" : "infinite");
    }
  }
}

/* s since the first message; nanoseconds are subtracted as integers, since a double of seconds since 1970 could not
 * hold them */
static double time_of(bag_log *log, int64_t stamp, int64_t recorded) {
  int64_t now = log->recorded ? recorded : stamp;
  if (!log->begun) {
    log->begun = true;
    log->first = now;
  }
  uint64_t apart = now >= log->first ? (uint64_t)now - (uint64_t)log->first : (uint64_t)log->first - (uint64_t)now;
  return (now >= log->first ? 1 : -1) * ((double)(apart / 1000000000) + 1e-9 * (double)(apart % 1000000000));
}

static psdm_status refuse_second(const bag_log *log, const char *topic, psdm_error *error) {
  char a[64], b[64];
  psdmp_base_quote(log->topic, strlen(log->topic), a, sizeof a);
  psdmp_base_quote(topic, strlen(topic), b, sizeof b);
  return psdmp_base_fail(error, PSDM_E_PARSE, log->file, 0, 0,
                         "two topics have all the joints, %s and %s; name one after the file, as in FILE:%s", a, b, a);
}

/* classifies a message: *ours is false if it is skipped */
static psdm_status judge(bag_log *log, const psdmp_log_bag_message *message, psdmp_log_joint_state *state,
                         psdmp_log_row *row, bool *ours, psdm_error *error) {
  char quoted[64];
  *ours = false;
  const char *only = log->asked ? log->asked : log->topic;
  bool known = !only || strcmp(only, message->topic) == 0;
  if (log->asked && !known) return PSDM_OK;
  bool good =
      psdmp_log_joint_state_read(message->data, message->length, log->joint, log->n, log->place, state, row->sentence);
  int found = good ? joints_in(log) : 0;
  if (!known) return found == log->n ? refuse_second(log, message->topic, error) : PSDM_OK;
  *ours = !good || found;
  if (!good) {
    spoil(row, PSDM_FAULT_GARBAGE);
  } else if (found && found < log->n) {
    const char *name = missing_joint(log);
    spoil(row, PSDM_FAULT_SHORT);
    snprintf(row->sentence, sizeof row->sentence, "joint '%s' is not in this message",
             psdmp_base_quote(name, strlen(name), quoted, sizeof quoted));
  }
  return PSDM_OK;
}

static psdm_status next(void *self, double *values, psdmp_log_row *row, psdm_error *error) {
  bag_log *log = self;
  for (;;) {
    psdmp_log_bag_event event;
    psdmp_log_bag_message message;
    psdmp_log_joint_state state;
    *row = (psdmp_log_row){.line = log->index + 1, .index = log->index};
    psdm_status status = next_message(log, &event, &message, row->sentence, error);
    row->end = !status && event == PSDMP_LOG_BAG_END;
    if (status || row->end) return status;
    bool ours = event == PSDMP_LOG_BAG_DAMAGED;
    if (ours) spoil(row, PSDM_FAULT_GARBAGE);
    else status = judge(log, &message, &state, row, &ours, error);
    if (status) return status;
    if (!ours) continue;
    if (!row->bad) {
      take_numbers(log, &state, row);
      log->row[0] = time_of(log, state.stamp, message.time);
    }
    for (int k = 0; k < log->width && !row->bad; k++)
      if (log->column[k] >= 0) values[k] = log->row[log->column[k]];
    log->index++;
    return PSDM_OK;
  }
}

static psdm_status select_columns(void *self, int count, const int *place, psdm_error *error) {
  bag_log *log = self;
  (void)error;
  log->width = count;
  log->column = place;
  return PSDM_OK;
}

static psdm_status rewind_bag(void *self, psdm_error *error) {
  (void)error;
  go_back(self);
  return PSDM_OK;
}

static void progress(const void *self, long long *bytes, long long *size) {
  const bag_log *log = self;
  *size = 0;
  for (int k = 0; k < log->count; k++) *size += log->files[k].size;
  *bytes = log->before + (log->bag.self ? log->bag.position(log->bag.self) : 0);
}

static void close_bag(void *self) {
  bag_log *log = self;
  if (!log) return;
  close_current(log);
  psdmp_base_arena_free(&log->arena);
  psdmp_base_free(log->allocator, log);
}

/* ---- the first message with all joints ---- */

static psdm_status explain_none(bag_log *log, const char *partly, psdm_error *error) {
  char quoted[64];
  close_current(log);
  if (*partly)
    return psdmp_base_fail(error, PSDM_E_PARSE, log->file, 0, 0,
                           "no message has all joints of the robot: '%s' is in none",
                           psdmp_base_quote(partly, strlen(partly), quoted, sizeof quoted));
  if (log->asked)
    return psdmp_base_fail(error, PSDM_E_PARSE, log->file, 0, 0,
                           "no " PSDMP_LOG_BAG_TYPE " with joints of the robot on topic '%s'",
                           psdmp_base_quote(log->asked, strlen(log->asked), quoted, sizeof quoted));
  return psdmp_base_fail(error, PSDM_E_PARSE, log->file, 0, 0,
                         "no " PSDMP_LOG_BAG_TYPE " (CDR) with joints of the robot in it%s%s",
                         *log->seen ? "; it has " : "", log->seen);
}

/* reads until a message has every joint; then from the start again */
static psdm_status look_ahead(bag_log *log, psdm_error *error) {
  const char *partly = "";
  for (;;) {
    psdmp_log_bag_event event;
    psdmp_log_bag_message message;
    psdmp_log_joint_state state;
    char sentence[PSDMP_LOG_SENTENCE];
    psdm_status status = next_message(log, &event, &message, sentence, error);
    if (status) return status;
    if (event == PSDMP_LOG_BAG_END) return explain_none(log, partly, error);
    if (event == PSDMP_LOG_BAG_DAMAGED || (log->asked && strcmp(log->asked, message.topic) != 0)) continue;
    if (!psdmp_log_joint_state_read(message.data, message.length, log->joint, log->n, log->place, &state, sentence))
      continue;
    int found = joints_in(log);
    if (found && found < log->n) partly = missing_joint(log);
    if (found < log->n || !is_whole(log, &state, PSDMP_LOG_Q)) continue;
    log->topic = psdmp_base_arena_text(&log->arena, message.topic, strlen(message.topic));
    log->recorded = state.stamp == 0;
    for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
      log->has[kind] = state.count[kind] && is_whole(log, &state, kind);
    go_back(log);
    return log->topic ? PSDM_OK : psdmp_base_no_memory(log->file, error);
  }
}

static psdm_status name_columns(bag_log *log, psdm_error *error) {
  static const char *const group[PSDMP_LOG_KINDS] = {"q", "qd", "qdd", "tau"};
  char name[32] = "t";
  log->names = psdmp_base_arena_alloc(&log->arena, sizeof *log->names * (1 + (size_t)PSDMP_LOG_KINDS * (size_t)log->n));
  log->row = psdmp_base_arena_alloc(&log->arena, sizeof *log->row * (1 + (size_t)PSDMP_LOG_KINDS * (size_t)log->n));
  if (!log->names || !log->row) return psdmp_base_no_memory(log->file, error);
  log->names[log->columns++] = "t";
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
    for (int j = 0; log->has[kind] && j < log->n; j++) {
      int length = snprintf(name, sizeof name, "%s%d", group[kind], j + 1);
      log->names[log->columns] = psdmp_base_arena_text(&log->arena, name, (size_t)length);
      if (!log->names[log->columns++]) return psdmp_base_no_memory(log->file, error);
    }
  return PSDM_OK;
}

static psdm_status name_joints(bag_log *log, const psdm_robot *robot, psdm_error *error) {
  log->joint = psdmp_base_arena_alloc(&log->arena, sizeof *log->joint * (size_t)log->n);
  log->place = psdmp_base_arena_alloc(&log->arena, sizeof *log->place * (size_t)log->n);
  if (!log->joint || !log->place) return psdmp_base_no_memory(log->file, error);
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    if (joint->q >= 0) log->joint[joint->q] = joint->name;
  }
  return PSDM_OK;
}

psdm_status psdmp_log_bag_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  bag_log *log = psdmp_base_alloc(request->allocator, sizeof *log);
  if (!log) return psdmp_base_no_memory(request->file, error);
  log->allocator = log->arena.allocator = request->allocator;
  log->file = request->file;
  log->asked = request->topic;
  log->n = request->n;
  psdm_status status = list_files(log, request->path, error);
  if (!status) status = name_joints(log, request->robot, error);
  if (!status) status = look_ahead(log, error);
  if (!status) status = name_columns(log, error);
  if (status) close_bag(log);
  else
    *source = (psdmp_log_source){.self = log,
                                 .word = "message",
                                 .column = "channel",
                                 .columns = log->columns,
                                 .names = log->names,
                                 .select = select_columns,
                                 .next = next,
                                 .rewind = rewind_bag,
                                 .progress = progress,
                                 .close = close_bag};
  return status;
}
