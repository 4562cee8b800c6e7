/* cmd_payload.h: what the files of psdm payload share: settings, one run's belongings, its steps. */
#ifndef CMD_PAYLOAD_H
#define CMD_PAYLOAD_H

#include "tool.h"

#define PAYLOAD_SETTINGS(X)                                                                                            \
  X(list, log, "", "FILE ...", "logs of the robot with the load; may be given several times")                          \
  X(list, empty, "", "FILE ...",                                                                                       \
    "logs without it, best of the same motion: what the calibration has wrong, or what has drifted since, then falls " \
    "out")                                                                                                             \
  X(text, load, "", "MASS,X,Y,Z[,Ixx,Ixy,Ixz,Iyy,Iyz,Izz]",                                                            \
    "a known load, kg, m, kg m^2 about its centre, in place of --log: only --out is made")                             \
  X(text, link, "", "NAME", "link or joint that carries the load, in whose frame it is told (default: the last)")      \
  X(text, out, "", "LOADED.yaml", "parameter file of the loaded robot, for --params of every command")                 \
  X(text, predict, "", "FILE.csv",                                                                                     \
    "every row: t, segment, loaded, q*, qd*, qdd*, tau* (measured), raw*, empty*, with* (predicted)")                  \
  X(flag, plain, "", "",                                                                                               \
    "plain least squares: mass and inertia may be impossible, and nothing pulls what the motion does not show")        \
  X(flag, drift, "", "",                                                                                               \
    "fit offset, Coulomb and viscous friction of each drive beside the load (always with --empty)")                    \
  X(text, cutoff, "", "HZ|none", "of the zero-phase filter (default: the calibration's)")                              \
  X(text, accept, "usable", SETTING_WORDS(PSDM_VERDICT_LIST),                                                          \
    "the worst verdict on the torques with the load that still ends with exit code 0")                                 \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(text, columns, "", "t=1,q=2:7,tau=8:13", "where channels stand in logs without a header, counted from 1")          \
  X(flag, degrees, "", "", "positions of the logs, and their rates, are in degrees")                                   \
  X(text, offset, "", "RAD,...", "added to the logs' positions, one number per joint")                                 \
  X(text, sign, "", "1,-1,...", "the logs' direction of each joint, positions and torques, before --offset")           \
  X(number, rate, "0", "HZ", "of logs without t")                                                                      \
  X(flag, ignore_extra, "", "", "pass over columns of logs that are no channel")                                       \
  ROBOT_SETTINGS(X)

typedef struct payload_settings {
  PAYLOAD_SETTINGS(SETTINGS_FIELD)
} payload_settings;

/* Everything one run holds; payload_free releases it. */
typedef struct payload_job {
  payload_settings set;
  const char *path;
  psdm_robot *robot;
  int n, joint;                  /* joint: whose link carries the load */
  double *sign, *offset;         /* (n), NULL where not given */
  psdm_parameters *empty, *with; /* calibrated, and with the load */
  psdm_payload_options options;
  psdm_payload_answer *answer; /* NULL: the load was given */
  psdm_load load;
  double pi[10];
  psdm_model *model;            /* base parameters, */
  double *L;                    /* (base x 10) and what a load adds to them */
  psdm_verdict verdict, accept; /* how well torques are met with the load, and must be */
  psdm_finding finding;         /* why it is not good */
} payload_job;

bool payload_words_wanted(const payload_job *j); /* standard output is free for a report */

/* ---- the steps: -1 to go on, else an exit code ---- */

int payload_words(payload_job *j);   /* cmd_payload_words.c: options that need no robot */
int payload_numbers(payload_job *j); /* those that do */
int payload_files(payload_job *j);   /* cmd_payload_files.c: --out, --predict */

/* ---- reports: cmd_payload_print.c, cmd_payload_json.c ---- */

void payload_print(const payload_job *j);
int payload_json(payload_job *j); /* exit code */

#endif
