/* estimate_simulate.c: the robot of the present estimate follows the measured motion.
 *
 * Logs have no commanded motion, so the measured one, filtered to no more than the motion needs, is the reference; its
 * controller is computed torque with the previous estimate as model, as the gains of the published methods follow the
 * estimates, e = q_r - q:
 *   tau = M_0 (qdd_r + 2 w de/dt + w^2 e) + c_0 + g_0 + friction,        M qdd + c + g + friction = tau.
 * Friction is compensated by the present estimate and cancels: a difference of two estimates' Coulomb friction would
 * shake light wrists at every reversal, and the rounds would hardly settle. Integrated by the classical Runge-Kutta
 * rule. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "psdm/motion.h"

/* the reference's cutoff over the motion's mean frequency: harmonics up to thrice it lose under 0.4 % */
static const double room = 6;
/* w times the longest step: Runge-Kutta's error is some (w h)^4 / 10 of a transient */
static const double step_of_loop = 0.2;
static const double most_rows = 200000; /* simulated in one pass */
enum { HALVINGS = 5 };

struct psdmp_identify_simulation {
  psdmp_identify_run *run;
  psdmp_base_arena arena;
  psdm_robot *model, *plant;
  psdm_work *model_work, *plant_work;
  bool borrowed;                /* the robots belong to another */
  double *pi;                   /* (S) zero except for the kept ones */
  double *last, *now;           /* (l) of the last pass, which is the next one's model, and of the present one */
  bool any, moved;              /* there was a pass; it used the requested robot */
  psdmp_identify_band band;     /* of the reference */
  double bandwidth;             /* w, rad/s */
  double share;                 /* of each block's simulated rows */
  const psdm_motion *reference; /* of the simulated stretch: private to each thread, like the works */
};

/* ---- the reference ---- */

/* the lowest cutoff well above the mean frequency of what passes it (Rice 1944) */
static psdm_status choose_cutoff(psdmp_identify_simulation *s, psdm_error *error) {
  static const double cutoffs[] = {3, 4, 5, 7, 10, 14, 20, 28, 40, 60, 100};
  psdmp_identify_run *r = s->run;
  size_t bytes = (size_t)r->n * sizeof(double);
  double speed[PSDM_CALIBRATE_JOINTS], span[PSDM_CALIBRATE_JOINTS], centre[PSDM_CALIBRATE_JOINTS], tempo = r->tempo;
  psdm_status status = PSDM_OK;
  memcpy(speed, r->speed, bytes), memcpy(span, r->span, bytes), memcpy(centre, r->centre, bytes);
  s->band = (psdmp_identify_band){.kinematics = PSDM_KINEMATICS_POSITION, .cutoff = r->band.cutoff, .wide = INFINITY};
  for (size_t k = 0; k < sizeof cutoffs / sizeof *cutoffs && !status; k++) {
    psdmp_identify_band b = s->band;
    b.cutoff = cutoffs[k];
    if (b.cutoff >= r->band.cutoff || b.cutoff > 0.4 / r->interval) break;
    status = psdmp_identify_run_ranges(r, &b, error);
    if (status || r->tempo * room > b.cutoff) continue;
    s->band = b;
    break;
  }
  memcpy(r->speed, speed, bytes), memcpy(r->span, span, bytes), memcpy(r->centre, centre, bytes);
  r->tempo = tempo;
  /* the loop follows all of the reference */
  s->bandwidth = 2 * 6.283185307179586 * fmin(s->band.cutoff, 0.05 / r->interval);
  return status;
}

/* every block of time is simulated from its start, as far as possible */
static bool simulated(const psdmp_identify_simulation *s, const psdmp_identify_prepared *p, long k) {
  if (p->label[k] < 0) return false;
  const psdm_calibrate_options *o = s->run->options;
  double all = (double)s->run->rows * (o->holdout_block > 0 ? 1 : 1 - o->holdout),
         at = (double)p->index[k] / all * PSDMP_IDENTIFY_BLOCKS;
  return at - floor(at) < s->share;
}

/* ---- the closed loop ---- */

/* qdd of the robot at t */
static psdm_status accelerate(psdmp_identify_simulation *s, double t, const double *q, const double *qd, double *qdd) {
  int n = s->run->n;
  double wanted[3 * PSDM_CALIBRATE_JOINTS], tau[PSDM_CALIBRATE_JOINTS], a[PSDM_CALIBRATE_JOINTS], w = s->bandwidth;
  psdm_motion_at(s->reference, t, 3, wanted);
  for (int i = 0; i < n; i++) a[i] = wanted[2 * n + i] + 2 * w * (wanted[n + i] - qd[i]) + w * w * (wanted[i] - q[i]);
  psdm_status status = psdm_inverse(s->model, s->model_work, q, qd, a, tau);
  return status ? status : psdm_forward(s->plant, s->plant_work, q, qd, tau, qdd);
}

/* one step of the classical Runge-Kutta rule */
static psdm_status step(psdmp_identify_simulation *s, double t, double h, double *q, double *qd) {
  static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  int n = s->run->n;
  double x[PSDM_CALIBRATE_JOINTS], v[PSDM_CALIBRATE_JOINTS], a[PSDM_CALIBRATE_JOINTS], dx[PSDM_CALIBRATE_JOINTS],
      dv[PSDM_CALIBRATE_JOINTS];
  psdm_status status = PSDM_OK;
  for (int i = 0; i < n; i++) v[i] = a[i] = dx[i] = dv[i] = 0;
  for (int k = 0; k < 4 && !status; k++) {
    for (int i = 0; i < n; i++) {
      x[i] = q[i] + part[k] * h * v[i];
      v[i] = qd[i] + part[k] * h * a[i];
    }
    status = accelerate(s, t + part[k] * h, x, v, a);
    for (int i = 0; i < n; i++) dx[i] += weight[k] * h * v[i], dv[i] += weight[k] * h * a[i];
  }
  for (int i = 0; i < n; i++) q[i] += dx[i], qd[i] += dv[i];
  return status;
}

static psdm_status run_rows(psdmp_identify_simulation *s, const psdmp_feed_stretch *stretch,
                            const psdmp_identify_prepared *p, double *q, double *qd, double *qdd, bool *ready) {
  int n = s->run->n;
  size_t bytes = (size_t)n * sizeof(double);
  /* at a segment's ends the reference's filter has only one side */
  double state[2 * PSDM_CALIBRATE_JOINTS], one_sided = isfinite(s->band.cutoff) ? 2 / s->band.cutoff : 0;
  double begin = psdm_motion_begin(s->reference) + (stretch->begins ? one_sided : 0),
         end = psdm_motion_end(s->reference) - (stretch->ends ? one_sided : 0);
  psdm_status status = PSDM_OK;
  bool moving = false;
  for (long k = 0; k < p->rows && !status; k++) {
    ready[k] = simulated(s, p, k) && p->t[k] >= begin && p->t[k] <= end;
    if (ready[k] && !moving) psdm_motion_at(s->reference, p->t[k], 2, state);
    if (ready[k] && moving) {
      double whole = p->t[k] - p->t[k - 1];
      int steps = (int)ceil(whole * s->bandwidth / step_of_loop);
      for (int i = 0; i < steps && !status; i++)
        status = step(s, p->t[k - 1] + whole * i / steps, whole / steps, state, state + n);
    }
    moving = ready[k];
    if (!moving || status) continue;
    memcpy(q + k * n, state, bytes);
    memcpy(qd + k * n, state + n, bytes);
    status = accelerate(s, p->t[k], state, state + n, qdd + k * n);
    for (int i = 0; i < n; i++)
      if (!isfinite(state[i]) || !isfinite(qdd[k * n + i])) status = PSDM_E_SINGULAR;
  }
  return status;
}

psdm_status psdmp_identify_simulate(void *simulation, const psdmp_feed_stretch *stretch,
                                    const psdmp_identify_prepared *p, double *q, double *qd, double *qdd, bool *ready,
                                    psdm_error *error) {
  psdmp_identify_simulation *s = simulation;
  psdmp_identify_run *r = s->run;
  psdmp_identify_prepared narrow;
  psdm_motion *reference = NULL;
  psdm_status status = psdmp_identify_run_prepare(r, &s->band, stretch, &narrow, error);
  if (!status && narrow.rows > 3) {
    status = psdm_motion_table(r->n, narrow.rows, narrow.t, narrow.q, narrow.qd, narrow.qdd, r->allocator, &reference,
                               error);
    s->reference = reference;
    if (!status && (status = run_rows(s, stretch, p, q, qd, qdd, ready)))
      psdmp_base_fail(error, status, psdm_robot_name(r->robot), 0, 0,
                      "the robot of the present estimate cannot be simulated: %s", psdm_status_text(status));
  }
  psdm_motion_free(reference);
  psdmp_identify_prepared_free(&narrow, r->allocator);
  return status;
}

/* ---- making and setting ---- */

/* theta as standard parameters with the same torques: each is that of the parameter it is named after, the rest is
 * zero */
static void set_robot(psdmp_identify_simulation *s, psdm_robot *robot, const double *theta) {
  psdmp_identify_run *r = s->run;
  for (int j = 0; j < r->l; j++) s->pi[r->kept[j]] = theta[j];
  psdm_robot_set_parameters(robot, s->pi);
}

void psdmp_identify_simulation_set(psdmp_identify_simulation *s, const double *model, const double *robot) {
  set_robot(s, s->model, model);
  set_robot(s, s->plant, robot);
}

psdm_status psdmp_identify_simulation_walk(psdmp_identify_simulation *s, psdmp_identify_pass_kind kind,
                                           psdmp_linalg_blocks *blocks, const double *x, psdm_error *error) {
  int l = s->run->l;
  size_t bytes = (size_t)l * sizeof *x;
  psdmp_identify_pass pass = {.kind = kind, .run = s->run, .simulation = s};
  psdm_status status = PSDM_OK;
  psdmp_identify_pass_shape(&pass);
  if (!s->any) memcpy(s->last, x, bytes);
  memcpy(s->now, x, bytes);
  for (int k = 0; k <= HALVINGS; k++) {
    psdmp_identify_simulation_set(s, s->last, s->now);
    status = psdmp_identify_pass_run(&pass, blocks, NULL, error);
    s->moved = k == 0;
    if (status != PSDM_E_SINGULAR || !s->any) break;
    for (int j = 0; j < l; j++) s->now[j] = k + 1 < HALVINGS ? (s->now[j] + s->last[j]) / 2 : s->last[j];
  }
  s->any = true;
  memcpy(s->last, s->now, bytes);
  return status;
}

void psdmp_identify_simulation_say(const psdmp_identify_simulation *s, double change) {
  psdmp_identify_run *r = s->run;
  if (!s->moved && r->reasons < 8)
    snprintf(r->reason[r->reasons++], sizeof r->reason[0],
             "simulated: the last robot that can move; the estimate's mass matrix is not positive definite");
  if (s->moved && change > 0 && r->reasons < 8)
    psdmp_base_print(r->reason[r->reasons++], sizeof r->reason[0],
                     "simulated: not converged, the last round changed a parameter by %.2g of its standard deviation",
                     change);
}

psdmp_identify_band psdmp_identify_simulation_band(const psdmp_identify_simulation *s, double *bandwidth) {
  *bandwidth = s->bandwidth;
  return s->band;
}

void psdmp_identify_simulation_free(psdmp_identify_simulation *s) {
  if (!s) return;
  const psdm_allocator *allocator = s->arena.allocator;
  psdm_work_free(s->model_work, allocator);
  psdm_work_free(s->plant_work, allocator);
  if (!s->borrowed) psdm_robot_free(s->model), psdm_robot_free(s->plant);
  psdmp_base_arena_free(&s->arena);
  psdmp_base_free(allocator, s);
}

static bool make(psdmp_identify_simulation *s) {
  psdmp_identify_run *r = s->run;
  size_t bytes = (size_t)r->l * sizeof *s->last;
  s->pi = psdmp_base_arena_alloc(&s->arena, (size_t)r->S * sizeof *s->pi),
  s->last = psdmp_base_arena_alloc(&s->arena, bytes), s->now = psdmp_base_arena_alloc(&s->arena, bytes);
  return s->pi && s->last && s->now && !psdm_robot_clone(r->robot, r->allocator, &s->model) &&
         !psdm_robot_clone(r->robot, r->allocator, &s->plant) &&
         !psdm_work_new(s->model, r->allocator, &s->model_work) &&
         !psdm_work_new(s->plant, r->allocator, &s->plant_work);
}

static psdmp_identify_simulation *make_for(psdmp_identify_run *r) {
  psdmp_identify_simulation *s = psdmp_base_alloc(r->allocator, sizeof *s);
  if (s) *s = (psdmp_identify_simulation){.run = r, .arena = {.allocator = r->allocator}};
  if (!s || make(s)) return s;
  psdmp_identify_simulation_free(s);
  return NULL;
}

psdm_status psdmp_identify_simulation_new(psdmp_identify_run *r, psdmp_identify_simulation **out, psdm_error *error) {
  *out = NULL;
  psdmp_identify_simulation *s = make_for(r);
  if (!s) return psdmp_base_no_memory("", error);
  psdm_status status = choose_cutoff(s, error);
  if (status) {
    psdmp_identify_simulation_free(s);
    return status;
  }
  double rows = (double)r->rows / psdmp_identify_band_stride(r, &r->band);
  s->share = fmin(1, most_rows / rows);
  if (r->reasons < 8) {
    char part[64] = "", top[32] = "as logged";
    if (isfinite(s->band.cutoff)) psdmp_base_print(top, sizeof top, "up to %g Hz", s->band.cutoff);
    if (s->share < 1) psdmp_base_print(part, sizeof part, "; the first %.2g %% of each block of time", 100 * s->share);
    snprintf(r->reason[r->reasons++], sizeof r->reason[0],
             "simulated: computed torque along the measured positions, %s%s", top, part);
  }
  *out = s;
  return PSDM_OK;
}

/* ---- threads and ranks ---- */

psdmp_identify_simulation *psdmp_identify_simulation_thread(const psdmp_identify_simulation *of,
                                                            psdmp_identify_run *own) {
  psdmp_identify_simulation *s = psdmp_base_alloc(own->allocator, sizeof *s);
  if (!s) return NULL;
  *s = *of;
  s->run = own, s->arena = (psdmp_base_arena){.allocator = own->allocator};
  s->borrowed = true, s->model_work = s->plant_work = NULL, s->reference = NULL;
  if (!psdm_work_new(s->model, own->allocator, &s->model_work) &&
      !psdm_work_new(s->plant, own->allocator, &s->plant_work))
    return s;
  psdmp_identify_simulation_free(s);
  return NULL;
}

void psdmp_identify_simulation_put(const psdmp_identify_simulation *s, psdmp_parallel_bytes *to) {
  size_t bytes = (size_t)s->run->l * sizeof *s->last;
  PSDMP_PARALLEL_PUT(to, s->band.kinematics);
  PSDMP_PARALLEL_PUT(to, s->band.cutoff);
  PSDMP_PARALLEL_PUT(to, s->band.wide);
  PSDMP_PARALLEL_PUT(to, s->bandwidth);
  PSDMP_PARALLEL_PUT(to, s->share);
  psdmp_parallel_bytes_put(to, s->last, bytes);
  psdmp_parallel_bytes_put(to, s->now, bytes);
}

psdm_status psdmp_identify_simulation_get(psdmp_identify_run *r, psdmp_parallel_bytes *from,
                                          psdmp_identify_simulation **out, psdm_error *error) {
  psdmp_identify_simulation *s = *out = make_for(r);
  size_t bytes = (size_t)r->l * sizeof *s->last;
  if (!s) return psdmp_base_no_memory("", error);
  PSDMP_PARALLEL_GET(from, s->band.kinematics);
  PSDMP_PARALLEL_GET(from, s->band.cutoff);
  PSDMP_PARALLEL_GET(from, s->band.wide);
  PSDMP_PARALLEL_GET(from, s->bandwidth);
  PSDMP_PARALLEL_GET(from, s->share);
  psdmp_parallel_bytes_get(from, s->last, bytes);
  psdmp_parallel_bytes_get(from, s->now, bytes);
  psdmp_identify_simulation_set(s, s->last, s->now);
  return PSDM_OK;
}
