/* plugin.h: parts of the library in separate objects, loaded on first use. Private to the library. */
#ifndef PSDMP_PLUGIN_H
#define PSDMP_PLUGIN_H

#include "base/base.h"

/* What a plug-in exports starts with its key: a text that changes with any interface between library and plug-in. */
typedef struct psdmp_plugin {
  const char *key;
} psdmp_plugin;

/* Names a plug-in. alone: its libraries find their own symbols before the program's, for libraries with clashing
 * symbols (a sequential MUMPS has MPI's). A library that shares variables with the program, as MPI does with environ,
 * must not be alone. */
typedef struct psdmp_plugin_name {
  const char *file, *symbol, *key; /* "psdm_ipopt.so" */
  const char *absent;              /* the message when there is no such file */
  bool alone;
} psdmp_plugin_name;

/* Loads a plug-in: from $PSDM_PLUGINS, near the file that contains this code, or from the installation folder.
 * PSDM_E_MISSING with the loader's message, or with `absent`. It stays loaded. */
psdm_status psdmp_plugin_load(const psdmp_plugin_name *name, const psdmp_plugin **plugin, psdm_error *error);

/* Its path; PSDM_E_MISSING: the folders searched, or the loader's message. */
psdm_status psdmp_plugin_where(const psdmp_plugin_name *name, char *where, size_t size);

#include "plugin/nlopt.h"

#endif
