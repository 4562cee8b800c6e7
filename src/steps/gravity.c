/* gravity.c: the base parameters excited by gravity (Lloyd, Irani, Ahmadi 2022, section 3.2).
 *
 * In the mean of a path forwards and backwards friction cancels: Kt i = Y_grav theta_grav + tau_tool (18). Terms
 * neglected in the
 * paper, small on slow paths, are even in the velocity and do not cancel: centrifugal torques and
 * accelerations. So all of Y theta is fitted, the other parameters about zero with a wide prior, and only those
 * excited by
 * gravity are kept. */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "steps/steps_priv.h"

static const double lost = 1e-6; /* directions at rest below this share of the largest are not observable */
static const double leaked = 1e-3;
static const double generous = 3; /* width of the prior, times the effect of masses and lengths */

typedef struct gravity {
  psdmp_steps *s;
  psdmp_base_arena *arena;
  psdmp_steps_records records;
  psdmp_steps_path *path;
  int paths;
  long pairs;
  psdmp_steps_linear linear;
  double *scratch, *Y, *rest, *row; /* Y, rest: (n x l) moving, at rest */
  double *gram;                     /* (l x l) of Y at rest over the rows that are fitted */
  bool *first;                      /* (l) gravity */
  bool *lost;                       /* (l) those of them that the paths do not excite */
  psdmp_steps_judge *judge;         /* NULL: rows are gathered */
  long rows;
} gravity;

/* ---- rows ---- */

static psdm_status load(gravity *g, psdm_error *error) {
  psdmp_steps *s = g->s;
  psdm_status status = psdmp_steps_load(s, PSDM_STEP_GRAVITY, g->arena, &g->records, error);
  if (!status) status = psdmp_steps_paths(s, &g->records, g->arena, &g->path, &g->paths, error);
  if (status) return status;
  for (int k = 0; k < g->paths; k++) g->pairs += g->path[k].count;
  g->scratch = PSDMP_BASE_NEW(g->arena, psdmp_steps_scratch(s), double);
  g->Y = PSDMP_BASE_NEW(g->arena, (long)s->n * s->l, double),
  g->rest = PSDMP_BASE_NEW(g->arena, (long)s->n * s->l, double);
  g->row = PSDMP_BASE_NEW(g->arena, s->l + 2 + PSDMP_STEPS_FRICTION, double),
  g->gram = PSDMP_BASE_NEW(g->arena, (long)s->l * s->l, double);
  g->first = PSDMP_BASE_NEW(g->arena, s->l, bool), g->lost = PSDMP_BASE_NEW(g->arena, s->l, bool);
  if (!g->scratch || !g->Y || !g->rest || !g->row || !g->gram || !g->first || !g->lost ||
      !psdmp_steps_linear_new(s, g->arena, &g->linear))
    return psdmp_base_no_memory("", error);
  for (int j = 0; j < s->l; j++) g->first[j] = s->gravity[j];
  return PSDM_OK;
}

/* one drive's row to the factors */
static void gather_row(gravity *g, const psdmp_steps_pair *pair, int d, double tool) {
  int l = g->s->l;
  const double *Y = g->rest + (long)d * l;
  memcpy(g->row, g->Y + (long)d * l, (size_t)l * sizeof *g->row);
  g->row[l] = pair->i[d];
  g->row[l + 1] = tool;
  psdmp_steps_linear_row(&g->linear, d, pair->piece / 2, g->row);
  for (int i = 0; i < l; i++)
    for (int j = 0; j < l && Y[i] != 0; j++) g->gram[(long)i * l + j] += Y[i] * Y[j];
  g->rows++;
}

static bool judge_row(gravity *g, const psdmp_steps_pair *pair, int d, double tool) {
  psdm_steps_row row = {.t = pair->t,
                        .step = PSDM_STEP_GRAVITY,
                        .drive = d,
                        .heldout = psdmp_steps_held(g->s, pair->piece),
                        .q = pair->q[d],
                        .qd = pair->v[d],
                        .measured = g->s->x[d] * pair->i[d] - tool};
  return !psdmp_steps_torque(g->s, g->rest + (long)d * g->s->l, NULL, true, &row.predicted) ||
         psdmp_steps_judge_row(g->judge, &row);
}

static psdm_status use_pair(gravity *g, const psdmp_steps_pair *pair, psdm_error *error) {
  psdmp_steps *s = g->s;
  double tool[PSDM_CALIBRATE_JOINTS];
  psdm_status status = psdmp_steps_regressor(s, pair->q, NULL, NULL, g->scratch, g->rest, NULL);
  if (!status) status = psdmp_steps_regressor(s, pair->q, pair->qd, pair->qdd, g->scratch, g->Y, tool);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  for (int d = 0; d < s->n; d++) {
    if (!pair->use[d] || !isfinite(s->x[d])) continue;
    if (g->judge && !judge_row(g, pair, d, tool[d])) return PSDM_OK;
    if (!g->judge && !psdmp_steps_held(s, pair->piece)) gather_row(g, pair, d, tool[d]);
  }
  return PSDM_OK;
}

static psdm_status each_pair(gravity *g, psdm_error *error) {
  long before = 0;
  for (int k = 0; k < g->paths; k++) {
    for (long p = 0; p < g->path[k].count; p += g->records.stride) {
      psdmp_steps_pair pair;
      psdmp_steps_path_pair(g->s, &g->records, &g->path[k], p, &pair);
      pair.piece = psdmp_steps_piece((double)(before + p) / (double)g->pairs);
      psdm_status status = use_pair(g, &pair, error);
      if (status || (g->judge && g->judge->stopped)) return status;
    }
    before += g->path[k].count;
    if (!psdmp_steps_progress(g->s, "rows", (double)before / (double)g->pairs)) return psdmp_steps_stop(error);
  }
  return PSDM_OK;
}

/* ---- observable at rest ---- */

/* rotates the own columns of B so that those remain that the rows observe at rest; unobservable directions go to the
 * others, which have a prior. shown[j] is false if a parameter has a share in them */
static psdm_status keep_seen(gravity *g, psdmp_steps_parts *split, bool *shown, psdm_error *error) {
  int l = g->s->l, own = split->own, r = split->r, kept = 0;
  double *G = PSDMP_BASE_NEW(g->arena, (long)own * own, double), *length = PSDMP_BASE_NEW(g->arena, own, double),
         *value = PSDMP_BASE_NEW(g->arena, own, double);
  double *B = PSDMP_BASE_NEW(g->arena, (long)l * r, double), *half = PSDMP_BASE_NEW(g->arena, (long)l * own, double);
  if (!G || !length || !value || !B || !half) return psdmp_base_no_memory("", error);
  for (int i = 0; i < l; i++)
    for (int a = 0; a < own; a++)
      for (int j = 0; j < l; j++) half[(long)i * own + a] += g->gram[(long)i * l + j] * split->B[(long)j * r + a];
  for (int a = 0; a < own; a++)
    for (int b = 0; b < own; b++)
      for (int i = 0; i < l; i++) G[(long)a * own + b] += split->B[(long)i * r + a] * half[(long)i * own + b];
  for (int a = 0; a < own; a++) length[a] = G[(long)a * (own + 1)] > 0 ? sqrt(G[(long)a * (own + 1)]) : 1;
  for (int a = 0; a < own; a++)
    for (int b = 0; b < own; b++) G[(long)a * own + b] /= length[a] * length[b];
  /* eigenvectors by columns, values ascending */
  int code = own ? LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', own, G, own, value) : 0;
  if (code) return psdmp_steps_no_singular(code, error);
  while (kept < own && value[own - 1 - kept] > lost * lost * value[own - 1] && value[own - 1 - kept] > 0) kept++;
  for (int j = 0; j < l; j++) {
    double in = 0, out = 0;
    for (int c = 0; c < own; c++) {
      double entry = 0;
      for (int a = 0; a < own; a++) entry += split->B[(long)j * r + a] / length[a] * G[(long)a * own + own - 1 - c];
      B[(long)j * r + c] = entry;
      if (c < kept) in = hypot(in, entry);
      else out = hypot(out, entry);
    }
    for (int c = own; c < r; c++) B[(long)j * r + c] = split->B[(long)j * r + c];
    shown[j] = g->first[j] && !(out > leaked * hypot(in, out));
  }
  split->B = B;
  split->own = kept;
  return PSDM_OK;
}

/* ---- the fit ---- */

/* the sum of the arm's lengths */
static double reach(const psdm_robot *robot) {
  psdm_body body;
  double sum = 0;
  for (int k = 0; psdm_robot_body(robot, k, &body); k++)
    sum += sqrt(body.p[0] * body.p[0] + body.p[1] * body.p[1] + body.p[2] * body.p[2]);
  return sum;
}

/* gravity's columns alone first: they bound the others */
static psdm_status solve(gravity *g, psdmp_steps_parts *split, psdmp_steps_linear_answer *a, psdm_error *error) {
  psdmp_steps *s = g->s;
  int l = s->l, r = split->r;
  bool *known = PSDMP_BASE_NEW(g->arena, l, bool);
  double *prior = PSDMP_BASE_NEW(g->arena, r, double), most = 0;
  psdmp_steps_parts alone = {
      .A = split->A, .r = split->own, .B = PSDMP_BASE_NEW(g->arena, (long)l * (split->own + 1), double)};
  if (!known || !prior || !alone.B) return psdmp_base_no_memory("", error);
  for (int j = 0; j < l; j++)
    for (int c = 0; c < split->own; c++) alone.B[(long)j * split->own + c] = split->B[(long)j * r + c];
  psdm_status status = psdmp_steps_linear_solve(s, &g->linear, &alone, known, NULL, g->arena, a, error);
  if (status) return status;
  for (int j = 0; j < l; j++) most = fmax(most, g->first[j] ? fabs(a->theta[j]) : 0);
  for (int c = 0; c < r; c++) prior[c] = c < split->own ? INFINITY : generous * most * fmax(reach(s->run.robot), 1);
  double condition = a->condition;
  status = psdmp_steps_linear_solve(s, &g->linear, split, known, prior, g->arena, a, error);
  a->condition = condition;
  return status;
}

static void say_lost(gravity *g, const bool *shown) {
  psdmp_steps *s = g->s;
  char names[120];
  int kept = 0, missing = 0;
  for (int j = 0; j < s->l; j++) {
    g->lost[j] = g->first[j] && !shown[j];
    if (g->lost[j] && psdmp_steps_known(s, j)) kept++;
    missing += g->lost[j];
  }
  if (!missing) return;
  psdmp_steps_names(s, g->lost, true, names, sizeof names);
  psdmp_steps_remark(s, "gravity: the paths do not distinguish %s%s", names,
                     kept == missing ? "; earlier values are kept"
                     : kept          ? "; earlier values are kept where there are any"
                                     : "");
}

psdm_status psdmp_steps_gravity_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                      psdm_error *error) {
  gravity g = {.s = s, .arena = arena, .judge = judge};
  psdm_status status = load(&g, error);
  return status ? status : each_pair(&g, error);
}

psdm_status psdmp_steps_gravity(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error) {
  gravity g = {.s = s, .arena = arena};
  int step = PSDM_STEP_GRAVITY;
  psdmp_steps_parts split;
  psdmp_steps_linear_answer a = {.sigma = s->sigma + step * s->n};
  psdmp_steps_judge judge = {0};
  bool *shown = PSDMP_BASE_NEW(arena, s->l, bool);
  psdm_status status = shown ? load(&g, error) : psdmp_base_no_memory("", error);
  if (!status) status = each_pair(&g, error);
  if (status) return status;
  psdmp_linalg_blocks_flush(&g.linear.rows);
  if (!g.rows)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, s->options.log[g.records.record[0].log].path, 0, 0,
                           "no row is left to fit: drives must slide for longer than %.2g s at a time, and their "
                           "torque constants be known",
                           2 * g.records.rest);
  status = psdmp_steps_split_first(s, g.first, arena, &split, error);
  if (!status) status = keep_seen(&g, &split, shown, error);
  if (!status && !split.own) psdmp_steps_remark(s, "gravity depends on no parameter of this robot");
  if (!status && split.own) status = solve(&g, &split, &a, error);
  for (int j = 0; j < s->l && !status && split.own; j++)
    if (s->gravity[j]) s->shadow[j] = a.theta[j];
  if (!status && split.own) status = psdmp_steps_linear_keep(s, &a, shown, arena, error);
  if (status) return status;
  say_lost(&g, shown);
  s->p.step[step].rows = g.rows;
  s->p.step[step].condition = split.own ? a.condition : NAN;
  if (psdmp_steps_judge_start(&judge, s->n, arena)) return psdmp_base_no_memory("", error);
  g.judge = &judge;
  status = each_pair(&g, error);
  psdmp_steps_judge_end(&judge, s->fit + 2 * step * s->n, s->fit + (2 * step + 1) * s->n);
  return status;
}
