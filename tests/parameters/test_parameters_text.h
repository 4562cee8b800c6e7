/* test_parameters_text.h: parameter files in tests: written and read again, compared to the last bit, broken at
 * random. Part of one program at a time. */
#ifndef TEST_PARAMETERS_TEXT_H
#define TEST_PARAMETERS_TEXT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "psdm/predictor.h"

enum { MOST = 8, MOST_STANDARD = 11 * MOST, MOST_COLUMNS = 7, TEXT = 1 << 20 };

/* ---- made-up numbers ---- */

/* numbers of every size, so that each digit counts */
static inline double any_number(rng *g) { return rng_uniform(g, -1, 1) * pow(10, rng_int(g, -12, 12)); }

static inline void random_state(rng *g, int n, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++)
    q[i] = rng_uniform(g, -3, 3), qd[i] = rng_uniform(g, -2, 2), qdd[i] = rng_uniform(g, -5, 5);
}

static inline void make_fit(rng *g, int n, psdm_joint_fit *joint, psdm_part_fit *fit) {
  fit->rows = 0;
  for (int i = 0; i < n; i++) {
    joint[i] =
        (psdm_joint_fit){rng_int(g, 0, 1000), any_number(g), any_number(g), any_number(g), i ? any_number(g) : NAN};
    fit->rows += joint[i].rows;
  }
  fit->joint = joint;
  fit->global_rel = rng_uniform(g, 0, 1);
}

static inline psdm_robot *random_robot(rng *g) {
  static const random_options kinds[] = {
      {1, 6, false, false, true, true}, {2, 6, false, true, true, false}, {2, 5, true, true, true, true}};
  char text[1 << 15];
  return parse_robot(random_robot_text(g, &kinds[rng_int(g, 0, 2)], text, sizeof text));
}

/* two joints whose second drive moves by q2 - q1 / 2 */
static const char *const arm_text =
    "name: arm\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: s, a: 1.2, gear: 50}\n  - {name: e, a: "
    "1.1, gear: -20, drive_inertia: 0.4}\n"
    "transmission: [[1, 0], [0.5, 1]]\nlinks:\n  - {mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.2, xx: 0.1, yy: "
    "0.2}}\n  - {mass: 2, com: [-0.5, 0, 0], inertia: {zz: 0.3, xx: 0.1, yy: 0.3}}\n";

/* ---- text out and in ---- */

/* the file's text; the caller frees it */
static inline char *written(const psdm_parameters *p) {
  psdm_output *out;
  psdm_error error;
  char path_of_test[] = "/tmp/psdm_parametersXXXXXX";
  int fd = mkstemp(path_of_test);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(psdm_output_open(path_of_test, NULL, &out, &error), PSDM_OK);
  psdm_parameters_write(p, out);
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
  FILE *file = fopen(path_of_test, "r");
  char *text = calloc(TEXT, 1);
  assert_non_null(file);
  assert_non_null(text);
  size_t length = fread(text, 1, TEXT - 1, file);
  fclose(file);
  unlink(path_of_test);
  assert_true(length > 0 && length < TEXT - 1);
  return text;
}

static inline psdm_parameters *parsed(const char *text, const psdm_robot *robot) {
  psdm_parameters *p;
  psdm_error error;
  char sentence[900];
  if (psdm_parameters_parse(text, strlen(text), "p.yaml", robot, NULL, &p, &error))
    fail_msg("%s\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return p;
}

static inline void same_bits(const double *a, const double *b, int count) {
  assert_int_equal(!a, !b);
  for (int i = 0; i < count && a; i++)
    if (!(isnan(a[i]) && isnan(b[i]))) assert_memory_equal(&a[i], &b[i], sizeof *a);
}

static inline void same_fit(const psdm_part_fit *a, const psdm_part_fit *b, int n) {
  same_bits(&a->global_rel, &b->global_rel, 1);
  assert_int_equal(a->rows, b->rows);
  for (int i = 0; i < n; i++) {
    assert_int_equal(a->joint[i].rows, b->joint[i].rows);
    same_bits(&a->joint[i].rmse, &b->joint[i].rmse, 4);
  }
}

/* every field, to the last bit */
static inline void same(const psdm_parameters *a, const psdm_parameters *b) {
  int wide = a->base;
  assert_string_equal(a->robot, b->robot);
  assert_true(a->kinematics == b->kinematics && a->estimator == b->estimator && a->source == b->source);
  assert_true(a->n == b->n && a->links == b->links && a->base == b->base && a->standard == b->standard);
  for (int j = 0; j < a->base; j++) {
    assert_string_equal(a->theta[j].name, b->theta[j].name);
    same_bits(&a->theta[j].value, &b->theta[j].value, 3);
    assert_int_equal(a->theta[j].essential, b->theta[j].essential);
  }
  for (int i = 0; i < a->n; i++) {
    assert_int_equal(a->columns[i], b->columns[i]);
    wide += a->columns[i];
    for (int k = 0; k < a->columns[i]; k++) {
      const psdm_column *x = &a->column[i][k], *y = &b->column[i][k];
      assert_true(x->kind == y->kind && x->load == y->load);
      same_bits(&x->width, &y->width, 1);
      same_bits(&x->gain, &y->gain, 2);
    }
  }
  same_bits(a->pi, b->pi, a->standard);
  same_bits(a->theta_load, b->theta_load, a->base);
  same_bits(a->sigma, b->sigma, a->n), same_bits(a->speed, b->speed, a->n), same_bits(a->load, b->load, a->n);
  same_bits(&a->cutoff, &b->cutoff, 5);
  same_fit(&a->train, &b->train, a->n), same_fit(&a->heldout, &b->heldout, a->n);
  if (!a->lugre)
    assert_true(!b->lugre && !b->torque_constant && !b->tool && !b->step_fit && !b->theta_known && !b->steps);
  same_bits(a->covariance, b->covariance, wide * wide);
}

/* ---- broken files ---- */

/* any file is refused with a message or can be used */
static inline void broken_file(rng *g, const psdm_robot *robot, const char *text) {
  size_t length = strlen(text);
  char *broken = malloc(length + 1);
  assert_non_null(broken);
  long taken = 0, refused = 0;
  for (int k = 0; k < 1500; k++) {
    static const char bytes[] = "0123456789.-+e:,[]{}\"' \n#xtru\\\x80";
    memcpy(broken, text, length + 1);
    for (int b = rng_int(g, 1, 3); b > 0; b--)
      broken[rng_int(g, 0, (int)length - 1)] = bytes[rng_int(g, 0, (int)sizeof bytes - 2)];
    psdm_parameters *p;
    psdm_predictor *predictor;
    psdm_error error;
    double q[MOST] = {0.1}, tau[MOST];
    size_t used = rng_int(g, 0, 4) ? length : (size_t)rng_int(g, 0, (int)length);
    if (psdm_parameters_parse(broken, used, "p.yaml", robot, NULL, &p, &error)) {
      assert_true(error.text[0] && !p);
      refused++;
      continue;
    }
    psdm_robot *clone;
    assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
    psdm_status status = psdm_parameters_apply(p, clone, &error);
    assert_true(status == PSDM_OK || (p->lugre && status == PSDM_E_MISSING));
    assert_int_equal(psdm_predictor_new(p, robot, NULL, &predictor, &error), status);
    for (int row = 0; row < 2 && !status; row++)
      assert_int_equal(psdm_predictor_step(predictor, q, q, q, tau, NULL), PSDM_OK);
    psdm_predictor_free(predictor);
    psdm_robot_free(clone);
    psdm_parameters_free(p);
    taken++;
  }
  printf("broken: %ld refused, %ld accepted\n", refused, taken);
  assert_true(refused > 20 && taken > 20);
  free(broken);
}

#endif
