/* reduce_figures.c: numbers of a reduction's figures and table: contributions counted in bins, errors and operations of
 * models of several sizes. */
#include <math.h>

#include "study/reduce_priv.h"

static const char *const names[FIGURE_PROFILES] = {"slow", "fast"};
static const double confidences[2] = {0.95, 0.999};

/* ---- bins: quarters of a decade from 1e-14 up ---- */

/* lower edge, log10 of the contribution; the last bin has all beyond, too */
static double edge_of(int bin) { return bin / 4.0 - 14; }

static void count_one(double x, long *bins, long *below) {
  double at = x > 0 ? 4 * (log10(x) + 14) : -1;
  ++*(at < 0 ? below : &bins[at >= FIGURE_BINS ? FIGURE_BINS - 1 : (int)at]);
}

/* the reducer knows medians */
static void fill_bins(const psdm_reducer *reducer, psdmp_study_reduce_figure *figure) {
  for (long f = 0; f < figure->functions; f++) {
    double mean, median, largest;
    psdm_reducer_contribution(reducer, f, &mean, &median, &largest);
    count_one(median, figure->median, &figure->median_below);
    count_one(largest, figure->largest, &figure->largest_below);
  }
}

/* ---- the figures ---- */

/* sizes evenly spaced on a logarithmic axis, from 16 functions, or a sixteenth if there are few, to all */
static long size_at(long functions, int k) {
  double least = functions < 16 ? 1 : functions < 256 ? (double)functions / 16 : 16;
  long size = lround(least * pow((double)functions / least, (double)k / (FIGURE_SIZES - 1)));
  return size < 1 ? 1 : size > functions ? functions : size;
}

static psdm_status fill_size(psdmp_study_reduce *j, psdm_reducer *reducer, psdmp_study_reduce_size *at) {
  psdm_model *reduced = NULL;
  psdm_error error;
  psdm_cost cost;
  psdm_status status = psdm_reducer_errors(reducer, at->functions, confidences, at->error, &error);
  if (!status) status = psdm_reducer_keep(reducer, at->functions, &reduced, &error);
  if (status) return psdmp_job_fail(&j->job, &error);
  status = psdmp_study_reduce_count(j, reduced, PSDM_CODE_EXPANDED, -1, &cost);
  at->operations = status ? 0 : psdmp_study_reduce_operations(&cost);
  psdm_model_free(reduced);
  return status;
}

static psdm_status fill_sizes(psdmp_study_reduce *j, psdm_reducer *reducer, psdmp_study_reduce_figure *p) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < FIGURE_SIZES && !status; k++) {
    char doing[64];
    psdmp_study_reduce_size *at = &p->size[p->sizes];
    *at = (psdmp_study_reduce_size){.functions = size_at(p->functions, k)};
    if (p->sizes && at->functions == at[-1].functions) continue;
    status = fill_size(j, reducer, at);
    p->sizes += !status;
    psdmp_base_print(doing, sizeof doing, "%d %% of the figures", 100 * k / FIGURE_SIZES);
    if (!psdmp_job_progress(&j->job, doing, (double)k / FIGURE_SIZES) && !status) status = PSDM_E_STOPPED;
  }
  return status;
}

psdm_status psdmp_study_reduce_figures(psdmp_study_reduce *j) {
  psdm_profile profile[FIGURE_PROFILES] = {psdm_profile_slow(), psdm_profile_fast()};
  bool listed = j->profile.count > 0;
  int figures = listed ? 1 : FIGURE_PROFILES;
  psdm_status status = PSDM_OK;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "figures");
  if (listed) profile[0] = j->profile;
  for (int k = 0; k < figures && !status; k++) {
    psdmp_study_reduce_figure *p = &j->figure[k];
    psdm_reducer *reducer = NULL;
    *p = (psdmp_study_reduce_figure){.name = listed ? psdmp_study_reduce_profile_name(j) : names[k],
                                     .functions = psdm_model_p(j->model)};
    status = psdmp_study_reduce_start(j, &profile[k], true, &reducer);
    if (!status) fill_bins(reducer, p);
    if (!status) status = fill_sizes(j, reducer, p);
    psdm_reducer_free(reducer);
  }
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  if (!status) j->figures = figures;
  return status;
}

/* ---- the table: Lloyd, Irani, Ahmadi (2021), Table 3, in operations ---- */

static psdm_status fill_cell(psdmp_study_reduce *j, psdm_reducer *reducer, int index) {
  psdmp_study_reduce_cell *cell = &j->table[index];
  psdm_model *reduced = NULL;
  psdm_status status = psdmp_study_reduce_to(j, reducer, cell->error, cell->confidence, &reduced, &cell->info);
  if (!status && cell->info.stopped) status = PSDM_E_STOPPED;
  if (!status) status = psdmp_study_reduce_count(j, reduced, PSDM_CODE_EXPANDED, index, &cell->cost);
  psdm_model_free(reduced);
  return status;
}

/* cells by digits, then profile, then confidence; grouping by profile is the fastest order to compute them */
psdm_status psdmp_study_reduce_table(psdmp_study_reduce *j) {
  psdm_status status = PSDM_OK;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "table");
  for (int p = 0; p < 2 && !status; p++) {
    psdm_profile profile = p ? psdm_profile_fast() : psdm_profile_slow();
    psdm_reducer *reducer = NULL;
    status = psdmp_study_reduce_start(j, &profile, false, &reducer);
    for (int k = 0; k < 4 && !status; k++) {
      int index = 4 * (k / 2) + 2 * p + k % 2;
      j->table[index] = (psdmp_study_reduce_cell){
          .profile = names[p], .error = pow(10, -2 - k / 2), .confidence = confidences[k % 2]};
      status = fill_cell(j, reducer, index);
    }
    psdm_reducer_free(reducer);
  }
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  j->tabled = !status;
  return status;
}

/* ---- the document ---- */

/* the bins that have something in them, and those between */
static void put_bins(psdm_result *head, const psdmp_study_reduce_figure *p, psdm_contributions *to) {
  int first = 0, last = FIGURE_BINS - 1, count = 0;
  while (first < last && !p->median[first] && !p->largest[first]) first++;
  while (last > first && !p->median[last] && !p->largest[last]) last--;
  double *edge = psdm_result_memory(head, 3 * FIGURE_BINS + 1, sizeof *edge);
  if (!edge) return;
  double *median = edge + FIGURE_BINS + 1, *largest = median + FIGURE_BINS;
  for (int b = first; b <= last; b++, count++)
    edge[count] = edge_of(b), median[count] = (double)p->median[b], largest[count] = (double)p->largest[b];
  edge[count] = edge_of(last + 1);
  PSDM_RESULT_SET(to->log10_edges, edge, count + 1);
  PSDM_RESULT_SET(to->median, median, count);
  PSDM_RESULT_SET(to->maximum, largest, count);
  to->median_below = p->median_below, to->maximum_below = p->largest_below;
}

static psdm_reduced_size size_of(const psdmp_study_reduce_figure *p, const psdmp_study_reduce_size *x) {
  double less = 100 * (1 - (double)x->functions / (double)p->functions);
  return (psdm_reduced_size){x->functions,        less,         x->error[0], x->error[1], -log10(x->error[0]),
                             -log10(x->error[1]), x->operations};
}

static void put_figure(psdm_result *head, const psdmp_study_reduce_figure *p, psdm_reduced_figure *to) {
  psdm_reduced_size *size = psdm_result_items(head, &psdm_reduced_size_type, p->sizes);
  to->profile = p->name, to->functions = p->functions;
  put_bins(head, p, &to->contributions);
  for (int i = 0; size && i < p->sizes; i++) size[i] = size_of(p, &p->size[i]);
  PSDM_RESULT_SET(to->sizes, size, p->sizes);
}

static psdm_reduced_cell cell_of(const psdmp_study_reduce_cell *c, double ns) {
  return (psdm_reduced_cell){
      c->profile,       c->error,          c->confidence,      c->info.reached,
      c->info.error,    c->info.functions, c->info.parameters, psdmp_study_reduce_operations(&c->cost),
      ns > 0 ? ns : NAN};
}

void psdmp_study_reduce_put(const psdmp_study_reduce *j, psdm_reduce_result *r) {
  psdm_result *head = &r->head;
  psdm_reduced_cell *cell = j->tabled ? psdm_result_items(head, &psdm_reduced_cell_type, TABLE_CELLS) : NULL;
  psdm_reduced_figure *figure = j->figures ? psdm_result_items(head, &psdm_reduced_figure_type, j->figures) : NULL;
  for (int k = 0; cell && k < TABLE_CELLS; k++) cell[k] = cell_of(&j->table[k], j->ns[k]);
  for (int k = 0; figure && k < j->figures; k++) put_figure(head, &j->figure[k], &figure[k]);
  PSDM_RESULT_SET(r->table, cell, TABLE_CELLS);
  PSDM_RESULT_SET(r->figures, figure, j->figures);
}
