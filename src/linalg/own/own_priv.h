/* own_priv.h: the functions of BLAS and LAPACK that the library uses, for builds without them: unblocked, in the
 * caller's memory, with the same arguments and return codes. Orders, uplo and trans are numbers as in cblas.h; a
 * positive return code is LAPACK's info. Private to the room. */
#ifndef PSDMP_LINALG_OWN_PRIV_H
#define PSDMP_LINALG_OWN_PRIV_H

#define OWN(name) psdmp_linalg_own_##name

/* ---- blas.c ---- */

void OWN(dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
                int ldb, double beta, double *C, int ldc);
void OWN(dgemv)(int order, int trans, int m, int n, double alpha, const double *A, int lda, const double *x, int incx,
                double beta, double *y, int incy); /* by rows */
void OWN(dger)(int order, int m, int n, double alpha, const double *x, int incx, const double *y, int incy, double *A,
               int lda); /* by rows */
void OWN(dsyrk)(int order, int uplo, int trans, int n, int k, double alpha, const double *A, int lda, double beta,
                double *C, int ldc); /* by rows, lower, transposed */
void OWN(dtrsv)(int order, int uplo, int trans, int diag, int n, const double *A, int lda, double *x, int incx);
void OWN(dtrsm)(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *A,
                int lda, double *B, int ldb); /* by rows, from the right, alpha = 1 */
double OWN(ddot)(int n, const double *x, int incx, const double *y, int incy);
double OWN(dnrm2)(int n, const double *x, int incx);
void OWN(daxpy)(int n, double alpha, const double *x, int incx, double *y, int incy);
void OWN(dscal)(int n, double alpha, double *x, int incx);
void OWN(dcopy)(int n, const double *x, int incx, double *y, int incy);

/* ---- solve.c: by columns ---- */

int OWN(dgeqrf)(int order, int m, int n, double *A, int lda, double *tau, double *work, int words);
int OWN(dgeqp3)(int order, int m, int n, double *A, int lda, int *pivot, double *tau, double *work, int words);
int OWN(dormqr)(int order, char side, char trans, int m, int n, int k, const double *A, int lda, const double *tau,
                double *C, int ldc, double *work, int words); /* Q^T from the left */
int OWN(dgels)(int order, char trans, int m, int n, int sides, double *A, int lda, double *B, int ldb, double *work,
               int words);
int OWN(dtpqrt)(int order, int m, int n, int l, int panel, double *A, int lda, double *B, int ldb, double *T, int ldt,
                double *work);                                            /* l = 0; T is not set */
int OWN(dgetrf)(int order, int m, int n, double *A, int lda, int *pivot); /* m = n */
int OWN(dgetrs)(int order, char trans, int n, int sides, const double *A, int lda, const int *pivot, double *B,
                int ldb);
int OWN(dgesv)(int order, int n, int sides, double *A, int lda, int *pivot, double *B, int ldb);
int OWN(dgbsv)(int order, int n, int kl, int ku, int sides, double *A, int lda, int *pivot, double *B, int ldb);
int OWN(dtrtri)(int order, char uplo, char diag, int n, double *A, int lda);
int OWN(dtrtrs)(int order, char uplo, char trans, char diag, int n, int sides, const double *A, int lda, double *B,
                int ldb); /* upper */

/* ---- spectrum.c ---- */

/* One-sided Jacobi rotations (Hestenes 1958, de Rijk 1989). U: 'N', 'S' or 'O', VT: 'N', 'A', or 'S' where m >= n. */
int OWN(dgesvd)(int order, char jobu, char jobvt, int m, int n, double *A, int lda, double *s, double *U, int ldu,
                double *VT, int ldvt, double *super);
int OWN(zgesvd)(int m, int n, double *A, int lda, double *s); /* values alone; complex, by columns, m >= n */
/* Cyclic Jacobi rotations. work: (n x n) for vectors, none without. */
int OWN(dsyev)(int order, char job, char uplo, int n, double *A, int lda, double *w, double *work);
int OWN(dsyev_heap)(int order, char job, char uplo, int n, double *A, int lda, double *w);
/* Eigenvalues by shifted QR steps on a Hessenberg matrix (EISPACK's elmhes and hqr). A is overwritten. */
int OWN(dgeev)(int n, double *A, int lda, double *re, double *im);

#endif
