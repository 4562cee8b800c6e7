/* monte_io.c: programs that are compiled, loaded and run. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document.h"
#include "compile/compile.h"
#include "reduce/monte.h"
#include "psdm/version.h"

struct psdmp_reduce_monte {
  const psdm_allocator *allocator;
  void *library;
  int fd;
  int (*load)(const void *);
  int (*run)(unsigned long long, unsigned long long);
  int (*take)(void *);
  int (*devices)(void);
  const char *(*text)(int);
  void (*close)(void);
};

/* one compilation under way */
typedef struct job {
  psdm_code *code;
  const psdmp_reduce_monte_text *text;
  psdmp_base_arena arena;
  psdmp_compile_command command;
  char folder[512], key[65];
  int cache;
  psdmp_compile_object object;
  psdmp_compile_private files;
  psdm_error *error;
} job;

typedef enum file_kind { HEADER, DEVICE, PROGRAM, OBJECT, LOG, FILES } file_kind;
static const char *const file_name[FILES] = {"psdm_monte.h", "psdm_monte.cuh", "monte.cu", "monte.so", "log"};

/* CUDA's for all kinds of GPUs, at the same time, since the cache may be on a disk that several machines share; or a
 * C++ compiler's, for loops on the processor */
static const char cuda_flags[] = "-O3 -std=c++17 -arch=all-major -t 0 -shared -Xcompiler -fPIC";
static const char plain_flags[] = "-O2 -std=c++17 -x c++ -shared -fPIC";

/* ---- text ---- */

static psdm_status write_file(job *j, file_kind kind) {
  psdmp_emit_writer e = {.code = j->code, .prefix = "psdm_monte", .upper = "PSDM_MONTE", .real = "double"};
  psdm_status status = psdm_output_open(j->files.file[kind], j->arena.allocator, &e.out, j->error);
  if (status) return status;
  psdm_output_passing(e.out);
  if (kind == HEADER) psdmp_emit_header(&e);
  else if (kind == DEVICE) status = psdmp_emit_cuda_device(&e, &j->arena);
  else {
    psdmp_reduce_emit_monte(&e, j->key);
    j->text->emit(&e, j->text->user);
  }
  if (!status) return psdm_output_commit(&e.out, j->error);
  psdm_output_abort(&e.out);
  return psdmp_base_fail(j->error, status, NULL, 0, 0, "%s while writing code", psdm_status_text(status));
}

/* everything that the object depends on */
static psdm_status set_key(job *j) {
  enum { MOST_TEXT = 1 << 28 };
  psdmp_base_sha256 hash;
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  char *text;
  size_t length;
  psdm_status status = PSDM_OK;
  psdmp_base_sha256_start(&hash);
  psdmp_base_sha256_part(&hash, PSDM_VERSION, strlen(PSDM_VERSION));
  psdmp_compile_compiler_identity(&j->command, &hash);
  for (int kind = HEADER; kind <= PROGRAM && !status; kind++) {
    status = psdmp_document_file_read(j->files.file[kind], MOST_TEXT, &j->arena, &text, &length, j->error);
    if (!status) psdmp_base_sha256_part(&hash, text, length);
  }
  psdmp_base_sha256_end(&hash, digest);
  for (int i = 0; i < PSDMP_BASE_SHA256_BYTES; i++) snprintf(j->key + 2 * i, 3, "%02x", digest[i]);
  return status;
}

/* ---- the compiler ---- */

static bool is_cuda(const char *path) {
  const char *name = strrchr(path, '/');
  return strncmp(name ? name + 1 : path, "nvcc", 4) == 0;
}

static psdm_status find_compiler(job *j, const char *compiler) {
  const char *name = compiler ? compiler : psdmp_compile_environment("NVCC");
  psdm_compile_options options = {.compiler = name ? name : "nvcc"};
  char shown[128];
  psdm_status status = psdmp_compile_compiler_find(&options, &j->arena, &j->command, j->error);
  if (status == PSDM_E_COMPILER)
    return psdmp_base_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0,
                           "a GPU needs CUDA's compiler: '%s' was not found; set NVCC to it",
                           psdmp_base_quote(options.compiler, strlen(options.compiler), shown, sizeof shown));
  return status ? status
                : psdmp_compile_command_add(&j->command, is_cuda(j->command.path) ? cuda_flags : plain_flags, &j->arena,
                                            j->error);
}

static psdm_status compile(job *j) {
  struct stat info;
  psdmp_compile_command *c = &j->command;
  if (c->words + 3 > PSDMP_COMPILE_WORDS)
    return psdmp_base_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0, "too many words for the compiler");
  c->word[c->words++] = "-o";
  c->word[c->words++] = j->files.file[OBJECT];
  c->word[c->words++] = j->files.file[PROGRAM];
  c->word[c->words] = NULL;
  psdm_status status = write_file(j, PROGRAM);
  if (!status) status = psdmp_compile_compiler_run(c, j->files.file[LOG], &j->arena, j->error);
  if (status) return status;
  j->object.fd = open(j->files.file[OBJECT], O_RDONLY | O_CLOEXEC);
  if (j->object.fd < 0 || fstat(j->object.fd, &info))
    return psdmp_base_fail(j->error, PSDM_E_COMPILER, c->path, 0, 0, "the compiler made no object");
  status = psdmp_compile_object_read(j->object.fd, (size_t)info.st_size, &j->arena, &j->object);
  return status ? psdmp_base_fail(j->error, status, NULL, 0, 0, "%s while reading what was compiled",
                                  psdm_status_text(status))
                : PSDM_OK;
}

/* ---- the object ---- */

#define FIND(to, name)                      \
  do {                                      \
    void *found_ = dlsym(m->library, name); \
    memcpy(&(to), &found_, sizeof found_);  \
    if (!found_) return false;              \
  } while (0)

static bool find_functions(const job *j, psdmp_reduce_monte *m) {
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

static void unload(psdmp_reduce_monte *m) {
  if (m->library) dlclose(m->library);
  if (m->fd >= 0) close(m->fd);
  m->library = NULL;
  m->fd = -1;
}

static psdm_status load_object(job *j, psdmp_reduce_monte *m) {
  m->library = psdmp_compile_object_open(&j->object, &m->fd, j->error);
  if (!m->library) return PSDM_E_COMPILER;
  if (find_functions(j, m)) return PSDM_OK;
  unload(m);
  return psdmp_base_fail(j->error, PSDM_E_COMPILER, NULL, 0, 0,
                         "the object that was loaded is not the one that was compiled");
}

static void drop_object(job *j) {
  if (j->object.fd >= 0) close(j->object.fd);
  j->object.fd = -1;
}

/* from the cache, or, where that does not load, anew */
static psdm_status obtain(job *j, const char *compiler, psdmp_reduce_monte *m) {
  char reason[512];
  psdm_status status = find_compiler(j, compiler);
  if (!status) status = psdmp_compile_private_make(&j->files, j->folder, sizeof j->folder, file_name, "", j->error);
  for (int kind = HEADER; kind <= PROGRAM && !status; kind++) status = write_file(j, (file_kind)kind);
  if (!status) status = set_key(j);
  if (status) return status;
  j->cache = psdmp_compile_cache_open(NULL, reason, sizeof reason);
  if (j->cache >= 0 && psdmp_compile_cache_read(j->cache, j->key, &j->arena, &j->object, reason, sizeof reason))
    return psdmp_base_no_memory("", j->error);
  if (j->object.fd >= 0 && load_object(j, m) == PSDM_OK) return PSDM_OK;
  drop_object(j);
  status = compile(j);
  if (!status) status = load_object(j, m);
  /* where it cannot be kept it is compiled again */
  if (!status && j->cache >= 0) psdmp_compile_cache_store(j->cache, j->key, &j->object, reason, sizeof reason);
  return status;
}

static void clean(job *j) {
  drop_object(j);
  if (j->cache >= 0) close(j->cache);
  psdmp_compile_private_remove(&j->files, j->folder);
  psdmp_base_arena_free(&j->arena);
  psdm_code_free(j->code);
}

psdm_status psdmp_reduce_monte_new(const psdm_robot *robot, const psdmp_reduce_monte_text *text, const char *compiler,
                                   const psdm_allocator *allocator, psdmp_reduce_monte **monte, psdm_error *error) {
  psdm_code_options options = {.functions = text->functions,
                               .target = PSDM_CODE_CUDA,
                               .prefix = "psdm_monte",
                               .method = PSDM_CODE_RECURSIVE,
                               .effort = -1};
  job j = {.text = text, .arena = {.allocator = allocator}, .cache = -1, .object = {.fd = -1}, .error = error};
  *monte = NULL;
  psdmp_reduce_monte *m = psdmp_base_alloc(allocator, sizeof *m);
  if (!m) return psdmp_base_no_memory("", error);
  m->allocator = allocator;
  m->fd = -1;
  psdm_status status = psdm_code_build(robot, &options, allocator, &j.code, error);
  if (!status) status = obtain(&j, compiler, m);
  clean(&j);
  if (!status && m->devices() <= 0)
    status = psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "no GPU that CUDA can use is here");
  if (status) {
    psdmp_reduce_monte_free(m);
    return status;
  }
  *monte = m;
  return PSDM_OK;
}

void psdmp_reduce_monte_free(psdmp_reduce_monte *m) {
  if (!m) return;
  if (m->close) m->close();
  unload(m);
  psdmp_base_free(m->allocator, m);
}

/* ---- running it ---- */

static psdm_status told(const psdmp_reduce_monte *m, int code, psdm_error *error) {
  return code ? psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "CUDA: %s", m->text(code)) : PSDM_OK;
}

psdm_status psdmp_reduce_monte_load(psdmp_reduce_monte *m, const void *tables, psdm_error *error) {
  return told(m, m->load(tables), error);
}

psdm_status psdmp_reduce_monte_run(psdmp_reduce_monte *m, long first, long some, psdm_error *error) {
  return told(m, m->run((unsigned long long)first, (unsigned long long)some), error);
}

psdm_status psdmp_reduce_monte_take(psdmp_reduce_monte *m, void *to, psdm_error *error) {
  return told(m, m->take(to), error);
}
