/* parallel.h: work spread over threads and ranks, and summed in an order that depends on neither. Private to the
 * library.
 *
 *   bytes.c    numbers as bytes, for messages and files
 *   tree.c     parts summed along a binary tree over their numbers
 *   team.c     rank 0 asks, the others answer
 *   threads.c  how many threads a loop gets
 *   spread.c   units of work over threads and ranks, summed along one tree */
#ifndef PSDMP_PARALLEL_H
#define PSDMP_PARALLEL_H

#include "base/base.h"
#include "psdm/ranks.h"

/* ---- bytes ---- */

/* Grows while written, and is read from its start. Zero-initialise with the allocator set. */
typedef struct psdmp_parallel_bytes {
  const psdm_allocator *allocator;
  unsigned char *data;
  size_t used, room, at; /* at: read so far */
  bool failed;           /* out of memory, or read past the end */
} psdmp_parallel_bytes;

void psdmp_parallel_bytes_put(psdmp_parallel_bytes *bytes, const void *data, size_t count);
/* zeros past the end, and failed is set */
void psdmp_parallel_bytes_get(psdmp_parallel_bytes *bytes, void *data, size_t count);
bool psdmp_parallel_bytes_room(psdmp_parallel_bytes *bytes, size_t count); /* for `count` more */
void psdmp_parallel_bytes_free(psdmp_parallel_bytes *bytes);
#define PSDMP_PARALLEL_PUT(bytes, value) psdmp_parallel_bytes_put(bytes, &(value), sizeof(value))
#define PSDMP_PARALLEL_GET(bytes, value) psdmp_parallel_bytes_get(bytes, &(value), sizeof(value))

/* Reads a count that `count` elements must follow: -1, and failed, when that is impossible. */
long psdmp_parallel_bytes_count(psdmp_parallel_bytes *bytes, size_t element);

/* ---- the tree ---- */

/* How parts are summed. */
typedef struct psdmp_parallel_tree_way {
  void *user;
  psdm_status (*merge)(void *user, void *left, void *right); /* left becomes both; right is released */
  void (*release)(void *user, void *part);
} psdmp_parallel_tree_way;

/* Part number `index` of level k covers the parts index 2^k .. (index + 1) 2^k - 1 of level 0. */
typedef struct psdmp_parallel_tree_node {
  long index;
  int level;
  void *part;
} psdmp_parallel_tree_node;

/* Nodes waiting for their neighbours: at most two of each level. Zero-initialise with way set. */
typedef struct psdmp_parallel_tree {
  psdmp_parallel_tree_way way;
  int count;
  psdmp_parallel_tree_node node[128];
} psdmp_parallel_tree;

/* The next node in ascending order; the tree takes ownership of its part (nullable: nothing), also on failure. */
psdm_status psdmp_parallel_tree_add(psdmp_parallel_tree *tree, long index, int level, void *part);

/* The sum of all as one part, the caller's; NULL: there is none. */
psdm_status psdmp_parallel_tree_end(psdmp_parallel_tree *tree, void **part);
void psdmp_parallel_tree_free(psdmp_parallel_tree *tree);

/* ---- the team ---- */

/* Whether this rank answers: all but rank 0. */
static inline bool psdmp_parallel_team_member(const psdm_ranks *ranks) { return ranks && ranks->rank > 0; }
static inline int psdmp_parallel_team_size(const psdm_ranks *ranks) { return ranks ? ranks->size : 1; }

/* Rank 0: asks the others for work. Then listen to each of them once. */
psdm_status psdmp_parallel_team_ask(psdm_ranks *ranks, int work, const psdmp_parallel_bytes *request,
                                    psdm_error *error);

/* Rank 0: one rank's answer; its failure is returned as if it were this rank's. answer: zero-initialised, the
 * caller's. */
psdm_status psdmp_parallel_team_listen(psdm_ranks *ranks, int from, psdmp_parallel_bytes *answer, psdm_error *error);

/* Adds which rank could not open or read a file: another machine may have it. */
void psdmp_parallel_team_tell(int rank, psdm_status status, psdm_error *error);

/* Rank 0: no more work of this kind: psdmp_parallel_team_serve of the others returns. */
void psdmp_parallel_team_dismiss(psdm_ranks *ranks);

/* The others: do what is asked until dismissed. Failed work is answered with its error, and the next is awaited. */
typedef psdm_status (*psdmp_parallel_team_work)(void *user, int work, psdmp_parallel_bytes *request,
                                                psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status psdmp_parallel_team_serve(psdm_ranks *ranks, psdmp_parallel_team_work work, void *user,
                                      const psdm_allocator *allocator, psdm_error *error);

/* The others: answer everything with a failure until dismissed, so that rank 0 learns of it. */
void psdmp_parallel_team_refuse(psdm_ranks *ranks, const psdm_error *why);

/* Any rank: memory ran out before the work began. Tells the others, and keeps all in step. Returns PSDM_E_MEMORY. */
psdm_status psdmp_parallel_team_unable(psdm_ranks *ranks, psdm_error *error);

/* This rank's part of `count` units: first .. last - 1, in the order of ranks. */
void psdmp_parallel_team_share(const psdm_ranks *ranks, long count, long *first, long *last);

/* ---- threads ---- */

/* Threads for `units` units: as asked, or from OMP_NUM_THREADS or the number of processors. One with the caller's
 * allocator, which need not be thread-safe. */
int psdmp_parallel_threads(int asked, const psdm_allocator *allocator, long units);

/* ---- spread ---- */

/* Units of work, each of which makes a part, and how parts are summed: along a tree over the units' numbers, so that
 * the sum does not depend on threads and ranks. */
typedef struct psdmp_parallel_spread {
  psdm_ranks *ranks;
  int threads; /* 0: one per processor */
  const psdm_allocator *allocator;
  long units;                     /* of all ranks */
  void *user;                     /* shared by all threads, constant */
  void *(*space_new)(void *user); /* scratch of one thread; NULL: out of memory */
  void (*space_free)(void *user, void *space);
  psdm_status (*make)(void *space, long unit, void **part, psdm_error *error); /* NULL part: nothing to add */
  psdm_status (*merge)(void *user, void *left, void *right); /* left becomes both; right is released */
  void (*part_free)(void *user, void *part);
  void (*put)(void *user, const void *part, psdmp_parallel_bytes *to);
  void *(*get)(void *user, psdmp_parallel_bytes *from); /* NULL: out of memory, or invalid bytes */
  /* nullable: reads what another rank added after its parts */
  void (*heard)(void *user, psdmp_parallel_bytes *answer);
} psdmp_parallel_spread;

/* Rank 0: all units; asks the others for theirs by this work and request. *part NULL: there was nothing. */
psdm_status psdmp_parallel_spread_all(const psdmp_parallel_spread *spread, int work,
                                      const psdmp_parallel_bytes *request, void **part, psdm_error *error);

/* Another rank: its units, as bytes. */
psdm_status psdmp_parallel_spread_serve(const psdmp_parallel_spread *spread, psdmp_parallel_bytes *answer,
                                        psdm_error *error);

#endif
