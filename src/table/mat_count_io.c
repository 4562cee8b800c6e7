/* mat_count_io.c: counts the variables of a MATLAB file, from their lengths alone. matio reports a damaged variable, a
 * short file and lack of memory like the end of the file: only this count tells them apart. It also allocates as many
 * dimensions as a variable claims to have. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif

#include "table/table.h"

enum { MI_MATRIX = 14, MI_COMPRESSED = 15, HEAD = 128, TAG = 8, WORDS4 = 5 };
/* after a variable's tag: flags with their tag, then the tag of the dimensions */
enum { DIMENSIONS = 3 * TAG, MOST_DIMENSIONS = 64 };

static uint32_t word(const unsigned char *at, bool big) {
  return big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
             : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* bytes after the head of a variable of level 4: MOPT has byte order, type of the numbers and kind; -1: not such a
 * head */
static int64_t behind4(const unsigned char *head) {
  static const int sizes[] = {8, 4, 4, 2, 2, 1};
  bool big = word(head, false) > 9999;
  uint32_t type = word(head, big), rows = word(head + 4, big), columns = word(head + 8, big),
           complex = word(head + 12, big), name = word(head + 16, big);
  uint32_t precision = type / 10 % 10;
  if (type > 9999 || precision > 5 || complex > 1 || (uint64_t)rows * columns > INT64_MAX / 32) return -1;
  return (int64_t)((uint64_t)rows * columns * (uint64_t)sizes[precision] * (1 + complex) + name);
}

static int64_t behind5(const unsigned char *tag, bool big) {
  uint32_t type = word(tag, big);
  return type == MI_MATRIX || type == MI_COMPRESSED ? (int64_t)word(tag + 4, big) : -1;
}

/* the first bytes of a compressed variable without its inner tag; bytes that cannot be inflated stay zero, and matio
 * reports the error */
static void inflate_start(FILE *file, unsigned char *start) {
#ifdef PSDM_HAVE_ZLIB
  unsigned char packed[256], plain[TAG + DIMENSIONS] = {0};
  z_stream z = {.next_in = packed, .next_out = plain, .avail_out = sizeof plain};
  z.avail_in = (uInt)fread(packed, 1, sizeof packed, file);
  if (inflateInit(&z) != Z_OK) return;
  inflate(&z, Z_SYNC_FLUSH);
  inflateEnd(&z);
  memcpy(start, plain + TAG, DIMENSIONS);
#else
  (void)file, (void)start;
#endif
}

/* number of dimensions of the variable at the file's position; a small element has up to four bytes of them in its
 * tag */
static uint32_t dimensions5(FILE *file, uint32_t type, bool big) {
  unsigned char start[DIMENSIONS] = {0};
  if (type == MI_COMPRESSED) inflate_start(file, start);
  else if (fread(start, 1, sizeof start, file) != sizeof start) return 0;
  uint32_t first = word(start + 2 * TAG, big);
  return first >> 16 ? 1 : word(start + 2 * TAG + 4, big) / 4;
}

psdm_status psdmp_table_mat_refused(const char *shown, int failure, psdm_error *error) {
  if (failure == ENOMEM) return psdmp_base_no_memory(shown, error);
  if (failure) return psdmp_base_fail(error, PSDM_E_IO, shown, 0, 0, "cannot be read: %s", strerror(failure));
  return psdmp_base_fail(error, PSDM_E_PARSE, shown, 0, 0, "cannot be read as a MATLAB file");
}

psdm_status psdmp_table_mat_count(const char *path, const char *shown, long *count, psdm_error *error) {
  unsigned char head[HEAD] = {0};
  struct stat info;
  errno = 0;
  FILE *file = fopen(path, "rb");
  *count = 0;
  bool readable = file && fstat(fileno(file), &info) == 0;
  size_t got = readable ? fread(head, 1, sizeof head, file) : 0;
  /* level 5 starts with text, level 4 with a number that has a zero byte */
  bool four = memchr(head, 0, 4) != NULL, big = head[126] == 'M';
  int64_t at = four ? 0 : HEAD, step = four ? 4 * WORDS4 : TAG;
  int failure = readable && !ferror(file) ? 0 : errno ? errno : EIO;
  psdm_status status = !failure && (got == HEAD || four) ? PSDM_OK : psdmp_table_mat_refused(shown, failure, error);
  while (!status && at < (int64_t)info.st_size) {
    bool whole = fseek(file, (long)at, SEEK_SET) == 0 && fread(head, 1, (size_t)step, file) == (size_t)step;
    int64_t more = !whole ? -1 : four ? behind4(head) : behind5(head, big);
    uint32_t dimensions = more < 0 || four ? 2 : dimensions5(file, word(head, big), big);
    at += step + more;
    if (ferror(file)) status = psdmp_base_fail(error, PSDM_E_IO, shown, 0, 0, "cannot be read to its end");
    else if (more < 0 || at > (int64_t)info.st_size)
      status = psdmp_base_fail(error, PSDM_E_PARSE, shown, 0, 0,
                               "the file is damaged or cut short: its variable %ld does not end within it", *count + 1);
    else if (dimensions > MOST_DIMENSIONS)
      status = psdmp_base_fail(error, PSDM_E_PARSE, shown, 0, 0,
                               "variable %ld claims %u dimensions; at most %d were expected", *count + 1, dimensions,
                               MOST_DIMENSIONS);
    else ++*count;
  }
  if (file) fclose(file);
  return status;
}

psdm_status psdmp_table_mat_check(const char *shown, long seen, long count, int failure, psdm_error *error) {
  if (failure == ENOMEM) return psdmp_base_no_memory(shown, error);
  return seen >= count
             ? PSDM_OK
             : psdmp_base_fail(error, PSDM_E_PARSE, shown, 0, 0, "variable %ld of %ld cannot be read", seen + 1, count);
}
