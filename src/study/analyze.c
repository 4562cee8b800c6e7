/* analyze.c: structure, bounds and samples of a robot's dynamics for all positions at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/analyze_priv.h"
#include "psdm/text.h"

#define SETTINGS_STRUCT psdmp_study_analyze_settings
static const psdm_setting settings[] = {ANALYZE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static bool whole(double x, double least, double most) { return x >= least && x <= most && x == floor(x); }

static psdm_status check(const psdmp_study_analyze *a) {
  const psdmp_study_analyze_settings *s = &a->set;
  const psdm_job *job = &a->job;
  if (!whole(s->points, 1, 1e12)) return psdmp_job_wrong(job, "`points` must be a whole number");
  if (!whole(s->samples, 0, 4e9)) return psdmp_job_wrong(job, "`samples` must be a whole number from 0 to 4e9");
  if (s->samples == 0 && strcmp(s->device, "cuda") == 0) return psdmp_job_wrong(job, "`device` needs `samples = N`");
  if (s->samples > 0 && s->no_bounds)
    return psdmp_job_wrong(job, "`samples` needs bounds and cannot be used with `no_bounds`");
  if (!whole(s->seed, 0, 9e15)) return psdmp_job_wrong(job, "`seed` must be a whole number");
  bool rows = s->out || psdmp_job_kept_wanted(job, "out");
  if ((rows || s->link) && !s->path) return psdmp_job_wrong(job, "`%s` needs `path`", rows ? "out" : "link");
  if (s->out && strcmp(s->out, "-") == 0 && s->json)
    return psdmp_job_wrong(job, "`json` and `out = -` cannot both use standard output");
  return PSDM_OK;
}

/* ---- ranges ---- */

static int joint_named(const psdmp_study_analyze *a, const char *name) {
  double number;
  if (psdm_parse_number(name, &number))
    return number == floor(number) && number >= 1 && number <= a->n ? (int)number - 1 : -1;
  for (int k = 0; k < psdm_robot_joints(a->job.robot); k++)
    if (strcmp(psdm_robot_joint(a->job.robot, k)->name, name) == 0) return psdm_robot_joint(a->job.robot, k)->q;
  return -1;
}

/* "2=-1:1", modified here */
static psdm_status take_limit(psdmp_study_analyze *a, char *text) {
  char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  double lower, upper;
  int joint = -1;
  if (colon) {
    *equals = *colon = '\0';
    joint = joint_named(a, text);
    if (joint < 0)
      return psdmp_job_wrong(&a->job, "`limits`: '%s' is not an independent joint", psdmp_job_safe(&a->job, text));
  }
  if (joint < 0 || !psdm_parse_number(equals + 1, &lower) || !psdm_parse_number(colon + 1, &upper) || lower > upper)
    return psdmp_job_wrong(&a->job, "`limits` '%s': JOINT=LOWER:UPPER,... was expected",
                           psdmp_job_safe(&a->job, a->set.limits));
  a->lower[joint] = lower;
  a->upper[joint] = upper;
  return PSDM_OK;
}

static psdm_status set_limits(psdmp_study_analyze *a) {
  psdm_status status = PSDM_OK;
  char *at = NULL;
  a->lower = psdmp_job_array(&a->job, 2 * (size_t)a->n, sizeof *a->lower);
  if (a->set.limits) at = psdmp_job_array(&a->job, strlen(a->set.limits) + 1, 1);
  if (!a->lower || (a->set.limits && !at)) return psdmp_job_memory(&a->job);
  if (at) memcpy(at, a->set.limits, strlen(a->set.limits) + 1);
  a->upper = a->lower + a->n;
  for (int q = 0; q < a->n; q++) {
    const psdm_limits *limits = &psdmp_job_joint(a->job.robot, q)->limits;
    a->lower[q] = limits->lower, a->upper[q] = limits->upper;
  }
  for (char *next; at && !status; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    if (*at) status = take_limit(a, at);
  }
  return status;
}

/* ---- work ---- */

static psdm_status find_link(psdmp_study_analyze *a) {
  const psdm_robot *robot = a->job.robot;
  if (!a->set.link) return a->link = psdmp_job_default_link(&a->job, robot, "`link` selects another"), PSDM_OK;
  psdm_status status = psdmp_job_find_link(&a->job, "link", robot, a->set.link, &a->link);
  return status ? status : psdmp_job_must_move(&a->job, "link", robot, a->link);
}

static psdm_status find_structure(psdmp_study_analyze *a) {
  const psdm_robot *robot = a->job.robot;
  psdm_error error;
  if (psdm_robot_loops(robot))
    return psdmp_job_fail(&a->job, &(psdm_error){.status = PSDM_E_ROBOT,
                                                 .text = "structure and bounds are proved from the closed form, which "
                                                         "closed loops do not have; psdm eval and psdm linearize "
                                                         "have their matrices at any position"});
  a->numeric = psdm_robot_ready(robot, &error) == PSDM_OK;
  if (!a->numeric && !a->set.any) psdmp_job_warn(&a->job, "%s: structure for any masses, no bounds", error.text);
  if (psdm_model_derive(robot, NULL, NULL, &a->model, NULL, &error) ||
      psdm_structure_new(robot, a->model, a->numeric && !a->set.any, NULL, &a->structure, &error))
    return psdmp_job_fail(&a->job, &error);
  return PSDM_OK;
}

/* a sample beyond a proved bound means a bug here or an unsupported robot, and is always reported */
static void judge(psdmp_study_analyze *a) {
  psdm_job *job = &a->job;
  long beyond = psdmp_study_analyze_beyond(a->bounds);
  if (psdmp_job_interrupted(job))
    psdmp_job_warn(job, "interrupted: these bounds hold, but may not be the tightest%s",
                   a->set.samples > 0 ? ", and samples are missing" : "");
  if (!beyond) return;
  job->good = false;
  psdmp_job_warn(job,
                 "%ld of %ld samples exceed proved bounds: do not trust the bounds of this robot, and please report it",
                 beyond, a->bounds->samples);
}

static psdm_status find_bounds(psdmp_study_analyze *a) {
  psdm_job *job = &a->job;
  psdm_error error;
  if (!a->numeric || a->set.no_bounds) return PSDM_OK;
  const psdm_bounds_options options = {.points = (long)a->set.points,
                                       .lower = a->lower,
                                       .upper = a->upper,
                                       .seed = (uint64_t)a->set.seed,
                                       .samples = (long)a->set.samples,
                                       .cuda = strcmp(a->set.device, "cuda") == 0,
                                       .ranks = job->host.ranks,
                                       .progress = psdmp_job_watch,
                                       .progress_user = job};
  double began = psdmp_base_clock();
  psdmp_job_tell(job, PSDM_JOB_STAGE, "bounds");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  psdm_status status = psdm_bounds_new(job->robot, &options, NULL, &a->bounds, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  if (psdmp_job_helps(job)) return PSDM_OK;
  judge(a);
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  psdmp_job_detail(job, "bounds in %.3g s", psdmp_base_clock() - began);
  if (a->bounds->samples)
    psdmp_job_detail(job, "%ld samples in %.3g s", a->bounds->samples, a->bounds->samples_seconds);
  return PSDM_OK;
}

static psdm_status find(psdmp_study_analyze *a) {
  psdm_job *job = &a->job;
  a->n = psdm_robot_n(job->robot);
  psdm_status status = set_limits(a);
  if (!status) status = find_link(a);
  if (!status && psdm_work_new(job->robot, NULL, &a->work)) status = psdmp_job_memory(job);
  if (!status) status = find_structure(a);
  if (!status && a->set.path && !psdmp_job_helps(job)) status = psdmp_study_analyze_path(a);
  return status ? status : find_bounds(a);
}

static psdm_status run(psdm_job *job) {
  psdmp_study_analyze *a = (psdmp_study_analyze *)job;
  psdm_status status = check(a);
  if (!status && !psdmp_job_helps(job)) status = psdmp_study_folder_check(job, a->set.plots);
  if (!status && psdmp_job_helps(job) && a->set.samples == 0) return PSDM_OK; /* nothing to share */
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&a->set), &job->robot);
  if (!status) status = find(a);
  if (status || psdmp_job_helps(job)) return status;
  if (a->set.path) status = psdmp_study_analyze_rows(a);
  if (!status && a->set.plots) status = psdmp_study_analyze_plot(a);
  a->answer = (psdm_analysis){a->structure, a->lower, a->upper};
  return status ? status : psdmp_study_analyze_answer(a);
}

static void release(psdm_job *job) {
  psdmp_study_analyze *a = (psdmp_study_analyze *)job;
  psdm_bounds_free(a->bounds);
  psdm_structure_free(a->structure);
  psdm_model_free(a->model);
  psdm_work_free(a->work, NULL);
  free(a->path.t);
  free(a->path.q);
  free(a->path.row);
}

PSDMP_JOB_KIND(study, analyze, psdmp_study_analyze, .free = release);

const psdm_analysis *psdm_job_analysis(const psdm_job *job) {
  return job->kind == &psdmp_study_analyze_kind && job->answer ? &((const psdmp_study_analyze *)job)->answer : NULL;
}
