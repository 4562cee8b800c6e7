/* progress.c: a progress line on the terminal with the remaining time, for jobs over two seconds. A thread redraws it
 * during silent phases (a compiler, a decomposition). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* s: before the first line, between lines, until a line is drawn again */
static const double patience = 2, rhythm = 0.2, silence = 1;

double tool_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the line: one at a time ---- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct {
  bool active, shown, ticking;
  double started, drawn;
  double share, stage, stage_share; /* below 0: unknown; since when it has been growing, and from where */
  double end;                       /* expected end, as of the last share; below 0: unknown */
  char text[200];
  char lacking[160]; /* message after an interrupt; "": the usual one */
} line;

/* "45 s", "3 min 20 s", "2 h 5 min" */
static const char *duration(double seconds, char text[32]) {
  long s = lround(fmax(seconds, 0));
  if (s < 100) snprintf(text, 32, "%ld s", s);
  else if (s < 6000) snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
  else snprintf(text, 32, "%ld h %ld min", s / 3600, s % 3600 / 60);
  return text;
}

/* after an interrupt neither the remaining time nor, sometimes, the result is known */
static void draw_stopping(double now) {
  line.drawn = now;
  line.shown = true;
  fprintf(stderr, "\r  interrupted: stopping%s%s \033[K", line.lacking[0] ? ": " : "", line.lacking);
  fflush(stderr);
}

static void draw(double now) {
  char text[32];
  int bar = (int)(30 * fmin(fmax(line.share, 0), 1));
  line.drawn = now;
  line.shown = true;
  if (line.share >= 0)
    fprintf(stderr, "\r  [%.*s%*s] %3.0f %%  %s", bar, "##############################", 30 - bar, "", 100 * line.share,
            line.text);
  else fprintf(stderr, "\r  %s: %s", duration(now - line.started, text), line.text);
  if (line.end >= 0) fprintf(stderr, ", %s left", duration(line.end - now, text));
  fprintf(stderr, " \033[K");
  fflush(stderr);
}

static void draw_when(double pause) {
  double now = tool_now();
  if (!line.active || now - line.drawn < (tool_interrupted() ? rhythm : pause)) return;
  if (tool_interrupted()) draw_stopping(now);
  else if (now - line.started >= patience) draw(now);
}

/* the share gained since a stage began predicts the remaining time; a share that falls belongs to another stage */
static void set_share(double share, double now) {
  if (share < 0 || share < line.share || line.stage == 0) {
    line.stage = now;
    line.stage_share = fmax(share, 0);
  }
  line.share = share;
  double gained = share - line.stage_share, spent = now - line.stage;
  line.end = share >= 0 && gained > 0.005 && spent > 0.5 ? now + spent * (1 - share) / gained : -1;
}

static bool tell(const progress *p, const char *text, double share) {
  if (!p->on) return !tool_interrupted();
  pthread_mutex_lock(&guard);
  snprintf(line.text, sizeof line.text, "%s", text);
  set_share(fmin(share, 1), tool_now());
  draw_when(rhythm);
  pthread_mutex_unlock(&guard);
  return !tool_interrupted();
}

/* ---- the thread ---- */

static void *tick(void *unused) {
  for (;;) {
    nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    pthread_mutex_lock(&guard);
    draw_when(silence);
    pthread_mutex_unlock(&guard);
  }
  return unused;
}

/* without a thread a silent job shows no progress; nothing else is lost */
static void start_ticking(void) {
  pthread_t thread;
  if (line.ticking) return;
  line.ticking = pthread_create(&thread, NULL, tick, NULL) == 0;
  if (line.ticking) pthread_detach(thread);
}

/* ---- the interface for commands ---- */

progress progress_start(const char *doing) {
  progress p = {.on = isatty(STDERR_FILENO) && !tool_quiet(), .started = tool_now()};
  if (!p.on) return p;
  pthread_mutex_lock(&guard);
  start_ticking();
  line.active = true;
  line.started = line.drawn = p.started;
  line.share = line.end = -1;
  line.lacking[0] = '\0';
  line.stage = 0;
  snprintf(line.text, sizeof line.text, "%s", doing);
  pthread_mutex_unlock(&guard);
  return p;
}

bool progress_words(void *p, const char *doing, double share) { return tell(p, doing, share); }

void progress_lacking(const char *words) {
  pthread_mutex_lock(&guard);
  snprintf(line.lacking, sizeof line.lacking, "%s", words ? words : "");
  pthread_mutex_unlock(&guard);
}

void progress_clear(void) {
  pthread_mutex_lock(&guard);
  if (line.shown) fprintf(stderr, "\r\033[K");
  line.shown = false;
  pthread_mutex_unlock(&guard);
}

void progress_end(progress *p) {
  if (!p->on) return;
  pthread_mutex_lock(&guard);
  line.active = false;
  if (line.shown) fprintf(stderr, "\r\033[K");
  line.shown = false;
  pthread_mutex_unlock(&guard);
}
