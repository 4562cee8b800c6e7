/* estimate_energy.c: the motors' work between two times becomes energy of the robot (Gautier 1991, eq. 11) or is lost
 * to friction:
 *   (h(t + d) - h(t)) theta + integral of F phi v dt = integral of tau v dt.
 * h are the energies of unit parameters, functions of q and qd: no acceleration is needed. A window d ends at every
 * row; overlapping windows are correlated, which the uncertainty over blocks of time takes into account. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

/* ---- energies of unit parameters ---- */

size_t psdmp_identify_energy_scratch(const psdmp_identify_run *r) {
  return 2 * (size_t)r->n * (size_t)r->S + (size_t)r->n + 12 * (size_t)psdm_robot_joints(r->robot) + (size_t)r->S;
}

/* potentials of a link's mass and first moments: U = -g . (m p + R h) */
static void add_potential(const psdm_robot *robot, const double *poses, double *h) {
  const double *g = psdm_robot_gravity(robot);
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const double *p = poses + 12L * j, *R = p + 3;
    int link = psdm_robot_joint(robot, j)->link;
    if (link < 0) continue;
    for (int c = 0; c < 3; c++) {
      h[10L * link] -= g[c] * p[c];
      for (int a = 0; a < 3; a++) h[10L * link + 1 + a] -= g[c] * R[3 * c + a];
    }
  }
}

psdm_status psdmp_identify_energy_columns(psdmp_identify_run *r, const double *q, const double *qd, double *scratch,
                                          double *h) {
  int n = r->n, S = r->S;
  double *moving = scratch, *still = moving + (long)n * S, *zero = still + (long)n * S, *poses = zero + n,
         *standard = poses + 12L * psdm_robot_joints(r->robot);
  for (int i = 0; i < n; i++) zero[i] = 0;
  /* M of a unit parameter times qd is the torque of acceleration qd at rest, less that of none */
  psdm_status status = psdm_regressor_standard(r->robot, r->work, q, zero, qd, moving);
  if (!status) status = psdm_regressor_standard(r->robot, r->work, q, zero, zero, still);
  if (!status) status = psdm_poses(r->robot, r->work, q, poses);
  if (status) return status;
  for (int j = 0; j < S; j++) {
    standard[j] = 0;
    for (int i = 0; i < n; i++) standard[j] += qd[i] * (moving[(long)i * S + j] - still[(long)i * S + j]) / 2;
  }
  add_potential(r->robot, poses, standard);
  for (int j = 0; j < r->l; j++) h[j] = standard[r->kept[j]];
  return PSDM_OK;
}

/* ---- rows ---- */

struct psdmp_identify_energies {
  psdmp_identify_pass_rows *to; /* one equation */
  psdmp_identify_run *run;
  psdmp_base_arena arena;
  int W;
  psdmp_parameters_column (*column)[16];
  int *count;
  psdmp_parameters_column_state *state;
  double *scratch, *Y;
  double *value; /* (16) columns of one drive */
  bool loads;    /* some column needs the rigid torque */
};

/* The rows for a stretch: its own, and one more on either side for the integral. */
typedef struct span {
  long from, to;
} span;

static span own_rows(const psdmp_feed_stretch *s, const psdmp_identify_prepared *p) {
  span own = {.to = p->rows};
  while (own.from < p->rows && p->index[own.from] - s->first < s->lead) own.from++;
  while (own.to > own.from && p->index[own.to - 1] - s->first >= s->rows - s->trail) own.to--;
  own.from = own.from > 0 ? own.from - 1 : 0;
  own.to = own.to < p->rows ? own.to + 1 : p->rows;
  return own;
}

/* value (W + 1): h of theta, then the power of each column at unit gain, then of the motors */
static psdm_status fill(psdmp_identify_energies *e, const psdmp_identify_prepared *p, long k, double *value) {
  psdmp_identify_run *r = e->run;
  int n = r->n, l = r->l;
  const double *q = p->q + k * n, *qd = p->qd + k * n, *v = p->v + k * n;
  psdm_status status = psdmp_identify_energy_columns(r, q, qd, e->scratch, value);
  if (!status && e->loads) status = psdmp_identify_run_regressor(r, q, qd, p->qdd + k * n, e->scratch, e->Y);
  double *to = value + l, power = 0;
  for (int i = 0; i < n; to += e->count[i++]) {
    double load = 0;
    for (int j = 0; j < l && e->loads; j++) load += e->Y[(long)i * l + j] * r->theta_load[j];
    psdmp_parameters_columns_at(e->column[i], e->count[i], p->x[k * n + i], v[i], fabs(load), &e->state[i], to);
    for (int c = 0; c < e->count[i]; c++) to[c] *= v[i];
    power += p->tau[k * n + i] * v[i];
  }
  *to = power;
  return status;
}

/* powers become work since the first row: between two rows the integral of the cubic through four; linear at the
 * ends */
static void integrate(long rows, int width, int first, double interval, double *value) {
  for (int c = first; c < width; c++) {
    double *at = value + c, work = 0, before = *at, now = *at;
    for (long k = 0; k + 1 < rows; k++, at += width) {
      double next = at[width];
      *at = work;
      work += k > 0 && k + 2 < rows ? interval * (13 * (now + next) - before - at[2L * width]) / 24
                                    : interval * (now + next) / 2;
      before = now, now = next;
    }
    *at = work;
  }
}

/* rows between two times, all of which must be good. value: from own.from on */
static void add_windows(psdmp_identify_energies *e, const psdmp_identify_prepared *p, span own, const double *value) {
  psdmp_identify_run *r = e->run;
  int width = e->W + 1, n = r->n;
  double interval = p->t[1] - p->t[0];
  /* a quarter of the mean period */
  long window = (long)fmax(2, round(0.25 / fmax(r->tempo, 1e-3) / interval)), good = 0;
  for (long k = own.from; k < own.to; k++, value += width) {
    bool bad = p->label[k] < 0;
    for (int i = 0; i < n; i++) bad |= p->bad[k * n + i] != 0;
    good = bad ? 0 : good + 1;
    if (good <= window) continue;
    double *equation = psdmp_linalg_blocks_row(&e->to->blocks, 0, p->label[k]);
    for (int c = 0; c < width; c++) equation[c] = value[c] - value[c - window * width];
  }
}

/* rows before those only update columns with memory, which depends on positions */
static void remember(psdmp_identify_energies *e, const psdmp_identify_prepared *p, long k) {
  int n = e->run->n;
  for (int i = 0; i < n; i++)
    psdmp_parameters_columns_at(e->column[i], e->count[i], p->x[k * n + i], 0, 0, &e->state[i], e->value);
}

static psdm_status add_rows(psdmp_identify_energies *e, const psdmp_identify_prepared *p, span own, double *value) {
  psdmp_identify_run *r = e->run;
  int width = e->W + 1;
  psdm_status status = PSDM_OK;
  memset(e->state, 0, (size_t)r->n * sizeof *e->state);
  for (long k = 0; k < own.from; k++) remember(e, p, k);
  for (long k = own.from; k < own.to && !status; k++) status = fill(e, p, k, value + (k - own.from) * width);
  if (status) return status;
  integrate(own.to - own.from, width, r->l, p->t[1] - p->t[0], value);
  add_windows(e, p, own, value);
  return PSDM_OK;
}

psdm_status psdmp_identify_energies_stretch(psdmp_identify_energies *e, const psdmp_feed_stretch *s,
                                            psdm_error *error) {
  psdmp_identify_run *r = e->run;
  psdmp_identify_prepared p;
  psdm_status status = psdmp_identify_run_prepare(r, &r->band, s, &p, error);
  if (status) return status;
  span own = own_rows(s, &p);
  long rows = own.to - own.from;
  double *value =
      rows > 1 ? psdmp_base_alloc_raw(r->allocator, (size_t)rows * (size_t)(e->W + 1) * sizeof *value) : NULL;
  if (rows > 1 && !value) status = psdmp_base_no_memory("", error);
  if (value && (status = add_rows(e, &p, own, value)))
    psdmp_base_fail(error, status, psdm_robot_name(r->robot), 0, 0, "%s", psdm_status_text(status));
  psdmp_base_free(r->allocator, value);
  psdmp_identify_prepared_free(&p, r->allocator);
  return status;
}

psdmp_identify_energies *psdmp_identify_energies_new(psdmp_identify_pass_rows *to) {
  psdmp_identify_run *r = to->run;
  size_t n = (size_t)r->n;
  psdmp_identify_energies *e = psdmp_base_alloc(r->allocator, sizeof *e);
  if (!e) return NULL;
  *e = (psdmp_identify_energies){
      .to = to, .run = r, .arena = {.allocator = r->allocator}, .W = psdmp_identify_estimate_width(r)};
#define PART(field, number) (e->field = psdmp_base_arena_alloc(&e->arena, (size_t)(number) * sizeof *e->field))
  bool ok = PART(column, n) && PART(count, n) && PART(state, n) && PART(scratch, psdmp_identify_energy_scratch(r)) &&
            PART(Y, n * (size_t)r->l) && PART(value, 16);
#undef PART
  if (!ok) return psdmp_identify_energies_free(e), NULL;
  for (int i = 0; i < r->n; i++) {
    e->count[i] = psdmp_identify_chosen_columns(r, i, e->column[i]);
    for (int k = 0; k < e->count[i]; k++) e->loads |= r->theta_load && e->column[i][k].load;
  }
  return e;
}

void psdmp_identify_energies_free(psdmp_identify_energies *e) {
  if (!e) return;
  psdmp_base_arena_free_owner(&e->arena, e);
}

psdm_status psdmp_identify_estimate_energy(psdmp_identify_run *r, psdmp_identify_estimated *out, psdm_error *error) {
  psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ENERGY, .run = r, .all = !r->stopped};
  psdmp_linalg_blocks blocks;
  psdmp_identify_pass_shape(&pass);
  if (!psdmp_linalg_blocks_new(r->allocator, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &blocks))
    return psdmp_base_no_memory("", error);
  psdm_status status = psdmp_identify_pass_run(&pass, &blocks, NULL, error);
  double equations = 0;
  for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) equations += blocks.count[k];
  if (!status && equations < 1)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                             "`estimator = energy` has no equation: work is added up over a quarter of the quickest "
                             "joint's mean period, and no stretch of training rows (at most 32768) is that long");
  /* one equation for all drives: many unknowns for the rows of a block */
  else if (!status && ((status = psdmp_identify_blocks_finish(r, &blocks, NULL, out)) ||
                       (status = psdmp_identify_blocks_jackknife(r, &blocks, NULL, out->x, out->covariance))))
    psdmp_base_fail_status(error, status);
  out->steps = 1;
  psdmp_linalg_blocks_free(&blocks);
  return status;
}
