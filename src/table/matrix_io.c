/* matrix_io.c: a table of numbers as text, one row per line; .mat files go to matrix_mat_io.c. */
#include "table/table.h"

#include <string.h>

#include "document/document.h"

static const char BLANKS[] = " \t,;\r";

/* appends the numbers of one line to *value; -1 at the first word that is not a number, its place in *column */
static int take_line(const char *line, double *value, int room, int *column) {
  int count = 0;
  for (const char *at = line;;) {
    at += strspn(at, BLANKS);
    size_t length = strcspn(at, " \t,;\r");
    if (!length) return count;
    *column = (int)(at - line) + 1;
    if (count == room || !psdmp_base_parse_number(at, length, &value[count])) return -1;
    count++;
    at += length;
  }
}

static psdm_status read_text(const char *path, psdmp_base_arena *arena, psdmp_table_matrix *m, psdm_error *error) {
  char *text;
  size_t length;
  psdm_status status = psdmp_document_file_read(path, PSDMP_DOCUMENT_DOC_BYTES, arena, &text, &length, error);
  if (status) return status;
  if (memchr(text, 0, length))
    return psdmp_base_fail(error, PSDM_E_PARSE, path, 0, 0, "a NUL byte; this is not a text file");
  /* a number takes at least two characters */
  m->value = psdmp_base_arena_alloc(arena, sizeof(double) * (length / 2 + 1));
  if (!m->value) return psdmp_base_no_memory(path, error);
  int line = 0, used = 0, column = 0;
  for (char *at = text, *next; at; at = next) {
    next = strchr(at, '\n');
    if (next) *next++ = '\0';
    line++;
    at[strcspn(at, "#%")] = '\0';
    int found = take_line(at, m->value + used, (int)(length / 2 + 1) - used, &column);
    if (found < 0 && !m->rows && line == 1) continue; /* a header */
    if (found < 0)
      return psdmp_base_fail(error, PSDM_E_PARSE, path, line, column, "a finite decimal number was expected");
    if (!found) continue;
    if (m->rows && found != m->columns)
      return psdmp_base_fail(error, PSDM_E_PARSE, path, line, 0, "%d numbers; the rows above have %d", found,
                             m->columns);
    m->columns = found;
    m->rows++;
    used += found;
  }
  return m->rows ? PSDM_OK : psdmp_base_fail(error, PSDM_E_PARSE, path, 0, 0, "found no numbers; a table was expected");
}

bool psdmp_table_matrix_fits(size_t rows, size_t columns, size_t bytes_each, unsigned long long held) {
  enum { PACKED = 1032 };
  if (!rows || !columns) return true;
  return (double)rows * (double)columns * (double)bytes_each <= (double)PACKED * (double)held;
}

psdm_status psdmp_table_matrix_read(const char *path, const char *const *names, psdmp_base_arena *arena,
                                    psdmp_table_matrix *m, psdm_error *error) {
  size_t n = strlen(path);
  *m = (psdmp_table_matrix){0, 0, NULL};
  if (n > 4 && strcmp(path + n - 4, ".mat") == 0) return psdmp_table_matrix_read_mat(path, names, arena, m, error);
  return read_text(path, arena, m, error);
}
