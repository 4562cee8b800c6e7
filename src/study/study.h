/* study.h: the jobs that look at a robot, for the list of all jobs. */
#ifndef PSDMP_STUDY_H
#define PSDMP_STUDY_H

#include "job/job.h"

/* src/study/NAME.c has each. */
#define PSDMP_STUDY_KINDS(X) \
  X(analyze) X(bench) X(codegen) X(convert) X(derive) X(eval) X(inspect) X(linearize) X(params) X(reduce)
#define PSDMP_STUDY_DECLARE(name) extern const psdmp_job_kind psdmp_study_##name##_kind;
PSDMP_STUDY_KINDS(PSDMP_STUDY_DECLARE)

/* "inverse,mass", "usual" (all up to pose) or "all": bits of psdm_code_options; optional are those that no word names
 * alone: codegen.c */
psdm_status psdmp_study_functions(const psdm_job *job, const char *list, unsigned *functions, unsigned *optional);

/* A folder for output files (NULL: none is wanted): checked before the work, made after it: plot_io.c. */
psdm_status psdmp_study_folder_check(const psdm_job *job, const char *directory);
psdm_status psdmp_study_folder(const psdm_job *job, const char *directory);

#endif
