/* cmd_plan.c: psdm plan: its command line; how long the motion takes, and how near it comes to the limits. */
#include <math.h>
#include <string.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", "time|energy|scale", NULL};

static const char help[] =
    "Motions under velocity, acceleration, torque and position limits.\n"
    "\n"
    "  time --from Q --to Q      the fastest motion from rest to rest\n"
    "  time --trajectory FILE    the fastest traversal of a given path: some limit is active at every moment\n"
    "  energy --from Q --to Q    the least integral of squared torques\n"
    "  scale --trajectory FILE   a trajectory stretched in time by K: the smallest K that respects all limits, from "
    "stored torques\n"
    "\n"
    "Limits come from the robot file or the options. Every result is checked on a fine grid by inverse dynamics. Exit "
    "1 when no motion was found or a limit\n"
    "is exceeded by more than 1 %; 130 after an interrupt (Ctrl-C): the motion so far is written if it respects the "
    "limits.\n"
    "\n"
    "examples:\n"
    "  psdm plan arm.yaml time --from 0 --to 1,0.5,-0.3 --out quick.csv\n"
    "  psdm plan arm.yaml energy --from 0 --to 1,0.5,-0.3 --duration 1.5 --json\n"
    "  psdm plan arm.yaml time --trajectory path.csv --effort 50,30,10 --out quick.csv\n"
    "  psdm plan arm.yaml scale --trajectory too_fast.csv --out slower.csv\n";

const command_line plan_line = {"plan", NULL, positional, help};

static void print_scale(const psdm_job *job, const psdm_plan_result *r) {
  bool given = *(const psdm_setting_number *)psdm_job_value(job, "factor") > 0;
  printf("%s: the trajectory scaled by %.6g, %.6g s\n", tool_safe(r->name), r->factor, r->seconds);
  if (strcmp(r->limited_by, psdm_scale_name(PSDM_SCALE_NOTHING)) != 0)
    printf("  %s the %s of joint '%s' is at its limit\n", given ? "with the smallest factor" : "at which",
           r->limited_by, tool_safe(r->joints.item[r->limited_joint - 1].name));
  printf("  scaled torques against recomputed ones: %.1e\n", r->recomputed);
}

static void print_path(const psdm_path_plan *plan, const psdm_plan_result *r) {
  long met = 0;
  for (long k = 0; k < plan->points; k++) met += plan->usage[k] > 0.99;
  printf("%s: fastest traversal of the path, %.6g s; a limit is active at %.1f %% of %ld points\n", tool_safe(r->name),
         r->seconds, 100 * (double)met / (double)plan->points, plan->points);
}

static void print_optimal(const psdm_plan_result *r) {
  printf("%s: %s, %.6g s, integral of squared torques %.6g\n", tool_safe(r->name),
         strcmp(r->what, "time") == 0 ? "fastest motion" : "least strenuous motion", r->seconds, r->energy);
  printf("  %s; %ld iterations, %.2f s; the initial guess took %.6g s and %.6g\n", r->solver, r->iterations, r->wall,
         r->guess_seconds, r->guess_energy);
}

static void print_joints(const psdm_plan_result *r) {
  const double *const peak[3] = {r->peak_velocity.item, r->peak_acceleration.item, r->peak_torque.item};
  printf("\n  %-16s %11s %11s %11s %11s %11s %11s\n", "joint", "peak |qd|", "limit", "peak |qdd|", "limit",
         "peak |tau|", "limit");
  for (int i = 0; i < r->n; i++) {
    const psdm_limits *limits = &r->joints.item[i].limits;
    const double limit[3] = {limits->velocity, limits->acceleration, limits->effort};
    printf("  %-16.16s", tool_safe(r->joints.item[i].name));
    for (int p = 0; p < 3; p++) {
      printf(" %11.5g", peak[p][i]);
      if (isfinite(limit[p])) printf(" %11.5g", limit[p]);
      else printf(" %11s", "-");
    }
    printf("\n");
  }
}

static int print(const psdm_job *job) {
  const psdm_plan_result *r = (const psdm_plan_result *)psdm_job_result(job);
  const char *out = tool_job_text(job, "out");
  if (tool_quiet()) return EXIT_OK;
  if (r->limited_by) print_scale(job, r);
  else if (r->path) print_path(psdm_job_path_plan(job), r);
  else print_optimal(r);
  print_joints(r);
  printf("  at most %.2f %% of a limit, on %ld points\n", 100 * r->limit_used, 10 * (r->rows - 1) + 1);
  if (out) printf("  %ld rows in %s\n", r->rows, tool_safe(out));
  return EXIT_OK;
}

int cmd_plan(int argc, char **argv) {
  static const char *const files[] = {"out", NULL};
  return tool_job_command(&plan_line, argc, argv, files, print);
}
