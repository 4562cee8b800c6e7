/* bytes.c: what was read from a log, as bytes for other ranks and for checkpoints. */
#include <string.h>

#include "feed/feed_priv.h"

static void put_rows(const psdmp_feed_columns *r, psdmp_parallel_bytes *to) {
  size_t n = (size_t)r->n, d = sizeof(double), count = (size_t)r->count;
  PSDMP_PARALLEL_PUT(to, r->n);
  PSDMP_PARALLEL_PUT(to, r->rates);
  PSDMP_PARALLEL_PUT(to, r->accelerations);
  PSDMP_PARALLEL_PUT(to, r->count);
  psdmp_parallel_bytes_put(to, r->t, count * d);
  psdmp_parallel_bytes_put(to, r->q, count * n * d);
  psdmp_parallel_bytes_put(to, r->tau, count * n * d);
  psdmp_parallel_bytes_put(to, r->bad, count * n);
  if (r->rates) psdmp_parallel_bytes_put(to, r->qd, count * n * d);
  if (r->accelerations) psdmp_parallel_bytes_put(to, r->qdd, count * n * d);
}

static bool get_rows(psdmp_feed_columns *r, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  PSDMP_PARALLEL_GET(from, r->n);
  PSDMP_PARALLEL_GET(from, r->rates);
  PSDMP_PARALLEL_GET(from, r->accelerations);
  if (r->n < 1 || r->n > PSDM_MAX_JOINTS) return false;
  size_t n = (size_t)r->n, d = sizeof(double);
  long count = psdmp_parallel_bytes_count(from, d + 2 * n * d + n);
  if (count < 0) return false;
  if (count && !psdmp_feed_room(r, a, count)) return false;
  r->count = count;
  psdmp_parallel_bytes_get(from, r->t, (size_t)count * d);
  psdmp_parallel_bytes_get(from, r->q, (size_t)count * n * d);
  psdmp_parallel_bytes_get(from, r->tau, (size_t)count * n * d);
  psdmp_parallel_bytes_get(from, r->bad, (size_t)count * n);
  if (r->rates) psdmp_parallel_bytes_get(from, r->qd, (size_t)count * n * d);
  if (r->accelerations) psdmp_parallel_bytes_get(from, r->qdd, (size_t)count * n * d);
  return !from->failed;
}

static void put_mark(const psdmp_feed_mark *m, psdmp_parallel_bytes *to) {
  psdmp_feed_mark copy;
  /* clears padding, and pointers, which are meaningless elsewhere: the same log gives the same bytes */
  memset(&copy, 0, sizeof copy);
  copy.segment = m->segment, copy.begin = m->begin;
  copy.at.row = m->at.row, copy.at.place = m->at.place, copy.at.line = m->at.line, copy.at.index = m->at.index,
  copy.at.segment = m->at.segment, copy.at.regular = m->at.regular;
  copy.at.interval = m->at.interval, copy.at.watched = m->at.watched, copy.at.used = m->at.used,
  copy.at.marks = m->at.marks, copy.at.bytes = m->at.bytes;
  PSDMP_PARALLEL_PUT(to, copy);
  psdmp_parallel_bytes_put(to, m->at.mark, (size_t)m->at.marks * sizeof *m->at.mark);
  psdmp_parallel_bytes_put(to, m->at.watch, m->at.bytes);
}

static bool get_mark(psdmp_feed_mark *m, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  PSDMP_PARALLEL_GET(from, *m);
  size_t left = from->used - from->at, marks = (size_t)m->at.marks * sizeof *m->at.mark;
  m->at.mark = NULL, m->at.watch = NULL;
  if (from->failed || m->at.marks < 0 || marks > left || m->at.bytes > left - marks) return false;
  m->at.mark = psdmp_base_alloc_raw(a, marks + 1);
  m->at.watch = psdmp_base_alloc_raw(a, m->at.bytes + 1);
  if (!m->at.mark || !m->at.watch) return false;
  psdmp_parallel_bytes_get(from, m->at.mark, marks);
  psdmp_parallel_bytes_get(from, m->at.watch, m->at.bytes);
  return !from->failed;
}

static void put_piece(const psdmp_feed_piece *p, psdmp_parallel_bytes *to) {
  psdmp_feed_piece copy;
  memset(&copy, 0, sizeof copy); /* as in put_mark */
  copy.first = p->first, copy.at = p->at, copy.count = p->count, copy.begin = p->begin, copy.segment = p->segment;
  PSDMP_PARALLEL_PUT(to, copy);
}

/* numbers of a file that are copied as they are */
typedef struct facts {
  bool scanned, rates, accelerations, currents, seeks, shared, once;
  long rows;
  int segments;
  double interval, origin;
  long every, spacing, faults[PSDM_FAULTS];
  psdm_status status;
  psdm_error error;
} facts;

void psdmp_feed_file_put(const psdmp_feed_file *f, psdmp_parallel_bytes *to) {
  facts known;
  memset(&known, 0, sizeof known); /* as in put_mark */
  known.scanned = f->scanned, known.rates = f->rates, known.accelerations = f->accelerations,
  known.currents = f->currents;
  known.seeks = f->seeks, known.shared = f->shared, known.once = f->once;
  known.rows = f->rows, known.segments = f->segments, known.interval = f->interval, known.origin = f->origin;
  known.every = f->every, known.spacing = f->spacing, known.status = f->status, known.error = f->error;
  memcpy(known.faults, f->faults, sizeof known.faults);
  PSDMP_PARALLEL_PUT(to, known);
  if (f->status || !f->scanned) return; /* not scanned, because an earlier one failed */
  put_rows(&f->kept, to);
  psdmp_parallel_bytes_put(to, f->facts.joint, (size_t)f->kept.n * sizeof *f->facts.joint);
  long pieces = f->pieces, marks = f->marks, faults = f->fault_count;
  PSDMP_PARALLEL_PUT(to, pieces);
  for (int k = 0; k < pieces; k++) put_piece(&f->piece[k], to);
  PSDMP_PARALLEL_PUT(to, marks);
  for (int k = 0; k < marks; k++) put_mark(&f->mark[k], to);
  PSDMP_PARALLEL_PUT(to, faults);
  for (int k = 0; k < faults; k++) {
    long length = (long)strlen(f->fault[k]);
    PSDMP_PARALLEL_PUT(to, length);
    psdmp_parallel_bytes_put(to, f->fault[k], (size_t)length);
  }
}

static bool get_faults(psdmp_feed_file *f, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  long faults = psdmp_parallel_bytes_count(from, sizeof(long));
  if (faults < 0 || !(f->fault = psdmp_base_alloc(a, (size_t)(faults + 1) * sizeof *f->fault))) return false;
  for (long k = 0; k < faults; k++) {
    long length = psdmp_parallel_bytes_count(from, 1);
    char *text = length < 0 ? NULL : psdmp_base_alloc(a, (size_t)length + 1);
    if (!text) return false;
    psdmp_parallel_bytes_get(from, text, (size_t)length);
    f->fault[f->fault_count++] = text;
  }
  return !from->failed;
}

static bool get_places(psdmp_feed_file *f, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  long pieces = psdmp_parallel_bytes_count(from, sizeof *f->piece);
  if (pieces < 0 || !(f->piece = psdmp_base_alloc_raw(a, (size_t)(pieces + 1) * sizeof *f->piece))) return false;
  f->pieces = f->piece_room = (int)pieces;
  psdmp_parallel_bytes_get(from, f->piece, (size_t)pieces * sizeof *f->piece);
  long marks = psdmp_parallel_bytes_count(from, sizeof *f->mark);
  if (marks < 0 || !(f->mark = psdmp_base_alloc(a, (size_t)(marks + 1) * sizeof *f->mark))) return false;
  for (long k = 0; k < marks; k++) {
    f->marks++;
    if (!get_mark(&f->mark[k], a, from)) return false;
  }
  return true;
}

static bool get_facts(psdmp_feed_file *f, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  f->facts.n = f->kept.n;
  if (!(f->facts.joint = psdmp_base_alloc(a, (size_t)f->kept.n * sizeof *f->facts.joint))) return false;
  psdmp_parallel_bytes_get(from, f->facts.joint, (size_t)f->kept.n * sizeof *f->facts.joint);
  return !from->failed;
}

bool psdmp_feed_file_get(psdmp_feed_file *f, const psdm_allocator *a, psdmp_parallel_bytes *from) {
  facts known;
  PSDMP_PARALLEL_GET(from, known);
  psdmp_feed_file_free(f, a);
  f->rates = known.rates, f->accelerations = known.accelerations, f->currents = known.currents;
  f->seeks = known.seeks, f->shared = known.shared, f->once = known.once;
  f->rows = known.rows, f->segments = known.segments, f->interval = known.interval, f->origin = known.origin;
  f->every = known.every, f->spacing = known.spacing, f->status = known.status, f->error = known.error;
  memcpy(f->faults, known.faults, sizeof known.faults);
  f->scanned = known.scanned;
  if (from->failed) return false;
  if (f->status || !f->scanned) return true;
  if (get_rows(&f->kept, a, from) && get_facts(f, a, from) && get_places(f, a, from) && get_faults(f, a, from))
    return true;
  psdmp_feed_file_free(f, a);
  return false;
}
