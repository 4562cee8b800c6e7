/* start.c: preparation before the command: little address space, a small stack, a library that ends the program. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tool.h"

enum { ROOMY = 1 << 20, STACK = 8 << 20 }; /* bytes: a stack that is large enough; the usual one */
enum { PER_THREAD = 256 << 20 };           /* address space: buffers of OpenBLAS, a stack, an arena of malloc */

/* ---- before the libraries: OpenBLAS starts a thread per core as it is loaded, maps 128 MB for each, and retries for
 * ever if that fails. With little address space, or small stacks for its threads, it must start none, and the program
 * runs one thread. The variables must be set before the libraries are loaded, so the program is executed again with
 * them. ---- */

static rlim_t limit_of(int which) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)which, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

static bool begins(const char *text, const char *start) {
  for (; *start; text++, start++)
    if (*text != *start) return false;
  return true;
}

/* the C library is not ready yet: system calls only */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void before_libraries(int argc, char **argv,
                                                                                            char **envp) {
  (void)argc;
  enum { MOST = 2048 }; /* variables; with more of them continue as is */
  char *more[MOST + 3];
  int count = 0;
  bool threads = false;
  long cores = sysconf(_SC_NPROCESSORS_CONF);
  if (limit_of(RLIMIT_AS) >= (rlim_t)(cores + 4) * PER_THREAD && limit_of(RLIMIT_STACK) >= ROOMY) return;
  for (; envp[count]; count++) {
    if (count >= MOST || begins(envp[count], "OPENBLAS_NUM_THREADS=")) return;
    threads |= begins(envp[count], "OMP_NUM_THREADS=");
    more[count] = envp[count];
  }
  more[count++] = "OPENBLAS_NUM_THREADS=1";
  if (!threads) more[count++] = "OMP_NUM_THREADS=1";
  more[count] = NULL;
  execve("/proc/self/exe", argv, more); /* if that fails, continue as is */
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = before_libraries;

/* ---- the stack: run on a thread with a larger one if the program's is small ---- */

typedef struct call {
  int (*run)(int argc, char **argv);
  int argc;
  char **argv;
  int code;
} call;

static void *run_call(void *user) {
  call *c = user;
  c->code = c->run(c->argc, c->argv);
  return NULL;
}

int tool_roomy(int (*run)(int argc, char **argv), int argc, char **argv) {
  call c = {run, argc, argv, EXIT_USAGE};
  pthread_attr_t attributes;
  pthread_t thread;
  bool made = false;
  if (limit_of(RLIMIT_STACK) < ROOMY && pthread_attr_init(&attributes) == 0) {
    for (size_t size = STACK; size >= ROOMY && !made; size /= 2) {
      pthread_attr_setstacksize(&attributes, size);
      pthread_setattr_default_np(&attributes); /* and for threads that the command starts */
      made = pthread_create(&thread, &attributes, run_call, &c) == 0;
    }
    pthread_attr_destroy(&attributes);
  }
  if (made) pthread_join(thread, NULL);
  else run_call(&c);
  return c.code;
}

/* ---- the end: libgomp and others call exit if they get no memory or thread, with an exit code of another meaning here
 * ---- */

static bool ended;

static void on_exit_of_others(void) {
  static const char words[] = "psdm: error: a library ended the program: out of memory or threads\n";
  if (ended) return;
  tool_forget_pending();
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(EXIT_USAGE);
  _exit(EXIT_USAGE);
}

void tool_begin(void) { atexit(on_exit_of_others); }

void tool_end(void) { ended = true; }
