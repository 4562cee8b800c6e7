#include "parallel/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int psdmp_threads(int asked, const psdm_allocator *allocator, long units) {
  long threads = 1;
#ifdef _OPENMP
  threads = asked > 0 ? asked : omp_get_max_threads();
#else
  (void)asked;
#endif
  if (allocator) threads = 1;
  if (threads > units) threads = units;
  return threads > 1 ? (int)threads : 1;
}
