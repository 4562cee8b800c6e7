/* test_payload.c: the rule of change: ten numbers of one link, in theta, on robots, in parameter files; De Luca's 2R
 * arm by hand; refusals, memory. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payload/payload_priv.h"
#include "test_payload_file.h"
#include "twin.h"
#include "psdm/predictor.h"

enum { MOST = 16 };

static void random_states(rng *g, int n, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++)
    q[i] = rng_uniform(g, -3, 3), qd[i] = rng_uniform(g, -2, 2), qdd[i] = rng_uniform(g, -5, 5);
}

static void inverse(const psdm_robot *robot, const double *q, const double *qd, const double *qdd, double *tau) {
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
  psdm_work_free(work, NULL);
}

/* ---- a load as numbers ---- */

static void loads_are_converted_back(void **state) {
  (void)state;
  rng g = rng_start("loads_are_converted_back");
  for (int round = 0; round < 200; round++) {
    psdm_load load = random_load(&g), back;
    double pi[10], off[3];
    psdm_load_to_standard(&load, pi);
    assert_true(psdm_load_from_standard(pi, &back));
    off[0] = fabs(back.mass - load.mass), off[1] = max_difference(back.com, load.com, 3),
    off[2] = max_difference(back.inertia, load.inertia, 6);
    assert_true(off[0] == 0 && off[1] <= 1e-15 && off[2] <= 1e-15);
  }
  psdm_load none;
  assert_false(psdm_load_from_standard((const double[10]){0}, &none));
  assert_true(none.mass == 0 && isnan(none.com[0]) && isnan(none.inertia[5]));
  assert_false(psdm_load_from_standard((const double[10]){-1, 2}, &none));
  assert_true(none.mass == -1 && isnan(none.com[2]));
}

/* standard deviations by derivatives against small differences */
static void uncertainty_of_body_parameters(void **state) {
  (void)state;
  rng g = rng_start("uncertainty_of_body_parameters");
  double worst = 0;
  for (int round = 0; round < 50; round++) {
    psdm_load load = random_load(&g), moved[2];
    double pi[10], root[100], V[100] = {0}, mass, com[3], inertia[6], slope[10][10];
    psdm_load_to_standard(&load, pi);
    for (int k = 0; k < 100; k++) root[k] = rng_uniform(&g, -1e-3, 1e-3);
    for (int a = 0; a < 10; a++)
      for (int b = 0; b < 10; b++)
        for (int k = 0; k < 10; k++) V[10 * a + b] += root[10 * a + k] * root[10 * b + k];
    for (int a = 0; a < 10; a++) { /* central differences of mass, com, inertia by pi_a */
      for (int side = 0; side < 2; side++) {
        double there[10];
        memcpy(there, pi, sizeof there);
        there[a] += side ? 1e-5 : -1e-5;
        psdm_load_from_standard(there, &moved[side]);
      }
      slope[0][a] = (moved[1].mass - moved[0].mass) / 2e-5;
      for (int k = 0; k < 3; k++) slope[1 + k][a] = (moved[1].com[k] - moved[0].com[k]) / 2e-5;
      for (int k = 0; k < 6; k++) slope[4 + k][a] = (moved[1].inertia[k] - moved[0].inertia[k]) / 2e-5;
    }
    psdmp_payload_load_doubt(&load, V, &mass, com, inertia);
    for (int k = 0; k < 10; k++) {
      double sum = 0, found = k == 0 ? mass : k < 4 ? com[k - 1] : inertia[k - 4];
      for (int a = 0; a < 10; a++)
        for (int b = 0; b < 10; b++) sum += slope[k][a] * V[10 * a + b] * slope[k][b];
      worst = fmax(worst, fabs(found / sqrt(sum) - 1));
    }
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-6); /* differences: h^2 = 1e-10 over m^2, down to 0.04; rounding 1e-16 / 1e-5 */
}

/* ---- the rule on robots of any kind, against a twin with the two bodies merged ---- */

/* mass, centre and inertia about it of two bodies, by Steiner's rule */
static void unite(twin_row *row, const psdm_load *load) {
  double mass = row->mass + load->mass, com[3];
  for (int k = 0; k < 3; k++) com[k] = (row->mass * row->com[k] + load->mass * load->com[k]) / mass;
  for (int part = 0; part < 2; part++) {
    double m = part ? load->mass : row->mass, r[3];
    for (int k = 0; k < 3; k++) r[k] = (part ? load->com[k] : row->com[k]) - com[k];
    const double steiner[6] = {r[1] * r[1] + r[2] * r[2], -r[0] * r[1], -r[0] * r[2],
                               r[0] * r[0] + r[2] * r[2], -r[1] * r[2], r[0] * r[0] + r[1] * r[1]};
    for (int k = 0; k < 6; k++) row->inertia[k] += m * steiner[k] + (part ? load->inertia[k] : 0);
  }
  row->mass = mass;
  memcpy(row->com, com, sizeof com);
}

static void rule_on_random_robots(void **state) {
  (void)state;
  static char text[TEXT];
  rng g = rng_start("rule_on_random_robots");
  double worst_twin = 0, worst_theta = 0, worst_growth = 0;
  for (int round = 0; round < 60; round++) {
    twin t = twin_random(&g, 6, true, true);
    psdm_robot *robot = twin_robot(&t, text, sizeof text), *carrier;
    psdm_error error = {0};
    int joint = rng_int(&g, 0, t.joints - 1), n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
    psdm_load load = random_load(&g);
    double pi[10], q[MOST], qd[MOST], qdd[MOST], tau[MOST], plain[MOST], by_theta[MOST], by_empty[MOST], off[2] = {0};
    psdm_load_to_standard(&load, pi);
    assert_int_equal(psdm_robot_clone(robot, NULL, &carrier), PSDM_OK);
    if (psdm_payload_attach(carrier, joint, pi, &error)) fail_msg("%s", error.text);
    unite(&t.row[joint], &load);

    psdm_model *model;
    assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
    int base = psdm_model_l(model), kept[STANDARD];
    double L[10 * STANDARD], all[STANDARD], theta[STANDARD], loaded[STANDARD],
        *Y = malloc((size_t)n * (size_t)S * sizeof *Y);
    if (psdm_payload_map(robot, model, joint, L, &error)) fail_msg("%s", error.text);
    psdm_robot_parameters(robot, all);
    psdm_model_theta(model, all, theta);
    psdm_payload_update(base, L, pi, theta, loaded);
    for (int j = 0; j < base; j++) psdm_model_base_term(model, j, 0, &kept[j]);
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    for (int trial = 0; trial < 5; trial++) {
      cld x[3][MOST], torque[MOST];
      random_states(&g, n, q, qd, qdd);
      for (int i = 0; i < n; i++) x[0][i] = q[i], x[1][i] = qd[i], x[2][i] = qdd[i];
      twin_inverse(&t, x[0], x[1], x[2], torque);
      inverse(carrier, q, qd, qdd, tau);
      inverse(robot, q, qd, qdd, plain);
      assert_int_equal(psdm_regressor_standard(robot, work, q, qd, qdd, Y), PSDM_OK);
      double size = max_absolute(tau, n), truth[MOST];
      for (int i = 0; i < n; i++) {
        truth[i] = (double)creall(torque[i]), by_theta[i] = by_empty[i] = 0;
        for (int j = 0; j < base; j++)
          by_theta[i] += Y[(long)i * S + kept[j]] * loaded[j], by_empty[i] += Y[(long)i * S + kept[j]] * theta[j];
      }
      worst_twin = fmax(worst_twin, max_difference(tau, truth, n) / size);
      off[0] = fmax(off[0], max_difference(plain, by_empty, n) / max_absolute(plain, n)),
      off[1] = fmax(off[1], max_difference(tau, by_theta, n) / size);
    }
    worst_theta = fmax(worst_theta, off[1]);
    worst_growth = fmax(worst_growth, off[1] / (off[0] + 1e-13));
    free(Y);
    psdm_work_free(work, NULL);
    psdm_model_free(model);
    psdm_robot_free(carrier);
    psdm_robot_free(robot);
  }
  print_message("attached beside the twin %.2g, theta + L pi beside attached %.2g, of the torque; that is %.2g times "
                "what theta alone has\n",
                worst_twin, worst_theta, worst_growth);
  assert_true(worst_twin < 1e-12); /* some hundred operations, and cancellation of large torques at small ones */
  /* formulas of coupled robots are sampled, and known to some 1e-10; the load adds no error of its own */
  assert_true(worst_growth < 100 && worst_theta < 1e-8);
}

/* ---- De Luca's 2R planar arm: six coefficients without and with the load ---- */

typedef struct arm {
  double a[2], m[2], cx[2], cy[2], J[2]; /* about the distal frame of each link */
} arm;

/* "Example: 2R planar robot with payload"; rotational ones are half of what the torques have */
static void coefficients(const arm *r, const psdm_load *load, double J_load, double out[6]) {
  double mL = load ? load->mass : 0, cLx = load ? load->com[0] : 0, cLy = load ? load->com[1] : 0,
         ILzz = load ? J_load : 0;
  double a1 = r->a[0], a2 = r->a[1], m1 = r->m[0], m2 = r->m[1];
  out[0] = (a2 * a2 * (m2 + mL) + r->J[1] + ILzz) / 2 + a2 * (r->cx[1] * m2 + cLx * mL);
  out[1] = r->cx[1] * m2 + cLx * mL + a2 * (m2 + mL);
  out[2] = r->cy[1] * m2 + cLy * mL;
  out[3] = (r->J[0] + a1 * a1 * m1 + a1 * a1 * (m2 + mL)) / 2 + a1 * r->cx[0] * m1;
  out[4] = r->cx[0] * m1 + a1 * m1 + a1 * (m2 + mL);
  out[5] = r->cy[0] * m1;
}

/* torques of the arm by Lagrange, from the coefficients: J2 = 2 c1 and J1 = 2 c4 about the joints, (c2, c3) and (c5,
 * c6) first moments; gravity g along -y */
static void arm_torque(double a1, double g, const double c[6], const double *q, const double *qd, const double *qdd,
                       double tau[2]) {
  double J1 = 2 * c[3], J2 = 2 * c[0], s2 = sin(q[1]), c2 = cos(q[1]), along = a1 * (c[1] * c2 - c[2] * s2),
         across = a1 * (c[1] * s2 + c[2] * c2);
  double outer = g * (c[1] * cos(q[0] + q[1]) - c[2] * sin(q[0] + q[1]));
  tau[1] = J2 * (qdd[0] + qdd[1]) + along * qdd[0] + across * qd[0] * qd[0] + outer;
  tau[0] = J1 * qdd[0] + J2 * (qdd[0] + qdd[1]) + along * (2 * qdd[0] + qdd[1]) -
           across * (2 * qd[0] * qd[1] + qd[1] * qd[1]) + g * (c[4] * cos(q[0]) - c[5] * sin(q[0])) + outer;
}

/* the same arm in either convention; modified-dh has its frames at the joints, and a flange where the distal frame
 * would be */
static psdm_robot *arm_robot(const arm *r, bool modified, char *text, size_t size) {
  double shift[2] = {modified ? r->a[0] : 0, modified ? r->a[1] : 0};
  int length = snprintf(text, size,
                        "name: arm\ngravity: [0, -9.81, 0]\nconvention: %s\njoints:\n  - {name: J1, a: %.17g}\n  - "
                        "{name: J2, a: %.17g}\n",
                        modified ? "modified-dh" : "dh", modified ? 0 : r->a[0], modified ? r->a[0] : r->a[1]);
  if (modified)
    length += snprintf(text + length, size - (size_t)length, "  - {name: flange, type: fixed, a: %.17g}\n", r->a[1]);
  length += snprintf(text + length, size - (size_t)length, "links:\n");
  for (int k = 0; k < 2; k++) { /* standard parameters about the file's frame */
    double mx = r->m[k] * (r->cx[k] + shift[k]), my = r->m[k] * r->cy[k],
           ZZ = r->J[k] + 2 * shift[k] * r->cx[k] * r->m[k] + shift[k] * shift[k] * r->m[k];
    length += snprintf(
        text + length, size - (size_t)length,
        "  - standard: {m: %.17g, mx: %.17g, my: %.17g, mz: 0, XX: 0.1, XY: 0, XZ: 0, YY: 0.1, YZ: 0, ZZ: %.17g}\n",
        r->m[k], mx, my, ZZ);
  }
  if (modified) snprintf(text + length, size - (size_t)length, "  - {mass: 0}\n");
  return parse_robot(text);
}

static double base_of(const psdm_model *model, const double *theta, const char *name) {
  for (int j = 0; j < psdm_model_l(model); j++)
    if (strcmp(psdm_model_base_name(model, j), name) == 0) return theta[j];
  fail_msg("no base parameter %s", name);
  return NAN;
}

/* psdm's six and the slides': dh has ZZ_k - a^2 (m's), modified-dh the inertias about the joints themselves */
static double arm_apart(const arm *r, bool modified, const psdm_model *model, const double *theta, const double c[6]) {
  double J2 = 2 * c[0] - (modified ? 0 : 2 * r->a[1] * c[1]), J1 = 2 * c[3] - (modified ? 0 : 2 * r->a[0] * c[4]);
  const double by_hand[6] = {J1, c[4], c[5], J2, c[1], c[2]};
  const double found[6] = {base_of(model, theta, "ZZ1"), base_of(model, theta, "mx1"), base_of(model, theta, "my1"),
                           base_of(model, theta, "ZZ2"), base_of(model, theta, "mx2"), base_of(model, theta, "my2")};
  return max_difference(by_hand, found, 6);
}

static void golden_arm(void **state) {
  (void)state;
  char text[2048];
  rng g = rng_start("golden_arm");
  double worst = 0, worst_torque = 0;
  for (int round = 0; round < 40; round++) {
    bool modified = round % 2;
    arm r;
    for (int k = 0; k < 2; k++) {
      r.a[k] = rng_uniform(&g, 0.2, 0.8), r.m[k] = rng_uniform(&g, 1, 5);
      r.cx[k] = rng_uniform(&g, -0.4, 0), r.cy[k] = rng_uniform(&g, -0.1, 0.1),
      r.J[k] = r.m[k] * (r.cx[k] * r.cx[k] + r.cy[k] * r.cy[k]) + rng_uniform(&g, 0.01, 0.1);
    }
    psdm_load load = random_load(&g);
    double pi[10], empty[6], with[6], all[20], theta[20], loaded[20], L[200];
    psdm_error error = {0};
    psdm_load_to_standard(&load, pi); /* about frame 2, whose ILzz is pi[9] */
    coefficients(&r, NULL, 0, empty);
    coefficients(&r, &load, pi[9], with);
    psdm_robot *robot = arm_robot(&r, modified, text, sizeof text);
    psdm_model *model;
    assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
    assert_int_equal(psdm_model_l(model), 6);
    if (psdm_payload_map(robot, model, psdm_robot_default_link(robot, NULL), L, &error)) fail_msg("%s", error.text);
    psdm_robot_parameters(robot, all);
    psdm_model_theta(model, all, theta);
    psdm_payload_update(6, L, pi, theta, loaded);
    worst =
        fmax(worst, fmax(arm_apart(&r, modified, model, theta, empty), arm_apart(&r, modified, model, loaded, with)));
    for (int trial = 0; trial < 6; trial++) { /* torques: without, by theta, by the robot that carries it */
      double q[2], qd[2], qdd[2], by_hand[2], found[2], scratch[512];
      random_states(&g, 2, q, qd, qdd);
      if (trial == 3 && psdm_payload_attach(robot, psdm_robot_default_link(robot, NULL), pi, &error))
        fail_msg("%s", error.text);
      arm_torque(r.a[0], 9.81, trial < 3 ? empty : with, q, qd, qdd, by_hand);
      inverse(robot, q, qd, qdd, found);
      worst_torque = fmax(worst_torque, max_difference(by_hand, found, 2) / fmax(1, max_absolute(by_hand, 2)));
      assert_true(psdm_model_scratch(model) <= 512);
      psdm_model_inverse(model, trial < 3 ? theta : loaded, q, qd, qdd, scratch, found);
      worst_torque = fmax(worst_torque, max_difference(by_hand, found, 2) / fmax(1, max_absolute(by_hand, 2)));
    }
    psdm_model_free(model);
    psdm_robot_free(robot);
  }
  print_message("coefficients %.2g apart, torques %.2g\n", worst, worst_torque);
  assert_true(worst < 1e-13 && worst_torque < 1e-12); /* numbers of some ten, a few operations */
}

/* ---- links that are not the last, fixed ones, refusals ---- */

static const char tree_text[] =
    "name: tree\nconvention: modified-dh\njoints:\n  - {name: trunk, d: 0.3}\n  - {name: left, parent: trunk, alpha: "
    "pi/2, a: 0.1}\n  - {name: right, parent: trunk, alpha: -pi/2, a: -0.1}\n"
    "  - {name: hand, parent: right, type: fixed, a: 0.4}\nlinks:\n  - {mass: 3, com: [0, 0, -0.1]}\n  - {mass: 2, "
    "com: [0.2, 0, 0]}\n  - {mass: 2, com: [0.2, 0, 0]}\n  - {mass: 0}\n";

static void links_by_name(void **state) {
  (void)state;
  psdm_error error = {0};
  psdm_robot *tree = parse_robot(tree_text), *other = parse_robot(tree_text);
  const psdm_load at_hand = {.mass = 1, .com = {0.05, 0.02, 0}}, at_right = {.mass = 1, .com = {0.45, 0.02, 0}};
  double pi[10], moved[10], q[3] = {0.3, 1, -0.7}, qd[3] = {1, 0.5, -1}, qdd[3] = {2, -1, 3}, tau[3], same[3], plain[3];
  inverse(tree, q, qd, qdd, plain);
  psdm_load_to_standard(&at_hand, pi);
  psdm_load_to_standard(&at_right, moved);
  assert_int_equal(psdm_robot_default_link(tree, NULL), psdm_robot_find(tree, "hand"));
  assert_int_equal(psdm_payload_attach(tree, psdm_robot_default_link(tree, NULL), pi, &error),
                   PSDM_OK); /* the hand, as everywhere */
  assert_int_equal(psdm_payload_attach(other, psdm_robot_find(other, "right"), moved, &error), PSDM_OK);
  inverse(tree, q, qd, qdd, tau);
  inverse(other, q, qd, qdd, same);
  assert_true(max_difference(tau, same, 3) < 1e-13);
  assert_true(max_difference(tau, plain, 3) > 0.1);
  assert_true(tau[1] == plain[1]); /* the other arm does not feel it */
  assert_int_equal(psdm_payload_attach(tree, 4, pi, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_payload_attach(tree, psdm_robot_find(tree, "hnad"), pi, &error), PSDM_E_ARGUMENT);
  psdm_robot_free(tree);
  psdm_robot_free(other);

  psdm_robot *unknown = parse_robot("name: u\nconvention: dh\njoints:\n  - {name: A, a: 0.3}\n");
  assert_int_equal(psdm_payload_attach(unknown, psdm_robot_default_link(unknown, NULL), pi, &error), PSDM_E_MISSING);
  assert_non_null(strstr(error.text, "is unknown"));
  psdm_robot_free(unknown);
}

static void invalid_maps_are_refused(void **state) {
  (void)state;
  psdm_error error = {0};
  psdm_model *model;
  double L[10 * 60];
  psdm_robot *robot = load_shipped("two_link"), *other = load_shipped("fanuc_sr6ia");
  const psdm_derive_options echelon = {.basis = PSDM_BASIS_ECHELON};
  assert_int_equal(psdm_model_derive(robot, &echelon, NULL, &model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_payload_map(robot, model, psdm_robot_default_link(robot, NULL), L, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "standard basis"));
  assert_int_equal(psdm_payload_map(other, model, psdm_robot_default_link(other, NULL), L, &error), PSDM_E_ROBOT);
  assert_non_null(strstr(error.text, "the model has 2 joints"));
  psdm_model_free(model);
  const char *const lies[] = {"ry2 = 0"}; /* a load off the axis does not fit */
  const psdm_derive_options assumed = {.assume_count = 1, .assume = lies};
  psdm_robot *planar = parse_robot(
      "name: p\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: A, a: 0.5}\n  - {name: B, a: 0.4}\n");
  assert_int_equal(psdm_model_derive(planar, &assumed, NULL, &model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_payload_map(planar, model, psdm_robot_default_link(planar, NULL), L, &error), PSDM_E_ARGUMENT);
  psdm_model_free(model);
  assert_int_equal(psdm_model_derive(planar, NULL, NULL, &model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_payload_map(planar, model, psdm_robot_default_link(planar, NULL), L, &error), PSDM_OK);
  psdm_model_free(model);
  psdm_robot_free(planar);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

/* ---- the parameter file of the loaded robot ---- */

/* torques of the loaded file = those of the empty one, friction aside, and of a robot with the load alone; friction
 * depends on the load */
static void loaded_parameters(void **state) {
  (void)state;
  static char text[TEXT], file[TEXT];
  rng g = rng_start("loaded_parameters");
  double worst = 0;
  for (int round = 0; round < 16; round++) {
    bool full = round % 2, turned = round % 4 > 1;
    psdm_robot *robot = parse_robot(
                   random_robot_text(&g, &(random_options){.n_min = 2, .n_max = 5, .prismatic = true, .drives = true},
                                     text, sizeof text)),
               *alone;
    psdm_error error = {0};
    int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
    double pi[STANDARD], none[STANDARD] = {0}, load[10], C[100] = {0};
    psdm_robot_parameters(robot, pi);
    psdm_parameters *empty = parse_parameters(robot, parameter_text(&(parameter_file){.robot = robot,
                                                                                      .pi = pi,
                                                                                      .full = full,
                                                                                      .turned = turned,
                                                                                      .viscous = 1.3,
                                                                                      .coulomb = 0.05,
                                                                                      .stop = 0.02,
                                                                                      .load = 1,
                                                                                      .covariance = true},
                                                                    file, sizeof file)),
                    *loaded, *again;
    psdm_load body = random_load(&g);
    psdm_load_to_standard(&body, load);
    for (int k = 0; k < 10; k++) C[11 * k] = 1e-4;
    if (psdm_payload_parameters(robot, empty, psdm_robot_default_link(robot, NULL), load, C, NULL, &loaded, &error))
      fail_msg("%s", error.text);
    assert_true(loaded->base == empty->base && loaded->n == n && (loaded->pi != NULL) == full && loaded->covariance);
    assert_int_equal(psdm_robot_clone(robot, NULL, &alone), PSDM_OK);
    psdm_robot_set_parameters(alone, none);
    assert_int_equal(psdm_payload_attach(alone, psdm_robot_default_link(alone, NULL), load, &error), PSDM_OK);

    /* written and read back it is the same, to the last bit */
    char path[] = "/tmp/psdm_payload_XXXXXX";
    int handle = mkstemp(path);
    psdm_output *out = NULL;
    assert_true(handle >= 0 && !close(handle) && !psdm_output_open(path, NULL, &out, &error));
    psdm_parameters_write(loaded, out);
    assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
    if (psdm_parameters_load(path, robot, NULL, &again, &error)) fail_msg("%s", error.text);
    unlink(path);
    for (int j = 0; j < loaded->base; j++)
      assert_true(again->theta[j].value == loaded->theta[j].value && again->theta[j].sd == loaded->theta[j].sd &&
                  again->theta_load[j] == loaded->theta_load[j] && loaded->theta[j].sd >= empty->theta[j].sd);
    for (int j = 0; j < loaded->base; j++) { /* uncertainty through L */
      double own = empty->covariance[(long)j * (empty->base + 3 * n + 1)],
             grown = loaded->covariance[(long)j * (empty->base + 3 * n + 1)];
      assert_true(grown >= own && fabs(loaded->theta[j].sd * loaded->theta[j].sd -
                                       empty->theta[j].sd * empty->theta[j].sd - (grown - own)) <= 1e-12 * (1 + grown));
    }

    psdm_predictor *without, *with, *read;
    assert_int_equal(psdm_predictor_new(empty, robot, NULL, &without, &error), PSDM_OK);
    assert_int_equal(psdm_predictor_new(loaded, robot, NULL, &with, &error), PSDM_OK);
    assert_int_equal(psdm_predictor_new(again, robot, NULL, &read, &error), PSDM_OK);
    double feels = 0;
    for (int trial = 0; trial < 6; trial++) {
      double q[MOST], qd[MOST], qdd[MOST], tau[3][MOST], friction[2][MOST], carried[MOST];
      random_states(&g, n, q, qd, qdd);
      assert_int_equal(psdm_predictor_step(without, q, qd, qdd, tau[0], friction[0]), PSDM_OK);
      assert_int_equal(psdm_predictor_step(with, q, qd, qdd, tau[1], friction[1]), PSDM_OK);
      assert_int_equal(psdm_predictor_step(read, q, qd, qdd, tau[2], NULL), PSDM_OK);
      inverse(alone, q, qd, qdd, carried);
      double size = max_absolute(tau[1], n);
      for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(tau[1][i] - friction[1][i] - (tau[0][i] - friction[0][i]) - carried[i]) / size);
        feels = fmax(feels, fabs(friction[1][i] - friction[0][i]));
        assert_true(tau[2][i] == tau[1][i]);
      }
    }
    assert_true(feels > 1e-3);
    for (int k = 0; k < S && full; k++) assert_true(isfinite(loaded->pi[k]));
    psdm_predictor_free(without), psdm_predictor_free(with), psdm_predictor_free(read);
    psdm_parameters_free(empty), psdm_parameters_free(loaded), psdm_parameters_free(again);
    psdm_robot_free(alone), psdm_robot_free(robot);
  }
  print_message("loaded = empty + load alone to %.2g of the torque\n", worst);
  assert_true(worst < 1e-12);
}

static void wrong_parameters(void **state) {
  (void)state;
  static char file[TEXT];
  psdm_robot *robot = load_shipped("two_link"),
             *other =
                 parse_robot("name: other\nconvention: dh\njoints:\n  - {name: A, a: 0.3}\n  - {name: B, a: 0.31}\n");
  double pi[STANDARD];
  psdm_error error = {0};
  psdm_robot_parameters(robot, pi);
  psdm_parameters *p = parse_parameters(robot,
                                        parameter_text(&(parameter_file){.robot = robot, .pi = pi}, file, sizeof file)),
                  *loaded;
  psdm_payload_answer *answer;
  const char *path = "none.csv";
  const psdm_payload_options o = {.files = 1, .path = &path}, no_log = {.files = 0},
                             odd = {.files = 1, .path = &path, .cutoff = -1};
  assert_int_equal(
      psdm_payload_parameters(other, p, psdm_robot_default_link(other, NULL), pi, NULL, NULL, &loaded, &error),
      PSDM_E_ROBOT);
  assert_int_equal(psdm_payload_identify(other, p, &o, NULL, &answer, &error), PSDM_E_ROBOT);
  assert_non_null(strstr(error.text, "other kinematics"));
  assert_int_equal(psdm_payload_identify(robot, p, &no_log, NULL, &answer, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_payload_identify(robot, p, &odd, NULL, &answer, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_payload_identify(robot, p, &o, NULL, &answer, &error), PSDM_E_IO);
  assert_null(answer);
  psdm_payload_free(NULL);
  psdm_parameters_free(p);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

static void memory_runs_out(void **state) {
  (void)state;
  static char file[TEXT];
  psdm_robot *robot = load_shipped("two_link");
  double pi[STANDARD], load[10] = {1, 0.1, 0, 0, 0.02, 0, 0, 0.03, 0, 0.03}, C[100] = {1e-4};
  psdm_error error = {0};
  psdm_robot_parameters(robot, pi);
  psdm_parameters *p = parse_parameters(
                      robot,
                      parameter_text(
                          &(parameter_file){
                              .robot = robot, .pi = pi, .full = true, .coulomb = 0.1, .load = 1, .covariance = true},
                          file, sizeof file)),
                  *loaded;
  psdm_status status = PSDM_E_MEMORY;
  long at = 0;
  for (at = 1; status && at < 1000; at++) {
    counting c;
    counting_init(&c, at);
    status =
        psdm_payload_parameters(robot, p, psdm_robot_default_link(robot, NULL), load, C, &c.allocator, &loaded, &error);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    if (!status) psdm_parameters_free(loaded);
    assert_int_equal(c.live, 0);
  }
  print_message("%ld allocations\n", at - 2);
  assert_true(status == PSDM_OK && at > 5);
  psdm_parameters_free(p);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_are_converted_back),
                                     cmocka_unit_test(uncertainty_of_body_parameters),
                                     cmocka_unit_test(rule_on_random_robots),
                                     cmocka_unit_test(golden_arm),
                                     cmocka_unit_test(links_by_name),
                                     cmocka_unit_test(invalid_maps_are_refused),
                                     cmocka_unit_test(loaded_parameters),
                                     cmocka_unit_test(wrong_parameters),
                                     cmocka_unit_test(memory_runs_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
