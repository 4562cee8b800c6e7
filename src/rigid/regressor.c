/* regressor.c: tau = Y pi for the standard parameters about the user's link frames (Atkeson, An, Hollerbach 1986).
 *
 * The wrench of link k is linear in its ten parameters. Its component at joint i is its power on the unit twist of
 * joint i, in link k's frame. */
#include <string.h>

#include "rigid/closed_priv.h"

/* A moving link frame, and its position from the first joint, in base axes. */
typedef struct frame_motion {
  double w[3], dw[3], a[3];
  double R[9], p[3];
} frame_motion;

static void set_link(const psdmp_robot_link *link, const psdmp_rigid_motion *m, const double *world, frame_motion *k) {
  const double *R = link->frame.R, *p = link->frame.p;
  double a[3];
  psdmp_rigid_rotate(m->U, p, a);
  for (int i = 0; i < 3; i++) a[i] += m->a[i];
  psdmp_rigid_unrotate(R, m->w, k->w);
  psdmp_rigid_unrotate(R, m->dw, k->dw);
  psdmp_rigid_unrotate(R, a, k->a);
  for (int i = 0; i < 3; i++) {
    psdmp_rigid_unrotate(R, world + 3 * i, k->R + 3 * i);
    k->p[i] = world[9 + i] + psdmp_rigid_dot(world + 3 * i, p);
  }
}

/* f = m a + U h with U = [dw]x + [w]x[w]x, n = h x a + I dw + w x I w; A holds U and, per entry of I, its n */
typedef struct wrench_map {
  double U[9], N[6][3];
} wrench_map;

static void set_map(const frame_motion *k, wrench_map *A) {
  const double *w = k->w, *d = k->dw;
  double xx = w[0] * w[0], xy = w[0] * w[1], xz = w[0] * w[2], yy = w[1] * w[1], yz = w[1] * w[2], zz = w[2] * w[2];
  *A = (wrench_map){
      .U = {-yy - zz, xy - d[2], xz + d[1], xy + d[2], -xx - zz, yz - d[0], xz - d[1], yz + d[0], -xx - yy},
      .N = {{d[0], xz, -xy},
            {d[1] - xz, d[0] + yz, xx - yy},
            {d[2] + xy, zz - xx, d[0] - yz},
            {-yz, d[1], xy},
            {yy - zz, d[2] - xy, d[1] + xz},
            {yz, -xz, d[2]}}};
}

/* ten entries of joint i's row: the power of each parameter's wrench on the twist (sw, sv) */
static inline void joint_row(const frame_motion *k, const wrench_map *A, const double sw[3], const double sv[3],
                             double *restrict row) {
  double Uv[3], aw[3];
  psdmp_rigid_unrotate(A->U, sv, Uv);
  psdmp_rigid_cross(k->a, sw, aw); /* sw . (h x a) = h . (a x sw) */
  row[0] = psdmp_rigid_dot(sv, k->a);
  for (int i = 0; i < 3; i++) row[1 + i] = Uv[i] + aw[i];
  for (int i = 0; i < 6; i++) row[4 + i] = psdmp_rigid_dot(sw, A->N[i]);
}

/* unit twist of joint i in link k's axes, at link k's origin */
static inline void twist(const frame_motion *k, const double *world, bool prismatic, double sw[3], double sv[3]) {
  const double z[3] = {world[2], world[5], world[8]};
  if (prismatic) {
    memset(sw, 0, 3 * sizeof *sw);
    psdmp_rigid_unrotate(k->R, z, sv);
    return;
  }
  double arm[3] = {k->p[0] - world[9], k->p[1] - world[10], k->p[2] - world[11]}, v[3];
  psdmp_rigid_cross(z, arm, v);
  psdmp_rigid_unrotate(k->R, z, sw);
  psdmp_rigid_unrotate(k->R, v, sv);
}

/* tree joint i's row to the independent joints that move it */
static void spread_row(const psdm_robot *r, int i, const double row[10], double *block, int columns) {
  for (int g = r->g_row[i]; g < r->g_row[i + 1]; g++) {
    double *to = block + (long)r->g_col[g] * columns;
    for (int c = 0; c < PSDMP_ROBOT_STANDARD; c++) to[c] += r->g_val[g] * row[c];
  }
}

psdm_status psdm_regressor_standard(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                    const double *qdd, double *Y) {
  if (r->closure) return psdmp_rigid_closed_regressor(r, work, q, qd, qdd, Y);
  const double base[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  const double *tree_qd = psdmp_rigid_expand_rate(r, qd, work->qd),
               *tree_qdd = psdmp_rigid_expand_rate(r, qdd, work->qdd);
  int columns = psdm_robot_parameter_count(r);
  psdmp_rigid_set_arms(r, work, q);
  memset(Y, 0, sizeof *Y * (size_t)r->n * (size_t)columns);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    frame_motion k;
    wrench_map A;
    psdmp_rigid_move_body(body, &work->motion[b], body->parent < 0 ? NULL : &work->motion[body->parent], base,
                          tree_qd[b], tree_qdd[b]);
    set_link(&r->link[body->index], &work->motion[b], work->world + 12 * b, &k);
    set_map(&k, &A);
    for (int i = b; i >= 0; i = r->body[i].parent) {
      double sw[3], sv[3], row[PSDMP_ROBOT_STANDARD], *block = Y + PSDMP_ROBOT_STANDARD * body->number;
      twist(&k, work->world + 12 * i, r->body[i].prismatic, sw, sv);
      joint_row(&k, &A, sw, sv, r->direct ? block + (long)i * columns : row);
      if (!r->direct) spread_row(r, i, row, block, columns);
    }
  }
  /* a drive's torque is a Ia (a . qdd) */
  for (int d = 0; d < r->drives; d++) {
    double rate = 0;
    for (int i = 0; i < r->n; i++) rate += r->drive[d].a[i] * qdd[i];
    for (int i = 0; i < r->n; i++)
      Y[(long)i * columns + PSDMP_ROBOT_STANDARD * r->bodies + d] = r->drive[d].a[i] * rate;
  }
  return PSDM_OK;
}
