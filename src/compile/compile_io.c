/* compile_io.c: generated code into this process: text in a private folder, the cache asked, else the compiler; the
 * graph where that fails. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document.h"
#include "compile/compile.h"
#include "emit/emit.h"
#include "psdm/version.h"

/* -fvisibility: a function of the host with the same name must not be taken for ours */
static const char standard_flags[] = "-std=c99 -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math "
                                     "-fPIC -shared -fvisibility=protected";

/* files of the private folder; a - is in no prefix */
typedef enum file_kind { HEADER, SOURCE, UNIT, OBJECT, LOG, FILES } file_kind;
static const char *const file_name[FILES] = {"%s.h", "%s.c", "unit-%s.c", "unit-%s.so", "log-%s"};

/* One compilation under way. */
typedef struct job {
  const psdm_code *code;
  const psdm_compile_options *options;
  psdm_compiled *result;
  psdmp_base_arena arena;
  psdmp_compile_command command;
  char folder[512]; /* "": none */
  int cache;        /* -1: none */
  psdmp_compile_object object;
  psdmp_compile_private files;
  psdm_error *error;
} job;

/* ---- text ---- */

/* the functions behind one type each, so that any number of arguments can be called */
static void emit_calls(psdmp_emit_writer *e) {
  for (int k = 0; k < e->code->programs; k++)
    for (int batch = 0; batch <= (e->code->options.target == PSDM_CODE_SIMD); batch++) {
      const psdmp_codegen_program *p = &e->code->program[k];
      const char *suffix = batch ? "_batch" : "";
      int arguments = 0;
      psdmp_emit_say(e, "void @unit_%s%s(%sconst void *const *a, void *const *r) { @%s%s(%s", p->name, suffix,
                     batch ? "size_t count, " : "", p->name, suffix, batch ? "count, " : "");
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
}

static psdm_status write_file(job *j, file_kind kind, const char *key) {
  const psdm_code_options *o = &j->code->options;
  psdmp_emit_writer e = {
      .code = j->code, .prefix = o->prefix, .single = o->real_float, .real = o->real_float ? "float" : "double"};
  snprintf(e.upper, sizeof e.upper, "%s", e.prefix);
  for (char *c = e.upper; *c; c++) *c = (char)toupper((unsigned char)*c);
  psdm_status status = psdm_output_open(j->files.file[kind], j->arena.allocator, &e.out, j->error);
  if (status) return status;
  psdm_output_passing(e.out);
  if (kind == HEADER) psdmp_emit_header(&e);
  else if (kind == SOURCE) status = psdmp_emit_source(&e, &j->arena);
  else emit_unit(&e, key);
  if (!status) return psdm_output_commit(&e.out, j->error);
  psdm_output_abort(&e.out);
  return psdmp_base_fail(j->error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status));
}

/* ---- the key: everything that the object depends on ---- */

static psdm_status hash_file(job *j, file_kind kind, psdmp_base_sha256 *hash) {
  enum { MOST_TEXT = 1 << 28 };
  char *text;
  size_t length;
  psdm_status status = psdmp_document_file_read(j->files.file[kind], MOST_TEXT, &j->arena, &text, &length, j->error);
  if (!status) psdmp_base_sha256_part(hash, text, length);
  return status;
}

static psdm_status set_key(job *j) {
  psdmp_base_sha256 hash;
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  psdm_status status = PSDM_OK;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, PSDM_VERSION, strlen(PSDM_VERSION));
  psdmp_compile_compiler_identity(&j->command, &hash);
  for (int kind = HEADER; kind <= UNIT && !status; kind++) status = hash_file(j, (file_kind)kind, &hash);
  psdmp_base_sha256_end(&hash, digest);
  for (int i = 0; i < PSDMP_BASE_SHA256_BYTES; i++) snprintf(j->result->info.key + 2 * i, 3, "%02x", digest[i]);
  return status;
}

/* ---- the steps ---- */

/* compiler, its words and the text; the names of the files, which differ from run to run, are no part of the key */
static psdm_status prepare(job *j) {
  psdm_status status = psdmp_compile_compiler_find(j->options, &j->arena, &j->command, j->error);
  if (status) return status;
  snprintf(j->result->info.compiler, sizeof j->result->info.compiler, "%s", j->command.path);
  status = psdmp_compile_command_add(&j->command, standard_flags, &j->arena, j->error);
  if (!status && j->options->flags)
    status = psdmp_compile_command_add(&j->command, j->options->flags, &j->arena, j->error);
  if (!status)
    status = psdmp_compile_private_make(&j->files, j->folder, sizeof j->folder, file_name, j->code->options.prefix,
                                        j->error);
  if (!status) status = write_file(j, HEADER, NULL);
  if (!status) status = write_file(j, SOURCE, NULL);
  if (!status) status = write_file(j, UNIT, "");
  if (!status) status = set_key(j);
  return status;
}

static psdm_status read_cache(job *j) {
  psdm_compile_info *info = &j->result->info;
  j->cache = psdmp_compile_cache_open(j->options->cache, info->reason, sizeof info->reason);
  if (j->cache < 0) return PSDM_OK;
  psdm_status status =
      psdmp_compile_cache_read(j->cache, info->key, &j->arena, &j->object, info->reason, sizeof info->reason);
  info->cached = info->stored = !status && j->object.fd >= 0;
  return status ? psdmp_base_no_memory("", j->error) : PSDM_OK;
}

static psdm_status read_object(job *j, const char *path) {
  struct stat info;
  j->object.fd = open(path, O_RDONLY | O_CLOEXEC);
  if (j->object.fd < 0 || fstat(j->object.fd, &info))
    return psdmp_base_fail(j->error, PSDM_E_COMPILER, j->command.path, 0, 0, "the compiler made no object");
  psdm_status status = psdmp_compile_object_read(j->object.fd, (size_t)info.st_size, &j->arena, &j->object);
  return status ? psdmp_base_fail(j->error, status, NULL, 0, 0, "%s while reading what was compiled",
                                  psdm_status_text(status))
                : PSDM_OK;
}

static psdm_status compile(job *j) {
  psdmp_compile_command *c = &j->command;
  if (c->words + 4 > PSDMP_COMPILE_WORDS)
    return psdmp_base_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0, "too many words for the compiler");
  c->word[c->words++] = "-o";
  c->word[c->words++] = j->files.file[OBJECT];
  c->word[c->words++] = j->files.file[UNIT];
  c->word[c->words++] = "-lm";
  c->word[c->words] = NULL;
  psdm_status status = write_file(j, UNIT, j->result->info.key);
  if (!status) status = psdmp_compile_compiler_run(c, j->files.file[LOG], &j->arena, j->error);
  if (!status) status = read_object(j, j->files.file[OBJECT]);
  return status;
}

static void store(job *j) {
  psdm_compile_info *info = &j->result->info;
  if (j->cache >= 0)
    info->stored = psdmp_compile_cache_store(j->cache, info->key, &j->object, info->reason, sizeof info->reason);
}

static void close_object(job *j) {
  if (j->object.fd >= 0) close(j->object.fd);
  j->object.fd = -1;
}

static void unload(psdm_compiled *c) {
  if (c->library) dlclose(c->library);
  if (c->fd >= 0) close(c->fd);
  c->library = NULL;
  c->fd = -1;
  for (int f = 0; f < PSDM_CODE_FUNCTIONS; f++) {
    psdmp_compile_unit *u = &c->unit[f];
    u->call = NULL;
    u->batch = NULL;
    u->symbol[0] = u->symbol[1] = NULL;
    u->bytes[0] = u->bytes[1] = 0;
  }
}

/* loaded and right, or not loaded */
static psdm_status load(job *j) {
  psdm_compiled *c = j->result;
  psdm_status status = psdmp_compile_load(j->code, &j->object, c, j->error);
  if (status) return status;
  status = psdmp_compile_compiled_check(j->code, c, j->error);
  if (status) unload(c);
  return status;
}

/* from the cache, or, where that does not load, anew */
static psdm_status obtain(job *j) {
  psdm_compiled *c = j->result;
  psdm_status status = prepare(j);
  if (!status) status = read_cache(j);
  if (status) return status;
  if (j->object.fd >= 0 && load(j) == PSDM_OK) return PSDM_OK;
  c->info.cached = c->info.stored = false;
  close_object(j);
  status = compile(j);
  if (!status) status = load(j);
  if (!status) store(j);
  return status;
}

static void clean(job *j) {
  close_object(j);
  if (j->cache >= 0) close(j->cache);
  psdmp_compile_private_remove(&j->files, j->folder);
  psdmp_base_arena_free(&j->arena);
}

static psdm_status make_native(const psdm_code *code, const psdm_compile_options *options, psdm_compiled *c,
                               psdm_error *error) {
  job j = {.code = code,
           .options = options,
           .result = c,
           .arena = {.allocator = c->arena.allocator},
           .cache = -1,
           .object = {.fd = -1},
           .error = error};
  psdm_status status = obtain(&j);
  clean(&j);
  c->info.native = !status;
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
  if (!options->graph) status = make_native(code, options, c, &why);
  /* without machine code the graph serves, unless nobody wants it */
  if (status && status != PSDM_E_MEMORY && !options->native) {
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
  const psdm_allocator *allocator = c->arena.allocator;
  unload(c);
  psdmp_base_arena_free(&c->arena);
  psdmp_base_free(allocator, c);
}

const psdm_compile_info *psdm_compiled_info(const psdm_compiled *c) { return &c->info; }

/* NULL when the code has no such function */
static const psdmp_compile_unit *unit_of(const psdm_compiled *c, psdm_code_function f) {
  return (unsigned)f < PSDM_CODE_FUNCTIONS && c->unit[f].there ? &c->unit[f] : NULL;
}

int psdm_compiled_arguments(const psdm_compiled *c, psdm_code_function f) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? u->arguments : -1;
}

int psdm_compiled_results(const psdm_compiled *c, psdm_code_function f) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? u->results : -1;
}

static const char *tell_slot(const psdmp_compile_slot *slots, int count, int index, int *length) {
  if (index < 0 || index >= count) return NULL;
  if (length) *length = slots[index].length;
  return slots[index].name;
}

const char *psdm_compiled_argument(const psdm_compiled *c, psdm_code_function f, int index, int *length) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? tell_slot(u->argument, u->arguments, index, length) : NULL;
}

const char *psdm_compiled_result(const psdm_compiled *c, psdm_code_function f, int index, int *length) {
  const psdmp_compile_unit *u = unit_of(c, f);
  return u ? tell_slot(u->result, u->results, index, length) : NULL;
}

size_t psdm_compiled_scratch(const psdm_compiled *c) { return c->scratch; }

psdm_status psdm_compiled_call(const psdm_compiled *c, psdm_code_function f, const void *const *arguments,
                               void *const *results, double *scratch) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (!u || (!u->call && !scratch && c->scratch)) return PSDM_E_ARGUMENT;
  if (u->call) u->call(arguments, results);
  else psdmp_compile_graph_run(u, c->single, 1, 0, arguments, results, scratch);
  return PSDM_OK;
}

psdm_status psdm_compiled_batch(const psdm_compiled *c, psdm_code_function f, size_t count,
                                const void *const *arguments, void *const *results, double *scratch) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (!u || !c->simd || (!u->batch && !scratch && c->scratch)) return PSDM_E_ARGUMENT;
  if (u->batch) u->batch(count, arguments, results);
  else
    for (size_t i = 0; i < count; i++) psdmp_compile_graph_run(u, c->single, count, i, arguments, results, scratch);
  return PSDM_OK;
}

psdm_compiled_pointer psdm_compiled_symbol(const psdm_compiled *c, psdm_code_function f, bool batch, size_t *bytes) {
  const psdmp_compile_unit *u = unit_of(c, f);
  if (bytes) *bytes = u ? u->bytes[batch] : 0;
  return u ? u->symbol[batch] : NULL;
}
