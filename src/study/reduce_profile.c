/* reduce_profile.c: the states that a reduction is made for: ranges, or rows of a table. */
#include <stdlib.h>
#include <string.h>

#include "study/reduce_priv.h"

const char *psdmp_study_reduce_profile_name(const psdmp_study_reduce *j) {
  return j->profile.count ? "listed" : j->set.profile;
}

/* rows of q, qd, qdd in the order of psdm_eval's names */
static psdm_status read_rows(psdmp_study_reduce *j, psdm_csv *csv, const int *column, int columns, double *row) {
  long room = 0;
  bool more = true;
  psdm_error error;
  for (;;) {
    if (psdm_csv_row(csv, row, &more, &error)) return psdmp_job_fail(&j->job, &error);
    if (!more) break;
    if (!psdmp_base_room(NULL, &j->states, j->profile.count, 1, &room, (size_t)columns * sizeof *j->states))
      return psdmp_job_memory(&j->job);
    for (int k = 0; k < columns; k++) j->states[j->profile.count * columns + k] = row[column[k]];
    j->profile.count++;
  }
  j->profile.states = j->states;
  if (j->profile.count >= 10) return PSDM_OK;
  psdmp_base_fail(&error, PSDM_E_PARSE, psdm_csv_file(csv), 0, 0, "%ld states are too few for a profile",
                  j->profile.count);
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status match_columns(const psdmp_study_reduce *j, psdm_csv *csv, int *column, int columns) {
  char name[32];
  psdm_error error;
  for (int k = 0; k < columns; k++) {
    psdm_eval_input_name(j->job.robot, PSDM_F_INVERSE, k, name, sizeof name);
    column[k] = psdm_csv_find(csv, name);
    if (column[k] >= 0) continue;
    psdmp_base_fail(&error, PSDM_E_PARSE, psdm_csv_file(csv), psdm_csv_header_line(csv), 0,
                    "missing column '%s'; a profile needs q1.. qd1.. qdd1..", name);
    return psdmp_job_fail(&j->job, &error);
  }
  /* room that doubles */
  return psdm_csv_fits(csv, 3 * sizeof(double) * (size_t)columns, psdm_robot_memory(j->job.robot), &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

static psdm_status read_file(psdmp_study_reduce *j, const char *path) {
  psdm_csv *csv;
  psdm_error error;
  int columns = psdm_eval_inputs(j->job.robot, PSDM_F_INVERSE);
  psdmp_job_reads(&j->job, path);
  if (psdm_csv_open(path, NULL, &csv, &error)) return psdmp_job_fail(&j->job, &error);
  int *column = psdmp_job_array(&j->job, (size_t)columns, sizeof *column);
  double *row = psdmp_job_array(&j->job, (size_t)psdm_csv_columns(csv), sizeof *row);
  psdm_status status = column && row ? match_columns(j, csv, column, columns) : psdmp_job_memory(&j->job);
  if (!status) status = read_rows(j, csv, column, columns, row);
  psdm_csv_close(csv);
  return status;
}

psdm_status psdmp_study_reduce_profile(psdmp_study_reduce *j) {
  const char *name = j->set.profile;
  j->profile = strcmp(name, "fast") == 0 ? psdm_profile_fast() : psdm_profile_slow();
  return strcmp(name, "slow") == 0 || strcmp(name, "fast") == 0 ? PSDM_OK : read_file(j, name);
}
