/* test_job_code.c: codegen and bench as jobs: files in a folder, operations that belong together, stops. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "job_folder.h"

static const psdm_codegen_result *code_of(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_codegen_result_type);
  return (const psdm_codegen_result *)psdm_job_result(job);
}

/* the text of a file in the folder NAME of this test's folder */
static char *text_of(const char *name, const char *file) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s/%s", own_folder, name, file);
  return file_read(path);
}

static void code_in(psdm_job *job, const char *name, const char *functions) {
  char path[100];
  snprintf(path, sizeof path, "%s/%s", own_folder, name);
  set(job, "out", path);
  set(job, "functions", functions);
}

/* the files of the document are there, and name the host's command */
TEST(code_is_written) {
  psdm_job *job = job_of("codegen", &(psdm_job_host){.command = "made by this very test"}, robot);
  code_in(job, "plain", "inverse,mass");
  set(job, "effort", "0");
  run(job);
  const psdm_codegen_result *r = code_of(job);
  assert_true(r->functions.rows == 2 && r->files.rows >= 4 && r->omitted.rows == 0);
  assert_string_equal(r->functions.item[0].function, "inverse");
  assert_true(r->functions.item[0].mult > 0 && r->functions.item[0].error < 1e-12);
  for (long k = 0; k < r->files.rows; k++) free(text_of("plain", r->files.item[k]));
  char *text = text_of("plain", "two_link.c");
  assert_non_null(strstr(text, "made by this very test"));
  free(text);
  writes_its_document(job);
  psdm_job_free(job);
}

/* a stop ends the search, not the code, unless nobody waits for it */
TEST(a_stop_while_generating) {
  psdm_job *job = job_of("codegen", &(psdm_job_host){.stopped = always}, robot);
  code_in(job, "stopped", "all");
  set(job, "effort", "100000");
  run(job);
  assert_true(psdm_job_stopped(job) && code_of(job)->functions.rows > 8);
  psdm_job_free(job);

  job = job_of("codegen", &(psdm_job_host){.stopped = always, .hurried = always}, robot);
  code_in(job, "hurried", "all");
  set(job, "effort", "100000");
  refuses(job, PSDM_E_STOPPED, "");
  char path[100];
  snprintf(path, sizeof path, "%s/hurried", own_folder);
  assert_int_not_equal(access(path, F_OK), 0);
}

TEST(wrong_settings_are_named) {
  static const struct {
    const char *command, *name, *text, *sentence;
  } wrong[] = {
      {"codegen", "prefix", "a", "missing `out = DIR`: the folder to write to"},
      {"codegen", "functions", "mas", "function 'mas': did you mean 'mass'?"},
      {"codegen", "wrap", "casady", "`wrap` 'casady': did you mean 'casadi'?"},
      {"codegen", "friction_columns", "", "`friction_columns` needs the function regressor"},
      {"codegen", "link", "7", "`link` '7': no link or joint has this name, and it is not a number from 1 to 2"},
      {"bench", "repeat", "1.5", "`repeat`: a whole number from 1 to 1000000 was expected"},
      {"bench", "functions", "mas", "function 'mas': did you mean 'mass'?"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    psdm_job *job = job_of(wrong[k].command, NULL, robot);
    if (k > 0 && strcmp(wrong[k].command, "codegen") == 0) code_in(job, "wrong", "inverse");
    set(job, wrong[k].name, wrong[k].text);
    refuses(job, PSDM_E_SETTING, wrong[k].sentence);
  }
}

/* the operations are those of the code itself, each method's number is right, and what is chosen is the cheaper */
TEST(bench_measures_the_code) {
  psdm_code *code;
  psdm_error error = {0};
  psdm_job *job = job_of("bench", NULL, robot);
  set(job, "functions", "inverse");
  set(job, "repeat", "2");
  run(job);
  const psdm_bench_result *r = (const psdm_bench_result *)psdm_job_result(job);
  assert_true(psdm_job_good(job) && r->error <= 1e-12 && r->repeat == 2 && r->functions.rows == 1);
  const psdm_timed_function *f = &r->functions.item[0];
  assert_true(f->ns > 0 && f->ns_batch > 0 && f->library_ns > 0 && f->bytes > 0 && f->others.rows == 1);
  assert_true(f->mult + f->add <= f->others.item[0].mult + f->others.item[0].add);
  for (int k = 0; k < 2; k++) {
    psdm_cost cost;
    const char *method = k ? f->others.item[0].method : f->method;
    psdm_code_options options = {.functions = 1u << PSDM_F_INVERSE,
                                 .target = PSDM_CODE_SIMD,
                                 .effort = 50,
                                 .method = strcmp(method, "recursive") == 0 ? PSDM_CODE_RECURSIVE : PSDM_CODE_EXPANDED};
    if (psdm_code_build(robot, &options, NULL, &code, &error)) fail_msg("%s", error.text);
    psdm_code_at(code, 0, &cost, NULL);
    assert_int_equal(k ? f->others.item[0].mult : f->mult, cost.mult);
    assert_int_equal(k ? f->others.item[0].add : f->add, cost.add);
    psdm_code_free(code);
  }
  writes_its_document(job);
  psdm_job_free(job);
}

TEST(bench_needs_a_compiler) {
  psdm_job *job = job_of("bench", NULL, robot);
  set(job, "functions", "inverse");
  set(job, "compiler", "/nowhere/cc");
  refuses(job, PSDM_E_COMPILER, "no C compiler: '/nowhere/cc' was not found");
}

TEST_MAIN_IN(load_with_folder, unload_with_folder, code_is_written, a_stop_while_generating, wrong_settings_are_named,
             bench_measures_the_code, bench_needs_a_compiler)
