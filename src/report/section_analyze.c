/* section_analyze.c: dependencies of a robot's model, conditions that decouple or balance it, bounds for all
 * positions. */
#include <string.h>

#include "report/section_parts_priv.h"

enum { MOST_SHOWN = 12 };

/* ---- structure ---- */

/* "m12(q2, q3)"; "0" if it is zero */
static const char *entry_text(psdmp_report_page *page, const psdmp_document_node *entry, const char *name) {
  const psdmp_document_node *joint = psdmp_report_first(psdmp_report_node(entry, "depends"));
  const char *text = name;
  int count = 0;
  if (!entry) return "";
  if (psdmp_report_truth(entry, "zero")) return "0";
  for (; joint && count < 100; joint = joint->next, count++)
    if (joint->kind == PSDMP_DOCUMENT_SCALAR)
      text = psdmp_report_words(page, "%s%sq%.8s", text, count ? ", " : "(", joint->text);
  return count ? psdmp_report_words(page, "%s)", text) : text;
}

static void mass_table(psdmp_report_page *page, const psdmp_document_node *root, int n) {
  const char *header[MOST_SHOWN + 1] = {""};
  if (!psdmp_report_node(root, "M")) return;
  psdmp_report_page_heading(page, "Mass matrix: what each entry depends on");
  for (int i = 0; i < n; i++) header[i + 1] = psdmp_report_words(page, "%d", i + 1);
  psdmp_report_page_table(page, header, n + 1, "ttttttttttttt");
  for (int i = 0; i < n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%d", i + 1);
    for (int k = 0; k < n; k++)
      psdmp_report_page_cell(
          page, "%s",
          entry_text(page, psdmp_report_node(root, "M.%d.%d", i, k),
                     psdmp_report_words(page, n > 9 ? "m%d,%d" : "m%d%d", (i < k ? i : k) + 1, (i < k ? k : i) + 1)));
  }
  psdmp_report_page_table_end(page);
}

/* velocity products of one joint's torque: "qd1 qd2, qd2\u00b2" */
static const char *products(psdmp_report_page *page, const psdmp_document_node *list, int axis) {
  enum { MOST = 60 };
  const char *text = "";
  int count = 0;
  for (const psdmp_document_node *term = psdmp_report_first(list); term; term = term->next) {
    double three[3];
    if (psdmp_report_numbers(term, three, 3) != 3 || three[0] != axis + 1) continue;
    if (count++ >= MOST) continue;
    text = three[1] == three[2]
               ? psdmp_report_words(page, "%s%sqd%g\xC2\xB2", text, text[0] ? ", " : "", three[1])
               : psdmp_report_words(page, "%s%sqd%g qd%g", text, text[0] ? ", " : "", three[1], three[2]);
  }
  return count > MOST ? psdmp_report_words(page, "%s and %d more", text, count - MOST) : count ? text : "none";
}

static void torque_table(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_axes *axes,
                         int n) {
  static const char *const header[] = {"joint", "gravity", "velocity products"};
  if (!psdmp_report_node(root, "g") && !psdmp_report_node(root, "c")) return;
  psdmp_report_page_heading(page, "Gravity and velocity terms");
  psdmp_report_page_table(page, header, 3, "ttt");
  for (int i = 0; i < n; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", axes->axis[i].name);
    psdmp_report_page_cell(
        page, "%s", entry_text(page, psdmp_report_node(root, "g.%d", i), psdmp_report_words(page, "g%d", i + 1)));
    psdmp_report_page_cell(page, "%s", products(page, psdmp_report_node(root, "c"), i));
  }
  psdmp_report_page_table_end(page);
}

static void conditions(psdmp_report_page *page, const psdmp_document_node *root) {
  static const struct {
    const char *path, *heading;
  } list[] = {{"conditions.constant_mass", "The mass matrix is constant if"},
              {"conditions.diagonal_mass", "The mass matrix is diagonal if"},
              {"conditions.no_gravity", "Masses balance gravity if"},
              {"conditions.springs", "Springs that balance gravity"}};
  if (!psdmp_report_node(root, "conditions")) return;
  psdmp_report_page_heading(page, "What would simplify it");
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    const psdmp_document_node *sentences = psdmp_report_node(root, "%s", list[k].path);
    if (!psdmp_report_first(sentences)) continue;
    psdmp_report_page_paragraph(page, "%s:", list[k].heading);
    psdmp_report_sentences(page, sentences, NULL);
  }
}

static void facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item list[] = {{"joints", "n", 6, NULL},
                                           {"constant mass matrix", "constant_mass", PSDMP_REPORT_YES_NO, NULL},
                                           {"diagonal mass matrix", "diagonal_mass", PSDMP_REPORT_YES_NO, NULL},
                                           {"linear", "linear", PSDMP_REPORT_YES_NO, NULL},
                                           {"masses", "masses", PSDMP_REPORT_WORDS, NULL}};
  psdmp_report_page_facts(page);
  psdmp_report_fact_list(page, root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_facts_end(page);
}

/* ---- bounds ---- */

static const struct {
  const char *key, *words;
} bound_list[] = {{"mass_least", "least eigenvalue of M"},
                  {"mass_small", "least norm of M, k0"},
                  {"mass", "largest norm of M, k1"},
                  {"coriolis", "largest norm of the velocity terms, k4"},
                  {"gravity", "largest gravity torque, k6"}};

enum { BOUNDS = sizeof bound_list / sizeof *bound_list };

static void bounds(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"", "bound", "found", "at q"};
  const psdmp_document_node *node = psdmp_report_node(root, "bounds");
  double x[2][BOUNDS], y[2][BOUNDS];
  const char *tick[BOUNDS];
  if (!node) return;
  psdmp_report_page_heading(page, "Bounds for all positions");
  psdmp_report_page_table(page, header, 4, "tnnt");
  for (int k = 0; k < BOUNDS; k++) {
    y[0][k] = psdmp_report_number(node, "%s.bound", bound_list[k].key);
    y[1][k] = psdmp_report_number(node, "%s.found", bound_list[k].key);
    x[0][k] = k - 0.2, x[1][k] = k + 0.2, tick[k] = bound_list[k].key;
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", bound_list[k].words);
    psdmp_report_page_cell_number(page, y[0][k], 5);
    psdmp_report_page_cell_number(page, y[1][k], 5);
    psdmp_report_page_cell(page, "%s",
                           psdmp_report_words_vector(page, psdmp_report_node(node, "%s.q", bound_list[k].key), 3));
  }
  psdmp_report_page_table_end(page);
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Rigorous bounds, and the extremes found", "bound", "value (SI units)");
  d.plot.y_log = true;
  d.plot.tick = tick;
  d.plot.ticks = BOUNDS;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "bound", x[0], y[0], BOUNDS, 0);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "found", x[1], y[1], BOUNDS, 1);
  psdmp_report_draw(&d);
}

/* ---- samples ---- */

static const struct {
  const char *key, *words;
} sample_list[] = {{"mass", "norm of M"},
                   {"mass_least", "least eigenvalue of M"},
                   {"coriolis", "norm of the velocity terms, random unit velocities"},
                   {"gravity", "gravity torque"}};

static void samples(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item shares[] = {{"least", "least", 5, NULL},
                                             {"half", "half", 5, NULL},
                                             {"95 %", "at_95", 5, NULL},
                                             {"99.9 %", "at_999", 5, NULL},
                                             {"largest", "largest", 5, NULL}};
  double count = psdmp_report_number(root, "bounds.samples"), beyond = psdmp_report_number(root, "bounds.beyond");
  if (!(count > 0)) return;
  psdmp_report_page_heading(page, psdmp_report_words(page, "At %.0f random positions", count));
  psdmp_report_table(page, "", PSDMP_REPORT_ITEMS(shares));
  for (size_t k = 0; k < sizeof sample_list / sizeof *sample_list; k++)
    psdmp_report_row(page, sample_list[k].words, psdmp_report_node(root, "bounds.%s.samples", sample_list[k].key),
                     PSDMP_REPORT_ITEMS(shares));
  psdmp_report_page_table_end(page);
  if (beyond > 0)
    psdmp_report_page_paragraph(page, "%.0f samples violate proven bounds: do not trust the bounds of this robot.",
                                beyond);
  else psdmp_report_page_paragraph(page, "Quantiles over these positions. No sample exceeds a proven bound.");
}

static void path_facts(psdmp_report_page *page, const psdmp_document_node *root) {
  static const psdmp_report_item list[] = {{"positions", "path.positions", 9, NULL},
                                           {"least manipulability", "path.least.manipulability", 4, NULL},
                                           {"at", "path.least.t", 4, "s"},
                                           {"largest manipulability", "path.most.manipulability", 4, NULL}};
  if (!psdmp_report_node(root, "path")) return;
  psdmp_report_page_heading(page, "Along the path");
  psdmp_report_page_facts(page);
  psdmp_report_fact_list(page, root, PSDMP_REPORT_ITEMS(list));
  psdmp_report_page_facts_end(page);
}

/* ---- the section ---- */

static void show(psdmp_report_page *page, const psdmp_report_results *results, psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_of(page, results, result);
  int n = axes.n < MOST_SHOWN ? axes.n : MOST_SHOWN;
  psdmp_report_page_section(page, psdmp_report_title(page, results, result, "Structure"),
                            "What M, c and g depend on, read from the model's exact coefficients.");
  facts(page, result->root);
  if (n < axes.n) psdmp_report_page_paragraph(page, "Tables show the first %d of %d joints.", n, axes.n);
  mass_table(page, result->root, n);
  torque_table(page, result->root, &axes, n);
  conditions(page, result->root);
  bounds(page, result->root);
  samples(page, result->root);
  path_facts(page, result->root);
}

void psdmp_report_section_analyze(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int k = 0; k < results->count; k++) {
    psdmp_report_result *result = results->item[k];
    if (!result->root) continue;
    bool structure = strcmp(result->command, "analyze") == 0, linear = strcmp(result->command, "linearize") == 0;
    if (structure) show(page, results, result);
    if (linear) psdmp_report_show_linearized(page, results, result);
    if (structure || linear) result->used = true;
  }
}
