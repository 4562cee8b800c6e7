/* arm.c: random robots of every kind: aligned, misaligned, rounded, turned, scaled, coupled, massless, branched. */
#include "arm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static bool coin(rng *g) { return rng_int(g, 0, 1); }
static bool one_of(rng *g, int k) { return rng_int(g, 1, k) == 1; }
static double magnitude(rng *g, double low, double high) { return pow(10, rng_uniform(g, low, high)); }
static double either(rng *g, double x) { return coin(g) ? x : -x; }

/* as printf rounds it */
double arm_round(double x, int digits) {
  char text[64];
  if (digits >= 17) return x;
  snprintf(text, sizeof text, "%.*g", digits, x);
  return strtod(text, NULL);
}

/* ---- pieces ---- */

/* what a draw may contain; chances are one in so many, 0: never */
typedef struct taste {
  int least, most; /* joints */
  /* general: lengths and angles without special values */
  int sliding, fixed, branching, coupled, drives, massless, general;
  bool misaligned; /* zeros and right angles are off by 1e-12 .. 1e-2 */
  bool odd_gravity;
} taste;

static double angle(rng *g, const taste *t) {
  static const double aligned[] = {0, PI / 2, -PI / 2, PI, 0, PI / 4};
  if (t->general && one_of(g, t->general)) return rng_uniform(g, -3, 3);
  double x = aligned[rng_int(g, 0, 5)];
  return t->misaligned && coin(g) ? x + either(g, magnitude(g, -12, -2)) : x;
}

static double length(rng *g, const taste *t) {
  if (!one_of(g, 3)) return rng_uniform(g, -0.6, 0.6);
  return t->misaligned && coin(g) ? either(g, magnitude(g, -12, -2)) : 0;
}

static pose random_turn(rng *g) {
  const ld xyz[3] = {0}, rpy[3] = {rng_uniform(g, -3, 3), rng_uniform(g, -1.5, 1.5), rng_uniform(g, -3, 3)};
  return pose_rpy(xyz, rpy);
}

/* principal moments that a body can have, in random axes; massless: none, a point or a rod */
static arm_body body(rng *g, bool thin) {
  arm_body b = {.mass = rng_uniform(g, 0.5, 8)};
  double s[3];
  int kind = thin ? rng_int(g, 0, 2) : 3;
  pose Q = random_turn(g);
  if (kind == 0) return (arm_body){0};
  for (int i = 0; i < 3; i++) b.com[i] = rng_uniform(g, -0.3, 0.3), s[i] = b.mass * pow(rng_uniform(g, 0.01, 0.2), 2);
  if (kind < 3) s[0] = s[1] = 0;
  if (kind == 1) s[2] = 0;
  for (int i = 0, e = 0; i < 3; i++)
    for (int j = i; j < 3; j++, e++)
      for (int k = 0; k < 3; k++)
        b.inertia[e] += (double)Q.R[3 * i + k] * (s[0] + s[1] + s[2] - s[k]) * (double)Q.R[3 * j + k];
  return b;
}

static void couple(rng *g, arm *a, int j) {
  arm_joint *b = &a->joint[j];
  int free_joint[MOST], count = 0;
  for (int k = 0; k < j; k++)
    if (a->joint[k].type != PSDM_FIXED) free_joint[count++] = k;
  if (!count) return;
  b->leaders = a->layout != ARM_URDF && count > 1 && coin(g) ? 2 : 1;
  b->leader[0] = free_joint[rng_int(g, 0, count - 1)];
  b->leader[1] = free_joint[rng_int(g, 0, count - 1)];
  if (b->leader[1] == b->leader[0]) b->leaders = 1;
  for (int k = 0; k < 2; k++)
    b->factor[k] = coin(g)        ? either(g, 1)
                   : one_of(g, 3) ? rng_uniform(g, -2, 2)
                                  : rng_int(g, -2, 2) + 0.5 * rng_int(g, 0, 1);
  b->offset = coin(g) ? rng_uniform(g, -1, 1) : 0;
}

static void joint(rng *g, const taste *t, arm *a, int j) {
  arm_joint *b = &a->joint[j];
  *b = (arm_joint){
      .type = t->sliding && one_of(g, t->sliding) ? PSDM_PRISMATIC : PSDM_REVOLUTE, .parent = j - 1, .axis = {0, 0, 1}};
  if (t->fixed && j && one_of(g, t->fixed)) b->type = PSDM_FIXED;
  b->continuous = b->type == PSDM_REVOLUTE && coin(g);
  if (t->branching && j && one_of(g, t->branching)) b->parent = rng_int(g, -1, j - 1);
  bool row = a->layout != ARM_URDF, origin = !row || b->parent != j - 1;
  for (int i = 0; i < 4 && row; i++) b->row[i] = i == 0 || i == 3 ? angle(g, t) : length(g, t);
  for (int i = 0; i < 6 && origin; i++) b->origin[i] = i < 3 ? length(g, t) : angle(g, t);
  if (!row && t->general && one_of(g, t->general))
    for (int i = 0; i < 3; i++) b->axis[i] = rng_uniform(g, -1, 1);
  else if (!row && coin(g)) {
    memset(b->axis, 0, sizeof b->axis);
    b->axis[rng_int(g, 0, 2)] = either(g, 1);
  }
  if (t->drives && b->type != PSDM_FIXED && one_of(g, t->drives) && row) b->drive = rng_uniform(g, 0.01, 2);
  if (t->coupled && j && b->type != PSDM_FIXED && one_of(g, t->coupled)) couple(g, a, j);
  b->body = body(g, t->massless && one_of(g, t->massless));
}

static void gravity(rng *g, const taste *t, arm *a) {
  a->gravity[2] = -9.81;
  if (!t->odd_gravity || coin(g)) return;
  int how = rng_int(g, 0, 3);
  for (int i = 0; i < 3; i++)
    a->gravity[i] = how == 0 ? 0 : how == 1 ? 9.81 * (i == 0) : rng_uniform(g, -9, 9) * (how == 3 ? 1e-3 : 1);
}

static void draw(rng *g, const taste *t, arm *a) {
  memset(a, 0, sizeof *a);
  a->layout = (arm_layout)rng_int(g, 0, 2);
  a->joints = rng_int(g, t->least, coin(g) ? t->most : (t->least + t->most) / 2);
  gravity(g, t, a);
  for (int j = 0; j < a->joints; j++) joint(g, t, a, j);
  if (a->layout == ARM_URDF) return;
  for (int i = 0; i < 6 && coin(g); i++) a->base[i] = i < 3 ? length(g, t) : angle(g, t);
  /* the last link of the file carries the tool, and must move */
  a->has_tool = one_of(g, 3);
  if (a->has_tool) a->tool = body(g, false);
}

/* ---- all numbers of a robot ---- */

static void each_of_body(arm_body *b, arm_number *f, void *user) {
  f(user, &b->mass);
  for (int i = 0; i < 3; i++) f(user, &b->com[i]);
  for (int i = 0; i < 6; i++) f(user, &b->inertia[i]);
}

void arm_each_number(arm *a, arm_number *f, void *user) {
  for (int i = 0; i < 6; i++) f(user, &a->base[i]);
  for (int j = 0; j < a->joints; j++) {
    arm_joint *b = &a->joint[j];
    for (int i = 0; i < 6; i++) f(user, &b->origin[i]);
    for (int i = 0; i < 4; i++) f(user, &b->row[i]);
    for (int i = 0; i < 3; i++) f(user, &b->axis[i]);
    for (int i = 0; i < 2; i++) f(user, &b->factor[i]);
    f(user, &b->drive);
    f(user, &b->offset);
    each_of_body(&b->body, f, user);
  }
  each_of_body(&a->tool, f, user);
}

static void round_significant(void *user, double *x) { *x = arm_round(*x, *(const int *)user); }

static void round_decimals(void *user, double *x) {
  char text[64];
  snprintf(text, sizeof text, "%.*f", *(const int *)user, *x);
  *x = strtod(text, NULL);
}

/* rounded like "%.5g" or "%.5f"; an axis or a mass that rounds to zero is dropped */
static void round_all(rng *g, arm *a) {
  int digits = rng_int(g, 3, 15);
  arm before = *a;
  arm_each_number(a, coin(g) ? round_significant : round_decimals, &digits);
  for (int j = 0; j < a->joints; j++) {
    arm_joint *b = &a->joint[j];
    if (b->axis[0] == 0 && b->axis[1] == 0 && b->axis[2] == 0) memcpy(b->axis, before.joint[j].axis, sizeof b->axis);
  }
}

static void scale_body(arm_body *b, double length, double mass) {
  b->mass *= mass;
  for (int i = 0; i < 3; i++) b->com[i] *= length;
  for (int i = 0; i < 6; i++) b->inertia[i] *= mass * length * length;
}

static void scale_joint(arm_joint *b, double length, double mass) {
  for (int i = 0; i < 3; i++) b->origin[i] *= length;
  b->row[1] *= length, b->row[2] *= length;
  b->drive *= mass * (b->type == PSDM_PRISMATIC ? 1 : length * length);
  scale_body(&b->body, length, mass);
}

/* ---- kinds ---- */

static void draw_plain(rng *g, arm *a) {
  draw(g, &(taste){.least = 1, .most = 7, .sliding = 4, .drives = 3, .general = 6, .odd_gravity = true}, a);
}

static void draw_general(rng *g, arm *a) {
  draw(g, &(taste){.least = 1, .most = 7, .sliding = 5, .fixed = 8, .drives = 3, .general = 1, .odd_gravity = true}, a);
}

static void draw_tree(rng *g, arm *a) {
  draw(g,
       &(taste){.least = 2,
                .most = 20,
                .sliding = 4,
                .fixed = 6,
                .branching = 3,
                .drives = 3,
                .general = 3,
                .odd_gravity = true},
       a);
}

static void draw_coupled(rng *g, arm *a) {
  draw(g,
       &(taste){.least = 2,
                .most = 8,
                .sliding = 6,
                .fixed = 10,
                .branching = 5,
                .coupled = 3,
                .drives = 3,
                .general = 3,
                .odd_gravity = true},
       a);
}

static void draw_misaligned(rng *g, arm *a) {
  draw(g, &(taste){.least = 2, .most = 6, .sliding = 6, .drives = 4, .general = 8, .misaligned = true}, a);
}

static void draw_massless(rng *g, arm *a) {
  draw(g,
       &(taste){.least = 1,
                .most = 6,
                .sliding = 4,
                .fixed = 6,
                .drives = 3,
                .massless = 2,
                .general = 4,
                .odd_gravity = true},
       a);
}

/* an aligned arm, its link frames turned and shifted at random, its numbers as an exporter prints them */
static void draw_exported(rng *g, arm *a) {
  pose Q[MOST + 1];
  draw(g, &(taste){.least = 2, .most = 7, .sliding = 8, .branching = 8}, a);
  a->layout = ARM_URDF, a->has_tool = false;
  memset(a->base, 0, sizeof a->base);
  Q[0] = pose_shift(0, 0, 0);
  for (int j = 0; j < a->joints; j++) {
    arm_joint *b = &a->joint[j];
    taste t = {0};
    pose x = pose_shift(length(g, &t), 0, length(g, &t)), alpha = pose_turn(0, angle(g, &t)),
         back = pose_inverse(&Q[b->parent + 1]);
    pose row = pose_product(&x, &alpha), turned = pose_product(&row, &Q[j + 1]);
    ld rpy[3];
    Q[j + 1] = random_turn(g);
    for (int i = 0; i < 3 && coin(g); i++) Q[j + 1].p[i] = 0;
    turned = pose_product(&row, &Q[j + 1]), turned = pose_product(&back, &turned);
    pose_angles(&turned, rpy);
    for (int i = 0; i < 3; i++)
      b->origin[i] = (double)turned.p[i], b->origin[3 + i] = (double)rpy[i], b->axis[i] = (double)Q[j + 1].R[6 + i];
    b->drive = 0, b->leaders = 0;
  }
  round_all(g, a);
}

/* a table of numbers with few digits: 1.571 for a right angle, kept as it is or snapped */
static void draw_rounded(rng *g, arm *a) {
  draw(g,
       &(taste){
           .least = 1, .most = 7, .sliding = 4, .fixed = 10, .branching = 8, .coupled = 10, .drives = 4, .general = 5},
       a);
  round_all(g, a);
}

static void draw_snapped(rng *g, arm *a) {
  draw_rounded(g, a);
  a->snap = true;
}

static void draw_scaled(rng *g, arm *a) {
  double length_scale = magnitude(g, -6, 6), mass_scale = magnitude(g, -6, 6);
  draw(g, &(taste){.least = 1, .most = 6, .sliding = 4, .drives = 4, .general = 4}, a);
  for (int j = 0; j < a->joints; j++) scale_joint(&a->joint[j], length_scale, mass_scale);
  for (int i = 0; i < 3; i++) a->base[i] *= length_scale;
  scale_body(&a->tool, length_scale, mass_scale);
}

/* every link with its own size and weight */
static void draw_mixed(rng *g, arm *a) {
  draw(g, &(taste){.least = 2, .most = 6, .sliding = 4, .drives = 4, .general = 4}, a);
  for (int j = 0; j < a->joints; j++) scale_joint(&a->joint[j], magnitude(g, -3, 3), magnitude(g, -3, 3));
}

/* in the coordinates of a map */
static void draw_far(rng *g, arm *a) {
  draw_plain(g, a);
  for (int i = 0; i < 3; i++)
    if (a->layout == ARM_URDF) a->joint[0].origin[i] = either(g, magnitude(g, 1, 6));
    else a->base[i] = either(g, magnitude(g, 1, 6));
}

static void draw_wild(rng *g, arm *a) {
  draw(g,
       &(taste){.least = 1,
                .most = 12,
                .sliding = 4,
                .fixed = 6,
                .branching = 4,
                .coupled = 8,
                .drives = 4,
                .massless = 10,
                .general = 4,
                .misaligned = coin(g),
                .odd_gravity = true},
       a);
  double length_scale = coin(g) ? 1 : magnitude(g, -6, 6), mass_scale = coin(g) ? 1 : magnitude(g, -6, 6);
  for (int j = 0; j < a->joints; j++) scale_joint(&a->joint[j], length_scale, mass_scale);
  for (int i = 0; i < 3; i++) a->base[i] *= length_scale;
  scale_body(&a->tool, length_scale, mass_scale);
  if (coin(g)) round_all(g, a);
  a->snap = coin(g);
}

const arm_kind arm_kinds[] = {
    {"plain", "aligned axes, sliding joints, drives", draw_plain, false},
    {"general", "no two axes aligned", draw_general, false},
    {"tree", "branches, up to 20 joints", draw_tree, false},
    {"coupled", "joints that follow others", draw_coupled, false},
    {"misaligned", "angles and offsets 1e-12 .. 1e-2 off", draw_misaligned, false},
    {"exported", "aligned axes in turned frames, 3 to 15 digits", draw_exported, false},
    {"rounded", "3 to 15 digits", draw_rounded, false},
    {"snapped", "the same, angles snapped", draw_snapped, false},
    {"scaled", "lengths and masses times 1e-6 .. 1e6", draw_scaled, false},
    {"mixed", "each link its own scale, 1e-3 .. 1e3", draw_mixed, true},
    {"massless", "links without mass, points and rods", draw_massless, false},
    {"far", "a base up to 1e6 m away", draw_far, false},
    {"wild", "everything at once", draw_wild, true},
    {NULL, NULL, NULL, false},
};

/* ---- for the oracle ---- */

static ld snapped(const arm *a, double x) {
  const ld fifteen = 3.14159265358979323846264338328L / 12;
  ld nearest = roundl(x / fifteen) * fifteen;
  double off = fabs(x - (double)nearest);
  return off <= (a->snap ? 1e-4 : 4e-16 * fabs(x)) ? nearest : x; /* a multiple in double is exact */
}

static pose origin_of(const arm *a, const double o[6]) {
  const ld xyz[3] = {o[0], o[1], o[2]}, rpy[3] = {snapped(a, o[3]), snapped(a, o[4]), snapped(a, o[5])};
  return pose_rpy(xyz, rpy);
}

static double size3(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

static void put_places(const arm *a, const arm_joint *j, oracle_body *b) {
  pose origin = origin_of(a, j->origin), base = origin_of(a, a->base), z = pose_turn(2, snapped(a, j->row[0])),
       d = pose_shift(0, 0, j->row[1]);
  pose x = pose_shift(j->row[2], 0, 0), alpha = pose_turn(0, snapped(a, j->row[3])), turn = pose_product(&z, &d),
       along = pose_product(&x, &alpha);
  if (b->parent < 0) origin = pose_product(&base, &origin), b->length[0] = size3(a->base);
  b->length[0] += size3(j->origin), b->length[1] = fabs(j->row[1]);
  b->length[a->layout == ARM_MODIFIED ? 0 : 1] += fabs(j->row[2]);
  if (a->layout == ARM_URDF) {
    const ld axis[3] = {j->axis[0], j->axis[1], j->axis[2]};
    pose to = pose_to_axis(axis);
    b->before = pose_product(&origin, &to), b->after = pose_inverse(&to);
  } else if (a->layout == ARM_DH) {
    b->before = origin, b->after = pose_product(&turn, &along);
  } else b->before = pose_product(&origin, &along), b->after = turn;
}

/* about the origin: I - m [c]x [c]x */
static void put_body(const arm_body *m, ld pi[10]) {
  const ld c[3] = {m->com[0], m->com[1], m->com[2]};
  ld square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  pi[0] += m->mass;
  for (int i = 0, e = 4; i < 3; i++) {
    pi[1 + i] += m->mass * c[i];
    for (int k = i; k < 3; k++, e++) pi[e] += m->inertia[e - 4] + m->mass * ((i == k ? square : 0) - c[i] * c[k]);
  }
}

int arm_free_joints(const arm *a) {
  int n = 0;
  for (int j = 0; j < a->joints; j++) n += a->joint[j].type != PSDM_FIXED && !a->joint[j].leaders;
  return n;
}

void arm_oracle(const arm *a, oracle *o) {
  memset(o, 0, sizeof *o);
  *o = (oracle){.bodies = a->joints,
                .n = arm_free_joints(a),
                .frames = true,
                .base = size3(a->base),
                .gravity = {a->gravity[0], a->gravity[1], a->gravity[2]}};
  for (int j = 0, q = 0; j < a->joints; j++) {
    const arm_joint *from = &a->joint[j];
    oracle_body *b = &o->body[j];
    b->parent = from->parent, b->type = from->type, b->drive = from->type == PSDM_FIXED ? 0 : from->drive,
    b->c = from->leaders ? from->offset : 0;
    put_places(a, from, b);
    put_body(&from->body, b->pi);
    if (from->type == PSDM_FIXED) continue;
    if (!from->leaders) b->G[q++] = 1;
    for (int k = 0; k < from->leaders; k++) {
      const oracle_body *leader = &o->body[from->leader[k]];
      b->c += from->factor[k] * leader->c;
      for (int i = 0; i < o->n; i++) b->G[i] += from->factor[k] * leader->G[i];
    }
  }
  if (a->has_tool) put_body(&a->tool, o->body[a->joints - 1].pi);
}
