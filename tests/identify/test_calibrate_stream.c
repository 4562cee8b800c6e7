/* test_calibrate_stream.c: logs longer than memory: they give the same answer as the whole log, and memory does not
 * grow. */
#include "test_calibrate_log.h"

#include "psdm/calibrate.h"

/* all choices are made: one pass over all rows remains */
static psdm_calibrate_options fixed(const char *const *path, double cutoff) {
  return plain_options(path, 1, PSDM_ESTIMATOR_WLS, PSDM_KINEMATICS_POSITION, cutoff);
}

/* ---- memory, counted in bytes ---- */

typedef struct bytes {
  psdm_allocator allocator;
  size_t live, most;
} bytes;

static void *take(void *user, size_t size) {
  bytes *b = user;
  size_t *memory = malloc(size + 16);
  if (!memory) return NULL;
  *memory = size;
  b->live += size;
  if (b->live > b->most) b->most = b->live;
  return (char *)memory + 16;
}

static void give(void *user, void *memory) {
  bytes *b = user;
  if (!memory) return;
  size_t *start = (size_t *)(void *)((char *)memory - 16);
  b->live -= *start;
  free(start);
}

/* ---- rows of a prediction, kept ---- */

typedef struct rows {
  long count, room;
  double *value; /* (room x 5) t, q1, qdd2, tau1, predicted2 */
} rows;

static bool keep_row(void *user, const psdm_predicted_row *row) {
  rows *r = user;
  assert_true(r->count < r->room);
  double *to = r->value + 5 * r->count++;
  to[0] = row->t, to[1] = row->q[0], to[2] = row->qdd[1], to[3] = row->tau[0], to[4] = row->predicted[1];
  return true;
}

/* stops when a phase has reached this share */
typedef struct stopper {
  const char *doing;
  double share;
} stopper;

static bool stop_there(void *user, const char *doing, double share) {
  const stopper *s = user;
  return strcmp(doing, s->doing) != 0 || share < s->share;
}

/* the rows gathered so far are fitted. One thread: others could have finished by then */
static void stops_half_way(const psdm_robot *robot, psdm_calibrate_options o, const psdm_calibration *whole) {
  static const stopper places[] = {{"gathering", 0.5}, {"evaluating", 0.5}};
  for (int k = 0; k < 2; k++) {
    stopper s = places[k];
    o.progress = stop_there, o.progress_user = &s, o.threads = 1;
    psdm_calibration *c = calibrate(robot, &o, NULL);
    assert_true(c->stopped);
    assert_true(c->used > 0 && c->used < whole->used);
    for (int j = 0; j < c->base; j++)
      assert_true(fabs(c->theta[j].value - whole->theta[j].value) < 6 * hypot(c->theta[j].sd, whole->theta[j].sd));
    psdm_calibration_free(c);
  }
}

/* blocks of the filter, read again, give the rows that the whole signal gives */
TEST(same_answer) {
  log_case l;
  log_case_new(&l, "same_answer", parse_robot(two_links));
  truth w = log_of(l.robot, 80000, 0.001, 2, 1);
  w.smooth = 0.1, w.noise = 0.01, w.step = 1e-5;
  tones m = tones_of(&l.g, &w);
  FILE *file = fopen(l.path, "w"); /* three segments, none of which ends with a window */
  assert_non_null(file);
  write_rows(file, &w, &l.g, &m, true, 0);
  w.rows = 12000;
  write_rows(file, &w, &l.g, &m, false, 200);
  w.rows = 68011;
  write_rows(file, &w, &l.g, &m, false, 300);
  assert_int_equal(fclose(file), 0);
  for (int round = 0; round < 2; round++) {
    psdm_calibrate_options o = fixed(&l.name, round ? 9.3 : 28); /* strides 10 and 3 */
    o.holdout = 0.25;
    if (round) o.delay = 0.0013;
    psdm_calibration *whole = calibrate(l.robot, &o, NULL);
    o.cache = 70000;
    psdm_calibration *streamed = calibrate(l.robot, &o, NULL);
    assert_int_equal(whole->rows, streamed->rows);
    assert_int_equal(whole->rows, 80000 + 12000 + 68011);
    assert_int_equal(whole->used, streamed->used);
    assert_int_equal(whole->base, streamed->base);
    double off = 0, size = 0;
    for (int j = 0; j < whole->base; j++)
      off = fmax(off, fabs(whole->theta[j].value - streamed->theta[j].value)),
      size = fmax(size, fabs(whole->theta[j].value));
    for (int j = 0; j < whole->base; j++)
      assert_true(fabs(whole->theta[j].sd - streamed->theta[j].sd) < 1e-8 * whole->theta[j].sd + 1e-14);
    rows a = {.room = 250000}, b = {.room = 250000};
    a.value = malloc(250000 * 5 * sizeof *a.value), b.value = malloc(250000 * 5 * sizeof *b.value);
    assert_int_equal(psdm_calibration_predict(whole, keep_row, &a, NULL), PSDM_OK);
    assert_int_equal(psdm_calibration_predict(streamed, keep_row, &b, NULL), PSDM_OK);
    assert_int_equal(a.count, b.count);
    double worst[5] = {0}, largest[5] = {0};
    for (long k = 0; k < a.count; k++)
      for (int c = 0; c < 5; c++)
        worst[c] = fmax(worst[c], fabs(a.value[5 * k + c] - b.value[5 * k + c])),
        largest[c] = fmax(largest[c], fabs(a.value[5 * k + c]));
    print_message(
        "theta differs by %.2g of its size; t %.2g s, q %.2g, qdd %.2g, tau %.2g, predicted %.2g of theirs, %ld rows\n",
        off / size, worst[0], worst[1] / largest[1], worst[2] / largest[2], worst[3] / largest[3],
        worst[4] / largest[4], a.count);
    assert_true(worst[1] < 1e-12 * largest[1] && worst[3] < 1e-12 * largest[3]);
    assert_true(worst[2] < 1e-12 * largest[1] / (0.001 * 0.001)); /* two differences, each over two samples */
    assert_true(off < 1e-9 * size);
    free(a.value), free(b.value);
    if (round) stops_half_way(l.robot, o, whole);
    psdm_calibration_free(whole);
    psdm_calibration_free(streamed);
  }
  log_case_free(&l);
}

/* ten times the rows, the same memory */
TEST(memory_is_flat) {
  log_case l;
  log_case_new(
      &l, "memory_is_flat",
      parse_robot(
          "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: revolute, a: 0.4}\n"));
  static const long lengths[] = {200000, 1000000};
  size_t most[2];
  for (int k = 0; k < 2; k++) {
    FILE *file = fopen(l.path, "w");
    assert_non_null(file);
    fputs("t,q1,tau1\n", file);
    /* a pendulum's torque by recursion: no library function is called a million times */
    double s = 0, c = 1, turn = 0.003;
    for (long row = 0; row < lengths[k]; row++) {
      double next = s + turn * c;
      c -= turn * next, s = next;
      fprintf(file, "%ld.%03ld,%ld.%06lde-7,%ld.%06lde-7\n", row / 1000, row % 1000, lround(s * 1e7),
              labs(lround(s * 1e13)) % 1000000, lround(30 * c * 1e6 + (double)(rng_next(&l.g) % 1000000)),
              row % 1000000);
    }
    assert_int_equal(fclose(file), 0);
    bytes b = {.allocator = {.allocate = take, .release = give}};
    b.allocator.user = &b;
    psdm_calibrate_options o = fixed(&l.name, 20);
    o.cache = 70000;
    psdm_calibration *calibration = calibrate(l.robot, &o, &b.allocator);
    assert_int_equal(calibration->rows, lengths[k]);
    psdm_calibration_free(calibration);
    assert_int_equal(b.live, 0);
    most[k] = b.most;
  }
  print_message("most memory: %.2f MB of %ld rows, %.2f MB of %ld\n", (double)most[0] / 1e6, lengths[0],
                (double)most[1] / 1e6, lengths[1]);
  assert_true((double)most[1] < 1.02 * (double)most[0] + 1e4);
  log_case_free(&l);
}

TEST_MAIN(same_answer, memory_is_flat)
