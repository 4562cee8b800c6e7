/* cmd_simulate.c: psdm simulate: its command line, and the memory of a run; cmd_simulate_run.c runs it. */
#include "cmd_simulate.h"

#include <stdlib.h>

#define SETTINGS_STRUCT simulate_settings
static const setting settings[] = {SIMULATE_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"ROBOT", NULL};

#define WORD_HELP(id, name, text) "  " name "\t" text "\n"
static const char help[] =
    "Simulates a robot: M(q) qdd + c(q, qd) + g(q) + friction = tau + J'w, with optional springs, loads, limits and a "
    "controller.\n"
    "By default it moves freely, from rest at q = 0. The summary has the final state and an energy audit.\n"
    "Exit 1 when the motion diverges or exceeds --wall, 130 when interrupted (Ctrl-C): the motion until then is "
    "written.\n"
    "\n"
    "integrators:\n" PSDM_INTEGRATOR_LIST(WORD_HELP) "\nfriction, each including those above it:\n" PSDM_FRICTION_LIST(
        WORD_HELP) "\ncontrollers (e = q_d "
                   "- "
                   "q):"
                   "\n" PSDM_CONTROL_LIST(WORD_HELP) "\nreferences:\n" REFERENCE_LIST(WORD_HELP) "\nexampl"
                                                                                                 "es:\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " robots/"
                                                                                                 "kuka_"
                                                                                                 "kr6."
                                                                                                 "yaml "
                                                                                                 "--time "
                                                                                                 "60 "
                                                                                                 "--out "
                                                                                                 "free."
                                                                                                 "csv\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " robots/"
                                                                                                 "two_"
                                                                                                 "link."
                                                                                                 "yaml "
                                                                                                 "--time "
                                                                                                 "5 "
                                                                                                 "--"
                                                                                                 "control "
                                                                                                 "computed"
                                                                                                 "-torque "
                                                                                                 "--"
                                                                                                 "referenc"
                                                                                                 "e "
                                                                                                 "quintic "
                                                                                                 "--to "
                                                                                                 "1.2,0.4 "
                                                                                                 "--"
                                                                                                 "duration"
                                                                                                 " 2\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " robots/"
                                                                                                 "kuka_"
                                                                                                 "kr6."
                                                                                                 "yaml "
                                                                                                 "--time "
                                                                                                 "5 "
                                                                                                 "--"
                                                                                                 "control "
                                                                                                 "pd-"
                                                                                                 "gravity "
                                                                                                 "--rate "
                                                                                                 "500 "
                                                                                                 "--"
                                                                                                 "quantum "
                                                                                                 "1e-4 "
                                                                                                 "--"
                                                                                                 "referenc"
                                                                                                 "e sines "
                                                                                                 "--log "
                                                                                                 "log."
                                                                                                 "csv\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " robots/"
                                                                                                 "kuka_"
                                                                                                 "kr6."
                                                                                                 "yaml "
                                                                                                 "--time "
                                                                                                 "10 "
                                                                                                 "--"
                                                                                                 "control "
                                                                                                 "adaptive"
                                                                                                 " --"
                                                                                                 "model-"
                                                                                                 "error "
                                                                                                 "0.2 "
                                                                                                 "--"
                                                                                                 "referenc"
                                                                                                 "e "
                                                                                                 "fourier "
                                                                                                 "--json\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " robots/"
                                                                                                 "two_"
                                                                                                 "link."
                                                                                                 "yaml "
                                                                                                 "--"
                                                                                                 "inverse "
                                                                                                 "--"
                                                                                                 "referenc"
                                                                                                 "e "
                                                                                                 "quintic "
                                                                                                 "--to "
                                                                                                 "1.2,0.4 "
                                                                                                 "--time "
                                                                                                 "2 --out "
                                                                                                 "torques."
                                                                                                 "csv\n"
                                                                                                 "  psdm "
                                                                                                 "simulate"
                                                                                                 " arm."
                                                                                                 "yaml "
                                                                                                 "--"
                                                                                                 "inverse "
                                                                                                 "--"
                                                                                                 "referenc"
                                                                                                 "e "
                                                                                                 "excitati"
                                                                                                 "on.csv "
                                                                                                 "--"
                                                                                                 "ignore-"
                                                                                                 "extra "
                                                                                                 "--"
                                                                                                 "friction"
                                                                                                 " lugre "
                                                                                                 "--log "
                                                                                                 "log.csv "
                                                                                                 "--log-"
                                                                                                 "rate "
                                                                                                 "1000 "
                                                                                                 "--log-"
                                                                                                 "noise "
                                                                                                 "0.005\n";
#undef WORD_HELP

const command_line simulate_line = {"simulate", settings, sizeof settings / sizeof *settings, positional, help};

/* ---- small helpers for all files ---- */

void *simulate_array(simulate_job *j, size_t count, size_t size) {
  if (j->array_count == SIMULATE_ARRAYS) return NULL;
  void *memory = calloc(count ? count : 1, size);
  if (memory) j->arrays[j->array_count++] = memory;
  return memory;
}

bool simulate_given(const simulate_job *j, const char *name) { return settings_given(&simulate_line, &j->set, name); }

int simulate_numbers(const char *option, const char *text, int count, double *value) {
  return tool_numbers("simulate", option, text, count, value);
}

static void simulate_free(simulate_job *j) {
  tool_abort(&j->out);
  tool_abort(&j->log);
  tool_fragile("SUNDIALS");
  psdm_sim_free(j->sim);
  tool_solid();
  psdm_work_free(j->carried.work, NULL);
  psdm_robot_free(j->carried.load);
  psdm_control_free(j->controller);
  psdm_motion_free(j->reference);
  psdm_signal_free(j->torque);
  psdm_signal_free(j->wrench);
  psdm_robot_free(j->believed); /* clones before what they borrow from */
  psdm_robot_free(j->believed_file);
  psdm_robot_free(j->stated);
  psdm_robot_free(j->file);
  for (int i = 0; i < j->array_count; i++) free(j->arrays[i]);
}

int cmd_simulate(int argc, char **argv) {
  simulate_job j = {0};
  const char *path;
  int code = settings_parse(&simulate_line, argc, argv, &j.set, &path);
  if (code < 0) code = simulate_words(&j);
  if (code < 0) code = simulate_robots(&j, path);
  if (code < 0) code = simulate_initial(&j);
  if (code < 0) code = simulate_reference(&j);
  if (code < 0) code = simulate_inputs(&j);
  if (code < 0 && !j.set.inverse) code = simulate_controller(&j);
  if (code < 0) code = simulate_open(&j);
  if (code < 0) code = j.set.inverse ? simulate_inverse(&j) : simulate_run(&j);
  simulate_free(&j);
  return code;
}
