/* places.c: where links are, how fast they move per joint, and how high their masses lie. */
#include <math.h>

#include "codegen/trace_priv.h"

/* the bodies from the base to a body */
static int path_to(const psdmp_codegen_chain *chain, int body, int *path) {
  int count = 0;
  for (int b = body; b >= 0; b = chain->body[b].parent) count++;
  for (int b = body, k = count; b >= 0; b = chain->body[b].parent) path[--k] = b;
  return count;
}

static void times_base(psdmp_codegen_trace *t, const double *R, psdmp_codegen_sym *v) {
  psdm_ref in[3] = {v->x, v->y, v->z}, out[3];
  for (int i = 0; i < 3; i++) {
    out[i] = t->zero;
    for (int j = 0; j < 3; j++) out[i] = ADD(out[i], MUL(NUM(R[3 * i + j]), in[j]));
  }
  *v = (psdmp_codegen_sym){out[0], out[1], out[2]};
}

/* a vector of a body's own frame in the base frame, step by step inward; a point also moves by the origins (metres),
 * counted from the first joint */
static psdmp_codegen_sym to_base(psdmp_codegen_trace *t, int body, psdmp_codegen_sym v, bool point) {
  const psdmp_codegen_chain *chain = t->chain;
  const double *frame = chain->body[body].own;
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  for (int b = body;; b = chain->body[b].parent) {
    const psdmp_codegen_chain_body *k = &chain->body[b];
    if (point)
      v.z = ADD(v.z,
                ADD(NUM(k->d), k->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, k->slide, true) : t->zero));
    if (k->parent < 0) {
      psdmp_codegen_turn_sym(t, frame, t->still, &v);
      times_base(t, k->minus.R, &v);
      return v;
    }
    psdmp_codegen_normal_frame(t, b, form);
    if (!k->parallel) {
      psdmp_codegen_turn_sym(t, frame, t->still, &v);
      psdmp_codegen_untilt(t, k, &v);
      frame = form;
    }
    if (point && (k->a != 0 || k->e != 0)) {
      psdmp_codegen_turn_sym(t, frame, form, &v);
      v.x = ADD(v.x, NUM(k->a));
      v.z = ADD(v.z, NUM(k->e));
      frame = form;
    }
    psdmp_codegen_turn_sym(t, frame, k->beta == 0 && frame == form ? form : chain->body[k->parent].own, &v);
    frame = chain->body[k->parent].own;
  }
}

/* the link's frame in the frame of its body */
static psdmp_robot_pose link_frame(const psdmp_codegen_trace *t, int joint) {
  const psdm_robot *r = t->chain->robot;
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&t->chain->body[r->link[joint].body].frame),
                   frame = psdmp_robot_pose_product(&back, &r->link[joint].frame);
  for (int i = 0; i < 9; i++)
    if (fabs(frame.R[i]) < 1e-15) frame.R[i] = 0;
  for (int i = 0; i < 3; i++)
    if (fabs(frame.p[i]) < 1e-15 * t->chain->reach) frame.p[i] = 0;
  return frame;
}

static void store(psdmp_codegen_sym v, psdm_ref *to, int step) {
  to[0] = v.x;
  to[step] = v.y;
  to[2 * step] = v.z;
}

void psdmp_codegen_pose_symbols(psdmp_codegen_trace *t, int joint, psdm_ref *X) {
  const psdmp_robot_link *link = &t->chain->robot->link[joint];
  if (link->body < 0) {
    for (int i = 0; i < 3; i++) X[i] = NUM(link->frame.p[i]);
    for (int i = 0; i < 9; i++) X[3 + i] = NUM(link->frame.R[i]);
    return;
  }
  psdmp_robot_pose frame = link_frame(t, joint);
  int root = link->body;
  while (t->chain->body[root].parent >= 0) root = t->chain->body[root].parent;
  const double *p = t->chain->body[root].minus.p;
  psdmp_codegen_sym place =
      to_base(t, link->body, (psdmp_codegen_sym){NUM(frame.p[0]), NUM(frame.p[1]), NUM(frame.p[2])}, true);
  store(psdmp_codegen_sym_add(t, place, (psdmp_codegen_sym){NUM(p[0]), NUM(p[1]), NUM(p[2])}), X, 1);
  /* two columns turned, the third is their cross product, or turned too: the graph keeps what is shared */
  psdmp_codegen_sym column[3];
  for (int c = 0; c < 3; c++)
    column[c] =
        to_base(t, link->body, (psdmp_codegen_sym){NUM(frame.R[c]), NUM(frame.R[3 + c]), NUM(frame.R[6 + c])}, false);
  for (int c = 0; c < 3; c++) store(column[c], X + 3 + c, 3);
}

void psdmp_codegen_jacobian_symbols(psdmp_codegen_trace *t, int joint, psdm_ref *J) {
  const psdm_robot *r = t->chain->robot;
  const psdmp_robot_link *link = &r->link[joint];
  int path[PSDMP_CODEGEN_CODE_JOINTS], n = r->n;
  for (int i = 0; i < 6 * n; i++) J[i] = t->zero;
  if (link->body < 0) return;
  psdmp_robot_pose frame = link_frame(t, joint);
  psdmp_codegen_sym tip =
      to_base(t, link->body, (psdmp_codegen_sym){NUM(frame.p[0]), NUM(frame.p[1]), NUM(frame.p[2])}, true);
  int count = path_to(t->chain, link->body, path);
  for (int k = 0; k < count; k++) {
    int b = path[k];
    psdmp_codegen_sym axis = to_base(t, b, (psdmp_codegen_sym){t->zero, t->zero, NUM(1)}, false), linear = axis,
                      angular = {t->zero, t->zero, t->zero};
    if (!r->body[b].prismatic) {
      psdmp_codegen_sym at = to_base(t, b, (psdmp_codegen_sym){t->zero, t->zero, t->zero}, true);
      linear =
          psdmp_codegen_sym_cross(t, axis, (psdmp_codegen_sym){SUB(tip.x, at.x), SUB(tip.y, at.y), SUB(tip.z, at.z)});
      angular = axis;
    }
    psdm_ref column[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++)
      for (int i = 0; i < 6; i++) {
        psdm_ref *to = &J[i * n + r->g_col[e]];
        *to = ADD(*to, MUL(NUM(t->chain->body[b].sign * r->g_val[e]), column[i]));
      }
  }
}

/* first moment of all bodies in the base frame, carried inward; SI units */
static void first_moment(psdmp_codegen_trace *t, psdm_ref *m, psdmp_codegen_sym *h, psdm_ref out[3]) {
  const psdmp_codegen_chain *chain = t->chain;
  for (int i = 0; i < 3; i++) out[i] = t->zero;
  for (int b = chain->bodies - 1; b >= 0; b--) {
    const psdmp_codegen_chain_body *k = &chain->body[b];
    psdm_ref along =
        ADD(NUM(k->d), k->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, k->slide, true) : t->zero);
    psdmp_codegen_sym v = h[b];
    v.z = ADD(v.z, MUL(m[b], along));
    if (k->parent < 0) {
      psdmp_codegen_turn_sym(t, k->own, t->still, &v);
      times_base(t, k->minus.R, &v);
      psdm_ref part[3] = {v.x, v.y, v.z};
      for (int i = 0; i < 3; i++) {
        psdm_ref moment =
            ADD(MUL(NUM(1 / chain->unit), part[i]), MUL(NUM(k->minus.p[i] / (chain->unit * chain->unit)), m[b]));
        out[i] = ADD(out[i], moment);
      }
      continue;
    }
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    psdmp_codegen_normal_frame(t, b, form);
    psdmp_codegen_turn_sym(t, k->own, k->parallel ? form : t->still, &v);
    if (!k->parallel) psdmp_codegen_untilt(t, k, &v);
    v.x = ADD(v.x, MUL(m[b], NUM(k->a)));
    v.z = ADD(v.z, MUL(m[b], NUM(k->e)));
    psdmp_codegen_turn_sym(t, form, chain->body[k->parent].own, &v);
    m[k->parent] = ADD(m[k->parent], m[b]);
    h[k->parent] = psdmp_codegen_sym_add(t, h[k->parent], v);
  }
}

/* the robot's own first moment at q = 0, in the base frame */
static void moment_at_zero(const psdm_robot *r, double H[3]) {
  psdmp_robot_pose at[PSDMP_CODEGEN_CODE_JOINTS];
  H[0] = H[1] = H[2] = 0;
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_robot_pose moved =
        body->prismatic ? psdmp_robot_pose_translation(0, 0, r->c[b]) : psdmp_robot_pose_rotation(2, r->c[b]);
    moved = psdmp_robot_pose_product(&body->joint, &moved);
    at[b] = body->parent < 0 ? moved : psdmp_robot_pose_product(&at[body->parent], &moved);
    for (int i = 0; i < 3; i++)
      H[i] += body->pi[0] * at[b].p[i] + at[b].R[3 * i] * body->pi[1] + at[b].R[3 * i + 1] * body->pi[2] +
              at[b].R[3 * i + 2] * body->pi[3];
  }
}

/* U = -g . first moment. The zeros of the inertias moved it by a constant, which comes back here: it is the robot's
 * own at q = 0, or, with base parameters alone, zero there. */
psdm_ref psdmp_codegen_potential(psdmp_codegen_trace *t) {
  const psdmp_codegen_chain *chain = t->chain;
  const psdm_robot *r = chain->robot;
  psdm_ref m[PSDMP_CODEGEN_CODE_JOINTS], now[3], start[3], U = t->zero;
  psdmp_codegen_sym h[PSDMP_CODEGEN_CODE_JOINTS];
  double H[3] = {0, 0, 0};
  for (int pass = 0; pass < 2; pass++) {
    for (int b = 0; b < chain->bodies; b++) {
      psdm_ref s[4];
      for (int i = 0; i < 4; i++) s[i] = pass ? psdmp_codegen_inertia_entry(t, 10 * b + i) : t->body[b].s[i];
      m[b] = s[0];
      h[b] = (psdmp_codegen_sym){s[1], s[2], s[3]};
    }
    t->at_zero = pass == 1;
    first_moment(t, m, h, pass ? start : now);
  }
  t->at_zero = false;
  if (!t->inertia->argument && psdm_robot_ready(r, NULL) == PSDM_OK) moment_at_zero(r, H);
  for (int i = 0; i < 3; i++) {
    psdm_ref g = t->program->length[PSDMP_CODEGEN_IN_GRAVITY] ? psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_GRAVITY, i)
                                                              : NUM(r->gravity[i]);
    U = SUB(U, MUL(g, ADD(now[i], SUB(NUM(H[i]), start[i]))));
  }
  return U;
}
