/* peer_psdm.c: libpsdm's own recursions, as shipped. The other peers are compared with them. */
#define PEER_COMPILER "gcc " __VERSION__ " as released: -O3, no -march"
#include "peer_table.h"
#include "psdm/linearize.h"

static const char *name(void) { return "libpsdm"; }

static const char *refusal(const psdm_robot *robot) {
  (void)robot;
  return NULL;
}

typedef struct scratch {
  psdm_work *work;
  psdm_linear *linear;
} scratch;

static void close_robot(void *own) {
  scratch *s = own;
  psdm_work_free(s->work, NULL), psdm_linear_free(s->linear, NULL), free(s);
}

static void *open_robot(const psdm_robot *robot) {
  scratch *s = calloc(1, sizeof *s);
  if (!s || (!psdm_work_new(robot, NULL, &s->work) && !psdm_linear_new(robot, NULL, &s->linear))) return s;
  close_robot(s);
  return NULL;
}

static psdm_work *work(peer *p) { return ((scratch *)p->own)->work; }
static psdm_linear *linear(peer *p) { return ((scratch *)p->own)->linear; }

static void inverse(peer *p, const double *x, double *tau) {
  psdm_inverse(p->robot, work(p), x, x + p->n, x + 2 * p->n, tau);
}
static void mass(peer *p, const double *x, double *M) { psdm_mass(p->robot, work(p), x, M); }
static void forward(peer *p, const double *x, double *qdd) {
  psdm_forward(p->robot, work(p), x, x + p->n, x + 3 * p->n, qdd);
}
static void forward_cholesky(peer *p, const double *x, double *qdd) {
  psdm_forward_cholesky(p->robot, work(p), x, x + p->n, x + 3 * p->n, qdd);
}
static void regressor(peer *p, const double *x, double *Y) {
  psdm_regressor_standard(p->robot, work(p), x, x + p->n, x + 2 * p->n, Y);
}

static void linearize_inverse(peer *p, const double *x, double *out) {
  int n = p->n;
  psdm_linearize_inverse(p->robot, linear(p), x, x + n, x + 2 * n, out, out + n * n, out + 2 * n * n);
}
static void linearize_forward(peer *p, const double *x, double *out) {
  int n = p->n;
  psdm_linearize_forward(p->robot, linear(p), x, x + n, x + 3 * n, out, out + n * n, out + 2 * n * n);
}
/* it does not depend on the motion */
static void inverse_mass(peer *p, const double *x, double *Minv) {
  psdm_linearize_forward_at(p->robot, linear(p), x, x + p->n, x + 2 * p->n, NULL, NULL, Minv);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"psdm_inverse", inverse, NULL}},
    [MASS] = {{"psdm_mass", mass, NULL}},
    [FORWARD] = {{"psdm_forward", forward, NULL}, {"psdm_forward_cholesky", forward_cholesky, NULL}},
    [REGRESSOR] = {{"psdm_regressor_standard", regressor, NULL}},
    [LINEARIZE_INVERSE] = {{"psdm_linearize_inverse", linearize_inverse, NULL}},
    [LINEARIZE_FORWARD] = {{"psdm_linearize_forward", linearize_forward, NULL}},
    [INVERSE_MASS] = {{"psdm_linearize_forward_at", inverse_mass, NULL}},
};

PEER_FACE
