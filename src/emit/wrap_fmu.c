/* wrap_fmu.c: PREFIX_fmu.c, a generated forward dynamics as an FMU: the functions of FMI 2.0 for co-simulation and for
 * model exchange.
 *
 * All numbers of an instance are one array in blocks, and a value reference is an index into it. States are q and
 * qd, inputs tau (and a wrench), outputs q, qd and qdd. Co-simulation integrates by the classical Runge-Kutta
 * method, inputs held, in equal steps of at most internal_step. */

#include "emit/wrap_priv.h"

/* internal_step's default: what psdm simulate takes as well, s */
static const double usual_step = 0.001;

const char *const psdmp_emit_fmu_names[PSDMP_EMIT_FMU_BLOCKS] = {
#define NAME(id, name) name,
    PSDMP_EMIT_FMU_BLOCK_LIST(NAME)
#undef NAME
};

/* ---- blocks ---- */

int psdmp_emit_fmu_length(const psdm_code *code, psdmp_emit_fmu_block block) {
  const int *length = psdmp_emit_wrap_program(code, PSDM_F_FORWARD)->length;
  switch (block) {
    case PSDMP_EMIT_FMU_WRENCH: return length[PSDMP_CODEGEN_IN_WRENCH];
    case PSDMP_EMIT_FMU_GRAVITY: return length[PSDMP_CODEGEN_IN_GRAVITY];
    case PSDMP_EMIT_FMU_PAYLOAD: return length[PSDMP_CODEGEN_IN_PAYLOAD];
    case PSDMP_EMIT_FMU_THETA: return length[PSDMP_CODEGEN_IN_THETA];
    case PSDMP_EMIT_FMU_STEP: return 1;
    default: return code->robot->n;
  }
}

int psdmp_emit_fmu_first(const psdm_code *code, psdmp_emit_fmu_block block) {
  int first = 0;
  for (int b = 0; b < (int)block; b++) first += psdmp_emit_fmu_length(code, (psdmp_emit_fmu_block)b);
  return first;
}

double psdmp_emit_fmu_start(const psdm_code *code, psdmp_emit_fmu_block block, int k) {
  switch (block) {
    case PSDMP_EMIT_FMU_STEP: return usual_step;
    case PSDMP_EMIT_FMU_GRAVITY: return code->robot->gravity[k];
    case PSDMP_EMIT_FMU_THETA: return code->theta ? code->theta[k] : 0;
    default: return 0;
  }
}

/* ---- text: the words of the interface ---- */

static const char *const includes[] = {
    "#include <math.h>",
    "#include <stdlib.h>",
    "#include <string.h>",
    "",
};

static const char *const types[] = {
    "/* ---- types of FMI 2.0 ---- */",
    "",
    "typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;",
    "typedef unsigned int fmi2ValueReference;",
    "typedef double fmi2Real;",
    "typedef int fmi2Integer, fmi2Boolean;",
    "typedef char fmi2Char, fmi2Byte;",
    "typedef const fmi2Char *fmi2String;",
    "typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;",
    "typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;",
    "typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;",
    "typedef struct {",
    "  void (*logger)(fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category, fmi2String "
    "message, ...);",
    "  void *(*allocateMemory)(size_t, size_t);",
    "  void (*freeMemory)(void *);",
    "  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);",
    "  fmi2ComponentEnvironment componentEnvironment;",
    "} fmi2CallbackFunctions;",
    "typedef struct {",
    "  fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, "
    "valuesOfContinuousStatesChanged, nextEventTimeDefined;",
    "  fmi2Real nextEventTime;",
    "} fmi2EventInfo;",
    "",
};

static const char *const instance[] = {
    "/* ---- an instance ---- */",
    "",
    "enum { SET_UP, INITIALIZING, RUNNING, TERMINATED };",
    "",
    "/* all that changes */",
    "typedef struct {",
    "  double value[VALUES], time;",
    "  int mode;",
    "} condition;",
    "",
    "typedef struct {",
    "  condition now;",
    "  fmi2CallbackFunctions call;",
    "  char *name;",
    "  fmi2Type type;",
    "} fmu;",
    "",
    "static fmi2Status say(const fmu *f, fmi2Status status, const char *text) {",
    "  if (f->call.logger) f->call.logger(f->call.componentEnvironment, f->name, status, \"logStatusError\", \"%s\", "
    "text);",
    "  return status;",
    "}",
    "",
    "static void begin(condition *c) {",
    "  memcpy(c->value, start, sizeof start);",
    "  c->time = 0;",
    "  c->mode = SET_UP;",
    "}",
    "",
    "/* accelerations at a state */",
    "static void accelerate(const double *value, const double *q, const double *qd, double *qdd) {",
};

static const char *const integration[] = {
    "static int is_finite(const double *x, int count) {",
    "  for (int k = 0; k < count; k++)",
    "    if (!(fabs(x[k]) <= 1.7976931348623157e308)) return 0;",
    "  return 1;",
    "}",
    "",
    "/* one step of the classical Runge-Kutta method, inputs held */",
    "static void advance(double *value, double h) {",
    "  static const double share[3] = {0.5, 0.5, 1};",
    "  double *q = value + Q, *qd = value + QD, p[4][$N], v[4][$N], x[$N], y[$N];",
    "  memcpy(p[0], qd, sizeof x);",
    "  accelerate(value, q, qd, v[0]);",
    "  for (int s = 0; s < 3; s++) {",
    "    for (int k = 0; k < $N; k++) x[k] = q[k] + share[s]*h*p[s][k], y[k] = qd[k] + share[s]*h*v[s][k];",
    "    memcpy(p[s + 1], y, sizeof y);",
    "    accelerate(value, x, y, v[s + 1]);",
    "  }",
    "  for (int k = 0; k < $N; k++) {",
    "    q[k] += h/6*(p[0][k] + 2*p[1][k] + 2*p[2][k] + p[3][k]);",
    "    qd[k] += h/6*(v[0][k] + 2*v[1][k] + 2*v[2][k] + v[3][k]);",
    "  }",
    "}",
    "",
};

/* ---- text: the interface ---- */

static const char *const life[] = {
    "/* ---- from instantiation to the end ---- */",
    "",
    "$EXPORT const char *fmi2GetTypesPlatform(void) { return \"default\"; }",
    "$EXPORT const char *fmi2GetVersion(void) { return \"2.0\"; }",
    "",
    "$EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, "
    "const fmi2CallbackFunctions *call, fmi2Boolean visible, fmi2Boolean logging) {",
    "  fmu *f = (fmu *)calloc(1, sizeof *f);",
    "  (void)resources, (void)visible, (void)logging;",
    "  if (!f) return 0;",
    "  if (call) f->call = *call;",
    "  f->type = type;",
    "  f->name = (char *)calloc(1, (name ? strlen(name) : 0) + 1);",
    "  if (f->name && name) strcpy(f->name, name);",
    "  if (f->name && guid && strcmp(guid, GUID) == 0) {",
    "    begin(&f->now);",
    "    return f;",
    "  }",
    "  say(f, fmi2Error, f->name ? \"the GUID is that of another model\" : \"out of memory\");",
    "  free(f->name);",
    "  free(f);",
    "  return 0;",
    "}",
    "",
    "$EXPORT void fmi2FreeInstance(fmi2Component c) {",
    "  if (c) free(((fmu *)c)->name);",
    "  free(c);",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String "
    "*categories) {",
    "  (void)c, (void)on, (void)count, (void)categories;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real "
    "from, fmi2Boolean has_stop, fmi2Real stop) {",
    "  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;",
    "  ((fmu *)c)->now.time = from;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {",
    "  fmu *f = (fmu *)c;",
    "  if (f->now.mode != SET_UP) return say(f, fmi2Error, \"initialization comes once, after instantiation or "
    "reset\");",
    "  f->now.mode = INITIALIZING;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {",
    "  fmu *f = (fmu *)c;",
    "  if (f->now.mode != INITIALIZING) return say(f, fmi2Error, \"initialization was not entered\");",
    "  if (!(f->now.value[STEP] > 0)) return say(f, fmi2Error, \"internal_step must be greater than zero\");",
    "  f->now.mode = RUNNING;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2Terminate(fmi2Component c) {",
    "  ((fmu *)c)->now.mode = TERMINATED;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2Reset(fmi2Component c) {",
    "  begin(&((fmu *)c)->now);",
    "  return fmi2OK;",
    "}",
    "",
};

static const char *const numbers[] = {
    "/* ---- numbers ---- */",
    "",
    "static int inside(fmi2ValueReference r, int first, int count) { return r >= (fmi2ValueReference)first && r < "
    "(fmi2ValueReference)(first + count); }",
    "",
    "$EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference *r, size_t count, fmi2Real *value) {",
    "  fmu *f = (fmu *)c;",
    "  int fresh = 0;",
    "  for (size_t k = 0; k < count; k++) {",
    "    if (r[k] >= VALUES) return say(f, fmi2Error, \"no number has this value reference\");",
    "    if (inside(r[k], QDD, $N) && !fresh) {",
    "      accelerate(f->now.value, f->now.value + Q, f->now.value + QD, f->now.value + QDD);",
    "      fresh = 1;",
    "    }",
    "    value[k] = f->now.value[r[k]];",
    "  }",
    "  return fmi2OK;",
    "}",
    "",
    "/* inputs and parameters that may be tuned at any time, the others until initialization ends; a start is where "
    "the state is until then */",
    "$EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference *r, size_t count, const fmi2Real *value) "
    "{",
    "  fmu *f = (fmu *)c;",
    "  for (size_t k = 0; k < count; k++) {",
    "    if (r[k] >= VALUES || inside(r[k], Q, 3*$N)) return say(f, fmi2Error, \"no number that can be set has this "
    "value reference\");",
    "    if (inside(r[k], Q_START, 2*$N + 1) && f->now.mode > INITIALIZING) return say(f, fmi2Error, \"start values "
    "and internal_step are set before initialization ends\");",
    "    if (!is_finite(value + k, 1)) return say(f, fmi2Error, \"a number to be set is not finite\");",
    "    f->now.value[r[k]] = value[k];",
    "    if (inside(r[k], Q_START, 2*$N)) f->now.value[r[k] - Q_START + Q] = value[k];",
    "  }",
    "  return fmi2OK;",
    "}",
    "",
    "#define NONE_OF(Kind) \\",
    "  $EXPORT fmi2Status fmi2Get##Kind(fmi2Component c, const fmi2ValueReference *r, size_t count, fmi2##Kind *value) "
    "{ \\",
    "    (void)r, (void)value; \\",
    "    return count ? say((fmu *)c, fmi2Error, \"all numbers are real\") : fmi2OK; \\",
    "  } \\",
    "  $EXPORT fmi2Status fmi2Set##Kind(fmi2Component c, const fmi2ValueReference *r, size_t count, const fmi2##Kind "
    "*value) { \\",
    "    (void)r, (void)value; \\",
    "    return count ? say((fmu *)c, fmi2Error, \"all numbers are real\") : fmi2OK; \\",
    "  }",
    "NONE_OF(Integer)",
    "NONE_OF(Boolean)",
    "NONE_OF(String)",
    "",
};

static const char *const keeping[] = {
    "/* ---- states that are kept ---- */",
    "",
    "$EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *kept) {",
    "  if (!*kept) *kept = malloc(sizeof(condition));",
    "  if (!*kept) return say((fmu *)c, fmi2Error, \"out of memory\");",
    "  memcpy(*kept, &((fmu *)c)->now, sizeof(condition));",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate kept) {",
    "  memcpy(&((fmu *)c)->now, kept, sizeof(condition));",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *kept) {",
    "  (void)c;",
    "  free(*kept);",
    "  *kept = 0;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate kept, size_t *bytes) {",
    "  (void)c, (void)kept;",
    "  *bytes = sizeof(condition);",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate kept, fmi2Byte *to, size_t bytes) {",
    "  if (bytes != sizeof(condition)) return say((fmu *)c, fmi2Error, \"a kept state has another size\");",
    "  memcpy(to, kept, bytes);",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte *from, size_t bytes, fmi2FMUstate "
    "*kept) {",
    "  if (bytes != sizeof(condition)) return say((fmu *)c, fmi2Error, \"a kept state has another size\");",
    "  if (!*kept) *kept = malloc(bytes);",
    "  if (!*kept) return say((fmu *)c, fmi2Error, \"out of memory\");",
    "  memcpy(*kept, from, bytes);",
    "  return fmi2OK;",
    "}",
    "",
};

/* derivatives in a direction: of q, qd and qdd by q, qd and tau */
static const char *const direction[] = {
    "  fmu *f = (fmu *)c;",
    "  double by[3][$N] = {{0}}, d[3][$N*$N];",
    "  static const int first[3] = {Q, QD, TAU};",
    "  for (size_t k = 0; k < knowns; k++) {",
    "    int s = 0;",
    "    while (s < 3 && !inside(known[k], first[s], $N)) s++;",
    "    if (s == 3) return say(f, fmi2Error, \"derivatives are by q, qd and tau\");",
    "    by[s][known[k] - (fmi2ValueReference)first[s]] = seed[k];",
    "  }",
};

static const char *const directed[] = {
    "  for (size_t k = 0; k < unknowns; k++) {",
    "    if (!inside(unknown[k], Q, 3*$N)) return say(f, fmi2Error, \"derivatives are of q, qd and qdd\");",
    "    const int i = (int)unknown[k] - Q;",
    "    change[k] = i < $N ? by[0][i] : i < 2*$N ? by[1][i - $N] : 0;",
    "    for (int s = 0; s < 3 && i >= 2*$N; s++)",
    "      for (int j = 0; j < $N; j++) change[k] += d[s][$N*(i - 2*$N) + j]*by[s][j];",
    "  }",
    "  return fmi2OK;",
    "}",
    "",
};

static const char *const exchange[] = {
    "/* ---- model exchange: states q, qd; derivatives qd, qdd; no events ---- */",
    "",
    "$EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {",
    "  (void)c;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {",
    "  (void)c;",
    "  memset(info, 0, sizeof *info);",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {",
    "  (void)c;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean final, fmi2Boolean *enter, "
    "fmi2Boolean *end) {",
    "  (void)c, (void)final;",
    "  *enter = *end = 0;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {",
    "  ((fmu *)c)->now.time = time;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real *x, size_t count) {",
    "  if (count != 2*$N) return say((fmu *)c, fmi2Error, \"the number of states is another\");",
    "  memcpy(((fmu *)c)->now.value + Q, x, count*sizeof *x);",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real *x, size_t count) {",
    "  if (count != 2*$N) return say((fmu *)c, fmi2Error, \"the number of states is another\");",
    "  memcpy(x, ((fmu *)c)->now.value + Q, count*sizeof *x);",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real *dx, size_t count) {",
    "  fmu *f = (fmu *)c;",
    "  if (count != 2*$N) return say(f, fmi2Error, \"the number of states is another\");",
    "  memcpy(dx, f->now.value + QD, $N*sizeof *dx);",
    "  accelerate(f->now.value, f->now.value + Q, f->now.value + QD, dx + $N);",
    "  return is_finite(dx, 2*$N) ? fmi2OK : say(f, fmi2Discard, \"accelerations are not finite here\");",
    "}",
    "",
    "$EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real *indicators, size_t count) {",
    "  (void)indicators;",
    "  return count ? say((fmu *)c, fmi2Error, \"there are no event indicators\") : fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real *nominal, size_t count) {",
    "  (void)c;",
    "  for (size_t k = 0; k < count; k++) nominal[k] = 1;",
    "  return fmi2OK;",
    "}",
    "",
};

static const char *const stepping[] = {
    "/* ---- co-simulation ---- */",
    "",
    "/* equal steps of at most internal_step; a whole number of them, but for rounding, stays that number */",
    "$EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean no_return) {",
    "  fmu *f = (fmu *)c;",
    "  (void)no_return;",
    "  if (f->now.mode != RUNNING) return say(f, fmi2Error, \"a step comes after initialization and before the end\");",
    "  const double steps = ceil(h/f->now.value[STEP] - 1e-6);",
    "  if (!(h >= 0) || !(steps <= 1e9)) return say(f, fmi2Error, \"a step must not be negative, nor more than 1e9 "
    "internal steps\");",
    "  const condition before = f->now;",
    "  const int count = h > 0 && steps < 1 ? 1 : (int)steps;",
    "  for (int k = 0; k < count; k++) advance(f->now.value, h/count);",
    "  if (!is_finite(f->now.value + Q, 2*$N)) {",
    "    f->now = before;",
    "    return say(f, fmi2Error, \"the motion is not finite any more\");",
    "  }",
    "  f->now.time = time + h;",
    "  return fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference *r, size_t count, const "
    "fmi2Integer *order, const fmi2Real *value) {",
    "  (void)r, (void)order, (void)value;",
    "  return count ? say((fmu *)c, fmi2Error, \"inputs are held during a step\") : fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference *r, size_t count, const "
    "fmi2Integer *order, fmi2Real *value) {",
    "  (void)r, (void)order, (void)value;",
    "  return count ? say((fmu *)c, fmi2Error, \"derivatives of outputs are not given: qd and qdd are outputs\") : "
    "fmi2OK;",
    "}",
    "",
    "$EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return say((fmu *)c, fmi2Error, \"no step is ever "
    "pending\"); }",
    "",
    "$EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value) {",
    "  if (kind != fmi2LastSuccessfulTime) return say((fmu *)c, fmi2Discard, \"only the last successful time is "
    "known\");",
    "  *value = ((fmu *)c)->now.time;",
    "  return fmi2OK;",
    "}",
    "",
    "#define NO_STATUS(Name, Kind) \\",
    "  $EXPORT fmi2Status fmi2Get##Name(fmi2Component c, fmi2StatusKind kind, Kind *value) { \\",
    "    (void)kind, (void)value; \\",
    "    return say((fmu *)c, fmi2Discard, \"no step is ever pending\"); \\",
    "  }",
    "NO_STATUS(Status, fmi2Status)",
    "NO_STATUS(IntegerStatus, fmi2Integer)",
    "NO_STATUS(BooleanStatus, fmi2Boolean)",
    "NO_STATUS(StringStatus, fmi2String)",
    "",
    "#ifdef __cplusplus",
    "}",
    "#endif",
};

#define LINES(e, table) psdmp_emit_wrap_lines(e, table, sizeof(table) / sizeof *(table))

/* ---- what depends on the robot ---- */

/* where blocks begin, and what their numbers are at first */
static void emit_values(psdmp_emit_writer *e, const char *guid) {
  static const char *const upper[PSDMP_EMIT_FMU_BLOCKS] = {
#define UPPER(id, name) #id,
      PSDMP_EMIT_FMU_BLOCK_LIST(UPPER)
#undef UPPER
  };
  const psdm_code *code = e->code;
  char number[40];
  int count = 0, all = psdmp_emit_fmu_first(code, PSDMP_EMIT_FMU_BLOCKS);
  psdmp_emit_say(e,
                 "#define GUID \"%s\"\n\n/* value references: an index into an instance's numbers, where these blocks "
                 "begin */\nenum { ",
                 guid);
  for (int b = 0; b < PSDMP_EMIT_FMU_BLOCKS; b++)
    if (psdmp_emit_fmu_length(code, (psdmp_emit_fmu_block)b))
      psdmp_emit_say(e, "%s = %d, ", upper[b], psdmp_emit_fmu_first(code, (psdmp_emit_fmu_block)b));
  psdmp_emit_say(e, "VALUES = %d };\n\nstatic const double start[VALUES] = {\n ", all);
  for (int b = 0; b < PSDMP_EMIT_FMU_BLOCKS; b++)
    for (int k = 0; k < psdmp_emit_fmu_length(code, (psdmp_emit_fmu_block)b); k++)
      psdmp_emit_say(e, " %s%s", psdmp_emit_literal(e, psdmp_emit_fmu_start(code, (psdmp_emit_fmu_block)b, k), number),
                     ++count == all ? "};\n\n"
                     : count % 12   ? ","
                                    : ",\n ");
}

/* arguments of a function before q: from the instance's numbers */
static void emit_leading(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  static const char *const from[PSDMP_CODEGEN_IN_COUNT] = {[PSDMP_CODEGEN_IN_THETA] = "THETA",
                                                           [PSDMP_CODEGEN_IN_GRAVITY] = "GRAVITY",
                                                           [PSDMP_CODEGEN_IN_PAYLOAD] = "PAYLOAD",
                                                           [PSDMP_CODEGEN_IN_WRENCH] = "WRENCH"};
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && from[b]) psdmp_emit_say(e, "value + %s, ", from[b]);
}

static void emit_direction(psdmp_emit_writer *e) {
  const psdmp_codegen_program *linear = psdmp_emit_wrap_program(e->code, PSDM_F_LINEARIZE_FORWARD);
  psdmp_emit_say(e, "$EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference "
                    "*unknown, size_t unknowns,\n"
                    "    const fmi2ValueReference *known, size_t knowns, const fmi2Real *seed, fmi2Real *change) {\n");
  if (!linear || !psdmp_emit_wrap_differentiable(e->code)) {
    psdmp_emit_say(e, "  (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)change;\n");
    psdmp_emit_say(e, "  return say((fmu *)c, fmi2Error, \"derivatives are not there\");\n}\n\n");
    return;
  }
  LINES(e, direction);
  psdmp_emit_say(e, "  const double *value = f->now.value;\n  @linearize_forward(");
  emit_leading(e, linear);
  psdmp_emit_say(e, "value + Q, value + QD, value + TAU, d[0], d[1], d[2]);\n");
  LINES(e, directed);
}

void psdmp_emit_wrap_fmu(psdmp_emit_writer *e, const char *guid) {
  psdmp_emit_banner(
      e, "A robot's motion under torques as an FMU (FMI 2.0, co-simulation and model exchange): 'make fmu'.");
  psdmp_emit_say(e, "#include \"%s.h\"\n\n", e->prefix);
  LINES(e, includes);
  psdmp_emit_wrap_export(e);
  LINES(e, types);
  emit_values(e, guid);
  LINES(e, instance);
  psdmp_emit_say(e, "  @forward(");
  emit_leading(e, psdmp_emit_wrap_program(e->code, PSDM_F_FORWARD));
  psdmp_emit_say(e, "q, qd, value + TAU, qdd);\n}\n\n");
  LINES(e, integration);
  LINES(e, life);
  LINES(e, numbers);
  LINES(e, keeping);
  emit_direction(e);
  LINES(e, exchange);
  LINES(e, stepping);
}
