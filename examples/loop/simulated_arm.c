/* simulated_arm.c: an arm behind the same interface as a real one. A period of motion under the commanded torques,
 * held, by the classical Runge-Kutta method on generated forward dynamics, of a model that includes the body in
 * the hand. */
#include <string.h>

#include "arm.h"
#include "arm_plant.h" /* generated: psdm codegen --prefix arm_plant --payload */

static bool on_configure(void *self) {
  simulated_arm *arm = self;
  memset(&arm->state, 0, sizeof arm->state);
  return true;
}

static bool on_activate(void *self) {
  (void)self; /* a real arm would release its brakes here */
  return true;
}

static void read_state(void *self, arm_state *state) {
  const simulated_arm *arm = self;
  *state = arm->state;
}

/* rates at the state that is reached after h along the previous rates */
static void slope(const simulated_arm *arm, const double *tau, double h, const arm_state *before, arm_state *rate) {
  arm_state at = arm->state;
  for (int j = 0; j < JOINTS && before; j++) {
    at.position[j] += h * before->position[j];
    at.velocity[j] += h * before->velocity[j];
  }
  memcpy(rate->position, at.velocity, sizeof at.velocity);
  arm_plant_forward(arm->payload, at.position, at.velocity, tau, rate->velocity);
}

static void write_command(void *self, const arm_command *command, double h) {
  simulated_arm *arm = self;
  arm_state k[4];
  slope(arm, command->effort, 0, NULL, &k[0]);
  slope(arm, command->effort, h / 2, &k[0], &k[1]);
  slope(arm, command->effort, h / 2, &k[1], &k[2]);
  slope(arm, command->effort, h, &k[2], &k[3]);
  for (int j = 0; j < JOINTS; j++) {
    arm->state.position[j] +=
        h / 6 * (k[0].position[j] + 2 * k[1].position[j] + 2 * k[2].position[j] + k[3].position[j]);
    arm->state.velocity[j] +=
        h / 6 * (k[0].velocity[j] + 2 * k[1].velocity[j] + 2 * k[2].velocity[j] + k[3].velocity[j]);
  }
}

static void on_deactivate(void *self) { (void)self; }

arm_system simulated_arm_system(simulated_arm *arm) {
  return (arm_system){arm, on_configure, on_activate, read_state, write_command, on_deactivate};
}
