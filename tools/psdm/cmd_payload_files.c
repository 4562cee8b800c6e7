/* cmd_payload_files.c: output files of psdm payload: parameters of the loaded robot, rows with both predictions. */
#include "cmd_payload.h"

static int write_parameters(const payload_job *j) {
  psdm_output *out;
  int code = tool_open(j->set.out, &out);
  if (code >= 0) return code;
  psdm_parameters_write(j->with, out);
  code = tool_commit(&out);
  return code == EXIT_OK ? -1 : code;
}

enum { GROUPS = 7 };
static const char *const group_names[GROUPS] = {"q", "qd", "qdd", "tau", "raw", "empty", "with"};

typedef struct rows_out {
  psdm_output *out;
  int n;
} rows_out;

static bool write_row(void *user, const psdm_payload_row *row) {
  const rows_out *w = user;
  const double *const group[GROUPS] = {row->q, row->qd, row->qdd, row->tau, row->raw, row->tau_empty, row->tau_loaded};
  psdm_output_number(w->out, row->t);
  psdm_output_print(w->out, ",%d,%d", row->segment, row->loaded);
  tool_group_numbers(w->out, group, GROUPS, w->n);
  return !psdm_output_failed(w->out);
}

static int write_predictions(const payload_job *j) {
  rows_out w = {.n = j->n};
  psdm_error error;
  int code = tool_open(j->set.predict, &w.out);
  if (code >= 0) return code;
  psdm_output_text(w.out, "t,segment,loaded");
  tool_group_names(w.out, group_names, GROUPS, j->n);
  if (psdm_payload_predict(j->answer, write_row, &w, &error)) {
    tool_abort(&w.out);
    return tool_fail(&error);
  }
  code = tool_commit(&w.out);
  return code == EXIT_OK ? -1 : code;
}

int payload_files(payload_job *j) {
  int code = j->set.out ? write_parameters(j) : -1;
  return code < 0 && j->set.predict ? write_predictions(j) : code;
}
