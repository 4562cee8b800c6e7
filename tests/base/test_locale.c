/* test_locale.c: a host with a decimal-comma locale gets the same bytes in every file, and reads the same numbers. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/psdm_locale_XXXXXX";
enum { C_LOCALE, COMMA_LOCALE };

/* the path for a file of this locale; the folder exists */
static const char *place(int locale, const char *name) {
  static char path[4][256];
  static int turn;
  snprintf(path[turn = (turn + 1) % 4], sizeof path[0], "%s/%d/%s", folder, locale, name);
  return path[turn];
}

/* ---- everything that writes numbers ---- */

static void write_robot(const psdm_robot *robot, int locale) {
  static const char *const names[] = {"robot.yaml", "robot.urdf"};
  psdm_error error;
  for (int format = 0; format < 2; format++) {
    psdm_output *out;
    expect_ok(psdm_output_open(place(locale, names[format]), NULL, &out, &error), &error);
    psdm_robot_write(robot, (psdm_robot_format)format, out);
    expect_ok(psdm_output_commit(&out, &error), &error);
  }
}

static void write_model(const psdm_robot *robot, int locale) {
  psdm_model *model;
  psdm_error error;
  expect_ok(psdm_model_derive(robot, NULL, NULL, &model, NULL, &error), &error);
  expect_ok(psdm_model_save(model, robot, place(locale, "model.json"), &error), &error);
  expect_ok(psdm_model_save(model, robot, place(locale, "model.mat"), &error), &error);
  psdm_model_free(model);
}

static void write_code(const psdm_robot *robot, int locale) {
  static const struct {
    const char *name;
    psdm_code_options options;
  } kinds[] = {
      {"c",
       {.functions = PSDM_CODE_RIGID, .effort = -1, .wraps = 1u << PSDM_CODE_WRAP_CASADI | 1u << PSDM_CODE_WRAP_FMU}},
      {"float", {.functions = (2u << PSDM_F_POSE) - 1, .effort = -1, .real_float = true, .target = PSDM_CODE_SIMD}},
      {"cuda", {.functions = (2u << PSDM_F_POSE) - 1, .effort = -1, .target = PSDM_CODE_CUDA}}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    psdm_code *code;
    psdm_error error;
    expect_ok(psdm_code_build(robot, &kinds[k].options, NULL, &code, &error), &error);
    expect_ok(psdm_code_write(code, place(locale, kinds[k].name), &error), &error);
    psdm_code_free(code);
  }
}

static void write_report(int locale) {
  static const char *const results[] = {"inspect.json",  "derive.json", "params.json",    "analyze.json", "reduce.json",
                                        "simulate.json", "bench.json",  "calibrate.json", "predict.csv"};
  psdm_report *report;
  psdm_error error;
  expect_ok(psdm_report_new(&(psdm_report_options){.title = "locale"}, NULL, &report, &error), &error);
  for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
    char path[300];
    snprintf(path, sizeof path, SOURCE_DIR "/tests/fuzz/corpus/report/%s", results[k]);
    expect_ok(psdm_report_add(report, path, &error), &error);
  }
  expect_ok(psdm_report_write(report, place(locale, "page.html"), &error), &error);
  psdm_report_free(report);
}

static void write_table(int locale) {
  const double value[4] = {0.5, -1.25, 1e-300, 1.0 / 3};
  psdm_output *out;
  psdm_error error;
  expect_ok(psdm_output_open(place(locale, "table.txt"), NULL, &out, &error), &error);
  psdm_output_rows(out, 2, 2, value, 0);
  psdm_output_print(out, "%.3g\n", value[3]);
  psdm_json_numbers(out, NULL, value, 4);
  expect_ok(psdm_output_commit(&out, &error), &error);
}

/* a message with a number in it */
static void write_words(int locale) {
  psdm_robot *robot;
  psdm_error error;
  const char text[] = "name: a\njoints:\n  - {name: b, limits: {lower: 2.5, upper: 1.5}}\n";
  FILE *file = fopen(place(locale, "words.txt"), "w");
  assert_non_null(file);
  assert_int_not_equal(psdm_robot_parse(text, strlen(text), "a.yaml", NULL, NULL, &robot, &error), PSDM_OK);
  fprintf(file, "%s\n", error.text);
  fclose(file);
}

static void write_all(int locale) {
  char path[300];
  snprintf(path, sizeof path, "%s/%d", folder, locale);
  assert_int_equal(mkdir(path, 0700), 0);
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  write_robot(robot, locale);
  write_model(robot, locale);
  write_code(robot, locale);
  write_report(locale);
  write_table(locale);
  write_words(locale);
  psdm_robot_free(robot);
}

/* ---- the two folders ---- */

static void remove_all(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command)) printf("%s could not be removed\n", folder);
}

TEST(test_same_bytes) {
  char command[400];
  assert_non_null(mkdtemp(folder));
  atexit(remove_all);
  write_all(C_LOCALE);
  if (!comma_locale()) {
    print_message("SKIPPED: no comma-decimal locale is installed, and localedef made none\n");
    skip();
  }
  assert_int_equal(localeconv()->decimal_point[0], ',');
  write_all(COMMA_LOCALE);
  setlocale(LC_ALL, "C");
  snprintf(command, sizeof command,
           "diff -r %s/0 %s/1 | head -c 2000; test \"$(find %s/0 -type f | wc -l)\" -ge 25 && diff -rq %s/0 %s/1 > "
           "/dev/null",
           folder, folder, folder, folder, folder);
  if (system(command)) fail_msg("the locale changes what is written");
}

/* numbers are formatted in one place, so that no locale can interfere */
TEST(test_one_place) {
  if (system("cd " SOURCE_DIR
             "/src && ! grep -rnE '\\bvsnprintf\\(|\\bstrto[df]\\(|\\batof\\(|\\bs?n?printf\\([^;]*[^%]%[-+ "
             "0#]*[0-9.*]*l?[efgEFG]\\b' --include=*.c . --exclude=number.c"))
    fail_msg("numbers are formatted or read outside number.c");
}

TEST_MAIN(test_same_bytes, test_one_place)
