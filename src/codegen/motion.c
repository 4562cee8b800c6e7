/* motion.c: Newton-Euler through the graph, after Khalil's U form, with what parallel frames and shared axes save.
 *
 *   outward  w, U = [dw]x + [w]x[w]x and the acceleration a of each origin
 *   inward   F = m a + U h,  N = h x a + 2 vect(U S): the wrench, gathered from the tips
 *
 * Points on a joint's axis belong to both links, so U's third column passes the joint unchanged: rotate (wx, wy) and
 * (Uxz, Uyz), copy Uzz. */
#include <string.h>

#include "codegen/trace_priv.h"

static bool same_form(const psdmp_codegen_trace *t, const double *a, const double *b) {
  return memcmp(a, b, (size_t)(t->chain->n + 1) * sizeof *a) == 0;
}

/* a pair of the group's minus frame, seen from another frame of the group */
static void plane(psdmp_codegen_trace *t, int b, const double *frame, bool column, psdm_ref *x, psdm_ref *y) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  const psdmp_codegen_trace_body *root = &t->body[body->root];
  if (t->choice->gene[b][PSDMP_CODEGEN_GENE_CHAIN] && body->parallel && same_form(t, frame, body->own)) {
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    const double *before = t->chain->body[body->parent].own;
    plane(t, body->parent, before, column, x, y);
    psdmp_codegen_form_between(t, before, frame, form);
    psdmp_codegen_into(t, form, x, y);
    return;
  }
  *x = column ? root->ux : root->wx;
  *y = column ? root->uy : root->wy;
  psdmp_codegen_into(t, frame, x, y);
}

void psdmp_codegen_plane_w(psdmp_codegen_trace *t, int b, const double *frame, psdm_ref *wx, psdm_ref *wy) {
  plane(t, b, frame, false, wx, wy);
}
void psdmp_codegen_plane_u(psdmp_codegen_trace *t, int b, const double *frame, psdm_ref *ux, psdm_ref *uy) {
  plane(t, b, frame, true, ux, uy);
}

static void differences(psdmp_codegen_trace *t, psdmp_codegen_spin *U) {
  U->zz_yy = SUB(U->zz, U->yy);
  U->xx_zz = SUB(U->xx, U->zz);
  U->yy_xx = SUB(U->yy, U->xx);
}

/* what a joint's rate and acceleration add to U, in a frame that it does not turn */
static void add_joint(psdmp_codegen_trace *t, int b, psdm_ref wx, psdm_ref wy, psdmp_codegen_spin *U) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  if (t->chain->body[b].prismatic) return;
  psdm_ref twice = ADD(k->rate, k->rate), more = MUL(k->rate, ADD(k->wz0, k->wz));
  U->xy = SUB(U->xy, k->acc);
  U->yx = ADD(U->yx, k->acc);
  U->zx = ADD(U->zx, MUL(twice, wx));
  U->zy = ADD(U->zy, MUL(twice, wy));
  U->xx = SUB(U->xx, more);
  U->yy = SUB(U->yy, more);
  differences(t, U);
}

/* the parent's U in the minus frame of a group's first body */
psdmp_codegen_spin psdmp_codegen_spin_before(psdmp_codegen_trace *t, int b) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_normal_frame(t, b, form);
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, body->parent, form), V;
  psdm_ref c = NUM(body->ca), s = NUM(body->sa);
  psdmp_codegen_sym x = {U.xx, U.yx, U.zx}, y, z;
  y = (psdmp_codegen_sym){ADD(MUL(c, U.xy), MUL(s, U.xz)), ADD(MUL(c, U.yy), MUL(s, U.yz)),
                          ADD(MUL(c, U.zy), MUL(s, U.zz))};
  z = (psdmp_codegen_sym){SUB(MUL(c, U.xz), MUL(s, U.xy)), SUB(MUL(c, U.yz), MUL(s, U.yy)),
                          SUB(MUL(c, U.zz), MUL(s, U.zy))};
  psdmp_codegen_tilt(t, body, &x);
  psdmp_codegen_tilt(t, body, &y);
  psdmp_codegen_tilt(t, body, &z);
  V = (psdmp_codegen_spin){
      .xx = x.x, .xy = y.x, .xz = z.x, .yx = x.y, .yy = y.y, .yz = z.y, .zx = x.z, .zy = y.z, .zz = z.z};
  differences(t, &V);
  return V;
}

/* from products of w; digits of the gene: which square stands for both, and how Uzx and Uzy are made */
static psdmp_codegen_spin from_products(psdmp_codegen_trace *t, int b, psdm_ref wx, psdm_ref wy, psdm_ref ux,
                                        psdm_ref uy, int gene) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  psdmp_codegen_spin U = {.xz = ux, .yz = uy, .zz = t->body[t->chain->body[b].root].uz};
  psdm_ref xy = MUL(wx, wy), square = MUL(k->wz, k->wz);
  U.xy = SUB(xy, k->dwz);
  U.yx = ADD(xy, k->dwz);
  if (gene & 2) {
    psdm_ref xz = MUL(wx, k->wz), yz = MUL(wy, k->wz);
    U.zx = SUB(xz, SUB(ux, xz));
    U.zy = SUB(yz, SUB(uy, yz));
  } else {
    psdm_ref twice = ADD(k->wz, k->wz);
    U.zx = SUB(MUL(wx, twice), ux);
    U.zy = SUB(MUL(wy, twice), uy);
  }
  if (gene & 1) {
    psdm_ref yy = MUL(wy, wy), sum = ADD(yy, square);
    psdm_ref less = SUB(yy, square);
    U.xx = NEG(sum);
    U.yy = ADD(U.zz, less);
    U.zz_yy = NEG(less);
    U.xx_zz = SUB(U.xx, U.zz);
    U.yy_xx = NEG(ADD(U.zz_yy, U.xx_zz));
  } else {
    psdm_ref xx = MUL(wx, wx), sum = ADD(xx, square);
    U.yy = NEG(sum);
    U.xx_zz = SUB(xx, square);
    U.xx = ADD(U.zz, U.xx_zz);
    U.zz_yy = SUB(U.zz, U.yy);
    U.yy_xx = NEG(ADD(U.zz_yy, U.xx_zz));
  }
  return U;
}

psdmp_codegen_spin psdmp_codegen_spin_of(psdmp_codegen_trace *t, int b, const double *frame) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  int gene = t->choice->gene[b][PSDMP_CODEGEN_GENE_SPIN];
  psdm_ref wx, wy, ux, uy;
  plane(t, b, frame, false, &wx, &wy);
  plane(t, b, frame, true, &ux, &uy);
  psdmp_codegen_spin U;
  if (gene & 4 && body->parallel) U = psdmp_codegen_spin_of(t, body->parent, frame);
  else if (gene & 4 && body->parent >= 0 && same_form(t, frame, t->still)) U = psdmp_codegen_spin_before(t, b);
  else if (body->prismatic && body->parallel) return psdmp_codegen_spin_of(t, body->parent, frame);
  else return from_products(t, b, wx, wy, ux, uy, gene);
  U.xz = ux;
  U.yz = uy;
  U.zz = t->body[body->root].uz;
  add_joint(t, b, wx, wy, &U);
  return U;
}

/* ---- outward ---- */

/* w and U's third column in the minus frame of a group's first body */
static void enter_group(psdmp_codegen_trace *t, int b) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  psdmp_codegen_trace_body *k = &t->body[b];
  k->wx = k->wy = k->ux = k->uy = k->uz = k->wz0 = k->dwz0 = t->zero;
  if (body->parent < 0) return;
  const psdmp_codegen_trace_body *p = &t->body[body->parent];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_normal_frame(t, b, form);
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, body->parent, form);
  psdm_ref wx, wy, c = NUM(body->ca), s = NUM(body->sa);
  plane(t, body->parent, form, false, &wx, &wy);
  psdmp_codegen_sym w = {wx, wy, p->wz};
  psdmp_codegen_sym column = {SUB(MUL(c, U.xz), MUL(s, U.xy)), SUB(MUL(c, U.yz), MUL(s, U.yy)),
                              SUB(MUL(c, U.zz), MUL(s, U.zy))};
  psdmp_codegen_tilt(t, body, &w);
  psdmp_codegen_tilt(t, body, &column);
  k->wx = w.x;
  k->wy = w.y;
  k->wz0 = w.z;
  k->ux = column.x;
  k->uy = column.y;
  k->uz = column.z;
  k->dwz0 = SUB(MUL(c, p->dwz), MUL(s, SUB(U.xz, MUL(wx, p->wz))));
}

static psdmp_codegen_sym times_vector(psdmp_codegen_trace *t, const psdmp_codegen_spin *U, psdmp_codegen_sym p) {
  return (psdmp_codegen_sym){ADD(ADD(MUL(U->xx, p.x), MUL(U->xy, p.y)), MUL(U->xz, p.z)),
                             ADD(ADD(MUL(U->yx, p.x), MUL(U->yy, p.y)), MUL(U->yz, p.z)),
                             ADD(ADD(MUL(U->zx, p.x), MUL(U->zy, p.y)), MUL(U->zz, p.z))};
}

/* acceleration that a way along z, and a sliding joint's motion, add in a frame of the group */
static void slide(psdmp_codegen_trace *t, int b, psdm_ref along, const double *frame, psdmp_codegen_sym *a) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  psdm_ref ux, uy, wx, wy;
  plane(t, b, frame, true, &ux, &uy);
  *a = psdmp_codegen_sym_add(
      t, *a, (psdmp_codegen_sym){MUL(along, ux), MUL(along, uy), MUL(along, t->body[t->chain->body[b].root].uz)});
  if (!t->chain->body[b].prismatic) return;
  psdm_ref twice = ADD(k->rate, k->rate);
  plane(t, b, frame, false, &wx, &wy);
  *a = psdmp_codegen_sym_add(t, *a, (psdmp_codegen_sym){MUL(twice, wy), NEG(MUL(twice, wx)), k->acc});
}

/* -gravity in a base body's minus frame, in units of the chain */
static psdmp_codegen_sym base_acceleration(psdmp_codegen_trace *t, int b, bool gravity) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  const double *R = body->minus.R, *g = t->chain->robot->gravity;
  psdm_ref up[3], out[3];
  bool argument = t->program->length[PSDMP_CODEGEN_IN_GRAVITY] > 0;
  if (!gravity) return (psdmp_codegen_sym){t->zero, t->zero, t->zero};
  for (int i = 0; i < 3; i++)
    up[i] =
        argument ? NEG(MUL(NUM(1 / t->chain->unit), psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_GRAVITY, i))) : t->zero;
  for (int i = 0; i < 3; i++) {
    out[i] = t->zero;
    double sum = 0, size = 0;
    for (int j = 0; j < 3; j++) {
      if (argument) out[i] = ADD(out[i], MUL(NUM(R[3 * j + i]), up[j]));
      sum -= R[3 * j + i] * g[j];
      size += g[j] * g[j];
    }
    if (!argument) out[i] = NUM(sum * sum < 1e-26 * size ? 0 : sum / t->chain->unit);
  }
  return (psdmp_codegen_sym){out[0], out[1], out[2]};
}

/* an acceleration has arrived in frame `from`; the body works in `at` */
static void settle(psdmp_codegen_trace *t, psdmp_codegen_trace_body *k, const double *from) {
  k->a0 = k->a;
  k->from = from;
  psdmp_codegen_turn_sym(t, from, k->at, &k->a);
}

psdmp_codegen_sym psdmp_codegen_acceleration_in(psdmp_codegen_trace *t, int b, const double *frame) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  if (same_form(t, frame, k->at)) return k->a;
  psdmp_codegen_sym a = k->a0;
  psdmp_codegen_turn_sym(t, k->from, frame, &a);
  return a;
}

static void accelerate(psdmp_codegen_trace *t, int b, bool gravity) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  psdmp_codegen_trace_body *k = &t->body[b];
  psdm_ref along = body->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, body->slide, true) : t->zero;
  if (body->parent < 0) {
    k->a = base_acceleration(t, b, gravity);
    slide(t, b, along, t->still, &k->a);
    settle(t, k, t->still);
    return;
  }
  const psdmp_codegen_trace_body *p = &t->body[body->parent];
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, body->parent, p->via);
  k->a = psdmp_codegen_sym_add(t, psdmp_codegen_acceleration_in(t, body->parent, p->via),
                               times_vector(t, &U, psdmp_codegen_way(t, b)));
  if (body->parallel) {
    if (!body->prismatic) {
      settle(t, k, p->via);
      return;
    }
    psdmp_codegen_turn_sym(t, p->via, k->at, &k->a);
    slide(t, b, along, k->at, &k->a);
    settle(t, k, k->at);
    return;
  }
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_normal_frame(t, b, form);
  psdmp_codegen_turn_sym(t, p->via, form, &k->a);
  psdmp_codegen_tilt(t, body, &k->a);
  slide(t, b, ADD(along, NUM(body->d)), t->still, &k->a);
  settle(t, k, t->still);
}

void psdmp_codegen_move_out(psdmp_codegen_trace *t, bool gravity) {
  for (int b = 0; b < t->chain->bodies; b++) {
    const psdmp_codegen_chain_body *body = &t->chain->body[b];
    psdmp_codegen_trace_body *k = &t->body[b];
    if (body->root == b) {
      enter_group(t, b);
    } else {
      k->wz0 = t->body[body->parent].wz;
      k->dwz0 = t->body[body->parent].dwz;
    }
    k->wz = body->prismatic ? k->wz0 : ADD(k->wz0, k->rate);
    k->dwz = body->prismatic ? k->dwz0 : ADD(k->dwz0, k->acc);
    accelerate(t, b, gravity);
  }
}

/* ---- inward ---- */

/* moment of U's action on the diagonal of S, or of the inertia tensor: J dw + w x J w */
static psdmp_codegen_sym diagonal_moment(psdmp_codegen_trace *t, int b, const psdmp_codegen_spin *U,
                                         const psdm_ref s[10]) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  psdm_ref xx = s[PSDMP_CODEGEN_SXX], yy = s[PSDMP_CODEGEN_SYY], zz = s[PSDMP_CODEGEN_SZZ], wx, wy;
  plane(t, b, k->at, false, &wx, &wy);
  if (t->choice->gene[b][PSDMP_CODEGEN_GENE_TENSOR]) {
    psdm_ref xz = MUL(wx, k->wz), yz = MUL(wy, k->wz), dwx = SUB(yz, U->yz), dwy = SUB(U->xz, xz);
    return (psdmp_codegen_sym){ADD(MUL(xx, dwx), MUL(SUB(zz, yy), yz)), ADD(MUL(yy, dwy), MUL(SUB(xx, zz), xz)),
                               ADD(MUL(zz, k->dwz), MUL(SUB(yy, xx), MUL(wx, wy)))};
  }
  psdmp_codegen_sym n = {SUB(MUL(U->zy, yy), MUL(U->yz, zz)), SUB(MUL(U->xz, zz), MUL(U->zx, xx)),
                         SUB(MUL(U->yx, xx), MUL(U->xy, yy))};
  if (t->choice->gene[b][PSDMP_CODEGEN_GENE_TRACE])
    n.z = ADD(MUL(k->dwz, ADD(k->s[PSDMP_CODEGEN_SXX], k->s[PSDMP_CODEGEN_SYY])), MUL(MUL(wx, wy), SUB(xx, yy)));
  return n;
}

/* acceleration of the point that a body's inertia is about */
static psdmp_codegen_sym acceleration_there(psdmp_codegen_trace *t, int b) {
  const psdmp_codegen_trace_body *k = &t->body[b];
  if (!t->choice->gene[b][PSDMP_CODEGEN_GENE_PLACE]) return k->a;
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, b, k->via);
  return psdmp_codegen_sym_add(t, psdmp_codegen_acceleration_in(t, b, k->via),
                               times_vector(t, &U, psdmp_codegen_way(t, psdmp_codegen_only_child(t->chain, b))));
}

/* the wrench that one body's motion asks for, about the point of its inertia */
void psdmp_codegen_body_wrench(psdmp_codegen_trace *t, int b) {
  psdmp_codegen_trace_body *k = &t->body[b];
  psdm_ref s[10];
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, b, k->at);
  psdmp_codegen_sym a = acceleration_there(t, b);
  psdmp_codegen_inertia_in(t, b, k->at, s);
  psdmp_codegen_sym h = {s[PSDMP_CODEGEN_HX], s[PSDMP_CODEGEN_HY], s[PSDMP_CODEGEN_HZ]};
  psdm_ref m = s[PSDMP_CODEGEN_M], xy = s[PSDMP_CODEGEN_SXY], xz = s[PSDMP_CODEGEN_SXZ], yz = s[PSDMP_CODEGEN_SYZ];
  k->f = psdmp_codegen_sym_add(t, times_vector(t, &U, h), (psdmp_codegen_sym){MUL(m, a.x), MUL(m, a.y), MUL(m, a.z)});
  psdmp_codegen_sym n = {SUB(ADD(MUL(U.zx, xy), MUL(U.zz_yy, yz)), MUL(U.yx, xz)),
                         SUB(ADD(MUL(U.xx_zz, xz), MUL(U.xy, yz)), MUL(U.zy, xy)),
                         ADD(MUL(U.yy_xx, xy), SUB(MUL(U.yz, xz), MUL(U.xz, yz)))};
  n = psdmp_codegen_sym_add(t, n, diagonal_moment(t, b, &U, s));
  k->n = psdmp_codegen_sym_add(t, n, psdmp_codegen_sym_cross(t, h, a));
}

/* the outside's force and moment on the default link, taken from what its body must supply */
static void outside_wrench(psdmp_codegen_trace *t) {
  const psdm_robot *r = t->chain->robot;
  const psdmp_robot_link *link = &r->link[r->last];
  if (link->body < 0) return;
  /* rotate from the base frame, body by body, into the frame of the link's body */
  int path[PSDMP_CODEGEN_CODE_JOINTS], count = 0;
  for (int b = link->body; b >= 0; b = t->chain->body[b].parent) path[count++] = b;
  psdmp_codegen_sym v[2];
  for (int w = 0; w < 2; w++) {
    psdm_ref in[3], out[3];
    const double *R = t->chain->body[path[count - 1]].minus.R;
    for (int i = 0; i < 3; i++) in[i] = psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_WRENCH, 3 * w + i);
    if (w == 0)
      for (int i = 0; i < 3; i++) in[i] = MUL(NUM(t->chain->unit), in[i]);
    for (int i = 0; i < 3; i++) {
      out[i] = t->zero;
      for (int j = 0; j < 3; j++) out[i] = ADD(out[i], MUL(NUM(R[3 * j + i]), in[j]));
    }
    v[w] = (psdmp_codegen_sym){out[0], out[1], out[2]};
    const double *frame = t->still;
    for (int k = count - 1; k >= 0; k--) {
      const psdmp_codegen_chain_body *body = &t->chain->body[path[k]];
      if (k < count - 1 && !body->parallel) {
        double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
        psdmp_codegen_normal_frame(t, path[k], form);
        psdmp_codegen_turn_sym(t, frame, form, &v[w]);
        psdmp_codegen_tilt(t, body, &v[w]);
        frame = t->still;
      }
      if (k == 0) psdmp_codegen_turn_sym(t, frame, t->body[path[k]].at, &v[w]);
    }
  }
  /* about the body's origin: the link's frame stands at p */
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&t->chain->body[link->body].frame),
                   frame = psdmp_robot_pose_product(&back, &link->frame);
  psdmp_codegen_sym p = {NUM(frame.p[0] / t->chain->unit), NUM(frame.p[1] / t->chain->unit),
                         NUM(frame.p[2] / t->chain->unit)};
  psdmp_codegen_turn_sym(t, t->chain->body[link->body].own, t->body[link->body].at, &p);
  v[1] = psdmp_codegen_sym_add(t, v[1], psdmp_codegen_sym_cross(t, p, v[0]));
  psdmp_codegen_trace_body *k = &t->body[link->body];
  k->f = psdmp_codegen_sym_add(t, k->f, (psdmp_codegen_sym){NEG(v[0].x), NEG(v[0].y), NEG(v[0].z)});
  k->n = psdmp_codegen_sym_add(t, k->n, (psdmp_codegen_sym){NEG(v[1].x), NEG(v[1].y), NEG(v[1].z)});
}

void psdmp_codegen_gather(psdmp_codegen_trace *t, const psdm_ref *tree, psdmp_codegen_block acc, psdm_ref *tau) {
  const psdm_robot *r = t->chain->robot;
  for (int i = 0; i < r->n; i++) tau[i] = t->zero;
  for (int b = 0; b < r->bodies; b++)
    for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++) {
      double scale = r->g_val[e] * t->chain->body[b].sign / (r->body[b].prismatic ? t->chain->unit : 1);
      tau[r->g_col[e]] = ADD(tau[r->g_col[e]], MUL(NUM(scale), tree[b]));
    }
  /* drives: a Ia (a . qdd) */
  for (int d = 0; d < r->drives && acc < PSDMP_CODEGEN_IN_COUNT; d++) {
    psdm_ref Ia = psdmp_codegen_inertia_entry(t, 10 * t->chain->bodies + d), rate = t->zero;
    for (int i = 0; i < r->n; i++) rate = ADD(rate, MUL(NUM(r->drive[d].a[i]), psdmp_codegen_argument(t, acc, i)));
    for (int i = 0; i < r->n; i++) tau[i] = ADD(tau[i], MUL(NUM(r->drive[d].a[i]), MUL(Ia, rate)));
  }
}

void psdmp_codegen_torques(psdmp_codegen_trace *t, bool wrench, psdm_ref *tree) {
  const psdmp_codegen_chain *chain = t->chain;
  for (int b = 0; b < chain->bodies; b++) psdmp_codegen_body_wrench(t, b);
  if (wrench && t->program->length[PSDMP_CODEGEN_IN_WRENCH]) outside_wrench(t);
  for (int b = chain->bodies - 1; b >= 0; b--) {
    psdmp_codegen_trace_body *k = &t->body[b];
    tree[b] = chain->body[b].prismatic ? k->f.z : k->n.z;
    if (chain->body[b].parent < 0) continue;
    psdmp_codegen_trace_body *p = &t->body[chain->body[b].parent];
    psdmp_codegen_sym f = k->f, n = k->n;
    /* the parent's wrench is about the end of the way */
    bool there = t->choice->gene[chain->body[b].parent][PSDMP_CODEGEN_GENE_PLACE];
    psdmp_codegen_carry_wrench(t, b, there ? &p->f : NULL, there ? &p->n : NULL, &f, &n);
    p->f = there ? f : psdmp_codegen_sym_add(t, p->f, f);
    p->n = there ? n : psdmp_codegen_sym_add(t, p->n, n);
  }
}
