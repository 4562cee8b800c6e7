#define _POSIX_C_SOURCE 200809L /* clock_gettime, sigaction */
#include "tool.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- words ---- */

static bool colour(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && no[0]) && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void say(const char *kind, const char *sgr, const char *text) {
  if (colour())
    fprintf(stderr, "psdm: \033[%sm%s:\033[0m %s\n", sgr, kind, text);
  else
    fprintf(stderr, "psdm: %s: %s\n", kind, text);
}

int tool_fail(const psdm_error *error) {
  char text[1024];
  say("error", "1;31", psdm_error_format(error, text, sizeof text));
  bool system = error->status == PSDM_E_IO || error->status == PSDM_E_MEMORY || error->status == PSDM_E_ARGUMENT || error->status == PSDM_E_COMPILER;
  return system ? EXIT_USAGE : EXIT_INPUT;
}

int tool_usage(const char *command, const char *format, ...) {
  char text[512], whole[700];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  snprintf(whole, sizeof whole, "%s (psdm %s%s--help)", text, command, command[0] ? " " : "");
  say("error", "1;31", whole);
  return EXIT_USAGE;
}

void tool_warn(const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  say("warning", "1;33", text);
}

bool tool_parse_number(const char *text, double *value) { return psdm_parse_number(text, value); }

int tool_numbers(const char *command, const char *option, const char *text, int count, double *value) {
  const char *at = text;
  int found = 0;
  for (;; at++) {
    char part[64];
    size_t length = strcspn(at, ",");
    if (length >= sizeof part || found == count) break;
    memcpy(part, at, length);
    part[length] = '\0';
    if (!tool_parse_number(part, &value[found])) break;
    found++;
    at += length;
    if (*at) continue;
    for (int i = 1; i < count && found == 1; i++) value[i] = value[0];
    if (found == 1 || found == count) return -1;
    break;
  }
  return tool_usage(command, "--%s '%s': one number or %d were expected", option, tool_safe(text), count);
}

const char *tool_nearest(const char *text, const char *const *words, size_t count) { return psdm_nearest_word(text, words, count); }

const char *tool_safe(const char *name) {
  static char buffers[8][256];
  static int next;
  char *out = buffers[next++ % 8];
  return psdm_escape(name, out, sizeof buffers[0]);
}

/* ---- robots ---- */

enum { LOCKS = 64 };

/* "JOINT=VALUE,JOINT=VALUE" in text, which is cut into pieces; a name ends at the last = of its piece */
static int parse_locks(const char *command, char *text, psdm_lock *locks, int *count) {
  for (char *at = text, *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    char *equals = strrchr(at, '=');
    if (*count == LOCKS) return tool_usage(command, "--lock: at most %d joints", LOCKS);
    if (!equals || !tool_parse_number(equals + 1, &locks[*count].value)) return tool_usage(command, "--lock '%s': JOINT=VALUE was expected", tool_safe(at));
    *equals = '\0';
    locks[(*count)++].joint = at;
  }
  return -1;
}

/* what the robot cannot hold of its calibrated friction is told, and that base parameters alone say nothing about single links */
static void tell_parameters(const char *path, const psdm_parameters *p) {
  double most = 0, left_out;
  for (int i = 0; i < p->n; i++) {
    psdm_friction friction;
    psdm_parameters_friction(p, i, &friction, &left_out);
    if (left_out > most) most = left_out;
  }
  if (!p->pi) fprintf(stderr, "psdm: note: %s has base parameters only: torques are right, single links' inertias mean nothing\n", path);
  if (most > 0) fprintf(stderr, "psdm: note: %s: friction is the nearest Coulomb and viscous curve, at most %.2g off at a steady speed\n", path, most);
}

static int take_parameters(const char *path, psdm_robot *robot) {
  psdm_parameters *parameters;
  psdm_error error;
  if (psdm_parameters_load(path, robot, NULL, &parameters, &error)) return tool_fail(&error);
  psdm_status status = psdm_parameters_apply(parameters, robot, &error);
  if (!status) tell_parameters(path, parameters);
  psdm_parameters_free(parameters);
  return status ? tool_fail(&error) : -1;
}

/* reads a robot file, or tables when dh is set, and tells what was noticed */
static int load(const char *command, const char *path, bool tables, const char *x_path, const robot_settings *set, psdm_robot **robot) {
  psdm_error error;
  psdm_lock locks[LOCKS];
  char text[2048] = "";
  psdm_robot_options options = {.no_snap = set->no_snap, .gravity = set->gravity.given ? set->gravity.value : NULL, .root = set->root, .tip = set->tip, .locks = locks};
  if (set->lock) {
    if (strlen(set->lock) >= sizeof text) return tool_usage(command, "--lock is too long");
    snprintf(text, sizeof text, "%s", set->lock);
    int code = parse_locks(command, text, locks, &options.lock_count);
    if (code >= 0) return code;
  }
  psdm_status status = tables ? psdm_robot_load_tables(path, x_path, &options, NULL, robot, &error) : psdm_robot_load(path, &options, NULL, robot, &error);
  if (status) return tool_fail(&error);
  for (int i = 0; i < psdm_robot_notes(*robot); i++) fprintf(stderr, "psdm: note: %s\n", psdm_robot_note(*robot, i));
  for (int i = 0; i < psdm_robot_warnings(*robot); i++) tool_warn("%s", psdm_robot_warning(*robot, i));
  return set->params ? take_parameters(set->params, *robot) : -1;
}

int tool_load(const char *command, const char *path, const robot_settings *set, psdm_robot **robot) {
  return load(command, path, false, NULL, set, robot);
}

int tool_load_tables(const char *command, const char *dh_path, const char *x_path, const robot_settings *set, psdm_robot **robot) {
  return load(command, dh_path, true, x_path, set, robot);
}

int tool_assume(const char *command, const char *text, psdm_derive_options *options) {
  static char copy[4096];
  static const char *piece[256];
  if (!text) return -1;
  if (strlen(text) >= sizeof copy) return tool_usage(command, "--assume is too long");
  snprintf(copy, sizeof copy, "%s", text);
  for (char *at = copy, *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    if (options->assume_count == (int)(sizeof piece / sizeof *piece)) return tool_usage(command, "--assume: at most 256 assumptions");
    piece[options->assume_count++] = at;
  }
  options->assume = piece;
  return -1;
}

/* ---- output ---- */

static char pending[4096]; /* temporary file to unlink when a signal ends us; "" when none */

static void on_signal(int number) {
  if (pending[0]) unlink(pending);
  signal(number, SIG_DFL);
  raise(number);
}

int tool_open(const char *path, psdm_output **out) {
  psdm_error error;
  if (psdm_output_open(path, NULL, out, &error)) return tool_fail(&error);
  const char *temporary = psdm_output_temporary(*out);
  if (temporary && strlen(temporary) < sizeof pending) {
    snprintf(pending, sizeof pending, "%s", temporary);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
  }
  return -1;
}

int tool_commit(psdm_output **out) {
  psdm_error error;
  psdm_status status = psdm_output_commit(out, &error);
  pending[0] = '\0';
  return status ? tool_fail(&error) : EXIT_OK;
}

void tool_abort(psdm_output **out) {
  psdm_output_abort(out);
  pending[0] = '\0';
}

void tool_json_begin(psdm_output *out, const char *command) {
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", command);
  psdm_json_string(out, "psdm", psdm_version());
}

void tool_group_names(psdm_output *out, const char *const *names, int groups, int n) {
  for (int g = 0; g < groups; g++)
    for (int i = 0; i < n; i++) psdm_output_print(out, ",%s%d", names[g], i + 1);
  psdm_output_text(out, "\n");
}

void tool_group_numbers(psdm_output *out, const double *const *group, int groups, int n) {
  for (int g = 0; g < groups; g++)
    for (int i = 0; i < n; i++) {
      psdm_output_text(out, ",");
      psdm_output_number(out, group[g][i]);
    }
  psdm_output_text(out, "\n");
}

/* ---- progress ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_start(long long total) {
  double t = now();
  return (progress){.on = isatty(STDERR_FILENO) != 0, .started = t, .last = t, .total = total};
}

void progress_show(progress *p, long long done, long long rows, const char *unit) {
  if (!p->on) return;
  double t = now(), spent = t - p->started;
  if (spent < 2 || t - p->last < 0.2) return;
  p->last = t;
  p->shown = true;
  if (p->total > 0 && done > 0) {
    double part = (double)done / (double)p->total;
    if (part > 1) part = 1;
    int bar = (int)(30 * part);
    fprintf(stderr, "\r  [%.*s%*s] %3.0f %%  %lld %s, %.0f s left \033[K", bar, "##############################", 30 - bar, "", 100 * part,
            rows, unit, spent * (1 - part) / part);
  } else {
    fprintf(stderr, "\r  %lld %s, %.0f per second \033[K", rows, unit, (double)rows / spent);
  }
  fflush(stderr);
}

void progress_words(progress *p, const char *doing, double share) {
  if (!p->on) return;
  double t = now();
  if (t - p->started < 2 || t - p->last < 0.2) return;
  p->last = t;
  p->shown = true;
  fprintf(stderr, "\r  %.0f s: %s", t - p->started, doing);
  if (share >= 0) fprintf(stderr, ", %.0f %%", 100 * share);
  fprintf(stderr, " \033[K");
  fflush(stderr);
}

void progress_end(progress *p) {
  if (p->shown) fprintf(stderr, "\r\033[K");
}

/* ---- generated functions ---- */

int tool_functions(const char *command, const char *list, unsigned *functions) {
  const char *words[PSDM_CODE_FUNCTIONS + 2] = {"usual", "all"};
  for (int f = 0; f < PSDM_CODE_FUNCTIONS; f++) words[2 + f] = psdm_code_function_name((psdm_code_function)f);
  *functions = 0;
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char name[64];
    psdm_code_function f;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
    const char *near = tool_nearest(name, words, PSDM_CODE_FUNCTIONS + 2);
    if (strcmp(name, "usual") == 0)
      *functions |= (2u << PSDM_CODE_POSE) - 1;
    else if (strcmp(name, "all") == 0)
      *functions |= (1u << PSDM_CODE_FUNCTIONS) - 1;
    else if (psdm_code_function_find(name, &f))
      *functions |= 1u << f;
    else
      return tool_usage(command, "function '%s': %s%s%s'psdm codegen --help' lists them", tool_safe(name), near ? "did you mean '" : "there is none; ", near ? near : "", near ? "'? " : "");
  }
  return -1;
}
