/* excite_check.c: names to numbers, incompatible settings, and the limits of each joint. */
#include <math.h>
#include <string.h>

#include "job/excite_priv.h"

/* ---- names ---- */

static psdm_status find_step(psdmp_job_excite *j) {
  const char *words[PSDM_STEPS];
  for (int k = 0; k < PSDM_STEPS; k++) words[k] = psdm_step_name((psdm_step)k);
  return psdm_step_find(j->set.experiment, &j->options.step)
             ? PSDM_OK
             : psdmp_job_unknown(&j->job, "for", j->set.experiment, words, PSDM_STEPS);
}

static psdm_status find_word(psdmp_job_excite *j, const char *setting, const char *text, const char *const words[2],
                             int *found) {
  for (*found = 0; *found < 2; ++*found)
    if (strcmp(words[*found], text) == 0) return PSDM_OK;
  return psdmp_job_unknown(&j->job, setting, text, words, 2);
}

static psdm_status find_shape(psdmp_job_excite *j) {
  static const char *const shapes[] = {"fourier", "sines"}, *const goals[] = {"condition", "logdet"};
  int shape = 0, goal = 0;
  psdm_status status = find_word(j, "shape", j->set.shape, shapes, &shape);
  if (!status) status = find_word(j, "goal", j->set.goal, goals, &goal);
  j->options.shape = shape ? PSDM_EXCITE_SINES : PSDM_EXCITE_FOURIER;
  j->options.goal = goal ? PSDM_EXCITE_LOGDET : PSDM_EXCITE_CONDITION;
  return status;
}

/* ---- what needs what ---- */

#define BIT(step) (1u << PSDM_STEP_##step)

static const psdmp_job_rule rules[] = {
    {"periods", BIT(INERTIA), "`for = inertia`"},
    {"shape", BIT(INERTIA), "`for = inertia`"},
    {"goal", BIT(INERTIA), "`for = inertia`"},
    {"harmonics", BIT(INERTIA), "`for = inertia`"},
    {"band", BIT(INERTIA), "`for = inertia`"},
    {"no_friction", BIT(INERTIA), "`for = inertia`"},
    {"assume", BIT(INERTIA), "`for = inertia`"},
    {"starts", BIT(INERTIA), "`for = inertia`"},
    {"evaluations", BIT(INERTIA), "`for = inertia`"},
    {"threads", BIT(INERTIA), "`for = inertia`"},
    {"wall", BIT(INERTIA), "`for = inertia`"},
    {"mass", BIT(MOTOR), "`for = motor`"},
    {"com", BIT(MOTOR), "`for = motor`"},
    {"speed", BIT(MOTOR) | BIT(GRAVITY) | BIT(FRICTION), "`for = motor`, gravity or friction"},
    {"levels", BIT(FRICTION), "`for = friction`"},
};

/* ---- numbers ---- */

static psdm_status check_numbers(const psdmp_job_excite *j) {
  const psdmp_job_excite_settings *s = &j->set;
  const struct {
    const char *name;
    double value, least, most;
    bool whole;
  } rows[] = {{"seconds", s->seconds, 0, 1e5, false},
              {"rate", s->rate, 1, 1e5, false},
              {"periods", s->periods, 1, 1000, true},
              {"harmonics", s->harmonics, 0, 100, true},
              {"band", s->band, 0, 1000, false},
              {"starts", s->starts, 0, 1000, true},
              {"evaluations", s->evaluations, 0, 1e9, true},
              {"threads", s->threads, 0, 1024, true},
              {"wall", s->wall, 0, 1e9, false},
              {"seed", s->seed, 0, 9007199254740992.0, true},
              {"margin", s->margin, 0, 0.9, false},
              {"clearance", s->clearance, 0, 10, false},
              {"mass", s->mass, 1e-3, 1e4, false},
              {"speed", s->speed, 0, 1, false},
              {"levels", s->levels, 0, 1000, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool in = rows[i].value >= rows[i].least && rows[i].value <= rows[i].most;
    if (!in || (rows[i].whole && rows[i].value != floor(rows[i].value)))
      return psdmp_job_wrong(&j->job, "`%s`: %s from %.16g to %.16g was expected", rows[i].name,
                             rows[i].whole ? "an integer" : "a number", rows[i].least, rows[i].most);
  }
  return PSDM_OK;
}

/* 0 selects the library's defaults, and negative numbers mean 0 */
static double or_none(double value) { return value > 0 ? value : -1; }

static void take_numbers(psdmp_job_excite *j) {
  const psdmp_job_excite_settings *s = &j->set;
  psdm_excite_options *o = &j->options;
  o->seconds = s->seconds;
  o->margin = or_none(s->margin);
  o->clearance = or_none(s->clearance);
  o->seed = (uint64_t)s->seed;
  o->harmonics = (int)s->harmonics;
  o->band = s->band;
  o->no_friction = s->no_friction;
  o->starts = (int)s->starts;
  o->threads = (int)s->threads;
  o->evaluations = (long)s->evaluations;
  o->wall = s->wall;
  o->mass = s->mass;
  memcpy(o->com, s->com.value, sizeof o->com);
  o->speed = s->speed;
  o->levels = (int)s->levels;
}

psdm_status psdmp_job_excite_words(psdmp_job_excite *j) {
  psdm_status status = find_step(j);
  if (!status) status = find_shape(j);
  if (!status) status = psdmp_job_check_rules(&j->job, rules, sizeof rules / sizeof *rules, j->options.step);
  if (!status) status = check_numbers(j);
  if (!status && j->set.json && j->set.out && strcmp(j->set.out, "-") == 0)
    status = psdmp_job_wrong(&j->job, "only one of `json` and `out = -` can use standard output");
  take_numbers(j);
  return status ? status
                : psdmp_job_pieces(&j->job, "assume", j->set.assume, &j->options.assume, &j->options.assume_count);
}

/* ---- limits: from the setting, the robot, or the defaults of psdm/excite.h ---- */

static double default_limit(const psdm_joint *joint, int which) {
  static const double revolute[LIMITS] = {-2, 2, 2, 8, INFINITY}, prismatic[LIMITS] = {-0.5, 0.5, 0.5, 2, INFINITY};
  return (joint->type == PSDM_PRISMATIC ? prismatic : revolute)[which];
}

static void take_limit(psdmp_job_excite *j, int which, const double *given, double *to) {
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = psdmp_job_joint(j->job.robot, i);
    unsigned char *source = &j->source[which * j->n + i];
    double own = psdmp_job_limit(joint, which);
    *source = given ? LIMIT_OPTION : isfinite(own) ? LIMIT_FILE : which == LIMIT_EFFORT ? LIMIT_NONE : LIMIT_DEFAULT;
    to[i] = given ? given[i] : isfinite(own) ? own : default_limit(joint, which);
  }
}

/* a limit on one side only: the default's width from there */
static void widen(psdmp_job_excite *j) {
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = psdmp_job_joint(j->job.robot, i);
    double width = default_limit(joint, LIMIT_UPPER) - default_limit(joint, LIMIT_LOWER);
    bool low = j->source[LIMIT_LOWER * j->n + i] == LIMIT_DEFAULT,
         high = j->source[LIMIT_UPPER * j->n + i] == LIMIT_DEFAULT;
    if (low && !high && j->upper[i] <= j->lower[i]) j->lower[i] = j->upper[i] - width;
    if (high && !low && j->upper[i] <= j->lower[i]) j->upper[i] = j->lower[i] + width;
  }
}

static psdm_status check_limits(const psdmp_job_excite *j) {
  for (int i = 0; i < j->n; i++) {
    const char *name = psdmp_job_safe(&j->job, psdmp_job_joint(j->job.robot, i)->name);
    const double positive[] = {j->velocity[i], j->acceleration[i], j->effort[i]};
    static const char *const words[] = {"velocity", "acceleration", "effort"};
    if (!(j->upper[i] > j->lower[i]))
      return psdmp_job_wrong(&j->job, "joint '%s' cannot move between its lowest position %g and its highest %g", name,
                             j->lower[i], j->upper[i]);
    for (int k = 0; k < 3; k++)
      if (!(positive[k] > 0))
        return psdmp_job_wrong(&j->job, "joint '%s' cannot move: its largest %s is %g", name, words[k], positive[k]);
  }
  return PSDM_OK;
}

psdm_status psdmp_job_excite_limits(psdmp_job_excite *j) {
  size_t n = (size_t)j->n;
  const char *const text[LIMITS] = {j->set.lower, j->set.upper, j->set.velocity, j->set.acceleration, j->set.effort};
  static const char *const names[LIMITS] = {"lower", "upper", "velocity", "acceleration", "effort"};
  /* limits, three measures of five, and scratch */
  double *at = psdmp_job_array(&j->job, (LIMITS + 3 * LIMITS + 4) * n, sizeof *at);
  j->source = psdmp_job_array(&j->job, LIMITS * n, 1);
  if (!at || !j->source) return psdmp_job_memory(&j->job);
  double **const limit[LIMITS] = {&j->lower, &j->upper, &j->velocity, &j->acceleration, &j->effort};
  psdmp_job_excite_measure *const measure[3] = {&j->planned, &j->between, &j->read};
  j->row = at + 4 * LIMITS * n;
  for (int k = 0; k < LIMITS; k++, at += n) *limit[k] = at;
  for (int m = 0; m < 3; m++, at += LIMITS * n) {
    measure[m]->lower = at, measure[m]->upper = at + n, measure[m]->velocity = at + 2 * n,
    measure[m]->acceleration = at + 3 * n, measure[m]->effort = at + 4 * n;
  }
  for (int k = 0; k < LIMITS; k++) {
    psdm_status status = text[k] ? psdmp_job_numbers(&j->job, names[k], text[k], j->n, j->row) : PSDM_OK;
    if (status) return status;
    take_limit(j, k, text[k] ? j->row : NULL, *limit[k]);
  }
  widen(j);
  psdm_excite_options *o = &j->options;
  o->lower = j->lower, o->upper = j->upper, o->velocity = j->velocity, o->acceleration = j->acceleration,
  o->effort = j->effort;
  psdm_error unknown;
  if (j->set.effort && psdm_robot_ready(j->job.robot, &unknown))
    psdmp_job_warn(&j->job, "`effort`: torques are not checked: %.*s", (int)strcspn(unknown.text, ";"), unknown.text);
  return check_limits(j);
}
