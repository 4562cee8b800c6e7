/* streams.c: the three standard streams: opened when the program begins, checked for errors when it ends. */
#define _POSIX_C_SOURCE 200809L /* fcntl */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* A closed stream is opened for the wrong direction, so that the next opened file does not take its place. Messages to
 * it are dropped. */
void streams_open(void) {
  static const int wrong_way[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", wrong_way[fd]) != fd) _exit(EXIT_USAGE);
}

/* a full disk or a closed stream shows up only here */
int streams_close(int code) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  failed = fclose(stdout) != 0 || failed;
  if (!failed || (code != EXIT_OK && code != EXIT_QUALITY)) return code;
  fprintf(stderr, "psdm: error: <stdout>: cannot be written: %s\n",
          errno == EBADF ? "it is closed"
          : errno        ? strerror(errno)
                         : "the output is incomplete");
  return EXIT_USAGE;
}
