/* checkpoint_io.c: finished parts of a run in a folder, each a file that is complete or absent.
 *
 *   KEY-KIND-REQUEST-NUMBER.part    KEY: logs, robot, settings and version; REQUEST: the request that the part answers
 *
 * A file has a magic word, its own name's hashes in full, its length and the hash of its content: truncated or foreign
 * files are not used. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC, fsync */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "feed/feed.h"
#include "log/log.h"
#include "psdm/output.h"
#include "psdm/version.h"
#include "robot/robot.h"

enum { DIGEST = PSDMP_BASE_SHA256_BYTES, NAME = 128, HOST = 64 };

/* increased whenever the meaning of parts changes within a version */
static const int meaning = 3;

struct psdmp_feed_checkpoint {
  const psdm_allocator *allocator;
  char *folder;
  unsigned char key[DIGEST];
  atomic_long *found, *saved, *damaged; /* counts, in an otherwise constant checkpoint */
  atomic_long counts[3];
  long stale;
  char (*named)[NAME]; /* (names) prefixes of this run's parts */
  int names;
  long room;
};

typedef struct head {
  char word[16];
  unsigned char key[DIGEST], request[DIGEST], content[DIGEST];
  unsigned long long bytes;
} head;

static const char word[16] = "psdm part 1";

/* ---- names ---- */

static void hash_of(const void *data, size_t count, unsigned char digest[DIGEST]) {
  psdmp_base_sha256 hash;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, data ? data : "", data ? count : 0);
  psdmp_base_sha256_end(&hash, digest);
}

static void name_of(const psdmp_feed_checkpoint *c, const char *kind, long number, const unsigned char request[DIGEST],
                    char name[NAME]) {
  char text[2][17];
  for (int k = 0; k < 8; k++) {
    snprintf(text[0] + 2 * k, 3, "%02x", c->key[k]);
    snprintf(text[1] + 2 * k, 3, "%02x", request[k]);
  }
  snprintf(name, NAME, "%s-%s-%s-%06ld.part", text[0], kind, text[1], number);
}

static char *path_of(const psdmp_feed_checkpoint *c, const char *name) {
  size_t size = strlen(c->folder) + strlen(name) + 32;
  char *path = psdmp_base_alloc_raw(c->allocator, size);
  if (path) snprintf(path, size, "%s/%s", c->folder, name);
  return path;
}

/* ---- the key ---- */

/* an optional field; if present with its length, so that fields cannot be confused */
static void hash_given(psdmp_base_sha256 *hash, const void *data, size_t bytes) {
  long long length = data ? (long long)bytes : -1;
  psdmp_base_sha256_part(hash, &length, sizeof length);
  if (data && bytes) psdmp_base_sha256_part(hash, data, bytes);
}

/* the options that determine the rows and which of them train; all others are in the requests */
static void hash_options(const psdm_calibrate_options *o, int n, psdmp_base_sha256 *hash) {
  const double numbers[] = {o->log.rate, o->log.jump, o->holdout, o->holdout_block};
  const long counts[] = {o->files,         o->log.degrees, o->log.ignore_extra, o->log.currents,
                         o->holdout_every, o->cache,       o->decimate};
  psdmp_base_sha256_part(hash, numbers, sizeof numbers);
  psdmp_base_sha256_part(hash, counts, sizeof counts);
  hash_given(hash, o->log.columns, o->log.columns ? strlen(o->log.columns) : 0);
  hash_given(hash, o->log.sign, (size_t)n * sizeof(double));
  hash_given(hash, o->log.offset, (size_t)n * sizeof(double));
}

/* a log in memory is identified by its numbers */
static void hash_table(const psdm_log_table *t, psdmp_base_sha256 *hash) {
  const long size[] = {t->rows, t->columns};
  psdmp_base_sha256_part(hash, size, sizeof size);
  for (int c = 0; c < t->columns; c++) {
    psdmp_base_sha256_part(hash, t->names[c], strlen(t->names[c]));
    for (long r = 0; r < t->rows; r++) psdmp_base_sha256_add(hash, &t->column[c][r * t->stride[c]], sizeof(double));
  }
}

static psdm_status make_key(psdmp_feed_checkpoint *c, const psdm_robot *robot, const psdm_calibrate_options *o,
                            psdm_error *error) {
  psdmp_base_sha256 hash;
  uint64_t description;
  if (psdmp_robot_description(robot, c->allocator, &description)) return psdmp_base_no_memory("", error);
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, PSDM_VERSION, strlen(PSDM_VERSION));
  psdmp_base_sha256_part(&hash, &meaning, sizeof meaning);
  psdmp_base_sha256_part(&hash, &description, sizeof description);
  hash_options(o, psdm_robot_n(robot), &hash);
  for (int k = 0; k < o->files; k++) {
    const psdm_log_table *table = psdmp_log_in_memory(o->path[k], &o->log);
    if (table) hash_table(table, &hash);
    else if (!psdmp_feed_file_identity(o->path[k], &hash))
      return psdmp_base_fail(error, PSDM_E_IO, o->path[k], 0, 0,
                             "cannot be reread and recognised, which a checkpoint needs");
  }
  psdmp_base_sha256_end(&hash, c->key);
  return PSDM_OK;
}

/* ---- the folder ---- */

static void count_stale(psdmp_feed_checkpoint *c) {
  static const unsigned char none[DIGEST];
  char own[NAME];
  DIR *folder = opendir(c->folder);
  name_of(c, "", 0, none, own);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    if (length > 5 && strcmp(entry->d_name + length - 5, ".part") == 0 && strncmp(entry->d_name, own, 17) != 0)
      c->stale++;
  }
  if (folder) closedir(folder);
}

psdm_status psdmp_feed_checkpoint_new(const psdm_robot *robot, const psdm_calibrate_options *o,
                                      const psdm_allocator *allocator, psdmp_feed_checkpoint **out, psdm_error *error) {
  *out = NULL;
  psdmp_feed_checkpoint *c = psdmp_base_alloc(allocator, sizeof *c);
  size_t length = strlen(o->checkpoint);
  if (!c) return psdmp_base_no_memory("", error);
  c->allocator = allocator;
  c->found = &c->counts[0], c->saved = &c->counts[1], c->damaged = &c->counts[2];
  c->folder = psdmp_base_alloc_raw(allocator, length + 1);
  psdm_status status = c->folder ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status) memcpy(c->folder, o->checkpoint, length + 1);
  if (!status && mkdir(c->folder, 0777) != 0 && errno != EEXIST)
    status = psdmp_base_fail(error, PSDM_E_IO, c->folder, 0, 0, "cannot be made: %s", strerror(errno));
  if (!status && !psdmp_parallel_team_member(o->ranks)) status = make_key(c, robot, o, error);
  if (!status && !psdmp_parallel_team_member(o->ranks)) {
    count_stale(c);
    if (!psdmp_feed_checkpoint_names(c, PSDMP_FEED_CHECKPOINT_LOG, NULL)) status = psdmp_base_no_memory("", error);
  }
  if (status) return psdmp_feed_checkpoint_free(c), status;
  *out = c;
  return PSDM_OK;
}

void psdmp_feed_checkpoint_free(psdmp_feed_checkpoint *c) {
  if (!c) return;
  psdmp_base_free(c->allocator, c->named);
  psdmp_base_free(c->allocator, c->folder);
  psdmp_base_free(c->allocator, c);
}

/* ---- cleaning up ---- */

bool psdmp_feed_checkpoint_names(psdmp_feed_checkpoint *c, const char *kind, const psdmp_parallel_bytes *request) {
  unsigned char digest[DIGEST];
  char name[NAME];
  if (!psdmp_base_room(c->allocator, &c->named, c->names, 1, &c->room, sizeof name)) return false;
  hash_of(request ? request->data : NULL, request ? request->used : 0, digest);
  name_of(c, kind, 0, digest, name);
  name[strrchr(name, '-') + 1 - name] = '\0'; /* all numbers */
  memcpy(c->named[c->names++], name, sizeof name);
  return true;
}

/* a part, or the incomplete file of a process that was killed */
static bool is_own(const psdmp_feed_checkpoint *c, const char *file) {
  const char *name = file + (file[0] == '.');
  if (!strstr(name, ".part")) return false;
  for (int k = 0; k < c->names; k++)
    if (strncmp(name, c->named[k], strlen(c->named[k])) == 0) return true;
  return false;
}

psdm_status psdmp_feed_checkpoint_clear(const psdmp_feed_checkpoint *c, long *removed, psdm_error *error) {
  psdm_status status = PSDM_OK;
  DIR *folder = opendir(c->folder);
  if (!folder) return psdmp_base_fail(error, PSDM_E_IO, c->folder, 0, 0, "cannot be opened: %s", strerror(errno));
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!is_own(c, entry->d_name)) continue;
    char *path = path_of(c, entry->d_name);
    if (!path) status = psdmp_base_no_memory("", error);
    else if (unlink(path) != 0 && errno != ENOENT)
      status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be removed: %s", strerror(errno));
    else ++*removed;
    psdmp_base_free(c->allocator, path);
  }
  closedir(folder);
  return status;
}

const unsigned char *psdmp_feed_checkpoint_key(const psdmp_feed_checkpoint *c) { return c->key; }
void psdmp_feed_checkpoint_set_key(psdmp_feed_checkpoint *c, const unsigned char key[DIGEST]) {
  memcpy(c->key, key, DIGEST);
}

void psdmp_feed_checkpoint_counts(const psdmp_feed_checkpoint *c, long *found, long *saved, long *stale,
                                  long *damaged) {
  *found = atomic_load(c->found), *saved = atomic_load(c->saved), *damaged = atomic_load(c->damaged);
  *stale = c->stale;
}

/* ---- parts ---- */

static bool read_all(int fd, void *to, size_t count) {
  for (size_t at = 0; at < count;) {
    ssize_t got = read(fd, (char *)to + at, count - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t count) {
  for (size_t at = 0; at < count;) {
    ssize_t put = write(fd, (const char *)from + at, count - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += (size_t)put;
  }
  return true;
}

static bool read_part(const psdmp_feed_checkpoint *c, int fd, const unsigned char request[DIGEST],
                      psdmp_parallel_bytes *part) {
  head h;
  struct stat info;
  unsigned char digest[DIGEST];
  if (fstat(fd, &info) != 0 || !read_all(fd, &h, sizeof h) || memcmp(h.word, word, sizeof word) != 0) return false;
  if (memcmp(h.key, c->key, DIGEST) != 0 || memcmp(h.request, request, DIGEST) != 0) return false;
  if ((unsigned long long)info.st_size != sizeof h + h.bytes || !psdmp_parallel_bytes_room(part, (size_t)h.bytes))
    return false;
  if (!read_all(fd, part->data, (size_t)h.bytes)) return false;
  part->used = (size_t)h.bytes;
  hash_of(part->data, part->used, digest);
  return memcmp(digest, h.content, DIGEST) == 0;
}

bool psdmp_feed_checkpoint_load(const psdmp_feed_checkpoint *c, const char *kind, long number,
                                const psdmp_parallel_bytes *request, psdmp_parallel_bytes *part) {
  unsigned char digest[DIGEST];
  char name[NAME];
  hash_of(request ? request->data : NULL, request ? request->used : 0, digest);
  name_of(c, kind, number, digest, name);
  char *path = path_of(c, name);
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  bool found = fd >= 0 && read_part(c, fd, digest, part);
  if (fd >= 0) atomic_fetch_add(found ? c->found : c->damaged, 1);
  if (fd >= 0) close(fd);
  psdmp_base_free(c->allocator, path);
  return found;
}

/* under a name of this process and machine first, then renamed: others never see a partial file */
static bool write_part(const char *temporary, const char *path, const head *h, const psdmp_parallel_bytes *part) {
  int slot = psdmp_base_pending_add(AT_FDCWD, temporary);
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  /* a process with this number was killed here, or somebody put a link */
  if (fd < 0 && errno == EEXIST && unlink(temporary) == 0)
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  bool written = fd >= 0 && write_all(fd, h, sizeof *h) && write_all(fd, part->data, part->used) && fsync(fd) == 0;
  int why = errno;
  if (fd >= 0 && close(fd) != 0 && written) written = false, why = errno;
  if (written && rename(temporary, path) != 0) written = false, why = errno;
  if (!written && fd >= 0) unlink(temporary);
  psdmp_base_pending_remove(slot);
  errno = why;
  return written;
}

psdm_status psdmp_feed_checkpoint_save(const psdmp_feed_checkpoint *c, const char *kind, long number,
                                       const psdmp_parallel_bytes *request, const psdmp_parallel_bytes *part,
                                       psdm_error *error) {
  head h;
  char name[NAME], host[HOST] = "", hidden[NAME + HOST + 32];
  if (part->failed) return psdmp_base_no_memory("", error);
  memset(&h, 0, sizeof h);
  memcpy(h.word, word, sizeof word);
  memcpy(h.key, c->key, DIGEST);
  hash_of(request ? request->data : NULL, request ? request->used : 0, h.request);
  hash_of(part->data, part->used, h.content);
  h.bytes = part->used;
  name_of(c, kind, number, h.request, name);
  if (gethostname(host, sizeof host - 1)) host[0] = '\0'; /* several machines may share the folder */
  for (char *at = host; *at; at++) *at = *at == '/' ? '_' : *at;
  snprintf(hidden, sizeof hidden, ".%s.%s.%ld", name, host, (long)getpid());
  char *path = path_of(c, name), *temporary = path_of(c, hidden);
  psdm_status status = path && temporary ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status && !write_part(temporary, path, &h, part))
    status = psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
  if (!status) atomic_fetch_add(c->saved, 1);
  psdmp_base_free(c->allocator, path);
  psdmp_base_free(c->allocator, temporary);
  return status;
}
