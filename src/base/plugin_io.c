/* plugin_io.c: finds and loads a plug-in: in $PSDM_PLUGINS, near the file that this code is in, or where it was installed. */
#define _GNU_SOURCE /* dladdr, RTLD_DEEPBIND */
#include "base/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PSDM_PLUGINS_INSTALLED
#define PSDM_PLUGINS_INSTALLED "/usr/local/lib/psdm"
#endif
#ifndef PSDM_PLUGINS_LIBDIR
#define PSDM_PLUGINS_LIBDIR "lib"
#endif

enum { MOST_PATH = 4096 };
static const char here[] = "";

/* its own names first: IPOPT's MUMPS has MPI's, and a program may have them too. Sanitizers cannot live with that */
#if defined(__SANITIZE_ADDRESS__) || !defined(RTLD_DEEPBIND)
static const int mode = RTLD_NOW | RTLD_LOCAL;
#else
static const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

typedef struct wanted {
  const char *file, *symbol, *key;
} wanted;

/* the folder of the library or program that this code is in */
static bool own_folder(char *folder) {
  Dl_info info;
  ssize_t length = -1;
  folder[0] = '\0';
  if (dladdr(here, &info) && info.dli_fname && strstr(info.dli_fname, ".so"))
    snprintf(folder, MOST_PATH, "%s", info.dli_fname);
  else if ((length = readlink("/proc/self/exe", folder, MOST_PATH - 1)) > 0)
    folder[length] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

/* why is what the loader said of a plug-in that is there but does not load */
static const psdmp_plugin *try_folder(const wanted *w, const char *folder, const char *under, char why[256]) {
  char path[MOST_PATH + 256];
  snprintf(path, sizeof path, "%s%s/%s", folder, under, w->file);
  if (access(path, R_OK) != 0) return NULL;
  void *library = dlopen(path, mode);
  const char *said = library ? NULL : dlerror();
  const psdmp_plugin *plugin = library ? dlsym(library, w->symbol) : NULL;
  if (plugin && strcmp(plugin->key, w->key) == 0) return plugin;
  if (!said) said = "it is of another version";
  psdmp_quote(said, strlen(said), why, 256);
  if (library) dlclose(library);
  return NULL;
}

psdm_status psdmp_plugin_load(const char *file, const char *symbol, const char *key, const char *absent, const psdmp_plugin **plugin, psdm_error *error) {
  static const char *const near[] = {"/psdm", "/lib/psdm", "/../lib/psdm", "/../" PSDM_PLUGINS_LIBDIR "/psdm"};
  const wanted w = {file, symbol, key};
  const char *given = getenv("PSDM_PLUGINS");
  char folder[MOST_PATH], why[256] = "";
  *plugin = NULL;
  if (given && *given) {
    *plugin = try_folder(&w, given, "", why);
  } else {
    bool known = own_folder(folder);
    for (size_t k = 0; known && !*plugin && k < sizeof near / sizeof *near; k++) *plugin = try_folder(&w, folder, near[k], why);
    if (!*plugin) *plugin = try_folder(&w, PSDM_PLUGINS_INSTALLED, "", why);
  }
  if (*plugin) return PSDM_OK;
  if (*why) return psdmp_fail(error, PSDM_E_MISSING, "", 0, 0, "%s cannot be loaded: %s", file, why);
  return psdmp_fail(error, PSDM_E_MISSING, "", 0, 0, "%s", absent);
}
