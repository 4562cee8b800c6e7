/* scan.c: the first pass through logs. Rows are counted; all are kept in memory while they fit, of longer logs every
 * second, fourth, ... piece, for choices; and bookmarks are set, so that later passes can start anywhere. Files are
 * read in parallel, each by one thread of one rank. */
#include <stdio.h>
#include <string.h>

#include "feed/feed_priv.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- rows that grow ---- */

static bool grow_array(const psdm_allocator *a, void **array, size_t old, size_t new) {
  void *bigger = psdmp_base_alloc_raw(a, new);
  if (!bigger) return false;
  if (old) memcpy(bigger, *array, old);
  psdmp_base_free(a, *array);
  *array = bigger;
  return true;
}

static bool set_room(psdmp_feed_columns *r, const psdm_allocator *a, long room) {
  size_t n = (size_t)r->n, old = (size_t)r->count, new = (size_t)room, d = sizeof(double);
  bool ok = grow_array(a, (void **)&r->t, old * d, new *d) && grow_array(a, (void **)&r->q, old * n * d, new *n *d) &&
            grow_array(a, (void **)&r->tau, old * n * d, new *n *d) && grow_array(a, (void **)&r->bad, old * n, new *n);
  if (ok && r->rates) ok = grow_array(a, (void **)&r->qd, old * n * d, new *n *d);
  if (ok && r->accelerations) ok = grow_array(a, (void **)&r->qdd, old * n * d, new *n *d);
  if (ok || room < r->room) r->room = room; /* an array that could not shrink is larger than needed */
  return ok;
}

bool psdmp_feed_room(psdmp_feed_columns *r, const psdm_allocator *a, long count) {
  if (count <= r->room) return true;
  long room = r->room ? r->room : PSDMP_FEED_READ;
  while (room < count) room *= 2;
  return set_room(r, a, room);
}

/* frees the room of dropped rows */
static void give_room(psdmp_feed_columns *r, const psdm_allocator *a) {
  if (!r->count) psdmp_feed_columns_free(r, a);
  else if (r->count < r->room / 4) set_room(r, a, r->count);
}

void psdmp_feed_columns_free(psdmp_feed_columns *r, const psdm_allocator *a) {
  void *const parts[] = {r->t, r->q, r->qd, r->qdd, r->tau, r->bad};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
  *r = (psdmp_feed_columns){.n = r->n, .rates = r->rates, .accelerations = r->accelerations};
}

void psdmp_feed_copy(psdmp_feed_columns *r, const psdm_log_rows *from, long first, long count) {
  size_t n = (size_t)r->n, bytes = (size_t)count * n * sizeof(double), at = (size_t)r->count * n,
         skip = (size_t)first * n;
  memcpy(r->t + r->count, from->t + first, (size_t)count * sizeof(double));
  memcpy(r->q + at, from->q + skip, bytes);
  memcpy(r->tau + at, from->tau + skip, bytes);
  memcpy(r->bad + at, from->bad + skip, (size_t)count * n);
  if (r->rates) memcpy(r->qd + at, from->qd + skip, bytes);
  if (r->accelerations) memcpy(r->qdd + at, from->qdd + skip, bytes);
  r->count += count;
}

void psdmp_feed_move(psdmp_feed_columns *r, long to, long from, long count) {
  size_t n = (size_t)r->n, bytes = (size_t)count * n * sizeof(double), a = (size_t)to * n, b = (size_t)from * n;
  memmove(r->t + to, r->t + from, (size_t)count * sizeof(double));
  memmove(r->q + a, r->q + b, bytes);
  memmove(r->tau + a, r->tau + b, bytes);
  memmove(r->bad + a, r->bad + b, (size_t)count * n);
  if (r->rates) memmove(r->qd + a, r->qd + b, bytes);
  if (r->accelerations) memmove(r->qdd + a, r->qdd + b, bytes);
}

void psdmp_feed_file_free(psdmp_feed_file *f, const psdm_allocator *a) {
  psdmp_feed_columns_free(&f->kept, a);
  psdmp_feed_facts_free(&f->facts, a);
  psdmp_base_free(a, f->piece);
  for (int k = 0; k < f->marks; k++) psdmp_log_bookmark_free(&f->mark[k].at, a);
  psdmp_base_free(a, f->mark);
  for (int k = 0; k < f->fault_count; k++) psdmp_base_free(a, f->fault[k]);
  psdmp_base_free(a, f->fault);
  *f = (psdmp_feed_file){.path = f->path};
}

/* ---- pieces ---- */

/* Piece p of file k is kept when p + k is a multiple of every: evenly spread in long logs, every so many-th of many
 * short ones; and doubling `every` keeps a subset. */
static bool is_kept(int file, long piece, long every) { return (piece + file) % every == 0; }

long psdmp_feed_kept(int file, long rows, long every) {
  long pieces = (rows + PSDMP_FEED_PIECE - 1) / PSDMP_FEED_PIECE, skip = (every - file % every) % every;
  if (pieces <= skip) return 0;
  long kept = (pieces - 1 - skip) / every + 1, last = rows - (pieces - 1) * PSDMP_FEED_PIECE;
  return kept * PSDMP_FEED_PIECE - (is_kept(file, pieces - 1, every) ? PSDMP_FEED_PIECE - last : 0);
}

void psdmp_feed_thin(psdmp_feed *f, int file, long every) {
  psdmp_feed_file *g = &f->file[file];
  long to = 0;
  int left = 0;
  if (g->every >= every) return;
  g->every = every;
  for (int k = 0; k < g->pieces; k++) {
    psdmp_feed_piece p = g->piece[k];
    if (!is_kept(file, p.first / PSDMP_FEED_PIECE, every)) continue;
    psdmp_feed_move(&g->kept, to, p.at, p.count);
    p.at = to;
    to += p.count;
    g->piece[left++] = p;
  }
  g->pieces = left;
  g->kept.count = to;
  give_room(&g->kept, f->allocator);
}

static bool new_piece(const psdmp_feed *f, psdmp_feed_file *g, psdmp_feed_piece p) {
  if (!psdmp_base_room(f->allocator, &g->piece, g->pieces, 1, &g->piece_room, sizeof p)) return false;
  g->piece[g->pieces++] = p;
  return true;
}

/* copies the rows of one call to their pieces, cut at multiples of a piece */
static bool keep(const psdmp_feed *f, int file, const psdm_log_rows *from, double begin, bool fresh) {
  psdmp_feed_file *g = &f->file[file];
  for (long done = 0; done < from->count;) {
    long left = PSDMP_FEED_PIECE - g->rows % PSDMP_FEED_PIECE,
         count = from->count - done < left ? from->count - done : left;
    if (is_kept(file, g->rows / PSDMP_FEED_PIECE, g->every)) {
      const psdmp_feed_piece *last = g->pieces ? &g->piece[g->pieces - 1] : NULL;
      bool new =
          g->rows % PSDMP_FEED_PIECE == 0 || (fresh && done == 0) || !last || last->first + last->count != g->rows;
      if (new && !new_piece(f, g,
                            (psdmp_feed_piece){
                                .first = g->rows, .at = g->kept.count, .segment = from->segment, .begin = begin}))
        return false;
      if (!psdmp_feed_room(&g->kept, f->allocator, g->kept.count + count)) return false;
      psdmp_feed_copy(&g->kept, from, done, count);
      g->piece[g->pieces - 1].count += count;
    }
    g->rows += count;
    done += count;
  }
  return true;
}

/* ---- bookmarks ---- */

/* drops every second one */
static void thin_marks(const psdmp_feed *f, psdmp_feed_file *g) {
  int left = 0;
  for (int k = 0; k < g->marks; k++)
    if (k % 2) g->mark[left++] = g->mark[k];
    else psdmp_log_bookmark_free(&g->mark[k].at, f->allocator);
  g->marks = left;
  g->spacing *= 2;
}

static bool lay_mark(const psdmp_feed *f, psdmp_feed_file *g, psdm_log *log, int segment, double begin) {
  int most = PSDMP_FEED_BOOKMARKS / f->files > 16 ? PSDMP_FEED_BOOKMARKS / f->files : 16;
  long last = g->marks ? g->mark[g->marks - 1].at.row : 0;
  if (!psdmp_log_markable(log) || psdm_log_good(log) < last + g->spacing) return true;
  if (g->marks == most) thin_marks(f, g);
  if (g->marks % 64 == 0 && !grow_array(f->allocator, (void **)&g->mark, (size_t)g->marks * sizeof *g->mark,
                                        (size_t)(g->marks + 64) * sizeof *g->mark))
    return false;
  psdmp_feed_mark *m = &g->mark[g->marks];
  *m = (psdmp_feed_mark){.segment = segment, .begin = begin};
  if (!psdmp_log_bookmark_take(log, f->allocator, &m->at)) return false;
  g->marks++;
  return true;
}

/* ---- one file ---- */

static bool note_faults(const psdmp_feed *f, psdmp_feed_file *g, const psdm_log *log) {
  const char *text;
  long line;
  g->fault = psdmp_base_alloc(f->allocator, PSDM_FAULTS * PSDMP_LOG_KEPT * sizeof *g->fault);
  if (!g->fault) return false;
  for (int k = 0; k < PSDM_FAULTS; k++) {
    g->faults[k] = psdm_log_faults(log, (psdm_fault)k);
    for (int i = 0; (text = psdm_log_fault(log, (psdm_fault)k, i, &line)); i++) {
      char whole[512];
      snprintf(whole, sizeof whole, "%s: %s", psdm_log_file(log), text);
      char *copy = psdmp_base_alloc_raw(f->allocator, strlen(whole) + 1);
      if (!copy) return false;
      strcpy(copy, whole);
      g->fault[g->fault_count++] = copy;
    }
  }
  return true;
}

/* decides from the rows so far how many pieces to keep, and reports progress. One thread at a time. */
static void look_around(psdmp_feed *f, int file, double share) {
  long kept = 0, every = f->every;
  double sum = 0;
  f->read_share[file] = share;
  for (;; every *= 2) {
    kept = 0;
    for (int k = 0; k < f->files; k++)
      kept += f->file[k].scanned || k == file ? psdmp_feed_kept(k, f->file[k].rows, every) : 0;
    if (kept <= f->limit) break;
  }
  for (int k = 0; k < f->files && every > f->every; k++)
    if (f->file[k].scanned) psdmp_feed_thin(f, k, every);
  f->every = every;
  for (int k = 0; k < f->files; k++) sum += f->read_share[k];
#ifdef _OPENMP
  if (omp_get_thread_num() != 0) return;
#endif
  if (f->progress && !f->progress(f->progress_user, "reading", sum / f->files)) atomic_store(&f->stop, true);
}

static psdm_status read_rows(psdmp_feed *f, int file, psdm_log *log, psdm_error *error) {
  psdmp_feed_file *g = &f->file[file];
  double begin = 0;
  int segment = -1;
  if (!psdmp_feed_facts_new(&g->facts, f->robot, f->allocator)) return psdmp_base_no_memory("", error);
  for (;;) {
    psdm_log_rows got;
    psdm_status status = psdm_log_read(log, PSDMP_FEED_READ, &got, error);
    if (status || !got.count) return status;
    bool fresh = got.segment != segment;
    if (!g->rows) g->origin = got.t[0];
    if (fresh) begin = got.t[0];
    segment = got.segment;
    g->segments = segment + 1;
    psdmp_feed_facts_rows(&g->facts, f->robot, &got, fresh);
    if (!keep(f, file, &got, begin, fresh) || !lay_mark(f, g, log, segment, begin))
      return psdmp_base_no_memory("", error);
    double share = psdm_log_size(log) > 0 ? (double)psdm_log_bytes(log) / (double)psdm_log_size(log) : 0.5;
    long every;
#ifdef _OPENMP
#pragma omp critical
#endif
    {
      look_around(f, file, share);
      every = f->every;
    }
    psdmp_feed_thin(f, file, every);
    if (atomic_load(&f->stop) || atomic_load(&f->failed) < file)
      return psdmp_base_fail(error, PSDM_E_STOPPED, "", 0, 0, "stopped while the logs were read");
  }
}

/* with the first fault */
static psdm_status no_rows(const psdm_log *log, psdm_error *error) {
  const char *text = NULL;
  long line = 0;
  for (int k = 0; k < PSDM_FAULTS && !text; k++) text = psdm_log_fault(log, (psdm_fault)k, 0, &line);
  return psdmp_base_fail(error, PSDM_E_PARSE, psdm_log_file(log), 0, 0, "no row could be read%s%s", text ? "; " : "",
                         text ? text : "");
}

static void scan_log(psdmp_feed *f, int file, psdm_log *log) {
  psdmp_feed_file *g = &f->file[file];
  g->rates = g->kept.rates = psdm_log_has_rates(log);
  g->accelerations = g->kept.accelerations = psdm_log_has_accelerations(log);
  g->currents = psdm_log_has_currents(log);
  g->seeks = psdmp_log_seeks(log);
  g->shared = psdmp_log_shared(log);
  g->once = psdmp_log_once(log);
  g->kept.n = f->n;
  g->every = 1;
  g->spacing = PSDMP_FEED_FIRST_SPACING;
  g->status = read_rows(f, file, log, &g->error);
  g->interval = psdm_log_interval(log);
  if (!g->status && !g->rows) g->status = no_rows(log, &g->error);
  if (!g->status && !note_faults(f, g, log)) g->status = psdmp_base_no_memory("", &g->error);
}

/* ---- some files ---- */

static void fail_at(psdmp_feed *f, int file) {
  int before = atomic_load(&f->failed);
  while (file < before && !atomic_compare_exchange_weak(&f->failed, &before, file)) continue;
}

/* loads what an earlier run has read of it */
static bool from_checkpoint(psdmp_feed *f, int file) {
  psdmp_parallel_bytes bytes = {.allocator = f->allocator};
  bool found = f->checkpoint &&
               psdmp_feed_checkpoint_load(f->checkpoint, PSDMP_FEED_CHECKPOINT_LOG, file, NULL, &bytes) &&
               psdmp_feed_file_get(&f->file[file], f->allocator, &bytes);
  psdmp_parallel_bytes_free(&bytes);
  return found;
}

static psdm_status to_checkpoint(psdmp_feed *f, int file, psdm_error *error) {
  psdmp_parallel_bytes bytes = {.allocator = f->allocator};
  if (!f->checkpoint || f->file[file].status || f->file[file].once) return PSDM_OK;
  psdmp_feed_file whole = f->file[file];
  whole.scanned = true;
  psdmp_feed_file_put(&whole, &bytes);
  psdm_status status = psdmp_feed_checkpoint_save(f->checkpoint, PSDMP_FEED_CHECKPOINT_LOG, file, NULL, &bytes, error);
  psdmp_parallel_bytes_free(&bytes);
  return status;
}

/* NULL: it cannot be opened, an earlier run has read it, or it is no longer needed. One thread at a time opens: not all
 * libraries are thread-safe. */
static psdm_log *open_log(psdmp_feed *f, int file) {
  psdmp_feed_file *g = &f->file[file];
  psdm_log *log = NULL;
#ifdef _OPENMP
#pragma omp critical
#endif
  if (atomic_load(&f->failed) > file && !from_checkpoint(f, file)) {
    g->status = psdmp_log_open(g->path, f->robot, &f->log, f->allocator, &log, &g->error);
    if (g->status) fail_at(f, file);
  }
  return log;
}

static void scan_file(psdmp_feed *f, int file, psdm_log *log) {
  psdmp_feed_file *g = &f->file[file];
  g->status = psdmp_log_begin(log, &g->error);
  if (!g->status) scan_log(f, file, log);
  if (!g->status) g->status = to_checkpoint(f, file, &g->error);
  if (g->status) fail_at(f, file);
#ifdef _OPENMP
#pragma omp critical
#endif
  g->scanned = true; /* from now on others may thin it */
}

/* files ascend; the first one that cannot be read is reported, whoever reads the others: those before it are read to
 * their ends. Formats of libraries that are not thread-safe wait for the second round. */
psdm_status psdmp_feed_scan(psdmp_feed *f, int count, const int *file, psdm_error *error) {
  bool *later = psdmp_base_alloc(f->allocator, (size_t)count + 1);
  if (!later) return psdmp_base_no_memory("", error);
  int threads = psdmp_parallel_threads(f->threads, f->allocator, count);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
  for (int k = 0; k < count; k++) {
    psdm_log *log = open_log(f, file[k]);
    later[k] = log && threads > 1 && !psdmp_log_shared(log);
    if (log && !later[k]) scan_file(f, file[k], log);
#ifdef _OPENMP
#pragma omp critical
#endif
    psdm_log_close(log);
  }
  for (int k = 0; k < count; k++) {
    psdm_log *log = later[k] ? open_log(f, file[k]) : NULL;
    if (log) scan_file(f, file[k], log);
    psdm_log_close(log);
  }
  psdmp_base_free(f->allocator, later);
  return PSDM_OK;
}
