/* cmd_reduce.c: psdm reduce: a smaller model within a given error at a given confidence (Lloyd, Irani, Ahmadi 2021,
 * section 4.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_figures.h"
#include "plot.h"
#include "ranks.h"
#include "tool.h"

#define REDUCE_SETTINGS(X)                                                                                           \
  X(text, profile, "slow", "slow|fast|FILE.csv", "operating states: slow, fast, or rows of q1.. qd1.. qdd1..")       \
  X(number, error, "0.01", "E", "largest |tau - reduced tau| / |tau| (with --forward: of accelerations)")            \
  X(number, confidence, "0.95", "C", "share of the states that must be within it")                                   \
  X(flag, forward, "", "",                                                                                           \
    "reduce forward dynamics: functions of velocities and gravity are dropped before those of accelerations")        \
  X(number, samples, "1000000", "N", "states that verify the result")                                                \
  X(text, device, "cpu", "cpu|cuda", "where these states are evaluated: CPU, or GPU (needs nvcc; for 10^8 samples)") \
  X(number, seed, "1", "S", "random seed of the states; the same seed gives the same model")                         \
  X(text, out, "", "DIR", "write model.json and the reduced code into this folder")                                  \
  X(flag, table, "", "", "operations at two and three digits, slow and fast, at 95 and 99.9 %")                      \
  X(flag, figures, "", "", "with --json: contributions and the trade-off, slow and fast, for psdm report")           \
  X(flag, json, "", "", "write one JSON object")                                                                     \
  PSDM_ROBOT_SETTINGS(X)

typedef struct reduce_settings {
  REDUCE_SETTINGS(PSDM_SETTINGS_FIELD)
} reduce_settings;

#define SETTINGS_STRUCT reduce_settings
static const psdm_setting settings[] = {REDUCE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Leaves functions out of the derived model until it is just within an error at a confidence (Lloyd, Irani, Ahmadi "
    "2021, section 4.3):\n"
    "functions are ranked by their mean share of the torque over a profile of states, those that matter least go, the "
    "parameters of what\n"
    "is left are fitted again, and the result is verified at fresh states. Operations are compared with the full "
    "closed form's and with\n"
    "the exact recursion's. Exit 1 when the error cannot be met.\n\n"
    "profiles: q in +-pi; slow: qd in +-0.1 rad/s, qdd in +-1 rad/s^2; fast: qd in +-1, qdd in +-10; sliding joints "
    "between their limits.\n\n"
    "examples:\n"
    "  psdm reduce robots/kuka_kr6.yaml\n"
    "  psdm reduce robots/kuka_kr6.yaml --profile fast --error 0.001 --confidence 0.999\n"
    "  psdm reduce robots/kuka_kr6.yaml --out kr6_small\n"
    "  psdm reduce robots/kuka_kr6.yaml --table\n"
    "  psdm reduce robots/kuka_kr6.yaml --table --figures --json > kr6.json && psdm report kr6.json --out kr6.html\n";

const command_line reduce_line = {"reduce", settings, positional, help};

/* All data of one run. */
typedef struct job {
  const reduce_settings *set;
  psdm_robot *robot;
  psdm_model *model, *reduced;
  psdm_reducer *reducer;
  psdm_profile profile;
  double *states; /* of a CSV */
  psdm_reduce_info info;
  psdm_cost full, recursion, less;
  figure_profile figure[FIGURE_PROFILES];
  int figures;
  table_cell table[TABLE_CELLS];
  bool tabled;
  bool stopped; /* by an interrupt: table and figures may be missing */
  progress bar;
} job;

static long operations(const psdm_cost *c) { return c->mult + c->add + c->div; }

static double fewer(const psdm_cost *less, const psdm_cost *than) {
  return operations(than) ? 100 * (1 - (double)operations(less) / (double)operations(than)) : 0;
}

/* "83.6 % fewer" */
static const char *difference(const psdm_cost *less, const psdm_cost *than, char text[32]) {
  double x = fewer(less, than);
  snprintf(text, 32, "%.1f %% %s", fabs(x), x < 0 ? "more" : "fewer");
  return text;
}

/* ---- profiles ---- */

/* rows of q, qd, qdd in the order of psdm_eval's names */
static int read_rows(job *j, psdm_csv *csv, const int *column, int columns, psdm_error *error) {
  long room = 0;
  double *row = calloc((size_t)psdm_csv_columns(csv) + 1, sizeof *row);
  bool more = row != NULL, memory = more;
  psdm_status status = PSDM_OK;
  while (memory && !(status = psdm_csv_row(csv, row, &more, error)) && more) {
    if (j->profile.count == room) {
      room = room ? 2 * room : 1024;
      double *larger = realloc(j->states, (size_t)room * (size_t)columns * sizeof *larger);
      memory = larger != NULL;
      if (!memory) break;
      j->states = larger;
    }
    for (int k = 0; k < columns; k++) j->states[j->profile.count * columns + k] = row[column[k]];
    j->profile.count++;
  }
  free(row);
  j->profile.states = j->states;
  if (!memory) *error = (psdm_error){.status = PSDM_E_MEMORY, .text = "out of memory"};
  return status || !memory ? tool_fail(error) : -1;
}

static int read_profile(job *j, const char *path) {
  psdm_csv *csv;
  psdm_error error;
  int columns = psdm_eval_inputs(j->robot, PSDM_F_INVERSE), code = -1;
  int *column = calloc((size_t)columns + 1, sizeof *column);
  if (!column) return EXIT_USAGE;
  tool_input(path);
  if (psdm_csv_open(path, NULL, &csv, &error)) {
    free(column);
    return tool_fail(&error);
  }
  for (int k = 0; k < columns && code < 0; k++) {
    char name[32];
    psdm_eval_input_name(j->robot, PSDM_F_INVERSE, k, name, sizeof name);
    column[k] = psdm_csv_find(csv, name);
    if (column[k] >= 0) continue;
    error = (psdm_error){.status = PSDM_E_PARSE, .line = psdm_csv_header_line(csv)};
    snprintf(error.file, sizeof error.file, "%.250s", psdm_csv_file(csv));
    snprintf(error.text, sizeof error.text, "missing column '%s'; a profile needs q1.. qd1.. qdd1..", name);
    code = tool_fail(&error);
  }
  /* room that doubles */
  if (code < 0 && psdm_csv_fits(csv, 3 * sizeof(double) * (size_t)columns, psdm_robot_memory(j->robot), &error))
    code = tool_fail(&error);
  if (code < 0) code = read_rows(j, csv, column, columns, &error);
  if (code < 0 && j->profile.count < 10) {
    error = (psdm_error){.status = PSDM_E_PARSE};
    snprintf(error.file, sizeof error.file, "%.250s", psdm_csv_file(csv));
    snprintf(error.text, sizeof error.text, "%ld states are too few for a profile", j->profile.count);
    code = tool_fail(&error);
  }
  psdm_csv_close(csv);
  free(column);
  return code;
}

static int set_profile(job *j) {
  const char *name = j->set->profile;
  j->profile = strcmp(name, "fast") == 0 ? psdm_profile_fast() : psdm_profile_slow();
  return strcmp(name, "slow") == 0 || strcmp(name, "fast") == 0 ? -1 : read_profile(j, name);
}

static const char *profile_name(const job *j) { return j->profile.count ? "listed" : j->set->profile; }

/* ---- work ---- */

static int check_settings(const reduce_settings *set) {
  if (!(set->error > 0 && set->error < 1)) return tool_usage("reduce", "--error must lie between 0 and 1");
  if (!(set->confidence > 0 && set->confidence < 1))
    return tool_usage("reduce", "--confidence must lie between 0 and 1");
  if (!(set->samples >= 1000 && set->samples <= 4e9) || set->samples != floor(set->samples))
    return tool_usage("reduce", "--samples must be a whole number from 1000 to 4e9");
  if (!(set->seed >= 0 && set->seed <= 9e15) || set->seed != floor(set->seed))
    return tool_usage("reduce", "--seed must be a whole number");
  if (set->figures && !set->json) return tool_usage("reduce", "--figures needs --json; psdm report draws them");
  return -1;
}

/* after an interrupt a finished reduction is still a result: no text */
static int fail(const job *j, const psdm_error *error) {
  return j->reduced && tool_stopped(error) ? EXIT_INTERRUPTED : tool_fail(error);
}

static int start_reducer(job *j, const psdm_profile *profile, bool medians, psdm_reducer **reducer) {
  psdm_error error;
  psdm_reduce_options options = {.profile = *profile,
                                 .samples = (long)j->set->samples,
                                 .seed = (unsigned long long)j->set->seed,
                                 .forward = j->set->forward,
                                 .medians = medians,
                                 .cuda = strcmp(j->set->device, "cuda") == 0,
                                 .ranks = ranks_all(),
                                 .progress = progress_words,
                                 .progress_user = &j->bar};
  return psdm_reducer_new(j->robot, j->model, &options, NULL, reducer, &error) ? fail(j, &error) : -1;
}

static int reduce_to(const job *j, psdm_reducer *reducer, double wanted, double confidence, psdm_model **reduced,
                     psdm_reduce_info *info) {
  psdm_error error;
  return psdm_reducer_reduce(reducer, wanted, confidence, reduced, info, &error) ? fail(j, &error) : -1;
}

static psdm_function asked(const job *j) { return j->set->forward ? PSDM_F_FORWARD : PSDM_F_INVERSE; }

/* operations of the chosen function: of a model, or of the robot by a method */
static int count(job *j, const psdm_model *model, psdm_code_method method, psdm_cost *cost) {
  psdm_error error;
  psdm_code *code;
  psdm_code_options options = {.functions = 1u << asked(j), .method = method};
  psdm_status status = model ? psdm_code_build_model(j->robot, model, &options, NULL, &code, &error)
                             : psdm_code_build(j->robot, &options, NULL, &code, &error);
  if (status) return tool_fail(&error);
  psdm_code_at(code, 0, cost, NULL);
  psdm_code_free(code);
  return -1;
}

/* the banner's command line, which reproduces this */
static void command_text(const job *j, char *text, size_t size) {
  snprintf(text, size, "psdm reduce %s --profile %s --error %g --confidence %g --samples %.0f --seed %.0f%s",
           tool_safe(psdm_robot_name(j->robot)), profile_name(j), j->set->error, j->set->confidence, j->set->samples,
           j->set->seed, j->set->forward ? " --forward" : "");
}

static int write_out(job *j) {
  char path[4096], command[512];
  psdm_error error;
  psdm_code *code;
  int n = snprintf(path, sizeof path, "%s/model.json", j->set->out), result = plot_directory(j->set->out);
  if (result >= 0) return result;
  if (n >= (int)sizeof path) return tool_usage("reduce", "--out: the name is too long");
  if (psdm_model_save(j->reduced, j->robot, path, &error)) return tool_fail(&error);
  command_text(j, command, sizeof command);
  unsigned always = 1u << PSDM_F_GRAVITY | 1u << PSDM_F_BIAS | 1u << PSDM_F_INVERSE;
  psdm_code_options options = {.functions = always | (j->set->forward ? 1u << PSDM_F_FORWARD | 1u << PSDM_F_MASS : 0),
                               .command = command};
  if (psdm_code_build_model(j->robot, j->reduced, &options, NULL, &code, &error)) return tool_fail(&error);
  psdm_status status = psdm_code_write(code, j->set->out, &error);
  psdm_code_free(code);
  return status ? tool_fail(&error) : -1;
}

/* ---- text ---- */

static void print_cost(const char *name, const psdm_cost *c, const psdm_cost *than) {
  char text[32];
  printf("  %-20s %7ld %7ld %5ld %8ld%s%s\n", name, c->mult, c->add, c->div, operations(c), than ? "   " : "",
         than ? difference(c, than, text) : "");
}

static void print_text(const job *j) {
  const psdm_reduce_info *i = &j->info;
  double against = fewer(&j->less, &j->recursion);
  printf("%s, %s profile: keeps %ld of %ld functions and %d of %d base parameters\n\n",
         tool_safe(psdm_robot_name(j->robot)), profile_name(j), i->functions, i->functions_before, i->parameters,
         i->parameters_before);
  printf("  %s error at %.4g %% confidence: %.3g %% (%.2f digits), verified at %ld states\n",
         j->set->forward ? "acceleration" : "torque", 100 * j->set->confidence, 100 * i->error, i->digits, i->samples);
  printf("  half of the states: %.3g %%; 99.9 %% of them: %.3g %%\n\n", 100 * i->error_half, 100 * i->error_most);
  printf("  %-20s %7s %7s %5s %8s\n", j->set->forward ? "forward dynamics" : "inverse dynamics", "mult", "add", "div",
         "in all");
  print_cost("full closed form", &j->full, NULL);
  print_cost("reduced", &j->less, &j->full);
  print_cost("exact recursion", &j->recursion, &j->full);
  if (operations(&j->less) > operations(&j->full))
    printf("  dropping functions breaks up shared sums: the full closed form has fewer operations\n");
  if (against > 0) printf("  the reduced model has %.1f %% fewer operations than the exact recursion\n", against);
  else
    printf("  the exact recursion is better: it is exact, and has %.1f %% of the reduced model's operations\n",
           100.0 * (double)operations(&j->recursion) / (double)operations(&j->less));
}

static psdm_operations counted(const psdm_cost *c) { return (psdm_operations){c->mult, c->add, c->div}; }

static int write_json(const job *j) {
  const psdm_reduce_info *i = &j->info;
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_reduce_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_reduce_result *r = (psdm_reduce_result *)head;
  psdm_result_name_robot(head, j->robot, &r->name, &r->fingerprint);
  r->profile = profile_name(j);
  r->forward = j->set->forward;
  r->error_wanted = j->set->error, r->confidence = j->set->confidence;
  r->reached = i->reached, r->interrupted = i->stopped, r->stopped = j->stopped;
  r->error = i->error, r->digits = i->digits, r->error_half = i->error_half, r->error_999 = i->error_most;
  r->samples = i->samples;
  r->p = i->functions, r->p_before = i->functions_before;
  r->l = i->parameters, r->l_before = i->parameters_before;
  r->full = counted(&j->full), r->reduced = counted(&j->less), r->recursion = counted(&j->recursion);
  r->wins = fewer(&j->less, &j->recursion) > 0 ? "reduced" : "recursion";
  if (j->tabled) PSDM_RESULT_SET(r->table, figure_table(head, j->table), TABLE_CELLS);
  if (j->figures) PSDM_RESULT_SET(r->figures, figure_profiles(head, j->figure, j->figures), j->figures);
  return tool_answer(head);
}

/* ---- the table: Lloyd, Irani, Ahmadi (2021), Table 3, in operations ---- */

static int fill_cell(job *j, psdm_reducer *reducer, table_cell *cell) {
  psdm_model *reduced = NULL;
  int code = reduce_to(j, reducer, cell->error, cell->confidence, &reduced, &cell->info);
  if (code < 0 && cell->info.stopped) code = EXIT_INTERRUPTED;
  if (code < 0) code = count(j, reduced, PSDM_CODE_EXPANDED, &cell->cost);
  psdm_model_free(reduced);
  return code;
}

/* cells by digits, then profile, then confidence; grouping by profile is the fastest order to compute them */
static int fill_table(job *j) {
  int code = -1;
  j->bar = progress_start("table", 100);
  for (int p = 0; p < 2 && code < 0; p++) {
    psdm_profile profile = p ? psdm_profile_fast() : psdm_profile_slow();
    psdm_reducer *reducer = NULL;
    code = start_reducer(j, &profile, false, &reducer);
    for (int k = 0; k < 4 && code < 0; k++) {
      table_cell *cell = &j->table[4 * (k / 2) + 2 * p + k % 2];
      *cell = (table_cell){
          .profile = figure_names[p], .error = pow(10, -2 - k / 2), .confidence = figure_confidences[k % 2]};
      code = fill_cell(j, reducer, cell);
    }
    psdm_reducer_free(reducer);
  }
  progress_end(&j->bar);
  j->tabled = code < 0;
  return code;
}

static void print_cell(const job *j, const table_cell *cell) {
  char how[32];
  printf(" %6ld %6ld  %-12s%s", cell->info.functions, operations(&cell->cost), difference(&cell->cost, &j->full, how),
         operations(&cell->cost) < operations(&j->recursion) ? " *" : "  ");
}

static void print_table(const job *j) {
  printf("\n  functions, operations    %-31s %s\n", "  95 % confidence", "  99.9 % confidence");
  for (int k = 0; k < TABLE_CELLS; k += 2) {
    if (k % 4 == 0) printf("  %d correct digits (%g %% error)\n", k / 4 + 2, k ? 0.1 : 1.0);
    printf("    %-20s", j->table[k].profile);
    print_cell(j, &j->table[k]);
    print_cell(j, &j->table[k + 1]);
    printf("\n");
  }
  printf("  * fewer than the exact recursion's %ld\n", operations(&j->recursion));
}

/* ---- the figures ---- */

/* sizes evenly spaced on a logarithmic axis, from 16 functions, or a sixteenth if there are few, to all */
static long size_at(long functions, int k) {
  double least = functions < 16 ? 1 : functions < 256 ? (double)functions / 16 : 16;
  long size = lround(least * pow((double)functions / least, (double)k / (FIGURE_SIZES - 1)));
  return size < 1 ? 1 : size > functions ? functions : size;
}

static int fill_sizes(job *j, psdm_reducer *reducer, figure_profile *p) {
  int code = -1;
  for (int k = 0; k < FIGURE_SIZES && code < 0; k++) {
    figure_size *at = &p->size[p->sizes];
    psdm_model *reduced = NULL;
    psdm_error error;
    psdm_cost cost;
    *at = (figure_size){.functions = size_at(p->functions, k)};
    if (p->sizes && at->functions == at[-1].functions) continue;
    if (psdm_reducer_errors(reducer, at->functions, figure_confidences, at->error, &error) ||
        psdm_reducer_keep(reducer, at->functions, &reduced, &error))
      code = fail(j, &error);
    if (code < 0) code = count(j, reduced, PSDM_CODE_EXPANDED, &cost);
    if (code < 0) at->operations = operations(&cost), p->sizes++;
    psdm_model_free(reduced);
    if (!progress_show(&j->bar, 100 * k / FIGURE_SIZES, 100 * k / FIGURE_SIZES, "% of the figures") && code < 0)
      code = EXIT_INTERRUPTED;
  }
  return code;
}

static int fill_figures(job *j) {
  psdm_profile profile[FIGURE_PROFILES] = {psdm_profile_slow(), psdm_profile_fast()};
  int code = -1;
  int figures = j->profile.count ? 1 : FIGURE_PROFILES;
  j->bar = progress_start("figures", 100);
  if (j->profile.count) profile[0] = j->profile;
  for (int k = 0; k < figures && code < 0; k++) {
    figure_profile *p = &j->figure[k];
    psdm_reducer *reducer = NULL;
    *p = (figure_profile){.name = j->profile.count ? profile_name(j) : figure_names[k],
                          .functions = psdm_model_p(j->model)};
    code = start_reducer(j, &profile[k], true, &reducer);
    if (code < 0) figure_count(reducer, p);
    if (code < 0) code = fill_sizes(j, reducer, p);
    psdm_reducer_free(reducer);
  }
  progress_end(&j->bar);
  if (code < 0) j->figures = figures;
  return code;
}

/* ---- the command ---- */

/* optional, and skipped after an interrupt */
static int run_extras(job *j) {
  bool asked_for = j->set->figures || j->set->table;
  int code = tool_interrupted() && asked_for ? EXIT_INTERRUPTED : -1;
  if (code < 0 && j->set->figures) code = fill_figures(j);
  if (code < 0 && j->set->table) code = fill_table(j);
  j->stopped = tool_interrupted();
  if (!j->stopped || code < 0) return code;
  if (!j->info.stopped) tool_warn("interrupted: the reduced model is complete; the remaining output is omitted");
  return -1;
}

static int run(job *j) {
  psdm_error error;
  int code = -1;
  if (psdm_robot_ready(j->robot, &error) || psdm_model_derive(j->robot, NULL, NULL, &j->model, NULL, &error))
    return tool_fail(&error);
  if (ranks_helper())
    return psdm_reducer_help(j->robot, j->model, &(psdm_reduce_options){.ranks = ranks_all()}, NULL, &error)
               ? tool_fail(&error)
               : EXIT_OK;
  code = set_profile(j);
  j->bar = progress_start("reducing", 100);
  progress_lacking("no result yet");
  tool_listen();
  if (code < 0) code = start_reducer(j, &j->profile, false, &j->reducer);
  progress_lacking(NULL);
  if (code < 0) code = reduce_to(j, j->reducer, j->set->error, j->set->confidence, &j->reduced, &j->info);
  progress_end(&j->bar);
  if (code < 0 && j->info.stopped)
    tool_warn("interrupted: this is the best so far, verified at %ld states; a smaller model may suffice",
              j->info.samples);
  if (code < 0)
    tool_detail("%ld of %ld functions kept, verified at %ld states, %.3g s", j->info.functions,
                j->info.functions_before, j->info.samples, j->info.seconds);
  if (code < 0) code = count(j, NULL, PSDM_CODE_EXPANDED, &j->full);
  if (code < 0) code = count(j, NULL, PSDM_CODE_RECURSIVE, &j->recursion);
  if (code < 0) code = count(j, j->reduced, PSDM_CODE_EXPANDED, &j->less);
  if (code < 0 && j->set->out) code = write_out(j);
  if (code < 0) code = run_extras(j);
  tool_deaf();
  if (code < 0 && j->set->json) code = write_json(j);
  if (code < 0 && !(tool_quiet() && j->set->out)) print_text(j);
  if (code < 0 && j->tabled) print_table(j);
  if (code > EXIT_OK) return code;
  if (!j->info.reached) tool_warn("the error could not be reduced to %.3g; it is %.3g", j->set->error, j->info.error);
  return j->info.reached ? EXIT_OK : EXIT_QUALITY;
}

int cmd_reduce(int argc, char **argv) {
  reduce_settings set;
  const char *path;
  job j = {.set = &set};
  int code = settings_parse(&reduce_line, argc, argv, &set, &path);
  if (code < 0) code = check_settings(&set);
  if (code < 0) code = tool_load("reduce", path, PSDM_ROBOT_SETTINGS_OF(&set), &j.robot);
  if (code < 0) code = run(&j);
  psdm_reducer_free(j.reducer);
  psdm_model_free(j.reduced);
  psdm_model_free(j.model);
  psdm_robot_free(j.robot);
  free(j.states);
  return code;
}
