/* screws.c: the regressor. The screw of every joint is carried outward to each body; its product with the wrench
 * that a unit of one standard parameter asks for is an entry of Y. Wrenches and screws meet in the user's link
 * frame, about its origin, where parameters are counted. */
#include <math.h>

#include "codegen/trace_priv.h"

/* axis e, velocity v of the body's origin per unit rate of a joint, way r from the joint's origin to the body's; in
 * the body's own frame */
typedef struct screw {
  psdmp_codegen_sym e, v, r;
} screw;

/* a body as its parameters see it: in the user's link frame */
typedef struct seen {
  psdmp_codegen_sym w, dw, a;
  psdmp_codegen_sym a_own; /* acceleration of the own origin instead */
  double way[3];           /* from there to the link frame's origin */
  psdmp_codegen_spin U;
  psdmp_robot_pose frame; /* the link's frame in the own one */
} seen;

/* R^T v */
static psdmp_codegen_sym unturn(psdmp_codegen_trace *t, const double *R, psdmp_codegen_sym v) {
  psdm_ref in[3] = {v.x, v.y, v.z}, out[3];
  for (int i = 0; i < 3; i++) {
    out[i] = t->zero;
    for (int j = 0; j < 3; j++) out[i] = ADD(out[i], MUL(NUM(R[3 * j + i]), in[j]));
  }
  return (psdmp_codegen_sym){out[0], out[1], out[2]};
}

static bool permutes(const double *R) {
  for (int i = 0; i < 9; i++)
    if (R[i] != 0 && fabs(R[i]) != 1) return false;
  return true;
}

/* U from w and its derivative alone, where the frame is turned by odd angles */
static psdmp_codegen_spin spin_from(psdmp_codegen_trace *t, psdmp_codegen_sym w, psdmp_codegen_sym dw) {
  psdm_ref xx = MUL(w.x, w.x), yy = MUL(w.y, w.y), zz = MUL(w.z, w.z), xy = MUL(w.x, w.y), xz = MUL(w.x, w.z),
           yz = MUL(w.y, w.z);
  psdmp_codegen_spin U = {.xx = NEG(ADD(yy, zz)), .yy = NEG(ADD(xx, zz)), .zz = NEG(ADD(xx, yy))};
  U.xy = SUB(xy, dw.z);
  U.yx = ADD(xy, dw.z);
  U.xz = ADD(xz, dw.y);
  U.zx = SUB(xz, dw.y);
  U.yz = SUB(yz, dw.x);
  U.zy = ADD(yz, dw.x);
  U.zz_yy = SUB(zz, yy);
  U.xx_zz = SUB(xx, zz);
  U.yy_xx = SUB(yy, xx);
  return U;
}

/* R^T U R for a signed permutation */
static psdmp_codegen_spin permuted(psdmp_codegen_trace *t, const double *R, const psdmp_codegen_spin *U) {
  const psdm_ref in[3][3] = {{U->xx, U->xy, U->xz}, {U->yx, U->yy, U->yz}, {U->zx, U->zy, U->zz}};
  /* differences of the diagonal: between[i][j] = U_ii - U_jj */
  const psdm_ref between[3][3] = {
      {t->zero, NEG(U->yy_xx), U->xx_zz}, {U->yy_xx, t->zero, NEG(U->zz_yy)}, {NEG(U->xx_zz), U->zz_yy, t->zero}};
  psdm_ref out[3][3];
  int from[3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      if (R[3 * k + i] != 0) from[i] = k;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      psdm_ref x = in[from[i]][from[j]];
      out[i][j] = R[3 * from[i] + i] * R[3 * from[j] + j] < 0 ? NEG(x) : x;
    }
  return (psdmp_codegen_spin){.xx = out[0][0],
                              .xy = out[0][1],
                              .xz = out[0][2],
                              .yx = out[1][0],
                              .yy = out[1][1],
                              .yz = out[1][2],
                              .zx = out[2][0],
                              .zy = out[2][1],
                              .zz = out[2][2],
                              .zz_yy = between[from[2]][from[1]],
                              .xx_zz = between[from[0]][from[2]],
                              .yy_xx = between[from[1]][from[0]]};
}

static psdmp_robot_pose link_in_own(const psdmp_codegen_trace *t, int b) {
  const psdm_robot *r = t->chain->robot;
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&t->chain->body[b].frame),
                   frame = psdmp_robot_pose_product(&back, &r->link[r->body[b].index].frame);
  for (int i = 0; i < 9; i++)
    if (fabs(frame.R[i] - rint(frame.R[i])) < 1e-14) frame.R[i] = rint(frame.R[i]);
  for (int i = 0; i < 3; i++)
    if (fabs(frame.p[i]) < 1e-14 * t->chain->reach) frame.p[i] = 0;
  return frame;
}

static psdmp_codegen_sym constants(psdmp_codegen_trace *t, const double p[3]) {
  return (psdmp_codegen_sym){NUM(p[0]), NUM(p[1]), NUM(p[2])};
}

static psdmp_codegen_sym spin_times(psdmp_codegen_trace *t, const psdmp_codegen_spin *U, psdmp_codegen_sym p) {
  return (psdmp_codegen_sym){ADD(ADD(MUL(U->xx, p.x), MUL(U->xy, p.y)), MUL(U->xz, p.z)),
                             ADD(ADD(MUL(U->yx, p.x), MUL(U->yy, p.y)), MUL(U->yz, p.z)),
                             ADD(ADD(MUL(U->zx, p.x), MUL(U->zy, p.y)), MUL(U->zz, p.z))};
}

static seen look(psdmp_codegen_trace *t, int b) {
  const double *own = t->chain->body[b].own;
  const psdmp_codegen_trace_body *k = &t->body[b];
  seen s = {.frame = link_in_own(t, b)};
  psdmp_codegen_spin U = psdmp_codegen_spin_of(t, b, own);
  psdmp_codegen_sym a = psdmp_codegen_acceleration_in(t, b, own), w = {.z = k->wz};
  psdmp_codegen_plane_w(t, b, own, &w.x, &w.y);
  psdmp_codegen_sym dw = {SUB(MUL(w.y, w.z), U.yz), SUB(U.xz, MUL(w.x, w.z)), k->dwz};
  s.a_own = unturn(t, s.frame.R, a);
  for (int i = 0; i < 3; i++)
    s.way[i] = s.frame.R[i] * s.frame.p[0] + s.frame.R[3 + i] * s.frame.p[1] + s.frame.R[6 + i] * s.frame.p[2];
  a = psdmp_codegen_sym_add(t, a, spin_times(t, &U, constants(t, s.frame.p)));
  s.a = unturn(t, s.frame.R, a);
  s.w = unturn(t, s.frame.R, w);
  s.dw = unturn(t, s.frame.R, dw);
  s.U = permutes(s.frame.R) ? permuted(t, s.frame.R, &U) : spin_from(t, s.w, s.dw);
  return s;
}

/* to a point at p: v += e x p, r += p */
static void move_screw(psdmp_codegen_trace *t, psdmp_codegen_sym p, screw *s) {
  s->v = psdmp_codegen_sym_add(t, s->v, psdmp_codegen_sym_cross(t, s->e, p));
  s->r = psdmp_codegen_sym_add(t, s->r, p);
}

static void turn_screw(psdmp_codegen_trace *t, const double *from, const double *to, screw *s) {
  psdmp_codegen_turn_sym(t, from, to, &s->e);
  psdmp_codegen_turn_sym(t, from, to, &s->v);
  psdmp_codegen_turn_sym(t, from, to, &s->r);
}

/* from the parent's own frame and origin to the body's */
static void carry_screw(psdmp_codegen_trace *t, int b, screw *s) {
  const psdmp_codegen_chain_body *k = &t->chain->body[b];
  const double *before = t->chain->body[k->parent].own;
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdm_ref along =
      ADD(NUM(k->d), k->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, k->slide, true) : t->zero);
  psdmp_codegen_normal_frame(t, b, form);
  turn_screw(t, before, form, s);
  if (k->parallel) {
    move_screw(t, (psdmp_codegen_sym){NUM(k->a), t->zero, ADD(NUM(k->e), along)}, s);
    turn_screw(t, form, k->own, s);
    return;
  }
  move_screw(t, (psdmp_codegen_sym){NUM(k->a), t->zero, NUM(k->e)}, s);
  psdmp_codegen_tilt(t, k, &s->e);
  psdmp_codegen_tilt(t, k, &s->v);
  psdmp_codegen_tilt(t, k, &s->r);
  move_screw(t, (psdmp_codegen_sym){t->zero, t->zero, along}, s);
  turn_screw(t, t->still, k->own, s);
}

/* force and moment that a unit of one standard parameter asks for, about the link frame's origin */
static void unit_wrench(psdmp_codegen_trace *t, const seen *s, int parameter, psdmp_codegen_sym *f,
                        psdmp_codegen_sym *n) {
  const psdmp_codegen_spin *U = &s->U;
  const psdmp_codegen_sym a = s->a, w = s->w, dw = s->dw, none = {t->zero, t->zero, t->zero};
  *f = *n = none;
  switch (parameter) {
    case 0: *f = a; break;
    case 1: *f = (psdmp_codegen_sym){U->xx, U->yx, U->zx}, *n = (psdmp_codegen_sym){t->zero, NEG(a.z), a.y}; break;
    case 2: *f = (psdmp_codegen_sym){U->xy, U->yy, U->zy}, *n = (psdmp_codegen_sym){a.z, t->zero, NEG(a.x)}; break;
    case 3: *f = (psdmp_codegen_sym){U->xz, U->yz, U->zz}, *n = (psdmp_codegen_sym){NEG(a.y), a.x, t->zero}; break;
    case 4: *n = (psdmp_codegen_sym){dw.x, MUL(w.x, w.z), NEG(MUL(w.x, w.y))}; break;
    case 5: *n = (psdmp_codegen_sym){NEG(U->zx), U->zy, NEG(U->yy_xx)}; break;
    case 6: *n = (psdmp_codegen_sym){U->yx, NEG(U->xx_zz), NEG(U->yz)}; break;
    case 7: *n = (psdmp_codegen_sym){NEG(MUL(w.y, w.z)), dw.y, MUL(w.x, w.y)}; break;
    case 8: *n = (psdmp_codegen_sym){NEG(U->zz_yy), NEG(U->xy), U->xz}; break;
    default: *n = (psdmp_codegen_sym){MUL(w.y, w.z), NEG(MUL(w.x, w.z)), dw.z}; break;
  }
}

static psdm_ref dot(psdmp_codegen_trace *t, psdmp_codegen_sym a, psdmp_codegen_sym b) {
  return ADD(ADD(MUL(a.x, b.x), MUL(a.y, b.y)), MUL(a.z, b.z));
}

/* what unit entries of S ask for: the diagonal's moment, the others are the tensor's with the other sign */
static psdmp_codegen_sym second_moment(psdmp_codegen_trace *t, const psdmp_codegen_spin *U, int i, int j) {
  static const int tensor[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  psdmp_codegen_sym f, n;
  if (i == j)
    return i == 0   ? (psdmp_codegen_sym){t->zero, NEG(U->zx), U->yx}
           : i == 1 ? (psdmp_codegen_sym){U->zy, t->zero, NEG(U->xy)}
                    : (psdmp_codegen_sym){NEG(U->yz), U->xz, t->zero};
  unit_wrench(t, &(seen){.U = *U}, tensor[i][j], &f, &n);
  return (psdmp_codegen_sym){NEG(n.x), NEG(n.y), NEG(n.z)};
}

/* one joint and one body: which of its parameters are kept, and how their columns are made */
typedef struct meeting {
  const seen *s;
  screw k;
  int joint, body;
  bool kept[10];
  bool own;    /* first moments about the own origin */
  bool moment; /* forces by their moment */
} meeting;

static psdm_ref wrench_entry(psdmp_codegen_trace *t, const meeting *m, int parameter) {
  psdmp_codegen_sym f, n;
  seen s = *m->s;
  if (m->own) s.a = s.a_own;
  unit_wrench(t, &s, parameter, &f, &n);
  if (m->moment) return dot(t, m->k.e, psdmp_codegen_sym_add(t, n, psdmp_codegen_sym_cross(t, m->k.r, f)));
  return ADD(dot(t, m->k.e, n), dot(t, m->k.v, f));
}

/* a first moment about the link frame's origin from one about the own: what moves is a second moment, p e^T + e p^T */
static psdm_ref first_moment(psdmp_codegen_trace *t, const meeting *m, int axis) {
  psdm_ref entry = wrench_entry(t, m, 1 + axis);
  for (int l = 0; l < 3 && m->own; l++) {
    double p = m->s->way[l] * (l == axis ? 2 : 1);
    if (p != 0) entry = ADD(entry, MUL(NUM(p), dot(t, m->k.e, second_moment(t, &m->s->U, axis, l))));
  }
  return entry;
}

/* XX + YY is the column of S's third diagonal entry, and so on round */
static psdm_ref diagonal(psdmp_codegen_trace *t, const meeting *m, int axis) {
  static const int tensor[3] = {4, 7, 9};
  int gene = t->choice->gene[m->body][PSDMP_CODEGEN_GENE_DIAGONAL], other = -1;
  for (int k = 0; k < 3; k++)
    if (k != axis && m->kept[tensor[k]] && (gene == 1 ? k < axis : gene == 2 && k > axis)) other = k;
  if (other < 0) return wrench_entry(t, m, tensor[axis]);
  return SUB(dot(t, m->k.e, second_moment(t, &m->s->U, 3 - axis - other, 3 - axis - other)), diagonal(t, m, other));
}

static psdm_ref column_entry(psdmp_codegen_trace *t, const meeting *m, int parameter) {
  switch (parameter) {
    case 1:
    case 2:
    case 3: return first_moment(t, m, parameter - 1);
    case 4: return diagonal(t, m, 0);
    case 7: return diagonal(t, m, 1);
    case 9: return diagonal(t, m, 2);
    default: return wrench_entry(t, m, parameter);
  }
}

/* the columns of one body in the row of one tree joint */
static void entries(psdmp_codegen_trace *t, const psdm_model *base, int columns, int b, const seen *s, int joint,
                    screw k, psdm_ref *Y) {
  const psdm_robot *r = t->chain->robot;
  meeting m = {.s = s, .joint = joint, .body = b};
  for (int j = 0; j < base->l; j++) {
    int parameter = base->base[j].parameter - 10 * r->body[b].number;
    if (parameter >= 0 && parameter < 10) m.kept[parameter] = true;
  }
  m.own = t->choice->gene[b][PSDMP_CODEGEN_GENE_COLUMN] && !m.kept[0];
  m.moment = t->choice->gene[joint][PSDMP_CODEGEN_GENE_MOMENT] && !t->chain->body[joint].prismatic;
  if (!m.own) move_screw(t, constants(t, s->frame.p), &k);
  m.k = (screw){unturn(t, s->frame.R, k.e), unturn(t, s->frame.R, k.v), unturn(t, s->frame.R, k.r)};
  for (int j = 0; j < base->l; j++) {
    int parameter = base->base[j].parameter - 10 * r->body[b].number;
    if (parameter < 0 || parameter > 9) continue;
    psdm_ref entry = column_entry(t, &m, parameter);
    for (int g = r->g_row[joint]; g < r->g_row[joint + 1]; g++) {
      psdm_ref *to = &Y[(long)r->g_col[g] * columns + j];
      *to = ADD(*to, MUL(NUM(t->chain->body[joint].sign * r->g_val[g]), entry));
    }
  }
}

/* base parameters that are drive inertias, and the columns on request */
static void drive_entries(psdmp_codegen_trace *t, const psdm_model *base, int columns, psdm_ref *Y) {
  const psdm_robot *r = t->chain->robot;
  int n = r->n, at = base->l;
  bool more = t->program->function == PSDM_F_REGRESSOR;
  for (int j = 0; j < base->l; j++) {
    int d = base->base[j].parameter - 10 * t->chain->moving;
    if (d < 0) continue;
    psdm_ref rate = t->zero;
    for (int i = 0; i < n; i++)
      rate = ADD(rate, MUL(NUM(r->drive[d].a[i]), psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QDD, i)));
    for (int i = 0; i < n; i++) Y[(long)i * columns + j] = MUL(NUM(r->drive[d].a[i]), rate);
  }
  for (int i = 0; i < n && more && t->options->friction_columns; i++) {
    psdm_ref rate = psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QD, i);
    Y[(long)i * columns + at + i] = psdm_graph_sign(t->g, rate);
    Y[(long)i * columns + at + n + i] = rate;
  }
  at += t->options->friction_columns ? 2 * n : 0;
  for (int i = 0; i < n && more && t->options->drive_columns; i++)
    Y[(long)i * columns + at + i] = psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QDD, i);
}

void psdmp_codegen_regressor(psdmp_codegen_trace *t, const psdm_model *base, psdm_ref *Y) {
  const psdmp_codegen_chain *chain = t->chain;
  int n = chain->n, columns = (int)(t->program->outputs / (size_t)(n > 0 ? n : 1));
  for (size_t i = 0; i < t->program->outputs; i++) Y[i] = t->zero;
  seen s[PSDMP_CODEGEN_CODE_JOINTS];
  for (int b = 0; b < chain->bodies; b++)
    if (!chain->body[b].held) s[b] = look(t, b);
  for (int joint = 0; joint < chain->bodies; joint++) {
    /* the joint's screw at every body behind it */
    screw at[PSDMP_CODEGEN_CODE_JOINTS];
    bool behind[PSDMP_CODEGEN_CODE_JOINTS] = {false};
    psdmp_codegen_sym axis = {t->zero, t->zero, NUM(1)}, none = {t->zero, t->zero, t->zero};
    for (int b = joint; b < chain->bodies; b++) {
      int parent = chain->body[b].parent;
      behind[b] = b == joint || (parent >= joint && behind[parent]);
      if (!behind[b]) continue;
      if (b == joint) {
        at[b] = chain->body[b].prismatic ? (screw){none, axis, none} : (screw){axis, none, none};
      } else {
        at[b] = at[parent];
        carry_screw(t, b, &at[b]);
      }
      if (!chain->body[b].held) entries(t, base, columns, b, &s[b], joint, at[b], Y);
    }
  }
  drive_entries(t, base, columns, Y);
}
