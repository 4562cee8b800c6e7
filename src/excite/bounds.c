/* bounds.c: limits of a periodic motion.
 *
 * For the search: smooth maxima over samples, KS = log(sum exp(rho g)) / rho (Kreisselmeier and Steinhauser 1979), one
 * for each limit of each joint. For the answer: at all times. Positions, velocities and accelerations are trigonometric
 * polynomials of degree N; with M samples none is anywhere larger than 1 / cos(pi N / M) times its largest sample
 * (Ehlich and Zeller 1964). Torques and gaps are not: a quarter of the largest second difference is added, twice the
 * height of a parabola above two samples. */
#include <math.h>
#include <string.h>

#include "excite/inertia_priv.h"
#include "psdm/friction.h"

/* for shares of a limit: ln(3) / 80 = 1.4 % above the largest where three samples are equally close */
static const double rho = 80;
static const double near_by = 0.1; /* m: unit of a gap's share */
static const double slack = 1e-9;  /* of an amplitude, for rounding */

/* ---- construction ---- */

/* limits shrink towards their middle */
static psdm_limits inside(psdm_limits l, double margin) {
  double middle = (l.lower + l.upper) / 2, half = (l.upper - l.lower) / 2 * (1 - margin);
  if (isfinite(half)) l.lower = middle - half, l.upper = middle + half;
  l.velocity *= 1 - margin;
  l.acceleration *= 1 - margin;
  return l;
}

static bool limited(const psdm_joint *j) {
  if (j->q >= 0 || j->type == PSDM_FIXED || j->passive) return false;
  return isfinite(j->limits.lower) || isfinite(j->limits.upper) || isfinite(j->limits.velocity) ||
         isfinite(j->limits.acceleration);
}

psdmp_excite_follower *psdmp_excite_followers(const psdm_robot *robot, double margin, psdmp_base_arena *arena,
                                              int *count, bool *whole) {
  int n = psdm_robot_n(robot), links = psdm_robot_links(robot);
  *count = 0;
  *whole = true;
  for (int j = 0; j < psdm_robot_joints(robot); j++) *count += limited(psdm_robot_joint(robot, j));
  if (!*count) return NULL;
  double *G = psdmp_excite_numbers(arena, (long)links * n), *c = psdmp_excite_numbers(arena, links);
  psdmp_excite_follower *all = psdmp_base_arena_alloc(arena, (size_t)*count * sizeof *all), *f = all;
  *whole = G && c && all;
  if (!*whole) return NULL;
  psdm_robot_coupling(robot, G, c);
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (limited(joint))
      *f++ = (psdmp_excite_follower){
          .G = G + (long)joint->link * n, .c = c[joint->link], .limits = inside(joint->limits, margin)};
  }
  return all;
}

bool psdmp_excite_bounds_new(const psdm_robot *robot, const psdmp_excite_limits *limits, psdmp_base_arena *arena,
                             psdmp_excite_bounds *b) {
  bool whole;
  *b = (psdmp_excite_bounds){
      .robot = robot, .limits = limits, .n = psdm_robot_n(robot), .gaps = psdm_collision_gaps(robot)};
  b->friction = psdmp_base_arena_alloc(arena, (size_t)b->n * sizeof *b->friction);
  b->follower = psdmp_excite_followers(robot, limits->margin, arena, &b->followers, &whole);
  if (!whole || !b->friction) return false;
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (joint->q >= 0 && joint->friction.given) b->friction[joint->q] = &joint->friction;
  }
  for (int i = 0; i < b->n; i++) b->efforts += isfinite(limits->effort[i]);
  b->count = 4 * b->n + b->efforts + (b->gaps > 0) + (b->followers > 0);
  return true;
}

bool psdmp_excite_bounds_work_new(const psdmp_excite_bounds *b, int points, int slopes, psdm_work *work,
                                  psdm_linear *linear, psdmp_base_arena *arena, psdmp_excite_bounds_work *w) {
  long n = b->n, wide = b->gaps > 3 * b->followers ? b->gaps : 3L * b->followers;
  *w = (psdmp_excite_bounds_work){.work = work, .linear = linear};
  w->tau = psdmp_excite_numbers(arena, points * n);
  w->by = psdmp_excite_numbers(arena, b->efforts ? slopes * 3 * n * n : 0);
  w->gap = psdmp_excite_numbers(arena, points * (long)b->gaps);
  w->gap_by = psdmp_excite_numbers(arena, b->gaps * n);
  w->share = psdmp_excite_numbers(arena, slopes * (wide > 2 ? wide : 2));
  w->by_state = psdmp_excite_numbers(arena, slopes * 3 * n);
  return w->tau && w->by && w->gap && w->gap_by && w->share && w->by_state;
}

/* ---- smooth maxima ---- */

/* KS of count numbers, which become their weights */
static double smooth(long count, double *g) {
  double most = -INFINITY, sum = 0;
  for (long k = 0; k < count; k++) most = fmax(most, g[k]);
  if (!isfinite(most)) {
    memset(g, 0, sizeof *g * (size_t)count);
    return -1;
  }
  for (long k = 0; k < count; k++) sum += g[k] = exp(rho * (g[k] - most));
  for (long k = 0; k < count; k++) g[k] /= sum;
  return most + log(sum) / rho;
}

/* one limit of one joint: order 0 (upper: sign 1, lower: sign -1), 1 or 2 (sign 0: both) */
static double joint_bound(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, const psdmp_excite_grid *grid,
                          psdmp_excite_bounds_work *w, int i, int order, int sign, double *by_x) {
  const psdmp_excite_limits *l = b->limits;
  int n = b->n, own = wave->own, M = grid->points;
  double half = (l->upper[i] - l->lower[i]) / 2, middle = (l->upper[i] + l->lower[i]) / 2;
  double scale = order == 0 ? half : order == 1 ? l->velocity[i] : l->acceleration[i], *g = w->share;
  for (int p = 0; p < M; p++) {
    double share = (grid->state[(long)p * 3 * n + (long)order * n + i] - (order ? 0 : middle)) / scale;
    g[p] = sign < 0 ? -INFINITY : share - 1;
    g[M + p] = sign > 0 ? -INFINITY : -share - 1;
  }
  double result = smooth(2L * M, g);
  for (int p = 0; by_x && p < M; p++) {
    const double *row = grid->table + (((long)i * M + p) * 3 + order) * own;
    double weight = (g[p] - g[M + p]) / scale;
    for (int j = 0; j < own && weight != 0; j++) by_x[(long)i * own + j] += weight * row[j];
  }
  return result;
}

/* steady friction of the file, and its slope except at the jump at rest */
static double friction_torque(const psdmp_excite_bounds *b, int i, double v, double *slope) {
  const psdm_friction *f = b->friction[i];
  if (slope) *slope = 0;
  if (!f) return 0;
  double moving = copysign(fmax(fabs(v), 1e-3 * b->limits->velocity[i]), v);
  if (slope) *slope = psdm_friction_smooth_slope(f, PSDM_FRICTION_POWER, moving);
  return psdm_friction_steady(f, PSDM_FRICTION_POWER, v);
}

/* torques of all samples, and optionally their derivatives */
static bool set_torques(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid, psdmp_excite_bounds_work *w,
                        bool gradient) {
  long n = b->n;
  for (long p = 0; p < grid->points; p++) {
    const double *s = grid->state + p * 3 * n;
    double *by = w->by + p * 3 * n * n;
    if (psdm_inverse(b->robot, w->work, s, s + n, s + 2 * n, w->tau + p * n)) return false;
    if (gradient && psdm_linearize_inverse(b->robot, w->linear, s, s + n, s + 2 * n, by, by + n * n, by + 2 * n * n))
      return false;
  }
  return true;
}

static double torque_bound(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, const psdmp_excite_grid *grid,
                           psdmp_excite_bounds_work *w, int i, double *by_x) {
  long n = b->n, M = grid->points;
  double effort = b->limits->effort[i], *g = w->share, slope;
  for (long p = 0; p < M; p++) {
    double share = (w->tau[p * n + i] + friction_torque(b, i, grid->state[p * 3 * n + n + i], NULL)) / effort;
    g[p] = share - 1;
    g[M + p] = -share - 1;
  }
  double result = smooth(2 * M, g);
  for (long p = 0; by_x && p < M; p++) {
    double weight = (g[p] - g[M + p]) / effort, *to = w->by_state + p * 3 * n;
    const double *by = w->by + p * 3 * n * n;
    for (int d = 0; d < 3; d++)
      for (int j = 0; j < n; j++) to[d * n + j] = weight * by[(d * n + i) * n + j];
    friction_torque(b, i, grid->state[p * 3 * n + n + i], &slope);
    to[n + i] += weight * slope;
  }
  if (by_x) psdmp_excite_grid_pull(wave, grid, w->by_state, by_x);
  return result;
}

static bool set_gaps(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid, psdmp_excite_bounds_work *w) {
  for (long p = 0; p < grid->points; p++)
    if (psdm_collision_at(b->robot, w->work, grid->state + p * 3 * b->n, w->gap + p * b->gaps, NULL)) return false;
  return true;
}

static double gap_bound(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, const psdmp_excite_grid *grid,
                        psdmp_excite_bounds_work *w, double *by_x) {
  long n = b->n, M = grid->points, gaps = b->gaps;
  if (!set_gaps(b, grid, w)) return INFINITY;
  for (long k = 0; k < M * gaps; k++) w->share[k] = (b->limits->clearance - w->gap[k]) / near_by;
  double result = smooth(M * gaps, w->share);
  for (long p = 0; by_x && p < M; p++) {
    double *to = w->by_state + p * 3 * n, most = 0;
    memset(to, 0, 3 * (size_t)n * sizeof *to);
    for (long k = 0; k < gaps; k++) most = fmax(most, w->share[p * gaps + k]);
    if (most < 1e-12) continue;
    if (psdm_collision_at(b->robot, w->work, grid->state + p * 3 * n, w->gap + p * gaps, w->gap_by)) return INFINITY;
    for (long k = 0; k < gaps; k++)
      for (int j = 0; j < n; j++) to[j] -= w->share[p * gaps + k] / near_by * w->gap_by[k * n + j];
  }
  if (by_x) psdmp_excite_grid_pull(wave, grid, w->by_state, by_x);
  return result;
}

/* a dependent joint's position, velocity or acceleration */
static double follow(const psdmp_excite_follower *f, int n, int order, const double *state) {
  double sum = order ? 0 : f->c;
  for (int j = 0; j < n; j++) sum += f->G[j] * state[(long)order * n + j];
  return sum;
}

/* its middle and half range; with one position limit alone, a range of one turn */
static void follower_range(const psdm_limits *l, int order, double *middle, double *size) {
  const double far = 6.283185307179586;
  double lower = isfinite(l->lower) ? l->lower : l->upper - far, upper = isfinite(l->upper) ? l->upper : l->lower + far;
  *middle = order || !isfinite(lower) || !isfinite(upper) ? 0 : (lower + upper) / 2;
  *size = order == 1 ? l->velocity : order == 2 ? l->acceleration : (upper - lower) / 2;
  if (isnan(*size)) *size = INFINITY;
}

static double follower_bound(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, const psdmp_excite_grid *grid,
                             psdmp_excite_bounds_work *w, double *by_x) {
  long n = b->n, M = grid->points, at = 0;
  double middle, size;
  for (long p = 0; p < M; p++)
    for (int k = 0; k < b->followers; k++)
      for (int order = 0; order < 3; order++, at++) {
        follower_range(&b->follower[k].limits, order, &middle, &size);
        double y = follow(&b->follower[k], b->n, order, grid->state + p * 3 * n) - middle;
        w->share[at] = isfinite(size) ? fabs(y) / size - 1 : -INFINITY;
      }
  double result = smooth(at, w->share);
  if (!by_x) return result;
  at = 0;
  memset(w->by_state, 0, (size_t)(M * 3 * n) * sizeof *w->by_state);
  for (long p = 0; p < M; p++)
    for (int k = 0; k < b->followers; k++)
      for (int order = 0; order < 3; order++, at++) {
        follower_range(&b->follower[k].limits, order, &middle, &size);
        if (!isfinite(size)) continue;
        double y = follow(&b->follower[k], b->n, order, grid->state + p * 3 * n) - middle,
               weight = copysign(w->share[at], y) / size;
        for (int j = 0; j < n; j++) w->by_state[p * 3 * n + order * n + j] += weight * b->follower[k].G[j];
      }
  psdmp_excite_grid_pull(wave, grid, w->by_state, by_x);
  return result;
}

void psdmp_excite_bounds_smooth(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave,
                                const psdmp_excite_grid *grid, psdmp_excite_bounds_work *w, double *result,
                                double *gradient) {
  static const int orders[4] = {0, 0, 1, 2}, signs[4] = {1, -1, 0, 0};
  long numbers = (long)b->n * wave->own, at = 0;
  if (gradient) memset(gradient, 0, (size_t)(numbers * b->count) * sizeof *gradient);
#define ROW (gradient ? gradient + at * numbers : NULL)
  for (int i = 0; i < b->n; i++)
    for (int k = 0; k < 4; k++, at++) result[at] = joint_bound(b, wave, grid, w, i, orders[k], signs[k], ROW);
  bool known = !b->efforts || set_torques(b, grid, w, gradient != NULL);
  for (int i = 0; i < b->n; i++)
    if (isfinite(b->limits->effort[i])) result[at] = known ? torque_bound(b, wave, grid, w, i, ROW) : INFINITY, at++;
  if (b->gaps) result[at] = gap_bound(b, wave, grid, w, ROW), at++;
  if (b->followers) result[at] = follower_bound(b, wave, grid, w, ROW);
#undef ROW
}

/* ---- strict ---- */

/* the largest factor of joint i's amplitude about its centre within its own limits at all times */
static double room(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid, int i, double x) {
  const psdmp_excite_limits *l = b->limits;
  int n = b->n;
  double most[3] = {-INFINITY, 0, 0}, least = INFINITY,
         centre = (l->upper[i] + l->lower[i]) / 2 + (l->upper[i] - l->lower[i]) / 2 * x;
  for (int p = 0; p < grid->points; p++) {
    const double *s = grid->state + (long)p * 3 * n + i;
    most[0] = fmax(most[0], s[0]), least = fmin(least, s[0]);
    most[1] = fmax(most[1], fabs(s[n])), most[2] = fmax(most[2], fabs(s[2L * n]));
  }
  double middle = (most[0] + least) / 2, half = (most[0] - least) / 2 * grid->reach;
  double up = middle + half - centre, down = centre - middle + half;
  double factor = fmin((l->upper[i] - centre) / fmax(up, 1e-300), (centre - l->lower[i]) / fmax(down, 1e-300));
  factor = fmin(factor, l->velocity[i] / fmax(most[1] * grid->reach, 1e-300));
  return fmin(factor, l->acceleration[i] / fmax(most[2] * grid->reach, 1e-300)) * (1 - slack);
}

static void shrink(const psdmp_excite_wave *wave, int i, double factor, double *x) {
  for (int j = 1; j < wave->own; j++) x[(long)i * wave->own + j] *= factor;
}

void psdmp_excite_bounds_fit(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, psdmp_excite_grid *grid,
                             bool grow, double *x) {
  for (int i = 0; i < b->n; i++) x[(long)i * wave->own] = fmax(-1, fmin(1, x[(long)i * wave->own]));
  psdmp_excite_grid_at(wave, grid, x);
  for (int i = 0; i < b->n; i++) {
    double factor = room(b, grid, i, x[(long)i * wave->own]);
    if (grow ? factor < 1e200 : factor < 1) shrink(wave, i, factor, x);
  }
  psdmp_excite_grid_at(wave, grid, x);
}

/* a quarter of the largest second difference around the period of x[0], x[stride], ... */
static double between(long points, const double *x, long stride) {
  double most = 0;
  for (long p = 0; p < points; p++) {
    double before = x[(p ? p - 1 : points - 1) * stride], behind = x[(p + 1 < points ? p + 1 : 0) * stride];
    most = fmax(most, fabs(before - 2 * x[p * stride] + behind));
  }
  return most / 4;
}

/* largest share of joint i's effort; where it reverses, friction may have any value up to its maximum */
static double effort_share(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid,
                           const psdmp_excite_bounds_work *w, int i) {
  long n = b->n, M = grid->points;
  double most = 0;
  for (long p = 0; p < M; p++) {
    double v = grid->state[p * 3 * n + n + i], next = grid->state[(p + 1 < M ? p + 1 : 0) * 3 * n + n + i],
           tau = w->tau[p * n + i];
    most = fmax(most, fabs(tau + friction_torque(b, i, v, NULL)));
    if (b->friction[i] && !(v * next > 0))
      most = fmax(most, fabs(tau + b->friction[i]->offset) + psdm_friction_most(b->friction[i], PSDM_FRICTION_POWER));
  }
  return (most + between(M, w->tau + i, n)) / b->limits->effort[i];
}

static double gaps_share(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid, psdmp_excite_bounds_work *w) {
  long M = grid->points;
  double most = 0;
  if (!set_gaps(b, grid, w)) return INFINITY;
  for (int k = 0; k < b->gaps; k++) {
    double least = INFINITY;
    for (long p = 0; p < M; p++) least = fmin(least, w->gap[p * b->gaps + k]);
    most = fmax(most, 1 + (b->limits->clearance + between(M, w->gap + k, b->gaps) - least) / near_by);
  }
  return most;
}

static double followers_share(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid) {
  double most = 0, middle, size;
  for (int k = 0; k < b->followers; k++)
    for (int order = 0; order < 3; order++) {
      double high = -INFINITY, low = INFINITY;
      follower_range(&b->follower[k].limits, order, &middle, &size);
      for (long p = 0; p < grid->points; p++) {
        double y = follow(&b->follower[k], b->n, order, grid->state + p * 3 * b->n) - middle;
        high = fmax(high, y), low = fmin(low, y);
      }
      double half = (high - low) / 2 * grid->reach, about = (high + low) / 2;
      most = fmax(most, fmax(about + half, half - about) / size);
    }
  return most;
}

double psdmp_excite_bounds_shared(const psdmp_excite_bounds *b, const psdmp_excite_grid *grid,
                                  psdmp_excite_bounds_work *w) {
  double most = 0;
  if (b->efforts && !set_torques(b, grid, w, false)) return INFINITY;
  for (int i = 0; i < b->n; i++)
    if (isfinite(b->limits->effort[i])) most = fmax(most, effort_share(b, grid, w, i));
  if (b->gaps) most = fmax(most, gaps_share(b, grid, w));
  if (b->followers) most = fmax(most, followers_share(b, grid));
  return most;
}

bool psdmp_excite_bounds_keep(const psdmp_excite_bounds *b, const psdmp_excite_wave *wave, psdmp_excite_grid *grid,
                              psdmp_excite_bounds_work *w, bool grow, double *x) {
  enum { HALVINGS = 10 };
  double low = 0, high = 1, now = 1;
  psdmp_excite_bounds_fit(b, wave, grid, grow, x);
  if (!b->efforts && !b->gaps && !b->followers) return true;
  if (psdmp_excite_bounds_shared(b, grid, w) <= 1) return true;
  /* at rest first: limits violated there are always violated; then the largest factor that is found valid */
  for (int k = 0; k <= HALVINGS; k++) {
    double next = k ? (low + high) / 2 : high / 1024;
    for (int i = 0; i < b->n; i++) shrink(wave, i, next / now, x);
    now = next;
    psdmp_excite_grid_at(wave, grid, x);
    bool kept = psdmp_excite_bounds_shared(b, grid, w) <= 1;
    if (!k && !kept) return false;
    *(kept ? &low : &high) = next;
  }
  for (int i = 0; i < b->n; i++) shrink(wave, i, low / now, x);
  psdmp_excite_grid_at(wave, grid, x);
  return psdmp_excite_bounds_shared(b, grid, w) <= 1;
}
