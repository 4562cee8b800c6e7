/* settings.c: parses a command line by the table of its command, and writes its help. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

const setting common_settings[COMMON_SETTINGS] = {
    {"quiet", SETTING_flag, 0, "", "",
     "print errors, reasons for an exit code and the data only: no notes, progress or summary"},
    {"verbose", SETTING_flag, 0, "", "", "print what is done, and the time since the start"},
    {"help", SETTING_flag, 0, "", "", "this text"}};
const char common_letters[COMMON_SETTINGS] = {'q', 'v', 'h'};
enum { QUIET, VERBOSE, HELP };

const char *settings_dashed(const char *name, char out[64]) {
  snprintf(out, 64, "%s", name);
  for (char *c = out; *c; c++)
    if (*c == '_') *c = '-';
  return out;
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

/* ---- lists: none is longer than the command line ---- */

enum { LISTS = 256 }; /* of all parsed command lines */
static const char **lists[LISTS];
static int list_count, most_words;

static const char **new_list(void) {
  if (list_count == LISTS) return NULL;
  lists[list_count] = malloc(((size_t)most_words + 1) * sizeof **lists);
  return lists[list_count++];
}

static bool add_to_list(const char *text, setting_list *list) {
  if (!list->count) list->value = new_list();
  if (list->value) list->value[list->count++] = text;
  return list->value != NULL;
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
      case SETTING_list: *(setting_list *)field = (setting_list){0, NULL}; break;
    }
  }
}

/* ---- words ---- */

int settings_words(const char *argument, char words[SETTING_WORDS_MOST][SETTING_WORD_SIZE], bool *open) {
  int count = 0;
  bool others = false;
  for (const char *at = argument; *at && strchr(argument, '|'); at += strcspn(at, "|"), at += *at == '|') {
    size_t length = strcspn(at, "|"), plain = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    if (plain < length || length >= SETTING_WORD_SIZE || count == SETTING_WORDS_MOST) others = true;
    else snprintf(words[count++], SETTING_WORD_SIZE, "%.*s", (int)length, at);
  }
  if (open) *open = others || !count;
  return count;
}

/* a word that is not one of the argument's values */
static int check_word(const command_line *line, const char *what, const char *argument, const char *text) {
  char list[SETTING_WORDS_MOST][SETTING_WORD_SIZE];
  const char *words[SETTING_WORDS_MOST];
  bool open;
  int count = settings_words(argument, list, &open);
  for (int i = 0; i < count; i++) {
    words[i] = list[i];
    if (strcmp(list[i], text) == 0) return -1;
  }
  /* nearly one of them, and not the name of a file */
  bool slip = open && strstr(argument, "FILE") && !strpbrk(text, "./") && tool_nearest(text, words, (size_t)count) &&
              !tool_file_size(text);
  return open && !slip ? -1 : tool_unknown(line->command, what, text, words, (size_t)count);
}

static void print_row(const setting *s, char letter) {
  enum { LEFT = 24 };
  char name[64], left[256];
  snprintf(left, sizeof left, "%s%.1s%s--%s%s%s", letter ? "-" : "", &letter, letter ? ", " : "",
           settings_dashed(s->name, name), s->argument[0] ? " " : "", s->argument);
  printf("  %-*s", LEFT, left);
  if (strlen(left) > LEFT) printf("\n  %*s", LEFT, "");
  printf(" %s", s->help);
  if (s->fallback[0]) printf(" (default %s)", s->fallback);
  printf("\n");
}

/* aligns columns that are separated by tabs */
static void print_text(const char *text) {
  while (*text) {
    size_t length = strcspn(text, "\n"), first = strcspn(text, "\t\n"),
           second = first < length ? strcspn(text + first + 1, "\t\n") : 0;
    bool heads = length > 1 && text[0] != ' ' && text[length - 1] == ':';
    if (first == length) printf("%s%.*s%s\n", heads ? tool_bold() : "", (int)length, text, heads ? tool_plain() : "");
    else if (first + 1 + second == length) printf("%-20.*s %.*s\n", (int)first, text, (int)second, text + first + 1);
    else
      printf("%-20.*s %-10.*s %.*s\n", (int)first, text, (int)second, text + first + 1,
             (int)(length - first - second - 2), text + first + second + 2);
    text += length + (text[length] == '\n');
  }
}

static int print_help(const command_line *line) {
  printf("usage: psdm %s", line->command);
  for (const char *const *p = line->positional; *p; p++) printf(" %s", *p);
  printf(" [options]\n\n");
  print_text(line->help);
  printf("\n%soptions:%s\n", tool_bold(), tool_plain());
  for (size_t i = 0; i < line->count; i++) print_row(&line->settings[i], '\0');
  for (int i = 0; i < COMMON_SETTINGS; i++) print_row(&common_settings[i], common_letters[i]);
  return EXIT_OK;
}

static const setting *find(const command_line *line, const char *name, size_t length) {
  for (size_t i = 0; i < line->count; i++) {
    char dash[64];
    settings_dashed(line->settings[i].name, dash);
    if (strlen(dash) == length && memcmp(dash, name, length) == 0) return &line->settings[i];
  }
  return NULL;
}

enum { OPTIONS = 128 }; /* more than any command has */
static bool taken[OPTIONS];

static int unknown_option(const command_line *line, const char *name, size_t length) {
  char text[64], names[OPTIONS][64];
  const char *words[OPTIONS];
  size_t count = 0, own = line->count < OPTIONS - COMMON_SETTINGS ? line->count : OPTIONS - COMMON_SETTINGS;
  snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
  for (; count < own + COMMON_SETTINGS; count++)
    words[count] =
        settings_dashed(count < own ? line->settings[count].name : common_settings[count - own].name, names[count]);
  const char *near = tool_nearest(text, words, count);
  return tool_usage(line->command, "unknown option '--%s'%s%s%s", tool_safe(text), near ? "; did you mean '--" : "",
                    near ? near : "", near ? "'?" : "");
}

/* --quiet, -q and the like; -1 if none of them */
static int common_option(const char *word) {
  for (int i = 0; i < COMMON_SETTINGS; i++) {
    const char letter[3] = {'-', common_letters[i], '\0'};
    if (strcmp(word, letter) == 0 || (strncmp(word, "--", 2) == 0 && strcmp(word + 2, common_settings[i].name) == 0))
      return i;
  }
  return -1;
}

/* one "--name value" or "--name=value", or "--name value value ..." for a list after all positional arguments; *index
 * moves past it */
static int take_option(const command_line *line, int argc, char **argv, int *index, bool greedy, void *values) {
  const char *name = argv[*index] + 2, *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const setting *s = find(line, name, length);
  if (!s) return unknown_option(line, name, length);
  const char *text = equals ? equals + 1 : NULL;
  if (s->kind == SETTING_flag) {
    if (text) return tool_usage(line->command, "option '--%.*s' takes no value", (int)length, name);
  } else if (!text) {
    if (*index + 1 >= argc)
      return tool_usage(line->command, "option '--%.*s' needs a value: %s", (int)length, name, s->argument);
    text = argv[++*index];
  }
  char what[64];
  snprintf(what, sizeof what, "--%.*s", (int)(length < 60 ? length : 60), name);
  bool *given = &taken[s - line->settings < OPTIONS ? s - line->settings : OPTIONS - 1];
  if (*given && s->kind != SETTING_list && s->kind != SETTING_flag)
    return tool_usage(line->command, "duplicate %s; it takes one value", what);
  *given = true;
  int code = s->kind == SETTING_text ? check_word(line, what, s->argument, text) : -1;
  if (code >= 0) return code;
  bool assigned = assign(s, values, text);
  if (!assigned && s->kind == SETTING_list) return tool_usage(line->command, "option '%s': out of memory", what);
  if (!assigned)
    return tool_usage(line->command, "%s '%s': %s expected%s%s", what, tool_safe(text),
                      s->kind == SETTING_number ? "a number was" : "three numbers were", s->argument[0] ? ", " : "",
                      s->argument);
  while (s->kind == SETTING_list && greedy && !equals && *index + 1 < argc &&
         (argv[*index + 1][0] != '-' || !argv[*index + 1][1]))
    if (!assign(s, values, argv[++*index]))
      return tool_usage(line->command, "option '--%.*s': out of memory", (int)length, name);
  return -1;
}

static setting_list rest;

setting_list settings_rest(void) { return rest; }

static bool collects(const char *name) {
  size_t length = strlen(name);
  return length > 3 && strcmp(name + length - 3, "...") == 0;
}

/* one word that is not an option */
static int take_argument(const command_line *line, const char *word, int wanted, int *found, const char **arguments) {
  bool more = wanted && collects(line->positional[wanted - 1]);
  if (more && *found >= wanted - 1) {
    if (!add_to_list(word, &rest)) return tool_no_memory(line->command);
    if (*found == wanted) return -1;
  } else if (*found == wanted) {
    return tool_usage(line->command, "unexpected argument '%s'", tool_safe(word));
  }
  int code = check_word(line, "argument", line->positional[*found], word);
  arguments[(*found)++] = word;
  return code;
}

/* " ROBOT FUNCTION" */
static const char *usage_of(const command_line *line, char text[200]) {
  text[0] = '\0';
  for (const char *const *p = line->positional; *p; p++) snprintf(text + strlen(text), 200 - strlen(text), " %s", *p);
  return text;
}

static int missing(const command_line *line, const char *name) {
  char text[200];
  return tool_usage(line->command, "missing %s; usage: psdm %s%s [options]", name, line->command, usage_of(line, text));
}

/* the options that differ from the table's defaults */
static void tell_settings(const command_line *line, const void *values) {
  for (size_t i = 0; i < line->count; i++) {
    const setting *s = &line->settings[i];
    const void *field = (const char *)values + s->offset;
    char name[64];
    if (!settings_given(line, values, s->name)) continue;
    settings_dashed(s->name, name);
    if (s->kind == SETTING_text) tool_detail("--%s %s", name, tool_safe(*(const setting_text *)field));
    else if (s->kind == SETTING_number) tool_detail("--%s %.17g", name, *(const setting_number *)field);
    else tool_detail("--%s", name);
  }
}

int settings_parse(const command_line *line, int argc, char **argv, void *values, const char **arguments) {
  settings_default(line, values);
  int found = 0, wanted = 0, code = -1;
  bool words_only = false;
  rest = (setting_list){0, NULL};
  most_words = argc;
  memset(taken, 0, sizeof taken);
  for (; line->positional[wanted]; wanted++) arguments[wanted] = NULL;
  for (int i = 0; i < argc && code < 0; i++) {
    int common = words_only ? -1 : common_option(argv[i]);
    if (common == HELP) return print_help(line);
    if (common >= 0) tool_speak(common == QUIET ? VOICE_QUIET : VOICE_VERBOSE);
    else if (!words_only && strcmp(argv[i], "--") == 0) words_only = true;
    else if (!words_only && strncmp(argv[i], "--", 2) == 0)
      code = take_option(line, argc, argv, &i, found == wanted && !(wanted && collects(line->positional[wanted - 1])),
                         values);
    else if (!words_only && argv[i][0] == '-' && argv[i][1])
      code = find(line, argv[i] + 1, strlen(argv[i] + 1))
                 ? tool_usage(line->command, "unknown option '%s'; did you mean '-%s'?", tool_safe(argv[i]),
                              tool_safe(argv[i]))
                 : tool_usage(line->command, "unknown option '%s'; options begin with two dashes", tool_safe(argv[i]));
    else code = take_argument(line, argv[i], wanted, &found, arguments);
  }
  if (code < 0 && found < wanted && line->positional[found][0] != '[') code = missing(line, line->positional[found]);
  tool_detail("psdm %s, version %s", line->command, psdm_version());
  if (code < 0) tell_settings(line, values);
  return code;
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
      case SETTING_number:
        return tool_parse_number(s->fallback, &fallback) && *(const setting_number *)field != fallback;
      case SETTING_vector: return ((const setting_vector *)field)->given;
      case SETTING_list: return ((const setting_list *)field)->count > 0;
    }
  }
  return false;
}

/* false: the default */
static bool value_of(const setting *s, const void *field, psdm_named_value *v) {
  double fallback = 0;
  setting_text text = s->kind == SETTING_text ? *(const setting_text *)field : NULL;
  *v = (psdm_named_value){.name = s->name};
  switch (s->kind) {
    case SETTING_text: v->kind = PSDM_FIELD_text, v->text = text; return text && strcmp(text, s->fallback) != 0;
    case SETTING_flag: v->kind = PSDM_FIELD_boolean, v->on = true; return *(const setting_flag *)field;
    case SETTING_number:
      tool_parse_number(s->fallback, &fallback);
      v->kind = PSDM_FIELD_number, v->number = *(const double *)field;
      return v->number != fallback;
    case SETTING_vector:
      v->kind = PSDM_FIELD_numbers;
      PSDM_RESULT_SET(v->numbers, ((const setting_vector *)field)->value, 3);
      return ((const setting_vector *)field)->given;
    case SETTING_list:
      v->kind = PSDM_FIELD_texts;
      PSDM_RESULT_SET(v->texts, ((const setting_list *)field)->value, ((const setting_list *)field)->count);
      return v->texts.rows > 0;
  }
  return false;
}

const psdm_named_value *settings_values(const command_line *line, const void *values, psdm_result *result,
                                        long *count) {
  psdm_named_value *v = psdm_result_memory(result, (long)line->count, sizeof *v);
  *count = 0;
  for (size_t i = 0; v && i < line->count; i++)
    *count += value_of(&line->settings[i], (const char *)values + line->settings[i].offset, &v[*count]);
  return v;
}

void settings_json(const command_line *line, const void *values, psdm_output *out) {
  psdm_json_object(out, "settings");
  for (size_t i = 0; i < line->count; i++) {
    psdm_named_value v;
    if (!value_of(&line->settings[i], (const char *)values + line->settings[i].offset, &v)) continue;
    switch (v.kind) {
      case PSDM_FIELD_boolean: psdm_json_bool(out, v.name, v.on); break;
      case PSDM_FIELD_number: psdm_json_number(out, v.name, v.number); break;
      case PSDM_FIELD_numbers: psdm_json_numbers(out, v.name, v.numbers.item, (int)v.numbers.rows); break;
      case PSDM_FIELD_texts:
        psdm_json_array(out, v.name);
        for (long k = 0; k < v.texts.rows; k++) psdm_json_string(out, NULL, v.texts.item[k]);
        psdm_json_close(out);
        break;
      default: psdm_json_string(out, v.name, v.text);
    }
  }
  psdm_json_close(out);
}
