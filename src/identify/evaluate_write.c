/* evaluate_write.c: writes predictions in the order of rows.
 *
 * One thread reads, several predict one stretch each, and the results are written one stretch after the other.
 * Decimated rows, which are few, go through one sieve in order, in one thread. */
#include <string.h>

#include "identify/evaluate_priv.h"

/* ---- by one thread ---- */

static psdm_status write_stretch(void *user, const psdmp_feed_stretch *s, psdm_error *error) {
  psdmp_identify_evaluation *e = user;
  if (e->sieve && s->lead == 0) {
    psdmp_identify_evaluation_next(e, true);
    psdmp_identify_sieve_restart(e->sieve, false);
  }
  psdm_status status = psdmp_identify_evaluation_rows(e, s, error);
  if (status) return status;
  return e->stopped ? PSDM_E_STOPPED : PSDM_OK; /* ends the reading */
}

static psdm_status write_alone(psdmp_identify_calibration *a, psdm_predicted_write write, void *user,
                               psdm_error *error) {
  psdmp_identify_run *r = a->run;
  psdmp_identify_evaluation *e = psdmp_identify_evaluation_new(a, r, r->options->decimate > 1);
  psdmp_identify_evaluated *sums = e ? psdmp_identify_evaluated_new(a) : NULL;
  if (!sums) return psdmp_identify_evaluation_free(e), psdmp_base_no_memory("", error);
  e->write = write, e->user = user, e->to = sums, e->in_order = true;
  psdm_status status =
      psdmp_feed_each_warm(r->feed, true, psdmp_identify_band_margin(r, &r->band), write_stretch, e, error);
  if (!status) psdmp_identify_evaluation_next(e, true);
  if (status == PSDM_E_STOPPED) status = PSDM_OK;
  psdmp_identify_evaluation_free(e);
  psdmp_identify_evaluated_free(a, sums);
  return status;
}

/* ---- a stretch waiting for its turn ---- */

enum { GROUPS = 8 }; /* of n numbers in a row: q, qd, qdd, tau, raw, predicted, band, friction */

typedef struct waiting {
  psdmp_feed_stretch stretch; /* its rows are in numbers and bad */
  double *numbers;
  unsigned char *bad;
  size_t room, bad_room;  /* of those */
  psdmp_identify_run own; /* with a work of its own */
  psdmp_identify_evaluation *e;
  psdmp_identify_evaluated *sums;
  double *row; /* (rows x (3 + GROUPS n)) t, segment, held out, and groups */
  long rows, row_room;
  bool failed; /* out of memory */
  psdm_status status;
  psdm_error error;
} waiting;

/* All stretches in progress. */
typedef struct batch {
  psdmp_identify_calibration *a;
  psdm_predicted_write write;
  void *user;
  int count, room;
  waiting *place; /* (room) */
  bool stopped;
} batch;

static long width_of(const psdmp_identify_run *r) { return 3 + GROUPS * (long)r->n; }

static bool keep_row(void *user, const psdm_predicted_row *row) {
  waiting *w = user;
  size_t n = (size_t)w->own.n;
  long width = width_of(&w->own);
  if (!psdmp_base_room(w->own.allocator, &w->row, w->rows, 1, &w->row_room, (size_t)width * sizeof *w->row))
    return !(w->failed = true);
  double *to = w->row + w->rows++ * width;
  const double *const group[GROUPS] = {row->q,   row->qd,        row->qdd,  row->tau,
                                       row->raw, row->predicted, row->band, row->friction};
  to[0] = row->t, to[1] = row->segment, to[2] = row->heldout;
  for (int k = 0; k < GROUPS; k++) memcpy(to + 3 + (size_t)k * n, group[k], n * sizeof *to);
  return true;
}

static bool give_row(batch *b, const psdmp_identify_run *r, const double *x) {
  const double *at[GROUPS];
  for (int k = 0; k < GROUPS; k++) at[k] = x + 3 + (long)k * r->n;
  const psdm_predicted_row row = {.t = x[0],
                                  .segment = (int)x[1],
                                  .heldout = x[2] != 0,
                                  .q = at[0],
                                  .qd = at[1],
                                  .qdd = at[2],
                                  .tau = at[3],
                                  .raw = at[4],
                                  .predicted = at[5],
                                  .band = at[6],
                                  .friction = at[7]};
  return b->write(b->user, &row);
}

/* the rows of a stretch belong to the reader once it returns */
static bool copy_stretch(waiting *w, const psdmp_feed_stretch *s) {
  const psdm_allocator *a = w->own.allocator;
  size_t rows = (size_t)s->rows, n = (size_t)w->own.n, count = rows * (1 + 4 * n);
  if (count > w->room) {
    psdmp_base_free(a, w->numbers);
    w->room = (w->numbers = psdmp_base_alloc_raw(a, count * sizeof *w->numbers)) ? count : 0;
  }
  if (rows * n > w->bad_room) {
    psdmp_base_free(a, w->bad);
    w->bad_room = (w->bad = psdmp_base_alloc_raw(a, rows * n)) ? rows * n : 0;
  }
  if (!w->numbers || !w->bad) return false;
  double *t = w->numbers, *part = t + rows;
  const double *const from[4] = {s->q, s->qd, s->qdd, s->tau};
  const double **const to[4] = {&w->stretch.q, &w->stretch.qd, &w->stretch.qdd, &w->stretch.tau};
  w->stretch = *s;
  memcpy(t, s->t, rows * sizeof *t);
  memcpy(w->bad, s->bad, rows * n);
  w->stretch.t = t, w->stretch.bad = w->bad;
  for (int k = 0; k < 4; k++, part += rows * n) {
    if (!from[k]) continue;
    memcpy(part, from[k], rows * n * sizeof *part);
    *to[k] = part;
  }
  return true;
}

/* ---- batches ---- */

static void work_through(batch *b) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->room)
#endif
  for (int k = 0; k < b->count; k++) {
    waiting *w = &b->place[k];
    w->status = psdmp_identify_evaluation_rows(w->e, &w->stretch, &w->error);
    if (!w->status && w->failed) w->status = psdmp_base_no_memory("", &w->error);
  }
}

static psdm_status write_batch(batch *b, psdm_error *error) {
  psdm_status status = PSDM_OK;
  work_through(b);
  for (int k = 0; k < b->count && !status && !b->stopped; k++) {
    waiting *w = &b->place[k];
    long width = width_of(&w->own);
    status = w->status;
    if (status && error) *error = w->error;
    for (long row = 0; row < w->rows && !status && !b->stopped; row++)
      b->stopped = !give_row(b, &w->own, w->row + row * width);
  }
  for (int k = 0; k < b->count; k++) b->place[k].rows = 0;
  b->count = 0;
  return status;
}

static psdm_status take_stretch(void *user, const psdmp_feed_stretch *s, psdm_error *error) {
  batch *b = user;
  if (!copy_stretch(&b->place[b->count], s)) return psdmp_base_no_memory("", error);
  if (++b->count < b->room) return PSDM_OK;
  psdm_status status = write_batch(b, error);
  return status || !b->stopped ? status : PSDM_E_STOPPED; /* ends the reading */
}

static bool fill_place(psdmp_identify_calibration *a, waiting *w) {
  w->own = *a->run;
  w->own.work = NULL;
  if (psdm_work_new(w->own.robot, w->own.allocator, &w->own.work)) return false;
  w->e = psdmp_identify_evaluation_new(a, &w->own, false);
  w->sums = w->e ? psdmp_identify_evaluated_new(a) : NULL;
  if (!w->sums) return false;
  w->e->write = keep_row, w->e->user = w, w->e->to = w->sums, w->e->in_order = true;
  return true;
}

static void free_batch(batch *b) {
  const psdm_allocator *a = b->a->run->allocator;
  for (int k = 0; b->place && k < b->room; k++) {
    waiting *w = &b->place[k];
    psdmp_identify_evaluation_free(w->e);
    psdmp_identify_evaluated_free(b->a, w->sums);
    psdm_work_free(w->own.work, a);
    psdmp_base_free(a, w->numbers);
    psdmp_base_free(a, w->bad);
    psdmp_base_free(a, w->row);
  }
  psdmp_base_free(a, b->place);
}

/* each has a window with all its numbers, 20 MB for six joints; and one thread reads for all of them */
enum { MOST_PLACES = 16 };

static psdm_status write_together(psdmp_identify_calibration *a, int threads, psdm_predicted_write write, void *user,
                                  psdm_error *error) {
  psdmp_identify_run *r = a->run;
  batch b = {.a = a, .write = write, .user = user, .room = threads};
  b.place = psdmp_base_alloc(r->allocator, (size_t)threads * sizeof *b.place);
  bool ok = b.place != NULL;
  for (int k = 0; k < threads && ok; k++) ok = fill_place(a, &b.place[k]);
  psdm_status status =
      ok ? psdmp_feed_each_warm(r->feed, true, psdmp_identify_band_margin(r, &r->band), take_stretch, &b, error)
         : psdmp_base_no_memory("", error);
  if (!status) status = write_batch(&b, error);
  if (status == PSDM_E_STOPPED) status = PSDM_OK;
  free_batch(&b);
  return status;
}

psdm_status psdm_calibration_predict(const psdm_calibration *c, psdm_predicted_write write, void *user,
                                     psdm_error *error) {
  psdmp_identify_calibration *a = c->internal;
  const psdm_calibrate_options *o = a->run->options;
  int threads = psdmp_parallel_threads(o->threads, a->run->allocator, psdmp_feed_units(a->run->feed, true));
  if (threads > MOST_PLACES) threads = MOST_PLACES;
  return o->decimate > 1 || threads < 2 ? write_alone(a, write, user, error)
                                        : write_together(a, threads, write, user, error);
}
