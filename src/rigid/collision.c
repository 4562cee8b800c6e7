/* collision.c: gaps between capsules, and between capsules and the floor, with their gradients.
 *
 * The distance of two segments p + s u and q + t v, 0 <= s, t <= 1, occurs either where both are inside, or at an end
 * of one of them (Lumelsky, On fast computation of distance between line segments, 1985): the least of the inner
 * solution and the four distances of an end from the other segment. Segments of length zero and parallel segments need
 * no special case, as the inner solution is only a candidate.
 *
 * With n the unit vector between the nearest points a and b, the gap changes by n . (J_a - J_b) qd: nearest points that
 * slide along the segments move at right angles to n. */
#include "psdm/collision.h"

#include <math.h>

#include "rigid/closed_priv.h"

/* A capsule's axis in the base frame. */
typedef struct axis {
  double from[3], along[3]; /* along: to - from */
} axis;

/* The nearest points of two axes, or of an axis and the floor. */
typedef struct nearest {
  double a[3], b[3]; /* base frame */
  double n[3];       /* from b to a, length 1; zero if undefined */
  double distance;
} nearest;

/* ---- two segments ---- */

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* the parameter of the point of an axis nearest to a point; 0 where its length is zero, or its square underflows */
static double project(const axis *x, const double point[3]) {
  double arm[3], length = psdmp_rigid_dot(x->along, x->along);
  for (int i = 0; i < 3; i++) arm[i] = point[i] - x->from[i];
  return length > 0 ? clamp(psdmp_rigid_dot(x->along, arm) / length) : 0;
}

static void point_at(const axis *x, double s, double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = x->from[i] + s * x->along[i];
}

/* keeps the points at s and t if they are nearer than the best so far */
static void consider(const axis *x, const axis *y, double s, double t, nearest *best) {
  double a[3], b[3], d[3];
  point_at(x, s, a);
  point_at(y, t, b);
  for (int i = 0; i < 3; i++) d[i] = a[i] - b[i];
  double distance = sqrt(psdmp_rigid_dot(d, d));
  if (!(distance < best->distance)) return;
  best->distance = distance;
  for (int i = 0; i < 3; i++) best->a[i] = a[i], best->b[i] = b[i], best->n[i] = d[i];
}

/* an end of one axis and the nearest point of the other */
static void consider_ends(const axis *x, const axis *y, bool swapped, nearest *best) {
  for (int end = 0; end < 2; end++) {
    double point[3];
    point_at(x, end, point);
    double other = project(y, point);
    if (swapped) consider(y, x, other, end, best);
    else consider(x, y, end, other, best);
  }
}

/* both lines' nearest points: (u.u)(v.v) - (u.v)^2 suffers from cancellation; projecting there and back repairs the
 * loss */
static void consider_inside(const axis *x, const axis *y, nearest *best) {
  double w[3], point[3];
  for (int i = 0; i < 3; i++) w[i] = x->from[i] - y->from[i];
  double uu = psdmp_rigid_dot(x->along, x->along), vv = psdmp_rigid_dot(y->along, y->along),
         uv = psdmp_rigid_dot(x->along, y->along);
  double left = uu * vv - uv * uv;
  if (!(left > 0)) return;
  double s = clamp((uv * psdmp_rigid_dot(y->along, w) - vv * psdmp_rigid_dot(x->along, w)) / left);
  point_at(x, s, point);
  double t = project(y, point);
  point_at(y, t, point);
  consider(x, y, project(x, point), t, best);
}

static void nearest_points(const axis *x, const axis *y, nearest *best) {
  *best = (nearest){.distance = INFINITY};
  consider_ends(x, y, false, best);
  consider_ends(y, x, true, best);
  consider_inside(x, y, best);
  if (best->distance > 0) {
    for (int i = 0; i < 3; i++) best->n[i] /= best->distance;
    return;
  }
  /* the axes cross: any direction at right angles to both is valid */
  psdmp_rigid_cross(x->along, y->along, best->n);
  double length = sqrt(psdmp_rigid_dot(best->n, best->n));
  for (int i = 0; i < 3 && length > 0; i++) best->n[i] /= length;
}

/* the lower end of an axis */
static void nearest_floor(const psdmp_robot_collision *c, const axis *x, nearest *best) {
  point_at(x, psdmp_rigid_dot(c->normal, x->along) < 0 ? 1 : 0, best->a);
  memcpy(best->n, c->normal, sizeof best->n);
  best->distance = psdmp_rigid_dot(c->normal, best->a) - c->height;
}

/* ---- positions of capsules ---- */

/* x of the link behind joint, -1: the base, in the base frame */
static void place_point(const psdm_robot *r, const psdm_work *work, int joint, const double x[3], double out[3]) {
  if (joint < 0) {
    memcpy(out, x, 3 * sizeof *out);
    return;
  }
  const psdmp_robot_link *link = &r->link[joint];
  double at[3];
  psdmp_rigid_rotate(link->frame.R, x, at);
  for (int i = 0; i < 3; i++) at[i] += link->frame.p[i];
  if (link->body < 0) {
    memcpy(out, at, sizeof at);
    return;
  }
  const double *world = work->world + 12 * link->body;
  psdmp_rigid_rotate(world, at, out);
  for (int i = 0; i < 3; i++) out[i] += world[9 + i];
}

static axis place_capsule(const psdm_robot *r, const psdm_work *work, const psdm_capsule *capsule) {
  axis x;
  double to[3];
  place_point(r, work, capsule->joint, capsule->from, x.from);
  place_point(r, work, capsule->joint, capsule->to, to);
  for (int i = 0; i < 3; i++) x.along[i] = to[i] - x.from[i];
  return x;
}

static int body_of(const psdm_robot *r, int joint) { return joint < 0 ? -1 : r->link[joint].body; }

/* ---- gradients ---- */

/* adds sign times n . (velocity of a point per unit rate of tree joint b) to the joints that move it */
static void add_joint(const psdm_robot *r, const psdm_work *work, int b, const double n[3], const double point[3],
                      double sign, double *gradient) {
  const double *world = work->world + 12 * b, z[3] = {world[2], world[5], world[8]};
  double arm[3], v[3];
  for (int i = 0; i < 3; i++) arm[i] = point[i] - world[9 + i];
  psdmp_rigid_cross(z, arm, v);
  double rate = sign * psdmp_rigid_dot(n, r->body[b].prismatic ? z : v);
  for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) gradient[r->g_col[g]] += r->g_val[g] * rate;
}

/* joints that carry both capsules move both points alike and do not change the gap, so both walks end where they
 * meet */
static void set_gradient(const psdm_robot *r, const psdm_work *work, int a, int b, const nearest *at,
                         double *gradient) {
  memset(gradient, 0, (size_t)r->n * sizeof *gradient);
  while (a != b) {
    if (a > b) {
      add_joint(r, work, a, at->n, at->a, 1, gradient);
      a = r->body[a].parent;
    } else {
      add_joint(r, work, b, at->n, at->b, -1, gradient);
      b = r->body[b].parent;
    }
  }
}

/* closed loops: the torque of a unit force on one link and its opposite on the other */
static psdm_status closed_gradient(const psdm_robot *r, psdm_work *work, const double *q, const int joint[2],
                                   const nearest *at, double *gradient) {
  psdm_wrench wrench[2];
  int count = 0;
  for (int side = 0; side < 2; side++) {
    double pose[12], arm[3];
    if (joint[side] < 0) continue;
    psdm_status status = psdm_pose(r, work, q, joint[side], pose);
    if (status) return status;
    psdm_wrench *w = &wrench[count++];
    *w = (psdm_wrench){.joint = joint[side]};
    for (int i = 0; i < 3; i++) {
      w->force[i] = side ? -at->n[i] : at->n[i];
      arm[i] = (side ? at->b : at->a)[i] - pose[i];
    }
    psdmp_rigid_cross(arm, w->force, w->moment);
  }
  return psdm_wrench_torque(r, work, q, count, wrench, gradient);
}

/* ---- the public functions ---- */

int psdm_collision_capsules(const psdm_robot *r) { return r->collision ? r->collision->capsules : 0; }

const psdm_capsule *psdm_collision_capsule(const psdm_robot *r, int index) {
  return index >= 0 && index < psdm_collision_capsules(r) ? &r->collision->capsule[index] : NULL;
}

bool psdm_collision_floor(const psdm_robot *r, double normal[3], double *height) {
  if (!r->collision || !r->collision->floor) return false;
  memcpy(normal, r->collision->normal, sizeof r->collision->normal);
  *height = r->collision->height;
  return true;
}

int psdm_collision_gaps(const psdm_robot *r) { return r->collision ? r->collision->gaps : 0; }

bool psdm_collision_pair(const psdm_robot *r, int index, int *a, int *b) {
  if (index < 0 || index >= psdm_collision_gaps(r)) return false;
  *a = r->collision->gap[index][0];
  *b = r->collision->gap[index][1];
  return true;
}

psdm_status psdm_collision_at(const psdm_robot *r, psdm_work *work, const double *q, double *gap, double *gradient) {
  const psdmp_robot_collision *c = r->collision;
  const psdm_robot *tree = r->closure ? r->closure->tree : r;
  psdm_work *tree_work = r->closure ? work->closed->tree : work;
  const double *tree_q = q;
  if (!c) return PSDM_OK;
  psdm_status status = r->closure ? psdmp_rigid_closed_q(r, work, q, &tree_q) : PSDM_OK;
  if (status) return status;
  psdmp_rigid_set_world(tree, tree_work, tree_q);
  for (int k = 0; k < c->gaps; k++) {
    const psdm_capsule *a = &c->capsule[c->gap[k][0]], *b = c->gap[k][1] < 0 ? NULL : &c->capsule[c->gap[k][1]];
    axis x = place_capsule(tree, tree_work, a), y;
    nearest at;
    if (b) y = place_capsule(tree, tree_work, b), nearest_points(&x, &y, &at);
    else nearest_floor(c, &x, &at);
    gap[k] = at.distance - a->radius - (b ? b->radius : 0);
    if (!gradient) continue;
    const int joint[2] = {a->joint, b ? b->joint : -1};
    double *row = gradient + (long)k * r->n;
    if (r->closure) status = closed_gradient(r, work, q, joint, &at, row);
    else set_gradient(r, work, body_of(r, joint[0]), body_of(r, joint[1]), &at, row);
    if (status) return status;
  }
  return PSDM_OK;
}
