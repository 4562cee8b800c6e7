/* psdm/psdm.h: the whole library.
 *
 * Options. Every options struct is valid when zero-initialised, as by `psdm_derive_options options = {0};` or a
 * compound literal: zero is each field's default. A struct keeps its size: its last member `reserved` must be zero, and
 * a new field takes whole places of it, 8 bytes each, in which zero means the previous behaviour. A program compiled
 * with older headers therefore works with a newer library.
 *
 * Links and joints. Functions take the index of a joint in the file's order, counted from 0, and mean the link behind
 * it. Options name a link as text, or the joint before it; NULL is the tip (psdm_robot_default_link). A number below 0
 * stands for the base or for "none" where a struct says so, and is an error where a link is required.
 *
 * Progress and stops: psdm_progress in psdm/status.h. */
#ifndef PSDM_H
#define PSDM_H

#include "psdm/alloc.h"
#include "psdm/along.h"
#include "psdm/analyze.h"
#include "psdm/base_parameters.h"
#include "psdm/calibrate.h"
#include "psdm/cartesian.h"
#include "psdm/codegen.h"
#include "psdm/collision.h"
#include "psdm/compile.h"
#include "psdm/component.h"
#include "psdm/control.h"
#include "psdm/csv.h"
#include "psdm/eval.h"
#include "psdm/excite.h"
#include "psdm/expr.h"
#include "psdm/filter.h"
#include "psdm/friction.h"
#include "psdm/function.h"
#include "psdm/job.h"
#include "psdm/linearize.h"
#include "psdm/log.h"
#include "psdm/loop.h"
#include "psdm/matrices.h"
#include "psdm/model.h"
#include "psdm/motion.h"
#include "psdm/observer.h"
#include "psdm/online.h"
#include "psdm/optimal.h"
#include "psdm/output.h"
#include "psdm/parameters.h"
#include "psdm/path.h"
#include "psdm/payload.h"
#include "psdm/predictor.h"
#include "psdm/ranks.h"
#include "psdm/reduce.h"
#include "psdm/report.h"
#include "psdm/result.h"
#include "psdm/results.h"
#include "psdm/rigid.h"
#include "psdm/robot.h"
#include "psdm/scale.h"
#include "psdm/sim.h"
#include "psdm/statespace.h"
#include "psdm/status.h"
#include "psdm/steps.h"
#include "psdm/symbolic.h"
#include "psdm/text.h"
#include "psdm/version.h"

#endif
