/* psdm/codegen.h: straight-line code of a robot's dynamics.
 *
 *   psdm_code *code;
 *   psdm_code_build(robot, &options, NULL, &code, &error);   // operation graphs, the cheaper method for each
 *                                                            // function
 *   psdm_code_write(code, "out", &error);                    // PREFIX.h, PREFIX.c, PREFIX_selftest.c, Makefile
 *
 * The result is constant once made and may be shared by threads. */
#ifndef PSDM_CODEGEN_H
#define PSDM_CODEGEN_H

#include "psdm/expr.h"
#include "psdm/friction.h"
#include "psdm/function.h"
#include "psdm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct psdm_parameters;

/* Functions, as bits, that need neither friction nor a task; those of a task. */
#define PSDM_CODE_RIGID ((1u << PSDM_F_CARTESIAN_JACOBIAN) - 1)
#define PSDM_CODE_TASKS (((1u << PSDM_F_FRICTION) - 1) & ~PSDM_CODE_RIGID)

/* Extra files that let other programs load the functions. constant, name, help */
#define PSDM_CODE_WRAP_LIST(X)                                                            \
  X(PSDM_CODE_WRAP_CASADI, "casadi",                                                      \
    "PREFIX_casadi.c, make casadi: external functions of CasADi, with exact derivatives") \
  X(PSDM_CODE_WRAP_FMU, "fmu",                                                            \
    "PREFIX_fmu.c, modelDescription.xml, make fmu: an FMU for co-simulation and model exchange (FMI 2.0)")

typedef enum psdm_code_wrap { PSDM_CODE_WRAP_LIST(PSDM_LIST_CONSTANT) PSDM_CODE_WRAPS } psdm_code_wrap;

typedef enum psdm_code_method { PSDM_CODE_AUTO, PSDM_CODE_RECURSIVE, PSDM_CODE_EXPANDED } psdm_code_method;
typedef enum psdm_code_target { PSDM_CODE_C, PSDM_CODE_SIMD, PSDM_CODE_CUDA } psdm_code_target;
typedef enum psdm_code_sincos { PSDM_SINCOS_POLYNOMIAL, PSDM_SINCOS_LIBM, PSDM_SINCOS_CALLER } psdm_code_sincos;

/* Zero-initialise for the defaults: the functions up to pose, cheaper method, double, baked parameters. */
typedef struct psdm_code_options {
  unsigned functions; /* bit 1 << psdm_function; 0: all up to pose */
  /* those that are left out, instead of failing with PSDM_E_SINGULAR, when the robot's mass matrix is singular; all of
   * them where functions is 0 */
  unsigned optional;
  psdm_code_method method;
  psdm_code_target target;
  psdm_code_sincos sincos;
  bool real_float;       /* float instead of double */
  bool theta_argument;   /* base parameters as the first argument */
  bool gravity_argument; /* gravity vector (3), base frame, as an argument */
  /* standard parameters (10) of a body on the default link (psdm_robot_default_link), about its frame */
  bool payload_argument;
  /* inverse, bias, forward: force and moment (6) on the default link, at its frame's origin, base frame */
  bool wrench_argument;
  bool friction_columns; /* regressor: n columns sign(qd), then n columns qd, behind the base parameters */
  bool drive_columns;    /* regressor: n columns qdd of drive inertias, last */
  bool throughput;       /* order for registers instead of latency; always so for CUDA */
  const char *link;      /* jacobian, pose, cartesian-*: of this link; NULL: psdm_robot_default_link */
  double point[3];       /* cartesian-*: in the link's frame */
  unsigned directions;   /* cartesian-*: of psdm/cartesian.h, as bits; 0: all */
  /* bit 1 << psdm_code_wrap: also written; adds the functions they need. Double, C or SIMD, not with the caller's
   * sines */
  unsigned wraps;
  /* recursive: restarts of the search without a gain before it ends; 0: 50, -1: the first descent only */
  int effort;
  psdm_progress progress;
  void *progress_user;
  const char *prefix;  /* NULL: the robot's name as a C identifier */
  const char *command; /* command line for the banner, nullable */
  /* Friction of the robot's joints in inverse, bias, forward, the linearizations and, as further columns, in the
   * regressor. LuGre: they take its bristles' deflections z (n), which the function friction_step moves on. */
  psdm_friction_kind friction;
  /* friction of the drives as these have it (psdm_predictor), in place of the joints' own; nullable. They must outlive
   * the code */
  const struct psdm_parameters *parameters;
  unsigned long long reserved[2];
} psdm_code_options;

typedef struct psdm_code psdm_code;

PSDM_API const char *psdm_code_wrap_name(psdm_code_wrap wrap); /* NULL when out of range */

/* Builds the graphs, and compares each with the library's recursions at random states: a difference above 1e-9 of the
 * largest number (float: 1e-3; functions that invert the mass matrix: times its condition), or a value that is not
 * finite, is PSDM_E_ROBOT; a singular mass matrix is PSDM_E_SINGULAR. The robot must outlive the code. Allocates; free
 * with psdm_code_free. options may be NULL. PSDM_E_MISSING when parameters to be baked in are unknown. */
PSDM_API psdm_status psdm_code_build(const psdm_robot *robot, const psdm_code_options *options,
                                     const psdm_allocator *allocator, psdm_code **code, psdm_error *error);

/* Code of a given model, by the expanded method; the model is copied. The self-test compares with the model, not with
 * the robot. Otherwise as psdm_code_build. */
PSDM_API psdm_status psdm_code_build_model(const psdm_robot *robot, const psdm_model *model,
                                           const psdm_code_options *options, const psdm_allocator *allocator,
                                           psdm_code **code, psdm_error *error);
PSDM_API void psdm_code_free(psdm_code *code); /* accepts NULL */

/* Cost and method of each function: psdm_code_count functions, in the order of the enum. */
PSDM_API int psdm_code_count(const psdm_code *code);
PSDM_API psdm_function psdm_code_at(const psdm_code *code, int index, psdm_cost *cost, const char **method);
/* The measured difference from the recursions, as above. */
PSDM_API double psdm_code_error(const psdm_code *code, int index);

/* Sentences for the user, from 0 on: a method that was not accurate enough, an error above 1e-12, functions that were
 * left out, a nearly singular mass matrix. NULL past the end. */
PSDM_API const char *psdm_code_note(const psdm_code *code, int index);

/* Optional functions left out because the mass matrix is singular, as bits. */
PSDM_API unsigned psdm_code_omitted(const psdm_code *code);

PSDM_API const char *psdm_code_prefix(const psdm_code *code);

/* Names of the files that psdm_code_write makes, from 0 on; NULL past the end. Written to text, which is returned. */
PSDM_API const char *psdm_code_file(const psdm_code *code, int index, char *text, size_t size);

/* Writes PREFIX.h, PREFIX.c, PREFIX_selftest.c and Makefile, and what options.wraps asks for, into a directory, which
 * is created if missing; each file completely or not at all. PSDM_CODE_CUDA adds PREFIX.cuh, PREFIX.cu, CMakeLists.txt
 * and PREFIX_cuda.py. */
PSDM_API psdm_status psdm_code_write(const psdm_code *code, const char *directory, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
