/* fuzz_parameters.c: any bytes as a parameter file. A refused file gets a clean message; an accepted one is applied,
 * predicts torques, and is the same file after writing and reading. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "psdm/friction.h"
#include "psdm/parameters.h"
#include "psdm/predictor.h"
#include "written.h"

static const char arm[] =
    "name: arm\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: s, a: 1.2, gear: 50}\n  - {name: e, a: "
    "1.1, gear: -20, drive_inertia: 0.4}\n"
    "transmission: [[1, 0], [0.5, 1]]\nlinks:\n  - {mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.2, xx: 0.1, yy: 0.2}}\n"
    "  - {mass: 2, com: [-0.5, 0, 0], inertia: {zz: 0.3, xx: 0.1, yy: 0.3}}\n";

static void write_it(const void *parameters, psdm_output *out) { psdm_parameters_write(parameters, out); }

static void predict(const psdm_parameters *p, const psdm_robot *robot) {
  psdm_predictor *predictor;
  psdm_error error = {0};
  double q[] = {0.3, -0.4}, qd[] = {0.5, -1}, qdd[] = {2, 1}, tau[2], friction[2];
  psdm_status status = psdm_predictor_new(p, robot, NULL, &predictor, &error);
  check(!predictor == !!status);
  if (status) check_error(&error, status);
  for (int k = 0; !status && k < 3; k++) psdm_predictor_step(predictor, q, qd, qdd, tau, friction);
  psdm_predictor_free(predictor);
}

static void use(const psdm_parameters *p, psdm_robot *robot) {
  psdm_error error = {0};
  psdm_friction friction;
  double left_out;
  for (int drive = 0; drive < 2; drive++) psdm_parameters_friction(p, drive, &friction, &left_out);
  predict(p, robot);
  psdm_status status = psdm_parameters_apply(p, robot, &error);
  if (status) check_error(&error, status);
}

/* text to text: an accepted file is written the same way twice */
static void write_twice(const psdm_parameters *p, const psdm_robot *robot) {
  static char first[WRITTEN_BYTES], second[WRITTEN_BYTES];
  psdm_parameters *again;
  psdm_error error = {0};
  size_t length = written_text(write_it, p, first);
  psdm_status status = psdm_parameters_parse(first, length, "again.yaml", robot, NULL, &again, &error);
  check(!status);
  check(written_text(write_it, again, second) == length && memcmp(first, second, length) == 0);
  psdm_parameters_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  psdm_robot *robot;
  psdm_parameters *p;
  psdm_error error = {0};
  check(!psdm_robot_parse(arm, sizeof arm - 1, "arm.yaml", NULL, NULL, &robot, NULL));
  psdm_status status = psdm_parameters_parse((const char *)data, size, "fuzz.yaml", robot, NULL, &p, &error);
  check(!p == !!status);
  if (status) {
    check_error(&error, status);
  } else {
    write_twice(p, robot);
    use(p, robot);
  }
  psdm_parameters_free(p);
  psdm_robot_free(robot);
  return 0;
}
