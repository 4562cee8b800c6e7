/* reduce_figures.h: the numbers of psdm reduce's figures and table, for --json and psdm report (Lloyd,
 * Irani, Ahmadi 2021, Figures 2 and 7, Table 3). */
#ifndef REDUCE_FIGURES_H
#define REDUCE_FIGURES_H

#include "psdm/psdm.h"

enum { FIGURE_SIZES = 16, FIGURE_PROFILES = 2, FIGURE_BINS = 60, TABLE_CELLS = 8 };

extern const char *const figure_names[FIGURE_PROFILES]; /* slow, fast */
extern const double figure_confidences[2];              /* 95 %, 99.9 % */

/* One size of a reduced model: the first functions of the ranking, refitted. */
typedef struct figure_size {
  long functions;
  double error[2]; /* at the two confidences */
  long operations;
} figure_size;

/* One profile: how many functions contribute how much, and the trade-off. */
typedef struct figure_profile {
  const char *name;
  long functions;
  long median[FIGURE_BINS], largest[FIGURE_BINS]; /* functions whose median and largest contribution falls into a bin */
  long median_below, largest_below;               /* below the first bin, or always 0 */
  int sizes;
  figure_size size[FIGURE_SIZES];
} figure_profile;

/* One cell of the table. */
typedef struct table_cell {
  const char *profile;
  double error, confidence; /* requested */
  psdm_reduce_info info;
  psdm_cost cost;
} table_cell;

/* lower edge, log10 of the contribution; the last bin has all beyond, too */
double figure_edge(int bin);
double figure_less(const figure_profile *profile, const figure_size *size); /* percentage of functions dropped */

/* Fills the bins. The reducer must know medians. */
void figure_count(const psdm_reducer *reducer, figure_profile *profile);

/* The same for a document: (count), (TABLE_CELLS). */
const psdm_reduced_figure *figure_profiles(psdm_result *head, const figure_profile *profiles, int count);
const psdm_reduced_cell *figure_table(psdm_result *head, const table_cell cells[TABLE_CELLS]);

#endif
