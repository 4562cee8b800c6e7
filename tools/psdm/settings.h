/* settings.h: command lines by the tables of psdm/settings.h. A name's underscores are dashes on the command line; a
 * list's option may be given several times, and takes several words once all positional arguments are there. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "psdm/job.h"

/* Settings of every command: --quiet, --verbose, --help. */
enum { COMMON_SETTINGS = 3 };
extern const psdm_setting common_settings[COMMON_SETTINGS];
extern const char common_letters[COMMON_SETTINGS]; /* -q, -v, -h */

/* A command line: where its settings go, the names of its positional arguments. */
typedef struct command_line {
  const char *command;          /* "eval" */
  const psdm_setting *settings; /* NULL: those of the library's job of this name, or none */
  /* names, NULL-terminated; all are required. The last may end in "...": one or more. "[NAME]": optional */
  const char *const *positional;
  const char *help; /* text above the option list, with examples */
} command_line;

const psdm_setting *settings_of(const command_line *line); /* never NULL; ends with a name that is NULL */

/* A text of the library, which names fields (psdm/status.h), as this program says it, which has options for them:
 * "`log_rate`" is --log-rate, "`missing_inertia = zero`" is --missing-inertia zero. What is no setting of any command
 * stays. Everything that is printed goes through here; the result is the text itself or one of a few buffers. */
const char *settings_named(const char *text);

/* A name of a table as on the command line: dashes in place of underscores. Returns out. */
const char *settings_dashed(const char *name, char out[64]);

/* Fills values and arguments (one per positional name; of "NAME..." the first, settings_rest has all). Returns -1 to
 * go on, or an exit code (0 after --help). */
int settings_parse(const command_line *line, int argc, char **argv, void *values, const char **arguments);

/* What the positional argument "NAME..." of the last command line collected. */
psdm_setting_list settings_rest(void);

#endif
