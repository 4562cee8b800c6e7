/* bounds_series.c: the model's monomials in s and c as exponentials of integer multiples of the angles, and bounds from
 * the amplitudes of these waves. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "analyze/bounds_priv.h"

enum { MOST_CODES = 1 << 22, MOST_WAVES = 64 };

/* s^a c^b of one joint: the sum of z exp(i k q) */
typedef struct expansion {
  int count;
  int k[MOST_WAVES];
  double complex z[MOST_WAVES];
} expansion;

/* F(q) = sum over codes of z_code exp(i k q) q^e; a code has a digit k_j + K_j per revolute joint and e_j per prismatic
 * one */
typedef struct series {
  const psdm_model *model;
  int n;
  int *K;                /* (n) highest frequency; of prismatic joints highest power */
  size_t *weight;        /* (n) of a joint's digit in a code */
  size_t codes, middle;  /* middle: no waves, no powers */
  expansion **table;     /* (n) one per digit of the model */
  double complex *value; /* (codes) of one entry */
} series;

static int digit_of(const psdm_model *m, uint64_t code, int j) {
  return (int)(code / m->weight[j] % (uint64_t)m->radix[j]);
}

/* times (e^iq + e^-iq)/2, or (e^iq - e^-iq)/2i */
static void multiply(expansion *x, bool sine) {
  double complex z[2 * MOST_WAVES + 1] = {0};
  for (int i = 0; i < x->count; i++) {
    z[MOST_WAVES + x->k[i] + 1] += sine ? x->z[i] / (2 * I) : x->z[i] / 2;
    z[MOST_WAVES + x->k[i] - 1] += sine ? -x->z[i] / (2 * I) : x->z[i] / 2;
  }
  x->count = 0;
  for (int k = -MOST_WAVES; k <= MOST_WAVES && x->count < MOST_WAVES; k++) {
    if (z[MOST_WAVES + k] == 0) continue;
    x->k[x->count] = k;
    x->z[x->count++] = z[MOST_WAVES + k];
  }
}

/* radix <= 64: at most 32 factors, 33 waves */
static bool make_table(psdmp_base_arena *arena, series *s) {
  s->table = psdmp_base_arena_alloc(arena, sizeof *s->table * (size_t)s->n);
  for (int j = 0; j < s->n && s->table; j++) {
    int radix = s->model->radix[j];
    s->table[j] = psdmp_base_arena_alloc(arena, sizeof **s->table * (size_t)radix);
    if (!s->table[j]) return false;
    for (int digit = 0; digit < radix; digit++) {
      expansion *x = &s->table[j][digit];
      *x = (expansion){.count = 1, .z = {1}};
      if (s->model->prismatic[j]) x->k[0] = digit;
      else
        for (int f = 0; f < digit % 2 + digit / 2; f++) multiply(x, f < digit % 2);
    }
  }
  return s->table != NULL;
}

/* classes of the model in a part */
static void classes_of(const psdm_model *m, psdmp_analyze_series_part part, int *first, int *end) {
  *first = part == PSDMP_ANALYZE_GRAVITY ? 0 : part == PSDMP_ANALYZE_MASS ? 1 : 1 + m->n;
  *end = part == PSDMP_ANALYZE_GRAVITY ? 1 : part == PSDMP_ANALYZE_MASS ? 1 + m->n : m->classes;
}

static psdm_status lay_out(psdmp_base_arena *arena, series *s, int first, int end) {
  const psdm_model *model = s->model;
  int n = s->n;
  s->K = psdmp_base_arena_alloc(arena, sizeof *s->K * (size_t)n);
  s->weight = psdmp_base_arena_alloc(arena, sizeof *s->weight * (size_t)n);
  if (!s->K || !s->weight || !make_table(arena, s)) return PSDM_E_MEMORY;
  for (long f = model->class_start[first]; f < model->class_start[end]; f++)
    for (int j = 0; j < n; j++) {
      int digit = digit_of(model, model->code[f], j), degree = model->prismatic[j] ? digit : digit % 2 + digit / 2;
      if (degree > s->K[j]) s->K[j] = degree;
    }
  s->codes = 1;
  for (int j = 0; j < n; j++) {
    s->weight[j] = s->codes;
    if (!model->prismatic[j]) s->middle += s->codes * (size_t)s->K[j];
    s->codes *= (size_t)((model->prismatic[j] ? 1 : 2) * s->K[j] + 1);
    if (s->codes > MOST_CODES) return PSDM_E_LIMIT;
  }
  s->value = psdmp_base_arena_alloc(arena, sizeof *s->value * s->codes);
  return s->value ? PSDM_OK : PSDM_E_MEMORY;
}

/* one function, joint by joint, from a code without waves */
static void expand(const series *s, uint64_t code, int j, size_t at, double complex z) {
  while (j < s->n && digit_of(s->model, code, j) == 0) j++;
  if (j == s->n) {
    s->value[at] += z;
    return;
  }
  const expansion *x = &s->table[j][digit_of(s->model, code, j)];
  for (int i = 0; i < x->count; i++) expand(s, code, j + 1, at + (size_t)x->k[i] * s->weight[j], z * x->z[i]);
}

/* the coefficients of one class's functions in one joint's torque */
static void expand_entry(const series *s, const double *theta, int class, int row) {
  const psdm_model *model = s->model;
  memset(s->value, 0, sizeof *s->value * s->codes);
  for (long f = model->class_start[class]; f < model->class_start[class + 1]; f++) {
    double sum = 0;
    for (long e = model->P_start[f]; e < model->P_start[f + 1]; e++)
      if (model->P[e].joint == row) sum += model->P[e].value * theta[model->P[e].parameter];
    if (sum != 0) expand(s, model->code[f], 0, s->middle, sum);
  }
}

/* ---- sums over the waves of one entry: the triangle inequality ---- */

static int digit(const series *s, size_t code, int j) {
  bool slides = s->model->prismatic[j];
  int span = (slides ? 1 : 2) * s->K[j] + 1, x = (int)(code / s->weight[j] % (size_t)span);
  return slides ? x : x - s->K[j];
}

static double power(double x, int e) {
  double product = 1;
  while (e-- > 0) product *= x;
  return product;
}

static double largest(const psdmp_analyze_range *r) { return fmax(fabs(r->lower), fabs(r->upper)); }

/* quantities summed, one number each: all, bends (n), swings (n), degree one (n) and two (n x n) in unlimited joints */
static int quantities(int n) { return 1 + 3 * n + n * n; }

/* a wave's amplitude with the powers of all prismatic joints but one; unlimited joints count separately */
static double height_of(const series *s, size_t code, const psdmp_analyze_range *range, int but) {
  double size = cabs(s->value[code]);
  for (int j = 0; j < s->n && size > 0; j++)
    if (s->model->prismatic[j] && !range[j].unlimited && j != but) size *= power(largest(&range[j]), digit(s, code, j));
  return size;
}

/* its degree in unlimited joints, and these joints (one twice for a square) */
static int degree_of(const series *s, size_t code, const psdmp_analyze_range *range, int which[2]) {
  int degree = 0;
  for (int j = 0; j < s->n; j++)
    for (int e = 0; range[j].unlimited && e < digit(s, code, j); e++, degree++)
      if (degree < 2) which[degree] = j;
  return degree;
}

static void add_wave(const series *s, size_t code, const psdmp_analyze_range *range, double *sum) {
  int n = s->n, which[2], degree = degree_of(s, code, range, which);
  double size = height_of(s, code, range, -1), *bend = sum + 1, *swing = bend + n, *one = swing + n, *two = one + n;
  if (degree == 1) one[which[0]] += size;
  if (degree == 2) two[which[0] * n + which[1]] += size;
  if (degree) return; /* otherwise unlimited joints are at 0 */
  *sum += size;
  for (int j = 0; j < n; j++) {
    int k = digit(s, code, j);
    if (k) swing[j] += size;
    if (s->model->prismatic[j])
      bend[j] += k > 1 ? k * (k - 1) * power(largest(&range[j]), k - 2) * height_of(s, code, range, j) : 0;
    else bend[j] += (double)k * k * size;
  }
}

static void sum_entry(const series *s, const psdmp_analyze_range *range, double *sum) {
  memset(sum, 0, sizeof *sum * (size_t)quantities(s->n));
  for (size_t code = 0; code < s->codes; code++)
    if (s->value[code] != 0) add_wave(s, code, range, sum);
}

/* ---- norms of bounds on the entries: ||F|| <= ||B|| where |F_ij| <= B_ij ---- */

/* bound: (n x n x n) of quantity q; entry (i, j, k) of M has k = 0, of g j = k = 0 */
static double norm_of(psdmp_analyze_norms *norms, psdmp_analyze_series_part part, const double *bound, int count,
                      int q) {
  int n = norms->n, rest = part == PSDMP_ANALYZE_CORIOLIS ? n : 1;
  double square = 0;
  /* joints whose velocities the net searches, and the others, as in psdmp_analyze_norms_coriolis_bound */
  for (int others = 0; others < (part == PSDMP_ANALYZE_CORIOLIS ? 2 : 1); others++) {
    memset(norms->copy, 0, sizeof *norms->copy * (size_t)n * (size_t)n);
    for (int k = 0; k < rest; k++) {
      bool chosen = false;
      for (int c = 0; c < norms->choices; c++) chosen = chosen || norms->chosen[c] == k;
      if (part == PSDMP_ANALYZE_CORIOLIS && chosen == (others == 1)) continue;
      for (int i = 0; i < n; i++)
        for (int a = 0; a < n; a++)
          for (int b = 0; b < n; b++)
            norms->copy[a * n + b] += bound[((size_t)(i * n + a) * (size_t)n + (size_t)k) * (size_t)count + (size_t)q] *
                                      bound[((size_t)(i * n + b) * (size_t)n + (size_t)k) * (size_t)count + (size_t)q];
    }
    square += fmax(psdmp_analyze_norms_eigen(norms, norms->copy)[n - 1], 0);
  }
  return sqrt(square) * (1 + 1e-12);
}

static void put(double *bound, int n, int count, int i, int j, int k, const double *sum, double factor) {
  double *at = bound + ((size_t)(i * n + j) * (size_t)n + (size_t)k) * (size_t)count;
  for (int q = 0; q < count; q++) at[q] = factor * sum[q];
}

/* one entry of the model at its places in F */
static void place(double *bound, const psdm_model *model, psdmp_analyze_series_part part, int class, int row,
                  const double *scale, double gravity, const double *sum) {
  int n = model->n, count = quantities(n), a, b;
  psdm_model_class_rates(model, class, &a, &b);
  if (part == PSDMP_ANALYZE_GRAVITY) put(bound, n, count, row, 0, 0, sum, gravity);
  if (part == PSDMP_ANALYZE_MASS) put(bound, n, count, row, a, 0, sum, scale ? 1 / (scale[row] * scale[a]) : 1);
  if (part == PSDMP_ANALYZE_CORIOLIS) {
    /* qd_a qd_b has c_iab + c_iba */
    put(bound, n, count, row, a, b, sum, a == b ? 1 : 0.5);
    put(bound, n, count, row, b, a, sum, a == b ? 1 : 0.5);
  }
}

/* |sum q_a F_a| <= |q| sqrt(sum |F_a|^2), and so for products: Cauchy and Schwarz */
static void collect(psdmp_analyze_norms *norms, psdmp_analyze_series_part part, const double *bound,
                    psdmp_analyze_heights *out) {
  int n = norms->n, count = quantities(n);
  out->all = norm_of(norms, part, bound, count, 0);
  for (int j = 0; j < n; j++) {
    out->bend[j] = norm_of(norms, part, bound, count, 1 + j);
    out->swing[j] = norm_of(norms, part, bound, count, 1 + n + j);
  }
  for (int q = 1 + 2 * n; q < count; q++) {
    double *growth = &out->growth[q < 1 + 3 * n ? 1 : 2];
    *growth = hypot(*growth, norm_of(norms, part, bound, count, q));
  }
}

psdm_status psdmp_analyze_heights_make(psdmp_base_arena *arena, const psdm_model *model, const double *theta,
                                       double gravity, const psdmp_analyze_range *range, psdmp_analyze_series_part part,
                                       const double *scale, psdmp_analyze_norms *norms, psdmp_analyze_heights *out) {
  psdmp_base_arena own = {.allocator = arena->allocator};
  series s = {.model = model, .n = model->n};
  size_t n = (size_t)model->n, count = (size_t)quantities(model->n);
  int first, end;
  classes_of(model, part, &first, &end);
  *out = (psdmp_analyze_heights){.bend = psdmp_base_arena_alloc(arena, sizeof(double) * n),
                                 .swing = psdmp_base_arena_alloc(arena, sizeof(double) * n)};
  psdm_status status = lay_out(&own, &s, first, end);
  double *bound = status ? NULL : psdmp_base_arena_alloc(&own, sizeof *bound * n * n * n * count),
         *sum = psdmp_base_arena_alloc(&own, sizeof *sum * count);
  if (!status && (!bound || !sum || !out->bend || !out->swing)) status = PSDM_E_MEMORY;
  for (int class = first; class < end && !status; class ++)
    for (int row = 0; row < model->n; row++) {
      expand_entry(&s, theta, class, row);
      sum_entry(&s, range, sum);
      place(bound, model, part, class, row, scale, gravity, sum);
    }
  if (!status) collect(norms, part, bound, out);
  psdmp_base_arena_free(&own);
  return status;
}

psdm_status psdmp_analyze_heights_diagonal(const psdm_allocator *allocator, const psdm_model *model,
                                           const double *theta, const psdmp_analyze_range *range, int i,
                                           double *least) {
  psdmp_base_arena own = {.allocator = allocator};
  series s = {.model = model, .n = model->n};
  psdm_status status = lay_out(&own, &s, 1, 1 + model->n);
  double *sum = psdmp_base_arena_alloc(&own, sizeof *sum * (size_t)quantities(model->n));
  if (!status && !sum) status = PSDM_E_MEMORY;
  *least = 0;
  if (!status) {
    bool grows = false;
    expand_entry(&s, theta, 1 + i, i);
    sum_entry(&s, range, sum);
    for (int q = 1 + 2 * model->n; q < quantities(model->n); q++) grows = grows || sum[q] > 0;
    /* the mean, which is positive, minus the waves */
    if (!grows) *least = fmax(2 * cabs(s.value[s.middle]) - sum[0], 0);
  }
  psdmp_base_arena_free(&own);
  return status;
}
