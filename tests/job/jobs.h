/* jobs.h: what the tests of jobs share. A failure fails the test with the library's sentence. */
#ifndef JOBS_H
#define JOBS_H

#include <stdio.h>
#include <string.h>

#include "support.h"

#ifndef JOB_ROBOT
#define JOB_ROBOT "two_link"
#endif

static psdm_robot *robot; /* outlives all jobs */

static inline int load(void **state) {
  (void)state;
  robot = load_shipped(JOB_ROBOT);
  return 0;
}

static inline int unload(void **state) {
  (void)state;
  psdm_robot_free(robot);
  return 0;
}

static inline psdm_job *job_of(const char *command, const psdm_job_host *host, const psdm_robot *of) {
  psdm_job *job;
  psdm_error error;
  assert_int_equal(psdm_job_new(command, host, &job, &error), PSDM_OK);
  assert_int_equal(psdm_job_robot(job, of, &error), PSDM_OK);
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

/* One setting that a job does not take, and how the sentence begins. */
typedef struct wrong_setting {
  const char *name, *value, *text;
} wrong_setting;

/* the job is refused for it: at once, or when it runs */
static inline void refuses_setting(psdm_job *job, const wrong_setting *wrong) {
  psdm_error error = {0};
  psdm_status status = psdm_job_set(job, wrong->name, wrong->value, &error);
  if (!status) status = psdm_job_run(job, &error);
  assert_int_equal(status, PSDM_E_SETTING);
  if (strncmp(error.text, wrong->text, strlen(wrong->text)) != 0)
    fail_msg("'%s' in place of '%s'", error.text, wrong->text);
  psdm_job_free(job);
}

/* a host that wants to stop as soon as it is asked */
static inline bool always(void *user) {
  (void)user;
  return true;
}

/* what a host was told, as lines "EVENT text" */
typedef struct told {
  char text[4096];
} told;

static inline void hear(void *user, psdm_job_event event, const char *text) {
  told *t = user;
  size_t used = strlen(t->text);
  snprintf(t->text + used, sizeof t->text - used, "%d %s\n", (int)event, text);
}

static inline bool was_told(const told *t, psdm_job_event event, const char *text) {
  char line[512];
  snprintf(line, sizeof line, "%d %s\n", (int)event, text);
  return strstr(t->text, line) != NULL;
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

/* a setting with this value is refused with a text that begins like this */
static inline void expect_wrong(const psdm_robot *of, const char *command, const char *name, const char *value,
                                const char *text) {
  refuses_setting(job_of(command, NULL, of), &(wrong_setting){name, value, text});
}

#endif
