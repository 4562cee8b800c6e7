/* expm.h: the exponential of a matrix, with LAPACK. Memory is the caller's. Private to the library. */
#ifndef PSDMP_LINALG_EXPM_H
#define PSDMP_LINALG_EXPM_H

#include <stdbool.h>
#include <stddef.h>

/* Doubles of scratch for a matrix of this size. */
size_t psdmp_linalg_expm_scratch(int n);

/* E = exp(A), (n x n), row- or column-major alike. E must not overlap A. False when A has an entry that is not finite,
 * or its exponential overflows. */
bool psdmp_linalg_expm(int n, const double *A, double *E, double *scratch);

#endif
