/* section_excite.c: an exciting motion within its limits, and how well it tells parameters apart. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

static const psdmp_document_node *joint_of(psdmp_report_page *page, const psdmp_report_result *result, int axis) {
  return psdmp_report_result_node(result->root, psdmp_report_words(page, "joints.%d", axis));
}

/* ---- figures ---- */

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  double better = psdmp_report_result_number(root, "times_better.median");
  psdmp_report_page_facts(page);
  psdmp_report_fact_number(page, "condition number", psdmp_report_result_number(root, "condition"), 4, "");
  if (isfinite(better))
    psdmp_report_page_fact(page, "times better than a random motion (median)", "%s",
                           psdmp_report_words_number(page, better, 3));
  psdmp_report_fact_number(page, "log det of the information", psdmp_report_result_number(root, "logdet"), 4, "");
  psdmp_report_fact_number(page, "parameters", psdmp_report_result_number(root, "parameters"), 6, "");
  psdmp_report_fact_number(page, "duration of a period", psdmp_report_result_number(root, "seconds"), 4, "s");
  psdmp_report_fact_percent(page, "most of any limit", psdmp_report_result_number(root, "worst"));
  psdmp_report_fact_number(page, "smallest clearance", psdmp_report_result_number(root, "gap"), 3, "m");
  psdmp_report_page_facts_end(page);
}

/* a bar for each search that was begun, beside random motions */
static void starts(psdmp_report_page *page, const psdmp_document_node *root) {
  enum { MOST = 64 };
  double y[MOST], x[MOST];
  const char *tick[MOST];
  const psdmp_document_node *list = psdmp_report_result_node(root, "starts");
  int count = psdmp_report_result_numbers(list, y, MOST);
  if (!count) return;
  for (int k = 0; k < count; k++) x[k] = k, tick[k] = psdmp_report_words(page, "%d", k + 1);
  psdmp_report_page_heading(page, "What was tried");
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Condition number that each search found", "search", "condition number");
  d.plot.y_log = true;
  d.plot.tick = tick;
  d.plot.ticks = count;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "searches", x, y, (size_t)count, 0);
  psdmp_report_draw_level(&d, "best random motion", psdmp_report_result_number(root, "random.best"), 2);
  psdmp_report_draw_level(&d, "median random motion", psdmp_report_result_number(root, "random.median"), 1);
  psdmp_report_draw(&d);
}

static void quality_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"regressor", "this motion", "best random motion", "median random motion"};
  static const struct {
    const char *label, *own, *best, *median;
  } rows[] = {{"scaled by the limits", "condition", "random.best", "random.median"},
              {"as it is", "condition_plain", "random.plain_best", "random.plain_median"}};
  if (!psdmp_report_result_node(root, "condition")) return;
  psdmp_report_page_paragraph(page, "Condition numbers; every figure is of rows over the whole motion.");
  psdmp_report_page_table(page, header, 4, "tnnn");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", rows[k].label);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(root, rows[k].own), 4);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(root, rows[k].best), 4);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(root, rows[k].median), 4);
  }
  psdmp_report_page_table_end(page);
  double evaluations = psdmp_report_result_number(root, "evaluations"),
         wall = psdmp_report_result_number(root, "wall_seconds");
  if (isfinite(evaluations))
    psdmp_report_page_paragraph(page, "%s evaluations in %s s, shape %s, goal %s.",
                                psdmp_report_words_number(page, evaluations, 9),
                                psdmp_report_words_number(page, wall, 3), psdmp_report_result_text(root, "shape"),
                                psdmp_report_result_text(root, "goal"));
}

/* ---- limits ---- */

static void limits(psdmp_report_page *page, const psdmp_report_result *result, const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "lowest",      "highest", "peak velocity", "limit", "peak acceleration",
                                       "limit", "peak torque", "limit"};
  double *share = psdmp_report_page_memory(page, (size_t)(axes->n * PSDMP_REPORT_QUANTITIES + 1) * sizeof *share);
  if (!share || !psdmp_report_result_node(result->root, "joints")) return;
  psdmp_report_page_heading(page, "Limits");
  psdmp_report_page_table(page, header, 9, "tnnnnnnnn");
  for (int i = 0; i < axes->n; i++) {
    const psdmp_document_node *joint = joint_of(page, result, i);
    const double ends[2] = {psdmp_report_result_number(joint, "lower"), psdmp_report_result_number(joint, "upper")};
    const double peak[PSDMP_REPORT_QUANTITIES] = {NAN, psdmp_report_result_number(joint, "velocity"),
                                                  psdmp_report_result_number(joint, "acceleration"),
                                                  psdmp_report_result_number(joint, "effort")};
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

/* what each experiment is made of: joint after joint */
static void parts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"from (s)", "to (s)", "joint", "direction", "amplitude", "frequency (Hz)"};
  enum { MOST = 60 };
  const psdmp_document_node *list = psdmp_report_result_node(root, "parts");
  int shown = 0;
  if (!list || list->kind != PSDMP_DOCUMENT_LIST || !list->count) return;
  psdmp_report_page_heading(page, "Parts of the experiment");
  psdmp_report_page_table(page, header, psdmp_report_result_node(list, "0.amplitude") ? 6 : 4, "nntnnn");
  for (const psdmp_document_node *part = list->child; part && shown < MOST; part = part->next, shown++) {
    const char *joint = psdmp_report_result_text(part, "joint");
    psdmp_report_page_row(page);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(part, "begin"), 4);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(part, "end"), 4);
    psdmp_report_page_cell(page, "%s", joint[0] ? joint : "all");
    psdmp_report_page_cell_number(page, psdmp_report_result_number(part, "direction"), 2);
    if (!psdmp_report_result_node(list, "0.amplitude")) continue;
    psdmp_report_page_cell_number(page, psdmp_report_result_number(part, "amplitude"), 3);
    psdmp_report_page_cell_number(page, psdmp_report_result_number(part, "frequency"), 3);
  }
  psdmp_report_page_table_end(page);
  if (list->count > MOST) psdmp_report_page_paragraph(page, "The first %d of %d parts.", MOST, list->count);
}

static void show(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  psdmp_report_result *rows = result->matched;
  const char *step = psdmp_report_result_text(result->root, "for");
  psdmp_report_page_section(page, psdmp_report_title(page, results, result, "Exciting motion"),
                            psdmp_report_words(page, "A motion for the robot to make while it is recorded%s%s.",
                                               step[0] ? ": it shows " : "", step));
  facts(page, result->root);
  if (psdmp_report_truth(result->root, "stopped") || psdmp_report_truth(result->root, "interrupted"))
    psdmp_report_page_paragraph(page, "The search was interrupted: this is the best motion until then.");
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

void psdmp_report_section_excite(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int k = 0; k < results->count; k++) {
    if (!results->item[k]->root || strcmp(results->item[k]->command, "excite")) continue;
    results->item[k]->used = true;
    show(page, results, results->item[k]);
  }
}
