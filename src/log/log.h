/* log.h: re-reading a log from the middle. Private to the library. */
#ifndef PSDMP_LOG_H
#define PSDMP_LOG_H

#include "base/base.h"
#include "psdm/log.h"

enum { PSDMP_LOG_KEPT = 20 }; /* sentences about faults of each kind */

/* State at a row. Rows read from there on are the same, with the same marks, as if read from the start. */
typedef struct psdmp_log_bookmark {
  long row;        /* rows returned before it */
  long long place; /* of the first row in the store, its line and index */
  long line, index;
  int segment; /* of that row, and */
  bool regular;
  double interval;
  long watched, used; /* rows in the store */
  long marks;
  struct psdmp_log_marked {
    int row, joint;
    unsigned char mark;
  } * mark; /* (marks) */
  size_t bytes;
  unsigned char *watch; /* (bytes) state of the watch, then q of its row without full turns (n) */
} psdmp_log_bookmark;

/* psdm_log_open in two steps: detect the format, then read the first rows. A log that goes to a bookmark next needs
 * only the first. */
psdm_status psdmp_log_open(const char *path, const psdm_robot *robot, const psdm_log_options *options,
                           const psdm_allocator *allocator, psdm_log **log, psdm_error *error);
psdm_status psdmp_log_begin(psdm_log *log, psdm_error *error);

/* the table of this name; NULL: a file's */
const psdm_log_table *psdmp_log_in_memory(const char *path, const psdm_log_options *options);

/* Whether a bookmark can be made now: between two calls of psdm_log_read, every few thousand rows, for seekable
 * sources. */
bool psdmp_log_markable(const psdm_log *log);
bool psdmp_log_seeks(const psdm_log *log);
bool psdmp_log_once(const psdm_log *log);   /* a pipe */
bool psdmp_log_shared(const psdm_log *log); /* may be read by one thread while other threads read other logs */

/* False: out of memory. Free with psdmp_log_bookmark_free. */
bool psdmp_log_bookmark_take(psdm_log *log, const psdm_allocator *allocator, psdmp_log_bookmark *bookmark);
void psdmp_log_bookmark_free(psdmp_log_bookmark *bookmark, const psdm_allocator *allocator);

/* Resets the fault counts. PSDM_E_IO if the file's content has changed. */
psdm_status psdmp_log_go_to(psdm_log *log, const psdmp_log_bookmark *bookmark, psdm_error *error);

#endif
