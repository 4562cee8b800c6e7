/* shrink.h: from a robot that fails to the smallest one that fails the same way. */
#ifndef SHRINK_H
#define SHRINK_H

#include "arm.h"

/* Whether a robot still fails; seed: of its states and choices. */
typedef bool still_fails(void *user, const arm *a, uint64_t seed);

/* Makes a smaller while it fails: fewer joints, fewer features, zeros and ones, fewer digits. Stops after this many
 * seconds. */
void shrink(arm *a, uint64_t *seed, still_fails *fails, void *user, double seconds);

#endif
