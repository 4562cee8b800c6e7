/* emit_cuda.h: the files of the CUDA target. Private to the room. */
#ifndef PSDMP_EMIT_CUDA_H
#define PSDMP_EMIT_CUDA_H

#include "codegen/emit.h"

void psdmp_emit_cuda_prototypes(psdmp_writer *e);                              /* in PREFIX.h */
psdm_status psdmp_emit_cuda_device(psdmp_writer *e, psdmp_arena *arena);       /* PREFIX.cuh */
void psdmp_emit_cuda_kernels(psdmp_writer *e);                                 /* PREFIX.cu */
void psdmp_emit_cuda_makefile(psdmp_writer *e);
void psdmp_emit_cuda_cmake(psdmp_writer *e);                                   /* CMakeLists.txt */
void psdmp_emit_cuda_python(psdmp_writer *e);                                  /* PREFIX_cuda.py */

#endif
