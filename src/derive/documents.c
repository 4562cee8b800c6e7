/* documents.c: models and base parameters as documents. */
#include <math.h>

#include "derive/derive_priv.h"
#include "model/model.h"
#include "psdm/results.h"
#include "psdm/symbolic.h"

PSDM_RESULT_TYPE(psdm_class_sizes, PSDM_CLASS_SIZES, NULL, "Functions of each class")
PSDM_RESULT_TYPE(psdm_plain_sizes, PSDM_PLAIN_SIZES, NULL, "What the model costs before it is optimised")
PSDM_RESULT_TYPE(psdm_derive_result, PSDM_DERIVE_RESULT, "derive", "A model in closed form and how good it is")
PSDM_RESULT_TYPE(psdm_rank_decision, PSDM_RANK_DECISION, NULL, "A rank and what decided it")
PSDM_RESULT_TYPE(psdm_rank_decisions, PSDM_RANK_DECISIONS, NULL, "Three ways to find the rank of the samples")
PSDM_RESULT_TYPE(psdm_rank_row, PSDM_RANK_ROW, NULL, "One column of the samples, as in Table II of Gautier 1991")
PSDM_RESULT_TYPE(psdm_base_parameter, PSDM_BASE_PARAMETER, NULL, "A base parameter and its formula")
PSDM_RESULT_TYPE(psdm_params_result, PSDM_PARAMS_RESULT, "params", "The base parameters of a robot")

/* ---- derive ---- */

static long class_size(const psdm_model *m, int k) {
  return psdm_model_class_start(m, k + 1) - psdm_model_class_start(m, k);
}

static bool behind(const psdm_robot *r, int body, int other) {
  while (body >= 0 && body != other) body = r->body[body].parent;
  return body == other;
}

/* Monomials of the acceleration of a body's joint, after the filters of section 3.1.2 of Lloyd, Irani, Ahmadi (2021):
 * degree two in the joints behind it, one in those beside it, none in joints on the base. In a chain: equation 48 */
static double system_of(const psdm_robot *r, const psdm_model *m, int accelerated) {
  double size = 1;
  for (int b = 0; b < r->bodies; b++) {
    bool slides = m->prismatic[r->joint[r->body[b].index].q];
    if (r->body[b].parent < 0) continue;
    if (b != accelerated && behind(r, b, accelerated)) size *= slides ? 3 : 5;
    else size *= slides ? 2 : 3;
  }
  return size;
}

/* The model as it stands: candidates by equation 21, and operations where every function is multiplied out, as in Table
 * 2. Squares are computed once: c^2 of each revolute joint and qd^2 of each joint. */
static const psdm_plain_sizes *plain_sizes(psdm_result *head, const psdm_robot *r, const psdm_model *m) {
  long p = psdm_model_p(m), n = m->n, l = psdm_model_l(m);
  unsigned char e[5 * PSDMP_DERIVE_JOINTS];
  psdm_plain_sizes *plain = psdm_robot_coupled(r) ? NULL : psdm_result_items(head, &psdm_plain_sizes_type, 1);
  if (!plain) return NULL;
  plain->candidates = (double)((n + 1) * (n + 2) / 2);
  plain->mult = n * (p + l) + n;
  plain->add = n * (p + l - 2);
  for (int j = 0; j < n; j++) {
    plain->candidates *= m->prismatic[j] ? 3 : 6;
    plain->mult += !m->prismatic[j];
  }
  for (long f = 0; f < p; f++) {
    int factors = 0;
    psdm_model_exponents(m, f, e);
    for (int k = 0; k < 5 * n; k++) factors += e[k] != 0;
    if (factors) plain->mult += factors - 1;
  }
  for (int b = 0; b < r->bodies; b++) plain->largest_system = fmax(plain->largest_system, system_of(r, m, b));
  return plain;
}

psdm_status psdm_derive_result_new(const psdm_robot *robot, const psdm_model *model, const psdm_derive_options *options,
                                   const psdm_derive_info *info, int states, const psdm_allocator *allocator,
                                   psdm_derive_result **made, psdm_error *error) {
  psdm_result *head;
  int n = psdm_model_n(model);
  *made = NULL;
  psdm_status status = psdm_result_new(&psdm_derive_result_type, allocator, &head, error);
  if (status) return status;
  psdm_derive_result *r = (psdm_derive_result *)head;
  long *size = psdm_result_memory(head, 2 * n, sizeof *size);
  for (int j = 0; size && j < 2 * n; j++) size[j] = class_size(model, 1 + j);
  psdm_result_name_robot(head, robot, &r->name, &r->fingerprint);
  r->n = n;
  r->p = psdm_model_p(model);
  r->l = psdm_model_l(model);
  r->classes.gravity = class_size(model, 0);
  PSDM_RESULT_SET(r->classes.acceleration, size, n);
  PSDM_RESULT_SET(r->classes.centrifugal, size ? size + n : NULL, n);
  r->classes.coriolis = r->p - psdm_model_class_start(model, 1 + 2 * n);
  r->method = options && options->method == PSDM_METHOD_DENSE ? "dense" : "exact";
  r->basis = options && options->basis == PSDM_BASIS_ECHELON ? "echelon" : "standard";
  r->seconds = info->seconds;
  r->residual = info->residual;
  r->states = states;
  r->nonzeros = psdm_model_entries(model);
  r->plain = plain_sizes(head, robot, model);
  r->dropped = info->dropped, r->kept = info->kept;
  r->rank_dropped = info->rank_dropped, r->rank_kept = info->rank_kept;
  r->searched = info->searched;
  r->bytes = (long)info->bytes;
  status = psdm_result_complete(head, error);
  if (!status) *made = r;
  return status;
}

/* ---- params ---- */

/* one answer, from either method */
typedef struct view {
  psdm_params_result *r;
  const psdm_robot *robot;
  const psdm_model *model;
  const psdm_base_parameters *params;
  const psdm_symbolic *symbolic;
  int l, standard;
} view;

static psdm_parameter_fate fate_of(const view *v, int k) {
  return v->model ? psdm_model_fate(v->model, k) : psdm_base_parameters_fate(v->params, k);
}

static const char *name_of(const view *v, int k) {
  char text[32];
  return psdm_result_text(&v->r->head, psdm_robot_parameter_name(v->robot, k, text, sizeof text));
}

/* term number at of formula j; false past the end. A sampled coefficient may be 0: it is then left out */
static bool term_at(const view *v, int j, int at, int *parameter, double *x) {
  if (v->model) {
    if (at >= psdm_model_base_terms(v->model, j)) return false;
    *x = psdm_model_base_term(v->model, j, at, parameter);
    return true;
  }
  const psdm_base_parameters *p = v->params;
  int others = p->columns - p->rank;
  if (at > others) return false;
  *x = at == 0 ? 1 : p->beta[(long)j * others + at - 1];
  *parameter = p->column[at == 0 ? p->kept[j] : p->dropped[at - 1]];
  return true;
}

static void fill_base(const view *v, int j, double value, psdm_base_parameter *base) {
  int count = 0, used = 0, parameter;
  double x;
  while (term_at(v, j, count, &parameter, &x)) count++;
  psdm_named_number *term = psdm_result_memory(&v->r->head, count, sizeof *term);
  for (int at = 0; term && term_at(v, j, at, &parameter, &x); at++)
    if (at == 0 || x != 0) term[used++] = (psdm_named_number){name_of(v, parameter), x};
  PSDM_RESULT_SET(base->formula, term, used);
  base->name = used ? term[0].name : NULL;
  base->value = value;
  if (!v->symbolic) return;
  base->symbolic = psdm_result_text(&v->r->head, psdm_symbolic_text(v->symbolic, j, PSDM_FORMULA_TEXT));
  base->numbers = !psdm_symbolic_holds(v->symbolic, j);
}

/* the parameters with this fate; count is set */
static const psdm_word *fate_names(const view *v, psdm_parameter_fate fate, long *count) {
  psdm_word *name = psdm_result_memory(&v->r->head, v->standard, sizeof *name);
  for (int k = 0; name && k < v->standard; k++)
    if (fate_of(v, k) == fate) name[(*count)++] = name_of(v, k);
  return name;
}

static void fill_decision(const view *v) {
  const psdm_base_parameters *p = v->params;
  psdm_params_result *r = v->r;
  psdm_rank_decisions *decisions = psdm_result_items(&r->head, &psdm_rank_decisions_type, 1);
  psdm_rank_row *row = psdm_result_items(&r->head, &psdm_rank_row_type, p->columns);
  r->rows = p->rows, r->columns = p->columns;
  r->spread_random = p->spread_random, r->spread = p->spread;
  psdm_rank_decision *by[] = {&decisions->T, &decisions->R, &decisions->sigma};
  for (int k = 0; decisions && k < 3; k++) *by[k] = (psdm_rank_decision){p->ranks[k], p->tau[k], p->gap[k]};
  for (int i = 0; row && i < p->columns; i++)
    row[i] = (psdm_rank_row){name_of(v, p->column[i]), p->T[i], p->sigma[i], p->R[i], p->V2N[i]};
  r->decisions = decisions;
  PSDM_RESULT_SET(r->table, row, p->columns);
}

static void fill_lengths(const view *v) {
  int count = psdm_symbolic_lengths(v->symbolic);
  psdm_named_number *length = psdm_result_memory(&v->r->head, count, sizeof *length);
  for (int i = 0; length && i < count; i++)
    length[i].name = psdm_result_text(&v->r->head, psdm_symbolic_length(v->symbolic, i, &length[i].value));
  PSDM_RESULT_SET(v->r->lengths, length, count);
  v->r->symbolic_error = psdm_symbolic_error(v->symbolic);
}

static void fill_minimal(const view *v, const double *pi, double *minimal) {
  int count = v->params->columns;
  psdm_named_number *number = psdm_result_memory(&v->r->head, count, sizeof *number);
  psdm_base_parameters_minimal(v->params, pi, minimal);
  for (int i = 0; number && i < count; i++)
    number[i] = (psdm_named_number){name_of(v, v->params->column[i]), minimal[v->params->column[i]]};
  PSDM_RESULT_SET(v->r->minimal_norm, number, count);
}

static void fill(const view *v, bool minimal) {
  psdm_params_result *r = v->r;
  double *pi = psdm_result_memory(&r->head, 2L * v->standard + v->l, sizeof *pi);
  psdm_base_parameter *base = psdm_result_items(&r->head, &psdm_base_parameter_type, v->l);
  if (!pi || !base) return;
  double *theta = pi + v->standard;
  psdm_robot_parameters(v->robot, pi);
  if (v->model) psdm_model_theta(v->model, pi, theta);
  else psdm_base_parameters_theta(v->params, pi, theta);
  r->l = v->l;
  for (int j = 0; j < v->l; j++) fill_base(v, j, theta[j], &base[j]);
  PSDM_RESULT_SET(r->base_parameters, base, v->l);
  if (v->params) fill_decision(v);
  if (v->symbolic) fill_lengths(v);
  r->unchanged.item = fate_names(v, PSDM_FATE_UNCHANGED, &r->unchanged.rows);
  r->grouped.item = fate_names(v, PSDM_FATE_GROUPED_INTO, &r->grouped.rows);
  r->regrouped.item = fate_names(v, PSDM_FATE_REGROUPED, &r->regrouped.rows);
  r->no_effect.item = fate_names(v, PSDM_FATE_NO_EFFECT, &r->no_effect.rows);
  if (minimal && v->params) fill_minimal(v, pi, theta + v->l);
}

psdm_status psdm_params_result_new(const psdm_robot *robot, const psdm_model *model, const psdm_symbolic *symbolic,
                                   const psdm_base_parameters *params, const psdm_base_parameters_options *options,
                                   bool minimal, const psdm_allocator *allocator, psdm_params_result **made,
                                   psdm_error *error) {
  static const char *const sampled[] = {"d", "d0", "h"};
  psdm_result *head;
  *made = NULL;
  psdm_status status = psdm_result_new(&psdm_params_result_type, allocator, &head, error);
  if (status) return status;
  view v = {.r = (psdm_params_result *)head,
            .robot = robot,
            .model = model,
            .params = params,
            .symbolic = symbolic,
            .l = model ? psdm_model_l(model) : params->rank,
            .standard = psdm_robot_parameter_count(robot)};
  psdm_result_name_robot(head, robot, &v.r->name, &v.r->fingerprint);
  v.r->model = model ? "exact" : sampled[options ? options->sampling : PSDM_SAMPLE_D];
  v.r->solver = model ? NULL : options && options->solver == PSDM_SOLVER_SVD ? "svd" : "qr";
  fill(&v, minimal);
  status = psdm_result_complete(head, error);
  if (!status) *made = v.r;
  return status;
}
