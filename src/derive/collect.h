/* collect.h: from terms to a model. */
#ifndef PSDMP_COLLECT_H
#define PSDMP_COLLECT_H

#include "derive/derive_priv.h"
#include "model/model_priv.h"

/* Fills the model's functions and Psi from the terms of an uncoupled robot; q[b] is the independent joint of tree body b. */
psdm_status psdmp_collect(const psdm_robot *robot, const psdmp_expansion *e, const int *q, psdm_model *model, double *kept, psdm_error *error);

/* Base parameters of an uncoupled robot by the recursion over bodies: fills base, fate, l. */
psdm_status psdmp_base_recursion(const psdm_robot *robot, double reach, psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* P from Psi and the kept columns. */
psdm_status psdmp_restrict_columns(psdm_model *model, psdm_error *error);

#endif
