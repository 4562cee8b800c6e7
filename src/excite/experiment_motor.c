/* experiment_motor.c: each joint there and back at constant speed, in a pose where a known mass has an effect.
 *
 * A mass m at r in the last link's frame adds J(q)^T f to the torques, f = (m g, R r x m g): eq. 16 and 17 of Lloyd,
 * Irani, Ahmadi (2022). A motor's constant follows from the part of it in the current over a sweep, so a sweep is worth
 * the integral of torque^2, with the varying part counted twice: a constant part may be hidden by sensor drift. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"

enum {
  BLIND_POSES = 400, /* in which a mass must have no effect for its joint to be called blind */
  DRAWN = 200,       /* random poses */
  IMPROVED = 200,    /* and around the best of them */
  TRIED = 40         /* of the best, tried until one can be reached */
};

static const double default_share = 0.1, default_mass = 3, pause = 0.5; /* of the velocity limit; kg; s */

/* One pose and the worth of a sweep in it. */
typedef struct view {
  double *q;        /* (n) */
  double low, high; /* of the sweeping joint */
  double worth;     /* negative: none, or already tried */
} view;

/* ---- effect of the mass ---- */

/* the torque of the mass on the default link at each joint */
static void mass_torque(psdmp_excite_track *track, const double *q, double *tau) {
  const psdm_excite_options *o = track->options;
  const double *g = psdm_robot_gravity(track->robot), mass = o->mass > 0 ? o->mass : default_mass;
  psdm_wrench w = {.joint = psdm_robot_default_link(track->robot, NULL)};
  double pose[12], arm[3];
  memset(tau, 0, (size_t)track->n * sizeof *tau);
  if (psdm_pose(track->robot, track->work, q, w.joint, pose)) return;
  for (int i = 0; i < 3; i++) {
    arm[i] = pose[3 + 3 * i] * o->com[0] + pose[4 + 3 * i] * o->com[1] + pose[5 + 3 * i] * o->com[2];
    w.force[i] = mass * g[i];
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    w.moment[i] = arm[j] * w.force[k] - arm[k] * w.force[j];
  }
  psdm_wrench_torque(track->robot, track->work, q, 1, &w, tau);
}

/* a joint is blind if the mass makes no torque in any pose; returns how many are not */
static int find_blind(psdmp_excite_track *track, int *blind, double *tau, double *largest) {
  const double *g = psdm_robot_gravity(track->robot),
               mass = track->options->mass > 0 ? track->options->mass : default_mass;
  double weight = mass * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), *q = track->control;
  const double *com = track->options->com;
  double arm = sqrt(com[0] * com[0] + com[1] * com[1] + com[2] * com[2]);
  int seeing = 0;
  for (int k = 0; k < BLIND_POSES; k++) {
    psdmp_excite_track_random_pose(track, q);
    mass_torque(track, q, tau);
    for (int i = 0; i < track->n; i++) largest[i] = fmax(largest[i], fabs(tau[i]));
  }
  /* 1e-9 of the torque of that weight on the whole arm: far above rounding, far below any friction */
  for (int i = 0; i < track->n; i++) {
    blind[i] = !(largest[i] > 1e-9 * weight * (track->reach[i] + arm));
    seeing += !blind[i];
  }
  return seeing;
}

/* ---- poses ---- */

/* torques over the joint's range, and the stretch of free poses with the highest worth */
static void look(psdmp_excite_track *track, int joint, double lower, double upper, view *v, double *tau) {
  double step = (upper - lower) / (PSDMP_EXCITE_STRETCH - 1), sum = 0, squares = 0, home = v->q[joint];
  int count = 0;
  v->worth = -1;
  for (int k = 0; k <= PSDMP_EXCITE_STRETCH; k++) {
    v->q[joint] = lower + step * k;
    if (k < PSDMP_EXCITE_STRETCH && psdmp_excite_pose_obstacle(track, v->q) == PSDMP_EXCITE_FREE) {
      mass_torque(track, v->q, tau);
      sum += tau[joint], squares += tau[joint] * tau[joint];
      count++;
      continue;
    }
    /* sum tau^2 + sum (tau - mean)^2; a stretch of a few samples is too short for a sweep */
    double worth = count > 3 ? (2 * squares - sum * sum / count) * step : -1;
    if (worth > v->worth) v->worth = worth, v->low = lower + step * (k - count), v->high = lower + step * (k - 1);
    sum = squares = count = 0;
  }
  v->q[joint] = home;
}

/* a pose near another one */
static void draw_near(psdmp_excite_track *track, const double *from, double share, double *q) {
  const psdmp_excite_limits *l = track->limits;
  for (int i = 0; i < track->n; i++) {
    double to = from[i] + share * (l->upper[i] - l->lower[i]) * (2 * psdmp_excite_track_random(track) - 1);
    q[i] = fmin(l->upper[i], fmax(l->lower[i], to));
  }
}

static int best_of(const view *views, int count) {
  int best = 0;
  for (int k = 1; k < count; k++)
    if (views[k].worth > views[best].worth) best = k;
  return best;
}

/* the middle of all ranges, random poses, then poses ever nearer to the best */
static void look_around(psdmp_excite_track *track, int joint, double lower, double upper, view *views, double *tau) {
  const psdmp_excite_limits *l = track->limits;
  for (int k = 0; k < DRAWN + IMPROVED; k++) {
    if (k == 0)
      for (int i = 0; i < track->n; i++) views[k].q[i] = 0.5 * (l->lower[i] + l->upper[i]);
    else if (k < DRAWN) psdmp_excite_track_random_pose(track, views[k].q);
    else draw_near(track, views[best_of(views, k)].q, 0.25 * pow(0.985, k - DRAWN), views[k].q);
    look(track, joint, lower, upper, &views[k], tau);
  }
}

/* ---- sweeps ---- */

/* A ramp from rest to speed v within `ramp` seconds takes the distance v ramp / 2 and the acceleration 3/2 v / ramp. */
typedef struct pace {
  double v, ramp;
} pace;

static pace pace_of(const psdmp_excite_track *track, int joint, double share, double range) {
  pace p = {.v = share * track->limits->velocity[joint]};
  p.ramp = fmax(0.2, 1.5 * p.v / (0.4 * track->limits->acceleration[joint]));
  /* leaves at least three fifths of a short range to constant speed */
  if (p.v * p.ramp > 0.2 * range) p.v = 0.2 * range / p.ramp;
  return p;
}

/* from rest at `from` to rest at `to`; the part is the stretch of constant speed */
static void sweep(psdmp_excite_track *track, int joint, double from, double to, pace p, double *q, double *qd) {
  double sign = to > from ? 1 : -1, ramp = 0.5 * p.v * p.ramp, cruise = (fabs(to - from) - 2 * ramp) / p.v;
  q[joint] = from + sign * ramp;
  qd[joint] = sign * p.v;
  psdmp_excite_track_add(track, p.ramp, q, qd, NULL);
  double begin = psdmp_excite_track_time(track);
  q[joint] = to - sign * ramp;
  psdmp_excite_track_add(track, cruise, q, qd, NULL);
  psdmp_excite_track_add_part(
      track, (psdm_excite_part){
                 .begin = begin, .end = psdmp_excite_track_time(track), .joint = joint, .direction = (int)sign});
  q[joint] = to;
  qd[joint] = 0;
  psdmp_excite_track_add(track, p.ramp, q, NULL, NULL);
}

/* goes there, sweeps there and back; false if the move or the sweep is blocked */
static bool perform(psdmp_excite_track *track, int joint, const view *v, double share, double *q, double *qd) {
  long rows = track->rows;
  int parts = track->parts;
  memcpy(q, v->q, (size_t)track->n * sizeof *q);
  memset(qd, 0, (size_t)track->n * sizeof *qd);
  q[joint] = v->low;
  bool there = psdmp_excite_track_go(track, q);
  long begin = track->rows - 1;
  if (there) {
    pace p = pace_of(track, joint, share, v->high - v->low);
    psdmp_excite_track_rest(track, pause);
    sweep(track, joint, v->low, v->high, p, q, qd);
    psdmp_excite_track_rest(track, pause);
    sweep(track, joint, v->high, v->low, p, q, qd);
    psdmp_excite_track_rest(track, pause);
    if (!track->no_memory && psdmp_excite_track_obstacle(track, begin) == PSDMP_EXCITE_FREE) return true;
  }
  track->rows = rows;
  track->parts = parts;
  return false;
}

static psdm_status sweep_joint(psdmp_excite_track *track, int joint, double share, view *views, double *scratch) {
  double lower = track->limits->lower[joint], upper = track->limits->upper[joint], *q = scratch,
         *qd = scratch + track->n;
  const psdm_joint *of = NULL;
  for (int j = 0; j < psdm_robot_joints(track->robot); j++)
    if (psdm_robot_joint(track->robot, j)->q == joint) of = psdm_robot_joint(track->robot, j);
  /* a full turn covers everything */
  double turn = acos(-1), middle = 0.5 * (lower + upper);
  if (of && of->type == PSDM_REVOLUTE && upper - lower > 2 * turn) lower = middle - turn, upper = middle + turn;
  look_around(track, joint, lower, upper, views, scratch);
  for (int k = 0; k < TRIED && !track->no_memory; k++) {
    view *v = &views[best_of(views, DRAWN + IMPROVED)];
    if (!(v->worth > 0)) break;
    if (perform(track, joint, v, share, q, qd)) return PSDM_OK;
    /* one sample less at both ends: an obstacle may be just behind the last free one */
    double step = (upper - lower) / (PSDMP_EXCITE_STRETCH - 1);
    view shorter = *v;
    shorter.low += step, shorter.high -= step;
    if (shorter.high > shorter.low + 3 * step && perform(track, joint, &shorter, share, q, qd)) return PSDM_OK;
    v->worth = -1;
  }
  char name[80] = "";
  if (of) psdmp_base_quote(of->name, strlen(of->name), name, sizeof name);
  return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, "", 0, 0,
                         "joint '%s': no pose was found in which it can sweep within its limits, away from obstacles",
                         name);
}

/* all joints in turn; *cruising is the time at constant speed */
static psdm_status sweep_all(psdmp_excite_track *track, const int *blind, double share, view *views, double *scratch,
                             double *cruising) {
  psdm_status status = PSDM_OK;
  track->rows = track->parts = 0;
  track->random = track->options->seed;
  for (int i = 0; i < track->n && !status && !track->no_memory; i++)
    if (!blind[i]) status = sweep_joint(track, i, share, views, scratch);
  *cruising = 0;
  for (int k = 0; k < track->parts; k++) *cruising += track->part[k].end - track->part[k].begin;
  return status;
}

psdm_status psdmp_excite_experiment_motor(psdmp_excite_track *track, psdmp_base_arena *arena, psdm_excitation *out) {
  size_t n = (size_t)track->n;
  int *blind = psdmp_base_arena_alloc(arena, n * sizeof *blind);
  double *scratch = psdmp_excite_track_numbers(track, 2 * n),
         *poses = psdmp_excite_track_numbers(track, (DRAWN + IMPROVED) * n),
         *largest = psdmp_excite_track_numbers(track, n);
  view *views = psdmp_base_arena_alloc(&track->scratch, (DRAWN + IMPROVED) * sizeof *views);
  track->no_memory |= !blind || !views;
  if (track->no_memory) return PSDM_E_MEMORY;
  for (size_t k = 0; k < DRAWN + IMPROVED; k++) views[k].q = poses + k * n;
  out->blind_joints = blind;
  if (!find_blind(track, blind, scratch, largest))
    return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, "", 0, 0,
                           "no joint's gravity torque depends on a mass on the last link");
  double share = track->options->speed > 0 ? track->options->speed : default_share, wanted = track->options->seconds,
         cruising;
  psdm_status status = sweep_all(track, blind, share, views, scratch, &cruising);
  /* a given time makes the sweeps faster or slower; ramps change with them, so a few rounds are needed */
  for (int round = 0; round < 4 && wanted > 0 && !status && !track->no_memory; round++) {
    double rest = psdmp_excite_track_time(track) - cruising, faster = cruising / (wanted - rest);
    if (fabs(psdmp_excite_track_time(track) - wanted) < 1e-3 * wanted) break;
    if (!(faster > 0) || share * faster > 1)
      return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, "", 0, 0,
                             "sweeps of %d joints do not fit into %g s; they take about %.0f s at top speed",
                             track->parts / 2, wanted, rest + cruising * share);
    share *= faster;
    status = sweep_all(track, blind, share, views, scratch, &cruising);
  }
  return status;
}
