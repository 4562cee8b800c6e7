/* support.h: what the tests share: a seeded generator, allocators that count and fail, robots by the hundred. */
#ifndef SUPPORT_H
#define SUPPORT_H

/* builds that look for other things than numbers, and take their time: tests of many robots take fewer */
#if defined(__SANITIZE_ADDRESS__) || defined(PSDM_COVERAGE)
#define SLOW_BUILD
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "psdm/psdm.h"

/* ---- tests ---- */

/* A test: TEST(numbers_are_read_exactly) { ... } */
#define TEST(name) static void name(__attribute__((unused)) void **cmocka_state)

/* The main function of a file of tests: TEST_MAIN(test_names, test_files). TEST_MAIN_IN: set_up before the first test,
 * tear_down after the last. */
#define TEST_MAIN(...) TEST_MAIN_IN(NULL, NULL, __VA_ARGS__)
#define TEST_MAIN_IN(set_up, tear_down, ...)                                                       \
  int main(void) {                                                                                 \
    const CMUnitTestFunction tests[] = {__VA_ARGS__};                                              \
    return test_main(#__VA_ARGS__, tests, (int)(sizeof tests / sizeof *tests), set_up, tear_down); \
  }

/* names: separated by a comma and a space. The number of tests that fail. */
int test_main(const char *names, const CMUnitTestFunction *tests, int count, CMFixtureFunction set_up,
              CMFixtureFunction tear_down);

void expect_ok(psdm_status status, const psdm_error *error); /* fails the test with the library's sentence */

/* ---- random numbers: the seed is printed, and PSDM_SEED in the environment overrides it ---- */

typedef struct rng {
  uint64_t state;
} rng;

rng rng_start(const char *test); /* prints "test: seed N" */
uint64_t rng_next(rng *g);
double rng_uniform(rng *g, double low, double high);
int rng_int(rng *g, int low, int high); /* both included */
double rng_normal(rng *g);              /* mean 0, variance 1 */

/* ---- allocators ---- */

typedef struct counting {
  psdm_allocator allocator; /* hand &counting.allocator to the library */
  long calls;               /* allocations so far */
  long live;                /* allocated minus released */
  long fail_at;             /* this call and no other fails, counted from 1; 0: none */
} counting;

void counting_init(counting *c, long fail_at);

/* ---- files ---- */

int files_in(const char *folder); /* how many, temporaries included */

/* A text file, and its text (the caller frees it); they fail the test when they cannot. */
void file_write(const char *path, const char *text);
char *file_read(const char *path);

/* The program's own folder, for TEST_MAIN_IN: made, or made and entered, and removed with all it holds. */
extern char own_folder[64];
int folder_make(void **state);
int folder_enter(void **state);
int folder_remove(void **state);
void folder_empty(void);

/* ---- text in a buffer ---- */

typedef struct text_writer {
  char *at;
  size_t left;
} text_writer;

/* Appends as printf does; fails the test when it does not fit. */
void text_put(text_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- robots ---- */

/* Loads robots/NAME.yaml of the source tree; fails the test when it cannot. */
psdm_robot *load_shipped(const char *name);
/* standard parameters of a point of mass m at r */
void point_parameters(double m, const double r[3], double pi[10]);
/* theta = K pi, term by term */
void base_from_standard(const psdm_model *model, const double *pi, double *theta);
psdm_robot *parse_robot(const char *text);     /* fails the test with the library's sentence */
psdm_robot *parse_unsnapped(const char *text); /* angles as they are written */

extern const char *const shipped_robots[]; /* NULL-terminated names, all of robots/ */

/* What a random robot may be. */
typedef struct random_options {
  int n_min, n_max; /* moving joints */
  bool coupled, trees, prismatic, drives;
} random_options;

/* These in turn, up to so many joints. */
random_options random_kinds(int round, int most);

/* Writes a random robot file: both conventions, origins, base, tool, gravity in any direction. Returns buf. */
char *random_robot_text(rng *g, const random_options *options, char *buf, size_t size);

/* Sets a locale that writes 1,5 for the whole program: an installed one, or one that localedef makes. False when
 * there is none. */
bool comma_locale(void);

/* max |a - b| over count numbers, divided by scale (at least 1e-300) */
double max_difference(const double *a, const double *b, int count);
double max_absolute(const double *a, int count);

#endif
