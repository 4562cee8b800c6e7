/* csv_io.c: CSV with a header of names, from a file, standard input or the caller's source, row by row. Errors give the
 * place. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC, fstat */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/table.h"

struct psdm_csv {
  psdmp_base_arena arena;  /* names */
  psdmp_table_lines lines; /* the buffer is owned */
  int fd;                  /* owned when >= 0 */
  const char *file;
  const char **names; /* (columns) */
  int columns, line, header_line;
  const psdmp_table_memory *memory; /* instead of text; NULL: text */
};

static ptrdiff_t read_fd(void *user, char *buffer, size_t size) {
  psdm_csv *csv = user;
  for (;;) {
    ssize_t got = read(csv->fd, buffer, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

static ptrdiff_t read_stdin(void *user, char *buffer, size_t size) {
  (void)user;
  for (;;) {
    ssize_t got = read(STDIN_FILENO, buffer, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

/* one line without its end, terminated in place; *line is NULL at the end of the text */
static psdm_status next_line(psdm_csv *csv, char **line, size_t *length, psdm_error *error) {
  psdmp_table_line kind = psdmp_table_lines_next(&csv->lines, line, length);
  csv->line = csv->lines.line < INT_MAX ? (int)csv->lines.line : INT_MAX;
  switch (kind) {
    case PSDMP_TABLE_LINE_NUL:
      return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, (int)*length + 1,
                             "a NUL byte; this is not a text file");
    case PSDMP_TABLE_LINE_LONG:
      return psdmp_base_fail(error, PSDM_E_LIMIT, csv->file, csv->line, 1, "a line longer than %d bytes",
                             PSDM_CSV_LINE);
    case PSDMP_TABLE_LINE_FAILED:
      return psdmp_base_fail(error, PSDM_E_IO, csv->file, 0, 0, "cannot be read: %s", strerror(errno));
    default: return PSDM_OK;
  }
}

static psdm_status next_data_line(psdm_csv *csv, char **line, size_t *length, psdm_error *error) {
  for (;;) {
    psdm_status status = next_line(csv, line, length, error);
    if (status || !*line) return status;
    size_t blank = strspn(*line, " \t");
    if (blank < *length && **line != '#') return PSDM_OK;
  }
}

/* A column name and its position. */
typedef struct heading {
  const char *name;
  int index, column;
} heading;

static int by_name(const void *a, const void *b) {
  const heading *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : x->index - y->index;
}

/* duplicate names make lookups ambiguous; the first repetition in the file is reported */
static psdm_status refuse_twins(const psdm_csv *csv, heading *headings, psdm_error *error) {
  const heading *twin = NULL;
  qsort(headings, (size_t)csv->columns, sizeof *headings, by_name);
  for (int i = 1; i < csv->columns; i++)
    if (strcmp(headings[i - 1].name, headings[i].name) == 0 && (!twin || headings[i].index < twin->index))
      twin = &headings[i];
  if (!twin) return PSDM_OK;
  char name[64];
  psdmp_base_quote(twin->name, strlen(twin->name), name, sizeof name);
  return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, twin->column,
                         "columns %d and %d are both named '%s'", twin[-1].index + 1, twin->index + 1, name);
}

static psdm_status read_header(psdm_csv *csv, psdm_error *error) {
  char *line;
  size_t length;
  psdm_status status = next_data_line(csv, &line, &length, error);
  if (status) return status;
  if (!line)
    return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, 0, 0,
                           "the file is empty; a header row of names was expected");
  csv->header_line = csv->line;
  int columns = 1;
  for (const char *at = line; (at = strchr(at, ',')); at++) columns++;
  if (columns > PSDM_CSV_COLUMNS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, csv->file, csv->line, 1, "%d columns; at most %d are read", columns,
                           PSDM_CSV_COLUMNS);
  csv->names = psdmp_base_arena_alloc(&csv->arena, (size_t)columns * sizeof *csv->names);
  heading *headings = psdmp_base_arena_alloc(&csv->arena, (size_t)columns * sizeof *headings);
  if (!csv->names || !headings) return psdmp_base_no_memory(csv->file, error);
  const char *start = line;
  double number;
  for (char *at = line; at;) {
    const char *name = psdmp_table_take_field(&at, ',', &length);
    int column = (int)(name - start) + 1;
    if (length >= 2 && name[0] == '"' && name[length - 1] == '"') name++, length -= 2;
    if (!length)
      return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, column, "column %d of the header has no name",
                             csv->columns + 1);
    if (psdmp_base_parse_number(name, length, &number))
      return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, column,
                             "a header row of names was expected, found a number");
    char *copy = psdmp_base_arena_text(&csv->arena, name, length);
    if (!copy) return psdmp_base_no_memory(csv->file, error);
    headings[csv->columns] = (heading){copy, csv->columns, column};
    csv->names[csv->columns++] = copy;
  }
  return refuse_twins(csv, headings, error);
}

static psdm_status fail_field(const psdm_csv *csv, int column, int index, const char *text, size_t length,
                              psdm_error *error) {
  char found[64], name[64];
  psdmp_base_quote(text, length, found, sizeof found);
  psdmp_base_quote(csv->names[index], strlen(csv->names[index]), name, sizeof name);
  if (!length)
    return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, column,
                           "column '%s' is empty; a number was expected", name);
  return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, column,
                         "column '%s' has '%s'; a finite decimal number was expected", name, found);
}

static psdm_status memory_row(psdm_csv *csv, double *values, bool *more, psdm_error *error) {
  const psdmp_table_memory *m = csv->memory;
  *more = csv->line < m->rows;
  if (!*more) return PSDM_OK;
  memcpy(values, m->values + (ptrdiff_t)csv->line++ * m->columns, (size_t)m->columns * sizeof *values);
  for (int i = 0; i < m->columns; i++)
    if (!isfinite(values[i]))
      return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, i + 1,
                             "column '%s' has a value that is not finite", csv->names[i]);
  return PSDM_OK;
}

psdm_status psdm_csv_row(psdm_csv *csv, double *values, bool *more, psdm_error *error) {
  return psdmp_table_csv_row(csv, NULL, NULL, values, more, error);
}

psdm_status psdmp_table_csv_row(psdm_csv *csv, psdmp_table_word word, void *user, double *values, bool *more,
                                psdm_error *error) {
  char *line;
  size_t length;
  *more = false;
  if (csv->memory) return memory_row(csv, values, more, error);
  psdm_status status = next_data_line(csv, &line, &length, error);
  if (status || !line) return status;
  char *at = line;
  for (int i = 0; i < csv->columns; i++) {
    if (!at)
      return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, (int)strlen(line) + 1,
                             "%d values; the header on line %d names %d columns", i, csv->header_line, csv->columns);
    const char *field = psdmp_table_take_field(&at, ',', &length);
    if (!psdmp_base_parse_number(field, length, &values[i]) && !(word && word(user, i, field, length, &values[i])))
      return fail_field(csv, (int)(field - line) + 1, i, field, length, error);
  }
  if (at)
    return psdmp_base_fail(error, PSDM_E_PARSE, csv->file, csv->line, (int)(at - line) + 1,
                           "more values than the %d columns that the header on line %d names", csv->columns,
                           csv->header_line);
  *more = true;
  return PSDM_OK;
}

/* estimated lines after the header: those in the buffer, and those that fit in the rest of the file at the same
 * length */
static double rows_about(const psdm_csv *csv) {
  const psdmp_table_lines *l = &csv->lines;
  struct stat info;
  double here = (double)(l->used - l->begin), rows = 0;
  for (size_t i = l->begin; i < l->used; i++) rows += l->buffer[i] == '\n';
  if (l->end || csv->fd < 0 || fstat(csv->fd, &info) || !S_ISREG(info.st_mode) || rows < 1) return rows;
  return rows * (1 + fmax(0, (double)info.st_size - (double)l->bytes) / here);
}

psdm_status psdm_csv_fits(const psdm_csv *csv, size_t bytes, size_t memory, psdm_error *error) {
  char what[64];
  double rows = csv->memory ? (double)csv->memory->rows : rows_about(csv);
  psdmp_base_print(what, sizeof what, "keeping some %.3g rows", rows);
  return psdmp_base_memory_ask(csv->file, what, rows * (double)bytes, memory, "", error);
}

static psdm_status new_csv(const char *name, const psdm_allocator *allocator, psdm_csv **out, psdm_error *error) {
  psdm_csv *csv = psdmp_base_alloc(allocator, sizeof *csv);
  *out = csv;
  if (csv) {
    csv->fd = -1;
    csv->arena.allocator = allocator;
    csv->lines.buffer = psdmp_base_alloc(allocator, PSDM_CSV_LINE + 1);
    csv->file = psdmp_base_arena_text(&csv->arena, name, strlen(name));
  }
  if (csv && csv->lines.buffer && csv->file) return PSDM_OK;
  return psdmp_base_no_memory(name, error);
}

psdm_status psdm_csv_open_source(psdm_csv_read read, void *user, const char *name, const psdm_allocator *allocator,
                                 psdm_csv **out, psdm_error *error) {
  psdm_csv *csv;
  psdm_status status = new_csv(name, allocator, &csv, error);
  if (!status) {
    csv->lines.read = read;
    csv->lines.user = user;
    status = read_header(csv, error);
  }
  if (status) {
    psdm_csv_close(csv);
    csv = NULL;
  }
  *out = csv;
  return status;
}

static psdm_status open_memory(const psdmp_table_memory *memory, const psdm_allocator *allocator, psdm_csv **out,
                               psdm_error *error) {
  psdm_status status = new_csv(memory->label, allocator, out, error);
  if (status) {
    psdm_csv_close(*out);
    *out = NULL;
    return status;
  }
  (*out)->memory = memory;
  (*out)->names = (const char **)memory->names;
  (*out)->columns = memory->columns;
  return PSDM_OK;
}

psdm_status psdm_csv_open(const char *path, const psdm_allocator *allocator, psdm_csv **out, psdm_error *error) {
  const psdmp_table_memory *memory = psdmp_table_find(path);
  if (memory) return open_memory(memory, allocator, out, error);
  if (strcmp(path, "-") == 0) return psdm_csv_open_source(read_stdin, NULL, "<stdin>", allocator, out, error);
  psdm_csv *csv;
  psdm_status status = new_csv(path, allocator, &csv, error);
  if (!status) {
    csv->lines.read = read_fd;
    csv->lines.user = csv;
    csv->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (csv->fd < 0) status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be opened: %s", strerror(errno));
  }
  if (!status) status = read_header(csv, error);
  if (status) {
    psdm_csv_close(csv);
    csv = NULL;
  }
  *out = csv;
  return status;
}

void psdm_csv_close(psdm_csv *csv) {
  if (!csv) return;
  const psdm_allocator *allocator = csv->arena.allocator;
  if (csv->fd >= 0) close(csv->fd);
  psdmp_base_free(allocator, csv->lines.buffer);
  psdmp_base_arena_free(&csv->arena);
  psdmp_base_free(allocator, csv);
}

int psdm_csv_columns(const psdm_csv *csv) { return csv->columns; }
const char *psdm_csv_file(const psdm_csv *csv) { return csv->file; }
int psdm_csv_header_line(const psdm_csv *csv) { return csv->header_line; }
int psdm_csv_line(const psdm_csv *csv) { return csv->line; }
long long psdm_csv_bytes(const psdm_csv *csv) { return csv->lines.bytes; }

const char *psdm_csv_name(const psdm_csv *csv, int column) {
  return column >= 0 && column < csv->columns ? csv->names[column] : NULL;
}

int psdm_csv_find(const psdm_csv *csv, const char *name) {
  for (int i = 0; i < csv->columns; i++)
    if (strcmp(csv->names[i], name) == 0) return i;
  return -1;
}
