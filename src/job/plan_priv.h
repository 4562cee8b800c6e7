/* plan_priv.h: what the files of the job plan share: settings, the data of one run, its stages. */
#ifndef PSDMP_JOB_PLAN_PRIV_H
#define PSDMP_JOB_PLAN_PRIV_H

#include "job/job.h"
#include "psdm/psdm.h"

#define PLAN_ARGUMENTS(X) X(text, what, "time", "time|energy|scale", "what is planned")

#define PLAN_SETTINGS(X)                                                                                    \
  X(text, trajectory, "", "FILE.csv", "time, scale: the path, with t, q1.., optionally qd1.., qdd1..")      \
  X(text, from, "", "Q,...", "time, energy: start position, at rest (one number or n; default: 0)")         \
  X(text, to, "", "Q,...", "time, energy: end position, at rest")                                           \
  X(text, out, "", "FILE.csv",                                                                              \
    "the motion: t, q1.., qd1.., qdd1.., tau1.., replaced only when complete; - is standard output")        \
  X(number, output, "0.01", "SECONDS", "interval of its rows")                                              \
  X(flag, json, "", "", "write one JSON object")                                                            \
  X(number, factor, "0", "K", "scale: stretch time by K; 0: the smallest K that respects all limits")       \
  X(number, duration, "0", "SECONDS",                                                                       \
    "energy: duration of the motion; 0: 1.2 times the least time. time: longest duration")                  \
  X(number, blend, "-1", "SHARE",                                                                           \
    "weight of energy against time: 0 is time alone, 1 energy alone (default: 0 for time, 1 for energy)")   \
  X(text, lower, "", "RAD,...", "lowest positions: one number or n, in place of the robot's")               \
  X(text, upper, "", "RAD,...", "highest positions")                                                        \
  X(text, velocity, "", "RAD/S,...", "largest velocities")                                                  \
  X(text, acceleration, "", "RAD/S^2,...", "largest accelerations")                                         \
  X(text, effort, "", "NM,...", "largest torques")                                                          \
  X(text, friction, "none", "none|viscous|coulomb|stribeck|power", "friction of the joints")                \
  X(flag, elastic, "", "", "time, energy: model joints with a stiffness as springs between motor and link") \
  X(number, nodes, "0", "COUNT", "time, energy: intervals of the motion; 0: 20")                            \
  X(number, points, "0", "COUNT", "path: points of the grid; 0: 1000. scale: rows examined; 0: 10001")      \
  X(number, tolerance, "0", "RELATIVE", "time, energy: tolerance of the solver; 0: 1e-8")                   \
  X(number, wall, "0", "SECONDS", "time, energy: stop after this time with the best so far; 0: 300")        \
  X(flag, ignore_extra, "", "", "ignore unknown columns of `trajectory`")                                   \
  PSDM_ROBOT_SETTINGS(X)

typedef struct psdmp_job_plan_settings {
  PLAN_ARGUMENTS(PSDM_SETTINGS_FIELD)
  PLAN_SETTINGS(PSDM_SETTINGS_FIELD)
} psdmp_job_plan_settings;

/* All data of one run. */
typedef struct psdmp_job_plan {
  psdm_job job;
  psdmp_job_plan_settings set;
  enum { PLAN_TIME, PLAN_ENERGY, PLAN_SCALE } what;
  psdm_work *work;
  int n;
  psdm_friction_kind friction;
  double *limit[LIMITS], *from, *to; /* (n) each */
  psdm_motion *path;
  psdm_path_plan *plan;
  psdm_optimal *optimal;
  double k;
  psdm_scale_info by;
  double recomputed; /* scale: largest difference of scaled and recomputed torques, relative */
  /* the result as a function of time, and its figures */
  double seconds;
  double *state, *tau; /* (3n) q, qd, qdd; (n) */
  double *peak[3];     /* (n) largest |qd|, |qdd|, |tau| over the rows */
  double energy;       /* integral of sum tau^2 dt */
  double used;         /* largest share of a limit */
  long rows;
} psdmp_job_plan;

/* ---- plan_check.c ---- */

psdm_status psdmp_job_plan_words(psdmp_job_plan *j);   /* settings that need no robot */
psdm_status psdmp_job_plan_prepare(psdmp_job_plan *j); /* memory, limits, positions, the trajectory */

/* ---- plan_ways.c ---- */

psdm_status psdmp_job_plan_scale(psdmp_job_plan *j);
psdm_status psdmp_job_plan_path(psdmp_job_plan *j);
psdm_status psdmp_job_plan_optimal(psdmp_job_plan *j);

/* ---- plan_rows.c ---- */

/* tells how far the work along a path is; a stop ends it without a result */
psdm_status psdmp_job_plan_go_on(const psdmp_job_plan *j, const char *doing, long done, long total);
void psdmp_job_plan_add_friction(const psdmp_job_plan *j); /* to j->tau, at the speeds of j->state */
psdm_status psdmp_job_plan_rows(psdmp_job_plan *j);        /* measures all rows, and writes out */

void psdmp_job_plan_fill(psdm_job *job, psdm_result *head); /* plan_answer.c: a psdm_plan_result */

#endif
