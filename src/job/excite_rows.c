/* excite_rows.c: a motion as rows, and the check that neither it nor its interpolation by a robot exceeds
 * a limit. */
#include <math.h>
#include <string.h>

#include "job/excite_priv.h"
#include "psdm/friction.h"

static double seconds_of(const psdmp_job_excite *j, const psdm_motion *motion) {
  return j->set.periods * (psdm_motion_end(motion) - psdm_motion_begin(motion));
}

/* ---- rows ---- */

/* memory for all columns side by side; its old content is lost */
static bool make_room(psdmp_job_excite *j, long rows) {
  psdmp_job_excite_rows *r = &j->rows;
  r->rows = rows;
  if (rows <= r->room) return true;
  size_t n = (size_t)j->n, count = (size_t)rows;
  psdmp_base_free(NULL, r->t);
  r->room = 0;
  r->t = psdmp_base_alloc_raw(NULL, count * (1 + 4 * n) * sizeof *r->t);
  if (!r->t) return false;
  r->q = r->t + count, r->qd = r->q + count * n, r->qdd = r->qd + count * n, r->tau = r->qdd + count * n;
  r->room = rows;
  return true;
}

/* rigid torque and, where the file has it, steady friction */
static psdm_status predict(psdmp_job_excite *j, long row, double *friction) {
  psdmp_job_excite_rows *r = &j->rows;
  long at = row * j->n;
  psdm_status status = psdm_inverse(j->job.robot, j->work, r->q + at, r->qd + at, r->qdd + at, r->tau + at);
  if (j->friction) psdm_friction_torque(j->job.robot, r->qd + at, friction);
  for (int i = 0; i < j->n && j->friction; i++) r->tau[at + i] += friction[i];
  return status;
}

/* rounding errors in a velocity or acceleration at rest would flip the sign of dry friction */
static void settle(const psdmp_job_excite *j, double *qd, double *qdd) {
  for (int i = 0; i < j->n; i++) {
    if (fabs(qd[i]) < 1e-12 * j->velocity[i]) qd[i] = 0;
    if (fabs(qdd[i]) < 1e-12 * j->acceleration[i]) qdd[i] = 0;
  }
}

static double last_row(const psdmp_job_excite *j, double seconds) { return ceil(seconds * j->set.rate * (1 - 1e-12)); }

/* the rows, those that are kept, whose room doubles, and either interpolated points or the file read back, whose room
 * doubles too */
psdm_status psdmp_job_excite_fits(const psdmp_job_excite *j, double seconds, psdm_error *error) {
  char what[64];
  double rows = last_row(j, seconds) + 1, n = j->n, kept = psdmp_job_kept_wanted(&j->job, "out") ? 24 * (1 + 4 * n) : 0;
  psdmp_base_print(what, sizeof what, "keeping %.3g rows", rows);
  return psdm_robot_fits(j->job.robot, what,
                         rows * (8 * (1 + 4 * n) + kept + (j->set.out ? 32 * (3 * n + 2) : 8 * (1 + 3 * n))), error);
}

/* at the beginning, then every 1 / rate, and at the end; no interval that is only rounding */
static psdm_status make_rows(psdmp_job_excite *j, const psdm_motion *motion, psdm_error *error) {
  double begin = psdm_motion_begin(motion), seconds = seconds_of(j, motion), last = last_row(j, seconds);
  size_t n = (size_t)j->n;
  psdm_status status = psdmp_job_excite_fits(j, seconds, error);
  if (status) return status;
  double *x = j->row;
  if (!make_room(j, (long)last + 1)) *error = (psdm_error){.status = status = PSDM_E_MEMORY, .text = "out of memory"};
  for (long k = 0; k <= (long)last && !status; k++) {
    psdmp_job_excite_rows *r = &j->rows;
    r->t[k] = begin + (k < (long)last ? (double)k / j->set.rate : seconds);
    psdm_motion_at(motion, r->t[k], 3, x);
    settle(j, x + n, x + 2 * n);
    memcpy(r->q + k * j->n, x, n * sizeof *x);
    memcpy(r->qd + k * j->n, x + n, n * sizeof *x);
    memcpy(r->qdd + k * j->n, x + 2 * n, n * sizeof *x);
    if (j->torques && (status = predict(j, k, x + 3 * n)))
      *error = (psdm_error){.status = status, .text = "torques along the motion cannot be computed"};
  }
  return status;
}

/* ---- limits ---- */

/* four points between rows, and at least 2000 a second; a series has at most a hundred harmonics, and 20,000 points on
 * the shortest are enough */
static long points_of(const psdmp_job_excite *j, double seconds) {
  const bool series = strcmp(j->set.experiment, "inertia") == 0 && strcmp(j->set.shape, "fourier") == 0;
  const double fine = series ? fmin(2000, 2e6 / (seconds / j->set.periods)) : 2000;
  return (long)ceil(seconds * fmax(fine, 4 * j->set.rate)) + 1;
}

static psdm_status measure(psdmp_job_excite *j, const psdm_motion *motion, psdmp_job_excite_measure *m,
                           psdm_error *error) {
  m->points = points_of(j, psdm_motion_end(motion) - psdm_motion_begin(motion));
  psdm_excite_extremes e = {.lower = m->lower,
                            .upper = m->upper,
                            .velocity = m->velocity,
                            .acceleration = m->acceleration,
                            .effort = m->effort};
  psdm_status status = psdm_excite_check(j->job.robot, &j->options, motion, m->points, NULL, &e, error);
  m->gap = e.gap, m->worst = e.worst;
  return status;
}

/* what a robot makes of the q, qd and qdd of two rows in between */
psdm_status psdmp_job_excite_measure_motion(psdmp_job_excite *j, const psdm_motion *motion, psdm_error *error) {
  psdm_motion *between = NULL;
  psdm_status status = make_rows(j, motion, error);
  const psdmp_job_excite_rows *r = &j->rows;
  if (!status) status = measure(j, motion, &j->planned, error);
  if (!status) status = psdm_motion_table(j->n, r->rows, r->t, r->q, r->qd, r->qdd, NULL, &between, error);
  if (!status) status = measure(j, between, &j->between, error);
  psdm_motion_free(between);
  return status;
}

/* beyond a limit, or nearer than the clearance, by more than rounding; between rows by a ten-thousandth more: no limit
 * is known more exactly */
bool psdmp_job_excite_keeps(const psdmp_job_excite *j) {
  return j->planned.worst <= 1 + 1e-9 && j->between.worst <= 1 + 1e-4;
}

/* ---- the file ---- */

static void add_row(psdmp_job_excite *j, psdmp_job_sink *sink, long row) {
  static const char *const names[] = {"q", "qd", "qdd", "tau"};
  const psdmp_job_excite_rows *r = &j->rows;
  const double *const group[] = {r->q, r->qd, r->qdd, r->tau};
  psdmp_job_group list[5] = {PSDMP_JOB_GROUP("t", 0, &r->t[row])};
  for (int g = 0; g < 3 + j->torques; g++) {
    double *to = j->row + g * j->n;
    for (int i = 0; i < j->n; i++) to[i] = group[g][row * j->n + i] + 0.0;
    list[1 + g] = (psdmp_job_group)PSDMP_JOB_GROUP(names[g], j->n, to);
  }
  psdmp_job_rows_add(sink, list, 4 + j->torques);
}

psdm_status psdmp_job_excite_write(psdmp_job_excite *j, bool asked) {
  psdmp_job_sink *sink;
  psdm_status status = psdmp_job_rows_open(&j->job, "out", j->set.out, &sink);
  if (status) return status;
  for (long k = 0; k < j->rows.rows && sink && !psdmp_job_rows_failed(sink); k++) {
    add_row(j, sink, k);
    if (asked || !psdmp_job_interrupted(&j->job)) continue;
    psdmp_job_rows_abort(&j->job, &sink);
    return PSDM_E_STOPPED;
  }
  status = psdmp_job_rows_commit(&j->job, &sink);
  j->saves += !status && j->set.out;
  return status;
}

psdm_status psdmp_job_excite_read_back(psdmp_job_excite *j) {
  psdm_motion *motion;
  psdm_error error;
  if (!j->set.out || !psdmp_job_is_file(j->set.out)) return PSDM_OK;
  psdm_status status = psdm_motion_load(j->set.out, j->n, true, NULL, &motion, &error);
  if (!status) status = measure(j, motion, &j->read, &error);
  psdm_motion_free(motion);
  j->read_back = !status;
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}
