/* Base parameters where motions and lengths are far apart in size: slides that turn their load by radians per metre, on
 * robots of a micrometre; far masses with short arms. At slow and fast motion, short slides and long ones, they have
 * the recursion's torques, or are refused. */
#include <math.h>
#include <string.h>

#include "psdm/psdm.h"
#include "support.h"

enum { MOST_JOINTS = 6, STANDARD = 11 * MOST_JOINTS };

/* the largest error over the largest torque, at states of that rate, with slides (bits of sliding) of that length */
static double off_by(const psdm_robot *r, unsigned sliding, const int *kept, const double *theta, int l, double rate,
                     double slide, uint64_t seed) {
  int n = psdm_robot_n(r), S = psdm_robot_parameter_count(r);
  double x[3][MOST_JOINTS], Y[MOST_JOINTS * STANDARD], pi[STANDARD], worst = 0, largest = 0;
  psdm_work *work;
  rng g = {seed};
  assert_true(n <= MOST_JOINTS);
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  psdm_robot_parameters(r, pi);
  for (int s = 0; s < 50; s++) {
    for (int i = 0; i < 3 * n; i++)
      x[i / n][i % n] = rng_uniform(&g, -3, 3) * pow(rate, i / n) * (sliding >> i % n & 1 ? slide : 1);
    assert_int_equal(psdm_regressor_standard(r, work, x[0], x[1], x[2], Y), PSDM_OK);
    for (int i = 0; i < n; i++) {
      double want = 0, got = 0;
      for (int k = 0; k < S; k++) want += Y[i * S + k] * pi[k];
      for (int j = 0; j < l; j++) got += Y[i * S + kept[j]] * theta[j];
      worst = fmax(worst, fabs(got - want)), largest = fmax(largest, fabs(want));
    }
  }
  psdm_work_free(work, NULL);
  return worst / largest;
}

/* The turn's rate shows z3 at first order (z3 m3 qd^2 along the last slide), the mass matrix only at second order:
 * 1e-13 of its largest entry. */
static const char large[] =
    "gravity: [9.81, 0, 0]\nconvention: dh\njoints:\n  - {name: j1, theta: 2.9, alpha: -1.5707963267948966}\n  - "
    "{name: j2, d: -7e+03, couple: {j1: 2}}\n"
    "  - {name: j3, theta: 0.0069, a: 4e+03, alpha: -1.5707963267948966}\n  - {name: j4, theta: 0.785398163397, alpha: "
    "1}\n"
    "  - {name: j5, type: prismatic, theta: 1.57079633, d: 8e+03, alpha: -1.571, couple: {j4: -1, j3: -1}}\n  - {name: "
    "j6, type: prismatic, theta: 1, alpha: 0.8}\nlinks:\n"
    "  - {mass: 0, com: [0, 0, 0], inertia: {zz: 0}}\n  - {mass: 7, com: [10, 20, 3], inertia: {xx: 4e+07, yy: 3e+07, "
    "zz: 2e+07}}\n  - {mass: 3, com: [4000, 5000, -2600], inertia: {xx: 2e+07, yy: 3e+07, zz: 2e+07}}\n"
    "  - {mass: 0, com: [0, 0, 0], inertia: {zz: 0}}\n  - {mass: 8, com: [-2000, 2600, 2700], inertia: {xx: 8e+07, yy: "
    "1e+08, zz: 3e+07}}\n  - {mass: 6, com: [1000, -1900, -1100], inertia: {xx: 6e+07, xz: 2e+07, yy: 9e+07, zz: "
    "7e+07}}\n";

static void slides_that_turn(void **state) {
  (void)state;
  static const char *const texts[] = {
      "gravity: [0, 0, 0]\nconvention: modified-dh\njoints:\n  - {name: j1, type: prismatic}\n  - {name: j2, couple: "
      "{j1: 1}}\n  - {name: j3, type: prismatic, alpha: 1}\n"
      "links:\n  - {mass: 0, com: [0, 0, 0], inertia: {zz: 0}}\n  - {mass: 0, com: [0, 0, 0], inertia: {zz: 0}}\n  - "
      "{mass: 1, com: [0, 0, 4e-7], inertia: {zz: 0}}\n",
      "convention: modified-dh\njoints:\n  - {name: j1, type: prismatic, d: 3e-7, a: -5e-7, alpha: "
      "-1.5707963267948966, drive_inertia: 1}\n  - {name: j2, type: prismatic, theta: 0.8}\n"
      "  - {name: j3, d: 7e-8, alpha: 1.8, couple: {j1: -1}}\n  - {name: j4, type: prismatic, theta: 0.3, d: -3e-7, a: "
      "-3e-7, alpha: -2.5}\n"
      "links:\n  - {mass: 0.5, com: [1e-8, 1e-7, 1e-7], inertia: {xx: 2e-14, yy: 2e-14, zz: 3e-15}}\n  - {mass: 7, "
      "com: [1e-7, -1e-7, -2e-7], inertia: {xx: 4e-13, yy: 4e-13, zz: 4e-13}}\n"
      "  - {mass: 6, com: [-2e-7, 4e-8, -2e-7], inertia: {xx: 1e-13, yy: 1e-13, zz: 2e-13}}\n  - {mass: 2, com: "
      "[-2e-7, 1e-7, 3e-7], inertia: {xx: 3e-14, yy: 3e-14, zz: 4e-14}}\n"};
  for (int t = 0; t < 3; t++) {
    psdm_robot *robot = parse_robot(t < 2 ? texts[t] : large); /* ten kilometres, a metre per radian */
    psdm_model *model;
    double pi[STANDARD], theta[STANDARD];
    int kept[STANDARD];
    assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(model, pi, theta);
    for (int j = 0; j < psdm_model_l(model); j++) psdm_model_base_term(model, j, 0, &kept[j]);
    for (double slide = 1e-6; slide < 10; slide *= 100)
      for (double rate = 1; rate < 1e4; rate *= 30) {
        double off = off_by(robot, t < 2 ? 7 : 8, kept, theta, psdm_model_l(model), rate, slide, 5);
        if (!(off <= PSDM_MODEL_ACCURACY))
          fail_msg("robot %d, slides of %g m, %g rad/s: %g of the largest torque", t, slide, rate, off);
      }
    psdm_model_free(model);
    psdm_robot_free(robot);
  }
}

/* A heavy far link makes the samples' unit of length 230 m, and a slide's weight at that arm is far above the torques
 * of the short ones: gravity must not hide them at any rate. */
static void weights_do_not_hide_short_slides(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: j1, alpha: 1}\n  - {name: j2, theta: 1, a: 8e-5, d: 0.002, "
                  "alpha: 0.5}\n  - {name: j3, alpha: 1, d: 0.001}\n"
                  "  - {name: j4, type: prismatic}\nlinks:\n  - {mass: 0.02, com: [156, -181, -125], inertia: {xx: "
                  "460, yy: 460, zz: 558}}\n"
                  "  - {mass: 1.3, com: [0.4, -0.3, -0.7], inertia: {xx: 0.1, yy: 0.13, zz: 0.2}}\n  - {mass: 40, com: "
                  "[-0.0015, 0.0008, -0.0015], inertia: {xx: 3e-5, yy: 3e-5, zz: 2e-5}}\n"
                  "  - {mass: 3, com: [0.0003, -0.0007, -0.0004], inertia: {xx: 4e-7, yy: 4e-7, zz: 4e-7}}\n");
  int refused = 0;
  for (int sampling = 0; sampling < 3; sampling++)
    for (int solver = 0; solver < 2; solver++) {
      const psdm_base_parameters_options o = {.sampling = (psdm_sampling)sampling, .solver = (psdm_solver)solver};
      psdm_base_parameters *p;
      psdm_error error;
      double pi[STANDARD], theta[STANDARD];
      int kept[STANDARD];
      psdm_status status = psdm_base_parameters_solve(robot, &o, NULL, &p, &error);
      if (status) {
        assert_int_equal(status, PSDM_E_ACCURACY);
        assert_non_null(strstr(error.text, "reproduce the torques of the recursion only to"));
        refused++;
        continue;
      }
      psdm_robot_parameters(robot, pi);
      psdm_base_parameters_theta(p, pi, theta);
      for (int j = 0; j < p->rank; j++) kept[j] = p->column[p->kept[j]];
      for (double slide = 1e-3; slide < 1e3; slide *= 10)
        for (double rate = 0.1; rate < 100; rate *= 3) {
          double off = off_by(robot, 8, kept, theta, p->rank, rate, slide, 6);
          if (!(off <= PSDM_MODEL_ACCURACY))
            fail_msg("sampling %d, solver %d, slides of %g m, %g rad/s: %g of the largest torque", sampling, solver,
                     slide, rate, off);
        }
      psdm_base_parameters_free(p);
    }
  print_message("%d of 6 refused\n", refused);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slides_that_turn),
                                     cmocka_unit_test(weights_do_not_hide_short_slides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
