/* psdm/report.h: results of the commands as one self-contained HTML page.
 *
 *   psdm_report *report;
 *   psdm_report_new(NULL, NULL, &report, &error);
 *   psdm_report_add(report, "calibration.json", &error);     // written by psdm calibrate --json
 *   psdm_report_add(report, "rows.csv", &error);             // written by its --predict
 *   psdm_report_write(report, "report.html", &error);
 *   psdm_report_free(report);
 *
 * psdm_report_add_result takes a result in memory, psdm_report_add_rows rows. In a file a result is the JSON object
 * that a command writes (it names the command), a CSV of rows (known by its columns) or a parameter file. Sections go
 * from the robot over its model to its uses, in any order of the results; that order is kept within a section. Plots
 * are drawn by gnuplot ($PSDM_GNUPLOT, else gnuplot), a child process without a shell; without it the page has the
 * numbers and says how to install it (psdm_report_missing). Texts from results are always escaped. The page loads
 * nothing and runs only its own script, for zooming. */
#ifndef PSDM_REPORT_H
#define PSDM_REPORT_H

#include <stdbool.h>

#include "psdm/alloc.h"
#include "psdm/log.h"
#include "psdm/result.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_report psdm_report;

/* Zero-initialise for the defaults. Texts are copied. */
typedef struct psdm_report_options {
  const char *title;      /* NULL: made from the robots' names */
  const char *gnuplot;    /* program; NULL: $PSDM_GNUPLOT, else gnuplot */
  psdm_progress progress; /* while plots are drawn; after a stop the page has those drawn so far */
  void *progress_user;
  unsigned long long reserved[6];
} psdm_report_options;

PSDM_API psdm_status psdm_report_new(const psdm_report_options *options, const psdm_allocator *allocator,
                                     psdm_report **report, psdm_error *error);
PSDM_API void psdm_report_free(psdm_report *report); /* accepts NULL */

/* One result file ("-" is standard input). PSDM_E_PARSE or the like, with file and line, when it is not a result,
 * PSDM_E_ROBOT when it is a robot file; the report is then unchanged. */
PSDM_API psdm_status psdm_report_add(psdm_report *report, const char *path, psdm_error *error);

/* A result from memory, which may be freed afterwards; name is for messages. */
PSDM_API psdm_status psdm_report_add_result(psdm_report *report, const psdm_result *result, const char *name,
                                            psdm_error *error);

/* The same from text in memory, which is not changed: what would be in a file. */
PSDM_API psdm_status psdm_report_add_text(psdm_report *report, const char *text, size_t length, const char *name,
                                          psdm_error *error);

/* Rows in memory, in place of a CSV file: columns by the names that its header would have. They are copied; what is not
 * finite is an empty cell. */
PSDM_API psdm_status psdm_report_add_rows(psdm_report *report, const psdm_log_table *rows, psdm_error *error);

/* Draws and writes the page, completely or not at all. */
PSDM_API psdm_status psdm_report_write(psdm_report *report, const char *path, psdm_error *error);

/* After writing: the number of sections and of plots drawn; why plots are missing, one sentence, NULL when none is;
 * results that no section shows, index counts from 0, NULL past the end. */
PSDM_API int psdm_report_sections(const psdm_report *report);
PSDM_API int psdm_report_plots(const psdm_report *report);
PSDM_API const char *psdm_report_missing(const psdm_report *report);
PSDM_API const char *psdm_report_unused(const psdm_report *report, int index);

#ifdef __cplusplus
}
#endif
#endif
