/* psdm/job.h: the tool's commands as calls: named settings in, a result and tables out.
 *
 *   psdm_job_new("simulate", NULL, &job, &error);
 *   psdm_job_set(job, "time", "1", &error);
 *   psdm_job_robot(job, robot, &error);    // psdm_job_file(job, "arm.yaml", &error) reads one
 *   psdm_job_keep(job, "out", &error);
 *   psdm_job_run(job, &error);
 *   psdm_job_rows_of(job, "out", &rows);
 *
 * Nothing is printed. Files are read and written only where a setting names one. A job belongs to one thread. */
#ifndef PSDM_JOB_H
#define PSDM_JOB_H

#include "psdm/analyze.h"
#include "psdm/log.h"
#include "psdm/path.h"
#include "psdm/ranks.h"
#include "psdm/report.h"
#include "psdm/results.h"
#include "psdm/settings.h"
#include "psdm/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_job psdm_job;

/* What a job reports while it runs. */
typedef enum psdm_job_event {
  PSDM_JOB_DETAIL,    /* what was done */
  PSDM_JOB_NOTE,      /* what the caller may want to know */
  PSDM_JOB_CAUTION,   /* odd things in a robot file */
  PSDM_JOB_WARNING,   /* what the caller should know */
  PSDM_JOB_STAGE,     /* what starts now: "simulating"; "": it has ended */
  PSDM_JOB_LACKING,   /* why a stop now leaves no result: "no result yet"; "": it leaves one */
  PSDM_JOB_STOPPABLE, /* from now on a stop ends the job with the best so far */
  PSDM_JOB_FINISHING, /* a stop has no effect any more: the result is being written */
  PSDM_JOB_FRAGILE,   /* this library, which may end the program without memory, is running; "": it has returned */
} psdm_job_event;

/* Callbacks of the caller. Zero-initialise: no messages, no stop. */
typedef struct psdm_job_host {
  void *user; /* passed to all callbacks */
  void (*tell)(void *user, psdm_job_event event, const char *text);
  /* progress of the present stage, 0 to 1, negative if unknown; false stops the job */
  psdm_progress progress;
  bool (*stopped)(void *user);                 /* polled; true stops the job */
  bool (*hurried)(void *user);                 /* asked after a stop: true to end without waiting for unfinished work */
  void (*reads)(void *user, const char *path); /* a file is about to be read */
  /* how files are written, instead of psdm_output_open, and psdm_output_commit (keep) or psdm_output_abort */
  psdm_status (*open)(void *user, const char *path, psdm_output **output, psdm_error *error);
  psdm_status (*close)(void *user, psdm_output **output, bool keep, psdm_error *error);
  /* a file that the library writes itself: an error forbids it; done: it has been written */
  psdm_status (*writes)(void *user, const char *path, bool done, psdm_error *error);
  psdm_ranks *ranks;   /* other processes that help; NULL: none */
  const char *command; /* a command line, for files that record what made them; NULL: none */
} psdm_job_host;

/* The settings of a command, and those that its command line takes as arguments after the robot, in order; NULL for an
 * unknown command. */
PSDM_API const psdm_setting *psdm_job_settings(const char *command);
PSDM_API const psdm_setting *psdm_job_arguments(const char *command);

/* host may be NULL and is copied. Free with psdm_job_free, which accepts NULL. */
PSDM_API psdm_status psdm_job_new(const char *command, const psdm_job_host *host, psdm_job **job, psdm_error *error);
PSDM_API void psdm_job_free(psdm_job *job);

/* Sets a value by name, with underscores; the text is copied. Lists append. PSDM_E_SETTING for an unknown name or an
 * invalid value. */
PSDM_API psdm_status psdm_job_set(psdm_job *job, const char *name, const char *text, psdm_error *error);
/* The settings as the struct of the table's offsets, for a caller that fills it directly. */
PSDM_API void *psdm_job_values(psdm_job *job);
PSDM_API const void *psdm_job_value(const psdm_job *job, const char *name); /* of a field; NULL: unknown name */

/* The robot: from a file, or from memory; then it must outlive the job and is not changed. */
PSDM_API psdm_status psdm_job_file(psdm_job *job, const char *path, psdm_error *error);
PSDM_API psdm_status psdm_job_robot(psdm_job *job, const psdm_robot *robot, psdm_error *error);

/* A table in memory instead of the file that a setting names: named columns, each of `rows` numbers stride[k] numbers
 * apart. They are copied. */
PSDM_API psdm_status psdm_job_table(psdm_job *job, const char *setting, long rows, int columns,
                                    const char *const *names, const double *const *column, const long *stride,
                                    psdm_error *error);
/* The text of a file in memory instead of the file that a setting names (parameters); it is copied. name: what messages
 * call it. */
PSDM_API psdm_status psdm_job_text(psdm_job *job, const char *setting, const char *name, const char *text,
                                   psdm_error *error);
/* A log in memory instead of one of the files that a setting lists. Not copied: it must outlive the job. Its name may
 * have the prefix that the setting allows before a file ("motor:loaded"); other settings name it without. */
PSDM_API psdm_status psdm_job_log(psdm_job *job, const char *setting, const psdm_log_table *log, psdm_error *error);
/* Keeps in memory the rows or the document that a setting would write to a file. What would go to standard output by
 * default (`out` of eval and convert) then does not. */
PSDM_API psdm_status psdm_job_keep(psdm_job *job, const char *setting, psdm_error *error);

/* Call once. PSDM_E_STOPPED: stopped before there was a result. On the host's ranks other than 0 it helps until the job
 * on rank 0 ends. */
PSDM_API psdm_status psdm_job_run(psdm_job *job, psdm_error *error);

/* ---- after a run; everything belongs to the job ---- */

PSDM_API bool psdm_job_good(const psdm_job *job); /* the result meets the requirements */
/* it is the best found before the caller stopped it */
PSDM_API bool psdm_job_stopped(const psdm_job *job);
PSDM_API void psdm_job_json(const psdm_job *job, psdm_output *output); /* the result as one object */
/* The same as a document of psdm/results.h: its type says which. NULL after a failed run, or on a rank that helped. */
PSDM_API const psdm_result *psdm_job_result(const psdm_job *job);
/* Call it when the result is safe: removes what the job keeps on disk in case the result is lost (a calibration's
 * checkpoint), unless the job was stopped and can continue from there. */
PSDM_API void psdm_job_settle(psdm_job *job);
/* The robot file, NULL for a robot from memory; the robot as read, NULL before. */
PSDM_API const char *psdm_job_robot_path(const psdm_job *job);
PSDM_API const psdm_robot *psdm_job_robot_used(const psdm_job *job);

typedef struct psdm_job_rows {
  long rows;
  int columns;
  const char *const *names;
  const double *values; /* (rows x columns) row-major */
} psdm_job_rows;

/* false where nothing was kept under this name */
PSDM_API bool psdm_job_rows_of(const psdm_job *job, const char *setting, psdm_job_rows *rows);

/* NULL where no document was kept under this name */
PSDM_API const char *psdm_job_text_of(const psdm_job *job, const char *setting);

/* ---- robots as the commands read them ---- */

/* Reads a robot file, or tables of the MATLAB toolbox where x_path is not "" (NULL: without base parameters), and its
 * parameters; findings are reported to the host. */
PSDM_API psdm_status psdm_job_load(const psdm_job_host *host, const char *path, bool tables, const char *x_path,
                                   const psdm_robot_settings *set, psdm_robot **robot, psdm_error *error);

/* Adds a result file to a report; for a robot file, the results of inspect, derive and params: where the last two do
 * not work for this robot, this is reported and counted. host and lacking may be NULL. */
PSDM_API psdm_status psdm_job_report(const psdm_job_host *host, psdm_report *report, const char *path, int *lacking,
                                     psdm_error *error);

/* ---- analyze ---- */

/* In addition to its document. */
typedef struct psdm_analysis {
  const psdm_structure *structure;
  const double *lower, *upper; /* (n) ranges of the joints */
} psdm_analysis;

/* NULL before the end of a run, or for another command. */
PSDM_API const psdm_analysis *psdm_job_analysis(const psdm_job *job);

/* ---- plan ---- */

/* All points of the fastest traversal of a path; its document has at most 500. NULL before the end of a run, or for
 * another command or method. */
PSDM_API const psdm_path_plan *psdm_job_path_plan(const psdm_job *job);

/* ---- linearize ---- */

/* A point, and what its document does not say. */
typedef struct psdm_linearization {
  const psdm_linearize_result *head; /* the document, which has no points */
  const psdm_linear_point *point;
  int line;                       /* of the file */
  bool rates, accelerations;      /* the file has them, or they follow from its torques */
  const psdm_system_facts *facts; /* of the continuous system; NULL: there is no model, or nobody wants them */
  const psdm_lqr_info *lqr;       /* NULL: not asked for, or the same */
} psdm_linearization;

/* Before a run: each point is given to take as soon as it is found, and the document has none. take returns false to
 * end the job. */
PSDM_API void psdm_job_points(psdm_job *job, bool (*take)(void *user, const psdm_linearization *point), void *user);

/* ---- reduce ---- */

/* The smaller model, once: it is then the caller's (psdm_model_free). NULL before the end of a run, and of another
 * command. */
PSDM_API psdm_model *psdm_job_take_model(psdm_job *job);

/* ---- simulate ---- */

/* Source of a motion; the first four are polynomials of degree 3, 5, 7, 9. id, name, help */
#define PSDM_REFERENCE_LIST(X)                                   \
  X(CUBIC, "cubic", "from rest to rest, polynomial of degree 3") \
  X(QUINTIC, "quintic", "degree 5")                              \
  X(SEPTIC, "septic", "degree 7")                                \
  X(NONIC, "nonic", "degree 9")                                  \
  X(HOLD, "hold", "constant position")                           \
  X(SINES, "sines", "one sine per joint")                        \
  X(FOURIER, "fourier", "random harmonics, at rest at the start")

/* Arrays of (n) belong to the job. */
typedef struct psdm_simulation {
  const psdm_robot *robot;
  int n;
  bool inverse, stopped;
  long rows, log_rows; /* of out and log */
  /* of a simulation */
  psdm_control_kind control;
  const psdm_controller *controller; /* NULL: none */
  double start;                      /* s */
  psdm_sim_result run;
  psdm_sim_row last;              /* the state at the end */
  double first[4];                /* kinetic, potential, elastic and bristles' energy at the start, J */
  bool friction, wrench, payload; /* present */
  /* tracking error of the controller: root mean square, that of the last quarter, largest, last; NULL without a
   * reference motion */
  const double *rms, *rms_last_quarter, *peak, *final;
  /* of inverse */
  double begin, end; /* s */
  long along;        /* rows along the motion */
  const double *peak_speed, *peak_torque, *rms_torque;
} psdm_simulation;

/* NULL before the end of a run, or for another command. */
PSDM_API const psdm_simulation *psdm_job_simulation(const psdm_job *job);

#ifdef __cplusplus
}
#endif
#endif
