/* section_excite.c: an exciting motion within its limits, and its condition numbers. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

/* ---- figures ---- */

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item list[] = {
      {"condition number", "condition", 4, NULL},
      {"times better than a random motion (median)", "times_better.median", 3, NULL},
      {"log det of the information", "logdet", 4, NULL},
      {"parameters", "parameters", 6, NULL},
      {"duration of a period", "seconds", 4, "s"},
      {"most of any limit", "worst", PSDMP_REPORT_PERCENT, NULL},
      {"smallest clearance", "gap", 3, "m"}};
  psdmp_report_page_facts(page);
  psdmp_report_fact_list(page, root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_facts_end(page);
}

/* a bar for each search started, beside random motions */
static void starts(psdmp_report_page *page, const psdmp_document_node *root) {
  enum { MOST = 64 };
  double y[MOST], x[MOST];
  const char *tick[MOST];
  const psdmp_document_node *list = psdmp_report_node(root, "starts");
  int count = psdmp_report_numbers(list, y, MOST);
  if (!count) return;
  for (int k = 0; k < count; k++) x[k] = k, tick[k] = psdmp_report_words(page, "%d", k + 1);
  psdmp_report_page_heading(page, "What was tried");
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Condition number that each search found", "search", "condition number");
  d.plot.y_log = true;
  d.plot.tick = tick;
  d.plot.ticks = count;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "searches", x, y, (size_t)count, 0);
  psdmp_report_draw_level(&d, "best random motion", psdmp_report_number(root, "random.best"), 2);
  psdmp_report_draw_level(&d, "median random motion", psdmp_report_number(root, "random.median"), 1);
  psdmp_report_draw(&d);
}

static void quality_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item scaled[] = {{"this motion", "condition", 4, NULL},
                                             {"best random motion", "random.best", 4, NULL},
                                             {"median random motion", "random.median", 4, NULL}},
                                 plain[] = {{"", "condition_plain", 4, NULL},
                                            {"", "random.plain_best", 4, NULL},
                                            {"", "random.plain_median", 4, NULL}};
  if (!psdmp_report_node(root, "condition")) return;
  psdmp_report_page_paragraph(page, "Condition numbers; every figure is of rows over the whole motion.");
  psdmp_report_table(page, "regressor", PSDMP_REPORT_ITEMS(scaled));
  psdmp_report_row(page, "scaled by the limits", root, PSDMP_REPORT_ITEMS(scaled));
  psdmp_report_row(page, "as it is", root, PSDMP_REPORT_ITEMS(plain));
  psdmp_report_page_table_end(page);
  double evaluations = psdmp_report_number(root, "evaluations"), wall = psdmp_report_number(root, "wall_seconds");
  if (isfinite(evaluations))
    psdmp_report_page_paragraph(
        page, "%s evaluations in %s s, shape %s, goal %s.", psdmp_report_words_number(page, evaluations, 9),
        psdmp_report_words_number(page, wall, 3), psdmp_report_text(root, "shape"), psdmp_report_text(root, "goal"));
}

/* ---- limits ---- */

static void limits(psdmp_report_page *page, const psdmp_report_result *result, const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "lowest",      "highest", "peak velocity", "limit", "peak acceleration",
                                       "limit", "peak torque", "limit"};
  double *share = psdmp_report_page_memory(page, (size_t)(axes->n * PSDMP_REPORT_QUANTITIES + 1) * sizeof *share);
  if (!share || !psdmp_report_node(result->root, "joints")) return;
  psdmp_report_page_heading(page, "Limits");
  psdmp_report_page_table(page, header, 9, "tnnnnnnnn");
  for (int i = 0; i < axes->n; i++) {
    const psdmp_document_node *joint = psdmp_report_node(result->root, "joints.%d", i);
    const double ends[2] = {psdmp_report_number(joint, "lower"), psdmp_report_number(joint, "upper")};
    const double peak[PSDMP_REPORT_QUANTITIES] = {NAN, psdmp_report_number(joint, "velocity"),
                                                  psdmp_report_number(joint, "acceleration"),
                                                  psdmp_report_number(joint, "effort")};
    psdmp_report_limit_shares(axes, i, ends, peak, share + i * PSDMP_REPORT_QUANTITIES);
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < 2; k++) psdmp_report_page_cell_number(page, ends[k], 4);
    for (int k = PSDMP_REPORT_VELOCITY; k < PSDMP_REPORT_QUANTITIES; k++)
      psdmp_report_page_cell_number(page, peak[k], 4), psdmp_report_page_cell_number(page, axes->axis[i].most[k], 4);
  }
  psdmp_report_page_table_end(page);
  psdmp_report_limit_bars(page, axes, share);
}

/* ---- the section ---- */

/* the parts of each experiment: joint after joint */
static void parts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"from (s)", "to (s)", "joint", "direction", "amplitude", "frequency (Hz)"};
  static const psdmp_report_item figures[] = {
      {"", "direction", 2, NULL}, {"", "amplitude", 3, NULL}, {"", "frequency", 3, NULL}};
  enum { MOST = 60 };
  const psdmp_document_node *list = psdmp_report_node(root, "parts"), *part = psdmp_report_first(list);
  bool sines = psdmp_report_node(list, "0.amplitude") != NULL;
  if (!part) return;
  psdmp_report_page_heading(page, "Parts of the experiment");
  psdmp_report_page_table(page, header, sines ? 6 : 4, "nntnnn");
  for (int shown = 0; part && shown < MOST; part = part->next, shown++) {
    const char *joint = psdmp_report_text(part, "joint");
    psdmp_report_page_row(page);
    psdmp_report_page_cell_number(page, psdmp_report_number(part, "begin"), 4);
    psdmp_report_page_cell_number(page, psdmp_report_number(part, "end"), 4);
    psdmp_report_page_cell(page, "%s", joint[0] ? joint : "all");
    psdmp_report_cells(page, part, figures, sines ? 3 : 1);
  }
  psdmp_report_page_table_end(page);
  if (list->count > MOST) psdmp_report_page_paragraph(page, "The first %d of %d parts.", MOST, list->count);
}

void psdmp_report_show_excite(psdmp_report_page *page, const psdmp_report_results *results,
                              psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  psdmp_report_result *rows = result->matched;
  const char *step = psdmp_report_text(result->root, "for");
  psdmp_report_page_section(page, psdmp_report_title(page, results, result, "Exciting motion"),
                            psdmp_report_words(page, "A motion for the robot to make while it is recorded%s%s.",
                                               step[0] ? ": it shows " : "", step));
  facts(page, result->root);
  if (psdmp_report_truth(result->root, "stopped") || psdmp_report_truth(result->root, "interrupted"))
    psdmp_report_page_paragraph(page, "The search was interrupted: this is the best motion so far.");
  limits(page, result, &axes);
  if (rows) {
    psdmp_report_page_heading(page, "The motion");
    psdmp_report_motion_by_axis(page, rows, &axes);
    rows->used = true;
  }
  starts(page, result->root);
  quality_table(page, result->root);
  parts(page, result->root);
}
