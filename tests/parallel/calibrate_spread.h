/* calibrate_spread.h: a calibration by threads and by ranks against one thread of one process. Part of one program at a
 * time. */
#ifndef CALIBRATE_SPREAD_H
#define CALIBRATE_SPREAD_H

#include "../identify/test_calibrate_log.h"

#include <dirent.h>
#include <sys/stat.h>

#include "psdm/calibrate.h"
#include "ranks_by_fork.h"

static const char one_link[] =
    "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: revolute, a: 0.4}\n";

/* ---- all numbers of an answer ---- */

typedef struct numbers {
  long count;
  double x[4096];
} numbers;

static void take(numbers *n, long count, const double *x) {
  assert_true(n->count + count <= 4096);
  memcpy(n->x + n->count, x, (size_t)count * sizeof *x);
  n->count += count;
}

static numbers *numbers_of(const psdm_calibration *c) {
  numbers *n = calloc(1, sizeof *n);
  int W = c->base;
  assert_non_null(n);
  for (int j = 0; j < c->base; j++) take(n, 3, (double[]){c->theta[j].value, c->theta[j].sd, c->theta[j].prior_share});
  for (int i = 0; i < c->n; i++) {
    W += c->columns[i];
    for (int k = 0; k < c->columns[i]; k++)
      take(n, 4, (double[]){c->column[i][k].kind, c->column[i][k].width, c->column[i][k].gain, c->column[i][k].sd});
  }
  take(n, W, c->singular);
  for (int part = 0; part < 2 * PSDM_FIT_PARTS; part++) {
    const psdm_part_fit *f = part < PSDM_FIT_PARTS ? &c->train[part] : &c->heldout[part - PSDM_FIT_PARTS];
    take(n, 1, &f->global_rel);
    for (int i = 0; i < c->n; i++)
      take(n, 5,
           (double[]){(double)f->joint[i].rows, f->joint[i].rmse, f->joint[i].rel, f->joint[i].nrmse, f->joint[i].r2});
  }
  take(n, c->n, c->sigma);
  take(n, c->n, c->speed);
  take(n, 8,
       (double[]){c->cutoff, c->delay, c->lambda, c->rest, c->cost_ratio, c->condition, c->durbin_watson,
                  c->correlation});
  take(n, 4, (double[]){(double)c->rows, (double)c->used, c->segments, (double)c->faults[PSDM_FAULT_GARBAGE]});
  return n;
}

static void assert_same(const psdm_calibration *c, const numbers *expected) {
  numbers *n = numbers_of(c);
  assert_int_equal(n->count, expected->count);
  assert_memory_equal(n->x, expected->x, (size_t)n->count * sizeof *n->x);
  free(n);
}

/* rank 0's answer must have these numbers; processes come first, as threads do not survive a fork */
static void on_ranks(const psdm_robot *robot, psdm_calibrate_options o, int size, const numbers *expected) {
  forked f;
  psdm_calibration *c = NULL;
  fork_ranks(&f, size);
  o.threads = 1;
  o.ranks = &f.ranks;
  if (f.ranks.rank > 0) {
    psdm_status status = psdm_calibrate(robot, &o, NULL, &c, NULL);
    join_ranks(&f, status || c ? "a helper has an answer" : NULL);
  }
  c = calibrate(robot, &o, NULL);
  assert_same(c, expected);
  psdm_calibration_free(c);
  join_ranks(&f, NULL);
}

/* ---- logs ---- */

/* two segments, garbage, a channel that freezes */
static inline void write_segments(const char *path, rng *g, const psdm_robot *robot, long rows) {
  truth w = log_of(robot, rows, 0.001, 2, 1);
  w.smooth = 0.1, w.noise = 0.01, w.step = 1e-5;
  tones m = tones_of(g, &w);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  write_rows(file, &w, g, &m, true, 0);
  fputs("this is not a row\n", file);
  w.rows = rows / 3;
  write_rows(file, &w, g, &m, false, 1000);
  assert_int_equal(fclose(file), 0);
}

/* a pendulum by recursion: many rows quickly */
static inline void write_pendulum(const char *path, rng *g, long rows) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("t,q1,tau1\n", file);
  double s = 0, c = 1, turn = 0.003;
  for (long row = 0; row < rows; row++) {
    double next = s + turn * c;
    c -= turn * next, s = next;
    fprintf(file, "%ld.%03ld,%ld.%06lde-7,%lde-6\n", row / 1000, row % 1000, lround(s * 1e7),
            labs(lround(s * 1e13)) % 1000000, lround(30e6 * c) + (long)(rng_next(g) % 1000000));
  }
  assert_int_equal(fclose(file), 0);
}

static inline psdm_calibrate_options streamed(const char *const *path, int files) {
  psdm_calibrate_options o = plain_options(path, files, PSDM_ESTIMATOR_WLS, PSDM_KINEMATICS_POSITION, 20);
  o.cache = 65536, o.threads = 1;
  return o;
}

static inline int parts_in(const char *folder) {
  int count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) count += strstr(e->d_name, ".part") != NULL && e->d_name[0] != '.';
  if (d) closedir(d);
  return count;
}

/* applies a function to every part whose name contains a word */
static inline void each_part(const char *folder, const char *word, bool cut) {
  char path[512];
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!strstr(e->d_name, word)) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (cut) assert_int_equal(truncate(path, 150), 0);
    else assert_int_equal(unlink(path), 0);
  }
  if (d) closedir(d);
}

/* A run that its progress callback kills; the parts that it leaves. */
static inline int killed_run(const psdm_robot *robot, const psdm_calibrate_options *o) {
  psdm_calibration *c;
  int status;
  pid_t child = fork();
  if (child == 0) {
    psdm_calibrate(robot, o, NULL, &c, NULL);
    _exit(1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  return parts_in(o->checkpoint);
}

#endif
