/* cmd_payload.c: psdm payload: identifies the load of a calibrated robot and adds it to the parameters. */
#include "cmd_payload.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS_STRUCT payload_settings
static const psdm_setting settings[] = {PAYLOAD_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Finds mass, centre of mass and inertia of a robot's load, from logs of the calibrated robot (--params) with the "
    "load, and preferably without it too\n"
    "(--empty): the difference between the measured torque and that of the calibrated parameters is fitted by the "
    "columns of the link that carries the load.\n"
    "A load adds to ten standard parameters of one link, so the parameters of the loaded robot follow without a new "
    "calibration (--out). An interrupt\n"
    "(Ctrl-C) keeps the result from the rows so far, with exit code 130.\n"
    "\n"
    "logs: as psdm calibrate reads them\n"
    "\n"
    "examples:\n"
    "  psdm calibrate arm.yaml --log run.csv --covariance --out arm_params.yaml\n"
    "  psdm payload arm.yaml --params arm_params.yaml --log with_load.csv --empty without.csv --out loaded.yaml\n"
    "  psdm payload arm.yaml --params arm_params.yaml --log with_load.csv --json\n"
    "  psdm payload arm.yaml --params arm_params.yaml --load 2.5,0,0,0.08 --out loaded.yaml\n"
    "  psdm eval arm.yaml inverse --params loaded.yaml --friction --in states.csv\n";

const command_line payload_line = {"payload", settings, positional, help};

static bool is_standard(const char *path) { return path && strcmp(path, "-") == 0; }

bool payload_words_wanted(const payload_job *j) {
  return !j->set.json && !tool_quiet() && !is_standard(j->set.out) && !is_standard(j->set.predict);
}

static void payload_free(payload_job *j) {
  psdm_payload_free(j->answer);
  psdm_parameters_free(j->with);
  psdm_parameters_free(j->empty);
  psdm_model_free(j->model);
  psdm_settings_free(settings, &j->set);
  psdm_robot_free(j->robot);
  free(j->sign);
  free(j->offset);
  free(j->L);
}

/* ---- the run: the first interrupt ends it and keeps the rows so far, the second ends the program ---- */

static int identify(payload_job *j) {
  psdm_error error;
  progress bar = progress_start("reading logs", 0);
  if (j->set.load) return -1;
  tool_listen();
  j->options.progress = progress_words;
  j->options.progress_user = &bar;
  psdm_status status = psdm_payload_identify(j->robot, j->empty, &j->options, NULL, &j->answer, &error);
  progress_end(&bar);
  if (status) return tool_fail(&error);
  if (j->answer->stopped) tool_warn("interrupted: this result uses the rows read so far");
  tool_deaf();
  j->load = j->answer->load;
  memcpy(j->pi, j->answer->pi, sizeof j->pi);
  return -1;
}

/* the loaded robot, and the provenance of its base parameters */
static int apply(payload_job *j) {
  psdm_error error;
  if (psdm_payload_parameters(j->robot, j->empty, j->joint, j->pi, j->answer ? j->answer->covariance : NULL, NULL,
                              &j->with, &error))
    return tool_fail(&error);
  if (psdm_parameters_model(j->robot, NULL, &j->model, &error)) return tool_fail(&error);
  if (!(j->L = calloc(10 * (size_t)psdm_model_l(j->model) + 1, sizeof *j->L))) return tool_no_memory("payload");
  return psdm_payload_map(j->robot, j->model, j->joint, j->L, &error) ? tool_fail(&error) : -1;
}

static int load_robot(payload_job *j) {
  psdm_error error;
  psdm_robot_settings robot = *PSDM_ROBOT_SETTINGS_OF(&j->set);
  robot.params = NULL; /* the file is read below; the robot need not adopt it */
  int code = tool_load("payload", j->path, &robot, &j->robot);
  tool_input(j->set.params);
  for (int i = 0; i < j->set.log.count; i++) tool_input(j->set.log.value[i]);
  for (int i = 0; i < j->set.empty.count; i++) tool_input(j->set.empty.value[i]);
  if (code < 0 && psdm_parameters_load(j->set.params, j->robot, NULL, &j->empty, &error)) code = tool_fail(&error);
  if (code < 0 && j->empty) tool_unsigned(j->set.params, j->empty);
  return code;
}

/* if a load does not explain the torques, there is none, or the calibration, its units or signs do not match the logs
   */
static void judge(payload_job *j) {
  long rows = 0;
  for (int i = 0; j->answer && i < j->n; i++) rows += j->answer->after[i].rows;
  if (rows) j->verdict = psdm_verdict_of_fit(j->n, j->answer->after, &j->finding);
}

static int report(payload_job *j) {
  int code = EXIT_OK;
  judge(j);
  if (j->set.json) code = payload_json(j);
  if (payload_words_wanted(j)) payload_print(j);
  else if (j->verdict > j->accept && !j->set.json)
    tool_warn("verdict: %s: %s", psdm_verdict_name(j->verdict), j->finding.text);
  return code == EXIT_OK && j->verdict > j->accept ? EXIT_QUALITY : code;
}

int cmd_payload(int argc, char **argv) {
  payload_job *j = calloc(1, sizeof *j);
  if (!j) return tool_no_memory("payload");
  int code = settings_parse(&payload_line, argc, argv, &j->set, &j->path);
  if (code < 0) code = payload_words(j);
  if (code < 0) code = load_robot(j);
  if (code < 0) code = payload_numbers(j);
  if (code < 0) code = identify(j);
  if (code < 0) code = apply(j);
  if (code < 0) code = payload_files(j);
  if (code < 0) code = report(j);
  payload_free(j);
  free(j);
  return code;
}
