/* write_io.c: the files of generated code. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "emit/cuda.h"
#include "emit/wrap_priv.h"
#include "psdm/robot.h"

typedef enum file_kind {
  HEADER,
  SOURCE,
  SELFTEST,
  MAKEFILE,
  CASADI,
  FMU,
  FMU_DESCRIPTION,
  DEVICE,
  KERNELS,
  CMAKE,
  PYTHON,
  FILES
} file_kind;

static psdm_status emit_fmu(psdmp_emit_writer *e, file_kind kind, psdmp_base_arena *arena) {
  char guid[40];
  psdm_status status = psdmp_emit_wrap_guid(e, arena, guid);
  if (!status) (kind == FMU ? psdmp_emit_wrap_fmu : psdmp_emit_wrap_fmu_description)(e, guid);
  return status;
}

/* wrappers are there when they were asked for, CUDA's files for that target */
static bool wanted(const psdm_code *code, file_kind kind) {
  if (kind >= DEVICE) return code->options.target == PSDM_CODE_CUDA;
  if (kind == CASADI) return code->options.wraps >> PSDM_CODE_WRAP_CASADI & 1;
  if (kind == FMU || kind == FMU_DESCRIPTION) return code->options.wraps >> PSDM_CODE_WRAP_FMU & 1;
  return true;
}

static const char *file_name(const psdm_code *code, file_kind kind, char *text, size_t size) {
  static const char *const format[FILES] = {
      "%s.h",   "%s.c",  "%s_selftest.c",      "Makefile%.0s", "%s_casadi.c", "%s_fmu.c", "modelDescription.xml%.0s",
      "%s.cuh", "%s.cu", "CMakeLists.txt%.0s", "%s_cuda.py"};
  snprintf(text, size, format[kind], code->options.prefix);
  return text;
}

const char *psdm_code_file(const psdm_code *code, int index, char *text, size_t size) {
  for (int kind = 0; kind < FILES && index >= 0; kind++)
    if (wanted(code, (file_kind)kind) && index-- == 0) return file_name(code, (file_kind)kind, text, size);
  return NULL;
}

static psdm_status emit_file(psdmp_emit_writer *e, file_kind kind, psdmp_base_arena *arena, psdm_error *error) {
  psdm_status status = PSDM_OK;
  switch (kind) {
    case HEADER: psdmp_emit_header(e); break;
    case SOURCE: status = psdmp_emit_source(e, arena); break;
    case SELFTEST: return psdmp_emit_selftest(e, arena, error);
    case MAKEFILE:
      e->code->options.target == PSDM_CODE_CUDA ? psdmp_emit_cuda_makefile(e) : psdmp_emit_makefile(e);
      break;
    case CASADI: psdmp_emit_wrap_casadi(e); break;
    case FMU:
    case FMU_DESCRIPTION: status = emit_fmu(e, kind, arena); break;
    case DEVICE: status = psdmp_emit_cuda_device(e, arena); break;
    case KERNELS: status = psdmp_emit_cuda_kernels(e, arena); break;
    case CMAKE: psdmp_emit_cuda_cmake(e); break;
    default: psdmp_emit_cuda_python(e);
  }
  return status ? psdmp_base_fail(error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status))
                : PSDM_OK;
}

static psdm_status write_file(const psdm_code *code, const char *directory, file_kind kind, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = code->arena.allocator};
  psdmp_emit_writer e = {.code = code,
                         .prefix = code->options.prefix,
                         .single = code->options.real_float,
                         .real = code->options.real_float ? "float" : "double"};
  char path[4096 + 100], name[80];
  snprintf(e.upper, sizeof e.upper, "%s", e.prefix);
  for (char *c = e.upper; *c; c++) *c = (char)toupper((unsigned char)*c);
  snprintf(path, sizeof path, "%s/%s", directory, file_name(code, kind, name, sizeof name));
  psdm_status status = psdm_output_open(path, code->arena.allocator, &e.out, error);
  if (status) return status;
  status = emit_file(&e, kind, &arena, error);
  psdmp_base_arena_free(&arena);
  if (status) {
    psdm_output_abort(&e.out);
    return status;
  }
  return psdm_output_commit(&e.out, error);
}

psdm_status psdm_code_write(const psdm_code *code, const char *directory, psdm_error *error) {
  psdm_status status = psdmp_base_folder(directory, error);
  for (int kind = 0; kind < FILES && !status; kind++)
    if (wanted(code, (file_kind)kind)) status = write_file(code, directory, (file_kind)kind, error);
  return status;
}
