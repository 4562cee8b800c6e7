/* state_priv.h: what a job gathers as it runs. */
#ifndef PSDMP_JOB_STATE_PRIV_H
#define PSDMP_JOB_STATE_PRIV_H

#include "job/job.h"

/* A table of the caller's, known to the readers of files by its name. */
typedef struct psdmp_job_table {
  struct psdmp_job_table *next;
  char name[80];
} psdmp_job_table;

/* A text of the caller's in place of the file of this name. */
typedef struct psdmp_job_text {
  struct psdmp_job_text *next;
  const char *name, *text;
} psdmp_job_text;

/* A log of the caller's: an entry of a list. */
typedef struct psdmp_job_log {
  struct psdmp_job_log *next;
  const psdm_setting *setting;
  int index;
  const psdm_log_table *table;
} psdmp_job_log;

/* Rows, or the document, of a setting that are kept in memory. */
typedef struct psdmp_job_kept {
  struct psdmp_job_kept *next;
  const char *setting;
  char **names; /* NULL: no row yet */
  double *values;
  long rows, room;
  int columns;
  psdm_output *text; /* NULL: no document yet */
} psdmp_job_kept;

enum { PSDMP_JOB_SAFE = 8 };

typedef struct psdmp_job_state {
  psdmp_base_arena arena;
  psdm_error error;
  bool ran, stopped, told_link;
  const psdm_robot *robot; /* as read */
  double asked;            /* when the caller was asked last whether to go on */
  char safe[PSDMP_JOB_SAFE][256];
  int next_safe;
  psdmp_job_table *tables;
  psdmp_job_text *texts;
  psdmp_job_log *logs;
  psdmp_job_kept *kept;
} psdmp_job_state;

void psdmp_job_state_free(psdmp_job_state *state);
bool psdmp_job_state_keep(psdmp_job_state *state, const char *setting);
psdmp_job_kept *psdmp_job_state_kept(const psdmp_job_state *state, const char *setting);

#endif
