/* read.c: rows of a log from any row on, in windows with their neighbours.
 *
 * Windows are cut at multiples of their length within a file and where segments start: they do not depend on the reader
 * or on where it started. */
#include "feed/feed_priv.h"

/* One open log, and its position. */
struct psdmp_feed_reader {
  psdmp_feed *feed;
  int file; /* -1: none */
  psdm_log *log;
  int segment;  /* of the last row read, -1: none */
  double begin; /* time of its first row */
  psdmp_feed_columns rows;
};

psdmp_feed_reader *psdmp_feed_reader_new(psdmp_feed *f) {
  psdmp_feed_reader *r = psdmp_base_alloc(f->allocator, sizeof *r);
  if (r) *r = (psdmp_feed_reader){.feed = f, .file = -1};
  return r;
}

void psdmp_feed_reader_free(psdmp_feed_reader *r) {
  if (!r) return;
  psdm_log_close(r->log);
  psdmp_feed_columns_free(&r->rows, r->feed->allocator);
  psdmp_base_free(r->feed->allocator, r);
}

psdmp_feed *psdmp_feed_reader_feed(const psdmp_feed_reader *r) { return r->feed; }

static psdm_status open_file(psdmp_feed_reader *r, int file, psdm_error *error) {
  psdmp_feed *f = r->feed;
  if (r->file == file) return PSDM_OK;
  psdm_log_close(r->log);
  r->log = NULL;
  r->file = -1;
  if (f->file[file].once)
    return psdmp_base_fail(error, PSDM_E_IO, f->file[file].path, 0, 0, "is a pipe and cannot be read twice");
  psdm_status status = psdmp_log_open(f->file[file].path, f->robot, &f->log, f->allocator, &r->log, error);
  if (status) return status;
  psdmp_feed_columns_free(&r->rows, f->allocator);
  r->rows.n = f->n;
  r->rows.rates = psdm_log_has_rates(r->log);
  r->rows.accelerations = psdm_log_has_accelerations(r->log);
  r->file = file;
  r->segment = -1;
  return PSDM_OK;
}

/* goes to a position at or before a row: the present one, the last bookmark, or the start */
static psdm_status go_before(psdmp_feed_reader *r, long row, psdm_error *error) {
  const psdmp_feed_file *g = &r->feed->file[r->file];
  const psdmp_feed_mark *mark = NULL;
  long now = psdm_log_good(r->log);
  for (int k = 0; k < g->marks && g->mark[k].at.row <= row; k++) mark = &g->mark[k];
  if (now <= row && (!mark || now >= mark->at.row)) return PSDM_OK;
  r->segment = mark ? mark->segment : -1;
  r->begin = mark ? mark->begin : 0;
  return mark ? psdmp_log_go_to(r->log, &mark->at, error) : psdm_log_rewind(r->log, error);
}

/* a request: rows from .. to of a file, with this many neighbours before and after each window */
typedef struct reading {
  psdmp_feed_reader *reader;
  long from, to, lead, trail;
  psdmp_feed_use_stretch use;
  void *user;
  long first, next; /* of the first row in memory; of the start of the next window */
  bool begins;      /* row 0 in memory is its segment's first */
} reading;

static psdm_status use_window(reading *g, long to, bool ends, psdm_error *error) {
  psdmp_feed_reader *r = g->reader;
  const psdmp_feed_file *file = &r->feed->file[r->file];
  long end = g->first + r->rows.count, begin = g->next - g->lead > g->first ? g->next - g->lead : g->first,
       last = to + g->trail < end ? to + g->trail : end;
  psdmp_feed_stretch s = psdmp_feed_view(r->feed, &r->rows, begin - g->first, last - begin);
  s.lead = g->next - begin, s.trail = last - to, s.first = file->first + begin,
  s.segment = file->first_segment + r->segment, s.file = r->file;
  s.origin = file->origin, s.begin = r->begin, s.begins = g->begins && begin == g->first, s.ends = ends && last == end;
  return g->use(g->user, &s, error);
}

/* uses windows whose neighbours are present, or will not come */
static psdm_status use_windows(reading *g, bool ends, psdm_error *error) {
  psdmp_feed_columns *rows = &g->reader->rows;
  while (rows->count) {
    long end = g->first + rows->count, to = (g->next / PSDMP_FEED_WINDOW + 1) * PSDMP_FEED_WINDOW;
    if (to > g->to) to = g->to;
    if (!ends && end < to + g->trail) break;
    if (to > end) to = end;
    if (to <= g->next) break;
    psdm_status status = use_window(g, to, ends, error);
    if (status) return status;
    g->next = to;
    long drop = g->next - g->lead - g->first;
    if (drop <= 0) continue;
    psdmp_feed_move(rows, 0, drop, rows->count - drop);
    rows->count -= drop;
    g->first += drop;
    g->begins = false;
  }
  return PSDM_OK;
}

/* appends the rows of one call to those that wait */
static psdm_status take(reading *g, const psdm_log_rows *got, long row, psdm_error *error) {
  psdmp_feed_reader *r = g->reader;
  long skip = g->from - g->lead > row ? g->from - g->lead - row : 0;
  bool fresh = got->segment != r->segment;
  if (fresh) {
    psdm_status status = use_windows(g, true, error);
    if (status) return status;
    r->rows.count = 0;
    r->segment = got->segment;
    r->begin = got->t[0];
    if (g->next < row) g->next = row;
  }
  if (skip >= got->count) return PSDM_OK;
  if (!r->rows.count) g->first = row + skip, g->begins = fresh && !skip;
  if (!psdmp_feed_room(&r->rows, r->feed->allocator, r->rows.count + got->count - skip))
    return psdmp_base_no_memory("", error);
  psdmp_feed_copy(&r->rows, got, skip, got->count - skip);
  return use_windows(g, false, error);
}

psdm_status psdmp_feed_reader_rows(psdmp_feed_reader *r, int file, long from, long to, long lead, long trail,
                                   psdmp_feed_use_stretch use, void *user, psdm_error *error) {
  reading g = {
      .reader = r, .from = from, .to = to, .lead = lead, .trail = trail, .use = use, .user = user, .next = from};
  psdm_status status = open_file(r, file, error);
  if (!status) status = go_before(r, from > lead ? from - lead : 0, error);
  r->rows.count = 0;
  while (!status && g.next < to) {
    psdm_log_rows got;
    long row = psdm_log_good(r->log);
    status = psdm_log_read(r->log, PSDMP_FEED_READ, &got, error);
    if (!status && !got.count) {
      status = use_windows(&g, true, error);
      if (!status && g.next < to)
        status = psdmp_base_fail(error, PSDM_E_IO, psdm_log_file(r->log), 0, 0, "changed while it was read");
      break;
    }
    if (!status) status = take(&g, &got, row, error);
  }
  return status;
}
