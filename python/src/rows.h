/* rows.h: loops over states that Python would be slow at. They run without Python's lock, as every function called
 * through cffi does. */
#ifndef PSDMPY_ROWS_H
#define PSDMPY_ROWS_H

#include "psdm/psdm.h"

/* psdm_eval at count states. in: one for each group of n numbers that the function takes; out: results of length[k]
 * numbers each, in psdm_eval's order. buffer: inputs and outputs of a state. *done: states before the one that
 * failed. */
psdm_status psdmpy_eval_rows(const psdm_robot *robot, psdm_work *work, psdm_function function,
                             const psdm_eval_options *options, size_t count, int inputs, const psdm_strided *in,
                             int results, const int *length, const psdm_strided *out, double *buffer, size_t *done);

/* y of a model at count states: q, qd, qdd in, (p) out; buffer (3n). */
void psdmpy_model_y_rows(const psdm_model *model, size_t count, const psdm_strided *in, double *y, double *buffer);

/* E (p x 5n), and P's entries. */
void psdmpy_model_exponents(const psdm_model *model, unsigned char *E);
void psdmpy_model_entries(const psdm_model *model, long *function, int *joint, int *parameter, double *value);

/* A motion at count times: x (count x orders x n). */
void psdmpy_motion_rows(const psdm_motion *motion, size_t count, const double *t, int orders, double *x);

/* Up to `most` rows of a CSV into values (most x columns). */
psdm_status psdmpy_csv_rows(psdm_csv *csv, size_t most, double *values, size_t *count, psdm_error *error);

/* Samples through an observer, all (count x n) row-major, qd nullable: r and thresholds, (count) flag and joint (-1:
 * none). */
psdm_status psdmpy_observer_rows(psdm_observer *observer, int n, size_t count, const double *q, const double *qd,
                                 const double *tau, double *r, double *threshold, unsigned char *flag, int *joint,
                                 size_t *done);

/* count equal steps of a simulator with torques (count x n), or one (n) for all with stride 0; q, qd (count x n)
 * after each. */
psdm_status psdmpy_sim_steps(psdm_sim *sim, int n, size_t count, const double *tau, ptrdiff_t stride, double dt,
                             double *q, double *qd, size_t *done);

/* A job that runs in a thread of its own: what it says, how far it is, and whether it is to stop. Any thread may
 * look. */
typedef struct psdmpy_watch psdmpy_watch;
psdmpy_watch *psdmpy_watch_new(void); /* NULL without memory */
void psdmpy_watch_free(psdmpy_watch *watch);
void psdmpy_watch_host(psdmpy_watch *watch, psdm_job_host *host);
void psdmpy_watch_stop(psdmpy_watch *watch);
double psdmpy_watch_share(psdmpy_watch *watch, char doing[160]); /* below 0: unknown */
const char *psdmpy_watch_words(psdmpy_watch *watch);             /* notes and warnings; after the run */

#endif
