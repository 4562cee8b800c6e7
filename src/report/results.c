/* results.c: recognises results, and finds their numbers. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/page_priv.h"
#include "psdm/csv.h"
#include "table/table.h"

/* ---- looking into a tree ---- */

static const psdmp_document_node *child_named(const psdmp_document_node *map, const char *name, size_t length) {
  for (const psdmp_document_node *child = map->child; child; child = child->next)
    if (child->key && strlen(child->key) == length && memcmp(child->key, name, length) == 0) return child;
  return NULL;
}

static const psdmp_document_node *child_counted(const psdmp_document_node *list, const char *text, size_t length) {
  long wanted = 0;
  if (!length || length > 9 || strspn(text, "0123456789") < length) return NULL;
  for (size_t i = 0; i < length; i++) wanted = 10 * wanted + (text[i] - '0');
  if (wanted >= list->count) return NULL;
  const psdmp_document_node *child = list->child;
  while (child && wanted--) child = child->next;
  return child;
}

/* path: "a.b.2.c" after printing */
static const psdmp_document_node *look(const psdmp_document_node *from, const char *format, va_list args) {
  char path[256];
  int printed = psdmp_base_vprint(path, sizeof path, format, args);
  if (printed < 0 || (size_t)printed >= sizeof path) return NULL;
  for (const char *at = path; from && *at;) {
    size_t length = strcspn(at, ".");
    from = from->kind == PSDMP_DOCUMENT_MAP    ? child_named(from, at, length)
           : from->kind == PSDMP_DOCUMENT_LIST ? child_counted(from, at, length)
                                               : NULL;
    at += length;
    at += *at == '.';
  }
  return from;
}

const psdmp_document_node *psdmp_report_node(const psdmp_document_node *from, const char *path, ...) {
  va_list args;
  va_start(args, path);
  const psdmp_document_node *node = look(from, path, args);
  va_end(args);
  return node;
}

double psdmp_report_number(const psdmp_document_node *from, const char *path, ...) {
  va_list args;
  va_start(args, path);
  double value = psdmp_report_own_number(look(from, path, args));
  va_end(args);
  return value;
}

const char *psdmp_report_text(const psdmp_document_node *from, const char *path, ...) {
  va_list args;
  va_start(args, path);
  const char *text = psdmp_report_own_text(look(from, path, args));
  va_end(args);
  return text;
}

bool psdmp_report_truth(const psdmp_document_node *from, const char *path, ...) {
  va_list args;
  va_start(args, path);
  bool truth = strcmp(psdmp_report_own_text(look(from, path, args)), "true") == 0;
  va_end(args);
  return truth;
}

/* a quoted number is text */
double psdmp_report_own_number(const psdmp_document_node *node) {
  double value;
  if (!node || node->kind != PSDMP_DOCUMENT_SCALAR || node->quoted ||
      !psdmp_base_parse_number(node->text, node->length, &value))
    return NAN;
  return value;
}

const char *psdmp_report_own_text(const psdmp_document_node *node) {
  if (!node || node->kind != PSDMP_DOCUMENT_SCALAR || (!node->quoted && strcmp(node->text, "null") == 0)) return "";
  return node->text;
}

const psdmp_document_node *psdmp_report_first(const psdmp_document_node *list) {
  return list && list->kind == PSDMP_DOCUMENT_LIST ? list->child : NULL;
}

int psdmp_report_numbers(const psdmp_document_node *list, double *value, int most) {
  int count = 0;
  for (const psdmp_document_node *child = psdmp_report_first(list); child && count < most; child = child->next)
    value[count++] = psdmp_report_own_number(child);
  return count;
}

int psdmp_report_result_column(const psdmp_report_result *csv, const char *name) {
  for (int i = 0; i < csv->columns; i++)
    if (strcmp(csv->column[i], name) == 0) return i;
  return -1;
}

/* ---- trees: JSON of a command, parameter files ---- */

/* the robot's name in a tree */
static const char *robot_of(const psdmp_document_node *root) {
  static const char *const paths[] = {"name", "robot", "robot.name"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const char *text = psdmp_report_text(root, "%s", paths[i]);
    if (text[0]) return text;
  }
  return "";
}

bool psdmp_report_result_same_robot(const psdmp_report_result *a, const psdmp_report_result *b) {
  return strcmp(a->robot, b->robot) == 0 &&
         (!a->fingerprint[0] || !b->fingerprint[0] || strcmp(a->fingerprint, b->fingerprint) == 0);
}

static const char expected[] =
    "JSON that a psdm command wrote with `json`, CSV rows, a parameter file or a robot file was expected";

/* appends the accepted kinds of result to a parser's error */
static psdm_status no_result(psdm_error *error) {
  if (!error) return PSDM_E_PARSE;
  psdm_error found = *error;
  return psdmp_base_fail(error, found.status, found.file, found.line, found.column, "not a result: %s (%s)", expected,
                         found.text);
}

/* anything besides the names of its command and robot */
static bool has_content(const psdmp_document_node *root) {
  static const char *const names[] = {"command", "name", "robot", "fingerprint", "format", "settings"};
  for (const psdmp_document_node *child = root->child; child; child = child->next) {
    bool name = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) name |= child->key && strcmp(child->key, names[i]) == 0;
    if (!name) return true;
  }
  return false;
}

static psdm_status take_tree(psdmp_report_result *result, bool braces, psdm_error *error) {
  const psdmp_document_node *root = result->root;
  const char *format = psdmp_report_text(root, "format");
  if (root->kind != PSDMP_DOCUMENT_MAP)
    return psdmp_base_fail(error, PSDM_E_PARSE, result->path, root->line, root->column, "not a result: %s", expected);
  result->robot = robot_of(root);
  result->fingerprint =
      psdmp_report_text(root, "%s", psdmp_report_node(root, "fingerprint") ? "fingerprint" : "robot.kinematics");
  result->command = psdmp_report_text(root, "command");
  result->kind = braces ? PSDMP_REPORT_RESULT_JSON : PSDMP_REPORT_RESULT_YAML;
  if (result->command[0] && !has_content(root))
    return psdmp_base_fail(
        error, PSDM_E_PARSE, result->path, root->line, root->column,
        "a result without content: the complete output with `json` was expected, not the command's name alone");
  if (result->command[0]) return PSDM_OK;
  if (strncmp(format, "psdm-parameters", strlen("psdm-parameters")) == 0) {
    result->kind = PSDMP_REPORT_RESULT_YAML;
    result->command = "parameters";
    return PSDM_OK;
  }
  if (psdmp_report_node(root, "joints"))
    return psdmp_base_fail(error, PSDM_E_ROBOT, result->path, root->line, root->column,
                           "a robot file, not a result; psdm inspect, derive and params `json` make results of it");
  return psdmp_base_fail(error, PSDM_E_PARSE, result->path, root->line, root->column,
                         "not a result, it has no \"command\": %s", expected);
}

/* ---- rows ---- */

/* text that psdm_csv reads */
typedef struct source {
  const char *at;
  size_t left;
} source;

static ptrdiff_t read_text(void *user, char *buffer, size_t size) {
  source *from = user;
  size_t take = size < from->left ? size : from->left;
  memcpy(buffer, from->at, take);
  from->at += take, from->left -= take;
  return (ptrdiff_t)take;
}

/* a field that is not a number: empty, or in the one column of words, where steps of a calibration are 0, 1, 2, 3 */
static bool read_word(void *user, int column, const char *text, size_t length, double *value) {
  static const char *const steps[] = {"motor", "gravity", "friction", "inertia"};
  const psdmp_report_result *result = user;
  *value = NAN;
  for (int k = 0; k < 4 && strcmp(result->column[column], "step") == 0; k++)
    if (strlen(steps[k]) == length && memcmp(steps[k], text, length) == 0) *value = k;
  return !isnan(*value) || !length || (length == 3 && (!memcmp(text, "nan", 3) || !memcmp(text, "NaN", 3)));
}

/* the columns' names: of csv, or of a table in memory */
static psdm_status take_header(psdmp_base_arena *arena, psdmp_report_result *result, const psdm_csv *csv,
                               const psdm_log_table *table, psdm_error *error) {
  result->kind = PSDMP_REPORT_RESULT_CSV;
  result->columns = csv ? psdm_csv_columns(csv) : table->columns;
  const char **name = PSDMP_BASE_NEW(arena, result->columns, const char *);
  result->column = name;
  for (int i = 0; name && i < result->columns; i++) {
    const char *own = csv ? psdm_csv_name(csv, i) : table->names[i];
    name[i] = psdmp_base_arena_text(arena, own, strlen(own));
  }
  return arena->failed ? psdmp_base_no_memory(result->path, error) : PSDM_OK;
}

static const char others[] = "JSON that a psdm command wrote with `json`, a parameter file, a robot file";

/* the command of rows, from their columns */
static psdm_status name_rows(psdmp_report_result *result, int line, psdm_error *error) {
  bool t = psdmp_report_result_column(result, "t") >= 0, q = psdmp_report_result_column(result, "q1") >= 0;
  if (t && psdmp_report_result_column(result, "predicted1") >= 0) result->command = "predict";
  else if (t && psdmp_report_result_column(result, "drive") >= 0 &&
           psdmp_report_result_column(result, "measured") >= 0 && psdmp_report_result_column(result, "predicted") >= 0)
    result->command = "steps";
  else if (t && q && psdmp_report_result_column(result, "T") >= 0 && psdmp_report_result_column(result, "U") >= 0)
    result->command = "states";
  else if (t && q) result->command = "trajectory";
  else
    return psdmp_base_fail(error, PSDM_E_PARSE, result->path, line, 1,
                           "the columns are of no known result: t, q1... of a motion, or t, predicted1... of psdm "
                           "calibrate `predict` were expected; or %s",
                           others);
  return PSDM_OK;
}

/* room for most rows; NULL without memory */
static double **new_columns(psdmp_base_arena *arena, psdmp_report_result *result, size_t most) {
  size_t columns = (size_t)result->columns;
  double **value = PSDMP_BASE_NEW(arena, columns, double *),
         *all = most < SIZE_MAX / 8 / columns ? PSDMP_BASE_NEW_RAW(arena, most * columns, double) : NULL;
  for (size_t i = 0; value && all && i < columns; i++) value[i] = all + i * most;
  result->value = value;
  return all ? value : NULL;
}

static psdm_status read_rows(psdmp_base_arena *arena, psdmp_report_result *result, psdm_csv *csv, size_t most,
                             psdm_error *error) {
  size_t columns = (size_t)result->columns;
  double **value = new_columns(arena, result, most), *row = PSDMP_BASE_NEW(arena, columns, double);
  bool more = true;
  if (!value || !row) return psdmp_base_no_memory(result->path, error);
  for (;;) {
    psdm_status status = psdmp_table_csv_row(csv, read_word, result, row, &more, error);
    if (status || !more) return status;
    for (size_t i = 0; i < columns; i++) value[i][result->rows] = row[i];
    result->rows++;
  }
}

/* whether some row has a time and another number of a size that can be drawn */
static bool any_number(const psdmp_report_result *result) {
  const double most = 1e100; /* larger values are not drawn */
  const double *t = result->value[psdmp_report_result_column(result, "t")];
  for (int i = 0; i < result->columns; i++)
    for (size_t row = 0; result->value[i] != t && row < result->rows; row++)
      if (fabs(t[row]) < most && fabs(result->value[i][row]) < most) return true;
  return false;
}

static psdm_status refuse_empty(const psdmp_report_result *result, int line, psdm_error *error) {
  if (any_number(result)) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_PARSE, result->path, line, 0,
                         result->rows ? "rows without content: none has a time and a number that can be drawn; "
                                        "finite numbers below 1e100 were expected"
                                      : "a header without rows: rows of numbers were expected below it");
}

static psdm_status take_rows(psdmp_base_arena *arena, psdmp_report_result *result, const char *text, size_t length,
                             psdm_error *error) {
  source from = {text, length};
  size_t most = 1;
  for (size_t i = 0; i < length; i++) most += text[i] == '\n';
  psdm_csv *csv;
  psdm_status status = psdm_csv_open_source(read_text, &from, result->path, arena->allocator, &csv, error);
  if (status) return status;
  status = take_header(arena, result, csv, NULL, error);
  if (!status) status = name_rows(result, psdm_csv_header_line(csv), error);
  if (!status) status = read_rows(arena, result, csv, most, error);
  if (!status) status = refuse_empty(result, psdm_csv_header_line(csv), error);
  psdm_csv_close(csv);
  return status;
}

/* what is not finite is an empty cell, as a file has it */
static psdm_status copy_rows(psdmp_base_arena *arena, psdmp_report_result *result, const psdm_log_table *table,
                             psdm_error *error) {
  double **value = new_columns(arena, result, (size_t)table->rows + 1);
  if (!value) return psdmp_base_no_memory(result->path, error);
  for (int c = 0; c < table->columns; c++)
    for (long i = 0; i < table->rows; i++) {
      double x = table->column[c][i * table->stride[c]];
      value[c][i] = isfinite(x) ? x : NAN;
    }
  result->rows = (size_t)table->rows;
  return PSDM_OK;
}

/* ---- files ---- */

enum { ROWS_BYTES = 512 * 1024 * 1024 }; /* an hour of six joints at 1 kHz */

/* names and commas in the first nonblank line; no colon, which a tree would have */
static bool looks_like_rows(const char *text, size_t length) {
  const char *end = text + length;
  while (text < end && (*text == '#' || *text == '\n' || *text == '\r')) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    text = stop ? stop + 1 : end;
  }
  const char *stop = memchr(text, '\n', (size_t)(end - text));
  size_t line = (size_t)((stop ? stop : end) - text);
  return memchr(text, ',', line) && !memchr(text, ':', line) && !memchr(text, '{', line) && !memchr(text, '[', line);
}

static psdmp_report_result *new_result(psdmp_base_arena *arena, const char *path) {
  psdmp_report_result *result = psdmp_base_arena_alloc(arena, sizeof *result);
  char *name = psdmp_base_arena_text(arena, path, strlen(path));
  if (!result || !name) return NULL;
  result->path = name;
  result->robot = result->fingerprint = result->command = "";
  return result;
}

psdm_status psdmp_report_result_parse(psdmp_base_arena *arena, const char *path, char *text, size_t length,
                                      psdmp_report_result **made, psdm_error *error) {
  psdmp_report_result *result = new_result(arena, path);
  *made = NULL;
  if (!result) return psdmp_base_no_memory(path, error);
  if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, length -= 3;
  size_t blank = strspn(text, " \t\r\n");
  psdm_status status = PSDM_OK;
  if (blank < length && text[blank] == '<' && !strstr(text + blank, "<robot")) {
    status =
        psdmp_base_fail(error, PSDM_E_PARSE, path, 1, 1, "not a result: %s (HTML or XML without <robot>)", expected);
  } else if (blank < length && text[blank] == '<') {
    status =
        psdmp_base_fail(error, PSDM_E_ROBOT, path, 0, 0,
                        "a robot file (XML), not a result; psdm inspect, derive and params `json` make results of it");
  } else if (looks_like_rows(text, length)) {
    status = take_rows(arena, result, text, length, error);
  } else {
    status = psdmp_document_parse(text, length, path, arena, &result->root, error);
    if (status == PSDM_E_PARSE) status = no_result(error);
    if (!status) status = take_tree(result, text[blank] == '{', error);
  }
  if (!status) *made = result;
  return status;
}

psdm_status psdmp_report_result_rows(psdmp_base_arena *arena, const psdm_log_table *table, psdmp_report_result **made,
                                     psdm_error *error) {
  psdmp_report_result *result = new_result(arena, table->name);
  *made = NULL;
  if (!result) return psdmp_base_no_memory(table->name, error);
  psdm_status status = take_header(arena, result, NULL, table, error);
  if (!status) status = name_rows(result, 0, error);
  if (!status) status = copy_rows(arena, result, table, error);
  if (!status) status = refuse_empty(result, 0, error);
  if (!status) *made = result;
  return status;
}

psdm_status psdmp_report_result_read(psdmp_base_arena *arena, const char *path, psdmp_report_result **result,
                                     psdm_error *error) {
  char *text;
  size_t length;
  *result = NULL;
  psdm_status status = psdmp_document_file_read(path, ROWS_BYTES, arena, &text, &length, error);
  if (status && error && strncmp(error->text, "is a directory", strlen("is a directory")) == 0)
    return psdmp_base_fail(error, status, path, 0, 0, "is a directory, not a result: %s", expected);
  return status
             ? status
             : psdmp_report_result_parse(arena, strcmp(path, "-") == 0 ? "<stdin>" : path, text, length, result, error);
}
