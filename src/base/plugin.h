/* plugin.h: parts of the library in objects of their own, loaded when they are needed. Private to the library. */
#ifndef PSDMP_PLUGIN_H
#define PSDMP_PLUGIN_H

#include "base/base.h"

/* What a plug-in exports begins with its key: a text that changes whenever what library and plug-in must agree on does. */
typedef struct psdmp_plugin {
  const char *key;
} psdmp_plugin;

/* The symbol of a plug-in ("psdm_ipopt.so"): in $PSDM_PLUGINS, near the file that this code is in, or where it was installed. PSDM_E_MISSING with what the loader
 * said, or with `absent` where there is no such file. It stays loaded. */
psdm_status psdmp_plugin_load(const char *file, const char *symbol, const char *key, const char *absent, const psdmp_plugin **plugin, psdm_error *error);

/* Where it is; PSDM_E_MISSING: the folders that were looked into, or what the loader said. */
psdm_status psdmp_plugin_where(const char *file, const char *symbol, const char *key, char *where, size_t size);

#endif
