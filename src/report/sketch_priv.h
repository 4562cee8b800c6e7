/* sketch_priv.h: pictures of a robot, drawn by the report itself. */
#ifndef PSDMP_REPORT_SKETCH_H
#define PSDMP_REPORT_SKETCH_H

#include "report/report_priv.h"

/* Three views of the results of psdm inspect: isometric, from the side, from above. False if the result has no
 * poses. */
bool psdmp_report_sketch(psdmp_report_page *page, const psdmp_report_result *inspect);

#endif
