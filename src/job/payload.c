/* payload.c: the load of a calibrated robot, from logs or as given, and the parameters of the robot that carries it. */
#include <string.h>

#include "job/payload_priv.h"

#define SETTINGS_STRUCT psdmp_job_payload_settings
static const psdm_setting settings[] = {PAYLOAD_SETTINGS(PSDM_SETTINGS_ROW){0}};

static void clear(psdm_job *job) {
  psdmp_job_payload *j = (psdmp_job_payload *)job;
  psdm_payload_free(j->answer);
  psdm_parameters_free(j->with);
  psdm_parameters_free(j->empty);
  psdm_model_free(j->model);
}

static psdm_status load(psdmp_job_payload *j) {
  psdm_robot_settings robot = *PSDM_ROBOT_SETTINGS_OF(&j->set);
  robot.params = NULL; /* read below; the robot need not adopt them */
  psdm_status status = psdmp_job_robot(&j->job, &robot, &j->job.robot);
  if (status) return status;
  psdmp_job_reads(&j->job, j->set.params);
  return psdmp_job_parameters(&j->job, j->set.params, j->job.robot, &j->empty);
}

/* if a load does not explain the torques, there is none, or the calibration, its units or signs do not match the logs
 */
static void judge(psdmp_job_payload *j) {
  long rows = 0;
  for (int i = 0; i < j->n; i++) rows += j->answer->after[i].rows;
  if (rows) j->verdict = psdm_verdict_of_fit(j->n, j->answer->after, &j->finding);
  j->job.good = !j->answer->stopped && j->verdict <= j->accept;
}

/* a stop keeps the rows so far */
static psdm_status identify(psdmp_job_payload *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  if (j->set.load) return PSDM_OK;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "reading logs");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  j->options.progress = psdmp_job_watch;
  j->options.progress_user = job;
  psdm_status status = psdm_payload_identify(job->robot, j->empty, &j->options, NULL, &j->answer, &error);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  if (j->answer->stopped) psdmp_job_warn(job, "interrupted: this result uses the rows read so far");
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  j->load = j->answer->load;
  memcpy(j->pi, j->answer->pi, sizeof j->pi);
  judge(j);
  return PSDM_OK;
}

/* the loaded robot, and the provenance of its base parameters */
static psdm_status apply(psdmp_job_payload *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  if (psdm_payload_parameters(job->robot, j->empty, j->joint, j->pi, j->answer ? j->answer->covariance : NULL, NULL,
                              &j->with, &error) ||
      psdm_parameters_model(job->robot, NULL, &j->model, &error))
    return psdmp_job_fail(job, &error);
  if (!(j->L = psdmp_job_array(job, 10 * (size_t)psdm_model_l(j->model), sizeof *j->L))) return psdmp_job_memory(job);
  return psdm_payload_map(job->robot, j->model, j->joint, j->L, &error) ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* ---- files ---- */

static void write_parameters(const void *self, psdm_output *out) {
  psdm_parameters_write(((const psdmp_job_payload *)self)->with, out);
}

typedef struct rows_out {
  psdmp_job_sink *sink;
  int n;
} rows_out;

static bool write_row(void *user, const psdm_payload_row *row) {
  const rows_out *w = user;
  const double segment = row->segment, loaded = row->loaded;
  const psdmp_job_group group[] = {PSDMP_JOB_GROUP("t", 0, &row->t),
                                   PSDMP_JOB_GROUP("segment", 0, &segment),
                                   PSDMP_JOB_GROUP("loaded", 0, &loaded),
                                   PSDMP_JOB_GROUP("q", w->n, row->q),
                                   PSDMP_JOB_GROUP("qd", w->n, row->qd),
                                   PSDMP_JOB_GROUP("qdd", w->n, row->qdd),
                                   PSDMP_JOB_GROUP("tau", w->n, row->tau),
                                   PSDMP_JOB_GROUP("raw", w->n, row->raw),
                                   PSDMP_JOB_GROUP("empty", w->n, row->tau_empty),
                                   PSDMP_JOB_GROUP("with", w->n, row->tau_loaded)};
  psdmp_job_rows_add(w->sink, group, sizeof group / sizeof *group);
  return !psdmp_job_rows_failed(w->sink);
}

static psdm_status write_predictions(const psdmp_job_payload *j) {
  rows_out w = {.n = j->n};
  psdm_error error;
  if (!j->answer) return PSDM_OK;
  psdm_status status = psdmp_job_rows_open(&j->job, "predict", j->set.predict, &w.sink);
  if (status || !w.sink) return status;
  if (psdm_payload_predict(j->answer, write_row, &w, &error)) {
    psdmp_job_rows_abort(&j->job, &w.sink);
    return psdmp_job_fail(&j->job, &error);
  }
  return psdmp_job_rows_commit(&j->job, &w.sink);
}

static psdm_status run(psdm_job *job) {
  psdmp_job_payload *j = (psdmp_job_payload *)job;
  psdm_status status = psdmp_job_payload_words(j);
  if (!status) status = load(j);
  if (!status) status = psdmp_job_payload_numbers(j);
  if (!status) status = identify(j);
  if (!status) status = apply(j);
  if (!status) status = psdmp_job_document(job, "out", j->set.out, write_parameters, j);
  if (!status) status = write_predictions(j);
  return status ? status : psdmp_job_answer(job, &psdm_payload_result_type, psdmp_job_payload_fill);
}

PSDMP_JOB_KIND(job, payload, psdmp_job_payload, .free = clear);
