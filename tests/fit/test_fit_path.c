/* test_fit_path.c: a fit with a prior step by step: from each point that it reports, the dense twin computes the next
 * step, its length, when mu falls and when the fit ends. */
#include "test_fit_twin.h"

enum { STEPS = 700 };

/* ---- the points that the library reports ---- */

typedef struct shown {
  const held *h;
  int steps;
  double x[STEPS][MOST], mu[STEPS]; /* phi pi */
} shown;

static void show(void *user, const double *pi, const double *phi, double mu) {
  shown *s = user;
  assert_true(s->steps < STEPS);
  for (int i = 0; i < s->h->p.own; i++) s->x[s->steps][i] = phi[i];
  for (int i = 0; i < s->h->p.rows.standard; i++) s->x[s->steps][s->h->p.own + i] = pi[i];
  s->mu[s->steps++] = mu;
}

static shown path;

/* ---- step lengths ---- */

/* eigenvalues of a symmetric 4 x 4 by Jacobi's rotations */
static void eigenvalues(number A[4][4], number *out) {
  for (int sweep = 0; sweep < 12; sweep++)
    for (int p = 0; p < 4; p++)
      for (int q = p + 1; q < 4; q++) {
        if (A[p][q] == 0) continue;
        number theta = (A[q][q] - A[p][p]) / (2 * A[p][q]),
               t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1)), c = 1 / sqrtl(t * t + 1),
               s = t * c;
        for (int k = 0; k < 4; k++) {
          number a = A[k][p], b = A[k][q];
          A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 4; k++) {
          number a = A[p][k], b = A[q][k];
          A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
        }
      }
  for (int i = 0; i < 4; i++) out[i] = A[i][i];
}

/* how fast the arguments of the logarithms change along the step, and the weight of each logarithm */
static int rates(const twin *w, const double *x, number *rate, number *weight) {
  int count = 0;
  for (int k = 0; k < w->links; k++, count += 4) {
    number Z[4][4] = {{0}}, S[4][4];
    for (int a = 0; a < 10; a++) {
      unit_of(a, S);
      for (int i = 0; i < 16; i++) Z[i / 4][i % 4] += w->z[w->own + 10 * k + a] * S[i / 4][i % 4];
    }
    eigenvalues(Z, rate + count);
    for (int i = 0; i < 4; i++) weight[count + i] = (number)w->lambda + w->mu;
  }
  for (int i = 0; i < w->M; i++)
    if (w->sign[i]) rate[count] = w->step[i] / x[i], weight[count++] = w->mu;
  return count;
}

/* f' along the step and f'': the parabola of rows, ridges and linear terms, and the logarithms */
static number slope(const twin *w, int count, const number *rate, const number *weight, number t, number *second) {
  number begin = -w->decrement, bend = w->decrement, first;
  for (int i = 0; i < count; i++) begin += weight[i] * rate[i], bend -= weight[i] * rate[i] * rate[i];
  bend = fmaxl(0, bend);
  first = begin + bend * t, *second = bend;
  for (int i = 0; i < count; i++) {
    number part = rate[i] / (1 + t * rate[i]);
    first -= weight[i] * part, *second += weight[i] * part * part;
  }
  return first;
}

/* where f' is zero, to a thousandth, by Newton's method within a bracket, from one whole step; the bracket ends 1 %
 * before a wall, or at a million */
static number length_of(const twin *w, const double *x, int *halved, bool *level) {
  number rate[MOST], weight[MOST], wall = INFINITY, second, low = 0;
  int count = rates(w, x, rate, weight);
  for (int i = 0; i < count; i++)
    if (rate[i] < 0) wall = fminl(wall, -1 / rate[i]);
  number high = fminl(0.99L * wall, 1e6L), t = fminl(1, high);
  *level = fabsl(slope(w, count, rate, weight, 1, &second)) <= 1e-7L * w->decrement;
  if (slope(w, count, rate, weight, high, &second) <= 0) return high;
  for (int k = 0; k < 60; k++) {
    if (high - low <= 1e-3L * high) break;
    number first = slope(w, count, rate, weight, t, &second), next = t - first / second;
    if (first > 0) high = t;
    else low = t;
    bool inside = next > low && next < high;
    if (inside && fabsl(next - t) < 1e-3L * t) return next;
    t = inside ? next : (low + high) / 2;
    *halved += !inside;
  }
  return t;
}

/* ---- the whole path ---- */

typedef struct way {
  int steps, whole, short_of_walls, halved, higher, lower, loose;
  double mu, decrement, lambda;
} way;

static void place(const twin *w, double *x) {
  for (int i = 0; i < w->M; i++)
    if (w->sign[i] && !(x[i] > 0)) x[i] = sqrt(w->mu) / (w->length[i] > 0 ? w->length[i] : 1);
}

/* the explained part of the torque, squared */
static number explained(const held *h, const twin *w) {
  int full = w->W + 1;
  double *scratch = scratch_of(psdmp_fit_gather_scratch(&h->p.rows)), *G = scratch_of((size_t)(full * full));
  assert_true(psdmp_fit_gather(&h->p.rows, h->sigma, scratch, G));
  number sum = 0;
  for (int i = 0; i < w->W; i++) sum += (number)G[i * full + w->W] * G[i * full + w->W];
  fenced_free(G), fenced_free(scratch);
  return sum;
}

/* every reported point follows from the one before */
static way expect_way(const held *h, twin *w, const shown *s, double digits, double least) {
  way is = {0};
  int count = 4 * w->links + w->positives, at = 0;
  double x[MOST], rounding = (double)(1e-22L * explained(h, w));
  for (int i = 0; i < w->M; i++) x[i] = i < w->own ? 0 : (h->options.start ? h->options.start : h->prior)[i - w->own];
  w->mu = 10;
  twin_newton(w, x, false);
  while (w->mu < w->decrement / (count ? count : 1)) w->mu /= 0.15, is.higher++;
  place(w, x);
  for (bool last = false; !last; w->mu *= 0.15) {
    last = w->mu * count < 0.01;
    w->lambda = last ? h->options.lambda : fmax(h->options.lambda, w->mu);
    double enough = fmax(rounding, last ? 1e-9 : w->mu);
    for (bool ends = false; !ends && at < 600; at++) {
      if (at >= s->steps) fail_msg("%d steps, more were expected", s->steps);
      twin_newton(w, x, true);
      bool level = false; /* f' is zero after a whole step: its rounding decides whether the thousandth is used up */
      number length = length_of(w, x, &is.halved, &level), apart = 0, size = 0;
      ends = w->decrement <= enough;
      if (fabsl(w->decrement - enough) <= 1e-6L * enough) fail_msg("step %d decides by its digits", at);
      is.whole += fabsl(length - 1) < 0.1L, is.short_of_walls += length < 0.5L;
      if (ends) length = fminl(1, length);
      if (!(fabs(s->mu[at] - w->mu) <= 1e-12 * w->mu))
        fail_msg("step %d: mu is %.15g, %.15g was expected", at, s->mu[at], w->mu);
      for (int i = 0; i < w->M; i++) { /* in units of the step's curvature */
        number unit = 0;
        for (int a = 0; a < w->M; a++) unit += fabsl(w->map[i][a]) / sqrtl(w->H[a][a]);
        apart = fmaxl(apart, fabsl(s->x[at][i] - (x[i] + length * w->step[i])) / unit),
        size = fmaxl(size, fabsl(length * w->step[i]) / unit);
      }
      number allowed = least + (level || w->decrement < 1e-5L ? 3e-3L * size : digits * size);
      if (!(apart <= allowed))
        fail_msg("step %d, decrement %Lg, length %Lg: %Lg away, %Lg long", at, w->decrement, length, apart, size);
      memcpy(x, s->x[at], sizeof x);
      is.loose += last && ends && w->decrement > 1e-9L;
      is.decrement = (double)w->decrement;
    }
    is.mu = w->mu, is.lower++;
    if (at >= 600) break;
  }
  is.steps = at, w->mu = is.mu;
  return is;
}

static psdm_status run(held *h, psdmp_fit *fit) {
  double *scratch = scratch_of(psdmp_fit_scratch(&h->p.rows));
  path.h = h, path.steps = 0;
  h->options.watch = show, h->options.watch_user = &path;
  psdm_status status = psdmp_fit_consistent(&h->p.rows, &h->options, scratch, fit);
  fenced_free(scratch);
  return status;
}

/* the answer is the last point, with its cost and uncertainty */
static void expect_answer(const held *h, twin *w, const psdmp_fit *fit, const double *x, bool barriers) {
  static number C[MOST][MOST], V[MOST][MOST];
  const problem *p = &h->p;
  int base = p->rows.base, own = w->own, W = w->W, S = p->rows.standard;
  number weighted = 0, count = 0;
  twin_newton(w, x, barriers);
  twin_doubt(w, C, V);
  for (int i = 0; i < own; i++) assert_true(fit->phi[i] == x[i]);
  for (int i = 0; i < S; i++) assert_true(fit->pi[i] == x[own + i]);
  for (int b = 0; b < base; b++) {
    number sum = 0, size = 0;
    for (int k = 0; k < S; k++)
      sum += (number)p->K[b * S + k] * x[own + k], size += fabsl((number)p->K[b * S + k] * x[own + k]);
    expect(fit->theta[b], sum, size, "theta", b, 0);
  }
  for (int j = 0; j < p->rows.n; j++) {
    double should = plain_cost(p, j, fit->theta, fit->phi), torque = 0;
    for (long i = 0; i < p->each; i++) torque += pow(p->X[j][i * width_of(p, j) + width_of(p, j) - 1], 2);
    expect(fit->cost[j], should, 100 * (should + torque), "cost", j, 0);
    weighted += fit->cost[j] / ((number)h->sigma[j] * h->sigma[j]), count += p->count[j];
  }
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      int from = i < own ? base + i : i - own, to = k < own ? base + k : k - own;
      number variance = weighted / fmaxl(1, count - W);
      /* conditions of some million */
      expect(fit->covariance[from * W + to], variance * C[i][k], 1e5L * variance * sqrtl(C[i][i] * C[k][k]),
             "covariance", from, to);
    }
}

typedef struct arrays {
  double theta[MOST], pi[MOST], phi[MOST], cost[MOST], covariance[MOST * MOST];
} arrays;

static psdmp_fit fit_of(arrays *a) {
  for (size_t i = 0; i < sizeof *a / sizeof(double); i++) ((double *)a)[i] = NAN;
  return (psdmp_fit){.theta = a->theta,
                     .pi = a->pi,
                     .phi = a->phi,
                     .cost = a->cost,
                     .covariance = a->covariance,
                     .steps = -1,
                     .gap = NAN,
                     .decrement = NAN,
                     .rank = -1};
}

/* a joint's torque is that of the prior's bodies and drives, half as heavy, and of friction that pushes; this noise is
 * passed to the fit */
static void follow_truth(held *h, int j, double noise) {
  int base = h->p.rows.base, S = h->p.rows.standard, w = width_of(&h->p, j);
  for (long i = 0; i < h->p.each; i++) {
    double *row = h->p.X[j] + i * w;
    row[w - 1] *= 1e-9;
    for (int k = 0; k < h->p.extras[j]; k++) row[w - 1] += row[base + k] * (k % 2 ? 2 : -1);
    for (int b = 0; b < base; b++)
      for (int k = 0; k < S; k++) row[w - 1] += row[b] * h->p.K[b * S + k] * 0.5 * h->prior[k];
  }
  compress(&h->p, 0, h->p.each, h->p.R);
  h->sigma[j] = noise;
}

static void steps_follow_the_twin(void **state) {
  (void)state;
  rng g = rng_start("steps_follow_the_twin");
  static arrays a;
  way all = {0};
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 7; turn++) {
      held h;
      twin w;
      double start[STANDARD_MOST];
      held_new(&h, &g, &shapes[k], 20);
      if (turn == 1) /* sharp data, and against the signs: it begins higher, and walls are met */
        for (int j = 0; j < h.p.rows.n; j++) h.sigma[j] *= 0.01;
      if (turn == 2) { /* a weak pull, and a column so short that its barrier alone holds it */
        h.options.lambda = 1e-3, h.options.ridge = 1;
        for (long i = 0; i < h.p.each && shapes[k].extras[0] > 0; i++)
          h.p.X[0][i * width_of(&h.p, 0) + shapes[k].base] *= 0.01;
        compress(&h.p, 0, h.p.each, h.p.R);
      }
      if (turn == 3) h.options.lambda = 200;
      if (turn == 4) {
        h.options.start = start, h.options.nonnegative = NULL;
        for (int i = 0; i < h.p.rows.standard; i++) start[i] = 2;
        for (int e = 0; e < h.p.rows.links; e++) random_body(&g, 9, 0.8, start + 10 * e);
      }
      /* a thousandth of a thousandth, with another slightly too large; drives and one column are unobservable */
      if (turn == 5) {
        h.options.start = start;
        for (long i = 0; i < h.p.each && k == 0; i++) h.p.X[0][i * width_of(&h.p, 0) + shapes[k].base] = 0;
        compress(&h.p, 0, h.p.each, h.p.R);
        for (int i = 0; i < h.p.rows.standard; i++)
          start[i] = h.prior[i] * (i < 10 * h.p.rows.links ? (i / 10 % 2 ? 1.3 : 1e-6) : i % 2 ? 3 : 1e-5);
        for (int b = 0; b < h.p.rows.base; b++)
          for (int i = 0; i < h.p.rows.standard; i++)
            h.p.K[b * h.p.rows.standard + i] *= i < 10 * h.p.rows.links ? 1e-3 : 0;
      }
      if (turn == 6) /* a torque of 10^9 times its noise decides what is enough; bodies lose all digits by it */
        for (int j = 0; j < h.p.rows.n; j++) follow_truth(&h, j, shapes[k].links ? 1 : 2e-9 / (1 + k));
      twin_new(&w, &h);
      psdmp_fit fit = fit_of(&a);
      assert_int_equal(run(&h, &fit), PSDM_OK);
      /* residuals lose the digits that the torque is above its noise */
      way is = expect_way(&h, &w, &path, turn == 6 ? 1e-4 : 1e-7, turn == 6 ? 1e-3 : 1e-8);
      assert_int_equal(is.steps, path.steps);
      assert_int_equal(fit.steps, is.steps);
      assert_true(fit.feasible && fit.rank == w.W && fit.gap >= 0);
      expect(fit.gap, is.mu * (4 * w.links + w.positives), fit.gap, "gap", k, turn);
      if (!(fabs(fit.decrement - is.decrement) <= 1e-4 * is.decrement + (turn == 6 ? 1e-10 : 1e-13)))
        fail_msg("shape %d, turn %d: decrement %g, %g was expected", k, turn, fit.decrement, is.decrement);
      expect_answer(&h, &w, &fit, path.x[path.steps - 1], true);
      all.steps += is.steps, all.whole += is.whole, all.short_of_walls += is.short_of_walls, all.halved += is.halved,
          all.higher += is.higher, all.lower += is.lower, all.loose += is.loose;
      problem_free(&h.p);
    }
  print_message("%d steps, %d of them whole, %d less than half, %d found by halves; mu %d times higher, %d lower; %d "
                "loose ends\n",
                all.steps, all.whole, all.short_of_walls, all.halved, all.higher, all.lower, all.loose);
  assert_true(all.whole > 100 && all.short_of_walls > 20 && all.higher > 5 && all.halved > 10 && all.loose > 0);
}

/* Sharp data of bodies that cannot exist: digits run out, steps are cut or not taken, or 600 are not enough. Every
 * point is feasible, and the answer is the last one. */
static void extremes(void **state) {
  (void)state;
  rng g = rng_start("extremes");
  static arrays a;
  int cut = 0, capped = 0;
  for (int k = 0; k < 6; k++)
    for (double noise = 1e-6; noise > 1e-13; noise *= 0.1) {
      held h;
      held_new(&h, &g, &shapes[k], 20);
      for (int j = 0; j < h.p.rows.n; j++) h.sigma[j] *= noise;
      h.options.lambda = k % 2 ? 1e-6 : 1;
      psdmp_fit fit = fit_of(&a);
      fit.covariance = NULL;
      assert_int_equal(run(&h, &fit), PSDM_OK);
      assert_true(fit.feasible && fit.steps <= 600 && path.steps <= fit.steps && path.steps > 0);
      for (int s = 0; s < path.steps; s++) {
        for (int e = 0; e < shapes[k].links; e++) assert_true(psdmp_fit_pseudo_positive(path.x[s] + h.p.own + 10 * e));
        for (int d = h.p.own + 10 * shapes[k].links; d < h.p.own + h.p.rows.standard; d++)
          assert_true(path.x[s][d] > 0);
        assert_true(s == 0 || path.mu[s] <= path.mu[s - 1]);
      }
      assert_memory_equal(fit.phi, path.x[path.steps - 1], sizeof(double) * (size_t)h.p.own);
      assert_memory_equal(fit.pi, path.x[path.steps - 1] + h.p.own, sizeof(double) * (size_t)h.p.rows.standard);
      cut += path.steps < fit.steps;
      if (fit.steps == 600) { /* it ends where it is: mu is unchanged */
        capped++;
        int count = 4 * shapes[k].links + shapes[k].drives;
        for (int j = 0; j < h.p.rows.n; j++)
          for (int e = 0; e < h.p.extras[j]; e++) count += h.nonnegative[j] && h.flags[j][e];
        if (path.steps == 600) assert_true(fabs(fit.gap - path.mu[599] * count) <= 1e-12 * fit.gap);
      }
      problem_free(&h.p);
    }
  print_message("%d paths with rejected steps, %d longer than 600 steps\n", cut, capped);
  assert_true(cut > 0 && capped > 0);
}

/* one whole step from the prior, whatever the constraints */
static void surrogates(void **state) {
  (void)state;
  rng g = rng_start("surrogates");
  static arrays a;
  int feasible[2] = {0};
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 4; turn++) {
      held h;
      twin w;
      double x[MOST];
      held_new(&h, &g, &shapes[k], 20);
      h.options.lambda = turn == 3 ? 1e7 : 0.7; /* near the prior */
      if (turn == 2) h.options.nonnegative = NULL, h.options.drives_nonnegative = false;
      if (turn == 3) h.options.ridge = 1e5, h.options.nonnegative = NULL;
      twin_new(&w, &h);
      for (int i = 0; i < w.M; i++) x[i] = i < w.own ? 0 : h.prior[i - w.own];
      twin_newton(&w, x, false);
      psdmp_fit fit = fit_of(&a);
      double *scratch = scratch_of(psdmp_fit_scratch(&h.p.rows));
      assert_int_equal(psdmp_fit_surrogate(&h.p.rows, &h.options, scratch, &fit), PSDM_OK);
      assert_true(fit.steps == 1 && fit.gap == 0 && fit.decrement == 0 && fit.rank == w.W);
      bool should = true;
      for (int i = 0; i < w.M; i++) {
        double is = i < w.own ? fit.phi[i] : fit.pi[i - w.own];
        number unit = 0;
        for (int e = 0; e < w.M; e++) unit += fabsl(w.map[i][e]) / sqrtl(w.H[e][e]);
        expect(is, x[i] + w.step[i], fabsl(x[i]) + 1e3L * unit * sqrtl(w.decrement + 1), "x", k, i);
        should = should && !(w.sign[i] && !(is > 0));
      }
      for (int e = 0; e < w.links; e++) should = should && psdmp_fit_pseudo_positive(fit.pi + 10 * e);
      assert_int_equal(fit.feasible, should);
      feasible[should]++;
      /* the uncertainty is that of the prior's Hessian */
      static number C[MOST][MOST], V[MOST][MOST];
      number weighted = 0, count = 0;
      twin_doubt(&w, C, V);
      for (int j = 0; j < h.p.rows.n; j++)
        weighted += fit.cost[j] / ((number)h.sigma[j] * h.sigma[j]), count += h.p.count[j];
      for (int i = 0; i < w.W; i++)
        for (int e = 0; e < w.W; e++) {
          int base = w.W - w.own, from = i < w.own ? base + i : i - w.own, to = e < w.own ? base + e : e - w.own;
          number variance = weighted / fmaxl(1, count - w.W);
          expect(fit.covariance[from * w.W + to], variance * C[i][e], 1e3L * variance * sqrtl(C[i][i] * C[e][e]),
                 "covariance", from, to);
        }
      fenced_free(scratch);
      problem_free(&h.p);
    }
  print_message("%d feasible, %d not\n", feasible[1], feasible[0]);
  assert_true(feasible[0] > 3 && feasible[1] > 3);
}

/* an infeasible beginning is refused */
static void refusals(void **state) {
  (void)state;
  rng g = rng_start("refusals");
  static arrays a;
  held h;
  double start[STANDARD_MOST];
  held_new(&h, &g, &shapes[0], 20);
  psdmp_fit fit = fit_of(&a);
  memcpy(start, h.prior, sizeof start);
  h.options.start = start, start[10] = -1;
  assert_int_equal(run(&h, &fit), PSDM_E_ARGUMENT);
  assert_true(path.steps == 0 && fit.steps == -1 && isnan(a.theta[0]));
  start[10] = h.prior[10], h.options.lambda = 0;
  assert_int_equal(run(&h, &fit), PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_fit_surrogate(&h.p.rows, &h.options, NULL, &fit), PSDM_E_ARGUMENT);
  problem_free(&h.p);
}

/* absent arrays are not filled, and the observer is optional */
static void absent_arrays_are_not_filled(void **state) {
  (void)state;
  rng g = rng_start("absent_arrays_are_not_filled");
  static arrays a;
  held h;
  held_new(&h, &g, &shapes[0], 20);
  psdmp_fit fit = fit_of(&a), bare = {0};
  assert_int_equal(run(&h, &fit), PSDM_OK);
  h.options.watch = NULL;
  double *scratch = scratch_of(psdmp_fit_scratch(&h.p.rows));
  assert_int_equal(psdmp_fit_consistent(&h.p.rows, &h.options, scratch, &bare), PSDM_OK);
  assert_true(bare.steps == fit.steps && bare.gap == fit.gap && bare.decrement == fit.decrement && bare.feasible &&
              bare.rank == fit.rank && !bare.pi);
  assert_int_equal(psdmp_fit_surrogate(&h.p.rows, &h.options, scratch, &bare), PSDM_OK);
  assert_true(bare.steps == 1 && bare.rank == fit.rank);
  fenced_free(scratch);
  problem_free(&h.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_follow_the_twin), cmocka_unit_test(extremes),
                                     cmocka_unit_test(surrogates), cmocka_unit_test(refusals),
                                     cmocka_unit_test(absent_arrays_are_not_filled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
