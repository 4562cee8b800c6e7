/* ranks_plugin_priv.h: what psdm_mpi.so exports. Private to the library and its plug-ins. */
#ifndef PSDMP_PARALLEL_RANKS_PLUGIN_H
#define PSDMP_PARALLEL_RANKS_PLUGIN_H

#include "psdm/ranks.h"

#define PSDMP_PARALLEL_RANKS_KEY "psdm ranks 2"

/* Under the name psdm_mpi. */
typedef struct psdmp_parallel_ranks_plugin {
  const char *key;                          /* PSDMP_PARALLEL_RANKS_KEY */
  void (*library)(char *text, size_t size); /* name and version of this MPI, also before it is initialised */
  bool (*begin)(psdm_ranks *ranks);         /* fills it in; false: MPI does not start */
} psdmp_parallel_ranks_plugin;

#endif
