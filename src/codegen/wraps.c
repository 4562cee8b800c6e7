/* wraps.c: the wrappers of generated functions that there are, and the functions that each needs. */
#include "codegen/codegen.h"

static const char *const names[] = {PSDM_CODE_WRAP_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_code_wrap_name(psdm_code_wrap w) { return psdmp_base_word(names, PSDM_CODE_WRAPS, (int)w); }

static bool asked(const psdm_code_options *o, psdm_code_wrap w) { return o->wraps >> w & 1; }

static bool has(const psdm_code_options *o, psdm_function f) { return o->functions >> f & 1; }

static void add(psdm_code_options *o, bool when, psdm_function f) {
  if (when) o->functions |= 1u << f;
}

psdm_status psdmp_codegen_wrap_options(psdm_code_options *o, psdm_error *error) {
  if (o->wraps >> PSDM_CODE_WRAPS) return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "unknown wrapper");
  if (!o->wraps) return PSDM_OK;
  if (o->real_float)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "CasADi and FMUs know numbers of type double only: no float with a wrapper");
  if (o->sincos == PSDM_SINCOS_CALLER)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "a wrapper cannot pass sines and cosines: let the code compute them");
  if (o->target != PSDM_CODE_C && o->target != PSDM_CODE_SIMD)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "wrappers are of C code: target c or simd");
  /* derivatives of what is there; without a wrench, which they do not know */
  bool casadi = asked(o, PSDM_CODE_WRAP_CASADI),
       arguments = o->theta_argument || o->gravity_argument || o->payload_argument;
  add(o, asked(o, PSDM_CODE_WRAP_FMU), PSDM_F_FORWARD);
  add(o, casadi && has(o, PSDM_F_FORWARD) && arguments && !o->wrench_argument, PSDM_F_INVERSE);
  add(o,
      casadi && ((has(o, PSDM_F_INVERSE) && !o->wrench_argument) || has(o, PSDM_F_GRAVITY) ||
                 (has(o, PSDM_F_BIAS) && !o->wrench_argument)),
      PSDM_F_LINEARIZE_INVERSE);
  add(o, has(o, PSDM_F_FORWARD) && !o->wrench_argument, PSDM_F_LINEARIZE_FORWARD);
  add(o, casadi && has(o, PSDM_F_POSE), PSDM_F_JACOBIAN);
  return PSDM_OK;
}
