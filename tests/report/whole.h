/* whole.h: requirements on a page, whatever is in the results. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdio.h>
#include <string.h>

#include "report/page_priv.h"
#include "support.h"

/* results of the commands, as they write them, in tests/fuzz/corpus/report: also seeds of the fuzz target */
static const char *const stored_results[] = {
    "analyze.json", "bench.json",   "calibrate.json", "derive.json", "excite.json", "inspect.json",  "linearize.json",
    "params.json",  "payload.json", "plan.json",      "predict.csv", "reduce.json", "simulate.json", "states.csv"};
enum { STORED_RESULTS = sizeof stored_results / sizeof *stored_results };

static inline int occurrences(const char *text, const char *word) {
  int count = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
  return count;
}

/* every opened tag is closed, and nothing of a result became markup */
static inline void expect_whole(const psdmp_report_page *page) {
  static const char *const tags[] = {"section", "table", "tr", "td",      "th", "ul", "li",
                                     "dl",      "dt",    "dd", "details", "h2", "h3", "p"};
  const char *text = page->text ? page->text : "";
  for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
    char open[24], open_more[24], close[24];
    sprintf(open, "<%s>", tags[k]), sprintf(open_more, "<%s ", tags[k]), sprintf(close, "</%s>", tags[k]);
    assert_int_equal(occurrences(text, open) + occurrences(text, open_more), occurrences(text, close));
  }
  assert_null(strstr(text, "<img"));
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, ">-nan"));
  assert_null(strstr(text, ">inf"));
}

#endif
