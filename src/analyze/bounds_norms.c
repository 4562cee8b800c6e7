/* bounds_norms.c: norms of M, S and g at one position. */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "analyze/bounds_priv.h"

static const double pi = 3.14159265358979324;

bool psdmp_analyze_norms_make(psdmp_base_arena *arena, const psdm_robot *robot, psdmp_analyze_norms *s) {
  int n = psdm_robot_n(robot);
  *s = (psdmp_analyze_norms){.robot = robot, .n = n, .words = 40 * n + 40, .net_factor = 1};
  void *work = psdmp_base_arena_alloc(arena, psdm_work_bytes(robot)),
       *linear = psdmp_base_arena_alloc(arena, psdm_linear_bytes(robot));
  s->M = PSDMP_BASE_NEW(arena, n * n, double), s->copy = PSDMP_BASE_NEW(arena, n * n, double);
  s->eigen = PSDMP_BASE_NEW(arena, n, double), s->lapack = PSDMP_BASE_NEW(arena, s->words, double);
  s->S = PSDMP_BASE_NEW(arena, (long)n * n * n, double), s->gram = PSDMP_BASE_NEW(arena, 6 * n * n, double);
  s->zero = PSDMP_BASE_NEW(arena, n, double), s->unit = PSDMP_BASE_NEW(arena, n, double),
  s->g = PSDMP_BASE_NEW(arena, n, double);
  for (int k = 0; k < 3; k++) s->vector[k] = PSDMP_BASE_NEW(arena, n, double);
  if (!work || !linear || !s->M || !s->copy || !s->eigen || !s->lapack || !s->S || !s->gram || !s->zero || !s->unit ||
      !s->g || !s->vector[0] || !s->vector[1] || !s->vector[2])
    return false;
  s->status = psdm_work_init(robot, work, psdm_work_bytes(robot), &s->work);
  if (!s->status) s->status = psdm_linear_init(robot, linear, psdm_linear_bytes(robot), &s->linear);
  return true;
}

static void note(psdmp_analyze_norms *s, psdm_status status) {
  if (!s->status) s->status = status;
}

const double *psdmp_analyze_norms_eigen(psdmp_analyze_norms *s, double *matrix) {
  if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'U', s->n, matrix, s->n, s->eigen, s->lapack, s->words))
    note(s, PSDM_E_SINGULAR);
  return s->eigen;
}

void psdmp_analyze_norms_mass(psdmp_analyze_norms *s, const double *q) {
  note(s, psdm_mass(s->robot, s->work, q, s->M));
}

static double length(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

double psdmp_analyze_norms_gravity(psdmp_analyze_norms *s, const double *q) {
  note(s, psdm_gravity(s->robot, s->work, q, s->g));
  return length(s->n, s->g);
}

/* ---- S(q, qd) = sum over k of S_k qd_k ---- */

/* c is quadratic in qd with symmetric Christoffel symbols: dc/dqd at a unit qd is 2 S_k */
void psdmp_analyze_norms_coriolis(psdmp_analyze_norms *s, const double *q) {
  long square = (long)s->n * s->n;
  for (int k = 0; k < s->n; k++) {
    s->unit[k] = 1;
    note(s, psdm_linearize_inverse(s->robot, s->linear, q, s->unit, s->zero, NULL, s->S + k * square, NULL));
    s->unit[k] = 0;
  }
  for (long x = 0; x < square * s->n; x++) s->S[x] /= 2;
}

/* the square root of S^T S's largest eigenvalue; dc/dqd is 2 S(q, qd) at any qd */
double psdmp_analyze_norms_coriolis_at(psdmp_analyze_norms *s, const double *q, const double *qd) {
  int n = s->n;
  note(s, psdm_linearize_inverse(s->robot, s->linear, q, qd, s->zero, NULL, s->S, NULL));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += s->S[k * n + i] * s->S[k * n + j];
      s->copy[i * n + j] = sum;
    }
  return sqrt(fmax(psdmp_analyze_norms_eigen(s, s->copy)[n - 1], 0)) / 2;
}

/* out = the trilinear form sum c_ijk u_i v_j w_k without its factor u, v or w */
static double contract(const psdmp_analyze_norms *s, int without, const double *u, const double *v, const double *w,
                       double *out) {
  int n = s->n;
  memset(out, 0, sizeof *out * (size_t)n);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double c = s->S[((long)k * n + i) * n + j];
        out[without == 0   ? i
            : without == 1 ? j
                           : k] += c * (without == 0   ? v[j] * w[k]
                                        : without == 1 ? u[i] * w[k]
                                                       : u[i] * v[j]);
      }
  double size = length(n, out);
  for (int i = 0; i < n && size > 0; i++) out[i] /= size;
  return size;
}

/* alternately the best u, v, w given the two others: the higher-order power method (De Lathauwer, De Moor, Vandewalle
 * 2000) */
double psdmp_analyze_norms_coriolis_found(psdmp_analyze_norms *s, double *qd) {
  int n = s->n;
  double best = 0;
  for (int start = 0; start < n; start++) {
    double **x = s->vector, size = 0, before;
    for (int i = 0; i < n; i++) {
      x[0][i] = i == start;
      x[1][i] = 1 / sqrt(n);
      x[2][i] = (i == start ? 1 : 0.3) / sqrt(1 + 0.09 * (n - 1));
    }
    int round = 0;
    do {
      before = size;
      for (int k = 0; k < 3; k++) size = contract(s, k, x[0], x[1], x[2], x[k]);
    } while (++round < 60 && size > before * (1 + 1e-9));
    if (!(size > best)) continue;
    best = size;
    for (int i = 0; i < n && qd; i++) qd[i] = fabs(x[2][i]) < 1e-12 ? 0 : x[2][i];
  }
  return best;
}

static double frobenius(int count, const double *x) { return length(count, x); }

/* gram[kl] = S_k^T S_l + S_l^T S_k (half of it on the diagonal) of chosen joints, so that |S(v)|^2 = the largest
 * eigenvalue of sum v_k v_l gram */
static void make_gram(psdmp_analyze_norms *s) {
  int n = s->n, at = 0;
  for (int a = 0; a < s->choices; a++)
    for (int b = a; b < s->choices; b++, at++) {
      const double *A = s->S + (long)s->chosen[a] * n * n, *B = s->S + (long)s->chosen[b] * n * n;
      double *out = s->gram + (long)at * n * n;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int k = 0; k < n; k++) sum += A[k * n + i] * B[k * n + j] + (a == b ? 0 : B[k * n + i] * A[k * n + j]);
          out[i * n + j] = sum;
        }
    }
}

/* the largest ||S(v)||^2 on the net; matrices with a smaller Frobenius norm need no eigenvalues */
static double largest_on_net(psdmp_analyze_norms *s) {
  int n = s->n, square = n * n;
  double best = 0;
  make_gram(s);
  for (int p = 0; p < s->points; p++) {
    const double *v = &s->net[3 * p];
    int at = 0;
    memset(s->copy, 0, sizeof *s->copy * (size_t)square);
    for (int a = 0; a < s->choices; a++)
      for (int b = a; b < s->choices; b++, at++) {
        double share = v[a] * v[b];
        for (int x = 0; x < square; x++) s->copy[x] += share * s->gram[(long)at * square + x];
      }
    if (frobenius(square, s->copy) > best) best = fmax(best, psdmp_analyze_norms_eigen(s, s->copy)[n - 1]);
  }
  return best;
}

/* some joints together: ||sum v_k S_k||^2 <= the largest eigenvalue of sum S_k^T S_k */
static double largest_as_whole(psdmp_analyze_norms *s, bool chosen_ones) {
  int n = s->n;
  bool any = false;
  memset(s->copy, 0, sizeof *s->copy * (size_t)n * (size_t)n);
  for (int k = 0; k < n; k++) {
    bool chosen = false;
    for (int c = 0; c < s->choices; c++) chosen = chosen || s->chosen[c] == k;
    if (chosen != chosen_ones) continue;
    const double *A = s->S + (long)k * n * n;
    any = true;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int x = 0; x < n; x++) s->copy[i * n + j] += A[x * n + i] * A[x * n + j];
  }
  return any ? fmax(psdmp_analyze_norms_eigen(s, s->copy)[n - 1], 0) : 0;
}

/* |S(v)| <= |v_chosen| N_chosen + |v_rest| N_rest <= sqrt(N_chosen^2 + N_rest^2) */
double psdmp_analyze_norms_coriolis_bound(psdmp_analyze_norms *s, double enough) {
  double factor = s->net_factor * s->net_factor, rest = largest_as_whole(s, false),
         whole = sqrt(factor * largest_as_whole(s, true) + rest);
  if (whole <= enough) return whole;
  return fmin(whole, sqrt(factor * largest_on_net(s) + rest));
}

/* ---- the net: S(-v) = -S(v), so half of the sphere suffices ---- */

/* n = 2: half a circle */
static bool half_circle(psdmp_base_arena *arena, psdmp_analyze_norms *s) {
  s->points = 60;
  s->net = PSDMP_BASE_NEW(arena, 3 * s->points, double);
  for (int p = 0; p < s->points && s->net; p++) {
    s->net[3 * p] = cos(pi * p / s->points);
    s->net[3 * p + 1] = sin(pi * p / s->points);
  }
  s->net_factor = 1 / cos(pi / (2 * s->points));
  return s->net != NULL;
}

static int on_ring(double angle, double step) {
  int count = (int)ceil(2 * pi * sin(angle) / step);
  return count > 1 ? count : 1;
}

/* rings of latitude. The cosine between (t, f) and the nearest (t', f') is cos(t - t') - sin t sin t' (1 - cos(f -
 * f')) */
static bool half_sphere(psdmp_base_arena *arena, psdmp_analyze_norms *s, int rings) {
  double step = pi / 2 / rings, least = 1;
  s->points = 0;
  for (int r = 0; r <= rings; r++) s->points += on_ring(r * step, step);
  s->net = PSDMP_BASE_NEW(arena, 3 * s->points, double);
  if (!s->net) return false;
  double *at = s->net;
  for (int r = 0; r <= rings; r++) {
    double t = r * step;
    int count = on_ring(t, step);
    for (int p = 0; p < count; p++, at += 3) {
      at[0] = sin(t) * cos(2 * pi * p / count);
      at[1] = sin(t) * sin(2 * pi * p / count);
      at[2] = cos(t);
    }
    least = fmin(least, cos(step / 2) - sin(fmin(t + step / 2, pi / 2)) * sin(t) * (1 - cos(pi / count)));
  }
  s->net_factor = 1 / least;
  return true;
}

bool psdmp_analyze_norms_net(psdmp_base_arena *arena, psdmp_analyze_norms *s, const double *largest) {
  int n = s->n;
  /* the joints with the largest S_k */
  s->choices = 0;
  while (s->choices < 3 && s->choices < n) {
    int best = -1;
    for (int k = 0; k < n; k++) {
      bool taken = false;
      for (int c = 0; c < s->choices; c++) taken = taken || s->chosen[c] == k;
      if (!taken && (best < 0 || largest[k] > largest[best])) best = k;
    }
    s->chosen[s->choices++] = best;
  }
  if (s->choices == 2) return half_circle(arena, s);
  if (s->choices == 3) return half_sphere(arena, s, n == 3 ? 14 : 8);
  s->points = 1;
  s->net = PSDMP_BASE_NEW(arena, 3, double);
  if (s->net) s->net[0] = 1;
  return s->net != NULL;
}
