/* parameters.h: what the files of a calibration's result share. Private to the library. */
#ifndef PSDMP_PARAMETERS_H
#define PSDMP_PARAMETERS_H

#include "base/base.h"
#include "psdm/model.h"
#include "psdm/parameters.h"

/* Directions of the parameters that give less torque than this, relative, are regrouped where parameters are
 * identified: no log can tell them, and what they change is as small as what a model may be off. */
#define PSDMP_PARAMETERS_PHYSICAL_RANK 1e-9

/* The base parameters of a robot without its file's assumptions, as they are identified. */
psdm_status psdmp_parameters_model(const psdm_robot *robot, const psdm_allocator *allocator, psdm_model **model,
                                   psdm_derive_info *info, psdm_error *error);

enum { PSDMP_PARAMETERS_MOST_COLUMNS = 128 };

/* One friction column. Widths are relative to the drive's speed and span. */
typedef struct psdmp_parameters_column {
  psdm_column_kind kind;
  double width; /* rad/s or rad, exponent or harmonic */
  int load;
} psdmp_parameters_column;

/* Memory of stop operators of one drive's columns between rows. */
typedef struct psdmp_parameters_column_state {
  double last, z[PSDMP_PARAMETERS_MOST_COLUMNS];
  bool any;
} psdmp_parameters_column_state;

/* Values of columns at one row; load: |rigid torque| of the drive. */
void psdmp_parameters_columns_at(const psdmp_parameters_column *column, int count, double x, double v, double load,
                                 psdmp_parameters_column_state *state, double *value);
/* at position 0 and a speed that has been steady for long: a stop slides by then */
double psdmp_parameters_column_steady(const psdmp_parameters_column *column, double v, double load);

enum { PSDMP_PARAMETERS_COVARIANCE_MOST = 600 }; /* rows of a covariance that a file still holds */

/* The public part and its memory. */
struct psdmp_parameters {
  psdm_parameters p;
  psdmp_base_arena arena;
};

/* NULL: out of memory. */
psdm_parameters *psdmp_parameters_new(const psdm_allocator *allocator);

/* Whether they were found for a robot of these kinematics. */
psdm_status psdmp_parameters_match(const psdm_parameters *p, const psdm_robot *robot, psdm_error *error);

/* Whether the base parameters are this robot's own, all of them: gravity in another direction makes others. */
psdm_status psdmp_parameters_complete(const psdm_parameters *p, const psdm_robot *robot, const char *file, int line,
                                      psdm_error *error);

/* Whether theta is what pi gives, where both are there and the base parameters are this robot's own. PSDM_E_PARSE:
 * one of them was changed. */
psdm_status psdmp_parameters_agree(const psdm_parameters *p, const psdm_robot *robot, const char *file, int line,
                                   psdm_error *error);

/* Rows of the covariance. */
int psdmp_parameters_wide(const psdm_parameters *p);

/* The numbers of psdm_friction in their order, and what a file calls them. */
double *psdmp_parameters_lugre_number(psdm_friction *friction, int which);
extern const char *const psdmp_parameters_lugre_key[PSDM_FRICTION_NUMBERS];

/* PSDM_E_MISSING, with the step that would show it, while a base parameter is not known. */
psdm_status psdmp_parameters_shown(const psdm_parameters *p, psdm_error *error);

#endif
