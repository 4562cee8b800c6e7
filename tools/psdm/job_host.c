/* job_host.c: the library's jobs behind the command line: options in, words and files out. */
#include "ranks.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static progress bar;

static void tell(void *user, psdm_job_event event, const char *text) {
  (void)user;
  switch (event) {
    case PSDM_JOB_DETAIL: tool_detail("%s", text); break;
    case PSDM_JOB_NOTE: tool_note("%s", text); break;
    case PSDM_JOB_CAUTION:
      if (!tool_quiet()) tool_warn("%s", text);
      break;
    case PSDM_JOB_WARNING: tool_warn("%s", text); break;
    case PSDM_JOB_STAGE:
      if (text[0]) bar = progress_start(text);
      else progress_end(&bar);
      break;
    case PSDM_JOB_LACKING: progress_lacking(text); break;
    case PSDM_JOB_STOPPABLE: tool_listen(); break;
    case PSDM_JOB_FINISHING: tool_deaf(); break;
    case PSDM_JOB_FRAGILE:
      if (text[0]) tool_fragile(text);
      else tool_solid();
  }
}

static bool show(void *user, const char *doing, double share) {
  (void)user;
  return progress_words(&bar, doing, share);
}

static bool stopped(void *user) {
  (void)user;
  return tool_interrupted();
}

/* a signal other than Ctrl-C */
static bool hurried(void *user) {
  (void)user;
  return tool_terminated();
}

static void reads(void *user, const char *path) {
  (void)user;
  tool_input(path);
}

static psdm_status open_file(void *user, const char *path, psdm_output **out, psdm_error *error) {
  (void)user;
  return tool_try_open(path, out, error);
}

static psdm_status close_file(void *user, psdm_output **out, bool keep, psdm_error *error) {
  (void)user;
  if (keep) return tool_try_commit(out, error);
  tool_abort(out);
  return PSDM_OK;
}

static psdm_status writes(void *user, const char *path, bool done, psdm_error *error) {
  (void)user;
  if (!done) return tool_try_spare(path, error);
  tool_detail("%s: %lld bytes written", tool_safe(path), tool_file_size(path));
  return PSDM_OK;
}

static psdm_job_host host(void) {
  return (psdm_job_host){.tell = tell,
                         .progress = show,
                         .stopped = stopped,
                         .hurried = hurried,
                         .reads = reads,
                         .open = open_file,
                         .close = close_file,
                         .writes = writes,
                         .ranks = ranks_all()};
}

static int fail(const char *command, const psdm_error *error) {
  if (error->status == PSDM_E_STOPPED && error->text[0]) {
    tool_warn("interrupted: %s; nothing was written", error->text);
    return EXIT_INTERRUPTED;
  }
  return error->status == PSDM_E_SETTING ? tool_usage(command, "%s", error->text) : tool_fail(error);
}

/* ---- jobs ---- */

/* the command line; words that a shell would split are quoted. NULL without memory; lasts as long as the program */
static const char *command_text(const char *command, int argc, char **argv) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  static char *text;
  size_t size = sizeof "psdm " + strlen(command);
  for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 3;
  free(text);
  if (!(text = malloc(size))) return NULL;
  char *at = text + sprintf(text, "psdm %s", command);
  for (int i = 0; i < argc; i++)
    at += sprintf(at, argv[i][0] && !argv[i][strspn(argv[i], plain)] ? " %s" : " '%s'", argv[i]);
  return text;
}

/* the robot, and what the job takes without a name */
static psdm_status take_arguments(const command_line *line, const char *const *word, psdm_job *job, psdm_error *error) {
  const psdm_setting *argument = psdm_job_arguments(line->command);
  psdm_status status = PSDM_OK;
  for (int k = 0; line->positional[k] && word[k] && !status; k++)
    status = strcmp(line->positional[k], "ROBOT") == 0 ? psdm_job_file(job, word[k], error)
                                                       : psdm_job_set(job, (argument++)->name, word[k], error);
  return status;
}

int tool_job_run(const command_line *line, int argc, char **argv, psdm_job **job) {
  return tool_job_run_prepared(line, argc, argv, job, NULL, NULL);
}

int tool_job_run_prepared(const command_line *line, int argc, char **argv, psdm_job **job,
                          int (*prepare)(psdm_job *job, void *user), void *user) {
  enum { MOST = 8 };
  const char *word[MOST];
  psdm_job_host own = host();
  psdm_error error;
  own.command = command_text(line->command, argc, argv);
  if (psdm_job_new(line->command, &own, job, &error)) return tool_fail(&error);
  int code = settings_parse(line, argc, argv, psdm_job_values(*job), word);
  if (code < 0 && prepare) code = prepare(*job, user);
  if (code >= 0) return code;
  psdm_status status = take_arguments(line, word, *job, &error);
  if (!status) status = psdm_job_run(*job, &error);
  return status ? fail(line->command, &error) : ranks_helper() ? EXIT_OK : -1;
}

const char *tool_job_text(const psdm_job *job, const char *setting) {
  return *(const char *const *)psdm_job_value(job, setting);
}

bool tool_job_flag(const psdm_job *job, const char *setting) { return *(const bool *)psdm_job_value(job, setting); }

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* by --json, or by one of these settings, ending with NULL */
static bool stdout_taken(const psdm_job *job, const char *const *files) {
  bool taken = tool_job_flag(job, "json");
  for (; files && *files; files++) taken |= is_stdout(tool_job_text(job, *files));
  return taken;
}

bool tool_job_words(const psdm_job *job, const char *const *files) {
  return !stdout_taken(job, files) && !tool_quiet();
}

int tool_job_json(const psdm_job *job) {
  psdm_output *out;
  if (!tool_job_flag(job, "json")) return EXIT_OK;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  psdm_job_json(job, out);
  return tool_commit(&out);
}

int tool_job_command(const command_line *line, int argc, char **argv, const char *const *files,
                     int (*print)(const psdm_job *job)) {
  psdm_job *job;
  int code = tool_job_run(line, argc, argv, &job);
  return tool_job_end(job, code, files, print);
}

int tool_job_end(psdm_job *job, int code, const char *const *files, int (*print)(const psdm_job *job)) {
  if (code < 0) {
    code = tool_job_json(job);
    if (code == EXIT_OK && !stdout_taken(job, files)) code = print(job);
    if (code == EXIT_OK && !psdm_job_good(job)) code = EXIT_QUALITY;
  }
  psdm_job_free(job);
  return code;
}

int tool_job_quiet(const command_line *line, int argc, char **argv) {
  psdm_job *job;
  int code = tool_job_run(line, argc, argv, &job);
  psdm_job_free(job);
  return code < 0 ? EXIT_OK : code;
}

/* ---- reports ---- */

int tool_job_report(psdm_report *report, const char *path, int *lacking) {
  const psdm_job_host own = host();
  psdm_error error;
  return psdm_job_report(&own, report, path, lacking, &error) ? fail("report", &error) : -1;
}
