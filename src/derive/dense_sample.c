/* dense_sample.c: random states, and the torque of one class of functions at them. */
#include <math.h>
#include <string.h>

#include "derive/dense_priv.h"

static double length(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

void psdmp_derive_source_set(const psdm_robot *r, const psdm_derive_options *options, const psdm_allocator *allocator,
                             psdmp_derive_source *s) {
  *s = (psdmp_derive_source){.robot = r, .options = options, .allocator = allocator};
  for (int b = 0; b < r->bodies; b++)
    s->reach += (r->body[b].parent < 0 ? 0 : length(r->body[b].joint.p)) + length(r->link[r->body[b].index].frame.p);
  s->reach = psdmp_derive_unit_length(s->reach);
  double gravity = length(r->gravity);
  s->rate = gravity > 0 ? sqrt(gravity / s->reach) : 1;
}

void psdmp_derive_source_positions(const psdmp_derive_source *s, uint64_t seed, long states, double *q) {
  const psdm_robot *r = s->robot;
  for (long k = 0; k < states; k++)
    for (int j = 0; j < r->joints; j++)
      if (r->joint[j].q >= 0)
        q[k * r->n + r->joint[j].q] =
            psdmp_base_random(&seed, -1, 1) * (r->joint[j].type == PSDM_PRISMATIC ? s->reach : 3.14159265358979323846);
}

/* ---- torques of a batch ---- */

/* by the recursion: one regressor per state serves every parameter set */
static psdm_status recursive_torques(const psdmp_derive_source *s, const psdmp_derive_batch *b, psdm_error *error) {
  const psdm_robot *r = s->robot;
  int n = r->n, S = psdm_robot_parameter_count(r);
  psdmp_base_arena arena = {.allocator = s->allocator};
  double *Y = PSDMP_BASE_NEW_RAW(&arena, n * S, double),
         *by_parameter = PSDMP_BASE_NEW_RAW(&arena, (long)S * b->sets, double);
  psdm_work *work = NULL;
  psdm_status status =
      Y && by_parameter && !psdm_work_new(r, s->allocator, &work) ? PSDM_OK : psdmp_base_no_memory(r->file, error);
  for (int k = 0; k < S && !status; k++)
    for (int set = 0; set < b->sets; set++) by_parameter[(long)k * b->sets + set] = b->pi[(long)set * S + k];
  for (long t = 0; t < b->states && !status; t++) {
    status = psdm_regressor_standard(r, work, b->q + t * n, b->qd + t * n, b->qdd + t * n, Y);
    for (int i = 0; i < n && !status; i++) {
      double *tau = b->tau + (t * n + i) * b->sets;
      memset(tau, 0, sizeof *tau * (size_t)b->sets);
      for (int k = 0; k < S; k++) {
        double share = Y[(long)i * S + k];
        const double *pi = by_parameter + (long)k * b->sets;
        for (int set = 0; share != 0 && set < b->sets; set++) tau[set] += share * pi[set];
      }
    }
  }
  psdm_work_free(work, s->allocator);
  psdmp_base_arena_free(&arena);
  return status;
}

static psdm_status called_torques(const psdmp_derive_source *s, const psdmp_derive_batch *b, psdm_error *error) {
  const psdm_robot *r = s->robot;
  int n = r->n, S = psdm_robot_parameter_count(r);
  double tau[PSDMP_DERIVE_DENSE_JOINTS];
  for (long t = 0; t < b->states; t++)
    for (int set = 0; set < b->sets; set++) {
      psdm_status status = s->options->sampler(s->options->sampler_user, b->q + t * n, b->qd + t * n, b->qdd + t * n,
                                               b->pi + (long)set * S, tau);
      if (status) return psdmp_base_fail(error, status, NULL, 0, 0, "the sampler failed: %s", psdm_status_text(status));
      for (int i = 0; i < n; i++) b->tau[(t * n + i) * b->sets + set] = tau[i];
    }
  return PSDM_OK;
}

static psdm_status torques(const psdmp_derive_source *s, const psdmp_derive_batch *b, psdm_error *error) {
  const psdm_derive_options *o = s->options;
  psdm_status status = o && o->sampler ? called_torques(s, b, error)
                       : o && o->sampler_command
                           ? psdmp_derive_command_torques(s->robot, o->sampler_command, b, s->allocator, error)
                           : recursive_torques(s, b, error);
  for (long i = 0; !status && i < b->states * s->robot->n * b->sets; i++)
    if (!isfinite(b->tau[i]))
      status = psdmp_base_fail(error, PSDM_E_ARGUMENT, s->robot->file, 0, 0, "a sampled torque is not a finite number");
  return status;
}

/* ---- one class alone ---- */

/* velocities of the joints that make forces and torques, of rotation and displacement, equally large */
static void set_rates(const psdmp_derive_source *s, double *rate) {
  for (int j = 0; j < s->robot->joints; j++)
    if (s->robot->joint[j].q >= 0)
      rate[s->robot->joint[j].q] = s->rate * (s->robot->joint[j].type == PSDM_PRISMATIC ? s->reach : 1);
}

/* Two states per position whose difference is the class alone (equation 47, with signs instead of extra states): qdd_a
 * against its negative, qd_a against rest, qd_a with qd_b against qd_a with -qd_b. Gravity needs one. Returns the
 * divisor. */
static double set_pair(const psdmp_derive_source *s, int first, int second, double *qd, double *qdd) {
  double rate[PSDMP_DERIVE_DENSE_JOINTS];
  int n = s->robot->n;
  memset(qd, 0, sizeof *qd * (size_t)(2 * n));
  memset(qdd, 0, sizeof *qdd * (size_t)(2 * n));
  set_rates(s, rate);
  if (first < 0) return length(s->robot->gravity);
  if (second < 0) {
    qdd[first] = rate[first] * s->rate;
    qdd[n + first] = -qdd[first];
    return 2 * qdd[first];
  }
  qd[first] = rate[first];
  if (first == second) return rate[first] * rate[first];
  qd[n + first] = rate[first];
  qd[second] = rate[second];
  qd[n + second] = -rate[second];
  return 2 * rate[first] * rate[second];
}

static double largest_torque(const psdmp_derive_source *s, const psdmp_derive_batch *b) {
  double unit[PSDMP_DERIVE_DENSE_JOINTS], size = 0;
  set_rates(s, unit);
  for (long t = 0; t < b->states; t++)
    for (int i = 0; i < s->robot->n; i++)
      for (int set = 0; set < b->sets; set++)
        size = fmax(size, fabs(b->tau[(t * s->robot->n + i) * b->sets + set]) * unit[i]);
  return size / (s->rate * s->rate * s->rate);
}

psdm_status psdmp_derive_source_class(const psdmp_derive_source *s, const double *q, long positions, const double *pi,
                                      int sets, int first, int second, double *T, double *size, psdm_error *error) {
  int n = s->robot->n, each = first < 0 ? 1 : 2;
  long states = each * positions, block = (long)n * sets;
  psdmp_base_arena arena = {.allocator = s->allocator};
  psdmp_derive_batch b = {.states = states, .sets = sets, .pi = pi};
  double qd[2 * PSDMP_DERIVE_DENSE_JOINTS], qdd[2 * PSDMP_DERIVE_DENSE_JOINTS],
      divisor = set_pair(s, first, second, qd, qdd);
  b.q = PSDMP_BASE_NEW_RAW(&arena, states * n, double);
  b.qd = PSDMP_BASE_NEW_RAW(&arena, states * n, double);
  b.qdd = PSDMP_BASE_NEW_RAW(&arena, states * n, double);
  b.tau = PSDMP_BASE_NEW_RAW(&arena, states * block, double);
  psdm_status status = b.q && b.qd && b.qdd && b.tau ? PSDM_OK : psdmp_base_no_memory(s->robot->file, error);
  for (long t = 0; t < states && !status; t++) {
    memcpy(b.q + t * n, q + t / each * n, sizeof *q * (size_t)n);
    memcpy(b.qd + t * n, qd + t % each * n, sizeof *qd * (size_t)n);
    memcpy(b.qdd + t * n, qdd + t % each * n, sizeof *qdd * (size_t)n);
  }
  if (!status) status = torques(s, &b, error);
  for (long k = 0; k < positions * block && !status; k++) {
    const double *tau = b.tau + k / block * block * each + k % block;
    T[k] = (tau[0] - (each > 1 ? tau[block] : 0)) / divisor;
  }
  if (!status) *size = fmax(*size, largest_torque(s, &b));
  psdmp_base_arena_free(&arena);
  return status;
}
