/* wave.c: periodic motions as vectors of a search (Swevers et al. 1997), at rest at both ends by construction. */
#include <math.h>
#include <string.h>

#include "excite/inertia_priv.h"

static const double turn = 6.283185307179586476925;

bool psdmp_excite_wave_new(int n, int terms, int highest, double seconds, const psdmp_excite_limits *limits,
                           psdmp_base_arena *arena, psdmp_excite_wave *w) {
  long count = (long)n * terms;
  *w = (psdmp_excite_wave){
      .n = n, .terms = terms, .own = 2 * terms - 1, .highest = highest, .seconds = seconds, .limits = limits};
  w->harmonic = psdmp_base_arena_alloc(arena, (size_t)count * sizeof *w->harmonic);
  w->unit = psdmp_excite_numbers(arena, count);
  for (int s = 0; s < 2; s++) w->basis[s] = psdmp_excite_numbers(arena, count * (terms - 1));
  return w->harmonic && w->unit && w->basis[0] && w->basis[1];
}

/* largest coefficient of a single harmonic of this rate, as a velocity, within the limits of velocity, position and
 * acceleration */
static double unit(const psdmp_excite_limits *l, int i, double rate) {
  return fmin(l->velocity[i], fmin((l->upper[i] - l->lower[i]) / 2 * rate, l->acceleration[i] / rate));
}

/* basis (terms x (terms - 1)): all but the first column of the reflection that takes the first axis to v */
static void complement(int terms, const double *v, double *basis) {
  double length = 0, corner, square = 0;
  for (int k = 0; k < terms; k++) length = hypot(length, v[k]);
  corner = v[0] + copysign(length, v[0]);
  for (int k = 0; k < terms; k++) square += k ? v[k] * v[k] : corner * corner;
  for (int k = 0; k < terms; k++)
    for (int j = 1; j < terms; j++) basis[k * (terms - 1) + j - 1] = (k == j) - 2 * (k ? v[k] : corner) * v[j] / square;
}

void psdmp_excite_wave_set(psdmp_excite_wave *w) {
  int N = w->terms;
  for (int i = 0; i < w->n; i++)
    for (int s = 0; s < 2; s++) {
      double *basis = w->basis[s] + (long)i * N * (N - 1), *u = w->unit + (long)i * N, ends[PSDMP_EXCITE_MOST_TERMS];
      const int *k = w->harmonic + (long)i * N;
      /* velocity at the ends: sum of a; acceleration: sum of k b */
      for (int j = 0; j < N; j++) {
        u[j] = unit(w->limits, i, turn / w->seconds * k[j]);
        ends[j] = s ? k[j] * u[j] : u[j];
      }
      complement(N, ends, basis);
      for (int j = 0; j < N; j++)
        for (int c = 0; c < N - 1; c++) basis[j * (N - 1) + c] *= u[j];
    }
}

void psdmp_excite_wave_copy(const psdmp_excite_wave *from, psdmp_excite_wave *to) {
  memcpy(to->harmonic, from->harmonic, (size_t)(from->n * from->terms) * sizeof *to->harmonic);
  psdmp_excite_wave_set(to);
}

/* ---- motions ---- */

long psdmp_excite_wave_scratch(const psdmp_excite_wave *w) { return w->n * (1 + 3L * w->terms); }

/* a and b of all joints */
static void coefficients(const psdmp_excite_wave *w, const double *x, double *a, double *b) {
  int N = w->terms;
  for (int i = 0; i < w->n; i++)
    for (int k = 0; k < N; k++) {
      const double *rest = x + (long)i * w->own + 1;
      long at = (long)i * N + k;
      a[at] = b[at] = 0;
      for (int j = 0; j < N - 1; j++)
        a[at] += w->basis[0][at * (N - 1) + j] * rest[j], b[at] += w->basis[1][at * (N - 1) + j] * rest[N - 1 + j];
    }
}

psdm_status psdmp_excite_wave_motion(const psdmp_excite_wave *w, bool sines, const double *x, double *scratch,
                                     const psdm_allocator *allocator, psdm_motion **motion, psdm_error *error) {
  long count = (long)w->n * w->terms;
  double *centre = scratch, *a = centre + w->n, *b = a + count, *rate = b + count;
  for (int i = 0; i < w->n; i++)
    centre[i] = (w->limits->upper[i] + w->limits->lower[i]) / 2 +
                (w->limits->upper[i] - w->limits->lower[i]) / 2 * x[(long)i * w->own];
  coefficients(w, x, a, b);
  if (!sines)
    return psdm_motion_fourier(w->n, w->terms, w->seconds, centre, a, b, w->seconds, allocator, motion, error);
  for (long k = 0; k < count; k++) {
    double size = hypot(a[k], b[k]), phase = atan2(-b[k], a[k]);
    rate[k] = turn / w->seconds * w->harmonic[k];
    a[k] = size / rate[k];
    b[k] = phase;
  }
  return psdm_motion_sines(w->n, w->terms, centre, a, rate, b, w->seconds, allocator, motion, error);
}

/* ---- samples ---- */

bool psdmp_excite_grid_new(const psdmp_excite_wave *w, int points, psdmp_base_arena *arena, psdmp_excite_grid *g) {
  *g = (psdmp_excite_grid){.points = points, .reach = 1 / cos(turn / 2 * w->highest / points)};
  g->turn = psdmp_excite_numbers(arena, 2L * points);
  g->table = psdmp_excite_numbers(arena, 3L * w->n * points * w->own);
  g->state = psdmp_excite_numbers(arena, 3L * w->n * points);
  for (int p = 0; g->turn && p < points; p++)
    g->turn[2 * p] = sin(turn * p / points), g->turn[2 * p + 1] = cos(turn * p / points);
  return g->turn && g->table && g->state;
}

/* one sample of one joint: rows of q, qd, qdd by centre, by a's coordinates, by b's */
static void table_at(const psdmp_excite_wave *w, const psdmp_excite_grid *g, int i, int point, double *q) {
  int N = w->terms, own = w->own;
  double *qd = q + own, *qdd = qd + own;
  memset(q, 0, 3 * (size_t)own * sizeof *q);
  q[0] = (w->limits->upper[i] - w->limits->lower[i]) / 2;
  for (int k = 0; k < N; k++) {
    int harmonic = w->harmonic[(long)i * N + k];
    const double *at = g->turn + 2 * ((long)harmonic * point % g->points), S = at[0], C = at[1],
                 rate = turn / w->seconds * harmonic;
    const double *a = w->basis[0] + ((long)i * N + k) * (N - 1), *b = w->basis[1] + ((long)i * N + k) * (N - 1);
    for (int j = 0; j < N - 1; j++) {
      q[1 + j] += a[j] / rate * S, qd[1 + j] += a[j] * C, qdd[1 + j] -= a[j] * rate * S;
      q[N + j] -= b[j] / rate * C, qd[N + j] += b[j] * S, qdd[N + j] += b[j] * rate * C;
    }
  }
}

void psdmp_excite_grid_set(const psdmp_excite_wave *w, psdmp_excite_grid *g) {
  for (int i = 0; i < w->n; i++)
    for (int p = 0; p < g->points; p++) table_at(w, g, i, p, g->table + ((long)i * g->points + p) * 3 * w->own);
}

void psdmp_excite_grid_at(const psdmp_excite_wave *w, psdmp_excite_grid *g, const double *x) {
  int n = w->n, own = w->own;
  for (int i = 0; i < n; i++) {
    const double *own_x = x + (long)i * own, middle = (w->limits->upper[i] + w->limits->lower[i]) / 2;
    for (int p = 0; p < g->points; p++) {
      const double *row = g->table + ((long)i * g->points + p) * 3 * own;
      double *state = g->state + (long)p * 3 * n + i;
      for (int d = 0; d < 3; d++, row += own) {
        double sum = d ? 0 : middle;
        for (int j = 0; j < own; j++) sum += row[j] * own_x[j];
        state[(long)d * n] = sum;
      }
    }
  }
}

void psdmp_excite_grid_pull(const psdmp_excite_wave *w, const psdmp_excite_grid *g, const double *by_state,
                            double *by_x) {
  int n = w->n, own = w->own;
  memset(by_x, 0, (size_t)n * (size_t)own * sizeof *by_x);
  for (int i = 0; i < n; i++)
    for (int p = 0; p < g->points; p++) {
      const double *row = g->table + ((long)i * g->points + p) * 3 * own, *by = by_state + (long)p * 3 * n + i;
      for (int d = 0; d < 3; d++, row += own)
        for (int j = 0; j < own; j++) by_x[(long)i * own + j] += by[(long)d * n] * row[j];
    }
}
