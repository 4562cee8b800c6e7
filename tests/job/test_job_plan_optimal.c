/* test_job_plan_optimal.c: the job plan from rest to rest: figures, stops with and without a motion so far. */
#include <math.h>

#include "jobs.h"

static int set_up(void **state) {
  (void)state;
  /* a cart of 2 kg: the least time for d metres with the force F is 2 sqrt(d m / F) */
  robot =
      parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic, limits: {effort: 4}}]\n"
                  "links: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n");
  return 0;
}

static psdm_job *to_three(const char *what, const psdm_job_host *host) {
  psdm_error error;
  psdm_job *job = job_of("plan", host, robot);
  set(job, "what", what);
  set(job, "from", "1");
  set(job, "to", "3");
  assert_int_equal(psdm_job_keep(job, "out", &error), PSDM_OK);
  return job;
}

static const psdm_plan_result *answer_of(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_plan_result_type);
  return (const psdm_plan_result *)psdm_job_result(job);
}

/* what a stop would leave is told after every iteration */
static void hear_most(void *user, psdm_job_event event, const char *text) {
  if (event != PSDM_JOB_LACKING) hear(user, event, text);
}

TEST(the_quickest) {
  told heard = {""};
  psdm_job *job = to_three("time", &(psdm_job_host){.user = &heard, .tell = hear_most});
  psdm_job_rows rows;
  run(job);
  const psdm_plan_result *r = answer_of(job);
  assert_true(psdm_job_good(job) && !psdm_job_stopped(job) && r->converged && !r->stopped && r->solver);
  /* IPOPT's tolerance, summed over the nodes */
  assert_float_equal(r->seconds, 2 * sqrt(2 * 2 / 4.0), 1e-5);
  assert_true(r->limit_used <= 1.001 && r->limit_used > 0.999 && !r->path && !r->limited_by);
  assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows == r->rows);
  assert_float_equal(rows.values[1], 1, 1e-9);
  assert_float_equal(rows.values[(rows.rows - 1) * rows.columns + 1], 3, 1e-9);
  assert_true(was_told(&heard, PSDM_JOB_STAGE, "optimising") && was_told(&heard, PSDM_JOB_STAGE, ""));
  assert_true(was_told(&heard, PSDM_JOB_FRAGILE, "IPOPT") && was_told(&heard, PSDM_JOB_FRAGILE, ""));
  writes_its_document(job);
  psdm_job_free(job);
}

/* 12 m^2 d^2 / T^3; without a duration in 1.2 times the least time */
TEST(the_least_strenuous) {
  for (int given = 0; given < 2; given++) {
    psdm_job *job = to_three("energy", NULL);
    double seconds = given ? 3 : 1.2 * 2 * sqrt(2 * 2 / 4.0);
    if (given) set(job, "duration", "3");
    run(job);
    const psdm_plan_result *r = answer_of(job);
    assert_true(psdm_job_good(job));
    assert_float_equal(r->seconds, seconds, 2e-5);
    /* the force limit does not matter where 6 m d / T^2 is below it; the trapezoidal rule of 1000 steps a second */
    if (given) assert_float_equal(r->energy, 12 * 2 * 2 * 2 * 2 / pow(seconds, 3), 1e-4);
    psdm_job_free(job);
  }
}

static bool no(void *user, const char *doing, double share) {
  (void)user, (void)doing, (void)share;
  return false;
}

/* whether there is one is told before: what a stop would leave */
typedef struct waiting {
  bool good;
} waiting;

static void wait_for(void *user, psdm_job_event event, const char *text) {
  waiting *w = user;
  if (event == PSDM_JOB_LACKING) w->good = !text[0];
}

static bool until_there_is_one(void *user, const char *doing, double share) {
  (void)doing, (void)share;
  return !((waiting *)user)->good;
}

TEST(a_stop_keeps_what_respects_the_limits) {
  waiting w = {0};
  psdm_job_rows rows;
  psdm_job *job = to_three("time", &(psdm_job_host){.user = &w, .tell = wait_for, .progress = until_there_is_one});
  set(job, "nodes", "200");
  set(job, "wall", "100");
  psdm_error error = {0};
  psdm_status status = psdm_job_run(job, &error);
  assert_true(psdm_job_stopped(job) && !psdm_job_good(job));
  if (status) { /* it did where the constraints are, and not between them */
    assert_int_equal(status, PSDM_E_STOPPED);
    assert_string_equal(error.text, "no motion so far respects all limits");
    assert_null(psdm_job_result(job));
  } else {
    const psdm_plan_result *r = answer_of(job);
    assert_true(r->stopped && r->limit_used <= 1.01 && r->seconds >= 2 - 1e-5);
    assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows == r->rows);
  }
  psdm_job_free(job);
}

/* and the time that another is made from is no answer */
TEST(a_stop_before_that_leaves_nothing) {
  psdm_job_rows rows;
  psdm_error error = {0};
  psdm_job *job = to_three("energy", &(psdm_job_host){.progress = no});
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_STOPPED);
  assert_string_equal(error.text, "the least time, which determines the duration, was not found");
  assert_true(psdm_job_stopped(job) && !psdm_job_rows_of(job, "out", &rows));
  psdm_job_free(job);
}

/* a motion that need not be the quickest is an answer, and not good */
TEST(without_time_it_is_not_good) {
  told heard = {""};
  psdm_job *job = to_three("time", &(psdm_job_host){.user = &heard, .tell = hear_most});
  set(job, "wall", "1e-9");
  run(job);
  assert_true(!psdm_job_good(job) && !psdm_job_stopped(job) && !answer_of(job)->converged);
  assert_non_null(strstr(heard.text, " the motion may not be optimal: "));
  psdm_job_free(job);
}

TEST_MAIN_IN(set_up, unload, the_quickest, the_least_strenuous, a_stop_keeps_what_respects_the_limits,
             a_stop_before_that_leaves_nothing, without_time_it_is_not_good)
