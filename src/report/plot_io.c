/* plot_io.c: gnuplot as a child process: one private folder, one script, no shell. */
#define _GNU_SOURCE /* secure_getenv, mkdtemp */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/page.h"

extern char **environ;

enum { PATH_ROOM = 512, SVG_BYTES = 32 * 1024 * 1024, MOST_FAILURES = 8 };

#define PATIENCE 20.0 /* seconds without a new picture after which gnuplot hangs */

/* one use of gnuplot */
typedef struct painter {
  psdmp_page *page;
  const char *program;
  char folder[PATH_ROOM]; /* private, "" when none */
  int done;               /* figures whose files are there */
  bool absent;            /* there is no such program */
  bool (*progress)(void *context, int done, int all);
  void *context;
} painter;

static const char *from_environment(const char *name) {
  const char *text = secure_getenv(name);
  return text && text[0] ? text : NULL;
}

static psdm_status make_folder(painter *s, psdm_error *error) {
  const char *parent = from_environment("TMPDIR");
  if (!parent || parent[0] != '/') parent = "/tmp";
  if ((size_t)snprintf(s->folder, sizeof s->folder, "%s/psdm-report-XXXXXX", parent) < sizeof s->folder && mkdtemp(s->folder)) return PSDM_OK;
  s->folder[0] = '\0';
  return psdmp_fail(error, PSDM_E_IO, parent, 0, 0, "no temporary folder can be made here: %s", strerror(errno));
}

static void name_file(const painter *s, int figure, int size, const char *suffix, char path[PATH_ROOM + 64]) {
  snprintf(path, PATH_ROOM + 64, "%s/%d-%d.%s", s->folder, figure, size, suffix);
}

/* the last file of a figure is there: it is drawn */
static bool is_drawn(const painter *s, int figure) {
  char path[PATH_ROOM + 64];
  struct stat info;
  name_file(s, figure, PSDMP_SIZES - 1, "txt", path);
  return stat(path, &info) == 0 && info.st_size > 0;
}

/* ---- the script ---- */

static void put_folder(psdmp_page *out, const char *folder) {
  psdmp_page_raw(out, "cd '");
  for (; *folder; folder++) psdmp_page_bytes(out, *folder == '\'' ? "''" : folder, *folder == '\'' ? 2 : 1);
  psdmp_page_raw(out, "'\n");
}

static psdm_status write_script(painter *s, const psdmp_figure *from, const char *path, psdm_error *error) {
  psdmp_page text = {.arena = {.allocator = s->page->arena.allocator}};
  psdm_output *out = NULL;
  put_folder(&text, s->folder);
  for (const psdmp_figure *f = from; f; f = f->next)
    for (int size = 0; size < PSDMP_SIZES; size++) psdmp_plot_script(&text, f, size);
  psdm_status status = text.status ? psdmp_fail(error, text.status, path, 0, 0, "out of memory") : psdm_output_open(path, s->page->arena.allocator, &out, error);
  if (!status) {
    psdm_output_text(out, text.text);
    status = psdm_output_commit(&out, error);
  }
  psdmp_page_free(&text);
  return status;
}

/* ---- the child ---- */

static int start(const painter *s, const char *script, pid_t *child) {
  char *words[] = {(char *)s->program, (char *)script, NULL};
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure) return failure;
  failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!failure) failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (!failure) failure = posix_spawnp(child, s->program, &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

/* how a run of gnuplot ended */
typedef enum ending { ENDED, HUNG, STOPPED } ending;

static bool count_drawn(painter *s) {
  int before = s->done;
  while (s->done < s->page->figures && is_drawn(s, s->done + 1)) s->done++;
  return s->done > before;
}

/* waits for the child as long as pictures keep coming and the caller wants more */
static ending attend(painter *s, pid_t child) {
  double last = psdmp_clock();
  struct timespec pause = {0, 2 * 1000 * 1000};
  ending end = ENDED;
  int state;
  for (;;) {
    pid_t got = waitpid(child, &state, WNOHANG);
    /* a host that ignores SIGCHLD has no state for us: then the files tell */
    if (got == child || (got < 0 && errno != EINTR)) break;
    if (count_drawn(s)) last = psdmp_clock();
    if (end == ENDED && psdmp_clock() - last > PATIENCE) end = HUNG;
    if (end == ENDED && s->progress && !s->progress(s->context, s->done, s->page->figures)) end = STOPPED;
    if (end != ENDED) kill(child, SIGKILL);
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 100 * 1000 * 1000) pause.tv_nsec += 1000 * 1000;
  }
  count_drawn(s);
  /* the signal that stops us may have ended the child first */
  if (end == ENDED && s->progress && !s->progress(s->context, s->done, s->page->figures)) end = STOPPED;
  return end;
}

/* ---- its pictures ---- */

static bool read_box(const painter *s, const psdmp_figure *figure, int size, psdmp_arena *arena, double box[4]) {
  char path[PATH_ROOM + 64], *text;
  size_t length;
  int width, height;
  name_file(s, figure->number, size, "txt", path);
  if (psdmp_file_read(path, 4096, arena, &text, &length, NULL)) return false;
  psdmp_plot_size(figure, size, &width, &height);
  for (int i = 0; i < 4; i++) {
    size_t skip = strspn(text, " \n"), word = strcspn(text + skip, " \n");
    if (!psdmp_parse_number(text + skip, word, &box[i])) return false;
    text += skip + word;
  }
  /* gnuplot counts from below: left, right, bottom, top */
  double top = height - box[3], bottom = height - box[2];
  box[2] = top, box[3] = bottom;
  return box[0] >= 0 && box[0] < box[1] && box[1] <= width && top >= 0 && top < bottom && bottom <= height;
}

static bool take_picture(painter *s, psdmp_figure *figure, int size) {
  psdmp_arena arena = {.allocator = s->page->arena.allocator};
  char path[PATH_ROOM + 64], *svg;
  size_t length;
  double box[4];
  name_file(s, figure->number, size, "svg", path);
  bool whole = read_box(s, figure, size, &arena, box) && !psdmp_file_read(path, SVG_BYTES, &arena, &svg, &length, NULL);
  if (whole) figure->svg[size] = psdmp_plot_distil(s->page, figure, size, svg, length, box);
  psdmp_arena_free(&arena);
  return whole && figure->svg[size];
}

static void remove_files(const painter *s) {
  static const char *const suffixes[] = {"svg", "txt"};
  char path[PATH_ROOM + 64];
  for (int i = 1; i <= s->page->figures; i++)
    for (int size = 0; size < PSDMP_SIZES; size++)
      for (int k = 0; k < 2; k++) {
        name_file(s, i, size, suffixes[k], path);
        unlink(path);
      }
  snprintf(path, sizeof path, "%s/script.gp", s->folder);
  unlink(path);
  rmdir(s->folder);
}

/* ---- the whole ---- */

static psdmp_figure *figure_after(const psdmp_page *page, int number) {
  psdmp_figure *f = page->figure;
  while (f && f->number <= number) f = f->next;
  return f;
}

/* gnuplot ends at its first error: what comes after that figure gets a run of its own */
static psdm_status draw_all(painter *s, int *failures, char *missing, size_t size, psdm_error *error) {
  char script[PATH_ROOM + 64];
  snprintf(script, sizeof script, "%s/script.gp", s->folder);
  for (psdmp_figure *from = s->page->figure; from && *failures < MOST_FAILURES; from = figure_after(s->page, s->done)) {
    pid_t child;
    psdm_status status = write_script(s, from, script, error);
    if (status) return status;
    int failure = start(s, script, &child);
    if (failure) {
      s->absent = true;
      snprintf(missing, size, "plots are missing: '%.100s' cannot be run (%s); Debian's package gnuplot-nox has it", s->program, strerror(failure));
      return PSDM_OK;
    }
    ending end = attend(s, child);
    if (end == HUNG) snprintf(missing, size, "'%.100s' draws nothing for %.0f seconds and was ended", s->program, PATIENCE);
    if (end == STOPPED && s->done < s->page->figures) snprintf(missing, size, "drawing was stopped");
    if (end != ENDED) return PSDM_OK;
    if (s->done < s->page->figures) s->done++, ++*failures;
  }
  return PSDM_OK;
}

psdm_status psdmp_plot_draw(psdmp_page *page, const char *gnuplot, bool (*progress)(void *context, int done, int all), void *context,
                            char *missing, size_t size, psdm_error *error) {
  const char *named = from_environment("PSDM_GNUPLOT");
  painter s = {.page = page, .program = gnuplot ? gnuplot : named ? named : "gnuplot", .progress = progress, .context = context};
  int failures = 0, lost = 0;
  missing[0] = '\0';
  if (!page->figures) return PSDM_OK;
  psdm_status status = make_folder(&s, error);
  if (status) return status;
  status = draw_all(&s, &failures, missing, size, error);
  for (psdmp_figure *f = page->figure; f && !status && !s.absent; f = f->next)
    for (int k = 0; k < PSDMP_SIZES; k++) lost += !take_picture(&s, f, k) && k == PSDMP_WIDE;
  if (lost) {
    char why[256];
    snprintf(why, sizeof why, "%s", missing);
    if (!why[0]) snprintf(why, sizeof why, "'%.100s' could not draw them", s.program);
    snprintf(missing, size, "%d of %d plots are missing: %s", lost, page->figures, why);
  }
  remove_files(&s);
  return status;
}
