/* trace.c: symbolic rotations, and how things travel between the frames of a chain. */
#include "codegen/trace_priv.h"

#include <math.h>
#include <string.h>

psdm_ref psdmp_codegen_argument(psdmp_codegen_trace *t, psdmp_codegen_block block, int index) {
  if (block == PSDMP_CODEGEN_IN_QDD && t->qdd) return t->qdd[index];
  if (block >= PSDMP_CODEGEN_IN_COUNT || index >= t->program->length[block]) return t->zero;
  return psdm_graph_input(t->g, (int)block * PSDMP_CODEGEN_BLOCK + index);
}

psdm_ref psdmp_codegen_form_of(psdmp_codegen_trace *t, psdmp_codegen_block block, const double *form, bool constant) {
  int n = t->chain->n;
  psdm_ref sum = constant ? NUM(form[n]) : t->zero;
  for (int i = 0; i < n; i++)
    if (form[i] != 0 && !(t->at_zero && block == PSDMP_CODEGEN_IN_Q))
      sum = ADD(sum, MUL(NUM(form[i]), psdmp_codegen_argument(t, block, i)));
  return sum;
}

/* ---- angles ---- */

/* (s, c) of the sum of two angles */
static void join(psdmp_codegen_trace *t, psdm_ref *s, psdm_ref *c, psdm_ref s1, psdm_ref c1) {
  psdm_ref s0 = *s, c0 = *c;
  *s = ADD(MUL(s0, c1), MUL(c0, s1));
  *c = SUB(MUL(c0, c1), MUL(s0, s1));
}

/* from the caller's sines and cosines, where the coefficients are whole */
static bool trig_given(psdmp_codegen_trace *t, const double *form, psdm_ref *s, psdm_ref *c) {
  int n = t->chain->n;
  *s = t->zero;
  *c = NUM(1);
  for (int i = 0; i < n; i++)
    if (form[i] != rint(form[i]) || fabs(form[i]) > 4) return false;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < (int)fabs(form[i]); k++) {
      psdm_ref si = psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_SINE, i),
               ci = psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_COSINE, i);
      join(t, s, c, form[i] < 0 ? psdm_ref_neg(si) : si, ci);
    }
  psdmp_robot_pose rest = psdmp_robot_pose_rotation(2, form[n]);
  join(t, s, c, NUM(rest.R[3]), NUM(rest.R[0]));
  return true;
}

void psdmp_codegen_trig(psdmp_codegen_trace *t, const double *form, psdm_ref *s, psdm_ref *c) {
  int n = t->chain->n, variables = 0;
  for (int i = 0; i < n && !t->at_zero; i++) variables += form[i] != 0;
  if (variables && t->options->sincos == PSDM_SINCOS_CALLER && trig_given(t, form, s, c)) return;
  if (!variables) {
    psdmp_robot_pose rest = psdmp_robot_pose_rotation(2, form[n]);
    *s = NUM(rest.R[3]);
    *c = NUM(rest.R[0]);
    return;
  }
  /* quarter turns leave the angle as it is */
  const double quarter = 1.57079632679489661923;
  double turns = rint(form[n] / quarter), rest = form[n] - turns * quarter;
  if (fabs(rest) < PSDMP_CODEGEN_PARALLEL) rest = 0;
  psdm_ref angle = ADD(psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, form, false), NUM(rest));
  *s = psdm_graph_sin(t->g, angle);
  *c = psdm_graph_cos(t->g, angle);
  for (int k = ((int)fmod(turns, 4) + 4) % 4; k > 0; k--) {
    psdm_ref old = *s;
    *s = *c;
    *c = psdm_ref_neg(old);
  }
}

void psdmp_codegen_into(psdmp_codegen_trace *t, const double *form, psdm_ref *x, psdm_ref *y) {
  psdm_ref s, c, x0 = *x, y0 = *y;
  psdmp_codegen_trig(t, form, &s, &c);
  *x = ADD(MUL(c, x0), MUL(s, y0));
  *y = SUB(MUL(c, y0), MUL(s, x0));
}

void psdmp_codegen_out_of(psdmp_codegen_trace *t, const double *form, psdm_ref *x, psdm_ref *y) {
  psdm_ref s, c, x0 = *x, y0 = *y;
  psdmp_codegen_trig(t, form, &s, &c);
  *x = SUB(MUL(c, x0), MUL(s, y0));
  *y = ADD(MUL(s, x0), MUL(c, y0));
}

void psdmp_codegen_form_between(const psdmp_codegen_trace *t, const double *a, const double *b, double *out) {
  for (int i = 0; i <= t->chain->n; i++) out[i] = b[i] - a[i];
}

void psdmp_codegen_turn_sym(psdmp_codegen_trace *t, const double *from, const double *to, psdmp_codegen_sym *v) {
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_form_between(t, from, to, form);
  psdmp_codegen_into(t, form, &v->x, &v->y);
}

/* ---- vectors ---- */

psdmp_codegen_sym psdmp_codegen_sym_add(psdmp_codegen_trace *t, psdmp_codegen_sym a, psdmp_codegen_sym b) {
  return (psdmp_codegen_sym){ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.z, b.z)};
}

psdmp_codegen_sym psdmp_codegen_sym_cross(psdmp_codegen_trace *t, psdmp_codegen_sym a, psdmp_codegen_sym b) {
  return (psdmp_codegen_sym){SUB(MUL(a.y, b.z), MUL(a.z, b.y)), SUB(MUL(a.z, b.x), MUL(a.x, b.z)),
                             SUB(MUL(a.x, b.y), MUL(a.y, b.x))};
}

void psdmp_codegen_tilt(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *b, psdmp_codegen_sym *v) {
  psdm_ref y = v->y, z = v->z, c = NUM(b->ca), s = NUM(b->sa);
  v->y = ADD(MUL(c, y), MUL(s, z));
  v->z = SUB(MUL(c, z), MUL(s, y));
}

void psdmp_codegen_untilt(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *b, psdmp_codegen_sym *v) {
  psdm_ref y = v->y, z = v->z, c = NUM(b->ca), s = NUM(b->sa);
  v->y = SUB(MUL(c, y), MUL(s, z));
  v->z = ADD(MUL(s, y), MUL(c, z));
}

/* ---- pseudo-inertias ---- */

void psdmp_codegen_turn_inertia(psdmp_codegen_trace *t, const double *form, psdm_ref s[10]) {
  psdm_ref sine, cosine;
  psdmp_codegen_trig(t, form, &sine, &cosine);
  psdm_ref xx = s[PSDMP_CODEGEN_SXX], yy = s[PSDMP_CODEGEN_SYY], xy = s[PSDMP_CODEGEN_SXY];
  psdm_ref k = ADD(MUL(SUB(xx, yy), sine), MUL(ADD(xy, xy), cosine)), ks = MUL(k, sine);
  s[PSDMP_CODEGEN_SXX] = SUB(xx, ks);
  s[PSDMP_CODEGEN_SYY] = ADD(yy, ks);
  s[PSDMP_CODEGEN_SXY] = SUB(MUL(k, cosine), xy);
  psdmp_codegen_out_of(t, form, &s[PSDMP_CODEGEN_SXZ], &s[PSDMP_CODEGEN_SYZ]);
  psdmp_codegen_out_of(t, form, &s[PSDMP_CODEGEN_HX], &s[PSDMP_CODEGEN_HY]);
}

void psdmp_codegen_inertia_in(psdmp_codegen_trace *t, int b, const double *frame, psdm_ref s[10]) {
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  memcpy(s, t->body[b].s, sizeof t->body[b].s);
  psdmp_codegen_form_between(t, frame, t->chain->body[b].own, form);
  bool same = true;
  for (int i = 0; i <= t->chain->n; i++) same &= form[i] == 0;
  if (same) return;
  bool tensor = t->choice->gene[b][PSDMP_CODEGEN_GENE_TENSOR]; /* whose product of inertia has the other sign */
  if (tensor) s[PSDMP_CODEGEN_SXY] = psdm_ref_neg(s[PSDMP_CODEGEN_SXY]);
  psdmp_codegen_turn_inertia(t, form, s);
  if (tensor) s[PSDMP_CODEGEN_SXY] = psdm_ref_neg(s[PSDMP_CODEGEN_SXY]);
}

/* ---- start ---- */

double psdmp_codegen_rescale(psdmp_codegen_trace *t, double unit) {
  psdmp_codegen_chain *chain = t->scaled;
  double before = chain->unit, factor = before / unit;
  for (int b = 0; b < chain->bodies && factor != 1; b++) {
    psdmp_codegen_chain_body *body = &chain->body[b];
    body->a *= factor, body->e *= factor, body->d *= factor;
    for (int i = 0; i <= chain->n; i++) body->slide[i] *= factor;
  }
  chain->unit = unit;
  return before;
}

/* the frame that a gene asks for */
static const double *frame_of(const psdmp_codegen_trace *t, int b, int gene) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  if (gene == 0) return body->own;
  return gene == 1 && body->parallel ? t->chain->body[body->parent].own : t->still;
}

/* payload (10 standard parameters about the default link's frame) in the frame of its body */
static void add_payload(psdmp_codegen_trace *t) {
  const psdm_robot *r = t->chain->robot;
  const psdmp_robot_link *link = &r->link[r->last];
  if (!t->program->length[PSDMP_CODEGEN_IN_PAYLOAD] || link->body < 0) return;
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&t->chain->body[link->body].frame),
                   frame = psdmp_robot_pose_product(&back, &link->frame);
  for (int k = 0; k < 10; k++) {
    double one[10] = {0}, p[10], size = k == 0 ? t->chain->unit * t->chain->unit : k < 4 ? t->chain->unit : 1;
    one[k] = 1;
    psdmp_codegen_to_pseudo(&frame, t->chain->unit, false, one, p);
    for (int i = 0; i < 10; i++)
      if (fabs(p[i]) > 1e-15 * size)
        t->body[link->body].s[i] =
            ADD(t->body[link->body].s[i], MUL(NUM(p[i]), psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_PAYLOAD, k)));
  }
}

psdm_ref psdmp_codegen_inertia_entry(psdmp_codegen_trace *t, int e) {
  const psdmp_codegen_inertia *in = t->inertia;
  if (!in->argument) return NUM(in->value[e]);
  psdm_ref sum = t->zero;
  for (int c = 0; c < in->columns; c++)
    if (in->value[(long)e * in->columns + c] != 0)
      sum = ADD(sum,
                MUL(NUM(in->value[(long)e * in->columns + c]), psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_THETA, c)));
  return sum;
}

void psdmp_codegen_trace_start(psdmp_codegen_trace *t, psdmp_codegen_block rate, psdmp_codegen_block acc) {
  const psdmp_codegen_chain *chain = t->chain;
  t->zero = NUM(0);
  for (int b = 0; b < chain->bodies; b++) {
    const psdmp_codegen_chain_body *body = &chain->body[b];
    psdmp_codegen_trace_body *k = &t->body[b];
    const double *moves = body->prismatic ? body->slide : body->own;
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    memcpy(form, moves, (size_t)(chain->n + 1) * sizeof *form);
    for (int i = 0; i < chain->n && body->parallel && !body->prismatic; i++)
      form[i] -= chain->body[body->parent].own[i];
    k->rate = psdmp_codegen_form_of(t, rate, form, false);
    k->acc = psdmp_codegen_form_of(t, acc, form, false);
    k->at = frame_of(t, b, t->choice->gene[b][PSDMP_CODEGEN_GENE_WRENCH]);
    k->via = frame_of(t, b, t->choice->gene[b][PSDMP_CODEGEN_GENE_CARRY]);
    if (t->choice->gene[b][PSDMP_CODEGEN_GENE_PLACE]) k->at = k->via;
    for (int i = 0; i < 10; i++) k->s[i] = psdmp_codegen_inertia_entry(t, 10 * b + i);
  }
  add_payload(t);
}

/* ---- between a body and its parent ---- */

void psdmp_codegen_normal_frame(const psdmp_codegen_trace *t, int b, double *form) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  memcpy(form, t->chain->body[body->parent].own, (size_t)(t->chain->n + 1) * sizeof *form);
  form[t->chain->n] += body->beta;
}

psdmp_codegen_sym psdmp_codegen_way(psdmp_codegen_trace *t, int b) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1], between[PSDMP_CODEGEN_CODE_JOINTS + 1];
  psdmp_codegen_sym p = {NUM(body->a), t->zero, NUM(body->e + (body->parallel ? body->d : 0))};
  psdmp_codegen_normal_frame(t, b, form);
  psdmp_codegen_form_between(t, form, t->body[body->parent].via, between);
  psdmp_codegen_into(t, between, &p.x, &p.y);
  return p;
}

/* z x f times a length */
static void lift(psdmp_codegen_trace *t, psdm_ref length, psdmp_codegen_sym f, psdmp_codegen_sym *n) {
  n->x = SUB(n->x, MUL(length, f.y));
  n->y = ADD(n->y, MUL(length, f.x));
}

void psdmp_codegen_carry_wrench(psdmp_codegen_trace *t, int b, const psdmp_codegen_sym *f0, const psdmp_codegen_sym *n0,
                                psdmp_codegen_sym *f, psdmp_codegen_sym *n) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  const psdmp_codegen_trace_body *k = &t->body[b], *parent = &t->body[body->parent];
  psdm_ref along = ADD(NUM(body->parallel ? 0 : body->d),
                       body->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, body->slide, true) : t->zero);
  if (body->parallel) {
    lift(t, along, *f, n);
    psdmp_codegen_turn_sym(t, k->at, parent->via, f);
    psdmp_codegen_turn_sym(t, k->at, parent->via, n);
  } else {
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    psdmp_codegen_turn_sym(t, k->at, t->still, f);
    psdmp_codegen_turn_sym(t, k->at, t->still, n);
    lift(t, along, *f, n);
    psdmp_codegen_untilt(t, body, f);
    psdmp_codegen_untilt(t, body, n);
    psdmp_codegen_normal_frame(t, b, form);
    psdmp_codegen_turn_sym(t, form, parent->via, f);
    psdmp_codegen_turn_sym(t, form, parent->via, n);
  }
  if (f0) *f = psdmp_codegen_sym_add(t, *f0, *f);
  if (n0) *n = psdmp_codegen_sym_add(t, *n0, *n);
  *n = psdmp_codegen_sym_add(t, *n, psdmp_codegen_sym_cross(t, psdmp_codegen_way(t, b), *f));
  psdmp_codegen_turn_sym(t, parent->via, parent->at, f);
  psdmp_codegen_turn_sym(t, parent->via, parent->at, n);
}
