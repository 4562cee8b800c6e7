/* section_motion.c: plots of motions, by joint or all joints together, and bars of the used shares of limits. */
#include <math.h>

#include "report/section_parts_priv.h"

static const char time_label[] = "time (s)";

static const char *label(psdmp_report_page *page, const char *quantity, const char *unit) {
  return psdmp_report_words(page, "%s (%s)", quantity, unit);
}

static const char *capital(psdmp_report_page *page, const char *text) {
  return text[0] >= 'a' && text[0] <= 'z' ? psdmp_report_words(page, "%c%s", text[0] - 'a' + 'A', text + 1) : text;
}

/* ---- one joint ---- */

static void draw_limits(psdmp_report_drawing *d, const psdmp_report_axis *axis, int quantity) {
  const int colour = 1;
  if (quantity == PSDMP_REPORT_POSITION) {
    psdmp_report_draw_level(d, "limit", axis->lower, colour);
    psdmp_report_draw_level(d, isfinite(axis->lower) ? NULL : "limit", axis->upper, colour);
  } else {
    psdmp_report_draw_level(d, "limit", axis->most[quantity], colour);
    psdmp_report_draw_level(d, NULL, -axis->most[quantity], colour);
  }
}

static void draw_axis(psdmp_report_page *page, const psdmp_report_result *csv, const psdmp_report_axis *axis, int index,
                      int quantity) {
  const double *t = psdmp_report_rows_column(csv, "t"),
               *y = psdmp_report_rows_group(csv, psdmp_report_group[quantity], index);
  const char *name = psdmp_report_quantity(axis, quantity);
  if (!t || !y) return;
  psdmp_report_drawing d = psdmp_report_drawing_of(page, psdmp_report_words(page, "%s: %s", axis->name, name),
                                                   time_label, label(page, name, psdmp_report_unit(axis, quantity)));
  d.plot.zoom = true;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, name, t, y, csv->rows, 0);
  draw_limits(&d, axis, quantity);
  psdmp_report_draw(&d);
}

void psdmp_report_motion_by_axis(psdmp_report_page *page, const psdmp_report_result *csv,
                                 const psdmp_report_axes *axes) {
  int drawn = psdmp_report_axes_drawn(page, axes);
  for (int i = 0; i < drawn; i++) {
    if (!psdmp_report_rows_group(csv, "q", i)) continue;
    psdmp_report_page_row_of_plots(page);
    for (int quantity = 0; quantity < PSDMP_REPORT_QUANTITIES; quantity++)
      draw_axis(page, csv, &axes->axis[i], i, quantity);
    psdmp_report_page_row_of_plots_end(page);
  }
}

/* ---- all joints ---- */

enum { COLOURS = 8 };

/* of all lines of a drawing */
static void reach_of(const psdmp_report_drawing *d, double range[2]) {
  range[0] = INFINITY, range[1] = -INFINITY;
  for (int k = 0; k < d->plot.count; k++)
    for (size_t i = 0; i < d->series[k].count; i++)
      if (isfinite(d->series[k].y[i]))
        range[0] = fmin(range[0], d->series[k].y[i]), range[1] = fmax(range[1], d->series[k].y[i]);
}

/* in the colours of their joints; limits far outside the motion are left out, since they would flatten it */
static void draw_near_limits(psdmp_report_drawing *d, const psdmp_report_axes *axes, int from, int to, int quantity) {
  const char *title = "limits";
  double range[2];
  reach_of(d, range);
  const double room = range[1] - range[0];
  for (int i = from; i < to; i++) {
    const psdmp_report_axis *axis = &axes->axis[i];
    const bool position = quantity == PSDMP_REPORT_POSITION;
    const double end[2] = {position ? axis->lower : -axis->most[quantity],
                           position ? axis->upper : axis->most[quantity]};
    for (int k = 0; k < 2; k++) {
      if (!(end[k] >= range[0] - room && end[k] <= range[1] + room)) continue;
      psdmp_report_draw_level(d, title, end[k], i - from);
      title = NULL;
    }
  }
}

/* as many joints per plot as there are colours; quantity: whose limits are drawn, PSDMP_REPORT_QUANTITIES for none */
static void draw_column(psdmp_report_page *page, const psdmp_report_result *csv, const psdmp_report_axes *axes,
                        const char *group, int quantity, const char *title, const char *y_label) {
  const double *t = psdmp_report_rows_column(csv, "t");
  int most = axes->n < 4 * COLOURS ? axes->n : 4 * COLOURS;
  for (int from = 0; t && from < most; from += COLOURS) {
    int to = from + COLOURS < most ? from + COLOURS : most;
    const char *words = most > COLOURS ? psdmp_report_words(page, "%s, joints %d to %d", title, from + 1, to) : title;
    psdmp_report_drawing d = psdmp_report_drawing_of(page, words, time_label, y_label);
    d.plot.zoom = true;
    for (int i = from; i < to; i++)
      psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, axes->axis[i].name, t, psdmp_report_rows_group(csv, group, i),
                           csv->rows, i - from);
    if (quantity < PSDMP_REPORT_QUANTITIES) draw_near_limits(&d, axes, from, to, quantity);
    psdmp_report_draw(&d);
  }
}

void psdmp_report_motion_column(psdmp_report_page *page, const psdmp_report_result *csv, const psdmp_report_axes *axes,
                                const char *group, const char *title, const char *y_label) {
  draw_column(page, csv, axes, group, PSDMP_REPORT_QUANTITIES, title, y_label);
}

void psdmp_report_motion_together(psdmp_report_page *page, const psdmp_report_result *csv,
                                  const psdmp_report_axes *axes) {
  for (int quantity = 0; quantity < PSDMP_REPORT_QUANTITIES; quantity++) {
    if (!psdmp_report_rows_group(csv, psdmp_report_group[quantity], 0)) continue;
    const char *name =
        psdmp_report_quantity(axes->n ? &axes->axis[0] : &(psdmp_report_axis){.sliding = false}, quantity);
    draw_column(page, csv, axes, psdmp_report_group[quantity], quantity, capital(page, name),
                label(page, name, psdmp_report_unit_of_all(page, axes, quantity)));
  }
}

/* ---- limits ---- */

/* of a position: distance to the nearer limit, measured from the middle */
static double position_share(const psdmp_report_axis *axis, const double lower_upper[2]) {
  double middle = (axis->lower + axis->upper) / 2, half = (axis->upper - axis->lower) / 2;
  return fmax(fabs(lower_upper[0] - middle), fabs(lower_upper[1] - middle)) / half;
}

void psdmp_report_limit_shares(const psdmp_report_axes *axes, int axis, const double lower_upper[2],
                               const double peak[PSDMP_REPORT_QUANTITIES], double share[PSDMP_REPORT_QUANTITIES]) {
  const psdmp_report_axis *a = &axes->axis[axis];
  share[PSDMP_REPORT_POSITION] = position_share(a, lower_upper);
  for (int k = PSDMP_REPORT_VELOCITY; k < PSDMP_REPORT_QUANTITIES; k++) share[k] = peak[k] / a->most[k];
  for (int k = 0; k < PSDMP_REPORT_QUANTITIES; k++)
    if (!isfinite(share[k])) share[k] = NAN;
}

void psdmp_report_limit_bars(psdmp_report_page *page, const psdmp_report_axes *axes, const double *share) {
  static const char *const titles[PSDMP_REPORT_QUANTITIES] = {"position", "velocity", "acceleration", "torque"};
  enum { MOST = 40 };
  int n = axes->n < MOST ? axes->n : MOST;
  const char *tick[MOST];
  double x[PSDMP_REPORT_QUANTITIES][MOST], y[PSDMP_REPORT_QUANTITIES][MOST];
  int kinds = 0, kind[PSDMP_REPORT_QUANTITIES];
  for (int k = 0; k < PSDMP_REPORT_QUANTITIES; k++) {
    bool any = false;
    for (int i = 0; i < n; i++) any |= isfinite(share[i * PSDMP_REPORT_QUANTITIES + k]);
    if (any) kind[kinds++] = k;
  }
  if (!kinds) return;
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "How much of each limit is used", "joint", "share of the limit (%)");
  for (int i = 0; i < n; i++) tick[i] = axes->axis[i].name;
  d.plot.tick = tick;
  d.plot.ticks = n;
  for (int k = 0; k < kinds; k++) {
    for (int i = 0; i < n; i++)
      x[k][i] = i + (k - 0.5 * (kinds - 1)) * 0.8 / kinds, y[k][i] = 100 * share[i * PSDMP_REPORT_QUANTITIES + kind[k]];
    psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, titles[kind[k]], x[k], y[k], (size_t)n,
                         k == 1   ? 2
                         : k == 2 ? 3
                         : k == 3 ? 4
                                  : 0);
  }
  psdmp_report_draw_level(&d, "limit", 100, 1);
  psdmp_report_draw(&d);
}
