/* unsolved.c: the routines of LAPACK that the library calls and that may give up, wrapped by the linker. Factors by
 * reflections always exist. */
#include "unsolved.h"

#include <lapacke.h>

#define WRAP(name, wants, ...)                                 \
  lapack_int __real_##name wants;                              \
  lapack_int __wrap_##name wants;                              \
  __attribute__((noinline)) lapack_int __wrap_##name wants {   \
    return strike_now(false) ? 1 : __real_##name(__VA_ARGS__); \
  }

typedef double *at;
typedef const double *from;
typedef lapack_int whole;

WRAP(LAPACKE_dgbsv_work, (int a, whole b, whole c, whole d, whole e, at f, whole g, whole *h, at i, whole j), a, b, c,
     d, e, f, g, h, i, j)
WRAP(LAPACKE_dgees_work,
     (int a, char b, char c, LAPACK_D_SELECT2 d, whole e, at f, whole g, whole *h, at i, at j, at k, whole l, at m,
      whole n, lapack_logical *o),
     a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
WRAP(LAPACKE_dgeev_work,
     (int a, char b, char c, whole d, at e, whole f, at g, at h, at i, whole j, at k, whole l, at m, whole n), a, b, c,
     d, e, f, g, h, i, j, k, l, m, n)
WRAP(LAPACKE_dgels_work, (int a, char b, whole c, whole d, whole e, at f, whole g, at h, whole i, at j, whole k), a, b,
     c, d, e, f, g, h, i, j, k)
WRAP(LAPACKE_dgesdd_work,
     (int a, char b, whole c, whole d, at e, whole f, at g, at h, whole i, at j, whole k, at l, whole m, whole *n), a,
     b, c, d, e, f, g, h, i, j, k, l, m, n)
WRAP(LAPACKE_dgesv, (int a, whole b, whole c, at d, whole e, whole *f, at g, whole h), a, b, c, d, e, f, g, h)
WRAP(LAPACKE_dgesv_work, (int a, whole b, whole c, at d, whole e, whole *f, at g, whole h), a, b, c, d, e, f, g, h)
WRAP(LAPACKE_dgesvd, (int a, char b, char c, whole d, whole e, at f, whole g, at h, at i, whole j, at k, whole l, at m),
     a, b, c, d, e, f, g, h, i, j, k, l, m)
WRAP(LAPACKE_dgesvd_work,
     (int a, char b, char c, whole d, whole e, at f, whole g, at h, at i, whole j, at k, whole l, at m, whole n), a, b,
     c, d, e, f, g, h, i, j, k, l, m, n)
WRAP(LAPACKE_dgetrf_work, (int a, whole b, whole c, at d, whole e, whole *f), a, b, c, d, e, f)
WRAP(LAPACKE_dgges_work,
     (int a, char b, char c, char d, LAPACK_D_SELECT3 e, whole f, at g, whole h, at i, whole j, whole *k, at l, at m,
      at n, at o, whole p, at q, whole r, at s, whole t, lapack_logical *u),
     a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
WRAP(LAPACKE_dsyev, (int a, char b, char c, whole d, at e, whole f, at g), a, b, c, d, e, f, g)
WRAP(LAPACKE_dsyev_work, (int a, char b, char c, whole d, at e, whole f, at g, at h, whole i), a, b, c, d, e, f, g, h,
     i)
WRAP(LAPACKE_dtrsyl_work,
     (int a, char b, char c, whole d, whole e, whole f, from g, whole h, from i, whole j, at k, whole l, at m), a, b, c,
     d, e, f, g, h, i, j, k, l, m)
WRAP(LAPACKE_dtrtri_work, (int a, char b, char c, whole d, at e, whole f), a, b, c, d, e, f)
WRAP(LAPACKE_dtrtrs_work, (int a, char b, char c, char d, whole e, whole f, from g, whole h, at i, whole j), a, b, c, d,
     e, f, g, h, i, j)
WRAP(LAPACKE_zgesvd_work,
     (int a, char b, char c, whole d, whole e, lapack_complex_double *f, whole g, at h, lapack_complex_double *i,
      whole j, lapack_complex_double *k, whole l, lapack_complex_double *m, whole n, at o),
     a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)

static const psdm_status numbers[] = {PSDM_E_SINGULAR, PSDM_E_ACCURACY, PSDM_E_ARGUMENT, PSDM_E_LIMIT, PSDM_OK};

long unsolved_everywhere(const char *name, strike_attempt attempt, const void *what) {
  return strike_everywhere(name, attempt, what, &(strike_rule){.words = "LAPACK gave up", .as = numbers});
}

long unsolved_tolerated(const char *name, strike_attempt attempt, const void *what) {
  return strike_everywhere(name, attempt, what,
                           &(strike_rule){.words = "LAPACK gave up", .as = numbers, .tolerant = true});
}
