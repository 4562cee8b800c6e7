/* bag_sqlite_io.c: rosbag2's own files (.db3): tables topics (id, name, type, serialization_format) and messages
 * (id, topic_id, timestamp, data). */
#include <stdio.h>
#include <string.h>

#include "log/bag_priv.h"

#ifdef PSDM_HAVE_SQLITE
#include <sqlite3.h>

enum { MOST_TOPICS = 256 };

typedef struct sqlite_bag {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const char *file;
  long long size;
  sqlite3 *base;
  sqlite3_stmt *messages;  /* topic_id, timestamp, data */
  sqlite3_int64 count, at; /* messages of the topics in all; so far */
  bool end;
  int topics;
  sqlite3_int64 id[MOST_TOPICS];
  const char *topic[MOST_TOPICS];
  char seen[PSDMP_LOG_BAG_SEEN];
} sqlite_bag;

static psdm_status fail_base(const sqlite_bag *bag, psdm_error *error) {
  char quoted[160];
  const char *why = bag->base ? sqlite3_errmsg(bag->base) : "out of memory";
  return psdmp_base_fail(error, PSDM_E_IO, bag->file, 0, 0,
                         "cannot be read as a ROS 2 bag (tables topics and messages): %s",
                         psdmp_base_quote(why, strlen(why), quoted, sizeof quoted));
}

/* a database can run triggers and views unless it is opened as untrusted */
static void disarm(sqlite3 *base) {
  static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_TRUSTED_SCHEMA};
  for (size_t k = 0; k < sizeof off / sizeof *off; k++) sqlite3_db_config(base, off[k], 0, (int *)NULL);
  sqlite3_db_config(base, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
}

static bool is_text(sqlite3_stmt *row, int column, const char *want) {
  const char *text = (const char *)sqlite3_column_text(row, column);
  return text && strcmp(text, want) == 0;
}

static bool keep_topic(sqlite_bag *bag, sqlite3_stmt *row) {
  const char *name = (const char *)sqlite3_column_text(row, 1), *type = (const char *)sqlite3_column_text(row, 2);
  if (!name || !type) return true;
  if (!is_text(row, 2, PSDMP_LOG_BAG_TYPE) || !is_text(row, 3, PSDMP_LOG_BAG_ENCODING)) {
    psdmp_log_bag_see(bag->seen, name, strlen(name), type, strlen(type));
    return true;
  }
  if (bag->topics == MOST_TOPICS) return true;
  bag->id[bag->topics] = sqlite3_column_int64(row, 0);
  bag->topic[bag->topics] = psdmp_base_arena_text(&bag->arena, name, strlen(name));
  return bag->topic[bag->topics++] != NULL;
}

static psdm_status find_topics(sqlite_bag *bag, psdm_error *error) {
  sqlite3_stmt *rows = NULL;
  int answer =
      sqlite3_prepare_v2(bag->base, "SELECT id, name, type, serialization_format FROM topics", -1, &rows, NULL);
  bool kept = true;
  while (answer == SQLITE_OK || answer == SQLITE_ROW) {
    answer = sqlite3_step(rows);
    if (answer == SQLITE_ROW && !(kept = keep_topic(bag, rows))) break;
  }
  psdm_status status = !kept                   ? psdmp_base_no_memory(bag->file, error)
                       : answer == SQLITE_DONE ? PSDM_OK
                                               : fail_base(bag, error);
  sqlite3_finalize(rows);
  return status;
}

/* "... topic_id IN (1,4)" */
static bool prepare(sqlite_bag *bag, const char *what, const char *order, sqlite3_stmt **statement) {
  char text[128 + 24 * MOST_TOPICS];
  int used = snprintf(text, sizeof text, "SELECT %s FROM messages WHERE topic_id IN (", what);
  for (int k = 0; k < bag->topics; k++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld", k ? "," : "", (long long)bag->id[k]);
  snprintf(text + used, sizeof text - (size_t)used, ")%s", order);
  return sqlite3_prepare_v2(bag->base, text, -1, statement, NULL) == SQLITE_OK;
}

/* in recording order; an index on timestamp avoids sorting */
static psdm_status find_messages(sqlite_bag *bag, psdm_error *error) {
  sqlite3_stmt *count = NULL;
  bool good = prepare(bag, "topic_id, timestamp, data", " ORDER BY timestamp, id", &bag->messages) &&
              prepare(bag, "count(*)", "", &count);
  if (good && sqlite3_step(count) == SQLITE_ROW) bag->count = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  return good ? PSDM_OK : fail_base(bag, error);
}

static const char *topic_of(const sqlite_bag *bag, sqlite3_int64 id) {
  for (int k = 0; k < bag->topics; k++)
    if (bag->id[k] == id) return bag->topic[k];
  return NULL;
}

static psdm_status next(void *self, psdmp_log_bag_event *event, psdmp_log_bag_message *message, char *sentence,
                        psdm_error *error) {
  sqlite_bag *bag = self;
  *event = PSDMP_LOG_BAG_END;
  while (!bag->end) {
    int answer = sqlite3_step(bag->messages);
    if (answer == SQLITE_NOMEM) return psdmp_base_no_memory(bag->file, error);
    bag->end = answer != SQLITE_ROW;
    if (answer == SQLITE_DONE) return PSDM_OK;
    if (answer != SQLITE_ROW) { /* earlier messages are valid: pages are read as needed */
      *event = PSDMP_LOG_BAG_DAMAGED;
      snprintf(sentence, PSDMP_LOG_SENTENCE, "the file is damaged from here on: %.100s", sqlite3_errstr(answer));
      return PSDM_OK;
    }
    bag->at++;
    message->topic = topic_of(bag, sqlite3_column_int64(bag->messages, 0));
    message->time = sqlite3_column_int64(bag->messages, 1);
    message->data = sqlite3_column_blob(bag->messages, 2);
    message->length = (size_t)sqlite3_column_bytes(bag->messages, 2);
    if (!message->topic) continue;
    if (!message->data) message->data = (const unsigned char *)"", message->length = 0;
    *event = PSDMP_LOG_BAG_MESSAGE;
    return PSDM_OK;
  }
  return PSDM_OK;
}

/* as if all messages had the same size */
static long long position(const void *self) {
  const sqlite_bag *bag = self;
  return bag->count ? (long long)((double)bag->size * ((double)bag->at / (double)bag->count)) : bag->size;
}

static const char *seen(const void *self) { return ((const sqlite_bag *)self)->seen; }

static void close_bag(void *self) {
  sqlite_bag *bag = self;
  sqlite3_finalize(bag->messages);
  sqlite3_close(bag->base);
  psdmp_base_arena_free(&bag->arena);
  psdmp_base_free(bag->allocator, bag);
}

psdm_status psdmp_log_bag_sqlite_open(const char *path, const char *file, long long size,
                                      const psdm_allocator *allocator, psdmp_log_bag *out, psdm_error *error) {
  sqlite_bag *bag = psdmp_base_alloc(allocator, sizeof *bag);
  if (!bag) return psdmp_base_no_memory(file, error);
  bag->allocator = bag->arena.allocator = allocator;
  bag->file = file;
  bag->size = size;
  psdm_status status = sqlite3_open_v2(path, &bag->base, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
                           ? PSDM_OK
                           : fail_base(bag, error);
  if (!status) disarm(bag->base);
  if (!status) status = find_topics(bag, error);
  if (!status) status = find_messages(bag, error);
  if (status) close_bag(bag);
  else *out = (psdmp_log_bag){bag, next, position, seen, close_bag};
  return status;
}

#else

psdm_status psdmp_log_bag_sqlite_open(const char *path, const char *file, long long size,
                                      const psdm_allocator *allocator, psdmp_log_bag *bag, psdm_error *error) {
  (void)path, (void)size, (void)allocator, (void)bag;
  return psdmp_base_lacks(file, "bags in SQLite files need", "SQLite", "libsqlite3-dev", error);
}

#endif
