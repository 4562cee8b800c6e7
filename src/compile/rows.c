/* rows.c: compiled functions for states in rows, or in any other regular layout. */
#include "compile/compile.h"

enum {
  SLOTS = PSDMP_CODEGEN_IN_COUNT + 3, /* arguments and results of a function */
  /* states at a time: the longest vectors of floats, two of doubles. Longer blocks wait for memory, as nothing is
   * computed during the copy */
  BLOCK = 16
};

/* One call: arguments first, then results. */
typedef struct table {
  const psdm_compiled *compiled;
  const psdmp_compile_unit *unit;
  int slots;
  const psdmp_compile_slot *slot[SLOTS];
  psdm_strided at[SLOTS];
  size_t bytes; /* of a number */
} table;

static const psdmp_compile_unit *unit_of(const psdm_compiled *c, psdm_function f) {
  return (unsigned)f < PSDM_FUNCTION_COUNT && c->unit[f].there ? &c->unit[f] : NULL;
}

/* numbers of a state that are copied */
static size_t width_of(const psdmp_compile_unit *u) {
  size_t width = 0;
  for (int k = 0; k < u->arguments; k++) width += u->argument[k].shared ? 0 : (size_t)u->argument[k].length;
  for (int k = 0; k < u->results; k++) width += (size_t)u->result[k].length;
  return width;
}

static size_t block_of(const psdm_compiled *c) { return c->simd ? BLOCK : 1; }

size_t psdm_compiled_rows_scratch(const psdm_compiled *c, psdm_function f) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? c->scratch + block_of(c) * width_of(u) : 0;
}

/* ---- copying: number k of state i between rows and a block with one line of `count` states per number ---- */

/* any strides, and the reference for the following */
#define PSDMP_COMPILE_MOVERS(real)                                                                                     \
  static void gather_##real(const psdm_strided *from, int first, int length, size_t begin, size_t end, size_t count,   \
                            real *restrict to) {                                                                       \
    const real *data = from->data;                                                                                     \
    for (int k = first; k < length; k++)                                                                               \
      for (size_t i = begin; i < end; i++)                                                                             \
        to[(size_t)k * count + i] = data[(ptrdiff_t)i * from->state + k * from->number];                               \
  }                                                                                                                    \
  static void scatter_##real(const real *restrict from, int first, int length, size_t begin, size_t end, size_t count, \
                             const psdm_strided *to) {                                                                 \
    real *data = to->data;                                                                                             \
    for (int k = first; k < length; k++)                                                                               \
      for (size_t i = begin; i < end; i++)                                                                             \
        data[(ptrdiff_t)i * to->state + k * to->number] = from[(size_t)k * count + i];                                 \
  }
PSDMP_COMPILE_MOVERS(double)
PSDMP_COMPILE_MOVERS(float)
#undef PSDMP_COMPILE_MOVERS

#if defined(__GNUC__)
/* rows of doubles, four states and two numbers at a time: pairs that every 64-bit processor transposes in registers */
enum { FOUR = 4 };
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline pair pair_at(const double *x) { return *(const pair *)x; }
static inline void put_pair(double *x, double a, double b) { *(pair *)x = (pair){a, b}; }

/* length and count are constants at the call, so that the loops are unrolled completely */
static inline __attribute__((always_inline)) void gather_all(const double *restrict x, ptrdiff_t row, int length,
                                                             size_t count, double *restrict to) {
  for (size_t i = 0; i < count; i += FOUR, x += FOUR * row)
    for (int k = 0; k + 1 < length; k += 2) {
      pair a = pair_at(x + k), b = pair_at(x + row + k), c = pair_at(x + 2 * row + k), d = pair_at(x + 3 * row + k);
      double *line = to + (size_t)k * count + i;
      put_pair(line, a[0], b[0]);
      put_pair(line + 2, c[0], d[0]);
      put_pair(line + count, a[1], b[1]);
      put_pair(line + count + 2, c[1], d[1]);
    }
  if (length & 1)
    for (size_t i = 0; i < count; i++)
      to[(size_t)(length - 1) * count + i] = x[((ptrdiff_t)i - (ptrdiff_t)count) * row + length - 1];
}

static inline __attribute__((always_inline)) void scatter_all(const double *restrict from, ptrdiff_t row, int length,
                                                              size_t count, double *restrict x) {
  for (size_t i = 0; i < count; i += FOUR, x += FOUR * row)
    for (int k = 0; k + 1 < length; k += 2) {
      const double *line = from + (size_t)k * count + i;
      pair a = pair_at(line), b = pair_at(line + count), c = pair_at(line + 2), d = pair_at(line + count + 2);
      put_pair(x + k, a[0], b[0]);
      put_pair(x + row + k, a[1], b[1]);
      put_pair(x + 2 * row + k, c[0], d[0]);
      put_pair(x + 3 * row + k, c[1], d[1]);
    }
  if (length & 1)
    for (size_t i = 0; i < count; i++)
      x[((ptrdiff_t)i - (ptrdiff_t)count) * row + length - 1] = from[(size_t)(length - 1) * count + i];
}

/* usual numbers of joints */
#define PSDMP_COMPILE_LENGTHS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)

static void gather_rows(const psdm_strided *from, int length, size_t count, double *restrict to) {
#define PSDMP_COMPILE_GATHER(n)                        \
  if (length == n && count == BLOCK) {                 \
    gather_all(from->data, from->state, n, BLOCK, to); \
    return;                                            \
  }
  PSDMP_COMPILE_LENGTHS(PSDMP_COMPILE_GATHER)
#undef PSDMP_COMPILE_GATHER
  gather_double(from, 0, length, 0, count, count, to);
}

static void scatter_rows(const double *restrict from, int length, size_t count, const psdm_strided *to) {
#define PSDMP_COMPILE_SCATTER(n)                      \
  if (length == n && count == BLOCK) {                \
    scatter_all(from, to->state, n, BLOCK, to->data); \
    return;                                           \
  }
  PSDMP_COMPILE_LENGTHS(PSDMP_COMPILE_SCATTER)
#undef PSDMP_COMPILE_SCATTER
  scatter_double(from, 0, length, 0, count, count, to);
}
#else
static void gather_rows(const psdm_strided *from, int length, size_t count, double *restrict to) {
  gather_double(from, 0, length, 0, count, count, to);
}
static void scatter_rows(const double *restrict from, int length, size_t count, const psdm_strided *to) {
  scatter_double(from, 0, length, 0, count, count, to);
}
#endif

/* the slot's numbers from state `first` on */
static psdm_strided from_state(const table *t, int k, size_t first) {
  psdm_strided at = t->at[k];
  at.data = (char *)at.data + (ptrdiff_t)first * at.state * (ptrdiff_t)t->bytes;
  return at;
}

static void move(const table *t, int k, size_t first, size_t count, void *block, bool in) {
  psdm_strided at = from_state(t, k, first);
  int length = t->slot[k]->length;
  if (t->compiled->single && in) gather_float(&at, 0, length, 0, count, count, block);
  else if (t->compiled->single) scatter_float(block, 0, length, 0, count, count, &at);
  else if (at.number == 1 && in) gather_rows(&at, length, count, block);
  else if (at.number == 1) scatter_rows(block, length, count, &at);
  else if (in) gather_double(&at, 0, length, 0, count, count, block);
  else scatter_double(block, 0, length, 0, count, count, &at);
}

/* prefetches the rows of a later block while this one is computed: copying alone would wait for memory */
static void ask_for(const table *t, size_t first, size_t count) {
#if defined(__GNUC__)
  enum { LINE = 64 };
  for (int k = 0; k < t->slots; k++) {
    psdm_strided at = from_state(t, k, first);
    if (t->slot[k]->shared || at.number != 1 || at.state != t->slot[k]->length) continue;
    for (size_t byte = 0; byte < count * (size_t)at.state * t->bytes; byte += LINE) {
      if (k < t->unit->arguments) __builtin_prefetch((const char *)at.data + byte, 0);
      else __builtin_prefetch((const char *)at.data + byte, 1);
    }
  }
#else
  (void)t, (void)first, (void)count;
#endif
}

/* ---- calling ---- */

static void call(const table *t, size_t count, const void *const *arguments, void *const *results, double *scratch) {
  const psdmp_compile_unit *u = t->unit;
  if (t->compiled->simd && u->batch) u->batch(count, arguments, results);
  else if (u->call && count == 1) u->call(arguments, results);
  else
    for (size_t i = 0; i < count; i++)
      psdmp_compile_graph_run(u, t->compiled->single, count, i, arguments, results, scratch);
}

/* next: states of the following block */
static void run_block(const table *t, size_t first, size_t count, size_t next, char *block, double *scratch) {
  const void *arguments[PSDMP_CODEGEN_IN_COUNT];
  void *results[3];
  char *place[SLOTS];
  for (int k = 0; k < t->slots; k++) {
    bool argument = k < t->unit->arguments, shared = t->slot[k]->shared;
    place[k] = shared ? t->at[k].data : block;
    if (argument) arguments[k] = place[k];
    if (!argument) results[k - t->unit->arguments] = place[k];
    if (argument && !shared) move(t, k, first, count, block, true);
    if (!shared) block += count * (size_t)t->slot[k]->length * t->bytes;
  }
  ask_for(t, first + count, next);
  call(t, count, arguments, results, scratch);
  for (int k = t->unit->arguments; k < t->slots; k++) move(t, k, first, count, place[k], false);
}

/* whether everything already is a structure of arrays */
static bool lies_well(const table *t, size_t count) {
  bool well = t->compiled->simd && t->unit->batch;
  for (int k = 0; k < t->slots; k++)
    if (!t->slot[k]->shared)
      well = well && t->at[k].state == 1 && (t->at[k].number == (ptrdiff_t)count || t->slot[k]->length == 1);
  return well;
}

static void run_whole(const table *t, size_t count) {
  const void *arguments[PSDMP_CODEGEN_IN_COUNT];
  void *results[3];
  for (int k = 0; k < t->unit->arguments; k++) arguments[k] = t->at[k].data;
  for (int k = 0; k < t->unit->results; k++) results[k] = t->at[t->unit->arguments + k].data;
  t->unit->batch(count, arguments, results);
}

psdm_status psdm_compiled_rows(const psdm_compiled *c, psdm_function f, size_t count, const psdm_strided *arguments,
                               const psdm_strided *results, double *scratch) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (!u || !scratch) return PSDM_E_ARGUMENT;
  table t = {.compiled = c, .unit = u, .bytes = c->single ? sizeof(float) : sizeof(double)};
  for (int k = 0; k < u->arguments; k++, t.slots++) t.slot[t.slots] = &u->argument[k], t.at[t.slots] = arguments[k];
  for (int k = 0; k < u->results; k++, t.slots++) t.slot[t.slots] = &u->result[k], t.at[t.slots] = results[k];
  if (count > 0 && lies_well(&t, count)) {
    run_whole(&t, count);
    return PSDM_OK;
  }
  size_t block = block_of(c);
  for (size_t first = 0; first < count; first += block) {
    size_t left = count - first, now = left < block ? left : block, next = left - now < block ? left - now : block;
    run_block(&t, first, now, next, (char *)(scratch + c->scratch), scratch);
  }
  return PSDM_OK;
}
