/* simulator.h: simulators of free motion with a fixed step, behind one interface: libpsdm's in the program itself,
 * others as one shared object each. */
#ifndef BENCH_SIMULATOR_H
#define BENCH_SIMULATOR_H

#include "psdm/robot.h"

typedef enum scheme { RK4, EULER, SCHEMES } scheme; /* classical Runge-Kutta; qd += h qdd(q, qd), then q += h qd */

/* One way to simulate. A state x is q, qd, one after the other. */
typedef struct simulator {
  const char *label; /* ways, compilers and flags of one label compete: the fastest counts */
  const char *way;   /* its implementation and compiler */
  const char *(*refusal)(const psdm_robot *robot); /* why it cannot represent the robot; NULL: it can */
  void *(*open)(const psdm_robot *robot, scheme scheme, double step); /* NULL: unavailable here */
  void (*place)(void *own, const double *x);
  void (*run)(void *own, int steps);
  void (*look)(void *own, double *x);
  void (*close)(void *own);
} simulator;

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif
const simulator *simulators(void); /* of a shared object; ends with one without a label */
#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
