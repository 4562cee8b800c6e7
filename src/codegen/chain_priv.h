/* chain_priv.h: the robot as the recursive builder sees it: frames on common normals, inertias with as many zeros as
 * there can be. Private.
 *
 * Frame of a body: z on its joint's axis, x on the common normal to the axis of one of its children, so that twists of
 * 0 and 90 degrees are signed permutations. From the parent's frame:
 *
 *   Rz(beta) T(a, 0, e) Rx(alpha) Tz(d)  [the "minus" frame: before the joint moves]  then Rz(sign q + offset), or
 *                                                                                     Tz(sign q) Rz(offset)
 *
 * Axes that are almost parallel have a common normal far away; split.c puts a body in between whose normals are near.
 *
 * Bodies whose axes are parallel form a group; angles of frames in a group are counted from the minus frame of the
 * group's first body, as linear forms in q. */
#ifndef PSDMP_CODEGEN_CHAIN_H
#define PSDMP_CODEGEN_CHAIN_H

#include "codegen/codegen.h"
#include "model/model.h"
#include "robot/robot.h"

enum { PSDMP_CODEGEN_CODE_JOINTS = 100 }; /* bodies that code is generated for */

/* What can be chosen without changing any result; the search keeps what costs least. One digit each. */
typedef enum psdmp_codegen_gene {
  PSDMP_CODEGEN_GENE_ORIGIN, /* 0: origin at the foot of the child's normal, 1: of the parent's */
  /* frame of the body's wrench and acceleration. 0: own, 1: the parent's own (in a group) or minus, 2: the group's
   * minus */
  PSDMP_CODEGEN_GENE_WRENCH,
  PSDMP_CODEGEN_GENE_CARRY, /* the same for the way to its children */
  PSDMP_CODEGEN_GENE_SPIN,  /* how U is made, psdmp_codegen_spin */
  PSDMP_CODEGEN_GENE_CHAIN, /* 0: rotate from the group's minus frame by sums of angles, 1: from joint to joint */
  PSDMP_CODEGEN_GENE_TRACE, /* 1: moment about z by the trace of S, which no turn about z changes */
  /* 1: inertia about the end of the way to its only child, whose wrench takes the same lever */
  PSDMP_CODEGEN_GENE_PLACE,
  /* theta as an argument, 1: inertia tensor in the place of S's diagonal, as base parameters come */
  PSDMP_CODEGEN_GENE_TENSOR,
  /* leaf: own x axis such that 0: offset is none, 1: hy = 0, 2: Sxy = 0, 3: Syz = 0, 4: hx = 0 */
  PSDMP_CODEGEN_GENE_TURN,
  PSDMP_CODEGEN_GENE_COLUMN, /* regressor, 1: first moments about the own origin, then moved to the link frame's */
  /* regressor, 0: each of XX YY ZZ by itself, 1: the second, 2: the first as the column of the third axis less the
   * other */
  PSDMP_CODEGEN_GENE_DIAGONAL,
  /* regressor, 1: forces act through their moment about this joint's origin, 0: on its screw's velocity */
  PSDMP_CODEGEN_GENE_MOMENT,
  PSDMP_CODEGEN_GENES
} psdmp_codegen_gene;

typedef struct psdmp_codegen_choice {
  unsigned char gene[PSDMP_CODEGEN_CODE_JOINTS][PSDMP_CODEGEN_GENES];
  int unit;  /* 0: metres; k: the k-th length of the chain */
  int zeros; /* entries that are to be zero before all others, counted as in psdmp_codegen_inertia */
  int zero[10 * PSDMP_CODEGEN_CODE_JOINTS];
} psdmp_codegen_choice;

typedef struct psdmp_codegen_chain_body {
  int parent, root; /* body; first body of the group */
  bool prismatic, parallel, leaf;
  bool held; /* put between almost parallel axes by split.c: no mass, a constant angle */
  double sign;
  double a, e, d;         /* lengths */
  double ca, sa;          /* alpha */
  double beta, offset;    /* angles */
  psdmp_robot_pose frame; /* this frame in the body's canonical frame */
  psdmp_robot_pose minus; /* parent -1: the minus frame in the base frame */
  double *own;            /* (n + 1) own angle in the group: coefficients of q, constant */
  double *slide;          /* (n + 1) prismatic: way along z */
} psdmp_codegen_chain_body;

typedef struct psdmp_codegen_chain {
  const psdm_robot *robot; /* with the bodies that split.c puts between almost parallel axes */
  int bodies, n;
  int moving;   /* bodies of the robot itself */
  double reach; /* metres: what lengths are compared with */
  double usual; /* metres per unit of length where no length of the chain is chosen */
  psdmp_codegen_chain_body *body;
  double unit; /* metres per unit of length */
  int lengths; /* distinct lengths met, candidates for the unit */
  double length[3 * PSDMP_CODEGEN_CODE_JOINTS];
} psdmp_codegen_chain;

/* Ten entries per body, of the pseudo-inertia about the frame's origin (S = integral of r r^T dm), then the drive
 * inertias. With PSDMP_CODEGEN_GENE_TENSOR the diagonal is the inertia tensor's. */
enum {
  PSDMP_CODEGEN_M,
  PSDMP_CODEGEN_HX,
  PSDMP_CODEGEN_HY,
  PSDMP_CODEGEN_HZ,
  PSDMP_CODEGEN_SXX,
  PSDMP_CODEGEN_SXY,
  PSDMP_CODEGEN_SXZ,
  PSDMP_CODEGEN_SYY,
  PSDMP_CODEGEN_SYZ,
  PSDMP_CODEGEN_SZZ
};

/* Numbers or linear forms of theta with the same torques as the robot's, and the freedom that is left. */
typedef struct psdmp_codegen_inertia {
  bool argument;     /* forms in theta, else numbers */
  int size, columns; /* entries; 1, or l when argument */
  double *value;     /* (size x columns) */
  int nulls;
  double *null;   /* (nulls x size) reduced: one at its own zero, zero at the others' */
  int *zero;      /* (nulls) entry that each makes zero */
  double growth;  /* largest entry, over the largest of its kind before: digits are lost with it */
  double pivoted; /* largest entry of the null vectors on the way: the same */
  double ratio;   /* the reach in units of the chain */
} psdmp_codegen_inertia;

/* Axes whose angle has a smaller sine are parallel: a hundred times what rounding leaves, a fiftieth of the error
 * that generated code may have. */
#define PSDMP_CODEGEN_PARALLEL 2e-14

/* ---- split.c ---- */

/* The robot, or a copy of it in the arena with massless bodies between almost parallel axes; their number is -1. */
psdm_status psdmp_codegen_split(const psdm_robot *robot, double reach, psdmp_base_arena *arena, const psdm_robot **out,
                                psdm_error *error);

/* ---- frames.c ---- */

/* metres: lengths are the user's, as places and regressors want them. */
psdm_status psdmp_codegen_chain_new(const psdm_robot *robot, bool metres, psdmp_base_arena *arena,
                                    psdmp_codegen_chain *chain, psdm_error *error);
void psdmp_codegen_chain_set(psdmp_codegen_chain *chain, const psdmp_codegen_choice *choice, bool gravity_argument);

/* The only child of a body, -1 when there is none or another. */
int psdmp_codegen_only_child(const psdmp_codegen_chain *chain, int body);

/* Turns the own x axis of a leaf by an angle. */
void psdmp_codegen_chain_turn(psdmp_codegen_chain *chain, int body, double angle);

/* ---- inertia.c ---- */

/* Pseudo-inertia from standard parameters about a frame that stands at `frame`, first moments and mass in a unit of
 * length that leaves torques alone; tensor: the inertia tensor's diagonal in the place of S's. */
void psdmp_codegen_to_pseudo(const psdmp_robot_pose *frame, double unit, bool tensor, const double pi[10],
                             double out[10]);

/* Null vectors and values over the standard parameters, the same for every choice. */
typedef struct psdmp_codegen_freedom {
  bool argument;
  int standard, drives, nulls, columns;
  double *null;  /* (nulls x standard) */
  double *value; /* (standard x columns) */
} psdmp_codegen_freedom;

/* argument: forms in theta. any_gravity: nothing may be dropped that only another direction of gravity would show.
 * plain: no null vectors but those of single joints. */
psdm_status psdmp_codegen_freedom_set(const psdm_robot *robot, const psdm_model *base, const double *theta,
                                      bool argument, bool any_gravity, bool plain, psdmp_base_arena *arena,
                                      psdmp_codegen_freedom *freedom, psdm_error *error);
bool psdmp_codegen_inertia_new(const psdmp_codegen_chain *chain, const psdmp_codegen_freedom *freedom,
                               psdmp_base_arena *arena, psdmp_codegen_inertia *inertia);
void psdmp_codegen_inertia_set(psdmp_codegen_chain *chain, const psdmp_codegen_freedom *freedom,
                               const psdmp_codegen_choice *choice, psdmp_codegen_inertia *inertia);

#endif
