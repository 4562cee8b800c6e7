/* section_calibration_fit.c: how good a calibration is, in figures and tables, and what was chosen for it. */
#include <math.h>
#include <string.h>

#include "report/section_calibration_priv.h"

/* ---- where figures stand ---- */

/* a joint's figure of a part: in lists of a parameter file, in objects of JSON */
static double joint_number(const psdmp_report_fit_view *view, const char *part, int axis, const char *key) {
  const char *path = view->file ? psdmp_report_words(view->page, "errors.%s.%s.%d", part, key, axis)
                                : psdmp_report_words(view->page, "%s.joints.%d.%s", part, axis, key);
  return psdmp_report_result_number(view->root, path);
}

static double global_number(const psdmp_report_fit_view *view, const char *part) {
  return psdmp_report_result_number(
      view->root, psdmp_report_words(view->page, view->file ? "errors.%s.global_rel" : "%s.global_rel", part));
}

static bool has_part(const psdmp_report_fit_view *view, const char *part) {
  for (int i = 0; i < view->axes.n; i++)
    if (isfinite(joint_number(view, part, i, "rmse"))) return true;
  return false;
}

static double choice(const psdmp_report_fit_view *view, const char *key) {
  return psdmp_report_result_number(view->root, psdmp_report_words(view->page, "choices.%s", key));
}

/* ---- facts ---- */

/* the joint whose torque is explained worst, by R2 */
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
  psdmp_report_page *page = view->page;
  bool heldout = has_part(view, "heldout");
  double used = psdmp_report_result_number(view->root, "used"), rate = psdmp_report_result_number(view->root, "rate");
  psdmp_report_page_facts(page);
  psdmp_report_fact_percent(page, "error on held-out rows, |error| / |torque|", global_number(view, "heldout"));
  psdmp_report_fact_percent(page, "error on training rows", global_number(view, "train"));
  fact_worst(view, heldout ? "heldout" : "train");
  psdmp_report_fact_number(page, "condition number", psdmp_report_result_number(view->root, "condition"), 3, "");
  psdmp_report_fact_number(page, "rows used", used, 7, "");
  psdmp_report_fact_number(page, "rate of the log", isfinite(rate) ? rate : choice(view, "rate"), 4, "Hz");
  psdmp_report_fact_number(page, "filter", choice(view, "cutoff"), 3, "Hz");
  psdmp_report_fact_number(page, "took", psdmp_report_result_number(view->root, "seconds"), 3, "s");
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

/* rows at rest, all rows, torque as logged: what the main figures leave out */
static void other_rows(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"rows", "training", "held out"};
  static const struct {
    const char *label, *train, *heldout;
  } rows[] = {{"in motion", "train.global_rel", "heldout.global_rel"},
              {"all", "train.all.global_rel", "heldout.all.global_rel"},
              {"at rest", "train.rest.global_rel", "heldout.rest.global_rel"},
              {"all, torque as it was logged", "train.raw.global_rel", "heldout.raw.global_rel"}};
  if (!psdmp_report_result_node(view->root, "train.all.global_rel")) return;
  psdmp_report_page_paragraph(view->page, "Global relative error by kind of row:");
  psdmp_report_page_table(view->page, header, 3, "tnn");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", rows[k].label);
    psdmp_report_page_cell(
        view->page, "%s",
        psdmp_report_words_percent(view->page, psdmp_report_result_number(view->root, rows[k].train)));
    psdmp_report_page_cell(
        view->page, "%s",
        psdmp_report_words_percent(view->page, psdmp_report_result_number(view->root, rows[k].heldout)));
  }
  psdmp_report_page_table_end(view->page);
}

/* ---- an earlier result beside this one ---- */

void psdmp_report_fit_compared(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"joint", "RMSE", "RMSE, compared", "unit"};
  const psdmp_document_node *compare = psdmp_report_result_node(view->root, "compare"),
                            *joints = psdmp_report_result_node(compare, "joints");
  int i = 0;
  if (!joints || joints->kind != PSDMP_DOCUMENT_LIST) return;
  psdmp_report_page_heading(view->page, "Beside the compared parameters");
  psdmp_report_page_paragraph(
      view->page, "Global relative error %s, compared %s, on the same rows (%s).",
      psdmp_report_words_percent(view->page, psdmp_report_result_number(compare, "global_rel")),
      psdmp_report_words_percent(view->page, psdmp_report_result_number(compare, "global_rel_compared")),
      psdmp_report_result_text(compare, "part"));
  psdmp_report_page_table(view->page, header, 4, "tnnt");
  for (const psdmp_document_node *joint = joints->child; joint && i < view->axes.n; joint = joint->next, i++) {
    psdmp_report_page_row(view->page);
    psdmp_report_page_cell(view->page, "%s", view->axes.axis[i].name);
    psdmp_report_page_cell_number(view->page, psdmp_report_result_number(joint, "rmse"), 3);
    psdmp_report_page_cell_number(view->page, psdmp_report_result_number(joint, "rmse_compared"), 3);
    psdmp_report_page_cell(view->page, "%s", psdmp_report_unit(&view->axes.axis[i], PSDMP_REPORT_TORQUE));
  }
  psdmp_report_page_table_end(view->page);
}

/* ---- what was chosen ---- */

static void word_row(psdmp_report_page *page, const char *label, const char *text) {
  if (!text[0]) return;
  psdmp_report_page_row(page);
  psdmp_report_page_cell(page, "%s", label);
  psdmp_report_page_cell(page, "%s", text);
}

static const char *first_log(const psdmp_document_node *root) {
  const char *plain = psdmp_report_result_text(root, "logs.0");
  return plain[0] ? plain : psdmp_report_result_text(root, "logs.0.path");
}

static void log_rows(const psdmp_report_fit_view *view) {
  const psdmp_document_node *logs = psdmp_report_result_node(view->root, "logs");
  int count = logs && logs->kind == PSDMP_DOCUMENT_LIST ? logs->count : 0;
  if (count)
    word_row(view->page, count > 1 ? "logs" : "log",
             count > 1 ? psdmp_report_words(view->page, "%s and %d more", first_log(view->root), count - 1)
                       : first_log(view->root));
  psdmp_report_named_number(view->page, "rows in the logs", psdmp_report_result_number(view->root, "rows"), 9, "");
  psdmp_report_named_number(view->page, "segments", psdmp_report_result_number(view->root, "segments"), 9, "");
}

void psdmp_report_fit_choices(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"setting", "value"};
  psdmp_report_page *page = view->page;
  bool none = psdmp_report_result_node(view->root, "choices.cutoff") && !isfinite(choice(view, "cutoff"));
  psdmp_report_page_heading(page, "Settings");
  psdmp_report_page_table(page, header, 2, "tt");
  word_row(page, "estimator", psdmp_report_result_text(view->root, "estimator"));
  word_row(page, "derivatives from", psdmp_report_result_text(view->root, "choices.kinematics"));
  if (none) word_row(page, "filter", "none");
  psdmp_report_named_number(page, "filter, cutoff", choice(view, "cutoff"), 4, "Hz");
  psdmp_report_named_number(page, "delay of the torques", choice(view, "delay"), 4, "s");
  psdmp_report_named_number(page, "weight of the prior, \xCE\xBB", choice(view, "lambda"), 4, "nats");
  psdmp_report_named_number(page, "mass of the prior", choice(view, "prior_mass"), 4, "kg");
  psdmp_report_named_number(page, "rows count as at rest below", choice(view, "rest"), 3, "of a joint's speed");
  psdmp_report_named_number(page, "every so many-th row", choice(view, "stride"), 4, "");
  word_row(page, "held out", psdmp_report_result_text(view->root, "settings.holdout"));
  log_rows(view);
  psdmp_report_page_table_end(page);
  psdmp_report_sentences(page, psdmp_report_result_node(view->root, "reasons"), NULL);
  psdmp_report_sentences(page, psdmp_report_result_node(view->root, "fault_lines"), "Faults of the logs");
}

/* ---- what it is worth ---- */

static void singular_values(const psdmp_report_fit_view *view) {
  const psdmp_document_node *list = psdmp_report_result_node(view->root, "singular_values");
  enum { MOST = 2000 };
  int count = list && list->kind == PSDMP_DOCUMENT_LIST ? (list->count < MOST ? list->count : MOST) : 0;
  double *y = psdmp_report_page_memory(view->page, (size_t)(count + 1) * sizeof *y),
         *x = psdmp_report_page_memory(view->page, (size_t)(count + 1) * sizeof *x);
  if (!y || !x || count < 2) return;
  count = psdmp_report_result_numbers(list, y, count);
  for (int k = 0; k < count; k++) x[k] = k + 1;
  psdmp_report_drawing d =
      psdmp_report_drawing_of(view->page, "Singular values of the scaled regressor", "number", "singular value");
  d.plot.y_log = true;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, NULL, x, y, (size_t)count, 0);
  psdmp_report_draw(&d);
}

static void folds(const psdmp_report_fit_view *view) {
  enum { MOST = 10, JOINTS = 200 };
  const psdmp_document_node *list = psdmp_report_result_node(view->root, "folds");
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
      psdmp_report_page_cell_number(
          view->page, psdmp_report_result_number(list, psdmp_report_words(view->page, "%d.rmse.%d", k, i)), 3);
  }
  psdmp_report_page_table_end(view->page);
}

void psdmp_report_fit_worth(const psdmp_report_fit_view *view) {
  static const char *const header[] = {"figure", "value"};
  psdmp_report_page *page = view->page;
  if (!psdmp_report_result_node(view->root, "cost_ratio") && !psdmp_report_result_node(view->root, "folds")) return;
  psdmp_report_page_heading(page, "What the fit is worth");
  psdmp_report_page_table(page, header, 2, "tt");
  psdmp_report_named_number(page, "training cost over that of least squares with the same columns",
                            psdmp_report_result_number(view->root, "cost_ratio"), 4, "");
  psdmp_report_named_number(page, "Durbin-Watson (2: residuals are white)",
                            psdmp_report_result_number(view->root, "durbin_watson"), 3, "");
  psdmp_report_named_number(page, "residuals are uncorrelated after",
                            psdmp_report_result_number(view->root, "correlation"), 3, "samples");
  psdmp_report_named_number(page, "condition of the scaled regressor",
                            psdmp_report_result_number(view->root, "condition"), 4, "");
  psdmp_report_page_table_end(page);
  other_rows(view);
  folds(view);
  singular_values(view);
  psdmp_report_sentences(page, psdmp_report_result_node(view->root, "blind"), "Hardly seen by the motion");
}

/* ---- remarks ---- */

/* the word, and what it rests on */
static void verdict(const psdmp_report_fit_view *view) {
  const char *word = psdmp_report_result_text(view->root, "verdict.word");
  const psdmp_document_node *list = psdmp_report_result_node(view->root, "verdict.findings");
  bool fit_for_use = strcmp(word, "good") == 0 || strcmp(word, "usable") == 0;
  if (!word[0]) return;
  psdmp_report_page_raw(view->page, fit_for_use ? "<p class=\"good\">Verdict: " : "<p class=\"bad\">Verdict: ");
  psdmp_report_page_text(view->page, word);
  psdmp_report_page_raw(view->page, "</p>\n");
  for (const psdmp_document_node *child = list && list->kind == PSDMP_DOCUMENT_LIST ? list->child : NULL; child;
       child = child->next) {
    psdmp_report_page_raw(view->page, "<p class=\"note\">");
    psdmp_report_page_text(view->page,
                           psdmp_report_words(view->page, "%s: %s", psdmp_report_result_text(child, "verdict"),
                                              psdmp_report_result_text(child, "text")));
    psdmp_report_page_raw(view->page, "</p>\n");
  }
}

void psdmp_report_fit_remarks(const psdmp_report_fit_view *view) {
  if (psdmp_report_truth(view->root, "stopped"))
    psdmp_report_page_paragraph(view->page, "The run was interrupted: this is the best result until then.");
  verdict(view);
  if (psdmp_report_truth(view->root, "verdict.asked")) {
    bool good = psdmp_report_truth(view->root, "verdict.good");
    psdmp_report_page_raw(view->page, good ? "<p class=\"good\">" : "<p class=\"bad\">");
    psdmp_report_page_text(view->page, good ? "The asked accuracy is met." : "The asked accuracy is not met:");
    psdmp_report_page_raw(view->page, "</p>\n");
    psdmp_report_notes(view->page, psdmp_report_result_node(view->root, "verdict.failures"));
  }
  psdmp_report_notes(view->page, psdmp_report_result_node(view->root, "doubts"));
  psdmp_report_notes(view->page, psdmp_report_result_node(view->root, "remarks"));
}
