/* compile.h: the parts of psdm_compile: the compiler, the cache, the loader, the graph as the way out. Private to
 * the library. */
#ifndef PSDMP_COMPILE_H
#define PSDMP_COMPILE_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "psdm/compile.h"

/* ---- the compiler: compile_run_io.c ---- */

enum { PSDMP_COMPILE_WORDS = 64 };

/* A command without a shell. */
typedef struct psdmp_compile_command {
  const char *path;                    /* of the program */
  char *word[PSDMP_COMPILE_WORDS + 1]; /* argv, NULL-terminated */
  int words;
} psdmp_compile_command;

/* Finds the compiler of the options; PSDM_E_COMPILER when there is none. */
psdm_status psdmp_compile_compiler_find(const psdm_compile_options *options, psdmp_base_arena *arena,
                                        psdmp_compile_command *command, psdm_error *error);

/* Cuts text into words at blanks and appends them; PSDM_E_COMPILER when there are too many, PSDM_E_MEMORY. */
psdm_status psdmp_compile_command_add(psdmp_compile_command *command, const char *text, psdmp_base_arena *arena,
                                      psdm_error *error);

/* What the machine code depends on beside text and flags: the files behind the command's words, the processor. */
void psdmp_compile_compiler_identity(const psdmp_compile_command *command, psdmp_base_sha256 *hash);

/* Runs it to its end, output to a file. PSDM_E_COMPILER, with the first line of that file, when it fails. */
psdm_status psdmp_compile_compiler_run(const psdmp_compile_command *command, const char *log, psdmp_base_arena *arena,
                                       psdm_error *error);

/* A new folder that only we may enter, its files and its removal; a signal that ends the program takes both away.
 * Zero-initialise. */
enum { PSDMP_COMPILE_PRIVATE_FILES = 5, PSDMP_COMPILE_PRIVATE_NAME = 700 };
typedef struct psdmp_compile_private {
  char file[PSDMP_COMPILE_PRIVATE_FILES][PSDMP_COMPILE_PRIVATE_NAME];
  int slot[PSDMP_COMPILE_PRIVATE_FILES + 1]; /* of psdmp_base_pending_add */
} psdmp_compile_private;
/* names: one for each file, "%s" stands for the prefix. folder: room for its path, size bytes; "" where there is
 * none. */
psdm_status psdmp_compile_private_make(psdmp_compile_private *p, char *folder, size_t size,
                                       const char *const names[PSDMP_COMPILE_PRIVATE_FILES], const char *prefix,
                                       psdm_error *error);
void psdmp_compile_private_remove(psdmp_compile_private *p, const char *folder); /* "": there is none */

/* A variable of the environment; NULL when it is empty or the program runs with rights that its user has not. */
const char *psdmp_compile_environment(const char *name);

/* ---- the cache: compile_cache_io.c ---- */

/* An object in memory, and the open file that it was read from. */
typedef struct psdmp_compile_object {
  unsigned char *bytes; /* owned by the arena */
  size_t length;
  int fd; /* -1: none */
} psdmp_compile_object;

/* Descriptor of the folder; -1 with a sentence why in reason, "" when none is wanted. */
int psdmp_compile_cache_open(const char *option, char *reason, size_t size);

/* PSDM_OK with object->fd -1 when the cache does not have it; reason says so when what it has is not to be trusted. */
psdm_status psdmp_compile_cache_read(int folder, const char *key, psdmp_base_arena *arena, psdmp_compile_object *object,
                                     char *reason, size_t size);
bool psdmp_compile_cache_store(int folder, const char *key, const psdmp_compile_object *object, char *reason,
                               size_t size);

/* A file of ours, whole. PSDM_E_IO when it cannot be read. */
psdm_status psdmp_compile_object_read(int fd, size_t length, psdmp_base_arena *arena, psdmp_compile_object *object);

/* ---- one compilation: build_io.c ---- */

/* files of the private folder: texts, of which the last is compiled and has the key in it, then these */
enum { PSDMP_COMPILE_TEXTS = 3, PSDMP_COMPILE_OBJECT = PSDMP_COMPILE_TEXTS, PSDMP_COMPILE_LOG };

/* Initialise with the first part set, cache and object.fd -1, the arena's allocator, and the command. */
typedef struct psdmp_compile_build {
  const char *const *names;    /* of the files, and their prefix, as psdmp_compile_private_make takes them */
  const char *prefix, *option; /* option: as psdmp_compile_cache_open takes it */
  char *library, *reason;      /* a word behind the text, NULL: none; room for a sentence */
  size_t room;
  void *user;
  /* one text; key "": it is only hashed */
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
void psdmp_compile_build_end(psdmp_compile_build *build); /* whatever it has come to */

/* ---- the functions: compile_graph.c, compile_load_io.c, compile_check.c ---- */

/* One operation on values numbered as the steps are; INPUT: argument a, number b. */
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

/* One function: what it takes and gives, and one of the two ways to compute it. */
typedef struct psdmp_compile_unit {
  bool there;
  int arguments, results;
  psdmp_compile_slot argument[PSDMP_CODEGEN_IN_COUNT], result[3];

  /* machine code */
  void (*call)(const void *const *arguments, void *const *results);
  void (*batch)(size_t count, const void *const *arguments, void *const *results);
  psdm_compiled_pointer symbol[2]; /* plain, batch */
  size_t bytes[2];

  /* the graph: only what the outputs reach */
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
  void *library; /* NULL: none */
  int fd;        /* keeps the library's name in /proc its own; -1: none */
};

psdm_status psdmp_compile_graph_units(const psdm_code *code, psdm_compiled *compiled);

/* State i of stride; stride 1 and i 0 outside batches. */
void psdmp_compile_graph_run(const psdmp_compile_unit *unit, bool single, size_t stride, size_t i,
                             const void *const *arguments, void *const *results, double *scratch);

/* Maps an object and finds its functions. */
psdm_status psdmp_compile_load(const psdm_code *code, const psdmp_compile_object *object, psdm_compiled *compiled,
                               psdm_error *error);

/* What was loaded against the recursions. PSDM_E_COMPILER, and a sentence, where it is off by more than
 * psdmp_codegen_tolerance. */
psdm_status psdmp_compile_compiled_check(const psdm_code *code, const psdm_compiled *compiled, psdm_error *error);

/* Maps it, for dlsym and dlclose. right: whether it is what was compiled. fd: to be closed after that. NULL when it
 * cannot be. */
void *psdmp_compile_object_open(const psdmp_compile_object *object, bool (*right)(void *library, void *user),
                                void *user, int *fd, psdm_error *error);

/* Size of a symbol in an ELF object of this machine's kind; 0 when it is not there. */
size_t psdmp_compile_symbol_bytes(const psdmp_compile_object *object, const char *name);

#endif
