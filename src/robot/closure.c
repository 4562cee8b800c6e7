/* closure.c: closed loops: a robot on top of its open tree. */
#include <math.h>
#include <string.h>

#include "robot/spec_priv.h"

static psdm_status refuse(const psdmp_robot_spec *spec, psdm_error *error, const char *text) {
  return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->loops_line, spec->loops_column, "%s", text);
}

static double length(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/* The size of the loops and the units of the joints, after lengths or points changed. */
static void measure_loops(psdmp_robot_closure *c) {
  const psdm_robot *tree = c->tree;
  c->size = 0;
  for (int l = 0; l < c->loops; l++) {
    double way = 0;
    for (int side = 0; side < 2; side++) {
      const psdmp_robot_link *link = &tree->link[c->loop[l].joint[side]];
      way += length(c->loop[l].point[side]) + (link->body < 0 ? 0 : length(link->frame.p));
      for (int b = link->body; b >= 0 && tree->body[b].parent >= 0; b = tree->body[b].parent)
        way += length(tree->body[b].joint.p);
    }
    c->size = fmax(c->size, way);
  }
  if (c->size == 0) c->size = 1;
  for (int j = 0; j < tree->joints; j++)
    if (tree->joint[j].q >= 0) c->unit[tree->joint[j].q] = tree->joint[j].type == PSDM_PRISMATIC ? c->size : 1;
}

/* on[q]: joint q moves one end of a loop and not the other. odd: (bodies) false */
static void find_path(const psdm_robot *tree, const psdmp_robot_loop *loop, bool *odd, bool *on) {
  for (int turn = 0; turn < 2; turn++) { /* the second pass removes the marks */
    for (int side = 0; side < 2; side++)
      for (int b = tree->link[loop->joint[side]].body; b >= 0; b = tree->body[b].parent) odd[b] = !odd[b];
    for (int b = 0; b < tree->bodies && !turn; b++)
      for (int i = tree->g_row[b]; i < tree->g_row[b + 1]; i++) on[tree->g_col[i]] |= odd[b];
    for (int b = 0; b < tree->bodies; b++) odd[b] &= !turn;
  }
}

/* every passive joint must move in a loop */
static psdm_status check_paths(const psdmp_robot_spec *spec, const psdmp_robot_closure *c, psdmp_base_arena *arena,
                               psdm_error *error) {
  const psdm_robot *tree = c->tree;
  bool *odd = PSDMP_BASE_NEW(arena, tree->bodies, bool), *on = PSDMP_BASE_NEW(arena, tree->n, bool);
  if (!odd || !on) return psdmp_base_no_memory(spec->file, error);
  for (int l = 0; l < c->loops; l++) find_path(tree, &c->loop[l], odd, on);
  for (int j = 0; j < tree->joints; j++) {
    char name[80];
    if (!spec->joint[j].passive || on[tree->joint[j].q]) continue;
    psdmp_base_quote(spec->joint[j].name, strlen(spec->joint[j].name), name, sizeof name);
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->loops_line, spec->loops_column,
                           "joint '%s' is passive, but no loop leads through it: it does not lie on the way from one "
                           "of a loop's links to the other",
                           name);
  }
  return PSDM_OK;
}

/* the transmission between the motors and the independent joints; the tree has none */
static psdm_status keep_transmission(const psdmp_robot_spec *spec, psdm_robot *r, int N, psdm_error *error) {
  if (!r->transmission) return PSDM_OK;
  double *T = PSDMP_BASE_NEW(&r->arena, r->n * r->n, double), *inverse = PSDMP_BASE_NEW(&r->arena, r->n * r->n, double);
  if (!T || !inverse) return psdmp_base_no_memory(spec->file, error);
  const int *at = r->closure->independent;
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < r->n; j++) {
      T[i * r->n + j] = r->transmission[at[i] * N + at[j]];
      inverse[i * r->n + j] = r->transmission_inv[at[i] * N + at[j]];
    }
  r->transmission = T;
  r->transmission_inv = inverse;
  return PSDM_OK;
}

static psdmp_robot_closure *new_closure(const psdmp_robot_spec *spec, const psdm_robot *tree, psdmp_base_arena *arena) {
  psdmp_robot_closure *c = PSDMP_BASE_NEW(arena, 1, psdmp_robot_closure);
  if (!c) return NULL;
  *c = (psdmp_robot_closure){.tree = tree,
                             .loops = spec->loops,
                             .loop = spec->loop,
                             .passive = PSDMP_BASE_NEW(arena, tree->n, int),
                             .home = PSDMP_BASE_NEW(arena, tree->n, double),
                             .start = PSDMP_BASE_NEW(arena, tree->n, double),
                             .independent = PSDMP_BASE_NEW(arena, tree->n, int),
                             .unit = PSDMP_BASE_NEW(arena, tree->n, double)};
  return c->passive && c->home && c->start && c->independent && c->unit ? c : NULL;
}

/* renumbers the joints without the passive ones; returns how many are independent */
static int number_joints(const psdmp_robot_spec *spec, psdmp_robot_closure *c, int joints, psdm_joint *joint) {
  int n = 0;
  for (int j = 0; j < joints; j++) {
    int q = joint[j].q;
    if (q < 0) continue;
    joint[j].passive = spec->joint[j].passive;
    if (joint[j].passive) {
      c->passive[c->passives] = q;
      c->start[c->passives++] = spec->joint[j].start;
    } else {
      c->independent[n] = q;
      c->home[n] = spec->joint[j].start;
    }
    joint[j].q = joint[j].passive ? -1 : n++;
  }
  return n;
}

psdm_status psdmp_robot_close_loops(const psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  if (!spec->loops) return PSDM_OK;
  int N = r->n;
  psdm_robot *tree = PSDMP_BASE_NEW(&r->arena, 1, psdm_robot);
  psdm_joint *joint = PSDMP_BASE_NEW(&r->arena, r->joints, psdm_joint);
  if (!tree || !joint) return psdmp_base_no_memory(spec->file, error);
  *tree = *r;
  tree->arena = (psdmp_base_arena){.allocator = r->arena.allocator};
  tree->transmission = tree->transmission_inv = NULL;
  psdmp_robot_closure *c = new_closure(spec, tree, &r->arena);
  if (!c) return psdmp_base_no_memory(spec->file, error);
  memcpy(joint, r->joint, (size_t)r->joints * sizeof *joint);
  r->n = number_joints(spec, c, r->joints, joint);
  if (c->passives > 3 * c->loops)
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->loops_line, spec->loops_column,
                           "%d passive joints for %d loops; a loop moves three at most", c->passives, c->loops);
  if (!r->n) return refuse(spec, error, "every joint is passive; at least one must be independent");
  r->joint = joint;
  r->closure = c;
  r->direct = false;
  measure_loops(c);
  psdm_status status = check_paths(spec, c, &r->arena, error);
  return status ? status : keep_transmission(spec, r, N, error);
}
