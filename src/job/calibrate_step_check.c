/* calibrate_step_check.c: the settings of route steps as options of the library. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

/* settings of the other route only, and why */
static psdm_status refuse_others(const psdmp_job_calibrate *j) {
  static const struct {
    const char *setting, *why;
  } others[] = {
      {"estimator", "each step has a fixed method"},
      {"kinematics", "velocities and accelerations come from the positions"},
      {"delay", "steps use no delay"},
      {"lambda", "steps have no prior"},
      {"prior", "steps have no prior; give results of earlier runs to `params`"},
      {"plain_friction", "the friction of steps is LuGre's"},
      {"friction_columns", "the friction of steps is LuGre's"},
      {"springs", "the friction of steps is LuGre's"},
      {"decimate", "steps use every row"},
      {"threads", "steps choose their own"},
      {"cache", "steps keep every row"},
      {"checkpoint", "`out` is written after every step, and `params` continues from it"},
      {"rest", "each step detects its own rows at rest"},
      {"urdf",
       "steps find base parameters, which do not determine single links; use `route = oneshot` for link inertias"},
      {"compare", "compare two results of steps by their `json`"},
      {"covariance", "steps always store it in `out`"},
  };
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    if (psdmp_job_calibrate_asked(j, others[k].setting))
      return psdmp_job_wrong(&j->job, "`%s` cannot be used with `route = steps`: %s", others[k].setting, others[k].why);
  return PSDM_OK;
}

/* ---- weight: FILE=KG[,X,Y,Z] ---- */

static psdm_status bad_weight(const psdmp_job_calibrate *j, const char *text, const char *what) {
  return psdmp_job_wrong(&j->job, "`weight` '%s': %s", psdmp_job_safe(&j->job, text), what);
}

/* "2.5" or "2.5,0,0,0.1" */
static bool read_mass(const char *text, double mass[4]) {
  int found = 0;
  for (const char *at = text;; at++) {
    size_t length = strcspn(at, ",");
    if (found == 4 || !psdmp_base_parse_number(at, length, &mass[found++])) return false;
    at += length;
    if (!*at) break;
  }
  return (found == 1 || found == 4) && mass[0] > 0 && isfinite(mass[0]) && isfinite(mass[1]) && isfinite(mass[2]) &&
         isfinite(mass[3]);
}

static psdm_status take_weight(psdmp_job_calibrate *j, const char *text) {
  const char *equals = strrchr(text, '=');
  double mass[4] = {0};
  int found = 0, of_others = 0;
  if (!equals || equals == text || !read_mass(equals + 1, mass))
    return bad_weight(j, text, "FILE=KG or FILE=KG,X,Y,Z was expected, with a mass above 0");
  for (int i = 0; i < j->set.log.count; i++) {
    psdm_steps_log *log = &j->steps.log[i];
    if (strlen(log->path) != (size_t)(equals - text) || strncmp(log->path, text, (size_t)(equals - text)) != 0)
      continue;
    if (log->step != PSDM_STEP_MOTOR) {
      of_others++;
      continue;
    }
    if (log->mass > 0) return bad_weight(j, text, "duplicate weight for this log");
    log->mass = mass[0];
    memcpy(log->com, mass + 1, sizeof log->com);
    found++;
  }
  if (found) return PSDM_OK;
  return bad_weight(
      j, text, of_others ? "only motor logs have a weight" : "no motor log has this name; write it as after motor:");
}

static psdm_status take_weights(psdmp_job_calibrate *j) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < j->set.weight.count && !status; k++) status = take_weight(j, j->set.weight.value[k]);
  return status;
}

/* ---- numbers ---- */

static psdm_status choose_holdout(psdmp_job_calibrate *j) {
  double *share = &j->steps.options.holdout;
  if (!j->set.holdout) return PSDM_OK;
  if (!psdm_parse_number(j->set.holdout, share) || !(*share >= 0 && *share < 0.95))
    return psdmp_job_wrong(&j->job, "`holdout` '%s': a share from 0 to 0.95 was expected; steps choose their blocks",
                           psdmp_job_safe(&j->job, j->set.holdout));
  if (*share == 0) *share = -1; /* none */
  return PSDM_OK;
}

static psdm_status bad_cutoff(const psdmp_job_calibrate *j) {
  return psdmp_job_wrong(&j->job, "`cutoff` '%s': one frequency or %d, one for each step, were expected",
                         psdmp_job_safe(&j->job, j->set.cutoff), PSDM_STEPS);
}

/* one for all, or one for each step */
static psdm_status choose_cutoff(psdmp_job_calibrate *j) {
  double *cutoff = j->steps.options.cutoff;
  int found = 0;
  for (const char *at = j->set.cutoff; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char part[64];
    if (found == PSDM_STEPS) return bad_cutoff(j);
    snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
    psdm_status status = psdmp_job_calibrate_positive_or(j, "cutoff", part, "none", INFINITY, &cutoff[found++]);
    if (status) return status;
  }
  for (int k = 1; k < PSDM_STEPS && found == 1; k++) cutoff[k] = cutoff[0];
  return found > 1 && found < PSDM_STEPS ? bad_cutoff(j) : PSDM_OK;
}

psdm_status psdmp_job_calibrate_step_words(psdmp_job_calibrate *j) {
  const char *const path[] = {j->set.out, j->set.predict};
  psdm_status status = refuse_others(j);
  if (!status && (!(j->set.rate >= 0) || !(j->set.max_rel >= 0)))
    status = psdmp_job_wrong(&j->job, "`rate` and `max_rel` must not be negative");
  if (!status) status = psdmp_job_calibrate_accept(j);
  if (!status) status = take_weights(j);
  if (!status) status = choose_holdout(j);
  if (!status) status = choose_cutoff(j);
  psdmp_job_calibrate_log_options(j);
  return status ? status : psdmp_job_calibrate_one_output(j, path, 2, "`json`, `out` and `predict`");
}
