/* linearize.c: linear models at equilibria or along a motion, their stability, LQR gains. */
#include <math.h>
#include <string.h>

#include "study/linearize_priv.h"

#define SETTINGS_STRUCT psdmp_study_linearize_settings
static const psdm_setting settings[] = {LINEARIZE_SETTINGS(PSDM_SETTINGS_ROW){0}};

/* ---- settings ---- */

static psdm_status check(psdmp_study_linearize *j) {
  const psdmp_study_linearize_settings *s = &j->set;
  const psdm_job *job = &j->job;
  j->second_order = strcmp(s->form, "second-order") == 0;
  if (!s->at) return psdmp_job_wrong(job, "missing `at = FILE.csv`: the points to linearize at");
  if (!(s->dt >= 0)) return psdmp_job_wrong(job, "`dt` must not be negative");
  if (j->second_order && s->dt > 0) return psdmp_job_wrong(job, "`dt` needs `form = state-space`");
  if ((s->Q || s->R) && !s->lqr) return psdmp_job_wrong(job, "`Q` and `R` need `lqr`");
  if (s->out && !psdmp_study_linearize_ends(s->out, ".csv") && !psdmp_study_linearize_ends(s->out, ".json") &&
      !psdmp_study_linearize_ends(s->out, ".mat"))
    return psdmp_job_wrong(job, "`out` '%s': a name that ends in .csv, .json or .mat was expected",
                           psdmp_job_safe(job, s->out));
  return PSDM_OK;
}

/* "1,2.5,3" to at most `most` numbers; their count, or -1 */
static int take_numbers(const char *text, int most, double *value) {
  for (int count = 0;; text++) {
    size_t length = strcspn(text, ",");
    if (count == most || !psdmp_base_parse_number(text, length, &value[count++])) return -1;
    text += length;
    if (!*text) return count;
  }
}

static psdm_status choose_inputs(psdmp_study_linearize *j) {
  double value[PSDM_MAX_JOINTS];
  int count = j->set.inputs ? take_numbers(j->set.inputs, j->n, value) : j->n;
  j->input = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->input);
  if (!j->input) return psdmp_job_memory(&j->job);
  for (int k = 0; k < count; k++) {
    double joint = j->set.inputs ? value[k] : k + 1;
    if (joint != floor(joint) || joint < 1 || joint > j->n || (k && joint <= j->input[k - 1] + 1)) count = -1;
    j->input[k] = (int)joint - 1;
  }
  if (count < 0)
    return psdmp_job_wrong(&j->job, "`inputs` '%s': ascending numbers of joints, 1 to %d, were expected",
                           psdmp_job_safe(&j->job, j->set.inputs), j->n);
  j->inputs = count;
  return PSDM_OK;
}

/* ---- weights on the diagonals ---- */

static psdm_status set_Q(psdmp_study_linearize *j) {
  double value[2 * PSDM_MAX_JOINTS] = {100, 1}; /* 0.1 rad weighs as much as 1 rad/s */
  const psdm_job *job = &j->job;
  int count = j->set.Q ? take_numbers(j->set.Q, j->states, value) : 2;
  if (count != 1 && count != 2 && count != j->states)
    return psdmp_job_wrong(job, "`Q` '%s': 1, 2 or %d numbers were expected", psdmp_job_safe(job, j->set.Q), j->states);
  for (int i = 0; i < j->states; i++) {
    double x = count == j->states ? value[i] : count == 2 ? value[i >= j->n] : value[0];
    if (x < 0) return psdmp_job_wrong(job, "`Q` must not be negative");
    j->Q[(long)i * j->states + i] = x;
  }
  return PSDM_OK;
}

static double usual_R(const psdmp_study_linearize *j, int input) {
  double effort = psdmp_job_joint(j->job.robot, j->input[input])->limits.effort;
  return isfinite(effort) && effort > 0 ? 1 / (effort * effort) : 0.01;
}

static psdm_status set_R(psdmp_study_linearize *j) {
  double value[2 * PSDM_MAX_JOINTS];
  const psdm_job *job = &j->job;
  int count = j->set.R ? take_numbers(j->set.R, j->inputs, value) : 0;
  if (j->set.R && count != 1 && count != j->inputs)
    return psdmp_job_wrong(job, "`R` '%s': 1 or %d numbers were expected", psdmp_job_safe(job, j->set.R), j->inputs);
  for (int i = 0; i < j->inputs; i++) {
    double x = !count ? usual_R(j, i) : value[count == 1 ? 0 : i];
    if (!(x > 0)) return psdmp_job_wrong(job, "`R` must be positive");
    j->R[(long)i * j->inputs + i] = x;
  }
  return PSDM_OK;
}

/* ---- memory ---- */

static psdm_status allocate(psdmp_study_linearize *j) {
  const psdm_robot *robot = j->job.robot;
  size_t n = (size_t)j->n, N = (size_t)j->states, m = (size_t)j->inputs;
  size_t sizes[MATRICES] = {[MATRIX_M] = n * n, [MATRIX_C2] = n * n, [MATRIX_D] = n * n, [MATRIX_G] = n * n,
                            [MATRIX_A] = N * N, [MATRIX_B] = N * m,  [MATRIX_K] = m * N};
  size_t count = 4 * n + N * n + N * N + N * m + N * N + m * m, system = psdm_system_scratch(j->states, j->inputs),
         rest = psdm_equilibrium_scratch(robot);
  for (int k = 0; k < MATRICES; k++) count += sizes[k];
  double *at = psdmp_job_array(&j->job, count, sizeof *at);
  j->scratch = psdmp_job_array(&j->job, system > rest ? system : rest, sizeof *j->scratch);
  j->modes = psdmp_job_array(&j->job, 3 * N, sizeof *j->modes);
  if (!at || !j->scratch || !j->modes || psdm_work_new(robot, NULL, &j->work) ||
      psdm_linear_new(robot, NULL, &j->linear))
    return psdmp_job_memory(&j->job);
  j->sampled = j->modes + N;
  j->closed = j->sampled + N;
  j->q = at, j->qd = at + n, j->qdd = at + 2 * n, j->tau = at + 3 * n, at += 4 * n;
  for (int k = 0; k < MATRICES; k++) j->matrix[k] = at, at += sizes[k];
  j->full = at, at += N * n;
  j->Ad = at, at += N * N;
  j->Bd = at, at += N * m;
  j->Q = at, at += N * N;
  j->R = at;
  return PSDM_OK;
}

static psdm_status prepare(psdmp_study_linearize *j) {
  psdm_error error;
  const psdm_robot *robot = j->job.robot;
  if (psdm_robot_ready(robot, &error)) return psdmp_job_fail(&j->job, &error);
  j->n = psdm_robot_n(robot);
  j->states = 2 * j->n;
  psdm_status status = psdmp_job_regular(&j->job, robot);
  if (!status) status = choose_inputs(j);
  if (!status) status = allocate(j);
  if (!status && j->set.lqr) status = set_Q(j);
  return status || !j->set.lqr ? status : set_R(j);
}

/* ---- the points ---- */

static psdm_status file_error(const psdmp_study_linearize *j, psdm_status status, int line, const char *text) {
  psdm_error error;
  psdmp_base_fail(&error, status, psdm_csv_file(j->csv), line, 0, "%s", text);
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status open_points(psdmp_study_linearize *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  psdmp_job_typed(job, j->set.at, "points", "`at = FILE.csv`");
  psdmp_job_reads(job, j->set.at);
  if (psdm_csv_open(j->set.at, NULL, &j->csv, &error)) return psdmp_job_fail(job, &error);
  psdm_status status = psdmp_study_linearize_columns(j);
  return status ? status : psdmp_study_linearize_open(j);
}

/* a missing result is told, is NaN in the files, and makes the answer less than was asked for */
static void note_misses(psdmp_study_linearize *j) {
  psdm_job *job = &j->job;
  const char *file = psdm_csv_file(j->csv);
  int line = psdm_csv_line(j->csv);
  if (psdmp_study_linearize_lost(j)) {
    psdmp_job_warn(job, "%s:%d: no q was found that these torques hold; the nearest is off by %.2g of them", file, line,
                   j->equilibrium.residual);
  } else if (j->set.lqr && !psdmp_study_linearize_gains(j)) {
    psdmp_job_warn(job, "%s:%d: no LQR gains: %s", file, line, psdm_lqr_text(j->lqr.outcome));
  } else {
    return;
  }
  job->good = false;
}

static psdm_status add_point(psdmp_study_linearize *j) {
  int line = psdm_csv_line(j->csv);
  psdm_status status = psdmp_study_linearize_point(j);
  if (status)
    return file_error(j, status, line,
                      status == PSDM_E_LIMIT ? "the sampled model overflows: `dt` is too long for this point" : "");
  note_misses(j);
  /* words and derived facts are not needed for a file of numbers alone */
  bool wanted = !j->take || j->set.json || !j->set.out || psdmp_study_linearize_ends(j->set.out, ".json"),
       facts = wanted && !psdmp_study_linearize_lost(j);
  if (facts && psdmp_study_linearize_analyze(j))
    return file_error(j, PSDM_E_LIMIT, line, "the model's eigenvalues were not found");
  return psdmp_study_linearize_write(j, facts);
}

static psdm_status find_points(psdmp_study_linearize *j) {
  psdm_job *job = &j->job;
  psdm_error error;
  bool more = true;
  long long total = psdmp_job_file_size(j->set.at);
  double began = psdmp_base_clock();
  while (!psdmp_study_linearize_failed(j)) {
    if (psdm_csv_row(j->csv, j->row, &more, &error)) return psdmp_job_fail(job, &error);
    if (!more) break;
    psdm_status status = add_point(j);
    if (status) return status;
    j->points++;
    if (!psdmp_job_count(job, began, psdm_csv_bytes(j->csv), total, j->points, "points")) break;
  }
  if (psdmp_job_interrupted(job)) psdmp_job_warn(job, "interrupted: these are the first %ld points", j->points);
  return j->points ? PSDM_OK : file_error(j, PSDM_E_PARSE, 0, "no points");
}

static psdm_status run(psdm_job *job) {
  psdmp_study_linearize *j = (psdmp_study_linearize *)job;
  psdm_status status = check(j);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = prepare(j);
  if (!status) status = open_points(j);
  if (status) return status;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "linearizing");
  status = find_points(j);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  return status ? status : psdmp_study_linearize_close(j);
}

static void release(psdm_job *job) {
  psdmp_study_linearize *j = (psdmp_study_linearize *)job;
  psdmp_study_linearize_abort(j);
  psdm_csv_close(j->csv);
  psdm_linear_free(j->linear, NULL);
  psdm_work_free(j->work, NULL);
}

PSDMP_JOB_KIND(study, linearize, psdmp_study_linearize, .free = release);

void psdm_job_points(psdm_job *job, bool (*take)(void *user, const psdm_linearization *point), void *user) {
  if (job->kind != &psdmp_study_linearize_kind) return;
  ((psdmp_study_linearize *)job)->take = take;
  ((psdmp_study_linearize *)job)->user = user;
}
