/* feed.h: logs as stretches of rows, from memory or read again, and sums over them that can be kept beyond a run.
 * Private to the library. */
#ifndef PSDMP_FEED_H
#define PSDMP_FEED_H

#include "base/base.h"
#include "parallel/parallel.h"
#include "psdm/calibrate.h"
#include "psdm/robot.h"

/* Extra rows before a stretch for friction columns with memory. */
enum { PSDMP_FEED_WARM = 4096 };

/* ---- feed.c ---- */

/* Consecutive rows of one segment, as logged; lead and trail rows at its ends are neighbours for the filter only. */
typedef struct psdmp_feed_stretch {
  long rows, lead, trail;
  long first; /* index of row 0 among all rows */
  int segment, file;
  bool begins, ends;                    /* row 0 is the segment's first, the last row its last */
  double origin, begin;                 /* time of the file's first row, and of the segment's */
  const double *t, *q, *qd, *qdd, *tau; /* (rows), (rows x n); qd, qdd NULL where absent */
  const unsigned char *bad;             /* (rows x n) */
} psdmp_feed_stretch;

typedef struct psdmp_feed psdmp_feed;

typedef struct psdmp_feed_checkpoint psdmp_feed_checkpoint;

/* Opened in two steps: logs are named, then read by all ranks together (rank 0). */
psdm_status psdmp_feed_new(const psdm_robot *robot, const psdm_calibrate_options *options,
                           const psdmp_feed_checkpoint *checkpoint, const psdm_allocator *allocator, psdmp_feed **feed,
                           psdm_error *error);
psdm_status psdmp_feed_read(psdmp_feed *feed, psdm_error *error);
/* both */
psdm_status psdmp_feed_open(const psdm_robot *robot, const psdm_calibrate_options *options,
                            const psdm_allocator *allocator, psdmp_feed **feed, psdm_error *error);
void psdmp_feed_close(psdmp_feed *feed);
long psdmp_feed_rows(const psdmp_feed *feed);
int psdmp_feed_segments(const psdmp_feed *feed);
double psdmp_feed_interval(const psdmp_feed *feed);
bool psdmp_feed_has_rates(const psdmp_feed *feed);
bool psdmp_feed_has_accelerations(const psdmp_feed *feed);
int psdmp_feed_currents(const psdmp_feed *feed); /* files that have currents */
bool psdmp_feed_whole(const psdmp_feed *feed);   /* all rows are in memory */
bool psdmp_feed_shared(const psdmp_feed *feed);  /* several threads may read logs */
void psdmp_feed_faults(const psdmp_feed *feed, long faults[PSDM_FAULTS]);
const char *psdmp_feed_fault(const psdmp_feed *feed, int index);

/* Facts about one joint in a log, on the joint side. Only doubles: they are sent to other ranks unchanged. */
typedef struct psdmp_feed_joint_facts {
  double q_low, q_high;
  double outside, outside_line; /* rows beyond the position limits, the first one's line */
  double peak, peak_line;       /* largest |tau| */
  double beyond, beyond_line;   /* rows beyond the effort limit */
  double fast, fast_line;       /* largest mean rate over ten rows, from q */
  /* sums over ten rows each: way^2, way times the integral of qd, the integral's square */
  double way2, both, integral2;
  double noise, noises; /* second differences of the torque, squared */
  double squares, rows; /* of the torque */
} psdmp_feed_joint_facts;

int psdmp_feed_files(const psdmp_feed *feed);
const char *psdmp_feed_name(const psdmp_feed *feed, int file);
const psdmp_feed_joint_facts *psdmp_feed_joints(const psdmp_feed *feed, int file); /* (n) */

/* Calls use for every stretch: of the rows in memory (a sample of a long log), or of all rows with `margin` neighbours
 * on either side. */
typedef psdm_status (*psdmp_feed_use_stretch)(void *user, const psdmp_feed_stretch *stretch, psdm_error *error);
psdm_status psdmp_feed_each(psdmp_feed *feed, bool all, long margin, psdmp_feed_use_stretch use, void *user,
                            psdm_error *error);

/* with PSDMP_FEED_WARM more rows before them */
psdm_status psdmp_feed_each_warm(psdmp_feed *feed, bool all, long margin, psdmp_feed_use_stretch use, void *user,
                                 psdm_error *error);

/* The same in units that depend on the logs alone, in any order and by several readers at once: stretches of one unit,
 * in their order. */
typedef struct psdmp_feed_reader psdmp_feed_reader;
psdmp_feed_reader *psdmp_feed_reader_new(psdmp_feed *feed); /* NULL: out of memory */
void psdmp_feed_reader_free(psdmp_feed_reader *reader);     /* accepts NULL */
psdmp_feed *psdmp_feed_reader_feed(const psdmp_feed_reader *reader);
long psdmp_feed_units(const psdmp_feed *feed, bool all);
psdm_status psdmp_feed_unit(psdmp_feed_reader *reader, bool all, long unit, long lead, long trail,
                            psdmp_feed_use_stretch use, void *user, psdm_error *error);
psdm_status psdmp_feed_reader_rows(psdmp_feed_reader *reader, int file, long from, long to, long lead, long trail,
                                   psdmp_feed_use_stretch use, void *user, psdm_error *error);

/* Other ranks: read their files, then get all of them. Further work numbers start at PSDMP_FEED_WORK_OF_FEED. */
enum { PSDMP_FEED_WORK_SCAN, PSDMP_FEED_WORK_FEED, PSDMP_FEED_WORK_OF_FEED };
psdm_status psdmp_feed_serve_scan(psdmp_feed *feed, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                                  psdm_error *error);
psdm_status psdmp_feed_serve_all(psdmp_feed *feed, psdmp_parallel_bytes *request, psdm_error *error);

/* ---- checkpoint_io.c ---- */

struct psdmp_base_sha256;
/* false: it cannot be recognised again */
bool psdmp_feed_file_identity(const char *path, struct psdmp_base_sha256 *hash);

/* A folder of parts. Creates the folder; parts of other logs, settings or versions are ignored, and counted. */
#define PSDMP_FEED_CHECKPOINT_LOG "log" /* the kind of parts for scanned logs, which answer no request */
psdm_status psdmp_feed_checkpoint_new(const psdm_robot *robot, const psdm_calibrate_options *options,
                                      const psdm_allocator *allocator, psdmp_feed_checkpoint **checkpoint,
                                      psdm_error *error);
void psdmp_feed_checkpoint_free(psdmp_feed_checkpoint *checkpoint);                      /* accepts NULL */
const unsigned char *psdmp_feed_checkpoint_key(const psdmp_feed_checkpoint *checkpoint); /* (32) */
void psdmp_feed_checkpoint_set_key(psdmp_feed_checkpoint *checkpoint, const unsigned char key[32]);
void psdmp_feed_checkpoint_counts(const psdmp_feed_checkpoint *checkpoint, long *found, long *saved, long *stale,
                                  long *damaged);

/* Removes all parts of the named kinds and requests, including those of scanned logs. */
/* false: out of memory */
bool psdmp_feed_checkpoint_names(psdmp_feed_checkpoint *checkpoint, const char *kind,
                                 const psdmp_parallel_bytes *request);
psdm_status psdmp_feed_checkpoint_clear(const psdmp_feed_checkpoint *checkpoint, long *removed, psdm_error *error);

/* Part `number` of a kind that answers a request (nullable). Thread-safe. */
bool psdmp_feed_checkpoint_load(const psdmp_feed_checkpoint *checkpoint, const char *kind, long number,
                                const psdmp_parallel_bytes *request, psdmp_parallel_bytes *part);
psdm_status psdmp_feed_checkpoint_save(const psdmp_feed_checkpoint *checkpoint, const char *kind, long number,
                                       const psdmp_parallel_bytes *request, const psdmp_parallel_bytes *part,
                                       psdm_error *error);

#endif
