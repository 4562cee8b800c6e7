/* eval_priv.h: functions of psdm_eval by families. Private to the room. */
#ifndef PSDMP_EVAL_H
#define PSDMP_EVAL_H

#include "psdm/eval.h"

/* Coriolis matrix, momentum, small motions, parameters: psdm_eval of those functions. Y (n x columns): the regressor's
 * values where the function is made of them. */
psdm_status psdmp_eval_terms(const psdm_robot *robot, psdm_work *work, psdm_function function,
                             const psdm_eval_options *options, const double *in, double *out);

/* -M^-1 Y in the place of Y (n x columns); scratch: (n n + n). */
psdm_status psdmp_eval_solve_columns(const psdm_robot *robot, psdm_work *work, const double *q, int columns,
                                     double *scratch, double *Y);

/* The functions of a task, and what they work in. */
psdm_status psdmp_eval_task(const psdm_robot *robot, psdm_work *work, psdm_function function,
                            const psdm_eval_options *options, const double *in, double *out);
size_t psdmp_eval_task_scratch(const psdm_robot *robot);
int psdmp_eval_directions(const psdm_eval_options *options); /* of a task */

#endif
