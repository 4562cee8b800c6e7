/* result.h: results from trees of JSON, for readers that already have one. */
#ifndef PSDMP_RESULT_H
#define PSDMP_RESULT_H

#include "document/document.h"
#include "psdm/result.h"

#endif
