/* monte_io.c: programs that are compiled, loaded and run. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "compile/compile.h"
#include "reduce/monte.h"

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
  psdmp_reduce_monte *monte;
  const char *key;
} job;

enum { HEADER, DEVICE, PROGRAM };
static const char *const file_name[PSDMP_COMPILE_PRIVATE_FILES] = {"psdm_monte.h", "psdm_monte.cuh", "monte.cu",
                                                                   "monte.so", "log"};

/* CUDA's for all kinds of GPUs, at the same time, since the cache may be on a disk that several machines share; or a
 * C++ compiler's, for loops on the processor */
static const char cuda_flags[] = "-O3 -std=c++17 -arch=all-major -t 0 -shared -Xcompiler -fPIC";
static const char plain_flags[] = "-O2 -std=c++17 -x c++ -shared -fPIC";

/* ---- text ---- */

static psdm_status write_text(void *user, int text, const char *key, psdm_output *out, psdmp_base_arena *arena) {
  job *j = user;
  psdmp_emit_writer e = {.out = out, .code = j->code, .prefix = "psdm_monte", .upper = "PSDM_MONTE", .real = "double"};
  if (text == DEVICE) return psdmp_emit_cuda_device(&e, arena);
  if (text == HEADER) {
    psdmp_emit_header(&e);
    return PSDM_OK;
  }
  psdmp_reduce_emit_monte(&e, key);
  j->text->emit(&e, j->text->user);
  return PSDM_OK;
}

/* ---- the compiler ---- */

static bool is_cuda(const char *path) {
  const char *name = strrchr(path, '/');
  return strncmp(name ? name + 1 : path, "nvcc", 4) == 0;
}

static psdm_status find_compiler(psdmp_compile_build *b, const char *compiler) {
  const char *name = compiler ? compiler : psdmp_compile_environment("NVCC");
  psdm_compile_options options = {.compiler = name ? name : "nvcc"};
  char shown[128];
  psdm_status status = psdmp_compile_compiler_find(&options, &b->arena, &b->command, b->error);
  if (status == PSDM_E_COMPILER)
    return psdmp_base_fail(b->error, PSDM_E_COMPILER, NULL, 0, 0,
                           "a GPU needs CUDA's compiler: '%s' was not found; set NVCC",
                           psdmp_base_quote(options.compiler, strlen(options.compiler), shown, sizeof shown));
  return status ? status
                : psdmp_compile_command_add(&b->command, is_cuda(b->command.path) ? cuda_flags : plain_flags, &b->arena,
                                            b->error);
}

/* ---- the object ---- */

#define FIND(to, name)                     \
  do {                                     \
    void *found_ = dlsym(library, name);   \
    memcpy(&(to), &found_, sizeof found_); \
    if (!found_) return false;             \
  } while (0)

static bool find_functions(void *library, void *user) {
  const job *j = user;
  psdmp_reduce_monte *m = j->monte;
  const char *key = dlsym(library, "psdm_monte_key");
  if (!key || strcmp(key, j->key) != 0) return false;
  FIND(m->load, "psdm_monte_load");
  FIND(m->run, "psdm_monte_run");
  FIND(m->take, "psdm_monte_take");
  FIND(m->devices, "psdm_monte_devices");
  FIND(m->text, "psdm_monte_text");
  FIND(m->close, "psdm_monte_close");
  return true;
}

static psdm_status load(void *user, const psdmp_compile_object *object, const char *key, psdm_error *error) {
  job *j = user;
  j->key = key;
  j->monte->library = psdmp_compile_object_open(object, find_functions, j, &j->monte->fd, error);
  return j->monte->library ? PSDM_OK : PSDM_E_COMPILER;
}

/* from the cache, or, where that does not load, anew */
static psdm_status build(job *j, const char *compiler, psdm_error *error) {
  char reason[512];
  psdmp_compile_build b = {.names = file_name,
                           .prefix = "",
                           .reason = reason,
                           .room = sizeof reason,
                           .user = j,
                           .write = write_text,
                           .load = load,
                           .error = error,
                           .arena = {.allocator = j->monte->allocator},
                           .cache = -1,
                           .object = {.fd = -1}};
  psdm_status status = find_compiler(&b, compiler);
  if (!status) status = psdmp_compile_build_run(&b);
  psdmp_compile_build_end(&b);
  return status;
}

psdm_status psdmp_reduce_monte_new(const psdm_robot *robot, const psdmp_reduce_monte_text *text, const char *compiler,
                                   const psdm_allocator *allocator, psdmp_reduce_monte **monte, psdm_error *error) {
  psdm_code_options options = {.functions = text->functions,
                               .target = PSDM_CODE_CUDA,
                               .prefix = "psdm_monte",
                               .method = PSDM_CODE_RECURSIVE,
                               .effort = -1};
  job j = {.text = text};
  *monte = NULL;
  psdmp_reduce_monte *m = psdmp_base_alloc(allocator, sizeof *m);
  if (!m) return psdmp_base_no_memory("", error);
  m->allocator = allocator;
  m->fd = -1;
  j.monte = m;
  psdm_status status = psdm_code_build(robot, &options, allocator, &j.code, error);
  if (!status) status = build(&j, compiler, error);
  psdm_code_free(j.code);
  if (!status && m->devices() <= 0)
    status = psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "no GPU that CUDA can use was found");
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
  if (m->library) dlclose(m->library);
  if (m->fd >= 0) close(m->fd);
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
