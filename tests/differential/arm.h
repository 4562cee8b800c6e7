/* arm.h: random robots as the numbers of their files, so that a file can be written, shrunk, and given to the oracle
 * without the library. */
#ifndef ARM_H
#define ARM_H

#include "oracle.h"
#include "support.h"

typedef enum arm_layout { ARM_DH, ARM_MODIFIED, ARM_URDF } arm_layout;

typedef struct arm_body {
  double mass, com[3], inertia[6]; /* about the com: xx xy xz yy yz zz */
} arm_body;

typedef struct arm_joint {
  psdm_joint_type type;
  bool continuous;  /* URDF: as in its file */
  int parent;       /* a joint before this one, -1: the base */
  double origin[6]; /* xyz, rpy */
  double row[4];    /* theta d a alpha; DH and modified DH */
  double axis[3];   /* URDF */
  int leaders, leader[2];
  double factor[2], offset;
  double drive; /* 0: none */
  arm_body body;
} arm_joint;

typedef struct arm {
  arm_layout layout;
  bool snap; /* the library's default: angles within 1e-4 rad of a multiple of 15 degrees are snapped */
  double gravity[3], base[6];
  int joints;
  bool has_tool;
  arm_body tool;
  arm_joint joint[MOST];
} arm;

/* A kind of robot: a row of the summary. */
typedef struct arm_kind {
  const char *name, *help;
  void (*draw)(rng *g, arm *a);
  bool common; /* as in oracle.h */
} arm_kind;

extern const arm_kind arm_kinds[]; /* NULL-terminated */

double arm_round(double x, int digits);

/* Every number of a joint, a body or the base. */
typedef void arm_number(void *user, double *x);
void arm_each_number(arm *a, arm_number *f, void *user);

/* The file. Returns buf. URDF has no gravity: it is an option. */
char *arm_text(const arm *a, char *buf, size_t size);
psdm_status arm_read(const arm *a, const char *text, psdm_robot **robot, psdm_error *error);

void arm_oracle(const arm *a, oracle *o);
int arm_free_joints(const arm *a); /* n */

#endif
