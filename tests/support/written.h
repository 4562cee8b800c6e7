/* written.h: what is written as a file, in memory. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include "psdm/output.h"
#include "psdm/robot.h"

enum { WRITTEN_BYTES = 1 << 20 };

/* The text (WRITTEN_BYTES) that write_it puts out, through a pipe that holds it whole; its length, 0 when it does
 * not fit or could not be written. Not for threads. */
size_t written_text(void (*write_it)(const void *what, psdm_output *out), const void *what, char *text);

/* The same of a robot's file. */
size_t written_robot(const psdm_robot *robot, psdm_robot_format format, char *text);

#endif
