/* result.h: results from trees of JSON, for readers that already have one. */
#ifndef PSDMP_RESULT_H
#define PSDMP_RESULT_H

#include "document/document.h"
#include "psdm/result.h"

/* The type whose command the tree names; types ends with NULL; NULL: none. */
const psdm_result_type *psdmp_result_type_of(const psdmp_document_node *root, const psdm_result_type *const *types);

/* path is for messages. The tree may be freed afterwards. */
psdm_status psdmp_result_take(const psdmp_document_node *root, const char *path, const psdm_result_type *type,
                              const psdm_allocator *allocator, psdm_result **result, psdm_error *error);

#endif
