/* lines.h: text from any source, a line at a time and a field at a time, in constant memory. Private to the library. */
#ifndef PSDMP_TABLE_LINES_H
#define PSDMP_TABLE_LINES_H

#include "base/base.h"
#include "psdm/csv.h"

typedef enum psdmp_table_line {
  PSDMP_TABLE_LINE_TEXT,   /* a line */
  PSDMP_TABLE_LINE_NUL,    /* a line with a NUL byte; length is what stands before it */
  PSDMP_TABLE_LINE_LONG,   /* a line longer than PSDM_CSV_LINE; the next call passes over what is left of it */
  PSDMP_TABLE_LINE_END,    /* the end of the text */
  PSDMP_TABLE_LINE_FAILED, /* the source failed; errno says why */
} psdmp_table_line;

/* Zero-initialise with read, user and buffer set. */
typedef struct psdmp_table_lines {
  psdm_csv_read read;
  void *user;
  char *buffer;       /* (PSDM_CSV_LINE + 1) */
  size_t begin, used; /* unread part of buffer */
  long line;          /* number of the line that was read last */
  long long bytes;    /* taken from the source so far */
  bool end;           /* the source is exhausted */
  bool skip;          /* what comes next is the rest of a line that was too long */
  bool open;          /* the line that was read last has no end: it is the last, and may have been cut off */
} psdmp_table_lines;

/* The next line without its end and without a byte order mark, terminated in place. */
psdmp_table_line psdmp_table_lines_next(psdmp_table_lines *lines, char **text, size_t *length);

/* The field that begins at *at, trimmed of blanks; *at moves behind the separator, to NULL at the last field. A
 * separator that stands between quotes separates nothing. The separator ' ' stands for any run of blanks. */
const char *psdmp_table_take_field(char **at, char separator, size_t *length);

/* Reads a field that is no number: false where it is wrong. */
typedef bool (*psdmp_table_word)(void *user, int column, const char *text, size_t length, double *value);

/* psdm_csv_row with such a reader; NULL: numbers alone. */
psdm_status psdmp_table_csv_row(psdm_csv *csv, psdmp_table_word word, void *user, double *values, bool *more,
                                psdm_error *error);

#endif
