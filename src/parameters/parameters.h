/* parameters.h: shared by the files about a calibration's result. Private to the library. */
#ifndef PSDMP_PARAMETERS_H
#define PSDMP_PARAMETERS_H

#include "base/base.h"
#include "psdm/friction.h"
#include "psdm/model.h"
#include "psdm/parameters.h"

/* Directions of the parameters that give less torque than this, relative, are regrouped for identification: no log can
 * determine them, and their effect is as small as a model's accepted error. */
#define PSDMP_PARAMETERS_PHYSICAL_RANK 1e-9

/* The base parameters of a robot without its file's assumptions, as used for identification. */
psdm_status psdmp_parameters_model(const psdm_robot *robot, const psdm_allocator *allocator, psdm_model **model,
                                   psdm_derive_info *info, psdm_error *error);

enum { PSDMP_PARAMETERS_MOST_COLUMNS = 128 };

/* One friction column. Widths are relative to the drive's speed and span. */
typedef struct psdmp_parameters_column {
  psdm_column_kind kind;
  double width; /* rad/s or rad, exponent or harmonic */
  int load;
} psdmp_parameters_column;

/* Memory of one drive's stop operators between rows. */
typedef struct psdmp_parameters_column_state {
  double last, z[PSDMP_PARAMETERS_MOST_COLUMNS];
  bool any;
} psdmp_parameters_column_state;

/* z after a way dx, and a column's value; z: of a stop, as it stands after the way. Slopes by x, v and load. */
double psdmp_parameters_column_stop(const psdmp_parameters_column *column, double dx, double z);
double psdmp_parameters_column_value(const psdmp_parameters_column *column, double x, double v, double load, double z);
void psdmp_parameters_column_slopes(const psdmp_parameters_column *column, double x, double v, double load, double z,
                                    double slope[3]);

/* Values of columns at one row; load: |rigid torque| of the drive. */
void psdmp_parameters_columns_at(const psdmp_parameters_column *column, int count, double x, double v, double load,
                                 psdmp_parameters_column_state *state, double *value);
/* at position 0 and a speed that has been steady for long, so that stops slide */
double psdmp_parameters_column_steady(const psdmp_parameters_column *column, double v, double load);

/* ---- drag.c: friction of a whole robot, as pure functions ---- */

/* Of its joints, by their own numbers; or of its drives, as parameters have it. One thread at a time: it has scratch.
 * Arrays of joints and drives have n numbers. */
typedef struct psdmp_parameters_drag {
  const psdm_robot *robot;
  const psdm_parameters *p; /* of drives; NULL: the joints' own */
  psdm_friction_kind kind;  /* of friction */
  bool formula;             /* by friction; else by the parameters' columns */
  bool loaded;              /* depends on the rigid torque */
  int n;
  int states;              /* LuGre: n deflections; else one number for each stop, drive by drive */
  int columns;             /* of a regressor */
  psdm_friction *friction; /* (n) */
  double *gear, *room;
} psdmp_parameters_drag;

/* Memory is the arena's; robot and parameters must outlive it. PSDM_E_MISSING: a joint lacks a number of the model. */
psdm_status psdmp_parameters_drag_set(psdmp_parameters_drag *drag, const psdm_robot *robot, psdm_friction_kind kind,
                                      const psdm_parameters *p, psdmp_base_arena *arena, psdm_error *error);

/* Joints' positions, speeds or torques as the drives have them, and drives' torques as the joints have them. */
void psdmp_parameters_drag_drives(const psdmp_parameters_drag *drag, const double *joint, bool torque, double *drive);
void psdmp_parameters_drag_joints(const psdmp_parameters_drag *drag, const double *drive, double *joint);

/* z (states): after a long way at speed qd, stops released; from one row to the next. */
void psdmp_parameters_drag_begin(const psdmp_parameters_drag *drag, const double *qd, double *z);
void psdmp_parameters_drag_step(const psdmp_parameters_drag *drag, const double *q0, const double *qd0, const double *q,
                                const double *qd, double dt, double *z);

/* Joint torques; columns (n x columns) whose products with gains or numbers they are. load: joints' rigid torques, not
 * read unless loaded. */
void psdmp_parameters_drag_torque(const psdmp_parameters_drag *drag, const double *q, const double *qd,
                                  const double *load, const double *z, double *tau);
void psdmp_parameters_drag_columns(const psdmp_parameters_drag *drag, const double *q, const double *qd,
                                   const double *load, const double *z, double *columns);

/* Each drive's torque differentiated by its position, its speed, and the torque that loads it; at constant z. */
void psdmp_parameters_drag_slopes(const psdmp_parameters_drag *drag, const double *q, const double *qd,
                                  const double *load, const double *z, double *by_x, double *by_v, double *by_f);

enum { PSDMP_PARAMETERS_COVARIANCE_MOST = 600 }; /* most rows of a covariance in a file */

/* The public part and its memory. */
struct psdmp_parameters {
  psdm_parameters p;
  psdmp_base_arena arena;
};

/* NULL: out of memory. */
psdm_parameters *psdmp_parameters_new(const psdm_allocator *allocator);

/* Whether they were found for a robot with these kinematics. */
psdm_status psdmp_parameters_match(const psdm_parameters *p, const psdm_robot *robot, psdm_error *error);

/* Whether the base parameters are exactly this robot's: gravity in another direction gives others. */
psdm_status psdmp_parameters_complete(const psdm_parameters *p, const psdm_robot *robot, const char *file, int line,
                                      psdm_error *error);

/* Whether theta agrees with pi, if both are present and the base parameters are this robot's own. PSDM_E_PARSE: one of
 * them was changed. */
psdm_status psdmp_parameters_agree(const psdm_parameters *p, const psdm_robot *robot, const char *file, int line,
                                   psdm_error *error);

/* Rows of the covariance. */
int psdmp_parameters_wide(const psdm_parameters *p);

/* The numbers of psdm_friction in their order, and their names in files. */
double *psdmp_parameters_lugre_number(psdm_friction *friction, int which);
extern const char *const psdmp_parameters_lugre_key[PSDM_FRICTION_NUMBERS];

/* PSDM_E_MISSING, with the step that would determine it, while a base parameter is unknown. */
psdm_status psdmp_parameters_shown(const psdm_parameters *p, psdm_error *error);

#endif
