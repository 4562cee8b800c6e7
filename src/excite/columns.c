/* columns.c: the regressor columns that a motion must distinguish, and how well it does.
 *
 * Columns: base parameters (kept columns of the standard regressor, under assumptions sums of them), then viscous
 * friction qd_i, Coulomb friction tanh(qd_i / width) and an offset of each joint. Rows are divided by the joint's
 * effort limit if all joints have one; columns by their root mean square over states spread evenly over the limits of
 * position, velocity and acceleration. The scales depend on robot and limits only, so condition numbers of different
 * motions can be compared. */
#include <math.h>
#include <string.h>

#include "derive/derive.h"
#include "excite/inertia_priv.h"
#include "linalg/linalg.h"
#include "parameters/parameters.h"
#include "psdm/base_parameters.h"

enum {
  FEWEST_STATES = 64, /* for scales and ranks */
  BLOCK_ROWS = 512    /* added to the triangle at a time */
};

static const double turn_over = 0.05; /* of the velocity limit: Coulomb friction is smooth below it */
static const double dependent = 1e-8; /* remainder of a column's length beyond the others */

/* ---- which columns ---- */

static void spread_state(const psdmp_excite_limits *l, int n, uint64_t *random, double *state) {
  for (int i = 0; i < n; i++) {
    state[i] = psdmp_base_random(random, l->lower[i], l->upper[i]);
    state[n + i] = psdmp_base_random(random, -l->velocity[i], l->velocity[i]);
    state[2 * n + i] = psdmp_base_random(random, -l->acceleration[i], l->acceleration[i]);
  }
}

static double friction_value(const psdmp_excite_told *t, int column, const double *qd) {
  int i = t->joint[column];
  return t->kind[column] == PSDMP_EXCITE_VISCOUS   ? qd[i]
         : t->kind[column] == PSDMP_EXCITE_COULOMB ? tanh(qd[i] / t->width[i])
                                                   : 1;
}

/* the standard columns of base column j: of its parameter alone, or of all that follow it under assumptions */
static int columns_of(const psdmp_excite_told *t, const psdm_model *model, const psdmp_derive_restriction *left, int j,
                      int *index, double *factor) {
  int parameter, count = 0, row = 0;
  psdm_model_base_term(model, j, 0, &parameter);
  if (!left->B) {
    index[0] = parameter, factor[0] = 1;
    return 1;
  }
  while (row < left->count && left->param[row] != parameter) row++;
  for (int c = 0; c < t->standard && row < left->count; c++)
    if (left->B[(long)row * t->standard + c] != 0)
      index[count] = c, factor[count++] = left->B[(long)row * t->standard + c];
  return count;
}

/* every base parameter, and three friction columns per joint if wanted */
static psdm_status propose(psdmp_excite_told *t, const psdm_model *model, const psdmp_derive_restriction *left,
                           bool friction, psdmp_base_arena *arena) {
  t->base = psdm_model_l(model);
  t->friction = friction ? PSDMP_EXCITE_FRICTION_COLUMNS * t->n : 0;
  t->columns = t->base + t->friction;
  size_t count = (size_t)t->columns + 1;
  long room = (left->B ? (long)t->base * t->standard : t->base) + 1;
  t->start = psdmp_base_arena_alloc(arena, count * sizeof *t->start);
  t->index = psdmp_base_arena_alloc(arena, (size_t)room * sizeof *t->index);
  t->factor = psdmp_excite_numbers(arena, room);
  t->joint = psdmp_base_arena_alloc(arena, count * sizeof *t->joint);
  t->kind = psdmp_base_arena_alloc(arena, count * sizeof *t->kind);
  t->column_scale = psdmp_excite_numbers(arena, t->columns);
  if (!t->start || !t->index || !t->factor || !t->joint || !t->kind || !t->column_scale) return PSDM_E_MEMORY;
  for (int j = 0; j < t->base; j++)
    t->start[j + 1] = t->start[j] + columns_of(t, model, left, j, t->index + t->start[j], t->factor + t->start[j]);
  for (int f = 0; f < t->friction; f++)
    t->joint[f] = f / PSDMP_EXCITE_FRICTION_COLUMNS,
    t->kind[f] = (psdmp_excite_friction_column)(f % PSDMP_EXCITE_FRICTION_COLUMNS);
  return PSDM_OK;
}

static bool set_rows(psdmp_excite_told *t, const psdmp_excite_limits *limits, const double *effort,
                     psdmp_base_arena *arena) {
  bool all = true;
  t->row_scale = psdmp_excite_numbers(arena, t->n);
  t->width = psdmp_excite_numbers(arena, t->n);
  t->row_count = psdmp_base_arena_alloc(arena, (size_t)t->n * sizeof *t->row_count);
  t->row_column = psdmp_base_arena_alloc(arena, (size_t)t->n * sizeof *t->row_column);
  if (!t->row_scale || !t->width || !t->row_count || !t->row_column) return false;
  for (int i = 0; i < t->n; i++) all &= isfinite(effort[i]);
  for (int i = 0; i < t->n; i++)
    t->row_scale[i] = all ? 1 / effort[i] : 1, t->width[i] = turn_over * limits->velocity[i];
  return true;
}

/* Samples of all proposed columns, column-major. */
typedef struct samples {
  psdmp_base_arena arena;
  psdm_work *work;
  int states, rows;
  double *W, *Y, *state, *R, *beta;
  int *kept;
} samples;

static bool new_samples(const psdmp_excite_told *t, samples *s) {
  long square = (long)t->columns * t->columns;
  s->states = 4 * t->columns / t->n + 1 > FEWEST_STATES ? 4 * t->columns / t->n + 1 : FEWEST_STATES;
  s->rows = s->states * t->n;
  s->W = psdmp_excite_numbers(&s->arena, (long)s->rows * t->columns);
  s->Y = psdmp_excite_numbers(&s->arena, (long)t->n * t->standard);
  s->state = psdmp_excite_numbers(&s->arena, 3L * t->n);
  s->R = psdmp_excite_numbers(&s->arena, square);
  s->beta = psdmp_excite_numbers(&s->arena, square);
  s->kept = psdmp_base_arena_alloc(&s->arena, ((size_t)t->columns + 1) * sizeof *s->kept);
  return s->W && s->Y && s->state && s->R && s->beta && s->kept &&
         !psdm_work_new(t->robot, s->arena.allocator, &s->work);
}

static psdm_status fill_samples(const psdmp_excite_told *t, const psdmp_excite_limits *limits, samples *s) {
  uint64_t random = 1; /* the same states for every search */
  psdm_status status = PSDM_OK;
  for (int k = 0; k < s->states && !status; k++) {
    spread_state(limits, t->n, &random, s->state);
    status = psdm_regressor_standard(t->robot, s->work, s->state, s->state + t->n, s->state + 2 * t->n, s->Y);
    for (int i = 0; i < t->n && !status; i++) {
      double *row = s->W + (long)k * t->n + i;
      for (int j = 0; j < t->base; j++)
        row[(long)j * s->rows] = psdmp_excite_told_base(t, j, s->Y + (long)i * t->standard) * t->row_scale[i];
      for (int f = 0; f < t->friction; f++)
        row[(long)(t->base + f) * s->rows] =
            t->joint[f] == i ? friction_value(t, f, s->state + t->n) * t->row_scale[i] : 0;
    }
  }
  return status;
}

static void set_column_scales(psdmp_excite_told *t, samples *s) {
  for (int c = 0; c < t->columns; c++) {
    double *column = s->W + (long)c * s->rows, sum = 0;
    for (int k = 0; k < s->rows; k++) sum += column[k] * column[k];
    t->column_scale[c] = sum > 0 ? sqrt(s->states / sum) : 1;
    for (int k = 0; k < s->rows; k++) column[k] *= t->column_scale[c];
  }
}

/* drops dependent columns; from[c]: old position of column c */
static void keep_columns(psdmp_excite_told *t, int count, const int *from) {
  int base = 0, proposed = t->base, used = 0;
  for (int c = 0; c < count; c++) {
    if (from[c] < proposed) {
      int first = t->start[from[c]], last = t->start[from[c] + 1];
      for (int k = first; k < last; k++, used++) t->index[used] = t->index[k], t->factor[used] = t->factor[k];
      t->start[++base] = used; /* never beyond those still to be read */
    } else t->joint[c - base] = t->joint[from[c] - proposed], t->kind[c - base] = t->kind[from[c] - proposed];
    t->column_scale[c] = t->column_scale[from[c]];
  }
  t->base = base;
  t->friction = count - base;
  t->columns = count;
}

/* entries of each joint's row that are not always zero; from[c]: position of column c among the samples */
static bool set_pattern(psdmp_excite_told *t, const samples *s, const int *from, psdmp_base_arena *arena) {
  for (int i = 0; i < t->n; i++) {
    t->row_count[i] = 0;
    t->row_column[i] = psdmp_base_arena_alloc(arena, ((size_t)t->columns + 1) * sizeof *t->row_column[i]);
    if (!t->row_column[i]) return false;
    for (int c = 0; c < t->columns; c++) {
      bool any = false;
      for (int k = 0; k < s->states && !any; k++) any = s->W[(long)from[c] * s->rows + (long)k * t->n + i] != 0;
      if (any) t->row_column[i][t->row_count[i]++] = c;
    }
    t->row_total += t->row_count[i];
  }
  return true;
}

static psdm_status choose(psdmp_excite_told *t, const psdmp_excite_limits *limits, samples *s,
                          psdmp_base_arena *arena) {
  psdmp_linalg_columns found = {.kept = s->kept, .beta = s->beta};
  psdm_status status = fill_samples(t, limits, s);
  if (status) return status;
  set_column_scales(t, s);
  psdmp_linalg_columns_choose(s->rows, t->columns, s->W, NULL, dependent, s->R, &found);
  /* the samples are overwritten; zeros remain in the pattern only where rows have none at all */
  status = fill_samples(t, limits, s);
  if (status) return status;
  keep_columns(t, found.rank, s->kept);
  return set_pattern(t, s, s->kept, arena) ? PSDM_OK : PSDM_E_MEMORY;
}

/* base parameters: as in a calibration, or under assumptions */
static psdm_status base_of(const psdm_robot *robot, const psdm_excite_options *options, psdmp_base_arena *scratch,
                           psdmp_derive_restriction *left, psdm_model **model, psdm_error *error) {
  const psdm_derive_options assume = {.assume_count = options->assume_count,
                                      .assume = options->assume,
                                      .rank_tolerance = PSDMP_PARAMETERS_PHYSICAL_RANK};
  if (!options->assume_count) return psdm_parameters_model(robot, scratch->allocator, model, error);
  psdm_status status = psdmp_derive_restriction_set(robot, &assume, scratch, left, error);
  return status ? status : psdm_base_parameters_derive(robot, &assume, scratch->allocator, model, NULL, error);
}

psdm_status psdmp_excite_told_new(const psdm_robot *robot, const psdm_excite_options *options,
                                  const psdmp_excite_limits *limits, const double *effort, psdmp_base_arena *arena,
                                  psdmp_excite_told *t, psdm_error *error) {
  psdm_model *model;
  samples s = {.arena = {.allocator = arena->allocator}};
  psdmp_derive_restriction left = {0};
  psdm_status status = base_of(robot, options, &s.arena, &left, &model, error);
  if (status) {
    psdmp_base_arena_free(&s.arena);
    return status;
  }
  *t = (psdmp_excite_told){.robot = robot, .n = psdm_robot_n(robot), .standard = psdm_robot_parameter_count(robot)};
  status = propose(t, model, &left, !options->no_friction, arena);
  psdm_model_free(model);
  if (!status && (!set_rows(t, limits, effort, arena) || !new_samples(t, &s))) status = PSDM_E_MEMORY;
  if (!status) status = choose(t, limits, &s, arena);
  psdm_work_free(s.work, arena->allocator);
  psdmp_base_arena_free(&s.arena);
  if (status == PSDM_E_MEMORY) return psdmp_base_no_memory("", error);
  if (status == PSDM_E_LOOP)
    return psdmp_base_fail(error, status, "", 0, 0,
                           "closed loops do not close everywhere within the limits of the joints, or not on the way "
                           "there from the position of the file; narrower limits are needed");
  if (!status && !t->columns)
    return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0, "no motion shows any parameter of this robot");
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

psdm_status psdmp_excite_told_row(const psdmp_excite_told *t, psdm_work *work, const double *state, double *Y,
                                  double *row) {
  const double *qd = state + t->n;
  psdm_status status = psdm_regressor_standard(t->robot, work, state, qd, qd + t->n, Y);
  for (int i = 0; i < t->n && !status; i++)
    for (int k = 0; k < t->row_count[i]; k++) {
      int c = t->row_column[i][k];
      double value =
          c < t->base ? psdmp_excite_told_base(t, c, Y + (long)i * t->standard) : friction_value(t, c - t->base, qd);
      *row++ = value * t->row_scale[i] * t->column_scale[c];
    }
  return status;
}

/* ---- singular values of a whole motion, without squaring ---- */

/* A triangle of all rows so far, and a block of rows that are not in it yet. */
typedef struct triangle {
  int columns, used, room; /* rows */
  double *A, *R, *reflectors, *work, *sigma;
  long words;
} triangle;

static bool new_triangle(int columns, psdmp_base_arena *arena, triangle *t) {
  *t = (triangle){.columns = columns, .used = columns, .room = columns + BLOCK_ROWS};
  t->words = psdmp_linalg_least_squares_work(t->room, columns, 1);
  if (t->words < (long)psdmp_linalg_modes_scratch(columns, 0)) t->words = (long)psdmp_linalg_modes_scratch(columns, 0);
  t->A = psdmp_excite_numbers(arena, (long)t->room * columns);
  t->R = psdmp_excite_numbers(arena, (long)columns * columns);
  t->reflectors = psdmp_excite_numbers(arena, columns);
  t->sigma = psdmp_excite_numbers(arena, columns);
  t->work = psdmp_excite_numbers(arena, t->words);
  return t->A && t->R && t->reflectors && t->sigma && t->work;
}

static bool fold(triangle *t) {
  int W = t->columns;
  if (!psdmp_linalg_triangle(t->room, W, t->A, t->R, t->reflectors, t->work, t->words)) return false;
  memset(t->A, 0, sizeof *t->A * (size_t)t->room * (size_t)W);
  for (int c = 0; c < W; c++) memcpy(t->A + (long)c * t->room, t->R + (long)c * W, sizeof *t->A * (size_t)W);
  t->used = W;
  return true;
}

/* an empty row to fill: its entry of column c is at [c * room] */
static double *next_row(triangle *t) {
  if (t->used == t->room && !fold(t)) return NULL;
  return t->A + t->used++;
}

static bool singular_values(triangle *t) {
  return fold(t) && psdmp_linalg_singular_values(t->columns, t->R, t->sigma, t->work);
}

static double ratio(const triangle *t) {
  return t->sigma[t->columns - 1] > 0 ? t->sigma[0] / t->sigma[t->columns - 1] : INFINITY;
}

struct psdmp_excite_gathering {
  const psdmp_excite_told *told;
  triangle scaled, plain;
  long states;
  double *Y, *row;
};

psdmp_excite_gathering *psdmp_excite_gathering_new(const psdmp_excite_told *t, psdmp_base_arena *arena) {
  psdmp_excite_gathering *g = psdmp_base_arena_alloc(arena, sizeof *g);
  if (!g) return NULL;
  g->told = t;
  g->Y = psdmp_excite_numbers(arena, (long)t->n * t->standard);
  g->row = psdmp_excite_numbers(arena, t->row_total);
  bool whole = g->Y && g->row && new_triangle(t->columns, arena, &g->scaled) &&
               (!t->base || new_triangle(t->base, arena, &g->plain));
  return whole ? g : NULL;
}

static void empty(triangle *t) {
  memset(t->A, 0, sizeof *t->A * (size_t)t->room * (size_t)t->columns);
  t->used = t->columns;
}

void psdmp_excite_gathering_begin(psdmp_excite_gathering *g) {
  g->states = 0;
  empty(&g->scaled);
  if (g->told->base) empty(&g->plain);
}

psdm_status psdmp_excite_gathering_add(psdmp_excite_gathering *g, psdm_work *work, const double *state) {
  const psdmp_excite_told *t = g->told;
  psdm_status status = psdmp_excite_told_row(t, work, state, g->Y, g->row);
  const double *value = g->row;
  for (int i = 0; i < t->n && !status; i++) {
    double *scaled = next_row(&g->scaled), *plain = t->base ? next_row(&g->plain) : NULL;
    if (!scaled || (t->base && !plain)) return PSDM_E_LIMIT;
    for (int k = 0; k < t->row_count[i]; k++, value++) scaled[(long)t->row_column[i][k] * g->scaled.room] = *value;
    for (int j = 0; j < t->base; j++)
      plain[(long)j * g->plain.room] = psdmp_excite_told_base(t, j, g->Y + (long)i * t->standard);
  }
  g->states++;
  return status;
}

psdm_status psdmp_excite_gathering_end(psdmp_excite_gathering *g, double *condition, double *logdet, double *plain) {
  if (!singular_values(&g->scaled) || (g->told->base && !singular_values(&g->plain))) return PSDM_E_LIMIT;
  *condition = ratio(&g->scaled);
  *plain = g->told->base ? ratio(&g->plain) : NAN;
  *logdet = 0;
  for (int c = 0; c < g->told->columns; c++) *logdet += 2 * log(g->scaled.sigma[c]) - log((double)g->states);
  return PSDM_OK;
}
