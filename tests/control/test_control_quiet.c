/* Asking a controller for its torque allocates nothing: malloc and its kin are wrapped by the linker and counted. */
#include <stdlib.h>

#include "allocations.h"
#include "support.h"

#include "psdm/control.h"

TEST(test_no_allocation) {
  static const char *const names[] = {"two_link", "kuka_kr6", "parallelogram", "five_bar"};
  for (int r = 0; r < 4; r++) {
    psdm_robot *robot = load_shipped(names[r]);
    int n = psdm_robot_n(robot);
    double from[6] = {1.4, 1.6, 0.3, 0.2, 0.1, 0}, to[6] = {1.2, 1.8, 0.4, -0.2, 0.3, 1}, values[12] = {1, 2, 3, 4},
           t[2] = {0, 1};
    double tau[6], states[64], rates[64], x[18];
    psdm_motion *motion;
    psdm_signal *signal;
    assert_int_equal(psdm_motion_polynomial(n, 5, from, to, 0, 1, NULL, &motion, NULL), PSDM_OK);
    assert_int_equal(psdm_signal_table(n, 2, t, values, false, NULL, &signal, NULL), PSDM_OK);
    psdm_control_options options = {.torque = signal, .friction = true, .horizon_step = 0.05, .bound = 1};
    for (int k = 0; k < PSDM_CONTROL_KINDS; k++) {
      psdm_controller *c;
      long before = allocations;
      if (k == PSDM_CONTROL_LQR && psdm_robot_loops(robot)) continue;
      assert_int_equal(psdm_control_new((psdm_control_kind)k, robot, motion, &options, NULL, &c, NULL), PSDM_OK);
      assert_true(allocations > before); /* the counter works: making it did allocate */
      assert_true(psdm_control_states(c) <= 64);
      before = allocations;
      psdm_control_start(c, states);
      for (int step = -1; step < 12; step++) {
        psdm_control_input in = {.t = 0.1 * step, .q = from, .qd = to, .theta = to, .thetad = from};
        assert_int_equal(psdm_control_torque(c, &in, states, tau, rates), PSDM_OK);
        psdm_control_reference(c, in.t, x);
      }
      assert_int_equal(allocations, before);
      psdm_control_free(c);
    }
    psdm_signal_free(signal);
    psdm_motion_free(motion);
    psdm_robot_free(robot);
  }
}

TEST_MAIN(test_no_allocation)
