/* tell.c: what a job says: errors, notes, progress. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "job/state_priv.h"
#include "psdm/text.h"

#define FORMATTED(text, format)                         \
  do {                                                  \
    va_list args;                                       \
    va_start(args, format);                             \
    psdmp_base_vprint(text, sizeof text, format, args); \
    va_end(args);                                       \
  } while (0)

psdm_status psdmp_job_wrong(const psdm_job *job, const char *format, ...) {
  char text[1024];
  FORMATTED(text, format);
  job->state->error = (psdm_error){.status = PSDM_E_SETTING};
  snprintf(job->state->error.text, sizeof job->state->error.text, "%.511s", text);
  return PSDM_E_SETTING;
}

psdm_status psdmp_job_fail(const psdm_job *job, const psdm_error *error) {
  psdm_error *own = &job->state->error;
  *own = *error;
  if (own->status == PSDM_E_STOPPED) own->text[0] = '\0'; /* where it was: of no use to who stopped it */
  return own->status;
}

psdm_status psdmp_job_nothing(const psdm_job *job, const char *why) {
  return psdmp_base_fail(&job->state->error, PSDM_E_STOPPED, "", 0, 0, "%s", why);
}

psdm_status psdmp_job_memory(const psdm_job *job) { return psdmp_base_fail_status(&job->state->error, PSDM_E_MEMORY); }

psdm_status psdmp_job_no_word(const psdm_job *job, const char *what, const char *text, const char *const *words,
                              int count) {
  const char *near = psdmp_base_nearest(text, words, (size_t)count);
  char known[512] = "";
  for (int i = 0; i < count; i++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", words[i]);
  if (near)
    return psdmp_job_wrong(job, "%s '%s': did you mean '%s'? There are %s", what, psdmp_job_safe(job, text), near,
                           known);
  return psdmp_job_wrong(job, "%s '%s': one of %s was expected", what, psdmp_job_safe(job, text), known);
}

psdm_status psdmp_job_unknown(const psdm_job *job, const char *setting, const char *text, const char *const *words,
                              int count) {
  char what[64];
  snprintf(what, sizeof what, "`%.60s`", setting);
  return psdmp_job_no_word(job, what, text, words, count);
}

void psdmp_job_tell(const psdm_job *job, psdm_job_event event, const char *format, ...) {
  char text[1024];
  if (!job->host.tell) return;
  FORMATTED(text, format);
  job->host.tell(job->host.user, event, text);
}

const char *psdmp_job_safe(const psdm_job *job, const char *name) {
  psdmp_job_state *state = job->state;
  return psdm_escape(name, state->safe[state->next_safe++ % PSDMP_JOB_SAFE], sizeof state->safe[0]);
}

/* ---- progress: callers are asked a few times a second ---- */

bool psdmp_job_interrupted(const psdm_job *job) {
  psdmp_job_state *state = job->state;
  if (!state->stopped && job->host.stopped) state->stopped = job->host.stopped(job->host.user);
  return state->stopped;
}

static const double pause_between = 0.02; /* s */

void psdmp_job_ask_soon(const psdm_job *job) { job->state->asked = 0; }

bool psdmp_job_progress(const psdm_job *job, const char *doing, double share) {
  psdmp_job_state *state = job->state;
  double now = psdmp_base_clock();
  if (!job->host.progress || state->stopped || now - state->asked < pause_between) return !psdmp_job_interrupted(job);
  state->asked = now;
  if (!job->host.progress(job->host.user, doing, share)) state->stopped = true;
  return !psdmp_job_interrupted(job);
}

bool psdmp_job_watch(void *job, const char *doing, double share) { return psdmp_job_progress(job, doing, share); }

bool psdmp_job_count(const psdm_job *job, double began, long long done, long long total, long long rows,
                     const char *unit) {
  char text[100];
  psdmp_job_state *state = job->state;
  double now = psdmp_base_clock();
  if (now - state->asked < pause_between) return !psdmp_job_interrupted(job);
  if (total > 0) psdmp_base_print(text, sizeof text, "%lld %s", rows, unit);
  else
    psdmp_base_print(text, sizeof text, "%lld %s, %.0f per second", rows, unit, (double)rows / fmax(now - began, 1e-3));
  return psdmp_job_progress(job, text, total > 0 ? (double)done / (double)total : -1);
}
