/* lapacke.h: replaces LAPACK's header in a build without it; see own_priv.h. */
#ifndef PSDMP_LINALG_OWN_LAPACKE_H
#define PSDMP_LINALG_OWN_LAPACKE_H

#include "own_priv.h"

typedef int lapack_int;
typedef double lapack_complex_double; /* a pointer to pairs */

enum { LAPACK_ROW_MAJOR = 101, LAPACK_COL_MAJOR };
enum { LAPACK_WORK_MEMORY_ERROR = -1010, LAPACK_TRANSPOSE_MEMORY_ERROR = -1011 };

#define LAPACKE_dgeqrf_work OWN(dgeqrf)
#define LAPACKE_dgeqp3_work OWN(dgeqp3)
#define LAPACKE_dormqr_work OWN(dormqr)
#define LAPACKE_dgels_work OWN(dgels)
#define LAPACKE_dtpqrt_work OWN(dtpqrt)
#define LAPACKE_dgetrf_work OWN(dgetrf)
#define LAPACKE_dgetrs_work OWN(dgetrs)
#define LAPACKE_dgesv_work OWN(dgesv)
#define LAPACKE_dgesv OWN(dgesv)
#define LAPACKE_dgbsv_work OWN(dgbsv)
#define LAPACKE_dtrtri_work OWN(dtrtri)
#define LAPACKE_dtrtrs_work OWN(dtrtrs)
#define LAPACKE_dgesvd OWN(dgesvd)
#define LAPACKE_dgesvd_work(o, u, v, m, n, A, lda, s, U, ldu, VT, ldvt, work, words) \
  OWN(dgesvd)(o, u, v, m, n, A, lda, s, U, ldu, VT, ldvt, work)
#define LAPACKE_dgesdd_work(o, job, m, n, A, lda, s, U, ldu, VT, ldvt, work, words, integers) \
  ((void)(integers), *(work) = 1, (words) == -1 ? 0 : OWN(dgesvd)(o, job, job, m, n, A, lda, s, U, ldu, VT, ldvt, work))
#define LAPACKE_zgesvd_work(o, u, v, m, n, A, lda, s, U, ldu, VT, ldvt, work, words, real) \
  ((void)(work), (void)(real), OWN(zgesvd)(m, n, A, lda, s))
#define LAPACKE_dsyev OWN(dsyev_heap)
#define LAPACKE_dsyev_work(o, job, uplo, n, A, lda, w, work, words) OWN(dsyev)(o, job, uplo, n, A, lda, w, work)
#define LAPACKE_dgeev_work(o, l, r, n, A, lda, re, im, VL, ldl, VR, ldr, work, words) OWN(dgeev)(n, A, lda, re, im)

#endif
