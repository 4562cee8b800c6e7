/* payload.c: effect of a load: ten numbers of one link, and so every base parameter with them in its formula.
 *
 * Effect (De Luca, Robotics 2, "Adding a payload to the robot"): about the same frame mass, first moments and inertia
 * of link and load add up, in any convention of frames: pi_n -> pi_n + pi_L. With theta = K pi this is theta -> theta +
 * L pi_L, L the columns of K that belong to the link. */
#include "psdm/payload.h"

#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "payload/payload_priv.h"
#include "robot/robot.h"

/* ---- a load as numbers ---- */

/* [|c|^2 1 - c c^T], xx xy xz yy yz zz: the inertia about the origin of a unit mass at c */
static void point_inertia(const double c[3], double out[6]) {
  static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  for (int k = 0; k < 6; k++) out[k] = (row[k] == column[k] ? square : 0) - c[row[k]] * c[column[k]];
}

void psdm_load_to_standard(const psdm_load *load, double pi[10]) {
  psdmp_robot_standard_from_body(load->mass, load->com, load->inertia, pi);
}

bool psdm_load_from_standard(const double pi[10], psdm_load *load) {
  double point[6];
  load->mass = pi[0];
  for (int k = 0; k < 3; k++) load->com[k] = pi[0] > 0 ? pi[1 + k] / pi[0] : NAN;
  point_inertia(load->com, point);
  for (int k = 0; k < 6; k++) load->inertia[k] = pi[4 + k] - pi[0] * point[k]; /* NAN if com is */
  return pi[0] > 0;
}

/* sqrt(g^T V g) */
static double spread(const double g[10], const double V[100]) {
  double sum = 0;
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++) sum += g[a] * V[10 * a + b] * g[b];
  return sqrt(fmax(sum, 0));
}

/* c = h / m, and J = I - (|h|^2 1 - h h^T) / m, by m, h and I */
void psdmp_payload_load_doubt(const psdm_load *load, const double V[100], double *mass, double com[3],
                              double inertia[6]) {
  static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  const double *c = load->com, m = load->mass;
  double point[6];
  *mass = sqrt(fmax(V[0], 0));
  for (int k = 0; k < 3; k++) {
    double g[10] = {0};
    g[0] = -c[k] / m, g[1 + k] = 1 / m;
    com[k] = m > 0 ? spread(g, V) : NAN;
  }
  point_inertia(c, point);
  for (int k = 0; k < 6; k++) {
    double g[10] = {0};
    g[0] = point[k];
    for (int i = 0; i < 3; i++)
      g[1 + i] =
          (row[k] == i ? c[column[k]] : 0) + (column[k] == i ? c[row[k]] : 0) - (row[k] == column[k] ? 2 * c[i] : 0);
    g[4 + k] = 1;
    inertia[k] = m > 0 ? spread(g, V) : NAN;
  }
}

/* ---- on a link ---- */

psdm_status psdmp_payload_mount_find(const psdm_robot *robot, int joint, psdmp_payload_mount *mount,
                                     psdm_error *error) {
  const psdm_robot *r = robot->closure ? robot->closure->tree : robot;
  if (joint < 0 || joint >= r->joints)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, robot->file, 0, 0, "there is no joint number %d", joint);
  const psdmp_robot_link *link = &r->link[joint];
  char name[80];
  psdmp_base_quote(link->name, strlen(link->name), name, sizeof name);
  if (link->body < 0)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, robot->file, 0, 0,
                           "link '%s' is fixed to the base: a load on it changes no torque", name);
  const psdmp_robot_body *body = &r->body[link->body];
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&r->link[body->index].frame),
                   place = psdmp_robot_pose_product(&back, &link->frame);
  if (joint == body->index) place = psdmp_robot_pose_identity(); /* exact to the last bit */
  mount->joint = joint, mount->link = body->number;
  for (int k = 0; k < 10; k++) {
    double one[10] = {0}, moved[10];
    one[k] = 1;
    psdmp_robot_standard_move(&place, one, moved);
    for (int i = 0; i < 10; i++) mount->move[10 * i + k] = moved[i];
  }
  return PSDM_OK;
}

void psdmp_payload_mount_move(const psdmp_payload_mount *m, const double pi[10], double out[10]) {
  for (int i = 0; i < 10; i++) {
    out[i] = 0;
    for (int k = 0; k < 10; k++) out[i] += m->move[10 * i + k] * pi[k];
  }
}

/* ---- in theta ---- */

/* the coefficients (10) of the link's parameters in base parameter j's formula */
static void formula(const psdmp_payload_mount *m, const psdm_model *model, int j, double own[10]) {
  memset(own, 0, 10 * sizeof *own);
  for (int t = 0; t < psdm_model_base_terms(model, j); t++) {
    int standard;
    double coefficient = psdm_model_base_term(model, j, t, &standard);
    if (standard / 10 == m->link) own[standard % 10] = coefficient; /* drives come after all links */
  }
}

void psdmp_payload_mount_map(const psdmp_payload_mount *m, const psdm_model *model, double *L) {
  for (int j = 0; j < psdm_model_l(model); j++) {
    double own[10];
    formula(m, model, j, own);
    for (int k = 0; k < 10; k++) {
      L[10L * j + k] = 0;
      for (int i = 0; i < 10; i++) L[10L * j + k] += own[i] * m->move[10 * i + k];
    }
  }
}

/* whether the load's torques are Y L at a state: of ten loads, each one unit of one number. scratch: kept (base); Y
 * (n x standard) */
static bool holds_at(const psdm_robot *robot, const psdmp_payload_mount *m, const psdm_model *model, const int *kept,
                     const double *Y) {
  int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
  for (int i = 0; i < n; i++) {
    double sum[10] = {0}, size = 0, own[10];
    for (int j = 0; j < psdm_model_l(model); j++) {
      formula(m, model, j, own);
      for (int k = 0; k < 10; k++) {
        double part = Y[(long)i * S + kept[j]] * own[k];
        sum[k] += part;
        size = fmax(size, fabs(part));
      }
    }
    for (int k = 0; k < 10; k++) {
      double direct = Y[(long)i * S + 10L * m->link + k];
      /* sampled formulas of coupled robots are known to 1e-10 */
      if (!(fabs(sum[k] - direct) <= 1e-6 * fmax(size, fabs(direct)))) return false;
    }
  }
  return true;
}

/* formulas of a model with assumptions, or of another robot, do not give the load's torques: checked at a few states */
static psdm_status check_map(const psdm_robot *robot, const psdmp_payload_mount *m, const psdm_model *model,
                             psdm_error *error) {
  int n = psdm_robot_n(robot), l = psdm_model_l(model);
  psdmp_base_arena arena = {0};
  psdm_work *work = NULL;
  int *kept = psdmp_base_arena_alloc(&arena, ((size_t)l + 1) * sizeof *kept);
  double *state = psdmp_base_arena_alloc(&arena, 3 * (size_t)n * sizeof *state),
         *Y = psdmp_base_arena_alloc(&arena, (size_t)n * (size_t)psdm_robot_parameter_count(robot) * sizeof *Y);
  psdm_status status =
      kept && state && Y && !psdm_work_new(robot, NULL, &work) ? PSDM_OK : psdmp_base_no_memory("", error);
  bool holds = true;
  for (int j = 0; j < l && !status && holds; j++)
    holds = (kept[j] = psdmp_robot_standard_find(robot, psdm_model_base_name(model, j))) >= 0;
  unsigned random = 1;
  for (int round = 0; round < 3 && !status && holds; round++) {
    for (int i = 0; i < 3 * n; i++) { /* Lehmer's generator (Park, Miller 1988) */
      random = (unsigned)((unsigned long long)random * 48271 % 2147483647);
      state[i] = 6.0 * random / 2147483647 - 3;
    }
    status = psdm_regressor_standard(robot, work, state, state + n, state + 2 * n, Y);
    if (status) psdmp_base_fail(error, status, robot->file, 0, 0, "%s", psdm_status_text(status));
    holds = status || holds_at(robot, m, model, kept, Y);
  }
  psdm_work_free(work, NULL);
  psdmp_base_arena_free(&arena);
  if (!status && !holds)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, robot->file, 0, 0,
                             "the model's parameters are not formulas that a load can be added to: the standard basis "
                             "of this robot, without assumptions that the load violates, was expected");
  return status;
}

psdm_status psdm_payload_map(const psdm_robot *robot, const psdm_model *model, int joint, double *L,
                             psdm_error *error) {
  psdmp_payload_mount mount;
  psdm_status status = psdmp_payload_mount_find(robot, joint, &mount, error);
  if (status) return status;
  status = psdm_model_match(model, robot, error);
  if (!status) status = check_map(robot, &mount, model, error);
  if (!status) psdmp_payload_mount_map(&mount, model, L);
  return status;
}

void psdm_payload_update(int base, const double *L, const double pi_L[10], const double *theta_empty, double *theta) {
  for (int j = 0; j < base; j++) {
    double sum = theta_empty[j];
    for (int k = 0; k < 10; k++) sum += L[10L * j + k] * pi_L[k];
    theta[j] = sum;
  }
}

/* ---- on a robot ---- */

psdm_status psdm_payload_attach(psdm_robot *robot, int joint, const double pi_L[10], psdm_error *error) {
  psdmp_payload_mount mount;
  double moved[10];
  psdm_status status = psdmp_payload_mount_find(robot, joint, &mount, error);
  if (status) return status;
  double *pi = psdmp_base_alloc(robot->arena.allocator, ((size_t)psdm_robot_parameter_count(robot) + 1) * sizeof *pi);
  if (!pi) return psdmp_base_no_memory("", error);
  psdm_robot_parameters(robot, pi);
  psdmp_payload_mount_move(&mount, pi_L, moved);
  for (int k = 0; k < 10; k++) {
    pi[10L * mount.link + k] += moved[k];
    if (isnan(pi[10L * mount.link + k]) && !isnan(moved[k])) status = PSDM_E_MISSING;
  }
  const char *link = robot->link[mount.joint].name;
  char name[80];
  if (status)
    psdmp_base_fail(error, status, robot->file, 0, 0, "the inertia of link '%s', which is to carry a load, is unknown",
                    psdmp_base_quote(link, strlen(link), name, sizeof name));
  else psdm_robot_set_parameters(robot, pi);
  psdmp_base_free(robot->arena.allocator, pi);
  return status;
}
