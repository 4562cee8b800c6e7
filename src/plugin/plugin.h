/* plugin.h: parts of the library in objects of their own, loaded when they are needed. Private to the library. */
#ifndef PSDMP_PLUGIN_H
#define PSDMP_PLUGIN_H

#include "base/base.h"

/* What a plug-in exports begins with its key: a text that changes whenever what library and plug-in must agree on
 * does. */
typedef struct psdmp_plugin {
  const char *key;
} psdmp_plugin;

/* Which one. alone: its libraries find their own names before the program's; that is for libraries with others'
 * names (a sequential MUMPS has MPI's). A library that shares variables with the program, as MPI does with environ,
 * must not be alone. */
typedef struct psdmp_plugin_name {
  const char *file, *symbol, *key; /* "psdm_ipopt.so" */
  const char *absent;              /* what is said where there is no such file */
  bool alone;
} psdmp_plugin_name;

/* The symbol of a plug-in: in $PSDM_PLUGINS, near the file that this code is in, or where it was installed.
 * PSDM_E_MISSING with what the loader said, or with `absent`. It stays loaded. */
psdm_status psdmp_plugin_load(const psdmp_plugin_name *name, const psdmp_plugin **plugin, psdm_error *error);

/* Where it is; PSDM_E_MISSING: the folders that were looked into, or what the loader said. */
psdm_status psdmp_plugin_where(const psdmp_plugin_name *name, char *where, size_t size);

#include "plugin/nlopt.h"

#endif
