/* sums.c: sums over many states: contributions, errors, normal equations. Blocks of states are drawn from their
 * number alone; so many of them are a unit, and units are added along a tree (parallel/spread.c): threads and ranks
 * change no bit. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "reduce/reduce.h"
#include "linalg/linalg.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { LANES = PSDMP_REDUCE_LANES, MEDIANS = 96 << PSDMP_REDUCE_MEDIAN_BITS };
enum { RANK, ERRORS, NORMAL, INTRODUCE, FORGET }; /* what is summed; what other ranks are told */
static const long unit_blocks[] = {128, 64, 64};  /* bins of all functions are large: few units of RANK */

/* ---- what is asked for ---- */

/* One sum, the same for all threads. */
typedef struct aim {
  psdm_reducer *r;
  int kind;
  psdmp_reduce_stream stream;
  long total;
  psdmp_reduce_part part;
  double *size;                 /* RANK: (functions) norms of the coefficients */
  bool *used;                   /* NORMAL: (n x l) */
  size_t sums, largest, counts; /* numbers of a part: added, the larger taken, and counted */
  atomic_long done;             /* units */
  long units;
} aim;

/* One part of it. */
typedef struct sums {
  double *x;       /* (sums + largest) */
  uint32_t *count; /* (counts) */
} sums;

/* What one thread needs. */
typedef struct space {
  aim *g;
  psdmp_base_arena arena;
  psdmp_reduce_source source;
  psdmp_reduce_states states;
  psdmp_reduce_products products;
  double *tau, *M, *Y, *w; /* (n x LANES), (n x n x LANES), (n x l x LANES), (classes x LANES) */
  double *one;             /* (n x n) M of a lane */
} space;

static long blocks_of(long total) { return (total + LANES - 1) / LANES; }

/* ---- contributions ---- */

/* sum of x y over the lanes, eight sums side by side */
static double dot(const double *restrict x, const double *restrict y) {
  double sum[8] = {0};
  for (int k = 0; k < LANES; k += 8)
    for (int i = 0; i < 8; i++) sum[i] += x[k + i] * y[k + i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* |rate| / |tau| of every class */
static void relative_rates(const psdm_model *m, const psdmp_reduce_states *s, double *w) {
  double inverse[LANES];
  for (int k = 0; k < LANES; k++) {
    double sum = 0;
    for (int j = 0; j < s->n; j++) sum += s->tau[j * LANES + k] * s->tau[j * LANES + k];
    inverse[k] = sum > 0 ? 1 / sqrt(sum) : 0;
  }
  for (int c = 0; c < m->classes; c++)
    for (int k = 0; k < LANES; k++) w[c * LANES + k] = fabs(s->rate[c * LANES + k]) * inverse[k];
}

/* one function's sums over a block: mean, largest, and the bins of its median (nullable) */
static void add_contribution(const double *restrict product, const double *restrict w, double size, int states,
                             double *mean, double *most, uint32_t *bins) {
  double x[LANES];
  for (int k = 0; k < LANES; k++) x[k] = fabs(product[k]);
  *mean += size * dot(x, w);
  if (!bins) return;
  double largest[8] = {0};
  for (int k = 0; k < LANES; k += 8)
    for (int i = 0; i < 8; i++) {
      double y = x[k + i] * w[k + i];
      largest[i] = y > largest[i] ? y : largest[i];
    }
  for (int i = 0; i < 8; i++)
    if (size * largest[i] > *most) *most = size * largest[i];
  for (int k = 0; k < states; k++) bins[psdmp_reduce_bin(size * x[k] * w[k], PSDMP_REDUCE_MEDIAN_BITS)]++;
}

static void add_contributions(space *x, sums *to) {
  const aim *g = x->g;
  const psdm_model *m = g->r->model;
  relative_rates(m, &x->states, x->w);
  x->products.any = false;
  for (long k = 0; k < g->part.functions; k++) {
    long f = g->part.function[k];
    const double *product = psdmp_reduce_product(m, &x->states, &x->products, m->code[f]);
    add_contribution(product, x->w + g->part.class[k] * LANES, g -> size[k], x -> states.count, &to->x[f],
                     &to->x[m->p + f], g->counts ? to->count + f *MEDIANS : NULL);
  }
}

/* ---- errors ---- */

/* |M^-1 r| / |qdd|: with the reduced M and the exact motion this is the error of the reduced model's accelerations.
 * Infinite where M is not positive definite. */
static double forward_error(const space *x, int lane, const double *residual) {
  double *M = x->one, y[64], sum = 0;
  int n = x->states.n;
  for (int i = 0; i < n * n; i++) M[i] = x->M[i * LANES + lane];
  if (!psdmp_linalg_cholesky(n, M)) return INFINITY;
  memcpy(y, residual, (size_t)n * sizeof *y);
  psdmp_linalg_cholesky_solve(n, M, y);
  for (int i = 0; i < n; i++) sum += y[i] * y[i];
  return sqrt(sum) / x->states.scale[lane];
}

static double lane_error(const space *x, int lane) {
  double residual[64], sum = 0;
  int n = x->states.n;
  for (int i = 0; i < n; i++) {
    residual[i] = x->states.tau[i * LANES + lane] - x->tau[i * LANES + lane];
    sum += residual[i] * residual[i];
  }
  if (sum == 0) return 0;
  return x->g->r->options.forward ? forward_error(x, lane, residual) : sqrt(sum) / x->states.scale[lane];
}

static void add_errors(space *x, sums *to) {
  psdmp_reduce_part_torque(&x->g->part, &x->states, &x->products, x->tau, x->g->r->options.forward ? x->M : NULL);
  for (int k = 0; k < x->states.count; k++) to->count[psdmp_reduce_bin(lane_error(x, k), PSDMP_REDUCE_BIN_BITS)]++;
}

/* ---- normal equations ---- */

/* G += Y^T Y, h += Y^T r over a block, rows weighted */
static void add_normal(space *x, sums *to) {
  const psdm_reducer *r = x->g->r;
  const bool *used = x->g->used;
  int n = r->model->n, l = r->model->l;
  double residual[LANES], *G = to->x, *h = to->x + (long)l * l;
  psdmp_reduce_part_regressor(&x->g->part, &x->states, &x->products, x->Y);
  for (int i = 0; i < n; i++) {
    double *Y = x->Y + i * l * LANES;
    for (int k = 0; k < LANES; k++) residual[k] = x->states.tau[i * LANES + k];
    for (int j = 0; j < l; j++)
      for (int k = 0; used[i * l + j] && k < LANES; k++) residual[k] -= r->theta[j] * Y[j * LANES + k];
    for (int k = 0; k < LANES; k++) residual[k] *= x->states.weight[k];
    for (int j = 0; j < l; j++) {
      if (!used[i * l + j]) continue;
      for (int k = 0; k < LANES; k++) Y[j * LANES + k] *= x->states.weight[k];
      h[j] += dot(Y + j * LANES, residual);
      for (int c = 0; c <= j; c++)
        if (used[i * l + c]) G[(long)j * l + c] += dot(Y + j * LANES, Y + c * LANES);
    }
  }
}

/* ---- parts ---- */

static const psdm_allocator *allocator_of(const aim *g) { return g->r->arena.allocator; }

static void part_free(void *user, void *part) {
  sums *s = part;
  if (!s) return;
  psdmp_base_free(allocator_of(user), s->x);
  psdmp_base_free(allocator_of(user), s->count);
  psdmp_base_free(allocator_of(user), s);
}

static sums *part_new(aim *g) {
  sums *s = psdmp_base_alloc(allocator_of(g), sizeof *s);
  if (!s) return NULL;
  s->x = psdmp_base_alloc(allocator_of(g), (g->sums + g->largest + 1) * sizeof *s->x);
  s->count = psdmp_base_alloc(allocator_of(g), (g->counts + 1) * sizeof *s->count);
  if (s->x && s->count) return s;
  part_free(g, s);
  return NULL;
}

static psdm_status part_merge(void *user, void *left, void *right) {
  const aim *g = user;
  sums *a = left, *b = right;
  for (size_t k = 0; k < g->sums; k++) a->x[k] += b->x[k];
  for (size_t k = g->sums; k < g->sums + g->largest; k++) a->x[k] = fmax(a->x[k], b->x[k]);
  for (size_t k = 0; k < g->counts; k++) a->count[k] += b->count[k];
  part_free(user, right);
  return PSDM_OK;
}

static void part_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const aim *g = user;
  const sums *s = part;
  psdmp_parallel_bytes_put(to, s->x, (g->sums + g->largest) * sizeof *s->x);
  psdmp_parallel_bytes_put(to, s->count, g->counts * sizeof *s->count);
}

static void *part_get(void *user, psdmp_parallel_bytes *from) {
  aim *g = user;
  sums *s = part_new(g);
  if (!s) return NULL;
  psdmp_parallel_bytes_get(from, s->x, (g->sums + g->largest) * sizeof *s->x);
  psdmp_parallel_bytes_get(from, s->count, g->counts * sizeof *s->count);
  if (!from->failed) return s;
  part_free(user, s);
  return NULL;
}

/* ---- threads ---- */

static void space_free(void *user, void *memory) {
  space *x = memory;
  psdm_work_free(x->source.work, allocator_of(user));
  psdmp_base_arena_free(&x->arena);
  psdmp_base_free(allocator_of(user), x);
}

static void *space_new(void *user) {
  aim *g = user;
  const psdm_model *m = g->r->model;
  int n = m->n;
  space *x = psdmp_base_alloc(allocator_of(g), sizeof *x);
  if (!x) return NULL;
  x->g = g;
  x->arena.allocator = allocator_of(g);
  x->source = g->r->source;
  x->source.work = NULL;
  psdm_status status = psdm_work_new(g->r->robot, allocator_of(g), &x->source.work);
  x->tau = PSDMP_BASE_NEW(&x->arena, n * LANES, double);
  x->M = PSDMP_BASE_NEW(&x->arena, n * n * LANES, double);
  x->one = PSDMP_BASE_NEW(&x->arena, n * n, double);
  x->Y = g->kind == NORMAL ? PSDMP_BASE_NEW(&x->arena, (size_t)n * (size_t)m->l * LANES, double) : NULL;
  x->w = PSDMP_BASE_NEW(&x->arena, m->classes * LANES, double);
  if (!status && x->tau && x->M && x->one && (x->Y || g->kind != NORMAL) && x->w &&
      psdmp_reduce_states_start(m, &x->arena, &x->states) && psdmp_reduce_products_start(n, &x->arena, &x->products))
    return x;
  space_free(user, x);
  return NULL;
}

/* only the thread that called asks whether to go on */
static psdm_status tell(aim *g, psdm_error *error) {
  psdm_reducer *r = g->r;
  long done = atomic_fetch_add(&g->done, 1);
  double share = r->from + (r->to - r->from) * (double)done / (double)(g->units ? g->units : 1);
#ifdef _OPENMP
  if (omp_get_thread_num() != 0) return PSDM_OK;
#endif
  if (g->kind == NORMAL || r->stopped || !r->options.progress) return PSDM_OK; /* what is done after a stop is short */
  r->told = share > r->told ? share : r->told;
  if (r->options.progress(r->options.progress_user, "reducing", r->told)) return PSDM_OK;
  r->stopped = true;
  return psdmp_base_fail(error, PSDM_E_STOPPED, NULL, 0, 0, "stopped on request");
}

static psdm_status make_unit(void *memory, long unit, void **part, psdm_error *error) {
  static void (*const add[])(space * x, sums * to) = {add_contributions, add_errors, add_normal};
  space *x = memory;
  aim *g = x->g;
  long first = unit * unit_blocks[g->kind], last = first + unit_blocks[g->kind], blocks = blocks_of(g->total);
  psdm_status status = tell(g, error);
  sums *to = status ? NULL : part_new(g);
  if (status || !to) return status ? status : psdmp_base_no_memory("", error);
  for (long b = first; b < last && b < blocks && !status; b++) {
    status = psdmp_reduce_states_fill(&x->source, g->stream, b, g->total, &x->states);
    if (!status) add[g->kind](x, to);
  }
  if (status) {
    part_free(g, to);
    return psdmp_base_fail(error, status, NULL, 0, 0, "%s", psdm_status_text(status));
  }
  *part = to;
  return PSDM_OK;
}

/* ---- one sum ---- */

/* coefficients by joint, and their norms; arena: what lives as long as the sum */
static bool set_sizes(psdm_reducer *r, aim *g, psdmp_base_arena *arena) {
  const psdmp_reduce_part *part = &g->part;
  g->size = PSDMP_BASE_NEW(arena, part->functions, double);
  for (long k = 0; g->size && k < part->functions; k++) {
    double sum = 0;
    for (long e = part->start[k]; e < part->start[k + 1]; e++) {
      r->size[part->function[k] * r->model->n + part->entry[e].joint] = fabs(part->entry[e].value);
      sum += part->entry[e].value * part->entry[e].value;
    }
    g->size[k] = sqrt(sum);
  }
  return g->size != NULL;
}

/* parameters that are zero stay zero */
static bool set_used(aim *g, psdmp_base_arena *arena) {
  const psdm_reducer *r = g->r;
  int l = r->model->l;
  g->used = PSDMP_BASE_NEW(arena, r->model->n * l, bool);
  for (long e = 0; g->used && e < g->part.start[g->part.functions]; e++)
    g->used[g->part.entry[e].joint * l + g->part.entry[e].parameter] = r->theta[g->part.entry[e].parameter] != 0;
  return g->used != NULL;
}

static bool make_aim(psdm_reducer *r, int kind, psdmp_reduce_stream stream, long total, psdmp_base_arena *arena,
                     aim *g) {
  size_t p = (size_t)r->model->p, l = (size_t)r->model->l;
  *g = (aim){.r = r, .kind = kind, .stream = stream, .total = total};
  atomic_init(&g->done, 0);
  g->units = (blocks_of(total) + unit_blocks[kind] - 1) / unit_blocks[kind];
  if (kind == RANK) g->sums = p, g->largest = p, g->counts = r->options.medians ? p * MEDIANS : 0;
  if (kind == ERRORS) g->counts = PSDMP_REDUCE_BINS;
  if (kind == NORMAL) g->sums = l * l + l;
  const double *theta = kind == RANK ? r->theta : kind == ERRORS ? r->theta_new : NULL;
  if (!psdmp_reduce_part_start(r->model, kind == RANK ? NULL : r->joints, theta, arena, &g->part)) return false;
  return kind == RANK ? set_sizes(r, g, arena) : kind == NORMAL ? set_used(g, arena) : true;
}

static psdmp_parallel_spread spread_of(aim *g) {
  const psdm_reducer *r = g->r;
  return (psdmp_parallel_spread){.ranks = r->options.ranks,
                                 .threads = r->options.threads,
                                 .allocator = r->arena.allocator,
                                 .units = g->units,
                                 .user = g,
                                 .space_new = space_new,
                                 .space_free = space_free,
                                 .make = make_unit,
                                 .merge = part_merge,
                                 .part_free = part_free,
                                 .put = part_put,
                                 .get = part_get};
}

static void put_request(const aim *g, psdmp_parallel_bytes *to) {
  const psdm_reducer *r = g->r;
  PSDMP_PARALLEL_PUT(to, g->r);
  PSDMP_PARALLEL_PUT(to, g->stream);
  PSDMP_PARALLEL_PUT(to, g->total);
  psdmp_parallel_bytes_put(to, r->joints, (size_t)r->model->p * sizeof *r->joints);
  psdmp_parallel_bytes_put(to, r->theta_new, (size_t)r->model->l * sizeof *r->theta_new);
}

/* x, counts: where the sums go */
static psdm_status sum_up(psdm_reducer *r, int kind, psdmp_reduce_stream stream, long total,
                          void (*take)(psdm_reducer *r, const aim *g, const sums *s), psdm_error *error) {
  psdmp_base_arena arena = {.allocator = r->arena.allocator};
  psdmp_parallel_bytes request = {.allocator = r->arena.allocator};
  aim g;
  void *part = NULL;
  psdm_status status = make_aim(r, kind, stream, total, &arena, &g) ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status) {
    psdmp_parallel_spread spread = spread_of(&g);
    if (psdmp_parallel_team_size(r->options.ranks) > 1) put_request(&g, &request);
    status = psdmp_parallel_spread_all(&spread, kind, &request, &part, error);
    if (!status && !part && !(part = part_new(&g))) status = psdmp_base_no_memory("", error);
    if (!status) take(r, &g, part);
    part_free(&g, part);
  }
  psdmp_parallel_bytes_free(&request);
  psdmp_base_arena_free(&arena);
  return status;
}

static void take_rank(psdm_reducer *r, const aim *g, const sums *s) {
  long p = r->model->p;
  for (long f = 0; f < p; f++) {
    r->mean[f] = s->x[f] / (double)g->total;
    r->largest[f] = s->x[p + f];
    if (g->counts)
      r->median[f] = psdmp_reduce_quantile(s->count + f * MEDIANS, PSDMP_REDUCE_MEDIAN_BITS, (uint64_t)g->total, 0.5);
  }
}

static void take_errors(psdm_reducer *r, const aim *g, const sums *s) {
  memcpy(r->count, s->count, g->counts * sizeof *r->count);
}

static void take_normal(psdm_reducer *r, const aim *g, const sums *s) {
  size_t l = (size_t)r->model->l;
  (void)g;
  memcpy(r->G, s->x, l * l * sizeof *r->G);
  memcpy(r->h, s->x + l * l, l * sizeof *r->h);
}

psdm_status psdmp_reduce_rank(psdm_reducer *r, long total, psdm_error *error) {
  return sum_up(r, RANK, PSDMP_REDUCE_STREAM_RANK, total, take_rank, error);
}

psdm_status psdmp_reduce_errors(psdm_reducer *r, psdmp_reduce_stream stream, long total, psdm_error *error) {
  return sum_up(r, ERRORS, stream, total, take_errors, error);
}

psdm_status psdmp_reduce_normal(psdm_reducer *r, long total, psdm_error *error) {
  return sum_up(r, NORMAL, PSDMP_REDUCE_STREAM_SELECT, total, take_normal, error);
}

/* ---- ranks: every other one has a reducer for each of rank 0's ---- */

static psdm_status hear_none(psdm_ranks *ranks, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (int k = 1; k < psdmp_parallel_team_size(ranks); k++) {
    psdmp_parallel_bytes none = {0};
    psdm_error other;
    psdm_status heard = psdmp_parallel_team_listen(ranks, k, &none, &other);
    psdmp_parallel_bytes_free(&none);
    if (heard && !status && error) *error = other;
    if (heard && !status) status = heard;
  }
  return status;
}

psdm_status psdmp_reduce_introduce(psdm_reducer *r, psdm_error *error) {
  psdmp_parallel_bytes request = {.allocator = r->arena.allocator};
  const psdm_reduce_options *o = &r->options;
  size_t states = (size_t)o->profile.count * 3 * (size_t)r->model->n;
  if (psdmp_parallel_team_size(o->ranks) < 2) return PSDM_OK;
  PSDMP_PARALLEL_PUT(&request, r);
  PSDMP_PARALLEL_PUT(&request, *o); /* pointers in it are replaced when it is read */
  psdmp_parallel_bytes_put(&request, o->profile.states, states * sizeof *o->profile.states);
  psdm_status status = psdmp_parallel_team_ask(o->ranks, INTRODUCE, &request, error);
  psdmp_parallel_bytes_free(&request);
  r->introduced = !status;
  return status ? status : hear_none(o->ranks, error);
}

void psdmp_reduce_forget(psdm_reducer *r) {
  psdmp_parallel_bytes request = {.allocator = r->arena.allocator};
  if (!r->introduced) return;
  PSDMP_PARALLEL_PUT(&request, r);
  if (!psdmp_parallel_team_ask(r->options.ranks, FORGET, &request, NULL)) hear_none(r->options.ranks, NULL);
  psdmp_parallel_bytes_free(&request);
}

enum { MOST_REDUCERS = 16 };

typedef struct helper {
  const psdm_robot *robot;
  const psdm_model *model;
  const psdm_reduce_options *options;
  const psdm_allocator *allocator;
  struct {
    const void *of; /* rank 0's name for it */
    psdm_reducer *r;
  } known[MOST_REDUCERS];
} helper;

static psdm_reducer **find(helper *h, const void *of) {
  for (int k = 0; k < MOST_REDUCERS; k++)
    if (h->known[k].of == of) return &h->known[k].r;
  return NULL;
}

static psdm_status get_introduced(helper *h, const void *of, psdmp_parallel_bytes *request, psdm_error *error) {
  psdm_reduce_options o;
  int free_one = 0;
  while (free_one < MOST_REDUCERS && h->known[free_one].of) free_one++;
  PSDMP_PARALLEL_GET(request, o);
  if (free_one == MOST_REDUCERS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, NULL, 0, 0,
                           "more than %d reducers at a time are too many for other ranks", MOST_REDUCERS);
  psdm_reducer *r = psdmp_base_alloc(h->allocator, sizeof *r);
  if (!r || request->failed) return psdmp_base_free(h->allocator, r), psdmp_base_no_memory("", error);
  size_t states = (size_t)o.profile.count * 3 * (size_t)h->model->n;
  r->arena.allocator = h->allocator;
  r->robot = h->robot, r->model = h->model, r->options = o;
  /* rank 0's */
  r->options.progress = NULL, r->options.progress_user = NULL, r->options.nvcc = NULL, r->options.cuda = false;
  r->options.ranks = h->options->ranks, r->options.threads = h->options->threads;
  double *copy = states ? PSDMP_BASE_NEW(&r->arena, states, double) : NULL;
  if (copy) psdmp_parallel_bytes_get(request, copy, states * sizeof *copy);
  r->options.profile.states = copy;
  h->known[free_one].of = of, h->known[free_one].r = r;
  if ((states && !copy) || request->failed) return psdmp_base_no_memory("", error);
  return psdmp_reduce_reducer_start(r, error);
}

static psdm_status sum_share(psdm_reducer *r, int kind, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                             psdm_error *error) {
  psdmp_base_arena arena = {.allocator = r->arena.allocator};
  psdmp_reduce_stream stream;
  long total;
  aim g;
  PSDMP_PARALLEL_GET(request, stream);
  PSDMP_PARALLEL_GET(request, total);
  psdmp_parallel_bytes_get(request, r->joints, (size_t)r->model->p * sizeof *r->joints);
  psdmp_parallel_bytes_get(request, r->theta_new, (size_t)r->model->l * sizeof *r->theta_new);
  psdm_status status =
      !request->failed && make_aim(r, kind, stream, total, &arena, &g) ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status) {
    psdmp_parallel_spread spread = spread_of(&g);
    status = psdmp_parallel_spread_serve(&spread, answer, error);
  }
  psdmp_base_arena_free(&arena);
  return status;
}

static psdm_status work(void *user, int kind, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                        psdm_error *error) {
  helper *h = user;
  const void *of;
  PSDMP_PARALLEL_GET(request, of);
  if (kind == INTRODUCE) return get_introduced(h, of, request, error);
  psdm_reducer **known = of ? find(h, of) : NULL;
  if (kind == FORGET && known) {
    psdm_reducer_free(*known);
    *known = NULL;
    for (int k = 0; k < MOST_REDUCERS; k++)
      if (h->known[k].of == of) h->known[k].of = NULL;
  }
  if (kind == FORGET) return PSDM_OK;
  if (!known || kind > NORMAL)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "rank 0 and rank %d reduce different models",
                           h->options->ranks->rank);
  return sum_share(*known, kind, request, answer, error);
}

psdm_status psdm_reducer_help(const psdm_robot *robot, const psdm_model *model, const psdm_reduce_options *options,
                              const psdm_allocator *allocator, psdm_error *error) {
  helper h = {.robot = robot, .model = model, .options = options, .allocator = allocator};
  if (!psdmp_parallel_team_member(options->ranks))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "rank 0 cannot be a helper");
  psdm_status status = psdm_model_match(model, robot, error);
  if (!status) status = psdmp_parallel_team_serve(options->ranks, work, &h, allocator, error);
  for (int k = 0; k < MOST_REDUCERS; k++) psdm_reducer_free(h.known[k].r);
  return status;
}
