/* strike.c: a call fails when its stack of callers has not failed before. */
#include "strike.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 14, USUAL = 7, STACKS = 1 << 15, PLACES = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* some of the library runs in threads */
static uint64_t seen[STACKS];                            /* a hash table of stacks, 0: free */
static long place[PLACES], places;                       /* numbers of the calls whose stacks were new */
static bool waits[PLACES];
static long calls, fail_at;
static enum { OFF, WATCH, FAIL } mode;
static bool paused, only_waiting;
static void *culprit[FRAMES];
static int culprit_depth;
/* that tell stacks apart; SHORTAGE_FRAMES in the environment, up to 14: more runs, more of the callers' callers */
static int frames = USUAL;

/* notes the number of this call when its stack is new */
static void watch(bool can_wait) {
  void *frame[FRAMES];
  int depth = backtrace(frame, frames);
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < depth; i++) hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 0x100000001B3u;
  size_t at = (size_t)(hash >> 20) % STACKS;
  while (seen[at] && seen[at] != hash) at = (at + 1) % STACKS;
  if (!seen[at] && places < PLACES) waits[places] = can_wait, place[places++] = calls;
  seen[at] = hash;
}

void strike_pause(bool on) { paused = on; }

bool strike_now(bool can_wait) {
  if (mode == OFF || paused) return false;
  pthread_mutex_lock(&lock);
  calls++;
  if (mode == WATCH) watch(can_wait);
  /* runs that wait for other programs differ in their numbers of calls: another one may come at this place */
  bool now = mode == FAIL && calls == fail_at && (can_wait || !only_waiting);
  if (now) culprit_depth = backtrace(culprit, FRAMES);
  pthread_mutex_unlock(&lock);
  return now;
}

/* a failure that was not answered as one, with the place */
static int complain(const char *name, const char *what, const strike_rule *rule) {
  fprintf(stderr, "%s: %s, when %s here:\n", name, what, rule->words);
  backtrace_symbols_fd(culprit, culprit_depth, 2);
  return 1;
}

static bool expected(const strike_rule *rule, psdm_status status) {
  for (const psdm_status *s = rule->as; *s; s++)
    if (*s == status) return true;
  return false;
}

/* how many things are wrong with an answer */
static int judge(const char *name, psdm_status status, const psdm_error *error, long live, const strike_rule *rule) {
  char sentence[1000];
  int wrong = 0;
  if (live) wrong += complain(name, "pieces of memory are left", rule);
  if (status == PSDM_OK)
    return wrong + (rule->tolerant || rule->harmless ? 0 : complain(name, "it went unnoticed", rule));
  if (rule->harmless || !expected(rule, status) || (error->status && !expected(rule, error->status)))
    wrong += complain(
        name, error->status ? psdm_error_format(error, sentence, sizeof sentence) : psdm_status_text(status), rule);
  return wrong;
}

/* one run; how many things were wrong with it */
static int run(const char *name, strike_attempt attempt, const void *what, const strike_rule *rule, long *tolerated) {
  counting c;
  psdm_error error = {.status = PSDM_OK};
  char sentence[1000];
  counting_init(&c, 0);
  calls = 0;
  psdm_status status = attempt(&c.allocator, what, &error);
  if (mode == FAIL && calls >= fail_at) {
    *tolerated += status == PSDM_OK;
    return judge(name, status, &error, c.live, rule);
  }
  mode = OFF;
  if (status)
    fail_msg("%s without a failure: %s", name,
             error.status ? psdm_error_format(&error, sentence, sizeof sentence) : psdm_status_text(status));
  if (c.live) fail_msg("%s: %ld pieces of memory are left", name, c.live);
  return 0;
}

long strike_again(const char *name, strike_attempt attempt, const void *what, const strike_rule *rule) {
  long tolerated = 0, wrong = 0, failures = 0;
  only_waiting = rule->waiting;
  for (long k = 0; k < places; k++) {
    if (rule->waiting && !waits[k]) continue;
    failures++;
    fail_at = place[k], mode = FAIL;
    wrong += run(name, attempt, what, rule, &tolerated);
  }
  mode = OFF;
  printf("%s: %s in %ld places, %ld without consequence\n", name, rule->words, failures, tolerated);
  if (wrong) fail_msg("%s: %ld wrong answers of %ld", name, wrong, failures);
  return failures;
}

long strike_everywhere(const char *name, strike_attempt attempt, const void *what, const strike_rule *rule) {
  long tolerated = 0;
  const char *asked = getenv("SHORTAGE_FRAMES");
  if (asked && atoi(asked) > 0) frames = atoi(asked) < FRAMES ? atoi(asked) : FRAMES;
  places = 0, mode = WATCH, only_waiting = false;
  run(name, attempt, what, rule, &tolerated);
  return strike_again(name, attempt, what, rule);
}
