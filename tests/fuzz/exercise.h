/* exercise.h: what every fuzzed robot goes through, whichever file it came from. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <stdint.h>

#include "psdm/robot.h"

enum { MOST_JOINTS = 16 }; /* enough for every kind of tree, and thousands of runs per second */

void check(int holds);

/* Parses; a refusal must be a clean sentence. NULL when refused. */
psdm_robot *parse_or_refuse(const uint8_t *data, size_t size, const char *name, const psdm_robot_options *options);

/* Facts in their ranges and, up to MOST_JOINTS joints, every function of the rigid room. */
void exercise(const psdm_robot *robot);

/* Writes in both formats and reads again: the same robot wherever its names and numbers allow it. */
void exercise_writing(const psdm_robot *robot);

#endif
