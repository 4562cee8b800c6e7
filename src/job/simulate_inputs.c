/* simulate_inputs.c: initial state, and tables of torques, wrenches and loads. */
#include <string.h>

#include "job/simulate_priv.h"

/* ---- initial: one row ---- */

enum { T, Q, QD, THETA, THETAD, GROUPS };
static const char *const group_names[GROUPS] = {"t", "q", "qd", "theta", "thetad"};

typedef struct initial {
  psdm_csv *csv;
  double *row;        /* (columns) */
  bool *used;         /* (columns) */
  int *place[GROUPS]; /* (n) */
  bool has[GROUPS];
} initial;

static psdm_status file_error(const psdmp_job_simulate *j, const initial *in, int line, const char *text) {
  psdm_error error = {.status = PSDM_E_PARSE, .line = line};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(in->csv));
  snprintf(error.text, sizeof error.text, "%s", text);
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status header_error(const psdmp_job_simulate *j, const initial *in, const char *text) {
  return file_error(j, in, psdm_csv_header_line(in->csv), text);
}

/* a group is complete or absent */
static psdm_status find_group(const psdmp_job_simulate *j, initial *in, int group) {
  char name[32], text[160];
  int count = group == T ? 1 : j->n, found = 0, missing = 0;
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, group == T ? "%s" : "%s%d", group_names[group], i + 1);
    int column = in->place[group][i] = psdm_csv_find(in->csv, name);
    if (column >= 0) in->used[column] = true;
    if (column < 0 && !missing) missing = i + 1;
    found += column >= 0;
  }
  in->has[group] = found;
  if (!found || found == count) return PSDM_OK;
  snprintf(text, sizeof text, "column '%s%d' is missing; %s goes from 1 to %d", group_names[group], missing,
           group_names[group], j->n);
  return header_error(j, in, text);
}

static psdm_status match_columns(const psdmp_job_simulate *j, initial *in) {
  psdm_status status = PSDM_OK;
  for (int group = 0; group < GROUPS && !status; group++) status = find_group(j, in, group);
  if (status) return status;
  if (!in->has[Q]) return header_error(j, in, "columns q1.. were expected");
  bool motors = in->has[THETA] || in->has[THETAD];
  if (motors && !j->set.elastic && !j->set.ignore_extra)
    return header_error(j, in, "theta and thetad, the motors behind springs, need `elastic`");
  for (int c = 0; c < psdm_csv_columns(in->csv) && !j->set.ignore_extra; c++) {
    char text[256];
    if (in->used[c]) continue;
    snprintf(text, sizeof text,
             "column '%s' is not one of t, q, qd, theta, thetad, each 1 to %d; `ignore_extra` skips it",
             psdmp_job_safe(&j->job, psdm_csv_name(in->csv, c)), j->n);
    return header_error(j, in, text);
  }
  return PSDM_OK;
}

static void take(const psdmp_job_simulate *j, const initial *in, int group, double *to) {
  for (int i = 0; i < j->n; i++) to[i] = in->row[in->place[group][i]];
}

static psdm_status read_row(psdmp_job_simulate *j, const initial *in) {
  psdm_error error;
  bool more;
  if (psdm_csv_row(in->csv, in->row, &more, &error)) return psdmp_job_fail(&j->job, &error);
  if (!more) return file_error(j, in, 0, "one row was expected, there is none");
  if (in->has[T]) j->start = in->row[in->place[T][0]];
  take(j, in, Q, j->q);
  if (in->has[QD]) take(j, in, QD, j->qd);
  for (int group = THETA; group <= THETAD && j->set.elastic; group++) {
    if (!in->has[group]) continue;
    double **to = group == THETA ? &j->theta : &j->thetad;
    if (!(*to = psdmp_job_array(&j->job, (size_t)j->n, sizeof **to))) return psdmp_job_memory(&j->job);
    take(j, in, group, *to);
  }
  if (psdm_csv_row(in->csv, in->row, &more, &error)) return psdmp_job_fail(&j->job, &error);
  return more ? file_error(j, in, psdm_csv_line(in->csv), "one row was expected, this is the second") : PSDM_OK;
}

static psdm_status read_initial(psdmp_job_simulate *j, initial *in) {
  int columns = psdm_csv_columns(in->csv);
  in->row = psdmp_job_array(&j->job, (size_t)columns, sizeof *in->row);
  in->used = psdmp_job_array(&j->job, (size_t)columns, sizeof *in->used);
  int *places = psdmp_job_array(&j->job, (size_t)GROUPS * (size_t)j->n, sizeof *places);
  if (!in->row || !in->used || !places) return psdmp_job_memory(&j->job);
  for (int group = 0; group < GROUPS; group++) in->place[group] = places + group * j->n;
  psdm_status status = match_columns(j, in);
  return !status ? read_row(j, in) : status;
}

psdm_status psdmp_job_simulate_initial(psdmp_job_simulate *j) {
  initial in = {0};
  psdm_error error;
  j->q = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->q);
  j->qd = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->qd);
  if (!j->q || !j->qd) return psdmp_job_memory(&j->job);
  psdm_robot_home(j->robot, j->q);
  if (!j->set.initial || j->start_on_reference) return PSDM_OK;
  psdmp_job_reads(&j->job, j->set.initial);
  if (psdm_csv_open(j->set.initial, NULL, &in.csv, &error)) return psdmp_job_fail(&j->job, &error);
  psdm_status status = read_initial(j, &in);
  psdm_csv_close(in.csv);
  return status;
}

/* ---- tables over time ---- */

static psdm_status load_torque(psdmp_job_simulate *j) {
  enum { NAME = 16 };
  psdm_error error;
  const char **names = psdmp_job_array(&j->job, (size_t)j->n + 1, sizeof *names);
  char *text = psdmp_job_array(&j->job, (size_t)j->n, NAME);
  if (!names || !text) return psdmp_job_memory(&j->job);
  for (int i = 0; i < j->n; i++) {
    snprintf(text + i * NAME, NAME, "tau%d", i + 1);
    names[i] = text + i * NAME;
  }
  psdmp_job_reads(&j->job, j->set.torque);
  psdm_status status = psdmp_job_table_fits(&j->job, j->file, j->set.torque, j->n);
  if (status) return status;
  return psdm_signal_load(j->set.torque, names, NULL, j->set.held, j->set.ignore_extra, NULL, &j->torque, &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

static psdm_status load_wrench(psdmp_job_simulate *j) {
  static const char *const names[] = {"fx", "fy", "fz", "mx", "my", "mz", NULL}, *const optional[] = {"mx", "my", "mz",
                                                                                                      NULL};
  psdm_error error;
  psdmp_job_reads(&j->job, j->set.wrench);
  psdm_status status = psdmp_job_table_fits(&j->job, j->file, j->set.wrench, 6);
  if (status) return status;
  if (psdm_signal_load(j->set.wrench, names, optional, j->set.held, j->set.ignore_extra, NULL, &j->wrench, &error))
    return psdmp_job_fail(&j->job, &error);
  j->options.wrench = j->wrench;
  if (!j->set.wrench_link) psdmp_job_default_link(&j->job, j->robot, "`wrench_link` selects another");
  if (!j->set.wrench_link) return PSDM_OK;
  int joint = psdm_robot_find(j->robot, j->set.wrench_link);
  j->options.wrench_link = psdm_robot_link_name(j->robot, joint);
  return joint >= 0 ? psdmp_job_must_move(&j->job, "wrench_link", j->robot, joint)
                    : psdmp_job_wrong(&j->job, "`wrench_link`: the robot has no link or joint '%s'",
                                      psdmp_job_safe(&j->job, j->set.wrench_link));
}

/* m, the centre of mass r, inertia about it (xx yy zz xy xz yz) to standard parameters: Huygens and Steiner's
 * theorem */
static void standard_parameters(const double body[10], double pi[10]) {
  double m = body[0], x = body[1], y = body[2], z = body[3];
  const double *I = body + 4;
  const double first[4] = {m, m * x, m * y, m * z};
  const double second[6] = {I[0] + m * (y * y + z * z), I[3] - m * x * y, I[4] - m * x * z,
                            I[1] + m * (x * x + z * z), I[5] - m * y * z, I[2] + m * (x * x + y * y)};
  memcpy(pi, first, sizeof first);
  memcpy(pi + 4, second, sizeof second);
}

static psdm_status load_payload(psdmp_job_simulate *j) {
  static const char *const names[] = {"m", "rx", "ry", "rz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz", NULL};
  psdm_signal *table;
  psdm_error error;
  psdmp_job_reads(&j->job, j->set.payload);
  psdmp_job_default_link(&j->job, j->robot, "`tip` selects another");
  psdm_status status = psdmp_job_table_fits(&j->job, j->file, j->set.payload, 10);
  if (status) return status;
  if (psdm_signal_load(j->set.payload, names, names + 1, true, j->set.ignore_extra, NULL, &table, &error))
    return psdmp_job_fail(&j->job, &error);
  long rows = psdm_signal_rows(table);
  status =
      rows <= SIMULATE_PAYLOADS ? PSDM_OK : psdmp_job_wrong(&j->job, "`payload`: at most %d rows", SIMULATE_PAYLOADS);
  if (!status && !(j->payload = psdmp_job_array(&j->job, (size_t)rows, sizeof *j->payload)))
    status = psdmp_job_memory(&j->job);
  for (long k = 0; k < rows && !status; k++) {
    double body[10];
    j->payload[k].t = psdm_signal_time(table, k);
    psdm_signal_at(table, j->payload[k].t, body);
    standard_parameters(body, j->payload[k].pi);
    if (body[0] < 0) status = psdmp_job_wrong(&j->job, "`payload`: the mass in row %ld is negative", k + 1);
  }
  j->options.payload = j->payload;
  j->options.payloads = (int)rows;
  psdm_signal_free(table);
  return status;
}

psdm_status psdmp_job_simulate_inputs(psdmp_job_simulate *j) {
  psdm_status status = j->set.torque ? load_torque(j) : PSDM_OK;
  if (!status && j->set.wrench) status = load_wrench(j);
  return !status && j->set.payload ? load_payload(j) : status;
}
