/* payload_check.c: the settings of payload as options of the library. */
#include <math.h>
#include <string.h>

#include "job/payload_priv.h"
#include "psdm/text.h"

/* ---- settings that need no robot ---- */

static psdm_status check_names(const psdmp_job_payload *j, const char *setting, const psdm_setting_list *list) {
  for (int i = 0; i < list->count; i++)
    if (!list->value[i][0]) return psdmp_job_wrong(&j->job, "`%s`: empty file name", setting);
  return PSDM_OK;
}

static psdm_status check_logs(psdmp_job_payload *j) {
  static const char *const lists[] = {"log", "empty"};
  const psdmp_job_payload_settings *s = &j->set;
  const psdm_job *job = &j->job;
  if (!s->params)
    return psdmp_job_wrong(
        job, "missing `params = FILE`: the calibration of the robot without the load, from psdm calibrate");
  if (s->load && (s->log.count || s->empty.count || s->predict))
    return psdmp_job_wrong(job, "`load` gives a known load and cannot be used with `log`, `empty` or `predict`");
  if (!s->load && !s->log.count)
    return psdmp_job_wrong(job, "missing `log = FILE` (the log with the load), or `load` for a known load");
  psdm_status status = check_names(j, "log", &s->log);
  if (!status) status = check_names(j, "empty", &s->empty);
  for (int i = 0; i < s->log.count * s->empty.count && !status; i++)
    if (strcmp(s->log.value[i / s->empty.count], s->empty.value[i % s->empty.count]) == 0)
      status = psdmp_job_wrong(job, "'%s' is given both with and without the load",
                               psdmp_job_safe(job, s->empty.value[i % s->empty.count]));
  j->options.files = s->log.count;
  j->options.path = s->log.value;
  j->options.empty_files = s->empty.count;
  j->options.empty_path = s->empty.value;
  return status ? status : psdmp_job_logs(job, 2, lists, NULL, &j->options.log);
}

static psdm_status choose_numbers(psdmp_job_payload *j) {
  const psdmp_job_payload_settings *s = &j->set;
  psdm_payload_options *o = &j->options;
  if (!(s->rate >= 0)) return psdmp_job_wrong(&j->job, "`rate` must not be negative");
  if (s->cutoff && strcmp(s->cutoff, "none") == 0) o->cutoff = INFINITY;
  else if (s->cutoff && !(psdm_parse_number(s->cutoff, &o->cutoff) && o->cutoff > 0))
    return psdmp_job_wrong(&j->job, "`cutoff` '%s': a number above 0, or 'none', was expected",
                           psdmp_job_safe(&j->job, s->cutoff));
  o->unconstrained = s->plain;
  o->drift = s->drift;
  o->log.columns = s->columns;
  o->log.degrees = s->degrees;
  o->log.rate = s->rate;
  o->log.ignore_extra = s->ignore_extra;
  return PSDM_OK;
}

/* what would end up mixed on standard output */
static psdm_status check_outputs(const psdmp_job_payload *j) {
  const psdmp_job_payload_settings *s = &j->set;
  const char *const path[] = {s->out, s->predict};
  int standard = s->json;
  for (int k = 0; k < 2; k++) standard += path[k] && strcmp(path[k], "-") == 0;
  return standard > 1 ? psdmp_job_wrong(&j->job, "only one of `json`, `out` and `predict` can use standard output")
                      : PSDM_OK;
}

static int count_numbers(const char *text) {
  int count = 1;
  for (; *text; text++) count += *text == ',';
  return count;
}

/* "2.5,0,0,0.08": a point; with six more numbers its own inertia */
static psdm_status read_load(psdmp_job_payload *j) {
  const char *text = j->set.load;
  double value[10] = {0};
  if (!text) return PSDM_OK;
  int count = count_numbers(text);
  if (count != 4 && count != 10)
    return psdmp_job_wrong(&j->job,
                           "`load` '%s': mass and centre, four numbers, or with the inertia ten, were expected",
                           psdmp_job_safe(&j->job, text));
  psdm_status status = psdmp_job_numbers(&j->job, "load", text, count, value);
  if (status) return status;
  if (!(value[0] > 0))
    return psdmp_job_wrong(&j->job, "`load` '%s': the mass must be above 0", psdmp_job_safe(&j->job, text));
  j->load = (psdm_load){.mass = value[0], .com = {value[1], value[2], value[3]}};
  memcpy(j->load.inertia, value + 4, sizeof j->load.inertia);
  psdm_load_to_standard(&j->load, j->pi);
  return PSDM_OK;
}

psdm_status psdmp_job_payload_words(psdmp_job_payload *j) {
  psdm_status status = check_logs(j);
  psdm_verdict_find(j->set.accept, &j->accept);
  if (!status) status = choose_numbers(j);
  if (!status) status = read_load(j);
  return status ? status : check_outputs(j);
}

/* ---- settings that depend on the robot ---- */

static psdm_status per_joint(const psdmp_job_payload *j, const char *setting, const char *text, double **out) {
  const psdm_job *job = &j->job;
  if (!text) return PSDM_OK;
  if (count_numbers(text) != j->n)
    return psdmp_job_wrong(job, "`%s` '%s': %d numbers were expected, one per joint", setting,
                           psdmp_job_safe(job, text), j->n);
  *out = psdmp_job_array(job, (size_t)j->n, sizeof **out);
  return *out ? psdmp_job_numbers(job, setting, text, j->n, *out) : psdmp_job_memory(job);
}

static psdm_status choose_link(psdmp_job_payload *j) {
  const psdm_robot *robot = j->job.robot;
  if (j->set.link) return psdmp_job_find_link(&j->job, "link", robot, j->set.link, &j->joint);
  j->joint = psdmp_job_default_link(&j->job, robot, "`link` selects another");
  return PSDM_OK;
}

psdm_status psdmp_job_payload_numbers(psdmp_job_payload *j) {
  j->n = psdm_robot_n(j->job.robot);
  psdm_status status = per_joint(j, "offset", j->set.offset, &j->offset);
  if (!status) status = per_joint(j, "sign", j->set.sign, &j->sign);
  for (int i = 0; i < j->n && !status && j->sign; i++)
    if (fabs(j->sign[i]) != 1) status = psdmp_job_wrong(&j->job, "`sign`: %g is neither 1 nor -1", j->sign[i]);
  if (!status) status = choose_link(j);
  if (status) return status;
  j->options.log.offset = j->offset;
  j->options.log.sign = j->sign;
  j->options.link = psdm_robot_link_name(j->job.robot, j->joint);
  return PSDM_OK;
}
