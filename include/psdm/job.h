/* psdm/job.h: what the commands of the tool do, as calls: named settings in, a result and tables out.
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
#include "psdm/ranks.h"
#include "psdm/report.h"
#include "psdm/results.h"
#include "psdm/settings.h"
#include "psdm/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_job psdm_job;

/* What a job tells while it runs. */
typedef enum psdm_job_event {
  PSDM_JOB_DETAIL,    /* what was done */
  PSDM_JOB_NOTE,      /* what the caller may want to know */
  PSDM_JOB_CAUTION,   /* what is odd about a robot file */
  PSDM_JOB_WARNING,   /* what the caller should know */
  PSDM_JOB_STAGE,     /* what begins now: "simulating"; "": it has ended */
  PSDM_JOB_LACKING,   /* why a stop now leaves no result: "no result yet"; "": it leaves one */
  PSDM_JOB_STOPPABLE, /* from now on a stop ends the job with the best so far */
  PSDM_JOB_FINISHING, /* a stop changes nothing any more: the result is being written */
  PSDM_JOB_FRAGILE,   /* this library, which may end the program without memory, is at work; "": it has returned */
} psdm_job_event;

/* What a caller offers a job. Zero-initialise: nothing is told, nothing stops. */
typedef struct psdm_job_host {
  void *user; /* of all that follows */
  void (*tell)(void *user, psdm_job_event event, const char *text);
  /* how far the present stage is, 0 to 1, or below 0 where that is not known; false stops the job */
  psdm_progress progress;
  bool (*stopped)(void *user);                 /* asked between; true stops the job */
  bool (*hurried)(void *user);                 /* asked after a stop: true where nobody waits for what is not ready */
  void (*reads)(void *user, const char *path); /* a file that the job reads */
  /* how files are written, in place of psdm_output_open, and psdm_output_commit or, where it is not to be kept,
   * psdm_output_abort */
  psdm_status (*open)(void *user, const char *path, psdm_output **output, psdm_error *error);
  psdm_status (*close)(void *user, psdm_output **output, bool keep, psdm_error *error);
  /* a file that the library writes by itself: an error forbids it; done: it is there */
  psdm_status (*writes)(void *user, const char *path, bool done, psdm_error *error);
  psdm_ranks *ranks;   /* other processes that help; NULL: none */
  const char *command; /* a command line, for files that name what made them; NULL: none */
  bool options;        /* texts name settings as the tool's options: --log-rate, not log_rate */
} psdm_job_host;

/* The settings of a command, and those that its command line takes without a name, in order, behind the robot; NULL
 * where there is no such command. */
PSDM_API const psdm_setting *psdm_job_settings(const char *command);
PSDM_API const psdm_setting *psdm_job_arguments(const char *command);

/* host may be NULL and is copied. Free with psdm_job_free, which accepts NULL. */
PSDM_API psdm_status psdm_job_new(const char *command, const psdm_job_host *host, psdm_job **job, psdm_error *error);
PSDM_API void psdm_job_free(psdm_job *job);

/* A setting by its name with underscores; the text is copied. A list takes one more. PSDM_E_SETTING where there is
 * none of that name, or the text is no value of it. */
PSDM_API psdm_status psdm_job_set(psdm_job *job, const char *name, const char *text, psdm_error *error);
/* The settings as the struct that the table's offsets belong to, for a caller that fills it itself. */
PSDM_API void *psdm_job_values(psdm_job *job);
PSDM_API const void *psdm_job_value(const psdm_job *job, const char *name); /* of a field; NULL: there is none */

/* The robot: from a file, or one in memory, which must outlive the job and is not changed. */
PSDM_API psdm_status psdm_job_file(psdm_job *job, const char *path, psdm_error *error);
PSDM_API psdm_status psdm_job_robot(psdm_job *job, const psdm_robot *robot, psdm_error *error);

/* A table in memory in place of the file that a setting names: columns by name, each of rows numbers that lie
 * stride[k] numbers apart. They are copied. */
PSDM_API psdm_status psdm_job_table(psdm_job *job, const char *setting, long rows, int columns,
                                    const char *const *names, const double *const *column, const long *stride,
                                    psdm_error *error);
/* A log in memory in place of one of the files that a setting lists. It is not copied and must outlive the job. Its name
 * may begin with what the setting allows before a file's ("motor:loaded"); other settings name it without that. */
PSDM_API psdm_status psdm_job_log(psdm_job *job, const char *setting, const psdm_log_table *log, psdm_error *error);
/* The rows or the document that a setting would write to a file are kept in memory. */
PSDM_API psdm_status psdm_job_keep(psdm_job *job, const char *setting, psdm_error *error);

/* Once. PSDM_E_STOPPED: there was nothing yet. On ranks other than 0 of the host's it helps until the job there has
 * ended. */
PSDM_API psdm_status psdm_job_run(psdm_job *job, psdm_error *error);

/* ---- after a run; everything belongs to the job ---- */

PSDM_API bool psdm_job_good(const psdm_job *job);                      /* the answer is what was asked for */
PSDM_API bool psdm_job_stopped(const psdm_job *job);                   /* it is the best until the caller stopped it */
PSDM_API void psdm_job_json(const psdm_job *job, psdm_output *output); /* the result as one object */
/* The same as a document of psdm/results.h: its type says which. NULL: a failed run, a rank that helped. */
PSDM_API const psdm_result *psdm_job_result(const psdm_job *job);
/* The robot's file, NULL where it was given; the robot as it was read, NULL before. */
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

/* A robot file, or tables of the MATLAB toolbox where x_path is not "" (NULL: without base parameters), with its
 * parameters; what was noticed is told. */
PSDM_API psdm_status psdm_job_load(const psdm_job_host *host, const char *path, bool tables, const char *x_path,
                                   const psdm_robot_settings *set, psdm_robot **robot, psdm_error *error);

/* Adds a result file to a report; of a robot file, what inspect, derive and params answer: those of the last two that
 * do not work for this robot are told of and counted. host and lacking may be NULL. */
PSDM_API psdm_status psdm_job_report(const psdm_job_host *host, psdm_report *report, const char *path, int *lacking,
                                     psdm_error *error);

/* ---- analyze ---- */

/* What its document does not say. */
typedef struct psdm_analysis {
  const psdm_structure *structure;
  const double *lower, *upper; /* (n) ranges of the joints */
} psdm_analysis;

/* NULL before the end of a run, and of another command. */
PSDM_API const psdm_analysis *psdm_job_analysis(const psdm_job *job);

/* ---- simulate ---- */

/* Where a motion comes from; the first four are polynomials of degree 3, 5, 7, 9. id, name, help */
#define PSDM_REFERENCE_LIST(X)                                   \
  X(CUBIC, "cubic", "from rest to rest, polynomial of degree 3") \
  X(QUINTIC, "quintic", "degree 5")                              \
  X(SEPTIC, "septic", "degree 7")                                \
  X(NONIC, "nonic", "degree 9")                                  \
  X(HOLD, "hold", "constant position")                           \
  X(SINES, "sines", "one sine per joint")                        \
  X(FOURIER, "fourier", "random harmonics, at rest at the beginning")

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
  bool friction, wrench, payload; /* there are such */
  /* how well the controller followed: root mean square error, that of the last quarter, largest, last; NULL: there
   * was no motion to follow */
  const double *rms, *rms_last_quarter, *peak, *final;
  /* of inverse */
  double begin, end; /* s */
  long along;        /* rows along the motion */
  const double *peak_speed, *peak_torque, *rms_torque;
} psdm_simulation;

/* NULL before the end of a run of another command. */
PSDM_API const psdm_simulation *psdm_job_simulation(const psdm_job *job);

#ifdef __cplusplus
}
#endif
#endif
