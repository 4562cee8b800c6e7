/* gather.c: logs with and without the load as triangular factors of [D F A r], one per drive and block of time. */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "payload/payload_priv.h"
#include "linalg/linalg.h"

bool psdmp_payload_moves(const psdmp_payload *p, const psdmp_payload_row *row, int i) {
  const psdm_parameters *e = p->empty;
  return !e->speed || !(e->rest > 0) || fabs(row->v[i]) > e->rest * e->speed[i];
}

double psdmp_payload_rate(const psdmp_payload *p) {
  return 1 / (p->run.interval * psdmp_identify_band_stride(&p->run, &p->band));
}

/* ---- all rows in their order ---- */

typedef struct walking {
  psdmp_payload *p;
  const psdmp_payload_visitor *visitor;
  bool stopped;
} walking;

/* the drives' torque by the calibrated constants: of currents, which belong to drives already, or factors of logged
 * torques */
static void scale(const psdmp_payload *p, long rows, double *tau) {
  const psdm_parameters *e = p->empty;
  bool factors = e->torque_constant && !e->currents;
  for (long k = 0; k < rows && (p->currents || factors); k++, tau += e->n) {
    double own[PSDM_CALIBRATE_JOINTS];
    memcpy(own, tau, (size_t)e->n * sizeof *own);
    /* as before rows were converted to joints' torques */
    if (p->currents) psdmp_identify_run_to_joints(&p->run, tau, own);
    for (int i = 0; i < e->n; i++) tau[i] = isfinite(e->torque_constant[i]) ? own[i] * e->torque_constant[i] : own[i];
  }
}

/* blocks of time: the same share of the logs with and without the load belongs together, since both motions may cause
 * the same errors */
static int block_of(const psdmp_payload *p, long index, bool loaded) {
  double rows = (double)(loaded ? p->with : p->without), at = (double)(loaded ? index : index - p->with);
  int block = (int)(at / fmax(rows, 1) * PSDMP_IDENTIFY_BLOCKS);
  return block < 0 ? 0 : block >= PSDMP_IDENTIFY_BLOCKS ? PSDMP_IDENTIFY_BLOCKS - 1 : block;
}

static psdm_status count_rows(void *user, const psdmp_feed_stretch *s, psdm_error *error) {
  psdmp_payload *p = user;
  (void)error;
  *(s->file < p->files ? &p->with : &p->without) += s->rows - s->lead - s->trail;
  return PSDM_OK;
}

static psdm_status walk_stretch(void *user, const psdmp_feed_stretch *s, psdm_error *error) {
  walking *w = user;
  psdmp_payload *p = w->p;
  psdmp_identify_prepared made;
  int n = p->run.n;
  psdm_status status = psdmp_identify_run_prepare(&p->run, &p->band, s, &made, error);
  if (status) return status;
  scale(p, made.rows, made.tau);
  scale(p, made.rows, made.raw);
  if (made.begins || s->lead == 0) w->visitor->begin(w->visitor->user, made.segment);
  for (long k = 0; k < made.rows && !status && !w->stopped; k++) {
    long at = made.index[k] - s->first;
    bool loaded = made.file < p->files;
    if (at < s->lead || at >= s->rows - s->trail) continue;
    const psdmp_payload_row row = {.t = made.t[k],
                                   .segment = made.segment,
                                   .label = made.label[k] < 0 ? made.label[k] : block_of(p, made.index[k], loaded),
                                   .loaded = loaded,
                                   .bad = made.bad + k * n,
                                   .q = made.q + k * n,
                                   .qd = made.qd + k * n,
                                   .qdd = made.qdd + k * n,
                                   .x = made.x + k * n,
                                   .v = made.v + k * n,
                                   .tau = made.tau + k * n,
                                   .raw = made.raw + k * n,
                                   .friction = made.friction ? made.friction + k * n : NULL};
    status = w->visitor->row(w->visitor->user, &row, &w->stopped, error);
  }
  psdmp_identify_prepared_free(&made, p->run.allocator);
  if (status) return status;
  if (w->visitor->doing &&
      !psdmp_identify_progress(&p->run, w->visitor->doing, (double)(s->first + s->rows) / (double)p->run.rows))
    w->stopped = true;
  return w->stopped ? PSDM_E_STOPPED : PSDM_OK; /* ends the reading */
}

psdm_status psdmp_payload_predict(const psdmp_payload *p, psdm_predictor *predictor, const psdmp_payload_row *row,
                                  double *tau, double *friction) {
  psdm_status status = psdm_predictor_step(predictor, row->q, row->qd, row->qdd, tau, friction);
  if (status || !row->friction) return status;
  for (int i = 0; i < p->run.n; i++) tau[i] -= friction[i];
  psdmp_identify_run_to_joints(&p->run, row->friction, friction);
  for (int i = 0; i < p->run.n; i++) tau[i] += friction[i];
  return PSDM_OK;
}

psdm_status psdmp_payload_walk(psdmp_payload *p, const psdmp_payload_visitor *visitor, psdm_error *error) {
  walking w = {.p = p, .visitor = visitor};
  psdm_status status =
      psdmp_feed_each(p->run.feed, true, psdmp_identify_band_margin(&p->run, &p->band), walk_stretch, &w, error);
  return status == PSDM_E_STOPPED ? PSDM_OK : status;
}

/* ---- uncertain calibration numbers ---- */

/* numbers of the calibration that affect rows of drive i: for steps its torque constant and theta (friction's eight are
 * not linear), else theta and its columns */
static bool set_places(psdmp_payload *p, int i, int *first_column, bool doubts) {
  const psdm_parameters *e = p->empty;
  psdmp_payload_columns *c = &p->columns[i];
  int own = e->lugre ? 1 : e->columns[i];
  c->doubts = doubts ? e->base + own : 0;
  c->drifts = p->drift ? PSDMP_PAYLOAD_DRIFTS : 0;
  c->width = c->doubts + c->drifts + 10 + 1;
  if (!(c->place = PSDMP_BASE_NEW(&p->arena, c->doubts, int))) return false;
  for (int j = 0; j < e->base && doubts; j++) c->place[j] = e->lugre ? e->n + j : j;
  for (int k = 0; k < own && doubts; k++) c->place[e->base + k] = e->lugre ? i : e->base + *first_column + k;
  *first_column += e->lugre ? 0 : own;
  return true;
}

/* standard deviations without a covariance: a weaker bound */
static double doubt_of(const psdm_parameters *e, int wide, int a, int b) {
  int column = a - e->base, i = 0;
  if (e->covariance) return e->covariance[(long)a * wide + b];
  if (a != b) return 0;
  if (a < e->base) return e->theta[a].sd * e->theta[a].sd;
  while (column >= e->columns[i]) column -= e->columns[i++];
  return e->column[i][column].sd * e->column[i][column].sd;
}

/* S = factor diag(sd) V diag(sqrt(eigenvalue)) of the correlations: no inverse, and numbers of any size keep their
 * digits */
static psdm_status set_root(psdmp_payload *p, int wide, psdm_error *error) {
  const psdm_parameters *e = p->empty;
  double factor = p->options->empty_files ? 100 : 1; /* as in payload_priv.h */
  int m = p->doubted;
  double *V = psdmp_base_alloc(p->run.allocator, (size_t)m * (size_t)m * sizeof *V),
         *sd = PSDMP_BASE_NEW(&p->arena, m, double), *value = PSDMP_BASE_NEW(&p->arena, m, double);
  p->S = PSDMP_BASE_NEW(&p->arena, (size_t)m * (size_t)m, double);
  bool ok = V && sd && value && p->S;
  for (int a = 0; a < m && ok; a++) {
    double own = doubt_of(e, wide, a, a);
    sd[a] = isfinite(own) && own > 0 ? sqrt(own) : 0;
  }
  for (int a = 0; a < m && ok; a++)
    for (int b = 0; b < m; b++)
      V[(long)a * m + b] = a == b ? 1 : sd[a] > 0 && sd[b] > 0 ? doubt_of(e, wide, a, b) / (sd[a] * sd[b]) : 0;
  /* rows of V: components, columns: vectors */
  int code = ok ? LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', m, V, m, value) : LAPACK_WORK_MEMORY_ERROR;
  ok = code == 0;
  for (int k = 0; k < m && ok; k++) {
    if (!(value[k] > 1e-12)) continue; /* correlations are of size one */
    for (int a = 0; a < m; a++) p->S[(long)a * m + p->axes] = factor * sd[a] * V[(long)a * m + k] * sqrt(value[k]);
    p->axes++;
  }
  for (int a = 0; a < m && ok; a++)
    memmove(p->S + (long)a * p->axes, p->S + (long)a * m, (size_t)p->axes * sizeof *p->S);
  psdmp_base_free(p->run.allocator, V);
  if (ok || code == LAPACK_WORK_MEMORY_ERROR || code == LAPACK_TRANSPOSE_MEMORY_ERROR)
    return ok ? PSDM_OK : psdmp_base_no_memory("", error);
  return psdmp_base_fail(error, PSDM_E_ACCURACY, "", 0, 0,
                         "the covariance of the empty robot's parameters has no eigenvalues: it is not finite");
}

/* Coulomb friction drifts in its identified shape */
static psdmp_parameters_column shape_of(const psdm_parameters *e, int i) {
  for (int k = 0; k < e->columns[i] && !e->lugre; k++) {
    const psdm_column *c = &e->column[i][k];
    if (!c->load && (c->kind == PSDM_COLUMN_SIGN || c->kind == PSDM_COLUMN_TANH || c->kind == PSDM_COLUMN_STOP))
      return (psdmp_parameters_column){c->kind, c->width, 0};
  }
  return (psdmp_parameters_column){.kind = PSDM_COLUMN_SIGN};
}

psdm_status psdmp_payload_prepare(psdmp_payload *p, psdm_error *error) {
  const psdm_parameters *e = p->empty;
  int n = e->n, columns = 0;
  /* standard deviations alone are useful only with a log without the load */
  bool doubts = e->covariance || (p->options->empty_files && !e->lugre);
  p->columns = PSDMP_BASE_NEW(&p->arena, n, psdmp_payload_columns),
  p->coulomb = PSDMP_BASE_NEW(&p->arena, n, psdmp_parameters_column), p->square = PSDMP_BASE_NEW(&p->arena, n, double),
  p->sigma = PSDMP_BASE_NEW(&p->arena, n, double);
  p->drifted = PSDMP_BASE_NEW(&p->arena, n * PSDMP_PAYLOAD_DRIFTS, double);
  int *width = PSDMP_BASE_NEW(&p->arena, n, int);
  if (!p->columns || !p->coulomb || !p->square || !p->sigma || !p->drifted || !width)
    return psdmp_base_no_memory("", error);
  for (int i = 0; i < n; i++) {
    if (!set_places(p, i, &columns, doubts)) return psdmp_base_no_memory("", error);
    p->coulomb[i] = shape_of(e, i);
    p->sigma[i] = 1;
    width[i] = p->columns[i].width;
  }
  if (!psdmp_linalg_blocks_in(&p->arena, n, width, PSDMP_IDENTIFY_BLOCKS, &p->blocks))
    return psdmp_base_no_memory("", error);
  psdm_status status = psdmp_feed_each(p->run.feed, true, 0, count_rows, p, error);
  if (status || !doubts) return status;
  p->doubted = e->lugre ? n + e->base : e->base + columns;
  return set_root(p, psdmp_parameters_wide(e), error);
}

/* ---- rows ---- */

typedef struct gathering {
  psdmp_payload *p;
  psdm_predictor *empty, *loaded;                 /* loaded: for friction in logs with the load; NULL: use empty */
  psdmp_parameters_column **column;               /* (n) of the calibrated friction */
  psdmp_parameters_column_state *state, *coulomb; /* (n) */
  double *scratch, *Y, *A;                        /* Y (n x base) on the drives' side; A (n x 10) */
  double *tau, *friction, *rest, *value;          /* (n); value: the most columns */
} gathering;

static void begin_segment(void *user, int segment) {
  gathering *g = user;
  (void)segment;
  psdm_predictor_begin(g->empty);
  if (g->loaded) psdm_predictor_begin(g->loaded);
  memset(g->state, 0, (size_t)g->p->run.n * sizeof *g->state);
  memset(g->coulomb, 0, (size_t)g->p->run.n * sizeof *g->coulomb);
}

/* rest: measured torque minus the empty robot's rigid torque and friction, under the present load */
static psdm_status leave_over(gathering *g, const psdmp_payload_row *row) {
  psdmp_payload *p = g->p;
  int n = p->run.n;
  psdm_status status = psdmp_payload_predict(p, g->empty, row, g->tau, g->friction);
  if (!status && g->loaded && row->loaded) {
    for (int i = 0; i < n; i++) g->tau[i] -= g->friction[i];
    status = psdmp_payload_predict(p, g->loaded, row, g->rest, g->friction);
    for (int i = 0; i < n; i++) g->tau[i] += g->friction[i];
  }
  if (status) return status;
  psdmp_identify_run_to_drives(&p->run, g->tau, g->rest);
  for (int i = 0; i < n; i++) g->rest[i] = row->tau[i] - g->rest[i];
  return PSDM_OK;
}

/* A = T^T Y_link move, of a log with the load; Y is the standard regressor of the joints */
static void load_columns(gathering *g, const double *Y) {
  const psdmp_payload *p = g->p;
  int n = p->run.n, S = p->run.S;
  for (int k = 0; k < 10; k++) {
    double joint[PSDM_CALIBRATE_JOINTS], drive[PSDM_CALIBRATE_JOINTS];
    for (int i = 0; i < n; i++) {
      joint[i] = 0;
      for (int a = 0; a < 10; a++) joint[i] += Y[(long)i * S + 10L * p->mount.link + a] * p->mount.move[10 * a + k];
    }
    psdmp_identify_run_to_drives(&p->run, joint, drive);
    for (int i = 0; i < n; i++) g->A[10 * i + k] = drive[i];
  }
}

static const double *theta_load(const gathering *g, bool loaded) {
  const psdm_parameters *e = g->p->empty, *with = g->p->loaded;
  return loaded && with && with->theta_load ? with->theta_load : e->theta_load;
}

/* uncertain columns of drive i; unused rows also update the memory of the columns */
static void doubt_columns(gathering *g, const psdmp_payload_row *row, int i, double *out) {
  const psdmp_payload *p = g->p;
  const psdm_parameters *e = p->empty;
  const double *Y = g->Y + (long)i * e->base, *feel = theta_load(g, row->loaded);
  double loading = 0;
  for (int j = 0; j < e->base && feel; j++) loading += Y[j] * feel[j];
  memcpy(out, Y, (size_t)e->base * sizeof *out);
  if (e->lugre) /* r = Y dtheta - (tau / Kt) dKt */
    out[e->base] = e->torque_constant && isfinite(e->torque_constant[i]) && e->torque_constant[i] != 0
                       ? -row->tau[i] / e->torque_constant[i]
                       : 0;
  else
    psdmp_parameters_columns_at(g->column[i], e->columns[i], row->x[i], row->v[i], fabs(loading), &g->state[i],
                                out + e->base);
}

static psdm_status add_row(void *user, const psdmp_payload_row *row, bool *stop, psdm_error *error) {
  gathering *g = user;
  psdmp_payload *p = g->p;
  psdmp_identify_run *r = &p->run;
  (void)stop;
  psdm_status status = leave_over(g, row);
  if (!status) status = psdmp_identify_run_regressor(r, row->q, row->qd, row->qdd, g->scratch, g->Y);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  if (row->loaded) load_columns(g, g->scratch);
  else memset(g->A, 0, 10 * (size_t)r->n * sizeof *g->A);
  for (int i = 0; i < r->n; i++) {
    const psdmp_payload_columns *c = &p->columns[i];
    double coulomb, *at = g->value;
    if (c->doubts) doubt_columns(g, row, i, at);
    psdmp_parameters_columns_at(&p->coulomb[i], 1, row->x[i], row->v[i], 0, &g->coulomb[i], &coulomb);
    if (row->label < 0 || row->bad[i] || !psdmp_payload_moves(p, row, i)) continue;
    at += c->doubts;
    if (c->drifts) at[0] = 1, at[1] = coulomb, at[2] = row->v[i];
    memcpy(at + c->drifts, g->A + 10L * i, 10 * sizeof *at);
    at[c->drifts + 10] = g->rest[i];
    p->square[i] += row->tau[i] * row->tau[i];
    memcpy(psdmp_linalg_blocks_row(&p->blocks, i, row->label), g->value, (size_t)c->width * sizeof *at);
  }
  if (row->label >= 0) p->rows += row->loaded;
  return PSDM_OK;
}

/* ---- memory ---- */

static bool make(gathering *g, psdmp_base_arena *arena) {
  const psdmp_payload *p = g->p;
  const psdm_parameters *e = p->empty;
  size_t n = (size_t)e->n;
  int widest = 0;
#define PART(field, count) (g->field = psdmp_base_arena_alloc(arena, ((size_t)(count) + 1) * sizeof *g->field))
  for (int i = 0; i < e->n; i++) widest = p->columns[i].width > widest ? p->columns[i].width : widest;
  if (!PART(column, n) || !PART(state, n) || !PART(coulomb, n) || !PART(scratch, n * (size_t)(p->run.S + e->base)) ||
      !PART(Y, n * (size_t)e->base) || !PART(A, 10 * n) || !PART(tau, n) || !PART(friction, n) || !PART(rest, n) ||
      !PART(value, widest))
    return false;
  for (int i = 0; i < e->n; i++) {
    if (!PART(column[i], e->columns[i])) return false;
    for (int k = 0; k < e->columns[i]; k++)
      g->column[i][k] = (psdmp_parameters_column){e->column[i][k].kind, e->column[i][k].width, e->column[i][k].load};
  }
#undef PART
  return true;
}

static psdm_status predictors(gathering *g, psdm_error *error) {
  psdmp_payload *p = g->p;
  psdm_status status = psdm_predictor_new(p->empty, p->robot, p->run.allocator, &g->empty, error);
  if (!status && p->loaded && p->loads)
    status = psdm_predictor_new(p->loaded, p->robot, p->run.allocator, &g->loaded, error);
  if (status) return status;
  psdm_predictor_rate(g->empty, psdmp_payload_rate(p));
  if (g->loaded) psdm_predictor_rate(g->loaded, psdmp_payload_rate(p));
  return PSDM_OK;
}

static void clear(psdmp_payload *p) {
  p->rows = 0;
  memset(p->square, 0, (size_t)p->run.n * sizeof *p->square);
  psdmp_linalg_blocks_clear(&p->blocks);
}

psdm_status psdmp_payload_gather(psdmp_payload *p, psdm_error *error) {
  gathering g = {.p = p};
  psdmp_base_arena arena = {.allocator = p->run.allocator};
  const psdmp_payload_visitor visitor = {.begin = begin_segment, .row = add_row, .user = &g, .doing = "gathering"};
  clear(p);
  psdm_status status = make(&g, &arena) ? predictors(&g, error) : psdmp_base_no_memory("", error);
  if (!status) status = psdmp_payload_walk(p, &visitor, error);
  if (!status) psdmp_linalg_blocks_flush(&p->blocks);
  psdm_predictor_free(g.empty);
  psdm_predictor_free(g.loaded);
  psdmp_base_arena_free(&arena);
  return status;
}
