/* excite_priv.h: what the files of the job excite share: settings, the data of one run, its stages. */
#ifndef PSDMP_JOB_EXCITE_PRIV_H
#define PSDMP_JOB_EXCITE_PRIV_H

#include "job/job.h"
#include "psdm/psdm.h"

/* for is declared separately: it is a keyword of C */
#define EXCITE_SETTINGS(X)                                                                                            \
  X(number, seconds, "0", "SECONDS",                                                                                  \
    "length of a period (inertia; 0: 10), of the whole experiment (0: as long as needed)")                            \
  X(text, out, "", "FILE.csv",                                                                                        \
    "the motion: t, q1.., qd1.., qdd1.., and tau1.. if inertias are known; always holds the best so far")             \
  X(flag, json, "", "", "write one JSON object")                                                                      \
  X(number, rate, "100", "HZ", "rows per second of `out`")                                                            \
  X(number, periods, "1", "COUNT", "inertia: consecutive periods in `out`")                                           \
  X(text, shape, "fourier", "fourier|sines",                                                                          \
    "inertia: all harmonics of a period, or a few sines per joint at chosen harmonics")                               \
  X(text, goal, "condition", "condition|logdet",                                                                      \
    "inertia: optimise the worst-identified combination of parameters, or all of them together")                      \
  X(number, harmonics, "0", "COUNT", "inertia: harmonics of the series (0: 5), or sines per joint (0: 3)")            \
  X(number, band, "0", "HZ", "inertia: highest frequency; 0: harmonics / seconds, or 1 Hz for sines")                 \
  X(flag, no_friction, "", "", "inertia: do not separate friction from inertias")                                     \
  X(text, assume, "", "A = 0,B = 2*C,...",                                                                            \
    "inertia: relations of body parameters that are known, in addition to the file's; without it none")               \
  X(number, starts, "0", "COUNT", "inertia: searches from different starting points; 0: 8")                           \
  X(number, evaluations, "0", "COUNT",                                                                                \
    "inertia: evaluations of the objective per start; 0: 1500 globally and 600 locally")                              \
  X(number, threads, "0", "COUNT",                                                                                    \
    "inertia: parallel searches; 0: one per processor. The result does not depend on it")                             \
  X(number, wall, "0", "SECONDS", "inertia: stop after this time with the best so far; 0: 100")                       \
  X(number, seed, "1", "INTEGER", "random seed")                                                                      \
  X(number, margin, "0.02", "SHARE", "share of every limit that is left unused")                                      \
  X(number, clearance, "0.01", "METRES", "smallest distance between the capsules and floor of the robot file")        \
  X(text, lower, "", "RAD,...", "lowest positions: one number or n, in place of the robot's")                         \
  X(text, upper, "", "RAD,...", "highest positions")                                                                  \
  X(text, velocity, "", "RAD/S,...", "largest velocities")                                                            \
  X(text, acceleration, "", "RAD/S^2,...", "largest accelerations")                                                   \
  X(text, effort, "", "NM,...", "largest torques, checked if inertias are known")                                     \
  X(number, mass, "3", "KG", "motor: the heaviest known mass")                                                        \
  X(vector, com, "", "X,Y,Z", "motor: its centre in the frame of the link at the tip of the longest moving chain, m") \
  X(number, speed, "0", "SHARE",                                                                                      \
    "motor, gravity, friction: share of the velocity limit; 0: 0.1, 0.1, and 0.9 at the largest sine")                \
  X(number, levels, "0", "COUNT", "friction: number of sine amplitudes; 0: 10")                                       \
  PSDM_ROBOT_SETTINGS(X)

typedef struct psdmp_job_excite_settings {
  psdm_setting_text experiment; /* for */
  EXCITE_SETTINGS(PSDM_SETTINGS_FIELD)
} psdmp_job_excite_settings;

/* How close a motion comes to its limits; (n) each, in the job's memory. */
typedef struct psdmp_job_excite_measure {
  double *lower, *upper, *velocity, *acceleration, *effort;
  double gap, worst;
  long points;
} psdmp_job_excite_measure;

/* The motion in rows, as in a file. */
typedef struct psdmp_job_excite_rows {
  long rows, room;                /* room: rows that memory is allocated for */
  double *t, *q, *qd, *qdd, *tau; /* (rows), (rows x n) */
} psdmp_job_excite_rows;

/* All data of one run. */
typedef struct psdmp_job_excite {
  psdm_job job;
  psdmp_job_excite_settings set;
  psdm_work *work;
  int n;
  bool torques, friction; /* inertias are known; the file has friction */
  psdm_excite_options options;
  double *lower, *upper, *velocity, *acceleration, *effort; /* (n) limits */
  double *row;                                              /* (4 n) scratch */
  unsigned char *source;                                    /* (5 n) the source of each limit: LIMIT_... */
  psdm_excitation *result;
  psdmp_job_excite_rows rows;
  /* the motion itself; its rows as a robot would interpolate them; the file, read back */
  psdmp_job_excite_measure planned, between, read;
  bool read_back, interrupted;
  long saves;
  double saved, next_save; /* the best so far: condition number of the written motion; s */
} psdmp_job_excite;

enum { LIMIT_OPTION, LIMIT_FILE, LIMIT_DEFAULT, LIMIT_NONE };

/* ---- excite_check.c ---- */

psdm_status psdmp_job_excite_words(psdmp_job_excite *j);  /* settings that need no robot */
psdm_status psdmp_job_excite_limits(psdmp_job_excite *j); /* those that do */

/* ---- excite_rows.c ---- */

/* The motion as rows; both are then measured on a fine grid. */
psdm_status psdmp_job_excite_measure_motion(psdmp_job_excite *j, const psdm_motion *motion, psdm_error *error);
bool psdmp_job_excite_keeps(const psdmp_job_excite *j); /* both respect every limit */
/* the rows to out, its file replaced only when complete; without asked an interrupt ends it */
psdm_status psdmp_job_excite_write(psdmp_job_excite *j, bool asked);
/* whether such a long motion fits in memory */
psdm_status psdmp_job_excite_fits(const psdmp_job_excite *j, double seconds, psdm_error *error);
/* measures the file's rows, if it can be read back */
psdm_status psdmp_job_excite_read_back(psdmp_job_excite *j);

void psdmp_job_excite_fill(psdm_job *job, psdm_result *head); /* excite_answer.c: a psdm_excite_result */

#endif
