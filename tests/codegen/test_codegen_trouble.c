/* test_codegen_trouble.c: system calls fail wherever code is written, compiled, loaded, and kept in the cache. The
 * graph takes the place of machine code; where only machine code will do, it is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/monte.h"
#include "psdm/compile.h"
#include "trouble.h"

static const char pendulum[] = "name: one\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, a: "
                               "0.5}\nlinks:\n  - {mass: 2, com: [0, 0, 0], inertia: {zz: 0.15}}\n";

static const psdm_status no_compiler[] = {PSDM_E_COMPILER, PSDM_OK};

typedef struct job {
  const psdm_code *code;
  const char *cache;
  bool native, fresh; /* fresh: what the cache has is forgotten first */
} job;

static void empty_folder(void) {
  strike_pause(true);
  folder_empty();
  strike_pause(false);
}

/* m g 0.5 at rest: whoever computes it */
static void weigh(const psdm_compiled *c) {
  double q = 0, tau = 0, *scratch = malloc(sizeof *scratch * (psdm_compiled_scratch(c) + 1));
  assert_non_null(scratch);
  assert_int_equal(psdm_compiled_call(c, PSDM_F_GRAVITY, (const void *const[]){&q}, (void *const[]){&tau}, scratch),
                   PSDM_OK);
  assert_true(fabs(tau - 9.81) < 1e-14 * 9.81 * 10);
  free(scratch);
}

static psdm_status try_compile(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const job *j = what;
  psdm_compiled *compiled = (psdm_compiled *)&compiled;
  if (j->fresh) empty_folder();
  psdm_status status =
      psdm_compile(j->code, &(psdm_compile_options){.compiler = "cc -O0", .cache = j->cache, .native = j->native},
                   allocator, &compiled, error);
  if (status) assert_null(compiled);
  if (!status) weigh(compiled);
  if (!status && j->native) assert_true(psdm_compiled_info(compiled)->native);
  psdm_compiled_free(compiled);
  return status;
}

static psdm_status try_write(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  (void)allocator;
  char path[96];
  empty_folder();
  snprintf(path, sizeof path, "%s/code", own_folder);
  return psdm_code_write(what, path, error);
}

TEST(machine_code) {
  psdm_robot *robot = parse_robot(pendulum);
  psdm_code *code;
  assert_int_equal(
      psdm_code_build(
          robot, &(psdm_code_options){.functions = 1u << PSDM_F_GRAVITY, .method = PSDM_CODE_RECURSIVE, .effort = -1},
          NULL, &code, NULL),
      PSDM_OK);
  assert_true(trouble_everywhere("written", try_write, code, NULL) > 3);
  empty_folder();
  assert_true(trouble_everywhere("compiled", try_compile, &(job){code, own_folder, true, true}, no_compiler) > 20);
  trouble_everywhere("from the cache", try_compile, &(job){code, own_folder, true, false}, no_compiler);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

TEST_MAIN_IN(folder_make, folder_remove, machine_code)
