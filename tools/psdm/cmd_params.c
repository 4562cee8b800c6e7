#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define PARAMS_SETTINGS(X)                                                                               \
  X(text, assume, "", "A = 0,B = C,...", "take body parameters for zero or equal, beside the file's own") \
  X(flag, json, "", "", "write one JSON object")                                                         \
  ROBOT_SETTINGS(X)

typedef struct params_settings {
  PARAMS_SETTINGS(SETTINGS_FIELD)
} params_settings;

#define SETTINGS_STRUCT params_settings
static const setting settings[] = {PARAMS_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "The base inertial parameters: the fewest combinations of standard parameters that the torques depend on, each with its formula\n"
    "and, where the robot's numbers are known, its value; then what became of every other standard parameter.\n\n"
    "examples:\n"
    "  psdm params robots/puma560.yaml\n"
    "  psdm params robots/kuka_kr6.yaml --json\n";

static const command_line line = {"params", settings, sizeof settings / sizeof *settings, positional, help};

/* "ZZ1 + 0.4 mz3 - YY2" */
static void print_formula(const psdm_model *m, int j) {
  char name[32], text[32];
  for (int t = 0; t < psdm_model_base_terms(m, j); t++) {
    int k;
    double x = psdm_model_base_term(m, j, t, &k);
    printf("%s", x < 0 ? (t ? " - " : "-") : t ? " + " : "");
    if (fabs(fabs(x) - 1) > 1e-12) {
      /* formulas are polynomials in lengths: twelve digits show them without the rounding of the last ones */
      snprintf(text, sizeof text, "%.12g", fabs(x));
      printf("%s ", text);
    }
    printf("%s", psdm_model_standard_name(m, k, name, sizeof name));
  }
}

static void print_fate(const psdm_model *m, psdm_parameter_fate fate, const char *title) {
  char name[32];
  int count = 0;
  for (int k = 0; k < psdm_model_standard_count(m); k++) count += psdm_model_fate(m, k) == fate;
  if (!count) return;
  printf("\n%d %s:\n ", count, title);
  for (int k = 0; k < psdm_model_standard_count(m); k++)
    if (psdm_model_fate(m, k) == fate) printf(" %s", psdm_model_standard_name(m, k, name, sizeof name));
  printf("\n");
}

static void print_text(const psdm_robot *robot, const psdm_model *m, const double *theta, bool known) {
  printf("%s: %d base parameters of %d standard ones\n\n", tool_safe(psdm_robot_name(robot)), psdm_model_l(m), psdm_model_standard_count(m));
  printf("  %-4s %-6s %14s   %s\n", "#", "name", known ? "value" : "", "formula");
  for (int j = 0; j < psdm_model_l(m); j++) {
    printf("  %-4d %-6s ", j + 1, psdm_model_base_name(m, j));
    if (known)
      printf("%14.6g   ", theta[j]);
    else
      printf("%14s   ", "?");
    print_formula(m, j);
    printf("\n");
  }
  print_fate(m, PSDM_FATE_REGROUPED, "standard parameters are regrouped into others");
  print_fate(m, PSDM_FATE_NO_EFFECT, "standard parameters have no effect");
}

static void json_names(psdm_output *out, const char *key, const psdm_model *m, psdm_parameter_fate fate) {
  char name[32];
  psdm_json_array(out, key);
  for (int k = 0; k < psdm_model_standard_count(m); k++)
    if (psdm_model_fate(m, k) == fate) psdm_json_string(out, NULL, psdm_model_standard_name(m, k, name, sizeof name));
  psdm_json_close(out);
}

static int print_json(const psdm_robot *robot, const psdm_model *m) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  psdm_json_object(out, NULL);
  psdm_json_string(out, "name", psdm_robot_name(robot));
  psdm_json_integer(out, "l", psdm_model_l(m));
  psdm_model_write_base(m, robot, out);
  json_names(out, "unchanged", m, PSDM_FATE_UNCHANGED);
  json_names(out, "grouped", m, PSDM_FATE_GROUPED_INTO);
  json_names(out, "regrouped", m, PSDM_FATE_REGROUPED);
  json_names(out, "no_effect", m, PSDM_FATE_NO_EFFECT);
  psdm_json_close(out);
  return tool_commit(&out);
}

int cmd_params(int argc, char **argv) {
  params_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  psdm_model *model = NULL;
  psdm_derive_options options = {0};
  psdm_error error;
  double *theta = NULL, *pi = NULL;
  int code = settings_parse(&line, argc, argv, &set, &path);
  if (code < 0) code = tool_assume("params", set.assume, &options);
  if (code < 0) code = tool_load("params", path, ROBOT_SETTINGS_OF(&set), &robot);
  if (code < 0 && psdm_model_derive(robot, &options, NULL, &model, NULL, &error)) code = tool_fail(&error);
  if (code < 0) {
    theta = calloc((size_t)psdm_model_l(model) + 1, sizeof *theta);
    pi = calloc((size_t)psdm_model_standard_count(model), sizeof *pi);
    if (!theta || !pi) code = tool_usage("params", "out of memory");
  }
  if (code < 0) {
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(model, pi, theta);
    if (set.json) {
      code = print_json(robot, model);
    } else {
      print_text(robot, model, theta, psdm_robot_ready(robot, NULL) == PSDM_OK);
      code = EXIT_OK;
    }
  }
  free(theta);
  free(pi);
  psdm_model_free(model);
  psdm_robot_free(robot);
  return code;
}
