/* The unparser, compiled and run: sines and cosines against libm, random graphs bit for bit against the plain
 * evaluator, hostile names, full disks and missing memory. The compiler is $CC. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emit/emit.h"
#include "psdm/base_parameters.h"
#include "support.h"

/* ---- hand-made programs ---- */

typedef struct bench {
  psdm_robot *robot;
  psdm_code code;
} bench;

static void bench_open(bench *b) {
  memset(b, 0, sizeof *b);
  b->robot = load_shipped("two_link");
  b->code.robot = b->robot;
  b->code.options.prefix = "hand";
  assert_int_equal(psdm_base_parameters_derive(b->robot, NULL, NULL, &b->code.model, NULL, NULL), PSDM_OK);
}

static void bench_close(bench *b) {
  for (int k = 0; k < b->code.programs; k++) psdm_graph_free(b->code.program[k].graph);
  psdm_model_free(b->code.model);
  psdm_robot_free(b->robot);
}

static psdmp_codegen_program *add_program(bench *b, psdm_function function, const char *name, int inputs) {
  psdmp_codegen_program *p = &b->code.program[b->code.programs++];
  *p = (psdmp_codegen_program){
      .function = function, .name = name, .method = "hand", .results = 1, .result = {{"X", 0, 0}}};
  p->length[PSDMP_CODEGEN_IN_THETA] = 3;
  p->length[PSDMP_CODEGEN_IN_Q] = inputs;
  p->length[PSDMP_CODEGEN_IN_QD] = 2; /* perhaps nobody uses it */
  assert_int_equal(psdm_graph_new(NULL, &p->graph), PSDM_OK);
  return p;
}

static psdm_ref input(psdmp_codegen_program *p, psdmp_codegen_block block, int index) {
  return psdm_graph_input(p->graph, (int)block * PSDMP_CODEGEN_BLOCK + index);
}

static void set_outputs(psdmp_codegen_program *p, psdm_ref *output, int count) {
  p->output = output;
  p->outputs = (size_t)count;
  p->result[0].count = count;
  assert_int_equal(psdm_graph_cost(p->graph, output, p->outputs, &p->cost), PSDM_OK);
}

/* header and source into the folder */
static void write_code(bench *b, bool single) {
  psdmp_base_arena arena = {0};
  b->code.options.real_float = single;
  psdmp_emit_writer e = {
      .code = &b->code, .prefix = "hand", .upper = "HAND", .single = single, .real = single ? "float" : "double"};
  char path[128];
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/hand.%c", own_folder, k ? 'c' : 'h');
    assert_int_equal(psdm_output_open(path, NULL, &e.out, NULL), PSDM_OK);
    if (k) assert_int_equal(psdmp_emit_source(&e, &arena), PSDM_OK);
    else psdmp_emit_header(&e);
    assert_int_equal(psdm_output_commit(&e.out, NULL), PSDM_OK);
  }
  psdmp_base_arena_free(&arena);
}

static FILE *driver(bool single) {
  char path[128];
  snprintf(path, sizeof path, "%s/main.c", own_folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include \"hand.h\"\ntypedef %s real;\n",
          single ? "float" : "double");
  return f;
}

/* compiles and runs main.c; its exit code */
static int run(const char *flags) {
  char command[1024];
  const char *cc = getenv("CC");
  snprintf(command, sizeof command,
           "cd %s && %s -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror %s -c hand.c -o hand.o && %s "
           "-std=c99 %s main.c hand.o -o main -lm && ./main",
           own_folder, cc ? cc : "cc", flags, cc ? cc : "cc", flags);
  int code = system(command);
  if (code) print_error("%s: %d\n", command, code);
  return code;
}

/* ---- sines and cosines ---- */

static const char *const flag_sets[] = {"-O2 -march=native -ffp-contract=fast", "-O2 -ffp-contract=off",
                                        "-O1 -DHAND_VECTORS=0", "-O2 -ffast-math -DLOOSE=1e3", NULL};

/* 10^6 angles and more, half of them next to multiples of pi/2, in units in the last place (double) and absolutely;
 * far out exactly libm's */
static void sincos_driver(bool single, int angles) {
  FILE *f = driver(single);
  fprintf(f,
          "#ifndef LOOSE\n#define LOOSE 1\n#endif\nstatic double u(void) { static unsigned long long s = 1; s = "
          "s*6364136223846793005ULL + 1442695040888963407ULL; return (double)(s >> 11)*0x1p-53; }\n"
          "int main(void) {\n  enum { K = %d };\n  real q[K], X[2*K];\n  const real theta[3] = {0}, qd[2] = {0};\n  "
          "double worst = 0, ulps = 0;\n"
          "  for (int n = 0; n < 1000000/K + 1; n++) {\n"
          "    for (int i = 0; i < K; i++) {\n      const double range = pow(10, 12*u() - %s);\n      double x = "
          "range*(2*u() - 1);\n"
          "      if (n %% 2) x = floor(x)*1.5707963267948966*(1 + (n %% 4 > 1 ? 0 : 1e-16*floor(9*u() - 4)));\n      "
          "q[i] = (real)(fabs(x) < %s ? x : u());\n    }\n"
          "    hand_pose(theta, q, qd, X);\n    for (int i = 0; i < 2*K; i++) {\n"
          "      const long double y = i < K ? sinl((long double)q[i]) : cosl((long double)q[i - K]);\n      const "
          "double d = (double)fabsl((long double)X[i] - y);\n"
          "      const double unit = y == 0 ? 1 : ldexp(1, ilogb((double)y) - 52);\n      if (!(d <= worst)) worst = "
          "d;\n      if (!(d/unit <= ulps)) ulps = d/unit;\n    }\n  }\n"
          "  printf(\"%s, %%d angles: %%.3g absolute, %%.3g units\\n\", K, worst, ulps);\n"
          "  const real far[] = {(real)1e6, (real)-3e6, (real)1e9, (real)-1e20, (real)8001};\n  int bad = !(worst < "
          "LOOSE*%s) || (LOOSE == 1 && !(ulps < %s));\n"
          "  for (int n = 0; n < 5; n++) {\n    for (int i = 0; i < K; i++) q[i] = i == n %% K ? far[n] : "
          "(real)(0.1*i);\n    hand_pose(theta, q, qd, X);\n"
          "    for (int i = 0; i < K; i++) bad |= !(fabs((double)X[i] - sin((double)q[i])) < LOOSE*%s) || "
          "!(fabs((double)X[K + i] - cos((double)q[i])) < LOOSE*%s);\n  }\n"
          "  return bad;\n}\n",
          angles, single ? "8.1" : "6", single ? "8000" : "1e6", single ? "float" : "double",
          single ? "1.1e-7" : "2.3e-16", single ? "1e300" : "3", single ? "1.1e-7" : "2.3e-16",
          single ? "1.1e-7" : "2.3e-16");
  fclose(f);
}

TEST(test_sincos) {
  static const int counts[] = {1, 3, 5, 9, 17};
  for (int k = 0; k < 10; k++) {
    int n = counts[k / 2];
    psdm_ref output[40];
    bench b;
    bench_open(&b);
    psdmp_codegen_program *p = add_program(&b, PSDM_F_POSE, "pose", n);
    for (int i = 0; i < n; i++) {
      output[i] = psdm_graph_sin(p->graph, input(p, PSDMP_CODEGEN_IN_Q, i));
      output[n + i] = psdm_graph_cos(p->graph, input(p, PSDMP_CODEGEN_IN_Q, i));
    }
    set_outputs(p, output, 2 * n);
    write_code(&b, k % 2);
    sincos_driver(k % 2, n);
    assert_int_equal(run(flag_sets[k % 4]), 0);
    if (n == 5)
      for (int i = 0; flag_sets[i]; i++) assert_int_equal(run(flag_sets[i]), 0);
    bench_close(&b);
  }
}

/* ---- random graphs ---- */

enum { INPUTS = 4, OUTPUTS = 12, STATES = 5 };

static psdm_ref random_value(rng *g, psdmp_codegen_program *p, const psdm_ref *pool, int count) {
  if (rng_int(g, 0, 9) == 0) return psdm_graph_const(p->graph, rng_uniform(g, -2, 2));
  psdm_ref r = pool[rng_int(g, count > 12 ? count - 12 : 0, count - 1)];
  return rng_int(g, 0, 3) ? r : psdm_ref_neg(r);
}

/* LuGre's bristles, from soft to stiff */
static psdm_ref random_bristles(rng *g, psdm_graph *graph, psdm_ref v0, psdm_ref v1, psdm_ref dt) {
  psdm_friction f = {.coulomb = rng_uniform(g, 0.5, 3),
                     .stat = rng_uniform(g, 0.2, 5),
                     .stribeck = rng_int(g, 0, 3) ? rng_uniform(g, 0.05, 1) : 0,
                     .sigma0 = pow(10, rng_uniform(g, 0, 4))};
  return psdm_graph_bristles(graph, &f, v0, v1, dt, psdm_graph_scale(graph, 1e-3, v0));
}

/* values stay tame: quotients and roots of 1 + x^2 only. exponentials: those whose vectors round otherwise too */
static psdm_ref random_operation(rng *g, psdmp_codegen_program *p, const psdm_ref *pool, int count, bool exponentials) {
  psdm_graph *graph = p->graph;
  psdm_ref a = random_value(g, p, pool, count), b = random_value(g, p, pool, count);
  psdm_ref tame = psdm_graph_add(graph, psdm_graph_const(graph, 1), psdm_graph_mul(graph, a, a));
  if (exponentials && rng_int(g, 0, 9) == 0)
    return rng_int(g, 0, 1) ? psdm_graph_tanh(graph, a) : psdm_graph_exp(graph, psdm_ref_neg(tame));
  switch (rng_int(g, 0, 22)) {
    case 0: return psdm_graph_recip(graph, tame);
    case 1: return psdm_graph_sqrt(graph, tame);
    case 2: return psdm_graph_sign(graph, a);
    case 3: return psdm_graph_sin(graph, a);
    case 4: return psdm_graph_cos(graph, b);
    case 5: return psdm_graph_scale(graph, 0.25, a);
    case 20: return psdm_graph_clip(graph, a);
    case 21: return psdm_graph_pow(graph, a, rng_int(g, 0, 5) ? rng_uniform(g, 0, 1) : 0.5);
    case 22: return random_bristles(g, graph, a, b, random_value(g, p, pool, count));
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: return psdm_graph_mul(graph, psdm_graph_scale(graph, 0.5, a), b);
    default: return psdm_graph_add(graph, a, b);
  }
}

static void random_program(rng *g, psdmp_codegen_program *p, bool exponentials, psdm_ref *output) {
  psdm_ref pool[200];
  int count = 0, total = rng_int(g, 10, 150);
  for (int i = 0; i < INPUTS; i++) pool[count++] = input(p, PSDMP_CODEGEN_IN_Q, i);
  for (int i = 0; i < 3; i++) pool[count++] = input(p, PSDMP_CODEGEN_IN_THETA, i);
  pool[count++] = psdm_graph_mul(p->graph, pool[4], pool[5]);
  while (count < total) pool[count] = random_operation(g, p, pool, count, exponentials), count++;
  for (int i = 0; i < OUTPUTS; i++)
    output[i] = i < 2    ? pool[rng_int(g, 0, 7)]
                : i == 2 ? psdm_graph_const(p->graph, -0.75)
                         : random_value(g, p, pool, count);
  set_outputs(p, output, OUTPUTS);
}

/* inputs and the evaluator's answers as hexadecimal numbers */
static void graph_driver(rng *g, const psdmp_codegen_program *p, bool batch) {
  FILE *f = driver(false);
  double *values = calloc((size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK, sizeof *values), out[OUTPUTS];
  double *scratch = calloc(psdm_graph_size(p->graph), sizeof *scratch), theta[3], q[STATES][INPUTS];
  assert_non_null(values);
  assert_non_null(scratch);
  for (int i = 0; i < 3; i++)
    values[PSDMP_CODEGEN_IN_THETA * PSDMP_CODEGEN_BLOCK + i] = theta[i] = rng_uniform(g, -1, 1);
  fprintf(f,
          "int main(void) {\n  const double theta[3] = {%a, %a, %a}, qd[20] = {0};\n  int bad = 0;\n  static const "
          "double want[%d][%d] = {\n",
          theta[0], theta[1], theta[2], STATES, OUTPUTS);
  for (int s = 0; s < STATES; s++) {
    for (int i = 0; i < INPUTS; i++)
      values[PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK + i] = q[s][i] = rng_uniform(g, -2, 2);
    psdm_graph_evaluate(p->graph, values, p->output, p->outputs, scratch, out);
    for (int i = 0; i < OUTPUTS; i++) fprintf(f, "%s%a%s", i ? ", " : "    {", out[i], i + 1 < OUTPUTS ? "" : "},\n");
  }
  fprintf(f, "  };\n  static const double q[%d][%d] = {\n", STATES, INPUTS);
  for (int s = 0; s < STATES; s++)
    for (int i = 0; i < INPUTS; i++) fprintf(f, "%s%a%s", i ? ", " : "    {", q[s][i], i + 1 < INPUTS ? "" : "},\n");
  fprintf(f, "  };\n");
  if (batch)
    fprintf(f, "  for (size_t count = 0; count < 20; count++) {\n    double Q[4*20], QD[2*20] = {0}, X[12*20 + 1];\n   "
               " X[12*count] = 7;\n"
               "    for (size_t i = 0; i < count; i++) for (size_t k = 0; k < 4; k++) Q[k*count + i] = q[i %% 5][k];\n "
               "   hand_pose_batch(count, theta, Q, QD, X);\n"
               "    for (size_t i = 0; i < count; i++) for (size_t k = 0; k < 12; k++) if (X[k*count + i] != want[i %% "
               "5][k]) bad = 1, printf(\"batch of %%d, %%d %%d: %%a, expected %%a\\n\", (int)count, (int)i, (int)k, "
               "X[k*count + i], want[i %% 5][k]);\n    bad |= X[12*count] != 7;\n  }\n");
  fprintf(f, "  for (int s = 0; s < 5; s++) {\n    double X[12];\n    hand_pose(theta, q[s], qd, X);\n"
             "    for (int k = 0; k < 12; k++) if (X[k] != want[s][k]) bad = 1, printf(\"%%d %%d: %%a, expected "
             "%%a\\n\", s, k, X[k], want[s][k]);\n  }\n  return bad;\n}\n");
  fclose(f);
  free(values);
  free(scratch);
}

TEST(test_graphs) {
  rng g = rng_start("emit graphs");
  for (int k = 0; k < 24; k++) {
    psdm_ref output[OUTPUTS];
    bench b;
    bench_open(&b);
    b.code.options.sincos = PSDM_SINCOS_LIBM;
    b.code.options.target = k % 2 ? PSDM_CODE_SIMD : PSDM_CODE_C;
    b.code.options.throughput = k % 4 > 1;
    psdmp_codegen_program *p = add_program(&b, PSDM_F_POSE, "pose", INPUTS);
    random_program(&g, p, k % 2 == 0, output);
    write_code(&b, false);
    graph_driver(&g, p, k % 2);
    assert_int_equal(run(k % 3 ? "-O1 -march=native -ffp-contract=off" : "-O2 -ffp-contract=off"), 0);
    bench_close(&b);
  }
}

/* ---- exponentials on vectors ---- */

/* 10^6 numbers of every size, in units in the last place (float: beside the long double of the same number) */
static void exponential_driver(bool single) {
  FILE *f = driver(single);
  fprintf(f,
          "static double u(void) { static unsigned long long s = 1; s = s*6364136223846793005ULL + "
          "1442695040888963407ULL; return (double)(s >> 11)*0x1p-53; }\n"
          "int main(void) {\n  enum { K = 64 };\n  const real theta[3] = {0};\n  static real q[2*K], qd[2*K], "
          "X[2*K];\n  double worst[2] = {0, 0};\n"
          "  for (int n = 0; n < 16000; n++) {\n    for (int i = 0; i < K; i++) {\n"
          "      const double x = pow(10, 12*u() - 10);\n      q[i] = (real)(n %% 3 ? -x : x < %s ? x : u());\n      "
          "q[K + i] = (real)(u() < 0.5 ? -x : x);\n    }\n"
          "    hand_pose_batch(K, theta, q, qd, X);\n    for (int i = 0; i < 2*K; i++) {\n"
          "      const long double y = i < K ? expl((long double)q[i]) : tanhl((long double)q[i]);\n"
          "      if (i < K && (double)y < %s) continue;\n"
          "      const double unit = ldexp(1, ilogb((double)y) - %d), d = (double)fabsl((long double)X[i] - y)/unit;\n"
          "      if (!(d <= worst[i/K])) worst[i/K] = d;\n    }\n  }\n"
          "  printf(\"%s: exp %%.3g, tanh %%.3g units\\n\", worst[0], worst[1]);\n  int bad = !(worst[0] < 1.2) || "
          "!(worst[1] < 3);\n"
          "  const real odd[] = {0, -(real)1e30, -(real)INFINITY, (real)NAN};\n  for (int i = 0; i < K; i++) q[i] = "
          "odd[i %% 4], q[K + i] = i < 32 ? odd[i %% 4] : -odd[i %% 4];\n"
          "  hand_pose_batch(K, theta, q, qd, X);\n  for (int i = 0; i < K; i++) {\n    const int k = i %% 4;\n"
          "    const double e = (double)X[i], t = (double)X[K + i], way = i < 32 ? 1 : -1;\n"
          "    bad |= k == 0 ? !(e == 1 && t == 0) : k < 3 ? !(e >= 0 && e < 1e-37 && t == -way) : !(e != e && t != "
          "t);\n  }\n  return bad;\n}\n",
          single ? "80" : "700", single ? "1e-35" : "1e-300", single ? 23 : 52, single ? "float" : "double");
  fclose(f);
}

TEST(test_exponentials) {
  for (int k = 0; k < 4; k++) {
    psdm_ref output[2];
    bench b;
    bench_open(&b);
    b.code.options.target = PSDM_CODE_SIMD;
    psdmp_codegen_program *p = add_program(&b, PSDM_F_POSE, "pose", 2);
    output[0] = psdm_graph_exp(p->graph, input(p, PSDMP_CODEGEN_IN_Q, 0));
    output[1] = psdm_graph_tanh(p->graph, input(p, PSDMP_CODEGEN_IN_Q, 1));
    set_outputs(p, output, 2);
    write_code(&b, k % 2);
    exponential_driver(k % 2);
    assert_int_equal(run(flag_sets[k / 2]), 0);
    bench_close(&b);
  }
}

/* ---- numbers ---- */

TEST(test_literals) {
  static const struct {
    double value;
    const char *in_double, *in_float;
  } cases[] = {{1, "1.0", "1.0f"},
               {0.1, "0.1", "0.1f"},
               {1e-5, "1e-05", "1e-05f"},
               {1.0 / 3, "0.33333333333333331", "0.33333334f"},
               {100000, "100000.0", "1e+05f"},
               {0, "0.0", "0.0f"},
               {1e300, "1e+300", NULL},
               {16777216, "16777216.0", "16777216.0f"}};
  psdmp_emit_writer e = {0};
  char text[40];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int single = 0; single < 2; single++) {
      const char *want = single ? cases[i].in_float : cases[i].in_double;
      e.single = single;
      if (want && strcmp(psdmp_emit_literal(&e, cases[i].value, text), want) != 0)
        fail_msg("%.17g is %s, expected %s", cases[i].value, text, want);
    }
}

/* ---- whole folders ---- */

static const char hostile[] =
    "name: \"*/ int evil; /* \\\\ ?\?/ \\x01 \\xe9\"\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: \"a "
    "*/\", a: 0.5}\n  - {name: \"// b\", a: 0.4}\n"
    "links:\n  - {name: \"*/*/\", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  - {name: \"\\\\\", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n";

static int make_check(const char *flags) {
  char command[512];
  snprintf(command, sizeof command,
           "make -s -C %s/out CFLAGS='-std=c99 -O1 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror %s' clean "
           "check > %s/log 2>&1 || { cat %s/log; exit 1; }",
           own_folder, flags, own_folder, own_folder);
  return system(command);
}

static void write_robot(psdm_robot *robot, psdm_code_options options) {
  options.effort = -1; /* any code will do */
  char path[128];
  psdm_code *code;
  psdm_error error;
  snprintf(path, sizeof path, "%s/out", own_folder);
  if (psdm_code_build(robot, &options, NULL, &code, &error)) fail_msg("%s", error.text);
  if (psdm_code_write(code, path, &error)) fail_msg("%s", error.text);
  psdm_code_free(code);
}

static void clear_out(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s/out", own_folder);
  assert_int_equal(system(command), 0);
}

TEST(test_hostile_names) {
  psdm_robot *robot = parse_robot(hostile);
  clear_out();
  write_robot(robot, (psdm_code_options){
                         .target = PSDM_CODE_SIMD, .command = "psdm codegen '*/' \\\n int evil;", .prefix = "arm"});
  assert_int_equal(make_check(""), 0);
  write_robot(robot, (psdm_code_options){.functions = 1});
  psdm_robot_free(robot);
}

/* random trees, coupled and sliding joints, every switch */
TEST(test_random_robots) {
  static char text[1 << 16];
  rng g = rng_start("emit robots");
  for (int k = 0; k < 6; k++) {
    random_options what = {
        .n_min = 1, .n_max = 4, .coupled = k % 3 == 2, .trees = true, .prismatic = true, .drives = true};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &what, text, sizeof text));
    psdm_code_options options = {.target = k % 2 ? PSDM_CODE_SIMD : PSDM_CODE_C,
                                 .sincos = (psdm_code_sincos)(k % 3),
                                 .theta_argument = k % 4 > 1,
                                 .payload_argument = k % 4 == 1,
                                 .wrench_argument = k % 4 == 1,
                                 .friction_columns = k % 2,
                                 .drive_columns = k % 3 == 0,
                                 .throughput = k % 2,
                                 .prefix = "arm"};
    clear_out();
    write_robot(robot, options);
    assert_int_equal(make_check("-march=native -ffp-contract=fast"), 0);
    psdm_robot_free(robot);
  }
}

TEST(test_failures) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_code_options options = {
      .functions = 1 << PSDM_F_GRAVITY | 1 << PSDM_F_FORWARD, .prefix = "arm", .target = PSDM_CODE_SIMD};
  counting memory;
  psdm_code *code;
  psdm_error error;
  char path[128];
  clear_out();
  counting_init(&memory, 0);
  assert_int_equal(psdm_code_build(robot, &options, &memory.allocator, &code, &error), PSDM_OK);
  snprintf(path, sizeof path, "%s/out/deep/er", own_folder);
  psdm_status status = PSDM_E_MEMORY;
  long before = memory.live;
  for (long k = 1; status && k < 10000; k++) {
    memory.fail_at = memory.calls + k;
    status = psdm_code_write(code, path, &error);
    if (status) assert_int_equal(status, PSDM_E_MEMORY);
    assert_int_equal(memory.live, before);
  }
  assert_int_equal(status, PSDM_OK);
  memory.fail_at = 0;
  assert_int_equal(psdm_code_write(code, "/dev/null/x", &error), PSDM_E_IO);
  snprintf(path, sizeof path, "%s/out/deep/er/arm.c", own_folder);
  assert_int_equal(psdm_code_write(code, path, &error), PSDM_E_IO);
  assert_non_null(strstr(error.text, "not a directory"));
  assert_int_equal(psdm_code_write(code, "", &error), PSDM_E_ARGUMENT);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

TEST_MAIN_IN(folder_make, folder_remove, test_literals, test_sincos, test_graphs, test_hostile_names,
             test_random_robots, test_failures, test_exponentials)
