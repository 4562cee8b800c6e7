/* kinematics.c: poses, Jacobians and their uses: energy, external wrenches. */
#include <string.h>

#include "rigid/closed_priv.h"

/* pose of the link behind joint j in the base frame */
static void link_pose(const psdm_robot *r, const psdm_work *work, int j, double R[9], double p[3]) {
  const psdmp_robot_link *link = &r->link[j];
  if (link->body < 0) {
    memcpy(R, link->frame.R, sizeof link->frame.R);
    memcpy(p, link->frame.p, sizeof link->frame.p);
    return;
  }
  const double *world = work->world + 12 * link->body;
  for (int i = 0; i < 3; i++) {
    psdmp_rigid_unrotate(link->frame.R, world + 3 * i, R + 3 * i);
    p[i] = world[9 + i] + psdmp_rigid_dot(world + 3 * i, link->frame.p);
  }
}

psdm_status psdm_poses(const psdm_robot *r, psdm_work *work, const double *q, double *poses) {
  if (r->closure) {
    psdm_status status = psdmp_rigid_closed_q(r, work, q, &q);
    return status ? status : psdm_poses(r->closure->tree, work->closed->tree, q, poses);
  }
  psdmp_rigid_set_world(r, work, q);
  for (int j = 0; j < r->joints; j++) {
    double *out = poses + 12 * j;
    link_pose(r, work, j, out + 3, out);
  }
  return PSDM_OK;
}

psdm_status psdm_pose(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *pose) {
  if (joint < 0 || joint >= r->joints) return PSDM_E_ARGUMENT;
  if (r->closure) {
    psdm_status status = psdmp_rigid_closed_q(r, work, q, &q);
    return status ? status : psdm_pose(r->closure->tree, work->closed->tree, q, joint, pose);
  }
  psdmp_rigid_set_world(r, work, q);
  link_pose(r, work, joint, pose + 3, pose);
  return PSDM_OK;
}

static void joint_axis(const psdm_work *work, int b, double z[3]) {
  const double *world = work->world + 12 * b;
  z[0] = world[2];
  z[1] = world[5];
  z[2] = world[8];
}

psdm_status psdm_axes(const psdm_robot *r, psdm_work *work, const double *q, double *axes) {
  if (r->closure) {
    psdm_status status = psdmp_rigid_closed_q(r, work, q, &q);
    return status ? status : psdm_axes(r->closure->tree, work->closed->tree, q, axes);
  }
  psdmp_rigid_set_world(r, work, q);
  for (int j = 0; j < r->joints; j++) {
    double *out = axes + 6 * j, R[9];
    if (r->joint[j].type != PSDM_FIXED) {
      memcpy(out, work->world + 12 * r->link[j].body + 9, 3 * sizeof *out);
      joint_axis(work, r->link[j].body, out + 3);
      continue;
    }
    link_pose(r, work, j, R, out);
    for (int i = 0; i < 3; i++) out[3 + i] = R[3 * i + 2];
  }
  return PSDM_OK;
}

/* adds tree joint b's column (linear v, angular w) to the independent joints' columns of J */
static void add_column(const psdm_robot *r, int b, const double v[3], const double w[3], double *J) {
  for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++)
    for (int i = 0; i < 3; i++) {
      J[i * r->n + r->g_col[g]] += r->g_val[g] * v[i];
      J[(3 + i) * r->n + r->g_col[g]] += r->g_val[g] * w[i];
    }
}

/* arm from joint b's axis to a point */
static void arm_to(const psdm_work *work, int b, const double p[3], double arm[3]) {
  const double *o = work->world + 12 * b + 9;
  for (int i = 0; i < 3; i++) arm[i] = p[i] - o[i];
}

static const double no_turn[3] = {0, 0, 0};

psdm_status psdm_jacobian(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *J) {
  if (joint < 0 || joint >= r->joints) return PSDM_E_ARGUMENT;
  if (r->closure) return psdmp_rigid_closed_jacobian(r, work, q, joint, J);
  double R[9], p[3], z[3], arm[3], v[3];
  psdmp_rigid_set_arms(r, work, q);
  link_pose(r, work, joint, R, p);
  memset(J, 0, sizeof *J * 6 * (size_t)r->n);
  for (int b = r->link[joint].body; b >= 0; b = r->body[b].parent) {
    joint_axis(work, b, z);
    arm_to(work, b, p, arm);
    psdmp_rigid_cross(z, arm, v);
    add_column(r, b, r->body[b].prismatic ? z : v, r->body[b].prismatic ? no_turn : z, J);
  }
  return PSDM_OK;
}

/* velocities of all bodies in base axes: w and v of the origin */
static void set_velocities(const psdm_robot *r, psdm_work *work, const double *qd) {
  for (int b = 0; b < r->bodies; b++) {
    psdmp_rigid_motion *m = &work->motion[b];
    int parent = r->body[b].parent;
    double z[3], arm[3];
    joint_axis(work, b, z);
    memset(m->w, 0, sizeof m->w);
    memset(m->v, 0, sizeof m->v);
    if (parent >= 0) {
      memcpy(m->w, work->motion[parent].w, sizeof m->w);
      memcpy(m->v, work->motion[parent].v, sizeof m->v);
      arm_to(work, parent, work->world + 12 * b + 9, arm);
      psdmp_rigid_cross_add(m->w, arm, m->v);
    }
    for (int i = 0; i < 3; i++) (r->body[b].prismatic ? m->v : m->w)[i] += z[i] * qd[b];
  }
}

/* columns are z x arm and z; with dz/dt = w_parent x z (z is fixed in the parent too), d(arm)/dt = velocity
 * difference */
psdm_status psdm_jacobian_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, int joint,
                               double *J) {
  if (joint < 0 || joint >= r->joints) return PSDM_E_ARGUMENT;
  if (r->closure) return psdmp_rigid_closed_jacobian_rate(r, work, q, qd, joint, J);
  double R[9], p[3], z[3], zd[3], arm[3], armd[3], v[3], vp[3] = {0, 0, 0};
  psdmp_rigid_set_arms(r, work, q);
  set_velocities(r, work, psdmp_rigid_expand_rate(r, qd, work->qd));
  link_pose(r, work, joint, R, p);
  memset(J, 0, sizeof *J * 6 * (size_t)r->n);
  int last = r->link[joint].body;
  if (last >= 0) {
    memcpy(vp, work->motion[last].v, sizeof vp);
    arm_to(work, last, p, arm);
    psdmp_rigid_cross_add(work->motion[last].w, arm, vp);
  }
  for (int b = last; b >= 0; b = r->body[b].parent) {
    const psdmp_rigid_motion *m = &work->motion[b];
    joint_axis(work, b, z);
    psdmp_rigid_cross(m->w, z, zd);
    if (r->body[b].prismatic) {
      add_column(r, b, zd, no_turn, J);
      continue;
    }
    arm_to(work, b, p, arm);
    for (int i = 0; i < 3; i++) armd[i] = vp[i] - m->v[i];
    psdmp_rigid_cross(zd, arm, v);
    psdmp_rigid_cross_add(z, armd, v);
    add_column(r, b, v, zd, J);
  }
  return PSDM_OK;
}

/* gravity in the body's axes (as a), and the potential of a unit mass at its origin */
static inline void set_height(const psdm_robot *r, psdm_work *work, int b) {
  int parent = r->body[b].parent;
  psdmp_rigid_motion *m = &work->motion[b];
  const double *g = parent < 0 ? r->gravity : work->motion[parent].a;
  work->height[b] = (parent < 0 ? 0 : work->height[parent]) - psdmp_rigid_dot(g, m->p);
  psdmp_rigid_unrotate(m->R, g, m->a);
}

/* T = sum of (w.Iw + m v.v)/2 + v.(w x h), U = -g.(m p + R h) */
psdm_status psdm_energy(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, double *kinetic,
                        double *potential) {
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  if (r->closure) return psdmp_rigid_closed_energy(r, work, q, qd, kinetic, potential);
  double T = 0, U = 0;
  const double *tree_qd = psdmp_rigid_expand_rate(r, qd, work->qd);
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    const double *pi = body->pi;
    psdmp_rigid_motion *m = &work->motion[b];
    double Iw[3], wh[3];
    psdmp_rigid_set_velocity(body, m, body->parent < 0 ? NULL : &work->motion[body->parent], tree_qd[b]);
    set_height(r, work, b);
    psdmp_rigid_symmetric(pi + 4, m->w, Iw);
    psdmp_rigid_cross(m->w, pi + 1, wh);
    T += 0.5 * (psdmp_rigid_dot(m->w, Iw) + pi[0] * psdmp_rigid_dot(m->v, m->v) +
                r->body_drive[b] * tree_qd[b] * tree_qd[b]) +
         psdmp_rigid_dot(m->v, wh);
    U += pi[0] * work->height[b] - psdmp_rigid_dot(m->a, pi + 1);
  }
  for (int i = 0; r->drive_mass && i < r->n; i++)
    for (int j = 0; j < r->n; j++) T += 0.5 * qd[i] * r->drive_mass[i * r->n + j] * qd[j];
  *kinetic = T;
  *potential = U;
  return PSDM_OK;
}

psdm_status psdm_wrench_torque(const psdm_robot *r, psdm_work *work, const double *q, int count,
                               const psdm_wrench *wrenches, double *tau) {
  if (r->closure) return psdmp_rigid_closed_wrench(r, work, q, count, wrenches, tau);
  psdmp_rigid_set_arms(r, work, q);
  memset(tau, 0, sizeof *tau * (size_t)r->n);
  for (int k = 0; k < count; k++) {
    const psdm_wrench *wrench = &wrenches[k];
    if (wrench->joint < 0 || wrench->joint >= r->joints) return PSDM_E_ARGUMENT;
    double R[9], p[3], z[3], arm[3], moment[3];
    link_pose(r, work, wrench->joint, R, p);
    for (int b = r->link[wrench->joint].body; b >= 0; b = r->body[b].parent) {
      joint_axis(work, b, z);
      arm_to(work, b, p, arm);
      memcpy(moment, wrench->moment, sizeof moment);
      psdmp_rigid_cross_add(arm, wrench->force, moment);
      double torque = psdmp_rigid_dot(z, r->body[b].prismatic ? wrench->force : moment);
      for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) tau[r->g_col[g]] += r->g_val[g] * torque;
    }
  }
  return PSDM_OK;
}
