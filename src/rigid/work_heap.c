/* work_heap.c: scratch of the recursions, from an allocator. */
#include "rigid/rigid.h"

psdm_status psdm_work_new(const psdm_robot *r, const psdm_allocator *allocator, psdm_work **work) {
  size_t bytes = psdm_work_bytes(r);
  *work = NULL;
  void *memory = psdmp_base_alloc(allocator, bytes);
  return memory ? psdm_work_init(r, memory, bytes, work) : PSDM_E_MEMORY;
}

/* the work object is at the front of its memory */
void psdm_work_free(psdm_work *work, const psdm_allocator *allocator) { psdmp_base_free(allocator, work); }
