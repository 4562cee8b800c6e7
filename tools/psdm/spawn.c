/* spawn.c: other programs, without a shell. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np, environ */
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "tool.h"

int tool_spawn(char *const *words, const char *folder, int out, pid_t *child) {
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  if (folder) failure = posix_spawn_file_actions_addchdir_np(&actions, folder);
  if (!failure && out >= 0) {
    failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
  }
  if (!failure) failure = posix_spawnp(child, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}
