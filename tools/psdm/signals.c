/* signals.c: Ctrl-C. While a command listens, the first interrupt asks it to end with the best so far; any other ends
 * the program and removes unfinished files. */
#define _XOPEN_SOURCE 700 /* sigaction, sigaltstack */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { PENDING = 8 }; /* more files than any command writes at a time */

static volatile sig_atomic_t listening, caught;
static char pending[PENDING][4096];
static volatile sig_atomic_t is_pending[PENDING]; /* set once the name is complete */

/* async-signal-safe calls only; returns whether there was anything to remove */
static bool remove_pending(void) {
  bool any = false;
  for (int i = 0; i < PENDING; i++)
    if (is_pending[i]) any = unlink(pending[i]) == 0 || any;
  psdm_output_discard();            /* files that the library itself writes */
  for (int i = 0; i < PENDING; i++) /* empty folders; a folder that is not empty stays */
    if (is_pending[i]) rmdir(pending[i]);
  return any;
}

void tool_forget_pending(void) { remove_pending(); }

static void end_now(int number) {
  static const char words[] = "\npsdm: interrupted: unfinished files are removed\n";
  bool any = remove_pending();
  if (any && number == SIGINT && !tool_quiet() && write(STDERR_FILENO, words, sizeof words - 1) < 0) any = false;
  signal(number, SIG_DFL);
  raise(number);
}

static void on_signal(int number) {
  if (listening && !caught) caught = number;
  else end_now(number);
}

/* a hangup ignored by nohup stays ignored; a shell's background job can still be interrupted */
static void install(int number) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
  if (number == SIGHUP && sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
  sigaction(number, &action, NULL);
}

/* a limit on file sizes is reported by the write that fails */
static void do_nothing(int number) { (void)number; }

/* signals that always end the program; ignored ones stay ignored */
static void guard(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

static void install_all(void) {
  static bool done;
  if (done) return;
  done = true;
  install(SIGINT);
  install(SIGTERM);
  install(SIGHUP);
  guard(SIGPIPE, end_now);
  guard(SIGQUIT, end_now);
  guard(SIGXCPU, end_now);
  guard(SIGXFSZ, do_nothing);
}

void tool_guard(void) { install_all(); }

/* ---- libraries that crash ---- */

static char crash_words[160];

static void on_crash(int number) {
  remove_pending();
  if (write(STDERR_FILENO, crash_words, strlen(crash_words)) < 0) _exit(128 + number); /* then print this */
  _exit(EXIT_USAGE);
}

/* a sanitizer's own handlers report more */
static void on_crashes(void (*handler)(int)) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
  static char crash_stack[1 << 16]; /* a separate stack: the usual one may be exhausted */
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER | SA_ONSTACK};
  if (sigaltstack(&(stack_t){.ss_sp = crash_stack, .ss_size = sizeof crash_stack}, NULL)) return;
  for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++) sigaction(crashes[k], &action, NULL);
#else
  (void)handler;
#endif
}

void tool_fragile(const char *library) {
  snprintf(crash_words, sizeof crash_words, "psdm: error: %s crashed, probably out of memory\n", library);
  on_crashes(on_crash);
}

static volatile sig_atomic_t last_code;

static void on_crash_at_end(int number) {
  (void)number;
  _exit(last_code);
}

void tool_last(int code) {
  last_code = code;
  on_crashes(on_crash_at_end);
}

void tool_solid(void) { on_crashes(SIG_DFL); }

void tool_listen(void) {
  install_all();
  listening = 1;
}

void tool_deaf(void) { listening = 0; }

bool tool_interrupted(void) { return caught != 0; }

bool tool_terminated(void) { return caught == SIGTERM || caught == SIGHUP; }

int tool_exit(int code) {
  return caught && (code == EXIT_OK || code == EXIT_QUALITY || code == EXIT_INTERRUPTED) ? 128 + caught : code;
}

void tool_pending(const char *path) {
  install_all();
  for (int i = 0; i < PENDING; i++) {
    if (is_pending[i] || strlen(path) >= sizeof pending[i]) continue;
    strcpy(pending[i], path);
    is_pending[i] = 1;
    return;
  }
}

void tool_settled(const char *path) {
  for (int i = 0; i < PENDING; i++)
    if (is_pending[i] && strcmp(pending[i], path) == 0) is_pending[i] = 0;
}
