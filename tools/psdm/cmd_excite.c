/* cmd_excite.c: psdm excite: motions that make a robot's parameters identifiable. */
#include "cmd_excite.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_STRUCT excite_settings
static const psdm_setting settings[] = {{"for", PSDM_SETTING_text, offsetof(excite_settings, experiment), "inertia",
                                         "inertia|gravity|friction|motor", "what the motion is for, see above"},
                                        EXCITE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

#define WORD_HELP(id, name, text) "  " name "\t" text "\n"
static const char help[] =
    "Designs a motion for the robot to perform while it is recorded, for psdm calibrate. It respects all limits at all "
    "times: positions, velocities, accelerations,\n"
    "torques if inertias are known, and the distances required by `collision:` of the robot file; all of this is "
    "verified before a file is written.\n"
    "The robot file needs no inertias. Without limits in the file: +-2 rad, 2 rad/s, 8 rad/s^2 (0.5 m, 0.5 m/s, 2 "
    "m/s^2).\n"
    "An interrupt (Ctrl-C) ends the search with the best so far, and exit code 130.\n"
    "\n"
    "experiments, in the order in which psdm calibrate --route steps uses them:\n" PSDM_STEP_LIST(
        WORD_HELP) "\nexamples:\n"
                   "  psdm excite robots/kuka_kr6.yaml --out excitation.csv\n"
                   "  psdm excite robots/kuka_lbr7.yaml --seconds 20 --harmonics 8 --starts 16 --velocity 1.5 "
                   "--periods 3 --out excitation.csv\n"
                   "  psdm excite arm.yaml --shape sines --goal condition --band 0.8 --json\n"
                   "  psdm excite arm.yaml --for motor --mass 3.5 --com 0,0,0.1 --out motor.csv\n"
                   "  psdm excite arm.yaml --for friction --levels 12 --out friction.csv\n"
                   "  psdm simulate arm.yaml --inverse --reference excitation.csv --ignore-extra --friction lugre "
                   "--log log.csv --log-rate 1000\n";
#undef WORD_HELP

const command_line excite_line = {"excite", settings, positional, help};

/* ---- small helpers for all files ---- */

const psdm_joint *excite_joint(const excite_job *j, int q) {
  int k = 0;
  while (psdm_robot_joint(j->robot, k)->q != q) k++;
  return psdm_robot_joint(j->robot, k);
}

bool excite_words_wanted(const excite_job *j) {
  return !j->set.json && !tool_quiet() && !(j->set.out && strcmp(j->set.out, "-") == 0);
}

static void excite_free(excite_job *j) {
  psdm_excitation_free(j->result);
  psdm_work_free(j->work, NULL);
  psdm_robot_free(j->robot);
  free(j->rows.t);
  free(j->source);
  free(j->memory);
}

/* ---- the best so far is always on disk: nothing is lost however the program ends ---- */

/* every new best motion (by its goal, which may differ from the condition number) is checked and written, but this
 * takes at most a tenth of the time */
static void save_better(void *user, const psdm_motion *best, double condition) {
  excite_job *j = user;
  double began = tool_now();
  psdm_error error;
  bool file = j->set.out && strcmp(j->set.out, "-") != 0;
  if (!file || condition == j->saved || began < j->next_save) return;
  bool kept = !excite_measure_motion(j, best, &error) && excite_keeps(j),
       written = kept && excite_write(j, false) == EXIT_OK;
  if (written) j->saved = condition;
  j->next_save = kept && !written ? INFINITY : began + 10 * (tool_now() - began);
}

/* ---- the run ---- */

static int load(excite_job *j) {
  int code = tool_load("excite", j->path, PSDM_ROBOT_SETTINGS_OF(&j->set), &j->robot);
  if (code >= 0) return code;
  j->n = psdm_robot_n(j->robot);
  if (strcmp(j->set.experiment, "motor") == 0) tool_default_link(j->robot, "--tip selects another");
  j->torques = !psdm_robot_ready(j->robot, &j->unknown);
  j->unknown.text[strcspn(j->unknown.text, ";")] = '\0'; /* the output is what other commands need */
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) j->friction |= psdm_robot_joint(j->robot, k)->friction.given;
  return psdm_work_new(j->robot, NULL, &j->work) ? tool_no_memory("excite") : -1;
}

/* fail on an unwritable file now, not after the search */
static int try_file(const excite_job *j) {
  psdm_output *out;
  if (!j->set.out || strcmp(j->set.out, "-") == 0 || ranks_helper()) return -1;
  int code = tool_open(j->set.out, &out);
  if (code < 0) tool_abort(&out);
  return code;
}

static int plan(excite_job *j) {
  psdm_error error;
  /* known in advance for inertia only */
  const double period = j->set.seconds > 0 ? j->set.seconds : PSDM_EXCITE_SECONDS;
  if (strcmp(j->set.experiment, "inertia") == 0 && excite_fits(j, j->set.periods * period, &error))
    return tool_fail(&error);
  j->bar = progress_start("searching", 0);
  j->saved = INFINITY;
  j->options.progress = progress_words;
  j->options.progress_user = &j->bar;
  j->options.better = save_better;
  j->options.better_user = j;
  j->options.ranks = ranks_all();
  tool_listen();
  psdm_status status = psdm_excite(j->robot, &j->options, NULL, &j->result, &error);
  progress_end(&j->bar);
  if (status) return tool_fail(&error);
  if (ranks_helper()) return EXIT_OK;
  j->interrupted = tool_interrupted();
  tool_detail("%ld evaluations in %.3g s", j->result->evaluations, j->result->wall);
  if (j->interrupted) tool_warn("interrupted: this is the best so far");
  if (j->result->step == PSDM_STEP_INERTIA) tool_weak_axes(j->robot, j->result->condition);
  tool_deaf();
  return -1;
}

/* never write a motion that exceeds a limit, whatever the cause */
static int verify(excite_job *j) {
  psdm_error error;
  if (excite_measure_motion(j, j->result->motion, &error)) return tool_fail(&error);
  if (excite_keeps(j)) return -1;
  if (j->planned.worst <= 1)
    return tool_usage("excite", "--rate %g: between the rows a robot would reach %.6g of a limit; use a higher rate",
                      j->set.rate, j->between.worst);
  tool_warn("the motion reaches %.6g of a limit (smallest gap %.3g m): it is not written", j->planned.worst,
            j->planned.gap);
  return EXIT_QUALITY;
}

static int finish(excite_job *j) {
  psdm_error error;
  int code = j->set.out ? excite_write(j, true) : EXIT_OK;
  if (code != EXIT_OK) return code;
  if (j->set.out && excite_read_back(j, &error)) return tool_fail(&error);
  if (j->set.json) code = excite_json(j);
  if (excite_words_wanted(j)) excite_print(j);
  return code;
}

int cmd_excite(int argc, char **argv) {
  excite_job *j = calloc(1, sizeof *j);
  if (!j) return tool_no_memory("excite");
  int code = settings_parse(&excite_line, argc, argv, &j->set, &j->path);
  if (code < 0) code = excite_words(j);
  if (code < 0) code = load(j);
  if (code < 0) code = excite_limits(j);
  if (code < 0) code = try_file(j);
  if (code < 0) code = plan(j);
  if (code < 0) code = verify(j);
  if (code < 0) code = finish(j);
  excite_free(j);
  free(j);
  return code;
}
