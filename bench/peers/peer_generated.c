/* peer_generated.c: what `psdm codegen` wrote, with the prefix r; with -DTARGET_simd the batch. */
#include <stddef.h>

#include "peer_table.h"
#include "r.h"

static const char *name(void) { return "psdm codegen"; }

static const char *refusal(const psdm_robot *robot) {
  (void)robot;
  return NULL;
}

static void *open_robot(const psdm_robot *robot) { return (void *)robot; } /* the code knows its robot */
static void close_robot(void *own) { (void)own; }

#ifdef TARGET_simd
static void batch(peer *p, const double *x, double *tau) {
  r_inverse_batch(STATES, x, x + p->n * STATES, x + 2 * p->n * STATES, tau);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {[INVERSE_BATCH] = {{"inverse_batch", batch, show_batch}}};
#else
static void inverse(peer *p, const double *x, double *tau) { r_inverse(x, x + p->n, x + 2 * p->n, tau); }
static void mass(peer *p, const double *x, double *M) {
  (void)p;
  r_mass(x, M);
}
static void forward(peer *p, const double *x, double *qdd) { r_forward(x, x + p->n, x + 3 * p->n, qdd); }
static void regressor(peer *p, const double *x, double *Y) { r_regressor(x, x + p->n, x + 2 * p->n, Y); }

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"inverse", inverse, NULL}},
    [MASS] = {{"mass", mass, NULL}},
    [FORWARD] = {{"forward", forward, NULL}},
    [BASE_REGRESSOR] = {{"regressor", regressor, NULL}},
};
#endif

PEER_FACE
