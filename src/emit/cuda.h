/* cuda.h: the files of the CUDA target. Private to the room. */
#ifndef PSDMP_EMIT_CUDA_H
#define PSDMP_EMIT_CUDA_H

#include "emit/emit.h"

void psdmp_emit_cuda_prototypes(psdmp_emit_writer *e);                              /* in PREFIX.h */
psdm_status psdmp_emit_cuda_device(psdmp_emit_writer *e, psdmp_base_arena *arena);  /* PREFIX.cuh */
psdm_status psdmp_emit_cuda_kernels(psdmp_emit_writer *e, psdmp_base_arena *arena); /* PREFIX.cu */
void psdmp_emit_cuda_makefile(psdmp_emit_writer *e);
void psdmp_emit_cuda_cmake(psdmp_emit_writer *e);  /* CMakeLists.txt */
void psdmp_emit_cuda_python(psdmp_emit_writer *e); /* PREFIX_cuda.py */

/* ---- emit_cuda_order.c ---- */

/* How a function, or a stage of it, is written. */
typedef struct psdmp_emit_layout {
  psdmp_codegen_program program;
  bool columns; /* its outputs are one result, in the order of psdmp_emit_layout_place */
  long live;    /* most values at a time, arguments included */
} psdmp_emit_layout;

/* Output at of matrices by columns, the last column first: which matrix, and its place there. p: rows by joints,
 * result[0] the first matrix. */
int psdmp_emit_layout_place(const psdmp_emit_writer *e, const psdmp_codegen_program *p, int at, int *index);

/* One function in as many stages as the registers want, 1 or 2. */
typedef struct psdmp_emit_stages {
  psdm_function function;
  int count;
  psdmp_codegen_program part[2];
  psdmp_emit_layout layout[2];
  long live;
  bool shared; /* registers and shared memory hold all values together */
} psdmp_emit_stages;

psdm_status psdmp_emit_stages_set(const psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena,
                                  psdmp_emit_stages *stages);

#endif
