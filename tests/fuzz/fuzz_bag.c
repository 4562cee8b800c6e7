/* fuzz_bag.c: any bytes as a bag of ROS 2. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  exercise_log_file(data, size);
  return 0;
}
