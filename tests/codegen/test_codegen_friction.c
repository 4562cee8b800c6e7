/* Friction in generated code against the library that it shares nothing with: psdm_eval, psdm_along and psdm_sim (what
 * psdm simulate runs), psdm_predictor; on random robots with every friction model, by the operation graph and as
 * machine code, one state at a time and in batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/along.h"
#include "psdm/predictor.h"
#include "robot/robot.h"
#include "support.h"

enum { MOST = 8, STATES = 11, COLUMNS = 7 };
static const double tight = 1e-12; /* of the largest number; some hundred operations in double */

/* ---- robots ---- */

static psdm_friction random_friction(rng *g) {
  double coulomb = rng_uniform(g, 0.5, 3);
  return (psdm_friction){.coulomb = coulomb,
                         .stat = coulomb * rng_uniform(g, 0.8, 1.6),
                         .stribeck = rng_int(g, 0, 3) ? rng_uniform(g, 0.05, 0.5) : 0,
                         .viscous = rng_uniform(g, 0.1, 2),
                         .exponent = rng_int(g, 0, 2) ? rng_uniform(g, 0.3, 1.5) : 1,
                         .offset = rng_uniform(g, -0.3, 0.3),
                         .sigma0 = rng_uniform(g, 500, 5000),
                         .sigma1 = rng_uniform(g, 0, 5),
                         .given = true};
}

static psdm_robot *random_robot(rng *g, int k) {
  static char text[1 << 16];
  const random_options kinds[] = {{1, 4, false, false, false, true},
                                  {2, 5, false, true, true, true},
                                  {2, 4, true, true, true, false},
                                  {6, 7, false, false, false, true}};
  psdm_robot *robot = parse_robot(random_robot_text(g, &kinds[k % 4], text, sizeof text));
  for (int j = 0; j < robot->joints; j++)
    if (rng_int(g, 0, 5)) robot->joint[j].friction = random_friction(g);
  return robot;
}

/* ---- code, in every form ---- */

typedef struct forms {
  psdm_code *code;
  psdm_compiled *form[3]; /* graph, scalar and vectors of one object */
} forms;

static forms make_forms(const psdm_robot *robot, const psdm_code_options *options) {
  forms f = {0};
  psdm_error error;
  psdm_code_options o = *options;
  const psdm_compile_options graph = {.graph = true}, native = {.native = true, .flags = "-O0"};
  o.effort = -1;
  o.target = PSDM_CODE_SIMD;
  if (psdm_code_build(robot, &o, NULL, &f.code, &error)) fail_msg("%s", error.text);
  if (psdm_compile(f.code, &graph, NULL, &f.form[0], &error)) fail_msg("%s", error.text);
  if (psdm_compile(f.code, &native, NULL, &f.form[1], &error)) fail_msg("%s", error.text);
  return f;
}

static void free_forms(forms *f) {
  psdm_compiled_free(f->form[0]);
  psdm_compiled_free(f->form[1]);
  psdm_code_free(f->code);
}

/* one state's arguments by name */
typedef struct given {
  const char *name;
  const double *value;
} given;

static const double *value_of(const given *g, const char *name) {
  for (; g->name; g++)
    if (strcmp(g->name, name) == 0) return g->value;
  fail_msg("the function takes %s, which the test does not know", name);
  return NULL;
}

/* A function by the graph, as machine code, and as the lanes of a batch: the same to a few roundings. Its results, one
 * behind the other. */
static void call(forms *f, psdm_function function, const given *in, double *out) {
  enum { ROOM = 1200 };
  static double other[2][ROOM], many_in[8][64 * STATES], many_out[3][ROOM * STATES];
  int results = psdm_compiled_results(f->form[0], function), arguments = psdm_compiled_arguments(f->form[0], function);
  const void *a[16], *batch_in[16];
  void *r[3], *batch_out[3];
  int length, total = 0;
  assert_true(results > 0 && arguments <= 8);
  double *scratch = calloc(psdm_compiled_scratch(f->form[0]) + 1, sizeof *scratch);
  for (int k = 0; k < arguments; k++) {
    const char *name = psdm_compiled_argument(f->form[0], function, k, &length);
    const double *value = value_of(in, name);
    a[k] = value;
    bool shared = strcmp(name, "dt") == 0;
    batch_in[k] = shared ? a[k] : many_in[k];
    for (int i = 0; i < length && !shared; i++)
      for (int s = 0; s < STATES; s++) many_in[k][i * STATES + s] = value[i];
  }
  for (int form = 0; form < 2; form++) {
    total = 0;
    for (int k = 0; k < results; k++) {
      psdm_compiled_result(f->form[0], function, k, &length);
      r[k] = other[form] + total, batch_out[k] = many_out[k];
      total += length;
    }
    assert_true(total <= ROOM);
    assert_int_equal(psdm_compiled_call(f->form[form], function, a, r, scratch), PSDM_OK);
  }
  assert_int_equal(psdm_compiled_batch(f->form[1], function, STATES, batch_in, batch_out, NULL), PSDM_OK);
  double scale = fmax(max_absolute(other[0], total), 1e-300), off = max_difference(other[0], other[1], total);
  for (int k = 0, at = 0; k < results; k++, at += length) {
    psdm_compiled_result(f->form[0], function, k, &length);
    for (int i = 0; i < length; i++)
      for (int s = 0; s < STATES; s++) off = fmax(off, fabs(many_out[k][i * STATES + s] - other[0][at + i]));
  }
  if (!(off <= tight * scale))
    fail_msg("%s: graph, scalar and lanes are %.2g of %.2g apart", psdm_function_name(function), off, scale);
  memcpy(out, other[0], sizeof *out * (size_t)total);
  free(scratch);
}

static void close_to(const char *what, const double *got, const double *want, int count, double scale) {
  double off = max_difference(got, want, count), size = fmax(scale, max_absolute(want, count));
  if (!(off <= tight * size)) fail_msg("%s: off by %.3g of %.3g", what, off, size);
}

static void random_state(rng *g, int n, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++) {
    q[i] = rng_uniform(g, -3, 3), qd[i] = rng_uniform(g, -2, 2), qdd[i] = rng_uniform(g, -5, 5);
    if (!rng_int(g, 0, 9)) qd[i] = 0;
  }
}

/* condition of what forward solves, in torques: M's largest entry times qdd's */
static double torque_scale(const psdm_robot *robot, psdm_work *work, const double *q, const double *qdd) {
  double M[MOST * MOST], most = 0;
  int n = psdm_robot_n(robot);
  assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
  for (int i = 0; i < n * n; i++) most = fmax(most, fabs(M[i]));
  return n * most * max_absolute(qdd, n);
}

/* ---- the joints' own models ---- */

typedef struct scene {
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n;
} scene;

static scene make_scene(psdm_robot *robot) {
  scene s = {.robot = robot, .n = psdm_robot_n(robot)};
  assert_true(s.n <= MOST);
  assert_int_equal(psdm_work_new(robot, NULL, &s.work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &s.linear), PSDM_OK);
  return s;
}

static void free_scene(scene *s) {
  psdm_work_free(s->work, NULL);
  psdm_linear_free(s->linear, NULL);
  psdm_robot_free(s->robot);
}

static void friction_at(const scene *s, psdm_friction_kind kind, const double *qd, const double *z, double *F) {
  for (int k = 0; k < s->robot->joints; k++) {
    const psdm_joint *j = psdm_robot_joint(s->robot, k);
    double rate;
    if (j->q < 0) continue;
    F[j->q] = j->friction.given ? psdm_friction_steady(&j->friction, kind, qd[j->q]) : 0;
    if (kind == PSDM_FRICTION_LUGRE && j->friction.given) psdm_lugre(&j->friction, qd[j->q], z[j->q], &rate, &F[j->q]);
  }
}

static void check_torques(scene *s, forms *f, psdm_friction_kind kind, const given *in) {
  const double *q = in[0].value, *qd = in[1].value, *qdd = in[2].value, *z = in[4].value;
  double tau[MOST], F[MOST], got[MOST], bias[MOST];
  int n = s->n;
  friction_at(s, kind, qd, z, F);
  call(f, PSDM_F_FRICTION, in, got);
  close_to("friction", got, F, n, 0);
  assert_int_equal(psdm_inverse(s->robot, s->work, q, qd, qdd, tau), PSDM_OK);
  assert_int_equal(psdm_bias(s->robot, s->work, q, qd, bias), PSDM_OK);
  for (int i = 0; i < n; i++) tau[i] += F[i], bias[i] += F[i];
  double scale = max_absolute(tau, n);
  call(f, PSDM_F_INVERSE, in, got);
  close_to("inverse", got, tau, n, 0);
  call(f, PSDM_F_BIAS, in, got);
  close_to("bias", got, bias, n, scale);
  /* forward undoes inverse, judged by torques */
  memcpy((double *)in[3].value, tau, sizeof *tau * (size_t)n);
  call(f, PSDM_F_FORWARD, in, got);
  assert_int_equal(psdm_inverse(s->robot, s->work, q, qd, got, bias), PSDM_OK);
  for (int i = 0; i < n; i++) bias[i] += F[i];
  close_to("forward", bias, tau, n, torque_scale(s->robot, s->work, q, qdd));
}

/* psdm_eval knows the steady state's, by the whole model; the others by their slopes */
static void check_derivatives(scene *s, forms *f, psdm_friction_kind kind, const given *in) {
  const double *q = in[0].value, *qd = in[1].value, *qdd = in[2].value, *z = in[4].value;
  double want[3 * MOST * MOST], got[3 * MOST * MOST], state[3 * MOST];
  int n = s->n, nn = n * n;
  memcpy(state, q, sizeof *q * (size_t)n);
  memcpy(state + n, qd, sizeof *q * (size_t)n);
  memcpy(state + 2 * n, qdd, sizeof *q * (size_t)n);
  psdm_eval_options o = {.linear = s->linear, .friction = kind == PSDM_FRICTION_POWER};
  assert_int_equal(psdm_eval(s->robot, s->work, PSDM_F_LINEARIZE_INVERSE, &o, state, want), PSDM_OK);
  for (int k = 0; k < s->robot->joints && !o.friction; k++) {
    const psdm_joint *j = psdm_robot_joint(s->robot, k);
    if (j->q < 0 || !j->friction.given) continue;
    want[nn + j->q * n + j->q] += kind == PSDM_FRICTION_LUGRE
                                      ? psdm_lugre_slope(&j->friction, qd[j->q], z[j->q])
                                      : psdm_friction_steady_slope(&j->friction, kind, qd[j->q]);
  }
  call(f, PSDM_F_LINEARIZE_INVERSE, in, got);
  for (int m = 0; m < 3; m++) close_to("linearize_inverse", got + m * nn, want + m * nn, nn, max_absolute(want, nn));
  /* of forward: M times its derivatives are minus those of inverse */
  call(f, PSDM_F_LINEARIZE_FORWARD, in, got);
  for (int m = 0; m < 2; m++) {
    double back[MOST * MOST], scale = 0;
    for (int i = 0; i < nn; i++) {
      back[i] = 0;
      for (int k = 0; k < n; k++) back[i] -= want[2 * nn + i / n * n + k] * got[m * nn + k * n + i % n];
    }
    for (int i = 0; i < n; i++)
      for (int k = 0; k < nn; k++) scale = fmax(scale, n * fabs(want[2 * nn + k] * got[m * nn + i * n + k % n]));
    close_to("linearize_forward", back, want + m * nn, nn, scale);
  }
}

/* Y [theta; numbers] is what inverse gives */
static void check_regressor(scene *s, forms *f, psdm_friction_kind kind, const psdm_model *model, const given *in) {
  static double Y[1200];
  int n = s->n, l = psdm_model_l(model), columns = l + n * psdm_friction_columns(kind);
  double pi[11 * 2 * MOST], theta[11 * 2 * MOST], tau[MOST], got[MOST] = {0}, scale = 0;
  assert_true(n * columns <= (int)(sizeof Y / sizeof *Y));
  psdm_robot_parameters(s->robot, pi);
  psdm_model_theta(model, pi, theta);
  call(f, PSDM_F_REGRESSOR, in, Y);
  call(f, PSDM_F_INVERSE, in, tau);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < l; j++)
      got[i] += Y[i * columns + j] * theta[j], scale = fmax(scale, fabs(Y[i * columns + j] * theta[j]));
    for (int k = 0; k < s->robot->joints; k++) {
      const psdm_joint *j = psdm_robot_joint(s->robot, k);
      const psdm_friction *u = &j->friction;
      const bool lugre = kind == PSDM_FRICTION_LUGRE;
      const double number[] = {u->viscous, u->offset, lugre ? u->sigma0 : u->coulomb, lugre ? u->sigma1 : u->stat};
      for (int c = 0; c < psdm_friction_columns(kind) && j->q >= 0 && u->given; c++)
        got[i] += Y[i * columns + l + c * n + j->q] * (c == 3 && !lugre && !(u->stribeck > 0) ? 0 : number[c]);
    }
  }
  close_to("regressor", got, tau, n, scale);
}

static void check_step(scene *s, forms *f, rng *g, const given *in) {
  double q0[MOST] = {0}, qd0[MOST], want[MOST], got[MOST], dt = pow(10, rng_uniform(g, -5, -2));
  const given step[] = {{"dt", &dt}, {"q0", q0}, {"qd0", qd0}, in[0], in[1], in[4], {NULL, NULL}};
  for (int i = 0; i < s->n; i++) qd0[i] = in[1].value[i] + rng_uniform(g, -1, 1) * (rng_int(g, 0, 1) ? 1 : 0.01);
  for (int k = 0; k < s->robot->joints; k++) {
    const psdm_joint *j = psdm_robot_joint(s->robot, k);
    const double t[2] = {0, dt}, v[2] = {j->q < 0 ? 0 : qd0[j->q], j->q < 0 ? 0 : in[1].value[j->q]};
    double z[2], tau[2];
    if (j->q < 0) continue;
    psdm_friction u = j->friction;
    if (!u.given) u = (psdm_friction){0};
    psdm_lugre_follow(&u, in[4].value[j->q], 2, t, v, z, tau);
    want[j->q] = z[1];
  }
  call(f, PSDM_F_FRICTION_STEP, step, got);
  close_to("friction_step", got, want, s->n, 1e-4);
}

TEST(test_models_of_joints) {
  rng g = rng_start("models");
  for (int k = 0; k < 10; k++) {
    scene s = make_scene(random_robot(&g, k));
    psdm_friction_kind kind = (psdm_friction_kind)(1 + k % (PSDM_FRICTION_KINDS - 1));
    psdm_model *model;
    psdm_error error;
    psdm_code_options o = {.functions = ((2u << PSDM_F_INVERSE_MASS) - 1) | 1u << PSDM_F_FRICTION,
                           .friction = kind,
                           .method = s.n < 3 ? (psdm_code_method)rng_int(&g, 0, 1) : PSDM_CODE_RECURSIVE,
                           .sincos = (psdm_code_sincos)rng_int(&g, 0, 1)};
    forms f = make_forms(s.robot, &o);
    assert_int_equal(psdm_base_parameters_derive(s.robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
    for (int m = 0; m < 6; m++) {
      double q[MOST], qd[MOST], qdd[MOST], tau[MOST], z[MOST];
      random_state(&g, s.n, q, qd, qdd);
      for (int i = 0; i < s.n; i++) z[i] = rng_uniform(&g, -5e-4, 5e-4);
      const given in[] = {{"q", q}, {"qd", qd}, {"qdd", qdd}, {"tau", tau}, {"z", z}, {NULL, NULL}};
      check_torques(&s, &f, kind, in);
      check_derivatives(&s, &f, kind, in);
      check_regressor(&s, &f, kind, model, in);
      if (kind == PSDM_FRICTION_LUGRE) check_step(&s, &f, &g, in);
    }
    psdm_model_free(model);
    free_forms(&f);
    free_scene(&s);
  }
}

/* ---- along a motion: what psdm simulate --inverse says ---- */

enum { FINE = 16 }; /* parts of an interval in which psdm_along takes the velocity for a straight line */

typedef struct follower {
  forms *f;
  psdm_friction_kind kind;
  int n;
  long rows;
  double t, q[MOST], qd[MOST], qdd[MOST], z[MOST];
} follower;

/* z from the row before, along the cubic that has both rows' velocities and accelerations */
static void follow(follower *w, const psdm_along_row *row) {
  double h = row->t - w->t, dt = h / FINE, v0[MOST], v1[MOST], next[MOST];
  const given in[] = {{"dt", &dt}, {"q0", w->q}, {"qd0", v0}, {"q", row->q}, {"qd", v1}, {"z", w->z}, {NULL, NULL}};
  for (int k = 0; k <= FINE; k++) {
    double s = (double)k / FINE, left = (1 - s) * (1 - s), right = s * s;
    memcpy(v0, v1, sizeof v0);
    for (int i = 0; i < w->n; i++)
      v1[i] = left * ((1 + 2 * s) * w->qd[i] + s * h * w->qdd[i]) +
              right * ((3 - 2 * s) * row->qd[i] - (1 - s) * h * row->qdd[i]);
    if (!k) continue;
    call(w->f, PSDM_F_FRICTION_STEP, in, next);
    memcpy(w->z, next, sizeof *next * (size_t)w->n);
  }
}

static bool along_row(void *user, const psdm_along_row *row) {
  follower *w = user;
  double got[MOST];
  size_t bytes = sizeof *got * (size_t)w->n;
  if (w->rows++ && w->kind == PSDM_FRICTION_LUGRE) follow(w, row);
  const given in[] = {{"q", row->q}, {"qd", row->qd}, {"qdd", row->qdd}, {"z", w->z}, {NULL, NULL}};
  call(w->f, PSDM_F_INVERSE, in, got);
  close_to("psdm_along", got, row->tau, w->n, max_absolute(row->friction, w->n));
  call(w->f, PSDM_F_FRICTION, in, got);
  close_to("friction along", got, row->friction, w->n, 1);
  memcpy(w->q, row->q, bytes), memcpy(w->qd, row->qd, bytes), memcpy(w->qdd, row->qdd, bytes);
  w->t = row->t;
  return true;
}

TEST(test_along_a_motion) {
  rng g = rng_start("along");
  for (int k = 0; k < 3; k++) {
    scene s = make_scene(random_robot(&g, k));
    psdm_friction_kind kind = k % 2 ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_STRIBECK;
    psdm_code_options o = {.functions = 1u << PSDM_F_INVERSE | 1u << PSDM_F_FRICTION, .friction = kind};
    psdm_along_options along = {.friction = kind, .output = 0.02};
    double centre[MOST] = {0}, amplitude[MOST], frequency[MOST], phase[MOST];
    psdm_motion *motion;
    psdm_error error;
    for (int i = 0; i < s.n; i++)
      amplitude[i] = rng_uniform(&g, 0.2, 1), frequency[i] = rng_uniform(&g, 1, 6), phase[i] = rng_uniform(&g, 0, 6);
    assert_int_equal(psdm_motion_sines(s.n, 1, centre, amplitude, frequency, phase, 1, NULL, &motion, &error), PSDM_OK);
    forms f = make_forms(s.robot, &o);
    follower w = {.f = &f, .kind = kind, .n = s.n};
    if (psdm_along(s.robot, motion, &along, NULL, along_row, &w, &error)) fail_msg("%s", error.text);
    assert_int_equal(w.rows, 51);
    psdm_motion_free(motion);
    free_forms(&f);
    free_scene(&s);
  }
}

/* ---- in motion: what psdm simulate says ---- */

static bool sim_row(void *user, const psdm_sim_row *row) {
  follower *w = user;
  double got[MOST], tau[MOST] = {0};
  bool slides = true; /* what sticks is held by a reaction, which is no function of the state */
  for (int i = 0; i < w->n; i++) slides = slides && fabs(row->qd[i]) > 1e-6;
  const given in[] = {{"q", row->q}, {"qd", row->qd}, {"tau", tau}, {"z", row->z ? row->z : w->z}, {NULL, NULL}};
  if (!slides) return true;
  w->rows++;
  call(w->f, PSDM_F_FORWARD, in, got);
  /* the simulator's accelerations are its own forward dynamics: to what M's condition leaves */
  double off = max_difference(got, row->qdd, w->n), scale = fmax(1, max_absolute(row->qdd, w->n));
  if (!(off <= 1e-10 * scale)) fail_msg("psdm_sim at %g s: accelerations off by %.3g of %.3g", row->t, off, scale);
  return true;
}

TEST(test_in_motion) {
  rng g = rng_start("in motion");
  long rows = 0;
  for (int k = 0; k < 4; k++) {
    scene s = make_scene(random_robot(&g, 0));
    psdm_friction_kind kind = k % 2 ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_POWER;
    psdm_code_options o = {.functions = 1u << PSDM_F_FORWARD, .friction = kind};
    psdm_sim_options options = {.friction = kind, .integrator = PSDM_INTEGRATOR_EULER, .step = 1e-3, .no_code = true};
    psdm_sim *sim;
    psdm_sim_result result;
    psdm_error error;
    double q[MOST], qd[MOST], qdd[MOST];
    random_state(&g, s.n, q, qd, qdd);
    forms f = make_forms(s.robot, &o);
    follower w = {.f = &f, .n = s.n};
    if (psdm_sim_new(s.robot, &options, NULL, &sim, &error)) fail_msg("%s", error.text);
    assert_int_equal(psdm_sim_set(sim, 0, q, qd, &error), PSDM_OK);
    assert_int_equal(psdm_sim_run(sim, 0.2, sim_row, &w, &result, &error), PSDM_OK);
    rows += w.rows;
    psdm_sim_free(sim);
    free_forms(&f);
    free_scene(&s);
  }
  printf("in motion: %ld rows slide\n", rows);
  assert_true(rows > 20);
}

/* ---- what a calibration found ---- */

typedef struct found {
  psdm_parameters p;
  psdm_estimate theta[11 * 2 * MOST];
  double load[11 * 2 * MOST], pi[11 * 2 * MOST];
  char name[11 * 2 * MOST][32];
  int columns[MOST];
  psdm_column column[MOST][COLUMNS];
  const psdm_column *at[MOST];
  psdm_friction lugre[MOST];
} found;

static psdm_column random_column(rng *g, double share) {
  psdm_column c = {.kind = (psdm_column_kind)rng_int(g, 0, PSDM_COLUMN_KINDS - 1),
                   .width = rng_uniform(g, 0.2, 2),
                   .load = share > 0 ? rng_int(g, 0, 1) : 0,
                   .gain = rng_uniform(g, -1, 1)};
  if (c.kind == PSDM_COLUMN_SINE || c.kind == PSDM_COLUMN_COSINE) c.width = rng_int(g, 1, 4);
  if (c.load) c.gain *= share;
  return c;
}

/* loads: 0 none, 1 by the rigid torque itself, 2 by one that is a little off */
static found *make_found(rng *g, const psdm_robot *robot, int loads, bool lugre) {
  found *f = calloc(1, sizeof *f);
  psdm_model *model;
  psdm_error error;
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  int n = psdm_robot_n(robot), base = psdm_model_l(model);
  assert_true(n <= MOST && psdm_robot_parameter_count(robot) <= (int)(sizeof f->pi / sizeof *f->pi));
  psdm_robot_parameters(robot, f->pi);
  for (int j = 0; j < base; j++) {
    snprintf(f->name[j], sizeof f->name[j], "%s", psdm_model_base_name(model, j));
    f->theta[j].name = f->name[j];
    for (int t = 0, k; t < psdm_model_base_terms(model, j); t++) {
      double factor = psdm_model_base_term(model, j, t, &k);
      f->theta[j].value += factor * f->pi[k];
    }
    f->load[j] = f->theta[j].value * (loads == 2 ? 1 + rng_uniform(g, -0.02, 0.02) : 1);
  }
  for (int i = 0; i < n; i++) {
    f->columns[i] = lugre ? 0 : rng_int(g, 1, COLUMNS);
    f->at[i] = f->column[i];
    for (int k = 0; k < f->columns[i]; k++) f->column[i][k] = random_column(g, loads ? 0.05 : 0);
    f->lugre[i] = random_friction(g);
  }
  f->p = (psdm_parameters){.robot = "found",
                           .kinematics = psdm_robot_fingerprint(robot),
                           .n = n,
                           .links = psdm_robot_links(robot),
                           .base = base,
                           .standard = psdm_robot_parameter_count(robot),
                           .theta = f->theta,
                           .pi = f->pi,
                           .columns = f->columns,
                           .column = f->at,
                           .theta_load = loads ? f->load : NULL,
                           .rate = 500,
                           .lugre = lugre ? f->lugre : NULL};
  psdm_model_free(model);
  return f;
}

/* rows of a smooth motion */
static void motion_row(int n, const double *shape, double t, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++) {
    double a = shape[3 * i], w = shape[3 * i + 1], u = w * t + shape[3 * i + 2];
    q[i] = a * sin(u), qd[i] = a * w * cos(u), qdd[i] = -a * w * w * sin(u);
  }
}

static void check_prediction(rng *g, scene *s, forms *f, const found *p) {
  double shape[3 * MOST], q[MOST], qd[MOST], qdd[MOST], q0[MOST], qd0[MOST], tau[MOST], part[MOST], got[MOST];
  static double z[MOST * COLUMNS], next[MOST * COLUMNS];
  const double dt = 1 / p->p.rate;
  psdm_predictor *predictor;
  psdm_error error;
  int n = s->n, states = 0;
  if (psdm_predictor_new(&p->p, s->robot, NULL, &predictor, &error)) fail_msg("%s", error.text);
  for (int i = 0; i < 3 * n; i++) shape[i] = rng_uniform(g, 0.3, 3);
  bool step = psdm_compiled_results(f->form[0], PSDM_F_FRICTION_STEP) > 0;
  if (step) psdm_compiled_result(f->form[0], PSDM_F_FRICTION_STEP, 0, &states);
  memset(z, 0, sizeof z);
  for (int k = 0; k < 60; k++) {
    motion_row(n, shape, dt * k, q, qd, qdd);
    assert_int_equal(psdm_predictor_step(predictor, q, qd, qdd, tau, part), PSDM_OK);
    const given move[] = {{"dt", &dt}, {"q0", q0}, {"qd0", qd0}, {"q", q}, {"qd", qd}, {"z", z}, {NULL, NULL}};
    if (k && step) call(f, PSDM_F_FRICTION_STEP, move, next), memcpy(z, next, sizeof *z * (size_t)states);
    if (!k && p->p.lugre) { /* a predictor begins as after a long way, code as it is told */
      double drive[MOST];
      psdm_robot_joint_to_motor(s->robot, qd, drive);
      for (int j = 0; j < s->robot->joints; j++)
        if (s->robot->joint[j].q >= 0)
          z[s->robot->joint[j].q] =
              psdm_lugre_steady(&p->lugre[s->robot->joint[j].q], drive[s->robot->joint[j].q] / s->robot->joint[j].gear);
    }
    const given in[] = {{"q", q}, {"qd", qd}, {"qdd", qdd}, {"tau", tau}, {"z", z}, {NULL, NULL}};
    double scale = fmax(max_absolute(tau, n), max_absolute(part, n));
    call(f, PSDM_F_FRICTION, in, got);
    close_to("friction of the predictor", got, part, n, scale);
    call(f, PSDM_F_INVERSE, in, got);
    close_to("predictor", got, tau, n, scale);
    call(f, PSDM_F_FORWARD, in, got);
    call(f, PSDM_F_INVERSE, (given[]){{"q", q}, {"qd", qd}, {"qdd", got}, {"z", z}, {NULL, NULL}}, part);
    close_to("forward of the predictor", part, tau, n, fmax(scale, torque_scale(s->robot, s->work, q, qdd)));
    memcpy(q0, q, sizeof q), memcpy(qd0, qd, sizeof qd);
  }
  psdm_predictor_free(predictor);
}

/* rows of the regressor times base parameters and gains */
static void check_gains(scene *s, forms *f, const found *p, const psdm_model *model, rng *g) {
  static double Y[1200], z[MOST * COLUMNS];
  int n = s->n, l = psdm_model_l(model), all = l;
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], theta[11 * 2 * MOST], got[MOST] = {0}, scale = 0;
  for (int i = 0; i < n; i++) all += p->columns[i];
  assert_true(n * all <= (int)(sizeof Y / sizeof *Y));
  random_state(g, n, q, qd, qdd);
  for (int i = 0; i < MOST * COLUMNS; i++) z[i] = rng_uniform(g, -1, 1);
  const given in[] = {{"q", q}, {"qd", qd}, {"qdd", qdd}, {"z", z}, {NULL, NULL}};
  call(f, PSDM_F_REGRESSOR, in, Y);
  call(f, PSDM_F_INVERSE, in, tau);
  psdm_model_theta(model, p->pi, theta);
  for (int i = 0; i < n; i++) {
    int at = l;
    for (int j = 0; j < l; j++)
      got[i] += Y[i * all + j] * theta[j], scale = fmax(scale, fabs(Y[i * all + j] * theta[j]));
    for (int d = 0; d < n; d++)
      for (int k = 0; k < p->columns[d]; k++) got[i] += Y[i * all + at++] * p->column[d][k].gain;
  }
  close_to("gains", got, tau, n, scale);
}

/* derivatives of what the compiled functions are, by differences */
static void check_slopes(scene *s, forms *f, rng *g) {
  static double z[MOST * COLUMNS];
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], D[3 * MOST * MOST], high[MOST], low[MOST];
  int n = s->n, nn = n * n;
  const double h = 1e-5;
  for (int i = 0; i < n; i++)
    q[i] = rng_uniform(g, -2, 2), qd[i] = rng_uniform(g, 0.3, 2), qdd[i] = rng_uniform(g, -3, 3);
  for (int i = 0; i < MOST * COLUMNS; i++) z[i] = rng_uniform(g, -1, 1);
  const given in[] = {{"q", q}, {"qd", qd}, {"qdd", qdd}, {"tau", tau}, {"z", z}, {NULL, NULL}};
  call(f, PSDM_F_INVERSE, in, tau);
  for (int forward = 0; forward < 2; forward++) {
    double *const by[3] = {q, qd, forward ? tau : qdd};
    psdm_function function = forward ? PSDM_F_FORWARD : PSDM_F_INVERSE;
    call(f, forward ? PSDM_F_LINEARIZE_FORWARD : PSDM_F_LINEARIZE_INVERSE, in, D);
    for (int m = 0; m < 3; m++)
      for (int j = 0; j < n; j++) {
        double at = by[m][j];
        by[m][j] = at + h, call(f, function, in, high);
        by[m][j] = at - h, call(f, function, in, low);
        by[m][j] = at;
        for (int i = 0; i < n; i++) {
          double difference = (high[i] - low[i]) / (2 * h), size = fmax(1, max_absolute(D + m * nn, nn));
          if (!(fabs(difference - D[m * nn + i * n + j]) <= 1e-6 * size))
            fail_msg("%s: derivative %d of %d by %d is %.9g, differences %.9g", psdm_function_name(function), m, i, j,
                     D[m * nn + i * n + j], difference);
        }
      }
  }
}

static psdm_robot *geared_robot(rng *g, int k) {
  static const char arm[] =
      "name: arm\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: s, a: 1.2, gear: 50, drive_inertia: "
      "0.7}\n"
      "  - {name: e, a: 1.1, gear: -20, drive_inertia: 0.4}\ntransmission: [[1, 0], [0.5, 1]]\nlinks:\n"
      "  - {mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.2, xx: 0.1, yy: 0.2}}\n"
      "  - {mass: 2, com: [-0.5, 0, 0], inertia: {zz: 0.3, xx: 0.1, yy: 0.3}}\n";
  return k % 3 == 0 ? parse_robot(arm) : random_robot(g, k);
}

TEST(test_calibrated_drives) {
  rng g = rng_start("calibrated");
  for (int k = 0; k < 8; k++) {
    scene s = make_scene(geared_robot(&g, k));
    bool lugre = k % 4 == 3;
    found *p = make_found(&g, s.robot, lugre ? 0 : k % 3, lugre);
    psdm_model *model;
    psdm_error error;
    psdm_code_options o = {.functions = ((2u << PSDM_F_INVERSE_MASS) - 1) | 1u << PSDM_F_FRICTION,
                           .parameters = &p->p,
                           .method = PSDM_CODE_RECURSIVE};
    forms f = make_forms(s.robot, &o);
    assert_int_equal(psdm_base_parameters_derive(s.robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
    check_prediction(&g, &s, &f, p);
    if (!lugre) check_gains(&s, &f, p, model, &g);
    if (!lugre) check_slopes(&s, &f, &g);
    psdm_model_free(model);
    free_forms(&f);
    free_scene(&s);
    free(p);
  }
}

/* ---- refusals ---- */

static void refused(const psdm_robot *robot, const psdm_code_options *o, psdm_status status, const char *text) {
  psdm_code *code;
  psdm_error error;
  assert_int_equal(psdm_code_build(robot, o, NULL, &code, &error), status);
  if (!strstr(error.text, text)) fail_msg("'%s' was expected in '%s'", text, error.text);
  assert_null(code);
}

TEST(test_refusals) {
  psdm_robot *robot = load_shipped("two_link");
  refused(robot, &(psdm_code_options){.functions = 1u << PSDM_F_FRICTION}, PSDM_E_ARGUMENT, "need a friction model");
  refused(robot, &(psdm_code_options){.friction = PSDM_FRICTION_KINDS}, PSDM_E_ARGUMENT, "unknown friction model");
  refused(robot, &(psdm_code_options){.functions = 1u << PSDM_F_FRICTION_STEP, .friction = PSDM_FRICTION_COULOMB},
          PSDM_E_ARGUMENT, "nothing to remember");
  refused(robot, &(psdm_code_options){.friction = PSDM_FRICTION_VISCOUS, .friction_columns = true}, PSDM_E_ARGUMENT,
          "not both");
  refused(robot, &(psdm_code_options){.friction = PSDM_FRICTION_LUGRE, .wraps = 1u << PSDM_CODE_WRAP_FMU},
          PSDM_E_ARGUMENT, "no memory");
  robot->joint[1].friction = (psdm_friction){.coulomb = 1, .exponent = 1, .given = true};
  refused(robot, &(psdm_code_options){.friction = PSDM_FRICTION_LUGRE}, PSDM_E_MISSING, "sigma0 is missing");
  psdm_robot_free(robot);
}

TEST_MAIN(test_models_of_joints, test_along_a_motion, test_in_motion, test_calibrated_drives, test_refusals)
