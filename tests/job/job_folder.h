/* job_folder.h: jobs.h and a folder for what jobs write, removed at the end. */
#ifndef JOB_FOLDER_H
#define JOB_FOLDER_H

#include "jobs.h"

static inline int load_with_folder(void **state) { return load(state) || folder_make(state); }
static inline int unload_with_folder(void **state) { return unload(state) || folder_remove(state); }

#endif
