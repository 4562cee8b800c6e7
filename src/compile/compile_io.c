/* compile_io.c: generated code in this process: writes the text to a private folder, looks in the cache, else runs the
 * compiler; falls back to the graph. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compile/compile.h"
#include "emit/emit.h"

/* -fvisibility: a function of the host with the same name must not replace ours */
static const char standard_flags[] = "-std=c99 -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math "
                                     "-fPIC -shared -fvisibility=protected";

/* files of the private folder; no prefix contains a - */
enum { HEADER, SOURCE, UNIT };
static const char *const file_name[PSDMP_COMPILE_PRIVATE_FILES] = {"%s.h", "%s.c", "unit-%s.c", "unit-%s.so", "log-%s"};

/* One compilation. */
typedef struct job {
  const psdm_code *code;
  psdm_compiled *result;
} job;

/* ---- text ---- */

/* wrappers with one type, so that functions with any number of arguments can be called */
static void emit_calls(psdmp_emit_writer *e) {
  for (int k = 0; k < e->code->programs; k++)
    for (int batch = 0; batch <= (e->code->options.target == PSDM_CODE_SIMD); batch++) {
      const psdmp_codegen_program *p = &e->code->program[k];
      const char *suffix = batch ? "_batch" : "";
      int arguments = 0;
      psdmp_emit_say(e, "void @unit_%s%s(%sconst void *const *a, void *const *r) { @%s%s%s(%s", p->name, suffix,
                     batch ? "size_t count, " : "", p->name, e->code->loop ? "_at" : "", suffix,
                     batch ? "count, " : "");
      for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
        if (p->length[b]) psdmp_emit_say(e, "a[%d], ", arguments++);
      for (int r = 0; r < p->results; r++) psdmp_emit_say(e, "%sr[%d]", r ? ", " : "", r);
      psdm_output_text(e->out, "); }\n");
    }
}

/* key: "" when the text is only hashed */
static void emit_unit(psdmp_emit_writer *e, const char *key) {
  psdmp_emit_say(e, "#include \"%s.c\"\n#include <stddef.h>\n\nconst char @unit_key[] = \"%s\";\n", e->prefix, key);
  emit_calls(e);
  if (e->code->loop)
    psdmp_emit_say(e,
                   "int @unit_close(int walk, const void *q, void *p) { return walk ? @walk(q, p) : @close(q, p); }\n");
}

static psdm_status write_text(void *user, int text, const char *key, psdm_output *out, psdmp_base_arena *arena) {
  const psdm_code *code = ((job *)user)->code;
  const psdm_code_options *o = &code->options;
  psdmp_emit_writer e = {.out = out,
                         .code = code,
                         .prefix = o->prefix,
                         .single = o->real_float,
                         .real = o->real_float ? "float" : "double"};
  snprintf(e.upper, sizeof e.upper, "%s", e.prefix);
  for (char *c = e.upper; *c; c++) *c = (char)toupper((unsigned char)*c);
  if (text == SOURCE) return psdmp_emit_source(&e, arena);
  if (text == HEADER) psdmp_emit_header(&e);
  else emit_unit(&e, key);
  return PSDM_OK;
}

/* ---- the steps ---- */

static void unload(psdm_compiled *c) {
  if (c->library) dlclose(c->library);
  if (c->fd >= 0) close(c->fd);
  c->library = NULL;
  c->fd = -1;
  c->close = NULL;
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
    psdmp_compile_unit *u = &c->unit[f];
    u->call = NULL;
    u->batch = NULL;
    u->symbol[0] = u->symbol[1] = NULL;
    u->bytes[0] = u->bytes[1] = 0;
  }
}

/* loads and checks; on failure nothing is loaded */
static psdm_status load(void *user, const psdmp_compile_object *object, const char *key, psdm_error *error) {
  job *j = user;
  psdm_compiled *c = j->result;
  memcpy(c->info.key, key, sizeof c->info.key);
  psdm_status status = psdmp_compile_load(j->code, object, c, error);
  if (status) return status;
  status = psdmp_compile_compiled_check(j->code, c, error);
  if (status) unload(c);
  return status;
}

static psdm_status make_native(const psdm_code *code, const psdm_compile_options *options, psdm_compiled *c,
                               psdm_error *error) {
  static char mathematics[] = "-lm";
  psdm_compile_info *info = &c->info;
  job j = {code, c};
  psdmp_compile_build b = {.names = file_name,
                           .prefix = code->options.prefix,
                           .option = options->cache,
                           .library = mathematics,
                           .reason = info->reason,
                           .room = sizeof info->reason,
                           .user = &j,
                           .write = write_text,
                           .load = load,
                           .error = error,
                           .arena = {.allocator = c->arena.allocator},
                           .cache = -1,
                           .object = {.fd = -1}};
  psdm_status status = psdmp_compile_compiler_find(options, &b.arena, &b.command, error);
  if (!status) snprintf(info->compiler, sizeof info->compiler, "%s", b.command.path);
  if (!status) status = psdmp_compile_command_add(&b.command, standard_flags, &b.arena, error);
  if (!status && options->flags) status = psdmp_compile_command_add(&b.command, options->flags, &b.arena, error);
  if (!status) status = psdmp_compile_build_run(&b);
  memcpy(info->key, b.key, sizeof info->key);
  info->cached = b.cached, info->stored = b.stored, info->native = !status;
  psdmp_compile_build_end(&b);
  return status;
}

/* ---- the object ---- */

static void set_shape(const psdm_code *code, psdm_compiled *c) {
  c->single = code->options.real_float;
  c->simd = code->options.target == PSDM_CODE_SIMD;
  for (int k = 0; k < code->programs; k++) {
    const psdmp_codegen_program *p = &code->program[k];
    psdmp_compile_unit *u = &c->unit[p->function];
    u->there = true;
    for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
      if (p->length[b])
        u->argument[u->arguments++] = (psdmp_compile_slot){psdmp_emit_block_names[b], p->length[b],
                                                           psdmp_emit_block_shared((psdmp_codegen_block)b)};
    for (int r = 0; r < p->results; r++)
      u->result[u->results++] = (psdmp_compile_slot){p->result[r].name, p->result[r].count, false};
  }
}

psdm_status psdm_compile(const psdm_code *code, const psdm_compile_options *options, const psdm_allocator *allocator,
                         psdm_compiled **compiled, psdm_error *error) {
  const psdm_compile_options none = {0};
  psdm_error why = {0};
  double started = psdmp_base_clock();
  psdm_status status = PSDM_OK;
  *compiled = NULL;
  if (!options) options = &none;
  psdm_compiled *c = psdmp_base_alloc(allocator, sizeof *c);
  if (!c) return psdmp_base_no_memory("", error);
  c->arena.allocator = allocator;
  c->fd = -1;
  set_shape(code, c);
  if (code->loop && options->graph)
    status = psdmp_base_fail(&why, PSDM_E_ARGUMENT, NULL, 0, 0, "closed loops need machine code, not the graph");
  if (!options->graph) status = make_native(code, options, c, &why);
  /* without machine code the graph is used, unless native is required */
  if (status && status != PSDM_E_MEMORY && !options->native && !code->loop) {
    c->info.status = status;
    psdm_error_format(&why, c->info.reason, sizeof c->info.reason);
    status = PSDM_OK;
  }
  if (!status && !c->info.native && psdmp_compile_graph_units(code, c)) status = psdmp_base_no_memory("", &why);
  if (status) {
    if (error) *error = why;
    psdm_compiled_free(c);
    return status;
  }
  c->info.seconds = psdmp_base_clock() - started;
  *compiled = c;
  return PSDM_OK;
}

void psdm_compiled_free(psdm_compiled *c) {
  if (!c) return;
  unload(c);
  psdmp_base_arena_free_owner(&c->arena, c);
}

const psdm_compile_info *psdm_compiled_info(const psdm_compiled *c) { return &c->info; }

/* NULL when the code has no such function */
static const psdmp_compile_unit *unit_of(const psdm_compiled *c, psdm_function f) {
  return (unsigned)f < PSDM_FUNCTION_COUNT && c->unit[f].there ? &c->unit[f] : NULL;
}

int psdm_compiled_arguments(const psdm_compiled *c, psdm_function f) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? u->arguments : -1;
}

int psdm_compiled_results(const psdm_compiled *c, psdm_function f) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? u->results : -1;
}

static const char *tell_slot(const psdmp_compile_slot *slots, int count, int index, int *length) {
  if (index < 0 || index >= count) return NULL;
  if (length) *length = slots[index].length;
  return slots[index].name;
}

const char *psdm_compiled_argument(const psdm_compiled *c, psdm_function f, int index, int *length) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? tell_slot(u->argument, u->arguments, index, length) : NULL;
}

const char *psdm_compiled_result(const psdm_compiled *c, psdm_function f, int index, int *length) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? tell_slot(u->result, u->results, index, length) : NULL;
}

size_t psdm_compiled_scratch(const psdm_compiled *c) { return c->scratch; }

psdm_status psdm_compiled_call(const psdm_compiled *c, psdm_function f, const void *const *arguments,
                               void *const *results, double *scratch) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (!u || (!u->call && !scratch && c->scratch)) return PSDM_E_ARGUMENT;
  if (u->call) u->call(arguments, results);
  else psdmp_compile_graph_run(u, c->single, 1, 0, arguments, results, scratch);
  return PSDM_OK;
}

psdm_status psdm_compiled_close(const psdm_compiled *c, bool walk, const void *q, void *p) {
  if (!c->close) return PSDM_E_ARGUMENT;
  return c->close(walk, q, p) ? PSDM_E_LOOP : PSDM_OK;
}

psdm_status psdm_compiled_batch(const psdm_compiled *c, psdm_function f, size_t count, const void *const *arguments,
                                void *const *results, double *scratch) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (!u || !c->simd || (!u->batch && !scratch && c->scratch)) return PSDM_E_ARGUMENT;
  if (u->batch) u->batch(count, arguments, results);
  else
    for (size_t i = 0; i < count; i++) psdmp_compile_graph_run(u, c->single, count, i, arguments, results, scratch);
  return PSDM_OK;
}

psdm_compiled_pointer psdm_compiled_symbol(const psdm_compiled *c, psdm_function f, bool batch, size_t *bytes) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (bytes) *bytes = u ? u->bytes[batch] : 0;
  return u ? u->symbol[batch] : NULL;
}
