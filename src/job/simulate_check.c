/* simulate_check.c: names to numbers, and incompatible options. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

/* ---- names ---- */

static psdm_status find_integrator(psdmp_job_simulate *j) {
  const char *words[PSDM_INTEGRATORS];
  for (int k = 0; k < PSDM_INTEGRATORS; k++) words[k] = psdm_integrator_name((psdm_integrator)k);
  if (!psdm_integrator_find(j->set.integrator, &j->options.integrator))
    return psdmp_job_unknown(&j->job, "integrator", j->set.integrator, words, PSDM_INTEGRATORS);
  if (!psdm_integrator_available(j->options.integrator))
    return psdmp_job_wrong(&j->job, "`integrator = %s` needs SUNDIALS, which this build lacks; use rk4 or euler",
                           j->set.integrator);
  return PSDM_OK;
}

static psdm_status find_friction(psdmp_job_simulate *j) {
  const char *words[PSDM_FRICTION_KINDS];
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++) words[k] = psdm_friction_name((psdm_friction_kind)k);
  return psdm_friction_find(j->set.friction, &j->options.friction)
             ? PSDM_OK
             : psdmp_job_unknown(&j->job, "friction", j->set.friction, words, PSDM_FRICTION_KINDS);
}

static psdm_status find_limits(psdmp_job_simulate *j) {
  const char *words[PSDM_AT_LIMITS];
  for (int k = 0; k < PSDM_AT_LIMITS; k++) words[k] = psdm_at_limit_name((psdm_at_limit)k);
  return psdm_at_limit_find(j->set.limits, &j->options.at_limit)
             ? PSDM_OK
             : psdmp_job_unknown(&j->job, "limits", j->set.limits, words, PSDM_AT_LIMITS);
}

/* a table of torques implies its use */
static psdm_status find_control(psdmp_job_simulate *j) {
  const char *words[PSDM_CONTROL_KINDS];
  for (int k = 0; k < PSDM_CONTROL_KINDS; k++) words[k] = psdm_control_name((psdm_control_kind)k);
  if (!psdm_control_find(j->set.control, &j->control_kind))
    return psdmp_job_unknown(&j->job, "control", j->set.control, words, PSDM_CONTROL_KINDS);
  if (j->set.torque && j->control_kind == PSDM_CONTROL_NONE) j->control_kind = PSDM_CONTROL_TORQUE;
  return PSDM_OK;
}

static bool is_file(const char *text) {
  size_t length = strlen(text);
  return strcmp(text, "-") == 0 || strchr(text, '/') || (length > 4 && strcmp(text + length - 4, ".csv") == 0);
}

static psdm_status find_reference(psdmp_job_simulate *j) {
  static const char *const words[] = {
#define REFERENCE_WORD(id, name, text) name,
      PSDM_REFERENCE_LIST(REFERENCE_WORD)
#undef REFERENCE_WORD
  };
  for (int k = 0; k < REFERENCE_FILE; k++)
    if (strcmp(words[k], j->set.reference) == 0) return j->reference_kind = (psdmp_job_reference_kind)k, PSDM_OK;
  j->reference_kind = REFERENCE_FILE;
  return is_file(j->set.reference) ? PSDM_OK
                                   : psdmp_job_unknown(&j->job, "reference", j->set.reference, words, REFERENCE_FILE);
}

/* ---- what needs what: an option, the kinds it is for, and how that is said ---- */

#define BIT(kind) (1u << PSDM_CONTROL_##kind)
#define GAINS (BIT(PD) | BIT(PD_GRAVITY) | BIT(FEEDFORWARD) | BIT(COMPUTED) | BIT(ELASTIC))
#define FOLLOWS (GAINS | BIT(LQR) | BIT(ADAPTIVE))
#define REF(kind) (1u << REFERENCE_##kind)
#define POLYNOMIALS (REF(CUBIC) | REF(QUINTIC) | REF(SEPTIC) | REF(NONIC))

static const psdmp_job_rule control_rules[] =
    {
        {"torque", BIT(TORQUE), "`control = torque`"},
        {"kp", GAINS, "the controllers with gains by position"},
        {"kd", GAINS | BIT(ADAPTIVE), "the controllers with gains by velocity"},
        {"bandwidth", GAINS | BIT(ADAPTIVE), "the controllers with gains"},
        {"compensate", BIT(FEEDFORWARD) | BIT(COMPUTED), "`control = feedforward` or computed-torque"},
        {"Q", BIT(LQR), "`control = lqr`"},
        {"R", BIT(LQR), "`control = lqr`"},
        {"inputs", BIT(LQR), "`control = lqr`"},
        {"lambda", BIT(ADAPTIVE), "`control = adaptive`"},
        {"gamma", BIT(ADAPTIVE), "`control = adaptive`"},
        {"bound", BIT(ADAPTIVE), "`control = adaptive`"},
        {"model", FOLLOWS, "a `control` that follows a reference"},
        {"model_error", FOLLOWS, "a `control` that follows a reference"},
        {"rate", FOLLOWS | BIT(TORQUE), "a `control`"},
        {"saturate", FOLLOWS | BIT(TORQUE), "a `control`"},
},
                            reference_rules[] = {
                                {"to", POLYNOMIALS | REF(HOLD) | REF(SINES) | REF(FOURIER),
                                 "a reference that is not a file"},
                                {"duration", POLYNOMIALS, "the polynomials"},
                                {"amplitude", REF(SINES) | REF(FOURIER), "`reference = sines` or fourier"},
                                {"frequency", REF(SINES), "`reference = sines`"},
                                {"harmonics", REF(FOURIER), "`reference = fourier`"},
                                {"period", REF(FOURIER), "`reference = fourier`"},
};

static bool follows(const psdmp_job_simulate *j) { return j->set.inverse || (FOLLOWS & 1u << j->control_kind); }

/* inverse needs a motion and accepts no option of a simulation */
static psdm_status check_inverse(const psdmp_job_simulate *j) {
  static const char *const none[] = {"control", "integrator", "limits", "wrench", "torque", "wall", "noise"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (psdmp_job_given(&j->job, none[i]))
      return psdmp_job_wrong(&j->job, "`%s` cannot be used with `inverse`, which integrates nothing", none[i]);
  if (j->reference_kind == REFERENCE_HOLD) return psdmp_job_wrong(&j->job, "`inverse` needs a `reference` that moves");
  if (j->set.payload && j->set.elastic)
    return psdmp_job_wrong(&j->job,
                           "`inverse`: `payload` and `elastic` exclude each other; use a tool: in the robot file");
  return PSDM_OK;
}

static psdm_status check_together(const psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  bool logged = s->log || psdmp_job_kept_wanted(&j->job, "log");
  bool own_start = j->reference_kind == REFERENCE_FILE || j->reference_kind == REFERENCE_SINES ||
                   j->reference_kind == REFERENCE_FOURIER;
  bool to_motion = POLYNOMIALS & 1u << j->reference_kind;
  if (!follows(j) && psdmp_job_given(&j->job, "reference"))
    return psdmp_job_wrong(&j->job, "`reference` needs `inverse` or a `control` that follows it");
  if (!follows(j) && s->to)
    return psdmp_job_wrong(&j->job, "`to` needs `inverse` or a `control` that follows a reference");
  if (to_motion && !s->to) return psdmp_job_wrong(&j->job, "`reference = %s` needs `to = Q,...`", s->reference);
  if (j->start_on_reference && (!own_start || !follows(j)))
    return psdmp_job_wrong(&j->job, "`initial = reference` needs `reference = FILE.csv`, sines or fourier");
  if (j->control_kind == PSDM_CONTROL_TORQUE && !s->torque)
    return psdmp_job_wrong(&j->job, "`control = torque` needs `torque = FILE.csv`");
  if (j->control_kind == PSDM_CONTROL_ELASTIC && !s->elastic)
    return psdmp_job_wrong(&j->job, "`control = elastic-pd` needs `elastic`");
  if (s->noise > 0 && !(s->rate > 0))
    return psdmp_job_wrong(&j->job, "`noise` needs `rate`: it is drawn once per sample");
  if (s->quantum > 0 && !(s->rate > 0) && !logged) return psdmp_job_wrong(&j->job, "`quantum` needs `rate` or `log`");
  if (s->wrench_link && !s->wrench) return psdmp_job_wrong(&j->job, "`wrench_link` needs `wrench`");
  if (s->held && !s->wrench && !s->torque) return psdmp_job_wrong(&j->job, "`held` needs `torque` or `wrench`");
  if (psdmp_job_given(&j->job, "restitution") && j->options.at_limit != PSDM_AT_LIMIT_BOUNCE)
    return psdmp_job_wrong(&j->job, "`restitution` needs `limits = bounce`");
  if ((s->log_rate > 0 || s->log_noise > 0) && !logged)
    return psdmp_job_wrong(&j->job, "`log_rate` and `log_noise` need `log`");
  if ((s->current || s->motor) && !logged && !s->inverse)
    return psdmp_job_wrong(&j->job, "`current` and `motor` need `log` or `inverse`");
  return PSDM_OK;
}

/* ---- numbers ---- */

static psdm_status check_numbers(const psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  const struct {
    const char *name;
    double value;
    bool positive; /* else: not negative */
  } rows[] = {{"output", s->output, true},
              {"step", s->step, true},
              {"period", s->period, true},
              {"bandwidth", s->bandwidth, true},
              {"gamma", s->gamma, true},
              {"speed_limit", s->speed_limit, true},
              {"tolerance", s->tolerance, false},
              {"wall", s->wall, false},
              {"duration", s->duration, false},
              {"restitution", s->restitution, true},
              {"lambda", s->lambda, false},
              {"bound", s->bound, false},
              {"model_error", s->model_error, false},
              {"rate", s->rate, false},
              {"quantum", s->quantum, false},
              {"noise", s->noise, false},
              {"log_rate", s->log_rate, false},
              {"log_noise", s->log_noise, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].positive ? !(rows[i].value > 0) : !(rows[i].value >= 0))
      return psdmp_job_wrong(&j->job, "`%s` must %s", rows[i].name,
                             rows[i].positive ? "be positive" : "not be negative");
  if (s->model_error >= 1) return psdmp_job_wrong(&j->job, "`model_error` must be below 1");
  if (s->restitution > 1) return psdmp_job_wrong(&j->job, "`restitution` must not be above 1");
  if (s->harmonics != floor(s->harmonics) || s->harmonics < 3 || s->harmonics > 1000)
    return psdmp_job_wrong(&j->job, "`harmonics`: an integer from 3 to 1000 was expected");
  if (s->seed != floor(s->seed) || s->seed < 0 || s->seed > 9007199254740992.0)
    return psdmp_job_wrong(&j->job, "`seed`: an integer that is not negative was expected");
  return PSDM_OK;
}

/* the file of a reference, or polynomials with a duration, determine the time of inverse */
static psdm_status check_time(const psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  if (s->time < 0) return psdmp_job_wrong(&j->job, "`time` must be positive");
  if (s->inverse && (j->reference_kind == REFERENCE_FILE || s->duration > 0)) return PSDM_OK;
  return s->time > 0 ? PSDM_OK : psdmp_job_wrong(&j->job, "missing `time = SECONDS`");
}

/* ---- output files ---- */

static psdm_status check_outputs(const psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  int taken = s->json + (s->out && strcmp(s->out, "-") == 0) + (s->log && strcmp(s->log, "-") == 0);
  int read = s->initial && strcmp(s->initial, "-") == 0;
  read += strcmp(s->reference, "-") == 0;
  read += s->torque && strcmp(s->torque, "-") == 0;
  read += s->wrench && strcmp(s->wrench, "-") == 0;
  read += s->payload && strcmp(s->payload, "-") == 0;
  if (taken > 1) return psdmp_job_wrong(&j->job, "only one of `json`, `out = -` and `log = -` can use standard output");
  if (read > 1) return psdmp_job_wrong(&j->job, "only one file can be standard input");
  if (s->out && s->log && strcmp(s->out, s->log) == 0)
    return psdmp_job_wrong(&j->job, "`out` and `log` name the same file");
  return PSDM_OK;
}

psdm_status psdmp_job_simulate_words(psdmp_job_simulate *j) {
  j->start_on_reference = j->set.initial && strcmp(j->set.initial, "reference") == 0;
  psdm_status status = find_integrator(j);
  if (!status) status = find_friction(j);
  if (!status) status = find_limits(j);
  if (!status) status = find_control(j);
  if (!status) status = find_reference(j);
  if (!status) status = check_numbers(j);
  if (!status) status = check_time(j);
  if (!status && j->set.inverse) status = check_inverse(j);
  if (!status)
    status =
        psdmp_job_check_rules(&j->job, control_rules, sizeof control_rules / sizeof *control_rules, j->control_kind);
  if (!status)
    status = psdmp_job_check_rules(&j->job, reference_rules, sizeof reference_rules / sizeof *reference_rules,
                                   j->reference_kind);
  if (!status) status = check_together(j);
  return !status ? check_outputs(j) : status;
}
