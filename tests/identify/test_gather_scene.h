/* test_gather_scene.h: a run without a calibration, and rows in memory whose stretches are cut, summed up and sent
 * as bytes as threads and ranks do. The calls that lead out of gather.c are wrapped (CMakeLists.txt). Part of one
 * program at a time. */
#ifndef TEST_GATHER_SCENE_H
#define TEST_GATHER_SCENE_H

#include "test_calibrate_log.h"

#include "identify/identify.h"
#include "fenced.h"

enum { N = 3, ROWS = 260, SEGMENTS = 2, ALL = SEGMENTS * ROWS, BASE = 40, WIDE = 48, MOST_PARTS = 16 };

#include "test_scene.h"

/* drives two and three move with those before them */
static const char coupled[] =
    "name: coupled\nconvention: dh\ngravity: [1, -9.81, 2]\n"
    "joints:\n  - {name: a, type: revolute, a: 0.5, alpha: pi/2, gear: 100, drive_inertia: 0.6}\n  - {name: b, type: "
    "revolute, a: 0.4, gear: -80, drive_inertia: 0.3}\n"
    "  - {name: c, type: revolute, a: 0.2, alpha: 1, gear: 50, drive_inertia: 0.1}\n"
    "links:\n  - {mass: 4, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.03, yy: 0.05, zz: 0.04, xy: 0.002}}\n"
    "  - {mass: 3, com: [-0.2, 0.015, 0.02], inertia: {xx: 0.01, yy: 0.05, zz: 0.05, yz: 0.001}}\n"
    "  - {mass: 2, com: [-0.1, 0.01, -0.02], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}\n"
    "transmission: [[1, 0, 0], [-1, 1, 0], [0.5, 0.25, 1]]\n";
static const char single[] = "name: single\nconvention: dh\ngravity: [1, -9.81, 2]\n"
                             "joints: [{name: a, type: revolute, a: 0.5, alpha: pi/2}, {name: b, type: revolute, a: "
                             "0.4}, {name: c, type: prismatic, alpha: 1}]\n";
static const double transmission[N][N] = {{1, 0, 0}, {-1, 1, 0}, {0.5, 0.25, 1}};

/* ---- the run ---- */

/* Drives choose five, two and three of seven columns; each is reached by some base parameters. The first drive has the
 * widest rows, or with all columns the last one. */
static inline void scene_new(scene *s, bool couples, rng *g) {
  static const psdmp_identify_choice choices[N] = {{5, {0, 2, 6, 1, 4}}, {2, {4, 5}}, {3, {4, 2, 0}}};
  scene_begin(s, parse_robot(couples ? coupled : single), couples, ALL, 0.125);
  s->options.holdout_block = 0.7, s->options.holdout_every = 4;
  assert_true(s->run.l > 10);
  for (int i = 0; i < N; i++) s->dictionary[i].count = 5 + i, s->choice[i] = choices[i];
  for (int j = 0; j < s->run.l; j++) {
    s->load[j] = rng_uniform(g, -1, 1);
    for (int i = 0; i < N; i++)
      s->reached[i * s->run.l + j] = i == 0 ? j > 0 : i == 1 ? j % 3 != 1 : j != 4 && j + 1 < s->run.l;
  }
}

static inline int own_columns(const scene *s, int drive, bool chosen) {
  return chosen ? s->choice[drive].count : s->dictionary[drive].count;
}

/* ---- rows ---- */

/* Two segments, one behind the other; here and there a drive's row is bad, or a drive moves exactly at the limit of
 * rest. */
typedef struct table {
  double t[ALL], q[ALL * N], qd[ALL * N], qdd[ALL * N], tau[ALL * N];
  unsigned char bad[ALL * N];
} table;

static inline void table_new(table *w, const scene *s, rng *g) {
  truth of = {.robot = s->run.robot};
  memset(w, 0, sizeof *w);
  for (int segment = 0; segment < SEGMENTS; segment++) {
    tones m = tones_of(g, &of);
    for (long k = segment * ROWS; k < (segment + 1) * ROWS; k++) {
      w->t[k] = 3 + 5 * segment + 0.01 * (double)k;
      tones_at(&m, N, w->t[k], w->q + k * N, w->qd + k * N, w->qdd + k * N);
      for (int i = 0; i < N; i++) w->q[k * N + i] += i == 1 ? -9 : 5; /* never zero */
      for (int i = 0; i < N; i++) w->tau[k * N + i] = rng_uniform(g, -20, 20), w->bad[k * N + i] = k % 97 == 60 + i;
      if (k % 23 == 4) w->qd[k * N + k % N] = (k % 2 ? -s->run.still : s->run.still) * s->speed[k % N];
    }
  }
}

/* rows from .. to - 1 of a segment, with their neighbours */
static inline psdmp_feed_stretch cut(const table *w, int segment, long from, long to, long margin) {
  long lead = from < margin ? from : margin, trail = ROWS - to < margin ? ROWS - to : margin,
       at = segment * ROWS + from - lead;
  return (psdmp_feed_stretch){.rows = lead + to - from + trail,
                              .lead = lead,
                              .trail = trail,
                              .first = at,
                              .segment = segment,
                              .begins = lead == from,
                              .ends = to + trail == ROWS,
                              .origin = 1,
                              .begin = w->t[segment * ROWS],
                              .t = w->t + at,
                              .q = w->q + at * N,
                              .qd = w->qd + at * N,
                              .qdd = w->qdd + at * N,
                              .tau = w->tau + at * N,
                              .bad = w->bad + at * N};
}

/* ---- sums over these stretches ---- */

/* Stretches in order, which of their parts are sent as bytes before they are added, and the requests. */
typedef struct script {
  int count;
  psdmp_feed_stretch stretch[MOST_PARTS];
  bool sent[MOST_PARTS];
  bool halves;                                  /* truncated messages are tried too */
  bool none;                                    /* there are no rows at all */
  psdm_status refuse;                           /* reading fails */
  void *(*make)(const psdmp_identify_sum *sum); /* instead of the stretches */
  int calls, work;
  char name[16];
  bool all, finishing;
  long margin;
  psdmp_parallel_bytes request, answer; /* answer: the whole sum */
} script;

static script scripted;

static inline void script_clear(void) {
  psdmp_parallel_bytes_free(&scripted.request), psdmp_parallel_bytes_free(&scripted.answer);
  scripted = (script){0};
}

/* both segments in pieces of several lengths; one of them has only margins, and one is too short for any row */
static inline void script_pieces(const table *w, long margin) {
  static const long ends[] = {70, 71, 130, 200, ROWS, 90, 97, 180, ROWS};
  script_clear();
  for (int k = 0; k < 9; k++) {
    long from = k == 0 || k == 5 ? 0 : ends[k - 1];
    scripted.sent[scripted.count] = k % 2 || k == 8;
    scripted.stretch[scripted.count++] = cut(w, k > 4, from, ends[k], margin);
    if (k != 4) continue;
    scripted.sent[scripted.count] = true;
    scripted.stretch[scripted.count] = cut(w, 1, 0, 12, 0);
    scripted.stretch[scripted.count].segment = 7, scripted.stretch[scripted.count].ends = true;
    scripted.count++;
  }
}

/* both segments whole */
static inline void script_whole(const table *w) {
  script_clear();
  for (int segment = 0; segment < SEGMENTS; segment++) scripted.stretch[scripted.count++] = cut(w, segment, 0, ROWS, 0);
}

static inline void same_bytes(const psdmp_parallel_bytes *is, const psdmp_parallel_bytes *should) {
  assert_int_equal(is->used, should->used);
  if (is->used) assert_memory_equal(is->data, should->data, is->used);
}

/* a part as another rank receives it; half a message is refused */
static inline void *sent(const psdmp_identify_sum *sum, void *part, const psdm_allocator *a, bool halves) {
  psdmp_parallel_bytes bytes = {.allocator = NULL}, again = {.allocator = NULL};
  sum->put(sum->user, part, &bytes);
  sum->part_free(sum->user, part);
  assert_false(bytes.failed);
  for (size_t length = 0; halves && length < bytes.used; length += length < 200 ? 8 : 1 + bytes.used / 40) {
    long live = a ? ((counting *)a->user)->live : 0;
    psdmp_parallel_bytes half = {.data = bytes.data, .used = length, .room = length};
    assert_null(sum->get(sum->user, &half));
    if (a) assert_int_equal(((counting *)a->user)->live, live);
  }
  void *whole = sum->get(sum->user, &bytes);
  if (whole) {
    assert_int_equal(bytes.at, bytes.used);
    sum->put(sum->user, whole, &again);
    same_bytes(&again, &bytes);
  }
  psdmp_parallel_bytes_free(&bytes), psdmp_parallel_bytes_free(&again);
  return whole;
}

static inline psdm_status no_memory(psdm_error *error) { return psdmp_base_fail_status(error, PSDM_E_MEMORY); }

/* the part of one stretch; a failure sets its message */
static inline psdm_status one_part(psdmp_identify_run *r, const psdmp_identify_sum *sum, void *space, int k,
                                   void **part, psdm_error *error) {
  *part = sum->part_new(sum->user);
  if (!*part) return no_memory(error);
  error->text[0] = 0;
  psdm_status status = sum->add(space, *part, &scripted.stretch[k], error);
  assert_string_equal(error->text, status ? psdm_status_text(status) : "");
  if (status) sum->part_free(sum->user, *part);
  else if (scripted.sent[k] && !(*part = sent(sum, *part, r->allocator, scripted.halves && k < 2)))
    status = no_memory(error);
  return status;
}

/* the work of sums.c, in one thread */
static inline psdm_status add_stretches(psdmp_identify_run *r, const psdmp_identify_sum *sum, void **part,
                                        psdm_error *error) {
  void *space = sum->space_new(sum->user, r);
  psdmp_parallel_tree tree = {.way = {sum->user, sum->merge, sum->part_free}};
  psdm_status status = space ? PSDM_OK : no_memory(error);
  for (int k = 0; k < scripted.count && !status; k++) {
    void *own;
    status = one_part(r, sum, space, k, &own, error);
    if (!status && psdmp_parallel_tree_add(&tree, k, 0, own)) status = no_memory(error);
  }
  if (status) psdmp_parallel_tree_free(&tree);
  else if (psdmp_parallel_tree_end(&tree, part)) status = no_memory(error);
  if (space) sum->space_free(sum->user, space);
  return status;
}

static inline psdm_status summed(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                 const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                 psdm_error *error) {
  psdm_error own;
  psdm_status status = PSDM_OK;
  *part = NULL;
  if (request->failed) return no_memory(error);
  scripted.calls++, scripted.work = sum->work, scripted.all = all, scripted.margin = margin,
                    scripted.finishing = r->finishing;
  strcpy(scripted.name, sum->name);
  psdmp_parallel_bytes_free(&scripted.request), psdmp_parallel_bytes_free(&scripted.answer);
  psdmp_parallel_bytes_put(&scripted.request, request->data, request->used);
  if (scripted.refuse) return psdmp_base_fail(error, scripted.refuse, "some.csv", 3, 0, "refused");
  if (scripted.none) return PSDM_OK;
  if (scripted.make) *part = scripted.make(sum);
  else status = add_stretches(r, sum, part, error ? error : &own);
  if (*part) sum->put(sum->user, *part, &scripted.answer);
  return status;
}

psdm_status __wrap_psdmp_identify_sum_rows(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                           const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                           psdm_error *error);
psdm_status __wrap_psdmp_identify_sum_rows(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                           const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                           psdm_error *error) {
  return summed(r, sum, request, all, margin, part, error);
}

psdm_status __wrap_psdmp_identify_sum_serve(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                            const psdmp_parallel_bytes *request, bool all, long margin,
                                            psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status __wrap_psdmp_identify_sum_serve(psdmp_identify_run *r, const psdmp_identify_sum *sum,
                                            const psdmp_parallel_bytes *request, bool all, long margin,
                                            psdmp_parallel_bytes *answer, psdm_error *error) {
  void *part;
  psdm_status status = summed(r, sum, request, all, margin, &part, error);
  if (part) sum->put(sum->user, part, answer), sum->part_free(sum->user, part);
  return status;
}

/* ---- the regressor, whose states are kept and which fails when asked to ---- */

typedef struct states {
  long calls, fail_at;
  double q[8][3 * N];
} states;

static states seen;

psdm_status __real_psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *qdd, double *Y);
psdm_status __wrap_psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *qdd, double *Y);
psdm_status __wrap_psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *qdd, double *Y) {
  if (seen.calls < 8)
    for (int i = 0; i < N; i++)
      seen.q[seen.calls][i] = q[i], seen.q[seen.calls][N + i] = qd[i], seen.q[seen.calls][2 * N + i] = qdd[i];
  if (++seen.calls == seen.fail_at) return PSDM_E_MISSING;
  return __real_psdm_regressor_standard(robot, work, q, qd, qdd, Y);
}

/* ---- numbers ---- */

static inline void near(double is, double should, double scale, const char *what, long k) {
  if (!(fabs(is - should) <= 1e-11 * scale)) fail_msg("%s %ld: %.15g, %.15g was expected", what, k, is, should);
}

#endif
