/* psdm/component.h: which library is running, and on what. */
#ifndef PSDM_COMPONENT_H
#define PSDM_COMPONENT_H

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is running (PSDM_VERSION is that of the headers). */
PSDM_API const char *psdm_version(void);

/* Name and version of the index-th library it is linked with or, for NLopt, opens at run time; NULL behind the last. */
PSDM_API const char *psdm_component(int index, const char **version);

/* The threads of a call whose options say 0: as OMP_NUM_THREADS or the processors that this process may use say; 1
 * without OpenMP. */
PSDM_API int psdm_threads(void);

#ifdef __cplusplus
}
#endif
#endif
