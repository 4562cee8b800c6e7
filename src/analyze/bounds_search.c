/* bounds_search.c: branch and bound over boxes of positions.
 *
 * Within a box with sides h_j, a function whose second derivatives are at most b_j exceeds the multilinear interpolant
 * of its corners by at most sum h_j^2 b_j / 8, and that is nowhere above the highest corner: interpolating joint by
 * joint has an error of h^2 b / 8 each, and later interpolations do not enlarge earlier errors. */
#include <math.h>
#include <string.h>

#include "analyze/bounds_priv.h"

enum { MOST_BYTES = 48 << 20 };

typedef struct box {
  double bound;
  double lower[PSDMP_ANALYZE_SEARCH_JOINTS], upper[PSDMP_ANALYZE_SEARCH_JOINTS];
  double *values; /* (corners x width); bit j of a corner's number: at joint j's upper end */
} box;

typedef struct heap {
  psdmp_analyze_box_search *s;
  int corners;
  long room, count; /* boxes; those in use */
  box *box;
  long *order;      /* (room) heap of boxes in it, then free ones */
  double *middle;   /* (corners / 2 x width) */
  double discarded; /* largest bound of a closed box */
} heap;

static bool above(const heap *h, long a, long b) { return h->box[h->order[a]].bound > h->box[h->order[b]].bound; }

static void swap(heap *h, long a, long b) {
  long x = h->order[a];
  h->order[a] = h->order[b];
  h->order[b] = x;
}

static void push(heap *h) {
  for (long at = h->count++; at > 0 && above(h, at, (at - 1) / 2); at = (at - 1) / 2) swap(h, at, (at - 1) / 2);
}

/* the top moves behind the heap's end */
static long pop(heap *h) {
  swap(h, 0, --h->count);
  for (long at = 0;;) {
    long child = 2 * at + 1;
    if (child >= h->count) break;
    if (child + 1 < h->count && above(h, child + 1, child)) child++;
    if (!above(h, child, at)) break;
    swap(h, at, child);
    at = child;
  }
  return h->order[h->count];
}

/* evaluates one position and keeps the best */
static void visit(psdmp_analyze_box_search *s, double *values) {
  s->at(s->user, s->q, values);
  s->used++;
  double f = s->bound(s->user, 1, values, 0);
  if (!(f > s->best)) return;
  s->best = f;
  memcpy(s->best_q, s->q, sizeof *s->q * (size_t)s->n);
}

static void go_to(psdmp_analyze_box_search *s, const box *b, int corner) {
  for (int j = 0; j < s->d; j++) s->q[s->joint[j]] = corner >> j & 1 ? b->upper[j] : b->lower[j];
}

static double error_of(const psdmp_analyze_box_search *s, const box *b) {
  double error = s->slack;
  for (int j = 0; j < s->d; j++) error += (b->upper[j] - b->lower[j]) * (b->upper[j] - b->lower[j]) * s->bend[j] / 8;
  return error;
}

static double threshold(const psdmp_analyze_box_search *s) { return s->best + s->tolerance * fabs(s->best); }

/* puts a box into the heap, or closes it */
static void weigh(heap *h, long at) {
  box *b = &h->box[h->order[at]];
  psdmp_analyze_box_search *s = h->s;
  b->bound = fmin(b->bound, s->bound(s->user, h->corners, b->values, error_of(s, b)));
  if (b->bound > threshold(s)) {
    swap(h, at, h->count);
    push(h);
  } else h->discarded = fmax(h->discarded, b->bound);
}

static int longest(const psdmp_analyze_box_search *s, const box *b) {
  int best = 0;
  double most = -1;
  for (int j = 0; j < s->d; j++) {
    double side = b->upper[j] - b->lower[j];
    if (side * side * s->bend[j] > most) most = side * side * s->bend[j], best = j;
  }
  return best;
}

/* corner c of the half box without joint j */
static int with_bit(int c, int j) { return (c >> j) << (j + 1) | (c & ((1 << j) - 1)); }

static void split(heap *h, long parent) {
  psdmp_analyze_box_search *s = h->s;
  box *a = &h->box[parent], *b = &h->box[h->order[h->count + 1]];
  int j = longest(s, a), half = h->corners / 2;
  size_t width = (size_t)s->width;
  double middle = (a->lower[j] + a->upper[j]) / 2;
  box plane = *a;
  plane.lower[j] = plane.upper[j] = middle;
  for (int c = 0; c < half; c++) {
    go_to(s, &plane, with_bit(c, j));
    visit(s, h->middle + (size_t)c * width);
  }
  memcpy(b->values, a->values, sizeof *a->values * width * (size_t)h->corners);
  memcpy(b->lower, a->lower, sizeof a->lower);
  memcpy(b->upper, a->upper, sizeof a->upper);
  b->bound = a->bound;
  a->upper[j] = b->lower[j] = middle;
  for (int c = 0; c < half; c++) {
    const double *x = h->middle + (size_t)c * width;
    memcpy(a->values + (size_t)(with_bit(c, j) | 1 << j) * width, x, sizeof *x * width);
    memcpy(b->values + (size_t)with_bit(c, j) * width, x, sizeof *x * width);
  }
  long second = h->count + 1; /* keeps its place, whether or not the first goes into the heap */
  weigh(h, h->count);
  weigh(h, second);
}

static bool make_heap(heap *h, psdmp_base_arena *arena) {
  psdmp_analyze_box_search *s = h->s;
  size_t numbers = (size_t)h->corners * (size_t)s->width, bytes = sizeof(box) + sizeof(long) + sizeof(double) * numbers;
  long most = (long)(MOST_BYTES / bytes), wanted = s->points / (h->corners > 1 ? h->corners / 2 : 1) + 4;
  h->room = wanted < most ? wanted : most;
  if (h->room < 4) h->room = 4;
  h->box = psdmp_base_arena_alloc_raw(arena, sizeof *h->box * (size_t)h->room);
  h->order = psdmp_base_arena_alloc_raw(arena, sizeof *h->order * (size_t)h->room);
  h->middle = psdmp_base_arena_alloc(arena, sizeof(double) * numbers);
  double *values = psdmp_base_arena_alloc_raw(arena, sizeof *values * numbers * (size_t)h->room);
  if (!h->box || !h->order || !h->middle || !values) return false;
  for (long k = 0; k < h->room; k++) {
    h->order[k] = k;
    h->box[k].values = values + (size_t)k * numbers;
  }
  return true;
}

bool psdmp_analyze_box_search_run(psdmp_analyze_box_search *s, const psdm_allocator *allocator) {
  psdmp_base_arena arena = {.allocator = allocator};
  heap h = {.s = s, .corners = 1 << s->d, .discarded = -INFINITY};
  s->best = -INFINITY;
  s->top = INFINITY;
  s->used = 0;
  if (!make_heap(&h, &arena)) {
    psdmp_base_arena_free(&arena);
    return false;
  }
  box *first = &h.box[0];
  first->bound = INFINITY;
  memcpy(first->lower, s->lower, sizeof s->lower);
  memcpy(first->upper, s->upper, sizeof s->upper);
  for (int c = 0; c < h.corners; c++) {
    go_to(s, first, c);
    visit(s, first->values + (size_t)c * (size_t)s->width);
  }
  weigh(&h, 0);
  for (long round = 0; h.count > 0 && s->d > 0; round++) {
    if (h.box[h.order[0]].bound <= threshold(s) || s->used >= s->points || h.count + 2 > h.room) break;
    /* without interpolation error dividing gains nothing */
    if (error_of(s, &h.box[h.order[0]]) <= s->slack) break;
    if (round % 16 == 0 && s->progress &&
        !s->progress(s->progress_user, "bounds", (double)s->used / (double)s->points)) {
      s->stopped = true;
      break;
    }
    split(&h, pop(&h));
  }
  s->top = fmax(h.discarded, h.count ? h.box[h.order[0]].bound : -INFINITY);
  psdmp_base_arena_free(&arena);
  return true;
}

/* ---- climbing ---- */

double psdmp_analyze_climb(int n, const psdmp_analyze_range *range, double (*f)(void *user, const double *q),
                           void *user, double *q) {
  double best = f(user, q);
  for (double step = 0.25; step > 1e-7;) {
    bool better = false;
    for (int j = 0; j < n; j++)
      for (int side = -1; side <= 1; side += 2) {
        double before = q[j], width = range[j].upper - range[j].lower;
        q[j] = fmin(fmax(before + side * step * width, range[j].lower), range[j].upper);
        double x = q[j] == before ? -INFINITY : f(user, q);
        if (x > best + 1e-14 * fabs(best)) best = x, better = true;
        else q[j] = before;
      }
    if (!better) step /= 2;
  }
  return best;
}
