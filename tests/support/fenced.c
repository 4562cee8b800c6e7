/* fenced.c: a page that may not be touched behind each piece, and what is left of the page before it holds a
 * pattern. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fenced.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__

void counting_fenced_init(counting *c, long fail_at) { counting_init(c, fail_at); } /* which sees reads too */

void *fenced_new(size_t bytes) {
  void *memory = malloc(bytes);
  assert_non_null(memory);
  return memset(memory, 0xFF, bytes);
}

void fenced_free(void *memory) { free(memory); }

#else

enum { ALIGN = 16, PATTERN = 0xFF }; /* doubles that are NAN, ints that are -1 */

/* in front of a piece: what was mapped, and how much of it is the piece */
typedef struct fence {
  size_t mapped, bytes;
} fence;

static size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* small maps that are free, by their pages: to map each anew takes most of a test's time */
enum { KEPT = 64 };
static void *kept[KEPT];
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void *kept_take(size_t pages) {
  void *map = NULL;
  if (pages >= KEPT) return NULL;
  while (atomic_flag_test_and_set(&busy)) continue;
  if ((map = kept[pages])) memcpy(&kept[pages], map, sizeof map);
  atomic_flag_clear(&busy);
  return map;
}

static bool kept_give(size_t pages, void *map) {
  if (pages >= KEPT) return false;
  while (atomic_flag_test_and_set(&busy)) continue;
  memcpy(map, &kept[pages], sizeof map);
  kept[pages] = map;
  atomic_flag_clear(&busy);
  return true;
}

static void *fence_new(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = rounded(bytes, ALIGN),
         mapped = rounded(room + sizeof(fence), page) + page;
  unsigned char *map = kept_take(mapped / page), *end;
  if (!map) {
    map = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    assert_int_equal(mprotect(map + mapped - page, page, PROT_NONE), 0);
  }
  end = map + mapped - page;
  *(fence *)(void *)(end - room - sizeof(fence)) = (fence){mapped, bytes};
  return memset(end - room, PATTERN, room);
}

void fenced_free(void *memory) {
  if (!memory) return;
  unsigned char *piece = memory;
  fence own = *(fence *)(void *)(piece - sizeof own);
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = rounded(own.bytes, ALIGN);
  for (size_t i = own.bytes; i < room; i++)
    if (piece[i] != PATTERN) fail_msg("a piece of %zu bytes was written to behind its end", own.bytes);
  unsigned char *map = piece + room + page - own.mapped;
  if (!kept_give(own.mapped / page, map)) munmap(map, own.mapped);
}

void *fenced_new(size_t bytes) {
  void *memory = fence_new(bytes);
  assert_non_null(memory);
  return memory;
}

static void *fence_allocate(void *user, size_t bytes) {
  counting *c = user;
  if (++c->calls == c->fail_at) return NULL;
  void *memory = fence_new(bytes);
  c->live += memory != NULL;
  return memory;
}

static void fence_release(void *user, void *memory) {
  counting *c = user;
  c->live -= memory != NULL;
  fenced_free(memory);
}

void counting_fenced_init(counting *c, long fail_at) {
  *c = (counting){{fence_allocate, fence_release, c}, 0, 0, fail_at};
}

#endif
