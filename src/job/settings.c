/* settings.c: values by the table of a command: from text, beside their defaults, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "psdm/text.h"

static bool parse_vector(const char *text, psdm_setting_vector *vector) {
  char part[64];
  for (int i = 0; i < 3; i++) {
    size_t length = strcspn(text, ",");
    if (length >= sizeof part) return false;
    memcpy(part, text, length);
    part[length] = '\0';
    if (!psdm_parse_number(part, &vector->value[i])) return false;
    text += length;
    if (*text != (i < 2 ? ',' : '\0')) return false;
    text += i < 2;
  }
  return vector->given = true;
}

static psdm_status add_to_list(const char *text, psdm_setting_list *list) {
  const char **more = realloc(list->value, ((size_t)list->count + 1) * sizeof *more);
  if (!more) return PSDM_E_MEMORY;
  list->value = more;
  list->value[list->count++] = text;
  return PSDM_OK;
}

psdm_status psdm_setting_assign(const psdm_setting *s, void *values, const char *text) {
  void *field = (char *)values + s->offset;
  bool good = true;
  switch (s->kind) {
    case PSDM_SETTING_text: *(psdm_setting_text *)field = text; break;
    case PSDM_SETTING_flag: *(psdm_setting_flag *)field = true; break;
    case PSDM_SETTING_number: good = psdm_parse_number(text, field); break;
    case PSDM_SETTING_vector: good = parse_vector(text, field); break;
    case PSDM_SETTING_list: return add_to_list(text, field);
  }
  return good ? PSDM_OK : PSDM_E_PARSE;
}

void psdm_settings_default(const psdm_setting *table, void *values) {
  for (const psdm_setting *s = table; s->name; s++) {
    void *field = (char *)values + s->offset;
    switch (s->kind) {
      case PSDM_SETTING_text: *(psdm_setting_text *)field = s->fallback[0] ? s->fallback : NULL; break;
      case PSDM_SETTING_flag: *(psdm_setting_flag *)field = false; break;
      case PSDM_SETTING_number: psdm_parse_number(s->fallback, field); break;
      case PSDM_SETTING_vector: *(psdm_setting_vector *)field = (psdm_setting_vector){false, {0, 0, 0}}; break;
      case PSDM_SETTING_list: *(psdm_setting_list *)field = (psdm_setting_list){0, NULL}; break;
    }
  }
}

void psdm_settings_free(const psdm_setting *table, void *values) {
  for (const psdm_setting *s = table; s->name; s++) {
    psdm_setting_list *list = (psdm_setting_list *)((char *)values + s->offset);
    if (s->kind != PSDM_SETTING_list) continue;
    free(list->value);
    *list = (psdm_setting_list){0, NULL};
  }
}

const psdm_setting *psdm_setting_find(const psdm_setting *table, const char *name) {
  while (table->name && strcmp(table->name, name) != 0) table++;
  return table->name ? table : NULL;
}

int psdm_setting_words(const char *argument, char words[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE], bool *open) {
  int count = 0;
  bool others = false;
  for (const char *at = argument; *at && strchr(argument, '|'); at += strcspn(at, "|"), at += *at == '|') {
    size_t length = strcspn(at, "|"), plain = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    if (plain < length || length >= PSDM_SETTING_WORD_SIZE || count == PSDM_SETTING_WORDS_MOST) others = true;
    else snprintf(words[count++], PSDM_SETTING_WORD_SIZE, "%.*s", (int)length, at);
  }
  if (open) *open = others || !count;
  return count;
}

bool psdm_setting_given(const psdm_setting *s, const void *values) {
  const void *field = (const char *)values + s->offset;
  double fallback = 0;
  switch (s->kind) {
    case PSDM_SETTING_text:
      return *(const psdm_setting_text *)field && strcmp(*(const psdm_setting_text *)field, s->fallback) != 0;
    case PSDM_SETTING_flag: return *(const psdm_setting_flag *)field;
    case PSDM_SETTING_number:
      return psdm_parse_number(s->fallback, &fallback) && *(const psdm_setting_number *)field != fallback;
    case PSDM_SETTING_vector: return ((const psdm_setting_vector *)field)->given;
    case PSDM_SETTING_list: return ((const psdm_setting_list *)field)->count > 0;
  }
  return false;
}

static psdm_named_value value_of(const psdm_setting *s, const void *field) {
  psdm_named_value v = {.name = s->name};
  switch (s->kind) {
    case PSDM_SETTING_text: v.kind = PSDM_FIELD_text, v.text = *(const psdm_setting_text *)field; break;
    case PSDM_SETTING_flag: v.kind = PSDM_FIELD_boolean, v.on = true; break;
    case PSDM_SETTING_number: v.kind = PSDM_FIELD_number, v.number = *(const psdm_setting_number *)field; break;
    case PSDM_SETTING_vector:
      v.kind = PSDM_FIELD_numbers;
      PSDM_RESULT_SET(v.numbers, ((const psdm_setting_vector *)field)->value, 3);
      break;
    case PSDM_SETTING_list:
      v.kind = PSDM_FIELD_texts;
      PSDM_RESULT_SET(v.texts, ((const psdm_setting_list *)field)->value, ((const psdm_setting_list *)field)->count);
      break;
  }
  return v;
}

const psdm_named_value *psdm_settings_values(const psdm_setting *table, const void *values, psdm_result *result,
                                             long *count) {
  long most = 0;
  while (table[most].name) most++;
  psdm_named_value *v = psdm_result_memory(result, most, sizeof *v);
  *count = 0;
  for (const psdm_setting *s = table; v && s->name; s++)
    if (psdm_setting_given(s, values)) v[(*count)++] = value_of(s, (const char *)values + s->offset);
  return v;
}
