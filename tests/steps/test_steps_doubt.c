/* test_steps_doubt.c: the truth lies within the steps' uncertainties, from motors to inertias, over noise seeds.
 * SEEDS=N in the environment sets their number, FRICTION=1 fits friction too instead of reading it from the file. */
#include "test_steps_arms.h"

typedef struct score {
  long count, within;
  double square, sum; /* of errors over their sd */
} score;

static void add(score *s, double error, double sd) {
  if (!(sd > 0)) return;
  s->count++;
  s->within += fabs(error) <= 3 * sd;
  s->square += error * error / (sd * sd);
  s->sum += error / sd;
}

static void say(const char *what, const score *s) {
  if (s->count)
    print_message("  %-9s %4ld numbers, %.1f %% within 3 sd, rms of error / sd %.2f, mean %.2f\n", what, s->count,
                  100.0 * (double)s->within / (double)s->count, sqrt(s->square / (double)s->count),
                  s->sum / (double)s->count);
}

static void one_seed(const arm *a, bool friction, score kind[4], rng *g) {
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.friction = !friction});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.2, .step = 5e-7};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA | (friction ? FRICTION : 0), a, r, friction ? 0.002 : 0.004, g);
  psdm_steps_options o = steps_options(&logs, true);
  psdm_steps *s = run_steps(asked, &o);
  double theta[64];
  true_theta(truth, theta);
  for (int d = 0; d < s->n; d++) add(&kind[0], s->torque_constant[d] - a->constant[d], s->sd[d]);
  for (int j = 0; j < s->base; j++) add(&kind[s->gravity[j] ? 1 : 2], s->theta[j].value - theta[j], s->theta[j].sd);
  for (int d = 0; d < s->n && friction; d++) {
    const psdm_friction *f = &s->friction[d], *t = &a->friction[d];
    const double error[] = {f->coulomb - t->coulomb, f->stat - t->stat, f->stribeck - t->stribeck,
                            f->viscous - t->viscous, f->exponent - t->exponent};
    for (int k = 0; k < 5; k++) add(&kind[3], error[k], s->sd[s->n + s->base + 8 * d + k]);
  }
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

/* three sd cover 99.7 % of a normal distribution; with some 17 blocks the sd itself is known to a sixth, which leaves
 * 99 %. The test requires 95 %, and that the uncertainty is not exaggerated: the rms of errors over their sd is at
 * least that of a few dozen numbers, correlated within a seed */
static void truth_is_within_uncertainty(void **state) {
  (void)state;
  rng g = rng_start("truth_is_within_uncertainty");
  const char *asked = getenv("SEEDS");
  int seeds = asked ? atoi(asked) : 4;
  score all = {0};
  for (int k = 0; k < ARMS; k++) {
    score kind[4] = {{0}};
    static const char *const what[] = {"motors", "gravity", "inertia", "friction"};
    for (int seed = 0; seed < seeds; seed++) one_seed(&arms[k], getenv("FRICTION") != NULL, kind, &g);
    print_message("%s\n", arms[k].name);
    for (int i = 0; i < 4; i++) {
      say(what[i], &kind[i]);
      if (i < 3) all.count += kind[i].count, all.within += kind[i].within, all.square += kind[i].square;
    }
  }
  say("all", &all);
  double rms = sqrt(all.square / (double)all.count);
  assert_true((double)all.within >= 0.95 * (double)all.count && rms > 0.5 && rms < 1.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(truth_is_within_uncertainty)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
