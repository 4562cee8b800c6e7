/* source.h: text in memory, handed out so many bytes at a time, for psdm_csv_open_source and its kin. */
#ifndef SOURCE_H
#define SOURCE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct source {
  const void *at;
  size_t left, piece; /* piece 0: all that there is room for */
  bool broken;        /* fails with EIO at the end */
} source;

static inline ptrdiff_t read_piece(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->piece && s->piece < size ? s->piece : size;
  if (n > s->left) n = s->left;
  if (!n && s->broken) {
    errno = EIO;
    return -1;
  }
  memcpy(buffer, s->at, n);
  s->at = (const char *)s->at + n;
  s->left -= n;
  return (ptrdiff_t)n;
}

#endif
