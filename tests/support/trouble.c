/* trouble.c: system calls, wrapped by the linker. */
#define _GNU_SOURCE /* memfd_create, pipe2 */
#include "trouble.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool interrupted; /* calls are interrupted instead of failing */

/* whether this call fails, and how */
static bool fails(bool can_wait) {
  if (!strike_now(can_wait)) return false;
  errno = interrupted ? EINTR : EIO;
  return true;
}

#define NAMES(result, name, wants) \
  result __real_##name wants;      \
  result __wrap_##name wants;

/* a call that is not made, and what it answers then */
#define WRAP(result, name, wants, can_wait, answer, ...)            \
  NAMES(result, name, wants)                                        \
  __attribute__((noinline)) result __wrap_##name wants {            \
    return fails(can_wait) ? (answer) : __real_##name(__VA_ARGS__); \
  }

/* a call that is made all the same, so that nothing stays open */
#define WRAP_MADE(result, name, wants, can_wait, answer, ...) \
  NAMES(result, name, wants)                                  \
  __attribute__((noinline)) result __wrap_##name wants {      \
    if (!fails(can_wait)) return __real_##name(__VA_ARGS__);  \
    int why = errno;                                          \
    if (!interrupted) (void)!__real_##name(__VA_ARGS__);      \
    errno = why;                                              \
    return answer;                                            \
  }

WRAP(ssize_t, read, (int fd, void *to, size_t count), true, -1, fd, to, count)
WRAP(ssize_t, pread, (int fd, void *to, size_t count, off_t at), true, -1, fd, to, count, at)
WRAP(ssize_t, write, (int fd, const void *from, size_t count), true, -1, fd, from, count)
WRAP(int, poll, (struct pollfd * fds, nfds_t count, int timeout), true, -1, fds, count, timeout)
WRAP_MADE(pid_t, waitpid, (pid_t pid, int *state, int options), true, -1, pid, state, options)
WRAP_MADE(int, close, (int fd), false, -1, fd)
WRAP_MADE(int, fclose, (FILE * file), false, EOF, file)
WRAP(int, fsync, (int fd), false, -1, fd)
WRAP(int, fstat, (int fd, struct stat *info), false, -1, fd, info)
WRAP(int, stat, (const char *path, struct stat *info), false, -1, path, info)
WRAP(int, mkdir, (const char *path, mode_t mode), false, -1, path, mode)
WRAP(char *, mkdtemp, (char *path), false, NULL, path)
WRAP(int, rename, (const char *from, const char *to), false, -1, from, to)
WRAP(int, renameat, (int a, const char *from, int b, const char *to), false, -1, a, from, b, to)
WRAP(DIR *, opendir, (const char *path), false, NULL, path)
WRAP(FILE *, fopen, (const char *path, const char *mode), false, NULL, path, mode)
WRAP(FILE *, tmpfile, (void), false, NULL)
WRAP(int, memfd_create, (const char *name, unsigned flags), false, -1, name, flags)
WRAP(int, pipe2, (int fds[2], int flags), false, -1, fds, flags)
WRAP(int, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *a, const posix_spawnattr_t *b,
      char *const words[], char *const environment[]),
     false, errno, pid, path, a, b, words, environment)
WRAP(int, posix_spawnp,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *a, const posix_spawnattr_t *b,
      char *const words[], char *const environment[]),
     false, errno, pid, path, a, b, words, environment)
WRAP(void *, dlopen, (const char *path, int flags), false, NULL, path, flags)
WRAP(void *, dlsym, (void *library, const char *name), false, NULL, library, name)
WRAP(int, gethostname, (char *name, size_t size), false, -1, name, size)

static mode_t mode_of(int flags, va_list more) { return flags & O_CREAT ? (mode_t)va_arg(more, int) : 0; }

NAMES(int, open, (const char *path, int flags, ...))
__attribute__((noinline)) int __wrap_open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(false) ? -1 : __real_open(path, flags, mode);
}

NAMES(int, openat, (int folder, const char *path, int flags, ...))
__attribute__((noinline)) int __wrap_openat(int folder, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(false) ? -1 : __real_openat(folder, path, flags, mode);
}

long trouble_everywhere(const char *name, strike_attempt attempt, const void *what, const psdm_status *more) {
  psdm_status as[8] = {PSDM_E_IO};
  for (int k = 0; more && more[k] && k < 6; k++) as[k + 1] = more[k];
  long places = strike_everywhere(name, attempt, what,
                                  &(strike_rule){.words = "a system call failed", .as = as, .tolerant = true});
  interrupted = true;
  strike_again(name, attempt, what,
               &(strike_rule){.words = "a system call was interrupted", .as = as, .harmless = true, .waiting = true});
  interrupted = false;
  return places;
}
