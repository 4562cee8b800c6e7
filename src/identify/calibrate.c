/* calibrate.c: the recipe: the same for every robot, all choices by cross-validation on the training rows. */
#include "psdm/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "identify/identify.h"
#include "identify/result_priv.h"
#include "linalg/linalg.h"
#include "psdm/base_parameters.h"
#include "robot/robot.h"

/* ---- small helpers ---- */

static const double longest_delay = 0.25; /* s; larger delays suggest another log */
/* of the score, a logarithm: errors grow with the remaining delay, so 20 ms of at most 250 gain log(250/230) = 0.08,
 * and noise hides some; removing all of it gains far more */
static const double long_begins = 0.05, long_pays = 0.3;
static const double cutoffs[] = {3, 4, 5, 7, 10, 14, 20, 28, 40, 60, 100};
enum { CUTOFFS = sizeof cutoffs / sizeof *cutoffs }; /* Hz to try */

/* failure of a step */
static psdm_status not_done(const psdmp_identify_run *r, psdm_error *error) {
  if (!r->singular) return psdmp_base_no_memory("", error);
  return psdmp_base_fail(
      error, PSDM_E_ACCURACY, r->robot->file, 0, 0,
      "the base parameters cannot be distinguished in double precision: the prior's weights are singular");
}

static void because(psdmp_identify_run *r, const char *format, ...) {
  va_list args;
  if (r->reasons == 8) return; /* as many as a result can hold */
  va_start(args, format);
  psdmp_base_vprint(r->reason[r->reasons++], sizeof r->reason[0], format, args);
  va_end(args);
}

bool psdmp_identify_progress(psdmp_identify_run *r, const char *doing, double share) {
  if (r->stopped) return false;
  if (doing) r->doing = doing;
  if (r->options->progress && !r->options->progress(r->options->progress_user, r->doing, share)) r->stopped = true;
  return !r->stopped;
}

/* ---- start ---- */

static psdm_status check(const psdm_robot *robot, const psdm_calibrate_options *o, psdm_error *error) {
  const char *file = robot->file;
  if (o->files < 1) return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "at least one log is needed");
  if (!psdm_estimator_name(o->estimator) || !psdm_kinematics_name(o->kinematics))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "an option of the calibration is out of its range");
  if (!(o->holdout >= 0 && o->holdout < 0.95))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "the held-out share must be at least 0 and below 0.95");
  if (o->holdout_block != 0 && (!(o->holdout_block > 0) || o->holdout_every < 2))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0,
                           "held-out blocks need a length above zero, and at most every second one");
  if (!(o->cutoff >= 0) || !(o->lambda >= 0) || o->columns < 0 || o->columns > 16)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0,
                           "cutoff, lambda and columns must not be negative, and columns at most 16");
  if (psdm_robot_n(robot) > PSDM_CALIBRATE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, file, 0, 0, "%d joints; at most %d are calibrated at once",
                           psdm_robot_n(robot), PSDM_CALIBRATE_JOINTS);
  if (o->decimate < 0 || o->decimate > 1 << 20)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0, "rows are decimated by a factor from 1 to %d", 1 << 20);
  if (o->decimate > 1 && psdmp_identify_result_walks(o->estimator))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0,
                           "the estimator '%s' uses the rows of the log one by one and cannot use decimated rows",
                           psdm_estimator_name(o->estimator));
  if (o->delay_given && !(fabs(o->delay) <= 1))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, file, 0, 0,
                           "the torques' delay must be at most a second either way");
  return PSDM_OK;
}

static psdm_status set_reach(psdmp_identify_run *r, psdm_error *error) {
  size_t n = (size_t)r->n, l = (size_t)r->l;
  double *scratch = psdmp_base_alloc_raw(r->allocator, n * ((size_t)r->S + 2 * l) * sizeof *scratch);
  r->reached = psdmp_base_arena_alloc(&r->arena, n * l + 1);
  psdm_status status =
      scratch && r->reached ? psdmp_identify_run_reach(r, scratch, scratch + n * ((size_t)r->S + l)) : PSDM_E_MEMORY;
  psdmp_base_free(r->allocator, scratch);
  return status ? psdmp_base_fail(error, status, r->robot->file, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* the base parameters of the robot without the assumptions of its file: the log may contradict them, and if they made a
 * link massless, no physically possible result would exist */
static psdm_status set_model(psdmp_identify_run *r, psdm_error *error) {
  psdm_derive_info info;
  psdm_status status = psdmp_parameters_model(r->robot, r->allocator, &r->model, &info, error);
  if (status) return status;
  if (r->robot->assumptions)
    because(r, "the %d assumptions of the robot's file are not made: the log decides", r->robot->assumptions);
  if (info.rank_dropped > 1e-12)
    because(r,
            "what gives less than %.2g of the torque is regrouped (at most %.2g here): axes that are nearly aligned "
            "cannot be distinguished from aligned ones",
            PSDMP_PARAMETERS_PHYSICAL_RANK, info.rank_dropped);
  r->links = psdm_robot_links(r->robot);
  r->drives = psdm_robot_drives(r->robot);
  if (!psdmp_identify_run_formulas(r, &r->arena)) return psdmp_base_no_memory("", error);
  return psdm_work_new(r->robot, r->allocator, &r->work) ? psdmp_base_no_memory("", error) : PSDM_OK;
}

static bool allocate(psdmp_identify_run *r) {
  size_t n = (size_t)r->n;
  r->speed = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->speed);
  r->span = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->span);
  r->centre = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->centre);
  r->sigma = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->sigma);
  r->dictionary = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->dictionary);
  r->choice = psdmp_base_arena_alloc(&r->arena, n * sizeof *r->choice);
  r->prior = psdmp_base_arena_alloc(&r->arena, (size_t)r->S * sizeof *r->prior);
  return r->speed && r->span && r->centre && r->sigma && r->dictionary && r->choice && r->prior;
}

static void forget_choice(psdmp_identify_run *r) {
  for (int i = 0; i < r->n; i++) {
    r->choice[i] = (psdmp_identify_choice){.count = psdmp_identify_columns_always(r, i), .take = {0, 1, 2, 3, 4, 5}};
    r->sigma[i] = 1;
  }
}

static void fill_dictionaries(psdmp_identify_run *r, bool basic, bool loads) {
  for (int i = 0; i < r->n; i++) psdmp_identify_dictionary_fill(r, i, basic, loads, &r->dictionary[i]);
}

/* ---- the prior ---- */

static bool usable_prior(const psdmp_identify_run *r, const double *pi) {
  for (int k = 0; k < r->links; k++)
    if (!psdmp_fit_pseudo_positive(pi + 10L * k)) return false;
  return true;
}

/* the caller's, the robot's if it is physical, or cylinders whose mass follows from the torques */
static psdm_status set_prior(psdmp_identify_run *r, const psdmp_identify_factors *f, psdm_error *error) {
  const psdm_calibrate_options *o = r->options;
  if (o->prior) {
    memcpy(r->prior, o->prior, (size_t)r->S * sizeof *r->prior);
    if (!usable_prior(r, r->prior))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->robot->file, 0, 0,
                             "the prior has a link whose inertia is not physically possible");
  } else {
    psdm_robot_parameters(r->robot, r->prior);
    r->prior_kinematics = o->prior_kinematics || psdm_robot_ready(r->robot, NULL) || !usable_prior(r, r->prior);
  }
  if (r->prior_kinematics) psdmp_identify_prior_cylinders(r->robot, r->prior);
  if (!psdmp_identify_prior_scale(r, f, &r->prior_scale)) return psdmp_base_no_memory("", error);
  if (r->prior_kinematics) {
    /* no mass explains the torques: assume a robot of ten kilograms */
    r->prior_mass = r->prior_scale > 0 ? r->prior_scale : 10;
    for (int k = 0; k < 10 * r->links; k++) r->prior[k] *= r->prior_mass;
    because(r, "prior: cylinders between the joints, %.3g kg in all, the mass that the torques imply", r->prior_mass);
  }
  for (int d = 10 * r->links; d < r->S; d++)
    if (!(r->prior[d] > 0)) r->prior[d] = 0;
  r->prior_known = true;
  return PSDM_OK;
}

/* ---- the band: source of derivatives, cutoff, delay ---- */

/* factors of the rows in memory; none, and no failure, when this is where progress stops */
static psdm_status gather(psdmp_identify_run *r, const psdmp_identify_band *band, bool chosen,
                          psdmp_identify_factors *f, psdm_error *error) {
  psdm_status status = psdmp_identify_gather_rows(r, band, chosen, PSDMP_IDENTIFY_FOLDS, false, f, error);
  return status == PSDM_E_STOPPED && !r->finishing ? PSDM_OK : status;
}

static double score_of(psdmp_identify_run *r, const psdmp_identify_band *band, bool basic, psdm_status *status,
                       psdm_error *error) {
  psdmp_identify_factors f;
  double score = INFINITY;
  if (basic) {
    *status = psdmp_identify_run_ranges(r, band, error);
    if (*status) return score;
    fill_dictionaries(r, true, false);
    forget_choice(r);
  }
  *status = gather(r, band, !basic, &f, error);
  if (*status || r->stopped) return score;
  psdmp_identify_choice kept[PSDM_CALIBRATE_JOINTS];
  memcpy(kept, r->choice, (size_t)r->n * sizeof *kept);
  bool ok = true;
  if (!basic) { /* the factors hold only the chosen columns */
    for (int i = 0; i < r->n; i++)
      for (int k = 0; k < r->choice[i].count; k++) r->choice[i].take[k] = k;
  } else {
    if (!r->prior_known) *status = set_prior(r, &f, error);
    ok = !*status && psdmp_identify_reweight(r, &f) && psdmp_identify_choose(r, &f, 3, true) &&
         psdmp_identify_reweight(r, &f);
  }
  ok = ok && psdmp_identify_score(r, &f, &score, NULL);
  if (!basic) memcpy(r->choice, kept, (size_t)r->n * sizeof *kept);
  psdmp_identify_factors_free(r, &f);
  if (!ok && !*status) *status = not_done(r, error);
  return score;
}

/* the lowest cutoff that explains the torque as well as the best: it passes the least noise */
static psdm_status choose_cutoff(psdmp_identify_run *r, psdm_kinematics source, bool basic, psdmp_identify_band *best,
                                 double *best_score, psdm_error *error) {
  double score[CUTOFFS], tried[CUTOFFS], least = INFINITY, rate = 1 / r->interval;
  bool given = r->options->cutoff > 0;
  r->doing = "choosing the filter";
  int count = 0;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < CUTOFFS && !status; k++) {
    double cutoff = given ? r->options->cutoff : cutoffs[k];
    if (!given && k == 0 && cutoff > 0.4 * rate) cutoff = INFINITY; /* a log this slow is not filtered */
    if (!given && k > 0 && (cutoff > 0.4 * rate || cutoff > 1.05 * best->wide)) continue;
    psdmp_identify_band b = {.kinematics = source, .cutoff = cutoff, .delay = best->delay, .wide = best->wide};
    tried[count] = cutoff;
    score[count] = score_of(r, &b, basic, &status, error);
    least = fmin(least, score[count++]);
    if (given || r->stopped) break;
  }
  for (int k = 0; k < count && !status; k++)
    if (isfinite(score[k]) && score[k] <= least + 0.005) {
      *best_score = score[k];
      best->kinematics = source;
      best->cutoff = tried[k];
      break;
    }
  return status;
}

static psdm_status choose_band(psdmp_identify_run *r, bool basic, psdm_error *error) {
  psdmp_identify_band found = r->band;
  double least = INFINITY;
  psdm_status status = PSDM_OK;
  for (int source = PSDM_KINEMATICS_POSITION; source <= PSDM_KINEMATICS_ACCELERATION && !status; source++) {
    if (r->options->kinematics != PSDM_KINEMATICS_AUTO && source != (int)r->options->kinematics) continue;
    if (source == PSDM_KINEMATICS_VELOCITY && !psdmp_feed_has_rates(r->feed)) continue;
    if (source == PSDM_KINEMATICS_ACCELERATION &&
        (!psdmp_feed_has_accelerations(r->feed) || !psdmp_feed_has_rates(r->feed)))
      continue;
    psdmp_identify_band b = r->band;
    double score = INFINITY;
    status = choose_cutoff(r, (psdm_kinematics)source, basic, &b, &score, error);
    if (!status && score < least) least = score, found = b;
    if (r->stopped) break;
  }
  if (!status && !isfinite(least) && !r->stopped)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->robot->file, 0, 0,
                           "the log has no %s, which kinematics were to come from",
                           psdm_kinematics_name(r->options->kinematics));
  r->band = found;
  return status;
}

/* if the longest delay of the list is best, try longer ones while that helps */
static psdm_status extend_delay(psdmp_identify_run *r, bool basic, psdmp_identify_band *best, double *least,
                                psdm_error *error) {
  psdm_status status = PSDM_OK;
  double step = best->delay < 0 ? -0.01 : 0.01;
  r->delay_end = false;
  while (!status && !r->stopped) {
    psdmp_identify_band b = *best;
    b.delay += step;
    if (fabs(b.delay) > longest_delay) break;
    double score = score_of(r, &b, basic, &status, error);
    if (!(score < *least)) break;
    *least = score, *best = b;
    r->delay_end = fabs(b.delay) > longest_delay - fabs(step) / 2;
  }
  return status;
}

static psdm_status choose_delay(psdmp_identify_run *r, bool basic, psdm_error *error) {
  static const double delays[] = {0, 0.002, -0.002, 0.005, -0.005, 0.01, -0.01, 0.02, -0.02};
  if (r->options->delay_given) return PSDM_OK;
  psdmp_identify_band best = r->band;
  double zero = 0, least = INFINITY;
  psdm_status status = PSDM_OK;
  for (size_t k = 0; k < sizeof delays / sizeof *delays && !status && !r->stopped; k++) {
    psdmp_identify_band b = r->band;
    b.delay = delays[k];
    r->doing = "choosing the torque's delay";
    double score = score_of(r, &b, basic, &status, error);
    if (k == 0) zero = least = score;
    if (score < least && score < zero - 0.01) least = score, best = b;
  }
  if (!status && fabs(best.delay) == 0.02 && zero - least > long_begins) {
    psdmp_identify_band longer = best;
    status = extend_delay(r, basic, &longer, &least, error);
    if (zero - least > long_pays) best = longer;
    r->delay_end &= best.delay == longer.delay;
  }
  r->band = best;
  return status;
}

/* ---- friction ---- */

static psdm_status fit_theta(psdmp_identify_run *r, const psdmp_identify_factors *f, double *theta, psdm_error *error) {
  psdmp_identify_selected s;
  if (!psdmp_identify_select(r, f, (1u << f->blocks) - 1, false, &s)) return psdmp_base_no_memory("", error);
  double *scratch = psdmp_base_alloc_raw(r->allocator, psdmp_fit_scratch(&s.rows) * sizeof *scratch);
  psdmp_fit fit = {.theta = theta};
  const psdmp_fit_options o = {.sigma = r->sigma, .prior = r->prior, .lambda = r->lambda};
  psdm_status status = scratch ? psdmp_fit_surrogate(&s.rows, &o, scratch, &fit) : PSDM_E_MEMORY;
  psdmp_base_free(r->allocator, scratch);
  psdmp_identify_selected_free(r, &s);
  return status ? psdmp_base_fail(error, status, r->robot->file, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* whether rows at rest are fitted too; they are gathered separately, so this costs nothing */
static bool choose_rest(psdmp_identify_run *r, const psdmp_identify_factors *f) {
  double with, without;
  if (r->options->rest != 0) return true;
  if (!psdmp_identify_reweight(r, f) || !psdmp_identify_score(r, f, &without, NULL)) return false;
  r->rest = 0;
  if (!psdmp_identify_reweight(r, f) || !psdmp_identify_score(r, f, &with, NULL)) return false;
  if (with < without - 0.005) return true; /* half a per cent less error in motion */
  r->rest = r->still;
  return psdmp_identify_reweight(r, f);
}

/* two passes: friction without load, then with the load of the first pass's own torque */
static psdm_status choose_friction(psdmp_identify_run *r, psdm_error *error) {
  int most = r->options->columns > 0 ? r->options->columns : 6;
  psdm_status status = psdmp_identify_run_ranges(r, &r->band, error);
  r->theta_load = NULL;
  for (int pass = 0; pass < 2 && !status && !r->stopped; pass++) {
    psdmp_identify_factors f;
    bool loads = pass > 0;
    r->doing = "choosing friction";
    fill_dictionaries(r, r->options->plain_friction, loads);
    if (pass == 0) forget_choice(r);
    /* the loads come after the fixed columns of both dictionaries */
    for (int i = 0; i < r->n && pass > 0; i++) r->choice[i].count = psdmp_identify_columns_always(r, i);
    status = gather(r, &r->band, false, &f, error);
    if (status || r->stopped) return status;
    bool ok =
        psdmp_identify_reweight(r, &f) && psdmp_identify_choose(r, &f, most, false) && psdmp_identify_reweight(r, &f);
    if (ok && pass > 0) ok = psdmp_identify_choose(r, &f, most, false) && psdmp_identify_reweight(r, &f);
    if (!ok) status = not_done(r, error);
    if (!status && pass == 0) {
      double *theta = psdmp_base_arena_alloc(&r->arena, (size_t)r->l * sizeof *theta);
      status = theta ? fit_theta(r, &f, theta, error) : psdmp_base_no_memory("", error);
      if (!status) r->theta_load = theta;
    }
    if (!status && (pass > 0 || r->options->plain_friction) && !choose_rest(r, &f)) status = not_done(r, error);
    psdmp_identify_factors_free(r, &f);
    if (r->options->plain_friction) break;
  }
  return status;
}

/* ---- the recipe ---- */

/* Choices are scored against the torque up to twenty times the motion's mean frequency: a rigid robot with friction
 * lies below, noise and resonance above. */
static psdm_status set_width(psdmp_identify_run *r, psdm_error *error) {
  double rate = 1 / r->interval;
  r->band = (psdmp_identify_band){
      .kinematics = psdmp_feed_has_rates(r->feed) ? PSDM_KINEMATICS_VELOCITY : PSDM_KINEMATICS_POSITION,
      .cutoff = fmin(20, 0.3 * rate),
      .delay = r->options->delay_given ? r->options->delay : 0,
      .wide = INFINITY};
  psdm_status status = psdmp_identify_run_ranges(r, &r->band, error);
  if (status) return status;
  double width = fmax(20 * r->tempo, cutoffs[0]);
  if (r->options->cutoff > 0) width = fmax(width, r->options->cutoff);
  r->band.wide = width < 0.4 * rate ? width : INFINITY;
  return PSDM_OK;
}

/* a joint without any torque was not measured: its error could not serve as a weight */
static psdm_status check_torques(const psdmp_identify_run *r, psdm_error *error) {
  for (int i = 0; i < r->n; i++) {
    double squares = 0;
    for (int k = 0; k < psdmp_feed_files(r->feed); k++) squares += psdmp_feed_joints(r->feed, k)[i].squares;
    if (!(squares > 0))
      return psdmp_base_fail(error, PSDM_E_PARSE, psdmp_feed_name(r->feed, 0), 0, 0,
                             "tau%d is zero in every row; a measured torque was expected", i + 1);
  }
  return PSDM_OK;
}

static psdm_status begin(psdmp_identify_run *r, psdm_error *error) {
  psdm_status status = set_model(r, error);
  if (status) return status;
  if (!psdmp_identify_run_transmission(r, &r->arena) || !allocate(r)) return psdmp_base_no_memory("", error);
  status = set_reach(r, error);
  if (status) return status;
  if (r->options->checkpoint)
    status = psdmp_feed_checkpoint_new(r->robot, r->options, r->allocator, &r->checkpoint, error);
  if (!status) status = psdmp_feed_new(r->robot, r->options, r->checkpoint, r->allocator, &r->feed, error);
  if (status || psdmp_parallel_team_member(r->options->ranks)) return status;
  status = psdmp_feed_read(r->feed, error);
  if (status) return status;
  r->interval = psdmp_feed_interval(r->feed);
  r->rows = psdmp_feed_rows(r->feed);
  if ((status = check_torques(r, error))) return status;
  r->lambda = r->options->lambda > 0 ? r->options->lambda : 10;
  r->still = r->options->rest > 0 ? r->options->rest : 0.01;
  r->rest = r->options->rest < 0 ? 0 : r->still;
  return set_width(r, error);
}

static psdm_status choose_all(psdmp_identify_run *r, psdm_error *error) {
  psdm_status status = choose_band(r, true, error);
  if (!status && !r->stopped) status = choose_delay(r, true, error);
  if (!status && !r->prior_known) { /* stopped before any result */
    r->finishing = true;
    r->stopped = false;
    score_of(r, &r->band, true, &status, error);
    r->stopped = true;
  }
  if (!status) status = choose_friction(r, error);
  if (status || r->stopped || r->options->plain_friction) return status;
  psdmp_identify_band before = r->band; /* once more, now that friction is known */
  status = choose_band(r, false, error);
  if (!status && !r->stopped) status = choose_delay(r, false, error);
  bool same =
      before.kinematics == r->band.kinematics && before.cutoff == r->band.cutoff && before.delay == r->band.delay;
  return status || same || r->stopped ? status : choose_friction(r, error);
}

static void say_why(psdmp_identify_run *r) {
  char cutoff[32] = "no filter";
  if (isfinite(r->band.cutoff)) psdmp_base_print(cutoff, sizeof cutoff, "%g Hz", r->band.cutoff);
  if (r->options->cutoff > 0) because(r, "filter: %s, as requested", cutoff);
  else
    because(r, "filter: %s, the lowest that explains the torque within 0.5 %% of the best, derivatives from %s", cutoff,
            psdm_kinematics_name(r->band.kinematics));
  if (r->options->decimate > 1)
    because(
        r,
        "decimation: regressor, friction and torque of all rows by one low pass, then every %d-th, %g Hz, as requested",
        r->options->decimate, 1 / r->interval / r->options->decimate);
  if (r->options->springs)
    because(r, "springs: x, and sin x, cos x of joints that turn, are columns of every drive, as requested");
  if (r->options->rest == 0)
    because(r, "rest: rows slower than %g %% of a joint's speed are %s", 100 * r->still,
            r->rest > 0 ? "not fitted" : "fitted too: the motion is predicted better by over 0.5 %");
  if (r->band.delay != 0 && !r->options->delay_given)
    because(r, "delay: torques are %g ms late; cross-validated error falls by over 1 %% when they are moved",
            1e3 * r->band.delay);
}

/* ranks other than 0 have no result: they work for rank 0. If they cannot start, they answer every request with that
 * error */
static psdm_status help(psdmp_identify_run *r, psdm_error *error) {
  psdm_error own = {0};
  psdm_status status = begin(r, &own);
  if (!status) return psdmp_identify_serve(r, error);
  psdmp_parallel_team_refuse(r->options->ranks, &own);
  if (error) *error = own;
  return status;
}

static psdm_status work_through(psdmp_identify_run *r, psdm_calibration **out, psdm_error *error) {
  double started = psdmp_base_clock();
  psdm_status status = begin(r, error);
  if (!status) status = choose_all(r, error);
  if (!status) say_why(r);
  if (!status) status = psdmp_identify_result_make(r, out, error);
  if (!status) (*out)->seconds = psdmp_base_clock() - started;
  return status;
}

psdm_status psdm_calibrate(const psdm_robot *robot, const psdm_calibrate_options *options,
                           const psdm_allocator *allocator, psdm_calibration **out, psdm_error *error) {
  *out = NULL;
  psdm_status status = check(robot, options, error);
  if (status) return status;
  bool helps = psdmp_parallel_team_member(options->ranks);
  psdmp_identify_run *r = psdmp_base_alloc(allocator, sizeof *r);
  if (!r) return psdmp_parallel_team_unable(options->ranks, error);
  *r = (psdmp_identify_run){.robot = robot,
                            .options = options,
                            .allocator = allocator,
                            .arena = {.allocator = allocator},
                            .n = psdm_robot_n(robot),
                            .doing = "reading"};
  r->reason = psdmp_base_arena_alloc(&r->arena, 8 * sizeof *r->reason);
  psdm_calibrate_options *own = psdmp_base_arena_alloc(&r->arena, sizeof *own); /* predictions come back to them */
  if (!r->reason || !own || psdmp_linalg_blas_room(NULL)) {
    psdmp_identify_run_free(r);
    return psdmp_parallel_team_unable(options->ranks, error);
  }
  *own = *options;
  r->options = own;
  psdmp_linalg_blas_alone();
  status = helps ? help(r, error) : work_through(r, out, error);
  psdmp_linalg_blas_back();
  if (!helps && psdmp_parallel_team_size(options->ranks) > 1) psdmp_parallel_team_dismiss(options->ranks);
  if (!*out) psdmp_identify_run_free(r);
  return status;
}
