/* memory.c: memory from the caller's allocator or malloc, and arenas freed at once. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

typedef struct psdmp_base_arena_chunk {
  struct psdmp_base_arena_chunk *next;
  size_t used, size; /* bytes after the header */
} psdmp_base_arena_chunk;

#define ALIGN _Alignof(max_align_t)
#define ROUND_UP(x) (((x) + (ALIGN - 1)) / ALIGN * ALIGN)

#ifndef PSDMP_BASE_CHUNK_BYTES
/* a six-joint robot file fits in one or two; 1: each piece is a chunk of its own, so that tests can make every one
 * fail */
#define PSDMP_BASE_CHUNK_BYTES (16 * 1024)
#endif
enum { CHUNK_BYTES = PSDMP_BASE_CHUNK_BYTES };

void *psdmp_base_alloc_raw(const psdm_allocator *allocator, size_t bytes) {
  if (!bytes) return NULL;
  return allocator ? allocator->allocate(allocator->user, bytes) : malloc(bytes);
}

void *psdmp_base_alloc(const psdm_allocator *allocator, size_t bytes) {
  void *memory = psdmp_base_alloc_raw(allocator, bytes);
  return memory ? memset(memory, 0, bytes) : NULL;
}

void psdmp_base_free(const psdm_allocator *allocator, void *memory) {
  if (!memory) return;
  if (allocator) allocator->release(allocator->user, memory);
  else free(memory);
}

static void *out_of_memory(psdmp_base_arena *arena) {
  arena->failed = true;
  return NULL;
}

static void *arena_take(psdmp_base_arena *arena, size_t bytes, bool zeroed) {
  size_t head = ROUND_UP(sizeof(psdmp_base_arena_chunk));
  if (bytes > SIZE_MAX / 2) return out_of_memory(arena);
  bytes = ROUND_UP(bytes ? bytes : 1);
  psdmp_base_arena_chunk *chunk = arena->chunks;
  if (!chunk || chunk->size - chunk->used < bytes) {
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    chunk = zeroed || size == CHUNK_BYTES ? psdmp_base_alloc(arena->allocator, head + size)
                                          : psdmp_base_alloc_raw(arena->allocator, head + size);
    if (!chunk) return out_of_memory(arena);
    *chunk = (psdmp_base_arena_chunk){.next = arena->chunks, .size = size};
    arena->chunks = chunk;
  }
  void *memory = (char *)chunk + head + chunk->used;
  chunk->used += bytes;
  return memory;
}

void *psdmp_base_arena_alloc(psdmp_base_arena *arena, size_t bytes) { return arena_take(arena, bytes, true); }
void *psdmp_base_arena_alloc_raw(psdmp_base_arena *arena, size_t bytes) { return arena_take(arena, bytes, false); }

/* bytes of an array with at least one element; more than a size_t holds fails in any arena */
static size_t array_bytes(ptrdiff_t count, size_t bytes) {
  size_t most = count > 1 ? (size_t)count : 1;
  return most > SIZE_MAX / bytes ? SIZE_MAX : most * bytes;
}

void *psdmp_base_arena_array(psdmp_base_arena *arena, ptrdiff_t count, size_t bytes) {
  return psdmp_base_arena_alloc(arena, array_bytes(count, bytes));
}
void *psdmp_base_arena_array_raw(psdmp_base_arena *arena, ptrdiff_t count, size_t bytes) {
  return psdmp_base_arena_alloc_raw(arena, array_bytes(count, bytes));
}

static long wider(long room, long need) { return need > 2 * room + 16 ? need : 2 * room + 16; }

/* elements move to new memory with room for so many; returns where they were */
static void *move(void *array, void *memory, long count, size_t size, long *room, long wanted) {
  void *old;
  memcpy(&old, array, sizeof old); /* a pointer of another type */
  if (count) memcpy(memory, old, (size_t)count * size);
  memcpy(array, &memory, sizeof memory);
  *room = wanted;
  return old;
}

bool psdmp_base_room(const psdm_allocator *allocator, void *array, long count, long more, long *room, size_t size) {
  if (count + more <= *room) return true;
  long wanted = wider(*room, count + more);
  void *memory = psdmp_base_alloc_raw(allocator, (size_t)wanted * size);
  if (memory) psdmp_base_free(allocator, move(array, memory, count, size, room, wanted));
  return memory != NULL;
}

bool psdmp_base_arena_room(psdmp_base_arena *arena, void *array, long count, long more, long *room, size_t size) {
  if (count + more <= *room) return true;
  long wanted = wider(*room, count + more);
  void *memory = psdmp_base_arena_array_raw(arena, wanted, size);
  if (memory) move(array, memory, count, size, room, wanted);
  return memory != NULL;
}

char *psdmp_base_arena_text(psdmp_base_arena *arena, const char *text, size_t length) {
  char *copy = psdmp_base_arena_alloc(arena, length + 1);
  if (copy && length) memcpy(copy, text, length);
  return copy;
}

void psdmp_base_arena_free_owner(psdmp_base_arena *arena, void *owner) {
  const psdm_allocator *allocator = arena->allocator;
  psdmp_base_arena_free(arena);
  psdmp_base_free(allocator, owner);
}

void psdmp_base_arena_free(psdmp_base_arena *arena) {
  while (arena->chunks) {
    psdmp_base_arena_chunk *next = arena->chunks->next;
    psdmp_base_free(arena->allocator, arena->chunks);
    arena->chunks = next;
  }
}
