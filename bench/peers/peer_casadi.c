/* peer_casadi.c: the C that trace_casadi makes CasADi write (functions `inverse`, `mass`, ...), once per robot (with
 * -DCOUPLED without forward); with -DBATCH eight states at a time, the same C with a vector in place of double. */
#include "peer_table.h"

#ifdef BATCH
#include "vector8.h"
#else
typedef double real;
#endif

typedef int casadi_function(const real **arg, real **res, long long *iw, real *w, int mem);
casadi_function inverse, mass, mass_world, forward, forward_world, forward_cholesky, regressor, linearize_inverse,
    linearize_forward, inverse_mass;

static const char *name(void) { return "Pinocchio " PINOCCHIO " through CasADi " CASADI; }
static const char *refusal(const psdm_robot *robot) {
  return robot->n > 16 ? "too many joints" : refuse_transmission(robot);
}
static void *open_robot(const psdm_robot *robot) { return (void *)robot; }
static void close_robot(void *own) { (void)own; }

#ifdef BATCH
enum { MOST_JOINTS = 16 };

/* q, qd and the states' vector number `last`; results stay as the code leaves them, in blocks of eight states: no
 * copy is timed */
static inline void batch(peer *p, casadi_function *function, int last, int count, const double *x, double *out) {
  real in[3 * MOST_JOINTS];
  for (int s = 0; s < STATES; s += LANES) {
    for (int k = 0; k < 2 * p->n; k++) memcpy(&in[k], x + k * STATES + s, sizeof in[k]);
    for (int k = 0; k < p->n; k++) memcpy(&in[2 * p->n + k], x + (last * p->n + k) * STATES + s, sizeof in[k]);
    function((const real *[]){in, in + p->n, in + 2 * p->n}, (real *[]){(real *)(out + s * count)}, NULL, NULL, 0);
  }
}

static void show_eight(int count, int state, const double *out, double *result) {
  for (int k = 0; k < count; k++) result[k] = out[(state / LANES * count + k) * LANES + state % LANES];
}

static void show_vector(const peer *p, int state, const double *out, double *result) {
  show_eight(p->n, state, out, result);
}
static void show_matrices(const peer *p, int state, const double *out, double *result) {
  show_eight(3 * p->n * p->n, state, out, result);
}

#define CALL(face, function, last, count) \
  static void face(peer *p, const double *x, double *out) { batch(p, function, last, count, x, out); }
CALL(inverse_batch, inverse, 2, p->n)
CALL(linearize_inverse_batch, linearize_inverse, 2, 3 * p->n * p->n)
CALL(linearize_forward_batch, linearize_forward, 3, 3 * p->n * p->n)

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE_BATCH] = {{"rnea, 8 states at a time", inverse_batch, show_vector}},
    [LINEARIZE_INVERSE_BATCH] = {{"computeRNEADerivatives, 8 states at a time", linearize_inverse_batch,
                                  show_matrices}},
#ifndef COUPLED
    [LINEARIZE_FORWARD_BATCH] = {{"computeABADerivatives, 8 states at a time", linearize_forward_batch, show_matrices}},
#endif
};
#else
#define CALL(face, function, last)                                                            \
  static void face(peer *p, const double *x, double *out) {                                   \
    function((const real *[]){x, x + p->n, x + last * p->n}, (real *[]){out}, NULL, NULL, 0); \
  }
CALL(call_inverse, inverse, 2)
CALL(call_mass, mass, 0)
CALL(call_mass_world, mass_world, 0)
CALL(call_forward, forward, 3)
CALL(call_forward_world, forward_world, 3)
CALL(call_forward_cholesky, forward_cholesky, 3)
CALL(call_regressor, regressor, 2)
CALL(call_linearize_inverse, linearize_inverse, 2)
CALL(call_linearize_forward, linearize_forward, 3)
CALL(call_inverse_mass, inverse_mass, 0)

/* column by column; ours: ... XX XY XZ YY YZ ZZ; theirs: ... XX XY YY XZ YZ ZZ */
static void show_regressor(const peer *p, int state, const double *out, double *Y) {
  static const int to_theirs[10] = {0, 1, 2, 3, 4, 5, 7, 6, 8, 9};
  int columns = 10 * p->robot->bodies;
  double *bodies = malloc(sizeof *bodies * (size_t)(p->n * columns));
  if (!bodies) abort();
  (void)state;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < columns; j++) bodies[i * columns + j] = out[(j / 10 * 10 + to_theirs[j % 10]) * p->n + i];
  bench_regressor_to_links(p->robot, bodies, Y);
  free(bodies);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"rnea", call_inverse, NULL}},
    [MASS] = {{"crba", call_mass, NULL}, {"crba (world)", call_mass_world, NULL}},
#ifndef COUPLED
    [FORWARD] = {{"aba", call_forward, NULL},
                 {"aba (world)", call_forward_world, NULL},
                 {"crba (world) + nle + cholesky", call_forward_cholesky, NULL}},
    [LINEARIZE_FORWARD] = {{"computeABADerivatives", call_linearize_forward, NULL}},
    [INVERSE_MASS] = {{"computeMinverse", call_inverse_mass, NULL}},
#endif
    [LINEARIZE_INVERSE] = {{"computeRNEADerivatives", call_linearize_inverse, NULL}},
    [REGRESSOR] = {{"computeJointTorqueRegressor", call_regressor, show_regressor}},
};
#endif

PEER_FACE
