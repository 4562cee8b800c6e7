/* documents.c: a robot, and its joints' positions, as a document. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "psdm/results.h"
#include "psdm/rigid.h"

PSDM_RESULT_TYPE(psdm_couple, PSDM_COUPLE, NULL, "A coupled joint")
PSDM_RESULT_TYPE(psdm_joint_place, PSDM_JOINT_PLACE, NULL, "Where a joint and its link are")
PSDM_RESULT_TYPE(psdm_inspect_joint, PSDM_INSPECT_JOINT, NULL, "A joint of the file")
PSDM_RESULT_TYPE(psdm_inspect_result, PSDM_INSPECT_RESULT, "inspect", "What was understood of a robot file")

/* working data; all memory is the document's */
typedef struct making {
  psdm_inspect_result *r;
  const psdm_robot *robot;
  int n;
  double *G, *c, *pi;   /* coupling (links x n), (links); standard parameters */
  double *q;            /* (n) */
  double *poses, *axes; /* (joints x 12), (joints x 6) */
  bool placed;
} making;

/* 0 where the limits allow it, else their middle */
static void rest_position(const psdm_robot *robot, double *q) {
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    const psdm_limits *l = &joint->limits;
    if (joint->q < 0) continue;
    bool outside = l->lower > 0 || l->upper < 0, bounded = isfinite(l->lower) && isfinite(l->upper);
    q[joint->q] = !outside ? 0 : bounded ? (l->lower + l->upper) / 2 : isfinite(l->lower) ? l->lower : l->upper;
  }
}

static void fill_place(const making *m, const psdm_joint *joint, int j, psdm_joint_place *place) {
  const double *pose = m->poses + 12 * j, *body = joint->link < 0 ? NULL : m->pi + 10 * joint->link;
  place->carried_by = joint->parent + 1;
  memcpy(place->point, m->axes + 6 * j, sizeof place->point);
  memcpy(place->axis, m->axes + 6 * j + 3, sizeof place->axis);
  memcpy(place->link, pose, sizeof place->link);
  if (body) place->mass = body[0];
  if (body && body[0] > 0 && isfinite(body[1] + body[2] + body[3]))
    for (int i = 0; i < 3; i++)
      place->com[i] =
          pose[i] + (pose[3 + 3 * i] * body[1] + pose[4 + 3 * i] * body[2] + pose[5 + 3 * i] * body[3]) / body[0];
}

static void fill_joint(const making *m, int j, psdm_inspect_joint *to) {
  static const char *const types[] = {"revolute", "prismatic", "fixed"};
  const psdm_joint *joint = psdm_robot_joint(m->robot, j);
  psdm_result *head = &m->r->head;
  to->name = psdm_result_text(head, joint->name);
  to->type = types[joint->type];
  to->parent = psdm_result_text(head, joint->parent < 0 ? "base" : psdm_robot_joint(m->robot, joint->parent)->name);
  to->link = psdm_result_text(head, psdm_robot_link_name(m->robot, j));
  to->q = joint->q + 1;
  to->passive = joint->passive;
  to->limits = joint->limits;
  to->gear = joint->gear, to->torque_constant = joint->torque_constant;
  to->stiffness = joint->stiffness, to->damping = joint->damping;
  if (joint->link >= 0 && joint->q < 0 && !joint->passive) {
    psdm_couple *couple = psdm_result_items(head, &psdm_couple_type, 1);
    if ((to->couple = couple)) {
      PSDM_RESULT_SET(couple->factors, psdm_result_numbers(head, m->G + joint->link * m->n, m->n), m->n);
      couple->offset = m->c[joint->link];
    }
  }
  if (joint->friction.given) {
    psdm_friction *friction = psdm_result_memory(head, 1, sizeof *friction);
    if ((to->friction = friction)) *friction = joint->friction;
  }
  if (!m->placed) return;
  psdm_joint_place *place = psdm_result_items(head, &psdm_joint_place_type, 1);
  if ((to->at = place)) fill_place(m, joint, j, place);
}

static const psdm_word *copies(psdm_result *head, const psdm_robot *robot, int count,
                               const char *(*text)(const psdm_robot *, int)) {
  psdm_word *copy = psdm_result_memory(head, count, sizeof *copy);
  for (int i = 0; copy && i < count; i++) copy[i] = psdm_result_text(head, text(robot, i));
  return copy;
}

static const psdm_word *assumptions(psdm_result *head, const psdm_robot *robot, int count) {
  char text[320];
  psdm_word *copy = psdm_result_memory(head, count, sizeof *copy);
  for (int i = 0; copy && i < count; i++)
    copy[i] = psdm_result_text(head, psdm_robot_assumption(robot, i, text, sizeof text));
  return copy;
}

static void fill(making *m) {
  psdm_inspect_result *r = m->r;
  psdm_result *head = &r->head;
  const psdm_robot *robot = m->robot;
  char name[64];
  int joints = psdm_robot_joints(robot), parameters = psdm_robot_parameter_count(robot);
  psdm_inspect_joint *joint = psdm_result_items(head, &psdm_inspect_joint_type, joints);
  psdm_named_number *parameter = psdm_result_memory(head, parameters, sizeof *parameter);
  psdm_result_name_robot(head, robot, &r->name, &r->fingerprint);
  r->n = m->n;
  memcpy(r->gravity, psdm_robot_gravity(robot), sizeof r->gravity);
  PSDM_RESULT_SET(r->at, m->q, m->n);
  for (int j = 0; joint && j < joints; j++) fill_joint(m, j, &joint[j]);
  PSDM_RESULT_SET(r->joints, joint, joints);
  r->ready = psdm_robot_ready(robot, NULL) == PSDM_OK;
  r->unknown_links = psdm_robot_unknown_links(robot);
  for (int k = 0; parameter && k < parameters; k++) {
    psdm_robot_parameter_name(robot, k, name, sizeof name);
    parameter[k] = (psdm_named_number){psdm_result_text(head, name), m->pi[k]};
  }
  PSDM_RESULT_SET(r->parameters, parameter, parameters);
  int assumed = psdm_robot_assumptions(robot), notes = psdm_robot_notes(robot), warnings = psdm_robot_warnings(robot);
  PSDM_RESULT_SET(r->assume, assumptions(head, robot, assumed), assumed);
  PSDM_RESULT_SET(r->notes, copies(head, robot, notes, psdm_robot_note), notes);
  PSDM_RESULT_SET(r->warnings, copies(head, robot, warnings, psdm_robot_warning), warnings);
}

/* false: no memory */
static bool prepare(making *m, const double *at, const psdm_allocator *allocator) {
  psdm_result *head = &m->r->head;
  long n = m->n, joints = psdm_robot_joints(m->robot), links = psdm_robot_links(m->robot);
  long parameters = psdm_robot_parameter_count(m->robot);
  psdm_work *work;
  double *memory = psdm_result_memory(head, n + (n + 1) * links + parameters + 18 * joints, sizeof *memory);
  if (!memory || psdm_work_new(m->robot, allocator, &work)) return false;
  m->q = memory, m->G = m->q + n, m->c = m->G + n * links, m->pi = m->c + links;
  m->poses = m->pi + parameters, m->axes = m->poses + 12 * joints;
  psdm_robot_coupling(m->robot, m->G, m->c);
  psdm_robot_parameters(m->robot, m->pi);
  if (at) memcpy(m->q, at, (size_t)n * sizeof *at);
  else rest_position(m->robot, m->q);
  m->placed = !psdm_poses(m->robot, work, m->q, m->poses) && !psdm_axes(m->robot, work, m->q, m->axes);
  psdm_work_free(work, allocator);
  return true;
}

psdm_status psdm_inspect_result_new(const psdm_robot *robot, const double *at, const psdm_allocator *allocator,
                                    psdm_inspect_result **made, psdm_error *error) {
  psdm_result *head;
  *made = NULL;
  psdm_status status = psdm_result_new(&psdm_inspect_result_type, allocator, &head, error);
  if (status) return status;
  making m = {.r = (psdm_inspect_result *)head, .robot = robot, .n = psdm_robot_n(robot)};
  if (!prepare(&m, at, allocator)) {
    psdm_result_free(head);
    return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  }
  fill(&m);
  status = psdm_result_complete(head, error);
  if (!status) *made = m.r;
  return status;
}
