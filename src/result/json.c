/* json.c: a result as JSON. */
#include <math.h>
#include <string.h>

#include "psdm/version.h"
#include "result/result_priv.h"

static void put_record(const psdm_result_type *type, const char *record, psdm_output *out);

static long integer_at(const void *field, size_t size) {
  return size == sizeof(int) ? *(const int *)field : size == sizeof(long) ? *(const long *)field : 0;
}

static bool absent(const psdm_result_field *f, const void *field) {
  switch (f->kind) {
    case PSDM_FIELD_number:
    case PSDM_FIELD_vector: return !isfinite(*(const double *)field);
    case PSDM_FIELD_integer: return !integer_at(field, f->size);
    case PSDM_FIELD_boolean: return !*(const bool *)field;
    case PSDM_FIELD_record: return false;
    case PSDM_FIELD_text:
    case PSDM_FIELD_choice: return !*(const char *const *)field;
    default: return !*(const void *const *)field; /* a pointer, or a list's item */
  }
}

static void put_item(const psdm_result_field *f, const char *item, psdm_output *out) {
  switch (f->kind) {
    case PSDM_FIELD_numbers: psdm_json_number(out, NULL, *(const double *)(const void *)item); break;
    case PSDM_FIELD_integers: psdm_json_integer(out, NULL, *(const long *)(const void *)item); break;
    case PSDM_FIELD_texts: psdm_json_string(out, NULL, *(const char *const *)(const void *)item); break;
    default:
      psdm_json_object(out, NULL);
      put_record(f->type, item, out);
      psdm_json_close(out);
  }
}

static void put_list(const psdm_result_field *f, const char *key, const psdm_result_list *list, psdm_output *out) {
  const char *item = list->item;
  bool rows = psdmp_result_dimensions(f) > 1;
  size_t size = psdmp_result_item_size(f);
  psdm_json_array(out, key);
  for (long i = 0; i < list->rows; i++) {
    if (rows) psdm_json_array(out, NULL);
    for (int k = 0; k < (rows ? list->columns : 1); k++, item += size) put_item(f, item, out);
    if (rows) psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_setting(const psdm_named_value *v, psdm_output *out) {
  switch (v->kind) {
    case PSDM_FIELD_boolean: psdm_json_bool(out, v->name, v->on); break;
    case PSDM_FIELD_number: psdm_json_number(out, v->name, v->number); break;
    case PSDM_FIELD_numbers: psdm_json_numbers(out, v->name, v->numbers.item, (int)v->numbers.rows); break;
    case PSDM_FIELD_texts:
      psdm_json_array(out, v->name);
      for (long i = 0; i < v->texts.rows; i++) psdm_json_string(out, NULL, v->texts.item[i]);
      psdm_json_close(out);
      break;
    default: psdm_json_string(out, v->name, v->text);
  }
}

/* lists with named items: an object */
static void put_object(const psdm_result_field *f, const char *key, const psdm_result_list *list, psdm_output *out) {
  const psdm_named_number *number = list->item;
  const psdm_named_value *setting = list->item;
  psdm_json_object(out, key);
  for (long i = 0; i < list->rows; i++) {
    if (f->kind == PSDM_FIELD_named) psdm_json_number(out, number[i].name, number[i].value);
    if (f->kind == PSDM_FIELD_settings) put_setting(&setting[i], out);
    if (f->kind != PSDM_FIELD_keyed) continue;
    const char *record = (const char *)list->item + i * (long)f->type->size;
    psdm_result_type rest = *f->type;
    psdm_json_object(out, *(const char *const *)(const void *)(record + rest.field[0].offset));
    rest.field++, rest.count--;
    put_record(&rest, record, out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_field(const psdm_result_field *f, const void *field, psdm_output *out) {
  char key[64];
  psdmp_result_key(f, key);
  switch (f->kind) {
    case PSDM_FIELD_number: psdm_json_number(out, key, *(const double *)field); break;
    case PSDM_FIELD_integer: psdm_json_integer(out, key, integer_at(field, f->size)); break;
    case PSDM_FIELD_boolean: psdm_json_bool(out, key, *(const bool *)field); break;
    case PSDM_FIELD_text:
    case PSDM_FIELD_choice: psdm_json_string(out, key, *(const char *const *)field); break;
    case PSDM_FIELD_vector: psdm_json_numbers(out, key, field, (int)(f->size / sizeof(double))); break;
    case PSDM_FIELD_pointer:
      if (!(field = *(const void *const *)field)) {
        psdm_json_string(out, key, NULL);
        break;
      } /* fall through */
    case PSDM_FIELD_record:
      psdm_json_object(out, key);
      put_record(f->type, field, out);
      psdm_json_close(out);
      break;
    case PSDM_FIELD_named:
    case PSDM_FIELD_keyed:
    case PSDM_FIELD_settings: put_object(f, key, field, out); break;
    default: put_list(f, key, field, out);
  }
}

/* "?=key": as that field */
static bool left_out(const psdm_result_type *type, const psdm_result_field *f, const char *record) {
  char key[64];
  for (int i = 0; f->shape[1] == '=' && i < type->count; i++)
    if (strcmp(psdmp_result_key(&type->field[i], key), f->shape + 2) == 0)
      return absent(&type->field[i], record + type->field[i].offset);
  return absent(f, record + f->offset);
}

static void put_record(const psdm_result_type *type, const char *record, psdm_output *out) {
  for (int i = 0; i < type->count; i++) {
    const psdm_result_field *f = &type->field[i];
    if (!psdmp_result_optional(f) || !left_out(type, f, record)) put_field(f, record + f->offset, out);
  }
}

static void put_head(const psdm_result_type *type, const psdm_result *result, psdm_output *out) {
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", type->command);
  psdm_json_string(out, "psdm", PSDM_VERSION);
  put_record(type, (const char *)result, out);
}

void psdm_result_write_json(const psdm_result *result, psdm_output *out) {
  put_head(result->type, result, out);
  psdm_json_close(out);
}

void psdm_result_write_begin(const psdm_result *result, psdm_output *out) {
  psdm_result_type first = *result->type;
  char key[64];
  first.count--;
  put_head(&first, result, out);
  psdm_json_array(out, psdmp_result_key(&first.field[first.count], key));
}

void psdm_result_write_item(const psdm_result_type *type, const void *item, psdm_output *out) {
  psdm_json_object(out, NULL);
  put_record(type, item, out);
  psdm_json_close(out);
}

void psdm_result_write_end(psdm_output *out) {
  psdm_json_close(out);
  psdm_json_close(out);
}
