/* cmd_doctor_programs.c: finds programs and their versions. */
#define _POSIX_C_SOURCE 200809L /* poll, kill */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd_doctor.h"
#include "tool.h"

static bool executable(const char *folder, int length, const char *program, char *full, size_t size) {
  int written = full ? snprintf(full, size, "%.*s/%s", length, folder, program) : 0;
  return written > 0 && (size_t)written < size && access(full, X_OK) == 0;
}

bool doctor_program(const char *program, char *full, size_t size) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    if (executable(path, (int)length, program, full, size)) return true;
    path += length + (path[length] == ':');
  }
  static const char cuda[] = "/usr/local/cuda/bin";
  return executable(cuda, (int)strlen(cuda), program, full, size);
}

/* until it ends, the buffer is full, or ten seconds pass without output */
static void listen_to(int from, char *text, size_t size) {
  size_t have = 0;
  for (ssize_t got = 1; got > 0 && have + 1 < size; have += got > 0 ? (size_t)got : 0) {
    struct pollfd wait = {.fd = from, .events = POLLIN};
    got = poll(&wait, 1, 10000) > 0 ? read(from, text + have, size - 1 - have) : 0;
  }
  text[have] = '\0';
}

void doctor_version_of(const char *program, char *text, size_t size) {
  int ends[2];
  text[0] = '\0';
  if (pipe(ends)) return;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  char *words[] = {(char *)program, "--version", NULL};
  pid_t child = -1;
  int failure = tool_spawn(words, NULL, ends[1], &child);
  close(ends[1]);
  if (!failure) {
    listen_to(ends[0], text, size);
    kill(child, SIGKILL); /* enough output */
    waitpid(child, NULL, 0);
  }
  close(ends[0]);
}
