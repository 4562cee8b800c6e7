/* steps.c: the order of the steps, stops, and predictions. */
#include "psdm/steps.h"

#include <stdio.h>

#include "steps/steps_priv.h"
#include "linalg/linalg.h"

bool psdmp_steps_progress(psdmp_steps *s, const char *doing, double share) {
  const psdm_steps_options *o = &s->options;
  char text[96];
  if (s->stopped || !o->progress) return !s->stopped;
  snprintf(text, sizeof text, "%s%s%s", psdm_step_name(s->doing), doing ? ": " : "", doing ? doing : "");
  s->stopped = !o->progress(o->progress_user, text, share);
  return !s->stopped;
}

psdm_status psdmp_steps_stop(psdm_error *error) { return psdmp_base_fail(error, PSDM_E_STOPPED, "", 0, 0, "stopped"); }

/* ---- the steps in their order ---- */

static psdm_status (*const fits[PSDM_STEPS])(psdmp_steps *, psdmp_base_arena *, psdm_error *) = {
    psdmp_steps_motor, psdmp_steps_gravity, psdmp_steps_friction, psdmp_steps_inertia};
static psdm_status (*const judges[PSDM_STEPS])(psdmp_steps *, psdmp_steps_judge *, psdmp_base_arena *, psdm_error *) = {
    psdmp_steps_motor_judge, psdmp_steps_gravity_judge, psdmp_steps_friction_judge, psdmp_steps_inertia_judge};

static bool has_logs(const psdmp_steps *s, int step) {
  for (int k = 0; k < s->options.logs; k++)
    if ((int)s->options.log[k].step == step) return true;
  return false;
}

/* results based on numbers that are now replaced are kept, with a remark */
static void note_outdated(psdmp_steps *s, int step) {
  for (int k = step + 1; k < PSDM_STEPS; k++)
    if (s->p.step[k].from_before && !has_logs(s, k))
      psdmp_steps_remark(s, "%s was found by an earlier run that used an older result of the step %s: run it again",
                         psdm_step_name((psdm_step)k), psdm_step_name((psdm_step)step));
}

static psdm_status run_step(psdmp_steps *s, int step, psdm_error *error) {
  psdm_step_fit *fit = &s->p.step[step];
  psdmp_base_arena arena = {.allocator = s->allocator};
  double begin = psdmp_base_clock();
  s->doing = (psdm_step)step;
  psdm_status status = psdmp_steps_progress(s, NULL, 0) ? fits[step](s, &arena, error) : psdmp_steps_stop(error);
  psdmp_base_arena_free(&arena);
  if (status) return status;
  fit->done = true;
  fit->from_before = false;
  fit->seconds = psdmp_base_clock() - begin;
  note_outdated(s, step);
  psdmp_steps_publish(s);
  if (s->options.finished && !s->options.finished(s->options.finished_user, &s->p, (psdm_step)step)) s->stopped = true;
  return PSDM_OK;
}

static psdm_status run_all(psdmp_steps *s, psdm_error *error) {
  psdm_status status = PSDM_OK;
  double begin = psdmp_base_clock();
  for (int step = 0; step < PSDM_STEPS && !status && !s->stopped; step++)
    if (has_logs(s, step)) status = run_step(s, step, error);
  if (status == PSDM_E_STOPPED) status = PSDM_OK; /* keeps finished steps */
  s->p.stopped = s->stopped;
  s->p.seconds = psdmp_base_clock() - begin;
  return status;
}

psdm_status psdm_steps_run(const psdm_robot *robot, const psdm_steps_options *options, const psdm_allocator *allocator,
                           psdm_steps **out, psdm_error *error) {
  *out = NULL;
  psdmp_steps *s = psdmp_base_alloc(allocator, sizeof *s);
  if (!s) return psdmp_base_no_memory("", error);
  s->allocator = s->arena.allocator = s->run.allocator = allocator;
  s->run.robot = robot;
  s->options = *options;
  s->p.internal = s;
  psdmp_linalg_blas_alone();
  psdm_status status = psdmp_linalg_blas_room(error);
  if (!status) status = psdmp_steps_begin(s, error);
  if (!status) status = run_all(s, error);
  psdmp_linalg_blas_back();
  if (status) {
    psdm_steps_free(&s->p);
    return status;
  }
  *out = &s->p;
  return PSDM_OK;
}

void psdm_steps_free(psdm_steps *steps) {
  if (!steps) return;
  psdmp_steps *s = steps->internal;
  const psdm_allocator *allocator = s->allocator;
  psdm_work_free(s->run.work, allocator);
  psdm_model_free(s->run.model);
  psdmp_base_arena_free(&s->arena);
  psdmp_base_free(allocator, s);
}

const char *psdm_steps_fault(const psdm_steps *steps, int index) {
  return index >= 0 && index < steps->internal->faults ? steps->internal->fault[index] : NULL;
}

/* ---- predictions: the logs of the finished steps again ---- */

psdm_status psdm_steps_predict(const psdm_steps *steps, psdm_steps_write write, void *user, psdm_error *error) {
  psdmp_steps *s = steps->internal;
  psdm_status status = PSDM_OK;
  bool stopped = false;
  s->options.progress = NULL, s->options.finished = NULL;
  s->stopped = false;
  psdmp_linalg_blas_alone();
  for (int step = 0; step < PSDM_STEPS && !status && !stopped; step++) {
    if (!steps->step[step].done) continue;
    int faults = s->faults, remarks = s->remarks;
    psdmp_base_arena arena = {.allocator = s->allocator};
    psdmp_steps_judge judge = {.write = write, .user = user};
    s->doing = (psdm_step)step;
    status = psdmp_steps_judge_start(&judge, s->n, &arena) ? psdmp_base_no_memory("", error)
                                                           : judges[step](s, &judge, &arena, error);
    stopped = judge.stopped;
    psdmp_base_arena_free(&arena);
    s->faults = faults; /* already reported, like remarks on the logs */
    while (s->remarks > remarks) s->p.remark[--s->remarks][0] = '\0';
  }
  psdmp_linalg_blas_back();
  s->stopped = steps->stopped;
  return status;
}
