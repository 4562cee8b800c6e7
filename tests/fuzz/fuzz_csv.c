/* fuzz_csv.c: any bytes as a CSV file, read whole and read in small pieces: both must give the same answer. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/csv.h"

typedef struct source {
  const uint8_t *at;
  size_t left, piece;
} source;

/* the outcome of a reading */
typedef struct outcome {
  psdm_status status;
  psdm_error error;
  int columns;
  long rows;
  uint64_t hash; /* of all values */
} outcome;

static void check(int holds) {
  if (!holds) abort();
}

static ptrdiff_t read_piece(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->left < s->piece ? s->left : s->piece;
  if (n > size) n = size;
  memcpy(buffer, s->at, n);
  s->at += n;
  s->left -= n;
  return (ptrdiff_t)n;
}

/* the line buffer of a megabyte is kept from run to run: mapping it again would take nine tenths of the time */
static void *line_buffer;

static void *allocate(void *user, size_t bytes) {
  (void)user;
  if (bytes != PSDM_CSV_LINE + 1) return malloc(bytes);
  if (!line_buffer) line_buffer = malloc(bytes);
  return line_buffer;
}

static void release(void *user, void *memory) {
  (void)user;
  if (memory != line_buffer) free(memory);
}

static const psdm_allocator reusing = {allocate, release, NULL};

static void read_rows(psdm_csv *csv, outcome *o) {
  o->columns = psdm_csv_columns(csv);
  check(o->columns >= 1 && o->columns <= PSDM_CSV_COLUMNS);
  for (int i = 0; i < o->columns; i++) check(psdm_csv_find(csv, psdm_csv_name(csv, i)) == i);
  double *values = malloc(sizeof *values * (size_t)o->columns);
  check(values != NULL);
  bool more = true;
  while (more && !(o->status = psdm_csv_row(csv, values, &more, &o->error)) && more) {
    o->rows++;
    for (int i = 0; i < o->columns; i++) {
      uint64_t bits;
      check(isfinite(values[i]));
      memcpy(&bits, &values[i], sizeof bits);
      o->hash = (o->hash ^ bits) * 0x100000001B3u;
    }
  }
  free(values);
}

static outcome read_all(const uint8_t *data, size_t size, size_t piece) {
  outcome o = {.error = {.line = -1}};
  source s = {data, size, piece};
  psdm_csv *csv;
  o.status = psdm_csv_open_source(read_piece, &s, "fuzz.csv", &reusing, &csv, &o.error);
  check(!csv == !!o.status);
  if (csv) read_rows(csv, &o);
  psdm_csv_close(csv);
  if (o.status) {
    check(o.error.status == o.status && o.error.line >= 0 && o.error.column >= 0 && o.error.text[0]);
    for (const unsigned char *c = (const unsigned char *)o.error.text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
  }
  return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  outcome whole = read_all(data, size, SIZE_MAX), pieces = read_all(data, size, 1 + size % 7);
  check(whole.status == pieces.status && whole.columns == pieces.columns && whole.rows == pieces.rows &&
        whole.hash == pieces.hash);
  check(whole.error.line == pieces.error.line && whole.error.column == pieces.error.column);
  check(strcmp(whole.error.text, pieces.error.text) == 0);
  return 0;
}
