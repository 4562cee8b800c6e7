/* cmd_simulate_inputs.c: initial state, and tables of torques, wrenches and loads. */
#include <string.h>

#include "cmd_simulate.h"

/* ---- --initial: one row ---- */

enum { T, Q, QD, THETA, THETAD, GROUPS };
static const char *const group_names[GROUPS] = {"t", "q", "qd", "theta", "thetad"};

typedef struct initial {
  psdm_csv *csv;
  double *row;        /* (columns) */
  bool *used;         /* (columns) */
  int *place[GROUPS]; /* (n) */
  bool has[GROUPS];
} initial;

static int file_error(const initial *in, int line, const char *text) {
  psdm_error error = {.status = PSDM_E_PARSE, .line = line};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(in->csv));
  snprintf(error.text, sizeof error.text, "%s", text);
  return tool_fail(&error);
}

static int header_error(const initial *in, const char *text) {
  return file_error(in, psdm_csv_header_line(in->csv), text);
}

/* a group is complete or absent */
static int find_group(const simulate_job *j, initial *in, int group) {
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
  if (!found || found == count) return -1;
  snprintf(text, sizeof text, "column '%s%d' is missing; %s goes from 1 to %d", group_names[group], missing,
           group_names[group], j->n);
  return header_error(in, text);
}

static int match_columns(const simulate_job *j, initial *in) {
  int code = -1;
  for (int group = 0; group < GROUPS && code < 0; group++) code = find_group(j, in, group);
  if (code >= 0) return code;
  if (!in->has[Q]) return header_error(in, "columns q1.. were expected");
  bool motors = in->has[THETA] || in->has[THETAD];
  if (motors && !j->set.elastic && !j->set.ignore_extra)
    return header_error(in, "theta and thetad, the motors behind springs, need --elastic");
  for (int c = 0; c < psdm_csv_columns(in->csv) && !j->set.ignore_extra; c++) {
    char text[256];
    if (in->used[c]) continue;
    snprintf(text, sizeof text,
             "column '%s' is not one of t, q, qd, theta, thetad, each 1 to %d; --ignore-extra skips it",
             tool_safe(psdm_csv_name(in->csv, c)), j->n);
    return header_error(in, text);
  }
  return -1;
}

static void take(const simulate_job *j, const initial *in, int group, double *to) {
  for (int i = 0; i < j->n; i++) to[i] = in->row[in->place[group][i]];
}

static int read_row(simulate_job *j, const initial *in) {
  psdm_error error;
  bool more;
  if (psdm_csv_row(in->csv, in->row, &more, &error)) return tool_fail(&error);
  if (!more) return file_error(in, 0, "one row was expected, there is none");
  if (in->has[T]) j->start = in->row[in->place[T][0]];
  take(j, in, Q, j->q);
  if (in->has[QD]) take(j, in, QD, j->qd);
  for (int group = THETA; group <= THETAD && j->set.elastic; group++) {
    if (!in->has[group]) continue;
    double **to = group == THETA ? &j->theta : &j->thetad;
    if (!(*to = simulate_array(j, (size_t)j->n, sizeof **to))) return tool_no_memory("simulate");
    take(j, in, group, *to);
  }
  if (psdm_csv_row(in->csv, in->row, &more, &error)) return tool_fail(&error);
  return more ? file_error(in, psdm_csv_line(in->csv), "one row was expected, this is the second") : -1;
}

static int read_initial(simulate_job *j, initial *in) {
  int columns = psdm_csv_columns(in->csv);
  in->row = simulate_array(j, (size_t)columns, sizeof *in->row);
  in->used = simulate_array(j, (size_t)columns, sizeof *in->used);
  int *places = simulate_array(j, (size_t)GROUPS * (size_t)j->n, sizeof *places);
  if (!in->row || !in->used || !places) return tool_no_memory("simulate");
  for (int group = 0; group < GROUPS; group++) in->place[group] = places + group * j->n;
  int code = match_columns(j, in);
  return code < 0 ? read_row(j, in) : code;
}

int simulate_initial(simulate_job *j) {
  initial in = {0};
  psdm_error error;
  j->q = simulate_array(j, (size_t)j->n, sizeof *j->q);
  j->qd = simulate_array(j, (size_t)j->n, sizeof *j->qd);
  if (!j->q || !j->qd) return tool_no_memory("simulate");
  if (!j->set.initial || j->start_on_reference) return -1;
  tool_input(j->set.initial);
  if (psdm_csv_open(j->set.initial, NULL, &in.csv, &error)) return tool_fail(&error);
  int code = read_initial(j, &in);
  psdm_csv_close(in.csv);
  return code;
}

/* ---- tables over time ---- */

static int load_torque(simulate_job *j) {
  enum { NAME = 16 };
  psdm_error error;
  const char **names = simulate_array(j, (size_t)j->n + 1, sizeof *names);
  char *text = simulate_array(j, (size_t)j->n, NAME);
  if (!names || !text) return tool_no_memory("simulate");
  for (int i = 0; i < j->n; i++) {
    snprintf(text + i * NAME, NAME, "tau%d", i + 1);
    names[i] = text + i * NAME;
  }
  tool_input(j->set.torque);
  int code = tool_table_fits(j->file, j->set.torque, j->n);
  if (code >= 0) return code;
  return psdm_signal_load(j->set.torque, names, NULL, j->set.held, j->set.ignore_extra, NULL, &j->torque, &error)
             ? tool_fail(&error)
             : -1;
}

static int load_wrench(simulate_job *j) {
  static const char *const names[] = {"fx", "fy", "fz", "mx", "my", "mz", NULL}, *const optional[] = {"mx", "my", "mz",
                                                                                                      NULL};
  psdm_error error;
  tool_input(j->set.wrench);
  int code = tool_table_fits(j->file, j->set.wrench, 6);
  if (code >= 0) return code;
  if (psdm_signal_load(j->set.wrench, names, optional, j->set.held, j->set.ignore_extra, NULL, &j->wrench, &error))
    return tool_fail(&error);
  j->options.wrench = j->wrench;
  if (!j->set.wrench_link) tool_default_link(j->robot, "--wrench-link selects another");
  if (!j->set.wrench_link) return -1;
  int joint = psdm_robot_find(j->robot, j->set.wrench_link);
  j->options.wrench_link = psdm_robot_link_name(j->robot, joint);
  return joint >= 0 ? tool_must_move("simulate", "wrench-link", j->robot, joint)
                    : tool_usage("simulate", "--wrench-link: the robot has no link or joint '%s'",
                                 tool_safe(j->set.wrench_link));
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

static int load_payload(simulate_job *j) {
  static const char *const names[] = {"m", "rx", "ry", "rz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz", NULL};
  psdm_signal *table;
  psdm_error error;
  tool_input(j->set.payload);
  tool_default_link(j->robot, "--tip selects another");
  int code = tool_table_fits(j->file, j->set.payload, 10);
  if (code >= 0) return code;
  if (psdm_signal_load(j->set.payload, names, names + 1, true, j->set.ignore_extra, NULL, &table, &error))
    return tool_fail(&error);
  long rows = psdm_signal_rows(table);
  code = rows <= SIMULATE_PAYLOADS ? -1 : tool_usage("simulate", "--payload: at most %d rows", SIMULATE_PAYLOADS);
  if (code < 0 && !(j->payload = simulate_array(j, (size_t)rows, sizeof *j->payload)))
    code = tool_no_memory("simulate");
  for (long k = 0; k < rows && code < 0; k++) {
    double body[10];
    j->payload[k].t = psdm_signal_time(table, k);
    psdm_signal_at(table, j->payload[k].t, body);
    standard_parameters(body, j->payload[k].pi);
    if (body[0] < 0) code = tool_usage("simulate", "--payload: the mass in row %ld is negative", k + 1);
  }
  j->options.payload = j->payload;
  j->options.payloads = (int)rows;
  psdm_signal_free(table);
  return code;
}

int simulate_inputs(simulate_job *j) {
  int code = j->set.torque ? load_torque(j) : -1;
  if (code < 0 && j->set.wrench) code = load_wrench(j);
  return code < 0 && j->set.payload ? load_payload(j) : code;
}
