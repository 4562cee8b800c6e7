/* section_parts_priv.h: shared by the sections about results: a robot's axes and units, rows that belong to a result,
 * texts, drawings. */
#ifndef PSDMP_REPORT_SECTION_PARTS_H
#define PSDMP_REPORT_SECTION_PARTS_H

#include "report/report_priv.h"

/* ---- texts; all live in the page's arena, "" when out of memory ---- */

const char *psdmp_report_words(psdmp_report_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
/* 1.2 x 10^-5 in plain characters; a dash when not finite */
const char *psdmp_report_words_number(psdmp_report_page *page, double value, int digits);
const char *psdmp_report_words_percent(psdmp_report_page *page, double share); /* 0.0123 as "1.23 %" */
/* 6.0040(26): the sd in units of the last digits; without brackets if it is unknown */
const char *psdmp_report_words_doubt(psdmp_report_page *page, double value, double sd);
/* "1, 2, 3, …" of a list of numbers */
const char *psdmp_report_words_vector(psdmp_report_page *page, const psdmp_document_node *list, int digits);
const char *psdmp_report_words_file(const char *path); /* without its folders */

/* "Simulation of arm", with the file's name if there are several such results for that robot, or the robot is
 * unknown. */
const char *psdmp_report_title(psdmp_report_page *page, const psdmp_report_results *results,
                               const psdmp_report_result *result, const char *what);

/* A figure of a result: its label, path, format, unit (NULL: none). */
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

/* The known ones, as facts. */
void psdmp_report_fact_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                            int count);
/* The head of a table whose first column is text, and a row of it: text and a node's figures. */
void psdmp_report_table(psdmp_report_page *page, const char *first, const psdmp_report_item *list, int count);
void psdmp_report_row(psdmp_report_page *page, const char *first, const psdmp_document_node *node,
                      const psdmp_report_item *list, int count);
void psdmp_report_cells(psdmp_report_page *page, const psdmp_document_node *node, const psdmp_report_item *list,
                        int count);
/* The known ones, as rows of a table: label, and a number with its unit. */
void psdmp_report_named_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                             int count);

/* Facts, omitted if unknown. */
void psdmp_report_fact_number(psdmp_report_page *page, const char *label, double value, int digits, const char *unit);
void psdmp_report_fact_percent(psdmp_report_page *page, const char *label, double share);

/* The sentences of a list of texts as a list, under a heading if given; or as highlighted notes. Nothing if empty. */
void psdmp_report_sentences(psdmp_report_page *page, const psdmp_document_node *list, const char *heading);
void psdmp_report_notes(psdmp_report_page *page, const psdmp_document_node *list);

/* A row of a table: a label and a text; nothing if that is "". */
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
  /* limits, NAN if there is none; most[PSDMP_REPORT_POSITION] is unused */
  double lower, upper, most[PSDMP_REPORT_QUANTITIES];
} psdmp_report_axis;

typedef struct psdmp_report_axes {
  int n;
  psdmp_report_axis *axis;
} psdmp_report_axes;

/* most axes read; most with their own plots */
enum { PSDMP_REPORT_MOST_AXES = 1000, PSDMP_REPORT_MOST_DRAWN = 12 };

/* From the result itself if it names its joints, else from an inspected robot of the same name; else joint 1, 2, ...,
 * revolute. */
psdmp_report_axes psdmp_report_axes_of(psdmp_report_page *page, const psdmp_report_results *results,
                                       const psdmp_report_result *result);
/* joint 1, 2, ..., revolute, without limits; none when out of memory */
psdmp_report_axes psdmp_report_axes_new(psdmp_report_page *page, int n);
/* number of axes with their own plots; notes on the page if not all */
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

/* Finds, once for all sections, the rows that each command wrote beside its JSON: by the file name in its settings,
 * else the only fitting ones that no other result names. */
void psdmp_report_rows_match(const psdmp_report_results *results);

/* NULL when absent */
const double *psdmp_report_rows_column(const psdmp_report_result *csv, const char *name);
/* column GROUP(axis + 1) */
const double *psdmp_report_rows_group(const psdmp_report_result *csv, const char *group, int axis);
/* number of axes in the rows */
int psdmp_report_rows_axes(const psdmp_report_result *csv, const char *group);

/* Rows ordered by time, each continuous run with one step: where the clock jumps, runs backwards or a segment ends, a
 * new run starts. */
typedef struct psdmp_report_timeline {
  size_t rows, points; /* points: rows, and a gap between runs */
  double *t;           /* (points) s; runs follow each other where clocks restart */
  long *row;           /* (points) -1 in a gap */
  double rate;         /* Hz, NAN when unknown */
  bool shifted;        /* clocks restarted */
} psdmp_report_timeline;

bool psdmp_report_timeline_of(psdmp_report_page *page, const psdmp_report_result *csv, psdmp_report_timeline *line);
/* (points) NAN in gaps; NULL without memory or value */
double *psdmp_report_along(psdmp_report_page *page, const psdmp_report_timeline *line, const double *value);

/* ---- drawings: a plot composed piece by piece. Arrays must live until psdmp_report_draw. ---- */

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

/* Each axis' own plots of the quantities in the rows, limits dashed; or one plot for each quantity with all axes. */
void psdmp_report_motion_by_axis(psdmp_report_page *page, const psdmp_report_result *csv,
                                 const psdmp_report_axes *axes);
void psdmp_report_motion_together(psdmp_report_page *page, const psdmp_report_result *csv,
                                  const psdmp_report_axes *axes);
/* one group, all axes */
void psdmp_report_motion_column(psdmp_report_page *page, const psdmp_report_result *csv, const psdmp_report_axes *axes,
                                const char *group, const char *title, const char *y_label);

/* Bars of the used share of limits of each axis: peak[axis * PSDMP_REPORT_QUANTITIES + quantity] as a share, NAN
 * without a limit. */
void psdmp_report_limit_bars(psdmp_report_page *page, const psdmp_report_axes *axes, const double *share);
void psdmp_report_limit_shares(const psdmp_report_axes *axes, int axis, const double lower_upper[2],
                               const double peak[PSDMP_REPORT_QUANTITIES], double share[PSDMP_REPORT_QUANTITIES]);

#endif
