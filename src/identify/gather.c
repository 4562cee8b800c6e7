/* gather.c: rows become triangular factors, one per drive and block of time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/identify.h"
#include "linalg/linalg.h"
#include "rigid/rigid.h"

/* ---- the regressor on the drives' side ---- */

psdm_status psdmp_identify_run_regressor(psdmp_identify_run *r, const double *q, const double *qd, const double *qdd,
                                         double *scratch, double *Y) {
  int n = r->n, l = r->l, S = r->S;
  psdm_status status = psdm_regressor_standard(r->robot, r->work, q, qd, qdd, scratch);
  if (status) return status;
  double *joint = r->T ? scratch + (long)n * S : Y;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < l; j++) joint[(long)i * l + j] = scratch[(long)i * S + r->kept[j]];
  for (int i = 0; i < n && r->T; i++)
    for (int j = 0; j < l; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += r->T[k * n + i] * joint[(long)k * l + j];
      Y[(long)i * l + j] = sum;
    }
  return PSDM_OK;
}

/* Links do not load the joints after them: those columns of a drive's rows are zero at any state, and are detected at a
 * few random ones. */
psdm_status psdmp_identify_run_reach(psdmp_identify_run *r, double *scratch, double *Y) {
  double q[3 * PSDM_CALIBRATE_JOINTS];
  unsigned state = 1;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3 * r->n; i++) { /* Lehmer's generator (Park, Miller 1988) */
      state = (unsigned)((unsigned long long)state * 48271 % 2147483647);
      q[i] = 6.0 * state / 2147483647 - 3;
    }
    psdmp_rigid_pull_home(r->robot, r->work, q);
    psdm_status status = psdmp_identify_run_regressor(r, q, q + r->n, q + 2 * r->n, scratch, Y);
    if (status) return status;
    for (long k = 0; k < (long)r->n * r->l; k++) r->reached[k] |= Y[k] != 0;
  }
  return PSDM_OK;
}

/* ---- ranges ---- */

/* Shared by all threads, and one part: (n) extremes of x; sums of v^2 and of its rate squared; speeds of the training
 * rows (rows x n). */
typedef struct ranging {
  psdmp_identify_run *run;
  const psdmp_identify_band *band;
} ranging;

typedef struct ranges {
  long rows, room;
  double *speed;
  double low[PSDM_CALIBRATE_JOINTS], high[PSDM_CALIBRATE_JOINTS], quick[PSDM_CALIBRATE_JOINTS],
      quicker[PSDM_CALIBRATE_JOINTS];
} ranges;

typedef struct ranges_space {
  const ranging *g;
  psdmp_identify_run *run;
} ranges_space;

static void *ranges_space_new(void *user, psdmp_identify_run *own) {
  ranges_space *space = psdmp_base_alloc(own->allocator, sizeof *space);
  if (space) *space = (ranges_space){user, own};
  return space;
}

static void ranges_space_free(void *user, void *space) { psdmp_base_free(((ranging *)user)->run->allocator, space); }

static void *ranges_new(void *user) {
  ranges *g = psdmp_base_alloc(((ranging *)user)->run->allocator, sizeof *g);
  for (int i = 0; g && i < PSDM_CALIBRATE_JOINTS; i++) g->low[i] = INFINITY, g->high[i] = -INFINITY;
  return g;
}

static void ranges_free(void *user, void *part) {
  const psdm_allocator *a = ((ranging *)user)->run->allocator;
  ranges *g = part;
  if (g) psdmp_base_free(a, g->speed);
  psdmp_base_free(a, g);
}

/* room for this many more rows */
static bool ranges_room(const psdmp_identify_run *r, ranges *g, long more) {
  return psdmp_base_room(r->allocator, &g->speed, g->rows, more, &g->room, (size_t)r->n * sizeof *g->speed);
}

static psdm_status ranges_add(void *user, void *part, const psdmp_feed_stretch *s, psdm_error *error) {
  ranges_space *space = user;
  ranges *g = part;
  psdmp_identify_run *r = space->run;
  psdmp_identify_prepared p;
  int n = r->n;
  psdm_status status = psdmp_identify_run_prepare(r, space->g->band, s, &p, error);
  if (status) return status;
  if (p.rows && !ranges_room(r, g, p.rows)) status = psdmp_base_no_memory("", error);
  for (long k = 0; k < p.rows && !status; k++) {
    if (p.label[k] < 0) continue;
    for (int i = 0; i < n; i++) {
      double x = p.x[k * n + i];
      g->speed[g->rows * n + i] = fabs(p.v[k * n + i]);
      g->low[i] = fmin(g->low[i], x);
      g->high[i] = fmax(g->high[i], x);
      g->quick[i] += p.qd[k * n + i] * p.qd[k * n + i];
      g->quicker[i] += p.qdd[k * n + i] * p.qdd[k * n + i];
    }
    g->rows++;
  }
  psdmp_identify_prepared_free(&p, r->allocator);
  return status;
}

static psdm_status ranges_merge(void *user, void *left, void *right) {
  const psdmp_identify_run *r = ((ranging *)user)->run;
  ranges *g = left, *h = right;
  bool ok = ranges_room(r, g, h->rows);
  if (ok && h->rows) memcpy(g->speed + g->rows * r->n, h->speed, (size_t)h->rows * (size_t)r->n * sizeof *g->speed);
  for (int i = 0; i < r->n; i++) {
    g->low[i] = fmin(g->low[i], h->low[i]), g->high[i] = fmax(g->high[i], h->high[i]);
    g->quick[i] += h->quick[i], g->quicker[i] += h->quicker[i];
  }
  if (ok) g->rows += h->rows;
  ranges_free(user, right);
  return ok ? PSDM_OK : PSDM_E_MEMORY;
}

static void ranges_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const psdmp_identify_run *r = ((ranging *)user)->run;
  const ranges *g = part;
  PSDMP_PARALLEL_PUT(to, g->rows);
  psdmp_parallel_bytes_put(to, g->speed, (size_t)g->rows * (size_t)r->n * sizeof *g->speed);
  const double *const sums[] = {g->low, g->high, g->quick, g->quicker};
  for (int k = 0; k < 4; k++) psdmp_parallel_bytes_put(to, sums[k], (size_t)r->n * sizeof(double));
}

static void *ranges_get(void *user, psdmp_parallel_bytes *from) {
  const psdmp_identify_run *r = ((ranging *)user)->run;
  size_t row = (size_t)r->n * sizeof(double);
  long rows = psdmp_parallel_bytes_count(from, row);
  ranges *g = rows < 0 ? NULL : ranges_new(user);
  if (!g || (rows && !ranges_room(r, g, rows))) return ranges_free(user, g), NULL;
  g->rows = rows;
  psdmp_parallel_bytes_get(from, g->speed, (size_t)rows * row);
  double *const sums[] = {g->low, g->high, g->quick, g->quicker};
  for (int k = 0; k < 4; k++) psdmp_parallel_bytes_get(from, sums[k], row);
  if (!from->failed) return g;
  ranges_free(user, g);
  return NULL;
}

static psdmp_identify_sum ranges_sum(ranging *g) {
  return (psdmp_identify_sum){.name = "ranges",
                              .work = PSDMP_IDENTIFY_WORK_RANGES,
                              .user = g,
                              .space_new = ranges_space_new,
                              .space_free = ranges_space_free,
                              .part_new = ranges_new,
                              .add = ranges_add,
                              .merge = ranges_merge,
                              .part_free = ranges_free,
                              .put = ranges_put,
                              .get = ranges_get};
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* 99 % of the rows are slower; tempo: Rice's mean frequency of the fastest joint */
static psdm_status set_ranges(psdmp_identify_run *r, const ranges *g, psdm_error *error) {
  int n = r->n;
  double *column = psdmp_base_alloc_raw(r->allocator, (size_t)g->rows * sizeof *column);
  if (!column) return psdmp_base_no_memory("", error);
  r->tempo = 0;
  for (int i = 0; i < n; i++) {
    for (long k = 0; k < g->rows; k++) column[k] = g->speed[k * n + i];
    qsort(column, (size_t)g->rows, sizeof *column, ascending);
    r->speed[i] = column[(long)(0.99 * (double)(g->rows - 1))];
    r->span[i] = g->high[i] - g->low[i];
    r->centre[i] = (g->high[i] + g->low[i]) / 2;
    if (g->quick[i] > 0) r->tempo = fmax(r->tempo, sqrt(g->quicker[i] / g->quick[i]) / 6.283185307179586);
  }
  psdmp_base_free(r->allocator, column);
  return PSDM_OK;
}

/* pieces between jumps of the clock may be too short one by one */
static psdm_status nothing_left(const psdmp_identify_run *r, psdm_error *error) {
  long faults[PSDM_FAULTS];
  psdmp_feed_faults(r->feed, faults);
  if (faults[PSDM_FAULT_BACK])
    return psdmp_base_fail(error, PSDM_E_PARSE, "", 0, 0,
                           "no row is left to train on: t runs back %ld times, and the %d pieces in between are too "
                           "short; are the rows in order?",
                           faults[PSDM_FAULT_BACK], psdmp_feed_segments(r->feed));
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                         "no row is left to train on: the log is too short, or all of it is held out");
}

psdm_status psdmp_identify_run_ranges(psdmp_identify_run *r, const psdmp_identify_band *band, psdm_error *error) {
  ranging g = {r, band};
  psdmp_identify_sum sum = ranges_sum(&g);
  psdmp_parallel_bytes request = {.allocator = r->allocator};
  void *part = NULL;
  psdmp_identify_run_put(r, band, true, &request);
  bool finishing = r->finishing;
  r->finishing = true; /* too short to evaluate */
  psdm_status status =
      psdmp_identify_sum_rows(r, &sum, &request, false, psdmp_identify_band_margin(r, band), &part, error);
  r->finishing = finishing;
  psdmp_parallel_bytes_free(&request);
  const ranges *found = part;
  if (!status && (!found || !found->rows)) status = nothing_left(r, error);
  if (!status) status = set_ranges(r, found, error);
  ranges_free(&g, part);
  return status;
}

psdm_status psdmp_identify_serve_ranges(psdmp_identify_run *r, psdmp_parallel_bytes *request,
                                        psdmp_parallel_bytes *answer, psdm_error *error) {
  psdmp_identify_band band;
  ranging g = {r, &band};
  psdmp_identify_sum sum = ranges_sum(&g);
  if (!psdmp_identify_run_get(r, &band, request)) return psdmp_base_no_memory("", error);
  return psdmp_identify_sum_serve(r, &sum, request, false, psdmp_identify_band_margin(r, &band), answer, error);
}

/* ---- factors ---- */

enum { CHUNK = 512 };

/* What is gathered, the same for all threads. */
typedef struct aim {
  psdmp_identify_run *run;
  const psdmp_identify_band *band;
  int blocks;
  psdmp_parameters_column (*column)[PSDMP_PARAMETERS_MOST_COLUMNS]; /* (n) */
  int *count;                                                       /* (n) */
  int *active, *actives; /* (n x l) base parameters of each drive's rows, and how many */
  int *width;            /* (n) active, columns, tau, wide */
} aim;

/* Factors of the active columns, and with decimation the pending means. */
typedef struct gathered {
  psdmp_identify_factors factors;
  psdmp_identify_open open;
} gathered;

/* State of one thread. */
typedef struct gathering {
  const aim *g;
  psdmp_identify_run *run;
  gathered *part;
  psdmp_identify_factors *to;           /* its factors */
  psdmp_parameters_column_state *state; /* (n) */
  double **chunk;                       /* (2 n) buffered rows, of one block: in motion, at rest */
  long *waiting;                        /* (2 n) */
  int block;
  bool failed; /* out of memory */
  double *scratch, *Y;
  double *row;                 /* all drives' rows side by side, */
  long *place;                 /* (n + 1) start of each */
  psdmp_identify_sieve *sieve; /* they go through it together; NULL: unchanged */
} gathering;

static void flush(gathering *g, int drive, int rest) {
  psdmp_identify_factors *f = g->to;
  size_t width = (size_t)f->width[drive];
  long *waiting = &g->waiting[2 * drive + rest], at = ((long)drive * f->blocks + g->block) * 2 + rest;
  if (!*waiting) return;
  if (!f->R[at]) f->R[at] = psdmp_base_alloc(g->run->allocator, width * width * sizeof(double));
  if (f->R[at]) psdmp_linalg_factor_add(f->width[drive], f->R[at], *waiting, g->chunk[2 * drive + rest], g->scratch);
  else g->failed = true;
  f->count[at] += (double)*waiting;
  *waiting = 0;
}

static void flush_all(gathering *g) {
  for (int i = 0; i < g->run->n; i++) flush(g, i, 0), flush(g, i, 1);
}

/* rows are buffered, and added before those of another block come */
static void enter_block(gathering *g, int label) {
  int block = label * g->to->blocks / PSDMP_IDENTIFY_BLOCKS;
  if (block != g->block) flush_all(g);
  g->block = block;
}

static void put_row(gathering *g, int drive, double v, const double *row) {
  psdmp_identify_run *r = g->run;
  int rest = fabs(v) <= r->still * r->speed[drive], width = g->to->width[drive];
  memcpy(g->chunk[2 * drive + rest] + g->waiting[2 * drive + rest]++ * width, row, (size_t)width * sizeof *row);
  if (g->waiting[2 * drive + rest] == CHUNK) flush(g, drive, rest);
}

/* [Y F tau wide] of every drive; an unused row only updates columns with memory */
static psdm_status fill_row(gathering *g, const psdmp_identify_prepared *p, long k, bool used) {
  psdmp_identify_run *r = g->run;
  int n = r->n, l = r->l;
  psdm_status status = PSDM_OK;
  if (used) status = psdmp_identify_run_regressor(r, p->q + k * n, p->qd + k * n, p->qdd + k * n, g->scratch, g->Y);
  for (int i = 0; i < n && !status; i++) {
    double load = 0, *row = g->row + g->place[i];
    const double *Y = g->Y + (long)i * l;
    const int *active = g->g->active + (long)i * l;
    int actives = g->g->actives[i], width = g->to->width[i];
    for (int j = 0; j < actives && r->theta_load && used; j++) load += Y[active[j]] * r->theta_load[active[j]];
    psdmp_parameters_columns_at(g->g->column[i], g->g->count[i], p->x[k * n + i], p->v[k * n + i], fabs(load),
                                &g->state[i], row + actives);
    if (!used) continue;
    for (int j = 0; j < actives; j++) row[j] = Y[active[j]];
    row[width - 2] = p->tau[k * n + i];
    row[width - 1] = p->wide[k * n + i];
  }
  return status;
}

/* a mean finished by the sieve */
static void take_kept(void *user, const psdmp_identify_kept *m) {
  gathering *g = user;
  if (m->label < 0) return;
  enter_block(g, m->label);
  for (int i = 0; i < g->run->n; i++)
    if (!(m->bad >> i & 1)) put_row(g, i, m->aside[i], m->value + g->place[i]);
}

static psdm_status add_row(gathering *g, const psdmp_identify_prepared *p, long k) {
  int n = g->run->n;
  bool used = p->label[k] >= 0;
  psdm_status status = fill_row(g, p, k, used);
  if (status) return status;
  if (g->sieve) {
    psdmp_identify_open_row(&g->part->open, p->tick + k);
    psdmp_identify_sieve_row(g->sieve, p->tick + k, p->label[k], psdmp_identify_bad_bits(n, p->bad + k * n),
                             used ? g->row : NULL, p->v + k * n);
    return psdmp_identify_open_take(&g->part->open, g->sieve, false, take_kept, g) ? PSDM_OK : PSDM_E_MEMORY;
  }
  if (!used) return PSDM_OK;
  enter_block(g, p->label[k]);
  for (int i = 0; i < n; i++)
    if (!p->bad[k * n + i]) put_row(g, i, p->v[k * n + i], g->row + g->place[i]);
  return PSDM_OK;
}

/* rows before the stretch only update columns with memory */
static psdm_status add_rows(gathering *g, const psdmp_feed_stretch *s, psdm_error *error) {
  psdmp_identify_run *r = g->run;
  psdmp_identify_prepared p;
  psdm_status status = psdmp_identify_run_prepare(r, g->g->band, s, &p, error);
  if (status) return status;
  for (long k = 0; k < p.rows && !status; k++) {
    long at = p.index[k] - s->first;
    if (at >= s->rows - s->trail) break;
    if (at >= s->lead) status = add_row(g, &p, k);
    else status = fill_row(g, &p, k, false);
    if (status) psdmp_base_fail_status(error, status);
  }
  psdmp_identify_prepared_free(&p, r->allocator);
  return status;
}

/* ---- parts ---- */

void psdmp_identify_factors_free(psdmp_identify_run *r, psdmp_identify_factors *f) {
  for (long k = 0; f->R && k < 2L * r->n * f->blocks; k++) psdmp_base_free(r->allocator, f->R[k]);
  psdmp_base_free(r->allocator, f->R);
  psdmp_base_free(r->allocator, f->count);
  psdmp_base_free(r->allocator, f->width);
  *f = (psdmp_identify_factors){0};
}

static void part_free(void *user, void *part) {
  psdmp_identify_run *r = ((aim *)user)->run;
  gathered *p = part;
  if (p) psdmp_identify_factors_free(r, &p->factors), psdmp_identify_open_free(&p->open);
  psdmp_base_free(r->allocator, p);
}

/* bytes of the factors that have rows, with the active columns only */
static void *part_new(void *user) {
  const aim *g = user;
  const psdm_allocator *a = g->run->allocator;
  size_t n = (size_t)g->run->n, all = 2 * n * (size_t)g->blocks;
  gathered *p = psdmp_base_alloc(a, sizeof *p);
  if (!p) return NULL;
  psdmp_identify_factors *f = &p->factors;
  p->open.allocator = a;
  f->blocks = g->blocks;
  f->width = psdmp_base_alloc(a, n * sizeof *f->width);
  f->R = psdmp_base_alloc(a, all * sizeof *f->R);
  f->count = psdmp_base_alloc(a, all * sizeof *f->count);
  if (!f->width || !f->R || !f->count) return part_free(user, p), NULL;
  memcpy(f->width, g->width, n * sizeof *f->width);
  return p;
}

static int widest_of(const aim *g) {
  int widest = 0;
  for (int i = 0; i < g->run->n; i++) widest = g->width[i] > widest ? g->width[i] : widest;
  return widest;
}

/* ---- pending means ---- */

/* Destination of means that are complete at last: one by one, a few at every seam. */
typedef struct seam {
  const aim *g;
  psdmp_identify_factors *to;
  double *scratch, *row;
  bool failed;
} seam;

static bool seam_new(const aim *g, psdmp_identify_factors *to, seam *s) {
  size_t widest = (size_t)widest_of(g);
  *s = (seam){.g = g, .to = to};
  s->scratch = psdmp_base_alloc_raw(
      g->run->allocator, (psdmp_linalg_factor_scratch((int)widest, (long)widest) + widest) * sizeof *s->scratch);
  if (s->scratch) s->row = s->scratch + psdmp_linalg_factor_scratch((int)widest, (long)widest);
  return s->scratch != NULL;
}

static void seam_row(void *user, const psdmp_identify_kept *m) {
  seam *s = user;
  const psdmp_identify_run *r = s->g->run;
  const double *value = m->value;
  for (int i = 0; i < r->n && m->label >= 0; value += s->g->width[i++]) {
    int rest = fabs(m->aside[i]) <= r->still * r->speed[i];
    size_t width = (size_t)s->g->width[i];
    long at = ((long)i * s->to->blocks + m->label * s->to->blocks / PSDMP_IDENTIFY_BLOCKS) * 2 + rest;
    if (m->bad >> i & 1) continue;
    if (!s->to->R[at] && !(s->to->R[at] = psdmp_base_alloc(r->allocator, width * width * sizeof(double)))) {
      s->failed = true;
      return;
    }
    memcpy(s->row, value, width * sizeof *value);
    psdmp_linalg_factor_add((int)width, s->to->R[at], 1, s->row, s->scratch);
    s->to->count[at]++;
  }
}

static psdm_status part_merge(void *user, void *left, void *right) {
  const aim *g = user;
  gathered *p = left, *q = right;
  psdmp_identify_factors *f = &p->factors, *h = &q->factors;
  seam s;
  bool ok = seam_new(g, f, &s);
  for (long k = 0; ok && k < 2L * g->run->n * g->blocks; k++) {
    int width = g->width[k / (2 * g->blocks)];
    f->count[k] += h->count[k];
    if (!h->R[k]) continue;
    if (f->R[k]) psdmp_linalg_factor_add(width, f->R[k], width, h->R[k], s.scratch);
    else f->R[k] = h->R[k], h->R[k] = NULL;
  }
  ok = ok && psdmp_identify_open_merge(&p->open, &q->open, seam_row, &s) && !s.failed;
  psdmp_base_free(g->run->allocator, s.scratch);
  part_free(user, right);
  return ok ? PSDM_OK : PSDM_E_MEMORY;
}

/* after the last row nothing is pending */
static bool part_end(const aim *g, gathered *p) {
  seam s;
  if (!seam_new(g, &p->factors, &s)) return false;
  psdmp_identify_open_end(&p->open, seam_row, &s);
  psdmp_base_free(g->run->allocator, s.scratch);
  return !s.failed;
}

/* upper triangles of the factors that have rows */
static void part_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const aim *g = user;
  const psdmp_identify_factors *f = &((const gathered *)part)->factors;
  for (long k = 0; k < 2L * g->run->n * g->blocks; k++) {
    int width = g->width[k / (2 * g->blocks)];
    PSDMP_PARALLEL_PUT(to, f->count[k]);
    for (int i = 0; i < width && f->count[k] > 0; i++)
      psdmp_parallel_bytes_put(to, f->R[k] + (long)i * width + i, (size_t)(width - i) * sizeof(double));
  }
  psdmp_identify_open_put(&((const gathered *)part)->open, to);
}

static void *part_get(void *user, psdmp_parallel_bytes *from) {
  const aim *g = user;
  gathered *p = part_new(user);
  for (long k = 0; p && k < 2L * g->run->n * g->blocks; k++) {
    psdmp_identify_factors *f = &p->factors;
    int width = g->width[k / (2 * g->blocks)];
    PSDMP_PARALLEL_GET(from, f->count[k]);
    if (from->failed || !(f->count[k] > 0)) continue;
    if (!(f->R[k] = psdmp_base_alloc(g->run->allocator, (size_t)width * (size_t)width * sizeof(double))))
      from->failed = true;
    for (int i = 0; i < width && f->R[k]; i++)
      psdmp_parallel_bytes_get(from, f->R[k] + (long)i * width + i, (size_t)(width - i) * sizeof(double));
  }
  if (!p || psdmp_identify_open_get(&p->open, from)) return p;
  part_free(user, p);
  return NULL;
}

/* The other columns are zeros. A row goes to the number of its first column, so that the factor stays a triangle. */
static bool widen(const aim *g, psdmp_identify_factors *f) {
  psdmp_identify_run *r = g->run;
  for (int i = 0; i < r->n; i++) {
    int actives = g->actives[i], narrow = f->width[i], width = narrow + r->l - actives;
    const int *active = g->active + (long)i * r->l;
    for (int b = 0; b < 2 * f->blocks; b++) {
      double **R = &f->R[(long)i * 2 * f->blocks + b],
             *wide = psdmp_base_alloc(r->allocator, (size_t)width * (size_t)width * sizeof *wide);
      if (!wide) return false;
      for (int row = 0; row < narrow && *R; row++)
        for (int k = row; k < narrow; k++)
          wide[(long)(row < actives ? active[row] : row + r->l - actives) * width +
               (k < actives ? active[k] : k + r->l - actives)] = (*R)[(long)row * narrow + k];
      psdmp_base_free(r->allocator, *R);
      *R = wide;
    }
    f->width[i] = width;
  }
  return true;
}

/* ---- threads ---- */

static void space_free(void *user, void *space) {
  gathering *g = space;
  (void)user;
  if (!g) return;
  const psdm_allocator *a = g->run->allocator;
  for (int i = 0; g->chunk && i < 2 * g->run->n; i++) psdmp_base_free(a, g->chunk[i]);
  if (g->sieve) psdmp_identify_sieve_free(g->sieve, a);
  void *const parts[] = {g->state, g->chunk, g->waiting, g->scratch, g->Y, g->row, g->place, g->sieve, g};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
}

static bool fill_space(gathering *g) {
  psdmp_identify_run *r = g->run;
  const psdm_allocator *a = r->allocator;
  size_t n = (size_t)r->n, scratch = psdmp_linalg_factor_scratch(widest_of(g->g), CHUNK),
         own = n * (size_t)(r->S + r->l);
  g->state = psdmp_base_alloc(a, n * sizeof *g->state);
  g->chunk = psdmp_base_alloc(a, 2 * n * sizeof *g->chunk);
  g->waiting = psdmp_base_alloc(a, 2 * n * sizeof *g->waiting);
  g->scratch = psdmp_base_alloc_raw(a, (scratch > own ? scratch : own) * sizeof *g->scratch);
  g->Y = psdmp_base_alloc_raw(a, n * (size_t)r->l * sizeof *g->Y);
  g->place = psdmp_base_alloc(a, (n + 1) * sizeof *g->place);
  if (!g->state || !g->chunk || !g->waiting || !g->scratch || !g->Y || !g->place) return false;
  for (size_t i = 0; i < n; i++) g->place[i + 1] = g->place[i] + g->g->width[i];
  if (!(g->row = psdmp_base_alloc_raw(a, (size_t)g->place[n] * sizeof *g->row))) return false;
  if (r->options->decimate > 1) {
    if (!(g->sieve = psdmp_base_alloc(a, sizeof *g->sieve)) ||
        psdmp_identify_sieve_new(a, r->options->decimate, g->place[n], r->n, g->sieve))
      return false;
  }
  for (size_t i = 0; i < 2 * n; i++)
    if (!(g->chunk[i] = psdmp_base_alloc_raw(a, (size_t)CHUNK * (size_t)g->g->width[i / 2] * sizeof(double))))
      return false;
  return true;
}

static void *space_new(void *user, psdmp_identify_run *own) {
  gathering *g = psdmp_base_alloc(own->allocator, sizeof *g);
  if (!g) return NULL;
  g->g = user;
  g->run = own;
  if (fill_space(g)) return g;
  space_free(user, g);
  return NULL;
}

static psdm_status add_part(void *space, void *part, const psdmp_feed_stretch *s, psdm_error *error) {
  gathering *g = space;
  g->part = part;
  g->to = &g->part->factors;
  memset(g->state, 0, (size_t)g->run->n * sizeof *g->state);
  memset(g->waiting, 0, 2 * (size_t)g->run->n * sizeof *g->waiting);
  if (g->sieve) psdmp_identify_open_begin(&g->part->open, g->sieve, s);
  psdm_status status = add_rows(g, s, error);
  if (!status && g->sieve && !psdmp_identify_open_take(&g->part->open, g->sieve, true, take_kept, g))
    return psdmp_base_no_memory("", error);
  if (!status) flush_all(g);
  return !status && g->failed ? psdmp_base_no_memory("", error) : status;
}

/* ---- all rows ---- */

static bool make_aim(psdmp_identify_run *r, const psdmp_identify_band *band, bool chosen, int blocks, aim *g) {
  const psdm_allocator *a = r->allocator;
  size_t n = (size_t)r->n;
  *g = (aim){.run = r,
             .band = band,
             .blocks = blocks,
             .column = psdmp_base_alloc(a, n * sizeof *g->column),
             .count = psdmp_base_alloc(a, n * sizeof *g->count),
             .active = psdmp_base_alloc(a, n * (size_t)r->l * sizeof *g->active),
             .actives = psdmp_base_alloc(a, n * sizeof *g->actives),
             .width = psdmp_base_alloc(a, n * sizeof *g->width)};
  if (!g->column || !g->count || !g->active || !g->actives || !g->width) return false;
  for (int i = 0; i < r->n; i++) {
    const psdmp_identify_dictionary *d = &r->dictionary[i];
    for (int j = 0; j < r->l; j++)
      if (r->reached[(long)i * r->l + j]) g->active[(long)i * r->l + g->actives[i]++] = j;
    g->count[i] = chosen ? r->choice[i].count : d->count;
    for (int k = 0; k < g->count[i]; k++) g->column[i][k] = d->column[chosen ? r->choice[i].take[k] : k];
    g->width[i] = g->actives[i] + g->count[i] + 2;
  }
  return true;
}

static void free_aim(aim *g) {
  void *const parts[] = {g->column, g->count, g->active, g->actives, g->width};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(g->run->allocator, parts[k]);
}

static psdmp_identify_sum gather_sum(aim *g) {
  return (psdmp_identify_sum){.name = "gather",
                              .work = PSDMP_IDENTIFY_WORK_GATHER,
                              .user = g,
                              .space_new = space_new,
                              .space_free = space_free,
                              .part_new = part_new,
                              .add = add_part,
                              .merge = part_merge,
                              .part_free = part_free,
                              .put = part_put,
                              .get = part_get};
}

static psdm_status gather_spread(aim *g, bool chosen, bool all, void **part, psdm_error *error) {
  psdmp_identify_run *r = g->run;
  psdmp_identify_sum sum = gather_sum(g);
  psdmp_parallel_bytes request = {.allocator = r->allocator};
  psdmp_identify_run_put(r, g->band, chosen, &request);
  PSDMP_PARALLEL_PUT(&request, g->blocks);
  PSDMP_PARALLEL_PUT(&request, all);
  psdm_status status =
      psdmp_identify_sum_rows(r, &sum, &request, all, psdmp_identify_band_margin(r, g->band), part, error);
  psdmp_parallel_bytes_free(&request);
  if (!status && !*part && !(*part = part_new(g))) return psdmp_base_no_memory("", error);
  return status;
}

psdm_status psdmp_identify_gather_rows(psdmp_identify_run *r, const psdmp_identify_band *band, bool chosen, int blocks,
                                       bool all, psdmp_identify_factors *out, psdm_error *error) {
  aim g;
  void *part = NULL;
  *out = (psdmp_identify_factors){0};
  psdm_status status = make_aim(r, band, chosen, blocks, &g) ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status) status = gather_spread(&g, chosen, all, &part, error);
  if (!status && r->stopped && !r->finishing && !all)
    status = psdmp_base_fail(error, PSDM_E_STOPPED, "", 0, 0, "stopped");
  if (!status && (!part_end(&g, part) || !widen(&g, &((gathered *)part)->factors)))
    status = psdmp_base_no_memory("", error);
  if (!status) {
    *out = ((gathered *)part)->factors;
    ((gathered *)part)->factors = (psdmp_identify_factors){0};
  }
  part_free(&g, part);
  free_aim(&g);
  return status;
}

psdm_status psdmp_identify_serve_gather(psdmp_identify_run *r, psdmp_parallel_bytes *request,
                                        psdmp_parallel_bytes *answer, psdm_error *error) {
  psdmp_identify_band band;
  aim g = {.run = r};
  int blocks;
  bool all;
  bool known = psdmp_identify_run_get(r, &band, request);
  PSDMP_PARALLEL_GET(request, blocks);
  PSDMP_PARALLEL_GET(request, all);
  psdm_status status =
      known && !request->failed && make_aim(r, &band, false, blocks, &g) ? PSDM_OK : psdmp_base_no_memory("", error);
  psdmp_identify_sum sum = gather_sum(&g);
  if (!status)
    status = psdmp_identify_sum_serve(r, &sum, request, all, psdmp_identify_band_margin(r, &band), answer, error);
  free_aim(&g);
  return status;
}
