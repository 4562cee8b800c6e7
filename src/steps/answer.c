/* answer.c: one vector of all numbers and one covariance, updated from step to step; initial values from earlier runs
 * and the robot file. */
#include <cblas.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "parameters/parameters.h"
#include "steps/steps_priv.h"
#include "linalg/linalg.h"
#include "psdm/parameters.h"
#include "robot/robot.h"

psdm_status psdmp_steps_no_singular(int code, psdm_error *error) {
  return psdmp_linalg_lapack_memory(code)
             ? psdmp_base_no_memory("", error)
             : psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "the rows' singular values cannot be found");
}

void psdmp_steps_remark(psdmp_steps *s, const char *format, ...) {
  va_list args;
  if (s->remarks == PSDMP_STEPS_REMARKS) return;
  va_start(args, format);
  psdmp_base_vprint(s->p.remark[s->remarks++], sizeof s->p.remark[0], format, args);
  va_end(args);
}

bool psdmp_steps_known(const psdmp_steps *s, int j) {
  return s->theta_from[j] != PSDM_FROM_NOTHING && isfinite(s->x[psdmp_steps_at_theta(s, j)]);
}

bool psdmp_steps_torque(const psdmp_steps *s, const double *Y, const bool *which, bool value, double *torque) {
  *torque = 0;
  for (int j = 0; j < s->l; j++) {
    if (which && which[j] != value) continue;
    double theta = psdmp_steps_known(s, j) ? s->x[psdmp_steps_at_theta(s, j)] : s->shadow[j];
    if (isfinite(theta)) *torque += Y[j] * theta;
    else if (fabs(Y[j]) > 1e-12) return false;
  }
  return true;
}

static const psdm_joint *joint_of(const psdm_robot *robot, int q) {
  for (int j = 0; j < psdm_robot_joints(robot); j++)
    if (psdm_robot_joint(robot, j)->q == q) return psdm_robot_joint(robot, j);
  return NULL;
}

const char *psdmp_steps_drive(const psdmp_steps *s, int drive) { return s->name[drive]; }

/* ---- x and its covariance ---- */

psdm_status psdmp_steps_update(psdmp_steps *s, int count, const int *own, const double *value, const double *noise,
                               const double *gain, psdm_error *error) {
  int N = s->N;
  psdmp_base_arena arena = {.allocator = s->allocator};
  double *GC = PSDMP_BASE_NEW(&arena, (long)count * N, double),
         *V = PSDMP_BASE_NEW(&arena, (long)count * count, double);
  if (!GC || !V) return psdmp_base_arena_free(&arena), psdmp_base_no_memory("", error);
  for (long k = 0; k < (long)count * count; k++) V[k] = noise[k];
  /* own numbers: N + G C G^T; with the others: G C */
  if (count) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, N, N, 1, gain, N, s->C, N, 0, GC, N);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, count, N, 1, GC, N, gain, N, 1, V, count);
  }
  for (int a = 0; a < count; a++)
    for (int i = 0; i < N; i++) s->C[(long)own[a] * N + i] = s->C[(long)i * N + own[a]] = GC[(long)a * N + i];
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++)
      s->C[(long)own[a] * N + own[b]] = (V[(long)a * count + b] + V[(long)b * count + a]) / 2;
  for (int a = 0; a < count; a++) {
    s->x[own[a]] = value[a];
    for (int i = 0; i < N && isnan(value[a]); i++) s->C[(long)own[a] * N + i] = s->C[(long)i * N + own[a]] = 0;
  }
  psdmp_base_arena_free(&arena);
  psdmp_steps_publish(s);
  return PSDM_OK;
}

void psdmp_steps_publish(psdmp_steps *s) {
  for (int i = 0; i < s->N; i++) s->sd[i] = isnan(s->x[i]) ? INFINITY : sqrt(fmax(s->C[(long)i * (s->N + 1)], 0));
  for (int j = 0; j < s->l; j++)
    s->theta[j].value = s->x[psdmp_steps_at_theta(s, j)], s->theta[j].sd = s->sd[psdmp_steps_at_theta(s, j)];
  for (int d = 0; d < s->n; d++) {
    s->friction[d].given = s->friction_from[d] != PSDM_FROM_NOTHING;
    for (int k = 0; k < PSDMP_STEPS_FRICTION; k++)
      *psdmp_parameters_lugre_number(&s->friction[d], k) = s->x[psdmp_steps_at_friction(s, d, k)];
  }
  s->p.currents = s->currents > 0;
  s->p.rate = s->rate;
}

/* ---- the robot ---- */

static psdm_status check(const psdm_robot *robot, const psdm_steps_options *o, psdm_error *error) {
  const char *file = robot->file;
  if (o->logs < 1 || !o->log) return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "at least one log is needed");
  if (!(o->holdout < 0.95))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "the held-out share must be below 0.95");
  for (int k = 0; k < PSDM_STEPS; k++)
    if (!(o->cutoff[k] >= 0))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "a cutoff must not be negative");
  for (int k = 0; k < o->logs; k++) {
    const psdm_steps_log *log = &o->log[k];
    if ((int)log->step < 0 || log->step >= PSDM_STEPS || !log->path)
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "log %d belongs to no step", k + 1);
    if (!(log->mass >= 0) || !isfinite(log->mass) || !isfinite(log->com[0] + log->com[1] + log->com[2]))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->path, 0, 0,
                             "its known mass must be a finite number of kg, not negative, with a finite centre");
    if (log->mass > 0 && log->step != PSDM_STEP_MOTOR)
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, log->path, 0, 0, "only logs of the motor step carry a known mass");
  }
  if (psdm_robot_n(robot) > PSDM_CALIBRATE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, file, 0, 0, "%d joints; at most %d are calibrated at once",
                           psdm_robot_n(robot), PSDM_CALIBRATE_JOINTS);
  if (robot->closure)
    return psdmp_base_fail(error, PSDM_E_ROBOT, file, 0, 0,
                           "robots with closed loops are calibrated in one go, not step by step");
  return PSDM_OK;
}

/* the base parameters of the robot without the assumptions of its file, so that numbers of one robot are comparable
 * under any assumptions */
static psdm_status set_model(psdmp_steps *s, psdm_error *error) {
  psdmp_identify_run *r = &s->run;
  psdm_status status = psdm_parameters_model(r->robot, s->allocator, &r->model, error);
  if (status) return status;
  if (!psdmp_identify_run_formulas(r, &s->arena)) return psdmp_base_no_memory("", error);
  s->l = r->l, s->S = r->S;
  return psdm_work_new(r->robot, s->allocator, &r->work) ? psdmp_base_no_memory("", error) : PSDM_OK;
}

static bool allocate(psdmp_steps *s) {
  psdmp_base_arena *a = &s->arena;
  long n = s->n, N = s->N = s->n + s->l + PSDMP_STEPS_FRICTION * s->n;
  s->x = PSDMP_BASE_NEW(a, N, double), s->C = PSDMP_BASE_NEW(a, N * N, double), s->sd = PSDMP_BASE_NEW(a, N, double);
  s->name = psdmp_base_arena_alloc(a, ((size_t)n + 1) * sizeof *s->name);
  s->constant_from = PSDMP_BASE_NEW(a, n, int), s->theta_from = PSDMP_BASE_NEW(a, s->l, int),
  s->friction_from = PSDMP_BASE_NEW(a, n, int);
  s->theta = PSDMP_BASE_NEW(a, s->l, psdm_estimate), s->gravity = PSDMP_BASE_NEW(a, s->l, unsigned char);
  s->shadow = PSDMP_BASE_NEW(a, s->l, double), s->pose_inertia = PSDMP_BASE_NEW(a, PSDMP_STEPS_POSES * n, double);
  s->friction = PSDMP_BASE_NEW(a, n, psdm_friction), s->inertia = PSDMP_BASE_NEW(a, n, double),
  s->speed = PSDMP_BASE_NEW(a, n, double);
  s->fit = PSDMP_BASE_NEW(a, (2 * PSDM_STEPS + 1) * n, psdm_joint_fit),
  s->sigma = PSDMP_BASE_NEW(a, PSDM_STEPS * n, double);
  s->p.remark = psdmp_base_arena_alloc(a, (PSDMP_STEPS_REMARKS + 1) * sizeof s->p.remark[0]);
  return s->x && s->C && s->sd && s->name && s->constant_from && s->theta_from && s->friction_from && s->theta &&
         s->gravity && s->shadow && s->pose_inertia && s->friction && s->inertia && s->speed && s->fit && s->sigma &&
         s->p.remark;
}

/* sets the public pointers */
static void lay_out(psdmp_steps *s) {
  psdm_steps *p = &s->p;
  int n = s->n;
  p->robot = s->run.robot, p->n = n, p->base = s->l, p->standard = s->S, p->numbers = s->N;
  p->torque_constant = s->x, p->torque_constant_from = s->constant_from;
  p->theta = s->theta, p->theta_from = s->theta_from, p->gravity = s->gravity;
  p->friction = s->friction, p->friction_from = s->friction_from;
  p->effective_inertia = s->inertia, p->speed = s->speed;
  p->tool = s->tool_pi ? s->tool : NULL;
  p->covariance = s->C, p->sd = s->sd;
  for (int k = 0; k < PSDM_STEPS; k++)
    p->step[k] = (psdm_step_fit){
        .train = s->fit + 2 * k * n, .heldout = s->fit + (2 * k + 1) * n, .sigma = s->sigma + k * n, .condition = NAN};
  p->all = s->fit + 2 * PSDM_STEPS * n;
  for (int k = 0; k < (2 * PSDM_STEPS + 1) * n; k++)
    s->fit[k] = (psdm_joint_fit){.rmse = NAN, .rel = NAN, .nrmse = NAN, .r2 = NAN};
  for (int k = 0; k < PSDM_STEPS * n; k++) s->sigma[k] = NAN;
  for (int i = 0; i < n; i++) s->inertia[i] = NAN;
  for (int i = 0; i < n; i++) {
    const char *name = joint_of(s->run.robot, i)->name;
    psdmp_base_quote(name, strlen(name), s->name[i], sizeof s->name[i]);
  }
  for (int j = 0; j < s->l; j++) s->shadow[j] = NAN;
  for (int j = 0; j < s->l; j++)
    s->theta[j] = (psdm_estimate){.name = psdm_model_base_name(s->run.model, j), .essential = true};
}

static bool set_tool(psdmp_steps *s) {
  int joint = psdm_robot_tool(s->run.robot, s->tool);
  if (joint < 0) return true;
  if (!(s->tool_pi = PSDMP_BASE_NEW(&s->arena, s->S, double))) return false;
  memcpy(s->tool_pi + 10L * psdm_robot_joint(s->run.robot, joint)->link, s->tool, sizeof s->tool);
  return true;
}

/* columns of the regressor at rest that are not zero everywhere */
static psdm_status set_gravity(psdmp_steps *s, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = s->allocator};
  double *scratch = PSDMP_BASE_NEW(&arena, psdmp_steps_scratch(s), double),
         *Y = PSDMP_BASE_NEW(&arena, (long)s->n * s->l, double), *most = PSDMP_BASE_NEW(&arena, s->l, double), all = 0;
  unsigned state = 1;
  psdm_status status = scratch && Y && most ? PSDM_OK : PSDM_E_MEMORY;
  for (int round = 0; round < 50 && !status; round++) {
    double q[PSDM_CALIBRATE_JOINTS];
    for (int i = 0; i < s->n; i++) { /* Lehmer's generator (Park, Miller 1988) */
      state = (unsigned)((unsigned long long)state * 48271 % 2147483647);
      q[i] = 6.0 * state / 2147483647 - 3;
    }
    status = psdmp_steps_regressor(s, q, NULL, NULL, scratch, Y, NULL);
    for (long k = 0; k < (long)s->n * s->l && !status; k++)
      most[k % s->l] = fmax(most[k % s->l], fabs(Y[k])), all = fmax(all, fabs(Y[k]));
  }
  for (int j = 0; j < s->l && !status; j++) s->gravity[j] = most[j] > 1e-10 * all;
  psdmp_base_arena_free(&arena);
  return status ? psdmp_base_fail(error, status, s->run.robot->file, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* ---- values from the file ---- */

static double with_formula(const psdmp_steps *s, int j, const double *pi) {
  double sum = 0;
  for (int k = 0; k < s->S && pi; k++)
    if (s->run.K[(long)j * s->S + k] != 0) sum += s->run.K[(long)j * s->S + k] * pi[k];
  return sum;
}

static void set_theta(psdmp_steps *s, int j, double with_tool, int from) {
  s->x[psdmp_steps_at_theta(s, j)] = with_tool - with_formula(s, j, s->tool_pi);
  s->theta_from[j] = from;
}

/* inertias of its links, or base parameters by name; those of a file with assumptions are grouped differently */
static psdm_status theta_of_file(psdmp_steps *s, psdm_error *error) {
  const psdm_robot *r = s->run.robot;
  double *pi = psdmp_base_alloc(s->allocator, ((size_t)s->S + 1) * sizeof *pi);
  if (!pi) return psdmp_base_no_memory("", error);
  psdm_robot_parameters(r, pi);
  bool ready = psdm_robot_ready(r, NULL) == PSDM_OK;
  for (int j = 0; j < s->l; j++) {
    s->x[psdmp_steps_at_theta(s, j)] = NAN;
    if (ready) set_theta(s, j, with_formula(s, j, pi), PSDM_FROM_FILE);
    for (int k = 0; k < psdm_robot_thetas(r) && !ready && !psdm_robot_assumptions(r); k++) {
      double value;
      if (strcmp(psdm_robot_theta(r, k, &value), s->theta[j].name) == 0) set_theta(s, j, value, PSDM_FROM_FILE);
    }
  }
  psdmp_base_free(s->allocator, pi);
  return PSDM_OK;
}

static void drives_of_file(psdmp_steps *s) {
  for (int d = 0; d < s->n; d++) {
    const psdm_joint *joint = joint_of(s->run.robot, d);
    s->x[d] = joint->torque_constant;
    s->constant_from[d] = isnan(joint->torque_constant) ? PSDM_FROM_NOTHING : PSDM_FROM_FILE;
    if (!joint->friction.given) continue;
    psdm_friction friction = joint->friction;
    s->friction_from[d] = PSDM_FROM_FILE;
    for (int k = 0; k < PSDMP_STEPS_FRICTION; k++)
      s->x[psdmp_steps_at_friction(s, d, k)] = *psdmp_parameters_lugre_number(&friction, k);
  }
}

/* ---- results of earlier runs ---- */

static psdm_status check_before(const psdmp_steps *s, const psdm_parameters *b, psdm_error *error) {
  if (b->n == s->n && b->base == s->l && (!b->kinematics || b->kinematics == psdm_robot_fingerprint(s->run.robot)))
    return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_ROBOT, s->run.robot->file, 0, 0,
                         "the parameters of earlier runs were found for other kinematics");
}

/* their theta includes their tool; for one-shot results it is the robot file's */
static void theta_before(psdmp_steps *s, const psdm_parameters *b) {
  const double *own = s->tool_pi;
  double tool[10];
  int joint = psdm_robot_tool(s->run.robot, tool);
  long first = 10L * (joint < 0 ? psdm_robot_links(s->run.robot) - 1 : psdm_robot_joint(s->run.robot, joint)->link);
  for (int j = 0; j < s->l; j++) {
    if (b->theta_known && !b->theta_known[j]) continue;
    double value = b->theta[j].value;
    for (int k = 0; k < 10 && b->steps && b->tool; k++) value -= s->run.K[(long)j * s->S + first + k] * b->tool[k];
    if (!b->steps) value -= with_formula(s, j, own);
    if (!isfinite(value)) continue;
    s->x[psdmp_steps_at_theta(s, j)] = value;
    s->theta_from[j] = PSDM_FROM_BEFORE;
  }
}

/* factors of logged torques are known without masses */
static void drives_before(psdmp_steps *s, const psdm_parameters *b) {
  bool motor = b->steps >> PSDM_STEP_MOTOR & 1, factors = b->steps && !b->currents;
  for (int d = 0; d < s->n; d++) {
    if (b->torque_constant && (motor || factors)) {
      s->x[d] = b->torque_constant[d];
      s->constant_from[d] = isnan(s->x[d]) ? PSDM_FROM_NOTHING : motor ? PSDM_FROM_BEFORE : PSDM_FROM_FILE;
    }
    if (!b->lugre || !b->lugre[d].given) continue;
    psdm_friction friction = b->lugre[d];
    s->friction_from[d] = b->steps >> PSDM_STEP_FRICTION & 1 ? PSDM_FROM_BEFORE : PSDM_FROM_FILE;
    for (int k = 0; k < PSDMP_STEPS_FRICTION; k++)
      s->x[psdmp_steps_at_friction(s, d, k)] = *psdmp_parameters_lugre_number(&friction, k);
    if (b->speed) s->speed[d] = b->speed[d];
  }
}

/* of steps: all of it; of one-shot results: theta's block, or its standard deviations */
static void covariance_before(psdmp_steps *s, const psdm_parameters *b) {
  int wide = s->l;
  for (int i = 0; i < s->n && !b->lugre; i++) wide += b->columns[i];
  if (b->lugre && b->covariance) memcpy(s->C, b->covariance, (size_t)s->N * (size_t)s->N * sizeof *s->C);
  for (int i = 0; i < s->l && !b->lugre; i++)
    for (int j = 0; j < s->l; j++) {
      double *to = &s->C[(long)psdmp_steps_at_theta(s, i) * s->N + psdmp_steps_at_theta(s, j)];
      if (b->covariance) *to = b->covariance[(long)i * wide + j];
      else if (i == j && isfinite(b->theta[i].sd)) *to = b->theta[i].sd * b->theta[i].sd;
    }
  for (long k = 0; k < (long)s->N * s->N; k++) /* unknown values have unknown uncertainty */
    if (!isfinite(s->C[k])) s->C[k] = 0;
}

static void steps_before(psdmp_steps *s, const psdm_parameters *b) {
  for (int k = 0; k < PSDM_STEPS; k++) {
    s->p.step[k].from_before = b->steps >> k & 1;
    for (int i = 0; i < s->n && b->step_fit && s->p.step[k].from_before; i++)
      s->fit[(2 * k + 1) * s->n + i] = b->step_fit[k * s->n + i];
  }
  if (b->steps && b->torque_constant) s->currents = b->currents;
  if (b->rate > 0) s->rate = b->rate;
}

/* ---- start ---- */

/* copies of the options' texts and arrays, for predictions */
static bool copy_options(psdmp_steps *s) {
  psdm_steps_options *o = &s->options;
  psdm_steps_log *log = PSDMP_BASE_NEW(&s->arena, o->logs, psdm_steps_log);
  for (int k = 0; k < o->logs && log; k++) {
    log[k] = o->log[k];
    if (!(log[k].path = psdmp_base_arena_text(&s->arena, o->log[k].path, strlen(o->log[k].path)))) return false;
  }
  o->log = log;
  const double **lists[] = {&o->format.sign, &o->format.offset};
  for (int k = 0; k < 2; k++) {
    if (!*lists[k]) continue;
    double *own = PSDMP_BASE_NEW(&s->arena, s->n, double);
    if (!own) return false;
    memcpy(own, *lists[k], (size_t)s->n * sizeof *own);
    *lists[k] = own;
  }
  if (o->format.columns &&
      !(o->format.columns = psdmp_base_arena_text(&s->arena, o->format.columns, strlen(o->format.columns))))
    return false;
  return log != NULL;
}

psdm_status psdmp_steps_begin(psdmp_steps *s, psdm_error *error) {
  const psdm_parameters *before = s->options.before;
  psdm_status status = check(s->run.robot, &s->options, error);
  s->n = s->run.n = psdm_robot_n(s->run.robot);
  s->currents = -1;
  if (!status && (!copy_options(s) || !psdmp_identify_run_transmission(&s->run, &s->arena)))
    status = psdmp_base_no_memory("", error);
  if (!status) status = set_model(s, error);
  if (!status && (!allocate(s) || !set_tool(s))) status = psdmp_base_no_memory("", error);
  if (status) return status;
  lay_out(s);
  status = set_gravity(s, error);
  if (!status) status = theta_of_file(s, error);
  if (!status && before) status = check_before(s, before, error);
  if (status) return status;
  drives_of_file(s);
  if (before) theta_before(s, before), drives_before(s, before), covariance_before(s, before), steps_before(s, before);
  s->options.before = NULL;
  status = psdmp_steps_assume(s, error);
  psdmp_steps_publish(s);
  return status;
}
