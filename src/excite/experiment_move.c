/* experiment_move.c: moves from one pose to another, straight or over random poses. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"

enum {
  POSES = 40,    /* in the search for a path, both ends included */
  ATTEMPTS = 40, /* to find one of them free */
  SLOWER = 3     /* times that a move with too much torque is made twice as long */
};

/* shares of the limits for moves: they are not part of the experiment */
static const double speed_share = 0.3, acceleration_share = 0.3, shortest = 0.5;

/* a quintic from rest to rest has 15/8 of its mean speed, and the acceleration 10/sqrt(3) distance / time^2 */
static double duration(const psdmp_excite_track *track, const double *from, const double *to) {
  double seconds = shortest;
  for (int i = 0; i < track->n; i++) {
    double way = fabs(to[i] - from[i]);
    seconds = fmax(seconds, 1.875 * way / (speed_share * track->limits->velocity[i]));
    seconds = fmax(seconds, sqrt(10 / sqrt(3) * way / (acceleration_share * track->limits->acceleration[i])));
  }
  return seconds;
}

/* duration of the straight move; 0 if blocked */
static double straight(psdmp_excite_track *track, const double *from, const double *to, const double *still) {
  const double *const begin[3] = {from, still, still}, *const end[3] = {to, still, still};
  double seconds = duration(track, from, to);
  for (int k = 0; k <= SLOWER; k++, seconds *= 2) {
    psdmp_excite_obstacle obstacle = psdmp_excite_piece_obstacle(track, seconds, begin, end);
    if (obstacle == PSDMP_EXCITE_FREE) return seconds;
    if (obstacle == PSDMP_EXCITE_TOUCHES) return 0;
  }
  return 0;
}

/* A map of poses, extended during the search. */
typedef struct map {
  double *pose;      /* (POSES x n) 0: start, 1: end */
  int before[POSES]; /* the pose from which this one is reached; -1: not yet */
  double seconds[POSES];
} map;

/* another free random pose; false when none is found */
static bool draw(psdmp_excite_track *track, double *q) {
  for (int k = 0; k < ATTEMPTS; k++) {
    psdmp_excite_track_random_pose(track, q);
    if (psdmp_excite_pose_obstacle(track, q) == PSDMP_EXCITE_FREE) return true;
  }
  return false;
}

/* breadth first: the path with the fewest bends. False: the end is not reached */
static bool find(psdmp_excite_track *track, map *m, const double *still) {
  int n = track->n, queue[POSES], first = 0, last = 0, known = 2;
  for (int k = 0; k < POSES; k++) m->before[k] = -1;
  m->before[0] = 0;
  queue[last++] = 0;
  while (first < last) {
    int from = queue[first++];
    for (int to = 1; to < POSES; to++) {
      /* random poses are drawn only if the straight move is blocked */
      if (to >= known) known = draw(track, m->pose + (long)to * n) ? to + 1 : known;
      if (to >= known) break;
      if (m->before[to] >= 0) continue;
      m->seconds[to] = straight(track, m->pose + (long)from * n, m->pose + (long)to * n, still);
      if (m->seconds[to] == 0) continue;
      m->before[to] = from;
      if (to == 1) return true;
      queue[last++] = to;
    }
  }
  return false;
}

bool psdmp_excite_track_go(psdmp_excite_track *track, const double *q) {
  size_t n = (size_t)track->n;
  if (!track->rows) {
    psdmp_excite_track_add(track, 0, q, NULL, NULL);
    return !track->no_memory;
  }
  double farthest = 0;
  const double *from = psdmp_excite_track_last(track);
  for (size_t i = 0; i < n; i++) farthest = fmax(farthest, fabs(q[i] - from[i]));
  if (farthest == 0) return true;
  map m = {.pose = psdmp_excite_track_numbers(track, POSES * n)};
  double *still = psdmp_excite_track_numbers(track, n);
  if (!m.pose || !still) return false;
  memcpy(m.pose, from, n * sizeof *q);
  memcpy(m.pose + n, q, n * sizeof *q);
  if (!find(track, &m, still)) return false;
  int way[POSES], count = 0;
  for (int at = 1; at; at = m.before[at]) way[count++] = at;
  while (count--) psdmp_excite_track_add(track, m.seconds[way[count]], m.pose + (size_t)way[count] * n, NULL, NULL);
  return !track->no_memory;
}
