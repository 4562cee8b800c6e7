/* structure_springs.c: gravity as a sum of sinusoids of sums of angles, and the springs that balance it.
 *
 * A spring of zero free length and stiffness k from a point at distance a of an axis to one at distance b on the link
 * has the energy k a b cos(angle) plus a constant (Herder 2001): it cancels one sinusoid of the potential energy, that
 * of the angle between them. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "analyze/structure_priv.h"

enum { MOST_WAVES = 1500 }; /* per joint: eight joints have fewer */

/* re cos(k q) + im sin(k q), times powers of the prismatic joints; the coefficients are linear forms of the base
 * parameters */
typedef struct wave {
  signed char *k;       /* (n) the first nonzero one is positive */
  unsigned char *power; /* (n) */
  double *re, *im;      /* (l), with gravity's size */
  bool gone;            /* its coefficients vanish */
} wave;

typedef struct waves {
  int count;
  bool many;
  wave *wave; /* (MOST_WAVES) */
} waves;

typedef struct springs {
  psdm_structure *s;
  psdmp_base_arena arena;
  bool memory;
  waves *joint;        /* (n) */
  signed char *k;      /* (n) */
  unsigned char *left; /* (5n) exponents not yet expanded */
  double *pi;
  psdmp_analyze_sentence *sentence;
  psdmp_analyze_sentences list;
} springs;

/* ---- conversion to waves ---- */

static wave *find_wave(springs *p, waves *w) {
  size_t n = (size_t)p->s->n, l = (size_t)p->s->l + 1;
  for (int i = 0; i < w->count; i++)
    if (memcmp(w->wave[i].k, p->k, n) == 0 && memcmp(w->wave[i].power, p->left, n) == 0) return &w->wave[i];
  if (w->count == MOST_WAVES) {
    w->many = true;
    return NULL;
  }
  wave *x = &w->wave[w->count];
  x->k = psdmp_base_arena_alloc(&p->arena, n);
  x->power = psdmp_base_arena_alloc(&p->arena, n);
  x->re = psdmp_base_arena_alloc(&p->arena, sizeof(double) * l);
  x->im = psdmp_base_arena_alloc(&p->arena, sizeof(double) * l);
  p->memory = p->memory && x->k && x->power && x->re && x->im;
  if (!p->memory) return NULL;
  memcpy(x->k, p->k, n);
  memcpy(x->power, p->left, n);
  w->count++;
  return x;
}

static int sign_of(int n, const signed char *k) {
  for (int j = 0; j < n; j++)
    if (k[j]) return k[j] > 0 ? 1 : -1;
  return 0;
}

/* z exp(i k q) and its conjugate together are 2 Re z cos(k q) - 2 Im z sin(k q) */
static void add_wave(springs *p, const psdmp_analyze_linear_form *form, double complex z) {
  int sign = sign_of(p->s->n, p->k);
  if (sign < 0) return;
  wave *w = find_wave(p, &p->joint[form->row]);
  if (!w) return;
  double twice = (sign ? 2 : 1) * p->s->gravity;
  for (int e = 0; e < form->count; e++) {
    w->re[form->parameter[e]] += twice * creal(z) * form->share[e];
    w->im[form->parameter[e]] -= twice * cimag(z) * form->share[e];
  }
}

/* each s is (e^iq - e^-iq)/2i, each c is (e^iq + e^-iq)/2 */
static void expand(springs *p, const psdmp_analyze_linear_form *form, int j, double complex z) {
  int n = p->s->n;
  while (j < n && !p->left[n + j] && !p->left[2 * n + j]) j++;
  if (j == n || !p->memory || p->joint[form->row].many) {
    if (j == n && p->memory) add_wave(p, form, z);
    return;
  }
  bool sine = p->left[n + j] > 0;
  unsigned char *left = &p->left[(sine ? n : 2 * n) + j];
  --*left;
  p->k[j]++;
  expand(p, form, j, sine ? z / (2 * I) : z / 2);
  p->k[j] = (signed char)(p->k[j] - 2);
  expand(p, form, j, sine ? -z / (2 * I) : z / 2);
  p->k[j]++;
  ++*left;
}

/* a wave's size: its value with the robot's numbers, else the size of its coefficients */
static double height(const psdm_structure *s, const wave *w) {
  double re = 0, im = 0;
  for (int j = 0; j < s->l; j++) {
    re = s->numeric ? re + w->re[j] * s->theta[j] : fmax(re, fabs(w->re[j]));
    im = s->numeric ? im + w->im[j] * s->theta[j] : fmax(im, fabs(w->im[j]));
  }
  return hypot(re, im);
}

static void drop_zeros(springs *p) {
  double largest = 0;
  for (int i = 0; i < p->s->n; i++)
    for (int k = 0; k < p->joint[i].count; k++) largest = fmax(largest, height(p->s, &p->joint[i].wave[k]));
  for (int i = 0; i < p->s->n; i++)
    for (int k = 0; k < p->joint[i].count; k++)
      p->joint[i].wave[k].gone = height(p->s, &p->joint[i].wave[k]) <= psdmp_analyze_structure_zero * largest;
}

/* ---- conversion to text ---- */

static int standing(const waves *w, int *last) {
  int count = 0;
  for (int k = 0; k < w->count; k++)
    if (!w->wave[k].gone) count++, *last = k;
  return count;
}

static bool slides(const wave *w, int n) {
  for (int j = 0; j < n; j++)
    if (w->power[j]) return true;
  return false;
}

static bool same(const wave *a, const wave *b, int n) {
  return memcmp(a->k, b->k, (size_t)n) == 0 && memcmp(a->power, b->power, (size_t)n) == 0;
}

/* "q1 + q2" */
static void say_angle(springs *p, const wave *w) {
  bool first = true;
  for (int j = 0; j < p->s->n; j++) {
    int k = w->k[j];
    if (!k) continue;
    psdmp_analyze_sentence_add(p->sentence, "%s", k < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    if (k > 1 || k < -1) psdmp_analyze_sentence_add(p->sentence, "%d ", k < 0 ? -k : k);
    psdmp_analyze_sentence_add(p->sentence, "q%d", j + 1);
    first = false;
  }
  for (int j = 0; j < p->s->n; j++)
    for (int e = 0; e < p->s->n && e < w->power[j]; e++) psdmp_analyze_sentence_add(p->sentence, " (times q%d)", j + 1);
}

/* a form divided by gravity's size, without a leading sign, which does not matter */
static void say_part(springs *p, const double *form) {
  double *scaled = p->pi + psdm_model_standard_count(p->s->model), sign = 0;
  for (int j = 0; j < p->s->l; j++) {
    if (sign == 0 && form[j] != 0) sign = form[j] > 0 ? 1 : -1;
    scaled[j] = sign * form[j] / p->s->gravity;
  }
  psdmp_analyze_sentence_form(p->s, p->sentence, scaled, p->pi);
}

static bool nothing(const springs *p, const double *form, double against) {
  for (int j = 0; j < p->s->l; j++)
    if (fabs(form[j]) > 1e-11 * against) return false;
  return true;
}

/* "12.5" or "9.81 |mx2 + 0.4 m3|" */
static void say_height(springs *p, const wave *w, int k) {
  if (p->s->numeric) {
    psdmp_analyze_sentence_number(p->sentence, height(p->s, w) / k, 6);
    return;
  }
  double against = height(p->s, w);
  bool re = !nothing(p, w->re, against), im = !nothing(p, w->im, against);
  psdmp_analyze_sentence_number(p->sentence, p->s->gravity / k, 12);
  psdmp_analyze_sentence_add(p->sentence, re && im ? " sqrt((" : " |");
  say_part(p, re ? w->re : w->im);
  if (re && im) {
    psdmp_analyze_sentence_add(p->sentence, ")^2 + (");
    say_part(p, w->im);
  }
  psdmp_analyze_sentence_add(p->sentence, re && im ? ")^2)" : "|");
}

/* the angle of largest potential energy: g_i = re cos + im sin is its slope */
static double upright(const springs *p, const wave *w, int k) {
  double re = 0, im = 0;
  for (int j = 0; j < p->s->l; j++) {
    re += w->re[j] * p->s->theta[j];
    im += w->im[j] * p->s->theta[j];
  }
  return k > 0 ? atan2(re, -im) : atan2(-re, im);
}

static bool keep(springs *p) {
  bool kept = psdmp_analyze_sentence_keep(p->s, &p->list, p->sentence);
  p->sentence->used = 0;
  return kept;
}

/* one spring removes the wave from every joint that has it */
static bool spring(springs *p, int joint, wave *w) {
  int n = p->s->n, k = w->k[joint], more = 0;
  wave mine = *w;
  psdmp_analyze_sentence_add(p->sentence, "a spring of zero free length across the angle ");
  say_angle(p, &mine);
  psdmp_analyze_sentence_add(p->sentence, " with k a b = ");
  say_height(p, &mine, k < 0 ? -k : k);
  psdmp_analyze_sentence_add(p->sentence, " Nm balances g%d", joint + 1);
  for (int i = 0; i < n; i++) {
    for (int x = 0; x < p->joint[i].count; x++) {
      if (!same(&p->joint[i].wave[x], &mine, n) || p->joint[i].wave[x].gone) continue;
      p->joint[i].wave[x].gone = true;
      if (i != joint) psdmp_analyze_sentence_add(p->sentence, "%sg%d", more++ ? ", " : " and its part of ", i + 1);
    }
  }
  if (p->s->numeric) {
    psdmp_analyze_sentence_add(p->sentence, "; the mass is on top at ");
    say_angle(p, &mine);
    psdmp_analyze_sentence_add(p->sentence, " = ");
    psdmp_analyze_sentence_number(p->sentence, upright(p, &mine, k), 4);
  }
  return keep(p);
}

static bool counterweight(springs *p, int joint, wave *w) {
  psdmp_analyze_sentence_add(p->sentence, "a constant force of ");
  say_height(p, w, 1);
  psdmp_analyze_sentence_add(p->sentence, " N, by a counterweight, balances g%d", joint + 1);
  w->gone = true;
  return keep(p);
}

/* springs for waves that are the only one of some joint; removing them may leave others alone */
static bool place_springs(springs *p) {
  int n = p->s->n, alone;
  for (bool again = true; again;) {
    again = false;
    for (int i = n - 1; i >= 0; i--) {
      if (p->joint[i].many || standing(&p->joint[i], &alone) != 1) continue;
      wave *w = &p->joint[i].wave[alone];
      bool still = sign_of(n, w->k) == 0;
      if (slides(w, n) || (!still && !w->k[i])) continue;
      if (!(still ? counterweight(p, i, w) : spring(p, i, w))) return false;
      again = true;
    }
  }
  return true;
}

static bool say_rest(springs *p) {
  for (int i = 0; i < p->s->n; i++) {
    const waves *w = &p->joint[i];
    int last = 0, count = standing(w, &last), shown = 0;
    if (!count) continue;
    psdmp_analyze_sentence_add(p->sentence, "g%d keeps %s%d part%s (", i + 1, w->many ? "more than " : "", count,
                               count > 1 ? "s" : "");
    for (int k = 0; k < w->count && shown < 4; k++) {
      if (w->wave[k].gone) continue;
      if (shown++) psdmp_analyze_sentence_add(p->sentence, ", ");
      if (sign_of(p->s->n, w->wave[k].k) || slides(&w->wave[k], p->s->n)) say_angle(p, &w->wave[k]);
      else psdmp_analyze_sentence_add(p->sentence, "constant");
    }
    psdmp_analyze_sentence_add(p->sentence, "%s), which no single spring balances: its masses must",
                               count > 4 ? ", ..." : "");
    if (!keep(p)) return false;
  }
  return true;
}

static bool collect(springs *p) {
  psdm_structure *s = p->s;
  for (long f = 0; f < s->forms && p->memory; f++) {
    const psdmp_analyze_linear_form *form = &s->form[f];
    if (form->first >= 0) break; /* gravity's come first */
    psdmp_analyze_form_exponents(s, form, p->left);
    memset(p->k, 0, (size_t)s->n);
    expand(p, form, 0, 1);
  }
  return p->memory;
}

bool psdmp_analyze_structure_springs(psdm_structure *s) {
  size_t n = (size_t)s->n;
  if (!(s->gravity > 0)) return true;
  springs p = {.s = s, .arena = {.allocator = s->arena.allocator}, .memory = true};
  p.joint = psdmp_base_arena_alloc(&p.arena, sizeof *p.joint * n);
  p.k = psdmp_base_arena_alloc(&p.arena, n);
  p.left = psdmp_base_arena_alloc(&p.arena, 5 * n);
  p.pi =
      psdmp_base_arena_alloc(&p.arena, sizeof *p.pi * ((size_t)psdm_model_standard_count(s->model) + (size_t)s->l + 1));
  p.sentence = psdmp_base_arena_alloc(&p.arena, sizeof *p.sentence);
  bool done = p.joint && p.k && p.left && p.pi && p.sentence;
  for (int i = 0; i < s->n && done; i++) {
    p.joint[i].wave = psdmp_base_arena_alloc(&p.arena, sizeof *p.joint[i].wave * MOST_WAVES);
    done = p.joint[i].wave != NULL;
  }
  done = done && collect(&p);
  if (done) {
    drop_zeros(&p);
    done = place_springs(&p) && say_rest(&p);
  }
  s->sentence[PSDM_WISH_SPRINGS] = p.list.list;
  psdmp_base_arena_free(&p.arena);
  return done;
}
