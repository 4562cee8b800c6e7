/* peer_psdm.c: libpsdm's own recursions, as shipped. The other peers are compared with them. */
#define PEER_COMPILER "gcc " __VERSION__ " as released: -O3, no -march"
#include "peer_table.h"

static const char *name(void) { return "libpsdm"; }

static const char *refusal(const psdm_robot *robot) {
  (void)robot;
  return NULL;
}

static void *open_robot(const psdm_robot *robot) {
  psdm_work *work = NULL;
  return psdm_work_new(robot, NULL, &work) ? NULL : work;
}

static void close_robot(void *own) { psdm_work_free(own, NULL); }

static void inverse(peer *p, const double *x, double *tau) { psdm_inverse(p->robot, p->own, x, x + p->n, x + 2 * p->n, tau); }
static void mass(peer *p, const double *x, double *M) { psdm_mass(p->robot, p->own, x, M); }
static void forward(peer *p, const double *x, double *qdd) { psdm_forward(p->robot, p->own, x, x + p->n, x + 3 * p->n, qdd); }
static void forward_cholesky(peer *p, const double *x, double *qdd) {
  psdm_forward_cholesky(p->robot, p->own, x, x + p->n, x + 3 * p->n, qdd);
}
static void regressor(peer *p, const double *x, double *Y) {
  psdm_regressor_standard(p->robot, p->own, x, x + p->n, x + 2 * p->n, Y);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"psdm_inverse", inverse, NULL}},
    [MASS] = {{"psdm_mass", mass, NULL}},
    [FORWARD] = {{"psdm_forward", forward, NULL}, {"psdm_forward_cholesky", forward_cholesky, NULL}},
    [REGRESSOR] = {{"psdm_regressor_standard", regressor, NULL}},
};

PEER_FACE
