/* section_calibration_fit.c: how good a calibration is, in figures and tables, and what was chosen for it. */
#include <math.h>
#include <string.h>

#include "report/section_calibration_priv.h"

/* ---- where figures stand ---- */

/* a joint's figure of a part: in lists of a parameter file, in objects of JSON */
static double joint_number(const psdmp_fit_view *view, const char *part, int axis, const char *key) {
  const char *path = view->file ? psdmp_words(view->page, "errors.%s.%s.%d", part, key, axis) : psdmp_words(view->page, "%s.joints.%d.%s", part, axis, key);
  return psdmp_result_number(view->root, path);
}

static double global_number(const psdmp_fit_view *view, const char *part) {
  return psdmp_result_number(view->root, psdmp_words(view->page, view->file ? "errors.%s.global_rel" : "%s.global_rel", part));
}

static bool has_part(const psdmp_fit_view *view, const char *part) {
  for (int i = 0; i < view->axes.n; i++)
    if (isfinite(joint_number(view, part, i, "rmse"))) return true;
  return false;
}

static double choice(const psdmp_fit_view *view, const char *key) { return psdmp_result_number(view->root, psdmp_words(view->page, "choices.%s", key)); }

/* ---- facts ---- */

/* the joint whose torque is explained worst, by R2 */
static void fact_worst(const psdmp_fit_view *view, const char *part) {
  int worst = -1;
  double least = INFINITY;
  for (int i = 0; i < view->axes.n; i++) {
    double r2 = joint_number(view, part, i, "r2");
    if (isfinite(r2) && r2 < least) least = r2, worst = i;
  }
  if (worst >= 0) psdmp_page_fact(view->page, psdmp_words(view->page, "least R\xC2\xB2 (%s)", view->axes.axis[worst].name), "%.4f", least);
}

void psdmp_fit_facts(const psdmp_fit_view *view) {
  psdmp_page *page = view->page;
  bool heldout = has_part(view, "heldout");
  double used = psdmp_result_number(view->root, "used"), rate = psdmp_result_number(view->root, "rate");
  psdmp_page_facts(page);
  psdmp_fact_percent(page, "error on held-out rows, |error| / |torque|", global_number(view, "heldout"));
  psdmp_fact_percent(page, "error on training rows", global_number(view, "train"));
  fact_worst(view, heldout ? "heldout" : "train");
  psdmp_fact_number(page, "condition number", psdmp_result_number(view->root, "condition"), 3, "");
  psdmp_fact_number(page, "rows used", used, 7, "");
  psdmp_fact_number(page, "rate of the log", isfinite(rate) ? rate : choice(view, "rate"), 4, "Hz");
  psdmp_fact_number(page, "filter", choice(view, "cutoff"), 3, "Hz");
  psdmp_fact_number(page, "took", psdmp_result_number(view->root, "seconds"), 3, "s");
  psdmp_page_facts_end(page);
}

/* ---- errors of the joints ---- */

static void error_cells(const psdmp_fit_view *view, const char *part, int axis) {
  psdmp_page_cell_number(view->page, joint_number(view, part, axis, "rmse"), 3);
  psdmp_page_cell(view->page, "%s", psdmp_words_percent(view->page, joint_number(view, part, axis, "rel")));
  psdmp_page_cell_number(view->page, joint_number(view, part, axis, "r2"), 4);
}

void psdmp_fit_errors(const psdmp_fit_view *view) {
  static const char *const both[] = {"joint", "unit", "RMSE, training", "relative", "R\xC2\xB2", "RMSE, held out", "relative", "R\xC2\xB2"};
  bool heldout = has_part(view, "heldout");
  if (!heldout && !has_part(view, "train")) return;
  psdmp_page_heading(view->page, "Errors of the joints");
  psdmp_page_table(view->page, both, heldout ? 8 : 5, "ttnnnnnn");
  for (int i = 0; i < view->axes.n; i++) {
    psdmp_page_row(view->page);
    psdmp_page_cell(view->page, "%s", view->axes.axis[i].name);
    psdmp_page_cell(view->page, "%s", psdmp_unit(&view->axes.axis[i], PSDMP_TORQUE));
    error_cells(view, "train", i);
    if (heldout) error_cells(view, "heldout", i);
  }
  psdmp_page_table_end(view->page);
  psdmp_page_paragraph(view->page, view->steps ? "Of the last step's own torque." : "Rows in motion: a joint faster than a small share of its usual speed. Relative: |error| / |torque| of the joint.");
}

/* rows at rest, all rows, torque as logged: what the main figures leave out */
static void other_rows(const psdmp_fit_view *view) {
  static const char *const header[] = {"rows", "training", "held out"};
  static const struct {
    const char *label, *train, *heldout;
  } rows[] = {{"in motion", "train.global_rel", "heldout.global_rel"},
              {"all", "train.all.global_rel", "heldout.all.global_rel"},
              {"at rest", "train.rest.global_rel", "heldout.rest.global_rel"},
              {"all, torque as it was logged", "train.raw.global_rel", "heldout.raw.global_rel"}};
  if (!psdmp_result_node(view->root, "train.all.global_rel")) return;
  psdmp_page_paragraph(view->page, "Global relative error by kind of row:");
  psdmp_page_table(view->page, header, 3, "tnn");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    psdmp_page_row(view->page);
    psdmp_page_cell(view->page, "%s", rows[k].label);
    psdmp_page_cell(view->page, "%s", psdmp_words_percent(view->page, psdmp_result_number(view->root, rows[k].train)));
    psdmp_page_cell(view->page, "%s", psdmp_words_percent(view->page, psdmp_result_number(view->root, rows[k].heldout)));
  }
  psdmp_page_table_end(view->page);
}

/* ---- an earlier result beside this one ---- */

void psdmp_fit_compared(const psdmp_fit_view *view) {
  static const char *const header[] = {"joint", "RMSE", "RMSE, compared", "unit"};
  const psdmp_node *compare = psdmp_result_node(view->root, "compare"), *joints = psdmp_result_node(compare, "joints");
  int i = 0;
  if (!joints || joints->kind != PSDMP_LIST) return;
  psdmp_page_heading(view->page, "Beside the compared parameters");
  psdmp_page_paragraph(view->page, "Global relative error %s, compared %s, on the same rows (%s).", psdmp_words_percent(view->page, psdmp_result_number(compare, "global_rel")),
                       psdmp_words_percent(view->page, psdmp_result_number(compare, "global_rel_compared")), psdmp_result_text(compare, "part"));
  psdmp_page_table(view->page, header, 4, "tnnt");
  for (const psdmp_node *joint = joints->child; joint && i < view->axes.n; joint = joint->next, i++) {
    psdmp_page_row(view->page);
    psdmp_page_cell(view->page, "%s", view->axes.axis[i].name);
    psdmp_page_cell_number(view->page, psdmp_result_number(joint, "rmse"), 3);
    psdmp_page_cell_number(view->page, psdmp_result_number(joint, "rmse_compared"), 3);
    psdmp_page_cell(view->page, "%s", psdmp_unit(&view->axes.axis[i], PSDMP_TORQUE));
  }
  psdmp_page_table_end(view->page);
}

/* ---- what was chosen ---- */

static void word_row(psdmp_page *page, const char *label, const char *text) {
  if (!text[0]) return;
  psdmp_page_row(page);
  psdmp_page_cell(page, "%s", label);
  psdmp_page_cell(page, "%s", text);
}

static const char *first_log(const psdmp_node *root) {
  const char *plain = psdmp_result_text(root, "logs.0");
  return plain[0] ? plain : psdmp_result_text(root, "logs.0.path");
}

static void log_rows(const psdmp_fit_view *view) {
  const psdmp_node *logs = psdmp_result_node(view->root, "logs");
  int count = logs && logs->kind == PSDMP_LIST ? logs->count : 0;
  if (count) word_row(view->page, count > 1 ? "logs" : "log", count > 1 ? psdmp_words(view->page, "%s and %d more", first_log(view->root), count - 1) : first_log(view->root));
  psdmp_named_number(view->page, "rows in the logs", psdmp_result_number(view->root, "rows"), 9, "");
  psdmp_named_number(view->page, "segments", psdmp_result_number(view->root, "segments"), 9, "");
}

void psdmp_fit_choices(const psdmp_fit_view *view) {
  static const char *const header[] = {"setting", "value"};
  psdmp_page *page = view->page;
  bool none = psdmp_result_node(view->root, "choices.cutoff") && !isfinite(choice(view, "cutoff"));
  psdmp_page_heading(page, "Settings");
  psdmp_page_table(page, header, 2, "tt");
  word_row(page, "estimator", psdmp_result_text(view->root, "estimator"));
  word_row(page, "derivatives from", psdmp_result_text(view->root, "choices.kinematics"));
  if (none) word_row(page, "filter", "none");
  psdmp_named_number(page, "filter, cutoff", choice(view, "cutoff"), 4, "Hz");
  psdmp_named_number(page, "delay of the torques", choice(view, "delay"), 4, "s");
  psdmp_named_number(page, "weight of the prior, \xCE\xBB", choice(view, "lambda"), 4, "nats");
  psdmp_named_number(page, "mass of the prior", choice(view, "prior_mass"), 4, "kg");
  psdmp_named_number(page, "rows count as at rest below", choice(view, "rest"), 3, "of a joint's speed");
  psdmp_named_number(page, "every so many-th row", choice(view, "stride"), 4, "");
  word_row(page, "held out", psdmp_result_text(view->root, "settings.holdout"));
  log_rows(view);
  psdmp_page_table_end(page);
  psdmp_sentences(page, psdmp_result_node(view->root, "reasons"), NULL);
  psdmp_sentences(page, psdmp_result_node(view->root, "fault_lines"), "Faults of the logs");
}

/* ---- what it is worth ---- */

static void singular_values(const psdmp_fit_view *view) {
  const psdmp_node *list = psdmp_result_node(view->root, "singular_values");
  enum { MOST = 2000 };
  int count = list && list->kind == PSDMP_LIST ? (list->count < MOST ? list->count : MOST) : 0;
  double *y = psdmp_page_memory(view->page, (size_t)(count + 1) * sizeof *y), *x = psdmp_page_memory(view->page, (size_t)(count + 1) * sizeof *x);
  if (!y || !x || count < 2) return;
  count = psdmp_result_numbers(list, y, count);
  for (int k = 0; k < count; k++) x[k] = k + 1;
  psdmp_drawing d = psdmp_drawing_of(view->page, "Singular values of the scaled regressor", "number", "singular value");
  d.plot.y_log = true;
  psdmp_draw_xy(&d, PSDMP_DOTS, NULL, x, y, (size_t)count, 0);
  psdmp_draw(&d);
}

static void folds(const psdmp_fit_view *view) {
  enum { MOST = 10, JOINTS = 200 };
  const psdmp_node *list = psdmp_result_node(view->root, "folds");
  int count = list && list->kind == PSDMP_LIST ? (list->count < MOST ? list->count : MOST) : 0;
  const char *header[MOST + 1] = {"joint"};
  if (count < 2) return;
  for (int k = 0; k < count; k++) header[k + 1] = psdmp_words(view->page, "part %d", k + 1);
  psdmp_page_paragraph(view->page, "Cross-validation: RMSE on each contiguous part of the training rows, by the fit to the others.");
  psdmp_page_table(view->page, header, count + 1, "tnnnnnnnnnn");
  for (int i = 0; i < view->axes.n && i < JOINTS; i++) {
    psdmp_page_row(view->page);
    psdmp_page_cell(view->page, "%s", view->axes.axis[i].name);
    for (int k = 0; k < count; k++) psdmp_page_cell_number(view->page, psdmp_result_number(list, psdmp_words(view->page, "%d.rmse.%d", k, i)), 3);
  }
  psdmp_page_table_end(view->page);
}

void psdmp_fit_worth(const psdmp_fit_view *view) {
  static const char *const header[] = {"figure", "value"};
  psdmp_page *page = view->page;
  if (!psdmp_result_node(view->root, "cost_ratio") && !psdmp_result_node(view->root, "folds")) return;
  psdmp_page_heading(page, "What the fit is worth");
  psdmp_page_table(page, header, 2, "tt");
  psdmp_named_number(page, "training cost over that of least squares with the same columns", psdmp_result_number(view->root, "cost_ratio"), 4, "");
  psdmp_named_number(page, "Durbin-Watson (2: residuals are white)", psdmp_result_number(view->root, "durbin_watson"), 3, "");
  psdmp_named_number(page, "residuals are uncorrelated after", psdmp_result_number(view->root, "correlation"), 3, "samples");
  psdmp_named_number(page, "condition of the scaled regressor", psdmp_result_number(view->root, "condition"), 4, "");
  psdmp_page_table_end(page);
  other_rows(view);
  folds(view);
  singular_values(view);
  psdmp_sentences(page, psdmp_result_node(view->root, "blind"), "Hardly seen by the motion");
}

/* ---- remarks ---- */

/* the word, and what it rests on */
static void verdict(const psdmp_fit_view *view) {
  const char *word = psdmp_result_text(view->root, "verdict.word");
  const psdmp_node *list = psdmp_result_node(view->root, "verdict.findings");
  bool fit_for_use = strcmp(word, "good") == 0 || strcmp(word, "usable") == 0;
  if (!word[0]) return;
  psdmp_page_raw(view->page, fit_for_use ? "<p class=\"good\">Verdict: " : "<p class=\"bad\">Verdict: ");
  psdmp_page_text(view->page, word);
  psdmp_page_raw(view->page, "</p>\n");
  for (const psdmp_node *child = list && list->kind == PSDMP_LIST ? list->child : NULL; child; child = child->next) {
    psdmp_page_raw(view->page, "<p class=\"note\">");
    psdmp_page_text(view->page, psdmp_words(view->page, "%s: %s", psdmp_result_text(child, "verdict"), psdmp_result_text(child, "text")));
    psdmp_page_raw(view->page, "</p>\n");
  }
}

void psdmp_fit_remarks(const psdmp_fit_view *view) {
  if (psdmp_truth(view->root, "stopped")) psdmp_page_paragraph(view->page, "The run was interrupted: this is the best result until then.");
  verdict(view);
  if (psdmp_truth(view->root, "verdict.asked")) {
    bool good = psdmp_truth(view->root, "verdict.good");
    psdmp_page_raw(view->page, good ? "<p class=\"good\">" : "<p class=\"bad\">");
    psdmp_page_text(view->page, good ? "The asked accuracy is met." : "The asked accuracy is not met:");
    psdmp_page_raw(view->page, "</p>\n");
    psdmp_notes(view->page, psdmp_result_node(view->root, "verdict.failures"));
  }
  psdmp_notes(view->page, psdmp_result_node(view->root, "doubts"));
  psdmp_notes(view->page, psdmp_result_node(view->root, "remarks"));
}
