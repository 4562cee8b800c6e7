/* words.c: messages on the terminal: errors with suggestions, warnings, notes, details. */
#define _POSIX_C_SOURCE 200809L /* access, opendir */
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* ---- verbosity and colour ---- */

static tool_voice voice = VOICE_NORMAL;

void tool_speak(tool_voice how) { voice = how; }

bool tool_quiet(void) { return voice == VOICE_QUIET; }

static bool colour(int file) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && no[0]) && isatty(file) && term && term[0] && strcmp(term, "dumb") != 0;
}

const char *tool_bold(void) { return colour(STDOUT_FILENO) ? "\033[1m" : ""; }

const char *tool_plain(void) { return colour(STDOUT_FILENO) ? "\033[0m" : ""; }

static void say(const char *kind, const char *sgr, const char *words) {
  const char *text = settings_named(words);
  progress_clear();
  if (colour(STDERR_FILENO)) fprintf(stderr, "psdm: \033[%sm%s:\033[0m %s\n", sgr, kind, text);
  else fprintf(stderr, "psdm: %s: %s\n", kind, text);
}

#define FORMATTED(text, format)                 \
  do {                                          \
    va_list args;                               \
    va_start(args, format);                     \
    vsnprintf(text, sizeof text, format, args); \
    va_end(args);                               \
  } while (0)

void tool_warn(const char *format, ...) {
  char text[1024];
  FORMATTED(text, format);
  say("warning", "1;33", text);
}

void tool_note(const char *format, ...) {
  char text[1024];
  if (tool_quiet()) return;
  FORMATTED(text, format);
  say("note", "1;36", text);
}

void tool_detail(const char *format, ...) {
  static double started;
  char text[1024];
  if (!(started > 0)) started = tool_now(); /* before settings_parse */
  if (voice != VOICE_VERBOSE) return;
  FORMATTED(text, format);
  progress_clear();
  fprintf(stderr, "psdm: %8.3f s: %s\n", tool_now() - started, settings_named(text));
}

/* ---- names ---- */

const char *tool_nearest(const char *text, const char *const *words, size_t count) {
  return psdm_nearest_word(text, words, count);
}

const char *tool_safe(const char *name) {
  static char buffers[8][256];
  static int next;
  char *out = buffers[next++ % 8];
  return psdm_escape(name, out, sizeof buffers[0]);
}

/* ---- missing files ---- */

enum { NAMES = 4096 };

/* names in a folder, each allocated; their count */
static size_t list_folder(const char *folder, char **names) {
  DIR *list = opendir(folder);
  size_t count = 0;
  for (struct dirent *entry; list && count < NAMES && (entry = readdir(list));) {
    if (entry->d_name[0] == '.') continue;
    names[count] = malloc(strlen(entry->d_name) + 1);
    if (!names[count]) break;
    strcpy(names[count++], entry->d_name);
  }
  if (list) closedir(list);
  return count;
}

/* length of a name without its ending */
static size_t stem(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

/* among the names with the same ending the one with the nearest stem, else one that differs only in its ending; NULL if
 * none is near */
static const char *nearest_name(const char *wanted, char **names, size_t count) {
  size_t length = stem(wanted);
  for (size_t i = 0; i < count; i++)
    if (stem(names[i]) == length && strncmp(names[i], wanted, length) == 0) return names[i];
  char own[256], (*stems)[256] = calloc(count + 1, sizeof *stems);
  const char **words = calloc(count + 1, sizeof *words), **whole = calloc(count + 1, sizeof *whole), *near = NULL;
  size_t same = 0;
  for (size_t i = 0; i < count && stems && words && whole; i++) {
    if (strcmp(names[i] + stem(names[i]), wanted + length) != 0) continue;
    snprintf(stems[same], sizeof stems[same], "%.*s", (int)stem(names[i]), names[i]);
    words[same] = stems[same];
    whole[same++] = names[i];
  }
  snprintf(own, sizeof own, "%.*s", (int)length, wanted);
  const char *found = same ? psdm_nearest_word(own, words, same) : NULL;
  for (size_t i = 0; i < same && found; i++)
    if (words[i] == found) near = whole[i];
  free(stems);
  free(words);
  free(whole);
  return near;
}

/* "robots/kuka_kr6.yaml" for "robots/kuka_kr7.yaml" in text; false when nothing is near */
static bool nearest_file(const char *path, char *text, size_t size) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char folder[1024];
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 2, slash ? path : "./");
  char **names = calloc(NAMES, sizeof *names);
  if (!names) return false;
  size_t count = list_folder(folder, names);
  const char *near = nearest_name(base, names, count);
  if (near) snprintf(text, size, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, near);
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
  return near != NULL;
}

/* whether the folder of a path exists */
static bool folder_exists(const char *path, char *folder, size_t size) {
  const char *slash = strrchr(path, '/');
  snprintf(folder, size, "%.*s", slash && slash > path ? (int)(slash - path) : 1, slash ? path : ".");
  return access(folder, F_OK) == 0;
}

/* a suggestion for a missing file; "" if there is none */
static void teach_file(const psdm_error *error, char *text, size_t size) {
  char near[1024], folder[1024];
  text[0] = '\0';
  if (error->status != PSDM_E_IO || !error->file[0] || access(error->file, F_OK) == 0) return;
  if (!folder_exists(error->file, folder, sizeof folder))
    snprintf(text, size, "; there is no folder '%s'", tool_safe(folder));
  else if (nearest_file(error->file, near, sizeof near)) snprintf(text, size, "; did you mean '%s'?", tool_safe(near));
}

/* ---- errors ---- */

/* a compiler that the library runs is interrupted with us */
static bool tool_stopped(const psdm_error *error) {
  return error->status == PSDM_E_STOPPED || (tool_interrupted() && error->status == PSDM_E_COMPILER);
}

int tool_fail(const psdm_error *error) {
  char text[1024], taught[600];
  if (tool_stopped(error)) {
    tool_warn("interrupted: nothing was written");
    return EXIT_INTERRUPTED;
  }
  psdm_error_format(error, text, sizeof text);
  teach_file(error, taught, sizeof taught);
  snprintf(text + strlen(text), sizeof text - strlen(text), "%s", taught);
  say("error", "1;31", text);
  bool system = error->status == PSDM_E_IO || error->status == PSDM_E_MEMORY || error->status == PSDM_E_ARGUMENT ||
                error->status == PSDM_E_COMPILER;
  if (error->status == PSDM_E_ACCURACY) return EXIT_QUALITY;
  return system ? EXIT_USAGE : EXIT_INPUT;
}

int tool_usage(const char *command, const char *format, ...) {
  char text[900], whole[1024];
  FORMATTED(text, format);
  snprintf(whole, sizeof whole, "%s (psdm %s%s--help)", text, command, command[0] ? " " : "");
  say("error", "1;31", whole);
  return EXIT_USAGE;
}

int tool_no_memory(const char *command) { return tool_usage(command, "out of memory"); }

int tool_unknown(const char *command, const char *what, const char *text, const char *const *words, size_t count) {
  const char *near = tool_nearest(text, words, count);
  char known[512] = "";
  for (size_t i = 0; i < count; i++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", words[i]);
  if (near) return tool_usage(command, "%s '%s': did you mean '%s'? There are %s", what, tool_safe(text), near, known);
  return tool_usage(command, "%s '%s': one of %s was expected", what, tool_safe(text), known);
}
