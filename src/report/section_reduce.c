/* section_reduce.c: what psdm reduce left out, its accuracy, and the trade-off (Lloyd, Irani, Ahmadi 2021, Figures 2
 * and 7, Table 3). */
#include <math.h>
#include <string.h>

#include "report/section_parts_priv.h"

enum { MOST_BINS = 256, MOST_SIZES = 64, MOST_PROFILES = 4 };

static double operations(const psdmp_document_node *root, const char *form) {
  return psdmp_report_number(root, "%s.mult", form) + psdmp_report_number(root, "%s.add", form) +
         psdmp_report_number(root, "%s.div", form);
}

static void count_cell(psdmp_report_page *page, double count) {
  psdmp_report_page_cell(page, "%s", psdmp_report_words_number(page, count, 9));
}

static const char *counted(psdmp_report_page *page, const psdmp_document_node *root, const char *path) {
  return psdmp_report_words_number(page, psdmp_report_number(root, "%s", path), 9);
}

static const char *share(psdmp_report_page *page, double part) {
  return psdmp_report_words(page, "%s\xC2\xA0%%", psdmp_report_words_number(page, 100 * part, 3));
}

/* ---- the answer ---- */

static void show_facts(psdmp_report_page *page, const psdmp_document_node *root) {
  bool reached = psdmp_report_truth(root, "reached");
  psdmp_report_page_facts(page);
  psdmp_report_page_fact(page, "functions kept", "%s of %s", counted(page, root, "p"), counted(page, root, "p_before"));
  psdmp_report_page_fact(page, "base parameters kept", "%s of %s", counted(page, root, "l"),
                         counted(page, root, "l_before"));
  psdmp_report_page_fact(
      page,
      psdmp_report_words(page, "error in %s of the states%s", share(page, psdmp_report_number(root, "confidence")),
                         reached ? "" : ", more than requested"),
      "%s", share(page, psdmp_report_number(root, "error")));
  psdmp_report_page_fact(page, "operations", "%s", psdmp_report_words_number(page, operations(root, "reduced"), 9));
  psdmp_report_page_facts_end(page);
  bool wins = strcmp(psdmp_report_text(root, "wins"), "reduced") == 0;
  psdmp_report_page_paragraph(
      page,
      "The %s profile, requested error %s, verified at %s states: half of them are within %s, 99.9 %% within %s. %s",
      psdmp_report_text(root, "profile"), share(page, psdmp_report_number(root, "error_wanted")),
      counted(page, root, "samples"), share(page, psdmp_report_number(root, "error_half")),
      share(page, psdmp_report_number(root, "error_999")),
      wins ? "The reduced model has fewer operations than the exact recursion."
           : "The exact recursion has fewer operations, and no error.");
}

static void table_of_operations(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const form[] = {"full", "reduced", "recursion"}, *const name[] = {"full closed form", "reduced",
                                                                                       "exact recursion"};
  static const char *const header[] = {"", "mult", "add", "div", "in all", "of the full closed form"};
  static const psdmp_report_item counts[] = {{"", "mult", PSDMP_REPORT_COUNT, NULL},
                                             {"", "add", PSDMP_REPORT_COUNT, NULL},
                                             {"", "div", PSDMP_REPORT_COUNT, NULL}};
  psdmp_report_page_table(page, header, 6, "tnnnnn");
  for (int k = 0; k < 3; k++) {
    psdmp_report_row(page, name[k], psdmp_report_node(root, "%s", form[k]), PSDMP_REPORT_ITEMS(counts));
    count_cell(page, operations(root, form[k]));
    psdmp_report_page_cell(page, "%s", share(page, operations(root, form[k]) / operations(root, "full")));
  }
  psdmp_report_page_table_end(page);
}

/* ---- figure 2 ---- */

/* a histogram as steps that end on the axis: x are edges, one more than counts */
static size_t outline(int edges, double *count, int counts) {
  size_t points = (size_t)(counts < edges - 1 ? counts : edges - 1);
  if (edges < 2 || !points) return 0;
  count[points] = 0;
  return points + 1;
}

static void plot_contributions(psdmp_report_page *page, const psdmp_document_node *figure) {
  static const char *const which[] = {"median", "maximum"};
  double edge[MOST_BINS + 1], count[2][MOST_BINS + 1];
  int edges = psdmp_report_numbers(psdmp_report_node(figure, "contributions.log10_edges"), edge, MOST_BINS + 1);
  psdmp_report_drawing d = psdmp_report_drawing_of(
      page,
      psdmp_report_words(page, "Contributions of the functions, %.40s profile", psdmp_report_text(figure, "profile")),
      "log10 of the share of the torque", "functions");
  for (int k = 0; k < 2; k++) {
    int counts = psdmp_report_numbers(psdmp_report_node(figure, "contributions.%s", which[k]), count[k], MOST_BINS);
    psdmp_report_draw_xy(&d, PSDMP_REPORT_STEPS, which[k], edge, count[k], outline(edges, count[k], counts), k);
  }
  psdmp_report_draw(&d);
}

/* ---- figure 7 ---- */

/* one profile's trade-off */
typedef struct tradeoff {
  const char *profile;
  size_t count;
  double less[MOST_SIZES], digits[2][MOST_SIZES], operations[MOST_SIZES];
} tradeoff;

static void read_tradeoff(const psdmp_document_node *figure, tradeoff *t) {
  const psdmp_document_node *s = psdmp_report_first(psdmp_report_node(figure, "sizes"));
  *t = (tradeoff){.profile = psdmp_report_text(figure, "profile")};
  for (; s && t->count < MOST_SIZES; s = s->next) {
    t->less[t->count] = psdmp_report_number(s, "left_out_percent");
    t->digits[0][t->count] = psdmp_report_number(s, "digits_95");
    t->digits[1][t->count] = psdmp_report_number(s, "digits_999");
    t->operations[t->count++] = psdmp_report_number(s, "operations");
  }
}

/* the chosen model, as a point of the plots */
typedef struct choice {
  const char *title;
  double less, digits, operations;
} choice;

static choice choice_of(psdmp_report_page *page, const psdmp_document_node *root) {
  return (choice){.title = psdmp_report_words(page, "chosen: %.40s profile, %s", psdmp_report_text(root, "profile"),
                                              share(page, psdmp_report_number(root, "confidence"))),
                  .less = 100 * (1 - psdmp_report_number(root, "p") / psdmp_report_number(root, "p_before")),
                  .digits = psdmp_report_number(root, "digits"),
                  .operations = operations(root, "reduced")};
}

/* the full model is exact to rounding; its point would flatten all others */
static const double most_digits = 8;

static void plot_digits(psdmp_report_page *page, tradeoff *t, int profiles, const choice *chosen) {
  static const char *const confidence[] = {"95 %", "99.9 %"};
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Accuracy against size", "functions left out [%]", "correct digits");
  for (int k = 0; k < profiles; k++)
    for (int c = 0; c < 2; c++) {
      for (size_t i = 0; i < t[k].count; i++)
        if (!(t[k].digits[c][i] <= most_digits)) t[k].digits[c][i] = NAN;
      psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, psdmp_report_words(page, "%.40s, %s", t[k].profile, confidence[c]),
                           t[k].less, t[k].digits[c], t[k].count, 2 * k + c);
    }
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, chosen->title, &chosen->less, &chosen->digits, 1, 7);
  psdmp_report_draw(&d);
}

static void plot_operations(psdmp_report_page *page, const psdmp_document_node *root, const tradeoff *t, int profiles,
                            const choice *chosen) {
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Operations against size", "functions left out [%]", "multiplications + additions");
  for (int k = 0; k < profiles; k++)
    psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, t[k].profile, t[k].less, t[k].operations, t[k].count, 2 * k);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, chosen->title, &chosen->less, &chosen->operations, 1, 7);
  psdmp_report_draw_level(&d, "full closed form", operations(root, "full"), -1);
  psdmp_report_draw_level(&d, "exact recursion", operations(root, "recursion"), 5);
  psdmp_report_draw(&d);
}

static void table_of_sizes(psdmp_report_page *page, const psdmp_document_node *figures) {
  static const psdmp_report_item columns[] = {{"functions", "functions", PSDMP_REPORT_COUNT, NULL},
                                              {"left out, %", "left_out_percent", PSDMP_REPORT_PLAIN, NULL},
                                              {"error, 95 %", "error_95", PSDMP_REPORT_PLAIN, NULL},
                                              {"error, 99.9 %", "error_999", PSDMP_REPORT_PLAIN, NULL},
                                              {"operations", "operations", PSDMP_REPORT_COUNT, NULL}};
  psdmp_report_page_raw(page, "<details><summary>Numbers</summary>\n");
  psdmp_report_table(page, "profile", PSDMP_REPORT_ITEMS(columns));
  for (const psdmp_document_node *f = figures->child; f; f = f->next)
    for (const psdmp_document_node *s = psdmp_report_first(psdmp_report_node(f, "sizes")); s; s = s->next)
      psdmp_report_row(page, psdmp_report_text(f, "profile"), s, PSDMP_REPORT_ITEMS(columns));
  psdmp_report_page_table_end(page);
  psdmp_report_page_raw(page, "</details>\n");
}

static void show_figures(psdmp_report_page *page, const psdmp_document_node *root) {
  const psdmp_document_node *figures = psdmp_report_node(root, "figures");
  tradeoff *t = psdmp_report_page_memory(page, MOST_PROFILES * sizeof *t);
  int profiles = 0;
  if (!t) return;
  if (!psdmp_report_first(figures)) {
    psdmp_report_page_paragraph(
        page, "psdm reduce --figures --json has the functions' contributions and the trade-off, too.");
    return;
  }
  psdmp_report_page_paragraph(page, "How many functions contribute how much to the torque, by their median and their "
                                    "largest share over random states (as Figure 2 of the PSDM paper):");
  psdmp_report_page_row_of_plots(page);
  for (const psdmp_document_node *f = figures->child; f; f = f->next) plot_contributions(page, f);
  psdmp_report_page_row_of_plots_end(page);
  for (const psdmp_document_node *f = figures->child; f && profiles < MOST_PROFILES; f = f->next)
    read_tradeoff(f, &t[profiles++]);
  choice chosen = choice_of(page, root);
  psdmp_report_page_paragraph(
      page, "What leaving functions out costs and brings (as Figure 7 of the PSDM paper): digits that are right in 95 "
            "%% and 99.9 %% of the states, and operations of the generated code. "
            "The chosen model also leaves out single entries, which the curves do not.");
  psdmp_report_page_row_of_plots(page);
  plot_digits(page, t, profiles, &chosen);
  plot_operations(page, root, t, profiles, &chosen);
  psdmp_report_page_row_of_plots_end(page);
  table_of_sizes(page, figures);
}

/* ---- table 3 ---- */

static void table_of_digits(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"requested error", "profile",    "confidence",
                                       "functions",       "operations", "of the full closed form",
                                       "of the recursion"};
  const psdmp_document_node *c = psdmp_report_first(psdmp_report_node(root, "table"));
  if (!c) return;
  psdmp_report_page_paragraph(
      page, "The smallest models for two and three digits (as Table 3 of the PSDM paper, in operations):");
  psdmp_report_page_table(page, header, 7, "nttnnnn");
  for (; c; c = c->next) {
    double count = psdmp_report_number(c, "operations");
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", share(page, psdmp_report_number(c, "error_wanted")));
    psdmp_report_page_cell(page, "%s", psdmp_report_text(c, "profile"));
    psdmp_report_page_cell(page, "%s", share(page, psdmp_report_number(c, "confidence")));
    count_cell(page, psdmp_report_number(c, "functions"));
    count_cell(page, count);
    psdmp_report_page_cell(page, "%s", share(page, count / operations(root, "full")));
    psdmp_report_page_cell(page, "%s", share(page, count / operations(root, "recursion")));
  }
  psdmp_report_page_table_end(page);
}

void psdmp_report_section_reduce(psdmp_report_page *page, const psdmp_report_results *results) {
  bool begun = false;
  for (int i = 0; i < results->count; i++) {
    psdmp_report_result *result = results->item[i];
    if (result->kind != PSDMP_REPORT_RESULT_JSON || strcmp(result->command, "reduce") != 0) continue;
    if (!begun)
      psdmp_report_page_section(page, "Smaller models",
                                "What can be left out of the model at a stated error, and what that is worth.");
    begun = result->used = true;
    bool forward = psdmp_report_truth(result->root, "forward");
    psdmp_report_page_heading(
        page, psdmp_report_title(page, results, result, forward ? "Reduced forward dynamics" : "Reduced model"));
    show_facts(page, result->root);
    table_of_operations(page, result->root);
    show_figures(page, result->root);
    table_of_digits(page, result->root);
  }
}
