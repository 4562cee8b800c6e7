/* experiment_track.c: rows of a motion, and checks of its pieces. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"
#include "psdm/friction.h"

/* m above the required clearance in planned motions, so that the check along them ends */
static const double slack = 5e-4;
/* rad or m of the joint that moves most: a torque's sine differs from its chord by 2e-4 of its size there */
static const double torque_step = 0.04;
/* s: impractical beyond this, and the check at 2000 points a second would hardly end */
static const double longest = 21600;
enum { LEAST_POINTS = 8, MOST_POINTS = 10000 }; /* of a piece where torques are checked */

double psdmp_excite_track_random(psdmp_excite_track *track) { return psdmp_base_random(&track->random, 0, 1); }

void psdmp_excite_track_random_pose(psdmp_excite_track *track, double *q) {
  const psdmp_excite_limits *l = track->limits;
  for (int i = 0; i < track->n; i++)
    q[i] = l->lower[i] + (l->upper[i] - l->lower[i]) * psdmp_excite_track_random(track);
}

/* ---- rows ---- */

double *psdmp_excite_track_numbers(psdmp_excite_track *track, size_t count) {
  double *numbers = psdmp_base_arena_alloc(&track->scratch, (count ? count : 1) * sizeof *numbers);
  if (!numbers) track->no_memory = true;
  return numbers;
}

static bool grow(psdmp_excite_track *track) {
  size_t row = (size_t)track->n * sizeof(double);
  long room = track->row_room;
  bool ok = psdmp_base_arena_room(&track->scratch, &track->t, track->rows, 1, &room, sizeof *track->t);
  for (int k = 0; k < 3 && ok; k++) {
    room = track->row_room;
    ok = psdmp_base_arena_room(&track->scratch, &track->x[k], track->rows, 1, &room, row);
  }
  if (ok) track->row_room = room;
  else track->no_memory = true;
  return ok;
}

void psdmp_excite_track_add(psdmp_excite_track *track, double seconds, const double *q, const double *qd,
                            const double *qdd) {
  if (track->no_memory || (track->rows == track->row_room && !grow(track))) return;
  const double *from[3] = {q, qd, qdd};
  long row = track->rows, n = track->n;
  track->t[row] = row ? track->t[row - 1] + seconds : 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < n; i++) track->x[k][row * n + i] = from[k] ? from[k][i] : 0;
  track->rows++;
  if (track->t[row] > longest) track->too_long = track->no_memory = true;
}

const double *psdmp_excite_track_last(const psdmp_excite_track *track) {
  return track->x[0] + (track->rows - 1) * track->n;
}
double psdmp_excite_track_time(const psdmp_excite_track *track) { return track->rows ? track->t[track->rows - 1] : 0; }

void psdmp_excite_track_rest(psdmp_excite_track *track, double seconds) {
  if (track->no_memory || (track->rows == track->row_room && !grow(track))) return;
  psdmp_excite_track_add(track, seconds, psdmp_excite_track_last(track), NULL, NULL);
}

void psdmp_excite_track_add_part(psdmp_excite_track *track, psdm_excite_part part) {
  if (!psdmp_base_arena_room(&track->scratch, &track->part, track->parts, 1, &track->part_room, sizeof part))
    track->no_memory = true;
  else track->part[track->parts++] = part;
}

/* ---- checks ---- */

/* distance of the nearest gap to the clearance; infinite without collision checks */
static double room_at(psdmp_excite_track *track, const double *q) {
  int gaps = psdm_collision_gaps(track->robot);
  double least = INFINITY;
  if (!gaps) return least;
  if (psdm_collision_at(track->robot, track->work, q, track->gap, NULL)) return -INFINITY;
  for (int k = 0; k < gaps; k++) least = fmin(least, track->gap[k]);
  return isnan(least) ? -INFINITY : least - track->limits->clearance;
}

/* torques of a motion, steady friction of the file included, with and without the known mass */
static bool overloaded(psdmp_excite_track *track, const double *q, const double *qd, const double *qdd) {
  const psdm_robot *const robots[2] = {track->robot, track->loaded};
  double *tau = track->state + 3 * track->n, *friction = tau + track->n;
  if (!track->limits->torques) return false;
  psdm_friction_torque(track->robot, qd, friction);
  for (int k = 0; k < 2 && robots[k]; k++) {
    if (psdm_inverse(robots[k], track->work, q, qd, qdd, tau)) return true;
    for (int i = 0; i < track->n; i++)
      if (!(fabs(tau[i]) <= track->limits->effort[i]) || !(fabs(tau[i] + friction[i]) <= track->limits->effort[i]))
        return true;
  }
  return false;
}

psdmp_excite_obstacle psdmp_excite_pose_obstacle(psdmp_excite_track *track, const double *q) {
  double *still = track->control; /* a piece's control points are unused here */
  if (room_at(track, q) < slack) return PSDMP_EXCITE_TOUCHES;
  memset(still, 0, (size_t)track->n * sizeof *still);
  return overloaded(track, q, still, still) ? PSDMP_EXCITE_OVERLOADED : PSDMP_EXCITE_FREE;
}

/* control points of the quintic with these ends, (6 x n): its derivatives are differences of neighbours (Farin,
 * Curves and surfaces for CAGD, 2002) */
static void set_control(psdmp_excite_track *track, double h, const double *const from[3], const double *const to[3]) {
  int n = track->n;
  double *b = track->control;
  for (int i = 0; i < n; i++) {
    b[i] = from[0][i];
    b[n + i] = from[0][i] + h * from[1][i] / 5;
    b[2 * n + i] = from[0][i] + 2 * h * from[1][i] / 5 + h * h * from[2][i] / 20;
    b[3 * n + i] = to[0][i] - 2 * h * to[1][i] / 5 + h * h * to[2][i] / 20;
    b[4 * n + i] = to[0][i] - h * to[1][i] / 5;
    b[5 * n + i] = to[0][i];
  }
}

/* q, qd and qdd at u in [0, 1], by de Casteljau's recursion */
static void piece_at(psdmp_excite_track *track, double h, double u) {
  int n = track->n;
  double *x = track->state;
  for (int i = 0; i < n; i++) {
    double b[6];
    for (int k = 0; k < 6; k++) b[k] = track->control[k * n + i];
    for (int level = 5; level > 2; level--)
      for (int k = 0; k < level; k++) b[k] += u * (b[k + 1] - b[k]);
    x[2 * n + i] = 20 * (b[2] - 2 * b[1] + b[0]) / (h * h);
    for (int k = 0; k < 2; k++) b[k] += u * (b[k + 1] - b[k]);
    x[n + i] = 5 * (b[1] - b[0]) / h;
    x[i] = b[0] + u * (b[1] - b[0]);
  }
}

/* maximum speed of a joint, per unit of u: that of the longest edge of the control polygon */
static double fastest(const psdmp_excite_track *track, int i) {
  double speed = 0;
  for (int k = 0; k < 5; k++)
    speed = fmax(speed, 5 * fabs(track->control[(k + 1) * track->n + i] - track->control[k * track->n + i]));
  return speed;
}

/* steps as long as the remaining distance allows at the highest speed: nothing between them can touch */
static bool touches(psdmp_excite_track *track, double h) {
  double way = 0;
  if (!psdm_collision_gaps(track->robot)) return false;
  for (int i = 0; i < track->n; i++) way += track->reach[i] * fastest(track, i);
  for (double u = 0;;) {
    piece_at(track, h, u);
    double room = room_at(track, track->state);
    if (room < slack) return true;
    if (u >= 1 || !(way > 0)) return false;
    u = fmin(1, u + room / way);
  }
}

/* enough points that no torque changes much between them */
static int torque_points(const psdmp_excite_track *track) {
  double way = 0;
  for (int i = 0; i < track->n; i++) way = fmax(way, fastest(track, i));
  return (int)fmin(LEAST_POINTS + way / torque_step, MOST_POINTS);
}

psdmp_excite_obstacle psdmp_excite_piece_obstacle(psdmp_excite_track *track, double h, const double *const from[3],
                                                  const double *const to[3]) {
  set_control(track, h, from, to);
  if (touches(track, h)) return PSDMP_EXCITE_TOUCHES;
  int points = track->limits->torques ? torque_points(track) : 0;
  for (int k = 0; k <= points && points; k++) {
    piece_at(track, h, (double)k / points);
    if (overloaded(track, track->state, track->state + track->n, track->state + 2 * track->n))
      return PSDMP_EXCITE_OVERLOADED;
  }
  return PSDMP_EXCITE_FREE;
}

psdmp_excite_obstacle psdmp_excite_track_obstacle(psdmp_excite_track *track, long row) {
  long n = track->n;
  for (long k = row > 0 ? row : 0; k + 1 < track->rows; k++) {
    const double *from[3], *to[3];
    for (int d = 0; d < 3; d++) from[d] = track->x[d] + k * n, to[d] = from[d] + n;
    psdmp_excite_obstacle obstacle = psdmp_excite_piece_obstacle(track, track->t[k + 1] - track->t[k], from, to);
    if (obstacle) return obstacle;
  }
  return PSDMP_EXCITE_FREE;
}

bool psdmp_excite_track_stretch(psdmp_excite_track *track, const double *q, int i, double *low, double *high) {
  double lower = track->limits->lower[i], step = (track->limits->upper[i] - lower) / (PSDMP_EXCITE_STRETCH - 1);
  double *at = track->state; /* where a piece's q is: checks of a pose only use what follows it */
  int begin = 0, best = 0, length = 0;
  for (int k = 0; k <= PSDMP_EXCITE_STRETCH; k++) {
    memcpy(at, q, (size_t)track->n * sizeof *at);
    at[i] = lower + step * k;
    if (k < PSDMP_EXCITE_STRETCH && psdmp_excite_pose_obstacle(track, at) == PSDMP_EXCITE_FREE) continue;
    if (k - begin > length) length = k - begin, best = begin;
    begin = k + 1;
  }
  *low = lower + step * best;
  *high = lower + step * (best + length - 1);
  return length > 1;
}
