/* status.c: error sentences with their place; escaping of foreign text; the nearest known word (Levenshtein
 * distance). */
#include "psdm/status.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

static const char *const sentences[] = {PSDM_STATUS_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdmp_base_word(const char *const *words, int count, int index) {
  return index >= 0 && index < count ? words[index] : NULL;
}

int psdmp_base_word_find(const char *const *words, int count, const char *word) {
  while (count > 0 && strcmp(words[count - 1], word) != 0) count--;
  return count - 1;
}

/* long file names keep their end, which the reader recognises */
static void copy_file(char *out, size_t size, const char *file) {
  size_t length = strlen(file);
  const char *from = length < size ? file : file + (length - (size - 1));
  snprintf(out, size, "%s", from);
}

psdm_status psdmp_base_fail(psdm_error *error, psdm_status status, const char *file, int line, int column,
                            const char *format, ...) {
  if (!error) return status;
  error->status = status;
  error->line = line;
  error->column = column;
  copy_file(error->file, sizeof error->file, file ? file : "");
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(error->text, sizeof error->text, format, args);
  va_end(args);
  return status;
}

psdm_status psdmp_base_fail_status(psdm_error *error, psdm_status status) {
  return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
}

psdm_status psdmp_base_no_memory(const char *file, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_MEMORY, file, 0, 0, "%s", psdm_status_text(PSDM_E_MEMORY));
}

psdm_status psdmp_base_lacks(const char *file, const char *needs, const char *part, const char *package,
                             psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_MISSING, file, 0, 0, "%s %s, which this build lacks: install %s and build again",
                         needs, part, package);
}

/* RFC 3629: no overlong forms, surrogates, or anything above U+10FFFF */
size_t psdmp_base_utf8_length(const char *text, size_t left) {
  const unsigned char *c = (const unsigned char *)text;
  size_t want = !left ? 0 : c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
  if (want > left) return 0;
  for (size_t i = 1; i < want; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF0 && c[1] < 0x90) ||
      (c[0] == 0xF4 && c[1] >= 0x90))
    return 0;
  return want;
}

/* length of the character at text if it is safe for a terminal, or 0 */
static size_t printable_length(const char *text, size_t left) {
  size_t length = psdmp_base_utf8_length(text, left);
  unsigned char first = (unsigned char)text[0], second = length > 1 ? (unsigned char)text[1] : 0;
  /* U+0080..U+009F are control characters too */
  bool control = first < 0x20 || first == 0x7F || (first == 0xC2 && second < 0xA0);
  return control ? 0 : length;
}

char *psdmp_base_quote(const char *text, size_t length, char *out, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < length;) {
    const char *at = text + i;
    size_t plain = printable_length(at, length - i);
    /* room for this piece, the dots and the terminator */
    if (used + (plain ? plain : 4) + 4 > size) {
      if (size > used + 3) memcpy(out + used, "...", 3), used += 3;
      break;
    }
    if (plain) {
      memcpy(out + used, at, plain);
      used += plain;
      i += plain;
    } else {
      snprintf(out + used, 5, "\\x%02x", (unsigned char)at[0]);
      used += 4;
      i += 1;
    }
  }
  if (size) out[used] = '\0';
  return out;
}

/* Levenshtein distance of two short words; long ones are never near */
static size_t distance(const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b), row[48];
  if (m >= 48 || n >= 48) return SIZE_MAX;
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[n];
}

const char *psdmp_base_nearest(const char *text, const char *const *words, size_t count) {
  const char *best = NULL;
  size_t least = strlen(text) / 2 + 1; /* more than half of the letters wrong is not a typo */
  for (size_t i = 0; i < count; i++) {
    size_t d = distance(text, words[i]);
    if (d < least) least = d, best = words[i];
  }
  return best;
}

const char *psdm_status_text(psdm_status status) {
  return (unsigned)status < PSDM_STATUS_COUNT ? sentences[status] : "unknown status";
}

char *psdm_error_format(const psdm_error *error, char *buf, size_t size) {
  if (!buf || !size) return buf;
  if (!error) {
    snprintf(buf, size, "%s", psdm_status_text(PSDM_OK));
    return buf;
  }
  const char *text = error->text[0] ? error->text : psdm_status_text(error->status);
  if (error->file[0] && error->line && error->column)
    snprintf(buf, size, "%s:%d:%d: %s", error->file, error->line, error->column, text);
  else if (error->file[0] && error->line) snprintf(buf, size, "%s:%d: %s", error->file, error->line, text);
  else if (error->file[0]) snprintf(buf, size, "%s: %s", error->file, text);
  else snprintf(buf, size, "%s", text);
  return buf;
}
