/* optimal.c on robots: elastic joints, closed loops, friction, position limits. Every answer is checked by the
 * recursion, not by the solver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/optimal.h"
#include "support.h"

static psdm_optimal *optimum(const psdm_robot *robot, const psdm_optimal_options *options) {
  psdm_optimal *optimal;
  psdm_error error;
  psdm_status status = psdm_optimal_new(robot, options, NULL, &optimal, &error);
  if (status) print_message("%s\n", error.text);
  assert_int_equal(status, PSDM_OK);
  if (!optimal->converged) print_message("%s\n", optimal->words);
  assert_true(optimal->converged);
  assert_true(optimal->infeasibility < 1.0001e-3);
  return optimal;
}

typedef struct limits {
  const double *lower, *upper, *effort; /* NULL: none */
} limits;

/* largest share of a limit, torques by psdm_inverse; energy: integral of sum tau^2. Ends must be at rest */
static double largest_share(const psdm_robot *robot, const psdm_motion *motion, const limits *l, double *energy) {
  enum { PARTS = 4000 };
  double x[3 * 8], tau[8], worst = 0, T = psdm_motion_end(motion);
  int n = psdm_robot_n(robot);
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  *energy = 0;
  for (int k = 0; k <= PARTS; k++) {
    psdm_motion_at(motion, T * ((double)k / PARTS), 3, x);
    assert_int_equal(psdm_inverse(robot, work, x, x + n, x + 2 * n, tau), PSDM_OK);
    for (int i = 0; i < n; i++) {
      if (k == 0 || k == PARTS) assert_true(fabs(x[n + i]) < 1e-9 * (1 + 1 / T));
      if (l->effort) worst = fmax(worst, fabs(tau[i]) / l->effort[i]);
      if (l->lower) worst = fmax(worst, 1 + fmax(l->lower[i] - x[i], x[i] - l->upper[i]));
      *energy += T / (3 * PARTS) * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2) * tau[i] * tau[i];
    }
  }
  psdm_work_free(work, NULL);
  return worst;
}

static void check_ends(const psdm_optimal *p, const double *from, const double *to) {
  double x[8];
  psdm_motion_at(p->motion, 0, 1, x);
  assert_true(max_difference(x, from, p->n) < 1e-12);
  psdm_motion_at(p->motion, p->seconds, 1, x);
  assert_true(max_difference(x, to, p->n) < 1e-12);
}

/* ---- limits of positions ---- */

/* position limits that bind: the energy-optimal motion would swing through */
static void position_limits(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  const double from[] = {0, 0}, to[] = {1, 0.5}, lower[] = {-0.1, -0.05}, upper[] = {1.05, 0.55},
               none[] = {INFINITY, INFINITY};
  const psdm_optimal_options free_options = {.from = from, .to = to, .effort = none, .energy = 1, .duration = 2};
  psdm_optimal_options bound_options = free_options;
  bound_options.lower = lower;
  bound_options.upper = upper;
  double energy;
  psdm_optimal *freely = optimum(robot, &free_options), *bound = optimum(robot, &bound_options);
  double out = largest_share(robot, freely->motion, &(limits){.lower = lower, .upper = upper}, &energy),
         in = largest_share(robot, bound->motion, &(limits){.lower = lower, .upper = upper}, &energy);
  printf("position limits: %.3f beyond them without, %.1e with them; energy %.3f and %.3f\n", out - 1, in - 1,
         freely->energy, bound->energy);
  assert_true(out > 1.02 && in < 1 + 1e-7);
  assert_true(freely->energy < bound->energy);
  psdm_optimal_free(freely);
  psdm_optimal_free(bound);
  psdm_robot_free(robot);
}

/* ---- elastic joints ---- */

/* A cart behind a spring: tau = (m + B) q'' + m B / K q''''. Least energy from rest to rest of a linear system x' =
 * A x + b tau is d^T W^-1 d, with W its controllability Gramian at T, W' = A W + W A^T + b b^T. */
static double gramian_energy(double m, double B, double K, double d, double T) {
  enum { STEPS = 4000 };
  const double A[4][4] = {{0, 1, 0, 0}, {-K / m, 0, K / m, 0}, {0, 0, 0, 1}, {K / B, 0, -K / B, 0}},
               b[4] = {0, 0, 0, 1 / B};
  double W[16] = {0}, k[4][16], Y[16], h = T / STEPS, L[16], x[4] = {d, 0, d, 0};
  for (int step = 0; step < STEPS; step++) {
    for (int stage = 0; stage < 4; stage++) {
      for (int e = 0; e < 16; e++) Y[e] = W[e] + (stage ? h * (stage < 3 ? 0.5 : 1) * k[stage - 1][e] : 0);
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
          double sum = b[r] * b[c];
          for (int i = 0; i < 4; i++) sum += A[r][i] * Y[4 * i + c] + A[c][i] * Y[4 * r + i];
          k[stage][4 * r + c] = sum;
        }
    }
    for (int e = 0; e < 16; e++) W[e] += h / 6 * (k[0][e] + 2 * k[1][e] + 2 * k[2][e] + k[3][e]);
  }
  /* by Cholesky */
  double y[4], sum = 0;
  for (int r = 0; r < 4; r++)
    for (int c = 0; c <= r; c++) {
      double left = W[4 * r + c];
      for (int i = 0; i < c; i++) left -= L[4 * r + i] * L[4 * c + i];
      L[4 * r + c] = r == c ? sqrt(left) : left / L[4 * c + c];
    }
  for (int r = 0; r < 4; r++) {
    y[r] = x[r];
    for (int i = 0; i < r; i++) y[r] -= L[4 * r + i] * y[i];
    y[r] /= L[4 * r + r];
    sum += y[r] * y[r];
  }
  return sum;
}

static void elastic_cart(void **state) {
  (void)state;
  rng g = rng_start("elastic_cart");
  double worst = 0;
  for (int round = 0; round < 5; round++) {
    double m = rng_uniform(&g, 0.5, 5), B = rng_uniform(&g, 0.5, 2), K = rng_uniform(&g, 10, 100),
           d = rng_uniform(&g, 0.2, 2), T = rng_uniform(&g, 0.5, 1);
    const double from[] = {0}, to[] = {d}, none[] = {INFINITY};
    char text[400];
    snprintf(text, sizeof text,
             "convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic, stiffness: %.17g, "
             "drive_inertia: %.17g}]\n"
             "links: [{mass: %.17g, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n",
             K, B, m);
    psdm_robot *robot = parse_robot(text);
    psdm_optimal *p = optimum(
        robot,
        &(psdm_optimal_options){.from = from, .to = to, .effort = none, .energy = 1, .duration = T, .elastic = true});
    worst = fmax(worst, fabs(p->energy / gramian_energy(m, B, K, d, T) - 1));
    psdm_optimal_free(p);
    psdm_robot_free(robot);
  }
  /* springs swing by at most one radian in a piece, so that pieces of degree seven are close */
  printf("elastic cart: least energy %.1e from the Gramian's\n", worst);
  assert_true(worst < 1e-5);
}

static const char elastic_arm[] = "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n"
                                  "  - {name: shoulder, type: revolute, a: 0.5, drive_inertia: 0.05, stiffness: 800}\n"
                                  "  - {name: elbow, type: revolute, a: 0.4, drive_inertia: 0.02, stiffness: 500}\n"
                                  "links:\n"
                                  "  - {mass: 3, com: [-0.25, 0, 0], inertia: {xx: 0.01, yy: 0.05, zz: 0.06}}\n"
                                  "  - {mass: 2, com: [-0.2, 0, 0], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}\n";

typedef struct motors {
  const double *effort;
  double share, first, last, fastest; /* largest share; largest speed of a motor at both ends, and on the way */
  double end;
} motors;

static bool take_row(void *user, const psdm_along_row *row) {
  motors *m = user;
  for (int i = 0; i < row->n; i++) m->share = fmax(m->share, fabs(row->tau[i]) / m->effort[i]);
  m->fastest = fmax(m->fastest, max_absolute(row->thetad, row->n));
  if (row->t == 0) m->first = max_absolute(row->thetad, row->n);
  if (row->t == m->end) m->last = max_absolute(row->thetad, row->n);
  return true;
}

/* the motors' torques along the answer, by psdm_along */
static void elastic_two_links(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(elastic_arm);
  const double from[] = {0, 0}, to[] = {1, -1}, effort[] = {60, 25};
  const psdm_optimal_options way[] = {
      {.from = from, .to = to, .effort = effort, .elastic = true, .energy = 1, .duration = 0.5},
      {.from = from, .to = to, .effort = effort, .elastic = true, .nodes = 8}};
  double rigid_seconds = 0;
  psdm_optimal *rigid = optimum(robot, &(psdm_optimal_options){.from = from, .to = to, .effort = effort});
  rigid_seconds = rigid->seconds;
  psdm_optimal_free(rigid);
  for (int k = 0; k < 2; k++) {
    psdm_error error;
    psdm_optimal *p = optimum(robot, &way[k]);
    motors m = {.effort = effort, .end = p->seconds};
    assert_int_equal(psdm_along(robot, p->motion, &(psdm_along_options){.elastic = true, .output = p->seconds / 3000},
                                NULL, take_row, &m, &error),
                     PSDM_OK);
    printf("elastic arm, least %s: %.4f s (rigid, least time: %.4f s), motors' torques up to %.5f of their limits, "
           "speed at the ends %.1e of the largest, planned "
           "in %.2f s\n",
           k ? "time" : "energy", p->seconds, rigid_seconds, m.share, fmax(m.first, m.last) / m.fastest, p->wall);
    assert_true(m.share < 1 + 2e-3);
    assert_true(fmax(m.first, m.last) < 1e-3 * m.fastest);
    check_ends(p, from, to);
    if (k) assert_true(m.share > 0.99 && p->seconds > 0.9 * rigid_seconds && p->seconds < p->guess_seconds);
    psdm_optimal_free(p);
  }
  psdm_robot_free(robot);
}

/* ---- loops ---- */

static void loops(void **state) {
  (void)state;
  psdm_robot *five_bar = load_shipped("five_bar"), *parallelogram = load_shipped("parallelogram");
  const double from[] = {1.6, 1.5}, to[] = {2.1, 1.1}, effort[] = {15, 15}, from_parallel[] = {0, 0.5},
               to_parallel[] = {1, -0.5}, strong[] = {30, 30};
  const struct {
    const psdm_robot *robot;
    const double *from, *to, *effort;
    double duration;
  } way[] = {{five_bar, from, to, effort, 0},
             {five_bar, from, to, effort, 0.5},
             {parallelogram, from_parallel, to_parallel, strong, 0},
             {parallelogram, from_parallel, to_parallel, strong, 1}};
  for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
    double energy, weighted = way[k].duration > 0;
    const psdm_optimal_options options = {.from = way[k].from,
                                          .to = way[k].to,
                                          .effort = way[k].effort,
                                          .energy = weighted,
                                          .duration = way[k].duration,
                                          .nodes = 10};
    psdm_optimal *p = optimum(way[k].robot, &options);
    double share = largest_share(way[k].robot, p->motion, &(limits){.effort = way[k].effort}, &energy);
    printf("%s, least %s: %.4f s (beginning %.4f s), energy %.3f (%.3f), torques up to %.5f, planned in %.2f s\n",
           psdm_robot_name(way[k].robot), weighted > 0 ? "energy" : "time", p->seconds, p->guess_seconds, p->energy,
           p->guess_energy, share, p->wall);
    assert_true(share < 1 + 1.1e-3);
    assert_true(weighted > 0 ? p->energy < p->guess_energy : p->seconds < p->guess_seconds && share > 0.99);
    check_ends(p, way[k].from, way[k].to);
    psdm_optimal_free(p);
  }
  psdm_robot_free(five_bar);
  psdm_robot_free(parallelogram);
}

/* ---- friction ---- */

/* a cart with viscous and dry friction: against F the quickest motion is bang-bang, m v' = F - b v - c, then m v' = -F
 * - b v - c. It switches where the distance is covered */
static double cart_time(double m, double F, double b, double c, double d) {
  double low = 0, high = 100;
  for (int k = 0; k < 200; k++) {
    double t = (low + high) / 2, top = (F - c) / b, v = top * (1 - exp(-b / m * t)), x = top * t - m / b * v,
           under = (F + c) / b;
    double stop = m / b * log((v + under) / under), rest = m / b * v - under * stop;
    /* v = -under + (v0 + under) exp(-b t / m) until it is zero */
    *(x + rest < d ? &low : &high) = t;
  }
  double t = low, top = (F - c) / b, v = top * (1 - exp(-b / m * t)), under = (F + c) / b;
  return t + m / b * log((v + under) / under);
}

static void cart_with_friction(void **state) {
  (void)state;
  const double from[] = {0}, to[] = {1.5}, effort[] = {6};
  psdm_robot *robot = parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic, "
                                  "friction: {coulomb: 1, viscous: 0.7}}]\n"
                                  "links: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n");
  psdm_optimal *p = optimum(
      robot, &(psdm_optimal_options){.from = from, .to = to, .effort = effort, .friction = PSDM_FRICTION_COULOMB});
  double exact = cart_time(2, 6, 0.7, 1, 1.5);
  printf("cart with friction: %.6f s, %.6f s with sharp friction\n", p->seconds, exact);
  /* smoothing loses less than 1 % of the dry friction's impulse */
  assert_true(fabs(p->seconds / exact - 1) < 1e-2);
  psdm_optimal_free(p);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(position_limits), cmocka_unit_test(elastic_cart),
                                     cmocka_unit_test(elastic_two_links), cmocka_unit_test(loops),
                                     cmocka_unit_test(cart_with_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
