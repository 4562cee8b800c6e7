/* reduce.c: a smaller model within a given error at a given confidence (Lloyd, Irani, Ahmadi 2021, section 4.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/reduce_priv.h"

#define SETTINGS_STRUCT psdmp_study_reduce_settings
static const psdm_setting settings[] = {REDUCE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static psdm_status check(const psdmp_study_reduce *j) {
  const psdmp_study_reduce_settings *set = &j->set;
  const psdm_job *job = &j->job;
  if (!(set->error > 0 && set->error < 1)) return psdmp_job_wrong(job, "`error` must lie between 0 and 1");
  if (!(set->confidence > 0 && set->confidence < 1))
    return psdmp_job_wrong(job, "`confidence` must lie between 0 and 1");
  if (!(set->samples >= 1000 && set->samples <= 4e9) || set->samples != floor(set->samples))
    return psdmp_job_wrong(job, "`samples` must be a whole number from 1000 to 4e9");
  if (!(set->seed >= 0 && set->seed <= 9e15) || set->seed != floor(set->seed))
    return psdmp_job_wrong(job, "`seed` must be a whole number");
  return PSDM_OK;
}

/* ---- the steps ---- */

long psdmp_study_reduce_operations(const psdm_cost *c) { return c->mult + c->add + c->div; }

psdm_status psdmp_study_reduce_start(psdmp_study_reduce *j, const psdm_profile *profile, bool medians,
                                     psdm_reducer **reducer) {
  psdm_error error;
  psdm_reduce_options options = {.profile = *profile,
                                 .samples = (long)j->set.samples,
                                 .seed = (unsigned long long)j->set.seed,
                                 .forward = j->set.forward,
                                 .medians = medians,
                                 .cuda = strcmp(j->set.device, "cuda") == 0,
                                 .ranks = j->job.host.ranks,
                                 .progress = psdmp_job_watch,
                                 .progress_user = &j->job};
  return psdm_reducer_new(j->job.robot, j->model, &options, NULL, reducer, &error) ? psdmp_job_fail(&j->job, &error)
                                                                                   : PSDM_OK;
}

psdm_status psdmp_study_reduce_to(const psdmp_study_reduce *j, psdm_reducer *reducer, double wanted, double confidence,
                                  psdm_model **reduced, psdm_reduce_info *info) {
  psdm_error error;
  return psdm_reducer_reduce(reducer, wanted, confidence, reduced, info, &error) ? psdmp_job_fail(&j->job, &error)
                                                                                 : PSDM_OK;
}

psdm_function psdmp_study_reduce_asked(const psdmp_study_reduce *j) {
  return j->set.forward ? PSDM_F_FORWARD : PSDM_F_INVERSE;
}

psdm_status psdmp_study_reduce_count(psdmp_study_reduce *j, const psdm_model *model, psdm_code_method method, int slot,
                                     psdm_cost *cost) {
  psdm_error error;
  psdm_code *code;
  const psdm_robot *robot = j->job.robot;
  psdm_code_options options = {.functions = 1u << psdmp_study_reduce_asked(j), .method = method};
  psdm_status status = model ? psdm_code_build_model(robot, model, &options, NULL, &code, &error)
                             : psdm_code_build(robot, &options, NULL, &code, &error);
  if (status) return psdmp_job_fail(&j->job, &error);
  psdm_code_at(code, 0, cost, NULL);
  psdmp_study_reduce_compile(j, code, slot);
  psdm_code_free(code);
  return PSDM_OK;
}

static psdm_status reduce(psdmp_study_reduce *j) {
  psdm_job *job = &j->job;
  psdm_status status = psdmp_study_reduce_profile(j);
  if (status) return status;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "reducing");
  psdmp_job_tell(job, PSDM_JOB_LACKING, "no result yet");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  status = psdmp_study_reduce_start(j, &j->profile, false, &j->reducer);
  psdmp_job_event(job, PSDM_JOB_LACKING);
  if (!status) status = psdmp_study_reduce_to(j, j->reducer, j->set.error, j->set.confidence, &j->reduced, &j->info);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return status;
  if (j->info.stopped)
    psdmp_job_warn(job, "interrupted: this is the best so far, verified at %ld states; a smaller model may suffice",
                   j->info.samples);
  psdmp_job_detail(job, "%ld of %ld functions kept, verified at %ld states, %.3g s", j->info.functions,
                   j->info.functions_before, j->info.samples, j->info.seconds);
  status = psdmp_study_reduce_count(j, NULL, PSDM_CODE_EXPANDED, TIMED_FULL, &j->full);
  if (!status) status = psdmp_study_reduce_count(j, NULL, PSDM_CODE_RECURSIVE, TIMED_RECURSION, &j->recursion);
  return status ? status : psdmp_study_reduce_count(j, j->reduced, PSDM_CODE_EXPANDED, TIMED_REDUCED, &j->less);
}

/* ---- files ---- */

/* the banner's command line, which reproduces this */
static void command_text(const psdmp_study_reduce *j, char *text, size_t size) {
  psdmp_base_print(text, size, "psdm reduce %s --profile %s --error %g --confidence %g --samples %.0f --seed %.0f%s",
                   psdmp_job_safe(&j->job, psdm_robot_name(j->job.robot)), psdmp_study_reduce_profile_name(j),
                   j->set.error, j->set.confidence, j->set.samples, j->set.seed, j->set.forward ? " --forward" : "");
}

static psdm_status write_out(psdmp_study_reduce *j) {
  char path[4096], command[512];
  psdm_error error;
  psdm_code *code;
  psdm_status status = psdmp_study_folder(&j->job, j->set.out);
  if (status) return status;
  if (snprintf(path, sizeof path, "%s/model.json", j->set.out) >= (int)sizeof path)
    return psdmp_job_wrong(&j->job, "`out`: the name is too long");
  if (psdm_model_save(j->reduced, j->job.robot, path, &error)) return psdmp_job_fail(&j->job, &error);
  command_text(j, command, sizeof command);
  unsigned always = 1u << PSDM_F_GRAVITY | 1u << PSDM_F_BIAS | 1u << PSDM_F_INVERSE;
  psdm_code_options options = {.functions = always | (j->set.forward ? 1u << PSDM_F_FORWARD | 1u << PSDM_F_MASS : 0),
                               .command = command};
  if (psdm_code_build_model(j->job.robot, j->reduced, &options, NULL, &code, &error))
    return psdmp_job_fail(&j->job, &error);
  status = psdm_code_write(code, j->set.out, &error);
  psdm_code_free(code);
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

/* ---- the answer ---- */

static psdm_operations counted(const psdm_cost *c, double ns) {
  return (psdm_operations){c->mult, c->add, c->div, ns > 0 ? ns : NAN};
}

static void fill(psdm_job *job, psdm_result *head) {
  const psdmp_study_reduce *j = (psdmp_study_reduce *)job;
  const psdm_reduce_info *i = &j->info;
  psdm_reduce_result *r = (psdm_reduce_result *)head;
  psdm_result_name_robot(head, job->robot, &r->name, &r->fingerprint);
  r->profile = psdmp_study_reduce_profile_name(j);
  r->forward = j->set.forward;
  r->error_wanted = j->set.error, r->confidence = j->set.confidence;
  r->reached = i->reached, r->interrupted = i->stopped, r->stopped = j->stopped;
  r->error = i->error, r->digits = i->digits, r->error_half = i->error_half, r->error_999 = i->error_most;
  r->samples = i->samples;
  r->p = i->functions, r->p_before = i->functions_before;
  r->l = i->parameters, r->l_before = i->parameters_before;
  r->full = counted(&j->full, j->ns[TIMED_FULL]);
  r->reduced = counted(&j->less, j->ns[TIMED_REDUCED]);
  r->recursion = counted(&j->recursion, j->ns[TIMED_RECURSION]);
  bool fewer = psdmp_study_reduce_operations(&j->less) < psdmp_study_reduce_operations(&j->recursion);
  r->wins = fewer ? "reduced" : "recursion";
  psdmp_study_reduce_put(j, r);
}

/* table and figures are optional, and omitted after a stop */
static psdm_status find_more(psdmp_study_reduce *j) {
  psdm_job *job = &j->job;
  psdm_status status = (j->set.figures || j->set.table) && psdmp_job_interrupted(job) ? PSDM_E_STOPPED : PSDM_OK;
  if (!status && j->set.figures) status = psdmp_study_reduce_figures(j);
  if (!status && j->set.table) status = psdmp_study_reduce_table(j);
  j->stopped = psdmp_job_interrupted(job);
  if (status && status != PSDM_E_STOPPED) return status;
  if (status && !j->info.stopped)
    psdmp_job_warn(job, "interrupted: the reduced model is complete; the remaining output is omitted");
  return PSDM_OK;
}

static psdm_status run(psdm_job *job) {
  psdmp_study_reduce *j = (psdmp_study_reduce *)job;
  psdm_error error;
  psdm_status status = check(j);
  if (!status && !psdmp_job_helps(job)) status = psdmp_study_folder_check(job, j->set.out);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (status) return status;
  if (psdm_robot_loops(job->robot))
    return psdmp_job_fail(job, &(psdm_error){.status = PSDM_E_ROBOT,
                                             .text = "functions of the closed form are what is removed, and closed "
                                                     "loops have none; psdm codegen writes their complete code"});
  if (psdm_robot_ready(job->robot, &error) || psdm_model_derive(job->robot, NULL, NULL, &j->model, NULL, &error))
    return psdmp_job_fail(job, &error);
  if (psdmp_job_helps(job)) {
    const psdm_reduce_options options = {.ranks = job->host.ranks};
    return psdm_reducer_help(job->robot, j->model, &options, NULL, &error) ? psdmp_job_fail(job, &error) : PSDM_OK;
  }
  status = reduce(j);
  if (!status && j->set.out) status = write_out(j);
  if (!status) status = find_more(j);
  if (!status) status = psdmp_study_reduce_measure(j);
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  if (!status) status = psdmp_job_answer(job, &psdm_reduce_result_type, fill);
  if (status) return status;
  job->good = j->info.reached;
  if (!job->good)
    psdmp_job_warn(job, "the error could not be reduced to %.3g; it is %.3g", j->set.error, j->info.error);
  return PSDM_OK;
}

static void release(psdm_job *job) {
  psdmp_study_reduce *j = (psdmp_study_reduce *)job;
  psdmp_study_reduce_times_free(j);
  psdm_reducer_free(j->reducer);
  psdm_model_free(j->reduced);
  psdm_model_free(j->model);
  free(j->states);
}

PSDMP_JOB_KIND(study, reduce, psdmp_study_reduce, .free = release);

psdm_model *psdm_job_take_model(psdm_job *job) {
  if (job->kind != &psdmp_study_reduce_kind || !job->answer) return NULL;
  psdm_model *model = ((psdmp_study_reduce *)job)->reduced;
  ((psdmp_study_reduce *)job)->reduced = NULL;
  return model;
}
