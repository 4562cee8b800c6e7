/* inertia.c: the other base parameters, from the torque minus gravity, friction and the tool (Lloyd, Irani,
 * Ahmadi 2022, section 3.4, eq. 21).
 *
 * Parameters from the gravity step enter with their whole torque, inertial part included. Friction is simulated along
 * the measured velocity and goes through the same filter as the torque, so that rows around reversals are as good as
 * others. */
#include <math.h>
#include <string.h>

#include "steps/lugre_fit_priv.h"
#include "parameters/parameters.h"
#include "steps/steps_priv.h"

static const double nudge = 1e-4; /* of a friction number, for its derivative */
static const double settled = 20; /* bristles forget their initial state after travel of this many deflections */
static const double poor = 0.9;   /* R2 of a drive's whole torque below which a remark is made */
enum { ENDS = 3 };                /* rows at a segment's ends whose differences are one-sided */

/* Friction of one drive along one record, every stride-th row. */
typedef struct course {
  double *tau;   /* (rows) */
  double *slope; /* (rows x 8) by its numbers */
  long first;    /* row of the record from which it is valid */
} course;

typedef struct inertia {
  psdmp_steps *s;
  psdmp_base_arena *arena;
  psdmp_steps_records records;
  long total; /* rows of all records */
  psdmp_steps_linear linear;
  bool *known; /* (l) from the gravity step, an earlier run, or the file */
  double *scratch, *Y, *row;
  psdmp_steps_judge *judge, *all; /* NULL: rows are gathered; all may be NULL */
  bool slopes;                    /* courses need them */
  bool *fit;                      /* (n) drives with known friction; all if none has */
  long rows;
} inertia;

/* ---- friction ---- */

static bool doubted(const psdmp_steps *s, int drive, int k) {
  return s->C[(long)psdmp_steps_at_friction(s, drive, k) * (s->N + 1)] > 0;
}

static psdm_status follow(const inertia *g, const psdmp_steps_record *r, const psdm_friction *f, const double *v,
                          double *out) {
  return psdmp_steps_lugre_predict(f, isinf(g->records.cutoff) ? NULL : &g->records.filter, r->rows, r->dt, v,
                                   g->s->allocator, out);
}

/* (friction with a number nudged up - down) / 2 nudges, at every stride-th row */
static psdm_status add_slope(const inertia *g, const psdmp_steps_record *r, int drive, int k, const double *v,
                             double *up, double *down, course *c) {
  psdm_friction f = g->s->friction[drive];
  double *number = psdmp_parameters_lugre_number(&f, k), at = *number,
         by = nudge * fmax(fabs(at), k == PSDMP_STEPS_FRICTION - 1 ? f.coulomb : 0);
  if (!(by > 0)) return PSDM_OK;
  *number = at + by;
  psdm_status status = follow(g, r, &f, v, up);
  *number = at - by;
  if (!status) status = follow(g, r, &f, v, down);
  for (long row = 0, i = 0; row < r->rows && !status; row += g->records.stride, i++)
    c->slope[i * PSDMP_STEPS_FRICTION + k] = (up[row] - down[row]) / (2 * by);
  return status;
}

static long settled_at(const psdmp_steps_record *r, const psdm_friction *f, const double *v) {
  double way = 0, asked = f->given && f->sigma0 > 0 ? settled * fmax(f->coulomb, f->stat) / f->sigma0 : 0;
  for (long k = 0; k < r->rows; k++) {
    if (way >= asked) return k;
    way += fabs(v[k]) * r->dt;
  }
  return r->rows;
}

static psdm_status make_course(const inertia *g, const psdmp_steps_record *r, int drive, psdmp_base_arena *arena,
                               course *c) {
  const psdmp_steps *s = g->s;
  long thin = (r->rows + g->records.stride - 1) / g->records.stride;
  psdmp_base_arena own = {.allocator = s->allocator};
  double *v = PSDMP_BASE_NEW(&own, r->rows, double), *tau = PSDMP_BASE_NEW(&own, r->rows, double),
         *down = PSDMP_BASE_NEW(&own, r->rows, double);
  *c = (course){.tau = PSDMP_BASE_NEW(arena, thin, double),
                .slope = PSDMP_BASE_NEW(arena, thin * PSDMP_STEPS_FRICTION, double)};
  psdm_status status = v && tau && down && c->tau && c->slope ? PSDM_OK : PSDM_E_MEMORY;
  for (long k = 0; k < r->rows && !status; k++) v[k] = r->v[k * s->n + drive];
  if (!status && s->friction[drive].given) {
    status = follow(g, r, &s->friction[drive], v, tau);
    for (long k = 0, i = 0; k < r->rows && !status; k += g->records.stride, i++) c->tau[i] = tau[k];
    c->first = status ? 0 : settled_at(r, &s->friction[drive], v);
    for (int k = 0; k < PSDMP_STEPS_FRICTION && !status && g->slopes; k++)
      if (doubted(s, drive, k)) status = add_slope(g, r, drive, k, v, tau, down, c);
  }
  psdmp_base_arena_free(&own);
  return status;
}

/* ---- rows ---- */

static void gather_row(inertia *g, const psdmp_steps_record *r, long k, long thin, int d, int piece, double rest,
                       const course *c) {
  int l = g->s->l;
  memcpy(g->row, g->Y + (long)d * l, (size_t)l * sizeof *g->row);
  g->row[l] = r->i[k * g->s->n + d];
  g->row[l + 1] = rest;
  memcpy(g->row + l + 2, c->slope + thin * PSDMP_STEPS_FRICTION, PSDMP_STEPS_FRICTION * sizeof *g->row);
  psdmp_steps_linear_row(&g->linear, d, piece / 2, g->row);
  g->rows++;
}

/* the remaining torque and Y theta of the rest; and the whole torque and the whole model */
static bool judge_row(inertia *g, const psdmp_steps_record *r, long k, int d, int piece, double rest) {
  const psdmp_steps *s = g->s;
  const double *Y = g->Y + (long)d * s->l;
  double shown, other, measured = s->x[d] * r->i[k * s->n + d];
  if (!psdmp_steps_torque(s, Y, g->known, true, &shown) || !psdmp_steps_torque(s, Y, g->known, false, &other))
    return true;
  psdm_steps_row row = {.t = r->start + (double)k * r->dt,
                        .step = PSDM_STEP_INERTIA,
                        .drive = d,
                        .heldout = psdmp_steps_held(s, piece),
                        .q = r->q[k * s->n + d],
                        .qd = r->v[k * s->n + d],
                        .measured = measured - rest - shown,
                        .predicted = other};
  if (!psdmp_steps_judge_row(g->judge, &row)) return false;
  row.measured = measured, row.predicted = rest + shown + other;
  if (g->all) psdmp_steps_judge_row(g->all, &row);
  return true;
}

static psdm_status use_row(inertia *g, const psdmp_steps_record *r, long k, long thin, int piece, const course *c,
                           psdm_error *error) {
  psdmp_steps *s = g->s;
  int n = s->n;
  double tool[PSDM_CALIBRATE_JOINTS];
  bool held = psdmp_steps_held(s, piece);
  if (held && !g->judge) return PSDM_OK;
  psdm_status status = psdmp_steps_regressor(s, r->q + k * n, r->qd + k * n, r->qdd + k * n, g->scratch, g->Y, tool);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  for (int d = 0; d < n; d++) {
    if (!isfinite(s->x[d]) || !g->fit[d] || r->bad[k * n + d] || k < c[d].first) continue;
    if (!g->judge) gather_row(g, r, k, thin, d, piece, tool[d] + c[d].tau[thin], &c[d]);
    else if (!judge_row(g, r, k, d, piece, tool[d] + c[d].tau[thin])) return PSDM_OK;
  }
  return PSDM_OK;
}

static psdm_status use_record(inertia *g, const psdmp_steps_record *r, long before, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = g->s->allocator};
  course c[PSDM_CALIBRATE_JOINTS];
  long ends = ENDS + (long)ceil(g->records.rest / r->dt);
  psdm_status status = PSDM_OK;
  for (int d = 0; d < g->s->n && !status; d++) {
    status = make_course(g, r, d, &arena, &c[d]);
    if (status) psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
    else if (!psdmp_steps_progress(g->s, "friction", (double)d / g->s->n)) status = psdmp_steps_stop(error);
  }
  for (long k = 0, thin = 0; k < r->rows - ends && !status; k += g->records.stride, thin++) {
    if (k < ends) continue;
    status = use_row(g, r, k, thin, psdmp_steps_piece((double)(before + k) / (double)g->total), c, error);
    if (g->judge && g->judge->stopped) break;
    if (thin % 4096 == 0 && !status && !psdmp_steps_progress(g->s, "rows", (double)(before + k) / (double)g->total))
      status = psdmp_steps_stop(error);
  }
  psdmp_base_arena_free(&arena);
  return status;
}

static psdm_status each_row(inertia *g, psdm_error *error) {
  psdm_status status = PSDM_OK;
  long before = 0;
  for (int k = 0; k < g->records.count && !status && !(g->judge && g->judge->stopped); k++) {
    status = use_record(g, &g->records.record[k], before, error);
    before += g->records.record[k].rows;
  }
  return status;
}

static psdm_status load(inertia *g, psdm_error *error) {
  psdmp_steps *s = g->s;
  psdm_status status = psdmp_steps_load(s, PSDM_STEP_INERTIA, g->arena, &g->records, error);
  if (status) return status;
  for (int k = 0; k < g->records.count; k++) g->total += g->records.record[k].rows;
  g->scratch = PSDMP_BASE_NEW(g->arena, psdmp_steps_scratch(s), double),
  g->Y = PSDMP_BASE_NEW(g->arena, (long)s->n * s->l, double);
  g->row = PSDMP_BASE_NEW(g->arena, s->l + 2 + PSDMP_STEPS_FRICTION, double),
  g->known = PSDMP_BASE_NEW(g->arena, s->l, bool);
  g->fit = PSDMP_BASE_NEW(g->arena, s->n, bool);
  if (!g->scratch || !g->Y || !g->row || !g->known || !g->fit) return psdmp_base_no_memory("", error);
  bool any = false;
  for (int d = 0; d < s->n; d++) any |= s->friction[d].given;
  for (int d = 0; d < s->n; d++) g->fit[d] = s->friction[d].given || !any;
  for (int j = 0; j < s->l; j++) g->known[j] = s->gravity[j] && psdmp_steps_known(s, j);
  return PSDM_OK;
}

/* ---- the fit ---- */

static void say_before(const inertia *g) {
  psdmp_steps *s = g->s;
  for (int d = 0; d < s->n; d++)
    if (!isfinite(s->x[d]))
      psdmp_steps_remark(s, "inertia: torque constant of '%.60s' is not known: its rows are omitted",
                         psdmp_steps_drive(s, d));
    else if (!s->friction[d].given)
      psdmp_steps_remark(s, "inertia: friction of '%.60s' is not known%s", psdmp_steps_drive(s, d),
                         g->fit[d] ? " and taken as missing" : ": its rows are omitted");
}

static void say_lost(inertia *g, const psdmp_steps_linear_answer *a) {
  char names[120];
  bool any = false;
  for (int j = 0; j < g->s->l; j++) any |= !a->shown[j];
  if (any)
    psdmp_steps_remark(g->s, "inertia: the motion does not distinguish %s",
                       psdmp_steps_names(g->s, a->shown, false, names, sizeof names));
}

/* the rest of theta; indistinguishable parameters have no value, unless an earlier run gave one */
static psdm_status keep(inertia *g, const psdmp_steps_linear_answer *a, psdm_error *error) {
  bool *kept = PSDMP_BASE_NEW(g->arena, g->s->l, bool);
  if (!kept) return psdmp_base_no_memory("", error);
  for (int j = 0; j < g->s->l; j++) {
    kept[j] = !g->known[j] && a->shown[j];
    if (!g->known[j]) g->s->shadow[j] = a->theta[j];
  }
  return psdmp_steps_linear_keep(g->s, a, kept, g->arena, error);
}

/* drives that the whole model does not follow: the logs contain an effect that it does not model */
static void say_poor(psdmp_steps *s, const psdm_joint_fit *all) {
  for (int d = 0; d < s->n; d++)
    if (all[d].rows && all[d].r2 < poor)
      psdmp_steps_remark(s,
                         "the whole model does not follow the torque of '%.60s' (R2 %.2f): logs of other steps, loads "
                         "or units do not go together, or friction is not the drive's",
                         psdmp_steps_drive(s, d), all[d].r2);
}

static psdm_status judge_all(inertia *g, psdm_error *error) {
  psdmp_steps *s = g->s;
  int step = PSDM_STEP_INERTIA, n = s->n;
  psdmp_steps_judge judge = {0}, all = {0};
  psdm_joint_fit *train = PSDMP_BASE_NEW(g->arena, n, psdm_joint_fit);
  if (!train || psdmp_steps_judge_start(&judge, n, g->arena) || psdmp_steps_judge_start(&all, n, g->arena))
    return psdmp_base_no_memory("", error);
  g->judge = &judge, g->all = &all, g->slopes = false;
  psdm_status status = each_row(g, error);
  psdmp_steps_judge_end(&judge, s->fit + 2 * step * n, s->fit + (2 * step + 1) * n);
  psdmp_steps_judge_end(&all, train, s->fit + 2 * PSDM_STEPS * n);
  if (!status) say_poor(s, s->fit + 2 * PSDM_STEPS * n);
  return status;
}

psdm_status psdmp_steps_inertia_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                      psdm_error *error) {
  inertia g = {.s = s, .arena = arena, .judge = judge};
  psdm_status status = load(&g, error);
  return status ? status : each_row(&g, error);
}

psdm_status psdmp_steps_inertia(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error) {
  inertia g = {.s = s, .arena = arena, .slopes = true};
  int step = PSDM_STEP_INERTIA;
  psdmp_steps_parts split;
  psdmp_steps_linear_answer a = {.sigma = s->sigma + step * s->n};
  psdm_status status = load(&g, error);
  if (!status && !psdmp_steps_linear_new(s, arena, &g.linear)) status = psdmp_base_no_memory("", error);
  if (status) return status;
  say_before(&g);
  status = each_row(&g, error);
  if (status) return status;
  psdmp_linalg_blocks_flush(&g.linear.rows);
  if (!g.rows)
    return psdmp_base_fail(error, PSDM_E_MISSING, s->options.log[g.records.record[0].log].path, 0, 0,
                           "no row is left to fit: no drive has a torque constant, or the log is too short");
  status = psdmp_steps_split(s, g.known, arena, &split, error);
  if (!status) status = psdmp_steps_linear_solve(s, &g.linear, &split, g.known, NULL, arena, &a, error);
  if (!status) status = keep(&g, &a, error);
  if (status) return status;
  say_lost(&g, &a);
  s->p.step[step].rows = g.rows;
  s->p.step[step].condition = a.condition;
  return judge_all(&g, error);
}
