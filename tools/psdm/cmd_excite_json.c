/* cmd_excite_json.c: a motion and its quality as JSON. */
#include <math.h>

#include "cmd_excite.h"

static void json_joints(const excite_job *j, psdm_output *out) {
  static const char *const sources[] = {"option", "file", "default", "none"};
  static const char *const limits[LIMITS] = {"lower_from", "upper_from", "velocity_from", "acceleration_from",
                                             "effort_from"};
  const excite_measure *m = &j->planned;
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", excite_joint(j, i)->name);
    psdm_json_string(out, "type", tool_joint_type(j->robot, i));
    psdm_json_number(out, "lower", m->lower[i]);
    psdm_json_number(out, "upper", m->upper[i]);
    psdm_json_number(out, "velocity", m->velocity[i]);
    psdm_json_number(out, "acceleration", m->acceleration[i]);
    psdm_json_number(out, "effort", m->effort[i]);
    psdm_json_object(out, "limits");
    psdm_json_number(out, "lower", j->lower[i]);
    psdm_json_number(out, "upper", j->upper[i]);
    psdm_json_number(out, "velocity", j->velocity[i]);
    psdm_json_number(out, "acceleration", j->acceleration[i]);
    psdm_json_number(out, "effort", j->effort[i]);
    for (int k = 0; k < LIMITS; k++) psdm_json_string(out, limits[k], sources[j->source[k * j->n + i]]);
    psdm_json_close(out);
    if (j->result->blind_joints) psdm_json_bool(out, "blind", j->result->blind_joints[i]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void json_verified(const char *key, const excite_measure *m, psdm_output *out) {
  psdm_json_object(out, key);
  psdm_json_integer(out, "points", m->points);
  psdm_json_number(out, "worst", m->worst);
  psdm_json_number(out, "gap", m->gap);
  psdm_json_close(out);
}

static void json_quality(const excite_job *j, psdm_output *out) {
  const psdm_excitation *e = j->result;
  if (e->step != PSDM_STEP_INERTIA) return;
  psdm_json_string(out, "shape", j->set.shape);
  psdm_json_string(out, "goal", j->set.goal);
  psdm_json_integer(out, "parameters", e->parameters);
  psdm_json_number(out, "condition", e->condition);
  psdm_json_number(out, "condition_plain", e->condition_plain);
  psdm_json_number(out, "logdet", e->logdet);
  psdm_json_object(out, "random");
  psdm_json_number(out, "best", e->random_best);
  psdm_json_number(out, "median", e->random_median);
  psdm_json_number(out, "plain_best", e->random_plain_best);
  psdm_json_number(out, "plain_median", e->random_plain_median);
  psdm_json_close(out);
  psdm_json_object(out, "times_better");
  psdm_json_number(out, "best", e->random_best / e->condition);
  psdm_json_number(out, "median", e->random_median / e->condition);
  psdm_json_number(out, "plain_best", e->random_plain_best / e->condition_plain);
  psdm_json_number(out, "plain_median", e->random_plain_median / e->condition_plain);
  psdm_json_close(out);
  psdm_json_numbers(out, "starts", e->start_condition, e->starts);
  psdm_json_integer(out, "evaluations", e->evaluations);
}

static void json_parts(const excite_job *j, psdm_output *out) {
  const psdm_excitation *e = j->result;
  if (e->step == PSDM_STEP_INERTIA) return;
  psdm_json_array(out, "parts");
  for (int k = 0; k < e->parts; k++) {
    const psdm_excite_part *part = &e->part[k];
    psdm_json_object(out, NULL);
    psdm_json_number(out, "begin", part->begin);
    psdm_json_number(out, "end", part->end);
    psdm_json_string(out, "joint", part->joint < 0 ? NULL : excite_joint(j, part->joint)->name);
    psdm_json_integer(out, "direction", part->direction);
    if (e->step == PSDM_STEP_FRICTION) psdm_json_number(out, "amplitude", part->amplitude);
    if (e->step == PSDM_STEP_FRICTION) psdm_json_number(out, "frequency", part->frequency);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

int excite_json(excite_job *j) {
  const psdm_excitation *e = j->result;
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "excite");
  tool_json_robot(out, "robot", j->robot);
  psdm_json_integer(out, "n", j->n);
  settings_json(&excite_line, &j->set, out);
  psdm_json_string(out, "for", psdm_step_name(e->step));
  psdm_json_number(out, "seconds", e->seconds);
  psdm_json_integer(out, "rows", j->rows.rows);
  psdm_json_bool(out, "torques", j->torques);
  psdm_json_bool(out, "friction", j->torques && j->friction);
  json_joints(j, out);
  psdm_json_number(out, "gap", fmin(j->planned.gap, j->between.gap));
  psdm_json_number(out, "worst", fmax(j->planned.worst, j->between.worst));
  psdm_json_object(out, "verified");
  json_verified("motion", &j->planned, out);
  json_verified("rows", &j->between, out);
  if (j->read_back) json_verified("file", &j->read, out);
  psdm_json_close(out);
  json_quality(j, out);
  json_parts(j, out);
  psdm_json_bool(out, "stopped", e->stopped);
  psdm_json_bool(out, "interrupted", j->interrupted);
  psdm_json_number(out, "wall_seconds", e->wall);
  psdm_json_integer(out, "saves", j->saves);
  psdm_json_close(out);
  return tool_commit(&out);
}
