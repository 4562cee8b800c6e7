/* estimate_pass.c: one pass over all rows, by threads and ranks: triangles per equation and block of time, and plain
 * sums.
 *
 * Stretches are processed as in sums.c: partial results are added along a tree determined by the logs.
 * */
#include <string.h>

#include "identify/estimate_priv.h"
#include "linalg/linalg.h"

/* ---- kinds ---- */

static const struct {
  const char *name, *doing;
  psdmp_identify_use_row use; /* NULL: not row by row */
  bool simulated;
} kinds[PSDMP_IDENTIFY_PASSES] = {
    [PSDMP_IDENTIFY_PASS_ROBUST] = {"robust", "weighing outliers", psdmp_identify_robust_row, false},
    [PSDMP_IDENTIFY_PASS_DIDIM] = {"didim", "simulating", psdmp_identify_didim_row, true},
    [PSDMP_IDENTIFY_PASS_IV] = {"iv", "simulating", psdmp_identify_iv_row, true},
    [PSDMP_IDENTIFY_PASS_ENERGY] = {"energy", "adding up work", NULL, false},
};

void psdmp_identify_pass_shape(psdmp_identify_pass *g) {
  const psdmp_identify_run *r = g->run;
  g->equations = g->kind == PSDMP_IDENTIFY_PASS_ENERGY ? 1 : r->n;
  g->numbers = g->kind == PSDMP_IDENTIFY_PASS_ROBUST ? psdmp_identify_robust_numbers(r) : 0;
  for (int i = 0; i < g->equations; i++) {
    int columns = g->kind == PSDMP_IDENTIFY_PASS_ENERGY ? psdmp_identify_estimate_width(r) : r->l + r->choice[i].count;
    g->width[i] = (g->kind == PSDMP_IDENTIFY_PASS_IV ? 2 * columns : columns) + 1;
  }
}

/* ---- parts ---- */

typedef struct pass_part {
  double **R;      /* (equations x PSDMP_IDENTIFY_BLOCKS) NULL: no rows */
  double *count;   /* the same index */
  double *numbers; /* (numbers) NULL: none */
} pass_part;

static long triangles(const psdmp_identify_pass *g) { return (long)g->equations * PSDMP_IDENTIFY_BLOCKS; }
static int width_of(const psdmp_identify_pass *g, long k) { return g->width[k / PSDMP_IDENTIFY_BLOCKS]; }

static void part_free(void *user, void *part) {
  const psdmp_identify_pass *g = user;
  const psdm_allocator *a = g->run->allocator;
  pass_part *p = part;
  if (!p) return;
  for (long k = 0; p->R && k < triangles(g); k++) psdmp_base_free(a, p->R[k]);
  psdmp_base_free(a, p->R);
  psdmp_base_free(a, p->count);
  psdmp_base_free(a, p->numbers);
  psdmp_base_free(a, p);
}

static void *part_new(void *user) {
  const psdmp_identify_pass *g = user;
  const psdm_allocator *a = g->run->allocator;
  pass_part *p = psdmp_base_alloc(a, sizeof *p);
  if (!p) return NULL;
  p->R = psdmp_base_alloc(a, (size_t)triangles(g) * sizeof *p->R);
  p->count = psdmp_base_alloc(a, (size_t)triangles(g) * sizeof *p->count);
  p->numbers = psdmp_base_alloc(a, (size_t)g->numbers * sizeof *p->numbers);
  if (p->R && p->count && (p->numbers || !g->numbers)) return p;
  part_free(user, p);
  return NULL;
}

static bool new_triangle(const psdmp_identify_pass *g, pass_part *p, long k) {
  size_t width = (size_t)width_of(g, k);
  return (p->R[k] = psdmp_base_alloc(g->run->allocator, width * width * sizeof **p->R)) != NULL;
}

static psdm_status part_merge(void *user, void *left, void *right) {
  const psdmp_identify_pass *g = user;
  pass_part *p = left, *q = right;
  int widest = 0;
  for (int i = 0; i < g->equations; i++) widest = g->width[i] > widest ? g->width[i] : widest;
  double *scratch =
      psdmp_base_alloc_raw(g->run->allocator, psdmp_linalg_factor_scratch(widest, widest) * sizeof *scratch);
  for (long k = 0; scratch && k < triangles(g); k++) {
    p->count[k] += q->count[k];
    if (!q->R[k]) continue;
    if (p->R[k]) psdmp_linalg_factor_add(width_of(g, k), p->R[k], width_of(g, k), q->R[k], scratch);
    else p->R[k] = q->R[k], q->R[k] = NULL;
  }
  for (long k = 0; k < g->numbers; k++) p->numbers[k] += q->numbers[k];
  psdmp_base_free(g->run->allocator, scratch);
  part_free(user, right);
  return scratch ? PSDM_OK : PSDM_E_MEMORY;
}

/* upper triangles with rows, and the non-zero numbers, which are most */
static void part_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const psdmp_identify_pass *g = user;
  const pass_part *p = part;
  long some = 0;
  for (long k = 0; k < triangles(g); k++) {
    int width = width_of(g, k);
    PSDMP_PARALLEL_PUT(to, p->count[k]);
    for (int i = 0; i < width && p->R[k]; i++)
      psdmp_parallel_bytes_put(to, p->R[k] + (long)i * width + i, (size_t)(width - i) * sizeof(double));
  }
  for (long k = 0; k < g->numbers; k++) some += p->numbers[k] != 0;
  PSDMP_PARALLEL_PUT(to, some);
  for (long k = 0; k < g->numbers; k++) {
    if (p->numbers[k] == 0) continue;
    PSDMP_PARALLEL_PUT(to, k);
    PSDMP_PARALLEL_PUT(to, p->numbers[k]);
  }
}

static void get_numbers(const psdmp_identify_pass *g, pass_part *p, psdmp_parallel_bytes *from) {
  long some = psdmp_parallel_bytes_count(from, sizeof(long) + sizeof(double));
  for (long k = 0; k < some; k++) {
    long at;
    double number;
    PSDMP_PARALLEL_GET(from, at);
    PSDMP_PARALLEL_GET(from, number);
    if (at < 0 || at >= g->numbers) from->failed = true;
    else p->numbers[at] = number;
  }
}

static void *part_get(void *user, psdmp_parallel_bytes *from) {
  const psdmp_identify_pass *g = user;
  pass_part *p = part_new(user);
  for (long k = 0; p && k < triangles(g); k++) {
    int width = width_of(g, k);
    PSDMP_PARALLEL_GET(from, p->count[k]);
    if (from->failed || !(p->count[k] > 0)) continue;
    if (!new_triangle(g, p, k)) from->failed = true;
    for (int i = 0; i < width && p->R[k]; i++)
      psdmp_parallel_bytes_get(from, p->R[k] + (long)i * width + i, (size_t)(width - i) * sizeof(double));
  }
  if (p) get_numbers(g, p, from);
  if (!p || !from->failed) return p;
  part_free(user, p);
  return NULL;
}

/* ---- threads ---- */

typedef struct pass_space {
  psdmp_identify_pass_rows rows;
  psdmp_identify_simulation *simulation; /* NULL: none */
  psdmp_identify_walker *walker;         /* one of these */
  psdmp_identify_energies *energies;
} pass_space;

static void space_free(void *user, void *space) {
  const psdmp_identify_pass *g = user;
  pass_space *s = space;
  if (!s) return;
  psdmp_identify_walker_free(s->walker);
  psdmp_identify_energies_free(s->energies);
  psdmp_identify_simulation_free(s->simulation);
  psdmp_linalg_blocks_free(&s->rows.blocks);
  psdmp_base_free(g->run->allocator, s);
}

static bool fill_space(const psdmp_identify_pass *g, pass_space *s) {
  if (!psdmp_linalg_blocks_new(g->run->allocator, g->equations, g->width, PSDMP_IDENTIFY_BLOCKS, &s->rows.blocks))
    return false;
  if (g->kind == PSDMP_IDENTIFY_PASS_ENERGY) return (s->energies = psdmp_identify_energies_new(&s->rows)) != NULL;
  if (g->simulation && !(s->simulation = psdmp_identify_simulation_thread(g->simulation, s->rows.run))) return false;
  return (s->walker = psdmp_identify_walker_new(&s->rows, kinds[g->kind].use,
                                                s->simulation ? psdmp_identify_simulate : NULL, s->simulation)) != NULL;
}

static void *space_new(void *user, psdmp_identify_run *own) {
  const psdmp_identify_pass *g = user;
  pass_space *s = psdmp_base_alloc(own->allocator, sizeof *s);
  if (!s) return NULL;
  s->rows = (psdmp_identify_pass_rows){.pass = g, .run = own};
  if (fill_space(g, s)) return s;
  space_free(user, s);
  return NULL;
}

/* the thread's result as a separate part */
static bool take_blocks(const psdmp_identify_pass *g, const psdmp_linalg_blocks *from, pass_part *to) {
  for (long k = 0; k < triangles(g); k++) {
    size_t width = (size_t)width_of(g, k);
    if (!(from->count[k] > 0)) continue;
    if (!new_triangle(g, to, k)) return false;
    memcpy(to->R[k], from->R[k], width * width * sizeof **to->R);
    to->count[k] = from->count[k];
  }
  return true;
}

static psdm_status add_stretch(void *space, void *part, const psdmp_feed_stretch *stretch, psdm_error *error) {
  pass_space *s = space;
  pass_part *to = part;
  s->rows.numbers = to->numbers;
  psdmp_linalg_blocks_clear(&s->rows.blocks);
  psdm_status status = s->energies ? psdmp_identify_energies_stretch(s->energies, stretch, error)
                                   : psdmp_identify_walker_stretch(s->walker, stretch, error);
  if (status) return status;
  psdmp_linalg_blocks_flush(&s->rows.blocks);
  return take_blocks(s->rows.pass, &s->rows.blocks, to) ? PSDM_OK : psdmp_base_no_memory("", error);
}

/* ---- all rows ---- */

static psdmp_identify_sum pass_sum(psdmp_identify_pass *g) {
  return (psdmp_identify_sum){.name = kinds[g->kind].name,
                              .work = PSDMP_IDENTIFY_WORK_PASS,
                              .doing = kinds[g->kind].doing,
                              .user = g,
                              .space_new = space_new,
                              .space_free = space_free,
                              .part_new = part_new,
                              .add = add_stretch,
                              .merge = part_merge,
                              .part_free = part_free,
                              .put = part_put,
                              .get = part_get};
}

/* the auxiliary motion needs as many neighbours as the filter of its reference */
static long margin_of(const psdmp_identify_pass *g) {
  long own = psdmp_identify_band_margin(g->run, &g->run->band), other = 0;
  if (g->simulation) {
    double bandwidth;
    psdmp_identify_band band = psdmp_identify_simulation_band(g->simulation, &bandwidth);
    other = psdmp_identify_band_margin(g->run, &band);
  }
  return own > other ? own : other;
}

static void put_request(const psdmp_identify_pass *g, psdmp_parallel_bytes *to) {
  const psdmp_identify_run *r = g->run;
  int kind = g->kind;
  psdmp_identify_run_put(r, &r->band, true, to);
  PSDMP_PARALLEL_PUT(to, kind);
  PSDMP_PARALLEL_PUT(to, g->all);
  PSDMP_PARALLEL_PUT(to, r->tempo);
  if (g->kind == PSDMP_IDENTIFY_PASS_ROBUST) {
    PSDMP_PARALLEL_PUT(to, g->stage);
    psdmp_parallel_bytes_put(to, g->x, (size_t)psdmp_identify_estimate_width(r) * sizeof *g->x);
    psdmp_parallel_bytes_put(to, g->scale, (size_t)r->n * sizeof *g->scale);
  }
  if (g->simulation) psdmp_identify_simulation_put(g->simulation, to);
}

static psdm_status sum_once(psdmp_identify_pass *g, void **part, psdm_error *error) {
  psdmp_identify_sum sum = pass_sum(g);
  psdmp_parallel_bytes request = {.allocator = g->run->allocator};
  put_request(g, &request);
  psdm_status status = psdmp_identify_sum_rows(g->run, &sum, &request, g->all, margin_of(g), part, error);
  psdmp_parallel_bytes_free(&request);
  return status;
}

static void give_blocks(const psdmp_identify_pass *g, const pass_part *from, psdmp_linalg_blocks *to, double *numbers) {
  psdmp_linalg_blocks_clear(to);
  for (long k = 0; from && k < triangles(g); k++) {
    size_t width = (size_t)width_of(g, k);
    if (!from->R[k]) continue;
    memcpy(to->R[k], from->R[k], width * width * sizeof **to->R);
    to->count[k] = from->count[k];
  }
  for (long k = 0; k < g->numbers; k++) numbers[k] = from ? from->numbers[k] : 0;
}

psdm_status psdmp_identify_pass_run(psdmp_identify_pass *g, psdmp_linalg_blocks *blocks, double *numbers,
                                    psdm_error *error) {
  psdmp_identify_run *r = g->run;
  bool finishing = r->finishing, stopped = r->stopped;
  void *part = NULL;
  r->finishing |= stopped;
  psdm_status status = sum_once(g, &part, error);
  if (!status && r->stopped && !stopped) {
    part_free(g, part);
    r->finishing = true;
    g->all = false;
    status = sum_once(g, &part, error);
  }
  r->finishing = finishing;
  if (!status) give_blocks(g, part, blocks, numbers);
  part_free(g, part);
  return status;
}

/* ---- other ranks ---- */

static psdm_status get_request(psdmp_identify_run *r, psdmp_parallel_bytes *from, psdmp_base_arena *arena,
                               psdmp_identify_pass *g, psdmp_identify_simulation **simulation, psdm_error *error) {
  int kind;
  bool known = psdmp_identify_run_get(r, &r->band, from);
  PSDMP_PARALLEL_GET(from, kind);
  PSDMP_PARALLEL_GET(from, g->all);
  PSDMP_PARALLEL_GET(from, r->tempo);
  if (!known || from->failed || kind < 0 || kind >= PSDMP_IDENTIFY_PASSES) return psdmp_base_no_memory("", error);
  g->kind = (psdmp_identify_pass_kind)kind;
  if (g->kind == PSDMP_IDENTIFY_PASS_ROBUST) {
    size_t W = (size_t)psdmp_identify_estimate_width(r), n = (size_t)r->n;
    double *x = psdmp_base_arena_alloc(arena, (W + n) * sizeof *x);
    if (!x) return psdmp_base_no_memory("", error);
    PSDMP_PARALLEL_GET(from, g->stage);
    psdmp_parallel_bytes_get(from, x, (W + n) * sizeof *x);
    g->x = x, g->scale = x + W;
  }
  psdm_status status = kinds[kind].simulated ? psdmp_identify_simulation_get(r, from, simulation, error) : PSDM_OK;
  g->simulation = *simulation;
  psdmp_identify_pass_shape(g);
  return !status && from->failed ? psdmp_base_no_memory("", error) : status;
}

psdm_status psdmp_identify_serve_pass(psdmp_identify_run *r, psdmp_parallel_bytes *request,
                                      psdmp_parallel_bytes *answer, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = r->allocator};
  psdmp_identify_pass g = {.run = r};
  psdmp_identify_simulation *simulation = NULL;
  psdm_status status = get_request(r, request, &arena, &g, &simulation, error);
  if (!status) {
    psdmp_identify_sum sum = pass_sum(&g);
    status = psdmp_identify_sum_serve(r, &sum, request, g.all, margin_of(&g), answer, error);
  }
  psdmp_identify_simulation_free(simulation);
  psdmp_base_arena_free(&arena);
  return status;
}
