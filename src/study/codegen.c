/* codegen.c: the dynamics as straight-line C, with a self-test, in a folder. */
#include <string.h>

#include "study/study.h"
#include "psdm/psdm.h"

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
  X(text, friction, "none", &(PSDM_FRICTION_LIST(PSDM_SETTING_WORD) "|calibrated")[1],                                 \
    "friction of the joints in all functions that it changes; calibrated: of the drives, as `params` has it")          \
  X(flag, friction_columns, "", "", "regressor: add columns of Coulomb and viscous friction")                          \
  X(flag, drive_columns, "", "", "regressor: add columns of drive inertias")                                           \
  X(text, wrap, "", "LIST", "wrappers around the functions, separated by commas: casadi, fmu")                         \
  X(text, link, "", "NAME|NUMBER",                                                                                     \
    "link or joint for jacobian, pose and cartesian functions (default: the tip of the longest moving chain)")         \
  X(vector, point, "", "X,Y,Z", "cartesian functions: point in the link's frame (default: its origin)")                \
  X(text, directions, "", "LIST",                                                                                      \
    "cartesian functions: directions of the task in the base frame, of x,y,z,rx,ry,rz (default: all)")                 \
  X(number, effort, "50", "N",                                                                                         \
    "restarts without improvement before the search for fewer operations ends; 0: no search")                          \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(codegen_settings, CODEGEN_SETTINGS);

typedef struct codegen {
  psdm_job job;
  codegen_settings set;
  psdm_code_options options;
  psdm_parameters *parameters; /* whose friction the code has; NULL: none */
  psdm_code *code;
} codegen;

#define SETTINGS_STRUCT codegen_settings
static const psdm_setting settings[] = {CODEGEN_SETTINGS(PSDM_SETTINGS_ROW){0}};

/* ---- settings ---- */

/* "inverse,mass" of a list, piece by piece: false behind the last */
static bool next_word(const char **list, char word[64]) {
  if (!*list) return false;
  size_t length = strcspn(*list, ",");
  psdmp_base_print(word, 64, "%.*s", (int)length, *list);
  *list = (*list)[length] ? *list + length + 1 : NULL;
  return true;
}

psdm_status psdmp_study_functions(const psdm_job *job, const char *list, unsigned *functions, unsigned *optional) {
  const char *words[PSDM_FUNCTION_COUNT + 2] = {"usual", "all"};
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) words[2 + f] = psdm_function_name((psdm_function)f);
  unsigned named = 0;
  char name[64];
  *functions = 0;
  while (next_word(&list, name)) {
    psdm_function f;
    if (strcmp(name, "usual") == 0) *functions |= (2u << PSDM_F_POSE) - 1;
    else if (strcmp(name, "all") == 0) *functions |= PSDM_CODE_RIGID | PSDM_CODE_TASKS;
    else if (psdm_function_find(name, &f)) named |= 1u << f;
    else return psdmp_job_no_word(job, "function", name, words, PSDM_FUNCTION_COUNT + 2);
  }
  *optional = *functions & ~named;
  *functions |= named;
  return PSDM_OK;
}

/* "casadi,fmu" as bits */
static psdm_status parse_wraps(const psdm_job *job, const char *list, unsigned *wraps) {
  const char *words[PSDM_CODE_WRAPS];
  char name[64];
  for (int k = 0; k < PSDM_CODE_WRAPS; k++) words[k] = psdm_code_wrap_name((psdm_code_wrap)k);
  while (next_word(&list, name)) {
    int k = 0;
    while (k < PSDM_CODE_WRAPS && strcmp(words[k], name) != 0) k++;
    if (k == PSDM_CODE_WRAPS) return psdmp_job_unknown(job, "wrap", name, words, PSDM_CODE_WRAPS);
    *wraps |= 1u << k;
  }
  return PSDM_OK;
}

static psdm_status parse(codegen *j) {
  const psdm_job *job = &j->job;
  const codegen_settings *set = &j->set;
  psdm_code_options *o = &j->options;
  if (!set->out) return psdmp_job_wrong(job, "missing `out = DIR`: the folder to write to");
  *o = (psdm_code_options){.method = (psdm_code_method)psdmp_job_choice(job, "method"),
                           .real_float = psdmp_job_choice(job, "real"),
                           .target = (psdm_code_target)psdmp_job_choice(job, "target"),
                           .theta_argument = psdmp_job_choice(job, "theta"),
                           .throughput = psdmp_job_choice(job, "optimise"),
                           .sincos = (psdm_code_sincos)psdmp_job_choice(job, "sincos"),
                           .gravity_argument = set->gravity_argument,
                           .payload_argument = set->payload,
                           .wrench_argument = set->wrench,
                           .friction_columns = set->friction_columns,
                           .drive_columns = set->drive_columns,
                           .prefix = set->prefix,
                           .command = job->host.command,
                           .effort = set->effort > 0 ? (int)set->effort : -1};
  int friction = psdmp_job_choice(job, "friction");
  if (friction < PSDM_FRICTION_KINDS) o->friction = (psdm_friction_kind)friction;
  if (friction == PSDM_FRICTION_KINDS && !set->params)
    return psdmp_job_wrong(job, "`friction = calibrated` needs `params = FILE`, which holds the friction");
  psdm_status status = psdmp_study_functions(job, set->functions, &o->functions, &o->optional);
  if (friction && !((PSDM_CODE_RIGID | PSDM_CODE_TASKS) & ~o->functions))
    o->functions |= 1u << PSDM_F_FRICTION; /* all */
  if (!status) status = parse_wraps(job, set->wrap, &o->wraps);
  if (!status && (set->friction_columns || set->drive_columns) && !(o->functions >> PSDM_F_REGRESSOR & 1))
    status =
        psdmp_job_wrong(job, "`%s_columns` needs the function regressor", set->friction_columns ? "friction" : "drive");
  return status;
}

/* friction was asked for, and the file has none; or it is the parameters' own */
static psdm_status find_friction(codegen *j) {
  const psdm_job *job = &j->job;
  psdm_error error;
  bool given = j->options.friction == PSDM_FRICTION_NONE;
  for (int k = 0; k < psdm_robot_joints(job->robot); k++)
    given = given || psdm_robot_joint(job->robot, k)->friction.given;
  if (!given) psdmp_job_warn(job, "`friction = %s`: no joint of this robot has friction", j->set.friction);
  if (psdmp_job_choice(job, "friction") != PSDM_FRICTION_KINDS) return PSDM_OK;
  if (psdm_parameters_load(j->set.params, job->robot, NULL, &j->parameters, &error)) return psdmp_job_fail(job, &error);
  j->options.parameters = j->parameters;
  return PSDM_OK;
}

/* the point and the directions of a task */
static psdm_status find_task(codegen *j) {
  psdm_code_options *o = &j->options;
  bool given = j->set.point.given || j->set.directions;
  if (given && !(o->functions & PSDM_CODE_TASKS))
    return psdmp_job_wrong(&j->job, "`%s` needs a cartesian function", j->set.directions ? "directions" : "point");
  for (int k = 0; k < 3 && j->set.point.given; k++) o->point[k] = j->set.point.value[k];
  if (j->set.directions && !psdm_directions_find(j->set.directions, &o->directions))
    return psdmp_job_wrong(&j->job, "`directions` '%s': some of x,y,z,rx,ry,rz were expected",
                           psdmp_job_safe(&j->job, j->set.directions));
  return PSDM_OK;
}

/* by name or as a joint counted from 1 */
static psdm_status find_link(codegen *j) {
  const psdm_robot *robot = j->job.robot;
  psdm_code_options *o = &j->options;
  const char *text = j->set.link;
  double number;
  bool looks = o->functions & (1u << PSDM_F_JACOBIAN | 1u << PSDM_F_POSE | PSDM_CODE_TASKS);
  if ((!text && looks) || o->wrench_argument || o->payload_argument)
    psdmp_job_default_link(&j->job, robot,
                           looks ? "`link` selects another for jacobian and pose" : "`tip` selects another");
  if (!text) return PSDM_OK;
  int joint = psdm_robot_find(robot, text);
  if (joint < 0 && psdm_parse_number(text, &number) && number >= 1 && number <= psdm_robot_joints(robot) &&
      number == (int)number)
    joint = (int)number - 1;
  o->link = psdm_robot_link_name(robot, joint);
  return o->link ? PSDM_OK
                 : psdmp_job_wrong(&j->job,
                                   "`link` '%s': no link or joint has this name, and it is not a number from 1 to %d",
                                   psdmp_job_safe(&j->job, text), psdm_robot_joints(robot));
}

/* ---- the work ---- */

/* the search for fewer operations tells its share from time to time */
typedef struct search {
  psdm_job *job;
  double share;
} search;

static bool searching(void *user, const char *doing, double share) {
  search *s = user;
  (void)doing;
  if (share >= 0) s->share = share;
  return psdmp_job_progress(s->job, "generating", s->share);
}

static psdm_status build(codegen *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  search s = {job, 0};
  double began = psdmp_base_clock();
  psdmp_job_tell(job, PSDM_JOB_STAGE, "generating");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  j->options.progress = searching;
  j->options.progress_user = &s;
  psdm_status status = psdm_code_build(job->robot, &j->options, NULL, &j->code, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  if (!status)
    psdmp_job_detail(job, "%d functions generated in %.3g s", psdm_code_count(j->code), psdmp_base_clock() - began);
  if (status == PSDM_E_STOPPED && !(job->host.hurried && job->host.hurried(job->host.user))) {
    /* the same code without the search for fewer operations takes about a second */
    j->options.progress = NULL;
    j->options.effort = -1;
    status = psdm_code_build(job->robot, &j->options, NULL, &j->code, &error);
    if (!status)
      psdmp_job_warn(
          job, "interrupted: the code is complete and correct, but the search for fewer operations was skipped (as "
               "with `effort = 0`)");
  }
  for (int k = 0; !status && psdm_code_note(j->code, k); k++) psdmp_job_warn(job, "%s", psdm_code_note(j->code, k));
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* ---- the answer ---- */

static const psdm_coded_function *functions_of(const psdm_code *code, psdm_result *head) {
  psdm_coded_function *to = psdm_result_items(head, &psdm_coded_function_type, psdm_code_count(code));
  for (int k = 0; to && k < psdm_code_count(code); k++) {
    psdm_cost c;
    const char *method, *name = psdm_function_name(psdm_code_at(code, k, &c, &method));
    to[k] = (psdm_coded_function){name,    psdm_result_text(head, method), c.mult, c.add, c.div, c.sqrt, c.sincos,
                                  c.depth, psdm_code_error(code, k),       c.calls};
  }
  return to;
}

static const psdm_word *files_of(const psdm_code *code, psdm_result *head, long *count) {
  char name[128];
  for (*count = 0; psdm_code_file(code, (int)*count, name, sizeof name);) ++*count;
  psdm_word *to = psdm_result_memory(head, *count, sizeof *to);
  for (long k = 0; to && psdm_code_file(code, (int)k, name, sizeof name); k++) to[k] = psdm_result_text(head, name);
  return to;
}

static const char *omitted_at(const void *from, int index) {
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
    if (psdm_code_omitted(from) >> f & 1 && index-- == 0) return psdm_function_name((psdm_function)f);
  return NULL;
}

static void fill(psdm_job *job, psdm_result *head) {
  const codegen *j = (codegen *)job;
  psdm_codegen_result *r = (psdm_codegen_result *)head;
  psdm_result_name_robot(head, job->robot, &r->name, &r->fingerprint);
  r->prefix = psdm_code_prefix(j->code);
  r->directory = j->set.out;
  r->files.item = files_of(j->code, head, &r->files.rows);
  r->omitted.item = psdmp_job_texts(head, omitted_at, j->code, &r->omitted.rows);
  PSDM_RESULT_SET(r->functions, functions_of(j->code, head), psdm_code_count(j->code));
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}

static psdm_status run(psdm_job *job) {
  codegen *j = (codegen *)job;
  psdm_error error;
  psdm_status status = parse(j);
  if (!status) status = psdmp_study_folder_check(job, j->set.out);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = find_friction(j);
  if (!status) status = find_link(j);
  if (!status) status = find_task(j);
  if (!status) status = build(j);
  if (!status && psdm_code_write(j->code, j->set.out, &error)) status = psdmp_job_fail(job, &error);
  return status ? status : psdmp_job_answer(job, &psdm_codegen_result_type, fill);
}

static void release(psdm_job *job) {
  psdm_code_free(((codegen *)job)->code);
  psdm_parameters_free(((codegen *)job)->parameters);
}

PSDMP_JOB_KIND(study, codegen, codegen, .free = release);
