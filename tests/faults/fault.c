/* fault.c: loaded before the C library (LD_PRELOAD), it makes the k-th call of one kind fail. By hand:
 * FAULT=memory:17:once psdm ...; kinds and manners are below; FAULT_TRAP=1 stops there in a debugger. As a server
 * (FAULT_SERVER=1) it stops before main, reads lines "KIND K MANNER SECONDS" from descriptor 3, runs main in a fork for
 * each, with ./out and ./err as its streams, and answers "STATUS CALLS" on descriptor 4: the status from waitpid (-1:
 * it ran out of time) and how many calls of the kind there were. So no run has to load anything. The manner "places"
 * makes nothing fail and adds the numbers of the calls whose stack of callers is new. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY, MAP, OPEN, READ, WRITE, CLOSE, RENAME, SYNC, START, KINDS };
static const char *const kinds[KINDS] = {"memory", "map", "open", "read", "write", "close", "rename", "sync", "start"};
static const int errors[KINDS] = {ENOMEM, ENOMEM, EMFILE, EIO, ENOSPC, EIO, EIO, EIO, EAGAIN};

static int kind = -1;
static long at;
static bool trap;     /* stop for a debugger */
static bool for_good; /* the k-th call and all after it, not only the k-th */
static bool listing;  /* nothing fails, new stacks are noted */
enum { FRAMES = 9, STACKS = 1 << 17, PLACES = 1 << 15 };
static struct shared { /* also seen by the server */
  atomic_long calls;   /* of the kind */
  long places, place[PLACES];
} * shared;

static _Thread_local bool looking; /* the search for callers may make counted calls */

static void note(long number) {
  static uint64_t seen[STACKS];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  void *frame[FRAMES];
  uint64_t hash = 0xCBF29CE484222325u;
  looking = true;
  int depth = backtrace(frame, FRAMES);
  for (int i = 0; i < depth; i++) hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 0x100000001B3u;
  pthread_mutex_lock(&lock);
  size_t slot = (size_t)(hash >> 20) % STACKS;
  for (int tries = 0; seen[slot] && seen[slot] != hash && tries < STACKS; tries++) slot = (slot + 1) % STACKS;
  if (!seen[slot] && shared->places < PLACES) shared->place[shared->places++] = number;
  seen[slot] = hash;
  pthread_mutex_unlock(&lock);
  looking = false;
}

/* whether this call is to fail; errno is set then */
static bool fails(int which) {
  if (which != kind || looking) return false;
  long number = atomic_fetch_add(&shared->calls, 1) + 1;
  if (listing) {
    int was = errno;
    note(number);
    errno = was;
    return false;
  }
  if (number != at && !(for_good && number > at)) return false;
  if (trap) raise(SIGTRAP);
  errno = errors[which];
  return true;
}

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* ---- memory: glibc's own names, since dlsym may allocate ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

void *malloc(size_t bytes) { return fails(MEMORY) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails(MEMORY) ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return fails(MEMORY) ? NULL : __libc_realloc(memory, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return fails(MEMORY) ? NULL : __libc_memalign(align, bytes); }
void *memalign(size_t align, size_t bytes) { return fails(MEMORY) ? NULL : __libc_memalign(align, bytes); }
int posix_memalign(void **memory, size_t align, size_t bytes) {
  if (fails(MEMORY)) return ENOMEM;
  void *found = __libc_memalign(align, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  REAL(mmap);
  return fails(MAP) ? MAP_FAILED : real(address, length, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  REAL(mmap64);
  return fails(MAP) ? MAP_FAILED : real(address, length, protection, flags, fd, offset);
}

/* ---- files ---- */

#define OPENER(name)                                          \
  int name(const char *path, int flags, ...) {                \
    REAL(name);                                               \
    va_list rest;                                             \
    va_start(rest, flags);                                    \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                             \
    return fails(OPEN) ? -1 : real(path, flags, mode);        \
  }
OPENER(open)
OPENER(open64)
FILE *fopen(const char *path, const char *mode) {
  REAL(fopen);
  return fails(OPEN) ? NULL : real(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  REAL(fopen64);
  return fails(OPEN) ? NULL : real(path, mode);
}
FILE *fdopen(int fd, const char *mode) {
  REAL(fdopen);
  return fails(OPEN) ? NULL : real(fd, mode);
}
DIR *opendir(const char *path) {
  REAL(opendir);
  return fails(OPEN) ? NULL : real(path);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  return fails(OPEN) ? -1 : real(path, mode);
}
char *mkdtemp(char *pattern) {
  REAL(mkdtemp);
  return fails(OPEN) ? NULL : real(pattern);
}
int mkstemp(char *pattern) {
  REAL(mkstemp);
  return fails(OPEN) ? -1 : real(pattern);
}

/* a failed stream reports it later, too: glibc's flag of ferror */
static bool stream_fails(int which, FILE *stream) {
  if (stream == stderr || !fails(which)) return false;
  stream->_flags |= 0x20;
  return true;
}

ssize_t read(int fd, void *to, size_t bytes) {
  REAL(read);
  return fails(READ) ? -1 : real(fd, to, bytes);
}
ssize_t pread(int fd, void *to, size_t bytes, off_t from) {
  REAL(pread);
  return fails(READ) ? -1 : real(fd, to, bytes, from);
}
size_t fread(void *to, size_t size, size_t count, FILE *from) {
  REAL(fread);
  return stream_fails(READ, from) ? 0 : real(to, size, count, from);
}
char *fgets(char *to, int size, FILE *from) {
  REAL(fgets);
  return stream_fails(READ, from) ? NULL : real(to, size, from);
}
ssize_t getline(char **to, size_t *size, FILE *from) {
  REAL(getline);
  return stream_fails(READ, from) ? -1 : real(to, size, from);
}

ssize_t write(int fd, const void *from, size_t bytes) {
  REAL(write);
  return fd != STDERR_FILENO && fails(WRITE) ? -1 : real(fd, from, bytes);
}
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t to) {
  REAL(pwrite);
  return fails(WRITE) ? -1 : real(fd, from, bytes, to);
}
size_t fwrite(const void *from, size_t size, size_t count, FILE *to) {
  REAL(fwrite);
  return stream_fails(WRITE, to) ? 0 : real(from, size, count, to);
}
int fputs(const char *text, FILE *to) {
  REAL(fputs);
  return stream_fails(WRITE, to) ? EOF : real(text, to);
}
int puts(const char *text) {
  REAL(puts);
  return stream_fails(WRITE, stdout) ? EOF : real(text);
}
int fputc(int c, FILE *to) {
  REAL(fputc);
  return stream_fails(WRITE, to) ? EOF : real(c, to);
}
int putc(int c, FILE *to) {
  REAL(putc);
  return stream_fails(WRITE, to) ? EOF : real(c, to);
}
int putchar(int c) {
  REAL(putchar);
  return stream_fails(WRITE, stdout) ? EOF : real(c);
}
int vfprintf(FILE *to, const char *format, va_list rest) {
  REAL(vfprintf);
  return stream_fails(WRITE, to) ? -1 : real(to, format, rest);
}
int fprintf(FILE *to, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int count = vfprintf(to, format, rest);
  va_end(rest);
  return count;
}
int printf(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int count = vfprintf(stdout, format, rest);
  va_end(rest);
  return count;
}
int fflush(FILE *stream) {
  REAL(fflush);
  return stream && stream_fails(WRITE, stream) ? EOF : real(stream);
}

/* a failing close closes all the same, as on Linux */
int close(int fd) {
  REAL(close);
  bool failed = fd > STDERR_FILENO && fails(CLOSE);
  int answer = real(fd);
  if (failed) errno = EIO;
  return failed ? -1 : answer;
}
int fclose(FILE *stream) {
  REAL(fclose);
  bool failed = stream != stderr && fails(CLOSE);
  int answer = real(stream);
  if (failed) errno = EIO;
  return failed ? EOF : answer;
}
int rename(const char *from, const char *to) {
  REAL(rename);
  return fails(RENAME) ? -1 : real(from, to);
}
int fsync(int fd) {
  REAL(fsync);
  return fails(SYNC) ? -1 : real(fd);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  return fails(SYNC) ? -1 : real(fd);
}

/* ---- threads and programs ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *user) {
  REAL(pthread_create);
  return fails(START) ? EAGAIN : real(thread, how, run, user);
}
pid_t fork(void) {
  REAL(fork);
  return fails(START) ? -1 : real();
}
int posix_spawn(pid_t *id, const char *path, const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *how,
                char *const argv[], char *const envp[]) {
  REAL(posix_spawn);
  return fails(START) ? EAGAIN : real(id, path, acts, how, argv, envp);
}
int posix_spawnp(pid_t *id, const char *name, const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *how,
                 char *const argv[], char *const envp[]) {
  REAL(posix_spawnp);
  return fails(START) ? EAGAIN : real(id, name, acts, how, argv, envp);
}

/* ---- before main ---- */

static bool arm(const char *name, long k, const char *manner) {
  at = k;
  for_good = strcmp(manner, "on") == 0;
  listing = strcmp(manner, "places") == 0;
  void *frame[1];
  if (listing) backtrace(frame, 1); /* loads what it needs */
  for (int i = 0; i < KINDS; i++)
    if (strcmp(kinds[i], name) == 0) return kind = i, true;
  return strcmp(name, "none") == 0;
}

static void redirect(const char *path, int fd) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) _exit(99);
  dup2(file, fd);
  close(file);
}

/* SIGCHLD is blocked here: sigtimedwait waits for it, at most for the time of the run */
static int wait_for(pid_t child, double seconds) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  int status = 0;
  bool late = false;
  while (waitpid(child, &status, late ? 0 : WNOHANG) == 0)
    if (sigtimedwait(&ends, NULL, &left) < 0 && errno == EAGAIN) late = kill(-child, SIGKILL) == 0;
  kill(-child, SIGKILL); /* programs that it started */
  return late ? -1 : status;
}

static int (*real_main)(int, char **, char **);

static int serve(int argc, char **argv, char **envp) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  char line[200], name[20], manner[20];
  double seconds;
  long k;
  for (size_t used = 0; used < sizeof line - 1 && read(3, line + used, 1) == 1;) {
    if (line[used++] != '\n') continue;
    line[used] = 0;
    used = 0;
    if (sscanf(line, "%19s %ld %19s %lf", name, &k, manner, &seconds) != 4) return 98;
    atomic_store(&shared->calls, 0);
    shared->places = 0;
    pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);
      close(3);
      close(4);
      sigprocmask(SIG_UNBLOCK, &ends, NULL);
      redirect("out", STDOUT_FILENO);
      redirect("err", STDERR_FILENO);
      if (!arm(name, k, manner)) _exit(98);
      return real_main(argc, argv, envp);
    }
    setpgid(child, child);
    int status = wait_for(child, seconds);
    dprintf(4, "%d %ld", status, atomic_load(&shared->calls));
    for (long i = 0; i < shared->places; i++) dprintf(4, " %ld", shared->place[i]);
    dprintf(4, "\n");
  }
  _exit(0);
}

static int begin(int argc, char **argv, char **envp) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const char *server = getenv("FAULT_SERVER"), *fault = getenv("FAULT"), *locale = getenv("FAULT_LOCALE");
  trap = getenv("FAULT_TRAP") != NULL;
  unsetenv("LD_PRELOAD"); /* not in the programs that this one starts */
  if (locale && !setlocale(LC_ALL, locale)) return 97;
  if (server) return serve(argc, argv, envp);
  char name[20], manner[20];
  long k;
  if (fault && sscanf(fault, "%19[^:]:%ld:%19s", name, &k, manner) == 3) arm(name, k, manner);
  return real_main(argc, argv, envp);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*ended)(void), void *stack);
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*ended)(void), void *stack) {
  REAL(__libc_start_main);
  real_main = program;
  return real(begin, argc, argv, init, fini, ended, stack);
}
