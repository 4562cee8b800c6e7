/* section_calibration_priv.h: what the files of the calibration's section share. */
#ifndef PSDMP_SECTION_CALIBRATION_H
#define PSDMP_SECTION_CALIBRATION_H

#include "report/section_parts_priv.h"

/* One calibration: its JSON, or a parameter file alone; the rows of --predict where they are there. */
typedef struct psdmp_fit_view {
  psdmp_page *page;
  const psdmp_result *result;
  const psdmp_node *root;
  const psdmp_result *rows; /* NULL: none */
  bool file;                /* a parameter file */
  bool steps;               /* --route steps */
  bool drives;              /* drives move several joints or the other way round: friction is theirs, rows are the joints' */
  psdmp_axes axes;
} psdmp_fit_view;

/* ---- section_calibration_fit.c: figures and tables ---- */

void psdmp_fit_facts(const psdmp_fit_view *view);
void psdmp_fit_errors(const psdmp_fit_view *view);
void psdmp_fit_choices(const psdmp_fit_view *view);
void psdmp_fit_worth(const psdmp_fit_view *view);
void psdmp_fit_compared(const psdmp_fit_view *view);
void psdmp_fit_remarks(const psdmp_fit_view *view);

/* ---- section_calibration_residuals.c: one axis' measured and predicted torque ---- */

/* Arrays of one length; NAN where there is a gap. Those that are not known are NULL. */
typedef struct psdmp_compared {
  const psdmp_axis *axis;
  const char *what; /* "torque", for titles */
  size_t points;
  const double *t, *measured, *predicted, *residual;
  const double *raw, *band, *heldout, *speed; /* nullable */
  double rate;                                /* Hz, NAN when unknown */
  bool shifted;                               /* the clock of the log began anew */
} psdmp_compared;

bool psdmp_compared_of(psdmp_page *page, const psdmp_result *rows, const psdmp_timeline *line, const psdmp_axis *axis, int index, psdmp_compared *out);

void psdmp_draw_torque(psdmp_page *page, const psdmp_compared *c);    /* over time, with the band and the held-out part */
void psdmp_draw_histogram(psdmp_page *page, const psdmp_compared *c);
void psdmp_draw_spectrum(psdmp_page *page, const psdmp_compared *c);
void psdmp_draw_scatter(psdmp_page *page, const psdmp_compared *c);   /* over velocity and over predicted torque */
void psdmp_residual_table(psdmp_page *page, const psdmp_compared *list, int count);
void psdmp_residual_sections(psdmp_page *page, const psdmp_compared *list, int count);

/* ---- section_calibration_friction.c ---- */

enum { PSDMP_FRICTION_TERMS = 16, PSDMP_LUGRE = 8 };

typedef struct psdmp_friction_term {
  const char *text, *kind; /* with its numbers, without */
  double width, gain, sd;
  int load;
} psdmp_friction_term;

typedef struct psdmp_friction_view {
  int terms;
  psdmp_friction_term term[PSDMP_FRICTION_TERMS];
  bool bristles;                               /* the eight numbers of LuGre in place of terms */
  double lugre[PSDMP_LUGRE], sd[PSDMP_LUGRE];
  bool correlated;                             /* covariance is known; else standard deviations are taken as independent */
  double covariance[PSDMP_FRICTION_TERMS * PSDMP_FRICTION_TERMS];
  double speed, load;                          /* largest tested, mean */
} psdmp_friction_view;

bool psdmp_friction_read(const psdmp_fit_view *view, int axis, psdmp_friction_view *out); /* false: nothing is known */

/* Torque at a steady speed, position left out; *sd (nullable) its standard deviation, NAN when unknown. */
double psdmp_friction_steady(const psdmp_friction_view *friction, double speed, double *sd);

void psdmp_fit_friction(const psdmp_fit_view *view);

/* ---- section_calibration_steps.c ---- */

void psdmp_fit_steps(const psdmp_fit_view *view);      /* motors, steps' own errors */
void psdmp_fit_step_rows(const psdmp_fit_view *view);  /* rows of --predict, step by step */
size_t psdmp_step_points(const psdmp_fit_view *view, int step, int drive, psdmp_compared *out, double **position); /* 0: none */

#endif
