/* test_urdf_threads.c: the first URDF files of a program, read by many threads at once. The thread sanitizer checks
 * shared data. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <pthread.h>
#include <string.h>

#include "support.h"

enum { THREADS = 8 };

static const char text[] =
    "<robot name='a'><link name='base'/><link name='l'><inertial><mass value='1.5'/><inertia ixx='1' iyy='1' izz='1' "
    "ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='j' type='continuous'><parent link='base'/><child link='l'/><axis xyz='0 0 1'/></joint></robot>";
static pthread_barrier_t together;

static void *load(void *joints) {
  psdm_robot *robot;
  pthread_barrier_wait(&together);
  if (psdm_robot_parse(text, sizeof text - 1, "a.urdf", NULL, NULL, &robot, NULL)) return NULL;
  *(int *)joints = psdm_robot_n(robot);
  psdm_robot_free(robot);
  return NULL;
}

static void test_first_loads(void **unused) {
  (void)unused;
  pthread_t thread[THREADS];
  int joints[THREADS] = {0};
  assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&thread[k], NULL, load, &joints[k]), 0);
  for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
  for (int k = 0; k < THREADS; k++) assert_int_equal(joints[k], 1);
  pthread_barrier_destroy(&together);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_loads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
