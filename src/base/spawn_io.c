/* spawn_io.c: programs as child processes, without a shell. */
#define _GNU_SOURCE /* environ, posix_spawn_file_actions_addchdir_np */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static int give(posix_spawn_file_actions_t *actions, int handle, int as) {
  if (handle == PSDMP_BASE_INHERIT) return 0;
  if (handle == PSDMP_BASE_NOTHING)
    return posix_spawn_file_actions_addopen(actions, as, "/dev/null", as == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  return posix_spawn_file_actions_adddup2(actions, handle, as);
}

int psdmp_base_spawn(const char *folder, const char *program, char *const *words, int in, int out, int errors,
                     pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  failure = posix_spawnattr_init(&attributes);
  if (!failure) {
    failure = posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    if (!failure) failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (!failure && folder) failure = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!failure) failure = give(&actions, in, STDIN_FILENO);
    if (!failure) failure = give(&actions, out, STDOUT_FILENO);
    if (!failure) failure = give(&actions, errors, STDERR_FILENO);
    if (!failure) failure = posix_spawnp(child, program, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

bool psdmp_base_spawn_wait(pid_t child, int *state) {
  pid_t got;
  do got = waitpid(child, state, 0);
  while (got < 0 && errno == EINTR);
  return got >= 0;
}
