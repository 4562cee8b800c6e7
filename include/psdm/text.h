/* psdm/text.h: text helpers for tools around the library. */
#ifndef PSDM_TEXT_H
#define PSDM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parses a finite decimal in the C locale, whatever the process locale is; false for anything else. */
PSDM_API bool psdm_parse_number(const char *text, double *value);

/* The word nearest to text by edit distance, NULL if none is near. */
PSDM_API const char *psdm_nearest_word(const char *text, const char *const *words, size_t count);

/* Copies text with control and invalid bytes as \xNN, cut with "..." if it does not fit. Returns out. */
PSDM_API char *psdm_escape(const char *text, char *out, size_t size);

/* The fewest digits that read back as value, C locale. Returns out. */
PSDM_API char *psdm_number_text(double value, char out[32]);

#ifdef __cplusplus
}
#endif
#endif
