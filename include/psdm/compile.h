/* psdm/compile.h: generated code, compiled and loaded while the program runs.
 *
 *   psdm_compiled *arm;
 *   psdm_compile(code, NULL, NULL, &arm, &error);                 // cc in a private folder, or an earlier result
 *                                                                 // from the cache
 *   const void *in[] = {q, qd, qdd};
 *   void *out[] = {tau};
 *   psdm_compiled_call(arm, PSDM_F_INVERSE, in, out, NULL);
 *
 * The system's C compiler ($CC, else cc) makes a shared object, which is loaded into this process. Without a compiler,
 * or when it fails, the object evaluates the operation graph instead: slower, the same numbers to rounding;
 * psdm_compiled_info says which and why.
 *
 * Cache: results are stored under a SHA-256 of the generated text, the compiler, its flags, the processor and the
 * library's version, in $PSDM_CACHE, else $XDG_CACHE_HOME/psdm, else ~/.cache/psdm. A folder that is a link, belongs to
 * another user or is writable by others is not used; nor is such a file in it, or one whose content has changed.
 * Processes may share a cache. Anyone who can write to it as you can run code as you; it may be emptied at any time.
 *
 * Functions of closed loops need machine code: they are never evaluated as graphs.
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
  const char *compiler; /* with arguments, as in $CC; NULL: $CC, else cc */
  const char *flags;    /* arguments after the standard ones, such as "-O1"; NULL: none */
  const char *cache;    /* folder, created if missing; NULL: as above; "": no cache */
  bool native;          /* fail with PSDM_E_COMPILER instead of falling back to the graph */
  bool graph;           /* do not compile at all */
  unsigned long long reserved[8];
} psdm_compile_options;

/* How an object was made. */
typedef struct psdm_compile_info {
  bool native; /* machine code; else the operation graph */
  bool cached; /* native: from the cache, without running the compiler */
  bool stored; /* native: now stored in the cache */
  /* why it is not native: PSDM_E_COMPILER and others; PSDM_OK if it is, or was not asked for */
  psdm_status status;
  char reason[512];   /* one sentence: why it is not native, or why the cache was not used; "" */
  char compiler[256]; /* path, "" if none was found */
  char key[65];       /* of the cache, hexadecimal */
  double seconds;     /* text, compilation and loading */
} psdm_compile_info;

typedef struct psdm_compiled psdm_compiled;

/* The code is not needed after the call. Free with psdm_compiled_free. options may be NULL. */
PSDM_API psdm_status psdm_compile(const psdm_code *code, const psdm_compile_options *options,
                                  const psdm_allocator *allocator, psdm_compiled **compiled, psdm_error *error);
PSDM_API void psdm_compiled_free(psdm_compiled *compiled); /* accepts NULL; no call may be running */

PSDM_API const psdm_compile_info *psdm_compiled_info(const psdm_compiled *compiled);

/* Arguments and results of a function, in the order of the C function; -1 when it is not part of the code. name and
 * length (numbers per state) may be NULL. */
PSDM_API int psdm_compiled_arguments(const psdm_compiled *compiled, psdm_function function);
PSDM_API int psdm_compiled_results(const psdm_compiled *compiled, psdm_function function);
PSDM_API const char *psdm_compiled_argument(const psdm_compiled *compiled, psdm_function function, int index,
                                            int *length);
PSDM_API const char *psdm_compiled_result(const psdm_compiled *compiled, psdm_function function, int index,
                                          int *length);

/* Doubles of scratch for a call of any function; 0 for machine code. */
PSDM_API size_t psdm_compiled_scratch(const psdm_compiled *compiled);

/* One state. Arrays of double, or of float where the code is. Results overlap neither arguments nor each other. Never
 * allocates; threads may share the object when each brings its own scratch (psdm_compiled_scratch, NULL for machine
 * code). PSDM_E_ARGUMENT when the code has no such function, or scratch is missing. */
PSDM_API psdm_status psdm_compiled_call(const psdm_compiled *compiled, psdm_function function,
                                        const void *const *arguments, void *const *results, double *scratch);

/* Closed loops: the last argument of functions is passive, positions of the passive joints that close the loops at q.
 * This finds them: near the p that it gets, which is that of a position near by, or, where walk, from the position of
 * the robot's file, whatever p has. PSDM_E_LOOP, and p as it was: there are none, or not near. PSDM_E_ARGUMENT without
 * closed loops. */
PSDM_API psdm_status psdm_compiled_close(const psdm_compiled *compiled, bool walk, const void *q, void *p);

/* psdm_compiled_call for count states, for PSDM_CODE_SIMD: number k of state i at [k * count + i], in and out; theta,
 * gravity, payload, wrench and dt are shared by all states. */
PSDM_API psdm_status psdm_compiled_batch(const psdm_compiled *compiled, psdm_function function, size_t count,
                                         const void *const *arguments, void *const *results, double *scratch);

/* Layout of many states: number k of state i at data[i * state + k * number], in numbers, not bytes. A state stride of
 * 0 is one state for all. */
typedef struct psdm_strided {
  void *data;
  ptrdiff_t state, number;
} psdm_strided;

/* The same for states in any layout, rows of a table as well as structures of arrays, and for any target: a few states
 * at a time are copied to the layout of psdm_compiled_batch, and their results back, in the processor's cache. States
 * already in that layout are not copied. theta, gravity, payload, wrench and dt are contiguous: only their data is
 * used. Arguments are not written to, results overlap nothing. scratch: psdm_compiled_rows_scratch doubles, separate
 * for each thread; never allocates. */
/* 0 when it is not part of the code */
PSDM_API size_t psdm_compiled_rows_scratch(const psdm_compiled *compiled, psdm_function function);
PSDM_API psdm_status psdm_compiled_rows(const psdm_compiled *compiled, psdm_function function, size_t count,
                                        const psdm_strided *arguments, const psdm_strided *results, double *scratch);

/* The C function itself, PREFIX_inverse or PREFIX_inverse_batch (closed loops: PREFIX_inverse_at), to be cast to its
 * type in PREFIX.h; NULL without machine code. Valid as long as the object. bytes (nullable): size of its machine code,
 * without what it calls; 0 when unknown. */
typedef void (*psdm_compiled_pointer)(void);
PSDM_API psdm_compiled_pointer psdm_compiled_symbol(const psdm_compiled *compiled, psdm_function function, bool batch,
                                                    size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
