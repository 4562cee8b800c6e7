/* cmd_params.c: psdm params: base parameters with formulas and values, exact or from samples (Gautier 1991). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define PARAMS_SETTINGS(X)                                                                                \
  X(flag, symbolic, "", "", "write formulas in the link lengths (a3, d3, ...), not in their numbers")     \
  X(text, rename, "", "a3=D3,...", "call lengths by these names (with --symbolic)")                       \
  X(text, model, "exact", "exact|d|d0|h", "structure, or sampled torques, torques at rest, energies")     \
  X(text, solver, "qr", "qr|svd", "what a sampled model is factorised by")                                \
  X(flag, no_scaling, "", "", "take random samples as they come (sampled models)")                        \
  X(flag, minimal_norm, "", "", "also the standard parameters of least norm (sampled models)")            \
  X(text, assume, "", "A = 0,B = C,...", "take body parameters for zero or equal, beside the file's own") \
  X(flag, latex, "", "", "write a LaTeX tabular")                                                         \
  X(flag, json, "", "", "write one JSON object")                                                          \
  ROBOT_SETTINGS(X)

typedef struct params_settings {
  PARAMS_SETTINGS(SETTINGS_FIELD)
} params_settings;

#define SETTINGS_STRUCT params_settings
static const setting settings[] = {PARAMS_SETTINGS(SETTINGS_ROW)};

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "The base inertial parameters: the fewest combinations of standard parameters that the torques depend on, each "
    "with its formula\n"
    "and, where the robot's numbers are known, its value; then what became of every other standard parameter.\n"
    "They follow exactly from the robot's structure, or from samples of the dynamics by QR or SVD (Gautier 1991) with "
    "the numbers\n"
    "that the decision rests on.\n\n"
    "examples:\n"
    "  psdm params robots/puma560.yaml\n"
    "  psdm params robots/puma560.yaml --symbolic --rename d3=R3,a3=D3,d4=R4,a4=D4\n"
    "  psdm params robots/puma560.yaml --model h --solver svd\n"
    "  psdm params robots/kuka_kr6.yaml --symbolic --latex\n"
    "  psdm params robots/kuka_kr6.yaml --json\n";

const command_line params_line = {"params", settings, sizeof settings / sizeof *settings, positional, help};

enum { MOST_NAMES = 256 };

/* one answer, whichever way it was found: a derived model, or sampled parameters */
typedef struct view {
  const params_settings *set;
  psdm_derive_options assume;
  psdm_robot *robot;
  psdm_model *model;
  psdm_params *params;
  psdm_symbolic *symbolic;
  int l, standard;
  double *pi, *theta, *minimal; /* (standard), (l), (standard) */
  bool known;                   /* all numbers of the robot are */
} view;

static const char *const models[] = {"exact", "d", "d0", "h"};

/* ---- both kinds of answer alike ---- */

static psdm_parameter_fate fate_of(const view *v, int k) {
  return v->model ? psdm_model_fate(v->model, k) : psdm_params_fate(v->params, k);
}

static int own_parameter(const view *v, int j) {
  int k;
  if (!v->model) return v->params->column[v->params->kept[j]];
  psdm_model_base_term(v->model, j, 0, &k);
  return k;
}

/* the next term of formula j from *at on; false behind the last */
static bool next_term(const view *v, int j, int *at, int *parameter, double *x) {
  if (v->model) {
    if (*at >= psdm_model_base_terms(v->model, j)) return false;
    *x = psdm_model_base_term(v->model, j, (*at)++, parameter);
    return true;
  }
  const psdm_params *p = v->params;
  int others = p->columns - p->rank;
  while (*at <= others) {
    int k = (*at)++;
    *x = k == 0 ? 1 : p->beta[(long)j * others + k - 1];
    *parameter = k == 0 ? own_parameter(v, j) : p->column[p->dropped[k - 1]];
    if (*x != 0) return true;
  }
  return false;
}

static const char *name_of(const view *v, int k, char buf[32]) {
  return psdm_robot_parameter_name(v->robot, k, buf, 32);
}

/* ---- text ---- */

/* "ZZ1 + 0.4 mz3 - YY2"; formulas are polynomials in lengths: twelve digits (nine of sampled ones) show them without
 * rounding */
static void print_numbers(const view *v, int j, bool latex) {
  char name[32];
  int at = 0, k;
  double x;
  for (bool first = true; next_term(v, j, &at, &k, &x); first = false) {
    printf("%s", x < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    if (fabs(fabs(x) - 1) > (v->model ? 1e-12 : 1e-9))
      printf("%.*g%s", v->model ? 12 : 9, fabs(x), latex ? "\\," : " ");
    name_of(v, k, name);
    size_t letters = strcspn(name, "0123456789");
    if (latex) printf(letters > 1 ? "\\mathit{%.*s}_{%s}" : "%.*s_{%s}", (int)letters, name, name + letters);
    else printf("%s", name);
  }
}

static void print_formula(const view *v, int j, bool latex) {
  if (v->symbolic) printf("%s", psdm_symbolic_text(v->symbolic, j, latex ? PSDM_FORMULA_LATEX : PSDM_FORMULA_TEXT));
  else print_numbers(v, j, latex);
}

static void print_fate(const view *v, psdm_parameter_fate fate, const char *title) {
  char name[32];
  int count = 0;
  for (int k = 0; k < v->standard; k++) count += fate_of(v, k) == fate;
  if (!count) return;
  printf("\n%d %s:\n ", count, title);
  for (int k = 0; k < v->standard; k++)
    if (fate_of(v, k) == fate) printf(" %s", name_of(v, k, name));
  printf("\n");
}

static void print_lengths(const view *v) {
  if (!v->symbolic) return;
  int numbers = 0;
  if (psdm_symbolic_lengths(v->symbolic)) printf("\nlengths:");
  for (int i = 0; i < psdm_symbolic_lengths(v->symbolic); i++) {
    double value;
    const char *name = psdm_symbolic_length(v->symbolic, i, &value);
    printf("%s %s = %.12g", i ? "," : "", name, value);
  }
  if (psdm_symbolic_lengths(v->symbolic)) printf("\n");
  for (int j = 0; j < v->l; j++) numbers += !psdm_symbolic_holds(v->symbolic, j);
  if (!numbers) return;
  char name[32];
  printf("\n%d formula%s in numbers, since %s at these lengths only:", numbers, numbers > 1 ? "s are" : " is",
         numbers > 1 ? "they hold" : "it holds");
  for (int j = 0; j < v->l; j++)
    if (!psdm_symbolic_holds(v->symbolic, j)) printf(" %s", name_of(v, own_parameter(v, j), name));
  printf("\n");
}

/* what a sampled answer rests on, as Gautier's Table II has it */
static void print_decision(const view *v) {
  const psdm_params *p = v->params;
  static const char *const by[] = {"T (QR with pivoting)", "R (QR without)", "sigma (SVD)"};
  char name[32];
  printf("  W is %d x %d; S = max|W|/min|W| = %.3g of random samples", p->rows, p->columns, p->spread_random);
  if (!v->set->no_scaling) printf(", %.3g of the scaled ones", p->spread);
  printf("\n");
  for (int k = 0; k < 3; k++) printf("  rank %d by %s: gap %.1e, tau %.1e\n", p->ranks[k], by[k], p->gap[k], p->tau[k]);
  printf("\n  %-4s %12s %12s %12s %12s  %s\n", "i", "T_ii", "sigma_i", "R_ii", "V2 N", "X_i");
  for (int i = 0; i < p->columns; i++)
    printf("  %-4d %12.4e %12.4e %12.4e %12.4e  %s%s\n", i + 1, p->T[i], p->sigma[i], p->R[i], p->V2N[i],
           name_of(v, p->column[i], name), fate_of(v, p->column[i]) == PSDM_FATE_REGROUPED ? " *" : "");
  printf("  (* is regrouped)\n\n");
}

static void print_minimal(const view *v) {
  char name[32];
  printf("\nstandard parameters of least norm with the same torques:\n");
  for (int i = 0; i < v->params->columns; i++)
    printf("  %-6s %14.6g\n", name_of(v, v->params->column[i], name), v->minimal[v->params->column[i]]);
}

static void print_text(const view *v) {
  char name[32];
  printf("%s: %d base parameters of %d standard ones", tool_safe(psdm_robot_name(v->robot)), v->l, v->standard);
  if (v->params) printf(", by model %s and %s", v->set->model, v->set->solver);
  printf("\n\n");
  if (v->params) print_decision(v);
  printf("  %-4s %-6s %14s   %s\n", "#", "name", v->known ? "value" : "", "formula");
  for (int j = 0; j < v->l; j++) {
    printf("  %-4d %-6s ", j + 1, name_of(v, own_parameter(v, j), name));
    if (v->known) printf("%14.6g   ", v->theta[j]);
    else printf("%14s   ", "?");
    print_formula(v, j, false);
    printf("\n");
  }
  print_lengths(v);
  print_fate(v, PSDM_FATE_REGROUPED, "standard parameters are regrouped into others");
  print_fate(v, PSDM_FATE_NO_EFFECT, "standard parameters have no effect");
  if (v->minimal) print_minimal(v);
}

/* ---- LaTeX ---- */

static void print_latex(const view *v) {
  printf("\\begin{tabular}{r%sp{0.75\\textwidth}}\n", v->known ? "r" : "");
  printf("  & %s$\\theta_j$ \\\\ \\hline\n", v->known ? "value & " : "");
  for (int j = 0; j < v->l; j++) {
    printf("  $\\theta_{%d}$ & ", j + 1);
    if (v->known) printf("$%.6g$ & ", v->theta[j]);
    printf("$");
    print_formula(v, j, true);
    printf("$ \\\\\n");
  }
  printf("\\end{tabular}\n");
}

/* ---- JSON ---- */

static void json_names(psdm_output *out, const char *key, const view *v, psdm_parameter_fate fate) {
  char name[32];
  psdm_json_array(out, key);
  for (int k = 0; k < v->standard; k++)
    if (fate_of(v, k) == fate) psdm_json_string(out, NULL, name_of(v, k, name));
  psdm_json_close(out);
}

static void json_base(psdm_output *out, const view *v) {
  char name[32];
  psdm_json_array(out, "base_parameters");
  for (int j = 0; j < v->l; j++) {
    int at = 0, k;
    double x;
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", name_of(v, own_parameter(v, j), name));
    psdm_json_object(out, "formula");
    while (next_term(v, j, &at, &k, &x)) psdm_json_number(out, name_of(v, k, name), x);
    psdm_json_close(out);
    psdm_json_number(out, "value", v->theta[j]);
    if (v->symbolic) psdm_json_string(out, "symbolic", psdm_symbolic_text(v->symbolic, j, PSDM_FORMULA_TEXT));
    if (v->symbolic && !psdm_symbolic_holds(v->symbolic, j)) psdm_json_bool(out, "numbers", true);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void json_decision(psdm_output *out, const view *v) {
  static const char *const by[] = {"T", "R", "sigma"};
  const psdm_params *p = v->params;
  char name[32];
  psdm_json_integer(out, "rows", p->rows);
  psdm_json_integer(out, "columns", p->columns);
  psdm_json_number(out, "spread_random", p->spread_random);
  psdm_json_number(out, "spread", p->spread);
  psdm_json_object(out, "decisions");
  for (int k = 0; k < 3; k++) {
    psdm_json_object(out, by[k]);
    psdm_json_integer(out, "rank", p->ranks[k]);
    psdm_json_number(out, "tau", p->tau[k]);
    psdm_json_number(out, "gap", p->gap[k]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_array(out, "table");
  for (int i = 0; i < p->columns; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "parameter", name_of(v, p->column[i], name));
    psdm_json_number(out, "T", p->T[i]);
    psdm_json_number(out, "sigma", p->sigma[i]);
    psdm_json_number(out, "R", p->R[i]);
    psdm_json_number(out, "V2N", p->V2N[i]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static int print_json(const view *v) {
  psdm_output *out;
  char name[32];
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "params");
  tool_json_robot(out, "name", v->robot);
  psdm_json_string(out, "model", v->set->model);
  if (v->params) psdm_json_string(out, "solver", v->set->solver);
  psdm_json_integer(out, "l", v->l);
  if (v->params) json_decision(out, v);
  json_base(out, v);
  if (v->symbolic) {
    psdm_json_object(out, "lengths");
    for (int i = 0; i < psdm_symbolic_lengths(v->symbolic); i++) {
      double value;
      const char *length = psdm_symbolic_length(v->symbolic, i, &value);
      psdm_json_number(out, length, value);
    }
    psdm_json_close(out);
    psdm_json_number(out, "symbolic_error", psdm_symbolic_error(v->symbolic));
  }
  json_names(out, "unchanged", v, PSDM_FATE_UNCHANGED);
  json_names(out, "grouped", v, PSDM_FATE_GROUPED_INTO);
  json_names(out, "regrouped", v, PSDM_FATE_REGROUPED);
  json_names(out, "no_effect", v, PSDM_FATE_NO_EFFECT);
  if (v->minimal) {
    psdm_json_object(out, "minimal_norm");
    for (int i = 0; i < v->params->columns; i++)
      psdm_json_number(out, name_of(v, v->params->column[i], name), v->minimal[v->params->column[i]]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  return tool_commit(&out);
}

/* ---- finding it ---- */

static int choice(const char *setting_name, const char *text, const char *const *words, int count, int *out) {
  for (*out = 0; *out < count; ++*out)
    if (strcmp(words[*out], text) == 0) return -1;
  const char *near = tool_nearest(text, words, (size_t)count);
  return tool_usage("params", "--%s is '%s'%s%s%s", setting_name, tool_safe(text), near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

/* what does not go together */
static int check_settings(const params_settings *set, int model) {
  if (set->json && set->latex) return tool_usage("params", "--json and --latex are two formats; keep one");
  if (set->symbolic && model) return tool_usage("params", "--symbolic needs --model exact: samples know no lengths");
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
    tool_warn("rank %d by T and %d by sigma: the samples do not decide; see --model exact", p->ranks[0], p->ranks[2]);
  else if (gap < 1e3)
    tool_warn("what counts is only %.1g times larger than what does not: the samples hardly decide; see --model exact",
              gap);
}

static int find(view *v, int model, int solver) {
  psdm_error error;
  if (model) {
    const psdm_params_options options = {.sampling = (psdm_sampling)(model - 1),
                                         .solver = (psdm_solver)solver,
                                         .no_scaling = v->set->no_scaling,
                                         .assume_count = v->assume.assume_count,
                                         .assume = v->assume.assume};
    progress bar = progress_start("sampling and decomposing", 0);
    psdm_status status = psdm_params_solve(v->robot, &options, NULL, &v->params, &error);
    progress_end(&bar);
    if (status) return tool_fail(&error);
    v->l = v->params->rank;
    warn_doubt(v->params);
  } else {
    progress bar = progress_start("deriving", 0);
    psdm_status status = psdm_params_derive(v->robot, &v->assume, NULL, &v->model, NULL, &error);
    progress_end(&bar);
    if (status) return tool_fail(&error);
    v->l = psdm_model_l(v->model);
    int code = v->set->symbolic ? find_symbols(v) : -1;
    if (code >= 0) return code;
  }
  v->standard = psdm_robot_parameter_count(v->robot);
  v->known = psdm_robot_ready(v->robot, &error) == PSDM_OK;
  v->theta = calloc((size_t)v->l + 1, sizeof *v->theta);
  v->pi = calloc((size_t)v->standard + 1, sizeof *v->pi);
  if (!v->theta || !v->pi) return tool_no_memory("params");
  psdm_robot_parameters(v->robot, v->pi);
  if (v->model) psdm_model_theta(v->model, v->pi, v->theta);
  else psdm_params_theta(v->params, v->pi, v->theta);
  if (!v->set->minimal_norm) return -1;
  if (!v->known) return tool_fail(&error);
  v->minimal = calloc((size_t)v->standard + 1, sizeof *v->minimal);
  if (!v->minimal) return tool_no_memory("params");
  psdm_params_minimal(v->params, v->pi, v->minimal);
  return -1;
}

static int show(const view *v) {
  if (v->set->json) return print_json(v);
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
  if (code < 0) code = tool_load("params", path, ROBOT_SETTINGS_OF(&set), &v.robot);
  if (code < 0) code = find(&v, model, solver);
  if (code < 0) code = show(&v);
  free(v.minimal);
  free(v.theta);
  free(v.pi);
  psdm_symbolic_free(v.symbolic);
  psdm_params_free(v.params);
  psdm_model_free(v.model);
  psdm_robot_free(v.robot);
  return code;
}
