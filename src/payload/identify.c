/* identify.c: identifies the load of a calibrated robot, from logs with it and preferably without it too. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "payload/payload_priv.h"
#include "linalg/linalg.h"
#include "robot/robot.h"

/* most passes, if friction depends on the load: each pass uses the previous load, and its error shrinks by friction's
 * share of the torque */
enum { PASSES = 12 };

/* ---- start ---- */

static psdm_status check(const psdm_robot *robot, const psdm_parameters *e, const psdm_payload_options *o,
                         psdm_error *error) {
  if (o->files < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, robot->file, 0, 0, "at least one log with the load is needed");
  if (o->empty_files < 0 || !(o->cutoff >= 0))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, robot->file, 0, 0, "an option of the payload is out of its range");
  if (robot->closure)
    return psdmp_base_fail(
        error, PSDM_E_ROBOT, robot->file, 0, 0,
        "a load is not identified on robots with closed loops; calibrate the robot with its load instead");
  if (e->n > PSDM_CALIBRATE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, robot->file, 0, 0, "%d joints; at most %d are calibrated at once", e->n,
                           PSDM_CALIBRATE_JOINTS);
  psdm_status status = psdmp_parameters_match(e, robot, error);
  if (!status) status = psdmp_parameters_shown(e, error);
  return status ? status : psdmp_parameters_complete(e, robot, "", 0, error);
}

/* all logs, those with the load first */
static psdm_status set_logs(psdmp_payload *p, psdm_error *error) {
  const psdm_payload_options *o = p->options;
  const char **path = PSDMP_BASE_NEW(&p->arena, o->files + o->empty_files, const char *);
  if (!path) return psdmp_base_no_memory("", error);
  for (int k = 0; k < o->files; k++) path[k] = o->path[k];
  for (int k = 0; k < o->empty_files; k++) path[o->files + k] = o->empty_path[k];
  p->files = o->files;
  p->logs = (psdm_calibrate_options){.files = o->files + o->empty_files,
                                     .path = path,
                                     .log = o->log,
                                     .progress = o->progress,
                                     .progress_user = o->progress_user};
  /* then the calibrated constants are used, not the robot file's */
  p->logs.log.currents = p->empty->torque_constant && p->empty->currents;
  return PSDM_OK;
}

static psdm_status check_currents(psdmp_payload *p, psdm_error *error) {
  const psdm_parameters *e = p->empty;
  int some = p->logs.log.currents ? psdmp_feed_currents(p->run.feed) : 0;
  if (some && some != p->logs.files)
    return psdmp_base_fail(error, PSDM_E_PARSE, p->logs.path[0], 0, 0,
                           "some of the logs have currents, others torques; one or the other was expected");
  p->currents = some > 0;
  for (int i = 0; i < e->n && some; i++)
    if (!isfinite(e->torque_constant[i]))
      return psdmp_base_fail(error, PSDM_E_MISSING, p->logs.path[0], 0, 0,
                             "currents need the torque constant of drive %d, which no step has shown", i + 1);
  return PSDM_OK;
}

/* as much of a calibration's run as its rows and regressors need */
static psdm_status set_run(psdmp_payload *p, const psdm_allocator *allocator, psdm_error *error) {
  psdmp_identify_run *r = &p->run;
  const psdm_parameters *e = p->empty;
  *r = (psdmp_identify_run){.robot = p->robot,
                            .options = &p->logs,
                            .allocator = allocator,
                            .n = e->n,
                            .l = e->base,
                            .S = e->standard,
                            .links = e->links};
  if (!(r->kept = PSDMP_BASE_NEW(&p->arena, e->base, int)) || !psdmp_identify_run_transmission(r, &p->arena) ||
      psdm_work_new(p->robot, allocator, &r->work))
    return psdmp_base_no_memory("", error);
  for (int j = 0; j < e->base; j++) r->kept[j] = psdmp_robot_standard_find(p->robot, e->theta[j].name);
  psdm_status status = psdmp_feed_open(p->robot, &p->logs, allocator, &r->feed, error);
  if (!status) status = check_currents(p, error);
  if (status) return status;
  r->interval = psdmp_feed_interval(r->feed);
  r->rows = psdmp_feed_rows(r->feed);
  return PSDM_OK;
}

/* the calibration's own filter: both are distorted in the same way */
static void set_band(psdmp_payload *p) {
  const psdm_parameters *e = p->empty;
  /* 15 Hz: the inertia step's */
  double cutoff = p->options->cutoff > 0 ? p->options->cutoff : e->cutoff > 0 ? e->cutoff : 15;
  psdm_kinematics source = e->source;
  bool rates = psdmp_feed_has_rates(p->run.feed), both = rates && psdmp_feed_has_accelerations(p->run.feed);
  if (source == PSDM_KINEMATICS_AUTO)
    source = both ? PSDM_KINEMATICS_ACCELERATION : rates ? PSDM_KINEMATICS_VELOCITY : PSDM_KINEMATICS_POSITION;
  p->run.lugre = e->lugre;
  p->band = (psdmp_identify_band){
      .kinematics = source, .cutoff = cutoff, .delay = isfinite(e->delay) ? e->delay : 0, .wide = cutoff};
}

static bool load_matters(const psdm_parameters *e) {
  bool any = false;
  for (int i = 0; i < e->n && e->theta_load; i++)
    for (int k = 0; k < e->columns[i]; k++) any |= e->column[i][k].load != 0 && e->column[i][k].gain != 0;
  return any;
}

static void say_doubt(psdmp_payload *p) {
  const psdm_parameters *e = p->empty;
  if (e->covariance) return;
  if (p->doubted)
    psdmp_payload_remark(p, "the parameter file has no covariance: its standard deviations are used instead (a "
                            "calibration keeps it with covariance)");
  else
    psdmp_payload_remark(
        p, "the parameter file has no covariance: the uncertainty of the calibrated parameters is not part of "
           "the standard deviations (a calibration with covariance has it, or logs without the load)");
}

/* ---- torques of the logs with the load, without and with it ---- */

typedef struct evaluation {
  psdmp_payload *p;
  psdm_predictor *empty, *loaded;
  psdmp_identify_tally *before, *after; /* (n) */
  psdm_payload_write write;
  void *user;
} evaluation;

static void begin_segment(void *user, int segment) {
  evaluation *e = user;
  (void)segment;
  psdm_predictor_begin(e->empty);
  psdm_predictor_begin(e->loaded);
}

static psdm_status look(void *user, const psdmp_payload_row *row, bool *stop, psdm_error *error) {
  evaluation *e = user;
  const psdmp_identify_run *r = &e->p->run;
  double tau[PSDM_CALIBRATE_JOINTS], raw[PSDM_CALIBRATE_JOINTS], empty[PSDM_CALIBRATE_JOINTS],
      loaded[PSDM_CALIBRATE_JOINTS], friction[PSDM_CALIBRATE_JOINTS];
  psdm_status status = psdmp_payload_predict(e->p, e->empty, row, empty, friction);
  if (!status) status = psdmp_payload_predict(e->p, e->loaded, row, loaded, friction);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  if (row->label <= PSDMP_IDENTIFY_UNUSED) return PSDM_OK;
  psdmp_identify_run_to_joints(r, row->tau, tau);
  psdmp_identify_run_to_joints(r, row->raw, raw);
  for (int i = 0; i < r->n && row->loaded; i++) {
    if (row->bad[i] || !psdmp_payload_moves(e->p, row, i)) continue;
    psdmp_identify_tally_add(&e->before[i], tau[i], tau[i] - empty[i]);
    psdmp_identify_tally_add(&e->after[i], tau[i], tau[i] - loaded[i]);
  }
  if (!e->write) return PSDM_OK;
  const psdm_payload_row out = {.t = row->t,
                                .segment = row->segment,
                                .loaded = row->loaded,
                                .q = row->q,
                                .qd = row->qd,
                                .qdd = row->qdd,
                                .tau = tau,
                                .raw = raw,
                                .tau_empty = empty,
                                .tau_loaded = loaded};
  *stop = !e->write(e->user, &out);
  return PSDM_OK;
}

static psdm_status evaluate(psdmp_payload *p, evaluation *e, psdm_error *error) {
  const psdmp_payload_visitor visitor = {
      .begin = begin_segment, .row = look, .user = e, .doing = e->write ? NULL : "evaluating"};
  psdm_status status = psdm_predictor_new(p->empty, p->robot, p->run.allocator, &e->empty, error);
  if (!status) status = psdm_predictor_new(p->loaded, p->robot, p->run.allocator, &e->loaded, error);
  if (!status) {
    psdm_predictor_rate(e->empty, psdmp_payload_rate(p));
    psdm_predictor_rate(e->loaded, psdmp_payload_rate(p));
    status = psdmp_payload_walk(p, &visitor, error);
  }
  psdm_predictor_free(e->empty);
  psdm_predictor_free(e->loaded);
  return status;
}

/* a load that does not reduce the torque errors, or leaves large ones, is not credible */
static void tell_fit(psdmp_payload *p) {
  const double much = 0.2; /* of the torque; a calibrated arm leaves a few percent */
  if (p->answer.global_after > 0.99 * p->answer.global_before && p->options->empty_files)
    psdmp_payload_remark(p, "the load does not explain the torques any better: is there a load, or are the logs with "
                            "and without it swapped?");
  if (p->answer.global_after > much)
    psdmp_payload_remark(p,
                         "%.0f %% of the torque is not explained with the load: logs and parameters are of different "
                         "robots or in different units",
                         100 * p->answer.global_after);
}

static psdm_status set_fits(psdmp_payload *p, psdm_error *error) {
  int n = p->empty->n;
  evaluation e = {.p = p,
                  .before = PSDMP_BASE_NEW(&p->arena, n, psdmp_identify_tally),
                  .after = PSDMP_BASE_NEW(&p->arena, n, psdmp_identify_tally)};
  psdm_joint_fit *before = PSDMP_BASE_NEW(&p->arena, n, psdm_joint_fit),
                 *after = PSDMP_BASE_NEW(&p->arena, n, psdm_joint_fit);
  if (!e.before || !e.after || !before || !after) return psdmp_base_no_memory("", error);
  psdm_status status = evaluate(p, &e, error);
  if (status) return status;
  p->answer.before = before, p->answer.after = after;
  for (int i = 0; i < n; i++)
    before[i] = psdmp_identify_tally_fit(&e.before[i]), after[i] = psdmp_identify_tally_fit(&e.after[i]);
  p->answer.global_before = psdmp_identify_tally_rel(n, e.before);
  p->answer.global_after = psdmp_identify_tally_rel(n, e.after);
  tell_fit(p);
  return PSDM_OK;
}

psdm_status psdm_payload_predict(const psdm_payload_answer *answer, psdm_payload_write write, void *user,
                                 psdm_error *error) {
  psdmp_payload *p = answer->internal;
  evaluation e = {.p = p,
                  .write = write,
                  .user = user,
                  .before = psdmp_base_alloc(p->run.allocator, (size_t)p->empty->n * sizeof *e.before),
                  .after = psdmp_base_alloc(p->run.allocator, (size_t)p->empty->n * sizeof *e.after)};
  psdmp_linalg_blas_alone();
  psdm_status status = e.before && e.after ? evaluate(p, &e, error) : psdmp_base_no_memory("", error);
  psdmp_linalg_blas_back();
  psdmp_base_free(p->run.allocator, e.before);
  psdmp_base_free(p->run.allocator, e.after);
  return status;
}

/* ---- the iteration ---- */

/* the loaded robot in its present state */
static psdm_status take_load(psdmp_payload *p, psdm_error *error) {
  psdm_parameters_free(p->loaded);
  p->loaded = NULL;
  return psdm_payload_parameters(p->robot, p->empty, p->mount.joint, p->answer.pi, NULL, p->run.allocator, &p->loaded,
                                 error);
}

/* no number changes by a hundredth of its standard deviation any more */
static bool settled(const psdm_payload_answer *a, const double before[10]) {
  bool all = true;
  for (int k = 0; k < 10; k++) all &= fabs(a->pi[k] - before[k]) <= 0.01 * a->pi_sd[k];
  return all;
}

static psdm_status find(psdmp_payload *p, const psdm_allocator *allocator, psdm_error *error) {
  int joint;
  psdm_status status = psdmp_robot_named_or_fail(p->robot, p->options->link, &joint, error);
  if (!status) status = psdmp_payload_mount_find(p->robot, joint, &p->mount, error);
  if (!status) status = set_logs(p, error);
  if (!status) status = set_run(p, allocator, error);
  if (status) return status;
  set_band(p);
  p->drift = p->options->drift || p->options->empty_files > 0;
  p->loads = load_matters(p->empty);
  status = psdmp_payload_prepare(p, error);
  for (int pass = 0; pass < (p->loads ? PASSES : 1) && !status; pass++) {
    double before[10];
    memcpy(before, p->answer.pi, sizeof before);
    status = psdmp_payload_gather(p, error);
    if (!status) status = psdmp_payload_fit(p, error);
    if (!status) status = take_load(p, error);
    if (p->run.stopped || settled(&p->answer, before)) break;
  }
  if (status) return status;
  say_doubt(p);
  return set_fits(p, error);
}

void psdm_payload_free(psdm_payload_answer *answer) {
  if (!answer) return;
  psdmp_payload *p = answer->internal;
  const psdm_allocator *allocator = p->arena.allocator;
  psdmp_feed_close(p->run.feed);
  psdm_work_free(p->run.work, allocator);
  psdm_parameters_free(p->loaded);
  psdmp_base_arena_free(&p->arena);
  psdmp_base_free(allocator, p);
}

psdm_status psdm_payload_identify(const psdm_robot *robot, const psdm_parameters *parameters,
                                  const psdm_payload_options *options, const psdm_allocator *allocator,
                                  psdm_payload_answer **answer, psdm_error *error) {
  double started = psdmp_base_clock();
  *answer = NULL;
  psdm_status status = check(robot, parameters, options, error);
  if (status) return status;
  psdmp_payload *p = psdmp_base_alloc(allocator, sizeof *p);
  if (!p) return psdmp_base_no_memory("", error);
  p->arena.allocator = p->run.allocator = allocator;
  p->robot = robot, p->empty = parameters, p->options = options;
  p->answer.internal = p, p->answer.n = parameters->n;
  psdmp_linalg_blas_alone();
  status = psdmp_linalg_blas_room(error);
  if (!status) status = find(p, allocator, error);
  psdmp_linalg_blas_back();
  if (status) {
    psdm_payload_free(&p->answer);
    return status;
  }
  p->answer.rows = p->rows;
  p->answer.stopped = p->run.stopped;
  p->answer.seconds = psdmp_base_clock() - started;
  p->options = NULL;
  p->logs.progress = NULL; /* predictions do not call going_on */
  *answer = &p->answer;
  return PSDM_OK;
}

const char *psdm_payload_fault(const psdm_payload_answer *answer, int index) {
  return psdmp_feed_fault(answer->internal->run.feed, index);
}
