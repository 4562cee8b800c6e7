/* test_fit_twin.h: small problems with a prior, and a plain twin of Newton's step: dense, in long double, from sums
 * over the rows. Part of one program at a time. */
#ifndef TEST_FIT_TWIN_H
#define TEST_FIT_TWIN_H

#include "fit/fit_priv.h"
#include "test_fit_problem.h"

enum { MOST = 32 };

typedef long double number;

/* shapes: several links and drives, none of either, no own columns, no shared ones, scalars only */
typedef struct shape {
  int n, base, links, drives, extras[3];
} shape;

static const shape shapes[] = {{3, 5, 2, 2, {2, 0, 1}}, {1, 2, 1, 0, {1}},    {2, 3, 0, 3, {1, 2}},
                               {2, 0, 1, 1, {1, 2}},    {2, 4, 2, 0, {0, 0}}, {2, 3, 1, 2, {0, 3}},
                               {1, 2, 0, 0, {2}},       {1, 2, 0, 1, {1}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct held {
  problem p;
  double prior[STANDARD_MOST], sigma[JOINTS_MOST];
  bool flags[JOINTS_MOST][3];
  const bool *nonnegative[JOINTS_MOST];
  psdmp_fit_options options;
} held;

/* random rows and bodies; every other own column and all drives must not be negative, a joint may be without a list */
static inline void held_new(held *h, rng *g, const shape *s, long each) {
  int standard = 10 * s->links + s->drives;
  memset(h, 0, sizeof *h);
  problem_new(&h->p, s->n, s->base, standard, s->links, s->extras, each);
  for (int i = 0; i < s->base * standard; i++) h->p.K[i] = i % 4 == 3 ? 0 : rng_uniform(g, -1, 1);
  for (int j = 0; j < s->n; j++) {
    int w = width_of(&h->p, j);
    for (long i = 0; i < each * w; i++) h->p.X[j][i] = rng_normal(g) * (1 + 0.3 * (double)(i % w)) + 0.2;
    h->p.count[j] = (double)each + 3 * j + 0.5;
    h->sigma[j] = 0.5 + 0.75 * j;
    for (int k = 0; k < 3; k++) h->flags[j][k] = (j + k) % 2 == 0;
    h->nonnegative[j] = j == 1 && s->extras[1] < 3 ? NULL : h->flags[j];
  }
  compress(&h->p, 0, each, h->p.R);
  for (int k = 0; k < s->links; k++) random_body(g, 3, 0.4, h->prior + 10 * k);
  for (int d = 10 * s->links; d < standard; d++) h->prior[d] = rng_uniform(g, 0.1, 0.4);
  for (int i = standard; i < STANDARD_MOST; i++) h->prior[i] = NAN;
  h->options = (psdmp_fit_options){.sigma = h->sigma,
                                   .prior = h->prior,
                                   .lambda = 0.7,
                                   .ridge = 0.01,
                                   .nonnegative = h->nonnegative,
                                   .drives_nonnegative = true};
}

typedef struct twin {
  const held *h;
  int own, W, M, links, positives;
  number N[MOST][MOST]; /* sums of squares of phi pi tau, divided by sigma */
  double length[MOST], ridge[MOST], centre[MOST];
  bool sign[MOST];
  double lambda, mu;
  /* at x */
  number map[MOST][MOST]; /* phi pi from the coordinates */
  number root[MOST];      /* of the Hessian of the part without data */
  number H[MOST][MOST], gradient[MOST], z[MOST], step[MOST], decrement;
} twin;

/* whether unknown i is a scalar of its own */
static inline bool alone(const twin *w, int i) { return i < w->own || i >= w->own + 10 * w->links; }

static inline void twin_sums(twin *w) {
  const problem *p = &w->h->p;
  int S = p->rows.standard, base = p->rows.base;
  for (int j = 0, first = 0; j < p->rows.n; first += p->extras[j++])
    for (long i = 0; i < p->each; i++) {
      int wide = width_of(p, j);
      const double *row = p->X[j] + i * wide;
      number a[MOST] = {0};
      for (int k = 0; k < p->extras[j]; k++) a[first + k] = row[base + k];
      for (int s = 0; s < S; s++)
        for (int b = 0; b < base; b++) a[w->own + s] += (number)row[b] * p->K[b * S + s];
      a[w->M] = row[wide - 1];
      for (int r = 0; r <= w->M; r++)
        for (int c = 0; c <= w->M; c++) w->N[r][c] += a[r] * a[c] / ((number)w->h->sigma[j] * w->h->sigma[j]);
    }
}

static inline void twin_new(twin *w, const held *h) {
  const psdmp_fit_options *o = &h->options;
  *w = (twin){.h = h,
              .own = h->p.own,
              .W = h->p.own + h->p.rows.base,
              .M = h->p.own + h->p.rows.standard,
              .links = h->p.rows.links,
              .lambda = o->lambda};
  twin_sums(w);
  for (int j = 0, at = 0; j < h->p.rows.n; j++)
    for (int k = 0; k < h->p.extras[j]; k++, at++)
      w->sign[at] = o->nonnegative && o->nonnegative[j] && o->nonnegative[j][k];
  for (int i = 0; i < w->M; i++) {
    w->length[i] = sqrt((double)w->N[i][i]);
    if (!alone(w, i)) continue;
    if (i >= w->own) w->sign[i] = o->drives_nonnegative, w->centre[i] = o->prior[i - w->own];
    w->ridge[i] = w->length[i] > 0 ? (o->ridge > 0 ? o->ridge : 1e-6) * w->length[i] : 1;
    w->positives += w->sign[i];
  }
}

/* L of a symmetric 4 x 4 */
static inline bool lower(const double pi[10], number L[4][4]) {
  double P[16];
  psdmp_fit_pseudo_inertia(pi, P);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      number sum = P[4 * i + j];
      for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (i == j && !(sum > 0)) return false;
      L[i][j] = j > i ? 0 : i == j ? sqrtl(sum) : sum / L[j][j];
    }
  return true;
}

/* parameters of a symmetric 4 x 4, times 1 */
static inline void parameters_of(number P[4][4], number pi[10]) {
  const number of[10] = {P[3][3],  P[0][3],  P[1][3],           P[2][3],  P[1][1] + P[2][2],
                         -P[0][1], -P[0][2], P[0][0] + P[2][2], -P[1][2], P[0][0] + P[1][1]};
  for (int i = 0; i < 10; i++) pi[i] = of[i];
}

static const int pair[10][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* the a-th of ten orthonormal symmetric matrices */
static inline void unit_of(int a, number S[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      bool here = (i == pair[a][0] && j == pair[a][1]) || (j == pair[a][0] && i == pair[a][1]);
      S[i][j] = !here ? 0 : i == j ? 1 : 1 / sqrtl(2);
    }
}

static inline void inverse4(const double pi[10], number inverse[4][4]) {
  number L[4][4];
  assert_true(lower(pi, L));
  for (int c = 0; c < 4; c++) {
    number x[4] = {c == 0, c == 1, c == 2, c == 3};
    for (int i = 0; i < 4; i++) {
      for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    for (int i = 3; i >= 0; i--) {
      for (int k = i + 1; k < 4; k++) x[i] -= L[k][i] * x[k];
      x[i] /= L[i][i];
    }
    for (int i = 0; i < 4; i++) inverse[i][c] = x[i];
  }
}

/* a link's columns of map, and how D(P | P0) changes along each */
static inline void twin_link(twin *w, const double *x, int k, number tilt[10]) {
  int at = w->own + 10 * k;
  number L[4][4], inverse[4][4];
  assert_true(lower(x + at, L));
  inverse4(w->h->prior + 10 * k, inverse);
  for (int a = 0; a < 10; a++) {
    number S[4][4], P[4][4] = {{0}}, pi[10];
    unit_of(a, S);
    tilt[a] = 0;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        for (int e = 0; e < 4; e++)
          for (int f = 0; f < 4; f++) P[i][j] += L[i][e] * S[e][f] * L[j][f];
        tilt[a] += inverse[i][j] * P[i][j];
      }
    parameters_of(P, pi);
    for (int i = 0; i < 10; i++) w->map[at + i][at + a] = pi[i];
  }
}

/* x <- A^-1 x by elimination; A is overwritten, M numbers, A positive definite */
static inline void eliminate(int M, number A[MOST][MOST], number *x) {
  for (int c = 0; c < M; c++)
    for (int i = c + 1; i < M; i++) {
      number factor = A[i][c] / A[c][c];
      for (int k = c; k < M; k++) A[i][k] -= factor * A[c][k];
      x[i] -= factor * x[c];
    }
  for (int i = M - 1; i >= 0; i--) {
    for (int k = i + 1; k < M; k++) x[i] -= A[i][k] * x[k];
    x[i] /= A[i][i];
  }
}

/* H, gradient, step and decrement at x; barriers: those of scalars too */
static inline void twin_newton(twin *w, const double *x, bool barriers) {
  int M = w->M;
  static number NM[MOST][MOST], A[MOST][MOST];
  number weight = (number)w->lambda + w->mu, left[MOST];
  memset(w->map, 0, sizeof w->map);
  for (int i = 0; i < M; i++) {
    if (!alone(w, i)) continue;
    number barrier = barriers && w->sign[i] ? (number)w->mu / x[i] : 0;
    w->map[i][i] = 1;
    w->gradient[i] = (number)w->ridge[i] * w->ridge[i] * (x[i] - (number)w->centre[i]) - barrier;
    w->root[i] = sqrtl((number)w->ridge[i] * w->ridge[i] + (w->mu > 0 ? barrier * barrier / w->mu : 0));
  }
  for (int k = 0; k < w->links; k++) {
    number tilt[10];
    twin_link(w, x, k, tilt);
    for (int a = 0; a < 10; a++)
      w->gradient[w->own + 10 * k + a] = w->lambda * tilt[a] - (a < 4 ? weight : 0),
                                    w->root[w->own + 10 * k + a] = sqrtl(weight);
  }
  for (int i = 0; i < M; i++) {
    left[i] = -w->N[i][M];
    for (int k = 0; k < M; k++) left[i] += w->N[i][k] * x[k];
    for (int a = 0; a < M; a++) {
      NM[i][a] = 0;
      for (int k = 0; k < M; k++) NM[i][a] += w->N[i][k] * w->map[k][a];
    }
  }
  for (int a = 0; a < M; a++) {
    for (int i = 0; i < M; i++) w->gradient[a] += w->map[i][a] * left[i];
    for (int b = 0; b < M; b++) {
      w->H[a][b] = a == b ? w->root[a] * w->root[a] : 0;
      for (int i = 0; i < M; i++) w->H[a][b] += w->map[i][a] * NM[i][b];
    }
  }
  memcpy(A, w->H, sizeof A);
  w->decrement = 0;
  for (int a = 0; a < M; a++) w->z[a] = -w->gradient[a];
  eliminate(M, A, w->z);
  for (int a = 0; a < M; a++) w->decrement -= w->z[a] * w->gradient[a];
  for (int i = 0; i < M; i++) {
    w->step[i] = 0;
    for (int a = 0; a < M; a++) w->step[i] += w->map[i][a] * w->z[a];
  }
}

/* C = J H^-1 J^T in the order phi theta, J takes the coordinates there; inner (nullable): V = J H^-1 D^2 H^-1 J^T, D
 * the roots of the part without data */
static inline void twin_doubt(const twin *w, number C[MOST][MOST], number V[MOST][MOST]) {
  static number J[MOST][MOST], U[MOST][MOST], A[MOST][MOST];
  const psdmp_fit_rows *r = &w->h->p.rows;
  for (int i = 0; i < w->W; i++)
    for (int a = 0; a < w->M; a++) {
      J[i][a] = i < w->own ? i == a : 0;
      for (int s = 0; s < r->standard && i >= w->own; s++)
        J[i][a] += r->K[(i - w->own) * r->standard + s] * w->map[w->own + s][a];
      U[i][a] = J[i][a];
    }
  for (int i = 0; i < w->W; i++) {
    memcpy(A, w->H, sizeof A);
    eliminate(w->M, A, U[i]);
  }
  for (int i = 0; i < w->W; i++)
    for (int k = 0; k < w->W; k++) {
      C[i][k] = V[i][k] = 0;
      for (int a = 0; a < w->M; a++)
        C[i][k] += J[i][a] * U[k][a], V[i][k] += U[i][a] * w->root[a] * w->root[a] * U[k][a];
    }
}

static inline void expect(double is, number should, number scale, const char *what, int i, int k) {
  if (!(fabsl(is - should) <= 1e-11L * scale)) fail_msg("%s %d %d: %.17g, %.17Lg was expected", what, i, k, is, should);
}

#endif
