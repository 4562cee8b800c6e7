/* io.c: a parameter file from disk. */
#include <string.h>

#include "document/document.h"
#include "parameters/parameters.h"

psdm_status psdm_parameters_load(const char *path, const psdm_robot *robot, const psdm_allocator *allocator,
                                 psdm_parameters **out, psdm_error *error) {
  *out = NULL;
  psdmp_base_arena arena = {.allocator = allocator};
  char *text = NULL;
  size_t length = 0;
  psdm_status status = psdmp_document_file_read(path, PSDMP_DOCUMENT_DOC_BYTES, &arena, &text, &length, error);
  if (!status)
    status = psdm_parameters_parse(text, length, strcmp(path, "-") ? path : "<stdin>", robot, allocator, out, error);
  psdmp_base_arena_free(&arena);
  return status;
}
