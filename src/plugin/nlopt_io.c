/* nlopt_io.c: finds NLopt at run time: the file in $PSDM_NLOPT, else the system's. */
#define _GNU_SOURCE /* secure_getenv */
#include "plugin/plugin.h"

#include <stdio.h>

#ifdef PSDM_HAVE_NLOPT
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* written once, before the first reader sees `found` */
static psdmp_plugin_nlopt_table table;
static bool found;
static char version_text[40];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* names of its functions, and the offsets of their pointers in the table */
static const struct {
  const char *name;
  size_t at;
} functions[] = {
#define PSDMP_PLUGIN_NLOPT_ROW(name) {"nlopt_" #name, offsetof(psdmp_plugin_nlopt_table, name)},
    PSDMP_PLUGIN_NLOPT_LIST(PSDMP_PLUGIN_NLOPT_ROW)
#undef PSDMP_PLUGIN_NLOPT_ROW
};

static bool take_all(void *library) {
  bool all = true;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    void *symbol = dlsym(library, functions[k].name);
    all = all && symbol;
    /* dlsym returns a function's address as an object pointer */
    memcpy((char *)&table + functions[k].at, &symbol, sizeof symbol);
  }
  return all;
}

static void open_once(void) {
  /* the C functions are the same in both binary versions */
  static const char *const names[] = {"libnlopt.so.0", "libnlopt.so.1", "libnlopt.so"};
  const char *given = secure_getenv("PSDM_NLOPT");
  void *library = given && *given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
  for (size_t k = 0; !library && !(given && *given) && k < sizeof names / sizeof *names; k++)
    library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  found = take_all(library);
  if (!found) {
    dlclose(library);
    return;
  }
  int major, minor, patch;
  table.version(&major, &minor, &patch);
  snprintf(version_text, sizeof version_text, "%d.%d.%d", major, minor, patch);
}

const psdmp_plugin_nlopt_table *psdmp_plugin_nlopt_open(void) {
  pthread_once(&once, open_once);
  return found ? &table : NULL;
}

const char *psdmp_plugin_nlopt_version(void) { return psdmp_plugin_nlopt_open() ? version_text : NULL; }

psdm_status psdmp_plugin_nlopt_missing(psdm_error *error, const char *what) {
  const char *given = secure_getenv("PSDM_NLOPT");
  bool named = given && *given;
  return psdmp_base_fail(error, PSDM_E_MISSING, "", 0, 0,
                         "%s need NLopt, but %s is missing: install libnlopt0, or name the file in PSDM_NLOPT", what,
                         named ? "what PSDM_NLOPT names" : "libnlopt.so.0");
}

#else

const char *psdmp_plugin_nlopt_version(void) { return NULL; }

psdm_status psdmp_plugin_nlopt_missing(psdm_error *error, const char *what) {
  char needs[128];
  snprintf(needs, sizeof needs, "%s need", what);
  return psdmp_base_lacks("", needs, "NLopt", "libnlopt-dev", error);
}
#endif
