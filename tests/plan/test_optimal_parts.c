/* optimal_*.c, part by part: pieces against plain polynomials, torques and programs against differences, refusals,
 * memory. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/optimal_priv.h"
#include "psdm/optimal.h"
#include "support.h"

/* ---- pieces ---- */

/* derivative k at s of the polynomial with coefficients a[0 .. degree] */
static double polynomial(const double *a, int degree, double s, int k) {
  double sum = 0;
  for (int i = degree; i >= k; i--) {
    double falling = a[i];
    for (int j = 0; j < k; j++) falling *= i - j;
    sum = sum * s + falling;
  }
  return sum;
}

/* a piece is the polynomial that has the derivatives of its ends; hulls hold it; Lobatto's formula is exact up to
 * degree seven */
static void pieces(void **state) {
  (void)state;
  rng g = rng_start("pieces");
  double worst = 0, out = 0, quadrature = 0;
  for (int round = 0; round < 200; round++) {
    int held = rng_int(&g, 3, 4), degree = 2 * held - 1;
    double a[8], ends[8], c[8];
    for (int i = 0; i <= degree; i++) a[i] = rng_uniform(&g, -1, 1);
    for (int e = 0; e < 2 * held; e++) ends[e] = polynomial(a, degree, e / held, e % held);
    for (int k = 0; k <= 4; k++) {
      double s = rng_uniform(&g, 0, 1), value = 0, scale = 0, low = INFINITY, high = -INFINITY;
      psdmp_plan_piece_factors(held, s, k, c);
      for (int e = 0; e < 2 * held; e++) value += c[e] * ends[e], scale += fabs(c[e] * ends[e]);
      worst = fmax(worst, fabs(value - polynomial(a, degree, s, k)) / scale);
      for (int i = 0; i <= degree - k; i++) {
        double b = 0;
        psdmp_plan_piece_hull(held, k, i, c);
        for (int e = 0; e < 2 * held; e++) b += c[e] * ends[e];
        low = fmin(low, b);
        high = fmax(high, b);
      }
      for (int i = 0; i <= 50; i++) {
        double x = polynomial(a, degree, i / 50., k);
        out = fmax(out, fmax(low - x, x - high) / (1 + fabs(x)));
      }
    }
    double integral = 0, exact = 0;
    for (int i = 0; i <= degree; i++) exact += a[i] / (i + 1);
    int level = rng_int(&g, 0, PSDMP_PLAN_LEVELS - 1);
    for (int k = 0; k < psdmp_plan_points(level); k++)
      integral += psdmp_plan_level_weight(level, k) * polynomial(a, degree, psdmp_plan_level_point(level, k), 0);
    quadrature = fmax(quadrature, fabs(integral - exact));
  }
  printf("pieces: %.1e of their terms, %.1e outside of their hulls, quadrature %.1e\n", worst, out, quadrature);
  assert_true(worst < 1e-13);
  assert_true(out < 1e-11);
  assert_true(quadrature < 1e-14);
}

/* ---- torques ---- */

static const char elastic_arm[] = "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n"
                                  "  - {name: shoulder, type: revolute, a: 0.5, drive_inertia: 0.05, stiffness: 800, "
                                  "friction: {coulomb: 1, viscous: 0.5, static: 1.5, stribeck: 0.5, "
                                  "exponent: 0.8}}\n"
                                  "  - {name: elbow, type: revolute, a: 0.4, drive_inertia: 0.02, stiffness: 500, "
                                  "friction: {coulomb: 0.5, viscous: 0.2}}\n"
                                  "  - {name: wrist, type: revolute, a: 0.2, drive_inertia: 0.01}\n"
                                  "links:\n"
                                  "  - {mass: 3, com: [-0.25, 0, 0], inertia: {xx: 0.01, yy: 0.05, zz: 0.06}}\n"
                                  "  - {mass: 2, com: [-0.2, 0.01, 0], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}\n"
                                  "  - {mass: 1, com: [-0.1, 0.01, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}\n";

enum { MOST = 6, Z = 5 * MOST };

/* First derivatives against central differences of the torques, second ones against those of the first: relative to
 * the largest. */
static void compare_torques(rng *g, const psdm_robot *robot, psdm_friction_kind kind, bool elastic,
                            const double *centre, double *slope, double *curve) {
  psdmp_base_arena arena = {0};
  psdmp_plan_torques t;
  psdm_error error;
  double width[MOST], z[Z], tau[MOST], J[MOST * Z], low[MOST * Z], high[MOST * Z], tau_low[MOST], tau_high[MOST],
      H[Z * Z], lambda[MOST];
  int n = psdm_robot_n(robot);
  for (int i = 0; i < n; i++) width[i] = 0.3, lambda[i] = rng_uniform(g, -1, 1);
  assert_int_equal(psdmp_plan_torques_init(&t, robot, kind, elastic, width, &arena, &error), PSDM_OK);
  int size = t.orders * n;
  for (int i = 0; i < size; i++) z[i] = rng_uniform(g, -1, 1) + (centre && i < n ? centre[i] : 0);
  double largest = 0, error_slope = 0, largest_curve = 0, error_curve = 0;
  assert_int_equal(psdmp_plan_torques_slope(&t, z, tau, J), PSDM_OK);
  assert_int_equal(psdmp_plan_torques_at(&t, z, tau_low), PSDM_OK);
  for (int i = 0; i < n; i++) assert_true(fabs(tau[i] - tau_low[i]) <= 1e-10 * (1 + fabs(tau[i])));
  for (int c = 0; c < size; c++) {
    double e = 1e-5, own = z[c];
    z[c] = own + e;
    assert_int_equal(psdmp_plan_torques_at(&t, z, tau_high), PSDM_OK);
    z[c] = own - e;
    assert_int_equal(psdmp_plan_torques_at(&t, z, tau_low), PSDM_OK);
    z[c] = own;
    for (int i = 0; i < n; i++) {
      double difference = (tau_high[i] - tau_low[i]) / (2 * e);
      largest = fmax(largest, fabs(difference));
      error_slope = fmax(error_slope, fabs(difference - J[i * size + c]));
    }
  }
  assert_int_equal(psdmp_plan_torques_curve(&t, z, lambda, H), PSDM_OK);
  for (int c = 0; c < size; c++) {
    double e = 1e-5, own = z[c];
    z[c] = own + e;
    assert_int_equal(psdmp_plan_torques_slope(&t, z, tau, high), PSDM_OK);
    z[c] = own - e;
    assert_int_equal(psdmp_plan_torques_slope(&t, z, tau, low), PSDM_OK);
    z[c] = own;
    for (int r = 0; r < size; r++) {
      double difference = 0;
      for (int i = 0; i < n; i++) difference += lambda[i] * (high[i * size + r] - low[i * size + r]) / (2 * e);
      largest_curve = fmax(largest_curve, fabs(difference));
      error_curve = fmax(error_curve, fabs(difference - H[r * size + c]));
    }
  }
  *slope = fmax(*slope, error_slope / largest);
  *curve = fmax(*curve, error_curve / largest_curve);
  psdmp_plan_torques_free(&t);
  psdmp_base_arena_free(&arena);
}

static void torques(void **state) {
  (void)state;
  rng g = rng_start("torques");
  const random_options options = {
      .n_min = 1, .n_max = 6, .trees = true, .prismatic = true, .drives = true, .coupled = true};
  double slope = 0, curve = 0, slope_elastic = 0, curve_elastic = 0, slope_loop = 0, curve_loop = 0;
  for (int round = 0; round < 40; round++) {
    static char text[65536];
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    compare_torques(&g, robot, PSDM_FRICTION_NONE, false, NULL, &slope, &curve);
    psdm_robot_free(robot);
  }
  psdm_robot *arm = parse_robot(elastic_arm), *loop = load_shipped("five_bar");
  const double centre[2] = {1.5, 1.5};
  for (int round = 0; round < 20; round++) {
    compare_torques(&g, arm, PSDM_FRICTION_POWER, false, NULL, &slope, &curve);
    compare_torques(&g, arm, PSDM_FRICTION_NONE, true, NULL, &slope_elastic, &curve_elastic);
    compare_torques(&g, arm, PSDM_FRICTION_POWER, true, NULL, &slope_elastic, &curve_elastic);
    compare_torques(&g, loop, PSDM_FRICTION_NONE, false, centre, &slope_loop, &curve_loop);
  }
  printf("derivatives of torques, first and second: rigid %.1e %.1e, elastic %.1e %.1e, closed loop %.1e %.1e\n", slope,
         curve, slope_elastic, curve_elastic, slope_loop, curve_loop);
  /* central differences with a step of 1e-5: 1e-10 and 2^-52 / 1e-5, times the ratio of higher derivatives; the
   * solver's second derivatives are one-sided but for rigid robots */
  assert_true(slope < 1e-7 && slope_elastic < 1e-7 && slope_loop < 1e-6);
  assert_true(curve < 1e-7 && curve_elastic < 1e-2 && curve_loop < 1e-2);
  psdm_robot_free(arm);
  psdm_robot_free(loop);
}

/* elastic torques against the motors' side along a motion, computed by psdm_along */
typedef struct along_user {
  psdmp_plan_torques *t;
  const psdm_motion *motion;
  double worst, largest;
} along_user;

static bool compare_row(void *user, const psdm_along_row *row) {
  along_user *u = user;
  double z[Z], tau[MOST];
  psdm_motion_at(u->motion, row->t, 5, z);
  assert_int_equal(psdmp_plan_torques_at(u->t, z, tau), PSDM_OK);
  u->worst = fmax(u->worst, max_difference(tau, row->tau, row->n));
  u->largest = fmax(u->largest, max_absolute(row->tau, row->n));
  return true;
}

static void elastic_torques(void **state) {
  (void)state;
  psdm_robot *arm = parse_robot(elastic_arm);
  psdm_motion *motion;
  psdmp_base_arena arena = {0};
  psdmp_plan_torques t;
  psdm_error error;
  const double width[] = {1, 1, 1};
  assert_int_equal(psdm_motion_polynomial(3, 9, (const double[]){0, 0.2, -1}, (const double[]){1, -1, 0.5}, 0, 0.8,
                                          NULL, &motion, &error),
                   PSDM_OK);
  assert_int_equal(psdmp_plan_torques_init(&t, arm, PSDM_FRICTION_VISCOUS, true, width, &arena, &error), PSDM_OK);
  along_user user = {.t = &t, .motion = motion};
  assert_int_equal(psdm_along(arm, motion, &(psdm_along_options){.elastic = true, .friction = PSDM_FRICTION_VISCOUS},
                              NULL, compare_row, &user, &error),
                   PSDM_OK);
  printf("elastic torques along a motion: %.1e of %.1f Nm\n", user.worst, user.largest);
  assert_true(user.largest > 10 && user.worst < 1e-12 * user.largest);
  psdmp_plan_torques_free(&t);
  psdmp_base_arena_free(&arena);
  psdm_motion_free(motion);
  psdm_robot_free(arm);
}

/* smoothed friction: derivatives against differences, and far from rest the model itself */
static void friction(void **state) {
  (void)state;
  rng g = rng_start("friction");
  double worst = 0, far = 0;
  for (int round = 0; round < 300; round++) {
    psdm_friction f = {.coulomb = rng_uniform(&g, 0, 3),
                       .stat = rng_uniform(&g, 0, 4),
                       .stribeck = rng_uniform(&g, 0.05, 1),
                       .viscous = rng_uniform(&g, 0, 2),
                       .exponent = rng_uniform(&g, 0.5, 1.5),
                       .offset = rng_uniform(&g, -1, 1),
                       .given = true};
    psdm_friction_kind kind = (psdm_friction_kind)rng_int(&g, PSDM_FRICTION_VISCOUS, PSDM_FRICTION_POWER);
    double width = rng_uniform(&g, 0.05, 0.5), v = rng_uniform(&g, -1, 1), e = 1e-5, at[3], low[3], high[3];
    psdmp_plan_smooth_friction(&f, kind, width, v, at);
    psdmp_plan_smooth_friction(&f, kind, width, v - e, low);
    psdmp_plan_smooth_friction(&f, kind, width, v + e, high);
    for (int k = 0; k < 2; k++)
      worst = fmax(worst, fabs((high[k] - low[k]) / (2 * e) - at[k + 1]) / (1 + fabs(at[k + 1])));
    psdmp_plan_smooth_friction(&f, kind, 1e-3, 5, at);
    far = fmax(far, fabs(at[0] - psdm_friction_steady(&f, kind, 5)));
  }
  printf("smoothed friction: derivatives %.1e, far from rest %.1e\n", worst, far);
  assert_true(worst < 1e-5);
  assert_true(far < 1e-5);
}

/* ---- the program ---- */

typedef struct program_case {
  psdmp_plan_torques t;
  psdmp_plan_program p;
  psdmp_plan_solver_problem problem;
} program_case;

/* largest difference of a derivative from central differences, over its own size */
static double check_program(rng *g, program_case *c) {
  const psdmp_plan_solver_problem *p = &c->problem;
  size_t unknowns = (size_t)p->unknowns, rows = (size_t)p->rows;
  double *x = calloc(unknowns, sizeof *x), *gradient = calloc(unknowns, sizeof *x),
         *low = calloc(rows + unknowns, sizeof *x), *high = calloc(rows + unknowns, sizeof *x);
  double *slope = calloc((size_t)p->slopes, sizeof *x), *other = calloc((size_t)p->slopes, sizeof *x),
         *curve = calloc((size_t)p->curves, sizeof *x);
  double *multiplier = calloc(rows, sizeof *x), *full = calloc(unknowns * unknowns, sizeof *x), f[2], worst = 0;
  for (size_t i = 0; i < unknowns; i++) x[i] = rng_uniform(g, -0.5, 0.5);
  for (size_t i = 0; i < rows; i++) multiplier[i] = rng_uniform(g, -1, 1);
  if (!(c->p.duration > 0)) x[unknowns - 1] = rng_uniform(g, 0.8, 1.2);
  double factor = 0.7;
  assert_true(p->gradient(p->user, x, true, gradient) && p->slope(p->user, x, false, slope) &&
              p->curve(p->user, x, false, factor, multiplier, curve));
  for (int k = 0; k < p->curves; k++) {
    assert_true(p->curve_row[k] >= p->curve_column[k]);
    full[(size_t)p->curve_row[k] * unknowns + (size_t)p->curve_column[k]] += curve[k];
    full[(size_t)p->curve_column[k] * unknowns + (size_t)p->curve_row[k]] =
        full[(size_t)p->curve_row[k] * unknowns + (size_t)p->curve_column[k]];
  }
  for (int column = 0; column < p->unknowns; column++) {
    double e = 1e-6, own = x[column], *change = calloc(rows, sizeof *x), *bend = calloc(unknowns, sizeof *x), size = 1;
    for (int side = 0; side < 2; side++) {
      double *to = side ? high : low;
      x[column] = own + (side ? e : -e);
      assert_true(p->objective(p->user, x, true, &f[side]) && p->constraints(p->user, x, false, to) &&
                  p->gradient(p->user, x, false, to + rows) && p->slope(p->user, x, false, other));
      for (size_t i = 0; i < unknowns; i++) bend[i] += (side ? 1 : -1) * factor * to[rows + i] / (2 * e);
      for (int k = 0; k < p->slopes; k++)
        bend[p->slope_column[k]] += (side ? 1 : -1) * multiplier[p->slope_row[k]] * other[k] / (2 * e);
    }
    x[column] = own;
    worst = fmax(worst, fabs((f[1] - f[0]) / (2 * e) - gradient[column]) / (1 + fabs(gradient[column])));
    for (size_t r = 0; r < rows; r++) change[r] = (high[r] - low[r]) / (2 * e), size = fmax(size, fabs(change[r]));
    for (int k = 0; k < p->slopes; k++)
      if (p->slope_column[k] == column) change[p->slope_row[k]] -= slope[k];
    worst = fmax(worst, max_absolute(change, p->rows) / size);
    size = fmax(1, max_absolute(bend, p->unknowns));
    worst = fmax(worst, max_difference(bend, full + (size_t)column * unknowns, p->unknowns) / size);
    free(change);
    free(bend);
  }
  free(x), free(gradient), free(low), free(high), free(slope), free(other), free(curve), free(multiplier), free(full);
  return worst;
}

static void program(void **state) {
  (void)state;
  rng g = rng_start("program");
  psdm_robot *arm = parse_robot(elastic_arm);
  double worst[2] = {0};
  for (int round = 0; round < 8; round++) {
    bool elastic = round % 2, fixed = round / 2 % 2;
    psdmp_base_arena arena = {0};
    program_case c = {0};
    psdm_error error;
    const double from[] = {0, 0, 0}, to[] = {1, -1, 0.5}, lower[] = {-3, -INFINITY, -2},
                 upper[] = {3, INFINITY, INFINITY}, velocity[] = {4, INFINITY, 5};
    const double acceleration[] = {INFINITY, 30, 40}, effort[] = {60, 30, INFINITY}, weight[] = {0.01, 0.02, 1},
                 share[] = {0.3, 0.5, 0.2}, width[] = {1, 1, 1};
    const int level[] = {0, 2, 1};
    assert_int_equal(psdmp_plan_torques_init(&c.t, arm, PSDM_FRICTION_NONE, elastic, width, &arena, &error), PSDM_OK);
    c.p = (psdmp_plan_program){.torques = &c.t,
                               .pieces = 3,
                               .share = share,
                               .level = level,
                               .from = from,
                               .to = to,
                               .lower = lower,
                               .upper = upper,
                               .velocity = velocity,
                               .acceleration = acceleration,
                               .effort = effort,
                               .weight = weight,
                               .time = 1,
                               .energy = round < 4 ? 0.3 : 0,
                               .duration = fixed ? 0.9 : 0,
                               .shortest = 0.1,
                               .longest = 10};
    assert_int_equal(psdmp_plan_program_init(&c.p, &arena), PSDM_OK);
    psdmp_plan_program_problem(&c.p, &c.problem);
    worst[elastic] = fmax(worst[elastic], check_program(&g, &c));
    psdmp_plan_torques_free(&c.t);
    psdmp_base_arena_free(&arena);
  }
  printf("derivatives of programs against differences: rigid %.1e, elastic %.1e\n", worst[0], worst[1]);
  /* steps of 1e-6 leave 1e-10 of the largest entry and more where entries cancel; the elastic curvature is one-sided */
  assert_true(worst[0] < 1e-6);
  assert_true(worst[1] < 1e-2);
  psdm_robot_free(arm);
}

/* ---- refusals ---- */

static const char cart_text[] = "convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic, limits: "
                                "{lower: -1, upper: 5, effort: 8}}]\n"
                                "links: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n";

static const double zero[] = {0}, three[] = {3}, far_away[] = {7}, below[] = {-2}, endless[] = {INFINITY},
                    negative[] = {-1};

static void refuses(const psdm_robot *robot, psdm_optimal_options options, psdm_status expected, const char *words) {
  psdm_optimal *optimal = (psdm_optimal *)&options;
  psdm_error error = {0};
  psdm_status status = psdm_optimal_new(robot, &options, NULL, &optimal, &error);
  if (status != expected || !strstr(error.text, words)) print_message("%s\n", error.text);
  assert_int_equal(status, expected);
  assert_null(optimal);
  assert_non_null(strstr(error.text, words));
}

static void refusals(void **state) {
  (void)state;
  psdm_robot *cart = parse_robot(cart_text),
             *unknown = parse_robot("convention: dh\njoints: [{name: a, type: prismatic}]\n"),
             *arm = parse_robot(elastic_arm);
  psdm_motion *wide, *still;
  assert_int_equal(
      psdm_motion_polynomial(2, 5, (const double[]){0, 0}, (const double[]){1, 1}, 0, 1, NULL, &wide, NULL), PSDM_OK);
  assert_int_equal(psdm_motion_table(1, 1, zero, zero, NULL, NULL, NULL, &still, NULL), PSDM_OK);
  refuses(cart, (psdm_optimal_options){.to = three}, PSDM_E_ARGUMENT, "both ends");
  refuses(cart, (psdm_optimal_options){.from = three}, PSDM_E_ARGUMENT, "both ends");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = zero}, PSDM_E_ARGUMENT, "ends where it begins");
  refuses(cart, (psdm_optimal_options){.from = endless, .to = three}, PSDM_E_ARGUMENT, "must be finite");
  refuses(cart, (psdm_optimal_options){.from = far_away, .to = three}, PSDM_E_ARGUMENT, "its limits are");
  refuses(cart, (psdm_optimal_options){.from = below, .to = three}, PSDM_E_ARGUMENT, "its limits are");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = below}, PSDM_E_ARGUMENT, "its limits are");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .velocity = zero}, PSDM_E_ARGUMENT,
          "positive numbers");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .acceleration = negative}, PSDM_E_ARGUMENT,
          "positive numbers");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .wall = INFINITY}, PSDM_E_ARGUMENT,
          "finite and not negative");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .nodes = -2}, PSDM_E_ARGUMENT, "2 to 10000");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .nodes = 10001}, PSDM_E_ARGUMENT, "2 to 10000");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = endless}, PSDM_E_ARGUMENT, "must be finite");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = far_away}, PSDM_E_ARGUMENT, "its limits are");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .effort = negative}, PSDM_E_ARGUMENT,
          "positive numbers");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .effort = endless}, PSDM_E_ARGUMENT,
          "nothing limits");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .energy = 1}, PSDM_E_ARGUMENT, "give a duration");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .time = NAN}, PSDM_E_ARGUMENT,
          "finite and not negative");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .nodes = 1}, PSDM_E_ARGUMENT, "2 to 10000");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .iterations = -1}, PSDM_E_ARGUMENT, "iterations");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .friction = PSDM_FRICTION_KINDS}, PSDM_E_ARGUMENT,
          "friction");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .guess = wide}, PSDM_E_ARGUMENT, "guess of 2 joints");
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three, .guess = still}, PSDM_E_ARGUMENT, "no duration");
  refuses(unknown, (psdm_optimal_options){.from = zero, .to = three, .effort = three}, PSDM_E_MISSING, "inertia");
  /* a missing solver */
  assert_int_equal(setenv("PSDM_PLUGINS", "/nowhere", 1), 0);
  refuses(cart, (psdm_optimal_options){.from = zero, .to = three}, PSDM_E_MISSING, "coinor-libipopt-dev");
  assert_int_equal(unsetenv("PSDM_PLUGINS"), 0);
  psdm_motion_free(wide);
  psdm_motion_free(still);
  psdm_robot_free(cart);
  psdm_robot_free(unknown);
  psdm_robot_free(arm);
}

/* ---- memory and stops ---- */

/* every allocation fails once; a failure leaks nothing */
static long fail_each(const psdm_robot *robot, const psdm_optimal_options *options) {
  long failures = 0;
  for (long k = 1;; k++) {
    counting c;
    psdm_optimal *optimal;
    psdm_error error = {0};
    counting_init(&c, k);
    psdm_status status = psdm_optimal_new(robot, options, &c.allocator, &optimal, &error);
    if (!status) {
      assert_true(c.live > 0);
      psdm_optimal_free(optimal);
      assert_int_equal(c.live, 0);
      if (c.calls < k) return failures;
      continue;
    }
    assert_int_equal(status, PSDM_E_MEMORY);
    assert_null(optimal);
    assert_non_null(strstr(error.text, "memory"));
    assert_int_equal(c.live, 0);
    failures++;
  }
}

static void memory(void **state) {
  (void)state;
  psdm_robot *cart = parse_robot(cart_text), *arm = parse_robot(elastic_arm), *loop = load_shipped("five_bar");
  const double still[] = {1.5, 1.5, 0}, moved[] = {1.8, 1.4, 0.2}, none[] = {INFINITY, INFINITY, INFINITY};
  long rigid = fail_each(cart, &(psdm_optimal_options){.from = zero, .to = three, .nodes = 3});
  long elastic = fail_each(
      arm, &(psdm_optimal_options){
               .from = still, .to = moved, .effort = none, .energy = 1, .duration = 1, .nodes = 2, .elastic = true});
  long closed = fail_each(
      loop,
      &(psdm_optimal_options){.from = still, .to = moved, .effort = none, .energy = 1, .duration = 1, .nodes = 2});
  printf("allocations, each of them failed once: rigid %ld, elastic %ld, closed loop %ld\n", rigid, elastic, closed);
  assert_true(rigid > 8 && elastic > 8 && closed > 8);
  psdm_robot_free(cart);
  psdm_robot_free(arm);
  psdm_robot_free(loop);
}

static void note_iteration(void *user, int iteration, double objective, double infeasibility) {
  assert_true(isfinite(objective) && isfinite(infeasibility));
  *(int *)user = iteration;
}

static bool stop_at_three(void *user, const char *doing, double share) {
  char text[32];
  snprintf(text, sizeof text, "iteration %d, ", *(int *)user);
  assert_memory_equal(doing, text, strlen(text));
  assert_true(share < 0);
  return *(int *)user < 3;
}

static void stopped(void **state) {
  (void)state;
  psdm_robot *cart = parse_robot(cart_text);
  psdm_optimal *optimal;
  int seen = 0;
  const psdm_optimal_options watched = {.from = zero,
                                        .to = three,
                                        .progress = stop_at_three,
                                        .progress_user = &seen,
                                        .iterated = note_iteration,
                                        .iterated_user = &seen};
  assert_int_equal(psdm_optimal_new(cart, &watched, NULL, &optimal, NULL), PSDM_OK);
  assert_true(seen == 3 && optimal->stopped && !optimal->converged && optimal->motion && optimal->seconds > 0);
  psdm_optimal_free(optimal);
  assert_int_equal(
      psdm_optimal_new(cart, &(psdm_optimal_options){.from = zero, .to = three, .wall = 1e-9}, NULL, &optimal, NULL),
      PSDM_OK);
  assert_true(optimal->stopped && !optimal->converged);
  assert_string_equal(optimal->words, "the time limit was reached");
  psdm_optimal_free(optimal);
  assert_int_equal(
      psdm_optimal_new(cart, &(psdm_optimal_options){.from = zero, .to = three, .iterations = 2}, NULL, &optimal, NULL),
      PSDM_OK);
  assert_true(!optimal->converged && optimal->iterations <= 2);
  psdm_optimal_free(optimal);
  psdm_optimal_free(NULL);
  psdm_robot_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pieces),          cmocka_unit_test(torques),
                                     cmocka_unit_test(elastic_torques), cmocka_unit_test(friction),
                                     cmocka_unit_test(program),         cmocka_unit_test(refusals),
                                     cmocka_unit_test(memory),          cmocka_unit_test(stopped)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
