/* write_io.c: the files of generated code. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/emit_cuda.h"
#include "psdm/robot.h"

typedef enum file_kind { HEADER, SOURCE, SELFTEST, MAKEFILE, DEVICE, KERNELS, CMAKE, PYTHON, FILES } file_kind;

static const char *const file_format[FILES] = {"%s.h", "%s.c", "%s_selftest.c", "Makefile%.0s", "%s.cuh", "%s.cu", "CMakeLists.txt%.0s", "%s_cuda.py"};

const char *psdm_code_file(const psdm_code *code, int index, char *text, size_t size) {
  if (index < 0 || index >= (code->options.target == PSDM_CODE_CUDA ? FILES : DEVICE)) return NULL;
  snprintf(text, size, file_format[index], code->options.prefix);
  return text;
}

/* the directory and all above it that are missing */
static psdm_status make_directory(const char *directory, psdm_error *error) {
  char path[4096];
  struct stat info;
  size_t length = strlen(directory);
  if (!length || length >= sizeof path) return psdmp_fail(error, PSDM_E_ARGUMENT, directory, 0, 0, "is no name for a directory");
  memcpy(path, directory, length + 1);
  for (char *c = path + 1; *c; c++) {
    if (*c != '/') continue;
    *c = '\0';
    if (mkdir(path, 0777) && errno != EEXIST) return psdmp_fail(error, PSDM_E_IO, path, 0, 0, "cannot be made: %s", strerror(errno));
    *c = '/';
  }
  if (mkdir(path, 0777) && errno != EEXIST) return psdmp_fail(error, PSDM_E_IO, path, 0, 0, "cannot be made: %s", strerror(errno));
  if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) return psdmp_fail(error, PSDM_E_IO, path, 0, 0, "is not a directory");
  return PSDM_OK;
}

static psdm_status emit_file(psdmp_writer *e, file_kind kind, psdmp_arena *arena, psdm_error *error) {
  psdm_status status = PSDM_OK;
  switch (kind) {
    case HEADER: psdmp_emit_header(e); break;
    case SOURCE: status = psdmp_emit_source(e, arena); break;
    case SELFTEST: return psdmp_emit_selftest(e, arena, error);
    case MAKEFILE: e->code->options.target == PSDM_CODE_CUDA ? psdmp_emit_cuda_makefile(e) : psdmp_emit_makefile(e); break;
    case DEVICE: status = psdmp_emit_cuda_device(e, arena); break;
    case KERNELS: psdmp_emit_cuda_kernels(e); break;
    case CMAKE: psdmp_emit_cuda_cmake(e); break;
    default: psdmp_emit_cuda_python(e);
  }
  return status ? psdmp_fail(error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status)) : PSDM_OK;
}

static psdm_status write_file(const psdm_code *code, const char *directory, file_kind kind, psdm_error *error) {
  psdmp_arena arena = {.allocator = code->arena.allocator};
  psdmp_writer e = {.code = code, .prefix = code->options.prefix, .single = code->options.real_float, .real = code->options.real_float ? "float" : "double"};
  char path[4096 + 100], name[80];
  snprintf(e.upper, sizeof e.upper, "%s", e.prefix);
  for (char *c = e.upper; *c; c++) *c = (char)toupper((unsigned char)*c);
  snprintf(path, sizeof path, "%s/%s", directory, psdm_code_file(code, kind, name, sizeof name));
  psdm_status status = psdm_output_open(path, code->arena.allocator, &e.out, error);
  if (status) return status;
  status = emit_file(&e, kind, &arena, error);
  psdmp_arena_free(&arena);
  if (status) {
    psdm_output_abort(&e.out);
    return status;
  }
  return psdm_output_commit(&e.out, error);
}

psdm_status psdm_code_write(const psdm_code *code, const char *directory, psdm_error *error) {
  psdm_status status = make_directory(directory, error);
  char name[80];
  for (int kind = 0; !status && psdm_code_file(code, kind, name, sizeof name); kind++) status = write_file(code, directory, (file_kind)kind, error);
  return status;
}
