/* spread.c: units of work over threads and ranks, summed along one tree.
 *
 * Every rank has a run of consecutive units; its threads take them in turn, and add them in their order; rank 0 adds
 * the others' parts. The order of all sums is that of one thread in one process. */
#include <limits.h>
#include <stdatomic.h>

#include "parallel/parallel.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static psdmp_parallel_tree_way way_of(const psdmp_parallel_spread *s) {
  return (psdmp_parallel_tree_way){s->user, s->merge, s->part_free};
}

/* ---- this rank ---- */

/* A finished unit waiting for those before it. */
typedef struct finished {
  bool done;
  void *part;
} finished;

/* Shared by the threads. */
typedef struct sharing {
  const psdmp_parallel_spread *s;
  psdmp_parallel_tree *tree;
  long first, next, last; /* units of this rank; the next to be added */
  finished *unit;         /* (last - first) */
  /* the first unit that failed, in their order, and why; those before it are still made: which one is reported does not
   * depend on threads */
  atomic_long bad;
  psdm_status status;
  psdm_error *error;
#ifdef _OPENMP
  omp_lock_t taking;
#endif
} sharing;

static void fail_unit(sharing *g, long unit, psdm_status status, const psdm_error *error) {
  if (unit > atomic_load(&g->bad)) return;
  atomic_store(&g->bad, unit);
  g->status = status;
  if (g->error) *g->error = *error;
}

/* in the order of units */
static void add_unit(sharing *g, long unit, void *part) {
  psdm_error error;
  if (!g->status) {
    if (psdmp_parallel_tree_add(g->tree, unit, 0, part)) fail_unit(g, unit, psdmp_base_no_memory("", &error), &error);
  } else if (part) {
    g->s->part_free(g->s->user, part);
  }
}

/* no thread waits for a slow unit: whoever finishes it adds it and all finished units after it. One thread at a
 * time. */
static void take_unit(sharing *g, long unit, void *part, psdm_status status, const psdm_error *error) {
  g->unit[unit - g->first] = (finished){true, part};
  if (status) fail_unit(g, unit, status, error);
  for (; g->next < g->last && g->unit[g->next - g->first].done; g->next++)
    add_unit(g, g->next, g->unit[g->next - g->first].part);
}

static psdm_status do_share(const psdmp_parallel_spread *s, psdmp_parallel_tree *tree, psdm_error *error) {
  sharing g = {.s = s, .tree = tree, .error = error};
  *tree = (psdmp_parallel_tree){.way = way_of(s)};
  psdmp_parallel_team_share(s->ranks, s->units, &g.first, &g.last);
  g.next = g.first;
  g.unit = psdmp_base_alloc(s->allocator, (size_t)(g.last - g.first + 1) * sizeof *g.unit);
  if (!g.unit) return psdmp_base_no_memory("", error);
  int threads = psdmp_parallel_threads(s->threads, s->allocator, g.last - g.first);
  atomic_init(&g.bad, LONG_MAX);
#ifdef _OPENMP
  omp_init_lock(&g.taking);
#pragma omp parallel num_threads(threads)
#endif
  {
    void *space = s->space_new(s->user);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
    for (long unit = g.first; unit < g.last; unit++) {
      psdm_error own;
      void *part = NULL;
      psdm_status status = !space                       ? psdmp_base_no_memory("", &own)
                           : unit > atomic_load(&g.bad) ? PSDM_OK
                                                        : s->make(space, unit, &part, &own);
#ifdef _OPENMP
      omp_set_lock(&g.taking);
#endif
      take_unit(&g, unit, part, status, &own);
#ifdef _OPENMP
      omp_unset_lock(&g.taking);
#endif
    }
    if (space) s->space_free(s->user, space);
  }
#ifdef _OPENMP
  omp_destroy_lock(&g.taking);
#endif
  (void)threads;
  psdmp_base_free(s->allocator, g.unit);
  if (g.status) psdmp_parallel_tree_free(tree);
  return g.status;
}

/* ---- the others ---- */

static void put_tree(const psdmp_parallel_spread *s, const psdmp_parallel_tree *t, psdmp_parallel_bytes *to) {
  long count = t->count;
  PSDMP_PARALLEL_PUT(to, count);
  for (int k = 0; k < t->count; k++) {
    PSDMP_PARALLEL_PUT(to, t->node[k].index);
    PSDMP_PARALLEL_PUT(to, t->node[k].level);
    bool any = t->node[k].part != NULL;
    PSDMP_PARALLEL_PUT(to, any);
    if (any) s->put(s->user, t->node[k].part, to);
  }
}

static psdm_status add_tree(const psdmp_parallel_spread *s, psdmp_parallel_bytes *from, psdmp_parallel_tree *t,
                            psdm_error *error) {
  long count = psdmp_parallel_bytes_count(from, sizeof(long) + sizeof(int));
  for (long k = 0; k < count; k++) {
    long index;
    int level;
    bool any;
    PSDMP_PARALLEL_GET(from, index);
    PSDMP_PARALLEL_GET(from, level);
    PSDMP_PARALLEL_GET(from, any);
    void *part = from->failed || !any ? NULL : s->get(s->user, from);
    if ((any && !part) || psdmp_parallel_tree_add(t, index, level, part)) return psdmp_base_no_memory("", error);
  }
  return from->failed ? psdmp_base_no_memory("", error) : PSDM_OK;
}

psdm_status psdmp_parallel_spread_serve(const psdmp_parallel_spread *s, psdmp_parallel_bytes *answer,
                                        psdm_error *error) {
  psdmp_parallel_tree tree;
  psdm_status status = do_share(s, &tree, error);
  if (status) return status;
  put_tree(s, &tree, answer);
  psdmp_parallel_tree_free(&tree);
  return PSDM_OK;
}

/* listens to all; returns the failure of the first rank that failed, which has the first units */
static psdm_status hear_all(const psdmp_parallel_spread *s, psdm_status status, psdmp_parallel_tree *tree,
                            psdm_error *error) {
  for (int k = 1; k < psdmp_parallel_team_size(s->ranks); k++) {
    psdmp_parallel_bytes answer = {.allocator = s->allocator};
    psdm_error other;
    psdm_status heard = psdmp_parallel_team_listen(s->ranks, k, &answer, &other);
    if (!heard && !status) heard = add_tree(s, &answer, tree, &other);
    if (!heard && !status && s->heard) s->heard(s->user, &answer);
    psdmp_parallel_bytes_free(&answer);
    if (heard && !status && error) *error = other;
    if (heard && !status) status = heard;
  }
  return status;
}

psdm_status psdmp_parallel_spread_all(const psdmp_parallel_spread *s, int work, const psdmp_parallel_bytes *request,
                                      void **part, psdm_error *error) {
  psdmp_parallel_tree tree;
  *part = NULL;
  psdm_status status =
      psdmp_parallel_team_size(s->ranks) > 1 ? psdmp_parallel_team_ask(s->ranks, work, request, error) : PSDM_OK;
  if (status) return status;
  status = do_share(s, &tree, error);
  status = hear_all(s, status, &tree, error);
  if (!status) return psdmp_parallel_tree_end(&tree, part) ? psdmp_base_no_memory("", error) : PSDM_OK;
  psdmp_parallel_tree_free(&tree);
  return status;
}
