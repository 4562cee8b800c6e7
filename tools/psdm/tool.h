/* tool.h: shared by the commands: messages on stderr, exit codes, robots, progress. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "psdm/psdm.h"
#include "settings.h"

enum { EXIT_OK = 0, EXIT_QUALITY = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_INTERRUPTED = 130 };

/* The commands in the order of psdm --help: name, one line of help. A file cmd_NAME.c has the function (with the
 * arguments after the name on the command line) and the table of its settings, the source of --help, the manual pages,
 * the reference and the completions. */
#define COMMANDS(X)                                                                                         \
  X(eval, "evaluate torques, accelerations, matrices, energies, poses at states")                           \
  X(derive, "derive the closed-form regressor model and its base parameters")                               \
  X(params, "base parameters with formulas and values")                                                     \
  X(codegen, "write the dynamics as straight-line C, with a self-test")                                     \
  X(reduce, "a smaller model within a given error at a given confidence")                                   \
  X(linearize, "linear models, stability, sampling and LQR gains at equilibria or along a motion")          \
  X(analyze, "structure of M, c and g, decoupling and balancing, bounds, ellipsoids along a path")          \
  X(simulate, "simulate a robot: friction, springs, loads, controllers, energy audit")                      \
  X(excite, "design motions that make a robot's parameters identifiable")                                   \
  X(calibrate, "identify inertias and friction from measured logs, with uncertainties and a verdict")       \
  X(payload, "mass, centre of mass and inertia of a calibrated robot's load")                               \
  X(plan, "fastest and least strenuous motions, fastest traversal of a path, time scaling of a trajectory") \
  X(bench, "operations and time of generated code beside the recursions")                                   \
  X(report, "show the results of other commands on one HTML page with plots")                               \
  X(inspect, "show a robot as read from its file")                                                          \
  X(convert, "write a robot as YAML or URDF; import MATLAB tables")                                         \
  X(doctor, "check this installation, and say how to get what is missing")                                  \
  X(completion, "shell completion of commands, options and their values for bash or zsh")                   \
  X(reference, "the manual of all commands, as markdown or as manual pages")

/* The same as a table: main.c. */
typedef struct tool_command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
  const command_line *line;
} tool_command;
extern const tool_command tool_commands[];
extern const int tool_command_count;

#define COMMAND_DECLARE(name, help)      \
  int cmd_##name(int argc, char **argv); \
  extern const command_line name##_line;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

/* ---- the beginning and the end: start.c ---- */

void tool_begin(void); /* from now on a library that calls exit is reported, and leaves no unfinished files */
void tool_end(void);
/* runs it with enough stack, for all its threads too */
int tool_roomy(int (*run)(int argc, char **argv), int argc, char **argv);

/* Starts a program in a folder (NULL: here). out, where not negative, takes its output and errors, and it has no input.
 * Returns 0, or the errno that says why it does not run: spawn.c. */
int tool_spawn(char *const *words, const char *folder, int out, pid_t *child);

/* ---- messages: words.c ---- */

/* --quiet: errors, reasons for an exit code and the data itself only; --verbose: what was done, and when.
 * settings_parse sets it. */
typedef enum tool_voice { VOICE_QUIET = -1, VOICE_NORMAL, VOICE_VERBOSE } tool_voice;
void tool_speak(tool_voice voice);
bool tool_quiet(void);

/* Prints "psdm: error: ..." with the library's sentence; returns the matching exit code. For a missing file it suggests
 * the nearest name; after an interrupt it reports that instead. */
int tool_fail(const psdm_error *error);

/* Prints "psdm eval: ..." and where to find help; returns EXIT_USAGE. */
int tool_usage(const char *command, const char *format, ...) PSDM_PRINTF(2, 3);
int tool_no_memory(const char *command);

/* "--method 'exat': did you mean 'exact'? There are exact, dense"; returns EXIT_USAGE. */
int tool_unknown(const char *command, const char *what, const char *text, const char *const *words, size_t count);

void tool_warn(const char *format, ...) PSDM_PRINTF(1, 2);   /* also with --quiet */
void tool_note(const char *format, ...) PSDM_PRINTF(1, 2);   /* not with --quiet */
void tool_detail(const char *format, ...) PSDM_PRINTF(1, 2); /* with --verbose, and how long the program has run */

/* Begins and ends the heading of a table on standard output: bold on a terminal, else plain. */
const char *tool_bold(void);
const char *tool_plain(void);

/* The nearest of some words, NULL when none is near. */
const char *tool_nearest(const char *text, const char *const *words, size_t count);

/* ---- a job of the library (psdm/job.h): job_host.c ---- */

/* Runs the job of a command with its command line; the job is to be freed in any case. Returns -1 to go on with its
 * answer, else an exit code. */
int tool_job_run(const command_line *line, int argc, char **argv, psdm_job **job);
/* the same, and before the run prepare gets the job: -1 to go on, or an exit code */
int tool_job_run_prepared(const command_line *line, int argc, char **argv, psdm_job **job,
                          int (*prepare)(psdm_job *job, void *user), void *user);
const char *tool_job_text(const psdm_job *job, const char *setting);
bool tool_job_flag(const psdm_job *job, const char *setting);
int tool_job_json(const psdm_job *job); /* where --json asks for it; exit code */
/* All of a command that is a job: runs it, writes what --json asks for, or prints it where standard output is free:
 * none of these settings (files; may be NULL) has it. print returns an exit code. */
int tool_job_command(const command_line *line, int argc, char **argv, const char *const *files,
                     int (*print)(const psdm_job *job));
/* what it does behind the run, which ended with this code */
int tool_job_end(psdm_job *job, int code, const char *const *files, int (*print)(const psdm_job *job));
/* a command whose job writes all that there is to be seen; exit code */
int tool_job_quiet(const command_line *line, int argc, char **argv);
int tool_job_report(psdm_report *report, const char *path, int *lacking); /* psdm_job_report: -1, or an exit code */
/* standard output is free for words: none of these settings, ending with NULL, and not --json has it */
bool tool_job_words(const psdm_job *job, const char *const *files);

/* a row of a public list X(constant, word, help) in a command's help, and of PSDM_FUNCTION_LIST */
#define TOOL_WORD_HELP(constant, word, text) "  " word "\t" text "\n"
#define TOOL_FUNCTION_HELP(id, name, inputs, results, rows, columns, text) \
  "  " name "\t" text ": " inputs " -> " results "\n"

/* ---- an output file that is removed by an interrupt ---- */

/* Marks a file as an input: tool_spare, which tool_open calls, refuses to overwrite it. Jobs mark what they
 * read. */
void tool_input(const char *path);
int tool_spare(const char *path);                   /* -1 to go on, else an exit code */
int tool_open(const char *path, psdm_output **out); /* -1 to go on, else an exit code */
int tool_commit(psdm_output **out);                 /* exit code */
psdm_status tool_try_spare(const char *path, psdm_error *error);
psdm_status tool_try_open(const char *path, psdm_output **out, psdm_error *error); /* the same without words */
psdm_status tool_try_commit(psdm_output **out, psdm_error *error);
void tool_abort(psdm_output **out);
long long tool_file_size(const char *path); /* bytes; 0 if unknown */

/* ---- standard streams: streams.c ---- */

void streams_open(void);
int streams_close(int code); /* the exit code: EXIT_USAGE where standard output did not take everything */

/* ---- interrupts: signals.c ---- */

void tool_guard(void); /* from now on signals that end the program remove unfinished files */

/* From now on the first interrupt (Ctrl-C, SIGTERM, SIGHUP) does not end the program: tool_interrupted and all
 * progress_ functions report it. The second one ends the program. Files of tool_open are removed in any case. */
void tool_listen(void);
void tool_deaf(void); /* the result is being written: every interrupt ends the program again */
bool tool_interrupted(void);
bool tool_terminated(void); /* it was SIGTERM or SIGHUP: nobody waits for a result that is not ready */
int tool_exit(int code);    /* 128 + the signal in place of EXIT_OK and EXIT_QUALITY after an interrupt */

/* Between the two: a library that ends the program if an allocation fails (C++ without a handler, Fortran). That
 * becomes a message and EXIT_USAGE, and unfinished files are removed. */
void tool_fragile(const char *library);
void tool_solid(void);
/* everything is written: a library that crashes at exit (HDF5 without memory) does not change the exit code */
void tool_last(int code);

void tool_forget_pending(void); /* removes the files of tool_pending; async-signal-safe */
/* a file, or a folder of such files, to remove if the program is ended; until tool_settled */
void tool_pending(const char *path);
void tool_settled(const char *path);

/* {"command": NAME, "psdm": VERSION: the beginning of every JSON result, by which psdm report recognizes it. */
void tool_json_begin(psdm_output *out, const char *command);

/* ---- progress on a terminal, once a job takes over two seconds ---- */

typedef struct progress {
  bool on;
  double started;
} progress;

progress progress_start(const char *doing);                      /* clears the line */
bool progress_words(void *bar, const char *doing, double share); /* a psdm_progress whose user is a progress */
/* message if an interrupt now leaves no result; NULL: it leaves one. Until the next progress_start */
void progress_lacking(const char *words);
void progress_end(progress *p);
void progress_clear(void); /* clears the line for other output; it is drawn again when due */

double tool_now(void); /* s, from some beginning */

/* Escapes control characters of a name for a terminal, in one of a few rotating buffers. */
const char *tool_safe(const char *name);

#endif
