/* cmd_doctor.h: results of the checks. */
#ifndef TOOL_CMD_DOCTOR_H
#define TOOL_CMD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

typedef struct finding {
  char name[48], detail[400];
  char fix[160]; /* the command that fixes it, "" */
  bool ok, required;
} finding;

typedef struct findings {
  finding item[48];
  int count;
} findings;

finding *doctor_find(findings *f, const char *name, bool ok, bool required, const char *format, ...) PSDM_PRINTF(5, 6);

/* A missing part and the command that installs it. */
void doctor_install(finding *at, const char *packages, bool build_again);

/* Full name of a program on the path, or where CUDA's installer puts it without adding it to the path. */
bool doctor_program(const char *program, char *full, size_t size);

/* Output of a program's --version, truncated to size; "" after ten seconds without output. */
void doctor_version_of(const char *program, char *text, size_t size);

/* Resources of a run: threads, MPI, GPU. */
void doctor_check_threads(findings *f);
void doctor_check_ranks(findings *f);
void doctor_check_gpu(findings *f);

#endif
