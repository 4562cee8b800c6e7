/* section_calibration.c: a calibration, from its key figures to its residuals. */
#include "report/section_calibration_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- predicted rows ---- */

/* the data of every axis that can be drawn; NULL without memory or rows */
static psdmp_report_compared *all_compared(const psdmp_report_fit_view *view, int *count) {
  psdmp_report_timeline line;
  psdmp_report_compared *list =
      psdmp_report_page_memory(view->page, (size_t)(view->axes.n ? view->axes.n : 1) * sizeof *list);
  *count = 0;
  if (!list || !psdmp_report_timeline_of(view->page, view->rows, &line)) return NULL;
  for (int i = 0; i < view->axes.n && i < PSDMP_REPORT_MOST_DRAWN; i++)
    *count += psdmp_report_compared_of(view->page, view->rows, &line, &view->axes.axis[i], i, &list[*count]);
  return list;
}

static void draw_rows(const psdmp_report_fit_view *view) {
  int count = 0;
  if (!view->rows || view->steps) return;
  psdmp_report_compared *list = all_compared(view, &count);
  if (!list || !count) return;
  psdmp_report_page_heading(view->page, "Measured and predicted torque");
  psdmp_report_page_paragraph(view->page,
                              "Measured torque in the model's band, and as it was logged; the model's with two "
                              "standard deviations, noise included, on either side.%s%s",
                              list[0].heldout ? " Shaded: held out, not used by the fit." : "",
                              list[0].shifted ? " Segments are drawn one after the other." : "");
  psdmp_report_axes_drawn(view->page, &view->axes);
  for (int k = 0; k < count; k++) psdmp_report_draw_torque(view->page, &list[k]);
  psdmp_report_residual_sections(view->page, list, count);
}

/* ---- one calibration ---- */

static void lead_of(const psdmp_report_fit_view *view, char *out, size_t size) {
  const char *estimator = psdmp_report_text(view->root, "estimator");
  if (view->steps)
    snprintf(out, size,
             "Motors, gravity, friction and inertia one after the other, each from an experiment of its own.");
  else
    snprintf(out, size, "Inertias and friction from measured logs%s%s%s.", estimator[0] ? ", estimator '" : "",
             estimator, estimator[0] ? "'" : "");
}

static void show(psdmp_report_fit_view *view, const char *title) {
  char lead[256];
  lead_of(view, lead, sizeof lead);
  psdmp_report_page_section(view->page, title, lead);
  psdmp_report_fit_facts(view);
  psdmp_report_fit_remarks(view);
  psdmp_report_fit_errors(view);
  psdmp_report_fit_compared(view);
  if (view->steps) psdmp_report_fit_steps(view);
  draw_rows(view);
  psdmp_report_fit_friction(view);
  if (view->steps) psdmp_report_fit_step_rows(view);
  psdmp_report_fit_choices(view);
  psdmp_report_fit_worth(view);
}

/* as many axes as the result has figures for: files have no "n" and no names */
static psdmp_report_axes axes_of_file(psdmp_report_page *page, const psdmp_report_results *results,
                                      const psdmp_report_result *file) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, file);
  const psdmp_document_node *speed = psdmp_report_node(file->root, "speed");
  int n = psdmp_report_first(speed) && speed->count < PSDMP_REPORT_MOST_AXES ? speed->count : 0;
  return axes.n || !n ? axes : psdmp_report_axes_new(page, n);
}

/* joint names come from the errors if the result has no list of its own */
static void take_names(psdmp_report_fit_view *view) {
  for (int i = 0; i < view->axes.n; i++) {
    const char *name = psdmp_report_text(view->root, "train.joints.%d.name", i);
    if (name[0]) view->axes.axis[i].name = name;
  }
}

static bool is_calibration(const psdmp_report_result *result) {
  return result->root && strcmp(result->command, "calibrate") == 0;
}
static bool is_parameters(const psdmp_report_result *result) {
  return result->root && strcmp(result->command, "parameters") == 0;
}

/* whether the JSON of the run that wrote the file, which contains more, is shown */
static bool said_already(const psdmp_report_results *results, const psdmp_report_result *file) {
  for (int k = 0; k < results->count; k++)
    if (is_calibration(results->item[k]) && psdmp_report_result_same_robot(results->item[k], file)) return true;
  return false;
}

static void show_result(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *result,
                        bool file) {
  psdmp_report_result *rows = file ? NULL : result->matched;
  psdmp_report_fit_view view = {.page = page, .result = result, .root = result->root, .rows = rows, .file = file};
  view.steps = strcmp(psdmp_report_text(result->root, "route"), "steps") == 0;
  view.drives = psdmp_report_truth(result->root, "coupled_drives");
  view.axes = file ? axes_of_file(page, results, result) : psdmp_report_axes_of(page, results, result);
  take_names(&view);
  show(&view, psdmp_report_title(page, results, result, file ? "Parameters" : "Calibration"));
  if (rows) rows->used = true;
}

/* predictions without their calibration */
static void show_rows(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *rows) {
  psdmp_report_fit_view view = {
      .page = page, .result = rows, .rows = rows, .axes = psdmp_report_axes_of(page, results, rows)};
  psdmp_report_page_section(page, psdmp_report_words(page, "Predicted torque: %s", psdmp_report_words_file(rows->path)),
                            NULL);
  draw_rows(&view);
  rows->used = true;
}

void psdmp_report_section_calibration(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int k = 0; k < results->count; k++)
    if (strcmp(results->item[k]->command, "predict") == 0 && !results->item[k]->taken)
      show_rows(page, results, results->item[k]);
  for (int k = 0; k < results->count; k++) {
    psdmp_report_result *result = results->item[k];
    bool file = is_parameters(result);
    if (!file && !is_calibration(result)) continue;
    result->used = true;
    if (!file || !said_already(results, result)) show_result(page, results, result, file);
  }
}
