#include "cmd_simulate.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS_STRUCT simulate_settings
static const setting settings[] = {SIMULATE_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"ROBOT", NULL};

#define WORD_HELP(id, name, text) "  " name "\t" text "\n"
static const char help[] =
    "A robot in motion: M(q) qdd + c(q, qd) + g(q) + friction = tau + J'w, with springs, loads, limits and a controller where asked for.\n"
    "Without options it moves freely, from rest at q = 0. At the end stand the final state and the audit: where all energy went.\n"
    "Exit 1 when the motion diverges, runs out of --wall time or is interrupted: what was simulated until then is written.\n\n"
    "integrators:\n" PSDM_INTEGRATOR_LIST(WORD_HELP)
    "\nfriction, each with what stands above it:\n" PSDM_FRICTION_LIST(WORD_HELP)
    "\ncontrollers (e = q_d - q):\n" PSDM_CONTROL_LIST(WORD_HELP)
    "\nreferences:\n" REFERENCE_LIST(WORD_HELP)
    "\nexamples:\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 60 --out free.csv\n"
    "  psdm simulate robots/two_link.yaml --time 5 --control computed-torque --reference quintic --to 1.2,0.4 --duration 2\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 5 --control pd-gravity --rate 500 --quantum 1e-4 --reference sines --log log.csv\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 10 --control adaptive --model-error 0.2 --reference fourier --json\n"
    "  psdm simulate robots/two_link.yaml --inverse --reference quintic --to 1.2,0.4 --time 2 --out torques.csv\n";
#undef WORD_HELP

const command_line simulate_line = {"simulate", settings, sizeof settings / sizeof *settings, positional, help};

/* ---- small things for all files ---- */

int simulate_memory(void) { return tool_usage("simulate", "out of memory"); }

void *simulate_array(simulate_job *j, size_t count, size_t size) {
  if (j->array_count == SIMULATE_ARRAYS) return NULL;
  void *memory = calloc(count ? count : 1, size);
  if (memory) j->arrays[j->array_count++] = memory;
  return memory;
}

bool simulate_given(const simulate_job *j, const char *name) {
  for (size_t i = 0; i < simulate_line.count; i++) {
    const setting *s = &settings[i];
    const void *field = (const char *)&j->set + s->offset;
    double fallback = 0;
    if (strcmp(s->name, name) != 0) continue;
    switch (s->kind) {
      case SETTING_text: return *(const setting_text *)field && strcmp(*(const setting_text *)field, s->fallback) != 0;
      case SETTING_flag: return *(const setting_flag *)field;
      case SETTING_number: return tool_parse_number(s->fallback, &fallback) && *(const setting_number *)field != fallback;
      case SETTING_vector: return ((const setting_vector *)field)->given;
      case SETTING_list: return ((const setting_list *)field)->count > 0;
    }
  }
  return false;
}

int simulate_numbers(const char *option, const char *text, int count, double *value) {
  const char *at = text;
  int found = 0;
  for (;; at++) {
    char part[64];
    size_t length = strcspn(at, ",");
    if (length >= sizeof part || found == count) break;
    memcpy(part, at, length);
    part[length] = '\0';
    if (!tool_parse_number(part, &value[found])) break;
    found++;
    at += length;
    if (*at) continue;
    for (int i = 1; i < count && found == 1; i++) value[i] = value[0];
    if (found == 1 || found == count) return -1;
    break;
  }
  return tool_usage("simulate", "--%s '%s': one number or %d were expected", option, tool_safe(text), count);
}

static void simulate_free(simulate_job *j) {
  tool_abort(&j->out);
  tool_abort(&j->log);
  psdm_sim_free(j->sim);
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
