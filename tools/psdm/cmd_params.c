/* cmd_params.c: psdm params: base parameters with formulas and values, exact or from samples (Gautier 1991). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define PARAMS_SETTINGS(X)                                                                                      \
  X(flag, symbolic, "", "", "formulas in symbols for the link lengths (a3, d3, ...), not their values")         \
  X(text, rename, "", "a3=D3,...", "names for the lengths (with --symbolic)")                                   \
  X(text, model, "exact", "exact|d|d0|h",                                                                       \
    "exact structure, or samples of torques (d), torques at rest (d0) or energies (h)")                         \
  X(text, solver, "qr", "qr|svd", "factorisation of a sampled model")                                           \
  X(flag, no_scaling, "", "", "use random samples without selection (sampled models)")                          \
  X(flag, minimal_norm, "", "", "also print the standard parameters of least norm (sampled models)")            \
  X(text, assume, "", "A = 0,B = C,...", "body parameters to take as zero or equal, in addition to the file's") \
  X(flag, latex, "", "", "write a LaTeX tabular")                                                               \
  X(flag, json, "", "", "write one JSON object")                                                                \
  PSDM_ROBOT_SETTINGS(X)

typedef struct params_settings {
  PARAMS_SETTINGS(PSDM_SETTINGS_FIELD)
} params_settings;

#define SETTINGS_STRUCT params_settings
static const psdm_setting settings[] = {PARAMS_SETTINGS(PSDM_SETTINGS_ROW){0}};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "The base inertial parameters: the fewest combinations of standard parameters that determine the torques, each "
    "with its formula\n"
    "and, if the robot's parameters are known, its value; then what became of every other standard parameter.\n"
    "They follow exactly from the robot's structure, or from samples of the dynamics by QR or SVD (Gautier 1991) with "
    "the numbers\n"
    "behind the rank decision.\n"
    "\n"
    "examples:\n"
    "  psdm params robots/puma560.yaml\n"
    "  psdm params robots/puma560.yaml --symbolic --rename d3=R3,a3=D3,d4=R4,a4=D4\n"
    "  psdm params robots/puma560.yaml --model h --solver svd\n"
    "  psdm params robots/kuka_kr6.yaml --symbolic --latex\n"
    "  psdm params robots/kuka_kr6.yaml --json\n";

const command_line params_line = {"params", settings, positional, help};

enum { MOST_NAMES = 256 };

/* what is found, whichever way: a derived model, or sampled parameters; and the answer that both give */
typedef struct view {
  const params_settings *set;
  psdm_derive_options assume;
  psdm_robot *robot;
  psdm_model *model;
  psdm_params *params;
  psdm_symbolic *symbolic;
  psdm_params_result *answer;
  bool known; /* all standard parameters are known */
} view;

static const char *const models[] = {"exact", "d", "d0", "h"};

/* ---- text ---- */

/* "ZZ1 + 0.4 mz3 - YY2"; formulas are polynomials in lengths: twelve digits (nine if sampled) show them without
 * rounding */
static void print_numbers(const view *v, const psdm_base_parameter *base, bool latex) {
  for (long at = 0; at < base->formula.rows; at++) {
    const char *name = base->formula.item[at].name;
    double x = base->formula.item[at].value;
    printf("%s", x < 0 ? (!at ? "-" : " - ") : !at ? "" : " + ");
    if (fabs(fabs(x) - 1) > (v->model ? 1e-12 : 1e-9))
      printf("%.*g%s", v->model ? 12 : 9, fabs(x), latex ? "\\," : " ");
    size_t letters = strcspn(name, "0123456789");
    if (latex) printf(letters > 1 ? "\\mathit{%.*s}_{%s}" : "%.*s_{%s}", (int)letters, name, name + letters);
    else printf("%s", name);
  }
}

static void print_formula(const view *v, int j, bool latex) {
  const psdm_base_parameter *base = &v->answer->base_parameters.item[j];
  if (v->symbolic && latex) printf("%s", psdm_symbolic_text(v->symbolic, j, PSDM_FORMULA_LATEX));
  else if (v->symbolic) printf("%s", base->symbolic);
  else print_numbers(v, base, latex);
}

static void print_names(const psdm_word *name, long count, const char *title) {
  if (!count) return;
  printf("\n%ld %s:\n ", count, title);
  for (long k = 0; k < count; k++) printf(" %s", name[k]);
  printf("\n");
}

static void print_lengths(const psdm_params_result *r) {
  int numbers = 0;
  if (r->lengths.rows) printf("\nlengths:");
  for (long i = 0; i < r->lengths.rows; i++)
    printf("%s %s = %.12g", i ? "," : "", r->lengths.item[i].name, r->lengths.item[i].value);
  if (r->lengths.rows) printf("\n");
  for (int j = 0; j < r->l; j++) numbers += r->base_parameters.item[j].numbers;
  if (!numbers) return;
  printf("\n%d formula%s in numbers, since %s at these lengths only:", numbers, numbers > 1 ? "s are" : " is",
         numbers > 1 ? "they hold" : "it holds");
  for (int j = 0; j < r->l; j++)
    if (r->base_parameters.item[j].numbers) printf(" %s", r->base_parameters.item[j].name);
  printf("\n");
}

/* the rank decision of a sampled result, as in Gautier's Table II */
static void print_decision(const view *v) {
  const psdm_params_result *r = v->answer;
  static const char *const by[] = {"T (QR with pivoting)", "R (QR without)", "sigma (SVD)"};
  const psdm_rank_decision *decision[] = {&r->decisions->T, &r->decisions->R, &r->decisions->sigma};
  printf("  W is %ld x %ld; S = max|W|/min|W| = %.3g of random samples", r->rows, r->columns, r->spread_random);
  if (!v->set->no_scaling) printf(", %.3g of the scaled ones", r->spread);
  printf("\n");
  for (int k = 0; k < 3; k++)
    printf("  rank %ld by %s: gap %.1e, tau %.1e\n", decision[k]->rank, by[k], decision[k]->gap, decision[k]->tau);
  printf("\n  %-4s %12s %12s %12s %12s  %s\n", "i", "T_ii", "sigma_i", "R_ii", "V2 N", "X_i");
  for (int i = 0; i < r->columns; i++) {
    const psdm_rank_row *row = &r->table.item[i];
    printf("  %-4d %12.4e %12.4e %12.4e %12.4e  %s%s\n", i + 1, row->T, row->sigma, row->R, row->V2N, row->parameter,
           psdm_params_fate(v->params, v->params->column[i]) == PSDM_FATE_REGROUPED ? " *" : "");
  }
  printf("  (* is regrouped)\n\n");
}

static void print_text(const view *v) {
  const psdm_params_result *r = v->answer;
  printf("%s: %ld base parameters of %d standard ones", tool_safe(r->name), r->l, psdm_robot_parameter_count(v->robot));
  if (v->params) printf(", by model %s and %s", v->set->model, v->set->solver);
  printf("\n\n");
  if (v->params) print_decision(v);
  printf("  %-4s %-6s %14s   %s\n", "#", "name", v->known ? "value" : "", "formula");
  for (int j = 0; j < r->l; j++) {
    printf("  %-4d %-6s ", j + 1, r->base_parameters.item[j].name);
    if (v->known) printf("%14.6g   ", r->base_parameters.item[j].value);
    else printf("%14s   ", "?");
    print_formula(v, j, false);
    printf("\n");
  }
  print_lengths(r);
  print_names(r->regrouped.item, r->regrouped.rows, "standard parameters are regrouped into others");
  print_names(r->no_effect.item, r->no_effect.rows, "standard parameters have no effect");
  if (r->minimal_norm.rows) printf("\nstandard parameters of least norm with the same torques:\n");
  for (long i = 0; i < r->minimal_norm.rows; i++)
    printf("  %-6s %14.6g\n", r->minimal_norm.item[i].name, r->minimal_norm.item[i].value);
}

/* ---- LaTeX ---- */

static void print_latex(const view *v) {
  printf("\\begin{tabular}{r%sp{0.75\\textwidth}}\n", v->known ? "r" : "");
  printf("  & %s$\\theta_j$ \\\\ \\hline\n", v->known ? "value & " : "");
  for (int j = 0; j < v->answer->l; j++) {
    printf("  $\\theta_{%d}$ & ", j + 1);
    if (v->known) printf("$%.6g$ & ", v->answer->base_parameters.item[j].value);
    printf("$");
    print_formula(v, j, true);
    printf("$ \\\\\n");
  }
  printf("\\end{tabular}\n");
}

/* ---- computing it ---- */

static int choice(const char *setting_name, const char *text, const char *const *words, int count, int *out) {
  for (*out = 0; *out < count; ++*out)
    if (strcmp(words[*out], text) == 0) return -1;
  const char *near = tool_nearest(text, words, (size_t)count);
  return tool_usage("params", "--%s is '%s'%s%s%s", setting_name, tool_safe(text), near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

/* incompatible options */
static int check_settings(const params_settings *set, int model) {
  if (set->json && set->latex) return tool_usage("params", "--json and --latex exclude each other");
  if (set->symbolic && model) return tool_usage("params", "--symbolic needs --model exact: samples contain no symbols");
  if (set->rename && !set->symbolic) return tool_usage("params", "--rename needs --symbolic");
  if ((set->minimal_norm || set->no_scaling) && !model)
    return tool_usage("params", "--%s needs a sampled model: --model d, d0 or h",
                      set->minimal_norm ? "minimal-norm" : "no-scaling");
  return -1;
}

/* "a3=D3,d3=R3" cut at its commas, in place */
static int split_names(char *text, const char **piece, int *count) {
  for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) {
    if (*count == MOST_NAMES) return tool_usage("params", "--rename has more than %d names", MOST_NAMES);
    piece[(*count)++] = at;
  }
  return -1;
}

static int find_symbols(view *v) {
  const char *piece[MOST_NAMES];
  psdm_symbolic_options options = {.assume_count = v->assume.assume_count, .assume = v->assume.assume, .rename = piece};
  psdm_error error;
  char *text = NULL;
  int code = -1;
  if (v->set->rename) {
    text = malloc(strlen(v->set->rename) + 1);
    if (!text) return tool_no_memory("params");
    strcpy(text, v->set->rename);
    code = split_names(text, piece, &options.rename_count);
  }
  if (code < 0 && psdm_symbolic_derive(v->robot, v->model, &options, NULL, &v->symbolic, &error))
    code = tool_fail(&error);
  free(text);
  return code;
}

/* two groups lie ten digits apart or more, unless axes are nearly parallel or lengths nearly zero */
static void warn_doubt(const psdm_params *p) {
  double gap = fmin(fmin(p->gap[0], p->gap[1]), p->gap[2]);
  if (p->ranks[0] != p->ranks[2])
    tool_warn("rank %d by T and %d by sigma: the samples are inconclusive; use --model exact", p->ranks[0],
              p->ranks[2]);
  else if (gap < 1e3)
    tool_warn("significant values are only %.1g times larger than insignificant ones: the samples are nearly "
              "inconclusive; use --model exact",
              gap);
}

static int find(view *v, int model, int solver) {
  psdm_error error;
  psdm_params_options options = {.sampling = model ? (psdm_sampling)(model - 1) : PSDM_SAMPLE_D,
                                 .solver = (psdm_solver)solver,
                                 .no_scaling = v->set->no_scaling,
                                 .assume_count = v->assume.assume_count,
                                 .assume = v->assume.assume};
  progress bar = progress_start(model ? "sampling and decomposing" : "deriving", 0);
  psdm_status status = model ? psdm_params_solve(v->robot, &options, NULL, &v->params, &error)
                             : psdm_params_derive(v->robot, &v->assume, NULL, &v->model, NULL, &error);
  progress_end(&bar);
  if (status) return tool_fail(&error);
  if (v->params) warn_doubt(v->params);
  int code = v->set->symbolic ? find_symbols(v) : -1;
  if (code >= 0) return code;
  v->known = psdm_robot_ready(v->robot, &error) == PSDM_OK;
  if (v->set->minimal_norm && !v->known) return tool_fail(&error);
  status = psdm_params_result_new(v->robot, v->model, v->symbolic, v->params, &options, v->set->minimal_norm, NULL,
                                  &v->answer, &error);
  return status ? tool_fail(&error) : -1;
}

static void view_free(view *v) {
  psdm_result_free(v->answer ? &v->answer->head : NULL);
  psdm_symbolic_free(v->symbolic);
  psdm_params_free(v->params);
  psdm_model_free(v->model);
}

int params_answer(psdm_robot *robot, psdm_result **answer) {
  const params_settings set = {.model = "exact"};
  view v = {.set = &set, .robot = robot};
  int code = find(&v, 0, 0);
  if (code < 0) *answer = &v.answer->head, v.answer = NULL;
  view_free(&v);
  return code;
}

static int show(view *v) {
  psdm_result *answer = &v->answer->head;
  if (v->set->json) return v->answer = NULL, tool_answer(answer);
  if (v->set->latex) print_latex(v);
  else print_text(v);
  return EXIT_OK;
}

int cmd_params(int argc, char **argv) {
  static const char *const solvers[] = {"qr", "svd"};
  params_settings set;
  view v = {.set = &set};
  const char *path;
  int model = 0, solver = 0, code = settings_parse(&params_line, argc, argv, &set, &path);
  if (code < 0) code = choice("model", set.model, models, 4, &model);
  if (code < 0) code = choice("solver", set.solver, solvers, 2, &solver);
  if (code < 0) code = check_settings(&set, model);
  if (code < 0) code = tool_assume("params", set.assume, &v.assume);
  if (code < 0) code = tool_load("params", path, PSDM_ROBOT_SETTINGS_OF(&set), &v.robot);
  if (code < 0) code = find(&v, model, solver);
  if (code < 0) code = show(&v);
  view_free(&v);
  psdm_robot_free(v.robot);
  return code;
}
