/* section_bench_charts_priv.h: curves and bars from the benchmarks' descriptions (docs/bench.md), and bars composed by
 * other sections. */
#ifndef PSDMP_REPORT_SECTION_BENCH_CHARTS_H
#define PSDMP_REPORT_SECTION_BENCH_CHARTS_H

#include "report/section_parts_priv.h"

enum { PSDMP_REPORT_MOST_GROUPS = 64, PSDMP_REPORT_MOST_KINDS = 16, PSDMP_REPORT_MOST_POINTS = 1024 };

/* Groups of bars on a logarithmic axis: kinds are side by side in each group. Texts must live until drawn. */
typedef struct psdmp_report_groups {
  const char *title, *unit, *label; /* label: meaning of the groups */
  int groups, kinds;
  const char *group[PSDMP_REPORT_MOST_GROUPS], *kind[PSDMP_REPORT_MOST_KINDS];
  bool published[PSDMP_REPORT_MOST_KINDS];                         /* drawn muted */
  double value[PSDMP_REPORT_MOST_KINDS][PSDMP_REPORT_MOST_GROUPS]; /* NAN if absent */
} psdmp_report_groups;

/* names include multiples of the first kind */
void psdmp_report_groups_plot(psdmp_report_page *page, const psdmp_report_groups *g);

/* Sentences: where, when and how it was measured; the benchmark's remarks. */
void psdmp_report_bench_place(psdmp_report_page *page, const psdmp_document_node *root);
void psdmp_report_bench_notes(psdmp_report_page *page, const psdmp_document_node *root);

/* All curves and bars of a benchmark's result, with their numbers. */
void psdmp_report_bench_charts(psdmp_report_page *page, const psdmp_document_node *root);

/* Heading of a benchmark that shows how cost grows with the number of joints (psdmp_report_section_scaling); NULL
 * for any other. */
const char *psdmp_report_bench_against_n(const char *command);

#endif
