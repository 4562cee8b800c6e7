/* coverage.c: how often the truth lies within three standard deviations of what a calibration reports. Built and run by
 * deep_calibrate.sh.
 *
 *   coverage kr6|denso ESTIMATOR SEEDS ROWS CABLE [recipe] [plain]
 *
 * Exact torques along one exciting motion at 1 kHz, read through 17-bit encoders at the motors (gear 100), with noise
 * of 0.5 % of each joint's largest torque, for SEEDS seeds; CABLE is an unmodelled spring at the wrist, as a share of
 * the wrist's largest torque. The cutoff is fixed, or the recipe chooses everything. Prints a line per base parameter.
 * Exit 0, or 1 when fewer than 95 % of the cases are covered without a cable, or a fit is not physically possible. */
#include "test_calibrate_log.h"

#include "psdm/calibrate.h"

/* Kinematics of the KR6 with made-up bodies, physically possible: ellipsoids near the middle of their links. */
static const char kr6[] = "name: kr6_like\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n"
                          "  - {name: A1, type: revolute, d: 0.183, a: 0.025, alpha: -pi/2, drive_inertia: 1.1}\n"
                          "  - {name: A2, type: revolute, a: -0.315, drive_inertia: 1.0}\n"
                          "  - {name: A3, type: revolute, a: -0.035, alpha: pi/2, drive_inertia: 0.5}\n"
                          "  - {name: A4, type: revolute, d: 0.365, alpha: -pi/2, drive_inertia: 0.12}\n"
                          "  - {name: A5, type: revolute, alpha: pi/2, drive_inertia: 0.1}\n"
                          "  - {name: A6, type: revolute, d: 0.080, drive_inertia: 0.06}\n"
                          "links:\n"
                          "  - {mass: 7.6, com: [-0.038, 0.044, -0.008], inertia: {xx: 0.043, yy: 0.045, zz: 0.049, "
                          "xy: 0.0125, xz: 0.0022, yz: -0.0024}}\n"
                          "  - {mass: 4.8, com: [0.155, -0.006, 0.115], inertia: {xx: 0.012, yy: 0.049, zz: 0.051, xy: "
                          "-0.0004, xz: -0.0012, yz: 0.0001}}\n"
                          "  - {mass: 7.0, com: [0.045, -0.007, 0.004], inertia: {xx: 0.028, yy: 0.038, zz: 0.031, xy: "
                          "0.001, xz: 0.0005, yz: -0.0002}}\n"
                          "  - {mass: 2.9, com: [-0.001, 0.102, -0.003], inertia: {xx: 0.014, yy: 0.006, zz: 0.012, "
                          "xy: -0.001, xz: 0.0002, yz: 0.0002}}\n"
                          "  - {mass: 1.2, com: [0.001, -0.030, 0.011], inertia: {xx: 0.0019, yy: 0.0014, zz: 0.0016, "
                          "xy: 0.0001, xz: 0.0002, yz: 0.0001}}\n"
                          "  - {mass: 3.0, com: [-0.002, -0.019, 0.067], inertia: {xx: 0.006, yy: 0.0065, zz: 0.006, "
                          "xy: 0.0001, xz: -0.0003, yz: 0.0004}}\n";

/* Standard parameters that have the base parameters of Lloyd, Irani, Ahmadi (2022), Table 4: its gravity parameters as
 * masses and first moments, its inertial ones as moments about the link frames and drive inertias, and zero where the
 * choice is free. Not physically possible. */
static void set_denso(double *pi) {
  static const double link[6][10] = {
      {7.42, 0, 0, 0.566, 0, 0, 0, 0, 0, 0},
      {5.46, 0, -0.0632, 0, 0.16, -0.236, 0.1, 0, 0.0177, 0},
      {4.1, 0, 0, 0, -0.0509, -0.0199, 0.0397, -0.0443, -0.0123, 0},
      {3.38, -0.0179, 0, -0.0165, 0, -0.0172, -0.0704, -0.0099, 0.00447, 0.0474},
      {0, 0, 0, 0.0793, -0.00012, 0, 0, 0.00694, -0.00622, 0},
      {0},
  };
  static const double drive[6] = {1.909, 2.66, 0.561, 0.0838, 0.092, 0.0306};
  memcpy(pi, link, sizeof link);
  memcpy(pi + 60, drive, sizeof drive);
}

typedef struct tally {
  int covered, cases;
  double sum, square, sd;
} tally;

static double z = 3; /* standard deviations */

static void print_table(const char *const *name, int l, const double *theta, const tally *t, int seeds) {
  printf("%-10s %11s %11s %10s %10s %10s %8s\n", "parameter", "truth", "mean", "bias", "scatter", "reported",
         "covered");
  for (int j = 0; j < l; j++) {
    double mean = t[j].sum / seeds, scatter = sqrt(fmax(t[j].square / seeds - mean * mean, 0));
    printf("%-10.10s %11.5f %11.5f %10.2e %10.2e %10.2e %7.1f%%\n", name[j], theta[j], mean, mean - theta[j], scatter,
           t[j].sd / seeds, 100.0 * t[j].covered / t[j].cases);
  }
}

static int cover(bool denso, psdm_estimator estimator, int seeds, long rows, double cable, bool recipe, bool plain) {
  char path[64];
  psdm_robot *robot = denso ? load_shipped("denso_vs6556g") : parse_robot(kr6);
  double pi[66], theta[128];
  const char *name = log_path(path), *names[128];
  if (denso) set_denso(pi);
  else psdm_robot_parameters(robot, pi);
  truth w = log_of(robot, rows, 0.001, 5, 4);
  w.pi = pi, w.offset = 0.3, w.smooth = 0.3, w.noise = 0.005, w.step = 6.283185307179586 / (131072.0 * 100),
  w.cable = cable, w.reach = 0.8;
  if (plain) w.smooth = 0;
  rng motion = {.state = 4711};
  tones m = tones_of(&motion, &w);
  tally t[128] = {{0}};
  int l = 0, feasible = 0, covered = 0, cases = 0;
  double drift = 0, held = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    rng noise = {.state = 1000003u * (uint64_t)seed + 17};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_rows(file, &w, &noise, &m, true, 0);
    assert_int_equal(fclose(file), 0);
    psdm_calibrate_options o = {
        .files = 1, .path = &name, .estimator = estimator, .prior_kinematics = true, .holdout = 0.2};
    if (!recipe) o.cutoff = 40, o.delay_given = true, o.lambda = 1, o.columns = 3;
    o.plain_friction = plain;
    psdm_calibration *c;
    psdm_error error = {0};
    if (psdm_calibrate(robot, &o, NULL, &c, &error)) fail_msg("%s", error.text);
    if (!l) {
      l = c->base;
      const psdm_robot *bare = robot;
      psdm_model *model;
      psdm_robot *clone = NULL;
      if (denso) { /* without the assumptions of its file, as calibrations are made */
        static char body[16384];
        FILE *from = fopen(SOURCE_DIR "/robots/denso_vs6556g.yaml", "r");
        assert_non_null(from);
        size_t length = fread(body, 1, sizeof body - 1, from);
        fclose(from);
        body[length] = 0;
        *strstr(body, "assume:") = 0;
        bare = clone = parse_robot(body);
      }
      true_theta(bare, pi, theta);
      assert_int_equal(psdm_base_parameters_derive(bare, NULL, NULL, &model, NULL, &error), PSDM_OK);
      for (int j = 0; j < l; j++) names[j] = strdup(psdm_model_base_name(model, j));
      psdm_model_free(model);
      psdm_robot_free(clone);
    }
    for (int j = 0; j < l; j++) {
      double off = c->theta[j].value - theta[j];
      bool inside = fabs(off) <= z * c->theta[j].sd;
      t[j].covered += inside, t[j].cases++, t[j].sum += c->theta[j].value,
          t[j].square += c->theta[j].value * c->theta[j].value, t[j].sd += c->theta[j].sd;
      covered += inside, cases++;
      drift = fmax(drift, fabs(off) / fmax(c->theta[j].sd, 1e-300));
    }
    feasible += !c->pi || physically_possible(c->pi, 6);
    held += c->heldout[PSDM_FIT_MOVING].global_rel;
    psdm_calibration_free(c);
  }
  printf("\n%s, %s, %d seeds of %ld rows, cable %g %%%s%s\n", denso ? "Denso" : "KR6", psdm_estimator_name(estimator),
         seeds, rows, 100 * cable, recipe ? ", all left to the recipe" : "", plain ? ", plain friction" : "");
  print_table(names, l, theta, t, seeds);
  printf("covered: %d of %d, %.1f %%; farthest %.1f sd; possible: %d of %d; held out %.3f %%\n", covered, cases,
         100.0 * covered / cases, drift, feasible, seeds, 100 * held / seeds);
  for (int j = 0; j < l; j++) free((char *)names[j]);
  psdm_robot_free(robot);
  unlink(path);
  return (cable == 0 && covered < 0.95 * cases) || (estimator == PSDM_ESTIMATOR_CONSISTENT && feasible < seeds);
}

static char **arguments;
static int count, answer;

TEST(run) {
  psdm_estimator estimator;
  bool recipe = false, plain = false;
  assert_true(psdm_estimator_find(arguments[2], &estimator));
  for (int k = 6; k < count; k++)
    recipe |= strcmp(arguments[k], "recipe") == 0, plain |= strcmp(arguments[k], "plain") == 0;
  answer = cover(strcmp(arguments[1], "denso") == 0, estimator, atoi(arguments[3]), atol(arguments[4]),
                 atof(arguments[5]), recipe, plain);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
  if (argc < 6) return fprintf(stderr, "coverage kr6|denso ESTIMATOR SEEDS ROWS CABLE [recipe] [plain]\n"), 2;
  arguments = argv, count = argc;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed ? failed : answer;
}
