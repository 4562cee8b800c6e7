/* psdm/eval.h: every function of a robot in one call, with named inputs and outputs.
 *
 * The same as psdm_inverse, psdm_mass, ... for callers that choose the function at run time: the command line, batches,
 * bindings. Nothing here allocates; the robot may be shared, the work belongs to one thread. */
#ifndef PSDM_EVAL_H
#define PSDM_EVAL_H

#include "psdm/function.h"
#include "psdm/linearize.h"
#include "psdm/model.h"
#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults. */
typedef struct psdm_eval_options {
  /* inverse, bias: add friction; forward: subtract it; linearize-*: include its slope (psdm_friction_slope) */
  bool friction;
  bool motor; /* inverse, bias, gravity: torques on the motor side, taum */
  /* regressor: columns behind the others, n for each number of psdm_friction_column_values (POWER) */
  bool friction_columns;
  const char *link; /* jacobian, pose, cartesian-*: of this link; NULL: psdm_robot_default_link */
  /* cartesian-*: the point (3) in the link's frame, NULL: its origin; directions (psdm/cartesian.h) as bits, 0: all */
  const double *point;
  unsigned directions;
  bool dense;       /* forward-along: by way of the mass matrix (Algorithm 3) */
  int wrench_count; /* inverse, forward: external wrenches */
  const psdm_wrench *wrenches;
  /* regressor, sensitivity: of its base parameters; NULL: of the standard parameters */
  const psdm_model *model;
  bool expanded;       /* evaluate through the model instead of the recursions */
  const double *theta; /* expanded: base parameters (l) */
  /* expanded, regressor with a model, sensitivity, cartesian-*: psdm_eval_scratch doubles */
  double *scratch;
  psdm_linear *linear; /* scratch of psdm_eval_linearizes; PSDM_E_ARGUMENT without it */
  unsigned long long reserved[6];
} psdm_eval_options;

/* Numbers per state, and the name of each: q1 .. qn, qd1 .., depending on the function. */
PSDM_API int psdm_eval_inputs(const psdm_robot *robot, psdm_function function);
PSDM_API char *psdm_eval_input_name(const psdm_robot *robot, psdm_function function, int index, char *buf, size_t size);
PSDM_API int psdm_eval_outputs(const psdm_robot *robot, psdm_function function, const psdm_eval_options *options);
PSDM_API char *psdm_eval_output_name(const psdm_robot *robot, psdm_function function, const psdm_eval_options *options,
                                     int index, char *buf, size_t size);

/* Whether a function needs options.linear. */
PSDM_API bool psdm_eval_linearizes(psdm_function function);

/* Whether a robot has a function, with a sentence if not. PSDM_E_ROBOT: second derivatives with closed loops.
 * PSDM_E_ARGUMENT: more directions than joints, or a link that does not move. */
PSDM_API psdm_status psdm_eval_check(const psdm_robot *robot, psdm_function function, const psdm_eval_options *options,
                                     psdm_error *error);

/* Doubles of scratch, enough for every function; model may be NULL. */
PSDM_API size_t psdm_eval_scratch(const psdm_robot *robot, const psdm_model *model);

/* One state: in (inputs) to out (outputs). options may be NULL. PSDM_E_ROBOT for a model with another number of joints
 * or parameters; whether it is a model of this very robot is checked by psdm_model_match, which psdm_batch_new calls
 * once. */
PSDM_API psdm_status psdm_eval(const psdm_robot *robot, psdm_work *work, psdm_function function,
                               const psdm_eval_options *options, const double *in, double *out);

/* Many states at once, in threads (0: from OMP_NUM_THREADS or the number of processors). Results equal psdm_eval's for
 * any number of threads. Options are copied, except that their scratch and linear are not used; robot, model, theta,
 * point and wrenches must outlive the batch. Allocates; free with psdm_batch_free. One caller at a time. */
typedef struct psdm_batch psdm_batch;
PSDM_API psdm_status psdm_batch_new(const psdm_robot *robot, psdm_function function, const psdm_eval_options *options,
                                    int threads, const psdm_allocator *allocator, psdm_batch **batch,
                                    psdm_error *error);
PSDM_API void psdm_batch_free(psdm_batch *batch); /* accepts NULL */

/* in (count x inputs) to out (count x outputs), row-major. The status is that of the first state that fails, *failed
 * (nullable) its number; rows before it are complete. Does not allocate. */
PSDM_API psdm_status psdm_batch_eval(psdm_batch *batch, long count, const double *in, double *out, long *failed);

#ifdef __cplusplus
}
#endif
#endif
