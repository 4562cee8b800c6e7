/* An outside C program: loads a robot, moves it, checks that forward dynamics invert inverse dynamics. */
#include <math.h>
#include <psdm/psdm.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  psdm_robot *robot;
  psdm_work *work;
  psdm_error error;
  char text[900];
  double q[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, qd[6] = {1, -1, 1, -1, 1, -1}, qdd[6] = {1, 2, 3, 4, 5, 6}, tau[6],
         back[6];
  int i;
  if (argc != 2) return 2;
  if (psdm_robot_load(argv[1], NULL, NULL, &robot, &error)) {
    fprintf(stderr, "%s\n", psdm_error_format(&error, text, sizeof text));
    return 3;
  }
  if (psdm_robot_n(robot) != 6 || psdm_work_new(robot, NULL, &work)) return 1;
  if (psdm_inverse(robot, work, q, qd, qdd, tau) || psdm_forward(robot, work, q, qd, tau, back)) return 1;
  for (i = 0; i < 6; i++)
    if (!(fabs(back[i] - qdd[i]) < 1e-9)) return 1;
  printf("%s %s: tau1 = %.6f\n", psdm_robot_name(robot), psdm_version(), tau[0]);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
  return 0;
}
