/* loop_twin.c: closed loops by Lagrange multipliers. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "loop_twin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* nearer to a singular position results lose digits */
static const long double REGULAR = 0.1L;

enum { EQUATIONS = 3 * LOOP_TWIN_MOST, UNKNOWNS = 2 * TWIN_MOST + EQUATIONS };

/* ---- A x = b by elimination with complete pivoting; what has no pivot is zero ---- */

static void swap(cld *a, cld *b) {
  cld c = *a;
  *a = *b, *b = c;
}

/* rows x columns, in place; false when an equation is left that nothing can satisfy */
static bool solve(int rows, int columns, cld *A, cld *b, cld *x) {
  int order[UNKNOWNS], rank = 0;
  long double largest = 0, wanted = 0;
  for (int j = 0; j < columns; j++) order[j] = j;
  for (int i = 0; i < rows * columns; i++) largest = fmaxl(largest, cabsl(A[i]));
  for (int i = 0; i < rows; i++) wanted = fmaxl(wanted, cabsl(b[i]));
  for (; rank < rows && rank < columns; rank++) {
    int row = rank, column = rank;
    for (int i = rank; i < rows; i++)
      for (int j = rank; j < columns; j++)
        if (cabsl(A[i * columns + j]) > cabsl(A[row * columns + column])) row = i, column = j;
    if (cabsl(A[row * columns + column]) < 1e-13L * largest) break;
    for (int j = 0; j < columns; j++) swap(&A[row * columns + j], &A[rank * columns + j]);
    for (int i = 0; i < rows; i++) swap(&A[i * columns + column], &A[i * columns + rank]);
    swap(&b[row], &b[rank]);
    int other = order[column];
    order[column] = order[rank], order[rank] = other;
    for (int i = rank + 1; i < rows; i++) {
      cld share = A[i * columns + rank] / A[rank * columns + rank];
      for (int j = rank; j < columns; j++) A[i * columns + j] -= share * A[rank * columns + j];
      b[i] -= share * b[rank];
    }
  }
  for (int i = rank; i < rows; i++)
    if (cabsl(b[i]) > 1e-10L * wanted) return false;
  for (int j = 0; j < columns; j++) x[j] = 0;
  for (int k = rank - 1; k >= 0; k--) {
    cld sum = b[k];
    for (int j = k + 1; j < rank; j++) sum -= A[k * columns + j] * x[order[j]];
    x[order[k]] = sum / A[k * columns + k];
  }
  return true;
}

/* ---- the gaps: e of them, their derivative (e x N), and their second rate at given rates ---- */

static void gaps(const loop_twin *t, const cld *tree, const cld *rate, cld *gap, cld *A, cld *drift) {
  const cld none[TWIN_MOST] = {0};
  int N = t->tree.n;
  for (int l = 0; l < t->loops; l++) {
    cld place[2][3], a[2][3], J[2][3 * TWIN_MOST];
    for (int side = 0; side < 2; side++)
      twin_point_motion(&t->tree, &t->end[l][side], tree, rate ? rate : none, none, place[side], a[side], J[side]);
    for (int i = 0; i < 3; i++) {
      gap[3 * l + i] = place[0][i] - place[1][i];
      if (drift) drift[3 * l + i] = a[0][i] - a[1][i];
    }
    for (int i = 0; i < 3 * N; i++) A[3 * l * N + i] = J[0][i] - J[1][i];
  }
}

/* one step of Newton's method on the passive joints; its size, negative where there is none */
static long double correct(const loop_twin *t, cld *tree) {
  cld gap[EQUATIONS], A[EQUATIONS * TWIN_MOST], P[EQUATIONS * TWIN_MOST], step[TWIN_MOST];
  int N = t->tree.n, m = N - t->n;
  long double size = 0;
  gaps(t, tree, NULL, gap, A, NULL);
  for (int i = 0; i < 3 * t->loops; i++)
    for (int j = 0, k = 0; j < N; j++)
      if (t->passive[j]) P[i * m + k++] = A[i * N + j];
  /* far from closed, equations that depend on others contradict them: normal equations do not mind */
  cld S[TWIN_MOST * TWIN_MOST], right[TWIN_MOST];
  for (int j = 0; j < m; j++) {
    right[j] = 0;
    for (int i = 0; i < 3 * t->loops; i++) right[j] += P[i * m + j] * gap[i];
    for (int k = 0; k < m; k++) {
      S[j * m + k] = 0;
      for (int i = 0; i < 3 * t->loops; i++) S[j * m + k] += P[i * m + j] * P[i * m + k];
    }
  }
  if (!solve(m, m, S, right, step)) return -1;
  for (int j = 0, k = 0; j < N; j++)
    if (t->passive[j]) size = fmaxl(size, cabsl(step[k])), tree[j] -= step[k++];
  return size;
}

/* the least share of its length that a passive column keeps beside those before it */
static long double least_share(const loop_twin *t, const cld *tree) {
  cld gap[EQUATIONS], A[EQUATIONS * TWIN_MOST];
  long double basis[TWIN_MOST][EQUATIONS], least = 1;
  int N = t->tree.n, e = 3 * t->loops, made = 0;
  gaps(t, tree, NULL, gap, A, NULL);
  for (int j = 0; j < N; j++) {
    if (!t->passive[j]) continue;
    long double *x = basis[made], size = 0, left = 0;
    for (int i = 0; i < e; i++) x[i] = creall(A[i * N + j]), size += x[i] * x[i];
    for (int k = 0; k < 2 * made; k++) {
      long double dot = 0;
      for (int i = 0; i < e; i++) dot += basis[k % made][i] * x[i];
      for (int i = 0; i < e; i++) x[i] -= dot * basis[k % made][i];
    }
    for (int i = 0; i < e; i++) left += x[i] * x[i];
    least = size > 0 ? fminl(least, sqrtl(left / size)) : 0;
    for (int i = 0; i < e && left > 0; i++) x[i] /= sqrtl(left);
    made++;
  }
  return least;
}

bool loop_twin_close(const loop_twin *t, const cld *q, cld *tree) {
  enum { STEPS = 20 };
  for (int j = 0; j < t->tree.n; j++) tree[j] = t->home[j];
  for (int k = 1; k <= STEPS; k++) {
    cld before[TWIN_MOST];
    memcpy(before, tree, sizeof before);
    for (int i = 0; i < t->n; i++) {
      cld home = t->home[t->independent[i]];
      tree[t->independent[i]] = k == STEPS ? q[i] : home + (creall(q[i]) - home) * k / STEPS;
    }
    long double size = 1;
    for (int turn = 0; turn < 20 && size > 1e-17L; turn++)
      if (!((size = correct(t, tree)) >= 0)) return false;
    if (size > 1e-13L) return false;
    for (int j = 0; j < t->tree.n; j++)
      if (!(cabsl(tree[j] - before[j]) < 0.2L)) return false; /* the branch turns back near here */
  }
  cld gap[EQUATIONS], A[EQUATIONS * TWIN_MOST];
  gaps(t, tree, NULL, gap, A, NULL);
  for (int i = 0; i < 3 * t->loops; i++)
    if (!(cabsl(gap[i]) < 1e-14L)) return false;
  return least_share(t, tree) > REGULAR;
}

/* ---- the equations of motion ---- */

/* rates with A v = right and v_independent = given */
static bool follow(const loop_twin *t, const cld *A, const cld *right, const cld *given, cld *v) {
  cld K[(EQUATIONS + TWIN_MOST) * TWIN_MOST] = {0}, b[EQUATIONS + TWIN_MOST];
  int N = t->tree.n, e = 3 * t->loops;
  memcpy(K, A, sizeof *K * (size_t)(e * N));
  for (int i = 0; i < e; i++) b[i] = right ? right[i] : 0;
  for (int i = 0; i < t->n; i++) K[(e + i) * N + t->independent[i]] = 1, b[e + i] = given[i];
  return solve(e + t->n, N, K, b, v);
}

/* M a + h = S^T tau + A^T lambda,  A a = -drift,  a_independent = qdd: the unknowns are a, lambda, tau; at the tree's
 * x */
static bool balance(const loop_twin *t, const cld *x, const cld *qd, const cld *qdd, cld *tau) {
  int N = t->tree.n, e = 3 * t->loops, n = t->n, size = N + e + n;
  cld v[TWIN_MOST], unit[TWIN_MOST] = {0}, h[TWIN_MOST], column[TWIN_MOST], gap[EQUATIONS], A[EQUATIONS * TWIN_MOST],
                    drift[EQUATIONS];
  static cld K[UNKNOWNS * UNKNOWNS], b[UNKNOWNS], y[UNKNOWNS];
  gaps(t, x, NULL, gap, A, NULL);
  if (!follow(t, A, NULL, qd, v)) return false;
  gaps(t, x, v, gap, A, drift);
  twin_inverse(&t->tree, x, v, unit, h);
  memset(K, 0, sizeof K);
  for (int j = 0; j < N; j++) {
    unit[j] = 1;
    twin_inverse(&t->tree, x, v, unit, column);
    for (int i = 0; i < N; i++) K[i * size + j] = column[i] - h[i];
    unit[j] = 0;
  }
  for (int j = 0; j < N; j++) b[j] = -h[j];
  for (int i = 0; i < e; i++) {
    for (int j = 0; j < N; j++) K[j * size + N + i] = -A[i * N + j], K[(N + i) * size + j] = A[i * N + j];
    b[N + i] = -drift[i];
  }
  for (int i = 0; i < n; i++) {
    K[t->independent[i] * size + N + e + i] = -1;
    K[(N + e + i) * size + t->independent[i]] = 1;
    b[N + e + i] = qdd[i];
  }
  if (!solve(size, size, K, b, y)) return false;
  for (int i = 0; i < n; i++) tau[i] = y[N + e + i];
  return true;
}

bool loop_twin_inverse(const loop_twin *t, const cld *q, const cld *qd, const cld *qdd, cld *tau) {
  cld x[TWIN_MOST];
  return loop_twin_close(t, q, x) && balance(t, x, qd, qdd, tau);
}

bool loop_twin_linearize(const loop_twin *t, const double *q, const double *qd, const double *qdd, long double *B,
                         long double *A, long double *M) {
  const long double step = 1e-40L;
  cld x[3][TWIN_MOST], real[TWIN_MOST], tree[TWIN_MOST], tau[TWIN_MOST];
  long double *const out[3] = {B, A, M};
  for (int i = 0; i < t->n; i++) x[0][i] = q[i], x[1][i] = qd[i], x[2][i] = qdd[i];
  if (!loop_twin_close(t, x[0], real)) return false;
  for (int part = 0; part < 3; part++)
    for (int j = 0; j < t->n; j++) {
      x[part][j] += I * step;
      memcpy(tree, real, sizeof tree);
      for (int i = 0; i < t->n; i++) tree[t->independent[i]] = x[0][i];
      for (int turn = 0; turn < 4; turn++) /* the imaginary part is exact after one */
        if (correct(t, tree) < 0) return false;
      if (!balance(t, tree, x[1], x[2], tau)) return false;
      x[part][j] = creall(x[part][j]);
      for (int i = 0; i < t->n; i++) out[part][i * t->n + j] = cimagl(tau[i]) / step;
    }
  return true;
}

/* ---- random ones ---- */

static bool carries(const twin *t, int i, int j) {
  while (j > i) j = t->row[j].parent;
  return j == i;
}

/* joints that move one end and not the other, and are free to be passive */
static int free_joints(const loop_twin *t, int a, int b, int *list) {
  int count = 0;
  for (int j = 0; j < t->tree.joints; j++)
    if (carries(&t->tree, j, a) != carries(&t->tree, j, b) && !t->tree.row[j].coupled && !t->passive[t->tree.row[j].q])
      list[count++] = t->tree.row[j].q;
  return count;
}

/* the second end where the first is, at home; both in their links' frames */
static void meet(loop_twin *t, int l) {
  const cld none[TWIN_MOST] = {0};
  cld home[TWIN_MOST], place[3], from[3], axis[3];
  twin_point *b = &t->end[l][1];
  for (int j = 0; j < t->tree.n; j++) home[j] = t->home[j];
  twin_point_motion(&t->tree, &t->end[l][0], home, none, none, place, NULL, NULL);
  twin_point_motion(&t->tree, &(twin_point){b->joint, {0, 0, 0}}, home, none, none, from, NULL, NULL);
  for (int i = 0; i < 3; i++) {
    twin_point along = {b->joint, {i == 0, i == 1, i == 2}};
    twin_point_motion(&t->tree, &along, home, none, none, axis, NULL, NULL);
    long double sum = 0;
    for (int k = 0; k < 3; k++) sum += creall((axis[k] - from[k]) * (place[k] - from[k]));
    b->at[i] = (double)sum;
  }
}

static void flatten(twin *t) {
  for (int j = 0; j < t->joints; j++) {
    twin_row *w = &t->row[j];
    w->prismatic = false;
    w->alpha = 0, w->d = 0;
    for (int i = 2; i < 5; i++) w->origin[i] = 0;
  }
}

static bool tie(rng *g, loop_twin *t, int l, bool planar) {
  int list[TWIN_MOST], passives = planar ? 2 : 3, a = rng_int(g, 0, t->tree.joints - 1),
                       b = rng_int(g, 0, t->tree.joints - 1), count = free_joints(t, a, b, list);
  if (count <= passives) return false;
  t->end[l][0].joint = a, t->end[l][1].joint = b;
  for (int i = 0; i < 3; i++) t->end[l][0].at[i] = planar && i == 2 ? 0 : rng_uniform(g, -0.5, 0.5);
  meet(t, l);
  for (int k = 0; k < passives; k++) {
    int pick = rng_int(g, 0, count - 1);
    t->passive[list[pick]] = true;
    list[pick] = list[--count];
  }
  return true;
}

loop_twin loop_twin_random(rng *g, int joints, int loops, bool planar) {
  for (;;) {
    loop_twin t = {.loops = loops};
    do t.tree = twin_random(g, joints, !planar, false);
    while (t.tree.joints != joints);
    if (planar) flatten(&t.tree);
    for (int j = 0; j < t.tree.n; j++) t.home[j] = rng_uniform(g, -1.5, 1.5);
    bool tied = true;
    for (int l = 0; l < loops && tied; l++) tied = tie(g, &t, l, planar);
    for (int j = 0; j < t.tree.n; j++)
      if (!t.passive[j]) t.independent[t.n++] = j;
    cld home[TWIN_MOST];
    for (int j = 0; j < t.tree.n; j++) home[j] = t.home[j];
    if (!t.passive[0] && !t.passive[1] && t.tree.n > 1 && rng_int(g, 0, 1)) t.tree.mix = rng_uniform(g, -1, 1);
    if (tied && t.n && least_share(&t, home) > REGULAR) return t;
  }
}

/* ---- files ---- */

/* the joint that a tree's q belongs to */
static int joint_of(const loop_twin *t, int q) {
  for (int j = 0; j < t->tree.joints; j++)
    if (!t->tree.row[j].coupled && t->tree.row[j].q == q) return j;
  return -1;
}

char *loop_twin_write(const loop_twin *t, char *buf, size_t size) {
  twin tree = t->tree;
  tree.mix = 0;
  twin_write(&tree, buf, size);
  size_t used = strlen(buf);
  FILE *f = fmemopen(buf + used, size - used, "w");
  if (t->tree.mix != 0) twin_write_transmission(f, &t->tree, t->n);
  fprintf(f, "loops:\n");
  for (int l = 0; l < t->loops; l++) {
    const twin_point *a = &t->end[l][0], *b = &t->end[l][1];
    fprintf(f, "  - {links: [link%d, link%d], points: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]], joints: [",
            a->joint + 1, b->joint + 1, a->at[0], a->at[1], a->at[2], b->at[0], b->at[1], b->at[2]);
    /* it does not matter which loop names a passive joint, as long as each names one */
    for (int j = 0, k = 0; j < t->tree.n; j++) {
      if (!t->passive[j] || k++ % t->loops != l) continue;
      fprintf(f, "%sj%d", k > t->loops ? ", " : "", joint_of(t, j));
    }
    fprintf(f, "], start: [");
    for (int j = 0, k = 0; j < t->tree.n; j++) {
      if (!t->passive[j] || k++ % t->loops != l) continue;
      fprintf(f, "%s%.17g", k > t->loops ? ", " : "", t->home[j]);
    }
    fprintf(f, "]");
    if (l == 0) {
      fprintf(f, ", at: {");
      for (int i = 0; i < t->n; i++)
        fprintf(f, "%sj%d: %.17g", i ? ", " : "", joint_of(t, t->independent[i]), t->home[t->independent[i]]);
      fprintf(f, "}");
    }
    fprintf(f, "}\n");
  }
  fclose(f);
  return buf;
}

psdm_robot *loop_twin_robot(const loop_twin *t, char *buf, size_t size) {
  psdm_robot *robot = parse_unsnapped(loop_twin_write(t, buf, size));
  assert_int_equal(psdm_robot_n(robot), t->n);
  assert_int_equal(psdm_robot_loops(robot), t->loops);
  return robot;
}
