/* jobs.h: what the tests of jobs share. A failure fails the test with the library's sentence. */
#ifndef JOBS_H
#define JOBS_H

#include <string.h>

#include "support.h"

static inline psdm_job *job_of(const char *command, const psdm_job_host *host, const psdm_robot *robot) {
  psdm_job *job;
  psdm_error error;
  assert_int_equal(psdm_job_new(command, host, &job, &error), PSDM_OK);
  assert_int_equal(psdm_job_robot(job, robot, &error), PSDM_OK);
  return job;
}

static inline void set(psdm_job *job, const char *name, const char *text) {
  psdm_error error;
  if (psdm_job_set(job, name, text, &error)) fail_msg("%s", error.text);
}

static inline void run(psdm_job *job) {
  psdm_error error = {0};
  if (psdm_job_run(job, &error)) fail_msg("%s", error.text);
}

/* it does not run, and this is how its sentence begins */
static inline void refuses(psdm_job *job, psdm_status status, const char *text) {
  psdm_error error = {0};
  assert_int_equal(psdm_job_run(job, &error), status);
  if (strncmp(error.text, text, strlen(text)) != 0) fail_msg("'%s' in place of '%s'", error.text, text);
  psdm_job_free(job);
}

/* the result as JSON is the document's */
static inline void writes_its_document(const psdm_job *job) {
  psdm_output *one, *other;
  assert_int_equal(psdm_output_memory(NULL, &one), PSDM_OK);
  assert_int_equal(psdm_output_memory(NULL, &other), PSDM_OK);
  psdm_job_json(job, one);
  psdm_result_write_json(psdm_job_result(job), other);
  assert_string_equal(psdm_output_kept(one), psdm_output_kept(other));
  psdm_output_abort(&one);
  psdm_output_abort(&other);
}

#endif
