/* section_bench.c: times of generated code (psdm bench), and benchmarks except those over the number of joints
 * (section_scaling.c). */
#include <math.h>
#include <string.h>

#include "report/section_bench_charts_priv.h"

/* ---- psdm bench ---- */

enum { CHOSEN, BATCH, OTHER, LIBRARY, WAYS };
static const char *const ways[WAYS] = {"generated code", "the same in batches", "generated, other method",
                                       "library's recursion"};

static double operations(const psdmp_document_node *form) {
  return psdmp_report_number(form, "mult") + psdmp_report_number(form, "add") + psdmp_report_number(form, "div") +
         psdmp_report_number(form, "sqrt");
}

static const psdmp_document_node *functions_of(const psdmp_document_node *root) {
  const psdmp_document_node *functions = psdmp_report_node(root, "functions");
  return functions && functions->kind == PSDMP_DOCUMENT_MAP ? functions->child : NULL;
}

static void show_facts(psdmp_report_page *page, const psdmp_document_node *root) {
  const psdmp_document_node *inverse = psdmp_report_node(root, "functions.inverse");
  double ns = psdmp_report_number(inverse, "ns"), batch = psdmp_report_number(inverse, "ns_batch"),
         recursion = psdmp_report_number(root, "baseline.inverse.ns");
  psdmp_report_page_facts(page);
  if (isfinite(ns))
    psdmp_report_page_fact(page, "inverse dynamics, one state", "%s ns", psdmp_report_words_number(page, ns, 3));
  if (isfinite(batch))
    psdmp_report_page_fact(page, "inverse dynamics, in batches", "%s ns", psdmp_report_words_number(page, batch, 3));
  if (inverse)
    psdmp_report_page_fact(page, "operations of inverse dynamics", "%s",
                           psdmp_report_words_number(page, operations(inverse), 6));
  if (ns > 0 && isfinite(recursion))
    psdmp_report_page_fact(page, "times as fast as the recursion", "%s\xC3\x97",
                           psdmp_report_words_number(page, recursion / ns, 3));
  psdmp_report_page_fact(page, "worst difference from the recursions", "%s",
                         psdmp_report_words_number(page, psdmp_report_number(root, "error"), 2));
  psdmp_report_page_facts_end(page);
}

/* times of all functions in all ways measured */
static void plot_times(psdmp_report_page *page, const psdmp_document_node *root) {
  psdmp_report_groups *g = psdmp_report_page_memory(page, sizeof *g);
  if (!g) return;
  *g = (psdmp_report_groups){
      .title = psdmp_report_words(
          page, "Time per call on %.100s, best of %.6g rounds",
          psdmp_report_text(root, "processor")[0] ? psdmp_report_text(root, "processor") : "this machine",
          psdmp_report_number(root, "repeat")),
      .unit = "ns per state",
      .label = "function",
      .kinds = WAYS};
  for (int k = 0; k < WAYS; k++) g->kind[k] = ways[k];
  for (const psdmp_document_node *f = functions_of(root); f && g->groups < PSDMP_REPORT_MOST_GROUPS; f = f->next) {
    int at = g->groups++;
    g->group[at] = f->key ? f->key : "";
    g->value[CHOSEN][at] = psdmp_report_number(f, "ns");
    g->value[BATCH][at] = psdmp_report_number(f, "ns_batch");
    g->value[OTHER][at] = psdmp_report_number(f, "others.0.ns");
    g->value[LIBRARY][at] = psdmp_report_number(f, "library_ns");
  }
  psdmp_report_groups_plot(page, g);
}

static void form_row(psdmp_report_page *page, const char *name, const psdmp_document_node *form, double library) {
  static const psdmp_report_item counts[] = {{"", "method", PSDMP_REPORT_WORDS, NULL},
                                             {"", "mult", PSDMP_REPORT_COUNT, NULL},
                                             {"", "add", PSDMP_REPORT_COUNT, NULL},
                                             {"", "div", PSDMP_REPORT_COUNT, NULL},
                                             {"", "sqrt", PSDMP_REPORT_COUNT, NULL},
                                             {"", "sincos", PSDMP_REPORT_COUNT, NULL},
                                             {"", "depth", PSDMP_REPORT_COUNT, NULL},
                                             {"", "bytes", PSDMP_REPORT_COUNT, NULL},
                                             {"", "ns", 4, NULL},
                                             {"", "ns_batch", 4, NULL}};
  psdmp_report_row(page, name, form, PSDMP_REPORT_ITEMS(counts));
  psdmp_report_page_cell_number(page, library, 4);
  psdmp_report_page_cell_number(page, psdmp_report_number(form, "error"), 2);
}

static void table_of_forms(psdmp_report_page *page, const psdmp_document_node *root) {
  static const char *const header[] = {"function",      "method",      "mult",  "add",   "div",
                                       "sqrt",          "sin and cos", "depth", "bytes", "ns",
                                       "ns in batches", "library, ns", "error"};
  psdmp_report_page_table(page, header, sizeof header / sizeof *header, "ttnnnnnnnnnnn");
  for (const psdmp_document_node *f = functions_of(root); f; f = f->next) {
    form_row(page, f->key ? f->key : "", f, psdmp_report_number(f, "library_ns"));
    for (const psdmp_document_node *o = psdmp_report_first(psdmp_report_node(f, "others")); o; o = o->next)
      form_row(page, "", o, NAN);
  }
  psdmp_report_page_table_end(page);
}

static void show_bench(psdmp_report_page *page, const psdmp_report_results *results,
                       const psdmp_report_result *result) {
  psdmp_report_page_heading(page, psdmp_report_title(page, results, result, "Generated code"));
  psdmp_report_bench_place(page, result->root);
  show_facts(page, result->root);
  plot_times(page, result->root);
  psdmp_report_page_paragraph(page,
                              "Operations, nodes on the longest path, bytes of machine code, and times, the method "
                              "that psdm codegen takes first; compiled by %s.",
                              psdmp_report_text(result->root, "compiler"));
  table_of_forms(page, result->root);
}

/* ---- bench/... ---- */

static const struct {
  const char *command, *title;
} known[] = {{"bench/peers", "Beside the peers"}, {"bench/simulate", "Simulation"}, {"bench/plan", "Optimal motions"}};

static const char *bench_title(const char *command) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].command, command) == 0) return known[i].title;
  return command;
}

void psdmp_report_section_bench(psdmp_report_page *page, const psdmp_report_results *results) {
  bool begun = false;
  for (int i = 0; i < results->count; i++) {
    psdmp_report_result *result = results->item[i];
    bool tool = result->kind == PSDMP_REPORT_RESULT_JSON && strcmp(result->command, "bench") == 0;
    bool script = result->kind == PSDMP_REPORT_RESULT_JSON && strncmp(result->command, "bench/", 6) == 0 &&
                  !psdmp_report_bench_against_n(result->command);
    if (!tool && !script) continue;
    if (!begun)
      psdmp_report_page_section(
          page, "Benchmarks",
          "Times of one machine; less is better. Axes are logarithmic: equal distances are equal ratios.");
    begun = result->used = true;
    if (tool) {
      show_bench(page, results, result);
      continue;
    }
    psdmp_report_page_heading(page, bench_title(result->command));
    psdmp_report_bench_place(page, result->root);
    psdmp_report_bench_charts(page, result->root);
    psdmp_report_bench_notes(page, result->root);
  }
}
