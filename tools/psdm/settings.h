/* settings.h: one X-macro list per command gives the struct, the defaults, the flags, the help and the differences.
 *
 *   #define EVAL_SETTINGS(X) \
 *     X(text, in, "-", "FILE", "state CSV to read; - is standard input")
 *
 * kinds: text (const char *; "a|b|c" for the argument: one of these words), flag (bool), number (double), vector
 * (three numbers a,b,c; .given), list (texts: the option may be given several times, and takes several words once
 * all positional arguments are there). A name's underscores are dashes on the command line. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/result.h"

typedef const char *setting_text;
typedef bool setting_flag;
typedef double setting_number;
typedef struct setting_vector {
  bool given;
  double value[3];
} setting_vector;
typedef struct setting_list {
  int count;
  const char **value; /* kept until the program ends */
} setting_list;

typedef enum setting_kind { SETTING_text, SETTING_flag, SETTING_number, SETTING_vector, SETTING_list } setting_kind;

typedef struct setting {
  const char *name; /* with underscores */
  setting_kind kind;
  size_t offset;
  const char *fallback; /* default as text; "" for an absent text or vector, flags are off, lists empty */
  const char *argument; /* name of the value in --help */
  const char *help;
} setting;

#define SETTINGS_FIELD(kind, name, fallback, argument, help) setting_##kind name;
#define SETTINGS_ROW(kind, name, fallback, argument, help) \
  {#name, SETTING_##kind, offsetof(SETTINGS_STRUCT, name), fallback, argument, help},

/* Settings of every command that reads a robot. */
#define ROBOT_SETTINGS(X)                                                                                          \
  X(vector, gravity, "", "X,Y,Z", "gravity in the base frame, in place of the file's (m/s^2)")                     \
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

/* The words "a|b" of a list macro with rows X(id, name, ...), for the argument of a setting:
 * SETTING_WORDS(PSDM_CONTROL_LIST). */
#define SETTING_WORD(id, name, ...) "|" name
#define SETTING_WORDS(list) &(list(SETTING_WORD))[1]

/* Settings of every command: --quiet, --verbose, --help. */
enum { COMMON_SETTINGS = 3 };
extern const setting common_settings[COMMON_SETTINGS];
extern const char common_letters[COMMON_SETTINGS]; /* -q, -v, -h */

/* A command line: where its settings go, the names of its positional arguments. */
typedef struct command_line {
  const char *command; /* "eval" */
  const setting *settings;
  size_t count;
  /* names, NULL-terminated; all are required. The last may end in "...": one or more. "[NAME]": optional */
  const char *const *positional;
  const char *help; /* text above the option list, with examples */
} command_line;

/* Sets every field to its default. */
void settings_default(const command_line *line, void *values);

/* A name of a table as on the command line: dashes in place of underscores. Returns out. */
const char *settings_dashed(const char *name, char out[64]);

/* The values in an argument's text: "exact|dense" two, "slow|fast|FILE.csv" two, and others are allowed (*open,
 * nullable). */
enum { SETTING_WORD_SIZE = 32, SETTING_WORDS_MOST = 24 };
int settings_words(const char *argument, char words[SETTING_WORDS_MOST][SETTING_WORD_SIZE], bool *open);

/* Fills values and arguments (one per positional name; of "NAME..." the first, settings_rest has all). Returns -1 to
 * go on, or an exit code (0 after --help). */
int settings_parse(const command_line *line, int argc, char **argv, void *values, const char **arguments);

/* What the positional argument "NAME..." of the last command line collected. */
setting_list settings_rest(void);

/* Whether a setting (its name with underscores) differs from its default. */
bool settings_given(const command_line *line, const void *values, const char *name);

/* What differs from the defaults, for a document that is about to be written: texts stay the settings'. */
const psdm_named_value *settings_values(const command_line *line, const void *values, psdm_result *result, long *count);

/* The same as a JSON object. */
void settings_json(const command_line *line, const void *values, psdm_output *out);

#endif
