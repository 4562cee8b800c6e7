/* section_simulate.c: a robot in motion, and where its energy went; motions that no other result explains. */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

/* ---- figures ---- */

static void facts(psdmp_page *page, const psdmp_node *root) {
  psdmp_page_facts(page);
  psdmp_fact_number(page, "simulated", psdmp_result_number(root, "time"), 5, "s");
  psdmp_fact_text(page, "ended", psdmp_result_text(root, "end_text"));
  psdmp_fact_text(page, "control", psdmp_result_text(root, "control"));
  psdmp_fact_number(page, "times real time", psdmp_result_number(root, "speed"), 3, "");
  psdmp_fact_number(page, "energy not accounted for, of the largest", psdmp_result_number(root, "energy_balance"), 2, "");
  psdmp_fact_text(page, "integrator", psdmp_result_text(root, "integrator"));
  psdmp_fact_number(page, "evaluations", psdmp_result_number(root, "evaluations"), 9, "");
  psdmp_page_facts_end(page);
}

static double listed(psdmp_page *page, const psdmp_node *root, const char *path, int axis) { return psdmp_result_number(root, psdmp_words(page, "%s.%d", path, axis)); }

static void final_state(psdmp_page *page, const psdmp_node *root, const psdmp_axes *axes) {
  static const char *const header[] = {"joint", "position", "velocity", "acceleration", "torque"};
  if (!psdmp_result_node(root, "final_state")) return;
  psdmp_page_heading(page, "Final state");
  psdmp_page_table(page, header, 5, "tnnnn");
  for (int i = 0; i < axes->n; i++) {
    psdmp_page_row(page);
    psdmp_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < PSDMP_QUANTITIES; k++)
      psdmp_page_cell(page, "%s %s", psdmp_words_number(page, listed(page, root, psdmp_words(page, "final_state.%s", psdmp_group[k]), i), 5), psdmp_unit(&axes->axis[i], k));
  }
  psdmp_page_table_end(page);
}

/* ---- how well a controller follows ---- */

static void tracking(psdmp_page *page, const psdmp_node *root, const psdmp_result *rows, const psdmp_axes *axes) {
  static const char *const header[] = {"joint", "rms", "rms, last quarter", "peak", "at the end", "unit"};
  static const char *const keys[] = {"tracking.rms", "tracking.rms_last_quarter", "tracking.peak", "tracking.final"};
  if (!psdmp_result_node(root, "tracking")) return;
  psdmp_page_heading(page, "Error of the controller");
  psdmp_page_table(page, header, 6, "tnnnnt");
  for (int i = 0; i < axes->n; i++) {
    psdmp_page_row(page);
    psdmp_page_cell(page, "%s", axes->axis[i].name);
    for (int k = 0; k < 4; k++) psdmp_page_cell_number(page, listed(page, root, keys[k], i), 3);
    psdmp_page_cell(page, "%s", psdmp_unit(&axes->axis[i], PSDMP_POSITION));
  }
  psdmp_page_table_end(page);
  if (rows && psdmp_rows_group(rows, "error", 0))
    psdmp_motion_column(page, rows, axes, "error", "Reference less position", psdmp_words(page, "error (%s)", psdmp_unit_of_all(page, axes, PSDMP_POSITION)));
}

/* ---- energy ---- */

typedef struct stock {
  const char *column, *title;
} stock;

/* what stays zero is not drawn */
static bool any(const double *value, size_t count) {
  for (size_t k = 0; value && k < count; k++)
    if (value[k] != 0) return true;
  return false;
}

/* NULL when less than two of them are there */
static double *in_all(psdmp_page *page, const psdmp_result *rows, const stock *list, int count) {
  double *sum = psdmp_page_memory(page, (rows->rows ? rows->rows : 1) * sizeof *sum);
  int terms = 0;
  for (int i = 0; sum && i < count; i++) {
    const double *value = psdmp_rows_column(rows, list[i].column);
    terms += value != NULL;
    for (size_t k = 0; value && k < rows->rows; k++) sum[k] += value[k];
  }
  return terms > 1 ? sum : NULL;
}

static void draw_stocks(psdmp_page *page, const psdmp_result *rows, const char *title, const stock *list, int count, bool total) {
  psdmp_drawing d = psdmp_drawing_of(page, title, "time (s)", "energy (J)");
  d.plot.zoom = true;
  for (int k = 0; k < count; k++)
    if (any(psdmp_rows_column(rows, list[k].column), rows->rows)) psdmp_draw_xy(&d, PSDMP_LINE, list[k].title, psdmp_rows_column(rows, "t"), psdmp_rows_column(rows, list[k].column), rows->rows, k);
  if (total) psdmp_draw_xy(&d, PSDMP_LINE, "in all", psdmp_rows_column(rows, "t"), in_all(page, rows, list, count), rows->rows, -1);
  psdmp_draw(&d);
}

static void energy_plots(psdmp_page *page, const psdmp_result *rows) {
  static const stock kept[] = {{"T", "kinetic"}, {"U", "gravity's"}, {"Ue", "springs'"}, {"Ub", "bristles'"}};
  static const stock moved[] = {{"supplied", "supplied by motors"}, {"dissipated", "dissipated"}, {"external", "by the wrench"}, {"payload", "by changes of load"}};
  draw_stocks(page, rows, "Energy in the robot", kept, 4, true);
  draw_stocks(page, rows, "Energy in and out since the start", moved, 4, false);
}

static void energy_table(psdmp_page *page, const psdmp_node *root) {
  static const char *const header[] = {"energy", "at the end (J)"};
  static const stock list[] = {{"energy.start", "in all, at the start"}, {"energy.end", "in all, at the end"}, {"energy.kinetic", "kinetic"}, {"energy.potential", "gravity's"},
                               {"energy.elastic", "springs'"}, {"energy.bristles", "bristles'"}, {"energy.supplied", "supplied by motors"}, {"energy.dissipated", "dissipated"},
                               {"energy.external", "by the wrench"}, {"energy.payload", "by changes of load"}};
  if (!psdmp_result_node(root, "energy")) return;
  psdmp_page_table(page, header, 2, "tn");
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    double value = psdmp_result_number(root, list[k].column);
    if (k > 1 && value == 0) continue;
    psdmp_page_row(page);
    psdmp_page_cell(page, "%s", list[k].title);
    psdmp_page_cell_number(page, value, 6);
  }
  psdmp_page_table_end(page);
  double supplied = psdmp_result_number(root, "energy.supplied"), dissipated = psdmp_result_number(root, "energy.dissipated");
  if (supplied == 0 && dissipated == 0)
    psdmp_page_paragraph(page, "Nothing drives or brakes it: the total drifts by at most %s of the peak kinetic energy.", psdmp_words_number(page, psdmp_result_number(root, "energy_drift"), 2));
}

static void events(psdmp_page *page, const psdmp_node *root) {
  double reversals = psdmp_result_number(root, "events.reversals"), sticks = psdmp_result_number(root, "events.sticks"), limits = psdmp_result_number(root, "events.limits");
  if (!(reversals + sticks + limits > 0)) return;
  psdmp_page_paragraph(page, "Events: %s changes of direction, %s times a joint came to rest, %s stops hit.", psdmp_words_number(page, reversals, 9), psdmp_words_number(page, sticks, 9),
                       psdmp_words_number(page, limits, 9));
}

/* torques that a given motion takes: peaks in place of a final state */
static void inverse_table(psdmp_page *page, const psdmp_node *root, const psdmp_axes *axes) {
  static const char *const header[] = {"joint", "peak speed", "peak torque", "rms torque"};
  if (!psdmp_result_node(root, "peak_torque")) return;
  psdmp_page_table(page, header, 4, "tnnn");
  for (int i = 0; i < axes->n; i++) {
    psdmp_page_row(page);
    psdmp_page_cell(page, "%s", axes->axis[i].name);
    psdmp_page_cell(page, "%s %s", psdmp_words_number(page, listed(page, root, "peak_speed", i), 4), psdmp_unit(&axes->axis[i], PSDMP_VELOCITY));
    psdmp_page_cell(page, "%s %s", psdmp_words_number(page, listed(page, root, "peak_torque", i), 4), psdmp_unit(&axes->axis[i], PSDMP_TORQUE));
    psdmp_page_cell(page, "%s %s", psdmp_words_number(page, listed(page, root, "rms_torque", i), 4), psdmp_unit(&axes->axis[i], PSDMP_TORQUE));
  }
  psdmp_page_table_end(page);
}

/* ---- sections ---- */

static void motion(psdmp_page *page, const psdmp_result *rows, const psdmp_axes *axes) {
  psdmp_motion_together(page, rows, axes);
  if (psdmp_rows_group(rows, "friction", 0))
    psdmp_motion_column(page, rows, axes, "friction", "Friction", psdmp_words(page, "friction (%s)", psdmp_unit_of_all(page, axes, PSDMP_TORQUE)));
}

/* what a quantity of an axis reaches: in the rows, else at the end, else as a peak; false when unknown */
static bool reached(psdmp_page *page, const psdmp_node *root, const psdmp_result *rows, int axis, int quantity, double range[2]) {
  const double *value = rows ? psdmp_rows_group(rows, psdmp_group[quantity], axis) : NULL;
  double last = listed(page, root, psdmp_words(page, "final_state.%s", psdmp_group[quantity]), axis), peak = quantity == PSDMP_VELOCITY ? listed(page, root, "peak_speed", axis) : quantity == PSDMP_TORQUE ? listed(page, root, "peak_torque", axis) : NAN;
  range[0] = fmin(last, -peak), range[1] = fmax(last, peak);
  for (size_t k = 0; value && k < rows->rows; k++)
    if (isfinite(value[k])) range[0] = fmin(range[0], value[k]), range[1] = fmax(range[1], value[k]);
  return isfinite(range[0]) && isfinite(range[1]);
}

/* "shoulder: position 3.1 rad (limit 2 rad)" when it is beyond, "" when not. Stops are met to within the integrator's tolerance. */
static const char *excess(psdmp_page *page, const psdmp_axis *axis, int quantity, const double range[2]) {
  const double near = 1e-3;
  double low = quantity == PSDMP_POSITION ? axis->lower : -axis->most[quantity], high = quantity == PSDMP_POSITION ? axis->upper : axis->most[quantity];
  double slack = near * (isfinite(high - low) ? high - low : 1);
  bool above = range[1] > high + slack, below = range[0] < low - slack;
  if (!above && !below) return "";
  if (above && below) above = range[1] - high >= low - range[0];
  return psdmp_words(page, "%s: %s %s %s (limit %s)", axis->name, psdmp_quantity(axis, quantity), psdmp_words_number(page, above ? range[1] : range[0], 4), psdmp_unit(axis, quantity), psdmp_words_number(page, above ? high : low, 4));
}

/* limits are ignored unless they are asked for: where the motion leaves them, the reader should know */
static void beyond_limits(psdmp_page *page, const psdmp_node *root, const psdmp_result *rows, const psdmp_axes *axes) {
  enum { MOST = 12 };
  int count = 0;
  for (int i = 0; i < axes->n && count <= MOST; i++)
    for (int quantity = 0; quantity < PSDMP_QUANTITIES && count <= MOST; quantity++) {
      double range[2];
      const char *words = reached(page, root, rows, i, quantity, range) ? excess(page, &axes->axis[i], quantity, range) : "";
      if (!words[0]) continue;
      psdmp_page_raw(page, count++ ? "; " : "<p class=\"note\">Beyond the robot's limits: ");
      psdmp_page_text(page, count > MOST ? "and more" : words);
    }
  if (count) psdmp_page_raw(page, psdmp_truth(root, "settings.inverse") ? ".</p>\n" : ". psdm simulate ignores limits unless --limits (of position) or --saturate (of torque) asks for them.</p>\n");
}

static void show(psdmp_page *page, const psdmp_results *results, psdmp_result *result) {
  psdmp_axes axes = psdmp_axes_of(page, results, result);
  psdmp_result *rows = result->matched;
  bool inverse = psdmp_truth(result->root, "settings.inverse");
  psdmp_page_section(page, psdmp_title(page, results, result, inverse ? "Torques of a motion" : "Simulation"),
                     inverse ? "The torques that a given motion takes, without integrating anything." : "The robot in motion, and where its energy went.");
  facts(page, result->root);
  beyond_limits(page, result->root, rows, &axes);
  inverse_table(page, result->root, &axes);
  if (rows) {
    psdmp_page_heading(page, "Motion");
    motion(page, rows, &axes);
    rows->used = true;
  }
  events(page, result->root);
  tracking(page, result->root, rows, &axes);
  if (psdmp_result_node(result->root, "energy") || (rows && psdmp_rows_column(rows, "T"))) psdmp_page_heading(page, "Energy");
  if (rows) energy_plots(page, rows);
  energy_table(page, result->root);
  final_state(page, result->root, &axes);
}

/* rows without the result that they were written beside */
static void show_rows(psdmp_page *page, const psdmp_results *results, psdmp_result *rows) {
  psdmp_axes axes = psdmp_axes_of(page, results, rows);
  psdmp_page_section(page, psdmp_words(page, "Motion: %s", psdmp_words_file(rows->path)), NULL);
  motion(page, rows, &axes);
  energy_plots(page, rows);
}

static bool says_anything(const psdmp_result *result) {
  static const char *const parts[] = {"time", "final_state", "energy", "tracking", "peak_torque"};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (psdmp_result_node(result->root, parts[k])) return true;
  return result->matched != NULL;
}

static bool is_motion(const psdmp_result *result) { return result->kind == PSDMP_RESULT_CSV && (strcmp(result->command, "states") == 0 || strcmp(result->command, "trajectory") == 0); }

void psdmp_section_simulate(psdmp_page *page, const psdmp_results *results) {
  for (int k = 0; k < results->count; k++) {
    psdmp_result *result = results->item[k];
    bool simulated = result->root && strcmp(result->command, "simulate") == 0;
    if (simulated && !says_anything(result)) continue; /* named as a result that no section shows */
    if (!simulated && (!is_motion(result) || result->taken)) continue;
    result->used = true;
    if (simulated)
      show(page, results, result);
    else
      show_rows(page, results, result);
  }
}
