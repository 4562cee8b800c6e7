/* linear.c: dtau/dq, dtau/dqd and M by composite quantities (after Jain and Rodriguez 1990, Algorithm 2), for revolute
 * joints.
 *
 * Base parameters have no mass here, so a composite body is its second moment S and first moment h alone. Beside it
 * travels [G g] = 2 sum (V_k - V_j-1) P_k, the doubled momentum of all bodies behind joint j relative to the body
 * before it. In the frame before joint j turns they make four wrenches: F1 of a unit acceleration, the couple F2, F3
 * of a small turn, F4 of a small velocity. Carried inward to joint i, their moments about z are M_ij, dtau_i/dq_j,
 * dtau_i/dqd_j, and F1, F2 with the motion of body i give the transposed entries. No linear velocity appears: each
 * joint's origin is taken to be at rest. */
#include <string.h>

#include "codegen/trace_priv.h"

#define TWICE(x) psdm_graph_add(t->g, x, x)

enum { X, Y, Z };

/* a composite body and what is carried with it */
typedef struct bundle {
  psdm_ref s[10];
  psdm_ref G[3][3], g[3];
  psdmp_codegen_sym f, n;
} bundle;

/* the wrenches of one joint on their way inward; F2 is a couple */
typedef struct wrenches {
  psdmp_codegen_sym f1, n1, n2, f3, n3, f4, n4;
} wrenches;

/* where a joint's wrenches are made: any frame of the group will do, its z is the axis */
static const double *joint_frame(psdmp_codegen_trace *t, int b, double *form) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  if (!body->parallel || t->choice->gene[b][PSDMP_CODEGEN_GENE_CARRY] == 2) return t->still;
  psdmp_codegen_normal_frame(t, b, form);
  return form;
}

static psdmp_codegen_sym way_in(psdmp_codegen_trace *t, int b, const double *frame) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_sym p = {NUM(body->a), t->zero, NUM(body->e + (body->parallel ? body->d : 0))};
  psdmp_codegen_normal_frame(t, b, form);
  psdmp_codegen_turn_sym(t, form, frame, &p);
  return p;
}

/* ---- turning and moving bundles ---- */

static bool same(psdmp_codegen_trace *t, const double *a, const double *b) {
  return memcmp(a, b, (size_t)(t->chain->n + 1) * sizeof *a) == 0;
}

/* G -> R G R^T, g -> R g, for the turn from one frame of a group to another */
static void turn_bundle(psdmp_codegen_trace *t, const double *from, const double *to, bundle *k) {
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdm_ref s, c;
  if (same(t, from, to)) return;
  psdmp_codegen_form_between(t, to, from, form);
  psdmp_codegen_turn_inertia(t, form, k->s);
  psdmp_codegen_trig(t, form, &s, &c);
  psdm_ref xx = k->G[X][X], xy = k->G[X][Y], yx = k->G[Y][X], yy = k->G[Y][Y];
  psdm_ref u = ADD(MUL(SUB(xx, yy), s), MUL(ADD(xy, yx), c)), us = MUL(u, s), uc = MUL(u, c);
  k->G[X][X] = SUB(xx, us);
  k->G[Y][Y] = ADD(yy, us);
  k->G[X][Y] = SUB(uc, yx);
  k->G[Y][X] = SUB(uc, xy);
  psdmp_codegen_out_of(t, form, &k->G[X][Z], &k->G[Y][Z]);
  psdmp_codegen_out_of(t, form, &k->G[Z][X], &k->G[Z][Y]);
  psdmp_codegen_out_of(t, form, &k->g[X], &k->g[Y]);
  psdmp_codegen_turn_sym(t, from, to, &k->f);
  psdmp_codegen_turn_sym(t, from, to, &k->n);
}

/* the origin moves by -p: G += g p^T, n += p x f */
static void shift_bundle(psdmp_codegen_trace *t, psdmp_codegen_sym p, bundle *k) {
  const psdm_ref v[3] = {p.x, p.y, p.z};
  psdmp_codegen_shift_inertia(t, p, k->s);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) k->G[i][j] = ADD(k->G[i][j], MUL(k->g[i], v[j]));
  k->n = psdmp_codegen_sym_add(t, k->n, psdmp_codegen_sym_cross(t, p, k->f));
}

static void untilt_bundle(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *body, bundle *k) {
  psdmp_codegen_untilt_inertia(t, body, k->s);
  /* rows, then columns */
  for (int j = 0; j < 3; j++) {
    psdmp_codegen_sym v = {k->G[X][j], k->G[Y][j], k->G[Z][j]};
    psdmp_codegen_untilt(t, body, &v);
    k->G[Y][j] = v.y, k->G[Z][j] = v.z;
  }
  for (int i = 0; i < 3; i++) {
    psdmp_codegen_sym v = {k->G[i][X], k->G[i][Y], k->G[i][Z]};
    psdmp_codegen_untilt(t, body, &v);
    k->G[i][Y] = v.y, k->G[i][Z] = v.z;
  }
  psdmp_codegen_sym g = {k->g[X], k->g[Y], k->g[Z]};
  psdmp_codegen_untilt(t, body, &g);
  k->g[Y] = g.y, k->g[Z] = g.z;
  psdmp_codegen_untilt(t, body, &k->f);
  psdmp_codegen_untilt(t, body, &k->n);
}

static void turn_wrenches(psdmp_codegen_trace *t, const double *from, const double *to, wrenches *w) {
  psdmp_codegen_sym *all[] = {&w->f1, &w->n1, &w->n2, &w->f3, &w->n3, &w->f4, &w->n4};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) psdmp_codegen_turn_sym(t, from, to, all[i]);
}

static void untilt_wrenches(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *body, wrenches *w) {
  psdmp_codegen_sym *all[] = {&w->f1, &w->n1, &w->n2, &w->f3, &w->n3, &w->f4, &w->n4};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) psdmp_codegen_untilt(t, body, all[i]);
}

/* p x f for each; the couple takes 2 (w x p) x f1, w of the body that the way belongs to */
static void shift_wrenches(psdmp_codegen_trace *t, psdmp_codegen_sym p, psdmp_codegen_sym w, wrenches *k) {
  psdmp_codegen_sym v = psdmp_codegen_sym_cross(t, w, p), twice = {TWICE(v.x), TWICE(v.y), TWICE(v.z)};
  k->n2 = psdmp_codegen_sym_add(t, k->n2, psdmp_codegen_sym_cross(t, twice, k->f1));
  k->n1 = psdmp_codegen_sym_add(t, k->n1, psdmp_codegen_sym_cross(t, p, k->f1));
  k->n3 = psdmp_codegen_sym_add(t, k->n3, psdmp_codegen_sym_cross(t, p, k->f3));
  k->n4 = psdmp_codegen_sym_add(t, k->n4, psdmp_codegen_sym_cross(t, p, k->f4));
}

/* ---- motion of the body before a joint ---- */

typedef struct before {
  psdm_ref wx, wy, wz, ux, uy, zx, zy; /* w; Uxz, Uyz, Uzx, Uzy */
  psdmp_codegen_sym a;
} before;

static before motion_before(psdmp_codegen_trace *t, int b, const double *frame) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  const psdmp_codegen_trace_body *k = &t->body[b];
  before m = {.wz = k->wz0, .a = psdmp_codegen_acceleration_in(t, b, frame), .zx = t->zero, .zy = t->zero};
  psdmp_codegen_plane_w(t, b, frame, &m.wx, &m.wy);
  psdmp_codegen_plane_u(t, b, frame, &m.ux, &m.uy);
  if (body->parent < 0) return m;
  psdmp_codegen_spin U =
      body->parallel ? psdmp_codegen_spin_of(t, body->parent, frame) : psdmp_codegen_spin_before(t, b);
  m.zx = U.zx;
  m.zy = U.zy;
  return m;
}

/* ---- one joint ---- */

static wrenches make_wrenches(psdmp_codegen_trace *t, int b, const bundle *rotated, const bundle *k, const before *m) {
  const psdm_ref *s = k->s;
  psdm_ref xx = s[PSDMP_CODEGEN_SXX], xy = s[PSDMP_CODEGEN_SXY], xz = s[PSDMP_CODEGEN_SXZ], yy = s[PSDMP_CODEGEN_SYY],
           yz = s[PSDMP_CODEGEN_SYZ], zz = s[PSDMP_CODEGEN_SZZ];
  psdm_ref hx = s[PSDMP_CODEGEN_HX], hy = s[PSDMP_CODEGEN_HY], hz = s[PSDMP_CODEGEN_HZ], wx = m->wx, wy = m->wy,
           spin = TWICE(t->body[b].wz);
  psdm_ref lam = ADD(MUL(wx, xz), MUL(wy, yz)), mu = SUB(MUL(wx, yz), MUL(wy, xz)), lh = ADD(MUL(wx, hx), MUL(wy, hy)),
           mh = SUB(MUL(wx, hy), MUL(wy, hx));
  psdm_ref wxxy = MUL(wx, xy), wyxy = MUL(wy, xy), wxxx = MUL(wx, xx), wyxx = MUL(wy, xx), wxyy = MUL(wx, yy),
           wyyy = MUL(wy, yy);
  psdm_ref A1 = SUB(wxxy, wyxx), A2 = SUB(wxyy, wyxy), B1 = ADD(wxxy, wyyy), B2 = ADD(wxxx, wyxy);
  psdm_ref trace = ADD(rotated->G[X][X], rotated->G[Y][Y]), mg = ADD(mh, k->g[Z]);
  const psdm_ref(*G)[3] = k->G, (*R)[3] = rotated->G;
  wrenches w;
  w.f1 = (psdmp_codegen_sym){NEG(hy), hx, t->zero};
  w.n1 = (psdmp_codegen_sym){NEG(xz), NEG(yz), ADD(xx, yy)};
  w.n2 = (psdmp_codegen_sym){NEG(ADD(G[Z][X], TWICE(A1))), NEG(ADD(G[Z][Y], TWICE(A2))), SUB(trace, TWICE(mu))};
  w.f4 = (psdmp_codegen_sym){NEG(ADD(rotated->g[Y], MUL(spin, hx))), SUB(rotated->g[X], MUL(spin, hy)), TWICE(lh)};
  w.n4 = (psdmp_codegen_sym){ADD(SUB(TWICE(B1), R[X][Z]), MUL(spin, yz)),
                             NEG(ADD(ADD(TWICE(B2), R[Y][Z]), MUL(spin, xz))), trace};
  w.f3 = (psdmp_codegen_sym){SUB(ADD(SUB(MUL(wy, lh), MUL(wx, mg)), MUL(m->uy, hz)), k->f.y),
                             SUB(k->f.x, ADD(ADD(MUL(wx, lh), MUL(wy, mg)), MUL(m->ux, hz))),
                             ADD(SUB(MUL(m->zy, hx), MUL(m->zx, hy)), ADD(MUL(wy, k->g[Y]), MUL(wx, k->g[X])))};
  psdm_ref gz = ADD(G[Z][Z], mu);
  w.n3.x = ADD(ADD(SUB(MUL(m->zy, xy), MUL(m->zx, yy)), MUL(m->ux, zz)),
               ADD(ADD(MUL(wx, ADD(G[X][Y], lam)), MUL(wy, ADD(G[Y][Y], gz))), SUB(MUL(hz, m->a.x), k->n.y)));
  w.n3.y = ADD(ADD(SUB(MUL(m->uy, zz), MUL(m->zy, xx)), MUL(m->zx, xy)),
               ADD(SUB(MUL(wy, SUB(lam, G[Y][X])), MUL(wx, ADD(G[X][X], gz))), ADD(MUL(hz, m->a.y), k->n.x)));
  w.n3.z = SUB(SUB(MUL(wx, ADD(G[Z][Y], SUB(A2, B2))), MUL(wy, ADD(G[Z][X], ADD(A1, B1)))),
               ADD(ADD(MUL(m->ux, xz), MUL(m->uy, yz)), ADD(MUL(hx, m->a.x), MUL(hy, m->a.y))));
  return w;
}

/* the joint's own velocity: row x -= 2 qd [S h] row y, row y += 2 qd [S h] row x */
static void add_velocity(psdmp_codegen_trace *t, int b, bundle *k) {
  const psdm_ref *s = k->s, twice = TWICE(t->body[b].rate);
  const psdm_ref x[4] = {s[PSDMP_CODEGEN_SXX], s[PSDMP_CODEGEN_SXY], s[PSDMP_CODEGEN_SXZ], s[PSDMP_CODEGEN_HX]},
                 y[4] = {s[PSDMP_CODEGEN_SXY], s[PSDMP_CODEGEN_SYY], s[PSDMP_CODEGEN_SYZ], s[PSDMP_CODEGEN_HY]};
  for (int j = 0; j < 3; j++) {
    k->G[X][j] = SUB(k->G[X][j], MUL(twice, y[j]));
    k->G[Y][j] = ADD(k->G[Y][j], MUL(twice, x[j]));
  }
  k->g[X] = SUB(k->g[X], MUL(twice, y[3]));
  k->g[Y] = ADD(k->g[Y], MUL(twice, x[3]));
}

/* entries between joint i and the joint b that the wrenches come from, in body i's `at` frame or its joint's */
static void entries(psdmp_codegen_trace *t, int i, int b, const double *frame, const wrenches *w, psdm_ref *tree[3]) {
  int N = t->chain->bodies;
  psdm_ref wx, wy, ux, uy, uz = t->body[t->chain->body[i].root].uz;
  psdmp_codegen_sym a = psdmp_codegen_acceleration_in(t, i, frame);
  psdmp_codegen_plane_w(t, i, frame, &wx, &wy);
  psdmp_codegen_plane_u(t, i, frame, &ux, &uy);
  tree[2][i * N + b] = tree[2][b * N + i] = w->n1.z;
  tree[0][i * N + b] = w->n3.z;
  tree[1][i * N + b] = w->n4.z;
  if (i == b) return;
  psdm_ref across = SUB(MUL(wy, w->n1.x), MUL(wx, w->n1.y));
  tree[1][b * N + i] = ADD(TWICE(across), w->n2.z);
  tree[0][b * N + i] = ADD(ADD(ADD(MUL(ux, w->n1.x), MUL(uy, w->n1.y)), MUL(uz, w->n1.z)),
                           ADD(SUB(MUL(a.y, w->f1.x), MUL(a.x, w->f1.y)), SUB(MUL(wy, w->n2.x), MUL(wx, w->n2.y))));
}

/* from joint b's frame to the parent's `at` frame and origin */
static void carry_wrenches(psdmp_codegen_trace *t, int b, const double *frame, const before *m, wrenches *w) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_sym spin = {m->wx, m->wy, m->wz};
  if (!body->parallel) {
    shift_wrenches(t, (psdmp_codegen_sym){t->zero, t->zero, NUM(body->d)}, spin, w);
    untilt_wrenches(t, body, w);
    psdmp_codegen_untilt(t, body, &spin);
    psdmp_codegen_normal_frame(t, b, form);
    frame = form;
  }
  shift_wrenches(t, way_in(t, b, frame), spin, w);
  turn_wrenches(t, frame, t->body[body->parent].at, w);
}

static void carry_bundle(psdmp_codegen_trace *t, int b, const double *frame, bundle *k) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  if (!body->parallel) {
    shift_bundle(t, (psdmp_codegen_sym){t->zero, t->zero, NUM(body->d)}, k);
    untilt_bundle(t, body, k);
    psdmp_codegen_normal_frame(t, b, form);
    frame = form;
  }
  shift_bundle(t, way_in(t, b, frame), k);
  turn_bundle(t, frame, t->body[body->parent].at, k);
}

static void join(psdmp_codegen_trace *t, bundle *to, const bundle *from) {
  for (int i = 0; i < 10; i++) to->s[i] = ADD(to->s[i], from->s[i]);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) to->G[i][j] = ADD(to->G[i][j], from->G[i][j]);
    to->g[i] = ADD(to->g[i], from->g[i]);
  }
  to->f = psdmp_codegen_sym_add(t, to->f, from->f);
  to->n = psdmp_codegen_sym_add(t, to->n, from->n);
}

/* one joint's wrenches, and the entries of all joints before it */
static void visit(psdmp_codegen_trace *t, int b, bundle *k, psdm_ref *tree[3]) {
  const psdmp_codegen_chain *chain = t->chain;
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1], other[PSDMP_CODEGEN_CODE_JOINTS + 1];
  const double *frame = joint_frame(t, b, form);
  before m = motion_before(t, b, frame);
  turn_bundle(t, t->body[b].at, frame, k);
  bundle rotated = *k;
  t->body[b].hx = k->s[PSDMP_CODEGEN_HX];
  t->body[b].hy = k->s[PSDMP_CODEGEN_HY];
  add_velocity(t, b, k);
  wrenches w = make_wrenches(t, b, &rotated, k, &m);
  entries(t, b, b, frame, &w, tree);
  for (int i = b; chain->body[i].parent >= 0; i = chain->body[i].parent) {
    int parent = chain->body[i].parent;
    const double *here = joint_frame(t, i, other);
    before mi = motion_before(t, i, here);
    carry_wrenches(t, i, here, &mi, &w);
    double there[PSDMP_CODEGEN_CODE_JOINTS + 1];
    const double *next = joint_frame(t, parent, there), *at = t->body[parent].at;
    if (t->choice->gene[parent][PSDMP_CODEGEN_GENE_TRACE]) {
      turn_wrenches(t, at, next, &w);
      entries(t, parent, b, next, &w, tree);
    } else {
      entries(t, parent, b, at, &w, tree);
      turn_wrenches(t, at, next, &w);
    }
  }
}

/* dtau/dq, dtau/dqd, M of the tree's joints, (bodies x bodies) each */
static void linearize_tree(psdmp_codegen_trace *t, psdm_ref *tree[3]) {
  const psdmp_codegen_chain *chain = t->chain;
  bundle all[PSDMP_CODEGEN_CODE_JOINTS];
  for (int i = 0; i < chain->bodies * chain->bodies; i++) tree[0][i] = tree[1][i] = tree[2][i] = t->zero;
  for (int b = 0; b < chain->bodies; b++) {
    bundle *k = &all[b];
    psdmp_codegen_body_wrench(t, b);
    psdmp_codegen_inertia_in(t, b, t->body[b].at, k->s);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) k->G[i][j] = t->zero;
      k->g[i] = t->zero;
    }
    k->f = t->body[b].f;
    k->n = t->body[b].n;
  }
  for (int b = chain->bodies - 1; b >= 0; b--) {
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    visit(t, b, &all[b], tree);
    if (chain->body[b].parent < 0) continue;
    carry_bundle(t, b, joint_frame(t, b, form), &all[b]);
    join(t, &all[chain->body[b].parent], &all[b]);
  }
}

/* ---- gravity by composite bodies ---- */

/* (x, y) of the upward acceleration in each joint's frame */
static void upward(psdmp_codegen_trace *t, psdm_ref *x, psdm_ref *y) {
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
  psdmp_codegen_move_out(t, true);
  for (int b = 0; b < t->chain->bodies; b++) {
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    psdmp_codegen_sym a = psdmp_codegen_acceleration_in(t, b, joint_frame(t, b, form));
    x[b] = a.x;
    y[b] = a.y;
  }
}

/* on the tree's joints, from the composite bodies of the last linearization */
static void gravity_torque(psdmp_codegen_trace *t, const psdm_ref *x, const psdm_ref *y, psdm_ref *tree) {
  for (int b = 0; b < t->chain->bodies; b++) tree[b] = SUB(MUL(t->body[b].hx, y[b]), MUL(t->body[b].hy, x[b]));
}

/* ---- on the independent joints ---- */

size_t psdmp_codegen_linear_room(const psdm_robot *r) {
  size_t N = (size_t)r->bodies, n = (size_t)r->n;
  return 3 * N * N + 3 * N + 6 * n * n + 8 * n;
}

/* G^T T G with the joints' signs */
static void gather_matrix(psdmp_codegen_trace *t, const psdm_ref *tree, psdm_ref *out) {
  const psdm_robot *r = t->chain->robot;
  int n = r->n, N = r->bodies;
  for (int i = 0; i < n * n; i++) out[i] = t->zero;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int e = r->g_row[i]; e < r->g_row[i + 1]; e++)
        for (int c = r->g_row[j]; c < r->g_row[j + 1]; c++) {
          double scale = t->chain->body[i].sign * t->chain->body[j].sign * r->g_val[e] * r->g_val[c];
          psdm_ref *to = &out[r->g_col[e] * n + r->g_col[c]];
          *to = ADD(*to, MUL(NUM(scale), tree[i * N + j]));
        }
}

/* the three matrices at the rates of the arguments and the accelerations of block acc */
static void composite_matrices(psdmp_codegen_trace *t, psdmp_codegen_block acc, psdm_ref *room, psdm_ref *dq,
                               psdm_ref *dqd, psdm_ref *M) {
  size_t N = (size_t)t->chain->bodies;
  psdm_ref *tree[3] = {room, room + N * N, room + 2 * N * N};
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_QD, acc);
  psdmp_codegen_move_out(t, true);
  linearize_tree(t, tree);
  if (dq) gather_matrix(t, tree[0], dq);
  if (dqd) gather_matrix(t, tree[1], dqd);
  if (M) {
    gather_matrix(t, tree[2], M);
    psdmp_codegen_add_drives(t, M);
  }
}

/* the same by gradients of the torques; accelerations are those of psdmp_codegen_argument */
static void gradient_matrices(psdmp_codegen_trace *t, const psdm_ref *tau, psdm_ref *dq, psdm_ref *dqd) {
  static const psdmp_codegen_block blocks[4] = {PSDMP_CODEGEN_IN_Q, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_SINE,
                                                PSDMP_CODEGEN_IN_COSINE};
  int n = t->chain->n, inputs[4 * PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref gradient[4 * PSDMP_CODEGEN_CODE_JOINTS];
  for (int i = 0; i < 4 * n; i++) inputs[i] = (int)blocks[i / n] * PSDMP_CODEGEN_BLOCK + i % n;
  for (int i = 0; i < n; i++) {
    if (psdm_graph_gradient(t->g, tau[i], inputs, (size_t)(4 * n), gradient)) return; /* the graph's status says why */
    /* q also acts through sines and cosines that the caller gives */
    for (int j = 0; j < n; j++)
      gradient[j] =
          ADD(gradient[j], SUB(MUL(gradient[2 * n + j], psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_COSINE, j)),
                               MUL(gradient[3 * n + j], psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_SINE, j))));
    memcpy(dq + i * n, gradient, (size_t)n * sizeof *dq);
    memcpy(dqd + i * n, gradient + n, (size_t)n * sizeof *dqd);
  }
}

static void torques(psdmp_codegen_trace *t, psdmp_codegen_block acc, psdm_ref *tree, psdm_ref *tau) {
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_QD, acc);
  psdmp_codegen_move_out(t, true);
  psdmp_codegen_torques(t, true, tree);
  psdmp_codegen_gather(t, tree, acc, tau);
}

void psdmp_codegen_linearize_inverse(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n;
  psdm_ref *tau = room + t->chain->bodies;
  if (composite) {
    composite_matrices(t, PSDMP_CODEGEN_IN_QDD, room, out, out + n * n, out + 2 * n * n);
    return;
  }
  torques(t, PSDMP_CODEGEN_IN_QDD, room, tau);
  gradient_matrices(t, tau, out, out + n * n);
  psdmp_codegen_mass_matrix(t, out + 2 * n * n);
}

void psdmp_codegen_coriolis(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *C) {
  int n = t->chain->n, N = t->chain->bodies;
  psdm_ref *dq = room + 3 * N * N + 3 * N;
  if (composite) {
    composite_matrices(t, PSDMP_CODEGEN_IN_COUNT, room, NULL, C, NULL);
  } else {
    torques(t, PSDMP_CODEGEN_IN_COUNT, room, room + N);
    gradient_matrices(t, room + N, dq, C);
  }
  for (int i = 0; i < n * n; i++) C[i] = psdm_graph_scale(t->g, 0.5, C[i]);
}

/* tau - bias with bias = 1/2 (dtau/dqd) qd + gravity, which is all that velocities do */
static void composite_drive(psdmp_codegen_trace *t, const psdm_ref *dqd, const psdm_ref *gravity, psdm_ref *drive) {
  int n = t->chain->n;
  for (int i = 0; i < n; i++) {
    psdm_ref sum = t->zero;
    for (int j = 0; j < n; j++) sum = ADD(sum, MUL(dqd[i * n + j], psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QD, j)));
    drive[i] = SUB(SUB(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_TAU, i), gravity[i]), MUL(NUM(0.5), sum));
  }
}

/* out = A B, minus it when negated; (n x n) by (n x columns) */
static void product(psdmp_codegen_trace *t, const psdm_ref *A, const psdm_ref *B, int columns, bool negated,
                    psdm_ref *out) {
  int n = t->chain->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) {
      psdm_ref sum = t->zero;
      for (int k = 0; k < n; k++) sum = ADD(sum, MUL(A[i * n + k], B[k * columns + j]));
      out[i * columns + j] = negated ? NEG(sum) : sum;
    }
}

/* dtau/dq at the accelerations qdd, which are expressions; placeholders stand for them while torques are
 * differentiated */
static void gradient_at(psdmp_codegen_trace *t, const psdm_ref *qdd, psdm_ref *room, psdm_ref *dq, psdm_ref *dqd) {
  int n = t->chain->n, inputs[PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref held[PSDMP_CODEGEN_CODE_JOINTS];
  for (int i = 0; i < n; i++) {
    inputs[i] = PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i;
    held[i] = psdm_graph_input(t->g, inputs[i]);
  }
  t->qdd = held;
  torques(t, PSDMP_CODEGEN_IN_QDD, room, room + t->chain->bodies);
  gradient_matrices(t, room + t->chain->bodies, dq, dqd);
  t->qdd = NULL;
  if (!psdm_graph_substitute(t->g, inputs, qdd, (size_t)n, dq, (size_t)(n * n)))
    psdm_graph_substitute(t->g, inputs, qdd, (size_t)n, dqd, (size_t)(n * n));
}

void psdmp_codegen_linearize_forward(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *out,
                                     psdm_ref *inner) {
  int n = t->chain->n, N = t->chain->bodies;
  psdm_ref *dq = room + 3 * N * N + 3 * N, *dqd = dq + n * n, *M = dqd + n * n, *Minv = out + 2 * n * n;
  psdm_ref *drive = M + n * n, *qdd = drive + n, *gravity = qdd + n, *x = room + 3 * N * N, *y = x + N, *tree = y + N;
  t->qdd = NULL;
  if (composite) {
    upward(t, x, y);
    composite_matrices(t, PSDMP_CODEGEN_IN_COUNT, room, NULL, dqd, M);
    gravity_torque(t, x, y, tree);
    psdmp_codegen_gather(t, tree, PSDMP_CODEGEN_IN_COUNT, gravity);
    composite_drive(t, dqd, gravity, drive);
  } else {
    torques(t, PSDMP_CODEGEN_IN_COUNT, tree, drive);
    for (int i = 0; i < n; i++) drive[i] = SUB(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_TAU, i), drive[i]);
    psdmp_codegen_mass_matrix(t, M);
  }
  psdmp_codegen_inverse_mass(t, M, Minv);
  product(t, Minv, drive, 1, false, qdd);
  if (composite) {
    t->qdd = qdd;
    composite_matrices(t, PSDMP_CODEGEN_IN_QDD, room, dq, NULL, NULL);
    t->qdd = NULL;
  } else {
    gradient_at(t, qdd, room, dq, dqd);
  }
  product(t, Minv, dq, n, true, out);
  product(t, Minv, dqd, n, true, out + n * n);
  if (!inner) return;
  size_t each = (size_t)(n * n);
  memcpy(inner, Minv, each * sizeof *inner);
  for (int i = 0; i < n; i++) { /* rows side by side */
    memcpy(inner + each + 2 * n * i, dq + n * i, (size_t)n * sizeof *inner);
    memcpy(inner + each + 2 * n * i + n, dqd + n * i, (size_t)n * sizeof *inner);
  }
}

int psdmp_codegen_stage_values(int n) { return n + n * (n + 1) / 2; }

/* M^-1 and the accelerations as forward dynamics has them */
static void first_stage(psdmp_codegen_trace *t, psdm_ref *tree, psdm_ref *M, psdm_ref *early) {
  int n = t->chain->n, at = n;
  psdm_ref *Minv = M + n * n, *drive = Minv + n * n;
  t->qdd = NULL;
  torques(t, PSDMP_CODEGEN_IN_COUNT, tree, drive);
  for (int i = 0; i < n; i++) drive[i] = SUB(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_TAU, i), drive[i]);
  psdmp_codegen_mass_matrix(t, M);
  psdmp_codegen_inverse_mass(t, M, Minv);
  product(t, Minv, drive, 1, false, early);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) early[at++] = Minv[i * n + j];
}

void psdmp_codegen_linearize_stages(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *early,
                                    psdm_ref *late) {
  int n = t->chain->n, N = t->chain->bodies, at = n;
  psdm_ref *dq = room + 3 * N * N + 3 * N, *dqd = dq + n * n, *M = dqd + n * n, held[PSDMP_CODEGEN_CODE_JOINTS];
  first_stage(t, room, M, early);
  /* from here on they are given */
  for (int i = 0; i < n; i++) held[i] = psdm_graph_input(t->g, PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      M[i * n + j] = M[j * n + i] = psdm_graph_input(t->g, PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + at++);
  t->qdd = held;
  if (composite) {
    composite_matrices(t, PSDMP_CODEGEN_IN_QDD, room, dq, dqd, NULL);
  } else {
    torques(t, PSDMP_CODEGEN_IN_QDD, room, room + N);
    gradient_matrices(t, room + N, dq, dqd);
  }
  t->qdd = NULL;
  product(t, M, dq, n, true, late);
  product(t, M, dqd, n, true, late + n * n);
}
