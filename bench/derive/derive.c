/* derive.c: how long the exact derivation takes, and what it needs. One thread, best of 20, warm: memory comes from a
 * pool that is reused, as in a program that derives more than once. `derive FILE...` prints a table; `--fresh` times
 * the first derivation of this process with plain malloc. */
#define _DEFAULT_SOURCE /* madvise, posix_memalign */
#include <psdm/psdm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* an allocator that never gives memory back while deriving, and starts over between runs */
typedef struct pool {
  char *memory;
  size_t size, used, peak;
} pool;

static void *take(void *user, size_t bytes) {
  pool *p = user;
  bytes = (bytes + 63) / 64 * 64;
  if (p->size - p->used < bytes) return NULL;
  void *memory = p->memory + p->used;
  p->used += bytes;
  if (p->used > p->peak) p->peak = p->used;
  return memory;
}

static void leave(void *user, void *memory) { (void)user, (void)memory; }

static double best_time(const psdm_robot *robot, pool *p, psdm_model **model) {
  psdm_allocator allocator = {take, leave, p};
  double best = 1e9;
  for (int i = 0; i < 20; i++) {
    psdm_derive_info info;
    p->used = 0;
    if (psdm_model_derive(robot, NULL, &allocator, model, &info, NULL)) exit(1);
    if (info.seconds < best) best = info.seconds;
  }
  return best;
}

int main(int argc, char **argv) {
  bool fresh = argc > 1 && strcmp(argv[1], "--fresh") == 0;
  pool p = {.size = (size_t)3 << 30};
  /* large pages if the system has them, as a program with such a pool would use */
  void *memory = NULL;
  if (!fresh && posix_memalign(&memory, (size_t)1 << 21, p.size) == 0) madvise(memory, p.size, MADV_HUGEPAGE);
  p.memory = memory;
  if (!fresh) printf("%-16s %9s %4s %9s %10s %8s\n", "robot", "p", "l", "P", "ms", "MB");
  for (int i = 1 + fresh; i < argc; i++) {
    psdm_robot *robot;
    psdm_model *model;
    psdm_error error;
    psdm_derive_info info;
    if (psdm_robot_load(argv[i], NULL, NULL, &robot, &error)) {
      fprintf(stderr, "%s\n", error.text);
      return 3;
    }
    if (fresh) {
      if (psdm_model_derive(robot, NULL, NULL, &model, &info, &error)) return 1;
      struct rusage use;
      getrusage(RUSAGE_SELF, &use);
      printf("%-16s fresh %.3f ms, process peak %.1f MB\n", psdm_robot_name(robot), 1e3 * info.seconds,
             (double)use.ru_maxrss / 1024);
      psdm_model_free(model);
    } else {
      p.peak = 0;
      double seconds = best_time(robot, &p, &model);
      printf("%-16s %9ld %4d %9ld %10.3f %8.1f\n", psdm_model_name(model), psdm_model_p(model), psdm_model_l(model),
             psdm_model_entries(model), 1e3 * seconds, (double)p.peak / 1e6);
    }
    psdm_robot_free(robot);
  }
  return 0;
}
