/* base_exact.c: base parameters from the structure, without the model's functions. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "psdm/base_parameters.h"

/* a model without functions */
static bool shape(const psdm_robot *r, psdm_model *m) {
  const double *g = r->gravity;
  m->n = r->n;
  m->classes = (r->n + 1) * (r->n + 2) / 2;
  m->standard = psdm_robot_parameter_count(r);
  m->links = r->bodies;
  m->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  m->robot = (psdmp_model_robot){psdm_robot_fingerprint(r), {g[0], g[1], g[2]}, 0};
  m->name = psdmp_base_arena_text(&m->arena, r->name, strlen(r->name));
  m->prismatic = PSDMP_BASE_NEW(&m->arena, r->n, bool);
  m->weight = PSDMP_BASE_NEW(&m->arena, r->n, uint64_t);
  m->radix = PSDMP_BASE_NEW(&m->arena, r->n, int);
  m->class_start = PSDMP_BASE_NEW(&m->arena, m->classes + 1, long);
  m->P_start = PSDMP_BASE_NEW(&m->arena, 1, long);
  m->standard_name = psdmp_base_arena_alloc(&m->arena, (size_t)m->standard * sizeof *m->standard_name);
  m->fate = PSDMP_BASE_NEW(&m->arena, m->standard, unsigned char);
  if (!m->name || !m->prismatic || !m->weight || !m->radix || !m->class_start || !m->P_start || !m->standard_name ||
      !m->fate)
    return false;
  for (int k = 0; k < m->standard; k++)
    psdm_robot_parameter_name(r, k, m->standard_name[k], sizeof m->standard_name[k]);
  for (int j = 0; j < r->joints; j++)
    if (r->joint[j].q >= 0) m->prismatic[r->joint[j].q] = r->joint[j].type == PSDM_PRISMATIC;
  for (int j = 0; j < r->n; j++) m->weight[j] = 1, m->radix[j] = PSDMP_DERIVE_BASIS;
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
  status = assumed.B || r->coupled || !r->plain_drives
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
  if (r->closure)
    return psdmp_base_fail(
        error, PSDM_E_ROBOT, r->file, 0, 0,
        "a robot with closed loops has no structure in sines and cosines; sample it: --model d, d0 or h");
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
