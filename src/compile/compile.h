/* compile.h: the parts of psdm_compile: the compiler, the cache, the loader, the graph as fallback. Private to the
 * library. */
#ifndef PSDMP_COMPILE_H
#define PSDMP_COMPILE_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "psdm/compile.h"

/* ---- the compiler: run_io.c ---- */

enum { PSDMP_COMPILE_WORDS = 64 };

/* A command without a shell. */
typedef struct psdmp_compile_command {
  const char *path;                    /* of the program */
  char *word[PSDMP_COMPILE_WORDS + 1]; /* argv, NULL-terminated */
  int words;
} psdmp_compile_command;

/* Finds the compiler of the options; PSDM_E_COMPILER if there is none. */
psdm_status psdmp_compile_compiler_find(const psdm_compile_options *options, psdmp_base_arena *arena,
                                        psdmp_compile_command *command, psdm_error *error);

/* Splits text into words at blanks and appends them; PSDM_E_COMPILER when there are too many, PSDM_E_MEMORY. */
psdm_status psdmp_compile_command_add(psdmp_compile_command *command, const char *text, psdmp_base_arena *arena,
                                      psdm_error *error);

/* Hashes what the machine code depends on besides text and flags: the files named in the command, the processor. */
void psdmp_compile_compiler_identity(const psdmp_compile_command *command, psdmp_base_sha256 *hash);

/* Runs it to its end, output to a file. PSDM_E_COMPILER, with the first line of that file, when it fails. */
psdm_status psdmp_compile_compiler_run(const psdmp_compile_command *command, const char *log, psdmp_base_arena *arena,
                                       psdm_error *error);

/* A new folder that only this user may enter, its files and its removal; a signal that ends the program removes both.
 * Zero-initialise. */
enum { PSDMP_COMPILE_PRIVATE_FILES = 5, PSDMP_COMPILE_PRIVATE_NAME = 700 };
typedef struct psdmp_compile_private {
  char file[PSDMP_COMPILE_PRIVATE_FILES][PSDMP_COMPILE_PRIVATE_NAME];
  int slot[PSDMP_COMPILE_PRIVATE_FILES + 1]; /* of psdmp_base_pending_add */
} psdmp_compile_private;
/* names: one for each file, "%s" stands for the prefix. folder: its path, up to size bytes; "" on failure. */
psdm_status psdmp_compile_private_make(psdmp_compile_private *p, char *folder, size_t size,
                                       const char *const names[PSDMP_COMPILE_PRIVATE_FILES], const char *prefix,
                                       psdm_error *error);
void psdmp_compile_private_remove(psdmp_compile_private *p, const char *folder); /* "": nothing to remove */

/* An environment variable; NULL when it is empty or the program runs with privileges that its user does not have. */
const char *psdmp_compile_environment(const char *name);

/* ---- the cache: cache_io.c ---- */

/* An object in memory, and the open file that it was read from. */
typedef struct psdmp_compile_object {
  unsigned char *bytes; /* owned by the arena */
  size_t length;
  int fd; /* -1: none */
} psdmp_compile_object;

/* Descriptor of the folder; -1 with the reason in a sentence, "" when no cache is wanted. */
int psdmp_compile_cache_open(const char *option, char *reason, size_t size);

/* PSDM_OK with object->fd -1 when the cache does not have it; reason says so when its file is not trustworthy. */
psdm_status psdmp_compile_cache_read(int folder, const char *key, psdmp_base_arena *arena, psdmp_compile_object *object,
                                     char *reason, size_t size);
bool psdmp_compile_cache_store(int folder, const char *key, const psdmp_compile_object *object, char *reason,
                               size_t size);

/* Reads a file of ours. PSDM_E_IO when it cannot be read. */
psdm_status psdmp_compile_object_read(int fd, size_t length, psdmp_base_arena *arena, psdmp_compile_object *object);

/* ---- one compilation: build_io.c ---- */

/* files of the private folder: texts, of which the last is compiled and contains the key, then these */
enum { PSDMP_COMPILE_TEXTS = 3, PSDMP_COMPILE_OBJECT = PSDMP_COMPILE_TEXTS, PSDMP_COMPILE_LOG };

/* Initialise with the first part set, cache and object.fd -1, the arena's allocator, and the command. */
typedef struct psdmp_compile_build {
  const char *const *names;    /* of the files, and their prefix, as for psdmp_compile_private_make */
  const char *prefix, *option; /* option: as for psdmp_compile_cache_open */
  char *library, *reason;      /* an argument after the text, NULL: none; room for a sentence */
  size_t room;
  void *user;
  /* writes one text; key "": it is only hashed */
  psdm_status (*write)(void *user, int text, const char *key, struct psdm_output *out, psdmp_base_arena *arena);
  psdm_status (*load)(void *user, const psdmp_compile_object *object, const char *key, psdm_error *error);
  psdm_error *error;
  psdmp_base_arena arena;
  psdmp_compile_command command;

  char folder[512], key[65]; /* folder "": none */
  int cache;                 /* -1: none */
  psdmp_compile_object object;
  psdmp_compile_private files;
  bool cached, stored; /* the object was, and is, in the cache */
} psdmp_compile_build;

psdm_status psdmp_compile_build_run(psdmp_compile_build *build);
void psdmp_compile_build_end(psdmp_compile_build *build); /* also after a failure */

/* ---- the functions: graph.c, load_io.c, check.c ---- */

/* One operation on values with the numbers of their steps; INPUT: argument a, number b. */
typedef struct psdmp_compile_step {
  psdm_op op;
  psdm_ref a, b;
  double value;
} psdmp_compile_step;

typedef struct psdmp_compile_slot {
  const char *name;
  int length;
  bool shared; /* one for all states of a batch */
} psdmp_compile_slot;

/* One function: its arguments and results, and one of the two ways to compute it. */
typedef struct psdmp_compile_unit {
  bool there;
  int arguments, results;
  psdmp_compile_slot argument[PSDMP_CODEGEN_IN_COUNT], result[3];

  /* machine code */
  void (*call)(const void *const *arguments, void *const *results);
  void (*batch)(size_t count, const void *const *arguments, void *const *results);
  psdm_compiled_pointer symbol[2]; /* plain, batch */
  size_t bytes[2];

  /* the graph: only nodes that the outputs reach */
  psdmp_compile_step *step;
  uint32_t steps;
  psdm_ref *output;
} psdmp_compile_unit;

struct psdm_compiled {
  psdmp_base_arena arena; /* owns steps and outputs */
  psdm_compile_info info;
  bool single, simd;
  psdmp_compile_unit unit[PSDM_FUNCTION_COUNT];
  size_t scratch;
  int (*close)(int walk, const void *q, void *p); /* NULL: no closed loops */
  void *library;                                  /* NULL: none */
  int fd;                                         /* reserves the library's name in /proc; -1: none */
};

psdm_status psdmp_compile_graph_units(const psdm_code *code, psdm_compiled *compiled);

/* State i of stride; stride 1 and i 0 outside batches. */
void psdmp_compile_graph_run(const psdmp_compile_unit *unit, bool single, size_t stride, size_t i,
                             const void *const *arguments, void *const *results, double *scratch);

/* Maps an object and finds its functions. */
psdm_status psdmp_compile_load(const psdm_code *code, const psdmp_compile_object *object, psdm_compiled *compiled,
                               psdm_error *error);

/* Compares the loaded functions with the recursions. PSDM_E_COMPILER, and a sentence, when the error exceeds
 * psdmp_codegen_tolerance. */
psdm_status psdmp_compile_compiled_check(const psdm_code *code, const psdm_compiled *compiled, psdm_error *error);

/* Maps the object, for dlsym and dlclose. right: checks that it is what was compiled. fd: to be closed after that. NULL
 * on failure. */
void *psdmp_compile_object_open(const psdmp_compile_object *object, bool (*right)(void *library, void *user),
                                void *user, int *fd, psdm_error *error);

#endif
