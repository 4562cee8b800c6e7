/* cmd_bench.c: psdm bench: operations and time of generated code beside the recursions. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "bench_run.h"

#define BENCH_SETTINGS(X)                                                                       \
  X(text, functions, "usual", "LIST", "functions, separated by commas; usual: up to pose; all") \
  X(text, method, "all", "all|auto|recursive|expanded",                                         \
    "recursive, expanded (from the closed form), auto (what codegen takes), or all")            \
  X(text, optimise, "latency", "latency|throughput",                                            \
    "schedule statements for the latency of one call or the throughput of many")                \
  X(number, effort, "50", "N",                                                                  \
    "restarts without improvement before the search for fewer operations ends; 0: no search")   \
  X(number, repeat, "50", "N", "rounds; the best one counts")                                   \
  X(text, compiler, "", "COMMAND", "C compiler (default: $CC, else cc)")                        \
  X(flag, json, "", "", "write one JSON object")                                                \
  PSDM_ROBOT_SETTINGS(X)

typedef struct bench_settings {
  BENCH_SETTINGS(PSDM_SETTINGS_FIELD)
} bench_settings;

#define SETTINGS_STRUCT bench_settings
static const psdm_setting settings[] = {BENCH_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Generates a robot's dynamics as code, compiles it with the system's C compiler, compares every number with the "
    "recursions, and\n"
    "measures: operations, bytes of machine code, nanoseconds per call (sines included), nanoseconds per state in "
    "batches of 64 on\n"
    "vectors; beside them the library's recursion, the baseline.\n"
    "Exit 1 when an error is above 1e-12, 2 when there is no compiler. Compiled code is kept: $PSDM_CACHE, else "
    "~/.cache/psdm.\n\n"
    "examples:\n"
    "  psdm bench robots/kuka_kr6.yaml\n"
    "  psdm bench robots/kuka_kr6.yaml --functions inverse,forward --method auto --json\n"
    "  CC=clang psdm bench robots/kuka_lbr7.yaml --optimise throughput\n";

const command_line bench_line = {"bench", settings, positional, help};

/* larger errors are not rounding */
static const double tolerance = 1e-12;

enum { EXPANDED_LINKS = 8 }; /* above this, the expanded model is far too large; codegen's auto uses the same bound */

/* ---- options ---- */

static const char *const methods[] = {"all", "auto", "recursive", "expanded"};
enum { METHODS = sizeof methods / sizeof *methods };

static int parse_options(const bench_settings *set, int *method, psdm_code_options *o) {
  for (*method = 0; *method < METHODS && strcmp(methods[*method], set->method) != 0;) ++*method;
  if (*method == METHODS) {
    const char *near = tool_nearest(set->method, methods, METHODS);
    return tool_usage("bench", "--method '%s': one of all, auto, recursive, expanded was expected%s%s",
                      tool_safe(set->method), near ? "; did you mean " : "", near ? near : "");
  }
  o->throughput = strcmp(set->optimise, "throughput") == 0;
  if (!o->throughput && strcmp(set->optimise, "latency") != 0)
    return tool_usage("bench", "--optimise '%s': latency or throughput was expected", tool_safe(set->optimise));
  if (!(set->repeat >= 1 && set->repeat <= 1e6) || set->repeat != (int)set->repeat)
    return tool_usage("bench", "--repeat: a whole number from 1 to 1000000 was expected");
  o->target = PSDM_CODE_SIMD;
  o->prefix = "arm"; /* the machine code does not depend on the robot's name */
  o->effort = set->effort > 0 ? (int)set->effort : -1;
  return tool_functions("bench", set->functions, &o->functions, &o->optional);
}

/* ---- the work ---- */

/* functions whose only row is by this method, and which have a second method */
static unsigned lacking(const bench *b, const char *method) {
  unsigned functions = 0;
  for (int k = 0; k < b->rows; k++)
    if (strcmp(b->row[k].method, method) == 0 && b->row[k].function != PSDM_CODE_JACOBIAN &&
        b->row[k].function != PSDM_CODE_POSE)
      functions |= 1u << b->row[k].function;
  return functions;
}

static int add_other(bench *b, const bench_settings *set, psdm_code_options o, psdm_code_method method,
                     unsigned functions) {
  if (!functions) return -1;
  o.method = method;
  o.functions = functions;
  return bench_add(b, &o, false, set->compiler);
}

/* progress over all functions, known to bench_add, instead of one */
static bool generating(void *search, const char *doing, double share) {
  (void)share;
  return tool_searching(search, doing, -1);
}

static int add_rows(bench *b, const bench_settings *set, int method, psdm_code_options o, tool_search *search) {
  o.progress = generating;
  o.progress_user = search;
  bool both = method == 0, large = psdm_robot_links(b->robot) > EXPANDED_LINKS;
  o.method = both || method == 1 ? PSDM_CODE_AUTO : method == 2 ? PSDM_CODE_RECURSIVE : PSDM_CODE_EXPANDED;
  int code = bench_add(b, &o, o.method == PSDM_CODE_AUTO, set->compiler);
  if (code >= 0 || !both) return code;
  unsigned by_recursion = lacking(b, "expanded"), expanded = large ? 0 : lacking(b, "recursive");
  code = add_other(b, set, o, PSDM_CODE_RECURSIVE, by_recursion);
  return code < 0 ? add_other(b, set, o, PSDM_CODE_EXPANDED, expanded) : code;
}

/* ---- results ---- */

static double worst_error(const bench *b) {
  double worst = 0;
  for (int k = 0; k < b->rows; k++)
    if (!(b->row[k].error <= worst)) worst = b->row[k].error;
  return worst;
}

/* the row of a function to report: what auto takes, else the only one */
static const bench_row *row_of(const bench *b, int f) {
  const bench_row *found = NULL;
  for (int k = 0; k < b->rows; k++)
    if ((int)b->row[k].function == f && (!found || b->row[k].chosen)) found = &b->row[k];
  return found;
}

static void print_row(const bench *b, const bench_row *r, bool first) {
  const psdm_cost *c = &r->cost;
  printf("  %-17s%c %-10s %6ld %6ld %4ld %4ld %6ld %7zu %9.1f %9.1f", first ? psdm_code_function_name(r->function) : "",
         r->chosen ? '*' : ' ', r->method, c->mult, c->add, c->div + c->sqrt, c->sincos, c->depth, r->bytes, r->ns,
         r->ns_batch);
  if (first) printf(" %9.1f", b->library[r->function]);
  else printf(" %9s", "");
  printf("  %.1e\n", r->error);
}

static void print_text(const bench *b) {
  const psdm_compile_info *info = psdm_compiled_info(b->row[0].from);
  bool chosen = false;
  printf("%s: %d joints, %d base parameters; %s; best of %d rounds over %d states\n\n",
         tool_safe(psdm_robot_name(b->robot)), psdm_robot_n(b->robot), psdm_model_l(b->model),
         tool_safe(info->compiler), b->rounds, BENCH_STATES);
  printf("  %-17s  %-10s %6s %6s %4s %4s %6s %7s %9s %9s %9s  %s\n", "function", "method", "mult", "add", "div", "sin",
         "depth", "bytes", "ns", "ns batch", "library", "error");
  for (int f = 0; f < PSDM_CODE_FUNCTIONS; f++) {
    const bench_row *first = row_of(b, f);
    if (!first) continue;
    print_row(b, first, true);
    chosen = chosen || first->chosen;
    for (int k = 0; k < b->rows; k++)
      if ((int)b->row[k].function == f && &b->row[k] != first) print_row(b, &b->row[k], false);
  }
  printf("\n  %ssin: angles whose sine and cosine are computed; ns batch: per state, in batches of %d; library: ns of "
         "the recursion\n",
         chosen ? "*: what codegen takes; " : "", BENCH_STATES);
  const bench_row *inverse = row_of(b, PSDM_CODE_INVERSE);
  double recursion = b->library[PSDM_CODE_INVERSE];
  if (inverse)
    printf(
        "  the library's recursion takes %.1f ns: the generated inverse is %.1f times as fast, in batches %.1f times\n",
        recursion, recursion / inverse->ns, recursion / inverse->ns_batch);
  printf("  worst error against the recursions, relative to the largest number: %.1e\n", worst_error(b));
}

static psdm_timed_code timed(const bench_row *r) {
  const psdm_cost *c = &r->cost;
  return (psdm_timed_code){
      r->method, c->mult,     c->add,  c->div, c->sqrt, c->sincos, c->depth, (long)r->bytes, (long)r->bytes_batch,
      r->ns,     r->ns_batch, r->error};
}

static void put_function(psdm_result *head, const bench *b, const bench_row *r, psdm_timed_function *to) {
  psdm_timed_code *other = psdm_result_items(head, &psdm_timed_code_type, b->rows), t = timed(r);
  long others = 0;
  for (int k = 0; other && k < b->rows; k++)
    if (b->row[k].function == r->function && &b->row[k] != r) other[others++] = timed(&b->row[k]);
  *to = (psdm_timed_function){.function = psdm_code_function_name(r->function),
                              .method = t.method,
                              .mult = t.mult,
                              .add = t.add,
                              .div = t.div,
                              .sqrt = t.sqrt,
                              .sincos = t.sincos,
                              .depth = t.depth,
                              .bytes = t.bytes,
                              .bytes_batch = t.bytes_batch,
                              .ns = t.ns,
                              .ns_batch = t.ns_batch,
                              .error = t.error,
                              .library_ns = b->library[r->function]};
  PSDM_RESULT_SET(to->others, other, others);
}

/* machine and date: a time means nothing without them */
static void put_place(psdm_bench_result *r) {
  char line[256], day[32] = "", *processor = NULL;
  FILE *file = fopen("/proc/cpuinfo", "r");
  struct utsname machine;
  struct tm date;
  time_t now = time(NULL);
  while (file && !processor && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) processor = strchr(line, ':') + 1;
  if (file) fclose(file);
  if (processor) {
    processor += strspn(processor, " \t");
    processor[strcspn(processor, "\n")] = '\0';
  }
  if (gmtime_r(&now, &date)) strftime(day, sizeof day, "%Y-%m-%d", &date);
  r->processor = psdm_result_text(&r->head, processor ? processor : uname(&machine) >= 0 ? machine.machine : "unknown");
  r->date = psdm_result_text(&r->head, day);
}

static int print_json(const bench_settings *set, const bench *b) {
  const psdm_compile_info *info = psdm_compiled_info(b->row[0].from);
  psdm_result *head;
  psdm_error error;
  long functions = 0;
  if (psdm_result_new(&psdm_bench_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_bench_result *r = (psdm_bench_result *)head;
  psdm_result_name_robot(head, b->robot, &r->name, &r->fingerprint);
  r->n = psdm_robot_n(b->robot);
  r->l = psdm_model_l(b->model);
  put_place(r);
  r->compiler = psdm_result_text(head, info->compiler);
  r->cached = info->cached;
  r->states = BENCH_STATES;
  r->repeat = b->rounds;
  r->interrupted = tool_interrupted();
  r->error = worst_error(b);
  psdm_timed_function *function = psdm_result_items(head, &psdm_timed_function_type, PSDM_CODE_FUNCTIONS);
  for (int f = 0; function && f < PSDM_CODE_FUNCTIONS; f++)
    if (row_of(b, f)) put_function(head, b, row_of(b, f), &function[functions++]);
  PSDM_RESULT_SET(r->functions, function, functions);
  psdm_baseline *baseline = psdm_result_items(head, &psdm_baseline_type, 1);
  if (baseline) *baseline = (psdm_baseline){"inverse", "library's recursion", b->library[PSDM_CODE_INVERSE]};
  PSDM_RESULT_SET(r->baseline, baseline, b->library[PSDM_CODE_INVERSE] > 0);
  r->settings.item = settings_values(&bench_line, set, head, &r->settings.rows);
  return tool_answer(head);
}

static int report(const bench_settings *set, const bench *b) {
  int code = set->json ? print_json(set, b) : EXIT_OK;
  if (!set->json) print_text(b);
  if (code != EXIT_OK || worst_error(b) <= tolerance) return code;
  tool_warn("the generated code differs from the recursions by %.1e, more than rounding explains", worst_error(b));
  return EXIT_QUALITY;
}

int cmd_bench(int argc, char **argv) {
  bench_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  bench b = {0};
  int method = 0;
  psdm_code_options options = {0};
  int code = settings_parse(&bench_line, argc, argv, &set, &path);
  if (code < 0) code = parse_options(&set, &method, &options);
  if (code < 0) code = tool_load("bench", path, PSDM_ROBOT_SETTINGS_OF(&set), &robot);
  if (code < 0) code = bench_open(robot, &b);
  tool_search search = {.bar = progress_start("generating", 0), .doing = "generating"};
  progress bar = search.bar;
  tool_listen();
  if (code < 0) code = add_rows(&b, &set, method, options, &search);
  progress_end(&bar);
  bool whole = !tool_interrupted();
  if (code < 0) code = bench_verify(&b);
  if (code < 0) {
    bar = progress_start("measuring", (long long)set.repeat);
    bench_time(&b, (int)set.repeat, &bar);
    progress_end(&bar);
    if (tool_interrupted())
      tool_warn("interrupted: these are the best times of %d rounds%s", b.rounds,
                whole ? "" : ", of the functions compiled so far");
    tool_deaf();
    code = report(&set, &b);
  }
  bench_close(&b);
  psdm_robot_free(robot);
  return code;
}
