/* base_exact.c: base parameters from the structure, without the model's functions. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "psdm/base_parameters.h"

/* a model without functions */
static bool shape(const psdm_robot *r, psdm_model *m) {
  m->P_start = PSDMP_BASE_NEW(&m->arena, 1, long);
  if (!m->P_start || !psdmp_derive_shape(r, m)) return false;
  for (int j = 0; j < r->n; j++) m->weight[j] = 1;
  return true;
}

static psdm_status find(const psdm_robot *r, const psdm_derive_options *options, psdm_model *m, psdm_derive_info *info,
                        psdm_error *error) {
  psdmp_derive_restriction assumed;
  if (!shape(r, m)) return psdmp_base_no_memory(r->file, error);
  psdm_status status = psdmp_derive_restriction_set(r, options, &m->arena, &assumed, error);
  if (status) return status;
  double tolerance = options ? options->rank_tolerance : 0;
  double reach = psdmp_derive_reach(r, &m->arena);
  if (m->arena.failed) return psdmp_base_no_memory(r->file, error);
  m->combined = psdmp_derive_restriction_combines(&assumed, m->standard);
  status = assumed.B || r->closure || r->coupled || !r->plain_drives
               ? psdmp_derive_base_sampled(r, &assumed, tolerance, m, info, error)
               : psdmp_derive_base_recursion(r, reach, tolerance, m, info, error);
  if (!status) psdmp_model_set_fates(m);
  if (!status) status = psdmp_derive_check_model(r, m, &assumed, options, info, error);
  return status;
}

psdm_status psdm_base_parameters_derive(const psdm_robot *r, const psdm_derive_options *options,
                                        const psdm_allocator *allocator, psdm_model **model, psdm_derive_info *out,
                                        psdm_error *error) {
  psdm_derive_info info = {0};
  *model = NULL;
  if (r->bodies > PSDM_BASE_PARAMETERS_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d moving joints; base parameters are found for at most %d", r->bodies,
                           PSDM_BASE_PARAMETERS_JOINTS);
  psdm_model *m = psdmp_base_alloc(allocator, sizeof *m);
  if (!m) return psdmp_base_no_memory(r->file, error);
  m->arena.allocator = allocator;
  psdm_status status = find(r, options, m, &info, error);
  if (out) *out = info;
  if (status) psdm_model_free(m);
  else *model = m;
  return status;
}
