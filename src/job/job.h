/* job.h: what the jobs share: their settings, what they tell, the rows and documents that they make.
 *
 * A job's function answers PSDM_OK to go on. */
#ifndef PSDMP_JOB_H
#define PSDMP_JOB_H

#include <stdio.h>

#include "base/base.h"
#include "psdm/job.h"
#include "psdm/parameters.h"
#include "table/table.h"

/* One command: its struct begins with a psdm_job, and has its settings at an offset. */
typedef struct psdmp_job_kind {
  const char *command;
  const psdm_setting *settings, *arguments; /* arguments: NULL: none */
  size_t bytes, values;
  psdm_status (*run)(psdm_job *job);
  void (*free)(psdm_job *job);   /* NULL: nothing is the command's own */
  void (*settle)(psdm_job *job); /* psdm_job_settle; NULL: nothing is to be done */
  bool continues;                /* its parameter file may be the one that it reads */
} psdmp_job_kind;

/* Settings of every job, behind its own. */
#define PSDMP_JOB_SETTINGS(X) X(flag, json, "", "", "write one JSON object") PSDM_ROBOT_SETTINGS(X)

/* The kind of a command whose job is a struct with its settings in `set`; behind the type what else it has, such as
 * .free. */
#define PSDMP_JOB_KIND(room, name, type, ...)                                         \
  const psdmp_job_kind psdmp_##room##_##name##_kind = {.command = #name,              \
                                                       .settings = settings,          \
                                                       .bytes = sizeof(type),         \
                                                       .values = offsetof(type, set), \
                                                       .run = run,                    \
                                                       __VA_ARGS__}

/* src/job/NAME.c has each of this room. */
#define PSDMP_JOB_KINDS(X) X(calibrate) X(excite) X(payload) X(plan) X(simulate)
#define PSDMP_JOB_DECLARE(name) extern const psdmp_job_kind psdmp_job_##name##_kind;
PSDMP_JOB_KINDS(PSDMP_JOB_DECLARE)

struct psdm_job {
  const psdmp_job_kind *kind;
  psdm_job_host host;
  const char *path;              /* of the robot; NULL: given */
  psdm_robot *given;             /* a copy; NULL: from a file */
  struct psdmp_job_state *state; /* what changes while const jobs are worked on */
  psdm_robot *robot;             /* freed with the job, where a command leaves it here; NULL: it does not */
  psdm_result *answer;           /* NULL: none yet */
  bool good;
};

/* of a kind, with its settings at their defaults; host may be NULL */
psdm_status psdmp_job_new(const psdmp_job_kind *kind, const psdm_job_host *host, psdm_job **job, psdm_error *error);

/* zeroed, freed with the job; NULL when out of memory */
void *psdmp_job_array(const psdm_job *job, size_t count, size_t size);

/* ---- what goes wrong; all return the status ---- */

psdm_status psdmp_job_wrong(const psdm_job *job, const char *format, ...) PSDM_PRINTF(2, 3);
psdm_status psdmp_job_fail(const psdm_job *job, const psdm_error *error);
psdm_status psdmp_job_memory(const psdm_job *job);
/* PSDM_E_STOPPED, and why there is nothing yet */
psdm_status psdmp_job_nothing(const psdm_job *job, const char *why);
/* a text that is none of some words; what it is: "function" */
psdm_status psdmp_job_no_word(const psdm_job *job, const char *what, const char *text, const char *const *words,
                              int count);
/* the same of a setting's */
psdm_status psdmp_job_unknown(const psdm_job *job, const char *setting, const char *text, const char *const *words,
                              int count);
/* a setting that only some kinds of a command take is given for another; words: what it needs */
typedef struct psdmp_job_rule {
  const char *setting;
  unsigned kinds; /* bits */
  const char *words;
} psdmp_job_rule;
psdm_status psdmp_job_check_rules(const psdm_job *job, const psdmp_job_rule *rules, size_t count, unsigned kind);

/* ---- what is told ---- */

void psdmp_job_tell(const psdm_job *job, psdm_job_event event, const char *format, ...) PSDM_PRINTF(3, 4);
#define psdmp_job_warn(job, ...) psdmp_job_tell(job, PSDM_JOB_WARNING, __VA_ARGS__)
#define psdmp_job_note(job, ...) psdmp_job_tell(job, PSDM_JOB_NOTE, __VA_ARGS__)
#define psdmp_job_detail(job, ...) psdmp_job_tell(job, PSDM_JOB_DETAIL, __VA_ARGS__)
#define psdmp_job_event(job, event) psdmp_job_tell(job, event, "%s", "")

/* the next psdmp_job_progress is not too soon to ask the caller */
void psdmp_job_ask_soon(const psdm_job *job);
/* false: to be stopped; so does a later psdmp_job_interrupted */
bool psdmp_job_progress(const psdm_job *job, const char *doing, double share);
/* the same by numbers: "120 rows", of a total (0: unknown) of what done counts; began: when the stage did */
bool psdmp_job_count(const psdm_job *job, double began, long long done, long long total, long long rows,
                     const char *unit);
bool psdmp_job_interrupted(const psdm_job *job);
bool psdmp_job_watch(void *job, const char *doing, double share); /* a psdm_progress: psdmp_job_progress */

/* a name for a text: control characters escaped, in one of a few buffers of the job */
const char *psdmp_job_safe(const psdm_job *job, const char *name);

/* ---- settings ---- */

bool psdmp_job_given(const psdm_job *job, const char *setting); /* differs from its default */

/* which of the words that its argument offers a setting has; -1: another */
int psdmp_job_choice(const psdm_job *job, const char *setting);

/* "1,2,3": count numbers, or one for all */
psdm_status psdmp_job_numbers(const psdm_job *job, const char *setting, const char *text, int count, double *value);
/* "A = 0,B = C" at its commas, as texts of the job; NULL: none */
psdm_status psdmp_job_pieces(const psdm_job *job, const char *setting, const char *text, const char *const **piece,
                             int *count);

/* ---- robots and tables that are read ---- */

/* The logs in memory that these settings list, for the options of their readers, under the names that path_of finds in
 * the lists' texts (NULL: the texts themselves); the others are files that are read. Two logs of one name are an error
 * where one is in memory. */
psdm_status psdmp_job_logs(const psdm_job *job, int count, const char *const *settings,
                           const char *(*path_of)(const char *text), psdm_log_options *options);

psdm_status psdmp_job_robot(const psdm_job *job, const psdm_robot_settings *set, psdm_robot **robot);
/* from tables of the MATLAB toolbox; x_path: inertias, NULL: unknown */
psdm_status psdmp_job_robot_tables(const psdm_job *job, const char *x_path, const psdm_robot_settings *set,
                                   psdm_robot **robot);
psdm_status psdmp_job_read_robot(const psdm_job *job, const char *path, const psdm_robot_settings *set,
                                 psdm_robot **robot);
void psdmp_job_reads(const psdm_job *job, const char *path); /* no text of the caller's */
/* Parameters of a file, or of the caller's text in its place. Free with psdm_parameters_free. */
psdm_status psdmp_job_parameters(const psdm_job *job, const char *path, const psdm_robot *robot,
                                 psdm_parameters **parameters);
/* before and after the library writes a file by itself */
psdm_status psdmp_job_writes(const psdm_job *job, const char *path, bool done);

enum { LIMIT_LOWER, LIMIT_UPPER, LIMIT_VELOCITY, LIMIT_ACCELERATION, LIMIT_EFFORT, LIMITS };
double psdmp_job_limit(const psdm_joint *joint, int which); /* of the robot file: LIMIT_... */

bool psdmp_job_is_file(const char *path);        /* not standard input or output, a pipe, or nothing */
long long psdmp_job_file_size(const char *path); /* bytes; 0: no file */
/* a note where rows ("points") are to be typed at a terminal; other: what reads a file ("`at = FILE.csv`") */
void psdmp_job_typed(const psdm_job *job, const char *path, const char *rows, const char *other);
const psdm_joint *psdmp_job_joint(const psdm_robot *robot, int q); /* of q1 ... qn, q from 0 */
bool psdmp_job_helps(const psdm_job *job); /* this is a rank that helps another, which has the answer */

/* a table of this many columns beside t fits into the robot's memory */
psdm_status psdmp_job_table_fits(const psdm_job *job, const psdm_robot *robot, const char *path, int columns);

/* The joint whose link is meant where none is named; a note says which, once, where there was a choice. what: what
 * names another. */
int psdmp_job_default_link(const psdm_job *job, const psdm_robot *robot, const char *what);
/* the joint of a link or joint by name; an error names the nearest */
psdm_status psdmp_job_find_link(const psdm_job *job, const char *setting, const psdm_robot *robot, const char *name,
                                int *joint);
/* an error where a link is fixed to the base */
psdm_status psdmp_job_must_move(const psdm_job *job, const char *setting, const psdm_robot *robot, int joint);

/* an error that names the joints without inertia, where the robot has no accelerations; a warning where its mass matrix
 * is nearly singular */
psdm_status psdmp_job_regular(const psdm_job *job, const psdm_robot *robot);

/* warns of a large condition number, and names axes that are nearly, but not quite, parallel or perpendicular to the
 * one before */
void psdmp_job_weak_axes(const psdm_job *job, const psdm_robot *robot, double condition);

/* ---- files that are written ---- */

psdm_status psdmp_job_open(const psdm_job *job, const char *path, psdm_output **out);
/* accepts a NULL object */
psdm_status psdmp_job_close(const psdm_job *job, psdm_output **out, bool keep);

/* ---- rows that are written or kept ---- */

/* The file that a setting names; NULL where it has its default, standard output, and the caller keeps what would be
 * written there. */
const char *psdmp_job_written(const psdm_job *job, const char *setting);

/* "q" with count 3: q1, q2, q3; with count 0 one column of this very name; words: the names themselves; said: what a
 * file has in place of the number */
typedef struct psdmp_job_group {
  const char *name;
  int count;
  const double *value;
  const char *const *words;
  const char *said;
} psdmp_job_group;

#define PSDMP_JOB_GROUP(name_, count_, value_) \
  { .name = (name_), .count = (count_), .value = (value_) }

typedef struct psdmp_job_sink psdmp_job_sink;

/* *sink stays NULL where nobody wants these rows: no path, and not kept */
psdm_status psdmp_job_rows_open(const psdm_job *job, const char *setting, const char *path, psdmp_job_sink **sink);
/* one row; the first names the columns. sink may be NULL */
void psdmp_job_rows_add(psdmp_job_sink *sink, const psdmp_job_group *groups, int count);
/* the columns' names before any row: values are not looked at */
void psdmp_job_rows_names(psdmp_job_sink *sink, const psdmp_job_group *groups, int count);
/* many rows once the columns have names; threads write them (0: as many as there are) */
void psdmp_job_rows_block(psdmp_job_sink *sink, long rows, const double *values, int threads);
bool psdmp_job_kept_wanted(const psdm_job *job, const char *setting); /* rows of it are to be kept */
bool psdmp_job_rows_failed(const psdmp_job_sink *sink);
long psdmp_job_rows_count(const psdmp_job_sink *sink);
/* the file is there, and kept rows are the result's; sets *sink to NULL */
psdm_status psdmp_job_rows_commit(const psdm_job *job, psdmp_job_sink **sink);
void psdmp_job_rows_abort(const psdm_job *job, psdmp_job_sink **sink);

/* ---- documents that are written or kept ---- */

typedef void psdmp_job_writer(const void *self, psdm_output *out);

/* write is called for the file at path (NULL: none) and for the text that is kept, once each */
psdm_status psdmp_job_document(const psdm_job *job, const char *setting, const char *path, psdmp_job_writer *write,
                               const void *self);

/* ---- the answer ---- */

/* a document of this type, filled */
typedef void psdmp_job_fill(psdm_job *job, psdm_result *answer);
psdm_status psdmp_job_answer(psdm_job *job, const psdm_result_type *type, psdmp_job_fill *fill);
/* copies of texts: at gives the index-th, NULL behind the last; sets *count */
const psdm_word *psdmp_job_texts(psdm_result *answer, const char *(*at)(const void *from, int index), const void *from,
                                 long *count);
/* apart from its gear, a drive is not simply its joint: the file's transmission is not the identity */
bool psdmp_job_coupled_drives(psdm_result *answer, const psdm_robot *robot);
/* settings that differ from their defaults, for an answer */
const psdm_named_value *psdmp_job_settings(psdm_job *job, psdm_result *answer, long *count);

#endif
