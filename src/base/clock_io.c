/* clock_io.c: seconds of a monotonic clock. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <time.h>

#include "base/base.h"

double psdmp_base_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
