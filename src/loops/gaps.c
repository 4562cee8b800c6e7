/* gaps.c: gaps of closed loops and their derivatives, as nodes.
 *
 * Both ways around a loop begin at the last body that they share. All vectors are in the first joint's frame on the
 * way, before that joint turns: in a planar loop their third parts then vanish. */
#include <math.h>
#include <string.h>

#include "loops/loops.h"

#define ADD(a, b) psdm_graph_add(l->g, a, b)
#define SUB(a, b) psdm_graph_sub(l->g, a, b)
#define MUL(a, b) psdm_graph_mul(l->g, a, b)
#define NUM(x) psdm_graph_const(l->g, x)

typedef psdmp_loops loops;

/* ---- vectors ---- */

/* entries of rotations and lengths that are rounding are zeros */
static double exact(double x) {
  if (fabs(x) < 4e-16) return 0;
  return fabs(fabs(x) - 1) < 4e-16 ? copysign(1, x) : x;
}

static void cross(loops *l, const psdm_ref a[3], const psdm_ref b[3], psdm_ref out[3]) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = SUB(MUL(a[j], b[k]), MUL(a[k], b[j]));
  }
}

static void add_to(loops *l, psdm_ref to[3], const psdm_ref v[3]) {
  for (int i = 0; i < 3; i++) to[i] = ADD(to[i], v[i]);
}

/* out = M v, v lengths */
static void turn_lengths(loops *l, const psdm_ref M[9], const double v[3], psdm_ref out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = l->zero;
    for (int k = 0; k < 3; k++)
      if (fabs(v[k]) > 4e-16 * l->closure->size) out[i] = ADD(out[i], MUL(M[3 * i + k], NUM(v[k])));
  }
}

/* ---- the way to one end of a loop ---- */

enum { MOST = PSDMP_LOOPS_MOST };

/* A body's frame is B Rz(angle): turns about parallel axes add up before a sine is taken. */
typedef struct step {
  int body;
  psdm_ref B[9], angle, R[9], z[3];
  psdm_ref go[3];  /* from the joint before to this one */
  psdm_ref arm[3]; /* from this joint to the end */
} step;

typedef struct way {
  int steps;
  step step[MOST];
  psdm_ref end[3]; /* from the origin */
  double sign;
} way;

static psdm_ref position(loops *l, int b) {
  const psdm_robot *tree = l->tree;
  psdm_ref sum = NUM(tree->c[b]);
  for (int i = tree->g_row[b]; i < tree->g_row[b + 1]; i++)
    sum = ADD(sum, MUL(NUM(tree->g_val[i]), l->x[tree->g_col[i]]));
  return sum;
}

static psdm_ref rate(loops *l, int b, const psdm_ref *v) {
  const psdm_robot *tree = l->tree;
  psdm_ref sum = l->zero;
  for (int i = tree->g_row[b]; i < tree->g_row[b + 1]; i++) sum = ADD(sum, MUL(NUM(tree->g_val[i]), v[tree->g_col[i]]));
  return sum;
}

static bool about_z(const double R[9]) { return R[2] == 0 && R[5] == 0 && R[6] == 0 && R[7] == 0 && R[8] == 1; }

static void set_rotation(loops *l, step *s) {
  psdm_ref c = psdm_graph_cos(l->g, s->angle), n = psdm_graph_sin(l->g, s->angle);
  for (int i = 0; i < 3; i++) {
    psdm_ref x = s->B[3 * i], y = s->B[3 * i + 1];
    s->R[3 * i] = ADD(MUL(x, c), MUL(y, n));
    s->R[3 * i + 1] = SUB(MUL(y, c), MUL(x, n));
    s->R[3 * i + 2] = s->z[i] = s->B[3 * i + 2];
  }
}

/* from the step before, whose frame the pose is in */
static void take_step(loops *l, const step *before, const psdmp_robot_pose *pose, int body, step *s) {
  double R[9];
  psdm_ref q = position(l, body);
  bool slides = l->tree->body[body].prismatic;
  for (int i = 0; i < 9; i++) R[i] = exact(pose->R[i]);
  s->body = body;
  turn_lengths(l, before->R, pose->p, s->go);
  if (about_z(R)) {
    memcpy(s->B, before->B, sizeof s->B);
    s->angle = ADD(before->angle, NUM(exact(atan2(R[3], R[0]))));
  } else {
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        s->B[3 * i + k] = l->zero;
        for (int j = 0; j < 3; j++)
          s->B[3 * i + k] = ADD(s->B[3 * i + k], MUL(before->R[3 * i + j], NUM(R[3 * j + k])));
      }
    s->angle = l->zero;
  }
  if (!slides) s->angle = ADD(s->angle, q);
  set_rotation(l, s);
  for (int i = 0; i < 3 && slides; i++) s->go[i] = ADD(s->go[i], MUL(q, s->z[i]));
}

/* the last body that both ends hang on, -1: the base */
static int shared_body(const psdm_robot *tree, const psdmp_robot_loop *loop) {
  for (int a = tree->link[loop->joint[0]].body; a >= 0; a = tree->body[a].parent)
    for (int b = tree->link[loop->joint[1]].body; b >= 0; b = tree->body[b].parent)
      if (a == b) return a;
  return -1;
}

/* bodies behind the shared one, the first first */
static int bodies_on_way(const psdm_robot *tree, int from, int to, int *body) {
  int count = 0;
  for (int b = to; b != from; b = tree->body[b].parent) count++;
  for (int b = to, k = count; b != from; b = tree->body[b].parent) body[--k] = b;
  return count;
}

/* where a loop's vectors are measured: in the frame of its first joint */
static psdmp_robot_pose origin_of(const psdm_robot *tree, const psdmp_robot_loop *loop, int shared) {
  int body[MOST];
  for (int side = 0; side < 2; side++)
    if (bodies_on_way(tree, shared, tree->link[loop->joint[side]].body, body)) return tree->body[body[0]].joint;
  return psdmp_robot_pose_identity();
}

static void go(loops *l, const psdmp_robot_loop *loop, int side, way *w) {
  const psdm_robot *tree = l->tree;
  const psdmp_robot_link *link = &tree->link[loop->joint[side]];
  int shared = shared_body(tree, loop), body[MOST];
  psdmp_robot_pose origin = origin_of(tree, loop, shared), to_origin = psdmp_robot_pose_inverse(&origin);
  step begin = {.body = -1, .angle = l->zero};
  for (int i = 0; i < 9; i++) begin.B[i] = begin.R[i] = NUM(i % 4 == 0);
  w->sign = side ? -1 : 1;
  w->steps = bodies_on_way(tree, shared, link->body, body);
  for (int k = 0; k < w->steps; k++) {
    psdmp_robot_pose pose = tree->body[body[k]].joint;
    if (k == 0) pose = psdmp_robot_pose_product(&to_origin, &pose);
    take_step(l, k ? &w->step[k - 1] : &begin, &pose, body[k], &w->step[k]);
  }
  psdmp_robot_pose point =
      psdmp_robot_pose_translation(loop->point[side][0], loop->point[side][1], loop->point[side][2]);
  point = psdmp_robot_pose_product(&link->frame, &point);
  if (!w->steps) point = psdmp_robot_pose_product(&to_origin, &point);
  turn_lengths(l, w->steps ? w->step[w->steps - 1].R : begin.R, point.p, w->end);
  for (int k = w->steps - 1; k >= 0; k--) { /* arms need no differences */
    memcpy(w->step[k].arm, w->end, sizeof w->end);
    add_to(l, w->end, w->step[k].go);
  }
}

/* ---- gaps and derivatives ---- */

static void add_columns(loops *l, const way *w, psdm_ref *A) {
  const psdm_robot *tree = l->tree;
  for (int k = 0; k < w->steps; k++) {
    const step *s = &w->step[k];
    psdm_ref column[3];
    if (tree->body[s->body].prismatic) memcpy(column, s->z, sizeof column);
    else cross(l, s->z, s->arm, column);
    for (int c = tree->g_row[s->body]; c < tree->g_row[s->body + 1]; c++)
      for (int i = 0; i < 3; i++) {
        psdm_ref *to = &A[(long)i * l->N + tree->g_col[c]];
        *to = ADD(*to, MUL(NUM(w->sign * tree->g_val[c]), column[i]));
      }
  }
}

void psdmp_loops_gaps(loops *l) {
  way w;
  for (int i = 0; i < l->e; i++) l->gap[i] = l->zero;
  for (long i = 0; i < (long)l->e * l->N; i++) l->A[i] = l->zero;
  for (int k = 0; k < l->closure->loops; k++)
    for (int side = 0; side < 2; side++) {
      go(l, &l->closure->loop[k], side, &w);
      for (int i = 0; i < 3; i++) l->gap[3 * k + i] = ADD(l->gap[3 * k + i], MUL(NUM(w.sign), w.end[i]));
      add_columns(l, &w, l->A + 3L * k * l->N);
    }
}

/* acceleration of the end at constant rates: a += rates x arm + w x (w x arm), from body to body */
static void swing(loops *l, const psdm_ref turn[3], const psdm_ref turning[3], const psdm_ref arm[3], psdm_ref a[3]) {
  psdm_ref x[3], y[3];
  cross(l, turning, arm, x);
  add_to(l, a, x);
  cross(l, turn, arm, x);
  cross(l, turn, x, y);
  add_to(l, a, y);
}

static void accelerate(loops *l, const way *w, const psdm_ref *v, psdm_ref a[3]) {
  psdm_ref turn[3] = {l->zero, l->zero, l->zero}, turning[3] = {l->zero, l->zero, l->zero}, own[3], x[3];
  for (int i = 0; i < 3; i++) a[i] = l->zero;
  for (int k = 0; k < w->steps; k++) {
    const step *s = &w->step[k];
    psdm_ref speed = rate(l, s->body, v);
    for (int i = 0; i < 3; i++) own[i] = MUL(speed, s->z[i]);
    if (k) swing(l, turn, turning, s->go, a);
    cross(l, turn, own, x);
    if (l->tree->body[s->body].prismatic) {
      add_to(l, a, x), add_to(l, a, x);
    } else {
      add_to(l, turning, x);
      add_to(l, turn, own);
    }
  }
  if (w->steps) swing(l, turn, turning, w->step[w->steps - 1].arm, a);
}

void psdmp_loops_drift(loops *l, const psdm_ref *v, psdm_ref *out) {
  way w;
  psdm_ref a[3];
  for (int i = 0; i < l->e; i++) out[i] = l->zero;
  for (int k = 0; k < l->closure->loops; k++)
    for (int side = 0; side < 2; side++) {
      go(l, &l->closure->loop[k], side, &w);
      accelerate(l, &w, v, a);
      for (int i = 0; i < 3; i++) out[3 * k + i] = ADD(out[3 * k + i], MUL(NUM(w.sign), a[i]));
    }
}
