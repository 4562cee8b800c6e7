/* build_io.c: writes texts to a private folder, looks in the cache, else runs the compiler, and loads the object. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document.h"
#include "compile/compile.h"
#include "psdm/output.h"
#include "psdm/version.h"

static psdm_status write_text(psdmp_compile_build *b, int text, const char *key) {
  psdm_output *out;
  psdm_status status = psdm_output_open(b->files.file[text], b->arena.allocator, &out, b->error);
  if (status) return status;
  psdm_output_passing(out);
  status = b->write(b->user, text, key, out, &b->arena);
  if (!status) return psdm_output_commit(&out, b->error);
  psdm_output_abort(&out);
  return psdmp_base_fail(b->error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status));
}

/* everything that the object depends on, without the names of the files, which differ from run to run */
static psdm_status set_key(psdmp_compile_build *b) {
  enum { MOST_TEXT = 1 << 28 };
  psdmp_base_sha256 hash;
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  psdm_status status = PSDM_OK;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, PSDM_VERSION, strlen(PSDM_VERSION));
  psdmp_compile_compiler_identity(&b->command, &hash);
  for (int k = 0; k < PSDMP_COMPILE_TEXTS && !status; k++) {
    char *text;
    size_t length;
    status = psdmp_document_file_read(b->files.file[k], MOST_TEXT, &b->arena, &text, &length, b->error);
    if (!status) psdmp_base_sha256_part(&hash, text, length);
  }
  psdmp_base_sha256_end(&hash, digest);
  for (int i = 0; i < PSDMP_BASE_SHA256_BYTES; i++) snprintf(b->key + 2 * i, 3, "%02x", digest[i]);
  return status;
}

static psdm_status prepare(psdmp_compile_build *b) {
  psdm_status status =
      psdmp_compile_private_make(&b->files, b->folder, sizeof b->folder, b->names, b->prefix, b->error);
  for (int k = 0; k < PSDMP_COMPILE_TEXTS && !status; k++) status = write_text(b, k, "");
  if (!status) status = set_key(b);
  if (status) return status;
  b->cache = psdmp_compile_cache_open(b->option, b->reason, b->room);
  if (b->cache < 0) return PSDM_OK;
  status = psdmp_compile_cache_read(b->cache, b->key, &b->arena, &b->object, b->reason, b->room);
  b->cached = b->stored = !status && b->object.fd >= 0;
  return status ? psdmp_base_no_memory("", b->error) : PSDM_OK;
}

static psdm_status read_object(psdmp_compile_build *b) {
  struct stat info;
  b->object.fd = open(b->files.file[PSDMP_COMPILE_OBJECT], O_RDONLY | O_CLOEXEC);
  if (b->object.fd < 0 || fstat(b->object.fd, &info))
    return psdmp_base_fail(b->error, PSDM_E_COMPILER, b->command.path, 0, 0, "the compiler wrote no object");
  psdm_status status = psdmp_compile_object_read(b->object.fd, (size_t)info.st_size, &b->arena, &b->object);
  return status ? psdmp_base_fail(b->error, status, NULL, 0, 0, "%s while reading what was compiled",
                                  psdm_status_text(status))
                : PSDM_OK;
}

static psdm_status compile(psdmp_compile_build *b) {
  psdmp_compile_command *c = &b->command;
  if (c->words + 4 > PSDMP_COMPILE_WORDS)
    return psdmp_base_fail(b->error, PSDM_E_COMPILER, NULL, 0, 0, "the compiler command has too many words");
  c->word[c->words++] = "-o";
  c->word[c->words++] = b->files.file[PSDMP_COMPILE_OBJECT];
  c->word[c->words++] = b->files.file[PSDMP_COMPILE_TEXTS - 1];
  if (b->library) c->word[c->words++] = b->library;
  c->word[c->words] = NULL;
  psdm_status status = write_text(b, PSDMP_COMPILE_TEXTS - 1, b->key);
  if (!status) status = psdmp_compile_compiler_run(c, b->files.file[PSDMP_COMPILE_LOG], &b->arena, b->error);
  return status ? status : read_object(b);
}

static void close_object(psdmp_compile_build *b) {
  if (b->object.fd >= 0) close(b->object.fd);
  b->object.fd = -1;
}

/* from the cache, or compiled again if that does not load */
psdm_status psdmp_compile_build_run(psdmp_compile_build *b) {
  psdm_status status = prepare(b);
  if (status) return status;
  if (b->object.fd >= 0 && b->load(b->user, &b->object, b->key, b->error) == PSDM_OK) return PSDM_OK;
  b->cached = b->stored = false;
  close_object(b);
  status = compile(b);
  if (!status) status = b->load(b->user, &b->object, b->key, b->error);
  /* an object that cannot be stored is compiled again next time */
  if (!status && b->cache >= 0) b->stored = psdmp_compile_cache_store(b->cache, b->key, &b->object, b->reason, b->room);
  return status;
}

void psdmp_compile_build_end(psdmp_compile_build *b) {
  close_object(b);
  if (b->cache >= 0) close(b->cache);
  psdmp_compile_private_remove(&b->files, b->folder);
  psdmp_base_arena_free(&b->arena);
}
