/* shortage.c: the library's memory functions, wrapped by the linker. */
#include "shortage.h"

#include "base/base.h"

static bool arena_runs_out(psdmp_base_arena *arena) {
  if (!strike_now(false)) return false;
  arena->failed = true; /* as the real one says */
  return true;
}

#define WRAP(result, name, wants, fails, ...) \
  result __real_##name wants;                 \
  result __wrap_##name wants;                 \
  __attribute__((noinline)) result __wrap_##name wants { return (fails) ? NULL : __real_##name(__VA_ARGS__); }

WRAP(void *, psdmp_base_alloc, (const psdm_allocator *a, size_t bytes), bytes &&strike_now(false), a, bytes)
WRAP(void *, psdmp_base_alloc_raw, (const psdm_allocator *a, size_t bytes), bytes &&strike_now(false), a, bytes)
WRAP(void *, psdmp_base_arena_alloc, (psdmp_base_arena * a, size_t bytes), arena_runs_out(a), a, bytes)
WRAP(void *, psdmp_base_arena_alloc_raw, (psdmp_base_arena * a, size_t bytes), arena_runs_out(a), a, bytes)
WRAP(void *, psdmp_base_arena_array, (psdmp_base_arena * a, ptrdiff_t count, size_t bytes), arena_runs_out(a), a, count,
     bytes)
WRAP(void *, psdmp_base_arena_array_raw, (psdmp_base_arena * a, ptrdiff_t count, size_t bytes), arena_runs_out(a), a,
     count, bytes)
WRAP(char *, psdmp_base_arena_text, (psdmp_base_arena * a, const char *text, size_t length), arena_runs_out(a), a, text,
     length)

static const psdm_status memory[] = {PSDM_E_MEMORY, PSDM_OK};

long shortage_everywhere(const char *name, strike_attempt attempt, const void *what) {
  return strike_everywhere(name, attempt, what, &(strike_rule){.words = "memory ran out", .as = memory});
}

long shortage_tolerated(const char *name, strike_attempt attempt, const void *what) {
  return strike_everywhere(name, attempt, what,
                           &(strike_rule){.words = "memory ran out", .as = memory, .tolerant = true});
}

psdm_status shortage_write(void (*write)(psdm_output *output, const void *what), const void *what,
                           const psdm_allocator *allocator, psdm_error *error) {
  psdm_output *output;
  psdm_status status = psdm_output_open("/dev/null", allocator, &output, error);
  if (status) return status;
  write(output, what);
  return psdm_output_commit(&output, error);
}
