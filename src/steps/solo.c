/* solo.c: finds stretches in which one joint moves alone. Uses windows of a quarter of a second, so that sines of a few
 * encoder steps count as motion while the flicker of a joint at rest does not. */
#include <math.h>
#include <string.h>

#include "steps/steps_priv.h"

static const double window = 0.25;    /* s */
static const double flicker = 2e-6;   /* rad or m: less is never motion */
static const double disturbed = 0.02; /* share of the mover's travel that others may move */
enum { NOBODY = -1, SEVERAL = -2 };

typedef struct search {
  psdmp_steps *s;
  const psdmp_steps_record *record;
  int number;         /* of the record */
  long rows, windows; /* rows of a window */
  double *range;      /* (windows x n) */
  double *least;      /* (n) ranges above which a joint moves */
  int *mover;         /* (windows) */
  psdmp_steps_alone *solo;
  int count;
  long room;
} search;

static void find_ranges(search *g) {
  int n = g->s->n;
  for (long w = 0; w < g->windows; w++)
    for (int j = 0; j < n; j++) {
      double low = INFINITY, high = -INFINITY;
      for (long k = w * g->rows; k < (w + 1) * g->rows; k++)
        low = fmin(low, g->record->q[k * n + j]), high = fmax(high, g->record->q[k * n + j]);
      g->range[w * n + j] = high - low;
    }
}

/* three times the range of the quietest tenth of the windows, but bounded, so that not only large motions count */
static void find_least(search *g, double *sorted) {
  int n = g->s->n;
  for (int j = 0; j < n; j++) {
    for (long w = 0; w < g->windows; w++) sorted[w] = g->range[w * n + j];
    psdmp_steps_median(g->windows, sorted);
    g->least[j] = fmax(flicker, fmin(3 * sorted[g->windows / 10], 0.01 * sorted[g->windows - 1]));
  }
}

static int mover_of(const search *g, const double *range) {
  int mover = NOBODY, n = g->s->n;
  for (int j = 0; j < n; j++)
    if (range[j] > g->least[j] && (mover < 0 || range[j] > range[mover])) mover = j;
  for (int j = 0; j < n && mover >= 0; j++)
    if (j != mover && range[j] > fmax(g->least[j], disturbed * range[mover])) return SEVERAL;
  return mover;
}

static bool add(search *g, psdmp_base_arena *arena, psdmp_steps_alone solo) {
  if (!psdmp_base_arena_room(arena, &g->solo, g->count, 1, &g->room, sizeof solo)) return false;
  g->solo[g->count++] = solo;
  return true;
}

/* windows of one mover, rests between them included */
static bool collect(search *g, psdmp_base_arena *arena) {
  for (long w = 0; w < g->windows; w++) {
    if (g->mover[w] < 0) continue;
    long last = w;
    for (long next = w + 1; next < g->windows && (g->mover[next] == g->mover[w] || g->mover[next] == NOBODY); next++)
      if (g->mover[next] == g->mover[w]) last = next;
    long to = last + 1 == g->windows ? g->record->rows : (last + 1) * g->rows;
    if (!add(g, arena, (psdmp_steps_alone){.record = g->number, .joint = g->mover[w], .from = w * g->rows, .to = to}))
      return false;
    w = last;
  }
  return true;
}

static bool search_record(search *g, psdmp_base_arena *arena) {
  int n = g->s->n;
  g->rows = (long)floor(window / g->record->dt + 0.5);
  if (g->rows < 4) g->rows = 4;
  if (!(g->windows = g->record->rows / g->rows)) return true;
  g->range = psdmp_base_arena_alloc_raw(arena, (size_t)g->windows * (size_t)(n + 1) * sizeof *g->range);
  g->least = PSDMP_BASE_NEW(arena, n, double);
  g->mover = PSDMP_BASE_NEW(arena, g->windows, int);
  if (!g->range || !g->least || !g->mover) return false;
  find_ranges(g);
  find_least(g, g->range + g->windows * n);
  for (long w = 0; w < g->windows; w++) g->mover[w] = mover_of(g, g->range + w * n);
  return collect(g, arena);
}

psdm_status psdmp_steps_solo(psdmp_steps *s, const psdmp_steps_records *records, psdmp_base_arena *arena,
                             psdmp_steps_alone **solo, int *count, psdm_error *error) {
  search g = {.s = s};
  for (g.number = 0; g.number < records->count; g.number++) {
    g.record = &records->record[g.number];
    if (!search_record(&g, arena)) return psdmp_base_no_memory("", error);
  }
  *solo = g.solo;
  *count = g.count;
  return PSDM_OK;
}

double psdmp_steps_pose_apart(int n, const double *a, const double *b, int but) {
  double apart = 0;
  for (int j = 0; j < n; j++)
    if (j != but) apart = fmax(apart, fabs(a[j] - b[j]));
  return apart;
}
