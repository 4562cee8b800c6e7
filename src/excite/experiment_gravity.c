/* experiment_gravity.c: all joints move slowly through their ranges at once, then back along the same path (Lloyd,
 * Irani, Ahmadi 2022, section 3.2).
 *
 * Time is divided into slots of length h. In a slot a joint continues at its constant speed v, or reverses: the quintic
 * from speed v to -v at the same place, which overshoots by 5/16 v h and needs the acceleration 3 v / h. A range is m
 * steps v h wide, and a joint is always at the middle of a step, so that it reverses in time at both ends and stays
 * 3/16 v h away from them. The numbers m of different joints have no common divisor: their pattern repeats only after
 * the product of all. Joints also reverse before collisions. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"

enum {
  LEAST_STEPS = 4, /* of a range */
  STARTS = 2000,   /* poses to start from, until one is free */
  JOGS = 8,        /* whole paths tried; the one with the best coverage is used */
  MOST_SLOTS = 200000
};

static const double default_seconds = 120, default_share = 0.1, slot = 0.4; /* s; of the velocity limit; s at least */

typedef struct jog {
  psdmp_excite_track *track;
  int n, slots;      /* slots of half the experiment: the first and the last are ramps */
  double h;          /* s */
  int *steps;        /* (n) m */
  double *v;         /* (n) */
  int *place, *sign; /* ((slots + 1) x n) place of each joint at each slot's end, and its direction */
  int *best_place, *best_sign;
  bool *turn;      /* (n) */
  double *x[2][3]; /* (n) both ends of a piece */
} jog;

/* ---- speeds ---- */

static int common_divisor(int a, int b) {
  while (b) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* the next number of steps without a common divisor with those of the previous joints; the search ends, as there are
 * always primes ahead */
static int coprime(const jog *j, int joint, int steps) {
  for (;; steps++) {
    bool common = false;
    for (int i = 0; i < joint; i++) common |= common_divisor(steps, j->steps[i]) > 1;
    if (!common) return steps;
  }
}

/* different speeds, by up to a third, below the wanted share; fast enough to cover the whole range, unless the caller
 * chose the speed */
static psdm_status set_speeds(jog *j) {
  const psdmp_excite_limits *l = j->track->limits;
  const psdm_excite_options *o = j->track->options;
  double half = 0.5 * (o->seconds > 0 ? o->seconds : default_seconds), share = o->speed > 0 ? o->speed : default_share;
  j->h = slot;
  for (int i = 0; i < j->n; i++) {
    double range = l->upper[i] - l->lower[i],
           v = share * l->velocity[i] * (1 - psdmp_excite_track_random(j->track) / 3);
    if (o->speed == 0) v = fmin(fmax(v, 1.7 * range / half), l->velocity[i]);
    j->v[i] = v;
    j->h = fmax(j->h, 3 * v / (0.4 * l->acceleration[i]));
  }
  if (half / j->h > MOST_SLOTS)
    return psdmp_base_fail(j->track->error, PSDM_E_LIMIT, "", 0, 0, "a jog of %g s; at most %.0f s are possible",
                           2 * half, 2 * MOST_SLOTS * j->h);
  j->slots = (int)(half / j->h);
  if (j->slots < 2 * LEAST_STEPS)
    return psdmp_base_fail(j->track->error, PSDM_E_ARGUMENT, "", 0, 0,
                           "%g s are too short to jog there and back; %.1f s are the least", 2 * half,
                           4 * LEAST_STEPS * j->h);
  j->h = half / j->slots;
  for (int i = 0; i < j->n; i++) {
    double range = l->upper[i] - l->lower[i], steps = fmin(ceil(range / (j->v[i] * j->h)), 1e8);
    j->steps[i] = coprime(j, i, steps < LEAST_STEPS ? LEAST_STEPS : (int)steps);
    j->v[i] = range / (j->steps[i] * j->h);
  }
  return PSDM_OK;
}

/* ---- one slot ---- */

static double position(const jog *j, int joint, int place) {
  return j->track->limits->lower[joint] + (place + 0.5) * j->v[joint] * j->h;
}

static void set_end(jog *j, int end, const int *place, const int *sign) {
  for (int i = 0; i < j->n; i++) {
    j->x[end][0][i] = position(j, i, place[i]);
    j->x[end][1][i] = sign[i] * j->v[i];
  }
}

/* fills the next place and direction: a joint that does not reverse advances by one step */
static void advance(const jog *j, const int *place, const int *sign, const bool *turn, int *next_place,
                    int *next_sign) {
  for (int i = 0; i < j->n; i++) {
    next_place[i] = turn[i] ? place[i] : place[i] + sign[i];
    next_sign[i] = turn[i] ? -sign[i] : sign[i];
  }
}

static bool piece_free(jog *j) {
  const double *const from[3] = {j->x[0][0], j->x[0][1], j->x[0][2]}, *const to[3] = {j->x[1][0], j->x[1][1],
                                                                                      j->x[1][2]};
  return psdmp_excite_piece_obstacle(j->track, j->h, from, to) == PSDMP_EXCITE_FREE;
}

/* whether the slot is free, and afterwards there is an exit: all joints reverse */
static bool slot_free(jog *j, const int *place, const int *sign, const int *next_place, const int *next_sign) {
  set_end(j, 0, place, sign);
  set_end(j, 1, next_place, next_sign);
  if (!piece_free(j)) return false;
  set_end(j, 0, next_place, next_sign);
  set_end(j, 1, next_place, next_sign);
  for (int i = 0; i < j->n; i++) j->x[1][1][i] = -j->x[1][1][i];
  return piece_free(j);
}

/* chooses joints to reverse: those at the end of their range; of the others one, in random order, then some, then
 * all */
static void choose(jog *j, int attempt, int attempts, int first, const int *place, const int *sign) {
  for (int i = 0; i < j->n; i++) {
    int next = place[i] + sign[i];
    j->turn[i] = next < 0 || next >= j->steps[i] || attempt == attempts - 1;
    if (attempt > j->n) j->turn[i] |= psdmp_excite_track_random(j->track) < 0.5;
  }
  if (attempt > 0 && attempt <= j->n) j->turn[(first + attempt) % j->n] = true;
}

static bool next_slot(jog *j, const int *place, const int *sign, int *next_place, int *next_sign) {
  int attempts = 4 * j->n + 2, first = (int)(psdmp_excite_track_random(j->track) * j->n);
  for (int attempt = 0; attempt < attempts; attempt++) {
    choose(j, attempt, attempts, first, place, sign);
    advance(j, place, sign, j->turn, next_place, next_sign);
    if (slot_free(j, place, sign, next_place, next_sign)) return true;
  }
  return false;
}

/* ---- a path ---- */

/* a start: from rest half a step before it, in a random direction */
static bool begin(jog *j) {
  for (int k = 0; k < STARTS; k++) {
    for (int i = 0; i < j->n; i++) {
      j->place[i] = (int)(psdmp_excite_track_random(j->track) * j->steps[i]);
      j->sign[i] = psdmp_excite_track_random(j->track) < 0.5 ? -1 : 1;
    }
    set_end(j, 1, j->place, j->sign);
    for (int i = 0; i < j->n; i++) {
      j->x[0][0][i] = j->x[1][0][i] - 0.5 * j->sign[i] * j->v[i] * j->h;
      j->x[0][1][i] = 0;
    }
    if (!piece_free(j)) continue;
    /* with an exit */
    memcpy(j->x[0][0], j->x[1][0], (size_t)j->n * sizeof(double));
    memcpy(j->x[0][1], j->x[1][1], (size_t)j->n * sizeof(double));
    for (int i = 0; i < j->n; i++) j->x[1][1][i] = -j->x[1][1][i];
    if (piece_free(j)) return true;
  }
  return false;
}

/* half a step to rest within the last slot: straight on, or if that is blocked, to another end */
static bool end_free(jog *j, const int *place, const int *sign) {
  set_end(j, 0, place, sign);
  for (int i = 0; i < j->n; i++) {
    j->x[1][0][i] = j->x[0][0][i] + 0.5 * sign[i] * j->v[i] * j->h;
    j->x[1][1][i] = 0;
  }
  return piece_free(j);
}

/* slots 1 .. slots - 2 continue or reverse; places are those at the ends of slots 0 .. slots - 2 */
static bool walk(jog *j) {
  if (!begin(j)) return false;
  for (int k = 1; k < j->slots - 1; k++) {
    int *place = j->place + (long)k * j->n, *sign = j->sign + (long)k * j->n;
    if (!next_slot(j, place - j->n, sign - j->n, place, sign)) return false;
  }
  return end_free(j, j->place + (long)(j->slots - 2) * j->n, j->sign + (long)(j->slots - 2) * j->n);
}

/* the least share of a joint's range that the path covers */
static double coverage(const jog *j) {
  double least = 1;
  for (int i = 0; i < j->n; i++) {
    int low = j->steps[i], high = 0;
    for (int k = 0; k < j->slots - 1; k++) {
      int place = j->place[(long)k * j->n + i];
      low = place < low ? place : low;
      high = place > high ? place : high;
    }
    least = fmin(least, (high - low + 1.0) / j->steps[i]);
  }
  return least;
}

/* a row at the end of the next slot: times are multiples of h, not sums, so that both halves are equal */
static void emit_row(jog *j, const double *q, const double *qd) {
  psdmp_excite_track_add(j->track, j->h * (double)j->track->rows - psdmp_excite_track_time(j->track), q, qd, NULL);
}

/* rows of the path, forward or back; the way back has the same places at opposite speeds */
static void emit(jog *j, bool back) {
  int count = j->slots - 1;
  for (int k = 0; k < count; k++) {
    long row = (long)(back ? count - 1 - k : k) * j->n;
    set_end(j, 0, j->place + row, j->sign + row);
    for (int i = 0; i < j->n && back; i++) j->x[0][1][i] = -j->x[0][1][i];
    emit_row(j, j->x[0][0], j->x[0][1]);
  }
}

/* a row at rest half a step before the first place (-1), or after the last (1) */
static void emit_rest(jog *j, int end) {
  long row = end < 0 ? 0 : (long)(j->slots - 2) * j->n;
  for (int i = 0; i < j->n; i++)
    j->x[0][0][i] = position(j, i, j->place[row + i]) + 0.5 * end * j->sign[row + i] * j->v[i] * j->h;
  emit_row(j, j->x[0][0], NULL);
}

static bool prepare(jog *j) {
  psdmp_base_arena *arena = &j->track->scratch;
  size_t n = (size_t)j->n, places = ((size_t)j->slots + 1) * n;
  j->place = psdmp_base_arena_alloc(arena, places * sizeof *j->place);
  j->sign = psdmp_base_arena_alloc(arena, places * sizeof *j->sign);
  j->best_place = psdmp_base_arena_alloc(arena, places * sizeof *j->place);
  j->best_sign = psdmp_base_arena_alloc(arena, places * sizeof *j->sign);
  j->turn = psdmp_base_arena_alloc(arena, n * sizeof *j->turn);
  bool whole = j->place && j->sign && j->best_place && j->best_sign && j->turn;
  for (int end = 0; end < 2; end++)
    for (int k = 0; k < 3; k++) whole &= (j->x[end][k] = psdmp_excite_track_numbers(j->track, n)) != NULL;
  j->track->no_memory |= !whole;
  return whole;
}

psdm_status psdmp_excite_experiment_gravity(psdmp_excite_track *track) {
  jog j = {.track = track,
           .n = track->n,
           .v = psdmp_excite_track_numbers(track, (size_t)track->n),
           .steps = psdmp_base_arena_alloc(&track->scratch, (size_t)track->n * sizeof(int))};
  track->no_memory |= !j.steps;
  if (track->no_memory) return PSDM_E_MEMORY;
  psdm_status status = set_speeds(&j);
  if (status) return status;
  if (!prepare(&j)) return PSDM_E_MEMORY;
  /* several paths, until one covers all of every range */
  size_t bytes = ((size_t)j.slots + 1) * (size_t)j.n * sizeof(int);
  double best = -1;
  for (int k = 0; k < JOGS && best < 1; k++) {
    double seen = walk(&j) ? coverage(&j) : -1;
    if (seen <= best) continue;
    best = seen;
    memcpy(j.best_place, j.place, bytes);
    memcpy(j.best_sign, j.sign, bytes);
  }
  if (best < 0)
    return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, "", 0, 0,
                           "no path was found on which all joints jog within their limits, away from obstacles");
  memcpy(j.place, j.best_place, bytes);
  memcpy(j.sign, j.best_sign, bytes);
  emit_rest(&j, -1);
  emit(&j, false);
  emit_rest(&j, 1);
  double turn = psdmp_excite_track_time(track);
  emit(&j, true);
  emit_rest(&j, -1);
  psdmp_excite_track_add_part(track, (psdm_excite_part){.begin = 0, .end = turn, .joint = -1, .direction = 1});
  psdmp_excite_track_add_part(
      track, (psdm_excite_part){.begin = turn, .end = psdmp_excite_track_time(track), .joint = -1, .direction = -1});
  return PSDM_OK;
}
