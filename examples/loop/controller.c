/* controller.c: computed torque, or gravity compensation and PD, along a smooth reference. */
#include <math.h>

#include "arm.h"

/* every joint swings on a cosine of its own frequency, which begins at rest where the arm is */
static void reference(const arm_controller *c, int joint, double time, double *q, double *qd, double *qdd) {
  double w = 2.0 + 0.3 * joint, a = c->amplitude;
  *q = c->home[joint] + a * (1 - cos(w * time));
  *qd = a * w * sin(w * time);
  *qdd = a * w * w * cos(w * time);
}

bool controller_on_configure(arm_controller *c) { return c->stiffness > 0 && c->damping > 0 && isfinite(c->amplitude); }

void controller_on_activate(arm_controller *c, const arm_state *state) {
  double M[JOINTS * JOINTS];
  arm_model_mass(state->position, M);
  for (int j = 0; j < JOINTS; j++) {
    c->home[j] = state->position[j];
    c->inertia[j] = M[JOINTS * j + j];
    c->error[j] = 0;
  }
}

/* computed torque: tau = M(q) (qdd_d + kd de/dt + kp e) + c(q, qd) + g(q), which is the inverse dynamics at that
 * acceleration; otherwise tau = g(q) + m (kp e + kd de/dt) with the inertia m of each joint at the start */
void controller_update(arm_controller *c, double time, const arm_state *state, arm_command *command) {
  double pull[JOINTS];
  for (int j = 0; j < JOINTS; j++) {
    double q, qd, qdd;
    reference(c, j, time, &q, &qd, &qdd);
    c->error[j] = q - state->position[j];
    pull[j] = c->stiffness * c->error[j] + c->damping * (qd - state->velocity[j]);
    if (c->control == COMPUTED_TORQUE) pull[j] += qdd;
  }
  if (c->control == COMPUTED_TORQUE) {
    arm_model_inverse(state->position, state->velocity, pull, command->effort);
    return;
  }
  arm_model_gravity(state->position, command->effort);
  for (int j = 0; j < JOINTS; j++) command->effort[j] += c->inertia[j] * pull[j];
}
