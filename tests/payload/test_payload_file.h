/* test_payload_file.h: made-up parameter files, and loads. Part of one program at a time. */
#ifndef TEST_PAYLOAD_FILE_H
#define TEST_PAYLOAD_FILE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { STANDARD = 11 * 16, TEXT = 1 << 18 };

static inline psdm_load random_load(rng *g) {
  psdm_load load = {.mass = rng_uniform(g, 0.2, 5)};
  double spread[3];
  for (int k = 0; k < 3; k++)
    load.com[k] = rng_uniform(g, -0.2, 0.2), spread[k] = rng_uniform(g, 0.01, 0.1) * load.mass;
  /* a box along the axes, then a little askew */
  const double own[6] = {spread[1] + spread[2], 0, 0, spread[0] + spread[2], 0, spread[0] + spread[1]};
  memcpy(load.inertia, own, sizeof own);
  load.inertia[1] = 0.1 * spread[0], load.inertia[4] = -0.1 * spread[1];
  return load;
}

/* The content of a file. Every drive has v, one Coulomb column and 1. */
typedef struct parameter_file {
  const psdm_robot *robot;
  const double *pi;  /* (standard) that theta is of */
  bool full, turned; /* pi is in it; base parameters in the other order */
  double viscous, coulomb, offset;
  double stop, smooth; /* width of stop(x/w), or of tanh(v/w); both 0: sign(v) */
  int load;            /* the Coulomb column's */
  bool covariance;
  const char *kinematics; /* NULL: qdd, no filter */
} parameter_file;

static inline void put_list(FILE *f, const char *key, const double *value, double same, int count) {
  fprintf(f, "%s: [", key);
  for (int i = 0; i < count; i++) fprintf(f, "%s%.17g", i ? ", " : "", value ? value[i] : same);
  fprintf(f, "]\n");
}

static inline void put_row(FILE *f, const double pi[10]) {
  for (int k = 0; k < 10; k++) fprintf(f, "%s%.17g%s", k ? ", " : "    - [", pi[k], k == 9 ? "]\n" : "");
}

static inline char *parameter_text(const parameter_file *w, char *text, size_t size) {
  psdm_model *model;
  psdm_error error;
  const psdm_robot *robot = w->robot;
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  int n = psdm_robot_n(robot), l = psdm_model_l(model), links = psdm_robot_links(robot),
      drives = psdm_robot_drives(robot);
  double theta[STANDARD], turned[STANDARD];
  psdm_model_theta(model, w->pi, theta);
  FILE *f = fmemopen(text, size, "w");
  assert_non_null(f);
  fprintf(f, "format: psdm-parameters-1\nrobot: {name: \"%s\", kinematics: \"%016llx\"}\nestimator: wls\ntheta:\n",
          psdm_robot_name(robot), (unsigned long long)psdm_robot_fingerprint(robot));
  for (int k = 0; k < l; k++) {
    int j = w->turned ? l - 1 - k : k;
    turned[k] = theta[j];
    fprintf(f, "  %s: {value: %.17g, sd: %.17g, prior: 0}\n", psdm_model_base_name(model, j), theta[j], 0.01 * (k + 1));
  }
  if (w->full) {
    fprintf(f, "pi:\n  links:\n");
    for (int b = 0; b < links; b++) put_row(f, w->pi + 10 * b);
    fprintf(f, "  "), put_list(f, "drives", w->pi + 10 * links, 0, drives);
  }
  fprintf(f, "friction:\n");
  for (int i = 0; i < n; i++)
    fprintf(f,
            "  - - {column: \"v\", gain: %.17g, sd: 0.1}\n    - {column: \"%s\", width: %.17g, load: %d, gain: %.17g, "
            "sd: 0.01}\n    - {column: \"1\", gain: %.17g, sd: 0.1}\n",
            w->viscous,
            w->stop > 0     ? "stop(x/w)"
            : w->smooth > 0 ? "tanh(v/w)"
                            : "sign(v)",
            w->stop > 0 ? w->stop : w->smooth, w->load, w->coulomb, w->offset);
  if (w->load) put_list(f, "load", turned, 0, l);
  put_list(f, "sigma", NULL, 1, n);
  put_list(f, "speed", NULL, 1.5, n);
  put_list(f, "mean_load", NULL, 1.5, n);
  fprintf(f, "choices: {%s, delay: 0, lambda: 1, rest: 0, rate: 200}\n",
          w->kinematics ? w->kinematics : "kinematics: qdd, cutoff: .inf");
  if (w->covariance) fprintf(f, "covariance:\n");
  for (int i = 0; i < l + 3 * n && w->covariance; i++)
    for (int k = 0; k <= i; k++)
      fprintf(f, "%s%.17g%s", k ? ", " : "  - [",
              i == k ? (i < l ? 1e-4 * (i + 1) * (i + 1) : 1e-3) : 1e-6 * sin(i + 3 * k), k == i ? "]\n" : "");
  fclose(f);
  psdm_model_free(model);
  return text;
}

/* The same of an arm that was calibrated in steps: LuGre friction, constants of currents; small uncertainties of
 * everything. */
static inline char *steps_text(const psdm_robot *robot, const double *pi, bool currents, char *text, size_t size) {
  psdm_model *model;
  psdm_error error;
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  int n = psdm_robot_n(robot), l = psdm_model_l(model);
  double theta[STANDARD];
  psdm_model_theta(model, pi, theta);
  FILE *f = fmemopen(text, size, "w");
  assert_non_null(f);
  fprintf(f,
          "format: psdm-parameters-1\nrobot: {name: \"%s\", kinematics: \"%016llx\"}\nroute: steps\nsteps: [motor, "
          "gravity, friction, inertia]\ncurrents: %s\nmotors:\n",
          psdm_robot_name(robot), (unsigned long long)psdm_robot_fingerprint(robot), currents ? "true" : "false");
  for (int i = 0; i < n; i++) fprintf(f, "  - {constant: %.17g, sd: 0.01}\n", currents ? 20.0 + i : 1.0 + 0.05 * i);
  fprintf(f, "theta:\n");
  for (int j = 0; j < l; j++) fprintf(f, "  %s: {value: %.17g, sd: 0.001}\n", psdm_model_base_name(model, j), theta[j]);
  fprintf(f, "lugre:\n");
  for (int i = 0; i < n; i++)
    fprintf(f,
            "  - {coulomb: %.17g, static: %.17g, stribeck: 0.05, viscous: 2, exponent: 0.8, sigma0: 500, sigma1: 3, "
            "offset: 0.1, sd: [0.1, 0.1, 0.01, 0.1, 0.01, 10, 1, 0.01]}\n",
            1 + 0.1 * i, 1.4 + 0.1 * i);
  put_list(f, "speed", NULL, 1.5, n);
  fprintf(f, "choices: {rate: 200}\ncovariance:\n");
  for (int i = 0; i < n + l + PSDM_FRICTION_NUMBERS * n; i++)
    for (int k = 0; k <= i; k++) fprintf(f, "%s%.17g%s", k ? ", " : "  - [", i == k ? 1e-6 : 0, k == i ? "]\n" : "");
  fclose(f);
  psdm_model_free(model);
  return text;
}

static inline psdm_parameters *parse_parameters(const psdm_robot *robot, const char *text) {
  psdm_parameters *p;
  psdm_error error = {0};
  if (psdm_parameters_parse(text, strlen(text), "test", robot, NULL, &p, &error))
    fail_msg("%d:%d %s", error.line, error.column, error.text);
  return p;
}

#endif
