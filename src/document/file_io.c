/* file_io.c: reads whole files, up to a limit; psdm_output writes them. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document.h"

/* reads to the end into a buffer that doubles, never past limit */
static psdm_status read_all(int fd, const char *path, size_t limit, psdmp_base_arena *arena, char **text,
                            size_t *length, psdm_error *error) {
  size_t size = 32 * 1024, used = 0;
  char *buffer = psdmp_base_arena_alloc(arena, size + 1);
  while (buffer) {
    ssize_t got = read(fd, buffer + used, size - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (got == 0) {
      buffer[used] = '\0';
      *text = buffer;
      *length = used;
      return PSDM_OK;
    }
    used += (size_t)got;
    if (used > limit)
      return psdmp_base_fail(error, PSDM_E_LIMIT, path, 0, 0, "larger than %zu bytes, the most that is read", limit);
    if (used == size) {
      char *bigger = psdmp_base_arena_alloc(arena, 2 * size + 1);
      if (bigger) memcpy(bigger, buffer, used);
      buffer = bigger;
      size *= 2;
    }
  }
  return psdmp_base_no_memory(path, error);
}

psdm_status psdmp_document_file_read(const char *path, size_t limit, psdmp_base_arena *arena, char **text,
                                     size_t *length, psdm_error *error) {
  bool standard = strcmp(path, "-") == 0;
  const char *name = standard ? "<stdin>" : path;
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return psdmp_base_fail(error, PSDM_E_IO, name, 0, 0, "cannot be opened: %s", strerror(errno));
  struct stat info;
  psdm_status status = PSDM_OK;
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
    status = psdmp_base_fail(error, PSDM_E_IO, name, 0, 0, "is a directory; a robot file was expected");
  if (!status) status = read_all(fd, name, limit, arena, text, length, error);
  if (!standard) close(fd);
  return status;
}
