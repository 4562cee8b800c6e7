/* ranks.c: one command on several ranks. Rank 0 runs it; the others take part of its work if the command supports that,
 * and wait for its end. */
#define _POSIX_C_SOURCE 200809L /* dup2, fileno, nanosleep */
#include "ranks.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

static psdm_ranks *all;
static FILE *said;       /* the message of another rank */
static bool idle, plain; /* the others have no work in this command: warn about it */

psdm_ranks *ranks_all(void) { return all; }
bool ranks_helper(void) { return all && all->rank > 0; }

static bool is_spread(const char *command) {
  static const char *const spread[] = {"analyze", "calibrate", "excite", "reduce"};
  for (size_t k = 0; k < sizeof spread / sizeof *spread; k++)
    if (strcmp(command, spread[k]) == 0) return true;
  return false;
}

/* standard output goes nowhere, messages to a file that is removed with the program */
static void fall_silent(void) {
  int nowhere = open("/dev/null", O_WRONLY);
  said = tmpfile();
  fflush(stdout);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  if (said || nowhere >= 0) dup2(said ? fileno(said) : nowhere, STDERR_FILENO);
}

/* one rank prints, and gets time to be heard: the launcher may end all ranks as soon as one has ended */
static int fail_to_begin(const psdm_error *error) {
  if (error->text[0]) tool_fail(error);
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  return EXIT_USAGE;
}

int ranks_begin(const char *command) {
  psdm_error error = {0};
  psdm_status status = psdm_ranks_open(&all, &error);
  if (status) return fail_to_begin(&error);
  idle = all && !is_spread(command);
  plain = command[0] == '\0' || command[0] == '-' || strcmp(command, "help") == 0;
  if (!ranks_helper()) return -1;
  fall_silent();
  return idle ? EXIT_OK : -1;
}

/* the last error of another rank, without "psdm: error: " */
static const char *last_words(char *text, size_t size) {
  static const char mark[] = "error: ";
  char line[600];
  text[0] = '\0';
  if (!said) return "it failed";
  rewind(said);
  while (fgets(line, sizeof line, said)) {
    const char *at = strstr(line, mark);
    if (at) snprintf(text, size, "%.*s", (int)strcspn(at + sizeof mark - 1, "\n"), at + sizeof mark - 1);
  }
  return text[0] ? text : "it failed";
}

int ranks_end(int code) {
  char text[512];
  if (!all) return code;
  bool helper = ranks_helper();
  if (idle && !plain && !helper && code <= EXIT_QUALITY)
    tool_note("one of %d ranks did this: this command cannot use the others", all->size);
  psdm_ranks_close(all, helper && code > EXIT_QUALITY ? last_words(text, sizeof text) : NULL);
  return helper ? EXIT_OK : code; /* rank 0's is that of the run */
}
