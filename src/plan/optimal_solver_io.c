/* optimal_solver_io.c: finds and loads psdm_ipopt.so: in $PSDM_PLUGINS, near the file that this code is in, or where it was installed. */
#define _GNU_SOURCE /* dladdr, RTLD_DEEPBIND */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/optimal_priv.h"

#ifndef PSDM_PLUGINS_INSTALLED
#define PSDM_PLUGINS_INSTALLED "/usr/local/lib/psdm"
#endif
#ifndef PSDM_PLUGINS_LIBDIR
#define PSDM_PLUGINS_LIBDIR "lib"
#endif

enum { MOST_PATH = 4096 };
static const char plugin[] = "psdm_ipopt.so";

/* its own names first: a program may have MPI's. Sanitizers cannot live with that */
#if defined(__SANITIZE_ADDRESS__) || !defined(RTLD_DEEPBIND)
static const int mode = RTLD_NOW | RTLD_LOCAL;
#else
static const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

/* the folder of the library or program that this code is in */
static bool own_folder(char *folder) {
  Dl_info info;
  ssize_t length = -1;
  folder[0] = '\0';
  if (dladdr(plugin, &info) && info.dli_fname && strstr(info.dli_fname, ".so"))
    snprintf(folder, MOST_PATH, "%s", info.dli_fname);
  else if ((length = readlink("/proc/self/exe", folder, MOST_PATH - 1)) > 0)
    folder[length] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

/* Where a solver was looked for, and what the loader said of a plug-in that is there but does not load. */
typedef struct search {
  char why[256];
  char *tried; /* folders, with commas between; where it was found */
  size_t size;
} search;

static void remember(search *s, const char *path, bool found) {
  size_t length = found ? 0 : strlen(s->tried);
  snprintf(s->tried + length, s->size - length, "%s%s", length ? ", " : "", path);
}

static const psdmp_solver *try_folder(const char *folder, const char *under, search *s) {
  char path[MOST_PATH + 256];
  snprintf(path, sizeof path, "%s%s", folder, under);
  remember(s, path, false);
  snprintf(path, sizeof path, "%s%s/%s", folder, under, plugin);
  if (access(path, R_OK) != 0) return NULL;
  void *library = dlopen(path, mode);
  const char *said = library ? NULL : dlerror();
  const psdmp_solver *solver = library ? dlsym(library, "psdm_solver") : NULL;
  if (solver && strcmp(solver->key, PSDMP_SOLVER_KEY) == 0) {
    remember(s, path, true);
    return solver;
  }
  if (!said) said = "it is of another version";
  psdmp_quote(said, strlen(said), s->why, sizeof s->why);
  if (library) dlclose(library);
  return NULL;
}

static const psdmp_solver *find_solver(search *s) {
  static const char *const near[] = {"/psdm", "/lib/psdm", "/../lib/psdm", "/../" PSDM_PLUGINS_LIBDIR "/psdm"};
  const char *given = secure_getenv("PSDM_PLUGINS");
  char folder[MOST_PATH];
  const psdmp_solver *solver = NULL;
  if (given && *given) return try_folder(given, "", s);
  bool known = own_folder(folder);
  for (size_t k = 0; known && !solver && k < sizeof near / sizeof *near; k++) solver = try_folder(folder, near[k], s);
  return solver ? solver : try_folder(PSDM_PLUGINS_INSTALLED, "", s);
}

psdm_status psdm_optimal_solver(char *where, size_t size) {
  search s = {.tried = where, .size = size};
  where[0] = '\0';
  if (find_solver(&s)) return PSDM_OK;
  if (s.why[0]) snprintf(where, size, "%s", s.why);
  return PSDM_E_MISSING;
}

psdm_status psdmp_solver_load(psdmp_solve *solve, psdm_error *error) {
  char tried[64] = "";
  search s = {.tried = tried, .size = sizeof tried};
  const psdmp_solver *solver = find_solver(&s);
  *solve = solver ? solver->solve : NULL;
  if (solver) return PSDM_OK;
  if (s.why[0]) return psdmp_fail(error, PSDM_E_MISSING, "", 0, 0, "%s cannot be loaded: %s", plugin, s.why);
  return psdmp_fail(
      error, PSDM_E_MISSING, "", 0, 0,
      "optimal motions need IPOPT, and its plug-in %s is not there: install coinor-libipopt-dev and build again, or name its folder in PSDM_PLUGINS", plugin);
}
