/* report_priv.h: a page, its sections, its plots.
 *
 * A section reads one kind of result (or several that belong together) and writes HTML through the page:
 * psdmp_report_page_text escapes, psdmp_report_page_raw is for the report's own markup only. Plots are described by
 * data; psdmp_report_page_plot inserts a figure, drawn by gnuplot when the page is written. */
#ifndef PSDMP_REPORT_H
#define PSDMP_REPORT_H

#include "document/document.h"
#include "psdm/output.h"
#include "psdm/report.h"

/* ---- results ---- */

/* One result. JSON and YAML are a tree; CSV rows are columns of numbers. */
typedef enum psdmp_report_result_kind {
  PSDMP_REPORT_RESULT_JSON,
  PSDMP_REPORT_RESULT_CSV,
  PSDMP_REPORT_RESULT_YAML
} psdmp_report_result_kind;

typedef struct psdmp_report_result {
  psdmp_report_result_kind kind;
  const char *path; /* as given, for messages */
  /* JSON: its "command"; YAML: "parameters"; CSV by its columns: "predict" (predicted1), "steps" (drive, measured,
   * predicted; step: 0 to 3), "states" (t, q1, T, U: psdm simulate), "trajectory" (t, q1) */
  const char *command;
  const char *robot;         /* "name" or "robot", "" when unknown */
  const char *fingerprint;   /* of its kinematics, "" when unknown */
  psdmp_document_node *root; /* JSON, YAML */
  int columns;               /* CSV */
  const char *const *column;
  size_t rows;
  double *const *value;                /* CSV: value[column][row]; NAN for an empty cell */
  bool used;                           /* some section has shown it */
  struct psdmp_report_result *matched; /* JSON: the rows found by psdmp_report_rows_match; NULL: none */
  bool taken;                          /* CSV: some JSON result has it */
} psdmp_report_result;

/* Whether two results are of one robot: the same name and, if both have it, the same kinematics. */
bool psdmp_report_result_same_robot(const psdmp_report_result *a, const psdmp_report_result *b);

/* Tolerant tree access. path, a format, gives "a.b.2.c" (names and indices from 0). Numbers are NAN if absent, null, or
 * not a number; texts are "" if absent. */
const psdmp_document_node *psdmp_report_node(const psdmp_document_node *from, const char *path, ...) PSDM_PRINTF(2, 3);
double psdmp_report_number(const psdmp_document_node *from, const char *path, ...) PSDM_PRINTF(2, 3);
const char *psdmp_report_text(const psdmp_document_node *from, const char *path, ...) PSDM_PRINTF(2, 3);
bool psdmp_report_truth(const psdmp_document_node *from, const char *path, ...)
    PSDM_PRINTF(2, 3); /* whether it is true */
double psdmp_report_own_number(const psdmp_document_node *node);
const char *psdmp_report_own_text(const psdmp_document_node *node);
/* the first entry of a list; NULL: not a list, or empty */
const psdmp_document_node *psdmp_report_first(const psdmp_document_node *list);
/* numbers of a list; returns how many */
int psdmp_report_numbers(const psdmp_document_node *list, double *value, int most);
int psdmp_report_result_column(const psdmp_report_result *csv, const char *name); /* -1 when absent */

/* ---- plots ---- */

typedef enum psdmp_report_series_kind {
  PSDMP_REPORT_LINE,
  PSDMP_REPORT_DOTS,
  PSDMP_REPORT_STEPS,  /* y over x */
  PSDMP_REPORT_BAND,   /* low..high over x, filled lightly */
  PSDMP_REPORT_BARS,   /* y over x: boxes from 0 (or from the axis' end when logarithmic) */
  PSDMP_REPORT_ERRORS, /* dots with bars from low to high */
  PSDMP_REPORT_LEVEL   /* a dashed horizontal line at y[0]: a limit */
} psdmp_report_series_kind;

typedef struct psdmp_report_series {
  psdmp_report_series_kind kind;
  const char *title;                /* in the legend; NULL: not there */
  const double *x, *y, *low, *high; /* depending on kind; NAN breaks a line. Copied when the plot is added. */
  size_t count;
  int colour; /* 0..7 of the palette, -1: muted */
} psdmp_report_series;

typedef struct psdmp_report_plot {
  const char *title, *x_label, *y_label; /* every plot has all three */
  bool x_log, y_log;
  bool zoom;               /* wheel, drag and pinch zoom, with the axes */
  bool tall;               /* taller: many bars */
  const char *const *tick; /* names at x = 0, 1, ... instead of numbers; NULL: numbers */
  int ticks;
  const psdmp_report_series *series;
  int count;
} psdmp_report_plot;

/* ---- the page ---- */

typedef struct psdmp_report_page psdmp_report_page;

/* The page's policy refuses style attributes, event handlers and scripts: raw markup uses the classes of report.css
 * ("muted", "good", "bad", "note"). */

/* starts a section (h2), ends the previous one; lead: a sentence, NULL */
void psdmp_report_page_section(psdmp_report_page *page, const char *title, const char *lead);
void psdmp_report_page_heading(psdmp_report_page *page, const char *title); /* h3 inside a section */
void psdmp_report_page_raw(psdmp_report_page *page, const char *html);
/* html unescaped, up to 1023 bytes */
void psdmp_report_page_markup(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
void psdmp_report_page_text(psdmp_report_page *page, const char *text); /* escaped */
/* text, escaped, between a tag and its end */
void psdmp_report_page_element(psdmp_report_page *page, const char *tag, const char *text, const char *end);
/* the same of a text of a result: names in backquotes are code */
void psdmp_report_page_sentence(psdmp_report_page *page, const char *tag, const char *text, const char *end);
/* escaped after formatting */
void psdmp_report_page_print(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
void psdmp_report_page_paragraph(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
/* for readers: 1.23e-05 as 1.23 x 10^-5, a dash when not finite */
void psdmp_report_page_number(psdmp_report_page *page, double value, int digits);

/* A table that scrolls inside itself on a phone: header cells, then rows of cells; numeric columns are
 * right-aligned. */
/* numeric: a letter per column, 'n' or 't' */
void psdmp_report_page_table(psdmp_report_page *page, const char *const *header, int columns, const char *numeric);
void psdmp_report_page_row(psdmp_report_page *page);
void psdmp_report_page_cell(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
void psdmp_report_page_cell_number(psdmp_report_page *page, double value, int digits);
void psdmp_report_page_cell_begin(psdmp_report_page *page); /* a cell with its own markup, and its end */
void psdmp_report_page_cell_end(psdmp_report_page *page);
void psdmp_report_page_table_end(psdmp_report_page *page);

/* Large figures at the top of a section: a grid of value and label. */
void psdmp_report_page_facts(psdmp_report_page *page);
void psdmp_report_page_fact(psdmp_report_page *page, const char *label, const char *format, ...) PSDM_PRINTF(3, 4);
void psdmp_report_page_facts_end(psdmp_report_page *page);

/* Several plots side by side if there is room. A plot outside a row has the full width. */
void psdmp_report_page_row_of_plots(psdmp_report_page *page);
void psdmp_report_page_row_of_plots_end(psdmp_report_page *page);
void psdmp_report_page_plot(psdmp_report_page *page, const psdmp_report_plot *plot);

/* freed with the report, for computations of a section; NULL when out of memory, which the page remembers */
void *psdmp_report_page_memory(psdmp_report_page *page, size_t bytes);

/* ---- sections: each shows the results that it knows, if any, and marks those it used ---- */

typedef struct psdmp_report_results {
  psdmp_report_result **item;
  int count;
} psdmp_report_results;

typedef void psdmp_report_section(psdmp_report_page *page, const psdmp_report_results *results);

psdmp_report_section psdmp_report_section_robot; /* inspect: sketch at a pose, joints, limits */
/* derive, params: facts, classes, base parameters with formulas, values, error bars */
psdmp_report_section psdmp_report_section_model;
/* calibrate, predict rows, parameter files: torques, residuals, spectra, friction, steps */
psdmp_report_section psdmp_report_section_calibration;
psdmp_report_section psdmp_report_section_simulate; /* motion, torques, energy */
psdmp_report_section psdmp_report_section_analyze;  /* structure, bounds; linearize's modes */
psdmp_report_section psdmp_report_section_reduce;   /* figures 2 and 7 of the PSDM paper */
psdmp_report_section psdmp_report_section_scaling;  /* its figures 4 to 6: times against n, from bench/ */
psdmp_report_section psdmp_report_section_bench;    /* psdm bench, and bars compared with the peers from bench/peers */

/* A section for one result of a command. */
typedef void psdmp_report_show(psdmp_report_page *page, const psdmp_report_results *results,
                               psdmp_report_result *result);

psdmp_report_show psdmp_report_show_payload, psdmp_report_show_plan, psdmp_report_show_linearized;
psdmp_report_show psdmp_report_show_excite; /* trajectory within its limits, quality figures */

#endif
