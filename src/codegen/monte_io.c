/* monte_io.c: the program of monte.c compiled, loaded and run. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/doc.h"
#include "codegen/compile.h"
#include "codegen/monte.h"
#include "psdm/version.h"

#define NEW(arena, count, type) ((type *)psdmp_arena_alloc(arena, (size_t)((count) > 0 ? (count) : 1) * sizeof(type)))

enum { CHUNK = 1 << 24 }; /* states between two questions whether to go on: a fraction of a second on a GPU */

struct psdmp_monte {
  const psdm_allocator *allocator;
  void *library;
  int fd;
  int (*load)(const psdmp_monte_tables *);
  int (*run)(unsigned long long, unsigned long long);
  int (*take)(unsigned *);
  int (*devices)(void);
  const char *(*text)(int);
  void (*close)(void);
};

/* one compilation under way */
typedef struct job {
  psdm_code *code;
  int digits;
  psdmp_arena arena;
  psdmp_command command;
  char folder[512], key[65];
  int cache;
  psdmp_object object;
  psdm_error *error;
} job;

typedef enum file_kind { HEADER, DEVICE, PROGRAM, OBJECT, LOG, FILES } file_kind;
static const char *const file_name[FILES] = {"psdm_monte.h", "psdm_monte.cuh", "monte.cu", "monte.so", "log"};

/* CUDA's for all kinds of GPUs, since the cache may be on a disk that several machines share; or a C++ compiler's, for loops on the processor */
static const char cuda_flags[] = "-O3 -std=c++17 -arch=all-major -shared -Xcompiler -fPIC";
static const char plain_flags[] = "-O2 -std=c++17 -x c++ -shared -fPIC";

static char *file_path(const job *j, file_kind kind, char path[700]) {
  snprintf(path, 700, "%s/%s", j->folder, file_name[kind]);
  return path;
}

/* ---- text ---- */

static psdm_status write_file(job *j, file_kind kind) {
  psdmp_writer e = {.code = j->code, .prefix = "psdm_monte", .upper = "PSDM_MONTE", .real = "double"};
  char path[700];
  psdm_status status = psdm_output_open(file_path(j, kind, path), j->arena.allocator, &e.out, j->error);
  if (status) return status;
  if (kind == HEADER)
    psdmp_emit_header(&e);
  else if (kind == DEVICE)
    status = psdmp_emit_cuda_device(&e, &j->arena);
  else
    psdmp_emit_monte(&e, j->digits, j->key);
  if (!status) return psdm_output_commit(&e.out, j->error);
  psdm_output_abort(&e.out);
  return psdmp_fail(j->error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status));
}

/* everything that the object depends on */
static psdm_status set_key(job *j) {
  enum { MOST_TEXT = 1 << 28 };
  psdmp_sha256 hash;
  unsigned char digest[PSDMP_SHA256_BYTES];
  char path[700], *text;
  size_t length;
  psdm_status status = PSDM_OK;
  psdmp_sha256_start(&hash);
  psdmp_sha256_part(&hash, PSDM_VERSION, strlen(PSDM_VERSION));
  psdmp_compiler_identity(&j->command, &hash);
  for (int kind = HEADER; kind <= PROGRAM && !status; kind++) {
    status = psdmp_file_read(file_path(j, (file_kind)kind, path), MOST_TEXT, &j->arena, &text, &length, j->error);
    if (!status) psdmp_sha256_part(&hash, text, length);
  }
  psdmp_sha256_end(&hash, digest);
  for (int i = 0; i < PSDMP_SHA256_BYTES; i++) snprintf(j->key + 2 * i, 3, "%02x", digest[i]);
  return status;
}

/* ---- the compiler ---- */

static bool is_cuda(const char *path) {
  const char *name = strrchr(path, '/');
  return strncmp(name ? name + 1 : path, "nvcc", 4) == 0;
}

static psdm_status find_compiler(job *j, const char *compiler) {
  const char *name = compiler ? compiler : psdmp_environment("NVCC");
  psdm_compile_options options = {.compiler = name ? name : "nvcc"};
  char shown[128];
  if (psdmp_compiler_find(&options, &j->arena, &j->command, NULL))
    return psdmp_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0, "a GPU needs CUDA's compiler: '%s' was not found; set NVCC to it",
                      psdmp_quote(options.compiler, strlen(options.compiler), shown, sizeof shown));
  if (!psdmp_command_add(&j->command, is_cuda(j->command.path) ? cuda_flags : plain_flags, &j->arena)) return psdmp_fail(j->error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory");
  return PSDM_OK;
}

static psdm_status compile(job *j) {
  char object[700], program[700], log[700];
  struct stat info;
  psdmp_command *c = &j->command;
  if (c->words + 3 > PSDMP_WORDS) return psdmp_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0, "too many words for the compiler");
  c->word[c->words++] = "-o";
  c->word[c->words++] = file_path(j, OBJECT, object);
  c->word[c->words++] = file_path(j, PROGRAM, program);
  c->word[c->words] = NULL;
  psdm_status status = write_file(j, PROGRAM);
  if (!status) status = psdmp_compiler_run(c, file_path(j, LOG, log), &j->arena, j->error);
  if (status) return status;
  j->object.fd = open(object, O_RDONLY | O_CLOEXEC);
  if (j->object.fd < 0 || fstat(j->object.fd, &info)) return psdmp_fail(j->error, PSDM_E_COMPILER, c->path, 0, 0, "the compiler made no object");
  status = psdmp_object_read(j->object.fd, (size_t)info.st_size, &j->arena, &j->object);
  return status ? psdmp_fail(j->error, status, NULL, 0, 0, "%s while reading what was compiled", psdm_status_text(status)) : PSDM_OK;
}

/* ---- the object ---- */

#define FIND(to, name)                                \
  do {                                                \
    void *found_ = dlsym(m->library, name);           \
    memcpy(&(to), &found_, sizeof found_);            \
    if (!found_) return false;                        \
  } while (0)

static bool find_functions(const job *j, psdmp_monte *m) {
  const char *key = dlsym(m->library, "psdm_monte_key");
  if (!key || strcmp(key, j->key) != 0) return false;
  FIND(m->load, "psdm_monte_load");
  FIND(m->run, "psdm_monte_run");
  FIND(m->take, "psdm_monte_take");
  FIND(m->devices, "psdm_monte_devices");
  FIND(m->text, "psdm_monte_text");
  FIND(m->close, "psdm_monte_close");
  return true;
}

static void unload(psdmp_monte *m) {
  if (m->library) dlclose(m->library);
  if (m->fd >= 0) close(m->fd);
  m->library = NULL;
  m->fd = -1;
}

static psdm_status load_object(job *j, psdmp_monte *m) {
  m->library = psdmp_object_open(&j->object, &m->fd, j->error);
  if (!m->library) return PSDM_E_COMPILER;
  if (find_functions(j, m)) return PSDM_OK;
  unload(m);
  return psdmp_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0, "the object that was loaded is not the one that was compiled");
}

static void drop_object(job *j) {
  if (j->object.fd >= 0) close(j->object.fd);
  j->object.fd = -1;
}

/* from the cache, or, where that does not load, anew */
static psdm_status obtain(job *j, const char *compiler, psdmp_monte *m) {
  char reason[512];
  psdm_status status = find_compiler(j, compiler);
  if (!status) status = psdmp_private_folder(j->folder, sizeof j->folder, j->error);
  for (int kind = HEADER; kind <= PROGRAM && !status; kind++) status = write_file(j, (file_kind)kind);
  if (!status) status = set_key(j);
  if (status) return status;
  j->cache = psdmp_cache_open(NULL, reason, sizeof reason);
  if (j->cache >= 0 && psdmp_cache_read(j->cache, j->key, &j->arena, &j->object, reason, sizeof reason)) return psdmp_fail(j->error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory");
  if (j->object.fd >= 0 && load_object(j, m) == PSDM_OK) return PSDM_OK;
  drop_object(j);
  status = compile(j);
  if (!status) status = load_object(j, m);
  if (!status && j->cache >= 0) psdmp_cache_store(j->cache, j->key, &j->object, reason, sizeof reason); /* where it cannot be kept it is compiled again */
  return status;
}

static void clean(job *j) {
  char path[700];
  drop_object(j);
  if (j->cache >= 0) close(j->cache);
  for (int kind = 0; kind < FILES && j->folder[0]; kind++) unlink(file_path(j, (file_kind)kind, path));
  if (j->folder[0]) rmdir(j->folder);
  psdmp_arena_free(&j->arena);
  psdm_code_free(j->code);
}

psdm_status psdmp_monte_new(const psdm_robot *robot, const psdm_model *model, const char *compiler, const psdm_allocator *allocator, psdmp_monte **monte, psdm_error *error) {
  psdm_code_options options = {.functions = 1u << PSDM_CODE_INVERSE, .target = PSDM_CODE_CUDA, .prefix = "psdm_monte", .method = PSDM_CODE_RECURSIVE, .effort = -1};
  job j = {.arena = {.allocator = allocator}, .cache = -1, .object = {.fd = -1}, .error = error};
  *monte = NULL;
  psdmp_monte *m = psdmp_alloc(allocator, sizeof *m);
  if (!m) return psdmp_fail(error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory");
  m->allocator = allocator;
  m->fd = -1;
  for (int k = 0; k < model->n; k++) j.digits += model->radix[k];
  psdm_status status = psdm_code_build(robot, &options, allocator, &j.code, error);
  if (!status) status = obtain(&j, compiler, m);
  clean(&j);
  if (!status && m->devices() <= 0) status = psdmp_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "no GPU that CUDA can use is here");
  if (status) {
    psdmp_monte_free(m);
    return status;
  }
  *monte = m;
  return PSDM_OK;
}

void psdmp_monte_free(psdmp_monte *m) {
  if (!m) return;
  if (m->close) m->close();
  unload(m);
  psdmp_free(m->allocator, m);
}

/* ---- running it ---- */

static uint64_t mixed(uint64_t z) {
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static int digit_of(const psdm_model *m, long function, int j) { return (int)(m->code[function] / m->weight[j] % (uint64_t)m->radix[j]); }

/* first joint whose digit is not that of the function before */
static int differs(const psdmp_part *part, long k) {
  const psdm_model *m = part->model;
  for (int j = 0; k > 0 && j < m->n; j++)
    if (digit_of(m, part->function[k], j) != digit_of(m, part->function[k - 1], j)) return j;
  return k > 0 ? m->n : 0;
}

static bool set_tables(const psdm_reducer *r, const psdmp_part *part, psdmp_stream stream, psdmp_arena *arena, psdmp_monte_tables *t) {
  const psdm_model *m = part->model;
  long functions = part->functions, entries = part->start[functions];
  int n = m->n, *first = NEW(arena, n + 1, int), *from = NEW(arena, functions, int), *a = NEW(arena, functions, int), *b = NEW(arena, functions, int), *start = NEW(arena, functions + 1, int),
      *joint = NEW(arena, entries, int);
  unsigned char *digit = NEW(arena, functions * n, unsigned char), *slides = NEW(arena, n, unsigned char);
  double *value = NEW(arena, entries, double);
  if (!first || !from || !a || !b || !start || !joint || !digit || !slides || !value) return false;
  for (int j = 0; j < n; j++) first[j + 1] = first[j] + m->radix[j], slides[j] = m->prismatic[j];
  for (long k = 0; k < functions; k++) {
    for (int j = 0; j < n; j++) digit[k * n + j] = (unsigned char)digit_of(m, part->function[k], j);
    from[k] = differs(part, k);
    psdm_model_class_rates(m, part->class[k], &a[k], &b[k]);
    start[k + 1] = (int)part->start[k + 1];
  }
  for (long e = 0; e < entries; e++) joint[e] = part->entry[e].joint, value[e] = part->entry[e].value;
  const psdm_profile *p = &r->options.profile;
  *t = (psdmp_monte_tables){.state = mixed(r->options.seed * 4 + (uint64_t)stream), .gravity = m->gravity, .qd = p->qd, .qdd = p->qdd, .low = r->source.low, .high = r->source.high, .slides = slides,
                            .first = first, .functions = (int)functions, .forward = r->options.forward, .digit = digit, .from = from, .rate_a = a, .rate_b = b, .start = start, .joint = joint, .value = value};
  return true;
}

static psdm_status going_on(const psdm_reducer *r, long done, long total, psdm_error *error) {
  double share = r->from + (r->to - r->from) * (double)done / (double)total;
  if (!r->options.going_on || r->options.going_on(r->options.going_on_user, share)) return PSDM_OK;
  return psdmp_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "stopped on request");
}

psdm_status psdmp_monte_errors(psdmp_monte *m, psdm_reducer *r, psdmp_stream stream, long total, psdm_error *error) {
  psdmp_arena scratch = {.allocator = r->arena.allocator};
  psdmp_part part;
  psdmp_monte_tables tables;
  psdm_status status = PSDM_OK;
  int code = 0;
  if (!psdmp_part_start(r->model, r->joints, r->theta_new, &scratch, &part) || !set_tables(r, &part, stream, &scratch, &tables))
    status = psdmp_fail(error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory while reducing a model");
  if (!status) code = m->load(&tables);
  for (long at = 0; at < total && !status && !code; at += CHUNK) {
    code = m->run((unsigned long long)at, (unsigned long long)(total - at < CHUNK ? total - at : CHUNK));
    status = going_on(r, at, total, error);
  }
  if (!status && !code) code = m->take(r->count);
  if (!status && code) status = psdmp_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "CUDA: %s", m->text(code));
  psdmp_arena_free(&scratch);
  return status;
}
