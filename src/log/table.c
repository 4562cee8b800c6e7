/* table.c: the matrices of a file, row by row. A channel is a vector (q1), or a column or row of a matrix (q). */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/log_priv.h"

enum { MOST_VARIABLES = 1 << 16 };

struct psdmp_log_table {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const char *file;
  void *handle;
  const psdmp_log_format *format;
  int n;
  bool numbered;
  int variables;
  long room;
  psdmp_log_variable *variable;
  const char **names; /* (columns) */
  int columns;
  int *owner; /* (columns) the variable of a column */
  /* once columns are selected */
  int count;
  const int *place;
  size_t samples, at, first, loaded; /* in all; next; those in the blocks */
};

psdm_status psdmp_log_table_new(const psdmp_log_request *request, void *file, const psdmp_log_format *format,
                                psdmp_log_table **out, psdm_error *error) {
  psdmp_log_table *table = psdmp_base_alloc(request->allocator, sizeof *table);
  *out = table;
  if (!table) {
    format->close(file);
    return psdmp_base_no_memory(request->file, error);
  }
  table->allocator = table->arena.allocator = request->allocator;
  table->file = request->file;
  table->handle = file;
  table->format = format;
  table->n = request->n;
  table->numbered = request->numbered;
  return PSDM_OK;
}

psdmp_base_arena *psdmp_log_table_arena(psdmp_log_table *table) { return &table->arena; }

void psdmp_log_table_close(psdmp_log_table *table) {
  if (!table) return;
  for (int v = 0; v < table->variables; v++) table->format->forget(table->handle, &table->variable[v]);
  table->format->close(table->handle);
  psdmp_base_arena_free(&table->arena);
  psdmp_base_free(table->allocator, table);
}

psdm_status psdmp_log_table_add(psdmp_log_table *table, const char *name, size_t rows, size_t columns, void *handle,
                                psdm_error *error) {
  if (table->variables == MOST_VARIABLES)
    return psdmp_base_fail(error, PSDM_E_LIMIT, table->file, 0, 0,
                           "more than %d numeric variables; a log has a few for each joint", MOST_VARIABLES);
  char *copy = psdmp_base_arena_text(&table->arena, name, strlen(name));
  if (!copy || !psdmp_base_arena_room(&table->arena, &table->variable, table->variables, 1, &table->room,
                                      sizeof *table->variable))
    return psdmp_base_no_memory(table->file, error);
  table->variable[table->variables++] =
      (psdmp_log_variable){.name = copy, .rows = rows, .columns = columns, .handle = handle};
  return PSDM_OK;
}

/* ---- columns ---- */

/* named like a group: a matrix with a column or a row for each joint */
static bool is_group(const psdmp_log_table *table, const psdmp_log_variable *v) {
  return !table->numbered && psdmp_log_group_find(v->name, strlen(v->name)) &&
         (v->columns == (size_t)table->n || v->rows == (size_t)table->n);
}

/* orientation of a variable, and its number of channels */
static void lay(const psdmp_log_table *table, psdmp_log_variable *v) {
  size_t n = (size_t)table->n;
  v->upright = true;
  v->wide = 1;
  if (table->numbered) v->wide = v->columns > PSDM_CSV_COLUMNS ? PSDM_CSV_COLUMNS : (int)v->columns;
  else if (is_group(table, v) && n > 1) {
    v->upright = v->columns == n;
    v->wide = table->n;
  } else v->upright = v->rows >= v->columns;
}

static psdm_status name_columns(psdmp_log_table *table, psdm_error *error) {
  size_t total = 0;
  for (int v = 0; v < table->variables; v++) {
    lay(table, &table->variable[v]);
    table->variable[v].first = (int)total;
    total += (size_t)table->variable[v].wide;
    if (total > PSDM_CSV_COLUMNS)
      return psdmp_base_fail(error, PSDM_E_LIMIT, table->file, 0, 0, "more than %d columns", PSDM_CSV_COLUMNS);
  }
  table->columns = (int)total;
  table->names = psdmp_base_arena_alloc(&table->arena, sizeof *table->names * (total + 1));
  table->owner = psdmp_base_arena_alloc(&table->arena, sizeof *table->owner * (total + 1));
  if (!table->names || !table->owner) return psdmp_base_no_memory(table->file, error);
  for (int v = 0; v < table->variables; v++) {
    const psdmp_log_variable *var = &table->variable[v];
    bool group = is_group(table, var);
    if (!group && !table->numbered && psdmp_log_group_find(var->name, strlen(var->name)))
      return psdmp_base_fail(error, PSDM_E_PARSE, table->file, 0, 0,
                             "variable '%s' is %zu by %zu; a column or a row for each of %d joints was expected",
                             var->name, var->rows, var->columns, table->n);
    for (int k = 0; k < var->wide; k++) {
      char name[320];
      int length = snprintf(name, sizeof name, group ? "%.250s%d" : "%.250s", var->name, k + 1);
      table->names[var->first + k] = psdmp_base_arena_text(&table->arena, name, (size_t)length);
      table->owner[var->first + k] = v;
      if (!table->names[var->first + k]) return psdmp_base_no_memory(table->file, error);
    }
  }
  return PSDM_OK;
}

static size_t samples_of(const psdmp_log_variable *v) { return v->upright ? v->rows : v->columns; }

static psdm_status select_columns(void *self, int count, const int *place, psdm_error *error) {
  psdmp_log_table *table = self;
  const psdmp_log_variable *first = NULL;
  char a[64], b[64];
  table->count = count;
  table->place = place;
  for (int k = 0; k < count; k++) {
    if (place[k] < 0) continue;
    psdmp_log_variable *v = &table->variable[table->owner[place[k]]];
    /* a matrix that is neither a group nor a vector got one column by its name */
    if (!table->numbered && v->wide == 1 && v->rows > 1 && v->columns > 1)
      return psdmp_base_fail(error, PSDM_E_PARSE, table->file, 0, 0,
                             "variable '%s' is %zu by %zu; a vector was expected",
                             psdmp_base_quote(v->name, strlen(v->name), a, sizeof a), v->rows, v->columns);
    if (first && samples_of(v) != samples_of(first))
      return psdmp_base_fail(error, PSDM_E_PARSE, table->file, 0, 0, "'%s' has %zu samples, '%s' %zu",
                             psdmp_base_quote(first->name, strlen(first->name), a, sizeof a), samples_of(first),
                             psdmp_base_quote(v->name, strlen(v->name), b, sizeof b), samples_of(v));
    if (!first) first = v;
    if (!v->block)
      v->block = psdmp_base_arena_alloc_raw(&table->arena, sizeof(double) * 2 * PSDMP_LOG_BLOCK * (size_t)v->wide);
    if (!v->block) return psdmp_base_no_memory(table->file, error);
  }
  table->samples = first ? samples_of(first) : 0;
  return PSDM_OK;
}

/* ---- rows ---- */

static psdm_status load(psdmp_log_table *table, psdm_error *error) {
  size_t left = table->samples - table->at, count = left < PSDMP_LOG_BLOCK ? left : PSDMP_LOG_BLOCK;
  char name[64];
  for (int v = 0; v < table->variables; v++) {
    psdmp_log_variable *var = &table->variable[v];
    if (var->block && !table->format->load(table->handle, var, table->at, count))
      return psdmp_base_fail(error, PSDM_E_IO, table->file, 0, 0, "variable '%s' cannot be read",
                             psdmp_base_quote(var->name, strlen(var->name), name, sizeof name));
  }
  table->first = table->at;
  table->loaded = count;
  return PSDM_OK;
}

static psdm_status next(void *self, double *values, psdmp_log_row *row, psdm_error *error) {
  psdmp_log_table *table = self;
  long number = table->at < (size_t)LONG_MAX ? (long)table->at : LONG_MAX - 1;
  *row = (psdmp_log_row){.line = number + 1, .index = number, .place = number, .end = table->at == table->samples};
  if (row->end) return PSDM_OK;
  psdm_status status = table->at >= table->first + table->loaded ? load(table, error) : PSDM_OK;
  if (status) return status;
  for (int k = 0; k < table->count; k++) {
    if (table->place[k] < 0) continue;
    const psdmp_log_variable *v = &table->variable[table->owner[table->place[k]]];
    values[k] = v->block[(table->at - table->first) * (size_t)v->wide + (size_t)(table->place[k] - v->first)];
    if (!isfinite(values[k]))
      psdmp_log_row_spoil(row, table->numbered ? NULL : table->names[table->place[k]], table->place[k], values[k]);
  }
  table->at++;
  return PSDM_OK;
}

static psdm_status rewind_table(void *self, psdm_error *error) {
  psdmp_log_table *table = self;
  (void)error;
  table->at = table->first = table->loaded = 0;
  return PSDM_OK;
}

static psdm_status seek_table(void *self, long long place, long line, long index, psdm_error *error) {
  psdmp_log_table *table = self;
  (void)line, (void)index;
  if (place < 0 || (unsigned long long)place > table->samples)
    return psdmp_base_fail(error, PSDM_E_IO, table->file, 0, 0, "changed while it was read");
  table->at = (size_t)place;
  table->first = table->loaded = 0;
  return PSDM_OK;
}

/* as if a row were stored in one piece */
static void progress(const void *self, long long *bytes, long long *size) {
  const psdmp_log_table *table = self;
  *bytes = (long long)table->at * table->count * (long long)sizeof(double);
  *size = (long long)table->samples * table->count * (long long)sizeof(double);
}

static void close_table(void *self) { psdmp_log_table_close(self); }

psdm_status psdmp_log_table_source(psdmp_log_table *table, psdmp_log_source *source, psdm_error *error) {
  psdm_status status = PSDM_OK;
  if (!table->variables)
    status = psdmp_base_fail(error, PSDM_E_PARSE, table->file, 0, 0,
                             "no numeric vector or matrix is in it; a log was expected");
  else if (table->numbered && table->variables != 1)
    status = psdmp_base_fail(error, PSDM_E_PARSE, table->file, 0, 0,
                             "%d vectors and matrices; columns by number need one matrix alone", table->variables);
  if (!status) status = name_columns(table, error);
  if (status) psdmp_log_table_close(table);
  else
    *source = (psdmp_log_source){.self = table,
                                 .word = "row",
                                 .column = table->numbered ? "column" : "variable",
                                 .columns = table->columns,
                                 .names = table->names,
                                 .select = select_columns,
                                 .next = next,
                                 .rewind = rewind_table,
                                 .seek = seek_table,
                                 .progress = progress,
                                 .close = close_table};
  return status;
}
