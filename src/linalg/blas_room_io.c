/* blas_room_io.c: whether OpenBLAS can map its buffer: 128 MB, at its first use, for good; it retries forever when they
 * are unavailable. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <lapacke.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/base.h"
#include "linalg/linalg.h"

enum { ROOM = 160 << 20 }; /* the buffer, and a little for later */

psdm_status psdmp_linalg_blas_room(psdm_error *error) {
  static atomic_bool taken;
  if (atomic_load(&taken)) return PSDM_OK;
  void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return psdmp_base_fail(error, PSDM_E_MEMORY, "", 0, 0,
                           "out of memory: linear algebra needs %d MB of address space (ulimit -v)", ROOM >> 20);
  munmap(room, ROOM);
  /* now, before something else takes the space: the smallest of factorisations makes it map its buffer */
  double A = 1;
  lapack_int pivot;
  LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, 1, 1, &A, 1, &pivot);
  atomic_store(&taken, true);
  return PSDM_OK;
}

bool psdmp_linalg_lapack_memory(int code) {
  return code == LAPACK_WORK_MEMORY_ERROR || code == LAPACK_TRANSPOSE_MEMORY_ERROR;
}
