/* test_sim_shortage.c: memory runs out at every place that makes motions, signals, controllers and simulators, and
 * while motors follow a motion. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "psdm/along.h"
#include "psdm/sim.h"
#include "shortage.h"

static const double T[4] = {0, 0.1, 0.3, 0.4}, Q[8] = {0, 0, 0.1, 0.2, 0.2, 0.1, 0.3, 0.3}, W[24] = {1, 2, 3};

static const char springs[] =
    "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n"
    "  - {name: a, a: 0.4, stiffness: 1000, damping: 2, drive_inertia: 0.1, limits: {lower: -0.1, upper: 2, effort: "
    "50}, friction: {coulomb: 1, viscous: 1, static: 2, stribeck: 0.1, sigma0: 1e4, sigma1: 20}}\n"
    "  - {name: b, a: 0.3, drive_inertia: 0.1}\nlinks:\n"
    "  - {mass: 2, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n  - {mass: 1, inertia: {xx: 0.1, yy: 0.1, "
    "zz: 0.15}}\n";

static psdm_status try_motions(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const char *path = what;
  const char *const names[] = {"q1", "q2", NULL}, *const optional[] = {"x", NULL};
  const double sine[2] = {1, 1};
  psdm_motion *motion[6] = {NULL};
  psdm_signal *signal[2] = {NULL};
  psdm_status status = psdm_motion_polynomial(2, 5, Q, Q + 4, 0, 1, allocator, &motion[0], error);
  if (!status) status = psdm_motion_sines(2, 1, Q, sine, sine, sine, 1, allocator, &motion[1], error);
  if (!status) status = psdm_motion_fourier(2, 1, 2, Q, sine, sine, 1, allocator, &motion[2], error);
  if (!status) status = psdm_motion_table(2, 4, T, Q, NULL, NULL, allocator, &motion[3], error);
  if (!status) status = psdm_motion_table(2, 4, T, Q, Q, Q, allocator, &motion[4], error);
  if (!status) status = psdm_motion_load(path, 2, true, allocator, &motion[5], error);
  if (!status) status = psdm_signal_table(6, 4, T, W, true, allocator, &signal[0], error);
  if (!status) status = psdm_signal_load(path, names, optional, false, true, allocator, &signal[1], error);
  for (int k = 0; k < 6; k++) psdm_motion_free(motion[k]);
  for (int k = 0; k < 2; k++) psdm_signal_free(signal[k]);
  return status;
}

static void motions_and_signals(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/psdm-shortage-%ld.csv", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("t,q1,q2,qd1,qd2,more\n0,0,0,0,0,1\n1,1,1,0,0,1\n2,0,1,0,0,1\n", file);
  fclose(file);
  shortage_everywhere("motions", try_motions, path);
  unlink(path);
}

typedef struct scene {
  const psdm_robot *robot;
  psdm_control_kind kind;
  psdm_sim_options options;
} scene;

static psdm_status try_scene(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const scene *s = what;
  psdm_motion *motion = NULL;
  psdm_signal *torque = NULL;
  psdm_controller *controller = NULL;
  psdm_sim *sim = NULL;
  psdm_sim_result result;
  psdm_sim_options o = s->options;
  psdm_status status = psdm_motion_table(2, 4, T, Q, NULL, NULL, allocator, &motion, error);
  if (!status) status = psdm_signal_table(2, 4, T, Q, true, allocator, &torque, error);
  if (!status)
    status = psdm_control_new(s->kind, s->robot, motion, &(psdm_control_options){.torque = torque, .horizon_step = 0.1},
                              allocator, &controller, error);
  o.controller = controller;
  o.no_code = true;
  if (!status) status = psdm_sim_new(s->robot, &o, allocator, &sim, error);
  if (!status) status = psdm_sim_set(sim, 0, (const double[]){1, 2}, (const double[]){0.1, 0.2}, error);
  if (!status) status = psdm_sim_run(sim, 0.01, NULL, NULL, &result, error);
  psdm_sim_free(sim);
  psdm_control_free(controller);
  psdm_signal_free(torque);
  psdm_motion_free(motion);
  return status;
}

static void controllers_and_simulators(void **state) {
  (void)state;
  psdm_robot *arm = parse_robot(springs), *loop = load_shipped("five_bar");
  static const psdm_sim_payload load = {.t = 0.005, .pi = {1}};
  psdm_signal *wrench;
  assert_int_equal(psdm_signal_table(6, 4, T, W, false, NULL, &wrench, NULL), PSDM_OK);
  for (int kind = 0; kind < PSDM_CONTROL_KINDS; kind++)
    shortage_everywhere(psdm_control_name((psdm_control_kind)kind), try_scene,
                        &(scene){arm, (psdm_control_kind)kind, {.integrator = PSDM_INTEGRATOR_RK4}});
  const scene scenes[] = {
      {arm,
       PSDM_CONTROL_PD,
       {.integrator = PSDM_INTEGRATOR_EULER,
        .friction = PSDM_FRICTION_LUGRE,
        .elastic = true,
        .at_limit = PSDM_AT_LIMIT_STOP,
        .saturate = true,
        .period = 0.002,
        .quantum = 1e-3,
        .noise = 0.01}},
      {arm,
       PSDM_CONTROL_NONE,
       {.friction = PSDM_FRICTION_COULOMB,
        .elastic = true,
        .wrench = wrench,
        .payloads = 1,
        .payload = &load,
        .at_limit = PSDM_AT_LIMIT_BOUNCE}},
      {arm, PSDM_CONTROL_NONE, {.friction = PSDM_FRICTION_LUGRE}},
      {loop, PSDM_CONTROL_PD_GRAVITY, {.integrator = PSDM_INTEGRATOR_RK4, .friction = PSDM_FRICTION_COULOMB}},
      {loop, PSDM_CONTROL_NONE, {0}},
  };
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) shortage_everywhere("simulator", try_scene, &scenes[k]);
  psdm_signal_free(wrench);
  psdm_robot_free(arm), psdm_robot_free(loop);
}

static bool take_row(void *user, const psdm_along_row *row) { return !user && row->n == 2; }

static psdm_status try_along(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_motion *motion = NULL;
  psdm_status status = psdm_motion_polynomial(2, 9, Q, Q + 4, 0, 0.1, allocator, &motion, error);
  for (int elastic = 0; elastic < 2 && !status; elastic++)
    status = psdm_along(
        what, motion,
        &(psdm_along_options){.elastic = elastic, .friction = elastic ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_COULOMB},
        allocator, take_row, NULL, error);
  psdm_motion_free(motion);
  return status;
}

static void motors_along_a_motion(void **state) {
  (void)state;
  psdm_robot *arm = parse_robot(springs);
  shortage_everywhere("along", try_along, arm);
  psdm_robot_free(arm);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(motions_and_signals),
                                     cmocka_unit_test(controllers_and_simulators),
                                     cmocka_unit_test(motors_along_a_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
