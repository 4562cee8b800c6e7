/* experiment_friction.c: one joint after the other, sines of growing size about the middle of its range (Lloyd, Irani,
 * Ahmadi 2022, section 3.3).
 *
 * q = middle + w(t) a sin(2 pi f t): amplitudes a in geometric steps, from bristle deflections only to the limits of
 * range, speed and acceleration. The window w rises from 0 to 1 within the first period, stays there, and falls within
 * the last, as 10 u^3 - 15 u^4 + 6 u^5: position, velocity and acceleration are continuous, all are zero at both ends,
 * |qd| stays below 2 pi f a, and |qdd| below 1.12 of (2 pi f)^2 a. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"

enum {
  DEFAULT_LEVELS = 10,
  KNOTS = 16,  /* of a period: the quintic between two is within 1e-7 a of the sine */
  POSES = 100, /* of the other joints, until one leaves the joint its whole range */
  SHRINKS = 12 /* of range or speed, if the path is blocked or torques are too high */
};

static const double default_share = 0.9;       /* of the velocity limit, reached by the largest sine */
static const double acceleration_share = 0.44; /* of the limit: inertia is not wanted */
/* the smallest amplitudes, rad and m: bristles of gears deflect by 1e-5 to 1e-3 rad */
static const double bending = 5e-5, sliding = 1e-5;
static const double fastest = 2, hurried = 4; /* Hz, of small sines; and if time is short */
static const double pause = 0.3;              /* s before a joint starts */

typedef struct plan {
  psdmp_excite_track *track;
  int levels, whole;    /* periods at full size */
  double highest;       /* Hz */
  double *middle;       /* (n) pose in the middle of all ranges */
  double *pose, *other; /* (n) */
  double *x[3];         /* (n) a row */
} plan;

/* ---- one sine ---- */

/* the window and its derivatives by time, for a sine of `periods` periods at f */
static void window(double t, double f, int periods, double w[3]) {
  double rise = t * f, fall = periods - rise, u = fmin(rise, fall), sign = rise < fall ? 1 : -1;
  w[0] = 1, w[1] = w[2] = 0;
  if (u >= 1) return;
  u = fmax(u, 0);
  w[0] = u * u * u * (10 + u * (-15 + 6 * u));
  w[1] = sign * f * 30 * u * u * (1 - u) * (1 - u);
  w[2] = f * f * 60 * u * (1 - u) * (1 - 2 * u);
}

static void add_sine(plan *p, int joint, double middle, double a, double f) {
  int periods = p->whole + 2;
  double omega = 2 * acos(-1) * f, begin = psdmp_excite_track_time(p->track), step = 1 / (f * KNOTS);
  for (int k = 1; k <= KNOTS * periods; k++) {
    double t = k * step, w[3], angle = 2 * acos(-1) * (k % KNOTS) / KNOTS, s = a * sin(angle),
           c = a * omega * cos(angle);
    if (k == KNOTS * periods) t = periods / f;
    window(t, f, periods, w);
    p->x[0][joint] = middle + w[0] * s;
    p->x[1][joint] = w[1] * s + w[0] * c;
    p->x[2][joint] = w[2] * s + 2 * w[1] * c - w[0] * omega * omega * s;
    psdmp_excite_track_add(p->track, step, p->x[0], p->x[1], p->x[2]);
  }
  p->x[1][joint] = p->x[2][joint] = 0;
  psdmp_excite_track_add_part(
      p->track,
      (psdm_excite_part){
          .begin = begin, .end = psdmp_excite_track_time(p->track), .joint = joint, .amplitude = a, .frequency = f});
}

/* ---- one joint ---- */

static bool slides(const psdm_robot *robot, int joint) {
  for (int j = 0; j < psdm_robot_joints(robot); j++)
    if (psdm_robot_joint(robot, j)->q == joint) return psdm_robot_joint(robot, j)->type == PSDM_PRISMATIC;
  return false;
}

/* all amplitudes: each as fast as top speed, acceleration and the highest frequency allow */
static void add_levels(plan *p, int joint, double low, double high, double top) {
  const psdmp_excite_limits *l = p->track->limits;
  double middle = 0.5 * (low + high), omega_most = 2 * acos(-1) * p->highest,
         acceleration = acceleration_share * l->acceleration[joint];
  /* no larger than top speed needs at that acceleration; slightly below the range, for the quintics between knots */
  double largest = fmin(0.5 * (high - low) * (1 - 1e-6), fmax(top * top / acceleration, top / omega_most));
  double smallest = fmin(slides(p->track->robot, joint) ? sliding : bending, 0.01 * largest);
  for (int k = 0; k < p->levels; k++) {
    double a = p->levels > 1 ? smallest * pow(largest / smallest, (double)k / (p->levels - 1)) : largest;
    double omega = fmin(omega_most, fmin(sqrt(acceleration / a), top / a));
    add_sine(p, joint, middle, a, omega / (2 * acos(-1)));
  }
}

/* goes to the middle of the stretch and performs all amplitudes there, smaller or slower if blocked */
static bool perform(plan *p, int joint, double low, double high, double share) {
  psdmp_excite_track *track = p->track;
  double top = share * track->limits->velocity[joint],
         step = (track->limits->upper[joint] - track->limits->lower[joint]) / (PSDMP_EXCITE_STRETCH - 1);
  long rows = track->rows;
  int parts = track->parts;
  for (int k = 0; k < SHRINKS && !track->no_memory; k++) {
    p->pose[joint] = 0.5 * (low + high);
    psdmp_excite_obstacle obstacle = PSDMP_EXCITE_TOUCHES;
    if (psdmp_excite_track_go(track, p->pose)) {
      psdmp_excite_track_rest(track, pause);
      long begin = track->rows - 1;
      memcpy(p->x[0], p->pose, (size_t)track->n * sizeof *p->pose);
      if (!track->no_memory) add_levels(p, joint, low, high, top);
      if (!track->no_memory) obstacle = psdmp_excite_track_obstacle(track, begin);
      if (obstacle == PSDMP_EXCITE_FREE) return !track->no_memory;
    }
    track->rows = rows;
    track->parts = parts;
    if (obstacle == PSDMP_EXCITE_OVERLOADED) top *= 0.8;
    else low += 0.5 * step, high -= 0.5 * step;
    if (!(high > low)) break;
  }
  return false;
}

/* the pose of the others that leaves a joint most of its range: the present one, the middle, or a random one */
static bool find_pose(plan *p, int joint, double *low, double *high) {
  psdmp_excite_track *track = p->track;
  size_t bytes = (size_t)track->n * sizeof *p->pose;
  double whole = track->limits->upper[joint] - track->limits->lower[joint], longest = 0;
  for (int k = 0; k < POSES && longest < 0.999 * whole; k++) {
    double from, to;
    if (k == 0 && track->rows) memcpy(p->other, psdmp_excite_track_last(track), bytes);
    else if (k < 2) memcpy(p->other, p->middle, bytes);
    else psdmp_excite_track_random_pose(track, p->other);
    /* another pose must be worth moving there */
    if (!psdmp_excite_track_stretch(track, p->other, joint, &from, &to) || to - from < 1.05 * longest) continue;
    longest = to - from, *low = from, *high = to;
    memcpy(p->pose, p->other, bytes);
  }
  return longest > 0;
}

static psdm_status all_joints(plan *p, double share) {
  psdmp_excite_track *track = p->track;
  track->rows = track->parts = 0;
  track->random = track->options->seed;
  for (int i = 0; i < track->n && !track->no_memory; i++) {
    double low = 0, high = 0;
    if (!find_pose(p, i, &low, &high) || !perform(p, i, low, high, share))
      return psdmp_base_fail(
          track->error, PSDM_E_ARGUMENT, "", 0, 0,
          "joint %d: no pose was found in which it can move alone within its limits, away from obstacles", i + 1);
  }
  return PSDM_OK;
}

/* time of the sines; the rest is moves and pauses */
static double sine_time(const psdmp_excite_track *track) {
  double seconds = 0;
  for (int k = 0; k < track->parts; k++) seconds += track->part[k].end - track->part[k].begin;
  return seconds;
}

/* as many whole periods as fit into the given time; if not even the ramps fit, with faster small sines */
static psdm_status fit_time(plan *p, double share, double wanted) {
  const double frequencies[2] = {fastest, hurried};
  psdmp_excite_track *track = p->track;
  double least = 0;
  for (int k = 0; k < 2; k++) {
    p->highest = frequencies[k];
    psdm_status status = k ? all_joints(p, share) : PSDM_OK; /* already planned with the first */
    if (status || track->no_memory) return status;
    double sines = sine_time(track), period = sines / (p->whole + 2), others = psdmp_excite_track_time(track) - sines;
    least = others + 2 * period;
    if (least > wanted) continue;
    p->whole = (int)fmin((wanted - others) / period - 2, 1e5);
    return all_joints(p, share);
  }
  return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, "", 0, 0,
                         "%d sines of %d joints do not fit into %g s; they take at least %.1f s", p->levels, track->n,
                         wanted, least);
}

psdm_status psdmp_excite_experiment_friction(psdmp_excite_track *track) {
  size_t n = (size_t)track->n;
  const psdm_excite_options *o = track->options;
  plan p = {.track = track, .levels = o->levels ? o->levels : DEFAULT_LEVELS, .whole = 1, .highest = fastest};
  p.middle = psdmp_excite_track_numbers(track, n), p.pose = psdmp_excite_track_numbers(track, n),
  p.other = psdmp_excite_track_numbers(track, n);
  for (int k = 0; k < 3; k++) p.x[k] = psdmp_excite_track_numbers(track, n);
  if (track->no_memory) return PSDM_E_MEMORY;
  for (size_t i = 0; i < n; i++) p.middle[i] = 0.5 * (track->limits->lower[i] + track->limits->upper[i]);
  /* quintics between knots may be faster than the sine by 1e-6 */
  double share = o->speed > 0 ? fmin(o->speed, 1 - 1e-5) : default_share;
  psdm_status status = all_joints(&p, share);
  if (status || track->no_memory || o->seconds == 0) return status;
  return fit_time(&p, share, o->seconds);
}
