/* cmd_params.c: psdm params: base parameters with formulas and values, exact or from samples (Gautier 1991). */
#include <math.h>
#include <string.h>

#include "tool.h"

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

const command_line params_line = {"params", NULL, positional, help};

/* "ZZ1 + 0.4 mz3 - YY2"; formulas are polynomials in lengths: twelve digits (nine if sampled) show them without
 * rounding */
static void print_formula(const psdm_params_result *r, const psdm_base_parameter *base) {
  int digits = r->solver ? 9 : 12;
  if (base->symbolic) printf("%s", base->symbolic);
  for (long at = 0; at < base->formula.rows && !base->symbolic; at++) {
    double x = base->formula.item[at].value;
    printf("%s", x < 0 ? (!at ? "-" : " - ") : !at ? "" : " + ");
    if (fabs(fabs(x) - 1) > (r->solver ? 1e-9 : 1e-12)) printf("%.*g ", digits, fabs(x));
    printf("%s", base->formula.item[at].name);
  }
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

static bool is_regrouped(const psdm_params_result *r, const char *parameter) {
  for (long k = 0; k < r->regrouped.rows; k++)
    if (strcmp(r->regrouped.item[k], parameter) == 0) return true;
  return false;
}

/* the rank decision of a sampled result, as in Gautier's Table II */
static void print_decision(const psdm_params_result *r, bool scaled) {
  static const char *const by[] = {"T (QR with pivoting)", "R (QR without)", "sigma (SVD)"};
  const psdm_rank_decision *decision[] = {&r->decisions->T, &r->decisions->R, &r->decisions->sigma};
  printf("  W is %ld x %ld; S = max|W|/min|W| = %.3g of random samples", r->rows, r->columns, r->spread_random);
  if (scaled) printf(", %.3g of the scaled ones", r->spread);
  printf("\n");
  for (int k = 0; k < 3; k++)
    printf("  rank %ld by %s: gap %.1e, tau %.1e\n", decision[k]->rank, by[k], decision[k]->gap, decision[k]->tau);
  printf("\n  %-4s %12s %12s %12s %12s  %s\n", "i", "T_ii", "sigma_i", "R_ii", "V2 N", "X_i");
  for (int i = 0; i < r->columns; i++) {
    const psdm_rank_row *row = &r->table.item[i];
    printf("  %-4d %12.4e %12.4e %12.4e %12.4e  %s%s\n", i + 1, row->T, row->sigma, row->R, row->V2N, row->parameter,
           is_regrouped(r, row->parameter) ? " *" : "");
  }
  printf("  (* is regrouped)\n\n");
}

static int print(const psdm_job *job) {
  const psdm_params_result *r = (const psdm_params_result *)psdm_job_result(job);
  const psdm_robot *robot = psdm_job_robot_used(job);
  bool known = psdm_robot_ready(robot, NULL) == PSDM_OK;
  if (tool_job_flag(job, "latex")) return EXIT_OK; /* it is written */
  printf("%s: %ld base parameters of %d standard ones", tool_safe(r->name), r->l, psdm_robot_parameter_count(robot));
  if (r->solver) printf(", by model %s and %s", r->model, r->solver);
  printf("\n\n");
  if (r->solver) print_decision(r, !tool_job_flag(job, "no_scaling"));
  printf("  %-4s %-6s %14s   %s\n", "#", "name", known ? "value" : "", "formula");
  for (int j = 0; j < r->l; j++) {
    printf("  %-4d %-6s ", j + 1, r->base_parameters.item[j].name);
    if (known) printf("%14.6g   ", r->base_parameters.item[j].value);
    else printf("%14s   ", "?");
    print_formula(r, &r->base_parameters.item[j]);
    printf("\n");
  }
  print_lengths(r);
  print_names(r->regrouped.item, r->regrouped.rows, "standard parameters are regrouped into others");
  print_names(r->no_effect.item, r->no_effect.rows, "standard parameters have no effect");
  if (r->minimal_norm.rows) printf("\nstandard parameters of least norm with the same torques:\n");
  for (long i = 0; i < r->minimal_norm.rows; i++)
    printf("  %-6s %14.6g\n", r->minimal_norm.item[i].name, r->minimal_norm.item[i].value);
  return EXIT_OK;
}

int cmd_params(int argc, char **argv) { return tool_job_command(&params_line, argc, argv, NULL, print); }
