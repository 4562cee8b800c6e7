/* cache_io.c: objects kept from one run to the next, in a folder that nobody else can write to.
 *
 * One file for each key: the object, a mark, and a SHA-256 of key and object (loaders ignore what follows an ELF
 * object). It is written under another name and renamed, so that a reader sees all of it or nothing. */
#define _GNU_SOURCE /* O_NOFOLLOW, secure_getenv */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/compile.h"

enum { MARK_BYTES = 8, TRAILER = MARK_BYTES + PSDMP_BASE_SHA256_BYTES, MOST = 1 << 28 };
static const char mark[MARK_BYTES + 1] = "psdm-so1";

/* ---- the folder ---- */

/* "" for no cache */
static bool choose(const char *option, char *path, size_t size) {
  static const struct place {
    const char *variable, *behind;
  } places[] = {{"PSDM_CACHE", ""}, {"XDG_CACHE_HOME", "/psdm"}, {"HOME", "/.cache/psdm"}};
  if (option) return (size_t)snprintf(path, size, "%s", option) < size;
  path[0] = '\0';
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    const char *text = psdmp_compile_environment(places[k].variable);
    if (text && (k == 0 || text[0] == '/')) return (size_t)snprintf(path, size, "%s%s", text, places[k].behind) < size;
  }
  return true;
}

/* creates the folder and its missing parents, accessible to this user alone; failures show up when it is opened */
static void make_folders(char *path) {
  for (char *c = path + 1; *c; c++) {
    if (*c != '/') continue;
    *c = '\0';
    mkdir(path, 0700);
    *c = '/';
  }
  mkdir(path, 0700);
}

/* why its permissions are not safe, NULL: they are */
static const char *distrust(const struct stat *info) {
  if (info->st_uid != geteuid()) return "it belongs to another user";
  if (info->st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it";
  return NULL;
}

int psdmp_compile_cache_open(const char *option, char *reason, size_t size) {
  char path[PATH_MAX], shown[200];
  struct stat info;
  reason[0] = '\0';
  if (!choose(option, path, sizeof path) || !path[0]) return -1;
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') path[--length] = '\0'; /* a link with a trailing / would be followed */
  make_folders(path);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const char *why =
      folder < 0 ? (errno == ELOOP || errno == ENOTDIR ? "it is a link, or not a folder" : strerror(errno)) : NULL;
  if (!why) why = fstat(folder, &info) ? strerror(errno) : distrust(&info);
  if (!why) return folder;
  snprintf(reason, size, "the cache '%s' is not used: %s", psdmp_base_quote(path, length, shown, sizeof shown), why);
  if (folder >= 0) close(folder);
  return -1;
}

/* ---- its files ---- */

static void seal(const char *key, const unsigned char *bytes, size_t length,
                 unsigned char digest[PSDMP_BASE_SHA256_BYTES]) {
  psdmp_base_sha256 hash;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, key, strlen(key));
  psdmp_base_sha256_part(&hash, bytes, length);
  psdmp_base_sha256_end(&hash, digest);
}

psdm_status psdmp_compile_object_read(int fd, size_t length, psdmp_base_arena *arena, psdmp_compile_object *object) {
  object->bytes = psdmp_base_arena_alloc_raw(arena, length + 1);
  object->length = 0;
  if (!object->bytes) return PSDM_E_MEMORY;
  while (object->length < length) {
    ssize_t got = pread(fd, object->bytes + object->length, length - object->length, (off_t)object->length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return PSDM_E_IO;
    object->length += (size_t)got;
  }
  return PSDM_OK;
}

static const char *distrust_file(const struct stat *info) {
  if (!S_ISREG(info->st_mode)) return "it is not a regular file";
  if (info->st_nlink != 1) return "it has other names";
  if (info->st_size <= TRAILER || info->st_size > MOST) return "it is incomplete";
  return distrust(info);
}

static bool sealed(const char *key, const psdmp_compile_object *object) {
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  const unsigned char *trailer = object->bytes + object->length - TRAILER;
  seal(key, object->bytes, object->length - TRAILER, digest);
  return memcmp(trailer, mark, MARK_BYTES) == 0 && memcmp(trailer + MARK_BYTES, digest, sizeof digest) == 0;
}

psdm_status psdmp_compile_cache_read(int folder, const char *key, psdmp_base_arena *arena, psdmp_compile_object *object,
                                     char *reason, size_t size) {
  char name[80];
  struct stat info;
  snprintf(name, sizeof name, "%s.so", key);
  /* a pipe would block */
  object->fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (object->fd < 0 && errno == ENOENT) return PSDM_OK;
  const char *why = object->fd < 0             ? "it is a link, or cannot be read"
                    : fstat(object->fd, &info) ? strerror(errno)
                                               : distrust_file(&info);
  if (!why) {
    psdm_status status = psdmp_compile_object_read(object->fd, (size_t)info.st_size, arena, object);
    if (!status && sealed(key, object)) return PSDM_OK;
    why = status ? psdm_status_text(status) : "its content has changed since it was stored";
    if (status == PSDM_E_MEMORY) reason = NULL;
  }
  if (object->fd >= 0) close(object->fd);
  object->fd = -1;
  if (!reason) return PSDM_E_MEMORY;
  snprintf(reason, size, "the cache's file %.12s... is not used: %s", name, why);
  return PSDM_OK;
}

static bool write_all(int fd, const void *data, size_t length) {
  for (const char *at = data; length;) {
    ssize_t put = write(fd, at, length);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    length -= (size_t)put;
  }
  return true;
}

bool psdmp_compile_cache_store(int folder, const char *key, const psdmp_compile_object *object, char *reason,
                               size_t size) {
  enum { TRIES = 100 };
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  char name[80], part[160];
  int fd = -1, slot = -1;
  snprintf(name, sizeof name, "%s.so", key);
  for (int i = 0; i < TRIES; i++) {
    snprintf(part, sizeof part, "%s.part-%ld-%d", name, (long)getpid(), i);
    slot = psdmp_base_pending_add(folder, part);
    fd = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) break;
    int why = errno;
    psdmp_base_pending_remove(slot);
    slot = -1;
    errno = why;
    if (why != EEXIST) break;
  }
  int opened = errno;
  seal(key, object->bytes, object->length, digest);
  bool whole = fd >= 0 && write_all(fd, object->bytes, object->length) && write_all(fd, mark, MARK_BYTES) &&
               write_all(fd, digest, sizeof digest);
  int failure = whole ? 0 : fd < 0 ? opened : errno;
  if (fd >= 0 && close(fd) && !failure) failure = errno;
  if (!failure && renameat(folder, part, folder, name)) failure = errno;
  if (failure && fd >= 0) unlinkat(folder, part, 0);
  psdmp_base_pending_remove(slot);
  if (failure) snprintf(reason, size, "the cache cannot be written: %s", strerror(failure));
  return !failure;
}
