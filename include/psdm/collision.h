/* psdm/collision.h: distances of a robot to itself and to the floor: capsules on its links, and a plane.
 *
 *   collision:
 *     floor: {normal: [0, 0, 1], height: 0}           all capsules of moving links stay where normal . x >= height,
 *                                                     base frame
 *     capsules:
 *       - {link: base, from: [0, 0, 0], to: [0, 0, 0.2], radius: 0.1}
 *       - {link: A2, from: [0, 0, 0], to: [0.315, 0, 0], radius: 0.08}
 *     apart: [[A1, A3]]                               pairs of links that are not checked
 *
 * in a robot file; positions are in the named link's frame (a joint's name stands for its link). Capsules of one link,
 * of links connected by a single joint, and those of `apart` are not checked. A gap is the distance between two
 * capsules' surfaces, negative when they overlap (from the distance of their axes; exact until the axes cross). The
 * robot is constant and may be shared; nothing here allocates. */
#ifndef PSDM_COLLISION_H
#define PSDM_COLLISION_H

#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_capsule {
  int joint;             /* whose link carries it, -1: the base */
  double from[3], to[3]; /* m, in the user's link frame */
  double radius;
} psdm_capsule;

PSDM_API int psdm_collision_capsules(const psdm_robot *robot);
PSDM_API const psdm_capsule *psdm_collision_capsule(const psdm_robot *robot, int index); /* NULL when out of range */
/* false: none; normal has length 1 */
PSDM_API bool psdm_collision_floor(const psdm_robot *robot, double normal[3], double *height);

/* Number of gaps: pairs of capsules, then each moving capsule and the floor. 0 where the robot file has no
 * `collision`. */
PSDM_API int psdm_collision_gaps(const psdm_robot *robot);

/* What gap `index` is between: capsules a and b, b = -1 for the floor. */
PSDM_API bool psdm_collision_pair(const psdm_robot *robot, int index, int *a, int *b);

/* gap (gaps), m; gradient (gaps x n) or NULL, exact where the nearest points are unique. */
PSDM_API psdm_status psdm_collision_at(const psdm_robot *robot, psdm_work *work, const double *q, double *gap,
                                       double *gradient);

#ifdef __cplusplus
}
#endif
#endif
