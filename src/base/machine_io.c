/* machine_io.c: how much memory there is. */
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

size_t psdmp_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  size_t bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
  struct rlimit limit; /* an address space that is smaller than the machine */
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) bytes = (size_t)limit.rlim_cur;
  return bytes;
}
