/* wrap_fmu_description.c: modelDescription.xml of an FMU (FMI 2.0). Names are ours; words of the robot's file stand
 * in descriptions only, escaped. */
#include "emit/wrap_priv.h"
#include "psdm/component.h"
#include "psdm/text.h"

/* ---- units ---- */

static const char *const units[][2] = {
    {"rad", "rad=\"1\""},
    {"rad/s", "rad=\"1\" s=\"-1\""},
    {"rad/s2", "rad=\"1\" s=\"-2\""},
    {"N.m", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"m", "m=\"1\""},
    {"m/s", "m=\"1\" s=\"-1\""},
    {"m/s2", "m=\"1\" s=\"-2\""},
    {"N", "kg=\"1\" m=\"1\" s=\"-2\""},
    {"s", "s=\"1\""},
    {"kg", "kg=\"1\""},
    {"kg.m", "kg=\"1\" m=\"1\""},
    {"kg.m2", "kg=\"1\" m=\"2\""},
};

/* the joint that has column k */
static const psdm_joint *joint_of(const psdm_robot *r, int k) {
  int joint = 0;
  while (r->joint[joint].q != k) joint++;
  return &r->joint[joint];
}

static const char *unit_of(const psdm_code *code, psdmp_emit_fmu_block block, int k) {
  static const char *const turning[] = {"N.m", "rad", "rad/s", "rad/s2"}, *const sliding[] = {"N", "m", "m/s", "m/s2"};
  int derivative;
  switch (block) {
    case PSDMP_EMIT_FMU_TAU: derivative = 0; break;
    case PSDMP_EMIT_FMU_Q:
    case PSDMP_EMIT_FMU_Q_START: derivative = 1; break;
    case PSDMP_EMIT_FMU_QD:
    case PSDMP_EMIT_FMU_QD_START: derivative = 2; break;
    case PSDMP_EMIT_FMU_QDD: derivative = 3; break;
    case PSDMP_EMIT_FMU_WRENCH: return k < 3 ? "N" : "N.m";
    case PSDMP_EMIT_FMU_GRAVITY: return "m/s2";
    case PSDMP_EMIT_FMU_PAYLOAD: return k == 0 ? "kg" : k < 4 ? "kg.m" : "kg.m2";
    case PSDMP_EMIT_FMU_STEP: return "s";
    default: return NULL; /* base parameters are sums of many kinds */
  }
  return joint_of(code->robot, k)->type == PSDM_PRISMATIC ? sliding[derivative] : turning[derivative];
}

static void emit_units(psdmp_emit_writer *e) {
  psdm_output_text(e->out, "  <UnitDefinitions>\n");
  for (size_t k = 0; k < sizeof units / sizeof *units; k++)
    psdm_output_print(e->out, "    <Unit name=\"%s\"><BaseUnit %s/></Unit>\n", units[k][0], units[k][1]);
  psdm_output_text(e->out, "  </UnitDefinitions>\n");
}

/* ---- variables ---- */

/* what a block is to its importer */
static const struct kind {
  const char *causality, *variability, *initial, *words;
} kinds[PSDMP_EMIT_FMU_BLOCKS] = {
    [PSDMP_EMIT_FMU_TAU] = {"input", "continuous", NULL, "torque that the motor supplies, joint "},
    [PSDMP_EMIT_FMU_WRENCH] =
        {"input", "continuous", NULL,
         "force, then moment, on the tip of the longest moving chain, at its frame's origin, base frame"},
    [PSDMP_EMIT_FMU_Q] = {"output", "continuous", "calculated", "position, joint "},
    [PSDMP_EMIT_FMU_QD] = {"output", "continuous", "calculated", "velocity, joint "},
    [PSDMP_EMIT_FMU_QDD] = {"output", "continuous", "calculated", "acceleration, joint "},
    [PSDMP_EMIT_FMU_Q_START] = {"parameter", "fixed", "exact", "position at the beginning, joint "},
    [PSDMP_EMIT_FMU_QD_START] = {"parameter", "fixed", "exact", "velocity at the beginning, joint "},
    [PSDMP_EMIT_FMU_STEP] = {"parameter", "fixed", "exact",
                             "co-simulation: longest step of the Runge-Kutta method inside"},
    [PSDMP_EMIT_FMU_GRAVITY] = {"parameter", "tunable", "exact", "gravity in the base frame"},
    [PSDMP_EMIT_FMU_PAYLOAD] = {"parameter", "tunable", "exact",
                                "a body on the tip of the longest moving chain, about that link's frame: "},
    [PSDMP_EMIT_FMU_THETA] = {"parameter", "tunable", "exact", "base parameter "},
};

static bool by_joint(psdmp_emit_fmu_block b) { return b <= PSDMP_EMIT_FMU_QD_START && b != PSDMP_EMIT_FMU_WRENCH; }

static void emit_description(psdmp_emit_writer *e, psdmp_emit_fmu_block b, int k) {
  static const char *const parameters[] = {"m", "mx", "my", "mz", "XX", "XY", "XZ", "YY", "YZ", "ZZ"};
  psdmp_emit_wrap_xml(e, kinds[b].words);
  if (by_joint(b)) psdmp_emit_wrap_xml(e, joint_of(e->code->robot, k)->name);
  if (b == PSDMP_EMIT_FMU_PAYLOAD) psdmp_emit_wrap_xml(e, parameters[k]);
  if (b == PSDMP_EMIT_FMU_THETA) psdmp_emit_wrap_xml(e, psdm_model_base_name(e->code->model, k));
}

/* indices of variables count from 1, in the order of value references */
static int index_of(const psdm_code *code, psdmp_emit_fmu_block b, int k) {
  return psdmp_emit_fmu_first(code, b) + k + 1;
}

static void emit_variable(psdmp_emit_writer *e, psdmp_emit_fmu_block b, int k) {
  const struct kind *kind = &kinds[b];
  const char *unit = unit_of(e->code, b, k);
  char number[32];
  psdm_output_print(e->out, "    <ScalarVariable name=\"%s", psdmp_emit_fmu_names[b]);
  if (b != PSDMP_EMIT_FMU_STEP) psdm_output_print(e->out, "[%d]", k + 1);
  psdm_output_print(e->out, "\" valueReference=\"%d\" description=\"", psdmp_emit_fmu_first(e->code, b) + k);
  emit_description(e, b, k);
  psdm_output_print(e->out, "\" causality=\"%s\" variability=\"%s\"", kind->causality, kind->variability);
  if (kind->initial) psdm_output_print(e->out, " initial=\"%s\"", kind->initial);
  psdm_output_text(e->out, "><Real");
  if (unit) psdm_output_print(e->out, " unit=\"%s\"", unit);
  if (b == PSDMP_EMIT_FMU_QD || b == PSDMP_EMIT_FMU_QDD)
    psdm_output_print(e->out, " derivative=\"%d\"", index_of(e->code, (psdmp_emit_fmu_block)(b - 1), k));
  if (b < PSDMP_EMIT_FMU_Q || b > PSDMP_EMIT_FMU_QDD)
    psdm_output_print(e->out, " start=\"%s\"", psdm_number_text(psdmp_emit_fmu_start(e->code, b, k), number));
  psdm_output_text(e->out, "/></ScalarVariable>\n");
}

static void emit_variables(psdmp_emit_writer *e) {
  psdm_output_text(e->out, "  <ModelVariables>\n");
  for (int b = 0; b < PSDMP_EMIT_FMU_BLOCKS; b++)
    for (int k = 0; k < psdmp_emit_fmu_length(e->code, (psdmp_emit_fmu_block)b); k++)
      emit_variable(e, (psdmp_emit_fmu_block)b, k);
  psdm_output_text(e->out, "  </ModelVariables>\n");
}

/* ---- structure: who depends on whom; nothing said is all ---- */

/* a block of unknowns, each depending on one variable of another block, or (PSDMP_EMIT_FMU_BLOCKS) on all */
static void emit_unknowns(psdmp_emit_writer *e, psdmp_emit_fmu_block b, psdmp_emit_fmu_block on) {
  for (int k = 0; k < e->code->robot->n; k++) {
    psdm_output_print(e->out, "      <Unknown index=\"%d\"", index_of(e->code, b, k));
    if (on != PSDMP_EMIT_FMU_BLOCKS) psdm_output_print(e->out, " dependencies=\"%d\"", index_of(e->code, on, k));
    psdm_output_text(e->out, "/>\n");
  }
}

static void emit_structure(psdmp_emit_writer *e) {
  psdm_output_text(e->out, "  <ModelStructure>\n    <Outputs>\n");
  emit_unknowns(e, PSDMP_EMIT_FMU_Q, PSDMP_EMIT_FMU_Q);
  emit_unknowns(e, PSDMP_EMIT_FMU_QD, PSDMP_EMIT_FMU_QD);
  emit_unknowns(e, PSDMP_EMIT_FMU_QDD, PSDMP_EMIT_FMU_BLOCKS);
  psdm_output_text(e->out, "    </Outputs>\n    <Derivatives>\n");
  emit_unknowns(e, PSDMP_EMIT_FMU_QD, PSDMP_EMIT_FMU_QD);
  emit_unknowns(e, PSDMP_EMIT_FMU_QDD, PSDMP_EMIT_FMU_BLOCKS);
  psdm_output_text(e->out, "    </Derivatives>\n    <InitialUnknowns>\n");
  emit_unknowns(e, PSDMP_EMIT_FMU_Q, PSDMP_EMIT_FMU_Q_START);
  emit_unknowns(e, PSDMP_EMIT_FMU_QD, PSDMP_EMIT_FMU_QD_START);
  emit_unknowns(e, PSDMP_EMIT_FMU_QDD, PSDMP_EMIT_FMU_BLOCKS);
  psdm_output_text(e->out, "    </InitialUnknowns>\n  </ModelStructure>\n");
}

/* ---- the file ---- */

static void emit_interface(psdmp_emit_writer *e, const char *name, const char *more) {
  bool derivatives =
      psdmp_emit_wrap_differentiable(e->code) && psdmp_emit_wrap_program(e->code, PSDM_F_LINEARIZE_FORWARD);
  psdm_output_print(e->out,
                    "  <%s modelIdentifier=\"%s\" canNotUseMemoryManagementFunctions=\"true\" "
                    "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"%s%s>\n",
                    name, e->prefix, derivatives ? " providesDirectionalDerivative=\"true\"" : "", more);
  psdm_output_print(e->out, "    <SourceFiles><File name=\"%s_fmu.c\"/><File name=\"%s.c\"/></SourceFiles>\n  </%s>\n",
                    e->prefix, e->prefix, name);
}

void psdmp_emit_wrap_fmu_description(psdmp_emit_writer *e, const char *guid) {
  psdm_output_text(e->out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"");
  psdmp_emit_wrap_xml(e, psdm_robot_name(e->code->robot));
  psdm_output_print(e->out,
                    "\" guid=\"%s\" description=\"Rigid-body motion of a robot under torques\" "
                    "generationTool=\"libpsdm %s\" variableNamingConvention=\"structured\" "
                    "numberOfEventIndicators=\"0\">\n",
                    guid, psdm_version());
  emit_interface(e, "ModelExchange", "");
  emit_interface(e, "CoSimulation", " canHandleVariableCommunicationStepSize=\"true\"");
  emit_units(e);
  psdm_output_text(e->out, "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>\n");
  psdm_output_text(e->out, "  <DefaultExperiment startTime=\"0\" stopTime=\"1\" stepSize=\"0.01\"/>\n");
  emit_variables(e);
  emit_structure(e);
  psdm_output_text(e->out, "</fmiModelDescription>\n");
}
