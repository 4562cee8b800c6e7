/* test_base_trouble.c: system calls fail at every place that reads or writes whole files: robots, tables, outputs. A
 * file that could not be written completely does not exist. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "psdm/csv.h"
#include "psdm/output.h"
#include "trouble.h"

static psdm_status try_robot(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_load(what, NULL, allocator, &robot, error);
  if (status) assert_null(robot);
  if (!status) assert_true(psdm_robot_n(robot) == 2);
  psdm_robot_free(robot);
  return status;
}

TEST(robots) {
  char path[600];
  long failures = 0;
  static const char *const names[] = {"robots/two_link.yaml", "tests/fuzz/corpus/urdf/fixed.urdf"};
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/%s", SOURCE_DIR, names[k]);
    failures += trouble_everywhere(names[k], try_robot, path, NULL);
  }
  assert_true(failures > 2);
}

enum { ROWS = 30000 };

static psdm_status try_table(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_csv *csv = (psdm_csv *)&csv;
  double row[2] = {-1, 0};
  bool more = true;
  psdm_status status = psdm_csv_open(what, allocator, &csv, error);
  if (status) assert_null(csv);
  long rows = -1;
  for (; !status && more; rows++) status = psdm_csv_row(csv, row, &more, error);
  if (!status) assert_true(rows == ROWS && row[0] == ROWS - 1);
  psdm_csv_close(csv);
  return status;
}

TEST(tables) {
  char path[96];
  snprintf(path, sizeof path, "%s/table.csv", own_folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("a,b\n", file);
  for (int k = 0; k < ROWS; k++) fprintf(file, "%d,%d\n", k, -k);
  assert_int_equal(fclose(file), 0);
  assert_true(trouble_everywhere("table", try_table, path, NULL) > 2);
}

static void write_text(const char *path, const char *words) {
  strike_pause(true);
  FILE *file = fopen(path, "w");
  assert_true(file != NULL && fputs(words, file) >= 0 && fclose(file) == 0);
  strike_pause(false);
}

static bool holds(const char *path, const char *words) {
  char text[32] = "";
  strike_pause(true);
  FILE *file = fopen(path, "r");
  size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  strike_pause(false);
  return got == strlen(words) && memcmp(text, words, got) == 0;
}

/* the old text, or all of the new one */
static psdm_status try_output(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const char *path = what;
  psdm_output *output = (psdm_output *)&output;
  write_text(path, "old\n");
  psdm_status status = psdm_output_open(path, allocator, &output, error);
  if (status) {
    assert_null(output);
    assert_true(holds(path, "old\n"));
    return status;
  }
  psdm_output_text(output, "new text\n");
  status = psdm_output_commit(&output, error);
  assert_null(output);
  assert_true(holds(path, "new text\n") || (status && holds(path, "old\n")));
  return status;
}

static int files_here(const char *path, const struct stat *info, int flag, struct FTW *where) {
  (void)info, (void)where;
  if (flag == FTW_F && strstr(path, ".part")) fail_msg("%s was not removed", path);
  return 0;
}

TEST(outputs) {
  char path[96];
  snprintf(path, sizeof path, "%s/out.txt", own_folder);
  assert_true(trouble_everywhere("output", try_output, path, NULL) > 3);
  nftw(own_folder, files_here, 8, FTW_PHYS);
}

static psdm_status try_pipe(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_output *output;
  psdm_status status = psdm_output_open(what, allocator, &output, error);
  if (!status) psdm_output_text(output, "x");
  if (!status) status = psdm_output_commit(&output, error);
  strike_pause(true);
  struct stat info;
  assert_true(lstat(what, &info) == 0 && S_ISFIFO(info.st_mode));
  strike_pause(false);
  return status;
}

/* what is no file is never replaced by one, also where the system cannot tell what it is */
TEST(a_pipe_stays_a_pipe) {
  char path[96];
  snprintf(path, sizeof path, "%s/pipe", own_folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK); /* a writer waits for none */
  assert_true(reader >= 0);
  assert_true(trouble_everywhere("pipe", try_pipe, path, NULL) > 1);
  assert_int_equal(close(reader), 0);
}

TEST_MAIN_IN(folder_make, folder_remove, robots, tables, outputs, a_pipe_stays_a_pipe)
