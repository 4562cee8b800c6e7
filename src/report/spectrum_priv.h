/* spectrum_priv.h: statistics of residuals: histograms and spectra. Pure functions on arrays. */
#ifndef PSDMP_REPORT_SPECTRUM_H
#define PSDMP_REPORT_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>

/* ---- spectra ---- */

/* X_k = sum x_j exp(-2 pi i j k / count), in place; count is a power of two. cosine and sine: (count / 2) from
 * psdmp_report_fourier_table. */
void psdmp_report_fourier_table(size_t count, double *cosine, double *sine);
void psdmp_report_fourier(size_t count, double *re, double *im, const double *cosine, const double *sine);

/* A power of two for the length of Welch's windows: eight half-overlapping windows fit into count samples, 16 to 2048.
 * 0: too few samples. */
size_t psdmp_report_welch_length(size_t count);

/* One-sided power density by Welch's method: Hann windows that overlap by half, each without its mean. Windows with a
 * NAN, such as gaps between runs, are left out. power: (length / 2 + 1) in unit^2 / Hz at k rate / length; its sum
 * times rate / length is the mean square under the windows. scratch: (4 length). Returns the number of windows; if 0,
 * power is unchanged. */
size_t psdmp_report_welch(const double *value, size_t count, double rate, size_t length, double *power,
                          double *scratch);

/* ---- distributions; NANs are ignored ---- */

typedef struct psdmp_report_spread {
  size_t count;
  double mean, sd;  /* sd over count - 1; NAN below two values */
  double inside[3]; /* share within 1, 2, 3 sd of the mean */
} psdmp_report_spread;

psdmp_report_spread psdmp_report_spread_of(const double *value, size_t count);

/* A suitable number of bins for these values between lowest and highest, by Freedman and Diaconis (1981). scratch:
 * (count). */
enum { PSDMP_REPORT_LEAST_BINS = 12, PSDMP_REPORT_MOST_BINS = 80 };
int psdmp_report_histogram_bins(const double *value, size_t count, double *scratch, double lowest, double highest);

/* Density of values in equal bins from lowest to highest: middle[bins], density[bins]; values outside are left out but
 * count: the sum of the bins times their width is the share inside. False when the range or the values are empty. */
bool psdmp_report_histogram(const double *value, size_t count, double lowest, double highest, int bins, double *middle,
                            double *density);

double psdmp_report_normal(double mean, double sd, double x); /* density */

/* Means of y in bins of x with equally many values each; order: (count) scratch. Returns the number of bins with a
 * mean, at most bins. */
int psdmp_report_binned_means(const double *x, const double *y, size_t count, int bins, size_t *order, double *mean_x,
                              double *mean_y);

#endif
