/* gather.c: rows become triangular factors, one per drive and block of time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/calib_priv.h"

/* ---- the regressor on the drives' side ---- */

psdm_status psdmp_run_regressor(psdmp_run *r, const double *q, const double *qd, const double *qdd, double *scratch, double *Y) {
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

/* Links do not load the joints behind them: those columns of a drive's rows are zero at any state, and are found at a few random ones. */
psdm_status psdmp_run_reach(psdmp_run *r, double *scratch, double *Y) {
  double q[3 * PSDM_CALIBRATE_JOINTS];
  unsigned state = 1;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3 * r->n; i++) { /* Lehmer's generator (Park, Miller 1988) */
      state = (unsigned)((unsigned long long)state * 48271 % 2147483647);
      q[i] = 6.0 * state / 2147483647 - 3;
    }
    psdm_status status = psdmp_run_regressor(r, q, q + r->n, q + 2 * r->n, scratch, Y);
    if (status) return status;
    for (long k = 0; k < (long)r->n * r->l; k++) r->reached[k] |= Y[k] != 0;
  }
  return PSDM_OK;
}

/* ---- ranges ---- */

typedef struct ranges {
  psdmp_run *run;
  const psdmp_band *band;
  double *speed; /* (rows x n) of the training rows */
  long rows, room;
  double *low, *high, *quick, *quicker; /* (n) extremes of x; sums of v^2 and of its rate squared */
} ranges;

static psdm_status add_ranges(void *user, const psdmp_stretch *s, psdm_error *error) {
  ranges *g = user;
  psdmp_run *r = g->run;
  psdmp_prepared p;
  int n = r->n;
  psdm_status status = psdmp_run_prepare(r, g->band, s, &p, error);
  for (long k = 0; k < p.rows && !status; k++) {
    if (p.label[k] < 0) continue;
    if (g->rows == g->room) {
      long room = g->room ? 2 * g->room : 4096;
      double *bigger = psdmp_alloc_raw(r->allocator, (size_t)room * (size_t)n * sizeof *bigger);
      if (!bigger) {
        status = psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory");
        break;
      }
      if (g->rows) memcpy(bigger, g->speed, (size_t)g->rows * (size_t)n * sizeof *bigger);
      psdmp_free(r->allocator, g->speed);
      g->speed = bigger;
      g->room = room;
    }
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
  psdmp_prepared_free(&p, r->allocator);
  return status;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

psdm_status psdmp_run_ranges(psdmp_run *r, const psdmp_band *band, psdm_error *error) {
  int n = r->n;
  double low[PSDM_MAX_JOINTS], high[PSDM_MAX_JOINTS], quick[PSDM_MAX_JOINTS], quicker[PSDM_MAX_JOINTS];
  for (int i = 0; i < n; i++) low[i] = INFINITY, high[i] = -INFINITY, quick[i] = quicker[i] = 0;
  ranges g = {.run = r, .band = band, .low = low, .high = high, .quick = quick, .quicker = quicker};
  r->tempo = 0;
  psdm_status status = psdmp_feed_each(r->feed, false, psdmp_band_margin(r, band), add_ranges, &g, error);
  double *column = status || !g.rows ? NULL : psdmp_alloc_raw(r->allocator, (size_t)g.rows * sizeof *column);
  if (!status && !g.rows) status = psdmp_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "no row is left to train on: the log is too short, or all of it is held out");
  if (!status && !column) status = psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory");
  for (int i = 0; i < n && !status; i++) {
    for (long k = 0; k < g.rows; k++) column[k] = g.speed[k * n + i];
    qsort(column, (size_t)g.rows, sizeof *column, ascending);
    r->speed[i] = column[(long)(0.99 * (double)(g.rows - 1))];
    r->span[i] = high[i] - low[i];
    r->centre[i] = (high[i] + low[i]) / 2;
    if (quick[i] > 0) r->tempo = fmax(r->tempo, sqrt(quicker[i] / quick[i]) / 6.283185307179586);
  }
  psdmp_free(r->allocator, column);
  psdmp_free(r->allocator, g.speed);
  return status;
}

/* ---- factors ---- */

enum { CHUNK = 512 };

typedef struct gathering {
  psdmp_run *run;
  const psdmp_band *band;
  psdmp_factors *to;
  psdmp_column (*column)[PSDMP_MOST_COLUMNS]; /* (n) */
  int *count;                                  /* (n) */
  int *active, *actives;                       /* (n x l) base parameters of each drive's rows, and how many */
  psdmp_column_state *state;                   /* (n) */
  double **chunk;                              /* (2 n) rows that wait, of one block: in motion, at rest */
  long *waiting;                               /* (2 n) */
  int block;
  bool all, stopped;
  double *scratch, *Y;
  double *row;                                 /* all drives' rows side by side, */
  long *place;                                 /* (n + 1) where each begins */
  psdmp_sieve *sieve;                          /* they go through it together; NULL: as they are */
} gathering;

static void flush(gathering *g, int drive, int rest) {
  psdmp_factors *f = g->to;
  long *waiting = &g->waiting[2 * drive + rest], at = ((long)drive * f->blocks + g->block) * 2 + rest;
  if (!*waiting) return;
  psdmp_factor_add(f->width[drive], f->R[at], *waiting, g->chunk[2 * drive + rest], g->scratch);
  f->count[at] += (double)*waiting;
  *waiting = 0;
}

static void flush_all(gathering *g) {
  for (int i = 0; i < g->run->n && g->block >= 0; i++) flush(g, i, 0), flush(g, i, 1);
}

/* rows wait until there are some, and go in before those of another block come */
static void enter_block(gathering *g, int label) {
  int block = label * g->to->blocks / PSDMP_BLOCKS;
  if (block != g->block) flush_all(g);
  g->block = block;
}

static void put_row(gathering *g, int drive, double v, const double *row) {
  psdmp_run *r = g->run;
  int rest = fabs(v) <= r->still * r->speed[drive], width = g->to->width[drive];
  memcpy(g->chunk[2 * drive + rest] + g->waiting[2 * drive + rest]++ * width, row, (size_t)width * sizeof *row);
  if (g->waiting[2 * drive + rest] == CHUNK) flush(g, drive, rest);
}

/* [Y F tau wide] of every drive; of a row that is not used only what columns remember */
static psdm_status fill_row(gathering *g, const psdmp_prepared *p, long k, bool used) {
  psdmp_run *r = g->run;
  int n = r->n, l = r->l;
  psdm_status status = PSDM_OK;
  if (used) status = psdmp_run_regressor(r, p->q + k * n, p->qd + k * n, p->qdd + k * n, g->scratch, g->Y);
  for (int i = 0; i < n && !status; i++) {
    double load = 0, *row = g->row + g->place[i];
    const double *Y = g->Y + (long)i * l;
    const int *active = g->active + (long)i * l;
    int actives = g->actives[i], width = g->to->width[i];
    for (int j = 0; j < actives && r->theta_load && used; j++) load += Y[active[j]] * r->theta_load[active[j]];
    psdmp_columns_at(g->column[i], g->count[i], p->x[k * n + i], p->v[k * n + i], fabs(load), &g->state[i], row + actives);
    if (!used) continue;
    for (int j = 0; j < actives; j++) row[j] = Y[active[j]];
    row[width - 2] = p->tau[k * n + i];
    row[width - 1] = p->wide[k * n + i];
  }
  return status;
}

/* rows that the sieve is done with */
static void take_kept(gathering *g, bool end) {
  const psdmp_kept *m;
  while (g->sieve && (m = psdmp_sieve_next(g->sieve, end))) {
    if (m->label < 0) continue;
    enter_block(g, m->label);
    for (int i = 0; i < g->run->n; i++)
      if (!(m->bad >> i & 1)) put_row(g, i, m->aside[i], m->value + g->place[i]);
  }
}

static psdm_status add_row(gathering *g, const psdmp_prepared *p, long k) {
  int n = g->run->n;
  bool used = p->label[k] >= 0;
  psdm_status status = fill_row(g, p, k, used);
  if (status) return status;
  if (g->sieve) {
    psdmp_sieve_row(g->sieve, p->tick + k, p->label[k], psdmp_bad_bits(n, p->bad + k * n), used ? g->row : NULL, p->v + k * n);
    take_kept(g, false);
    return PSDM_OK;
  }
  if (!used) return PSDM_OK;
  enter_block(g, p->label[k]);
  for (int i = 0; i < n; i++)
    if (!p->bad[k * n + i]) put_row(g, i, p->v[k * n + i], g->row + g->place[i]);
  return PSDM_OK;
}

static void begin_segment(gathering *g) {
  take_kept(g, true);
  if (g->sieve) psdmp_sieve_restart(g->sieve);
  for (int i = 0; i < g->run->n; i++) memset(&g->state[i], 0, sizeof *g->state);
}

static psdm_status add_stretch(void *user, const psdmp_stretch *s, psdm_error *error) {
  gathering *g = user;
  psdmp_run *r = g->run;
  psdmp_prepared p;
  psdm_status status = psdmp_run_prepare(r, g->band, s, &p, error);
  if (status) return status;
  if (p.begins || s->lead == 0) begin_segment(g);
  for (long k = 0; k < p.rows && !status; k++) {
    long at = p.index[k] - s->first;
    if (at < s->lead || at >= s->rows - s->trail) continue;
    status = add_row(g, &p, k);
    if (status) psdmp_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  }
  psdmp_prepared_free(&p, r->allocator);
  if (status || r->finishing) return status;
  g->stopped = !psdmp_going_on(r, r->doing, g->all ? (double)(s->first + s->rows) / (double)r->rows : -1);
  return g->stopped ? psdmp_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "stopped") : PSDM_OK;
}

void psdmp_factors_free(psdmp_run *r, psdmp_factors *f) {
  for (long k = 0; f->R && k < 2L * r->n * f->blocks; k++) psdmp_free(r->allocator, f->R[k]);
  psdmp_free(r->allocator, f->R);
  psdmp_free(r->allocator, f->count);
  psdmp_free(r->allocator, f->width);
  *f = (psdmp_factors){0};
}

/* while rows come in, factors have the active columns only */
static bool make_factors(psdmp_run *r, const int *actives, const int *count, int blocks, psdmp_factors *f) {
  size_t all = 2 * (size_t)r->n * (size_t)blocks;
  f->blocks = blocks;
  f->width = psdmp_alloc(r->allocator, (size_t)r->n * sizeof *f->width);
  f->R = psdmp_alloc(r->allocator, all * sizeof *f->R);
  f->count = psdmp_alloc(r->allocator, all * sizeof *f->count);
  if (!f->width || !f->R || !f->count) return false;
  for (int i = 0; i < r->n; i++) {
    size_t width = (size_t)(actives[i] + count[i] + 2);
    f->width[i] = (int)width;
    for (int b = 0; b < 2 * blocks; b++)
      if (!(f->R[(size_t)i * 2 * (size_t)blocks + (size_t)b] = psdmp_alloc(r->allocator, width * width * sizeof(double)))) return false;
  }
  return true;
}

/* The other columns are put in as zeros. A row goes to the number of its first column, so that the factor stays a triangle. */
static bool widen(gathering *g) {
  psdmp_run *r = g->run;
  psdmp_factors *f = g->to;
  for (int i = 0; i < r->n; i++) {
    int actives = g->actives[i], narrow = f->width[i], width = narrow + r->l - actives;
    const int *active = g->active + (long)i * r->l;
    for (int b = 0; b < 2 * f->blocks; b++) {
      double **R = &f->R[(long)i * 2 * f->blocks + b], *wide = psdmp_alloc(r->allocator, (size_t)width * (size_t)width * sizeof *wide);
      if (!wide) return false;
      for (int row = 0; row < narrow; row++)
        for (int k = row; k < narrow; k++)
          wide[(long)(row < actives ? active[row] : row + r->l - actives) * width + (k < actives ? active[k] : k + r->l - actives)] = (*R)[(long)row * narrow + k];
      psdmp_free(r->allocator, *R);
      *R = wide;
    }
    f->width[i] = width;
  }
  return true;
}

static bool make_gathering(gathering *g) {
  psdmp_run *r = g->run;
  const psdm_allocator *a = r->allocator;
  size_t n = (size_t)r->n;
  int widest = 0;
  for (int i = 0; i < r->n; i++) widest = g->to->width[i] > widest ? g->to->width[i] : widest;
  size_t scratch = psdmp_factor_scratch(widest, CHUNK), own = n * (size_t)(r->S + r->l);
  g->state = psdmp_alloc(a, n * sizeof *g->state);
  g->chunk = psdmp_alloc(a, 2 * n * sizeof *g->chunk);
  g->waiting = psdmp_alloc(a, 2 * n * sizeof *g->waiting);
  g->scratch = psdmp_alloc_raw(a, (scratch > own ? scratch : own) * sizeof *g->scratch);
  g->Y = psdmp_alloc_raw(a, n * (size_t)r->l * sizeof *g->Y);
  g->place = psdmp_alloc(a, (n + 1) * sizeof *g->place);
  if (!g->state || !g->chunk || !g->waiting || !g->scratch || !g->Y || !g->place) return false;
  for (size_t i = 0; i < n; i++) g->place[i + 1] = g->place[i] + g->to->width[i];
  if (!(g->row = psdmp_alloc_raw(a, (size_t)g->place[n] * sizeof *g->row))) return false;
  if (g->sieve && psdmp_sieve_new(a, r->options->decimate, g->place[n], r->n, g->sieve)) return false;
  for (size_t i = 0; i < 2 * n; i++)
    if (!(g->chunk[i] = psdmp_alloc_raw(a, (size_t)CHUNK * (size_t)g->to->width[i / 2] * sizeof(double)))) return false;
  return true;
}

static void free_gathering(gathering *g) {
  const psdm_allocator *a = g->run->allocator;
  for (int i = 0; g->chunk && i < 2 * g->run->n; i++) psdmp_free(a, g->chunk[i]);
  void *const parts[] = {g->column, g->count, g->active, g->actives, g->state, g->chunk, g->waiting, g->scratch, g->Y, g->row, g->place};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_free(a, parts[k]);
  if (g->sieve) psdmp_sieve_free(g->sieve, a);
}

psdm_status psdmp_gather_rows(psdmp_run *r, const psdmp_band *band, bool chosen, int blocks, bool all, psdmp_factors *out, psdm_error *error) {
  psdmp_sieve sieve = {0};
  gathering g = {.run = r, .band = band, .to = out, .block = -1, .all = all, .sieve = r->options->decimate > 1 ? &sieve : NULL};
  *out = (psdmp_factors){0};
  g.column = psdmp_alloc(r->allocator, (size_t)r->n * sizeof *g.column);
  g.count = psdmp_alloc(r->allocator, (size_t)r->n * sizeof *g.count);
  g.active = psdmp_alloc(r->allocator, (size_t)r->n * (size_t)r->l * sizeof *g.active);
  g.actives = psdmp_alloc(r->allocator, (size_t)r->n * sizeof *g.actives);
  bool ok = g.column && g.count && g.active && g.actives;
  for (int i = 0; i < r->n && ok; i++)
    for (int j = 0; j < r->l; j++)
      if (r->reached[(long)i * r->l + j]) g.active[(long)i * r->l + g.actives[i]++] = j;
  for (int i = 0; i < r->n && ok; i++) {
    const psdmp_dictionary *d = &r->dictionary[i];
    g.count[i] = chosen ? r->choice[i].count : d->count;
    for (int k = 0; k < g.count[i]; k++) g.column[i][k] = d->column[chosen ? r->choice[i].take[k] : k];
  }
  ok = ok && make_factors(r, g.actives, g.count, blocks, out) && make_gathering(&g);
  psdm_status status = ok ? psdmp_feed_each(r->feed, all, psdmp_band_margin(r, band), add_stretch, &g, error) : psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory");
  if (status && g.stopped && all) status = PSDM_OK;
  if (!status) take_kept(&g, true), flush_all(&g);
  if (!status && !widen(&g)) status = psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory");
  free_gathering(&g);
  if (status) psdmp_factors_free(r, out);
  return status;
}
