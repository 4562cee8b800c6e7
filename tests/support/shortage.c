/* shortage.c: the library's memory functions, wrapped by the linker; a call fails when its stack of callers has not failed before. */
#include "shortage.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { FRAMES = 14, USUAL = 7, STACKS = 1 << 15, PLACES = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* some of the library runs in threads */
static uint64_t seen[STACKS];                            /* a hash table of stacks, 0: free */
static long place[PLACES], places;                       /* numbers of the calls whose stacks were new */
static long calls, fail_at;
static enum { OFF, WATCH, FAIL } mode;
static void *culprit[FRAMES];
static int culprit_depth;
static int frames = USUAL; /* that tell stacks apart; SHORTAGE_FRAMES in the environment, up to 14: more runs, more of the callers' callers */

/* notes the number of this call when its stack is new */
static void watch(void) {
  void *frame[FRAMES];
  int depth = backtrace(frame, frames);
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < depth; i++) hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 0x100000001B3u;
  size_t at = (size_t)(hash >> 20) % STACKS;
  while (seen[at] && seen[at] != hash) at = (at + 1) % STACKS;
  if (!seen[at] && places < PLACES) place[places++] = calls;
  seen[at] = hash;
}

/* whether this call is the one that fails in this run */
static bool runs_out(void) {
  if (mode == OFF) return false;
  pthread_mutex_lock(&lock);
  calls++;
  if (mode == WATCH) watch();
  bool now = mode == FAIL && calls == fail_at;
  if (now) culprit_depth = backtrace(culprit, FRAMES);
  pthread_mutex_unlock(&lock);
  return now;
}

static bool arena_runs_out(psdmp_arena *arena) {
  if (!runs_out()) return false;
  arena->failed = true; /* as the real one says */
  return true;
}

#define WRAP(result, name, wants, fails, ...)                                     \
  result __real_##name wants;                                                     \
  result __wrap_##name wants;                                                     \
  __attribute__((noinline)) result __wrap_##name wants { return (fails) ? NULL : __real_##name(__VA_ARGS__); }

WRAP(void *, psdmp_alloc, (const psdm_allocator *a, size_t bytes), bytes && runs_out(), a, bytes)
WRAP(void *, psdmp_alloc_raw, (const psdm_allocator *a, size_t bytes), bytes && runs_out(), a, bytes)
WRAP(void *, psdmp_arena_alloc, (psdmp_arena *a, size_t bytes), arena_runs_out(a), a, bytes)
WRAP(void *, psdmp_arena_alloc_raw, (psdmp_arena *a, size_t bytes), arena_runs_out(a), a, bytes)
WRAP(void *, psdmp_arena_array, (psdmp_arena *a, ptrdiff_t count, size_t bytes), arena_runs_out(a), a, count, bytes)
WRAP(void *, psdmp_arena_array_raw, (psdmp_arena *a, ptrdiff_t count, size_t bytes), arena_runs_out(a), a, count, bytes)
WRAP(char *, psdmp_arena_text, (psdmp_arena *a, const char *text, size_t length), arena_runs_out(a), a, text, length)

/* a failure that was not answered as one, with the place */
static int complain(const char *name, const char *what) {
  fprintf(stderr, "%s: %s, when memory ran out here:\n", name, what);
  backtrace_symbols_fd(culprit, culprit_depth, 2);
  return 1;
}

/* how many things are wrong with an answer */
static int judge(const char *name, psdm_status status, const psdm_error *error, long live, bool tolerant) {
  char sentence[1000];
  int wrong = 0;
  if (live) wrong += complain(name, "pieces of memory are left");
  if (status == PSDM_OK) return wrong + (tolerant ? 0 : complain(name, "it went unnoticed"));
  if (status != PSDM_E_MEMORY || (error->status && error->status != PSDM_E_MEMORY))
    wrong += complain(name, error->status ? psdm_error_format(error, sentence, sizeof sentence) : psdm_status_text(status));
  return wrong;
}

/* one run; how many things were wrong with it */
static int run(const char *name, shortage_attempt attempt, const void *what, bool tolerant, long *tolerated) {
  counting c;
  psdm_error error = {.status = PSDM_OK};
  char sentence[1000];
  counting_init(&c, 0);
  calls = 0;
  psdm_status status = attempt(&c.allocator, what, &error);
  if (mode == FAIL && calls >= fail_at) {
    *tolerated += status == PSDM_OK;
    return judge(name, status, &error, c.live, tolerant);
  }
  mode = OFF;
  if (status) fail_msg("%s without a shortage: %s", name, error.status ? psdm_error_format(&error, sentence, sizeof sentence) : psdm_status_text(status));
  if (c.live) fail_msg("%s: %ld pieces of memory are left", name, c.live);
  return 0;
}

static long everywhere(const char *name, shortage_attempt attempt, const void *what, bool tolerant) {
  long tolerated = 0, wrong = 0;
  const char *asked = getenv("SHORTAGE_FRAMES");
  if (asked && atoi(asked) > 0) frames = atoi(asked) < FRAMES ? atoi(asked) : FRAMES;
  places = 0, mode = WATCH;
  run(name, attempt, what, tolerant, &tolerated);
  for (long k = 0; k < places; k++) {
    fail_at = place[k], mode = FAIL;
    wrong += run(name, attempt, what, tolerant, &tolerated);
  }
  mode = OFF;
  printf("%s: %ld shortages, %ld of them tolerated\n", name, places, tolerated);
  if (wrong) fail_msg("%s: %ld wrong answers of %ld", name, wrong, places);
  return places;
}

long shortage_everywhere(const char *name, shortage_attempt attempt, const void *what) { return everywhere(name, attempt, what, false); }
long shortage_tolerated(const char *name, shortage_attempt attempt, const void *what) { return everywhere(name, attempt, what, true); }

psdm_status shortage_write(void (*write)(psdm_output *output, const void *what), const void *what, const psdm_allocator *allocator, psdm_error *error) {
  psdm_output *output;
  psdm_status status = psdm_output_open("/dev/null", allocator, &output, error);
  if (status) return status;
  write(output, what);
  return psdm_output_commit(&output, error);
}
