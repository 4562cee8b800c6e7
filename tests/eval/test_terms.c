/* terms.c: Coriolis matrix, momentum, small motions, sensitivities and functions of a task: what defines each, on
 * random robots with chains, trees, sliding and coupled joints and drives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 9, SQUARE = MOST * MOST, ROBOTS = 60, WIDE = 10 * MOST + MOST };

/* A robot at a state, with small motions. in: q qd qdd dq dqd dqdd eq eqd eqdd */
typedef struct scene {
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  psdm_eval_options options;
  double point[3];
  int n;
  double in[9 * MOST];
} scene;

static void start(scene *x, rng *g, const random_options *options) {
  static char text[65536];
  *x = (scene){.robot = parse_robot(random_robot_text(g, options, text, sizeof text))};
  x->n = psdm_robot_n(x->robot);
  assert_int_equal(psdm_work_new(x->robot, NULL, &x->work), PSDM_OK);
  assert_int_equal(psdm_linear_new(x->robot, NULL, &x->linear), PSDM_OK);
  x->options.scratch = calloc(psdm_eval_scratch(x->robot, NULL), sizeof(double));
  x->options.linear = x->linear;
  for (int i = 0; i < 9 * x->n; i++) x->in[i] = rng_uniform(g, -2, 2);
}

static void end(scene *x) {
  free(x->options.scratch);
  psdm_linear_free(x->linear, NULL);
  psdm_work_free(x->work, NULL);
  psdm_robot_free(x->robot);
}

static void eval_at(scene *x, psdm_function f, const double *in, double *out) {
  psdm_status status = psdm_eval(x->robot, x->work, f, &x->options, in, out);
  if (status) fail_msg("%s: %s", psdm_function_name(f), psdm_status_text(status));
}

static void eval(scene *x, psdm_function f, double *out) { eval_at(x, f, x->in, out); }

/* |a - b| below so many roundings of their largest number, or of `least` */
static void same(const char *what, const double *a, const double *b, int count, double least, double tolerance) {
  double size = fmax(max_absolute(a, count), fmax(max_absolute(b, count), least));
  double error = max_difference(a, b, count);
  if (!(error <= tolerance * size)) fail_msg("%s: off by %g of %g", what, error, size);
}

/* out = A x, (n x n) */
static void times(int n, const double *A, const double *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int j = 0; j < n; j++) out[i] += A[i * n + j] * x[j];
  }
}

/* dM/dq_k for every k, (n x n x n), by exact second derivatives of the torques */
static void mass_gradient(scene *x, double *dM) {
  double unit[MOST] = {0};
  for (int k = 0; k < x->n; k++) {
    const psdm_direction along = {.dq = unit};
    unit[k] = 1;
    assert_int_equal(psdm_linearize_inverse_second(x->robot, x->linear, x->in, x->in + x->n, x->in + 2 * x->n, &along,
                                                   NULL, NULL, dM + k * x->n * x->n),
                     PSDM_OK);
    unit[k] = 0;
  }
}

/* C is that of Christoffel's symbols, dM/dt - 2 C is skew, C qd are the velocities' torques */
static void check_coriolis(scene *x) {
  int n = x->n;
  double C[SQUARE], rate[SQUARE], twin[SQUARE] = {0}, dM[MOST * SQUARE], along[SQUARE] = {0}, skew[SQUARE], c[MOST],
                                  bias[MOST], g[MOST];
  const double *qd = x->in + n;
  eval(x, PSDM_F_CORIOLIS, C);
  eval(x, PSDM_F_MASS_RATE, rate);
  mass_gradient(x, dM);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        twin[i * n + j] += (dM[(k * n + i) * n + j] + dM[(j * n + i) * n + k] - dM[(i * n + j) * n + k]) * qd[k] / 2;
        along[i * n + j] += dM[(k * n + i) * n + j] * qd[k];
      }
  eval(x, PSDM_F_MASS, skew);
  double size = fmax(max_absolute(dM, n * n * n), max_absolute(skew, n * n));
  same("Christoffel", C, twin, n * n, size, 1e-12);
  same("dM/dt", rate, along, n * n, size, 1e-12);
  for (int i = 0; i < n * n; i++) skew[i] = along[i] - 2 * C[i] + (along[i % n * n + i / n] - 2 * C[i % n * n + i / n]);
  assert_true(max_absolute(skew, n * n) <= 1e-12 * size);
  eval(x, PSDM_F_BIAS, bias);
  eval(x, PSDM_F_GRAVITY, g);
  times(n, C, qd, c);
  for (int i = 0; i < n; i++) bias[i] -= g[i];
  same("C qd", c, bias, n, max_absolute(g, n) + size, 1e-12);
}

/* p = M qd; its rate is that of M qd along the motion */
static void check_momentum(scene *x) {
  int n = x->n;
  double M[SQUARE], C[SQUARE], two[2 * MOST], p[MOST], gradient[MOST], tau[MOST], rate[MOST], right[MOST], part[MOST],
      in[3 * MOST];
  const double *qd = x->in + n, *qdd = qd + n;
  eval(x, PSDM_F_MASS, M);
  eval(x, PSDM_F_CORIOLIS, C);
  eval(x, PSDM_F_MOMENTUM, two);
  times(n, M, qd, p);
  same("p", two, p, n, 0, 1e-12);
  for (int j = 0; j < n; j++) {
    gradient[j] = 0;
    for (int i = 0; i < n; i++) gradient[j] += C[i * n + j] * qd[i];
  }
  same("C^T qd", two + n, gradient, n, fmax(max_absolute(C, n * n), max_absolute(M, n * n)), 1e-12);
  eval(x, PSDM_F_INVERSE, tau);
  memcpy(in, x->in, sizeof *in * (size_t)(2 * n));
  memcpy(in + 2 * n, tau, sizeof *in * (size_t)n);
  eval_at(x, PSDM_F_MOMENTUM_RATE, in, rate);
  eval(x, PSDM_F_MASS_RATE, C);
  times(n, M, qdd, right);
  times(n, C, qd, part);
  for (int i = 0; i < n; i++) right[i] += part[i];
  same("dp/dt", rate, right, n, max_absolute(tau, n), 1e-12);
}

static void check_factors(scene *x) {
  int n = x->n;
  double out[3 * SQUARE], M[SQUARE], product[SQUARE], one[SQUARE], *L = out, *Linv = out + n * n, *D = Linv + n * n;
  eval(x, PSDM_F_INNOVATIONS, out);
  eval(x, PSDM_F_MASS, M);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      product[i * n + j] = 0, one[i * n + j] = -(i == j);
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) product[i * n + j] += L[i * n + k] * D[k * n + l] * L[j * n + l];
      for (int k = 0; k < n; k++) one[i * n + j] += L[i * n + k] * Linv[k * n + j];
    }
  same("L D L^T", product, M, n * n, 0, 1e-12);
  assert_true(max_absolute(one, n * n) < 1e-10 * (1 + max_absolute(L, 2 * n * n)));
}

/* along a small motion: the linearization times it; twice along: the linearization's change times the other */
static void check_small(scene *x) {
  int n = x->n;
  double change[MOST], right[MOST], part[MOST], three[3 * SQUARE];
  const double *in = x->in;
  eval(x, PSDM_F_INVERSE_ALONG, change);
  eval(x, PSDM_F_LINEARIZE_INVERSE, three);
  memset(right, 0, sizeof right);
  for (int k = 0; k < 3; k++) {
    times(n, three + k * n * n, in + (3 + k) * n, part);
    for (int i = 0; i < n; i++) right[i] += part[i];
  }
  same("inverse_along", change, right, n, max_absolute(three, 3 * n * n), 1e-12);
  eval(x, PSDM_F_INVERSE_SECOND, change);
  eval(x, PSDM_F_LINEARIZE_SECOND, three);
  memset(right, 0, sizeof right);
  for (int k = 0; k < 3; k++) {
    times(n, three + k * n * n, in + (6 + k) * n, part);
    for (int i = 0; i < n; i++) right[i] += part[i];
  }
  same("inverse_second", change, right, n, max_absolute(three, 3 * n * n), 1e-12);
}

/* of M: what accelerations may lose */
static double condition_of(scene *x) {
  double M[SQUARE], Minv[SQUARE];
  eval(x, PSDM_F_MASS, M);
  eval(x, PSDM_F_INVERSE_MASS, Minv);
  return x->n * max_absolute(M, x->n * x->n) * max_absolute(Minv, x->n * x->n);
}

static void check_forward(scene *x) {
  int n = x->n, columns = psdm_robot_parameter_count(x->robot);
  static double Y[MOST * WIDE], right[MOST * WIDE];
  double in[6 * MOST], change[MOST], dense[MOST], three[3 * SQUARE], sum[MOST] = {0}, part[MOST], most = 0,
                                                                     condition = condition_of(x);
  memcpy(in, x->in, sizeof in);
  eval(x, PSDM_F_INVERSE, in + 2 * n);
  eval_at(x, PSDM_F_FORWARD_ALONG, in, change);
  x->options.dense = true;
  eval_at(x, PSDM_F_FORWARD_ALONG, in, dense);
  x->options.dense = false;
  eval_at(x, PSDM_F_LINEARIZE_FORWARD, in, three);
  for (int k = 0; k < 3; k++) {
    times(n, three + k * n * n, in + (3 + k) * n, part);
    for (int i = 0; i < n; i++) sum[i] += part[i];
    most = fmax(most, max_absolute(part, n));
  }
  same("forward_along", change, sum, n, most, 1e-13 * condition);
  same("dense", dense, sum, n, most, 1e-13 * condition);
  const psdm_sensitivity standard = {.standard = true};
  eval_at(x, PSDM_F_SENSITIVITY, in, Y);
  assert_int_equal(psdm_sensitivity_forward(x->robot, x->linear, &standard, x->in, x->in + n, x->in + 2 * n, right),
                   PSDM_OK);
  same("sensitivity", Y, right, n * columns, 0, 1e-13 * condition);
}

TEST(terms_are_what_defines_them) {
  rng g = rng_start("terms_are_what_defines_them");
  for (int k = 0; k < ROBOTS; k++) {
    scene x;
    start(&x, &g, &(random_options){1, 7, k % 2, k % 3 == 0, k % 4 > 1, k % 5 == 0});
    check_coriolis(&x);
    check_momentum(&x);
    check_factors(&x);
    check_small(&x);
    check_forward(&x);
    end(&x);
  }
}

/* ---- tasks ---- */

/* the pose of a point of the link, and its velocity's directions, by differences */
static void check_jacobian(scene *x, int joint, const double *J) {
  static const double step = 1e-6;
  int n = x->n;
  double pose[2][12], q[MOST];
  for (int j = 0; j < n; j++) {
    for (int side = 0; side < 2; side++) {
      memcpy(q, x->in, sizeof q);
      q[j] += side ? step : -step;
      assert_int_equal(psdm_pose(x->robot, x->work, q, joint, pose[side]), PSDM_OK);
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) pose[side][i] += pose[side][3 + 3 * i + k] * x->point[k];
    }
    for (int i = 0; i < 3; i++) assert_true(fabs(J[i * n + j] - (pose[1][i] - pose[0][i]) / (2 * step)) < 1e-7);
  }
}

/* (rows x columns) = X Y, X (rows x inner) */
static void product(int rows, int inner, int columns, const double *X, const double *Y, double *out) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      out[i * columns + j] = 0;
      for (int k = 0; k < inner; k++) out[i * columns + j] += X[i * inner + k] * Y[k * columns + j];
    }
}

static void task(scene *x, psdm_function f, const double *q_and_qd, double *out) { eval_at(x, f, q_and_qd, out); }

/* Mp A = 1 with A = J M^-1 J^T: how far from it, and A's condition */
static double check_mass(scene *x, int m, const double *J, const double *Mp, double *condition) {
  int n = x->n;
  double Minv[SQUARE], part[SQUARE], A[36] = {0}, one[36];
  eval(x, PSDM_F_INVERSE_MASS, Minv);
  product(m, n, n, J, Minv, part);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++) A[i * m + j] += part[i * n + k] * J[j * n + k];
  product(m, m, m, A, Mp, one);
  for (int i = 0; i < m; i++) one[i * m + i] -= 1;
  *condition = m * max_absolute(A, m * m) * max_absolute(Mp, m * m);
  return max_absolute(one, m * m);
}

/* dMp/dt by differences of order four */
static void mass_rate(scene *x, int m, double *out) {
  static const double step = 1e-4, weight[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12}, at[4] = {-2, -1, 1, 2};
  double in[2 * MOST], Mp[36];
  memset(out, 0, sizeof *out * (size_t)(m * m));
  for (int k = 0; k < 4; k++) {
    memcpy(in, x->in, sizeof in);
    for (int i = 0; i < x->n; i++) in[i] += at[k] * step * x->in[x->n + i];
    task(x, PSDM_F_CARTESIAN_MASS, in, Mp);
    for (int i = 0; i < m * m; i++) out[i] += weight[k] * Mp[i] / step;
  }
}

/* F = Mp pdd + cp + gp under tau = J^T F + N tau_0 */
static void check_motion(scene *x, rng *g, int m, const double *J, const double *Mp, double loss) {
  int n = x->n;
  double N[SQUARE], cp[6], gp[6], F[6], tau[MOST] = {0}, tau0[MOST], in[3 * MOST], qdd[MOST], pdd[6], forces[6],
                                        size = 0, shifted[2 * MOST], velocity[2][6], J2[2][6 * MOST];
  task(x, PSDM_F_CARTESIAN_NULL_SPACE, x->in, N);
  task(x, PSDM_F_CARTESIAN_CORIOLIS, x->in, cp);
  task(x, PSDM_F_CARTESIAN_GRAVITY, x->in, gp);
  for (int i = 0; i < m; i++) F[i] = rng_uniform(g, -20, 20);
  for (int i = 0; i < n; i++) tau0[i] = rng_uniform(g, -20, 20);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++) tau[i] += J[k * n + i] * F[k];
    for (int k = 0; k < n; k++) tau[i] += N[i * n + k] * tau0[k];
  }
  memcpy(in, x->in, sizeof *in * (size_t)(2 * n));
  memcpy(in + 2 * n, tau, sizeof *in * (size_t)n);
  eval_at(x, PSDM_F_FORWARD, in, qdd);
  /* dJ/dt qd by differences */
  for (int side = 0; side < 2; side++) {
    memcpy(shifted, x->in, sizeof shifted);
    for (int i = 0; i < n; i++) shifted[i] += (side ? 1e-6 : -1e-6) * x->in[n + i];
    task(x, PSDM_F_CARTESIAN_JACOBIAN, shifted, J2[side]);
    product(m, n, 1, J2[side], x->in + n, velocity[side]);
  }
  product(m, n, 1, J, qdd, pdd);
  for (int i = 0; i < m; i++) pdd[i] += (velocity[1][i] - velocity[0][i]) / 2e-6;
  product(m, m, 1, Mp, pdd, forces);
  for (int i = 0; i < m; i++) size = fmax(size, fabs(forces[i]) + fabs(cp[i]) + fabs(gp[i]) + fabs(F[i]));
  for (int i = 0; i < m; i++) forces[i] += cp[i] + gp[i];
  if (!(max_difference(forces, F, m) < 1e-8 * loss * size)) fail_msg("motion: %g", max_difference(forces, F, m) / size);
}

static bool check_task(scene *x, rng *g, int joint, unsigned rows) {
  int n = x->n, m = psdm_directions_count(rows);
  double all[6 * MOST], J[6 * MOST], Mp[36], Sp[36], rate[36], Jbar[6 * MOST], one[36], condition, loss;
  x->options.point = x->point;
  x->options.directions = PSDM_ALL_DIRECTIONS;
  task(x, PSDM_F_CARTESIAN_JACOBIAN, x->in, all);
  check_jacobian(x, joint, all);
  x->options.directions = rows;
  task(x, PSDM_F_CARTESIAN_JACOBIAN, x->in, J);
  for (int k = 0, row = 0; k < 6; k++)
    if (rows >> k & 1u) assert_memory_equal(J + n * row++, all + n * k, sizeof *J * (size_t)n);
  if (psdm_eval(x->robot, x->work, PSDM_F_CARTESIAN_MASS, &x->options, x->in, Mp)) return false;
  double error = check_mass(x, m, J, Mp, &condition);
  loss = condition_of(x) * condition;
  if (!(loss < 1e8)) return false; /* near a singular position */
  if (!(error < 1e-13 * loss)) fail_msg("Mp A is off by %g, condition %g", error, loss);
  task(x, PSDM_F_CARTESIAN_INVERSE, x->in, Jbar);
  product(m, n, m, J, Jbar, one);
  for (int i = 0; i < m; i++) one[i * m + i] -= 1;
  assert_true(max_absolute(one, m * m) < 1e-13 * loss);
  task(x, PSDM_F_CARTESIAN_FACTOR, x->in, Sp);
  mass_rate(x, m, rate);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double skew = rate[i * m + j] + rate[j * m + i] - 2 * Sp[i * m + j] - 2 * Sp[j * m + i];
      if (!(fabs(skew) < 1e-6 * fmax(max_absolute(rate, m * m), 1) * fmax(1, condition)))
        fail_msg("dMp/dt - 2 Sp is off by %g of %g", skew, max_absolute(rate, m * m));
    }
  check_motion(x, g, m, J, Mp, fmax(1, condition));
  return true;
}

TEST(tasks_are_what_defines_them) {
  rng g = rng_start("tasks_are_what_defines_them");
  int done = 0;
  for (int k = 0; k < 2 * ROBOTS; k++) {
    scene x;
    start(&x, &g, &(random_options){3, 8, k % 2, k % 3 == 0, k % 4 > 1, k % 5 == 0});
    int joint = rng_int(&g, 0, psdm_robot_joints(x.robot) - 1), m = 0;
    unsigned rows = 0;
    for (int i = 0; i < 3; i++) x.point[i] = rng_uniform(&g, -0.3, 0.3);
    while (m == 0 || m > 3) m = psdm_directions_count(rows = (unsigned)rng_int(&g, 1, 63));
    x.options.link = psdm_robot_link_name(x.robot, joint);
    if (m <= x.n && psdm_robot_moves(x.robot, joint)) done += check_task(&x, &g, joint, rows);
    end(&x);
  }
  assert_true(done > ROBOTS / 2);
}

/* the same numbers through psdm_batch_new, in any number of threads */
TEST(batches_are_equal_to_single_states) {
  rng g = rng_start("batches_are_equal_to_single_states");
  scene x;
  start(&x, &g, &(random_options){6, 6, false, false, false, true});
  x.options.directions = 7;
  for (int f = PSDM_F_CORIOLIS; f < PSDM_EVAL_FUNCTIONS; f++) {
    enum { STATES = 150 };
    int inputs = psdm_eval_inputs(x.robot, (psdm_function)f),
        outputs = psdm_eval_outputs(x.robot, (psdm_function)f, &x.options);
    double *in = malloc(sizeof *in * (size_t)(STATES * inputs)),
           *out = malloc(sizeof *out * (size_t)(STATES * outputs)), *one = malloc(sizeof *one * (size_t)outputs);
    psdm_batch *batch;
    for (int i = 0; i < STATES * inputs; i++) in[i] = rng_uniform(&g, -1, 1);
    assert_int_equal(psdm_batch_new(x.robot, (psdm_function)f, &x.options, 3, NULL, &batch, NULL), PSDM_OK);
    assert_int_equal(psdm_batch_eval(batch, STATES, in, out, NULL), PSDM_OK);
    for (int s = 0; s < STATES; s++) {
      eval_at(&x, (psdm_function)f, in + s * inputs, one);
      assert_memory_equal(one, out + s * outputs, sizeof *one * (size_t)outputs);
    }
    psdm_batch_free(batch);
    free(in), free(out), free(one);
  }
  end(&x);
}

TEST(tasks_that_do_not_exist_are_refused) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_work *work;
  psdm_error error;
  double in[2] = {0.3, 0}, out[4], *scratch = calloc(psdm_eval_scratch(robot, NULL), sizeof *scratch);
  psdm_eval_options options = {.scratch = scratch};
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  /* more directions than joints, none that moves, a straight arm */
  assert_int_equal(psdm_eval_check(robot, PSDM_F_CARTESIAN_MASS, NULL, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "6 directions") ? strstr(error.text, "choose at most 2") : NULL);
  assert_int_equal(psdm_eval_check(robot, PSDM_F_CARTESIAN_JACOBIAN, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CARTESIAN_MASS, &options, in, out), PSDM_E_ARGUMENT);
  options.directions = 4;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CARTESIAN_MASS, &options, in, out), PSDM_E_SINGULAR);
  options.directions = 3;
  assert_int_equal(psdm_eval_check(robot, PSDM_F_CARTESIAN_MASS, &options, &error), PSDM_OK);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CARTESIAN_MASS, &options, in, out), PSDM_E_SINGULAR);
  in[1] = 0.5;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CARTESIAN_MASS, &options, in, out), PSDM_OK);
  options.scratch = NULL;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CARTESIAN_MASS, &options, in, out), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_CORIOLIS, NULL, in, out), PSDM_E_ARGUMENT);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
  free(scratch);
  robot = parse_robot("{convention: dh, joints: [{name: a, a: 1}, {name: b, type: fixed, parent: base}], links: "
                      "[{mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}, {mass: 1, com: [0, 0, 0], inertia: "
                      "{xx: 1, yy: 1, zz: 1}}]}");
  options = (psdm_eval_options){.link = psdm_robot_link_name(robot, 1), .directions = 1};
  assert_int_equal(psdm_eval_check(robot, PSDM_F_CARTESIAN_MASS, &options, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "fixed to the base"));
  psdm_robot_free(robot);
}

TEST(directions_are_read_by_name) {
  unsigned rows;
  assert_true(psdm_directions_find("x", &rows) && rows == 1);
  assert_true(psdm_directions_find("rz,x", &rows) && rows == 33);
  assert_true(psdm_directions_find("x y z rx ry rz", &rows) && rows == PSDM_ALL_DIRECTIONS);
  assert_false(psdm_directions_find("", &rows));
  assert_false(psdm_directions_find("x,x", &rows));
  assert_false(psdm_directions_find("xy", &rows));
  assert_false(psdm_directions_find("x,,y", &rows));
  assert_int_equal(psdm_directions_count(37), 3);
}

/* in closed loops, too: M and C are those of the independent joints */
TEST(closed_loops_have_them) {
  rng g = rng_start("closed_loops_have_them");
  scene x = {.robot = load_shipped("five_bar")};
  x.n = psdm_robot_n(x.robot);
  assert_int_equal(psdm_work_new(x.robot, NULL, &x.work), PSDM_OK);
  assert_int_equal(psdm_linear_new(x.robot, NULL, &x.linear), PSDM_OK);
  x.options.scratch = calloc(psdm_eval_scratch(x.robot, NULL), sizeof(double));
  x.options.linear = x.linear;
  x.options.directions = 3;
  x.options.link = "left_coupler";
  x.point[0] = 0.4; /* a point that both motors move */
  x.options.point = x.point;
  for (int s = 0; s < 10; s++) {
    double C[4], rate[4], difference[4] = {0}, M[2][4], q[2], Mp[4], Jbar[4], J[4], one[4], condition;
    for (int i = 0; i < 4; i++) x.in[i] = rng_uniform(&g, -0.2, 0.2);
    eval(&x, PSDM_F_CORIOLIS, C);
    eval(&x, PSDM_F_MASS_RATE, rate);
    for (int side = 0; side < 2; side++) {
      for (int i = 0; i < 2; i++) q[i] = x.in[i] + (side ? 1e-5 : -1e-5) * x.in[2 + i];
      eval_at(&x, PSDM_F_MASS, q, M[side]);
    }
    for (int i = 0; i < 4; i++) difference[i] = (M[1][i] - M[0][i]) / 2e-5;
    same("dM/dt", rate, difference, 4, max_absolute(M[0], 4), 1e-8);
    check_momentum(&x);
    task(&x, PSDM_F_CARTESIAN_JACOBIAN, x.in, J);
    task(&x, PSDM_F_CARTESIAN_MASS, x.in, Mp);
    assert_true(check_mass(&x, 2, J, Mp, &condition) < 1e-12 * condition * condition_of(&x));
    task(&x, PSDM_F_CARTESIAN_INVERSE, x.in, Jbar);
    product(2, 2, 2, J, Jbar, one);
    assert_true(fabs(one[0] - 1) < 1e-9 && fabs(one[1]) < 1e-9);
  }
  end(&x);
}

TEST_MAIN(terms_are_what_defines_them, tasks_are_what_defines_them, batches_are_equal_to_single_states,
          tasks_that_do_not_exist_are_refused, directions_are_read_by_name, closed_loops_have_them)
