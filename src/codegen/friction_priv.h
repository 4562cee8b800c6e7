/* friction_priv.h: what resists the joints, in graphs and at the states of a trial. Private. */
#ifndef PSDMP_CODEGEN_FRICTION_PRIV_H
#define PSDMP_CODEGEN_FRICTION_PRIV_H

#include "codegen/codegen.h"

bool psdmp_codegen_has_friction(psdm_function f); /* where it is asked for */
bool psdmp_codegen_is_friction(psdm_function f);  /* of nothing else */

/* code->friction from the options. */
psdm_status psdmp_codegen_friction_set(psdm_code *code, psdm_error *error);

/* Friction in a rigid program's outputs, its argument z, and the new cost. */
psdm_status psdmp_codegen_friction_add(psdm_code *code, psdmp_codegen_program *p, psdm_error *error);

/* The functions of friction alone. */
psdm_status psdmp_codegen_friction_build(psdm_code *code, psdm_function f, psdmp_codegen_program *p, psdm_error *error);

/* A copy that shares no number that gravity or inertias change; false: out of memory. */
bool psdmp_codegen_robot_copy(const psdm_robot *robot, psdmp_base_arena *arena, psdm_robot *copy);

#endif
