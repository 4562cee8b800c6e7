/* linearize_work_heap.c: scratch of the linearized dynamics, from an allocator. */
#include "rigid/linearize_priv.h"

psdm_status psdm_linear_new(const psdm_robot *r, const psdm_allocator *allocator, psdm_linear **linear) {
  size_t bytes = psdm_linear_bytes(r);
  *linear = NULL;
  void *memory = psdmp_base_alloc(allocator, bytes);
  return memory ? psdm_linear_init(r, memory, bytes, linear) : PSDM_E_MEMORY;
}

/* the object is at the front of its memory */
void psdm_linear_free(psdm_linear *linear, const psdm_allocator *allocator) { psdmp_base_free(allocator, linear); }
