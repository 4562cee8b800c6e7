/* cmd_linearize.c: psdm linearize: its command line, and the linear models as text. */
#include <math.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Linear models of a robot at equilibria or along a trajectory, exact:\n"
    "  second-order   M dqdd + C2 dqd + D dq = du          (at rest C2 = 0 and D = G = dg/dq)\n"
    "  state-space    dx' = A dx + B du, dx = (dq, dqd)    (with --dt: dx[k+1] = Ad dx[k] + Bd du[k])\n"
    "with their eigenvalues, frequencies and damping, stability, controllability, LQR gains.\n"
    "A point without qdd and tau has qdd = 0 and the tau for it. Exit 1 when a q for --equilibrium or gains for --lqr "
    "do not\n"
    "exist or are not found.\n"
    "\n"
    "examples:\n"
    "  printf 'q1,q2\\n"
    "-1.5708,0\\n"
    "' | psdm linearize robots/two_link.yaml --at -\n"
    "  psdm linearize robots/two_link.yaml --at up.csv --lqr --Q 100,1 --R 0.01 --dt 0.001\n"
    "  psdm linearize robots/two_link.yaml --at torques.csv --equilibrium --json\n"
    "  psdm linearize robots/kuka_kr6.yaml --at motion.csv --form second-order --out motion.mat\n";

const command_line linearize_line = {"linearize", NULL, positional, help};

/* ---- text ---- */

/* numbers of a document, row by row */
static void print_matrix(const char *name, const double *value, long rows, int columns) {
  for (long i = 0; i < rows; i++) {
    printf("  %-4s", i ? "" : name);
    for (int k = 0; k < columns; k++) printf(" %11.5g", value[i * columns + k] + 0.0);
    printf("\n");
  }
}

#define PRINT_MATRIX(p, name) print_matrix(#name, (p)->name.item, (p)->name.rows, (p)->name.columns)

/* one line per real mode or pair; the conjugate is implied */
static void print_modes(const char *title, const psdm_mode *modes, int count, bool sampled) {
  printf("  %-28s %12s %9s\n", title, "rad/s", "damping");
  for (int k = 0; k < count; k++) {
    char text[64];
    if (modes[k].im < 0 && k && modes[k - 1].im == -modes[k].im) continue;
    if (modes[k].im != 0) snprintf(text, sizeof text, "%.5g +- %.5gi", modes[k].re + 0.0, fabs(modes[k].im));
    else snprintf(text, sizeof text, "%.5g", modes[k].re + 0.0);
    printf("    %-26s %12.5g %9.3g%s\n", text, modes[k].frequency, modes[k].damping + 0.0,
           sampled && modes[k].re == 0 && modes[k].im == 0 ? "  zero after one sample" : "");
  }
}

static void print_reach(const psdm_linear_point *p, long states) {
  if (p->controllable) printf("  controllable: the inputs reach all %ld states", states);
  else printf("  not controllable: the inputs reach %ld of %ld states", p->reachable, states);
  if (isfinite(p->reach_margin)) printf(" (margin %.2g)", p->reach_margin);
  printf("\n");
}

static void print_stability(const psdm_linear_point *p, const psdm_system_facts *f, long n) {
  bool moving = false;
  for (long i = 0; i < n; i++) moving = moving || p->qd.item[i] != 0 || p->qdd.item[i] != 0;
  printf("  %s", psdm_stability_text(f->stability));
  if (f->unstable) printf(", by a factor of e in %.3g s", 1 / f->growth);
  printf(" (%d growing, %d drifting, %d undamped, %d damped modes)\n", f->unstable, f->drifting, f->undamped,
         f->damped);
  if (moving)
    printf("  the robot moves: this is the model frozen at one instant, and its modes do not determine the stability "
           "of the motion\n");
}

static void print_lqr(const psdm_linear_point *p, const psdm_lqr_info *lqr, bool sampled) {
  if (!p->K.rows) {
    printf("  no LQR gains: %s", psdm_lqr_text(lqr->outcome));
    if (lqr->outcome == PSDM_LQR_UNREACHABLE) printf(" (%.5g%+.5gi)", lqr->mode.re + 0.0, lqr->mode.im);
    printf("\n");
    return;
  }
  print_modes("with du = -K dx", p->lqr->closed_loop.item, p->lqr->closed_loop.rows, sampled);
  printf("  residual of the Riccati equation %.2g\n", lqr->residual);
}

static void print_vector(const char *name, const double *x, long n) {
  printf("  %-4s", name);
  for (long i = 0; i < n; i++) printf(" %11.5g", x[i] + 0.0);
  printf("\n");
}

static void print_equilibrium(const psdm_equilibrium_result *e, long n) {
  if (!e->found)
    printf("  no equilibrium was found from %ld starts; the nearest is off by %.2g of the torques\n", e->starts,
           e->residual);
  else if (e->rank < n)
    printf("  one equilibrium of a family with %ld free direction%s (residual %.2g)\n", n - e->rank,
           n - e->rank > 1 ? "s" : "", e->residual);
  else printf("  equilibrium found from start %ld (residual %.2g)\n", e->starts, e->residual);
}

static void print_model(const psdm_linearization *found) {
  const psdm_linear_point *p = found->point;
  bool sampled = found->head->dt > 0;
  PRINT_MATRIX(p, M);
  PRINT_MATRIX(p, C2);
  PRINT_MATRIX(p, D);
  PRINT_MATRIX(p, G);
  PRINT_MATRIX(p, A);
  PRINT_MATRIX(p, B);
  PRINT_MATRIX(p, Ad);
  PRINT_MATRIX(p, Bd);
  PRINT_MATRIX(p, K);
  print_modes(sampled ? "eigenvalues of Ad" : "eigenvalues", p->eigenvalues.item, p->eigenvalues.rows, sampled);
  print_stability(p, found->facts, found->head->n);
  print_reach(p, 2 * found->head->n);
  if (found->lqr) print_lqr(p, found->lqr, sampled);
}

static void print_point(const psdm_linearization *found, bool first) {
  const psdm_linear_point *p = found->point;
  long n = found->head->n;
  printf("%s%s, line %d", first ? "" : "\n", tool_safe(found->head->robot), found->line);
  if (isfinite(p->t)) printf(", t = %.6g s", p->t);
  printf("\n");
  print_vector("q", p->q.item, n);
  if (found->rates) print_vector("qd", p->qd.item, n);
  if (found->accelerations) print_vector("qdd", p->qdd.item, n);
  print_vector("tau", p->tau.item, n);
  if (p->equilibrium) print_equilibrium(p->equilibrium, n);
  if (found->facts) print_model(found);
}

/* ---- the command ---- */

/* where the points go, one by one: there may be many */
typedef struct shower {
  psdm_job *job;
  psdm_output *json;
  bool begun;
  int code; /* of what failed; -1: nothing */
} shower;

static bool begin_json(shower *s, const psdm_linearize_result *head) {
  s->code = tool_open("-", &s->json);
  if (s->code < 0) psdm_result_write_begin(&head->head, s->json);
  return s->code < 0;
}

static bool take(void *user, const psdm_linearization *found) {
  shower *s = user;
  bool json = tool_job_flag(s->job, "json");
  if (json && !s->json && !begin_json(s, found->head)) return false;
  if (json) psdm_result_write_item(&psdm_linear_point_type, found->point, s->json);
  else if (!tool_job_text(s->job, "out")) print_point(found, !s->begun);
  s->begun = true;
  return !json || !psdm_output_failed(s->json);
}

static int prepare(psdm_job *job, void *user) {
  ((shower *)user)->job = job;
  psdm_job_points(job, take, user);
  return -1;
}

static int finish(shower *s) {
  int code = s->code;
  if (code < 0 && s->json) {
    psdm_result_write_end(s->json);
    code = tool_commit(&s->json);
  }
  return code > EXIT_OK ? code : psdm_job_good(s->job) ? EXIT_OK : EXIT_QUALITY;
}

int cmd_linearize(int argc, char **argv) {
  shower s = {.code = -1};
  psdm_job *job;
  int code = tool_job_run_prepared(&linearize_line, argc, argv, &job, prepare, &s);
  if (code < 0) code = finish(&s);
  tool_abort(&s.json);
  psdm_job_free(job);
  return code;
}
