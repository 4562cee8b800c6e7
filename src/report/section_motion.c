/* section_motion.c: plots of motions, by joint or all joints together, and bars of the limits that they use. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

static const char time_label[] = "time (s)";

static const char *label(psdmp_page *page, const char *quantity, const char *unit) { return psdmp_words(page, "%s (%s)", quantity, unit); }

static const char *capital(psdmp_page *page, const char *text) {
  return text[0] >= 'a' && text[0] <= 'z' ? psdmp_words(page, "%c%s", text[0] - 'a' + 'A', text + 1) : text;
}

/* ---- one joint ---- */

static void draw_limits(psdmp_drawing *d, const psdmp_axis *axis, int quantity) {
  const int colour = 1;
  if (quantity == PSDMP_POSITION) {
    psdmp_draw_level(d, "limit", axis->lower, colour);
    psdmp_draw_level(d, isfinite(axis->lower) ? NULL : "limit", axis->upper, colour);
  } else {
    psdmp_draw_level(d, "limit", axis->most[quantity], colour);
    psdmp_draw_level(d, NULL, -axis->most[quantity], colour);
  }
}

static void draw_axis(psdmp_page *page, const psdmp_result *csv, const psdmp_axis *axis, int index, int quantity) {
  const double *t = psdmp_rows_column(csv, "t"), *y = psdmp_rows_group(csv, psdmp_group[quantity], index);
  const char *name = psdmp_quantity(axis, quantity);
  if (!t || !y) return;
  psdmp_drawing d = psdmp_drawing_of(page, psdmp_words(page, "%s: %s", axis->name, name), time_label, label(page, name, psdmp_unit(axis, quantity)));
  d.plot.zoom = true;
  psdmp_draw_xy(&d, PSDMP_LINE, name, t, y, csv->rows, 0);
  draw_limits(&d, axis, quantity);
  psdmp_draw(&d);
}

void psdmp_motion_by_axis(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes) {
  int drawn = psdmp_axes_drawn(page, axes);
  for (int i = 0; i < drawn; i++) {
    if (!psdmp_rows_group(csv, "q", i)) continue;
    psdmp_page_row_of_plots(page);
    for (int quantity = 0; quantity < PSDMP_QUANTITIES; quantity++) draw_axis(page, csv, &axes->axis[i], i, quantity);
    psdmp_page_row_of_plots_end(page);
  }
}

/* ---- all joints ---- */

enum { COLOURS = 8 };

/* of all lines of a drawing */
static void reach_of(const psdmp_drawing *d, double range[2]) {
  range[0] = INFINITY, range[1] = -INFINITY;
  for (int k = 0; k < d->plot.count; k++)
    for (size_t i = 0; i < d->series[k].count; i++)
      if (isfinite(d->series[k].y[i])) range[0] = fmin(range[0], d->series[k].y[i]), range[1] = fmax(range[1], d->series[k].y[i]);
}

/* in the colours of their joints; limits that are farther away than the motion is wide are left out: they would make a flat line of it */
static void draw_near_limits(psdmp_drawing *d, const psdmp_axes *axes, int from, int to, int quantity) {
  const char *title = "limits";
  double range[2];
  reach_of(d, range);
  const double room = range[1] - range[0];
  for (int i = from; i < to; i++) {
    const psdmp_axis *axis = &axes->axis[i];
    const bool position = quantity == PSDMP_POSITION;
    const double end[2] = {position ? axis->lower : -axis->most[quantity], position ? axis->upper : axis->most[quantity]};
    for (int k = 0; k < 2; k++) {
      if (!(end[k] >= range[0] - room && end[k] <= range[1] + room)) continue;
      psdmp_draw_level(d, title, end[k], i - from);
      title = NULL;
    }
  }
}

/* as many joints as there are colours in each plot; quantity: whose limits are drawn, PSDMP_QUANTITIES for none */
static void draw_column(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes, const char *group, int quantity, const char *title, const char *y_label) {
  const double *t = psdmp_rows_column(csv, "t");
  int most = axes->n < 4 * COLOURS ? axes->n : 4 * COLOURS;
  for (int from = 0; t && from < most; from += COLOURS) {
    int to = from + COLOURS < most ? from + COLOURS : most;
    const char *words = most > COLOURS ? psdmp_words(page, "%s, joints %d to %d", title, from + 1, to) : title;
    psdmp_drawing d = psdmp_drawing_of(page, words, time_label, y_label);
    d.plot.zoom = true;
    for (int i = from; i < to; i++) psdmp_draw_xy(&d, PSDMP_LINE, axes->axis[i].name, t, psdmp_rows_group(csv, group, i), csv->rows, i - from);
    if (quantity < PSDMP_QUANTITIES) draw_near_limits(&d, axes, from, to, quantity);
    psdmp_draw(&d);
  }
}

void psdmp_motion_column(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes, const char *group, const char *title, const char *y_label) {
  draw_column(page, csv, axes, group, PSDMP_QUANTITIES, title, y_label);
}

void psdmp_motion_together(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes) {
  for (int quantity = 0; quantity < PSDMP_QUANTITIES; quantity++) {
    if (!psdmp_rows_group(csv, psdmp_group[quantity], 0)) continue;
    const char *name = psdmp_quantity(axes->n ? &axes->axis[0] : &(psdmp_axis){.sliding = false}, quantity);
    draw_column(page, csv, axes, psdmp_group[quantity], quantity, capital(page, name), label(page, name, psdmp_unit_of_all(page, axes, quantity)));
  }
}

/* ---- limits ---- */

/* of a position: how near it comes to the nearer end, counted from the middle */
static double position_share(const psdmp_axis *axis, const double lower_upper[2]) {
  double middle = (axis->lower + axis->upper) / 2, half = (axis->upper - axis->lower) / 2;
  return fmax(fabs(lower_upper[0] - middle), fabs(lower_upper[1] - middle)) / half;
}

void psdmp_limit_shares(const psdmp_axes *axes, int axis, const double lower_upper[2], const double peak[PSDMP_QUANTITIES], double share[PSDMP_QUANTITIES]) {
  const psdmp_axis *a = &axes->axis[axis];
  share[PSDMP_POSITION] = position_share(a, lower_upper);
  for (int k = PSDMP_VELOCITY; k < PSDMP_QUANTITIES; k++) share[k] = peak[k] / a->most[k];
  for (int k = 0; k < PSDMP_QUANTITIES; k++)
    if (!isfinite(share[k])) share[k] = NAN;
}

void psdmp_limit_bars(psdmp_page *page, const psdmp_axes *axes, const double *share) {
  static const char *const titles[PSDMP_QUANTITIES] = {"position", "velocity", "acceleration", "torque"};
  enum { MOST = 40 };
  int n = axes->n < MOST ? axes->n : MOST;
  const char *tick[MOST];
  double x[PSDMP_QUANTITIES][MOST], y[PSDMP_QUANTITIES][MOST];
  int kinds = 0, kind[PSDMP_QUANTITIES];
  for (int k = 0; k < PSDMP_QUANTITIES; k++) {
    bool any = false;
    for (int i = 0; i < n; i++) any |= isfinite(share[i * PSDMP_QUANTITIES + k]);
    if (any) kind[kinds++] = k;
  }
  if (!kinds) return;
  psdmp_drawing d = psdmp_drawing_of(page, "How much of each limit is used", "joint", "share of the limit (%)");
  for (int i = 0; i < n; i++) tick[i] = axes->axis[i].name;
  d.plot.tick = tick;
  d.plot.ticks = n;
  for (int k = 0; k < kinds; k++) {
    for (int i = 0; i < n; i++) x[k][i] = i + (k - 0.5 * (kinds - 1)) * 0.8 / kinds, y[k][i] = 100 * share[i * PSDMP_QUANTITIES + kind[k]];
    psdmp_draw_xy(&d, PSDMP_BARS, titles[kind[k]], x[k], y[k], (size_t)n, k == 1 ? 2 : k == 2 ? 3 : k == 3 ? 4 : 0);
  }
  psdmp_draw_level(&d, "limit", 100, 1);
  psdmp_draw(&d);
}
