/* test_verdict_logs.c: a good log with one fault, row by row: the verdict is not good, and the rule that names the
 * fault is among the findings. A quick part of spoiled.py. */
#include "test_calibrate_log.h"

#include "psdm/calibrate.h"

enum { N = 2, COLUMNS = 1 + 3 * N };
static const char arm[] = "name: arm\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n"
                          "  - {name: shoulder, a: 0.5, limits: {lower: -4, upper: 4, velocity: 15, effort: 150}}\n  - "
                          "{name: elbow, a: 0.4, limits: {lower: -4, upper: 4, velocity: 15, effort: 60}}\n";
static const char links[] = "links:\n  - {mass: 8, com: [-0.25, 0.01, 0], inertia: {xx: 0.02, yy: 0.2, zz: 0.2}}\n  - "
                            "{mass: 5, com: [-0.2, 0.02, 0], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}\n";

/* ---- faults of row k of a log: x is t, q, qd, tau; false leaves the row out ---- */

typedef bool (*spoiler)(double *x, long k, rng *g);

static bool nothing(double *x, long k, rng *g) { return (void)x, (void)k, (void)g, true; }
static bool millinewtons(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] *= 1000;
  return true;
}
static bool kilonewtons(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] *= 1e-3;
  return true;
}
static bool degrees(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < 2 * N; i++) x[1 + i] *= 57.29577951308232;
  return true;
}
static bool rates_in_degrees(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + N + i] *= 57.29577951308232;
  return true;
}
static bool rates_of_another_joint(double *x, long k, rng *g) {
  (void)k, (void)g;
  double keep = x[1 + N];
  x[1 + N] = x[2 + N], x[2 + N] = keep;
  return true;
}
static bool milliseconds(double *x, long k, rng *g) { return (void)k, (void)g, x[0] *= 1000, true; }
static bool runs_back(double *x, long k, rng *g) { return (void)g, x[0] -= k % 150 == 149 ? 0.2 : 0, true; }
static bool flipped(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] *= -1;
  return true;
}
static bool spikes(double *x, long k, rng *g) { return (void)g, x[1 + 2 * N] += k % 90 == 50 ? 1e5 : 0, true; }
static bool holes(double *x, long k, rng *g) { return (void)g, x[1 + 2 * N] = k % 5 == 2 ? NAN : x[1 + 2 * N], true; }
static bool saturated(double *x, long k, rng *g) {
  return (void)k, (void)g, x[1 + 2 * N] = fmin(x[1 + 2 * N], 20), true;
}
static bool noise(double *x, long k, rng *g) {
  (void)k;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] = 30 * rng_normal(g);
  return true;
}
static bool heavy(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] *= 300;
  return true;
}
static bool swapped(double *x, long k, rng *g) {
  (void)k, (void)g;
  double keep = x[1 + 2 * N];
  x[1 + 2 * N] = x[2 + 2 * N], x[2 + 2 * N] = keep;
  return true;
}
static bool driving_friction(double *x, long k, rng *g) {
  (void)k, (void)g;
  for (int i = 0; i < N; i++) x[1 + 2 * N + i] -= 25 * tanh(x[1 + N + i] / 0.01) + 4 * x[1 + N + i];
  return true;
}

/* ---- the table: the rules, of which at least one must be reported; the best verdict allowed ---- */

static const struct {
  const char *name;
  spoiler spoil;
  const char *rules;
  psdm_verdict at_least;
} cases[] = {
    {"nothing", nothing, "", PSDM_VERDICT_GOOD},
    {"mNm", millinewtons, "effort mass", PSDM_VERDICT_USABLE},
    {"kNm", kilonewtons, "effort mass", PSDM_VERDICT_USABLE},
    {"degrees", degrees, "position velocity error mass", PSDM_VERDICT_USABLE},
    {"rates in degrees", rates_in_degrees, "rates", PSDM_VERDICT_USABLE},
    {"rates of another joint", rates_of_another_joint, "rates", PSDM_VERDICT_USABLE},
    {"ms", milliseconds, "clock", PSDM_VERDICT_POOR},
    {"t runs back", runs_back, "clock", PSDM_VERDICT_USABLE},
    {"flipped", flipped, "mass friction error", PSDM_VERDICT_USABLE},
    {"spikes", spikes, "spikes", PSDM_VERDICT_USABLE},
    {"holes", holes, "rows", PSDM_VERDICT_USABLE},
    {"saturated", saturated, "sensor", PSDM_VERDICT_USABLE},
    {"noise", noise, "error no-model", PSDM_VERDICT_POOR},
    {"heavy", heavy, "mass effort", PSDM_VERDICT_USABLE},
    {"swapped", swapped, "error joint no-model mass friction", PSDM_VERDICT_USABLE},
    {"friction that drives", driving_friction, "friction error", PSDM_VERDICT_USABLE},
};

static void spoil_log(const char *good, const char *path, spoiler spoil, rng *g) {
  FILE *in = fopen(good, "r"), *out = fopen(path, "w");
  char line[1000];
  assert_true(in && out && fgets(line, sizeof line, in));
  fputs(line, out);
  for (long k = 0; fgets(line, sizeof line, in); k++) {
    double x[COLUMNS];
    char *at = line;
    for (int c = 0; c < COLUMNS; c++, at++) x[c] = strtod(at, &at);
    if (!spoil(x, k, g)) continue;
    for (int c = 0; c < COLUMNS; c++) fprintf(out, isnan(x[c]) ? "%snan" : "%s%.12g", c ? "," : "", x[c]);
    fputs("\n", out);
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
}

static bool is_reported(const psdm_calibration *c, const char *rules) {
  const psdm_finding *f;
  for (int k = 0; (f = psdm_calibration_finding(c, k)); k++) {
    char word[40];
    snprintf(word, sizeof word, "%s", f->rule);
    if (strstr(rules, word)) return true;
  }
  return false;
}

TEST(every_fault_is_found) {
  rng g = rng_start("every_fault_is_found");
  char text[2000], good[64], path[64];
  snprintf(text, sizeof text, "%s%s", arm, links);
  psdm_robot *truth_robot = parse_robot(text), *asked = parse_robot(arm);
  const char *name = log_path(path);
  log_path(good);
  truth w = log_of(truth_robot, 900, 0.01, 2, 3);
  w.smooth = 0.05, w.rates = true, w.noise = 0.005;
  write_log(good, &w, &g);
  int wrong = 0;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_calibration *c;
    psdm_error error = {0};
    spoil_log(good, path, cases[k].spoil, &g);
    psdm_calibrate_options o = plain_options(&name, 1, PSDM_ESTIMATOR_CONSISTENT, PSDM_KINEMATICS_VELOCITY, 15);
    o.holdout = 0.3, o.threads = 1;
    if (psdm_calibrate(asked, &o, NULL, &c, &error)) {
      print_message("%s: refused: %s\n", cases[k].name, error.text);
      wrong += cases[k].at_least == PSDM_VERDICT_GOOD;
      continue;
    }
    const psdm_finding *first = psdm_calibration_finding(c, 0);
    bool fair = cases[k].at_least == PSDM_VERDICT_GOOD
                    ? c->verdict == PSDM_VERDICT_GOOD
                    : c->verdict >= cases[k].at_least && is_reported(c, cases[k].rules);
    print_message("%s: %s%s%s\n", cases[k].name, psdm_verdict_name(c->verdict), first ? ", " : "",
                  first ? first->text : "");
    for (int f = 0; !fair && psdm_calibration_finding(c, f); f++)
      print_error("  %s\n", psdm_calibration_finding(c, f)->rule);
    wrong += !fair;
    assert_null(psdm_calibration_finding(c, -1));
    psdm_calibration_free(c);
  }
  assert_int_equal(wrong, 0);
  unlink(path), unlink(good);
  psdm_robot_free(truth_robot), psdm_robot_free(asked);
}

TEST_MAIN(every_fault_is_found)
