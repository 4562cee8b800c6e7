/* peer_textbook.c: textbook recursions as a peer, or with -DATKESON Atkeson's regressor recursion, whose torques are
 * Y pi. The mass matrix is the textbook's too: one Newton-Euler call for each column; forward dynamics adds the bias
 * and solves. */
#include <math.h>

#include "peer_table.h"
#include "textbook.h"

#ifdef ATKESON
static const char *name(void) { return "Atkeson's recursion"; }
#else
static const char *name(void) { return "textbook Newton-Euler"; }
#endif

static const char *refusal(const psdm_robot *robot) {
  return robot->bodies > TEXTBOOK_MOST ? "too many links" : refuse_transmission(robot);
}

/* inertia about the centre of mass, from that about the origin */
static void set_body(textbook_link *l, const double pi[10]) {
  static const int at[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  l->mass = pi[0];
  double square = 0;
  for (int i = 0; i < 3; i++) l->com[i] = pi[0] ? pi[1 + i] / pi[0] : 0, square += l->com[i] * l->com[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      l->inertia[i][j] = pi[at[i][j]] - pi[0] * ((i == j ? square : 0) - l->com[i] * l->com[j]);
}

static void *open_robot(const psdm_robot *robot) {
  textbook *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->links = robot->bodies;
  memcpy(t->gravity, robot->gravity, sizeof t->gravity);
  for (int b = 0; b < robot->bodies; b++) {
    const psdmp_robot_body *body = &robot->body[b];
    textbook_link *l = &t->link[b];
    *l = (textbook_link){.parent = body->parent, .prismatic = body->prismatic, .drive = robot->body_drive[b]};
    memcpy(l->R, body->joint.R, sizeof l->R);
    memcpy(l->p, body->joint.p, sizeof l->p);
    memcpy(l->pi, body->pi, sizeof l->pi);
    set_body(l, body->pi);
  }
  return t;
}

static void close_robot(void *own) { free(own); }

/* a state on the tree: q, qd, qdd */
typedef struct tree_state {
  double q[TEXTBOOK_MOST], qd[TEXTBOOK_MOST], qdd[TEXTBOOK_MOST];
} tree_state;

static void spread(const peer *p, const double *x, tree_state *s) {
  bench_spread(p->robot, x, true, s->q);
  bench_spread(p->robot, x + p->n, false, s->qd);
  bench_spread(p->robot, x + 2 * p->n, false, s->qdd);
}

#ifdef ATKESON
static void regressor(peer *p, const double *x, double *Y) {
  const textbook *t = p->own;
  tree_state s;
  spread(p, x, &s);
  if (p->robot->direct) {
    atkeson_regressor(t, s.q, s.qd, s.qdd, Y);
  } else {
    double tree[TEXTBOOK_MOST * 10 * TEXTBOOK_MOST];
    atkeson_regressor(t, s.q, s.qd, s.qdd, tree);
    bench_gather(p->robot, tree, 10 * t->links, Y);
  }
}

static void inverse(peer *p, const double *x, double *tau) {
  const textbook *t = p->own;
  tree_state s;
  double Y[TEXTBOOK_MOST * 10 * TEXTBOOK_MOST], tree[TEXTBOOK_MOST];
  spread(p, x, &s);
  atkeson_regressor(t, s.q, s.qd, s.qdd, Y);
  for (int i = 0; i < t->links; i++) {
    tree[i] = t->link[i].drive * s.qdd[i];
    for (int k = 0; k < t->links; k++)
      for (int j = 0; j < 10; j++) tree[i] += Y[10 * (i * t->links + k) + j] * t->link[k].pi[j];
  }
  bench_gather(p->robot, tree, 1, tau);
}

static void show_regressor(const peer *p, int state, const double *out, double *Y) {
  (void)state;
  bench_regressor_to_links(p->robot, out, Y);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"Y pi", inverse, NULL}},
    [REGRESSOR] = {{"6 x 10 per link", regressor, show_regressor}},
};
#else
static void inverse(peer *p, const double *x, double *tau) {
  const textbook *t = p->own;
  tree_state s;
  double tree[TEXTBOOK_MOST];
  spread(p, x, &s);
  textbook_inverse(t, t->gravity, s.q, s.qd, s.qdd, tree);
  bench_gather(p->robot, tree, 1, tau);
}

/* column by column: torques of a unit acceleration at rest, without gravity */
static void mass(peer *p, const double *x, double *M) {
  const double none[3] = {0}, rest[TEXTBOOK_MOST] = {0};
  double q[TEXTBOOK_MOST], tree[TEXTBOOK_MOST], column[TEXTBOOK_MOST];
  bench_spread(p->robot, x, true, q);
  for (int j = 0; j < p->n; j++) {
    double unit[TEXTBOOK_MOST] = {0}, accelerations[TEXTBOOK_MOST];
    unit[j] = 1;
    bench_spread(p->robot, unit, false, accelerations);
    textbook_inverse(p->own, none, q, rest, accelerations, tree);
    bench_gather(p->robot, tree, 1, column);
    for (int i = 0; i < p->n; i++) M[i * p->n + j] = column[i];
  }
}

/* M qdd = tau - bias by Cholesky */
static void forward(peer *p, const double *x, double *qdd) {
  const textbook *t = p->own;
  const double rest[TEXTBOOK_MOST] = {0}, *tau = x + 3 * p->n;
  double M[TEXTBOOK_MOST * TEXTBOOK_MOST], tree[TEXTBOOK_MOST], bias[TEXTBOOK_MOST];
  int n = p->n;
  tree_state s;
  spread(p, x, &s);
  textbook_inverse(t, t->gravity, s.q, s.qd, rest, tree);
  bench_gather(p->robot, tree, 1, bias);
  mass(p, x, M);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; k++) sum -= M[i * n + k] * M[j * n + k];
      M[i * n + j] = i == j ? sqrt(sum) : sum / M[j * n + j];
    }
    qdd[i] = tau[i] - bias[i];
    for (int k = 0; k < i; k++) qdd[i] -= M[i * n + k] * qdd[k];
    qdd[i] /= M[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) qdd[i] -= M[k * n + i] * qdd[k];
    qdd[i] /= M[i * n + i];
  }
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"Newton-Euler", inverse, NULL}},
    [MASS] = {{"n x Newton-Euler", mass, NULL}},
    [FORWARD] = {{"(n + 1) x Newton-Euler, Cholesky", forward, NULL}},
};
#endif

PEER_FACE
