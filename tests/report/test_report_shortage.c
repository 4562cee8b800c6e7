/* test_report_shortage.c: memory runs out at every place that reads results and composes a page. */
#include "whole.h"

#include "psdm/report.h"
#include "shortage.h"

static psdm_status try_page(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_report *report = (psdm_report *)&report;
  psdm_status status =
      psdm_report_new(&(psdm_report_options){.title = what, .gnuplot = "/nowhere/gnuplot"}, allocator, &report, error);
  if (status) {
    assert_null(report);
    return status;
  }
  for (int k = 0; k < STORED_RESULTS && !status; k++) {
    char path[600];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/report/%s", SOURCE_DIR, stored_results[k]);
    status = psdm_report_add(report, path, error);
  }
  if (!status) status = psdm_report_write(report, "/dev/null", error);
  psdm_report_free(report);
  return status;
}

static void pages(void **state) {
  (void)state;
  shortage_everywhere("page", try_page, "title");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
