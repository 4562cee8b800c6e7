/* test_lugre_begin_ranks.c: which beginnings friction's search chooses, and what its simplex may answer, when the test
 * chooses the residuals. */
#if defined(PSDM_HAVE_CMINPACK) && defined(PSDM_HAVE_NLOPT)

#include "test_lugre_begin_asked.h"

/* ---- one drive that goes on at 1 rad/s, its torque 1: the test chooses the inverse's answer, and with it the residual
 * ---- */

enum { SLIDING = 64, LENGTHS = 13, PER_CURVE = 13, LATER = 24 }; /* places of a golden section from log 0.1 to log 3 */

static struct {
  int longest;               /* of 2 .. 14, the length with the least residual; 0: no friction */
  double left[18], rise[18]; /* of each curve; a rise of 0: pushing */
  double later[LATER];       /* after those, the inverse's first number at each place of the bristles */
} chosen;

static bool choose(int n, double *X, bool *shown) {
  int call = asked.inverted - 1;
  memset(X, 0, sizeof *X * (size_t)(n * n));
  memset(shown, 1, sizeof *shown * (size_t)n);
  if (call < LENGTHS) {
    X[0] = call + 2 == chosen.longest ? 1e-6 : 0;
  } else if (asked.shapes == LENGTHS) { /* the residual of 64 ones: 64 - X 64^2 */
    int curve = (call - LENGTHS) / PER_CURVE;
    assert_true(curve < 18);
    X[0] = (chosen.rise[curve] > 0 ? SLIDING - chosen.left[curve] : -1) / (SLIDING * SLIDING);
    X[3 * n] = chosen.rise[curve] > 0 ? X[0] * (chosen.rise[curve] - 1) : 0;
  } else {
    assert_true(asked.shapes - LENGTHS - 1 < LATER);
    X[0] = chosen.later[asked.shapes - LENGTHS - 1];
  }
  return true;
}

static void fast_ones(int (*f)(void *, int, int, const double *, double *, int), void *user, int m, double *x,
                      double *residual) {
  (void)f, (void)user;
  assert_int_equal(m, SLIDING + 1);
  for (int i = 0; i < m; i++) residual[i] = 1;
  *x = -0.25;
}

static void go_on(void) {
  ask_anew();
  memset(&s, 0, sizeof s);
  memset(&chosen, 0, sizeof chosen);
  s.pieces = s.poses = 1;
  for (int i = 0; i <= SLIDING; i++) s.v[0][i] = s.tau[0][i] = s.use[0][i] = 1, s.a[0][i] = 0.5;
  s.piece[0] = (psdmp_steps_lugre_piece){
      .rows = SLIDING + 1, .dt = 1.0 / SLIDING, .v = s.v[0], .a = s.a[0], .tau = s.tau[0], .use = s.use[0]};
  chosen.longest = 8;
  for (int k = 0; k < 18; k++) chosen.left[k] = 40, chosen.rise[k] = 0;
  for (int k = 0; k < LATER; k++) chosen.later[k] = 1e-3;
  asked.instead = choose, asked.fast = fast_ones;
}

/* the low end of a golden section whose places all have the same residual */
static double lowest_exponent(void) {
  double low = log(0.1), high = log(3);
  while (high - low > 0.02) high = low + (sqrt(5) - 1) / 2 * (high - low);
  return exp(high - (sqrt(5) - 1) / 2 * (high - low));
}

/* the curves, best first, at which bristles begin; -1: a slow one, as there is none */
static void expect_curves(const char *what, int curves, const int *which) {
  assert_int_equal(begin(0), PSDM_OK);
  if (count != curves)
    fail_msg("%s: %d curves, %d were expected; vs %g %g %g", what, count, curves, points[0].friction.stribeck,
             points[1].friction.stribeck, points[2].friction.stribeck);
  assert_true(asked.shapes == LENGTHS + curves && asked.created == curves && asked.destroyed == curves &&
              asked.fasts == 6 && asked.called == 9 * curves);
  for (int k = 0; k < curves; k++) {
    const psdm_friction *f = &points[k].friction;
    bool none = which[k] < 0;
    expect_near(f->stribeck, none ? 0.01 : pow(10, -0.2 * (which[k] + 1)), 1e-14, what),
        expect_near(f->exponent, none ? exp(-0.25) : lowest_exponent(), 1e-14, what);
    expect_near(f->stat / f->coulomb, none ? 1 : chosen.rise[which[k]], 1e-14, what),
        expect_near(f->coulomb / f->sigma0, 1e-4, 1e-17, what);
  }
}

static void ranks_of_curves(void **state) {
  (void)state;
  go_on(), expect_curves("none", 1, (int[]){-1});
  go_on(), chosen.rise[4] = 1.25, expect_curves("one", 1, (int[]){4});
  go_on(), chosen.rise[0] = 1.25, expect_curves("the fastest", 1, (int[]){0});
  go_on(), chosen.rise[17] = 0.75, expect_curves("the slowest", 1, (int[]){17});
  go_on(), chosen.rise[3] = 3, chosen.rise[9] = 2.9375, expect_curves("three times Fc is too much", 1, (int[]){9});
  go_on(), chosen.rise[3] = 0.25, chosen.rise[9] = 0.3125,
           expect_curves("less than a third is too little", 1, (int[]){9});
  go_on();
  for (int k = 0; k < 18; k++) chosen.rise[k] = 1, chosen.left[k] = 40 - k;
  expect_curves("down", 1, (int[]){17});
  for (int k = 0; k < 18; k++) chosen.left[k] = 20 + k;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("up", 1, (int[]){0});
  for (int k = 0; k < 18; k++) chosen.left[k] = 40;
  chosen.left[2] = 16, chosen.left[5] = 18, chosen.left[8] = 12, chosen.left[11] = 17, chosen.left[14] = 13;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("the best three of five", 3, (int[]){8, 14, 2});
  chosen.left[2] = 13, chosen.left[5] = 18.0625, chosen.left[8] = 18, chosen.left[11] = 12, chosen.left[14] = 40;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("half as much again is enough", 3, (int[]){11, 2, 8});
  chosen.left[8] = 18.0625;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("more is not", 2, (int[]){11, 2});
  chosen.left[2] = chosen.left[3] = 12.5; /* two equal neighbours are two beginnings, in order */
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("alike", 3, (int[]){11, 2, 3});
  chosen.left[2] = chosen.left[3] = 40, chosen.rise[8] = 0, chosen.left[0] = 17, chosen.left[17] = 16;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("at both ends", 3, (int[]){11, 17, 0});
  chosen.left[11] = 0, chosen.left[17] = 0, chosen.left[0] = 1;
  ask_anew(), asked.instead = choose, asked.fast = fast_ones;
  expect_curves("nothing is left", 2, (int[]){11, 17});
  go_on(), chosen.rise[4] = chosen.rise[9] = 1, chosen.left[4] = 12, chosen.left[9] = 18.0625;
  expect_curves("the second is too much", 1, (int[]){4});
}

/* if the search of lengths finds no friction, there is none; if the bristles of a curve push, the next curve takes its
 * place */
static void no_friction_is_found(void **state) {
  (void)state;
  go_on(), chosen.longest = 0;
  assert_int_equal(begin(0), PSDM_OK);
  assert_true(count == 0 && asked.shapes == LENGTHS && asked.inverted == LENGTHS && asked.created == 0 &&
              !points[0].friction.given);
  go_on(), chosen.rise[3] = 1.25, chosen.rise[9] = 1.5, chosen.left[9] = 41, chosen.later[0] = 0;
  assert_int_equal(begin(0), PSDM_OK);
  assert_true(count == 1 && asked.shapes == LENGTHS + 2 && asked.created == 1 && points[0].friction.given &&
              !points[1].friction.given);
  expect_near(points[0].friction.stribeck, 0.01, 1e-16, "vs");
  for (int k = 2; k <= 14; k++) { /* the length with the least residual; of equal ones the first */
    go_on(), chosen.longest = k;
    assert_int_equal(begin(0), PSDM_OK);
    expect_near(log10(points[0].friction.sigma0 / points[0].friction.coulomb), 0.5 * k, 1e-13, "length");
  }
}

/* ---- the simplex ---- */

static double values[4];

static void four_places(nlopt_func f, void *user, const double *from) {
  static const double steps[4][3] = {{0.1, 0.05, -5}, {0.1, 0.06, -5}, {0.2, 0.1, -5}, {0.3, 0.2, -5}};
  for (int k = 0; k < 4; k++)
    values[k] = f(3, (double[]){from[0] + steps[k][0], from[1] + steps[k][1], from[2] + steps[k][2]}, NULL, user);
}

/* the least so far, the first of equal ones; without friction or with pushing: twice the torque; never below zero */
static void places_of_a_simplex(void **state) {
  (void)state;
  psdm_friction f = {.coulomb = 1, .stat = 1.25, .stribeck = exp(log(pow(10, -0.8)) - 5)};
  go_on(), chosen.rise[3] = 1.25, asked.simplex = four_places;
  static const double first = 1e-4, same = 2e-4;
  chosen.later[0] = first, chosen.later[1] = chosen.later[2] = same, chosen.later[3] = 0, chosen.later[4] = -1e-3;
  assert_int_equal(begin(0), PSDM_OK);
  f.sigma0 = exp(-(log(1e-4) + 0.1));
  shape_design(&f, lowest_exponent(), true);
  real b = 0;
  for (long r = 0; r < now.rows; r++) b += now.X[r * now.n] * now.y[r];
  expect_near(values[0], (double)(now.square - same * b * b), 1e-12 * (double)now.square, "what is left");
  assert_true(values[1] == values[0]);
  for (int k = 2; k < 4; k++) {
    f.sigma0 = exp(-(log(1e-4) + 0.1 * k));
    shape_design(&f, lowest_exponent(), true);
    expect_near(values[k], 2 * (double)now.square, 1e-12 * (double)now.square, "where nothing rubs");
  }
  expect_near(points[0].friction.coulomb, (double)(same * b), 1e-12, "Fc");
  expect_near(points[0].friction.stat / points[0].friction.coulomb, 1.25 * exp(0.05), 1e-13,
              "the first of those alike");
  expect_near(points[0].friction.viscous / points[0].friction.coulomb, 1e-3, 1e-15, "Fv where none is found");
  assert_true(points[0].friction.sigma1 == 0);
  go_on(), chosen.rise[3] = 1.25, asked.simplex = four_places;
  chosen.later[2] = 1;
  assert_int_equal(begin(0), PSDM_OK);
  assert_true(values[1] == 0 && values[0] > 1);
}

static double shares[LATER];
static int asks, last_ask;

static bool ask_and_stop(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  assert_null(user);
  shares[asks++] = asked.shapes;
  expect_near(share, 0.003 * asked.shapes, 1e-15, "share");
  return asks != last_ask;
}

static void stops_of_a_simplex(void **state) {
  (void)state;
  for (last_ask = 1; last_ask <= 8; last_ask++) {
    go_on(), chosen.rise[3] = 1.25, chosen.rise[9] = 1.25, asked.simplex = four_places,
             s.options.progress = ask_and_stop;
    asks = 0;
    assert_int_equal(begin(0), PSDM_OK);
    int curves = last_ask <= 4 ? 1 : 2;
    assert_true(asks == last_ask && count == curves && asked.created == curves &&
                asked.stopped == 4 * curves - last_ask + 1 && w.stopped);
    assert_true(shares[0] == LENGTHS + 1 && asked.shapes == LENGTHS + 5 * curves);
  }
}

static void refused_simplex(void **state) {
  (void)state;
  for (int refuse = 1; refuse <= 9; refuse++)
    for (int memory_out = 0; memory_out < 2; memory_out++) {
      go_on(), chosen.rise[3] = 1.25, chosen.rise[9] = 1.5;
      asked.refuse = refuse, asked.failure = memory_out ? NLOPT_OUT_OF_MEMORY : NLOPT_FAILURE;
      memset(&error, 0, sizeof error);
      bool out = memory_out || refuse == 1;
      assert_int_equal(begin(0), out ? PSDM_E_MEMORY : PSDM_OK);
      assert_int_equal(error.status, out ? PSDM_E_MEMORY : PSDM_OK);
      assert_int_equal(asked.called, refuse + (out ? 0 : 9));
      assert_true(asked.created == (out ? 1 : 2) && asked.destroyed == asked.created - (refuse == 1) &&
                  asked.simplexes == (refuse == 9) + !out);
      assert_true(out || (count == 2 && points[1].friction.given));
    }
}

static void memory_and_library(void **state) {
  (void)state;
  long fails = 0;
  do {
    go_on();
    memset(&error, 0, sizeof error);
    psdm_status status = begin(++fails);
    if (status == PSDM_OK) break;
    assert_true(status == PSDM_E_MEMORY && error.status == PSDM_E_MEMORY && count == 0);
  } while (fails < 9);
  assert_int_equal(fails, 4); /* viscous, fast rows and their poses */
  go_on(), asked.absent = true;
  assert_int_equal(begin(0), PSDM_E_MISSING);
  assert_true(error.status == PSDM_E_MISSING && count == 0 && asked.fasts == 0);
}

/* rows slide from the one after which exactly five lengths lie */
static void exactly_five_lengths(void **state) {
  (void)state;
  for (int more = 0; more < 2; more++) {
    double length = exp(log(1) - 0.5 * 8 * log(10)), slow = 5 * length;
    go_on(), chosen.rise[3] = 1.25;
    s.pieces = 2, s.piece[1] = (psdmp_steps_lugre_piece){
                      .rows = 3, .dt = 1, .v = s.v[1], .a = s.a[1], .tau = s.tau[1], .use = s.use[1]};
    for (int i = 0; i < 3; i++) s.v[1][i] = i < 2 ? slow : -slow, s.use[1][i] = 1, s.tau[1][i] = i < 2;
    s.v[0][MOST_ROWS - 1] = 1; /* in front of the second piece */
    if (more) s.v[1][1] = nextafter(slow, 0);
    assert_int_equal(begin(0), PSDM_OK);
    assert_true(asked.sums[LENGTHS].A[0] == SLIDING + (more ? 0 : 1)); /* the number of rows */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_of_curves),     cmocka_unit_test(no_friction_is_found),
                                     cmocka_unit_test(places_of_a_simplex), cmocka_unit_test(stops_of_a_simplex),
                                     cmocka_unit_test(refused_simplex),     cmocka_unit_test(memory_and_library),
                                     cmocka_unit_test(exactly_five_lengths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
