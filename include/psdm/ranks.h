/* psdm/ranks.h: processes of one run that work together, on one machine or many.
 *
 *   psdm_ranks *ranks;
 *   psdm_ranks_open(&ranks, &error);                       // NULL: started alone
 *   psdm_calibrate_options options = {.files = 1, .path = &path, .ranks = ranks}; // and psdm_calibrate
 *   psdm_ranks_close(ranks, NULL);
 *
 * Every rank makes the same calls with the same arguments. Rank 0 leads: it decides, gets the answer and reports
 * failures; the others work for it inside the same call and return PSDM_OK with an answer of NULL. Work is cut into
 * pieces and added up in an order that the data alone decide: the answer has the same bits on any number of ranks of
 * one kind of machine.
 *
 * psdm_ranks_open finds MPI (the plug-in psdm_mpi.so) where mpirun or srun started the program. Any other way to
 * pass bytes will do as well: fill in a psdm_ranks. */
#ifndef PSDM_RANKS_H
#define PSDM_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions answer false when the bytes cannot be passed; a run cannot go on then. They are called by one thread at
 * a time. */
typedef struct psdm_ranks {
  int rank, size;
  bool (*broadcast)(void *self, void *bytes, size_t count); /* from rank 0 to all the others */
  bool (*send)(void *self, int to, const void *bytes, size_t count);
  bool (*receive)(void *self, int from, void *bytes, size_t count);
  void (*finish)(void *self); /* nullable: nothing is passed from now on */
  void *self;                 /* handed back to all of them */
  bool over;                  /* rank 0 has closed; initialise with false */
} psdm_ranks;

/* The ranks of this program: NULL when it was started alone, or PSDM_RANKS=off in the environment says that it works
 * alone. PSDM_E_MISSING when it was started with others, and MPI is not there; PSDM_E_ARGUMENT when it was started
 * with others that MPI cannot find (PSDM_RANKS=on lets MPI try where this can only be feared). Once in a program. */
PSDM_API psdm_status psdm_ranks_open(psdm_ranks **ranks, psdm_error *error);

/* Whether the plug-in is there and loads: its file, and MPI's name and version in brackets. PSDM_E_MISSING: the
 * folders that were looked into, or what the loader said. MPI does not begin. */
PSDM_API psdm_status psdm_ranks_library(char *where, size_t size);

/* The last call of every rank. Rank 0 lets the others go; the others wait for that, and answer whatever else it asks
 * them for with this failure (nullable). Accepts NULL ranks. */
PSDM_API void psdm_ranks_close(psdm_ranks *ranks, const char *failure);

#ifdef __cplusplus
}
#endif
#endif
