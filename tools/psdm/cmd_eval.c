/* cmd_eval.c: psdm eval: one function of a robot at every state of a CSV. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define EVAL_SETTINGS(X)                                                                                          \
  X(text, in, "-", "FILE", "state CSV to read; - is standard input")                                              \
  X(text, out, "-", "FILE", "output CSV, replaced only when complete; - is standard output")                      \
  X(flag, standard, "", "",                                                                                       \
    "regressor for the standard parameters (10 per link, then the drive inertias), not the base ones")            \
  X(flag, friction, "", "",                                                                                       \
    "add the robot's friction (inverse, bias; forward subtracts it; linearizations; columns of a regressor)")     \
  X(flag, motor, "", "", "torques on the motor side, through gears and transmission (taum1 ...)")                 \
  X(text, link, "", "NAME", "link or joint for jacobian and pose (default: the tip of the longest moving chain)") \
  X(text, wrench, "", "LINK:FX,FY,FZ,MX,MY,MZ",                                                                   \
    "external force and moment on a link, base frame; separate several with ';'")                                 \
  X(text, via, "recursive", "recursive|expanded", "by the recursions, or through the derived model")              \
  X(text, assume, "", "A = 0,B = C,...", "assumptions for the derived model, in addition to the file's")          \
  X(flag, ignore_extra, "", "", "ignore unknown columns of the state CSV")                                        \
  X(flag, json, "", "", "write one JSON object instead of CSV")                                                   \
  PSDM_ROBOT_SETTINGS(X)

typedef struct eval_settings {
  EVAL_SETTINGS(PSDM_SETTINGS_FIELD)
} eval_settings;

#define SETTINGS_STRUCT eval_settings
static const psdm_setting settings[] = {EVAL_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", "FUNCTION", NULL};

static const char help[] =
    "Evaluates one function of a robot at every state of a CSV. The first row of the CSV names its\n"
    "columns: q1..qn, qd1..qdn, qdd1..qddn, tau1..taun, as needed by the function. SI units, angles in radians.\n"
    "Rows are streamed: memory does not grow with the number of states.\n"
    "\n"
    "functions:\n" PSDM_FUNCTION_LIST(
        TOOL_FUNCTION_HELP) "\nenergy writes the columns T and U, pose x, y, z and R1_1 .. R3_3.\n"
                            "\nexamples:\n"
                            "  psdm eval robots/kuka_kr6.yaml inverse --in states.csv --out torques.csv\n"
                            "  printf 'q1,q2\\n0.1,0.2\\n' | psdm eval robots/two_link.yaml gravity\n"
                            "  psdm eval robots/kuka_kr6.yaml pose --link A5 --in states.csv --ignore-extra\n"
                            "  psdm eval robots/two_link.yaml linearize_inverse --in states.csv\n"
                            "  psdm eval robots/two_link.yaml inverse --wrench 'link2:0,-20,0,0,0,0' --in states.csv\n";

const command_line eval_line = {"eval", settings, positional, help};

enum { AT_ONCE = 4096 }; /* states evaluated together */

/* all data of one run; job_free releases it */
typedef struct job {
  eval_settings set;
  psdm_robot *robot;
  psdm_batch *batch;
  psdm_function function;
  psdm_eval_options options;
  psdm_wrench wrenches[16];
  psdm_csv *csv;
  psdm_output *out;
  int inputs, outputs;
  int *column;              /* (inputs) the CSV column of each */
  double *row, *in, *value; /* (csv columns), (AT_ONCE x inputs), (AT_ONCE x outputs) */
  int line[AT_ONCE];
  psdm_model *model; /* for the base regressor or --via expanded */
  double *theta, *scratch;
} job;

static void job_free(job *j) {
  tool_abort(&j->out);
  psdm_csv_close(j->csv);
  psdm_batch_free(j->batch);
  psdm_robot_free(j->robot);
  free(j->column);
  free(j->row);
  free(j->in);
  free(j->value);
  free(j->theta);
  free(j->scratch);
  psdm_model_free(j->model);
}

/* ---- option values ---- */

static bool has_expanded(psdm_function f) {
  return f == PSDM_F_INVERSE || f == PSDM_F_FORWARD || f == PSDM_F_MASS || f == PSDM_F_BIAS || f == PSDM_F_GRAVITY ||
         f == PSDM_F_REGRESSOR;
}

static int choose_function(job *j, const char *name) {
  const char *words[PSDM_EVAL_FUNCTIONS];
  for (int f = 0; f < PSDM_EVAL_FUNCTIONS; f++) words[f] = psdm_function_name((psdm_function)f);
  if (!psdm_function_find(name, &j->function) || j->function >= PSDM_EVAL_FUNCTIONS) {
    const char *near = tool_nearest(name, words, PSDM_EVAL_FUNCTIONS);
    if (!near) return tool_unknown("eval", "function", name, words, PSDM_EVAL_FUNCTIONS);
    return tool_usage("eval", "unknown function '%s'; did you mean '%s'?", tool_safe(name), near);
  }
  bool expanded = strcmp(j->set.via, "expanded") == 0;
  if (!expanded && strcmp(j->set.via, "recursive") != 0)
    return tool_usage("eval", "--via '%s': recursive or expanded was expected", tool_safe(j->set.via));
  if (expanded && (!has_expanded(j->function) || j->set.standard))
    return tool_usage("eval", "--via expanded supports inverse, forward, mass, bias, gravity and the base regressor");
  j->options.expanded = expanded;
  return -1;
}

static int find_link(const psdm_robot *robot, const char *name, const char *option, int *joint) {
  *joint = psdm_robot_find(robot, name);
  return *joint >= 0 ? -1 : tool_no_link("eval", option, name, robot);
}

/* one "LINK:FX,FY,FZ,MX,MY,MZ"; the name ends at the last colon */
static int take_wrench(const psdm_robot *robot, char *text, psdm_wrench *wrench) {
  char *colon = strrchr(text, ':');
  if (!colon) return tool_usage("eval", "--wrench '%s': LINK:FX,FY,FZ,MX,MY,MZ was expected", tool_safe(text));
  *colon = '\0';
  int code = find_link(robot, text, "wrench", &wrench->joint);
  if (code < 0) code = tool_must_move("eval", "wrench", robot, wrench->joint);
  if (code >= 0) return code;
  char *at = colon + 1;
  for (int i = 0; i < 6; i++) {
    char *comma = strchr(at, ',');
    if (!comma != (i == 5)) return tool_usage("eval", "--wrench: six numbers were expected behind the colon");
    if (comma) *comma = '\0';
    if (!tool_parse_number(at, i < 3 ? &wrench->force[i] : &wrench->moment[i - 3]))
      return tool_usage("eval", "--wrench: '%s' is not a number", tool_safe(at));
    at = comma ? comma + 1 : at;
  }
  return -1;
}

static int take_wrenches(job *j) {
  char text[1024];
  if (strlen(j->set.wrench) >= sizeof text) return tool_usage("eval", "--wrench is too long");
  snprintf(text, sizeof text, "%s", j->set.wrench);
  for (char *at = text, *next; at; at = next) {
    next = strchr(at, ';');
    if (next) *next++ = '\0';
    if (j->options.wrench_count == (int)(sizeof j->wrenches / sizeof *j->wrenches))
      return tool_usage("eval", "--wrench: at most 16 wrenches");
    int code = take_wrench(j->robot, at, &j->wrenches[j->options.wrench_count++]);
    if (code >= 0) return code;
  }
  j->options.wrenches = j->wrenches;
  return -1;
}

/* the derived model, and its base parameters from the robot's standard ones */
static int derive_model(job *j) {
  psdm_derive_options options = {0};
  psdm_error error;
  int code = tool_assume("eval", j->set.assume, &options);
  if (code >= 0) return code;
  if (psdm_model_derive(j->robot, &options, NULL, &j->model, NULL, &error)) return tool_fail(&error);
  double *pi = calloc((size_t)psdm_model_standard_count(j->model), sizeof *pi);
  j->theta = calloc((size_t)psdm_model_l(j->model) + 1, sizeof *j->theta);
  j->scratch = calloc(psdm_eval_scratch(j->robot, j->model), sizeof *j->scratch);
  if (pi && j->theta && j->scratch) {
    psdm_robot_parameters(j->robot, pi);
    psdm_model_theta(j->model, pi, j->theta);
    j->options.model = j->model;
    j->options.theta = j->theta;
    j->options.scratch = j->scratch;
  } else {
    code = tool_no_memory("eval");
  }
  free(pi);
  return code;
}

static bool linearizes(psdm_function f) { return f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD; }

static int set_options(job *j) {
  psdm_error error;
  psdm_function f = j->function;
  bool torque = f == PSDM_F_INVERSE || f == PSDM_F_BIAS || f == PSDM_F_GRAVITY;
  j->options.friction = j->set.friction;
  j->options.friction_columns = j->set.friction;
  j->options.motor = j->set.motor;
  if (j->set.motor && !torque) return tool_usage("eval", "--motor needs inverse, bias or gravity");
  if (j->set.friction && f != PSDM_F_INVERSE && f != PSDM_F_BIAS && f != PSDM_F_FORWARD && f != PSDM_F_REGRESSOR &&
      !linearizes(f))
    return tool_usage("eval", "--friction needs inverse, bias, forward, regressor or a linearization");
  if (j->set.link) {
    int joint, code = find_link(j->robot, j->set.link, "link", &joint);
    if (code < 0 && f == PSDM_F_JACOBIAN) code = tool_must_move("eval", "link", j->robot, joint);
    if (code >= 0) return code;
    j->options.link = psdm_robot_link_name(j->robot, joint);
  } else if (f == PSDM_F_JACOBIAN || f == PSDM_F_POSE) {
    tool_default_link(j->robot, "--link selects another");
  }
  if (j->set.wrench) {
    if (f != PSDM_F_INVERSE && f != PSDM_F_FORWARD) return tool_usage("eval", "--wrench needs inverse or forward");
    int code = take_wrenches(j);
    if (code >= 0) return code;
  }
  bool needs = f != PSDM_F_REGRESSOR && f != PSDM_F_JACOBIAN && f != PSDM_F_POSE;
  if (needs && psdm_robot_ready(j->robot, &error)) return tool_fail(&error);
  if (f == PSDM_F_FORWARD || f == PSDM_F_LINEARIZE_FORWARD || f == PSDM_F_INVERSE_MASS) {
    int code = tool_regular(j->robot);
    if (code >= 0) return code;
  }
  return j->options.expanded || (f == PSDM_F_REGRESSOR && !j->set.standard) ? derive_model(j) : -1;
}

/* ---- the CSV's columns ---- */

static int header_error(const job *j, const char *format, const char *name) {
  psdm_error error = {.status = PSDM_E_PARSE, .line = psdm_csv_header_line(j->csv)};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(j->csv));
  snprintf(error.text, sizeof error.text, format, name, psdm_function_name(j->function),
           psdm_function_inputs(j->function), psdm_robot_n(j->robot));
  return tool_fail(&error);
}

static int match_columns(job *j) {
  int columns = psdm_csv_columns(j->csv);
  char name[32];
  bool *used = calloc((size_t)columns, sizeof *used);
  int code = used ? -1 : tool_no_memory("eval");
  for (int i = 0; i < j->inputs && code < 0; i++) {
    psdm_eval_input_name(j->robot, j->function, i, name, sizeof name);
    j->column[i] = psdm_csv_find(j->csv, name);
    if (j->column[i] < 0) code = header_error(j, "column '%s' is missing; %s needs %s, each 1 to %d", name);
    else used[j->column[i]] = true;
  }
  for (int c = 0; c < columns && code < 0 && !j->set.ignore_extra; c++)
    if (!used[c])
      code = header_error(j, "column '%s' is not one that %s needs (%s, each 1 to %d); --ignore-extra skips it",
                          tool_safe(psdm_csv_name(j->csv, c)));
  free(used);
  return code;
}

static int open_files(job *j) {
  psdm_error error;
  if (strcmp(j->set.in, "-") == 0 && isatty(STDIN_FILENO))
    tool_note("reading states from the terminal until Ctrl-D; --in FILE reads a file");
  tool_input(j->set.in);
  if (psdm_csv_open(j->set.in, NULL, &j->csv, &error)) return tool_fail(&error);
  j->inputs = psdm_eval_inputs(j->robot, j->function);
  j->outputs = psdm_eval_outputs(j->robot, j->function, &j->options);
  j->column = calloc((size_t)j->inputs, sizeof *j->column);
  j->in = calloc((size_t)j->inputs, AT_ONCE * sizeof *j->in);
  j->value = calloc((size_t)j->outputs, AT_ONCE * sizeof *j->value);
  j->row = calloc((size_t)psdm_csv_columns(j->csv), sizeof *j->row);
  if (!j->column || !j->in || !j->value || !j->row) return tool_no_memory("eval");
  if (psdm_batch_new(j->robot, j->function, &j->options, 0, NULL, &j->batch, &error)) return tool_fail(&error);
  int code = match_columns(j);
  return code >= 0 ? code : tool_open(j->set.out, &j->out);
}

/* ---- rows ---- */

static const char *column_at(const void *from, int index) {
  static char name[32];
  const job *j = from;
  if (index >= j->outputs) return NULL;
  psdm_eval_output_name(j->robot, j->function, &j->options, index, name, sizeof name);
  return name;
}

/* all but the rows, which are written as they come */
static int json_header(job *j) {
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_eval_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_eval_result *r = (psdm_eval_result *)head;
  psdm_result_name_robot(head, j->robot, &r->robot, &r->fingerprint);
  r->function = psdm_function_name(j->function);
  r->settings.item = settings_values(&eval_line, &j->set, head, &r->settings.rows);
  r->columns.item = tool_texts(head, column_at, j, &r->columns.rows);
  if (psdm_result_complete(head, &error)) return tool_fail(&error);
  psdm_result_write_begin(head, j->out);
  psdm_result_free(head);
  return -1;
}

static int write_header(job *j) {
  if (j->set.json) return json_header(j);
  for (int i = 0; i < j->outputs; i++) {
    psdm_output_text(j->out, i ? "," : "");
    psdm_output_text(j->out, column_at(j, i));
  }
  psdm_output_text(j->out, "\n");
  return -1;
}

static void write_rows(job *j, long rows) {
  if (!j->set.json) psdm_output_rows(j->out, rows, j->outputs, j->value, 0);
  for (long row = 0; row < rows && j->set.json; row++)
    psdm_json_numbers(j->out, NULL, j->value + row * j->outputs, j->outputs);
}

/* the rows read so far; a state that cannot be evaluated is reported with its line */
static int evaluate(job *j, long rows) {
  long done;
  psdm_status status = psdm_batch_eval(j->batch, rows, j->in, j->value, &done);
  write_rows(j, done);
  if (!status) return -1;
  psdm_error error = {.status = status, .line = j->line[done]};
  snprintf(error.file, sizeof error.file, "%s", psdm_csv_file(j->csv));
  return tool_fail(&error);
}

/* up to this many further states; returns their number */
static long read_states(job *j, psdm_status *status, psdm_error *error) {
  long rows = 0;
  for (bool more = true; rows < AT_ONCE; rows++) {
    *status = psdm_csv_row(j->csv, j->row, &more, error);
    if (*status || !more) break;
    for (int i = 0; i < j->inputs; i++) j->in[rows * j->inputs + i] = j->row[j->column[i]];
    j->line[rows] = psdm_csv_line(j->csv);
  }
  return rows;
}

static int run(job *j) {
  psdm_error error;
  psdm_status status = PSDM_OK;
  progress bar = progress_start("evaluating", tool_file_size(j->set.in));
  int code = write_header(j);
  long got = AT_ONCE;
  long long rows = 0;
  for (; got == AT_ONCE && code < 0 && !status && !psdm_output_failed(j->out); rows += got) {
    got = read_states(j, &status, &error);
    code = evaluate(j, got);
    progress_show(&bar, psdm_csv_bytes(j->csv), rows, "states");
  }
  progress_end(&bar);
  tool_detail("%s of %lld states, %.3g us each", psdm_function_name(j->function), rows,
              1e6 * (tool_now() - bar.started) / (double)(rows ? rows : 1));
  if (code >= 0) return code;
  if (status) return tool_fail(&error);
  if (j->set.json) psdm_result_write_end(j->out);
  return tool_commit(&j->out);
}

int cmd_eval(int argc, char **argv) {
  job j = {0};
  const char *arguments[2];
  int code = settings_parse(&eval_line, argc, argv, &j.set, arguments);
  if (code < 0) code = choose_function(&j, arguments[1]);
  if (code < 0) code = tool_load("eval", arguments[0], PSDM_ROBOT_SETTINGS_OF(&j.set), &j.robot);
  if (code < 0) code = set_options(&j);
  if (code < 0) code = open_files(&j);
  if (code < 0) code = run(&j);
  job_free(&j);
  return code;
}
