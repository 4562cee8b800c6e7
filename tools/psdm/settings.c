/* settings.c: parses a command line by the table of its command, and writes its help. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "tool.h"

const psdm_setting common_settings[COMMON_SETTINGS] = {
    {"quiet", PSDM_SETTING_flag, 0, "", "",
     "print errors, reasons for an exit code and the data only: no notes, progress or summary"},
    {"verbose", PSDM_SETTING_flag, 0, "", "", "print what is done, and the time since the start"},
    {"help", PSDM_SETTING_flag, 0, "", "", "this text"}};
const char common_letters[COMMON_SETTINGS] = {'q', 'v', 'h'};
enum { QUIET, VERBOSE, HELP };

const char *settings_dashed(const char *name, char out[64]) {
  snprintf(out, 64, "%s", name);
  for (char *c = out; *c; c++)
    if (*c == '_') *c = '-';
  return out;
}

const psdm_setting *settings_of(const command_line *line) {
  static const psdm_setting none = {0};
  const psdm_setting *table = line->settings ? line->settings : psdm_job_settings(line->command);
  return table ? table : &none;
}

/* ---- fields of the library as options ---- */

static bool has_field(const psdm_setting *table, const char *name, size_t length) {
  while (table->name && (strncmp(table->name, name, length) != 0 || table->name[length])) table++;
  return table->name != NULL;
}

/* of any command: parameters that simulate reads may lack what calibrate has an option for */
static bool is_field(const char *name, size_t length) {
  bool found = false;
  for (int i = 0; i < tool_command_count && !found; i++)
    found = has_field(settings_of(tool_commands[i].line), name, length);
  return found;
}

/* "--log-rate" for "`log_rate`", "--route steps" for "`route = steps`"; the text behind it. NULL: no field is at `at`
 * */
static const char *put_option(const char *at, char *out, size_t *used) {
  const char *name = at + 1, *end = strchr(name, '`');
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  bool valued = strncmp(name + length, " = ", 3) == 0;
  if (!length || !end || !(valued || name[length] == '`') || !is_field(name, length)) return NULL;
  out[(*used)++] = '-';
  out[(*used)++] = '-';
  for (size_t i = 0; i < length; i++) out[(*used)++] = name[i] == '_' ? '-' : name[i];
  for (const char *value = name + length + 2; valued && value < end; value++) out[(*used)++] = *value;
  return end + 1;
}

const char *settings_named(const char *text) {
  enum { BUFFERS = 8, SIZE = 2048 };
  static char buffers[BUFFERS][SIZE];
  static int next;
  size_t used = 0, length = strlen(text);
  if (!strchr(text, '`') || length >= SIZE) return text;
  char *out = buffers[next++ % BUFFERS];
  while (*text) { /* an option is no longer than what it stands for */
    const char *behind = *text == '`' ? put_option(text, out, &used) : NULL;
    if (!behind) out[used++] = *text;
    text = behind ? behind : text + 1;
  }
  out[used] = '\0';
  return out;
}

/* ---- words ---- */

/* a word that is not one of the argument's values */
static int check_word(const command_line *line, const char *what, const char *argument, const char *text) {
  char list[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE];
  const char *words[PSDM_SETTING_WORDS_MOST];
  bool open;
  int count = psdm_setting_words(argument, list, &open);
  for (int i = 0; i < count; i++) {
    words[i] = list[i];
    if (strcmp(list[i], text) == 0) return -1;
  }
  /* nearly one of them, and not the name of a file */
  bool slip = open && strstr(argument, "FILE") && !strpbrk(text, "./") && tool_nearest(text, words, (size_t)count) &&
              !tool_file_size(text);
  return open && !slip ? -1 : tool_unknown(line->command, what, text, words, (size_t)count);
}

static void print_row(const psdm_setting *s, char letter) {
  enum { LEFT = 24 };
  char name[64], left[256];
  snprintf(left, sizeof left, "%s%.1s%s--%s%s%s", letter ? "-" : "", &letter, letter ? ", " : "",
           settings_dashed(s->name, name), s->argument[0] ? " " : "", s->argument);
  printf("  %-*s", LEFT, left);
  if (strlen(left) > LEFT) printf("\n  %*s", LEFT, "");
  printf(" %s", settings_named(s->help));
  if (s->fallback[0]) printf(" (default %s)", s->fallback);
  printf("\n");
}

/* aligns what comes after a tab */
static void print_text(const char *text) {
  while (*text) {
    size_t length = strcspn(text, "\n"), first = strcspn(text, "\t\n");
    bool heads = length > 1 && text[0] != ' ' && text[length - 1] == ':';
    if (first == length) printf("%s%.*s%s\n", heads ? tool_bold() : "", (int)length, text, heads ? tool_plain() : "");
    else printf("%-20.*s %.*s\n", (int)first, text, (int)(length - first - 1), text + first + 1);
    text += length + (text[length] == '\n');
  }
}

static int print_help(const command_line *line) {
  printf("usage: psdm %s", line->command);
  for (const char *const *p = line->positional; *p; p++) printf(" %s", *p);
  printf(" [options]\n\n");
  print_text(line->help);
  printf("\n%soptions:%s\n", tool_bold(), tool_plain());
  for (const psdm_setting *s = settings_of(line); s->name; s++) print_row(s, '\0');
  for (int i = 0; i < COMMON_SETTINGS; i++) print_row(&common_settings[i], common_letters[i]);
  return EXIT_OK;
}

static const psdm_setting *find(const command_line *line, const char *name, size_t length) {
  for (const psdm_setting *s = settings_of(line); s->name; s++) {
    char dash[64];
    settings_dashed(s->name, dash);
    if (strlen(dash) == length && memcmp(dash, name, length) == 0) return s;
  }
  return NULL;
}

enum { OPTIONS = 128 }; /* more than any command has */
static bool taken[OPTIONS];

static int unknown_option(const command_line *line, const char *name, size_t length) {
  char text[64], names[OPTIONS][64];
  const char *words[OPTIONS];
  size_t count = 0;
  snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
  for (const psdm_setting *s = settings_of(line); s->name && count < OPTIONS - COMMON_SETTINGS; s++, count++)
    words[count] = settings_dashed(s->name, names[count]);
  for (int i = 0; i < COMMON_SETTINGS; i++, count++)
    words[count] = settings_dashed(common_settings[i].name, names[count]);
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
  const psdm_setting *s = find(line, name, length);
  if (!s) return unknown_option(line, name, length);
  const char *text = equals ? equals + 1 : NULL;
  if (s->kind == PSDM_SETTING_flag) {
    if (text) return tool_usage(line->command, "option '--%.*s' takes no value", (int)length, name);
  } else if (!text) {
    if (*index + 1 >= argc)
      return tool_usage(line->command, "option '--%.*s' needs a value: %s", (int)length, name, s->argument);
    text = argv[++*index];
  }
  char what[64];
  snprintf(what, sizeof what, "--%.*s", (int)(length < 60 ? length : 60), name);
  bool *given = &taken[s - settings_of(line) < OPTIONS ? s - settings_of(line) : OPTIONS - 1];
  if (*given && s->kind != PSDM_SETTING_list && s->kind != PSDM_SETTING_flag)
    return tool_usage(line->command, "duplicate %s; it takes one value", what);
  *given = true;
  int code = s->kind == PSDM_SETTING_text ? check_word(line, what, s->argument, text) : -1;
  if (code >= 0) return code;
  psdm_status status = psdm_setting_assign(s, values, text);
  if (status == PSDM_E_MEMORY) return tool_usage(line->command, "option '%s': out of memory", what);
  if (status)
    return tool_usage(line->command, "%s '%s': %s expected%s%s", what, tool_safe(text),
                      s->kind == PSDM_SETTING_number ? "a number was" : "three numbers were",
                      s->argument[0] ? ", " : "", s->argument);
  while (s->kind == PSDM_SETTING_list && greedy && !equals && *index + 1 < argc &&
         (argv[*index + 1][0] != '-' || !argv[*index + 1][1]))
    if (psdm_setting_assign(s, values, argv[++*index]))
      return tool_usage(line->command, "option '--%.*s': out of memory", (int)length, name);
  return -1;
}

/* positional arguments behind the last; lists of settings stay until the program ends */
static const psdm_setting rest_row = {"rest", PSDM_SETTING_list, 0, "", "", ""};
static psdm_setting_list rest;

psdm_setting_list settings_rest(void) { return rest; }

static bool collects(const char *name) {
  size_t length = strlen(name);
  return length > 3 && strcmp(name + length - 3, "...") == 0;
}

/* one word that is not an option */
static int take_argument(const command_line *line, const char *word, int wanted, int *found, const char **arguments) {
  bool more = wanted && collects(line->positional[wanted - 1]);
  if (more && *found >= wanted - 1) {
    if (psdm_setting_assign(&rest_row, &rest, word)) return tool_usage(line->command, "out of memory");
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
  for (const psdm_setting *s = settings_of(line); s->name; s++) {
    const void *field = (const char *)values + s->offset;
    char name[64];
    if (!psdm_setting_given(s, values)) continue;
    settings_dashed(s->name, name);
    if (s->kind == PSDM_SETTING_text) tool_detail("--%s %s", name, tool_safe(*(const psdm_setting_text *)field));
    else if (s->kind == PSDM_SETTING_number) tool_detail("--%s %.17g", name, *(const psdm_setting_number *)field);
    else tool_detail("--%s", name);
  }
}

int settings_parse(const command_line *line, int argc, char **argv, void *values, const char **arguments) {
  psdm_settings_default(settings_of(line), values);
  int found = 0, wanted = 0, code = -1;
  bool words_only = false;
  rest = (psdm_setting_list){0, NULL};
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
