/* cmd_excite_words.c: names to numbers, incompatible options, and the limits of each joint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_excite.h"

/* ---- names ---- */

static int unknown_word(const char *option, const char *text, const char *const *words, int count) {
  char what[64];
  snprintf(what, sizeof what, "--%s", option);
  return tool_unknown("excite", what, text, words, (size_t)count);
}

static int find_step(excite_job *j) {
  const char *words[PSDM_STEPS];
  for (int k = 0; k < PSDM_STEPS; k++) words[k] = psdm_step_name((psdm_step)k);
  return psdm_step_find(j->set.experiment, &j->options.step)
             ? -1
             : unknown_word("for", j->set.experiment, words, PSDM_STEPS);
}

static int find_word(const char *option, const char *text, const char *const words[2], int *found) {
  for (*found = 0; *found < 2; ++*found)
    if (strcmp(words[*found], text) == 0) return -1;
  return unknown_word(option, text, words, 2);
}

static int find_shape(excite_job *j) {
  static const char *const shapes[] = {"fourier", "sines"}, *const goals[] = {"condition", "logdet"};
  int shape = 0, goal = 0;
  int code = find_word("shape", j->set.shape, shapes, &shape);
  if (code < 0) code = find_word("goal", j->set.goal, goals, &goal);
  j->options.shape = shape ? PSDM_EXCITE_SINES : PSDM_EXCITE_FOURIER;
  j->options.goal = goal ? PSDM_EXCITE_LOGDET : PSDM_EXCITE_CONDITION;
  return code;
}

/* ---- compatibility of options ---- */

#define BIT(step) (1u << PSDM_STEP_##step)

static const struct rule {
  const char *option;
  unsigned steps;
  const char *words;
} rules[] = {
    {"periods", BIT(INERTIA), "--for inertia"},
    {"shape", BIT(INERTIA), "--for inertia"},
    {"goal", BIT(INERTIA), "--for inertia"},
    {"harmonics", BIT(INERTIA), "--for inertia"},
    {"band", BIT(INERTIA), "--for inertia"},
    {"no_friction", BIT(INERTIA), "--for inertia"},
    {"starts", BIT(INERTIA), "--for inertia"},
    {"evaluations", BIT(INERTIA), "--for inertia"},
    {"threads", BIT(INERTIA), "--for inertia"},
    {"wall", BIT(INERTIA), "--for inertia"},
    {"mass", BIT(MOTOR), "--for motor"},
    {"com", BIT(MOTOR), "--for motor"},
    {"speed", BIT(MOTOR) | BIT(GRAVITY) | BIT(FRICTION), "--for motor, gravity or friction"},
    {"levels", BIT(FRICTION), "--for friction"},
};

static int check_rules(const excite_job *j) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    char dashed[32];
    snprintf(dashed, sizeof dashed, "%s", rules[i].option);
    for (char *c = dashed; *c; c++)
      if (*c == '_') *c = '-';
    if (!(rules[i].steps & 1u << j->options.step) && settings_given(&excite_line, &j->set, rules[i].option))
      return tool_usage("excite", "--%s needs %s", dashed, rules[i].words);
  }
  return -1;
}

/* ---- numbers ---- */

static int check_numbers(const excite_job *j) {
  const excite_settings *s = &j->set;
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
      return tool_usage("excite", "--%s: %s from %.16g to %.16g was expected", rows[i].name,
                        rows[i].whole ? "an integer" : "a number", rows[i].least, rows[i].most);
  }
  return -1;
}

/* 0 selects the library's defaults, and negative numbers mean 0 */
static double or_none(double value) { return value > 0 ? value : -1; }

static void take_numbers(excite_job *j) {
  const excite_settings *s = &j->set;
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

int excite_words(excite_job *j) {
  int code = find_step(j);
  if (code < 0) code = find_shape(j);
  if (code < 0) code = check_rules(j);
  if (code < 0) code = check_numbers(j);
  if (code < 0 && j->set.json && j->set.out && strcmp(j->set.out, "-") == 0)
    code = tool_usage("excite", "only one of --json and --out - can use standard output");
  take_numbers(j);
  return code;
}

/* ---- limits: from the option, the robot, or the defaults of psdm/excite.h ---- */

static double file_limit(const psdm_joint *joint, int which) {
  const double value[LIMITS] = {joint->limits.lower, joint->limits.upper, joint->limits.velocity,
                                joint->limits.acceleration, joint->limits.effort};
  return value[which];
}

static double default_limit(const psdm_joint *joint, int which) {
  static const double revolute[LIMITS] = {-2, 2, 2, 8, INFINITY}, prismatic[LIMITS] = {-0.5, 0.5, 0.5, 2, INFINITY};
  return (joint->type == PSDM_PRISMATIC ? prismatic : revolute)[which];
}

static void take_limit(excite_job *j, int which, const double *given, double *to) {
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = excite_joint(j, i);
    unsigned char *source = &j->source[which * j->n + i];
    double own = file_limit(joint, which);
    *source = given ? LIMIT_OPTION : isfinite(own) ? LIMIT_FILE : which == LIMIT_EFFORT ? LIMIT_NONE : LIMIT_DEFAULT;
    to[i] = given ? given[i] : isfinite(own) ? own : default_limit(joint, which);
  }
}

/* a limit on one side only: the default's width from there */
static void widen(excite_job *j) {
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = excite_joint(j, i);
    double width = default_limit(joint, LIMIT_UPPER) - default_limit(joint, LIMIT_LOWER);
    bool low = j->source[LIMIT_LOWER * j->n + i] == LIMIT_DEFAULT,
         high = j->source[LIMIT_UPPER * j->n + i] == LIMIT_DEFAULT;
    if (low && !high && j->upper[i] <= j->lower[i]) j->lower[i] = j->upper[i] - width;
    if (high && !low && j->upper[i] <= j->lower[i]) j->upper[i] = j->lower[i] + width;
  }
}

static int check_limits(const excite_job *j) {
  for (int i = 0; i < j->n; i++) {
    const char *name = tool_safe(excite_joint(j, i)->name);
    const double positive[] = {j->velocity[i], j->acceleration[i], j->effort[i]};
    static const char *const words[] = {"velocity", "acceleration", "effort"};
    if (!(j->upper[i] > j->lower[i]))
      return tool_usage("excite", "joint '%s' cannot move between its lowest position %g and its highest %g", name,
                        j->lower[i], j->upper[i]);
    for (int k = 0; k < 3; k++)
      if (!(positive[k] > 0))
        return tool_usage("excite", "joint '%s' cannot move: its largest %s is %g", name, words[k], positive[k]);
  }
  return -1;
}

int excite_limits(excite_job *j) {
  size_t n = (size_t)j->n;
  const char *const text[LIMITS] = {j->set.lower, j->set.upper, j->set.velocity, j->set.acceleration, j->set.effort};
  static const char *const names[LIMITS] = {"lower", "upper", "velocity", "acceleration", "effort"};
  /* limits, three measures of five, and scratch */
  j->memory = calloc((LIMITS + 3 * LIMITS + 1) * n, sizeof *j->memory);
  j->source = calloc(LIMITS * n, 1);
  if (!j->memory || !j->source) return tool_no_memory("excite");
  double **const limit[LIMITS] = {&j->lower, &j->upper, &j->velocity, &j->acceleration, &j->effort};
  excite_measure *const measure[3] = {&j->planned, &j->between, &j->read};
  double *at = j->memory, *given = at + 4 * LIMITS * n;
  for (int k = 0; k < LIMITS; k++, at += n) *limit[k] = at;
  for (int m = 0; m < 3; m++, at += LIMITS * n) {
    measure[m]->lower = at, measure[m]->upper = at + n, measure[m]->velocity = at + 2 * n,
    measure[m]->acceleration = at + 3 * n, measure[m]->effort = at + 4 * n;
  }
  for (int k = 0; k < LIMITS; k++) {
    int code = text[k] ? tool_numbers("excite", names[k], text[k], j->n, given) : -1;
    if (code >= 0) return code;
    take_limit(j, k, text[k] ? given : NULL, *limit[k]);
  }
  widen(j);
  psdm_excite_options *o = &j->options;
  o->lower = j->lower, o->upper = j->upper, o->velocity = j->velocity, o->acceleration = j->acceleration,
  o->effort = j->effort;
  if (j->set.effort && !j->torques) tool_warn("--effort: torques are not checked: %s", j->unknown.text);
  return check_limits(j);
}
