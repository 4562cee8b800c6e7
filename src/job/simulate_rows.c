/* simulate_rows.c: rows of numbers under names. */
#include "job/simulate_priv.h"

enum { ROW_GROUPS = 24 };

/* what there is to tell of a moment, in the order of the columns */
static int groups_of(const psdmp_job_simulate *j, const psdm_sim_row *row, psdmp_job_group list[ROW_GROUPS]) {
  int count = 0, n = row->n;
#define GROUP(...) list[count++] = (psdmp_job_group)PSDMP_JOB_GROUP(__VA_ARGS__)
  GROUP("t", 0, &row->t);
  GROUP("q", n, row->q);
  GROUP("qd", n, row->qd);
  GROUP("qdd", n, row->qdd);
  GROUP("tau", n, row->tau);
  if (j->options.friction != PSDM_FRICTION_NONE) GROUP("friction", n, row->friction);
  if (row->z) GROUP("z", n, row->z);
  if (row->theta) GROUP("theta", n, row->theta);
  if (row->theta) GROUP("thetad", n, row->thetad);
  if (row->passive && row->joints) GROUP("passive", row->joints, row->passive);
  if (row->control_states)
    list[count++] = (psdmp_job_group){NULL, row->control_states, row->control, j->state_names, NULL};
  GROUP("T", 0, &row->kinetic);
  GROUP("U", 0, &row->potential);
  if (row->theta) GROUP("Ue", 0, &row->elastic);
  if (row->z) GROUP("Ub", 0, &row->bristles);
  GROUP("supplied", 0, &row->supplied);
  GROUP("dissipated", 0, &row->dissipated);
  GROUP("external", 0, &row->external);
  if (j->options.payloads) GROUP("payload", 0, &row->payload);
  if (j->tracking.last) GROUP("error", n, j->tracking.last);
#undef GROUP
  return count;
}

void psdmp_job_simulate_row(psdmp_job_simulate *j, const psdm_sim_row *row) {
  psdmp_job_group list[ROW_GROUPS];
  if (j->out) psdmp_job_rows_add(j->out, list, groups_of(j, row, list));
}
