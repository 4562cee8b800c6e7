/* exercise.h: checks of every fuzzed robot and log, whatever its file format. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <stdint.h>

#include "psdm/log.h"
#include "psdm/output.h"
#include "psdm/robot.h"

/* joints: enough for every kind of tree, and thousands of runs per second */
enum { MOST_JOINTS = 16, PATH_BYTES = 64 };

void check(int holds);

/* Not empty, no control bytes. */
void check_message(const char *text);

/* The status and its message. */
void check_error(const psdm_error *error, psdm_status status);

/* The bytes as a file; the caller closes it. */
int memory_file(const uint8_t *data, size_t size, char path[PATH_BYTES]);

/* Parses; a refusal must have a clean message. NULL when refused. */
psdm_robot *parse_or_refuse(const uint8_t *data, size_t size, const char *name, const psdm_robot_options *options);

/* Facts in their ranges and, up to MOST_JOINTS joints, every function of the rigid room. */
void exercise(const psdm_robot *robot);

/* Writes in both formats and reads again: the same robot if its names and numbers allow it. */
void exercise_writing(const psdm_robot *robot);

/* A log for two joints, shoulder and elbow, in a file in memory: every row is finite, and reading it again gives the
 * same. */
void exercise_log_file(const uint8_t *data, size_t size);

#endif
