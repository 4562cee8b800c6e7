/* wrap_priv.h: generated functions behind the interfaces of others. Private to the library. */
#ifndef PSDMP_EMIT_WRAP_H
#define PSDMP_EMIT_WRAP_H

#include "emit/emit.h"

/* The program of a function, NULL when it was not generated. */
const psdmp_codegen_program *psdmp_emit_wrap_program(const psdm_code *code, psdm_function function);

/* Whether the linearization says all about the derivatives of torques and accelerations: not of a wrench, which it
 * does not know. */
bool psdmp_emit_wrap_differentiable(const psdm_code *code);

/* A table of lines in psdmp_emit_say's words. */
void psdmp_emit_wrap_lines(psdmp_emit_writer *e, const char *const *line, size_t count);

/* How a shared object makes a function known, and that the rest is C in C++ too. */
void psdmp_emit_wrap_export(psdmp_emit_writer *e);

/* Words of others inside an XML attribute. */
void psdmp_emit_wrap_xml(psdmp_emit_writer *e, const char *text);

/* The files, and what the Makefile says about them (nothing without wrappers). */
void psdmp_emit_wrap_casadi(psdmp_emit_writer *e);
void psdmp_emit_wrap_fmu(psdmp_emit_writer *e, const char *guid);
void psdmp_emit_wrap_fmu_description(psdmp_emit_writer *e, const char *guid);
void psdmp_emit_wrap_makefile(psdmp_emit_writer *e);

/* "{01234567-...}", from a hash of the generated code without its banner's command line. */
psdm_status psdmp_emit_wrap_guid(const psdmp_emit_writer *e, psdmp_base_arena *arena, char guid[40]);

/* ---- what an FMU's numbers are: one array, in blocks ---- */

#define PSDMP_EMIT_FMU_BLOCK_LIST(X) \
  X(TAU, "tau")                      \
  X(WRENCH, "wrench")                \
  X(Q, "q")                          \
  X(QD, "qd")                        \
  X(QDD, "qdd")                      \
  X(Q_START, "q_start")              \
  X(QD_START, "qd_start")            \
  X(STEP, "internal_step")           \
  X(GRAVITY, "gravity")              \
  X(PAYLOAD, "payload")              \
  X(THETA, "theta")

typedef enum psdmp_emit_fmu_block {
#define PSDMP_EMIT_FMU_ENUM(id, name) PSDMP_EMIT_FMU_##id,
  PSDMP_EMIT_FMU_BLOCK_LIST(PSDMP_EMIT_FMU_ENUM)
#undef PSDMP_EMIT_FMU_ENUM
      PSDMP_EMIT_FMU_BLOCKS
} psdmp_emit_fmu_block;

extern const char *const psdmp_emit_fmu_names[PSDMP_EMIT_FMU_BLOCKS];

int psdmp_emit_fmu_length(const psdm_code *code, psdmp_emit_fmu_block block); /* 0: not there */
int psdmp_emit_fmu_first(const psdm_code *code, psdmp_emit_fmu_block block);  /* its first value reference */
double psdmp_emit_fmu_start(const psdm_code *code, psdmp_emit_fmu_block block, int k);

#endif
