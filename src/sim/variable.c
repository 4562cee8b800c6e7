/* variable.c: steps of variable size and order, by SUNDIALS' CVODE (Hindmarsh et al. 2005). */
#include "sim/sim_priv.h"

#ifdef PSDM_HAVE_SUNDIALS

#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

struct psdmp_sim_cvode {
  SUNContext context;
  void *cvode;
  N_Vector y, absolute;
  N_Vector spare;            /* used when out of memory for vectors */
  N_Vector hollow;           /* and for the one without numbers that each Jacobian takes */
  SUNMatrix jacobian, saved; /* saved: a copy for CVODE, made before its first step */
  SUNLinearSolver linear;
  SUNNonlinearSolver nonlinear;
  int *roots;
  psdm_sim *sim;
  double last; /* start of its patience */
};

enum { PATIENCE = 20000 }; /* steps within one call, after which the caller may stop */

bool psdmp_sim_variable_there(void) { return true; }

/* a state that cannot be evaluated may be avoided by a shorter step */
static int rates(realtype t, N_Vector y, N_Vector rate, void *data) {
  return psdmp_sim_rates(data, t, NV_DATA_S(y), NV_DATA_S(rate)) ? 1 : 0;
}

static int events(realtype t, N_Vector y, realtype *g, void *data) {
  return psdmp_sim_events(data, t, NV_DATA_S(y), g) ? -1 : 0;
}

static void quiet(int code, const char *module, const char *function, char *text, void *data) {
  (void)code, (void)module, (void)function, (void)text, (void)data;
}

static double tolerance(const psdm_sim *s) {
  if (s->options.tolerance > 0) return s->options.tolerance;
  return s->integrator == PSDM_INTEGRATOR_BDF ? 1e-9 : 1e-13;
}

/* bristles bend by micrometres: their tolerance is relative to their largest deflection */
static void set_tolerances(const psdm_sim *s, double *absolute) {
  double relative = tolerance(s);
  for (int i = 0; i < s->length; i++) absolute[i] = relative / 10;
  for (int i = 0; s->at_z >= 0 && i < s->n; i++) {
    const psdm_friction *f = &s->joint[i].friction;
    if (f->sigma0 > 0) absolute[s->at_z + i] = relative / 10 * fmax(f->coulomb, fmax(f->stat, 1e-6)) / f->sigma0;
  }
}

/* N_VClone of SUNDIALS 6 writes to its result unchecked: when out of memory it gets an existing vector, and the setup
 * then fails */
static _Thread_local struct {
  N_Vector spare;
  bool missing;
  SUNMatrix *saved;
  N_Vector hollow;
} setup;

static N_Vector clone(N_Vector like) {
  N_Vector made = N_VClone_Serial(like);
  if (made) made->ops->nvdestroy = N_VDestroy_Serial;
  if (!made) setup.missing = true;
  return made ? made : setup.spare;
}

static N_Vector clone_empty(N_Vector like) {
  N_Vector made = N_VCloneEmpty_Serial(like);
  if (made) made->ops->nvdestroy = N_VDestroy_Serial;
  return made ? made : setup.hollow;
}

static void keep(N_Vector spare) { (void)spare; }

/* SUNMatClone writes unchecked too, at the first step, where nothing may fail any more: its result is allocated
 * before */
static SUNMatrix hand_over(SUNMatrix like) {
  SUNMatrix made = *setup.saved;
  *setup.saved = NULL;
  return made ? made : SUNMatClone_Dense(like);
}

static bool set_vectors(psdm_sim *s, psdmp_sim_cvode *v) {
  v->y = N_VMake_Serial(s->length, s->y, v->context);
  v->absolute = N_VNew_Serial(s->length, v->context);
  v->spare = N_VNew_Serial(s->length, v->context);
  v->hollow = N_VNewEmpty_Serial(s->length, v->context);
  if (!v->y || !v->absolute || !v->spare || !v->hollow) return false;
  N_VEnableFusedOps_Serial(v->y, SUNTRUE); /* also for its clones */
  v->y->ops->nvclone = v->absolute->ops->nvclone = v->spare->ops->nvclone = clone;
  v->y->ops->nvcloneempty = v->absolute->ops->nvcloneempty = v->spare->ops->nvcloneempty = clone_empty;
  v->spare->ops->nvdestroy = v->hollow->ops->nvdestroy = keep;
  setup.spare = v->spare;
  setup.missing = false;
  return true;
}

/* constructors return NULL when out of memory */
static int attach_solver(psdm_sim *s, psdmp_sim_cvode *v) {
  if (s->integrator == PSDM_INTEGRATOR_ADAMS) {
    v->nonlinear = SUNNonlinSol_FixedPoint(v->y, 0, v->context);
    return v->nonlinear ? CVodeSetNonlinearSolver(v->cvode, v->nonlinear) : CV_MEM_FAIL;
  }
  v->jacobian = SUNDenseMatrix(s->length, s->length, v->context);
  v->saved = v->jacobian ? SUNMatClone_Dense(v->jacobian) : NULL;
  v->linear = v->saved ? SUNLinSol_Dense(v->y, v->jacobian, v->context) : NULL;
  if (v->linear) v->jacobian->ops->clone = hand_over;
  int code = v->linear ? CVodeSetLinearSolver(v->cvode, v->linear, v->jacobian) : CV_MEM_FAIL;
  return code == CVLS_MEM_FAIL ? CV_MEM_FAIL : code;
}

/* on failure it has already freed its vectors, and CVodeFree would free them again: the little that remains is
 * leaked */
static int init(psdm_sim *s, psdmp_sim_cvode *v) {
  int code = CVodeInit(v->cvode, rates, s->t, v->y);
  if (code) v->cvode = NULL;
  return code;
}

/* SUNContext_Create of SUNDIALS 6 writes to its logger even when its allocation failed: so test the allocation
 * before */
static bool has_room(void) {
  enum { LOGGER = 64 * 1024 };
  void *volatile room = malloc(LOGGER);
  free(room);
  return room != NULL;
}

/* the first return value of SUNDIALS that is not CV_SUCCESS, which is 0 */
static int set_up(psdm_sim *s, psdmp_sim_cvode *v) {
  if (!has_room() || SUNContext_Create(NULL, &v->context) || !set_vectors(s, v)) return CV_MEM_FAIL;
  v->cvode = CVodeCreate(s->integrator == PSDM_INTEGRATOR_BDF ? CV_BDF : CV_ADAMS, v->context);
  if (!v->cvode) return CV_MEM_FAIL;
  set_tolerances(s, NV_DATA_S(v->absolute));
  int code = CVodeSetErrHandlerFn(v->cvode, quiet, NULL);
  if (!code) code = init(s, v);
  if (!code) code = CVodeSVtolerances(v->cvode, tolerance(s), v->absolute);
  if (!code) code = CVodeSetUserData(v->cvode, s);
  if (!code) code = CVodeSetMaxNumSteps(v->cvode, PATIENCE);
  if (!code) code = CVodeSetMaxErrTestFails(v->cvode, 100);
  if (!code) code = CVodeSetMaxConvFails(v->cvode, 100);
  if (!code) code = attach_solver(s, v);
  if (!code && psdmp_sim_has_events(s)) code = CVodeRootInit(v->cvode, 3 * s->n, events);
  return setup.missing ? CV_MEM_FAIL : code;
}

psdm_status psdmp_sim_variable_new(psdm_sim *s, psdm_error *error) {
  psdmp_sim_cvode *v = psdmp_base_arena_alloc(&s->arena, sizeof *v);
  if (v) v->roots = psdmp_base_arena_alloc(&s->arena, 3 * (size_t)s->n * sizeof *v->roots);
  if (!v || !v->roots) return psdmp_base_no_memory("", error);
  s->variable = v;
  v->sim = s;
  int code = set_up(s, v);
  if (code == CV_SUCCESS) return PSDM_OK;
  if (code == CV_MEM_FAIL)
    return psdmp_base_fail(error, PSDM_E_MEMORY, "", 0, 0, "SUNDIALS could not be started: out of memory");
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                         "SUNDIALS could not be started: CVODE rejects its settings (%d)", code);
}

void psdmp_sim_variable_free(psdmp_sim_cvode *v) {
  if (!v) return;
  if (v->cvode) CVodeFree(&v->cvode);
  if (v->nonlinear) SUNNonlinSolFree(v->nonlinear);
  if (v->linear) SUNLinSolFree(v->linear);
  if (v->jacobian) SUNMatDestroy(v->jacobian);
  if (v->saved) SUNMatDestroy(v->saved);
  if (v->y) N_VDestroy(v->y);
  if (v->absolute) N_VDestroy(v->absolute);
  if (v->spare) N_VDestroy_Serial(v->spare);
  if (v->hollow) N_VDestroy_Serial(v->hollow);
  if (v->context) SUNContext_Free(&v->context);
}

static const char *reason(const psdm_sim *s, int flag) {
  if (s->trouble && s->trouble != PSDM_E_ARGUMENT) return psdm_status_text(s->trouble);
  switch (flag) {
    case CV_TOO_MUCH_ACC: return "the tolerance is too small for double precision";
    case CV_ERR_FAILURE: return "the error test fails however small the step";
    case CV_CONV_FAILURE: return "the corrector does not converge however small the step; a stiff motion needs bdf";
    case CV_RTFUNC_FAIL: return "an event could not be evaluated";
    default: return "the accelerations are not finite";
  }
}

psdm_status psdmp_sim_variable(psdm_sim *s, double t_end, bool hard, int *hit, bool *again, char *text, size_t size) {
  psdmp_sim_cvode *v = s->variable;
  *hit = -1;
  *again = false;
  if (s->fresh) {
    CVodeReInit(v->cvode, s->t, v->y);
    s->fresh = false;
    v->last = s->t;
  }
  /* fails if it has already passed t_end: it then interpolates, which is as good */
  CVodeSetStopTime(v->cvode, hard ? t_end : INFINITY);
  realtype t = s->t;
  long before = 0, after = 0;
  CVodeGetNumSteps(v->cvode, &before);
  setup.saved = &v->saved;
  setup.hollow = v->hollow;
  int flag = CVode(v->cvode, t_end, v->y, &t, CV_NORMAL);
  CVodeGetNumSteps(v->cvode, &after);
  s->steps += after - before;
  s->t = t;
  /* lets the caller check the clock; a motion that hardly advances has reached a singular position */
  if (flag == CV_TOO_MUCH_WORK) {
    *again = true;
    bool stands = t - v->last < 1e-7 * (1 + fabs(t));
    v->last = t;
    if (stands)
      snprintf(text, size,
               "%d steps moved it by less than 0.1 us; a stiff motion needs bdf, a singular one has no continuation",
               PATIENCE);
    return stands ? PSDM_E_LIMIT : PSDM_OK;
  }
  if (flag < 0) {
    snprintf(text, size, "%s", reason(s, flag));
    return PSDM_E_LIMIT;
  }
  if (flag != CV_ROOT_RETURN) return PSDM_OK;
  *again = true;
  CVodeGetRootInfo(v->cvode, v->roots);
  for (int i = 0; i < 3 * s->n; i++) s->fired[i] = v->roots[i] < 0;
  return psdmp_sim_event(s, s->fired, hit);
}

#else

bool psdmp_sim_variable_there(void) { return false; }
psdm_status psdmp_sim_variable_new(psdm_sim *s, psdm_error *error) {
  (void)s;
  return psdmp_base_lacks("", "variable steps need", "SUNDIALS", "libsundials-dev", error);
}
void psdmp_sim_variable_free(psdmp_sim_cvode *v) { (void)v; }
psdm_status psdmp_sim_variable(psdm_sim *s, double t_end, bool hard, int *hit, bool *again, char *text, size_t size) {
  (void)s, (void)t_end, (void)hard, (void)hit, (void)again, (void)text, (void)size;
  return PSDM_E_ARGUMENT;
}

#endif
