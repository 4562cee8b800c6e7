/* cmd_calibrate.c: psdm calibrate: from a log to a model and its reliability. */
#include "cmd_calibrate.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_STRUCT calibrate_settings
static const psdm_setting settings[] = {CALIBRATE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

#define WORD_HELP(id, name, text) "  " name "\t" text "\n"
static const char help[] =
    "Identifies a robot's base parameters and the friction of its drives from logs: tau = Y(q, qd, qdd) theta + "
    "friction. The robot file needs no inertias.\n"
    "Filter, torque delay, friction columns and prior weight are chosen by cross-validation on the training rows; "
    "held-out rows are used only for the\n"
    "final errors. The main figures are for rows in which a joint moves. The verdict is good, usable, poor or useless, "
    "by the rules of\n"
    "docs/calibrate.md; exit 1 when it is poor or useless (--accept) or a threshold is not met. The parameters are "
    "written in any case. An interrupt\n"
    "(Ctrl-C) keeps the best so far, with exit code 130.\n"
    "\n"
    "In steps (--route steps, or a step before each log's name), each from its own experiment (psdm excite --for "
    "STEP): motor constants from known\n"
    "masses, then gravity, LuGre friction, and the remaining inertias. Each step can be run alone: --params reads the "
    "results of earlier runs, --out is\n"
    "rewritten completely after every step. docs/steps.md has the equations.\n"
    "\n"
    "estimators:\n" PSDM_ESTIMATOR_LIST(
        WORD_HELP) "\nlogs: CSV (a header with t, q1.., optionally qd1.., qdd1.., and tau1.. or i1..; motor side "
                   "qm1.., taum1..), its gzip, .mat, HDF5\n"
                   "\nexamples:\n"
                   "  psdm calibrate robots/kuka_kr6.yaml --log run.csv --holdout 0.3 --out kr6_params.yaml\n"
                   "  psdm calibrate arm.yaml --log monday.csv tuesday.csv.gz --holdout blocks:0.5/4 --json\n"
                   "  psdm calibrate arm.yaml --log run.csv --columns t=1,q=2:7,tau=8:13 --degrees --estimator wls "
                   "--plain-friction\n"
                   "  psdm calibrate arm.yaml --log run.csv --predict rows.csv --urdf arm_identified.urdf --codegen "
                   "arm_c --max-rel 0.05\n"
                   "  psdm calibrate arm.yaml --log today.csv --compare arm_params.yaml\n"
                   "  psdm calibrate arm.yaml --log motor:empty.csv motor:loaded.csv gravity:slow.csv --weight "
                   "loaded.csv=2.5,0,0,0.1 --out arm_params.yaml\n"
                   "  psdm calibrate arm.yaml --log friction:sines.csv inertia:run.csv --params arm_params.yaml --out "
                   "arm_params.yaml\n"
                   "  psdm eval arm.yaml inverse --params arm_params.yaml --friction --in states.csv\n";
#undef WORD_HELP

const command_line calibrate_line = {"calibrate", settings, positional, help};

/* ---- small helpers for all files ---- */

static bool is_standard(const char *path) { return path && strcmp(path, "-") == 0; }

bool calibrate_words_wanted(const calibrate_job *j) {
  return !j->set.json && !tool_quiet() && !is_standard(j->set.out) && !is_standard(j->set.predict) &&
         !is_standard(j->set.urdf);
}

const char *calibrate_joint_name(const calibrate_job *j, int q) {
  for (int k = 0; k < psdm_robot_joints(j->robot); k++)
    if (psdm_robot_joint(j->robot, k)->q == q) return psdm_robot_joint(j->robot, k)->name;
  return "";
}

static void calibrate_free(calibrate_job *j) {
  psdm_settings_free(settings, &j->set);
  psdm_parameters_free(j->compared.other);
  psdm_parameters_free(j->parameters);
  psdm_model_free(j->model);
  psdm_calibration_free(j->result);
  psdm_steps_free(j->steps.result);
  psdm_parameters_free(j->steps.before);
  psdm_robot_free(j->robot);
  free(j->steps.log);
  free(j->sign);
  free(j->offset);
  free(j->max_rmse);
  free(j->prior);
  free(j->compared.own);
}

/* ---- the run: the first interrupt ends it and keeps the best so far, the second ends the program ---- */

static void tell_checkpoint(const calibrate_job *j) {
  const psdm_calibration *c = j->result;
  const char *folder = tool_safe(j->set.checkpoint ? j->set.checkpoint : "");
  if (c->parts_found)
    tool_note("%s: parts reused from an earlier run: %ld; new: %ld", folder, c->parts_found, c->parts_saved);
  if (c->parts_stale) tool_warn("%s: parts of other logs, settings or versions, not used: %ld", folder, c->parts_stale);
  if (c->parts_damaged) tool_warn("%s: damaged parts that were computed again: %ld", folder, c->parts_damaged);
}

static int run(calibrate_job *j) {
  psdm_error error;
  progress bar = progress_start("reading logs", 0);
  tool_listen();
  j->options.progress = progress_words;
  j->options.progress_user = &bar;
  psdm_status status = psdm_calibrate(j->robot, &j->options, NULL, &j->result, &error);
  progress_end(&bar);
  if (status) return tool_fail(&error);
  if (ranks_helper()) return EXIT_OK;
  tell_checkpoint(j);
  if (j->result->stopped)
    tool_warn("interrupted during the cross-validation: this is the best so far, with the choices made until then");
  tool_weak_axes(j->robot, j->result->condition);
  tool_deaf();
  tool_detail("fitted to %ld of %ld rows in %d segments", j->result->used, j->result->rows, j->result->segments);
  if (psdm_parameters_from(j->result, j->set.covariance, NULL, &j->parameters, &error)) return tool_fail(&error);
  if (j->set.covariance && !j->parameters->covariance)
    tool_warn("--covariance: too many parameters; covariance omitted");
  return psdm_parameters_model(j->robot, NULL, &j->model, &error) ? tool_fail(&error) : -1;
}

/* ---- thresholds ---- */

void calibrate_fail_threshold(calibrate_job *j, const char *text) {
  if (j->failures < (int)(sizeof j->failure / sizeof *j->failure))
    snprintf(j->failure[j->failures++], sizeof j->failure[0], "%s", text);
}

void calibrate_judge(calibrate_job *j) {
  const psdm_calibration *c = j->result;
  char text[160];
  const char *part = c->heldout[PSDM_FIT_MOVING].rows ? "held out" : "training";
  j->judged = c->heldout[PSDM_FIT_MOVING].rows ? &c->heldout[PSDM_FIT_MOVING] : &c->train[PSDM_FIT_MOVING];
  if (j->set.max_rel > 0 && !(j->judged->global_rel <= j->set.max_rel)) {
    snprintf(text, sizeof text, "global relative error %.4g (%s) is above %.4g", j->judged->global_rel, part,
             j->set.max_rel);
    calibrate_fail_threshold(j, text);
  }
  for (int i = 0; i < j->n && j->max_rmse; i++)
    if (!(j->judged->joint[i].rmse <= j->max_rmse[i])) {
      snprintf(text, sizeof text, "RMSE %.4g (%s) of joint %.60s is above %.4g", j->judged->joint[i].rmse, part,
               tool_safe(calibrate_joint_name(j, i)), j->max_rmse[i]);
      calibrate_fail_threshold(j, text);
    }
  j->verdict = c->verdict;
}

const psdm_finding *calibrate_finding(const calibrate_job *j, int index) {
  if (!j->steps.chosen) return psdm_calibration_finding(j->result, index);
  return index == 0 && j->fit.rule ? &j->fit : NULL;
}

bool calibrate_good(const calibrate_job *j) { return !j->failures && j->verdict <= j->accept; }

void calibrate_warn_verdict(const calibrate_job *j) {
  for (int k = 0; k < j->failures; k++) tool_warn("%s", j->failure[k]);
  if (j->verdict <= j->accept) return;
  const psdm_finding *f;
  for (int k = 0; k < 8 && (f = calibrate_finding(j, k)) && f->verdict > j->accept; k++)
    tool_warn("verdict: %s: %s", psdm_verdict_name(f->verdict), tool_safe(f->text));
}

static int report(calibrate_job *j) {
  int code = EXIT_OK;
  if (j->set.json) code = calibrate_json(j);
  if (calibrate_words_wanted(j)) calibrate_print(j);
  if (!calibrate_words_wanted(j) && !j->set.json) calibrate_warn_verdict(j);
  return code == EXIT_OK && !calibrate_good(j) ? EXIT_QUALITY : code;
}

/* parts serve an unfinished run; this run's answer has been written and reported */
static void clear_checkpoint(const calibrate_job *j) {
  psdm_error error;
  long removed;
  if (!j->set.checkpoint || tool_interrupted() || fflush(stdout) != 0 || ferror(stdout)) return;
  if (psdm_calibration_clear(j->result, &removed, &error)) tool_warn("%s: %s", tool_safe(error.file), error.text);
  if (removed) tool_detail("%s: parts of this run removed: %ld", tool_safe(j->set.checkpoint), removed);
}

static int oneshot(calibrate_job *j) {
  int code = calibrate_words(j);
  if (code < 0) code = tool_load("calibrate", j->path, PSDM_ROBOT_SETTINGS_OF(&j->set), &j->robot);
  if (code < 0) code = calibrate_numbers(j);
  if (code < 0) code = run(j);
  if (code < 0) code = calibrate_compare(j);
  if (code < 0) calibrate_judge(j);
  if (code < 0) code = calibrate_files(j);
  if (code >= 0) return code;
  code = report(j);
  if (code == EXIT_OK || code == EXIT_QUALITY) clear_checkpoint(j);
  return code;
}

/* an input must not be overwritten: refuse before the work, not after; --params may be, since calibrations continue in
 * their own file */
static int spare_inputs(const calibrate_job *j) {
  const char *const written[] = {j->set.out, j->set.predict, j->set.urdf};
  int code = -1;
  tool_input(j->path);
  for (int i = 0; i < j->set.log.count; i++) tool_input(j->steps.chosen ? j->steps.log[i].path : j->set.log.value[i]);
  for (size_t k = 0; k < sizeof written / sizeof *written && code < 0; k++)
    if (written[k]) code = tool_spare(written[k]);
  return code;
}

int cmd_calibrate(int argc, char **argv) {
  calibrate_job *j = calloc(1, sizeof *j);
  if (!j) return tool_no_memory("calibrate");
  int code = settings_parse(&calibrate_line, argc, argv, &j->set, &j->path);
  if (code < 0) code = calibrate_route(j);
  if (code < 0 && j->steps.chosen && ranks_helper()) code = EXIT_OK; /* steps run on rank 0 alone */
  if (code < 0) code = spare_inputs(j);
  if (code < 0) code = j->steps.chosen ? calibrate_steps(j) : oneshot(j);
  calibrate_free(j);
  free(j);
  return code;
}
