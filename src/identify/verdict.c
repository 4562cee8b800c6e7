/* verdict.c: judges a result, by rules that need no option. Each one not met is a finding: the verdict it leads to,
 * what was found and where, what was expected, and the likely cause. docs/calibrate.md has the rules with their
 * numbers. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "identify/evaluate_priv.h"
#include "log/log.h"
#include "robot/robot.h"

static const char *const names[] = {PSDM_VERDICT_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_verdict_name(psdm_verdict v) { return psdmp_base_word(names, PSDM_VERDICTS, (int)v); }

bool psdm_verdict_find(const char *name, psdm_verdict *verdict) {
  int k = psdmp_base_word_find(names, PSDM_VERDICTS, name);
  return k >= 0 && (*verdict = (psdm_verdict)k, true);
}

/* Three bounds: each one exceeded lowers the verdict by one step. */
typedef struct bounds {
  double usable, poor, useless;
} bounds;

static psdm_verdict by_bounds(bounds b, double x) {
  return !(x <= b.useless) ? PSDM_VERDICT_USELESS
         : x > b.poor      ? PSDM_VERDICT_POOR
         : x > b.usable    ? PSDM_VERDICT_USABLE
                           : PSDM_VERDICT_GOOD;
}

static const bounds of_error = {0.10, 0.25, 0.50}; /* |error| / |tau| */
/* error over that of a constant per joint: 0.9 explains a fifth of what varies */
static const bounds of_constant = {0.35, 0.60, 0.90};

/* ---- errors ---- */

typedef struct judged {
  double error, square, constant; /* sums of squares: unexplained, torque, torque less a constant */
  double rows;
} judged;

static judged of_joint(const psdm_joint_fit *f) {
  if (!f->rows || !(f->rmse >= 0)) return (judged){0};
  /* of a constant's; a fit to the last digits rounds to 0 */
  double error = (double)f->rows * f->rmse * f->rmse, left = f->r2 <= 1 ? fmax(1 - f->r2, DBL_EPSILON / 2) : 1;
  return (judged){error, f->rel > 0 ? error / (f->rel * f->rel) : error, error / left, (double)f->rows};
}

static judged together(int n, const judged *each) {
  judged sum = {0};
  for (int i = 0; i < n; i++)
    sum.error += each[i].error, sum.square += each[i].square, sum.constant += each[i].constant;
  return sum;
}

static double share(double a, double b) { return b > 0 ? sqrt(a / b) : a > 0 ? INFINITY : 0; }

/* the two rules for the whole robot; which: 0 error, 1 no-model */
static psdm_verdict judge_whole(const judged *sum, int *which) {
  psdm_verdict error = by_bounds(of_error, share(sum->error, sum->square)),
               constant = by_bounds(of_constant, share(sum->error, sum->constant));
  *which = constant > error;
  return constant > error ? constant : error;
}

static void say_whole(const judged *sum, int which, const char *of, psdm_verdict verdict, psdm_finding *f) {
  double rel = 100 * share(sum->error, sum->square), mean = 100 * share(sum->error, sum->constant);
  *f = (psdm_finding){.verdict = verdict, .rule = which ? "no-model" : "error"};
  if (which)
    psdmp_base_print(
        f->text, sizeof f->text,
        "%s: the error is %.3g %% of what a constant torque per joint would leave; at most %.0f %% was expected", of,
        mean, 100 * of_constant.usable);
  else
    psdmp_base_print(f->text, sizeof f->text,
                     "%s: error of %.3g %% of the torque; at most %.0f %% was expected (a constant torque per joint "
                     "would leave %.0f %%)",
                     of, rel, 100 * of_error.usable, 100 * share(sum->constant, sum->square));
}

psdm_verdict psdm_verdict_of_fit(int n, const psdm_joint_fit *joint, psdm_finding *finding) {
  judged each, sum = {0};
  int which;
  for (int i = 0; i < n; i++) each = of_joint(&joint[i]), sum = together(2, (judged[]){sum, each});
  psdm_verdict verdict = judge_whole(&sum, &which);
  if (verdict && finding) say_whole(&sum, which, "rows in motion", verdict, finding);
  return verdict;
}

/* ---- findings ---- */

typedef struct judge {
  psdmp_identify_calibration *a;
  psdm_calibration *out;
  psdmp_identify_run *run;
  const char *of; /* a name for the rows of the errors */
  judged joint[PSDM_CALIBRATE_JOINTS], sum;
} judge;

PSDM_PRINTF(4, 5) static void find(judge *j, psdm_verdict verdict, const char *rule, const char *format, ...) {
  psdmp_identify_calibration *a = j->a;
  va_list args;
  if (a->findings == (int)(sizeof a->finding / sizeof *a->finding)) return;
  psdm_finding *f = &a->finding[a->findings++];
  *f = (psdm_finding){.verdict = verdict, .rule = rule};
  va_start(args, format);
  psdmp_base_vprint(f->text, sizeof f->text, format, args);
  va_end(args);
}

/* moves too little to identify anything but its load */
static bool is_still(const judge *j, int i) {
  return !(j->run->span[i] > 0.01) || !j->out->train[PSDM_FIT_MOVING].joint[i].rows;
}

static const char *name_of(const judge *j, int i) { return psdmp_robot_joint_of(j->run->robot, i)->name; }
static const char *log_of(const judge *j, double file) { return psdmp_feed_name(j->run->feed, (int)file); }

/* the worst first; equal ones keep their order */
static void sort(psdmp_identify_calibration *a) {
  for (int i = 1; i < a->findings; i++)
    for (int k = i; k > 0 && a->finding[k].verdict > a->finding[k - 1].verdict; k--) {
      psdm_finding f = a->finding[k];
      a->finding[k] = a->finding[k - 1];
      a->finding[k - 1] = f;
    }
}

/* ---- rules on errors ---- */

static void set_judged(judge *j) {
  psdm_calibration *c = j->out;
  const psdm_part_fit *held = &c->heldout[PSDM_FIT_MOVING];
  double own = 0, plain = 0, square = 0;
  c->judged_heldout = held->rows > 0;
  j->of = c->judged_heldout ? "held-out rows" : "parts of the log, each predicted by a fit to the others";
  for (int i = 0; i < j->run->n; i++) {
    const psdmp_identify_folds *f = &j->a->cross[i];
    j->joint[i] = c->judged_heldout ? of_joint(&held->joint[i]) : (judged){f->own, f->square, f->constant, f->count};
    own += f->own, plain += f->plain, square += f->square;
  }
  j->sum = together(j->run->n, j->joint);
  c->judged_rel = share(j->sum.error, j->sum.square);
  c->no_model = share(j->sum.constant, j->sum.square);
  c->cross_rel = share(own, square);
  c->plain = share(plain, square);
}

/* where most of the error is, unless it is everywhere */
static void find_place(judge *j) {
  const psdmp_identify_error_place *worst = NULL;
  double error = 0, square = 0;
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    const psdmp_identify_error_place *p = &j->a->place[b];
    error += p->error, square += p->square;
    if (p->square > 0 && (!worst || p->error / p->square > worst->error / worst->square)) worst = p;
  }
  if (!worst || !(square > worst->square)) return;
  double here = share(worst->error, worst->square), elsewhere = share(error - worst->error, square - worst->square);
  if (here > 4 * elsewhere && here > 0.2)
    find(j, here > 0.5 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "place",
         "%s, t = %.4g to %.4g: error of %.0f %%, elsewhere %.1f %%: look at these rows", log_of(j, worst->file),
         worst->from, worst->to, 100 * here, 100 * elsewhere);
}

static void judge_error(judge *j) {
  int which;
  psdm_verdict verdict = judge_whole(&j->sum, &which);
  psdm_finding f;
  if (!verdict) return;
  say_whole(&j->sum, which, j->of, verdict, &f);
  find(j, verdict, f.rule, "%s", f.text);
}

/* second differences of the logged torque give its noise: an error of that size is not the model's */
static double noise_of(const judge *j, int i) {
  double sum = 0, count = 0;
  for (int k = 0; k < psdmp_feed_files(j->run->feed); k++) {
    const psdmp_feed_joint_facts *f = &psdmp_feed_joints(j->run->feed, k)[i];
    sum += f->noise, count += f->noises;
  }
  return count > 0 ? sqrt(sum / count / 6) : 0;
}

/* energies between moments say less than torques: what plain least squares explains is no fault of the log */
static bool plain_explains(const judge *j, int i, double rel) {
  const psdmp_identify_folds *f = &j->a->cross[i];
  return j->out->estimator == PSDM_ESTIMATOR_ENERGY && share(f->plain, f->square) < rel / 4;
}

static void judge_joint(judge *j, int i) {
  double rel = share(j->joint[i].error, j->joint[i].square), gap = share(j->joint[i].error, j->joint[i].constant);
  if (!(j->joint[i].square > 0) || rel <= 0.3 || gap <= 0.5 || is_still(j, i)) return;
  if (j->joint[i].error <= 1.7 * j->joint[i].rows * noise_of(j, i) * noise_of(j, i))
    find(j, PSDM_VERDICT_USABLE, "joint",
         "joint %s: error of %.0f %% of its torque, no more than its noise: this log says little about it",
         name_of(j, i), 100 * rel);
  else if (plain_explains(j, i, rel))
    find(j, rel > 0.6 && gap > 0.8 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "joint",
         "joint %s: error of %.0f %% of its torque; with plain least squares it is %.3g %%: energies determine too "
         "little in this log, try `estimator = consistent`",
         name_of(j, i), 100 * rel, 100 * share(j->a->cross[i].plain, j->a->cross[i].square));
  else
    find(j, rel > 0.6 && gap > 0.8 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "joint",
         "joint %s: error of %.0f %% of its torque; with a constant torque it would be %.0f %%: sign, unit or channel "
         "of q%d or "
         "tau%d?",
         name_of(j, i), 100 * rel, 100 * share(j->joint[i].constant, j->joint[i].square), i + 1, i + 1);
}

/* plain least squares may be as good, but not better */
static void judge_plain(judge *j) {
  const psdm_calibration *c = j->out;
  double ratio = c->cross_rel / c->plain;
  bool impossible = c->pi && c->cost_ratio > 4; /* of squares; right logs have up to 3 */
  if (ratio > 1.1 && c->cross_rel > 0.01)
    find(j, impossible && ratio > 2 && c->cross_rel > 0.05 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "plain",
         "parts of the log, each predicted by a fit to the others: error of %.3g %%; with plain least squares it is "
         "%.3g %%: %s",
         100 * c->cross_rel, 100 * c->plain,
         impossible ? "no possible bodies explain the torques as well: kinematics, gravity, units or signs may be wrong"
                    : "other motions may be predicted better with `estimator = ols` `plain_friction`");
  for (int i = 0; i < j->run->n && ratio <= 1.1; i++) {
    const psdmp_identify_folds *f = &j->a->cross[i];
    double own = share(f->own, f->square), plain = share(f->plain, f->square);
    if (own > 1.25 * plain && own > 0.05)
      find(j, PSDM_VERDICT_USABLE, "plain", "joint %s: error of %.1f %%; with plain least squares it is %.1f %%",
           name_of(j, i), 100 * own, 100 * plain);
  }
}

/* several logs: one that the others do not explain */
static void judge_logs(judge *j) {
  const double *file = j->a->file;
  int files = psdmp_feed_files(j->run->feed);
  for (int k = 0; k < files && files > 1; k++) {
    double error = 0, square = 0, own = share(file[2 * k], file[2 * k + 1]);
    for (int i = 0; i < files; i++)
      if (i != k) error += file[2 * i], square += file[2 * i + 1];
    double others = share(error, square);
    if (own > 0.2 && (own > 2 * others || own > 0.5))
      find(j, own > 0.5 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "log",
           "%s: error of %.0f %%, the other logs %.0f %%: are its units, signs and channels theirs?", log_of(j, k),
           100 * own, 100 * others);
  }
}

static void judge_outliers(judge *j) {
  const psdm_calibration *c = j->out;
  for (int i = 0; i < j->run->n; i++) {
    const psdmp_identify_worst *w = &j->a->worst[i];
    const psdm_joint_fit *raw = &c->train[PSDM_FIT_RAW].joint[i];
    double usual = fmax(raw->rmse, noise_of(j, i));
    if (fabs(w->error) > 15 * usual && fabs(w->error) > 0.5 * raw->rmse / fmax(raw->rel, 1e-9))
      find(j, PSDM_VERDICT_USABLE, "outlier",
           "%s, t = %.6g: tau%d is %.4g, off by %.4g, %.0f times the usual error: an outlier", log_of(j, w->file), w->t,
           i + 1, w->tau, w->error, fabs(w->error) / usual);
  }
}

/* ---- rules on the log ---- */

static void judge_faults(judge *j) {
  const psdm_calibration *c = j->out;
  double lost = (double)(c->faults[PSDM_FAULT_GARBAGE] + c->faults[PSDM_FAULT_SHORT] + c->faults[PSDM_FAULT_NAN] +
                         c->faults[PSDM_FAULT_REPEATED]);
  double all = lost + (double)c->rows, spikes = (double)c->faults[PSDM_FAULT_SPIKE];
  if (lost > 0.05 * all)
    find(j, lost > 0.5 * all ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "rows",
         "%.0f of %.0f rows could not be used: %s", lost, all, psdmp_feed_fault(j->run->feed, 0));
  for (int k = 0; spikes > 0; k++) {
    const char *text = psdmp_feed_fault(j->run->feed, k);
    if (!text) break;
    if (!strstr(text, " around it")) continue;
    find(j, spikes > 0.02 * all ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "spikes",
         "%.0f values are spikes, and were not fitted; the first: %s", spikes, text);
    break;
  }
  long stuck = c->faults[PSDM_FAULT_FROZEN] + c->faults[PSDM_FAULT_SATURATED];
  for (int k = 0; stuck > 0; k++) {
    const char *text = psdmp_feed_fault(j->run->feed, k);
    if (!text) break;
    if (!strstr(text, " stays at ")) continue;
    find(j, PSDM_VERDICT_USABLE, "sensor",
         "%ld stretches with a frozen or saturated channel were not fitted; the first: %s", stuck, text);
    break;
  }
  if (c->faults[PSDM_FAULT_BACK] > 3 || c->faults[PSDM_FAULT_BACK] * 200 > c->rows)
    find(j, c->faults[PSDM_FAULT_BACK] * 50 > c->rows ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "clock",
         "t runs back %ld times: are the rows in order?", c->faults[PSDM_FAULT_BACK]);
}

/* "looks like": numbers that would be right in another unit */
static const char *unit_of(double ratio) {
  static const struct {
    double factor;
    const char *text;
  } known[] = {{57.29577951308232, "degrees instead of radians (`degrees`)"},
               {1000, "thousandths (mNm, ms) instead of units"},
               {1e-3, "thousands (kNm, ks) instead of units"},
               {-1, "the opposite sign (sign)"},
               {1 / 57.29577951308232, "radians read as degrees"},
               {1e6, "millionths instead of units"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (ratio / known[k].factor > 0.7 && ratio / known[k].factor < 1.4) return known[k].text;
  return "another unit, sign or channel";
}

static void judge_positions(judge *j, int file, int i) {
  const psdmp_feed_joint_facts *f = &psdmp_feed_joints(j->run->feed, file)[i];
  const psdm_joint *joint = psdmp_robot_joint_of(j->run->robot, i);
  const psdm_limits *l = &joint->limits;
  double most = fmax(fabs(f->q_low), fabs(f->q_high)), bound = fmax(fabs(l->lower), fabs(l->upper));
  bool turns = joint->type == PSDM_REVOLUTE, degrees = turns && most > 20 && f->q_high - f->q_low > 12;
  if (f->outside > 0 && isfinite(bound))
    find(j, most > 3 * bound ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "position",
         "%s, line %.0f: q%d of joint %s leaves its limits: %.4g to %.4g against %.4g to %.4g%s", log_of(j, file),
         f->outside_line, i + 1, joint->name, f->q_low, f->q_high, l->lower, l->upper,
         degrees ? ": it looks like degrees (`degrees`)" : "");
  else if (degrees)
    find(j, PSDM_VERDICT_USABLE, "position",
         "%s: q%d of joint %s goes from %.4g to %.4g rad, %.0f turns: it looks like degrees (`degrees`)",
         log_of(j, file), i + 1, joint->name, f->q_low, f->q_high, (f->q_high - f->q_low) / 6.283185307179586);
}

static void judge_efforts(judge *j, int file, int i) {
  const psdmp_feed_joint_facts *f = &psdmp_feed_joints(j->run->feed, file)[i];
  const psdm_joint *joint = psdmp_robot_joint_of(j->run->robot, i);
  double effort = joint->limits.effort;
  if (f->beyond > 0)
    find(j, f->beyond > 0.02 * f->rows && f->peak > 2 * effort ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "effort",
         "%s, line %.0f: tau%d of joint %s reaches %.4g; the file's limit is %.4g (%.0f rows above it)%s",
         log_of(j, file), f->beyond_line, i + 1, joint->name, f->peak, effort, f->beyond,
         f->peak > 100 * effort ? ": mNm?" : "");
  if (f->fast > 1.5 * joint->limits.velocity)
    find(j, f->fast > 5 * joint->limits.velocity ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "velocity",
         "%s, line %.0f: joint %s moves at %.4g per second by q%d; the file's limit is %.4g%s", log_of(j, file),
         f->fast_line, joint->name, f->fast, i + 1, joint->limits.velocity,
         f->fast > 30 * joint->limits.velocity ? ": degrees, or a clock that is off?" : "");
}

/* all joints far below their limits: amperes, kNm */
static void judge_weak(judge *j) {
  const psdmp_identify_run *r = j->run;
  double most = 0;
  for (int i = 0; i < r->n; i++) {
    double peak = 0, effort = psdmp_robot_joint_of(r->robot, i)->limits.effort;
    for (int k = 0; k < psdmp_feed_files(r->feed); k++) peak = fmax(peak, psdmp_feed_joints(r->feed, k)[i].peak);
    if (!isfinite(effort) || !(effort > 0)) return;
    most = fmax(most, peak / effort);
  }
  if (most < 0.005)
    find(j, PSDM_VERDICT_USABLE, "effort", "no torque exceeds %.2g %% of its joint's effort limit: kNm, or currents?",
         100 * most);
}

/* qd must be the rate of q */
static void judge_rates(judge *j, int file, int i) {
  const psdmp_feed_joint_facts *f = &psdmp_feed_joints(j->run->feed, file)[i];
  if (!(f->way2 > 0) || !(f->integral2 > 0)) return;
  double slope = f->both / f->way2, alike = f->both / sqrt(f->way2 * f->integral2);
  if (f->q_high - f->q_low < 0.02 || (alike > 0.8 && slope > 0.8 && slope < 1.25)) return;
  bool used = j->run->band.kinematics != PSDM_KINEMATICS_POSITION;
  if (fabs(alike) < 0.8)
    find(j, fabs(alike) < 0.5 || used ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "rates",
         "%s: qd%d is not the rate of q%d of joint %s (correlation %.2f): wrong columns?", log_of(j, file), i + 1,
         i + 1, name_of(j, i), alike);
  else
    find(j, !used && slope > 30 && slope < 90 ? PSDM_VERDICT_USABLE : PSDM_VERDICT_POOR, "rates",
         "%s: qd%d is %.4g times the rate of q%d of joint %s: %s", log_of(j, file), i + 1, slope, i + 1, name_of(j, i),
         unit_of(slope));
}

/* a clock that no controller has */
static void judge_clock(judge *j) {
  double interval = j->run->interval;
  if (interval >= 0.5)
    find(j, PSDM_VERDICT_POOR, "clock", "rows are %.4g s apart; motion needs at least ten a second%s", interval,
         interval >= 1 ? ": t looks like milliseconds" : "");
  if (interval < 1e-5) find(j, PSDM_VERDICT_POOR, "clock", "rows are %.4g s apart: t is not in seconds", interval);
}

/* ---- rules on the identified numbers ---- */

static double longest_way(const judge *j) {
  double way = 0;
  for (int k = 0; k < psdmp_feed_files(j->run->feed); k++)
    for (int i = 0; i < j->run->n; i++) {
      const psdmp_feed_joint_facts *f = &psdmp_feed_joints(j->run->feed, k)[i];
      if (psdmp_robot_joint_of(j->run->robot, i)->type == PSDM_PRISMATIC) way = fmax(way, f->q_high - f->q_low);
    }
  return way;
}

/* Robots weigh 5 (large and light) to 400 (small and stout) kg per cubic metre of reach: hobby arms, cobots, SCARAs,
 * foundry robots, excavators. Arms of textbooks, a metre and a kilogram each link, have 0.1 to 1. */
static const double lightest = 1, heaviest = 3000;

/* direction of first moments relative to the prior's: 1 the same, negative behind the joints */
static double moments_alike(const judge *j) {
  const psdm_calibration *c = j->out;
  double both = 0, square = 0;
  for (int k = 0; c->pi && c->prior && k < j->run->links; k++)
    for (int i = 1; i <= 3; i++)
      both += c->pi[10 * k + i] * c->prior[10 * k + i], square += c->prior[10 * k + i] * c->prior[10 * k + i];
  return both / square; /* without a prior NAN, which is not behind anything */
}

static void judge_mass(judge *j) {
  const psdmp_identify_run *r = j->run;
  double reach = fmax(psdmp_identify_prior_reach(r->robot), longest_way(j)), cube = reach * reach * reach,
         mass = r->prior_mass;
  bool behind = moments_alike(j) < -0.1;
  if (r->prior_scale < 0)
    find(j, behind ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "mass",
         "the torques imply a negative mass%s: all torques, or gravity, may have the wrong sign",
         behind ? ", or centres of mass behind their joints" : "");
  /* the file's inertias may be unphysical and no prior; its masses are used in any case */
  bool known = psdm_robot_ready(r->robot, NULL) == PSDM_OK;
  double own = 0;
  for (int k = 0; k < r->links; k++)
    own += known && r->prior_kinematics ? psdmp_robot_parameter(r->robot, 10 * k) : r->prior[10 * k];
  /* nothing to compare with */
  double times = !r->prior_kinematics ? r->prior_scale : known && own > 0 ? mass / own : NAN;
  if (!r->options->prior && times > 0 && (times > 3 || times < 1.0 / 3))
    find(j, times > 10 || times < 0.1 ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "mass",
         "the torques are those of a robot %.3g times as heavy as the file's (%.4g kg): %s", times, own,
         unit_of(times));
  /* masses in the file are more reliable */
  if (!(reach > 0) || !(mass > 0) || r->prior_scale < 0 || !r->prior_kinematics || (known && own > 0)) return;
  if (mass > heaviest * cube)
    find(j, PSDM_VERDICT_POOR, "mass",
         "the torques imply a robot of %.4g kg with a reach of %.3g m; at most %.3g kg were expected: torques in mNm?",
         mass, reach, heaviest * cube);
  if (mass < lightest * cube)
    find(j, mass < 0.1 * lightest * cube ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE, "mass",
         "the torques imply a robot of %.3g kg with a reach of %.3g m; at least %.3g kg were expected: torques in "
         "kNm, or currents?",
         mass, reach, lightest * cube);
}

/* a moving mass at the end of the reach has less inertia than this; a clock off by a factor k gives inertias off by k^2
   */
static void judge_inertia(judge *j) {
  const psdmp_identify_run *r = j->run;
  const psdm_calibration *c = j->out;
  double reach = fmax(psdmp_identify_prior_reach(r->robot), longest_way(j)), mass = 0, most = 0;
  for (int i = 0; i < r->n; i++)
    if (is_still(j, i)) return; /* its drive's inertia can be anything */
  for (int k = 0; c->pi && k < r->links; k++) mass += c->pi[10 * k];
  for (int i = 0; c->pi && i < r->links; i++)
    most = fmax(most, c->pi[10 * i + 4] + c->pi[10 * i + 7] + c->pi[10 * i + 9]);
  for (int d = 10 * r->links; c->pi && d < r->S; d++) most = fmax(most, c->pi[d]);
  if (mass > 0 && reach > 0 && most > 20 * mass * reach * reach)
    find(j, PSDM_VERDICT_POOR, "inertia",
         "an inertia of %.4g kg m^2 was found; %.4g kg within a reach of %.3g m have at most %.3g: is t in seconds?",
         most, mass, reach, 20 * mass * reach * reach);
}

/* friction's odd part at a speed, at rest before and with the mean load */
static double odd_friction(const psdm_calibration *c, int i, double v) {
  double sum = 0;
  for (int k = 0; k < c->columns[i]; k++) {
    const psdmp_parameters_column column = {c->column[i][k].kind, c->column[i][k].width, c->column[i][k].load};
    sum += c->column[i][k].gain *
           (psdmp_parameters_column_steady(&column, v, c->load[i]) -
            psdmp_parameters_column_steady(&column, -v, c->load[i])) /
           2;
  }
  return sum;
}

static void judge_friction(judge *j, int i) {
  const psdm_calibration *c = j->out;
  double least = 0, at = 0,
         torque = c->train[PSDM_FIT_MOVING].joint[i].rmse / fmax(c->train[PSDM_FIT_MOVING].joint[i].rel, 1e-9);
  for (int k = 1; k <= 20; k++) {
    double v = k * c->speed[i] / 20, f = odd_friction(c, i, v);
    if (f < least) least = f, at = v;
  }
  if (-least > 0.05 * torque && -least > 2 * c->sigma[i])
    find(j, -least > 0.15 * torque && c->judged_rel > of_error.usable ? PSDM_VERDICT_POOR : PSDM_VERDICT_USABLE,
         "friction",
         "joint %s: friction drives at %.3g per second, by %.3g Nm (torque: %.3g Nm): sign of tau%d, or too little "
         "motion",
         name_of(j, i), at, -least, torque, i + 1);
}

/* ---- rules on the excitation ---- */

static void judge_coverage(judge *j) {
  const psdmp_identify_run *r = j->run;
  const psdm_calibration *c = j->out;
  int prior = 0, columns = 0, still = 0;
  double seconds = (double)c->rows * r->interval;
  for (int k = 0; k < c->base; k++) prior += c->theta[k].prior_share > 0.5;
  for (int i = 0; i < r->n; i++) {
    columns += c->columns[i];
    if (!is_still(j, i)) continue;
    still++;
    find(j, PSDM_VERDICT_USABLE, "motion",
         "joint %s hardly moves (%.2g over the whole log): its friction and inertia cannot be known", name_of(j, i),
         r->span[i]);
  }
  if (2 * still > r->n) find(j, PSDM_VERDICT_POOR, "motion", "%d of %d joints hardly move", still, r->n);
  if (c->used * r->n < 5 * (c->base + columns))
    find(j, PSDM_VERDICT_POOR, "rows",
         "%ld rows of %d joints for %d parameters: at least five equations for each were expected", c->used, r->n,
         c->base + columns);
  else if (seconds < 2)
    find(j, PSDM_VERDICT_USABLE, "rows", "the log has %.2g s; a motion that shows all parameters takes 5 s at least",
         seconds);
  if (c->pi && 2 * prior > c->base)
    find(j, PSDM_VERDICT_USABLE, "prior",
         "%d of %d base parameters are mostly the prior's: the motion says little about them (psdm excite finds one "
         "that does)",
         prior, c->base);
}

static void judge_choices(judge *j) {
  const psdmp_identify_run *r = j->run;
  if (j->out->stopped)
    find(j, PSDM_VERDICT_USABLE, "stopped",
         "the run was interrupted: choices that were not reached keep their defaults");
  if (r->delay_end)
    find(j, PSDM_VERDICT_POOR, "delay",
         "torques are %.0f ms late or more, the longest delay that was tried: are torques and positions of the same "
         "log and clock?",
         1e3 * r->band.delay);
  else if (fabs(r->band.delay) > 0.02 && !r->options->delay_given)
    find(j, PSDM_VERDICT_USABLE, "delay",
         "torques are %.0f ms late, more than a control loop has; it was taken into account", 1e3 * r->band.delay);
}

void psdmp_identify_verdict(psdmp_identify_calibration *a, psdm_calibration *out) {
  judge j = {.a = a, .out = out, .run = a->run};
  a->findings = 0;
  set_judged(&j);
  judge_error(&j);
  for (int i = 0; i < a->run->n; i++) judge_joint(&j, i);
  judge_plain(&j);
  judge_logs(&j);
  find_place(&j);
  judge_mass(&j);
  judge_inertia(&j);
  judge_clock(&j);
  for (int k = 0; k < psdmp_feed_files(a->run->feed); k++)
    for (int i = 0; i < a->run->n; i++) judge_positions(&j, k, i), judge_rates(&j, k, i), judge_efforts(&j, k, i);
  judge_weak(&j);
  judge_faults(&j);
  judge_outliers(&j);
  for (int i = 0; i < a->run->n; i++) judge_friction(&j, i);
  judge_choices(&j);
  judge_coverage(&j);
  sort(a);
  out->verdict = a->findings ? a->finding[0].verdict : PSDM_VERDICT_GOOD;
}

const psdm_finding *psdm_calibration_finding(const psdm_calibration *c, int index) {
  return index >= 0 && index < c->internal->findings ? &c->internal->finding[index] : NULL;
}
