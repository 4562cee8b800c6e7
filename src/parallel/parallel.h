/* parallel.h: work that is spread over threads and ranks, and added up in an order that neither decides. Private to the
 * library.
 *
 *   bytes.c    numbers as bytes, for messages and files
 *   tree.c     parts added up along a binary tree over their numbers
 *   team.c     rank 0 asks, the others answer
 *   threads.c  how many threads a loop gets
 *   spread.c   units of work over threads and ranks, added up along one tree */
#ifndef PSDMP_PARALLEL_H
#define PSDMP_PARALLEL_H

#include "base/base.h"
#include "psdm/ranks.h"

/* ---- bytes ---- */

/* Grows while it is written, and is read from its beginning. Zero-initialise with the allocator set. */
typedef struct psdmp_parallel_bytes {
  const psdm_allocator *allocator;
  unsigned char *data;
  size_t used, room, at; /* at: read so far */
  bool failed;           /* out of memory, or read beyond the end */
} psdmp_parallel_bytes;

void psdmp_parallel_bytes_put(psdmp_parallel_bytes *bytes, const void *data, size_t count);
/* zeros beyond the end, and failed is set */
void psdmp_parallel_bytes_get(psdmp_parallel_bytes *bytes, void *data, size_t count);
bool psdmp_parallel_bytes_room(psdmp_parallel_bytes *bytes, size_t count); /* for so many to come */
void psdmp_parallel_bytes_free(psdmp_parallel_bytes *bytes);
#define PSDMP_PARALLEL_PUT(bytes, value) psdmp_parallel_bytes_put(bytes, &(value), sizeof(value))
#define PSDMP_PARALLEL_GET(bytes, value) psdmp_parallel_bytes_get(bytes, &(value), sizeof(value))

/* A count that is read from bytes and that so many elements must follow: -1, and failed, where it cannot be true. */
long psdmp_parallel_bytes_count(psdmp_parallel_bytes *bytes, size_t element);

/* ---- the tree ---- */

/* How parts are added up. */
typedef struct psdmp_parallel_tree_way {
  void *user;
  psdm_status (*merge)(void *user, void *left, void *right); /* left becomes both; right is released */
  void (*release)(void *user, void *part);
} psdmp_parallel_tree_way;

/* Part number `index` of level k stands for the parts index 2^k .. (index + 1) 2^k - 1 of level 0. */
typedef struct psdmp_parallel_tree_node {
  long index;
  int level;
  void *part;
} psdmp_parallel_tree_node;

/* Nodes that wait for their neighbours: at most two of each level. Zero-initialise with way set. */
typedef struct psdmp_parallel_tree {
  psdmp_parallel_tree_way way;
  int count;
  psdmp_parallel_tree_node node[128];
} psdmp_parallel_tree;

/* The next node in ascending order; the tree owns its part (nullable: nothing) from now on, also where it fails. */
psdm_status psdmp_parallel_tree_add(psdmp_parallel_tree *tree, long index, int level, void *part);

/* All that is there as one part, the caller's; NULL: there is none. */
psdm_status psdmp_parallel_tree_end(psdmp_parallel_tree *tree, void **part);
void psdmp_parallel_tree_free(psdmp_parallel_tree *tree);

/* ---- the team ---- */

/* Whether this rank is one that answers: all but rank 0. */
static inline bool psdmp_parallel_team_member(const psdm_ranks *ranks) { return ranks && ranks->rank > 0; }
static inline int psdmp_parallel_team_size(const psdm_ranks *ranks) { return ranks ? ranks->size : 1; }

/* Rank 0: what the others are to do. Each of them is then to be listened to once. */
psdm_status psdmp_parallel_team_ask(psdm_ranks *ranks, int work, const psdmp_parallel_bytes *request,
                                    psdm_error *error);

/* Rank 0: what one of them answers; its own failure is returned as if it were this rank's. answer: zero-initialised,
 * the caller's. */
psdm_status psdmp_parallel_team_listen(psdm_ranks *ranks, int from, psdmp_parallel_bytes *answer, psdm_error *error);

/* Says which rank could not open or read a file: another machine may well have it. */
void psdmp_parallel_team_tell(int rank, psdm_status status, psdm_error *error);

/* Rank 0: there is no further work of this kind: psdmp_parallel_team_serve of the others returns. */
void psdmp_parallel_team_dismiss(psdm_ranks *ranks);

/* The others: does what is asked until it is dismissed. A work that fails is answered with its error, and the next
 * one is waited for. */
typedef psdm_status (*psdmp_parallel_team_work)(void *user, int work, psdmp_parallel_bytes *request,
                                                psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status psdmp_parallel_team_serve(psdm_ranks *ranks, psdmp_parallel_team_work work, void *user,
                                      const psdm_allocator *allocator, psdm_error *error);

/* The others: answers everything with a failure until it is dismissed, so that rank 0 hears of it. */
void psdmp_parallel_team_refuse(psdm_ranks *ranks, const psdm_error *why);

/* Any rank: memory ran out before the work began. The others hear of it, and all stay in step. Returns
 * PSDM_E_MEMORY. */
psdm_status psdmp_parallel_team_unable(psdm_ranks *ranks, psdm_error *error);

/* The part of `count` units that a rank has: first .. last - 1, in the order of ranks. */
void psdmp_parallel_team_share(const psdm_ranks *ranks, long count, long *first, long *last);

/* ---- threads ---- */

/* Threads for so many units: asked for, or as OMP_NUM_THREADS or the processors say. One where the caller has an
 * allocator: nothing is said of it and threads. */
int psdmp_parallel_threads(int asked, const psdm_allocator *allocator, long units);

/* ---- spreading ---- */

/* Units of work, each of which makes a part, and how parts are added up. Parts are added along a tree over the
 * units' numbers: the sum does not depend on threads and ranks. */
typedef struct psdmp_parallel_spread {
  psdm_ranks *ranks;
  int threads; /* 0: as many as there are */
  const psdm_allocator *allocator;
  long units;                     /* of all ranks */
  void *user;                     /* the same for all threads, constant */
  void *(*space_new)(void *user); /* what one thread needs; NULL: out of memory */
  void (*space_free)(void *user, void *space);
  psdm_status (*make)(void *space, long unit, void **part, psdm_error *error); /* NULL part: there is nothing to add */
  psdm_status (*merge)(void *user, void *left, void *right); /* left becomes both; right is released */
  void (*part_free)(void *user, void *part);
  void (*put)(void *user, const void *part, psdmp_parallel_bytes *to);
  void *(*get)(void *user, psdmp_parallel_bytes *from); /* NULL: out of memory, or not what was put */
  /* nullable: what another rank has added behind its parts */
  void (*heard)(void *user, psdmp_parallel_bytes *answer);
} psdmp_parallel_spread;

/* Rank 0: all units, of which others are asked for theirs by this work and request. *part NULL: there was nothing. */
psdm_status psdmp_parallel_spread_all(const psdmp_parallel_spread *spread, int work,
                                      const psdmp_parallel_bytes *request, void **part, psdm_error *error);

/* Another rank: its units, as bytes. */
psdm_status psdmp_parallel_spread_serve(const psdmp_parallel_spread *spread, psdmp_parallel_bytes *answer,
                                        psdm_error *error);

#endif
