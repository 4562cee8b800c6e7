/* optimal_torque.c: torques of a motion and their first two derivatives.
 *
 *   rigid     tau = M qdd + c + g + F(qd)
 *   elastic   tau = tau_q + B thetadd + F(thetad),   theta = q + tau_q / K        (De Luca, Robotics 2: elastic
 *                                                                                 joints; K infinite where a joint
 *                                                                                 is rigid)
 *
 * With y = (q, qd, qdd) and J = dtau_q / dy, tau_q' = J y' and tau_q'' = J y'' + (DJ y') y', so that by the derivatives
 * of q of order p
 *
 *   d tau_q' / dq^(p) = (DJ y')_p + J_(p-1),   d tau_q'' / dq^(p) = (DJ y'' + D2J y' y')_p + 2 (DJ y')_(p-1) + J_(p-2)
 *
 * J and DJ are exact (psdm/linearize.h); D2J y' y' is a difference of DJ y' along y'. Second derivatives are
 * differences of the first; they are the Lagrangian's curvature and do not affect where its slope vanishes. */
#include <math.h>
#include <string.h>

#include "plan/optimal_priv.h"
#include "rigid/rigid.h"

/* ---- friction ---- */

void psdmp_plan_smooth_friction(const psdm_friction *f, psdm_friction_kind kind, double w, double v, double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  if (!f || kind == PSDM_FRICTION_NONE) return;
  /* viscous: Fv v r^m with r = v^2 + w^2 */
  double m = kind >= PSDM_FRICTION_POWER ? (f->exponent - 1) / 2 : 0, r = v * v + w * w,
         power = m == 0 ? f->viscous : f->viscous * pow(r, m);
  out[0] = power * v + f->offset;
  out[1] = power * (1 + 2 * m * v * v / r);
  out[2] = power * 2 * m * v / r * (3 + 2 * (m - 1) * v * v / r);
  if (kind < PSDM_FRICTION_COULOMB) return;
  /* dry: (Fc + rise e^-(v/vs)^2) tanh(v / w) */
  double rise = kind >= PSDM_FRICTION_STRIBECK && f->stribeck > 0 ? f->stat - f->coulomb : 0,
         vs = rise != 0 ? f->stribeck : 1;
  double bump = rise * exp(-(v / vs) * (v / vs)), dry = f->coulomb + bump, dry1 = -2 * v / (vs * vs) * bump;
  double dry2 = (4 * v * v / (vs * vs) - 2) / (vs * vs) * bump, th = tanh(v / w), th1 = (1 - th * th) / w,
         th2 = -2 * th * th1 / w;
  out[0] += dry * th;
  out[1] += dry1 * th + dry * th1;
  out[2] += dry2 * th + 2 * dry1 * th1 + dry * th2;
}

static void friction_at(const psdmp_plan_torques *t, int i, double v, double f[3]) {
  psdmp_plan_smooth_friction(t->friction[i], t->kind, t->width[i], v, f);
}

/* ---- setting up ---- */

static psdm_status take_joints(psdmp_plan_torques *t, const psdm_robot *robot, bool elastic, bool *any,
                               psdm_error *error) {
  *any = false;
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    bool spring;
    psdm_status status = psdmp_rigid_joint_check(robot, joint, t->kind, elastic, &spring, error);
    if (status) return status;
    if (joint->q < 0) continue;
    t->friction[joint->q] = joint->friction.given ? &joint->friction : NULL;
    t->soft[joint->q] = spring ? 1 / joint->stiffness : 0;
    *any |= spring;
  }
  return PSDM_OK;
}

static psdm_status place_scratch(psdmp_plan_torques *t, psdmp_base_arena *arena, psdm_error *error) {
  size_t n = (size_t)t->n, z = (size_t)t->orders * n, work = psdm_work_bytes(t->robot),
         linear = psdm_linear_bytes(t->robot);
  size_t parts = sizeof t->part / sizeof *t->part;
  void *work_memory = psdmp_base_arena_alloc(arena, work), *linear_memory = psdmp_base_arena_alloc(arena, linear);
  double *memory = psdmp_base_arena_alloc(arena, (3 * n + parts * n * n + 2 * n * z + 2 * z) * sizeof *memory);
  if (!work_memory || !linear_memory || !memory) return psdmp_base_no_memory("", error);
  for (int k = 0; k < 3; k++, memory += n) t->load[k] = memory;
  for (size_t k = 0; k < parts; k++, memory += n * n) t->part[k] = memory;
  for (int k = 0; k < 2; k++, memory += n * z) t->side[k] = memory;
  t->step = memory;
  psdm_status status = psdm_work_init(t->robot, work_memory, work, &t->work);
  if (!status) status = psdm_linear_init(t->robot, linear_memory, linear, &t->linear);
  if (!status && t->loops) status = psdmp_plan_loop_init(&t->loop, t->robot, t->work, arena);
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

psdm_status psdmp_plan_torques_init(psdmp_plan_torques *t, const psdm_robot *robot, psdm_friction_kind friction,
                                    bool elastic, const double *width, psdmp_base_arena *arena, psdm_error *error) {
  bool any;
  *t = (psdmp_plan_torques){.n = psdm_robot_n(robot),
                            .robot = robot,
                            .kind = friction == PSDM_FRICTION_LUGRE ? PSDM_FRICTION_POWER : friction,
                            .loops = psdm_robot_loops(robot) > 0};
  size_t n = (size_t)t->n;
  t->friction = psdmp_base_arena_alloc(arena, n * sizeof *t->friction);
  t->width = psdmp_base_arena_alloc(arena, n * sizeof *t->width);
  t->soft = psdmp_base_arena_alloc(arena, n * sizeof *t->soft);
  if (!t->friction || !t->width || !t->soft) return psdmp_base_no_memory("", error);
  memcpy(t->width, width, n * sizeof *width);
  psdm_status status = psdm_robot_ready(robot, error);
  if (!status) status = take_joints(t, robot, elastic, &any, error);
  if (!status && any) status = psdmp_rigid_part_rotors(robot, arena, &t->links, &t->rotors, error);
  if (t->links) t->robot = t->links;
  t->orders = t->links ? 5 : 3;
  return status ? status : place_scratch(t, arena, error);
}

void psdmp_plan_torques_free(psdmp_plan_torques *t) {
  psdm_robot_free(t->links);
  t->links = NULL;
}

/* ---- torques ---- */

/* tau_q and its first two time derivatives */
static psdm_status loads(psdmp_plan_torques *t, const double *z) {
  int n = t->n;
  const double *q = z, *qd = q + n, *qdd = qd + n, *jerk = qdd + n, *snap = jerk + n;
  const psdm_direction rate = {qd, qdd, jerk};
  double *along = t->part[0];
  psdm_status status = psdm_inverse(t->robot, t->work, q, qd, qdd, t->load[0]);
  if (!status) status = psdm_linear_inverse_along(t->robot, t->linear, q, qd, qdd, qd, qdd, jerk, t->load[1]);
  if (!status) status = psdm_linear_inverse_second(t->robot, t->linear, q, qd, qdd, &rate, &rate, t->load[2]);
  if (!status) status = psdm_linear_inverse_along(t->robot, t->linear, q, qd, qdd, qdd, jerk, snap, along);
  for (int i = 0; i < n && !status; i++) t->load[2][i] += along[i];
  return status;
}

static psdm_status elastic_at(psdmp_plan_torques *t, const double *z, double *tau) {
  int n = t->n;
  psdm_status status = loads(t, z);
  for (int i = 0; i < n && !status; i++) {
    double f[3];
    friction_at(t, i, z[n + i] + t->soft[i] * t->load[1][i], f);
    tau[i] = t->load[0][i] + f[0];
    for (int k = 0; k < n; k++) tau[i] += t->rotors[(long)i * n + k] * (z[2 * n + k] + t->soft[k] * t->load[2][k]);
  }
  return status;
}

psdm_status psdmp_plan_torques_at(psdmp_plan_torques *t, const double *z, double *tau) {
  int n = t->n;
  if (t->links) return elastic_at(t, z, tau);
  psdm_status status = psdm_inverse(t->robot, t->work, z, z + n, z + 2 * n, tau);
  for (int i = 0; i < n && !status; i++) {
    double f[3];
    friction_at(t, i, z[n + i], f);
    tau[i] += f[0];
  }
  return status;
}

/* ---- first derivatives ---- */

/* row i of the block of order p of a matrix (n x orders n) */
static double *block(const psdmp_plan_torques *t, double *J, int p, int i) {
  return J + (long)i * t->orders * t->n + (long)p * t->n;
}

static psdm_status rigid_slope(psdmp_plan_torques *t, const double *z, double *tau, double *J) {
  int n = t->n;
  psdm_status status = psdmp_plan_torques_at(t, z, tau);
  if (!status)
    status = psdm_linearize_inverse(t->robot, t->linear, z, z + n, z + 2 * n, t->part[0], t->part[1], t->part[2]);
  for (int i = 0; i < n && !status; i++) {
    double f[3];
    for (int p = 0; p < 3; p++) memcpy(block(t, J, p, i), t->part[p] + (long)i * n, sizeof *J * (size_t)n);
    friction_at(t, i, z[n + i], f);
    block(t, J, 1, i)[i] += f[1];
  }
  return status;
}

static psdm_status loop_slope(psdmp_plan_torques *t, const double *z, double *tau, double *J) {
  psdm_status status = psdmp_plan_loop_slope(&t->loop, z, tau, J);
  for (int i = 0; i < t->n && !status; i++) {
    double f[3];
    friction_at(t, i, z[t->n + i], f);
    tau[i] += f[0];
    block(t, J, 1, i)[i] += f[1];
  }
  return status;
}

/* part[6..8] += D2J y' y', by a central difference of part[3..5] = DJ y' along y' */
static psdm_status add_third(psdmp_plan_torques *t, const double *z) {
  int n = t->n, count = 3 * n;
  const double *rate = z + n;
  const psdm_direction direction = {rate, rate + n, rate + 2 * n};
  double *shifted = t->step + (long)t->orders * n, most = 1;
  for (int c = 0; c < count; c++) most = fmax(most, fabs(rate[c]));
  double e = 1e-5 / most;
  psdm_status status = PSDM_OK;
  for (int side = -1; side <= 1 && !status; side += 2) {
    for (int c = 0; c < count; c++) shifted[c] = z[c] + side * e * rate[c];
    status = psdm_linearize_inverse_second(t->robot, t->linear, shifted, shifted + n, shifted + 2 * n, &direction,
                                           t->part[9], t->part[10], t->part[11]);
    for (int p = 0; p < 3; p++)
      for (long k = 0; k < (long)n * n && !status; k++) t->part[6 + p][k] += side * t->part[9 + p][k] / (2 * e);
  }
  return status;
}

/* entry k of the derivative of tau_q', tau_q'' by order p */
static double rate_slope(const psdmp_plan_torques *t, int p, long k) {
  return (p < 3 ? t->part[3 + p][k] : 0) + (p >= 1 && p <= 3 ? t->part[p - 1][k] : 0);
}

static double second_slope(const psdmp_plan_torques *t, int p, long k) {
  return (p < 3 ? t->part[6 + p][k] : 0) + (p >= 1 && p <= 3 ? 2 * t->part[3 + p - 1][k] : 0) +
         (p >= 2 ? t->part[p - 2][k] : 0);
}

static psdm_status elastic_slope(psdmp_plan_torques *t, const double *z, double *tau, double *J) {
  int n = t->n;
  const double *q = z, *qd = q + n, *qdd = qd + n, *jerk = qdd + n, *snap = jerk + n;
  const psdm_direction first = {qd, qdd, jerk}, second = {qdd, jerk, snap};
  psdm_status status = elastic_at(t, z, tau);
  if (!status) status = psdm_linearize_inverse(t->robot, t->linear, q, qd, qdd, t->part[0], t->part[1], t->part[2]);
  if (!status)
    status = psdm_linearize_inverse_second(t->robot, t->linear, q, qd, qdd, &first, t->part[3], t->part[4], t->part[5]);
  if (!status)
    status =
        psdm_linearize_inverse_second(t->robot, t->linear, q, qd, qdd, &second, t->part[6], t->part[7], t->part[8]);
  if (!status) status = add_third(t, z);
  for (int i = 0; i < n && !status; i++) {
    double f[3];
    friction_at(t, i, qd[i] + t->soft[i] * t->load[1][i], f);
    for (int p = 0; p < 5; p++)
      for (int j = 0; j < n; j++) {
        long k = (long)i * n + j;
        double sum = (p < 3 ? t->part[p][k] : 0) + f[1] * (t->soft[i] * rate_slope(t, p, k) + (p == 1 && i == j));
        for (int m = 0; m < n; m++)
          sum += t->rotors[(long)i * n + m] * (t->soft[m] * second_slope(t, p, (long)m * n + j) + (p == 2 && m == j));
        block(t, J, p, i)[j] = sum;
      }
  }
  return status;
}

psdm_status psdmp_plan_torques_slope(psdmp_plan_torques *t, const double *z, double *tau, double *J) {
  if (t->loops) return loop_slope(t, z, tau, J);
  return t->links ? elastic_slope(t, z, tau, J) : rigid_slope(t, z, tau, J);
}

/* ---- second derivatives ---- */

static double contract(int n, const double *lambda, const double *matrix, int column) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += lambda[i] * matrix[(long)i * n + column];
  return sum;
}

static void put(double *H, int size, int row, int column, double value) {
  H[(long)row * size + column] = H[(long)column * size + row] = value;
}

/* the mean of both triangles of the first count rows and columns */
static void make_symmetric(double *H, int size, int count) {
  for (int r = 0; r < count; r++)
    for (int c = 0; c < r; c++) put(H, size, r, c, (H[(long)r * size + c] + H[(long)c * size + r]) / 2);
}

/* part[0] = E = d(M lambda)/dq, and part[1] = D = dM along dq = lambda; rest: zeros. With them the second
 * derivatives by qdd and q, and by qd twice: E, and E + E^T - D (Christoffel's symbols contracted with lambda) */
static psdm_status mass_curves(psdmp_plan_torques *t, const double *q, const double *lambda, const double *rest) {
  const psdm_direction along = {lambda, NULL, NULL};
  psdm_status status = psdm_linearize_inverse(t->robot, t->linear, q, rest, lambda, t->part[0], NULL, NULL);
  if (!status) status = psdm_linearize_inverse(t->robot, t->linear, q, rest, rest, t->part[1], NULL, NULL);
  for (long k = 0; k < (long)t->n * t->n && !status; k++) t->part[0][k] -= t->part[1][k];
  return status ? status
                : psdm_linearize_inverse_second(t->robot, t->linear, q, rest, rest, &along, NULL, NULL, t->part[1]);
}

static psdm_status rigid_curve(psdmp_plan_torques *t, const double *z, const double *lambda, double *H) {
  int n = t->n, size = 3 * n;
  double *unit = t->load[0];
  memset(H, 0, sizeof *H * (size_t)size * (size_t)size);
  memset(unit, 0, sizeof *unit * (size_t)n);
  psdm_status status = mass_curves(t, z, lambda, unit);
  for (int i = 0; i < n && !status; i++) {
    double f[3];
    for (int j = 0; j < n; j++) {
      long k = (long)i * n + j, transposed = (long)j * n + i;
      put(H, size, 2 * n + i, j, t->part[0][k]);
      H[(long)(n + i) * size + n + j] = t->part[0][k] + t->part[0][transposed] - t->part[1][k];
    }
    friction_at(t, i, z[n + i], f);
    H[(long)(n + i) * size + n + i] += lambda[i] * f[2];
  }
  /* by q and q or qd: central differences of the exact first derivatives along q, with an error of 1e-10; exact ones
   * would take three times as long */
  double *shifted = t->step;
  memcpy(shifted, z, sizeof *z * (size_t)n);
  for (int i = 0; i < n && !status; i++) {
    shifted[i] = z[i] + psdmp_plan_q_step;
    status = psdm_linearize_inverse(t->robot, t->linear, shifted, z + n, z + 2 * n, t->part[2], t->part[3], NULL);
    shifted[i] = z[i] - psdmp_plan_q_step;
    if (!status)
      status = psdm_linearize_inverse(t->robot, t->linear, shifted, z + n, z + 2 * n, t->part[4], t->part[5], NULL);
    shifted[i] = z[i];
    for (int j = 0; j < n && !status; j++) {
      H[(long)i * size + j] =
          (contract(n, lambda, t->part[2], j) - contract(n, lambda, t->part[4], j)) / (2 * psdmp_plan_q_step);
      put(H, size, i, n + j,
          (contract(n, lambda, t->part[3], j) - contract(n, lambda, t->part[5], j)) / (2 * psdmp_plan_q_step));
    }
  }
  make_symmetric(H, size, n);
  return status;
}

/* whether tau depends on derivative p nonlinearly or in products with lower ones. The highest is linear; for an elastic
 * joint the last but one too, except in friction, which depends on it through the spring */
static bool bends(const psdmp_plan_torques *t, int p) {
  if (p == t->orders - 1) return false;
  return !t->links || p < 3 || t->kind != PSDM_FRICTION_NONE;
}

/* one-sided differences of the first derivatives: accurate to 1e-4, they guide the solver's steps but not its answer */
static psdm_status differences(psdmp_plan_torques *t, const double *z, const double *lambda, double *H) {
  int n = t->n, size = t->orders * n, columns = size;
  double *tau = t->load[0];
  while (columns > 0 && !bends(t, columns / n - 1)) columns -= n;
  psdm_status status = psdmp_plan_torques_slope(t, z, tau, t->side[0]);
  memset(H, 0, sizeof *H * (size_t)size * (size_t)size);
  memcpy(t->step, z, sizeof *z * (size_t)size);
  if (t->loops && !status) psdmp_plan_loop_stay(&t->loop, true);
  for (int c = 0; c < columns && !status; c++) {
    double e = 1e-4 * fmax(1, fabs(z[c]));
    t->step[c] = z[c] + e;
    status = psdmp_plan_torques_slope(t, t->step, tau, t->side[1]);
    t->step[c] = z[c];
    for (int r = 0; r < size && !status; r++) {
      double sum = 0;
      for (int i = 0; i < n; i++) sum += lambda[i] * (t->side[1][(long)i * size + r] - t->side[0][(long)i * size + r]);
      H[(long)r * size + c] = sum / e;
      if (r >= columns) H[(long)c * size + r] = sum / e;
    }
  }
  if (t->loops) psdmp_plan_loop_stay(&t->loop, false);
  make_symmetric(H, size, columns);
  return status;
}

psdm_status psdmp_plan_torques_curve(psdmp_plan_torques *t, const double *z, const double *lambda, double *H) {
  return t->loops || t->links ? differences(t, z, lambda, H) : rigid_curve(t, z, lambda, H);
}
