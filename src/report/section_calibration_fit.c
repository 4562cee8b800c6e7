/* section_calibration_fit.c: quality of a calibration, in figures and tables, and its choices. */
#include <math.h>
#include <string.h>

#include "report/section_calibration_priv.h"

/* ---- positions of figures ---- */

/* a joint's figure of a part: from lists in a parameter file, from objects in JSON */
static double joint_number(const psdmp_report_fit_view *view, const char *part, int axis, const char *key) {
  const char *path = view->file ? psdmp_report_words(view->page, "errors.%s.%s.%d", part, key, axis)
                                : psdmp_report_words(view->page, "%s.joints.%d.%s", part, axis, key);
  return psdmp_report_number(view->root, "%s", path);
}

static double global_number(const psdmp_report_fit_view *view, const char *part) {
  return psdmp_report_number(view->root, view->file ? "errors.%s.global_rel" : "%s.global_rel", part);
}

static bool has_part(const psdmp_report_fit_view *view, const char *part) {
  for (int i = 0; i < view->axes.n; i++)
    if (isfinite(joint_number(view, part, i, "rmse"))) return true;
  return false;
}

/* ---- facts ---- */

/* the joint with the worst R2 */
static void fact_worst(const psdmp_report_fit_view *view, const char *part) {
  int worst = -1;
  double least = INFINITY;
  for (int i = 0; i < view->axes.n; i++) {
    double r2 = joint_number(view, part, i, "r2");
    if (isfinite(r2) && r2 < least) least = r2, worst = i;
  }
  if (worst >= 0)
    psdmp_report_page_fact(
        view->page, psdmp_report_words(view->page, "least R\xC2\xB2 (%s)", view->axes.axis[worst].name), "%.4f", least);
}

void psdmp_report_fit_facts(const psdmp_report_fit_view *view) {
  static const psdmp_report_item begin[] = {{"condition number", "condition", 3, NULL}, {"rows used", "used", 7, NULL}},
                                 end[] = {{"filter", "choices.cutoff", 3, "Hz"}, {"took", "seconds", 3, "s"}};
  psdmp_report_page *page = view->page;
  double rate = psdmp_report_number(view->root, "rate");
  psdmp_report_page_facts(page);
  psdmp_report_fact_percent(page, "error on held-out rows, |error| / |torque|", global_number(view, "heldout"));
  psdmp_report_fact_percent(page, "error on training rows", global_number(view, "train"));
  fact_worst(view, has_part(view, "heldout") ? "heldout" : "train");
  psdmp_report_fact_list(page, view->root, PSDMP_REPORT_ITEMS(begin));
  psdmp_report_fact_number(page, "rate of the log",
                           isfinite(rate) ? rate : psdmp_report_number(view->root, "choices.rate"), 4, "Hz");
  psdmp_report_fact_list(page, view->root, PSDMP_REPORT_ITEMS(end));
  psdmp_report_page_facts_end(page);
}

/* ---- errors of the joints ---- */

static void error_cells(const psdmp_report_fit_view *view, const char *part, int axis) {
  psdmp_report_page_cell_number(view->page, joint_number(view, part, axis, "rmse"), 3);
  psdmp_report_page_cell(view->page, "%s",
                         psdmp_report_words_percent(view->page, joint_number(view, part, axis, "rel")));
  psdmp_report_page_cell_number(view->page, joint_number(view, part, axis, "r2"), 4);
}

void psdmp_report_fit_errors(const psdmp_report_fit_view *view) {
  static const char *const both[] = {"joint",     "unit",           "RMSE, training", "relative",
                                     "R\xC2\xB2", "RMSE, held out", "relative",       "R\xC2\xB2"};
  bool heldout = has_part(view, "heldout");
  if (!heldout && !has_part(view, "train")) return;
  psdmp_report_page_heading(view->page, "Errors of the joints");
  psdmp_report_page_table(view->page, both, heldout ? 8 : 5, "ttnnnnnn");
  for (int i = 0; i < view->axes.n; i++) {
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    psdmp_report_page_cell(view->page, "%s", psdmp_report_unit(&view->axes.axis[i], PSDMP_REPORT_TORQUE));
    error_cells(view, "train", i);
    if (heldout) error_cells(view, "heldout", i);
  }
  psdmp_report_page_table_end(view->page);
  psdmp_report_page_paragraph(view->page, view->steps ? "Of the last step's own torque."
                                                      : "Rows in motion: a joint faster than a small share of its "
                                                        "usual speed. Relative: |error| / |torque| of the joint.");
}

/* rows at rest, all rows, torque as logged: not in the main figures */
static void other_rows(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"rows", "training", "held out"};
  static const struct {
    const char *label, *part;
  } rows[] = {{"in motion", ""}, {"all", "all."}, {"at rest", "rest."}, {"all, torque as it was logged", "raw."}};
  if (!psdmp_report_node(view->root, "train.all.global_rel")) return;
  psdmp_report_page_paragraph(view->page, "Global relative error by kind of row:");
  psdmp_report_page_table(view->page, header, 3, "tnn");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    double train = psdmp_report_number(view->root, "train.%sglobal_rel", rows[k].part),
           heldout = psdmp_report_number(view->root, "heldout.%sglobal_rel", rows[k].part);
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", rows[k].label);
    psdmp_report_page_cell(view->page, "%s", psdmp_report_words_percent(view->page, train));
    psdmp_report_page_cell(view->page, "%s", psdmp_report_words_percent(view->page, heldout));
  }
  psdmp_report_page_table_end(view->page);
}

/* ---- comparison with an earlier result ---- */

void psdmp_report_fit_compared(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"joint", "RMSE", "RMSE, compared", "unit"};
  static const psdmp_report_item errors[] = {{"", "rmse", 3, NULL}, {"", "rmse_compared", 3, NULL}};
  const psdmp_document_node *compare = psdmp_report_node(view->root, "compare"),
                            *list = psdmp_report_node(compare, "joints"), *joint = psdmp_report_first(list);
  if (!list || list->kind != PSDMP_DOCUMENT_LIST) return;
  psdmp_report_page_heading(view->page, "Beside the compared parameters");
  psdmp_report_page_paragraph(
      view->page, "Global relative error %s, compared %s, on the same rows (%s).",
      psdmp_report_words_percent(view->page, psdmp_report_number(compare, "global_rel")),
      psdmp_report_words_percent(view->page, psdmp_report_number(compare, "global_rel_compared")),
      psdmp_report_text(compare, "part"));
  psdmp_report_page_table(view->page, header, 4, "tnnt");
  for (int i = 0; joint && i < view->axes.n; joint = joint->next, i++) {
    psdmp_report_row(view->page, view->axes.axis[i].name, joint, PSDMP_REPORT_ITEMS(errors));
    psdmp_report_page_cell(view->page, "%s", psdmp_report_unit(&view->axes.axis[i], PSDMP_REPORT_TORQUE));
  }
  psdmp_report_page_table_end(view->page);
}

/* ---- choices ---- */

static void log_rows(const psdmp_report_fit_view *view) {
  static const psdmp_report_item list[] = {{"rows in the logs", "rows", 9, NULL}, {"segments", "segments", 9, NULL}};
  const psdmp_document_node *logs = psdmp_report_node(view->root, "logs");
  int count = psdmp_report_first(logs) ? logs->count : 0;
  const char *plain = psdmp_report_text(view->root, "logs.0"),
             *first = plain[0] ? plain : psdmp_report_text(view->root, "logs.0.path");
  if (count > 1) first = psdmp_report_words(view->page, "%s and %d more", first, count - 1);
  if (count) psdmp_report_named_text(view->page, count > 1 ? "logs" : "log", first);
  psdmp_report_named_list(view->page, view->root, PSDMP_REPORT_ITEMS(list));
}

void psdmp_report_fit_choices(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"setting", "value"};
  static const psdmp_report_item begin[] = {{"estimator", "estimator", PSDMP_REPORT_WORDS, NULL},
                                            {"derivatives from", "choices.kinematics", PSDMP_REPORT_WORDS, NULL}},
                                 rest[] = {{"filter, cutoff", "choices.cutoff", 4, "Hz"},
                                           {"delay of the torques", "choices.delay", 4, "s"},
                                           {"weight of the prior, \xCE\xBB", "choices.lambda", 4, "nats"},
                                           {"mass of the prior", "choices.prior_mass", 4, "kg"},
                                           {"rows count as at rest below", "choices.rest", 3, "of a joint's speed"},
                                           {"every n-th row", "choices.stride", 4, NULL},
                                           {"held out", "settings.holdout", PSDMP_REPORT_WORDS, NULL}};
  psdmp_report_page *page = view->page;
  bool none =
      psdmp_report_node(view->root, "choices.cutoff") && !isfinite(psdmp_report_number(view->root, "choices.cutoff"));
  psdmp_report_page_heading(page, "Settings");
  psdmp_report_page_table(page, header, 2, "tt");
  psdmp_report_named_list(page, view->root, PSDMP_REPORT_ITEMS(begin));
  if (none) psdmp_report_named_text(page, "filter", "none");
  psdmp_report_named_list(page, view->root, PSDMP_REPORT_ITEMS(rest));
  log_rows(view);
  psdmp_report_page_table_end(page);
  psdmp_report_sentences(page, psdmp_report_node(view->root, "reasons"), NULL);
  psdmp_report_sentences(page, psdmp_report_node(view->root, "fault_lines"), "Faults of the logs");
}

/* ---- verdict ---- */

static void singular_values(const psdmp_report_fit_view *view) {
  const psdmp_document_node *list = psdmp_report_node(view->root, "singular_values");
  enum { MOST = 2000 };
  int count = list && list->kind == PSDMP_DOCUMENT_LIST ? (list->count < MOST ? list->count : MOST) : 0;
  double *y = psdmp_report_page_memory(view->page, (size_t)(count + 1) * sizeof *y),
         *x = psdmp_report_page_memory(view->page, (size_t)(count + 1) * sizeof *x);
  if (!y || !x || count < 2) return;
  count = psdmp_report_numbers(list, y, count);
  for (int k = 0; k < count; k++) x[k] = k + 1;
  psdmp_report_drawing d =
      psdmp_report_drawing_of(view->page, "Singular values of the scaled regressor", "number", "singular value");
  d.plot.y_log = true;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, NULL, x, y, (size_t)count, 0);
  psdmp_report_draw(&d);
}

static void folds(const psdmp_report_fit_view *view) {
  enum { MOST = 10, JOINTS = 200 };
  const psdmp_document_node *list = psdmp_report_node(view->root, "folds");
  int count = list && list->kind == PSDMP_DOCUMENT_LIST ? (list->count < MOST ? list->count : MOST) : 0;
  const char *header[MOST + 1] = {"joint"};
  if (count < 2) return;
  for (int k = 0; k < count; k++) header[k + 1] = psdmp_report_words(view->page, "part %d", k + 1);
  psdmp_report_page_paragraph(
      view->page, "Cross-validation: RMSE on each contiguous part of the training rows, by the fit to the others.");
  psdmp_report_page_table(view->page, header, count + 1, "tnnnnnnnnnn");
  for (int i = 0; i < view->axes.n && i < JOINTS; i++) {
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    for (int k = 0; k < count; k++)
      psdmp_report_page_cell_number(view->page, psdmp_report_number(list, "%d.rmse.%d", k, i), 3);
  }
  psdmp_report_page_table_end(view->page);
}

void psdmp_report_fit_worth(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"figure", "value"};
  static const psdmp_report_item list[] = {
      {"training cost over that of least squares with the same columns", "cost_ratio", 4, NULL},
      {"Durbin-Watson (2: residuals are white)", "durbin_watson", 3, NULL},
      {"residuals are uncorrelated after", "correlation", 3, "samples"},
      {"condition of the scaled regressor", "condition", 4, NULL}};
  psdmp_report_page *page = view->page;
  if (!psdmp_report_node(view->root, "cost_ratio") && !psdmp_report_node(view->root, "folds")) return;
  psdmp_report_page_heading(page, "How good the fit is");
  psdmp_report_page_table(page, header, 2, "tt");
  psdmp_report_named_list(page, view->root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_table_end(page);
  other_rows(view);
  folds(view);
  singular_values(view);
  psdmp_report_sentences(page, psdmp_report_node(view->root, "blind"), "Hardly seen by the motion");
}

/* ---- remarks ---- */

/* the verdict, and its reasons */
static void verdict(const psdmp_report_fit_view *view) {
  const char *word = psdmp_report_text(view->root, "verdict.word");
  bool fit_for_use = strcmp(word, "good") == 0 || strcmp(word, "usable") == 0;
  if (!word[0]) return;
  psdmp_report_page_element(view->page,
                            fit_for_use ? "<p class=\"good\">Verdict: " : "<p class=\"bad\">Verdict: ", word, "</p>\n");
  for (const psdmp_document_node *child = psdmp_report_first(psdmp_report_node(view->root, "verdict.findings")); child;
       child = child->next)
    psdmp_report_page_sentence(
        view->page, "<p class=\"note\">",
        psdmp_report_words(view->page, "%s: %s", psdmp_report_text(child, "verdict"), psdmp_report_text(child, "text")),
        "</p>\n");
}

void psdmp_report_fit_remarks(const psdmp_report_fit_view *view) {
  if (psdmp_report_truth(view->root, "stopped"))
    psdmp_report_page_paragraph(view->page, "The run was interrupted: this is the best result so far.");
  verdict(view);
  if (psdmp_report_truth(view->root, "verdict.asked")) {
    bool good = psdmp_report_truth(view->root, "verdict.good");
    psdmp_report_page_element(view->page, good ? "<p class=\"good\">" : "<p class=\"bad\">",
                              good ? "The requested accuracy is met." : "The requested accuracy is not met:", "</p>\n");
    psdmp_report_notes(view->page, psdmp_report_node(view->root, "verdict.failures"));
  }
  psdmp_report_notes(view->page, psdmp_report_node(view->root, "doubts"));
  psdmp_report_notes(view->page, psdmp_report_node(view->root, "remarks"));
}
