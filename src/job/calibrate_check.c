/* calibrate_check.c: the route, names to numbers, incompatible settings, the prior. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

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

static const char *path_of(const char *text) {
  psdm_step step;
  const char *behind = behind_step(text, &step);
  return behind ? behind : text;
}

/* file names may contain a colon, so a misspelt step is recognized only beside valid ones */
static psdm_status no_step(const psdmp_job_calibrate *j, const char *text) {
  const char *words[PSDM_STEPS], *near = NULL;
  char word[16];
  for (int k = 0; k < PSDM_STEPS; k++) words[k] = psdm_step_name((psdm_step)k);
  if (strchr(text, ':') && strcspn(text, ":") < sizeof word) {
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    near = psdmp_base_nearest(word, words, PSDM_STEPS);
  }
  if (near)
    return psdmp_job_wrong(&j->job,
                           "`log` '%s': did you mean '%s:'? `route = steps` needs a step before every log's name",
                           psdmp_job_safe(&j->job, text), near);
  return psdmp_job_wrong(
      &j->job,
      "`log` '%s': `route = steps` needs a step before every log's name: motor:, gravity:, friction: or inertia:",
      psdmp_job_safe(&j->job, text));
}

/* the steps of the logs; one without and one with a step */
static psdm_status read_steps(psdmp_job_calibrate *j, const char **plain, const char **marked) {
  const psdm_setting_list *log = &j->set.log;
  if (!(j->steps.log = psdmp_job_array(&j->job, (size_t)log->count, sizeof *j->steps.log)))
    return psdmp_job_memory(&j->job);
  for (int i = 0; i < log->count; i++) {
    psdm_steps_log *own = &j->steps.log[i];
    own->path = behind_step(log->value[i], &own->step);
    if (!(own->path ? own->path : log->value[i])[0]) return psdmp_job_wrong(&j->job, "`log`: empty file name");
    if (!own->path && !*plain) *plain = log->value[i];
    if (own->path && !*marked) *marked = log->value[i];
  }
  return PSDM_OK;
}

psdm_status psdmp_job_calibrate_route(psdmp_job_calibrate *j) {
  static const char *const lists[] = {"log"};
  const char *plain = NULL, *marked = NULL;
  if (!j->set.log.count) return psdmp_job_wrong(&j->job, "missing `log = FILE` (the measured log)");
  psdm_status status = read_steps(j, &plain, &marked);
  if (status) return status;
  j->steps.chosen = j->set.route ? strcmp(j->set.route, "steps") == 0 : marked != NULL;
  if (j->steps.chosen && plain) return no_step(j, plain);
  if (!j->steps.chosen && marked)
    return psdmp_job_wrong(&j->job, "`log` '%s': logs of a single step belong to `route = steps`",
                           psdmp_job_safe(&j->job, marked));
  if (!j->steps.chosen && j->set.weight.count)
    return psdmp_job_wrong(&j->job, "`weight` needs `route = steps`: only its motor logs have a known mass");
  j->steps.options.logs = j->set.log.count;
  j->steps.options.log = j->steps.log;
  j->options.files = j->set.log.count;
  j->options.path = j->set.log.value;
  return psdmp_job_logs(&j->job, 1, lists, j->steps.chosen ? path_of : NULL, &j->options.log);
}

/* ---- what both routes have ---- */

bool psdmp_job_calibrate_asked(const psdmp_job_calibrate *j, const char *setting) {
  return psdmp_job_given(&j->job, setting) || psdmp_job_kept_wanted(&j->job, setting);
}

psdm_status psdmp_job_calibrate_positive_or(const psdmp_job_calibrate *j, const char *setting, const char *text,
                                            const char *word, double meant, double *value) {
  if (!text) return PSDM_OK;
  if (strcmp(text, word) == 0) return *value = meant, PSDM_OK;
  if (psdm_parse_number(text, value) && *value > 0) return PSDM_OK;
  return psdmp_job_wrong(&j->job, "`%s` '%s': a number above 0, or '%s', was expected", setting,
                         psdmp_job_safe(&j->job, text), word);
}

psdm_status psdmp_job_calibrate_accept(psdmp_job_calibrate *j) {
  if (psdm_verdict_find(j->set.accept, &j->accept)) return PSDM_OK;
  return psdmp_job_wrong(&j->job, "`accept` '%s': good, usable, poor or useless was expected",
                         psdmp_job_safe(&j->job, j->set.accept));
}

void psdmp_job_calibrate_log_options(psdmp_job_calibrate *j) {
  psdm_log_options *log = &j->options.log;
  log->columns = j->set.columns;
  log->degrees = j->set.degrees;
  log->rate = j->set.rate;
  log->ignore_extra = j->set.ignore_extra;
}

psdm_status psdmp_job_calibrate_one_output(const psdmp_job_calibrate *j, const char *const *path, int count,
                                           const char *words) {
  int standard = j->set.json;
  for (int k = 0; k < count; k++) standard += path[k] && strcmp(path[k], "-") == 0;
  return standard > 1 ? psdmp_job_wrong(&j->job, "only one of %s can use standard output", words) : PSDM_OK;
}

/* ---- words and numbers ---- */

/* "0.3", or "blocks:0.5/4" */
static psdm_status choose_holdout(psdmp_job_calibrate *j) {
  const char *text = j->set.holdout, *slash;
  char seconds[64];
  double every;
  psdm_calibrate_options *o = &j->options;
  if (!text) return PSDM_OK;
  if (strncmp(text, "blocks:", 7) != 0) {
    if (psdm_parse_number(text, &o->holdout) && o->holdout >= 0 && o->holdout < 0.95) return PSDM_OK;
    return psdmp_job_wrong(&j->job, "`holdout` '%s': a share from 0 to 0.95, or blocks:SECONDS/K, was expected",
                           psdmp_job_safe(&j->job, text));
  }
  slash = strchr(text, '/');
  if (slash && (size_t)(slash - text - 7) < sizeof seconds) {
    snprintf(seconds, sizeof seconds, "%.*s", (int)(slash - text - 7), text + 7);
    if (psdm_parse_number(seconds, &o->holdout_block) && o->holdout_block > 0 && psdm_parse_number(slash + 1, &every) &&
        every >= 2 && every <= 1e6 && every == floor(every)) {
      o->holdout_every = (int)every;
      return PSDM_OK;
    }
  }
  return psdmp_job_wrong(
      &j->job, "`holdout` '%s': blocks:SECONDS/K needs seconds above 0 and a whole K of at least 2, as in blocks:0.5/4",
      psdmp_job_safe(&j->job, text));
}

static bool whole(double value, double least, double most) {
  return value >= least && value <= most && value == floor(value);
}

static psdm_status check_numbers(const psdmp_job_calibrate *j) {
  const psdmp_job_calibrate_settings *s = &j->set;
  if (!(s->lambda >= 0) || !(s->rate >= 0) || !(s->max_rel >= 0))
    return psdmp_job_wrong(&j->job, "`lambda`, `rate` and `max_rel` must not be negative");
  if (!whole(s->friction_columns, 3, 16))
    return psdmp_job_wrong(&j->job, "`friction_columns`: a whole number from 3 to 16 was expected");
  if (!whole(s->decimate, 0, 1 << 20))
    return psdmp_job_wrong(&j->job, "`decimate`: a whole number from 1 to %d was expected", 1 << 20);
  if (s->decimate > 1 && s->compare)
    return psdmp_job_wrong(&j->job,
                           "`compare` predicts single rows, and `decimate` keeps none; compare without `decimate`");
  if (!whole(s->threads, 0, 1024)) return psdmp_job_wrong(&j->job, "`threads`: a whole number up to 1024 was expected");
  if (!(s->cache >= 0 && s->cache <= 1e12)) return psdmp_job_wrong(&j->job, "`cache`: a number of rows was expected");
  return PSDM_OK;
}

static psdm_status choose_numbers(psdmp_job_calibrate *j) {
  psdm_calibrate_options *o = &j->options;
  const psdmp_job_calibrate_settings *s = &j->set;
  psdm_status status = psdmp_job_calibrate_positive_or(j, "cutoff", s->cutoff, "none", INFINITY, &o->cutoff);
  if (!status) status = psdmp_job_calibrate_positive_or(j, "rest", s->rest, "none", -1, &o->rest);
  if (status) return status;
  o->delay_given = s->delay != NULL;
  if (s->delay && (!psdm_parse_number(s->delay, &o->delay) || fabs(o->delay) > 1))
    return psdmp_job_wrong(&j->job, "`delay` '%s': seconds from -1 to 1 were expected",
                           psdmp_job_safe(&j->job, s->delay));
  status = check_numbers(j);
  if (status) return status;
  o->decimate = (int)s->decimate;
  o->threads = (int)s->threads;
  o->cache = (long)s->cache;
  o->checkpoint = s->checkpoint;
  o->ranks = j->job.host.ranks;
  o->springs = s->springs;
  o->lambda = s->lambda;
  o->columns = (int)s->friction_columns;
  o->plain_friction = s->plain_friction;
  psdmp_job_calibrate_log_options(j);
  return PSDM_OK;
}

/* what would end up mixed on standard output, or is unavailable */
static psdm_status check_outputs(const psdmp_job_calibrate *j) {
  const psdmp_job_calibrate_settings *s = &j->set;
  const char *const path[] = {s->out, s->predict, s->urdf};
  psdm_status status = psdmp_job_calibrate_one_output(j, path, 3, "`json`, `out`, `predict` and `urdf`");
  if (status) return status;
  if (psdmp_job_calibrate_asked(j, "urdf") && j->options.estimator != PSDM_ESTIMATOR_CONSISTENT)
    return psdmp_job_wrong(
        &j->job, "`urdf` needs `estimator = consistent`: only it makes every link's inertia physically possible");
  if (s->prior && j->options.estimator != PSDM_ESTIMATOR_CONSISTENT && j->options.estimator != PSDM_ESTIMATOR_RIDGE)
    return psdmp_job_wrong(&j->job, "`prior` needs `estimator = consistent` or ridge; '%s' uses no prior",
                           psdm_estimator_name(j->options.estimator));
  if (s->covariance && !psdmp_job_calibrate_asked(j, "out"))
    return psdmp_job_wrong(&j->job, "`covariance` needs `out`, the file that stores it");
  return PSDM_OK;
}

psdm_status psdmp_job_calibrate_words(psdmp_job_calibrate *j) {
  j->options.estimator = (psdm_estimator)psdmp_job_choice(&j->job, "estimator");
  j->options.kinematics = (psdm_kinematics)psdmp_job_choice(&j->job, "kinematics");
  psdm_status status = psdmp_job_calibrate_accept(j);
  if (!status) status = choose_holdout(j);
  if (!status) status = choose_numbers(j);
  return status ? status : check_outputs(j);
}

/* ---- settings that depend on the robot ---- */

/* "1,2,3": n numbers, or one for all where that makes sense */
static psdm_status per_joint(const psdmp_job_calibrate *j, const char *setting, const char *text, bool one_for_all,
                             double **out) {
  if (!text) return PSDM_OK;
  double *value = *out = psdmp_job_array(&j->job, (size_t)j->n, sizeof *value);
  if (!value) return psdmp_job_memory(&j->job);
  int found = 0;
  bool good = true;
  for (const char *at = text; good; at++) {
    size_t length = strcspn(at, ",");
    good = found < j->n && psdmp_base_parse_number(at, length, &value[found]);
    found++;
    at += length;
    if (!*at) break;
  }
  for (int i = 1; i < j->n && good && found == 1 && one_for_all; i++) value[i] = value[0];
  if (good && (found == j->n || (found == 1 && one_for_all))) return PSDM_OK;
  return psdmp_job_wrong(&j->job, "`%s` '%s': %s%d numbers were expected, one per joint", setting,
                         psdmp_job_safe(&j->job, text), one_for_all ? "one number or " : "", j->n);
}

/* inertias of a robot file with the same links */
static psdm_status prior_from_robot(const psdmp_job_calibrate *j, const psdm_robot *robot) {
  psdm_error error;
  if (psdm_robot_fingerprint(robot) != psdm_robot_fingerprint(j->job.robot))
    return psdmp_job_wrong(&j->job, "`prior` '%s': its kinematics differ from those of '%s'",
                           psdmp_job_safe(&j->job, j->set.prior),
                           psdmp_job_safe(&j->job, psdm_robot_name(j->job.robot)));
  if (psdm_robot_ready(robot, &error)) return psdmp_job_fail(&j->job, &error);
  psdm_robot_parameters(robot, j->prior);
  return PSDM_OK;
}

static psdm_status prior_from_parameters(const psdmp_job_calibrate *j) {
  psdm_parameters *p;
  psdm_status status = psdmp_job_parameters(&j->job, j->set.prior, j->job.robot, &p);
  if (status) return status;
  if (p->pi) memcpy(j->prior, p->pi, (size_t)p->standard * sizeof *p->pi);
  else
    status = psdmp_job_wrong(&j->job, "`prior` '%s': it has base parameters only; standard parameters were expected",
                             psdmp_job_safe(&j->job, j->set.prior));
  psdm_parameters_free(p);
  return status;
}

static psdm_status choose_prior(psdmp_job_calibrate *j) {
  if (!j->set.prior) return PSDM_OK;
  j->options.prior_kinematics = strcmp(j->set.prior, "kinematics") == 0;
  if (j->options.prior_kinematics) return PSDM_OK;
  psdm_robot *robot;
  j->prior = psdmp_job_array(&j->job, (size_t)psdm_robot_parameter_count(j->job.robot), sizeof *j->prior);
  if (!j->prior) return psdmp_job_memory(&j->job);
  j->options.prior = j->prior;
  if (psdm_robot_load(j->set.prior, NULL, NULL, &robot, NULL)) return prior_from_parameters(j);
  psdm_status status = prior_from_robot(j, robot);
  psdm_robot_free(robot);
  return status;
}

psdm_status psdmp_job_calibrate_numbers(psdmp_job_calibrate *j) {
  j->n = psdm_robot_n(j->job.robot);
  psdm_status status = per_joint(j, "offset", j->set.offset, false, &j->offset);
  if (!status) status = per_joint(j, "sign", j->set.sign, false, &j->sign);
  if (!status) status = per_joint(j, "max_rmse", j->set.max_rmse, true, &j->max_rmse);
  for (int i = 0; i < j->n && !status && j->sign; i++)
    if (fabs(j->sign[i]) != 1) status = psdmp_job_wrong(&j->job, "`sign`: %g is neither 1 nor -1", j->sign[i]);
  j->options.log.offset = j->offset;
  j->options.log.sign = j->sign;
  return status ? status : choose_prior(j);
}
