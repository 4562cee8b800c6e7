/* linearize_point.c: a row of the file as a point, and the linear model there. */
#include <stdarg.h>
#include <string.h>

#include "study/linearize_priv.h"

static const char *const group_names[POINT_GROUPS] = {"t", "q", "qd", "qdd", "tau"};

/* ---- the CSV's columns ---- */

static psdm_status header_error(const psdmp_study_linearize *j, const char *format, ...) PSDM_PRINTF(2, 3);
static psdm_status header_error(const psdmp_study_linearize *j, const char *format, ...) {
  char text[512];
  psdm_error error;
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  psdmp_base_fail(&error, PSDM_E_PARSE, psdm_csv_file(j->csv), psdm_csv_header_line(j->csv), 0, "%s", text);
  return psdmp_job_fail(&j->job, &error);
}

/* a group is complete or absent */
static psdm_status find_group(psdmp_study_linearize *j, int group, bool *used) {
  char name[32];
  int count = group == POINT_T ? 1 : j->n, found = 0, missing = 0;
  for (int i = 0; i < count; i++) {
    int *place = &j->place[group * j->n + i];
    psdmp_base_print(name, sizeof name, group == POINT_T ? "%s" : "%s%d", group_names[group], i + 1);
    *place = psdm_csv_find(j->csv, name);
    if (*place < 0) missing = i + 1;
    else used[*place] = true, found++;
  }
  j->given[group] = found > 0;
  return !found || found == count ? PSDM_OK
                                  : header_error(j, "column '%s%d' is missing; %s goes from 1 to %d",
                                                 group_names[group], missing, group_names[group], j->n);
}

static psdm_status check_groups(const psdmp_study_linearize *j) {
  const bool *has = j->given;
  if (j->set.equilibrium && (has[POINT_QD] || has[POINT_QDD]))
    return header_error(j, "an equilibrium is at rest: columns qd and qdd cannot be used with `equilibrium`");
  if (j->set.equilibrium)
    return has[POINT_Q] || has[POINT_TAU] ? PSDM_OK : header_error(j, "columns q1.. or tau1.. were expected");
  if (!has[POINT_Q]) return header_error(j, "columns q1.. were expected (tau1.. alone need `equilibrium`)");
  if (has[POINT_QDD] && has[POINT_TAU])
    return header_error(j, "qdd and tau are both given, but each determines the other; keep one");
  return PSDM_OK;
}

psdm_status psdmp_study_linearize_columns(psdmp_study_linearize *j) {
  const psdm_job *job = &j->job;
  size_t columns = (size_t)psdm_csv_columns(j->csv);
  bool *used = psdmp_job_array(job, columns, sizeof *used);
  j->place = psdmp_job_array(job, (size_t)POINT_GROUPS * (size_t)j->n, sizeof *j->place);
  j->row = psdmp_job_array(job, columns, sizeof *j->row);
  psdm_status status = used && j->place && j->row ? PSDM_OK : psdmp_job_memory(job);
  for (int group = 0; group < POINT_GROUPS && !status; group++) status = find_group(j, group, used);
  if (!status) status = check_groups(j);
  for (int c = 0; c < (int)columns && !status && !j->set.ignore_extra; c++)
    if (!used[c])
      status = header_error(j, "column '%s' is not one of t, q, qd, qdd, tau, each 1 to %d; `ignore_extra` skips it",
                            psdmp_job_safe(job, psdm_csv_name(j->csv, c)), j->n);
  return status;
}

/* ---- the point ---- */

static void take(const psdmp_study_linearize *j, int group, double *to) {
  for (int i = 0; i < j->n; i++) to[i] = j->given[group] ? j->row[j->place[group * j->n + i]] : 0;
}

/* a function at (q, qd, third), with friction if requested */
static psdm_status evaluate(psdmp_study_linearize *j, psdm_function function, const double *third, double *out) {
  psdm_eval_options options = {.friction = j->set.friction};
  size_t n = (size_t)j->n;
  memcpy(j->scratch, j->q, n * sizeof *third);
  memcpy(j->scratch + n, j->qd, n * sizeof *third);
  memcpy(j->scratch + 2 * n, third, n * sizeof *third);
  return psdm_eval(j->job.robot, j->work, function, &options, j->scratch, out);
}

/* the q that tau holds, or the tau that holds q */
static psdm_status settle(psdmp_study_linearize *j) {
  const psdm_robot *robot = j->job.robot;
  if (!j->given[POINT_TAU]) return evaluate(j, PSDM_F_INVERSE, j->qdd, j->tau);
  psdm_equilibrium_options options = {.start = j->given[POINT_Q] ? j->q : NULL};
  double *q = j->full, *u = q + j->n; /* borrowed: start and result must not overlap */
  take(j, POINT_TAU, j->tau);
  if (j->set.friction) psdm_friction_torque(robot, j->qd, u); /* a constant offset, if any */
  for (int i = 0; i < j->n; i++) u[i] = j->tau[i] - (j->set.friction ? u[i] : 0);
  psdm_status status = psdm_equilibrium_find(robot, j->work, j->linear, u, &options, j->scratch, q, &j->equilibrium);
  if (!status) memcpy(j->q, q, sizeof *q * (size_t)j->n);
  return status;
}

static psdm_status complete(psdmp_study_linearize *j) {
  j->t = j->given[POINT_T] ? j->row[j->place[POINT_T * j->n]] : 0;
  take(j, POINT_Q, j->q);
  take(j, POINT_QD, j->qd);
  take(j, POINT_QDD, j->qdd);
  if (j->set.equilibrium) return settle(j);
  if (!j->given[POINT_TAU]) return evaluate(j, PSDM_F_INVERSE, j->qdd, j->tau);
  take(j, POINT_TAU, j->tau);
  return evaluate(j, PSDM_F_FORWARD, j->tau, j->qdd);
}

/* ---- the model ---- */

static void keep_inputs(psdmp_study_linearize *j) {
  for (int i = 0; i < j->states; i++)
    for (int k = 0; k < j->inputs; k++)
      j->matrix[MATRIX_B][(long)i * j->inputs + k] = j->full[(long)i * j->n + j->input[k]];
}

static psdm_status find_gains(psdmp_study_linearize *j) {
  bool sampled = j->set.dt > 0;
  return psdm_system_lqr(j->states, j->inputs, sampled ? j->Ad : j->matrix[MATRIX_A],
                         sampled ? j->Bd : j->matrix[MATRIX_B], j->set.dt, j->Q, j->R, j->scratch, j->matrix[MATRIX_K],
                         NULL, j->closed, &j->lqr);
}

/* the matrices for the files */
static psdm_status linearize(psdmp_study_linearize *j) {
  const psdm_robot *robot = j->job.robot;
  double **m = j->matrix;
  psdm_status status = psdm_state_space(robot, j->linear, j->q, j->qd, j->qdd, m[MATRIX_A], j->full);
  if (!status && j->second_order)
    status =
        psdm_second_order(robot, j->linear, j->q, j->qd, j->qdd, m[MATRIX_M], m[MATRIX_C2], m[MATRIX_D], m[MATRIX_G]);
  if (status) return status;
  if (j->set.friction) {
    psdm_friction_slope(robot, j->qd, j->scratch);
    psdm_damp(j->n, j->scratch, j->second_order ? m[MATRIX_C2] : NULL, m[MATRIX_A], j->full);
  }
  keep_inputs(j);
  if (j->set.dt > 0)
    status =
        psdm_system_discretise(j->states, j->inputs, m[MATRIX_A], m[MATRIX_B], j->set.dt, j->scratch, j->Ad, j->Bd);
  return status || !j->set.lqr ? status : find_gains(j);
}

psdm_status psdmp_study_linearize_point(psdmp_study_linearize *j) {
  psdm_status status = complete(j);
  return status || psdmp_study_linearize_lost(j) ? status : linearize(j);
}

psdm_status psdmp_study_linearize_analyze(psdmp_study_linearize *j) {
  psdm_status status = psdm_system_analyze(j->states, j->inputs, j->matrix[MATRIX_A], j->matrix[MATRIX_B], 0,
                                           j->scratch, j->modes, &j->facts);
  if (!status && j->set.dt > 0)
    status =
        psdm_system_analyze(j->states, j->inputs, j->Ad, j->Bd, j->set.dt, j->scratch, j->sampled, &j->sampled_facts);
  return status;
}

bool psdmp_study_linearize_lost(const psdmp_study_linearize *j) {
  return j->set.equilibrium && j->given[POINT_TAU] && !j->equilibrium.found;
}

bool psdmp_study_linearize_gains(const psdmp_study_linearize *j) {
  return j->set.lqr && !psdmp_study_linearize_lost(j) && j->lqr.outcome == PSDM_LQR_OK;
}
