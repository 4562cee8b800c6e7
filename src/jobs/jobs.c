/* jobs.c: the jobs by the names of their commands. */
#include <string.h>

#include "job/job.h"
#include "study/study.h"

static const psdmp_job_kind *const kinds[] = {
#define JOB_KIND(name) &psdmp_job_##name##_kind,
#define STUDY_KIND(name) &psdmp_study_##name##_kind,
    PSDMP_JOB_KINDS(JOB_KIND) PSDMP_STUDY_KINDS(STUDY_KIND)
#undef JOB_KIND
#undef STUDY_KIND
};

static const psdmp_job_kind *find_kind(const char *command) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strcmp(kinds[k]->command, command) == 0) return kinds[k];
  return NULL;
}

const psdm_setting *psdm_job_settings(const char *command) {
  const psdmp_job_kind *kind = find_kind(command);
  return kind ? kind->settings : NULL;
}

const psdm_setting *psdm_job_arguments(const char *command) {
  static const psdm_setting none[1];
  const psdmp_job_kind *kind = find_kind(command);
  return !kind ? NULL : kind->arguments ? kind->arguments : none;
}

psdm_status psdm_job_new(const char *command, const psdm_job_host *host, psdm_job **job, psdm_error *error) {
  const psdmp_job_kind *kind = find_kind(command);
  *job = NULL;
  return kind ? psdmp_job_new(kind, host, job, error)
              : psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "unknown job '%.40s'", command);
}
