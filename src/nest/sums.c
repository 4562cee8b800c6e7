/* sums.c: polynomials as sparse sums over monomials, and how a derived model becomes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nest/nest.h"

/* ---- monomials ---- */

static uint32_t hash_of(const unsigned short *option, int modes) {
  uint64_t h = 1469598103934665603u; /* FNV-1a */
  for (int m = 0; m < modes; m++) h = (h ^ option[m]) * 1099511628211u;
  return (uint32_t)(h ^ h >> 32);
}

static void place(psdmp_nest_sums *s, uint32_t monomial) {
  uint32_t at = hash_of(&s->option[(size_t)monomial * (size_t)s->modes], s->modes) & (s->slots - 1);
  while (s->slot[at]) at = (at + 1) & (s->slots - 1);
  s->slot[at] = monomial + 1;
}

/* twice the room; the arena keeps what was there before, less than as much again */
static bool grow_monomials(psdmp_nest_sums *s) {
  uint32_t room = s->monomial_room ? 2 * s->monomial_room : 256;
  size_t row = (size_t)s->modes * sizeof *s->option;
  unsigned short *option = psdmp_base_arena_alloc_raw(s->arena, room * row);
  uint32_t *slot = psdmp_base_arena_alloc(s->arena, 2 * (size_t)room * sizeof *slot);
  if (!option || !slot) return false;
  if (s->monomials) memcpy(option, s->option, s->monomials * row);
  s->option = option;
  s->monomial_room = room;
  s->slot = slot;
  s->slots = 2 * room;
  for (uint32_t k = 0; k < s->monomials; k++) place(s, k);
  return true;
}

static uint32_t find_monomial(psdmp_nest_sums *s, const unsigned short *option) {
  size_t row = (size_t)s->modes;
  if (s->monomials == s->monomial_room && !grow_monomials(s)) {
    s->failed = true;
    return 0;
  }
  uint32_t at = hash_of(option, s->modes) & (s->slots - 1);
  for (; s->slot[at]; at = (at + 1) & (s->slots - 1))
    if (memcmp(&s->option[(s->slot[at] - 1) * row], option, row * sizeof *option) == 0) return s->slot[at] - 1;
  memcpy(&s->option[s->monomials * row], option, row * sizeof *option);
  for (int m = 0; m < s->modes; m++) s->used[m] |= option[m] > 0;
  s->slot[at] = ++s->monomials;
  return s->monomials - 1;
}

bool psdmp_nest_sums_start(psdmp_nest_sums *s, psdmp_base_arena *arena, int modes, const int *options,
                           uint32_t outputs) {
  *s = (psdmp_nest_sums){.arena = arena, .modes = modes, .outputs = outputs};
  s->options = psdmp_base_arena_alloc(arena, (size_t)modes * sizeof *s->options);
  s->used = psdmp_base_arena_alloc(arena, (size_t)modes * sizeof *s->used);
  s->failed = !s->options || !s->used;
  if (!s->failed) memcpy(s->options, options, (size_t)modes * sizeof *options);
  return !s->failed;
}

void psdmp_nest_sums_add(psdmp_nest_sums *s, uint32_t output, const unsigned short *option, double value) {
  if (s->failed || value == 0) return;
  if (s->terms == s->term_room) {
    size_t room = s->term_room ? 2 * s->term_room : 256;
    psdmp_nest_term *term = psdmp_base_arena_alloc_raw(s->arena, room * sizeof *term);
    if (!term) {
      s->failed = true;
      return;
    }
    if (s->terms) memcpy(term, s->term, s->terms * sizeof *term);
    s->term = term;
    s->term_room = room;
  }
  s->term[s->terms++] = (psdmp_nest_term){output, find_monomial(s, option), value};
}

static int by_place(const void *a, const void *b) {
  const psdmp_nest_term *x = a, *y = b;
  if (x->output != y->output) return x->output < y->output ? -1 : 1;
  if (x->monomial != y->monomial) return x->monomial < y->monomial ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value); /* equal places add up in the same order everywhere */
}

bool psdmp_nest_sums_finish(psdmp_nest_sums *s) {
  if (s->failed) return false;
  if (!s->terms) return true;
  qsort(s->term, s->terms, sizeof *s->term, by_place);
  size_t kept = 0;
  for (size_t at = 0, end; at < s->terms; at = end) {
    psdmp_nest_term sum = s->term[at];
    double size = fabs(sum.value);
    for (end = at + 1; end < s->terms && s->term[end].output == sum.output && s->term[end].monomial == sum.monomial;
         end++) {
      sum.value += s->term[end].value;
      size += fabs(s->term[end].value);
    }
    if (fabs(sum.value) > 1e-14 * size) s->term[kept++] = sum; /* less is what rounding leaves of zero */
  }
  s->terms = kept;
  return true;
}

/* ---- the model's functions ---- */

/* where a term goes */
typedef struct collector {
  const psdm_model *m;
  const double *theta;
  psdm_function function;
  psdmp_nest_sums *sums;
  int first, second; /* rates of the class at hand */
  unsigned short option[2 * 64 + 2];
} collector;

static int digit_of(const psdm_model *m, long f, int j) {
  return (int)(m->code[f] / m->weight[j] % (uint64_t)m->radix[j]);
}

static void set_digits(collector *c, long f) {
  for (int j = 0; j < c->m->n; j++) c->option[j] = (unsigned short)digit_of(c->m, f, j);
}

/* the rates qdd_a (second < 0), qd_a qd_b, or none (first < 0), joint by joint and all at once */
static void set_rates(collector *c, int first, int second) {
  int n = c->m->n;
  unsigned short *rate = c->option + n;
  memset(rate, 0, (size_t)n * sizeof *rate);
  if (first >= 0)
    rate[first] = second < 0 ? PSDMP_NEST_RATE_QDD : first == second ? PSDMP_NEST_RATE_QD2 : PSDMP_NEST_RATE_QD;
  if (second >= 0 && second != first) rate[second] = PSDMP_NEST_RATE_QD;
  c->option[2 * n] = (unsigned short)psdmp_model_class_of(n, first, second);
}

/* upper triangle of M, row by row: entry (i, a) with i <= a */
static uint32_t triangle(int n, int i, int a) { return (uint32_t)(i * n - i * (i - 1) / 2 + a - i); }

static void add(collector *c, uint32_t output, double value) { psdmp_nest_sums_add(c->sums, output, c->option, value); }

/* U - U(0) is the integral of the gravity torques joint by joint, the later ones still at zero. Of cos^b sin^a in q
 * the integral is, from the recursion cos^(b-1) sin / b + (b - 1)/b (that of cos^(b-2)); what grows with q itself
 * cancels, as potentials are periodic. */
static void add_potential(collector *c, int i, double value) {
  const psdm_model *m = c->m;
  unsigned short keep[2 * 64 + 2];
  for (int j = i + 1; j < m->n; j++) {
    if (m->prismatic[j] ? c->option[j] > 0 : c->option[j] % 2 > 0) return; /* q or sin at zero */
  }
  memcpy(keep, c->option, sizeof keep);
  for (int j = i + 1; j < m->n; j++) c->option[j] = 0;
  int digit = c->option[i], b = digit / 2;
  if (m->prismatic[i]) {
    c->option[i] = (unsigned short)(digit + 1);
    add(c, 1, value / (digit + 1));
  } else if (digit % 2) {
    c->option[i] = 0;
    add(c, 1, value / (b + 1));
    c->option[i] = (unsigned short)(2 * (b + 1));
    add(c, 1, -value / (b + 1));
  } else {
    for (; b > 0; value *= (double)(b - 1) / b, b -= 2) {
      c->option[i] = (unsigned short)(2 * (b - 1) + 1);
      add(c, 1, value / b);
    }
  }
  memcpy(c->option, keep, sizeof keep);
}

/* one coefficient, of torque i (and parameter j, when they stay apart) */
static void collect_term(collector *c, int i, int j, double value) {
  int n = c->m->n, a = c->first;
  bool gravity = a < 0, acceleration = a >= 0 && c->second < 0;
  switch (c->function) {
    case PSDM_F_REGRESSOR: add(c, (uint32_t)(i * c->m->l + j), value); break;
    case PSDM_F_GRAVITY:
      if (gravity) add(c, (uint32_t)i, value);
      break;
    case PSDM_F_BIAS:
    case PSDM_F_FORWARD:
      if (!acceleration) add(c, (uint32_t)i, value);
      if (!acceleration || c->function == PSDM_F_BIAS || i > a) break;
      set_rates(c, -1, -1);
      add(c, (uint32_t)n + triangle(n, i, a), value);
      set_rates(c, c->first, c->second);
      break;
    case PSDM_F_MASS:
      if (!acceleration || i > a) break;
      set_rates(c, -1, -1);
      add(c, triangle(n, i, a), value);
      break;
    case PSDM_F_ENERGY:
      if (gravity) add_potential(c, i, value);
      if (!acceleration || i > a) break;
      set_rates(c, i, a);
      add(c, 0, i == a ? value / 2 : value);
      set_rates(c, c->first, c->second);
      break;
    default: add(c, (uint32_t)i, value);
  }
}

/* one function's coefficients, base parameters multiplied in or kept as a mode */
static void collect_function(collector *c, long f) {
  const psdm_model *m = c->m;
  int n = m->n;
  double g = c->first < 0 ? m->gravity : 1;
  bool apart = !c->theta;
  for (long e = m->P_start[f], end; e < m->P_start[f + 1]; e = end) {
    double sum = 0, size = 0;
    for (end = e; end < m->P_start[f + 1] && m->P[end].joint == m->P[e].joint; end++) {
      int j = m->P[end].parameter;
      double value = g * m->P[end].value * (apart ? 1 : c->theta[j]);
      sum += value;
      size += fabs(value);
      if (!apart) continue;
      c->option[2 * n + 1] = (unsigned short)(c->function == PSDM_F_REGRESSOR ? 0 : j);
      collect_term(c, m->P[e].joint, j, value);
    }
    if (!apart && fabs(sum) > 1e-15 * size) collect_term(c, m->P[e].joint, 0, sum);
  }
}

static uint32_t output_count(const psdm_model *m, psdm_function function) {
  int n = m->n, triangle_size = n * (n + 1) / 2;
  switch (function) {
    case PSDM_F_MASS: return (uint32_t)triangle_size;
    case PSDM_F_FORWARD: return (uint32_t)(n + triangle_size);
    case PSDM_F_REGRESSOR: return (uint32_t)(n * m->l);
    case PSDM_F_ENERGY: return 2;
    default: return (uint32_t)n;
  }
}

bool psdmp_nest_polynomials(const psdm_model *m, psdm_function function, const double *theta, psdmp_base_arena *arena,
                            psdmp_nest_sums *sums) {
  int n = m->n, options[2 * 64 + 2];
  /* potentials are a power higher */
  for (int j = 0; j < n; j++) options[j] = m->radix[j] + 2, options[n + j] = PSDMP_NEST_RATES;
  options[2 * n] = m->classes;
  options[2 * n + 1] = m->l > 0 ? m->l : 1;
  if (!psdmp_nest_sums_start(sums, arena, 2 * n + 2, options, output_count(m, function))) return false;
  collector c = {.m = m, .theta = theta, .function = function, .sums = sums};
  for (int k = 0; k < m->classes; k++) {
    psdm_model_class_rates(m, k, &c.first, &c.second);
    for (long f = m->class_start[k]; f < m->class_start[k + 1]; f++) {
      set_digits(&c, f);
      set_rates(&c, c.first, c.second);
      collect_function(&c, f);
    }
  }
  sums->used[2 * n + 1] = !theta && function != PSDM_F_REGRESSOR; /* also where there is but one */
  return psdmp_nest_sums_finish(sums);
}

/* ---- variables ---- */

static psdm_ref joint_value(const psdmp_nest_variables *v, psdm_graph *g, int j, int digit) {
  psdm_ref q = psdm_graph_input(g, v->inputs->q + j);
  if (v->model->prismatic[j]) return psdm_graph_power(g, q, digit);
  psdm_ref sine = v->caller ? psdm_graph_input(g, v->inputs->sine + j) : psdm_graph_sin(g, q);
  psdm_ref cosine = v->caller ? psdm_graph_input(g, v->inputs->cosine + j) : psdm_graph_cos(g, q);
  psdm_ref value = digit % 2 ? sine : psdm_graph_const(g, 1);
  for (int k = 0; k < digit / 2; k++) value = psdm_graph_mul(g, value, cosine);
  return value;
}

static psdm_ref rate_value(const psdmp_nest_variables *v, psdm_graph *g, int j, int option) {
  psdm_ref qd = psdm_graph_input(g, v->inputs->qd + j);
  switch (option) {
    case PSDMP_NEST_RATE_NONE: return psdm_graph_const(g, 1);
    case PSDMP_NEST_RATE_QD: return qd;
    case PSDMP_NEST_RATE_QD2: return psdm_graph_mul(g, qd, qd);
    default: return psdm_graph_input(g, v->inputs->qdd + j);
  }
}

static psdm_ref class_value(const psdmp_nest_variables *v, psdm_graph *g, int option) {
  int first, second;
  psdm_model_class_rates(v->model, option, &first, &second);
  if (first < 0) return psdm_graph_const(g, 1);
  if (second < 0) return rate_value(v, g, first, PSDMP_NEST_RATE_QDD);
  return psdm_graph_mul(g, rate_value(v, g, first, PSDMP_NEST_RATE_QD), rate_value(v, g, second, PSDMP_NEST_RATE_QD));
}

psdm_ref psdmp_nest_mode_value(const psdmp_nest_variables *v, psdm_graph *g, int mode, int option) {
  int n = v->model->n;
  if (mode < n) return joint_value(v, g, mode, option);
  if (mode < 2 * n) return rate_value(v, g, mode - n, option);
  if (mode == 2 * n) return class_value(v, g, option);
  return v->theta ? psdm_graph_const(g, v->theta[option]) : psdm_graph_input(g, v->inputs->theta + option);
}
