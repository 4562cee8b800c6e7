/* fuzz_model.c: any bytes as a derived model. A refused model gets a clean message; an accepted one survives every
 * function that takes a model. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercise.h"
#include "psdm/model.h"

enum { MOST_NUMBERS = 1 << 16 };

static void check_facts(const psdm_model *m) {
  int n = psdm_model_n(m), l = psdm_model_l(m), standard = psdm_model_standard_count(m), joint, parameter;
  long p = psdm_model_p(m), function;
  double value;
  char text[256];
  unsigned char exponents[5 * 64];
  check(n >= 1 && l >= 0 && p >= 0 && psdm_model_name(m) && psdm_model_class_start(m, 0) == 0 &&
        psdm_model_class_start(m, psdm_model_classes(m)) == p);
  for (int k = 0; k < psdm_model_classes(m); k++)
    check(psdm_model_class_start(m, k) <= psdm_model_class_start(m, k + 1));
  for (long f = 0; f < p; f++) psdm_model_exponents(m, f, exponents), psdm_model_function_text(m, f, text, sizeof text);
  for (long e = 0; e < psdm_model_entries(m); e++) {
    psdm_model_entry(m, e, &function, &joint, &parameter, &value);
    check(function >= 0 && function < p && joint >= 0 && joint < n && parameter >= 0 && parameter < l);
  }
  for (int j = 0; j < l; j++) {
    check(psdm_model_base_name(m, j) != NULL);
    for (int t = 0; t < psdm_model_base_terms(m, j); t++) {
      psdm_model_base_term(m, j, t, &parameter);
      check(parameter >= 0 && parameter < standard);
    }
  }
  for (int k = 0; k < standard; k++) psdm_model_standard_name(m, k, text, sizeof text), psdm_model_fate(m, k);
}

static double *numbers(size_t count, double first, double step) {
  double *x = malloc((count + 1) * sizeof *x);
  check(x != NULL);
  for (size_t k = 0; k <= count; k++) x[k] = first + step * (double)k;
  return x;
}

static void evaluate(const psdm_model *m) {
  size_t n = (size_t)psdm_model_n(m), l = (size_t)psdm_model_l(m), p = (size_t)psdm_model_p(m),
         standard = (size_t)psdm_model_standard_count(m);
  if (n * l > MOST_NUMBERS || p > MOST_NUMBERS) return;
  double *q = numbers(n, -1, 0.3), *qd = numbers(n, 1.5, -0.4), *qdd = numbers(n, 0, 0.7), *tau = numbers(n, 0, 0),
         *out = numbers(n, 0, 0);
  double *y = numbers(p, 0, 0), *Y = numbers(n * l, 0, 0), *theta = numbers(l, 0.5, 0.1),
         *pi = numbers(standard, 1, 0.01), *M = numbers(n * n, 0, 0);
  double *scratch = numbers(psdm_model_scratch(m), 0, 0), kinetic, potential;
  psdm_error error = {0};
  psdm_model_theta(m, pi, theta);
  psdm_model_y(m, q, qd, qdd, y);
  for (psdm_part part = PSDM_PART_ALL; part <= PSDM_PART_INERTIA; part++) {
    psdm_model_regressor(m, part, y, Y);
    psdm_model_torque(m, part, y, theta, tau);
  }
  psdm_model_inverse(m, theta, q, qd, qdd, scratch, tau);
  psdm_model_mass(m, theta, q, scratch, M);
  psdm_model_bias(m, theta, q, qd, scratch, out);
  psdm_model_bias(m, theta, q, NULL, scratch, out);
  psdm_model_forward(m, theta, q, qd, tau, scratch, out);
  psdm_model_energy(m, theta, q, qd, scratch, &kinetic, &potential);
  double *full = numbers(standard, 0, 0);
  /* balls of 1 kg */
  for (size_t k = 0; k < standard; k++) pi[k] = k % 10 == 0 || k % 10 == 4 || k % 10 == 7 || k % 10 == 9;
  psdm_status status = standard > 200 ? PSDM_OK : psdm_model_full(m, theta, pi, NULL, full, &error);
  if (status) check_error(&error, status);
  double *const all[] = {q, qd, qdd, tau, out, y, Y, theta, pi, M, scratch, full};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[PATH_BYTES];
  psdm_model *model;
  psdm_error error = {0};
  int fd = memory_file(data, size, path);
  psdm_status status = psdm_model_load(path, NULL, &model, &error);
  check(!model == !!status);
  if (status) {
    check_error(&error, status);
  } else {
    check_facts(model);
    evaluate(model);
  }
  psdm_model_free(model);
  close(fd);
  return 0;
}
