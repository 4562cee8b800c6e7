/* psdm/ranks.h: processes of one run that work together, on one machine or many.
 *
 *   psdm_ranks *ranks;
 *   psdm_ranks_open(&ranks, &error);                       // NULL: started alone
 *   psdm_calibrate_options options = {.files = 1, .path = &path, .ranks = ranks}; // and psdm_calibrate
 *   psdm_ranks_close(ranks, NULL);
 *
 * Every rank makes the same calls with the same arguments. Rank 0 leads: it decides, gets the answer and reports
 * failures; the others work for it inside the same call and return PSDM_OK with an answer of NULL. Work is divided and
 * summed in an order that depends on the data alone: the answer has the same bits on any number of ranks of one kind of
 * machine.
 *
 * psdm_ranks_open finds MPI (the plug-in psdm_mpi.so) where mpirun or srun started the program. For any other way to
 * pass bytes, fill in a psdm_ranks. */
#ifndef PSDM_RANKS_H
#define PSDM_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions return false when the bytes cannot be passed; the run then fails. They are called by one thread at a
 * time. */
typedef struct psdm_ranks {
  int rank, size;
  bool (*broadcast)(void *self, void *bytes, size_t count); /* from rank 0 to all the others */
  bool (*send)(void *self, int to, const void *bytes, size_t count);
  bool (*receive)(void *self, int from, void *bytes, size_t count);
  void (*finish)(void *self); /* nullable: nothing is sent from now on */
  void *self;                 /* passed to all of them */
  bool over;                  /* rank 0 has closed; initialise with false */
} psdm_ranks;

/* The ranks of this program: NULL when it was started alone, or PSDM_RANKS=off in the environment makes it work alone.
 * PSDM_E_MISSING when it was started with others, but MPI is missing; PSDM_E_ARGUMENT when it was started with others
 * that MPI cannot find (PSDM_RANKS=on lets MPI try where this is uncertain). Call once per program. */
PSDM_API psdm_status psdm_ranks_open(psdm_ranks **ranks, psdm_error *error);

/* Whether the plug-in exists and loads: its file, and MPI's name and version in brackets. PSDM_E_MISSING: the folders
 * searched, or the loader's message. Does not initialise MPI. */
PSDM_API psdm_status psdm_ranks_library(char *where, size_t size);

/* The last call of every rank. Rank 0 releases the others; these wait for that, and answer further requests with this
 * failure (nullable). Accepts NULL ranks. */
PSDM_API void psdm_ranks_close(psdm_ranks *ranks, const char *failure);

#ifdef __cplusplus
}
#endif
#endif
