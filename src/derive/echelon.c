/* echelon.c: base parameters as the first independent coefficients (Lloyd, Irani, Ahmadi 2021, equation 37).
 *
 * The rows of P, joint by joint and function by function, are searched for l independent ones, W. Then theta' = W
 * theta, and P' = P W^-1 has a one and else zeros in those rows. Rows are compared in units of the reach. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "linalg/linalg.h"

typedef struct echelon {
  psdm_model *m;
  int l, pivots;
  double tolerance; /* accuracy of a sum of products */
  /* (l) of each base parameter, then (standard) of each standard one: the reach to the power of its length degree */
  double *unit;
  long *function;  /* (l) of each pivot row */
  int *joint;      /* (l) */
  double *W;       /* (l x l) pivot rows, scaled to length one */
  double *length;  /* (l) theirs */
  double *inverse; /* (l x l) W^-1 of the unscaled rows */
  double *basis;   /* (l x l) orthonormal rows of their span */
  double *row, *x; /* (l) */
} echelon;

/* one row of P into e->row, in units; false when it is empty */
static bool take_row(echelon *e, long f, int joint) {
  const psdm_model *m = e->m;
  bool any = false;
  memset(e->row, 0, sizeof *e->row * (size_t)m->l);
  for (long k = m->P_start[f]; k < m->P_start[f + 1]; k++)
    if (m->P[k].joint == joint) e->row[m->P[k].parameter] = m->P[k].value * e->unit[m->P[k].parameter], any = true;
  return any;
}

static double norm(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* remainder of a row of length one after the pivots so far (Gram-Schmidt, twice) */
static double remainder_of(const echelon *e, double *x) {
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < e->pivots; k++) {
      const double *basis = e->basis + (long)k * e->l;
      double dot = 0;
      for (int i = 0; i < e->l; i++) dot += x[i] * basis[i];
      for (int i = 0; i < e->l; i++) x[i] -= dot * basis[i];
    }
  return norm(e->l, x);
}

/* one pass over the rows: those with a remainder above tolerance become pivots */
static void add_pivots(echelon *e, double tolerance) {
  int l = e->l;
  for (int joint = 0; joint < e->m->n; joint++)
    for (long f = 0; f < e->m->p && e->pivots < l; f++) {
      if (!take_row(e, f, joint)) continue;
      double size = norm(l, e->row);
      for (int i = 0; i < l; i++) e->row[i] /= size;
      memcpy(e->x, e->row, sizeof *e->x * (size_t)l);
      double left = remainder_of(e, e->x);
      if (left <= tolerance) continue;
      for (int i = 0; i < l; i++) e->basis[(long)e->pivots * l + i] = e->x[i] / left;
      memcpy(e->W + (long)e->pivots * l, e->row, sizeof *e->W * (size_t)l);
      e->length[e->pivots] = size;
      e->function[e->pivots] = f;
      e->joint[e->pivots++] = joint;
    }
}

/* pivots of a later pass move to the positions of their rows */
static void sort_pivots(echelon *e) {
  for (int k = 1; k < e->pivots; k++)
    for (int i = k; i > 0; i--) {
      bool before =
          e->joint[i] < e->joint[i - 1] || (e->joint[i] == e->joint[i - 1] && e->function[i] < e->function[i - 1]);
      if (!before) break;
      long f = e->function[i];
      int joint = e->joint[i];
      double length = e->length[i];
      memcpy(e->row, e->W + (long)i * e->l, sizeof *e->row * (size_t)e->l);
      memcpy(e->W + (long)i * e->l, e->W + (long)(i - 1) * e->l, sizeof *e->row * (size_t)e->l);
      memcpy(e->W + (long)(i - 1) * e->l, e->row, sizeof *e->row * (size_t)e->l);
      e->function[i] = e->function[i - 1], e->joint[i] = e->joint[i - 1], e->length[i] = e->length[i - 1];
      e->function[i - 1] = f, e->joint[i - 1] = joint, e->length[i - 1] = length;
    }
}

static int pivot_of(const echelon *e, long f, int joint) {
  for (int k = 0; k < e->l; k++)
    if (e->function[k] == f && e->joint[k] == joint) return k;
  return -1;
}

/* e->x = row W^-1, with sums that cancel set to zero; exact at the pivots */
static void change_row(echelon *e, long f, int joint) {
  int l = e->l, pivot = pivot_of(e, f, joint);
  for (int j = 0; j < l; j++) {
    double sum = 0, size = 0;
    for (int i = 0; i < l; i++) {
      double term = e->row[i] * e->inverse[(long)i * l + j];
      sum += term;
      size += fabs(term);
    }
    e->x[j] = pivot >= 0 ? j == pivot : fabs(sum) > e->tolerance * size ? sum : 0;
  }
}

/* P W^-1; counts when P is NULL */
static long change_P(echelon *e, psdmp_model_entry *P, long *start) {
  psdm_model *m = e->m;
  long at = 0;
  for (long f = 0; f < m->p; f++) {
    if (P) start[f] = at;
    for (int joint = 0; joint < m->n; joint++) {
      if (!take_row(e, f, joint)) continue;
      change_row(e, f, joint);
      for (int j = 0; j < e->l; j++) {
        if (e->x[j] == 0) continue;
        if (P) P[at] = (psdmp_model_entry){e->x[j], (unsigned short)joint, (unsigned short)j};
        at++;
      }
    }
  }
  if (P) start[m->p] = at;
  return at;
}

/* stores one formula: entries that are small beside its largest term are rounding */
static bool store_formula(echelon *e, const double *formula, int k, psdmp_model_base *base) {
  psdm_model *m = e->m;
  char name[24];
  double largest = 0, *unit = e->unit + e->l;
  int terms = 0;
  for (int i = 0; i < m->standard; i++) largest = fmax(largest, fabs(formula[i]) * unit[i]);
  for (int i = 0; i < m->standard; i++) terms += fabs(formula[i]) * unit[i] > e->tolerance * largest;
  base->name = psdmp_base_arena_text(&m->arena, name, (size_t)snprintf(name, sizeof name, "theta%d", k + 1));
  base->term = PSDMP_BASE_NEW(&m->arena, terms, psdmp_model_base_term);
  if (!base->name || !base->term) return false;
  for (int i = 0; i < m->standard; i++)
    if (fabs(formula[i]) * unit[i] > e->tolerance * largest)
      base->term[base->terms++] = (psdmp_model_base_term){i, formula[i]};
  base->parameter = base->term[0].parameter;
  return true;
}

/* theta' = W theta over the standard parameters. Where shares are large they cancel here: the sums are the
 * coefficients themselves. */
static bool change_formulas(echelon *e, psdmp_model_base *base, double *formula) {
  psdm_model *m = e->m;
  for (int k = 0; k < e->l; k++) {
    memset(formula, 0, sizeof *formula * (size_t)m->standard);
    for (int j = 0; j < e->l; j++)
      for (int t = 0; t < m->base[j].terms; t++)
        formula[m->base[j].term[t].parameter] +=
            e->length[k] * e->W[(long)k * e->l + j] / e->unit[j] * m->base[j].term[t].coefficient;
    if (!store_formula(e, formula, k, &base[k])) return false;
  }
  return true;
}

static bool set_units(const psdm_robot *r, psdmp_base_arena *scratch, echelon *e) {
  int l = e->l;
  double reach = psdmp_derive_reach(r, scratch);
  e->unit = PSDMP_BASE_NEW(scratch, l + e->m->standard, double);
  if (!e->unit || scratch->failed) return false;
  for (int k = 0; k < e->m->standard; k++) e->unit[l + k] = pow(reach, psdmp_derive_length_degree(r, k));
  for (int j = 0; j < l; j++) e->unit[j] = e->unit[l + e->m->base[j].parameter];
  return true;
}

static bool new_echelon(const psdm_robot *r, psdm_model *m, psdmp_base_arena *scratch, echelon *e) {
  int l = m->l;
  *e = (echelon){.m = m, .l = l};
  e->function = PSDMP_BASE_NEW(scratch, l, long);
  e->joint = PSDMP_BASE_NEW(scratch, l, int);
  e->W = PSDMP_BASE_NEW(scratch, l * l, double);
  e->length = PSDMP_BASE_NEW(scratch, l, double);
  e->inverse = PSDMP_BASE_NEW(scratch, l * l, double);
  e->basis = PSDMP_BASE_NEW(scratch, l * l, double);
  e->row = PSDMP_BASE_NEW(scratch, l, double);
  e->x = PSDMP_BASE_NEW(scratch, l, double);
  return e->function && e->joint && e->W && e->length && e->inverse && e->basis && e->row && e->x &&
         set_units(r, scratch, e);
}

/* l independent rows, the first clear ones: those with small remainders wait for a later pass; false when there are
 * fewer */
static bool find_pivots(echelon *e) {
  static const double tolerance[] = {1e-3, 1e-6, 1e-10};
  int l = e->l;
  for (int pass = 0; pass < 3 && e->pivots < l; pass++) add_pivots(e, tolerance[pass]);
  if (e->pivots < l) return false;
  sort_pivots(e);
  memcpy(e->basis, e->W, sizeof *e->W * (size_t)l * (size_t)l);
  if (!psdmp_linalg_invert(l, e->basis, e->inverse, PSDMP_LINALG_PIVOT)) return false;
  for (int i = 0; i < l; i++)
    for (int j = 0; j < l; j++) e->inverse[(long)i * l + j] /= e->length[j];
  return true;
}

psdm_status psdmp_derive_echelon(const psdm_robot *r, psdm_model *m, double tolerance, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  echelon e;
  psdmp_model_base *base = PSDMP_BASE_NEW(&m->arena, m->l, psdmp_model_base);
  psdmp_model_entry *P = NULL;
  long *start = NULL;
  bool ok = base && new_echelon(r, m, &scratch, &e), independent = ok && find_pivots(&e);
  if (independent) {
    e.tolerance = tolerance;
    P = PSDMP_BASE_NEW(&m->arena, change_P(&e, NULL, NULL), psdmp_model_entry);
    start = PSDMP_BASE_NEW(&m->arena, m->p + 1, long);
    double *formula = PSDMP_BASE_NEW(&scratch, m->standard, double);
    ok = P && start && formula && change_formulas(&e, base, formula);
  }
  if (ok && independent) {
    change_P(&e, P, start);
    m->P = P;
    m->P_start = start;
    m->base = base;
    m->combined = true;
  }
  psdmp_base_arena_free(&scratch);
  if (!ok) return psdmp_base_no_memory("", error);
  return independent
             ? PSDM_OK
             : psdmp_base_fail(error, PSDM_E_LIMIT, NULL, 0, 0,
                               "the base parameters' coefficients are too nearly dependent for an echelon form");
}
