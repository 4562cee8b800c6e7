/* machine_io.c: how much memory there is, and whether a job fits. */
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

size_t psdmp_base_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  size_t bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
  struct rlimit limit; /* an address space smaller than the machine's memory */
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
    bytes = (size_t)limit.rlim_cur;
  return bytes;
}

size_t psdmp_base_memory_limit(size_t given) { return given ? given : psdmp_base_machine_memory() / 2; }

/* "350 MB", "2.3 GB". Returns out. */
static char *bytes_text(double bytes, char out[32]) {
  static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  size_t k = 0;
  bytes *= 1e-3;
  while (bytes >= 999.5 && k + 1 < sizeof unit / sizeof *unit) bytes *= 1e-3, k++;
  psdmp_base_print(out, 32, bytes < 99.5 ? "%.2g %s" : "%.3g %s", bytes, unit[k]);
  return out;
}

psdm_status psdmp_base_memory_ask(const char *file, const char *what, double need, size_t given, const char *hint,
                                  psdm_error *error) {
  char needed[32], allowed[32];
  size_t limit = psdmp_base_memory_limit(given);
  if (need <= (double)limit) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_LIMIT, file, 0, 0,
                         "%s needs about %s, more than the %s that it may take (`memory`)%s", what,
                         bytes_text(need, needed), bytes_text((double)limit, allowed), hint);
}
