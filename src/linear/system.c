/* system.c: linear systems: exact sampling by the matrix exponential, modes, stability, reachability, LQR gains. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"
#include "psdm/statespace.h"

static const char *const stabilities[] = {PSDM_STABILITY_LIST(PSDMP_BASE_LIST_WORD)};
static const char *const outcomes[] = {PSDM_LQR_LIST(PSDMP_BASE_LIST_WORD)};

/* psdmp_linalg_riccati has the same list */
_Static_assert((int)PSDM_LQR_WEIGHT == PSDMP_LINALG_RICCATI_WEIGHT &&
                   (int)PSDM_LQR_UNREACHABLE == PSDMP_LINALG_RICCATI_UNREACHABLE &&
                   (int)PSDM_LQR_BOUNDARY == PSDMP_LINALG_RICCATI_BOUNDARY &&
                   (int)PSDM_LQR_FAILED == PSDMP_LINALG_RICCATI_FAILED &&
                   (int)PSDM_LQR_LACKING == PSDMP_LINALG_RICCATI_LACKING,
               "outcomes of LQR and of Riccati's equation");

const char *psdm_stability_text(psdm_stability s) { return psdmp_base_word(stabilities, PSDM_STABILITY_COUNT, (int)s); }

const char *psdm_lqr_text(psdm_lqr_outcome o) { return psdmp_base_word(outcomes, PSDM_LQR_COUNT, (int)o); }

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t square(int n) { return (size_t)n * (size_t)n; }

size_t psdm_system_scratch(int states, int inputs) {
  int wide = states + inputs;
  size_t discretise = 2 * square(wide) + psdmp_linalg_expm_scratch(wide);
  size_t analyze = 3 * (size_t)states + square(states) + psdmp_linalg_modes_scratch(states, inputs);
  size_t lqr = square(states) + larger(psdmp_linalg_riccati_scratch(states, inputs), analyze);
  return larger(discretise, larger(analyze, lqr));
}

static bool finite_system(int states, int inputs, const double *A, const double *B, double dt) {
  if (states < 1 || inputs < 1 || !(dt >= 0) || !isfinite(dt)) return false;
  return isfinite(psdmp_linalg_largest((long)states * states, A)) &&
         isfinite(psdmp_linalg_largest((long)states * inputs, B));
}

/* ---- sampling ---- */

psdm_status psdm_system_discretise(int states, int inputs, const double *A, const double *B, double dt, double *scratch,
                                   double *Ad, double *Bd) {
  int wide = states + inputs;
  double *block = scratch, *power = block + square(wide), *rest = power + square(wide);
  if (!finite_system(states, inputs, A, B, dt) || !(dt > 0)) return PSDM_E_ARGUMENT;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  memset(block, 0, sizeof *block * square(wide));
  for (int i = 0; i < states; i++) {
    for (int j = 0; j < states; j++) block[(long)i * wide + j] = dt * A[(long)i * states + j];
    for (int j = 0; j < inputs; j++) block[(long)i * wide + states + j] = dt * B[(long)i * inputs + j];
  }
  if (!psdmp_linalg_expm(wide, block, power, rest)) return PSDM_E_LIMIT;
  for (int i = 0; i < states; i++) {
    memcpy(Ad + (long)i * states, power + (long)i * wide, sizeof *Ad * (size_t)states);
    memcpy(Bd + (long)i * inputs, power + (long)i * wide + states, sizeof *Bd * (size_t)inputs);
  }
  return PSDM_OK;
}

/* ---- modes ---- */

/* [0, 1; K, 0]: a robot at rest without friction */
static bool at_rest(int states, const double *A) {
  int n = states / 2;
  if (states % 2) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double *top = A + (long)i * states, *bottom = A + (long)(n + i) * states;
      if (top[j] != 0 || top[n + j] != (i == j) || bottom[n + j] != 0) return false;
    }
  return true;
}

/* lambda^2 are the eigenvalues of K, which are real: K = -M^-1 G with M positive definite and G symmetric. Zeros are
 * exact, where the eigenvalues of A themselves would be off by the square root of rounding. */
static bool modes_at_rest(int states, const double *A, double *re, double *im, double *scratch) {
  int n = states / 2;
  double *K = scratch, *rest = K + square(n), size = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) K[(long)i * n + j] = A[(long)(n + i) * states + j];
  if (!psdmp_linalg_eigenvalues(n, K, re, im, rest)) return false;
  for (int k = 0; k < n; k++) size = fmax(size, hypot(re[k], im[k]));
  for (int k = 0; k < n; k++)
    if (fabs(im[k]) > 1e-7 * size) return false; /* not of the form K = -M^-1 G */
  for (int k = n - 1; k >= 0; k--) {
    double w = re[k], root = fabs(w) <= 1e-11 * size ? 0 : sqrt(fabs(w));
    re[2 * k] = w > 0 ? root : 0;
    re[2 * k + 1] = -re[2 * k];
    im[2 * k] = w > 0 ? 0 : root;
    im[2 * k + 1] = -im[2 * k];
  }
  return true;
}

/* the exponent s of a mode: lambda, or log(lambda) / dt; a mode that vanishes after one sample has none */
static double decay(double re, double im, double dt) { return dt > 0 ? log(hypot(re, im)) / dt : re; }

static psdm_mode mode_of(double re, double im, double dt) {
  double real = decay(re, im, dt), turn = dt > 0 ? atan2(im, re) / dt : im, size = hypot(real, turn);
  double damping = size > 0 ? (isfinite(size) ? -real / size : 1) : 0;
  return (psdm_mode){re + 0.0, im + 0.0, size, damping + 0.0}; /* avoids negative zeros */
}

static double rate(const psdm_mode *m) { return isfinite(m->frequency) ? -m->damping * m->frequency : -INFINITY; }

/* rates below this are rounding, unless zeros are exact */
static double slack_of(int count, const psdm_mode *modes, bool certain) {
  double fastest = 0;
  for (int k = 0; k < count && !certain; k++)
    if (isfinite(modes[k].frequency)) fastest = fmax(fastest, modes[k].frequency);
  return 1e-7 * fastest;
}

static double rate_beyond(const psdm_mode *m, double slack) { return fabs(rate(m)) <= slack ? 0 : rate(m); }

/* whether x comes after y: it decays faster, or has a higher frequency, or is the conjugate */
static bool behind(const psdm_mode *x, const psdm_mode *y, double slack) {
  double first = rate_beyond(x, slack), second = rate_beyond(y, slack);
  if (first != second) return first < second;
  return fabs(x->im) != fabs(y->im) ? fabs(x->im) > fabs(y->im) : x->im < y->im;
}

/* by insertion: qsort may allocate */
static void sort(int count, psdm_mode *modes, double slack) {
  for (int k = 1; k < count; k++) {
    psdm_mode m = modes[k];
    int at = k;
    for (; at > 0 && behind(&modes[at - 1], &m, slack); at--) modes[at] = modes[at - 1];
    modes[at] = m;
  }
}

/* eigenvalues, slowest first; *certain when zeros are exact */
static bool find_modes(int states, const double *A, double dt, double *scratch, psdm_mode *modes, bool *certain) {
  double *re = scratch, *im = re + states, *rest = im + states;
  *certain = dt == 0 && at_rest(states, A) && modes_at_rest(states, A, re, im, rest);
  if (!*certain && !psdmp_linalg_eigenvalues(states, A, re, im, rest)) return false;
  for (int k = 0; k < states; k++) modes[k] = mode_of(re[k], im[k], dt);
  sort(states, modes, slack_of(states, modes, *certain));
  return true;
}

/* counts modes left of, on and right of the boundary of stability, and those on it by whether they are at rest */
static void count_modes(int states, const psdm_mode *modes, bool certain, psdm_system_facts *f) {
  double slack = slack_of(states, modes, certain);
  f->growth = rate(&modes[0]);
  for (int k = 0; k < states; k++) {
    f->growth = fmax(f->growth, rate(&modes[k]));
    double s = rate(&modes[k]);
    if (s > slack) f->unstable++;
    else if (s < -slack) f->damped++;
    else if (modes[k].frequency <= slack) f->drifting++;
    else f->undamped++;
  }
  f->stability = f->unstable   ? PSDM_STABILITY_UNSTABLE
                 : f->drifting ? PSDM_STABILITY_DRIFTING
                 : f->undamped ? PSDM_STABILITY_OSCILLATING
                               : PSDM_STABILITY_STABLE;
}

psdm_status psdm_system_analyze(int states, int inputs, const double *A, const double *B, double dt, double *scratch,
                                psdm_mode *modes, psdm_system_facts *f) {
  bool certain;
  *f = (psdm_system_facts){.reach_margin = INFINITY};
  if (!finite_system(states, inputs, A, B, dt)) return PSDM_E_ARGUMENT;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  if (!find_modes(states, A, dt, scratch, modes, &certain)) return PSDM_E_LIMIT;
  count_modes(states, modes, certain, f);
  f->reachable = psdmp_linalg_reachable(states, inputs, A, B, scratch);
  f->controllable = f->reachable == states;
  if (states > PSDM_SYSTEM_MARGIN) f->reach_margin = NAN;
  for (int k = 0; k < states && states <= PSDM_SYSTEM_MARGIN; k++) {
    if (modes[k].im < 0) continue; /* as its conjugate */
    double margin = psdmp_linalg_reach_margin(states, inputs, A, B, modes[k].re, modes[k].im, scratch);
    if (margin < 0) return PSDM_E_LIMIT;
    f->reach_margin = fmin(f->reach_margin, margin);
  }
  return PSDM_OK;
}

/* ---- LQR ---- */

static bool symmetric(int n, const double *A) {
  double size = psdmp_linalg_largest((long)n * n, A);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (!(fabs(A[(long)i * n + j] - A[(long)j * n + i]) <= 1e-12 * size)) return false;
  return isfinite(size);
}

/* modes of A - B K */
static bool closed_modes(int states, int inputs, const double *A, const double *B, const double *K, double dt,
                         double *scratch, psdm_mode *modes) {
  double *closed = scratch, *rest = closed + square(states);
  bool certain;
  for (int i = 0; i < states; i++)
    for (int j = 0; j < states; j++) {
      double sum = A[(long)i * states + j];
      for (int k = 0; k < inputs; k++) sum -= B[(long)i * inputs + k] * K[(long)k * states + j];
      closed[(long)i * states + j] = sum;
    }
  return find_modes(states, closed, dt, rest, modes, &certain);
}

psdm_status psdm_system_lqr(int states, int inputs, const double *A, const double *B, double dt, const double *Q,
                            const double *R, double *scratch, double *K, double *X, psdm_mode *modes,
                            psdm_lqr_info *info) {
  psdmp_linalg_riccati_info found = {.residual = INFINITY};
  double *cost = X ? X : scratch, *rest = scratch + square(states);
  *info = (psdm_lqr_info){.outcome = PSDM_LQR_WEIGHT, .residual = INFINITY};
  if (!finite_system(states, inputs, A, B, dt)) return PSDM_E_ARGUMENT;
  if (!isfinite(psdmp_linalg_largest((long)states * states, Q)) ||
      !isfinite(psdmp_linalg_largest((long)inputs * inputs, R)))
    return PSDM_E_ARGUMENT;
  if (!symmetric(states, Q) || !symmetric(inputs, R)) return PSDM_OK;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  info->outcome =
      (psdm_lqr_outcome)psdmp_linalg_riccati_solve(dt > 0, states, inputs, A, B, Q, R, cost, K, &found, rest);
  info->residual = found.residual;
  if (info->outcome == PSDM_LQR_UNREACHABLE) info->mode = mode_of(found.re, found.im, dt);
  if (info->outcome == PSDM_LQR_OK && modes && !closed_modes(states, inputs, A, B, K, dt, rest, modes))
    info->outcome = PSDM_LQR_FAILED;
  return PSDM_OK;
}
