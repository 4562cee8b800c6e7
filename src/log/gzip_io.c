/* gzip_io.c: streaming decompression through zlib. Consecutive members are one text (RFC 1952, 2.2). */
#include <errno.h>
#include <string.h>

#include "log/log_priv.h"

#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif

enum { INPUT = 64 * 1024 };

struct psdmp_log_gunzip {
  psdm_csv_read read;
  void *user;
  const psdm_allocator *allocator;
  bool started;            /* the first bytes have been examined */
  bool compressed, inside; /* inside: a member has begun and not ended */
  bool end;                /* the bytes are exhausted */
  bool cut;
  int state;
  long long bytes;
  size_t begin, used; /* unread part of input */
  unsigned char input[INPUT];
#ifdef PSDM_HAVE_ZLIB
  bool ready; /* stream is initialised */
  z_stream stream;
#endif
};

/* more input after the unread part; false on failure */
static bool refill(psdmp_log_gunzip *g) {
  size_t left = g->used - g->begin;
  memmove(g->input, g->input + g->begin, left);
  g->begin = 0;
  g->used = left;
  ptrdiff_t got = g->read(g->user, (char *)g->input + left, INPUT - left);
  if (got < 0) return false;
  g->end = got == 0;
  g->used += (size_t)got;
  g->bytes += got;
  return true;
}

/* whether a member begins here: by its first two bytes */
static bool member_begins(psdmp_log_gunzip *g, bool *begins) {
  while (!g->end && g->used - g->begin < 2)
    if (!refill(g)) return false;
  *begins = g->used - g->begin >= 2 && g->input[g->begin] == 0x1F && g->input[g->begin + 1] == 0x8B;
  return true;
}

static ptrdiff_t plain(psdmp_log_gunzip *g, char *buffer, size_t size) {
  if (g->begin == g->used && !g->end && !refill(g)) return -1;
  size_t n = g->used - g->begin < size ? g->used - g->begin : size;
  memcpy(buffer, g->input + g->begin, n);
  g->begin += n;
  return (ptrdiff_t)n;
}

#ifdef PSDM_HAVE_ZLIB

static void *take(void *user, unsigned count, unsigned size) {
  return psdmp_base_alloc_raw(user, (size_t)count * size);
}
static void give(void *user, void *memory) { psdmp_base_free(user, memory); }

static bool prepare(psdmp_log_gunzip *g) {
  g->stream = (z_stream){.zalloc = take, .zfree = give, .opaque = (void *)g->allocator};
  g->ready = inflateInit2(&g->stream, 16 + MAX_WBITS) == Z_OK; /* 16: gzip's header and sum */
  return g->ready;
}

static void finish(psdmp_log_gunzip *g) {
  if (g->ready) inflateEnd(&g->stream);
}

/* bytes before the damage are returned first, so that the result does not depend on the pieces of the input */
static ptrdiff_t damaged(psdmp_log_gunzip *g, size_t made) {
  g->state = PSDMP_LOG_GUNZIP_DAMAGED;
  errno = EIO;
  return made ? (ptrdiff_t)made : -1;
}

static ptrdiff_t inflate_some(psdmp_log_gunzip *g, char *buffer, size_t size) {
  for (;;) {
    bool begins;
    if (g->state) return damaged(g, 0);
    /* another member, or the end; anything else after a member is ignored, like padding in gzip itself */
    if (!g->inside) {
      if (!member_begins(g, &begins)) return -1;
      if (!begins) return 0;
      inflateReset(&g->stream);
      g->inside = true;
    }
    if (g->begin == g->used && !g->end && !refill(g)) return -1;
    g->stream.next_in = g->input + g->begin;
    g->stream.avail_in = (unsigned)(g->used - g->begin);
    g->stream.next_out = (unsigned char *)buffer;
    g->stream.avail_out = (unsigned)size;
    int answer = inflate(&g->stream, Z_NO_FLUSH);
    g->begin = g->used - g->stream.avail_in;
    size_t made = size - g->stream.avail_out;
    if (answer == Z_STREAM_END) g->inside = false;
    if (answer == Z_MEM_ERROR) {
      errno = ENOMEM;
      return -1;
    }
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR) return damaged(g, made);
    if (made) return (ptrdiff_t)made;
    if (g->inside && g->end && g->begin == g->used) {
      g->cut = true;
      return 0;
    }
  }
}

#else

static bool prepare(psdmp_log_gunzip *g) {
  (void)g;
  return true;
}
static void finish(psdmp_log_gunzip *g) { (void)g; }
static ptrdiff_t inflate_some(psdmp_log_gunzip *g, char *buffer, size_t size) {
  (void)buffer, (void)size;
  g->state = PSDMP_LOG_GUNZIP_MISSING;
  errno = ENOTSUP;
  return -1;
}

#endif

psdmp_log_gunzip *psdmp_log_gunzip_open(psdm_csv_read read, void *user, const psdm_allocator *allocator) {
  psdmp_log_gunzip *g = psdmp_base_alloc(allocator, sizeof *g);
  if (!g) return NULL;
  g->read = read;
  g->user = user;
  g->allocator = allocator;
  if (prepare(g)) return g;
  psdmp_base_free(allocator, g);
  return NULL;
}

void psdmp_log_gunzip_close(psdmp_log_gunzip *g) {
  if (!g) return;
  finish(g);
  psdmp_base_free(g->allocator, g);
}

void psdmp_log_gunzip_restart(psdmp_log_gunzip *g) {
  g->started = g->compressed = g->inside = g->end = g->cut = false;
  g->state = 0;
  g->bytes = 0;
  g->begin = g->used = 0;
}

ptrdiff_t psdmp_log_gunzip_read(void *user, char *buffer, size_t size) {
  psdmp_log_gunzip *g = user;
  if (!g->started) {
    if (!member_begins(g, &g->compressed)) return -1;
    g->started = true;
  }
  return g->compressed ? inflate_some(g, buffer, size) : plain(g, buffer, size);
}

int psdmp_log_gunzip_state(const psdmp_log_gunzip *g) { return g->state; }
bool psdmp_log_gunzip_cut(const psdmp_log_gunzip *g) { return g->cut; }
bool psdmp_log_gunzip_compressed(const psdmp_log_gunzip *g) { return g->compressed; }
long long psdmp_log_gunzip_bytes(const psdmp_log_gunzip *g) { return g->bytes; }
