/* vector8.h: eight doubles in place of CasADi's real; included before the generated C. Sine and cosine are glibc's
 * vector ones. */
#ifndef BENCH_VECTOR8_H
#define BENCH_VECTOR8_H

#include <math.h>

enum { LANES = 8 };
typedef double real __attribute__((vector_size(8 * LANES)));
#define casadi_real real
#define EIGHT(x) ((real){} + (x))

#if defined(__AVX512F__) && defined(__GLIBC__)
real _ZGVeN8v_sin(real x);
real _ZGVeN8v_cos(real x);
#define sin _ZGVeN8v_sin
#define cos _ZGVeN8v_cos
#else
static inline real each(double (*f)(double), real x) {
  for (int i = 0; i < LANES; i++) x[i] = f(x[i]);
  return x;
}
#define sin(x) each(sin, x)
#define cos(x) each(cos, x)
#endif
#endif
