/* job_errand.h: jobs whose memory runs out: what one is given, and an attempt at it. */
#ifndef JOB_ERRAND_H
#define JOB_ERRAND_H

#include "shortage.h"
#include "jobs.h"

/* a command, settings in pairs, and what is kept, each list ending with NULL; what else it takes (nullable): anything
 * from memory, a log from memory */
typedef struct errand {
  const char *command, *const *settings, *const *kept;
  psdm_status (*give)(psdm_job *job, psdm_error *error);
  const psdm_log_table *log;
} errand;

static inline psdm_status try_job(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const errand *e = what;
  psdm_job *job;
  (void)allocator;
  psdm_status status = psdm_job_new(e->command, NULL, &job, error);
  if (!status) status = psdm_job_robot(job, robot, error);
  for (int k = 0; e->settings[k] && !status; k += 2)
    status = psdm_job_set(job, e->settings[k], e->settings[k + 1], error);
  for (int k = 0; e->kept[k] && !status; k++) status = psdm_job_keep(job, e->kept[k], error);
  if (e->give && !status) status = e->give(job, error);
  if (e->log && !status) status = psdm_job_log(job, "log", e->log, error);
  if (!status) status = psdm_job_run(job, error);
  for (int k = 0; e->kept[k] && !status; k++) {
    psdm_job_rows rows;
    assert_true(psdm_job_rows_of(job, e->kept[k], &rows) || psdm_job_text_of(job, e->kept[k]));
  }
  psdm_job_free(job);
  return status;
}

#endif
