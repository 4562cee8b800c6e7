/* function.c: the table of functions. */
#include "psdm/function.h"

#include <string.h>

static const struct function {
  const char *name, *inputs, *results, *help;
} functions[PSDM_FUNCTION_COUNT] = {
#define ROW(id, name, inputs, results, rows, columns, help) {name, inputs, results, help},
    PSDM_FUNCTION_LIST(ROW) PSDM_FUNCTION_FRICTION_LIST(ROW)
#undef ROW
};

static const struct function *row(psdm_function f) {
  static const struct function none = {0};
  return (unsigned)f < PSDM_FUNCTION_COUNT ? &functions[f] : &none;
}

const char *psdm_function_name(psdm_function f) { return row(f)->name; }
const char *psdm_function_inputs(psdm_function f) { return row(f)->inputs; }
const char *psdm_function_results(psdm_function f) { return row(f)->results; }
const char *psdm_function_help(psdm_function f) { return row(f)->help; }

int psdm_function_shape(psdm_function f, int n, int l, int *rows, int *columns) {
  const int m = l, shape[PSDM_FUNCTION_COUNT][2] = {
#define SHAPE(id, name, inputs, results, rows, columns, help) {rows, columns},
                       PSDM_FUNCTION_LIST(SHAPE) PSDM_FUNCTION_FRICTION_LIST(SHAPE)
#undef SHAPE
                   };
  bool known = (unsigned)f < PSDM_FUNCTION_COUNT;
  *rows = known ? shape[f][0] : 0;
  *columns = known ? shape[f][1] : 0;
  return *columns == PSDM_VECTOR ? *rows : *rows * *columns;
}

bool psdm_function_is_task(psdm_function f) {
  return f >= PSDM_F_CARTESIAN_JACOBIAN && f <= PSDM_F_CARTESIAN_NULL_SPACE;
}

/* one word, '-' read as '_' */
static bool same(const char *a, const char *b) {
  while (*b && (*a == *b || (*a == '-' && *b == '_'))) a++, b++;
  return *a == *b;
}

bool psdm_function_find(const char *name, psdm_function *function) {
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
    if (same(name, functions[f].name)) {
      *function = (psdm_function)f;
      return true;
    }
  return false;
}
