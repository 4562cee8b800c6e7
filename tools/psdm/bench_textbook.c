/* bench_textbook.c: a robot for the textbook's Newton-Euler recursion, which knows neither coupled joints nor links
 * without mass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_run.h"
#include "textbook.h"

/* the recursion and, where joints are coupled, their factors */
typedef struct coupled {
  textbook t; /* first: the rest belongs to it */
  bool direct;
  double G[TEXTBOOK_MOST * TEXTBOOK_MOST], c[TEXTBOOK_MOST]; /* in the order of bodies */
} coupled;

/* inertia about the centre of mass; a link that has first moments but no mass, which then has no effect, gets 1 kg */
static void set_inertia(textbook_link *l, const double pi[10]) {
  static const int at[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  double square = 0;
  l->mass = pi[0] != 0 || (pi[1] == 0 && pi[2] == 0 && pi[3] == 0) ? pi[0] : 1;
  for (int i = 0; i < 3; i++) l->com[i] = l->mass != 0 ? pi[1 + i] / l->mass : 0, square += l->com[i] * l->com[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      l->inertia[i][j] = pi[at[i][j]] - l->mass * ((i == j ? square : 0) - l->com[i] * l->com[j]);
}

static bool set_link(coupled *own, int k, const psdm_body *body, const double *G, const double *c, int n) {
  textbook_link *l = &own->t.link[k];
  *l = (textbook_link){.parent = body->parent, .prismatic = body->prismatic, .drive = body->drive};
  memcpy(l->R, body->R, sizeof l->R);
  memcpy(l->p, body->p, sizeof l->p);
  memcpy(l->pi, body->pi, sizeof l->pi);
  set_inertia(l, body->pi);
  own->c[k] = c[body->link];
  for (int j = 0; j < n; j++) {
    own->G[k * n + j] = G[body->link * n + j];
    own->direct = own->direct && own->G[k * n + j] == (j == k);
  }
  own->direct = own->direct && own->c[k] == 0;
  return !isnan(body->drive);
}

struct textbook *bench_textbook_new(const psdm_robot *robot) {
  int n = psdm_robot_n(robot), links = psdm_robot_links(robot);
  double G[TEXTBOOK_MOST * TEXTBOOK_MOST], c[TEXTBOOK_MOST];
  if (links > TEXTBOOK_MOST || n > TEXTBOOK_MOST) return NULL;
  coupled *own = calloc(1, sizeof *own);
  if (!own) return NULL;
  psdm_robot_coupling(robot, G, c);
  own->t.links = links;
  own->direct = n == links;
  memcpy(own->t.gravity, psdm_robot_gravity(robot), sizeof own->t.gravity);
  bool good = true;
  psdm_body body;
  for (int k = 0; psdm_robot_body(robot, k, &body); k++) good = set_link(own, k, &body, G, c, n) && good;
  if (good) return &own->t;
  free(own);
  return NULL;
}

/* q_tree = G q + c */
static void spread(const coupled *own, int n, const double *x, const double *c, double *tree) {
  for (int k = 0; k < own->t.links; k++) {
    tree[k] = c ? c[k] : 0;
    for (int j = 0; j < n; j++) tree[k] += own->G[k * n + j] * x[j];
  }
}

void bench_textbook_inverse(const struct textbook *t, const psdm_robot *robot, const double *q, const double *qd,
                            const double *qdd, double *tau) {
  const coupled *own = (const coupled *)t;
  if (own->direct) {
    textbook_inverse(t, t->gravity, q, qd, qdd, tau);
    return;
  }
  double tree[4][TEXTBOOK_MOST];
  int n = psdm_robot_n(robot);
  spread(own, n, q, own->c, tree[0]);
  spread(own, n, qd, NULL, tree[1]);
  spread(own, n, qdd, NULL, tree[2]);
  textbook_inverse(t, t->gravity, tree[0], tree[1], tree[2], tree[3]);
  for (int j = 0; j < n; j++) {
    tau[j] = 0;
    for (int k = 0; k < t->links; k++) tau[j] += own->G[k * n + j] * tree[3][k];
  }
}
