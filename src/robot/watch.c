/* watch.c: which capsules are checked against which, and against the floor. */
#include "robot/robot.h"

/* the body that carries a capsule, -1: the base */
static int body_of(const psdm_robot *r, const psdm_capsule *capsule) {
  return capsule->joint < 0 ? -1 : r->link[capsule->joint].body;
}

/* the same body, or two that a single joint connects: their capsules touch at the joint */
static bool neighbours(const psdm_robot *r, int a, int b) {
  return a == b || (a >= 0 && r->body[a].parent == b) || (b >= 0 && r->body[b].parent == a);
}

/* marks the links that capsule a is not checked against; entry j + 1 is link j, entry 0 the base */
static void mark_apart(const psdmp_robot_collision *c, int a, int *mark) {
  int joint = c->capsule[a].joint;
  for (int i = 0; i < c->aparts; i++)
    for (int side = 0; side < 2; side++)
      if (c->apart[i][side] == joint) mark[c->apart[i][!side] + 1] = a + 1;
}

/* the gaps of capsule a with later ones; only counts if gap is NULL */
static int watch(const psdm_robot *r, const psdmp_robot_collision *c, int a, int *mark, int (*gap)[2]) {
  int count = 0, body = body_of(r, &c->capsule[a]);
  mark_apart(c, a, mark);
  for (int b = a + 1; b < c->capsules; b++) {
    if (mark[c->capsule[b].joint + 1] == a + 1 || neighbours(r, body, body_of(r, &c->capsule[b]))) continue;
    if (gap) gap[count][0] = a, gap[count][1] = b;
    count++;
  }
  return count;
}

bool psdmp_robot_collision_watch(const psdm_robot *r, psdmp_base_arena *arena, psdmp_robot_collision *c) {
  int *mark = psdmp_base_arena_alloc(arena, ((size_t)r->joints + 1) * sizeof *mark), count = 0;
  if (!mark) return false;
  for (int a = 0; a < c->capsules; a++)
    count += watch(r, c, a, mark, NULL) + (c->floor && body_of(r, &c->capsule[a]) >= 0);
  c->gap = psdmp_base_arena_alloc(arena, ((size_t)count + 1) * sizeof *c->gap);
  if (!c->gap) return false;
  for (int a = 0; a < c->capsules; a++) c->gaps += watch(r, c, a, mark, c->gap + c->gaps);
  for (int a = 0; a < c->capsules && c->floor; a++) {
    if (body_of(r, &c->capsule[a]) < 0) continue;
    c->gap[c->gaps][0] = a;
    c->gap[c->gaps++][1] = -1;
  }
  return true;
}
