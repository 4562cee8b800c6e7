/* tx40.c: base parameters of the Staubli TX40 beside those that FIGAROH published from the same log. Built and run by
 * deep_tx40.sh.
 *
 *   tx40 LOG PEER.csv       PEER.csv: expression, ols, its sd in %, wls, its sd in %
 *
 * The peer's standard deviations are s^2 (W^T W)^-1, ours the jackknife over blocks of time. The peer models friction
 * of joints 5 and 6 differently: at both joints and again at the motor that turns with both (fvm6, fsm6); we model it
 * at the two motors. Exit 0, or 1 when a parameter that the peer is sure of (sd below 3 %) differs by more than three
 * standard deviations and 5 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/psdm.h"

static const char robot_text[] =
    "name: tx40\ngravity: [0, 0, -9.81]\nconvention: modified-dh\njoints:\n"
    "  - {name: j1, type: revolute, d: 0.320, gear: 32, drive_inertia: unknown}\n"
    "  - {name: j2, type: revolute, theta: -pi/2, alpha: -pi/2, gear: 32, drive_inertia: unknown}\n"
    "  - {name: j3, type: revolute, theta: pi/2, a: 0.225, d: 0.035, gear: 45, drive_inertia: unknown}\n"
    "  - {name: j4, type: revolute, alpha: pi/2, d: 0.225, gear: -48, drive_inertia: unknown}\n"
    "  - {name: j5, type: revolute, alpha: -pi/2, gear: 45, drive_inertia: unknown}\n"
    "  - {name: j6, type: revolute, alpha: pi/2, gear: 32, drive_inertia: unknown}\n"
    "transmission: [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,-1,1]]\n";

/* our name for the peer's first word, such as "Ixx2", "mx3" or "Ia4" */
static void our_name(const char *expression, char name[32]) {
  size_t length = strcspn(expression, " ,");
  snprintf(name, 32, "%.*s", length < 31 ? (int)length : 31, expression);
  if (name[0] != 'I' || name[1] == 'a') return;
  for (size_t k = 1; k <= length; k++)
    name[k - 1] = (char)(name[k] >= 'x' && name[k] <= 'z' ? name[k] - 'a' + 'A' : name[k]);
}

typedef struct ours {
  double value, sd;
  bool found;
} ours;

/* friction: fv, fs, off and the drive's number; else a base parameter */
static ours find(const psdm_calibration *c, const char *name) {
  static const char *const words[] = {"fv", "fs", "off"};
  for (int k = 0; k < 3; k++)
    if (strncmp(name, words[k], strlen(words[k])) == 0 && name[strlen(words[k])] >= '1' &&
        name[strlen(words[k])] <= '6') {
      const psdm_column *column = &c->column[name[strlen(words[k])] - '1'][k];
      return (ours){column->gain, column->sd, true};
    }
  for (int j = 0; j < c->base; j++) {
    size_t length = strlen(name);
    if (strncmp(c->theta[j].name, name, length) == 0 &&
        (c->theta[j].name[length] == 0 || c->theta[j].name[length] == 'R'))
      return (ours){c->theta[j].value, c->theta[j].sd, true};
  }
  return (ours){0};
}

static psdm_calibration *calibrate(const psdm_robot *robot, const char *log, psdm_estimator estimator, bool plain) {
  psdm_calibrate_options o = {.files = 1, .path = &log, .estimator = estimator, .plain_friction = plain};
  psdm_calibration *c;
  psdm_error error;
  if (plain) o.cutoff = 100, o.delay_given = true;
  if (psdm_calibrate(robot, &o, NULL, &c, &error)) {
    fprintf(stderr, "tx40: %s: %s\n", error.file, error.text);
    exit(2);
  }
  return c;
}

int main(int argc, char **argv) {
  psdm_robot *robot;
  psdm_error error;
  if (argc != 3) return fprintf(stderr, "tx40 LOG PEER.csv\n"), 2;
  if (psdm_robot_parse(robot_text, strlen(robot_text), "tx40", NULL, NULL, &robot, &error))
    return fprintf(stderr, "tx40: %s\n", error.text), 2;
  psdm_calibration *c[] = {calibrate(robot, argv[1], PSDM_ESTIMATOR_OLS, true),
                           calibrate(robot, argv[1], PSDM_ESTIMATOR_CONSISTENT, false)};
  FILE *file = fopen(argv[2], "r");
  char line[1024];
  int wrong = 0, sure = 0, compared = 0;
  if (!file) return fprintf(stderr, "tx40: %s cannot be opened\n", argv[2]), 2;
  printf("%-8s %20s %22s %22s   %s\n", "", "FIGAROH ols", "ours, ols, plain", "consistent, recipe",
         "FIGAROH's expression");
  while (fgets(line, sizeof line, file)) {
    char name[32], *comma = strchr(line, ',');
    double value, percent;
    if (!comma || sscanf(comma, ",%lf,%lf", &value, &percent) != 2) continue;
    our_name(line, name);
    ours a = find(c[0], name), b = find(c[1], name);
    bool friction = name[0] == 'f' || name[0] == 'o';
    *comma = 0;
    if (!a.found) {
      printf("%-8s %11.5f %7.1f%% %22s %22s   %.60s\n", name, value, percent, "-", "-", line);
      continue;
    }
    compared++;
    printf("%-8s %11.5f %7.1f%% %12.5f %7.1f%% ", name, value, percent, a.value,
           100 * a.sd / fmax(fabs(a.value), 1e-12));
    if (friction) printf("%22s", "other columns");
    else printf("%12.5f %7.1f%% ", b.value, 100 * b.sd / fmax(fabs(b.value), 1e-12));
    printf("   %.60s\n", line);
    if (percent >= 3 || (friction && name[strlen(name) - 1] >= '5')) continue;
    sure++;
    double off = fabs(a.value - value);
    if (off > 3 * hypot(a.sd, value * percent / 100) && off > 0.05 * fabs(value)) printf("WRONG: %s\n", name), wrong++;
  }
  fclose(file);
  printf("%d parameters side by side; of %d that FIGAROH is sure of to 3 %%, %d differ\n", compared, sure, wrong);
  for (int k = 0; k < 2; k++) psdm_calibration_free(c[k]);
  psdm_robot_free(robot);
  return wrong > 0 || compared < 30 || sure < 10;
}
