/* plot_io.c: gnuplot as a child process: a script on its standard input, pictures from its standard output. No file, no
 * folder, no shell: nothing can be left over. */
#define _GNU_SOURCE /* secure_getenv, memfd_create, pipe2, memmem */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/page_priv.h"

enum { SVG_BYTES = 32 * 1024 * 1024, LINE_BYTES = 256, MOST_FAILURES = 8 };

#define PATIENCE 20.0 /* seconds without a new picture after which gnuplot counts as hung */

/* one use of gnuplot */
typedef struct painter {
  psdmp_report_page *page;
  const char *program;
  psdmp_report_page got; /* gnuplot's output since its last complete picture */
  bool spilled;          /* more than a picture may have */
  int done;              /* figures that are drawn, or never will be */
  bool absent;           /* the program does not exist */
  int unreadable;        /* errno of a failed read, 0: none */
  psdm_progress progress;
  void *progress_user;
} painter;

static bool goes_on(const painter *s) {
  return !s->progress || s->progress(s->progress_user, "drawing plots", (double)s->done / s->page->figures);
}

static const char *from_environment(const char *name) {
  const char *text = secure_getenv(name);
  return text && text[0] ? text : NULL;
}

static psdmp_report_figure *figure_after(const psdmp_report_page *page, int number) {
  psdmp_report_figure *f = page->figure;
  while (f && f->number <= number) f = f->next;
  return f;
}

/* ---- the script ---- */

/* an unnamed file with the script for these figures */
static psdm_status script_of(painter *s, const psdmp_report_figure *from, int *script, psdm_error *error) {
  psdmp_report_page text = {.arena = {.allocator = s->page->arena.allocator}};
  for (const psdmp_report_figure *f = from; f; f = f->next)
    for (int size = 0; size < PSDMP_REPORT_SIZES; size++) psdmp_report_plot_script(&text, f, size);
  int file = text.status ? -1 : memfd_create("psdm-plots", MFD_CLOEXEC);
  bool whole = file >= 0;
  psdm_status status = PSDM_OK;
  for (size_t at = 0; whole && at < text.used;) {
    ssize_t wrote = write(file, text.text + at, text.used - at);
    whole = wrote > 0 || (wrote < 0 && errno == EINTR);
    if (wrote > 0) at += (size_t)wrote;
  }
  if (!whole)
    status = psdmp_base_fail(error, text.status ? text.status : PSDM_E_IO, s->program, 0, 0,
                             text.status ? "out of memory" : "its script cannot be written: %s", strerror(errno));
  if (whole) lseek(file, 0, SEEK_SET);
  if (!whole && file >= 0) close(file);
  psdmp_report_page_free(&text);
  *script = file;
  return status;
}

/* ---- its pictures ---- */

/* "FIGURE SIZE LEFT RIGHT BOTTOM TOP": which picture ends here, and where its axes are */
static psdmp_report_figure *read_line(const painter *s, const char *text, const char *end, int *size, double box[4]) {
  double value[6];
  int width, height;
  for (int i = 0; i < 6; i++) {
    while (text < end && *text == ' ') text++;
    const char *word = text;
    while (text < end && *text != ' ') text++;
    if (!psdmp_base_parse_number(word, (size_t)(text - word), &value[i])) return NULL;
  }
  if (!(value[0] >= 1 && value[0] <= s->page->figures && value[1] >= 0 && value[1] < PSDMP_REPORT_SIZES)) return NULL;
  psdmp_report_figure *figure = figure_after(s->page, (int)value[0] - 1);
  *size = (int)value[1];
  psdmp_report_plot_size(figure, *size, &width, &height);
  /* gnuplot counts from the bottom */
  box[0] = value[2], box[1] = value[3], box[2] = height - value[5], box[3] = height - value[4];
  return box[0] >= 0 && box[0] < box[1] && box[1] <= width && box[2] >= 0 && box[2] < box[3] && box[3] <= height
             ? figure
             : NULL;
}

/* takes complete pictures; fresh: where the latest output starts */
static void take_pictures(painter *s, size_t fresh) {
  static const char mark[] = "\n" PSDMP_REPORT_PLOT_MARK;
  psdmp_report_page *got = &s->got;
  for (size_t from = fresh > LINE_BYTES ? fresh - LINE_BYTES : 0;; from = 0) {
    char *line = got->used > from ? memmem(got->text + from, got->used - from, mark, sizeof mark - 1) : NULL;
    char *end = line ? memchr(line + 1, '\n', got->used - (size_t)(line + 1 - got->text)) : NULL;
    if (!end) break;
    int size;
    double box[4];
    psdmp_report_figure *figure = read_line(s, line + sizeof mark - 1, end, &size, box);
    if (figure && !s->spilled)
      figure->svg[size] = psdmp_report_plot_distil(s->page, figure, size, got->text, (size_t)(line - got->text), box);
    if (figure && size == PSDMP_REPORT_SIZES - 1 && figure->number > s->done) s->done = figure->number;
    s->spilled = false;
    got->used -= (size_t)(end - got->text);
    memmove(got->text, end, got->used);
  }
  if (got->used < SVG_BYTES) return;
  memmove(got->text, got->text + got->used - LINE_BYTES, LINE_BYTES);
  got->used = LINE_BYTES;
  s->spilled = true;
}

/* ---- the child ---- */

/* gnuplot without the user's own settings (-d). It stops at the first error in a file, but not in its standard input:
 * so that is passed as a file. It ends when we end, as nobody reads its output. */
static int start(const painter *s, int script, int out, pid_t *child) {
  char *words[] = {(char *)s->program, "-d", "/dev/stdin", NULL};
  return psdmp_base_spawn(NULL, s->program, words, script, out, PSDMP_BASE_NOTHING, child);
}

/* how a run of gnuplot ended */
typedef enum ending { ENDED, HUNG, STOPPED, UNREADABLE } ending;

/* reads the child's output while pictures keep coming and the caller continues */
static ending attend(painter *s, int in) {
  char piece[1 << 14];
  double last = psdmp_base_clock();
  s->got.used = 0;
  s->spilled = false;
  for (;;) {
    struct pollfd wait = {.fd = in, .events = POLLIN};
    int ready = poll(&wait, 1, 100);
    if (ready < 0 && errno != EINTR) return UNREADABLE;
    if (ready > 0) {
      ssize_t length = read(in, piece, sizeof piece);
      if (length < 0 && errno != EINTR) return UNREADABLE;
      if (length == 0) break;
      size_t fresh = s->got.used;
      int before = s->done;
      if (length > 0) psdmp_report_page_bytes(&s->got, piece, (size_t)length);
      if (s->got.status) break;
      take_pictures(s, fresh);
      if (s->done > before) last = psdmp_base_clock();
    }
    if (psdmp_base_clock() - last > PATIENCE) return HUNG;
    if (!goes_on(s)) return STOPPED;
  }
  /* the signal that stops us may have ended the child first */
  return goes_on(s) ? ENDED : STOPPED;
}

/* one run; returns the errno if it cannot start */
static int draw_from(painter *s, int script, ending *end) {
  int ends[2], failure;
  pid_t child;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  failure = start(s, script, ends[1], &child);
  close(ends[1]);
  if (!failure) *end = attend(s, ends[0]);
  if (!failure && *end == UNREADABLE) s->unreadable = errno;
  close(ends[0]);
  if (failure) return failure;
  /* its output is complete, or no longer needed */
  kill(child, SIGKILL);
  psdmp_base_spawn_wait(child, NULL);
  return 0;
}

/* ---- all figures ---- */

/* gnuplot stops at its first error: the figures after it get another run */
static psdm_status draw_all(painter *s, char *missing, size_t size, psdm_error *error) {
  int failures = 0;
  for (psdmp_report_figure *from = s->page->figure; from && failures < MOST_FAILURES;
       from = figure_after(s->page, s->done)) {
    ending end = ENDED;
    int script;
    psdm_status status = script_of(s, from, &script, error);
    if (status) return status;
    int failure = draw_from(s, script, &end);
    close(script);
    if (failure) {
      s->absent = true;
      snprintf(missing, size, "plots are omitted: '%.100s' cannot be run (%s); install Debian's package gnuplot-nox",
               s->program, strerror(failure));
      return PSDM_OK;
    }
    if (s->got.status) return psdmp_base_fail(error, s->got.status, s->program, 0, 0, "out of memory");
    if (end == HUNG)
      psdmp_base_print(missing, size, "'%.100s' drew nothing for %.0f seconds and was stopped", s->program, PATIENCE);
    if (end == UNREADABLE)
      snprintf(missing, size, "the output of '%.100s' cannot be read: %s", s->program, strerror(s->unreadable));
    if (end == STOPPED && s->done < s->page->figures) snprintf(missing, size, "drawing was stopped");
    if (end != ENDED) return PSDM_OK;
    if (s->done < s->page->figures) s->done++, failures++;
  }
  return PSDM_OK;
}

/* a figure has all its sizes or is omitted: a missing narrow one would leave a gap on small screens */
static int drop_halves(psdmp_report_page *page) {
  int lost = 0;
  for (psdmp_report_figure *f = page->figure; f; f = f->next) {
    bool whole = true;
    for (int size = 0; size < PSDMP_REPORT_SIZES; size++) whole &= f->svg[size] != NULL;
    for (int size = 0; size < PSDMP_REPORT_SIZES && !whole; size++) f->svg[size] = NULL;
    lost += !whole;
  }
  return lost;
}

psdm_status psdmp_report_plot_draw(psdmp_report_page *page, const char *gnuplot, psdm_progress progress,
                                   void *progress_user, char *missing, size_t size, psdm_error *error) {
  const char *named = from_environment("PSDM_GNUPLOT");
  painter s = {.page = page,
               .program = gnuplot ? gnuplot
                          : named ? named
                                  : "gnuplot",
               .got = {.arena = {.allocator = page->arena.allocator}},
               .progress = progress,
               .progress_user = progress_user};
  missing[0] = '\0';
  if (!page->figures) return PSDM_OK;
  psdm_status status = draw_all(&s, missing, size, error);
  psdmp_report_page_free(&s.got);
  int lost = drop_halves(page);
  if (!lost) missing[0] = '\0'; /* the error came after the last picture */
  if (lost && !s.absent) {
    char why[256];
    snprintf(why, sizeof why, "%s", missing);
    if (!why[0]) snprintf(why, sizeof why, "'%.100s' failed to draw them", s.program);
    snprintf(missing, size, "%d of %d plots are missing: %s", lost, page->figures, why);
  }
  return status;
}
