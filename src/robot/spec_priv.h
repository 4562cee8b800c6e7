/* spec_priv.h: contents of a robot file, before it becomes a canonical tree. Every reader fills one; build.c checks it.
 * */
#ifndef PSDMP_ROBOT_SPEC_H
#define PSDMP_ROBOT_SPEC_H

#include "robot/robot.h"

typedef struct psdmp_robot_couple {
  int joint; /* in file order */
  double factor;
} psdmp_robot_couple;

typedef struct psdmp_robot_spec_joint {
  const char *name, *link_name;
  int line, column, link_line, link_column;
  psdm_joint_type type;
  int parent;                     /* joint in file order, -1: the base */
  psdmp_robot_pose before, after; /* parent's link frame -> joint frame (z is the axis) -> this link's frame */
  int lengths;                    /* a and d, if the file has them; the rest of the translations is x, y, z */
  psdmp_robot_length length[2];
  psdm_limits limits;
  psdm_friction friction;
  double stiffness, damping, torque_constant, gear;
  bool has_drive;
  double drive_inertia; /* NAN: unknown */
  bool passive;         /* moved by a closed loop */
  double start;         /* with loops: its value in a nearly closed position */
  bool coupled;
  int couples;
  psdmp_robot_couple *couple;
  double couple_offset;
  bool has_motor; /* a motor whose mass is on another link */
  double motor_mass, motor_com[3];
  int motor_on; /* joint whose link carries it, -1: the base */
  bool known;   /* the link's numbers are given */
  bool half;    /* unknown except for mass and centre: URDF's <inertial> without moments */
  bool shaped;  /* URDF: the link has <visual> or <collision> */
  double pi[PSDMP_ROBOT_STANDARD];
} psdmp_robot_spec_joint;

typedef struct psdmp_robot_text_list {
  int count;
  long room;
  const char **text;
} psdmp_robot_text_list;

enum {
  PSDMP_ROBOT_MAX_LINKS = 20000,   /* fixed ones included */
  PSDMP_ROBOT_MAX_CAPSULES = 1000, /* every pair of them may be a gap */
  PSDMP_ROBOT_MAX_APART = 10000
};

typedef struct psdmp_robot_spec {
  const char *file, *name; /* name NULL: the file's */
  bool urdf;
  const char *base_name; /* what the file calls the base */
  double gravity[3];
  psdmp_robot_pose base;
  int joints;
  psdmp_robot_spec_joint *joint;
  bool has_tool;
  int tool_on; /* joint whose link carries the tool */
  double tool[PSDMP_ROBOT_STANDARD];
  psdmp_robot_collision *collision; /* NULL: the file has none */
  int loops;
  psdmp_robot_loop *loop;
  int loops_line, loops_column;
  double *transmission; /* (n x n) or NULL */
  int transmission_rows, transmission_line, transmission_column;
  int assumptions, thetas;
  psdmp_robot_assumption *assumption;
  psdmp_robot_theta *theta;
  psdmp_robot_text_list notes, warnings;
} psdmp_robot_spec;

/* Appends a sentence (arena copy). */
psdm_status psdmp_robot_list_add(psdmp_robot_text_list *list, psdmp_base_arena *arena, const char *format, ...)
    PSDM_PRINTF(3, 4);

/* Snaps an angle within 1e-4 rad of a multiple of 15 degrees to it: real files write 1.5708. Differences above the
 * rounding of 15 printed digits get a note, "line N: where: key X snapped to Y deg". */
psdm_status psdmp_robot_spec_snap(psdmp_robot_spec *spec, psdmp_base_arena *arena, double *angle, int line,
                                  const char *where, const char *key);

/* Fills a spec from YAML text. */
psdm_status psdmp_robot_spec_from_yaml(const char *text, size_t length, const char *file,
                                       const psdm_robot_options *options, psdmp_base_arena *arena,
                                       psdmp_robot_spec *spec, psdm_error *error);

/* Fills a spec from URDF text. */
psdm_status psdmp_robot_spec_from_urdf(const char *text, size_t length, const char *file,
                                       const psdm_robot_options *options, psdmp_base_arena *arena,
                                       psdmp_robot_spec *spec, psdm_error *error);

/* Fills a spec from the PSDM toolbox's tables; x_path may be NULL. */
psdm_status psdmp_robot_spec_from_tables(const char *dh_path, const char *x_path, const psdm_robot_options *options,
                                         psdmp_base_arena *arena, psdmp_robot_spec *spec, psdm_error *error);
psdm_status psdmp_robot_spec_from_matrices(const psdm_matrix *dh, const psdm_matrix *x,
                                           const psdm_robot_options *options, psdmp_base_arena *arena,
                                           psdmp_robot_spec *spec, psdm_error *error);

/* Locks joints, changes the root, keeps only the chain to a tip, as the options say. */
psdm_status psdmp_robot_spec_restrict(psdmp_robot_spec *spec, const psdm_robot_options *options,
                                      psdmp_base_arena *arena, psdm_error *error);

/* Decides which links without numbers are frames, which are unknown and which are massless by the rule, with notes. */
psdm_status psdmp_robot_spec_missing(psdmp_robot_spec *spec, psdm_missing_inertia rule, psdmp_base_arena *arena,
                                     psdm_error *error);

/* Aligns axes within `most` rad of parallel or perpendicular to the previous moving joint's, and notes how many; 0:
 * none. PSDM_E_ARGUMENT above 0.1. */
psdm_status psdmp_robot_spec_snap_axes(psdmp_robot_spec *spec, double most, psdmp_base_arena *arena, psdm_error *error);

/* Records that a length moves the joint's transforms: value * column `axis` of R, before or after the motion. */
void psdmp_robot_spec_add_length(psdmp_robot_spec_joint *joint, char kind, double value, const double R[9], int axis,
                                 bool after);

/* Fills robot->length. False: out of memory. */
bool psdmp_robot_keep_lengths(const psdmp_robot_spec *spec, psdm_robot *robot);

/* Defaults of a joint: rigid, no limits, no friction. */
void psdmp_robot_spec_joint_init(psdmp_robot_spec_joint *joint);

/* Warns about implausible inertia of a link: mass, definiteness, triangle inequality. */
psdm_status psdmp_robot_spec_check_link(psdmp_robot_spec *spec, psdmp_base_arena *arena, const char *link_name,
                                        const double pi[10]);

/* Where the file has loops, the robot becomes its own open tree, and the new robot has no passive joints. */
psdm_status psdmp_robot_close_loops(const psdmp_robot_spec *spec, psdm_robot *robot, psdm_error *error);

/* The canonical robot. robot->arena is already set and owns what spec points to. */
psdm_status psdmp_robot_build(psdmp_robot_spec *spec, psdm_robot *robot, psdm_error *error);

#endif
