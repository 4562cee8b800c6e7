/* cmd_doctor_gpu.h: whether a program could use a GPU here. */
#ifndef TOOL_CMD_DOCTOR_GPU_H
#define TOOL_CMD_DOCTOR_GPU_H

#include <stdbool.h>

typedef struct doctor_gpu {
  bool usable, no_driver; /* no_driver: there is a GPU, and nothing to speak to it with */
  bool others;            /* there are more than the first, which is told of */
  int cuda;               /* what the driver knows: 12040 is 12.4 */
  int major, minor;       /* compute capability */
  double gibibytes;
  char name[100], why[200]; /* why: in one sentence, where it is not usable */
} doctor_gpu;

/* Asks the driver, which is opened at run time: nothing of CUDA is needed to build this. */
void doctor_look_for_gpu(doctor_gpu *gpu);

#endif
