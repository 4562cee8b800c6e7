/* model.h: the derived model. Private to the library. */
#ifndef PSDMP_MODEL_H
#define PSDMP_MODEL_H

#include "base/base.h"
#include "psdm/model.h"

/* One term of a formula. */
typedef struct psdmp_model_base_term {
  int parameter; /* standard parameter */
  double coefficient;
} psdmp_model_base_term;

typedef struct psdmp_model_base {
  const char *name; /* NULL: that of its standard parameter */
  int parameter;    /* the standard parameter that it keeps; echelon: one of its formula */
  int terms;
  psdmp_model_base_term *term;
} psdmp_model_base;

/* One coefficient of a function. */
typedef struct psdmp_model_entry {
  double value;
  unsigned short joint, parameter;
} psdmp_model_entry;

/* The robot of a model, as far as the model depends on it. */
typedef struct psdmp_model_robot {
  uint64_t kinematics; /* psdm_robot_fingerprint; 0: not in the file (old version) */
  double gravity[3];
  /* psdmp_robot_inertia of the inertias that a reduction depends on; 0: any */
  uint64_t inertia;
} psdmp_model_robot;

struct psdm_model {
  psdmp_base_arena arena;
  const char *name;
  int n, classes, l, standard;
  int links; /* moving links: ten standard parameters each come first */
  long p;
  /* assumptions or the echelon basis combine columns: a base column is not a standard one */
  bool combined;
  double gravity;          /* its size, a factor of every gravity function */
  psdmp_model_robot robot; /* of derivation */
  bool *prismatic;         /* (n) */
  uint64_t *weight;        /* (n) value of each joint's digit in a code */
  int *radix;              /* (n) digits 0 .. radix - 1: exponent of q, or 2 * (exponent of cos) + exponent of sin */
  long *class_start;       /* (classes + 1) */
  uint64_t *code;          /* (p) */
  long *P_start;           /* (p + 1) */
  /* by function, joint and parameter ascending in each; parameter counted among the base parameters */
  psdmp_model_entry *P;
  char (*standard_name)[12]; /* (standard) */
  unsigned char *fate;       /* (standard) psdm_parameter_fate */
  psdmp_model_base *base;    /* (l) */
};

/* an exponent as one character: joints that follow others have powers above nine, radix <= 64 keeps them below 36 */
#define PSDMP_MODEL_EXPONENT_DIGITS "0123456789abcdefghijklmnopqrstuvwxyz"

enum { PSDMP_MODEL_RADIX = 5 }; /* digits of a joint without couplings: 1 s c sc cc, or 1 q qq */

/* The JSON of psdm_model_save. */
void psdmp_model_write(const psdm_model *model, const psdm_robot *robot, psdm_output *output);

/* What became of each standard parameter, from the formulas. */
void psdmp_model_set_fates(psdm_model *model);

/* Class of gravity, qdd_a, or qd_a qd_b. */
static inline int psdmp_model_class_of(int n, int first, int second) {
  if (first < 0) return 0;
  if (second < 0) return 1 + first;
  if (first == second) return 1 + n + first;
  int a = first < second ? first : second, b = first < second ? second : first;
  return 1 + 2 * n + a * n - a * (a + 1) / 2 + b - a - 1;
}

/* ---- a model with some of another's functions ---- */

/* joints (p): bit i is set when the function stays in torque i. Functions and parameters without entries are removed,
 * and parameters that are zero; theta_new/theta (both (l)) scales the formulas. joints NULL: a copy. */
psdm_status psdmp_model_keep(const psdm_model *m, const uint64_t *joints, const double *theta, const double *theta_new,
                             const psdm_allocator *allocator, psdm_model **out);

/* The function with a code in a class, -1 if none. */
long psdmp_model_find(const psdm_model *m, int class, uint64_t code);

#endif
