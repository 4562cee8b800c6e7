/* result.c: how documents name a robot. */
#include <stdio.h>

#include "psdm/results.h"

void psdm_result_name_robot(psdm_result *result, const psdm_robot *robot, const char **name, const char **fingerprint) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  *name = psdm_result_text(result, psdm_robot_name(robot));
  *fingerprint = psdm_result_text(result, text);
}
