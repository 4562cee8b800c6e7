/* section_calibration_friction.c: friction over speed with its uncertainty, the rows behind it, and its numbers. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "report/section_calibration_priv.h"

/* ---- reading ---- */

static const char *const lugre_keys[PSDMP_REPORT_LUGRE] = {"coulomb",  "static", "stribeck", "viscous",
                                                           "exponent", "sigma0", "sigma1",   "offset"};

/* "tanh(v/w) |f|" for a parameter file, which has no text */
static const char *term_text(psdmp_report_page *page, const psdmp_report_friction_term *term) {
  const char *load = term->load == 1 ? " |f|" : term->load == 2 ? " f^2" : "";
  return isfinite(term->width) && strchr(term->kind, 'w')
             ? psdmp_report_words(page, "%s%s, w = %.3g", term->kind, load, term->width)
             : psdmp_report_words(page, "%s%s", term->kind, load);
}

static void read_terms(const psdmp_report_fit_view *view, const psdmp_document_node *list,
                       psdmp_report_friction_view *out) {
  for (const psdmp_document_node *node = psdmp_report_first(list); node && out->terms < PSDMP_REPORT_FRICTION_TERMS;
       node = node->next) {
    psdmp_report_friction_term *term = &out->term[out->terms++];
    double load = psdmp_report_number(node, "load");
    *term = (psdmp_report_friction_term){.kind = psdmp_report_text(node, "column"),
                                         .text = psdmp_report_text(node, "text"),
                                         .width = psdmp_report_number(node, "width"),
                                         .gain = psdmp_report_number(node, "gain"),
                                         .sd = psdmp_report_number(node, "sd"),
                                         .load = load == 1 || load == 2 ? (int)load : 0};
    if (!term->text[0]) term->text = term_text(view->page, term);
  }
}

/* rows of a square matrix of this size; false if it is not one */
static bool read_covariance(const psdmp_document_node *matrix, int size, double *out) {
  int row = 0;
  if (!matrix || matrix->kind != PSDMP_DOCUMENT_LIST || matrix->count != size) return false;
  for (const psdmp_document_node *node = matrix->child; node; node = node->next, row++) {
    if (psdmp_report_numbers(node, out + row * size, size) != size) return false;
    for (int k = 0; k < size; k++)
      if (!isfinite(out[row * size + k])) return false;
  }
  return size > 0;
}

static bool read_lugre(const psdmp_report_fit_view *view, const psdmp_document_node *drive,
                       psdmp_report_friction_view *out) {
  bool any = false;
  for (int k = 0; k < PSDMP_REPORT_LUGRE; k++) {
    out->lugre[k] = psdmp_report_number(drive, "%s", lugre_keys[k]);
    out->sd[k] =
        view->file ? psdmp_report_number(drive, "sd.%d", k) : psdmp_report_number(drive, "sd.%s", lugre_keys[k]);
    any |= isfinite(out->lugre[k]);
  }
  return out->bristles = any;
}

/* false: nothing is known */
static bool read_friction(const psdmp_report_fit_view *view, int axis, psdmp_report_friction_view *out) {
  const psdmp_document_node *drive =
      psdmp_report_node(view->root, view->file && view->steps ? "lugre.%d" : "friction.%d", axis);
  *out = (psdmp_report_friction_view){
      .speed = view->file ? psdmp_report_number(view->root, "speed.%d", axis) : psdmp_report_number(drive, "speed"),
      .load =
          view->file ? psdmp_report_number(view->root, "mean_load.%d", axis) : psdmp_report_number(drive, "mean_load")};
  if (view->steps && !read_lugre(view, drive, out)) return false;
  if (!view->steps) read_terms(view, view->file ? drive : psdmp_report_node(drive, "columns"), out);
  out->correlated = !view->file && read_covariance(psdmp_report_node(drive, "covariance"),
                                                   view->steps ? PSDMP_REPORT_LUGRE : out->terms, out->covariance);
  return out->bristles || out->terms;
}

/* ---- the curve ---- */

static double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

static bool of_position(const char *kind) {
  return strcmp(kind, "x") == 0 || strcmp(kind, "sin(w x)") == 0 || strcmp(kind, "cos(w x)") == 0;
}

/* a column's value at steady speed. Position-dependent columns are 0 here */
static double term_value(const psdmp_report_friction_term *term, double v, double load) {
  for (int kind = 0; kind < PSDM_COLUMN_KINDS; kind++)
    if (strcmp(term->kind, psdm_column_text((psdm_column_kind)kind)) == 0 && !of_position(term->kind))
      return psdmp_parameters_column_steady(&(psdmp_parameters_column){(psdm_column_kind)kind, term->width, term->load},
                                            v, load);
  return 0;
}

/* standard deviation of the sum of slope times number */
static double doubt(const psdmp_report_friction_view *f, const double *slope, const double *sd, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < count; k++)
      sum += f->correlated             ? slope[i] * slope[k] * f->covariance[i * count + k]
             : i == k && slope[i] != 0 ? slope[i] * slope[i] * sd[i] * sd[i]
                                       : 0;
  return isfinite(sum) ? sqrt(fmax(sum, 0)) : NAN;
}

static double steady_terms(const psdmp_report_friction_view *f, double v, double *sd) {
  double slope[PSDMP_REPORT_FRICTION_TERMS], each[PSDMP_REPORT_FRICTION_TERMS], sum = 0;
  for (int k = 0; k < f->terms; k++) {
    slope[k] = term_value(&f->term[k], v, f->load);
    each[k] = f->term[k].sd;
    if (slope[k] != 0) sum += slope[k] * f->term[k].gain;
  }
  if (sd) *sd = doubt(f, slope, each, f->terms);
  return sum;
}

/* (Fc + (Fs - Fc) exp(-(v/vs)^2)) sign v + Fv |v|^d sign v + offset, and its derivatives by the numbers in their
 * order */
static double steady_lugre(const psdmp_report_friction_view *f, double v, double *sd) {
  const double *x = f->lugre, size = fabs(v), e = x[2] > 0 ? exp(-(v / x[2]) * (v / x[2])) : 0, power = pow(size, x[4]);
  const double slope[PSDMP_REPORT_LUGRE] = {
      (1 - e) * sign(v),
      e * sign(v),
      x[2] > 0 ? (x[1] - x[0]) * e * 2 * v * v / (x[2] * x[2] * x[2]) * sign(v) : 0,
      power * sign(v),
      size > 0 ? x[3] * power * log(size) * sign(v) : 0,
      0,
      0,
      1};
  if (sd) *sd = doubt(f, slope, f->sd, PSDMP_REPORT_LUGRE);
  double stribeck = e > 0 ? (x[1] - x[0]) * e : 0, offset = isfinite(x[7]) ? x[7] : 0;
  return (x[0] + stribeck) * sign(v) + x[3] * power * sign(v) + offset;
}

double psdmp_report_friction_steady(const psdmp_report_friction_view *friction, double speed, double *sd) {
  return friction->bristles ? steady_lugre(friction, speed, sd) : steady_terms(friction, speed, sd);
}

/* ---- rows at steady speed ---- */

enum { MOST_DOTS = 1500, POINTS = 241 };

static double root_mean_square(const double *value, size_t count) {
  double sum = 0;
  size_t used = 0;
  for (size_t k = 0; k < count; k++)
    if (isfinite(value[k])) sum += value[k] * value[k], used++;
  return used ? sqrt(sum / (double)used) : 0;
}

/* measured torque minus the model's rigid part, where the joint accelerates little: below half its usual
 * acceleration */
static size_t steady_rows(const psdmp_report_fit_view *view, int axis, double *x, double *y) {
  const char *const names[] = {"qd", "qdd", "tau", "predicted", "friction"};
  const double *column[5];
  size_t all = 0, at = 0, used = 0;
  for (int k = 0; k < 5; k++)
    if (!(column[k] = view->rows ? psdmp_report_rows_group(view->rows, names[k], axis) : NULL)) return 0;
  double most = 0.5 * root_mean_square(column[1], view->rows->rows);
  for (size_t k = 0; k < view->rows->rows; k++) all += fabs(column[1][k]) <= most;
  size_t every = (all + MOST_DOTS - 1) / MOST_DOTS;
  for (size_t k = 0; every && k < view->rows->rows; k++) {
    if (!(fabs(column[1][k]) <= most) || at++ % every) continue;
    x[used] = column[0][k];
    y[used++] = column[2][k] - column[3][k] + column[4][k];
  }
  return used;
}

/* the friction experiment's own rows: speed and torque minus gravity */
static size_t step_rows(const psdmp_report_fit_view *view, int axis, double *x, double *y) {
  enum { FRICTION = 2 };
  psdmp_report_compared c;
  double *position;
  size_t count = psdmp_report_step_points(view, FRICTION, axis, &c, &position), used = 0,
         every = (count + MOST_DOTS - 1) / MOST_DOTS;
  for (size_t k = 0; every && k < count; k += every) x[used] = c.speed[k], y[used++] = c.measured[k];
  return used;
}

/* ---- drawing ---- */

static double fastest(const double *x, size_t count) {
  double most = 0;
  for (size_t k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
  return most;
}

static void draw_friction(const psdmp_report_fit_view *view, int axis, const psdmp_report_friction_view *f) {
  psdmp_report_page *page = view->page;
  const psdmp_report_axis *a = &view->axes.axis[axis];
  double *dot = psdmp_report_page_memory(page, 2 * (MOST_DOTS + 1) * sizeof *dot), v[POINTS], y[POINTS], low[POINTS],
         high[POINTS];
  if (!dot) return;
  size_t dots = view->drives  ? 0
                : view->steps ? step_rows(view, axis, dot, dot + MOST_DOTS + 1)
                              : steady_rows(view, axis, dot, dot + MOST_DOTS + 1);
  double speed = f->speed > 0 ? f->speed : fastest(dot, dots);
  if (!(speed > 0)) return;
  /* denser near the change of sign; never at rest, where friction has no single value */
  for (int k = 0; k < POINTS; k++) {
    double s = (2.0 * k + 1 - POINTS) / (POINTS - 1), sd;
    v[k] = k == POINTS / 2 ? 0 : speed * s * fabs(s);
    y[k] = k == POINTS / 2 ? NAN : psdmp_report_friction_steady(f, v[k], &sd);
    low[k] = k == POINTS / 2 ? NAN : y[k] - 2 * sd, high[k] = k == POINTS / 2 ? NAN : y[k] + 2 * sd;
  }
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, psdmp_report_words(page, "%s: friction at steady speed", a->name),
                              psdmp_report_words(page, "velocity (%s)", psdmp_report_unit(a, PSDMP_REPORT_VELOCITY)),
                              psdmp_report_words(page, "friction (%s)", psdmp_report_unit(a, PSDMP_REPORT_TORQUE)));
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, view->steps ? "measured" : "measured less rigid part", dot,
                       dot + MOST_DOTS + 1, dots, -1);
  psdmp_report_draw_between(&d, PSDMP_REPORT_BAND, "\xC2\xB1 2 sd", v, NULL, low, high, POINTS, 0);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "model", v, y, POINTS, 0);
  psdmp_report_draw(&d);
}

/* ---- tables ---- */

static void terms_table(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"joint", "column", "gain", "sd", "sd, relative"};
  psdmp_report_friction_view f;
  psdmp_report_page_table(view->page, header, 5, "ttnnn");
  for (int i = 0; i < view->axes.n; i++) {
    if (!read_friction(view, i, &f)) continue;
    for (int k = 0; k < f.terms; k++) {
      psdmp_report_page_row(view->page);
      psdmp_report_page_cell(view->page, "%s", k ? "" : view->axes.axis[i].name);
      psdmp_report_page_cell(view->page, "%s", f.term[k].text);
      psdmp_report_page_cell_number(view->page, f.term[k].gain, 4);
      psdmp_report_page_cell_number(view->page, f.term[k].sd, 2);
      psdmp_report_page_cell(view->page, "%s",
                             psdmp_report_words_percent(view->page, fabs(f.term[k].sd / f.term[k].gain)));
    }
  }
  psdmp_report_page_table_end(view->page);
  psdmp_report_page_paragraph(view->page, "Friction is the sum of gain times column: v the speed, x the position, f "
                                          "the drive's own rigid torque; stop(x/w) changes sign within a distance w.");
}

static void lugre_table(const psdmp_report_fit_view *view) {
  static const char *const header[] = {
      "joint", "Fc", "Fs", "vs", "Fv", "exponent", "\xCF\x83\xE2\x82\x80", "\xCF\x83\xE2\x82\x81", "offset"};
  psdmp_report_friction_view f;
  psdmp_report_page_table(view->page, header, 9, "tnnnnnnnn");
  for (int i = 0; i < view->axes.n; i++) {
    if (!read_friction(view, i, &f)) continue;
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    for (int k = 0; k < PSDMP_REPORT_LUGRE; k++)
      psdmp_report_page_cell(view->page, "%s", psdmp_report_words_doubt(view->page, f.lugre[k], f.sd[k]));
  }
  psdmp_report_page_table_end(view->page);
  psdmp_report_page_paragraph(
      view->page,
      "LuGre friction, in brackets one standard deviation in units of the last digits: Coulomb, static, Stribeck "
      "speed, viscous gain and exponent, stiffness and damping of the bristles, offset. SI units at the joint.");
}

static bool known(const psdmp_report_fit_view *view) {
  psdmp_report_friction_view f;
  for (int i = 0; i < view->axes.n; i++)
    if (read_friction(view, i, &f)) return true;
  return false;
}

/* true when some curve is drawn with a band that treats its numbers as independent */
static bool draw_all(const psdmp_report_fit_view *view, bool *left_out) {
  bool independent = false;
  for (int i = 0; i < view->axes.n && i < PSDMP_REPORT_MOST_DRAWN; i++) {
    psdmp_report_friction_view f;
    if (!read_friction(view, i, &f)) continue;
    independent |= !f.correlated;
    for (int k = 0; k < f.terms; k++) *left_out |= of_position(f.term[k].kind);
    draw_friction(view, i, &f);
  }
  return independent;
}

void psdmp_report_fit_friction(const psdmp_report_fit_view *view) {
  bool left_out = false;
  if (!known(view)) return;
  psdmp_report_page_heading(view->page, "Friction");
  psdmp_report_page_row_of_plots(view->page);
  bool independent = draw_all(view, &left_out);
  psdmp_report_page_row_of_plots_end(view->page);
  if (view->rows && !view->steps && !view->drives)
    psdmp_report_page_paragraph(
        view->page, "Dots are rows in which the joint accelerates by less than half its usual acceleration.");
  if (view->rows && view->steps)
    psdmp_report_page_paragraph(view->page, "Dots are rows of the friction experiment, gravity and inertia taken off; "
                                            "where the speed changes sign, bristles bend before they slide.");
  if (independent)
    psdmp_report_page_paragraph(view->page, "The result has no covariance of friction: the bands take standard "
                                            "deviations as independent, which makes them too wide as a rule.");
  if (left_out) psdmp_report_page_paragraph(view->page, "Columns of the position are not in the curves.");
  if (view->drives)
    psdmp_report_page_paragraph(view->page, "Friction of the drives, on the motor side of the transmission.");
  if (view->steps) lugre_table(view);
  else terms_table(view);
}
