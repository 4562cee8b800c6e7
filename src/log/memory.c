/* memory.c: logs in memory: the caller's columns, row by row. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/log_priv.h"
#include "psdm/csv.h"

typedef struct memory_log {
  const psdm_allocator *allocator;
  const psdm_log_table *table;
  bool numbered;
  int count; /* columns that are needed, and which */
  const int *place;
  long at;
} memory_log;

const psdm_log_table *psdmp_log_in_memory(const char *path, const psdm_log_options *options) {
  for (long k = 0; options && k < options->tables; k++)
    if (strcmp(options->table[k].name, path) == 0) return &options->table[k];
  return NULL;
}

void psdmp_log_row_spoil(psdmp_log_row *row, const char *name, int column, double value) {
  char quoted[64];
  if (row->bad) return;
  row->bad = true;
  row->fault = PSDM_FAULT_NAN;
  const char *what = isnan(value) ? "nan" : "infinite";
  if (name)
    snprintf(row->sentence, sizeof row->sentence, "%s is %s",
             psdmp_base_quote(name, strlen(name), quoted, sizeof quoted), what);
  else snprintf(row->sentence, sizeof row->sentence, "field %d is %s", column + 1, what);
}

static psdm_status select_columns(void *self, int count, const int *place, psdm_error *error) {
  memory_log *log = self;
  (void)error;
  log->count = count;
  log->place = place;
  return PSDM_OK;
}

static psdm_status next(void *self, double *values, psdmp_log_row *row, psdm_error *error) {
  memory_log *log = self;
  const psdm_log_table *t = log->table;
  (void)error;
  *row = (psdmp_log_row){.line = log->at + 1, .index = log->at, .place = log->at, .end = log->at == t->rows};
  if (row->end) return PSDM_OK;
  for (int k = 0; k < log->count; k++) {
    int c = log->place[k];
    if (c < 0) continue;
    values[k] = t->column[c][log->at * t->stride[c]];
    if (!isfinite(values[k])) psdmp_log_row_spoil(row, log->numbered ? NULL : t->names[c], c, values[k]);
  }
  log->at++;
  return PSDM_OK;
}

static psdm_status rewind_memory(void *self, psdm_error *error) {
  memory_log *log = self;
  (void)error;
  log->at = 0;
  return PSDM_OK;
}

static psdm_status seek_memory(void *self, long long place, long line, long index, psdm_error *error) {
  memory_log *log = self;
  (void)line, (void)index;
  if (place < 0 || place > log->table->rows)
    return psdmp_base_fail(error, PSDM_E_IO, log->table->name, 0, 0, "changed while it was read");
  log->at = (long)place;
  return PSDM_OK;
}

static void progress(const void *self, long long *bytes, long long *size) {
  const memory_log *log = self;
  *bytes = (long long)log->at * log->count * (long long)sizeof(double);
  *size = (long long)log->table->rows * log->count * (long long)sizeof(double);
}

static void close_memory(void *self) {
  memory_log *log = self;
  psdmp_base_free(log->allocator, log);
}

psdm_status psdmp_log_memory_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  const psdm_log_table *t = request->table;
  *source = (psdmp_log_source){0};
  if (t->rows < 1 || t->columns < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, request->file, 0, 0,
                           "%ld rows of %d columns; at least one of each was expected", t->rows, t->columns);
  if (t->columns > PSDM_CSV_COLUMNS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, request->file, 0, 0, "%d columns; at most %d are read", t->columns,
                           PSDM_CSV_COLUMNS);
  memory_log *log = psdmp_base_alloc(request->allocator, sizeof *log);
  if (!log) return psdmp_base_no_memory(request->file, error);
  *log = (memory_log){.allocator = request->allocator, .table = t, .numbered = request->numbered};
  *source = (psdmp_log_source){.self = log,
                               .word = "row",
                               .column = "column",
                               .columns = t->columns,
                               .names = t->names,
                               .select = select_columns,
                               .next = next,
                               .rewind = rewind_memory,
                               .seek = seek_memory,
                               .shared = true,
                               .progress = progress,
                               .close = close_memory};
  return PSDM_OK;
}
