/* cmd_simulate_inverse.c: torques along a motion without integration, and the log that a recorder would write. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* per joint over all rows; (n) each */
typedef struct extremes {
  simulate_job *j;
  double *speed, *torque, *square; /* largest |qd| and |tau|; sum of tau^2 */
  double begin, end;               /* s, of the rows */
  double until;                    /* s, where the last one is */
  long rows;
  psdm_status status; /* of the load */
  psdm_error error;
} extremes;

static int groups_of(const simulate_job *j, const psdm_along_row *row, column_group list[16]) {
  int count = 0, n = row->n;
#define GROUP(...) list[count++] = (column_group){__VA_ARGS__}
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

static void write_row(simulate_job *j, const psdm_along_row *row) {
  column_group list[16];
  if (!j->out) return;
  int count = groups_of(j, row, list);
  if (!j->out_begun) simulate_header(j, j->out, list, count);
  j->out_begun = true;
  simulate_values(j->out, list, count);
  j->out_rows++;
}

/* the row with the load's torque added, in the job's memory */
static psdm_status add_load(simulate_job *j, psdm_along_row *row, psdm_error *error) {
  carried *c = &j->carried;
  psdm_status status = simulate_carry(j, row, error);
  for (int i = 0; i < j->n; i++) c->sum[i] = row->tau[i] + c->tau[i];
  psdm_robot_motor_torque(j->robot, c->sum, c->sum_motor);
  for (int i = 0; i < j->n && j->set.current; i++) c->current[i] = c->sum_motor[i] * j->gear[i] / j->constant[i];
  row->tau = c->sum, row->tau_motor = c->sum_motor, row->current = c->current;
  return status;
}

/* as in a simulation: a row at no multiple of its period is the end, and goes to out alone */
static bool take_row(void *user, const psdm_along_row *along) {
  extremes *e = user;
  simulate_job *j = e->j;
  psdm_along_row row = *along;
  double begin = e->rows ? e->begin : row.t, place = (row.t - begin) / j->row_period, whole = round(place);
  bool on_grid = fabs(place - whole) <= 1e-6, last = row.t >= e->until - 1e-6 * j->row_period;
  if (row.t > e->until + 1e-6 * j->row_period) return false;
  if (j->carried.load && (e->status = add_load(j, &row, &e->error))) return false;
  measure(e, &row);
  if (!on_grid || last || fmod(whole, j->decimation) == 0) write_row(j, &row);
  if (on_grid)
    simulate_log_row(j, &(psdm_sim_row){.t = row.t, .n = row.n, .q = row.q, .theta = row.theta, .tau = row.tau});
  progress_show(&j->bar, (long long)(1e6 * (row.t - begin)), e->rows, "rows");
  j->interrupted = tool_interrupted();
  return !last && !j->interrupted && !(j->out && psdm_output_failed(j->out)) && !(j->log && psdm_output_failed(j->log));
}

static const psdm_joint *joint_of(const simulate_job *j, int q) {
  int k = 0;
  while (psdm_robot_joint(j->robot, k)->q != q) k++;
  return psdm_robot_joint(j->robot, k);
}

static double root_mean(const extremes *e, int i) { return sqrt(e->square[i] / (double)(e->rows ? e->rows : 1)); }

static void print(const extremes *e) {
  const simulate_job *j = e->j;
  printf("%s: torques along a motion from t = %.6g to %.6g s, %ld rows\n", tool_safe(psdm_robot_name(j->robot)),
         e->begin, e->end, e->rows);
  printf("  %-20s %12s %12s %12s %12s\n", "joint", "peak |qd|", "peak |tau|", "rms tau", "effort limit");
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = joint_of(j, i);
    printf("  %-20s %12.5g %12.5g %12.5g", tool_safe(joint->name), e->speed[i], e->torque[i], root_mean(e, i));
    if (isfinite(joint->limits.effort))
      printf(" %12.5g%s\n", joint->limits.effort, e->torque[i] > joint->limits.effort ? "  exceeded" : "");
    else printf(" %12s\n", "-");
  }
  if (j->set.out) printf("  %ld rows in %s\n", j->out_rows, tool_safe(j->set.out));
  if (j->set.log) printf("  %ld rows in %s\n", j->log_rows, tool_safe(j->set.log));
}

static int write_json(extremes *e) {
  const simulate_job *j = e->j;
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "simulate");
  tool_json_robot(out, "robot", j->robot);
  psdm_json_integer(out, "n", j->n);
  tool_json_joints(out, j->robot, NULL);
  settings_json(&simulate_line, &j->set, out);
  psdm_json_number(out, "begin", e->begin);
  psdm_json_number(out, "end", e->end);
  psdm_json_integer(out, "rows", e->rows);
  psdm_json_integer(out, "log_rows", j->log_rows);
  psdm_json_numbers(out, "peak_speed", e->speed, j->n);
  psdm_json_numbers(out, "peak_torque", e->torque, j->n);
  for (int i = 0; i < j->n; i++) e->square[i] = root_mean(e, i);
  psdm_json_numbers(out, "rms_torque", e->square, j->n);
  psdm_json_close(out);
  return tool_commit(&out);
}

int simulate_inverse(simulate_job *j) {
  const psdm_along_options options = {
      .friction = j->options.friction, .elastic = j->set.elastic, .output = j->row_period};
  double *memory = simulate_array(j, 3 * (size_t)j->n, sizeof *memory);
  double begin = psdm_motion_begin(j->reference), end = psdm_motion_end(j->reference),
         until = j->set.time > 0 ? fmin(end, begin + j->set.time) : end;
  extremes e = {.j = j, .speed = memory, .torque = memory + j->n, .square = memory + 2 * j->n, .until = until};
  psdm_error error;
  if (!memory) return tool_no_memory("simulate");
  int code = simulate_carry_prepare(j);
  if (code >= 0) return code;
  j->bar = progress_start("torques along the motion", (long long)(1e6 * (until - begin)));
  psdm_status status = psdm_along(j->robot, j->reference, &options, NULL, take_row, &e, &error);
  progress_end(&j->bar);
  tool_deaf();
  if (status) return tool_fail(&error);
  if (e.status) return tool_fail(&e.error);
  if (j->interrupted) tool_warn("interrupted at t = %.6g s; the rows until then are written", e.end);
  code = j->out ? tool_commit(&j->out) : EXIT_OK;
  if (code == EXIT_OK && j->log) code = tool_commit(&j->log);
  if (code == EXIT_OK && j->set.json) code = write_json(&e);
  if (code == EXIT_OK && simulate_words_wanted(j)) print(&e);
  return code;
}
