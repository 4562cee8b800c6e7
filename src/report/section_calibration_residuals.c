/* section_calibration_residuals.c: measured and predicted torque of one axis, and the residuals: size, spectrum,
 * dependencies. */
#include <math.h>

#include "report/section_calibration_priv.h"
#include "report/spectrum_priv.h"

enum { MEASURED = 1, PREDICTED = 0, HELDOUT = -1, MUTED = -1, MOST_DOTS = 2000 };

static double *array(psdmp_report_page *page, size_t count) {
  return psdmp_report_page_memory(page, (count ? count : 1) * sizeof(double));
}

static const char *torque_label(psdmp_report_page *page, const psdmp_report_compared *c, const char *what) {
  return psdmp_report_words(page, "%s (%s)", what, psdmp_report_unit(c->axis, PSDMP_REPORT_TORQUE));
}

/* ---- from rows ---- */

bool psdmp_report_compared_of(psdmp_report_page *page, const psdmp_report_result *rows,
                              const psdmp_report_timeline *line, const psdmp_report_axis *axis, int index,
                              psdmp_report_compared *out) {
  *out = (psdmp_report_compared){.axis = axis,
                                 .what = psdmp_report_quantity(axis, PSDMP_REPORT_TORQUE),
                                 .points = line->points,
                                 .t = line->t,
                                 .rate = line->rate,
                                 .shifted = line->shifted};
  out->measured = psdmp_report_along(page, line, psdmp_report_rows_group(rows, "tau", index));
  out->predicted = psdmp_report_along(page, line, psdmp_report_rows_group(rows, "predicted", index));
  out->raw = psdmp_report_along(page, line, psdmp_report_rows_group(rows, "raw", index));
  out->band = psdmp_report_along(page, line, psdmp_report_rows_group(rows, "band", index));
  out->speed = psdmp_report_along(page, line, psdmp_report_rows_group(rows, "qd", index));
  out->heldout = psdmp_report_along(page, line, psdmp_report_rows_column(rows, "heldout"));
  double *residual = array(page, line->points);
  if (!out->measured || !out->predicted || !residual) return false;
  for (size_t k = 0; k < line->points; k++) residual[k] = out->measured[k] - out->predicted[k];
  out->residual = residual;
  return true;
}

/* ---- over time ---- */

/* lowest and highest value drawn, with a margin */
static void reach(const double *value, size_t count, double range[2]) {
  for (size_t k = 0; value && k < count; k++) {
    if (!isfinite(value[k])) continue;
    if (!(value[k] >= range[0])) range[0] = value[k];
    if (!(value[k] <= range[1])) range[1] = value[k];
  }
}

/* shades the full height behind held-out rows */
static void shade_heldout(psdmp_report_drawing *d, const psdmp_report_compared *c) {
  double range[2] = {NAN, NAN}, *low = array(d->page, c->points), *high = array(d->page, c->points);
  bool any = false;
  reach(c->measured, c->points, range);
  reach(c->predicted, c->points, range);
  for (size_t k = 0; low && high && c->heldout && k < c->points; k++) {
    bool held = c->heldout[k] > 0;
    low[k] = held ? range[0] : NAN, high[k] = held ? range[1] : NAN;
    any |= held;
  }
  if (any) psdmp_report_draw_between(d, PSDMP_REPORT_BAND, "held out", c->t, NULL, low, high, c->points, HELDOUT);
}

static void draw_band(psdmp_report_drawing *d, const psdmp_report_compared *c) {
  double *low = array(d->page, c->points), *high = array(d->page, c->points);
  for (size_t k = 0; low && high && c->band && k < c->points; k++)
    low[k] = c->predicted[k] - 2 * c->band[k], high[k] = c->predicted[k] + 2 * c->band[k];
  if (c->band)
    psdmp_report_draw_between(d, PSDMP_REPORT_BAND, "\xC2\xB1 2 sd", c->t, NULL, low, high, c->points, PREDICTED);
}

void psdmp_report_draw_torque(psdmp_report_page *page, const psdmp_report_compared *c) {
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, psdmp_report_words(page, "%s: measured and predicted %s", c->axis->name, c->what),
                              "time (s)", torque_label(page, c, c->what));
  d.plot.zoom = true;
  shade_heldout(&d, c);
  draw_band(&d, c);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "as logged", c->t, c->raw, c->points, MUTED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "measured", c->t, c->measured, c->points, MEASURED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "predicted", c->t, c->predicted, c->points, PREDICTED);
  psdmp_report_draw(&d);
}

/* ---- size ---- */

static void draw_histogram(psdmp_report_page *page, const psdmp_report_compared *c) {
  enum { CURVE = 121, BINS = PSDMP_REPORT_MOST_BINS };
  const double reach_sd = 4.5;
  psdmp_report_spread s = psdmp_report_spread_of(c->residual, c->points);
  double x[CURVE], normal[CURVE], middle[BINS], density[BINS], range[2] = {NAN, NAN};
  if (!(s.sd > 0)) return;
  reach(c->residual, c->points, range);
  double lowest = fmax(range[0], s.mean - reach_sd * s.sd), highest = fmin(range[1], s.mean + reach_sd * s.sd);
  double *order = array(page, c->points);
  int bins = order ? psdmp_report_histogram_bins(c->residual, c->points, order, lowest, highest) : 0;
  if (!bins || !psdmp_report_histogram(c->residual, c->points, lowest, highest, bins, middle, density)) return;
  for (int k = 0; k < CURVE; k++)
    x[k] = lowest + (highest - lowest) * k / (CURVE - 1), normal[k] = psdmp_report_normal(s.mean, s.sd, x[k]);
  psdmp_report_drawing d = psdmp_report_drawing_of(
      page,
      psdmp_report_words(page, "%s: residuals, sd %s %s", c->axis->name, psdmp_report_words_number(page, s.sd, 3),
                         psdmp_report_unit(c->axis, PSDMP_REPORT_TORQUE)),
      torque_label(page, c, "measured less predicted"),
      psdmp_report_words(page, "density (1/%s)", psdmp_report_unit(c->axis, PSDMP_REPORT_TORQUE)));
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "residuals", middle, density, (size_t)bins, PREDICTED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "normal, same spread", x, normal, CURVE, MEASURED);
  psdmp_report_draw(&d);
}

/* share of residuals within this many bands */
static double inside_band(const psdmp_report_compared *c, double bands, const double *which, double value) {
  size_t inside = 0, all = 0;
  for (size_t k = 0; k < c->points; k++) {
    if (!isfinite(c->residual[k]) || !isfinite(c->band[k]) || (which && (which[k] > 0) != (value > 0))) continue;
    all++;
    inside += fabs(c->residual[k]) <= bands * c->band[k];
  }
  return all ? (double)inside / (double)all : NAN;
}

/* residuals of training or held-out rows alone, with gaps for the others */
static double *part_of(psdmp_report_page *page, const psdmp_report_compared *c, bool heldout) {
  double *out = array(page, c->points);
  for (size_t k = 0; out && k < c->points; k++)
    out[k] = c->heldout && (c->heldout[k] > 0) != heldout ? NAN : c->residual[k];
  return out;
}

static void residual_row(psdmp_report_page *page, const psdmp_report_compared *c, bool heldout) {
  double *part = part_of(page, c, heldout);
  psdmp_report_spread s = part ? psdmp_report_spread_of(part, c->points) : (psdmp_report_spread){0};
  if (!s.count) return;
  psdmp_report_page_row(page);
  psdmp_report_page_cell(page, "%s", c->axis->name);
  psdmp_report_page_cell(page, "%s", !c->heldout ? "all" : heldout ? "held\xC2\xA0out" : "training");
  psdmp_report_page_cell_number(page, s.mean, 3);
  psdmp_report_page_cell_number(page, s.sd, 3);
  for (int k = 0; k < 3; k++) psdmp_report_page_cell(page, "%s", psdmp_report_words_percent(page, s.inside[k]));
  for (int k = 1; c->band && k <= 2; k++)
    psdmp_report_page_cell(page, "%s", psdmp_report_words_percent(page, inside_band(c, k, c->heldout, heldout)));
}

static void residual_table(psdmp_report_page *page, const psdmp_report_compared *list, int count) {
  static const char *const header[] = {"joint",   "rows",    "mean",    "sd",        "in 1 sd",
                                       "in 2 sd", "in 3 sd", "in band", "in 2 bands"};
  psdmp_report_page_table(page, header, list[0].band ? 9 : 7, "ttnnnnnnn");
  for (int k = 0; k < count; k++)
    for (int heldout = 0; heldout < (list[k].heldout ? 2 : 1); heldout++) residual_row(page, &list[k], heldout);
  psdmp_report_page_table_end(page);
  psdmp_report_page_paragraph(
      page,
      "All rows, at rest too. Of a normal distribution 68.3 %%, 95.4 %% and 99.7 %% lie within 1, 2 and 3 standard "
      "deviations of their own mean%s.",
      list[0].band ? "; as many should lie in once and twice the band, the standard deviation that the model predicts"
                   : "");
}

/* ---- frequency ---- */

/* length of the longest run without a gap */
static size_t longest_run(const double *value, size_t count) {
  size_t longest = 0, run = 0;
  for (size_t k = 0; k < count; k++) {
    run = isfinite(value[k]) ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

/* Welch's estimate as amplitude density; NULL without a complete window */
static double *density_of(psdmp_report_page *page, const double *value, size_t count, double rate, size_t length) {
  double *power = array(page, length / 2 + 1), *scratch = array(page, 4 * length);
  if (!value || !power || !scratch || !psdmp_report_welch(value, count, rate, length, power, scratch)) return NULL;
  for (size_t k = 0; k <= length / 2; k++) power[k] = sqrt(power[k]);
  return power;
}

static void draw_spectrum(psdmp_report_page *page, const psdmp_report_compared *c) {
  size_t length = c->rate > 0 ? psdmp_report_welch_length(longest_run(c->residual, c->points)) : 0;
  double *frequency = array(page, length / 2 + 1), *raw = c->raw ? array(page, c->points) : NULL;
  if (!length)
    psdmp_report_page_paragraph(page, "%s: no run without a gap is long enough for a spectrum.", c->axis->name);
  if (!length || !frequency) return;
  /* without frequency 0, which a logarithmic axis cannot show and where the mean was removed */
  for (size_t k = 0; k <= length / 2; k++) frequency[k] = k ? (double)k * c->rate / (double)length : NAN;
  for (size_t k = 0; raw && k < c->points; k++) raw[k] = c->raw[k] - c->predicted[k];
  double *torque = density_of(page, c->measured, c->points, c->rate, length),
         *logged = raw ? density_of(page, raw, c->points, c->rate, length) : NULL,
         *residual = density_of(page, c->residual, c->points, c->rate, length);
  if (!residual) return;
  psdmp_report_drawing d = psdmp_report_drawing_of(
      page, psdmp_report_words(page, "%s: spectrum of the residuals", c->axis->name), "frequency (Hz)",
      psdmp_report_words(page, "density (%s/\xE2\x88\x9AHz)", psdmp_report_unit(c->axis, PSDMP_REPORT_TORQUE)));
  d.plot.x_log = d.plot.y_log = true;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, psdmp_report_words(page, "measured %s", c->what), frequency, torque,
                       length / 2 + 1, MEASURED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "logged less predicted", frequency, logged, length / 2 + 1, MUTED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "residuals", frequency, residual, length / 2 + 1, PREDICTED);
  psdmp_report_draw(&d);
}

/* ---- dependencies ---- */

/* evenly thinned points that can be drawn; returns how many */
static size_t thinned(const double *x, const double *y, size_t count, double *out_x, double *out_y) {
  size_t all = 0, at = 0, used = 0;
  for (size_t k = 0; k < count; k++) all += isfinite(x[k]) && isfinite(y[k]);
  size_t every = (all + MOST_DOTS - 1) / MOST_DOTS;
  for (size_t k = 0; k < count && every; k++) {
    if (!isfinite(x[k]) || !isfinite(y[k]) || at++ % every) continue;
    out_x[used] = x[k], out_y[used++] = y[k];
  }
  return used;
}

static void scatter(psdmp_report_page *page, const psdmp_report_compared *c, const double *x, const char *against,
                    const char *x_label) {
  enum { BINS = 24 };
  double *dot_x = array(page, MOST_DOTS + 1), *dot_y = array(page, MOST_DOTS + 1), mean_x[BINS], mean_y[BINS];
  size_t *order = psdmp_report_page_memory(page, (c->points ? c->points : 1) * sizeof *order);
  if (!x || !dot_x || !dot_y || !order) return;
  size_t dots = thinned(x, c->residual, c->points, dot_x, dot_y);
  int means = psdmp_report_binned_means(x, c->residual, c->points, BINS, order, mean_x, mean_y);
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, psdmp_report_words(page, "%s: residuals against %s", c->axis->name, against),
                              x_label, torque_label(page, c, "measured less predicted"));
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, "rows", dot_x, dot_y, dots, PREDICTED);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "mean", mean_x, mean_y, (size_t)means, MEASURED);
  if (dots) psdmp_report_draw(&d);
}

/* over velocity and over predicted torque */
static void draw_scatter(psdmp_report_page *page, const psdmp_report_compared *c) {
  scatter(page, c, c->speed, "velocity",
          psdmp_report_words(page, "velocity (%s)", psdmp_report_unit(c->axis, PSDMP_REPORT_VELOCITY)));
  scatter(page, c, c->predicted, psdmp_report_words(page, "predicted %s", c->what),
          torque_label(page, c, psdmp_report_words(page, "predicted %s", c->what)));
}

void psdmp_report_residual_sections(psdmp_report_page *page, const psdmp_report_compared *list, int count) {
  static const struct {
    const char *heading, *words;
    void (*draw)(psdmp_report_page *page, const psdmp_report_compared *c);
  } kinds[] = {
      {"Residuals: size", NULL, draw_histogram},
      {"Residuals: spectrum",
       "Welch's estimate, Hann windows that overlap by half. What rises above a flat floor is model error or a "
       "resonance, not noise.",
       draw_spectrum},
      {"Residuals: what they depend on",
       "A mean that is not zero at some speed or torque is friction or inertia that the model does not have.",
       draw_scatter},
  };
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    psdmp_report_page_heading(page, kinds[kind].heading);
    if (kinds[kind].words) psdmp_report_page_paragraph(page, "%s", kinds[kind].words);
    if (!kind) residual_table(page, list, count);
    psdmp_report_page_row_of_plots(page);
    for (int k = 0; k < count; k++) kinds[kind].draw(page, &list[k]);
    psdmp_report_page_row_of_plots_end(page);
  }
}
