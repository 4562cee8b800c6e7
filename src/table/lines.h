/* lines.h: text from any source, a line at a time and a field at a time, in constant memory. Private to the library. */
#ifndef PSDMP_TABLE_LINES_H
#define PSDMP_TABLE_LINES_H

#include "base/base.h"
#include "psdm/csv.h"

typedef enum psdmp_table_line {
  PSDMP_TABLE_LINE_TEXT,   /* a line */
  PSDMP_TABLE_LINE_NUL,    /* a line with a NUL byte; length is that before it */
  PSDMP_TABLE_LINE_LONG,   /* a line longer than PSDM_CSV_LINE; the next call skips the rest of it */
  PSDMP_TABLE_LINE_END,    /* the end of the text */
  PSDMP_TABLE_LINE_FAILED, /* the source failed; errno says why */
} psdmp_table_line;

/* Zero-initialise with read, user and buffer set. */
typedef struct psdmp_table_lines {
  psdm_csv_read read;
  void *user;
  char *buffer;       /* (PSDM_CSV_LINE + 1) */
  size_t begin, used; /* unread part of buffer */
  long line;          /* number of the last line read */
  long long bytes;    /* read from the source so far */
  bool end;           /* the source is exhausted */
  bool skip;          /* the rest of a line that was too long comes next */
  bool open;          /* the last line read has no newline: it is the last, and may be truncated */
} psdmp_table_lines;

/* The next line without its end and without a byte order mark, terminated in place. */
psdmp_table_line psdmp_table_lines_next(psdmp_table_lines *lines, char **text, size_t *length);

/* The field at *at, trimmed of blanks; *at moves past the separator, to NULL at the last field. A separator between
 * quotes does not count. The separator ' ' stands for any run of blanks. */
const char *psdmp_table_take_field(char **at, char separator, size_t *length);

/* Reads a non-numeric field: false if it is invalid. */
typedef bool (*psdmp_table_word)(void *user, int column, const char *text, size_t length, double *value);

/* psdm_csv_row with such a reader; NULL: numbers only. */
psdm_status psdmp_table_csv_row(psdm_csv *csv, psdmp_table_word word, void *user, double *values, bool *more,
                                psdm_error *error);

#endif
