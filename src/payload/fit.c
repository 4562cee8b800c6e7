/* fit.c: the load from the factors of all drives, and its uncertainty.
 *
 *   min |(A pi + D S u + F c - r) / sigma|^2 / 2 + |u|^2 / 2 + lambda D(pi | compact body)     pi of a physically
 * possible body,
 *  or any pi without the last term
 *
 * Columns are in the order u, c, pi, r: the last eleven columns of their triangle are the problem of
 * the load alone. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "payload/payload_priv.h"
#include "linalg/linalg.h"

/* nats of lambda: bodies ten times as heavy, or as large, cost little more than the noise of one number */
static const double pull = 0.1;
static const double density = 2000; /* kg/m^3 of the compact body: between plastics and steel with air in it */
/* of a drift column's length: regularises drives that never move, and moves others by 1e-8 */
static const double drift_ridge = 1e-4;

typedef struct fitting {
  psdmp_payload *p;
  int N, W;                     /* u and c; with pi */
  double *G;                    /* ((W + 1)^2) triangle of everything */
  double *X, *scratch;          /* rows of one drive; of factors */
  double *ridge;                /* (W) squares that are added to the diagonal */
  double *y;                    /* (W) u, c, pi */
  double *T, *Z;                /* (W^2) triangle with the pull on pi, and its inverse */
  double *C;                    /* (10 x W) of pi, the inverse of the Hessian */
  double *M, *g, *mean, *error; /* (W^2), (W), (W), rows of one drive */
  double pi[10], V[100], share[10];
} fitting;

void psdmp_payload_remark(psdmp_payload *p, const char *format, ...) {
  va_list args;
  if (p->remarks == (int)(sizeof p->answer.remark / sizeof *p->answer.remark)) return;
  va_start(args, format);
  psdmp_base_vprint(p->answer.remark[p->remarks++], sizeof p->answer.remark[0], format, args);
  va_end(args);
}

/* ---- all drives in one triangle ---- */

/* rows correlated by a filter: this many count as one */
static double together(const psdmp_payload *p) {
  double independent = 2 * p->band.cutoff;
  return isfinite(independent) && independent > 0 ? fmax(1, psdmp_payload_rate(p) / independent) : 1;
}

/* X (width x W + 1): a drive's factor in the columns of all, divided by its sigma */
static void spread(const fitting *f, int i, const double *R, double *X) {
  const psdmp_payload *p = f->p;
  const psdmp_payload_columns *c = &p->columns[i];
  double weight = 1 / (p->sigma[i] * sqrt(together(p)));
  long wide = f->W + 1;
  memset(X, 0, (size_t)c->width * (size_t)wide * sizeof *X);
  for (int row = 0; row < c->width; row++) {
    const double *from = R + (long)row * c->width;
    double *to = X + row * wide;
    for (int d = row; d < c->doubts; d++)
      for (int k = 0; k < p->axes; k++) to[k] += weight * from[d] * p->S[(long)c->place[d] * p->axes + k];
    for (int d = 0; d < c->drifts; d++) to[p->axes + PSDMP_PAYLOAD_DRIFTS * i + d] = weight * from[c->doubts + d];
    for (int k = 0; k < 11; k++) to[f->N + k] = weight * from[c->doubts + c->drifts + k];
  }
}

static bool has_rows(const psdmp_payload *p, int b) {
  double sum = 0;
  for (int i = 0; i < p->run.n; i++) sum += p->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b];
  return sum > 0;
}

/* one unit row for every u, and a little for every c */
static void add_ridges(fitting *f) {
  const psdmp_payload *p = f->p;
  long wide = f->W + 1;
  for (int k = 0; k < f->N; k++) {
    double length = 0;
    for (int row = 0; row <= k; row++) length += f->G[row * wide + k] * f->G[row * wide + k];
    f->ridge[k] = k < p->axes ? 1 : length > 0 ? drift_ridge * drift_ridge * length : 1;
  }
  memset(f->X, 0, (size_t)f->N * (size_t)wide * sizeof *f->X);
  for (int k = 0; k < f->N; k++) f->X[k * wide + k] = sqrt(f->ridge[k]);
  psdmp_linalg_factor_add((int)wide, f->G, f->N, f->X, f->scratch);
}

static void stack(fitting *f) {
  const psdmp_payload *p = f->p;
  memset(f->G, 0, (size_t)(f->W + 1) * (size_t)(f->W + 1) * sizeof *f->G);
  for (int i = 0; i < p->run.n; i++)
    for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
      if (!(p->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b] > 0)) continue;
      spread(f, i, p->blocks.R[i * PSDMP_IDENTIFY_BLOCKS + b], f->X);
      psdmp_linalg_factor_add(f->W + 1, f->G, p->columns[i].width, f->X, f->scratch);
    }
  add_ridges(f);
}

/* ---- the load ---- */

/* u and c by back substitution, pi given */
static void fill_rest(fitting *f) {
  long wide = f->W + 1;
  memcpy(f->y + f->N, f->pi, sizeof f->pi);
  for (int row = f->N - 1; row >= 0; row--) {
    double sum = f->G[row * wide + f->W];
    for (int k = row + 1; k < f->W; k++) sum -= f->G[row * wide + k] * f->y[k];
    f->y[row] = sum / f->G[row * wide + row]; /* includes its ridge: not zero */
  }
}

/* the load alone, by least squares or, with a prior, as a physically possible body; gap: of the barrier */
static psdm_status solve(fitting *f, const double *prior, double *gap, psdm_error *error) {
  double K[100] = {0}, R[121], *factor = R, count = 0;
  int none = 0;
  for (int k = 0; k < 10; k++) K[11 * k] = 1;
  for (int row = 0; row < 11; row++)
    for (int k = 0; k < 11; k++) R[11 * row + k] = k < row ? 0 : f->G[(long)(f->N + row) * (f->W + 1) + f->N + k];
  for (int i = 0; i < f->p->run.n * PSDMP_IDENTIFY_BLOCKS; i++) count += f->p->blocks.count[i];
  const psdmp_fit_rows rows = {
      .n = 1, .base = 10, .standard = 10, .links = 1, .K = K, .extras = &none, .R = &factor, .count = &count};
  const psdmp_fit_options o = {.prior = prior, .lambda = pull};
  double theta[10], *scratch = psdmp_base_alloc(f->p->run.allocator, psdmp_fit_scratch(&rows) * sizeof *scratch);
  psdmp_fit fit = {.theta = theta, .pi = f->pi};
  if (!scratch) return psdmp_base_no_memory("", error);
  psdm_status status =
      prior ? psdmp_fit_consistent(&rows, &o, scratch, &fit) : psdmp_fit_linear(&rows, &o, scratch, &fit);
  psdmp_base_free(f->p->run.allocator, scratch);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  memcpy(f->pi, theta, sizeof theta);
  *gap = prior ? fit.gap : 0;
  fill_rest(f);
  return PSDM_OK;
}

/* sum of squares of drive i's residuals */
static double cost(const fitting *f, int i) {
  const psdmp_payload *p = f->p;
  const psdmp_payload_columns *c = &p->columns[i];
  double sum = 0;
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    if (!(p->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b] > 0)) continue;
    spread(f, i, p->blocks.R[i * PSDMP_IDENTIFY_BLOCKS + b], f->X);
    for (int row = 0; row < c->width; row++) {
      const double *x = f->X + (long)row * (f->W + 1);
      double e = -x[f->W];
      for (int k = 0; k < f->W; k++) e += x[k] * f->y[k];
      sum += e * e;
    }
  }
  return sum * p->sigma[i] * p->sigma[i] * together(p);
}

/* each drive is weighted by its own residual, at least 1e-9 of the torque */
static psdm_status reweight(fitting *f, psdm_error *error) {
  psdmp_payload *p = f->p;
  for (int round = 0; round < 4; round++) {
    double gap;
    stack(f);
    psdm_status status = solve(f, NULL, &gap, error);
    if (status || round == 3) return status;
    for (int i = 0; i < p->run.n; i++) {
      double rows = 0;
      for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) rows += p->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b];
      double free_rows = fmax(rows - p->columns[i].drifts - 10.0 / p->run.n, 1),
             floor = 1e-9 * sqrt(p->square[i] / fmax(rows, 1));
      if (rows > 0) p->sigma[i] = fmax(sqrt(cost(f, i) / free_rows), floor > 0 ? floor : 1e-9);
    }
  }
  return PSDM_OK;
}

/* ---- uncertainty ---- */

/* T: triangle of everything, with P (10 x 10), the Hessian of pull and barrier, or a tiny one, so that unexcited
 * directions have a huge uncertainty. Z = T^-1, and Z Z^T is the inverse of the whole Hessian: never formed, since
 * noise far below the calibration's uncertainty would leave no digits of it. */
static psdm_status set_triangle(fitting *f, const double P[100]) {
  int W = f->W;
  double root[100];
  memcpy(root, P, sizeof root);
  if (!psdmp_linalg_cholesky(10, root)) return PSDM_E_SINGULAR;
  for (int row = 0; row < W; row++) memcpy(f->T + (long)row * W, f->G + (long)row * (W + 1), (size_t)W * sizeof *f->T);
  memset(f->X, 0, 10 * (size_t)W * sizeof *f->X);
  for (int row = 0; row < 10; row++)
    for (int k = row; k < 10; k++) f->X[(long)row * W + f->N + k] = root[10 * k + row];
  psdmp_linalg_factor_add(W, f->T, 10, f->X, f->scratch);
  memcpy(f->Z, f->T, (size_t)W * (size_t)W * sizeof *f->Z);
  /* column-major it is the transpose, and remains so */
  return LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', W, f->Z, W) ? PSDM_E_SINGULAR : PSDM_OK;
}

/* block b in the coordinates T y: M = Z^T X^T X Z, whose eigenvalues are its share of the information, and the gradient
 * g = Z^T X^T (X y - r) */
static void block_of(fitting *f, int b) {
  const psdmp_payload *p = f->p;
  int W = f->W;
  memset(f->M, 0, (size_t)W * (size_t)W * sizeof *f->M);
  memset(f->g, 0, (size_t)W * sizeof *f->g);
  for (int i = 0; i < p->run.n; i++) {
    int rows = p->columns[i].width;
    if (!(p->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b] > 0)) continue;
    spread(f, i, p->blocks.R[i * PSDMP_IDENTIFY_BLOCKS + b], f->X);
    for (int row = 0; row < rows; row++)
      f->error[row] = cblas_ddot(W, f->X + (long)row * (W + 1), 1, f->y, 1) - f->X[(long)row * (W + 1) + W];
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, rows, W, 1, f->T, W, f->X, W + 1);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, W, rows, 1, f->X, W + 1, 1, f->M, W);
    for (int row = 0; row < rows; row++) cblas_daxpy(W, f->error[row], f->X + (long)row * (W + 1), 1, f->g, 1);
  }
}

/* V += (B - 1)/B sum of s_b s_b^T, s_b = (H - keep H_b)^-1 (g_b - mean): the jackknife over blocks, as in
 * psdmp_fit_sandwich */
static bool add_scatter(fitting *f) {
  const psdmp_payload *p = f->p;
  int W = f->W, blocks = 0;
  memset(f->mean, 0, (size_t)W * sizeof *f->mean);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    if (!has_rows(p, b)) continue;
    block_of(f, b);
    cblas_daxpy(W, 1, f->g, 1, f->mean, 1);
    blocks++;
  }
  double keep = 1 - 1 / (2.0 * blocks);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    if (!has_rows(p, b)) continue;
    block_of(f, b);
    cblas_daxpy(W, -1.0 / blocks, f->mean, 1, f->g, 1);
    for (int i = 0; i < W; i++)
      for (int k = 0; k <= i; k++) f->M[(long)i * W + k] = (i == k) - keep * f->M[(long)i * W + k];
    if (!psdmp_linalg_cholesky(W, f->M)) return false; /* eigenvalues are 1 - keep at least */
    psdmp_linalg_cholesky_solve(W, f->M, f->g);
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, W, f->T, W, f->g, 1);
    for (int a = 0; a < 10; a++)
      for (int c = 0; c < 10; c++) f->V[10 * a + c] += (blocks - 1.0) / blocks * f->g[f->N + a] * f->g[f->N + c];
  }
  return true;
}

/* V = scatter + C (Hessian of all but the data) C; share: of the pull to the compact body, or without one, of the tiny
 * Hessian, in an uncertainty without scatter. C: ten rows of Z Z^T. */
static psdm_status set_doubt(fitting *f, const double P[100], bool pulled) {
  int W = f->W, N = f->N;
  double held[100];
  psdm_status status = set_triangle(f, P);
  if (status) return status;
  for (int a = 0; a < 10; a++)
    for (int k = 0; k < W; k++) {
      int from = N + a > k ? N + a : k;
      f->C[(long)a * W + k] = cblas_ddot(W - from, f->Z + (long)(N + a) * W + from, 1, f->Z + (long)k * W + from, 1);
    }
  for (int a = 0; a < 10; a++)
    for (int c = 0; c < 10; c++) {
      const double *left = f->C + (long)a * W, *right = f->C + (long)c * W;
      double own = 0, others = 0;
      for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++) own += left[N + i] * P[10 * i + k] * right[N + k];
      for (int k = 0; k < N; k++) others += left[k] * f->ridge[k] * right[k];
      held[10 * a + c] = own;
      f->V[10 * a + c] = own + others;
    }
  if (!add_scatter(f)) return PSDM_E_SINGULAR;
  for (int k = 0; k < 10; k++) {
    double whole = pulled ? f->V[11 * k] : f->C[(long)k * W + N + k];
    f->share[k] = whole > 0 ? held[11 * k] / whole : 1;
  }
  return PSDM_OK;
}

/* 1e-10 of the rows' information on pi with all else free, and a minimum where they contain only rounding */
static void next_to_nothing(const fitting *f, double P[100]) {
  memset(P, 0, 100 * sizeof *P);
  for (int k = 0; k < 10; k++) {
    double length = 0, left = 0;
    for (int row = 0; row <= f->N + k; row++) {
      double own = f->G[(long)row * (f->W + 1) + f->N + k];
      length += own * own;
      if (row >= f->N) left += own * own;
    }
    P[11 * k] = length > 0 ? 1e-10 * left + 1e-26 * length : 1e-20;
  }
}

/* ---- the prior body ---- */

/* a ball at the centre of mass of the plain fit, whose uncertainty is known by now; unobservable coordinates stay at
 * the frame's origin, and an unobservable mass becomes a kilogram */
static void compact(const fitting *f, double prior[10]) {
  double mass = f->pi[0] > 2 * sqrt(f->V[0]) ? f->pi[0] : 1, com[3];
  double radius = cbrt(3 * mass / (4 * 3.14159265358979323846 * density)), own = 0.4 * mass * radius * radius;
  for (int k = 0; k < 3; k++)
    com[k] = sqrt(f->V[11 * (1 + k)]) < 0.2 * mass ? fmax(-1, fmin(1, f->pi[1 + k] / mass)) : 0;
  const psdm_load ball = {.mass = mass, .com = {com[0], com[1], com[2]}, .inertia = {own, 0, 0, own, 0, own}};
  psdm_load_to_standard(&ball, prior);
}

/* ---- the result ---- */

static void tell_unseen(psdmp_payload *p) {
  static const char *const names[10] = {"mass", "first moment x", "y", "z", "inertia xx", "xy", "xz", "yy", "yz", "zz"};
  char text[120] = "";
  int unseen = 0;
  for (int k = 0; k < 10; k++) {
    size_t length = strlen(text);
    if (p->answer.prior_share[k] > 0.5)
      snprintf(text + length, sizeof text - length, "%s%s", unseen++ ? ", " : "", names[k]);
  }
  if (unseen)
    psdmp_payload_remark(
        p, "the motion hardly shows %s: %s", text,
        p->options->unconstrained ? "no value is known there" : "these belong to the compact body, not to the log");
}

static void tell_impossible(psdmp_payload *p) {
  if (!psdmp_fit_pseudo_positive(p->answer.pi))
    psdmp_payload_remark(p, "no physical body has these numbers: %s",
                         p->answer.pi[0] > 0 ? "its inertia is impossible" : "its mass is not above zero");
}

static void tell_drift(psdmp_payload *p) {
  int worst = -1;
  double most = 0;
  for (int i = 0; i < p->run.n && p->drift; i++) {
    const double *c = p->drifted + PSDMP_PAYLOAD_DRIFTS * i;
    double speed = p->empty->speed ? p->empty->speed[i] : 1,
           size = (fabs(c[0]) + fabs(c[1]) + fabs(c[2]) * speed) / p->sigma[i];
    if (size > most) most = size, worst = i;
  }
  if (worst < 0) return;
  const double *c = p->drifted + PSDMP_PAYLOAD_DRIFTS * worst;
  psdmp_payload_remark(p,
                       "drift since the calibration, largest relative to its noise at drive %d: offset %.3g, Coulomb "
                       "%+.3g, viscous %+.3g",
                       worst + 1, c[0], c[1], c[2]);
}

static void set_answer(fitting *f) {
  psdmp_payload *p = f->p;
  psdm_payload_answer *a = &p->answer;
  memcpy(a->pi, f->pi, sizeof a->pi);
  memcpy(a->prior_share, f->share, sizeof a->prior_share);
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < 10; k++) a->covariance[10 * i + k] = 0.5 * (f->V[10 * i + k] + f->V[10 * k + i]);
  for (int k = 0; k < 10; k++) a->pi_sd[k] = sqrt(fmax(a->covariance[11 * k], 0));
  psdm_load_from_standard(a->pi, &a->load);
  psdmp_payload_load_doubt(&a->load, a->covariance, &a->mass_sd, a->com_sd, a->inertia_sd);
  memset(p->drifted, 0, PSDMP_PAYLOAD_DRIFTS * (size_t)p->run.n * sizeof *p->drifted);
  if (p->drift) memcpy(p->drifted, f->y + p->axes, PSDMP_PAYLOAD_DRIFTS * (size_t)p->run.n * sizeof *p->drifted);
}

static bool make(fitting *f, psdmp_base_arena *arena) {
  const psdmp_payload *p = f->p;
  int widest = 0;
  f->N = p->axes + (p->drift ? PSDMP_PAYLOAD_DRIFTS * p->run.n : 0), f->W = f->N + 10;
  for (int i = 0; i < p->run.n; i++) widest = p->columns[i].width > widest ? p->columns[i].width : widest;
  size_t W = (size_t)f->W, rows = (size_t)widest > W ? (size_t)widest : W;
#define PART(field, count) (f->field = psdmp_base_arena_alloc(arena, ((size_t)(count) + 1) * sizeof *f->field))
  return PART(G, (W + 1) * (W + 1)) && PART(X, rows * (W + 1)) &&
         PART(scratch, psdmp_linalg_factor_scratch(f->W + 1, (long)rows)) && PART(ridge, W) && PART(y, W) &&
         PART(T, W * W) && PART(Z, W * W) && PART(C, 10 * W) && PART(M, W * W) && PART(g, W) && PART(mean, W) &&
         PART(error, rows);
#undef PART
}

static psdm_status singular(psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_SINGULAR, "", 0, 0, "these rows do not determine the load and its uncertainty");
}

/* plain first: its uncertainty decides which of its numbers place the prior body */
static psdm_status fit(fitting *f, psdm_error *error) {
  double P[100], prior[10], gap;
  psdm_status status = reweight(f, error);
  if (status) return status;
  next_to_nothing(f, P);
  if (set_doubt(f, P, false)) return singular(error);
  if (f->p->options->unconstrained) return PSDM_OK;
  compact(f, prior);
  status = solve(f, prior, &gap, error);
  if (status) return status;
  psdmp_identify_pull_hessian(f->pi, P);
  for (int k = 0; k < 100; k++) P[k] *= pull + gap / 4; /* the barrier of one link has the gap 4 mu */
  return set_doubt(f, P, true) ? singular(error) : PSDM_OK;
}

psdm_status psdmp_payload_fit(psdmp_payload *p, psdm_error *error) {
  fitting f = {.p = p};
  psdmp_base_arena arena = {.allocator = p->run.allocator};
  int blocks = 0;
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) blocks += has_rows(p, b);
  if (!p->rows || blocks < 2)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "not enough rows are left to fit: the logs are too short, or joints hardly move in them");
  psdm_status status = make(&f, &arena) ? fit(&f, error) : psdmp_base_no_memory("", error);
  p->remarks = 0;
  memset(p->answer.remark, 0, sizeof p->answer.remark);
  if (!status) set_answer(&f), tell_unseen(p), tell_impossible(p), tell_drift(p);
  psdmp_base_arena_free(&arena);
  return status;
}
