/* cmd_derive.c: psdm derive: the closed-form regressor model, compared with the recursion at random states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define DERIVE_SETTINGS(X)                                                                                          \
  X(text, assume, "", "A = 0,B = C,...", "body parameters to take as zero or equal, in addition to the file's")     \
  X(text, method, "exact", "exact|dense", "by one traversal of the tree, or from samples and dense linear systems") \
  X(text, basis, "standard", "standard|echelon",                                                                    \
    "base parameters: a subset of the standard ones, or theta1, theta2, ...")                                       \
  X(text, sampler, "", "COMMAND", "dense: sample the torques of this program instead of the recursion's")           \
  X(text, export, "", "FILE.json|.mat", "write the complete model: functions, P, base parameters")                  \
  X(flag, json, "", "", "write one JSON object")                                                                    \
  PSDM_ROBOT_SETTINGS(X)

typedef struct derive_settings {
  DERIVE_SETTINGS(PSDM_SETTINGS_FIELD)
} derive_settings;

#define SETTINGS_STRUCT derive_settings
static const psdm_setting settings[] = {DERIVE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Derives the dynamics in closed, regressor form, tau = Y(q, qd, qdd) theta: p functions (monomials in sin, cos, "
    "and for sliding\n"
    "joints q, times gravity, an acceleration or a product of two velocities) and l base parameters. The model is then "
    "compared with\n"
    "the Newton-Euler recursion at 1000 random states. Exit 1 when a torque differs by more than 1e-9 of the largest.\n"
    "\n"
    "The dense method (Lloyd, Irani, Ahmadi 2021) uses only sampled torques, takes seconds where the exact one takes a "
    "millisecond,\n"
    "and supports up to six independent joints: as a check, or to turn any inverse dynamics program into a model.\n"
    "A sampler is a shell command. It is run once per class of functions and step, reads a CSV with the columns q1.., "
    "qd1.., qdd1.. and\n"
    "the standard parameters (m1, mx1, ..) from standard input, and prints a CSV with tau1.., one row for each row.\n"
    "\n"
    "examples:\n"
    "  psdm derive robots/kuka_kr6.yaml\n"
    "  psdm derive robots/two_link.yaml --assume 'ry1 = 0,rz1 = 0' --json\n"
    "  psdm derive robots/kuka_kr6.yaml --export kr6.json\n"
    "  psdm derive robots/fanuc_sr6ia.yaml --method dense --basis echelon\n"
    "  psdm derive robots/fanuc_sr6ia.yaml --method dense --sampler 'python3 my_dynamics.py'\n";

const command_line derive_line = {"derive", settings, positional, help};

/* every state evaluates every function with every coefficient, so one state shows any error: a large model needs fewer
 * than 1000 */
enum { FEW = 10, STATES = 1000, PRODUCTS = 50000000 };

typedef struct result {
  psdm_model *model;
  psdm_derive_info info;
  double residual;
  int states; /* the value that it is the largest of */
} result;

static int states_for(const psdm_model *m) {
  long each = psdm_model_entries(m) + 1;
  return PRODUCTS / each > STATES ? STATES : PRODUCTS / each < FEW ? FEW : (int)(PRODUCTS / each);
}

static long class_size(const psdm_model *m, int k) {
  return psdm_model_class_start(m, k + 1) - psdm_model_class_start(m, k);
}

/* whether zero and non-zero are at least three decades apart, in the coefficients and in the rank decisions */
static bool clear(const psdm_derive_info *info) {
  return info->kept > 1e3 * info->dropped && info->rank_kept > 1e3 * info->rank_dropped;
}

static void print_text(const psdm_robot *robot, const result *r) {
  const psdm_model *m = r->model;
  int n = psdm_model_n(m);
  long p = psdm_model_p(m), coriolis = p - psdm_model_class_start(m, 1 + 2 * n);
  printf("%s: %ld functions, %d base parameters of %d standard ones\n\n", tool_safe(psdm_robot_name(robot)), p,
         psdm_model_l(m), psdm_model_standard_count(m));
  printf("  %-14s", "functions");
  for (int j = 0; j < n; j++) printf(" %8d", j + 1);
  printf(" %9s\n  %-14s", "in all", "gravity");
  for (int j = 0; j < n; j++) printf(" %8s", "");
  printf(" %9ld\n", class_size(m, 0));
  for (int kind = 0; kind < 2; kind++) {
    long sum = 0;
    printf("  %-14s", kind ? "centrifugal" : "acceleration");
    for (int j = 0; j < n; j++) {
      long size = class_size(m, 1 + kind * n + j);
      printf(" %8ld", size);
      sum += size;
    }
    printf(" %9ld\n", sum);
  }
  printf("  %-14s", "Coriolis");
  for (int j = 0; j < n; j++) printf(" %8s", "");
  printf(" %9ld\n\n", coriolis);
  printf("  P has %ld non-zeros (%.2g %% of p n l), derived in %.3g ms\n", psdm_model_entries(m),
         100.0 * (double)psdm_model_entries(m) / ((double)p * n * psdm_model_l(m)), 1e3 * r->info.seconds);
  printf("  coefficients: largest dropped %.2g, smallest kept %.2g; rank: %.2g and %.2g\n", r->info.dropped,
         r->info.kept, r->info.rank_dropped, r->info.rank_kept);
  if (r->info.searched)
    printf("  searched %ld functions, with systems of up to %.3g MB\n", r->info.searched, 1e-6 * (double)r->info.bytes);
  printf("  torque error against Newton-Euler over %d states: %.2g\n", r->states, r->residual);
}

/* the options and their values */
static int choose(const derive_settings *set, psdm_derive_options *options) {
  bool dense = strcmp(set->method, "dense") == 0, echelon = strcmp(set->basis, "echelon") == 0;
  if (!dense && strcmp(set->method, "exact") != 0)
    return tool_usage("derive", "--method '%s': exact or dense was expected", tool_safe(set->method));
  if (!echelon && strcmp(set->basis, "standard") != 0)
    return tool_usage("derive", "--basis '%s': standard or echelon was expected", tool_safe(set->basis));
  if (set->sampler && !dense) return tool_usage("derive", "--sampler needs --method dense");
  options->method = dense ? PSDM_METHOD_DENSE : PSDM_METHOD_EXACT;
  options->basis = echelon ? PSDM_BASIS_ECHELON : PSDM_BASIS_STANDARD;
  options->sampler_command = set->sampler;
  return -1;
}

static int derive(const psdm_robot *robot, psdm_derive_options *options, result *r) {
  psdm_error error;
  progress bar = progress_start("deriving", 100);
  progress_lacking("no result yet");
  tool_listen();
  options->progress = progress_words;
  options->progress_user = &bar;
  psdm_status status = psdm_model_derive(robot, options, NULL, &r->model, &r->info, &error);
  progress_end(&bar);
  if (!status)
    tool_detail("derived: %ld functions, %d base parameters, %.3g ms", psdm_model_p(r->model), psdm_model_l(r->model),
                1e3 * r->info.seconds);
  return status ? tool_fail(&error) : -1;
}

typedef struct checking {
  progress bar;
  int states;
  result *of;
} checking;

static bool check_states(void *user, const char *doing, double share) {
  checking *c = user;
  c->of->states = (int)lround(share * c->states);
  return progress_words(&c->bar, doing, share);
}

static int write_export(const char *path, const psdm_robot *robot, const psdm_model *model) {
  psdm_error error;
  int code = tool_spare(path);
  if (code >= 0) return code;
  if (psdm_model_save(model, robot, path, &error)) return tool_fail(&error);
  tool_detail("%s: %lld bytes written", tool_safe(path), tool_file_size(path));
  return -1;
}

/* the model and how good it is */
static int find(const psdm_robot *robot, psdm_derive_options *options, result *r) {
  psdm_error error;
  int code = derive(robot, options, r);
  if (code >= 0) return code;
  int states = states_for(r->model);
  checking c = {progress_start("checking", states), states, r};
  options->progress = check_states;
  options->progress_user = &c;
  if (psdm_model_check(robot, r->model, options, states, NULL, &r->residual, &error)) code = tool_fail(&error);
  progress_end(&c.bar);
  if (code < 0 && tool_interrupted())
    tool_warn("interrupted: the model is complete, its torque error is for the states evaluated so far");
  tool_deaf();
  return code;
}

static int answer_of(const psdm_robot *robot, const psdm_derive_options *options, const result *r,
                     psdm_result **answer) {
  psdm_derive_info info = r->info;
  psdm_derive_result *made;
  psdm_error error;
  info.residual = r->residual;
  if (psdm_derive_result_new(robot, r->model, options, &info, r->states, NULL, &made, &error)) return tool_fail(&error);
  *answer = &made->head;
  return -1;
}

int derive_answer(const psdm_robot *robot, psdm_result **answer) {
  psdm_derive_options options = {0};
  result r = {0};
  int code = find(robot, &options, &r);
  if (code < 0) code = answer_of(robot, &options, &r, answer);
  psdm_model_free(r.model);
  return code;
}

static int report(const derive_settings *set, const psdm_robot *robot, const psdm_derive_options *options,
                  const result *r) {
  int code = EXIT_OK;
  if (set->json) {
    psdm_result *answer = NULL;
    code = answer_of(robot, options, r, &answer);
    if (code < 0) code = tool_answer(answer);
  } else if (!set->export || !tool_quiet()) {
    print_text(robot, r);
  }
  if (code == EXIT_OK && !clear(&r->info))
    tool_warn("zero and non-zero coefficients are less than three decades apart; the numbers of functions and "
              "parameters depend on the file's rounding, the torques do not");
  if (code == EXIT_OK && !(r->residual <= PSDM_MODEL_ACCURACY)) {
    tool_warn(set->assume
                  ? "the torques differ by %.2g of the largest: the robot's parameters do not satisfy the assumptions"
                  : "the torques differ by %.2g of the largest; the limit is 1e-9",
              r->residual);
    code = EXIT_QUALITY;
  }
  return code;
}

int cmd_derive(int argc, char **argv) {
  derive_settings set;
  const char *path;
  psdm_robot *robot = NULL;
  result r = {0};
  psdm_derive_options options = {0};
  int code = settings_parse(&derive_line, argc, argv, &set, &path);
  if (code < 0) code = choose(&set, &options);
  if (code < 0) code = tool_assume("derive", set.assume, &options);
  if (code < 0) code = tool_load("derive", path, PSDM_ROBOT_SETTINGS_OF(&set), &robot);
  if (code < 0) code = find(robot, &options, &r);
  if (code < 0 && set.export) code = write_export(set.export, robot, r.model);
  if (code < 0) code = report(&set, robot, &options, &r);
  psdm_model_free(r.model);
  psdm_robot_free(robot);
  return code;
}
