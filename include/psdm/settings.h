/* psdm/settings.h: named values of a command: one table gives the struct, the defaults, the checks and the help.
 *
 *   #define EVAL_SETTINGS(X) \
 *     X(text, in, "-", "FILE", "state CSV to read; - is standard input")
 *
 * kinds: text (const char *; "a|b|c" for the argument: one of these words), flag (bool), number (double), vector
 * (three numbers a,b,c; .given), list (texts). The tool makes its options from these tables, Python its keywords. */
#ifndef PSDM_SETTINGS_H
#define PSDM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef const char *psdm_setting_text;
typedef bool psdm_setting_flag;
typedef double psdm_setting_number;
typedef struct psdm_setting_vector {
  bool given;
  double value[3];
} psdm_setting_vector;
typedef struct psdm_setting_list {
  int count;
  const char **value; /* allocated */
} psdm_setting_list;

typedef enum psdm_setting_kind {
  PSDM_SETTING_text,
  PSDM_SETTING_flag,
  PSDM_SETTING_number,
  PSDM_SETTING_vector,
  PSDM_SETTING_list
} psdm_setting_kind;

/* Tables end with a NULL name. */
typedef struct psdm_setting {
  const char *name; /* with underscores */
  psdm_setting_kind kind;
  size_t offset;        /* of the value in the struct that PSDM_SETTINGS_FIELD makes */
  const char *fallback; /* default as text; "" for an absent text or vector; flags are off, lists empty */
  const char *argument; /* name of the value in --help */
  const char *help;     /* names other settings like every text: "with `log_rate`" (psdm/status.h) */
} psdm_setting;

#define PSDM_SETTINGS_FIELD(kind, name, fallback, argument, help) psdm_setting_##kind name;
/* their struct: PSDM_SETTINGS_STRUCT(arm_settings, ARM_SETTINGS); */
#define PSDM_SETTINGS_STRUCT(type, LIST) \
  typedef struct type {                  \
    LIST(PSDM_SETTINGS_FIELD)            \
  } type
#define PSDM_SETTINGS_ROW(kind, name, fallback, argument, help) \
  {#name, PSDM_SETTING_##kind, offsetof(SETTINGS_STRUCT, name), fallback, argument, help},

/* The words "a|b" of a list macro with rows X(id, name, ...), for the argument of a setting:
 * PSDM_SETTING_WORDS(PSDM_CONTROL_LIST). */
#define PSDM_SETTING_WORD(id, name, ...) "|" name
#define PSDM_SETTING_WORDS(list) &(list(PSDM_SETTING_WORD))[1]

/* The words that an argument's text offers: "exact|dense" two, "slow|fast|FILE.csv" two, and *open (nullable) says that
 * other values are allowed too. Returns their number. */
enum { PSDM_SETTING_WORD_SIZE = 32, PSDM_SETTING_WORDS_MOST = 24 };
PSDM_API int psdm_setting_words(const char *argument, char words[PSDM_SETTING_WORDS_MOST][PSDM_SETTING_WORD_SIZE],
                                bool *open);

/* Finds a row by name, with underscores; NULL if unknown. */
PSDM_API const psdm_setting *psdm_setting_find(const psdm_setting *table, const char *name);

/* Sets every field of values to its default. */
PSDM_API void psdm_settings_default(const psdm_setting *table, void *values);

/* Sets one value from text, which must last as long as values; a flag is set for any text. Lists append. PSDM_E_PARSE
 * for an invalid value. */
PSDM_API psdm_status psdm_setting_assign(const psdm_setting *setting, void *values, const char *text);

/* Frees what lists allocated. */
PSDM_API void psdm_settings_free(const psdm_setting *table, void *values);

/* Whether it differs from its default. */
PSDM_API bool psdm_setting_given(const psdm_setting *setting, const void *values);

/* The values that differ from the defaults, for a document written at once: texts stay the settings'. */
PSDM_API const psdm_named_value *psdm_settings_values(const psdm_setting *table, const void *values,
                                                      psdm_result *result, long *count);

/* Settings of every command that reads a robot. */
#define PSDM_ROBOT_SETTINGS(X)                                                                                     \
  X(vector, gravity, "", "X,Y,Z", "gravity in the base frame, instead of the file's (m/s^2)")                      \
  X(flag, no_snap, "", "", "keep angles that are nearly multiples of 15 degrees as they are")                      \
  X(text, snap_axes, "", "ANGLE",                                                                                  \
    "make successive axes exactly parallel or perpendicular if they are within this angle of it (1e-3, 0.1 deg)")  \
  X(text, root, "", "LINK", "use this link as the base, drop what is not attached to it")                          \
  X(text, tip, "", "LINK", "keep only the joints that move this link")                                             \
  X(text, lock, "", "JOINT=VALUE,...", "lock joints at positions (rad, m)")                                        \
  X(text, missing_inertia, "auto", "auto|zero|unknown",                                                            \
    "treat inertia missing from the file as zero or unknown; auto: unknown, except for fixed links (URDF)")        \
  X(text, memory, "", "BYTES",                                                                                     \
    "memory limit of the job, as 800M or 4G; default: half of the machine's. A job that needs more is refused in " \
    "advance, with the number")                                                                                    \
  X(text, params, "", "FILE.yaml", "inertias and friction from psdm calibrate for this robot")

PSDM_SETTINGS_STRUCT(psdm_robot_settings, PSDM_ROBOT_SETTINGS);

/* The same fields of a command's own struct. */
#define PSDM_ROBOT_SETTINGS_OF(set)                                  \
  (&(psdm_robot_settings){.gravity = (set)->gravity,                 \
                          .no_snap = (set)->no_snap,                 \
                          .snap_axes = (set)->snap_axes,             \
                          .root = (set)->root,                       \
                          .tip = (set)->tip,                         \
                          .lock = (set)->lock,                       \
                          .missing_inertia = (set)->missing_inertia, \
                          .memory = (set)->memory,                   \
                          .params = (set)->params})

#ifdef __cplusplus
}
#endif
#endif
