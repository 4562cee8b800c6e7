/* The expanded method: every function of every shipped robot and of random ones against the recursions, and what it
 * costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "nest/nest.h"
#include "support.h"

enum { MOST = 12, STATES = 3 };

/* ---- a program and its inputs ---- */

typedef struct fixture {
  psdm_robot *robot;
  psdm_model *model;
  psdm_work *work;
  int n, l;
  double pi[400], theta[200];
  double *input; /* (blocks x PSDMP_CODEGEN_BLOCK) */
} fixture;

static bool open_fixture(fixture *x, psdm_robot *robot) {
  *x = (fixture){.robot = robot};
  if (psdm_robot_ready(robot, NULL) || psdm_model_derive(robot, NULL, NULL, &x->model, NULL, NULL)) {
    psdm_robot_free(robot);
    return false;
  }
  x->n = psdm_model_n(x->model);
  x->l = psdm_model_l(x->model);
  x->input = calloc((size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK, sizeof *x->input);
  assert_int_equal(psdm_work_new(robot, NULL, &x->work), PSDM_OK);
  psdm_robot_parameters(robot, x->pi);
  psdm_model_theta(x->model, x->pi, x->theta);
  memcpy(x->input + PSDMP_CODEGEN_IN_THETA * PSDMP_CODEGEN_BLOCK, x->theta, (size_t)x->l * sizeof *x->theta);
  return true;
}

static void close_fixture(fixture *x) {
  free(x->input);
  psdm_work_free(x->work, NULL);
  psdm_model_free(x->model);
  psdm_robot_free(x->robot);
}

static double *block(fixture *x, int b) { return x->input + b * PSDMP_CODEGEN_BLOCK; }

static void random_state(fixture *x, rng *g) {
  for (int i = 0; i < x->n; i++) {
    block(x, PSDMP_CODEGEN_IN_Q)[i] = rng_uniform(g, -3, 3);
    block(x, PSDMP_CODEGEN_IN_SINE)[i] = sin(block(x, PSDMP_CODEGEN_IN_Q)[i]);
    block(x, PSDMP_CODEGEN_IN_COSINE)[i] = cos(block(x, PSDMP_CODEGEN_IN_Q)[i]);
    block(x, PSDMP_CODEGEN_IN_QD)[i] = rng_uniform(g, -1, 1);
    block(x, PSDMP_CODEGEN_IN_QDD)[i] = rng_uniform(g, -2, 2);
  }
  psdm_inverse(x->robot, x->work, block(x, PSDMP_CODEGEN_IN_Q), block(x, PSDMP_CODEGEN_IN_QD),
               block(x, PSDMP_CODEGEN_IN_QDD), block(x, PSDMP_CODEGEN_IN_TAU));
}

/* ---- the recursions' answer ---- */

static void expected(fixture *x, psdm_function f, const psdm_code_options *o, double *out, size_t outputs) {
  const double *q = block(x, PSDMP_CODEGEN_IN_Q), *qd = block(x, PSDMP_CODEGEN_IN_QD),
               *qdd = block(x, PSDMP_CODEGEN_IN_QDD);
  int n = x->n, l = x->l;
  switch (f) {
    case PSDM_F_INVERSE: psdm_inverse(x->robot, x->work, q, qd, qdd, out); break;
    case PSDM_F_GRAVITY: psdm_gravity(x->robot, x->work, q, out); break;
    case PSDM_F_BIAS: psdm_bias(x->robot, x->work, q, qd, out); break;
    case PSDM_F_MASS: psdm_mass(x->robot, x->work, q, out); break;
    case PSDM_F_ENERGY: psdm_energy(x->robot, x->work, q, qd, &out[0], &out[1]); break;
    case PSDM_F_REGRESSOR: {
      int columns = (int)outputs / n;
      double *scratch = calloc(psdm_model_scratch(x->model), sizeof *scratch), *Y = calloc((size_t)(n * l), sizeof *Y);
      psdm_model_y(x->model, q, qd, qdd, scratch);
      psdm_model_regressor(x->model, PSDM_PART_ALL, scratch, Y);
      memset(out, 0, outputs * sizeof *out);
      for (int i = 0; i < n; i++) {
        double *row = out + i * columns;
        memcpy(row, Y + i * l, (size_t)l * sizeof *row);
        if (o->friction_columns) row[l + i] = (qd[i] > 0) - (qd[i] < 0), row[l + n + i] = qd[i];
        if (o->drive_columns) row[columns - n + i] = qdd[i];
      }
      free(Y);
      free(scratch);
      break;
    }
    default: break;
  }
}

/* relative error of one function over some states; forward by putting the accelerations back */
static double error_of(fixture *x, rng *g, const psdmp_codegen_program *p, const psdm_code_options *o) {
  double worst = 0, *out = calloc(p->outputs, sizeof *out), *want = calloc(p->outputs, sizeof *want);
  double *scratch = calloc(psdm_graph_size(p->graph) + 1, sizeof *scratch);
  for (int k = 0; k < STATES; k++) {
    random_state(x, g);
    psdm_graph_evaluate(p->graph, x->input, p->output, p->outputs, scratch, out);
    if (p->function == PSDM_F_FORWARD) {
      memcpy(want, block(x, PSDMP_CODEGEN_IN_TAU), (size_t)x->n * sizeof *want);
      double qdd[MOST];
      memcpy(qdd, out, (size_t)x->n * sizeof *qdd);
      psdm_inverse(x->robot, x->work, block(x, PSDMP_CODEGEN_IN_Q), block(x, PSDMP_CODEGEN_IN_QD), qdd, out);
    } else {
      expected(x, p->function, o, want, p->outputs);
    }
    if (p->function == PSDM_F_ENERGY && o->theta_argument) { /* then the potential is counted from q = 0 */
      double zero[MOST] = {0}, T, U;
      psdm_energy(x->robot, x->work, zero, zero, &T, &U);
      out[1] += U;
    }
    double scale = max_absolute(want, (int)p->outputs);
    double error = max_difference(out, want, (int)p->outputs) / (scale > 0 ? scale : 1);
    if (!(error <= worst)) worst = error;
  }
  free(out);
  free(want);
  free(scratch);
  return worst;
}

static psdmp_codegen_program build(fixture *x, psdm_function f, const psdm_code_options *o, psdmp_base_arena *arena) {
  psdmp_codegen_program p;
  psdm_error error;
  if (psdmp_codegen_build_expanded(x->robot, x->model, x->theta, o, f, 0, arena, &p, &error))
    fail_msg("%s", error.text);
  assert_non_null(p.graph);
  assert_string_equal(p.method, "expanded");
  assert_int_equal(psdm_graph_cost(p.graph, p.output, p.outputs, &p.cost), PSDM_OK);
  return p;
}

static const psdm_function functions[] = {PSDM_F_INVERSE, PSDM_F_GRAVITY,   PSDM_F_BIAS,  PSDM_F_MASS,
                                          PSDM_F_FORWARD, PSDM_F_REGRESSOR, PSDM_F_ENERGY};

static void check_all(fixture *x, rng *g, const psdm_code_options *o, const char *name, double tolerance, bool tell) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    psdmp_base_arena arena = {0};
    psdmp_codegen_program p = build(x, functions[k], o, &arena);
    double error = error_of(x, g, &p, o);
    if (tell)
      printf("%-14s %-10s %5ld+%-5ld %ld div, error %.1e\n", name, p.name, p.cost.mult, p.cost.add, p.cost.div, error);
    if (!(error <= tolerance)) fail_msg("%s, %s: error %.3g", name, p.name, error);
    psdm_graph_free(p.graph);
    psdmp_base_arena_free(&arena);
  }
}

/* ---- tests ---- */

TEST(test_shipped) {
  const psdm_code_options options[] = {
      {0}, {.theta_argument = true, .sincos = PSDM_SINCOS_CALLER, .friction_columns = true, .drive_columns = true}};
  rng g = rng_start("expanded");
  for (const char *const *name = shipped_robots; *name; name++)
    for (int k = 0; k < 2; k++) {
      fixture x;
      if (!open_fixture(&x, load_shipped(*name))) continue;
      if (k && x.n > 6) { /* parameters as arguments take longest: once is enough */
        close_fixture(&x);
        continue;
      }
      check_all(&x, &g, &options[k], *name, 1e-13, true);
      close_fixture(&x);
    }
}

/* robots that are tried: sanitizers take ten times as long, and look for other things than numbers */
#ifdef SLOW_BUILD
enum { RANDOM_ROBOTS = 10, ROUNDED_ROBOTS = 2 };
#else
enum { RANDOM_ROBOTS = 24, ROUNDED_ROBOTS = 6 };
#endif

TEST(test_random_robots) {
  rng g = rng_start("expanded, random robots");
  static char text[64 * 1024];
  for (int k = 0; k < RANDOM_ROBOTS; k++) {
    random_options options = {1, k % 10 ? 3 : 4, k % 3 == 0, k % 2, true, true};
    const psdm_code_options o = {.theta_argument = k % 4 == 1,
                                 .sincos = k % 5 ? PSDM_SINCOS_LIBM : PSDM_SINCOS_CALLER,
                                 .drive_columns = k % 7 == 0};
    fixture x;
    if (!open_fixture(&x, parse_robot(random_robot_text(&g, &options, text, sizeof text)))) continue;
    check_all(&x, &g, &o, text, 1e-12, false);
    close_fixture(&x);
  }
}

/* ---- rounding ---- */

static float float_of(const float *v, psdm_ref r) {
  return psdm_ref_negated(r) ? -v[psdm_ref_node(r)] : v[psdm_ref_node(r)];
}

/* psdm_graph_evaluate in single precision, as generated code has it */
static void evaluate_float(const psdmp_codegen_program *p, const double *input, float *v, float *out) {
  for (uint32_t k = 0; k < psdm_graph_size(p->graph); k++) {
    psdm_node n = psdm_graph_node(p->graph, k);
    switch (n.op) {
      case PSDM_OP_CONST: v[k] = (float)n.value; break;
      case PSDM_OP_INPUT: v[k] = (float)input[n.input]; break;
      case PSDM_OP_ADD: v[k] = float_of(v, n.a) + float_of(v, n.b); break;
      case PSDM_OP_MUL: v[k] = float_of(v, n.a) * float_of(v, n.b); break;
      case PSDM_OP_RECIP: v[k] = 1 / float_of(v, n.a); break;
      case PSDM_OP_SIN: v[k] = sinf(float_of(v, n.a)); break;
      case PSDM_OP_COS: v[k] = cosf(float_of(v, n.a)); break;
      default: fail_msg("operation %d", n.op);
    }
  }
  for (size_t i = 0; i < p->outputs; i++) out[i] = float_of(v, p->output[i]);
}

/* angles, speeds and accelerations that float holds exactly */
static void float_state(fixture *x, rng *g) {
  random_state(x, g);
  for (int b = PSDMP_CODEGEN_IN_Q; b <= PSDMP_CODEGEN_IN_TAU; b++)
    for (int i = 0; i < x->n; i++) block(x, b)[i] = (float)block(x, b)[i];
}

typedef struct judged {
  double promise; /* largest error in float over what the bound allows */
  /* largest bound, in roundoffs, over the largest of all outputs, and over the output's own largest value */
  double loss, own;
} judged;

enum { DRAWN = 12 };

/* at random states, or at those that the search looks at. The bound is of first order; what it leaves out is u times
 * it, squared: a hundredth where a bound is 1.6e5 roundoffs. */
static judged judge(fixture *x, rng *g, const psdmp_codegen_program *p) {
  const double u = 0x1p-24;
  judged j = {0, 0, 0};
  size_t count = p->outputs;
  float *v = calloc(psdm_graph_size(p->graph) + 1, sizeof *v), *single = calloc(count, sizeof *single);
  double *out = calloc(4 * count, sizeof *out), *bound = out + count, *largest = bound + count,
         *worst = largest + count, all = 0;
  for (int s = 0; s < (g ? DRAWN : PSDMP_NEST_ROUNDING_STATES); s++) {
    if (g) float_state(x, g);
    else psdmp_nest_rounding_state(s, x->n, x->l, &psdmp_codegen_inputs, x->input);
    assert_true(psdmp_nest_rounding_at(p->graph, x->input, p->output, count, NULL, out, bound));
    if (g) evaluate_float(p, x->input, v, single);
    for (size_t i = 0; i < count; i++) {
      double error = g ? fabs((double)single[i] - out[i]) : 0;
      if (!(error <= j.promise * u * bound[i])) j.promise = bound[i] > 0 ? error / (u * bound[i]) : INFINITY;
      largest[i] = fmax(largest[i], fabs(out[i]));
      worst[i] = fmax(worst[i], bound[i]);
      all = fmax(all, largest[i]);
    }
  }
  for (size_t i = 0; i < count && all > 0; i++)
    j.loss = fmax(j.loss, worst[i] / all), j.own = fmax(j.own, worst[i] / fmax(largest[i], 1e-3 * all));
  free(v);
  free(single);
  free(out);
  return j;
}

/* Errors in float stay below their bounds, and bounds below what the search promises: each output's at the states
 * that it looks at; at others, which are slower, four times that as parts of the largest one. Forward has M's
 * condition in it, which is the robot's. */
static void check_rounding(fixture *x, rng *g, const char *name, judged *worst) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    psdmp_base_arena arena = {0};
    psdmp_codegen_program p = build(x, functions[k], &(psdm_code_options){0}, &arena);
    judged j = judge(x, g, &p), seen = judge(x, NULL, &p);
    if (!(j.promise <= 1.01)) fail_msg("%s, %s: the error in float is %.3g of its bound", name, p.name, j.promise);
    worst->promise = fmax(worst->promise, j.promise);
    if (functions[k] != PSDM_F_FORWARD) {
      if (!(seen.own <= PSDMP_NEST_ROUNDING_MOST && j.loss <= 4 * PSDMP_NEST_ROUNDING_MOST))
        fail_msg("%s, %s: rounding may take %.0f and %.0f roundoffs", name, p.name, seen.own, j.loss);
      worst->loss = fmax(worst->loss, j.loss), worst->own = fmax(worst->own, seen.own);
    }
    psdm_graph_free(p.graph);
    psdmp_base_arena_free(&arena);
  }
}

/* the cheapest nestings of these two lost thousands of roundoffs: small pivots made large sums that cancelled again */
static const char *const askew[] = {
    "name: askew_arm\ngravity: [-0.3962645307595789, -5.152749719539667, -5.2663797767229221]\nconvention: "
    "modified-dh\nbase: {rpy: [0, -pi/2, pi]}\njoints:\n"
    "  - {theta: pi, d: 0.12957720217796476, a: 0, alpha: pi, drive_inertia: 1.7739266894326295}\n"
    "  - {theta: -pi/2, d: 0, a: -0.59042022439796205, alpha: 1.2579843001763775}\n"
    "  - {theta: 2.6387099988965064, d: 0, a: 0, alpha: -1.6557004658706975, drive_inertia: 0.41599779903617917}\n"
    "  - {theta: -0.24341785913481884, d: 0.57245535176581142, a: -0.19619222442751366, alpha: "
    "0.30145071258372091}\nlinks:\n"
    "  - {mass: 5.114398085434865, com: [0.093798260850751436, -0.26055653741042473, -0.10115113910803913], inertia: "
    "{xx: 0.03273603228794579, yy: 0.031994500792199426, zz: 0.062052653661678406, xy: 0.030235760455782502}}\n"
    "  - {mass: 5.3323382086706319, com: [-0.18906115988718047, 0.16406400235935326, -0.030581582544221941], inertia: "
    "{xx: 0.19380820793007228, yy: 0.067330488271437561, zz: 0.20168333051125856, xy: -0.076899820171417485}}\n"
    "  - {mass: 4.0941879991964267, com: [-0.27923136642279461, -0.079516923245098375, -0.13085788359106454], inertia: "
    "{xx: 0.14058647043615896, yy: 0.12393507564094855, zz: 0.19555536709246163, xy: 0.0071375609323743186}}\n"
    "  - {mass: 1.6395051823974132, com: [0.08564776434686322, 0.22491676596787852, -0.10084136258976603], inertia: "
    "{xx: 0.046362722964766678, yy: 0.035393109129466131, zz: 0.031456975232681213, xy: -0.0064740613288129852}}\n",
    "name: askew_chain\ngravity: [6.0152283673982385, -2.9174509358090184, -5.7630349690959122]\nconvention: dh\nbase: "
    "{rpy: [45 deg, pi/2, pi]}\njoints:\n"
    "  - {name: j1, theta: 0, d: 0.094515849029798038, a: -0.41036426737863707, alpha: -2.0024027717155151}\n"
    "  - {name: j2, theta: 45 deg, d: 0, a: 0.48287001685205178, alpha: pi, parent: j1, origin: {xyz: "
    "[0.16139638730508032, 0.09097044689861622, -0.33878190788273477], rpy: [-1.5917296106217464, 0.29953346114568546, "
    "1.5628996473419772]}}\n"
    "  - {name: j3, theta: pi, d: 0.18758760483611259, a: -0.3952369457407291, alpha: pi, parent: j2, origin: {xyz: "
    "[0.0081366015779724132, -0.26438040403721896, 0.041738317189297214], rpy: [-1.5160534800457468, "
    "1.363459669354512, 2.7554962027835375]}}\nlinks:\n"
    "  - {mass: 5.123223136947912, com: [0.19667249735871906, -0.29270322792421616, 0.050245042661360984], inertia: "
    "{xx: 0.1728615930412814, yy: 0.1723921472008535, zz: 0.3376256362435785, xy: 0.00042267467952156038}}\n"
    "  - {mass: 6.0297187061833251, com: [-0.25328298103128555, -0.11012638854800333, 0.26712298170061727], inertia: "
    "{xx: 0.14110976349739696, yy: 0.12936515977343216, zz: 0.087723886931504486, xy: -0.0020305518758005547}}\n"
    "  - {mass: 2.3990404125867011, com: [0.027213011969442202, -0.29758741433284847, 0.29428080201228318], inertia: "
    "{xx: 0.072128173235542131, yy: 0.075578849947704668, zz: 0.06114642486425946, xy: -0.0019763252287128309}}\n"};

TEST(test_rounding) {
  rng g = rng_start("expanded, rounding");
  static char text[64 * 1024];
  judged worst = {0, 0, 0};
  fixture x;
  for (size_t k = 0; k < sizeof askew / sizeof *askew; k++) {
    assert_true(open_fixture(&x, parse_robot(askew[k])));
    check_rounding(&x, &g, k ? "askew_chain" : "askew_arm", &worst);
    check_all(&x, &g, &(psdm_code_options){0}, k ? "askew_chain" : "askew_arm", 1e-13, true);
    close_fixture(&x);
  }
  for (int k = 0; k < ROUNDED_ROBOTS; k++) {
    random_options options = {1, 3, k % 3 == 0, k % 2, true, true};
    if (!open_fixture(&x, parse_robot(random_robot_text(&g, &options, text, sizeof text)))) continue;
    check_rounding(&x, &g, psdm_robot_name(x.robot), &worst);
    close_fixture(&x);
  }
  printf("in float: errors up to %.2f of their bounds, bounds up to %.0f roundoffs of the largest output, %.0f of its "
         "own largest value\n",
         worst.promise, worst.loss, worst.own);
  assert_true(worst.promise > 1e-3); /* something was rounded */
}

/* bounds that can be told by hand; what the large product is off by is in both operands of the difference, and
 * cancels */
TEST(test_bounds) {
  psdm_graph *g;
  double input[1] = {0.5}, out[3], bound[3];
  assert_int_equal(psdm_graph_new(NULL, &g), PSDM_OK);
  psdm_ref x = psdm_graph_input(g, 0), c = psdm_graph_const(g, 1e4), sum = psdm_graph_add(g, x, c),
           product = psdm_graph_mul(g, x, sum);
  psdm_ref outputs[3] = {psdm_graph_sub(g, psdm_graph_add(g, product, psdm_graph_sin(g, x)), product),
                         psdm_graph_mul(g, sum, sum), psdm_graph_recip(g, sum)};
  assert_true(psdmp_nest_rounding_at(g, input, outputs, 3, NULL, out, bound));
  double s = 10000.5, total = 0.5 * s + sin(0.5);
  assert_true(out[1] == s * s && fabs(out[0] - sin(0.5)) <= 0x1p-52 * total);
  assert_true(fabs(bound[0] - (total + out[0] + 2 * sin(0.5))) <= 1e-12 * bound[0]);
  assert_true(fabs(bound[1] - (s * s + 2 * s * (s + 1e4))) <= 1e-12 * bound[1]);
  assert_true(fabs(bound[2] - (1 / s + (s + 1e4) / (s * s))) <= 1e-12 * bound[2]);
  psdm_graph_free(g);
}

/* at or below what a prototype found, which is below what the paper found */
TEST(test_counts) {
  static const struct floor {
    const char *name;
    long found, mult, add; /* mult + add; the paper's Table 2 */
  } floors[] = {{"two_link", 18 + 12, 23, 12},
                {"fanuc_sr6ia", 63 + 51, 126, 84},
                {"kuka_kr6", 945 + 1063, 6043, 4142},
                {"kuka_lbr7", 1188 + 1364, 18387, 13981}};
  for (size_t k = 0; k < sizeof floors / sizeof *floors; k++) {
    fixture x;
    psdmp_base_arena arena = {0};
    assert_true(open_fixture(&x, load_shipped(floors[k].name)));
    psdmp_codegen_program p = build(&x, PSDM_F_INVERSE, &(psdm_code_options){0}, &arena);
    printf("%s: inverse %ld+%ld\n", floors[k].name, p.cost.mult, p.cost.add);
    assert_true(p.cost.mult + p.cost.add <= floors[k].found);
    assert_true(p.cost.mult + p.cost.add <= floors[k].mult + floors[k].add);
    psdm_graph_free(p.graph);
    psdmp_base_arena_free(&arena);
    close_fixture(&x);
  }
}

TEST(test_refusals) {
  fixture x;
  psdmp_base_arena arena = {0};
  psdmp_codegen_program p;
  psdm_error error;
  assert_true(open_fixture(&x, load_shipped("two_link")));
  const psdm_code_options plain = {0}, gravity = {.gravity_argument = true}, payload = {.payload_argument = true},
                          wrench = {.wrench_argument = true};
  assert_int_equal(psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &plain, PSDM_F_POSE, 0, &arena, &p, &error),
                   PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "recursive method"));
  assert_int_equal(
      psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &gravity, PSDM_F_INVERSE, 0, &arena, &p, &error),
      PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "gravity's direction"));
  assert_int_equal(
      psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &payload, PSDM_F_INVERSE, 0, &arena, &p, &error),
      PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &wrench, PSDM_F_BIAS, 0, &arena, &p, &error),
                   PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_codegen_build_expanded(x.robot, x.model, NULL, &plain, PSDM_F_INVERSE, 0, &arena, &p, &error),
                   PSDM_E_MISSING);
  /* a limit that cannot be met is no failure */
  assert_int_equal(
      psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &plain, PSDM_F_INVERSE, 5, &arena, &p, &error), PSDM_OK);
  assert_null(p.graph);
  psdmp_base_arena_free(&arena);
  close_fixture(&x);
}

/* every allocation fails once, and nothing is lost */
TEST(test_memory) {
  fixture x;
  assert_true(open_fixture(&x, load_shipped("two_link")));
  const psdm_code_options o = {0};
  psdm_status status = PSDM_E_MEMORY;
  long k = 0;
  for (k = 1; status && k < 100000; k += 1 + k / 7) {
    counting c;
    psdmp_codegen_program p;
    counting_init(&c, k);
    psdmp_base_arena arena = {.allocator = &c.allocator};
    status = psdmp_codegen_build_expanded(x.robot, x.model, x.theta, &o, PSDM_F_FORWARD, 0, &arena, &p, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    if (!status) psdm_graph_free(p.graph);
    psdmp_base_arena_free(&arena);
    assert_int_equal(c.live, 0);
  }
  assert_int_equal(status, PSDM_OK);
  close_fixture(&x);
}

TEST_MAIN(test_counts, test_refusals, test_shipped, test_random_robots, test_bounds, test_rounding, test_memory)
