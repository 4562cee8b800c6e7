/* model_io.c: the model as JSON. */
#include <math.h>

#include "model/model.h"
#include "robot/robot.h"

/* a base parameter's value from the robot's numbers, NAN (null) where one of them is unknown */
static double value_of(const psdmp_model_base *base, const psdm_robot *robot) {
  double sum = 0;
  for (int t = 0; t < base->terms; t++)
    sum += base->term[t].coefficient * (robot ? psdmp_robot_parameter(robot, base->term[t].parameter) : NAN);
  return sum;
}

static void write_base(const psdm_model *m, const psdm_robot *robot, psdm_output *out) {
  psdm_json_array(out, "base_parameters");
  for (int j = 0; j < m->l; j++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", psdm_model_base_name(m, j));
    psdm_json_object(out, "formula");
    for (int t = 0; t < m->base[j].terms; t++)
      psdm_json_number(out, m->standard_name[m->base[j].term[t].parameter], m->base[j].term[t].coefficient);
    psdm_json_close(out);
    psdm_json_number(out, "value", value_of(&m->base[j], robot));
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void write_fingerprint(psdm_output *out, const char *key, uint64_t hash) {
  char text[PSDMP_ROBOT_FINGERPRINT];
  if (hash) psdm_json_string(out, key, psdmp_robot_fingerprint_text(hash, text));
}

/* writes the robot's identity */
static void write_robot(const psdm_model *m, psdm_output *out) {
  if (!m->robot.kinematics) return;
  psdm_json_object(out, "robot");
  write_fingerprint(out, "kinematics", m->robot.kinematics);
  psdm_json_numbers(out, "gravity", m->robot.gravity, 3);
  write_fingerprint(out, "inertia", m->robot.inertia);
  psdm_json_close(out);
}

void psdmp_model_write(const psdm_model *m, const psdm_robot *robot, psdm_output *out) {
  unsigned char e[5 * 64];
  char text[5 * 64 + 1];
  psdm_json_object(out, NULL);
  psdm_json_string(out, "name", m->name);
  psdm_json_integer(out, "n", m->n);
  psdm_json_integer(out, "p", m->p);
  psdm_json_integer(out, "l", m->l);
  psdm_json_number(out, "gravity", m->gravity);
  psdm_json_integer(out, "links", m->links);
  write_robot(m, out);
  psdm_json_array(out, "standard_parameters");
  for (int k = 0; k < m->standard; k++) psdm_json_string(out, NULL, m->standard_name[k]);
  psdm_json_close(out);
  psdm_json_array(out, "E");
  for (long f = 0; f < m->p; f++) {
    psdm_model_exponents(m, f, e);
    for (int i = 0; i < 5 * m->n; i++) text[i] = PSDMP_MODEL_EXPONENT_DIGITS[e[i]];
    text[5 * m->n] = '\0';
    psdm_json_string(out, NULL, text);
  }
  psdm_json_close(out);
  psdm_json_array(out, "P");
  for (long f = 0; f < m->p; f++)
    for (long i = m->P_start[f]; i < m->P_start[f + 1]; i++) {
      psdm_json_array(out, NULL);
      psdm_json_integer(out, NULL, f);
      psdm_json_integer(out, NULL, m->P[i].joint);
      psdm_json_integer(out, NULL, m->P[i].parameter);
      psdm_json_number(out, NULL, m->P[i].value);
      psdm_json_close(out);
    }
  psdm_json_close(out);
  write_base(m, robot, out);
  psdm_json_close(out);
}
