/* cmd_codegen.c: psdm codegen: the dynamics as straight-line C, with a self-test. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define CODEGEN_SETTINGS(X)                                                                                            \
  X(text, out, "", "DIR",                                                                                              \
    "output folder for PREFIX.h, PREFIX.c, PREFIX_selftest.c, Makefile and more; created if missing")                  \
  X(text, functions, "usual", "LIST", "functions, separated by commas; usual: up to pose; all")                        \
  X(text, method, "auto", "auto|recursive|expanded",                                                                   \
    "recursive, expanded (from the closed form), or auto: whichever is cheaper")                                       \
  X(text, real, "double", "double|float", "type of all numbers")                                                       \
  X(text, target, "c", "c|simd|cuda", "C99; C99 with SIMD batches; CUDA kernels beside the C99")                       \
  X(text, theta, "baked", "baked|argument", "base parameters as constants in the code, or as the first argument")      \
  X(text, prefix, "", "NAME", "prefix of all names (default: the robot's name)")                                       \
  X(text, optimise, "latency", "latency|throughput",                                                                   \
    "schedule statements for the latency of one call or the throughput of many")                                       \
  X(text, sincos, "polynomial", "polynomial|libm|caller", "sines inlined, from libm, or as arguments s and c")         \
  X(flag, gravity_argument, "", "", "gravity vector as an argument")                                                   \
  X(flag, payload, "", "", "ten standard parameters of a body at the tip of the longest moving chain, as an argument") \
  X(flag, wrench, "", "",                                                                                              \
    "force and moment at the tip of the longest moving chain as an argument (inverse, bias, forward)")                 \
  X(flag, friction_columns, "", "", "regressor: add columns of Coulomb and viscous friction")                          \
  X(flag, drive_columns, "", "", "regressor: add columns of drive inertias")                                           \
  X(text, wrap, "", "LIST", "wrappers around the functions, separated by commas: casadi, fmu")                         \
  X(text, link, "", "NAME|NUMBER",                                                                                     \
    "link or joint for jacobian and pose (default: the tip of the longest moving chain)")                              \
  X(number, effort, "50", "N",                                                                                         \
    "restarts without improvement before the search for fewer operations ends; 0: no search")                          \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  PSDM_ROBOT_SETTINGS(X)

typedef struct codegen_settings {
  CODEGEN_SETTINGS(PSDM_SETTINGS_FIELD)
} codegen_settings;

#define SETTINGS_STRUCT codegen_settings
static const psdm_setting settings[] = {CODEGEN_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Writes a robot's dynamics as straight-line C without state or allocation, which needs only libm. The folder is "
    "self-contained:\n"
    "'make check' in it compiles the code and runs its self-test against numbers from the recursions here.\n"
    "\n"
    "functions:\n"
#define FUNCTION_HELP(id, name, text) "  " name "\t" text "\n"
    PSDM_CODE_FUNCTION_LIST(FUNCTION_HELP)
#undef FUNCTION_HELP
        "\nwrappers:\n"
#define WRAP_HELP(id, name, text) "  " name "\t" text "\n"
    PSDM_CODE_WRAP_LIST(WRAP_HELP)
#undef WRAP_HELP
        "\nexamples:\n"
        "  psdm codegen robots/kuka_kr6.yaml --out kr6\n"
        "  psdm codegen robots/kuka_kr6.yaml --out kr6 --functions inverse,mass --target simd --optimise throughput\n"
        "  psdm codegen robots/denso_vs6556g.yaml --out denso --theta argument --functions inverse,regressor "
        "--friction-columns\n"
        "  psdm codegen robots/kuka_kr6.yaml --out arm --real float --prefix arm --functions inverse,forward "
        "--payload\n"
        "  psdm codegen robots/kuka_kr6.yaml --out gpu --target cuda --real float --functions "
        "inverse,forward,regressor\n"
        "  psdm codegen robots/kuka_kr6.yaml --out kr6 --functions inverse,forward --wrap casadi,fmu\n";

const command_line codegen_line = {"codegen", settings, positional, help};

/* ---- options ---- */

/* index of a word */
static int choice(const char *what, const char *text, const char *const *words, size_t count, int *index) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(words[i], text) == 0) {
      *index = (int)i;
      return -1;
    }
  return tool_unknown("codegen", what, text, words, count);
}

#define CHOICE(set, name, index, ...)                                 \
  choice("--" #name, (set)->name, (const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), index)

/* "casadi,fmu" as bits */
static int parse_wraps(const char *text, unsigned *wraps) {
  const char *words[PSDM_CODE_WRAPS];
  int index = 0, code = -1;
  for (int k = 0; k < PSDM_CODE_WRAPS; k++) words[k] = psdm_code_wrap_name((psdm_code_wrap)k);
  while (text && code < 0) {
    char word[32];
    size_t length = strcspn(text, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    code = choice("--wrap", word, words, PSDM_CODE_WRAPS, &index);
    *wraps |= 1u << index;
    text = text[length] ? text + length + 1 : NULL;
  }
  return code;
}

static int parse_options(const codegen_settings *set, psdm_code_options *o) {
  int method = 0, single = 0, target = 0, theta = 0, throughput = 0, sincos = 0;
  int code = set->out ? -1 : tool_usage("codegen", "missing --out DIR: the folder to write to");
  if (code < 0) code = CHOICE(set, method, &method, "auto", "recursive", "expanded");
  if (code < 0) code = CHOICE(set, real, &single, "double", "float");
  if (code < 0) code = CHOICE(set, target, &target, "c", "simd", "cuda");
  if (code < 0) code = CHOICE(set, theta, &theta, "baked", "argument");
  if (code < 0) code = CHOICE(set, optimise, &throughput, "latency", "throughput");
  if (code < 0) code = CHOICE(set, sincos, &sincos, "polynomial", "libm", "caller");
  if (code < 0) code = tool_functions("codegen", set->functions, &o->functions, &o->optional);
  if (code < 0) code = parse_wraps(set->wrap, &o->wraps);
  if (code < 0 && (set->friction_columns || set->drive_columns) && !(o->functions >> PSDM_CODE_REGRESSOR & 1))
    code = tool_usage("codegen", "--%s-columns needs the function regressor",
                      set->friction_columns ? "friction" : "drive");
  o->method = (psdm_code_method)method;
  o->real_float = single;
  o->target = (psdm_code_target)target;
  o->theta_argument = theta;
  o->throughput = throughput;
  o->sincos = (psdm_code_sincos)sincos;
  o->gravity_argument = set->gravity_argument;
  o->payload_argument = set->payload;
  o->wrench_argument = set->wrench;
  o->friction_columns = set->friction_columns;
  o->drive_columns = set->drive_columns;
  o->prefix = set->prefix;
  o->effort = set->effort > 0 ? (int)set->effort : -1;
  return code;
}

/* --link, by name or as a joint counted from 1 */
static int find_link(const char *text, const psdm_robot *robot, psdm_code_options *o) {
  double number;
  bool looks = o->functions & (1u << PSDM_CODE_JACOBIAN | 1u << PSDM_CODE_POSE);
  if ((!text && looks) || o->wrench_argument || o->payload_argument)
    tool_default_link(robot, looks ? "--link selects another for jacobian and pose" : "--tip selects another");
  if (!text) return -1;
  o->link = psdm_robot_link_name(robot, psdm_robot_find(robot, text));
  if (o->link) return -1;
  if (tool_parse_number(text, &number) && number >= 1 && number <= psdm_robot_joints(robot) && number == (int)number) {
    o->link = psdm_robot_link_name(robot, (int)number - 1);
    return -1;
  }
  return tool_usage("codegen", "--link '%s': no link or joint has this name, and it is not a number from 1 to %d",
                    tool_safe(text), psdm_robot_joints(robot));
}

/* the command line, for the banner; words that a shell would split are quoted */
static char *command_text(int argc, char **argv) {
  size_t size = sizeof "psdm codegen";
  for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 3;
  char *text = malloc(size);
  if (!text) return NULL;
  strcpy(text, "psdm codegen");
  for (int i = 0; i < argc; i++) {
    bool plain = argv[i][0] &&
                 !argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%")];
    strcat(text, plain ? " " : " '");
    strcat(text, argv[i]);
    if (!plain) strcat(text, "'");
  }
  return text;
}

/* ---- results ---- */

static unsigned wraps_of(const codegen_settings *set) {
  unsigned wraps = 0;
  parse_wraps(set->wrap, &wraps); /* already checked */
  return wraps;
}

static void print_text(const codegen_settings *set, const psdm_code *code) {
  printf("  %-18s %-10s %8s %8s %6s %6s %6s\n", "function", "method", "mult", "add", "div", "sincos", "depth");
  for (int k = 0; k < psdm_code_count(code); k++) {
    psdm_cost cost;
    const char *method;
    const char *name = psdm_code_function_name(psdm_code_at(code, k, &cost, &method));
    printf("  %-18s %-10s %8ld %8ld %6ld %6ld %6ld\n", name, method, cost.mult, cost.add, cost.div + cost.sqrt,
           cost.sincos, cost.depth);
  }
  const char *out = tool_safe(set->out);
  char name[128];
  printf("\n%s/", out);
  for (int k = 0; psdm_code_file(code, k, name, sizeof name); k++) printf("%s%s", k ? ", " : "", name);
  printf(": try 'make -C %s check'\n", out);
  for (int w = 0; w < PSDM_CODE_WRAPS; w++)
    if (wraps_of(set) >> w & 1) printf("wrapped: try 'make -C %s %s'\n", out, psdm_code_wrap_name((psdm_code_wrap)w));
}

static const psdm_coded_function *functions_of(const psdm_code *code, psdm_result *head) {
  psdm_coded_function *to = psdm_result_items(head, &psdm_coded_function_type, psdm_code_count(code));
  for (int k = 0; to && k < psdm_code_count(code); k++) {
    psdm_cost c;
    const char *method, *name = psdm_code_function_name(psdm_code_at(code, k, &c, &method));
    to[k] = (psdm_coded_function){name,    psdm_result_text(head, method), c.mult, c.add, c.div, c.sqrt, c.sincos,
                                  c.depth, psdm_code_error(code, k)};
  }
  return to;
}

static const char *file_at(const void *from, int index) {
  static char name[128];
  return psdm_code_file(from, index, name, sizeof name) ? name : NULL;
}

static const char *omitted_at(const void *from, int index) {
  for (int f = 0; f < PSDM_CODE_FUNCTIONS; f++)
    if (psdm_code_omitted(from) >> f & 1 && index-- == 0) return psdm_code_function_name((psdm_code_function)f);
  return NULL;
}

static int print_json(const codegen_settings *set, const psdm_robot *robot, const psdm_code *code) {
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_codegen_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_codegen_result *r = (psdm_codegen_result *)head;
  psdm_result_name_robot(head, robot, &r->name, &r->fingerprint);
  r->prefix = psdm_code_prefix(code);
  r->directory = set->out;
  r->files.item = tool_texts(head, file_at, code, &r->files.rows);
  r->omitted.item = tool_texts(head, omitted_at, code, &r->omitted.rows);
  PSDM_RESULT_SET(r->functions, functions_of(code, head), psdm_code_count(code));
  r->settings.item = settings_values(&codegen_line, set, head, &r->settings.rows);
  return tool_answer(head);
}

static int build(const psdm_robot *robot, psdm_code_options *options, psdm_code **generated) {
  psdm_error error;
  tool_search search = {.bar = progress_start("generating", 0), .doing = "generating"};
  tool_listen();
  options->progress = tool_searching;
  options->progress_user = &search;
  psdm_status status = psdm_code_build(robot, options, NULL, generated, &error);
  progress_end(&search.bar);
  tool_deaf();
  if (!status)
    tool_detail("%d functions generated in %.3g s", psdm_code_count(*generated), tool_now() - search.bar.started);
  if (status == PSDM_E_STOPPED && !tool_terminated()) {
    /* the same code without the search for fewer operations takes about a second */
    options->progress = NULL;
    options->effort = -1;
    status = psdm_code_build(robot, options, NULL, generated, &error);
    if (!status)
      tool_warn("interrupted: the code is complete and correct, but the search for fewer operations was skipped (as "
                "with --effort 0)");
  }
  for (int k = 0; !status && psdm_code_note(*generated, k); k++) tool_warn("%s", psdm_code_note(*generated, k));
  return status ? tool_fail(&error) : -1;
}

int cmd_codegen(int argc, char **argv) {
  codegen_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  psdm_code *generated = NULL;
  psdm_code_options options = {0};
  psdm_error error;
  int code = settings_parse(&codegen_line, argc, argv, &set, &path);
  if (code < 0) code = parse_options(&set, &options);
  if (code < 0) code = tool_load("codegen", path, PSDM_ROBOT_SETTINGS_OF(&set), &robot);
  if (code < 0) code = find_link(set.link, robot, &options);
  char *command = code < 0 ? command_text(argc, argv) : NULL;
  if (code < 0 && !command) code = tool_no_memory("codegen");
  options.command = command;
  if (code < 0) code = build(robot, &options, &generated);
  if (code < 0 && psdm_code_write(generated, set.out, &error)) code = tool_fail(&error);
  if (code < 0) {
    code = set.json ? print_json(&set, robot, generated) : EXIT_OK;
    if (!set.json && !tool_quiet()) print_text(&set, generated);
  }
  free(command);
  psdm_code_free(generated);
  psdm_robot_free(robot);
  return code;
}
