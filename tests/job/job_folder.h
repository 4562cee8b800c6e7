/* job_folder.h: jobs.h and a folder for what jobs write, removed at the end. Define _XOPEN_SOURCE 700 first. */
#ifndef JOB_FOLDER_H
#define JOB_FOLDER_H

#include <ftw.h>
#include <stdlib.h>

#include "jobs.h"

static char folder[] = "/tmp/psdm_job_XXXXXX";

static inline int load_with_folder(void **state) { return load(state) || !mkdtemp(folder) ? -1 : 0; }

static inline int discard(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info;
  (void)kind;
  (void)walk;
  return remove(path);
}

static inline int unload_with_folder(void **state) {
  return unload(state) || nftw(folder, discard, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
