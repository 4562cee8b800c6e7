/* spectrum_priv.h: what residuals are made of: how often which size, how strong at which frequency. Pure functions
 * on arrays. */
#ifndef PSDMP_REPORT_SPECTRUM_H
#define PSDMP_REPORT_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>

/* ---- spectra ---- */

/* X_k = sum x_j exp(-2 pi i j k / count), in place; count is a power of two. cosine and sine: (count / 2) from
 * psdmp_report_fourier_table. */
void psdmp_report_fourier_table(size_t count, double *cosine, double *sine);
void psdmp_report_fourier(size_t count, double *re, double *im, const double *cosine, const double *sine);

/* A power of two for the length of Welch's windows: eight windows that overlap by half fit into count samples, 16 to
 * 2048. 0: too few samples. */
size_t psdmp_report_welch_length(size_t count);

/* One-sided power density by Welch's method: Hann windows that overlap by half, each without its mean. Windows with
 * a value that is no number are left out: gaps between runs are such values. power: (length / 2 + 1) in unit^2 / Hz
 * at k rate / length; its sum times rate / length is the mean square under the windows. scratch: (4 length). Returns
 * how many windows there were; without any, power is not touched. */
size_t psdmp_report_welch(const double *value, size_t count, double rate, size_t length, double *power,
                          double *scratch);

/* ---- distributions; values that are no numbers do not count ---- */

typedef struct psdmp_report_spread {
  size_t count;
  double mean, sd;  /* sd over count - 1; NAN below two values */
  double inside[3]; /* share within 1, 2, 3 sd of the mean */
} psdmp_report_spread;

psdmp_report_spread psdmp_report_spread_of(const double *value, size_t count);

/* How many bins suit these values between lowest and highest: as wide as Freedman and Diaconis (1981) have them.
 * scratch: (count). */
enum { PSDMP_REPORT_LEAST_BINS = 12, PSDMP_REPORT_MOST_BINS = 80 };
int psdmp_report_histogram_bins(const double *value, size_t count, double *scratch, double lowest, double highest);

/* Density of values in equal bins from lowest to highest: middle[bins], density[bins]; values outside are left out
 * but count: bins sum up, times their width, to the share inside. False when the range is empty or there is no
 * value. */
bool psdmp_report_histogram(const double *value, size_t count, double lowest, double highest, int bins, double *middle,
                            double *density);

double psdmp_report_normal(double mean, double sd, double x); /* density */

/* Means of y in bins of x that hold equally many values each; order: (count) scratch. Returns how many bins have a
 * mean, at most bins. */
int psdmp_report_binned_means(const double *x, const double *y, size_t count, int bins, size_t *order, double *mean_x,
                              double *mean_y);

#endif
