/* cmd_simulate_reference.c: the motion for a controller or --inverse. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

static const double pi = 3.14159265358979323846;

/* Box and Muller */
double simulate_gaussian(unsigned long long *state) {
  double radius = sqrt(-2 * log(1 - tool_random(state)));
  return radius * cos(2 * pi * tool_random(state));
}

/* ---- motions ---- */

static double seconds_of(const simulate_job *j) { return j->set.duration > 0 ? j->set.duration : j->set.time; }

static int polynomial(simulate_job *j, const double *to) {
  psdm_error error;
  int degree = 3 + 2 * (int)j->reference_kind;
  return psdm_motion_polynomial(j->n, degree, j->q, to, j->start, seconds_of(j), NULL, &j->reference, &error)
             ? tool_fail(&error)
             : -1;
}

static int hold(simulate_job *j, const double *to) {
  psdm_error error;
  return psdm_motion_polynomial(j->n, 3, to, to, j->start, seconds_of(j), NULL, &j->reference, &error)
             ? tool_fail(&error)
             : -1;
}

/* centre + A sin(2 pi f t) */
static int sines(simulate_job *j, const double *centre, const double *amplitude) {
  psdm_error error;
  double *frequency = simulate_array(j, 2 * (size_t)j->n, sizeof *frequency), *phase = frequency + j->n;
  if (!frequency) return tool_no_memory("simulate");
  int code = simulate_numbers("frequency", j->set.frequency ? j->set.frequency : "0.5", j->n, frequency);
  if (code >= 0) return code;
  for (int i = 0; i < j->n; i++) frequency[i] *= 2 * pi;
  if (psdm_motion_sines(j->n, 1, centre, amplitude, frequency, phase, j->set.time, NULL, &j->reference, &error))
    return tool_fail(&error);
  return -1;
}

/* x - (x'u) u / (u'u) */
static void remove_direction(int count, const double *u, double *x) {
  double xu = 0, uu = 0;
  for (int k = 0; k < count; k++) xu += x[k] * u[k], uu += u[k] * u[k];
  for (int k = 0; k < count; k++) x[k] -= xu / uu * u[k];
}

/* random harmonics of one joint with q = centre, qd = qdd = 0 at t = 0: sum a_k = 0, sum b_k / k = 0, sum b_k k = 0 */
static void draw_joint(int count, unsigned long long *random, double *a, double *b, double *u) {
  for (int k = 0; k < count; k++) a[k] = simulate_gaussian(random), b[k] = simulate_gaussian(random);
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
static void largest(const simulate_job *j, const psdm_motion *motion, const double *centre, double *x, double *out) {
  int samples = 64 * (int)j->set.harmonics;
  for (int s = 0; s < samples; s++) {
    psdm_motion_at(motion, j->set.period * s / samples, 1, x);
    for (int i = 0; i < j->n; i++) out[i] = fmax(out[i], fabs(x[i] - centre[i]));
  }
}

/* drawn, measured, and scaled so that no joint exceeds its amplitude */
static int fourier(simulate_job *j, const double *centre, const double *amplitude) {
  psdm_error error;
  int count = (int)j->set.harmonics;
  size_t size = (size_t)j->n * (size_t)count;
  double *a = simulate_array(j, size, sizeof *a), *b = simulate_array(j, size, sizeof *b);
  double *u = simulate_array(j, 2 * (size_t)count, sizeof *u), *x = simulate_array(j, 2 * (size_t)j->n, sizeof *x),
         *most = x + j->n;
  unsigned long long random = (unsigned long long)j->set.seed ^ 0xf0u; /* not the stream of --model-error */
  if (!a || !b || !u || !x) return tool_no_memory("simulate");
  for (int i = 0; i < j->n; i++)
    draw_joint(count, &random, a + (size_t)i * (size_t)count, b + (size_t)i * (size_t)count, u);
  if (psdm_motion_fourier(j->n, count, j->set.period, centre, a, b, j->set.time, NULL, &j->reference, &error))
    return tool_fail(&error);
  largest(j, j->reference, centre, x, most);
  psdm_motion_free(j->reference);
  j->reference = NULL;
  for (size_t k = 0; k < size; k++) {
    double scale = amplitude[k / (size_t)count] / most[k / (size_t)count];
    a[k] *= scale, b[k] *= scale;
  }
  if (psdm_motion_fourier(j->n, count, j->set.period, centre, a, b, j->set.time, NULL, &j->reference, &error))
    return tool_fail(&error);
  return -1;
}

static int from_file(simulate_job *j) {
  psdm_error error;
  tool_input(j->set.reference);
  int code = tool_table_fits(j->file, j->set.reference, 3 * j->n);
  if (code >= 0) return code;
  return psdm_motion_load(j->set.reference, j->n, j->set.ignore_extra, NULL, &j->reference, &error) ? tool_fail(&error)
                                                                                                    : -1;
}

static int make(simulate_job *j) {
  double *to = simulate_array(j, 2 * (size_t)j->n, sizeof *to), *amplitude = to + j->n;
  if (!to) return tool_no_memory("simulate");
  memcpy(to, j->q, (size_t)j->n * sizeof *to);
  int code = j->set.to ? simulate_numbers("to", j->set.to, j->n, to) : -1;
  if (code < 0) code = simulate_numbers("amplitude", j->set.amplitude ? j->set.amplitude : "0.5", j->n, amplitude);
  if (code >= 0) return code;
  switch (j->reference_kind) {
    case REFERENCE_FILE: return from_file(j);
    case REFERENCE_HOLD: return hold(j, to);
    case REFERENCE_SINES: return sines(j, to, amplitude);
    case REFERENCE_FOURIER: return fourier(j, to, amplitude);
    default: return polynomial(j, to);
  }
}

int simulate_reference(simulate_job *j) {
  if (!j->set.inverse && (j->control_kind == PSDM_CONTROL_NONE || j->control_kind == PSDM_CONTROL_TORQUE)) return -1;
  int code = make(j);
  if (code >= 0 || !j->start_on_reference) return code;
  /* the robot begins where the motion does */
  double *x = simulate_array(j, 2 * (size_t)j->n, sizeof *x);
  if (!x) return tool_no_memory("simulate");
  j->start = psdm_motion_begin(j->reference);
  psdm_motion_at(j->reference, j->start, 2, x);
  memcpy(j->q, x, (size_t)j->n * sizeof *x);
  memcpy(j->qd, x + j->n, (size_t)j->n * sizeof *x);
  return -1;
}
