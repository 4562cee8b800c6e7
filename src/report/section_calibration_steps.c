/* section_calibration_steps.c: a calibration step by step: motors, gravity, friction, inertia, and how well each fits
 * its own rows. */
#include <math.h>
#include <string.h>

#include "report/section_calibration_priv.h"

enum { MOTOR, GRAVITY, FRICTION, INERTIA, STEPS };

static const char *const step_names[STEPS] = {"motor", "gravity", "friction", "inertia"};

/* ---- tables ---- */

static const psdmp_document_node *step_joint(const psdmp_report_fit_view *view, int step, int axis) {
  return psdmp_report_node(view->root, "steps.%s.joints.%d", step_names[step], axis);
}

/* constants are in the motor step of JSON, and under motors in a file */
static double motor_number(const psdmp_report_fit_view *view, int axis, const char *key) {
  return psdmp_report_number(view->root, view->file ? "motors.%d.%s" : "steps.motor.joints.%d.%s", axis, key);
}

static void motor_table(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"joint", "torque constant", "sd", "sd, relative", "from", "R\xC2\xB2, held out"};
  bool currents = psdmp_report_truth(view->root, "currents"), any = false;
  for (int i = 0; i < view->axes.n; i++) any |= isfinite(motor_number(view, i, "constant"));
  if (!any) return;
  psdmp_report_page_heading(view->page, "Motors");
  psdmp_report_page_table(view->page, header, 6, "tnnntn");
  for (int i = 0; i < view->axes.n; i++) {
    double constant = motor_number(view, i, "constant"), sd = motor_number(view, i, "sd");
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    psdmp_report_page_cell_number(view->page, constant, 5);
    psdmp_report_page_cell_number(view->page, sd, 2);
    psdmp_report_page_cell(view->page, "%s", psdmp_report_words_percent(view->page, fabs(sd / constant)));
    psdmp_report_page_cell(view->page, "%s", psdmp_report_text(step_joint(view, MOTOR, i), "from"));
    psdmp_report_page_cell_number(view->page, psdmp_report_number(step_joint(view, MOTOR, i), "r2"), 5);
  }
  psdmp_report_page_table_end(view->page);
  psdmp_report_page_paragraph(
      view->page, currents
                      ? "Nm/A (N/A of a joint that slides), at the joint."
                      : "The logs have torques: constants are factors of them, 1 where the logged torque is right.");
}

static bool is_done(const psdmp_report_fit_view *view, int step) {
  return psdmp_report_truth(view->root, "steps.%s.done", step_names[step]);
}

/* R2 of each step's own torque on its held-out rows, then of the whole model */
static void accuracy_table(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"joint",   "motor",       "gravity",           "friction",
                                       "inertia", "whole model", "whole model, RMSE", "unit"};
  if (!psdmp_report_node(view->root, "all")) return;
  psdmp_report_page_heading(view->page, "Accuracy of each step");
  psdmp_report_page_table(view->page, header, 8, "tnnnnnnt");
  for (int i = 0; i < view->axes.n; i++) {
    const psdmp_document_node *all = psdmp_report_node(view->root, "all.%d", i);
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    for (int step = 0; step < STEPS; step++)
      psdmp_report_page_cell_number(view->page, psdmp_report_number(step_joint(view, step, i), "r2"), 4);
    psdmp_report_page_cell_number(view->page, psdmp_report_number(all, "r2"), 4);
    psdmp_report_page_cell_number(view->page, psdmp_report_number(all, "rmse"), 3);
    psdmp_report_page_cell(view->page, "%s", psdmp_report_unit(&view->axes.axis[i], PSDMP_REPORT_TORQUE));
  }
  psdmp_report_page_table_end(view->page);
  psdmp_report_page_paragraph(
      view->page, "R\xC2\xB2 on held-out rows, of the torque that the step fits. Done here or before: %s%s%s%s.",
      is_done(view, MOTOR) ? "motor " : "", is_done(view, GRAVITY) ? "gravity " : "",
      is_done(view, FRICTION) ? "friction " : "", is_done(view, INERTIA) ? "inertia" : "");
}

void psdmp_report_fit_steps(const psdmp_report_fit_view *view) {
  accuracy_table(view);
  motor_table(view);
}

/* ---- rows ---- */

/* a way back that comes before its way there */
static bool falls(const double *t, size_t count) {
  size_t back = 0;
  for (size_t k = 1; k < count; k++) back += t[k] < t[k - 1];
  return 2 * back > count;
}

static void reverse(double *value, size_t count) {
  for (size_t k = 0; k < count / 2; k++) {
    double keep = value[k];
    value[k] = value[count - 1 - k], value[count - 1 - k] = keep;
  }
}

/* rows of one step and drive, in their order, gaps between runs as NAN */
size_t psdmp_report_step_points(const psdmp_report_fit_view *view, int step, int drive, psdmp_report_compared *out,
                                double **position) {
  static const char *const names[] = {"t", "step", "drive", "heldout", "q", "qd", "measured", "predicted"};
  enum { T, STEP, DRIVE, HELD, Q, QD, MEASURED, PREDICTED, COLUMNS };
  const double *column[COLUMNS];
  const psdmp_report_result *rows = view->rows;
  size_t count = 0;
  *out = (psdmp_report_compared){0};
  for (int k = 0; k < COLUMNS; k++)
    if (!(column[k] = rows ? psdmp_report_rows_column(rows, names[k]) : NULL)) return 0;
  for (size_t k = 0; k < rows->rows; k++) count += column[STEP][k] == step && column[DRIVE][k] == drive + 1;
  if (!count) return 0;
  /* the same columns without other rows; time becomes a new clock */
  double *memory = psdmp_report_page_memory(view->page, COLUMNS * count * sizeof *memory),
         **value = psdmp_report_page_memory(view->page, COLUMNS * sizeof *value);
  if (!memory || !value) return 0;
  for (int c = 0; c < COLUMNS; c++) {
    value[c] = memory + (size_t)c * count;
    for (size_t k = 0, at = 0; k < rows->rows; k++)
      if (column[STEP][k] == step && column[DRIVE][k] == drive + 1) value[c][at++] = column[c][k];
  }
  if (falls(value[T], count))
    for (int c = 0; c < COLUMNS; c++) reverse(value[c], count);
  const psdmp_report_result part = {
      .kind = PSDMP_REPORT_RESULT_CSV, .columns = COLUMNS, .column = names, .rows = count, .value = value};
  psdmp_report_timeline line;
  if (!psdmp_report_timeline_of(view->page, &part, &line)) return 0;
  double *residual = psdmp_report_page_memory(view->page, line.points * sizeof *residual);
  *out = (psdmp_report_compared){.axis = &view->axes.axis[drive],
                                 .points = line.points,
                                 .t = line.t,
                                 .rate = line.rate,
                                 .shifted = line.shifted,
                                 .measured = psdmp_report_along(view->page, &line, value[MEASURED]),
                                 .predicted = psdmp_report_along(view->page, &line, value[PREDICTED]),
                                 .heldout = psdmp_report_along(view->page, &line, value[HELD]),
                                 .speed = psdmp_report_along(view->page, &line, value[QD]),
                                 .residual = residual};
  *position = psdmp_report_along(view->page, &line, value[Q]);
  if (!residual || !out->measured || !out->predicted || !out->heldout || !out->speed || !*position) return 0;
  out->what = psdmp_report_quantity(out->axis, PSDMP_REPORT_TORQUE);
  for (size_t k = 0; k < line.points; k++) residual[k] = out->measured[k] - out->predicted[k];
  return line.points;
}

/* torque of the known mass over position: a direct comparison without time */
static void draw_motor(psdmp_report_page *page, const psdmp_report_compared *c, const double *position) {
  psdmp_report_drawing d = psdmp_report_drawing_of(
      page, psdmp_report_words(page, "%s: the known mass", c->axis->name),
      psdmp_report_words(page, "position (%s)", psdmp_report_unit(c->axis, PSDMP_REPORT_POSITION)),
      psdmp_report_words(page, "%s (%s)", c->what, psdmp_report_unit(c->axis, PSDMP_REPORT_TORQUE)));
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, "measured", position, c->measured, c->points, 1);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, "predicted", position, c->predicted, c->points, 0);
  psdmp_report_draw(&d);
}

static void draw_step(const psdmp_report_fit_view *view, int step) {
  static const char *const headings[STEPS] = {
      "Motor step: torque of the known mass", "Gravity step: measured and predicted",
      "Friction step: measured and predicted", "Inertia step: measured and predicted"};
  bool begun = false;
  for (int i = 0; i < view->axes.n && i < PSDMP_REPORT_MOST_DRAWN; i++) {
    psdmp_report_compared c;
    double *position;
    if (!psdmp_report_step_points(view, step, i, &c, &position)) continue;
    if (!begun) psdmp_report_page_heading(view->page, headings[step]);
    if (!begun) psdmp_report_page_row_of_plots(view->page);
    begun = true;
    if (step == MOTOR) draw_motor(view->page, &c, position);
    else psdmp_report_draw_torque(view->page, &c);
  }
  if (begun) psdmp_report_page_row_of_plots_end(view->page);
}

/* residuals of the last step: the whole model's */
static void draw_residuals(const psdmp_report_fit_view *view) {
  psdmp_report_compared *list = psdmp_report_page_memory(view->page, PSDMP_REPORT_MOST_DRAWN * sizeof *list);
  double *position;
  int count = 0;
  for (int i = 0; list && i < view->axes.n && i < PSDMP_REPORT_MOST_DRAWN; i++)
    count += psdmp_report_step_points(view, INERTIA, i, &list[count], &position) > 0;
  if (count) psdmp_report_residual_sections(view->page, list, count);
}

void psdmp_report_fit_step_rows(const psdmp_report_fit_view *view) {
  if (!view->rows || !psdmp_report_rows_column(view->rows, "measured")) return;
  for (int step = 0; step < STEPS; step++) draw_step(view, step);
  draw_residuals(view);
}
