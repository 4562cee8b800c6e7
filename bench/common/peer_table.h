/* peer_table.h: the interface of peer.h made from a table. A peer includes this and defines:
 *
 *   static const char *name(void);                        with its version
 *   static const char *refusal(const psdm_robot *robot);  NULL: it can represent the robot
 *   static void *open_robot(const psdm_robot *robot);     the peer's own model
 *   static void close_robot(void *own);
 *   static const way ways[FUNCTIONS][MOST_WAYS];          by function
 *
 * and then PEER_FACE. A call takes one state (q, qd, qdd, tau) or, for a batch, all of them (element k of state i at k
 * STATES + i) and leaves its result at out; show converts it to libpsdm's layout; NULL if it has that layout. */
#ifndef BENCH_PEER_TABLE_H
#define BENCH_PEER_TABLE_H

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "peer.h"
#include "robot/robot.h"

enum { MOST_WAYS = 3 };

struct peer {
  const psdm_robot *robot;
  int n;
  void *own;
  double *states; /* (STATES x 4 n) */
  double *arrays; /* (4 n x STATES) */
  double *out;    /* the largest result */
};

typedef struct way {
  const char *name;
  void (*call)(peer *p, const double *x, double *out);
  void (*show)(const peer *p, int state, const double *out, double *result);
} way;

/* "gcc 12.2.0", or the peer's own description of its binary */
#ifndef PEER_COMPILER
#ifdef __clang__
#define PEER_COMPILER __VERSION__ " " PEER_FLAGS
#else
#define PEER_COMPILER "gcc " __VERSION__ " " PEER_FLAGS
#endif
#endif

static inline const char *refuse_transmission(const psdm_robot *robot) {
  return robot->drive_mass ? "drives behind a transmission" : NULL;
}

static inline const char *refuse_coupled(const psdm_robot *robot) {
  return robot->direct ? refuse_transmission(robot) : "coupled joints";
}

/* one state out of a batch's result */
static inline void show_batch(const peer *p, int state, const double *out, double *result) {
  for (int k = 0; k < p->n; k++) result[k] = out[k * STATES + state];
}

static inline void show_batch_matrices(const peer *p, int state, const double *out, double *result) {
  for (int k = 0; k < 3 * p->n * p->n; k++) result[k] = out[k * STATES + state];
}

#define PEER_FACE                                                                                             \
  const char *peer_name(void) { return name(); }                                                              \
  const char *peer_compiler(void) { return PEER_COMPILER; }                                                   \
  const char *peer_refusal(const psdm_robot *robot) { return refusal(robot); }                                \
  int peer_ways(recursion which) {                                                                            \
    int count = 0;                                                                                            \
    while (count < MOST_WAYS && ways[which][count].call) count++;                                             \
    return count;                                                                                             \
  }                                                                                                           \
  const char *peer_function(recursion which, int k) { return ways[which][k].name; }                           \
                                                                                                              \
  void peer_free(peer *p) {                                                                                   \
    if (!p) return;                                                                                           \
    if (p->own) close_robot(p->own);                                                                          \
    free(p->states), free(p->arrays), free(p->out), free(p);                                                  \
  }                                                                                                           \
                                                                                                              \
  peer *peer_new(const psdm_robot *robot, const double *states, int count) {                                  \
    peer *p = (peer *)calloc(1, sizeof *p);                                                                   \
    if (!p || count != STATES || refusal(robot)) return free(p), (peer *)NULL;                                \
    size_t n = (size_t)robot->n, length = STATE_VECTORS * n * STATES;                                         \
    size_t largest = n * (3 * n * STATES + (size_t)psdm_robot_parameter_count(robot));                        \
    p->robot = robot, p->n = robot->n;                                                                        \
    p->states = (double *)malloc(sizeof(double) * length);                                                    \
    p->arrays = (double *)aligned_alloc(64, sizeof(double) * length);                                         \
    p->out = (double *)aligned_alloc(64, (sizeof(double) * largest + 63) / 64 * 64);                          \
    p->own = open_robot(robot);                                                                               \
    if (!p->states || !p->arrays || !p->out || !p->own) return peer_free(p), (peer *)NULL;                    \
    memcpy(p->states, states, sizeof(double) * length);                                                       \
    for (size_t i = 0; i < length; i++)                                                                       \
      p->arrays[i % (STATE_VECTORS * n) * STATES + i / (STATE_VECTORS * n)] = states[i];                      \
    return p;                                                                                                 \
  }                                                                                                           \
                                                                                                              \
  double peer_sweep(peer *p, recursion which, int k) {                                                        \
    void (*call)(peer *, const double *, double *) = ways[which][k].call;                                     \
    double sum = 0;                                                                                           \
    if (is_batch(which)) return call(p, p->arrays, p->out), p->out[0];                                        \
    for (int s = 0; s < STATES; s++) call(p, p->states + STATE_VECTORS * p->n * s, p->out), sum += p->out[0]; \
    return sum;                                                                                               \
  }                                                                                                           \
                                                                                                              \
  void peer_result(peer *p, recursion which, int k, int state, double *out) {                                 \
    const way *w = &ways[which][k];                                                                           \
    w->call(p, is_batch(which) ? p->arrays : p->states + STATE_VECTORS * p->n * state, p->out);               \
    if (w->show) w->show(p, state, p->out, out);                                                              \
    else memcpy(out, p->out, sizeof(double) * (size_t)bench_result_size(p->robot, which));                    \
  }
#endif
