/* sums.c: sums over all stretches, by threads and ranks.
 *
 * The logs alone determine units of rows, and a binary tree of units along which their sums are added, independent of
 * the numbers of threads and
 * ranks. */
#include <stdatomic.h>
#include <string.h>

#include "identify/identify.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* Shared by the threads. */
typedef struct summing {
  psdmp_identify_run *run;
  psdmp_identify_run start; /* as before the threads began: the first one writes to the other */
  const psdmp_identify_sum *sum;
  const psdmp_parallel_bytes *request;
  bool all, kept; /* kept: finished units go to the checkpoint, and come from there */
  long margin;
  atomic_bool stop;
} summing;

/* One thread. */
typedef struct worker {
  summing *s;
  psdmp_identify_run own;
  void *space;
  psdmp_feed_reader *reader;
  psdmp_parallel_tree tree; /* over the stretches of a unit */
  long stretches;
} worker;

static bool is_first_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num() == 0;
#else
  return true;
#endif
}

/* ---- one unit ---- */

/* only the calling thread asks whether to go on, and informs the others */
static void tell_progress(worker *w, const psdmp_feed_stretch *stretch) {
  summing *s = w->s;
  psdmp_identify_run *r = s->run;
  if (!is_first_thread() || r->finishing || psdmp_parallel_team_member(r->options->ranks)) return;
  if (s->sum->doing) r->doing = s->sum->doing;
  if (!psdmp_identify_progress(r, r->doing, s->all ? (double)(stretch->first + stretch->rows) / (double)r->rows : -1))
    atomic_store(&s->stop, true);
}

static psdm_status add_stretch(void *user, const psdmp_feed_stretch *stretch, psdm_error *error) {
  worker *w = user;
  const psdmp_identify_sum *sum = w->s->sum;
  if (atomic_load(&w->s->stop)) return PSDM_OK; /* keeps the sum so far */
  void *part = sum->part_new(sum->user);
  psdm_status status = part ? sum->add(w->space, part, stretch, error) : psdmp_base_no_memory("", error);
  if (status) {
    sum->part_free(sum->user, part);
    return status;
  }
  status = psdmp_parallel_tree_add(&w->tree, w->stretches++, 0, part);
  if (status) return psdmp_base_no_memory("", error);
  tell_progress(w, stretch);
  return PSDM_OK;
}

static void *load_unit(const worker *w, long unit) {
  const psdmp_identify_sum *sum = w->s->sum;
  psdmp_parallel_bytes bytes = {.allocator = w->own.allocator};
  bool found = w->s->kept && psdmp_feed_checkpoint_load(w->own.checkpoint, sum->name, unit, w->s->request, &bytes);
  void *part = found ? sum->get(sum->user, &bytes) : NULL;
  psdmp_parallel_bytes_free(&bytes);
  return part;
}

static psdm_status save_unit(const worker *w, long unit, const void *part, psdm_error *error) {
  const psdmp_identify_sum *sum = w->s->sum;
  psdmp_parallel_bytes bytes = {.allocator = w->own.allocator};
  if (!w->s->kept || atomic_load(&w->s->stop)) return PSDM_OK;
  sum->put(sum->user, part, &bytes);
  psdm_status status = psdmp_feed_checkpoint_save(w->own.checkpoint, sum->name, unit, w->s->request, &bytes, error);
  psdmp_parallel_bytes_free(&bytes);
  return status;
}

static psdm_status make_unit(void *space, long unit, void **part, psdm_error *error) {
  worker *w = space;
  summing *s = w->s;
  if (atomic_load(&s->stop)) return PSDM_OK;
  if ((*part = load_unit(w, unit))) return PSDM_OK;
  w->stretches = 0;
  w->tree = (psdmp_parallel_tree){.way = {s->sum->user, s->sum->merge, s->sum->part_free}};
  psdm_status status =
      psdmp_feed_unit(w->reader, s->all, unit, s->margin + PSDMP_FEED_WARM, s->margin, add_stretch, w, error);
  if (status) return psdmp_parallel_tree_free(&w->tree), status;
  if (psdmp_parallel_tree_end(&w->tree, part)) return psdmp_base_no_memory("", error);
  return *part ? save_unit(w, unit, *part, error) : PSDM_OK;
}

/* ---- threads ---- */

static void worker_free(void *user, void *space) {
  worker *w = space;
  const summing *s = user;
  if (w->space) s->sum->space_free(s->sum->user, w->space);
  psdmp_feed_reader_free(w->reader);
  psdm_work_free(w->own.work, w->own.allocator);
  psdmp_base_free(w->own.allocator, w);
}

static void *worker_new(void *user) {
  summing *s = user;
  worker *w = psdmp_base_alloc(s->run->allocator, sizeof *w);
  if (!w) return NULL;
  w->s = s;
  w->own = s->start;
  psdm_status status = psdm_work_new(s->run->robot, s->run->allocator, &w->own.work);
  w->space = status ? NULL : s->sum->space_new(s->sum->user, &w->own);
  w->reader = psdmp_feed_reader_new(s->run->feed);
  if (w->space && w->reader) return w;
  worker_free(user, w);
  return NULL;
}

static psdm_status merge(void *user, void *left, void *right) {
  return ((summing *)user)->sum->merge(((summing *)user)->sum->user, left, right);
}
static void part_free(void *user, void *part) { ((summing *)user)->sum->part_free(((summing *)user)->sum->user, part); }
static void put(void *user, const void *part, psdmp_parallel_bytes *to) {
  ((summing *)user)->sum->put(((summing *)user)->sum->user, part, to);
}
static void *get(void *user, psdmp_parallel_bytes *from) {
  return ((summing *)user)->sum->get(((summing *)user)->sum->user, from);
}

/* ---- ranks ---- */

/* parts that this rank has found, saved, and found damaged since it began */
static void put_counts(const psdmp_identify_run *r, psdmp_parallel_bytes *to) {
  long found = 0, saved = 0, stale, damaged = 0;
  if (r->checkpoint) psdmp_feed_checkpoint_counts(r->checkpoint, &found, &saved, &stale, &damaged);
  PSDMP_PARALLEL_PUT(to, found);
  PSDMP_PARALLEL_PUT(to, saved);
  PSDMP_PARALLEL_PUT(to, damaged);
}

static void add_counts(void *user, psdmp_parallel_bytes *from) {
  psdmp_identify_run *r = ((summing *)user)->run;
  for (int k = 0; k < 3; k++) {
    long count;
    PSDMP_PARALLEL_GET(from, count);
    r->parts_of_others[k] += count;
  }
}

static psdmp_parallel_spread spread_of(summing *s) {
  const psdmp_identify_run *r = s->run;
  bool reads = s->all && !psdmp_feed_whole(r->feed);
  s->kept = reads && r->checkpoint;
  atomic_init(&s->stop, false);
  return (psdmp_parallel_spread){.ranks = r->options->ranks,
                                 .threads = reads && !psdmp_feed_shared(r->feed) ? 1 : r->options->threads,
                                 .allocator = r->allocator,
                                 .units = psdmp_feed_units(r->feed, s->all),
                                 .user = s,
                                 .space_new = worker_new,
                                 .space_free = worker_free,
                                 .make = make_unit,
                                 .merge = merge,
                                 .part_free = part_free,
                                 .put = put,
                                 .get = get,
                                 .heard = add_counts};
}

psdm_status psdmp_identify_sum_serve(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                     const psdmp_parallel_bytes *request, bool all, long margin,
                                     psdmp_parallel_bytes *answer, psdm_error *error) {
  summing s = {.run = r, .start = *r, .sum = sum, .request = request, .all = all, .margin = margin};
  psdmp_parallel_spread spread = spread_of(&s);
  psdm_status status = psdmp_parallel_spread_serve(&spread, answer, error);
  if (!status) put_counts(r, answer);
  return status;
}

psdm_status psdmp_identify_sum_rows(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                    const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                    psdm_error *error) {
  *part = NULL;
  /* incomplete requests are refused, even without other ranks */
  if (request->failed) return psdmp_base_no_memory("", error);
  summing s = {.run = r, .start = *r, .sum = sum, .request = request, .all = all, .margin = margin};
  psdmp_parallel_spread spread = spread_of(&s);
  if (s.kept && !psdmp_feed_checkpoint_names(r->checkpoint, sum->name, request)) return psdmp_base_no_memory("", error);
  memset(r->parts_of_others, 0, sizeof r->parts_of_others); /* each reports its totals */
  return psdmp_parallel_spread_all(&spread, sum->work, request, part, error);
}

/* ---- the request to other ranks ---- */

void psdmp_identify_run_put(const psdmp_identify_run *r, const psdmp_identify_band *band, bool chosen,
                            psdmp_parallel_bytes *to) {
  psdmp_identify_band plain;
  memset(&plain, 0, sizeof plain); /* including padding: requests are compared as bytes */
  plain.kinematics = band->kinematics, plain.cutoff = band->cutoff, plain.delay = band->delay, plain.wide = band->wide;
  PSDMP_PARALLEL_PUT(to, plain);
  PSDMP_PARALLEL_PUT(to, r->still);
  PSDMP_PARALLEL_PUT(to, r->rest);
  psdmp_parallel_bytes_put(to, r->speed, (size_t)r->n * sizeof *r->speed);
  bool load = r->theta_load != NULL;
  PSDMP_PARALLEL_PUT(to, load);
  if (load) psdmp_parallel_bytes_put(to, r->theta_load, (size_t)r->l * sizeof *r->theta_load);
  for (int i = 0; i < r->n; i++) {
    int count = chosen ? r->choice[i].count : r->dictionary[i].count;
    PSDMP_PARALLEL_PUT(to, count);
    for (int k = 0; k < count; k++) {
      const psdmp_parameters_column *from = &r->dictionary[i].column[chosen ? r->choice[i].take[k] : k];
      PSDMP_PARALLEL_PUT(to, from->kind);
      PSDMP_PARALLEL_PUT(to, from->width);
      PSDMP_PARALLEL_PUT(to, from->load);
    }
  }
}

bool psdmp_identify_run_get(psdmp_identify_run *r, psdmp_identify_band *band, psdmp_parallel_bytes *from) {
  bool load;
  PSDMP_PARALLEL_GET(from, *band);
  PSDMP_PARALLEL_GET(from, r->still);
  PSDMP_PARALLEL_GET(from, r->rest);
  psdmp_parallel_bytes_get(from, r->speed, (size_t)r->n * sizeof *r->speed);
  PSDMP_PARALLEL_GET(from, load);
  if (load && !r->theta_load) r->theta_load = psdmp_base_arena_alloc(&r->arena, (size_t)r->l * sizeof *r->theta_load);
  if (load && !r->theta_load) return false;
  if (load) psdmp_parallel_bytes_get(from, r->theta_load, (size_t)r->l * sizeof *r->theta_load);
  if (!load) r->theta_load = NULL;
  for (int i = 0; i < r->n; i++) {
    int count;
    PSDMP_PARALLEL_GET(from, count);
    if (from->failed || count < 0 || count > PSDMP_PARAMETERS_MOST_COLUMNS) return false;
    r->dictionary[i].count = count;
    r->choice[i].count = count < 16 ? count : 16;
    for (int k = 0; k < count; k++) {
      psdmp_parameters_column *to = &r->dictionary[i].column[k];
      PSDMP_PARALLEL_GET(from, to->kind);
      PSDMP_PARALLEL_GET(from, to->width);
      PSDMP_PARALLEL_GET(from, to->load);
      if (k < 16) r->choice[i].take[k] = k;
    }
  }
  return !from->failed;
}
