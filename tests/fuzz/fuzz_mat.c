/* fuzz_mat.c: any bytes as a MATLAB file of version 5: as a log, and as the matrix of a robot's table. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"
#include "exercise.h"

enum { MOST = 1 << 14 };

static void read_matrix(const uint8_t *data, size_t size) {
  static const char *const names[] = {"DH", "dh", NULL};
  char path[PATH_BYTES];
  psdmp_base_arena arena = {0};
  psdm_error error = {0};
  psdmp_table_matrix m = {0};
  int fd = memory_file(data, size, path);
  psdm_status status = psdmp_table_matrix_read_mat(path, names, &arena, &m, &error);
  if (status) check_error(&error, status);
  for (int k = 0; !status && k < m.rows * m.columns; k++) check(isfinite(m.value[k]));
  psdmp_base_arena_free(&arena);
  close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char words[] = "MATLAB 5.0 MAT-file";
  static uint8_t file[MOST];
  if (size < 128 || size > MOST) return 0;
  memcpy(file, data, size);
  memcpy(file, words, sizeof words - 1); /* without them it is text, which has its own fuzzer */
  exercise_log_file(file, size);
  read_matrix(file, size);
  return 0;
}
