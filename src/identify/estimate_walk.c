/* estimate_walk.c: the training rows of a stretch with their columns, and those of an auxiliary motion. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

struct psdmp_identify_walker {
  psdmp_identify_run *run;
  psdmp_base_arena arena;
  psdmp_identify_auxiliary_motion auxiliary;
  void *auxiliary_user;
  psdmp_identify_pass_rows *to;
  psdmp_identify_use_row use;
  psdmp_parameters_column (*column)[16];                  /* (n) */
  int *count;                                             /* (n) */
  psdmp_parameters_column_state *state, *auxiliary_state; /* (n) */
  double *scratch, *Y, *F, *Y_auxiliary, *F_auxiliary;
  bool *fitted; /* (n) */
};

int psdmp_identify_chosen_columns(const psdmp_identify_run *r, int drive, psdmp_parameters_column *column) {
  const psdmp_identify_choice *choice = &r->choice[drive];
  for (int k = 0; k < choice->count; k++) column[k] = r->dictionary[drive].column[choice->take[k]];
  return choice->count;
}

/* Y (n x l) and F (n x 16) at a state; x, v of the drives */
static psdm_status fill(psdmp_identify_walker *w, const double *q, const double *qd, const double *qdd, const double *x,
                        const double *v, psdmp_parameters_column_state *state, double *Y, double *F) {
  psdmp_identify_run *r = w->run;
  int n = r->n, l = r->l;
  psdm_status status = psdmp_identify_run_regressor(r, q, qd, qdd, w->scratch, Y);
  for (int i = 0; i < n && !status; i++) {
    double load = 0;
    for (int j = 0; j < l && r->theta_load; j++) load += Y[(long)i * l + j] * r->theta_load[j];
    psdmp_parameters_columns_at(w->column[i], w->count[i], x[i], v[i], fabs(load), &state[i], F + 16L * i);
  }
  return status;
}

/* the drives' side of a joint vector */
static void to_drives(const psdmp_identify_run *r, const double *joint, double *drive) {
  for (int i = 0; i < r->n; i++) {
    drive[i] = r->T ? 0 : joint[i];
    for (int j = 0; j < r->n && r->T; j++) drive[i] += r->T_inverse[i * r->n + j] * joint[j];
  }
}

/* ---- memory of a stretch's auxiliary motion ---- */

typedef struct motion {
  double *q, *qd, *qdd;
  bool *ready;
} motion;

static bool make_motion(const psdmp_identify_run *r, long rows, motion *m) {
  size_t count = (size_t)rows * (size_t)r->n;
  m->q = psdmp_base_alloc(r->allocator, 3 * count * sizeof *m->q);
  m->ready = psdmp_base_alloc(r->allocator, (size_t)rows * sizeof *m->ready);
  if (!m->q || !m->ready) return false;
  m->qd = m->q + count, m->qdd = m->qd + count;
  return true;
}

static void free_motion(const psdmp_identify_run *r, motion *m) {
  psdmp_base_free(r->allocator, m->q);
  psdmp_base_free(r->allocator, m->ready);
}

/* ---- rows ---- */

static psdm_status use_row(psdmp_identify_walker *w, const psdmp_identify_prepared *p, long k, const motion *m) {
  psdmp_identify_run *r = w->run;
  int n = r->n;
  bool any = false;
  psdm_status status =
      fill(w, p->q + k * n, p->qd + k * n, p->qdd + k * n, p->x + k * n, p->v + k * n, w->state, w->Y, w->F);
  if (!status && m->q && m->ready[k]) {
    double x[PSDM_CALIBRATE_JOINTS], v[PSDM_CALIBRATE_JOINTS];
    to_drives(r, m->q + k * n, x);
    to_drives(r, m->qd + k * n, v);
    status =
        fill(w, m->q + k * n, m->qd + k * n, m->qdd + k * n, x, v, w->auxiliary_state, w->Y_auxiliary, w->F_auxiliary);
  } else if (m->q) {
    memset(w->auxiliary_state, 0, (size_t)n * sizeof *w->auxiliary_state);
  }
  for (int i = 0; i < n; i++) {
    bool rest = r->rest > 0 && fabs(p->v[k * n + i]) <= r->rest * r->speed[i];
    any |= w->fitted[i] = p->label[k] >= 0 && !rest && !p->bad[k * n + i] && (!m->q || m->ready[k]);
  }
  const psdmp_identify_walk_row row = {.block = p->label[k],
                                       .fitted = w->fitted,
                                       .Y = w->Y,
                                       .F = w->F,
                                       .tau = p->tau + k * n,
                                       .Y_auxiliary = m->q ? w->Y_auxiliary : NULL,
                                       .F_auxiliary = m->q ? w->F_auxiliary : NULL};
  if (!status && any) w->use(w->to, &row);
  return status;
}

/* rows before the stretch only update columns with memory, which depends on positions */
static void remember(psdmp_identify_walker *w, const psdmp_identify_prepared *p, long k) {
  int n = w->run->n;
  for (int i = 0; i < n; i++)
    psdmp_parameters_columns_at(w->column[i], w->count[i], p->x[k * n + i], 0, 0, &w->state[i], w->F);
}

/* the auxiliary motion starts at the measured state, with the same memory */
static psdm_status use_rows(psdmp_identify_walker *w, const psdmp_feed_stretch *s, const psdmp_identify_prepared *p,
                            const motion *m) {
  size_t bytes = (size_t)w->run->n * sizeof *w->state;
  psdm_status status = PSDM_OK;
  bool own = false;
  memset(w->state, 0, bytes);
  for (long k = 0; k < p->rows && !status; k++) {
    long at = p->index[k] - s->first;
    if (at >= s->rows - s->trail) break;
    if (at < s->lead) {
      remember(w, p, k);
      continue;
    }
    if (!own) memcpy(w->auxiliary_state, w->state, bytes);
    own = true;
    status = use_row(w, p, k, m);
  }
  return status;
}

psdm_status psdmp_identify_walker_stretch(psdmp_identify_walker *w, const psdmp_feed_stretch *s, psdm_error *error) {
  psdmp_identify_run *r = w->run;
  psdmp_identify_prepared p;
  motion m = {0};
  psdm_status status = psdmp_identify_run_prepare(r, &r->band, s, &p, error);
  if (status) return status;
  if (p.rows && w->auxiliary) {
    status = make_motion(r, p.rows, &m) ? w->auxiliary(w->auxiliary_user, s, &p, m.q, m.qd, m.qdd, m.ready, error)
                                        : psdmp_base_no_memory("", error);
  }
  if (!status && (status = use_rows(w, s, &p, &m)))
    psdmp_base_fail(error, status, psdm_robot_name(r->robot), 0, 0, "%s", psdm_status_text(status));
  free_motion(r, &m);
  psdmp_identify_prepared_free(&p, r->allocator);
  return status;
}

/* ---- memory ---- */

psdmp_identify_walker *psdmp_identify_walker_new(psdmp_identify_pass_rows *to, psdmp_identify_use_row use,
                                                 psdmp_identify_auxiliary_motion auxiliary, void *auxiliary_user) {
  psdmp_identify_run *r = to->run;
  size_t n = (size_t)r->n, l = (size_t)r->l;
  psdmp_identify_walker *w = psdmp_base_alloc(r->allocator, sizeof *w);
  if (!w) return NULL;
  *w = (psdmp_identify_walker){.run = r,
                               .arena = {.allocator = r->allocator},
                               .auxiliary = auxiliary,
                               .auxiliary_user = auxiliary_user,
                               .to = to,
                               .use = use};
#define PART(field, number) (w->field = psdmp_base_arena_alloc(&w->arena, (size_t)(number) * sizeof *w->field))
  bool ok = PART(column, n) && PART(count, n) && PART(state, n) && PART(auxiliary_state, n) &&
            PART(scratch, n * ((size_t)r->S + l)) && PART(Y, n * l) && PART(F, 16 * n) && PART(Y_auxiliary, n * l) &&
            PART(F_auxiliary, 16 * n) && PART(fitted, n);
#undef PART
  if (!ok) return psdmp_identify_walker_free(w), NULL;
  for (int i = 0; i < r->n; i++) w->count[i] = psdmp_identify_chosen_columns(r, i, w->column[i]);
  return w;
}

void psdmp_identify_walker_free(psdmp_identify_walker *w) {
  if (!w) return;
  psdmp_base_arena_free_owner(&w->arena, w);
}
