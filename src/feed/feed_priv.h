/* feed_priv.h: logs while they are read. Private to the feed.
 *
 *   feed.c      facts about all logs, and their rows in memory
 *   scan.c      the first pass: counts rows, keeps some, sets bookmarks
 *   facts.c     facts about each joint from the first pass
 *   read.c      later passes, from any row on
 *   bytes.c     what one rank has read, for the others
 *   files_io.c  files */
#ifndef PSDMP_FEED_PRIV_H
#define PSDMP_FEED_PRIV_H

#include <stdatomic.h>

#include "feed/feed.h"
#include "log/log.h"

enum {
  PSDMP_FEED_PIECE = 65536, /* rows that are kept or dropped together */
  /* rows processed at once: cut at its multiples within a file, for any reader */
  PSDMP_FEED_WINDOW = 32768,
  PSDMP_FEED_READ = 4096,
  PSDMP_FEED_GROUP = 65536,         /* least rows of a unit to read: a multiple of the window; */
  PSDMP_FEED_GROUPS = 512,          /* it grows to limit their number to about this */
  PSDMP_FEED_FIRST_SPACING = 16384, /* rows between bookmarks; they are thinned so that */
  PSDMP_FEED_BOOKMARKS = 2048,      /* all logs have at most this many */
  PSDMP_FEED_MOST_FAULTS = 200
};

/* rows side by side in arrays that grow together */
typedef struct psdmp_feed_columns {
  int n;
  bool rates, accelerations;
  long count, room;
  double *t, *q, *qd, *qdd, *tau;
  unsigned char *bad;
} psdmp_feed_columns;

bool psdmp_feed_room(psdmp_feed_columns *rows, const psdm_allocator *allocator, long count);
void psdmp_feed_copy(psdmp_feed_columns *rows, const psdm_log_rows *from, long first, long count);
void psdmp_feed_move(psdmp_feed_columns *rows, long to, long from, long count); /* to <= from */
void psdmp_feed_columns_free(psdmp_feed_columns *rows, const psdm_allocator *allocator);
psdmp_feed_stretch psdmp_feed_view(const psdmp_feed *feed, const psdmp_feed_columns *rows, long at, long count);

/* Consecutive rows of one segment in memory. Rows and segments are counted within the file. */
typedef struct psdmp_feed_piece {
  long first, at, count; /* at: place in memory */
  double begin;          /* time of the segment's first row */
  int segment;
} psdmp_feed_piece;

typedef struct psdmp_feed_mark {
  psdmp_log_bookmark at;
  int segment;  /* of the previous row, -1: none */
  double begin; /* time of that segment's first row */
} psdmp_feed_mark;

/* Facts about a log, while it is read. */
typedef struct psdmp_feed_facts {
  int n;
  psdmp_feed_joint_facts *joint; /* (n) */
  /* (5 n) torque of the last two rows, q at the start of the span, integral of qd since, qd of the last row */
  double *last;
  double t, began; /* of the last row, of the span's start */
  long seen;       /* rows of this segment */
} psdmp_feed_facts;

/* false: out of memory */
bool psdmp_feed_facts_new(psdmp_feed_facts *facts, const psdm_robot *robot, const psdm_allocator *allocator);
void psdmp_feed_facts_free(psdmp_feed_facts *facts, const psdm_allocator *allocator);
/* fresh: a segment starts */
void psdmp_feed_facts_rows(psdmp_feed_facts *facts, const psdm_robot *robot, const psdm_log_rows *rows, bool fresh);

/* One log after the first pass. */
typedef struct psdmp_feed_file {
  const char *path;
  bool scanned, rates, accelerations, currents, seeks, shared, once;
  long rows, first; /* first: its first among all rows */
  int segments, first_segment;
  double interval, origin; /* origin: time of its first row */
  long every;
  psdmp_feed_columns kept;
  psdmp_feed_piece *piece;
  int pieces;
  long piece_room;
  psdmp_feed_mark *mark;
  int marks;
  long spacing;
  long faults[PSDM_FAULTS];
  psdmp_feed_facts facts;
  char **fault; /* (fault_count) */
  int fault_count;
  psdm_status status; /* its first failure */
  psdm_error error;
} psdmp_feed_file;

/* Rows in memory that are processed at once. */
typedef struct psdmp_feed_window {
  int file, run;     /* run: its first piece; further ones follow */
  long first, count; /* rows of the whole run */
  long from, to;
} psdmp_feed_window;

struct psdmp_feed {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const psdm_robot *robot;
  psdm_ranks *ranks;
  psdm_log_options log;
  int n, files, segments, threads;
  psdmp_feed_file *file; /* (files) */
  bool rates, accelerations, whole, shared;
  int currents;
  double interval;
  long total, limit;
  long every; /* every how many pieces one is kept */
  const char *fault[PSDMP_FEED_MOST_FAULTS];
  int fault_count;
  long windows, units;       /* of the rows in memory; of all rows, if they are read again */
  psdmp_feed_window *window; /* (windows) */
  long *unit;                /* (units + 1) first row of each, among all rows */
  psdm_progress progress;
  void *progress_user;
  double *read_share; /* (files) share read so far */
  atomic_bool stop;
  atomic_int failed; /* the first file that could not be read; INT_MAX: none */
  const psdmp_feed_checkpoint *checkpoint;
};

/* The rows of a file kept when every `every`-th piece is. */
long psdmp_feed_kept(int file, long rows, long every);
void psdmp_feed_thin(psdmp_feed *feed, int file, long every);
/* scans these files; failures are in their status */
psdm_status psdmp_feed_scan(psdmp_feed *feed, int count, const int *file, psdm_error *error);
void psdmp_feed_file_free(psdmp_feed_file *file, const psdm_allocator *allocator);

void psdmp_feed_file_put(const psdmp_feed_file *file, psdmp_parallel_bytes *to);
/* false: out of memory, or invalid bytes */
bool psdmp_feed_file_get(psdmp_feed_file *file, const psdm_allocator *allocator, psdmp_parallel_bytes *from);

/* Assigns files to ranks: rank (files). The largest first, each to the rank with the least; pipes are rank 0's. False:
 * out of memory. */
bool psdmp_feed_assign(const psdmp_feed *feed, int ranks, int *rank);

#endif
