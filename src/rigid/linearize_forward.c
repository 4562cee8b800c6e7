/* linearize_forward.c: the linearized forward dynamics without a mass matrix (Jain and Rodriguez 1993): Algorithm 5
 * along a direction, O(n), and Algorithm 6 as matrices, O(n^2); and the factors M = L D L^T that they use.
 *
 *   inward   P = M + sum P+,  D = h.P h + Ia,  G = P h/D,  P+ = P - G (P h)^T
 *            Ph = Mb + sum Ph+,  Gh = Ph^T h/D,  Ph+ = Ph - G (Ph^T h)^T
 *            YA = 2 (P hd + Ph h),  YB = 2 Ph hd + P hdd + h x* f
 *   outward  Z = Ups_p G,  1/D + G.Z = (M^-1)_ii,  U = (M^-1)_ii h - Z,  Ups = Ups_p + h U^T - Z h^T
 *            c = S_p^T G,  S = S_p + h (Gh - c)^T,  Qr = 2 (Gh - c)
 *            EA = 2 hd - Ups YA + 2 S h,  EB = hdd - Ups YB + 2 S hd
 *
 * A drive's inertia Ia adds to D alone: the lemmas use only the Riccati step P+ = (1 - G h^T) P. The paper's Algorithm
 * 6 is for chains; on a tree the pairs on different branches need the row of M^-1 H phi at their nearest common
 * ancestor, -W Ups. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "rigid/linearize_priv.h"

/* ---- six by six ---- */

/* out = S x */
static inline void six_times(const psdmp_rigid_six *S, const double *x, double *out) {
  const double *J = S->J, *H = S->H, *M = S->M;
  for (int i = 0; i < 3; i++) {
    static const int row[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const int *e = row[i];
    out[i] =
        J[e[0]] * x[0] + J[e[1]] * x[1] + J[e[2]] * x[2] + H[3 * i] * x[3] + H[3 * i + 1] * x[4] + H[3 * i + 2] * x[5];
    out[3 + i] = H[i] * x[0] + H[3 + i] * x[1] + H[6 + i] * x[2] + M[e[0]] * x[3] + M[e[1]] * x[4] + M[e[2]] * x[5];
  }
}

/* T = S - a b^T, which is symmetric */
static inline void six_less(const psdmp_rigid_six *S, const double *a, const double *b, psdmp_rigid_six *T) {
  for (int i = 0, e = 0; i < 3; i++)
    for (int j = i; j < 3; j++, e++) {
      T->J[e] = S->J[e] - a[i] * b[j];
      T->M[e] = S->M[e] - a[3 + i] * b[3 + j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T->H[3 * i + j] = S->H[3 * i + j] - a[i] * b[3 + j];
}

static inline void six_add(const psdmp_rigid_six *S, psdmp_rigid_six *restrict T) {
  for (int i = 0; i < 6; i++) T->J[i] += S->J[i], T->M[i] += S->M[i];
  for (int i = 0; i < 9; i++) T->H[i] += S->H[i];
}

/* out = B x for B (6 x 3) */
static inline void tall_times(const double *B, const double *x, double *out) {
  psdmp_rigid_rotate(B, x, out);
  psdmp_rigid_rotate(B + 9, x, out + 3);
}

/* out = B^T x (3) */
static inline void tall_transposed(const double *B, const double *x, double *out) {
  for (int i = 0; i < 3; i++)
    out[i] = B[i] * x[0] + B[3 + i] * x[1] + B[6 + i] * x[2] + B[9 + i] * x[3] + B[12 + i] * x[4] + B[15 + i] * x[5];
}

/* ---- inward: the articulated bodies ---- */

/* at a tip: the body's own inertia and Mb */
static inline void start_factor(const psdmp_rigid_spatial *k, psdmp_rigid_factor *f) {
  const double *c = k->c, *b = k->b;
  f->size_J = f->size_M = 0;
  memcpy(f->P.J, k->J, sizeof k->J);
  f->P.H[0] = 0, f->P.H[1] = -c[2], f->P.H[2] = c[1];
  f->P.H[3] = c[2], f->P.H[4] = 0, f->P.H[5] = -c[0];
  f->P.H[6] = -c[1], f->P.H[7] = c[0], f->P.H[8] = 0;
  f->P.M[0] = f->P.M[3] = f->P.M[5] = k->mass;
  f->P.M[1] = f->P.M[2] = f->P.M[4] = 0;
  memcpy(f->Ph, k->A, sizeof k->A);
  f->Ph[9] = 0, f->Ph[10] = b[2], f->Ph[11] = -b[1];
  f->Ph[12] = -b[2], f->Ph[13] = 0, f->Ph[14] = b[0];
  f->Ph[15] = b[1], f->Ph[16] = -b[0], f->Ph[17] = 0;
}

/* elsewhere: adds the same to what the body carries, nonzero entries only */
static inline void add_body(const psdmp_rigid_spatial *k, psdmp_rigid_factor *restrict f) {
  const double *c = k->c, *b = k->b;
  for (int i = 0; i < 6; i++) f->P.J[i] += k->J[i];
  f->P.H[1] -= c[2], f->P.H[2] += c[1];
  f->P.H[3] += c[2], f->P.H[5] -= c[0];
  f->P.H[6] -= c[1], f->P.H[7] += c[0];
  f->P.M[0] += k->mass, f->P.M[3] += k->mass, f->P.M[5] += k->mass;
  for (int i = 0; i < 9; i++) f->Ph[i] += k->A[i];
  f->Ph[10] += b[2], f->Ph[11] -= b[1];
  f->Ph[12] -= b[2], f->Ph[14] += b[0];
  f->Ph[15] += b[1], f->Ph[16] -= b[0];
}

/* Inertias here are about one point for all bodies. Where a joint's own inertia is so much smaller than the one about
 * that point, or than those subtracted by joints behind it (links whose sizes differ a thousandfold), it has lost its
 * digits: the dense route keeps them. Arms have 3 to 12 bits. */
enum { MOST_BITS = 12 };

/* the binary exponent: compares the sizes of two numbers without a multiplication */
static inline int exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 52 & 0x7FF);
}

static inline int larger(int a, int b) { return a > b ? a : b; }

/* the scale of rounding errors in J and M: their largest entries, here and behind this joint */
static inline void note_sizes(psdmp_rigid_factor *f, psdmp_rigid_factor *restrict parent) {
  const double *J = f->P.J, *M = f->P.M;
  f->size_J = larger(f->size_J, exponent_of(fmax(J[0], fmax(J[3], J[5]))));
  f->size_M = larger(f->size_M, exponent_of(fmax(M[0], fmax(M[3], M[5]))));
  if (!parent) return;
  parent->size_J = f->last ? f->size_J : larger(parent->size_J, f->size_J);
  parent->size_M = f->last ? f->size_M : larger(parent->size_M, f->size_M);
}

/* whether h.P h has kept its digits compared with its terms */
static inline bool kept_digits(const psdmp_rigid_spatial *k, const psdmp_rigid_factor *f) {
  const double *h = k->h;
  bool turns = h[0] != 0 || h[1] != 0 || h[2] != 0;
  double speed = fmax(fabs(h[3]), fmax(fabs(h[4]), fabs(h[5])));
  int size = speed > 0 ? f->size_M + 2 * (exponent_of(speed) - exponent_of(1)) : 0;
  return (turns ? larger(size, f->size_J) : size) - exponent_of(f->D) <= MOST_BITS;
}

/* D, G, Gh of a joint; the rest of P and Ph goes to its parent; false when D is not positive, or has lost its digits */
static inline bool resolve(const psdmp_rigid_spatial *k, double drive, psdmp_rigid_factor *f,
                           psdmp_rigid_factor *restrict parent) {
  double Ph[6], row[3];
  six_times(&f->P, k->h, Ph);
  f->D = psdmp_rigid_dot6(k->h, Ph) + drive;
  f->g = 1 / f->D;
  for (int i = 0; i < 6; i++) f->G[i] = f->g * Ph[i];
  note_sizes(f, parent);
  bool sound = f->D > 0 && kept_digits(k, f);
  if (!parent) return sound;
  tall_transposed(f->Ph, k->h, row);
  psdmp_rigid_six left;
  double bar[18];
  six_less(&f->P, f->G, Ph, &left);
  for (int i = 0; i < 3; i++) f->Gh[i] = f->g * row[i];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 3; j++) bar[3 * i + j] = f->Ph[3 * i + j] - f->G[i] * row[j];
  if (f->last) { /* the first to reach its parent */
    parent->P = left;
    memcpy(parent->Ph, bar, sizeof bar);
  } else {
    six_add(&left, &parent->P);
    for (int i = 0; i < 18; i++) parent->Ph[i] += bar[i];
  }
  return sound;
}

/* f of all that each joint carries, P, D, G, Ph, Gh; false where the dense route is needed */
static bool factorise(const psdm_robot *r, psdm_linear *l) {
  for (int b = r->bodies - 1; b >= 0; b--) {
    int parent = r->body[b].parent;
    if (l->factor[b].tip) start_factor(&l->spatial[b], &l->factor[b]);
    else add_body(&l->spatial[b], &l->factor[b]);
    if (!resolve(&l->spatial[b], r->body_drive[b], &l->factor[b], parent < 0 ? NULL : &l->factor[parent])) return false;
    if (parent < 0) continue;
    for (int i = 0; i < 6; i++) l->spatial[parent].f[i] += l->spatial[b].f[i];
  }
  return true;
}

/* ---- Algorithm 5 ---- */

/* z = sum z+ + P x + Ph t + dq h x* f with x = 2 hd dqd + hdd dq, t = 2 (h dqd + hd dq)'s angular part; eps = dtau -
 * h.z */
static inline void gather_change(const psdmp_rigid_spatial *k, double dq, double dtau, psdmp_rigid_factor *f) {
  double inertia[6], bar[6], force[6];
  six_times(&f->P, f->x, inertia);
  tall_times(f->Ph, f->t, bar);
  psdmp_rigid_cross_force(k->h, k->f, force);
  for (int i = 0; i < 6; i++) {
    double own = inertia[i] + bar[i] + force[i] * dq;
    f->z[i] = f->tip ? own : f->z[i] + own;
  }
  f->eps = dtau - psdmp_rigid_dot6(k->h, f->z);
}

static void sweep_in(const psdm_robot *r, psdm_linear *l, const double *dq, const double *dqd, const double *dtau) {
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_rigid_spatial *k = &l->spatial[b];
    psdmp_rigid_factor *f = &l->factor[b];
    double twice_qd = 2 * dqd[b], twice_q = 2 * dq[b];
    for (int i = 0; i < 6; i++) f->x[i] = k->hd[i] * twice_qd + k->hdd[i] * dq[b];
    for (int i = 0; i < 3; i++) f->t[i] = k->h[i] * twice_qd + k->hd[i] * twice_q;
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    psdmp_rigid_factor *f = &l->factor[b];
    gather_change(&l->spatial[b], dq[b], dtau[b], f);
    if (r->body[b].parent < 0) continue;
    double *z = l->factor[r->body[b].parent].z;
    for (int i = 0; i < 6; i++) {
      double passed = f->z[i] + f->G[i] * f->eps;
      z[i] = f->last ? passed : z[i] + passed;
    }
  }
}

/* x becomes the perturbed acceleration beta, t twice the perturbed angular velocity theta */
static void sweep_out(const psdm_robot *r, psdm_linear *l, double *dqdd) {
  for (int b = 0; b < r->bodies; b++) {
    psdmp_rigid_factor *f = &l->factor[b];
    const psdmp_rigid_factor *parent = r->body[b].parent < 0 ? NULL : &l->factor[r->body[b].parent];
    dqdd[b] = f->eps * f->g;
    if (parent) dqdd[b] -= psdmp_rigid_dot(f->Gh, parent->t) + psdmp_rigid_dot6(f->G, parent->x);
    for (int i = 0; i < 6; i++) f->x[i] += l->spatial[b].h[i] * dqdd[b];
    if (!parent) continue;
    for (int i = 0; i < 6; i++) f->x[i] += parent->x[i];
    for (int i = 0; i < 3; i++) f->t[i] += parent->t[i];
  }
}

psdm_status psdm_linear_forward_along(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                      const double *qdd, const double *dq, const double *dqd, const double *dtau,
                                      double *dqdd) {
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  bool plain = psdmp_rigid_linear_plain(r);
  if (plain) psdmp_rigid_spatial_set(r, l, q, qd, qdd);
  if (!plain || !factorise(r, l)) return psdm_linear_forward_along_dense(r, l, q, qd, qdd, dq, dqd, dtau, dqdd);
  /* rates and torques expand alike without couplings */
  sweep_in(r, l, psdmp_rigid_expand_rate(r, dq ? dq : l->zero, l->direction[0]),
           psdmp_rigid_expand_rate(r, dqd ? dqd : l->zero, l->direction[1]),
           psdmp_rigid_expand_rate(r, dtau ? dtau : l->zero, l->direction[2]));
  sweep_out(r, l, l->tree);
  psdmp_rigid_restrict(r, l->tree, dqdd);
  return PSDM_OK;
}

/* ---- Algorithm 6 ---- */

static inline void set_Y(const psdmp_rigid_spatial *k, psdmp_rigid_factor *f) {
  double bar[6];
  six_times(&f->P, k->hd, f->YA);
  tall_times(f->Ph, k->h, bar);
  for (int i = 0; i < 6; i++) f->YA[i] = 2 * (f->YA[i] + bar[i]);
  double inertia[6];
  six_times(&f->P, k->hdd, inertia);
  tall_times(f->Ph, k->hd, bar);
  psdmp_rigid_cross_force(k->h, k->f, f->YB);
  for (int i = 0; i < 6; i++) f->YB[i] += inertia[i] + 2 * bar[i];
}

/* S and Ups of the body at the root of a tree */
static inline double start_root(const psdmp_rigid_spatial *k, psdmp_rigid_factor *f) {
  static const psdmp_rigid_six none;
  double less[6];
  for (int i = 0; i < 6; i++) f->U[i] = f->g * k->h[i], less[i] = -f->U[i];
  six_less(&none, k->h, less, &f->Ups);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 3; j++) f->S[3 * i + j] = k->h[i] * f->Gh[j];
  return f->g;
}

/* Ups = Ups_p + h U^T - Z h^T, S = S_p + h (Gh - c)^T; returns the diagonal of M^-1 */
static inline double extend(const psdmp_rigid_spatial *k, const psdmp_rigid_factor *parent, psdmp_rigid_factor *f) {
  double Z[6], c[3], less[6], diagonal;
  six_times(&parent->Ups, f->G, Z);
  diagonal = f->g + psdmp_rigid_dot6(f->G, Z);
  for (int i = 0; i < 6; i++) f->U[i] = diagonal * k->h[i] - Z[i], less[i] = -f->U[i];
  six_less(&parent->Ups, Z, k->h, &f->Ups);
  six_less(&f->Ups, k->h, less, &f->Ups);
  tall_transposed(parent->S, f->G, c);
  for (int j = 0; j < 3; j++) c[j] = f->Gh[j] - c[j], f->Qr[j] = 2 * c[j];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 3; j++) f->S[3 * i + j] = parent->S[3 * i + j] + k->h[i] * c[j];
  return diagonal;
}

static inline void set_E(const psdmp_rigid_spatial *k, psdmp_rigid_factor *f) {
  double taken[6], added[6];
  six_times(&f->Ups, f->YA, taken);
  tall_times(f->S, k->h, added);
  for (int i = 0; i < 6; i++) f->EA[i] = 2 * (k->hd[i] + added[i]) - taken[i];
  six_times(&f->Ups, f->YB, taken);
  tall_times(f->S, k->hd, added);
  for (int i = 0; i < 6; i++) f->EB[i] = k->hdd[i] - taken[i] + 2 * added[i];
}

/* Output matrices; each may be NULL. */
typedef struct target {
  double *B, *A, *Minv;
} target;

static inline void put(const psdm_robot *r, int i, int j, double value, double *X) {
  if (X) X[(long)psdmp_rigid_joint_of(r, i) * r->n + psdmp_rigid_joint_of(r, j)] = value;
}

/* row i at its ancestors; where one of them branches, the row of M^-1 H phi there. Marks the path. */
static inline void climb(const psdm_robot *r, psdm_linear *l, int i, const target *out) {
  const double *Qr = l->factor[i].Qr;
  double W[6];
  memcpy(W, l->factor[i].G, sizeof W);
  for (int a = r->body[i].parent; a >= 0; a = r->body[a].parent) {
    const psdmp_rigid_spatial *k = &l->spatial[a];
    psdmp_rigid_factor *f = &l->factor[a];
    put(r, i, a, -(psdmp_rigid_dot6(W, f->EA) + psdmp_rigid_dot(Qr, k->h)), out->A);
    put(r, i, a, -(psdmp_rigid_dot6(W, f->EB) + psdmp_rigid_dot(Qr, k->hd)), out->B);
    if (f->branches) {
      six_times(&f->Ups, W, f->row);
      for (int e = 0; e < 6; e++) f->row[e] = -f->row[e];
    }
    l->mark[a] = i;
    if (r->body[a].parent < 0) break; /* W is not needed further */
    double t = psdmp_rigid_dot6(W, k->h);
    for (int e = 0; e < 6; e++) W[e] -= t * f->G[e];
  }
}

/* row i at every body that is not its ancestor, outward from i and from branching ancestors; other trees of the
 * forest have zeros */
static inline void descend(const psdm_robot *r, psdm_linear *l, int i, const target *out) {
  for (int j = 0; j < r->bodies; j++) {
    int parent = r->body[j].parent;
    if (l->mark[j] == i) continue;
    if (parent < 0 || l->mark[parent] == -1 - i) {
      l->mark[j] = -1 - i; /* another tree */
      continue;
    }
    psdmp_rigid_factor *f = &l->factor[j];
    const psdmp_rigid_factor *from = &l->factor[parent];
    double t = psdmp_rigid_dot6(from->row, f->G);
    for (int e = 0; e < 6; e++) f->row[e] = from->row[e] - t * l->spatial[j].h[e];
    put(r, i, j, -psdmp_rigid_dot6(f->row, f->YA), out->A);
    put(r, i, j, -psdmp_rigid_dot6(f->row, f->YB), out->B);
    if (j > i) put(r, i, j, -t, out->Minv);
  }
}

/* fills the other triangle, in squares that stay in the cache */
static void mirror(const psdm_robot *r, double *X) {
  enum { SIDE = 16 };
  int n = r->bodies;
  for (int top = 0; top < n; top += SIDE)
    for (int left = 0; left <= top; left += SIDE)
      for (int i = top; i < top + SIDE && i < n; i++)
        for (int j = left; j < left + SIDE && j < i; j++)
          put(r, i, j, X[(long)psdmp_rigid_joint_of(r, j) * r->n + psdmp_rigid_joint_of(r, i)], X);
}

static void draw_row(const psdm_robot *r, psdm_linear *l, int i, double diagonal, const target *out) {
  psdmp_rigid_factor *f = &l->factor[i];
  put(r, i, i, diagonal, out->Minv);
  put(r, i, i, -psdmp_rigid_dot6(f->U, f->YA), out->A);
  put(r, i, i, -psdmp_rigid_dot6(f->U, f->YB), out->B);
  climb(r, l, i, out);
  memcpy(f->row, f->U, sizeof f->row);
  l->mark[i] = i;
  descend(r, l, i, out);
}

psdm_status psdm_linearize_forward_at(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                      const double *qdd, double *dqdd_dq, double *dqdd_dqd, double *Minv) {
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  bool plain = psdmp_rigid_linear_plain(r);
  if (plain) psdmp_rigid_spatial_set(r, l, q, qd, qdd);
  if (!plain || !factorise(r, l)) return psdm_linearize_forward_dense(r, l, q, qd, qdd, dqdd_dq, dqdd_dqd, Minv);
  const target out = {dqdd_dq, dqdd_dqd, Minv};
  size_t bytes = sizeof *Minv * (size_t)r->n * (size_t)r->n;
  for (int k = 0; k < 3; k++) {
    double *X = k == 0 ? dqdd_dq : k == 1 ? dqdd_dqd : Minv;
    if (X) memset(X, 0, bytes);
  }
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_rigid_spatial *k = &l->spatial[b];
    psdmp_rigid_factor *f = &l->factor[b];
    int parent = r->body[b].parent;
    set_Y(k, f);
    l->tree[b] = parent < 0 ? start_root(k, f) : extend(k, &l->factor[parent], f);
    set_E(k, f);
    l->mark[b] = r->bodies;
  }
  for (int b = 0; b < r->bodies; b++) draw_row(r, l, b, l->tree[b], &out);
  if (Minv) mirror(r, Minv);
  return PSDM_OK;
}

psdm_status psdm_linearize_forward(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                   const double *tau, double *dqdd_dq, double *dqdd_dqd, double *Minv) {
  double *qdd = l->vector;
  psdm_status status = psdmp_rigid_linear_check(r);
  if (!status) status = psdm_forward(r, l->work, q, qd, tau, qdd);
  return status ? status : psdm_linearize_forward_at(r, l, q, qd, qdd, dqdd_dq, dqdd_dqd, Minv);
}

/* ---- innovations ---- */

/* L_aj = h_a.G_j and (L^-1)_aj = -h_a.W, W = psi G_j, at the ancestors a of j */
static void put_innovation(const psdm_robot *r, const psdm_linear *l, int j, double *L, double *L_inverse) {
  double W[6];
  memcpy(W, l->factor[j].G, sizeof W);
  put(r, j, j, 1, L);
  put(r, j, j, 1, L_inverse);
  for (int a = r->body[j].parent; a >= 0; a = r->body[a].parent) {
    double t = psdmp_rigid_dot6(l->spatial[a].h, W);
    put(r, a, j, psdmp_rigid_dot6(l->spatial[a].h, l->factor[j].G), L);
    put(r, a, j, -t, L_inverse);
    for (int e = 0; e < 6; e++) W[e] -= t * l->factor[a].G[e];
  }
}

/* M = L D L^T with L unit upper triangular, from the last column to the first; M is overwritten */
static bool factorise_dense(int n, double *M, double *L, double *D) {
  for (int j = n - 1; j >= 0; j--) {
    D[j] = M[(long)j * n + j];
    if (!(D[j] > 0)) return false;
    for (int i = 0; i <= j; i++) L[(long)i * n + j] = M[(long)i * n + j] / D[j];
    for (int i = 0; i < j; i++)
      for (int k = 0; k < j; k++) M[(long)i * n + k] -= L[(long)i * n + j] * D[j] * L[(long)k * n + j];
  }
  return true;
}

/* columns of L^-1 by back substitution */
static void invert_unit(int n, const double *L, double *inverse) {
  for (int j = 0; j < n; j++) {
    inverse[(long)j * n + j] = 1;
    for (int i = j - 1; i >= 0; i--)
      for (int k = i + 1; k <= j; k++) inverse[(long)i * n + j] -= L[(long)i * n + k] * inverse[(long)k * n + j];
  }
}

psdm_status psdm_innovations(const psdm_robot *r, psdm_linear *l, const double *q, double *L, double *L_inverse,
                             double *D) {
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  size_t bytes = sizeof *L * (size_t)r->n * (size_t)r->n;
  if (L) memset(L, 0, bytes);
  if (L_inverse) memset(L_inverse, 0, bytes);
  bool plain = psdmp_rigid_linear_plain(r);
  if (plain) psdmp_rigid_spatial_set(r, l, q, l->zero, l->zero);
  if (!plain || !factorise(r, l)) {
    double *factor = L ? L : l->A, *diagonal = D ? D : l->vector;
    if (!L) memset(factor, 0, bytes);
    if ((status = psdm_mass(r, l->work, q, l->M))) return status;
    if (!factorise_dense(r->n, l->M, factor, diagonal)) return PSDM_E_SINGULAR;
    if (L_inverse) invert_unit(r->n, factor, L_inverse);
    return PSDM_OK;
  }
  for (int b = 0; b < r->bodies; b++) {
    put_innovation(r, l, b, L, L_inverse);
    if (D) D[psdmp_rigid_joint_of(r, b)] = l->factor[b].D;
  }
  return PSDM_OK;
}
