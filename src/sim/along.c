/* along.c: inverse dynamics along a motion, with rotors, gears, friction and springs.
 *
 * All rotors turn with the motors, theta, which are the joints' positions where there is no spring. With tau_q = M qdd
 * + c + g of the robot without the rotors of its independent joints, and B the mass matrix of those rotors,
 *
 *   K (theta - q) + D (thetad - qd) = tau_q            at elastic joints,        tau = B thetadd + tau_q +
 *                                                                                friction(thetad)        at all
 *
 * (De Luca, Robotics 2: elastic joints; B is not diagonal where a transmission lets several motors move a joint). */
#include "psdm/along.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "psdm/linearize.h"
#include "psdm/rigid.h"
#include "rigid/rigid.h"
#include "sim/along_priv.h"
#include "sim/sim_priv.h"

enum { FINE = 16 }; /* parts of an interval, in which the velocity of the bristles is taken as linear */

/* One independent joint and its data from the previous row. */
typedef struct train {
  const psdm_joint *joint;
  bool spring;
  double load[3]; /* tau_q and its derivatives */
  double stretch; /* theta - q */
  double v[2];    /* thetad, thetadd */
  double z;       /* bristles */
} train;

typedef struct job {
  psdmp_base_arena arena;
  const psdm_robot *robot;
  const psdm_motion *motion;
  psdm_along_options options;
  int n;
  bool elastic;        /* some joint has a spring */
  train *train;        /* (n) */
  psdm_robot *links;   /* elastic: the robot without the rotors of its independent joints */
  double *B;           /* elastic: (n x n) those rotors */
  psdm_work *work;     /* of links, or of the robot where it is rigid */
  psdm_linear *linear; /* of links */
  double *x;           /* (PSDM_MOTION_ORDERS x n) the motion */
  double *load[3];     /* (n) tau_q and its derivatives along the motion */
  double *theta, *thetad, *thetadd, *tau, *friction, *q_motor, *tau_motor, *current; /* (n) */
} job;

/* ---- checks and preparation ---- */

static psdm_status check_options(const job *j, psdm_error *error) {
  if ((unsigned)j->options.friction >= PSDM_FRICTION_KINDS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "unknown friction model");
  if (!(j->options.output >= 0) || !isfinite(j->options.output))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%g s between rows; a positive number was expected",
                           j->options.output);
  if (psdm_motion_n(j->motion) != j->n)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "a motion of %d joints; the robot has %d",
                           psdm_motion_n(j->motion), j->n);
  return psdm_robot_ready(j->robot, error);
}

static psdm_status take_joints(job *j, psdm_error *error) {
  j->train = psdmp_base_arena_alloc(&j->arena, (size_t)j->n * sizeof *j->train);
  if (!j->train) return psdmp_base_no_memory("", error);
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, k);
    bool spring;
    psdm_status status =
        psdmp_rigid_joint_check(j->robot, joint, j->options.friction, j->options.elastic, &spring, error);
    if (status) return status;
    if (joint->q < 0) continue;
    j->train[joint->q] = (train){.joint = joint, .spring = spring};
    j->elastic |= spring;
  }
  return PSDM_OK;
}

static psdm_status allocate(job *j, psdm_error *error) {
  const psdm_robot *moving = j->elastic ? j->links : j->robot;
  size_t n = (size_t)j->n, work = psdm_work_bytes(moving), linear = j->elastic ? psdm_linear_bytes(moving) : 0;
  double **const part[] = {&j->load[0], &j->load[1],  &j->load[2], &j->theta,     &j->thetad, &j->thetadd,
                           &j->tau,     &j->friction, &j->q_motor, &j->tau_motor, &j->current};
  size_t parts = sizeof part / sizeof *part;
  void *work_memory = psdmp_base_arena_alloc(&j->arena, work),
       *linear_memory = linear ? psdmp_base_arena_alloc(&j->arena, linear) : NULL;
  double *memory = j->x = psdmp_base_arena_alloc(&j->arena, (PSDM_MOTION_ORDERS + parts) * n * sizeof *memory);
  if (!work_memory || (linear && !linear_memory) || !memory) return psdmp_base_no_memory("", error);
  for (size_t k = 0; k < parts; k++) *part[k] = memory + (PSDM_MOTION_ORDERS + k) * n;
  psdm_status status = psdm_work_init(moving, work_memory, work, &j->work);
  if (!status && linear) status = psdm_linear_init(moving, linear_memory, linear, &j->linear);
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* ---- one row ---- */

static psdm_status rigid_torques(job *j) {
  size_t bytes = (size_t)j->n * sizeof *j->x;
  memcpy(j->theta, j->x, bytes);
  memcpy(j->thetad, j->x + j->n, bytes);
  memcpy(j->thetadd, j->x + 2 * j->n, bytes);
  return psdm_inverse(j->robot, j->work, j->x, j->x + j->n, j->x + 2 * j->n, j->tau);
}

/* tau_q and its first two time derivatives: with y = (q, qd, qdd), tau_q'' = its second derivative along y' twice + its
 * first along y'' */
static psdm_status loads(job *j) {
  const double *q = j->x, *qd = q + j->n, *qdd = qd + j->n, *jerk = qdd + j->n, *snap = jerk + j->n;
  const psdm_direction rate = {qd, qdd, jerk};
  double *along = j->theta; /* used as scratch */
  psdm_status status = psdm_inverse(j->links, j->work, q, qd, qdd, j->load[0]);
  if (!status) status = psdm_linear_inverse_along(j->links, j->linear, q, qd, qdd, qd, qdd, jerk, j->load[1]);
  if (!status) status = psdm_linear_inverse_second(j->links, j->linear, q, qd, qdd, &rate, &rate, j->load[2]);
  if (!status) status = psdm_linear_inverse_along(j->links, j->linear, q, qd, qdd, qdd, jerk, snap, along);
  for (int i = 0; i < j->n; i++) j->load[2][i] += along[i];
  return status;
}

/* theta and its derivatives of one joint; h: time since the previous row, 0 at the first */
static void place_motor(job *j, int i, double h) {
  train *own = &j->train[i];
  double load[3] = {j->load[0][i], j->load[1][i], j->load[2][i]}, x[3] = {0};
  double K = own->joint->stiffness, D = own->joint->damping;
  if (own->spring && h > 0) psdmp_sim_spring_step(K, D, h, own->load, load, own->stretch, x);
  else if (own->spring) psdmp_sim_spring_start(K, D, load, x);
  memcpy(own->load, load, sizeof load);
  own->stretch = x[0];
  j->theta[i] = j->x[i] + x[0];
  j->thetad[i] = j->x[j->n + i] + x[1];
  j->thetadd[i] = j->x[2 * j->n + i] + x[2];
}

static psdm_status elastic_torques(job *j, double h) {
  psdm_status status = loads(j);
  for (int i = 0; i < j->n; i++) place_motor(j, i, h);
  for (int i = 0; i < j->n; i++) {
    j->tau[i] = j->load[0][i];
    for (int k = 0; k < j->n; k++) j->tau[i] += j->B[(long)i * j->n + k] * j->thetadd[k];
  }
  return status;
}

/* bristles from one row to the next: the cubic with both rows' velocities and accelerations, in linear pieces */
static double bristle_torque(train *own, double t, double h, const double v[2]) {
  double times[FINE + 1], speed[FINE + 1], z[FINE + 1], tau[FINE + 1];
  const double *u = own->v;
  if (!(h > 0)) {
    psdm_lugre_follow(&own->joint->friction, 0, 1, &t, v, z, tau);
    own->z = z[0];
    return tau[0];
  }
  for (int k = 0; k <= FINE; k++) {
    double s = (double)k / FINE, left = (1 - s) * (1 - s), right = s * s;
    times[k] = t - h + s * h;
    speed[k] = left * ((1 + 2 * s) * u[0] + s * h * u[1]) + right * ((3 - 2 * s) * v[0] - (1 - s) * h * v[1]);
  }
  psdm_lugre_follow(&own->joint->friction, own->z, FINE + 1, times, speed, z, tau);
  own->z = z[FINE];
  return tau[FINE];
}

static void add_friction(job *j, double t, double h) {
  psdm_friction_kind kind = j->options.friction;
  for (int i = 0; i < j->n; i++) {
    train *own = &j->train[i];
    const double v[2] = {j->thetad[i], j->thetadd[i]};
    j->friction[i] = 0;
    if (own->joint->friction.given && kind != PSDM_FRICTION_NONE)
      j->friction[i] = kind == PSDM_FRICTION_LUGRE ? bristle_torque(own, t, h, v)
                                                   : psdm_friction_steady(&own->joint->friction, kind, v[0]);
    j->tau[i] += j->friction[i];
    memcpy(own->v, v, sizeof v);
  }
}

/* a motor's torque constant refers to the torque behind its gear */
static void motor_side(job *j) {
  psdm_robot_joint_to_motor(j->robot, j->theta, j->q_motor);
  psdm_robot_motor_torque(j->robot, j->tau, j->tau_motor);
  for (int i = 0; i < j->n; i++)
    j->current[i] = j->tau_motor[i] * j->train[i].joint->gear / j->train[i].joint->torque_constant;
}

static psdm_status make_row(job *j, double t, double h, psdm_along_row *row, psdm_error *error) {
  psdm_motion_at(j->motion, t, j->elastic ? 5 : 3, j->x);
  psdm_status status = j->elastic ? elastic_torques(j, h) : rigid_torques(j);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "at t = %g s: %s", t, psdm_status_text(status));
  add_friction(j, t, h);
  motor_side(j);
  *row = (psdm_along_row){.t = t,
                          .n = j->n,
                          .q = j->x,
                          .qd = j->x + j->n,
                          .qdd = j->x + 2 * j->n,
                          .tau = j->tau,
                          .friction = j->friction,
                          .theta = j->theta,
                          .thetad = j->thetad,
                          .thetadd = j->thetadd,
                          .q_motor = j->q_motor,
                          .tau_motor = j->tau_motor,
                          .current = j->current};
  return PSDM_OK;
}

/* rows at the start, after every period, and at the end; a last period shortened to nothing but rounding is omitted */
static psdm_status walk(job *j, psdm_along_write write, void *user, psdm_error *error) {
  double begin = psdm_motion_begin(j->motion), end = psdm_motion_end(j->motion),
         period = j->options.output > 0 ? j->options.output : 0.01;
  double last = ceil((end - begin) / period * (1 - 1e-12)), before = begin;
  if (!(last <= PSDMP_SIM_ROWS))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "%g s in intervals of %g s would take %.3g rows; at most %.0e are made", end - begin, period,
                           last + 1, PSDMP_SIM_ROWS);
  for (double k = 0; k <= last; k++) {
    double t = k < last ? begin + k * period : end;
    psdm_along_row row;
    psdm_status status = make_row(j, t, k > 0 ? t - before : 0, &row, error);
    if (status) return status;
    if (!write(user, &row)) return PSDM_OK;
    before = t;
  }
  return PSDM_OK;
}

psdm_status psdm_along(const psdm_robot *robot, const psdm_motion *motion, const psdm_along_options *options,
                       const psdm_allocator *allocator, psdm_along_write write, void *user, psdm_error *error) {
  job j = {.arena = {.allocator = allocator}, .robot = robot, .motion = motion, .n = psdm_robot_n(robot)};
  if (!write) return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "no function to write the rows was given");
  if (options) j.options = *options;
  psdm_status status = check_options(&j, error);
  if (!status) status = take_joints(&j, error);
  if (!status && j.elastic) status = psdmp_rigid_part_rotors(robot, &j.arena, &j.links, &j.B, error);
  if (!status) status = allocate(&j, error);
  if (!status) status = walk(&j, write, user, error);
  psdm_robot_free(j.links);
  psdmp_base_arena_free(&j.arena);
  return status;
}
