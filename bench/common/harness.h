/* harness.h: shared by the benchmarks: robots, random states, the comparison of two results and the clock. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdint.h>

#include "peer.h"

#pragma GCC visibility push(default) /* peers in shared objects use it */
#ifdef __cplusplus
extern "C" {
#endif

enum { STATES = 64 }; /* fit in the first-level cache together with the robot */

/* xorshift64*: the same numbers on every run */
double bench_uniform(uint64_t *state, double low, double high);

/* A file, or chainN, a random chain of N joints. Links without a mass that have first moments (the PUMA's, where the
 * mass has no effect) get 1 kg: a peer that stores the centre of mass cannot hold them. NULL after a message on
 * stderr. */
psdm_robot *bench_load(const char *what);

/* q, qd, qdd, tau, each of length n, one after the other, STATES times */
void bench_fill_states(double *states, int n);

/* entries of a result in libpsdm's layout; of the base regressor, of one that has all standard parameters */
int bench_result_size(const psdm_robot *robot, recursion which);

/* largest difference relative to the largest entry of y */
double bench_difference(const double *x, const double *y, int count);

/* A peer's regressor (n x 10 bodies, row-major, canonical body frames, our order of parameters) in libpsdm's layout
 * (link frames, file order, columns of drive inertias zero). */
void bench_regressor_to_links(const psdm_robot *robot, const double *bodies, double *Y);

/* Coupled joints: tree = G x (+ c when it is a position), and x (n x width) = G' tree (bodies x width). Copies without
 * coupled joints. */
void bench_spread(const psdm_robot *robot, const double *x, bool position, double *tree);
void bench_gather(const psdm_robot *robot, const double *tree, int width, double *x);

double bench_now(void); /* seconds */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
