/* psdm/component.h: which library is running, and on what. */
#ifndef PSDM_COMPONENT_H
#define PSDM_COMPONENT_H

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running (PSDM_VERSION is that of the headers). */
PSDM_API const char *psdm_version(void);

/* Name and version of the index-th library it is linked with or, for NLopt, opens at run time; NULL past the end. */
PSDM_API const char *psdm_component(int index, const char **version);

/* Number of threads where options say 0: from OMP_NUM_THREADS or the processors available to this process; 1 without
 * OpenMP. */
PSDM_API int psdm_threads(void);

#ifdef __cplusplus
}
#endif
#endif
