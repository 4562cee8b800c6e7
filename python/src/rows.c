#include "rows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double *state_of(const psdm_strided *in, size_t i) {
  return (const double *)in->data + (ptrdiff_t)i * in->state;
}

/* the groups of one state, one behind the other */
static void gather(int groups, int n, const psdm_strided *in, size_t i, double *to) {
  for (int g = 0; g < groups; g++)
    for (int k = 0; k < n; k++) *to++ = state_of(&in[g], i)[k * in[g].number];
}

static void scatter(int results, const int *length, const psdm_strided *out, size_t i, const double *from) {
  for (int r = 0; r < results; r++) {
    double *to = (double *)out[r].data + (ptrdiff_t)i * out[r].state;
    for (int k = 0; k < length[r]; k++) to[k * out[r].number] = *from++;
  }
}

psdm_status psdmpy_eval_rows(const psdm_robot *robot, psdm_work *work, psdm_function function,
                             const psdm_eval_options *options, size_t count, int inputs, const psdm_strided *in,
                             int results, const int *length, const psdm_strided *out, double *buffer, size_t *done) {
  int n = psdm_robot_n(robot);
  double *answer = buffer + inputs * n;
  for (*done = 0; *done < count; ++*done) {
    gather(inputs, n, in, *done, buffer);
    psdm_status status = psdm_eval(robot, work, function, options, buffer, answer);
    if (status) return status;
    scatter(results, length, out, *done, answer);
  }
  return PSDM_OK;
}

void psdmpy_model_y_rows(const psdm_model *model, size_t count, const psdm_strided *in, double *y, double *buffer) {
  int n = psdm_model_n(model);
  for (size_t i = 0; i < count; i++, y += psdm_model_p(model)) {
    gather(3, n, in, i, buffer);
    psdm_model_y(model, buffer, buffer + n, buffer + 2 * n, y);
  }
}

void psdmpy_model_exponents(const psdm_model *model, unsigned char *E) {
  for (long f = 0; f < psdm_model_p(model); f++) psdm_model_exponents(model, f, E + f * 5 * psdm_model_n(model));
}

void psdmpy_model_entries(const psdm_model *model, long *function, int *joint, int *parameter, double *value) {
  for (long e = 0; e < psdm_model_entries(model); e++)
    psdm_model_entry(model, e, &function[e], &joint[e], &parameter[e], &value[e]);
}

void psdmpy_motion_rows(const psdm_motion *motion, size_t count, const double *t, int orders, double *x) {
  for (size_t i = 0; i < count; i++)
    psdm_motion_at(motion, t[i], orders, x + i * (size_t)(orders * psdm_motion_n(motion)));
}

psdm_status psdmpy_csv_rows(psdm_csv *csv, size_t most, double *values, size_t *count, psdm_error *error) {
  bool more = true;
  for (*count = 0; *count < most; ++*count) {
    psdm_status status = psdm_csv_row(csv, values + *count * (size_t)psdm_csv_columns(csv), &more, error);
    if (status || !more) return status;
  }
  return PSDM_OK;
}

psdm_status psdmpy_observer_rows(psdm_observer *observer, int n, size_t count, const double *q, const double *qd,
                                 const double *tau, double *r, double *threshold, unsigned char *flag, int *joint,
                                 size_t *done) {
  for (*done = 0; *done < count; ++*done) {
    size_t at = *done * (size_t)n;
    psdm_status status = psdm_observer_step(observer, q + at, qd ? qd + at : NULL, tau + at, r + at);
    if (status) return status;
    psdm_observer_thresholds(observer, threshold + at);
    flag[*done] = psdm_observer_collision(observer, &joint[*done]);
  }
  return PSDM_OK;
}

psdm_status psdmpy_sim_steps(psdm_sim *sim, int n, size_t count, const double *tau, ptrdiff_t stride, double dt,
                             double *q, double *qd, size_t *done) {
  psdm_sim_row row;
  for (*done = 0; *done < count; ++*done) {
    psdm_status status = psdm_sim_step(sim, tau + (ptrdiff_t)*done * stride, dt);
    if (status) return status;
    psdm_sim_now(sim, &row);
    memcpy(q + *done * (size_t)n, row.q, (size_t)n * sizeof *q);
    memcpy(qd + *done * (size_t)n, row.qd, (size_t)n * sizeof *qd);
  }
  return PSDM_OK;
}

/* ---- jobs ---- */

struct psdmpy_watch {
  pthread_mutex_t guard;
  bool stop;
  double share;
  char doing[160];
  char *words;
  size_t length;
};

psdmpy_watch *psdmpy_watch_new(void) {
  psdmpy_watch *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  pthread_mutex_init(&w->guard, NULL);
  w->share = -1;
  return w;
}

void psdmpy_watch_free(psdmpy_watch *w) {
  if (!w) return;
  pthread_mutex_destroy(&w->guard);
  free(w->words);
  free(w);
}

static void watch_tell(void *user, psdm_job_event event, const char *text) {
  static const char *const kinds[] = {
      [PSDM_JOB_NOTE] = "note", [PSDM_JOB_CAUTION] = "warning", [PSDM_JOB_WARNING] = "warning"};
  psdmpy_watch *w = user;
  if (event < PSDM_JOB_NOTE || event > PSDM_JOB_WARNING) return;
  size_t more = strlen(kinds[event]) + strlen(text) + 4;
  pthread_mutex_lock(&w->guard);
  char *words = realloc(w->words, w->length + more);
  if (words) {
    w->length += (size_t)snprintf(words + w->length, more, "%s: %s\n", kinds[event], text);
    w->words = words;
  }
  pthread_mutex_unlock(&w->guard);
}

static bool watch_progress(void *user, const char *doing, double share) {
  psdmpy_watch *w = user;
  pthread_mutex_lock(&w->guard);
  snprintf(w->doing, sizeof w->doing, "%s", doing);
  w->share = share;
  bool stop = w->stop;
  pthread_mutex_unlock(&w->guard);
  return !stop;
}

static bool watch_stopped(void *user) {
  psdmpy_watch *w = user;
  pthread_mutex_lock(&w->guard);
  bool stop = w->stop;
  pthread_mutex_unlock(&w->guard);
  return stop;
}

void psdmpy_watch_host(psdmpy_watch *w, psdm_job_host *host) {
  *host = (psdm_job_host){.user = w, .tell = watch_tell, .progress = watch_progress, .stopped = watch_stopped};
}

void psdmpy_watch_stop(psdmpy_watch *w) {
  pthread_mutex_lock(&w->guard);
  w->stop = true;
  pthread_mutex_unlock(&w->guard);
}

double psdmpy_watch_share(psdmpy_watch *w, char doing[160]) {
  pthread_mutex_lock(&w->guard);
  memcpy(doing, w->doing, sizeof w->doing);
  double share = w->share;
  pthread_mutex_unlock(&w->guard);
  return share;
}

const char *psdmpy_watch_words(psdmpy_watch *w) { return w->words ? w->words : ""; }
