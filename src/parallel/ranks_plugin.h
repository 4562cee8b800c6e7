/* ranks_plugin.h: what psdm_mpi.so exports. Private to the library and its plug-ins. */
#ifndef PSDMP_RANKS_PLUGIN_H
#define PSDMP_RANKS_PLUGIN_H

#include "psdm/ranks.h"

#define PSDMP_RANKS_KEY "psdm ranks 1"

/* Under the name psdm_mpi. */
typedef struct psdmp_ranks_plugin {
  const char *key;                     /* PSDMP_RANKS_KEY */
  bool (*begin)(psdm_ranks *ranks);    /* fills it in; false: MPI does not start */
} psdmp_ranks_plugin;

#endif
