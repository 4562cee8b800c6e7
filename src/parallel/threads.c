/* threads.c: how many threads. */
#include "parallel/parallel.h"
#include "psdm/component.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int psdm_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

int psdmp_parallel_threads(int asked, const psdm_allocator *allocator, long units) {
  long threads = 1;
#ifdef _OPENMP
  threads = asked > 0 ? asked : psdm_threads();
#else
  (void)asked;
#endif
  if (allocator) threads = 1;
  if (threads > units) threads = units;
  return threads > 1 ? (int)threads : 1;
}
