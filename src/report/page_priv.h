/* page_priv.h: the page under construction, and parts known only to the frame of the report. */
#ifndef PSDMP_REPORT_PAGE_H
#define PSDMP_REPORT_PAGE_H

#include "report/report_priv.h"

/* One entry of the table of contents. */
typedef struct psdmp_report_entry {
  const char *title;
  int section, heading; /* counted from 1; heading 0: the section itself */
  struct psdmp_report_entry *next;
} psdmp_report_entry;

/* A series as drawn: thinned, without values that cannot be drawn. */
typedef struct psdmp_report_curve {
  psdmp_report_series_kind kind;
  const char *title; /* NULL: not in the legend */
  int colour;        /* 0..7, 8: muted */
  size_t count;
  double *x, *y, *low, *high; /* depending on kind, else NULL */
} psdmp_report_curve;

/* One figure in two sizes, for wide and for narrow screens. */
enum { PSDMP_REPORT_WIDE, PSDMP_REPORT_NARROW, PSDMP_REPORT_SIZES };

typedef struct psdmp_report_figure {
  int number;  /* counted from 1 */
  size_t at;   /* position in the page's text */
  bool in_row; /* half the width */
  const char *title, *x_label, *y_label;
  bool x_log, y_log, zoom, tall;
  const char **tick;
  int ticks;
  double range[4]; /* x from, to, y from, to */
  double box;      /* width of a bar */
  psdmp_report_curve *curve;
  int curves;
  psdmp_report_curve *fine;            /* for zooming: the same series with more points; NULL: no zoom */
  const char *svg[PSDMP_REPORT_SIZES]; /* from psdmp_report_plot_distil; NULL: not drawn */
  struct psdmp_report_figure *next;
} psdmp_report_figure;

struct psdmp_report_page {
  psdmp_base_arena arena;
  psdm_status status; /* the first failure */
  char *text;         /* body so far, terminated */
  size_t used, size;
  psdmp_report_figure *figure, *last_figure;
  int figures;
  psdmp_report_entry *entry, *last_entry;
  int sections, headings; /* headings of this section */
  bool in_row, in_table, in_table_row;
  const char *numeric; /* of the open table */
  int columns, column;
};

void psdmp_report_page_free(psdmp_report_page *page);
void psdmp_report_page_end(psdmp_report_page *page);                                    /* closes the last section */
void psdmp_report_page_bytes(psdmp_report_page *page, const char *text, size_t length); /* unchanged */

/* Escaped for HTML: text and quoted attributes. Invalid UTF-8 and control characters become the replacement
 * character. */
void psdmp_report_html_text(psdmp_report_page *page, const char *text, size_t length);

/* The same, one character at a time: piece replaces the start of text[0..left). Returns how many bytes of text it
 * replaces. */
size_t psdmp_report_html_letter(const char *text, size_t left, const char **piece, size_t *length);

/* ---- plots ---- */

const char *psdmp_report_plot_kind(psdmp_report_series_kind kind); /* "line", "dots", ...: a class of report.css */

/* Indices of the values kept, in order: of each bucket the first, the lowest, the highest, the last, and one that
 * breaks the line. kept has room for most. Returns how many. */
size_t psdmp_report_plot_thin(const double *low, const double *high, size_t count, size_t most, size_t *kept);

/* Size of a drawing in pixels. */
void psdmp_report_plot_size(const psdmp_report_figure *figure, int size, int *width, int *height);

/* Copies a section's description; false when there is nothing to draw (*empty) or memory ran out. */
psdmp_report_figure *psdmp_report_plot_copy(psdmp_report_page *page, const psdmp_report_plot *plot, bool *empty);

/* gnuplot's script for one drawing. Texts are quoted. The picture goes to standard output, followed by a line: the
 * mark, figure, size, and the axes' left, right, bottom, top. */
#define PSDMP_REPORT_PLOT_MARK "psdm-picture "
void psdmp_report_plot_script(psdmp_report_page *text, const psdmp_report_figure *figure, int size);

/* gnuplot's SVG rewritten as ours: numbers, texts and the report's own classes; nothing is copied verbatim. box: the
 * plot's area (left, right, top, bottom). NULL: not understood, or out of memory. */
char *psdmp_report_plot_distil(psdmp_report_page *page, const psdmp_report_figure *figure, int size, const char *svg,
                               size_t length, const double box[4]);

/* Draws all figures. missing: room for a sentence, "" if all were drawn. */
psdm_status psdmp_report_plot_draw(psdmp_report_page *page, const char *gnuplot, psdm_progress progress,
                                   void *progress_user, char *missing, size_t size, psdm_error *error);

/* ---- the document ---- */

/* All sections, in their order; marks the results they use. */
void psdmp_report_page_compose(psdmp_report_page *page, const psdmp_report_results *results);

/* The whole page as HTML. */
void psdmp_report_page_document(psdmp_report_page *page, const char *title, const char *missing,
                                const psdmp_report_results *results, psdm_output *out);

/* ---- results ---- */

psdm_status psdmp_report_result_read(psdmp_base_arena *arena, const char *path, psdmp_report_result **result,
                                     psdm_error *error);
psdm_status psdmp_report_result_parse(psdmp_base_arena *arena, const char *path, char *text, size_t length,
                                      psdmp_report_result **result, psdm_error *error);
psdm_status psdmp_report_result_rows(psdmp_base_arena *arena, const psdm_log_table *table, psdmp_report_result **made,
                                     psdm_error *error);

/* ---- files made by CMake from report.css and report.js ---- */

extern const char psdmp_report_css[], psdmp_report_js[];

#endif
