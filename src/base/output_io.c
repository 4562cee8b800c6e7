/* output_io.c: text and JSON to a file that is complete or absent: written to a temporary file beside it, then renamed.
 * Also digests of text (FNV-1a). */
#define _GNU_SOURCE /* realpath, fchmod */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "psdm/output.h"

enum { BUFFER = 64 * 1024, DEPTH = 32 };

struct psdm_output {
  psdmp_base_arena arena;
  int fd;
  int failure;            /* errno of the first failed write, else 0 */
  const char *name;       /* for messages */
  const char *target;     /* final path, NULL when written in place */
  char *temporary;        /* path of the file being written, NULL when in place */
  int depth;              /* open JSON objects and arrays */
  char closer[DEPTH];     /* '}' or ']' of each */
  bool filled[DEPTH + 1]; /* whether a value precedes at that level */
  int pending;            /* of psdmp_base_pending_add, -1 */
  bool passing;           /* the file is not needed after this run */
  bool digesting;         /* text only goes into the digest */
  uint64_t digest;
  bool keeping; /* text goes into memory */
  char *text;   /* what was kept, terminated */
  size_t length, room, used;
  char buffer[BUFFER];
};

/* FNV-1a over the buffer */
static void digest(psdm_output *o) {
  for (size_t at = 0; at < o->used; at++)
    o->digest = (o->digest ^ (unsigned char)o->buffer[at]) * UINT64_C(0x100000001b3);
}

static void keep(psdm_output *o) {
  if (o->length + o->used >= o->room) {
    size_t room = 2 * o->room + BUFFER + 1;
    char *more = psdmp_base_alloc_raw(o->arena.allocator, room);
    if (!more) {
      o->failure = ENOMEM;
      return;
    }
    if (o->length) memcpy(more, o->text, o->length);
    psdmp_base_free(o->arena.allocator, o->text);
    o->text = more, o->room = room;
  }
  memcpy(o->text + o->length, o->buffer, o->used);
  o->length += o->used;
  o->text[o->length] = '\0';
}

static void flush(psdm_output *o) {
  if (o->keeping) {
    if (!o->failure) keep(o);
    o->used = 0;
    return;
  }
  if (o->digesting) {
    digest(o);
    o->used = 0;
    return;
  }
  for (size_t at = 0; at < o->used && !o->failure;) {
    ssize_t put = write(o->fd, o->buffer + at, o->used - at);
    if (put >= 0) at += (size_t)put;
    else if (errno != EINTR) o->failure = errno;
  }
  o->used = 0;
}

static void put(psdm_output *o, const char *text, size_t length) {
  while (length) {
    if (o->used == BUFFER) flush(o);
    size_t piece = length < BUFFER - o->used ? length : BUFFER - o->used;
    memcpy(o->buffer + o->used, text, piece);
    o->used += piece;
    text += piece;
    length -= piece;
  }
}

/* the real path: a link is followed, so that the rename replaces its target and not the link */
static bool resolve(psdm_output *o, const char *path) {
  char *real = realpath(path, NULL);
  const char *from = real ? real : path;
  o->target = psdmp_base_arena_text(&o->arena, from, strlen(from));
  free(real);
  return o->target != NULL;
}

/* a new file beside the target, with the target's permissions or, for a new target, those of the user's mask */
static psdm_status open_temporary(psdm_output *o, const char *path, psdm_error *error) {
  enum { SUFFIX = 40, TRIES = 100 };
  if (!resolve(o, path)) return psdmp_base_no_memory(path, error);
  size_t size = strlen(o->target) + SUFFIX;
  char *temporary = psdmp_base_arena_alloc(&o->arena, size);
  if (!temporary) return psdmp_base_no_memory(path, error);
  for (int i = 0; i < TRIES; i++) {
    snprintf(temporary, size, "%s.part-%ld-%d", o->target, (long)getpid(), i);
    int slot = psdmp_base_pending_add(AT_FDCWD, temporary); /* before the file exists: a signal may come in between */
    o->fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (o->fd >= 0) {
      o->pending = slot;
      break;
    }
    int failure = errno;
    psdmp_base_pending_remove(slot);
    errno = failure;
    if (failure != EEXIST) break;
  }
  if (o->fd < 0) return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
  o->temporary = temporary;
  struct stat info;
  if (stat(o->target, &info) == 0 && fchmod(o->fd, info.st_mode & 07777)) o->failure = errno;
  return PSDM_OK;
}

psdm_status psdm_output_open(const char *path, const psdm_allocator *allocator, psdm_output **output,
                             psdm_error *error) {
  *output = NULL;
  psdm_output *o = psdmp_base_alloc(allocator, sizeof *o);
  if (!o) return psdmp_base_no_memory(path, error);
  bool standard = strcmp(path, "-") == 0;
  o->arena.allocator = allocator;
  o->fd = o->pending = -1;
  o->name = psdmp_base_arena_text(&o->arena, standard ? "<stdout>" : path, strlen(standard ? "<stdout>" : path));
  struct stat info = {0};
  /* what is there must be known: a device that could not be looked at would be replaced by a file */
  int unknown = !standard && path[0] && stat(path, &info) && errno != ENOENT ? errno : 0;
  psdm_status status = PSDM_OK;
  if (!o->name) status = psdmp_base_no_memory(path, error);
  else if (standard) o->fd = STDOUT_FILENO;
  else if (!path[0]) status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "an empty file name cannot be written");
  else if (unknown) status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(unknown));
  else if (S_ISDIR(info.st_mode))
    status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "is a directory; a file name was expected");
  else if (info.st_mode && !S_ISREG(info.st_mode)) { /* a device or pipe cannot be renamed onto */
    o->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (o->fd < 0) status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
  } else status = open_temporary(o, path, error);
  /* a process started without standard streams must not use our file as one of them */
  if (!status && !standard && o->fd <= STDERR_FILENO) {
    int higher = fcntl(o->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (higher < 0) status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    close(o->fd);
    o->fd = higher;
  }
  if (status) psdm_output_abort(&o);
  *output = o;
  return status;
}

/* an output without a file */
static psdm_output *without_file(const psdm_allocator *allocator, const char *name) {
  psdm_output *o = psdmp_base_alloc(allocator, sizeof *o);
  if (!o) return NULL;
  o->arena.allocator = allocator;
  o->fd = o->pending = -1;
  o->name = name;
  return o;
}

psdm_status psdm_output_memory(const psdm_allocator *allocator, psdm_output **output) {
  psdm_output *o = *output = without_file(allocator, "<memory>");
  if (o) o->keeping = true;
  return o ? PSDM_OK : PSDM_E_MEMORY;
}

const char *psdm_output_kept(psdm_output *o) {
  flush(o);
  return o->failure ? NULL : o->text;
}

psdm_status psdmp_base_digest_open(const psdm_allocator *allocator, psdm_output **output) {
  psdm_output *o = *output = without_file(allocator, "<digest>");
  if (!o) return PSDM_E_MEMORY;
  o->digesting = true;
  o->digest = UINT64_C(0xcbf29ce484222325);
  return PSDM_OK;
}

uint64_t psdmp_base_digest_close(psdm_output **output) {
  flush(*output);
  uint64_t value = (*output)->digest;
  psdm_output_abort(output);
  return value;
}

void psdm_output_text(psdm_output *o, const char *text) { put(o, text, strlen(text)); }

void psdmp_base_output_bytes(psdm_output *o, const void *bytes, size_t length) { put(o, bytes, length); }

void psdmp_base_output_fail(psdm_output *o, int failure) { o->failure = o->failure ? o->failure : failure; }

void psdm_output_passing(psdm_output *o) { o->passing = true; }

void psdm_output_number(psdm_output *o, double value) {
  char text[32];
  put(o, text, (size_t)psdmp_base_format_exact(value, text));
}

void psdm_output_print(psdm_output *o, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof text)
    psdmp_base_output_fail(o, EOVERFLOW); /* truncated text must not pass for complete */
  else put(o, text, (size_t)length);
}

bool psdm_output_failed(const psdm_output *o) { return o->failure != 0; }

const char *psdm_output_temporary(const psdm_output *o) { return o->temporary; }

void psdm_output_abort(psdm_output **output) {
  psdm_output *o = *output;
  *output = NULL;
  if (!o) return;
  if (o->fd >= 0 && o->fd != STDOUT_FILENO) close(o->fd);
  if (o->temporary) unlink(o->temporary);
  psdmp_base_pending_remove(o->pending);
  const psdm_allocator *allocator = o->arena.allocator;
  psdmp_base_free(allocator, o->text);
  psdmp_base_arena_free(&o->arena);
  psdmp_base_free(allocator, o);
}

/* syncs the name to disk, too; systems that cannot sync folders are trusted */
static void sync_folder(const char *target) {
  char folder[4096] = ".";
  const char *slash = strrchr(target, '/');
  size_t length = slash ? (size_t)(slash - target) + (slash == target) : 1;
  if (length >= sizeof folder) return;
  memcpy(folder, slash ? target : ".", length);
  folder[length] = '\0';
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

static void note_failure(psdm_output *o, int result) {
  if (result && !o->failure) o->failure = errno;
}

psdm_status psdm_output_commit(psdm_output **output, psdm_error *error) {
  psdm_output *o = *output;
  flush(o);
  /* the bytes reach the disk before the name: a crash in between leaves the old file or the new one */
  bool lasting = o->temporary && !o->passing;
  if (lasting && !o->failure) note_failure(o, fsync(o->fd));
  /* close reports late failures of a full disk or a quota; standard output is closed by the caller */
  if (o->fd != STDOUT_FILENO) {
    int fd = o->fd;
    o->fd = -1;
    note_failure(o, close(fd));
  }
  if (!o->failure && o->temporary) note_failure(o, rename(o->temporary, o->target));
  psdm_status status = PSDM_OK;
  if (o->failure)
    status = psdmp_base_fail(error, o->failure == ENOMEM ? PSDM_E_MEMORY : PSDM_E_IO, o->name, 0, 0,
                             "cannot be written: %s", strerror(o->failure));
  else o->temporary = NULL;
  if (!status && lasting) sync_folder(o->target);
  psdm_output_abort(output);
  return status;
}

/* ---- JSON ---- */

static void put_string(psdm_output *o, const char *text) {
  put(o, "\"", 1);
  for (size_t length = strlen(text), step; length; text += step, length -= step) {
    char escape[8];
    size_t valid = psdmp_base_utf8_length(text, length);
    step = valid ? valid : 1;
    if (*text == '"' || *text == '\\') {
      snprintf(escape, sizeof escape, "\\%c", *text);
      psdm_output_text(o, escape);
    } else if (valid == 1 && (*text < 0x20 || *text == 0x7F)) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text);
      psdm_output_text(o, escape);
    } else if (!valid) {
      psdm_output_text(o, "\\ufffd"); /* an invalid byte: the replacement character */
    } else {
      put(o, text, valid);
    }
  }
  put(o, "\"", 1);
}

/* comma and key before a value */
static void begin_value(psdm_output *o, const char *key) {
  if (o->filled[o->depth]) put(o, o->depth > 2 ? ", " : ",", o->depth > 2 ? 2 : 1);
  /* the outer levels get a line each, the inner ones share it */
  if (o->depth && o->depth <= 2) {
    put(o, "\n", 1);
    for (int i = 0; i < o->depth; i++) put(o, "  ", 2);
  }
  o->filled[o->depth] = true;
  if (key) {
    put_string(o, key);
    put(o, ": ", 2);
  }
}

static void open_level(psdm_output *o, const char *key, char opener, char closer) {
  begin_value(o, key);
  put(o, &opener, 1);
  if (o->depth + 1 < DEPTH) {
    o->closer[o->depth++] = closer;
    o->filled[o->depth] = false;
  } else {
    psdmp_base_output_fail(o, EOVERFLOW); /* nothing would close it */
  }
}

void psdm_json_object(psdm_output *o, const char *key) { open_level(o, key, '{', '}'); }
void psdm_json_array(psdm_output *o, const char *key) { open_level(o, key, '[', ']'); }

void psdm_json_close(psdm_output *o) {
  if (!o->depth) return;
  bool filled = o->filled[o->depth];
  o->depth--;
  if (filled && o->depth < 2) {
    put(o, "\n", 1);
    for (int i = 0; i < o->depth; i++) put(o, "  ", 2);
  }
  put(o, &o->closer[o->depth], 1);
  if (!o->depth) put(o, "\n", 1);
}

void psdm_json_number(psdm_output *o, const char *key, double value) {
  begin_value(o, key);
  if (isfinite(value)) psdm_output_number(o, value);
  else psdm_output_text(o, "null");
}

void psdm_json_integer(psdm_output *o, const char *key, long long value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", value);
  begin_value(o, key);
  psdm_output_text(o, text);
}

void psdm_json_string(psdm_output *o, const char *key, const char *value) {
  begin_value(o, key);
  if (value) put_string(o, value);
  else psdm_output_text(o, "null");
}

void psdm_json_bool(psdm_output *o, const char *key, bool value) {
  begin_value(o, key);
  psdm_output_text(o, value ? "true" : "false");
}

void psdm_json_numbers(psdm_output *o, const char *key, const double *values, int count) {
  psdm_json_array(o, key);
  for (int i = 0; i < count; i++) psdm_json_number(o, NULL, values[i]);
  psdm_json_close(o);
}
