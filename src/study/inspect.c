/* inspect.c: a robot as read from its file. */
#include "study/study.h"
#include "psdm/results.h"

#define INSPECT_SETTINGS(X)                                                                                            \
  X(flag, parameters, "", "", "list the standard parameters with their values")                                        \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(text, at, "", "Q1,Q2,...",                                                                                         \
    "JSON: positions and axes of the joints at this position; one number for all (rad, m); default: 0, or the middle " \
    "of limits that exclude 0")                                                                                        \
  PSDM_ROBOT_SETTINGS(X)

PSDM_SETTINGS_STRUCT(inspect_settings, INSPECT_SETTINGS);

typedef struct inspect {
  psdm_job job;
  inspect_settings set;
} inspect;

#define SETTINGS_STRUCT inspect_settings
static const psdm_setting settings[] = {INSPECT_SETTINGS(PSDM_SETTINGS_ROW){0}};

static psdm_status run(psdm_job *job) {
  const inspect_settings *set = &((inspect *)job)->set;
  double q[PSDM_MAX_JOINTS];
  psdm_inspect_result *made;
  psdm_error error;
  psdm_status status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(set), &job->robot);
  if (!status && set->at) status = psdmp_job_numbers(job, "at", set->at, psdm_robot_n(job->robot), q);
  if (status) return status;
  if (psdm_inspect_result_new(job->robot, set->at ? q : NULL, NULL, &made, &error)) return psdmp_job_fail(job, &error);
  job->answer = &made->head;
  if (set->at && made->joints.rows && !made->joints.item[0].at)
    psdmp_job_warn(job, "a closed loop cannot be closed at this position");
  return PSDM_OK;
}

PSDMP_JOB_KIND(study, inspect, inspect, .free = NULL);
