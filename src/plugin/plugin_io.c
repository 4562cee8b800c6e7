/* plugin_io.c: finds and loads a plug-in: from $PSDM_PLUGINS, near the file that contains this code, or from the
 * installation folder. */
#define _GNU_SOURCE /* dladdr, RTLD_DEEPBIND, secure_getenv */
#include "plugin/plugin.h"

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

/* sanitizers do not work with RTLD_DEEPBIND */
#if defined(__SANITIZE_ADDRESS__) || !defined(RTLD_DEEPBIND)
enum { OWN_NAMES = 0 };
#else
enum { OWN_NAMES = RTLD_DEEPBIND };
#endif

/* The folders searched, and the loader's message for a plug-in that exists but does not load. */
typedef struct search {
  char why[256];
  char *tried; /* folders, separated by commas; the file found */
  size_t size;
} search;

/* the folder of the library or program that contains this code */
static bool own_folder(char *folder) {
  Dl_info info;
  ssize_t length = -1;
  folder[0] = '\0';
  if (dladdr(here, &info) && info.dli_fname && strstr(info.dli_fname, ".so"))
    snprintf(folder, MOST_PATH, "%s", info.dli_fname);
  else if ((length = readlink("/proc/self/exe", folder, MOST_PATH - 1)) > 0) folder[length] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

static void remember(search *s, const char *path, bool found) {
  size_t length = found ? 0 : strlen(s->tried);
  snprintf(s->tried + length, s->size - length, "%s%s", length ? ", " : "", path);
}

static const psdmp_plugin *try_folder(const psdmp_plugin_name *w, const char *folder, const char *under, search *s) {
  char path[MOST_PATH + 256];
  snprintf(path, sizeof path, "%s%s", folder, under);
  remember(s, path, false);
  snprintf(path, sizeof path, "%s%s/%s", folder, under, w->file);
  if (access(path, R_OK) != 0) return NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | (w->alone ? OWN_NAMES : 0));
  const char *said = library ? NULL : dlerror();
  const psdmp_plugin *plugin = library ? dlsym(library, w->symbol) : NULL;
  if (plugin && strcmp(plugin->key, w->key) == 0) {
    remember(s, path, true);
    return plugin;
  }
  if (!said) said = "it belongs to another version";
  psdmp_base_quote(said, strlen(said), s->why, sizeof s->why);
  if (library) dlclose(library);
  return NULL;
}

static const psdmp_plugin *find_plugin(const psdmp_plugin_name *w, search *s) {
  static const char *const near[] = {"/psdm", "/lib/psdm", "/../lib/psdm", "/../" PSDM_PLUGINS_LIBDIR "/psdm"};
  const char *given = secure_getenv("PSDM_PLUGINS");
  char folder[MOST_PATH];
  const psdmp_plugin *plugin = NULL;
  if (given && *given) return try_folder(w, given, "", s);
  bool known = own_folder(folder);
  for (size_t k = 0; known && !plugin && k < sizeof near / sizeof *near; k++)
    plugin = try_folder(w, folder, near[k], s);
  return plugin ? plugin : try_folder(w, PSDM_PLUGINS_INSTALLED, "", s);
}

psdm_status psdmp_plugin_load(const psdmp_plugin_name *name, const psdmp_plugin **plugin, psdm_error *error) {
  char tried[64] = "";
  search s = {.tried = tried, .size = sizeof tried};
  *plugin = find_plugin(name, &s);
  if (*plugin) return PSDM_OK;
  if (s.why[0]) return psdmp_base_fail(error, PSDM_E_MISSING, "", 0, 0, "%s cannot be loaded: %s", name->file, s.why);
  return psdmp_base_fail(error, PSDM_E_MISSING, "", 0, 0, "%s", name->absent);
}

psdm_status psdmp_plugin_where(const psdmp_plugin_name *name, char *where, size_t size) {
  search s = {.tried = where, .size = size};
  where[0] = '\0';
  if (find_plugin(name, &s)) return PSDM_OK;
  if (s.why[0]) snprintf(where, size, "%s", s.why);
  return PSDM_E_MISSING;
}
