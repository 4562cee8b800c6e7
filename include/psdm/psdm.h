/* psdm/psdm.h: the whole library. */
#ifndef PSDM_H
#define PSDM_H

#include "psdm/alloc.h"
#include "psdm/codegen.h"
#include "psdm/compile.h"
#include "psdm/component.h"
#include "psdm/csv.h"
#include "psdm/eval.h"
#include "psdm/expr.h"
#include "psdm/linearize.h"
#include "psdm/matrices.h"
#include "psdm/model.h"
#include "psdm/output.h"
#include "psdm/params.h"
#include "psdm/reduce.h"
#include "psdm/rigid.h"
#include "psdm/robot.h"
#include "psdm/statespace.h"
#include "psdm/status.h"
#include "psdm/text.h"
#include "psdm/version.h"

#endif
