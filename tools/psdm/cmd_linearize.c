/* cmd_linearize.c: psdm linearize: linear models at equilibria or along a motion, their stability, LQR gains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define LINEARIZE_SETTINGS(X)                                                                                          \
  X(text, at, "", "FILE.csv", "points: columns q1.., optionally t, qd1.., and qdd1.. or tau1..; - is standard input")  \
  X(flag, equilibrium, "", "",                                                                                         \
    "points at rest: from q1.. the torques that hold them, or from tau1.. a q that they hold")                         \
  X(text, form, "state-space", "second-order|state-space", "M, C2, D, G, or A and B")                                  \
  X(number, dt, "0", "SECONDS",                                                                                        \
    "discretise exactly, torques held constant between samples: Ad and Bd in place of A and B")                        \
  X(flag, friction, "", "", "include the robot's friction; at rest only its smooth part has a slope")                  \
  X(text, inputs, "", "1,2,...", "only these joints have motors: columns of B (default: all)")                         \
  X(flag, lqr, "", "", "gains K of du = -K dx that minimise the integral (sum, with --dt) of dx'Q dx + du'R du")       \
  X(text, Q, "", "A,B,...", "diagonal of Q: one number, or weights of q and qd, or 2n (default: 100 for q, 1 for qd)") \
  X(text, R, "", "A,B,...", "diagonal of R: one number, or one per input (default: 1/effort^2, or 0.01)")              \
  X(text, out, "", "FILE.csv|.json|.mat", "write the matrices; the file is replaced only when complete")               \
  X(flag, ignore_extra, "", "", "ignore unknown columns of the CSV")                                                   \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  PSDM_ROBOT_SETTINGS(X)

typedef struct linearize_settings {
  LINEARIZE_SETTINGS(PSDM_SETTINGS_FIELD)
} linearize_settings;

#define SETTINGS_STRUCT linearize_settings
static const psdm_setting settings[] = {LINEARIZE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Linear models of a robot at equilibria or along a trajectory, exact:\n"
    "  second-order   M dqdd + C2 dqd + D dq = du          (at rest C2 = 0 and D = G = dg/dq)\n"
    "  state-space    dx' = A dx + B du, dx = (dq, dqd)    (with --dt: dx[k+1] = Ad dx[k] + Bd du[k])\n"
    "with their eigenvalues, frequencies and damping, stability, controllability, LQR gains.\n"
    "A point without qdd and tau has qdd = 0 and the tau for it. Exit 1 when a q for --equilibrium or gains for --lqr "
    "do not\n"
    "exist or are not found.\n"
    "\n"
    "examples:\n"
    "  printf 'q1,q2\\n"
    "-1.5708,0\\n"
    "' | psdm linearize robots/two_link.yaml --at -\n"
    "  psdm linearize robots/two_link.yaml --at up.csv --lqr --Q 100,1 --R 0.01 --dt 0.001\n"
    "  psdm linearize robots/two_link.yaml --at torques.csv --equilibrium --json\n"
    "  psdm linearize robots/kuka_kr6.yaml --at motion.csv --form second-order --out motion.mat\n";

const command_line linearize_line = {"linearize", settings, positional, help};

/* possible inputs of a point, and their first columns */
enum { T, QP, QD, QDD, TAU, GROUPS };
static const char *const group_names[GROUPS] = {"t", "q", "qd", "qdd", "tau"};

/* the matrices of a point, in the order of the files */
enum { MASS, C2, D, G, A, B, K, MATRICES };

/* all data of one run; job_free releases it */
typedef struct job {
  linearize_settings set;
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n, states, inputs;
  bool second_order;
  int *input; /* (inputs) joints with motors */
  psdm_csv *csv;
  int column[GROUPS]; /* first of each group's consecutive numbers in place; -1: absent */
  int *place;         /* (GROUPS n) the CSV column of each */
  double *row;        /* (csv columns) */
  double *memory;     /* all of the following */
  double t, *q, *qd, *qdd, *tau;
  double *matrix[MATRICES], *full, *Ad, *Bd, *Q, *R; /* full: B of all joints */
  double *scratch;
  psdm_mode *modes, *sampled, *closed;
  psdm_system_facts facts, sampled_facts;
  psdm_equilibrium_info equilibrium;
  psdm_lqr_info lqr;
  psdm_output *json, *file;
  double *kept; /* for .mat: (points x record) */
  long points, room;
  bool missed; /* some equilibrium or gains were not found */
} job;

static void job_free(job *j) {
  tool_abort(&j->file);
  tool_abort(&j->json);
  psdm_csv_close(j->csv);
  psdm_linear_free(j->linear, NULL);
  psdm_work_free(j->work, NULL);
  psdm_robot_free(j->robot);
  free(j->input);
  free(j->place);
  free(j->row);
  free(j->memory);
  free(j->scratch);
  free(j->modes);
  free(j->kept);
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- option values ---- */

static int check_settings(job *j) {
  const linearize_settings *s = &j->set;
  j->second_order = strcmp(s->form, "second-order") == 0;
  if (!s->at) return tool_usage("linearize", "missing --at FILE.csv: the points to linearize at");
  if (!j->second_order && strcmp(s->form, "state-space") != 0)
    return tool_usage("linearize", "--form '%s': second-order or state-space was expected", tool_safe(s->form));
  if (!(s->dt >= 0)) return tool_usage("linearize", "--dt must not be negative");
  if (j->second_order && s->dt > 0) return tool_usage("linearize", "--dt needs --form state-space");
  if ((s->Q || s->R) && !s->lqr) return tool_usage("linearize", "--Q and --R need --lqr");
  if (s->out && !ends_with(s->out, ".csv") && !ends_with(s->out, ".json") && !ends_with(s->out, ".mat"))
    return tool_usage("linearize", "--out '%s': a name that ends in .csv, .json or .mat was expected",
                      tool_safe(s->out));
  return -1;
}

/* "1,2.5,3" to at most `most` numbers; their count, or -1 */
static int take_numbers(const char *text, int most, double *value) {
  char part[64];
  int count = 0;
  for (;; text++) {
    size_t length = strcspn(text, ",");
    if (length >= sizeof part || count == most) return -1;
    memcpy(part, text, length);
    part[length] = '\0';
    if (!tool_parse_number(part, &value[count++])) return -1;
    text += length;
    if (!*text) return count;
  }
}

static int choose_inputs(job *j) {
  double value[PSDM_MAX_JOINTS];
  int count = j->set.inputs ? take_numbers(j->set.inputs, j->n, value) : j->n;
  j->input = calloc((size_t)j->n, sizeof *j->input);
  if (!j->input) return tool_no_memory("linearize");
  for (int k = 0; k < count; k++) {
    double joint = j->set.inputs ? value[k] : k + 1;
    if (joint != floor(joint) || joint < 1 || joint > j->n || (k && joint <= j->input[k - 1] + 1)) count = -1;
    j->input[k] = (int)joint - 1;
  }
  if (count < 0)
    return tool_usage("linearize", "--inputs '%s': ascending numbers of joints, 1 to %d, were expected",
                      tool_safe(j->set.inputs), j->n);
  j->inputs = count;
  return -1;
}

/* weights on the diagonals */
static int set_weights(job *j) {
  double value[2 * PSDM_MAX_JOINTS];
  int count = 2;
  value[0] = 100; /* 0.1 rad weighs as much as 1 rad/s */
  value[1] = 1;
  if (j->set.Q) count = take_numbers(j->set.Q, j->states, value);
  if (count != 1 && count != 2 && count != j->states)
    return tool_usage("linearize", "--Q '%s': 1, 2 or %d numbers were expected", tool_safe(j->set.Q), j->states);
  for (int i = 0; i < j->states; i++)
    j->Q[(long)i * j->states + i] = count == j->states ? value[i] : count == 2 ? value[i >= j->n] : value[0];
  count = 0;
  if (j->set.R) count = take_numbers(j->set.R, j->inputs, value);
  if (j->set.R && count != 1 && count != j->inputs)
    return tool_usage("linearize", "--R '%s': 1 or %d numbers were expected", tool_safe(j->set.R), j->inputs);
  for (int i = 0; i < j->inputs; i++) j->R[(long)i * j->inputs + i] = !count ? 0.01 : value[count == 1 ? 0 : i];
  for (int k = 0; k < psdm_robot_joints(j->robot) && !count; k++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, k);
    for (int i = 0; i < j->inputs; i++)
      if (joint->q == j->input[i] && isfinite(joint->limits.effort) && joint->limits.effort > 0)
        j->R[(long)i * j->inputs + i] = 1 / (joint->limits.effort * joint->limits.effort);
  }
  for (int i = 0; i < j->states; i++)
    if (j->Q[(long)i * j->states + i] < 0) return tool_usage("linearize", "--Q must not be negative");
  for (int i = 0; i < j->inputs; i++)
    if (!(j->R[(long)i * j->inputs + i] > 0)) return tool_usage("linearize", "--R must be positive");
  return -1;
}

static int allocate(job *j) {
  size_t n = (size_t)j->n, N = (size_t)j->states, m = (size_t)j->inputs;
  size_t sizes[MATRICES] = {
      [MASS] = n * n, [C2] = n * n, [D] = n * n, [G] = n * n, [A] = N * N, [B] = N * m, [K] = m * N};
  size_t count = 4 * n + N * n + N * N + N * m + N * N + m * m, system = psdm_system_scratch(j->states, j->inputs),
         rest = psdm_equilibrium_scratch(j->robot);
  for (int k = 0; k < MATRICES; k++) count += sizes[k];
  double *at = j->memory = calloc(count, sizeof *at);
  j->scratch = malloc((system > rest ? system : rest) * sizeof *j->scratch);
  j->modes = calloc(3 * N, sizeof *j->modes);
  if (!at || !j->scratch || !j->modes || psdm_work_new(j->robot, NULL, &j->work) ||
      psdm_linear_new(j->robot, NULL, &j->linear))
    return tool_no_memory("linearize");
  j->sampled = j->modes + N;
  j->closed = j->sampled + N;
  j->q = at, j->qd = at + n, j->qdd = at + 2 * n, j->tau = at + 3 * n, at += 4 * n;
  for (int k = 0; k < MATRICES; k++) j->matrix[k] = at, at += sizes[k];
  j->full = at, at += N * n;
  j->Ad = at, at += N * N;
  j->Bd = at, at += N * m;
  j->Q = at, at += N * N;
  j->R = at;
  return -1;
}

/* ---- the CSV's columns ---- */

static int file_error(const job *j, psdm_status status, int at, const char *text) {
  psdm_error error = {.status = status, .line = at};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(j->csv));
  snprintf(error.text, sizeof error.text, "%s", text);
  return tool_fail(&error);
}

static int header_error(const job *j, const char *text) {
  return file_error(j, PSDM_E_PARSE, psdm_csv_header_line(j->csv), text);
}

/* a group is complete or absent */
static int find_group(job *j, int group, bool *used) {
  char name[32], text[160];
  int count = group == T ? 1 : j->n, found = 0, missing = 0;
  for (int i = 0; i < count; i++) {
    int *place = &j->place[group * j->n + i];
    snprintf(name, sizeof name, group == T ? "%s" : "%s%d", group_names[group], i + 1);
    *place = psdm_csv_find(j->csv, name);
    if (*place < 0) {
      missing = i + 1;
    } else {
      used[*place] = true;
      found++;
    }
  }
  j->column[group] = found ? 0 : -1;
  if (!found || found == count) return -1;
  snprintf(text, sizeof text, "column '%s%d' is missing; %s goes from 1 to %d", group_names[group], missing,
           group_names[group], j->n);
  return header_error(j, text);
}

static bool has(const job *j, int group) { return j->column[group] >= 0; }

static int check_groups(const job *j) {
  if (j->set.equilibrium) {
    if (has(j, QD) || has(j, QDD))
      return header_error(j, "an equilibrium is at rest: columns qd and qdd cannot be used with --equilibrium");
    if (!has(j, QP) && !has(j, TAU)) return header_error(j, "columns q1.. or tau1.. were expected");
    return -1;
  }
  if (!has(j, QP)) return header_error(j, "columns q1.. were expected (tau1.. alone need --equilibrium)");
  if (has(j, QDD) && has(j, TAU))
    return header_error(j, "qdd and tau are both given, but each determines the other; keep one");
  return -1;
}

static int match_columns(job *j) {
  int columns = psdm_csv_columns(j->csv), code = -1;
  bool *used = calloc((size_t)columns, sizeof *used);
  j->place = calloc((size_t)GROUPS * (size_t)j->n, sizeof *j->place);
  j->row = calloc((size_t)columns, sizeof *j->row);
  if (!used || !j->place || !j->row) code = tool_no_memory("linearize");
  for (int group = 0; group < GROUPS && code < 0; group++) code = find_group(j, group, used);
  if (code < 0) code = check_groups(j);
  for (int c = 0; c < columns && code < 0 && !j->set.ignore_extra; c++) {
    char text[256];
    snprintf(text, sizeof text, "column '%s' is not one of t, q, qd, qdd, tau, each 1 to %d; --ignore-extra skips it",
             tool_safe(psdm_csv_name(j->csv, c)), j->n);
    if (!used[c]) code = header_error(j, text);
  }
  free(used);
  return code;
}

/* ---- one point ---- */

static void take(const job *j, int group, double *to) {
  for (int i = 0; i < j->n; i++) to[i] = has(j, group) ? j->row[j->place[group * j->n + i]] : 0;
}

/* a function at (q, qd, third), with friction if requested */
static psdm_status evaluate(job *j, psdm_function function, const double *third, double *out) {
  psdm_eval_options options = {.friction = j->set.friction};
  size_t n = (size_t)j->n;
  memcpy(j->scratch, j->q, n * sizeof *third);
  memcpy(j->scratch + n, j->qd, n * sizeof *third);
  memcpy(j->scratch + 2 * n, third, n * sizeof *third);
  return psdm_eval(j->robot, j->work, function, &options, j->scratch, out);
}

/* the q that tau holds, or the tau that holds q */
static psdm_status settle(job *j) {
  if (!has(j, TAU)) return evaluate(j, PSDM_F_INVERSE, j->qdd, j->tau);
  psdm_equilibrium_options options = {.start = has(j, QP) ? j->q : NULL};
  double *q = j->full, *u = q + j->n; /* borrowed: start and result must not overlap */
  take(j, TAU, j->tau);
  if (j->set.friction) psdm_friction_torque(j->robot, j->qd, u); /* a constant offset, if any */
  for (int i = 0; i < j->n; i++) u[i] = j->tau[i] - (j->set.friction ? u[i] : 0);
  psdm_status status = psdm_equilibrium_find(j->robot, j->work, j->linear, u, &options, j->scratch, q, &j->equilibrium);
  if (!status) memcpy(j->q, q, sizeof *q * (size_t)j->n);
  return status;
}

static psdm_status complete_point(job *j) {
  j->t = has(j, T) ? j->row[j->place[T * j->n]] : 0;
  take(j, QP, j->q);
  take(j, QD, j->qd);
  take(j, QDD, j->qdd);
  if (j->set.equilibrium) return settle(j);
  if (!has(j, TAU)) return evaluate(j, PSDM_F_INVERSE, j->qdd, j->tau);
  take(j, TAU, j->tau);
  return evaluate(j, PSDM_F_FORWARD, j->tau, j->qdd);
}

static void keep_inputs(job *j) {
  for (int i = 0; i < j->states; i++)
    for (int k = 0; k < j->inputs; k++) j->matrix[B][(long)i * j->inputs + k] = j->full[(long)i * j->n + j->input[k]];
}

/* the matrices for the files */
static psdm_status linearize_point(job *j) {
  double **m = j->matrix;
  psdm_status status = psdm_state_space(j->robot, j->linear, j->q, j->qd, j->qdd, m[A], j->full);
  if (!status && j->second_order)
    status = psdm_second_order(j->robot, j->linear, j->q, j->qd, j->qdd, m[MASS], m[C2], m[D], m[G]);
  if (status) return status;
  if (j->set.friction) {
    psdm_friction_slope(j->robot, j->qd, j->scratch);
    psdm_damp(j->n, j->scratch, j->second_order ? m[C2] : NULL, m[A], j->full);
  }
  keep_inputs(j);
  if (j->set.dt > 0)
    status = psdm_system_discretise(j->states, j->inputs, m[A], m[B], j->set.dt, j->scratch, j->Ad, j->Bd);
  if (status || !j->set.lqr) return status;
  bool sampled = j->set.dt > 0;
  return psdm_system_lqr(j->states, j->inputs, sampled ? j->Ad : m[A], sampled ? j->Bd : m[B], j->set.dt, j->Q, j->R,
                         j->scratch, m[K], NULL, j->closed, &j->lqr);
}

static psdm_status analyze_point(job *j) {
  psdm_status status =
      psdm_system_analyze(j->states, j->inputs, j->matrix[A], j->matrix[B], 0, j->scratch, j->modes, &j->facts);
  if (!status && j->set.dt > 0)
    status =
        psdm_system_analyze(j->states, j->inputs, j->Ad, j->Bd, j->set.dt, j->scratch, j->sampled, &j->sampled_facts);
  return status;
}

/* torques that hold no position have no model */
static bool lost(const job *j) { return j->set.equilibrium && has(j, TAU) && !j->equilibrium.found; }

static bool gains_found(const job *j) { return j->set.lqr && !lost(j) && j->lqr.outcome == PSDM_LQR_OK; }

/* ---- matrices by name ---- */

typedef struct shown {
  const char *name;
  int rows, columns; /* rows is 0 for a vector */
  double *value;
} shown;

static size_t numbers_of(const shown *s) { return (size_t)(s->rows ? s->rows : 1) * (size_t)s->columns; }

/* matrices of the requested form; returns how many */
static int matrices_of(const job *j, shown list[MATRICES]) {
  int n = j->n, N = j->states, m = j->inputs, count = 0;
  bool sampled = j->set.dt > 0;
  if (j->second_order) {
    list[count++] = (shown){"M", n, n, j->matrix[MASS]};
    list[count++] = (shown){"C2", n, n, j->matrix[C2]};
    list[count++] = (shown){"D", n, n, j->matrix[D]};
    list[count++] = (shown){"G", n, n, j->matrix[G]};
  } else {
    list[count++] = (shown){sampled ? "Ad" : "A", N, N, sampled ? j->Ad : j->matrix[A]};
    list[count++] = (shown){sampled ? "Bd" : "B", N, m, sampled ? j->Bd : j->matrix[B]};
  }
  if (j->set.lqr) list[count++] = (shown){"K", m, N, j->matrix[K]};
  return count;
}

static int vectors_of(const job *j, shown list[4]) {
  list[0] = (shown){"q", 0, j->n, j->q};
  list[1] = (shown){"qd", 0, j->n, j->qd};
  list[2] = (shown){"qdd", 0, j->n, j->qdd};
  list[3] = (shown){"tau", 0, j->n, j->tau};
  return 4;
}

/* ---- JSON ---- */

static const char *const verdicts[PSDM_STABILITY_COUNT] = {"stable", "oscillating", "drifting", "unstable"};
static const char *const outcomes[PSDM_LQR_COUNT] = {"ok", "weight", "unreachable", "boundary", "failed"};

/* numbers, row by row; they stay the job's */
#define PUT_MATRIX(to, from, r, c) ((to).item = (from), (to).rows = (r), (to).columns = (c))

static void put_matrices(const job *j, psdm_linear_point *p) {
  int n = j->n, N = j->states, m = j->inputs;
  if (j->second_order) {
    PUT_MATRIX(p->M, j->matrix[MASS], n, n);
    PUT_MATRIX(p->C2, j->matrix[C2], n, n);
    PUT_MATRIX(p->D, j->matrix[D], n, n);
    PUT_MATRIX(p->G, j->matrix[G], n, n);
  } else if (j->set.dt > 0) {
    PUT_MATRIX(p->Ad, j->Ad, N, N);
    PUT_MATRIX(p->Bd, j->Bd, N, m);
  } else {
    PUT_MATRIX(p->A, j->matrix[A], N, N);
    PUT_MATRIX(p->B, j->matrix[B], N, m);
  }
  if (gains_found(j)) PUT_MATRIX(p->K, j->matrix[K], m, N);
}

static void put_facts(const job *j, psdm_linear_point *p, psdm_lqr_result *lqr) {
  const psdm_system_facts *f = j->set.dt > 0 ? &j->sampled_facts : &j->facts;
  PSDM_RESULT_SET(p->eigenvalues, j->set.dt > 0 ? j->sampled : j->modes, j->states);
  p->stability = verdicts[j->facts.stability];
  p->growth = j->facts.growth;
  p->controllable = f->controllable, p->reachable = f->reachable, p->reach_margin = f->reach_margin;
  if (!j->set.lqr) return;
  *lqr = (psdm_lqr_result){.outcome = outcomes[j->lqr.outcome], .residual = j->lqr.residual};
  if (gains_found(j)) PSDM_RESULT_SET(lqr->closed_loop, j->closed, j->states);
  p->lqr = lqr;
}

static void json_point(const job *j, psdm_output *out) {
  const psdm_equilibrium_info *e = &j->equilibrium;
  const psdm_equilibrium_result found = {e->found, e->residual, e->rank, e->starts};
  psdm_linear_point p = {.t = has(j, T) ? j->t : NAN};
  psdm_lqr_result lqr;
  PSDM_RESULT_SET(p.q, j->q, j->n);
  PSDM_RESULT_SET(p.qd, j->qd, j->n);
  PSDM_RESULT_SET(p.qdd, j->qdd, j->n);
  PSDM_RESULT_SET(p.tau, j->tau, j->n);
  if (j->set.equilibrium && has(j, TAU)) p.equilibrium = &found;
  if (!lost(j)) put_matrices(j, &p), put_facts(j, &p, &lqr);
  psdm_result_write_item(&psdm_linear_point_type, &p, out);
}

/* all but the points, which are written as they come */
static int json_begin(const job *j, psdm_output *out) {
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_linearize_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_linearize_result *r = (psdm_linearize_result *)head;
  psdm_result_name_robot(head, j->robot, &r->robot, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, j->robot, NULL), j->n);
  r->settings.item = settings_values(&linearize_line, &j->set, head, &r->settings.rows);
  r->form = j->set.form;
  r->dt = j->set.dt;
  if (psdm_result_complete(head, &error)) return tool_fail(&error);
  psdm_result_write_begin(head, out);
  psdm_result_free(head);
  return -1;
}

static int json_end(psdm_output **out) {
  psdm_result_write_end(*out);
  return tool_commit(out);
}

/* ---- CSV and .mat ---- */

/* t, q1, M1_2 */
static void csv_names(psdm_output *out, const shown *s) {
  for (int i = 0; i < (int)numbers_of(s); i++) {
    if (i) psdm_output_text(out, ",");
    psdm_output_text(out, s->name);
    if (s->rows) psdm_output_print(out, "%d_%d", i / s->columns + 1, i % s->columns + 1);
    else if (strcmp(s->name, group_names[T]) != 0) psdm_output_print(out, "%d", i + 1);
  }
}

/* all numbers of a point, in the order of the columns */
static int record_of(const job *j, shown list[1 + 4 + MATRICES]) {
  int count = 0;
  if (has(j, T)) list[count++] = (shown){"t", 0, 1, (double *)&j->t};
  count += vectors_of(j, list + count);
  return count + matrices_of(j, list + count);
}

static void csv_header(const job *j, psdm_output *out) {
  shown list[1 + 4 + MATRICES];
  int count = record_of(j, list);
  for (int k = 0; k < count; k++) {
    if (k) psdm_output_text(out, ",");
    csv_names(out, &list[k]);
  }
  psdm_output_text(out, "\n");
}

static void csv_row(const job *j, psdm_output *out) {
  shown list[1 + 4 + MATRICES];
  int count = record_of(j, list);
  for (int k = 0; k < count; k++)
    for (size_t i = 0; i < numbers_of(&list[k]); i++) {
      if (k || i) psdm_output_text(out, ",");
      psdm_output_number(out, list[k].value[i]);
    }
  psdm_output_text(out, "\n");
}

/* appends a point's numbers to those of the points before */
static int keep_point(job *j) {
  shown list[1 + 4 + MATRICES];
  int count = record_of(j, list);
  size_t size = 0;
  for (int k = 0; k < count; k++) size += numbers_of(&list[k]);
  if (j->points == j->room) {
    j->room = j->room ? 2 * j->room : 16;
    double *larger = realloc(j->kept, (size_t)j->room * size * sizeof *larger);
    if (!larger) return tool_no_memory("linearize");
    j->kept = larger;
  }
  double *at = j->kept + (size_t)j->points * size;
  for (int k = 0; k < count; k++) {
    size_t part = numbers_of(&list[k]);
    memcpy(at, list[k].value, part * sizeof *at);
    at += part;
  }
  return -1;
}

/* points to pages: each matrix of all points, one after the other */
static int save_mat(const job *j) {
  shown list[1 + 4 + MATRICES];
  psdm_matrix pages[2 + 1 + 4 + MATRICES];
  char fingerprint[TOOL_FINGERPRINT];
  psdm_error error;
  int count = record_of(j, list), code = -1;
  size_t size = 0, before = 0;
  for (int k = 0; k < count; k++) size += numbers_of(&list[k]);
  double *sorted = malloc(size * (size_t)j->points * sizeof *sorted), *at = sorted;
  if (!sorted) return tool_no_memory("linearize");
  for (int k = 0; k < count; k++) {
    size_t part = numbers_of(&list[k]);
    /* vectors: (points x n) rather than pages */
    pages[k] = list[k].rows ? (psdm_matrix){list[k].name, list[k].rows, list[k].columns, j->points, at, NULL}
                            : (psdm_matrix){list[k].name, (int)j->points, list[k].columns, 1, at, NULL};
    for (long p = 0; p < j->points; p++, at += part) memcpy(at, j->kept + (size_t)p * size + before, part * sizeof *at);
    before += part;
  }
  pages[count++] = (psdm_matrix){.name = "robot", .text = psdm_robot_name(j->robot)};
  pages[count++] = (psdm_matrix){.name = "kinematics", .text = tool_fingerprint(j->robot, fingerprint)};
  code = tool_spare(j->set.out);
  if (code < 0 && psdm_matrices_save(count, pages, j->set.out, NULL, &error)) code = tool_fail(&error);
  free(sorted);
  return code;
}

/* ---- text ---- */

static void print_matrix(const shown *s) {
  for (int i = 0; i < s->rows; i++) {
    printf("  %-4s", i ? "" : s->name);
    for (int k = 0; k < s->columns; k++) printf(" %11.5g", s->value[(long)i * s->columns + k] + 0.0);
    printf("\n");
  }
}

/* one line per real mode or pair; the conjugate is implied */
static void print_modes(const char *title, const psdm_mode *modes, int count, bool sampled) {
  printf("  %-28s %12s %9s\n", title, "rad/s", "damping");
  for (int k = 0; k < count; k++) {
    char text[64];
    if (modes[k].im < 0 && k && modes[k - 1].im == -modes[k].im) continue;
    if (modes[k].im != 0) snprintf(text, sizeof text, "%.5g +- %.5gi", modes[k].re + 0.0, fabs(modes[k].im));
    else snprintf(text, sizeof text, "%.5g", modes[k].re + 0.0);
    printf("    %-26s %12.5g %9.3g%s\n", text, modes[k].frequency, modes[k].damping + 0.0,
           sampled && modes[k].re == 0 && modes[k].im == 0 ? "  zero after one sample" : "");
  }
}

static void print_reach(const job *j) {
  const psdm_system_facts *f = j->set.dt > 0 ? &j->sampled_facts : &j->facts;
  if (f->controllable) printf("  controllable: the inputs reach all %d states", j->states);
  else printf("  not controllable: the inputs reach %d of %d states", f->reachable, j->states);
  if (isfinite(f->reach_margin)) printf(" (margin %.2g)", f->reach_margin);
  printf("\n");
}

static void print_stability(const job *j) {
  const psdm_system_facts *f = &j->facts;
  bool moving = false;
  for (int i = 0; i < j->n; i++) moving = moving || j->qd[i] != 0 || j->qdd[i] != 0;
  printf("  %s", psdm_stability_text(f->stability));
  if (f->unstable) printf(", by a factor of e in %.3g s", 1 / f->growth);
  printf(" (%d growing, %d drifting, %d undamped, %d damped modes)\n", f->unstable, f->drifting, f->undamped,
         f->damped);
  if (moving)
    printf("  the robot moves: this is the model frozen at one instant, and its modes do not determine the stability "
           "of the motion\n");
}

static void print_lqr(const job *j) {
  if (!gains_found(j)) {
    printf("  no LQR gains: %s", psdm_lqr_text(j->lqr.outcome));
    if (j->lqr.outcome == PSDM_LQR_UNREACHABLE) printf(" (%.5g%+.5gi)", j->lqr.mode.re + 0.0, j->lqr.mode.im);
    printf("\n");
    return;
  }
  print_modes("with du = -K dx", j->closed, j->states, j->set.dt > 0);
  printf("  residual of the Riccati equation %.2g\n", j->lqr.residual);
}

static void print_vector(const char *name, const double *x, int n) {
  printf("  %-4s", name);
  for (int i = 0; i < n; i++) printf(" %11.5g", x[i] + 0.0);
  printf("\n");
}

static void print_equilibrium(const job *j) {
  const psdm_equilibrium_info *e = &j->equilibrium;
  if (!e->found)
    printf("  no equilibrium was found from %d starts; the nearest is off by %.2g of the torques\n", e->starts,
           e->residual);
  else if (e->rank < j->n)
    printf("  one equilibrium of a family with %d free direction%s (residual %.2g)\n", j->n - e->rank,
           j->n - e->rank > 1 ? "s" : "", e->residual);
  else printf("  equilibrium found from start %d (residual %.2g)\n", e->starts, e->residual);
}

static void print_point(const job *j) {
  shown list[MATRICES];
  printf("%s%s, line %d", j->points ? "\n" : "", tool_safe(psdm_robot_name(j->robot)), psdm_csv_line(j->csv));
  if (has(j, T)) printf(", t = %.6g s", j->t);
  printf("\n");
  print_vector("q", j->q, j->n);
  if (has(j, QD)) print_vector("qd", j->qd, j->n);
  if (has(j, QDD) || (has(j, TAU) && !j->set.equilibrium)) print_vector("qdd", j->qdd, j->n);
  print_vector("tau", j->tau, j->n);
  if (j->set.equilibrium && has(j, TAU)) print_equilibrium(j);
  if (lost(j)) return;
  int count = matrices_of(j, list);
  for (int k = 0; k < count; k++)
    if (list[k].value != j->matrix[K] || gains_found(j)) print_matrix(&list[k]);
  print_modes(j->set.dt > 0 ? "eigenvalues of Ad" : "eigenvalues", j->set.dt > 0 ? j->sampled : j->modes, j->states,
              j->set.dt > 0);
  print_stability(j);
  print_reach(j);
  if (j->set.lqr) print_lqr(j);
}

/* ---- the command ---- */

static int open_files(job *j) {
  psdm_error error;
  const char *out = j->set.out;
  if (strcmp(j->set.at, "-") == 0 && isatty(STDIN_FILENO))
    tool_note("reading points from the terminal until Ctrl-D; --at FILE.csv reads a file");
  tool_input(j->set.at);
  if (psdm_csv_open(j->set.at, NULL, &j->csv, &error)) return tool_fail(&error);
  int code = match_columns(j);
  /* a MATLAB file holds all points at once: about ten matrices of 2 n by 2 n, in room that doubles, sorted and
   * compressed */
  size_t n = (size_t)psdm_robot_n(j->robot), bytes = 4 * sizeof(double) * (5 * n + 10 * 4 * n * n);
  if (code < 0 && out && ends_with(out, ".mat") && psdm_csv_fits(j->csv, bytes, psdm_robot_memory(j->robot), &error))
    code = tool_fail(&error);
  if (code < 0 && j->set.json) code = tool_open("-", &j->json);
  if (code < 0 && out && !ends_with(out, ".mat")) code = tool_open(out, &j->file);
  if (code >= 0) return code;
  if (j->json) code = json_begin(j, j->json);
  if (code < 0 && j->file && ends_with(out, ".json")) code = json_begin(j, j->file);
  if (j->file && ends_with(out, ".csv")) csv_header(j, j->file);
  return code;
}

static int write_point(job *j) {
  bool mat = j->set.out && ends_with(j->set.out, ".mat"), json = j->set.out && ends_with(j->set.out, ".json");
  /* text and derived facts are not needed for a file of numbers alone */
  bool facts = (j->set.json || json || !j->set.out) && !lost(j);
  if (facts && analyze_point(j))
    return file_error(j, PSDM_E_LIMIT, psdm_csv_line(j->csv), "the model's eigenvalues were not found");
  if (j->json) json_point(j, j->json);
  if (j->file && json) json_point(j, j->file);
  if (j->file && !json) csv_row(j, j->file);
  if (!j->set.json && !j->set.out) print_point(j);
  return mat ? keep_point(j) : -1;
}

static void blank(const job *j) {
  shown list[MATRICES];
  int count = matrices_of(j, list);
  for (int k = 0; k < count; k++)
    for (size_t i = 0; i < numbers_of(&list[k]); i++) list[k].value[i] = NAN;
}

/* a missing result is reported, is NaN in the files, and sets the exit code */
static void note_misses(job *j) {
  if (lost(j)) {
    tool_warn("%s:%d: no q was found that these torques hold; the nearest is off by %.2g of them",
              psdm_csv_file(j->csv), psdm_csv_line(j->csv), j->equilibrium.residual);
    blank(j);
  } else if (j->set.lqr && !gains_found(j)) {
    tool_warn("%s:%d: no LQR gains: %s", psdm_csv_file(j->csv), psdm_csv_line(j->csv), psdm_lqr_text(j->lqr.outcome));
    for (long i = 0; i < (long)j->inputs * j->states; i++) j->matrix[K][i] = NAN;
  } else {
    return;
  }
  j->missed = true;
}

static int run_points(job *j, progress *bar) {
  psdm_error error;
  for (int code = -1;; j->points++) {
    bool more;
    if (psdm_csv_row(j->csv, j->row, &more, &error)) return tool_fail(&error);
    if (!more) return -1;
    psdm_status status = complete_point(j);
    if (!status && !lost(j)) status = linearize_point(j);
    if (status)
      return file_error(j, status, psdm_csv_line(j->csv),
                        status == PSDM_E_LIMIT ? "the sampled model overflows: --dt is too long for this point" : "");
    note_misses(j);
    code = write_point(j);
    if (code >= 0) return code;
    if ((j->file && psdm_output_failed(j->file)) || (j->json && psdm_output_failed(j->json))) return -1;
    progress_show(bar, psdm_csv_bytes(j->csv), j->points, "points");
  }
}

static int run(job *j) {
  progress bar = progress_start("linearizing", tool_file_size(j->set.at));
  int code = run_points(j, &bar);
  progress_end(&bar);
  if (code < 0 && !j->points) code = file_error(j, PSDM_E_PARSE, 0, "no points");
  if (code < 0 && j->set.out && ends_with(j->set.out, ".mat")) code = save_mat(j);
  if (code >= 0) return code;
  if (j->file) code = ends_with(j->set.out, ".json") ? json_end(&j->file) : tool_commit(&j->file);
  if (j->json && code <= EXIT_OK) code = json_end(&j->json);
  if (code > EXIT_OK) return code;
  return j->missed ? EXIT_QUALITY : EXIT_OK;
}

static int prepare(job *j) {
  psdm_error error;
  if (psdm_robot_ready(j->robot, &error)) return tool_fail(&error);
  j->n = psdm_robot_n(j->robot);
  j->states = 2 * j->n;
  int code = tool_regular(j->robot);
  if (code < 0) code = choose_inputs(j);
  if (code < 0) code = allocate(j);
  return code < 0 && j->set.lqr ? set_weights(j) : code;
}

int cmd_linearize(int argc, char **argv) {
  job j = {0};
  const char *path;
  int code = settings_parse(&linearize_line, argc, argv, &j.set, &path);
  if (code < 0) code = check_settings(&j);
  if (code < 0) code = tool_load("linearize", path, PSDM_ROBOT_SETTINGS_OF(&j.set), &j.robot);
  if (code < 0) code = prepare(&j);
  if (code < 0) code = open_files(&j);
  if (code < 0) code = run(&j);
  job_free(&j);
  return code;
}
