/* composite.c: the mass matrix by composite bodies (Walker and Orin 1982), in pseudo-inertia form, and the solution
 * of M x = b. */
#include <string.h>

#include "codegen/trace_priv.h"

/* S += p h^T + h p^T + m p p^T, h += m p: the origin moves by -p */
void psdmp_codegen_shift_inertia(psdmp_codegen_trace *t, psdmp_codegen_sym p, psdm_ref s[10]) {
  psdm_ref m = s[PSDMP_CODEGEN_M], hx = s[PSDMP_CODEGEN_HX], hy = s[PSDMP_CODEGEN_HY], hz = s[PSDMP_CODEGEN_HZ];
  psdmp_codegen_sym h = {ADD(hx, MUL(m, p.x)), ADD(hy, MUL(m, p.y)), ADD(hz, MUL(m, p.z))}; /* the new first moment */
  s[PSDMP_CODEGEN_SXX] = ADD(s[PSDMP_CODEGEN_SXX], MUL(p.x, ADD(hx, h.x)));
  s[PSDMP_CODEGEN_SYY] = ADD(s[PSDMP_CODEGEN_SYY], MUL(p.y, ADD(hy, h.y)));
  s[PSDMP_CODEGEN_SZZ] = ADD(s[PSDMP_CODEGEN_SZZ], MUL(p.z, ADD(hz, h.z)));
  s[PSDMP_CODEGEN_SXY] = ADD(s[PSDMP_CODEGEN_SXY], ADD(MUL(p.x, hy), MUL(p.y, h.x)));
  s[PSDMP_CODEGEN_SXZ] = ADD(s[PSDMP_CODEGEN_SXZ], ADD(MUL(p.x, hz), MUL(p.z, h.x)));
  s[PSDMP_CODEGEN_SYZ] = ADD(s[PSDMP_CODEGEN_SYZ], ADD(MUL(p.y, hz), MUL(p.z, h.y)));
  s[PSDMP_CODEGEN_HX] = h.x;
  s[PSDMP_CODEGEN_HY] = h.y;
  s[PSDMP_CODEGEN_HZ] = h.z;
}

/* P -> Rx(alpha) P Rx(alpha)^T */
void psdmp_codegen_untilt_inertia(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *body, psdm_ref s[10]) {
  psdm_ref sine = NUM(body->sa), cosine = NUM(body->ca), yy = s[PSDMP_CODEGEN_SYY], zz = s[PSDMP_CODEGEN_SZZ],
           yz = s[PSDMP_CODEGEN_SYZ];
  psdmp_codegen_sym h = {t->zero, s[PSDMP_CODEGEN_HY], s[PSDMP_CODEGEN_HZ]},
                    x = {t->zero, s[PSDMP_CODEGEN_SXY], s[PSDMP_CODEGEN_SXZ]};
  if (body->ca == 0) { /* a quarter turn: nothing but signs */
    s[PSDMP_CODEGEN_SYY] = zz;
    s[PSDMP_CODEGEN_SZZ] = yy;
    s[PSDMP_CODEGEN_SYZ] = NEG(yz);
  } else {
    psdm_ref k = ADD(MUL(SUB(yy, zz), sine), MUL(ADD(yz, yz), cosine)), ks = MUL(k, sine);
    s[PSDMP_CODEGEN_SYY] = SUB(yy, ks);
    s[PSDMP_CODEGEN_SZZ] = ADD(zz, ks);
    s[PSDMP_CODEGEN_SYZ] = SUB(MUL(k, cosine), yz);
  }
  psdmp_codegen_untilt(t, body, &h);
  psdmp_codegen_untilt(t, body, &x);
  s[PSDMP_CODEGEN_HY] = h.y;
  s[PSDMP_CODEGEN_HZ] = h.z;
  s[PSDMP_CODEGEN_SXY] = x.y;
  s[PSDMP_CODEGEN_SXZ] = x.z;
}

static void turn_between(psdmp_codegen_trace *t, const double *from, const double *to, psdm_ref s[10]) {
  double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
  bool same = true;
  psdmp_codegen_form_between(t, to, from, form);
  for (int i = 0; i <= t->chain->n; i++) same &= form[i] == 0;
  if (!same) psdmp_codegen_turn_inertia(t, form, s);
}

/* a composite inertia in a body's `at` frame as one in its parent's */
static void carry_inertia(psdmp_codegen_trace *t, int b, psdm_ref s[10]) {
  const psdmp_codegen_chain_body *body = &t->chain->body[b];
  const psdmp_codegen_trace_body *k = &t->body[b], *parent = &t->body[body->parent];
  psdm_ref along = ADD(NUM(body->parallel ? 0 : body->d),
                       body->prismatic ? psdmp_codegen_form_of(t, PSDMP_CODEGEN_IN_Q, body->slide, true) : t->zero);
  psdmp_codegen_sym up = {t->zero, t->zero, along};
  if (body->parallel) {
    turn_between(t, k->at, parent->via, s);
    psdmp_codegen_shift_inertia(t, up, s);
  } else {
    double form[PSDMP_CODEGEN_CODE_JOINTS + 1];
    psdmp_codegen_normal_frame(t, b, form);
    turn_between(t, k->at, t->still, s);
    psdmp_codegen_shift_inertia(t, up, s);
    psdmp_codegen_untilt_inertia(t, body, s);
    turn_between(t, form, parent->via, s);
  }
  psdmp_codegen_shift_inertia(t, psdmp_codegen_way(t, b), s);
  turn_between(t, parent->via, parent->at, s);
}

/* what a unit acceleration of the joint asks for: f = z x h, n = S-terms; or f = m z, n = h x z */
static void unit_wrench(psdmp_codegen_trace *t, int b, const psdm_ref s[10], psdmp_codegen_sym *f,
                        psdmp_codegen_sym *n) {
  if (t->chain->body[b].prismatic) {
    *f = (psdmp_codegen_sym){t->zero, t->zero, s[PSDMP_CODEGEN_M]};
    *n = (psdmp_codegen_sym){s[PSDMP_CODEGEN_HY], NEG(s[PSDMP_CODEGEN_HX]), t->zero};
  } else {
    *f = (psdmp_codegen_sym){NEG(s[PSDMP_CODEGEN_HY]), s[PSDMP_CODEGEN_HX], t->zero};
    *n = (psdmp_codegen_sym){NEG(s[PSDMP_CODEGEN_SXZ]), NEG(s[PSDMP_CODEGEN_SYZ]),
                             ADD(s[PSDMP_CODEGEN_SXX], s[PSDMP_CODEGEN_SYY])};
  }
}

/* entry (i, j) of the tree's mass matrix to the independent joints: G^T M G, upper triangle of tree entries, both of
 * the result */
static void spread(psdmp_codegen_trace *t, int i, int j, psdm_ref value, psdm_ref *M) {
  const psdm_robot *r = t->chain->robot;
  const psdmp_codegen_chain_body *bi = &t->chain->body[i], *bj = &t->chain->body[j];
  double scale = bi->sign * bj->sign / (bi->prismatic ? t->chain->unit : 1) / (bj->prismatic ? t->chain->unit : 1);
  for (int e = r->g_row[i]; e < r->g_row[i + 1]; e++)
    for (int c = r->g_row[j]; c < r->g_row[j + 1]; c++) {
      int row = r->g_col[e], column = r->g_col[c];
      psdm_ref part = MUL(NUM(scale * r->g_val[e] * r->g_val[c]), value), *to = &M[row * r->n + column];
      *to = ADD(*to, part);
      if (i == j) continue;
      to = &M[column * r->n + row];
      *to = ADD(*to, part);
    }
}

void psdmp_codegen_add_drives(psdmp_codegen_trace *t, psdm_ref *M) {
  const psdm_robot *r = t->chain->robot;
  for (int d = 0; d < r->drives; d++) {
    psdm_ref Ia = psdmp_codegen_inertia_entry(t, 10 * t->chain->bodies + d);
    for (int i = 0; i < r->n; i++)
      for (int j = 0; j < r->n; j++)
        M[i * r->n + j] = ADD(M[i * r->n + j], MUL(NUM(r->drive[d].a[i] * r->drive[d].a[j]), Ia));
  }
}

void psdmp_codegen_mass_matrix(psdmp_codegen_trace *t, psdm_ref *M) {
  const psdmp_codegen_chain *chain = t->chain;
  int n = chain->n;
  psdm_ref composite[PSDMP_CODEGEN_CODE_JOINTS][10];
  for (int i = 0; i < n * n; i++) M[i] = t->zero;
  for (int b = 0; b < chain->bodies; b++) psdmp_codegen_inertia_in(t, b, t->body[b].at, composite[b]);
  for (int b = chain->bodies - 1; b >= 0; b--) {
    psdm_ref s[10];
    int parent = chain->body[b].parent;
    psdmp_codegen_sym f, n3;
    unit_wrench(t, b, composite[b], &f, &n3);
    spread(t, b, b, chain->body[b].prismatic ? f.z : n3.z, M);
    for (int i = b, up = parent; up >= 0; i = up, up = chain->body[up].parent) {
      psdmp_codegen_carry_wrench(t, i, NULL, NULL, &f, &n3);
      spread(t, up, b, chain->body[up].prismatic ? f.z : n3.z, M);
    }
    if (parent < 0) continue;
    memcpy(s, composite[b], sizeof s);
    carry_inertia(t, b, s);
    for (int i = 0; i < 10; i++) composite[parent][i] = ADD(composite[parent][i], s[i]);
  }
  psdmp_codegen_add_drives(t, M);
}

/* d, or no number where it is below a share of what it was before: the root of a negative number */
static psdm_ref guarded(psdmp_codegen_trace *t, double share, psdm_ref before, psdm_ref d) {
  if (share == 0) return d;
  psdm_ref least = psdm_graph_scale(t->g, share, before), root = psdm_graph_sqrt(t->g, SUB(d, least));
  return ADD(MUL(root, root), least);
}

void psdmp_codegen_factorise(psdmp_codegen_trace *t, int n, double share, psdm_ref *M, psdm_ref *inverse) {
  psdm_ref before[PSDMP_CODEGEN_CODE_JOINTS];
  for (int k = 0; k < n; k++) before[k] = M[k * n + k];
  for (int k = n - 1; k >= 0; k--) {
    inverse[k] = psdm_graph_recip(t->g, guarded(t, share, before[k], M[k * n + k]));
    for (int i = k - 1; i >= 0; i--) {
      psdm_ref a = MUL(M[k * n + i], inverse[k]);
      for (int j = i; j >= 0; j--) M[i * n + j] = SUB(M[i * n + j], MUL(a, M[k * n + j]));
      M[i * n + k] = a;
    }
  }
}

void psdmp_codegen_solve_factors(psdmp_codegen_trace *t, int n, const psdm_ref *M, const psdm_ref *inverse,
                                 psdm_ref *x) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = k - 1; i >= 0; i--) x[i] = SUB(x[i], MUL(M[i * n + k], x[k]));
  for (int k = 0; k < n; k++) {
    x[k] = MUL(x[k], inverse[k]);
    for (int i = 0; i < k; i++) x[k] = SUB(x[k], MUL(M[i * n + k], x[i]));
  }
}

/* x = M^-1 x. M is overwritten. */
void psdmp_codegen_solve_mass(psdmp_codegen_trace *t, psdm_ref *M, psdm_ref *x) {
  psdm_ref inverse[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_factorise(t, t->chain->n, 0, M, inverse);
  psdmp_codegen_solve_factors(t, t->chain->n, M, inverse, x);
}

/* M^-1 = L^-1 D^-1 L^-T, row by row from the base: row k below the diagonal is minus L's row times what is there
 * already */
void psdmp_codegen_inverse_factors(psdmp_codegen_trace *t, int n, const psdm_ref *M, const psdm_ref *inverse,
                                   psdm_ref *Minv) {
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < k; j++) {
      psdm_ref sum = t->zero;
      for (int i = 0; i < k; i++) sum = ADD(sum, MUL(M[i * n + k], Minv[i * n + j]));
      Minv[k * n + j] = Minv[j * n + k] = NEG(sum);
    }
    psdm_ref sum = inverse[k];
    for (int i = 0; i < k; i++) sum = SUB(sum, MUL(M[i * n + k], Minv[i * n + k]));
    Minv[k * n + k] = sum;
  }
}

void psdmp_codegen_inverse_mass(psdmp_codegen_trace *t, psdm_ref *M, psdm_ref *Minv) {
  psdm_ref inverse[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_factorise(t, t->chain->n, 0, M, inverse);
  psdmp_codegen_inverse_factors(t, t->chain->n, M, inverse, Minv);
}
