/* optimal_program.c: a motion as a nonlinear program.
 *
 * Unknowns: piece after piece its own derivatives of q, at its left and its right end, then those shared with the next
 * one; T last if free. In units of the mean piece's duration, T / pieces, a derivative of q of order p is (T /
 * pieces)^-p times a sum of factors of the unknowns of its piece, all of similar size; torques follow by inverse
 * dynamics, so that there are no defects: dynamics hold by construction.
 *
 *   objective   time T + energy T sum over points of weight sum_j w_j tau_j^2                       (Lobatto's
 *               rule in each piece)
 *   rows        tau_j / effort_j at those points; then lines: Bezier coefficients of q, qd and qdd, between which
 *               the piece stays
 *
 * The derivatives are the torques' by the chain rule, T's included: dz/dT = -p z / T, d2z/dT2 = p (p + 1) z / T^2. */
#include <math.h>
#include <string.h>

#include "plan/optimal_priv.h"

/* ---- unknowns ---- */

static int own_block(const psdmp_plan_program *p) { return 2 * (p->held - p->shared) * p->n; }
static int piece_block(const psdmp_plan_program *p) { return own_block(p) + p->shared * p->n; }

int psdmp_plan_program_place(const psdmp_plan_program *p, int piece, int end, int order, int joint) {
  int own = p->held - p->shared, node = piece + end;
  if (order >= p->shared) return piece * piece_block(p) + (end * own + order - p->shared) * p->n + joint;
  return node < 1 || node >= p->pieces ? -1 : (node - 1) * piece_block(p) + own_block(p) + order * p->n + joint;
}

static int seconds_place(const psdmp_plan_program *p) { return p->duration > 0 ? -1 : p->unknowns - 1; }

double psdmp_plan_program_seconds(const psdmp_plan_program *p, const double *x) {
  return p->duration > 0 ? p->duration : x[p->unknowns - 1];
}

/* (T / pieces)^order times a derivative at an end (0, 1) of a piece */
static double end_of(const psdmp_plan_program *p, const double *x, int piece, int end, int order, int joint) {
  int place = psdmp_plan_program_place(p, piece, end, order, joint);
  if (place >= 0) return x[place];
  return order ? 0 : (end ? p->to : p->from)[joint];
}

/* of a piece, in mean pieces */
static double length_of(const psdmp_plan_program *p, int piece) { return p->share[piece] * p->pieces; }

double psdmp_plan_program_at(const psdmp_plan_program *p, const double *x, int piece, double sigma, int order,
                             int joint) {
  double c[2 * PSDMP_PLAN_MOST_HELD], sum = 0;
  psdmp_plan_piece_factors(p->held, sigma, order, c);
  for (int e = 0; e < 2 * p->held; e++)
    sum += c[e] * pow(length_of(p, piece), e % p->held - order) * end_of(p, x, piece, e / p->held, e % p->held, joint);
  return sum;
}

/* ---- entries of the matrices ---- */

static int points_of(const psdmp_plan_program *p, int piece) { return p->first[piece + 1] - p->first[piece]; }

/* index in x of local unknown e = (end, order, joint) of a piece; the last one is T. -1 if fixed */
static int local_place(const psdmp_plan_program *p, int piece, int e) {
  int slot = e / p->n;
  return e == p->local ? seconds_place(p)
                       : psdmp_plan_program_place(p, piece, slot / p->held, slot % p->held, e % p->n);
}

/* the same unknown as one of the previous piece, -1 if there it does not exist */
static int in_piece_before(const psdmp_plan_program *p, int e) {
  int slot = e / p->n;
  if (e == p->local) return e;
  return slot < p->shared ? e + p->held * p->n : -1;
}

static int triangle(int e, int f) { return e * (e + 1) / 2 + f; }

/* pieces that share two unknowns share their entry; places are stored once there is memory for them */
static void place_curves(psdmp_plan_program *p) {
  int size = triangle(p->local + 1, 0);
  p->curves = 0;
  for (int piece = 0; piece < p->pieces; piece++)
    for (int e = 0; e <= p->local; e++)
      for (int f = 0; f <= e; f++) {
        int *entry = &p->entry[piece * size + triangle(e, f)], i = local_place(p, piece, e),
            j = local_place(p, piece, f);
        int before_e = in_piece_before(p, e), before_f = in_piece_before(p, f);
        *entry = -1;
        if (i < 0 || j < 0) continue;
        if (piece > 0 && before_e >= 0 && before_f >= 0) {
          *entry = p->entry[(piece - 1) * size + triangle(before_e, before_f)];
          continue;
        }
        *entry = p->curves++;
        if (!p->curve_row) continue;
        if (e == p->local) p->time_entry[j] = *entry;
        p->curve_row[*entry] = i > j ? i : j;
        p->curve_column[*entry] = i > j ? j : i;
      }
}

/* free local unknowns of a piece, T included */
static int count_local(const psdmp_plan_program *p, int piece) {
  int count = 0;
  for (int e = 0; e <= p->local; e++) count += local_place(p, piece, e) >= 0;
  return count;
}

static void place_slopes(psdmp_plan_program *p) {
  int entry = 0, row = 0;
  for (int piece = 0; piece < p->pieces; piece++)
    for (int k = 0; k < points_of(p, piece) * p->torque_rows; k++, row++)
      for (int e = 0; e <= p->local; e++) {
        int place = local_place(p, piece, e);
        if (place < 0) continue;
        p->slope_row[entry] = row;
        p->slope_column[entry++] = place;
      }
  for (int l = 0; l < p->lines; l++, row++) {
    const psdmp_plan_optimal_line *line = &p->line[l];
    for (int k = 0; k < line->count; k++) {
      p->slope_row[entry] = row;
      p->slope_column[entry++] = p->place[line->first + k];
    }
    if (!line->power || p->duration > 0) continue;
    p->slope_row[entry] = row;
    p->slope_column[entry++] = seconds_place(p);
  }
}

static int count_slopes(const psdmp_plan_program *p) {
  int count = 0;
  for (int piece = 0; piece < p->pieces; piece++) count += points_of(p, piece) * p->torque_rows * count_local(p, piece);
  for (int l = 0; l < p->lines; l++) count += p->line[l].count + (p->line[l].power && !(p->duration > 0));
  return count;
}

/* ---- lines ---- */

/* Walks over all lines: counts first, then fills. */
typedef struct lister {
  psdmp_plan_program *p;
  bool fill;
  int lines, entries;
} lister;

/* T^-k times scale c (2 held factors in sigma) of a piece and joint, between low and high; nothing if all of it is
 * fixed */
static void list_line(lister *l, int piece, int joint, int k, const double *c, double scale, double low, double high) {
  psdmp_plan_program *p = l->p;
  psdmp_plan_optimal_line line = {.power = k, .first = l->entries};
  for (int e = 0; e < 2 * p->held; e++) {
    int place = psdmp_plan_program_place(p, piece, e / p->held, e % p->held, joint);
    double factor = scale * c[e] * pow(length_of(p, piece), e % p->held);
    if (place < 0) line.still += factor * end_of(p, NULL, piece, e / p->held, e % p->held, joint);
    if (place < 0 || factor == 0) continue;
    if (l->fill) {
      p->place[line.first + line.count] = place;
      p->factor[line.first + line.count] = factor;
    }
    line.count++;
  }
  if (!line.count) return;
  if (l->fill) {
    int row = p->points * p->torque_rows + l->lines;
    p->line[l->lines] = line;
    p->row_low[row] = low;
    p->row_high[row] = high;
  }
  l->lines++;
  l->entries += line.count;
}

/* the hull of derivative k of one piece and joint, in units of its limit if that is symmetric */
static void list_hull(lister *l, int piece, int joint, int k, double low, double high) {
  psdmp_plan_program *p = l->p;
  double c[2 * PSDMP_PLAN_MOST_HELD];
  int count = 2 * p->held - k;
  for (int i = 0; i < count; i++) {
    /* nodes have bounds of q themselves, and shared values belong to one of their two pieces */
    if ((k == 0 && (i == 0 || i == count - 1)) || (k < p->shared && i == count - 1 && piece < p->pieces - 1)) continue;
    psdmp_plan_piece_hull(p->held, k, i, c);
    list_line(l, piece, joint, k, c, k ? pow(p->pieces / length_of(p, piece), k) / high : 1, k ? -1 : low,
              k ? 1 : high);
  }
}

static void list_lines(lister *l) {
  psdmp_plan_program *p = l->p;
  for (int piece = 0; piece < p->pieces; piece++)
    for (int j = 0; j < p->n; j++) {
      if (isfinite(p->lower[j]) || isfinite(p->upper[j])) list_hull(l, piece, j, 0, p->lower[j], p->upper[j]);
      if (isfinite(p->velocity[j])) list_hull(l, piece, j, 1, 0, p->velocity[j]);
      if (isfinite(p->acceleration[j])) list_hull(l, piece, j, 2, 0, p->acceleration[j]);
    }
}

/* ---- setting up ---- */

static void set_bounds(psdmp_plan_program *p) {
  for (int i = 0; i < p->unknowns; i++) p->low[i] = -INFINITY, p->high[i] = INFINITY;
  for (int piece = 1; piece < p->pieces; piece++)
    for (int j = 0; j < p->n; j++) {
      p->low[psdmp_plan_program_place(p, piece, 0, 0, j)] = p->lower[j];
      p->high[psdmp_plan_program_place(p, piece, 0, 0, j)] = p->upper[j];
    }
  if (!(p->duration > 0)) {
    p->low[p->unknowns - 1] = p->shortest;
    p->high[p->unknowns - 1] = p->longest;
  }
  for (int row = 0; row < p->points * p->torque_rows; row++) p->row_low[row] = -1, p->row_high[row] = 1;
}

static void set_basis(psdmp_plan_program *p) {
  for (int level = 0; level < PSDMP_PLAN_LEVELS; level++)
    for (int k = 0; k < psdmp_plan_points(level); k++)
      for (int o = 0; o < p->orders; o++)
        psdmp_plan_piece_factors(p->held, psdmp_plan_level_point(level, k), o,
                                 p->basis[level] + (long)(k * p->orders + o) * 2 * p->held);
}

static double *doubles(psdmp_base_arena *arena, size_t count) {
  return psdmp_base_arena_alloc(arena, (count ? count : 1) * sizeof(double));
}
static int *integers(psdmp_base_arena *arena, size_t count) {
  return psdmp_base_arena_alloc(arena, (count ? count : 1) * sizeof(int));
}

static bool allocate(psdmp_plan_program *p, psdmp_base_arena *arena) {
  size_t unknowns = (size_t)p->unknowns, rows = (size_t)p->rows, points = (size_t)p->points, n = (size_t)p->n,
         z = n * (size_t)p->orders;
  size_t local = (size_t)p->local + 1;
  p->low = doubles(arena, 2 * unknowns);
  p->row_low = doubles(arena, 2 * rows);
  p->tau = doubles(arena, points * n);
  p->J = doubles(arena, points * n * z);
  p->z = doubles(arena, z + n + z * z + n * local + local * local);
  p->time_entry = integers(arena, unknowns);
  p->entry = integers(arena, (size_t)p->pieces * local * (local + 1) / 2);
  for (int level = 0; level < PSDMP_PLAN_LEVELS; level++)
    if (!(p->basis[level] = doubles(arena, (size_t)(psdmp_plan_points(level) * p->orders * 2 * p->held)))) return false;
  if (!p->time_entry || !p->entry || !p->low || !p->row_low || !p->tau || !p->J || !p->z) return false;
  p->high = p->low + unknowns;
  p->row_high = p->row_low + rows;
  p->lambda = p->z + z;
  p->H = p->lambda + n;
  p->D = p->H + z * z;
  p->sum = p->D + n * local;
  return true;
}

static bool allocate_places(psdmp_plan_program *p, psdmp_base_arena *arena) {
  size_t slopes = (size_t)p->slopes, curves = (size_t)p->curves;
  p->slope_row = integers(arena, 2 * slopes);
  p->curve_row = integers(arena, 2 * curves);
  if (!p->slope_row || !p->curve_row) return false;
  p->slope_column = p->slope_row + slopes;
  p->curve_column = p->curve_row + curves;
  return true;
}

static void set_sizes(psdmp_plan_program *p) {
  p->n = p->torques->n;
  p->orders = p->torques->orders;
  p->held = p->orders == 5 ? 4 : 3;
  p->shared = p->orders == 5 ? 4 : 2;
  p->local = 2 * p->held * p->n;
}

double psdmp_plan_program_bytes(const psdmp_plan_program *p) {
  psdmp_plan_program q = *p;
  set_sizes(&q);
  double points = 0, local = q.local + 1;
  for (int piece = 0; piece < q.pieces; piece++) points += psdmp_plan_points(q.level[piece]);
  return PSDMP_PLAN_SOLVER_MARGIN +
         PSDMP_PLAN_SOLVER_BYTES * (q.pieces * local * (local + 1) / 2 + points * q.n * local);
}

psdm_status psdmp_plan_program_init(psdmp_plan_program *p, psdmp_base_arena *arena) {
  set_sizes(p);
  p->unknowns = p->pieces * piece_block(p) - p->shared * p->n + !(p->duration > 0);
  /* entries of the Hessian, counted in ints */
  if ((double)p->pieces * triangle(p->local + 1, 0) > 2e8) return PSDM_E_LIMIT;
  p->torque_row = integers(arena, (size_t)p->n);
  p->first = integers(arena, (size_t)p->pieces + 1);
  if (!p->torque_row || !p->first) return PSDM_E_MEMORY;
  for (int piece = 0; piece < p->pieces; piece++)
    p->first[piece + 1] = p->first[piece] + psdmp_plan_points(p->level[piece]);
  p->points = p->first[p->pieces];
  p->torque_rows = 0;
  for (int j = 0; j < p->n; j++) p->torque_row[j] = isfinite(p->effort[j]) ? p->torque_rows++ : -1;
  /* first counts, then fills */
  lister count = {.p = p}, fill = {.p = p, .fill = true};
  list_lines(&count);
  p->lines = count.lines;
  p->rows = p->points * p->torque_rows + p->lines;
  p->line = psdmp_base_arena_alloc(arena, (size_t)(p->lines + 1) * sizeof *p->line);
  p->place = integers(arena, (size_t)count.entries);
  p->factor = doubles(arena, (size_t)count.entries);
  if (!p->line || !p->place || !p->factor || !allocate(p, arena)) return PSDM_E_MEMORY;
  list_lines(&fill);
  for (int l = 0; l < p->lines; l++)
    if (p->line[l].power == 0) {
      int row = p->rows - p->lines + l;
      p->row_low[row] -= p->line[l].still;
      p->row_high[row] -= p->line[l].still;
      p->line[l].still = 0;
    }
  p->slopes = count_slopes(p);
  place_curves(p);
  if (!allocate_places(p, arena)) return PSDM_E_MEMORY;
  set_bounds(p);
  set_basis(p);
  place_slopes(p);
  place_curves(p);
  return PSDM_OK;
}

/* ---- evaluation ---- */

/* factor of held derivative r at end a in the derivative of order o at a point, in powers of the piece's length */
static double factor_of(const psdmp_plan_program *p, int piece, int point, int o, int e) {
  return p->basis[p->level[piece]][(long)(point * p->orders + o) * 2 * p->held + e] *
         pow(length_of(p, piece), e % p->held - o);
}

/* all of one point: [o][e] */
static void point_factors(const psdmp_plan_program *p, int piece, int point, double seconds,
                          double c[PSDMP_PLAN_MOST_ORDERS][2 * PSDMP_PLAN_MOST_HELD]) {
  double power = 1;
  for (int o = 0; o < p->orders; o++, power *= p->pieces / seconds)
    for (int e = 0; e < 2 * p->held; e++) c[o][e] = factor_of(p, piece, point, o, e) * power;
}

static void point_state(const psdmp_plan_program *p, const double *x, int piece,
                        double c[PSDMP_PLAN_MOST_ORDERS][2 * PSDMP_PLAN_MOST_HELD], double *z) {
  for (int o = 0; o < p->orders; o++)
    for (int j = 0; j < p->n; j++) {
      double sum = 0;
      for (int e = 0; e < 2 * p->held; e++) sum += c[o][e] * end_of(p, x, piece, e / p->held, e % p->held, j);
      z[o * p->n + j] = sum;
    }
}

static double *tau_of(const psdmp_plan_program *p, int piece, int point) {
  return p->tau + (long)(p->first[piece] + point) * p->n;
}
static double *slope_of(const psdmp_plan_program *p, int piece, int point) {
  return p->J + (long)(p->first[piece] + point) * p->n * p->n * p->orders;
}

static bool finite(const double *x, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* torques at all points, with their derivatives if requested */
static bool see(psdmp_plan_program *p, const double *x, bool fresh, bool slope) {
  if (fresh) p->have_tau = p->have_slope = false;
  if (slope ? p->have_slope : p->have_tau) return true;
  double seconds = psdmp_plan_program_seconds(p, x), c[PSDMP_PLAN_MOST_ORDERS][2 * PSDMP_PLAN_MOST_HELD];
  for (int piece = 0; piece < p->pieces; piece++)
    for (int k = 0; k < points_of(p, piece); k++) {
      double *tau = tau_of(p, piece, k);
      point_factors(p, piece, k, seconds, c);
      point_state(p, x, piece, c, p->z);
      psdm_status status = slope ? psdmp_plan_torques_slope(p->torques, p->z, tau, slope_of(p, piece, k))
                                 : psdmp_plan_torques_at(p->torques, p->z, tau);
      if (status || !finite(tau, p->n)) return false;
    }
  p->have_tau = true;
  p->have_slope = slope;
  return true;
}

/* D (n x local + 1): derivatives of a point's torques by the unknowns of its piece, T last */
static void chain(const psdmp_plan_program *p, int piece, int point, const double *x, double seconds, double *D) {
  int local = p->local, n = p->n;
  double c[PSDMP_PLAN_MOST_ORDERS][2 * PSDMP_PLAN_MOST_HELD];
  const double *J = slope_of(p, piece, point);
  point_factors(p, piece, point, seconds, c);
  point_state(p, x, piece, c, p->z);
  for (int i = 0; i < n; i++) {
    const double *row = J + (long)i * p->orders * n;
    double *out = D + (long)i * (local + 1), by_time = 0;
    for (int e = 0; e < 2 * p->held; e++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int o = 0; o < p->orders; o++) sum += row[o * n + j] * c[o][e];
        out[e * n + j] = sum;
      }
    for (int o = 1; o < p->orders; o++)
      for (int j = 0; j < n; j++) by_time -= row[o * n + j] * o * p->z[o * n + j] / seconds;
    out[local] = by_time;
  }
}

static double point_weight(const psdmp_plan_program *p, int piece, int point) {
  return p->share[piece] * psdmp_plan_level_weight(p->level[piece], point);
}

static double effort_sum(const psdmp_plan_program *p, const double *tau) {
  double sum = 0;
  for (int j = 0; j < p->n; j++) sum += p->weight[j] * tau[j] * tau[j];
  return sum;
}

static bool objective(void *user, const double *x, bool fresh, double *f) {
  psdmp_plan_program *p = user;
  double seconds = psdmp_plan_program_seconds(p, x), sum = 0;
  if (!see(p, x, fresh, false)) return false;
  for (int piece = 0; piece < p->pieces && p->energy > 0; piece++)
    for (int k = 0; k < points_of(p, piece); k++) sum += point_weight(p, piece, k) * effort_sum(p, tau_of(p, piece, k));
  *f = seconds * (p->time + p->energy * sum);
  return true;
}

static bool gradient(void *user, const double *x, bool fresh, double *out) {
  psdmp_plan_program *p = user;
  double seconds = psdmp_plan_program_seconds(p, x);
  int local = p->local, last = seconds_place(p);
  if (!see(p, x, fresh, p->energy > 0)) return false;
  memset(out, 0, sizeof *out * (size_t)p->unknowns);
  if (last >= 0) out[last] = p->time;
  for (int piece = 0; piece < p->pieces && p->energy > 0; piece++)
    for (int k = 0; k < points_of(p, piece); k++) {
      const double *tau = tau_of(p, piece, k);
      double weight = p->energy * point_weight(p, piece, k);
      if (weight == 0) continue;
      chain(p, piece, k, x, seconds, p->D);
      if (last >= 0) out[last] += weight * effort_sum(p, tau);
      for (int e = 0; e <= local; e++) {
        int place = local_place(p, piece, e);
        for (int j = 0; j < p->n && place >= 0; j++)
          out[place] += 2 * weight * seconds * p->weight[j] * tau[j] * p->D[(long)j * (local + 1) + e];
      }
    }
  return true;
}

static double line_sum(const psdmp_plan_program *p, const psdmp_plan_optimal_line *line, const double *x) {
  double sum = line->still;
  for (int k = 0; k < line->count; k++) sum += p->factor[line->first + k] * x[p->place[line->first + k]];
  return sum;
}

static bool constraints(void *user, const double *x, bool fresh, double *g) {
  psdmp_plan_program *p = user;
  double seconds = psdmp_plan_program_seconds(p, x);
  if (!see(p, x, fresh, false)) return false;
  for (int k = 0; k < p->points; k++)
    for (int j = 0; j < p->n; j++)
      if (p->torque_row[j] >= 0) g[k * p->torque_rows + p->torque_row[j]] = p->tau[(long)k * p->n + j] / p->effort[j];
  g += p->rows - p->lines;
  for (int l = 0; l < p->lines; l++) g[l] = line_sum(p, &p->line[l], x) * pow(seconds, -p->line[l].power);
  return true;
}

static bool slope(void *user, const double *x, bool fresh, double *values) {
  psdmp_plan_program *p = user;
  double seconds = psdmp_plan_program_seconds(p, x);
  int local = p->local;
  if (!see(p, x, fresh, true)) return false;
  for (int piece = 0; piece < p->pieces; piece++)
    for (int k = 0; k < points_of(p, piece) && p->torque_rows; k++) {
      chain(p, piece, k, x, seconds, p->D);
      for (int j = 0; j < p->n; j++)
        for (int e = 0; e <= local && p->torque_row[j] >= 0; e++)
          if (local_place(p, piece, e) >= 0) *values++ = p->D[(long)j * (local + 1) + e] / p->effort[j];
    }
  for (int l = 0; l < p->lines; l++) {
    const psdmp_plan_optimal_line *line = &p->line[l];
    double power = pow(seconds, -line->power);
    for (int k = 0; k < line->count; k++) *values++ = p->factor[line->first + k] * power;
    if (line->power && !(p->duration > 0)) *values++ = -line->power * line_sum(p, line, x) * power / seconds;
  }
  return true;
}

/* ---- second derivatives ---- */

/* local += contribution of the curvature of lambda . tau at a point: C^T H C by the nodes, and T through all
 * derivatives */
static void add_curvature(const psdmp_plan_program *p, int piece, int point, double seconds, double *sum) {
  int local = p->local, n = p->n, width = 2 * p->held, size = p->orders * n;
  const double *J = slope_of(p, piece, point);
  double c[PSDMP_PLAN_MOST_ORDERS][2 * PSDMP_PLAN_MOST_HELD], twice = 0;
  point_factors(p, piece, point, seconds, c);
  for (int j = 0; j < n; j++)
    for (int m = 0; m < n; m++)
      for (int e = 0; e < width; e++) {
        double half[PSDMP_PLAN_MOST_ORDERS]; /* row e of C^T H for joints j and m */
        for (int o = 0; o < p->orders; o++) {
          half[o] = 0;
          for (int r = 0; r < p->orders; r++) half[o] += c[r][e] * p->H[(long)(r * n + j) * size + o * n + m];
        }
        for (int f = 0; f < width; f++)
          for (int o = 0; o < p->orders; o++) sum[(long)(e * n + j) * (local + 1) + f * n + m] += half[o] * c[o][f];
        for (int o = 1; o < p->orders; o++)
          sum[(long)local * (local + 1) + e * n + j] -= half[o] * o * p->z[o * n + m] / seconds;
      }
  for (int o = 1; o < p->orders; o++)
    for (int j = 0; j < n; j++) {
      double g = 0, Hz = 0;
      for (int i = 0; i < n; i++) g += p->lambda[i] * J[(long)i * size + o * n + j];
      for (int r = 1; r < p->orders; r++)
        for (int m = 0; m < n; m++) Hz += p->H[(long)(o * n + j) * size + r * n + m] * r * p->z[r * n + m];
      twice += o * p->z[o * n + j] * Hz + g * o * (o + 1) * p->z[o * n + j];
      for (int e = 0; e < width; e++) sum[(long)local * (local + 1) + e * n + j] -= g * o * c[o][e] / seconds;
    }
  sum[(long)local * (local + 1) + local] += twice / (seconds * seconds);
}

/* local += the part of the objective that is a product of first derivatives */
static void add_squares(const psdmp_plan_program *p, const double *tau, double weight, double seconds, double *sum) {
  int local = p->local;
  for (int j = 0; j < p->n; j++) {
    const double *D = p->D + (long)j * (local + 1);
    double a = 2 * weight * p->weight[j];
    for (int e = 0; e <= local; e++) {
      for (int f = 0; f <= e; f++) sum[(long)e * (local + 1) + f] += a * seconds * D[e] * D[f];
      sum[(long)local * (local + 1) + e] += a * tau[j] * D[e] * (e == local ? 2 : 1);
    }
  }
}

static bool add_point(psdmp_plan_program *p, const double *x, int piece, int k, double factor, const double *multiplier,
                      double seconds) {
  const double *tau = tau_of(p, piece, k), *row = multiplier + (long)(p->first[piece] + k) * p->torque_rows;
  double weight = factor * p->energy * point_weight(p, piece, k);
  for (int j = 0; j < p->n; j++)
    p->lambda[j] = (p->torque_row[j] >= 0 ? row[p->torque_row[j]] / p->effort[j] : 0) +
                   2 * weight * seconds * p->weight[j] * tau[j];
  chain(p, piece, k, x, seconds, p->D); /* also sets z */
  if (psdmp_plan_torques_curve(p->torques, p->z, p->lambda, p->H) || !finite(p->H, p->orders * p->n * p->orders * p->n))
    return false;
  add_curvature(p, piece, k, seconds, p->sum);
  if (p->energy > 0) add_squares(p, tau, weight, seconds, p->sum);
  return true;
}

/* adds a piece's triangle to the entries */
static void spread(const psdmp_plan_program *p, int piece, double *values) {
  const int *entry = p->entry + (long)piece * triangle(p->local + 1, 0);
  for (int e = 0; e <= p->local; e++)
    for (int f = 0; f <= e; f++, entry++)
      if (*entry >= 0) values[*entry] += p->sum[(long)e * (p->local + 1) + f];
}

static void add_lines(const psdmp_plan_program *p, const double *x, const double *multiplier, double seconds,
                      double *values) {
  int last = seconds_place(p);
  for (int l = 0; l < p->lines && last >= 0; l++) {
    const psdmp_plan_optimal_line *line = &p->line[l];
    double m = multiplier[p->rows - p->lines + l] * pow(seconds, -line->power);
    int o = line->power;
    if (!o) continue;
    for (int k = 0; k < line->count; k++)
      values[p->time_entry[p->place[line->first + k]]] -= m * o * p->factor[line->first + k] / seconds;
    values[p->time_entry[last]] += m * o * (o + 1) * line_sum(p, line, x) / (seconds * seconds);
  }
}

static bool curve(void *user, const double *x, bool fresh, double factor, const double *multiplier, double *values) {
  psdmp_plan_program *p = user;
  double seconds = psdmp_plan_program_seconds(p, x);
  size_t local = (size_t)p->local + 1;
  if (!see(p, x, fresh, true)) return false;
  memset(values, 0, sizeof *values * (size_t)p->curves);
  for (int piece = 0; piece < p->pieces; piece++) {
    memset(p->sum, 0, sizeof *p->sum * local * local);
    for (int k = 0; k < points_of(p, piece); k++)
      if (!add_point(p, x, piece, k, factor, multiplier, seconds)) return false;
    spread(p, piece, values);
  }
  add_lines(p, x, multiplier, seconds, values);
  return true;
}

void psdmp_plan_program_problem(psdmp_plan_program *p, psdmp_plan_solver_problem *problem) {
  *problem = (psdmp_plan_solver_problem){.unknowns = p->unknowns,
                                         .rows = p->rows,
                                         .slopes = p->slopes,
                                         .curves = p->curves,
                                         .low = p->low,
                                         .high = p->high,
                                         .row_low = p->row_low,
                                         .row_high = p->row_high,
                                         .slope_row = p->slope_row,
                                         .slope_column = p->slope_column,
                                         .curve_row = p->curve_row,
                                         .curve_column = p->curve_column,
                                         .objective = objective,
                                         .gradient = gradient,
                                         .constraints = constraints,
                                         .slope = slope,
                                         .curve = curve,
                                         .user = p};
}
