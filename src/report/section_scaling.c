/* section_scaling.c: benchmarks over the number of joints: derivation, evaluation, linearization. */
#include <string.h>

#include "report/section_bench_charts_priv.h"

static const struct {
  const char *command, *title;
} kinds[] = {{"bench/derive", "Derivation"}, {"bench/scaling", "Evaluation"}, {"bench/linearize", "Linearization"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *psdmp_report_bench_against_n(const char *command) {
  for (int k = 0; k < KINDS; k++)
    if (strcmp(command, kinds[k].command) == 0) return kinds[k].title;
  return NULL;
}

void psdmp_report_section_scaling(psdmp_report_page *page, const psdmp_report_results *results) {
  bool begun = false;
  for (int i = 0; i < results->count; i++) {
    psdmp_report_result *result = results->item[i];
    const char *title = result->kind == PSDMP_REPORT_RESULT_JSON ? psdmp_report_bench_against_n(result->command) : NULL;
    if (!title) continue;
    if (!begun)
      psdmp_report_page_section(page, "Cost against the number of joints",
                                "How time and operations grow with the robot, compared with the published figures of "
                                "the PSDM toolbox (Lloyd, Irani, Ahmadi 2021).");
    begun = result->used = true;
    psdmp_report_page_heading(page, title);
    psdmp_report_bench_place(page, result->root);
    psdmp_report_bench_charts(page, result->root);
    psdmp_report_bench_notes(page, result->root);
  }
}
