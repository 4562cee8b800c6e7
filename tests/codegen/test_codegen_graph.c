/* Operation graphs against the recursions: every function of every shipped robot and of random ones, by both methods,
 * with every option.
 *
 * The search of the recursive method shows only the one choice of frames, origins, zeros and formulas that costs
 * least, and takes a second for it. None of them may change a result, so here psdm_code_build gets choices at random
 * in its place (pick.h). Searched code is run by the self-tests (test_codegen_c.sh, deep_codegen.sh). */
#include "pick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/collect_priv.h"
#include "psdm/eval.h"
#include "psdm/linearize.h"
#include "support.h"

enum { STATES = 3, WIDE = 64, ENTRIES = 11 * WIDE };

/* ---- what goes in ---- */

typedef struct subject {
  const char *name;  /* of a shipped robot, or the text of a random one */
  psdm_robot *robot; /* code is generated for it */
  psdm_robot *other; /* the same under the gravity of the argument */
  psdm_work *work;
  const psdm_code *code;
  int n, l;
  double pi[ENTRIES], gravity[3], payload[10];
  psdm_wrench wrench;
  double *input; /* (blocks x PSDMP_CODEGEN_BLOCK) */
} subject;

static psdm_robot *read_robot(const char *name, const double *gravity) {
  psdm_robot_options options = {.gravity = gravity};
  psdm_robot *robot;
  psdm_error error;
  char path[512];
  const char *source = getenv("SOURCE");
  snprintf(path, sizeof path, "%s/robots/%.100s.yaml", source ? source : SOURCE_DIR, name);
  psdm_status status = strchr(name, '\n')
                           ? psdm_robot_parse(name, strlen(name), "random.yaml", &options, NULL, &robot, &error)
                           : psdm_robot_load(path, &options, NULL, &robot, &error);
  if (status) fail_msg("%s\n%s", error.text, name);
  return robot;
}

static void physical_body(rng *g, double pi[10]) {
  double com[3], inertia[6];
  for (int i = 0; i < 3; i++) com[i] = rng_uniform(g, -0.2, 0.2);
  for (int i = 0; i < 6; i++)
    inertia[i] = i == 0 || i == 3 || i == 5 ? rng_uniform(g, 0.3, 0.5) : rng_uniform(g, -0.05, 0.05);
  psdmp_robot_standard_from_body(rng_uniform(g, 1, 4), com, inertia, pi);
}

/* the file's parameters; where it has none, random ones that keep its assumptions */
static void set_parameters(subject *x, rng *g) {
  if (psdm_robot_ready(x->robot, NULL)) {
    psdmp_base_arena arena = {0};
    assert_int_equal(psdmp_derive_sample_assumed(x->robot, NULL, rng_next(g), &arena, x->pi, NULL), PSDM_OK);
    psdm_robot_set_parameters(x->robot, x->pi);
    psdmp_base_arena_free(&arena);
  }
  psdm_robot_parameters(x->robot, x->pi);
}

static void open_subject(subject *x, const char *name, rng *g) {
  *x = (subject){.name = name};
  for (int i = 0; i < 3; i++) x->gravity[i] = rng_uniform(g, -9, 9);
  x->robot = read_robot(name, NULL);
  x->other = read_robot(name, x->gravity);
  x->n = psdm_robot_n(x->robot);
  x->input = calloc((size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK, sizeof *x->input);
  assert_non_null(x->input);
  assert_true(psdm_robot_parameter_count(x->robot) <= ENTRIES);
  assert_int_equal(psdm_work_new(x->robot, NULL, &x->work), PSDM_OK);
  set_parameters(x, g);
  physical_body(g, x->payload);
  x->wrench.joint = psdm_robot_default_link(x->robot, NULL);
  for (int i = 0; i < 3; i++)
    x->wrench.force[i] = rng_uniform(g, -20, 20), x->wrench.moment[i] = rng_uniform(g, -20, 20);
}

static void close_subject(subject *x) {
  free(x->input);
  psdm_work_free(x->work, NULL);
  psdm_robot_free(x->other);
  psdm_robot_free(x->robot);
}

static double *block(subject *x, psdmp_codegen_block b) { return x->input + b * PSDMP_CODEGEN_BLOCK; }

/* what q, qd, qdd are, and what the other blocks say beside them; what is no argument is poisoned */
static void set_state(subject *x, rng *g, const psdmp_codegen_program *p) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    for (int i = 0; i < PSDMP_CODEGEN_BLOCK; i++) block(x, (psdmp_codegen_block)b)[i] = NAN;
  for (int i = 0; i < x->n; i++) {
    double q = block(x, PSDMP_CODEGEN_IN_Q)[i] = rng_uniform(g, -3, 3);
    if (p->length[PSDMP_CODEGEN_IN_SINE])
      block(x, PSDMP_CODEGEN_IN_SINE)[i] = sin(q), block(x, PSDMP_CODEGEN_IN_COSINE)[i] = cos(q);
    block(x, PSDMP_CODEGEN_IN_QD)[i] = rng_uniform(g, -1, 1);
    block(x, PSDMP_CODEGEN_IN_QDD)[i] = rng_uniform(g, -2, 2);
  }
  if (p->length[PSDMP_CODEGEN_IN_THETA]) psdm_model_theta(x->code->model, x->pi, block(x, PSDMP_CODEGEN_IN_THETA));
  if (p->length[PSDMP_CODEGEN_IN_GRAVITY]) memcpy(block(x, PSDMP_CODEGEN_IN_GRAVITY), x->gravity, sizeof x->gravity);
  if (p->length[PSDMP_CODEGEN_IN_PAYLOAD]) memcpy(block(x, PSDMP_CODEGEN_IN_PAYLOAD), x->payload, sizeof x->payload);
  if (p->length[PSDMP_CODEGEN_IN_WRENCH]) {
    memcpy(block(x, PSDMP_CODEGEN_IN_WRENCH), x->wrench.force, sizeof x->wrench.force);
    memcpy(block(x, PSDMP_CODEGEN_IN_WRENCH) + 3, x->wrench.moment, sizeof x->wrench.moment);
  }
}

/* ---- what must come out ---- */

/* the robot of one function: gravity's, with the payload's standard parameters on the last link */
static psdm_robot *truth(subject *x, const psdmp_codegen_program *p) {
  psdm_robot *robot = p->length[PSDMP_CODEGEN_IN_GRAVITY] ? x->other : x->robot;
  const psdm_joint *last = psdm_robot_joint(robot, x->wrench.joint);
  double pi[ENTRIES];
  memcpy(pi, x->pi, sizeof pi);
  for (int k = 0; k < 10 && p->length[PSDMP_CODEGEN_IN_PAYLOAD]; k++) pi[10 * last->link + k] += x->payload[k];
  psdm_robot_set_parameters(robot, pi);
  return robot;
}

static void widen(const subject *x, const double *qd, const double *qdd, double *Y, int columns) {
  const psdm_code_options *o = &x->code->options;
  for (int i = x->n - 1; i >= 0; i--) {
    double *row = Y + (long)i * columns;
    memmove(row, Y + (long)i * x->l, sizeof *row * (size_t)x->l);
    memset(row + x->l, 0, sizeof *row * (size_t)(columns - x->l));
    if (o->friction_columns) row[x->l + i] = (qd[i] > 0) - (qd[i] < 0), row[x->l + x->n + i] = qd[i];
    if (o->drive_columns) row[columns - x->n + i] = qdd[i];
  }
}

/* a function of the truth, q first; qdd is separate for forward's sake */
static void recursion(subject *x, const psdmp_codegen_program *p, psdm_function f, const double *qdd, double *out) {
  const psdm_model *model = x->code->model;
  size_t n = (size_t)x->n, scratch = psdm_eval_scratch(x->robot, model);
  double *memory = calloc(3 * n + scratch + 1, sizeof *memory);
  psdm_eval_options options = {.link = x->code->options.link,
                               .model = model,
                               .scratch = memory + 3 * n,
                               .wrench_count = p->length[PSDMP_CODEGEN_IN_WRENCH] > 0,
                               .wrenches = &x->wrench};
  assert_non_null(memory);
  memcpy(memory, block(x, PSDMP_CODEGEN_IN_Q), n * sizeof *memory);
  memcpy(memory + n, block(x, PSDMP_CODEGEN_IN_QD), n * sizeof *memory);
  memcpy(memory + 2 * n, qdd, n * sizeof *memory);
  assert_int_equal(psdm_eval(truth(x, p), x->work, f, &options, memory, out), PSDM_OK);
  if (f == PSDM_F_REGRESSOR) widen(x, memory + n, memory + 2 * n, out, (int)p->outputs / x->n);
  free(memory);
}

/* out = M in, (n x n) each */
static void times_mass(int n, const double *M, const double *in, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      out[i * n + j] = 0;
      for (int k = 0; k < n; k++) out[i * n + j] += M[i * n + k] * in[k * n + j];
    }
}

/* derivatives; those of forward are judged by torques, M times the difference, with what the condition of M takes
 * from an inverse */
static void both_linear(subject *x, const psdmp_codegen_program *p, double *scratch, double *got, double *want) {
  int n = x->n, nn = n * n, blocks = (int)p->outputs / nn;
  double *q = block(x, PSDMP_CODEGEN_IN_Q), *qd = block(x, PSDMP_CODEGEN_IN_QD), *qdd = block(x, PSDMP_CODEGEN_IN_QDD);
  double *M = calloc((size_t)(5 * nn), sizeof *M), *all = M + nn, *turned = all + 3 * nn;
  psdm_linear *linear;
  const psdm_robot *robot = truth(x, p);
  assert_non_null(M);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  recursion(x, p, PSDM_F_INVERSE, qdd, block(x, PSDMP_CODEGEN_IN_TAU));
  psdm_graph_evaluate(p->graph, x->input, p->output, p->outputs, scratch, got);
  if (p->function == PSDM_F_LINEARIZE_INVERSE) {
    assert_int_equal(psdm_linearize_inverse(robot, linear, q, qd, qdd, want, want + nn, want + 2 * nn), PSDM_OK);
  } else {
    psdm_status status = psdm_linearize_forward_at(robot, linear, q, qd, qdd, all, all + nn, all + 2 * nn);
    /* the Denso's parameters are random and no body has them: M need not be positive definite, and then nothing is
     * compared */
    bool unphysical = status == PSDM_E_SINGULAR && psdm_robot_assumptions(robot);
    if (status && !unphysical) fail_msg("status %d for %s", (int)status, x->name);
    if (unphysical) memset(got, 0, sizeof *got * p->outputs), memset(want, 0, sizeof *want * p->outputs), blocks = 0;
    recursion(x, p, PSDM_F_MASS, qdd, M);
    double condition = n * max_absolute(M, nn) * max_absolute(all + 2 * nn, nn);
    for (int b = 0; b < blocks; b++) {
      times_mass(n, M, all + (blocks == 1 ? 2 : b) * nn, want + b * nn);
      times_mass(n, M, got + b * nn, turned);
      for (int i = 0; i < nn; i++) got[b * nn + i] = want[b * nn + i] + (turned[i] - want[b * nn + i]) / condition;
    }
  }
  psdm_linear_free(linear, NULL);
  free(M);
}

/* got and wanted at one state; forward's are torques */
static void both(subject *x, const psdmp_codegen_program *p, double *scratch, double *got, double *want) {
  double *qdd = block(x, PSDMP_CODEGEN_IN_QDD), *tau = block(x, PSDMP_CODEGEN_IN_TAU);
  psdm_function f;
  if (p->function > PSDM_F_POSE) {
    both_linear(x, p, scratch, got, want);
    return;
  }
  assert_true(psdm_function_find(p->name, &f));
  if (p->function != PSDM_F_FORWARD) {
    recursion(x, p, f, qdd, want);
    psdm_graph_evaluate(p->graph, x->input, p->output, p->outputs, scratch, got);
    return;
  }
  double back[WIDE];
  recursion(x, p, PSDM_F_INVERSE, qdd, tau);
  memcpy(want, tau, sizeof *want * (size_t)x->n);
  psdm_graph_evaluate(p->graph, x->input, p->output, p->outputs, scratch, back);
  recursion(x, p, PSDM_F_INVERSE, back, got);
}

/* largest difference over some states, relative to the largest number */
static double error_of(subject *x, rng *g, const psdmp_codegen_program *p) {
  double worst = 0, scale = 0, offset = 0;
  double *got = calloc(2 * p->outputs + psdm_graph_size(p->graph) + 1, sizeof *got), *want = got + p->outputs;
  assert_non_null(got);
  for (int k = 0; k < STATES; k++) {
    set_state(x, g, p);
    both(x, p, want + p->outputs, got, want);
    if (p->function == PSDM_F_ENERGY) { /* potential energy counts from anywhere: from the first state */
      scale = fmax(scale, fabs(got[1]));
      if (k == 0) offset = want[1] - got[1];
      got[1] += offset;
    }
    double error = max_difference(got, want, (int)p->outputs);
    if (!(error <= worst)) worst = error;
    scale = fmax(scale, max_absolute(want, (int)p->outputs));
  }
  free(got);
  return worst / (scale > 0 ? scale : 1);
}

/* ---- all functions of one robot ---- */

static double worst_of[PSDM_FUNCTION_COUNT];
static int above; /* functions with an error above the tolerance */

static void describe(const psdm_code_options *o, char *text, size_t size) {
  snprintf(text, size, "method %d%s%s%s%s%s%s%s%s, link %s", (int)o->method, o->theta_argument ? ", theta" : "",
           o->gravity_argument ? ", gravity" : "", o->payload_argument ? ", payload" : "",
           o->wrench_argument ? ", wrench" : "", o->sincos == PSDM_SINCOS_CALLER ? ", caller" : "",
           o->friction_columns ? ", friction" : "", o->drive_columns ? ", drives" : "",
           o->throughput ? ", throughput" : "", o->link ? o->link : "of the tip");
}

/* what may be refused: closed forms that do not exist, and theta under assumptions that mix standard parameters */
static bool refused(const psdm_code_options *o, const psdm_error *error) {
  if (o->method == PSDM_CODE_EXPANDED) return strstr(error->text, "a closed form") != NULL;
  if (strstr(error->text, "under these assumptions") || strstr(error->text, "other base parameters for other gravity"))
    return true;
  return false;
}

static void check(subject *x, rng *g, const psdm_code_options *o, double tolerance) {
  psdm_code *code;
  psdm_error error;
  char text[160];
  describe(o, text, sizeof text);
  psdm_robot_set_parameters(x->robot, x->pi);
  psdm_code_options all = *o;
  all.functions = ((2u << PSDM_F_INVERSE_MASS) - 1);
  psdm_status status = psdm_code_build(x->robot, &all, NULL, &code, &error);
  if (status && refused(o, &error)) return;
  if (status) fail_msg("%s (%s)\n%s", error.text, text, x->name);
  assert_int_equal(psdm_code_count(code), PSDM_F_CORIOLIS); /* the others: test_codegen_terms.c */
  x->code = code;
  x->l = psdm_model_l(code->model);
  for (int k = 0; k < code->programs; k++) {
    const psdmp_codegen_program *p = &code->program[k];
    double e = error_of(x, g, p);
    if (!(e <= worst_of[p->function])) worst_of[p->function] = e;
    if (!(e <= tolerance))
      print_error("%s, %s choice, %s: %.3g is above %.3g for %s\n", p->name, how_names[picking.how], text, e, tolerance,
                  x->name);
    above += !(e <= tolerance);
  }
  psdm_code_free(code);
}

static void tell_worst(const char *what) {
  printf("%s, largest errors:", what);
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) printf(" %s %.1e", psdm_function_name((psdm_function)f), worst_of[f]);
  printf("\n");
  memset(worst_of, 0, sizeof worst_of);
  int failed = above;
  above = 0;
  assert_int_equal(failed, 0);
}

/* ---- tests ---- */

TEST(test_shipped_recursive) {
  rng g = rng_start("shipped robots");
  for (const char *const *name = shipped_robots; *name; name++)
    for (int k = 0; k < 12; k++) {
      subject x;
      const psdm_code_options o = {.method = PSDM_CODE_RECURSIVE,
                                   .theta_argument = k % 2,
                                   .gravity_argument = k / 2 % 3 == 1,
                                   .payload_argument = k / 2 % 3 == 2,
                                   .wrench_argument = k / 6,
                                   .sincos = k % 3 == 2 ? PSDM_SINCOS_CALLER : PSDM_SINCOS_LIBM,
                                   .friction_columns = k % 5 == 1,
                                   .drive_columns = k % 4 == 2};
      picking.how = (how)(k % 4 < 2 ? RANDOM : k % 4 - 2);
      picking.g = &g;
      open_subject(&x, *name, &g);
      check(&x, &g, &o, 1e-13);
      close_subject(&x);
    }
  tell_worst("shipped robots, recursive");
}

TEST(test_shipped_expanded) {
  rng g = rng_start("shipped robots, expanded");
  for (const char *const *name = shipped_robots; *name; name++) {
    subject x;
    open_subject(&x, *name, &g);
    for (int k = 0; k < 2; k++) /* parameters as arguments take longest: not for seven joints */
      if (!k || x.n < 7)
        check(&x, &g, &(psdm_code_options){.method = PSDM_CODE_EXPANDED, .theta_argument = k, .throughput = k}, 1e-13);
    close_subject(&x);
  }
  tell_worst("shipped robots, expanded");
}

/* what loops exclude, each with its reason */
TEST(test_options_that_loops_exclude) {
  psdm_robot *robot = load_shipped("five_bar");
  static const struct {
    psdm_code_options o;
    const char *text;
  } refused[] = {{{.method = PSDM_CODE_EXPANDED}, "closed loops: there is no closed form"},
                 {{.sincos = PSDM_SINCOS_CALLER}, "closed loops: the angles of passive joints are found by the code"},
                 {{.target = PSDM_CODE_SIMD}, "closed loops: code is generated for target c"},
                 {{.target = PSDM_CODE_CUDA}, "closed loops: code is generated for target c"},
                 {{.wraps = 1u << PSDM_CODE_WRAP_CASADI}, "closed loops: wrappers cannot pass on"},
                 {{.friction = PSDM_FRICTION_VISCOUS}, "closed loops: friction is not generated"},
                 {{.gravity_argument = true, .theta_argument = true}, "closed loops have other base parameters"}};
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    psdm_code *code;
    psdm_error error;
    int status = psdm_code_build(robot, &refused[k].o, NULL, &code, &error);
    assert_true(status == PSDM_E_ROBOT || status == PSDM_E_ARGUMENT);
    assert_null(code);
    assert_memory_equal(error.text, refused[k].text, strlen(refused[k].text));
  }
  psdm_robot_free(robot);
}

/* all functions of a loop beside the recursions, when they are built */
TEST(test_functions_of_loops) {
  static const char *const names[] = {"five_bar", "pantograph", "palletizer", "planar_3rrr"};
  enum { FIRST = PSDM_CODE_RIGID & ~(1u << PSDM_F_INVERSE_SECOND | 1u << PSDM_F_LINEARIZE_SECOND) };
  static const psdm_code_options options[] = {
      {.functions = FIRST, .effort = -1},
      {.functions = FIRST & ~(1u << PSDM_F_REGRESSOR | 1u << PSDM_F_SENSITIVITY),
       .effort = -1,
       .gravity_argument = true,
       .payload_argument = true,
       .wrench_argument = true},
      {.functions = FIRST,
       .effort = -1,
       .theta_argument = true,
       .payload_argument = true,
       .friction_columns = true,
       .drive_columns = true},
  };
  for (size_t r = 0; r < sizeof names / sizeof *names; r++) {
    psdm_robot *robot = load_shipped(names[r]);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
      psdm_code *code;
      psdm_error error;
      if (psdm_code_build(robot, &options[k], NULL, &code, &error))
        fail_msg("%s, options %zu: %s", names[r], k, error.text);
      assert_int_equal(psdm_code_count(code), k == 1 ? 18 : 20);
      for (int f = 0; f < psdm_code_count(code); f++)
        if (!(psdm_code_error(code, f) < 1e-12))
          fail_msg("%s, options %zu: function %d is off by %g", names[r], k, f, psdm_code_error(code, f));
      psdm_code_free(code);
    }
    psdm_robot_free(robot);
  }
}

static bool coin(rng *g) { return rng_int(g, 0, 1); }

static psdm_code_options random_code_options(rng *g, const psdm_robot *robot) {
  psdm_code_options o = {
      .theta_argument = coin(g), .friction_columns = coin(g), .drive_columns = coin(g), .throughput = coin(g)};
  o.method = rng_int(g, 0, 2) ? PSDM_CODE_RECURSIVE : coin(g) ? PSDM_CODE_AUTO : PSDM_CODE_EXPANDED;
  o.sincos = coin(g) ? PSDM_SINCOS_CALLER : PSDM_SINCOS_LIBM;
  int joint = rng_int(g, 0, psdm_robot_joints(robot)) - 1;
  if (psdm_robot_moves(robot, joint)) o.link = psdm_robot_link_name(robot, joint); /* others have no Jacobian */
  if (o.method == PSDM_CODE_EXPANDED) return o;
  o.gravity_argument = coin(g);
  o.payload_argument = coin(g);
  o.wrench_argument = coin(g);
  return o;
}

/* choices that no search has weighed may make numbers ten times as large (GROWTH), and terms then cancel by a digit
 * more */
TEST(test_random) {
  rng g = rng_start("random robots");
  static char text[64 * 1024];
#ifdef SLOW_BUILD
  enum { ROBOTS = 50 };
#else
  enum { ROBOTS = 120 };
#endif
  for (int k = 0; k < ROBOTS; k++) {
    int most = k % 10 == 9 ? 8 : k % 3 + 2;
    random_options options = {1, most, k % 2, k % 3 == 1, true, true};
    subject x;
    open_subject(&x, random_robot_text(&g, &options, text, sizeof text), &g);
    psdm_code_options o = random_code_options(&g, x.robot);
    if (x.n > 4) o.method = PSDM_CODE_RECURSIVE;
    picking.how = RANDOM;
    picking.g = &g;
    check(&x, &g, &o, 1e-12);
    close_subject(&x);
  }
  tell_worst("random robots");
}

TEST_MAIN(test_options_that_loops_exclude, test_functions_of_loops, test_random, test_shipped_recursive,
          test_shipped_expanded)
