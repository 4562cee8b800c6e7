/* result.c: documents and their memory. */
#include <math.h>
#include <string.h>

#include "result/result_priv.h"

struct psdm_result_store {
  psdmp_base_arena arena;
  bool failed;
};

/* ---- fields ---- */

char *psdmp_result_key(const psdm_result_field *field, char out[64]) {
  size_t length = strlen(field->key);
  length -= field->key[length - 1] == '_';
  if (length > 63) length = 63;
  memcpy(out, field->key, length);
  out[length] = '\0';
  return out;
}

char *psdm_result_name(const psdm_result_type *type, char out[64]) {
  const char *name = strncmp(type->name, "psdm_", 5) == 0 ? type->name + 5 : type->name;
  size_t length = strlen(name), end = strlen("_result");
  if (type->command && length > end && strcmp(name + length - end, "_result") == 0) length -= end;
  if (length > 63) length = 63;
  memcpy(out, name, length);
  out[length] = '\0';
  return out;
}

bool psdmp_result_optional(const psdm_result_field *field) { return field->shape[0] == '?'; }

int psdmp_result_dimensions(const psdm_result_field *field) {
  int count = 0;
  for (const char *at = field->shape; *at; at++) count += *at == '[';
  return count;
}

size_t psdmp_result_item_size(const psdm_result_field *field) {
  switch (field->kind) {
    case PSDM_FIELD_numbers: return sizeof(double);
    case PSDM_FIELD_integers: return sizeof(long);
    case PSDM_FIELD_texts: return sizeof(psdm_word);
    case PSDM_FIELD_named: return sizeof(psdm_named_number);
    case PSDM_FIELD_settings: return sizeof(psdm_named_value);
    case PSDM_FIELD_records:
    case PSDM_FIELD_keyed: return field->type->size;
    default: return 0;
  }
}

/* ---- memory ---- */

/* initial values: numbers are NAN */
static void blank(const psdm_result_type *type, char *record) {
  for (int i = 0; i < type->count; i++) {
    const psdm_result_field *f = &type->field[i];
    double *number = (double *)(void *)(record + f->offset);
    if (f->kind == PSDM_FIELD_number) *number = NAN;
    if (f->kind == PSDM_FIELD_record) blank(f->type, record + f->offset);
    for (size_t k = 0; f->kind == PSDM_FIELD_vector && k < f->size / sizeof *number; k++) number[k] = NAN;
  }
}

psdm_status psdm_result_new(const psdm_result_type *type, const psdm_allocator *allocator, psdm_result **made,
                            psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  struct psdm_result_store *store = psdmp_base_arena_alloc(&arena, sizeof *store);
  psdm_result *result = psdmp_base_arena_alloc(&arena, type->size);
  *made = NULL;
  if (!store || !result) {
    psdmp_base_arena_free(&arena);
    return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  }
  blank(type, (char *)result);
  store->arena = arena;
  *result = (psdm_result){type, store};
  *made = result;
  return PSDM_OK;
}

void psdm_result_free(psdm_result *result) {
  if (!result) return;
  psdmp_base_arena arena = result->store->arena;
  psdmp_base_arena_free(&arena);
}

void *psdm_result_memory(psdm_result *result, long count, size_t size) {
  void *memory = psdmp_base_arena_array(&result->store->arena, count, size);
  result->store->failed |= !memory;
  return memory;
}

void *psdm_result_items(psdm_result *result, const psdm_result_type *type, long count) {
  char *item = psdm_result_memory(result, count, type->size);
  for (long i = 0; item && i < count; i++) blank(type, item + i * (long)type->size);
  return item;
}

const char *psdm_result_text(psdm_result *result, const char *text) {
  char *copy = text ? psdmp_base_arena_text(&result->store->arena, text, strlen(text)) : NULL;
  result->store->failed |= text && !copy;
  return copy;
}

const double *psdm_result_numbers(psdm_result *result, const double *value, long count) {
  double *copy = value ? psdm_result_memory(result, count, sizeof *copy) : NULL;
  if (copy && count > 0) memcpy(copy, value, (size_t)count * sizeof *copy);
  return copy;
}

psdm_status psdm_result_complete(psdm_result *result, psdm_error *error) {
  if (!result->store->failed) return PSDM_OK;
  psdm_result_free(result);
  return psdmp_base_fail_status(error, PSDM_E_MEMORY);
}
