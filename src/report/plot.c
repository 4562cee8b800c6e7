/* plot.c: prepares a plot: thinned series, ranges, bar widths. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_priv.h"

enum {
  STATIC_POINTS = 4000, /* of a series in the picture: four and a half per pixel at the widest */
  ZOOM_POINTS = 20000,  /* of all series of a plot that can be zoomed */
  ZOOM_LEAST = 2000,    /* of each of them */
  PER_BUCKET = 5
};

#define MOST_VALUE 1e100 /* larger values are not measurements, and exceed gnuplot's arithmetic */

const char *psdmp_report_plot_kind(psdmp_report_series_kind kind) {
  static const char *const names[] = {"line", "dots", "steps", "band", "bars", "errors", "level"};
  return names[kind];
}

/* ---- thinning ---- */

/* of the values from..to: the first, the lowest, the highest, the last and the first NAN, in order, each once */
static size_t keep_of_bucket(const double *low, const double *high, size_t from, size_t to, size_t *kept) {
  size_t pick[PER_BUCKET] = {from, from, from, to - 1, to};
  bool any = false;
  for (size_t i = from; i < to; i++) {
    if (isnan(low[i]) || isnan(high[i])) {
      if (pick[4] == to) pick[4] = i;
      continue;
    }
    if (!any || low[i] < low[pick[1]]) pick[1] = i;
    if (!any || high[i] > high[pick[2]]) pick[2] = i;
    any = true;
  }
  size_t count = 0;
  for (size_t last = 0;; count++) {
    size_t next = to;
    for (int k = 0; k < PER_BUCKET; k++)
      if (pick[k] < next && (!count || pick[k] > last)) next = pick[k];
    if (next == to) return count;
    kept[count] = last = next;
  }
}

size_t psdmp_report_plot_thin(const double *low, const double *high, size_t count, size_t most, size_t *kept) {
  size_t used = 0, buckets = most / PER_BUCKET;
  if (count <= most) {
    for (; used < count; used++) kept[used] = used;
    return used;
  }
  for (size_t b = 0; b < buckets; b++) {
    /* the remainder is distributed, and no product of two counts can overflow */
    size_t size = count / buckets, more = count % buckets;
    size_t from = b * size + (b < more ? b : more), to = from + size + (b < more);
    used += keep_of_bucket(low, high, from, to, kept + used);
  }
  return used;
}

/* ---- one series ---- */

static double drawable(double value, bool logarithmic) {
  return isfinite(value) && fabs(value) < MOST_VALUE && (!logarithmic || value > 0) ? value : NAN;
}

static bool has_ends(psdmp_report_series_kind kind) { return kind == PSDMP_REPORT_BAND || kind == PSDMP_REPORT_ERRORS; }
static bool has_y(psdmp_report_series_kind kind) { return kind != PSDMP_REPORT_BAND; }

/* a copy of values, with NAN for those that cannot be drawn */
static double *copy_values(psdmp_report_page *page, const double *value, const size_t *kept, size_t count,
                           bool logarithmic) {
  double *copy = psdmp_report_page_memory(page, (count ? count : 1) * sizeof *copy);
  for (size_t i = 0; copy && i < count; i++) copy[i] = drawable(value[kept[i]], logarithmic);
  return copy;
}

/* a point with a missing coordinate breaks the line */
static void break_at_gaps(psdmp_report_curve *curve) {
  for (size_t i = 0; i < curve->count; i++) {
    bool gap = isnan(curve->x[i]) || (curve->y && isnan(curve->y[i])) ||
               (curve->kind == PSDMP_REPORT_BAND && (isnan(curve->low[i]) || isnan(curve->high[i])));
    if (!gap) continue;
    if (curve->y) curve->y[i] = NAN;
    if (curve->low) curve->low[i] = curve->high[i] = NAN;
  }
}

static bool complete(const psdmp_report_series *s) {
  if (!s->count) return false;
  if (s->kind == PSDMP_REPORT_LEVEL) return s->y != NULL;
  return s->x && (!has_y(s->kind) || s->y) && (!has_ends(s->kind) || (s->low && s->high));
}

static bool copy_series(psdmp_report_page *page, const psdmp_report_plot *plot, const psdmp_report_series *s,
                        size_t most, psdmp_report_curve *curve) {
  bool level = s->kind == PSDMP_REPORT_LEVEL, thin = s->kind != PSDMP_REPORT_BARS && s->kind != PSDMP_REPORT_LEVEL;
  size_t count = level ? 1 : s->count, room = thin && count > most ? most : count;
  size_t *kept = psdmp_report_page_memory(page, (room ? room : 1) * sizeof *kept);
  *curve = (psdmp_report_curve){
      .kind = s->kind, .title = s->title, .colour = s->colour < 0 || s->colour > 7 ? 8 : s->colour};
  if (!kept) return false;
  const double *low = has_ends(s->kind) ? s->low : s->y, *high = has_ends(s->kind) ? s->high : s->y;
  curve->count = psdmp_report_plot_thin(low, high, count, room, kept);
  if (!level && !(curve->x = copy_values(page, s->x, kept, curve->count, plot->x_log))) return false;
  if (has_y(s->kind) && !(curve->y = copy_values(page, s->y, kept, curve->count, plot->y_log))) return false;
  if (has_ends(s->kind) && (!(curve->low = copy_values(page, s->low, kept, curve->count, plot->y_log)) ||
                            !(curve->high = copy_values(page, s->high, kept, curve->count, plot->y_log))))
    return false;
  if (!level) break_at_gaps(curve);
  return true;
}

/* ---- ranges ---- */

static void reach(double range[2], double value) {
  if (!isfinite(value)) return;
  if (!(value >= range[0])) range[0] = value;
  if (!(value <= range[1])) range[1] = value;
}

static void reach_all(double range[2], const double *value, size_t count) {
  for (size_t i = 0; value && i < count; i++) reach(range, value[i]);
}

/* a range with margins around the data, or whole decades */
static void widen(double range[2], bool logarithmic, double share) {
  if (logarithmic) {
    range[0] = pow(10, floor(log10(range[0]) + 1e-9));
    range[1] = pow(10, ceil(log10(range[1]) - 1e-9));
    if (!(range[0] > 0)) range[0] = DBL_MIN;
    if (!(range[1] > range[0])) range[1] = 10 * range[0];
    return;
  }
  double size = range[1] - range[0], scale = fmax(fabs(range[0]), fabs(range[1]));
  /* values that differ by rounding only are drawn as one level */
  /* a tenth of less than that may be zero */
  double room = size > 1e-9 * scale ? share * size : scale > DBL_MIN ? 0.1 * scale : 1;
  range[0] -= room;
  range[1] += room;
}

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* bars are as wide as their smallest distance allows */
static bool size_bars(psdmp_report_page *page, psdmp_report_figure *figure) {
  size_t count = 0, used = 0;
  for (int k = 0; k < figure->curves; k++)
    count += figure->curve[k].kind == PSDMP_REPORT_BARS ? figure->curve[k].count : 0;
  if (!count) return true;
  double *x = psdmp_report_page_memory(page, count * sizeof *x), least = INFINITY;
  if (!x) return false;
  for (int k = 0; k < figure->curves; k++)
    for (size_t i = 0; figure->curve[k].kind == PSDMP_REPORT_BARS && i < figure->curve[k].count; i++)
      if (isfinite(figure->curve[k].x[i])) x[used++] = figure->curve[k].x[i];
  if (!used) return true;
  qsort(x, used, sizeof *x, compare_numbers);
  for (size_t i = 1; i < used; i++)
    if (x[i] - x[i - 1] > 1e-9 * (x[used - 1] - x[0])) least = fmin(least, x[i] - x[i - 1]);
  figure->box = isfinite(least) ? 0.86 * least : 0.86;
  return true;
}

/* false if there is nothing to draw */
static bool find_ranges(psdmp_report_figure *figure) {
  double *x = figure->range, *y = figure->range + 2;
  bool bars = false;
  x[0] = x[1] = y[0] = y[1] = NAN;
  for (int k = 0; k < figure->curves; k++) {
    const psdmp_report_curve *c = &figure->curve[k];
    reach_all(x, c->x, c->count);
    reach_all(y, c->y, c->count);
    reach_all(y, c->low, c->count);
    reach_all(y, c->high, c->count);
    bars |= c->kind == PSDMP_REPORT_BARS;
  }
  if (isnan(y[0]) || (isnan(x[0]) && !figure->ticks)) return false;
  if (isnan(x[0])) x[0] = 0, x[1] = figure->ticks - 1;
  if (bars && !figure->y_log) reach(y, 0);
  bool from_zero = bars && y[0] == 0, to_zero = bars && y[1] == 0;
  widen(y, figure->y_log, 0.06);
  if (from_zero) y[0] = 0;
  if (to_zero && !from_zero) y[1] = 0;
  if (bars && !figure->x_log) {
    x[0] -= 0.75 * figure->box;
    x[1] += 0.75 * figure->box;
    if (!(x[1] > x[0])) widen(x, false, 0); /* bars so far apart that their own width is negligible */
  } else {
    widen(x, figure->x_log, figure->ticks ? 0.04 : 0);
  }
  return true;
}

/* ---- the whole plot ---- */

static const char *copy_text(psdmp_report_page *page, const char *text) {
  if (!text) text = "";
  char *copy = psdmp_report_page_memory(page, strlen(text) + 1);
  return copy ? strcpy(copy, text) : "";
}

static bool copy_ticks(psdmp_report_page *page, const psdmp_report_plot *plot, psdmp_report_figure *figure) {
  if (!plot->tick || plot->ticks <= 0) return true;
  figure->tick = psdmp_report_page_memory(page, (size_t)plot->ticks * sizeof *figure->tick);
  if (!figure->tick) return false;
  figure->ticks = plot->ticks;
  for (int i = 0; i < plot->ticks; i++) figure->tick[i] = copy_text(page, plot->tick[i]);
  return true;
}

static psdmp_report_curve *copy_curves(psdmp_report_page *page, const psdmp_report_plot *plot, size_t most,
                                       int *count) {
  psdmp_report_curve *curve =
      psdmp_report_page_memory(page, (size_t)(plot->count > 0 ? plot->count : 1) * sizeof *curve);
  *count = 0;
  for (int k = 0; curve && k < plot->count; k++) {
    if (!complete(&plot->series[k])) continue;
    if (!copy_series(page, plot, &plot->series[k], most, &curve[*count])) return NULL;
    if (curve[*count].title) curve[*count].title = copy_text(page, curve[*count].title);
    ++*count;
  }
  return curve;
}

psdmp_report_figure *psdmp_report_plot_copy(psdmp_report_page *page, const psdmp_report_plot *plot, bool *empty) {
  psdmp_report_figure *figure = psdmp_report_page_memory(page, sizeof *figure);
  int count = plot->count > 0 ? plot->count : 1;
  size_t fine = ZOOM_POINTS / (size_t)count > ZOOM_LEAST ? ZOOM_POINTS / (size_t)count : ZOOM_LEAST;
  *empty = false;
  if (!figure || !copy_ticks(page, plot, figure)) return NULL;
  figure->title = copy_text(page, plot->title);
  figure->x_label = copy_text(page, plot->x_label);
  figure->y_label = copy_text(page, plot->y_label);
  figure->x_log = plot->x_log, figure->y_log = plot->y_log, figure->zoom = plot->zoom, figure->tall = plot->tall;
  figure->curve = copy_curves(page, plot, STATIC_POINTS, &figure->curves);
  if (figure->curve && plot->zoom) figure->fine = copy_curves(page, plot, fine, &figure->curves);
  if (!figure->curve || (plot->zoom && !figure->fine) || !size_bars(page, figure)) return NULL;
  *empty = !find_ranges(figure);
  return *empty || page->status ? NULL : figure;
}

void psdmp_report_plot_size(const psdmp_report_figure *figure, int size, int *width, int *height) {
  *width = size == PSDMP_REPORT_NARROW ? 360 : figure->in_row ? 500 : 1000;
  *height = size == PSDMP_REPORT_NARROW ? (figure->tall ? 400 : 270)
            : figure->in_row            ? (figure->tall ? 460 : 320)
            : figure->tall              ? 520
                                        : 340;
}
