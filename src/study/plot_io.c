/* plot_io.c: figures as gnuplot scripts with their data inside, drawn where gnuplot is installed. */
#define _POSIX_C_SOURCE 200809L /* unlink */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/plot_priv.h"

psdm_status psdmp_study_folder_check(const psdm_job *job, const char *directory) {
  psdm_error error;
  return directory && psdmp_base_folder_check(directory, &error) ? psdmp_job_fail(job, &error) : PSDM_OK;
}

psdm_status psdmp_study_folder(const psdm_job *job, const char *directory) {
  psdm_error error;
  return psdmp_base_folder(directory, &error) ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* ---- gnuplot ---- */

/* runs gnuplot on a script in a directory; false when there is none or it fails */
static bool run_gnuplot(const char *directory, const char *script) {
  char *words[] = {"gnuplot", (char *)script, NULL};
  pid_t child;
  int status = -1;
  const int own = PSDMP_BASE_INHERIT;
  if (psdmp_base_spawn(directory, words[0], words, PSDMP_BASE_NOTHING, own, own, &child)) return false;
  return psdmp_base_spawn_wait(child, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

psdm_status psdmp_study_plot_open(const psdm_job *job, const char *directory, const char *name, const char *size,
                                  psdm_output **out) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s.gp", directory, name) >= (int)sizeof path)
    return psdmp_job_wrong(job, "`plots`: the name is too long");
  psdm_status status = psdmp_job_open(job, path, out);
  if (status) return status;
  psdm_output_print(
      *out, "# gnuplot %s.gp makes %s.svg\nset terminal svg size %s font 'sans,11'\nset output '%s.svg'\nset grid\n",
      name, name, size, name);
  return PSDM_OK;
}

/* half a picture, or one of an earlier run, must not pass for this one */
static void tell_lacking(psdm_job *job, const char *directory, const char *name, const char *script) {
  char picture[4096];
  if (snprintf(picture, sizeof picture, "%s/%s.svg", directory, name) < (int)sizeof picture) unlink(picture);
  psdmp_job_warn(job, "%s/%s: gnuplot is not there or failed; the script is complete, 'gnuplot %s' draws it",
                 psdmp_job_safe(job, directory), script, script);
  job->good = false;
}

psdm_status psdmp_study_plot_close(psdm_job *job, const char *directory, const char *name, psdm_output **out) {
  char script[64];
  psdm_status status = psdmp_job_close(job, out, true);
  if (status) return status;
  snprintf(script, sizeof script, "%s.gp", name);
  if (!run_gnuplot(directory, script)) tell_lacking(job, directory, name, script);
  return PSDM_OK;
}

void psdmp_study_plot_number(psdm_output *out, double x) {
  psdm_output_text(out, " ");
  if (isfinite(x)) psdm_output_number(out, x);
  else psdm_output_text(out, "NaN");
}

const char *psdmp_study_plot_quotable(const char *name) { return strpbrk(name, "'\\\n") ? "robot" : name; }
