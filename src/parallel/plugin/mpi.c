/* mpi.c: the plug-in psdm_mpi.so: MPI behind psdm_ranks. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parallel/ranks_plugin_priv.h"

enum { TAG = 1 };
static const size_t PIECE = (size_t)1 << 30; /* bytes of a message: MPI counts them in an int */

/* Waiting may take hours while another rank works: sleeps without using the processor, and hardly delays work of a
 * millisecond. */
static bool wait_for(MPI_Request *request) {
  long pause = 1000;
  for (;;) {
    int done = 0;
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE)) return false;
    if (done) return true;
    nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    if (pause < 1000000) pause += pause / 4;
  }
}

static bool broadcast(void *self, void *bytes, size_t count) {
  (void)self;
  for (size_t at = 0; at < count; at += PIECE) {
    MPI_Request request;
    size_t piece = count - at < PIECE ? count - at : PIECE;
    if (MPI_Ibcast((char *)bytes + at, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD, &request) || !wait_for(&request))
      return false;
  }
  return true;
}

static bool send(void *self, int to, const void *bytes, size_t count) {
  (void)self;
  for (size_t at = 0; at < count; at += PIECE) {
    MPI_Request request;
    size_t piece = count - at < PIECE ? count - at : PIECE;
    if (MPI_Isend((const char *)bytes + at, (int)piece, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request) ||
        !wait_for(&request))
      return false;
  }
  return true;
}

static bool receive(void *self, int from, void *bytes, size_t count) {
  (void)self;
  for (size_t at = 0; at < count; at += PIECE) {
    MPI_Request request;
    size_t piece = count - at < PIECE ? count - at : PIECE;
    if (MPI_Irecv((char *)bytes + at, (int)piece, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request) || !wait_for(&request))
      return false;
  }
  return true;
}

static void finish(void *self) {
  (void)self;
  MPI_Finalize();
}

/* the first words of its self-description: "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n..." */
static void library(char *text, size_t size) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  if (MPI_Get_library_version(whole, &length)) snprintf(whole, sizeof whole, "MPI");
  whole[strcspn(whole, ",\n")] = '\0';
  for (char *at = whole; (at = strchr(at, '\t'));) *at = ' ';
  snprintf(text, size, "%s", whole);
}

/* By default MPI ends all processes when one is unreachable; only in programs that changed this do the functions above
 * fail. They are called by the thread that initialised MPI, so that any thread level suffices. */
static bool begin(psdm_ranks *ranks) {
  int given, begun;
  if (MPI_Initialized(&begun)) return false;
  if (!begun && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given)) return false;
  /* only finalise what was initialised here */
  *ranks = (psdm_ranks){.broadcast = broadcast, .send = send, .receive = receive, .finish = begun ? NULL : finish};
  return !MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank) && !MPI_Comm_size(MPI_COMM_WORLD, &ranks->size);
}

__attribute__((visibility("default"))) extern const psdmp_parallel_ranks_plugin psdm_mpi;
const psdmp_parallel_ranks_plugin psdm_mpi = {PSDMP_PARALLEL_RANKS_KEY, library, begin};
