/* files_io.c: sizes of logs, and how a log is recognised. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC, st_mtim */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "feed/feed_priv.h"

typedef struct sized {
  double bytes;
  int file;
} sized;

/* the largest first */
static int larger(const void *a, const void *b) {
  const sized *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : x->file - y->file;
}

bool psdmp_feed_assign(const psdmp_feed *f, int ranks, int *rank) {
  sized *files = psdmp_base_alloc(f->allocator, (size_t)(f->files + 1) * sizeof *files);
  double *load = psdmp_base_alloc(f->allocator, (size_t)ranks * sizeof *load);
  int count = 0;
  for (int k = 0; k < f->files && files && load; k++) {
    struct stat info;
    rank[k] = 0;
    if (!psdmp_log_in_memory(f->file[k].path, &f->log) && strcmp(f->file[k].path, "-") != 0 &&
        stat(f->file[k].path, &info) == 0 && S_ISREG(info.st_mode))
      files[count++] = (sized){(double)info.st_size + 1, k};
  }
  bool made = files && load;
  if (made) qsort(files, (size_t)count, sizeof *files, larger);
  for (int k = 0; k < count; k++) {
    int least = 0;
    for (int r = 1; r < ranks; r++)
      if (load[r] < load[least]) least = r;
    rank[files[k].file] = least;
    load[least] += files[k].bytes;
  }
  psdmp_base_free(f->allocator, files);
  psdmp_base_free(f->allocator, load);
  return made;
}

/* size, time of the last change, and first and last bytes */
bool psdmp_feed_file_identity(const char *path, psdmp_base_sha256 *hash) {
  enum { EDGE = 65536 };
  static const unsigned char nothing = 0;
  unsigned char *bytes = malloc(EDGE);
  struct stat info;
  int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  bool known = bytes && fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  long long size = known ? (long long)info.st_size : 0;
  for (int end = 0; end < 2 && known; end++) {
    off_t at = end && size > EDGE ? (off_t)(size - EDGE) : 0;
    ssize_t got;
    do got = pread(fd, bytes, EDGE, at);
    while (got < 0 && errno == EINTR);
    known = got >= 0;
    if (known) psdmp_base_sha256_part(hash, got ? bytes : &nothing, (size_t)got);
  }
  if (fd >= 0) close(fd);
  free(bytes);
  if (!known) return false;
  psdmp_base_sha256_part(hash, &size, sizeof size);
  psdmp_base_sha256_part(hash, &info.st_mtim.tv_sec, sizeof info.st_mtim.tv_sec);
  psdmp_base_sha256_part(hash, &info.st_mtim.tv_nsec, sizeof info.st_mtim.tv_nsec);
  return true;
}
