/* cmd_excite_json.c: a motion and what it is worth, as a document. */
#include <math.h>

#include "cmd_excite.h"

static const psdm_excite_joint *joints_of(const excite_job *j, psdm_result *head) {
  static const char *const from[] = {"option", "file", "default", "none"};
  const excite_measure *m = &j->planned;
  psdm_excite_joint *to = psdm_result_items(head, &psdm_excite_joint_type, j->n);
  for (int i = 0; to && i < j->n; i++) {
    const unsigned char *source = j->source + i;
    int n = j->n;
    to[i] = (psdm_excite_joint){.name = psdm_result_text(head, excite_joint(j, i)->name),
                                .type = tool_joint_type(j->robot, i),
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

static psdm_verified verified(const excite_measure *m) { return (psdm_verified){m->points, m->worst, m->gap}; }

static void put_quality(const excite_job *j, psdm_excite_result *r) {
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

static void put_parts(const excite_job *j, psdm_excite_result *r) {
  const psdm_excitation *e = j->result;
  if (e->step == PSDM_STEP_INERTIA) return;
  psdm_excite_part_result *to = psdm_result_items(&r->head, &psdm_excite_part_result_type, e->parts);
  for (int k = 0; to && k < e->parts; k++) {
    const psdm_excite_part *part = &e->part[k];
    to[k].begin = part->begin, to[k].end = part->end;
    to[k].joint = part->joint < 0 ? NULL : psdm_result_text(&r->head, excite_joint(j, part->joint)->name);
    to[k].direction = part->direction;
    if (e->step == PSDM_STEP_FRICTION) to[k].amplitude = part->amplitude, to[k].frequency = part->frequency;
  }
  PSDM_RESULT_SET(r->parts, to, e->parts);
}

int excite_json(excite_job *j) {
  const psdm_excitation *e = j->result;
  const psdm_verified file = verified(&j->read);
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_excite_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_excite_result *r = (psdm_excite_result *)head;
  psdm_result_name_robot(head, j->robot, &r->robot, &r->fingerprint);
  r->n = j->n;
  r->settings.item = settings_values(&excite_line, &j->set, head, &r->settings.rows);
  r->for_ = psdm_step_name(e->step);
  r->seconds = e->seconds;
  r->rows = j->rows.rows;
  r->torques = j->torques, r->friction = j->torques && j->friction;
  PSDM_RESULT_SET(r->joints, joints_of(j, head), j->n);
  r->gap = fmin(j->planned.gap, j->between.gap);
  r->worst = fmax(j->planned.worst, j->between.worst);
  r->verified.motion = verified(&j->planned);
  r->verified.rows = verified(&j->between);
  if (j->read_back) r->verified.file = &file;
  put_quality(j, r);
  put_parts(j, r);
  r->stopped = e->stopped, r->interrupted = j->interrupted;
  r->wall_seconds = e->wall;
  r->saves = j->saves;
  return tool_answer(head);
}
