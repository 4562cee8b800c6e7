/* plan_check.c: the settings of plan: what contradicts, numbers, limits, the trajectory. */
#include <math.h>
#include <string.h>

#include "job/plan_priv.h"

static psdm_status check_words(psdmp_job_plan *j) {
  const psdm_job *job = &j->job;
  const psdmp_job_plan_settings *s = &j->set;
  j->what = psdmp_job_choice(job, "what");
  psdm_friction_find(s->friction, &j->friction);
  if (j->what == PLAN_SCALE && !s->trajectory) return psdmp_job_wrong(job, "scale needs `trajectory = FILE.csv`");
  if (j->what == PLAN_ENERGY && s->trajectory) return psdmp_job_wrong(job, "`trajectory` needs time or scale");
  if (s->trajectory && (s->to || s->from)) return psdmp_job_wrong(job, "give either `from` and `to`, or `trajectory`");
  if (!s->trajectory && !s->to) return psdmp_job_wrong(job, "missing `to = Q,...` or `trajectory = FILE.csv`");
  if (j->what != PLAN_SCALE && s->factor != 0) return psdmp_job_wrong(job, "`factor` needs scale");
  if (j->what == PLAN_SCALE && !(s->factor >= 0 && isfinite(s->factor)))
    return psdmp_job_wrong(job, "`factor` %g: a positive number was expected", s->factor);
  return PSDM_OK;
}

/* 0 for the default, or a whole number of at least 2 */
static bool counts(double x, double most) { return x == 0 || (x >= 2 && x <= most && x == floor(x)); }

static psdm_status check_numbers(const psdmp_job_plan *j) {
  const psdm_job *job = &j->job;
  const psdmp_job_plan_settings *s = &j->set;
  const struct {
    const char *name;
    double value;
  } rows[] = {{"duration", s->duration}, {"tolerance", s->tolerance}, {"wall", s->wall}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(rows[k].value >= 0) || !isfinite(rows[k].value))
      return psdmp_job_wrong(job, "`%s` must not be negative", rows[k].name);
  if (!(s->output > 0) || !isfinite(s->output))
    return psdmp_job_wrong(job, "`output` %g: a positive number was expected", s->output);
  if (s->blend != -1 && !(s->blend >= 0 && s->blend <= 1))
    return psdmp_job_wrong(job, "`blend` %g: 0 to 1 was expected", s->blend);
  if (!counts(s->nodes, 10000))
    return psdmp_job_wrong(job, "`nodes` %g: a whole number from 2 to 10000 was expected", s->nodes);
  if (!counts(s->points, 1e7))
    return psdmp_job_wrong(job, "`points` %g: a whole number from 2 to 10000000 was expected", s->points);
  if (s->json && s->out && strcmp(s->out, "-") == 0)
    return psdmp_job_wrong(job, "`json` and `out = -` cannot both use standard output");
  return PSDM_OK;
}

psdm_status psdmp_job_plan_words(psdmp_job_plan *j) {
  psdm_status status = check_words(j);
  return status ? status : check_numbers(j);
}

/* ---- what needs the robot ---- */

static psdm_status read_numbers(psdmp_job_plan *j) {
  const psdm_job *job = &j->job;
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
  psdm_status status = PSDM_OK;
  for (size_t k = 0; k < sizeof list / sizeof *list && !status; k++)
    if (list[k].text) status = psdmp_job_numbers(job, list[k].name, list[k].text, j->n, list[k].to);
  for (int i = 0; i < j->n && !status; i++)
    for (int l = LIMIT_VELOCITY; l < LIMITS && !status; l++)
      if (!(j->limit[l][i] > 0))
        status = psdmp_job_wrong(
            job, "joint '%s': limits of velocity, acceleration and torque are positive numbers; %g was found",
            psdmp_job_safe(job, psdmp_job_joint(job->robot, i)->name), j->limit[l][i]);
  return status;
}

/* the columns that out has: tau is not an unknown column of a trajectory */
static bool own_columns(const psdmp_job_plan *j) {
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

static psdm_status load_trajectory(psdmp_job_plan *j) {
  const psdm_job *job = &j->job;
  psdm_error error;
  if (!j->set.trajectory) return PSDM_OK;
  psdmp_job_reads(job, j->set.trajectory);
  psdm_status status = psdmp_job_table_fits(job, job->robot, j->set.trajectory, 3 * j->n);
  if (status) return status;
  return psdm_motion_load(j->set.trajectory, j->n, j->set.ignore_extra || own_columns(j), NULL, &j->path, &error)
             ? psdmp_job_fail(job, &error)
             : PSDM_OK;
}

psdm_status psdmp_job_plan_prepare(psdmp_job_plan *j) {
  const psdm_job *job = &j->job;
  psdm_error error;
  j->n = psdm_robot_n(job->robot);
  size_t n = (size_t)j->n;
  double *at = psdmp_job_array(job, (LIMITS + 9) * n, sizeof *at);
  if (!at || psdm_work_new(job->robot, NULL, &j->work)) return psdmp_job_memory(job);
  for (int l = 0; l < LIMITS; l++) j->limit[l] = at, at += n;
  for (int p = 0; p < 3; p++) j->peak[p] = at, at += n;
  j->from = at, at += n;
  j->to = at, at += n;
  j->state = at, at += 3 * n;
  j->tau = at;
  for (int i = 0; i < j->n; i++)
    for (int l = 0; l < LIMITS; l++) j->limit[l][i] = psdmp_job_limit(psdmp_job_joint(job->robot, i), l);
  psdm_status status = read_numbers(j);
  if (status) return status;
  return psdm_robot_ready(job->robot, &error) ? psdmp_job_fail(job, &error) : load_trajectory(j);
}
