/* test_estimate_log.h: logs whose velocities are noisy and whose torques have outliers, with the truth beside them.
 * Part of one program at a time. */
#ifndef TEST_ESTIMATE_LOG_H
#define TEST_ESTIMATE_LOG_H

#include "test_calibrate_log.h"

#include "psdm/calibrate.h"

/* What is wrong with a log beyond the noise of its torques. */
typedef struct damage {
  double position, rate; /* standard deviations of noise, rad and rad/s */
  /* share of torques that are wrong by one to two times the largest, either way, more often up: larger errors would be
   * removed as spikes */
  double outliers;
  bool accelerations; /* are logged, exact */
} damage;

static inline void write_damaged(const char *path, const truth *w, const damage *d, rng *motion, rng *noise) {
  int n = psdm_robot_n(w->robot), S = psdm_robot_parameter_count(w->robot);
  tones m = tones_of(motion, w);
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], largest[MOST] = {0}, *pi = malloc((size_t)S * sizeof *pi),
                                                  *Y = malloc((size_t)n * (size_t)S * sizeof *Y);
  psdm_work *work;
  FILE *file = fopen(path, "w");
  assert_true(pi && Y && file);
  assert_int_equal(psdm_work_new(w->robot, NULL, &work), PSDM_OK);
  psdm_robot_parameters(w->robot, pi);
  for (int k = 0; k < 200; k++) {
    tones_at(&m, n, 0.0497 * k, q, qd, qdd);
    true_torque(w, work, Y, pi, q, qd, qdd, tau);
    for (int i = 0; i < n; i++) largest[i] = fmax(largest[i], fabs(tau[i]));
  }
  fprintf(file, "t");
  put_names(file, "q", n);
  put_names(file, "qd", n);
  if (d->accelerations) put_names(file, "qdd", n);
  put_names(file, "tau", n);
  fprintf(file, "\n");
  for (long k = 0; k < w->rows; k++) {
    double t = (double)k * w->dt;
    tones_at(&m, n, t, q, qd, qdd);
    true_torque(w, work, Y, pi, q, qd, qdd, tau);
    for (int i = 0; i < n; i++) {
      tau[i] += w->noise * largest[i] * rng_normal(noise);
      q[i] += d->position * rng_normal(noise);
      qd[i] += d->rate * rng_normal(noise);
      if (rng_uniform(noise, 0, 1) < d->outliers)
        tau[i] += largest[i] * rng_uniform(noise, 1, 2.3) * (rng_uniform(noise, 0, 1) < 0.7 ? 1 : -1);
    }
    fprintf(file, "%.9f", t);
    put_numbers(file, q, n);
    put_numbers(file, qd, n);
    if (d->accelerations) put_numbers(file, qdd, n);
    put_numbers(file, tau, n);
    fprintf(file, "\n");
  }
  assert_int_equal(fclose(file), 0);
  psdm_work_free(work, NULL);
  free(pi);
  free(Y);
}

#endif
