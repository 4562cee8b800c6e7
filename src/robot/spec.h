/* spec.h: what a robot file says, before it becomes a canonical tree. Every reader fills one; build.c checks it. */
#ifndef PSDMP_SPEC_H
#define PSDMP_SPEC_H

#include "robot/robot_priv.h"

typedef struct psdmp_couple {
  int joint; /* in file order */
  double factor;
} psdmp_couple;

typedef struct psdmp_spec_joint {
  const char *name, *link_name;
  int line, column, link_line, link_column;
  psdm_joint_type type;
  int parent;               /* joint in file order, -1: the base */
  psdmp_pose before, after; /* parent's link frame -> joint frame (z is the axis) -> this link's frame */
  psdm_limits limits;
  psdm_friction friction;
  double stiffness, torque_constant, gear;
  bool has_drive;
  double drive_inertia; /* NAN: unknown */
  bool coupled;
  int couples;
  psdmp_couple *couple;
  double couple_offset;
  bool has_motor; /* a motor whose mass rides on another link */
  double motor_mass, motor_com[3];
  int motor_on; /* joint whose link carries it, -1: the base */
  bool known;   /* the link's numbers are given */
  double pi[PSDMP_STANDARD];
} psdmp_spec_joint;

typedef struct psdmp_text_list {
  int count, room;
  const char **text;
} psdmp_text_list;

typedef struct psdmp_spec {
  const char *file, *name;
  double gravity[3];
  psdmp_pose base;
  int joints;
  psdmp_spec_joint *joint;
  bool has_tool;
  int tool_on; /* joint whose link carries the tool */
  double tool[PSDMP_STANDARD];
  double *transmission; /* (n x n) or NULL */
  int transmission_rows, transmission_line, transmission_column;
  int assumptions, thetas;
  psdmp_assumption *assumption;
  psdmp_theta *theta;
  psdmp_text_list notes, warnings;
} psdmp_spec;

/* Appends a sentence (arena copy). */
psdm_status psdmp_list_add(psdmp_text_list *list, psdmp_arena *arena, const char *format, ...) PSDMP_PRINTF(3, 4);

/* Fills a spec from YAML text. */
psdm_status psdmp_spec_from_yaml(const char *text, size_t length, const char *file, const psdm_robot_options *options,
                                 psdmp_arena *arena, psdmp_spec *spec, psdm_error *error);

/* Defaults of a joint: rigid, no limits, no friction. */
void psdmp_spec_joint_init(psdmp_spec_joint *joint);

/* Warns about implausible inertia of a link: mass, definiteness, triangle inequality. */
psdm_status psdmp_spec_check_link(psdmp_spec *spec, psdmp_arena *arena, const char *link_name, const double pi[10]);

/* The canonical robot. robot->arena is already set and owns what spec points to. */
psdm_status psdmp_robot_build(psdmp_spec *spec, psdm_robot *robot, psdm_error *error);

#endif
