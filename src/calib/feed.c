/* feed.c: the rows of all logs, again and again.
 *
 * All rows are kept in memory while they fit; of longer logs every second, fourth, ... piece is kept, for choices, and the rest is read again when
 * all rows count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calib/calib_priv.h"

enum { PIECE = 65536, READ = 4096, MOST_FAULTS = 200 };

/* rows side by side in arrays that grow together */
typedef struct rows {
  long count, room;
  double *t, *q, *qd, *qdd, *tau;
  unsigned char *bad;
} rows;

typedef struct piece {
  long first, at, count; /* index among all rows, place in memory */
  double begin;          /* time of the segment's first row */
  int segment, file;
} piece;

struct psdmp_feed {
  const psdm_allocator *allocator;
  psdmp_arena arena;
  int n, files, segments;
  psdm_log **log;
  double *origin; /* (files) */
  bool rates, accelerations, motor_side, whole;
  int currents; /* files whose torques come from currents */
  double interval, begin; /* begin: time of the present segment's first row */
  long total, limit, every; /* rows; rows in memory at most; every so many-th piece is kept */
  rows kept;
  piece *piece;
  int pieces, piece_room;
  long faults[PSDM_FAULTS];
  const char *fault[MOST_FAULTS];
  int fault_count;
  psdm_calibrate_going_on going_on;
  void *going_on_user;
};

long psdmp_feed_rows(const psdmp_feed *f) { return f->total; }
int psdmp_feed_segments(const psdmp_feed *f) { return f->segments; }
double psdmp_feed_interval(const psdmp_feed *f) { return f->interval; }
bool psdmp_feed_has_rates(const psdmp_feed *f) { return f->rates; }
bool psdmp_feed_has_accelerations(const psdmp_feed *f) { return f->accelerations; }
bool psdmp_feed_motor_side(const psdmp_feed *f) { return f->motor_side; }
int psdmp_feed_currents(const psdmp_feed *f) { return f->currents; }
bool psdmp_feed_whole(const psdmp_feed *f) { return f->whole; }
void psdmp_feed_faults(const psdmp_feed *f, long faults[PSDM_FAULTS]) { memcpy(faults, f->faults, sizeof f->faults); }
const char *psdmp_feed_fault(const psdmp_feed *f, int index) { return index >= 0 && index < f->fault_count ? f->fault[index] : NULL; }

static psdm_status no_memory(psdm_error *error) { return psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory"); }

/* ---- rows that grow ---- */

static bool grow_array(const psdm_allocator *a, void **array, size_t old, size_t new) {
  void *bigger = psdmp_alloc_raw(a, new);
  if (!bigger) return false;
  if (old) memcpy(bigger, *array, old);
  psdmp_free(a, *array);
  *array = bigger;
  return true;
}

static bool make_room(const psdmp_feed *f, rows *r, long count) {
  if (count <= r->room) return true;
  long room = r->room ? r->room : READ;
  while (room < count) room *= 2;
  size_t n = (size_t)f->n, old = (size_t)r->count, new = (size_t)room, d = sizeof(double);
  bool ok = grow_array(f->allocator, (void **)&r->t, old * d, new * d) && grow_array(f->allocator, (void **)&r->q, old * n * d, new * n * d) &&
            grow_array(f->allocator, (void **)&r->tau, old * n * d, new * n * d) && grow_array(f->allocator, (void **)&r->bad, old * n, new * n);
  if (ok && f->rates) ok = grow_array(f->allocator, (void **)&r->qd, old * n * d, new * n * d);
  if (ok && f->accelerations) ok = grow_array(f->allocator, (void **)&r->qdd, old * n * d, new * n * d);
  if (ok) r->room = room;
  return ok;
}

static void free_rows(const psdmp_feed *f, rows *r) {
  psdmp_free(f->allocator, r->t);
  psdmp_free(f->allocator, r->q);
  psdmp_free(f->allocator, r->qd);
  psdmp_free(f->allocator, r->qdd);
  psdmp_free(f->allocator, r->tau);
  psdmp_free(f->allocator, r->bad);
  *r = (rows){0};
}

static void copy_rows(const psdmp_feed *f, rows *r, const psdm_log_rows *from, long first, long count) {
  size_t n = (size_t)f->n, bytes = (size_t)count * n * sizeof(double), at = (size_t)r->count * n, skip = (size_t)first * n;
  memcpy(r->t + r->count, from->t + first, (size_t)count * sizeof(double));
  memcpy(r->q + at, from->q + skip, bytes);
  memcpy(r->tau + at, from->tau + skip, bytes);
  memcpy(r->bad + at, from->bad + skip, (size_t)count * n);
  if (f->rates) memcpy(r->qd + at, from->qd + skip, bytes);
  if (f->accelerations) memcpy(r->qdd + at, from->qdd + skip, bytes);
  r->count += count;
}

/* moves count rows from `from` to `to` <= from */
static void move_rows(const psdmp_feed *f, rows *r, long to, long from, long count) {
  size_t n = (size_t)f->n, bytes = (size_t)count * n * sizeof(double), a = (size_t)to * n, b = (size_t)from * n;
  memmove(r->t + to, r->t + from, (size_t)count * sizeof(double));
  memmove(r->q + a, r->q + b, bytes);
  memmove(r->tau + a, r->tau + b, bytes);
  memmove(r->bad + a, r->bad + b, (size_t)count * n);
  if (f->rates) memmove(r->qd + a, r->qd + b, bytes);
  if (f->accelerations) memmove(r->qdd + a, r->qdd + b, bytes);
}

static psdmp_stretch view(const psdmp_feed *f, const rows *r, long at, long count) {
  size_t skip = (size_t)at * (size_t)f->n;
  return (psdmp_stretch){.rows = count, .t = r->t + at, .q = r->q + skip, .tau = r->tau + skip, .bad = r->bad + skip,
                         .qd = f->rates ? r->qd + skip : NULL, .qdd = f->accelerations ? r->qdd + skip : NULL};
}

/* ---- the first time through ---- */

static bool new_piece(psdmp_feed *f, piece p) {
  if (f->pieces == f->piece_room) {
    int room = f->piece_room ? 2 * f->piece_room : 64;
    if (!grow_array(f->allocator, (void **)&f->piece, (size_t)f->pieces * sizeof *f->piece, (size_t)room * sizeof *f->piece)) return false;
    f->piece_room = room;
  }
  f->piece[f->pieces++] = p;
  return true;
}

/* half of the pieces are let go, and from now on every second one that would have been kept */
static void thin(psdmp_feed *f) {
  long to = 0;
  int left = 0;
  f->whole = false;
  f->every *= 2;
  for (int k = 0; k < f->pieces; k++) {
    piece p = f->piece[k];
    if ((p.first / PIECE) % f->every != 0) continue;
    move_rows(f, &f->kept, to, p.at, p.count);
    p.at = to;
    to += p.count;
    f->piece[left++] = p;
  }
  f->pieces = left;
  f->kept.count = to;
}

/* rows of one answer go to their pieces, cut at multiples of PIECE */
static bool keep(psdmp_feed *f, int file, int segment, const psdm_log_rows *from) {
  for (long done = 0; done < from->count;) {
    long left = PIECE - f->total % PIECE, count = from->count - done < left ? from->count - done : left;
    bool new = f->total % PIECE == 0 || segment != f->segments - 1;
    if (segment != f->segments - 1) f->begin = from->t[0];
    f->segments = segment + 1;
    if ((f->total / PIECE) % f->every == 0) {
      piece *last = f->pieces ? &f->piece[f->pieces - 1] : NULL;
      if (new || !last || last->first + last->count != f->total)
        if (!new_piece(f, (piece){.first = f->total, .at = f->kept.count, .segment = segment, .file = file, .begin = f->begin})) return false;
      if (!make_room(f, &f->kept, f->kept.count + count)) return false;
      copy_rows(f, &f->kept, from, done, count);
      f->piece[f->pieces - 1].count += count;
    }
    f->total += count;
    done += count;
    while (f->kept.count > f->limit) thin(f); /* ends: the first piece alone is within the limit */
  }
  return true;
}

static psdm_status note_faults(psdmp_feed *f, int file, psdm_error *error) {
  for (int k = 0; k < PSDM_FAULTS; k++) {
    f->faults[k] += psdm_log_faults(f->log[file], (psdm_fault)k);
    const char *text;
    long line;
    for (int i = 0; (text = psdm_log_fault(f->log[file], (psdm_fault)k, i, &line)) && f->fault_count < MOST_FAULTS; i++) {
      char whole[512];
      int length = snprintf(whole, sizeof whole, "%s: %s", psdm_log_file(f->log[file]), text);
      const char *copy = psdmp_arena_text(&f->arena, whole, (size_t)(length < (int)sizeof whole ? length : (int)sizeof whole - 1));
      if (!copy) return no_memory(error);
      f->fault[f->fault_count++] = copy;
    }
  }
  return PSDM_OK;
}

static psdm_status read_file(psdmp_feed *f, int file, psdm_error *error) {
  psdm_log *log = f->log[file];
  int before = f->segments;
  bool first = true;
  for (;;) {
    psdm_log_rows got;
    psdm_status status = psdm_log_read(log, READ, &got, error);
    if (status) return status;
    if (!got.count) break;
    if (first) f->origin[file] = got.t[0];
    first = false;
    if (!keep(f, file, before + got.segment, &got)) return no_memory(error);
    double share = psdm_log_size(log) > 0 ? (double)psdm_log_bytes(log) / (double)psdm_log_size(log) : 0.5;
    if (f->going_on && !f->going_on(f->going_on_user, "reading", (file + share) / f->files)) return psdmp_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "stopped while the logs were read");
  }
  if (first) return psdmp_fail(error, PSDM_E_PARSE, psdm_log_file(log), 0, 0, "no row could be read");
  return note_faults(f, file, error);
}

static psdm_status open_logs(psdmp_feed *f, const psdm_robot *robot, const psdm_calibrate_options *o, psdm_error *error) {
  f->rates = f->accelerations = true;
  for (int k = 0; k < o->files; k++) {
    psdm_status status = psdm_log_open(o->path[k], robot, &o->log, f->allocator, &f->log[k], error);
    if (status) return status;
    f->rates &= psdm_log_has_rates(f->log[k]);
    f->accelerations &= psdm_log_has_accelerations(f->log[k]);
    f->motor_side |= psdm_log_motor_side(f->log[k]);
    f->currents += psdm_log_has_currents(f->log[k]);
  }
  return PSDM_OK;
}

static psdm_status check_interval(psdmp_feed *f, int file, psdm_error *error) {
  double interval = psdm_log_interval(f->log[file]);
  if (file == 0) f->interval = interval;
  if (!(interval > 0)) return psdmp_fail(error, PSDM_E_PARSE, psdm_log_file(f->log[file]), 0, 0, "it has no clock: two rows or more, at different times, were expected");
  if (fabs(interval - f->interval) > 0.02 * f->interval)
    return psdmp_fail(error, PSDM_E_PARSE, psdm_log_file(f->log[file]), 0, 0, "its clock ticks every %g ms, that of the first log every %g ms; logs of one calibration need one rate", 1e3 * interval, 1e3 * f->interval);
  return PSDM_OK;
}

psdm_status psdmp_feed_open(const psdm_robot *robot, const psdm_calibrate_options *o, const psdm_allocator *allocator, psdmp_feed **out, psdm_error *error) {
  *out = NULL;
  psdmp_feed *f = psdmp_alloc(allocator, sizeof *f);
  if (!f) return no_memory(error);
  *f = (psdmp_feed){.allocator = allocator, .arena = {.allocator = allocator}, .n = psdm_robot_n(robot), .files = o->files, .whole = true, .every = 1,
                    .limit = o->cache <= 0 ? 2000000 : o->cache < PIECE ? PIECE : o->cache, .going_on = o->going_on, .going_on_user = o->going_on_user};
  f->log = psdmp_arena_alloc(&f->arena, (size_t)(o->files + 1) * sizeof *f->log);
  f->origin = psdmp_arena_alloc(&f->arena, (size_t)(o->files + 1) * sizeof *f->origin);
  psdm_status status = f->log && f->origin ? open_logs(f, robot, o, error) : no_memory(error);
  for (int k = 0; k < o->files && !status; k++) {
    status = read_file(f, k, error);
    if (!status) status = check_interval(f, k, error);
  }
  if (status) {
    psdmp_feed_close(f);
    return status;
  }
  *out = f;
  return PSDM_OK;
}

void psdmp_feed_close(psdmp_feed *f) {
  if (!f) return;
  for (int k = 0; k < f->files && f->log; k++) psdm_log_close(f->log[k]);
  free_rows(f, &f->kept);
  psdmp_free(f->allocator, f->piece);
  psdmp_arena_free(&f->arena);
  psdmp_free(f->allocator, f);
}

/* ---- again ---- */

/* one run of rows in memory, by windows that see their neighbours, so that what is made of a window does not grow with the run. Where pieces were let
 * go the run's ends are treated as a segment's. */
static psdm_status each_window(psdmp_feed *f, const piece *run, long margin, psdmp_use_stretch use, void *user, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (long from = 0; from < run->count && !status;) {
    long to = run->count - from < 2 * PIECE ? run->count : from + PIECE; /* no short one at the end */
    long lead = from < margin ? from : margin, trail = run->count - to < margin ? run->count - to : margin;
    psdmp_stretch s = view(f, &f->kept, run->at + from - lead, lead + to - from + trail);
    s.lead = lead, s.trail = trail, s.first = run->first + from - lead, s.segment = run->segment, s.file = run->file;
    s.origin = f->origin[run->file], s.begin = run->begin, s.begins = from == lead, s.ends = to + trail == run->count;
    status = use(user, &s, error);
    from = to;
  }
  return status;
}

/* what is in memory; pieces that follow each other are one run */
static psdm_status each_kept(psdmp_feed *f, long margin, psdmp_use_stretch use, void *user, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < f->pieces && !status;) {
    piece p = f->piece[k++];
    while (k < f->pieces && f->piece[k].segment == p.segment && f->piece[k].first == p.first + p.count) p.count += f->piece[k++].count;
    status = each_window(f, &p, margin, use, user, error);
  }
  return status;
}

/* a window over one segment of a log that is read: rows before `from` are neighbours that were used already */
typedef struct window {
  psdmp_feed *feed;
  rows rows;
  long first, from, margin; /* index of row 0 among all; first row that is new; neighbours */
  double begin;             /* time of the segment's first row */
  int segment, file;
  bool begins;
  psdmp_use_stretch use;
  void *user;
} window;

/* uses the rows from `from` to `to`, with what lies around them, and keeps the margin before `to` */
static psdm_status use_window(window *w, long to, bool ends, psdm_error *error) {
  if (to > w->from) {
    psdmp_stretch s = view(w->feed, &w->rows, 0, w->rows.count);
    s.lead = w->from, s.trail = w->rows.count - to, s.first = w->first, s.segment = w->segment, s.file = w->file;
    s.origin = w->feed->origin[w->file], s.begin = w->begin, s.begins = w->begins, s.ends = ends;
    psdm_status status = w->use(w->user, &s, error);
    if (status) return status;
  }
  long drop = to > w->margin ? to - w->margin : 0;
  if (drop) {
    move_rows(w->feed, &w->rows, 0, drop, w->rows.count - drop);
    w->rows.count -= drop;
    w->first += drop;
    w->begins = false;
  }
  w->from = to - drop;
  return PSDM_OK;
}

static psdm_status add_to_window(window *w, const psdm_log_rows *got, int segment, long first, psdm_error *error) {
  psdm_status status = PSDM_OK;
  if (segment != w->segment) {
    status = use_window(w, w->rows.count, true, error);
    w->rows.count = w->from = 0;
    w->segment = segment, w->first = first, w->begins = true, w->begin = got->t[0];
  }
  if (status) return status;
  if (!make_room(w->feed, &w->rows, w->rows.count + got->count)) return no_memory(error);
  copy_rows(w->feed, &w->rows, got, 0, got->count);
  return w->rows.count >= w->from + PIECE + w->margin ? use_window(w, w->rows.count - w->margin, false, error) : PSDM_OK;
}

static psdm_status each_read(psdmp_feed *f, long margin, psdmp_use_stretch use, void *user, psdm_error *error) {
  window w = {.feed = f, .margin = margin, .segment = -1, .use = use, .user = user};
  long first = 0;
  int segments = 0;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < f->files && !status; k++) {
    int base = segments;
    status = psdm_log_rewind(f->log[k], error);
    w.file = k;
    while (!status) {
      psdm_log_rows got;
      status = psdm_log_read(f->log[k], READ, &got, error);
      if (status || !got.count) break;
      segments = base + got.segment + 1;
      status = add_to_window(&w, &got, base + got.segment, first, error);
      first += got.count;
    }
    if (!status) status = use_window(&w, w.rows.count, true, error);
    w.rows.count = w.from = 0;
    w.segment = -1;
  }
  free_rows(f, &w.rows);
  return status;
}

psdm_status psdmp_feed_each(psdmp_feed *f, bool all, long margin, psdmp_use_stretch use, void *user, psdm_error *error) {
  return all && !f->whole ? each_read(f, margin, use, user, error) : each_kept(f, margin, use, user, error);
}
