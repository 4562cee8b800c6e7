/* base.h: what every room uses. Private to the library. */
#ifndef PSDMP_BASE_H
#define PSDMP_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "psdm/alloc.h"
#include "psdm/status.h"

/* ---- errors ---- */

/* Fills *error (nullable) and returns status, so that failing takes one statement. */
psdm_status psdmp_base_fail(psdm_error *error, psdm_status status, const char *file, int line, int column,
                            const char *format, ...) PSDM_PRINTF(6, 7);

/* The same with the status' own text and no place. */
psdm_status psdmp_base_fail_status(psdm_error *error, psdm_status status);

/* "out of memory", for this file ("" for none). Returns PSDM_E_MEMORY. */
psdm_status psdmp_base_no_memory(const char *file, psdm_error *error);

/* Returns PSDM_E_MISSING for an optional part (cmake/parts.cmake) that this build lacks: "logs in HDF5 need" "HDF5",
 * and Debian's package. file: "" for none. */
psdm_status psdmp_base_lacks(const char *file, const char *needs, const char *part, const char *package,
                             psdm_error *error);

/* Copies text for a human: control and non-UTF-8 bytes become \xNN, long text is cut with "...". Returns out. */
char *psdmp_base_quote(const char *text, size_t length, char *out, size_t size);

/* Length of the valid UTF-8 sequence at text[0..left), or 0. */
size_t psdmp_base_utf8_length(const char *text, size_t left);

/* The index of a word among words[0..count), or -1; the word at an index, or NULL beyond them. */
int psdmp_base_word_find(const char *const *words, int count, const char *word);
const char *psdmp_base_word(const char *const *words, int count, int index);

/* For public lists X(constant, word, ...): their words. */
#define PSDMP_BASE_LIST_WORD(constant, ...) PSDMP_BASE_FIRST(__VA_ARGS__, )
#define PSDMP_BASE_FIRST(first, ...) first,

/* The word of words[0..count) nearest to text by edit distance, or NULL if none is near. */
const char *psdmp_base_nearest(const char *text, const char *const *words, size_t count);

/* ---- text that is only fingerprinted: an output that keeps the 64-bit FNV-1a of what is written to it ---- */

struct psdm_output;
psdm_status psdmp_base_digest_open(const psdm_allocator *allocator, struct psdm_output **output);
uint64_t psdmp_base_digest_close(struct psdm_output **output);

/* ---- files: additions to psdm/output.h ---- */

void psdmp_base_output_bytes(struct psdm_output *output, const void *bytes, size_t length);
/* the output cannot be completed, for this errno: commit fails */
void psdmp_base_output_fail(struct psdm_output *output, int failure);

/* Registers a file, or a folder of such files, to be removed by psdm_output_discard; folder: a directory's handle, or
 * AT_FDCWD. The name remains the caller's and must last until it is removed from the table. -1 when the table is full,
 * which psdmp_base_pending_remove accepts. Thread-safe. */
int psdmp_base_pending_add(int folder, const char *name);
void psdmp_base_pending_remove(int slot);

/* Makes a directory and all above it that are missing. */
psdm_status psdmp_base_folder(const char *directory, psdm_error *error);
/* Whether psdmp_base_folder would make it, and files in it can be written; makes nothing. */
psdm_status psdmp_base_folder_check(const char *directory, psdm_error *error);

/* ---- other programs ---- */

/* instead of a handle: /dev/null, or this process' own */
enum { PSDMP_BASE_NOTHING = -1, PSDMP_BASE_INHERIT = -2 };

/* Starts a program (searched in PATH if its name has no slash) in a folder (NULL: here) with these arguments and these
 * handles as its standard input, output and errors; SIGPIPE ends it. Returns 0, or the errno that says why it does not
 * run. */
int psdmp_base_spawn(const char *folder, const char *program, char *const *words, int in, int out, int errors,
                     pid_t *child);
/* Waits for its end. False, with *state unchanged, where the host ignores SIGCHLD. */
bool psdmp_base_spawn_wait(pid_t child, int *state);

/* ---- memory ---- */

void *psdmp_base_alloc(const psdm_allocator *allocator, size_t bytes);     /* zeroed; NULL on failure or bytes == 0 */
void *psdmp_base_alloc_raw(const psdm_allocator *allocator, size_t bytes); /* the same, not zeroed */
void psdmp_base_free(const psdm_allocator *allocator, void *memory);

/* Memory released all at once. Zero-initialise with the allocator set. */
typedef struct psdmp_base_arena {
  const psdm_allocator *allocator;
  struct psdmp_base_arena_chunk *chunks;
  bool failed; /* some request failed: tells lack of memory from other failures */
} psdmp_base_arena;

void *psdmp_base_arena_alloc(psdmp_base_arena *arena, size_t bytes); /* zeroed, max_align_t aligned; NULL on failure */
void *psdmp_base_arena_alloc_raw(psdmp_base_arena *arena, size_t bytes); /* the same, not zeroed when it is large */
/* count elements of `bytes` bytes each, at least one; zeroed; NULL on failure */
void *psdmp_base_arena_array(psdmp_base_arena *arena, ptrdiff_t count, size_t bytes);
/* the same, not zeroed when it is large */
void *psdmp_base_arena_array_raw(psdmp_base_arena *arena, ptrdiff_t count, size_t bytes);
#define PSDMP_BASE_NEW(arena, count, type) ((type *)psdmp_base_arena_array(arena, count, sizeof(type)))
#define PSDMP_BASE_NEW_RAW(arena, count, type) ((type *)psdmp_base_arena_array_raw(arena, count, sizeof(type)))
/* Room for `more` elements behind the first count of an array; array: the address of its pointer, size: bytes of an
 * element. Where *room, the number of elements that fit, is too small, they move to memory for twice as many. False
 * without memory: all is as before. An arena keeps the old memory until it is freed. */
bool psdmp_base_room(const psdm_allocator *allocator, void *array, long count, long more, long *room, size_t size);
bool psdmp_base_arena_room(psdmp_base_arena *arena, void *array, long count, long more, long *room, size_t size);
char *psdmp_base_arena_text(psdmp_base_arena *arena, const char *text, size_t length); /* terminated copy */
void psdmp_base_arena_free(psdmp_base_arena *arena);
/* The arena, then the object that it belongs to, which came from the same allocator. */
void psdmp_base_arena_free_owner(psdmp_base_arena *arena, void *owner);

/* Bytes of the machine, or of the address space that this process may have; SIZE_MAX when unknown. */
size_t psdmp_base_machine_memory(void);

/* Memory for one job: the given limit, or half of the machine's if that is 0. */
size_t psdmp_base_memory_limit(size_t given);

/* PSDM_OK if `need` is at most psdmp_base_memory_limit(given), else PSDM_E_LIMIT: "WHAT needs about 40 GB, more than
 * the 2 GB that it may take (`memory`)HINT". Call before allocating. */
psdm_status psdmp_base_memory_ask(const char *file, const char *what, double need, size_t given, const char *hint,
                                  psdm_error *error);

/* ---- time and random numbers ---- */

double psdmp_base_clock(void); /* s, monotonic clock */

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine. */
static inline uint64_t psdmp_base_random_bits(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [low, high). */
static inline double psdmp_base_random(uint64_t *state, double low, double high) {
  return low + (high - low) * ((double)(psdmp_base_random_bits(state) >> 11) * 0x1p-53);
}

/* ---- numbers: C-locale decimal text, whatever the process locale is ---- */

/* Strict finite decimal over the whole of text[0..length). False for anything else (also nan, inf, hex, overflow). */
bool psdmp_base_parse_number(const char *text, size_t length, double *value);

/* A number, or an angle in radians written with pi or a unit: -pi/2, 3*pi/4, 0.5 pi, 90 deg, 1.2 rad. */
bool psdmp_base_parse_angle(const char *text, size_t length, double *value);

/* printf into out in the C locale: 1.5 is "1.5" in any host locale. Returns what snprintf does. */
int psdmp_base_print(char *out, size_t size, const char *format, ...) PSDM_PRINTF(3, 4);
int psdmp_base_vprint(char *out, size_t size, const char *format, va_list args) PSDM_PRINTF(3, 0);

/* The fewest of 6, 9, 12, 15 or 17 digits that read back as x. Returns the length. */
int psdmp_base_format_short(double x, char out[32]);

/* 17 significant digits, as "%.17g" in the C locale. Returns the length. */
int psdmp_base_format_exact(double x, char out[32]);

#include "base/sha256.h"

#endif
