/* schema.c: the form of a result's JSON: JSON Schema 2020-12, and tables in Markdown. */
#include <stdio.h>
#include <string.h>

#include "result/result_priv.h"

/* ---- the records inside a type, each once ---- */

enum { MOST_RECORDS = 64 };

typedef struct records {
  const psdm_result_type *type[MOST_RECORDS];
  int count;
} records;

static void collect(records *all, const psdm_result_type *type) {
  for (int i = 0; i < type->count; i++) {
    const psdm_result_type *inner = type->field[i].type;
    bool known = !inner || all->count == MOST_RECORDS;
    for (int k = 0; k < all->count; k++) known |= all->type[k] == inner;
    if (known) continue;
    all->type[all->count++] = inner;
    collect(all, inner);
  }
}

/* ---- JSON Schema ---- */

static void put_either(psdm_output *out, const char *one, const char *other) {
  psdm_json_array(out, "type");
  psdm_json_string(out, NULL, one);
  psdm_json_string(out, NULL, other);
  psdm_json_close(out);
}

static void put_reference(const psdm_result_type *type, psdm_output *out) {
  char path[100], name[64];
  snprintf(path, sizeof path, "#/$defs/%s", psdm_result_name(type, name));
  psdm_json_string(out, "$ref", path);
}

static void put_item(const psdm_result_field *f, psdm_output *out) {
  if (f->kind == PSDM_FIELD_integers) psdm_json_string(out, "type", "integer");
  else if (f->kind == PSDM_FIELD_texts) put_either(out, "string", "null");
  else if (f->type) put_reference(f->type, out);
  else put_either(out, "number", "null");
}

static void put_list(const psdm_result_field *f, int dimensions, psdm_output *out) {
  psdm_json_string(out, "type", "array");
  psdm_json_object(out, "items");
  if (dimensions > 1) put_list(f, dimensions - 1, out);
  else put_item(f, out);
  psdm_json_close(out);
}

static void put_words(const char *words, psdm_output *out) {
  char word[64];
  psdm_json_array(out, "enum");
  for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|') {
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
    psdm_json_string(out, NULL, word);
  }
  psdm_json_string(out, NULL, NULL);
  psdm_json_close(out);
}

static void put_kind(const psdm_result_field *f, psdm_output *out) {
  switch (f->kind) {
    case PSDM_FIELD_number: put_either(out, "number", "null"); break;
    case PSDM_FIELD_integer: psdm_json_string(out, "type", "integer"); break;
    case PSDM_FIELD_boolean: psdm_json_string(out, "type", "boolean"); break;
    case PSDM_FIELD_text: put_either(out, "string", "null"); break;
    case PSDM_FIELD_choice: put_words(f->shape + psdmp_result_optional(f), out); break;
    case PSDM_FIELD_record:
    case PSDM_FIELD_pointer: put_reference(f->type, out); break;
    case PSDM_FIELD_vector:
      put_list(f, 1, out);
      psdm_json_integer(out, "minItems", (long long)(f->size / sizeof(double)));
      psdm_json_integer(out, "maxItems", (long long)(f->size / sizeof(double)));
      break;
    case PSDM_FIELD_named:
    case PSDM_FIELD_keyed:
      psdm_json_string(out, "type", "object");
      psdm_json_object(out, "additionalProperties");
      put_item(f, out);
      psdm_json_close(out);
      break;
    case PSDM_FIELD_settings: psdm_json_string(out, "type", "object"); break;
    default: put_list(f, psdmp_result_dimensions(f), out);
  }
}

static void put_field(const psdm_result_field *f, psdm_output *out) {
  char text[64];
  psdm_json_object(out, psdmp_result_key(f, text));
  put_kind(f, out);
  psdm_json_string(out, "description", f->meaning);
  if (f->unit[0]) psdm_json_string(out, "unit", f->unit);
  psdm_json_close(out);
}

static void put_constant(const char *key, const char *value, psdm_output *out) {
  psdm_json_object(out, key);
  psdm_json_string(out, value ? "const" : "type", value ? value : "string");
  psdm_json_close(out);
}

/* keyed: the first field is the object's key */
static void put_record(const psdm_result_type *type, bool keyed, psdm_output *out) {
  char text[64];
  psdm_json_string(out, "description", type->meaning);
  psdm_json_string(out, "type", "object");
  psdm_json_object(out, "properties");
  if (type->command) put_constant("command", type->command, out), put_constant("psdm", NULL, out);
  for (int i = keyed; i < type->count; i++) put_field(&type->field[i], out);
  psdm_json_close(out);
  psdm_json_array(out, "required");
  if (type->command) psdm_json_string(out, NULL, "command"), psdm_json_string(out, NULL, "psdm");
  for (int i = keyed; i < type->count; i++)
    if (!psdmp_result_optional(&type->field[i])) psdm_json_string(out, NULL, psdmp_result_key(&type->field[i], text));
  psdm_json_close(out);
}

/* whether all uses are keyed by its first field */
static bool is_keyed(const psdm_result_type *wanted, const psdm_result_type *in) {
  for (int i = 0; i < in->count; i++)
    if (in->field[i].type == wanted && in->field[i].kind == PSDM_FIELD_keyed) return true;
  return false;
}

static bool keyed_anywhere(const records *all, const psdm_result_type *root, const psdm_result_type *wanted) {
  bool keyed = is_keyed(wanted, root);
  for (int i = 0; i < all->count; i++) keyed |= is_keyed(wanted, all->type[i]);
  return keyed;
}

void psdm_result_schema(const psdm_result_type *type, psdm_output *out) {
  records all = {.count = 0};
  char title[64], name[64];
  collect(&all, type);
  snprintf(title, sizeof title, "psdm %s", type->command);
  psdm_json_object(out, NULL);
  psdm_json_string(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
  psdm_json_string(out, "title", title);
  put_record(type, false, out);
  psdm_json_object(out, "$defs");
  for (int i = 0; i < all.count; i++) {
    psdm_json_object(out, psdm_result_name(all.type[i], name));
    put_record(all.type[i], keyed_anywhere(&all, type, all.type[i]), out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_close(out);
}

/* ---- Markdown ---- */

static void markdown_kind(const psdm_result_field *f, psdm_output *out) {
  static const char *const words[] = {[PSDM_FIELD_number] = "number",         [PSDM_FIELD_integer] = "integer",
                                      [PSDM_FIELD_boolean] = "boolean",       [PSDM_FIELD_text] = "text",
                                      [PSDM_FIELD_vector] = "numbers",        [PSDM_FIELD_numbers] = "numbers",
                                      [PSDM_FIELD_integers] = "integers",     [PSDM_FIELD_texts] = "texts",
                                      [PSDM_FIELD_named] = "numbers by name", [PSDM_FIELD_settings] = "values by name"};
  bool optional = psdmp_result_optional(f);
  char name[64];
  if (f->kind == PSDM_FIELD_choice) {
    for (const char *at = f->shape + optional; *at; at += strcspn(at, "|"), at += *at == '|')
      psdm_output_print(out, "%s`%.*s`", at > f->shape + optional ? ", " : "", (int)strcspn(at, "|"), at);
  } else if (f->type) {
    psdm_result_name(f->type, name);
    psdm_output_print(out, "[%s](#%s)%s", name, name, f->kind == PSDM_FIELD_keyed ? " by name" : "");
  } else {
    psdm_output_text(out, words[f->kind]);
  }
  if (psdmp_result_dimensions(f)) psdm_output_print(out, " %s", f->shape + optional);
  if (f->kind == PSDM_FIELD_vector) psdm_output_print(out, " [%d]", (int)(f->size / sizeof(double)));
  if (optional) psdm_output_text(out, ", optional");
}

static void markdown_table(const psdm_result_type *type, bool keyed, psdm_output *out) {
  psdm_output_text(out, "| key | kind | unit | meaning |\n|---|---|---|---|\n");
  for (int i = keyed; i < type->count; i++) {
    char key[64];
    psdm_output_print(out, "| `%s` | ", psdmp_result_key(&type->field[i], key));
    markdown_kind(&type->field[i], out);
    psdm_output_print(out, " | %s | %s |\n", type->field[i].unit, type->field[i].meaning);
  }
}

void psdm_result_markdown(const psdm_result_type *type, psdm_output *out) {
  records all = {.count = 0};
  char name[64];
  collect(&all, type);
  psdm_result_name(type, name);
  psdm_output_print(out, "\n## %s\n\n%s. `psdm %s`, in C `%s`.\n\n", name, type->meaning, type->command, type->name);
  markdown_table(type, false, out);
  for (int i = 0; i < all.count; i++) {
    psdm_output_print(out, "\n### %s\n\n%s.\n\n", psdm_result_name(all.type[i], name), all.type[i]->meaning);
    markdown_table(all.type[i], keyed_anywhere(&all, type, all.type[i]), out);
  }
}
