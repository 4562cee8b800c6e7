/* analyze_plot.c: pictures of M, g and the ellipsoids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/analyze_priv.h"
#include "study/plot_priv.h"

enum { SLICE_POINTS = 181 };

/* one joint's range in a picture */
static void range_of(const psdmp_study_analyze *a, int j, double *lower, double *upper) {
  *lower = a->lower[j];
  *upper = a->upper[j];
  if (isfinite(*lower) && isfinite(*upper) && *upper > *lower) return;
  *lower = -3.141592653589793;
  *upper = 3.141592653589793;
}

/* M's diagonal and g as joint j moves alone through q */
static psdm_status write_slice(const psdmp_study_analyze *a, psdm_output *out, int j, const double *through,
                               double *memory) {
  size_t n = (size_t)a->n;
  double *q = memory, *M = q + n, *g = M + n * n, lower, upper;
  psdm_status status = PSDM_OK;
  memcpy(q, through, n * sizeof *q);
  range_of(a, j, &lower, &upper);
  psdm_output_print(out, "$slice%d << END\n", j + 1);
  for (int k = 0; k < SLICE_POINTS && !status; k++) {
    q[j] = lower + (upper - lower) * k / (SLICE_POINTS - 1);
    status = psdm_mass(a->job.robot, a->work, q, M);
    if (!status) status = psdm_gravity(a->job.robot, a->work, q, g);
    psdmp_study_plot_number(out, q[j]);
    for (size_t i = 0; i < n; i++) psdmp_study_plot_number(out, M[i * n + i]);
    for (size_t i = 0; i < n; i++) psdmp_study_plot_number(out, g[i]);
    psdm_output_text(out, "\n");
  }
  psdm_output_text(out, "END\n");
  return status;
}

static void plot_curves(const psdmp_study_analyze *a, psdm_output *out, int first, const char *letter, bool twice) {
  for (int j = 0; j < a->n; j++) {
    psdm_output_print(out, "set xlabel 'q%d'\nplot", j + 1);
    for (int i = 0; i < a->n; i++) {
      psdm_output_print(out, "%s $slice%d using 1:%d with lines title '%s%d", i ? "," : "", j + 1, first + i, letter,
                        i + 1);
      psdm_output_print(out, twice ? "%d'" : "'", i + 1);
    }
    psdm_output_text(out, "\n");
  }
}

static psdm_status plot_slices(psdmp_study_analyze *a, const char *name, bool mass) {
  size_t n = (size_t)a->n;
  double *memory = calloc(3 * n + n * n, sizeof *memory), *through = memory + 2 * n + n * n;
  psdm_output *out;
  char size[32];
  int rows = (a->n + 1) / 2;
  if (!memory) return psdmp_job_memory(&a->job);
  if (a->bounds) memcpy(through, mass ? a->bounds->mass.q : a->bounds->gravity.q, n * sizeof *through);
  snprintf(size, sizeof size, "900,%d", 300 * rows);
  psdm_status status = psdmp_study_plot_open(&a->job, a->set.plots, name, size, &out);
  for (int j = 0; j < a->n && !status; j++)
    if (write_slice(a, out, j, through, memory)) {
      psdmp_job_close(&a->job, &out, false);
      status = psdmp_job_wrong(&a->job, "M and g cannot be evaluated");
    }
  free(memory);
  if (status) return status;
  psdm_output_print(
      out, "set multiplot layout %d,%d title '%s: %s as each joint moves alone%s' noenhanced\nset key outside right\n",
      rows, a->n > 1 ? 2 : 1, psdmp_study_plot_quotable(psdm_robot_name(a->job.robot)),
      mass ? "the diagonal of M" : "gravity", a->bounds ? " through the largest" : "");
  plot_curves(a, out, mass ? 2 : 2 + a->n, mass ? "m" : "g", mass);
  psdm_output_text(out, "unset multiplot\n");
  return psdmp_study_plot_close(&a->job, a->set.plots, name, &out);
}

static psdm_status plot_path(psdmp_study_analyze *a) {
  static const char *const titles[ELLIPSOIDS] = {"velocity for unit joint velocities", "acceleration for unit torques",
                                                 "inverse apparent mass [1/kg]"};
  const psdmp_study_path *p = &a->path;
  int shown = a->numeric ? ELLIPSOIDS : 1;
  psdm_output *out;
  psdm_status status = psdmp_study_plot_open(&a->job, a->set.plots, "path", a->numeric ? "900,800" : "900,400", &out);
  if (status) return status;
  psdm_output_text(out, "$path << END\n");
  for (long r = 0; r < p->count; r++) {
    psdmp_study_plot_number(out, p->timed ? p->t[r] : (double)r);
    psdmp_study_plot_number(out, psdmp_study_analyze_measure(a, r));
    for (int k = 0; k < shown; k++)
      for (int x = 0; x < 3; x++) psdmp_study_plot_number(out, p->row[r * PATH_NUMBERS + 3 + 12 * k + x]);
    psdm_output_text(out, "\n");
  }
  psdm_output_print(
      out, "END\nset multiplot layout %d,%d title '%s along the path' noenhanced\nset xlabel '%s'\nset yrange [0:*]\n",
      a->numeric ? 2 : 1, 2, psdmp_study_plot_quotable(psdm_robot_name(a->job.robot)), p->timed ? "t [s]" : "position");
  psdm_output_text(out, "set title 'manipulability'\nplot $path using 1:2 with lines notitle\n");
  for (int k = 0; k < shown; k++)
    psdm_output_print(out,
                      "set title '%s'\nplot $path using 1:%d with lines title 'axis 1', $path using 1:%d with lines "
                      "title 'axis 2', $path using 1:%d with lines title 'axis 3'\n",
                      titles[k], 3 + 3 * k, 4 + 3 * k, 5 + 3 * k);
  psdm_output_text(out, "unset multiplot\n");
  return psdmp_study_plot_close(&a->job, a->set.plots, "path", &out);
}

psdm_status psdmp_study_analyze_plot(psdmp_study_analyze *a) {
  psdm_status status = psdmp_study_folder(&a->job, a->set.plots);
  if (!status && a->numeric) status = plot_slices(a, "mass", true);
  if (!status && a->numeric) status = plot_slices(a, "gravity", false);
  return !status && a->set.path ? plot_path(a) : status;
}
