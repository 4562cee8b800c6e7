/* psdm/output.h: text files that are complete or absent, and JSON on top.
 *
 * A path is written to a new temporary file beside it, synced to the disk and renamed by psdm_output_commit; "-" is
 * standard output. The first failure is remembered: keep writing, and check once at commit. Numbers are C-locale, 17
 * digits. */
#ifndef PSDM_OUTPUT_H
#define PSDM_OUTPUT_H

#include <stdbool.h>

#include "psdm/alloc.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_output psdm_output;

PSDM_API psdm_status psdm_output_open(const char *path, const psdm_allocator *allocator, psdm_output **output,
                                      psdm_error *error);
/* An output that keeps its text in memory, for psdm_output_kept; psdm_output_abort frees it. */
PSDM_API psdm_status psdm_output_memory(const psdm_allocator *allocator, psdm_output **output);
PSDM_API const char *psdm_output_kept(psdm_output *output); /* so far; NULL when memory ran out */
PSDM_API void psdm_output_text(psdm_output *output, const char *text);
PSDM_API void psdm_output_number(psdm_output *output, double value);
/* "a,b,c" lines, formatted by threads (0: one per processor) */
PSDM_API void psdm_output_rows(psdm_output *output, long rows, int columns, const double *values, int threads);
/* no numbers: use _number */
PSDM_API void psdm_output_print(psdm_output *output, const char *format, ...) PSDM_PRINTF(2, 3);
/* a temporary file that the caller removes: it need not survive a power cut, and is not synced */
PSDM_API void psdm_output_passing(psdm_output *output);
PSDM_API bool psdm_output_failed(const psdm_output *output);

/* Name of the temporary file, NULL for standard output. */
PSDM_API const char *psdm_output_temporary(const psdm_output *output);

/* Removes the temporary files of all open outputs in this process, the library's own included. Safe in a signal handler
 * that then ends the program: the library itself handles no signal. */
PSDM_API void psdm_output_discard(void);

/* Flushes, syncs, checks and renames; frees *output and sets it to NULL, also on failure (then nothing is left
 * behind). */
PSDM_API psdm_status psdm_output_commit(psdm_output **output, psdm_error *error);

/* Frees without keeping anything (text already on standard output stays). Accepts a NULL object. */
PSDM_API void psdm_output_abort(psdm_output **output);

/* JSON: key is NULL inside arrays and at the top level. Objects and arrays nest at most 31 deep. */
PSDM_API void psdm_json_object(psdm_output *output, const char *key);
PSDM_API void psdm_json_array(psdm_output *output, const char *key);
PSDM_API void psdm_json_close(psdm_output *output); /* the innermost object or array; the last adds a newline */
PSDM_API void psdm_json_number(psdm_output *output, const char *key, double value); /* null when not finite */
PSDM_API void psdm_json_integer(psdm_output *output, const char *key, long long value);
PSDM_API void psdm_json_string(psdm_output *output, const char *key, const char *value); /* null when NULL */
PSDM_API void psdm_json_bool(psdm_output *output, const char *key, bool value);
PSDM_API void psdm_json_numbers(psdm_output *output, const char *key, const double *values, int count);

#ifdef __cplusplus
}
#endif
#endif
