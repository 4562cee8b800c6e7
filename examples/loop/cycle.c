/* cycle.c: the loop itself. Periods are counted from one absolute start time, so a late period does not delay the
 * next one. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <time.h>

#include "arm.h"

static double seconds(const struct timespec *a, const struct timespec *b) {
  return (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
}

/* the exact start of a period, not a sum of rounded intervals */
static struct timespec beginning(const struct timespec *start, double rate, long period) {
  double at = (double)period / rate, whole = floor(at);
  struct timespec t = {start->tv_sec + (time_t)whole, start->tv_nsec + lround(1e9 * (at - whole))};
  if (t.tv_nsec >= 1000000000L) t.tv_sec++, t.tv_nsec -= 1000000000L;
  return t;
}

cycle_result cycle_run(const arm_system *system, arm_controller *controller, double rate, long periods,
                       const cycle_record *record) {
  cycle_result result = {0};
  arm_state state;
  arm_command command;
  struct timespec start, woken, done;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long k = 0; k < periods; k++) {
    const struct timespec due = beginning(&start, rate, k + 1);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
    }
    clock_gettime(CLOCK_MONOTONIC, &woken);
    system->read(system->self, &state);
    controller_update(controller, (double)k / rate, &state, &command);
    system->write(system->self, &command, 1 / rate);
    clock_gettime(CLOCK_MONOTONIC, &done);
    double worst = 0;
    for (int j = 0; j < JOINTS; j++) {
      result.square[j] += controller->error[j] * controller->error[j];
      worst = fmax(worst, fabs(controller->error[j]));
    }
    record->lateness[k] = seconds(&due, &woken);
    record->computation[k] = seconds(&woken, &done);
    record->error[k] = worst;
    result.overruns += seconds(&due, &done) > 1 / rate;
    result.periods++;
  }
  return result;
}
