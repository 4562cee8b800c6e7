/* psdm/loop.h: closed loops: the open tree (psdm_robot_tree) has N independent joints, q among them, and the loops' e
 * equations close it. As in psdm/rigid.h, nothing allocates and each thread brings its own psdm_work. */
#ifndef PSDM_LOOP_H
#define PSDM_LOOP_H

#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

PSDM_API int psdm_loop_equations(const psdm_robot *robot); /* e, which may depend on each other */
PSDM_API int psdm_loop_passives(const psdm_robot *robot);  /* N - n */
/* index among the tree's q of the robot's q, -1 out of range */
PSDM_API int psdm_loop_independent(const psdm_robot *robot, int index);
PSDM_API int psdm_loop_passive(const psdm_robot *robot, int index); /* the same of each passive joint */

/* The tree's state (N each) that belongs to q and qd, on the branch that the file starts with. qd and tree_qd may be
 * NULL. */
PSDM_API psdm_status psdm_loop_close(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                     double *tree_q, double *tree_qd);

/* At any state of the tree: the gaps (e) between the points that should meet, their derivative A (e x N) and (dA/dt)
 * tree_qd (e). Each may be NULL. */
PSDM_API psdm_status psdm_loop_gaps(const psdm_robot *robot, psdm_work *work, const double *tree_q,
                                    const double *tree_qd, double *gap, double *A, double *drift);

#ifdef __cplusplus
}
#endif
#endif
