/* control_priv.h: data of a controller. Private to the library. */
#ifndef PSDMP_CONTROL_PRIV_H
#define PSDMP_CONTROL_PRIV_H

#include "base/base.h"
#include "psdm/control.h"
#include "psdm/model.h"
#include "psdm/rigid.h"

/* Gains of a regulator: one set for a constant reference, else one at the start of each step and one at the end. */
typedef struct psdmp_control_regulator {
  int inputs;
  int *joint; /* (inputs) joints that have motors */
  long count;
  double begin, step; /* s: set k belongs to begin + k step */
  double *K;          /* (count x inputs x 2n) */
  double *deviation;  /* (2n) x - x_d */
} psdmp_control_regulator;

/* Estimates of the base parameters, and their adaptation. */
typedef struct psdmp_control_adaptation {
  int l;
  psdm_model *model;        /* of the base parameters; NULL: closed loops, see column */
  int *column;              /* (l) standard parameter that each keeps */
  const char **name;        /* (l) */
  double *start;            /* (l) initial values */
  double *scale;            /* (l) their scale, never zero */
  double *gain;             /* (l) diagonal of Gamma */
  double lambda, bound;     /* 1/s; half width of the bounds, in scales, 0: none */
  double *Y, *part;         /* (n x l) */
  double *in;               /* (3n) a state to evaluate the regressor at */
  double *scratch;          /* of the regressor */
  double *s, *qd_r, *qdd_r; /* (n) sliding variable, reference velocity and acceleration */
} psdmp_control_adaptation;

struct psdm_controller {
  psdmp_base_arena arena; /* owns everything but adaptation's model */
  psdm_control_kind kind;
  int n;
  const psdm_robot *model;
  const psdm_motion *reference; /* NULL: constant at q = 0 */
  const psdm_signal *torque;
  bool friction;
  double bandwidth;
  double *kp, *kd; /* (n) */
  double *spring;  /* (n) stiffness, infinite where a joint is rigid */
  double *x;       /* (3 x n) the reference at the present time */
  double *part;    /* (n) scratch of the laws */
  psdm_work *work;
  psdmp_control_regulator regulator;
  psdmp_control_adaptation adaptation;
};

/* Start and duration of the reference; 0, 0 without one. */
double psdmp_control_begin(const psdm_controller *c);
double psdmp_control_duration(const psdm_controller *c);

/* Converts a failure of the model's functions to a sentence. */
psdm_status psdmp_control_fail(const psdm_controller *c, psdm_status status, psdm_error *error);

/* lqr.c */
psdm_status psdmp_control_regulator_design(psdm_controller *c, const psdm_control_options *options, psdm_error *error);
psdm_status psdmp_control_regulator_torque(psdm_controller *c, const psdm_control_input *in, const double *states,
                                           double *tau, double *rates);

/* adaptive.c */
psdm_status psdmp_control_adaptation_design(psdm_controller *c, const psdm_control_options *options, psdm_error *error);
psdm_status psdmp_control_adaptation_torque(psdm_controller *c, const psdm_control_input *in, const double *states,
                                            double *tau, double *rates);

#endif
