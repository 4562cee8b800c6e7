/* report.c: a page's results: files, and what is answered of robot files. */
#include <string.h>

#include "job/job.h"
#include "psdm/text.h"

/* one file, with what all that is done for it has in common */
typedef struct source {
  const psdm_job_host *host; /* the caller's */
  psdm_report *report;
  const char *path;
  psdm_robot *robot;
  int lacking;
  bool again; /* what is noticed about the robot has been told */
} source;

/* ---- the host of the jobs: the caller's, told nothing twice ---- */

static void tell(void *user, psdm_job_event event, const char *text) {
  const source *s = user;
  bool said = s->again && event > PSDM_JOB_DETAIL && event < PSDM_JOB_STAGE;
  if (s->host->tell && !said) s->host->tell(s->host->user, event, text);
}

static bool progress(void *user, const char *doing, double share) {
  const source *s = user;
  return !s->host->progress || s->host->progress(s->host->user, doing, share);
}

static bool stopped(void *user) {
  const source *s = user;
  return s->host->stopped && s->host->stopped(s->host->user);
}

static void reads(void *user, const char *path) {
  const source *s = user;
  if (s->host->reads) s->host->reads(s->host->user, path);
}

/* ---- a robot file: the results that it gives ---- */

/* "arm" of "some/where/arm.yaml" */
static void short_name(const char *path, char *out, size_t size) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  snprintf(out, size, "%.*s", (int)(dot && dot > name ? dot - name : (int)strlen(name)), name);
}

static psdm_status answer(source *s, const char *command, psdm_job **job, psdm_error *error) {
  const psdm_job_host host = {.user = s, .tell = tell, .progress = progress, .stopped = stopped, .reads = reads};
  psdm_status status = psdm_job_new(command, &host, job, error);
  if (!status) status = psdm_job_robot(*job, s->robot, error);
  if (!status) status = psdm_job_run(*job, error);
  if (!status && psdm_job_stopped(*job)) status = psdmp_base_fail_status(error, PSDM_E_STOPPED);
  return status;
}

/* a robot that cannot be derived (a closed loop) has its picture all the same; a machine that fails makes no page */
static psdm_status excuse(source *s, const char *command, psdm_status status) {
  bool machine = status == PSDM_E_MEMORY || status == PSDM_E_IO || status == PSDM_E_ARGUMENT;
  char text[640], name[256];
  if (status == PSDM_E_STOPPED) return status;
  psdm_escape(s->path, name, sizeof name);
  if (machine)
    psdmp_base_print(text, sizeof text, "%s: psdm %s failed; run it alone to see why; nothing was written", name,
                     command);
  else
    psdmp_base_print(text, sizeof text,
                     "%s: psdm %s does not work for this robot; omitted from the page, run 'psdm %s' to see why", name,
                     command, command);
  if (s->host->tell) s->host->tell(s->host->user, PSDM_JOB_WARNING, text);
  s->lacking += !machine;
  return machine ? status : PSDM_OK;
}

static psdm_status add_answer(source *s, const char *command, psdm_error *error) {
  char name[48];
  psdm_job *job = NULL;
  psdm_status status = answer(s, command, &job, error);
  short_name(s->path, name, sizeof name);
  if (!status) status = psdm_report_add_result(s->report, psdm_job_result(job), name, error);
  else if (s->again) status = excuse(s, command, status);
  psdm_job_free(job);
  s->again = true;
  return status;
}

static psdm_status add_robot(source *s, psdm_error *error) {
  static const char *const commands[] = {"inspect", "derive", "params"};
  psdm_status status =
      psdm_job_load(s->host, s->path, false, NULL, &(psdm_robot_settings){.missing_inertia = "auto"}, &s->robot, error);
  for (int k = 0; k < 3 && !status; k++) status = add_answer(s, commands[k], error);
  psdm_robot_free(s->robot);
  return status;
}

psdm_status psdm_job_report(const psdm_job_host *host, psdm_report *report, const char *path, int *lacking,
                            psdm_error *error) {
  psdm_error own;
  source s = {.host = host ? host : &(psdm_job_host){0}, .report = report, .path = path};
  if (!error) error = &own;
  psdm_status status = psdm_report_add(report, path, error);
  if (status == PSDM_E_ROBOT && strcmp(path, "-") == 0)
    return psdmp_base_fail(error, PSDM_E_SETTING, "", 0, 0,
                           "'-': only results can come from standard input; a robot must be a file");
  if (status == PSDM_E_ROBOT) status = add_robot(&s, error);
  if (lacking) *lacking += s.lacking;
  return status;
}
