/* table.h: tables of numbers in files, CSV and MATLAB, and in memory. Private to the library. */
#ifndef PSDMP_TABLE_H
#define PSDMP_TABLE_H

#include "table/lines.h"
#include "table/mat.h"
#include "table/matrix.h"
#include "table/memory.h"

#endif
