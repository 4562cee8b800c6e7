/* params.c: base parameters with formulas and values, exact or from samples (Gautier 1991). */
#include <math.h>
#include <string.h>

#include "study/study.h"
#include "psdm/results.h"
#include "psdm/symbolic.h"

#define PARAMS_SETTINGS(X)                                                                                        \
  X(flag, symbolic, "", "", "formulas in symbols for the link lengths (a3, d3, ...), not their values")           \
  X(text, rename, "", "a3=D3,...", "names for the lengths (with `symbolic`)")                                     \
  X(text, model, "exact", "exact|d|d0|h",                                                                         \
    "exact structure, or samples of torques (d), torques at rest (d0) or energies (h)")                           \
  X(text, solver, "qr", "qr|svd", "factorisation of a sampled model")                                             \
  X(flag, no_scaling, "", "", "use random samples without selection (sampled models)")                            \
  X(number, samples, "0", "N", "random states (sampled models); 0: as many as give two rows for each column")     \
  X(number, tolerance, "0", "T",                                                                                  \
    "values up to this share of the largest count as zero (sampled models); 0: rows times the machine precision") \
  X(text, scaling, "", "L1,L2",                                                                                   \
    "choose samples by L1 |W| + L2 S of their rows, as the paper does, not by log S (sampled models)")            \
  X(flag, minimal_norm, "", "", "also print the standard parameters of least norm (sampled models)")              \
  X(text, assume, "", "A = 0,B = 2*C,...", "linear relations of body parameters, in addition to the file's")      \
  X(flag, latex, "", "", "write a LaTeX tabular")                                                                 \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(params_settings, PARAMS_SETTINGS);

/* what is found, whichever way: a derived model, or sampled parameters */
typedef struct params {
  psdm_job job;
  params_settings set;
  int model, solver;
  double scaling[2];
  psdm_derive_options assume;
  psdm_model *derived;
  psdm_base_parameters *sampled;
  psdm_symbolic *symbolic;
} params;

#define SETTINGS_STRUCT params_settings
static const psdm_setting settings[] = {PARAMS_SETTINGS(PSDM_SETTINGS_ROW){0}};

/* incompatible settings */
static psdm_status check(params *j) {
  const params_settings *set = &j->set;
  const psdm_job *job = &j->job;
  j->model = psdmp_job_choice(job, "model");
  j->solver = psdmp_job_choice(job, "solver");
  if (set->json && set->latex) return psdmp_job_wrong(job, "`json` and `latex` exclude each other");
  if (set->symbolic && j->model)
    return psdmp_job_wrong(job, "`symbolic` needs `model` exact: samples contain no symbols");
  if (set->rename && !set->symbolic) return psdmp_job_wrong(job, "`rename` needs `symbolic`");
  const char *sampled = set->minimal_norm     ? "minimal_norm"
                        : set->no_scaling     ? "no_scaling"
                        : set->samples != 0   ? "samples"
                        : set->tolerance != 0 ? "tolerance"
                        : set->scaling        ? "scaling"
                                              : NULL;
  if (sampled && !j->model) return psdmp_job_wrong(job, "`%s` needs a sampled model: `model = d`, d0 or h", sampled);
  if (!(set->samples >= 0 && set->samples <= 1e6) || set->samples != floor(set->samples))
    return psdmp_job_wrong(job, "`samples`: a whole number up to 1000000 was expected");
  if (!(set->tolerance >= 0 && set->tolerance < 1))
    return psdmp_job_wrong(job, "`tolerance`: a number from 0 to below 1 was expected");
  if (set->scaling && set->no_scaling) return psdmp_job_wrong(job, "`scaling` and `no_scaling` exclude each other");
  psdm_status status = set->scaling ? psdmp_job_numbers(job, "scaling", set->scaling, 2, j->scaling) : PSDM_OK;
  if (!status && set->scaling && !(j->scaling[0] >= 0 && j->scaling[1] >= 0 && j->scaling[0] + j->scaling[1] > 0))
    return psdmp_job_wrong(job, "`scaling`: two weights that are not negative nor both zero were expected");
  return status ? status : psdmp_job_pieces(job, "assume", set->assume, &j->assume.assume, &j->assume.assume_count);
}

static psdm_status find_symbols(params *j) {
  psdm_symbolic_options options = {.assume_count = j->assume.assume_count, .assume = j->assume.assume};
  psdm_error error;
  psdm_status status = psdmp_job_pieces(&j->job, "rename", j->set.rename, &options.rename, &options.rename_count);
  if (status) return status;
  return psdm_symbolic_derive(j->job.robot, j->derived, &options, NULL, &j->symbolic, &error)
             ? psdmp_job_fail(&j->job, &error)
             : PSDM_OK;
}

/* two groups lie ten digits apart or more, unless axes are nearly parallel or lengths nearly zero */
static void warn_doubt(const params *j) {
  const psdm_base_parameters *p = j->sampled;
  double gap = fmin(fmin(p->gap[0], p->gap[1]), p->gap[2]);
  if (p->ranks[0] != p->ranks[2])
    psdmp_job_warn(&j->job, "rank %d by T and %d by sigma: the samples are inconclusive; use `model = exact`",
                   p->ranks[0], p->ranks[2]);
  else if (gap < 1e3)
    psdmp_job_warn(&j->job,
                   "significant values are only %.1g times larger than insignificant ones: the samples are nearly "
                   "inconclusive; use `model = exact`",
                   gap);
}

static psdm_status find(params *j) {
  psdm_job *job = &j->job;
  psdm_params_result *made;
  psdm_error error;
  psdm_base_parameters_options options = {.sampling = j->model ? (psdm_sampling)(j->model - 1) : PSDM_SAMPLE_D,
                                          .solver = (psdm_solver)j->solver,
                                          .no_scaling = j->set.no_scaling,
                                          .samples = (int)j->set.samples,
                                          .tolerance = j->set.tolerance,
                                          .scaling = {j->scaling[0], j->scaling[1]},
                                          .assume_count = j->assume.assume_count,
                                          .assume = j->assume.assume};
  psdmp_job_tell(job, PSDM_JOB_STAGE, j->model ? "sampling and decomposing" : "deriving");
  psdm_status status = j->model ? psdm_base_parameters_solve(job->robot, &options, NULL, &j->sampled, &error)
                                : psdm_base_parameters_derive(job->robot, &j->assume, NULL, &j->derived, NULL, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  if (j->sampled) warn_doubt(j);
  status = j->set.symbolic ? find_symbols(j) : PSDM_OK;
  if (status) return status;
  if (j->set.minimal_norm && psdm_robot_ready(job->robot, &error)) return psdmp_job_fail(job, &error);
  if (psdm_params_result_new(job->robot, j->derived, j->symbolic, j->sampled, &options, j->set.minimal_norm, NULL,
                             &made, &error))
    return psdmp_job_fail(job, &error);
  job->answer = &made->head;
  return PSDM_OK;
}

/* ---- LaTeX ---- */

/* "\mathit{ZZ}_{1} + 0.4\,mz_{3}": formulas are polynomials in lengths: twelve digits (nine if sampled) show them
 * without rounding */
static void write_formula(const params *j, const psdm_base_parameter *base, psdm_output *out) {
  for (long at = 0; at < base->formula.rows; at++) {
    const char *name = base->formula.item[at].name;
    double x = base->formula.item[at].value;
    size_t letters = strcspn(name, "0123456789");
    psdm_output_text(out, x < 0 ? (!at ? "-" : " - ") : !at ? "" : " + ");
    if (fabs(fabs(x) - 1) > (j->derived ? 1e-12 : 1e-9))
      psdm_output_print(out, "%.*g\\,", j->derived ? 12 : 9, fabs(x));
    psdm_output_print(out, letters > 1 ? "\\mathit{%.*s}_{%s}" : "%.*s_{%s}", (int)letters, name, name + letters);
  }
}

static void write_latex(const void *self, psdm_output *out) {
  const params *j = self;
  const psdm_params_result *r = (const psdm_params_result *)j->job.answer;
  bool known = psdm_robot_ready(j->job.robot, NULL) == PSDM_OK;
  psdm_output_print(out, "\\begin{tabular}{r%sp{0.75\\textwidth}}\n", known ? "r" : "");
  psdm_output_print(out, "  & %s$\\theta_j$ \\\\ \\hline\n", known ? "value & " : "");
  for (int k = 0; k < r->l; k++) {
    psdm_output_print(out, "  $\\theta_{%d}$ & ", k + 1);
    if (known) psdm_output_print(out, "$%.6g$ & ", r->base_parameters.item[k].value);
    psdm_output_text(out, "$");
    if (j->symbolic) psdm_output_text(out, psdm_symbolic_text(j->symbolic, k, PSDM_FORMULA_LATEX));
    else write_formula(j, &r->base_parameters.item[k], out);
    psdm_output_text(out, "$ \\\\\n");
  }
  psdm_output_text(out, "\\end{tabular}\n");
}

static psdm_status run(psdm_job *job) {
  params *j = (params *)job;
  psdm_status status = check(j);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = find(j);
  return status ? status : psdmp_job_document(job, "latex", j->set.latex ? "-" : NULL, write_latex, j);
}

static void release(psdm_job *job) {
  params *j = (params *)job;
  psdm_symbolic_free(j->symbolic);
  psdm_base_parameters_free(j->sampled);
  psdm_model_free(j->derived);
}

PSDMP_JOB_KIND(study, params, params, .free = release);
