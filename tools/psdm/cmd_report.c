/* cmd_report.c: psdm report: results of the other commands as one HTML page; of a robot file the results are made
 * first. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define REPORT_SETTINGS(X)                                                                              \
  X(text, out, "", "FILE.html", "the page; - is standard output")                                       \
  X(text, title, "", "TEXT", "heading of the page; default: the names of the robots")                   \
  X(text, gnuplot, "", "PROGRAM", "program that draws the plots; default: $PSDM_GNUPLOT, else gnuplot") \
  X(text, open, "no", "yes|no", "open the finished page, with $BROWSER or xdg-open")

PSDM_SETTINGS_STRUCT(report_settings, REPORT_SETTINGS);

#define SETTINGS_STRUCT report_settings
static const psdm_setting settings[] = {REPORT_SETTINGS(PSDM_SETTINGS_ROW){0}};

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

const command_line report_line = {"report", settings, positional, help};

typedef struct work {
  psdm_report *report;
  psdm_setting_list given;
  int lacking; /* what was given or could be expected and is not on the page */
  progress bar;
} work;

/* what was made of a robot file has that file's short name, which nobody gave */
static void tell_unused(const work *w, const char *path) {
  bool given = false;
  for (int i = 0; i < w->given.count; i++) given |= strcmp(w->given.value[i], path) == 0;
  tool_warn(given ? "%s: no section shows this result" : "%s: duplicate robot name on the page; this model is omitted",
            tool_safe(path));
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
  w->bar = progress_start("drawing");
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
  if (!set.out) return tool_usage("report", "missing --out FILE.html");
  w.given = settings_rest();
  for (int i = 0; i < w.given.count; i++) tool_input(w.given.value[i]);
  if ((code = tool_spare(set.out)) >= 0) return code;
  psdm_error error;
  const psdm_report_options options = {
      .title = set.title, .gnuplot = set.gnuplot, .progress = progress_words, .progress_user = &w.bar};
  if (psdm_report_new(&options, NULL, &w.report, &error)) return tool_fail(&error);
  for (int i = 0; i < w.given.count && code < 0; i++) code = tool_job_report(w.report, w.given.value[i], &w.lacking);
  if (code < 0) code = write_page(&w, &set);
  psdm_report_free(w.report);
  return code;
}
