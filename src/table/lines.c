/* lines.c: lines from a buffer that is refilled, and fields from lines. */
#include "table/table.h"

#include <limits.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* counts and trims the line of *length bytes at the start of the unread part */
static psdmp_table_line cut(psdmp_table_lines *s, bool ended, char **text, size_t *length) {
  char *from = s->buffer + s->begin;
  s->begin += *length + ended;
  s->open = !ended;
  if (s->line < LONG_MAX) s->line++;
  const char *nul = memchr(from, 0, *length);
  if (nul) {
    *text = from;
    *length = (size_t)(nul - from);
    return PSDMP_TABLE_LINE_NUL;
  }
  if (*length && from[*length - 1] == '\r') --*length;
  from[*length] = '\0';
  if (s->line == 1 && strncmp(from, "\xEF\xBB\xBF", 3) == 0) from += 3, *length -= 3; /* byte order mark */
  *text = from;
  return PSDMP_TABLE_LINE_TEXT;
}

/* makes room, then reads more at the end */
static bool read_more(psdmp_table_lines *s) {
  size_t left = s->used - s->begin;
  memmove(s->buffer, s->buffer + s->begin, left);
  s->begin = 0;
  s->used = left;
  ptrdiff_t got = s->read(s->user, s->buffer + left, PSDM_CSV_LINE - left);
  if (got < 0) return false;
  s->end = got == 0;
  s->used += (size_t)got;
  s->bytes += got;
  return true;
}

/* skips the rest of a line that was too long */
static bool pass_over(psdmp_table_lines *s) {
  for (;;) {
    char *from = s->buffer + s->begin, *stop = memchr(from, '\n', s->used - s->begin);
    s->begin = stop ? (size_t)(stop + 1 - s->buffer) : s->used;
    if (stop || s->end) {
      s->skip = false;
      return true;
    }
    if (!read_more(s)) return false;
  }
}

psdmp_table_line psdmp_table_lines_next(psdmp_table_lines *s, char **text, size_t *length) {
  *text = NULL;
  *length = 0;
  if (s->skip && !pass_over(s)) return PSDMP_TABLE_LINE_FAILED;
  for (size_t seen = 0;;) {
    char *from = s->buffer + s->begin, *stop = memchr(from + seen, '\n', s->used - s->begin - seen);
    if (stop || (s->end && s->used > s->begin)) {
      *length = stop ? (size_t)(stop - from) : s->used - s->begin;
      return cut(s, stop != NULL, text, length);
    }
    if (s->end) return PSDMP_TABLE_LINE_END;
    seen = s->used - s->begin;
    if (seen == PSDM_CSV_LINE) {
      s->begin = s->used;
      s->skip = true;
      if (s->line < LONG_MAX) s->line++;
      return PSDMP_TABLE_LINE_LONG;
    }
    if (!read_more(s)) return PSDMP_TABLE_LINE_FAILED;
  }
}

/* end of the field at from: at the separator, or at the end of the line */
static char *field_end(char *from, char separator) {
  if (separator == ' ') return from + strcspn(from, " \t");
  char *stop = strchr(from, separator);
  return stop ? stop : from + strlen(from);
}

const char *psdmp_table_take_field(char **at, char separator, size_t *length) {
  char *from = *at;
  while (is_blank(*from) && (separator == ' ' || *from != separator)) from++;
  /* quotes protect what is between them, if the field ends after the second one */
  char *quote = *from == '"' ? strchr(from + 1, '"') : NULL, *stop = field_end(quote ? quote + 1 : from, separator);
  char *behind = stop;
  while (separator == ' ' && is_blank(*behind)) behind++;
  *at = separator == ' ' ? (*behind ? behind : NULL) : (*stop ? stop + 1 : NULL);
  while (stop > from && is_blank(stop[-1])) stop--;
  *length = (size_t)(stop - from);
  return from;
}
