/* span.c: the span of theta under the robot file's assumptions, and how a known part of it determines the rest.
 *
 * Bodies that satisfy the assumptions have standard parameters pi = B^T rho (Lloyd, Irani, Ahmadi 2021, section
 * 3.3), so that theta = K pi lies in the span of K B^T, theta = N u with N orthonormal. Where a part theta_k = N_k u
 * is known, the rest follows it as far as the assumptions tie them together: theta = N N_k^+ theta_k + N Z y with
 * N_k Z = 0. Without assumptions N = 1: theta_k is constant and y is the rest. */
#include <lapacke.h>
#include <stdio.h>
#include <string.h>

#include "steps/assume_priv.h"
#include "steps/steps_priv.h"

static const double tied = 1e-9; /* singular values below this share of the largest are zero */

/* A (rows x columns) = U diag(s) VT, all of VT; U (rows x least of both). A is overwritten. The rank, -1: failed. */
static int decompose(int rows, int columns, double *A, double *s, double *U, double *VT, psdmp_base_arena *arena) {
  int least = rows < columns ? rows : columns, rank = 0;
  double *super = PSDMP_BASE_NEW(arena, least, double);
  for (int k = 0; k < columns && !rows; k++) VT[(long)k * (columns + 1)] = 1;
  if (!super) return -1;
  if (!rows) return 0;
  int code = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'S', 'A', rows, columns, A, columns, s, U, least, VT, columns, super);
  if (code == LAPACK_WORK_MEMORY_ERROR || code == LAPACK_TRANSPOSE_MEMORY_ERROR) arena->failed = true;
  if (code) return -1;
  while (rank < least && s[rank] > tied * s[0]) rank++;
  return rank;
}

/* out of memory, or singular values do not converge */
static psdm_status not_decomposed(bool memory, psdm_error *error) {
  return memory ? psdmp_base_no_memory("", error)
                : psdmp_base_fail(error, PSDM_E_ACCURACY, "", 0, 0,
                                  "the singular values of the base parameters' formulas cannot be found");
}

psdm_status psdmp_steps_assume(psdmp_steps *s, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = s->allocator};
  double *left;
  int r;
  psdm_status status = psdmp_steps_assumed(s->run.robot, &arena, &r, &left, error);
  if (status || !left) return psdmp_base_arena_free(&arena), status;
  int l = s->l, S = s->S, least = l < r ? l : r;
  double *M = PSDMP_BASE_NEW(&arena, (long)l * r, double), *U = PSDMP_BASE_NEW(&arena, (long)l * least, double),
         *VT = PSDMP_BASE_NEW(&arena, (long)r * r, double);
  double *sigma = PSDMP_BASE_NEW(&arena, least, double);
  s->span = PSDMP_BASE_NEW(&s->arena, (long)l * least, double);
  bool ok = M && U && VT && sigma && s->span;
  for (int j = 0; j < l && ok; j++)
    for (int k = 0; k < r; k++)
      for (int c = 0; c < S; c++) M[(long)j * r + k] += s->run.K[(long)j * S + c] * left[(long)k * S + c];
  s->spans = ok ? decompose(l, r, M, sigma, U, VT, &arena) : -1;
  for (int j = 0; j < l && s->spans >= 0; j++)
    for (int k = 0; k < s->spans; k++) s->span[(long)j * s->spans + k] = U[(long)j * least + k];
  bool memory = !ok || arena.failed;
  psdmp_base_arena_free(&arena);
  if (s->spans < 0) return not_decomposed(memory, error);
  psdmp_steps_remark(s, "the %d assumptions of the robot's file are made: %d of %d base parameters are independent",
                     psdm_robot_assumptions(s->run.robot), s->spans, l);
  return PSDM_OK;
}

/* SVD of the rows of N that are in some part of theta */
typedef struct part {
  int rows, rank;
  int *row;               /* (rows) */
  double *sigma, *U, *VT; /* U (rows x least) */
  int least;
} part;

static bool decompose_part(const psdmp_steps *s, const bool *in, psdmp_base_arena *arena, part *p) {
  int r = s->spans;
  p->row = PSDMP_BASE_NEW(arena, s->l, int);
  double *A = PSDMP_BASE_NEW(arena, (long)s->l * r, double);
  p->sigma = PSDMP_BASE_NEW(arena, s->l + r, double), p->U = PSDMP_BASE_NEW(arena, (long)s->l * s->l, double),
  p->VT = PSDMP_BASE_NEW(arena, (long)r * r, double);
  if (!p->row || !A || !p->sigma || !p->U || !p->VT) return false;
  for (int j = 0; j < s->l; j++)
    if (in[j]) {
      memcpy(A + (long)p->rows * r, s->span + (long)j * r, (size_t)r * sizeof *A);
      p->row[p->rows++] = j;
    }
  p->least = p->rows < r ? p->rows : r;
  p->rank = decompose(p->rows, r, A, p->sigma, p->U, p->VT, arena);
  return p->rank >= 0;
}

/* N v, v a row of VT */
static double spanned(const psdmp_steps *s, const part *p, int j, int k) {
  double sum = 0;
  for (int c = 0; c < s->spans; c++) sum += s->span[(long)j * s->spans + c] * p->VT[(long)k * s->spans + c];
  return sum;
}

/* no assumptions: unit columns, those of `first` first */
static void split_plainly(const psdmp_steps *s, const bool *first, bool fixed, psdmp_steps_parts *out) {
  int l = s->l;
  out->own = out->r = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < l; j++) out->r += first[j] == (pass == 0) && !(fixed && pass == 0);
  for (int pass = 0, k = 0; pass < 2; pass++)
    for (int j = 0; j < l; j++) {
      if (first[j] != (pass == 0)) continue;
      if (fixed && pass == 0) out->A[(long)j * (l + 1)] = 1;
      else out->B[(long)j * out->r + k++] = 1;
      out->own += !fixed && pass == 0;
    }
}

static bool make_split(const psdmp_steps *s, psdmp_base_arena *arena, psdmp_steps_parts *out) {
  *out = (psdmp_steps_parts){.A = PSDMP_BASE_NEW(arena, (long)s->l * s->l, double),
                             .B = PSDMP_BASE_NEW(arena, (long)s->l * s->l, double)};
  return out->A && out->B;
}

psdm_status psdmp_steps_split(const psdmp_steps *s, const bool *known, psdmp_base_arena *arena, psdmp_steps_parts *out,
                              psdm_error *error) {
  part p = {0};
  int l = s->l;
  if (!make_split(s, arena, out)) return psdmp_base_no_memory("", error);
  if (!s->span) return split_plainly(s, known, true, out), PSDM_OK;
  if (!decompose_part(s, known, arena, &p)) return not_decomposed(arena->failed, error);
  out->r = s->spans - p.rank;
  for (int j = 0; j < l; j++) {
    if (known[j]) {
      out->A[(long)j * (l + 1)] = 1;
      continue;
    }
    for (int k = 0; k < p.rank; k++)
      for (int i = 0; i < p.rows; i++)
        out->A[(long)j * l + p.row[i]] += spanned(s, &p, j, k) / p.sigma[k] * p.U[(long)i * p.least + k];
    for (int k = 0; k < out->r; k++) out->B[(long)j * out->r + k] = spanned(s, &p, j, p.rank + k);
  }
  return PSDM_OK;
}

psdm_status psdmp_steps_split_first(const psdmp_steps *s, const bool *first, psdmp_base_arena *arena,
                                    psdmp_steps_parts *out, psdm_error *error) {
  part p = {0};
  if (!make_split(s, arena, out)) return psdmp_base_no_memory("", error);
  if (!s->span) return split_plainly(s, first, false, out), PSDM_OK;
  if (!decompose_part(s, first, arena, &p)) return not_decomposed(arena->failed, error);
  out->r = s->spans;
  out->own = p.rank;
  for (int j = 0; j < s->l; j++)
    for (int k = 0; k < out->r; k++) {
      double entry = spanned(s, &p, j, k);
      if (k >= p.rank && first[j]) entry = 0;
      out->B[(long)j * out->r + k] = k < p.rank ? entry / p.sigma[k] : entry;
    }
  return PSDM_OK;
}

char *psdmp_steps_names(const psdmp_steps *s, const bool *which, bool value, char *buf, size_t size) {
  size_t at = 0;
  buf[0] = 0;
  for (int j = 0; j < s->l; j++) {
    if (which[j] != value) continue;
    int length = snprintf(buf + at, size - at, "%s%s", at ? ", " : "", s->theta[j].name);
    if (length < 0 || (size_t)length >= size - at - 4) {
      snprintf(buf + at, size - at, "%s", at ? ".." : ".");
      break;
    }
    at += (size_t)length;
  }
  return buf;
}
