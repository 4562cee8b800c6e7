/* eval.c: one function of a robot at every state of a table; rows are streamed, whatever their number. */
#include <string.h>

#include "study/study.h"
#include "psdm/cartesian.h"
#include "psdm/eval.h"
#include "psdm/results.h"
#include "psdm/text.h"

#define EVAL_ARGUMENTS(X) X(text, function, "", "FUNCTION", "what is evaluated")

#define EVAL_SETTINGS(X)                                                                                       \
  X(text, in, "-", "FILE", "state CSV to read; - is standard input")                                           \
  X(text, out, "-", "FILE", "output CSV, replaced only when complete; - is standard output")                   \
  X(flag, standard, "", "",                                                                                    \
    "regressor, sensitivity: for the standard parameters (10 per link, then the drives'), not the base ones")  \
  X(flag, friction, "", "",                                                                                    \
    "add the robot's friction (inverse, bias; forward subtracts it; linearizations; columns of a regressor)")  \
  X(flag, motor, "", "", "torques on the motor side, through gears and transmission (taum1 ...)")              \
  X(text, link, "", "NAME",                                                                                    \
    "link or joint for jacobian, pose and cartesian functions (default: the tip of the longest moving chain)") \
  X(vector, point, "", "X,Y,Z", "cartesian functions: point in the link's frame (default: its origin)")        \
  X(text, directions, "", "LIST",                                                                              \
    "cartesian functions: directions of the task in the base frame, of x,y,z,rx,ry,rz (default: all)")         \
  X(flag, dense, "", "", "forward_along by way of the mass matrix (Algorithm 3), not by the recursion")        \
  X(text, wrench, "", "LINK:FX,FY,FZ,MX,MY,MZ",                                                                \
    "external force and moment on a link, base frame; separate several with ';'")                              \
  X(text, via, "recursive", "recursive|expanded", "by the recursions, or through the derived model")           \
  X(text, assume, "", "A = 0,B = C,...", "assumptions for the derived model, in addition to the file's")       \
  X(flag, ignore_extra, "", "", "ignore unknown columns of the state CSV")                                     \
  X(flag, json, "", "", "write one JSON object instead of CSV")                                                \
  PSDM_ROBOT_SETTINGS(X)

typedef struct eval_settings {
  EVAL_ARGUMENTS(PSDM_SETTINGS_FIELD)
  EVAL_SETTINGS(PSDM_SETTINGS_FIELD)
} eval_settings;

#define SETTINGS_STRUCT eval_settings
static const psdm_setting arguments[] = {EVAL_ARGUMENTS(PSDM_SETTINGS_ROW){0}};
static const psdm_setting settings[] = {EVAL_SETTINGS(PSDM_SETTINGS_ROW){0}};

enum { AT_ONCE = 4096, WRENCHES = 16 }; /* states evaluated together */

/* all data of one run; release frees it */
typedef struct eval {
  psdm_job job;
  eval_settings set;
  psdm_function function;
  psdm_eval_options options;
  psdm_wrench wrenches[WRENCHES];
  psdm_model *model; /* for the base regressor or an expanded evaluation */
  psdm_batch *batch;
  psdm_csv *csv;
  psdmp_job_sink *rows; /* the numbers as CSV, or kept */
  psdm_output *json;    /* or in the document */
  int inputs, outputs;
  int *column;              /* (inputs) the CSV column of each */
  double *row, *in, *value; /* (csv columns), (AT_ONCE x inputs), (AT_ONCE x outputs) */
  int line[AT_ONCE];
} eval;

/* ---- settings ---- */

static bool has_expanded(psdm_function f) {
  return f == PSDM_F_INVERSE || f == PSDM_F_FORWARD || f == PSDM_F_MASS || f == PSDM_F_BIAS || f == PSDM_F_GRAVITY ||
         f == PSDM_F_REGRESSOR;
}

static psdm_status choose_function(eval *j) {
  const psdm_job *job = &j->job;
  const char *words[PSDM_EVAL_FUNCTIONS], *name = j->set.function;
  if (!name) return psdmp_job_wrong(job, "missing `function`");
  for (int f = 0; f < PSDM_EVAL_FUNCTIONS; f++) words[f] = psdm_function_name((psdm_function)f);
  if (!psdm_function_find(name, &j->function) || j->function >= PSDM_EVAL_FUNCTIONS) {
    const char *near = psdmp_base_nearest(name, words, PSDM_EVAL_FUNCTIONS);
    if (!near) return psdmp_job_no_word(job, "function", name, words, PSDM_EVAL_FUNCTIONS);
    return psdmp_job_wrong(job, "unknown function '%s'; did you mean '%s'?", psdmp_job_safe(job, name), near);
  }
  j->options.expanded = strcmp(j->set.via, "expanded") == 0;
  if (j->options.expanded && (!has_expanded(j->function) || j->set.standard))
    return psdmp_job_wrong(job,
                           "`via = expanded` supports inverse, forward, mass, bias, gravity and the base regressor");
  return PSDM_OK;
}

/* one "LINK:FX,FY,FZ,MX,MY,MZ"; the name ends at the last colon */
static psdm_status take_wrench(const psdm_job *job, char *text, psdm_wrench *wrench) {
  char *colon = strrchr(text, ':');
  if (!colon)
    return psdmp_job_wrong(job, "`wrench` '%s': LINK:FX,FY,FZ,MX,MY,MZ was expected", psdmp_job_safe(job, text));
  *colon = '\0';
  psdm_status status = psdmp_job_find_link(job, "wrench", job->robot, text, &wrench->joint);
  if (!status) status = psdmp_job_must_move(job, "wrench", job->robot, wrench->joint);
  if (status) return status;
  char *at = colon + 1;
  for (int i = 0; i < 6; i++) {
    char *comma = strchr(at, ',');
    if (!comma != (i == 5)) return psdmp_job_wrong(job, "`wrench`: six numbers were expected behind the colon");
    if (comma) *comma = '\0';
    if (!psdm_parse_number(at, i < 3 ? &wrench->force[i] : &wrench->moment[i - 3]))
      return psdmp_job_wrong(job, "`wrench`: '%s' is not a number", psdmp_job_safe(job, at));
    at = comma ? comma + 1 : at;
  }
  return PSDM_OK;
}

static psdm_status take_wrenches(eval *j) {
  const psdm_job *job = &j->job;
  char text[1024];
  if (strlen(j->set.wrench) >= sizeof text) return psdmp_job_wrong(job, "`wrench` is too long");
  snprintf(text, sizeof text, "%s", j->set.wrench);
  for (char *at = text, *next; at; at = next) {
    next = strchr(at, ';');
    if (next) *next++ = '\0';
    if (j->options.wrench_count == WRENCHES) return psdmp_job_wrong(job, "`wrench`: at most 16 wrenches");
    psdm_status status = take_wrench(job, at, &j->wrenches[j->options.wrench_count++]);
    if (status) return status;
  }
  j->options.wrenches = j->wrenches;
  return PSDM_OK;
}

/* the derived model, and its base parameters from the robot's standard ones; closed loops have base parameters but no
 * functions */
static psdm_status derive_model(eval *j) {
  psdm_job *job = &j->job;
  psdm_derive_options options = {.progress = psdmp_job_watch, .progress_user = job};
  psdm_error error;
  psdm_status status = psdmp_job_pieces(job, "assume", j->set.assume, &options.assume, &options.assume_count);
  if (status) return status;
  bool bare = psdm_robot_loops(job->robot) && !j->options.expanded;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "deriving");
  status = bare ? psdm_base_parameters_derive(job->robot, &options, NULL, &j->model, NULL, &error)
                : psdm_model_derive(job->robot, &options, NULL, &j->model, NULL, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  double *pi = psdmp_job_array(job, (size_t)psdm_model_standard_count(j->model), sizeof *pi);
  double *theta = psdmp_job_array(job, (size_t)psdm_model_l(j->model) + 1, sizeof *theta);
  if (!pi || !theta) return psdmp_job_memory(job);
  psdm_robot_parameters(job->robot, pi);
  psdm_model_theta(j->model, pi, theta);
  j->options.model = j->model;
  j->options.theta = theta;
  return PSDM_OK;
}

/* the point and the directions of a task */
static psdm_status set_task(eval *j) {
  const psdm_job *job = &j->job;
  psdm_eval_options *o = &j->options;
  psdm_error error;
  if (!psdm_function_is_task(j->function) && (j->set.point.given || j->set.directions))
    return psdmp_job_wrong(job, "`%s` needs a cartesian function", j->set.point.given ? "point" : "directions");
  if (j->set.dense && j->function != PSDM_F_FORWARD_ALONG) return psdmp_job_wrong(job, "`dense` needs forward_along");
  o->dense = j->set.dense;
  o->point = j->set.point.given ? j->set.point.value : NULL;
  if (j->set.directions && !psdm_directions_find(j->set.directions, &o->directions))
    return psdmp_job_wrong(job, "`directions` '%s': some of x,y,z,rx,ry,rz were expected",
                           psdmp_job_safe(job, j->set.directions));
  return psdm_eval_check(job->robot, j->function, o, &error) ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* what does not exist where the mass matrix is singular */
static bool inverts(psdm_function f) {
  return f == PSDM_F_FORWARD || f == PSDM_F_LINEARIZE_FORWARD || f == PSDM_F_INVERSE_MASS || f == PSDM_F_INNOVATIONS ||
         f == PSDM_F_FORWARD_ALONG || f == PSDM_F_SENSITIVITY ||
         (psdm_function_is_task(f) && f != PSDM_F_CARTESIAN_JACOBIAN);
}

static bool linearizes(psdm_function f) { return f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD; }

static psdm_status choose_link(eval *j) {
  const psdm_job *job = &j->job;
  psdm_function f = j->function;
  int joint;
  bool moves = f == PSDM_F_JACOBIAN || psdm_function_is_task(f);
  if (!j->set.link && (moves || f == PSDM_F_POSE)) psdmp_job_default_link(job, job->robot, "`link` selects another");
  if (!j->set.link) return PSDM_OK;
  psdm_status status = psdmp_job_find_link(job, "link", job->robot, j->set.link, &joint);
  if (!status && moves) status = psdmp_job_must_move(job, "link", job->robot, joint);
  if (!status) j->options.link = psdm_robot_link_name(job->robot, joint);
  return status;
}

static psdm_status set_options(eval *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  psdm_function f = j->function;
  bool torque = f == PSDM_F_INVERSE || f == PSDM_F_BIAS || f == PSDM_F_GRAVITY;
  j->options.friction = j->set.friction;
  j->options.friction_columns = j->set.friction;
  j->options.motor = j->set.motor;
  if (j->set.motor && !torque) return psdmp_job_wrong(job, "`motor` needs inverse, bias or gravity");
  if (j->set.friction && f != PSDM_F_INVERSE && f != PSDM_F_BIAS && f != PSDM_F_FORWARD && f != PSDM_F_REGRESSOR &&
      !linearizes(f))
    return psdmp_job_wrong(job, "`friction` needs inverse, bias, forward, regressor or a linearization");
  psdm_status status = choose_link(j);
  if (!status && j->set.wrench && f != PSDM_F_INVERSE && f != PSDM_F_FORWARD)
    return psdmp_job_wrong(job, "`wrench` needs inverse or forward");
  if (!status && j->set.wrench) status = take_wrenches(j);
  if (!status) status = set_task(j);
  if (status) return status;
  bool needs = f != PSDM_F_REGRESSOR && f != PSDM_F_JACOBIAN && f != PSDM_F_POSE && f != PSDM_F_CARTESIAN_JACOBIAN;
  if (needs && psdm_robot_ready(job->robot, &error)) return psdmp_job_fail(job, &error);
  if (inverts(f)) status = psdmp_job_regular(job, job->robot);
  if (status) return status;
  bool parameters = f == PSDM_F_REGRESSOR || f == PSDM_F_SENSITIVITY;
  return j->options.expanded || (parameters && !j->set.standard) ? derive_model(j) : PSDM_OK;
}

/* ---- the table's columns ---- */

static psdm_status header_error(const eval *j, const char *format, const char *name) {
  psdm_error error = {.status = PSDM_E_PARSE, .line = psdm_csv_header_line(j->csv)};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(j->csv));
  snprintf(error.text, sizeof error.text, format, name, psdm_function_name(j->function),
           psdm_function_inputs(j->function), psdm_robot_n(j->job.robot));
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status match_columns(eval *j) {
  const psdm_job *job = &j->job;
  int columns = psdm_csv_columns(j->csv);
  char name[32];
  bool *used = psdmp_job_array(job, (size_t)columns, sizeof *used);
  if (!used) return psdmp_job_memory(job);
  for (int i = 0; i < j->inputs; i++) {
    psdm_eval_input_name(job->robot, j->function, i, name, sizeof name);
    j->column[i] = psdm_csv_find(j->csv, name);
    if (j->column[i] < 0) return header_error(j, "column '%s' is missing; %s needs %s, each 1 to %d", name);
    used[j->column[i]] = true;
  }
  for (int c = 0; c < columns && !j->set.ignore_extra; c++)
    if (!used[c])
      return header_error(j, "column '%s' is not one that %s needs (%s, each 1 to %d); `ignore_extra` skips it",
                          psdmp_job_safe(job, psdm_csv_name(j->csv, c)));
  return PSDM_OK;
}

static psdm_status allocate(eval *j) {
  const psdm_job *job = &j->job;
  j->inputs = psdm_eval_inputs(job->robot, j->function);
  j->outputs = psdm_eval_outputs(job->robot, j->function, &j->options);
  j->column = psdmp_job_array(job, (size_t)j->inputs, sizeof *j->column);
  j->in = psdmp_base_alloc_raw(NULL, (size_t)j->inputs * AT_ONCE * sizeof *j->in);
  j->value = psdmp_base_alloc_raw(NULL, (size_t)j->outputs * AT_ONCE * sizeof *j->value);
  j->row = psdmp_job_array(job, (size_t)psdm_csv_columns(j->csv), sizeof *j->row);
  return j->column && j->in && j->value && j->row ? PSDM_OK : psdmp_job_memory(job);
}

static psdm_status open_states(eval *j) {
  const psdm_job *job = &j->job;
  psdm_error error;
  psdmp_job_typed(job, j->set.in, "states", "`in = FILE`");
  psdmp_job_reads(job, j->set.in);
  if (psdm_csv_open(j->set.in, NULL, &j->csv, &error)) return psdmp_job_fail(job, &error);
  psdm_status status = allocate(j);
  if (status) return status;
  if (psdm_batch_new(job->robot, j->function, &j->options, 0, NULL, &j->batch, &error))
    return psdmp_job_fail(job, &error);
  return match_columns(j);
}

/* ---- the rows ---- */

/* all but the rows, which are written as they come */
static void fill(psdm_job *job, psdm_result *head) {
  const eval *j = (const eval *)job;
  psdm_eval_result *r = (psdm_eval_result *)head;
  psdm_result_name_robot(head, job->robot, &r->robot, &r->fingerprint);
  r->function = psdm_function_name(j->function);
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
  psdm_word *name = psdm_result_memory(head, j->outputs, sizeof *name);
  char text[32];
  for (int i = 0; name && i < j->outputs; i++)
    name[i] = psdm_result_text(head, psdm_eval_output_name(job->robot, j->function, &j->options, i, text, sizeof text));
  PSDM_RESULT_SET(r->columns, name, j->outputs);
}

/* where they go to a file, that has them as CSV or in the document */
static psdm_status open_rows(eval *j) {
  psdm_job *job = &j->job;
  const char *path = psdmp_job_written(job, "out");
  psdm_status status = psdmp_job_answer(job, &psdm_eval_result_type, fill);
  if (!status && path && j->set.json) status = psdmp_job_open(job, path, &j->json);
  if (!status) status = psdmp_job_rows_open(job, "out", j->set.json ? NULL : path, &j->rows);
  if (status) return status;
  const psdm_eval_result *r = (const psdm_eval_result *)job->answer;
  if (j->json) psdm_result_write_begin(job->answer, j->json);
  psdmp_job_rows_names(j->rows, &(psdmp_job_group){.count = j->outputs, .words = r->columns.item}, 1);
  return PSDM_OK;
}

static void write_rows(eval *j, long rows) {
  psdmp_job_rows_block(j->rows, rows, j->value, 0);
  for (long row = 0; row < rows && j->json; row++)
    psdm_json_numbers(j->json, NULL, j->value + row * j->outputs, j->outputs);
}

static bool failed(const eval *j) { return psdmp_job_rows_failed(j->rows) || (j->json && psdm_output_failed(j->json)); }

/* the rows read so far; a state that cannot be evaluated is reported with its line */
static psdm_status evaluate(eval *j, long rows) {
  long done;
  psdm_status status = psdm_batch_eval(j->batch, rows, j->in, j->value, &done);
  write_rows(j, done);
  if (!status) return PSDM_OK;
  psdm_error error = {.status = status, .line = j->line[done]};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(j->csv));
  if (status == PSDM_E_SINGULAR && psdm_function_is_task(j->function))
    snprintf(error.text, sizeof error.text, "singular: here the link cannot move in every direction of the task");
  return psdmp_job_fail(&j->job, &error);
}

/* up to this many further states; returns their number */
static long read_states(eval *j, psdm_status *status, psdm_error *error) {
  long rows = 0;
  for (bool more = true; rows < AT_ONCE; rows++) {
    *status = psdm_csv_row(j->csv, j->row, &more, error);
    if (*status || !more) break;
    for (int i = 0; i < j->inputs; i++) j->in[rows * j->inputs + i] = j->row[j->column[i]];
    j->line[rows] = psdm_csv_line(j->csv);
  }
  return rows;
}

static psdm_status find_rows(eval *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  psdm_status read = PSDM_OK, status = PSDM_OK;
  long got = AT_ONCE;
  long long rows = 0, total = psdmp_job_file_size(j->set.in);
  double began = psdmp_base_clock();
  psdmp_job_tell(job, PSDM_JOB_STAGE, "evaluating");
  for (; got == AT_ONCE && !status && !read && !failed(j); rows += got) {
    got = read_states(j, &read, &error);
    status = evaluate(j, got);
    if (!psdmp_job_count(job, began, psdm_csv_bytes(j->csv), total, rows, "states") && !status)
      status = psdmp_job_nothing(job, "not all states were evaluated");
  }
  psdmp_job_event(job, PSDM_JOB_STAGE);
  psdmp_job_detail(job, "%s of %lld states, %.3g us each", psdm_function_name(j->function), rows,
                   1e6 * (psdmp_base_clock() - began) / (double)(rows ? rows : 1));
  return !status && read ? psdmp_job_fail(job, &error) : status;
}

/* rows that are kept are the document's, too */
static psdm_status close_rows(eval *j) {
  psdm_job *job = &j->job;
  psdm_job_rows kept;
  if (j->json) psdm_result_write_end(j->json);
  psdm_status status = psdmp_job_close(job, &j->json, true);
  if (!status) status = psdmp_job_rows_commit(job, &j->rows);
  if (status || !psdm_job_rows_of(job, "out", &kept)) return status;
  psdm_eval_result *r = (psdm_eval_result *)job->answer;
  r->rows.item = kept.values, r->rows.rows = kept.rows, r->rows.columns = kept.columns;
  return PSDM_OK;
}

static psdm_status run(psdm_job *job) {
  eval *j = (eval *)job;
  psdm_status status = choose_function(j);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = set_options(j);
  if (!status) status = open_states(j);
  if (!status) status = open_rows(j);
  if (!status) status = find_rows(j);
  if (!status) status = close_rows(j);
  if (!status) return PSDM_OK;
  psdmp_job_rows_abort(job, &j->rows);
  psdm_result_free(job->answer);
  job->answer = NULL;
  return status;
}

static void release(psdm_job *job) {
  eval *j = (eval *)job;
  psdmp_job_close(job, &j->json, false);
  psdmp_job_rows_abort(job, &j->rows);
  psdm_csv_close(j->csv);
  psdm_batch_free(j->batch);
  psdm_model_free(j->model);
  psdmp_base_free(NULL, j->in);
  psdmp_base_free(NULL, j->value);
}

PSDMP_JOB_KIND(study, eval, eval, .arguments = arguments, .free = release);
