/* cmd_doctor.h: what the doctor finds. */
#ifndef TOOL_CMD_DOCTOR_H
#define TOOL_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

typedef struct finding {
  char name[48], detail[400];
  char fix[160]; /* the line that mends it, "" */
  bool ok, required;
} finding;

typedef struct findings {
  finding item[48];
  int count;
} findings;

finding *doctor_find(findings *f, const char *name, bool ok, bool required, const char *format, ...) PSDM_PRINTF(5, 6);

/* What is not there, and the line that brings it. */
void doctor_install(finding *at, const char *packages, bool build_again);

/* A program on the path, or where CUDA's installer puts it without telling the path: its full name. */
bool doctor_program(const char *program, char *full, size_t size);

/* What a program says with --version, cut off at size; "" where it says nothing within ten seconds. */
void doctor_version_of(const char *program, char *text, size_t size);

/* Threads, MPI, GPU: what a run may be spread over. */
void doctor_check_threads(findings *f);
void doctor_check_ranks(findings *f);
void doctor_check_gpu(findings *f);

#endif
