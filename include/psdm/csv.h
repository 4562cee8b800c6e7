/* psdm/csv.h: rows of numbers from text, streamed in constant memory.
 *
 * A header row of names, then rows of finite C-locale decimals, separated by commas. Blank lines and
 * lines that begin with # are skipped. Anything else is refused with file:line:column. */
#ifndef PSDM_CSV_H
#define PSDM_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/alloc.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_csv psdm_csv;

enum { PSDM_CSV_LINE = 1 << 20, PSDM_CSV_COLUMNS = 1 << 16 }; /* longest line in bytes, most columns */

/* Fills buffer with up to size bytes; 0 at the end, -1 on failure (errno says why). */
typedef ptrdiff_t (*psdm_csv_read)(void *user, char *buffer, size_t size);

/* Opens path ("-" is standard input) and reads the header. Allocates; free with psdm_csv_close. */
PSDM_API psdm_status psdm_csv_open(const char *path, const psdm_allocator *allocator, psdm_csv **csv,
                                   psdm_error *error);

/* The same from any source; name is used in messages. */
PSDM_API psdm_status psdm_csv_open_source(psdm_csv_read read, void *user, const char *name,
                                          const psdm_allocator *allocator, psdm_csv **csv, psdm_error *error);

PSDM_API int psdm_csv_columns(const psdm_csv *csv);
PSDM_API const char *psdm_csv_name(const psdm_csv *csv, int column); /* NULL when out of range */
PSDM_API int psdm_csv_find(const psdm_csv *csv, const char *name);   /* column, or -1 */
PSDM_API const char *psdm_csv_file(const psdm_csv *csv);
PSDM_API int psdm_csv_header_line(const psdm_csv *csv);
PSDM_API int psdm_csv_line(const psdm_csv *csv);        /* of the last row read */
PSDM_API long long psdm_csv_bytes(const psdm_csv *csv); /* read so far */

/* PSDM_OK if all rows, at `bytes` bytes each, fit in memory (0: half of the machine's); else PSDM_E_LIMIT with the
 * number. Estimated before reading, from the size of the file and the line lengths in its first megabyte; a pipe always
 * passes. */
PSDM_API psdm_status psdm_csv_fits(const psdm_csv *csv, size_t bytes, size_t memory, psdm_error *error);

/* Next row into values (one per column). *more is false, with PSDM_OK, at the end. Does not allocate. */
PSDM_API psdm_status psdm_csv_row(psdm_csv *csv, double *values, bool *more, psdm_error *error);

PSDM_API void psdm_csv_close(psdm_csv *csv); /* accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
