/* cmd_excite.h: what the files of psdm excite share: settings, one run's belongings, its steps. */
#ifndef CMD_EXCITE_H
#define CMD_EXCITE_H

#include "tool.h"

/* --for stands beside them: the word is C's own */
#define EXCITE_SETTINGS(X)                                                                                            \
  X(number, seconds, "0", "SECONDS", "of a period (inertia; 0 is 10), of the whole experiment (0 is what it needs)")  \
  X(text, out, "", "FILE.csv",                                                                                        \
    "the motion: t, q1.., qd1.., qdd1.., and tau1.. where inertias are known; the best so far is there at all times") \
  X(flag, json, "", "", "write one JSON object")                                                                      \
  X(number, rate, "100", "HZ", "rows per second of --out")                                                            \
  X(number, periods, "1", "COUNT", "inertia: periods in --out, one after the other")                                  \
  X(text, shape, "fourier", "fourier|sines",                                                                          \
    "inertia: all harmonics of a period, or a few sines per joint at chosen harmonics")                               \
  X(text, goal, "condition", "condition|logdet",                                                                      \
    "inertia: the worst told combination of parameters as well as can be, or all of them together")                   \
  X(number, harmonics, "0", "COUNT", "inertia: of the series (0 is 5), or sines per joint (0 is 3)")                  \
  X(number, band, "0", "HZ", "inertia: highest frequency; 0 is harmonics / seconds, or 1 Hz for sines")               \
  X(flag, no_friction, "", "", "inertia: friction need not be told apart from inertias")                              \
  X(number, starts, "0", "COUNT", "inertia: searches from different places; 0 is 8")                                  \
  X(number, evaluations, "0", "COUNT", "inertia: of the objective in each start; 0 is 1500 globally and 600 locally") \
  X(number, threads, "0", "COUNT",                                                                                    \
    "inertia: searches at a time; 0 is one per processor. The answer does not depend on it")                          \
  X(number, wall, "0", "SECONDS", "inertia: end after this much time with the best so far; 0 is 100")                 \
  X(number, seed, "1", "INTEGER", "of everything random")                                                             \
  X(number, margin, "0.02", "SHARE", "of every limit that is left free")                                              \
  X(number, clearance, "0.01", "METRES", "that capsules and floor of the robot file keep")                            \
  X(text, lower, "", "RAD,...", "lowest positions: one number or n, in place of the robot's")                         \
  X(text, upper, "", "RAD,...", "highest positions")                                                                  \
  X(text, velocity, "", "RAD/S,...", "largest velocities")                                                            \
  X(text, acceleration, "", "RAD/S^2,...", "largest accelerations")                                                   \
  X(text, effort, "", "NM,...", "largest torques, watched where inertias are known")                                  \
  X(number, mass, "3", "KG", "motor: the heaviest known mass")                                                        \
  X(vector, com, "", "X,Y,Z", "motor: its centre in the frame of the link at the tip of the longest moving chain, m") \
  X(number, speed, "0", "SHARE",                                                                                      \
    "motor, gravity, friction: of the velocity limit; 0 is 0.1, 0.1, and 0.9 at the largest sine")                    \
  X(number, levels, "0", "COUNT", "friction: sizes of sines; 0 is 10")                                                \
  ROBOT_SETTINGS(X)

typedef struct excite_settings {
  setting_text experiment; /* --for */
  EXCITE_SETTINGS(SETTINGS_FIELD)
} excite_settings;

/* How close a motion comes to its limits; (n) each, in the job's memory. */
typedef struct excite_measure {
  double *lower, *upper, *velocity, *acceleration, *effort;
  double gap, worst;
  long points;
} excite_measure;

/* The motion in rows, as a file has them. */
typedef struct excite_rows {
  long rows, room;                /* room: rows that memory is there for */
  double *t, *q, *qd, *qdd, *tau; /* (rows), (rows x n) */
} excite_rows;

/* Everything one run holds; excite_free releases it. */
typedef struct excite_job {
  excite_settings set;
  const char *path;
  psdm_robot *robot;
  psdm_work *work;
  int n;
  bool torques, friction; /* inertias are known; the file has friction */
  psdm_error unknown;     /* why torques are not */
  psdm_excite_options options;
  double *memory;                                           /* what follows */
  double *lower, *upper, *velocity, *acceleration, *effort; /* (n) limits */
  unsigned char *source;                                    /* (5 n) where each limit comes from: LIMIT_... */
  psdm_excitation *result;
  excite_rows rows;
  /* the motion itself; its rows as a robot would interpolate them; the file, read back */
  excite_measure planned, between, read;
  bool read_back, interrupted;
  long saves;
  /* the best so far */
  progress bar;
  double saved, next_save; /* condition number that is in the file; s */
} excite_job;

enum { LIMIT_LOWER, LIMIT_UPPER, LIMIT_VELOCITY, LIMIT_ACCELERATION, LIMIT_EFFORT, LIMITS };
enum { LIMIT_OPTION, LIMIT_FILE, LIMIT_DEFAULT, LIMIT_NONE };

const psdm_joint *excite_joint(const excite_job *j, int q);
bool excite_words_wanted(const excite_job *j); /* standard output is free for a report */

/* ---- the steps: -1 to go on, else an exit code ---- */

int excite_words(excite_job *j);  /* cmd_excite_words.c: options that need no robot */
int excite_limits(excite_job *j); /* those that do */

/* ---- cmd_excite_rows.c ---- */

/* The motion as rows; then both are measured on a fine grid. */
psdm_status excite_measure_motion(excite_job *j, const psdm_motion *motion, psdm_error *error);
bool excite_keeps(const excite_job *j); /* both keep every limit */
/* the rows to --out, whole or not at all: exit code; not asked for: an interrupt ends it */
int excite_write(excite_job *j, bool asked);
/* whether so long a motion may be kept in memory */
psdm_status excite_fits(const excite_job *j, double seconds, psdm_error *error);
/* measures what the file has, where it can be read again */
psdm_status excite_read_back(excite_job *j, psdm_error *error);

/* ---- reports ---- */

void excite_print(const excite_job *j); /* cmd_excite_print.c */
int excite_json(excite_job *j);         /* cmd_excite_json.c: exit code */

#endif
