/* section_calibration_priv.h: shared by the files of the calibration's section. */
#ifndef PSDMP_REPORT_SECTION_CALIBRATION_H
#define PSDMP_REPORT_SECTION_CALIBRATION_H

#include "report/section_parts_priv.h"

/* One calibration: its JSON, or a parameter file alone; with the rows of `predict` if available. */
typedef struct psdmp_report_fit_view {
  psdmp_report_page *page;
  const psdmp_report_result *result;
  const psdmp_document_node *root;
  const psdmp_report_result *rows; /* NULL: none */
  bool file;                       /* a parameter file */
  bool steps;                      /* `route = steps` */
  /* drives move several joints or vice versa: friction is per drive, rows are per joint */
  bool drives;
  psdmp_report_axes axes;
} psdmp_report_fit_view;

/* ---- section_calibration_fit.c: figures and tables ---- */

void psdmp_report_fit_facts(const psdmp_report_fit_view *view);
void psdmp_report_fit_errors(const psdmp_report_fit_view *view);
void psdmp_report_fit_choices(const psdmp_report_fit_view *view);
void psdmp_report_fit_worth(const psdmp_report_fit_view *view);
void psdmp_report_fit_compared(const psdmp_report_fit_view *view);
void psdmp_report_fit_remarks(const psdmp_report_fit_view *view);

/* ---- section_calibration_residuals.c: one axis' measured and predicted torque ---- */

/* Arrays of one length; NAN in gaps. NULL if unknown. */
typedef struct psdmp_report_compared {
  const psdmp_report_axis *axis;
  const char *what; /* "torque", for titles */
  size_t points;
  const double *t, *measured, *predicted, *residual;
  const double *raw, *band, *heldout, *speed; /* nullable */
  double rate;                                /* Hz, NAN when unknown */
  bool shifted;                               /* the clock of the log restarted */
} psdmp_report_compared;

bool psdmp_report_compared_of(psdmp_report_page *page, const psdmp_report_result *rows,
                              const psdmp_report_timeline *line, const psdmp_report_axis *axis, int index,
                              psdmp_report_compared *out);

/* over time, with the band and the held-out part */
void psdmp_report_draw_torque(psdmp_report_page *page, const psdmp_report_compared *c);
void psdmp_report_residual_sections(psdmp_report_page *page, const psdmp_report_compared *list, int count);

/* ---- section_calibration_friction.c ---- */

enum { PSDMP_REPORT_FRICTION_TERMS = 16, PSDMP_REPORT_LUGRE = 8 };

typedef struct psdmp_report_friction_term {
  const char *text, *kind; /* with its numbers, without */
  double width, gain, sd;
  int load;
} psdmp_report_friction_term;

typedef struct psdmp_report_friction_view {
  int terms;
  psdmp_report_friction_term term[PSDMP_REPORT_FRICTION_TERMS];
  bool bristles; /* the eight numbers of LuGre instead of terms */
  double lugre[PSDMP_REPORT_LUGRE], sd[PSDMP_REPORT_LUGRE];
  /* covariance is known; else standard deviations are treated as independent */
  bool correlated;
  double covariance[PSDMP_REPORT_FRICTION_TERMS * PSDMP_REPORT_FRICTION_TERMS];
  double speed, load; /* largest tested, mean */
} psdmp_report_friction_view;

/* Torque at a steady speed, without position; *sd (nullable) its standard deviation, NAN if unknown. */
double psdmp_report_friction_steady(const psdmp_report_friction_view *friction, double speed, double *sd);

void psdmp_report_fit_friction(const psdmp_report_fit_view *view);

/* ---- section_calibration_steps.c ---- */

void psdmp_report_fit_steps(const psdmp_report_fit_view *view);     /* motors, steps' own errors */
void psdmp_report_fit_step_rows(const psdmp_report_fit_view *view); /* rows of `predict`, step by step */
/* 0: none */
size_t psdmp_report_step_points(const psdmp_report_fit_view *view, int step, int drive, psdmp_report_compared *out,
                                double **position);

#endif
