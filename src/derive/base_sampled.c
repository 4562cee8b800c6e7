/* base_sampled.c: base parameters from random samples of the regressor (Gautier 1991), and the standard parameters left
 * by assumptions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "linalg/linalg.h"
#include "psdm/rigid.h"
#include "rigid/rigid.h"

/* remainders of sampled columns below this are rounding: recursions of a dozen joints are accurate to 1e-15, and a few
 * hundred samples add up */
static const double SAMPLE_ROUNDING = 3e-13;

/* memory for a choice of columns */
static bool new_columns(psdmp_base_arena *arena, int columns, psdmp_linalg_columns *out, double **R) {
  out->kept = PSDMP_BASE_NEW(arena, columns, int);
  out->beta = PSDMP_BASE_NEW(arena, columns * columns, double);
  *R = PSDMP_BASE_NEW(arena, columns * columns, double);
  return out->kept && out->beta && *R;
}

psdm_status psdmp_derive_restriction_set(const psdm_robot *r, const psdm_derive_options *o, psdmp_base_arena *arena,
                                         psdmp_derive_restriction *out, psdm_error *error) {
  int S = psdm_robot_parameter_count(r), rows = 2 * S + 20;
  *out = (psdmp_derive_restriction){0, NULL, NULL};
  if (!r->assumptions && !(o && o->assume_count)) return PSDM_OK;
  psdmp_derive_relations relations;
  double *pi = PSDMP_BASE_NEW(arena, S, double), *A = PSDMP_BASE_NEW(arena, rows * S, double), *R;
  int *order = PSDMP_BASE_NEW(arena, S, int);
  psdmp_linalg_columns columns;
  if (!pi || !A || !order || !new_columns(arena, S, &columns, &R)) return psdmp_base_no_memory(r->file, error);
  psdm_status status = psdmp_derive_relations_set(r, o, arena, &relations, error);
  if (status) return status;
  uint64_t seed = 1;
  for (int i = 0; i < rows; i++) {
    psdmp_derive_relations_sample(&relations, &seed, pi);
    for (int k = 0; k < S; k++) A[(long)k * rows + i] = pi[k];
  }
  psdmp_derive_keep_order(r, order);
  psdmp_linalg_columns_choose(rows, S, A, order, 1e-9, R, &columns);
  out->count = columns.rank;
  out->param = columns.kept;
  out->B = columns.beta; /* (rank x S) rows are already in this layout */
  for (int k = 0; k < columns.rank; k++) {
    for (int c = 0; c < S; c++)
      if (fabs(out->B[(long)k * S + c]) < 1e-9) out->B[(long)k * S + c] = 0;
    out->B[(long)k * S + columns.kept[k]] = 1;
  }
  return PSDM_OK;
}

/* ---- Psi over the remaining parameters ---- */

static int compare_entries(const void *a, const void *b) {
  const psdmp_model_entry *x = a, *y = b;
  if (x->joint != y->joint) return x->joint < y->joint ? -1 : 1;
  return (x->parameter > y->parameter) - (x->parameter < y->parameter);
}

/* one function's entries times B^T, equal ones merged, those that cancel left out; returns how many remain in out */
static long restrict_function(const psdmp_derive_restriction *res, int S, const psdmp_model_entry *in, long count,
                              psdmp_model_entry *out) {
  long made = 0, left = 0;
  for (long e = 0; e < count; e++)
    for (int k = 0; k < res->count; k++) {
      double share = res->B[(long)k * S + in[e].parameter];
      if (share != 0)
        out[made++] = (psdmp_model_entry){in[e].value * share, in[e].joint, (unsigned short)res->param[k]};
    }
  qsort(out, (size_t)made, sizeof *out, compare_entries);
  for (long e = 0; e < made;) {
    psdmp_model_entry sum = out[e];
    double size = 0;
    sum.value = 0;
    for (; e < made && compare_entries(&sum, &out[e]) == 0; e++) sum.value += out[e].value, size += fabs(out[e].value);
    if (fabs(sum.value) > PSDMP_DERIVE_ROUNDING * size) out[left++] = sum;
  }
  return left;
}

bool psdmp_derive_restriction_combines(const psdmp_derive_restriction *res, int standard) {
  for (int k = 0; k < res->count && res->B; k++)
    for (int c = 0; c < standard; c++)
      if (res->B[(long)k * standard + c] != (c == res->param[k])) return true;
  return false;
}

psdm_status psdmp_derive_restrict_psi(const psdmp_derive_restriction *res, psdm_model *m, psdm_error *error) {
  if (!res->B) return PSDM_OK;
  m->combined = psdmp_derive_restriction_combines(res, m->standard);
  long most = 0, at = 0, p = 0;
  for (long f = 0; f < m->p; f++)
    if (m->P_start[f + 1] - m->P_start[f] > most) most = m->P_start[f + 1] - m->P_start[f];
  long widest = 1;
  for (int c = 0; c < m->standard; c++) {
    long shares = 0;
    for (int k = 0; k < res->count; k++) shares += res->B[(long)k * m->standard + c] != 0;
    if (shares > widest) widest = shares;
  }
  psdmp_model_entry *part = PSDMP_BASE_NEW(&m->arena, most * widest, psdmp_model_entry),
                    *psi = PSDMP_BASE_NEW(&m->arena, m->P_start[m->p] * widest, psdmp_model_entry);
  if (!part || !psi) return psdmp_base_no_memory("", error);
  for (int k = 0; k < m->classes; k++) {
    long f = m->class_start[k], end = m->class_start[k + 1];
    m->class_start[k] = p;
    for (; f < end; f++) {
      long count = restrict_function(res, m->standard, m->P + m->P_start[f], m->P_start[f + 1] - m->P_start[f], part);
      if (!count) continue;
      memcpy(psi + at, part, (size_t)count * sizeof *psi);
      m->code[p] = m->code[f];
      m->P_start[p++] = at; /* p <= f, and start[f + 1] is read before it can be written */
      at += count;
    }
  }
  m->class_start[m->classes] = p;
  m->P_start[p] = at;
  m->P = psi;
  m->p = p;
  return PSDM_OK;
}

/* ---- base parameters of a matrix ---- */

/* kept columns and the others' shares as formulas, in units of the reach; order: the parameter of each column */
static bool write_base(const psdm_robot *r, double reach, const int *order, const psdmp_derive_link_choice *c,
                       psdm_model *m, psdmp_base_arena *scratch) {
  int S = m->standard;
  double *theta = PSDMP_BASE_NEW(scratch, S, double);
  m->l = c->rank;
  m->base = PSDMP_BASE_NEW(&m->arena, m->l, psdmp_model_base);
  if (!theta || !m->base) return false;
  for (int j = 0; j < m->l; j++) {
    int own = m->base[j].parameter = order[c->kept[j]];
    for (int k = 0; k < S; k++) {
      double share = c->beta[(long)j * S + k];
      theta[order[k]] = fabs(share) < 1e-13 ? 0 : share; /* rounding of a few dozen products */
    }
    theta[own] = 1;
    if (!psdmp_derive_store_formula(r, reach, m, &m->base[j], theta)) return false;
  }
  return true;
}

psdm_status psdmp_derive_base_of_rows(const psdm_robot *r, double reach, double tolerance, int rows, double *A,
                                      psdm_model *m, psdm_derive_info *info, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  int S = m->standard, *order = PSDMP_BASE_NEW(&scratch, S, int);
  long words = psdmp_linalg_least_squares_work(rows, S, 1);
  double *R = PSDMP_BASE_NEW(&scratch, (long)S * S, double), *T = PSDMP_BASE_NEW(&scratch, (long)S * S, double),
         *tau = PSDMP_BASE_NEW(&scratch, S, double), *work = PSDMP_BASE_NEW(&scratch, words, double), size = 0;
  bool ok = R && T && tau && work && order, solved = ok && psdmp_linalg_triangle(rows, S, A, T, tau, work, words);
  if (solved) {
    psdmp_derive_link_choice chosen;
    psdmp_derive_keep_order(r, order);
    for (int k = 0; k < S; k++)
      for (int i = 0; i < S; i++) {
        R[(long)k * S + i] = T[(long)order[k] * S + i];
        size = fmax(size, fabs(R[(long)k * S + i]));
      }
    const psdmp_derive_link_columns columns = {S, S, order, R, tolerance * size};
    ok = psdmp_derive_choose_by_link(r, &columns, &scratch, &chosen) &&
         write_base(r, reach, order, &chosen, m, &scratch);
    info->rank_dropped = size > 0 ? chosen.dropped / size : 0;
    info->rank_kept = size > 0 ? chosen.smallest / size : INFINITY;
  }
  psdmp_base_arena_free(&scratch);
  if (!ok) return psdmp_base_no_memory(r->file, error);
  return solved ? PSDM_OK
                : psdmp_base_fail(error, PSDM_E_SINGULAR, r->file, 0, 0,
                                  "the samples of the regressor cannot be factorised");
}

/* ---- samples ---- */

/* from column i of G: how far joint i rotates and displaces what it drives, per unit */
static psdmp_derive_motion motion_of(const psdm_robot *r, double reach, int i) {
  double most = 0, least = INFINITY, turn = 0;
  for (int b = 0; b < r->bodies; b++)
    for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++) {
      bool slides = r->body[b].prismatic;
      double rate = r->g_col[e] == i ? fabs(r->g_val[e]) / (slides ? reach : 1) : 0;
      if (rate > 0) most = fmax(most, rate), least = fmin(least, rate);
      if (!slides) turn = fmax(turn, rate);
    }
  if (most == 0) return (psdmp_derive_motion){1, 1, 1}; /* it drives nothing */
  return (psdmp_derive_motion){1 / most, most / least, turn > 0 ? most / turn : 1};
}

void psdmp_derive_motions(const psdm_robot *r, double reach, psdmp_derive_motion *motion) {
  for (int i = 0; i < r->n; i++) motion[i] = motion_of(r, reach, r->closure ? r->closure->independent[i] : i);
}

void psdmp_derive_random_state(const psdm_robot *r, double reach, const psdmp_derive_motion *motion, uint64_t *seed,
                               double *q, double *qd, double *qdd) {
  const double *g = r->gravity;
  double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), rate = size > 0 ? sqrt(size / reach) : 1;
  for (int j = 0; j < r->joints; j++) {
    int i = r->joint[j].q;
    if (i < 0) continue;
    const psdmp_derive_motion *m = &motion[i];
    q[i] = psdmp_base_random(seed, -1, 1) * m->unit * (r->joint[j].type == PSDM_PRISMATIC && m->far == 1 ? 1 : 3.14159);
    qd[i] = psdmp_base_random(seed, -1, 1) * rate * m->unit;
    qdd[i] = psdmp_base_random(seed, -1, 1) * rate * rate * m->unit;
    if (m->far > 1 && psdmp_base_random(seed, -1, 1) > 0) q[i] *= m->far;
    if (m->spin > 1 && psdmp_base_random(seed, -1, 1) > 0) qd[i] *= m->spin;
  }
}

/* Regressor samples as columns, A[param][sample and joint], in units of the reach, each row's largest entry 1. state:
 * (4 n) zeros. They are taken at rest, where the mass matrix contains all there is, except for robots whose joints
 * slide far while they turn little: effects that a rotation rate shows at first order in a length appear in the mass
 * matrix at second order only, and are lost in rounding. */
static psdm_status sample_regressor(const psdm_robot *r, double reach, psdm_work *work, int samples, int rows,
                                    double *state, psdmp_derive_motion *motion, double *Y, double *A) {
  int S = psdm_robot_parameter_count(r);
  double *q = state, *qd = q + r->n, *qdd = qd + r->n, *still = qdd + r->n;
  uint64_t seed = 7;
  bool apart = false;
  psdmp_derive_motions(r, reach, motion);
  for (int i = 0; i < r->n; i++) apart |= motion[i].spin > 1;
  for (int s = 0; s < samples; s++) {
    psdmp_derive_random_state(r, reach, motion, &seed, q, qd, qdd);
    psdmp_rigid_pull_home(r, work, q);
    psdm_status status = psdm_regressor_standard(r, work, q, apart ? qd : still, qdd, Y);
    if (status) return status;
    for (int i = 0; i < r->n; i++) {
      double most = 0;
      for (int k = 0; k < S; k++)
        most = fmax(most, fabs(Y[(long)i * S + k] *= pow(reach, psdmp_derive_length_degree(r, k) - 2)));
      for (int k = 0; k < S; k++) A[(long)k * rows + s * r->n + i] = most > 0 ? Y[(long)i * S + k] / most : 0;
    }
  }
  return PSDM_OK;
}

/* replaces A's columns by those of the remaining parameters: A B^T; B in units of the reach */
static void restrict_columns(const psdm_robot *r, double reach, const psdmp_derive_restriction *res, int rows, int S,
                             const double *A, double *out) {
  memset(out, 0, sizeof *out * (size_t)rows * (size_t)S);
  for (int k = 0; k < res->count; k++)
    for (int c = 0; c < S; c++) {
      double share = res->B[(long)k * S + c] *
                     pow(reach, psdmp_derive_length_degree(r, res->param[k]) - psdmp_derive_length_degree(r, c));
      for (int i = 0; share != 0 && i < rows; i++) out[(long)res->param[k] * rows + i] += share * A[(long)c * rows + i];
    }
}

psdm_status psdmp_derive_base_sampled(const psdm_robot *r, const psdmp_derive_restriction *res, double tolerance,
                                      psdm_model *m, psdm_derive_info *info, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  int S = m->standard, samples = 2 * S / r->n + 10, rows = samples * r->n;
  double reach = psdmp_derive_reach(r, &scratch);
  double *A = PSDMP_BASE_NEW(&scratch, rows * S, double), *Y = PSDMP_BASE_NEW(&scratch, r->n * S, double),
         *B = res->B ? PSDMP_BASE_NEW(&scratch, rows * S, double) : A;
  double *state = PSDMP_BASE_NEW(&scratch, 4 * r->n, double);
  psdmp_derive_motion *motion = PSDMP_BASE_NEW(&scratch, r->n, psdmp_derive_motion);
  psdm_work *work = NULL;
  psdm_status status =
      A && Y && B && state && motion && !scratch.failed ? psdm_work_new(r, m->arena.allocator, &work) : PSDM_E_MEMORY;
  if (!status) status = sample_regressor(r, reach, work, samples, rows, state, motion, Y, A);
  if (!status && res->B) restrict_columns(r, reach, res, rows, S, A, B);
  if (status)
    status = status == PSDM_E_MEMORY ? psdmp_base_no_memory(r->file, error)
                                     : psdmp_base_fail(error, status, r->file, 0, 0, "%s", psdm_status_text(status));
  else status = psdmp_derive_base_of_rows(r, reach, fmax(tolerance, SAMPLE_ROUNDING), rows, B, m, info, error);
  psdm_work_free(work, m->arena.allocator);
  psdmp_base_arena_free(&scratch);
  return status;
}
