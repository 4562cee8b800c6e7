/* derive.c: the closed-form model of a robot, compared with the recursion at random states. */
#include <math.h>
#include <string.h>

#include "study/study.h"
#include "psdm/results.h"

#define DERIVE_SETTINGS(X)                                                                                          \
  X(text, assume, "", "A = 0,B = 2*C,...", "linear relations of body parameters, in addition to the file's")        \
  X(text, method, "exact", "exact|dense", "by one traversal of the tree, or from samples and dense linear systems") \
  X(text, basis, "standard", "standard|echelon",                                                                    \
    "base parameters: a subset of the standard ones, or theta1, theta2, ...")                                       \
  X(text, sampler, "", "COMMAND", "dense: sample the torques of this program instead of the recursion's")           \
  X(text, export, "", "FILE.json|.mat", "write the complete model: functions, P, base parameters")                  \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(derive_settings, DERIVE_SETTINGS);

typedef struct derive {
  psdm_job job;
  derive_settings set;
  psdm_derive_options options;
  psdm_model *model;
  psdm_derive_info info; /* with the residual */
  int most, states;      /* to compare at; those that the residual is the largest of */
} derive;

#define SETTINGS_STRUCT derive_settings
static const psdm_setting settings[] = {DERIVE_SETTINGS(PSDM_SETTINGS_ROW){0}};

/* every state evaluates every function with every coefficient, so one state shows any error: a large model needs fewer
 * than 1000 */
enum { FEW = 10, STATES = 1000, PRODUCTS = 50000000 };

static int states_for(const psdm_model *m) {
  long each = psdm_model_entries(m) + 1;
  return PRODUCTS / each > STATES ? STATES : PRODUCTS / each < FEW ? FEW : (int)(PRODUCTS / each);
}

/* whether zero and non-zero are at least three decades apart, in the coefficients and in the rank decisions */
static bool clear(const psdm_derive_info *info) {
  return info->kept > 1e3 * info->dropped && info->rank_kept > 1e3 * info->rank_dropped;
}

static psdm_status choose(derive *j) {
  psdm_derive_options *o = &j->options;
  bool dense = strcmp(j->set.method, "dense") == 0;
  if (j->set.sampler && !dense) return psdmp_job_wrong(&j->job, "`sampler` needs `method = dense`");
  o->method = dense ? PSDM_METHOD_DENSE : PSDM_METHOD_EXACT;
  o->basis = strcmp(j->set.basis, "echelon") == 0 ? PSDM_BASIS_ECHELON : PSDM_BASIS_STANDARD;
  o->sampler_command = j->set.sampler;
  return psdmp_job_pieces(&j->job, "assume", j->set.assume, &o->assume, &o->assume_count);
}

static psdm_status find(derive *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "deriving");
  psdmp_job_tell(job, PSDM_JOB_LACKING, "no result yet");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  j->options.progress = psdmp_job_watch;
  j->options.progress_user = job;
  psdm_status status = psdm_model_derive(job->robot, &j->options, NULL, &j->model, &j->info, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  psdmp_job_detail(job, "derived: %ld functions, %d base parameters, %.3g ms", psdm_model_p(j->model),
                   psdm_model_l(j->model), 1e3 * j->info.seconds);
  return PSDM_OK;
}

static bool check_states(void *user, const char *doing, double share) {
  derive *j = user;
  j->states = (int)lround(share * j->most);
  return psdmp_job_progress(&j->job, doing, share);
}

/* how good the model is */
static psdm_status check(derive *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  j->states = j->most = states_for(j->model);
  j->options.progress = check_states;
  j->options.progress_user = j;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "checking");
  psdm_status status = psdm_model_check(job->robot, j->model, &j->options, j->most, NULL, &j->info.residual, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  if (psdmp_job_interrupted(job))
    psdmp_job_warn(job, "interrupted: the model is complete, its torque error is for the states evaluated so far");
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  return PSDM_OK;
}

static psdm_status export(const derive *j) {
  psdm_error error;
  psdm_status status = psdmp_job_writes(&j->job, j->set.export, false);
  if (status) return status;
  if (psdm_model_save(j->model, j->job.robot, j->set.export, &error)) return psdmp_job_fail(&j->job, &error);
  return psdmp_job_writes(&j->job, j->set.export, true);
}

static psdm_status answer(derive *j) {
  psdm_job *job = &j->job;
  psdm_derive_result *made;
  psdm_error error;
  if (psdm_derive_result_new(job->robot, j->model, &j->options, &j->info, j->states, NULL, &made, &error))
    return psdmp_job_fail(job, &error);
  job->answer = &made->head;
  if (!clear(&j->info))
    psdmp_job_warn(job,
                   "zero and non-zero coefficients are less than three decades apart; the numbers of functions and "
                   "parameters depend on the file's rounding, the torques do not");
  job->good = j->info.residual <= PSDM_MODEL_ACCURACY;
  if (!job->good)
    psdmp_job_warn(
        job,
        j->set.assume
            ? "the torques differ by %.2g of the largest: the robot's parameters do not satisfy the assumptions"
            : "the torques differ by %.2g of the largest; the limit is 1e-9",
        j->info.residual);
  return PSDM_OK;
}

static psdm_status run(psdm_job *job) {
  derive *j = (derive *)job;
  psdm_status status = choose(j);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = find(j);
  if (!status) status = check(j);
  if (!status && j->set.export) status = export(j);
  return status ? status : answer(j);
}

static void release(psdm_job *job) { psdm_model_free(((derive *)job)->model); }

PSDMP_JOB_KIND(study, derive, derive, .free = release);
