/* cmd_simulate_check.c: names to numbers, and incompatible options. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* ---- names ---- */

static int unknown_word(const char *option, const char *text, const char *const *words, int count) {
  char what[64];
  snprintf(what, sizeof what, "--%s", option);
  return tool_unknown("simulate", what, text, words, (size_t)count);
}

static int find_integrator(simulate_job *j) {
  const char *words[PSDM_INTEGRATORS];
  for (int k = 0; k < PSDM_INTEGRATORS; k++) words[k] = psdm_integrator_name((psdm_integrator)k);
  if (!psdm_integrator_find(j->set.integrator, &j->options.integrator))
    return unknown_word("integrator", j->set.integrator, words, PSDM_INTEGRATORS);
  if (!psdm_integrator_available(j->options.integrator))
    return tool_usage("simulate", "--integrator %s needs SUNDIALS, which this build lacks; use rk4 or euler",
                      j->set.integrator);
  return -1;
}

static int find_friction(simulate_job *j) {
  const char *words[PSDM_FRICTION_KINDS];
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++) words[k] = psdm_friction_name((psdm_friction_kind)k);
  return psdm_friction_find(j->set.friction, &j->options.friction)
             ? -1
             : unknown_word("friction", j->set.friction, words, PSDM_FRICTION_KINDS);
}

static int find_limits(simulate_job *j) {
  const char *words[PSDM_AT_LIMITS];
  for (int k = 0; k < PSDM_AT_LIMITS; k++) words[k] = psdm_at_limit_name((psdm_at_limit)k);
  return psdm_at_limit_find(j->set.limits, &j->options.at_limit)
             ? -1
             : unknown_word("limits", j->set.limits, words, PSDM_AT_LIMITS);
}

/* a table of torques implies its use */
static int find_control(simulate_job *j) {
  const char *words[PSDM_CONTROL_KINDS];
  for (int k = 0; k < PSDM_CONTROL_KINDS; k++) words[k] = psdm_control_name((psdm_control_kind)k);
  if (!psdm_control_find(j->set.control, &j->control_kind))
    return unknown_word("control", j->set.control, words, PSDM_CONTROL_KINDS);
  if (j->set.torque && j->control_kind == PSDM_CONTROL_NONE) j->control_kind = PSDM_CONTROL_TORQUE;
  return -1;
}

static bool is_file(const char *text) {
  size_t length = strlen(text);
  return strcmp(text, "-") == 0 || strchr(text, '/') || (length > 4 && strcmp(text + length - 4, ".csv") == 0);
}

static int find_reference(simulate_job *j) {
  static const char *const words[] = {
#define REFERENCE_WORD(id, name, text) name,
      REFERENCE_LIST(REFERENCE_WORD)
#undef REFERENCE_WORD
  };
  for (int k = 0; k < REFERENCE_FILE; k++)
    if (strcmp(words[k], j->set.reference) == 0) return j->reference_kind = (reference_kind)k, -1;
  j->reference_kind = REFERENCE_FILE;
  return is_file(j->set.reference) ? -1 : unknown_word("reference", j->set.reference, words, REFERENCE_FILE);
}

/* ---- what needs what: an option, the kinds it is for, and how that is said ---- */

#define BIT(kind) (1u << PSDM_CONTROL_##kind)
#define GAINS (BIT(PD) | BIT(PD_GRAVITY) | BIT(FEEDFORWARD) | BIT(COMPUTED) | BIT(ELASTIC))
#define FOLLOWS (GAINS | BIT(LQR) | BIT(ADAPTIVE))
#define REF(kind) (1u << REFERENCE_##kind)
#define POLYNOMIALS (REF(CUBIC) | REF(QUINTIC) | REF(SEPTIC) | REF(NONIC))

static const struct rule {
  const char *option;
  unsigned kinds;
  const char *words;
} control_rules[] =
    {
        {"torque", BIT(TORQUE), "--control torque"},
        {"kp", GAINS, "the controllers with gains by position"},
        {"kd", GAINS | BIT(ADAPTIVE), "the controllers with gains by velocity"},
        {"bandwidth", GAINS | BIT(ADAPTIVE), "the controllers with gains"},
        {"compensate", BIT(FEEDFORWARD) | BIT(COMPUTED), "--control feedforward or computed-torque"},
        {"Q", BIT(LQR), "--control lqr"},
        {"R", BIT(LQR), "--control lqr"},
        {"inputs", BIT(LQR), "--control lqr"},
        {"lambda", BIT(ADAPTIVE), "--control adaptive"},
        {"gamma", BIT(ADAPTIVE), "--control adaptive"},
        {"bound", BIT(ADAPTIVE), "--control adaptive"},
        {"model", FOLLOWS, "a --control that follows a reference"},
        {"model_error", FOLLOWS, "a --control that follows a reference"},
        {"rate", FOLLOWS | BIT(TORQUE), "a --control"},
        {"saturate", FOLLOWS | BIT(TORQUE), "a --control"},
},
  reference_rules[] = {
      {"to", POLYNOMIALS | REF(HOLD) | REF(SINES) | REF(FOURIER), "a reference that is not a file"},
      {"duration", POLYNOMIALS, "the polynomials"},
      {"amplitude", REF(SINES) | REF(FOURIER), "--reference sines or fourier"},
      {"frequency", REF(SINES), "--reference sines"},
      {"harmonics", REF(FOURIER), "--reference fourier"},
      {"period", REF(FOURIER), "--reference fourier"},
};

static int check_rules(const simulate_job *j, const struct rule *rules, size_t count, unsigned kind) {
  for (size_t i = 0; i < count; i++) {
    char dashed[32];
    snprintf(dashed, sizeof dashed, "%s", rules[i].option);
    for (char *c = dashed; *c; c++)
      if (*c == '_') *c = '-';
    if (!(rules[i].kinds & kind) && simulate_given(j, rules[i].option))
      return tool_usage("simulate", "--%s needs %s", dashed, rules[i].words);
  }
  return -1;
}

static bool follows(const simulate_job *j) { return j->set.inverse || (FOLLOWS & 1u << j->control_kind); }

/* --inverse needs a motion and accepts no option of a simulation */
static int check_inverse(const simulate_job *j) {
  static const char *const none[] = {"control", "integrator", "limits", "wrench", "torque", "wall", "noise"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (simulate_given(j, none[i]))
      return tool_usage("simulate", "--%s cannot be used with --inverse, which integrates nothing", none[i]);
  if (j->reference_kind == REFERENCE_HOLD) return tool_usage("simulate", "--inverse needs a --reference that moves");
  if (j->set.payload && j->set.elastic)
    return tool_usage("simulate",
                      "--inverse: --payload and --elastic exclude each other; use a tool: in the robot file");
  return -1;
}

static int check_together(const simulate_job *j) {
  const simulate_settings *s = &j->set;
  bool own_start = j->reference_kind == REFERENCE_FILE || j->reference_kind == REFERENCE_SINES ||
                   j->reference_kind == REFERENCE_FOURIER;
  bool to_motion = POLYNOMIALS & 1u << j->reference_kind;
  if (!follows(j) && simulate_given(j, "reference"))
    return tool_usage("simulate", "--reference needs --inverse or a --control that follows it");
  if (!follows(j) && s->to)
    return tool_usage("simulate", "--to needs --inverse or a --control that follows a reference");
  if (to_motion && !s->to) return tool_usage("simulate", "--reference %s needs --to Q,...", s->reference);
  if (j->start_on_reference && (!own_start || !follows(j)))
    return tool_usage("simulate", "--initial reference needs --reference FILE.csv, sines or fourier");
  if (j->control_kind == PSDM_CONTROL_TORQUE && !s->torque)
    return tool_usage("simulate", "--control torque needs --torque FILE.csv");
  if (j->control_kind == PSDM_CONTROL_ELASTIC && !s->elastic)
    return tool_usage("simulate", "--control elastic-pd needs --elastic");
  if (s->noise > 0 && !(s->rate > 0))
    return tool_usage("simulate", "--noise needs --rate: it is drawn once per sample");
  if (s->quantum > 0 && !(s->rate > 0) && !s->log) return tool_usage("simulate", "--quantum needs --rate or --log");
  if (s->wrench_link && !s->wrench) return tool_usage("simulate", "--wrench-link needs --wrench");
  if (s->held && !s->wrench && !s->torque) return tool_usage("simulate", "--held needs --torque or --wrench");
  if (simulate_given(j, "restitution") && j->options.at_limit != PSDM_AT_LIMIT_BOUNCE)
    return tool_usage("simulate", "--restitution needs --limits bounce");
  if ((s->log_rate > 0 || s->log_noise > 0) && !s->log)
    return tool_usage("simulate", "--log-rate and --log-noise need --log");
  if ((s->current || s->motor) && !s->log && !s->inverse)
    return tool_usage("simulate", "--current and --motor need --log or --inverse");
  return -1;
}

/* ---- numbers ---- */

static int check_numbers(const simulate_job *j) {
  const simulate_settings *s = &j->set;
  const struct {
    const char *name;
    double value;
    bool positive; /* else: not negative */
  } rows[] = {{"output", s->output, true},
              {"step", s->step, true},
              {"period", s->period, true},
              {"bandwidth", s->bandwidth, true},
              {"gamma", s->gamma, true},
              {"speed-limit", s->speed_limit, true},
              {"tolerance", s->tolerance, false},
              {"wall", s->wall, false},
              {"duration", s->duration, false},
              {"restitution", s->restitution, true},
              {"lambda", s->lambda, false},
              {"bound", s->bound, false},
              {"model-error", s->model_error, false},
              {"rate", s->rate, false},
              {"quantum", s->quantum, false},
              {"noise", s->noise, false},
              {"log-rate", s->log_rate, false},
              {"log-noise", s->log_noise, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].positive ? !(rows[i].value > 0) : !(rows[i].value >= 0))
      return tool_usage("simulate", "--%s must %s", rows[i].name, rows[i].positive ? "be positive" : "not be negative");
  if (s->model_error >= 1) return tool_usage("simulate", "--model-error must be below 1");
  if (s->restitution > 1) return tool_usage("simulate", "--restitution must not be above 1");
  if (s->harmonics != floor(s->harmonics) || s->harmonics < 3 || s->harmonics > 1000)
    return tool_usage("simulate", "--harmonics: an integer from 3 to 1000 was expected");
  if (s->seed != floor(s->seed) || s->seed < 0 || s->seed > 9007199254740992.0)
    return tool_usage("simulate", "--seed: an integer that is not negative was expected");
  return -1;
}

/* the file of a reference, or polynomials with a duration, determine the time of --inverse */
static int check_time(const simulate_job *j) {
  const simulate_settings *s = &j->set;
  if (s->time < 0) return tool_usage("simulate", "--time must be positive");
  if (s->inverse && (j->reference_kind == REFERENCE_FILE || s->duration > 0)) return -1;
  return s->time > 0 ? -1 : tool_usage("simulate", "missing --time SECONDS");
}

/* ---- output files ---- */

static int check_outputs(const simulate_job *j) {
  const simulate_settings *s = &j->set;
  int taken = s->json + (s->out && strcmp(s->out, "-") == 0) + (s->log && strcmp(s->log, "-") == 0);
  int read = s->initial && strcmp(s->initial, "-") == 0;
  read += strcmp(s->reference, "-") == 0;
  read += s->torque && strcmp(s->torque, "-") == 0;
  read += s->wrench && strcmp(s->wrench, "-") == 0;
  read += s->payload && strcmp(s->payload, "-") == 0;
  if (taken > 1) return tool_usage("simulate", "only one of --json, --out - and --log - can use standard output");
  if (read > 1) return tool_usage("simulate", "only one file can be standard input");
  if (s->out && s->log && strcmp(s->out, s->log) == 0)
    return tool_usage("simulate", "--out and --log name the same file");
  return -1;
}

int simulate_words(simulate_job *j) {
  j->start_on_reference = j->set.initial && strcmp(j->set.initial, "reference") == 0;
  int code = find_integrator(j);
  if (code < 0) code = find_friction(j);
  if (code < 0) code = find_limits(j);
  if (code < 0) code = find_control(j);
  if (code < 0) code = find_reference(j);
  if (code < 0) code = check_numbers(j);
  if (code < 0) code = check_time(j);
  if (code < 0 && j->set.inverse) code = check_inverse(j);
  if (code < 0)
    code = check_rules(j, control_rules, sizeof control_rules / sizeof *control_rules, 1u << j->control_kind);
  if (code < 0)
    code = check_rules(j, reference_rules, sizeof reference_rules / sizeof *reference_rules, 1u << j->reference_kind);
  if (code < 0) code = check_together(j);
  return code < 0 ? check_outputs(j) : code;
}
