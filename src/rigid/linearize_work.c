/* linearize_work.c: scratch of the linearized dynamics, laid out in the caller's memory. */
#include <string.h>

#include "rigid/linearize_priv.h"

/* the open tree's scratch at *open */
static void lay_out_closed(const psdmp_robot_closure *closure, psdmp_rigid_carver *c, psdm_linear *at, void **open) {
  size_t N = (size_t)closure->tree->n, e = 3 * (size_t)closure->loops;
  at->tree_B = psdmp_rigid_carve(c, N * N, sizeof(double));
  at->tree_A = psdmp_rigid_carve(c, N * N, sizeof(double));
  at->tree_M = psdmp_rigid_carve(c, N * N, sizeof(double));
  for (int i = 0; i < 4; i++) at->column[i] = psdmp_rigid_carve(c, N, sizeof(double));
  at->equations = psdmp_rigid_carve(c, 2 * e, sizeof(double));
  *open = psdmp_rigid_carve(c, psdm_linear_bytes(closure->tree), 1);
}

static psdm_linear *lay_out(const psdm_robot *r, void *memory, size_t *bytes, void **work, void **open) {
  psdmp_rigid_carver c = {memory, 0};
  size_t bodies = (size_t)r->bodies, n = (size_t)r->n;
  psdm_linear *l = psdmp_rigid_carve(&c, 1, sizeof *l), count = {0};
  psdm_linear *at = l ? l : &count;
  at->wave = psdmp_rigid_carve(&c, bodies * PSDMP_RIGID_LEVELS, sizeof *at->wave);
  at->spatial = psdmp_rigid_carve(&c, bodies, sizeof *at->spatial);
  at->factor = psdmp_rigid_carve(&c, bodies, sizeof *at->factor);
  at->q = psdmp_rigid_carve(&c, bodies, sizeof(double));
  at->qd = psdmp_rigid_carve(&c, bodies, sizeof(double));
  at->qdd = psdmp_rigid_carve(&c, bodies, sizeof(double));
  for (int i = 0; i < 6; i++) at->direction[i] = psdmp_rigid_carve(&c, bodies, sizeof(double));
  at->zero = psdmp_rigid_carve(&c, bodies > n ? bodies : n, sizeof(double));
  at->tree = psdmp_rigid_carve(&c, bodies, sizeof(double));
  at->vector = psdmp_rigid_carve(&c, 3 * n, sizeof(double));
  at->M = psdmp_rigid_carve(&c, n * n, sizeof(double));
  at->A = psdmp_rigid_carve(&c, n * n, sizeof(double));
  at->B = psdmp_rigid_carve(&c, n * n, sizeof(double));
  at->mark = psdmp_rigid_carve(&c, bodies, sizeof(int));
  *work = psdmp_rigid_carve(&c, psdm_work_bytes(r), 1);
  *open = NULL;
  if (r->closure) lay_out_closed(r->closure, &c, at, open);
  *bytes = c.used;
  return l;
}

size_t psdm_linear_bytes(const psdm_robot *r) {
  size_t bytes;
  void *work, *open;
  lay_out(r, NULL, &bytes, &work, &open);
  return bytes;
}

/* from the tips inward, so that a parent is found by its last child first */
static void mark_family(const psdm_robot *r, psdm_linear *l) {
  for (int b = 0; b < r->bodies; b++) l->factor[b].tip = true;
  for (int b = r->bodies - 1; b >= 0; b--) {
    int parent = r->body[b].parent;
    if (parent < 0) continue;
    l->factor[b].last = l->factor[parent].tip;
    l->factor[parent].branches = !l->factor[parent].tip;
    l->factor[parent].tip = false;
  }
}

psdm_status psdm_linear_init(const psdm_robot *r, void *memory, size_t bytes, psdm_linear **linear) {
  size_t need = psdm_linear_bytes(r);
  void *work, *open;
  *linear = NULL;
  if (!memory || bytes < need || (uintptr_t)memory % _Alignof(max_align_t)) return PSDM_E_ARGUMENT;
  memset(memory, 0, need);
  psdm_linear *l = lay_out(r, memory, &need, &work, &open);
  psdm_status status = psdm_work_init(r, work, psdm_work_bytes(r), &l->work);
  if (!status && r->closure)
    status = psdm_linear_init(r->closure->tree, open, psdm_linear_bytes(r->closure->tree), &l->open);
  if (status) return status;
  mark_family(r, l);
  *linear = l;
  return PSDM_OK;
}
