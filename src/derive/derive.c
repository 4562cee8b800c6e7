/* derive.c: from a robot to its model. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "derive/dense_priv.h"

bool psdmp_derive_shape(const psdm_robot *r, psdm_model *m) {
  psdmp_base_arena *arena = &m->arena;
  const double *g = r->gravity;
  m->n = r->n;
  m->classes = (r->n + 1) * (r->n + 2) / 2;
  m->standard = psdm_robot_parameter_count(r);
  m->links = r->bodies;
  m->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  m->robot = (psdmp_model_robot){psdm_robot_fingerprint(r), {g[0], g[1], g[2]}, 0};
  m->name = psdmp_base_arena_text(arena, r->name, strlen(r->name));
  m->prismatic = PSDMP_BASE_NEW(arena, r->n, bool);
  m->weight = PSDMP_BASE_NEW(arena, r->n, uint64_t);
  m->radix = PSDMP_BASE_NEW(arena, r->n, int);
  m->class_start = PSDMP_BASE_NEW(arena, m->classes + 1, long);
  m->standard_name = psdmp_base_arena_alloc(arena, (size_t)m->standard * sizeof *m->standard_name);
  m->fate = PSDMP_BASE_NEW(arena, m->standard, unsigned char);
  if (!m->name || !m->prismatic || !m->weight || !m->radix || !m->class_start || !m->standard_name || !m->fate)
    return false;
  for (int k = 0; k < m->standard; k++)
    psdm_robot_parameter_name(r, k, m->standard_name[k], sizeof m->standard_name[k]);
  for (int j = 0; j < r->joints; j++)
    if (r->joint[j].q >= 0) m->prismatic[r->joint[j].q] = r->joint[j].type == PSDM_PRISMATIC;
  uint64_t weight = 1;
  for (int j = r->n - 1; j >= 0; j--) {
    m->radix[j] = PSDMP_DERIVE_BASIS;
    m->weight[j] = weight;
    weight *= PSDMP_DERIVE_BASIS;
  }
  return true;
}

/* Column of each standard parameter among the base parameters, -1 where it is none. column: (standard). */
static void base_columns(const psdm_model *m, int *column) {
  for (int k = 0; k < m->standard; k++) column[k] = -1;
  for (int j = 0; j < m->l; j++) column[m->base[j].parameter] = j;
}

/* P from Psi (in P's place): the kept columns, counted as base parameters. */
static void keep_columns(psdm_model *m, const int *column) {
  long at = 0, begin = 0;
  for (long f = 0; f < m->p; f++) {
    long end = m->P_start[f + 1];
    m->P_start[f] = at;
    for (long e = begin; e < end; e++) {
      psdmp_model_entry entry = m->P[e];
      if (column[entry.parameter] < 0) continue;
      entry.parameter = (unsigned short)column[entry.parameter];
      m->P[at++] = entry;
    }
    begin = end;
  }
  m->P_start[m->p] = at;
}

/* the terms of the robot, in its independent joints; q gives the joint of a term's number */
static psdm_status expand(const psdm_robot *r, const psdm_derive_options *options, psdm_model *m,
                          psdmp_derive_expansion *e, int *q, psdm_error *error) {
  uint64_t digit[PSDMP_DERIVE_JOINTS], weight = 1;
  if (!r->coupled) {
    for (int b = 0; b < r->bodies; b++) {
      q[b] = r->joint[r->body[b].index].q;
      digit[b] = m->weight[q[b]];
    }
    return psdmp_derive_expand(r, digit, options, m->arena.allocator, e, error);
  }
  for (int b = r->bodies - 1; b >= 0; b--, weight *= PSDMP_DERIVE_BASIS) digit[b] = weight;
  for (int j = 0; j < r->n; j++) q[j] = j;
  psdm_status status = psdmp_derive_expand(r, digit, options, m->arena.allocator, e, error);
  return status ? status : psdmp_derive_substitute(r, m, e, error);
}

static psdm_status derive_exact(const psdm_robot *r, const psdm_derive_options *options, psdm_model *m,
                                psdm_derive_info *info, psdm_error *error) {
  psdmp_derive_expansion e;
  psdmp_derive_restriction assumed;
  int q[PSDMP_DERIVE_JOINTS];
  int *column = PSDMP_BASE_NEW(&m->arena, m->standard, int);
  psdm_status status = expand(r, options, m, &e, q, error);
  if (!status && !column) status = psdmp_base_no_memory(r->file, error);
  if (!status) status = psdmp_derive_restriction_set(r, options, &m->arena, &assumed, error);
  if (!status && !assumed.B && !r->coupled && r->plain_drives) {
    /* the kept columns are known in advance, so P is written directly */
    status = psdmp_derive_base_recursion(r, e.reach, options ? options->rank_tolerance : 0, m, info, error);
    if (!status) base_columns(m, column);
    if (!status) status = psdmp_derive_collect(r, &e, q, column, options, m, &info->kept, error);
  } else if (!status) {
    for (int k = 0; k < m->standard; k++) column[k] = k;
    status = psdmp_derive_collect(r, &e, q, column, options, m, &info->kept, error);
    if (!status) status = psdmp_derive_restrict_psi(&assumed, m, error);
    if (!status) status = psdmp_derive_base_sampled(r, &assumed, options ? options->rank_tolerance : 0, m, info, error);
    if (!status) base_columns(m, column);
    if (!status) keep_columns(m, column);
  }
  info->dropped = e.largest_dropped;
  info->bytes = e.pool.bytes;
  psdmp_derive_expansion_free(&e);
  return status;
}

static psdm_status derive(const psdm_robot *r, const psdm_derive_options *options, psdm_model *m,
                          psdm_derive_info *info, psdm_error *error) {
  bool dense = options && options->method == PSDM_METHOD_DENSE;
  psdm_status status =
      dense ? psdmp_derive_dense(r, options, m, info, error) : derive_exact(r, options, m, info, error);
  if (!status && dense) {
    /* the dense route leaves Psi in P's place */
    int *column = PSDMP_BASE_NEW(&m->arena, m->standard, int);
    if (!column) return psdmp_base_no_memory(r->file, error);
    base_columns(m, column);
    keep_columns(m, column);
  }
  if (!status) psdmp_model_set_fates(m);
  if (!status && options && options->basis == PSDM_BASIS_ECHELON)
    status = psdmp_derive_echelon(r, m, dense ? 1e-11 : 1e-13, error);
  return status;
}

psdm_status psdm_model_derive(const psdm_robot *r, const psdm_derive_options *options, const psdm_allocator *allocator,
                              psdm_model **model, psdm_derive_info *out, psdm_error *error) {
  psdm_derive_info info = {0};
  double start = psdmp_base_clock();
  *model = NULL;
  if (r->closure)
    return psdmp_base_fail(
        error, PSDM_E_ROBOT, r->file, 0, 0,
        "closed loops have no finite set of functions in sines and cosines: their passive joints solve "
        "equations at each position; base parameters, the regressor on them and generated code "
        "exist (psdm params, eval regressor, codegen)");
  if (r->bodies > PSDMP_DERIVE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d moving joints; a closed form is derived for at most %d", r->bodies, PSDMP_DERIVE_JOINTS);
  psdm_model *m = psdmp_base_alloc(allocator, sizeof *m);
  if (!m) return psdmp_base_no_memory(r->file, error);
  m->arena.allocator = allocator;
  psdm_status status =
      psdmp_derive_shape(r, m) ? derive(r, options, m, &info, error) : psdmp_base_no_memory(r->file, error);
  info.seconds = psdmp_base_clock() - start;
  if (!status) status = psdmp_derive_check_model(r, m, NULL, options, &info, error);
  if (out) *out = info;
  if (status) {
    psdm_model_free(m);
    return status;
  }
  *model = m;
  return PSDM_OK;
}
