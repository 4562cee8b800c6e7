/* States in any layout through psdm_compiled_rows, against one call for each state: machine code and graph, double
 * and float, every function. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "support.h"

enum { MOST_STATES = 70, SLOTS = PSDMP_CODEGEN_IN_COUNT + 3 };

static const double untouched = -123456.75; /* exact in float */

/* one argument or result of all states, somewhere in a larger memory */
typedef struct sheet {
  int length;
  size_t room;
  unsigned char *memory;
  psdm_strided at;
} sheet;

static double read_number(const void *data, ptrdiff_t at, bool single) {
  return single ? ((const float *)data)[at] : ((const double *)data)[at];
}

static void write_number(void *data, ptrdiff_t at, bool single, double value) {
  if (single) ((float *)data)[at] = (float)value;
  else ((double *)data)[at] = value;
}

/* rows, rows with gaps, columns as batches have them, columns with gaps, rows from the last to the first, neither */
static void lay_out(rng *g, sheet *s, int length, int count, bool single) {
  ptrdiff_t gap = rng_int(g, 1, 5), state = length, number = 1, first = 0;
  switch (rng_int(g, 0, 5)) {
    case 0: break;
    case 1: state += gap; break;
    case 2: state = 1, number = count; break;
    case 3: state = 1, number = count + gap; break;
    case 4: state = -(length + gap), first = (count - 1) * (length + gap); break;
    default: number = 2, state = 2 * length + gap; break;
  }
  *s = (sheet){.length = length, .room = (size_t)((2 * length + 6) * (count + 6))};
  s->memory = malloc(s->room * sizeof(double));
  for (size_t k = 0; k < s->room; k++) write_number(s->memory, (ptrdiff_t)k, single, untouched);
  s->at = (psdm_strided){s->memory + (size_t)first * (single ? sizeof(float) : sizeof(double)), state, number};
}

static double at(const sheet *s, int state, int k, bool single) {
  return read_number(s->at.data, state * s->at.state + k * s->at.number, single);
}

/* numbers in the memory that were written */
static size_t touched(const sheet *s, bool single) {
  size_t count = 0;
  for (size_t k = 0; k < s->room; k++) count += read_number(s->memory, (ptrdiff_t)k, single) != untouched;
  return count;
}

static void check_state(const psdm_compiled *c, psdm_function f, const sheet *sheets, int state, const double *theta,
                        bool single, double *scratch) {
  static double one[SLOTS][4096];
  const void *in[PSDMP_CODEGEN_IN_COUNT];
  void *out[3];
  int arguments = psdm_compiled_arguments(c, f), results = psdm_compiled_results(c, f);
  for (int k = 0; k < arguments; k++) {
    in[k] = sheets[k].memory ? (void *)one[k] : (void *)theta;
    for (int i = 0; sheets[k].memory && i < sheets[k].length; i++)
      write_number(one[k], i, single, at(&sheets[k], state, i, single));
  }
  for (int k = 0; k < results; k++) out[k] = one[arguments + k];
  assert_int_equal(psdm_compiled_call(c, f, in, out, scratch), PSDM_OK);
  for (int k = arguments; k < arguments + results; k++) {
    /* vectors and scalars round differently in a few hundred operations */
    double size = 1, tolerance = single ? 1e-5 : 1e-12;
    for (int i = 0; i < sheets[k].length; i++) size = fmax(size, fabs(read_number(one[k], i, single)));
    for (int i = 0; i < sheets[k].length; i++)
      assert_true(fabs(at(&sheets[k], state, i, single) - read_number(one[k], i, single)) <= tolerance * size);
  }
}

static void check_function(rng *g, const psdm_compiled *c, psdm_function f, int count, const double *theta,
                           bool single) {
  int arguments = psdm_compiled_arguments(c, f), results = psdm_compiled_results(c, f), length;
  sheet sheets[SLOTS] = {{0}};
  psdm_strided in[PSDMP_CODEGEN_IN_COUNT], out[3];
  for (int k = 0; k < arguments + results; k++) {
    const char *name =
        k < arguments ? psdm_compiled_argument(c, f, k, &length) : psdm_compiled_result(c, f, k - arguments, &length);
    bool shared = k < arguments && strcmp(name, "theta") == 0;
    if (shared) {
      in[k] = (psdm_strided){(void *)theta, 0, 0};
      continue;
    }
    lay_out(g, &sheets[k], length, count, single);
    for (int s = 0; k < arguments && s < count; s++)
      for (int i = 0; i < length; i++)
        write_number(sheets[k].at.data, s * sheets[k].at.state + i * sheets[k].at.number, single,
                     rng_uniform(g, -2, 2));
    *(k < arguments ? &in[k] : &out[k - arguments]) = sheets[k].at;
  }
  double *scratch = calloc(psdm_compiled_rows_scratch(c, f) + 1, sizeof *scratch);
  assert_int_equal(psdm_compiled_rows(c, f, (size_t)count, in, out, scratch), PSDM_OK);
  for (int s = 0; s < count; s++) check_state(c, f, sheets, s, theta, single, scratch);
  for (int k = arguments; k < arguments + results; k++)
    assert_true(touched(&sheets[k], single) <= (size_t)(count * sheets[k].length));
  for (int k = 0; k < arguments + results; k++) free(sheets[k].memory);
  free(scratch);
}

static void check_code(rng *g, const char *name, psdm_code_options options, bool graph) {
  psdm_robot *robot = load_shipped(name);
  psdm_code *code;
  psdm_compiled *c;
  psdm_compile_options how = {.graph = graph, .flags = "-O1"};
  options.effort = -1;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, NULL), PSDM_OK);
  assert_int_equal(psdm_compile(code, &how, NULL, &c, NULL), PSDM_OK);
  double *theta = calloc(200, sizeof *theta); /* more than any of these robots has */
  for (int j = 0; j < 200; j++) write_number(theta, j, options.real_float, rng_uniform(g, 0.5, 1));
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
    if (psdm_compiled_arguments(c, (psdm_function)f) < 0) continue;
    static const int counts[] = {1, 3, 15, 16, 17, MOST_STATES};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
      check_function(g, c, (psdm_function)f, counts[k], theta, options.real_float);
  }
  assert_int_equal(psdm_compiled_rows(c, PSDM_FUNCTION_COUNT, 1, NULL, NULL, theta), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_compiled_rows_scratch(c, PSDM_FUNCTION_COUNT), 0);
  free(theta);
  psdm_compiled_free(c);
  psdm_code_free(code);
  psdm_robot_free(robot);
}

static const unsigned several = 1u << PSDM_F_INVERSE | 1u << PSDM_F_MASS | 1u << PSDM_F_REGRESSOR |
                                1u << PSDM_F_ENERGY | 1u << PSDM_F_LINEARIZE_INVERSE;

static void machine_code(void **state) {
  rng g = rng_start("rows of machine code");
  (void)state;
  check_code(&g, "kuka_kr6", (psdm_code_options){.functions = several, .target = PSDM_CODE_SIMD}, false);
  check_code(&g, "kuka_lbr7", (psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .target = PSDM_CODE_SIMD}, false);
  check_code(&g, "two_link", (psdm_code_options){.functions = several, .target = PSDM_CODE_SIMD, .real_float = true},
             false);
  check_code(&g, "two_link",
             (psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .target = PSDM_CODE_SIMD, .theta_argument = true},
             false);
  check_code(&g, "two_link", (psdm_code_options){.functions = several}, false);
}

static void graph(void **state) {
  rng g = rng_start("rows of the graph");
  (void)state;
  check_code(&g, "kuka_kr6", (psdm_code_options){.functions = several, .target = PSDM_CODE_SIMD}, true);
  check_code(&g, "puma560", (psdm_code_options){.functions = several}, true);
  check_code(
      &g, "two_link",
      (psdm_code_options){.functions = several, .target = PSDM_CODE_SIMD, .real_float = true, .theta_argument = true},
      true);
}

TEST_MAIN(machine_code, graph)
