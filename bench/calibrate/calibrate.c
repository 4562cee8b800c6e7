/* calibrate.c: speed of factoring rows, memory for long logs, and time of a consistent fit.
 *
 *   calibrate rows ROBOT COUNT FOLDER    a log of COUNT rows: FOLDER/matrix.bin and torque.bin for others,
 *                                        theta.txt, and our times
 *   calibrate memory COUNT FILE [CACHE]  a log of COUNT rows of one joint, written to FILE, calibrated; rows per
 *                                        second and the most memory held
 *   calibrate fit ROBOT                  the physically consistent fit of a log's factors */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "harness.h"
#include "psdm/psdm.h"

enum { OWN = 3, CHUNK = 512 }; /* friction columns of a drive: v, its sign, 1; rows that are factored at once */

static void stop(const char *what, const psdm_error *error) {
  fprintf(stderr, "calibrate: %s: %s\n", what, error ? error->text : "");
  exit(1);
}

static void *need(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (!memory) stop("out of memory", NULL);
  return memory;
}

/* ---- a log of any robot, exact, along sines ---- */

typedef struct log_rows {
  const psdm_robot *robot;
  int n, l, S, W;
  long count;
  int *kept;
  double *K;                  /* (l x S) */
  double *q, *qd, *qdd, *tau; /* (count x n) */
} log_rows;

static void base_of(log_rows *g) {
  psdm_model *model;
  psdm_error error;
  if (psdm_base_parameters_derive(g->robot, NULL, NULL, &model, NULL, &error)) stop("base parameters", &error);
  g->n = psdm_robot_n(g->robot), g->S = psdm_robot_parameter_count(g->robot), g->l = psdm_model_l(model),
  g->W = g->l + OWN * g->n;
  g->kept = need((size_t)g->l * sizeof *g->kept);
  g->K = need((size_t)g->l * (size_t)g->S * sizeof *g->K);
  for (int j = 0; j < g->l; j++)
    for (int k = 0; k < psdm_model_base_terms(model, j); k++) {
      int standard;
      double value = psdm_model_base_term(model, j, k, &standard);
      g->K[(long)j * g->S + standard] = value;
      if (k == 0) g->kept[j] = standard;
    }
  psdm_model_free(model);
}

static double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

static void make_rows(log_rows *g, long count) {
  uint64_t state = 7;
  int n = g->n;
  size_t bytes = (size_t)count * (size_t)n * sizeof(double);
  double *parameter = need((size_t)n * 12 * sizeof *parameter), *pi = need((size_t)g->S * sizeof *pi),
         *Y = need((size_t)n * (size_t)g->S * sizeof *Y);
  psdm_work *work;
  if (psdm_work_new(g->robot, NULL, &work)) stop("out of memory", NULL);
  g->count = count, g->q = need(bytes), g->qd = need(bytes), g->qdd = need(bytes), g->tau = need(bytes);
  for (int k = 0; k < 4 * n; k++)
    parameter[3 * k] = bench_uniform(&state, 0.2, 0.6), parameter[3 * k + 1] = bench_uniform(&state, 1, 8),
                  parameter[3 * k + 2] = bench_uniform(&state, -3, 3);
  psdm_robot_parameters(g->robot, pi);
  for (long row = 0; row < count; row++) {
    double t = 0.001 * (double)row, *q = g->q + row * n, *qd = g->qd + row * n, *qdd = g->qdd + row * n,
           *tau = g->tau + row * n;
    for (int k = 0; k < 4 * n; k++) {
      const double *p = parameter + 3 * k;
      double s = sin(p[1] * t + p[2]), c = cos(p[1] * t + p[2]);
      q[k / 4] += p[0] * s, qd[k / 4] += p[0] * p[1] * c, qdd[k / 4] -= p[0] * p[1] * p[1] * s;
    }
    if (psdm_regressor_standard(g->robot, work, q, qd, qdd, Y)) stop("regressor", NULL);
    for (int i = 0; i < n; i++) {
      tau[i] = 5 * qd[i] + 2 * sign(qd[i]) + bench_uniform(&state, -1, 1);
      for (int k = 0; k < g->S; k++) tau[i] += Y[(long)i * g->S + k] * pi[k];
    }
  }
  psdm_work_free(work, NULL);
  free(parameter), free(pi), free(Y);
}

/* the whole matrix (count n x W), for a general solver */
static double *whole_matrix(const log_rows *g) {
  int n = g->n;
  double *A = need((size_t)g->count * (size_t)n * (size_t)g->W * sizeof *A),
         *Y = need((size_t)n * (size_t)g->S * sizeof *Y);
  psdm_work *work;
  if (psdm_work_new(g->robot, NULL, &work)) stop("out of memory", NULL);
  for (long row = 0; row < g->count; row++) {
    if (psdm_regressor_standard(g->robot, work, g->q + row * n, g->qd + row * n, g->qdd + row * n, Y))
      stop("regressor", NULL);
    for (int i = 0; i < n; i++) {
      double *to = A + (row * n + i) * g->W, v = g->qd[row * n + i];
      for (int j = 0; j < g->l; j++) to[j] = Y[(long)i * g->S + g->kept[j]];
      to[g->l + OWN * i] = v, to[g->l + OWN * i + 1] = sign(v), to[g->l + OWN * i + 2] = 1;
    }
  }
  psdm_work_free(work, NULL);
  free(Y);
  return A;
}

static void save(const char *folder, const char *name, const double *x, size_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(x, sizeof *x, count, file) != count || fclose(file)) stop(path, NULL);
}

/* ---- accumulation alone: rows exist, each drive's with its own columns ---- */

static double accumulate(const log_rows *g, const double *A) {
  int n = g->n, l = g->l;
  double best = INFINITY;
  for (int round = 0; round < 3; round++) {
    double started = bench_now(), *scratch = need(psdmp_linalg_factor_scratch(g->W + 1, CHUNK) * sizeof *scratch),
           *X = need((size_t)CHUNK * (size_t)(g->W + 1) * sizeof *X);
    for (int i = 0; i < n; i++) {
      int *active = need((size_t)l * sizeof *active), count = 0;
      for (int j = 0; j < l; j++)
        if (A[(3 * n + i) * (long)g->W + j] != 0 || A[(5 * n + i) * (long)g->W + j] != 0) active[count++] = j;
      int width = count + OWN + 1;
      double *R = need((size_t)width * (size_t)width * sizeof *R);
      for (long first = 0; first < g->count; first += CHUNK) {
        long rows = g->count - first < CHUNK ? g->count - first : CHUNK;
        for (long k = 0; k < rows; k++) {
          const double *from = A + ((first + k) * n + i) * g->W;
          double *to = X + k * width;
          for (int j = 0; j < count; j++) to[j] = from[active[j]];
          for (int j = 0; j < OWN; j++) to[count + j] = from[l + OWN * i + j];
          to[width - 1] = g->tau[(first + k) * n + i];
        }
        psdmp_linalg_factor_add(width, R, rows, X, scratch);
      }
      free(R), free(active);
    }
    free(scratch), free(X);
    best = fmin(best, bench_now() - started);
  }
  return best;
}

/* ---- the library's own way, phase by phase ---- */

typedef struct phases {
  double begun, read, gathering, fitting;
} phases;

static bool note_phase(void *user, const char *doing, double share) {
  phases *p = user;
  (void)share;
  if (strcmp(doing, "reading") == 0) p->read = bench_now();
  if (strcmp(doing, "gathering") == 0 && p->gathering == 0) p->gathering = bench_now();
  if (strcmp(doing, "fitting") == 0 && p->fitting == 0) p->fitting = bench_now();
  return true;
}

static void write_csv(const log_rows *g, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) stop(path, NULL);
  fprintf(file, "t");
  static const char *const names[] = {"q", "qd", "qdd", "tau"};
  const double *const part[] = {g->q, g->qd, g->qdd, g->tau};
  for (int p = 0; p < 4; p++)
    for (int i = 0; i < g->n; i++) fprintf(file, ",%s%d", names[p], i + 1);
  for (long row = 0; row < g->count; row++) {
    fprintf(file, "\n%.3f", 0.001 * (double)row);
    for (int p = 0; p < 4; p++)
      for (int i = 0; i < g->n; i++) fprintf(file, ",%.17g", part[p][row * g->n + i]);
  }
  fprintf(file, "\n");
  if (fclose(file)) stop(path, NULL);
}

static int run_rows(const char *robot, long count, const char *folder) {
  log_rows g = {.robot = bench_load(robot)};
  if (!g.robot) return 1;
  base_of(&g);
  make_rows(&g, count);
  double *A = whole_matrix(&g);
  save(folder, "matrix.bin", A, (size_t)count * (size_t)g.n * (size_t)g.W);
  save(folder, "torque.bin", g.tau, (size_t)count * (size_t)g.n);
  double alone = accumulate(&g, A);
  free(A);
  char path[4096];
  snprintf(path, sizeof path, "%s/log.csv", folder);
  write_csv(&g, path);
  const char *name = path;
  phases p = {.begun = bench_now()};
  psdm_calibrate_options o = {.files = 1,
                              .path = &name,
                              .estimator = PSDM_ESTIMATOR_OLS,
                              .kinematics = PSDM_KINEMATICS_ACCELERATION,
                              .cutoff = INFINITY,
                              .delay_given = true,
                              .plain_friction = true,
                              .rest = -1,
                              .progress = note_phase,
                              .progress_user = &p};
  psdm_calibration *c;
  psdm_error error;
  if (psdm_calibrate(g.robot, &o, NULL, &c, &error)) stop("calibrate", &error);
  snprintf(path, sizeof path, "%s/theta.txt", folder);
  FILE *file = fopen(path, "w");
  if (!file) stop(path, NULL);
  fprintf(file, "%d %ld\n", g.W, c->rows);
  for (int j = 0; j < c->base; j++) fprintf(file, "%.17g\n", c->theta[j].value);
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->columns[i]; k++) fprintf(file, "%.17g\n", c->column[i][k].gain);
  fclose(file);
  printf("%ld rows of %d joints, %d columns\n", count, g.n, g.W);
  printf("  accumulation alone, rows in memory       %10.0f rows/s\n", (double)count / alone);
  printf("  accumulation with regressors, from memory  %10.0f rows/s\n", (double)count / (p.fitting - p.gathering));
  printf("  reading CSV of 17 digits                   %10.0f rows/s\n", (double)count / (p.read - p.begun));
  psdm_calibration_free(c);
  return 0;
}

/* ---- memory ---- */

static long memory_held(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1) break;
  if (file) fclose(file);
  return kilobytes;
}

static const char pendulum[] =
    "name: pendulum\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: revolute, a: 0.4}\n";

/* 0.001 s; q and tau by recursion and whole numbers: no library function for each */
static void write_pendulum(long count, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) stop(path, NULL);
  fputs("t,q1,tau1\n", file);
  double s = 0, c = 1;
  for (long row = 0; row < count; row++) {
    s += 0.003 * c, c -= 0.003 * s;
    fprintf(file, "%ld.%03ld,%lde-7,%lde-6\n", row / 1000, row % 1000, lround(1e7 * s),
            lround(30e6 * c) + row * 7919 % 100003);
  }
  if (fclose(file)) stop(path, NULL);
}

static int run_memory(long count, const char *path, long cache) {
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(pendulum, strlen(pendulum), "pendulum", NULL, NULL, &robot, &error)) stop("robot", &error);
  write_pendulum(count, path);
  double started = bench_now();
  psdm_calibrate_options o = {.files = 1,
                              .path = &path,
                              .estimator = PSDM_ESTIMATOR_WLS,
                              .cutoff = 20,
                              .delay_given = true,
                              .plain_friction = true,
                              .cache = cache};
  psdm_calibration *c;
  if (psdm_calibrate(robot, &o, NULL, &c, &error)) stop("calibrate", &error);
  double took = bench_now() - started;
  printf("%12ld rows %10.1f s %12.0f rows/s %9.1f MB\n", c->rows, took, (double)count / took,
         (double)memory_held() / 1024);
  psdm_calibration_free(c);
  psdm_robot_free(robot);
  remove(path);
  return 0;
}

/* ---- the consistent fit ---- */

static int run_fit(const char *robot) {
  log_rows g = {.robot = bench_load(robot)};
  if (!g.robot) return 1;
  base_of(&g);
  make_rows(&g, 3000);
  int n = g.n, l = g.l, w = l + OWN + 1, links = psdm_robot_links(g.robot);
  double *A = whole_matrix(&g), **R = need((size_t)n * sizeof *R), *X = need(3000 * (size_t)w * sizeof *X),
         *scratch = need(psdmp_linalg_factor_scratch(w, 3000) * sizeof *scratch);
  double *count = need((size_t)n * sizeof *count), *sigma = need((size_t)n * sizeof *sigma),
         *prior = need((size_t)g.S * sizeof *prior);
  int *extras = need((size_t)n * sizeof *extras);
  for (int i = 0; i < n; i++) {
    R[i] = need((size_t)w * (size_t)w * sizeof **R);
    for (long k = 0; k < g.count; k++) {
      memcpy(X + k * w, A + (k * n + i) * g.W, (size_t)l * sizeof *X);
      memcpy(X + k * w + l, A + (k * n + i) * g.W + l + OWN * i, OWN * sizeof *X);
      X[k * w + w - 1] = g.tau[k * n + i];
    }
    psdmp_linalg_factor_add(w, R[i], g.count, X, scratch);
    extras[i] = OWN, count[i] = (double)g.count, sigma[i] = 0.6;
  }
  for (int b = 0; b < links; b++) { /* balls of two kilograms */
    prior[10 * b] = 2;
    prior[10 * b + 4] = prior[10 * b + 7] = prior[10 * b + 9] = 0.02;
  }
  psdmp_fit_rows rows = {
      .n = n, .base = l, .standard = g.S, .links = links, .K = g.K, .extras = extras, .R = R, .count = count};
  psdmp_fit fit = {.theta = need((size_t)l * sizeof(double)),
                   .pi = need((size_t)g.S * sizeof(double)),
                   .phi = need((size_t)OWN * (size_t)n * sizeof(double))};
  const psdmp_fit_options o = {.sigma = sigma, .prior = prior, .lambda = 1, .drives_nonnegative = true};
  double *space = need(psdmp_fit_scratch(&rows) * sizeof *space), best = INFINITY;
  for (int round = 0; round < 3; round++) {
    double started = bench_now();
    psdm_status status = psdmp_fit_consistent(&rows, &o, space, &fit);
    if (status || !fit.feasible) stop("the fit failed", NULL);
    best = fmin(best, bench_now() - started);
  }
  printf("consistent fit of %s: %d joints, %d standard parameters, %d columns: %.3f s in %d steps\n", robot, n, g.S,
         g.W, best, fit.steps);
  return best < 1 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "rows") == 0) return run_rows(argv[2], atol(argv[3]), argv[4]);
  if ((argc == 4 || argc == 5) && strcmp(argv[1], "memory") == 0)
    return run_memory(atol(argv[2]), argv[3], argc == 5 ? atol(argv[4]) : 0);
  if (argc == 3 && strcmp(argv[1], "fit") == 0) return run_fit(argv[2]);
  fprintf(stderr, "calibrate rows ROBOT COUNT FOLDER | memory COUNT FILE [CACHE] | fit ROBOT\n");
  return 2;
}
