/* psdm/status.h: status codes and error messages.
 *
 * Every function that can fail returns a psdm_status and takes a nullable psdm_error *. The library never prints, exits
 * or aborts.
 *
 * Texts (errors, notes, findings, help) name the fields of options and the settings of jobs in backquotes:
 * `ignore_extra`, `missing_inertia = zero`. A caller may show them as it calls them: the command prints options. */
#ifndef PSDM_STATUS_H
#define PSDM_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#if defined(_WIN32)
#define PSDM_API
#elif defined(__GNUC__)
#define PSDM_API __attribute__((visibility("default")))
#else
#define PSDM_API
#endif

#if defined(__GNUC__)
#define PSDM_PRINTF(text, arguments) __attribute__((format(printf, text, arguments)))
#else
#define PSDM_PRINTF(text, arguments)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* For the lists X(constant, word, ...) of these headers: the constants of the enum. */
#define PSDM_LIST_CONSTANT(constant, ...) constant,

/* one table makes the enum and the sentence */
#define PSDM_STATUS_LIST(X)                                                       \
  X(PSDM_OK, "success")                                                           \
  X(PSDM_E_ARGUMENT, "an argument is out of its range")                           \
  X(PSDM_E_MEMORY, "out of memory")                                               \
  X(PSDM_E_IO, "a file could not be read or written")                             \
  X(PSDM_E_PARSE, "the text could not be understood")                             \
  X(PSDM_E_ROBOT, "the robot description contradicts itself")                     \
  X(PSDM_E_MISSING, "a number that this function needs is not known")             \
  X(PSDM_E_LIMIT, "the input is larger or deeper than is accepted")               \
  X(PSDM_E_SINGULAR, "the mass matrix is not positive definite")                  \
  X(PSDM_E_LOOP, "a closed loop cannot be closed at this state")                  \
  X(PSDM_E_COMPILER, "no C compiler could be run, or what it made does not load") \
  X(PSDM_E_ACCURACY, "the answer is less accurate than it must be")               \
  X(PSDM_E_STOPPED, "the caller asked to stop")                                   \
  X(PSDM_E_SETTING, "a setting is unknown, missing or out of its range")

typedef enum psdm_status { PSDM_STATUS_LIST(PSDM_LIST_CONSTANT) PSDM_STATUS_COUNT } psdm_status;

/* Where and why something failed. file is "" and line, column are 0 when they do not apply. */
typedef struct psdm_error {
  psdm_status status;
  int line;       /* counted from 1 */
  int column;     /* counted from 1 */
  char file[256]; /* as the caller named it; of long names the end */
  char text[512]; /* one sentence, no newline, control bytes escaped */
} psdm_error;

/* The sentence of a status. Never NULL; static storage. */
PSDM_API const char *psdm_status_text(psdm_status status);

/* Writes "file:line:column: text" (the parts that apply) into buf, always terminated. Returns buf. */
PSDM_API char *psdm_error_format(const psdm_error *error, char *buf, size_t size);

/* Progress of a long call. doing names the present work in a few words, share is from 0 to 1, or negative if unknown.
 * Return true to continue and false to stop: the call then returns the best result so far, marked `stopped`, or
 * PSDM_E_STOPPED when there is none yet. Every options struct has it as `progress` with `progress_user`, both may be
 * NULL; it is called now and then, possibly from another thread, but never from two at once. */
typedef bool (*psdm_progress)(void *user, const char *doing, double share);

#ifdef __cplusplus
}
#endif
#endif
