/* peer.h: the libraries timed beside libpsdm, behind one interface: linked in (bench/recursions; peer_none.c if there
 * is none) or as one shared object each (bench/peers). */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "psdm/rigid.h"

/* everything else in a peer's shared object is hidden: peers do not see each other */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef enum recursion {
  INVERSE,
  GRAVITY,
  BIAS,
  MASS,
  FORWARD,
  FORWARD_CHOLESKY,
  REGRESSOR,
  ENERGY,
  JACOBIAN,
  RECURSIONS, /* those above: what bench/recursions times */
  BASE_REGRESSOR = RECURSIONS,
  LINEARIZE_INVERSE, /* dtau_dq, dtau_dqd, M, one after the other */
  LINEARIZE_FORWARD, /* dqdd_dq, dqdd_dqd, Minv */
  INVERSE_MASS,      /* Minv */
  INVERSE_BATCH,     /* from here on all states in one call, structure of arrays */
  LINEARIZE_INVERSE_BATCH,
  LINEARIZE_FORWARD_BATCH,
  FUNCTIONS
} recursion;

static inline bool is_batch(recursion which) { return which >= INVERSE_BATCH; }

/* One state: q, qd, qdd, tau, each of length n, one after the other. */
enum { STATE_VECTORS = 4 };

typedef struct peer peer;

const char *peer_name(void);     /* with its version; NULL: no peer */
const char *peer_compiler(void); /* its compiler and target machine */

/* Why the peer cannot represent the robot; NULL: it can. */
const char *peer_refusal(const psdm_robot *robot);

/* The same robot, and a copy of the states (count x 4 n). NULL when the peer refuses it. */
peer *peer_new(const psdm_robot *robot, const double *states, int count);
void peer_free(peer *p);

/* The peer may have several ways to one result; the fastest one counts. 0: it has none. */
int peer_ways(recursion which);
const char *peer_function(recursion which, int way);

/* Runs a recursion once for every state. The sum of one entry of each result keeps the work alive. */
double peer_sweep(peer *p, recursion which, int way);

/* The result for one state in libpsdm's layout, the drives' columns of the regressor excepted (they are zero). */
void peer_result(peer *p, recursion which, int way, int state, double *out);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
