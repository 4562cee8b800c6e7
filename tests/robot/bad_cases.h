/* bad_cases.h: wrong robot files, each with the message that its author gets. */
#ifndef BAD_CASES_H
#define BAD_CASES_H

#include <stdio.h>
#include <string.h>

#include "support.h"

typedef struct bad_case {
  const char *text;
  psdm_status status;
  const char *sentence;
} bad_case;

static psdm_status try_bytes(const char *text, size_t length, const char *file, psdm_error *error) {
  counting c;
  counting_init(&c, 0);
  psdm_robot *robot = (psdm_robot *)&robot;
  psdm_status status = psdm_robot_parse(text, length, file, NULL, &c.allocator, &robot, error);
  if (status) {
    assert_null(robot);
    assert_int_equal(error->status, status);
    /* the same status for a caller without an error struct */
    assert_int_equal(psdm_robot_parse(text, length, file, NULL, NULL, &robot, NULL), status);
  }
  psdm_robot_free(robot);
  assert_int_equal(c.live, 0);
  return status;
}

static psdm_status try_text(const char *text, const char *file, char *sentence, size_t size) {
  psdm_error error;
  psdm_status status = try_bytes(text, strlen(text), file, &error);
  sentence[0] = '\0';
  if (status) psdm_error_format(&error, sentence, size);
  return status;
}

static void check_cases(const bad_case *cases, size_t count, const char *file) {
  int wrong = 0;
  for (size_t i = 0; i < count; i++) {
    char sentence[900];
    psdm_status status = try_text(cases[i].text, file, sentence, sizeof sentence);
    if (status == cases[i].status && strcmp(sentence, cases[i].sentence) == 0) continue;
    print_error("--- case %zu\n%s\n says (%d): %s\n expected: %s\n", i, cases[i].text, status, sentence,
                cases[i].sentence);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}
/* FILE_NAME: the test defines it */
#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof *(cases), FILE_NAME)

#endif
