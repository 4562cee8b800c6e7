/* result_priv.h: fields, for the writers and the reader of results. */
#ifndef PSDMP_RESULT_PRIV_H
#define PSDMP_RESULT_PRIV_H

#include "result/result.h"

/* The key without its trailing underscore. Returns out. */
char *psdmp_result_key(const psdm_result_field *field, char out[64]);
bool psdmp_result_optional(const psdm_result_field *field);
int psdmp_result_dimensions(const psdm_result_field *field);   /* of a list, or 0 */
size_t psdmp_result_item_size(const psdm_result_field *field); /* of a list's items */

#endif
