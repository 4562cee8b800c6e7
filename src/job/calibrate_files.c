/* calibrate_files.c: what a calibration writes or keeps: parameters, predicted rows, a URDF, C code. */
#include <string.h>

#include "job/calibrate_priv.h"

/* ---- parameters ---- */

/* quality figures for human readers: comments at the file's end */
static void write_verdict(const psdmp_job_calibrate *j, psdm_output *out) {
  const psdm_finding *f;
  psdm_output_print(out, "# verdict: %s\n", psdm_verdict_name(j->verdict));
  for (int k = 0; (f = psdmp_job_calibrate_finding(j, k)); k++)
    psdm_output_print(out, "#   %s: %s\n", psdm_verdict_name(f->verdict), psdmp_job_safe(&j->job, f->text));
}

static void write_parameters(const void *self, psdm_output *out) {
  const psdmp_job_calibrate *j = self;
  psdm_parameters_write(j->parameters, out);
  if (!j->steps.chosen) write_verdict(j, out); /* steps are written before there is one */
}

psdm_status psdmp_job_calibrate_parameters(const psdmp_job_calibrate *j, bool to_file) {
  return psdmp_job_document(&j->job, "out", to_file ? j->set.out : NULL, write_parameters, j);
}

/* ---- predicted rows ---- */

enum { GROUPS = 8, TOGETHER = 4096 }; /* rows written by several threads at a time */

typedef struct rows_out {
  psdmp_job_sink *sink;
  int n, threads;
  long rows;
  double *numbers; /* (TOGETHER x (3 + GROUPS n)) */
} rows_out;

static void name_rows(psdmp_job_sink *sink, int n) {
  static const char *const names[GROUPS] = {"q", "qd", "qdd", "tau", "raw", "predicted", "band", "friction"};
  psdmp_job_group group[3 + GROUPS] = {{.name = "t"}, {.name = "segment"}, {.name = "heldout"}};
  for (int k = 0; k < GROUPS; k++) group[3 + k] = (psdmp_job_group){.name = names[k], .count = n};
  psdmp_job_rows_names(sink, group, 3 + GROUPS);
}

static bool flush_rows(rows_out *w) {
  psdmp_job_rows_block(w->sink, w->rows, w->numbers, w->threads);
  w->rows = 0;
  return !psdmp_job_rows_failed(w->sink);
}

static bool add_row(void *user, const psdm_predicted_row *row) {
  rows_out *w = user;
  const double *const group[GROUPS] = {row->q,   row->qd,        row->qdd,  row->tau,
                                       row->raw, row->predicted, row->band, row->friction};
  double *to = w->numbers + w->rows++ * (3 + GROUPS * (long)w->n);
  to[0] = row->t, to[1] = row->segment, to[2] = row->heldout;
  for (int k = 0; k < GROUPS; k++) memcpy(to + 3 + (long)k * w->n, group[k], (size_t)w->n * sizeof *to);
  return w->rows < TOGETHER || flush_rows(w);
}

/* kept rows and the room that doubles */
static psdm_status check_memory(const psdmp_job_calibrate *j) {
  psdm_error error;
  char what[64];
  double rows = (double)j->result->rows, columns = 3 + GROUPS * j->n;
  if (!psdmp_job_kept_wanted(&j->job, "predict")) return PSDM_OK;
  psdmp_base_print(what, sizeof what, "keeping %.3g rows", rows);
  return psdm_robot_fits(j->job.robot, what, 24 * rows * columns, &error) ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

psdm_status psdmp_job_calibrate_predictions(const psdmp_job_calibrate *j) {
  rows_out w = {.n = j->n, .threads = j->options.threads};
  psdm_error error;
  psdm_status status = check_memory(j);
  if (!status) status = psdmp_job_rows_open(&j->job, "predict", j->set.predict, &w.sink);
  if (status || !w.sink) return status;
  w.numbers = psdmp_base_alloc(NULL, (size_t)TOGETHER * (3 + GROUPS * (size_t)j->n) * sizeof *w.numbers);
  if (!w.numbers) status = psdmp_job_memory(&j->job);
  if (!status) {
    name_rows(w.sink, j->n);
    status = psdm_calibration_predict(j->result, add_row, &w, &error);
    if (status) psdmp_job_fail(&j->job, &error);
    else flush_rows(&w);
  }
  psdmp_base_free(NULL, w.numbers);
  if (!status) return psdmp_job_rows_commit(&j->job, &w.sink);
  psdmp_job_rows_abort(&j->job, &w.sink);
  return status;
}

/* ---- the calibrated robot ---- */

static void tell_losses(const psdmp_job_calibrate *j, const psdm_robot *robot) {
  char text[256];
  for (int k = 0; psdm_robot_loss(robot, PSDM_FORMAT_URDF, k, text, sizeof text); k++)
    psdmp_job_warn(&j->job, "`urdf` omits: %s", text);
  for (int i = 0; i < j->n; i++) {
    psdm_friction friction;
    double left_out;
    psdm_parameters_friction(j->parameters, i, &friction, &left_out);
    if (!(left_out > 0)) continue;
    psdmp_job_warn(
        &j->job,
        "`urdf`: friction of joint %s is %.3g Coulomb and %.3g viscous; the identified curve differs by up to %.2g",
        psdmp_job_safe(&j->job, psdmp_job_joint(robot, i)->name), friction.coulomb, friction.viscous, left_out);
  }
}

/* a robot, and the armature of its drives: URDF has no element for a rotor's inertia at its joint; a comment holds
 * it */
typedef struct calibrated {
  const psdm_robot *robot;
  const double *armature; /* by drive */
} calibrated;

static void write_urdf(const void *self, psdm_output *out) {
  const calibrated *c = self;
  psdm_robot_write(c->robot, PSDM_FORMAT_URDF, out);
  if (!psdm_robot_drives(c->robot)) return;
  psdm_output_text(out, "<!-- armature of the drives, kg m^2 at the joint:");
  for (int q = 0; q < psdm_robot_n(c->robot); q++) {
    const psdm_joint *joint = psdmp_job_joint(c->robot, q);
    if (joint->drive < 0) continue;
    psdm_output_print(out, " q%d ", q + 1);
    psdm_output_number(out, c->armature[joint->drive]);
  }
  psdm_output_text(out, " -->\n");
}

static psdm_status put_urdf(const psdmp_job_calibrate *j, const psdm_robot *robot) {
  const calibrated c = {robot, j->parameters->pi + 10 * psdm_robot_links(robot)};
  psdm_status status = psdmp_job_document(&j->job, "urdf", j->set.urdf, write_urdf, &c);
  if (!status) tell_losses(j, robot);
  return status;
}

static psdm_status put_code(const psdmp_job_calibrate *j, const psdm_robot *robot) {
  psdm_code *code;
  psdm_error error;
  const psdm_code_options options = {.command = "psdm calibrate --codegen"};
  if (psdm_code_build(robot, &options, NULL, &code, &error)) return psdmp_job_fail(&j->job, &error);
  psdm_status status = psdm_code_write(code, j->set.codegen, &error);
  psdm_code_free(code);
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

psdm_status psdmp_job_calibrate_robot(const psdmp_job_calibrate *j) {
  psdm_robot *robot;
  psdm_error error;
  bool urdf = psdmp_job_calibrate_asked(j, "urdf");
  if (!urdf && !j->set.codegen) return PSDM_OK;
  if (psdm_robot_clone(j->job.robot, NULL, &robot)) return psdmp_job_memory(&j->job);
  psdm_status status = psdm_parameters_apply(j->parameters, robot, &error) ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
  if (!status && urdf) status = put_urdf(j, robot);
  if (!status && j->set.codegen) status = put_code(j, robot);
  psdm_robot_free(robot);
  return status;
}
