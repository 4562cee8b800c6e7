/* reduce_figures.c: numbers of psdm reduce's figures and table: contributions counted in bins, and all of it in a
 * document. */
#include "reduce_figures.h"

#include <math.h>

const char *const figure_names[FIGURE_PROFILES] = {"slow", "fast"};
const double figure_confidences[2] = {0.95, 0.999};

/* ---- bins: quarters of a decade from 1e-14 up ---- */

double figure_edge(int bin) { return bin / 4.0 - 14; }

static void count_one(double x, long *bins, long *below) {
  double at = x > 0 ? 4 * (log10(x) + 14) : -1;
  ++*(at < 0 ? below : &bins[at >= FIGURE_BINS ? FIGURE_BINS - 1 : (int)at]);
}

void figure_count(const psdm_reducer *reducer, figure_profile *profile) {
  for (long f = 0; f < profile->functions; f++) {
    double mean, median, largest;
    psdm_reducer_contribution(reducer, f, &mean, &median, &largest);
    count_one(median, profile->median, &profile->median_below);
    count_one(largest, profile->largest, &profile->largest_below);
  }
}

double figure_less(const figure_profile *profile, const figure_size *size) {
  return 100 * (1 - (double)size->functions / (double)profile->functions);
}

/* ---- the document ---- */

/* the bins that have something in them, and those between */
static void put_bins(psdm_result *head, const figure_profile *p, psdm_contributions *to) {
  int first = 0, last = FIGURE_BINS - 1, count = 0;
  while (first < last && !p->median[first] && !p->largest[first]) first++;
  while (last > first && !p->median[last] && !p->largest[last]) last--;
  double *edge = psdm_result_memory(head, 3 * FIGURE_BINS + 1, sizeof *edge);
  if (!edge) return;
  double *median = edge + FIGURE_BINS + 1, *largest = median + FIGURE_BINS;
  for (int b = first; b <= last; b++, count++)
    edge[count] = figure_edge(b), median[count] = (double)p->median[b], largest[count] = (double)p->largest[b];
  edge[count] = figure_edge(last + 1);
  PSDM_RESULT_SET(to->log10_edges, edge, count + 1);
  PSDM_RESULT_SET(to->median, median, count);
  PSDM_RESULT_SET(to->maximum, largest, count);
  to->median_below = p->median_below, to->maximum_below = p->largest_below;
}

static psdm_reduced_size size_of(const figure_profile *p, const figure_size *x) {
  return (psdm_reduced_size){x->functions,        figure_less(p, x),   x->error[0],  x->error[1],
                             -log10(x->error[0]), -log10(x->error[1]), x->operations};
}

const psdm_reduced_figure *figure_profiles(psdm_result *head, const figure_profile *profiles, int count) {
  psdm_reduced_figure *to = psdm_result_items(head, &psdm_reduced_figure_type, count);
  for (int k = 0; to && k < count; k++) {
    const figure_profile *p = &profiles[k];
    psdm_reduced_size *size = psdm_result_items(head, &psdm_reduced_size_type, p->sizes);
    to[k].profile = p->name, to[k].functions = p->functions;
    put_bins(head, p, &to[k].contributions);
    for (int i = 0; size && i < p->sizes; i++) size[i] = size_of(p, &p->size[i]);
    PSDM_RESULT_SET(to[k].sizes, size, p->sizes);
  }
  return to;
}

const psdm_reduced_cell *figure_table(psdm_result *head, const table_cell cells[TABLE_CELLS]) {
  psdm_reduced_cell *to = psdm_result_items(head, &psdm_reduced_cell_type, TABLE_CELLS);
  for (int k = 0; to && k < TABLE_CELLS; k++) {
    const table_cell *c = &cells[k];
    to[k] = (psdm_reduced_cell){
        c->profile,    c->error,          c->confidence,      c->info.reached,
        c->info.error, c->info.functions, c->info.parameters, c->cost.mult + c->cost.add + c->cost.div};
  }
  return to;
}
