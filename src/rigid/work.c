#include <string.h>

#include "rigid/closed.h"

/* hands out aligned pieces of the caller's memory; with memory NULL it only counts */
typedef struct carver {
  char *memory;
  size_t used;
} carver;

static void *carve(carver *c, size_t count, size_t size) {
  enum { LINE = 64 }; /* a cache line each */
  void *piece = c->memory ? c->memory + c->used : NULL;
  c->used += (count * size + LINE - 1) / LINE * LINE;
  return piece;
}

static psdm_work *lay_out(const psdm_robot *r, void *memory, size_t *bytes);

/* a closed robot works on its tree's scratch and some of its own */
static psdmp_closed_work *lay_out_closed(const psdm_robot *r, carver *c) {
  const psdm_robot *tree = r->closure->tree;
  size_t N = (size_t)tree->n, n = (size_t)r->n, e = 3 * (size_t)r->closure->loops, m = (size_t)r->closure->passives, bytes;
  psdmp_closed_work *w = carve(c, 1, sizeof *w), count;
  psdmp_closed_work *at = w ? w : &count;
  at->q = carve(c, N, sizeof(double));
  at->qd = carve(c, N, sizeof(double));
  at->qdd = carve(c, N, sizeof(double));
  at->tau = carve(c, N, sizeof(double));
  at->G = carve(c, N * n, sizeof(double));
  at->G_rate = carve(c, N * n, sizeof(double));
  at->A = carve(c, e * N, sizeof(double));
  at->A_rate = carve(c, e * N, sizeof(double));
  at->Q = carve(c, e * m, sizeof(double));
  at->R = carve(c, m * m, sizeof(double));
  at->Q_before = carve(c, e * m, sizeof(double));
  at->turn = carve(c, m * m, sizeof(double));
  at->gap = carve(c, e, sizeof(double));
  at->J = carve(c, 6 * N, sizeof(double));
  at->J_rate = carve(c, 6 * N, sizeof(double));
  at->M = carve(c, N * N, sizeof(double));
  at->Y = carve(c, N * (size_t)psdm_robot_parameter_count(tree), sizeof(double));
  at->tree = lay_out(tree, c->memory ? c->memory + c->used : NULL, &bytes);
  c->used += bytes;
  return w;
}

static psdm_work *lay_out(const psdm_robot *r, void *memory, size_t *bytes) {
  carver c = {memory, 0};
  size_t b = (size_t)r->bodies, n = (size_t)r->n;
  psdm_work *w = carve(&c, 1, sizeof *w), count = {0};
  psdm_work *at = w ? w : &count;
  at->motion = carve(&c, b, sizeof *at->motion);
  at->articulated = carve(&c, b, sizeof *at->articulated);
  at->composite = carve(&c, b * PSDMP_STANDARD, sizeof(double));
  at->world = carve(&c, b * 12, sizeof(double));
  at->q = carve(&c, b, sizeof(double));
  at->qd = carve(&c, b, sizeof(double));
  at->qdd = carve(&c, b, sizeof(double));
  at->tau = carve(&c, b, sizeof(double));
  at->sine = carve(&c, b, sizeof(double));
  at->cosine = carve(&c, b, sizeof(double));
  at->height = carve(&c, b, sizeof(double));
  at->M = carve(&c, n * n, sizeof(double));
  at->row = carve(&c, n, sizeof(double));
  at->closed = r->closure ? lay_out_closed(r, &c) : NULL;
  *bytes = c.used;
  return w;
}

size_t psdm_work_bytes(const psdm_robot *r) {
  size_t bytes;
  lay_out(r, NULL, &bytes);
  return bytes;
}

psdm_status psdm_work_init(const psdm_robot *r, void *memory, size_t bytes, psdm_work **work) {
  size_t need = psdm_work_bytes(r);
  *work = NULL;
  if (!memory || bytes < need || (uintptr_t)memory % _Alignof(max_align_t)) return PSDM_E_ARGUMENT;
  memset(memory, 0, need);
  *work = lay_out(r, memory, &need);
  return PSDM_OK;
}

/* ---- between the independent joints and the tree ---- */

const double *psdmp_expand_rate(const psdm_robot *r, const double *x, double *tree) {
  if (r->direct) return x;
  for (int b = 0; b < r->bodies; b++) {
    double sum = 0;
    for (int i = r->g_row[b]; i < r->g_row[b + 1]; i++) sum += r->g_val[i] * x[r->g_col[i]];
    tree[b] = sum;
  }
  return tree;
}

const double *psdmp_expand_q(const psdm_robot *r, const double *x, double *tree) {
  const double *q = psdmp_expand_rate(r, x, tree);
  if (q == x) return x;
  for (int b = 0; b < r->bodies; b++) tree[b] += r->c[b];
  return tree;
}

void psdmp_restrict(const psdm_robot *r, const double *tree, double *tau) {
  if (r->direct) {
    if (tree != tau) memcpy(tau, tree, sizeof *tau * (size_t)r->n);
    return;
  }
  memset(tau, 0, sizeof *tau * (size_t)r->n);
  for (int b = 0; b < r->bodies; b++)
    for (int i = r->g_row[b]; i < r->g_row[b + 1]; i++) tau[r->g_col[i]] += r->g_val[i] * tree[b];
}

/* ---- frames ---- */

void psdmp_set_frames(const psdm_robot *r, psdm_work *work, const double *q) {
  psdmp_sines(r->bodies, q, work->sine, work->cosine);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_body *body = &r->body[b];
    const double *E = body->joint.R, *p = body->joint.p;
    psdmp_motion *m = &work->motion[b];
    if (body->prismatic) {
      memcpy(m->R, E, sizeof m->R);
      for (int i = 0; i < 3; i++) m->p[i] = p[i] + q[b] * E[3 * i + 2];
      continue;
    }
    double s = work->sine[b], c = work->cosine[b];
    for (int i = 0; i < 3; i++) {
      m->R[3 * i] = E[3 * i] * c + E[3 * i + 1] * s;
      m->R[3 * i + 1] = E[3 * i + 1] * c - E[3 * i] * s;
      m->R[3 * i + 2] = E[3 * i + 2];
      m->p[i] = p[i];
    }
  }
}

void psdmp_set_world(const psdm_robot *r, psdm_work *work, const double *q) {
  psdmp_set_frames(r, work, psdmp_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_motion *m = &work->motion[b];
    double *R = work->world + 12 * b, *p = R + 9;
    if (r->body[b].parent < 0) {
      memcpy(R, m->R, sizeof m->R);
      memcpy(p, m->p, sizeof m->p);
      continue;
    }
    const double *Rp = work->world + 12 * r->body[b].parent, *pp = Rp + 9;
    for (int i = 0; i < 3; i++) {
      psdmp_unrotate(m->R, Rp + 3 * i, R + 3 * i); /* row i of Rp R */
      p[i] = pp[i] + psdmp_dot(Rp + 3 * i, m->p);
    }
  }
}
