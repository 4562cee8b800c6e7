/* text.c: public names of the text and number functions. */
#include "psdm/text.h"

#include <string.h>

#include "base/base.h"

bool psdm_parse_number(const char *text, double *value) { return psdmp_base_parse_number(text, strlen(text), value); }

const char *psdm_nearest_word(const char *text, const char *const *words, size_t count) {
  return psdmp_base_nearest(text, words, count);
}

char *psdm_escape(const char *text, char *out, size_t size) { return psdmp_base_quote(text, strlen(text), out, size); }

char *psdm_number_text(double value, char out[32]) {
  psdmp_base_format_short(value, out);
  return out;
}
