/* structure_conditions.c: a minimal set of linear forms of base parameters that must vanish. */
#include <math.h>
#include <string.h>

#include "analyze/structure_priv.h"

/* ---- sentences ---- */

void psdmp_analyze_sentence_add(psdmp_analyze_sentence *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = psdmp_base_vprint(t->text + t->used, sizeof t->text - t->used, format, arguments);
  va_end(arguments);
  t->used += length > 0 ? (size_t)length : 0;
  if (t->used < sizeof t->text) return;
  t->used = sizeof t->text - 1;
  memcpy(t->text + t->used - 3, "...", 3);
}

void psdmp_analyze_sentence_number(psdmp_analyze_sentence *t, double x, int digits) {
  char text[32];
  double scale = x != 0 && isfinite(x) ? pow(10, digits - 1 - floor(log10(fabs(x)))) : 1;
  psdmp_base_format_short(isfinite(scale) && scale > 0 ? round(x * scale) / scale : x, text);
  psdmp_analyze_sentence_add(t, "%s", text);
}

bool psdmp_analyze_sentence_keep(psdm_structure *s, psdmp_analyze_sentences *list,
                                 const psdmp_analyze_sentence *sentence) {
  const char *copy = psdmp_base_arena_text(&s->arena, sentence->text, sentence->used);
  if (!copy || !psdmp_base_arena_room(&s->arena, &list->list, list->count, 2, &list->room, sizeof *list->list))
    return false;
  list->list[list->count++] = copy;
  list->list[list->count] = NULL;
  return true;
}

/* masses, moments of inertia about an axis and drive inertias */
static bool positive_by_nature(const char *name) {
  static const char *const kinds[] = {"m", "XX", "YY", "ZZ", "Ia"};
  size_t letters = strcspn(name, "0123456789");
  for (int k = 0; k < 5; k++)
    if (strlen(kinds[k]) == letters && strncmp(name, kinds[k], letters) == 0) return true;
  return false;
}

static void say_term(const psdm_structure *s, psdmp_analyze_sentence *t, double x, int parameter, bool first) {
  char name[32];
  psdmp_analyze_sentence_add(t, "%s", x < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
  if (fabs(fabs(x) - 1) > 1e-11) {
    psdmp_analyze_sentence_number(t, fabs(x), 12);
    psdmp_analyze_sentence_add(t, " ");
  }
  psdmp_analyze_sentence_add(t, "%s", psdm_model_standard_name(s->model, parameter, name, sizeof name));
}

bool psdmp_analyze_sentence_form(const psdm_structure *s, psdmp_analyze_sentence *t, const double *form, double *pi) {
  char name[32];
  double largest = 0;
  bool first = true, positive = true;
  int k;
  /* collect by standard parameter */
  memset(pi, 0, sizeof *pi * (size_t)psdm_model_standard_count(s->model));
  for (int j = 0; j < s->l; j++)
    for (int term = 0; form[j] != 0 && term < psdm_model_base_terms(s->model, j); term++) {
      double x = psdm_model_base_term(s->model, j, term, &k);
      pi[k] += form[j] * x;
      largest = fmax(largest, fabs(pi[k]));
    }
  /* in the order of the base parameters, each standard parameter once */
  for (int j = 0; j < s->l; j++)
    for (int term = 0; form[j] != 0 && term < psdm_model_base_terms(s->model, j); term++) {
      psdm_model_base_term(s->model, j, term, &k);
      if (fabs(pi[k]) <= 1e-11 * largest) continue;
      positive = positive && pi[k] > 0 && positive_by_nature(psdm_model_standard_name(s->model, k, name, sizeof name));
      say_term(s, t, pi[k], k, first);
      pi[k] = 0;
      first = false;
    }
  if (first) psdmp_analyze_sentence_add(t, "0");
  return positive && !first;
}

/* ---- rows in reduced echelon form ---- */

typedef struct rows {
  int l, count;
  double *row; /* (l x l), the first count of them used */
  int *pivot;  /* (l) */
} rows;

static const double negligible = 1e-9; /* of a row's largest share: rounded products of lengths cancel to far less */

static double largest_of(int l, const double *x) {
  double largest = 0;
  for (int j = 0; j < l; j++) largest = fmax(largest, fabs(x[j]));
  return largest;
}

/* adds a form to the rows' span; form is overwritten */
static void span(rows *r, double *form) {
  double largest = largest_of(r->l, form);
  for (int k = 0; k < r->count; k++) {
    double x = form[r->pivot[k]];
    for (int j = 0; j < r->l && x != 0; j++) form[j] -= x * r->row[k * r->l + j];
    form[r->pivot[k]] = 0;
  }
  for (int j = 0; j < r->l; j++)
    if (fabs(form[j]) <= negligible * largest) form[j] = 0;
  int pivot = 0;
  while (pivot < r->l && form[pivot] == 0) pivot++;
  if (pivot == r->l) return;
  double *row = &r->row[r->count * r->l], x = form[pivot];
  for (int j = 0; j < r->l; j++) row[j] = form[j] / x;
  for (int k = 0; k < r->count; k++) {
    double *other = &r->row[k * r->l], share = other[pivot], size = largest_of(r->l, other);
    for (int j = 0; j < r->l && share != 0; j++) {
      other[j] -= share * row[j];
      if (fabs(other[j]) <= negligible * size) other[j] = 0;
    }
    other[pivot] = 0;
  }
  r->pivot[r->count++] = pivot;
}

/* ---- what must vanish ---- */

static bool constant(const psdm_structure *s, const psdmp_analyze_linear_form *f, unsigned char *exponents) {
  psdmp_analyze_form_exponents(s, f, exponents);
  for (int j = 0; j < 3 * s->n; j++)
    if (exponents[j]) return false;
  return true;
}

static bool concerns(const psdm_structure *s, psdm_wish wish, const psdmp_analyze_linear_form *f,
                     unsigned char *exponents) {
  if (wish == PSDM_WISH_NO_GRAVITY) return f->first < 0 && s->gravity > 0;
  if (f->first < 0 || f->second >= 0 || f->row > f->first) return false; /* M's upper triangle is sufficient */
  return wish == PSDM_WISH_DIAGONAL_MASS ? f->row != f->first : !constant(s, f, exponents);
}

static void spread(const psdm_structure *s, const psdmp_analyze_linear_form *f, double *form) {
  memset(form, 0, sizeof *form * (size_t)s->l);
  for (int k = 0; k < f->count; k++) form[f->parameter[k]] = f->share[k];
}

static double share_of(const psdmp_analyze_linear_form *f, int parameter) {
  for (int k = 0; k < f->count; k++)
    if (f->parameter[k] == parameter) return f->share[k];
  return 0;
}

/* "m12, m13" or "g2": the entries that need row k, whose forms contain its pivot */
static void say_entries(const psdm_structure *s, psdm_wish wish, int pivot, unsigned char *scratch,
                        psdmp_analyze_sentence *t) {
  const char *comma = "";
  unsigned char *exponents = scratch, *needs = scratch + 5 * s->n; /* (n x n) */
  memset(needs, 0, (size_t)s->n * (size_t)s->n);
  for (long f = 0; f < s->forms; f++) {
    const psdmp_analyze_linear_form *form = &s->form[f];
    if (concerns(s, wish, form, exponents) && share_of(form, pivot) != 0)
      needs[form->row * s->n + (form->first < 0 ? 0 : form->first)] = 1;
  }
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++) {
      if (!needs[i * s->n + j]) continue;
      if (wish == PSDM_WISH_NO_GRAVITY) psdmp_analyze_sentence_add(t, "%sg%d", comma, i + 1);
      else psdmp_analyze_sentence_add(t, s->n > 9 ? "%sm%d,%d" : "%sm%d%d", comma, i + 1, j + 1);
      comma = ", ";
    }
}

/* value of a row with the robot's numbers; false if it already vanishes */
static bool still_there(const psdm_structure *s, const double *row, double *value) {
  double scale = 0;
  *value = 0;
  for (int j = 0; j < s->l; j++) {
    *value += row[j] * s->theta[j];
    scale += fabs(row[j]) * s->size[j];
  }
  return fabs(*value) > psdmp_analyze_structure_zero * scale;
}

/* scratch memory of one wish */
typedef struct desk {
  rows r;
  double *form, *pi;
  unsigned char *marks;
  psdmp_analyze_sentence *sentence;
} desk;

static bool write_row(psdm_structure *s, psdm_wish wish, desk *d, int k, psdmp_analyze_sentences *list) {
  const double *row = &d->r.row[k * s->l];
  double value = 0;
  if (s->numeric && !still_there(s, row, &value)) return true;
  psdmp_analyze_sentence *t = d->sentence;
  t->used = 0;
  bool positive = psdmp_analyze_sentence_form(s, t, row, d->pi);
  psdmp_analyze_sentence_add(t, " = 0 (");
  say_entries(s, wish, d->r.pivot[k], d->marks, t);
  if (s->numeric) {
    psdmp_analyze_sentence_add(t, "; now ");
    psdmp_analyze_sentence_number(t, value, 6);
  }
  psdmp_analyze_sentence_add(t, positive ? "; cannot be: all of it is positive)" : ")");
  return psdmp_analyze_sentence_keep(s, list, t);
}

/* rows by ascending pivots */
static int next_row(const rows *r, int after) {
  int best = -1;
  for (int k = 0; k < r->count; k++)
    if (r->pivot[k] > after && (best < 0 || r->pivot[k] < r->pivot[best])) best = k;
  return best;
}

static bool write_wish(psdm_structure *s, psdm_wish wish, desk *d) {
  psdmp_analyze_sentences list = {0};
  d->r.count = 0;
  for (long f = 0; f < s->forms; f++) {
    if (!concerns(s, wish, &s->form[f], d->marks)) continue;
    spread(s, &s->form[f], d->form);
    span(&d->r, d->form);
  }
  for (int k = next_row(&d->r, -1); k >= 0; k = next_row(&d->r, d->r.pivot[k]))
    if (!write_row(s, wish, d, k, &list)) return false;
  s->sentence[wish] = list.list;
  return true;
}

bool psdmp_analyze_structure_conditions(psdm_structure *s) {
  size_t l = (size_t)s->l + 1, n = (size_t)s->n;
  desk d = {.r.l = s->l};
  psdmp_base_arena scratch = {.allocator = s->arena.allocator};
  d.r.row = psdmp_base_arena_alloc(&scratch, sizeof(double) * l * l);
  d.r.pivot = psdmp_base_arena_alloc(&scratch, sizeof(int) * l);
  d.form = psdmp_base_arena_alloc(&scratch, sizeof(double) * l);
  d.pi = psdmp_base_arena_alloc(&scratch, sizeof(double) * ((size_t)psdm_model_standard_count(s->model) + 1));
  d.marks = psdmp_base_arena_alloc(&scratch, 5 * n + n * n);
  d.sentence = psdmp_base_arena_alloc(&scratch, sizeof *d.sentence);
  bool done = d.r.row && d.r.pivot && d.form && d.pi && d.marks && d.sentence;
  for (int wish = 0; wish < PSDM_WISH_SPRINGS && done; wish++) done = write_wish(s, (psdm_wish)wish, &d);
  psdmp_base_arena_free(&scratch);
  return done;
}
