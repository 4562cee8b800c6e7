/* plan_answer.c: a planned motion as a document. */
#include <math.h>

#include "job/plan_priv.h"

static void put_optimal(const psdmp_job_plan *j, psdm_plan_result *r) {
  const psdm_optimal *o = j->optimal;
  if (!o) return;
  r->converged = o->converged, r->stopped = o->stopped;
  r->solver = psdm_result_text(&r->head, o->words);
  r->iterations = o->iterations;
  r->wall = o->wall, r->infeasibility = o->infeasibility;
  r->guess_seconds = o->guess_seconds, r->guess_energy = o->guess_energy;
}

/* at most this many points of the path, evenly spaced: position, speed, and largest share of a limit */
static void put_path(const psdmp_job_plan *j, psdm_plan_result *r) {
  enum { MOST = 500 };
  const psdm_path_plan *p = j->plan;
  if (!p) return;
  long shown = p->points < MOST ? p->points : MOST;
  psdm_path_profile *to = psdm_result_items(&r->head, &psdm_path_profile_type, 1);
  double *s = psdm_result_memory(&r->head, 4 * shown, sizeof *s);
  if (!to || !s) return;
  double *t = s + shown, *speed = t + shown, *usage = speed + shown;
  for (long k = 0; k < shown; k++) {
    long at = shown > 1 ? k * (p->points - 1) / (shown - 1) : 0;
    s[k] = p->s[at], t[k] = p->t[at], speed[k] = sqrt(p->x[at]), usage[k] = p->usage[at];
  }
  PSDM_RESULT_SET(to->s, s, shown);
  PSDM_RESULT_SET(to->t, t, shown);
  PSDM_RESULT_SET(to->speed, speed, shown);
  PSDM_RESULT_SET(to->usage, usage, shown);
  r->points = p->points;
  r->path = to;
}

void psdmp_job_plan_fill(psdm_job *job, psdm_result *head) {
  psdmp_job_plan *j = (psdmp_job_plan *)job;
  psdm_plan_result *r = (psdm_plan_result *)head;
  psdm_result_name_robot(head, job->robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, job->robot, j->limit), j->n);
  r->what = j->set.what;
  r->seconds = j->seconds, r->energy = j->energy, r->limit_used = j->used;
  PSDM_RESULT_SET(r->peak_velocity, j->peak[0], j->n);
  PSDM_RESULT_SET(r->peak_acceleration, j->peak[1], j->n);
  PSDM_RESULT_SET(r->peak_torque, j->peak[2], j->n);
  if (j->what == PLAN_SCALE) {
    r->factor = j->k;
    r->limited_by = psdm_scale_name(j->by.by);
    r->limited_joint = j->by.joint + 1;
    r->recomputed = j->recomputed;
  }
  put_path(j, r);
  put_optimal(j, r);
  r->rows = j->rows;
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}
