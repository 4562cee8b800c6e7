/* fuzz_hdf5.c: any bytes as a log in HDF5, MATLAB's version 7.3 among them. The format's first bytes are restored if an
 * input has lost them: without them it is text, which has its own fuzzer. */
#include <string.h>

#include <hdf5.h>

#include "exercise.h"

enum { MOST = 1 << 14, MATLAB_BYTES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t signature[] = "\x89HDF\r\n\x1A\n";
  static uint8_t file[MOST];
  if (size < 16 || size > MOST) return 0;
  memcpy(file, data, size);
  memcpy(size > MATLAB_BYTES + 8 && memcmp(data, "MATLAB", 6) == 0 ? file + MATLAB_BYTES : file, signature, 8);
  exercise_log_file(file, size);
  check(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0); /* no file, data set or type of ours is left open */
  return 0;
}
