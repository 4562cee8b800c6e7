/* feed.c: the rows of all logs, as often as needed.
 *
 * All rows are kept in memory while they fit; of longer logs every second, fourth, ... piece is kept, for choices, and
 * the rest is read again when all rows count. Both are used window by window, and windows in units that can be
 * processed independently: those in memory one by one, those read from files a few at a time. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "feed/feed_priv.h"

long psdmp_feed_rows(const psdmp_feed *f) { return f->total; }
int psdmp_feed_segments(const psdmp_feed *f) { return f->segments; }
double psdmp_feed_interval(const psdmp_feed *f) { return f->interval; }
bool psdmp_feed_has_rates(const psdmp_feed *f) { return f->rates; }
bool psdmp_feed_has_accelerations(const psdmp_feed *f) { return f->accelerations; }
int psdmp_feed_currents(const psdmp_feed *f) { return f->currents; }
int psdmp_feed_files(const psdmp_feed *f) { return f->files; }
const char *psdmp_feed_name(const psdmp_feed *f, int file) {
  return strcmp(f->file[file].path, "-") == 0 ? "<stdin>" : f->file[file].path;
}
const psdmp_feed_joint_facts *psdmp_feed_joints(const psdmp_feed *f, int file) { return f->file[file].facts.joint; }
bool psdmp_feed_whole(const psdmp_feed *f) { return f->whole; }
bool psdmp_feed_shared(const psdmp_feed *f) { return f->shared; }
const char *psdmp_feed_fault(const psdmp_feed *f, int index) {
  return index >= 0 && index < f->fault_count ? f->fault[index] : NULL;
}

void psdmp_feed_faults(const psdmp_feed *f, long faults[PSDM_FAULTS]) {
  memset(faults, 0, PSDM_FAULTS * sizeof *faults);
  for (int k = 0; k < f->files; k++)
    for (int i = 0; i < PSDM_FAULTS; i++) faults[i] += f->file[k].faults[i];
}

/* channels that some logs lack are not used */
psdmp_feed_stretch psdmp_feed_view(const psdmp_feed *f, const psdmp_feed_columns *r, long at, long count) {
  size_t skip = (size_t)at * (size_t)f->n;
  return (psdmp_feed_stretch){.rows = count,
                              .t = r->t + at,
                              .q = r->q + skip,
                              .tau = r->tau + skip,
                              .bad = r->bad + skip,
                              .qd = f->rates ? r->qd + skip : NULL,
                              .qdd = f->accelerations ? r->qdd + skip : NULL};
}

/* ---- units ---- */

/* the windows of one run of rows in memory; returns how many */
static long cut_run(const psdmp_feed_window *run, psdmp_feed_window *to) {
  long count = 0, end = run->first + run->count;
  for (long from = run->first; from < end; count++) {
    long next = (from / PSDMP_FEED_WINDOW + 1) * PSDMP_FEED_WINDOW;
    if (next > end) next = end;
    if (to) to[count] = *run, to[count].from = from, to[count].to = next;
    from = next;
  }
  return count;
}

/* windows of the rows in memory; consecutive pieces are one run. Where pieces were dropped, the ends of a run are
 * treated like those of a segment. */
static long cut_kept(const psdmp_feed *f, psdmp_feed_window *to) {
  long count = 0;
  for (int k = 0; k < f->files; k++) {
    const psdmp_feed_file *g = &f->file[k];
    for (int p = 0; p < g->pieces;) {
      psdmp_feed_window run = {.file = k, .run = p, .first = g->piece[p].first, .count = g->piece[p].count};
      for (p++; p < g->pieces && g->piece[p].segment == g->piece[run.run].segment &&
                g->piece[p].first == run.first + run.count;
           p++)
        run.count += g->piece[p].count;
      count += cut_run(&run, to ? to + count : NULL);
    }
  }
  return count;
}

static bool list_windows(psdmp_feed *f) {
  f->windows = cut_kept(f, NULL);
  f->window = psdmp_base_arena_alloc(&f->arena, (size_t)(f->windows + 1) * sizeof *f->window);
  if (f->window) cut_kept(f, f->window);
  return f->window != NULL;
}

/* groups of rows to read: cut at multiples of their length within a file that can be read from the middle, short files
 * together */
static bool list_units(psdmp_feed *f) {
  long group = PSDMP_FEED_GROUP;
  while (f->total / group > PSDMP_FEED_GROUPS) group *= 2;
  f->unit = psdmp_base_arena_alloc(&f->arena, (size_t)(f->total / group + f->files + 2) * sizeof *f->unit);
  if (!f->unit) return false;
  for (int k = 0; k < f->files; k++) {
    const psdmp_feed_file *g = &f->file[k];
    for (long cut = g->seeks ? group : g->rows;; cut += group) {
      long end = g->first + (cut < g->rows ? cut : g->rows);
      if (end - f->unit[f->units] >= group) f->unit[++f->units] = end;
      if (cut >= g->rows) break;
    }
  }
  if (f->total > f->unit[f->units]) f->unit[++f->units] = f->total;
  return true;
}

long psdmp_feed_units(const psdmp_feed *f, bool all) { return all && !f->whole ? f->units : f->windows; }

static psdm_status use_kept(psdmp_feed *f, const psdmp_feed_window *w, long lead, long trail,
                            psdmp_feed_use_stretch use, void *user, psdm_error *error) {
  const psdmp_feed_file *g = &f->file[w->file];
  const psdmp_feed_piece *run = &g->piece[w->run];
  long end = w->first + w->count, begin = w->from - lead > w->first ? w->from - lead : w->first,
       last = w->to + trail < end ? w->to + trail : end;
  psdmp_feed_stretch s = psdmp_feed_view(f, &g->kept, run->at + begin - w->first, last - begin);
  s.lead = w->from - begin, s.trail = last - w->to, s.first = g->first + begin,
  s.segment = g->first_segment + run->segment, s.file = w->file;
  s.origin = g->origin, s.begin = run->begin, s.begins = begin == w->first, s.ends = last == end;
  return use(user, &s, error);
}

/* rows from .. to of all */
static psdm_status use_read(psdmp_feed_reader *reader, long from, long to, long lead, long trail,
                            psdmp_feed_use_stretch use, void *user, psdm_error *error) {
  psdmp_feed *f = psdmp_feed_reader_feed(reader);
  psdm_status status = PSDM_OK;
  for (int k = 0; k < f->files && !status; k++) {
    const psdmp_feed_file *g = &f->file[k];
    long begin = from > g->first ? from : g->first, end = to < g->first + g->rows ? to : g->first + g->rows;
    if (begin < end)
      status = psdmp_feed_reader_rows(reader, k, begin - g->first, end - g->first, lead, trail, use, user, error);
  }
  return status;
}

psdm_status psdmp_feed_unit(psdmp_feed_reader *reader, bool all, long unit, long lead, long trail,
                            psdmp_feed_use_stretch use, void *user, psdm_error *error) {
  psdmp_feed *f = psdmp_feed_reader_feed(reader);
  if (!all || f->whole) return use_kept(f, &f->window[unit], lead, trail, use, user, error);
  return use_read(reader, f->unit[unit], f->unit[unit + 1], lead, trail, use, user, error);
}

static psdm_status use_all(psdmp_feed *f, bool all, long lead, long trail, psdmp_feed_use_stretch use, void *user,
                           psdm_error *error) {
  psdmp_feed_reader *reader = psdmp_feed_reader_new(f);
  psdm_status status = reader ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status && all && !f->whole) status = use_read(reader, 0, f->total, lead, trail, use, user, error);
  for (long k = 0; k < f->windows && !status && (!all || f->whole); k++)
    status = use_kept(f, &f->window[k], lead, trail, use, user, error);
  psdmp_feed_reader_free(reader);
  return status;
}

psdm_status psdmp_feed_each(psdmp_feed *f, bool all, long margin, psdmp_feed_use_stretch use, void *user,
                            psdm_error *error) {
  return use_all(f, all, margin, margin, use, user, error);
}

psdm_status psdmp_feed_each_warm(psdmp_feed *f, bool all, long margin, psdmp_feed_use_stretch use, void *user,
                                 psdm_error *error) {
  return use_all(f, all, margin + PSDMP_FEED_WARM, margin, use, user, error);
}

/* ---- all files together ---- */

static psdm_status check_file(const psdmp_feed *f, int file, psdm_error *error) {
  const psdmp_feed_file *g = &f->file[file];
  const char *name = psdmp_feed_name(f, file);
  double first = f->file[0].interval;
  if (g->status && error) *error = g->error;
  if (g->status) return g->status;
  if (!(g->interval > 0))
    return psdmp_base_fail(error, PSDM_E_PARSE, name, 0, 0,
                           "it has no usable times: two or more rows at different times were expected");
  if (fabs(g->interval - first) > 0.02 * first)
    return psdmp_base_fail(
        error, PSDM_E_PARSE, name, 0, 0,
        "its clock ticks every %g ms, that of the first log every %g ms; logs of one calibration need one rate",
        1e3 * g->interval, 1e3 * first);
  return PSDM_OK;
}

static void choose_pieces(psdmp_feed *f) {
  for (long every = 1;; every *= 2) {
    long kept = 0;
    for (int k = 0; k < f->files; k++) kept += psdmp_feed_kept(k, f->file[k].rows, every);
    f->every = every;
    if (kept <= f->limit) break;
  }
  for (int k = 0; k < f->files; k++) psdmp_feed_thin(f, k, f->every);
  f->whole = f->every == 1;
}

enum { KEPT_BYTES = 128 }; /* bytes per row and joint: as read, filtered, and its residuals (measured) */

/* whether copying and filtering the kept rows will fit in memory */
static psdm_status ask(const psdmp_feed *f, psdm_error *error) {
  long kept = 0;
  char what[64];
  for (int k = 0; k < f->files; k++) kept += psdmp_feed_kept(k, f->file[k].rows, f->every);
  psdmp_base_print(what, sizeof what, "keeping %ld rows", kept);
  return psdmp_base_memory_ask(psdmp_feed_name(f, 0), what, (double)kept * (double)KEPT_BYTES * f->n,
                               psdm_robot_memory(f->robot), "; a smaller cache keeps fewer", error);
}

static psdm_status put_together(psdmp_feed *f, psdm_error *error) {
  f->rates = f->accelerations = f->shared = true;
  for (int k = 0; k < f->files; k++) {
    psdmp_feed_file *g = &f->file[k];
    psdm_status status = check_file(f, k, error);
    if (status) return status;
    g->first = f->total, g->first_segment = f->segments;
    f->total += g->rows;
    f->segments += g->segments;
    f->rates &= g->rates;
    f->accelerations &= g->accelerations;
    f->currents += g->currents;
    f->shared &= g->shared;
    for (int i = 0; i < g->fault_count && f->fault_count < PSDMP_FEED_MOST_FAULTS; i++)
      f->fault[f->fault_count++] = g->fault[i];
  }
  f->interval = f->file[0].interval;
  choose_pieces(f);
  psdm_status status = ask(f, error);
  if (status) return status;
  return list_windows(f) && list_units(f) ? PSDM_OK : psdmp_base_no_memory("", error);
}

/* ---- ranks: each reads some files, then gets the data of all ---- */

static psdm_status scan_share(psdmp_feed *f, const int *rank, psdm_error *error) {
  int count = 0, own = f->ranks ? f->ranks->rank : 0,
      *file = psdmp_base_alloc(f->allocator, (size_t)(f->files + 1) * sizeof *file);
  if (!file) return psdmp_base_no_memory("", error);
  for (int k = 0; k < f->files; k++)
    if (rank[k] == own) file[count++] = k;
  psdm_status status = psdmp_feed_scan(f, count, file, error);
  psdmp_base_free(f->allocator, file);
  return status;
}

static void put_files(const psdmp_feed *f, const int *rank, int own, psdmp_parallel_bytes *to) {
  for (int k = 0; k < f->files; k++)
    if (!rank || rank[k] == own) psdmp_feed_file_put(&f->file[k], to);
}

static bool get_files(psdmp_feed *f, const int *rank, int own, psdmp_parallel_bytes *from) {
  for (int k = 0; k < f->files; k++)
    if ((!rank || rank[k] == own) && !psdmp_feed_file_get(&f->file[k], f->allocator, from)) return false;
  return true;
}

/* rank 0: reads its own files, collects those of the others, and sends all to all. Listens to every rank, even if one
 * fails. */
static psdm_status scan_together(psdmp_feed *f, const int *rank, psdm_error *error) {
  psdmp_parallel_bytes request = {.allocator = f->allocator}, all = {.allocator = f->allocator};
  psdm_error other;
  static const unsigned char none[32];
  psdmp_parallel_bytes_put(&request, f->checkpoint ? psdmp_feed_checkpoint_key(f->checkpoint) : none, sizeof none);
  psdmp_parallel_bytes_put(&request, rank, (size_t)f->files * sizeof *rank);
  psdm_status status = psdmp_parallel_team_ask(f->ranks, PSDMP_FEED_WORK_SCAN, &request, error);
  psdmp_parallel_bytes_free(&request);
  if (status) return status;
  status = scan_share(f, rank, error);
  for (int k = 1; k < f->ranks->size; k++) {
    psdmp_parallel_bytes answer = {.allocator = f->allocator};
    psdm_status heard = psdmp_parallel_team_listen(f->ranks, k, &answer, &other);
    if (!heard && !get_files(f, rank, k, &answer)) heard = psdmp_base_no_memory("", &other);
    psdmp_parallel_bytes_free(&answer);
    if (!heard) choose_pieces(f); /* all ranks together may have kept too much */
    if (heard && !status && error) *error = other;
    if (heard && !status) status = heard;
  }
  for (int k = 0; k < f->files && !status; k++) {
    status = check_file(f, k, error);
    psdmp_parallel_team_tell(rank[k], status, error);
  }
  if (status) return status;
  choose_pieces(f);
  put_files(f, NULL, 0, &all);
  status = psdmp_parallel_team_ask(f->ranks, PSDMP_FEED_WORK_FEED, &all, error);
  bool asked = !status;
  psdmp_parallel_bytes_free(&all);
  for (int k = 1; k < f->ranks->size && asked; k++) {
    psdmp_parallel_bytes empty = {.allocator = f->allocator};
    psdm_status heard = psdmp_parallel_team_listen(f->ranks, k, &empty, &other);
    psdmp_parallel_bytes_free(&empty);
    if (heard && !status && error) *error = other;
    if (heard && !status) status = heard;
  }
  return status;
}

psdm_status psdmp_feed_serve_scan(psdmp_feed *f, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                                  psdm_error *error) {
  int *rank = psdmp_base_arena_alloc(&f->arena, (size_t)(f->files + 1) * sizeof *rank);
  if (!rank) return psdmp_base_no_memory("", error);
  psdmp_parallel_bytes_get(request, rank, (size_t)f->files * sizeof *rank);
  if (request->failed || request->at != request->used)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "rank 0 and rank %d have different logs", f->ranks->rank);
  psdm_status status = scan_share(f, rank, error);
  if (!status) put_files(f, rank, f->ranks->rank, answer);
  return status;
}

psdm_status psdmp_feed_serve_all(psdmp_feed *f, psdmp_parallel_bytes *request, psdm_error *error) {
  return get_files(f, NULL, 0, request) ? put_together(f, error) : psdmp_base_no_memory("", error);
}

/* ---- opening ---- */

static double *copy_numbers(psdmp_feed *f, const double *from) {
  double *copy = from ? psdmp_base_arena_alloc(&f->arena, (size_t)f->n * sizeof *copy) : NULL;
  if (copy) memcpy(copy, from, (size_t)f->n * sizeof *copy);
  return copy;
}

/* logs are opened again later, so their options are copied */
static bool copy_options(psdmp_feed *f, const psdm_calibrate_options *o) {
  f->log = o->log;
  f->log.sign = copy_numbers(f, o->log.sign);
  f->log.offset = copy_numbers(f, o->log.offset);
  f->log.columns = o->log.columns ? psdmp_base_arena_text(&f->arena, o->log.columns, strlen(o->log.columns)) : NULL;
  f->file = psdmp_base_arena_alloc(&f->arena, (size_t)(o->files + 1) * sizeof *f->file);
  f->read_share = psdmp_base_arena_alloc(&f->arena, (size_t)(o->files + 1) * sizeof *f->read_share);
  bool ok = f->file && f->read_share && !f->log.sign == !o->log.sign && !f->log.offset == !o->log.offset &&
            !f->log.columns == !o->log.columns;
  for (int k = 0; k < o->files && ok; k++)
    ok = (f->file[k].path = psdmp_base_arena_text(&f->arena, o->path[k], strlen(o->path[k]))) != NULL;
  return ok;
}

psdm_status psdmp_feed_new(const psdm_robot *robot, const psdm_calibrate_options *o,
                           const psdmp_feed_checkpoint *checkpoint, const psdm_allocator *allocator, psdmp_feed **out,
                           psdm_error *error) {
  psdmp_feed *f = *out = psdmp_base_alloc(allocator, sizeof *f);
  if (!f) return psdmp_base_no_memory("", error);
  f->allocator = f->arena.allocator = allocator;
  f->robot = robot, f->ranks = o->ranks, f->threads = o->threads, f->n = psdm_robot_n(robot), f->files = o->files,
  f->every = 1, f->checkpoint = checkpoint;
  f->limit = o->cache <= 0 ? 2000000 : o->cache < PSDMP_FEED_PIECE ? PSDMP_FEED_PIECE : o->cache;
  f->progress = o->progress, f->progress_user = o->progress_user;
  atomic_init(&f->stop, false);
  atomic_init(&f->failed, INT_MAX);
  if (copy_options(f, o)) return PSDM_OK;
  f->files = 0;
  psdmp_feed_close(f);
  *out = NULL;
  return psdmp_base_no_memory("", error);
}

psdm_status psdmp_feed_read(psdmp_feed *f, psdm_error *error) {
  int *rank = psdmp_base_arena_alloc(&f->arena, (size_t)(f->files + 1) * sizeof *rank);
  if (!rank || (f->ranks && !psdmp_feed_assign(f, f->ranks->size, rank))) return psdmp_base_no_memory("", error);
  psdm_status status = f->ranks ? scan_together(f, rank, error) : scan_share(f, rank, error);
  return status ? status : put_together(f, error);
}

psdm_status psdmp_feed_open(const psdm_robot *robot, const psdm_calibrate_options *o, const psdm_allocator *allocator,
                            psdmp_feed **out, psdm_error *error) {
  psdm_status status = psdmp_feed_new(robot, o, NULL, allocator, out, error);
  if (!status) status = psdmp_feed_read(*out, error);
  if (!status) return PSDM_OK;
  psdmp_feed_close(*out);
  *out = NULL;
  return status;
}

void psdmp_feed_close(psdmp_feed *f) {
  if (!f) return;
  for (int k = 0; k < f->files; k++) psdmp_feed_file_free(&f->file[k], f->allocator);
  psdmp_base_arena_free(&f->arena);
  psdmp_base_free(f->allocator, f);
}
