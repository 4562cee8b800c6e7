/* section_simulate.c: simulations and their energy; motions that no other result explains. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

/* ---- figures ---- */

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item list[] = {{"simulated", "time", 5, "s"},
                                           {"ended", "end_text", PSDMP_REPORT_WORDS, NULL},
                                           {"control", "control", PSDMP_REPORT_WORDS, NULL},
                                           {"times real time", "speed", 3, NULL},
                                           {"energy not accounted for, of the largest", "energy_balance", 2, NULL},
                                           {"integrator", "integrator", PSDMP_REPORT_WORDS, NULL},
                                           {"evaluations", "evaluations", 9, NULL}};
  psdmp_report_page_facts(page);
  psdmp_report_fact_list(page, root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_facts_end(page);
}

static void final_state(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "position", "velocity", "acceleration", "torque"};
  if (!psdmp_report_node(root, "final_state")) return;
  psdmp_report_page_heading(page, "Final state");
  psdmp_report_page_table(page, header, 5, "tnnnn");
  for (int i = 0; i < axes->n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < PSDMP_REPORT_QUANTITIES; k++)
      psdmp_report_page_cell(
          page, "%s %s",
          psdmp_report_words_number(page, psdmp_report_number(root, "final_state.%s.%d", psdmp_report_group[k], i), 5),
          psdmp_report_unit(&axes->axis[i], k));
  }
  psdmp_report_page_table_end(page);
}

/* ---- tracking of a controller ---- */

static void tracking(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_result *rows,
                     const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "rms", "rms, last quarter", "peak", "at the end", "unit"};
  static const char *const keys[] = {"rms", "rms_last_quarter", "peak", "final"};
  if (!psdmp_report_node(root, "tracking")) return;
  psdmp_report_page_heading(page, "Error of the controller");
  psdmp_report_page_table(page, header, 6, "tnnnnt");
  for (int i = 0; i < axes->n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < 4; k++)
      psdmp_report_page_cell_number(page, psdmp_report_number(root, "tracking.%s.%d", keys[k], i), 3);
    psdmp_report_page_cell(page, "%s", psdmp_report_unit(&axes->axis[i], PSDMP_REPORT_POSITION));
  }
  psdmp_report_page_table_end(page);
  if (rows && psdmp_report_rows_group(rows, "error", 0))
    psdmp_report_motion_column(
        page, rows, axes, "error", "Reference less position",
        psdmp_report_words(page, "error (%s)", psdmp_report_unit_of_all(page, axes, PSDMP_REPORT_POSITION)));
}

/* ---- energy ---- */

typedef struct stock {
  const char *column, *title;
} stock;

/* values that stay zero are not drawn */
static bool any(const double *value, size_t count) {
  for (size_t k = 0; value && k < count; k++)
    if (value[k] != 0) return true;
  return false;
}

/* NULL if fewer than two of them exist */
static double *in_all(psdmp_report_page *page, const psdmp_report_result *rows, const stock *list, int count) {
  double *sum = psdmp_report_page_memory(page, (rows->rows ? rows->rows : 1) * sizeof *sum);
  int terms = 0;
  for (int i = 0; sum && i < count; i++) {
    const double *value = psdmp_report_rows_column(rows, list[i].column);
    terms += value != NULL;
    for (size_t k = 0; value && k < rows->rows; k++) sum[k] += value[k];
  }
  return terms > 1 ? sum : NULL;
}

static void draw_stocks(psdmp_report_page *page, const psdmp_report_result *rows, const char *title, const stock *list,
                        int count, bool total) {
  psdmp_report_drawing d = psdmp_report_drawing_of(page, title, "time (s)", "energy (J)");
  d.plot.zoom = true;
  for (int k = 0; k < count; k++)
    if (any(psdmp_report_rows_column(rows, list[k].column), rows->rows))
      psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, list[k].title, psdmp_report_rows_column(rows, "t"),
                           psdmp_report_rows_column(rows, list[k].column), rows->rows, k);
  if (total)
    psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, "in all", psdmp_report_rows_column(rows, "t"),
                         in_all(page, rows, list, count), rows->rows, -1);
  psdmp_report_draw(&d);
}

static void energy_plots(psdmp_report_page *page, const psdmp_report_result *rows) {
  static const stock kept[] = {{"T", "kinetic"}, {"U", "gravity's"}, {"Ue", "springs'"}, {"Ub", "bristles'"}};
  static const stock moved[] = {{"supplied", "supplied by motors"},
                                {"dissipated", "dissipated"},
                                {"external", "by the wrench"},
                                {"payload", "by changes of load"}};
  draw_stocks(page, rows, "Energy in the robot", kept, 4, true);
  draw_stocks(page, rows, "Energy in and out since the start", moved, 4, false);
}

static void energy_table(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"energy", "at the end (J)"};
  static const stock list[] = {{"energy.start", "in all, at the start"},
                               {"energy.end", "in all, at the end"},
                               {"energy.kinetic", "kinetic"},
                               {"energy.potential", "gravity's"},
                               {"energy.elastic", "springs'"},
                               {"energy.bristles", "bristles'"},
                               {"energy.supplied", "supplied by motors"},
                               {"energy.dissipated", "dissipated"},
                               {"energy.external", "by the wrench"},
                               {"energy.payload", "by changes of load"}};
  if (!psdmp_report_node(root, "energy")) return;
  psdmp_report_page_table(page, header, 2, "tn");
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    double value = psdmp_report_number(root, "%s", list[k].column);
    if (k > 1 && value == 0) continue;
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", list[k].title);
    psdmp_report_page_cell_number(page, value, 6);
  }
  psdmp_report_page_table_end(page);
  double supplied = psdmp_report_number(root, "energy.supplied"),
         dissipated = psdmp_report_number(root, "energy.dissipated");
  if (supplied == 0 && dissipated == 0)
    psdmp_report_page_paragraph(
        page, "Nothing drives or brakes it: the total drifts by at most %s of the peak kinetic energy.",
        psdmp_report_words_number(page, psdmp_report_number(root, "energy_drift"), 2));
}

static void events(psdmp_report_page *page, const psdmp_document_node *root) {
  double reversals = psdmp_report_number(root, "events.reversals"), sticks = psdmp_report_number(root, "events.sticks"),
         limits = psdmp_report_number(root, "events.limits");
  if (!(reversals + sticks + limits > 0)) return;
  psdmp_report_page_paragraph(page, "Events: %s changes of direction, %s times a joint came to rest, %s stops hit.",
                              psdmp_report_words_number(page, reversals, 9), psdmp_report_words_number(page, sticks, 9),
                              psdmp_report_words_number(page, limits, 9));
}

/* torques of a given motion: peaks instead of a final state */
static void inverse_table(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_axes *axes) {
  static const char *const header[] = {"joint", "peak speed", "peak torque", "rms torque"};
  if (!psdmp_report_node(root, "peak_torque")) return;
  psdmp_report_page_table(page, header, 4, "tnnn");
  for (int i = 0; i < axes->n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    psdmp_report_page_cell(page, "%s %s",
                           psdmp_report_words_number(page, psdmp_report_number(root, "peak_speed.%d", i), 4),
                           psdmp_report_unit(&axes->axis[i], PSDMP_REPORT_VELOCITY));
    psdmp_report_page_cell(page, "%s %s",
                           psdmp_report_words_number(page, psdmp_report_number(root, "peak_torque.%d", i), 4),
                           psdmp_report_unit(&axes->axis[i], PSDMP_REPORT_TORQUE));
    psdmp_report_page_cell(page, "%s %s",
                           psdmp_report_words_number(page, psdmp_report_number(root, "rms_torque.%d", i), 4),
                           psdmp_report_unit(&axes->axis[i], PSDMP_REPORT_TORQUE));
  }
  psdmp_report_page_table_end(page);
}

/* ---- sections ---- */

static void motion(psdmp_report_page *page, const psdmp_report_result *rows, const psdmp_report_axes *axes) {
  psdmp_report_motion_together(page, rows, axes);
  if (psdmp_report_rows_group(rows, "friction", 0))
    psdmp_report_motion_column(
        page, rows, axes, "friction", "Friction",
        psdmp_report_words(page, "friction (%s)", psdmp_report_unit_of_all(page, axes, PSDMP_REPORT_TORQUE)));
}

/* extreme of a quantity of an axis: from the rows, else at the end, else as a peak; false if unknown */
static bool reached(const psdmp_document_node *root, const psdmp_report_result *rows, int axis, int quantity,
                    double range[2]) {
  const double *value = rows ? psdmp_report_rows_group(rows, psdmp_report_group[quantity], axis) : NULL;
  double last = psdmp_report_number(root, "final_state.%s.%d", psdmp_report_group[quantity], axis),
         peak = quantity == PSDMP_REPORT_VELOCITY ? psdmp_report_number(root, "peak_speed.%d", axis)
                : quantity == PSDMP_REPORT_TORQUE ? psdmp_report_number(root, "peak_torque.%d", axis)
                                                  : NAN;
  range[0] = fmin(last, -peak), range[1] = fmax(last, peak);
  for (size_t k = 0; value && k < rows->rows; k++)
    if (isfinite(value[k])) range[0] = fmin(range[0], value[k]), range[1] = fmax(range[1], value[k]);
  return isfinite(range[0]) && isfinite(range[1]);
}

/* "shoulder: position 3.1 rad (limit 2 rad)" when exceeded, else "". Stops are met to within the integrator's
 * tolerance. */
static const char *excess(psdmp_report_page *page, const psdmp_report_axis *axis, int quantity, const double range[2]) {
  const double near = 1e-3;
  double low = quantity == PSDMP_REPORT_POSITION ? axis->lower : -axis->most[quantity],
         high = quantity == PSDMP_REPORT_POSITION ? axis->upper : axis->most[quantity];
  double slack = near * (isfinite(high - low) ? high - low : 1);
  bool above = range[1] > high + slack, below = range[0] < low - slack;
  if (!above && !below) return "";
  if (above && below) above = range[1] - high >= low - range[0];
  return psdmp_report_words(page, "%s: %s %s %s (limit %s)", axis->name, psdmp_report_quantity(axis, quantity),
                            psdmp_report_words_number(page, above ? range[1] : range[0], 4),
                            psdmp_report_unit(axis, quantity), psdmp_report_words_number(page, above ? high : low, 4));
}

/* limits are ignored unless requested: warns where the motion exceeds them */
static void beyond_limits(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_result *rows,
                          const psdmp_report_axes *axes) {
  enum { MOST = 12 };
  int count = 0;
  for (int i = 0; i < axes->n && count <= MOST; i++)
    for (int quantity = 0; quantity < PSDMP_REPORT_QUANTITIES && count <= MOST; quantity++) {
      double range[2];
      const char *words = reached(root, rows, i, quantity, range) ? excess(page, &axes->axis[i], quantity, range) : "";
      if (!words[0]) continue;
      psdmp_report_page_raw(page, count++ ? "; " : "<p class=\"note\">Beyond the robot's limits: ");
      psdmp_report_page_text(page, count > MOST ? "and more" : words);
    }
  if (count)
    psdmp_report_page_raw(page, psdmp_report_truth(root, "settings.inverse")
                                    ? ".</p>\n"
                                    : ". psdm simulate ignores limits unless --limits (of position) or --saturate (of "
                                      "torque) asks for them.</p>\n");
}

static void show(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  psdmp_report_result *rows = result->matched;
  bool inverse = psdmp_report_truth(result->root, "settings.inverse");
  psdmp_report_page_section(page,
                            psdmp_report_title(page, results, result, inverse ? "Torques of a motion" : "Simulation"),
                            inverse ? "The torques that a given motion takes, without integrating anything."
                                    : "The robot in motion, and where its energy went.");
  facts(page, result->root);
  beyond_limits(page, result->root, rows, &axes);
  inverse_table(page, result->root, &axes);
  if (rows) {
    psdmp_report_page_heading(page, "Motion");
    motion(page, rows, &axes);
    rows->used = true;
  }
  events(page, result->root);
  tracking(page, result->root, rows, &axes);
  if (psdmp_report_node(result->root, "energy") || (rows && psdmp_report_rows_column(rows, "T")))
    psdmp_report_page_heading(page, "Energy");
  if (rows) energy_plots(page, rows);
  energy_table(page, result->root);
  final_state(page, result->root, &axes);
}

/* rows without their result */
static void show_rows(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *rows) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, rows);
  psdmp_report_page_section(page, psdmp_report_words(page, "Motion: %s", psdmp_report_words_file(rows->path)), NULL);
  motion(page, rows, &axes);
  energy_plots(page, rows);
}

static bool says_anything(const psdmp_report_result *result) {
  static const char *const parts[] = {"time", "final_state", "energy", "tracking", "peak_torque"};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (psdmp_report_node(result->root, "%s", parts[k])) return true;
  return result->matched != NULL;
}

static bool is_motion(const psdmp_report_result *result) {
  return result->kind == PSDMP_REPORT_RESULT_CSV &&
         (strcmp(result->command, "states") == 0 || strcmp(result->command, "trajectory") == 0);
}

void psdmp_report_section_simulate(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int k = 0; k < results->count; k++) {
    psdmp_report_result *result = results->item[k];
    bool simulated = result->root && strcmp(result->command, "simulate") == 0;
    if (simulated && !says_anything(result)) continue; /* listed as a result that no section shows */
    if (!simulated && (!is_motion(result) || result->taken)) continue;
    result->used = true;
    if (simulated) show(page, results, result);
    else show_rows(page, results, result);
  }
}
