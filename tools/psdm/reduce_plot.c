/* reduce_plot.c: figures as gnuplot scripts with their data inside, drawn where gnuplot is there; those of psdm
 * reduce. */
#define _POSIX_C_SOURCE 200809L /* fork, mkdir */
#include "reduce_plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

int plot_directory(const char *directory) {
  struct stat info;
  if (mkdir(directory, 0777) == 0 || (errno == EEXIST && stat(directory, &info) == 0 && S_ISDIR(info.st_mode)))
    return -1;
  psdm_error error = {.status = PSDM_E_IO};
  snprintf(error.file, sizeof error.file, "%.200s", directory);
  snprintf(error.text, sizeof error.text, "cannot be made: %s", strerror(errno == EEXIST ? ENOTDIR : errno));
  return tool_fail(&error);
}

/* ---- gnuplot ---- */

/* runs gnuplot on a script in a directory; false when there is none or it fails */
static bool run_gnuplot(const char *directory, const char *script) {
  fflush(NULL);
  pid_t child = fork();
  int status = -1;
  if (child == 0) {
    if (chdir(directory) == 0) execlp("gnuplot", "gnuplot", script, (char *)NULL);
    _exit(127);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int plot_open(const char *command, const char *directory, const char *name, const char *size, psdm_output **out) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s.gp", directory, name) >= (int)sizeof path)
    return tool_usage(command, "--plots: the name is too long");
  int code = tool_open(path, out);
  if (code >= 0) return code;
  psdm_output_print(
      *out, "# gnuplot %s.gp makes %s.svg\nset terminal svg size %s font 'sans,11'\nset output '%s.svg'\nset grid\n",
      name, name, size, name);
  return -1;
}

static int lacking; /* pictures that could not be drawn */

bool plot_lacks(void) { return lacking > 0; }

/* half a picture, or one of an earlier run, must not pass for this one */
static void tell_lacking(const char *directory, const char *name, const char *script) {
  char picture[4096];
  if (snprintf(picture, sizeof picture, "%s/%s.svg", directory, name) < (int)sizeof picture) unlink(picture);
  tool_warn("%s/%s: gnuplot is not there or failed; the script is complete, 'gnuplot %s' draws it",
            tool_safe(directory), script, script);
  lacking++;
}

int plot_close(const char *directory, const char *name, psdm_output **out) {
  char script[64];
  int code = tool_commit(out);
  if (code != EXIT_OK) return code;
  snprintf(script, sizeof script, "%s.gp", name);
  if (!run_gnuplot(directory, script)) tell_lacking(directory, name, script);
  return -1;
}

void plot_number(psdm_output *out, double x) {
  psdm_output_text(out, " ");
  if (isfinite(x)) psdm_output_number(out, x);
  else psdm_output_text(out, "NaN");
}

/* ---- figure 2: how much functions contribute ---- */

static void write_bins(psdm_output *out, const figure_profile *p) {
  psdm_output_print(out, "$%s << END\n", p->name);
  for (int b = 0; b < FIGURE_BINS; b++) {
    plot_number(out, (figure_edge(b) + figure_edge(b + 1)) / 2);
    plot_number(out, (double)(p->median[b] + (b ? 0 : p->median_below)));
    plot_number(out, (double)(p->largest[b] + (b ? 0 : p->largest_below)));
    psdm_output_text(out, "\n");
  }
  psdm_output_text(out, "END\n");
}

static int plot_contributions(const char *directory, const char *robot, const figure_profile *p, int count) {
  psdm_output *out;
  int code = plot_open("reduce", directory, "figure2", count > 1 ? "720,720" : "720,400", &out);
  if (code >= 0) return code;
  for (int k = 0; k < count; k++) write_bins(out, &p[k]);
  psdm_output_print(out,
                    "set multiplot layout %s,1\nset xlabel 'log10 of relative contribution'\nset ylabel "
                    "'functions'\nset style fill transparent solid 0.6\nset boxwidth 0.25\n",
                    count > 1 ? "2" : "1");
  for (int k = 0; k < count; k++)
    psdm_output_print(out,
                      "set title '%s, %s profile' noenhanced\nplot $%s using 1:2 with boxes title 'median', $%s using "
                      "1:3 with boxes title 'maximum'\n",
                      robot, p[k].name, p[k].name, p[k].name);
  psdm_output_text(out, "unset multiplot\n");
  return plot_close(directory, "figure2", &out);
}

/* ---- figure 7: accuracy and operations against size ---- */

static int plot_tradeoff(const char *directory, const char *robot, const figure_profile *p, int count,
                         double recursion) {
  psdm_output *out;
  int code = plot_open("reduce", directory, "figure7", count > 1 ? "720,800" : "720,440", &out);
  if (code >= 0) return code;
  for (int k = 0; k < count; k++) {
    psdm_output_print(out, "$%s << END\n", p[k].name);
    for (int i = 0; i < p[k].sizes; i++) {
      const figure_size *x = &p[k].size[i];
      plot_number(out, figure_less(&p[k], x)), plot_number(out, -log10(x->error[0])),
          plot_number(out, -log10(x->error[1])), plot_number(out, (double)x->operations);
      psdm_output_text(out, "\n");
    }
    psdm_output_text(out, "END\n");
  }
  psdm_output_text(out, "recursion =");
  plot_number(out, recursion);
  psdm_output_print(out,
                    "\nset multiplot layout %s,1\nset xlabel 'functions left out [%%]'\nset ylabel 'correct "
                    "digits'\nset y2label 'operations'\nset ytics nomirror\nset y2tics\nset y2range [0:*]\nset yrange "
                    "[0:8]\nset key outside bottom center horizontal\n",
                    count > 1 ? "2" : "1");
  for (int k = 0; k < count; k++)
    psdm_output_print(out,
                      "set title '%s, %s profile' noenhanced\nplot $%s using 1:2 with linespoints title '95 %%', $%s "
                      "using 1:3 with linespoints title '99.9 %%', "
                      "$%s using 1:4 axes x1y2 with lines dashtype 2 title 'operations', recursion axes x1y2 with "
                      "lines dashtype 3 title 'exact recursion'\n",
                      robot, p[k].name, p[k].name, p[k].name, p[k].name);
  psdm_output_text(out, "unset multiplot\n");
  return plot_close(directory, "figure7", &out);
}

const char *plot_quotable(const char *name) { return strpbrk(name, "'\\\n") ? "robot" : name; }

int plot_reduction(const char *directory, const char *robot, const figure_profile *profiles, int count,
                   double recursion) {
  int code = plot_directory(directory);
  if (code < 0) code = plot_contributions(directory, plot_quotable(robot), profiles, count);
  if (code < 0) code = plot_tradeoff(directory, plot_quotable(robot), profiles, count, recursion);
  return code;
}
