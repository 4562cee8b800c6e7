/* motion.c: moves from rest to rest, sums of sines, and the polynomials between the rows of a table; all with their
 * derivatives. */
#include <math.h>
#include <string.h>

#include "motion/motion_priv.h"

enum { HIGHEST = 9 }; /* degree of a polynomial */

static psdm_status fail(psdm_error *error, psdm_status status, const char *text) {
  return psdmp_base_fail(error, status, "", 0, 0, "%s", text);
}

static bool all_finite(const double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* ---- memory ---- */

psdm_motion *psdmp_motion_new(int n, psdmp_motion_kind kind, const psdm_allocator *allocator) {
  psdmp_base_arena arena = {.allocator = allocator};
  psdm_motion *motion = psdmp_base_arena_alloc(&arena, sizeof *motion);
  if (motion) *motion = (psdm_motion){.arena = arena, .n = n, .kind = kind};
  return motion;
}

double *psdmp_motion_copy(psdm_motion *motion, const double *from, size_t count) {
  double *to = psdmp_base_arena_alloc_raw(&motion->arena, count * sizeof *to);
  if (to && count) memcpy(to, from, count * sizeof *to);
  return to;
}

void psdm_motion_free(psdm_motion *motion) {
  if (!motion) return;
  psdmp_base_arena arena = motion->arena; /* the motion is in its own arena */
  psdmp_base_arena_free(&arena);
}

/* returns a complete motion, or frees a partial one */
static psdm_status finish(psdm_motion *motion, bool whole, psdm_motion **out, psdm_error *error) {
  if (!whole) psdm_motion_free(motion);
  *out = whole ? motion : NULL;
  return whole ? PSDM_OK : psdmp_base_no_memory("", error);
}

/* ---- polynomials ---- */

/* factor^k times the k-th derivative at s of the sum of c[i] s^i, i <= degree, for k < orders, into x[0], x[stride],
 * ... */
static void differentiate(int degree, const double *c, double s, double factor, int orders, double *x, long stride) {
  double scale = 1;
  for (int k = 0; k < orders; k++, scale *= factor) {
    double sum = 0;
    for (int i = degree; i >= k; i--) {
      double falling = c[i];
      for (int j = 0; j < k; j++) falling *= i - j;
      sum = sum * s + falling;
    }
    x[k * stride] = scale * sum;
  }
}

/* ---- from rest to rest ---- */

/* the polynomial of degree 2m + 1 from 0 at s = 0 to 1 at s = 1 with m derivatives zero at both ends: s^(m+1) times
 * these. Its coefficients are (-1)^j binomial(m + j, j) binomial(2m + 1, m - j). */
static const double rest_to_rest[4][5] = {{3, -2}, {10, -15, 6}, {35, -84, 70, -20}, {126, -420, 540, -315, 70}};

/* expanded about the nearer end, where q and the derivatives that vanish are exact */
static void move_at(const psdm_motion *m, double t, int orders, double *x) {
  double length = m->end - m->begin, s = (t - m->begin) / length, c[HIGHEST + 1] = {0};
  bool late = s > 0.5;
  const double *near = late ? m->to : m->from, *far = late ? m->from : m->to;
  int half = m->degree / 2;
  double unit[PSDM_MOTION_ORDERS];
  memcpy(c + half + 1, rest_to_rest[half - 1], sizeof *c * (size_t)(half + 1));
  differentiate(m->degree, c, late ? (m->end - t) / length : s, late ? -1 / length : 1 / length, orders, unit, 1);
  for (int i = 0; i < m->n; i++) {
    x[i] = near[i] + (far[i] - near[i]) * unit[0];
    for (int k = 1; k < orders; k++) x[k * m->n + i] = (far[i] - near[i]) * unit[k];
  }
}

psdm_status psdm_motion_polynomial(int n, int degree, const double *from, const double *to, double start,
                                   double duration, const psdm_allocator *allocator, psdm_motion **out,
                                   psdm_error *error) {
  *out = NULL;
  if (n < 1) return fail(error, PSDM_E_ARGUMENT, "a motion has at least one joint");
  if (degree != 3 && degree != 5 && degree != 7 && degree != 9)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "degree %d; 3, 5, 7 or 9 was expected", degree);
  if (!isfinite(start) || !(duration > 0) || !isfinite(start + duration) || !(start + duration > start))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "from t = %g for %g s; a positive, finite duration was expected", start, duration);
  if (!all_finite(from, (size_t)n) || !all_finite(to, (size_t)n))
    return fail(error, PSDM_E_ARGUMENT, "the ends of a motion must be finite");
  psdm_motion *m = psdmp_motion_new(n, PSDMP_MOTION_MOVE, allocator);
  if (!m) return psdmp_base_no_memory("", error);
  m->degree = degree;
  m->begin = start;
  m->end = start + duration;
  m->from = psdmp_motion_copy(m, from, (size_t)n);
  m->to = psdmp_motion_copy(m, to, (size_t)n);
  return finish(m, m->from && m->to, out, error);
}

/* ---- sines and cosines ---- */

/* each derivative rotates (sine, cosine) by a quarter turn and multiplies by the frequency */
static void harmonics_at(const psdm_motion *m, double t, int orders, double *x) {
  for (int i = 0; i < m->n; i++) {
    for (int k = 0; k < orders; k++) x[k * m->n + i] = k ? 0 : m->centre[i];
    for (long e = (long)i * m->terms; e < (long)(i + 1) * m->terms; e++) {
      double w = m->frequency[e], S = sin(w * t), C = cos(w * t), s = m->sine[e], c = m->cosine[e];
      for (int k = 0; k < orders; k++) {
        x[k * m->n + i] += s * S + c * C;
        double turned = -w * c;
        c = w * s;
        s = turned;
      }
    }
  }
}

static psdm_status check_sum(int n, int terms, const double *centre, double duration, psdm_error *error) {
  if (n < 1 || terms < 0)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%d joints of %d terms; at least 1 and 0 were expected", n,
                           terms);
  if (!(duration > 0) || !isfinite(duration))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "duration %g s; a positive, finite number was expected",
                           duration);
  return all_finite(centre, (size_t)n) ? PSDM_OK
                                       : fail(error, PSDM_E_ARGUMENT, "the centre of a motion must be finite");
}

/* a sum whose sine and cosine are filled in later */
static psdm_motion *new_sum(int n, int terms, const double *centre, double duration, const psdm_allocator *allocator,
                            double *part[3]) {
  psdm_motion *m = psdmp_motion_new(n, PSDMP_MOTION_HARMONICS, allocator);
  if (!m) return NULL;
  size_t count = (size_t)n * (size_t)terms;
  m->terms = terms;
  m->end = duration;
  m->centre = psdmp_motion_copy(m, centre, (size_t)n);
  bool whole = m->centre;
  for (int k = 0; k < 3; k++) whole &= (part[k] = psdmp_base_arena_alloc(&m->arena, count * sizeof *part[k])) != NULL;
  m->frequency = part[0];
  m->sine = part[1];
  m->cosine = part[2];
  if (whole) return m;
  psdm_motion_free(m);
  return NULL;
}

psdm_status psdm_motion_sines(int n, int terms, const double *centre, const double *amplitude, const double *frequency,
                              const double *phase, double duration, const psdm_allocator *allocator, psdm_motion **out,
                              psdm_error *error) {
  *out = NULL;
  psdm_status status = check_sum(n, terms, centre, duration, error);
  if (status) return status;
  size_t count = (size_t)n * (size_t)terms;
  if (!all_finite(amplitude, count) || !all_finite(frequency, count) || !all_finite(phase, count))
    return fail(error, PSDM_E_ARGUMENT, "amplitudes, frequencies and phases must be finite");
  double *part[3];
  psdm_motion *m = new_sum(n, terms, centre, duration, allocator, part);
  for (size_t e = 0; m && e < count; e++) {
    part[0][e] = frequency[e];
    part[1][e] = amplitude[e] * cos(phase[e]);
    part[2][e] = amplitude[e] * sin(phase[e]);
  }
  return finish(m, m, out, error);
}

psdm_status psdm_motion_fourier(int n, int harmonics, double period, const double *centre, const double *a,
                                const double *b, double duration, const psdm_allocator *allocator, psdm_motion **out,
                                psdm_error *error) {
  *out = NULL;
  psdm_status status = check_sum(n, harmonics, centre, duration, error);
  if (status) return status;
  size_t count = (size_t)n * (size_t)harmonics;
  if (!(period > 0) || !isfinite(period))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "period %g s; a positive, finite number was expected",
                           period);
  if (!all_finite(a, count) || !all_finite(b, count))
    return fail(error, PSDM_E_ARGUMENT, "the coefficients of a motion must be finite");
  double *part[3];
  psdm_motion *m = new_sum(n, harmonics, centre, duration, allocator, part);
  for (size_t e = 0; m && e < count; e++) {
    double w = 6.283185307179586476925 / period * (double)(e % (size_t)harmonics + 1);
    part[0][e] = w;
    part[1][e] = a[e] / w;
    part[2][e] = -b[e] / w;
  }
  return finish(m, m, out, error);
}

/* ---- pieces between rows ---- */

/* coefficients in powers of s of the piece that has these values, slopes times h and curvatures times h^2 at s = 0
 * and s = 1 */
static int piece(int degree, const double near[3], const double far[3], double *c) {
  double rise = far[0] - near[0];
  c[0] = near[0];
  c[1] = near[1];
  if (degree == 3) {
    c[2] = 3 * rise - 2 * near[1] - far[1];
    c[3] = -2 * rise + near[1] + far[1];
  } else {
    c[2] = near[2] / 2;
    c[3] = 10 * rise - 6 * near[1] - 4 * far[1] - 1.5 * near[2] + 0.5 * far[2];
    c[4] = -15 * rise + 8 * near[1] + 7 * far[1] + 1.5 * near[2] - far[2];
    c[5] = 6 * rise - 3 * (near[1] + far[1]) - 0.5 * (near[2] - far[2]);
  }
  return degree;
}

/* expanded about the nearer row, where it has the table's values */
static void pieces_at(const psdm_motion *m, double t, int orders, double *x) {
  long row = psdmp_motion_row_at(m->rows, m->t, t);
  if (row == m->rows - 1 && row > 0) row--;
  double h = m->t[row + 1] - m->t[row], s = (t - m->t[row]) / h;
  long near = row, far = row + 1;
  if (s > 0.5) {
    s = (m->t[row + 1] - t) / h;
    h = -h;
    near = row + 1;
    far = row;
  }
  for (int i = 0; i < m->n; i++) {
    double ends[2][3] = {{0}}, c[HIGHEST + 1], power = 1;
    for (int k = 0; k < 3 && m->x[k]; k++, power *= h) {
      ends[0][k] = power * m->x[k][near * m->n + i];
      ends[1][k] = power * m->x[k][far * m->n + i];
    }
    differentiate(piece(m->degree, ends[0], ends[1], c), c, s, 1 / h, orders, x + i, m->n);
  }
}

/* ---- all of them ---- */

static void hold(const psdm_motion *m, bool last, int orders, double *x) {
  const double *at =
      m->kind == PSDMP_MOTION_MOVE ? (last ? m->to : m->from) : m->x[0] + (last ? (m->rows - 1) * m->n : 0);
  memcpy(x, at, sizeof *x * (size_t)m->n);
  for (long i = m->n; i < (long)orders * m->n; i++) x[i] = 0;
}

void psdm_motion_at(const psdm_motion *m, double t, int orders, double *x) {
  if (orders > PSDM_MOTION_ORDERS) orders = PSDM_MOTION_ORDERS;
  if (m->kind == PSDMP_MOTION_HARMONICS) harmonics_at(m, t, orders, x);
  else if (!(t >= m->begin) || t > m->end || m->begin == m->end) hold(m, t > m->end, orders, x);
  else if (m->kind == PSDMP_MOTION_MOVE) move_at(m, t, orders, x);
  else pieces_at(m, t, orders, x);
}

int psdm_motion_n(const psdm_motion *m) { return m->n; }
double psdm_motion_begin(const psdm_motion *m) { return m->begin; }
double psdm_motion_end(const psdm_motion *m) { return m->end; }
