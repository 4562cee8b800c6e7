/* data.c: logs of a step as signals on one clock, zero-phase filtered, on the drives' side; and the split into training
 * and held-out rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steps/steps_priv.h"

enum {
  ORDER = 8,          /* of Butterworth's filter (section 3.1) */
  LEAST_ROWS = 30,    /* of a segment that is used */
  MOST_ROWS = 1 << 24 /* of all logs of a step: they stay in memory */
};
static const double usable = 0.45;                        /* above this share of the rate a cutoff has no effect */
static const double oversampling = 10;                    /* rows per period of the cutoff to keep */
static const double cutoffs[PSDM_STEPS] = {4, 4, 40, 15}; /* Hz, sections 3.1 to 3.4 */

/* ---- signals ---- */

typedef struct loading {
  psdmp_steps *s;
  psdmp_base_arena *arena;
  psdmp_steps_records *out;
  const int *log; /* (files) index among the options' logs */
  long room;
} loading;

static bool smooth(const loading *g, long rows, double *x) {
  const psdmp_steps_records *r = g->out;
  if (isinf(r->cutoff)) return true;
  double *scratch = psdmp_base_alloc_raw(g->s->allocator, psdm_filter_scratch(&r->filter, rows) * sizeof *scratch);
  if (scratch) psdm_filter_zero_phase(&r->filter, rows, g->s->n, x, scratch);
  psdmp_base_free(g->s->allocator, scratch);
  return scratch != NULL;
}

/* a channel on the clock; copied if the log already has that clock */
static double *on_clock(const loading *g, const psdmp_feed_stretch *t, const psdmp_steps_record *r, bool uniform,
                        const double *x) {
  double *out = psdmp_base_arena_alloc_raw(g->arena, (size_t)r->rows * (size_t)g->s->n * sizeof *out);
  if (out && uniform) memcpy(out, x, (size_t)r->rows * (size_t)g->s->n * sizeof *out);
  if (out && !uniform) psdm_resample(t->rows, g->s->n, t->t, x, r->start, r->dt, r->rows, out);
  return out && smooth(g, r->rows, out) ? out : NULL;
}

static double *differences(const loading *g, const psdmp_steps_record *r, const double *x) {
  double *out = psdmp_base_arena_alloc_raw(g->arena, (size_t)r->rows * (size_t)g->s->n * sizeof *out);
  if (out) psdm_difference(r->rows, g->s->n, r->dt, x, out);
  return out;
}

/* y = A x of every row, or A^T x */
static double *turn(const loading *g, long rows, const double *A, bool transposed, const double *x) {
  int n = g->s->n;
  double *y = psdmp_base_arena_alloc_raw(g->arena, (size_t)rows * (size_t)n * sizeof *y);
  for (long k = 0; k < rows && y; k++)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += (transposed ? A[j * n + i] : A[i * n + j]) * x[k * n + j];
      y[k * n + i] = sum;
    }
  return y;
}

/* rates by central differences of filtered positions (section 3.3); logged ones only without a filter */
static bool motion(const loading *g, const psdmp_feed_stretch *t, bool uniform, psdmp_steps_record *r) {
  const psdmp_identify_run *run = &g->s->run;
  bool logged = isinf(g->out->cutoff);
  if (!(r->q = on_clock(g, t, r, uniform, t->q))) return false;
  if (!(r->qd = logged && t->qd ? on_clock(g, t, r, uniform, t->qd) : differences(g, r, r->q))) return false;
  if (!(r->qdd = logged && t->qdd ? on_clock(g, t, r, uniform, t->qdd) : differences(g, r, r->qd))) return false;
  r->v = run->T ? turn(g, r->rows, run->T_inverse, false, r->qd) : r->qd;
  r->a = run->T ? turn(g, r->rows, run->T_inverse, false, r->qdd) : r->qdd;
  return r->v && r->a;
}

/* currents belong to drives already; torques are the joints' */
static bool torque(const loading *g, const psdmp_feed_stretch *t, bool uniform, psdmp_steps_record *r) {
  const psdmp_identify_run *run = &g->s->run;
  if (!(r->i = on_clock(g, t, r, uniform, t->tau))) return false;
  if (run->T && g->s->currents == 0) r->i = turn(g, r->rows, run->T, true, r->i);
  return r->i != NULL;
}

/* marks of the nearest logged row; a drive's row is bad if that of a joint that it moves is */
static bool marks(const loading *g, const psdmp_feed_stretch *t, psdmp_steps_record *r) {
  const psdmp_identify_run *run = &g->s->run;
  int n = g->s->n;
  long at = 0;
  if (!(r->bad = psdmp_base_arena_alloc(g->arena, (size_t)r->rows * (size_t)n))) return false;
  for (long k = 0; k < r->rows; k++) {
    double now = r->start + (double)k * r->dt;
    while (at + 1 < t->rows && fabs(t->t[at + 1] - now) <= fabs(t->t[at] - now)) at++;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (i == j || (run->T && run->T[j * n + i] != 0)) r->bad[k * n + i] |= t->bad[at * n + j];
  }
  return true;
}

static bool on_uniform_clock(const psdmp_feed_stretch *t, double dt) {
  for (long k = 0; k < t->rows; k++)
    if (fabs(t->t[k] - t->t[0] - (double)k * dt) > 0.02 * dt) return false;
  return true;
}

static bool make_room(loading *g) {
  psdmp_steps_records *out = g->out;
  return psdmp_base_arena_room(g->arena, &out->record, out->count, 1, &g->room, sizeof *out->record);
}

/* the first window of a run of rows covers all of it, since the margin is infinite */
static psdm_status add_stretch(void *user, const psdmp_feed_stretch *t, psdm_error *error) {
  loading *g = user;
  if (t->lead || t->rows < LEAST_ROWS) return PSDM_OK;
  double dt = 1 / g->out->rate;
  bool uniform = on_uniform_clock(t, dt);
  psdmp_steps_record r = {.log = g->log[t->file], .dt = dt, .start = t->t[0]};
  r.rows = uniform ? t->rows : (long)floor((t->t[t->rows - 1] - t->t[0]) / dt + 1e-6) + 1;
  if (r.rows < LEAST_ROWS) return PSDM_OK;
  if (!make_room(g) || !motion(g, t, uniform, &r) || !torque(g, t, uniform, &r) || !marks(g, t, &r))
    return psdmp_base_no_memory("", error);
  g->out->record[g->out->count++] = r;
  return psdmp_steps_progress(g->s, NULL, -1) ? PSDM_OK : psdmp_steps_stop(error);
}

/* ---- logs ---- */

/* torque constants of logged torques are 1 until masses show otherwise */
static void take_torques(psdmp_steps *s) {
  for (int d = 0; d < s->n; d++) {
    if (s->constant_from[d] != PSDM_FROM_NOTHING && s->constant_from[d] != PSDM_FROM_FILE) continue;
    s->x[d] = 1;
    s->constant_from[d] = PSDM_FROM_FILE;
  }
  psdmp_steps_remark(
      s, "logs have torques, not currents: torque constants are factors of them, 1 where no mass determines them");
}

static psdm_status check_currents(psdmp_steps *s, const psdmp_feed *feed, int files, const char *first,
                                  psdm_error *error) {
  int some = psdmp_feed_currents(feed);
  if (some && some != files)
    return psdmp_base_fail(error, PSDM_E_PARSE, first, 0, 0,
                           "some of the step's logs have currents, others torques; one or the other was expected");
  if (s->currents >= 0 && s->currents != (some > 0))
    return psdmp_base_fail(error, PSDM_E_PARSE, first, 0, 0, "it has %s, and what was found before is of %s",
                           some ? "currents" : "torques", some ? "torques" : "currents");
  if (s->currents < 0 && !some) take_torques(s);
  s->currents = some > 0;
  return PSDM_OK;
}

static psdm_status note_faults(psdmp_steps *s, const psdmp_feed *feed, psdm_error *error) {
  const char *text;
  for (int k = 0; (text = psdmp_feed_fault(feed, k)) && s->faults < PSDMP_STEPS_STEP_FAULTS; k++) {
    const char *copy = psdmp_base_arena_text(&s->arena, text, strlen(text));
    if (!copy) return psdmp_base_no_memory("", error);
    s->fault[s->faults++] = copy;
  }
  return PSDM_OK;
}

static void set_filter(const psdmp_steps *s, psdm_step step, double interval, psdmp_steps_records *out) {
  double asked = s->options.cutoff[step];
  out->rate = 1 / interval;
  out->cutoff = asked == 0 ? cutoffs[step] : asked;
  if (!(out->cutoff < usable * out->rate) || psdm_filter_butterworth(ORDER, out->cutoff, out->rate, &out->filter))
    out->cutoff = INFINITY;
  double stride = isinf(out->cutoff) ? 1 : floor(out->rate / (oversampling * out->cutoff));
  out->stride = stride > 1 ? (int)fmin(stride, MOST_ROWS) : 1;
  out->rest = isinf(out->cutoff) ? 0 : 2 / out->cutoff;
}

static bool reading(void *user, const char *doing, double share) {
  (void)doing;
  return psdmp_steps_progress(user, "reading", share);
}

psdm_status psdmp_steps_load(psdmp_steps *s, psdm_step step, psdmp_base_arena *arena, psdmp_steps_records *out,
                             psdm_error *error) {
  *out = (psdmp_steps_records){0};
  int all = s->options.logs, files = 0, *log = PSDMP_BASE_NEW(arena, all, int);
  const char **path = PSDMP_BASE_NEW(arena, all, const char *);
  if (!log || !path) return psdmp_base_no_memory("", error);
  for (int k = 0; k < all; k++)
    if (s->options.log[k].step == step) log[files] = k, path[files++] = s->options.log[k].path;
  psdm_calibrate_options o = {.files = files,
                              .path = path,
                              .log = s->options.format,
                              .cache = MOST_ROWS,
                              .threads = 1,
                              .progress = reading,
                              .progress_user = s};
  o.log.currents = true;
  psdmp_feed *feed;
  psdm_status status = psdmp_feed_open(s->run.robot, &o, s->allocator, &feed, error);
  if (status) return status;
  if (!psdmp_feed_whole(feed))
    status =
        psdmp_base_fail(error, PSDM_E_LIMIT, path[0], 0, 0, "the logs of a step have more than %d rows", MOST_ROWS);
  if (!status) status = check_currents(s, feed, files, path[0], error);
  if (!status) status = note_faults(s, feed, error);
  set_filter(s, step, psdmp_feed_interval(feed), out);
  loading g = {.s = s, .arena = arena, .out = out, .log = log};
  if (!status) status = psdmp_feed_each(feed, false, MOST_ROWS, add_stretch, &g, error);
  psdmp_feed_close(feed);
  if (!status && !out->count)
    status = psdmp_base_fail(error, PSDM_E_PARSE, path[0], 0, 0,
                             "no segment is long enough: at least %d rows were expected", LEAST_ROWS);
  s->rate = out->rate;
  return status;
}

/* ---- evaluating one row ---- */

size_t psdmp_steps_scratch(const psdmp_steps *s) { return (size_t)s->n * (size_t)(s->S + s->l + 3) + 1; }

psdm_status psdmp_steps_regressor(psdmp_steps *s, const double *q, const double *qd, const double *qdd, double *scratch,
                                  double *Y, double *tool) {
  int n = s->n, S = s->S;
  double *zero = scratch + (long)n * (S + s->l), *joint = zero + n;
  memset(zero, 0, (size_t)n * sizeof *zero);
  psdm_status status = psdmp_identify_run_regressor(&s->run, q, qd ? qd : zero, qdd ? qdd : zero, scratch, Y);
  if (status || !tool) return status;
  /* scratch still has the standard regressor of the joints */
  for (int i = 0; i < n; i++) {
    joint[i] = 0;
    for (int k = 0; k < S && s->tool_pi; k++) joint[i] += scratch[(long)i * S + k] * s->tool_pi[k];
  }
  psdmp_identify_run_to_drives(&s->run, joint, tool);
  return PSDM_OK;
}

int psdmp_steps_piece(double share) {
  int piece = (int)floor(share * PSDMP_STEPS_PIECES);
  return piece < 0 ? 0 : piece >= PSDMP_STEPS_PIECES ? PSDMP_STEPS_PIECES - 1 : piece;
}

/* evenly spread: whenever the accumulated share passes a whole number */
bool psdmp_steps_held(const psdmp_steps *s, int piece) {
  double share = s->options.holdout == 0 ? 0.15 : s->options.holdout;
  return share > 0 && floor((piece + 1) * share + 1e-9) > floor(piece * share + 1e-9);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double psdmp_steps_median(long count, double *x) {
  if (!count) return 0;
  qsort(x, (size_t)count, sizeof *x, ascending);
  return x[count / 2];
}

/* ---- judging the fit ---- */

psdm_status psdmp_steps_judge_start(psdmp_steps_judge *judge, int n, psdmp_base_arena *arena) {
  judge->n = n;
  judge->sum = PSDMP_BASE_NEW(arena, 2 * n, psdmp_identify_tally);
  return judge->sum ? PSDM_OK : PSDM_E_MEMORY;
}

bool psdmp_steps_judge_row(psdmp_steps_judge *judge, const psdm_steps_row *row) {
  psdmp_identify_tally_add(&judge->sum[(row->heldout ? judge->n : 0) + row->drive], row->measured,
                           row->measured - row->predicted);
  if (judge->write && !judge->stopped) judge->stopped = !judge->write(judge->user, row);
  return !judge->stopped;
}

void psdmp_steps_judge_end(const psdmp_steps_judge *judge, psdm_joint_fit *train, psdm_joint_fit *heldout) {
  for (int i = 0; i < judge->n; i++)
    train[i] = psdmp_identify_tally_fit(&judge->sum[i]),
    heldout[i] = psdmp_identify_tally_fit(&judge->sum[judge->n + i]);
}
