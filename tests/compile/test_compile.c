/* Compiled code against the recursions; the cache and attempts to misuse it; the graph if there is no compiler. */
#define _GNU_SOURCE /* mkdtemp, setenv, nftw */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/compile.h"
#include "leave.h"
#include "support.h"

enum { STATES = 7, MOST = 40, ROOM = 4096 };

static char cache[96];

static const unsigned everything = (2u << PSDM_F_POSE) - 1; /* what psdm_eval has, too */

/* ---- objects ---- */

static psdm_code *build(const psdm_robot *robot, psdm_code_options options) {
  options.effort = -1; /* any code will do */
  psdm_code *code;
  psdm_error error;
  char text[900];
  if (psdm_code_build(robot, &options, NULL, &code, &error))
    fail_msg("%s", psdm_error_format(&error, text, sizeof text));
  return code;
}

static psdm_compiled *compile(const psdm_code *code, psdm_compile_options options) {
  psdm_compiled *c;
  psdm_error error;
  char text[900];
  if (!options.cache) options.cache = cache;
  if (psdm_compile(code, &options, NULL, &c, &error)) fail_msg("%s", psdm_error_format(&error, text, sizeof text));
  return c;
}

/* ---- comparison with the recursions ---- */

typedef struct truth {
  const psdm_robot *robot;
  const psdm_model *model;
  psdm_work *work;
  double *scratch;
  double q[STATES][MOST], qd[STATES][MOST], qdd[STATES][MOST], tau[STATES][MOST];
} truth;

static void truth_init(truth *t, const psdm_robot *robot, const psdm_model *model) {
  rng g = {12345};
  int n = psdm_robot_n(robot);
  *t = (truth){.robot = robot, .model = model};
  assert_int_equal(psdm_work_new(robot, NULL, &t->work), PSDM_OK);
  t->scratch = calloc(psdm_eval_scratch(robot, model) + 1, sizeof(double));
  for (int s = 0; s < STATES; s++) {
    for (int i = 0; i < n; i++)
      t->q[s][i] = rng_uniform(&g, -3, 3), t->qd[s][i] = rng_uniform(&g, -2, 2), t->qdd[s][i] = rng_uniform(&g, -4, 4);
    assert_int_equal(psdm_inverse(robot, t->work, t->q[s], t->qd[s], t->qdd[s], t->tau[s]), PSDM_OK);
  }
}

static void truth_free(truth *t) {
  psdm_work_free(t->work, NULL);
  free(t->scratch);
}

/* the expected values of a function at a state; forward: the accelerations from which the torques were made */
static int expected(truth *t, psdm_function f, int s, double *out) {
  int n = psdm_robot_n(t->robot);
  psdm_function e;
  psdm_eval_options options = {.model = t->model, .scratch = t->scratch};
  double in[3 * MOST];
  if (f == PSDM_F_FORWARD) return memcpy(out, t->qdd[s], sizeof *out * (size_t)n), n;
  assert_true(psdm_function_find(psdm_function_name(f), &e));
  memcpy(in, t->q[s], sizeof *in * (size_t)n);
  memcpy(in + n, t->qd[s], sizeof *in * (size_t)n);
  memcpy(in + 2 * n, t->qdd[s], sizeof *in * (size_t)n);
  assert_int_equal(psdm_eval(t->robot, t->work, e, &options, in, out), PSDM_OK);
  return psdm_eval_outputs(t->robot, e, &options);
}

/* accelerations are judged by their torques, the potential from the first state on */
static double error_of(truth *t, psdm_function f, int s, const double *got, const double *first) {
  double want[ROOM], zero[2], scale, worst = 0, M[MOST * MOST];
  int n = psdm_robot_n(t->robot), count = expected(t, f, s, want);
  if (f == PSDM_F_FORWARD) {
    assert_int_equal(psdm_mass(t->robot, t->work, t->q[s], M), PSDM_OK);
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += M[i * n + j] * (got[j] - want[j]);
      worst = fmax(worst, fabs(sum));
    }
    return worst / fmax(1, max_absolute(t->tau[s], n));
  }
  scale = fmax(1e-3, max_absolute(want, count));
  if (f != PSDM_F_ENERGY) return max_difference(got, want, count) / scale;
  expected(t, f, 0, zero);
  return fmax(fabs(got[0] - want[0]), fabs(got[1] - first[1] - want[1] + zero[1])) / scale;
}

/* an argument of a state, by its name; in the code's precision */
static void fill(truth *t, const char *name, const double *theta, int s, bool single, int length, void *to) {
  const double *from = strcmp(name, "theta") == 0 ? theta
                       : strcmp(name, "q") == 0   ? t->q[s]
                       : strcmp(name, "qd") == 0  ? t->qd[s]
                       : strcmp(name, "qdd") == 0 ? t->qdd[s]
                                                  : t->tau[s];
  for (int i = 0; i < length; i++)
    single ? (void)(((float *)to)[i] = (float)from[i]) : (void)(((double *)to)[i] = from[i]);
}

static void widen(const void *from, bool single, int count, double *to) {
  for (int i = 0; i < count; i++) to[i] = single ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static double check_function(truth *t, const psdm_compiled *c, psdm_function f, const double *theta, bool single) {
  static double arguments[PSDMP_CODEGEN_IN_COUNT][ROOM], result[ROOM], got[ROOM], first[ROOM];
  double *scratch = calloc(psdm_compiled_scratch(c) + 1, sizeof *scratch), worst = 0;
  int length, count = psdm_compiled_arguments(c, f);
  const void *in[PSDMP_CODEGEN_IN_COUNT];
  void *out[] = {result};
  assert_true(count > 0);
  assert_int_equal(psdm_compiled_results(c, f), 1);
  for (int s = 0; s < STATES; s++) {
    for (int k = 0; k < count; k++) {
      const char *name = psdm_compiled_argument(c, f, k, &length);
      fill(t, name, theta, s, single, length, arguments[k]);
      in[k] = arguments[k];
    }
    assert_int_equal(psdm_compiled_call(c, f, in, out, psdm_compiled_scratch(c) ? scratch : NULL), PSDM_OK);
    assert_non_null(psdm_compiled_result(c, f, 0, &length));
    widen(result, single, length, got);
    if (s == 0) memcpy(first, got, sizeof got);
    double error = error_of(t, f, s, got, first);
    if (!(error <= worst)) worst = error;
  }
  free(scratch);
  return worst;
}

/* the batch against single calls, to the last bit or nearly */
static void check_batch(truth *t, const psdm_compiled *c, psdm_function f, const double *theta) {
  static double one[PSDMP_CODEGEN_IN_COUNT][ROOM], many[PSDMP_CODEGEN_IN_COUNT][ROOM], result[ROOM], all[STATES * ROOM];
  double *scratch = calloc(psdm_compiled_scratch(c) + 1, sizeof *scratch);
  const void *in[PSDMP_CODEGEN_IN_COUNT], *batch[PSDMP_CODEGEN_IN_COUNT];
  void *out[] = {result}, *outs[] = {all};
  int length, count = psdm_compiled_arguments(c, f);
  for (int pass = 0; pass < 2; pass++)
    for (int s = 0; s < STATES; s++) {
      for (int k = 0; k < count; k++) {
        const char *name = psdm_compiled_argument(c, f, k, &length);
        bool shared = strcmp(name, "theta") == 0;
        fill(t, name, theta, s, false, length, one[k]);
        in[k] = one[k], batch[k] = many[k];
        for (int i = 0; i < length; i++) many[k][shared ? i : i * STATES + s] = one[k][i];
      }
      if (!pass) continue;
      if (s == 0) assert_int_equal(psdm_compiled_batch(c, f, STATES, batch, outs, scratch), PSDM_OK);
      assert_int_equal(psdm_compiled_call(c, f, in, out, scratch), PSDM_OK);
      psdm_compiled_result(c, f, 0, &length);
      for (int i = 0; i < length; i++)
        assert_true(fabs(all[i * STATES + s] - result[i]) <= 1e-12 * (1 + max_absolute(result, length)));
    }
  free(scratch);
}

static double check(truth *t, const psdm_compiled *c, const psdm_code *code, double tolerance) {
  double worst = 0;
  for (int f = 0; f <= PSDM_F_POSE; f++) {
    if (psdm_compiled_arguments(c, (psdm_function)f) < 0) continue;
    double error = check_function(t, c, (psdm_function)f, code->theta, code->options.real_float);
    if (!(error <= tolerance))
      fail_msg("%s: %s is off by %g", psdm_robot_name(t->robot), psdm_function_name((psdm_function)f), error);
    worst = fmax(worst, error);
    if (code->options.target == PSDM_CODE_SIMD && !code->options.real_float)
      check_batch(t, c, (psdm_function)f, code->theta);
  }
  return worst;
}

/* ---- the tests ---- */

static const char *const ready_robots[] = {"two_link",      "fanuc_sr6ia", "kuka_kr6",   "kuka_lbr7", "puma560",
                                           "parallelogram", "hitachi_hpr", "two_branch", NULL};

/* native and by the graph; the second time from the cache; all functions of small robots, whose code compiles
 * quickly */
TEST(shipped) {
  const unsigned some = 1u << PSDM_F_INVERSE | 1u << PSDM_F_FORWARD | 1u << PSDM_F_ENERGY;
  for (int r = 0; ready_robots[r]; r++) {
    psdm_robot *robot = load_shipped(ready_robots[r]);
    psdm_code *code = build(robot, (psdm_code_options){.functions = psdm_robot_n(robot) <= 4 ? everything : some,
                                                       .method = PSDM_CODE_RECURSIVE,
                                                       .target = PSDM_CODE_SIMD});
    truth t;
    truth_init(&t, robot, code->model);
    for (int pass = 0; pass < 3; pass++) {
      psdm_compiled *c = compile(code, (psdm_compile_options){.graph = pass == 2, .flags = "-O1"});
      const psdm_compile_info *info = psdm_compiled_info(c);
      assert_string_equal(info->reason, "");
      assert_int_equal(info->native, pass < 2);
      assert_int_equal(info->cached, pass == 1);
      size_t bytes;
      assert_int_equal(psdm_compiled_symbol(c, PSDM_F_INVERSE, true, &bytes) != NULL, pass < 2);
      assert_int_equal(bytes > 0, pass < 2);
      double worst = check(&t, c, code, 1e-13);
      printf("%-14s %-8s worst error %.1e, %.3f s\n", ready_robots[r],
             pass == 2 ? "graph"
             : pass    ? "cached"
                       : "compiled",
             worst, info->seconds);
      psdm_compiled_free(c);
    }
    truth_free(&t);
    psdm_code_free(code);
    psdm_robot_free(robot);
  }
}

/* float, and parameters as an argument, both at the standard flags */
TEST(variants) {
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  const unsigned some = 1u << PSDM_F_INVERSE | 1u << PSDM_F_MASS | 1u << PSDM_F_FORWARD;
  for (int k = 0; k < 4; k++) {
    psdm_code *code = build(
        robot, (psdm_code_options){
                   .functions = some, .method = PSDM_CODE_RECURSIVE, .real_float = k & 1, .theta_argument = k >> 1});
    truth t;
    truth_init(&t, robot, code->model);
    for (int graph = 0; graph < 2; graph++) {
      psdm_compiled *c = compile(code, (psdm_compile_options){.graph = graph});
      assert_int_equal(psdm_compiled_info(c)->native, !graph);
      check(&t, c, code, k & 1 ? 2e-5 : 1e-13);
      assert_int_equal(psdm_compiled_batch(c, PSDM_F_INVERSE, 1, NULL, NULL, NULL), PSDM_E_ARGUMENT);
      assert_int_equal(psdm_compiled_call(c, PSDM_F_POSE, NULL, NULL, NULL), PSDM_E_ARGUMENT);
      if (graph) assert_int_equal(psdm_compiled_call(c, PSDM_F_INVERSE, NULL, NULL, NULL), PSDM_E_ARGUMENT);
      assert_int_equal(psdm_compiled_arguments(c, PSDM_F_POSE), -1);
      assert_null(psdm_compiled_symbol(c, PSDM_F_POSE, false, NULL));
      psdm_compiled_free(c);
    }
    truth_free(&t);
    psdm_code_free(code);
  }
  psdm_robot_free(robot);
}

/* two at a time, of different robots, each keeps its own */
TEST(side_by_side) {
  psdm_robot *robot[2] = {load_shipped("two_link"), load_shipped("fanuc_sr6ia")};
  psdm_code *code[2];
  psdm_compiled *c[2][2];
  truth t[2];
  for (int k = 0; k < 2; k++) {
    code[k] = build(robot[k], (psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .prefix = "arm"});
    truth_init(&t[k], robot[k], code[k]->model);
    for (int i = 0; i < 2; i++) c[k][i] = compile(code[k], (psdm_compile_options){.flags = "-O1"});
  }
  psdm_compiled_free(c[0][1]);
  check(&t[0], c[0][0], code[0], 1e-13);
  check(&t[1], c[1][0], code[1], 1e-13);
  psdm_compiled_free(c[0][0]);
  check(&t[1], c[1][1], code[1], 1e-13);
  psdm_compiled_free(c[1][0]);
  psdm_compiled_free(c[1][1]);
  for (int k = 0; k < 2; k++) {
    truth_free(&t[k]);
    psdm_code_free(code[k]);
    psdm_robot_free(robot[k]);
  }
}

/* ---- compilers that are missing, fail, or cheat ---- */

static void write_text(const char *path, const char *text, mode_t mode) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  chmod(path, mode);
}

TEST(bad_compilers) {
  char liar[128], silent[128], loud[128], error_text[900];
  psdm_robot *robot = load_shipped("two_link");
  psdm_code *code = build(robot, (psdm_code_options){.functions = 1u << PSDM_F_INVERSE});
  truth t;
  truth_init(&t, robot, code->model);
  snprintf(liar, sizeof liar, "%s/liar", own_folder);
  snprintf(silent, sizeof silent, "%s/silent", own_folder);
  snprintf(loud, sizeof loud, "%s/loud", own_folder);
  write_text(liar, "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho nonsense > \"$2\"\n", 0700);
  write_text(silent, "#!/bin/sh\nexit 0\n", 0700);
  write_text(loud, "#!/bin/sh\necho noise\nprintf 'error: \\033[31mno\\n' >&2\nexit 3\n", 0700);
  const struct {
    const char *compiler, *words;
  } cases[] = {{"/nonexistent/cc", "'/nonexistent/cc' was not found"},
               {"no-such-compiler -m64", "'no-such-compiler' was not found"},
               {" ", "not a valid compiler name"},
               {liar, "cannot be loaded"},
               {silent, "wrote no object"},
               {loud, "the compiler failed (3): error: \\x1b[31mno"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_compiled *c = compile(code, (psdm_compile_options){.compiler = cases[k].compiler});
    const psdm_compile_info *info = psdm_compiled_info(c);
    assert_false(info->native || info->stored);
    assert_int_equal(info->status, PSDM_E_COMPILER);
    if (!strstr(info->reason, cases[k].words)) fail_msg("'%s' lacks '%s'", info->reason, cases[k].words);
    check(&t, c, code, 1e-13);
    psdm_compiled_free(c);
    psdm_error error;
    psdm_compile_options must = {.compiler = cases[k].compiler, .cache = cache, .native = true};
    assert_int_equal(psdm_compile(code, &must, NULL, &c, &error), PSDM_E_COMPILER);
    assert_null(c);
    assert_non_null(strstr(psdm_error_format(&error, error_text, sizeof error_text), cases[k].words));
  }
  /* by the environment */
  char *saved = getenv("CC") ? strdup(getenv("CC")) : NULL;
  setenv("CC", "/nonexistent/cc", 1);
  psdm_compiled *c = compile(code, (psdm_compile_options){0});
  assert_false(psdm_compiled_info(c)->native);
  psdm_compiled_free(c);
  saved ? setenv("CC", saved, 1) : unsetenv("CC");
  free(saved);
  truth_free(&t);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

/* a compiler that counts its runs; arguments after its name reach it */
static void write_wrapper(const char *path, const char *count, const char *comment) {
  char text[512];
  snprintf(text, sizeof text, "#!/bin/sh\n# %s\n[ \"$1\" = -DEXTRA ] && printf x >> '%s'\nexec %s \"$@\"\n", comment,
           count, getenv("CC") ? getenv("CC") : "cc");
  write_text(path, text, 0700);
}

/* once for each compiler, and another one under the same name is another one */
TEST(runs_once) {
  char wrapper[128], command[160], count[128];
  struct stat info;
  psdm_robot *robot = load_shipped("two_link");
  psdm_code *code = build(robot, (psdm_code_options){.functions = 1u << PSDM_F_INVERSE});
  snprintf(wrapper, sizeof wrapper, "%s/wrapper", own_folder);
  snprintf(command, sizeof command, "  %s  -DEXTRA ", wrapper);
  snprintf(count, sizeof count, "%s/count", own_folder);
  for (int k = 0; k < 4; k++) {
    if (k == 0) write_wrapper(wrapper, count, "first");
    if (k == 3) write_wrapper(wrapper, count, "the other");
    psdm_compiled *c = compile(code, (psdm_compile_options){.compiler = command, .flags = "-O1"});
    assert_true(psdm_compiled_info(c)->native);
    assert_int_equal(psdm_compiled_info(c)->cached, k == 1 || k == 2);
    assert_string_equal(psdm_compiled_info(c)->compiler, wrapper);
    psdm_compiled_free(c);
  }
  assert_int_equal(stat(count, &info), 0);
  assert_int_equal(info.st_size, 2);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

/* ---- a cache that others changed ---- */

typedef struct cached {
  psdm_robot *robot;
  psdm_code *code;
  truth t;
  char path[128], file[256];
} cached;

static void cached_init(cached *k, const char *name) {
  k->robot = load_shipped("two_link");
  k->code = build(k->robot, (psdm_code_options){.functions = 1u << PSDM_F_INVERSE});
  truth_init(&k->t, k->robot, k->code->model);
  snprintf(k->path, sizeof k->path, "%s/%s", own_folder, name);
}

static void cached_free(cached *k) {
  truth_free(&k->t);
  psdm_code_free(k->code);
  psdm_robot_free(k->robot);
}

/* compiles, checks the numbers and the messages, and remembers the file */
static void cached_compile(cached *k, bool from_cache, bool stored, const char *words) {
  psdm_compiled *c = compile(k->code, (psdm_compile_options){.cache = k->path, .flags = "-O1"});
  const psdm_compile_info *info = psdm_compiled_info(c);
  assert_true(info->native);
  if (info->cached != from_cache || info->stored != stored)
    fail_msg("cached %d, stored %d: %s", info->cached, info->stored, info->reason);
  if (!strstr(info->reason, words) || (!words[0] && info->reason[0])) fail_msg("'%s' lacks '%s'", info->reason, words);
  check(&k->t, c, k->code, 1e-13);
  snprintf(k->file, sizeof k->file, "%s/%s.so", k->path, info->key);
  psdm_compiled_free(c);
}

TEST(hostile_folder) {
  cached k;
  char other[128];
  struct stat info;
  cached_init(&k, "deep/er/folder");
  cached_compile(&k, false, true, "");
  assert_int_equal(stat(k.path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
  cached_compile(&k, true, true, "");
  for (int mode = 0; mode < 2; mode++) {
    chmod(k.path, mode ? 0702 : 0720);
    cached_compile(&k, false, false, "others may write to it");
  }
  chmod(k.path, 0755);
  cached_compile(&k, true, true, "");
  /* a link to a good folder, with and without / behind it */
  snprintf(other, sizeof other, "%s/link", own_folder);
  assert_int_equal(symlink(k.path, other), 0);
  strcpy(k.path, other);
  cached_compile(&k, false, false, "it is a link");
  strcat(k.path, "//");
  cached_compile(&k, false, false, "it is a link");
  snprintf(k.path, sizeof k.path, "%s/file", own_folder);
  write_text(k.path, "", 0600);
  cached_compile(&k, false, false, "it is a link, or not a folder");
  snprintf(k.path, sizeof k.path, "%s/foreign", own_folder);
  if (geteuid() == 0) {
    mkdir(k.path, 0700);
    assert_int_equal(chown(k.path, 12345, 12345), 0);
    cached_compile(&k, false, false, "belongs to another user");
  }
  /* no hash at all */
  k.path[0] = '\0';
  cached_compile(&k, false, false, "");
  cached_free(&k);
}

static void overwrite(const char *path, long offset, int whence) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  fseek(file, offset, whence);
  int byte = fgetc(file);
  fseek(file, offset, whence);
  fputc(byte ^ 1, file);
  fclose(file);
}

TEST(hostile_file) {
  cached k;
  char moved[300];
  struct stat info;
  cached_init(&k, "files");
  cached_compile(&k, false, true, "");
  assert_int_equal(stat(k.file, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  snprintf(moved, sizeof moved, "%s.moved", k.file);
  for (int what = 0; what < 9; what++) {
    const char *words = "its content has changed since it was stored";
    if (what == 0) overwrite(k.file, 5000, SEEK_SET); /* in the code */
    if (what == 1) overwrite(k.file, -1, SEEK_END);   /* in the hash */
    if (what == 2) assert_int_equal(truncate(k.file, info.st_size / 2), 0);
    if (what == 3) assert_int_equal(truncate(k.file, 0), 0), words = "it is incomplete";
    if (what == 4) chmod(k.file, 0620), words = "others may write to it";
    if (what == 5) assert_int_equal(link(k.file, moved), 0), words = "it has other names";
    if (what == 6)
      assert_int_equal(rename(k.file, moved), 0), assert_int_equal(symlink(moved, k.file), 0), words = "it is a link";
    if (what == 7) unlink(k.file), assert_int_equal(mkfifo(k.file, 0600), 0), words = "it is not a regular file";
    if (what == 8 && geteuid() != 0) continue;
    if (what == 8) assert_int_equal(chown(k.file, 12345, 12345), 0), words = "belongs to another user";
    cached_compile(&k, false, true, words);
    unlink(moved);
    cached_compile(&k, true, true, "");
  }
  cached_free(&k);
}

/* an object of another key under this key's name, complete and ours */
TEST(swapped_file) {
  cached k;
  char other[256];
  cached_init(&k, "swapped");
  cached_compile(&k, false, true, "");
  strcpy(other, k.file);
  psdm_code_free(k.code);
  k.code = build(
      k.robot, (psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .throughput = true, .sincos = PSDM_SINCOS_LIBM});
  cached_compile(&k, false, true, "");
  assert_string_not_equal(other, k.file);
  assert_int_equal(rename(other, k.file), 0);
  cached_compile(&k, false, true, "its content has changed since it was stored");
  cached_free(&k);
}

/* many processes at once */
TEST(crowd) {
  enum { PROCESSES = 6 };
  cached k;
  pid_t child[PROCESSES];
  cached_init(&k, "crowd");
  for (int i = 0; i < PROCESSES; i++) {
    child[i] = fork();
    if (child[i]) continue;
    psdm_compiled *c;
    psdm_compile_options options = {.cache = k.path, .flags = "-O1", .native = true};
    bool good = psdm_compile(k.code, &options, NULL, &c, NULL) == PSDM_OK &&
                check_function(&k.t, c, PSDM_F_INVERSE, NULL, false) <= 1e-13 && psdm_compiled_info(c)->stored;
    leave(!good);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    assert_int_equal(waitpid(child[i], &status, 0), child[i]);
    assert_int_equal(status, 0);
  }
  cached_compile(&k, true, true, "");
  cached_free(&k);
}

/* ---- names ---- */

TEST(odd_names) {
  static const char *const names[] = {"'*/ #error out'",
                                      "\"a\\\"b\\n#error out\\\\\"",
                                      "\"$(touch x) `id` ; rm -rf ~\"",
                                      "'?\?/'",
                                      "\"\\u00e4 // \\u2028\"",
                                      "'%s%n%s'",
                                      "'int'",
                                      "unit"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char text[900];
    snprintf(text, sizeof text,
             "name: %s\nconvention: dh\njoints:\n  - {name: %s, a: 0.5}\nlinks:\n  - {name: %s, mass: 1, com: [0.1, 0, "
             "0], inertia: {xx: 1, yy: 1, zz: 1}}\n",
             names[k], names[k], names[k]);
    psdm_robot *robot = parse_robot(text);
    psdm_code *code = build(robot, (psdm_code_options){.command = "a */ #error\n\\"});
    truth t;
    truth_init(&t, robot, code->model);
    psdm_compiled *c = compile(code, (psdm_compile_options){.flags = "-O0"});
    if (!psdm_compiled_info(c)->native) fail_msg("%s: %s", names[k], psdm_compiled_info(c)->reason);
    check(&t, c, code, 1e-13);
    psdm_compiled_free(c);
    truth_free(&t);
    psdm_code_free(code);
    psdm_robot_free(robot);
  }
}

/* ---- memory, and leftover files ---- */

TEST(every_allocation_fails) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_code *code = build(robot, (psdm_code_options){.functions = 1u << PSDM_F_INVERSE});
  for (int graph = 0; graph < 2; graph++) {
    psdm_compile_options options = {.cache = cache, .graph = graph, .flags = "-O1"};
    psdm_compiled_free(compile(code, options));
    for (long n = 1;; n++) {
      counting count;
      psdm_compiled *c;
      psdm_error error = {0};
      counting_init(&count, n);
      psdm_status status = psdm_compile(code, &options, &count.allocator, &c, &error);
      if (!status) {
        psdm_compiled_free(c);
        assert_int_equal(count.live, 0);
        if (count.calls < n) break;
        continue; /* an argument for the compiler did not fit in memory: the graph was used */
      }
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_null(c);
      assert_int_equal(count.live, 0);
    }
  }
  psdm_code_free(code);
  psdm_robot_free(robot);
}

static int seen;
static int count_entry(const char *path, const struct stat *info, int kind, struct FTW *ftw) {
  (void)info, (void)kind, (void)ftw;
  if (strstr(path, "/psdm-") || strstr(path, ".part-")) seen++, printf("left over: %s\n", path);
  return 0;
}

TEST(no_files_are_left) {
  nftw(own_folder, count_entry, 8, FTW_PHYS);
  assert_int_equal(seen, 0);
}

static int set_up(void **state) {
  if (folder_make(state)) return -1;
  snprintf(cache, sizeof cache, "%s/cache", own_folder);
  setenv("TMPDIR", own_folder, 1);
  return 0;
}

TEST_MAIN_IN(set_up, folder_remove, shipped, variants, side_by_side, bad_compilers, runs_once, hostile_folder,
             hostile_file, swapped_file, crowd, odd_names, every_allocation_fails, no_files_are_left)
