/* singular.c: whether a robot's mass matrix can be inverted at all, and if not, which joints have no inertia.
 *
 * M is evaluated at random states, with rows and columns scaled to a unit diagonal, which removes units and sizes. If
 * it is singular at all of them it is singular everywhere. */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/rigid.h"
#include "rigid/rigid.h"

enum { STATES = 3, LARGE = 100 }; /* above this many joints one state must do */

typedef struct look {
  const psdm_robot *robot;
  psdm_work *work;
  double *q, *M, *scale, *eigen, *words, *floor; /* (n), (n x n), (n), (n), (n x n + 3 n), (n) */
  bool *bare, *loose; /* (n) joints that move no inertia alone, joints that can move with others without moving any */
  double condition;
  bool singular;
} look;

static bool make_room(look *l, psdmp_base_arena *arena) {
  int n = l->robot->n;
  void *work = psdmp_base_arena_alloc(arena, psdm_work_bytes(l->robot));
  l->q = PSDMP_BASE_NEW(arena, n, double);
  l->M = PSDMP_BASE_NEW(arena, (long)n * n, double);
  l->scale = PSDMP_BASE_NEW(arena, n, double);
  l->eigen = PSDMP_BASE_NEW(arena, n, double);
  l->words = PSDMP_BASE_NEW(arena, (long)n * n + 3 * n, double);
  l->floor = PSDMP_BASE_NEW(arena, n, double);
  l->bare = PSDMP_BASE_NEW(arena, n, bool);
  l->loose = PSDMP_BASE_NEW(arena, n, bool);
  return work && l->q && l->M && l->scale && l->eigen && l->words && l->floor && l->bare && l->loose &&
         !psdm_work_init(l->robot, work, psdm_work_bytes(l->robot), &l->work);
}

/* rounding errors on the diagonal where a revolute joint carries mass on its axis alone: moments across it, added and
 * subtracted again */
static bool find_floors(look *l, psdmp_base_arena *arena) {
  const psdm_robot *r = l->robot->closure ? l->robot->closure->tree : l->robot;
  double *carried = PSDMP_BASE_NEW(arena, r->bodies, double);
  if (!carried || l->robot->closure) return carried != NULL;
  for (int b = r->bodies - 1; b >= 0; b--) {
    const psdmp_robot_body *body = &r->body[b];
    carried[b] += fabs(body->pi[4]) + fabs(body->pi[7]) + fabs(body->pi[9]);
    if (body->parent >= 0) carried[body->parent] += carried[b];
    for (int i = r->g_row[b]; i < r->g_row[b + 1] && !body->prismatic; i++)
      l->floor[r->g_col[i]] = fmax(l->floor[r->g_col[i]], 8 * DBL_EPSILON * r->g_val[i] * r->g_val[i] * carried[b]);
  }
  return true;
}

static void draw(look *l, uint64_t *seed) {
  const psdm_robot *r = l->robot;
  /* a displacement much longer than the arms on it hides their inertias */
  const double pi = 3.14159265358979323846, unit = psdmp_robot_unit(r);
  for (int j = 0; j < r->joints; j++) {
    double span = r->closure ? 0.05 : r->joint[j].type == PSDM_PRISMATIC ? 0.5 * unit : pi;
    if (r->joint[j].q >= 0)
      l->q[r->joint[j].q] = (r->closure ? r->closure->home[r->joint[j].q] : 0) + psdmp_base_random(seed, -span, span);
  }
}

/* the scaled matrix's eigenvalues, and the joints in the directions of those that are zero to rounding */
static bool look_at(look *l) {
  int n = l->robot->n;
  double least = INFINITY, most = 0, zero = 4 * n * DBL_EPSILON;
  for (int i = 0; i < n; i++) {
    l->bare[i] = l->loose[i] = false;
    double d = fabs(l->M[(long)i * n + i]);
    l->bare[i] = d <= l->floor[i];
    l->scale[i] = l->bare[i] ? 0 : 1 / sqrt(d);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) l->M[(long)i * n + j] *= l->scale[i] * l->scale[j];
  if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, l->M, n, l->eigen, l->words, 3 * n)) return false;
  for (int k = 0; k < n; k++) least = fmin(least, fabs(l->eigen[k])), most = fmax(most, fabs(l->eigen[k]));
  l->condition = most / least;
  l->singular = !(least > zero * most);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n && !(fabs(l->eigen[k]) > zero * most); i++)
      l->loose[i] |= !l->bare[i] && fabs(l->M[i + (long)k * n]) > 1e-6;
  return true;
}

/* "joint 'a'" or "joints 'a', 'b' and 3 more"; returns how many */
static int name_joints(const psdm_robot *r, const bool *which, char *text, size_t size) {
  int count = 0, shown = 0;
  char name[80];
  for (int j = 0; j < r->joints; j++) count += r->joint[j].q >= 0 && which[r->joint[j].q];
  snprintf(text, size, "joint%s", count == 1 ? "" : "s");
  for (int j = 0; j < r->joints; j++) {
    if (r->joint[j].q < 0 || !which[r->joint[j].q] || shown == 6) continue;
    psdmp_base_quote(r->joint[j].name, strlen(r->joint[j].name), name, sizeof name);
    snprintf(text + strlen(text), size - strlen(text), "%s'%s'", shown++ ? ", " : " ", name);
  }
  if (shown < count) snprintf(text + strlen(text), size - strlen(text), " and %d more", count - shown);
  return count;
}

static psdm_status tell(const look *l, psdm_error *error) {
  char names[600];
  int bare = name_joints(l->robot, l->bare, names, sizeof names);
  if (bare)
    return psdmp_base_fail(error, PSDM_E_SINGULAR, l->robot->file, 0, 0,
                           "%s move%s nothing that has inertia: accelerations under torques do not exist", names,
                           bare == 1 ? "s" : "");
  int loose = name_joints(l->robot, l->loose, names, sizeof names);
  return psdmp_base_fail(
      error, PSDM_E_SINGULAR, l->robot->file, 0, 0,
      "%s can move%s without moving anything that has inertia: accelerations under torques do not exist", names,
      loose == 1 ? "" : " together");
}

static psdm_status search(look *l, psdmp_base_arena *arena, psdm_error *error) {
  uint64_t seed = 20;
  double best = INFINITY;
  bool seen = false, regular = false;
  if (!make_room(l, arena) || !find_floors(l, arena)) return psdmp_base_no_memory(l->robot->file, error);
  for (int k = 0; k < (l->robot->n > LARGE ? 1 : STATES); k++) {
    draw(l, &seed);
    psdm_status status = psdm_mass(l->robot, l->work, l->q, l->M);
    if (status == PSDM_E_MISSING) return psdm_robot_ready(l->robot, error);
    if (status || !look_at(l)) continue; /* a loop does not close there, or numbers overflow: inconclusive */
    seen = true;
    regular |= !l->singular;
    if (!l->singular) best = fmin(best, l->condition);
  }
  l->condition = seen ? best : NAN;
  return seen && !regular ? tell(l, error) : PSDM_OK;
}

psdm_status psdm_mass_condition(const psdm_robot *robot, const psdm_allocator *allocator, double *condition,
                                psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  look l = {.robot = robot};
  psdm_status status = search(&l, &arena, error);
  if (condition) *condition = l.condition;
  psdmp_base_arena_free(&arena);
  return status;
}
