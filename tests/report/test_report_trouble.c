/* test_report_trouble.c: system calls fail at every place that reads results, draws plots and writes a page. A missing
 * plot is named. */
#include "whole.h"

#include <unistd.h>

#include "psdm/report.h"
#include "trouble.h"

static psdm_status try_page(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  char path[600];
  psdm_report *report = (psdm_report *)&report;
  psdm_status status =
      psdm_report_new(&(psdm_report_options){.title = "page", .gnuplot = what}, allocator, &report, error);
  if (status) return status;
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/report/%s", SOURCE_DIR, stored_results[2]);
  status = psdm_report_add(report, path, error);
  if (!status) status = psdm_report_write(report, "/dev/null", error);
  psdm_report_free(report);
  return status;
}

static void pages(void **state) {
  (void)state;
  assert_true(trouble_everywhere("page", try_page, "gnuplot", NULL) > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
