/* wrap.c: what all wrappers of generated functions share, and their lines in the Makefile. */
#include "emit/wrap_priv.h"

#include <stdio.h>
#include <string.h>

static bool asked(const psdm_code_options *o, psdm_code_wrap w) { return o->wraps >> w & 1; }

const psdmp_codegen_program *psdmp_emit_wrap_program(const psdm_code *code, psdm_function f) {
  for (int k = 0; k < code->programs; k++)
    if (code->program[k].function == f) return &code->program[k];
  return NULL;
}

bool psdmp_emit_wrap_differentiable(const psdm_code *code) { return !code->options.wrench_argument; }

void psdmp_emit_wrap_lines(psdmp_emit_writer *e, const char *const *line, size_t count) {
  for (size_t k = 0; k < count; k++) psdmp_emit_say(e, "%s\n", line[k]);
}

static const char *const export_lines[] = {
    "#if defined(_WIN32)",
    "#define $EXPORT __declspec(dllexport)",
    "#elif defined(__GNUC__)",
    "#define $EXPORT __attribute__((visibility(\"default\")))",
    "#else",
    "#define $EXPORT",
    "#endif",
    "",
    "#ifdef __cplusplus",
    "extern \"C\" {",
    "#endif",
    "",
};

void psdmp_emit_wrap_export(psdmp_emit_writer *e) {
  psdmp_emit_wrap_lines(e, export_lines, sizeof export_lines / sizeof *export_lines);
}

void psdmp_emit_wrap_xml(psdmp_emit_writer *e, const char *text) {
  static const char special[] = "&<>\"'";
  static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  size_t left = strlen(text);
  while (left) {
    char piece[5] = "";
    size_t length = psdmp_base_utf8_length(text, left);
    const char *found = strchr(special, *text);
    if (found) {
      psdm_output_text(e->out, entity[found - special]);
      length = 1;
    } else if (!length || (unsigned char)*text < 0x20 || *text == 0x7F ||
               (length == 3 && memcmp(text, "\xEF\xBF", 2) == 0)) {
      psdm_output_text(e->out, "?"); /* broken, or no character of XML */
      if (!length) length = 1;
    } else {
      memcpy(piece, text, length);
      psdm_output_text(e->out, piece);
    }
    text += length, left -= length;
  }
}

/* ---- the identity of an FMU ---- */

static psdm_status digest(const psdmp_emit_writer *e, bool wrapper, psdmp_base_arena *arena, uint64_t *value) {
  psdm_code bare = *e->code; /* the command line says where files went, not what they do */
  psdmp_emit_writer into = *e;
  bare.options.command = NULL;
  into.code = &bare;
  psdm_status status = psdmp_base_digest_open(arena->allocator, &into.out);
  if (status) return status;
  if (wrapper) psdmp_emit_wrap_fmu(&into, "");
  else status = psdmp_emit_source(&into, arena);
  if (!status && psdm_output_failed(into.out)) status = PSDM_E_MEMORY; /* or the identity would be another one */
  *value = psdmp_base_digest_close(&into.out);
  return status;
}

psdm_status psdmp_emit_wrap_guid(const psdmp_emit_writer *e, psdmp_base_arena *arena, char guid[40]) {
  uint64_t code = 0, wrapper = 0;
  psdm_status status = digest(e, false, arena, &code);
  if (!status) status = digest(e, true, arena, &wrapper);
  snprintf(guid, 40, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(code >> 32), (unsigned)(code >> 16 & 0xFFFF),
           (unsigned)(code & 0xFFFF), (unsigned)(wrapper >> 48), (unsigned long long)(wrapper & 0xFFFFFFFFFFFF));
  return status;
}

/* ---- the Makefile ---- */

static const char *const casadi_rules[] = {
    "# make casadi: lib$(NAME)_casadi.so, to be loaded by casadi.external('inverse', './lib$(NAME)_casadi.so')",
    "casadi: lib$(NAME)_casadi.so",
    "",
    "lib$(NAME)_casadi.so: $(NAME)_casadi.c $(NAME).c $(NAME).h",
    "\t$(CC) $(CFLAGS) -fPIC -fvisibility=hidden -shared -o $@ $(NAME)_casadi.c $(NAME).c $(LDFLAGS) $(LDLIBS)",
    "",
};

/* an FMU travels, so it is not made for one processor; where there is no cmake, zip or python3 pack as well */
static const char *const fmu_rules[] = {
    "# make fmu: $(NAME).fmu, for co-simulation and model exchange (FMI 2.0), with its sources inside",
    "FMU_PLATFORM ?= $(if $(filter Darwin,$(shell uname -s)),darwin64,linux64)",
    "FMU_LIBRARY ?= $(NAME)$(if $(filter Darwin,$(shell uname -s)),.dylib,.so)",
    "FMU_CFLAGS ?= -std=c99 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -pedantic",
    "",
    "fmu: $(NAME).fmu",
    "",
    "$(NAME).fmu: $(NAME)_fmu.c $(NAME).c $(NAME).h modelDescription.xml",
    "\trm -rf fmu $@",
    "\tmkdir -p fmu/sources fmu/binaries/$(FMU_PLATFORM)",
    "\tcp modelDescription.xml fmu/",
    "\tcp $(NAME)_fmu.c $(NAME).c $(NAME).h fmu/sources/",
    "\t$(CC) $(FMU_CFLAGS) -fPIC -fvisibility=hidden -shared -o fmu/binaries/$(FMU_PLATFORM)/$(FMU_LIBRARY) "
    "$(NAME)_fmu.c $(NAME).c $(LDFLAGS) $(LDLIBS)",
    "\tcd fmu && if command -v cmake > /dev/null; then cmake -E tar cf ../$@ --format=zip modelDescription.xml "
    "binaries sources; \\",
    "\t  elif command -v zip > /dev/null; then zip -qr ../$@ modelDescription.xml binaries sources; \\",
    "\t  else python3 -m zipfile -c ../$@ modelDescription.xml binaries sources; fi",
    "\trm -rf fmu",
    "",
};

static void emit_rules(psdmp_emit_writer *e, const char *const *line, size_t count) {
  for (size_t k = 0; k < count; k++) psdm_output_print(e->out, "%s\n", line[k]);
}

void psdmp_emit_wrap_makefile(psdmp_emit_writer *e) {
  const psdm_code_options *o = &e->code->options;
  bool casadi = asked(o, PSDM_CODE_WRAP_CASADI), fmu = asked(o, PSDM_CODE_WRAP_FMU);
  if (!o->wraps) return;
  psdm_output_text(e->out, "\n");
  if (casadi) emit_rules(e, casadi_rules, sizeof casadi_rules / sizeof *casadi_rules);
  if (fmu) emit_rules(e, fmu_rules, sizeof fmu_rules / sizeof *fmu_rules);
  psdm_output_print(e->out, "clean: clean-wrappers\nclean-wrappers:\n\trm -rf%s%s\n\n",
                    casadi ? " lib$(NAME)_casadi.so" : "", fmu ? " $(NAME).fmu fmu" : "");
  psdm_output_print(e->out, ".PHONY: clean-wrappers%s%s\n", casadi ? " casadi" : "", fmu ? " fmu" : "");
}
