/* cmd_simulate_inverse.c: the torques that a motion takes, without integrating anything. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* per joint over all rows; (n) each */
typedef struct extremes {
  simulate_job *j;
  double *speed, *torque, *square; /* largest |qd| and |tau|; sum of tau^2 */
  double begin, end;
  long rows;
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

static bool take_row(void *user, const psdm_along_row *row) {
  extremes *e = user;
  simulate_job *j = e->j;
  column_group list[16];
  measure(e, row);
  if (j->out) {
    int count = groups_of(j, row, list);
    if (!j->out_begun) simulate_header(j, j->out, list, count);
    j->out_begun = true;
    simulate_values(j->out, list, count);
    j->out_rows++;
  }
  j->interrupted = simulate_caught();
  return !j->interrupted && !(j->out && psdm_output_failed(j->out));
}

static const psdm_joint *joint_of(const simulate_job *j, int q) {
  int k = 0;
  while (psdm_robot_joint(j->robot, k)->q != q) k++;
  return psdm_robot_joint(j->robot, k);
}

static double root_mean(const extremes *e, int i) { return sqrt(e->square[i] / (double)(e->rows ? e->rows : 1)); }

static void print(const extremes *e) {
  const simulate_job *j = e->j;
  printf("%s: torques along a motion from t = %.6g to %.6g s, %ld rows\n", tool_safe(psdm_robot_name(j->robot)), e->begin, e->end, e->rows);
  printf("  %-20s %12s %12s %12s %12s\n", "joint", "peak |qd|", "peak |tau|", "rms tau", "effort limit");
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = joint_of(j, i);
    printf("  %-20s %12.5g %12.5g %12.5g", tool_safe(joint->name), e->speed[i], e->torque[i], root_mean(e, i));
    if (isfinite(joint->limits.effort))
      printf(" %12.5g%s\n", joint->limits.effort, e->torque[i] > joint->limits.effort ? "  exceeded" : "");
    else
      printf(" %12s\n", "-");
  }
}

static int write_json(extremes *e) {
  const simulate_job *j = e->j;
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  psdm_json_object(out, NULL);
  psdm_json_string(out, "robot", psdm_robot_name(j->robot));
  psdm_json_integer(out, "n", j->n);
  settings_json(&simulate_line, &j->set, out);
  psdm_json_number(out, "begin", e->begin);
  psdm_json_number(out, "end", e->end);
  psdm_json_integer(out, "rows", e->rows);
  psdm_json_numbers(out, "peak_speed", e->speed, j->n);
  psdm_json_numbers(out, "peak_torque", e->torque, j->n);
  for (int i = 0; i < j->n; i++) e->square[i] = root_mean(e, i);
  psdm_json_numbers(out, "rms_torque", e->square, j->n);
  psdm_json_close(out);
  return tool_commit(&out);
}

int simulate_inverse(simulate_job *j) {
  const psdm_along_options options = {.friction = j->options.friction, .elastic = j->set.elastic, .output = j->set.output};
  double *memory = simulate_array(j, 3 * (size_t)j->n, sizeof *memory);
  extremes e = {.j = j, .speed = memory, .torque = memory + j->n, .square = memory + 2 * j->n};
  psdm_error error;
  if (!memory) return simulate_memory();
  if (psdm_along(j->robot, j->reference, &options, NULL, take_row, &e, &error)) return tool_fail(&error);
  if (j->interrupted) tool_warn("interrupted at t = %.6g s; the rows until then are written", e.end);
  int code = j->out ? tool_commit(&j->out) : EXIT_OK;
  if (code == EXIT_OK && j->set.json) code = write_json(&e);
  if (code == EXIT_OK && simulate_words_wanted(j)) print(&e);
  return code == EXIT_OK && j->interrupted ? EXIT_QUALITY : code;
}
