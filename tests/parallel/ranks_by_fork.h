/* ranks_by_fork.h: ranks without MPI: forked processes that pass bytes through sockets. Part of one program at a
 * time. */
#ifndef RANKS_BY_FORK_H
#define RANKS_BY_FORK_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leave.h"
#include "support.h"

enum { MOST_RANKS = 9 };

/* Rank 0 has a socket to each of the others, and they have one to rank 0. */
typedef struct forked {
  psdm_ranks ranks;
  int socket[MOST_RANKS];
  pid_t process[MOST_RANKS];
  int killed; /* a rank that the test has killed; 0: none */
} forked;

static bool pass(int fd, void *bytes, size_t count, bool out) {
  for (size_t at = 0; at < count;) {
    ssize_t moved =
        out ? send(fd, (char *)bytes + at, count - at, MSG_NOSIGNAL) : recv(fd, (char *)bytes + at, count - at, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += (size_t)moved;
  }
  return true;
}

static bool fork_broadcast(void *self, void *bytes, size_t count) {
  forked *f = self;
  if (f->ranks.rank > 0) return pass(f->socket[0], bytes, count, false);
  bool passed = true;
  for (int k = 1; k < f->ranks.size; k++) passed &= pass(f->socket[k], bytes, count, true);
  return passed;
}

static bool fork_send(void *self, int to, const void *bytes, size_t count) {
  return pass(((forked *)self)->socket[to], (void *)(size_t)bytes, count, true);
}
static bool fork_receive(void *self, int from, void *bytes, size_t count) {
  return pass(((forked *)self)->socket[from], bytes, count, false);
}

/* Returns in every rank. */
static void fork_ranks(forked *f, int size) {
  *f = (forked){.ranks = {.size = size, .broadcast = fork_broadcast, .send = fork_send, .receive = fork_receive}};
  f->ranks.self = f;
  for (int k = 1; k < size; k++) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      for (int other = 1; other < k; other++) close(f->socket[other]);
      close(pair[0]);
      f->ranks.rank = k;
      f->socket[0] = pair[1];
      return;
    }
    close(pair[1]);
    f->socket[k] = pair[0];
    f->process[k] = child;
  }
}

/* The last call of every rank; ranks other than 0 end here. */
static void join_ranks(forked *f, const char *failure) {
  psdm_ranks_close(&f->ranks, failure);
  if (f->ranks.rank > 0) leave(0);
  for (int k = 1; k < f->ranks.size; k++) {
    int status;
    close(f->socket[k]);
    assert_int_equal(waitpid(f->process[k], &status, 0), f->process[k]);
    if (f->killed != k && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
      fail_msg("rank %d ended by itself: status %d", k, status);
  }
}

#endif
