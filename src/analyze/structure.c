/* structure.c: which entries of M, c and g exist, and what they depend on, from the exact coefficients.
 *
 * The monomials s^a c^b, a in {0, 1}, of a revolute joint are linearly independent functions on the circle, and so are
 * their products and the powers of a prismatic joint: an entry vanishes identically if and only if all of its
 * coefficients do. */
#include "analyze/structure_priv.h"

#include <math.h>
#include <string.h>

const double psdmp_analyze_structure_zero = 1e-12;

void psdm_structure_free(psdm_structure *s) {
  if (!s) return;
  psdmp_base_arena_free_owner(&s->arena, s);
}

void psdmp_analyze_form_exponents(const psdm_structure *s, const psdmp_analyze_linear_form *form,
                                  unsigned char *exponents) {
  psdm_model_exponents(s->model, form->function, exponents);
}

/* ---- coefficients ---- */

/* entries of P that belong to one function and one joint become a form */
static bool collect_forms(psdm_structure *s) {
  long entries = psdm_model_entries(s->model);
  int *parameter = PSDMP_BASE_NEW(&s->arena, entries, int);
  double *share = PSDMP_BASE_NEW(&s->arena, entries, double);
  s->form = PSDMP_BASE_NEW(&s->arena, entries, psdmp_analyze_linear_form);
  if (!parameter || !share || !s->form) return false;
  for (long e = 0; e < entries; e++) {
    long function;
    int row;
    psdm_model_entry(s->model, e, &function, &row, &parameter[e], &share[e]);
    psdmp_analyze_linear_form *last = s->forms ? &s->form[s->forms - 1] : NULL;
    if (!last || last->function != function || last->row != row) {
      last = &s->form[s->forms++];
      *last =
          (psdmp_analyze_linear_form){.function = function, .row = row, .parameter = &parameter[e], .share = &share[e]};
    }
    last->count++;
  }
  return true;
}

/* forms are in the order of functions, functions in the order of classes */
static void set_rates(psdm_structure *s) {
  int class = 0;
  for (long f = 0; f < s->forms; f++) {
    while (s->form[f].function >= psdm_model_class_start(s->model, class + 1)) class ++;
    psdm_model_class_rates(s->model, class, &s->form[f].first, &s->form[f].second);
  }
}

/* theta, and the scale of its rounding */
static bool take_numbers(psdm_structure *s) {
  double *pi = PSDMP_BASE_NEW(&s->arena, psdm_model_standard_count(s->model), double);
  s->theta = PSDMP_BASE_NEW(&s->arena, s->l, double);
  s->size = PSDMP_BASE_NEW(&s->arena, s->l, double);
  if (!pi || !s->theta || !s->size) return false;
  psdm_robot_parameters(s->robot, pi);
  psdm_model_theta(s->model, pi, s->theta);
  for (int j = 0; j < s->l; j++)
    for (int t = 0; t < psdm_model_base_terms(s->model, j); t++) {
      int k;
      double x = psdm_model_base_term(s->model, j, t, &k);
      s->size[j] += fabs(x * pi[k]);
    }
  return true;
}

static double cancelled(const psdm_structure *s, const psdmp_analyze_linear_form *f) {
  double sum = 0;
  for (int k = 0; k < f->count; k++) sum += fabs(f->share[k]) * s->size[f->parameter[k]];
  return f->first < 0 ? s->gravity * sum : sum;
}

static void evaluate_forms(psdm_structure *s) {
  for (long f = 0; f < s->forms; f++) {
    psdmp_analyze_linear_form *form = &s->form[f];
    form->value = 0;
    for (int k = 0; k < form->count; k++) form->value += form->share[k] * s->theta[form->parameter[k]];
    if (form->first < 0) form->value *= s->gravity;
  }
}

/* |M_ij| <= sqrt(M_ii M_jj): the scale of entries; velocity terms are derivatives of such entries */
static double scale_of(const psdm_structure *s, const psdmp_analyze_linear_form *f, double gravity) {
  if (f->first < 0) return gravity;
  double a = s->reach[f->row], b = s->reach[f->first];
  if (f->second < 0) return a * b;
  double c = s->reach[f->second];
  return fmax(fmax(a * b, a * c), b * c);
}

static bool find_zeros(psdm_structure *s) {
  double gravity = 0;
  s->reach = PSDMP_BASE_NEW(&s->arena, s->n, double);
  if (!s->reach) return false;
  for (long f = 0; f < s->forms; f++) {
    const psdmp_analyze_linear_form *form = &s->form[f];
    if (form->first < 0) gravity = fmax(gravity, fabs(form->value));
    if (form->first == form->row && form->second < 0)
      s->reach[form->row] = fmax(s->reach[form->row], sqrt(fabs(form->value)));
  }
  for (long f = 0; f < s->forms; f++) {
    psdmp_analyze_linear_form *form = &s->form[f];
    form->zero =
        fabs(form->value) <= psdmp_analyze_structure_zero * fmax(cancelled(s, form), scale_of(s, form, gravity));
  }
  return true;
}

/* ---- entries ---- */

static int class_of(const psdm_structure *s, int first, int second) {
  if (first < 0) return 0;
  return second < 0 ? 1 + first : s->class_of[first * s->n + second];
}

static bool mark_entries(psdm_structure *s) {
  int n = s->n, classes = psdm_model_classes(s->model), first, second;
  unsigned char *exponents = PSDMP_BASE_NEW(&s->arena, 5 * n, unsigned char);
  s->class_of = PSDMP_BASE_NEW(&s->arena, n * n, int);
  s->present = PSDMP_BASE_NEW(&s->arena, (long)classes * n, unsigned char);
  s->depends = PSDMP_BASE_NEW(&s->arena, (long)classes * n * n, unsigned char);
  if (!exponents || !s->class_of || !s->present || !s->depends) return false;
  for (int c = 1 + n; c < classes; c++) {
    psdm_model_class_rates(s->model, c, &first, &second);
    s->class_of[first * n + second] = s->class_of[second * n + first] = c;
  }
  for (long f = 0; f < s->forms; f++) {
    const psdmp_analyze_linear_form *form = &s->form[f];
    if (form->zero || (form->first < 0 && s->gravity == 0)) continue;
    long entry = (long)class_of(s, form->first, form->second) * n + form->row;
    s->present[entry] = 1;
    psdmp_analyze_form_exponents(s, form, exponents);
    for (int j = 0; j < n; j++)
      if (exponents[j] || exponents[n + j] || exponents[2 * n + j]) s->depends[entry * n + j] = 1;
  }
  return true;
}

psdm_status psdm_structure_new(const psdm_robot *robot, const psdm_model *model, bool numeric,
                               const psdm_allocator *allocator, psdm_structure **structure, psdm_error *error) {
  *structure = NULL;
  psdm_status status = psdm_model_match(model, robot, error);
  if (!status && numeric) status = psdm_robot_ready(robot, error);
  if (status) return status;
  psdm_structure *s = psdmp_base_alloc(allocator, sizeof *s);
  if (!s) return psdmp_base_no_memory("", error);
  const double *g = psdm_robot_gravity(robot);
  *s = (psdm_structure){.arena = {.allocator = allocator},
                        .robot = robot,
                        .model = model,
                        .n = psdm_model_n(model),
                        .l = psdm_model_l(model),
                        .numeric = numeric};
  s->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  bool done = collect_forms(s);
  if (done) set_rates(s);
  if (done && numeric) {
    done = take_numbers(s);
    if (done) evaluate_forms(s);
    done = done && find_zeros(s);
  }
  done = done && mark_entries(s) && psdmp_analyze_structure_conditions(s) && psdmp_analyze_structure_springs(s);
  if (!done) {
    psdm_structure_free(s);
    return psdmp_base_no_memory("", error);
  }
  *structure = s;
  return PSDM_OK;
}

static int entry(const psdm_structure *s, int class, int row, unsigned char *depends) {
  long at = (long)class * s->n + row;
  if (depends) memcpy(depends, &s->depends[at * s->n], (size_t)s->n);
  return s->present[at];
}

int psdm_structure_mass(const psdm_structure *s, int i, int j, unsigned char *depends) {
  return entry(s, 1 + j, i, depends);
}
int psdm_structure_gravity(const psdm_structure *s, int i, unsigned char *depends) { return entry(s, 0, i, depends); }
int psdm_structure_coriolis(const psdm_structure *s, int i, int j, int k, unsigned char *depends) {
  return entry(s, s->class_of[j * s->n + k], i, depends);
}

bool psdm_structure_constant_mass(const psdm_structure *s) {
  for (long k = (long)s->n * s->n; k < (long)(s->n + 1) * s->n * s->n; k++)
    if (s->depends[k]) return false;
  return true;
}

bool psdm_structure_diagonal_mass(const psdm_structure *s) {
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++)
      if (i != j && psdm_structure_mass(s, i, j, NULL)) return false;
  return true;
}

bool psdm_structure_linear(const psdm_structure *s) {
  for (int i = 0; i < s->n; i++)
    if (psdm_structure_gravity(s, i, NULL)) return false;
  return psdm_structure_constant_mass(s);
}

const char *psdm_structure_condition(const psdm_structure *s, psdm_wish wish, int index) {
  if ((unsigned)wish >= PSDM_WISHES || index < 0 || !s->sentence[wish]) return NULL;
  for (int k = 0; k < index; k++)
    if (!s->sentence[wish][k]) return NULL;
  return s->sentence[wish][index];
}
