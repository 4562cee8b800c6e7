/* fuzz_yaml.c: any bytes as a robot file. A refused file must get a clean message; an accepted one must survive every
 * function of the rigid room. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const psdm_robot_options options = {.no_snap = size % 2 == 1};
  psdm_robot *robot = parse_or_refuse(data, size, "fuzz.yaml", &options);
  if (!robot) return 0;
  exercise(robot);
  psdm_robot_free(robot);
  return 0;
}
