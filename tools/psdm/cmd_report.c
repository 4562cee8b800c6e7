/* cmd_report.c: psdm report: results of the other commands as one HTML page; of a robot file the results are made
 * first. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, dup2 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define REPORT_SETTINGS(X)                                                                              \
  X(text, out, "", "FILE.html", "the page; - is standard output")                                       \
  X(text, title, "", "TEXT", "heading of the page; default: the names of the robots")                   \
  X(text, gnuplot, "", "PROGRAM", "program that draws the plots; default: $PSDM_GNUPLOT, else gnuplot") \
  X(text, open, "no", "yes|no", "open the finished page, with $BROWSER or xdg-open")

typedef struct report_settings {
  REPORT_SETTINGS(SETTINGS_FIELD)
} report_settings;

#define SETTINGS_STRUCT report_settings
static const setting settings[] = {REPORT_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"RESULT...", NULL};

static const char help[] =
    "Puts results on one self-contained HTML page: no network, no other file; light and dark, for phones and print. A "
    "result is\n"
    "  what a command wrote with --json          inspect, derive, params, calibrate, payload, excite, simulate, plan, "
    "analyze, linearize, reduce, bench\n"
    "  rows of psdm calibrate --predict          torques over time, residuals\n"
    "  rows of --out (CSV with t, q1, ...)       motions of simulate, excite, plan\n"
    "  a parameter file of calibrate --out       values with their standard deviations\n"
    "  a robot file (YAML, URDF)                 runs inspect, derive and params on it\n"
    "Sections of one robot share their data: parameters get error bars if a calibration is among the results. Plots "
    "are drawn by\n"
    "gnuplot; without it the page has the numbers and lists the missing plots, and the exit code is 1. Plots over time "
    "zoom by wheel, drag, pinch and keys (+ - arrows 0).\n"
    "\n"
    "examples:\n"
    "  psdm report robots/kuka_kr6.yaml --out kr6.html\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 5 --out motion.csv --json > simulate.json\n"
    "  psdm report robots/kuka_kr6.yaml simulate.json motion.csv --out kr6.html --title 'KR6, falling'\n"
    "  psdm calibrate arm.yaml --log run.csv --holdout 0.3 --predict rows.csv --out params.yaml --json > "
    "calibrate.json\n"
    "  psdm report arm.yaml calibrate.json rows.csv params.yaml --out arm.html --open yes\n";

const command_line report_line = {"report", settings, sizeof settings / sizeof *settings, positional, help};

/* ---- a robot file: the results that it gives ---- */

/* what the page is made of, and where the results of robots lie until they are read */
typedef struct work {
  psdm_report *report;
  char folder[256]; /* private, "" while none is needed */
  int made;         /* results of robots so far */
  int lacking;      /* what was given or could be expected and is not on the page */
  progress bar;
} work;

static int make_folder(work *w) {
  const char *parent = getenv("TMPDIR");
  if (w->folder[0]) return -1;
  if (!parent || parent[0] != '/') parent = "/tmp";
  if ((size_t)snprintf(w->folder, sizeof w->folder, "%s/psdm-report-XXXXXX", parent) < sizeof w->folder &&
      mkdtemp(w->folder)) {
    tool_pending(w->folder);
    return -1;
  }
  psdm_error error = {.status = PSDM_E_IO};
  w->folder[0] = '\0';
  snprintf(error.file, sizeof error.file, "%.200s", parent);
  snprintf(error.text, sizeof error.text, "no temporary folder can be made here: %s", strerror(errno));
  return tool_fail(&error);
}

static void clean_up(work *w) {
  if (w->folder[0]) rmdir(w->folder), tool_settled(w->folder);
  psdm_report_free(w->report);
}

/* runs a command with its standard output in a file, as a shell would; what it says a second time stays unsaid.
 * After an interrupt its result is none. */
static int run_into(const char *path, bool silent, int (*command)(int argc, char **argv), const char *robot) {
  char *words[] = {(char *)robot, "--json", NULL};
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
      code = EXIT_USAGE;
  fflush(NULL);
  if (to >= 0 && out >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
    tool_hush(silent);
    code = command(2, words);
    tool_hush(false);
    tool_deaf();
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
  } else {
    tool_warn("%s: cannot be written: %s", tool_safe(path), strerror(errno));
  }
  if (to >= 0) close(to);
  if (out >= 0) close(out);
  if (!tool_interrupted()) return code;
  tool_warn("interrupted: nothing was written");
  return EXIT_INTERRUPTED;
}

/* "arm" of "some/where/arm.yaml" */
static void short_name(const char *path, char *out, size_t size) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  snprintf(out, size, "%.*s", (int)(dot && dot > name ? dot - name : (int)strlen(name)), name);
}

/* runs a command and reads what it made; -1 to go on, else the exit code */
static int add_made(work *w, const char *path, const char *name, const char *command,
                    int (*run)(int argc, char **argv)) {
  char made[400];
  psdm_error error;
  bool first = run == cmd_inspect;
  snprintf(made, sizeof made, "%s/%d-%s.%s.json", w->folder, ++w->made, name, command);
  tool_pending(made);
  int code = run_into(made, !first, run, path);
  if (code == EXIT_OK || code == EXIT_QUALITY) {
    code = psdm_report_add(w->report, made, &error) ? tool_fail(&error) : -1;
  } else if (!first && code == EXIT_USAGE) { /* no memory, no disk: that is not the robot's fault */
    tool_warn("%s: psdm %s failed; run it alone to see why; nothing was written", tool_safe(path), command);
  } else if (!first && code != EXIT_INTERRUPTED) {
    /* a robot that cannot be derived has its picture all the same; a machine that fails makes no page */
    tool_warn("%s: psdm %s %s; omitted from the page, run 'psdm %s' to see why", tool_safe(path), command,
              code == EXIT_INPUT ? "does not work for this robot" : "failed", command);
    w->lacking++;
    if (code == EXIT_INPUT) code = -1;
  }
  unlink(made);
  tool_settled(made);
  return code;
}

/* inspect must work; a robot that cannot be derived (a closed loop) still has its picture */
static int add_robot(work *w, const char *path) {
  static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
  } commands[] = {{"inspect", cmd_inspect}, {"derive", cmd_derive}, {"params", cmd_params}};
  char name[48];
  int code = make_folder(w);
  short_name(path, name, sizeof name);
  for (size_t k = 0; k < sizeof commands / sizeof *commands && code < 0; k++)
    code = add_made(w, path, name, commands[k].name, commands[k].run);
  return code;
}

/* ---- the page ---- */

static int add_all(work *w, const char *const *path, int count) {
  psdm_error error;
  for (int i = 0; i < count; i++) {
    psdm_status status = psdm_report_add(w->report, path[i], &error);
    if (status == PSDM_E_ROBOT && strcmp(path[i], "-") == 0)
      return tool_usage("report", "'-': only results can come from standard input; a robot must be a file");
    int code = status == PSDM_E_ROBOT ? add_robot(w, path[i]) : status ? tool_fail(&error) : -1;
    if (code >= 0) return code;
  }
  return -1;
}

/* what was made of a robot file is called by that file's name */
static void tell_unused(const work *w, const char *path) {
  size_t length = strlen(w->folder);
  const char *made = length && strncmp(path, w->folder, length) == 0 ? strchr(path + length, '-') : NULL;
  if (made)
    tool_warn("%.*s: duplicate robot name on the page; this model is omitted", (int)strcspn(made + 1, "."),
              tool_safe(made + 1));
  else tool_warn("%s: no section shows this result", tool_safe(path));
}

static void tell(work *w, const char *out) {
  const char *missing = psdm_report_missing(w->report), *unused;
  for (int i = 0; (unused = psdm_report_unused(w->report, i)); i++, w->lacking++) tell_unused(w, unused);
  if (missing) tool_warn("%s", missing), w->lacking++;
  if (tool_quiet()) return;
  if (strcmp(out, "-") == 0)
    fprintf(stderr, "written: %d sections, %d plots\n", psdm_report_sections(w->report), psdm_report_plots(w->report));
  else
    fprintf(stderr, "written: %s (%d sections, %d plots, %lld kB)\n", tool_safe(out), psdm_report_sections(w->report),
            psdm_report_plots(w->report), (tool_file_size(out) + 999) / 1000);
}

/* the user's viewer, without a shell and without waiting for it to be closed */
static void show_page(const char *out) {
  const char *browser = getenv("BROWSER");
  if (!browser || !browser[0]) browser = "xdg-open";
  char *words[] = {(char *)browser, (char *)out, NULL};
  pid_t child;
  int failure = tool_spawn(words, NULL, -1, &child);
  if (failure)
    tool_warn("%s cannot be run (%s); open %s in a browser", tool_safe(browser), strerror(failure), tool_safe(out));
}

static int write_page(work *w, const report_settings *set) {
  psdm_error error;
  w->bar = progress_start("drawing", 0);
  tool_listen(); /* the first Ctrl-C ends the drawing, and the page has what was drawn */
  psdm_status status = psdm_report_write(w->report, set->out, &error);
  progress_end(&w->bar);
  if (status) return tool_fail(&error);
  tell(w, set->out);
  if (strcmp(set->open, "yes") == 0 && strcmp(set->out, "-") != 0) show_page(set->out);
  return w->lacking ? EXIT_QUALITY : EXIT_OK;
}

int cmd_report(int argc, char **argv) {
  static work w;
  report_settings set;
  const char *first;
  int code = settings_parse(&report_line, argc, argv, &set, &first);
  if (code >= 0) return code;
  setting_list rest = settings_rest();
  if (!set.out) return tool_usage("report", "missing --out FILE.html");
  for (int i = 0; i < rest.count; i++) tool_input(rest.value[i]);
  if ((code = tool_spare(set.out)) >= 0) return code;
  psdm_error error;
  const psdm_report_options options = {
      .title = set.title, .gnuplot = set.gnuplot, .progress = progress_words, .progress_user = &w.bar};
  if (psdm_report_new(&options, NULL, &w.report, &error)) return tool_fail(&error);
  code = add_all(&w, rest.value, rest.count);
  if (code < 0) code = write_page(&w, &set);
  clean_up(&w);
  return code;
}
