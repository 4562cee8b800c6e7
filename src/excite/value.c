/* value.c: how informative a motion is, and its derivative by the samples.
 *
 *   A = 1/points sum of r^T r over the scaled rows r of all samples, + ridge 1
 *   D-optimal   f = -log det A / columns,                           df = tr(B dA), B = -A^-1 / columns
 *   condition   f = (log tr A^p + log tr A^-p) / 2p: the logarithm of A's condition number's root as p grows, and
 *               smooth where its eigenvalues cross, B = (A^(p-1) / tr A^p - A^(-p-1) / tr A^-p) / 2
 *
 * dA = 1/points sum of (dr^T r + r^T dr): each row is weighted with 2/points B r, and the weighted regressor is
 * differentiated as a whole (adjoint.c). */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "excite/inertia_priv.h"
#include "linalg/linalg.h"

/* of the columns' mean square at random: negligible information, but keeps log det finite */
const double psdmp_excite_ridge = 1e-10;

/* p: exp(f) is at most columns^(1/16) times the condition number, 1.3 for 64 columns, if all are at its ends */
enum { SQUARINGS = 4, POWER = 1 << SQUARINGS };

_Static_assert(sizeof((psdmp_excite_value *)0)->power / sizeof(double *) == SQUARINGS + 1, "powers in memory");

bool psdmp_excite_value_new(const psdmp_excite_told *t, psdm_excite_goal goal, int points, psdm_work *work,
                            psdmp_base_arena *arena, psdmp_excite_value *v) {
  long W = t->columns;
  *v = (psdmp_excite_value){.told = t, .goal = goal, .points = points, .work = work};
  v->Y = psdmp_excite_numbers(arena, (long)t->n * t->standard + W);
  v->weight = psdmp_excite_numbers(arena, (long)t->n * t->standard);
  v->adjoint = psdmp_excite_numbers(arena, psdmp_excite_adjoint_scratch(t->robot));
  v->row = psdmp_excite_numbers(arena, (long)points * t->row_total);
  v->gram = psdmp_excite_numbers(arena, W * W);
  v->A = psdmp_excite_numbers(arena, W * W);
  v->B = psdmp_excite_numbers(arena, W * W);
  for (int k = 0; k < SQUARINGS + 1; k++)
    if (!(v->power[k] = psdmp_excite_numbers(arena, W * W))) return false;
  v->eigen = psdmp_excite_numbers(arena, W);
  v->eigen_work = psdmp_excite_numbers(arena, 40 * W);
  if (!psdmp_excite_closed_new(t->robot, arena, &v->closed)) return false;
  return v->Y && v->weight && v->adjoint && v->row && v->gram && v->A && v->B && v->eigen && v->eigen_work;
}

/* ---- A ---- */

/* one joint's part of A: its rows only have entries of its own columns */
static void add_joint(psdmp_excite_value *v, int i, long first) {
  const psdmp_excite_told *t = v->told;
  int count = t->row_count[i], W = t->columns;
  double *restrict gram = v->gram;
  memset(gram, 0, sizeof *gram * (size_t)count * (size_t)count);
  for (int p = 0; p < v->points; p++) {
    const double *restrict r = v->row + (long)p * t->row_total + first;
    for (int a = 0; a < count; a++)
      for (int b = 0; b <= a; b++) gram[a * count + b] += r[a] * r[b];
  }
  for (int a = 0; a < count; a++)
    for (int b = 0; b <= a; b++)
      v->A[(long)t->row_column[i][a] * W + t->row_column[i][b]] += gram[a * count + b] / v->points;
}

/* the lower triangle, then both */
static bool set_information(psdmp_excite_value *v, const double *state) {
  const psdmp_excite_told *t = v->told;
  int W = t->columns;
  long first = 0;
  for (int p = 0; p < v->points; p++)
    if (psdmp_excite_told_row(t, v->work, state + 3L * p * t->n, v->Y, v->row + (long)p * t->row_total)) return false;
  memset(v->A, 0, sizeof *v->A * (size_t)W * (size_t)W);
  for (int i = 0; i < t->n; first += t->row_count[i++]) add_joint(v, i, first);
  for (int a = 0; a < W; a++)
    for (int b = 0; b < a; b++) v->A[(long)b * W + a] = v->A[(long)a * W + b];
  return true;
}

/* ---- f and B ---- */

/* B = L^-T L^-1 from a Cholesky factor; scratch holds L^-1 */
static void invert_factor(int W, const double *L, double *inverse, double *B) {
  memset(inverse, 0, sizeof *inverse * (size_t)W * (size_t)W);
  for (int i = 0; i < W; i++) {
    double *row = inverse + (long)i * W;
    row[i] = 1;
    for (int k = 0; k < i; k++) {
      double factor = L[(long)i * W + k];
      const double *other = inverse + (long)k * W;
      for (int j = 0; j <= k; j++) row[j] -= factor * other[j];
    }
    for (int j = 0; j <= i; j++) row[j] /= L[(long)i * W + i];
  }
  memset(B, 0, sizeof *B * (size_t)W * (size_t)W);
  for (int k = 0; k < W; k++)
    for (int a = 0; a <= k; a++) {
      double factor = inverse[(long)k * W + a];
      for (int b = 0; b <= a; b++) B[(long)a * W + b] += factor * inverse[(long)k * W + b];
    }
  for (int a = 0; a < W; a++)
    for (int b = 0; b < a; b++) B[(long)b * W + a] = B[(long)a * W + b];
}

static double determinant(psdmp_excite_value *v, bool gradient) {
  int W = v->told->columns;
  double sum = 0;
  for (int c = 0; c < W; c++) v->A[(long)c * W + c] += psdmp_excite_ridge;
  if (!psdmp_linalg_cholesky(W, v->A)) return INFINITY;
  for (int c = 0; c < W; c++) sum += 2 * log(v->A[(long)c * W + c]);
  if (gradient) {
    invert_factor(W, v->A, v->gram, v->B);
    for (long k = 0; k < (long)W * W; k++) v->B[k] /= -W;
  }
  return -sum / W;
}

/* C = A B of symmetric matrices that commute */
static void multiply(int W, const double *restrict A, const double *restrict B, double *restrict C) {
  memset(C, 0, sizeof *C * (size_t)W * (size_t)W);
  for (int a = 0; a < W; a++)
    for (int k = 0; k < W; k++) {
      double factor = A[(long)a * W + k];
      for (int b = 0; b <= a; b++) C[(long)a * W + b] += factor * B[(long)k * W + b];
    }
  for (int a = 0; a < W; a++)
    for (int b = 0; b < a; b++) C[(long)b * W + a] = C[(long)a * W + b];
}

/* scales X to the trace 1 and sets power[k] = X^(2^k) for k < SQUARINGS; the trace of X^POWER, and what X was
 * divided by */
static double powers(psdmp_excite_value *v, double *X, double *scale) {
  int W = v->told->columns;
  double trace = 0, sum = 0;
  for (int c = 0; c < W; c++) trace += X[(long)c * W + c];
  for (long k = 0; k < (long)W * W; k++) v->power[0][k] = X[k] / trace;
  for (int k = 1; k < SQUARINGS; k++) multiply(W, v->power[k - 1], v->power[k - 1], v->power[k]);
  /* the trace of a symmetric matrix's square */
  for (long k = 0; k < (long)W * W; k++) sum += v->power[SQUARINGS - 1][k] * v->power[SQUARINGS - 1][k];
  *scale = trace;
  return sum;
}

/* X^(POWER - 1) or, if beyond, X^(POWER + 1) of the powers above, which are overwritten */
static const double *odd_power(psdmp_excite_value *v, bool beyond) {
  int W = v->told->columns;
  double **P = v->power, *from = P[SQUARINGS - 1], *to = P[SQUARINGS], *swap;
  if (beyond) {
    multiply(W, from, from, to);
    multiply(W, to, P[0], from);
    return from;
  }
  for (int k = SQUARINGS - 2; k >= 0; k--) {
    multiply(W, from, P[k], to);
    swap = from, from = to, to = swap;
  }
  return from;
}

static double smooth_condition(psdmp_excite_value *v, bool gradient) {
  int W = v->told->columns;
  double large, small, a, c, *inverse = v->gram;
  for (int k = 0; k < W; k++) v->A[(long)k * W + k] += psdmp_excite_ridge;
  large = powers(v, v->A, &a);
  if (gradient) {
    const double *X = odd_power(v, false);
    for (long k = 0; k < (long)W * W; k++) v->B[k] = X[k] / (2 * a * large);
  }
  if (!psdmp_linalg_cholesky(W, v->A)) return INFINITY;
  invert_factor(W, v->A, v->power[SQUARINGS], inverse);
  small = powers(v, inverse, &c);
  if (gradient) {
    const double *X = odd_power(v, true);
    for (long k = 0; k < (long)W * W; k++) v->B[k] -= c * X[k] / (2 * small);
  }
  return (log(large) + log(small)) / (2 * POWER) + (log(a) + log(c)) / 2;
}

/* from the eigenvalues; A is overwritten */
static double plain_condition(psdmp_excite_value *v) {
  int W = v->told->columns;
  bool found = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', W, v->A, W, v->eigen, v->eigen_work, 40 * W) == 0;
  return found && v->eigen[0] > 0 ? sqrt(v->eigen[W - 1] / v->eigen[0]) : INFINITY;
}

/* ---- the gradient ---- */

/* a friction column's derivative by its joint's velocity */
static double friction_slope(const psdmp_excite_told *t, int column, double qd) {
  int i = t->joint[column];
  if (t->kind[column] == PSDMP_EXCITE_OFFSET) return 0;
  if (t->kind[column] == PSDMP_EXCITE_VISCOUS) return 1;
  double s = tanh(qd / t->width[i]);
  return (1 - s * s) / t->width[i];
}

/* rows become their weights, 2/points B r, joint by joint with B's part of that joint's columns */
static void weigh_rows(psdmp_excite_value *v) {
  const psdmp_excite_told *t = v->told;
  int W = t->columns;
  long first = 0;
  for (int i = 0; i < t->n; first += t->row_count[i++]) {
    int count = t->row_count[i];
    double *restrict part = v->gram, *sum = v->Y;
    for (int a = 0; a < count; a++)
      for (int b = 0; b < count; b++)
        part[a * count + b] = 2.0 / v->points * v->B[(long)t->row_column[i][a] * W + t->row_column[i][b]];
    for (int p = 0; p < v->points; p++) {
      double *r = v->row + (long)p * t->row_total + first;
      memset(sum, 0, sizeof *sum * (size_t)count);
      for (int b = 0; b < count; b++)
        for (int a = 0; a < count; a++) sum[a] += r[b] * part[b * count + a];
      memcpy(r, sum, sizeof *sum * (size_t)count);
    }
  }
}

/* of a base column, on the standard columns of one joint's row; combined: some are in several base columns */
static void add_weight(const psdmp_excite_told *t, int c, double weight, bool combined, double *row) {
  for (int k = t->start[c]; k < t->start[c + 1]; k++)
    row[t->index[k]] = (combined ? row[t->index[k]] : 0) + weight * t->factor[k];
}

static bool differentiate(psdmp_excite_value *v, const double *state, double *by_state) {
  const psdmp_excite_told *t = v->told;
  int n = t->n;
  bool combined = t->start[t->base] > t->base;
  weigh_rows(v);
  memset(v->weight, 0, sizeof *v->weight * (size_t)n * (size_t)t->standard);
  for (int p = 0; p < v->points; p++, state += 3 * n, by_state += 3 * n) {
    const double *w = v->row + (long)p * t->row_total;
    double *Y = v->Y;
    memset(Y, 0, sizeof *Y * (size_t)n);
    if (combined) memset(v->weight, 0, sizeof *v->weight * (size_t)n * (size_t)t->standard);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < t->row_count[i]; k++, w++) {
        int c = t->row_column[i][k];
        double weight = *w * t->row_scale[i] * t->column_scale[c];
        if (c < t->base) add_weight(t, c, weight, combined, v->weight + (long)i * t->standard);
        else Y[i] += weight * friction_slope(t, c - t->base, state[n + i]);
      }
    if (!v->closed.robot) psdmp_excite_adjoint(t->robot, v->work, state, v->weight, v->adjoint, by_state);
    else if (psdmp_excite_closed_gradient(&v->closed, state, v->weight, by_state)) return false;
    for (int i = 0; i < n; i++) by_state[n + i] += Y[i];
  }
  return true;
}

double psdmp_excite_value_at(psdmp_excite_value *v, const double *state, double *by_state, double *condition) {
  int W = v->told->columns;
  if (!set_information(v, state)) return INFINITY;
  if (condition) {
    memcpy(v->B, v->A, sizeof *v->A * (size_t)W * (size_t)W);
    *condition = plain_condition(v);
    memcpy(v->A, v->B, sizeof *v->A * (size_t)W * (size_t)W);
  }
  double f =
      v->goal == PSDM_EXCITE_CONDITION ? smooth_condition(v, by_state != NULL) : determinant(v, by_state != NULL);
  if (by_state && isfinite(f) && !differentiate(v, state, by_state)) return INFINITY;
  return f;
}
