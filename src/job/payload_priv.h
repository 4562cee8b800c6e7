/* payload_priv.h: what the files of the job payload share: settings, the data of one run, its stages. */
#ifndef PSDMP_JOB_PAYLOAD_PRIV_H
#define PSDMP_JOB_PAYLOAD_PRIV_H

#include "job/job.h"
#include "psdm/psdm.h"

#define PAYLOAD_SETTINGS(X)                                                                                          \
  X(list, log, "", "FILE ...", "logs of the robot with the load; may be given several times")                        \
  X(list, empty, "", "FILE ...",                                                                                     \
    "logs without it, preferably of the same motion: errors of the calibration and drift since then cancel")         \
  X(text, load, "", "MASS,X,Y,Z[,Ixx,Ixy,Ixz,Iyy,Iyz,Izz]",                                                          \
    "a known load (kg, m, kg m^2 about its centre) instead of `log`: only writes `out`")                             \
  X(text, link, "", "NAME", "link or joint that carries the load, and whose frame describes it (default: the last)") \
  X(text, out, "", "LOADED.yaml", "parameter file of the loaded robot, for `params` of every command")               \
  X(text, predict, "", "FILE.csv",                                                                                   \
    "CSV of every row: t, segment, loaded, q*, qd*, qdd*, tau* (measured), raw*, empty*, with* (predicted)")         \
  X(flag, plain, "", "",                                                                                             \
    "plain least squares: mass and inertia may be physically impossible, and parameters without excitation are not " \
    "regularised")                                                                                                   \
  X(flag, drift, "", "",                                                                                             \
    "fit offset, Coulomb and viscous friction of each drive along with the load (always with `empty`)")              \
  X(text, cutoff, "", "HZ|none", "cutoff of the zero-phase filter (default: the calibration's)")                     \
  X(text, accept, "usable", PSDM_SETTING_WORDS(PSDM_VERDICT_LIST),                                                   \
    "worst verdict on the torques with the load that still exits with 0")                                            \
  X(flag, json, "", "", "write one JSON object")                                                                     \
  X(text, columns, "", "t=1,q=2:7,tau=8:13", "columns of the channels in logs without a header, counted from 1")     \
  X(flag, degrees, "", "", "positions and their derivatives in the logs are in degrees")                             \
  X(text, offset, "", "RAD,...", "added to the logs' positions, one number per joint")                               \
  X(text, sign, "", "1,-1,...", "sign of each joint's positions and torques in the logs, applied before `offset`")   \
  X(number, rate, "0", "HZ", "sample rate of logs without t")                                                        \
  X(flag, ignore_extra, "", "", "ignore unknown columns of logs")                                                    \
  PSDM_ROBOT_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_job_payload_settings, PAYLOAD_SETTINGS);

/* All data of one run. */
typedef struct psdmp_job_payload {
  psdm_job job;
  psdmp_job_payload_settings set;
  int n, joint;                  /* joint: whose link carries the load */
  double *sign, *offset;         /* (n), NULL where not given */
  psdm_parameters *empty, *with; /* calibrated, and with the load */
  psdm_payload_options options;
  psdm_payload_answer *answer; /* NULL: the load was given */
  psdm_load load;
  double pi[10];
  psdm_model *model;            /* base parameters, */
  double *L;                    /* (base x 10) and what a load adds to them */
  psdm_verdict verdict, accept; /* verdict on the torques with the load, and the worst accepted one */
  psdm_finding finding;         /* reason when it is not good */
} psdmp_job_payload;

/* ---- payload_check.c ---- */

psdm_status psdmp_job_payload_words(psdmp_job_payload *j);   /* settings that need no robot */
psdm_status psdmp_job_payload_numbers(psdmp_job_payload *j); /* those that do */

void psdmp_job_payload_fill(psdm_job *job, psdm_result *head); /* payload_answer.c: a psdm_payload_result */

#endif
