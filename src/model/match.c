/* match.c: whether a model belongs to this robot. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "robot/robot.h"

static psdm_status other_shape(const psdm_model *m, const psdm_robot *r, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0,
                         "the model has %d joints and %d standard parameters; robot '%s' has %d and %d", m->n,
                         m->standard, psdm_robot_name(r), psdm_robot_n(r), psdm_robot_parameter_count(r));
}

/* parameters are identified by their position, so all names must be equal */
static psdm_status match_names(const psdm_model *m, const psdm_robot *r, psdm_error *error) {
  char own[32];
  if (m->n != psdm_robot_n(r) || m->standard != psdm_robot_parameter_count(r)) return other_shape(m, r, error);
  for (int k = 0; k < m->standard; k++)
    if (strcmp(m->standard_name[k], psdm_robot_parameter_name(r, k, own, sizeof own)) != 0)
      return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0,
                             "standard parameter %d of the model is '%s'; that of robot '%s' is '%s'", k + 1,
                             m->standard_name[k], psdm_robot_name(r), own);
  return PSDM_OK;
}

static psdm_status match_hash(const psdm_model *m, const psdm_robot *r, const char *what, uint64_t wanted, uint64_t own,
                              psdm_error *error) {
  char text[2][PSDMP_ROBOT_FINGERPRINT];
  if (!wanted || wanted == own) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0,
                         "the model was made for robot '%s', whose %s (%s) are not those of '%s' (%s)", m->name, what,
                         psdmp_robot_fingerprint_text(wanted, text[0]), psdm_robot_name(r),
                         psdmp_robot_fingerprint_text(own, text[1]));
}

psdm_status psdm_model_match(const psdm_model *m, const psdm_robot *r, psdm_error *error) {
  psdm_status status = match_names(m, r, error);
  if (status || !m->robot.kinematics) return status;
  const double *g = m->robot.gravity, *h = r->gravity;
  status = match_hash(m, r, "kinematics", m->robot.kinematics, psdm_robot_fingerprint(r), error);
  for (int i = 0; i < 3 && !status; i++)
    if (!(fabs(g[i] - h[i]) <= 1e-9 * fmax(1, m->gravity)))
      status = psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0,
                               "the model was made for gravity (%.6g, %.6g, %.6g); robot '%s' has (%.6g, %.6g, %.6g)",
                               g[0], g[1], g[2], psdm_robot_name(r), h[0], h[1], h[2]);
  return status
             ? status
             : match_hash(m, r, "inertias, for which it was reduced,", m->robot.inertia, psdmp_robot_inertia(r), error);
}

bool psdm_model_signed(const psdm_model *m) { return m->robot.kinematics != 0; }
