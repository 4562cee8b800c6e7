/* search.c: which order of nesting is the cheapest. No fixed rule wins everywhere: try, count, keep the
 * lowest of those that round well. */
#include <string.h>

#include "nest/nest.h"

typedef struct search {
  const psdmp_nest_sums *sums;
  const psdmp_nest_variables *v;
  const psdm_allocator *allocator;
  psdm_graph *graph; /* of the trials */
  psdm_ref *out;
  double *truth; /* (PSDMP_NEST_ROUNDING_STATES x outputs) */
  psdmp_nest_nesting best;
  long cost;       /* of the best; -1: none yet */
  double rounding; /* of the best, in units of the roundoff */
  int tries;       /* left */
} search;

enum { SMALL = 500 }; /* terms: up to here every start is varied, and every trial factored */

static void append(const psdmp_nest_sums *s, psdmp_nest_nesting *how, int mode) {
  if (s->used[mode]) how->order[how->length++] = mode;
}

/* ---- the plain twin: the polynomials term by term ---- */

/* values of all options at a state, mode after mode: value (sum of the options) */
static bool option_values(const search *s, psdm_graph *g, const double *input, psdm_ref *option, size_t options,
                          double *value) {
  size_t at = 0;
  psdm_graph_clear(g);
  for (int mode = 0; mode < s->sums->modes; mode++)
    for (int o = 0; o < s->sums->options[mode]; o++, at++)
      option[at] = s->sums->used[mode] ? psdmp_nest_mode_value(s->v, g, mode, o) : psdm_graph_const(g, 1);
  double *scratch = psdmp_base_alloc_raw(s->allocator, ((size_t)psdm_graph_size(g) + 1) * sizeof *scratch);
  bool ok = scratch && psdm_graph_status(g) == PSDM_OK;
  if (ok) psdm_graph_evaluate(g, input, option, options, scratch, value);
  psdmp_base_free(s->allocator, scratch);
  return ok;
}

/* rates are in there twice, joint by joint and all at once: the second is taken */
static void add_terms(const search *s, const double *value, double *truth) {
  const psdmp_nest_sums *p = s->sums;
  int n = s->v->model->n;
  for (size_t t = 0, end; t < p->terms; t = end) {
    long double sum = 0;
    for (end = t; end < p->terms && p->term[end].output == p->term[t].output; end++) {
      const unsigned short *option = &p->option[(size_t)p->term[end].monomial * (size_t)p->modes];
      long double product = p->term[end].value;
      const double *at = value;
      for (int mode = 0; mode < p->modes; at += p->options[mode++])
        if (mode < n || mode >= 2 * n) product *= at[option[mode]];
      sum += product;
    }
    truth[p->term[t].output] = (double)sum;
  }
}

static psdm_status find_truth(search *s) {
  const psdmp_nest_sums *p = s->sums;
  const psdm_model *m = s->v->model;
  psdmp_base_arena scratch = {.allocator = s->allocator};
  size_t options = 0;
  for (int mode = 0; mode < p->modes; mode++) options += (size_t)p->options[mode];
  double *input = psdmp_base_arena_alloc(&scratch, (size_t)s->v->inputs->count * sizeof *input);
  double *value = psdmp_base_arena_alloc(&scratch, options * sizeof *value);
  psdm_ref *option = psdmp_base_arena_alloc(&scratch, options * sizeof *option);
  bool ok = input && value && option;
  for (int k = 0; k < PSDMP_NEST_ROUNDING_STATES && ok; k++) {
    psdmp_nest_rounding_state(k, m->n, m->l, s->v->inputs, input);
    ok = option_values(s, s->graph, input, option, options, value);
    if (ok) add_terms(s, value, s->truth + (size_t)k * p->outputs);
  }
  psdmp_base_arena_free(&scratch);
  return ok ? PSDM_OK : PSDM_E_MEMORY;
}

/* ---- counting ---- */

/* Small pivots save operations and cost digits: sums are made of larger ones that cancel again. What rounds badly
 * comes after whatever does not. */
static psdm_status compare(search *s, long cost, bool *better) {
  double rounding;
  bool good = s->cost >= 0 && s->rounding <= PSDMP_NEST_ROUNDING_MOST;
  *better = false;
  if (good && cost >= s->cost) return PSDM_OK;
  if (!psdmp_nest_rounding(s->graph, s->v->model->n, s->v->model->l, s->v->inputs, s->out, s->sums->outputs, s->truth,
                           s->allocator, &rounding))
    return PSDM_E_MEMORY;
  *better = s->cost < 0 || rounding <= PSDMP_NEST_ROUNDING_MOST || (!good && rounding < s->rounding);
  if (*better) s->cost = cost, s->rounding = rounding;
  return PSDM_OK;
}

static psdm_status try_one(search *s, const psdmp_nest_nesting *how, bool *better) {
  psdm_cost cost;
  psdm_graph_clear(s->graph);
  *better = false;
  s->tries--;
  if (!psdmp_nest_build(s->sums, s->v, how, s->allocator, s->graph, s->out)) return PSDM_E_MEMORY;
  /* what counts is what factoring leaves; large graphs are factored once, at the end */
  psdm_status status = s->sums->terms < SMALL ? psdm_graph_factor(s->graph, s->out, s->sums->outputs) : PSDM_OK;
  if (!status) status = psdm_graph_cost(s->graph, s->out, s->sums->outputs, &cost);
  if (!status) status = compare(s, cost.mult + cost.add, better);
  if (*better) s->best = *how;
  return status;
}

/* ---- where to start: tip to base, with the rates of a joint behind it, or all rates at one end ---- */

typedef enum rates { RATES_BEHIND, RATES_BEFORE, RATES_INSIDE, RATES_OUTSIDE, RATES_WAYS } rates;

static psdmp_nest_nesting start_order(const psdmp_nest_sums *s, int n, rates where, bool theta_outside,
                                      bool base_first) {
  psdmp_nest_nesting how = {.threshold = 0.3, .gauge = true};
  if (theta_outside) append(s, &how, 2 * n + 1);
  if (where == RATES_OUTSIDE) append(s, &how, 2 * n);
  for (int k = n - 1; k >= 0; k--) {
    int j = base_first ? n - 1 - k : k;
    if (where == RATES_BEFORE) append(s, &how, n + j);
    append(s, &how, j);
    if (where == RATES_BEHIND) append(s, &how, n + j);
  }
  if (where == RATES_INSIDE) append(s, &how, 2 * n);
  if (!theta_outside) append(s, &how, 2 * n + 1);
  return how;
}

/* the cheap variations of an order: other pivots, other scales */
static psdm_status vary(search *s, psdmp_nest_nesting how) {
  static const double thresholds[] = {0.3, 0.05, 0.001};
  bool better;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < 12 && !status && s->tries > 0; k++) {
    how.threshold = thresholds[k / 4];
    how.gauge = k % 2 == 0;
    how.late = k % 4 / 2 == 1;
    status = try_one(s, &how, &better);
  }
  return status;
}

/* no variation and no descent has ever halved a count */
static bool is_hopeless(const search *s, long limit) { return limit && s->cost > 2 * limit; }

static psdm_status try_starts(search *s, long limit) {
  int n = s->v->model->n;
  bool theta = s->sums->used[2 * n + 1], rates_used = s->sums->used[2 * n], better;
  psdm_status status = PSDM_OK;
  for (int where = 0; where < (rates_used ? RATES_WAYS : 1); where++)
    for (int outside = 0; outside < (theta ? 2 : 1); outside++)
      for (int base_first = 0; base_first < 2 && (s->tries > 0 || s->cost < 0); base_first++) {
        psdmp_nest_nesting how = start_order(s->sums, n, (rates)where, outside, base_first);
        status = s->sums->terms < SMALL ? vary(s, how) : try_one(s, &how, &better);
        if (status || is_hopeless(s, limit)) return status;
      }
  return status;
}

/* ---- descent: one mode to another place, as long as that helps ---- */

static psdmp_nest_nesting moved(const psdmp_nest_nesting *how, int from, int to) {
  psdmp_nest_nesting other = *how;
  int mode = how->order[from];
  memmove(other.order + from, other.order + from + 1, (size_t)(how->length - from - 1) * sizeof *other.order);
  memmove(other.order + to + 1, other.order + to, (size_t)(how->length - 1 - to) * sizeof *other.order);
  other.order[to] = mode;
  return other;
}

static psdm_status descend(search *s) {
  bool again = true, better;
  while (again) {
    again = false;
    for (int from = 0; from < s->best.length; from++)
      for (int to = 0; to < s->best.length; to++) {
        if (to == from || to == from - 1) continue; /* a neighbour's exchange is met once */
        if (s->tries <= 0) return PSDM_OK;
        psdmp_nest_nesting how = moved(&s->best, from, to);
        psdm_status status = try_one(s, &how, &better);
        if (status) return status;
        again |= better;
      }
  }
  return PSDM_OK;
}

/* trials cost about as much as they have terms: so many keep the search below a second or two */
static int tries_for(size_t terms) {
  size_t tries = 600000 / (terms + 500);
  return tries > 400 ? 400 : tries < 24 ? 24 : (int)tries;
}

psdm_status psdmp_nest_search(const psdmp_nest_sums *sums, const psdmp_nest_variables *v, long limit,
                              const psdm_allocator *allocator, psdmp_nest_found *found, bool *hopeless) {
  search s = {.sums = sums, .v = v, .allocator = allocator, .cost = -1, .tries = tries_for(sums->terms)};
  s.out = psdmp_base_alloc(allocator, (sums->outputs + 1) * sizeof *s.out);
  s.truth = psdmp_base_alloc(allocator, ((size_t)PSDMP_NEST_ROUNDING_STATES * sums->outputs + 1) * sizeof *s.truth);
  psdm_status status = s.out && s.truth ? psdm_graph_new(allocator, &s.graph) : PSDM_E_MEMORY;
  if (!status) status = find_truth(&s);
  if (!status) status = try_starts(&s, limit);
  *hopeless = is_hopeless(&s, limit);
  if (!status && !*hopeless) status = vary(&s, s.best);
  if (!status && !*hopeless) status = descend(&s);
  *found = (psdmp_nest_found){s.best, s.cost, s.rounding};
  psdm_graph_free(s.graph);
  psdmp_base_free(allocator, s.truth);
  psdmp_base_free(allocator, s.out);
  return status;
}
