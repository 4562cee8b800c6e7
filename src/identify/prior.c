/* prior.c: prior inertias from kinematics alone.
 *
 * Every link is a cylinder from its joint to the next, or if there is none to the farthest frame on it, a quarter
 * of its length thick, at least a twelfth of the reach long; masses taper with the remaining reach; the total
 * mass is the one that explains the torques best. */
#include <math.h>
#include <string.h>

#include "identify/identify.h"
#include "linalg/linalg.h"
#include "robot/robot.h"

/* standard parameters of a solid cylinder from a to b */
static void cylinder(const double a[3], const double b[3], double mass, double radius, double pi[10]) {
  double axis[3], com[3], length = 0;
  for (int i = 0; i < 3; i++) axis[i] = b[i] - a[i], com[i] = (a[i] + b[i]) / 2, length += axis[i] * axis[i];
  length = sqrt(length);
  double along = mass * radius * radius / 2, across = mass * (3 * radius * radius + length * length) / 12, inertia[6];
  static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; k++)
    inertia[k] =
        (row[k] == column[k] ? across : 0) + (along - across) * axis[row[k]] * axis[column[k]] / (length * length);
  psdmp_robot_standard_from_body(mass, com, inertia, pi);
}

static void take_farther(const double p[3], double *most, double at[3]) {
  double length = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  if (!(length > *most)) return;
  *most = length;
  for (int i = 0; i < 3; i++) at[i] = p[i];
}

/* the farthest frame or end of a loop that is fixed to a body: a possible hand */
static void far_end(const psdm_robot *r, int body, double at[3]) {
  const psdmp_robot_closure *c = r->closure;
  double most = -1;
  for (int j = 0; j < r->joints; j++)
    if (r->link[j].body == body) take_farther(r->link[j].frame.p, &most, at);
  for (int k = 0; k < (c ? 2 * c->loops : 0); k++) {
    const double *point = c->loop[k / 2].point[k % 2];
    const psdmp_robot_link *link = &r->link[c->loop[k / 2].joint[k % 2]];
    psdmp_robot_pose end = psdmp_robot_pose_translation(point[0], point[1], point[2]);
    end = psdmp_robot_pose_product(&link->frame, &end);
    if (link->body == body) take_farther(end.p, &most, at);
  }
}

/* position of a body's next joint in its frame: the child whose own reach is longest; its far end without one */
static void next_joint(const psdm_robot *r, int body, const double *reach, double at[3]) {
  int child = -1;
  for (int b = 0; b < r->bodies; b++)
    if (r->body[b].parent == body && (child < 0 || reach[b] > reach[child])) child = b;
  if (child < 0) far_end(r, body, at);
  for (int i = 0; i < 3 && child >= 0; i++) at[i] = r->body[child].joint.p[i];
}

static double length_of(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/* of each body (bodies): its length, and the distance from its joint to the farthest end. Returns the longest. */
static double measure(const psdm_robot *r, double *reach, double *length) {
  double whole = 0;
  for (int b = r->bodies - 1; b >= 0; b--) { /* children before parents */
    double at[3], longest = 0;
    reach[b] = 0;
    next_joint(r, b, reach, at);
    length[b] = length_of(at);
    for (int c = b + 1; c < r->bodies; c++)
      if (r->body[c].parent == b) longest = fmax(longest, reach[c]);
    reach[b] = length[b] + longest;
    whole = fmax(whole, reach[b]);
  }
  return whole;
}

double psdmp_identify_prior_reach(const psdm_robot *robot) {
  double reach[PSDM_MAX_JOINTS], length[PSDM_MAX_JOINTS];
  return measure(robot, reach, length);
}

void psdmp_identify_prior_cylinders(const psdm_robot *r, double *prior) {
  double reach[PSDM_MAX_JOINTS], length[PSDM_MAX_JOINTS], whole = measure(r, reach, length), sum = 0;
  memset(prior, 0, (size_t)psdm_robot_parameter_count(r) * sizeof *prior);
  if (!(whole > 0)) whole = 1;
  for (int b = 0; b < r->bodies; b++) sum += reach[b] + 0.1 * whole;
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    double from[3] = {0}, to[3], pi[10], least = whole / 12;
    next_joint(r, b, reach, to);
    if (length[b] < least) { /* at least this long, around its middle; along z if it has no direction */
      double direction[3] = {0, 0, 1};
      for (int i = 0; i < 3; i++) {
        if (length[b] > 1e-9) direction[i] = to[i] / length[b];
        double middle = to[i] / 2;
        from[i] = middle - direction[i] * least / 2;
        to[i] = middle + direction[i] * least / 2;
      }
    }
    cylinder(from, to, (reach[b] + 0.1 * whole) / sum, fmax(length[b], least) / 4, pi);
    psdmp_robot_pose back = psdmp_robot_pose_inverse(&r->link[body->index].frame);
    psdmp_robot_standard_move(&back, pi, prior + PSDMP_ROBOT_STANDARD * (long)body->number);
  }
}

/* ---- the total mass ---- */

bool psdmp_identify_prior_scale(psdmp_identify_run *r, const psdmp_identify_factors *f, double *scale) {
  psdmp_base_arena arena = {.allocator = r->allocator};
  double top = 0, bottom = 0, *theta0 = psdmp_base_arena_alloc(&arena, (size_t)r->l * sizeof *theta0);
  int widest = 0;
  for (int i = 0; i < r->n; i++) widest = f->width[i] > widest ? f->width[i] : widest;
  double *X = psdmp_base_arena_alloc(&arena, (size_t)widest * (size_t)widest * sizeof *X),
         *R = psdmp_base_arena_alloc(&arena, (size_t)widest * (size_t)widest * sizeof *R);
  double *scratch = psdmp_base_arena_alloc(&arena, psdmp_linalg_factor_scratch(widest, widest) * sizeof *scratch);
  bool ok = X && R && scratch && theta0;
  for (int j = 0; j < r->l && ok; j++)
    for (int k = 0; k < r->S; k++) theta0[j] += r->K[(long)j * r->S + k] * r->prior[k];
  for (int i = 0; i < r->n && ok; i++) {
    int w = f->width[i], free_columns = 0, take[PSDMP_PARAMETERS_MOST_COLUMNS + 16];
    for (int k = 0; k < r->choice[i].count; k++) take[free_columns++] = r->l + r->choice[i].take[k];
    for (int j = 0; j < r->l && free_columns < PSDMP_PARAMETERS_MOST_COLUMNS; j++)
      for (int d = 10 * r->links; d < r->S; d++)
        if (r->K[(long)j * r->S + d] != 0) {
          take[free_columns++] = j;
          break;
        }
    int v = free_columns + 2;
    memset(R, 0, (size_t)v * (size_t)v * sizeof *R);
    for (int b = 0; b < f->blocks; b++) {
      const double *from = f->R[((long)i * f->blocks + b) * 2];
      for (int row = 0; row < w; row++) {
        for (int k = 0; k < free_columns; k++)
          X[(long)row * v + k] = take[k] >= row ? from[(long)row * w + take[k]] : 0;
        double sum = 0;
        for (int j = row; j < r->l; j++) sum += from[(long)row * w + j] * theta0[j];
        X[(long)row * v + v - 2] = sum;
        X[(long)row * v + v - 1] = w - 2 >= row ? from[(long)row * w + w - 2] : 0;
      }
      psdmp_linalg_factor_add(v, R, w, X, scratch);
    }
    double a = R[(long)(v - 2) * v + v - 2], t = R[(long)(v - 2) * v + v - 1], rest = R[(long)(v - 1) * v + v - 1];
    double noise = t * t + rest * rest; /* drives with large torques must not dominate */
    if (noise > 0) top += a * t / noise, bottom += a * a / noise;
  }
  psdmp_base_arena_free(&arena);
  if (!ok) return false;
  *scale = bottom > 0 ? top / bottom : NAN;
  return true;
}

/* ---- the pull ---- */

bool psdmp_identify_invert_scaled(int n, double *A, double *inverse, double *scale) {
  for (int i = 0; i < n; i++)
    if (!(A[(long)i * n + i] > 0)) return false;
  for (int i = 0; i < n; i++) scale[i] = 1 / sqrt(A[(long)i * n + i]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[(long)i * n + j] *= scale[i] * scale[j];
  if (!psdmp_linalg_invert(n, A, inverse, PSDMP_LINALG_PIVOT)) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[(long)i * n + j] *= scale[i] * scale[j];
  return true;
}

void psdmp_identify_pull_hessian(const double prior[10], double H[100]) {
  double P[16], inverse[16], scale[4], product[10][16];
  psdmp_fit_pseudo_inertia(prior, P);
  if (!psdmp_identify_invert_scaled(4, P, inverse, scale)) memset(inverse, 0, sizeof inverse);
  for (int a = 0; a < 10; a++) {
    double unit[10] = {0}, E[16];
    unit[a] = 1;
    psdmp_fit_pseudo_inertia(unit, E);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += inverse[4 * i + k] * E[4 * k + j];
        product[a][4 * i + j] = sum;
      }
  }
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++) {
      double sum = 0;
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum += product[a][4 * i + j] * product[b][4 * j + i];
      H[10 * a + b] = sum;
    }
}
