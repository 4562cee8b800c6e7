#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* "no_snap" as the command line has it */
static void dashed(const char *name, char *out, size_t size) {
  snprintf(out, size, "%s", name);
  for (char *c = out; *c; c++)
    if (*c == '_') *c = '-';
}

/* ---- values ---- */

static bool parse_vector(const char *text, setting_vector *vector) {
  char part[64];
  for (int i = 0; i < 3; i++) {
    size_t length = strcspn(text, ",");
    if (length >= sizeof part) return false;
    memcpy(part, text, length);
    part[length] = '\0';
    if (!tool_parse_number(part, &vector->value[i])) return false;
    text += length;
    if (*text != (i < 2 ? ',' : '\0')) return false;
    text += i < 2;
  }
  return vector->given = true;
}

static bool add_to_list(const char *text, setting_list *list) {
  if (list->count == SETTING_LIST_MOST) return false;
  list->value[list->count++] = text;
  return true;
}

static bool assign(const setting *s, void *values, const char *text) {
  void *field = (char *)values + s->offset;
  switch (s->kind) {
    case SETTING_text: *(setting_text *)field = text; return true;
    case SETTING_flag: *(setting_flag *)field = true; return true;
    case SETTING_number: return tool_parse_number(text, field);
    case SETTING_vector: return parse_vector(text, field);
    case SETTING_list: return add_to_list(text, field);
  }
  return false;
}

void settings_default(const command_line *line, void *values) {
  for (size_t i = 0; i < line->count; i++) {
    const setting *s = &line->settings[i];
    void *field = (char *)values + s->offset;
    switch (s->kind) {
      case SETTING_text: *(setting_text *)field = s->fallback[0] ? s->fallback : NULL; break;
      case SETTING_flag: *(setting_flag *)field = false; break;
      case SETTING_number: tool_parse_number(s->fallback, field); break;
      case SETTING_vector: *(setting_vector *)field = (setting_vector){false, {0, 0, 0}}; break;
      case SETTING_list: ((setting_list *)field)->count = 0; break;
    }
  }
}

/* ---- words ---- */

static int print_help(const command_line *line) {
  printf("usage: psdm %s", line->command);
  for (const char *const *p = line->positional; *p; p++) printf(" %s", *p);
  printf(" [options]\n\n%s\noptions:\n", line->help);
  for (size_t i = 0; i < line->count; i++) {
    const setting *s = &line->settings[i];
    char name[64], left[96];
    dashed(s->name, name, sizeof name);
    snprintf(left, sizeof left, "--%s%s%s", name, s->argument[0] ? " " : "", s->argument);
    printf("  %-22s %s", left, s->help);
    if (s->fallback[0]) printf(" (default %s)", s->fallback);
    printf("\n");
  }
  printf("  %-22s %s\n", "--help", "this text");
  return EXIT_OK;
}

static const setting *find(const command_line *line, const char *name, size_t length) {
  for (size_t i = 0; i < line->count; i++) {
    char dash[64];
    dashed(line->settings[i].name, dash, sizeof dash);
    if (strlen(dash) == length && memcmp(dash, name, length) == 0) return &line->settings[i];
  }
  return NULL;
}

static int unknown_option(const command_line *line, const char *name, size_t length) {
  enum { WORDS = 96 }; /* more than any command has */
  char text[64], names[WORDS][64];
  const char *words[WORDS];
  size_t count = 0;
  snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
  for (; count < line->count && count < WORDS; count++) {
    dashed(line->settings[count].name, names[count], sizeof names[count]);
    words[count] = names[count];
  }
  const char *near = tool_nearest(text, words, count);
  return tool_usage(line->command, "unknown option '--%s'%s%s%s", text, near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

/* one "--name value" or "--name=value", or "--name value value ..." for a list once nothing else can be meant; *index moves past what it took */
static int take_option(const command_line *line, int argc, char **argv, int *index, bool greedy, void *values) {
  const char *name = argv[*index] + 2, *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const setting *s = find(line, name, length);
  if (!s) return unknown_option(line, name, length);
  const char *text = equals ? equals + 1 : NULL;
  if (s->kind == SETTING_flag) {
    if (text) return tool_usage(line->command, "option '--%.*s' takes no value", (int)length, name);
  } else if (!text) {
    if (*index + 1 >= argc) return tool_usage(line->command, "option '--%.*s' needs a value: %s", (int)length, name, s->argument);
    text = argv[++*index];
  }
  if (!assign(s, values, text)) return tool_usage(line->command, "option '--%.*s': '%s' is not %s", (int)length, name, text, s->argument);
  while (s->kind == SETTING_list && greedy && !equals && *index + 1 < argc && (argv[*index + 1][0] != '-' || !argv[*index + 1][1]))
    if (!assign(s, values, argv[++*index])) return tool_usage(line->command, "option '--%.*s': at most %d values", (int)length, name, SETTING_LIST_MOST);
  return -1;
}

int settings_parse(const command_line *line, int argc, char **argv, void *values, const char **arguments) {
  settings_default(line, values);
  int found = 0, wanted = 0;
  bool words_only = false;
  while (line->positional[wanted]) wanted++;
  for (int i = 0; i < argc; i++) {
    if (!words_only && strcmp(argv[i], "--help") == 0) return print_help(line);
    if (!words_only && strcmp(argv[i], "--") == 0) {
      words_only = true;
    } else if (!words_only && strncmp(argv[i], "--", 2) == 0) {
      int code = take_option(line, argc, argv, &i, found == wanted, values);
      if (code >= 0) return code;
    } else if (!words_only && argv[i][0] == '-' && argv[i][1]) {
      return tool_usage(line->command, "unknown option '%s'; options begin with two dashes", argv[i]);
    } else if (found == wanted) {
      return tool_usage(line->command, "'%s' is one argument too many", argv[i]);
    } else {
      arguments[found++] = argv[i];
    }
  }
  if (found < wanted) return tool_usage(line->command, "%s is missing", line->positional[found]);
  return -1;
}

bool settings_given(const command_line *line, const void *values, const char *name) {
  for (size_t i = 0; i < line->count; i++) {
    const setting *s = &line->settings[i];
    const void *field = (const char *)values + s->offset;
    double fallback = 0;
    if (strcmp(s->name, name) != 0) continue;
    switch (s->kind) {
      case SETTING_text: return *(const setting_text *)field && strcmp(*(const setting_text *)field, s->fallback) != 0;
      case SETTING_flag: return *(const setting_flag *)field;
      case SETTING_number: return tool_parse_number(s->fallback, &fallback) && *(const setting_number *)field != fallback;
      case SETTING_vector: return ((const setting_vector *)field)->given;
      case SETTING_list: return ((const setting_list *)field)->count > 0;
    }
  }
  return false;
}

static void list_json(const char *name, const setting_list *list, psdm_output *out) {
  if (!list->count) return;
  psdm_json_array(out, name);
  for (int i = 0; i < list->count; i++) psdm_json_string(out, NULL, list->value[i]);
  psdm_json_close(out);
}

void settings_json(const command_line *line, const void *values, psdm_output *out) {
  psdm_json_object(out, "settings");
  for (size_t i = 0; i < line->count; i++) {
    const setting *s = &line->settings[i];
    const void *field = (const char *)values + s->offset;
    setting_text text = s->kind == SETTING_text ? *(const setting_text *)field : NULL;
    double fallback = 0;
    if (s->kind == SETTING_number) tool_parse_number(s->fallback, &fallback);
    if (text && strcmp(text, s->fallback) != 0) psdm_json_string(out, s->name, text);
    if (s->kind == SETTING_flag && *(const setting_flag *)field) psdm_json_bool(out, s->name, true);
    if (s->kind == SETTING_number && *(const double *)field != fallback) psdm_json_number(out, s->name, *(const double *)field);
    if (s->kind == SETTING_vector && ((const setting_vector *)field)->given)
      psdm_json_numbers(out, s->name, ((const setting_vector *)field)->value, 3);
    if (s->kind == SETTING_list) list_json(s->name, field, out);
  }
  psdm_json_close(out);
}
