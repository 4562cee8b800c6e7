/* symbolic_text.c: formulas in the usual notation: parameters with the same coefficient share a bracket. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "derive/symbolic_priv.h"

typedef struct writer {
  const psdm_symbolic *symbolic;
  psdmp_base_arena *arena;
  bool latex, failed;
  char *text;
  size_t length, room;
} writer;

static void put(writer *w, const char *text) {
  size_t add = strlen(text);
  if (w->failed) return;
  if (w->length + add + 1 > w->room) {
    size_t room = 2 * (w->length + add + 1) + 128;
    char *bigger = psdmp_base_arena_alloc(w->arena, room);
    if (!bigger) {
      w->failed = true;
      return;
    }
    if (w->length) memcpy(bigger, w->text, w->length);
    w->text = bigger;
    w->room = room;
  }
  memcpy(w->text + w->length, text, add + 1);
  w->length += add;
}

/* twelve digits show a polynomial's numbers without the rounding of the last ones */
static void put_number(writer *w, double x) {
  char text[32];
  double scale = pow(10, 11 - floor(log10(x)));
  psdmp_base_format_short(isfinite(scale) && scale < 1e22 ? round(x * scale) / scale : x, text);
  put(w, text);
}

/* keeps "mx3", or makes it \mathit{mx}_{3} */
static void put_name(writer *w, const char *name) {
  if (!w->latex) {
    put(w, name);
    return;
  }
  size_t letters = strlen(name);
  while (letters > 1 && isdigit((unsigned char)name[letters - 1])) letters--;
  put(w, letters > 1 ? "\\mathit{" : "");
  for (size_t i = 0; i < letters; i++) put(w, name[i] == '_' ? "\\_" : (char[2]){name[i], '\0'});
  put(w, letters > 1 ? "}" : "");
  if (name[letters]) {
    put(w, "_{");
    put(w, name + letters);
    put(w, "}");
  }
}

static const char *times(const writer *w) { return w->latex ? "\\," : "*"; }

static void put_lengths(writer *w, const psdmp_derive_monomial *m) {
  const char *const *name = w->symbolic->name;
  if (m->first < 0) {
    put(w, "1");
    return;
  }
  put_name(w, name[m->first]);
  if (m->second == m->first) {
    put(w, w->latex ? "^{2}" : "^2");
  } else if (m->second >= 0) {
    put(w, times(w));
    put_name(w, name[m->second]);
  }
}

/* |c| L_i L_k, or a quotient; returns whether anything was written */
static bool put_monomial(writer *w, const psdmp_derive_monomial *m) {
  bool any = fabs(fabs(m->c) - 1) > 1e-12, over = m->under >= 0;
  if (any) put_number(w, fabs(m->c));
  if (m->first < 0 && !over) return any;
  if (any) put(w, times(w));
  put(w, over && w->latex ? "\\frac{" : "");
  put_lengths(w, m);
  put(w, !over ? "" : w->latex ? "}{" : "/");
  if (over) put_name(w, w->symbolic->name[m->under]);
  put(w, over && w->latex ? "}" : "");
  return true;
}

/* a sign shared by all parts goes before the coefficient */
static bool is_negative(const psdmp_derive_polynomial *p) {
  for (int i = 0; i < p->count; i++)
    if (p->monomial[i].c > 0) return false;
  return true;
}

/* the coefficient without that sign, positive parts first; returns whether anything was written */
static bool put_coefficient(writer *w, const psdmp_derive_polynomial *p) {
  bool shared = is_negative(p), begun = false;
  if (p->count == 1) return put_monomial(w, p->monomial);
  put(w, "(");
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < p->count; i++) {
      const psdmp_derive_monomial *m = &p->monomial[i];
      bool minus = m->c < 0 && !shared;
      if (minus != (turn == 1)) continue;
      if (begun) put(w, minus ? " - " : " + ");
      begun = true;
      if (!put_monomial(w, m)) put(w, "1");
    }
  put(w, ")");
  return true;
}

/* degree of its lengths in the numerator; formulas list terms by it */
static int degree_of(const psdmp_derive_polynomial *p) {
  return (p->monomial->first >= 0) + (p->monomial->second >= 0);
}

static bool is_one(const psdmp_derive_polynomial *p) {
  return degree_of(p) == 0 && p->monomial->under < 0 && fabs(fabs(p->monomial->c) - 1) <= 1e-12;
}

static bool equal(const psdmp_derive_polynomial *a, const psdmp_derive_polynomial *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    const psdmp_derive_monomial *x = &a->monomial[i], *y = &b->monomial[i];
    if (x->first != y->first || x->second != y->second || x->under != y->under ||
        fabs(x->c - y->c) > 1e-11 * fabs(x->c))
      return false;
  }
  return true;
}

/* term t and all later ones with the same coefficient, as one product */
static void put_group(writer *w, const psdmp_derive_formula *f, int t, bool *done) {
  const psdmp_derive_polynomial *p = &f->term[t].coefficient;
  bool negative = is_negative(p), alone = is_one(p);
  int members = 0;
  for (int k = t; k < f->terms; k++) members += k == t || (!alone && !done[k] && equal(p, &f->term[k].coefficient));
  put(w, negative ? (t ? " - " : "-") : t ? " + " : "");
  if (put_coefficient(w, p)) put(w, times(w));
  put(w, members > 1 ? "(" : "");
  for (int k = t, written = 0; k < f->terms && written < members; k++) {
    if (k != t && (done[k] || !equal(p, &f->term[k].coefficient))) continue;
    put(w, written++ ? " + " : "");
    put_name(w, w->symbolic->model->standard_name[f->term[k].parameter]);
    done[k] = true;
  }
  put(w, members > 1 ? ")" : "");
}

/* its own parameter, then plain sums, then lengths, then areas */
static void put_formula(writer *w, const psdmp_derive_formula *f, bool *done) {
  memset(done, 0, (size_t)f->terms * sizeof *done);
  put_group(w, &(psdmp_derive_formula){.terms = 1, .term = f->term}, 0, done);
  for (int degree = 0; degree <= 2; degree++)
    for (int t = 1; t < f->terms; t++)
      if (!done[t] && degree_of(&f->term[t].coefficient) == degree) put_group(w, f, t, done);
}

bool psdmp_derive_symbolic_write(psdm_symbolic *s) {
  bool *done = psdmp_base_arena_alloc(&s->arena, (size_t)s->model->standard * sizeof *done);
  if (!done) return false;
  for (int j = 0; j < s->l; j++)
    for (int style = 0; style < 2; style++) {
      writer w = {.symbolic = s, .arena = &s->arena, .latex = style == PSDM_FORMULA_LATEX};
      put_formula(&w, &s->formula[j], done);
      if (w.failed) return false;
      s->formula[j].text[style] = w.text;
    }
  return true;
}
