/* experiment_priv.h: shared by the motor, gravity and friction experiments. Private to the library.
 *
 *   experiment.c            the entry, and the resulting motion
 *   experiment_track.c      rows of a motion, and checks of the pieces between them for obstacles and torque limits
 *   experiment_move.c       moves from one pose to another
 *   experiment_motor.c, experiment_gravity.c, experiment_friction.c */
#ifndef PSDMP_EXCITE_EXPERIMENT_PRIV_H
#define PSDMP_EXCITE_EXPERIMENT_PRIV_H

#include "excite/excite_priv.h"

/* Why a piece of a motion, or a pose, is rejected. */
typedef enum psdmp_excite_obstacle {
  PSDMP_EXCITE_FREE,
  PSDMP_EXCITE_TOUCHES,
  PSDMP_EXCITE_OVERLOADED
} psdmp_excite_obstacle;

/* A motion under construction. Rows can be removed again: remember `rows` and `parts`, and restore them. */
typedef struct psdmp_excite_track {
  const psdm_robot *robot;
  const psdm_excite_options *options;
  const psdmp_excite_limits *limits;
  psdm_error *error;
  psdmp_base_arena scratch; /* until the motion is made */
  bool no_memory;           /* out of memory, or */
  bool too_long;            /* longer than six hours: both end the planning */
  int n;
  uint64_t random;

  /* rows of q, qd, qdd (n each) at times t; quintic pieces between them */
  long rows, row_room;
  double *t, *x[3];
  int parts;
  long part_room;
  psdm_excite_part *part;

  /* checks */
  const psdm_robot *loaded; /* the robot with the known mass, if torques are limited; NULL: without */
  psdm_robot *loaded_owned;
  psdm_work *work;
  double *gap;     /* (gaps) */
  double *reach;   /* (n) m or rad: most that any point moves per unit of each joint */
  double *control; /* (6 n) a piece as a Bezier curve */
  double *state;   /* (5 n) q, qd, qdd, tau, friction inside a piece */
} psdmp_excite_track;

/* Uniform in [0, 1). */
double psdmp_excite_track_random(psdmp_excite_track *track);

/* A pose inside the limits. */
void psdmp_excite_track_random_pose(psdmp_excite_track *track, double *q);

/* Memory until the motion is made; NULL sets no_memory. */
double *psdmp_excite_track_numbers(psdmp_excite_track *track, size_t count);

/* Adds a row `seconds` after the last one (the first at 0). qd, qdd NULL: zero. */
void psdmp_excite_track_add(psdmp_excite_track *track, double seconds, const double *q, const double *qd,
                            const double *qdd);

/* The last row's position; its time. */
const double *psdmp_excite_track_last(const psdmp_excite_track *track);
double psdmp_excite_track_time(const psdmp_excite_track *track);

/* Stands still. */
void psdmp_excite_track_rest(psdmp_excite_track *track, double seconds);

void psdmp_excite_track_add_part(psdmp_excite_track *track, psdm_excite_part part);

/* A pose at rest: capsules and floor at their clearance plus a little, torques inside their limits. */
psdmp_excite_obstacle psdmp_excite_pose_obstacle(psdmp_excite_track *track, const double *q);

/* The quintic from q0, qd0, qdd0 to q1, qd1, qdd1 (rows of three pointers, (n) each): nowhere closer than the
 * clearance, by the Lipschitz constant of the gaps; torques at several points inside their limits. */
psdmp_excite_obstacle psdmp_excite_piece_obstacle(psdmp_excite_track *track, double seconds,
                                                  const double *const from[3], const double *const to[3]);

/* All pieces from a row on. */
psdmp_excite_obstacle psdmp_excite_track_obstacle(psdmp_excite_track *track, long row);

/* Moves from the last row to a pose, at rest at both; a first row is just added. Straight if that is free, else over
 * random poses. False: no path was found, and nothing was added. */
bool psdmp_excite_track_go(psdmp_excite_track *track, const double *q);

/* The longest stretch of joint i, others as in q, with free poses: sampled, then [*low, *high]. False: there is
 * none. */
bool psdmp_excite_track_stretch(psdmp_excite_track *track, const double *q, int i, double *low, double *high);

enum { PSDMP_EXCITE_STRETCH = 33 }; /* samples over a joint's range */

psdm_status psdmp_excite_experiment_motor(psdmp_excite_track *track, psdmp_base_arena *arena, psdm_excitation *out);
psdm_status psdmp_excite_experiment_gravity(psdmp_excite_track *track);
psdm_status psdmp_excite_experiment_friction(psdmp_excite_track *track);

#endif
