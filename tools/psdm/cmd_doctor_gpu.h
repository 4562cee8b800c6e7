/* cmd_doctor_gpu.h: whether a program could use a GPU here. */
#ifndef TOOL_CMD_DOCTOR_GPU_H
#define TOOL_CMD_DOCTOR_GPU_H

#include <stdbool.h>

typedef struct doctor_gpu {
  bool usable, no_driver; /* no_driver: a GPU is present without a driver */
  bool others;            /* more GPUs than the first, which is reported */
  int cuda;               /* supported by the driver: 12040 is 12.4 */
  int major, minor;       /* compute capability */
  double gibibytes;
  char name[100], why[200]; /* why: one sentence, if it is unusable */
} doctor_gpu;

/* Queries the driver, which is loaded at run time: building needs nothing of CUDA. */
void doctor_look_for_gpu(doctor_gpu *gpu);

#endif
