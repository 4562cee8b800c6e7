/* cmd_calibrate_files.c: output files of a calibration: parameters, predicted rows, a URDF, C code. */
#include <stdlib.h>
#include <string.h>

#include "cmd_calibrate.h"

/* quality figures for human readers: comments at the file's end */
static void write_verdict(const calibrate_job *j, psdm_output *out) {
  const psdm_finding *f;
  if (j->steps.chosen) return; /* written after every step, before any verdict */
  psdm_output_print(out, "# verdict: %s\n", psdm_verdict_name(j->verdict));
  for (int k = 0; (f = calibrate_finding(j, k)); k++)
    psdm_output_print(out, "#   %s: %s\n", psdm_verdict_name(f->verdict), tool_safe(f->text));
}

int calibrate_write_parameters(const calibrate_job *j) {
  psdm_output *out;
  int code = tool_open(j->set.out, &out);
  if (code >= 0) return code;
  psdm_parameters_write(j->parameters, out);
  write_verdict(j, out);
  code = tool_commit(&out);
  return code == EXIT_OK ? -1 : code;
}

/* ---- predicted rows ---- */

enum { GROUPS = 8, TOGETHER = 4096 }; /* rows formatted by several threads at a time */
static const char *const group_names[GROUPS] = {"q", "qd", "qdd", "tau", "raw", "predicted", "band", "friction"};

typedef struct rows_out {
  psdm_output *out;
  int n, threads;
  long rows;
  double *numbers; /* (TOGETHER x (3 + GROUPS n)) */
} rows_out;

static bool flush_rows(rows_out *w) {
  psdm_output_rows(w->out, w->rows, 3 + GROUPS * w->n, w->numbers, w->threads);
  w->rows = 0;
  return !psdm_output_failed(w->out);
}

static bool write_row(void *user, const psdm_predicted_row *row) {
  rows_out *w = user;
  const double *const group[GROUPS] = {row->q,   row->qd,        row->qdd,  row->tau,
                                       row->raw, row->predicted, row->band, row->friction};
  double *to = w->numbers + w->rows++ * (3 + GROUPS * (long)w->n);
  to[0] = row->t, to[1] = row->segment, to[2] = row->heldout;
  for (int k = 0; k < GROUPS; k++) memcpy(to + 3 + (long)k * w->n, group[k], (size_t)w->n * sizeof *to);
  return w->rows < TOGETHER || flush_rows(w);
}

static int write_predictions(const calibrate_job *j) {
  rows_out w = {.n = j->n,
                .threads = j->options.threads,
                .numbers = calloc((size_t)TOGETHER * (3 + GROUPS * (size_t)j->n), sizeof *w.numbers)};
  psdm_error error;
  if (!w.numbers) return tool_no_memory("calibrate");
  int code = tool_open(j->set.predict, &w.out);
  if (code < 0) {
    psdm_output_text(w.out, "t,segment,heldout");
    tool_group_names(w.out, group_names, GROUPS, j->n);
    psdm_status status = psdm_calibration_predict(j->result, write_row, &w, &error);
    if (!status) flush_rows(&w);
    if (status) tool_abort(&w.out);
    code = status ? tool_fail(&error) : tool_commit(&w.out);
    if (code == EXIT_OK) code = -1;
  }
  free(w.numbers);
  return code;
}

/* ---- the calibrated robot ---- */

static void tell_losses(const calibrate_job *j, const psdm_robot *robot) {
  char text[256];
  for (int k = 0; psdm_robot_loss(robot, PSDM_FORMAT_URDF, k, text, sizeof text); k++)
    tool_warn("--urdf omits: %s", text);
  for (int i = 0; i < j->n; i++) {
    psdm_friction friction;
    double left_out;
    psdm_parameters_friction(j->parameters, i, &friction, &left_out);
    if (!(left_out > 0)) continue;
    tool_warn(
        "--urdf: friction of joint %s is %.3g Coulomb and %.3g viscous; the identified curve differs by up to %.2g",
        tool_safe(calibrate_joint_name(j, i)), friction.coulomb, friction.viscous, left_out);
  }
}

/* URDF has no element for a rotor's inertia at its joint; a comment holds it */
static void write_armature(const calibrate_job *j, const psdm_robot *robot, psdm_output *out) {
  int first = 10 * psdm_robot_links(robot);
  if (!psdm_robot_drives(robot)) return;
  psdm_output_text(out, "<!-- armature of the drives, kg m^2 at the joint:");
  for (int q = 0; q < j->n; q++)
    for (int k = 0; k < psdm_robot_joints(robot); k++) {
      const psdm_joint *joint = psdm_robot_joint(robot, k);
      if (joint->q != q || joint->drive < 0) continue;
      psdm_output_print(out, " q%d ", q + 1);
      psdm_output_number(out, j->parameters->pi[first + joint->drive]);
    }
  psdm_output_text(out, " -->\n");
}

static int write_urdf(const calibrate_job *j, const psdm_robot *robot) {
  psdm_output *out;
  int code = tool_open(j->set.urdf, &out);
  if (code >= 0) return code;
  psdm_robot_write(robot, PSDM_FORMAT_URDF, out);
  write_armature(j, robot, out);
  code = tool_commit(&out);
  if (code != EXIT_OK) return code;
  tell_losses(j, robot);
  return -1;
}

static int write_code(const calibrate_job *j, const psdm_robot *robot) {
  psdm_code *code;
  psdm_error error;
  const psdm_code_options options = {.command = "psdm calibrate --codegen"};
  if (psdm_code_build(robot, &options, NULL, &code, &error)) return tool_fail(&error);
  psdm_status status = psdm_code_write(code, j->set.codegen, &error);
  psdm_code_free(code);
  return status ? tool_fail(&error) : -1;
}

int calibrate_write_robot(const calibrate_job *j) {
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_clone(j->robot, NULL, &robot)) return tool_no_memory("calibrate");
  int code = psdm_parameters_apply(j->parameters, robot, &error) ? tool_fail(&error) : -1;
  if (code < 0 && j->set.urdf) code = write_urdf(j, robot);
  if (code < 0 && j->set.codegen) code = write_code(j, robot);
  psdm_robot_free(robot);
  return code;
}

int calibrate_files(calibrate_job *j) {
  int code = j->set.out ? calibrate_write_parameters(j) : -1;
  if (code < 0 && j->set.predict) code = write_predictions(j);
  return code < 0 && (j->set.urdf || j->set.codegen) ? calibrate_write_robot(j) : code;
}
