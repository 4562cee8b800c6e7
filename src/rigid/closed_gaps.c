/* closed_gaps.c: the gaps of closed loops, their derivatives, and the linear systems that these make.
 *
 * A point P behind joints 1 ... k moves like the tip of an arm: joint i turns or shifts what is behind it. With T_S(i)
 * the derivative along the directions S of what joints i ... k add, and u the direction's rate of joint i,
 *
 *   T_S(i) = sum over A in S of (product of the rates of A) z_i x ( ... x T_(S - A)(i + 1)),  |A| factors z_i x,
 *
 * where T of no directions is the arm from joint i to P. A joint that slides adds u z_i to the first derivatives. */
#include <math.h>
#include <string.h>

#include "rigid/closed_priv.h"

/* One end of a loop: the body that carries it, -1: the base, and the point on it. Positions are relative to the first
 * joint. */
typedef struct end {
  int body;
  double at[3], sign;
} end;

static end end_of(const psdm_robot *r, const psdmp_rigid_closed_work *w, int loop, int side) {
  const psdm_robot *tree = r->closure->tree;
  const psdmp_robot_loop *l = &r->closure->loop[loop];
  const psdmp_robot_link *link = &tree->link[l->joint[side]];
  end e = {.body = link->body, .sign = side ? -1 : 1};
  double local[3];
  psdmp_rigid_rotate(link->frame.R, l->point[side], local);
  for (int i = 0; i < 3; i++) local[i] += link->frame.p[i];
  if (e.body < 0) {
    for (int i = 0; i < 3; i++) e.at[i] = local[i] - tree->body[0].joint.p[i];
    return e;
  }
  const double *world = w->tree->world + 12 * e.body;
  psdmp_rigid_rotate(world, local, e.at);
  for (int i = 0; i < 3; i++) e.at[i] += world[9 + i];
  return e;
}

/* a body's axis, and the arm from its joint to the point */
static void axis_and_arm(const psdmp_rigid_closed_work *w, const end *e, int b, double z[3], double arm[3]) {
  const double *world = w->tree->world + 12 * b;
  for (int i = 0; i < 3; i++) z[i] = world[3 * i + 2], arm[i] = e->at[i] - world[9 + i];
}

/* ---- the gaps and their first derivative ---- */

static void add_columns(const psdm_robot *tree, const psdmp_rigid_closed_work *w, const end *e, double *A) {
  for (int b = e->body; b >= 0; b = tree->body[b].parent) {
    double z[3], arm[3], column[3];
    axis_and_arm(w, e, b, z, arm);
    if (tree->body[b].prismatic) memcpy(column, z, sizeof column);
    else psdmp_rigid_cross(z, arm, column);
    for (int g = tree->g_row[b]; g < tree->g_row[b + 1]; g++)
      for (int i = 0; i < 3; i++) A[(long)i * tree->n + tree->g_col[g]] += e->sign * tree->g_val[g] * column[i];
  }
}

void psdmp_rigid_closed_gaps(const psdm_robot *r, psdmp_rigid_closed_work *w, bool derivative) {
  const psdmp_robot_closure *c = r->closure;
  int N = c->tree->n;
  psdmp_rigid_set_arms(c->tree, w->tree, w->q);
  memset(w->gap, 0, sizeof *w->gap * 3 * (size_t)c->loops);
  if (derivative) memset(w->A, 0, sizeof *w->A * 3 * (size_t)c->loops * (size_t)N);
  for (int l = 0; l < c->loops; l++)
    for (int side = 0; side < 2; side++) {
      end e = end_of(r, w, l, side);
      for (int i = 0; i < 3; i++) w->gap[3 * l + i] += e.sign * e.at[i];
      if (derivative) add_columns(c->tree, w, &e, w->A + 3L * l * N);
    }
}

/* ---- higher derivatives along directions ---- */

/* out += scale z x v */
static void add_turned(const double z[3], const double v[3], double scale, double out[3]) {
  double turned[3];
  psdmp_rigid_cross(z, v, turned);
  for (int i = 0; i < 3; i++) out[i] += scale * turned[i];
}

/* Derivatives of the point's position along three directions and their pairs: T[S], S as bits. */
typedef struct jet {
  double T[8][3];
} jet;

/* T[S] of one more joint, the largest sets first since each needs the old values of its subsets */
static void extend(jet *j, int directions, const double z[3], const double arm[3], const double rate[3]) {
  for (int S = (1 << directions) - 1; S > 0; S--) {
    double inner[3][3] = {{0}}; /* by the number of factors z x outside, less one */
    for (int A = S; A > 0; A = (A - 1) & S) {
      int factors = 0;
      double product = 1;
      for (int i = 0; i < 3; i++)
        if (A >> i & 1) product *= rate[i], factors++;
      const double *rest = S == A ? arm : j->T[S & ~A];
      if (product == 0) continue;
      add_turned(z, rest, product, inner[factors - 1]);
    }
    add_turned(z, inner[2], 1, inner[1]);
    double both[3] = {0};
    psdmp_rigid_cross(z, inner[1], both);
    for (int i = 0; i < 3; i++) j->T[S][i] += inner[0][i] + both[i];
  }
}

/* out (e) = derivatives along the first `directions` directions in w->along */
static void derive(const psdm_robot *r, const psdmp_rigid_closed_work *w, int directions, double *out) {
  const psdm_robot *tree = r->closure->tree;
  memset(out, 0, sizeof *out * 3 * (size_t)r->closure->loops);
  for (int l = 0; l < r->closure->loops; l++)
    for (int side = 0; side < 2; side++) {
      end e = end_of(r, w, l, side);
      jet j = {{{0}}};
      for (int b = e.body; b >= 0; b = tree->body[b].parent) {
        double z[3], arm[3], rate[3] = {0};
        axis_and_arm(w, &e, b, z, arm);
        for (int k = 0; k < directions; k++) rate[k] = w->along[k][b];
        if (tree->body[b].prismatic)
          for (int k = 0; k < directions; k++)
            for (int i = 0; i < 3; i++) j.T[1 << k][i] += rate[k] * z[i];
        else extend(&j, directions, z, arm, rate);
      }
      for (int i = 0; i < 3; i++) out[3 * l + i] += e.sign * j.T[(1 << directions) - 1][i];
    }
}

static void set_direction(const psdm_robot *tree, psdmp_rigid_closed_work *w, int k, const double *u) {
  const double *bodies = psdmp_rigid_expand_rate(tree, u, w->along[k]);
  if (bodies != w->along[k]) memcpy(w->along[k], bodies, sizeof *bodies * (size_t)tree->bodies);
}

void psdmp_rigid_closed_second(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *u, const double *v,
                               double *out) {
  set_direction(r->closure->tree, w, 0, u);
  set_direction(r->closure->tree, w, 1, v);
  derive(r, w, 2, out);
}

void psdmp_rigid_closed_third(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *u, const double *v,
                              const double *x, double *out) {
  set_direction(r->closure->tree, w, 0, u);
  set_direction(r->closure->tree, w, 1, v);
  set_direction(r->closure->tree, w, 2, x);
  derive(r, w, 3, out);
}

/* adds an entry of the bodies' matrix to the independent joints' */
static void subtract(const psdm_robot *tree, int i, int j, double value, double *H) {
  for (int k = tree->g_row[i]; k < tree->g_row[i + 1]; k++)
    for (int m = tree->g_row[j]; m < tree->g_row[j + 1]; m++)
      H[(long)tree->g_col[k] * tree->n + tree->g_col[m]] -= tree->g_val[k] * tree->g_val[m] * value;
}

/* force . (z_i x P_j) = (force x z_i) . P_j for a revolute joint i and j = i or behind it, P_j = dP/dq_j */
void psdmp_rigid_closed_subtract_bend(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *force, double *H) {
  const psdm_robot *tree = r->closure->tree;
  for (int l = 0; l < r->closure->loops; l++)
    for (int side = 0; side < 2; side++) {
      end e = end_of(r, w, l, side);
      for (int j = e.body; j >= 0; j = tree->body[j].parent) {
        double z[3], arm[3], move[3], lever[3];
        axis_and_arm(w, &e, j, z, arm);
        if (tree->body[j].prismatic) memcpy(move, z, sizeof move);
        else psdmp_rigid_cross(z, arm, move);
        for (int i = j; i >= 0; i = tree->body[i].parent) {
          if (tree->body[i].prismatic) continue;
          axis_and_arm(w, &e, i, z, arm);
          psdmp_rigid_cross(force + 3 * l, z, lever);
          double bend = e.sign * psdmp_rigid_dot(lever, move);
          subtract(tree, i, j, bend, H);
          if (i != j) subtract(tree, j, i, bend, H);
        }
      }
    }
}

/* ---- the passive columns ---- */

/* Columns whose part independent of the others is below this share of their length are dependent: half of a double's
 * digits are lost then, as at every position that is singular to rounding. */
static const double SINGULAR = 1e-8;

/* by Gram-Schmidt twice */
bool psdmp_rigid_closed_factorise(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, m = c->passives, N = c->tree->n;
  memset(w->R, 0, sizeof *w->R * (size_t)m * (size_t)m);
  for (int j = 0; j < m; j++) {
    double *x = w->Q + (long)j * e, size = 0, left = 0;
    for (int i = 0; i < e; i++) x[i] = w->A[(long)i * N + c->passive[j]], size += x[i] * x[i];
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < j; k++) {
        const double *basis = w->Q + (long)k * e;
        double dot = 0;
        for (int i = 0; i < e; i++) dot += basis[i] * x[i];
        for (int i = 0; i < e; i++) x[i] -= dot * basis[i];
        w->R[(long)k * m + j] += dot;
      }
    for (int i = 0; i < e; i++) left += x[i] * x[i];
    if (!(left > SINGULAR * SINGULAR * size) || size == 0) return false;
    left = sqrt(left);
    for (int i = 0; i < e; i++) x[i] /= left;
    w->R[(long)j * m + j] = left;
  }
  return true;
}

void psdmp_rigid_closed_solve(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *b, int stride,
                              double *x) {
  int e = 3 * r->closure->loops, m = r->closure->passives;
  for (int j = 0; j < m; j++) {
    x[j] = 0;
    for (int i = 0; i < e; i++) x[j] += w->Q[(long)j * e + i] * b[(long)i * stride];
  }
  for (int j = m - 1; j >= 0; j--) {
    for (int k = j + 1; k < m; k++) x[j] -= w->R[(long)j * m + k] * x[k];
    x[j] /= w->R[(long)j * m + j];
  }
}

/* R^T y = tau_p, force = Q y */
void psdmp_rigid_closed_force(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *tau) {
  int e = 3 * r->closure->loops, m = r->closure->passives;
  double y[PSDM_MAX_JOINTS];
  memset(w->force, 0, sizeof *w->force * (size_t)e);
  for (int j = 0; j < m; j++) {
    y[j] = tau[r->closure->passive[j]];
    for (int k = 0; k < j; k++) y[j] -= w->R[(long)k * m + j] * y[k];
    y[j] /= w->R[(long)j * m + j];
    for (int i = 0; i < e; i++) w->force[i] += w->Q[(long)j * e + i] * y[j];
  }
}
