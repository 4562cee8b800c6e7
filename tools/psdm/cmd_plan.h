/* cmd_plan.h: what the files of psdm plan share. */
#ifndef CMD_PLAN_H
#define CMD_PLAN_H

#include "tool.h"

#define PLAN_SETTINGS(X)                                                                                              \
  X(text, trajectory, "", "FILE.csv", "time, scale: the path, with t, q1.., optionally qd1.., qdd1..")                \
  X(text, from, "", "Q,...", "time, energy: where it begins, at rest (one number or n; default: 0)")                  \
  X(text, to, "", "Q,...", "time, energy: where it ends, at rest")                                                    \
  X(text, out, "", "FILE.csv",                                                                                        \
    "the motion: t, q1.., qd1.., qdd1.., tau1.., whole or not at all; - is standard output")                          \
  X(number, output, "0.01", "SECONDS", "between rows")                                                                \
  X(flag, json, "", "", "write one JSON object")                                                                      \
  X(number, factor, "0", "K", "scale: take K times as long; 0 is the smallest K that meets all limits")               \
  X(number, duration, "0", "SECONDS",                                                                                 \
    "energy: how long the motion takes; 0 is 1.2 times the least time. time: at most")                                \
  X(number, blend, "-1", "SHARE",                                                                                     \
    "weight of energy beside time: 0 is time alone, 1 energy alone (default: 0 for time, 1 for energy)")              \
  X(text, lower, "", "RAD,...", "lowest positions: one number or n, in place of the robot's")                         \
  X(text, upper, "", "RAD,...", "highest positions")                                                                  \
  X(text, velocity, "", "RAD/S,...", "largest velocities")                                                            \
  X(text, acceleration, "", "RAD/S^2,...", "largest accelerations")                                                   \
  X(text, effort, "", "NM,...", "largest torques")                                                                    \
  X(text, friction, "none", "none|viscous|coulomb|stribeck|power", "friction of the joints")                          \
  X(flag, elastic, "", "", "time, energy: joints with a stiffness are springs between motor and link")                \
  X(number, nodes, "0", "COUNT", "time, energy: intervals of the motion; 0 is 20")                                    \
  X(number, points, "0", "COUNT", "along a path: of the grid; 0 is 1000. scale: rows that are looked at; 0 is 10001") \
  X(number, tolerance, "0", "RELATIVE", "time, energy: of the solver; 0 is 1e-8")                                     \
  X(number, wall, "0", "SECONDS", "time, energy: end after this much time with what there is; 0 is 300")              \
  X(flag, ignore_extra, "", "", "let --trajectory have columns that are not needed")                                  \
  ROBOT_SETTINGS(X)

typedef struct plan_settings {
  PLAN_SETTINGS(SETTINGS_FIELD)
} plan_settings;

enum { LIMIT_LOWER, LIMIT_UPPER, LIMIT_VELOCITY, LIMIT_ACCELERATION, LIMIT_EFFORT, LIMITS };

/* Everything one run holds. */
typedef struct plan_job {
  plan_settings set;
  const char *words[2]; /* ROBOT, what */
  enum { PLAN_TIME, PLAN_ENERGY, PLAN_SCALE } what;
  psdm_robot *robot;
  psdm_work *work;
  int n;
  psdm_friction_kind friction;
  double *memory, *limit[LIMITS], *from, *to; /* (n) each */
  psdm_motion *path;
  psdm_path_plan *plan;
  psdm_optimal *optimal;
  double k;
  psdm_scale_info by;
  double recomputed; /* scale: largest difference of scaled and recomputed torques, relative */
  /* the answer as a function of time, and what it uses */
  double seconds;
  double *state, *tau; /* (3n) q, qd, qdd; (n) */
  double *peak[3];     /* (n) largest |qd|, |qdd|, |tau| over the rows */
  double energy;       /* integral of sum tau^2 dt */
  double used;         /* largest share of a limit */
  long rows;
} plan_job;

const psdm_joint *plan_joint(const plan_job *j, int q); /* that moves coordinate q */
void plan_add_friction(const plan_job *j);              /* to j->tau, at the speeds of j->state */
int plan_scale(plan_job *j);                            /* -1 to go on, else an exit code */
int plan_path(plan_job *j);
int plan_optimal(plan_job *j);
int plan_rows(plan_job *j); /* measures all rows, and writes --out */
void plan_print(const plan_job *j);
int plan_json(const plan_job *j);

#endif
