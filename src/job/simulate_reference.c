/* simulate_reference.c: the motion for a controller or inverse. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

static const double pi = 3.14159265358979323846;

/* Box and Muller */
double psdmp_job_simulate_gaussian(uint64_t *state) {
  double radius = sqrt(-2 * log(1 - psdmp_base_random(state, 0, 1)));
  return radius * cos(2 * pi * psdmp_base_random(state, 0, 1));
}

/* ---- motions ---- */

static double seconds_of(const psdmp_job_simulate *j) { return j->set.duration > 0 ? j->set.duration : j->set.time; }

static psdm_status polynomial(psdmp_job_simulate *j, const double *to) {
  psdm_error error;
  int degree = 3 + 2 * (int)j->reference_kind;
  return psdm_motion_polynomial(j->n, degree, j->q, to, j->start, seconds_of(j), NULL, &j->reference, &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

static psdm_status hold(psdmp_job_simulate *j, const double *to) {
  psdm_error error;
  return psdm_motion_polynomial(j->n, 3, to, to, j->start, seconds_of(j), NULL, &j->reference, &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

/* centre + A sin(2 pi f t) */
static psdm_status sines(psdmp_job_simulate *j, const double *centre, const double *amplitude) {
  psdm_error error;
  double *frequency = psdmp_job_array(&j->job, 2 * (size_t)j->n, sizeof *frequency), *phase = frequency + j->n;
  if (!frequency) return psdmp_job_memory(&j->job);
  psdm_status status =
      psdmp_job_numbers(&j->job, "frequency", j->set.frequency ? j->set.frequency : "0.5", j->n, frequency);
  if (status) return status;
  for (int i = 0; i < j->n; i++) frequency[i] *= 2 * pi;
  if (psdm_motion_sines(j->n, 1, centre, amplitude, frequency, phase, j->set.time, NULL, &j->reference, &error))
    return psdmp_job_fail(&j->job, &error);
  return PSDM_OK;
}

/* x - (x'u) u / (u'u) */
static void remove_direction(int count, const double *u, double *x) {
  double xu = 0, uu = 0;
  for (int k = 0; k < count; k++) xu += x[k] * u[k], uu += u[k] * u[k];
  for (int k = 0; k < count; k++) x[k] -= xu / uu * u[k];
}

/* random harmonics of one joint with q = centre, qd = qdd = 0 at t = 0: sum a_k = 0, sum b_k / k = 0, sum b_k k = 0 */
static void draw_joint(int count, uint64_t *random, double *a, double *b, double *u) {
  for (int k = 0; k < count; k++)
    a[k] = psdmp_job_simulate_gaussian(random), b[k] = psdmp_job_simulate_gaussian(random);
  for (int k = 0; k < count; k++) u[k] = 1;
  remove_direction(count, u, a);
  for (int k = 0; k < count; k++) u[k] = k + 1;
  remove_direction(count, u, b);
  /* the part of 1/k orthogonal to k, so that the second removal keeps the first */
  double *v = u + count;
  for (int k = 0; k < count; k++) v[k] = 1.0 / (k + 1);
  remove_direction(count, u, v);
  remove_direction(count, v, b);
}

/* largest deviation of each joint within a period, sampled finely enough for the highest harmonic */
static void largest(const psdmp_job_simulate *j, const psdm_motion *motion, const double *centre, double *x,
                    double *out) {
  int samples = 64 * (int)j->set.harmonics;
  for (int s = 0; s < samples; s++) {
    psdm_motion_at(motion, j->set.period * s / samples, 1, x);
    for (int i = 0; i < j->n; i++) out[i] = fmax(out[i], fabs(x[i] - centre[i]));
  }
}

/* drawn, measured, and scaled so that no joint exceeds its amplitude */
static psdm_status fourier(psdmp_job_simulate *j, const double *centre, const double *amplitude) {
  psdm_error error;
  int count = (int)j->set.harmonics;
  size_t size = (size_t)j->n * (size_t)count;
  double *a = psdmp_job_array(&j->job, size, sizeof *a), *b = psdmp_job_array(&j->job, size, sizeof *b);
  double *u = psdmp_job_array(&j->job, 2 * (size_t)count, sizeof *u),
         *x = psdmp_job_array(&j->job, 2 * (size_t)j->n, sizeof *x), *most = x + j->n;
  uint64_t random = (uint64_t)j->set.seed ^ 0xf0u; /* not the stream of model_error */
  if (!a || !b || !u || !x) return psdmp_job_memory(&j->job);
  for (int i = 0; i < j->n; i++)
    draw_joint(count, &random, a + (size_t)i * (size_t)count, b + (size_t)i * (size_t)count, u);
  if (psdm_motion_fourier(j->n, count, j->set.period, centre, a, b, j->set.time, NULL, &j->reference, &error))
    return psdmp_job_fail(&j->job, &error);
  largest(j, j->reference, centre, x, most);
  psdm_motion_free(j->reference);
  j->reference = NULL;
  for (size_t k = 0; k < size; k++) {
    double scale = amplitude[k / (size_t)count] / most[k / (size_t)count];
    a[k] *= scale, b[k] *= scale;
  }
  if (psdm_motion_fourier(j->n, count, j->set.period, centre, a, b, j->set.time, NULL, &j->reference, &error))
    return psdmp_job_fail(&j->job, &error);
  return PSDM_OK;
}

static psdm_status from_file(psdmp_job_simulate *j) {
  psdm_error error;
  psdmp_job_reads(&j->job, j->set.reference);
  psdm_status status = psdmp_job_table_fits(&j->job, j->file, j->set.reference, 3 * j->n);
  if (status) return status;
  return psdm_motion_load(j->set.reference, j->n, j->set.ignore_extra, NULL, &j->reference, &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

static psdm_status make(psdmp_job_simulate *j) {
  double *to = psdmp_job_array(&j->job, 2 * (size_t)j->n, sizeof *to), *amplitude = to + j->n;
  if (!to) return psdmp_job_memory(&j->job);
  memcpy(to, j->q, (size_t)j->n * sizeof *to);
  psdm_status status = j->set.to ? psdmp_job_numbers(&j->job, "to", j->set.to, j->n, to) : PSDM_OK;
  if (!status)
    status = psdmp_job_numbers(&j->job, "amplitude", j->set.amplitude ? j->set.amplitude : "0.5", j->n, amplitude);
  if (status) return status;
  switch (j->reference_kind) {
    case REFERENCE_FILE: return from_file(j);
    case REFERENCE_HOLD: return hold(j, to);
    case REFERENCE_SINES: return sines(j, to, amplitude);
    case REFERENCE_FOURIER: return fourier(j, to, amplitude);
    default: return polynomial(j, to);
  }
}

psdm_status psdmp_job_simulate_reference(psdmp_job_simulate *j) {
  if (!j->set.inverse && (j->control_kind == PSDM_CONTROL_NONE || j->control_kind == PSDM_CONTROL_TORQUE))
    return PSDM_OK;
  psdm_status status = make(j);
  if (status || !j->start_on_reference) return status;
  /* the robot begins where the motion does */
  double *x = psdmp_job_array(&j->job, 2 * (size_t)j->n, sizeof *x);
  if (!x) return psdmp_job_memory(&j->job);
  j->start = psdm_motion_begin(j->reference);
  psdm_motion_at(j->reference, j->start, 2, x);
  memcpy(j->q, x, (size_t)j->n * sizeof *x);
  memcpy(j->qd, x + j->n, (size_t)j->n * sizeof *x);
  return PSDM_OK;
}
