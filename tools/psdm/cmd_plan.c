/* cmd_plan.c: psdm plan: fastest and least strenuous motions, and time scaling. */
#include "cmd_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_STRUCT plan_settings
static const psdm_setting settings[] = {PLAN_SETTINGS(PSDM_SETTINGS_ROW){0}};

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

const command_line plan_line = {"plan", settings, positional, help};

/* ---- option values ---- */

static int check_words(plan_job *j) {
  static const char *const kinds[] = {"time", "energy", "scale"};
  int what = 0;
  while (what < 3 && strcmp(j->words[1], kinds[what])) what++;
  if (what == 3) {
    const char *near = tool_nearest(j->words[1], kinds, 3);
    return tool_usage("plan", "'%s' is not one of time, energy, scale%s%s%s", tool_safe(j->words[1]),
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  j->what = what;
  if (!psdm_friction_find(j->set.friction, &j->friction) || j->friction == PSDM_FRICTION_LUGRE)
    return tool_usage("plan", "--friction '%s': none, viscous, coulomb, stribeck or power was expected",
                      tool_safe(j->set.friction));
  if (j->what == PLAN_SCALE && !j->set.trajectory) return tool_usage("plan", "scale needs --trajectory FILE.csv");
  if (j->what == PLAN_ENERGY && j->set.trajectory) return tool_usage("plan", "--trajectory needs time or scale");
  if (j->set.trajectory && (j->set.to || j->set.from))
    return tool_usage("plan", "give either --from and --to, or --trajectory");
  if (!j->set.trajectory && !j->set.to) return tool_usage("plan", "missing --to Q,... or --trajectory FILE.csv");
  if (j->what != PLAN_SCALE && j->set.factor != 0) return tool_usage("plan", "--factor needs scale");
  if (j->what == PLAN_SCALE && !(j->set.factor >= 0 && isfinite(j->set.factor)))
    return tool_usage("plan", "--factor %g: a positive number was expected", j->set.factor);
  return -1;
}

/* 0 for the default, or a whole number of at least 2 */
static bool counts(double x, double most) { return x == 0 || (x >= 2 && x <= most && x == floor(x)); }

static int check_numbers(const plan_settings *s) {
  const struct {
    const char *name;
    double value;
  } rows[] = {{"duration", s->duration}, {"tolerance", s->tolerance}, {"wall", s->wall}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(rows[k].value >= 0) || !isfinite(rows[k].value))
      return tool_usage("plan", "--%s must not be negative", rows[k].name);
  if (!(s->output > 0) || !isfinite(s->output))
    return tool_usage("plan", "--output %g: a positive number was expected", s->output);
  if (s->blend != -1 && !(s->blend >= 0 && s->blend <= 1))
    return tool_usage("plan", "--blend %g: 0 to 1 was expected", s->blend);
  if (!counts(s->nodes, 10000))
    return tool_usage("plan", "--nodes %g: a whole number from 2 to 10000 was expected", s->nodes);
  if (!counts(s->points, 1e7))
    return tool_usage("plan", "--points %g: a whole number from 2 to 10000000 was expected", s->points);
  if (s->json && s->out && strcmp(s->out, "-") == 0)
    return tool_usage("plan", "--json and --out - cannot both use standard output");
  return -1;
}

static void limits_of_file(plan_job *j) {
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, k);
    if (joint->q < 0) continue;
    const double of[LIMITS] = {joint->limits.lower, joint->limits.upper, joint->limits.velocity,
                               joint->limits.acceleration, joint->limits.effort};
    for (int l = 0; l < LIMITS; l++) j->limit[l][joint->q] = of[l];
  }
}

static int read_numbers(plan_job *j) {
  const struct {
    const char *name, *text;
    double *to;
  } list[] = {{"lower", j->set.lower, j->limit[LIMIT_LOWER]},
              {"upper", j->set.upper, j->limit[LIMIT_UPPER]},
              {"velocity", j->set.velocity, j->limit[LIMIT_VELOCITY]},
              {"acceleration", j->set.acceleration, j->limit[LIMIT_ACCELERATION]},
              {"effort", j->set.effort, j->limit[LIMIT_EFFORT]},
              {"from", j->set.from, j->from},
              {"to", j->set.to, j->to}};
  int code = -1;
  for (size_t k = 0; k < sizeof list / sizeof *list && code < 0; k++)
    if (list[k].text) code = tool_numbers("plan", list[k].name, list[k].text, j->n, list[k].to);
  for (int i = 0; i < j->n && code < 0; i++)
    for (int l = LIMIT_VELOCITY; l < LIMITS && code < 0; l++)
      if (!(j->limit[l][i] > 0))
        code = tool_usage("plan",
                          "joint '%s': limits of velocity, acceleration and torque are positive numbers; %g was found",
                          tool_safe(plan_joint(j, i)->name), j->limit[l][i]);
  return code;
}

/* the columns that --out writes: tau is not an unknown column of a trajectory */
static bool own_columns(const plan_job *j) {
  static const char *const groups[] = {"q", "qd", "qdd", "tau"};
  psdm_csv *csv;
  if (strcmp(j->set.trajectory, "-") == 0 || psdm_csv_open(j->set.trajectory, NULL, &csv, NULL)) return false;
  int own = psdm_csv_find(csv, "t") >= 0;
  for (int k = 0; k < 4 * j->n; k++) {
    char name[32];
    snprintf(name, sizeof name, "%s%d", groups[k % 4], k / 4 + 1);
    own += psdm_csv_find(csv, name) >= 0;
  }
  bool all = own == psdm_csv_columns(csv);
  psdm_csv_close(csv);
  return all;
}

static int load_trajectory(plan_job *j) {
  psdm_error error;
  if (!j->set.trajectory) return -1;
  tool_input(j->set.trajectory);
  int code = tool_table_fits(j->robot, j->set.trajectory, 3 * j->n);
  if (code >= 0) return code;
  return psdm_motion_load(j->set.trajectory, j->n, j->set.ignore_extra || own_columns(j), NULL, &j->path, &error)
             ? tool_fail(&error)
             : -1;
}

static int prepare(plan_job *j) {
  psdm_error error;
  j->n = psdm_robot_n(j->robot);
  size_t n = (size_t)j->n;
  if (!(j->memory = calloc((LIMITS + 9) * n + 1, sizeof *j->memory)) || psdm_work_new(j->robot, NULL, &j->work))
    return tool_no_memory("plan");
  double *at = j->memory;
  for (int l = 0; l < LIMITS; l++) j->limit[l] = at, at += n;
  for (int p = 0; p < 3; p++) j->peak[p] = at, at += n;
  j->from = at, at += n;
  j->to = at, at += n;
  j->state = at, at += 3 * n;
  j->tau = at;
  limits_of_file(j);
  int code = read_numbers(j);
  if (code >= 0) return code;
  if (psdm_robot_ready(j->robot, &error)) return tool_fail(&error);
  return load_trajectory(j);
}

static int report(plan_job *j) {
  bool standard = j->set.out && strcmp(j->set.out, "-") == 0;
  int code = j->set.json ? plan_json(j) : EXIT_OK;
  if (!j->set.json && !tool_quiet() && !standard) plan_print(j);
  if (code != EXIT_OK) return code;
  bool found = !j->optimal || (j->optimal->converged && !j->optimal->stopped);
  if (!found && !tool_interrupted()) tool_warn("the motion may not be optimal: %s", j->optimal->words);
  if (j->used > 1.01) tool_warn("a limit is exceeded: the motion reaches %.1f %% of it", 100 * j->used);
  return found && j->used <= 1.01 ? EXIT_OK : EXIT_QUALITY;
}

static void release(plan_job *j) {
  psdm_optimal_free(j->optimal);
  psdm_path_plan_free(j->plan);
  psdm_motion_free(j->path);
  psdm_work_free(j->work, NULL);
  psdm_robot_free(j->robot);
  free(j->memory);
}

int cmd_plan(int argc, char **argv) {
  plan_job j = {.used = 0};
  int code = settings_parse(&plan_line, argc, argv, &j.set, j.words);
  if (code < 0) code = check_words(&j);
  if (code < 0) code = check_numbers(&j.set);
  if (code < 0) code = tool_load("plan", j.words[0], PSDM_ROBOT_SETTINGS_OF(&j.set), &j.robot);
  if (code < 0) code = prepare(&j);
  if (code < 0 && !j.path) tool_listen(); /* the other two take only a moment and are not interruptible */
  if (code < 0) code = j.what == PLAN_SCALE ? plan_scale(&j) : j.path ? plan_path(&j) : plan_optimal(&j);
  if (code < 0) code = plan_rows(&j);
  if (code < 0) code = report(&j);
  release(&j);
  return code;
}
