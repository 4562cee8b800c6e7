/* keep.c: a model with some of another's functions. */
#include <string.h>

#include "model/model.h"

/* what is kept */
typedef struct keeper {
  const psdm_model *m;
  const uint64_t *joints; /* (p) NULL: everything */
  bool *stay;             /* (entries of P) */
  int *parameter;         /* (l) new number, -1: removed */
} keeper;

/* by bisection: codes ascend within a class */
long psdmp_model_find(const psdm_model *m, int class, uint64_t code) {
  long low = m->class_start[class], high = m->class_start[class + 1];
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (m->code[middle] == code) return middle;
    if (m->code[middle] < code) low = middle + 1;
    else high = middle;
  }
  return -1;
}

static void mark_entries(keeper *k, const double *theta) {
  const psdm_model *m = k->m;
  for (long f = 0; f < m->p; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
      k->stay[e] = !k->joints || ((k->joints[f] >> m->P[e].joint & 1) && theta[m->P[e].parameter] != 0);
}

static int number_parameters(keeper *k) {
  const psdm_model *m = k->m;
  int l = 0;
  for (int j = 0; j < m->l; j++) k->parameter[j] = k->joints ? -1 : j;
  if (!k->joints) return m->l;
  for (long e = 0; e < m->P_start[m->p]; e++)
    if (k->stay[e]) k->parameter[m->P[e].parameter] = 0;
  for (int j = 0; j < m->l; j++)
    if (k->parameter[j] == 0) k->parameter[j] = l++;
  return l;
}

static bool copy_shape(const psdm_model *m, psdm_model *r) {
  int n = m->n;
  r->name = psdmp_base_arena_text(&r->arena, m->name, strlen(m->name));
  r->n = n, r->classes = m->classes, r->standard = m->standard, r->links = m->links, r->gravity = m->gravity,
  r->robot = m->robot;
  r->prismatic = PSDMP_BASE_NEW(&r->arena, n, bool);
  r->weight = PSDMP_BASE_NEW(&r->arena, n, uint64_t);
  r->radix = PSDMP_BASE_NEW(&r->arena, n, int);
  r->class_start = PSDMP_BASE_NEW(&r->arena, m->classes + 1, long);
  r->code = PSDMP_BASE_NEW(&r->arena, m->p, uint64_t);
  r->P_start = PSDMP_BASE_NEW(&r->arena, m->p + 1, long);
  r->P = PSDMP_BASE_NEW(&r->arena, m->P_start[m->p], psdmp_model_entry);
  r->fate = PSDMP_BASE_NEW(&r->arena, m->standard, unsigned char);
  r->base = PSDMP_BASE_NEW(&r->arena, m->l, psdmp_model_base);
  r->standard_name = psdmp_base_arena_alloc(&r->arena, (size_t)(m->standard + 1) * sizeof *r->standard_name);
  if (!r->name || !r->prismatic || !r->weight || !r->radix || !r->class_start || !r->code || !r->P_start || !r->P ||
      !r->fate || !r->base || !r->standard_name)
    return false;
  memcpy(r->prismatic, m->prismatic, (size_t)n * sizeof *r->prismatic);
  memcpy(r->weight, m->weight, (size_t)n * sizeof *r->weight);
  memcpy(r->radix, m->radix, (size_t)n * sizeof *r->radix);
  memcpy(r->standard_name, m->standard_name, (size_t)m->standard * sizeof *r->standard_name);
  return true;
}

static void copy_functions(const keeper *k, psdm_model *r) {
  const psdm_model *m = k->m;
  long entries = 0;
  for (int c = 0; c < m->classes; c++) {
    r->class_start[c] = r->p;
    for (long f = m->class_start[c]; f < m->class_start[c + 1]; f++) {
      long before = entries;
      for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
        if (k->stay[e])
          r->P[entries++] =
              (psdmp_model_entry){m->P[e].value, m->P[e].joint, (unsigned short)k->parameter[m->P[e].parameter]};
      if (entries == before && k->joints) continue; /* none of its entries is left */
      r->P_start[r->p] = before;
      r->code[r->p++] = m->code[f];
    }
  }
  r->class_start[m->classes] = r->p;
  r->P_start[r->p] = entries;
}

/* formulas, scaled so that the robot's numbers give the refitted values */
static bool copy_base(const keeper *k, const double *theta, const double *theta_new, psdm_model *r) {
  const psdm_model *m = k->m;
  for (int j = 0; j < m->l; j++) {
    if (k->parameter[j] < 0) continue;
    const psdmp_model_base *from = &m->base[j];
    psdmp_model_base *to = &r->base[k->parameter[j]];
    double scale = k->joints && theta[j] != 0 ? theta_new[j] / theta[j] : 1;
    *to = *from;
    to->term = PSDMP_BASE_NEW(&r->arena, from->terms, psdmp_model_base_term);
    if (!to->term) return false;
    for (int t = 0; t < from->terms; t++)
      to->term[t] = (psdmp_model_base_term){from->term[t].parameter, scale * from->term[t].coefficient};
    if (from->name && !(to->name = psdmp_base_arena_text(&r->arena, from->name, strlen(from->name)))) return false;
  }
  return true;
}

psdm_status psdmp_model_keep(const psdm_model *m, const uint64_t *joints, const double *theta, const double *theta_new,
                             const psdm_allocator *allocator, psdm_model **out) {
  psdmp_base_arena scratch = {.allocator = allocator};
  psdm_model *r = psdmp_base_alloc(allocator, sizeof *r);
  keeper k = {m, joints, PSDMP_BASE_NEW(&scratch, m->P_start[m->p], bool), PSDMP_BASE_NEW(&scratch, m->l, int)};
  bool ok = r && k.stay && k.parameter;
  *out = NULL;
  if (r) r->arena.allocator = allocator;
  if (ok) ok = copy_shape(m, r);
  if (ok) {
    mark_entries(&k, theta);
    r->l = number_parameters(&k);
    r->combined = joints || m->combined; /* a kept column lacks functions */
    copy_functions(&k, r);
    ok = copy_base(&k, theta, theta_new, r);
  }
  psdmp_base_arena_free(&scratch);
  if (!ok) {
    if (r) psdm_model_free(r);
    return PSDM_E_MEMORY;
  }
  psdmp_model_set_fates(r);
  *out = r;
  return PSDM_OK;
}
