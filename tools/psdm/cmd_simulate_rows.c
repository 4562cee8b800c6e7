/* cmd_simulate_rows.c: rows of numbers under names. */
#include "cmd_simulate.h"

enum { ROW_GROUPS = 24 };

void simulate_header(const simulate_job *j, psdm_output *out, const column_group *groups, int count) {
  for (int g = 0; g < count; g++) {
    const char *name = groups[g].name;
    for (int i = 0; i < (groups[g].count ? groups[g].count : 1); i++) {
      if (g || i) psdm_output_text(out, ",");
      psdm_output_text(out, name ? name : psdm_control_state_name(j->controller, i));
      if (name && groups[g].count) psdm_output_print(out, "%d", i + 1);
    }
  }
  psdm_output_text(out, "\n");
}

void simulate_values(psdm_output *out, const column_group *groups, int count) {
  for (int g = 0; g < count; g++)
    for (int i = 0; i < (groups[g].count ? groups[g].count : 1); i++) {
      if (g || i) psdm_output_text(out, ",");
      psdm_output_number(out, groups[g].value[i]);
    }
  psdm_output_text(out, "\n");
}

/* all quantities of a moment, in the order of the columns */
static int groups_of(const simulate_job *j, const psdm_sim_row *row, column_group list[ROW_GROUPS]) {
  int count = 0, n = row->n;
#define GROUP(...) list[count++] = (column_group){__VA_ARGS__}
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
  if (row->control_states) GROUP(NULL, row->control_states, row->control);
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

void simulate_row(simulate_job *j, const psdm_sim_row *row) {
  column_group list[ROW_GROUPS];
  if (!j->out) return;
  int count = groups_of(j, row, list);
  if (!j->out_begun) simulate_header(j, j->out, list, count);
  j->out_begun = true;
  simulate_values(j->out, list, count);
  j->out_rows++;
}
