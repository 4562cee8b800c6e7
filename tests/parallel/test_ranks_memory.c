/* test_ranks_memory.c: memory runs out in one of several ranks: all of them report it, none waits for ever, and the
 * same ranks can calibrate again. */
#define _XOPEN_SOURCE 700
#include "../identify/test_calibrate_log.h"

#include "psdm/calibrate.h"
#include "ranks_by_fork.h"

enum { RANKS = 3, LOGS = 3, PATIENCE = 60 };

static const char one_link[] =
    "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: revolute, a: 0.4}\n";

/* a pendulum by its own recursion, with noise from the generator on the torques */
static void write_pendulum(const char *path, rng *g, long rows) {
  FILE *file = fopen(path, "w");
  double s = 0, c = 1;
  assert_non_null(file);
  fputs("t,q1,tau1\n", file);
  for (long row = 0; row < rows; row++) {
    s += 0.003 * c, c -= 0.003 * s;
    fprintf(file, "%.3f,%.9g,%.9g\n", (double)row / 1000, s, 30 * c + rng_uniform(g, 0, 1));
  }
  assert_int_equal(fclose(file), 0);
}

typedef enum outcome { FINE, RECOVERED, SECOND_FAILED, SECOND_WRONG } outcome;

/* allocation `at` of one rank fails; then all calibrate once more. Returns in rank 0; the others end */
static outcome twice(const psdm_robot *robot, psdm_calibrate_options o, int rank, long at, double expected,
                     long *calls) {
  forked f;
  counting x;
  psdm_error error = {0};
  psdm_calibration *c = NULL;
  fork_ranks(&f, RANKS);
  if (f.ranks.rank) alarm(PATIENCE);
  o.ranks = &f.ranks;
  counting_init(&x, f.ranks.rank == rank ? at : 0);
  psdm_status first = psdm_calibrate(robot, &o, &x.allocator, &c, &error);
  psdm_calibration_free(c);
  *calls = x.calls;
  c = NULL;
  psdm_status second = psdm_calibrate(robot, &o, NULL, &c, NULL);
  outcome found = second                                           ? SECOND_FAILED
                  : !f.ranks.rank && c->theta[0].value != expected ? SECOND_WRONG
                  : first                                          ? RECOVERED
                                                                   : FINE;
  psdm_calibration_free(c);
  if (!f.ranks.rank && first && !error.text[0])
    fail_msg("allocation %ld of rank %d: a failure without a message", at, rank);
  join_ranks(&f, NULL);
  return found;
}

TEST(memory_runs_out) {
  rng g = rng_start("memory_runs_out");
  char path[LOGS][64];
  const char *name[LOGS];
  for (int k = 0; k < LOGS; k++) name[k] = log_path(path[k]), write_pendulum(path[k], &g, 2000);
  psdm_robot *robot = parse_robot(one_link);
  psdm_calibrate_options o = plain_options(name, LOGS, PSDM_ESTIMATOR_WLS, PSDM_KINEMATICS_POSITION, 20);
  o.threads = 1;
  psdm_calibration *c = NULL;
  assert_int_equal(psdm_calibrate(robot, &o, NULL, &c, NULL), PSDM_OK);
  double expected = c->theta[0].value;
  psdm_calibration_free(c);
  for (int rank = 0; rank < 2; rank++) {
    int count[4] = {0};
    long calls = 0;
    for (long at = 1; at < 700; at += rng_int(&g, 1, 9)) {
      alarm(PATIENCE);
      outcome found = twice(robot, o, rank, at, expected, &calls);
      count[found]++;
      if (found >= SECOND_FAILED)
        fail_msg("allocation %ld of rank %d: the second calibration %s", at, rank,
                 found == SECOND_FAILED ? "fails" : "has another answer");
      if (rank == 0 && found == FINE && at > calls) break;
    }
    alarm(0);
    printf("rank %d: %d times it failed, and went on; %d times nothing failed\n", rank, count[RECOVERED], count[FINE]);
    assert_true(count[RECOVERED] > 20);
  }
  for (int k = 0; k < LOGS; k++) unlink(path[k]);
  psdm_robot_free(robot);
}

TEST_MAIN(memory_runs_out)
