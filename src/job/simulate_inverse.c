/* simulate_inverse.c: torques along a motion without integration, and the log that a recorder would write. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

/* per joint over all rows; (n) each */
typedef struct extremes {
  psdmp_job_simulate *j;
  double *speed, *torque, *square; /* largest |qd| and |tau|; sum of tau^2 */
  double begin, end;               /* s, of the rows */
  double until;                    /* s, where the last one is */
  long rows;
  psdm_status status; /* of the load */
  psdm_error error;
} extremes;

static int groups_of(const psdmp_job_simulate *j, const psdm_along_row *row, psdmp_job_group list[16]) {
  int count = 0, n = row->n;
#define GROUP(...) list[count++] = (psdmp_job_group)PSDMP_JOB_GROUP(__VA_ARGS__)
  GROUP("t", 0, &row->t);
  GROUP("q", n, row->q);
  GROUP("qd", n, row->qd);
  GROUP("qdd", n, row->qdd);
  GROUP("tau", n, row->tau);
  if (j->options.friction != PSDM_FRICTION_NONE) GROUP("friction", n, row->friction);
  if (j->set.elastic) GROUP("theta", n, row->theta);
  if (j->set.elastic) GROUP("thetad", n, row->thetad);
  if (j->set.elastic) GROUP("thetadd", n, row->thetadd);
  if (j->set.motor) GROUP("qm", n, row->q_motor);
  if (j->set.motor) GROUP("taum", n, row->tau_motor);
  if (j->set.current) GROUP("i", n, row->current);
#undef GROUP
  return count;
}

static void measure(extremes *e, const psdm_along_row *row) {
  if (!e->rows++) e->begin = row->t;
  e->end = row->t;
  for (int i = 0; i < row->n; i++) {
    e->speed[i] = fmax(e->speed[i], fabs(row->qd[i]));
    e->torque[i] = fmax(e->torque[i], fabs(row->tau[i]));
    e->square[i] += row->tau[i] * row->tau[i];
  }
}

static void write_row(psdmp_job_simulate *j, const psdm_along_row *row) {
  psdmp_job_group list[16];
  if (j->out) psdmp_job_rows_add(j->out, list, groups_of(j, row, list));
}

/* the row with the load's torque added, in the job's memory */
static psdm_status add_load(psdmp_job_simulate *j, psdm_along_row *row, psdm_error *error) {
  psdmp_job_carried *c = &j->carried;
  psdm_status status = psdmp_job_simulate_carry(j, row, error);
  for (int i = 0; i < j->n; i++) c->sum[i] = row->tau[i] + c->tau[i];
  psdm_robot_motor_torque(j->robot, c->sum, c->sum_motor);
  for (int i = 0; i < j->n && j->set.current; i++) c->current[i] = c->sum_motor[i] * j->gear[i] / j->constant[i];
  row->tau = c->sum, row->tau_motor = c->sum_motor, row->current = c->current;
  return status;
}

/* as in a simulation: a row at no multiple of its period is the end, and goes to out alone */
static bool take_row(void *user, const psdm_along_row *along) {
  extremes *e = user;
  psdmp_job_simulate *j = e->j;
  psdm_along_row row = *along;
  double begin = e->rows ? e->begin : row.t, place = (row.t - begin) / j->row_period, whole = round(place);
  bool on_grid = fabs(place - whole) <= 1e-6, last = row.t >= e->until - 1e-6 * j->row_period;
  if (row.t > e->until + 1e-6 * j->row_period) return false;
  if (j->carried.load && (e->status = add_load(j, &row, &e->error))) return false;
  measure(e, &row);
  if (!on_grid || last || fmod(whole, j->decimation) == 0) write_row(j, &row);
  if (on_grid)
    psdmp_job_simulate_log_row(j,
                               &(psdm_sim_row){.t = row.t, .n = row.n, .q = row.q, .theta = row.theta, .tau = row.tau});
  j->interrupted = !psdmp_job_count(&j->job, j->began, (long long)(1e6 * (row.t - begin)), j->total, e->rows, "rows");
  return !last && !j->interrupted && !psdmp_job_rows_failed(j->out) && !psdmp_job_rows_failed(j->log);
}

psdm_status psdmp_job_simulate_inverse(psdmp_job_simulate *j) {
  const psdm_along_options options = {
      .friction = j->options.friction, .elastic = j->set.elastic, .output = j->row_period};
  double *memory = psdmp_job_array(&j->job, 3 * (size_t)j->n, sizeof *memory);
  double begin = psdm_motion_begin(j->reference), end = psdm_motion_end(j->reference),
         until = j->set.time > 0 ? fmin(end, begin + j->set.time) : end;
  extremes e = {.j = j, .speed = memory, .torque = memory + j->n, .square = memory + 2 * j->n, .until = until};
  psdm_error error;
  if (!memory) return psdmp_job_memory(&j->job);
  psdm_status status = psdmp_job_simulate_carry_prepare(j);
  if (status) return status;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "torques along the motion");
  j->began = psdmp_base_clock();
  j->total = (long long)(1e6 * (until - begin));
  status = psdm_along(j->robot, j->reference, &options, NULL, take_row, &e, &error);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  if (status) return psdmp_job_fail(&j->job, &error);
  if (e.status) return psdmp_job_fail(&j->job, &e.error);
  if (j->interrupted) psdmp_job_warn(&j->job, "interrupted at t = %.6g s; the rows until then are written", e.end);
  for (int i = 0; i < j->n; i++) e.square[i] = sqrt(e.square[i] / (double)(e.rows ? e.rows : 1));
  j->answer = (psdm_simulation){.begin = e.begin,
                                .end = e.end,
                                .along = e.rows,
                                .peak_speed = e.speed,
                                .peak_torque = e.torque,
                                .rms_torque = e.square};
  j->out_rows = psdmp_job_rows_count(j->out);
  j->log_rows = psdmp_job_rows_count(j->log);
  status = psdmp_job_rows_commit(&j->job, &j->out);
  return status ? status : psdmp_job_rows_commit(&j->job, &j->log);
}
