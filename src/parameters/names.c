/* names.c: names of estimators, kinematics, steps and friction parameters in parameter files and the commands that make
 * them. */
#include <string.h>

#include "parameters/parameters.h"
#include "psdm/calibrate.h"
#include "psdm/excite.h"

#define NAME(id, name, help) name,
#define HELP(id, name, help) help,
#define WORD(id, name) name,

static const char *const estimator_names[] = {PSDM_ESTIMATOR_LIST(NAME)};
static const char *const kinematics_names[] = {PSDM_KINEMATICS_LIST(WORD)};
static const char *const step_names[] = {PSDM_STEP_LIST(NAME)}, *const step_helps[] = {PSDM_STEP_LIST(HELP)};

static const char *at(const char *const *names, int count, int index) {
  return index >= 0 && index < count ? names[index] : NULL;
}

/* -1: unknown name */
static int find(const char *const *names, int count, const char *name) {
  while (count > 0 && strcmp(names[count - 1], name) != 0) count--;
  return count - 1;
}

const char *psdm_estimator_name(psdm_estimator e) { return at(estimator_names, PSDM_ESTIMATORS, (int)e); }
const char *psdm_kinematics_name(psdm_kinematics k) { return at(kinematics_names, PSDM_KINEMATICS_KINDS, (int)k); }
const char *psdm_step_name(psdm_step step) { return at(step_names, PSDM_STEPS, (int)step); }
const char *psdm_step_help(psdm_step step) { return at(step_helps, PSDM_STEPS, (int)step); }

bool psdm_estimator_find(const char *name, psdm_estimator *estimator) {
  int k = find(estimator_names, PSDM_ESTIMATORS, name);
  if (k >= 0) *estimator = (psdm_estimator)k;
  return k >= 0;
}

bool psdm_kinematics_find(const char *name, psdm_kinematics *kinematics) {
  int k = find(kinematics_names, PSDM_KINEMATICS_KINDS, name);
  if (k >= 0) *kinematics = (psdm_kinematics)k;
  return k >= 0;
}

bool psdm_step_find(const char *name, psdm_step *step) {
  int k = find(step_names, PSDM_STEPS, name);
  if (k >= 0) *step = (psdm_step)k;
  return k >= 0;
}

const char *const psdmp_parameters_lugre_key[PSDM_FRICTION_NUMBERS] = {"coulomb",  "static", "stribeck", "viscous",
                                                                       "exponent", "sigma0", "sigma1",   "offset"};

double *psdmp_parameters_lugre_number(psdm_friction *f, int which) {
  double *const numbers[] = {&f->coulomb,  &f->stat,   &f->stribeck, &f->viscous,
                             &f->exponent, &f->sigma0, &f->sigma1,   &f->offset};
  return numbers[which];
}
