/* text_io.c: logs as text, compressed or not. Invalid rows are reported and skipped. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/table.h"
#include "log/bag_priv.h"
#include "log/log_priv.h"

enum { PEEK = 520 }; /* MATLAB's own header is 512 bytes long, and HDF5's eight may follow it */

typedef struct text_log {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const char *file;
  /* bytes: from a file, or from the caller */
  int fd;       /* -1: the caller's */
  bool owned;   /* close the file at the end */
  bool regular; /* and can be read again from its start */
  long long size;
  psdm_csv_read read;
  void *user;
  size_t peeked, given;
  char peek[PEEK];
  psdmp_log_gunzip *gunzip;
  psdmp_table_lines lines;
  /* results of the first lines */
  char separator;
  bool trailing; /* every row ends with a separator */
  int header_line, columns;
  long before; /* rows start after this line */
  const char **names;
  int *target; /* (columns) where a column's number goes, -1: nowhere */
  /* the first row, if there is no header: already read */
  char *pending;
  long index; /* rows so far */
  bool told;  /* that the compressed file is truncated */
} text_log;

/* ---- bytes ---- */

static ptrdiff_t read_bytes(void *user, char *buffer, size_t size) {
  text_log *log = user;
  if (log->given < log->peeked) {
    size_t n = log->peeked - log->given < size ? log->peeked - log->given : size;
    memcpy(buffer, log->peek + log->given, n);
    log->given += n;
    return (ptrdiff_t)n;
  }
  if (log->fd < 0) return log->read(log->user, buffer, size);
  for (;;) {
    ssize_t got = read(log->fd, buffer, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

static psdm_status fail_read(const text_log *log, psdm_error *error) {
  int why = errno, line = log->lines.line < INT_MAX ? (int)log->lines.line + 1 : INT_MAX;
  int state = log->gunzip ? psdmp_log_gunzip_state(log->gunzip) : 0;
  if (state == PSDMP_LOG_GUNZIP_DAMAGED)
    return psdmp_base_fail(error, PSDM_E_IO, log->file, line, 0,
                           "the compressed data is damaged; none of it can be trusted");
  if (state == PSDMP_LOG_GUNZIP_MISSING)
    return psdmp_base_lacks(log->file, "compressed logs need", "zlib", "zlib1g-dev", error);
  if (why == ENOMEM) return psdmp_base_no_memory(log->file, error);
  return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "cannot be read: %s", strerror(why));
}

/* ---- fields ---- */

static const char *unquote(const char *field, size_t *length) {
  if (*length < 2 || field[0] != '"' || field[*length - 1] != '"') return field;
  *length -= 2;
  field++;
  while (*length && (*field == ' ' || *field == '\t')) field++, --*length;
  while (*length && (field[*length - 1] == ' ' || field[*length - 1] == '\t')) --*length;
  return field;
}

/* how programs write non-finite numbers */
static bool not_a_number(const char *field, size_t length) {
  static const char *const words[] = {"nan", "inf", "infinity", "na", "nan(ind)", NULL};
  if (length && (*field == '-' || *field == '+')) field++, length--;
  for (int i = 0; words[i]; i++)
    if (strlen(words[i]) == length && strncasecmp(field, words[i], length) == 0) return true;
  return false;
}

static int count_fields(char *line, char separator, size_t *last) {
  int count = 0;
  for (char *at = line; at; count++) psdmp_table_take_field(&at, separator, last);
  return count;
}

/* the most frequent separator of a line; blanks if there is none. Between numbers, commas are decimal ones if the line
 * also has semicolons or tabs. */
static char find_separator(const char *line) {
  static const char candidates[] = ";\t,";
  char best = ' ';
  int most = 0;
  bool numbers = !line[strspn(line, "0123456789+-.,eE; \t")];
  for (const char *c = candidates; *c; c++) {
    int count = 0;
    if (*c == ',' && most && numbers) break;
    for (const char *at = line; (at = strchr(at, *c)); at++) count++;
    if (count > most) most = count, best = *c;
  }
  return best;
}

/* "1,5" where commas are not separators */
static bool parse_comma(char separator, const char *field, size_t length, double *value) {
  char copy[64];
  const char *comma = separator == ',' ? NULL : memchr(field, ',', length);
  if (!comma || length >= sizeof copy) return false;
  memcpy(copy, field, length);
  copy[comma - field] = '.';
  return psdmp_base_parse_number(copy, length, value);
}

static bool begins_with_number(char *line, char separator) {
  size_t length;
  double value;
  const char *field = psdmp_table_take_field(&line, separator, &length);
  field = unquote(field, &length);
  return psdmp_base_parse_number(field, length, &value) || not_a_number(field, length) ||
         parse_comma(separator, field, length, &value);
}

/* ---- the first lines ---- */

static psdm_status take_names(text_log *log, char *line, psdm_error *error) {
  int column = 0;
  log->names = psdmp_base_arena_alloc(&log->arena, sizeof *log->names * (size_t)log->columns);
  if (!log->names) return psdmp_base_no_memory(log->file, error);
  for (char *at = line; at && column < log->columns; column++) {
    size_t length;
    const char *field = psdmp_table_take_field(&at, log->separator, &length);
    field = unquote(field, &length);
    log->names[column] = psdmp_base_arena_text(&log->arena, field, length);
    if (!log->names[column]) return psdmp_base_no_memory(log->file, error);
  }
  return PSDM_OK;
}

static psdm_status size_up(text_log *log, char *line, psdm_error *error) {
  size_t last;
  log->separator = find_separator(line);
  log->columns = count_fields(line, log->separator, &last);
  log->trailing = log->columns > 1 && !last;
  log->columns -= log->trailing;
  if (log->columns > PSDM_CSV_COLUMNS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, log->file, (int)log->lines.line, 1, "%d columns; at most %d are read",
                           log->columns, PSDM_CSV_COLUMNS);
  return PSDM_OK;
}

/* a comment right above numbers may be their header: some programs write it that way */
static psdm_status try_comment(text_log *log, char *comment, psdm_error *error) {
  size_t last;
  if (!comment || find_separator(comment) != log->separator ||
      count_fields(comment, log->separator, &last) != log->columns)
    return PSDM_OK;
  return take_names(log, comment, error);
}

static psdm_status first_line(text_log *log, char *line, char *comment, bool numbered, psdm_error *error) {
  psdm_status status = size_up(log, line, error);
  if (status) return status;
  if (begins_with_number(line, log->separator)) {
    log->pending = line;
    log->before = log->lines.line - 1;
    return numbered ? PSDM_OK : try_comment(log, comment, error);
  }
  log->before = log->lines.line;
  log->header_line = (int)log->lines.line;
  return take_names(log, line, error);
}

/* keeps a copy of the last comment, without its mark */
static psdm_status keep_comment(text_log *log, const char *line, char **comment, psdm_error *error) {
  line += strspn(line, "#% \t");
  size_t length = strlen(line);
  psdmp_base_free(log->allocator, *comment);
  *comment = psdmp_base_alloc_raw(log->allocator, length + 1);
  if (!*comment) return psdmp_base_no_memory(log->file, error);
  memcpy(*comment, line, length + 1);
  return PSDM_OK;
}

static bool is_comment(const char *line) { return *line == '#' || *line == '%'; }

static psdm_status read_head(text_log *log, bool numbered, psdm_error *error) {
  char *line, *comment = NULL;
  size_t length;
  psdm_status status = PSDM_OK;
  for (bool more = true; more && !status;) {
    int number;
    psdmp_table_line kind = psdmp_table_lines_next(&log->lines, &line, &length);
    number = log->lines.line < INT_MAX ? (int)log->lines.line : INT_MAX;
    if (kind == PSDMP_TABLE_LINE_FAILED) status = fail_read(log, error);
    else if (kind == PSDMP_TABLE_LINE_END)
      status = psdmp_base_fail(
          error, PSDM_E_PARSE, log->file, 0, 0,
          log->lines.bytes ? "it contains only comments; a log was expected" : "the file is empty; a log was expected");
    else if (kind != PSDMP_TABLE_LINE_TEXT)
      status = psdmp_base_fail(error, PSDM_E_PARSE, log->file, number, 0,
                               "not a log: it is neither text, gzip, MATLAB (5 or 7.3), HDF5 nor a ROS 2 bag");
    else if (line[strspn(line, " \t")] && !is_comment(line)) {
      status = first_line(log, line, comment, numbered, error);
      more = false;
    } else if (is_comment(line)) status = keep_comment(log, line, &comment, error);
  }
  psdmp_base_free(log->allocator, comment);
  return status;
}

/* ---- rows ---- */

static void spoil(psdmp_log_row *row, psdm_fault fault) {
  row->bad = true;
  row->fault = fault;
}

static void spoil_field(psdmp_log_row *row, int column, const char *field, size_t length) {
  char quoted[64];
  if (row->bad) return; /* the first error is reported */
  spoil(row, !length || not_a_number(field, length) ? PSDM_FAULT_NAN : PSDM_FAULT_GARBAGE);
  if (length)
    snprintf(row->sentence, sizeof row->sentence, "field %d is '%s'", column + 1,
             psdmp_base_quote(field, length, quoted, sizeof quoted));
  else snprintf(row->sentence, sizeof row->sentence, "field %d is empty", column + 1);
}

static void parse_row(const text_log *log, char *line, double *values, psdmp_log_row *row) {
  int count = 0;
  size_t length = 0;
  for (char *at = line; at; count++) {
    const char *field = psdmp_table_take_field(&at, log->separator, &length);
    int target = count < log->columns ? log->target[count] : -1;
    if (target < 0) continue;
    field = unquote(field, &length);
    if (psdmp_base_parse_number(field, length, &values[target])) continue;
    if (parse_comma(log->separator, field, length, &values[target])) row->comma = true;
    else spoil_field(row, count, field, length);
  }
  if (log->trailing && count == log->columns + 1 && !length) count--;
  if (count == log->columns) return;
  spoil(row, PSDM_FAULT_SHORT);
  snprintf(row->sentence, sizeof row->sentence, "%d field%s; %d were expected%s", count, count == 1 ? "" : "s",
           log->columns,
           log->separator == ',' && 2 * count > 3 * log->columns
               ? " (decimal commas look like field separators: separate fields by semicolons)"
               : "");
}

static void spoil_line(psdmp_log_row *row, const char *sentence) {
  spoil(row, PSDM_FAULT_GARBAGE);
  snprintf(row->sentence, sizeof row->sentence, "%s", sentence);
}

/* the end, after reporting that the compressed stream was truncated */
static void reach_end(text_log *log, psdmp_log_row *row) {
  row->end = !psdmp_log_gunzip_cut(log->gunzip) || log->told;
  if (row->end) return;
  log->told = true;
  row->line = log->lines.line + 1;
  spoil_line(row, "the compressed file is truncated: its stream does not end");
}

/* a line cut off within a number would still look like a row */
static bool cut_off(text_log *log) {
  bool cut = log->lines.open && psdmp_log_gunzip_cut(log->gunzip) && !log->told;
  if (cut) log->told = true;
  return cut;
}

static psdm_status next(void *self, double *values, psdmp_log_row *row, psdm_error *error) {
  text_log *log = self;
  for (;;) {
    char *line = log->pending;
    size_t length;
    long long place = line || log->lines.skip ? -1 : log->lines.bytes - (long long)(log->lines.used - log->lines.begin);
    psdmp_table_line kind = line ? PSDMP_TABLE_LINE_TEXT : psdmp_table_lines_next(&log->lines, &line, &length);
    log->pending = NULL;
    *row = (psdmp_log_row){.line = log->lines.line, .index = log->index, .place = place};
    if (kind == PSDMP_TABLE_LINE_FAILED) return fail_read(log, error);
    if (kind == PSDMP_TABLE_LINE_TEXT && (is_comment(line) || !line[strspn(line, " \t")])) continue;
    if (kind == PSDMP_TABLE_LINE_END) reach_end(log, row);
    else if (kind == PSDMP_TABLE_LINE_NUL) spoil_line(row, "a NUL byte");
    else if (kind == PSDMP_TABLE_LINE_LONG)
      snprintf(row->sentence, sizeof row->sentence, "longer than %d bytes", PSDM_CSV_LINE),
          spoil(row, PSDM_FAULT_GARBAGE);
    else if (cut_off(log)) spoil_line(row, "the compressed file is truncated in the middle of this row");
    else parse_row(log, line, values, row);
    log->index += !row->end;
    return PSDM_OK;
  }
}

static psdm_status select_columns(void *self, int count, const int *place, psdm_error *error) {
  text_log *log = self;
  log->target = psdmp_base_arena_alloc(&log->arena, sizeof *log->target * (size_t)log->columns);
  if (!log->target) return psdmp_base_no_memory(log->file, error);
  for (int c = 0; c < log->columns; c++) log->target[c] = -1;
  for (int k = 0; k < count; k++)
    if (place[k] >= 0) log->target[place[k]] = k;
  return PSDM_OK;
}

static psdm_status rewind_text(void *self, psdm_error *error) {
  text_log *log = self;
  char *line;
  size_t length;
  if (!log->regular || lseek(log->fd, 0, SEEK_SET) != 0)
    return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "is a pipe and cannot be read twice");
  log->peeked = log->given = 0;
  psdmp_log_gunzip_restart(log->gunzip);
  log->lines = (psdmp_table_lines){.read = psdmp_log_gunzip_read, .user = log->gunzip, .buffer = log->lines.buffer};
  log->pending = NULL;
  log->index = 0;
  log->told = false;
  while (log->lines.line < log->before) {
    psdmp_table_line kind = psdmp_table_lines_next(&log->lines, &line, &length);
    if (kind == PSDMP_TABLE_LINE_FAILED) return fail_read(log, error);
    if (kind == PSDMP_TABLE_LINE_END) return PSDM_OK;
  }
  return PSDM_OK;
}

/* only if bytes are the text itself */
static psdm_status seek_text(void *self, long long place, long line, long index, psdm_error *error) {
  text_log *log = self;
  if (lseek(log->fd, (off_t)place, SEEK_SET) != (off_t)place)
    return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "cannot be read: %s", strerror(errno));
  log->peeked = log->given = 0;
  psdmp_log_gunzip_restart(log->gunzip);
  log->lines = (psdmp_table_lines){.read = psdmp_log_gunzip_read,
                                   .user = log->gunzip,
                                   .buffer = log->lines.buffer,
                                   .line = line - 1,
                                   .bytes = place};
  log->pending = NULL;
  log->index = index;
  log->told = false;
  return PSDM_OK;
}

static void progress(const void *self, long long *bytes, long long *size) {
  const text_log *log = self;
  *bytes = psdmp_log_gunzip_bytes(log->gunzip);
  *size = log->size;
}

static void close_text(void *self) {
  text_log *log = self;
  if (!log) return;
  if (log->owned) close(log->fd);
  psdmp_log_gunzip_close(log->gunzip);
  psdmp_base_free(log->allocator, log->lines.buffer);
  psdmp_base_arena_free(&log->arena);
  psdmp_base_free(log->allocator, log);
}

/* ---- opening ---- */

static psdm_status open_file(text_log *log, const char *path, psdm_error *error) {
  struct stat info;
  log->owned = strcmp(path, "-") != 0;
  log->fd = log->owned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (log->fd < 0) {
    log->owned = false;
    return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "cannot be opened: %s", strerror(errno));
  }
  if (fstat(log->fd, &info) != 0)
    return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "cannot be read: %s", strerror(errno));
  if (S_ISDIR(info.st_mode))
    return psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "is a directory; a log was expected");
  /* standard input may be a file that has been read in part: it is not read twice */
  log->regular = log->owned && S_ISREG(info.st_mode);
  log->size = S_ISREG(info.st_mode) ? (long long)info.st_size : 0;
  return PSDM_OK;
}

static psdm_status peek(text_log *log, psdm_error *error) {
  while (log->peeked < PEEK) {
    size_t before = log->peeked;
    char bytes[PEEK];
    log->given = log->peeked; /* so that the source itself is read */
    ptrdiff_t got = read_bytes(log, bytes, PEEK - before);
    if (got < 0) return fail_read(log, error);
    if (got == 0) break;
    memcpy(log->peek + before, bytes, (size_t)got);
    log->peeked += (size_t)got;
  }
  log->given = 0;
  return PSDM_OK;
}

typedef psdm_status (*opener)(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);

/* MATLAB 5 files start with text that says so; version 7.3 is HDF5 after 512 bytes of its own. NULL: text */
static opener binary_format(const text_log *log) {
  static const char hdf5[] = "\x89HDF\r\n\x1A\n", matlab[] = "MATLAB 5.0 MAT-file";
  if (log->peeked >= 8 && memcmp(log->peek, hdf5, 8) == 0) return psdmp_log_hdf5_open;
  if (log->peeked >= PEEK && memcmp(log->peek + PEEK - 8, hdf5, 8) == 0) return psdmp_log_hdf5_open;
  if (psdmp_log_is_bag(log->peek, log->peeked)) return psdmp_log_bag_open;
  if (log->peeked >= sizeof matlab - 1 && memcmp(log->peek, matlab, sizeof matlab - 1) == 0) return psdmp_log_mat_open;
  return NULL;
}

static psdm_status open_text(text_log *log, const psdmp_log_request *request, psdmp_log_source *source,
                             psdm_error *error) {
  log->gunzip = psdmp_log_gunzip_open(read_bytes, log, log->allocator);
  log->lines = (psdmp_table_lines){.read = psdmp_log_gunzip_read,
                                   .user = log->gunzip,
                                   .buffer = psdmp_base_alloc_raw(log->allocator, PSDM_CSV_LINE + 1)};
  if (!log->gunzip || !log->lines.buffer) return psdmp_base_no_memory(log->file, error);
  psdm_status status = read_head(log, request->numbered, error);
  if (status) return status;
  bool seeks = log->regular && !psdmp_log_gunzip_compressed(log->gunzip);
  *source = (psdmp_log_source){.self = log,
                               .word = "line",
                               .column = "column",
                               .header_line = log->header_line,
                               .columns = log->columns,
                               .names = log->names,
                               .select = select_columns,
                               .next = next,
                               .rewind = rewind_text,
                               .seek = seeks ? seek_text : NULL,
                               .shared = true,
                               .once = !log->regular,
                               .progress = progress,
                               .close = close_text};
  return PSDM_OK;
}

psdm_status psdmp_log_source_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  if (request->table) return psdmp_log_memory_open(request, source, error);
  if (request->path && psdmp_log_is_bag_folder(request->path)) {
    *source = (psdmp_log_source){0};
    return psdmp_log_bag_open(request, source, error);
  }
  text_log *log = psdmp_base_alloc(request->allocator, sizeof *log);
  *source = (psdmp_log_source){0};
  if (!log) return psdmp_base_no_memory(request->file, error);
  log->allocator = log->arena.allocator = request->allocator;
  log->file = request->file;
  log->fd = -1;
  log->read = request->read;
  log->user = request->user;
  psdm_status status = request->path ? open_file(log, request->path, error) : PSDM_OK;
  if (!status) status = peek(log, error);
  opener binary = status ? NULL : binary_format(log);
  if (binary && !log->regular)
    status = psdmp_base_fail(error, PSDM_E_IO, log->file, 0, 0, "a %s cannot be read from a pipe",
                             binary == psdmp_log_bag_open ? "bag of ROS 2" : "MATLAB or HDF5 file");
  if (!status && request->topic && binary != psdmp_log_bag_open)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, log->file, 0, 0, "a topic was named, but this is not a ROS 2 bag");
  if (!status && !binary) status = open_text(log, request, source, error);
  if (status || binary) close_text(log);
  if (!status && binary) status = binary(request, source, error);
  return status;
}
