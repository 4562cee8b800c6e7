/* test_estimate_simulate.c: the closed loop of the calibration's own simulation against the simulator's, with its
 * variable steps. */
#include "test_calibrate_log.h"

#include "identify/estimate_priv.h"
#include "psdm/base_parameters.h"
#include "psdm/sim.h"

/* one stretch of a log, as prepared and as simulated */
typedef struct simulated {
  psdmp_identify_run *run;
  psdmp_identify_simulation *simulation;
  psdmp_identify_prepared p, narrow;
  double *q, *qd, *qdd;
  bool *ready;
} simulated;

static psdm_status simulate(void *user, const psdmp_feed_stretch *stretch, psdm_error *error) {
  simulated *s = user;
  double bandwidth;
  psdmp_identify_band band = psdmp_identify_simulation_band(s->simulation, &bandwidth);
  assert_int_equal(psdmp_identify_run_prepare(s->run, &s->run->band, stretch, &s->p, error), PSDM_OK);
  assert_int_equal(psdmp_identify_run_prepare(s->run, &band, stretch, &s->narrow, error), PSDM_OK);
  size_t count = (size_t)s->p.rows * (size_t)s->run->n;
  s->q = calloc(count, sizeof *s->q), s->qd = calloc(count, sizeof *s->qd), s->qdd = calloc(count, sizeof *s->qdd),
  s->ready = calloc((size_t)s->p.rows, sizeof *s->ready);
  return psdmp_identify_simulate(s->simulation, stretch, &s->p, s->q, s->qd, s->qdd, s->ready, error);
}

static void forget(simulated *s) {
  psdmp_identify_prepared_free(&s->p, NULL), psdmp_identify_prepared_free(&s->narrow, NULL);
  free(s->q), free(s->qd), free(s->qdd), free(s->ready);
}

/* rows of the simulator, at the times of the log's */
typedef struct beside {
  const simulated *s;
  const psdm_motion *reference;
  double q, qd, qdd, away; /* largest differences; how far the motion is from its reference */
  long row, rows;
} beside;

static bool compare(void *user, const psdm_sim_row *row) {
  beside *b = user;
  const simulated *s = b->s;
  int n = row->n;
  double wanted[64];
  while (b->row < s->p.rows && s->p.t[b->row] < row->t - 1e-6) b->row++;
  if (b->row == s->p.rows || !s->ready[b->row] || fabs(s->p.t[b->row] - row->t) > 1e-6) return true;
  psdm_motion_at(b->reference, row->t, 1, wanted);
  for (int i = 0; i < n; i++) {
    long at = b->row * n + i;
    b->q = fmax(b->q, fabs(s->q[at] - row->q[i])), b->qd = fmax(b->qd, fabs(s->qd[at] - row->qd[i])),
    b->qdd = fmax(b->qdd, fabs(s->qdd[at] - row->qdd[i]));
    b->away = fmax(b->away, fabs(row->q[i] - wanted[i]));
  }
  b->rows++;
  return true;
}

static psdm_robot *robot_of(const psdm_robot *robot, const psdmp_identify_run *r, const double *theta) {
  double pi[400] = {0};
  psdm_robot *clone;
  for (int j = 0; j < r->l; j++) pi[r->kept[j]] = theta[j];
  assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
  psdm_robot_set_parameters(clone, pi);
  return clone;
}

static void same_motion(void **unused) {
  (void)unused;
  static const char *const names[] = {"two_link", "kuka_kr6"};
  rng g = rng_start("same_motion");
  char path[64];
  const char *name = log_path(path);
  for (int kind = 0; kind < 2; kind++) {
    psdm_robot *robot = load_shipped(names[kind]);
    truth w = {.robot = robot, .rows = 1200, .dt = 0.005};
    write_log(path, &w, &g);
    psdm_error error = {0};
    const psdm_calibrate_options o = {.files = 1, .path = &name};
    double speed[8], span[8], centre[8], pi[400], theta[64], other[64], bandwidth;
    char reason[8][160];
    int kept[64];
    psdmp_identify_choice choice[8] = {{0}};
    psdmp_identify_run r = {.robot = robot,
                            .options = &o,
                            .n = psdm_robot_n(robot),
                            .S = psdm_robot_parameter_count(robot),
                            .kept = kept,
                            .rows = w.rows,
                            .choice = choice,
                            .speed = speed,
                            .span = span,
                            .centre = centre,
                            .band = {.kinematics = PSDM_KINEMATICS_POSITION, .cutoff = INFINITY, .wide = INFINITY},
                            .reason = reason};
    assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &r.model, NULL, NULL), PSDM_OK);
    r.l = psdm_model_l(r.model);
    for (int j = 0; j < r.l; j++) psdm_model_base_term(r.model, j, 0, &kept[j]);
    assert_int_equal(psdmp_feed_open(robot, &o, NULL, &r.feed, &error), PSDM_OK);
    r.interval = psdmp_feed_interval(r.feed);
    assert_int_equal(psdmp_identify_run_ranges(&r, &r.band, &error), PSDM_OK);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(r.model, pi, theta);
    for (int j = 0; j < r.l; j++) other[j] = theta[j] * rng_uniform(&g, 0.95, 1.05);

    simulated s = {.run = &r};
    assert_int_equal(psdmp_identify_simulation_new(&r, &s.simulation, &error), PSDM_OK);
    double cutoff = psdmp_identify_simulation_band(s.simulation, &bandwidth).cutoff;
    char said[160], top[32] = "as logged";
    if (isfinite(cutoff)) snprintf(top, sizeof top, "up to %g Hz", cutoff);
    snprintf(said, sizeof said, "simulated: computed torque along the measured positions, %s", top);
    assert_int_equal(r.reasons, 1);
    assert_string_equal(reason[0], said);
    assert_true(fabs(bandwidth - 4 * 3.14159265358979323846 * fmin(cutoff, 0.05 / w.dt)) < 1e-9);
    psdm_motion *reference;
    /* one model for both: the motion is the reference, except where pieces meet and the third derivative jumps */
    double worst = 0, state[16];
    psdmp_identify_simulation_set(s.simulation, theta, theta);
    if (psdmp_feed_each(r.feed, false, 0, simulate, &s, &error)) fail_msg("%s", error.text);
    assert_int_equal(psdm_motion_table(r.n, s.narrow.rows, s.narrow.t, s.narrow.q, s.narrow.qd, s.narrow.qdd, NULL,
                                       &reference, &error),
                     PSDM_OK);
    for (long k = 0; k < s.p.rows; k++) {
      psdm_motion_at(reference, s.p.t[k], 1, state);
      for (int i = 0; i < r.n && s.ready[k]; i++) worst = fmax(worst, fabs(s.q[k * r.n + i] - state[i]));
    }
    printf("%s: with one model for both %.1e rad from the reference\n", names[kind], worst);
    assert_true(worst < 1e-6);
    forget(&s);

    psdmp_identify_simulation_set(s.simulation, theta, other);
    if (psdmp_feed_each(r.feed, false, 0, simulate, &s, &error)) fail_msg("%s", error.text);

    psdm_robot *model = robot_of(robot, &r, theta), *plant = robot_of(robot, &r, other);
    psdm_controller *controller;
    psdm_sim *sim;
    psdm_sim_result result;
    const psdm_control_options tuned = {.bandwidth = bandwidth};
    assert_int_equal(psdm_control_new(PSDM_CONTROL_COMPUTED, model, reference, &tuned, NULL, &controller, &error),
                     PSDM_OK);
    const psdm_sim_options options = {
        .no_code = true, .integrator = PSDM_INTEGRATOR_RK4, .step = 2.5e-4, .controller = controller, .output = w.dt};
    if (psdm_sim_new(plant, &options, NULL, &sim, &error)) fail_msg("%s", error.text);
    long first = 0;
    while (!s.ready[first]) first++;
    psdm_motion_at(reference, s.p.t[first], 2, state);
    assert_int_equal(psdm_sim_set(sim, s.p.t[first], state, state + r.n, &error), PSDM_OK);
    beside b = {.s = &s, .reference = reference};
    assert_int_equal(psdm_sim_run(sim, s.p.t[s.p.rows - 1] - s.p.t[first], compare, &b, &result, &error), PSDM_OK);
    printf("%s: %ld rows, off by %.1e rad, %.1e rad/s, %.1e rad/s^2; the motion is up to %.1e rad from its reference\n",
           names[kind], b.rows, b.q, b.qd, b.qdd, b.away);
    assert_true(b.rows > w.rows / 2 && b.away > 1e-6);
    /* fourth order, w h up to 0.2: some (w h)^4 / 10 of the transients; steps of the other are seven times shorter */
    double bound = 3 * 1.6e-4 * b.away + 3 * worst;
    assert_true(b.q < bound && b.qd < bound * bandwidth && b.qdd < bound * bandwidth * bandwidth);

    forget(&s);
    psdm_sim_free(sim);
    psdm_control_free(controller);
    psdm_motion_free(reference);
    psdm_robot_free(model);
    psdm_robot_free(plant);
    psdmp_identify_simulation_free(s.simulation);
    psdmp_feed_close(r.feed);
    psdm_model_free(r.model);
    psdm_robot_free(robot);
  }
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
