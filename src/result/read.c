/* read.c: JSON as a result. */
#include <math.h>
#include <string.h>

#include "result/result_priv.h"

typedef struct reading {
  psdm_result *result;
  const char *path;
  psdm_error *error;
} reading;

static psdm_status take_record(const reading *r, const psdmp_document_node *map, const psdm_result_type *type,
                               int first, char *record);

static const char *kind_word(const psdmp_document_node *node) {
  if (node->kind == PSDMP_DOCUMENT_LIST) return "a list";
  return node->kind == PSDMP_DOCUMENT_MAP ? "an object" : "";
}

static psdm_status wrong(const reading *r, const psdmp_document_node *node, const char *expected) {
  char shown[60];
  if (node->kind == PSDMP_DOCUMENT_SCALAR)
    return psdmp_base_fail(r->error, PSDM_E_PARSE, r->path, node->line, node->column,
                           "\"%.60s\" is '%s'; %s was expected", node->key ? node->key : "item",
                           psdmp_base_quote(node->text, node->length, shown, sizeof shown), expected);
  return psdmp_base_fail(r->error, PSDM_E_PARSE, r->path, node->line, node->column, "\"%.60s\" is %s; %s was expected",
                         node->key ? node->key : "item", kind_word(node), expected);
}

static psdm_status no_memory(const reading *r) {
  return psdmp_base_fail(r->error, PSDM_E_MEMORY, r->path, 0, 0, "out of memory");
}

static bool plain(const psdmp_document_node *node, const char *word) {
  return node->kind == PSDMP_DOCUMENT_SCALAR && !node->quoted && strcmp(node->text, word) == 0;
}

static bool is_number(const psdmp_document_node *node, double *value) {
  return node->kind == PSDMP_DOCUMENT_SCALAR && !node->quoted &&
         psdmp_base_parse_number(node->text, node->length, value);
}

/* ---- one value ---- */

static psdm_status take_number(const reading *r, const psdmp_document_node *node, double *value) {
  *value = NAN;
  return plain(node, "null") || is_number(node, value) ? PSDM_OK : wrong(r, node, "a number or null");
}

static psdm_status take_integer(const reading *r, const psdmp_document_node *node, void *field, size_t size) {
  double value;
  if (!is_number(node, &value) || value != floor(value) || fabs(value) > (size == sizeof(int) ? 0x1p31 - 1 : 0x1p53))
    return wrong(r, node, "an integer");
  if (size == sizeof(int)) *(int *)field = (int)value;
  else *(long *)field = (long)value;
  return PSDM_OK;
}

static psdm_status take_boolean(const reading *r, const psdmp_document_node *node, bool *value) {
  *value = plain(node, "true");
  return *value || plain(node, "false") ? PSDM_OK : wrong(r, node, "true or false");
}

static psdm_status take_text(const reading *r, const psdmp_document_node *node, psdm_word *value) {
  if (plain(node, "null")) return PSDM_OK;
  if (node->kind != PSDMP_DOCUMENT_SCALAR || !node->quoted) return wrong(r, node, "a text");
  *value = psdm_result_text(r->result, node->text);
  return *value ? PSDM_OK : no_memory(r);
}

static psdm_status take_choice(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                               psdm_word *value) {
  psdm_status status = take_text(r, node, value);
  char expected[200];
  if (status || !*value) return status;
  const char *words = f->shape + psdmp_result_optional(f);
  for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|')
    if (strcspn(at, "|") == node->length && memcmp(at, node->text, node->length) == 0) return PSDM_OK;
  psdmp_base_print(expected, sizeof expected, "one of %s", words);
  return wrong(r, node, expected);
}

/* ---- lists ---- */

static psdm_status take_item(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                             void *item) {
  switch (f->kind) {
    case PSDM_FIELD_numbers: return take_number(r, node, item);
    case PSDM_FIELD_integers: return take_integer(r, node, item, sizeof(long));
    case PSDM_FIELD_texts: return take_text(r, node, item);
    default: return take_record(r, node, f->type, 0, item);
  }
}

/* memory for the items; the list gets its length when they are complete */
static char *make_items(const reading *r, const psdm_result_field *f, long rows, int columns, psdm_result_list *list) {
  long count = rows * (columns ? columns : 1);
  char *item = f->type ? psdm_result_items(r->result, f->type, count)
                       : psdm_result_memory(r->result, count, psdmp_result_item_size(f));
  if (item) *list = (psdm_result_list){item, rows, columns};
  return item;
}

static psdm_status take_list(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                             psdm_result_list *list) {
  bool rows = psdmp_result_dimensions(f) > 1;
  size_t size = psdmp_result_item_size(f);
  psdm_status status = PSDM_OK;
  if (node->kind != PSDMP_DOCUMENT_LIST) return wrong(r, node, "a list");
  int columns = rows && node->child ? node->child->count : 0;
  for (const psdmp_document_node *row = node->child; rows && row; row = row->next)
    if (row->kind != PSDMP_DOCUMENT_LIST || row->count != columns)
      return wrong(r, row, "a list as long as the first one");
  char *item = make_items(r, f, node->count, columns, list);
  if (!item) return no_memory(r);
  if (rows && !columns) return PSDM_OK;
  for (const psdmp_document_node *row = node->child; row && !status; row = row->next)
    for (const psdmp_document_node *child = rows ? row->child : row; child && !status;
         child = rows ? child->next : NULL, item += size)
      status = take_item(r, child, f, item);
  return status;
}

static psdm_status take_setting(const reading *r, const psdmp_document_node *node, psdm_named_value *v) {
  static const psdm_result_field numbers = {.key = "", .kind = PSDM_FIELD_numbers, .shape = "[]"},
                                 texts = {.key = "", .kind = PSDM_FIELD_texts, .shape = "[]"};
  if (node->kind == PSDMP_DOCUMENT_LIST) {
    bool words = node->child && node->child->quoted;
    v->kind = words ? PSDM_FIELD_texts : PSDM_FIELD_numbers;
    return words ? take_list(r, node, &texts, (psdm_result_list *)(void *)&v->texts)
                 : take_list(r, node, &numbers, (psdm_result_list *)(void *)&v->numbers);
  }
  v->kind = node->quoted                                  ? PSDM_FIELD_text
            : plain(node, "true") || plain(node, "false") ? PSDM_FIELD_boolean
                                                          : PSDM_FIELD_number;
  if (v->kind == PSDM_FIELD_text) return take_text(r, node, &v->text);
  return v->kind == PSDM_FIELD_boolean ? take_boolean(r, node, &v->on) : take_number(r, node, &v->number);
}

/* objects whose keys are data */
static psdm_status take_object(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                               psdm_result_list *list) {
  psdm_status status = PSDM_OK;
  if (node->kind != PSDMP_DOCUMENT_MAP) return wrong(r, node, "an object");
  char *item = make_items(r, f, node->count, 0, list);
  if (!item) return no_memory(r);
  for (const psdmp_document_node *child = node->child; child && !status;
       child = child->next, item += psdmp_result_item_size(f)) {
    psdm_word name = psdm_result_text(r->result, child->key);
    if (!name) return no_memory(r);
    if (f->kind == PSDM_FIELD_keyed) {
      *(psdm_word *)(void *)(item + f->type->field[0].offset) = name;
      status = take_record(r, child, f->type, 1, item);
    } else if (f->kind == PSDM_FIELD_named) {
      psdm_named_number *number = (psdm_named_number *)(void *)item;
      number->name = name;
      status = take_number(r, child, &number->value);
    } else {
      psdm_named_value *value = (psdm_named_value *)(void *)item;
      value->name = name;
      status = take_setting(r, child, value);
    }
  }
  return status;
}

/* ---- records ---- */

static psdm_status take_vector(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                               double *value) {
  psdm_status status = PSDM_OK;
  char expected[40];
  psdmp_base_print(expected, sizeof expected, "a list of %zu numbers", f->size / sizeof *value);
  if (node->kind != PSDMP_DOCUMENT_LIST || (size_t)node->count != f->size / sizeof *value)
    return wrong(r, node, expected);
  for (const psdmp_document_node *child = node->child; child && !status; child = child->next)
    status = take_number(r, child, value++);
  return status;
}

static psdm_status take_pointer(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                                const void **field) {
  if (plain(node, "null")) return PSDM_OK;
  char *record = psdm_result_items(r->result, f->type, 1);
  if (!record) return no_memory(r);
  *field = record;
  return take_record(r, node, f->type, 0, record);
}

static psdm_status take_field(const reading *r, const psdmp_document_node *node, const psdm_result_field *f,
                              void *field) {
  if (psdmp_result_optional(f) && plain(node, "null")) return PSDM_OK;
  switch (f->kind) {
    case PSDM_FIELD_number: return take_number(r, node, field);
    case PSDM_FIELD_integer: return take_integer(r, node, field, f->size);
    case PSDM_FIELD_boolean: return take_boolean(r, node, field);
    case PSDM_FIELD_text: return take_text(r, node, field);
    case PSDM_FIELD_choice: return take_choice(r, node, f, field);
    case PSDM_FIELD_vector: return take_vector(r, node, f, field);
    case PSDM_FIELD_record: return take_record(r, node, f->type, 0, field);
    case PSDM_FIELD_pointer: return take_pointer(r, node, f, field);
    case PSDM_FIELD_named:
    case PSDM_FIELD_keyed:
    case PSDM_FIELD_settings: return take_object(r, node, f, field);
    default: return take_list(r, node, f, field);
  }
}

static psdm_status take_record(const reading *r, const psdmp_document_node *map, const psdm_result_type *type,
                               int first, char *record) {
  if (map->kind != PSDMP_DOCUMENT_MAP) return wrong(r, map, "an object");
  for (const psdmp_document_node *child = map->child; child; child = child->next)
    for (int i = first; i < type->count; i++) {
      char key[64];
      if (strcmp(psdmp_result_key(&type->field[i], key), child->key) != 0) continue;
      psdm_status status = take_field(r, child, &type->field[i], record + type->field[i].offset);
      if (status) return status;
    }
  return PSDM_OK;
}

/* ---- documents ---- */

static const psdmp_document_node *child_of(const psdmp_document_node *root, const char *key) {
  for (const psdmp_document_node *child = root->child; child; child = child->next)
    if (child->key && child->kind == PSDMP_DOCUMENT_SCALAR && strcmp(child->key, key) == 0) return child;
  return NULL;
}

static bool is_word(const char *words, const char *text) {
  size_t length = strlen(text);
  for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|')
    if (strcspn(at, "|") == length && memcmp(at, text, length) == 0) return true;
  return false;
}

/* documents of the same command are identified by choices: those of one word, or with strict, all of them */
static bool same_words(const psdmp_document_node *root, const psdm_result_type *type, bool strictly) {
  for (int i = 0; i < type->count; i++) {
    const psdm_result_field *f = &type->field[i];
    if (f->kind != PSDM_FIELD_choice || psdmp_result_optional(f) || (strchr(f->shape, '|') && !strictly)) continue;
    const psdmp_document_node *child = child_of(root, f->key);
    if (!child || !is_word(f->shape, child->text)) return false;
  }
  return true;
}

/* The type whose command the tree names; types ends with NULL; NULL: none. */
static const psdm_result_type *type_of(const psdmp_document_node *root, const psdm_result_type *const *types) {
  const psdmp_document_node *command = root->kind == PSDMP_DOCUMENT_MAP ? child_of(root, "command") : NULL;
  for (int strictly = 1; command && strictly >= 0; strictly--)
    for (int k = 0; types[k]; k++)
      if (strcmp(types[k]->command, command->text) == 0 && same_words(root, types[k], strictly)) return types[k];
  return NULL;
}

/* path is for messages. The tree may be freed afterwards. */
static psdm_status take(const psdmp_document_node *root, const char *path, const psdm_result_type *type,
                        const psdm_allocator *allocator, psdm_result **made, psdm_error *error) {
  psdm_status status = psdm_result_new(type, allocator, made, error);
  if (status) return status;
  const reading r = {*made, path, error};
  status = take_record(&r, root, type, 0, (char *)*made);
  if (status) psdm_result_free(*made), *made = NULL;
  return status;
}

psdm_status psdm_result_read_json(const char *path, const psdm_result_type *const *types,
                                  const psdm_allocator *allocator, psdm_result **made, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  psdmp_document_node *root;
  char *text;
  size_t length;
  *made = NULL;
  psdm_status status = psdmp_document_file_read(path, PSDMP_DOCUMENT_DOC_BYTES, &arena, &text, &length, error);
  if (!status) status = psdmp_document_parse(text, length, path, &arena, &root, error);
  if (!status) {
    const psdm_result_type *type = type_of(root, types);
    status = type ? take(root, path, type, allocator, made, error)
                  : psdmp_base_fail(error, PSDM_E_PARSE, path, root->line, root->column,
                                    "not a result: an object whose \"command\" names a psdm command was expected");
  }
  psdmp_base_arena_free(&arena);
  return status;
}
