/* psdm/log.h: measured logs as a stream of rows on the joint side.
 *
 *   psdm_log *log;
 *   psdm_log_open("run.csv", robot, NULL, NULL, &log, &error);
 *   while (psdm_log_read(log, 4096, &rows, &error) == PSDM_OK && rows.count) seen += rows.count;
 *
 * CSV (header row, or numbers alone with `columns`), gzipped CSV, MATLAB .mat, HDF5 and ROS 2 bags (.mcap, .db3, or a
 * bag's folder), recognised by their content. Channels are found by name: t; q1.. qd1.. qdd1.. (joint side) or qm1..
 * qdm1.. (motor side); tau1.., taum1.. (motor side) or i1.. (currents, times the joints' torque constants). In .mat and
 * HDF5 files a channel may be one matrix (q, qd, tau, ...) with a column or a row per joint. Motor sides are converted
 * by the robot's gears and transmission. A bag's rows are its messages of type sensor_msgs/msg/JointState: joints by
 * name, t from the message headers, counted from the first. Where two topics have all the joints, name one after the
 * file: "run.mcap:/joint_states". Arrays in memory are logs too: psdm_log_options.table.
 *
 * Nothing is repaired silently. Rows that are unreadable, short or contain something other than a number, and rows
 * whose time does not advance, are left out; where time jumps or runs backwards a new segment starts; a frozen or
 * saturated channel is marked in each of its rows. All are counted, the first of each kind with their line numbers.
 * Memory does not grow with the length of a CSV or HDF5 file: 8192 rows are held back (fewer for very many joints, 1024
 * at least); what becomes evident only later is counted, but not marked further back.
 *
 * Frozen: the same value to the last bit for at least 20 samples and 0.1 s, contradicted by another channel of the
 * joint (qd by q, q by qd or by a jump, tau by motion); counted once, at its start. Saturated: 5 samples or more at the
 * largest or smallest torque of the log, three times, or once for 0.1 s. Spike: up to three samples that differ from
 * the median of the seven around them by more than this channel ever changes (twenty times the 95th percentile of its
 * steps), and by over three times its usual size (positions: over 0.05). Wrapped: a revolute joint that continues a
 * full turn away. */
#ifndef PSDM_LOG_H
#define PSDM_LOG_H

#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* constant, name in counts and messages */
#define PSDM_FAULT_LIST(X)                                                    \
  X(PSDM_FAULT_GARBAGE, "row that cannot be read")                            \
  X(PSDM_FAULT_SHORT, "row with too few or too many fields")                  \
  X(PSDM_FAULT_NAN, "row with a value that is not a finite number")           \
  X(PSDM_FAULT_REPEATED, "row whose time stamp repeats the one before")       \
  X(PSDM_FAULT_BACK, "time that runs back: a new segment starts")             \
  X(PSDM_FAULT_JUMP, "gap in time: a new segment starts")                     \
  X(PSDM_FAULT_JITTER, "interval that is off the usual by more than a tenth") \
  X(PSDM_FAULT_FROZEN, "channel frozen while others move")                    \
  X(PSDM_FAULT_SATURATED, "channel that stays at its extreme")                \
  X(PSDM_FAULT_SPIKE, "value far off its neighbours: not fitted")             \
  X(PSDM_FAULT_WRAPPED, "position that jumps by a full turn: taken as one")   \
  X(PSDM_FAULT_COMMA, "log with decimal commas")

typedef enum psdm_fault { PSDM_FAULT_LIST(PSDM_LIST_CONSTANT) PSDM_FAULTS } psdm_fault;

PSDM_API const char *psdm_fault_text(psdm_fault fault); /* NULL when out of range */

/* A log in memory: columns named as channels, each of `rows` numbers stride[k] numbers apart. */
typedef struct psdm_log_table {
  const char *name; /* used as the file's name, and in messages */
  long rows;
  int columns;
  const char *const *names;    /* (columns) */
  const double *const *column; /* (columns) */
  const long *stride;          /* (columns) */
} psdm_log_table;

/* Zero-initialise for the defaults. Texts and arrays are copied. */
typedef struct psdm_log_options {
  const char *columns; /* "t=1,q=2:7,tau=8:13", counted from 1; NULL: by name */
  bool degrees;        /* positions and their rates are in degrees */
  /* (n) each 1 or -1: q = sign q_log + offset, tau = sign tau_log, on the joint side; NULL: 1 */
  const double *sign;
  const double *offset; /* (n) rad; NULL: 0 */
  double rate;          /* Hz, if the log has no t; 0: t is required */
  double jump;          /* intervals longer than this many usual ones start a segment; 0: 5 */
  bool ignore_extra;    /* ignore columns that are not channels */
  /* i1.. are returned as currents, A (times sign), not as torques: tau of the rows is then that of the drives. Needs no
   * torque constant */
  bool currents;
  /* (tables) logs in memory, read where a path is one of their names. Not copied: they must stay unchanged while they
   * are read */
  long tables;
  const psdm_log_table *table;
  unsigned long long reserved[6];
} psdm_log_options;

typedef struct psdm_log psdm_log;

/* Rows of one segment. Pointers are the log's own, valid until the next call. */
typedef struct psdm_log_rows {
  long count;             /* 0: the end */
  int segment;            /* counted from 0; the same for all rows of one call */
  const double *t;        /* (count) */
  const double *q, *tau;  /* (count x n) row-major, joint side */
  const double *qd, *qdd; /* the same, NULL where the log has none */
  /* (count x n) bit 0: q, qd or qdd of this joint frozen; bit 1: its torque saturated or frozen; bits 2 and 3: a spike
   * in the former, in the latter */
  const unsigned char *bad;
  const long *line; /* (count) line of the file, or row counted from 1 */
} psdm_log_rows;

/* Opens a log ("-" is standard input) and finds its channels. The robot must outlive it. Allocates; free with
 * psdm_log_close. options may be NULL. */
PSDM_API psdm_status psdm_log_open(const char *path, const psdm_robot *robot, const psdm_log_options *options,
                                   const psdm_allocator *allocator, psdm_log **log, psdm_error *error);
PSDM_API void psdm_log_close(psdm_log *log); /* accepts NULL */

/* Up to `most` more rows of the present segment, or the first of the next. */
PSDM_API psdm_status psdm_log_read(psdm_log *log, long most, psdm_log_rows *rows, psdm_error *error);
/* to the start; counts start again. Not on a pipe. */
PSDM_API psdm_status psdm_log_rewind(psdm_log *log, psdm_error *error);

PSDM_API const char *psdm_log_file(const psdm_log *log);
PSDM_API bool psdm_log_has_rates(const psdm_log *log);         /* qd is there */
PSDM_API bool psdm_log_has_accelerations(const psdm_log *log); /* qdd is there */
/* torques were measured at motors: taum or i, or q as qm */
PSDM_API bool psdm_log_motor_side(const psdm_log *log);
PSDM_API bool psdm_log_has_currents(const psdm_log *log); /* its torques come from i1.. */
PSDM_API double psdm_log_interval(const psdm_log *log);   /* median of the first thousand, s */
PSDM_API long long psdm_log_bytes(const psdm_log *log);   /* read so far, and */
PSDM_API long long psdm_log_size(const psdm_log *log);    /* in all, 0 when unknown: for progress */

/* Faults so far: how many of a kind, and for each of the first 20 a line and a sentence ("line 17: field 4 is
 * 'abc'"). */
PSDM_API long psdm_log_faults(const psdm_log *log, psdm_fault fault);
/* NULL past the end */
PSDM_API const char *psdm_log_fault(const psdm_log *log, psdm_fault fault, int index, long *line);
PSDM_API long psdm_log_good(const psdm_log *log); /* rows returned so far */

#ifdef __cplusplus
}
#endif
#endif
