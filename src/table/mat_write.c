/* mat_write.c: MATLAB files, level 5 (MathWorks, MAT-File Format, chapter 1): a header of 128 bytes, then one element
 * for each variable.
 *
 *   miMATRIX { array flags, dimensions, name, data }    or    miCOMPRESSED { zlib stream of that }
 *
 * Every part is a tag (type and bytes, both 32 bits) and its data, padded to 8 bytes; up to 4 bytes are inside the tag.
 * Numbers are in the machine's byte order, which the header gives. */
#include <string.h>

#include "table/table.h"

#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif

enum { TEXT = 116, OFFSET = 8, PIECE = 64 * 1024 };
enum { MI_INT8 = 1, MI_UINT16 = 4, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14, MI_COMPRESSED = 15 };
enum { CLASS_CHAR = 4, CLASS_DOUBLE = 6 };

void psdmp_table_mat_begin(psdm_output *out) {
  static const char words[] = "MATLAB 5.0 MAT-file, written by psdm";
  char head[TEXT + OFFSET];
  const uint16_t version[2] = {0x0100, 0x4D49}; /* the second reads "IM" or "MI", depending on the byte order */
  memset(head, ' ', TEXT);
  memcpy(head, words, sizeof words - 1);
  memset(head + TEXT, 0, OFFSET);
  psdmp_base_output_bytes(out, head, sizeof head);
  psdmp_base_output_bytes(out, version, sizeof version);
}

/* ---- destination of a variable: the file, or the compressor before it ---- */

typedef struct sink {
  psdm_output *out;
  psdm_status status;
#ifdef PSDM_HAVE_ZLIB
  psdmp_base_arena arena; /* for compressed data: its length comes first in the file */
  z_stream stream;
  struct piece {
    struct piece *next;
    unsigned char byte[PIECE];
  } * first, *last;
#endif
} sink;

#ifdef PSDM_HAVE_ZLIB
static bool add_piece(sink *s) {
  struct piece *fresh = psdmp_base_arena_alloc_raw(&s->arena, sizeof *fresh);
  if (!fresh) return s->status = PSDM_E_MEMORY, false;
  fresh->next = NULL;
  if (s->last) s->last->next = fresh;
  else s->first = fresh;
  s->last = fresh;
  s->stream.next_out = fresh->byte;
  s->stream.avail_out = PIECE;
  return true;
}

static void put(sink *s, const void *data, size_t length) {
  s->stream.next_in = (unsigned char *)data; /* zlib only reads it */
  while (length && !s->status) {
    s->stream.avail_in = length < 1 << 30 ? (uInt)length : 1 << 30;
    length -= s->stream.avail_in;
    while (s->stream.avail_in && !s->status)
      if (s->stream.avail_out || add_piece(s)) deflate(&s->stream, Z_NO_FLUSH);
  }
}

static void *take(void *user, uInt items, uInt size) { return psdmp_base_arena_alloc_raw(user, (size_t)items * size); }
static void give(void *user, void *memory) { (void)user, (void)memory; } /* freed with the arena */

static psdm_status start(sink *s) {
  s->stream.zalloc = take, s->stream.zfree = give, s->stream.opaque = &s->arena;
  s->status = deflateInit(&s->stream, Z_DEFAULT_COMPRESSION) == Z_OK ? PSDM_OK : PSDM_E_MEMORY;
  if (s->status) psdmp_base_arena_free(&s->arena);
  return s->status;
}

static psdm_status finish(sink *s) {
  int state = Z_OK;
  while (!s->status && state != Z_STREAM_END) {
    if (s->stream.avail_out || add_piece(s)) state = deflate(&s->stream, Z_FINISH);
    if (!s->status && state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) s->status = PSDM_E_IO;
  }
  const uint32_t tag[2] = {MI_COMPRESSED, (uint32_t)s->stream.total_out};
  if (!s->status && s->stream.total_out > UINT32_MAX) s->status = PSDM_E_LIMIT;
  if (!s->status) psdmp_base_output_bytes(s->out, tag, sizeof tag);
  for (const struct piece *p = s->status ? NULL : s->first; p; p = p->next)
    psdmp_base_output_bytes(s->out, p->byte, p == s->last ? PIECE - s->stream.avail_out : PIECE);
  deflateEnd(&s->stream);
  psdmp_base_arena_free(&s->arena);
  return s->status;
}
#else
static void put(sink *s, const void *data, size_t length) { psdmp_base_output_bytes(s->out, data, length); }
static psdm_status start(sink *s) { return s->status; }
static psdm_status finish(sink *s) { return s->status; }
#endif

/* ---- a variable ---- */

static size_t filled(size_t length) { return (length + 7) / 8 * 8; }
static size_t part_bytes(size_t length) { return length <= 4 ? 8 : 8 + filled(length); }

static void put_tag(sink *s, int type, size_t length) {
  const uint32_t tag[2] = {(uint32_t)type, (uint32_t)length};
  put(s, tag, sizeof tag);
}

static void fill(sink *s, size_t length) {
  static const char zeros[8];
  put(s, zeros, filled(length) - length);
}

static void put_part(sink *s, int type, const void *data, size_t length) {
  uint32_t small[2] = {(uint32_t)length << 16 | (uint32_t)type, 0};
  if (length <= 4) {
    memcpy(&small[1], data, length);
    put(s, small, sizeof small);
    return;
  }
  put_tag(s, type, length);
  put(s, data, length);
  fill(s, length);
}

/* characters have 16 bits */
static void put_characters(sink *s, const char *text, size_t count) {
  uint16_t wide[256];
  put_tag(s, MI_UINT16, 2 * count);
  for (size_t at = 0; at < count;) {
    size_t piece = 0;
    for (; piece < sizeof wide / sizeof *wide && at < count; at++) wide[piece++] = (unsigned char)text[at];
    put(s, wide, piece * sizeof *wide);
  }
  fill(s, 2 * count);
}

static size_t entries(const psdmp_table_mat_array *a) {
  size_t count = 1;
  for (int i = 0; i < a->rank; i++) count *= a->dims[i];
  return count;
}

static void put_array(sink *s, const psdmp_table_mat_array *a) {
  size_t name = strlen(a->name), count = entries(a), bytes = count * (a->number ? sizeof(double) : sizeof(uint16_t));
  const uint32_t flags[2] = {a->number ? CLASS_DOUBLE : CLASS_CHAR, 0};
  int32_t dims[PSDMP_TABLE_MAT_RANK];
  for (int i = 0; i < a->rank; i++) dims[i] = (int32_t)a->dims[i];
  put_tag(s, MI_MATRIX,
          part_bytes(sizeof flags) + part_bytes(sizeof *dims * (size_t)a->rank) + part_bytes(name) + 8 + filled(bytes));
  put_part(s, MI_UINT32, flags, sizeof flags);
  put_part(s, MI_INT32, dims, sizeof *dims * (size_t)a->rank);
  put_part(s, MI_INT8, a->name, name);
  if (!a->number) {
    put_characters(s, a->character, count);
    return;
  }
  put_tag(s, MI_DOUBLE, bytes);
  put(s, a->number, bytes);
}

psdm_status psdmp_table_mat_put(psdm_output *out, const psdmp_table_mat_array *a, const psdm_allocator *allocator) {
  sink s = {.out = out};
  (void)allocator;
#ifdef PSDM_HAVE_ZLIB
  s.arena.allocator = allocator;
#endif
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] > INT32_MAX) return PSDM_E_LIMIT;
  if (entries(a) > (UINT32_MAX - 1024) / sizeof(double)) return PSDM_E_LIMIT;
  if (start(&s)) return s.status;
  put_array(&s, a);
  return finish(&s);
}
