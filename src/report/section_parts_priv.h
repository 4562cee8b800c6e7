/* section_parts_priv.h: what the sections about results share: a robot's axes and units, rows that belong to a
 * result, words, drawings. */
#ifndef PSDMP_REPORT_SECTION_PARTS_H
#define PSDMP_REPORT_SECTION_PARTS_H

#include "report/report_priv.h"

/* ---- words; all live in the page's arena, "" when there is no memory ---- */

const char *psdmp_report_words(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
/* 1.2 x 10^-5 in plain characters; a dash when not finite */
const char *psdmp_report_words_number(psdmp_report_page *page, double value, int digits);
const char *psdmp_report_words_percent(psdmp_report_page *page, double share); /* 0.0123 as "1.23 %" */
/* 6.0040(26): the sd in units of the last digits; without brackets where it is unknown */
const char *psdmp_report_words_doubt(psdmp_report_page *page, double value, double sd);
/* "1, 2, 3, …" of a list of numbers */
const char *psdmp_report_words_vector(psdmp_report_page *page, const psdmp_document_node *list, int digits);
const char *psdmp_report_words_file(const char *path); /* without its folders */

/* "Simulation of arm", with the file's name where several results are of that kind and robot, or the robot is not
 * known. */
const char *psdmp_report_title(psdmp_report_page *page, const psdmp_report_results *results,
                               const psdmp_report_result *result, const char *what);

/* A figure of a result: its words, its place, how it is written, its unit (NULL: none). */
typedef struct psdmp_report_item {
  const char *label, *path;
  int digits; /* or one of these */
  const char *unit;
} psdmp_report_item;
enum {
  PSDMP_REPORT_WORDS = 0,
  PSDMP_REPORT_PERCENT = -1,
  PSDMP_REPORT_COUNT = -2,
  PSDMP_REPORT_YES_NO = -3,
  PSDMP_REPORT_PLAIN = -4
};
#define PSDMP_REPORT_ITEMS(list) list, (int)(sizeof(list) / sizeof *(list))

/* Facts, those that are known. */
void psdmp_report_fact_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                            int count);
/* The head of a table whose first column is words, and a row of it: words and a node's figures. */
void psdmp_report_table(psdmp_report_page *page, const char *first, const psdmp_report_item *list, int count);
void psdmp_report_row(psdmp_report_page *page, const char *first, const psdmp_document_node *node,
                      const psdmp_report_item *list, int count);
void psdmp_report_cells(psdmp_report_page *page, const psdmp_document_node *node, const psdmp_report_item *list,
                        int count);
/* Rows of a table: words, and a number with its unit, those that are known. */
void psdmp_report_named_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                             int count);

/* Facts that leave themselves out when they are not known. */
void psdmp_report_fact_number(psdmp_report_page *page, const char *label, double value, int digits, const char *unit);
void psdmp_report_fact_percent(psdmp_report_page *page, const char *label, double share);
void psdmp_report_fact_text(psdmp_report_page *page, const char *label, const char *text);

/* The sentences of a list of texts as a list, under a heading when there is one; or as notes that stand out. Nothing
 * when it is empty. */
void psdmp_report_sentences(psdmp_report_page *page, const psdmp_document_node *list, const char *heading);
void psdmp_report_notes(psdmp_report_page *page, const psdmp_document_node *list);

/* A row of a table: a label and words; nothing when they are "". */
void psdmp_report_named_text(psdmp_report_page *page, const char *label, const char *text);

/* ---- axes: independent joints, q1 ... qn ---- */

enum {
  PSDMP_REPORT_POSITION,
  PSDMP_REPORT_VELOCITY,
  PSDMP_REPORT_ACCELERATION,
  PSDMP_REPORT_TORQUE,
  PSDMP_REPORT_QUANTITIES
};

typedef struct psdmp_report_axis {
  const char *name;
  bool sliding;
  /* limits, NAN where there is none; most[PSDMP_REPORT_POSITION] is none */
  double lower, upper, most[PSDMP_REPORT_QUANTITIES];
} psdmp_report_axis;

typedef struct psdmp_report_axes {
  int n;
  psdmp_report_axis *axis;
} psdmp_report_axes;

/* axes that are read; that have plots of their own */
enum { PSDMP_REPORT_MOST_AXES = 1000, PSDMP_REPORT_MOST_DRAWN = 12 };

/* From the result itself where it names its joints, else from an inspected robot of the same name; joint 1, 2, ...
 * that turn where neither knows. */
psdmp_report_axes psdmp_report_axes_of(psdmp_report_page *page, const psdmp_report_results *results,
                                       const psdmp_report_result *result);
/* joint 1, 2, ... that turn, without limits; none without memory */
psdmp_report_axes psdmp_report_axes_new(psdmp_report_page *page, int n);
/* how many have plots of their own; says so when not all */
int psdmp_report_axes_drawn(psdmp_report_page *page, const psdmp_report_axes *axes);

/* "rad/s" or "m/s" */
const char *psdmp_report_unit(const psdmp_report_axis *axis, int quantity);
/* "rad/s, m/s" where they differ */
const char *psdmp_report_unit_of_all(psdmp_report_page *page, const psdmp_report_axes *axes, int quantity);
/* "velocity"; "torque" or "force" */
const char *psdmp_report_quantity(const psdmp_report_axis *axis, int quantity);
/* "q", "qd", "qdd", "tau" */
extern const char *const psdmp_report_group[PSDMP_REPORT_QUANTITIES];

/* ---- rows ---- */

/* Finds, once for all sections, the rows that each command wrote beside its JSON: by the file's name in its
 * settings, else the only ones that fit it and that no other result names. */
void psdmp_report_rows_match(const psdmp_report_results *results);

/* NULL when absent */
const double *psdmp_report_rows_column(const psdmp_report_result *csv, const char *name);
/* column GROUP(axis + 1) */
const double *psdmp_report_rows_group(const psdmp_report_result *csv, const char *group, int axis);
/* how many there are in a row */
int psdmp_report_rows_axes(const psdmp_report_result *csv, const char *group);

/* Rows in the order of time, each unbroken run with one step: where the clock jumps, goes back or a segment ends, a
 * new run begins. */
typedef struct psdmp_report_timeline {
  size_t rows, points; /* points: rows, and a gap between runs */
  double *t;           /* (points) s; runs follow each other where clocks begin anew */
  long *row;           /* (points) -1 in a gap */
  double rate;         /* Hz, NAN when unknown */
  bool shifted;        /* clocks began anew */
} psdmp_report_timeline;

bool psdmp_report_timeline_of(psdmp_report_page *page, const psdmp_report_result *csv, psdmp_report_timeline *line);
/* (points) NAN in gaps; NULL without memory or value */
double *psdmp_report_along(psdmp_report_page *page, const psdmp_report_timeline *line, const double *value);

/* ---- drawings: a plot put together piece by piece. Arrays must live until psdmp_report_draw. ---- */

enum { PSDMP_REPORT_MOST_SERIES = 32 };

typedef struct psdmp_report_drawing {
  psdmp_report_page *page;
  psdmp_report_plot plot;
  psdmp_report_series series[PSDMP_REPORT_MOST_SERIES];
  double level[PSDMP_REPORT_MOST_SERIES];
} psdmp_report_drawing;

psdmp_report_drawing psdmp_report_drawing_of(psdmp_report_page *page, const char *title, const char *x_label,
                                             const char *y_label);
void psdmp_report_draw_xy(psdmp_report_drawing *drawing, psdmp_report_series_kind kind, const char *title,
                          const double *x, const double *y, size_t count, int colour);
void psdmp_report_draw_between(psdmp_report_drawing *drawing, psdmp_report_series_kind kind, const char *title,
                               const double *x, const double *y, const double *low, const double *high,
                               /* PSDMP_REPORT_BAND, PSDMP_REPORT_ERRORS */
                               size_t count, int colour);
/* nothing when not finite */
void psdmp_report_draw_level(psdmp_report_drawing *drawing, const char *title, double value, int colour);
void psdmp_report_draw(psdmp_report_drawing *drawing);

/* ---- motions ---- */

/* Each axis' own plots of the quantities that the rows have, limits dashed; or one plot for each quantity with all
 * axes. */
void psdmp_report_motion_by_axis(psdmp_report_page *page, const psdmp_report_result *csv,
                                 const psdmp_report_axes *axes);
void psdmp_report_motion_together(psdmp_report_page *page, const psdmp_report_result *csv,
                                  const psdmp_report_axes *axes);
/* one group, all axes */
void psdmp_report_motion_column(psdmp_report_page *page, const psdmp_report_result *csv, const psdmp_report_axes *axes,
                                const char *group, const char *title, const char *y_label);

/* Bars of how much of its limits each axis uses: peak[axis * PSDMP_REPORT_QUANTITIES + quantity] as a share, NAN
 * where there is no limit. */
void psdmp_report_limit_bars(psdmp_report_page *page, const psdmp_report_axes *axes, const double *share);
void psdmp_report_limit_shares(const psdmp_report_axes *axes, int axis, const double lower_upper[2],
                               const double peak[PSDMP_REPORT_QUANTITIES], double share[PSDMP_REPORT_QUANTITIES]);

#endif
