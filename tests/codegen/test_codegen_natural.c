/* Natural robots: generated code of every function against the recursions, without a compiler.
 *
 * Arms as exporters write them, with link frames turned anyhow and numbers rounded to 3 to 15 digits, so that axes
 * which were meant to be parallel are almost; DH tables misaligned by 1e-12 to 1e-2; robots of a micron and of a
 * megametre; trees; sliding and coupled joints. PSDM_ARMS says how many, PSDM_ARMS_FIRST where to begin, PSDM_SEED
 * which, PSDM_ARMS_SHOW=1 prints those that fail; PSDM_ARMS_THETA=1 takes parameters as an argument, whose error is
 * that of the base parameters, too. */
#include "pick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/trial.h"
#include "psdm/compile.h"

/* a number of the environment */
static int setting(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }

/* ---- text ---- */

typedef struct text {
  char *at;
  size_t left;
} text;

static void put(text *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, w->left, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= w->left) fail_msg("the robot does not fit");
  w->at += n;
  w->left -= (size_t)n;
}

static void put_rounded(text *w, const double x[3], int digits) {
  put(w, "\"%.*f %.*f %.*f\"", digits, x[0], digits, x[1], digits, x[2]);
}

/* ---- arms as exporters write them ---- */

static psdmp_robot_pose random_turn(rng *g) {
  const double none[3] = {0, 0, 0}, rpy[3] = {rng_uniform(g, -3, 3), rng_uniform(g, -1.5, 1.5), rng_uniform(g, -3, 3)};
  return psdmp_robot_pose_rpy(none, rpy);
}

static void rpy_of(const double *R, double rpy[3]) {
  rpy[0] = atan2(R[7], R[8]);
  rpy[1] = atan2(-R[6], hypot(R[7], R[8]));
  rpy[2] = atan2(R[3], R[0]);
}

static void put_inertial(text *w, rng *g, double size, int digits) {
  double m = rng_uniform(g, 0.5, 8), a = m * size * size * rng_uniform(g, 0.005, 0.02),
         b = a * rng_uniform(g, 0.7, 1.3), c = a * rng_uniform(g, 0.7, 1.3);
  double com[3] = {size * rng_uniform(g, -0.2, 0.2), size * rng_uniform(g, -0.2, 0.2),
                   size * rng_uniform(g, -0.2, 0.2)},
         xy = 0.1 * a * rng_uniform(g, -1, 1);
  put(w, "<inertial><origin xyz=");
  put_rounded(w, com, digits);
  put(w,
      " rpy=\"0 0 0\"/><mass value=\"%.6f\"/><inertia ixx=\"%.15g\" iyy=\"%.15g\" izz=\"%.15g\" ixy=\"%.15g\" "
      "ixz=\"0\" iyz=\"0\"/></inertial>",
      m, a, b, c, xy);
}

/* a joint's axis in the world, parallel or perpendicular to the one before, as in ordinary arms */
static void next_axis(rng *g, const double before[3], double axis[3]) {
  int k = fabs(before[0]) > 0.5 ? 0 : fabs(before[1]) > 0.5 ? 1 : 2;
  axis[0] = axis[1] = axis[2] = 0;
  axis[rng_int(g, 0, 1) ? k : (k + rng_int(g, 1, 2)) % 3] = rng_int(g, 0, 3) ? 1 : -1;
}

typedef struct urdf_kind {
  int digits;
  double size;
  bool tree, prismatic;
} urdf_kind;

/* world poses of all links are drawn first, then written relative to each other with rounded numbers */
static void write_urdf(text *w, rng *g, int n, urdf_kind kind) {
  psdmp_robot_pose world[64];
  double axis[64][3] = {{0, 0, 1}};
  world[0] = psdmp_robot_pose_identity();
  put(w, "<robot name=\"arm\">\n<link name=\"l0\"/>\n");
  for (int j = 1; j <= n; j++) {
    int parent = kind.tree && rng_int(g, 0, 2) == 0 ? rng_int(g, 0, j - 1) : j - 1;
    double local[3], rpy[3];
    next_axis(g, axis[parent], axis[j]);
    world[j] = random_turn(g);
    for (int i = 0; i < 3; i++)
      world[j].p[i] = world[parent].p[i] + kind.size * (rng_int(g, 0, 2) ? rng_uniform(g, -0.4, 0.4) : 0);
    psdmp_robot_pose back = psdmp_robot_pose_inverse(&world[parent]), step = psdmp_robot_pose_product(&back, &world[j]);
    for (int i = 0; i < 3; i++)
      local[i] = world[j].R[i] * axis[j][0] + world[j].R[3 + i] * axis[j][1] + world[j].R[6 + i] * axis[j][2];
    rpy_of(step.R, rpy);
    put(w, "<link name=\"l%d\">", j);
    put_inertial(w, g, kind.size, kind.digits);
    put(w, "</link>\n<joint name=\"j%d\" type=\"%s\"><parent link=\"l%d\"/><child link=\"l%d\"/><origin xyz=", j,
        kind.prismatic && rng_int(g, 0, 3) == 0 ? "prismatic" : "continuous", parent, j);
    put_rounded(w, step.p, kind.digits);
    put(w, " rpy=");
    put_rounded(w, rpy, kind.digits);
    put(w, "/><axis xyz=");
    put_rounded(w, local, kind.digits);
    put(w, "/><limit lower=\"-3\" upper=\"3\" effort=\"100\" velocity=\"3\"/></joint>\n");
  }
  put(w, "</robot>\n");
}

/* ---- tables, misaligned ---- */

typedef struct table_kind {
  double size, off; /* metres; angles off by */
  bool prismatic, coupled;
} table_kind;

static void write_table(text *w, rng *g, int n, table_kind kind) {
  static const double aligned[] = {0, 0, 1, -1, 2};
  double L = kind.size;
  put(w, "gravity: [0, %.17g, -9]\nconvention: %s\njoints:\n", rng_int(g, 0, 1) ? 0 : 4.0,
      rng_int(g, 0, 1) ? "dh" : "modified-dh");
  for (int j = 0; j < n; j++) {
    double alpha = aligned[rng_int(g, 0, 4)] * acos(0) + kind.off * rng_int(g, -1, 1);
    put(w, "  - {name: j%d, type: %s, theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g", j + 1,
        kind.prismatic && rng_int(g, 0, 2) == 0 ? "prismatic" : "revolute",
        rng_int(g, 0, 1) ? 0 : rng_uniform(g, -3, 3), L * (rng_int(g, 0, 1) ? rng_uniform(g, -0.5, 0.5) : 0),
        L * (rng_int(g, 0, 1) ? rng_uniform(g, -0.5, 0.5) : 0), alpha);
    if (kind.coupled && j > 0 && rng_int(g, 0, 2) == 0)
      put(w, ", couple: {j1: %d, offset: 0.25}", rng_int(g, 0, 1) ? 1 : -1);
    put(w, "}\n");
  }
  put(w, "links:\n");
  for (int j = 0; j < n; j++) {
    double m = rng_uniform(g, 0.5, 8), a = L * L * m * rng_uniform(g, 0.005, 0.02);
    put(w, "  - {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g}}\n", m,
        L * rng_uniform(g, -0.2, 0.2), L * rng_uniform(g, -0.2, 0.2), L * rng_uniform(g, -0.2, 0.2), a, 1.2 * a,
        0.9 * a, 0.1 * a);
  }
}

/* what generated code may differ by, of the largest torque */
static const double MOST = 1e-12;

/* ---- kinds ---- */

typedef enum kind { ROUNDED, MISALIGNED, SMALL, LARGE, TREE, SLIDING, COUPLED, KINDS } kind;
static const char *const kind_names[KINDS] = {"rounded", "misaligned", "small", "large", "tree", "sliding", "coupled"};

static void write_robot(text *w, rng *g, kind k, int number) {
  double off = pow(10, -rng_int(g, 2, 12)) * rng_uniform(g, 0.1, 1);
  int digits = 3 + number % 13;
  switch (k) {
    case MISALIGNED: write_table(w, g, 6, (table_kind){.size = 1, .off = off}); break;
    case SMALL:
      write_table(w, g, rng_int(g, 2, 6), (table_kind){.size = 1e-6, .off = off, .prismatic = number % 2});
      break;
    case LARGE:
      write_table(w, g, rng_int(g, 2, 6), (table_kind){.size = 1e6, .off = off, .prismatic = number % 2});
      break;
    case TREE:
      write_urdf(w, g, rng_int(g, 3, number % 5 ? 10 : 20),
                 (urdf_kind){.digits = digits, .size = 1, .tree = true, .prismatic = number % 2});
      break;
    case SLIDING:
      write_urdf(w, g, rng_int(g, 2, 7), (urdf_kind){.digits = digits, .size = 1, .prismatic = true});
      break;
    case COUPLED:
      write_table(w, g, rng_int(g, 3, 6),
                  (table_kind){.size = 1, .off = off, .prismatic = number % 2, .coupled = true});
      break;
    default: write_urdf(w, g, rng_int(g, 6, 7), (urdf_kind){.digits = digits, .size = 1}); break;
  }
}

/* ---- all functions of one robot ---- */

static struct {
  int arms, above, refused;
  double worst[PSDM_FUNCTION_COUNT];
} tally[KINDS];

/* one function of one arm; whether it is too far off */
static bool note_error(kind k, int number, psdm_function function, double e) {
  tally[k].worst[function] = fmax(tally[k].worst[function], e);
  if (e > MOST)
    print_error("arm %d, %s: %s is off by %.2g\n", number * KINDS + (int)k, kind_names[k], psdm_function_name(function),
                e);
  return e > MOST;
}

/* as codegen builds them, factored and balanced, with its own check */
static psdm_status check_whole(const psdm_robot *robot, const psdm_code_options *o, kind k, int number, bool *above,
                               psdm_error *error) {
  psdm_code *code;
  psdm_status status = psdm_code_build(robot, o, NULL, &code, error);
  for (int f = 0; !status && f < psdm_code_count(code); f++)
    *above |= note_error(k, number, psdm_code_at(code, f, NULL, NULL), psdm_code_error(code, f));
  if (!status) psdm_code_free(code);
  return status;
}

/* the graphs as they are traced, which takes a fifth of the time */
static psdm_status check_traced(const psdm_robot *robot, const psdm_code_options *o, kind k, int number, bool *above,
                                psdm_error *error) {
  psdm_code_options one = *o;
  psdm_code *code;
  psdmp_base_arena arena = {0};
  psdmp_codegen_trial t;
  one.functions = 1u << PSDM_F_POSE;
  psdm_status status = psdm_code_build(robot, &one, NULL, &code, error);
  if (status) return status;
  status = psdmp_codegen_trial_new(code, &arena, &t, error);
  for (int f = 0; f < PSDM_FUNCTION_COUNT && !status; f++) {
    psdmp_codegen_program p = {0};
    if (!(o->functions >> f & 1)) continue;
    status = psdmp_codegen_build_precise(code, (psdm_function)f, &t, &arena, &p, error);
    if (!status) *above |= note_error(k, number, (psdm_function)f, p.error);
    psdm_graph_free(p.graph);
  }
  psdmp_codegen_trial_free(&t);
  psdmp_base_arena_free(&arena);
  psdm_code_free(code);
  return status;
}

static void check_arm(rng *g, kind k, int number) {
  static char buffer[128 * 1024];
  text w = {buffer, sizeof buffer};
  const psdm_robot_options options = {.no_snap = true};
  psdm_robot *robot;
  psdm_error error = {0};
  bool above = false;
  write_robot(&w, g, k, number);
  if (psdm_robot_parse(buffer, strlen(buffer), "arm", &options, NULL, &robot, &error))
    fail_msg("%s\n%s", error.text, buffer);
  psdm_code_options o = {.functions = PSDM_CODE_RIGID | PSDM_CODE_TASKS,
                         .directions = 1,
                         .method = PSDM_CODE_RECURSIVE,
                         .gravity_argument = number % 3 == 1,
                         .payload_argument = number % 4 == 1,
                         .wrench_argument = number % 4 == 2,
                         .theta_argument = setting("PSDM_ARMS_THETA", 0)};
  if (o.theta_argument && k == COUPLED) o.gravity_argument = false;
  if (k == COUPLED) o.functions &= ~(o.gravity_argument ? 1u << PSDM_F_REGRESSOR : 0);
  tally[k].arms++;
  psdm_status status = (number % 8 ? check_traced : check_whole)(robot, &o, k, number, &above, &error);
  if (status && strstr(error.text, "every direction of the task")) status = PSDM_OK; /* such an arm there may be */
  if (status) print_error("arm %d, %s: %s\n", number * KINDS + (int)k, kind_names[k], error.text);
  tally[k].refused += status != PSDM_OK;
  tally[k].above += above;
  if ((status || above) && setting("PSDM_ARMS_SHOW", 0)) print_error("%s\n", buffer);
  psdm_robot_free(robot);
}

static void tell(void) {
  for (int k = 0; k < KINDS; k++) {
    printf("%-10s %5d arms, %d refused, %d above 1e-12; largest errors:", kind_names[k], tally[k].arms,
           tally[k].refused, tally[k].above);
    for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
      printf(" %s %.1e", psdm_function_name((psdm_function)f), tally[k].worst[f]);
    printf("\n");
  }
}

TEST(test_generated_code_of_natural_robots_is_right) {
  rng g = rng_start("natural robots");
#if defined(__SANITIZE_ADDRESS__)
  int arms = 14;
#else
  int arms = 49;
#endif
  arms = setting("PSDM_ARMS", arms);
  for (int k = setting("PSDM_ARMS_FIRST", 0); k < arms; k++) {
    rng own = {g.state + (uint64_t)k};
    picking.how = (how)(k / KINDS % 3);
    picking.g = &own;
    check_arm(&own, (kind)(k % KINDS), k / KINDS);
  }
  tell();
  for (int k = 0; k < KINDS; k++) assert_int_equal(tally[k].above + tally[k].refused, 0);
}

/* ---- the check ---- */

static psdm_robot *plain_arm(void) {
  static const char arm[] = "convention: dh\njoints:\n  - {name: j1, type: revolute, a: 0.4, alpha: pi/2, d: 0, theta: "
                            "0}\n  - {name: j2, type: revolute, a: 0.3, alpha: 0, d: 0, theta: 0}\n"
                            "links:\n  - {mass: 3, com: [-0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - "
                            "{mass: 2, com: [-0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n";
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(arm, strlen(arm), "arm", NULL, NULL, &robot, &error)) fail_msg("%s", error.text);
  return robot;
}

static void test_wrong_programs_are_refused(void **unused) {
  static const struct {
    spoil how;
    bool single;
    const char *text; /* NULL: not refused */
  } cases[] = {
      {SPOIL_NOT, false, NULL},
      {SPOIL_NOT, true, NULL},
      {SPOIL_SCALE, false, "'mass' by the recursive method differs from the recursion by "},
      {SPOIL_NAN, false, "'mass' by the recursive method gives no finite numbers; it is not generated"},
      {SPOIL_HUGE, false, "'mass' by the recursive method gives no finite numbers; it is not generated"},
  };
  (void)unused;
  rng g = rng_start("wrong programs");
  psdm_robot *robot = plain_arm();
  picking.g = &g;
  picking.how = PLAIN;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_code *code;
    psdm_error error = {0};
    picking.spoil = cases[k].how;
    psdm_status status = psdm_code_build(
        robot,
        &(psdm_code_options){
            .functions = 1u << PSDM_F_MASS, .method = PSDM_CODE_RECURSIVE, .real_float = cases[k].single},
        NULL, &code, &error);
    assert_int_equal(status, cases[k].text ? PSDM_E_ROBOT : PSDM_OK);
    if (cases[k].text && !strstr(error.text, cases[k].text)) fail_msg("%s", error.text);
    if (!status) assert_true(psdm_code_error(code, 0) < 1e-15 && !psdm_code_note(code, 0));
    psdm_code_free(code);
  }
  picking.spoil = SPOIL_NOT;
  psdm_robot_free(robot);
}

/* programs that were right when they were made and are not what was compiled */
TEST(test_wrong_objects_are_refused) {
  psdm_robot *robot = plain_arm();
  psdm_code *code;
  psdm_compiled *compiled;
  psdm_error error = {0};
  assert_int_equal(
      psdm_code_build(robot, &(psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .method = PSDM_CODE_RECURSIVE},
                      NULL, &code, &error),
      PSDM_OK);
  psdmp_codegen_program *p = &code->program[0];
  p->output[0] = psdm_graph_scale(p->graph, 1 + 1e-6, p->output[0]);
  psdm_status status =
      psdm_compile(code, &(psdm_compile_options){.native = true, .cache = ""}, NULL, &compiled, &error);
  assert_int_equal(status, PSDM_E_COMPILER);
  assert_null(compiled);
  if (!strstr(error.text, "the compiled 'inverse' differs from the recursion by") && !strstr(error.text, "compiler"))
    fail_msg("%s", error.text);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

TEST_MAIN(test_generated_code_of_natural_robots_is_right, test_wrong_programs_are_refused,
          test_wrong_objects_are_refused)
