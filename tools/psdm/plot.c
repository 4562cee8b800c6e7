/* plot.c: figures as gnuplot scripts with their data inside, drawn where gnuplot is installed. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include "plot.h"

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
  char *words[] = {"gnuplot", (char *)script, NULL};
  pid_t child;
  int status = -1;
  if (tool_spawn(words, directory, -1, &child)) return false;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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

const char *plot_quotable(const char *name) { return strpbrk(name, "'\\\n") ? "robot" : name; }
