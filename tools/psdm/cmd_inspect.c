/* cmd_inspect.c: psdm inspect: the robot as read from its file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

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

const command_line inspect_line = {"inspect", NULL, positional, help};

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
           settings_named(missing->text));
  else printf("; not all are known: %s\n", settings_named(missing->text));
}

static void print_text(const psdm_robot *robot, const double *G, const double *c, const double *pi, bool parameters) {
  const double *g = psdm_robot_gravity(robot);
  double mass = 0;
  char text[320];
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

static int print(const psdm_job *job) {
  const psdm_robot *robot = psdm_job_robot_used(job);
  size_t n = (size_t)psdm_robot_n(robot), links = (size_t)psdm_robot_links(robot);
  double *G = calloc(links * n, sizeof *G), *c = calloc(links, sizeof *c),
         *pi = calloc((size_t)psdm_robot_parameter_count(robot), sizeof *pi);
  int code = G && c && pi ? EXIT_OK : tool_no_memory("inspect");
  if (code == EXIT_OK) {
    psdm_robot_coupling(robot, G, c);
    psdm_robot_parameters(robot, pi);
    print_text(robot, G, c, pi, tool_job_flag(job, "parameters"));
  }
  free(G);
  free(c);
  free(pi);
  return code;
}

int cmd_inspect(int argc, char **argv) { return tool_job_command(&inspect_line, argc, argv, NULL, print); }
