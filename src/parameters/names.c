/* names.c: names of estimators, kinematics, steps and friction parameters in parameter files and the commands that make
 * them. */
#include <string.h>

#include "parameters/parameters.h"
#include "psdm/calibrate.h"
#include "psdm/excite.h"

#define HELP(id, name, help) help,

static const char *const estimators[] = {PSDM_ESTIMATOR_LIST(PSDMP_BASE_LIST_WORD)};
static const char *const kinematics[] = {PSDM_KINEMATICS_LIST(PSDMP_BASE_LIST_WORD)};
static const char *const steps[] = {PSDM_STEP_LIST(PSDMP_BASE_LIST_WORD)}, *const step_helps[] = {PSDM_STEP_LIST(HELP)};

const char *psdm_estimator_name(psdm_estimator e) { return psdmp_base_word(estimators, PSDM_ESTIMATORS, (int)e); }
const char *psdm_kinematics_name(psdm_kinematics k) {
  return psdmp_base_word(kinematics, PSDM_KINEMATICS_KINDS, (int)k);
}
const char *psdm_step_name(psdm_step step) { return psdmp_base_word(steps, PSDM_STEPS, (int)step); }
const char *psdm_step_help(psdm_step step) { return psdmp_base_word(step_helps, PSDM_STEPS, (int)step); }

bool psdm_estimator_find(const char *name, psdm_estimator *estimator) {
  int k = psdmp_base_word_find(estimators, PSDM_ESTIMATORS, name);
  return k >= 0 && (*estimator = (psdm_estimator)k, true);
}

bool psdm_kinematics_find(const char *name, psdm_kinematics *way) {
  int k = psdmp_base_word_find(kinematics, PSDM_KINEMATICS_KINDS, name);
  return k >= 0 && (*way = (psdm_kinematics)k, true);
}

bool psdm_step_find(const char *name, psdm_step *step) {
  int k = psdmp_base_word_find(steps, PSDM_STEPS, name);
  return k >= 0 && (*step = (psdm_step)k, true);
}

const char *const psdmp_parameters_lugre_key[PSDM_FRICTION_NUMBERS] = {"coulomb",  "static", "stribeck", "viscous",
                                                                       "exponent", "sigma0", "sigma1",   "offset"};

double *psdmp_parameters_lugre_number(psdm_friction *f, int which) {
  double *const numbers[] = {&f->coulomb,  &f->stat,   &f->stribeck, &f->viscous,
                             &f->exponent, &f->sigma0, &f->sigma1,   &f->offset};
  return numbers[which];
}
