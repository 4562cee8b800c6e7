/* mcap_io.c: MCAP files, version 0: records {opcode, length, content}, some of them inside chunks, which may be
 * compressed. Read sequentially, a chunk at a time, so that memory does not grow with the file, and its indices are not
 * needed. */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "log/bag_priv.h"

#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef PSDM_HAVE_LZ4
#include <lz4frame.h>
#endif
#ifdef PSDM_HAVE_ZSTD
#include <zstd.h>
#endif

enum {
  MAGIC = 8,
  RECORD = 9,
  IDS = 1 << 16,
  LARGEST = 1 << 28 /* bytes of a record or a chunk: writers make them of a megabyte */
};

enum { OP_SCHEMA = 3, OP_CHANNEL = 4, OP_MESSAGE = 5, OP_CHUNK = 6, OP_DATA_END = 15 };

/* bytes, parsed sequentially */
typedef struct slice {
  const unsigned char *at;
  size_t left;
  bool good; /* everything lay inside */
} slice;

typedef struct buffer {
  unsigned char *bytes;
  size_t room;
} buffer;

typedef struct mcap_bag {
  const psdm_allocator *allocator;
  psdmp_base_arena arena;
  const char *file;
  FILE *stream;
  long long size, at;   /* of the file; next record */
  buffer record, chunk; /* the present record; what a compressed chunk becomes */
  slice inside;         /* records of the present chunk that are left */
  bool end;
  bool ours[IDS];         /* schema is a JointState's */
  bool named[IDS];        /* channel has been examined */
  const char *topic[IDS]; /* of a channel that is ours */
  char seen[PSDMP_LOG_BAG_SEEN];
} mcap_bag;

/* ---- numbers and words, little-endian ---- */

static uint64_t take_number(slice *s, int bytes) {
  uint64_t value = 0;
  if (s->left < (size_t)bytes) s->good = false;
  if (!s->good) return 0;
  for (int k = bytes; k-- > 0;) value = value << 8 | s->at[k];
  s->at += bytes;
  s->left -= (size_t)bytes;
  return value;
}

static slice take_slice(slice *s, uint64_t length) {
  if (length > s->left) s->good = false;
  if (!s->good) return (slice){s->at, 0, false};
  slice part = {s->at, (size_t)length, true};
  s->at += length;
  s->left -= (size_t)length;
  return part;
}

static slice take_text(slice *s) { return take_slice(s, take_number(s, 4)); }

static bool is(const slice *s, const char *word) {
  return s->good && s->left == strlen(word) && memcmp(s->at, word, s->left) == 0;
}

/* ---- bytes ---- */

/* allocates this many bytes; the old content is lost */
static bool make_room(mcap_bag *bag, buffer *b, size_t bytes) {
  if (b->room >= bytes && b->bytes) return true;
  psdmp_base_free(bag->allocator, b->bytes);
  b->room = bytes < 4096 ? 4096 : bytes;
  b->bytes = psdmp_base_alloc_raw(bag->allocator, b->room);
  if (!b->bytes) b->room = 0;
  return b->bytes != NULL;
}

static void damage(psdmp_log_bag_event *event, char *sentence, const char *format, long long at) {
  *event = PSDMP_LOG_BAG_DAMAGED;
  snprintf(sentence, PSDMP_LOG_SENTENCE, format, at);
}

/* ---- records ---- */

static void take_schema(mcap_bag *bag, slice s) {
  uint64_t id = take_number(&s, 2);
  slice name = take_text(&s);
  if (name.good) bag->ours[id] = is(&name, PSDMP_LOG_BAG_TYPE);
}

/* channels are repeated in every chunk: the first counts */
static bool take_channel(mcap_bag *bag, slice s) {
  uint64_t id = take_number(&s, 2), schema = take_number(&s, 2);
  slice topic = take_text(&s), encoding = take_text(&s);
  if (!encoding.good || bag->named[id]) return true;
  bag->named[id] = true;
  if (!bag->ours[schema] || !is(&encoding, PSDMP_LOG_BAG_ENCODING)) {
    psdmp_log_bag_see(bag->seen, (const char *)topic.at, topic.left,
                      bag->ours[schema] ? (const char *)encoding.at : "another type",
                      bag->ours[schema] ? encoding.left : 12);
    return true;
  }
  bag->topic[id] = psdmp_base_arena_text(&bag->arena, (const char *)topic.at, topic.left);
  return bag->topic[id] != NULL;
}

static bool take_message(const mcap_bag *bag, slice s, psdmp_log_bag_message *message) {
  uint64_t channel = take_number(&s, 2);
  take_number(&s, 4); /* its number in the channel */
  uint64_t time = take_number(&s, 8);
  take_number(&s, 8); /* when it was published */
  if (!s.good || !bag->topic[channel]) return false;
  *message = (psdmp_log_bag_message){bag->topic[channel], (int64_t)time, s.at, s.left};
  return true;
}

/* one record outside of chunks: *event becomes a message if it is one of ours */
static psdm_status take_record(mcap_bag *bag, unsigned op, slice content, psdmp_log_bag_event *event,
                               psdmp_log_bag_message *message, psdm_error *error) {
  bool kept = true;
  if (op == OP_SCHEMA) take_schema(bag, content);
  if (op == OP_CHANNEL) kept = take_channel(bag, content);
  if (op == OP_MESSAGE && take_message(bag, content, message)) *event = PSDMP_LOG_BAG_MESSAGE;
  return kept ? PSDM_OK : psdmp_base_no_memory(bag->file, error);
}

/* ---- chunks ---- */

#ifdef PSDM_HAVE_LZ4
static bool expand_lz4(const slice *from, unsigned char *to, size_t size) {
  LZ4F_dctx *context;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return false;
  size_t in = 0, out = 0, hint = 1;
  while (hint && in < from->left) {
    size_t taken = from->left - in, made = size - out;
    hint = LZ4F_decompress(context, to + out, &made, from->at + in, &taken, NULL);
    if (LZ4F_isError(hint) || (!taken && !made)) break;
    in += taken;
    out += made;
  }
  LZ4F_freeDecompressionContext(context);
  return hint == 0 && out == size;
}
#endif

#ifdef PSDM_HAVE_ZSTD
static bool expand_zstd(const slice *from, unsigned char *to, size_t size) {
  size_t made = ZSTD_decompress(to, size, from->at, from->left);
  return !ZSTD_isError(made) && made == size;
}
#endif

/* name in files, package, and decompressor: NULL if not built in */
static const struct packing {
  const char *name, *package;
  bool (*expand)(const slice *from, unsigned char *to, size_t size);
} packings[] = {
#ifdef PSDM_HAVE_LZ4
    {"lz4", "liblz4-dev", expand_lz4},
#else
    {"lz4", "liblz4-dev", NULL},
#endif
#ifdef PSDM_HAVE_ZSTD
    {"zstd", "libzstd-dev", expand_zstd},
#else
    {"zstd", "libzstd-dev", NULL},
#endif
};

/* the records of a chunk, decompressed if needed. *good is false on failure */
static psdm_status expand(mcap_bag *bag, const slice *packed, const slice *compression, size_t size, bool *good,
                          psdm_error *error) {
  char quoted[64];
  *good = false;
  if (!compression->left) {
    *good = packed->left == size;
    bag->inside = *packed;
    return PSDM_OK;
  }
  for (size_t k = 0; k < sizeof packings / sizeof *packings; k++) {
    const struct packing *p = &packings[k];
    if (!is(compression, p->name)) continue;
    if (!p->expand) return psdmp_base_lacks(bag->file, "its chunks need", p->name, p->package, error);
    if (!make_room(bag, &bag->chunk, size)) return psdmp_base_no_memory(bag->file, error);
    *good = p->expand(packed, bag->chunk.bytes, size);
    bag->inside = (slice){bag->chunk.bytes, size, true};
    return PSDM_OK;
  }
  return psdmp_base_fail(error, PSDM_E_IO, bag->file, 0, 0,
                         "its chunks are compressed by '%s'; none, lz4 or zstd was expected",
                         psdmp_base_quote((const char *)compression->at, compression->left, quoted, sizeof quoted));
}

/* zero means no checksum */
static bool sum_is_right(const slice *s, uint64_t sum) {
#ifdef PSDM_HAVE_ZLIB
  return !sum || crc32(crc32(0, NULL, 0), s->at, (unsigned)s->left) == sum;
#else
  (void)s, (void)sum;
  return true;
#endif
}

static psdm_status take_chunk(mcap_bag *bag, slice s, psdmp_log_bag_event *event, char *sentence, psdm_error *error) {
  bool good;
  take_number(&s, 8), take_number(&s, 8); /* its first and last time */
  uint64_t size = take_number(&s, 8), sum = take_number(&s, 4);
  slice compression = take_text(&s), packed = take_slice(&s, take_number(&s, 8));
  bag->inside = (slice){NULL, 0, true};
  if (!packed.good || size > LARGEST) {
    damage(event, sentence, "the chunk that ends at byte %lld is damaged; its messages are omitted", bag->at);
    return PSDM_OK;
  }
  psdm_status status = expand(bag, &packed, &compression, (size_t)size, &good, error);
  if (status) return status;
  if (!good || !sum_is_right(&bag->inside, sum)) {
    bag->inside = (slice){NULL, 0, true};
    damage(event, sentence, "the chunk that ends at byte %lld is damaged; its messages are omitted", bag->at);
  }
  return PSDM_OK;
}

/* ---- one after the other ---- */

/* the next record of the file into the buffer; useless ones are skipped. False at a failure, with *event or the status
 * set */
static psdm_status next_record(mcap_bag *bag, unsigned *op, slice *content, psdmp_log_bag_event *event, char *sentence,
                               psdm_error *error) {
  unsigned char head[RECORD];
  *op = OP_DATA_END;
  if (bag->size - bag->at < RECORD || fread(head, 1, RECORD, bag->stream) != RECORD) {
    if (ferror(bag->stream))
      return psdmp_base_fail(error, PSDM_E_IO, bag->file, 0, 0, "cannot be read: %s", strerror(errno));
    damage(event, sentence, "the file is truncated at byte %lld: it was not closed", bag->at);
    return PSDM_OK;
  }
  slice s = {head, RECORD, true};
  unsigned found = (unsigned)take_number(&s, 1);
  uint64_t length = take_number(&s, 8);
  if (length > (uint64_t)(bag->size - bag->at - RECORD)) {
    damage(event, sentence, "the record at byte %lld goes beyond the end of the file", bag->at);
    return PSDM_OK;
  }
  bool wanted = found == OP_SCHEMA || found == OP_CHANNEL || found == OP_MESSAGE || found == OP_CHUNK;
  bag->at += RECORD + (long long)length;
  *op = found;
  *content = (slice){NULL, 0, true};
  if (wanted && length > LARGEST)
    return psdmp_base_fail(error, PSDM_E_LIMIT, bag->file, 0, 0, "a record of more than %d bytes", LARGEST);
  if (!wanted)
    return fseeko(bag->stream, (off_t)bag->at, SEEK_SET) == 0
               ? PSDM_OK
               : psdmp_base_fail(error, PSDM_E_IO, bag->file, 0, 0, "cannot be read: %s", strerror(errno));
  if (!make_room(bag, &bag->record, (size_t)length)) return psdmp_base_no_memory(bag->file, error);
  if (fread(bag->record.bytes, 1, (size_t)length, bag->stream) != length)
    return psdmp_base_fail(error, PSDM_E_IO, bag->file, 0, 0, "cannot be read to its end");
  *content = (slice){bag->record.bytes, (size_t)length, true};
  return PSDM_OK;
}

/* the next record of the present chunk */
static psdm_status next_inside(mcap_bag *bag, psdmp_log_bag_event *event, psdmp_log_bag_message *message,
                               char *sentence, psdm_error *error) {
  unsigned op = (unsigned)take_number(&bag->inside, 1);
  slice content = take_slice(&bag->inside, take_number(&bag->inside, 8));
  if (content.good) return take_record(bag, op, content, event, message, error);
  bag->inside = (slice){NULL, 0, true};
  damage(event, sentence, "the chunk that ends at byte %lld is truncated and cannot be read", bag->at);
  return PSDM_OK;
}

static psdm_status next(void *self, psdmp_log_bag_event *event, psdmp_log_bag_message *message, char *sentence,
                        psdm_error *error) {
  mcap_bag *bag = self;
  psdm_status status = PSDM_OK;
  *event = PSDMP_LOG_BAG_END;
  while (!status && *event == PSDMP_LOG_BAG_END) {
    unsigned op;
    slice content;
    if (bag->inside.left) {
      status = next_inside(bag, event, message, sentence, error);
      continue;
    }
    if (bag->end) break;
    status = next_record(bag, &op, &content, event, sentence, error);
    if (status) break;
    bag->end = op == OP_DATA_END;
    if (op == OP_CHUNK) status = take_chunk(bag, content, event, sentence, error);
    else if (!bag->end) status = take_record(bag, op, content, event, message, error);
  }
  return status;
}

static long long position(const void *self) { return ((const mcap_bag *)self)->at; }

static const char *seen(const void *self) { return ((const mcap_bag *)self)->seen; }

static void close_bag(void *self) {
  mcap_bag *bag = self;
  if (bag->stream) fclose(bag->stream);
  psdmp_base_free(bag->allocator, bag->record.bytes);
  psdmp_base_free(bag->allocator, bag->chunk.bytes);
  psdmp_base_arena_free(&bag->arena);
  psdmp_base_free(bag->allocator, bag);
}

psdm_status psdmp_log_bag_mcap_open(const char *path, const char *file, long long size, const psdm_allocator *allocator,
                                    psdmp_log_bag *out, psdm_error *error) {
  mcap_bag *bag = psdmp_base_alloc(allocator, sizeof *bag);
  if (!bag) return psdmp_base_no_memory(file, error);
  bag->allocator = bag->arena.allocator = allocator;
  bag->file = file;
  bag->size = size;
  bag->at = MAGIC; /* examined */
  bag->inside = (slice){NULL, 0, true};
  bag->stream = fopen(path, "rb");
  if (!bag->stream || fseeko(bag->stream, MAGIC, SEEK_SET) != 0) {
    psdm_status status = psdmp_base_fail(error, PSDM_E_IO, file, 0, 0, "cannot be opened: %s", strerror(errno));
    close_bag(bag);
    return status;
  }
  *out = (psdmp_log_bag){bag, next, position, seen, close_bag};
  return PSDM_OK;
}
