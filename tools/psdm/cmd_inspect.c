/* cmd_inspect.c: psdm inspect: the robot as read from its file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define INSPECT_SETTINGS(X)                                                                                            \
  X(flag, parameters, "", "", "list the standard parameters with their values")                                        \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(text, at, "", "Q1,Q2,...",                                                                                         \
    "JSON: positions and axes of the joints at this position; one number for all (rad, m); default: 0, or the middle " \
    "of limits that exclude 0")                                                                                        \
  ROBOT_SETTINGS(X)

typedef struct inspect_settings {
  INSPECT_SETTINGS(SETTINGS_FIELD)
} inspect_settings;

#define SETTINGS_STRUCT inspect_settings
static const setting settings[] = {INSPECT_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Shows a robot as read from its file: joints, links, couplings, what is unknown, which angles were\n"
    "snapped, which inertias are implausible.\n"
    "\n"
    "examples:\n"
    "  psdm inspect robots/kuka_kr6.yaml\n"
    "  psdm inspect robots/puma560.yaml --parameters\n"
    "  psdm inspect robots/parallelogram.yaml --json\n"
    "  psdm inspect robots/kuka_kr6.yaml --json --at 0,-1.57,1.57,0,0.5,0 > kr6.json\n";

const command_line inspect_line = {"inspect", settings, sizeof settings / sizeof *settings, positional, help};

static const char *const type_names[] = {"revolute", "prismatic", "fixed"};

static const char *number(double value, char out[32]) {
  return isnan(value) ? strcpy(out, "?") : psdm_number_text(value, out);
}

/* "q1 - q2 + 3.14": the motion of a joint in terms of the independent joints */
static void describe_motion(const psdm_robot *robot, const psdm_joint *joint, const double *G, const double *c,
                            char *out, size_t size) {
  int n = psdm_robot_n(robot);
  char text[32];
  out[0] = '\0';
  if (joint->type == PSDM_FIXED || joint->passive || isnan(G[joint->link * n])) {
    snprintf(out, size, joint->type == PSDM_FIXED ? "-" : "closed loop");
    return;
  }
  for (int k = 0; k < n; k++) {
    double g = G[joint->link * n + k];
    size_t used = strlen(out);
    if (g == 0) continue;
    const char *sign = g < 0 ? (used ? " - " : "-") : used ? " + " : "";
    if (fabs(g) == 1) snprintf(out + used, size - used, "%sq%d", sign, k + 1);
    else snprintf(out + used, size - used, "%s%s q%d", sign, number(fabs(g), text), k + 1);
  }
  size_t used = strlen(out);
  if (c[joint->link] != 0 || !used)
    snprintf(out + used, size - used, "%s%.6g",
             used && c[joint->link] >= 0 ? " + "
             : used                      ? " - "
                                         : "",
             used ? fabs(c[joint->link]) : c[joint->link]);
}

static void print_joints(const psdm_robot *robot, const double *G, const double *c, const double *pi) {
  printf("  %-3s %-16s %-10s %-16s %-16s %-16s %8s  %s\n", "#", "joint", "type", "moves as", "parent", "link",
         "mass kg", "drive inertia");
  int inertial = 10 * psdm_robot_links(robot);
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    char motion[64], mass[32], drive[32] = "-";
    describe_motion(robot, joint, G, c, motion, sizeof motion);
    if (joint->drive >= 0) number(pi[inertial + joint->drive], drive);
    printf("  %-3d %-16s %-10s %-16s %-16s %-16s %8s  %s\n", j + 1, tool_safe(joint->name), type_names[joint->type],
           motion, joint->parent < 0 ? "base" : tool_safe(psdm_robot_joint(robot, joint->parent)->name),
           tool_safe(psdm_robot_link_name(robot, j)), joint->link < 0 ? "-" : number(pi[10 * joint->link], mass),
           drive);
  }
}

static void print_limits(const psdm_robot *robot) {
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    const psdm_limits *l = &joint->limits;
    if (isfinite(l->lower) || isfinite(l->upper) || isfinite(l->velocity) || isfinite(l->acceleration) ||
        isfinite(l->effort))
      printf("  limits of %s: %g .. %g, velocity %g, acceleration %g, effort %g\n", tool_safe(joint->name), l->lower,
             l->upper, l->velocity, l->acceleration, l->effort);
  }
}

static void print_parameters(const psdm_robot *robot, const double *pi) {
  char name[32], value[32];
  printf("\nstandard parameters (about each link frame's origin):\n");
  int count = psdm_robot_parameter_count(robot), inertial = 10 * psdm_robot_links(robot);
  for (int k = 0; k < count; k++) {
    bool first = k < inertial ? k % 10 == 0 : k == inertial;
    printf("%s%s %s", first ? "\n  " : "  ", psdm_robot_parameter_name(robot, k, name, sizeof name),
           number(pi[k], value));
  }
  printf("\n");
}

static void print_unknown(const psdm_robot *robot, const psdm_error *missing) {
  int unknown = psdm_robot_unknown_links(robot);
  if (unknown)
    printf("; not all are known: inertia of %d of %d moving links is missing: %s\n", unknown, psdm_robot_links(robot),
           missing->text);
  else printf("; not all are known: %s\n", missing->text);
}

static void print_text(const psdm_robot *robot, const double *G, const double *c, const double *pi, bool parameters) {
  const double *g = psdm_robot_gravity(robot);
  double mass = 0;
  char text[64];
  psdm_error missing;
  for (int k = 0; k < psdm_robot_links(robot); k++) mass += pi[10 * k];
  printf("%s: %d degrees of freedom, %d joints, %d moving links, ", tool_safe(psdm_robot_name(robot)),
         psdm_robot_n(robot), psdm_robot_joints(robot), psdm_robot_links(robot));
  if (isnan(mass)) printf("mass unknown, ");
  else printf("%.6g kg, ", mass);
  printf("gravity [%g, %g, %g] m/s^2\n\n", g[0], g[1], g[2]);
  print_joints(robot, G, c, pi);
  print_limits(robot);
  for (int i = 0; i < psdm_robot_assumptions(robot); i++)
    printf("%s%s%s", i ? ", " : "  assumed: ", psdm_robot_assumption(robot, i, text, sizeof text),
           i + 1 == psdm_robot_assumptions(robot) ? "\n" : "");
  printf("\n%d standard parameters", psdm_robot_parameter_count(robot));
  if (psdm_robot_ready(robot, &missing)) print_unknown(robot, &missing);
  else printf(", all known\n");
  if (parameters) print_parameters(robot, pi);
}

/* the robot's pose, for a picture of it */
typedef struct placing {
  double *q, *poses, *axes; /* (n), (joints x 12), (joints x 6) */
  bool known;               /* a closed loop may not close here */
} placing;

/* 0 if the limits allow it, else their middle */
static void rest_position(const psdm_robot *robot, double *q) {
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (joint->q < 0) continue;
    bool outside = joint->limits.lower > 0 || joint->limits.upper < 0,
         bounded = isfinite(joint->limits.lower) && isfinite(joint->limits.upper);
    q[joint->q] = !outside                        ? 0
                  : bounded                       ? (joint->limits.lower + joint->limits.upper) / 2
                  : isfinite(joint->limits.lower) ? joint->limits.lower
                                                  : joint->limits.upper;
  }
}

static int place_robot(const psdm_robot *robot, const char *at, placing *p) {
  size_t joints = (size_t)psdm_robot_joints(robot), n = (size_t)psdm_robot_n(robot);
  psdm_work *work = NULL;
  *p = (placing){.q = calloc(n + 1, sizeof *p->q),
                 .poses = calloc(joints * 12 + 1, sizeof *p->poses),
                 .axes = calloc(joints * 6 + 1, sizeof *p->axes)};
  if (!p->q || !p->poses || !p->axes || psdm_work_new(robot, NULL, &work)) return tool_no_memory("inspect");
  rest_position(robot, p->q);
  int code = at ? tool_numbers("inspect", "at", at, (int)n, p->q) : -1;
  if (code < 0) p->known = !psdm_poses(robot, work, p->q, p->poses) && !psdm_axes(robot, work, p->q, p->axes);
  psdm_work_free(work, NULL);
  if (code < 0 && at && !p->known) tool_warn("a closed loop cannot be closed at this position");
  return code;
}

static void unplace(placing *p) {
  free(p->q);
  free(p->poses);
  free(p->axes);
}

/* the joint that carries it, counted from 1 (0: the base), a point on the axis, its direction, origin of the link after
 * it, and that link's mass and centre of mass, all in the base frame */
static void json_place(psdm_output *out, const placing *p, const psdm_joint *joint, int j, const double *pi) {
  const double *pose = p->poses + 12 * j, *body = joint->link < 0 ? NULL : pi + 10 * joint->link;
  if (!p->known) return;
  psdm_json_object(out, "at");
  psdm_json_integer(out, "carried_by", joint->parent + 1);
  psdm_json_numbers(out, "point", p->axes + 6 * j, 3);
  psdm_json_numbers(out, "axis", p->axes + 6 * j + 3, 3);
  psdm_json_numbers(out, "link", pose, 3);
  if (body && isfinite(body[0])) psdm_json_number(out, "mass", body[0]);
  if (body && body[0] > 0 && isfinite(body[1] + body[2] + body[3])) {
    double com[3];
    for (int i = 0; i < 3; i++)
      com[i] = pose[i] + (pose[3 + 3 * i] * body[1] + pose[4 + 3 * i] * body[2] + pose[5 + 3 * i] * body[3]) / body[0];
    psdm_json_numbers(out, "com", com, 3);
  }
  psdm_json_close(out);
}

static void json_joint(psdm_output *out, const psdm_robot *robot, int j, const double *G, const double *c,
                       const double *pi, const placing *place) {
  const psdm_joint *joint = psdm_robot_joint(robot, j);
  int n = psdm_robot_n(robot);
  psdm_json_object(out, NULL);
  psdm_json_string(out, "name", joint->name);
  psdm_json_string(out, "type", type_names[joint->type]);
  psdm_json_string(out, "parent", joint->parent < 0 ? "base" : psdm_robot_joint(robot, joint->parent)->name);
  psdm_json_string(out, "link", psdm_robot_link_name(robot, j));
  if (joint->q >= 0) psdm_json_integer(out, "q", joint->q + 1);
  if (joint->passive) psdm_json_bool(out, "passive", true);
  if (joint->link >= 0 && joint->q < 0 && !joint->passive) {
    psdm_json_object(out, "couple");
    psdm_json_numbers(out, "factors", G + joint->link * n, n);
    psdm_json_number(out, "offset", c[joint->link]);
    psdm_json_close(out);
  }
  psdm_json_object(out, "limits");
  psdm_json_number(out, "lower", joint->limits.lower);
  psdm_json_number(out, "upper", joint->limits.upper);
  psdm_json_number(out, "velocity", joint->limits.velocity);
  psdm_json_number(out, "acceleration", joint->limits.acceleration);
  psdm_json_number(out, "effort", joint->limits.effort);
  psdm_json_close(out);
  psdm_json_number(out, "gear", joint->gear);
  psdm_json_number(out, "torque_constant", joint->torque_constant);
  psdm_json_number(out, "stiffness", joint->stiffness);
  psdm_json_number(out, "damping", joint->damping);
  if (joint->friction.given) {
    psdm_json_object(out, "friction");
    psdm_json_number(out, "coulomb", joint->friction.coulomb);
    psdm_json_number(out, "static", joint->friction.stat);
    psdm_json_number(out, "stribeck", joint->friction.stribeck);
    psdm_json_number(out, "viscous", joint->friction.viscous);
    psdm_json_number(out, "exponent", joint->friction.exponent);
    psdm_json_number(out, "sigma0", joint->friction.sigma0);
    psdm_json_number(out, "sigma1", joint->friction.sigma1);
    psdm_json_number(out, "offset", joint->friction.offset);
    psdm_json_close(out);
  }
  json_place(out, place, joint, j, pi);
  psdm_json_close(out);
}

static void json_texts(psdm_output *out, const char *key, const psdm_robot *robot, int count,
                       const char *(*text)(const psdm_robot *, int)) {
  psdm_json_array(out, key);
  for (int i = 0; i < count; i++) psdm_json_string(out, NULL, text(robot, i));
  psdm_json_close(out);
}

static int print_json(const psdm_robot *robot, const double *G, const double *c, const double *pi,
                      const placing *place) {
  psdm_output *out;
  char name[64];
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "inspect");
  tool_json_robot(out, "name", robot);
  psdm_json_integer(out, "n", psdm_robot_n(robot));
  psdm_json_numbers(out, "gravity", psdm_robot_gravity(robot), 3);
  psdm_json_numbers(out, "at", place->q, psdm_robot_n(robot));
  psdm_json_array(out, "joints");
  for (int j = 0; j < psdm_robot_joints(robot); j++) json_joint(out, robot, j, G, c, pi, place);
  psdm_json_close(out);
  psdm_json_bool(out, "ready", psdm_robot_ready(robot, NULL) == PSDM_OK);
  psdm_json_integer(out, "unknown_links", psdm_robot_unknown_links(robot));
  psdm_json_object(out, "parameters");
  for (int k = 0; k < psdm_robot_parameter_count(robot); k++)
    psdm_json_number(out, psdm_robot_parameter_name(robot, k, name, sizeof name), pi[k]);
  psdm_json_close(out);
  psdm_json_array(out, "assume");
  for (int i = 0; i < psdm_robot_assumptions(robot); i++)
    psdm_json_string(out, NULL, psdm_robot_assumption(robot, i, name, sizeof name));
  psdm_json_close(out);
  json_texts(out, "notes", robot, psdm_robot_notes(robot), psdm_robot_note);
  json_texts(out, "warnings", robot, psdm_robot_warnings(robot), psdm_robot_warning);
  psdm_json_close(out);
  return tool_commit(&out);
}

int cmd_inspect(int argc, char **argv) {
  inspect_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  int code = settings_parse(&inspect_line, argc, argv, &set, &path);
  if (code < 0) code = tool_load("inspect", path, ROBOT_SETTINGS_OF(&set), &robot);
  if (code >= 0) return code;
  size_t n = (size_t)psdm_robot_n(robot), links = (size_t)psdm_robot_links(robot);
  double *G = calloc(links * n, sizeof *G), *c = calloc(links, sizeof *c),
         *pi = calloc((size_t)psdm_robot_parameter_count(robot), sizeof *pi);
  if (G && c && pi) {
    psdm_robot_coupling(robot, G, c);
    psdm_robot_parameters(robot, pi);
    placing place;
    code = place_robot(robot, set.at, &place);
    if (code < 0 && set.json) code = print_json(robot, G, c, pi, &place);
    if (code < 0) code = EXIT_OK, print_text(robot, G, c, pi, set.parameters);
    unplace(&place);
  } else {
    code = tool_no_memory("inspect");
  }
  free(G);
  free(c);
  free(pi);
  psdm_robot_free(robot);
  return code;
}
