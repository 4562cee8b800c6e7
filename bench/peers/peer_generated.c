/* peer_generated.c: the output of `psdm codegen`, with the prefix r; with -DTARGET_simd the batches. */
#include <stddef.h>

#include "peer_table.h"
#include "r.h"

static const char *name(void) { return "psdm codegen"; }

static const char *refusal(const psdm_robot *robot) {
  (void)robot;
  return NULL;
}

static void *open_robot(const psdm_robot *robot) { return (void *)robot; } /* the code contains its robot */
static void close_robot(void *own) { (void)own; }

#ifdef TARGET_simd
static void inverse_batch(peer *p, const double *x, double *tau) {
  r_inverse_batch(STATES, x, x + p->n * STATES, x + 2 * p->n * STATES, tau);
}

static void linearize_inverse_batch(peer *p, const double *x, double *out) {
  int n = p->n, size = n * n * STATES;
  r_linearize_inverse_batch(STATES, x, x + n * STATES, x + 2 * n * STATES, out, out + size, out + 2 * size);
}
static void linearize_forward_batch(peer *p, const double *x, double *out) {
  int n = p->n, size = n * n * STATES;
  r_linearize_forward_batch(STATES, x, x + n * STATES, x + 3 * n * STATES, out, out + size, out + 2 * size);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE_BATCH] = {{"inverse_batch", inverse_batch, show_batch}},
    [LINEARIZE_INVERSE_BATCH] = {{"linearize_inverse_batch", linearize_inverse_batch, show_batch_matrices}},
    [LINEARIZE_FORWARD_BATCH] = {{"linearize_forward_batch", linearize_forward_batch, show_batch_matrices}},
};
#else
static void inverse(peer *p, const double *x, double *tau) { r_inverse(x, x + p->n, x + 2 * p->n, tau); }
static void mass(peer *p, const double *x, double *M) {
  (void)p;
  r_mass(x, M);
}
static void forward(peer *p, const double *x, double *qdd) { r_forward(x, x + p->n, x + 3 * p->n, qdd); }
static void regressor(peer *p, const double *x, double *Y) { r_regressor(x, x + p->n, x + 2 * p->n, Y); }
static void linearize_inverse(peer *p, const double *x, double *out) {
  int n = p->n;
  r_linearize_inverse(x, x + n, x + 2 * n, out, out + n * n, out + 2 * n * n);
}
static void linearize_forward(peer *p, const double *x, double *out) {
  int n = p->n;
  r_linearize_forward(x, x + n, x + 3 * n, out, out + n * n, out + 2 * n * n);
}
static void inverse_mass(peer *p, const double *x, double *Minv) {
  (void)p;
  r_inverse_mass(x, Minv);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"inverse", inverse, NULL}},
    [MASS] = {{"mass", mass, NULL}},
    [FORWARD] = {{"forward", forward, NULL}},
    [BASE_REGRESSOR] = {{"regressor", regressor, NULL}},
    [LINEARIZE_INVERSE] = {{"linearize_inverse", linearize_inverse, NULL}},
    [LINEARIZE_FORWARD] = {{"linearize_forward", linearize_forward, NULL}},
    [INVERSE_MASS] = {{"inverse_mass", inverse_mass, NULL}},
};
#endif

PEER_FACE
