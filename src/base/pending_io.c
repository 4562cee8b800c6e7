/* pending_io.c: files to be removed on a signal, in a table that a signal handler can read. */
#define _POSIX_C_SOURCE 200809L /* unlinkat */
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/base.h"
#include "psdm/output.h"

enum { SLOTS = 128 }; /* more than any command opens; without a free slot a file is just not removed */

/* a slot is reserved first, and its name is set after its folder */
static struct slot {
  atomic_bool taken;
  atomic_int folder;
  _Atomic(const char *) name;
} slots[SLOTS];

int psdmp_base_pending_add(int folder, const char *name) {
  for (int i = 0; i < SLOTS; i++) {
    if (atomic_exchange(&slots[i].taken, true)) continue;
    atomic_store(&slots[i].folder, folder);
    atomic_store(&slots[i].name, name);
    return i;
  }
  return -1;
}

void psdmp_base_pending_remove(int slot) {
  if (slot < 0) return;
  atomic_store(&slots[slot].name, NULL);
  atomic_store(&slots[slot].taken, false);
}

/* files first, then the folders that are now empty */
void psdm_output_discard(void) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < SLOTS; i++) {
      const char *name = atomic_load(&slots[i].name);
      if (name) unlinkat(atomic_load(&slots[i].folder), name, pass ? AT_REMOVEDIR : 0);
    }
}
