/* excite_answer.c: a motion and what it is worth, as a document. */
#include <math.h>

#include "job/excite_priv.h"

static const psdm_excite_joint *joints_of(const psdmp_job_excite *j, psdm_result *head) {
  static const char *const from[] = {"option", "file", "default", "none"};
  const psdmp_job_excite_measure *m = &j->planned;
  psdm_excite_joint *to = psdm_result_items(head, &psdm_excite_joint_type, j->n);
  for (int i = 0; to && i < j->n; i++) {
    const unsigned char *source = j->source + i;
    const psdm_joint *joint = psdmp_job_joint(j->job.robot, i);
    int n = j->n;
    to[i] = (psdm_excite_joint){.name = psdm_result_text(head, joint->name),
                                .type = joint->type == PSDM_PRISMATIC ? "prismatic" : "revolute",
                                .lower = m->lower[i],
                                .upper = m->upper[i],
                                .velocity = m->velocity[i],
                                .acceleration = m->acceleration[i],
                                .effort = m->effort[i],
                                .blind = j->result->blind_joints && j->result->blind_joints[i]};
    to[i].limits = (psdm_limits_from){.lower = j->lower[i],
                                      .upper = j->upper[i],
                                      .velocity = j->velocity[i],
                                      .acceleration = j->acceleration[i],
                                      .effort = j->effort[i],
                                      .lower_from = from[source[LIMIT_LOWER * n]],
                                      .upper_from = from[source[LIMIT_UPPER * n]],
                                      .velocity_from = from[source[LIMIT_VELOCITY * n]],
                                      .acceleration_from = from[source[LIMIT_ACCELERATION * n]],
                                      .effort_from = from[source[LIMIT_EFFORT * n]]};
  }
  return to;
}

static psdm_verified verified(const psdmp_job_excite_measure *m) {
  return (psdm_verified){m->points, m->worst, m->gap};
}

static void put_quality(const psdmp_job_excite *j, psdm_excite_result *r) {
  const psdm_excitation *e = j->result;
  if (e->step != PSDM_STEP_INERTIA) return;
  psdm_random_motions *random = psdm_result_items(&r->head, &psdm_random_motions_type, 2);
  r->shape = j->set.shape, r->goal = j->set.goal;
  r->parameters = e->parameters;
  r->condition = e->condition, r->condition_plain = e->condition_plain, r->logdet = e->logdet;
  r->evaluations = e->evaluations;
  PSDM_RESULT_SET(r->starts, psdm_result_numbers(&r->head, e->start_condition, e->starts), e->starts);
  if (!random) return;
  random[0] = (psdm_random_motions){e->random_best, e->random_median, e->random_plain_best, e->random_plain_median};
  random[1] =
      (psdm_random_motions){e->random_best / e->condition, e->random_median / e->condition,
                            e->random_plain_best / e->condition_plain, e->random_plain_median / e->condition_plain};
  r->random = &random[0], r->times_better = &random[1];
}

static void put_parts(const psdmp_job_excite *j, psdm_excite_result *r) {
  const psdm_excitation *e = j->result;
  if (e->step == PSDM_STEP_INERTIA) return;
  psdm_excite_part_result *to = psdm_result_items(&r->head, &psdm_excite_part_result_type, e->parts);
  for (int k = 0; to && k < e->parts; k++) {
    const psdm_excite_part *part = &e->part[k];
    to[k].begin = part->begin, to[k].end = part->end;
    to[k].joint = part->joint < 0 ? NULL : psdm_result_text(&r->head, psdmp_job_joint(j->job.robot, part->joint)->name);
    to[k].direction = part->direction;
    if (e->step == PSDM_STEP_FRICTION) to[k].amplitude = part->amplitude, to[k].frequency = part->frequency;
  }
  PSDM_RESULT_SET(r->parts, to, e->parts);
}

void psdmp_job_excite_fill(psdm_job *job, psdm_result *head) {
  psdmp_job_excite *j = (psdmp_job_excite *)job;
  const psdm_excitation *e = j->result;
  psdm_excite_result *r = (psdm_excite_result *)head;
  psdm_result_name_robot(head, j->job.robot, &r->robot, &r->fingerprint);
  r->n = j->n;
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
  r->for_ = psdm_step_name(e->step);
  r->seconds = e->seconds;
  r->rows = j->rows.rows;
  r->torques = j->torques, r->friction = j->torques && j->friction;
  PSDM_RESULT_SET(r->joints, joints_of(j, head), j->n);
  r->gap = fmin(j->planned.gap, j->between.gap);
  r->worst = fmax(j->planned.worst, j->between.worst);
  r->verified.motion = verified(&j->planned);
  r->verified.rows = verified(&j->between);
  psdm_verified *file = j->read_back ? psdm_result_items(head, &psdm_verified_type, 1) : NULL;
  if (file) *file = verified(&j->read);
  r->verified.file = file;
  put_quality(j, r);
  put_parts(j, r);
  r->stopped = e->stopped, r->interrupted = j->interrupted;
  r->wall_seconds = e->wall;
  r->saves = j->saves;
}
