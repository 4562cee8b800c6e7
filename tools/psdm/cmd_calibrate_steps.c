/* cmd_calibrate_steps.c: psdm calibrate --route steps: motors, gravity, friction, inertia, each from its own log. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_calibrate.h"

const char *calibrate_from(int from) {
  static const char *const words[] = {"nothing", "file", "before", "log"};
  return words[from];
}

const char *calibrate_friction_key(int number) {
  static const char *const keys[PSDM_FRICTION_NUMBERS] = {"coulomb",  "static", "stribeck", "viscous",
                                                          "exponent", "sigma0", "sigma1",   "offset"};
  return keys[number];
}

double calibrate_friction_number(const psdm_friction *f, int number) {
  const double numbers[PSDM_FRICTION_NUMBERS] = {f->coulomb,  f->stat,   f->stribeck, f->viscous,
                                                 f->exponent, f->sigma0, f->sigma1,   f->offset};
  return numbers[number];
}

/* ---- the run: every finished step is on disk ---- */

/* the result so far as written to a file, and that file; standard output gets the final one only */
static int keep(calibrate_job *j, const psdm_steps *steps, bool last) {
  psdm_error error;
  psdm_parameters_free(j->parameters);
  if (psdm_parameters_from_steps(steps, NULL, &j->parameters, &error)) return tool_fail(&error);
  return j->set.out && (last || strcmp(j->set.out, "-") != 0) ? calibrate_write_parameters(j) : -1;
}

static bool finished(void *user, const psdm_steps *steps, psdm_step step) {
  calibrate_job *j = user;
  (void)step;
  j->steps.saved = keep(j, steps, false);
  return j->steps.saved < 0;
}

static int load(calibrate_job *j) {
  psdm_error error;
  psdm_robot_settings set = *PSDM_ROBOT_SETTINGS_OF(&j->set);
  set.params = NULL; /* results of earlier runs may be incomplete */
  int code = tool_load("calibrate", j->path, &set, &j->robot);
  if (code < 0 && j->set.weight.count) tool_default_link(j->robot, "--tip selects another");
  if (code < 0) code = calibrate_numbers(j);
  if (code < 0 && j->set.params && psdm_parameters_load(j->set.params, j->robot, NULL, &j->steps.before, &error))
    code = tool_fail(&error);
  if (code < 0 && j->steps.before) tool_unsigned(j->set.params, j->steps.before);
  j->steps.options.before = j->steps.before;
  j->steps.options.format = j->options.log;
  return code;
}

static int any_done(const psdm_steps *s) {
  int done = 0;
  for (int k = 0; k < PSDM_STEPS; k++) done += s->step[k].done;
  return done;
}

static int run(calibrate_job *j) {
  psdm_error error;
  progress bar = progress_start("reading logs", 0);
  psdm_steps_options *o = &j->steps.options;
  tool_listen();
  o->progress = progress_words;
  o->progress_user = &bar;
  o->finished = finished;
  o->finished_user = j;
  j->steps.saved = -1;
  psdm_status status = psdm_steps_run(j->robot, o, NULL, &j->steps.result, &error);
  progress_end(&bar);
  if (j->steps.saved >= 0) return j->steps.saved;
  if (status && j->parameters && j->set.out && strcmp(j->set.out, "-") != 0)
    tool_warn("the finished steps are in '%s'", tool_safe(j->set.out));
  if (status) return tool_fail(&error);
  if (j->steps.result->stopped && !any_done(j->steps.result)) {
    tool_warn("interrupted before a step was finished: nothing was written");
    return EXIT_INTERRUPTED;
  }
  if (j->steps.result->stopped)
    tool_warn("interrupted: finished steps are kept%s", j->set.out ? "; --params continues from them" : "");
  tool_deaf();
  int code = keep(j, j->steps.result, true);
  if (code >= 0) return code;
  return psdm_parameters_model(j->robot, NULL, &j->model, &error) ? tool_fail(&error) : -1;
}

/* ---- thresholds: the whole model if there were inertia logs, else the last step ---- */

/* |error| / |tau| over all joints, computed as in the library for each step */
static double global_rel(const psdm_joint_fit *joint, int n) {
  double error = 0, tau = 0;
  for (int i = 0; i < n; i++) {
    double own = joint[i].rows ? (double)joint[i].rows * joint[i].rmse * joint[i].rmse : 0;
    error += own;
    if (joint[i].rel > 0 && joint[i].rows) tau += own / (joint[i].rel * joint[i].rel);
  }
  return tau > 0 ? sqrt(error / tau) : NAN;
}

static long rows_of(const psdm_joint_fit *joint, int n) {
  long rows = 0;
  for (int i = 0; i < n && joint; i++) rows += joint[i].rows;
  return rows;
}

double calibrate_steps_rel(const calibrate_job *j) { return global_rel(j->steps.judged, j->n); }

static void judge(calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  char text[160];
  bool held = rows_of(j->parameters->heldout.joint, j->n) > 0, all = rows_of(s->all, j->n) > 0;
  j->steps.judged = all ? s->all : held ? j->parameters->heldout.joint : j->parameters->train.joint;
  j->steps.judged_of = all ? "the whole model, held out" : held ? "the last step, held out" : "the last step, training";
  double rel = calibrate_steps_rel(j);
  if (j->set.max_rel > 0 && !(rel <= j->set.max_rel)) {
    snprintf(text, sizeof text, "global relative error %.4g (%s) is above %.4g", rel, j->steps.judged_of,
             j->set.max_rel);
    calibrate_fail_threshold(j, text);
  }
  for (int i = 0; i < j->n && j->max_rmse; i++)
    if (!(j->steps.judged[i].rmse <= j->max_rmse[i]) && j->steps.judged[i].rows) {
      snprintf(text, sizeof text, "RMSE %.4g (%s) of joint %.60s is above %.4g", j->steps.judged[i].rmse,
               j->steps.judged_of, tool_safe(calibrate_joint_name(j, i)), j->max_rmse[i]);
      calibrate_fail_threshold(j, text);
    }
  if (rows_of(j->steps.judged, j->n)) j->verdict = psdm_verdict_of_fit(j->n, j->steps.judged, &j->fit);
}

/* ---- files ---- */

static bool write_row(void *user, const psdm_steps_row *row) {
  psdm_output *out = user;
  const double number[] = {row->q, row->qd, row->measured, row->predicted};
  psdm_output_number(out, row->t);
  psdm_output_print(out, ",%s,%d,%d", psdm_step_name(row->step), row->drive + 1, row->heldout);
  for (int k = 0; k < 4; k++) {
    psdm_output_text(out, ",");
    psdm_output_number(out, number[k]);
  }
  psdm_output_text(out, "\n");
  return !psdm_output_failed(out);
}

static int write_predictions(const calibrate_job *j) {
  psdm_output *out;
  psdm_error error;
  int code = tool_open(j->set.predict, &out);
  if (code >= 0) return code;
  psdm_output_text(out, "t,step,drive,heldout,q,qd,measured,predicted\n");
  if (psdm_steps_predict(j->steps.result, write_row, out, &error)) {
    tool_abort(&out);
    return tool_fail(&error);
  }
  code = tool_commit(&out);
  return code == EXIT_OK ? -1 : code;
}

static int report(calibrate_job *j) {
  int code = EXIT_OK;
  if (j->set.json) code = calibrate_steps_json(j);
  if (calibrate_words_wanted(j)) calibrate_steps_print(j);
  if (!calibrate_words_wanted(j) && !j->set.json) calibrate_warn_verdict(j);
  return code == EXIT_OK && !calibrate_good(j) ? EXIT_QUALITY : code;
}

int calibrate_steps(calibrate_job *j) {
  int code = calibrate_step_words(j);
  if (code < 0) code = load(j);
  if (code < 0) code = run(j);
  if (code < 0) judge(j);
  if (code < 0 && j->set.predict) code = write_predictions(j);
  if (code < 0 && j->set.codegen) code = calibrate_write_robot(j);
  return code < 0 ? report(j) : code;
}
