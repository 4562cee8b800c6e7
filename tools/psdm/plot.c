/* plot.c: the folder of a reduced model. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include "plot.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

int plot_directory(const char *directory) {
  struct stat info;
  if (mkdir(directory, 0777) == 0 || (errno == EEXIST && stat(directory, &info) == 0 && S_ISDIR(info.st_mode)))
    return -1;
  psdm_error error = {.status = PSDM_E_IO};
  snprintf(error.file, sizeof error.file, "%.200s", directory);
  snprintf(error.text, sizeof error.text, "cannot be made: %s", strerror(errno == EEXIST ? ENOTDIR : errno));
  return tool_fail(&error);
}
