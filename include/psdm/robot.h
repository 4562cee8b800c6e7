/* psdm/robot.h: a robot as a checked tree of bodies.
 *
 * Joints are numbered in file order. q1..qn are the independent joints; coupled and fixed joints have no q.
 * The moving links (one per revolute or prismatic joint, coupled ones included) are numbered 1..links in file
 * order too; their standard parameters are about the origin of the user's link frame, in the order
 * m mx my mz XX XY XZ YY YZ ZZ. SI units. A loaded robot is constant and may be shared by threads. */
#ifndef PSDM_ROBOT_H
#define PSDM_ROBOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "psdm/alloc.h"
#include "psdm/matrices.h"
#include "psdm/output.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_robot psdm_robot;

enum { PSDM_MAX_JOINTS = 1000 }; /* moving joints; forward dynamics of a coupled robot needs memory for their square */

typedef enum psdm_joint_type { PSDM_REVOLUTE, PSDM_PRISMATIC, PSDM_FIXED } psdm_joint_type;

/* A joint held at a position. */
typedef struct psdm_lock {
  const char *joint;
  double value; /* rad or m */
} psdm_lock;

/* Links whose inertia the file does not give. */
typedef enum psdm_missing_inertia {
  /* unknown; URDF: frames, and shapes fixed to a link with <inertial>, add nothing */
  PSDM_MISSING_AUTO,
  PSDM_MISSING_ZERO, /* zero */
  /* unknown; URDF: frames (neither <inertial> nor a shape, fixed to a link with <inertial>) add nothing */
  PSDM_MISSING_UNKNOWN
} psdm_missing_inertia;

/* How a file is read. Zero-initialise for the defaults. */
typedef struct psdm_robot_options {
  bool no_snap;          /* keep angles within 1e-4 rad of a multiple of 15 degrees as they are */
  const double *gravity; /* overrides the file's vector (3), base frame, m/s^2 */
  const char *root;      /* use this link as the base; links that it does not carry are left out */
  const char *tip;       /* keep only the joints that move this link (and what is fixed to their links) */
  int lock_count;
  const psdm_lock *locks;
  psdm_missing_inertia missing_inertia;
  /* axes within this angle (rad, at most 0.1) of parallel or perpendicular to the previous moving joint's are made so;
   * 0: none */
  double snap_axes;
  /* bytes that one job on this robot may use (a derivation, rows of a log in memory, an optimal motion): more fails at
   * once with PSDM_E_LIMIT and the number; 0: half of the machine's */
  size_t memory;
  unsigned long long reserved[8];
} psdm_robot_options;

/* Reads a robot file, YAML or URDF, recognised by the first character ("-" is standard input). Allocates; free with
 * psdm_robot_free. options may be NULL. */
PSDM_API psdm_status psdm_robot_load(const char *path, const psdm_robot_options *options,
                                     const psdm_allocator *allocator, psdm_robot **robot, psdm_error *error);

/* The same from text in memory; name replaces the file name in messages. */
PSDM_API psdm_status psdm_robot_parse(const char *text, size_t length, const char *name,
                                      const psdm_robot_options *options, const psdm_allocator *allocator,
                                      psdm_robot **robot, psdm_error *error);

/* The tables of the PSDM MATLAB toolbox, as numeric CSV or .mat files: DH rows [a alpha d theta (type) (sign)], type 0
 * revolute or 1 prismatic, sign the direction of q; X rows [m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz (Im)], x_path NULL if
 * inertias are unknown. In a .mat file the variable is DH, DH_ext or X, or the only numeric one. */
PSDM_API psdm_status psdm_robot_load_tables(const char *dh_path, const char *x_path, const psdm_robot_options *options,
                                            const psdm_allocator *allocator, psdm_robot **robot, psdm_error *error);

/* The same from tables in memory, which are copied; x may be NULL. Their names are for messages. */
PSDM_API psdm_status psdm_robot_parse_tables(const psdm_matrix *dh, const psdm_matrix *x,
                                             const psdm_robot_options *options, const psdm_allocator *allocator,
                                             psdm_robot **robot, psdm_error *error);

PSDM_API void psdm_robot_free(psdm_robot *robot); /* accepts NULL */

/* Bytes that one job may use, from the options; 0: half of the machine's. */
PSDM_API size_t psdm_robot_memory(const psdm_robot *robot);

/* PSDM_E_LIMIT when a job needs more bytes than that; what: the job, for the sentence, such as "keeping 3000 rows". */
PSDM_API psdm_status psdm_robot_fits(const psdm_robot *robot, const char *what, double bytes, psdm_error *error);

/* ---- writing ---- */

typedef enum psdm_robot_format { PSDM_FORMAT_YAML, PSDM_FORMAT_URDF } psdm_robot_format;

/* Writes a robot file with the same dynamics, link names and link frames. Fixed links, motors and the tool become part
 * of the moving link that carries them. What a format cannot express is left out: ask psdm_robot_loss first. */
PSDM_API void psdm_robot_write(const psdm_robot *robot, psdm_robot_format format, psdm_output *output);

/* The index-th property of this robot that a format cannot express, as a sentence in buf; NULL past the end. */
PSDM_API const char *psdm_robot_loss(const psdm_robot *robot, psdm_robot_format format, int index, char *buf,
                                     size_t size);

/* ---- facts ---- */

PSDM_API const char *psdm_robot_name(const psdm_robot *robot);
PSDM_API const char *psdm_robot_base_name(const psdm_robot *robot);
PSDM_API int psdm_robot_n(const psdm_robot *robot);                 /* independent joints: length of q, qd, qdd, tau */
PSDM_API int psdm_robot_joints(const psdm_robot *robot);            /* all joints, fixed and coupled ones included */
PSDM_API int psdm_robot_links(const psdm_robot *robot);             /* moving links, 10 standard parameters each */
PSDM_API int psdm_robot_drives(const psdm_robot *robot);            /* drive inertias that are parameters */
PSDM_API const double *psdm_robot_gravity(const psdm_robot *robot); /* (3), base frame */
PSDM_API bool psdm_robot_coupled(const psdm_robot *robot);          /* some joint follows others */
PSDM_API int psdm_robot_loops(const psdm_robot *robot);             /* closed loops */
/* the robot with its loops cut open; NULL when it has none */
PSDM_API const psdm_robot *psdm_robot_tree(const psdm_robot *robot);

/* A valid position (n): zeros; with closed loops the one that the file starts with. */
PSDM_API void psdm_robot_home(const psdm_robot *robot, double *q);

/* q_tree = G q + c over the moving joints in file order: G row-major (links x n), c (links). Either may be NULL. Rows
 * of passive joints, which follow q through a closed loop, are NAN. */
PSDM_API void psdm_robot_coupling(const psdm_robot *robot, double *G, double *c);

/* The tree in the order of recursions: parents before children; joint k moves about or along the z axis of its own
 * frame, which at rest is at R, p in the parent's. For recursions of your own. */
typedef struct psdm_body {
  int parent; /* -1: the base */
  bool prismatic;
  int link;          /* row of psdm_robot_coupling, and block of the standard parameters */
  double R[9], p[3]; /* row-major; x_parent = R x + p at zero position */
  double pi[10];     /* standard parameters about this frame's origin, tool included; NAN where the file has none */
  double drive;      /* drive inertia that acts on this joint alone; NAN where drives act on several joints */
} psdm_body;

PSDM_API bool psdm_robot_body(const psdm_robot *robot, int index, psdm_body *body); /* false past the last link */

/* Friction of one joint, steady state: (coulomb + (static - coulomb) exp(-|qd/stribeck|^2)) sign(qd)
 * + viscous |qd|^exponent sign(qd) + offset (seed: LuGre model, Canudas de Wit et al. 1995). */
typedef struct psdm_friction {
  double coulomb, stat, stribeck, viscous, exponent; /* Nm, Nm, rad/s, Nm (s/rad)^exponent, 1; N, m for prismatic */
  double sigma0, sigma1, offset;                     /* bristle stiffness and damping, constant torque */
  bool given;
} psdm_friction;

typedef struct psdm_limits { /* infinite where not given */
  double lower, upper, velocity, acceleration, effort;
} psdm_limits;

/* One joint as in the file. Pointers live as long as the robot. */
typedef struct psdm_joint {
  const char *name;
  psdm_joint_type type;
  int parent;   /* joint whose link carries this one, -1: the base */
  int q;        /* index of its q, -1 when fixed, coupled or passive */
  bool passive; /* moved by a closed loop */
  int link;     /* number of its moving link, counted from 0; -1 when fixed */
  psdm_limits limits;
  psdm_friction friction;
  int drive;              /* index of its drive inertia among the parameters, -1 when it has none */
  double stiffness;       /* Nm/rad, infinite when rigid */
  double damping;         /* Nms/rad of the damper parallel to that spring, 0 when not given */
  double torque_constant; /* Nm/A at the joint, NAN when not given */
  double gear;            /* motor turns per joint turn, 1 when not given */
} psdm_joint;

PSDM_API const psdm_joint *psdm_robot_joint(const psdm_robot *robot, int joint); /* NULL when out of range */
PSDM_API const char *psdm_robot_link_name(const psdm_robot *robot, int joint);   /* of the link behind a joint */

/* The joint whose link (or, failing that, which itself) has this name, -1 when none. "base" is not a joint. */
PSDM_API int psdm_robot_find(const psdm_robot *robot, const char *name);

/* False where the link behind a joint is fixed to the base: it has a pose, but no Jacobian and feels no wrench. */
PSDM_API bool psdm_robot_moves(const psdm_robot *robot, int joint);

/* The default link of poses, Jacobians, wrenches and loads, as a joint: of the links that most joints move, the last in
 * the file. chosen (nullable): the choice was not unique, because several chains are as long or another link is the
 * last in the file. */
PSDM_API int psdm_robot_default_link(const psdm_robot *robot, bool *chosen);

/* ---- standard parameters: 10 per moving link, then the drive inertias ---- */

PSDM_API int psdm_robot_parameter_count(const psdm_robot *robot);

/* Name of a standard parameter ("mx3", "ZZ1", "Ia2"). Returns buf. */
PSDM_API char *psdm_robot_parameter_name(const psdm_robot *robot, int parameter, char *buf, size_t size);

/* Values, tool included in the link that carries it; NAN where the file has none. pi: (parameter_count). */
PSDM_API void psdm_robot_parameters(const psdm_robot *robot, double *pi);

/* Standard parameters of the file's `tool:` alone, about the frame of the link that carries it; returns the joint of
 * that link, -1 without a tool. pi: (10). */
PSDM_API int psdm_robot_tool(const psdm_robot *robot, double *pi);

/* Replaces all values; NAN makes one unknown. No other thread may use the robot meanwhile. */
PSDM_API void psdm_robot_set_parameters(psdm_robot *robot, const double *pi);

/* A copy whose parameters may be changed while the robot is shared. It borrows the robot's texts and must not
 * outlive it. */
PSDM_API psdm_status psdm_robot_clone(const psdm_robot *robot, const psdm_allocator *allocator, psdm_robot **clone);

/* Mass matrix of the drives alone, (n x n): the sum of a Ia a^T with a the rates of each drive. NAN where one is
 * unknown. Closed loops: of the open tree's independent joints, psdm_robot_n(psdm_robot_tree(robot)) squared. */
PSDM_API void psdm_robot_drive_mass(const psdm_robot *robot, double *B);

/* Moving links with some unknown inertial number, their fixed links included. */
PSDM_API int psdm_robot_unknown_links(const psdm_robot *robot);

/* PSDM_OK when every inertial number is known, else PSDM_E_MISSING with a sentence that names the link or joint. */
PSDM_API psdm_status psdm_robot_ready(const psdm_robot *robot, psdm_error *error);

/* ---- motors: q = T diag(1/gear) q_motor, T the file's transmission (identity when not given) ---- */

PSDM_API bool psdm_robot_has_transmission(const psdm_robot *robot);
PSDM_API void psdm_robot_motor_to_joint(const psdm_robot *robot, const double *q_motor, double *q);
PSDM_API void psdm_robot_joint_to_motor(const psdm_robot *robot, const double *q, double *q_motor);
PSDM_API void psdm_robot_motor_torque(const psdm_robot *robot, const double *tau, double *tau_motor);
/* the inverse: motor torques at the joints */
PSDM_API void psdm_robot_joint_torque(const psdm_robot *robot, const double *tau_motor, double *tau);

/* ---- findings about the file ---- */

PSDM_API int psdm_robot_notes(const psdm_robot *robot); /* snapped angles: correct, but notable */
PSDM_API const char *psdm_robot_note(const psdm_robot *robot, int index);
PSDM_API int psdm_robot_warnings(const psdm_robot *robot); /* implausible inertia and the like */
PSDM_API const char *psdm_robot_warning(const psdm_robot *robot, int index);

/* Assumptions of the file, as "Ixz4 = 0" or "rx1 = 2*rx2 + 0.1". */
PSDM_API int psdm_robot_assumptions(const psdm_robot *robot);
PSDM_API char *psdm_robot_assumption(const psdm_robot *robot, int index, char *buf, size_t size);

/* Base parameters that the file gives by name. */
PSDM_API int psdm_robot_thetas(const psdm_robot *robot);
PSDM_API const char *psdm_robot_theta(const psdm_robot *robot, int index, double *value);

/* 64 bits that identify the kinematics: joints, frames to 1e-9, couplings, transmission, which drives are parameters;
 * neither inertias nor gravity. */
PSDM_API uint64_t psdm_robot_fingerprint(const psdm_robot *robot);

#ifdef __cplusplus
}
#endif
#endif
