/* states.c: states of a profile, block by block. */
#include <math.h>
#include <string.h>

#include "reduce/reduce.h"
#include "rigid/rigid.h"

#define PI 3.14159265358979323846
psdm_profile psdm_profile_slow(void) { return (psdm_profile){.q = PI, .qd = 0.1, .qdd = 1}; }
psdm_profile psdm_profile_fast(void) { return (psdm_profile){.q = PI, .qd = 1, .qdd = 10}; }

bool psdmp_reduce_states_start(const psdm_model *m, psdmp_base_arena *arena, psdmp_reduce_states *s) {
  int n = m->n, digits = 0;
  *s = (psdmp_reduce_states){.n = n, .first = PSDMP_BASE_NEW(arena, n, int)};
  if (!s->first) return false;
  for (int j = 0; j < n; j++) {
    s->first[j] = digits;
    digits += m->radix[j];
  }
  double **const part[] = {&s->q, &s->qd, &s->qdd, &s->value, &s->rate, &s->tau, &s->scale, &s->weight};
  const int rows[] = {n, n, n, digits, m->classes, n, 1, 1};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*part[k] = PSDMP_BASE_NEW(arena, rows[k] * PSDMP_REDUCE_LANES, double))) return false;
  return true;
}

/* ---- numbers ---- */

/* every block has a stream of its own, so blocks may be made in any order */
static void draw_block(const psdmp_reduce_source *x, psdmp_reduce_stream stream, long block, psdmp_reduce_states *s) {
  uint64_t state = x->options->seed * 4 + (uint64_t)stream;
  state = psdmp_base_random_bits(&state) + (uint64_t)block;
  state = psdmp_base_random_bits(&state);
  const psdm_profile *p = &x->options->profile;
  for (int k = 0; k < s->count; k++)
    for (int j = 0; j < s->n; j++) {
      s->q[j * PSDMP_REDUCE_LANES + k] = psdmp_base_random(&state, x->low[j], x->high[j]);
      s->qd[j * PSDMP_REDUCE_LANES + k] = psdmp_base_random(&state, -p->qd, p->qd);
      s->qdd[j * PSDMP_REDUCE_LANES + k] = psdmp_base_random(&state, -p->qdd, p->qdd);
    }
}

/* total of the listed states, evenly spread when there are more */
static void copy_block(const psdmp_reduce_source *x, long block, long total, psdmp_reduce_states *s) {
  const psdm_profile *p = &x->options->profile;
  int n = s->n;
  for (int k = 0; k < s->count; k++) {
    long at = (block * PSDMP_REDUCE_LANES + k) * (p->count / total ? p->count / total : 1);
    const double *row = p->states + at * 3 * n;
    for (int j = 0; j < n; j++) {
      s->q[j * PSDMP_REDUCE_LANES + k] = row[j];
      s->qd[j * PSDMP_REDUCE_LANES + k] = row[n + j];
      s->qdd[j * PSDMP_REDUCE_LANES + k] = row[2 * n + j];
    }
  }
}

/* ---- what the functions are made of ---- */

static void set_values(const psdm_model *m, psdmp_reduce_states *s) {
  for (int j = 0; j < s->n; j++) {
    double *value = s->value + s->first[j] * PSDMP_REDUCE_LANES, sine[PSDMP_REDUCE_LANES], cosine[PSDMP_REDUCE_LANES];
    const double *q = s->q + j * PSDMP_REDUCE_LANES, *first = q, *second = cosine;
    if (m->prismatic[j]) {
      for (int k = 0; k < PSDMP_REDUCE_LANES; k++) cosine[k] = q[k] * q[k];
    } else {
      psdmp_rigid_sines(PSDMP_REDUCE_LANES, q, sine, cosine);
      first = sine;
    }
    for (int k = 0; k < PSDMP_REDUCE_LANES; k++) value[k] = 1;
    if (m->radix[j] > 1) memcpy(value + PSDMP_REDUCE_LANES, first, sizeof sine);
    for (int d = 2; d < m->radix[j]; d++)
      for (int k = 0; k < PSDMP_REDUCE_LANES; k++)
        value[d * PSDMP_REDUCE_LANES + k] = second[k] * value[(d - 2) * PSDMP_REDUCE_LANES + k];
  }
}

static void set_rates(const psdm_model *m, psdmp_reduce_states *s) {
  for (int c = 0; c < m->classes; c++) {
    double *rate = s->rate + c * PSDMP_REDUCE_LANES;
    int a, b;
    psdm_model_class_rates(m, c, &a, &b);
    for (int k = 0; k < PSDMP_REDUCE_LANES; k++)
      rate[k] = a < 0   ? m->gravity
                : b < 0 ? s->qdd[a * PSDMP_REDUCE_LANES + k]
                        : s->qd[a * PSDMP_REDUCE_LANES + k] * s->qd[b * PSDMP_REDUCE_LANES + k];
  }
}

static double norm(int n, const double *x) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += x[j] * x[j];
  return sqrt(sum);
}

/* the recursion's torques, which share nothing with the model */
static psdm_status set_torques(const psdmp_reduce_source *x, psdmp_reduce_states *s) {
  double q[64], qd[64], qdd[64], tau[64], bias[64];
  for (int k = 0; k < s->count; k++) {
    for (int j = 0; j < s->n; j++)
      q[j] = s->q[j * PSDMP_REDUCE_LANES + k], qd[j] = s->qd[j * PSDMP_REDUCE_LANES + k],
      qdd[j] = s->qdd[j * PSDMP_REDUCE_LANES + k];
    psdm_status status = psdm_inverse(x->robot, x->work, q, qd, qdd, tau);
    if (!status && x->options->forward) status = psdm_bias(x->robot, x->work, q, qd, bias);
    if (status) return status;
    for (int j = 0; j < s->n; j++) s->tau[j * PSDMP_REDUCE_LANES + k] = tau[j];
    s->scale[k] = norm(s->n, x->options->forward ? qdd : tau);
    for (int j = 0; j < s->n && x->options->forward; j++) tau[j] -= bias[j];
    double size = norm(s->n, tau);
    s->weight[k] = size > 0 ? 1 / size : 0;
  }
  return PSDM_OK;
}

psdm_status psdmp_reduce_states_fill(const psdmp_reduce_source *x, psdmp_reduce_stream stream, long block, long total,
                                     psdmp_reduce_states *s) {
  long left = total - block * PSDMP_REDUCE_LANES;
  s->count = left < PSDMP_REDUCE_LANES ? (int)left : PSDMP_REDUCE_LANES;
  if (s->count < PSDMP_REDUCE_LANES) { /* lanes that are not in use are zero, and weigh nothing */
    size_t bytes = (size_t)s->n * PSDMP_REDUCE_LANES * sizeof(double);
    memset(s->q, 0, bytes), memset(s->qd, 0, bytes), memset(s->qdd, 0, bytes), memset(s->tau, 0, bytes);
    memset(s->weight, 0, PSDMP_REDUCE_LANES * sizeof *s->weight);
  }
  if (x->options->profile.count > 0) copy_block(x, block, total, s);
  else draw_block(x, stream, block, s);
  set_values(x->model, s);
  set_rates(x->model, s);
  return set_torques(x, s);
}
