/* Edges of the derivation: exact refusals, units of length, parameters under assumptions, echelon forms whose rows are
 * nearly dependent, coupled joints against the recursions, the fingerprint of base parameters. */
#define _GNU_SOURCE /* setrlimit */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "derive/collect_priv.h"
#include "psdm/rigid.h"
#include "support.h"

static psdm_model *derive(const psdm_robot *r, const psdm_derive_options *o, psdm_derive_info *info) {
  psdm_model *m;
  psdm_error error;
  if (psdm_model_derive(r, o, NULL, &m, info, &error)) fail_msg("%s", error.text);
  return m;
}

/* ---- refusals ---- */

/* the message, without a line: the file is not at fault */
static void expect_refusal(psdm_status status, const psdm_error *error, psdm_status expected, const char *words) {
  if (status != expected || error->status != expected || error->line || error->column ||
      strcmp(error->text, words) != 0)
    fail_msg("status %d, %d:%d '%s'; status %d, '%s' was expected", status, error->line, error->column, error->text,
             expected, words);
}

static psdm_robot *chain(int joints) {
  static char text[8000];
  text_writer w = {text, sizeof text};
  text_put(&w, "convention: dh\njoints:\n");
  for (int j = 0; j < joints; j++) text_put(&w, "  - {type: prismatic, alpha: pi/2}\n");
  return parse_robot(text);
}

TEST(refusals) {
  static const struct {
    const char *joints;
    psdm_status status;
    const char *words;
  } cases[] = {
      {"{name: a, a: 1}, {name: b, a: 1, couple: {a: 1.5}}", PSDM_E_ROBOT,
       "joint 'b' follows another with factor 1.5; a closed form needs whole factors of turning joints (up to 8)"},
      {"{name: a, a: 1}, {name: b, a: 1, couple: {a: 9}}", PSDM_E_ROBOT,
       "joint 'b' follows another with factor 9; a closed form needs whole factors of turning joints (up to 8)"},
      {"{name: a, a: 1}, {name: b, type: prismatic, a: 1, couple: {a: 1}}", PSDM_E_ROBOT,
       "joint 'b' slides with a turning joint; a closed form in sines and cosines does not exist"},
      {"{name: a, a: 1}, {name: b, a: 1, couple: {a: 8}}, {name: c, a: 1, couple: {a: 8}}", PSDM_E_LIMIT,
       "too many joints follow each other for a closed form"},
      {"{name: a, type: prismatic, a: 1}, {name: b, a: 1, couple: {a: 1}}", PSDM_E_ROBOT,
       "joint 'b' follows another with factor 1; a closed form needs whole factors of turning joints (up to 8)"},
  };
  psdm_model *m;
  psdm_error error;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[400];
    snprintf(text, sizeof text, "convention: dh\njoints: [%s]\n", cases[k].joints);
    psdm_robot *r = parse_robot(text);
    expect_refusal(psdm_model_derive(r, NULL, NULL, &m, NULL, &error), &error, cases[k].status, cases[k].words);
    assert_null(m);
    psdm_robot_free(r);
  }
  psdm_robot *most = chain(PSDMP_DERIVE_JOINTS), *more = chain(PSDMP_DERIVE_JOINTS + 1), *eight = chain(8),
             *two = chain(2);
  const psdm_derive_options dense = {.method = PSDM_METHOD_DENSE};
  m = derive(most, NULL, NULL);
  psdm_model_free(m);
  expect_refusal(psdm_model_derive(more, NULL, NULL, &m, NULL, &error), &error, PSDM_E_LIMIT,
                 "25 moving joints; a closed form is derived for at most 24");
  expect_refusal(psdm_model_derive(eight, &dense, NULL, &m, NULL, &error), &error, PSDM_E_LIMIT,
                 "8 joints; the dense method is for at most 7 (the exact one for more)");
  static const char *const wrong[] = {"m1 = 0", "Ixx3 = 0"};
  expect_refusal(
      psdm_model_derive(two, &(psdm_derive_options){.assume_count = 2, .assume = wrong}, NULL, &m, NULL, &error),
      &error, PSDM_E_PARSE,
      "assumption 'Ixx3 = 0': a relation such as 'Ixz4 = 0', 'Ixx5 = Iyy5' or 'rx1 = 2*rx2 + 0.1' of m rx ry rz Ixx "
      "Iyy "
      "Izz Ixy Ixz Iyz Ia with a link number was expected");
  static const char *const contrary[] = {"rx1 = 2*rx2", "rx2 = 0.1", "rx1 = 0.3"};
  expect_refusal(
      psdm_model_derive(two, &(psdm_derive_options){.assume_count = 3, .assume = contrary}, NULL, &m, NULL, &error),
      &error, PSDM_E_PARSE, "assumption 'rx1 = 0.3' contradicts the others");
  /* refusals of samples and of structure */
  psdm_robot *loop = load_shipped("five_bar"), *hundred = chain(PSDM_BASE_PARAMETERS_JOINTS),
             *beyond = chain(PSDM_BASE_PARAMETERS_JOINTS + 1),
             *huge = parse_robot("convention: dh\njoints: [{a: 1e200}, {a: 1e200, alpha: pi/2}]\n");
  psdm_robot *follower = parse_robot("convention: dh\njoints: [{name: a, a: 1}, {name: b, a: 1, couple: {a: 1}}]\n");
  psdm_base_parameters *p;
  expect_refusal(psdm_model_derive(loop, NULL, NULL, &m, NULL, &error), &error, PSDM_E_ROBOT,
                 "closed loops have no finite set of functions in sines and cosines: their passive joints solve "
                 "equations at each position; base parameters, the regressor on them and generated code exist (psdm "
                 "params, eval regressor, codegen)");
  assert_int_equal(psdm_base_parameters_derive(hundred, NULL, NULL, &m, NULL, &error), PSDM_OK);
  psdm_model_free(m);
  expect_refusal(psdm_base_parameters_derive(beyond, NULL, NULL, &m, NULL, &error), &error, PSDM_E_LIMIT,
                 "101 moving joints; base parameters are found for at most 100");
  expect_refusal(psdm_base_parameters_solve(beyond, NULL, NULL, &p, &error), &error, PSDM_E_LIMIT,
                 "101 moving joints; base parameters are sampled for at most 100");
  expect_refusal(psdm_base_parameters_solve(huge, NULL, NULL, &p, &error), &error, PSDM_E_ROBOT,
                 "the robot's lengths are too large to sample its dynamics");
  for (int k = 0; k < 4; k++) {
    const psdm_base_parameters_options nonsense = {.sampling = (psdm_sampling)(k == 0   ? -1
                                                                               : k == 1 ? PSDM_SAMPLE_H + 1
                                                                                        : 0),
                                                   .solver = (psdm_solver)(k == 2   ? -1
                                                                           : k == 3 ? PSDM_SOLVER_SVD + 1
                                                                                    : 0)};
    expect_refusal(psdm_base_parameters_solve(two, &nonsense, NULL, &p, &error), &error, PSDM_E_ARGUMENT,
                   "no such model or solver");
  }
  expect_refusal(psdm_model_derive(follower, &dense, NULL, &m, NULL, &error), &error, PSDM_E_ROBOT,
                 "a joint follows others; the dense method is for robots whose joints are all independent");
  psdm_robot_free(loop);
  psdm_robot_free(hundred);
  psdm_robot_free(beyond);
  psdm_robot_free(huge);
  psdm_robot_free(follower);
  psdm_robot_free(most);
  psdm_robot_free(more);
  psdm_robot_free(eight);
  psdm_robot_free(two);
}

static bool note_share(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  *(double *)user = share;
  return true;
}

/* a lack of memory is known long before memory is full: by the ninth of 18 joints, and not for fewer joints */
TEST(lack_of_memory_is_known_early) {
  for (int joints = 8; joints <= 18; joints += 10) {
    char text[1000] = "convention: dh\njoints:\n";
    double share = 0;
    for (int j = 0; j < joints; j++) strcat(text, "  - {a: 0.1}\n");
    psdm_robot *r = parse_robot(text);
    psdm_model *m;
    psdm_error error;
    psdm_status status = psdm_model_derive(
        r, &(psdm_derive_options){.memory = 64 << 20, .progress = note_share, .progress_user = &share}, NULL, &m, NULL,
        &error);
    assert_int_equal(status, joints == 8 ? PSDM_OK : PSDM_E_LIMIT);
    assert_true(joints == 8 ? share == 1 : share <= 0.5);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* ---- external programs ---- */

static bool stop_at_once(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  (void)user;
  (void)share;
  return false;
}

static psdm_status no_torque(void *user, const double *q, const double *qd, const double *qdd, const double *pi,
                             double *tau) {
  (void)q, (void)qd, (void)qdd, (void)pi;
  *tau = NAN;
  return *(const psdm_status *)user;
}

/* a slide with a link that turns about it, under 8 m/s^2 along both: tau1 = (m1 + m2) (qdd1 + 8), tau2 = (ZZ2 + 4 mx2 +
 * 4 m2) qdd2, by awk from the columns of the request, whose names it checks; then other answers of a program, with
 * their messages */
TEST(external_programs) {
  static const char right[] =
      "LC_ALL=C awk -F, 'NR == 1 { if ($0 != "
      "\"q1,q2,qd1,qd2,qdd1,qdd2,m1,mx1,my1,mz1,XX1,XY1,XZ1,YY1,YZ1,ZZ1,m2,mx2,my2,mz2,XX2,XY2,XZ2,YY2,YZ2,ZZ2\") exit "
      "9; print \"tau2,tau1\"; next }"
      " { if (NF != 26) exit 8; printf \"%.17g,%.17g\\n\", ($26 + 4 * $18 + 4 * $17) * $6, ($7 + $17) * ($5 + 8) }'";
  static const struct {
    const char *command;
    psdm_status status;
    int line;
    const char *words;
  } wrong[] = {
      {"exit 7", PSDM_E_IO, 0, "sampler 'exit 7' ended with exit code 7"},
      {"cat >/dev/null; echo tau1,tau3; echo 1,2", PSDM_E_PARSE, 1, "no column 'tau2'; tau1 to tau2 were expected"},
      {"echo tau1,tau2; echo 1,2", PSDM_E_PARSE, 2, "fewer rows than the "},
      {"echo tau1,tau2; yes 1,2 | head -n 500", PSDM_E_PARSE, 0, "more rows than the "},
      {"echo tau1,tau2; yes 1,nan | head -n 500", PSDM_E_PARSE, 2, "nan"},
      {"echo tau1,tau2; kill -9 $$", PSDM_E_PARSE, 1, "fewer rows than the "}};
  psdm_robot *r = parse_robot("convention: dh\ngravity: [0, 0, -8]\njoints: [{type: prismatic}, {a: 2}]\n");
  const psdm_derive_options dense = {.method = PSDM_METHOD_DENSE},
                            asked = {.method = PSDM_METHOD_DENSE, .sampler_command = right};
  psdm_model *own = derive(r, &dense, NULL), *m = derive(r, &asked, NULL);
  assert_true(own->p == m->p && own->l == m->l && psdm_model_entries(own) == psdm_model_entries(m));
  for (long e = 0; e < psdm_model_entries(m); e++)
    assert_true(fabs(own->P[e].value - m->P[e].value) < 1e-11 && own->P[e].joint == m->P[e].joint &&
                own->P[e].parameter == m->P[e].parameter);
  psdm_model_free(own);
  psdm_model_free(m);
  psdm_error error;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    const psdm_derive_options o = {.method = PSDM_METHOD_DENSE, .sampler_command = wrong[k].command};
    psdm_status status = psdm_model_derive(r, &o, NULL, &m, NULL, &error);
    if (status != wrong[k].status || m || !strstr(error.text, wrong[k].words) ||
        (wrong[k].line && error.line != wrong[k].line) || (status == PSDM_E_IO && (error.line || error.column)))
      fail_msg("%s: %d, line %d, '%s'", wrong[k].command, status, error.line, error.text);
  }
  /* no handles, one handle, a command that is too long for the system */
  for (int handles = 0; handles < 3; handles += 2) {
    struct rlimit was, few;
    int free_one = open("/dev/null", O_RDONLY);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    close(free_one);
    few = was, few.rlim_cur = (rlim_t)free_one + (rlim_t)(handles != 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    psdm_status status = psdm_model_derive(r, &asked, NULL, &m, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    expect_refusal(status, &error, PSDM_E_IO,
                   handles ? "a pipe to the sampler: Too many open files"
                           : "a temporary file for the sampler: Too many open files");
  }
  char *endless = malloc(300001);
  memset(endless, ' ', 300000);
  endless[300000] = '\0';
  const psdm_derive_options too_long = {.method = PSDM_METHOD_DENSE, .sampler_command = endless};
  expect_refusal(psdm_model_derive(r, &too_long, NULL, &m, NULL, &error), &error, PSDM_E_IO,
                 "the sampler could not be started: Argument list too long");
  free(endless);
  psdm_status answer = PSDM_E_SINGULAR;
  psdm_derive_options called = {.method = PSDM_METHOD_DENSE, .sampler = no_torque, .sampler_user = &answer};
  char words[200];
  snprintf(words, sizeof words, "the sampler failed: %s", psdm_status_text(answer));
  expect_refusal(psdm_model_derive(r, &called, NULL, &m, NULL, &error), &error, PSDM_E_SINGULAR, words);
  answer = PSDM_OK;
  expect_refusal(psdm_model_derive(r, &called, NULL, &m, NULL, &error), &error, PSDM_E_ARGUMENT,
                 "a sampled torque is not a finite number");
  for (int method = 0; method < 2; method++) {
    const psdm_derive_options stopped = {.method = method ? PSDM_METHOD_DENSE : PSDM_METHOD_EXACT,
                                         .progress = stop_at_once};
    expect_refusal(psdm_model_derive(r, &stopped, NULL, &m, NULL, &error), &error, PSDM_E_STOPPED,
                   method ? "the derivation was stopped" : "stopped while deriving");
  }
  psdm_robot_free(r);
}

/* ---- units of length ---- */

TEST(unit_lengths) {
  static const struct {
    double length, unit;
  } cases[] = {{1, 1},        {1.4142, 1},          {1.4143, 2},   {2, 2},  {0.7072, 1},
               {0.7071, 0.5}, {3e-7, 0x1p-22},      {5e6, 0x1p22}, {0, 1},  {1e-101, 1},
               {1e-100, 1},   {1.1e-100, 0x1p-332}, {INFINITY, 1}, {NAN, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    if (psdmp_derive_unit_length(cases[k].length) != cases[k].unit)
      fail_msg("%g: %a", cases[k].length, psdmp_derive_unit_length(cases[k].length));
  /* the longest way through a tree, without the pose of its base: 0.5 + 0.25 by a, 3 + 0.2 by b and its link's own
   * frame */
  static const struct {
    const char *text;
    double reach;
  } robots[] = {
      {"convention: dh\njoints: [{a: 0.3}]\n", 0.25},
      {"convention: dh\njoints: [{a: 3}, {a: 4}]\n", 8},
      {"convention: dh\njoints: [{a: 3, d: 4}, {a: 0}]\n", 4},
      {"convention: modified-dh\njoints: [{a: 100}, {a: 3}, {a: 2}]\n", 4},
      {"convention: dh\njoints: [{alpha: 1}, {alpha: 1}]\n", 1},
      /* a slide that follows a turning joint: 3 at rest and 5 by a radian; one that follows a slide adds
                 * nothing */
      {"convention: dh\njoints: [{name: a, a: 0.1}, {name: b, type: prismatic, a: 0.1, couple: {a: -5, offset: -3}}]\n",
       8},
      {"convention: dh\njoints: [{name: a, type: prismatic, a: 0.4}, {name: b, type: prismatic, a: 0.4, couple: {a: "
       "50}}]\n",
       1},
      /* a body with a radius of gyration of root 7: lengths below a tenth of it do not count */
      {"convention: dh\njoints: [{a: 0, drive_inertia: 0}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {xx: 8, yy: 8, "
       "zz: 12}}]\n",
       2},
      {"convention: modified-dh\njoints: [{}, {a: 0.2}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {xx: 8, yy: 8, zz: "
       "12}}, {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n",
       2},
      {"convention: modified-dh\njoints: [{}, {a: 0.3}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {xx: 8, yy: 8, zz: "
       "12}}, {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n",
       0.25}};
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    psdm_robot *r = parse_robot(robots[k].text);
    psdmp_base_arena arena = {.allocator = NULL};
    if (psdmp_derive_reach(r, &arena) != robots[k].reach) fail_msg("robot %zu: %g", k, psdmp_derive_reach(r, &arena));
    psdmp_base_arena_free(&arena);
    psdm_robot_free(r);
  }
}

/* a joint's matrices are exact at right angles, and at any position they equal the recursions' change of frame */
TEST(joint_matrices) {
  psdm_robot *r = parse_robot("convention: dh\njoints: [{a: 0.3, alpha: pi/2, d: 0.2}, {type: prismatic, a: 0.4, "
                              "alpha: -pi/2}, {a: 0.1, d: 0.7, alpha: pi/2}]\n");
  for (int b = 0; b < 3; b++) {
    psdmp_derive_joint_maps maps;
    psdmp_derive_joint_maps_set(r, b, 0.5, &maps);
    const struct {
      const double *x;
      int count;
    } all[] = {{maps.L[0], 500}, {maps.dL[0], 500}, {maps.Ad[0], 108}, {maps.twist, 6}};
    for (int k = 0; k < 4; k++)
      for (int i = 0; i < all[k].count; i++)
        if (all[k].x[i] != 0 && fabs(all[k].x[i]) < 1e-3)
          fail_msg("joint %d, matrix %d: entry %d is %g", b, k, i, all[k].x[i]);
    for (double q = -2; q < 3; q += 0.7) {
      bool slides = r->body[b].prismatic;
      const double basis[5] = {1, slides ? q : sin(q), slides ? q * q : cos(q), sin(q) * cos(q), cos(q) * cos(q)},
                   derivative[5] = {1, basis[1], basis[2], basis[3], basis[4]}, h = 1e-5;
      const double after[5] = {1, slides ? q + h : sin(q + h), slides ? (q + h) * (q + h) : cos(q + h),
                               sin(q + h) * cos(q + h), cos(q + h) * cos(q + h)};
      const double before[5] = {1, slides ? q - h : sin(q - h), slides ? (q - h) * (q - h) : cos(q - h),
                                sin(q - h) * cos(q - h), cos(q - h) * cos(q - h)};
      for (int i = 0; i < 100; i++) { /* dL is the derivative of L */
        double slope = 0, rise = 0;
        for (int k = 0; k < maps.count; k++)
          slope += derivative[k] * maps.dL[k][i], rise += (after[k] - before[k]) / (2 * h) * maps.L[k][i];
        assert_true(fabs(slope - rise) < 1e-8);
      }
    }
  }
  psdm_robot_free(r);
}

/* w_a.I w_b + m v_a.v_b + h.(v_a x w_b + v_b x w_a) for any two twists: robots' links use only some of it */
TEST(inertia_rows) {
  rng g = rng_start("inertia rows");
  for (int trial = 0; trial < 20; trial++) {
    double a[6], b[6], pi[10], row[10], sum = 0, inner = 0;
    for (int i = 0; i < 6; i++) a[i] = rng_uniform(&g, -1, 1), b[i] = rng_uniform(&g, -1, 1);
    for (int i = 0; i < 10; i++) pi[i] = rng_uniform(&g, -1, 1);
    const double I[3][3] = {{pi[4], pi[5], pi[6]}, {pi[5], pi[7], pi[8]}, {pi[6], pi[8], pi[9]}}, *v = a + 3,
                 *y = b + 3;
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      for (int c = 0; c < 3; c++) inner += a[i] * I[i][c] * b[c];
      inner += pi[0] * v[i] * y[i] + pi[1 + i] * (v[j] * b[k] - v[k] * b[j] + y[j] * a[k] - y[k] * a[j]);
    }
    psdmp_derive_inertia_row(a, b, row);
    for (int i = 0; i < 10; i++) sum += row[i] * pi[i];
    assert_true(fabs(sum - inner) < 1e-14);
  }
}

/* slides over the reach, whole turns; rates such that rate^2 times the reach is gravity's size; the same numbers for
 * every call with the same seed */
TEST(random_states) {
  psdm_robot *r = parse_robot("convention: dh\ngravity: [3, 4, 12]\njoints: [{a: 1}, {type: prismatic, a: 1}]\n"),
             *still = parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints: [{a: 1}, {type: prismatic, a: 1}]\n");
  uint64_t seed = 1;
  double q[2], qd[2], qdd[2], high[6] = {0}, low[6] = {0};
  psdmp_derive_motion motion[2];
  psdmp_derive_motions(r, 2, motion);
  assert_true(motion[0].unit == 1 && motion[1].unit == 2);
  for (int i = 0; i < 2; i++) assert_true(motion[i].far == 1 && motion[i].spin == 1);
  for (int k = 0; k < 2000; k++) {
    psdmp_derive_random_state(k < 1000 ? r : still, 2, motion, &seed, q, qd, qdd);
    double rate = k < 1000 ? sqrt(6.5) : 1;
    const double share[6] = {
        q[0] / 3.14159, q[1] / 2, qd[0] / rate, qd[1] / (2 * rate), qdd[0] / (rate * rate), qdd[1] / (2 * rate * rate)};
    for (int i = 0; i < 6; i++) high[i] = fmax(high[i], share[i]), low[i] = fmin(low[i], share[i]);
  }
  for (int i = 0; i < 6; i++) assert_true(high[i] > 0.99 && high[i] <= 1 && low[i] < -0.99 && low[i] >= -1);
  psdm_robot_free(r);
  psdm_robot_free(still);
  /* splitmix64's first numbers for seed 0 (Vigna), as shares */
  static const uint64_t known[] = {0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u, 0x06C45D188009454Fu};
  seed = 0;
  for (int k = 0; k < 3; k++) assert_true(psdmp_base_random(&seed, -1, 1) == (double)(known[k] >> 11) * 0x1p-52 - 1);
}

/* A joint that turns and slides at once: in units of the faster of the two, out to where the slower one has moved, with
 * rates up to where the turn's is one. */
TEST(random_states_of_followers) {
  static const struct {
    const char *couple;
    double reach, unit, far, spin;
  } cases[] = {
      {"0.5", 0x1p-20, 0x1p-20, 0x1p+21, 0x1p+21}, {"0.5", 0x1p+20, 2, 0x1p+19, 1}, {"-4", 0x1p-2, 0x1p-2, 1, 1}};
  char text[200];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    uint64_t seed = 1;
    double x[3], high[3] = {0};
    psdmp_derive_motion motion;
    snprintf(text, sizeof text,
             "convention: dh\ngravity: [0, 0, 0]\njoints: [{name: s, type: prismatic}, {name: t, couple: {s: %s}}]\n",
             cases[k].couple);
    psdm_robot *r = parse_robot(text);
    psdmp_derive_motions(r, cases[k].reach, &motion);
    if (motion.unit != cases[k].unit || motion.far != cases[k].far || motion.spin != cases[k].spin)
      fail_msg("case %zu: %g %g %g", k, motion.unit, motion.far, motion.spin);
    for (int s = 0; s < 1000; s++) {
      psdmp_derive_random_state(r, cases[k].reach, &motion, &seed, &x[0], &x[1], &x[2]);
      for (int i = 0; i < 3; i++) high[i] = fmax(high[i], fabs(x[i]) / motion.unit);
    }
    const double bound[3] = {motion.far == 1 ? 1 : 3.14159 * motion.far, motion.spin, 1};
    for (int i = 0; i < 3; i++) assert_true(high[i] <= bound[i] && high[i] > 0.98 * bound[i]);
    psdm_robot_free(r);
  }
}

/* ---- assumptions ---- */

typedef struct tied {
  int count;
  const char *assume[8];
  int left;             /* of 22 parameters, those that remain */
  const char *gone[10]; /* those that are eliminated, and their expressions: "ZZ1 = XX1 + YY1" */
} tied;

static int parameter(const psdm_robot *r, const char *name, size_t length) {
  char text[32];
  for (int k = 0; k < psdm_robot_parameter_count(r); k++)
    if (strlen(psdm_robot_parameter_name(r, k, text, sizeof text)) == length && strncmp(text, name, length) == 0)
      return k;
  fail_msg("no parameter %s", name);
  return -1;
}

/* B by hand: a remaining parameter is itself, an eliminated one the sum in its line */
static void expect_left(const psdm_robot *r, const tied *t) {
  psdmp_base_arena arena = {.allocator = NULL};
  psdmp_derive_restriction res;
  const psdm_derive_options o = {.assume_count = t->count, .assume = t->assume};
  int S = psdm_robot_parameter_count(r), place[32];
  double expected[32][32] = {{0}};
  assert_int_equal(psdmp_derive_restriction_set(r, &o, &arena, &res, NULL), PSDM_OK);
  assert_int_equal(res.count, t->left);
  for (int k = 0; k < S; k++) place[k] = -1;
  for (int k = 0; k < res.count; k++) place[res.param[k]] = k, expected[k][res.param[k]] = 1;
  bool combines = false;
  for (int g = 0; t->gone[g]; g++) {
    const char *at = strchr(t->gone[g], ' '), *name = t->gone[g];
    int own = parameter(r, name, (size_t)(at - name));
    assert_int_equal(place[own], -1);
    for (at += 3; *at;) { /* behind " = ", then names with " + " between them */
      size_t length = strcspn(at, " ");
      if (*at != '0') {
        int k = parameter(r, at, length);
        assert_true(place[k] >= 0);
        expected[place[k]][own] = 1;
        combines = true;
      }
      at += length;
      if (*at) at += 3;
    }
  }
  for (int k = 0; k < res.count; k++)
    for (int c = 0; c < S; c++) {
      double b = res.B[k * S + c];
      if (expected[k][c] == 0 ? b != 0 : !(fabs(b - expected[k][c]) < 1e-12))
        fail_msg("%s: B[%d][%d] = %.17g, %g was expected", t->assume[0], k, c, b, expected[k][c]);
    }
  assert_int_equal(psdmp_derive_restriction_combines(&res, S), combines);
  /* random parameters that satisfy them are in the span, and differ from seed to seed */
  double pi[32], other[32];
  for (uint64_t seed = 1; seed < 5; seed++) {
    assert_int_equal(psdmp_derive_sample_assumed(r, &o, seed, &arena, pi, NULL), PSDM_OK);
    assert_int_equal(psdmp_derive_sample_assumed(r, &o, seed + 100, &arena, other, NULL), PSDM_OK);
    assert_true(max_difference(pi, other, S) > 1e-3);
    for (int c = 0; c < S; c++) {
      double sum = 0;
      for (int k = 0; k < res.count; k++) sum += pi[res.param[k]] * expected[k][c];
      assert_true(fabs(pi[c] - sum) < 1e-14);
    }
  }
  /* and the resulting model is exact for such robots */
  psdm_derive_info info;
  psdm_model *m = derive(r, &o, &info), *base;
  assert_true(info.residual < 1e-13);
  assert_int_equal(psdm_base_parameters_derive(r, &o, NULL, &base, &info, NULL), PSDM_OK);
  assert_true(info.residual < 1e-13 && base->l == m->l && base->combined == combines && m->combined == combines);
  for (int j = 0; j < m->l; j++) assert_int_equal(m->base[j].parameter, base->base[j].parameter);
  psdm_model_free(base);
  psdm_model_free(m);
  psdmp_base_arena_free(&arena);
}

TEST(assumptions) {
  psdm_robot *r = parse_robot("convention: dh\njoints: [{a: 0.5, alpha: pi/2, drive_inertia: 0.2}, {a: 0.3, alpha: "
                              "0.4, drive_inertia: unknown}]\n");
  static const tied cases[] = {
      {1, {"rx2 = 0"}, 21, {"mx2 = 0"}},
      {2, {"rx1=0", "Ixy1 = 0"}, 20, {"mx1 = 0", "XY1 = 0"}},
      {2, {"Ia1 = Ia2", "m1 = m2"}, 20, {"Ia2 = Ia1", "m2 = m1"}},
      {4, {"rz1 = 0", "Ixx1 = 0", "Iyy1 = 0", "Izz1 = 0"}, 20, {"mz1 = 0", "ZZ1 = XX1 + YY1"}},
      {4, {"rx2 = 0", "ry2 = 0", "rz2 = 0", "Ixx2 = Iyy2"}, 18, {"mx2 = 0", "my2 = 0", "mz2 = 0", "YY2 = XX2"}},
      {5,
       {"rx2 = 0", "ry2 = 0", "rz2 = 0", "Ixx2 = Iyy2", "Iyy2 = Izz2"},
       17,
       {"mx2 = 0", "my2 = 0", "mz2 = 0", "YY2 = XX2", "ZZ2 = XX2"}},
      {1, {"m2 = 0"}, 18, {"m2 = 0", "mx2 = 0", "my2 = 0", "mz2 = 0"}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) expect_left(r, &cases[k]);
  psdm_robot_free(r);
}

/* ---- echelon forms ---- */

/* l rows, in their order joint by joint and function by function, with a single entry, a one, one row for each
 * parameter */
static void expect_echelon(const psdm_model *m) {
  long last = -1;
  for (int j = 0; j < m->l; j++) {
    long found = -1;
    for (int joint = 0; joint < m->n && found < 0; joint++)
      for (long f = 0; f < m->p && found < 0; f++) {
        int entries = 0;
        bool one = false;
        for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
          if (m->P[e].joint == joint) entries++, one |= m->P[e].parameter == j && m->P[e].value == 1;
        if (one && entries == 1 && joint * m->p + f > last) found = joint * m->p + f;
      }
    if (found < 0) fail_msg("no row for parameter %d behind row %ld", j, last);
    last = found;
  }
}

TEST(echelon_forms) {
  static const double angles[] = {0.3, 1e-2, 1e-3, 1e-4, 1e-5};
  for (size_t k = 0; k < sizeof angles / sizeof *angles; k++)
    for (int kind = 0; kind < 3; kind++) {
      char text[400];
      double a = angles[k];
      snprintf(text, sizeof text,
               "convention: dh\njoints: [{a: 0.5, alpha: %.17g, d: 0.1}, {%sa: 0.4, alpha: %.17g, d: 0.2}, {a: %g, "
               "alpha: 0}]\n",
               a, kind == 1 ? "type: prismatic, " : "", kind == 2 ? 1.5707963267948966 + a : -a,
               kind == 2 ? 1e-3 : 0.3);
      psdm_robot *r = parse_unsnapped(text);
      const psdm_derive_options rows = {.basis = PSDM_BASIS_ECHELON};
      psdm_derive_info info;
      psdm_model *plain = derive(r, NULL, NULL), *m = derive(r, &rows, &info);
      assert_true(info.residual < 1e-9 && m->l == plain->l && m->p == plain->p && m->combined);
      expect_echelon(m);
      psdm_model_free(plain);
      psdm_model_free(m);
      psdm_robot_free(r);
    }
}

/* the sampled twin has the same exact entries: rounding is left out */
TEST(echelon_twins) {
  static const char *const robots[] = {"two_link", "fanuc_sr6ia"};
  for (int k = 0; k < 2; k++) {
    psdm_robot *r = load_shipped(robots[k]);
    psdm_model *exact = derive(r, &(psdm_derive_options){.basis = PSDM_BASIS_ECHELON}, NULL),
               *dense =
                   derive(r, &(psdm_derive_options){.basis = PSDM_BASIS_ECHELON, .method = PSDM_METHOD_DENSE}, NULL);
    expect_echelon(exact);
    expect_echelon(dense);
    assert_int_equal(psdm_model_entries(exact), psdm_model_entries(dense));
    for (int j = 0; j < exact->l; j++) assert_int_equal(exact->base[j].terms, dense->base[j].terms);
    psdm_model_free(exact);
    psdm_model_free(dense);
    psdm_robot_free(r);
  }
}

/* columns of two links and their drives, some of them sums of others: as many are kept as are independent, and the
 * others follow from the shares */
TEST(choice_by_links) {
  enum { ROWS = 40, COLUMNS = 22 };
  static double A[COLUMNS * ROWS];
  psdm_robot *r =
      parse_robot("convention: dh\njoints: [{a: 0.5, drive_inertia: 0.2}, {a: 0.3, drive_inertia: unknown}]\n");
  rng g = rng_start("choice by links");
  for (int trial = 0; trial < 60; trial++) {
    psdmp_base_arena arena = {.allocator = NULL};
    psdmp_derive_link_choice choice;
    int order[COLUMNS], rank = COLUMNS;
    double size = 0;
    psdmp_derive_keep_order(r, order);
    for (int k = 0; k < COLUMNS; k++) {
      bool sum = rng_int(&g, 0, 2) == 0, nothing = trial % 4 == 0 && rng_int(&g, 0, 5) == 0;
      for (int i = 0; i < ROWS; i++) A[k * ROWS + i] = nothing || (sum && k) ? 0 : rng_uniform(&g, -1, 1);
      rank -= nothing || (sum && k);
      for (int e = 0; e < k && sum && !nothing; e++) {
        double share = rng_int(&g, 0, 1) ? rng_uniform(&g, -1, 1) : 0;
        for (int i = 0; i < ROWS; i++) A[k * ROWS + i] += share * A[e * ROWS + i];
      }
    }
    for (int i = 0; i < COLUMNS * ROWS; i++) size = fmax(size, fabs(A[i]));
    const psdmp_derive_link_columns of = {ROWS, COLUMNS, order, A, 1e-12 * size};
    assert_true(psdmp_derive_choose_by_link(r, &of, &arena, &choice));
    assert_int_equal(choice.rank, rank);
    assert_true(choice.dropped <= 1e-12 * size && choice.smallest > 1e-6 * size);
    bool kept[COLUMNS] = {false};
    for (int k = 0; k < rank; k++) assert_false(kept[choice.kept[k]]), kept[choice.kept[k]] = true;
    for (int c = 0; c < COLUMNS; c++) {
      double column[ROWS];
      memcpy(column, A + c * ROWS, sizeof column);
      for (int k = 0; k < rank; k++) {
        double share = choice.beta[k * COLUMNS + c];
        assert_true(!kept[c] || share == 0);
        for (int i = 0; i < ROWS; i++) column[i] -= share * A[choice.kept[k] * ROWS + i];
      }
      if (!kept[c]) assert_true(max_absolute(column, ROWS) <= 1e-10 * size);
    }
    psdmp_base_arena_free(&arena);
  }
  psdm_robot_free(r);
}

/* samples and structure need not agree on the rank here: whichever columns are chosen, the result has been compared
 * with the recursions and is right */
TEST(samples_of_nearly_parallel_axes) {
  for (double angle = 1e-14; angle < 1e-10; angle *= 1.5) {
    char text[300];
    snprintf(text, sizeof text, "convention: dh\njoints: [{a: 0.5, alpha: %.17g}, {a: 0.4, alpha: %.17g}, {a: 0.3}]\n",
             angle, -angle);
    psdm_robot *r = parse_unsnapped(text);
    for (int k = 0; k < 6; k++) {
      const psdm_base_parameters_options o = {
          .no_scaling = true, .solver = (psdm_solver)(k % 2), .sampling = (psdm_sampling)(k / 2)};
      psdm_base_parameters *p;
      psdm_error error;
      if (psdm_base_parameters_solve(r, &o, NULL, &p, &error))
        fail_msg("%g, solver %d, model %d: %s", angle, k % 2, k / 2, error.text);
      assert_true(p->rank >= 7 && p->rank <= 11 && p->rank == p->ranks[k % 2 ? 2 : 0]);
      for (int i = 0; i < p->rank; i++)
        for (int e = 0; e < p->columns - p->rank; e++)
          assert_true(p->kept[i] != p->dropped[e] && isfinite(p->beta[i * (p->columns - p->rank) + e]));
      psdm_base_parameters_free(p);
    }
    psdm_robot_free(r);
  }
}

/* ---- coupled joints ---- */

TEST(coupled_joints) {
  static const int radix[][2] = {{11}, {15, 11}, {19}, {39}, {5, 7}, {11, 15}, {7, 5}};
  /* largest; cos(f q) in powers of sine and cosine has coefficients up to (1 + sqrt 2)^f */
  static const int factor[] = {1, 2, 3, 8, 1, 1, 1};
  static const char *const robots[] = {
      "{name: a, a: 0.5, alpha: pi/2, drive_inertia: 0.1}, {name: b, a: 0.4, couple: {a: -1, offset: 0.3}}",
      "{name: a, a: 0.5, alpha: 0.4}, {name: b, a: 0.4, alpha: pi/2, drive_inertia: unknown}, {name: c, a: 0.3, "
      "couple: {a: 2, b: -1}}",
      "{name: a, a: 0.5, alpha: pi/2}, {name: b, a: 0.4, couple: {a: -3}}",
      "{name: a, a: 0.5, alpha: pi/2}, {name: b, a: 0.4, couple: {a: 8}}",
      "{name: a, type: prismatic, a: 0.5, alpha: 1}, {name: b, type: prismatic, a: 0.4, alpha: 1, couple: {a: 0.7, "
      "offset: 0.2}}, {name: c, a: 0.3}",
      "{name: a, a: 0.5, alpha: pi/2}, {name: b, a: 0.4}, {name: c, a: 0.3, alpha: 0.2, couple: {b: -1}}, {name: d, a: "
      "0.2, couple: {b: 1, a: 1}}",
      /* slides on a turning joint: their squares */
      "{name: z, a: 0.2, alpha: pi/2}, {name: a, type: prismatic, a: 0.5, alpha: 0.4}, {name: b, type: prismatic, a: "
      "0.4, alpha: 1, couple: {a: 0.7, offset: 0.2}}",
  };
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    char text[600];
    snprintf(text, sizeof text, "convention: dh\ngravity: [1, 2, -9]\njoints: [%s]\n", robots[k]);
    psdm_robot *r = parse_robot(text);
    psdm_derive_info info;
    psdm_model *m = derive(r, NULL, &info);
    assert_true(info.residual < 1e-14 * pow(1 + sqrt(2), factor[k]) && psdm_robot_coupled(r));
    /* each tree joint brings two of every angle in it: exponents up to twice that, and two more while s s is
     * reduced; a slide's own degree */
    for (int j = 0; j < m->n; j++) assert_int_equal(m->radix[j], radix[k][j]);
    for (int c = 0; c < m->classes; c++)
      for (long f = m->class_start[c] + 1; f < m->class_start[c + 1]; f++) assert_true(m->code[f] > m->code[f - 1]);
    for (long f = 0; f < m->p; f++)
      for (long e = m->P_start[f] + 1; e < m->P_start[f + 1]; e++)
        assert_true(m->P[e].joint != m->P[e - 1].joint || m->P[e].parameter != m->P[e - 1].parameter);
    psdm_model_free(m);
    psdm_robot_free(r);
  }
}

/* ---- a model's fingerprint of its robot ---- */

TEST(fingerprints) {
  static const char *const gravity[] = {"[1, 2, 3]", "[1, 2, 4]", "[1, 5, 3]", "[7, 2, 3]"};
  psdm_robot *r[4];
  for (int k = 0; k < 4; k++) {
    char text[200];
    snprintf(text, sizeof text, "convention: dh\ngravity: %s\njoints: [{a: 1, alpha: 0.3}, {type: prismatic, a: 1}]\n",
             gravity[k]);
    r[k] = parse_robot(text);
  }
  for (int functions = 0; functions < 2; functions++) {
    psdm_model *m;
    psdm_error error;
    assert_int_equal(functions ? psdm_model_derive(r[0], NULL, NULL, &m, NULL, &error)
                               : psdm_base_parameters_derive(r[0], NULL, NULL, &m, NULL, &error),
                     PSDM_OK);
    for (int k = 0; k < 4; k++) assert_int_equal(psdm_model_match(m, r[k], &error), k ? PSDM_E_ROBOT : PSDM_OK);
    assert_true(m->n == 2 && m->classes == 6 && m->standard == 20 && m->links == 2 &&
                fabs(m->gravity - sqrt(14)) < 1e-15 && !m->prismatic[0] && m->prismatic[1] && !m->combined);
    assert_true(functions ? m->weight[0] == 5 && m->weight[1] == 1 : m->p == 0);
    assert_string_equal(m->standard_name[13], "mz2");
    psdm_model_free(m);
  }
  for (int k = 0; k < 4; k++) psdm_robot_free(r[k]);
}

TEST_MAIN(refusals, lack_of_memory_is_known_early, external_programs, unit_lengths, inertia_rows, joint_matrices,
          random_states, random_states_of_followers, assumptions, echelon_forms, echelon_twins, choice_by_links,
          samples_of_nearly_parallel_axes, coupled_joints, fingerprints)
