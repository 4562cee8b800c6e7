/* cmd_analyze.c: psdm analyze: structure, bounds and samples of a robot's dynamics for all positions at once. */
#include "cmd_analyze.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define SETTINGS_STRUCT analyze_settings
static const psdm_setting settings[] = {ANALYZE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Analyzes a robot's dynamics M qdd + c + g = tau over all positions at once, from its exact coefficients:\n"
    "  structure   non-zero entries of M, c and g and what they depend on; conditions for M to be constant or diagonal "
    "and for gravity to be\n"
    "              balanced; springs that balance it\n"
    "  bounds      k0 <= ||M|| <= k1, ||S|| <= k4 |qd|, |g| <= k6 (and growth with sliding joints that have no "
    "limits), proved over all\n"
    "              positions within the limits, beside the largest values found; --samples N also shows the "
    "distribution of the values and\n"
    "              tests the bounds: exit 1 if one of them fails\n"
    "  --path      manipulability and ellipsoids of velocity, acceleration and apparent mass along positions\n"
    "\n"
    "examples:\n"
    "  psdm analyze robots/parallelogram.yaml\n"
    "  psdm analyze robots/two_link.yaml --any --no-bounds\n"
    "  psdm analyze robots/two_link.yaml --limits 1=-1:1,2=0:2 --json\n"
    "  psdm analyze robots/kuka_kr6.yaml --samples 100000000 --device cuda\n"
    "  psdm analyze robots/kuka_kr6.yaml --no-bounds --path motion.csv --out ellipsoids.csv --plots figures\n";

const command_line analyze_line = {"analyze", settings, positional, help};

const char *const analyze_wishes[PSDM_WISHES] = {"M is constant if", "M is diagonal if", "gravity vanishes if",
                                                 "springs and counterweights"};
static void analysis_free(analysis *a) {
  psdm_bounds_free(a->bounds);
  psdm_structure_free(a->structure);
  psdm_model_free(a->model);
  psdm_work_free(a->work, NULL);
  psdm_robot_free(a->robot);
  free(a->lower);
  free(a->path.t);
  free(a->path.q);
  free(a->path.row);
}

static int check_settings(const analyze_settings *s) {
  if (!(s->points >= 1 && s->points <= 1e12) || s->points != floor(s->points))
    return tool_usage("analyze", "--points must be a whole number");
  if (!(s->samples >= 0 && s->samples <= 4e9) || s->samples != floor(s->samples))
    return tool_usage("analyze", "--samples must be a whole number from 0 to 4e9");
  if (s->samples == 0 && strcmp(s->device, "cuda") == 0) return tool_usage("analyze", "--device needs --samples N");
  if (s->samples > 0 && s->no_bounds)
    return tool_usage("analyze", "--samples needs bounds and cannot be used with --no-bounds");
  if (!(s->seed >= 0 && s->seed <= 9e15) || s->seed != floor(s->seed))
    return tool_usage("analyze", "--seed must be a whole number");
  if ((s->out || s->link) && !s->path) return tool_usage("analyze", "--%s needs --path", s->out ? "out" : "link");
  if (s->out && strcmp(s->out, "-") == 0 && s->json)
    return tool_usage("analyze", "--json and --out - cannot both use standard output");
  return -1;
}

/* ---- ranges ---- */

static int joint_named(const analysis *a, const char *name) {
  double number;
  if (tool_parse_number(name, &number))
    return number == floor(number) && number >= 1 && number <= a->n ? (int)number - 1 : -1;
  for (int k = 0; k < psdm_robot_joints(a->robot); k++)
    if (strcmp(psdm_robot_joint(a->robot, k)->name, name) == 0) return psdm_robot_joint(a->robot, k)->q;
  return -1;
}

/* "2=-1:1", modified here */
static int take_limit(analysis *a, char *text) {
  char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  double lower, upper;
  int joint = -1;
  if (colon) {
    *equals = *colon = '\0';
    joint = joint_named(a, text);
    if (joint < 0) return tool_usage("analyze", "--limits: '%s' is not an independent joint", tool_safe(text));
  }
  if (joint < 0 || !tool_parse_number(equals + 1, &lower) || !tool_parse_number(colon + 1, &upper) || lower > upper)
    return tool_usage("analyze", "--limits '%s': JOINT=LOWER:UPPER,... was expected", tool_safe(a->set.limits));
  a->lower[joint] = lower;
  a->upper[joint] = upper;
  return -1;
}

static int set_limits(analysis *a) {
  int code = -1;
  a->lower = calloc(2 * (size_t)a->n, sizeof *a->lower);
  char *copy = malloc(a->set.limits ? strlen(a->set.limits) + 1 : 1);
  if (!a->lower || !copy) code = tool_no_memory("analyze");
  a->upper = a->lower ? a->lower + a->n : NULL;
  for (int k = 0; k < psdm_robot_joints(a->robot) && code < 0; k++) {
    const psdm_joint *joint = psdm_robot_joint(a->robot, k);
    if (joint->q < 0) continue;
    a->lower[joint->q] = joint->limits.lower;
    a->upper[joint->q] = joint->limits.upper;
  }
  if (code < 0 && a->set.limits) {
    strcpy(copy, a->set.limits);
    for (char *at = strtok(copy, ","); at && code < 0; at = strtok(NULL, ",")) code = take_limit(a, at);
  }
  free(copy);
  return code;
}

/* ---- work ---- */

long analyze_beyond(const psdm_bounds *b) {
  return b->mass.at_samples.beyond + b->mass_small.at_samples.beyond + b->mass_least.at_samples.beyond +
         b->coriolis.at_samples.beyond + b->gravity.at_samples.beyond;
}

static int find_link(analysis *a) {
  if (!a->set.link) {
    a->link = tool_default_link(a->robot, "--link selects another");
    return -1;
  }
  a->link = psdm_robot_find(a->robot, a->set.link);
  return a->link >= 0 ? tool_must_move("analyze", "link", a->robot, a->link)
                      : tool_no_link("analyze", "link", a->set.link, a->robot);
}

static int find_structure(analysis *a) {
  psdm_error error;
  a->numeric = psdm_robot_ready(a->robot, &error) == PSDM_OK;
  if (!a->numeric && !a->set.any) tool_warn("%s: structure for any masses, no bounds", error.text);
  if (psdm_model_derive(a->robot, NULL, NULL, &a->model, NULL, &error)) return tool_fail(&error);
  if (psdm_structure_new(a->robot, a->model, a->numeric && !a->set.any, NULL, &a->structure, &error))
    return tool_fail(&error);
  return -1;
}

static int find_bounds(analysis *a) {
  if (!a->numeric || a->set.no_bounds) return -1;
  progress bar = progress_start("bounds", 0);
  psdm_error error;
  const psdm_bounds_options options = {.points = (long)a->set.points,
                                       .lower = a->lower,
                                       .upper = a->upper,
                                       .seed = (uint64_t)a->set.seed,
                                       .samples = (long)a->set.samples,
                                       .cuda = strcmp(a->set.device, "cuda") == 0,
                                       .ranks = ranks_all(),
                                       .progress = progress_words,
                                       .progress_user = &bar};
  tool_listen();
  psdm_status status = psdm_bounds_new(a->robot, &options, NULL, &a->bounds, &error);
  progress_end(&bar);
  if (status) return tool_fail(&error);
  if (ranks_helper()) return EXIT_OK;
  if (tool_interrupted())
    tool_warn("interrupted: these bounds hold, but may not be the tightest%s",
              a->set.samples > 0 ? ", and samples are missing" : "");
  tool_deaf();
  tool_detail("bounds in %.3g s", tool_now() - bar.started);
  if (a->bounds->samples) tool_detail("%ld samples in %.3g s", a->bounds->samples, a->bounds->samples_seconds);
  return -1;
}

/* a sample beyond a proved bound means a bug here or an unsupported robot, and is always reported */
static int judge(const analysis *a) {
  long beyond = a->bounds ? analyze_beyond(a->bounds) : 0;
  if (!beyond) return EXIT_OK;
  tool_warn("%ld of %ld samples exceed proved bounds: do not trust the bounds of this robot, and please report it",
            beyond, a->bounds->samples);
  return EXIT_QUALITY;
}

static int show(const analysis *a) {
  int code = EXIT_OK;
  if (a->set.json) code = analyze_json(a);
  else if (!a->set.out || strcmp(a->set.out, "-") != 0) analyze_print(a);
  return code > EXIT_OK ? code : judge(a);
}

int cmd_analyze(int argc, char **argv) {
  analysis a = {0};
  const char *path;
  int code = settings_parse(&analyze_line, argc, argv, &a.set, &path);
  if (code < 0) code = check_settings(&a.set);
  if (code < 0 && ranks_helper() && a.set.samples == 0) return EXIT_OK; /* nothing to share */
  if (code < 0) code = tool_load("analyze", path, PSDM_ROBOT_SETTINGS_OF(&a.set), &a.robot);
  if (code >= 0) return code;
  a.n = psdm_robot_n(a.robot);
  code = set_limits(&a);
  if (code < 0) code = find_link(&a);
  if (code < 0 && psdm_work_new(a.robot, NULL, &a.work)) code = tool_no_memory("analyze");
  if (code < 0) code = find_structure(&a);
  if (code < 0 && a.set.path && !ranks_helper()) code = analyze_read_path(&a);
  if (code < 0) code = find_bounds(&a);
  if (code < 0 && ranks_helper()) code = EXIT_OK;
  if (code < 0 && a.set.out) code = analyze_write_path(&a);
  if (code < 0 && a.set.plots) code = analyze_plot(&a);
  if (code < 0) code = show(&a);
  analysis_free(&a);
  return code == EXIT_OK && plot_lacks() ? EXIT_QUALITY : code;
}
