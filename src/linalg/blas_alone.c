/* blas_alone.c: OpenBLAS without its own threads. How it splits a product depends on their number, and so do the last
 * bits; work already spread over threads gains nothing from more. */
#include <cblas.h>
#include <stdatomic.h>

#include "linalg/linalg.h"

static atomic_flag busy = ATOMIC_FLAG_INIT;
static int users, before; /* the setting is global: the first user sets it, the last one restores it */

static void enter(void) {
  while (atomic_flag_test_and_set(&busy)) continue;
}

void psdmp_linalg_blas_alone(void) {
  enter();
  if (users++ == 0) {
    before = openblas_get_num_threads();
    if (before != 1) openblas_set_num_threads(1);
  }
  atomic_flag_clear(&busy);
}

void psdmp_linalg_blas_back(void) {
  enter();
  if (--users == 0 && before != 1) openblas_set_num_threads(before);
  atomic_flag_clear(&busy);
}
