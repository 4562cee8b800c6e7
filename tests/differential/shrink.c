/* shrink.c: one change at a time, kept if the robot still fails, until none is kept. */
#include "shrink.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

typedef struct shrinking {
  arm *a;
  uint64_t *seed;
  still_fails *fails;
  void *user;
  double end;
  bool smaller; /* something was kept in this round */
} shrinking;

/* fewer joints mean different states: a few more tries if their number changed */
static bool keep(shrinking *s, const arm *candidate) {
  int chances = candidate->joints == s->a->joints ? 1 : 6;
  if (psdmp_base_clock() > s->end || memcmp(candidate, s->a, sizeof *candidate) == 0) return false;
  for (int k = 0; k < chances; k++)
    if (s->fails(s->user, candidate, *s->seed + (uint64_t)k)) {
      *s->a = *candidate;
      *s->seed += (uint64_t)k;
      return s->smaller = true;
    }
  return false;
}

/* its load goes to its parent; joints that follow it no longer do */
static void without_joint(arm *a, int j) {
  for (int k = j + 1; k < a->joints; k++) {
    arm_joint *b = &a->joint[k];
    b->parent = b->parent == j ? a->joint[j].parent : b->parent - (b->parent > j);
    int kept = 0;
    for (int i = 0; i < b->leaders; i++)
      if (b->leader[i] != j) b->leader[kept] = b->leader[i] - (b->leader[i] > j), b->factor[kept++] = b->factor[i];
    b->leaders = kept;
  }
  memmove(&a->joint[j], &a->joint[j + 1], sizeof *a->joint * (size_t)(a->joints - j - 1));
  a->joints--;
  memset(&a->joint[a->joints], 0, sizeof *a->joint);
}

static void drop_joints(shrinking *s) {
  for (int j = s->a->joints - 1; j >= 0; j--) {
    arm candidate = *s->a;
    if (candidate.joints < 2) return;
    without_joint(&candidate, j);
    keep(s, &candidate);
  }
}

static void drop_features(shrinking *s) {
  const double down[3] = {0, 0, -9.81};
  arm c = *s->a;
  c.has_tool = false, memset(&c.tool, 0, sizeof c.tool), keep(s, &c);
  c = *s->a, memset(c.base, 0, sizeof c.base), keep(s, &c);
  c = *s->a, memset(c.gravity, 0, sizeof c.gravity);
  if (!keep(s, &c) && memcmp(s->a->gravity, c.gravity, sizeof down))
    c = *s->a, memcpy(c.gravity, down, sizeof down), keep(s, &c);
  c = *s->a, c.snap = false, keep(s, &c);
  for (int j = 0; j < s->a->joints; j++) {
    c = *s->a, c.joint[j].leaders = 0, keep(s, &c);
    c = *s->a, c.joint[j].drive = 0, keep(s, &c);
    if (s->a->joint[j].type != PSDM_FIXED) c = *s->a, c.joint[j].type = PSDM_REVOLUTE, keep(s, &c);
    c = *s->a, c.joint[j].continuous = s->a->joint[j].type == PSDM_REVOLUTE, keep(s, &c);
    c = *s->a, memset(&c.joint[j].body, 0, sizeof c.joint[j].body), keep(s, &c);
    c = *s->a, memset(c.joint[j].origin, 0, sizeof c.joint[j].origin), keep(s, &c);
    c = *s->a, c.joint[j].parent = j - 1, keep(s, &c);
    c = *s->a, c.joint[j].axis[0] = c.joint[j].axis[1] = 0, c.joint[j].axis[2] = 1, keep(s, &c);
  }
}

/* the index-th number of a robot */
typedef struct finder {
  int index;
  double *number;
} finder;

static void find(void *user, double *x) {
  finder *f = user;
  if (f->index-- == 0) f->number = x;
}

/* index of a number, its value; false after the last */
static bool set_number(arm *a, int index, double value, bool set, double *old) {
  finder f = {index, NULL};
  arm_each_number(a, find, &f);
  if (!f.number) return false;
  *old = *f.number;
  if (set) *f.number = value;
  return true;
}

static void simplify_numbers(shrinking *s) {
  static const int digits[] = {1, 2, 3, 4, 6, 9, 12};
  double old, unused;
  for (int i = 0; set_number(s->a, i, 0, false, &old) && psdmp_base_clock() < s->end; i++) {
    arm c = *s->a;
    if (old == 0) continue;
    set_number(&c, i, 0, true, &unused);
    if (keep(s, &c) || old == 1) continue;
    c = *s->a, set_number(&c, i, 1, true, &unused);
    if (keep(s, &c)) continue;
    for (size_t d = 0; d < sizeof digits / sizeof *digits; d++) {
      double rounded = arm_round(old, digits[d]);
      c = *s->a, set_number(&c, i, rounded, true, &unused);
      if (rounded == old || keep(s, &c)) break;
    }
  }
}

void shrink(arm *a, uint64_t *seed, still_fails *fails, void *user, double seconds) {
  shrinking s = {a, seed, fails, user, psdmp_base_clock() + seconds, true};
  while (s.smaller && psdmp_base_clock() < s.end) {
    s.smaller = false;
    drop_joints(&s);
    drop_features(&s);
    simplify_numbers(&s);
  }
}
