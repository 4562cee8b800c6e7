/* cblas.h: replaces BLAS's header in a build without it; see own_priv.h. */
#ifndef PSDMP_LINALG_OWN_CBLAS_H
#define PSDMP_LINALG_OWN_CBLAS_H

#include "own_priv.h"

enum { CblasRowMajor = 101, CblasColMajor, CblasNoTrans = 111, CblasTrans, CblasUpper = 121, CblasLower };
enum { CblasNonUnit = 131, CblasLeft = 141, CblasRight };

#define cblas_dgemm OWN(dgemm)
#define cblas_dgemv OWN(dgemv)
#define cblas_dger OWN(dger)
#define cblas_dsyrk OWN(dsyrk)
#define cblas_dtrsv OWN(dtrsv)
#define cblas_dtrsm OWN(dtrsm)
#define cblas_ddot OWN(ddot)
#define cblas_dnrm2 OWN(dnrm2)
#define cblas_daxpy OWN(daxpy)
#define cblas_dscal OWN(dscal)
#define cblas_dcopy OWN(dcopy)

#endif
