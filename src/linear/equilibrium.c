/* equilibrium.c: a position held by given torques: damped Newton steps (Levenberg, Marquardt) on g(q) = u, from one
 * start after the other. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"
#include "psdm/statespace.h"
#include "rigid/rigid.h"

/* One search; arrays have n numbers, matrices n x n. */
typedef struct search {
  const psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  const double *u;
  int n;
  long words;
  double size;                                /* largest torque met so far */
  double *q, *next, *rest, *rest_next, *step; /* step: (2n) */
  double *G, *system;                         /* system: (2n x n) by columns */
  double *lapack;
} search;

enum { STARTS = 50, STEPS = 100 };
static const double tolerance = 1e-13; /* of the torques' size: rounding of the recursion itself */
static const double longest = 0.5;     /* rad or m per step: beyond it the sines have changed their slope */

static long lapack_words(int n) {
  long squares = psdmp_linalg_least_squares_work(2 * n, n, 1), singular = (long)psdmp_linalg_modes_scratch(n, 0);
  return squares > singular ? squares : singular;
}

size_t psdm_equilibrium_scratch(const psdm_robot *r) {
  size_t n = (size_t)psdm_robot_n(r);
  return 6 * n + 3 * n * n + (size_t)lapack_words((int)n);
}

static void lay_out(search *s, double *at) {
  long n = s->n;
  s->q = at, at += n;
  s->next = at, at += n;
  s->rest = at, at += n;
  s->rest_next = at, at += n;
  s->step = at, at += 2 * n;
  s->G = at, at += n * n;
  s->system = at, at += 2 * n * n;
  s->lapack = at;
  s->words = lapack_words(s->n);
}

/* rest = u - g(q); its largest entry in *size, infinite where a loop does not close */
static psdm_status rest_of(search *s, const double *q, double *rest, double *size) {
  psdm_status status = psdm_gravity(s->robot, s->work, q, rest);
  *size = INFINITY;
  if (status) return status == PSDM_E_LOOP ? PSDM_OK : status;
  s->size = fmax(s->size, psdmp_linalg_largest(s->n, rest));
  for (int i = 0; i < s->n; i++) rest[i] = s->u[i] - rest[i];
  *size = psdmp_linalg_largest(s->n, rest);
  return PSDM_OK;
}

static double length(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = hypot(sum, x[i]);
  return sum;
}

/* min |G step - rest|^2 + damping^2 |step|^2, at most `longest` in any joint; G may be singular */
static bool damped_step(search *s, double damping) {
  int n = s->n;
  memset(s->system, 0, sizeof *s->system * 2 * (size_t)n * (size_t)n);
  memset(s->step, 0, sizeof *s->step * 2 * (size_t)n);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) s->system[(long)j * 2 * n + i] = s->G[(long)i * n + j];
    s->system[(long)j * 2 * n + n + j] = damping;
  }
  memcpy(s->step, s->rest, sizeof *s->step * (size_t)n);
  if (!psdmp_linalg_least_squares(2 * n, n, 1, s->system, s->step, s->lapack, s->words)) return false;
  double size = psdmp_linalg_largest(n, s->step);
  for (int i = 0; i < n && size > longest; i++) s->step[i] *= longest / size;
  return isfinite(size);
}

/* from s->q downhill until the rest is rounding, or no step helps; *size is the rest */
static psdm_status descend(search *s, psdm_equilibrium_info *info, double *size) {
  static const double at_rest[PSDM_MAX_JOINTS];
  double damping = 1e-3;
  psdm_status status = rest_of(s, s->q, s->rest, size);
  for (int step = 0; step < STEPS && !status && isfinite(*size) && *size > tolerance * s->size; step++) {
    double left, slope;
    status = psdm_linearize_inverse(s->robot, s->linear, s->q, at_rest, at_rest, s->G, NULL, NULL);
    slope = psdmp_linalg_largest((long)s->n * s->n, s->G);
    if (status || !(slope > 0)) break;
    info->steps++;
    if (!damped_step(s, fmax(damping, 1e-15) * slope)) break;
    for (int i = 0; i < s->n; i++) s->next[i] = s->q[i] + s->step[i];
    status = rest_of(s, s->next, s->rest_next, &left);
    /* a step that helps is kept and the damping reset; else a shorter step */
    if (!status && isfinite(left) && length(s->n, s->rest_next) < length(s->n, s->rest)) {
      memcpy(s->q, s->next, sizeof *s->q * (size_t)s->n);
      memcpy(s->rest, s->rest_next, sizeof *s->rest * (size_t)s->n);
      *size = left;
      damping *= 0.05;
    } else {
      damping = fmax(damping, 1e-12) * 10;
      if (damping > 1e6) break;
    }
  }
  return status;
}

/* uniform within the limits; joints without limits within half a turn or half a metre */
static void random_start(const psdm_robot *r, psdm_work *work, uint64_t *state, double *q) {
  for (int k = 0; k < psdm_robot_joints(r); k++) {
    const psdm_joint *joint = psdm_robot_joint(r, k);
    bool slides = joint->type == PSDM_PRISMATIC;
    double reach = slides ? 0.5 : 3.14159265358979, low = fmax(joint->limits.lower, -reach),
           high = fmin(joint->limits.upper, reach);
    if (joint->q < 0) continue;
    if (slides && isfinite(joint->limits.lower) && isfinite(joint->limits.upper))
      low = joint->limits.lower, high = joint->limits.upper;
    if (!(low <= high)) low = high = isfinite(joint->limits.lower) ? joint->limits.lower : joint->limits.upper;
    q[joint->q] = psdmp_base_random(state, low, high);
  }
  psdmp_rigid_pull_home(r, work, q);
}

/* rank of G */
static int rank_of(search *s) {
  int rank = 0;
  if (!psdmp_linalg_singular_values(s->n, s->G, s->step, s->lapack)) return 0;
  while (rank < s->n && s->step[rank] > 1e-9 * s->step[0]) rank++;
  return rank;
}

psdm_status psdm_equilibrium_find(const psdm_robot *r, psdm_work *work, psdm_linear *linear, const double *u,
                                  const psdm_equilibrium_options *options, double *scratch, double *q,
                                  psdm_equilibrium_info *info) {
  static const psdm_equilibrium_options none = {0};
  static const double at_rest[PSDM_MAX_JOINTS];
  const psdm_equilibrium_options *o = options ? options : &none;
  search s = {.robot = r, .work = work, .linear = linear, .u = u, .n = psdm_robot_n(r)};
  int starts = o->starts > 0 ? o->starts : STARTS;
  uint64_t state = o->seed;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  double least = INFINITY;
  *info = (psdm_equilibrium_info){.residual = INFINITY};
  s.size = psdmp_linalg_largest(s.n, u);
  if (!isfinite(s.size) || (o->start && !isfinite(psdmp_linalg_largest(s.n, o->start)))) return PSDM_E_ARGUMENT;
  lay_out(&s, scratch);
  psdm_robot_home(r, q);
  psdm_status status = PSDM_OK;
  while (info->starts < starts && !info->found && !status) {
    double left = INFINITY;
    if (info->starts) random_start(r, work, &state, s.q);
    else if (o->start) memcpy(s.q, o->start, sizeof *s.q * (size_t)s.n);
    else psdm_robot_home(r, s.q);
    info->starts++;
    status = descend(&s, info, &left);
    if (left < least) memcpy(q, s.q, sizeof *q * (size_t)s.n), least = left;
    /* a step may end some roundings above the tolerance; an equilibrium must hold to ten digits */
    info->found = least <= 1e-10 * s.size || s.size == 0;
  }
  info->residual = s.size > 0 ? least / s.size : 0;
  if (!status) status = psdm_linearize_inverse(r, linear, q, at_rest, at_rest, s.G, NULL, NULL);
  if (!status) info->rank = rank_of(&s);
  return status;
}
