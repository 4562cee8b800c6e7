/* cmd_calibrate_words.c: the command line of psdm calibrate as options of the library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_calibrate.h"
#include "ranks.h"

/* ---- names ---- */

static int unknown(const char *option, const char *text, const char *const *words, size_t count) {
  const char *near = tool_nearest(text, words, count);
  char known[256] = "";
  for (size_t i = 0; i < count; i++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", words[i]);
  if (near)
    return tool_usage("calibrate", "--%s '%s': did you mean '%s'? Expected %s", option, tool_safe(text), near, known);
  return tool_usage("calibrate", "--%s '%s': one of %s was expected", option, tool_safe(text), known);
}

static int choose_estimator(calibrate_job *j) {
  const char *words[PSDM_ESTIMATORS];
  for (int k = 0; k < PSDM_ESTIMATORS; k++) words[k] = psdm_estimator_name((psdm_estimator)k);
  return psdm_estimator_find(j->set.estimator, &j->options.estimator)
             ? -1
             : unknown("estimator", j->set.estimator, words, PSDM_ESTIMATORS);
}

static int choose_kinematics(calibrate_job *j) {
  const char *words[PSDM_KINEMATICS_KINDS];
  for (int k = 0; k < PSDM_KINEMATICS_KINDS; k++) words[k] = psdm_kinematics_name((psdm_kinematics)k);
  return psdm_kinematics_find(j->set.kinematics, &j->options.kinematics)
             ? -1
             : unknown("kinematics", j->set.kinematics, words, PSDM_KINEMATICS_KINDS);
}

/* ---- the route ---- */

/* the step word before a log's name: what follows it, NULL without one */
static const char *behind_step(const char *text, psdm_step *step) {
  char word[16];
  size_t length = strcspn(text, ":");
  if (!text[length] || length >= sizeof word) return NULL;
  memcpy(word, text, length);
  word[length] = '\0';
  return psdm_step_find(word, step) ? text + length + 1 : NULL;
}

/* file names may contain a colon, so a misspelt step is recognized only beside valid ones */
static int no_step(const char *text) {
  const char *words[PSDM_STEPS], *near = NULL;
  char word[16];
  for (int k = 0; k < PSDM_STEPS; k++) words[k] = psdm_step_name((psdm_step)k);
  if (strchr(text, ':') && strcspn(text, ":") < sizeof word) {
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    near = tool_nearest(word, words, PSDM_STEPS);
  }
  if (near)
    return tool_usage("calibrate", "--log '%s': did you mean '%s:'? --route steps needs a step before every log's name",
                      tool_safe(text), near);
  return tool_usage(
      "calibrate",
      "--log '%s': --route steps needs a step before every log's name: motor:, gravity:, friction: or inertia:",
      tool_safe(text));
}

int calibrate_route(calibrate_job *j) {
  static const char *const words[] = {"oneshot", "steps"};
  const psdm_setting_list *log = &j->set.log;
  const char *route = j->set.route, *plain = NULL, *marked = NULL;
  if (route && strcmp(route, words[0]) != 0 && strcmp(route, words[1]) != 0) return unknown("route", route, words, 2);
  if (!log->count) return tool_usage("calibrate", "missing --log FILE (the measured log)");
  if (!(j->steps.log = calloc((size_t)log->count, sizeof *j->steps.log))) return tool_no_memory("calibrate");
  for (int i = 0; i < log->count; i++) {
    psdm_steps_log *own = &j->steps.log[i];
    own->path = behind_step(log->value[i], &own->step);
    if (!(own->path ? own->path : log->value[i])[0]) return tool_usage("calibrate", "--log: empty file name");
    if (!own->path && !plain) plain = log->value[i];
    if (own->path && !marked) marked = log->value[i];
  }
  j->steps.chosen = route ? strcmp(route, words[1]) == 0 : marked != NULL;
  if (j->steps.chosen && plain) return no_step(plain);
  if (!j->steps.chosen && marked)
    return tool_usage("calibrate", "--log '%s': logs of a single step belong to --route steps", tool_safe(marked));
  if (!j->steps.chosen && j->set.weight.count)
    return tool_usage("calibrate", "--weight needs --route steps: only its motor logs have a known mass");
  j->steps.options.logs = log->count;
  j->steps.options.log = j->steps.log;
  j->options.files = log->count;
  j->options.path = log->value;
  return -1;
}

/* "0.3", or "blocks:0.5/4" */
static int choose_holdout(calibrate_job *j) {
  const char *text = j->set.holdout, *slash;
  char seconds[64];
  double every;
  psdm_calibrate_options *o = &j->options;
  if (!text) return -1;
  if (strncmp(text, "blocks:", 7) != 0) {
    if (tool_parse_number(text, &o->holdout) && o->holdout >= 0 && o->holdout < 0.95) return -1;
    return tool_usage("calibrate", "--holdout '%s': a share from 0 to 0.95, or blocks:SECONDS/K, was expected",
                      tool_safe(text));
  }
  slash = strchr(text, '/');
  if (slash && (size_t)(slash - text - 7) < sizeof seconds) {
    snprintf(seconds, sizeof seconds, "%.*s", (int)(slash - text - 7), text + 7);
    if (tool_parse_number(seconds, &o->holdout_block) && o->holdout_block > 0 && tool_parse_number(slash + 1, &every) &&
        every >= 2 && every <= 1e6 && every == floor(every)) {
      o->holdout_every = (int)every;
      return -1;
    }
  }
  return tool_usage(
      "calibrate",
      "--holdout '%s': blocks:SECONDS/K needs seconds above 0 and a whole K of at least 2, as in blocks:0.5/4",
      tool_safe(text));
}

int calibrate_positive_or(const char *option, const char *text, const char *word, double meant, double *value) {
  if (!text) return -1;
  if (strcmp(text, word) == 0) return *value = meant, -1;
  if (tool_parse_number(text, value) && *value > 0) return -1;
  return tool_usage("calibrate", "--%s '%s': a number above 0, or '%s', was expected", option, tool_safe(text), word);
}

void calibrate_log_options(calibrate_job *j) {
  j->options.log = (psdm_log_options){
      .columns = j->set.columns, .degrees = j->set.degrees, .rate = j->set.rate, .ignore_extra = j->set.ignore_extra};
}

static int choose_numbers(calibrate_job *j) {
  psdm_calibrate_options *o = &j->options;
  const calibrate_settings *s = &j->set;
  int code = calibrate_positive_or("cutoff", s->cutoff, "none", INFINITY, &o->cutoff);
  if (code < 0) code = calibrate_positive_or("rest", s->rest, "none", -1, &o->rest);
  if (code >= 0) return code;
  o->delay_given = s->delay != NULL;
  if (s->delay && (!tool_parse_number(s->delay, &o->delay) || fabs(o->delay) > 1))
    return tool_usage("calibrate", "--delay '%s': seconds from -1 to 1 were expected", tool_safe(s->delay));
  if (!(s->lambda >= 0) || !(s->rate >= 0) || !(s->max_rel >= 0))
    return tool_usage("calibrate", "--lambda, --rate and --max-rel must not be negative");
  if (!(s->friction_columns >= 3 && s->friction_columns <= 16 && s->friction_columns == floor(s->friction_columns)))
    return tool_usage("calibrate", "--friction-columns: a whole number from 3 to 16 was expected");
  if (!(s->decimate >= 0 && s->decimate <= 1 << 20 && s->decimate == floor(s->decimate)))
    return tool_usage("calibrate", "--decimate: a whole number from 1 to %d was expected", 1 << 20);
  if (s->decimate > 1 && s->compare)
    return tool_usage("calibrate",
                      "--compare predicts single rows, and --decimate keeps none; compare without --decimate");
  o->decimate = (int)s->decimate;
  if (!(s->threads >= 0 && s->threads <= 1024 && s->threads == floor(s->threads)))
    return tool_usage("calibrate", "--threads: a whole number up to 1024 was expected");
  if (!(s->cache >= 0 && s->cache <= 1e12)) return tool_usage("calibrate", "--cache: a number of rows was expected");
  o->threads = (int)s->threads;
  o->cache = (long)s->cache;
  o->checkpoint = s->checkpoint;
  o->ranks = ranks_all();
  o->springs = s->springs;
  o->lambda = s->lambda;
  o->columns = (int)s->friction_columns;
  o->plain_friction = s->plain_friction;
  calibrate_log_options(j);
  return -1;
}

/* what would end up mixed on standard output, or is unavailable */
static int check_outputs(const calibrate_job *j) {
  const calibrate_settings *s = &j->set;
  const char *const path[] = {s->out, s->predict, s->urdf};
  int standard = s->json;
  for (int k = 0; k < 3; k++) standard += path[k] && strcmp(path[k], "-") == 0;
  if (standard > 1)
    return tool_usage("calibrate", "only one of --json, --out, --predict and --urdf can use standard output");
  if (s->urdf && j->options.estimator != PSDM_ESTIMATOR_CONSISTENT)
    return tool_usage("calibrate",
                      "--urdf needs --estimator consistent: only it makes every link's inertia physically possible");
  if (s->prior && j->options.estimator != PSDM_ESTIMATOR_CONSISTENT && j->options.estimator != PSDM_ESTIMATOR_RIDGE)
    return tool_usage("calibrate", "--prior needs --estimator consistent or ridge; '%s' uses no prior",
                      psdm_estimator_name(j->options.estimator));
  if (s->covariance && !s->out) return tool_usage("calibrate", "--covariance needs --out, the file that stores it");
  return -1;
}

int calibrate_words(calibrate_job *j) {
  int code = choose_estimator(j);
  if (code < 0) code = tool_verdict("calibrate", j->set.accept, &j->accept);
  if (code < 0) code = choose_kinematics(j);
  if (code < 0) code = choose_holdout(j);
  if (code < 0) code = choose_numbers(j);
  return code < 0 ? check_outputs(j) : code;
}

/* ---- options that depend on the robot ---- */

/* "1,2,3": n numbers, or one for all where that makes sense */
static int per_joint(const calibrate_job *j, const char *option, const char *text, bool one_for_all, double **out) {
  if (!text) return -1;
  double *value = *out = calloc((size_t)j->n + 1, sizeof *value);
  if (!value) return tool_no_memory("calibrate");
  int found = 0;
  bool good = true;
  for (const char *at = text; good; at++) {
    char part[64];
    size_t length = strcspn(at, ",");
    good = length < sizeof part && found < j->n;
    if (!good) break;
    memcpy(part, at, length);
    part[length] = '\0';
    good = tool_parse_number(part, &value[found++]);
    at += length;
    if (!*at) break;
  }
  for (int i = 1; i < j->n && good && found == 1 && one_for_all; i++) value[i] = value[0];
  if (good && (found == j->n || (found == 1 && one_for_all))) return -1;
  return tool_usage("calibrate", "--%s '%s': %s%d numbers were expected, one per joint", option, tool_safe(text),
                    one_for_all ? "one number or " : "", j->n);
}

/* inertias of a robot file with the same links */
static int prior_from_robot(calibrate_job *j, const psdm_robot *robot) {
  psdm_error error;
  if (psdm_robot_fingerprint(robot) != psdm_robot_fingerprint(j->robot))
    return tool_usage("calibrate", "--prior '%s': its kinematics differ from those of '%s'", tool_safe(j->set.prior),
                      tool_safe(psdm_robot_name(j->robot)));
  if (psdm_robot_ready(robot, &error)) return tool_fail(&error);
  psdm_robot_parameters(robot, j->prior);
  return -1;
}

static int prior_from_parameters(calibrate_job *j) {
  psdm_parameters *p;
  psdm_error error;
  if (psdm_parameters_load(j->set.prior, j->robot, NULL, &p, &error)) return tool_fail(&error);
  tool_unsigned(j->set.prior, p);
  int code =
      p->pi ? -1
            : tool_usage("calibrate", "--prior '%s': it has base parameters only; standard parameters were expected",
                         tool_safe(j->set.prior));
  if (p->pi) memcpy(j->prior, p->pi, (size_t)p->standard * sizeof *p->pi);
  psdm_parameters_free(p);
  return code;
}

static int choose_prior(calibrate_job *j) {
  if (!j->set.prior) return -1;
  j->options.prior_kinematics = strcmp(j->set.prior, "kinematics") == 0;
  if (j->options.prior_kinematics) return -1;
  psdm_robot *robot;
  j->options.prior = j->prior = calloc((size_t)psdm_robot_parameter_count(j->robot) + 1, sizeof *j->prior);
  if (!j->prior) return tool_no_memory("calibrate");
  if (psdm_robot_load(j->set.prior, NULL, NULL, &robot, NULL)) return prior_from_parameters(j);
  int code = prior_from_robot(j, robot);
  psdm_robot_free(robot);
  return code;
}

int calibrate_numbers(calibrate_job *j) {
  j->n = psdm_robot_n(j->robot);
  int code = per_joint(j, "offset", j->set.offset, false, &j->offset);
  if (code < 0) code = per_joint(j, "sign", j->set.sign, false, &j->sign);
  if (code < 0) code = per_joint(j, "max-rmse", j->set.max_rmse, true, &j->max_rmse);
  for (int i = 0; i < j->n && code < 0 && j->sign; i++)
    if (fabs(j->sign[i]) != 1) code = tool_usage("calibrate", "--sign: %g is neither 1 nor -1", j->sign[i]);
  j->options.log.offset = j->offset;
  j->options.log.sign = j->sign;
  return code < 0 ? choose_prior(j) : code;
}
