/* What the headers promise to threads: a robot, a model and a graph are constant and may be shared, each thread brings
 * its own work. Four threads make the same calls on the same objects at once, parse and derive their own meanwhile, and
 * all get the results of one thread. Under ThreadSanitizer (make tsan) this also shows that no two of them touch the
 * same word. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { THREADS = 4, TURNS = 20, N = 6, MOST_L = 66 };

typedef struct shared {
  const psdm_robot *robot;
  const psdm_model *model;
} shared;

typedef struct answers {
  double tau[N], M[N * N], qdd[N], A[N * N], pose[12], model_tau[N], base[MOST_L];
  long p;
  int l;
} answers;

typedef struct thread {
  const shared *with;
  answers found;
  bool done;
} thread;

static const double q[N] = {0.3, -1.1, 0.7, 0.2, -0.4, 1.3}, qd[N] = {1, -0.5, 0.2, 0.9, -1.4, 0.6},
                    qdd[N] = {-2, 1, 0.5, 3, -1, 2};

/* the same again with the thread's own objects: they may share nothing by accident */
static bool make_own(answers *a) {
  psdm_robot *own;
  psdm_model *model;
  if (psdm_robot_load(SOURCE_DIR "/robots/kuka_kr6.yaml", NULL, NULL, &own, NULL)) return false;
  bool made = !psdm_model_derive(own, NULL, NULL, &model, NULL, NULL);
  if (made) {
    double pi[11 * N];
    psdm_robot_parameters(own, pi);
    psdm_model_theta(model, pi, a->base);
    a->p = psdm_model_p(model);
    a->l = psdm_model_l(model);
    psdm_model_free(model);
  }
  psdm_robot_free(own);
  return made;
}

static bool ask_shared(const shared *s, answers *a) {
  psdm_work *work = NULL;
  psdm_linear *linear = NULL;
  double *scratch = calloc(psdm_model_scratch(s->model), sizeof *scratch), theta[MOST_L], pi[11 * N], B[N * N],
         M[N * N];
  bool good = scratch && !psdm_work_new(s->robot, NULL, &work) && !psdm_linear_new(s->robot, NULL, &linear);
  psdm_robot_parameters(s->robot, pi);
  for (int turn = 0; turn < TURNS && good; turn++) {
    good = !psdm_inverse(s->robot, work, q, qd, qdd, a->tau) && !psdm_mass(s->robot, work, q, a->M) &&
           !psdm_forward(s->robot, work, q, qd, a->tau, a->qdd) &&
           !psdm_linearize_inverse(s->robot, linear, q, qd, qdd, a->A, B, M) &&
           !psdm_pose(s->robot, work, q, N - 1, a->pose);
    psdm_model_theta(s->model, pi, theta);
    psdm_model_inverse(s->model, theta, q, qd, qdd, scratch, a->model_tau);
  }
  psdm_work_free(work, NULL);
  psdm_linear_free(linear, NULL);
  free(scratch);
  return good;
}

static void *run(void *user) {
  thread *t = user;
  t->done = make_own(&t->found) && ask_shared(t->with, &t->found);
  return NULL;
}

static void test_threads_share_constant_objects(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  assert_true(psdm_model_l(model) <= MOST_L);
  const shared with = {robot, model};
  static thread alone, team[THREADS];
  pthread_t id[THREADS];
  alone.with = &with;
  run(&alone);
  assert_true(alone.done);
  for (int k = 0; k < THREADS; k++) {
    team[k].with = &with;
    assert_int_equal(pthread_create(&id[k], NULL, run, &team[k]), 0);
  }
  for (int k = 0; k < THREADS; k++) {
    assert_int_equal(pthread_join(id[k], NULL), 0);
    assert_true(team[k].done);
    assert_memory_equal(&team[k].found, &alone.found, sizeof alone.found); /* to the last bit */
  }
  assert_true(max_difference(alone.found.tau, alone.found.model_tau, N) <= 1e-11 * max_absolute(alone.found.tau, N));
  psdm_model_free(model);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_constant_objects)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
