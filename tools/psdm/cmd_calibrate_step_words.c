/* cmd_calibrate_step_words.c: the command line of psdm calibrate --route steps as options of the library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_calibrate.h"

/* options of the other route only, and why */
static int refuse_others(const calibrate_settings *s) {
  const struct {
    bool given;
    const char *option, *why;
  } others[] = {
      {strcmp(s->estimator, "consistent") != 0, "estimator", "each step has a fixed method"},
      {strcmp(s->kinematics, "auto") != 0, "kinematics", "velocities and accelerations come from the positions"},
      {s->delay != NULL, "delay", "steps use no delay"},
      {s->lambda != 0, "lambda", "steps have no prior"},
      {s->prior != NULL, "prior", "steps have no prior; give results of earlier runs to --params"},
      {s->plain_friction, "plain-friction", "the friction of steps is LuGre's"},
      {s->friction_columns != 6, "friction-columns", "the friction of steps is LuGre's"},
      {s->springs, "springs", "the friction of steps is LuGre's"},
      {s->decimate != 0, "decimate", "steps use every row"},
      {s->threads != 0, "threads", "steps choose their own"},
      {s->cache != 0, "cache", "steps keep every row"},
      {s->checkpoint != NULL, "checkpoint", "--out is written after every step, and --params continues from it"},
      {s->rest != NULL, "rest", "each step detects its own rows at rest"},
      {s->urdf != NULL, "urdf",
       "steps find base parameters, which do not determine single links; use --route oneshot for link inertias"},
      {s->compare != NULL, "compare", "compare two results of steps by their --json"},
      {s->covariance, "covariance", "steps always store it in --out"},
  };
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    if (others[k].given)
      return tool_usage("calibrate", "--%s cannot be used with --route steps: %s", others[k].option, others[k].why);
  return -1;
}

/* ---- --weight FILE=KG[,X,Y,Z] ---- */

static int bad_weight(const char *text, const char *what) {
  return tool_usage("calibrate", "--weight '%s': %s", tool_safe(text), what);
}

/* "2.5" or "2.5,0,0,0.1" */
static bool read_mass(const char *text, double mass[4]) {
  int found = 0;
  for (const char *at = text;; at++) {
    char part[64];
    size_t length = strcspn(at, ",");
    if (found == 4 || length >= sizeof part) return false;
    memcpy(part, at, length);
    part[length] = '\0';
    if (!tool_parse_number(part, &mass[found++])) return false;
    at += length;
    if (!*at) break;
  }
  return (found == 1 || found == 4) && mass[0] > 0 && isfinite(mass[0]) && isfinite(mass[1]) && isfinite(mass[2]) &&
         isfinite(mass[3]);
}

static int take_weight(calibrate_job *j, const char *text) {
  const char *equals = strrchr(text, '=');
  double mass[4] = {0};
  int found = 0, of_others = 0;
  if (!equals || equals == text || !read_mass(equals + 1, mass))
    return bad_weight(text, "FILE=KG or FILE=KG,X,Y,Z was expected, with a mass above 0");
  for (int i = 0; i < j->set.log.count; i++) {
    psdm_steps_log *log = &j->steps.log[i];
    if (strlen(log->path) != (size_t)(equals - text) || strncmp(log->path, text, (size_t)(equals - text)) != 0)
      continue;
    if (log->step != PSDM_STEP_MOTOR) {
      of_others++;
      continue;
    }
    if (log->mass > 0) return bad_weight(text, "duplicate weight for this log");
    log->mass = mass[0];
    memcpy(log->com, mass + 1, sizeof log->com);
    found++;
  }
  if (found) return -1;
  return bad_weight(
      text, of_others ? "only motor logs have a weight" : "no motor log has this name; write it as after motor:");
}

static int take_weights(calibrate_job *j) {
  int code = -1;
  for (int k = 0; k < j->set.weight.count && code < 0; k++) code = take_weight(j, j->set.weight.value[k]);
  return code;
}

/* ---- numbers ---- */

static int choose_holdout(calibrate_job *j) {
  double *share = &j->steps.options.holdout;
  if (!j->set.holdout) return -1;
  if (!tool_parse_number(j->set.holdout, share) || !(*share >= 0 && *share < 0.95))
    return tool_usage("calibrate", "--holdout '%s': a share from 0 to 0.95 was expected; steps choose their blocks",
                      tool_safe(j->set.holdout));
  if (*share == 0) *share = -1; /* none */
  return -1;
}

/* one for all, or one for each step */
static int choose_cutoff(calibrate_job *j) {
  double *cutoff = j->steps.options.cutoff;
  int found = 0;
  for (const char *at = j->set.cutoff; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char part[64];
    if (found == PSDM_STEPS)
      return tool_usage("calibrate", "--cutoff '%s': one frequency or %d, one for each step, were expected",
                        tool_safe(j->set.cutoff), PSDM_STEPS);
    snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
    int code = calibrate_positive_or("cutoff", part, "none", INFINITY, &cutoff[found++]);
    if (code >= 0) return code;
  }
  for (int k = 1; k < PSDM_STEPS && found == 1; k++) cutoff[k] = cutoff[0];
  if (found > 1 && found < PSDM_STEPS)
    return tool_usage("calibrate", "--cutoff '%s': one frequency or %d, one for each step, were expected",
                      tool_safe(j->set.cutoff), PSDM_STEPS);
  return -1;
}

static int check_outputs(const calibrate_job *j) {
  const calibrate_settings *s = &j->set;
  const char *const path[] = {s->out, s->predict};
  int standard = s->json;
  for (int k = 0; k < 2; k++) standard += path[k] && strcmp(path[k], "-") == 0;
  return standard > 1 ? tool_usage("calibrate", "only one of --json, --out and --predict can use standard output") : -1;
}

int calibrate_step_words(calibrate_job *j) {
  int code = refuse_others(&j->set);
  if (code < 0 && (!(j->set.rate >= 0) || !(j->set.max_rel >= 0)))
    code = tool_usage("calibrate", "--rate and --max-rel must not be negative");
  if (code < 0) code = tool_verdict("calibrate", j->set.accept, &j->accept);
  if (code < 0) code = take_weights(j);
  if (code < 0) code = choose_holdout(j);
  if (code < 0) code = choose_cutoff(j);
  calibrate_log_options(j);
  return code < 0 ? check_outputs(j) : code;
}
