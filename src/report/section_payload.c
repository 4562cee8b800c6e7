/* section_payload.c: a robot's load, its uncertainty, and torques with and without it. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

static const char *const pi_names[10] = {"m", "mx", "my", "mz", "XX", "XY", "XZ", "YY", "YZ", "ZZ"};

static const char *pi_unit(int k) { return k == 0 ? "kg" : k < 4 ? "kg m" : "kg m\xC2\xB2"; }

static void fact_with_sd(psdmp_report_page *page, const char *label, double value, double sd, const char *unit) {
  const char *words = isfinite(sd) ? psdmp_report_words(page, "%s, \xC2\xB1\xC2\xA0%s\xC2\xA0%s", label,
                                                        psdmp_report_words_number(page, sd, 2), unit)
                                   : label;
  psdmp_report_page_fact(page, words, "%s\xC2\xA0%s", psdmp_report_words_number(page, value, 4), unit);
}

/* ---- the load ---- */

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const axes[] = {"x", "y", "z"};
  psdmp_report_page_facts(page);
  fact_with_sd(page, "mass", psdmp_report_number(root, "load.mass"), psdmp_report_number(root, "load.mass_sd"), "kg");
  for (int k = 0; k < 3; k++)
    fact_with_sd(page, psdmp_report_words(page, "centre of mass, %s", axes[k]),
                 psdmp_report_number(root, "load.com.%d", k), psdmp_report_number(root, "load.com_sd.%d", k), "m");
  psdmp_report_fact_percent(page, "error without the load", psdmp_report_number(root, "before.global_rel"));
  psdmp_report_fact_percent(page, "error with it", psdmp_report_number(root, "after.global_rel"));
  psdmp_report_page_facts_end(page);
}

static void inertia_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"about the centre of mass", "value (kg m\xC2\xB2)", "sd"};
  static const char *const pairs[] = {"xx", "xy", "xz", "yy", "yz", "zz"};
  if (!psdmp_report_node(root, "load.inertia")) return;
  psdmp_report_page_heading(page, "Inertia of the load");
  psdmp_report_page_table(page, header, 3, "tnn");
  for (int k = 0; k < 6; k++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "I%s", pairs[k]);
    psdmp_report_page_cell_number(page, psdmp_report_number(root, "load.inertia.%s", pairs[k]), 4);
    psdmp_report_page_cell_number(page, psdmp_report_number(root, "load.inertia_sd.%s", pairs[k]), 2);
  }
  psdmp_report_page_table_end(page);
}

/* error bars of all ten in units of their own size would hide what is unknown: a table shows it better */
static void pi_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"about the link's frame", "value", "sd", "unit", "share of the prior"};
  if (!psdmp_report_node(root, "pi")) return;
  psdmp_report_page_heading(page, "Standard parameters of the load");
  psdmp_report_page_table(page, header, 5, "tnntn");
  for (int k = 0; k < 10; k++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", pi_names[k]);
    psdmp_report_page_cell_number(page, psdmp_report_number(root, "pi.%s", pi_names[k]), 4);
    psdmp_report_page_cell_number(page, psdmp_report_number(root, "pi_sd.%s", pi_names[k]), 2);
    psdmp_report_page_cell(page, "%s", pi_unit(k));
    psdmp_report_page_cell(page, "%s",
                           psdmp_report_words_percent(page, psdmp_report_number(root, "prior_share.%s", pi_names[k])));
  }
  psdmp_report_page_table_end(page);
}

/* ---- effect of the load ---- */

static void errors(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_axes *axes) {
  static const char *const header[] = {
      "joint", "RMSE without", "RMSE with the load", "R\xC2\xB2 without", "R\xC2\xB2 with the load", "unit"};
  static const char *const keys[] = {"before.joints.%d.rmse", "after.joints.%d.rmse", "before.joints.%d.r2",
                                     "after.joints.%d.r2"};
  if (!psdmp_report_node(root, "before.joints")) return;
  psdmp_report_page_heading(page, "Torque errors without and with the load");
  psdmp_report_page_table(page, header, 6, "tnnnnt");
  for (int i = 0; i < axes->n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < 4; k++)
      psdmp_report_page_cell_number(page, psdmp_report_number(root, keys[k], i), k < 2 ? 3 : 4);
    psdmp_report_page_cell(page, "%s", psdmp_report_unit(&axes->axis[i], PSDMP_REPORT_TORQUE));
  }
  psdmp_report_page_table_end(page);
}

/* base parameters changed by the load */
static void theta_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item columns[] = {
      {"empty", "empty", 5, NULL}, {"with the load", "loaded", 5, NULL}, {"sd", "loaded_sd", 2, NULL}};
  const psdmp_document_node *row = psdmp_report_first(psdmp_report_node(root, "theta"));
  if (!row) return;
  psdmp_report_page_raw(page, "<details><summary>Base parameters that the load changes</summary>\n");
  psdmp_report_table(page, "base parameter", PSDMP_REPORT_ITEMS(columns));
  for (; row; row = row->next)
    if (psdmp_report_number(row, "empty") != psdmp_report_number(row, "loaded"))
      psdmp_report_row(page, psdmp_report_text(row, "name"), row, PSDMP_REPORT_ITEMS(columns));
  psdmp_report_page_table_end(page);
  psdmp_report_page_raw(page, "</details>\n");
}

/* shades the full height behind runs without the load */
static void shade_empty(psdmp_report_drawing *d, const psdmp_report_result *rows, const psdmp_report_timeline *line,
                        int axis) {
  const double *loaded = psdmp_report_rows_column(rows, "loaded"), *tau = psdmp_report_rows_group(rows, "tau", axis);
  double *low = psdmp_report_page_memory(d->page, (line->points + 1) * sizeof *low),
         *high = psdmp_report_page_memory(d->page, (line->points + 1) * sizeof *high), least = INFINITY,
         most = -INFINITY;
  bool any = false;
  if (!low || !high || !loaded || !tau) return;
  for (size_t k = 0; k < rows->rows; k++) least = fmin(least, tau[k]), most = fmax(most, tau[k]);
  for (size_t k = 0; k < line->points; k++) {
    bool empty = line->row[k] >= 0 && !(loaded[line->row[k]] > 0);
    low[k] = empty ? least : NAN, high[k] = empty ? most : NAN;
    any |= empty;
  }
  if (any)
    psdmp_report_draw_between(d, PSDMP_REPORT_BAND, "run without the load", line->t, NULL, low, high, line->points, -1);
}

static void torques(psdmp_report_page *page, const psdmp_report_result *rows, const psdmp_report_axes *axes) {
  static const struct {
    const char *title, *group;
    int colour;
  } lines[] = {{"measured", "tau", 1}, {"predicted, empty", "empty", -1}, {"predicted, with the load", "with", 0}};
  psdmp_report_timeline line;
  if (!psdmp_report_timeline_of(page, rows, &line)) return;
  psdmp_report_page_heading(page, "Torque without and with the load");
  int drawn = psdmp_report_axes_drawn(page, axes);
  for (int i = 0; i < drawn; i++) {
    const psdmp_report_axis *axis = &axes->axis[i];
    const char *what = psdmp_report_quantity(axis, PSDMP_REPORT_TORQUE);
    psdmp_report_drawing d = psdmp_report_drawing_of(
        page, psdmp_report_words(page, "%s: %s with the load", axis->name, what), "time (s)",
        psdmp_report_words(page, "%s (%s)", what, psdmp_report_unit(axis, PSDMP_REPORT_TORQUE)));
    d.plot.zoom = true;
    shade_empty(&d, rows, &line, i);
    for (int k = 0; k < 3; k++)
      psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, lines[k].title, line.t,
                           psdmp_report_along(page, &line, psdmp_report_rows_group(rows, lines[k].group, i)),
                           line.points, lines[k].colour);
    psdmp_report_draw(&d);
  }
}

/* ---- the section ---- */

void psdmp_report_show_payload(psdmp_report_page *page, const psdmp_report_results *results,
                               psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  psdmp_report_result *rows = result->matched;
  const char *link = psdmp_report_text(result->root, "link");
  psdmp_report_page_section(page, psdmp_report_title(page, results, result, "Load"),
                            psdmp_report_words(page, "What the robot carries%s%s, with one standard deviation.",
                                               link[0] ? " on " : "", link));
  facts(page, result->root);
  psdmp_report_notes(page, psdmp_report_node(result->root, "remarks"));
  errors(page, result->root, &axes);
  if (rows) torques(page, rows, &axes);
  if (rows) rows->used = true;
  inertia_table(page, result->root);
  pi_table(page, result->root);
  theta_table(page, result->root);
  psdmp_report_sentences(page, psdmp_report_node(result->root, "fault_lines"), "Faults of the logs");
}
