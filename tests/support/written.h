/* written.h: a robot written as a file, in memory. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include "psdm/robot.h"

enum { WRITTEN_BYTES = 1 << 20 };

/* The text (WRITTEN_BYTES) of a robot's file through a pipe that holds it whole; its length, 0 when it does not fit or could not be written. Not for threads. */
size_t written_robot(const psdm_robot *robot, psdm_robot_format format, char *text);

#endif
