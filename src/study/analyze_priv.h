/* analyze_priv.h: what the files of the job analyze share. */
#ifndef PSDMP_STUDY_ANALYZE_PRIV_H
#define PSDMP_STUDY_ANALYZE_PRIV_H

#include "study/study.h"
#include "psdm/analyze.h"
#include "psdm/results.h"

#define ANALYZE_SETTINGS(X)                                                                                           \
  X(flag, any, "", "", "structure for any masses, not for this robot's (bounds need its masses)")                     \
  X(flag, no_bounds, "", "", "structure only")                                                                        \
  X(number, points, "2000000", "N", "positions that the search for bounds may visit: more give tighter bounds")       \
  X(number, samples, "0", "N",                                                                                        \
    "also draw N random positions within the limits: distribution of the values, and a test of the bounds")           \
  X(text, device, "cpu", "cpu|cuda", "where these samples are evaluated: CPU, or GPU (needs nvcc; for 10^8 samples)") \
  X(number, seed, "1", "S",                                                                                           \
    "random seed of the search for largest values and of the samples; the bounds hold for any")                       \
  X(text, limits, "", "2=-1:1,...", "joint ranges by number or name (rad, m), in place of the file's")                \
  X(text, path, "", "FILE.csv",                                                                                       \
    "CSV of positions q1.. (optionally t): manipulability and ellipsoids of velocity, acceleration, apparent mass")   \
  X(text, link, "", "NAME", "link of these ellipsoids (default: the tip of the longest moving chain)")                \
  X(text, out, "", "FILE.csv", "CSV for the ellipsoids; - is standard output")                                        \
  X(text, plots, "", "DIR", "plot M and g as each joint moves alone, and the path, with gnuplot")                     \
  X(flag, ignore_extra, "", "", "ignore unknown columns of the CSV")                                                  \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_study_analyze_settings, ANALYZE_SETTINGS);

enum { ELLIPSOIDS = 3, PATH_NUMBERS = 3 + ELLIPSOIDS * 12 };

/* A path: positions, and for each w1 w2 w3, then three ellipsoids, each of three axes and nine direction cosines. */
typedef struct psdmp_study_path {
  long count, room;
  bool timed;
  double *t, *q;    /* (count), (count x n) */
  double *row;      /* (count x PATH_NUMBERS) */
  int dimensions;   /* rank that the link's velocity reaches somewhere on the path */
  long least, most; /* rows of the smallest and largest manipulability */
} psdmp_study_path;

typedef struct psdmp_study_analyze {
  psdm_job job;
  psdmp_study_analyze_settings set;
  psdm_model *model;
  psdm_structure *structure;
  psdm_bounds *bounds;
  psdm_work *work;
  int n, link;
  bool numeric;          /* the robot's masses are known */
  double *lower, *upper; /* (n) ranges */
  psdmp_study_path path;
  psdm_analysis answer;
} psdmp_study_analyze;

psdm_status psdmp_study_analyze_path(psdmp_study_analyze *j); /* analyze_path.c: reads the positions */
psdm_status psdmp_study_analyze_rows(const psdmp_study_analyze *j);
double psdmp_study_analyze_measure(const psdmp_study_analyze *j,
                                   long row); /* manipulability in the path's dimensions */

psdm_status psdmp_study_analyze_plot(psdmp_study_analyze *j);   /* analyze_plot.c */
psdm_status psdmp_study_analyze_answer(psdmp_study_analyze *j); /* analyze_answer.c */
long psdmp_study_analyze_beyond(const psdm_bounds *b);          /* samples beyond a proved bound: should be 0 */

#endif
