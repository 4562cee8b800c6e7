/* symbolic.c: the coefficients of base parameters as polynomials in the link lengths.
 *
 * With the keep order of base_recursion.c a coefficient is a polynomial f of degree 0, 1 or 2 in the lengths,
 * homogeneous because its unit is a power of the metre. So its parts follow from derivations of the same robot at other
 * lengths, by exact differences:
 *
 *   degree 1:  c_i  = f(x + e_i) - f(x)
 *   degree 2:  c_ii = (f(x + e_i) + f(x - e_i) - 2 f(x)) / 2,   c_ik = f(x + e_i + e_k) - f(x + e_i) - f(x + e_k) +
 *                                                               f(x)
 *
 * Parallelogram loops regroup with the ratio of two lengths: f(x + e_i) / f(x) is then a power of (x_i + 1) / x_i for
 * every i.
 *
 * x is random, zero lengths stay zero. The result is compared with derivations at other lengths and at the robot's own;
 * a formula that differs anywhere is given in numbers instead. */
#include "derive/symbolic_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RATIO = 9 }; /* instead of a degree */
enum { FRESH = 3 }; /* derivations at lengths not used for any formula */

/* one coefficient: standard parameter `parameter` in the base parameter kept[base] */
typedef struct pair {
  int base, parameter, degree;
  struct part *first, *last;
  int parts;
} pair;

typedef struct part {
  struct part *next;
  psdmp_derive_monomial monomial;
} part;

typedef struct study {
  const psdm_robot *robot;
  const psdm_model *model;
  psdmp_derive_restriction assumed;
  psdmp_base_arena arena; /* everything below */
  psdm_robot copy;
  bool sampled;  /* base parameters come from samples, not from the recursion */
  int S, active; /* standard parameters, nonzero lengths */
  int *length;   /* (active) index among the robot's lengths */
  double *all;   /* (robot->lengths) */
  double *x;     /* (active) the random point */
  bool *matters; /* (active) some coefficient depends on it */

  int l, pairs; /* of the robot at random lengths */
  int *kept;    /* (l) standard parameters */
  int *find;    /* (l x S) pair, or -1 */
  pair *pair;
  double *worst; /* (l) largest difference at other lengths; infinite: another structure */
} study;

/* ---- derivations at other lengths ---- */

/* base parameters at lengths x (active); m is to be freed by its arena */
static psdm_status derive_at(study *s, const double *x, psdm_model *m, psdm_error *error) {
  psdm_derive_info info;
  double reach = 0;
  memset(s->all, 0, sizeof *s->all * (size_t)s->robot->lengths);
  for (int i = 0; i < s->active; i++) {
    s->all[s->length[i]] = x[i];
    reach += fabs(x[i]);
  }
  psdmp_robot_set_lengths(&s->copy, s->all);
  *m = (psdm_model){.arena = {.allocator = s->arena.allocator}, .standard = s->S};
  return s->sampled ? psdmp_derive_base_sampled(&s->copy, &s->assumed, 0, m, &info, error)
                    : psdmp_derive_base_recursion(&s->copy, psdmp_derive_unit_length(reach), 0, m, &info, error);
}

/* the coefficients as a vector over the pairs; a coefficient that is not a pair invalidates its base parameter */
static psdm_status coefficients_at(study *s, const double *x, double *f, psdm_error *error) {
  psdm_model m;
  psdm_status status = derive_at(s, x, &m, error);
  bool same = !status && m.l == s->l;
  for (int j = 0; same && j < s->l; j++) same = m.base[j].parameter == s->kept[j];
  memset(f, 0, sizeof *f * (size_t)s->pairs);
  for (int j = 0; !status && j < s->l; j++) {
    if (!same) s->worst[j] = INFINITY;
    for (int t = 0; same && t < m.base[j].terms; t++) {
      int p = s->find[(long)j * s->S + m.base[j].term[t].parameter];
      if (p >= 0) f[p] = m.base[j].term[t].coefficient;
      else if (fabs(m.base[j].term[t].coefficient) > 1e-9) s->worst[j] = INFINITY;
    }
  }
  psdmp_base_arena_free(&m.arena);
  return status;
}

/* which coefficients exist at random lengths */
static psdm_status find_pairs(study *s, psdm_error *error) {
  psdm_model m;
  psdm_status status = derive_at(s, s->x, &m, error);
  if (!status) {
    s->l = m.l;
    for (int j = 0; j < m.l; j++) s->pairs += m.base[j].terms;
    s->kept = PSDMP_BASE_NEW(&s->arena, s->l, int);
    s->find = PSDMP_BASE_NEW(&s->arena, (long)s->l * s->S, int);
    s->pair = PSDMP_BASE_NEW(&s->arena, s->pairs, pair);
    s->worst = PSDMP_BASE_NEW(&s->arena, s->l, double);
    if (!s->kept || !s->find || !s->pair || !s->worst) status = psdmp_base_no_memory(s->robot->file, error);
  }
  int p = 0;
  for (long i = 0; !status && i < (long)s->l * s->S; i++) s->find[i] = -1;
  for (int j = 0; !status && j < m.l; j++) {
    s->kept[j] = m.base[j].parameter;
    for (int t = 0; t < m.base[j].terms; t++, p++) {
      int k = m.base[j].term[t].parameter;
      s->find[(long)j * s->S + k] = p;
      s->pair[p] =
          (pair){.base = j,
                 .parameter = k,
                 .degree = psdmp_derive_length_degree(s->robot, s->kept[j]) - psdmp_derive_length_degree(s->robot, k)};
    }
  }
  psdmp_base_arena_free(&m.arena);
  return status;
}

/* ---- parts ---- */

/* the integer or half integer that c is, up to rounding; c itself when a twist made it something else */
static double tidy(double c) {
  double twice = round(2 * c);
  return fabs(2 * c - twice) < 2e-9 ? twice / 2 : c;
}

static bool add_part(study *s, pair *p, int first, int second, double c) {
  if (fabs(c) < 1e-9) return true;
  part *made = PSDMP_BASE_NEW(&s->arena, 1, part);
  if (!made) return false;
  made->monomial = (psdmp_derive_monomial){first, second, -1, tidy(c)};
  if (p->last) p->last->next = made;
  else p->first = made;
  p->last = made;
  p->parts++;
  return true;
}

/* f at x moved by one unit along i, and along k unless that is -1 */
static psdm_status moved(study *s, int i, double by, int k, double *point, double *f, psdm_error *error) {
  memcpy(point, s->x, sizeof *point * (size_t)s->active);
  point[i] += by;
  if (k >= 0) point[k] += 1;
  return coefficients_at(s, point, f, error);
}

/* the exponent of length i in a coefficient that is a single product of powers; 9 when it is not */
static int exponent_of(double before, double after, double x) {
  double ratio = after / before, exponent = ratio > 0 ? log(ratio) / log((x + 1) / x) : NAN;
  return fabs(exponent) < 3 && fabs(exponent - round(exponent)) < 1e-7 ? (int)round(exponent) : 9;
}

/* c L_i L_k / L_u, with a divisor; any other coefficient is unchanged */
static bool find_ratio(study *s, pair *p, double value, double *const *fi, int index) {
  psdmp_derive_monomial m = {-1, -1, -1, value};
  for (int i = 0; i < s->active; i++) {
    int exponent = exponent_of(value, fi[i][index], s->x[i]);
    if (exponent < -1 || exponent > 2 || (exponent < 0 && m.under >= 0) || (exponent > 0 && m.second >= 0)) return true;
    if (exponent < 0) m.under = i;
    for (int k = 0; k < exponent; k++) {
      if (m.second >= 0) return true;
      *(m.first < 0 ? &m.first : &m.second) = i;
    }
  }
  if (m.under < 0) return true;
  m.c = 1;
  p->degree = RATIO;
  if (!add_part(s, p, m.first, m.second, value / psdmp_derive_monomial_value(&m, s->x))) return false;
  if (p->last) p->last->monomial.under = m.under;
  return true;
}

/* numbers, single lengths and squares */
static psdm_status find_single_parts(study *s, const double *f, double *const *fi, double *back, double *point,
                                     psdm_error *error) {
  bool ok = true;
  for (int p = 0; p < s->pairs; p++) ok &= find_ratio(s, &s->pair[p], f[p], fi, p);
  for (int p = 0; p < s->pairs; p++)
    if (s->pair[p].degree == 0) ok &= add_part(s, &s->pair[p], -1, -1, f[p]);
  for (int i = 0; i < s->active; i++) {
    if (!s->matters[i]) continue;
    psdm_status status = moved(s, i, -1, -1, point, back, error);
    if (status) return status;
    for (int p = 0; p < s->pairs; p++) {
      if (s->pair[p].degree == 1) ok &= add_part(s, &s->pair[p], i, -1, fi[i][p] - f[p]);
      if (s->pair[p].degree == 2) ok &= add_part(s, &s->pair[p], i, i, (fi[i][p] + back[p] - 2 * f[p]) / 2);
    }
  }
  return ok ? PSDM_OK : psdmp_base_no_memory(s->robot->file, error);
}

static psdm_status find_products(study *s, const double *f, double *const *fi, double *both, double *point,
                                 psdm_error *error) {
  bool ok = true;
  for (int i = 0; i < s->active; i++)
    for (int k = i + 1; k < s->active; k++) {
      if (!s->matters[i] || !s->matters[k]) continue;
      psdm_status status = moved(s, i, 1, k, point, both, error);
      if (status) return status;
      for (int p = 0; p < s->pairs; p++)
        if (s->pair[p].degree == 2) ok &= add_part(s, &s->pair[p], i, k, both[p] - fi[i][p] - fi[k][p] + f[p]);
    }
  return ok ? PSDM_OK : psdmp_base_no_memory(s->robot->file, error);
}

static psdm_status find_parts(study *s, psdm_error *error) {
  double *f = PSDMP_BASE_NEW(&s->arena, s->pairs, double), *other = PSDMP_BASE_NEW(&s->arena, s->pairs, double),
         *point = PSDMP_BASE_NEW(&s->arena, s->active, double);
  double **fi = PSDMP_BASE_NEW(&s->arena, s->active, double *);
  if (!f || !other || !point || !fi) return psdmp_base_no_memory(s->robot->file, error);
  psdm_status status = coefficients_at(s, s->x, f, error);
  for (int i = 0; i < s->active && !status; i++) {
    fi[i] = PSDMP_BASE_NEW(&s->arena, s->pairs, double);
    if (!fi[i]) return psdmp_base_no_memory(s->robot->file, error);
    status = moved(s, i, 1, -1, point, fi[i], error);
    for (int p = 0; p < s->pairs; p++) s->matters[i] |= fabs(fi[i][p] - f[p]) > 1e-9;
  }
  if (!status) status = find_single_parts(s, f, fi, other, point, error);
  if (!status) status = find_products(s, f, fi, other, point, error);
  return status;
}

/* ---- checks ---- */

static double value_of(const pair *p, const double *x, double *size) {
  double sum = 0;
  *size = 0;
  for (const part *at = p->first; at; at = at->next) {
    double value = psdmp_derive_monomial_value(&at->monomial, x);
    sum += value;
    *size += fabs(value);
  }
  return sum;
}

/* largest coefficient of each formula: nearly parallel axes make some large, whose rounding limits the others'
 * accuracy */
static void formula_sizes(const study *s, const double *x, double *largest) {
  for (int j = 0; j < s->l; j++) largest[j] = 1;
  for (int p = 0; p < s->pairs; p++) {
    double size;
    value_of(&s->pair[p], x, &size);
    largest[s->pair[p].base] = fmax(largest[s->pair[p].base], size);
  }
}

/* lengths of either sign between 0.3 and 1.5 */
static psdm_status check_fresh(study *s, uint64_t *seed, psdm_error *error) {
  double *f = PSDMP_BASE_NEW(&s->arena, s->pairs, double), *point = PSDMP_BASE_NEW(&s->arena, s->active, double),
         *largest = PSDMP_BASE_NEW(&s->arena, s->l, double);
  if (!f || !point || !largest) return psdmp_base_no_memory(s->robot->file, error);
  for (int round = 0; round < FRESH; round++) {
    for (int i = 0; i < s->active; i++) {
      double u = psdmp_base_random(seed, -1, 1);
      point[i] = copysign(0.3 + 1.2 * fabs(u), u);
    }
    psdm_status status = coefficients_at(s, point, f, error);
    if (status) return status;
    formula_sizes(s, point, largest);
    for (int p = 0; p < s->pairs; p++) {
      double size, *worst = &s->worst[s->pair[p].base];
      *worst = fmax(*worst, fabs(value_of(&s->pair[p], point, &size) - f[p]) / largest[s->pair[p].base]);
    }
  }
  return PSDM_OK;
}

/* the model's base parameter j among those at random lengths; -1 when its formula is different there */
static int twin_of(const study *s, int j, double tolerance, const double *x, double *row) {
  const psdmp_model_base *base = &s->model->base[j];
  int twin = -1;
  for (int k = 0; k < s->l; k++)
    if (s->kept[k] == base->parameter) twin = k;
  if (twin < 0 || !(s->worst[twin] <= tolerance)) return -1;
  memset(row, 0, sizeof *row * (size_t)s->S);
  for (int t = 0; t < base->terms; t++) row[base->term[t].parameter] = base->term[t].coefficient;
  double largest = 1, size;
  for (int k = 0; k < s->S; k++) largest = fmax(largest, fabs(row[k]));
  for (int k = 0; k < s->S; k++) {
    int p = s->find[(long)twin * s->S + k];
    double value = p < 0 ? 0 : value_of(&s->pair[p], x, &size);
    if (!(fabs(value - row[k]) <= tolerance * largest)) return -1;
  }
  return twin;
}

/* ---- the answer ---- */

static psdmp_derive_polynomial number(psdmp_base_arena *arena, double c) {
  psdmp_derive_polynomial p = {1, PSDMP_BASE_NEW(arena, 1, psdmp_derive_monomial)};
  if (p.monomial) *p.monomial = (psdmp_derive_monomial){-1, -1, -1, c};
  return p;
}

/* as in the model */
static bool numbers_formula(const study *s, int j, psdmp_base_arena *arena, psdmp_derive_formula *out) {
  const psdmp_model_base *base = &s->model->base[j];
  out->terms = base->terms;
  out->term = PSDMP_BASE_NEW(arena, base->terms, psdmp_derive_symbolic_term);
  for (int t = 0; out->term && t < base->terms; t++) {
    out->term[t] = (psdmp_derive_symbolic_term){base->term[t].parameter, number(arena, base->term[t].coefficient)};
    if (!out->term[t].coefficient.monomial) return false;
  }
  return out->term;
}

static bool copy_polynomial(const pair *p, psdmp_base_arena *arena, psdmp_derive_polynomial *out) {
  *out = (psdmp_derive_polynomial){0, PSDMP_BASE_NEW(arena, p->parts, psdmp_derive_monomial)};
  for (const part *at = p->first; out->monomial && at; at = at->next) out->monomial[out->count++] = at->monomial;
  return out->monomial;
}

static bool symbols_formula(const study *s, int twin, psdmp_base_arena *arena, psdmp_derive_formula *out) {
  out->holds = true;
  out->term = PSDMP_BASE_NEW(arena, s->S, psdmp_derive_symbolic_term);
  if (!out->term) return false;
  for (int turn = 0; turn < 2; turn++) /* its own parameter first */
    for (int k = 0; k < s->S; k++) {
      int p = s->find[(long)twin * s->S + k];
      if (p < 0 || !s->pair[p].parts || (k == s->kept[twin]) != (turn == 0)) continue;
      out->term[out->terms].parameter = k;
      if (!copy_polynomial(&s->pair[p], arena, &out->term[out->terms++].coefficient)) return false;
    }
  return true;
}

/* lengths used by some formula, numbered again */
static bool number_lengths(const study *s, psdm_symbolic *out) {
  int *to = PSDMP_BASE_NEW(&out->arena, s->active, int);
  out->name = PSDMP_BASE_NEW(&out->arena, s->active, const char *);
  out->value = PSDMP_BASE_NEW(&out->arena, s->active, double);
  if (!to || !out->name || !out->value) return false;
  for (int turn = 0; turn < 2; turn++) {
    for (int j = 0; j < out->l; j++)
      for (int t = 0; t < out->formula[j].terms; t++)
        for (int m = 0; m < out->formula[j].term[t].coefficient.count; m++) {
          psdmp_derive_monomial *at = &out->formula[j].term[t].coefficient.monomial[m];
          int *index[3] = {&at->first, &at->second, &at->under};
          for (int i = 0; i < 3; i++) {
            if (*index[i] < 0) continue;
            if (turn) *index[i] = to[*index[i]];
            else to[*index[i]] = 1;
          }
        }
    for (int i = 0; i < s->active && !turn; i++) {
      if (!to[i]) continue;
      const psdmp_robot_length *length = &s->robot->length[s->length[i]];
      char name[16];
      snprintf(name, sizeof name, "%c%d", length->kind, length->joint + 1);
      out->value[out->lengths] = length->value;
      out->name[out->lengths] = psdmp_base_arena_text(&out->arena, name, strlen(name));
      if (!out->name[out->lengths]) return false;
      to[i] = out->lengths++;
    }
  }
  return true;
}

static bool answer(const study *s, psdm_symbolic *out) {
  double *x = PSDMP_BASE_NEW(&out->arena, s->active, double), *row = PSDMP_BASE_NEW(&out->arena, s->S, double);
  out->l = s->model->l;
  out->formula = PSDMP_BASE_NEW(&out->arena, out->l, psdmp_derive_formula);
  if (!x || !row || !out->formula) return false;
  for (int i = 0; i < s->active; i++) x[i] = s->robot->length[s->length[i]].value;
  /* a wrong formula is wrong in its first digits. Derivations at aligned axes agree to 1e-15; axes that are parallel
   * within a few degrees cost the recursion four or five digits, and samples a few more. */
  double tolerance = s->sampled ? 1e-8 : 1e-10;
  for (int j = 0; j < out->l; j++) {
    int twin = twin_of(s, j, tolerance, x, row);
    if (twin >= 0) out->error = fmax(out->error, s->worst[twin]);
    if (!(twin < 0 ? numbers_formula(s, j, &out->arena, &out->formula[j])
                   : symbols_formula(s, twin, &out->arena, &out->formula[j])))
      return false;
  }
  return number_lengths(s, out);
}

/* ---- the user's names ---- */

static psdm_status bad_name(const char *text, const char *why, psdm_error *error) {
  char quoted[80];
  return psdmp_base_fail(error, PSDM_E_PARSE, NULL, 0, 0, "name '%s': %s",
                         psdmp_base_quote(text, strlen(text), quoted, sizeof quoted), why);
}

static bool is_word(const char *text) {
  if (!isalpha((unsigned char)*text)) return false;
  while (isalnum((unsigned char)*text) || *text == '_') text++;
  return !*text;
}

/* "a3=D3"; a length of the robot that no formula uses is ignored */
static psdm_status rename_length(const psdm_robot *r, psdm_symbolic *out, const char *text, psdm_error *error) {
  const char *to = strchr(text, '=');
  size_t length = to ? (size_t)(to - text) : 0;
  bool there = false;
  if (!to || !is_word(to + 1) || strlen(to + 1) > 30)
    return bad_name(text, "'LENGTH=NAME' was expected, NAME made of letters, digits and _", error);
  for (int k = 0; k < r->lengths; k++) {
    char name[16];
    snprintf(name, sizeof name, "%c%d", r->length[k].kind, r->length[k].joint + 1);
    there |= strlen(name) == length && memcmp(name, text, length) == 0;
  }
  if (!there) return bad_name(text, "the robot has no such length, or it is zero", error);
  for (int k = 0; k < out->model->standard; k++)
    if (strcmp(out->model->standard_name[k], to + 1) == 0)
      return bad_name(text, "this is the name of a standard parameter", error);
  int own = -1;
  for (int i = 0; i < out->lengths; i++) {
    if (strlen(out->name[i]) == length && memcmp(out->name[i], text, length) == 0) own = i;
    else if (strcmp(out->name[i], to + 1) == 0)
      return bad_name(text, "this is already the name of another length", error);
  }
  if (own < 0) return PSDM_OK;
  out->name[own] = psdmp_base_arena_text(&out->arena, to + 1, strlen(to + 1));
  return out->name[own] ? PSDM_OK : psdmp_base_no_memory(r->file, error);
}

/* each length at most once: two names would be ambiguous */
static psdm_status rename_lengths(const psdm_robot *r, psdm_symbolic *out, const psdm_symbolic_options *o,
                                  psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (int i = 0; i < o->rename_count && !status; i++) {
    size_t length = strcspn(o->rename[i], "=") + 1;
    for (int k = 0; k < i; k++)
      if (strncmp(o->rename[k], o->rename[i], length) == 0)
        return bad_name(o->rename[i], "this length is already renamed", error);
    status = rename_length(r, out, o->rename[i], error);
  }
  return status;
}

/* ---- public ---- */

static psdm_status start(study *s, const psdm_symbolic_options *o, uint64_t *seed, psdm_error *error) {
  const psdm_robot *r = s->robot;
  const psdm_derive_options assume = {.assume_count = o->assume_count, .assume = o->assume};
  double largest = 0;
  psdm_status status = psdmp_derive_restriction_set(r, &assume, &s->arena, &s->assumed, error);
  if (status) return status;
  s->S = psdm_robot_parameter_count(r);
  s->sampled = s->assumed.B || r->coupled || !r->plain_drives;
  s->length = PSDMP_BASE_NEW(&s->arena, r->lengths, int);
  s->all = PSDMP_BASE_NEW(&s->arena, r->lengths, double);
  s->x = PSDMP_BASE_NEW(&s->arena, r->lengths, double);
  s->matters = PSDMP_BASE_NEW(&s->arena, r->lengths, bool);
  if (!s->length || !s->all || !s->x || !s->matters || !psdmp_robot_copy(r, &s->arena, &s->copy))
    return psdmp_base_no_memory(r->file, error);
  for (int k = 0; k < r->lengths; k++) largest = fmax(largest, fabs(r->length[k].value));
  for (int k = 0; k < r->lengths; k++)
    if (fabs(r->length[k].value) > 1e-13 * largest) s->length[s->active++] = k; /* the rest is rounding: zero */
  /* one unit up or down is also nonzero */
  for (int i = 0; i < s->active; i++) s->x[i] = 0.25 + 0.5 * fabs(psdmp_base_random(seed, -1, 1));
  return PSDM_OK;
}

psdm_status psdm_symbolic_derive(const psdm_robot *r, const psdm_model *model, const psdm_symbolic_options *options,
                                 const psdm_allocator *allocator, psdm_symbolic **out, psdm_error *error) {
  static const psdm_symbolic_options defaults = {0};
  const psdm_symbolic_options *o = options ? options : &defaults;
  *out = NULL;
  if (r->bodies > PSDMP_DERIVE_JOINTS) /* derivations grow with the square of the lengths */
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d moving joints; formulas in lengths are found for at most %d", r->bodies,
                           PSDMP_DERIVE_JOINTS);
  psdm_status other = psdm_model_match(model, r, error);
  if (other) return other;
  psdm_symbolic *made = psdmp_base_alloc(allocator, sizeof *made);
  if (!made) return psdmp_base_no_memory(r->file, error);
  made->arena.allocator = allocator;
  made->model = model;
  study s = {.robot = r, .model = model, .arena = {.allocator = allocator}};
  uint64_t seed = 17;
  psdm_status status = start(&s, o, &seed, error);
  if (!status) status = find_pairs(&s, error);
  if (!status) status = find_parts(&s, error);
  if (!status) status = check_fresh(&s, &seed, error);
  if (!status && !answer(&s, made)) status = psdmp_base_no_memory(r->file, error);
  if (!status) status = rename_lengths(r, made, o, error);
  if (!status && !psdmp_derive_symbolic_write(made)) status = psdmp_base_no_memory(r->file, error);
  made->model = NULL;
  psdmp_base_arena_free(&s.arena);
  if (status) psdm_symbolic_free(made);
  else *out = made;
  return status;
}

void psdm_symbolic_free(psdm_symbolic *s) {
  if (!s) return;
  psdmp_base_arena_free_owner(&s->arena, s);
}

int psdm_symbolic_lengths(const psdm_symbolic *s) { return s->lengths; }

const char *psdm_symbolic_length(const psdm_symbolic *s, int i, double *value) {
  if (i < 0 || i >= s->lengths) return NULL;
  if (value) *value = s->value[i];
  return s->name[i];
}

bool psdm_symbolic_holds(const psdm_symbolic *s, int j) { return j >= 0 && j < s->l && s->formula[j].holds; }
double psdm_symbolic_error(const psdm_symbolic *s) { return s->error; }
int psdm_symbolic_terms(const psdm_symbolic *s, int j) { return j >= 0 && j < s->l ? s->formula[j].terms : 0; }

double psdm_symbolic_term(const psdm_symbolic *s, int j, int term, const double *lengths, int *parameter) {
  const psdmp_derive_polynomial *p = &s->formula[j].term[term].coefficient;
  double sum = 0;
  *parameter = s->formula[j].term[term].parameter;
  for (int i = 0; i < p->count; i++) sum += psdmp_derive_monomial_value(&p->monomial[i], lengths);
  return sum;
}

const char *psdm_symbolic_text(const psdm_symbolic *s, int j, psdm_formula_style style) {
  return j >= 0 && j < s->l && (int)style >= 0 && style <= PSDM_FORMULA_LATEX ? s->formula[j].text[style] : NULL;
}
