/* choose.c: selects friction columns by cross-validation over blocks of time, without a pass over the data.
 *
 * All choices are made with the surrogate: least squares in theta and the columns' gains with the prior's pull as a
 * quadratic form in theta,
 *   |C (theta - K prior)|^2,  C^T C = (K H^-1 K^T)^-1,  H the Hessian of the entropic pull at the prior.
 * For one drive and fold, theta and all other drives' gains are eliminated once; what is left are two small
 * matrices: the normal equations of this drive's gains G, and the quadratic form of the errors on the rows of the
 * fold, E. Every set of columns is then scored in microseconds. */
#include <math.h>
#include <string.h>

#include "identify/identify.h"
#include "linalg/linalg.h"

static const double ridge = 1e-6; /* of the columns' gains, relative to their squared lengths */

/* ---- memory for the duration of a choice ---- */

typedef struct chooser {
  psdmp_identify_run *run;
  const psdmp_identify_factors *f;
  psdmp_base_arena arena;
  double *prior; /* ((l + 1)^2) factor of the pull: theta, right side */
  double **left; /* (n * PSDMP_IDENTIFY_FOLDS) information of a drive on theta alone without a fold, (l + 1)^2 */
  double *X, *R, *scratch, *whole; /* (2 widest x widest) rows, (widest^2) twice, for factors */
  int widest, *take;               /* (widest) selected columns */
} chooser;

/* (K H^-1 K^T)^-1 = C^T C. The pull's Hessian is block diagonal: lambda tr(P^-1 E_a P^-1 E_b); drives have hardly
 * any. */
static bool set_prior(chooser *c) {
  psdmp_identify_run *r = c->run;
  int l = r->l, S = r->S, w = l + 1;
  double *G = PSDMP_BASE_NEW(&c->arena, l * l, double), *inverse = PSDMP_BASE_NEW(&c->arena, l * l, double),
         *HK = PSDMP_BASE_NEW(&c->arena, S * l, double), *scales = PSDMP_BASE_NEW(&c->arena, l, double);
  if (!G || !inverse || !HK || !scales) return false;
  for (int k = 0; k < r->links; k++) { /* H^-1 K^T, link by link */
    double H[100], H_inverse[100], scale[10];
    psdmp_identify_pull_hessian(r->prior + 10L * k, H);
    for (int a = 0; a < 100; a++) H[a] *= r->lambda;
    if (!psdmp_identify_invert_scaled(10, H, H_inverse, scale)) return !(r->singular = true);
    for (int a = 0; a < 10; a++)
      for (int j = 0; j < l; j++) {
        double sum = 0;
        for (int b = 0; b < 10; b++) sum += H_inverse[10 * a + b] * r->K[(long)j * S + 10 * k + b];
        HK[(10L * k + a) * l + j] = sum;
      }
  }
  for (int d = 10 * r->links; d < S; d++)
    for (int j = 0; j < l; j++) HK[(long)d * l + j] = 1e4 * r->K[(long)j * S + d];
  for (int i = 0; i < l; i++)
    for (int j = 0; j < l; j++) {
      double sum = 0;
      for (int k = 0; k < S; k++) sum += r->K[(long)i * S + k] * HK[(long)k * l + j];
      G[(long)i * l + j] = sum;
    }
  if (!psdmp_identify_invert_scaled(l, G, inverse, scales) || !psdmp_linalg_cholesky(l, inverse))
    return !(r->singular = true);
  memset(c->prior, 0, (size_t)w * (size_t)w * sizeof *c->prior);
  for (int i = 0; i < l; i++) {
    double theta0 = 0;
    for (int k = 0; k < S; k++) theta0 += r->K[(long)i * S + k] * r->prior[k];
    for (int j = 0; j <= i; j++) { /* C = L^T */
      c->prior[(long)j * w + i] = inverse[(long)i * l + j];
      c->prior[(long)j * w + l] += inverse[(long)i * l + j] * theta0;
    }
  }
  return true;
}

static bool start(chooser *c, psdmp_identify_run *r, const psdmp_identify_factors *f) {
  *c = (chooser){.run = r, .f = f, .arena = {.allocator = r->allocator}};
  for (int i = 0; i < r->n; i++) c->widest = f->width[i] > c->widest ? f->width[i] : c->widest;
  size_t w = (size_t)c->widest, square = w * w;
  c->prior = PSDMP_BASE_NEW(&c->arena, (r->l + 1) * (r->l + 1), double);
  c->left = PSDMP_BASE_NEW(&c->arena, r->n * PSDMP_IDENTIFY_FOLDS, double *);
  c->X = PSDMP_BASE_NEW(&c->arena, 2 * square, double), c->R = PSDMP_BASE_NEW(&c->arena, square, double),
  c->whole = PSDMP_BASE_NEW(&c->arena, square, double);
  c->scratch = PSDMP_BASE_NEW(&c->arena, psdmp_linalg_factor_scratch(c->widest, 2 * (long)w), double);
  c->take = PSDMP_BASE_NEW(&c->arena, c->widest, int);
  bool ok = c->prior && c->left && c->X && c->R && c->whole && c->scratch && c->take;
  for (int k = 0; ok && k < r->n * PSDMP_IDENTIFY_FOLDS; k++)
    ok = (c->left[k] = PSDMP_BASE_NEW(&c->arena, (r->l + 1) * (r->l + 1), double)) != NULL;
  return ok && set_prior(c);
}

/* ---- factors of some columns over some folds ---- */

static double **factor(const psdmp_identify_factors *f, int drive, int block, int rest) {
  return &f->R[((long)drive * f->blocks + block) * 2 + rest];
}

/* out (v x v): columns `take` of a drive, all blocks but those of fold `without` (-1: all), divided by sigma */
static void stack(chooser *c, int drive, int without, int v, const int *take, double sigma, double *out) {
  const psdmp_identify_factors *f = c->f;
  int w = f->width[drive];
  memset(out, 0, (size_t)v * (size_t)v * sizeof *out);
  for (int b = 0; b < f->blocks; b++) {
    if (b * PSDMP_IDENTIFY_FOLDS / f->blocks == without) continue;
    for (int rest = 0; rest < (c->run->rest > 0 ? 1 : 2); rest++) {
      if (f->count[((long)drive * f->blocks + b) * 2 + rest] == 0) continue;
      const double *R = *factor(f, drive, b, rest);
      for (int i = 0; i < w; i++)
        for (int j = 0; j < v; j++) c->X[(long)i * v + j] = take[j] >= i ? R[(long)i * w + take[j]] / sigma : 0;
      psdmp_linalg_factor_add(v, out, w, c->X, c->scratch);
    }
  }
}

/* columns: gains of the chosen, theta, torque */
static int own_first(const psdmp_identify_run *r, int drive, int width, int *take) {
  const psdmp_identify_choice *choice = &r->choice[drive];
  int v = 0;
  for (int k = 0; k < choice->count; k++) take[v++] = r->l + choice->take[k];
  for (int j = 0; j < r->l; j++) take[v++] = j;
  take[v++] = width - 2;
  return v;
}

/* adds the ridge of the first k columns to a factor */
static void add_ridge(chooser *c, int v, int k, double *R) {
  memset(c->X, 0, (size_t)k * (size_t)v * sizeof *c->X);
  for (int j = 0; j < k; j++) {
    double square = 0;
    for (int i = 0; i <= j; i++) square += R[(long)i * v + j] * R[(long)i * v + j];
    c->X[(long)j * v + j] = sqrt(ridge * square) + 1e-12;
  }
  psdmp_linalg_factor_add(v, R, k, c->X, c->scratch);
}

/* rows of R from k on, without its first k columns, are added to out (v - k)^2 */
static void add_rest(chooser *c, int v, int k, const double *R, double *out) {
  int u = v - k;
  for (int i = 0; i < u; i++) memcpy(c->X + (long)i * u, R + (long)(k + i) * v + k, (size_t)u * sizeof *c->X);
  psdmp_linalg_factor_add(u, out, u, c->X, c->scratch);
}

/* x of R x = right (column `right` of R) over the first v columns; zero columns get 0 */
static void back(int w, const double *R, int v, int right, double *x) {
  for (int i = v - 1; i >= 0; i--) {
    double sum = R[(long)i * w + right], size = fabs(R[(long)i * w + i]), column = 0;
    for (int k = 0; k <= i; k++) column = fmax(column, fabs(R[(long)k * w + i]));
    for (int k = i + 1; k < v; k++) sum -= R[(long)i * w + k] * x[k];
    x[i] = size > 1e-12 * column ? sum / R[(long)i * w + i] : 0;
  }
}

/* information of a drive on theta, without a fold */
static void set_left(chooser *c, int drive, int fold) {
  psdmp_identify_run *r = c->run;
  int *take = c->take, v = own_first(r, drive, c->f->width[drive], take), k = r->choice[drive].count;
  double *out = c->left[drive * PSDMP_IDENTIFY_FOLDS + fold];
  stack(c, drive, fold, v, take, r->sigma[drive], c->R);
  add_ridge(c, v, k, c->R);
  memset(out, 0, (size_t)(r->l + 1) * (size_t)(r->l + 1) * sizeof *out);
  add_rest(c, v, k, c->R, out);
}

/* ---- fits with the columns as they are chosen ---- */

typedef struct answer {
  double *theta, *gain; /* (l), (n x 16) */
} answer;

/* the surrogate without a fold (-1: with all) */
static void solve(chooser *c, int without, answer *a) {
  psdmp_identify_run *r = c->run;
  int l = r->l, w = l + 1, *take = c->take;
  double x[16 + 1];
  memcpy(c->whole, c->prior, (size_t)w * (size_t)w * sizeof *c->whole);
  for (int i = 0; i < r->n; i++) {
    int v = own_first(r, i, c->f->width[i], take), k = r->choice[i].count;
    stack(c, i, without, v, take, r->sigma[i], c->R);
    add_ridge(c, v, k, c->R);
    add_rest(c, v, k, c->R, c->whole);
  }
  back(w, c->whole, l, l, a->theta);
  for (int i = 0; i < r->n; i++) {
    int v = own_first(r, i, c->f->width[i], take), k = r->choice[i].count;
    stack(c, i, without, v, take, r->sigma[i], c->R);
    add_ridge(c, v, k, c->R);
    for (int row = 0; row < k; row++) {
      x[row] = c->R[(long)row * v + v - 1];
      for (int j = 0; j < l; j++) x[row] -= c->R[(long)row * v + k + j] * a->theta[j];
    }
    for (int row = k - 1; row >= 0; row--) {
      for (int j = row + 1; j < k; j++) x[row] -= c->R[(long)row * v + j] * a->gain[16 * i + j];
      a->gain[16 * i + row] = x[row] / c->R[(long)row * v + row];
    }
  }
}

/* sum of squared residuals of a drive's rows in some blocks, against the torque in the band or the wide one */
static double residual(chooser *c, int drive, int fold, bool all_folds, bool rest_too, bool wide, const answer *a,
                       double *count) {
  psdmp_identify_run *r = c->run;
  const psdmp_identify_factors *f = c->f;
  int w = f->width[drive], l = r->l;
  double sum = 0;
  *count = 0;
  for (int b = 0; b < f->blocks; b++) {
    if (!all_folds && b * PSDMP_IDENTIFY_FOLDS / f->blocks != fold) continue;
    for (int rest = 0; rest < (rest_too ? 2 : 1); rest++) {
      const double *R = *factor(f, drive, b, rest);
      *count += f->count[((long)drive * f->blocks + b) * 2 + rest];
      for (int i = 0; i < w; i++) {
        double e = -R[(long)i * w + (wide ? w - 1 : w - 2)];
        for (int j = i; j < l; j++) e += R[(long)i * w + j] * a->theta[j];
        for (int k = 0; k < r->choice[drive].count; k++) {
          int column = l + r->choice[drive].take[k];
          if (column >= i) e += R[(long)i * w + column] * a->gain[16 * drive + k];
        }
        if (!wide && i > w - 2) e = 0;
        sum += e * e;
      }
    }
  }
  return sum;
}

static bool new_answer(chooser *c, answer *a) {
  a->theta = PSDMP_BASE_NEW(&c->arena, c->run->l, double);
  a->gain = PSDMP_BASE_NEW(&c->arena, 16 * c->run->n, double);
  return a->theta && a->gain;
}

bool psdmp_identify_score(psdmp_identify_run *r, const psdmp_identify_factors *f, double *mean, double *each) {
  chooser c;
  answer a;
  double total = 0;
  bool ok = start(&c, r, f) && new_answer(&c, &a);
  double *sum = ok ? PSDMP_BASE_NEW(&c.arena, 2 * r->n, double) : NULL;
  ok = sum != NULL;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS && ok; fold++) {
    solve(&c, fold, &a);
    for (int i = 0; i < r->n; i++) {
      double count;
      sum[2 * i] += residual(&c, i, fold, false, false, true, &a, &count);
      sum[2 * i + 1] += count;
    }
  }
  for (int i = 0; i < r->n && ok; i++) {
    double score = sum[2 * i + 1] > 0 ? 0.5 * log(fmax(sum[2 * i] / sum[2 * i + 1], 1e-300)) : 0;
    if (each) each[i] = score;
    total += score / r->n;
  }
  if (ok && mean) *mean = total;
  psdmp_base_arena_free(&c.arena);
  return ok;
}

bool psdmp_identify_reweight(psdmp_identify_run *r, const psdmp_identify_factors *f) {
  chooser c;
  answer a;
  bool ok = start(&c, r, f) && new_answer(&c, &a);
  for (int round = 0; round < 4 && ok; round++) {
    solve(&c, -1, &a);
    for (int i = 0; i < r->n; i++) {
      double count, sum = residual(&c, i, 0, true, !(r->rest > 0), false, &a, &count);
      if (count > 0 && sum > 0) r->sigma[i] = sqrt(sum / count);
    }
  }
  psdmp_base_arena_free(&c.arena);
  return ok;
}

/* ---- one drive: every set of its columns in microseconds ---- */

typedef struct table {
  int d;                           /* columns of the dictionary */
  double *G[PSDMP_IDENTIFY_FOLDS]; /* ((d + 1)^2) normal equations without the fold: gains, torque */
  double *E[PSDMP_IDENTIFY_FOLDS]; /* ((d + 1)^2) errors on the fold's moving rows: gains, wide torque */
  double count[PSDMP_IDENTIFY_FOLDS];
} table;

static void gram(int rows, int stride, int first, int d, const double *R, double *out) {
  for (int i = 0; i < d; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < rows; k++) sum += R[(long)k * stride + first + i] * R[(long)k * stride + first + j];
      out[(long)i * d + j] = out[(long)j * d + i] = sum;
    }
}

/* theta of gains phi is U^-1 (c - W phi); errors on the fold are linear in phi */
static void set_errors(chooser *c, int drive, int fold, int v, const double *M, double *space, table *t) {
  const psdmp_identify_run *r = c->run;
  const psdmp_identify_factors *f = c->f;
  int l = r->l, d = t->d, w = f->width[drive];
  /* columns of U^-1 [W c], (l x (d + 1)) */
  for (int j = 0; j <= d; j++)
    for (int i = l - 1; i >= 0; i--) {
      double sum = M[(long)i * v + l + j];
      for (int k = i + 1; k < l; k++) sum -= M[(long)i * v + k] * space[(long)k * (d + 1) + j];
      space[(long)i * (d + 1) + j] = fabs(M[(long)i * v + i]) > 1e-300 ? sum / M[(long)i * v + i] : 0;
    }
  memset(t->E[fold], 0, (size_t)(d + 1) * (size_t)(d + 1) * sizeof(double));
  t->count[fold] = 0;
  double *rows = space + (long)l * (d + 1), *part = rows + (long)w * (d + 1);
  for (int b = 0; b < f->blocks; b++) {
    if (b * PSDMP_IDENTIFY_FOLDS / f->blocks != fold) continue;
    const double *R = *factor(f, drive, b, 0);
    t->count[fold] += f->count[((long)drive * f->blocks + b) * 2];
    for (int i = 0; i < w; i++)
      for (int j = 0; j <= d; j++) {
        int column = j < d ? l + j : w - 1;
        double sum = column >= i ? R[(long)i * w + column] : 0;
        for (int k = i; k < l; k++) sum -= R[(long)i * w + k] * space[(long)k * (d + 1) + j];
        rows[(long)i * (d + 1) + j] = sum;
      }
    gram(w, d + 1, 0, d + 1, rows, part);
    for (long k = 0; k < (long)(d + 1) * (d + 1); k++) t->E[fold][k] += part[k];
  }
}

static bool set_table(chooser *c, int drive, table *t) {
  psdmp_identify_run *r = c->run;
  int l = r->l, w = c->f->width[drive], d = w - l - 2, v = l + d + 1, u = l + 1, *take = c->take;
  psdmp_base_arena arena = {.allocator = r->allocator};
  double *space = psdmp_base_arena_alloc(
      &arena, ((size_t)(l + w) * (size_t)(d + 1) + (size_t)(d + 1) * (size_t)(d + 1)) * sizeof *space);
  t->d = d;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS && space; fold++) {
    /* other drives and the prior on theta */
    memcpy(c->whole, c->prior, (size_t)u * (size_t)u * sizeof *c->whole);
    for (int i = 0; i < r->n; i++)
      if (i != drive) add_rest(c, u, 0, c->left[i * PSDMP_IDENTIFY_FOLDS + fold], c->whole);
    for (int j = 0; j < v; j++) take[j] = j < v - 1 ? j : w - 2;
    stack(c, drive, fold, v, take, r->sigma[drive], c->R);
    memset(c->X, 0, (size_t)u * (size_t)v * sizeof *c->X);
    for (int i = 0; i < u; i++) {
      memcpy(c->X + (long)i * v, c->whole + (long)i * u, (size_t)l * sizeof *c->X);
      c->X[(long)i * v + v - 1] = c->whole[(long)i * u + l];
    }
    psdmp_linalg_factor_add(v, c->R, u, c->X, c->scratch);
    gram(v - l, v, l, d + 1, c->R + (long)l * v, t->G[fold]);
    set_errors(c, drive, fold, v, c->R, space, t);
  }
  psdmp_base_arena_free(&arena);
  return space != NULL;
}

/* errors (PSDMP_IDENTIFY_FOLDS, sums of squares) of a set of columns */
static void try_columns(const table *t, int count, const int *take, double errors[PSDMP_IDENTIFY_FOLDS]) {
  int d = t->d + 1, last = t->d;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
    double A[16 * 16], x[16];
    const double *G = t->G[fold], *E = t->E[fold];
    for (int i = 0; i < count; i++) {
      double scale = sqrt(G[(long)take[i] * d + take[i]] + 1e-300);
      for (int j = 0; j < count; j++)
        A[i * count + j] = G[(long)take[i] * d + take[j]] / scale / sqrt(G[(long)take[j] * d + take[j]] + 1e-300) +
                           (i == j ? ridge : 0);
      x[i] = G[(long)take[i] * d + last] / scale;
    }
    errors[fold] = E[(long)last * d + last];
    if (!psdmp_linalg_cholesky(count, A)) {
      errors[fold] = INFINITY;
      continue;
    }
    psdmp_linalg_cholesky_solve(count, A, x);
    for (int i = 0; i < count; i++) x[i] /= sqrt(G[(long)take[i] * d + take[i]] + 1e-300);
    for (int i = 0; i < count; i++) {
      errors[fold] -= 2 * x[i] * E[(long)take[i] * d + last];
      for (int j = 0; j < count; j++) errors[fold] += x[i] * x[j] * E[(long)take[i] * d + take[j]];
    }
    errors[fold] = fmax(errors[fold], 1e-300);
  }
}

static double log_rmse(const table *t, const double errors[PSDMP_IDENTIFY_FOLDS]) {
  double sum = 0, count = 0;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) sum += errors[fold], count += t->count[fold];
  return 0.5 * log(sum / fmax(count, 1));
}

/* whether the gain over the folds is more than their scatter explains */
static bool convincing(const table *t, const double before[PSDMP_IDENTIFY_FOLDS],
                       const double after[PSDMP_IDENTIFY_FOLDS]) {
  double mean = 0, square = 0;
  int folds = 0;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
    if (t->count[fold] == 0) continue;
    double gain = 0.5 * log(before[fold] / after[fold]);
    mean += gain, square += gain * gain;
    folds++;
  }
  if (folds < 2) return false;
  mean /= folds;
  double variance = (square / folds - mean * mean) * folds / (folds - 1);
  return mean > sqrt(fmax(variance, 0) / folds);
}

static bool is_position(const psdmp_parameters_column *c) {
  return c->kind == PSDM_COLUMN_LINEAR || c->kind == PSDM_COLUMN_SINE || c->kind == PSDM_COLUMN_COSINE;
}
static bool is_coulomb(const psdmp_parameters_column *c) {
  return !c->load && (c->kind == PSDM_COLUMN_TANH || c->kind == PSDM_COLUMN_STOP);
}

static bool taken(const psdmp_identify_choice *choice, int k) {
  for (int i = 0; i < choice->count; i++)
    if (choice->take[i] == k) return true;
  return false;
}

/* another Coulomb element instead of the second column */
static void swap_coulomb(const psdmp_identify_run *r, const table *t, int drive, psdmp_identify_choice *choice,
                         double errors[PSDMP_IDENTIFY_FOLDS]) {
  const psdmp_identify_dictionary *d = &r->dictionary[drive];
  psdmp_identify_choice best = *choice;
  double least = log_rmse(t, errors);
  for (int k = 0; k < d->count; k++) {
    psdmp_identify_choice other = *choice;
    double now[PSDMP_IDENTIFY_FOLDS];
    if (!is_coulomb(&d->column[k]) || taken(choice, k)) continue;
    other.take[1] = k;
    try_columns(t, other.count, other.take, now);
    if (log_rmse(t, now) >= least - 1e-3 * (other.take[1] != best.take[1])) continue;
    least = log_rmse(t, now);
    best = other;
    memcpy(errors, now, sizeof now);
  }
  *choice = best;
}

/* the column with the largest significant gain, if any */
static bool add_column(const psdmp_identify_run *r, const table *t, int drive, psdmp_identify_choice *choice,
                       double errors[PSDMP_IDENTIFY_FOLDS]) {
  const psdmp_identify_dictionary *d = &r->dictionary[drive];
  double least = INFINITY, before = log_rmse(t, errors), kept[PSDMP_IDENTIFY_FOLDS];
  int best = -1;
  for (int k = 0; k < d->count; k++) {
    psdmp_identify_choice more = *choice;
    double now[PSDMP_IDENTIFY_FOLDS];
    if (taken(choice, k)) continue;
    more.take[more.count++] = k;
    try_columns(t, more.count, more.take, now);
    double after = log_rmse(t, now);
    if (before - after < (is_position(&d->column[k]) ? 0.1 : 0.01) || after >= least || !convincing(t, errors, now))
      continue;
    least = after;
    best = k;
    memcpy(kept, now, sizeof now);
  }
  if (best < 0) return false;
  choice->take[choice->count++] = best;
  memcpy(errors, kept, sizeof kept);
  return true;
}

/* removes a column again if its loss is insignificant */
static void drop_columns(const table *t, int always, psdmp_identify_choice *choice,
                         double errors[PSDMP_IDENTIFY_FOLDS]) {
  for (int k = choice->count - 1; k >= always; k--) {
    psdmp_identify_choice less = *choice;
    double now[PSDMP_IDENTIFY_FOLDS];
    memmove(less.take + k, less.take + k + 1, (size_t)(less.count - k - 1) * sizeof *less.take);
    less.count--;
    try_columns(t, less.count, less.take, now);
    if (log_rmse(t, now) > log_rmse(t, errors) + 0.002) continue;
    *choice = less;
    memcpy(errors, now, sizeof now);
  }
}

bool psdmp_identify_choose(psdmp_identify_run *r, const psdmp_identify_factors *f, int most, bool swap_only) {
  chooser c;
  bool ok = start(&c, r, f);
  for (int i = 0; i < r->n && ok; i++)
    for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) set_left(&c, i, fold);
  for (int i = 0; i < r->n && ok && !r->options->plain_friction; i++) {
    int d = f->width[i] - r->l - 2, room = most + psdmp_identify_columns_always(r, i) - 3; /* springs come on top */
    if (room > 16) room = 16;
    table t;
    double errors[PSDMP_IDENTIFY_FOLDS];
    for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS && ok; fold++) {
      t.G[fold] = PSDMP_BASE_NEW(&c.arena, (d + 1) * (d + 1), double);
      t.E[fold] = PSDMP_BASE_NEW(&c.arena, (d + 1) * (d + 1), double);
      ok = t.G[fold] && t.E[fold];
    }
    if (!ok || !(ok = set_table(&c, i, &t))) break;
    try_columns(&t, r->choice[i].count, r->choice[i].take, errors);
    swap_coulomb(r, &t, i, &r->choice[i], errors);
    while (!swap_only && r->choice[i].count < room && add_column(r, &t, i, &r->choice[i], errors)) continue;
    if (!swap_only) drop_columns(&t, psdmp_identify_columns_always(r, i), &r->choice[i], errors);
    for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) set_left(&c, i, fold);
  }
  psdmp_base_arena_free(&c.arena);
  return ok;
}

/* ---- rows for the estimators ---- */

bool psdmp_identify_select(psdmp_identify_run *r, const psdmp_identify_factors *f, unsigned blocks, bool chosen_already,
                           psdmp_identify_selected *out) {
  chooser c = {.run = r, .f = f, .arena = {.allocator = r->allocator}};
  *out = (psdmp_identify_selected){0};
  out->extras = psdmp_base_alloc(r->allocator, (size_t)r->n * sizeof *out->extras);
  out->R = psdmp_base_alloc(r->allocator, (size_t)r->n * sizeof *out->R);
  out->count = psdmp_base_alloc(r->allocator, (size_t)r->n * sizeof *out->count);
  for (int i = 0; i < r->n; i++) c.widest = f->width[i] > c.widest ? f->width[i] : c.widest;
  c.X = PSDMP_BASE_NEW(&c.arena, (size_t)c.widest * (size_t)c.widest, double);
  c.scratch = PSDMP_BASE_NEW(&c.arena, psdmp_linalg_factor_scratch(c.widest, c.widest), double);
  c.take = PSDMP_BASE_NEW(&c.arena, c.widest, int);
  bool ok = out->extras && out->R && out->count && c.X && c.scratch && c.take;
  for (int i = 0; i < r->n && ok; i++) {
    int w = f->width[i], k = r->choice[i].count, v = r->l + k + 1, *take = c.take;
    for (int j = 0; j < r->l; j++) take[j] = j;
    for (int j = 0; j < k; j++) take[r->l + j] = r->l + (chosen_already ? j : r->choice[i].take[j]);
    take[v - 1] = w - 2;
    out->extras[i] = k;
    ok = (out->R[i] = psdmp_base_alloc(r->allocator, (size_t)v * (size_t)v * sizeof(double))) != NULL;
    for (int b = 0; b < f->blocks && ok; b++) {
      if (!(blocks >> b & 1)) continue;
      for (int rest = 0; rest < (r->rest > 0 ? 1 : 2); rest++) {
        const double *R = *factor(f, i, b, rest);
        if (f->count[((long)i * f->blocks + b) * 2 + rest] == 0) continue;
        out->count[i] += f->count[((long)i * f->blocks + b) * 2 + rest];
        for (int row = 0; row < w; row++)
          for (int j = 0; j < v; j++) c.X[(long)row * v + j] = take[j] >= row ? R[(long)row * w + take[j]] : 0;
        psdmp_linalg_factor_add(v, out->R[i], w, c.X, c.scratch);
      }
    }
  }
  psdmp_base_arena_free(&c.arena);
  out->rows = (psdmp_fit_rows){.n = r->n,
                               .base = r->l,
                               .standard = r->S,
                               .links = r->links,
                               .K = r->K,
                               .extras = out->extras,
                               .R = out->R,
                               .count = out->count};
  if (!ok) psdmp_identify_selected_free(r, out);
  return ok;
}

void psdmp_identify_selected_free(psdmp_identify_run *r, psdmp_identify_selected *s) {
  for (int i = 0; s->R && i < r->n; i++) psdmp_base_free(r->allocator, s->R[i]);
  psdmp_base_free(r->allocator, s->R);
  psdmp_base_free(r->allocator, s->extras);
  psdmp_base_free(r->allocator, s->count);
  *s = (psdmp_identify_selected){0};
}
