/* Robots whose axes are nearly aligned, whose numbers are rounded, and whose lengths are tiny or huge: derived
 * functions, base parameters by structure, by samples and in echelon form, all against the recursions, with small
 * shares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "support.h"

/* what varies from robot to robot */
typedef struct kind {
  const char *name;
  double angle; /* misalignment, rad */
  int digits;   /* of every number; 0: all */
  double scale; /* of every length */
  bool coupled, prismatic;
  bool whole; /* samples and the echelon form answer, too */
} kind;

static double rounded(double x, int digits) {
  char text[40];
  if (!digits) return x;
  snprintf(text, sizeof text, "%.*g", digits, x);
  return strtod(text, NULL);
}

/* an arm whose right angles are all slightly off, with some short offsets */
static psdm_robot *make(rng *g, const kind *k) {
  static const double right[] = {0, 1.5707963267948966, -1.5707963267948966, 3.1415926535897931};
  static char text[8000];
  int n = rng_int(g, 3, 6), at = 0;
  at += snprintf(text + at, sizeof text - (size_t)at, "convention: %s\njoints:\n",
                 rng_int(g, 0, 1) ? "dh" : "modified-dh");
  for (int j = 0; j < n; j++) {
    double a = rng_int(g, 0, 2)   ? rng_uniform(g, -0.6, 0.6)
               : rng_int(g, 0, 1) ? 0
                                  : 1e-6,
           d = rng_int(g, 0, 1) ? rng_uniform(g, -0.6, 0.6) : 0;
    bool slides = k->prismatic && rng_int(g, 0, 2) == 0;
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  - {name: j%d, type: %s, theta: %.17g, alpha: %.17g, a: %.17g, d: %.17g%s", j + 1,
                   slides ? "prismatic" : "revolute",
                   rounded(right[rng_int(g, 0, 3)] + rng_uniform(g, -1, 1) * k->angle, k->digits),
                   rounded(right[rng_int(g, 0, 3)] + rng_uniform(g, -1, 1) * k->angle, k->digits),
                   rounded(a * k->scale, k->digits), rounded(d * k->scale, k->digits),
                   rng_int(g, 0, 1) ? ", drive_inertia: unknown" : "");
    at += snprintf(text + at, sizeof text - (size_t)at,
                   k->coupled && j == n - 1 && !slides ? ", couple: {j1: 1, offset: 0.3}}\n" : "}\n");
  }
  const psdm_robot_options keep = {.no_snap = true};
  psdm_robot *r;
  psdm_error error;
  /* a slide may not follow a turn */
  if (psdm_robot_parse(text, strlen(text), "misaligned", &keep, NULL, &r, &error)) return NULL;
  return r;
}

/* in units of the reach */
static double largest_share(const psdm_robot *r, const psdm_model *m) {
  psdmp_base_arena arena = {.allocator = NULL};
  double reach = psdmp_derive_reach(r, &arena), largest = 0;
  for (int j = 0; j < m->l; j++)
    for (int t = 0; t < m->base[j].terms; t++)
      largest = fmax(largest, fabs(m->base[j].term[t].coefficient) *
                                  pow(reach, psdmp_derive_length_degree(r, m->base[j].term[t].parameter) -
                                                 psdmp_derive_length_degree(r, m->base[j].parameter)));
  psdmp_base_arena_free(&arena);
  return largest;
}

static void study(const kind *k, int robots) {
  rng g = rng_start(k->name);
  double worst = 0, base = 0, share = 0, echelon = 0;
  int refused = 0;
  for (int i = 0; i < robots; i++) {
    psdm_robot *r = make(&g, k);
    psdm_model *m;
    psdm_base_parameters *p;
    psdm_derive_info info;
    psdm_error error;
    if (!r) continue;
    psdm_status status = psdm_model_derive(r, NULL, NULL, &m, &info, &error);
    if (status == PSDM_E_ROBOT) { /* a slide that follows a turn has no closed form */
      psdm_robot_free(r);
      continue;
    }
    if (status) fail_msg("%s, robot %d: %s", k->name, i, error.text);
    worst = fmax(worst, info.residual);
    share = fmax(share, largest_share(r, m));
    psdm_model_free(m);
    if (psdm_base_parameters_derive(r, NULL, NULL, &m, &info, &error))
      fail_msg("%s, robot %d: %s", k->name, i, error.text);
    base = fmax(base, info.residual);
    psdm_model_free(m);
    /* samples know less than the structure: what they cannot decide is refused, never wrong */
    status = psdm_base_parameters_solve(r, &(psdm_base_parameters_options){.no_scaling = true}, NULL, &p, &error);
    if (status && status != PSDM_E_ACCURACY) fail_msg("%s, robot %d, by samples: %s", k->name, i, error.text);
    refused += status == PSDM_E_ACCURACY;
    if (!status) psdm_base_parameters_free(p);
    const psdm_derive_options rows = {.basis = PSDM_BASIS_ECHELON};
    status = psdm_model_derive(r, &rows, NULL, &m, &info, &error);
    if (!status) echelon = fmax(echelon, info.residual), psdm_model_free(m);
    /* refused, but not wrong */
    if (status && status != PSDM_E_LIMIT && status != PSDM_E_ACCURACY)
      fail_msg("%s, robot %d, echelon: %s", k->name, i, error.text);
    psdm_robot_free(r);
  }
  printf("%-24s functions %.1e, base parameters %.1e, echelon %.1e; largest share %.3g; samples refused %d\n", k->name,
         worst, base, echelon, share, refused);
  assert_true(worst <= 1e-11 && base <= 1e-11);
  assert_true(share < 1e4);
  if (k->whole) assert_true(refused == 0 && echelon <= 1e-11);
}

static void misaligned(void **state) {
  (void)state;
  static const double angle[] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
  for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
    char name[32];
    snprintf(name, sizeof name, "off by %g", angle[i]);
    study(&(kind){.name = name, .angle = angle[i], .scale = 1, .prismatic = i % 2}, 12);
  }
}

static void rounded_numbers(void **state) {
  (void)state;
  for (int digits = 3; digits <= 15; digits += 2) {
    char name[32];
    snprintf(name, sizeof name, "%d digits", digits);
    study(&(kind){.name = name, .digits = digits, .scale = 1, .prismatic = digits % 4 == 1}, 10);
  }
}

static void scaled(void **state) {
  (void)state;
  for (int power = -6; power <= 6; power += 3) {
    char name[32];
    snprintf(name, sizeof name, "lengths of 1e%d", power);
    study(&(kind){.name = name, .angle = 1e-4, .scale = pow(10, power), .prismatic = true, .whole = true}, 12);
  }
}

static void coupled(void **state) {
  (void)state;
  study(&(kind){.name = "coupled, off by 1e-5", .angle = 1e-5, .scale = 1, .coupled = true}, 10);
}

/* joints that follow others, some axes almost parallel, and offsets far below the robot's size: base parameters were
 * off by 1e-10 to 0.7 */
static void followers(void **state) {
  (void)state;
  static const char *const joints[] = {
      /* a slide turns what it carries */
      "  - {a: -0.02}\n  - {type: prismatic, origin: {rpy: [1, 0, 0]}}\n  - {alpha: -2, couple: {joint2: 1}}\n",
      "  - {alpha: 3.14159}\n  - {a: 1, alpha: 1, couple: {joint1: 1}}\n",
      "  - {alpha: 3.141592654}\n  - {theta: 1, alpha: 3.141592654, couple: {joint1: 0, offset: 1}}\n  - {alpha: "
      "0.94}\n",
      "  - {}\n  - {a: 1, alpha: 3.142, couple: {joint1: 0}}\n  - {}\n  - {origin: {rpy: [0, 1, 0]}}\n",
      "  - {}\n  - {alpha: 1.57079633, couple: {joint1: 0}}\n  - {drive_inertia: 1}\n",
      "  - {alpha: 1}\n  - {a: 6e-12, alpha: 3.14159265359}\n",
      "  - {type: prismatic, couple: {joint2: 0.01, offset: 1}}\n  - {}\n  - {a: 1e-5, alpha: 1}\n"};
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
    char text[2000];
    int at = snprintf(text, sizeof text, "convention: dh\njoints:\n%slinks:\n", joints[i]);
    for (const char *row = joints[i]; (row = strchr(row, '\n')); row++)
      at += snprintf(text + at, sizeof text - (size_t)at,
                     "  - {mass: 2, com: [0.01, 0.02, -0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.04, xy: 0.001, xz: "
                     "0.002, yz: 0.003}}\n");
    psdm_robot *r;
    psdm_model *m;
    psdm_error error;
    psdm_derive_info info;
    if (psdm_robot_parse(text, strlen(text), "followers", &(psdm_robot_options){.no_snap = true}, NULL, &r, &error))
      fail_msg("%s\n%s", error.text, text);
    if (psdm_base_parameters_derive(r, NULL, NULL, &m, &info, &error)) fail_msg("%s\n%s", error.text, text);
    printf("followers %zu: l %d, residual %.1e\n", i, psdm_model_l(m), info.residual);
    assert_true(info.residual <= 1e-12);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* a reflected mass is not an inertia: l was 3, and the torques 2.2 % off */
static void gantry_of_short_offsets(void **state) {
  (void)state;
  psdm_robot *r = parse_robot("convention: dh\njoints:\n"
                              "  - {type: prismatic, a: 1e-6, alpha: pi/2, drive_inertia: 3}\n  - {type: prismatic, a: "
                              "2e-6, alpha: pi/2, drive_inertia: 2}\n"
                              "  - {type: prismatic, a: 1e-6, drive_inertia: 1}\nlinks:\n  - {mass: 3, com: [0, 0, 0], "
                              "inertia: {xx: 1, yy: 1, zz: 1}}\n"
                              "  - {mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - {mass: 1, com: [0, "
                              "0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n");
  psdm_model *m;
  psdm_error error;
  double residual;
  if (psdm_model_derive(r, NULL, NULL, &m, NULL, &error)) fail_msg("%s", error.text);
  assert_int_equal(psdm_model_check(r, m, NULL, 100, NULL, &residual, &error), PSDM_OK);
  printf("gantry: l %d, residual %.1e\n", psdm_model_l(m), residual);
  assert_true(residual <= 1e-13);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* 18 joints in a plane: 5^18 bits would be needed; a too large request is refused with its size */
static void many_joints(void **state) {
  (void)state;
  char text[2000] = "convention: dh\njoints:\n";
  for (int j = 0; j < 18; j++) strcat(text, "  - {a: 0.1}\n");
  psdm_robot *r = parse_robot(text);
  psdm_model *m;
  psdm_error error;
  const psdm_derive_options little = {.memory = 1 << 20};
  assert_int_equal(psdm_model_derive(r, &little, NULL, &m, NULL, &error), PSDM_E_LIMIT);
  assert_non_null(strstr(error.text, "GB"));
  psdm_robot_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(misaligned), cmocka_unit_test(rounded_numbers),
                                     cmocka_unit_test(scaled),     cmocka_unit_test(coupled),
                                     cmocka_unit_test(followers),  cmocka_unit_test(gantry_of_short_offsets),
                                     cmocka_unit_test(many_joints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
