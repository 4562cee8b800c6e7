/* work.c: scratch of the recursions, laid out in the caller's memory; coupled joints and their tree; frames of all
 * bodies at q. */
#include <string.h>

#include "rigid/closed_priv.h"

static psdm_work *lay_out(const psdm_robot *r, void *memory, size_t *bytes);

/* a closed robot uses its tree's scratch and some of its own */
static psdmp_rigid_closed_work *lay_out_closed(const psdm_robot *r, psdmp_rigid_carver *c) {
  const psdm_robot *tree = r->closure->tree;
  size_t N = (size_t)tree->n, n = (size_t)r->n, e = 3 * (size_t)r->closure->loops, m = (size_t)r->closure->passives,
         bytes;
  psdmp_rigid_closed_work *w = psdmp_rigid_carve(c, 1, sizeof *w), count;
  psdmp_rigid_closed_work *at = w ? w : &count;
  at->home = psdmp_rigid_carve(c, N, sizeof(double));
  at->q = psdmp_rigid_carve(c, N, sizeof(double));
  at->qd = psdmp_rigid_carve(c, N, sizeof(double));
  at->qdd = psdmp_rigid_carve(c, N, sizeof(double));
  at->tau = psdmp_rigid_carve(c, N, sizeof(double));
  at->G = psdmp_rigid_carve(c, N * n, sizeof(double));
  at->G_rate = psdmp_rigid_carve(c, N * n, sizeof(double));
  at->A = psdmp_rigid_carve(c, e * N, sizeof(double));
  at->Q = psdmp_rigid_carve(c, e * m, sizeof(double));
  at->R = psdmp_rigid_carve(c, m * m, sizeof(double));
  at->Q_before = psdmp_rigid_carve(c, e * m, sizeof(double));
  at->turn = psdmp_rigid_carve(c, m * m, sizeof(double));
  at->gap = psdmp_rigid_carve(c, e, sizeof(double));
  at->force = psdmp_rigid_carve(c, e, sizeof(double));
  for (int k = 0; k < 3; k++) at->along[k] = psdmp_rigid_carve(c, (size_t)tree->bodies, sizeof(double));
  at->J = psdmp_rigid_carve(c, 6 * N, sizeof(double));
  at->J_rate = psdmp_rigid_carve(c, 6 * N, sizeof(double));
  at->M = psdmp_rigid_carve(c, N * N, sizeof(double));
  at->Y = psdmp_rigid_carve(c, N * (size_t)psdm_robot_parameter_count(tree), sizeof(double));
  at->tree = lay_out(tree, c->memory ? c->memory + c->used : NULL, &bytes);
  c->used += bytes;
  return w;
}

static psdm_work *lay_out(const psdm_robot *r, void *memory, size_t *bytes) {
  psdmp_rigid_carver c = {memory, 0};
  size_t b = (size_t)r->bodies, n = (size_t)r->n;
  psdm_work *w = psdmp_rigid_carve(&c, 1, sizeof *w), count = {0};
  psdm_work *at = w ? w : &count;
  at->motion = psdmp_rigid_carve(&c, b, sizeof *at->motion);
  at->articulated = psdmp_rigid_carve(&c, b, sizeof *at->articulated);
  at->composite = psdmp_rigid_carve(&c, b * PSDMP_ROBOT_STANDARD, sizeof(double));
  at->world = psdmp_rigid_carve(&c, b * 12, sizeof(double));
  at->q = psdmp_rigid_carve(&c, b, sizeof(double));
  at->qd = psdmp_rigid_carve(&c, b, sizeof(double));
  at->qdd = psdmp_rigid_carve(&c, b, sizeof(double));
  at->tau = psdmp_rigid_carve(&c, b, sizeof(double));
  at->sine = psdmp_rigid_carve(&c, b, sizeof(double));
  at->cosine = psdmp_rigid_carve(&c, b, sizeof(double));
  at->height = psdmp_rigid_carve(&c, b, sizeof(double));
  at->M = psdmp_rigid_carve(&c, n * n, sizeof(double));
  at->row = psdmp_rigid_carve(&c, n, sizeof(double));
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

const double *psdmp_rigid_expand_rate(const psdm_robot *r, const double *x, double *tree) {
  if (r->direct) return x;
  for (int b = 0; b < r->bodies; b++) {
    double sum = 0;
    for (int i = r->g_row[b]; i < r->g_row[b + 1]; i++) sum += r->g_val[i] * x[r->g_col[i]];
    tree[b] = sum;
  }
  return tree;
}

const double *psdmp_rigid_expand_q(const psdm_robot *r, const double *x, double *tree) {
  const double *q = psdmp_rigid_expand_rate(r, x, tree);
  if (q == x) return x;
  for (int b = 0; b < r->bodies; b++) tree[b] += r->c[b];
  return tree;
}

void psdmp_rigid_restrict(const psdm_robot *r, const double *tree, double *tau) {
  if (r->direct) {
    if (tree != tau) memcpy(tau, tree, sizeof *tau * (size_t)r->n);
    return;
  }
  memset(tau, 0, sizeof *tau * (size_t)r->n);
  for (int b = 0; b < r->bodies; b++)
    for (int i = r->g_row[b]; i < r->g_row[b + 1]; i++) tau[r->g_col[i]] += r->g_val[i] * tree[b];
}

/* ---- frames ---- */

void psdmp_rigid_set_frames(const psdm_robot *r, psdm_work *work, const double *q) {
  psdmp_rigid_sines(r->bodies, q, work->sine, work->cosine);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    const double *E = body->joint.R, *p = body->joint.p;
    psdmp_rigid_motion *m = &work->motion[b];
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

static void set_places(const psdm_robot *r, psdm_work *work, const double *q, const double origin[3]) {
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_rigid_motion *m = &work->motion[b];
    double *R = work->world + 12 * b, *p = R + 9;
    if (r->body[b].parent < 0) {
      memcpy(R, m->R, sizeof m->R);
      for (int i = 0; i < 3; i++) p[i] = m->p[i] - origin[i];
      continue;
    }
    const double *Rp = work->world + 12 * r->body[b].parent, *pp = Rp + 9;
    for (int i = 0; i < 3; i++) {
      psdmp_rigid_unrotate(m->R, Rp + 3 * i, R + 3 * i); /* row i of Rp R */
      p[i] = pp[i] + psdmp_rigid_dot(Rp + 3 * i, m->p);
    }
  }
}

void psdmp_rigid_set_world(const psdm_robot *r, psdm_work *work, const double *q) {
  static const double base[3] = {0, 0, 0};
  set_places(r, work, q, base);
}

void psdmp_rigid_set_arms(const psdm_robot *r, psdm_work *work, const double *q) {
  set_places(r, work, q, r->body[0].joint.p);
}
