/* test_memory.c: memory is zeroed, aligned, counted and freed; failure is reported. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support.h"

static bool all_zero(const void *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (((const unsigned char *)memory)[i]) return false;
  return true;
}

/* an allocator that returns dirty memory, like a real heap */
static void *allocate_dirty(void *user, size_t bytes) {
  counting *c = user;
  void *memory = c->allocator.allocate(c->allocator.user, bytes);
  return memory ? memset(memory, 0xA5, bytes) : NULL;
}

static void release_dirty(void *user, void *memory) {
  counting *c = user;
  c->allocator.release(c->allocator.user, memory);
}

static psdm_allocator dirty(counting *c) {
  counting_init(c, 0);
  return (psdm_allocator){allocate_dirty, release_dirty, c};
}

TEST(allocations_are_zeroed) {
  counting c;
  psdm_allocator allocator = dirty(&c);
  unsigned char *memory = psdmp_base_alloc(&allocator, 1000);
  assert_non_null(memory);
  assert_true(all_zero(memory, 1000));
  assert_int_equal(c.live, 1);
  psdmp_base_free(&allocator, memory);
  assert_int_equal(c.live, 0);
  psdmp_base_free(&allocator, NULL); /* never reaches the allocator */
  assert_null(psdmp_base_alloc(&allocator, 0));
  assert_int_equal(c.calls, 1);
  memory = psdmp_base_alloc(NULL, 100); /* malloc */
  assert_non_null(memory);
  assert_true(all_zero(memory, 100));
  psdmp_base_free(NULL, memory);
  psdmp_base_free(NULL, NULL);
}

/* many sizes around the chunk's: every piece is aligned, zeroed and separate */
TEST(arena_pieces_are_aligned_and_zeroed) {
  enum { PIECES = 3000 };
  rng g = rng_start("arena_pieces_are_aligned_and_zeroed");
  counting c;
  psdm_allocator allocator = dirty(&c);
  psdmp_base_arena arena = {.allocator = &allocator};
  static unsigned char *piece[PIECES];
  static size_t size[PIECES];
  for (int i = 0; i < PIECES; i++) {
    size[i] = (size_t)(i % 100 == 0 ? rng_int(&g, 16000, 70000) : rng_int(&g, 0, 300));
    piece[i] = psdmp_base_arena_alloc(&arena, size[i]);
    assert_non_null(piece[i]); /* also for no bytes */
    assert_int_equal((uintptr_t)piece[i] % _Alignof(max_align_t), 0);
    assert_true(all_zero(piece[i], size[i]));
    memset(piece[i], 1 + i % 255, size[i]);
  }
  for (int i = 0; i < PIECES; i++)
    for (size_t k = 0; k < size[i]; k++) assert_true(piece[i][k] == 1 + i % 255);
  assert_true(c.live > 30 && c.live < PIECES / 10); /* in chunks, not one by one */
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
  psdmp_base_arena_free(&arena);                       /* an empty arena may be freed */
  assert_non_null(psdmp_base_arena_alloc(&arena, 10)); /* and used again */
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
}

TEST(arena_text_is_a_terminated_copy) {
  counting c;
  psdm_allocator allocator = dirty(&c);
  psdmp_base_arena arena = {.allocator = &allocator};
  char source[] = "abcdef";
  char *copy = psdmp_base_arena_text(&arena, source, 3), *empty = psdmp_base_arena_text(&arena, source, 0);
  source[0] = 'x';
  assert_string_equal(copy, "abc");
  assert_string_equal(empty, "");
  char *binary = psdmp_base_arena_text(&arena, "a\0b", 3);
  assert_memory_equal(binary, "a\0b", 4);
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
}

TEST(failure_is_null_and_harmless) {
  counting c;
  counting_init(&c, 2);
  psdmp_base_arena arena = {.allocator = &c.allocator};
  char *first = psdmp_base_arena_alloc(&arena, 100);
  assert_non_null(first);
  strcpy(first, "kept");
  assert_null(psdmp_base_arena_alloc(&arena, 1 << 20));  /* the second call fails */
  assert_null(psdmp_base_arena_alloc(&arena, SIZE_MAX)); /* does not call the allocator */
  assert_null(psdmp_base_arena_alloc(&arena, SIZE_MAX / 2 + 1));
  assert_int_equal(c.calls, 2);
  assert_string_equal(first, "kept");
  assert_non_null(psdmp_base_arena_alloc(&arena, 1 << 20)); /* the third works */
  assert_non_null(psdmp_base_arena_text(&arena, "more", 4));
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);

  counting_init(&c, 1);
  assert_null(psdmp_base_alloc(&c.allocator, 10));
  arena = (psdmp_base_arena){.allocator = &c.allocator};
  counting_init(&c, 1);
  assert_null(psdmp_base_arena_text(&arena, "text", 4));
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
}

/* elements keep their values while their array moves; from 16 on there is room for twice as many, or for all */
TEST(arrays_get_more_room) {
  static const long more[] = {1, 15, 1, 31, 1, 500, 100}, wanted[] = {16, 16, 48, 48, 112, 549, 1114};
  for (int own = 0; own < 2; own++) {
    counting c;
    psdm_allocator allocator = dirty(&c);
    psdmp_base_arena arena = {.allocator = &allocator};
    long *array = NULL, room = 0, count = 0;
    for (int step = 0; step < 7; step++) {
      long calls = c.calls, before = room;
      assert_true(own ? psdmp_base_room(&allocator, &array, count, more[step], &room, sizeof *array)
                      : psdmp_base_arena_room(&arena, &array, count, more[step], &room, sizeof *array));
      assert_int_equal(room, wanted[step]);
      assert_true(!own || c.calls - calls == (room > before));
      for (long k = 0; k < count; k++) assert_int_equal(array[k], 3 * k);
      for (long k = 0; k < more[step]; k++, count++) array[count] = 3 * count;
    }
    assert_true(!own || c.live == 1); /* what it left was freed */
    const long *kept = array;
    c.fail_at = c.calls + 1;
    assert_false(own ? psdmp_base_room(&allocator, &array, count, 5000, &room, sizeof *array)
                     : psdmp_base_arena_room(&arena, &array, count, 5000, &room, sizeof *array));
    assert_true(array == kept && room == 1114 && array[count - 1] == 3 * (count - 1));
    if (own) psdmp_base_free(&allocator, array);
    psdmp_base_arena_free(&arena);
    assert_int_equal(c.live, 0);
  }
}

TEST_MAIN(allocations_are_zeroed, arrays_get_more_room, arena_pieces_are_aligned_and_zeroed,
          arena_text_is_a_terminated_copy, failure_is_null_and_harmless)
