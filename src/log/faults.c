/* faults.c: faults of a log by kind: counted, with a sentence for the first few of each. */
#include <stdio.h>

#include "log/log_priv.h"

static const char *const sentences[] = {PSDM_FAULT_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_fault_text(psdm_fault fault) { return psdmp_base_word(sentences, PSDM_FAULTS, (int)fault); }

void psdmp_log_fault_add(psdmp_log_faults *faults, psdm_fault fault, long line, const char *format, ...) {
  long index = faults->count[fault]++;
  if (index >= PSDMP_LOG_KEPT) return;
  char *text = faults->kept[fault][index].text;
  size_t size = sizeof faults->kept[fault][index].text;
  faults->kept[fault][index].line = line;
  int head = snprintf(text, size, "%s %ld: ", faults->word, line);
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text + head, size - (size_t)head, format, args);
  va_end(args);
}
