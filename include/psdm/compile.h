/* psdm/compile.h: generated code, compiled and loaded while the program runs.
 *
 *   psdm_compiled *arm;
 *   psdm_compile(code, NULL, NULL, &arm, &error);                 // cc in a private folder, or yesterday's result
 *                                                                 // from the cache
 *   const void *in[] = {q, qd, qdd};
 *   void *out[] = {tau};
 *   psdm_compiled_call(arm, PSDM_F_INVERSE, in, out, NULL);
 *
 * The system's C compiler ($CC, else cc) makes a shared object, which is loaded into this process. Where there is no
 * compiler, or it fails, the object evaluates the operation graph instead: slower, the same numbers to rounding;
 * psdm_compiled_info says which and why.
 *
 * Cache: results are kept under a SHA-256 of the generated text, the compiler, its flags, the processor and the
 * library's version, in $PSDM_CACHE, else $XDG_CACHE_HOME/psdm, else ~/.cache/psdm. A folder that is a link, belongs to
 * another user or may be written by others is not used, nor is a file in it of which one of these is true, or whose
 * content is not what was stored. Processes may share a cache. Whoever may write to it as you may run code as you; it
 * may be emptied at any time.
 *
 * Runs the compiler as a child process, without a shell. The environment is not read in set-user-id programs. */
#ifndef PSDM_COMPILE_H
#define PSDM_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/codegen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults. Texts are copied. */
typedef struct psdm_compile_options {
  const char *compiler; /* with words behind it that it always gets, as $CC has them; NULL: $CC, else cc */
  const char *flags;    /* words behind the standard ones, such as "-O1"; NULL: none */
  const char *cache;    /* folder, made when it is missing; NULL: as above; "": no cache */
  bool native;          /* fail with PSDM_E_COMPILER rather than fall back to the graph */
  bool graph;           /* do not compile at all */
  unsigned long long reserved[8];
} psdm_compile_options;

/* How an object came about. */
typedef struct psdm_compile_info {
  bool native; /* machine code; else the operation graph */
  bool cached; /* native: the compiler was not run */
  bool stored; /* native: the cache has it now */
  /* why it is not native: PSDM_E_COMPILER and others; PSDM_OK where it is, or nobody asked for it */
  psdm_status status;
  char reason[512];   /* one sentence: why it is not native, or why the cache was not used; "" */
  char compiler[256]; /* path, "" when none was found */
  char key[65];       /* of the cache, hexadecimal */
  double seconds;     /* text, compilation and loading */
} psdm_compile_info;

typedef struct psdm_compiled psdm_compiled;

/* The code is no longer needed once this returns. Free with psdm_compiled_free. options may be NULL. */
PSDM_API psdm_status psdm_compile(const psdm_code *code, const psdm_compile_options *options,
                                  const psdm_allocator *allocator, psdm_compiled **compiled, psdm_error *error);
PSDM_API void psdm_compiled_free(psdm_compiled *compiled); /* accepts NULL; no call may be under way */

PSDM_API const psdm_compile_info *psdm_compiled_info(const psdm_compiled *compiled);

/* Arguments and results of a function, in the order of the C function; -1 when it is not part of the code. name and
 * length (numbers per state) may be NULL. */
PSDM_API int psdm_compiled_arguments(const psdm_compiled *compiled, psdm_function function);
PSDM_API int psdm_compiled_results(const psdm_compiled *compiled, psdm_function function);
PSDM_API const char *psdm_compiled_argument(const psdm_compiled *compiled, psdm_function function, int index,
                                            int *length);
PSDM_API const char *psdm_compiled_result(const psdm_compiled *compiled, psdm_function function, int index,
                                          int *length);

/* Doubles of scratch that one call needs, of any function; 0 for machine code. */
PSDM_API size_t psdm_compiled_scratch(const psdm_compiled *compiled);

/* One state. Arrays of double, of float where the code was made for it. Results overlap neither arguments nor each
 * other. Never allocates; threads may share the object when each brings its own scratch (psdm_compiled_scratch, NULL
 * for machine code). PSDM_E_ARGUMENT when the code has no such function, or scratch is missing. */
PSDM_API psdm_status psdm_compiled_call(const psdm_compiled *compiled, psdm_function function,
                                        const void *const *arguments, void *const *results, double *scratch);

/* The same for count states, of code for PSDM_CODE_SIMD: number k of state i at [k * count + i], in and out; theta,
 * gravity, payload and wrench are one for all states. */
PSDM_API psdm_status psdm_compiled_batch(const psdm_compiled *compiled, psdm_function function, size_t count,
                                         const void *const *arguments, void *const *results, double *scratch);

/* Where the numbers of many states lie: number k of state i at data[i * state + k * number], in numbers, not bytes.
 * A state stride of 0 is one state for all. */
typedef struct psdm_strided {
  void *data;
  ptrdiff_t state, number;
} psdm_strided;

/* The same for states that lie in any way, rows of a table as well as structures of arrays, and of code for any
 * target: a few states at a time are moved to where psdm_compiled_batch wants them, and their results back, in the
 * processor's cache. What lies so already is not moved. Only data counts of theta, gravity, payload and wrench,
 * which are contiguous. Arguments are not written to, results overlap nothing. scratch: psdm_compiled_rows_scratch
 * doubles, of its own for each thread; never allocates. */
/* 0 when it is not part of the code */
PSDM_API size_t psdm_compiled_rows_scratch(const psdm_compiled *compiled, psdm_function function);
PSDM_API psdm_status psdm_compiled_rows(const psdm_compiled *compiled, psdm_function function, size_t count,
                                        const psdm_strided *arguments, const psdm_strided *results, double *scratch);

/* The C function itself, PREFIX_inverse or PREFIX_inverse_batch, to be called by its type in PREFIX.h; NULL when
 * there is no machine code. It lives as long as the object. bytes (nullable): size of its machine code, what it
 * calls excepted; 0 when unknown. */
typedef void (*psdm_compiled_pointer)(void);
PSDM_API psdm_compiled_pointer psdm_compiled_symbol(const psdm_compiled *compiled, psdm_function function, bool batch,
                                                    size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
