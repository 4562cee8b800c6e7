/* An arm whose truth is known, and its model as a calibration found it: ten minutes of motion without a contact, and
 * collisions. Run by deep_observer.sh.
 *
 *   observer_truth TRUTH.yaml KINEMATICS.yaml LOG.csv QUANTUM COLLISIONS
 *
 * Measured as a drive does: positions in steps of QUANTUM at 1 kHz, and torques with noise of 0.5 % of the effort
 * limit. The arm follows its motion exactly, so that the torque is that of inverse dynamics and friction, less what the
 * force does: J^T f. Exit 1 when there is a false alarm, or when a force of 10 N that exceeds twice some joint's
 * threshold for 20 ms is not detected within them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "psdm/friction.h"

/* samples before and after a contact; ms; states where the uncertainty is evaluated */
enum { N = 6, TERMS = 3, LEAD = 80, WATCH = 100, PROMISED = 20, STATES = 1500 };
static const double rate = 1000, noise = 0.005, calm_seconds = 600, circle = 6.283185307179586;

typedef struct scene {
  psdm_robot *truth, *model;
  psdm_work *work;
  psdm_motion *motion;
  psdm_calibration *calibration;
  psdm_observer *observer;
  double effort[N], quantum;
  rng g;
} scene;

static double gauss(rng *g) { return sqrt(-2 * log(1 - rng_uniform(g, 0, 1))) * cos(circle * rng_uniform(g, 0, 1)); }

static void must(psdm_status status, const psdm_error *error, const char *what) {
  if (!status) return;
  printf("WRONG: %s: %s\n", what, error && error->text[0] ? error->text : psdm_status_text(status));
  exit(1);
}

/* ---- the model ---- */

static void calibrate(scene *s, const char *kinematics, const char *log) {
  psdm_error error = {0};
  psdm_parameters *found;
  psdm_calibrate_options options = {
      .files = 1, .path = &log, .cutoff = 40, .delay_given = true, .lambda = 1, .plain_friction = true};
  must(psdm_robot_load(kinematics, NULL, NULL, &s->model, &error), &error, kinematics);
  must(psdm_calibrate(s->model, &options, NULL, &s->calibration, &error), &error, "calibrate");
  must(psdm_parameters_from(s->calibration, false, NULL, &found, &error), &error, "parameters");
  must(psdm_parameters_apply(found, s->model, &error), &error, "apply");
  psdm_parameters_free(found);
}

static double column_value(psdm_column_kind kind, double v) {
  switch (kind) {
    case PSDM_COLUMN_VISCOUS: return v;
    case PSDM_COLUMN_OFFSET: return 1;
    case PSDM_COLUMN_SIGN: return (v > 0) - (v < 0);
    default: must(PSDM_E_ARGUMENT, NULL, "a column that is not of plain friction"); return 0;
  }
}

/* regressor of base parameters (rows of `base`), then of the friction columns drive by drive */
static void put_row(const psdm_calibration *c, const double *base, const double *qd, int all, double *Y) {
  memset(Y, 0, sizeof *Y * (size_t)(N * all));
  for (int j = 0, column = c->base; j < N; j++) {
    memcpy(Y + j * all, base + j * c->base, sizeof *Y * (size_t)c->base);
    for (int k = 0; k < c->columns[j]; k++) Y[j * all + column++] = column_value(c->column[j][k].kind, qd[j]);
  }
}

/* the largest uncertainty along the motion */
static void find_doubt(scene *s, double doubt[N]) {
  const psdm_calibration *c = s->calibration;
  psdm_model *base;
  psdm_work *work;
  psdm_error error = {0};
  int all = c->base;
  for (int j = 0; j < N; j++) all += c->columns[j];
  must(psdm_parameters_model(s->model, NULL, &base, &error), &error, "base parameters");
  must(psdm_work_new(s->model, NULL, &work), NULL, "work");
  double *scratch = malloc(sizeof *scratch * psdm_eval_scratch(s->model, base)),
         *rigid = malloc(sizeof *rigid * (size_t)(N * c->base));
  double *Y = malloc(sizeof *Y * (size_t)(N * all)), x[3 * N], sd[N];
  must(scratch && rigid && Y ? PSDM_OK : PSDM_E_MEMORY, NULL, "doubt");
  memset(doubt, 0, sizeof *doubt * N);
  for (int k = 0; k < STATES; k++) {
    psdm_eval_options options = {.model = base, .scratch = scratch};
    psdm_motion_at(s->motion, k * calm_seconds / STATES, 3, x);
    must(psdm_eval(s->model, work, PSDM_F_REGRESSOR, &options, x, rigid), NULL, "regressor");
    put_row(c, rigid, x + N, all, Y);
    psdm_observer_doubt(N, all, Y, c->covariance, all, sd);
    for (int j = 0; j < N; j++) doubt[j] = fmax(doubt[j], sd[j]);
  }
  free(scratch), free(rigid), free(Y);
  psdm_work_free(work, NULL);
  psdm_model_free(base);
}

static void make_observer(scene *s) {
  const psdm_calibration *c = s->calibration;
  double doubt[N], sigma[N], correlation[N], velocity[N];
  size_t bytes = psdm_observer_bytes(s->model);
  void *memory = malloc(bytes);
  find_doubt(s, doubt);
  for (int j = 0; j < N; j++) {
    double raw = c->train[PSDM_FIT_RAW].joint[j].rmse, share = c->sigma[j] / raw;
    sigma[j] = raw, correlation[j] = fmax(c->correlation * c->stride * share * share, 1),
    velocity[j] = s->quantum * rate / sqrt(6);
  }
  psdm_observer_options options = {.rate = rate,
                                   .friction = PSDM_FRICTION_COULOMB,
                                   .sampled = true,
                                   .differences = true,
                                   .sigma = sigma,
                                   .correlation = correlation,
                                   .velocity_noise = velocity,
                                   .doubt = doubt};
  must(memory ? psdm_observer_init(s->model, &options, memory, bytes, &s->observer) : PSDM_E_MEMORY, NULL, "observer");
  printf("%-26s", "torque noise, Nm");
  for (int j = 0; j < N; j++) printf(" %8.4f", sigma[j]);
  printf("\n%-26s", "correlated over, samples");
  for (int j = 0; j < N; j++) printf(" %8.2f", correlation[j]);
  printf("\n%-26s", "doubt of the model, Nm");
  for (int j = 0; j < N; j++) printf(" %8.4f", doubt[j]);
  printf("\n");
}

/* ---- motion and measurements ---- */

static void make_motion(scene *s) {
  const double centre[N] = {0, -1.2, 1.3, 0, 0.7, 0};
  double amplitude[N * TERMS], frequency[N * TERMS], phase[N * TERMS];
  psdm_error error = {0};
  for (int i = 0; i < N * TERMS; i++) {
    frequency[i] = rng_uniform(&s->g, 0.5, 4), phase[i] = rng_uniform(&s->g, 0, circle);
    amplitude[i] = rng_uniform(&s->g, 0.5, 1) / frequency[i]; /* rad/s */
  }
  must(psdm_motion_sines(N, TERMS, centre, amplitude, frequency, phase, calm_seconds, NULL, &s->motion, &error), &error,
       "motion");
}

/* one sample at t under a force at the flange; external: its joint torques */
static void sample(scene *s, double t, const double force[3], double *external) {
  double x[3 * N], friction[N], q[N], tau[N], r[N];
  psdm_wrench w = {.joint = N - 1, .force = {force[0], force[1], force[2]}};
  psdm_motion_at(s->motion, t, 3, x);
  must(psdm_inverse(s->truth, s->work, x, x + N, x + 2 * N, tau), NULL, "inverse");
  must(psdm_wrench_torque(s->truth, s->work, x, 1, &w, external), NULL, "wrench");
  psdm_friction_torque(s->truth, x + N, friction);
  for (int j = 0; j < N; j++) {
    q[j] = s->quantum * round(x[j] / s->quantum);
    tau[j] += friction[j] - external[j] + noise * s->effort[j] * gauss(&s->g);
  }
  must(psdm_observer_step(s->observer, q, NULL, tau, r), NULL, "step");
}

/* ---- without a contact ---- */

static int stay_calm(scene *s) {
  const double zero[3] = {0};
  double external[N], threshold[N], mean[N] = {0}, most = 0;
  long samples = (long)(calm_seconds * rate), alarms = 0;
  bool up = false;
  for (long k = 0; k < samples; k++) {
    int joint;
    sample(s, (double)k / rate, zero, external);
    bool flag = psdm_observer_collision(s->observer, &joint);
    if (flag && !up) printf("alarm at %.3f s, joint %d\n", (double)k / rate, joint + 1), alarms++;
    up = flag;
    most = fmax(most, psdm_observer_statistic(s->observer));
    psdm_observer_thresholds(s->observer, threshold);
    for (int j = 0; j < N; j++) mean[j] += threshold[j] / (double)samples;
  }
  printf("%-26s", "threshold, mean, Nm");
  for (int j = 0; j < N; j++) printf(" %8.4f", mean[j]);
  printf("\n%.0f s without a contact: %ld alarms; the statistic reached %.2f\n", calm_seconds, alarms, most);
  return alarms != 0;
}

/* ---- collisions ---- */

typedef struct contact {
  double delay; /* ms until the flag; infinite: not while it was watched */
  /* torque over threshold of the joint that it loads most, its least within the promised time */
  double visible;
} contact;

static contact collide(scene *s, double newton) {
  const double zero[3] = {0}, begin = rng_uniform(&s->g, 1, calm_seconds);
  double force[3], length = 0, external[N], threshold[N], least[N];
  contact c = {INFINITY, 0};
  for (int i = 0; i < 3; i++) force[i] = gauss(&s->g), length += force[i] * force[i];
  for (int i = 0; i < 3; i++) force[i] *= newton / sqrt(length);
  for (int j = 0; j < N; j++) least[j] = INFINITY;
  psdm_observer_restart(s->observer);
  for (int k = -LEAD; k < WATCH && (isinf(c.delay) || k <= PROMISED); k++) {
    sample(s, begin + k / rate, k < 0 ? zero : force, external);
    psdm_observer_thresholds(s->observer, threshold);
    for (int j = 0; k >= 0 && k <= PROMISED && j < N; j++) least[j] = fmin(least[j], fabs(external[j]) / threshold[j]);
    if (!isinf(c.delay) || !psdm_observer_collision(s->observer, NULL)) continue;
    c.delay = k;
    if (k < 0) must(PSDM_E_ARGUMENT, NULL, "an alarm before the contact");
  }
  for (int j = 0; j < N; j++) c.visible = fmax(c.visible, least[j]);
  return c;
}

static int ascending(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* by torque over threshold: how many, how quickly. Returns whether the promise is broken. */
static int report(const contact *all, int count, double newton) {
  static const double edges[] = {0, 1, 2, 4, INFINITY};
  double *delay = malloc(sizeof *delay * (size_t)count);
  int in_time = 0, wrong = 0;
  must(delay ? PSDM_OK : PSDM_E_MEMORY, NULL, "report");
  for (int bin = 0; bin < 4; bin++) {
    int found = 0, quick = 0;
    for (int i = 0; i < count; i++)
      if (all[i].visible >= edges[bin] && all[i].visible < edges[bin + 1])
        quick += all[i].delay <= PROMISED, delay[found++] = all[i].delay;
    qsort(delay, (size_t)found, sizeof *delay, ascending);
    in_time += quick;
    printf("%4.0f N  %3.0f to %3.0f thresholds  %6d %8d  %7.1f %%", newton, edges[bin], edges[bin + 1], found, quick,
           found ? 100. * quick / found : 100);
    if (found) printf("  %6.0f %6.0f", delay[found / 2], delay[found - 1]);
    printf("\n");
    wrong |= edges[bin] >= 2 && newton >= 10 && quick < found;
  }
  for (int i = 0; i < count; i++) delay[i] = all[i].delay;
  qsort(delay, (size_t)count, sizeof *delay, ascending);
  printf("%4.0f N  all directions, poses  %6d %8d  %7.1f %%  %6.0f %6.0f\n", newton, count, in_time,
         100. * in_time / count, delay[count / 2], delay[count - 1]);
  /* a stretched arm cannot detect forces in some directions */
  wrong |= newton >= 10 && (in_time < 0.98 * count || delay[count / 2] > PROMISED / 2.);
  free(delay);
  return wrong;
}

int main(int argc, char **argv) {
  static const double newtons[] = {5, 10, 20};
  scene s = {.g = rng_start("observer")};
  psdm_error error = {0};
  if (argc != 6) return 2;
  int count = atoi(argv[5]), wrong = 0;
  contact *contacts = malloc(sizeof *contacts * (size_t)count);
  s.quantum = atof(argv[4]);
  must(contacts ? psdm_robot_load(argv[1], NULL, NULL, &s.truth, &error) : PSDM_E_MEMORY, &error, argv[1]);
  must(psdm_work_new(s.truth, NULL, &s.work), NULL, "work");
  for (int j = 0; j < N; j++) s.effort[j] = psdm_robot_joint(s.truth, j)->limits.effort;
  calibrate(&s, argv[2], argv[3]);
  make_motion(&s);
  make_observer(&s);
  wrong |= stay_calm(&s);
  printf("force   felt by                 contacts  in %d ms   share    median  worst, ms\n", PROMISED);
  for (size_t k = 0; k < sizeof newtons / sizeof *newtons; k++) {
    for (int i = 0; i < count; i++) contacts[i] = collide(&s, newtons[k]);
    wrong |= report(contacts, count, newtons[k]);
  }
  free(contacts), free(s.observer);
  psdm_motion_free(s.motion);
  psdm_work_free(s.work, NULL);
  psdm_calibration_free(s.calibration);
  psdm_robot_free(s.model), psdm_robot_free(s.truth);
  if (wrong) printf("WRONG: false alarms, or missed contacts\n");
  return wrong;
}
