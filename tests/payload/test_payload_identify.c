/* test_payload_identify.c: the load from logs: exact without disturbances, its uncertainty under noise, parameters that
 * a motion does not show, drift, model error. */
#include "../identify/test_calibrate_log.h"
#include "test_payload_file.h"
#include "psdm/predictor.h"

/* six joints whose last link feels everything; a flange carries the load */
static const char arm_text[] =
    "name: arm\ngravity: [0, 0, -9.81]\nconvention: modified-dh\njoints:\n  - {name: A1, d: 0.4}\n  - {name: A2, "
    "alpha: -pi/2, a: 0.05}\n  - {name: A3, a: 0.4}\n"
    "  - {name: A4, alpha: -pi/2, a: 0.04, d: 0.36}\n  - {name: A5, alpha: pi/2}\n  - {name: A6, alpha: -pi/2, d: "
    "0.05, drive_inertia: 0.05}\n  - {name: flange, type: fixed, d: 0.05, theta: pi/6}\n"
    "links:\n  - {mass: 8, com: [0, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.08}}\n  - {mass: 6, com: [0.2, 0, "
    "0.05], inertia: {xx: 0.03, yy: 0.1, zz: 0.1}}\n"
    "  - {mass: 4, com: [0.02, -0.03, 0.01], inertia: {xx: 0.03, yy: 0.02, zz: 0.03}}\n  - {mass: 2, com: [0, 0.02, "
    "-0.1], inertia: {xx: 0.02, yy: 0.02, zz: 0.01}}\n"
    "  - {mass: 1, com: [0, -0.02, 0.01], inertia: {xx: 0.003, yy: 0.002, zz: 0.003}}\n  - {mass: 0.4, com: [0, 0, "
    "0.02], inertia: {xx: 0.0005, yy: 0.0005, zz: 0.0004}}\n  - {mass: 0}\n";

/* two drives at the elbow and a slide; motors are coupled */
static const char coupled_text[] =
    "name: coupled\ngravity: [1, 2, -9]\nconvention: dh\njoints:\n  - {name: B1, d: 0.3, a: 0.1, alpha: pi/2, gear: "
    "50}\n  - {name: B2, a: 0.4, alpha: pi/3, gear: 80}\n"
    "  - {name: B3, type: prismatic, alpha: pi/4, theta: 0.4, gear: 100}\n  - {name: B4, a: 0.1, alpha: pi/2, gear: "
    "30}\n  - {name: B5, a: 0.1, alpha: pi/3, gear: 30}\n"
    "transmission: [[1, 0, 0, 0, 0], [0.4, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0.2, 1, 0], [0, 0, 0, -0.5, 1]]\n"
    "links:\n  - {mass: 5, com: [0.05, 0, 0.1]}\n  - {mass: 4, com: [-0.2, 0, 0]}\n  - {mass: 2, com: [0, 0.1, 0]}\n  "
    "- {mass: 1, com: [0.02, 0, 0.03]}\n  - {mass: 0.5, com: [0, 0, 0.04]}\n";

/* standard parameters of the robot with the load on its last link */
static void loaded_pi(const psdm_robot *robot, const psdm_load *load, double *pi) {
  psdm_robot *clone;
  psdm_error error = {0};
  double own[10];
  psdm_load_to_standard(load, own);
  assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
  if (psdm_payload_attach(clone, psdm_robot_default_link(clone, NULL), own, &error)) fail_msg("%s", error.text);
  psdm_robot_parameters(clone, pi);
  psdm_robot_free(clone);
}

/* joint torques in the units of a log of steps: currents of drives, or joints' torques that are too small or large by a
 * factor of each drive */
static void to_log(const psdm_parameters *p, const psdm_robot *robot, double *tau) {
  int n = psdm_robot_n(robot);
  double motor[MOST];
  psdm_robot_motor_torque(robot, tau, motor);
  for (int i = 0; i < n; i++) motor[i] /= p->torque_constant[i];
  if (!p->currents) psdm_robot_joint_torque(robot, motor, tau);
  for (int j = 0; j < psdm_robot_joints(robot) && p->currents; j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (joint->q >= 0) tau[joint->q] = motor[joint->q] * joint->gear;
  }
}

/* A log of the parameters' predictions along sums of sines, plus noise as a share of each joint's largest torque. */
static void write_predicted(const char *path, const psdm_parameters *p, const psdm_robot *robot, const tones *m,
                            long rows, double noise, rng *g) {
  int n = psdm_robot_n(robot);
  bool currents = p->torque_constant && p->currents;
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], largest[MOST] = {0};
  psdm_predictor *o;
  psdm_error error;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(psdm_predictor_new(p, robot, NULL, &o, &error), PSDM_OK);
  fprintf(file, "t"), put_names(file, "q", n), put_names(file, "qd", n), put_names(file, "qdd", n),
      put_names(file, currents ? "i" : "tau", n), fprintf(file, "\n");
  for (int pass = noise > 0 ? 0 : 1; pass < 2; pass++) { /* sizes, then rows */
    psdm_predictor_begin(o);
    for (long k = 0; k < rows; k++) {
      double t = 0.005 * (double)k;
      tones_at(m, n, t, q, qd, qdd);
      assert_int_equal(psdm_predictor_step(o, q, qd, qdd, tau, NULL), PSDM_OK);
      for (int i = 0; i < n; i++)
        pass ? (tau[i] += noise > 0 ? noise * largest[i] * rng_normal(g) : 0)
             : (largest[i] = fmax(largest[i], fabs(tau[i])));
      if (!pass) continue;
      if (p->torque_constant) to_log(p, robot, tau);
      fprintf(file, "%.9f", t), put_numbers(file, q, n), put_numbers(file, qd, n), put_numbers(file, qdd, n),
          put_numbers(file, tau, n), fprintf(file, "\n");
    }
  }
  psdm_predictor_free(o);
  assert_int_equal(fclose(file), 0);
}

static psdm_payload_answer *identify(const psdm_robot *robot, const psdm_parameters *p, const psdm_payload_options *o) {
  psdm_payload_answer *a;
  psdm_error error = {0};
  if (psdm_payload_identify(robot, p, o, NULL, &a, &error)) fail_msg("%s", error.text);
  return a;
}

/* largest error of pi, in units of the load's own size: kg, and m and m^2 per kg */
static double apart(const psdm_payload_answer *a, const psdm_load *load) {
  double pi[10];
  psdm_load_to_standard(load, pi);
  return max_difference(a->pi, pi, 10) / load->mass;
}

/* ---- no disturbances ---- */

/* drives with and without a transmission, friction with memory or load, friction that has drifted */
TEST(exact_without_noise) {
  static char text[TEXT];
  rng g = rng_start("exact_without_noise");
  static const struct {
    const char *robot, *what;
    double stop, coulomb;
    int load;
    bool empty, covariance;
  } kinds[] = {{arm_text, "memory", 0.02, 3, 0, false, false},
               {arm_text, "by load", 0.02, 0.1, 1, false, false},
               {coupled_text, "coupled", 0, 2, 0, false, false},
               {arm_text, "with empty", 0, 3, 0, true, false},
               {coupled_text, "by load, empty", 0.01, 0.1, 1, true, true},
               {arm_text, "doubted", 0, 3, 0, false, true}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    psdm_robot *robot = parse_robot(kinds[k].robot);
    psdm_load load = random_load(&g);
    double pi[STANDARD], own[10];
    char with[64], without[64];
    psdm_error error;
    psdm_robot_parameters(robot, pi);
    const parameter_file file = {.robot = robot,
                                 .pi = pi,
                                 .viscous = 2,
                                 .coulomb = kinds[k].coulomb,
                                 .offset = 0.3,
                                 .stop = kinds[k].stop,
                                 .smooth = 0.1,
                                 .load = kinds[k].load,
                                 .covariance = kinds[k].covariance};
    psdm_parameters *p = parse_parameters(robot, parameter_text(&file, text, sizeof text)), *loaded;
    psdm_load_to_standard(&load, own);
    assert_int_equal(
        psdm_payload_parameters(robot, p, psdm_robot_default_link(robot, NULL), own, NULL, NULL, &loaded, &error),
        PSDM_OK);
    tones m = tones_of(&g, &(truth){.robot = robot, .reach = 0.8}),
          other = kinds[k].empty ? tones_of(&g, &(truth){.robot = robot, .reach = 0.8}) : m;
    write_predicted(log_path(with), loaded, robot, &m, 500, 0, &g);
    write_predicted(log_path(without), p, robot, &other, 450, 0, &g);
    const char *path[] = {with, without};
    /* the load is known only within the calibration's uncertainty, and a pull would show */
    bool doubted = kinds[k].covariance && !kinds[k].empty;
    for (int plain = doubted; plain < 2; plain++) {
      psdm_payload_answer *a = identify(
          robot, p,
          &(psdm_payload_options){
              .files = 1, .path = path, .empty_files = kinds[k].empty, .empty_path = path + 1, .unconstrained = plain});
      double off = apart(a, &load);
      print_message("%-16s %s: %.2g kg, m, m^2 per kg; torques %.3g -> %.3g\n", kinds[k].what,
                    plain ? "plain     " : "consistent", off, a->global_before, a->global_after);
      /* sigma is held at 1e-9 of the torque, so that pull and passes have no effect; with uncertainty: nine of sixteen
       * digits are the prior's */
      assert_true(off < (doubted ? 1e-6 : 1e-10) && a->global_after < (doubted ? 1e-6 : 1e-10) &&
                  a->global_before > 0.02);
      assert_true(a->rows > 450 && a->n == psdm_robot_n(robot) && !a->stopped && a->mass_sd >= 0 &&
                  fabs(a->load.mass - load.mass) < 1e-6 * load.mass);
      assert_true(plain || physically_possible(a->pi, 1));
      for (int i = 0; i < 10; i++) assert_true(a->prior_share[i] >= 0 && a->prior_share[i] < 0.5);
      psdm_payload_free(a);
    }
    unlink(with), unlink(without);
    psdm_parameters_free(p), psdm_parameters_free(loaded);
    psdm_robot_free(robot);
  }
}

/* an arm that was calibrated in steps: LuGre, constants of currents or factors of torques, drives that move several
 * joints */
TEST(exact_after_steps) {
  static char text[TEXT];
  rng g = rng_start("exact_after_steps");
  for (int kind = 0; kind < 4; kind++) {
    psdm_robot *robot = parse_robot(kind < 2 ? arm_text : coupled_text);
    psdm_load load = random_load(&g);
    double pi[STANDARD], own[10];
    char with[64], without[64];
    psdm_error error = {0};
    psdm_robot_parameters(robot, pi);
    psdm_load_to_standard(&load, own);
    psdm_parameters *p = parse_parameters(robot, steps_text(robot, pi, kind % 2, text, sizeof text)), *loaded;
    if (psdm_payload_parameters(robot, p, psdm_robot_default_link(robot, NULL), own, NULL, NULL, &loaded, &error))
      fail_msg("%s", error.text);
    assert_true(loaded->lugre && loaded->torque_constant && loaded->lugre[1].coulomb == p->lugre[1].coulomb &&
                loaded->steps == p->steps);
    tones m = tones_of(&g, &(truth){.robot = robot, .reach = 0.8});
    write_predicted(log_path(with), loaded, robot, &m, 800, 0, &g);
    write_predicted(log_path(without), p, robot, &m, 800, 0, &g);
    const char *path[] = {with, without};
    psdm_payload_answer *a =
        identify(robot, p,
                 &(psdm_payload_options){
                     .files = 1, .path = path, .empty_files = 1, .empty_path = path + 1, .cutoff = INFINITY});
    print_message("%s, %s: %.2g kg, m, m^2 per kg; torques %.3g -> %.3g\n", kind < 2 ? "arm" : "coupled",
                  kind % 2 ? "currents" : "torques", apart(a, &load), a->global_before, a->global_after);
    assert_true(apart(a, &load) < 1e-7 && a->global_after < 1e-7 && a->global_before > 0.02);
    psdm_payload_free(a);
    unlink(with), unlink(without);
    psdm_parameters_free(p), psdm_parameters_free(loaded);
    psdm_robot_free(robot);
  }
}

/* drift since the calibration, of offset, viscous and Coulomb friction, is told apart from the load */
TEST(drift_is_told_apart) {
  static char text[TEXT];
  rng g = rng_start("drift_is_told_apart");
  psdm_robot *robot = parse_robot(arm_text);
  psdm_load load = random_load(&g);
  double pi[STANDARD], carried[STANDARD];
  psdm_robot_parameters(robot, pi);
  loaded_pi(robot, &load, carried);
  const parameter_file then = {.robot = robot, .pi = pi, .viscous = 2, .coulomb = 3, .offset = 0.3, .smooth = 0.1},
                       now = {.robot = robot,
                              .pi = carried,
                              .viscous = 2.5,
                              .coulomb = 3.5,
                              .offset = -0.4,
                              .smooth = 0.1};
  psdm_parameters *p = parse_parameters(robot, parameter_text(&then, text, sizeof text)),
                  *drifted = parse_parameters(robot, parameter_text(&now, text, sizeof text));
  tones m = tones_of(&g, &(truth){.robot = robot, .reach = 0.8});
  char path[64];
  const char *with = path;
  write_predicted(log_path(path), drifted, robot, &m, 1500, 0, &g);
  psdm_payload_answer *a = identify(robot, p, &(psdm_payload_options){.files = 1, .path = &with, .drift = true}),
                      *b = identify(robot, p, &(psdm_payload_options){.files = 1, .path = &with});
  print_message("with drift %.2g, without %.2g\n", apart(a, &load), apart(b, &load));
  /* the ridge of drift columns is 1e-8 of their squares */
  assert_true(apart(a, &load) < 1e-7 && apart(b, &load) > 1e-3);
  assert_non_null(strstr(a->remark[0], "drift since the calibration"));
  assert_non_null(strstr(a->remark[0], "offset -0.7, Coulomb +0.5, viscous +0.5"));
  psdm_payload_free(a), psdm_payload_free(b);
  psdm_parameters_free(p), psdm_parameters_free(drifted);
  unlink(path);
  psdm_robot_free(robot);
}

/* ---- noise ---- */

/* calibrated from one noisy log, load from another: how often the truth lies within three standard deviations */
TEST(coverage) {
  enum { SEEDS = 6 };
  rng g = rng_start("coverage");
  psdm_robot *robot = parse_robot(arm_text);
  int inside[2] = {0}, cases = 0;
  double farthest[2] = {0}, square[2] = {0};
  for (int seed = 0; seed < SEEDS; seed++) {
    psdm_load load = random_load(&g);
    double pi[STANDARD], carried[10];
    psdm_robot_parameters(robot, pi);
    loaded_pi(robot, &load, pi);
    psdm_load_to_standard(&load, carried);
    char log[3][64];
    const char *path[3];
    truth empty = full_log_of(robot, 1000, 0.005, 3);
    empty.reach = 0.8, empty.viscous = 2, empty.offset = 0.2, empty.noise = 0.02;
    truth with = empty;
    with.pi = pi;
    for (int k = 0; k < 3; k++) path[k] = log_path(log[k]);
    write_log(path[0], &empty, &g);
    rng same = g; /* the same motion with the load, and without */
    write_log(path[1], &with, &g);
    tones m = tones_of(&same, &empty);
    FILE *file = fopen(path[2], "w");
    assert_non_null(file);
    write_rows(file, &empty, &g, &m, true, 0);
    fclose(file);

    psdm_calibration *c;
    psdm_parameters *p;
    psdm_error error = {0};
    psdm_calibrate_options how = plain_options(path, 1, PSDM_ESTIMATOR_WLS, PSDM_KINEMATICS_ACCELERATION, INFINITY);
    how.rest = 0;
    if (psdm_calibrate(robot, &how, NULL, &c, &error)) fail_msg("%s", error.text);
    assert_int_equal(psdm_parameters_from(c, true, NULL, &p, &error), PSDM_OK);
    psdm_calibration_free(c);
    for (int way = 0; way < 2; way++) {
      psdm_payload_answer *a = identify(
          robot, p,
          &(psdm_payload_options){
              .files = 1, .path = path + 1, .empty_files = way, .empty_path = path + 2, .unconstrained = true});
      for (int k = 0; k < 10; k++) {
        double off = fabs(a->pi[k] - carried[k]) / a->pi_sd[k];
        inside[way] += off <= 3;
        farthest[way] = fmax(farthest[way], off);
        square[way] += off * off;
      }
      psdm_payload_free(a);
    }
    cases += 10;
    psdm_parameters_free(p);
    for (int k = 0; k < 3; k++) unlink(path[k]);
  }
  for (int way = 0; way < 2; way++) {
    print_message("%s: %d of %d within 3 sd, farthest %.2f, rms %.2f\n",
                  way ? "with an empty log" : "calibration alone", inside[way], cases, farthest[way],
                  sqrt(square[way] / cases));
    /* 0.993 of Student's t with 19 degrees of freedom; the ten of a seed are correlated */
    assert_true(inside[way] >= 0.9 * cases);
    /* and the uncertainty is not exaggerated: the truth is at least half of it away */
    assert_true(square[way] > 0.25 * cases);
  }
  psdm_robot_free(robot);
}

/* an unmodelled spring: it cancels with a log of the same motion without the load */
TEST(model_error_cancels) {
  static char text[TEXT];
  rng g = rng_start("model_error_cancels");
  psdm_robot *robot = parse_robot(arm_text);
  psdm_load load = random_load(&g);
  double pi[STANDARD], carried[STANDARD], off[2];
  psdm_robot_parameters(robot, pi);
  loaded_pi(robot, &load, carried);
  const parameter_file file = {.robot = robot, .pi = pi, .viscous = 2, .coulomb = 3, .smooth = 0.1, .covariance = true};
  psdm_parameters *p = parse_parameters(robot, parameter_text(&file, text, sizeof text));
  char log[2][64];
  const char *path[2] = {log_path(log[0]), log_path(log[1])};
  for (int k = 0; k < 2; k++) {
    truth w = full_log_of(robot, 1500, 0.005, 3);
    w.pi = k ? pi : carried, w.reach = 0.8, w.viscous = 2, w.smooth = 0.1, w.noise = 0;
    int n = psdm_robot_n(robot);
    rng same = {12345};
    tones m = tones_of(&same, &w);
    FILE *all = tmpfile(), *out = fopen(path[k], "w");
    char line[4096];
    assert_true(all && out);
    write_rows(all, &w, &g, &m, true, 0);
    rewind(all);
    assert_non_null(fgets(line, sizeof line, all));
    fputs(line, out);
    /* a cable of 0.3 Nm/rad at each wrist joint, stiffer as it bends */
    for (long row = 0; row < w.rows && fgets(line, sizeof line, all); row++) {
      double value[64] = {0};
      int count = 0;
      for (char *at = strtok(line, ","); at; at = strtok(NULL, ",")) value[count++] = strtod(at, NULL);
      for (int i = 3; i < n; i++)
        value[1 + 3 * n + i] += 0.3 * value[1 + i] + 0.1 * value[1 + i] * value[1 + i] * value[1 + i];
      fprintf(out, "%.9f", value[0]), put_numbers(out, value + 1, count - 1), fprintf(out, "\n");
    }
    fclose(all), fclose(out);
  }
  for (int way = 0; way < 2; way++) {
    psdm_payload_answer *a = identify(
        robot, p, &(psdm_payload_options){.files = 1, .path = path, .empty_files = way, .empty_path = path + 1});
    off[way] = apart(a, &load);
    psdm_payload_free(a);
  }
  print_message("calibration alone %.2g, with an empty log %.2g\n", off[0], off[1]);
  assert_true(off[1] < 0.02 * off[0] && off[1] < 2e-3);
  psdm_parameters_free(p);
  unlink(path[0]), unlink(path[1]);
  psdm_robot_free(robot);
}

/* ---- parameters that a motion does not show ---- */

TEST(planar_arm) {
  static char text[TEXT];
  static const bool seen[10] = {true, true, true, false, false, false, false, false, false, true}; /* m mx my ZZ */
  rng g = rng_start("planar_arm");
  psdm_robot *robot =
      parse_robot("name: flat\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n  - {name: A, a: 0.5}\n  - {name: B, "
                  "a: 0.4}\nlinks:\n  - {mass: 3, com: [-0.2, 0, 0]}\n  - {mass: 2, com: [-0.2, 0.01, 0]}\n");
  psdm_load load = random_load(&g);
  double pi[STANDARD], own[10];
  psdm_robot_parameters(robot, pi);
  psdm_load_to_standard(&load, own);
  const parameter_file file = {.robot = robot, .pi = pi, .viscous = 1, .coulomb = 1, .smooth = 0.1};
  psdm_parameters *p = parse_parameters(robot, parameter_text(&file, text, sizeof text)), *loaded;
  psdm_error error;
  char path[64];
  const char *with = path;
  assert_int_equal(
      psdm_payload_parameters(robot, p, psdm_robot_default_link(robot, NULL), own, NULL, NULL, &loaded, &error),
      PSDM_OK);
  tones m = tones_of(&g, &(truth){.robot = robot});
  write_predicted(log_path(path), loaded, robot, &m, 1500, 0.001, &g);
  for (int plain = 0; plain < 2; plain++) {
    psdm_payload_answer *a =
        identify(robot, p, &(psdm_payload_options){.files = 1, .path = &with, .link = "B", .unconstrained = plain});
    print_message("%s\n", a->remark[0]);
    assert_true(a->global_after < 0.01 &&
                strstr(a->remark[0], "the motion hardly shows z, inertia xx, xy, xz, yy, yz: ") != NULL);
    for (int k = 0; k < 10; k++) {
      assert_true((a->prior_share[k] < 0.5) == seen[k]);
      if (seen[k]) assert_true(fabs(a->pi[k] - own[k]) < 5 * a->pi_sd[k] && a->pi_sd[k] < 0.05 * load.mass);
      if (!seen[k] && plain) assert_true(a->pi_sd[k] > 1e3 && fabs(a->pi[k]) < 1e-6);
    }
    assert_true(plain || physically_possible(a->pi, 1));
    psdm_payload_free(a);
  }
  psdm_parameters_free(p), psdm_parameters_free(loaded);
  unlink(path);
  psdm_robot_free(robot);
}

/* ---- rows again, stopping ---- */

typedef struct seen_rows {
  long rows, most;
  double before, after, size;
  int n;
} seen_rows;

static bool see(void *user, const psdm_payload_row *row) {
  seen_rows *s = user;
  for (int i = 0; i < s->n; i++) {
    s->before += pow(row->tau[i] - row->tau_empty[i], 2), s->after += pow(row->tau[i] - row->tau_loaded[i], 2),
        s->size += pow(row->tau[i], 2);
    assert_true(row->tau[i] == row->raw[i] && row->loaded && row->segment == 0);
  }
  return ++s->rows < s->most;
}

static bool three_times(void *user, const char *doing, double share) {
  assert_non_null(doing);
  assert_true(share <= 1);
  return ++*(int *)user < 3;
}

TEST(rows_and_stops) {
  static char text[TEXT];
  rng g = rng_start("rows_and_stops");
  psdm_robot *robot = load_shipped("two_link");
  double pi[STANDARD], carried[STANDARD];
  psdm_load load = random_load(&g);
  psdm_robot_parameters(robot, pi);
  loaded_pi(robot, &load, carried);
  psdm_parameters *p = parse_parameters(
      robot, parameter_text(&(parameter_file){.robot = robot, .pi = pi, .viscous = 1}, text, sizeof text));
  char path[64];
  const char *with = path;
  truth w = full_log_of(robot, 800, 0.005, 0);
  w.pi = carried, w.noise = 0;
  write_log(log_path(path), &w, &g);
  FILE *more = fopen(path, "a");
  fprintf(more, "4.0,no,number\n");
  fclose(more);
  psdm_payload_answer *a = identify(robot, p, &(psdm_payload_options){.files = 1, .path = &with});
  psdm_error error;
  assert_non_null(psdm_payload_fault(a, 0));
  assert_non_null(strstr(psdm_payload_fault(a, 0), "802"));
  assert_null(psdm_payload_fault(a, 1));
  seen_rows s = {.most = 100000, .n = 2};
  assert_int_equal(psdm_payload_predict(a, see, &s, &error), PSDM_OK);
  assert_true(s.rows == 780 && fabs(sqrt(s.before / s.size) - a->global_before) < 1e-12 &&
              fabs(sqrt(s.after / s.size) - a->global_after) < 1e-12);
  s = (seen_rows){.most = 7, .n = 2};
  assert_int_equal(psdm_payload_predict(a, see, &s, &error), PSDM_OK);
  assert_int_equal(s.rows, 7);
  psdm_payload_free(a);

  int asked = 0;
  psdm_payload_options o = {.files = 1, .path = &with, .progress = three_times, .progress_user = &asked};
  psdm_status status = psdm_payload_identify(robot, p, &o, NULL, &a, &error);
  assert_true(asked >= 3 && (status ? status == PSDM_E_STOPPED : a->stopped));
  if (!status) psdm_payload_free(a);
  unlink(path);

  write_log(log_path(path), &(truth){.robot = robot, .rows = 25, .dt = 0.005, .rates = true, .accelerations = true},
            &g);
  o.progress = NULL;
  assert_int_equal(psdm_payload_identify(robot, p, &o, NULL, &a, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "not enough rows"));
  assert_null(a);
  unlink(path);
  psdm_parameters_free(p);
  psdm_robot_free(robot);
}

TEST_MAIN(exact_without_noise, exact_after_steps, drift_is_told_apart, coverage, model_error_cancels, planar_arm,
          rows_and_stops)
