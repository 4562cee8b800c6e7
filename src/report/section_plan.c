/* section_plan.c: a planned motion, its use of limits, and its cost. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

static const char *const peak_keys[PSDMP_REPORT_QUANTITIES] = {"", "peak_velocity", "peak_acceleration", "peak_torque"};

static const char *what_of(const psdmp_document_node *root) {
  static const struct {
    const char *key, *words;
  } list[] = {{"time", "The quickest motion"},
              {"energy", "The motion with the least squared torques"},
              {"scale", "A trajectory, slower or quicker"}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (strcmp(psdmp_report_text(root, "what"), list[k].key) == 0) return list[k].words;
  return "A motion";
}

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item list[] = {{"duration", "seconds", 5, "s"},
                                           {"most of any limit", "limit_used", PSDMP_REPORT_PERCENT, NULL},
                                           {"integral of squared torques", "energy", 4, "N\xC2\xB2m\xC2\xB2s"},
                                           {"factor of time", "factor", 4, NULL},
                                           {"limited by", "limited_by", PSDMP_REPORT_WORDS, NULL},
                                           {"duration of the first guess", "guess_seconds", 4, "s"},
                                           {"iterations", "iterations", 6, NULL},
                                           {"took", "wall", 3, "s"}};
  psdmp_report_page_facts(page);
  psdmp_report_fact_list(page, root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_facts_end(page);
  if (psdmp_report_text(root, "solver")[0])
    psdmp_report_page_paragraph(page, "Solver: %s.", psdmp_report_text(root, "solver"));
  if (psdmp_report_node(root, "converged") && !psdmp_report_truth(root, "converged"))
    psdmp_report_page_paragraph(page, "The search did not converge: this is the best motion found.");
}

/* ---- limits ---- */

static void ends_of(const psdmp_report_result *rows, int axis, double ends[2]) {
  const double *q = rows ? psdmp_report_rows_group(rows, "q", axis) : NULL;
  ends[0] = ends[1] = NAN;
  for (size_t k = 0; q && k < rows->rows; k++) {
    if (!(q[k] >= ends[0])) ends[0] = q[k];
    if (!(q[k] <= ends[1])) ends[1] = q[k];
  }
}

static void limits(psdmp_report_page *page, const psdmp_report_result *result, const psdmp_report_result *rows,
                   const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "peak velocity", "limit", "peak acceleration",
                                       "limit", "peak torque",   "limit"};
  double *share = psdmp_report_page_memory(page, (size_t)(axes->n * PSDMP_REPORT_QUANTITIES + 1) * sizeof *share);
  if (!share || !psdmp_report_node(result->root, "%s", peak_keys[PSDMP_REPORT_VELOCITY])) return;
  psdmp_report_page_heading(page, "Limits");
  psdmp_report_page_table(page, header, 7, "tnnnnnn");
  for (int i = 0; i < axes->n; i++) {
    double ends[2], peak[PSDMP_REPORT_QUANTITIES] = {NAN, NAN, NAN, NAN};
    ends_of(rows, i, ends);
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    for (int k = PSDMP_REPORT_VELOCITY; k < PSDMP_REPORT_QUANTITIES; k++) {
      peak[k] = psdmp_report_number(result->root, "%s.%d", peak_keys[k], i);
      psdmp_report_page_cell_number(page, peak[k], 4);
      psdmp_report_page_cell_number(page, axes->axis[i].most[k], 4);
    }
    psdmp_report_limit_shares(axes, i, ends, peak, share + i * PSDMP_REPORT_QUANTITIES);
  }
  psdmp_report_page_table_end(page);
  psdmp_report_limit_bars(page, axes, share);
}

/* the largest share of any joint's limit at each time */
static double *largest_share(psdmp_report_page *page, const psdmp_report_result *rows, const psdmp_report_axes *axes,
                             int quantity) {
  double *out = psdmp_report_page_memory(page, (rows->rows ? rows->rows : 1) * sizeof *out);
  bool any = false;
  for (size_t k = 0; out && k < rows->rows; k++) out[k] = NAN;
  for (int i = 0; out && i < axes->n; i++) {
    const double *value = psdmp_report_rows_group(rows, psdmp_report_group[quantity], i),
                 limit = axes->axis[i].most[quantity];
    if (!value || !(limit > 0)) continue;
    any = true;
    for (size_t k = 0; k < rows->rows; k++) out[k] = fmax(out[k], 100 * fabs(value[k]) / limit);
  }
  return any ? out : NULL;
}

static void limits_over_time(psdmp_report_page *page, const psdmp_report_result *rows, const psdmp_report_axes *axes) {
  static const char *const titles[PSDMP_REPORT_QUANTITIES] = {"", "velocity", "acceleration", "torque"};
  psdmp_report_drawing d = psdmp_report_drawing_of(page, "The nearest limit at each time", "time (s)",
                                                   "largest share of a joint's limit (%)");
  d.plot.zoom = true;
  for (int k = PSDMP_REPORT_VELOCITY; k < PSDMP_REPORT_QUANTITIES; k++) {
    double *share = largest_share(page, rows, axes, k);
    if (share)
      psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, titles[k], psdmp_report_rows_column(rows, "t"), share, rows->rows,
                           k == 1   ? 2
                           : k == 2 ? 3
                                    : 4);
  }
  if (!d.plot.count) return;
  psdmp_report_draw_level(&d, "limit", 100, 1);
  psdmp_report_draw(&d);
}

/* ---- along a path ---- */

static void plot_along(psdmp_report_page *page, const char *title, const char *y_label, const char *name,
                       const double *s, const double *y, int count, double level) {
  psdmp_report_drawing d = psdmp_report_drawing_of(page, title, "path parameter s", y_label);
  d.plot.zoom = true;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, name, s, y, (size_t)count, 0);
  psdmp_report_draw_level(&d, "limit", level, 1);
  psdmp_report_draw(&d);
}

static void path_speed(psdmp_report_page *page, const psdmp_document_node *root) {
  enum { MOST = 4000 };
  const psdmp_document_node *path = psdmp_report_node(root, "path");
  double *s = psdmp_report_page_memory(page, 3 * MOST * sizeof *s);
  if (!path || !s) return;
  double *speed = s + MOST, *usage = speed + MOST;
  int count = psdmp_report_numbers(psdmp_report_node(path, "s"), s, MOST),
      speeds = psdmp_report_numbers(psdmp_report_node(path, "speed"), speed, MOST),
      usages = psdmp_report_numbers(psdmp_report_node(path, "usage"), usage, MOST);
  if (count < 2 || speeds != count) return;
  psdmp_report_page_heading(page, "Speed along the path");
  plot_along(page, "Speed along the path", "ds/dt (1/s)", "ds/dt", s, speed, count, NAN);
  for (int k = 0; k < usages; k++) usage[k] *= 100;
  if (usages == count)
    plot_along(page, "How much of some limit is used along the path", "largest share of a limit (%)", "largest share",
               s, usage, count, 100);
}

/* ---- the section ---- */

void psdmp_report_show_plan(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  psdmp_report_result *rows = result->matched;
  psdmp_report_page_section(
      page, psdmp_report_title(page, results, result, "Planned motion"),
      psdmp_report_words(page, "%s, checked on a grid ten times finer than its rows.", what_of(result->root)));
  facts(page, result->root);
  limits(page, result, rows, &axes);
  if (rows) {
    limits_over_time(page, rows, &axes);
    psdmp_report_page_heading(page, "The motion");
    psdmp_report_motion_by_axis(page, rows, &axes);
    rows->used = true;
  }
  path_speed(page, result->root);
}
