/* section_parts_priv.h: what the sections about results share: a robot's axes and units, rows that belong to a result, words, drawings. */
#ifndef PSDMP_SECTION_PARTS_H
#define PSDMP_SECTION_PARTS_H

#include "report/report_priv.h"

/* ---- words; all live in the page's arena, "" when there is no memory ---- */

const char *psdmp_words(psdmp_page *page, const char *format, ...) PSDM_PRINTF(2, 3);
const char *psdmp_words_number(psdmp_page *page, double value, int digits); /* 1.2 x 10^-5 in plain characters; a dash when not finite */
const char *psdmp_words_percent(psdmp_page *page, double share);            /* 0.0123 as "1.23 %" */
const char *psdmp_words_doubt(psdmp_page *page, double value, double sd);   /* 6.0040(26): the sd in units of the last digits; without brackets where it is unknown */
const char *psdmp_words_file(const char *path);                             /* without its folders */

/* "Simulation of arm", with the file's name where several results are of that kind and robot, or the robot is not known. */
const char *psdmp_title(psdmp_page *page, const psdmp_results *results, const psdmp_result *result, const char *what);

/* "true" stands there. */
bool psdmp_truth(const psdmp_node *root, const char *path);

/* Facts that leave themselves out when they are not known. */
void psdmp_fact_number(psdmp_page *page, const char *label, double value, int digits, const char *unit);
void psdmp_fact_percent(psdmp_page *page, const char *label, double share);
void psdmp_fact_text(psdmp_page *page, const char *label, const char *text);

/* The sentences of a list of texts as a list, under a heading when there is one; or as notes that stand out. Nothing when it is empty. */
void psdmp_sentences(psdmp_page *page, const psdmp_node *list, const char *heading);
void psdmp_notes(psdmp_page *page, const psdmp_node *list);

/* A row of a table: a label and a number with a unit. */
void psdmp_named_number(psdmp_page *page, const char *label, double value, int digits, const char *unit);

/* ---- axes: independent joints, q1 ... qn ---- */

enum { PSDMP_POSITION, PSDMP_VELOCITY, PSDMP_ACCELERATION, PSDMP_TORQUE, PSDMP_QUANTITIES };

typedef struct psdmp_axis {
  const char *name;
  bool sliding;
  double lower, upper, most[PSDMP_QUANTITIES]; /* limits, NAN where there is none; most[PSDMP_POSITION] is none */
} psdmp_axis;

typedef struct psdmp_axes {
  int n;
  psdmp_axis *axis;
} psdmp_axes;

enum { PSDMP_MOST_AXES = 1000, PSDMP_MOST_DRAWN = 12 }; /* axes that are read; that have plots of their own */

/* From the result itself where it names its joints, else from an inspected robot of the same name; joint 1, 2, ... that turn where neither knows. */
psdmp_axes psdmp_axes_of(psdmp_page *page, const psdmp_results *results, const psdmp_result *result);
int psdmp_axes_drawn(psdmp_page *page, const psdmp_axes *axes); /* how many have plots of their own; says so when not all */

const char *psdmp_unit(const psdmp_axis *axis, int quantity);                             /* "rad/s" or "m/s" */
const char *psdmp_unit_of_all(psdmp_page *page, const psdmp_axes *axes, int quantity);    /* "rad/s, m/s" where they differ */
const char *psdmp_quantity(const psdmp_axis *axis, int quantity);                         /* "velocity"; "torque" or "force" */
extern const char *const psdmp_group[PSDMP_QUANTITIES];                                   /* "q", "qd", "qdd", "tau" */

/* ---- rows ---- */

/* Finds, once for all sections, the rows that each command wrote beside its JSON: by the file's name in its settings, else the only ones that fit it and
 * that no other result names. */
void psdmp_rows_match(const psdmp_results *results);

const double *psdmp_rows_column(const psdmp_result *csv, const char *name);           /* NULL when absent */
const double *psdmp_rows_group(const psdmp_result *csv, const char *group, int axis); /* column GROUP(axis + 1) */
int psdmp_rows_axes(const psdmp_result *csv, const char *group);                      /* how many there are in a row */

/* Rows in the order of time, each unbroken run with one step: where the clock jumps, goes back or a segment ends, a new run begins. */
typedef struct psdmp_timeline {
  size_t rows, points; /* points: rows, and a gap between runs */
  double *t;           /* (points) s; runs follow each other where clocks begin anew */
  long *row;           /* (points) -1 in a gap */
  double rate;         /* Hz, NAN when unknown */
  bool shifted;        /* clocks began anew */
} psdmp_timeline;

bool psdmp_timeline_of(psdmp_page *page, const psdmp_result *csv, psdmp_timeline *line);
double *psdmp_along(psdmp_page *page, const psdmp_timeline *line, const double *value); /* (points) NAN in gaps; NULL without memory or value */

/* ---- drawings: a plot put together piece by piece. Arrays must live until psdmp_draw. ---- */

enum { PSDMP_MOST_SERIES = 24 };

typedef struct psdmp_drawing {
  psdmp_page *page;
  psdmp_plot plot;
  psdmp_series series[PSDMP_MOST_SERIES];
  double level[PSDMP_MOST_SERIES];
} psdmp_drawing;

psdmp_drawing psdmp_drawing_of(psdmp_page *page, const char *title, const char *x_label, const char *y_label);
void psdmp_draw_xy(psdmp_drawing *drawing, psdmp_series_kind kind, const char *title, const double *x, const double *y, size_t count, int colour);
void psdmp_draw_between(psdmp_drawing *drawing, psdmp_series_kind kind, const char *title, const double *x, const double *y, const double *low, const double *high,
                        size_t count, int colour);                                                  /* PSDMP_BAND, PSDMP_ERRORS */
void psdmp_draw_level(psdmp_drawing *drawing, const char *title, double value, int colour); /* nothing when not finite */
void psdmp_draw(psdmp_drawing *drawing);

/* ---- motions ---- */

/* Each axis' own plots of the quantities that the rows have, limits dashed; or one plot for each quantity with all axes. */
void psdmp_motion_by_axis(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes);
void psdmp_motion_together(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes);
void psdmp_motion_column(psdmp_page *page, const psdmp_result *csv, const psdmp_axes *axes, const char *group, const char *title, const char *y_label); /* one group, all axes */

/* Bars of how much of its limits each axis uses: peak[axis * PSDMP_QUANTITIES + quantity] as a share, NAN where there is no limit. */
void psdmp_limit_bars(psdmp_page *page, const psdmp_axes *axes, const double *share);
void psdmp_limit_shares(const psdmp_axes *axes, int axis, const double lower_upper[2], const double peak[PSDMP_QUANTITIES], double share[PSDMP_QUANTITIES]);

#endif
