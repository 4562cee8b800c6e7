/* folder_io.c: folders for output files: made with all above them, and checked before the work that fills them. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

enum { LONGEST = 4096 };

static psdm_status not_made(const char *path, int failure, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be made: %s", strerror(failure));
}

static psdm_status copy(const char *directory, char path[LONGEST], psdm_error *error) {
  size_t length = strlen(directory);
  if (!length || length >= LONGEST)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, directory, 0, 0, "invalid directory name");
  memcpy(path, directory, length + 1);
  return PSDM_OK;
}

static psdm_status make_one(const char *path, psdm_error *error) {
  return mkdir(path, 0777) && errno != EEXIST ? not_made(path, errno, error) : PSDM_OK;
}

psdm_status psdmp_base_folder(const char *directory, psdm_error *error) {
  char path[LONGEST];
  struct stat info;
  psdm_status status = copy(directory, path, error);
  for (char *c = path + 1; !status && *c; c++) {
    if (*c != '/') continue;
    *c = '\0';
    status = make_one(path, error);
    *c = '/';
  }
  if (!status) status = make_one(path, error);
  if (!status && stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
    return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "is not a directory");
  return status;
}

/* cuts the last name off; "." above a relative name */
static void go_up(char *path) {
  char *end = path + strlen(path);
  while (end > path + 1 && end[-1] == '/') end--;
  while (end > path && end[-1] != '/') end--;
  if (end == path) *end++ = '.';
  *end = '\0';
}

psdm_status psdmp_base_folder_check(const char *directory, psdm_error *error) {
  char path[LONGEST];
  struct stat info;
  psdm_status status = copy(directory, path, error);
  if (status) return status;
  while (stat(path, &info)) {
    if (errno != ENOENT || strcmp(path, ".") == 0) return not_made(directory, errno, error);
    go_up(path);
  }
  if (!S_ISDIR(info.st_mode)) return psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "is not a directory");
  return access(path, W_OK | X_OK)
             ? psdmp_base_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno))
             : PSDM_OK;
}
