/* reduce_figures.c: numbers of psdm reduce's figures and table: contributions counted in bins, and all of it as
 * JSON. */
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

/* ---- JSON ---- */

/* from the first non-empty bin to the last */
static void write_bins(psdm_output *out, const figure_profile *p) {
  double edge[FIGURE_BINS + 1], median[FIGURE_BINS], largest[FIGURE_BINS];
  int first = 0, last = FIGURE_BINS - 1, count = 0;
  while (first < last && !p->median[first] && !p->largest[first]) first++;
  while (last > first && !p->median[last] && !p->largest[last]) last--;
  for (int b = first; b <= last; b++, count++)
    edge[count] = figure_edge(b), median[count] = (double)p->median[b], largest[count] = (double)p->largest[b];
  edge[count] = figure_edge(last + 1);
  psdm_json_object(out, "contributions");
  psdm_json_numbers(out, "log10_edges", edge, count + 1);
  psdm_json_numbers(out, "median", median, count);
  psdm_json_numbers(out, "maximum", largest, count);
  psdm_json_integer(out, "median_below", p->median_below);
  psdm_json_integer(out, "maximum_below", p->largest_below);
  psdm_json_close(out);
}

static void write_size(psdm_output *out, const figure_profile *p, const figure_size *x) {
  psdm_json_object(out, NULL);
  psdm_json_integer(out, "functions", x->functions);
  psdm_json_number(out, "left_out_percent", figure_less(p, x));
  psdm_json_number(out, "error_95", x->error[0]);
  psdm_json_number(out, "error_999", x->error[1]);
  psdm_json_number(out, "digits_95", -log10(x->error[0]));
  psdm_json_number(out, "digits_999", -log10(x->error[1]));
  psdm_json_integer(out, "operations", x->operations);
  psdm_json_close(out);
}

void figure_write(psdm_output *out, const figure_profile *profiles, int count) {
  psdm_json_array(out, "figures");
  for (int k = 0; k < count; k++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "profile", profiles[k].name);
    psdm_json_integer(out, "functions", profiles[k].functions);
    write_bins(out, &profiles[k]);
    psdm_json_array(out, "sizes");
    for (int i = 0; i < profiles[k].sizes; i++) write_size(out, &profiles[k], &profiles[k].size[i]);
    psdm_json_close(out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

void figure_write_table(psdm_output *out, const table_cell cells[TABLE_CELLS]) {
  psdm_json_array(out, "table");
  for (int k = 0; k < TABLE_CELLS; k++) {
    const table_cell *c = &cells[k];
    psdm_json_object(out, NULL);
    psdm_json_string(out, "profile", c->profile);
    psdm_json_number(out, "error_wanted", c->error);
    psdm_json_number(out, "confidence", c->confidence);
    psdm_json_bool(out, "reached", c->info.reached);
    psdm_json_number(out, "error", c->info.error);
    psdm_json_integer(out, "functions", c->info.functions);
    psdm_json_integer(out, "parameters", c->info.parameters);
    psdm_json_integer(out, "operations", c->cost.mult + c->cost.add + c->cost.div);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}
