/* psdm/online.h: parameters while the robot runs: recursive least squares with forgetting.
 *
 *   minimise  sum_k lambda^(K-k) |(tau_k - Y_k theta) / sigma|^2 + lambda^K |theta - theta_0|^2_(P_0^-1)
 *
 * in square-root form: a triangular factor of the information is updated by Givens rotations (Golub, Van Loan), so that
 * the covariance stays positive for all data. Uses the caller's memory; nothing allocates or prints. One thread at a
 * time. */
#ifndef PSDM_ONLINE_H
#define PSDM_ONLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_online psdm_online;

/* parameters: their number, 1 .. 10000; returns 0 otherwise. Memory aligned like malloc's. */
PSDM_API size_t psdm_online_bytes(int parameters);

/* theta (parameters) initial values, sd (parameters) their uncertainty; forgetting in (0, 1], 1: none. PSDM_E_ARGUMENT
 * when one is out of range. */
PSDM_API psdm_status psdm_online_init(void *memory, size_t bytes, int parameters, const double *theta, const double *sd,
                                      double forgetting, psdm_online **online);

/* One sample of `rows` equations: Y (rows x parameters) row-major, tau (rows), sigma (rows) the noise of each (0 or
 * infinite: leave the row out). Forgets once. PSDM_E_ARGUMENT, and nothing is changed, when a number in a row that
 * counts is not finite, or beyond 1e70 or 1e70 sigma. */
PSDM_API psdm_status psdm_online_add(psdm_online *online, int rows, const double *Y, const double *tau,
                                     const double *sigma);

/* theta (parameters), and covariance (parameters x parameters) or NULL. Never PSDM_E_SINGULAR: the initial uncertainty
 * keeps it regular; PSDM_E_LIMIT, with nothing written, when forgetting has used that up and no data replaced it. */
PSDM_API psdm_status psdm_online_theta(const psdm_online *online, double *theta, double *covariance);

/* Mean squared residual of the equations so far, weighted by forgetting, in units of sigma^2: near one when sigma is
 * right and there are many more equations than parameters. 0 before the first. */
PSDM_API double psdm_online_misfit(const psdm_online *online);

#ifdef __cplusplus
}
#endif
#endif
