/* robot.h: the canonical robot. Private to the library.
 *
 * A tree of bodies in parent-before-child order. Joint j moves about or along the z axis of its own frame:
 * X_j(q) = X_j0 Rz(q) or X_j0 Tz(q). The user's link frame is kept beside it, for naming and formulas. */
#ifndef PSDMP_ROBOT_H
#define PSDMP_ROBOT_H

#include "base/base.h"
#include "psdm/collision.h"
#include "psdm/robot.h"

/* A rigid transform: x_outer = R x_inner + p. */
typedef struct psdmp_robot_pose {
  double R[9]; /* row-major */
  double p[3];
} psdmp_robot_pose;

enum { PSDMP_ROBOT_STANDARD = 10 }; /* standard parameters of a link: m, mx my mz, XX XY XZ YY YZ ZZ */

/* The same body for torques alone (reduced.c): its frame turned about and slid along the joint's axis, no mass on a
 * revolute axis. In its parent's frame it is Rz(turn) T Rx(alpha) Rz(angle + q), or Rz(turn) T Rx(alpha) Tz(q)
 * Rz(angle) where prismatic. */
typedef struct psdmp_robot_reduced {
  double turn[2], cosine, sine; /* cosine and sine of turn; of alpha */
  double along_x, along_other;  /* T: along x, and along y (flat) or z */
  double angle;
  double mass, c[3], S[6]; /* mass, first and second moments (xx xy xz yy yz zz) */
  double own[2], slide;    /* how the canonical frame was rotated (cosine, sine) and moved */
  int child;               /* the first one, -1: none */
  bool turned, flat;
} psdmp_robot_reduced;

typedef struct psdmp_robot_body {
  psdmp_robot_pose joint;          /* X_j0: this joint's frame at q = 0 in the parent's canonical frame */
  double pi[PSDMP_ROBOT_STANDARD]; /* standard parameters about the canonical origin; computed from robot->pi */
  int parent;                      /* body, -1: the base */
  bool prismatic;
  int number;                  /* moving link in file order: block of the standard parameters */
  int index;                   /* joint in file order */
  psdmp_robot_reduced reduced; /* computed from all bodies' joints and pi */
} psdmp_robot_body;

/* A link as the user knows it: a frame fixed to a body (or to the base, body -1). */
typedef struct psdmp_robot_link {
  const char *name;
  int body, line;         /* line of the file, 0: unknown */
  psdmp_robot_pose frame; /* the link frame in the body's canonical frame */
} psdmp_robot_link;

/* A length of the file: it moves the transforms around a joint by value times a direction (before: in the parent's
 * link frame). */
typedef struct psdmp_robot_length {
  char kind; /* a, d: of the joint's row; x, y, z: of any other translation before it */
  int joint; /* in file order */
  double value, before[3], after[3];
} psdmp_robot_length;

/* The transforms around a joint's motion: parent's link frame -> joint frame (z is the axis) -> this link's frame. */
typedef struct psdmp_robot_placement {
  psdmp_robot_pose before, after;
} psdmp_robot_placement;

/* One drive: torque a Ia (a . qdd) on the independent joints. */
typedef struct psdmp_robot_drive {
  int index;       /* joint in file order */
  double inertia;  /* Ia, reflected to that joint; NAN when unknown */
  const double *a; /* (n) rate of the drive per unit rate of each independent joint */
} psdmp_robot_drive;

/* A body parameter times a factor. */
typedef struct psdmp_robot_body_term {
  double factor;
  int kind, link; /* index into psdmp_robot_body_names; link or joint number counted from 0 */
} psdmp_robot_body_term;

enum { PSDMP_ROBOT_ASSUMED_TERMS = 8 };

/* A linear relation: the sum of the terms is value. The first factor is 1: its parameter is on the left in texts. */
typedef struct psdmp_robot_assumption {
  int terms;
  double value;
  psdmp_robot_body_term term[PSDMP_ROBOT_ASSUMED_TERMS];
} psdmp_robot_assumption;

extern const char *const psdmp_robot_standard_names[PSDMP_ROBOT_STANDARD]; /* "m" "mx" ... "ZZ" */
enum { PSDMP_ROBOT_BODY_NAMES = 11 };
extern const char *const psdmp_robot_body_names[PSDMP_ROBOT_BODY_NAMES]; /* "m" "rx" ... "Iyz" "Ia" */

/* Reads "Ixz4 = 0", "Ixx1 = Iyy1" or "rx1 = 2*rx2 - rx3 + 0.1" for a robot with this many moving links; false for
 * anything else. */
bool psdmp_robot_parse_assumption(const char *text, int links, psdmp_robot_assumption *a);

#define PSDMP_ROBOT_ASSUMPTION_HINT                                                                                    \
  "a relation such as 'Ixz4 = 0', 'Ixx5 = Iyy5' or 'rx1 = 2*rx2 + 0.1' of m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz Ia with " \
  "a link number"

/* As psdmp_robot_parse_assumption reads it; cut short if it does not fit. */
void psdmp_robot_assumption_text(const psdmp_robot_assumption *a, char *buf, size_t size);

typedef struct psdmp_robot_theta {
  const char *name;
  double value;
  int line;
} psdmp_robot_theta;

/* A closed loop: a point of one link's frame coincides with a point of another's. */
typedef struct psdmp_robot_loop {
  int joint[2];       /* whose links */
  double point[2][3]; /* in the link frames */
} psdmp_robot_loop;

/* Collision data of a file, and the gaps that follow from it. */
typedef struct psdmp_robot_collision {
  int capsules, aparts, gaps;
  psdm_capsule *capsule; /* (capsules) */
  int (*apart)[2];       /* (aparts) joints of links that are not checked against each other, -1: the base */
  int (*gap)[2];         /* (gaps) capsules, or a capsule and -1: the floor; computed by psdmp_robot_collision_watch */
  bool floor;
  double normal[3], height; /* normal has length 1 */
} psdmp_robot_collision;

/* Relation of a robot with closed loops to its open tree. */
typedef struct psdmp_robot_closure {
  const psdm_robot *tree; /* the same robot with the passive joints free */
  int loops, passives;
  psdmp_robot_loop *loop; /* (loops) */
  int *passive;           /* (passives) index of each passive joint among the tree's q */
  /* (n), (passives) a nearly closed position: every other is reached from it, so it selects the branch */
  double *home, *start;
  int *independent; /* (n) index of each independent joint among the tree's q */
  double size;      /* the longest path around a loop */
  double *unit;     /* (n of the tree) 1 for revolute joints, size for prismatic ones */
} psdmp_robot_closure;

struct psdm_robot {
  psdmp_base_arena arena;       /* owns everything below */
  psdmp_robot_closure *closure; /* NULL: no closed loops */
  const char *file, *name, *base_name;
  size_t memory; /* memory limit of one job in bytes, 0: half of the machine's; for psdmp_base_memory_ask */
  bool urdf;     /* format of the file: messages use its terms */
  double gravity[3];

  int n, bodies, joints, drives;
  psdm_joint *joint;            /* (joints) in file order */
  psdmp_robot_link *link;       /* (joints) the link behind each joint */
  psdmp_robot_body *body;       /* (bodies) canonical order */
  psdmp_robot_drive *drive;     /* (drives) */
  double *pi;                   /* (10 bodies) standard parameters, user frames, file order, tool included */
  psdmp_robot_pose base;        /* pose of the tree's base */
  psdmp_robot_placement *place; /* (joints) what body and link poses are computed from */
  int *order;                   /* (joints) parents before children */
  /* joint of the default link: the tip of the longest moving chain */
  int last;
  int lengths;
  psdmp_robot_length *length;             /* (lengths) by joint; the complete translations */
  int tool_joint;                         /* joint of the moving link that carries the tool, -1: no moving tool */
  double tool[PSDMP_ROBOT_STANDARD];      /* its standard parameters about that link's frame */
  const psdmp_robot_collision *collision; /* NULL: no collision checks */
  /* (bodies) in file order: joint of the link that makes a moving link unknown, -1: none */
  int *unknown_by;
  int unknown_link;  /* joint of the first link without numbers, -1 when all are known */
  int unknown_drive; /* the same for drive inertias */

  /* q_tree = G q + c in canonical body order, compressed rows; direct when it is the identity */
  bool direct, coupled;
  int *g_row;    /* (bodies + 1) */
  int *g_col;    /* (g_row[bodies]) */
  double *g_val; /* (g_row[bodies]) */
  double *c;     /* (bodies) */

  bool plain_drives;  /* every drive acts on one tree joint only */
  double *body_drive; /* (bodies) drive inertia on each tree joint alone, zero when not plain */
  double *drive_mass; /* (n x n) sum of a Ia a^T, NULL when plain */

  double *transmission;     /* (n x n) q = transmission q_motor, gears included; NULL: identity */
  double *transmission_inv; /* (n x n) */

  int notes, warnings, assumptions, thetas;
  const char **note, **warning;
  psdmp_robot_assumption *assumption;
  psdmp_robot_theta *theta;
};

/* ---- poses ---- */

psdmp_robot_pose psdmp_robot_pose_identity(void);
psdmp_robot_pose psdmp_robot_pose_product(const psdmp_robot_pose *a, const psdmp_robot_pose *b);
psdmp_robot_pose psdmp_robot_pose_inverse(const psdmp_robot_pose *a);
psdmp_robot_pose psdmp_robot_pose_translation(double x, double y, double z);

/* Rotation by an angle about axis 0, 1, 2. Multiples of 15 degrees have exact zeros, halves and ones. */
psdmp_robot_pose psdmp_robot_pose_rotation(int axis, double angle);

/* Rz(yaw) Ry(pitch) Rx(roll), then the translation, as URDF has it. */
psdmp_robot_pose psdmp_robot_pose_rpy(const double xyz[3], const double rpy[3]);

/* The multiple of 15 degrees nearest to angle. */
double psdmp_robot_nearest_15(double angle);

/* Standard parameters of a body in another frame: frame is the pose of the old one in the new one. */
void psdmp_robot_standard_move(const psdmp_robot_pose *frame, const double from[10], double to[10]);

/* Standard parameters from mass, centre of mass and inertia about it (xx xy xz yy yz zz). */
void psdmp_robot_standard_from_body(double mass, const double com[3], const double inertia[6], double to[10]);

/* Recomputes the poses of bodies and links from base and place. */
void psdmp_robot_place(psdm_robot *robot);

/* A copy whose lengths can be changed; it shares everything else, including its inertias, which are then meaningless.
 * False: out of memory. */
bool psdmp_robot_copy(const psdm_robot *robot, psdmp_base_arena *arena, psdm_robot *copy);
void psdmp_robot_set_lengths(psdm_robot *copy, const double *lengths);

const psdm_joint *psdmp_robot_joint_of(const psdm_robot *robot, int q); /* the joint of each q; NULL: none */

/* The joint behind which the link of this name is, or the joint of this name; NULL: the tip; -1: none. */
int psdmp_robot_named(const psdm_robot *robot, const char *link);
psdm_status psdmp_robot_named_or_fail(const psdm_robot *robot, const char *link, int *joint, psdm_error *error);

/* Index of a standard parameter by its name, -1 if unknown. */
int psdmp_robot_standard_find(const psdm_robot *robot, const char *name);

/* One of the standard parameters of psdm_robot_parameters; NAN beyond the last. */
double psdmp_robot_parameter(const psdm_robot *robot, int k);

/* Recomputes body inertias, drives and readiness after robot->pi or a drive inertia changed. */
void psdmp_robot_refresh(psdm_robot *robot);

/* The bodies' reduced frames and inertias, after their joints or inertias changed. */
void psdmp_robot_reduce(psdm_robot *robot);

/* Selects the gaps to check, from the capsules and the tree that carries them. False: out of memory. */
bool psdmp_robot_collision_watch(const psdm_robot *robot, psdmp_base_arena *arena, psdmp_robot_collision *collision);

/* ---- size.c ---- */

/* The longest path from the first joint to a body's centre of mass. */
double psdmp_robot_reach(const psdm_robot *robot);

/* One metre for robots of the usual size; else a power of four near the reach, so that inertias in it are of the
 * usual size. */
double psdmp_robot_unit(const psdm_robot *robot);

/* ---- the robot that a file belongs to: fingerprint.c; psdm_robot_fingerprint has the kinematics ---- */

enum { PSDMP_ROBOT_FINGERPRINT = 17 };                 /* sixteen hexadecimal digits and the end */
uint64_t psdmp_robot_inertia(const psdm_robot *robot); /* of all standard parameters */
/* of everything in a robot file; PSDM_E_MEMORY */
psdm_status psdmp_robot_description(const psdm_robot *robot, const psdm_allocator *allocator, uint64_t *hash);
char *psdmp_robot_fingerprint_text(uint64_t hash, char text[PSDMP_ROBOT_FINGERPRINT]);
bool psdmp_robot_fingerprint_read(const char *text, size_t length, uint64_t *hash);

#endif
